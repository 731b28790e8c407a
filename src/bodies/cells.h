/* cells.h - keys that add something to each of k counters.
 *
 * `counting` and `variable` are one construction: a row of m counters of
 * `width` bits (bits/counters.h), in which a key raises k of them. By how much
 * is a number of {l, l+1, …, 2l-1}, or of another set, drawn from the key's
 * hash for each probe, its own increment v; with l = 1 it is always 1.
 *
 *                      l           a counter c lets a probe pass
 *      counting        1           if c > 0
 *      variable        2, 4, …     if c = v or c >= v + l
 *      variable        a set       if c - v is 0 or a sum of elements
 *
 * for c is a sum of increments, v among them, only if c - v is one too: it is
 * 0, or l at least. (Every number from l on is a sum of increments, since they
 * are l consecutive ones.) For l = 1 the two conditions are the same.
 *
 * A counter at its largest value is saturated: what it truly holds is no longer
 * known, so it lets every probe pass and never changes again. Since all this is
 * a sum that is cut off at the top, the row does not depend on the order of
 * the adds.
 *
 * Two probes of one key may meet in one counter. Each one is counted, in and
 * out.
 *
 * THE PROBES are those of bits/index.h's `power`, so that the counters above 0
 * are the bits that kind `standard` sets. The increment is the high bits of the
 * probe's state, spread once more: the position, the high bits of the state
 * itself, says nothing of it.
 *
 * BATCHES. Lookups run their probes in phases, as in walk.h, and prefetch only
 * the lines that the answers need. If most keys are there, all their lines are
 * needed, and keys go one by one. So do those of other batches: whether a key
 * can be removed depends on the removals before it. The lines of later keys are
 * prefetched, unless the row is near.
 */
#ifndef BLY_BODIES_CELLS_H
#define BLY_BODIES_CELLS_H

#include "bloomery.h"

#include "base/platform.h"
#include "maths/shape.h"

enum { CELLS_K_MAX = 64 };

/* Sets of increments, as values of l: bit v is set for element v. Their sums of
 * two are all different. */
enum {
    CELLS_L_MAX = 16,                   /* beyond it is a set                */
    CELLS_4_6_7 = 1 << 4 | 1 << 6 | 1 << 7,
    CELLS_8_12_14_15 = 1 << 8 | 1 << 12 | 1 << 14 | 1 << 15
};

/* `element`s in bytes, the first in the lowest one; bit s of `sums` says that s
 * is 0 or a sum of elements, as every number from 64 on is. */
typedef struct {
    uint32_t count;
    uint32_t element;
    uint64_t sums;
} cells_set;

PLATFORM_INLINE cells_set cells_set_of(uint32_t l)
{
    return l == CELLS_4_6_7
         ? (cells_set){ 3, 0x070604, UINT64_C(0xfffffffffffffdd1) }
         : (cells_set){ 4, 0x0f0e0c08, UINT64_C(0xfffffffdfdd1d101) };
}

PLATFORM_INLINE uint32_t cells_element(const cells_set *set, uint64_t i)
{
    return set->element >> 8 * i & 0xff;
}

/* Returns whether a number is 0 or a sum. Numbers below 0 have their highest
 * bit set. */
PLATFORM_INLINE bool cells_sum(const cells_set *set, uint32_t rest)
{
    uint32_t small = rest < 64, large = rest - 64 < (1u << 31) - 64;
    return (small & (uint32_t)(set->sums >> (rest & 63))) | large;
}

/* A row of counters, and how keys use it. m >= 1, 1 <= k <= CELLS_K_MAX,
 * 1 <= width <= COUNTERS_WIDTH_MAX; l is 1, or a power of two up to CELLS_L_MAX
 * with 4l <= 2^width, so that a counter holds two increments before it
 * saturates; or a set, with 8 times its first element <= 2^width, so that a
 * saturated one lets all pass. */
typedef struct {
    uint64_t m;
    uint32_t k, width, l;
} cells;

/* A row and its cells: a `view` of image/kind.h; and is the hash there? */
typedef struct {
    cells cells;
    const uint8_t *row;
} cells_row;
bool       cells_contains_one(const void *view, uint64_t hash);

/* Looks up a hash in a row with width = 4 and l = 1. */
bool       cells_contains_plain(const void *view, uint64_t hash);

bool       cells_contains(const cells *c, const uint8_t *row, uint64_t hash);
bly_status cells_add     (const cells *c, uint8_t *row, uint64_t hash);

/* Adds with conservative update, for l = 1: raises only the smallest of the
 * key's counters by one. Such a row depends on the order of adds, and nothing
 * can be removed from it; cells_count is still never too low. */
bly_status cells_add_least(const cells *c, uint8_t *row, uint64_t hash);

/* BLY_EABSENT: it is not there, or passes only because probes of it that meet
 * in one counter are looked at one by one. BLY_EUNSAFE: all its counters are
 * saturated, so that taking it out would change nothing. The row is then as it
 * was. */
