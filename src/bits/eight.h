/* eight.h - the functions of bits/hash.h, for eight hashes at a time.
 *
 * For code with AVX-512 instructions; empty on other machines.
 */
#ifndef BLY_BITS_EIGHT_H
#define BLY_BITS_EIGHT_H

#include "base/cpu.h"
#include "bits/hash.h"

#if CPU_X86
#include <immintrin.h>

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i eight_all(uint64_t v)
{
    return _mm512_set1_epi64((long long)v);
}

/* Computes eight hash_spread(). */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i eight_spread(__m512i v)
{
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 32));
    return _mm512_mullo_epi64(v, eight_all(HASH_STEP));
}

/* Computes eight hash_mix(). */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i eight_mix(__m512i v)
{
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 30));
    v = _mm512_mullo_epi64(v, eight_all(HASH_MIX_FIRST));
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 27));
    v = _mm512_mullo_epi64(v, eight_all(HASH_MIX_SECOND));
    return _mm512_xor_si512(v, _mm512_srli_epi64(v, 31));
}
#endif

#endif /* BLY_BITS_EIGHT_H */
