/* buckets.h - the false-positive rate of a filter of large buckets, with a
 * cache in front of them.
 *
 * A key chooses one of `buckets` rows of `bits` bits, in which it sets `probes`
 * bits. It also sets one bit of the cache, a row of its own. Both are chosen by
 * the lowest bits of one hash, modulo the numbers of buckets and of cache bits.
 * A key is absent if its cache bit is clear.
 *
 * A bucket has L of n keys with binomial chance w_L. Its own rate is then f_L =
 * E[(X/bits)^probes] over its number X of set bits (math_rate), and, since the
 * places of a key come from few bits of its hash, the chance `twin` for each of
 * the L that an absent key has all places of that one. With D, the largest
 * power of two that divides both numbers, bucket and cache bit of a key are
 * equal modulo D. So a key of the same bucket has the absent key's cache bit
 * with chance s = D/cache, and one of another bucket with chance t:
 *
 *      F = sum w_L (f_L + (1 - f_L) L twin) (1 - (1-s)^L (1-t)^(n-L))     (1)
 *      t = (1/cache - s/buckets) / (1 - 1/buckets)
 */
#ifndef BLY_MATHS_BUCKETS_H
#define BLY_MATHS_BUCKETS_H

#include <stdint.h>

typedef struct {
    uint64_t buckets, bits;
    uint32_t probes;
    uint64_t cache;                     /* bits, a power of two; 0: there is no
                                           cache                             */
    double   twin;
} buckets;

/* Returns D of the picture above. */
uint64_t buckets_common(const buckets *b);

/* Returns the rate after n keys, (1), and in *sd the standard deviation of one
 * filter's own rate, to first order. */
double buckets_rate(const buckets *b, uint64_t n, double *sd);

#endif /* BLY_MATHS_BUCKETS_H */