bly_status cells_remove  (const cells *c, uint8_t *row, uint64_t hash);

/* Returns how often the key can have been added, at most; UINT64_MAX: all its
 * counters are saturated. 0 if and only if it is not there. */
uint64_t   cells_count   (const cells *c, const uint8_t *row, uint64_t hash);

/* Looks up many keys. */
void cells_contains_many(const cells *c, const uint8_t *row,
                         const uint64_t *hashes, size_t n, bool *present);
void cells_add_many     (const cells *c, uint8_t *row,
                         const uint64_t *hashes, size_t n);
void cells_add_least_many(const cells *c, uint8_t *row,
                          const uint64_t *hashes, size_t n);
void cells_remove_many  (const cells *c, uint8_t *row,
                         const uint64_t *hashes, size_t n, bly_status *each);
void cells_count_many   (const cells *c, const uint8_t *row,
                         const uint64_t *hashes, size_t n, uint64_t *counts);

/* into := the row of the keys of both, which may be the same. */
void cells_unite(const cells *c, uint8_t *into, const uint8_t *other);

/* The counters above 0, as the bits that they are. */
static inline shape cells_shape(const cells *c)
{
    return (shape){ .blocks = 1, .lanes = 1, .bits = c->m, .probes = c->k };
}

/* Fill in `overlap` from two rows, and `stat` from one, as kind.h says. */
void cells_overlap(bly_overlap_t *out, const cells *c, const uint8_t *a,
                   const uint8_t *b);
void cells_stat(bly_info_t *out, const cells *c, const uint8_t *row);

/* The slots of a kind whose payload is a row of cells, from its name_cells(),
 * which reads the cells from the geometry: those that ask, those that
 * add and those that remove. For the kind's file, where image/kind.h is. */
#define CELLS_LOOKS(name)                                                      \
    static bool name##_contains(const void *image, uint64_t hash)              \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        return cells_contains(&c, image_payload(image), hash);                 \
    }                                                                          \
                                                                               \
    static_assert(sizeof(cells_row) <= KIND_VIEW, "a view has its room");      \
                                                                               \
    static kind_contains *name##_contains_here(const void **subject,           \
                                               void *view)                     \
    {                                                                          \
        const void *image = *subject;                                          \
        const cells c = name##_cells(image);                                   \
        *(cells_row *)view = (cells_row){ c, image_payload(image) };           \
        *subject = view;                                                       \
        return c.l == 1 && c.width == 4 ? cells_contains_plain                 \
                                        : cells_contains_one;                  \
    }                                                                          \
                                                                               \
    static void name##_contains_many(const void *image,                        \
                                     const uint64_t *hashes, size_t n,         \
                                     bool *present)                            \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        cells_contains_many(&c, image_payload(image), hashes, n, present);     \
    }                                                                          \
                                                                               \
    static uint64_t name##_count(const void *image, uint64_t hash)             \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        return cells_count(&c, image_payload(image), hash);                    \
    }                                                                          \
                                                                               \
    static void name##_count_many(const void *image, const uint64_t *hashes,   \
                                  size_t n, uint64_t *counts)                  \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        cells_count_many(&c, image_payload(image), hashes, n, counts);         \
    }                                                                          \
                                                                               \
    static bly_status name##_unite(void *into, const void *other)              \
    {                                                                          \
        cells c = name##_cells(into);                                          \
        cells_unite(&c, image_payload_mut(into), image_payload(other));        \
        return BLY_OK;                                                         \
    }                                                                          \
                                                                               \
    static void name##_overlap(bly_overlap_t *out, const void *a,              \
                               const void *b)                                  \
    {                                                                          \
        cells c = name##_cells(a);                                             \
        cells_overlap(out, &c, image_payload(a), image_payload(b));            \
    }                                                                          \
                                                                               \
    static void name##_stat(bly_info_t *out, const void *image)                \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        cells_stat(out, &c, image_payload(image));                             \
    }

#define CELLS_ADDS(name)                                                       \
    static bly_status name##_add(void *image, uint64_t hash)                   \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        return cells_add(&c, image_payload_mut(image), hash);                  \
    }                                                                          \
                                                                               \
    static bly_status name##_add_many(void *image, const uint64_t *hashes,     \
                                      size_t n, size_t *done)                  \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        cells_add_many(&c, image_payload_mut(image), hashes, n);               \
        *done = n;                                                             \
        return BLY_OK;                                                         \
    }

#define CELLS_REMOVES(name)                                                    \
    static bly_status name##_remove(void *image, uint64_t hash)                \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        return cells_remove(&c, image_payload_mut(image), hash);               \
    }                                                                          \
                                                                               \
    static void name##_remove_many(void *image, const uint64_t *hashes,        \
                                   size_t n, bly_status *each)                 \
    {                                                                          \
        cells c = name##_cells(image);                                         \
        cells_remove_many(&c, image_payload_mut(image), hashes, n, each);      \
    }

#endif /* BLY_BODIES_CELLS_H */
