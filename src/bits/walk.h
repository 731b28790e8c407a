/* walk.h - batches of keys whose k bits lie anywhere in a large row.
 *
 * `standard` and `partitioned` touch a line of memory for every probe.
 * One key alone waits for each line in turn; a batch need not. The lookups
 * here take a group of keys through their probes together: the first probe of
 * all, then the second of those whose first bit was set, and so on, each time
 * asking for lines some keys before they are tested. So just the lines
 * that the answers need are fetched, k for a key that is there and two on
 * average for one that is not, and many of them are always on their way. Who
 * stays in the group is data, not a branch: the processor could not guess it.
 * (Keeping keys at different probes in a ring of slots [Kocberber 2015] took
 * twice the instructions for a probe and measured 1.4 times slower.)
 *
 * The probes are those of bits/index.h's `power`, in a row of `slice` bits
 * that begins `stride` bits, whole bytes, further for each probe:
 *
 *      standard        slice = m       stride = 0
 *      partitioned     slice = M       stride = M
 *
 *   [Kocberber 2015]  Asynchronous memory access chaining, PVLDB 9(4)
 */
#ifndef BLY_BITS_WALK_H
#define BLY_BITS_WALK_H

#include "base/platform.h"

typedef struct {
    uint64_t slice, stride;
    uint32_t k;
} walk_plan;

/* A row and its plan: a `view` of image/kind.h. */
typedef struct {
    walk_plan plan;
    const uint8_t *row;
} walk_view;

/* Returns whether all k bits of one hash are set. */
bool walk_contains_one(const void *view, uint64_t hash);

/* Sets present[i] to whether all k bits of hashes[i] are set in `row`. */
void walk_contains(const walk_plan *plan, const uint8_t *row,
                   const uint64_t *hashes, size_t n, bool *present);

/* Sets the k bits of every hash; `shared` if other threads do so concurrently.
 */
void walk_add(const walk_plan *plan, uint8_t *row, const uint64_t *hashes,
              size_t n, bool shared);

/* Adds hashes in order; seen[i] becomes whether all k bits were set already. */
void walk_add_each(const walk_plan *plan, uint8_t *row, const uint64_t *hashes,
                   size_t n, bool *seen);

#endif /* BLY_BITS_WALK_H */
