/* ones.h - how many bits rows have in common with one.
 *
 * Rows lie one behind the other and are padded with zeros to a multiple of
 * ONES_STEP bytes, so that no body has a rest. The AVX2 body already waits for
 * memory (similar/bench/bench.c): longer vectors would not be faster.
 */
#ifndef BLY_BITS_ONES_H
#define BLY_BITS_ONES_H

#include "base/platform.h"

enum { ONES_STEP = 32 };

/* Sets shared[i] to the number of bits set both in row i and in `query`. All
 * rows have the same length, a multiple of ONES_STEP and at most 2^28. */
void ones_shared(uint32_t *shared, const uint8_t *rows, size_t n, size_t bytes,
                 const uint8_t *query);

#endif /* BLY_BITS_ONES_H */
