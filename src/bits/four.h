/* four.h - the functions of bits/hash.h, for four hashes at a time.
 *
 * For code with AVX2 instructions; empty on other machines.
 */
#ifndef BLY_BITS_FOUR_H
#define BLY_BITS_FOUR_H

#include "base/cpu.h"
#include "bits/hash.h"

#if CPU_X86
#include <immintrin.h>

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i four_all(uint64_t v)
{
    return _mm256_set1_epi64x((long long)v);
}

/* Computes the products of four 64-bit numbers and one, modulo 2^64. AVX2 only
 * multiplies halves. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i four_times(__m256i v, uint64_t by)
{
    __m256i low = _mm256_mul_epu32(v, four_all(by));
    __m256i crossed = _mm256_mul_epu32(v, four_all(by >> 32));
    __m256i other = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), four_all(by));
    crossed = _mm256_add_epi64(crossed, other);
    return _mm256_add_epi64(low, _mm256_slli_epi64(crossed, 32));
}

/* Computes four hash_spread(). */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i four_spread(__m256i v)
{
    v = _mm256_xor_si256(v, _mm256_srli_epi64(v, 32));
    return four_times(v, HASH_STEP);
}

/* Computes four hash_mix(). */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i four_mix(__m256i v)
{
    v = _mm256_xor_si256(v, _mm256_srli_epi64(v, 30));
    v = four_times(v, HASH_MIX_FIRST);
    v = _mm256_xor_si256(v, _mm256_srli_epi64(v, 27));
    v = four_times(v, HASH_MIX_SECOND);
    return _mm256_xor_si256(v, _mm256_srli_epi64(v, 31));
}
#endif

#endif /* BLY_BITS_FOUR_H */
