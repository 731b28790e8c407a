/* placed.h - for examples from articles that give a key's positions: finds a
 * hash with these positions.
 */
#ifndef BLY_TEST_PLACED_H
#define BLY_TEST_PLACED_H

#include "test.h"

#include "bits/index.h"

/* Returns the first hash of a stream whose k positions by `power`, in a row of
 * m bits, are these, in any order. */
static inline uint64_t placed_hash(uint64_t m, unsigned k, const unsigned *at)
{
    uint64_t wanted = 0;
    for (unsigned i = 0; i < k; i++)
        wanted |= UINT64_C(1) << at[i];
    for (uint64_t n = 0; ; n++) {
        uint64_t hash = test_random(4711, n), got = 0;
        index_walk walk;
        index_start(&walk, INDEX_POWER, hash, m);
        for (unsigned i = 0; i < k; i++)
            got |= UINT64_C(1) << index_next(&walk, INDEX_POWER);
        if (got == wanted)
            return hash;
    }
}

#endif /* BLY_TEST_PLACED_H */
