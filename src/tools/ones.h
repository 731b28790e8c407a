/* ones.h - how many bits rows have in common with one.
 *
 * Floor 1. Rows lie one behind the other and are padded with zeros to a
 * multiple of ONES_STEP bytes, so that no body has a rest. Those of CPU_AVX2
 * wait for memory already (bench/similar.c): there is none for longer vectors.
 */
#ifndef BLY_TOOLS_ONES_H
#define BLY_TOOLS_ONES_H

#include "base/platform.h"

enum { ONES_STEP = 32 };

/* shared[i]: how many bits are set in row i and in `query` too. All have so
 * many bytes, a multiple of ONES_STEP and at most 2^28. */
void ones_shared(uint32_t *shared, const uint8_t *rows, size_t n, size_t bytes,
                 const uint8_t *query);

#endif /* BLY_TOOLS_ONES_H */
