/* cells.h - keys that add something to each of k counters.
 *
 * Floor 1. `counting` and `variable` are one construction: a row of m counters
 * of `width` bits (core/counters.h), in which a key raises k of them. By how
 * much is a number of {l, l+1, …, 2l-1}, drawn from the key's hash for each
 * probe, its own increment v; with l = 1 it is always 1.
 *
 *                      l           a counter c lets a probe pass
 *      counting        1           if c > 0
 *      variable        2, 4, …     if c = v or c >= v + l
 *
 * for c is a sum of increments, v among them, only if c - v is one too: it is
 * 0, or l at least. (Every number from l on is a sum of increments, since they
 * are l consecutive ones.) For l = 1 the two conditions are the same.
 *
 * A counter at its largest value sticks: what it truly holds is no longer
 * known, so it lets every probe pass and never changes again. Since all this is
 * a sum that is cut off at the top, the row does not depend on the order of
 * the adds.
 *
 * Two probes of one key may meet in one counter. Each one is counted, in and
 * out.
 *
 * THE PROBES are those of core/index.h's `power`, so that the counters above 0
 * are the bits that kind `standard` sets. The increment is the high bits of the
 * probe's state, spread once more: the position, the high bits of the state
 * itself, says nothing of it.
 *
 * BATCHES. Lookups go through their probes in phases, as in core/walk.h, and
 * ask for just the lines that the answers need. Adds run a ring of probes
 * behind their prefetches: they commute. Removals do not (whether a key is
 * there depends on those before it), so they are done key by key, with the
 * lines of later keys on their way.
 */
#ifndef BLY_CORE_CELLS_H
#define BLY_CORE_CELLS_H

#include "bloomery.h"

#include "base/platform.h"

enum { CELLS_K_MAX = 64 };

/* A row of counters, and how keys use it. m >= 1, 1 <= k <= CELLS_K_MAX,
 * 1 <= width <= COUNTERS_WIDTH_MAX; l is 1, or a power of two with
 * 4l <= 2^width, so that a counter holds two increments before it sticks. */
typedef struct {
    uint64_t m;
    uint32_t k, width, l;
} cells;

bool       cells_contains(const cells *c, const uint8_t *row, uint64_t hash);
bly_status cells_add     (const cells *c, uint8_t *row, uint64_t hash);

/* BLY_EABSENT: it is not there, or passes only because probes of it that meet
 * in one counter are looked at one by one. BLY_EUNSAFE: all its counters stick,
 * so that taking it out would change nothing. The row is then as it was. */
bly_status cells_remove  (const cells *c, uint8_t *row, uint64_t hash);

/* How often the key can have been added at most; UINT64_MAX: all its counters
 * stick. 0 if and only if it is not there. */
uint64_t   cells_count   (const cells *c, const uint8_t *row, uint64_t hash);

/* The same for many, one after another. */
void cells_contains_many(const cells *c, const uint8_t *row,
                         const uint64_t *hashes, size_t n, bool *present);
void cells_add_many     (const cells *c, uint8_t *row,
                         const uint64_t *hashes, size_t n);
void cells_remove_many  (const cells *c, uint8_t *row,
                         const uint64_t *hashes, size_t n, bly_status *each);
void cells_count_many   (const cells *c, const uint8_t *row,
                         const uint64_t *hashes, size_t n, uint64_t *counts);

/* into := the row of the keys of both, which may be the same. */
void cells_unite(const cells *c, uint8_t *into, const uint8_t *other);

/* What a row shows. */
typedef struct {
    uint64_t used;                      /* counters above 0                  */
    uint64_t stuck;                     /* and at their largest value        */
    double   pass;                      /* the chance that one probe of a
                                           foreign key passes: of all pairs of
                                           a counter and an increment, the
                                           share that does                   */
} cells_view;

cells_view cells_look(const cells *c, const uint8_t *row);

/* How many counters are above 0 in a, in b, in a or b. */
typedef struct { uint64_t a, b, either; } cells_pair;

cells_pair cells_compare(const cells *c, const uint8_t *a, const uint8_t *b);

#endif /* BLY_CORE_CELLS_H */
