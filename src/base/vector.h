/* vector.h - loads a filter's block or line as one vector while other threads
 * may set bits in it; and portable vectors of four 32-bit lanes.
 *
 * In C, a load of 16, 32 or 64 bytes is not atomic, and is a data race with an
 * atomic OR of one of the bytes. In hardware it is harmless: each byte is read
 * as it was before or after the OR, which suffices for bits that are only ever
 * set. The load is therefore an inline-assembly instruction, outside C's rules,
 * which no compiler repeats, splits or invents. The sanitizers cannot see it;
 * for them it consists of relaxed byte loads, which have the same meaning.
 */
#ifndef BLY_BASE_VECTOR_H
#define BLY_BASE_VECTOR_H

#include "base/cpu.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VECTOR_WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)        \
    || __has_feature(memory_sanitizer)
#define VECTOR_WATCHED
#endif
#endif

#ifdef VECTOR_WATCHED
#define VECTOR_LOAD(to, from, instruction, registers, memory)                  \
    do {                                                                       \
        for (size_t vector_i = 0; vector_i < sizeof (to); vector_i++)          \
            ((uint8_t *)&(to))[vector_i] = platform_load8((from) + vector_i);  \
    } while (0)
#else
#define VECTOR_LOAD(to, from, instruction, registers, memory)                  \
    __asm__ volatile(instruction                                               \
                     : registers(to)                                           \
                     : memory(*(const uint8_t (*)[sizeof (to)])(from)))
#endif

#if CPU_X86
#include <immintrin.h>

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i vector_load32(const uint8_t *from)
{
    __m256i v;
    VECTOR_LOAD(v, from, "vmovdqu %1, %0", "=x", "m");
    return v;
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i vector_load64(const uint8_t *from)
{
    __m512i v;
    VECTOR_LOAD(v, from, "vmovdqu64 %1, %0", "=v", "m");
    return v;
}
#endif

/* ---- Four lanes of 32 bits --------------------------------------------- */

/* At the level CPU_BASELINE:
 *
 *     vector4_load     16 bytes of a filter, as above
 *     vector4_of       16 bytes that no other thread writes
 *     vector4_store    to bytes that no other thread uses
 *     vector4_times    each lane times a number, modulo 2^32
 *     vector4_power    2^n for the n in the top 5 bits of each lane
 *     vector4_or, vector4_xor, vector4_and
 *     vector4_zero     all bits clear
 *     vector4_add      modulo 2^32
 *     vector4_ones     lanes whose sum is the number of set bits
 *     vector4_sum      of all lanes, modulo 2^32
 *     vector4_mask     each lane AND the same number
 *     vector4_lacks    the bits of `wanted` that are not in `there`
 *     vector4_none     whether all bits are clear
 *     vector4_parity   bit i is set if lane i of `low`, or lane i - 4 of
 *                      `high`, has an odd number of ones
 */
#if CPU_SSE2
#include <emmintrin.h>

typedef __m128i vector4;

PLATFORM_INLINE vector4 vector4_load(const uint8_t *from)
{
    vector4 v;
#ifdef __AVX__
    VECTOR_LOAD(v, from, "vmovdqu %1, %0", "=x", "m");
#else
    VECTOR_LOAD(v, from, "movdqu %1, %0", "=x", "m");
#endif
    return v;
}

PLATFORM_INLINE vector4 vector4_of(const void *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

PLATFORM_INLINE void vector4_store(uint8_t *to, vector4 v)
{
    _mm_storeu_si128((__m128i *)(void *)to, v);
}

/* SSE2 multiplies two lanes at a time, to 64 bits. */
PLATFORM_INLINE vector4 vector4_times(vector4 v, uint32_t by)
{
    __m128i all = _mm_set1_epi32((int)by);
    __m128i even = _mm_mul_epu32(v, all);
    __m128i odd = _mm_mul_epu32(_mm_srli_epi64(v, 32), all);
    return _mm_or_si128(_mm_and_si128(even, _mm_set1_epi64x(UINT32_MAX)),
                        _mm_slli_epi64(odd, 32));
}

/* Lanes cannot be shifted by different amounts, so 2^n is made as the float
 * with that exponent. It is negative, since -2^31 is a 32-bit integer but 2^31
 * is not, and its conversion would raise a floating-point exception. */
PLATFORM_INLINE vector4 vector4_power(vector4 v)
{
    __m128i n = _mm_slli_epi32(_mm_srli_epi32(v, 27), 23);
    __m128i minus_one = _mm_castps_si128(_mm_set1_ps(-1));
    __m128 minus_power = _mm_castsi128_ps(_mm_add_epi32(minus_one, n));
    return _mm_sub_epi32(_mm_setzero_si128(), _mm_cvttps_epi32(minus_power));
}

PLATFORM_INLINE vector4 vector4_or(vector4 a, vector4 b)
{
    return _mm_or_si128(a, b);
}

PLATFORM_INLINE vector4 vector4_xor(vector4 a, vector4 b)
{
    return _mm_xor_si128(a, b);
}

PLATFORM_INLINE vector4 vector4_and(vector4 a, vector4 b)
{
    return _mm_and_si128(a, b);
}

PLATFORM_INLINE vector4 vector4_zero(void)
{
    return _mm_setzero_si128();
}

PLATFORM_INLINE vector4 vector4_add(vector4 a, vector4 b)
{
    return _mm_add_epi32(a, b);
}

/* Adds bits to pairs, nibbles and bytes, then the eight bytes, whose sum fits
 * the low lane; the lanes above it are 0. */
PLATFORM_INLINE vector4 vector4_ones(vector4 v)
{
    const __m128i two = _mm_set1_epi8(0x55), four = _mm_set1_epi8(0x33),
                  eight = _mm_set1_epi8(0x0F);
    v = _mm_sub_epi8(v, _mm_and_si128(_mm_srli_epi64(v, 1), two));
    v = _mm_add_epi8(_mm_and_si128(v, four),
                     _mm_and_si128(_mm_srli_epi64(v, 2), four));
    v = _mm_and_si128(_mm_add_epi8(v, _mm_srli_epi64(v, 4)), eight);
    return _mm_sad_epu8(v, _mm_setzero_si128());
}

PLATFORM_INLINE uint32_t vector4_sum(vector4 v)
{
    v = _mm_add_epi32(v, _mm_srli_si128(v, 8));
    v = _mm_add_epi32(v, _mm_srli_si128(v, 4));
    return (uint32_t)_mm_cvtsi128_si32(v);
}

PLATFORM_INLINE vector4 vector4_mask(vector4 v, uint32_t mask)
{
    return _mm_and_si128(v, _mm_set1_epi32((int)mask));
}

PLATFORM_INLINE vector4 vector4_lacks(vector4 there, vector4 wanted)
{
    return _mm_andnot_si128(there, wanted);
}

PLATFORM_INLINE bool vector4_none(vector4 v)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) == 0xFFFF;
}

