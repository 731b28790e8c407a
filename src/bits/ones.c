/* ones.c - bits that rows have in common, by words and by vectors. */
#include "bits/ones.h"

#include "base/cpu.h"
#include "base/vector.h"
#include "bits/bits.h"

typedef void ones_body(uint32_t *shared, const uint8_t *rows, size_t n,
                       size_t bytes, const uint8_t *query);

static void ones_shared_portable(uint32_t *shared, const uint8_t *rows,
                                 size_t n, size_t bytes, const uint8_t *query)
{
    for (size_t i = 0; i < n; i++, rows += bytes) {
        uint32_t ones = 0;
        for (size_t at = 0; at < bytes; at += 8)
            ones += platform_popcount(bits_word(rows + at)
                                      & bits_word(query + at));
        shared[i] = ones;
    }
}

#if CPU_VECTOR4
static void ones_shared_vector4(uint32_t *shared, const uint8_t *rows, size_t n,
                                size_t bytes, const uint8_t *query)
{
    for (size_t i = 0; i < n; i++, rows += bytes) {
        vector4 ones = vector4_zero();
        for (size_t at = 0; at < bytes; at += sizeof (vector4))
            ones = vector4_add(ones, vector4_ones(vector4_and(
                vector4_of(rows + at), vector4_of(query + at))));
        shared[i] = vector4_sum(ones);
    }
}
#endif

#if CPU_X86
/* Counts the ones of each byte with a table for four bits. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i ones_of_bytes(__m256i v)
{
    const __m256i table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(0x0F);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
    return _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
        _mm256_shuffle_epi8(table, high));
}

CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t ones_sum(__m256i v)
{
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v),
                                _mm256_extracti128_si256(v, 1));
    return (uint32_t)_mm_cvtsi128_si32(two)
         + (uint32_t)_mm_extract_epi32(two, 2);
}

CPU_TARGET_AVX2 static void ones_shared_avx2(uint32_t *shared,
                                             const uint8_t *rows, size_t n,
                                             size_t bytes, const uint8_t *query)
{
    for (size_t i = 0; i < n; i++, rows += bytes) {
        __m256i ones = _mm256_setzero_si256();
        for (size_t at = 0; at < bytes; at += sizeof (__m256i)) {
            __m256i both = _mm256_and_si256(
                _mm256_loadu_si256((const __m256i *)(const void *)(rows + at)),
                _mm256_loadu_si256((const __m256i *)(const void *)(query
                                                                   + at)));
            ones = _mm256_add_epi64(ones, _mm256_sad_epu8(
                ones_of_bytes(both), _mm256_setzero_si256()));
        }
        shared[i] = ones_sum(ones);
    }
}
#endif

static ones_body *ones_choose(void)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return ones_shared_avx2;
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE)
        return ones_shared_vector4;
#endif
    return ones_shared_portable;
}

void ones_shared(uint32_t *shared, const uint8_t *rows, size_t n, size_t bytes,
                 const uint8_t *query)
{
    ones_choose()(shared, rows, n, bytes, query);
}
