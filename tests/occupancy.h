/* occupancy.h - the true rate from the distribution of the set bits, for tests:
 * its table is too much for the library's stack.
 */
#ifndef BLY_TEST_OCCUPANCY_H
#define BLY_TEST_OCCUPANCY_H

#include "maths/maths.h"

/* Of n keys with k probes in m <= MATH_OCCUPANCY bits [Christensen 2010]. */
static inline double occupancy_rate(uint64_t m, uint64_t n, uint32_t k)
{
    math_occupancy o;
    math_occupancy_start(&o, m);
    for (uint64_t i = 0; i < n; i++)
        math_occupancy_probe(&o, k);
    return math_occupancy_moment(&o, k);
}

#endif /* BLY_TEST_OCCUPANCY_H */