/* Folds upwards until the top bit is the parity of all: eight 16-bit lanes
 * after the first fold, which are then packed by their signs. */
PLATFORM_INLINE uint32_t vector4_parity(vector4 low, vector4 high)
{
    low = _mm_srai_epi32(_mm_xor_si128(low, _mm_slli_epi32(low, 16)), 16);
    high = _mm_srai_epi32(_mm_xor_si128(high, _mm_slli_epi32(high, 16)), 16);
    __m128i v = _mm_packs_epi32(low, high);
    v = _mm_xor_si128(v, _mm_slli_epi16(v, 8));
    v = _mm_xor_si128(v, _mm_slli_epi16(v, 4));
    v = _mm_xor_si128(v, _mm_slli_epi16(v, 2));
    v = _mm_xor_si128(v, _mm_slli_epi16(v, 1));
    v = _mm_packs_epi16(v, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(v);
}
#elif CPU_NEON
#include <arm_neon.h>

typedef uint32x4_t vector4;

/* "Q" is an address in one register, the one that `ldr` always takes. */
PLATFORM_INLINE vector4 vector4_load(const uint8_t *from)
{
    vector4 v;
    VECTOR_LOAD(v, from, "ldr %q0, %1", "=w", "Q");
    return v;
}

PLATFORM_INLINE vector4 vector4_of(const void *from)
{
    return vreinterpretq_u32_u8(vld1q_u8((const uint8_t *)from));
}

PLATFORM_INLINE void vector4_store(uint8_t *to, vector4 v)
{
    vst1q_u8(to, vreinterpretq_u8_u32(v));
}

PLATFORM_INLINE vector4 vector4_times(vector4 v, uint32_t by)
{
    return vmulq_n_u32(v, by);
}

PLATFORM_INLINE vector4 vector4_power(vector4 v)
{
    int32x4_t n = vreinterpretq_s32_u32(vshrq_n_u32(v, 27));
    return vshlq_u32(vdupq_n_u32(1), n);
}

PLATFORM_INLINE vector4 vector4_or(vector4 a, vector4 b)
{
    return vorrq_u32(a, b);
}

PLATFORM_INLINE vector4 vector4_xor(vector4 a, vector4 b)
{
    return veorq_u32(a, b);
}

PLATFORM_INLINE vector4 vector4_and(vector4 a, vector4 b)
{
    return vandq_u32(a, b);
}

PLATFORM_INLINE vector4 vector4_zero(void)
{
    return vdupq_n_u32(0);
}

PLATFORM_INLINE vector4 vector4_add(vector4 a, vector4 b)
{
    return vaddq_u32(a, b);
}

PLATFORM_INLINE vector4 vector4_ones(vector4 v)
{
    return vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(v))));
}

