/* index.h - from one hash to k positions in [0, m): the literature's schemes.
 *
 * The formula of the false-positive rate wants k independent uniform
 * positions. Hashing the key k times gives them and costs k hashes; every
 * scheme here makes them from one 64-bit hash, and pays more or less for it:
 *
 *   scheme     position i, i = 0 .. k-1                         measured rate
 *                                                       m=1000,k=7 m=2048,k=11
 *   (formula)                                             8.266e-3   4.634e-4
 *   power      fastrange(s c^i), s the spread hash        8.261e-3   4.639e-4
 *   seeds      fastrange(mix(h + (i+1) g))                8.271e-3   4.633e-4
 *   enhanced   a + i b + (i^3 - i)/6  mod m               8.400e-3   4.973e-4
 *   triple     a + i b + i(i-1)/2 z   mod m               8.457e-3   5.024e-4
 *   step       fastrange(a + i b), b odd, modulo 2^64     8.637e-3   6.053e-4
 *   double     a + i b  mod m, b in [1, m)                9.229e-3   8.784e-4
 *
 * (n = 100 and 128 keys, 384 000 filters each, so that the last digit is about
 * the error; tests/bits/index.c prints the table from fewer.)
 *
 * Double hashing [Kirsch & Mitzenmacher 2006] loses nothing as m grows, but
 * for small m or large k many pairs of keys share most of their positions:
 * a step b with a small order modulo m repeats itself, and (a, b) and
 * (a + (k-1) b, -b) are the same set. Enhanced double and triple hashing
 * [Dillinger & Manolios 2004] mend most of it. `power` multiplies the whole
 * 64-bit state by an odd constant and takes the high half of state times m:
 * two keys share their positions only if they share their hash, the rate meets
 * the formula at every m, and a step costs one multiplication. It is the
 * default.
 *
 *   [Kirsch & Mitzenmacher 2006]  Less hashing, same performance: building a
 *                         better Bloom filter, ESA
 *   [Dillinger & Manolios 2004]  Bloom filters in probabilistic verification,
 *                         FMCAD
 */
#ifndef BLY_BITS_INDEX_H
#define BLY_BITS_INDEX_H

#include "bits/bits.h"
#include "bits/hash.h"

/* These numbers are stored in images: never change one. */
enum {
    INDEX_POWER = 0, INDEX_SEEDS = 1, INDEX_DOUBLE = 2, INDEX_ENHANCED = 3,
    INDEX_TRIPLE = 4, INDEX_STEP = 5, INDEX_SCHEMES = 6
};

/* 2^64 over the golden ratio, odd: multiples of it are far apart. */
#define INDEX_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

typedef struct {
    uint64_t m;                         /* positions are in [0, m)           */
    uint64_t a, b, z;                   /* the walk's state, by scheme       */
    uint64_t i;
} index_walk;

/* Returns (x + y) mod m for x, y < m. */
PLATFORM_INLINE uint64_t index_add(uint64_t x, uint64_t y, uint64_t m)
{
    return x >= m - y ? x - (m - y) : x + y;
}

PLATFORM_INLINE uint64_t index_word(uint64_t hash, uint64_t i)
{
    return hash_mix(hash + i * INDEX_GOLDEN);
}

/* Starts the walk of a hash. `scheme` is a constant at every call, so the
 * choice is made at compile time. m >= 1. */
PLATFORM_INLINE void index_start(index_walk *w, int scheme, uint64_t hash,
                                 uint64_t m)
{
    w->m = m;
    w->i = 0;
    w->a = w->b = w->z = 0;
    if (scheme == INDEX_POWER) {
        w->a = hash_spread(hash);
    } else if (scheme == INDEX_SEEDS) {
        w->a = hash;
    } else if (scheme == INDEX_STEP) {
        w->a = index_word(hash, 1);
        w->b = index_word(hash, 2) | 1;
    } else {
        w->a = bits_range(index_word(hash, 1), m);
        w->b = m == 1 ? 0 : 1 + bits_range(index_word(hash, 2), m - 1);
        w->z = bits_range(index_word(hash, 3), m);
    }
}

/* Returns the walk's next position. */
PLATFORM_INLINE uint64_t index_next(index_walk *w, int scheme)
{
    uint64_t at = w->a;
    w->i++;
    switch (scheme) {
    case INDEX_POWER:
        w->a *= HASH_STEP;
        return bits_range(at, w->m);
    case INDEX_SEEDS:
        return bits_range(index_word(w->a, w->i), w->m);
    case INDEX_STEP:
        w->a += w->b;
        return bits_range(at, w->m);
    case INDEX_ENHANCED:
        w->a = index_add(w->a, w->b, w->m);
        w->b = index_add(w->b, w->i % w->m, w->m);
        return at;
    case INDEX_TRIPLE:
        w->a = index_add(w->a, w->b, w->m);
        w->b = index_add(w->b, w->z, w->m);
        return at;
    default:                            /* INDEX_DOUBLE */
        w->a = index_add(w->a, w->b, w->m);
        return at;
    }
}

#endif /* BLY_BITS_INDEX_H */
