/* mix.h - pseudorandom numbers from hashes. */
#ifndef FRAME_MIX_H
#define FRAME_MIX_H

#include <stdint.h>

/* The step of SplitMix64. Multiples of it make a sequence of hashes. */
#define MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

/* Returns another hash: a step and the finaliser of SplitMix64 [Steele, Lea &
 * Flood 2014], a bijection. */
static inline uint64_t mix_hash(uint64_t v)
{
    v += MIX_STEP;
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Returns a number below n that rises with the hash: the high half of hash * n,
 * computed from the products of their halves. */
static inline uint64_t mix_range(uint64_t hash, uint64_t n)
{
    uint64_t low = hash & UINT32_MAX, high = hash >> 32;
    uint64_t one = high * (n & UINT32_MAX) + (low * (n & UINT32_MAX) >> 32);
    uint64_t two = low * (n >> 32) + (one & UINT32_MAX);

    return high * (n >> 32) + (one >> 32) + (two >> 32);
}

#endif