PLATFORM_INLINE uint32_t vector4_sum(vector4 v)
{
    return vaddvq_u32(v);
}

PLATFORM_INLINE vector4 vector4_mask(vector4 v, uint32_t mask)
{
    return vandq_u32(v, vdupq_n_u32(mask));
}

PLATFORM_INLINE vector4 vector4_lacks(vector4 there, vector4 wanted)
{
    return vbicq_u32(wanted, there);
}

PLATFORM_INLINE bool vector4_none(vector4 v)
{
    return vmaxvq_u32(v) == 0;
}

/* The halves of each lane have the parity of their exclusive or, whose ones are
 * counted byte by byte. */
PLATFORM_INLINE uint32_t vector4_parity(vector4 low, vector4 high)
{
    const int16_t places[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    uint16x8_t a = vreinterpretq_u16_u32(low), b = vreinterpretq_u16_u32(high);
    uint16x8_t halves = veorq_u16(vuzp1q_u16(a, b), vuzp2q_u16(a, b));
    uint16x8_t ones = vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u16(halves)));
    uint16x8_t odd = vandq_u16(ones, vdupq_n_u16(1));
    return vaddvq_u16(vshlq_u16(odd, vld1q_s16(places)));
}
#elif CPU_WASM
#include <wasm_simd128.h>

typedef v128_t vector4;

/* Single-threaded: no load is racy. */
PLATFORM_INLINE vector4 vector4_load(const uint8_t *from)
{
    return wasm_v128_load(from);
}

PLATFORM_INLINE vector4 vector4_of(const void *from)
{
    return wasm_v128_load(from);
}

PLATFORM_INLINE void vector4_store(uint8_t *to, vector4 v)
{
    wasm_v128_store(to, v);
}

PLATFORM_INLINE vector4 vector4_times(vector4 v, uint32_t by)
{
    return wasm_i32x4_mul(v, wasm_u32x4_splat(by));
}

/* As with SSE2, but the conversion is to unsigned numbers. */
PLATFORM_INLINE vector4 vector4_power(vector4 v)
{
    v128_t n = wasm_i32x4_shl(wasm_u32x4_shr(v, 27), 23);
    v128_t one = wasm_f32x4_splat(1);
    return wasm_u32x4_trunc_sat_f32x4(wasm_i32x4_add(one, n));
}

PLATFORM_INLINE vector4 vector4_or(vector4 a, vector4 b)
{
    return wasm_v128_or(a, b);
}

PLATFORM_INLINE vector4 vector4_xor(vector4 a, vector4 b)
{
    return wasm_v128_xor(a, b);
}

PLATFORM_INLINE vector4 vector4_and(vector4 a, vector4 b)
{
    return wasm_v128_and(a, b);
}

PLATFORM_INLINE vector4 vector4_zero(void)
{
    return wasm_u32x4_splat(0);
}

PLATFORM_INLINE vector4 vector4_add(vector4 a, vector4 b)
{
    return wasm_i32x4_add(a, b);
}

PLATFORM_INLINE vector4 vector4_ones(vector4 v)
{
    return wasm_u32x4_extadd_pairwise_u16x8(
        wasm_u16x8_extadd_pairwise_u8x16(wasm_i8x16_popcnt(v)));
}

PLATFORM_INLINE uint32_t vector4_sum(vector4 v)
{
    return (uint32_t)wasm_i32x4_extract_lane(v, 0)
         + (uint32_t)wasm_i32x4_extract_lane(v, 1)
         + (uint32_t)wasm_i32x4_extract_lane(v, 2)
         + (uint32_t)wasm_i32x4_extract_lane(v, 3);
}

PLATFORM_INLINE vector4 vector4_mask(vector4 v, uint32_t mask)
{
    return wasm_v128_and(v, wasm_u32x4_splat(mask));
}

PLATFORM_INLINE vector4 vector4_lacks(vector4 there, vector4 wanted)
{
    return wasm_v128_andnot(wanted, there);
}

PLATFORM_INLINE bool vector4_none(vector4 v)
{
    return !wasm_v128_any_true(v);
}

/* As with NEON; the lanes' signs are the answer. */
PLATFORM_INLINE uint32_t vector4_parity(vector4 low, vector4 high)
{
    v128_t odd = wasm_i8x16_shuffle(low, high, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17,
                                    20, 21, 24, 25, 28, 29);
    v128_t even = wasm_i8x16_shuffle(low, high, 2, 3, 6, 7, 10, 11, 14, 15, 18,
                                     19, 22, 23, 26, 27, 30, 31);
    v128_t ones = wasm_u16x8_extadd_pairwise_u8x16(
        wasm_i8x16_popcnt(wasm_v128_xor(odd, even)));
    return (uint32_t)wasm_i16x8_bitmask(wasm_i16x8_shl(ones, 15));
}
#endif

#endif /* BLY_BASE_VECTOR_H */
