/* gcs_avx2.c - looks up keys of kind `gcs` with AVX2.
 *
 * Let L be the sum of the remainders up to that of key i, and i + 1. Then the
 * key's number, plus 1, is 2^k Q + L, where Q is the sum of the quotients. So
 * the number wanted, plus 1, less L, must be a multiple of 2^k. That rules out
 * all keys of a block but one in 2^k, and reads the remainders only, whose
 * places are known. They are summed in rows: 16 in lanes of 16 bits or, if they
 * have more than 9 bits, 8 in lanes of 32 bits. For a key that passes, Q is
 * then known. It says where in the quotients the key's one bit is, and i how
 * many come before it.
 */
#include "kinds/frozen/gcs/gcs.h"

#if CPU_X86
#include <immintrin.h>

/* The widest remainders that fit 16 and 32 bits with 7 bits before them. */
enum { GCS_K_NARROW = 9, GCS_K_BROAD = 25 };

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i gcs_bytes_avx2(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

/* gcs_locate(). The end of the first 32 bytes of 56 is read twice, and the
 * second time ignored. */
CPU_TARGET_AVX2 PLATFORM_INLINE gcs_span gcs_locate_avx2(const gcs_view *v,
                                                         uint64_t block)
{
    const __m256i zero = _mm256_setzero_si256();
    const uint8_t *bytes = gcs_record(v, block) + 8;
    const uint8_t *keep = gcs_keep + GCS_RECORD_BLOCKS
                        - block % GCS_RECORD_BLOCKS;
    __m256i first = _mm256_and_si256(gcs_bytes_avx2(bytes),
                                     gcs_bytes_avx2(keep));
    __m256i second = _mm256_and_si256(gcs_bytes_avx2(bytes + 24),
                                      gcs_bytes_avx2(keep + 24));
    second = _mm256_blend_epi32(second, zero, 3);
    first = _mm256_add_epi64(_mm256_sad_epu8(first, zero),
                             _mm256_sad_epu8(second, zero));
    __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(first),
                                _mm256_extracti128_si256(first, 1));
    sum = _mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum));
    return gcs_span_at(v, block, (uint64_t)_mm_cvtsi128_si64(sum));
}

/* The way from a row's bytes to its remainders: the bytes for each lane; the
 * power by which a narrow lane is multiplied, or the bits by which a broad one
 * is shifted; and how far the bytes of the first half are behind those of the
 * second. It is the same for all rows of a block, since 8 remainders are k
 * bytes. */
typedef struct {
    __m256i bytes, shift;
    uint64_t apart;
} gcs_comb;

/* The last key's remainder is in front. */
CPU_TARGET_AVX2 PLATFORM_INLINE gcs_comb gcs_comb_narrow(uint32_t k,
                                                         uint64_t stop)
{
    const __m256i behind = _mm256_setr_epi16(7, 6, 5, 4, 3, 2, 1, 0,
                                             7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i powers = _mm256_set1_epi64x(0x0102040810204080);
    __m256i at = _mm256_add_epi16(_mm256_set1_epi16(stop & 7),
        _mm256_mullo_epi16(behind, _mm256_set1_epi16((short)k)));
    __m256i byte = _mm256_srli_epi16(at, 3);
    __m256i bit = _mm256_and_si256(at, _mm256_set1_epi16(7));
    __m256i power = _mm256_shuffle_epi8(powers,
        _mm256_or_si256(bit, _mm256_set1_epi16((short)0xFF00)));
    return (gcs_comb){
        .bytes = _mm256_add_epi16(_mm256_set1_epi16(0x0100),
            _mm256_or_si256(byte, _mm256_slli_epi16(byte, 8))),
        .shift = _mm256_sll_epi16(power,
            _mm_cvtsi32_si128((int)(GCS_K_NARROW - k))),
        .apart = k,
    };
}

CPU_TARGET_AVX2 PLATFORM_INLINE gcs_comb gcs_comb_broad(uint32_t k,
                                                        uint64_t stop)
{
    const __m256i behind = _mm256_setr_epi32(3, 2, 1, 0, 3, 2, 1, 0);
    int first = (stop + 4 * k) & 7, second = stop & 7;
    __m256i at = _mm256_add_epi32(
        _mm256_setr_m128i(_mm_set1_epi32(first), _mm_set1_epi32(second)),
        _mm256_mullo_epi32(behind, _mm256_set1_epi32((int)k)));
    __m256i byte = _mm256_srli_epi32(at, 3);
    byte = _mm256_or_si256(byte, _mm256_slli_epi32(byte, 8));
    byte = _mm256_or_si256(byte, _mm256_slli_epi32(byte, 16));
    return (gcs_comb){
        .bytes = _mm256_add_epi32(byte, _mm256_set1_epi32(0x03020100)),
        .shift = _mm256_and_si256(at, _mm256_set1_epi32(7)),
        .apart = ((stop + 4 * k) >> 3) - (stop >> 3),
    };
}

/* Returns L of each key of a row, counted from the row's start. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
gcs_sums_avx2(const uint8_t *row, const gcs_comb *comb, uint32_t k, bool broad)
{
    const __m256i last = _mm256_set1_epi16(0x0F0E);
    __m256i x = _mm256_setr_m128i(
        _mm_loadu_si128((const __m128i *)(const void *)(row + comb->apart)),
        _mm_loadu_si128((const __m128i *)(const void *)row));
    x = _mm256_shuffle_epi8(x, comb->bytes);
    if (broad) {
        x = _mm256_srlv_epi32(x, comb->shift);
        x = _mm256_and_si256(x, _mm256_set1_epi32((int)((1u << k) - 1)));
        x = _mm256_add_epi32(x, _mm256_set1_epi32(1));
        x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
        x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
        return _mm256_add_epi32(x, _mm256_shuffle_epi32(
            _mm256_permute2x128_si256(x, x, 0x08), 0xFF));
    }
    x = _mm256_mullo_epi16(x, comb->shift);
    x = _mm256_srl_epi16(x, _mm_cvtsi32_si128((int)(16 - k)));
    x = _mm256_add_epi16(x, _mm256_set1_epi16(1));
    x = _mm256_add_epi16(x, _mm256_slli_si256(x, 2));
    x = _mm256_add_epi16(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi16(x, _mm256_slli_si256(x, 8));
    return _mm256_add_epi16(x, _mm256_shuffle_epi8(
        _mm256_permute2x128_si256(x, x, 0x08), last));
}

/* Returns a bit for each byte of the lanes that pass: `left` less L is a
 * multiple of 2^k. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
gcs_pass_avx2(__m256i sums, uint64_t left, uint32_t k, bool broad)
{
    const __m256i zero = _mm256_setzero_si256();
    int mask = (int)((1u << k) - 1);
    __m256i x = broad
        ? _mm256_cmpeq_epi32(zero, _mm256_and_si256(_mm256_set1_epi32(mask),
              _mm256_sub_epi32(_mm256_set1_epi32((int)left), sums)))
        : _mm256_cmpeq_epi16(zero, _mm256_and_si256(
              _mm256_set1_epi16((short)mask),
              _mm256_sub_epi16(_mm256_set1_epi16((short)left), sums)));
    return (uint32_t)_mm256_movemask_epi8(x);
}

/* Returns the number in the lane that begins at a byte. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
gcs_lane_avx2(__m256i lanes, uint32_t byte, bool broad)
{
    uint8_t each[32];
    _mm256_storeu_si256((__m256i *)(void *)each, lanes);
    uint32_t number = image_u32(each, byte & 28);
    return broad ? number : number >> (byte & 2) * 8 & 0xFFFF;
}

/* Counts the bits of the code set from `start` to before `end`. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint64_t
gcs_ones_avx2(const uint8_t *code, uint64_t start, uint64_t end)
{
    const uint8_t *at = code + (start >> 3);
    uint64_t word = image_u64(at, 0) >> (start & 7) << (start & 7), ones = 0;
    uint64_t bits = end - (start & ~UINT64_C(7));
    for (; bits > 64; bits -= 64) {
        ones += platform_popcount(word);
        at += 8;
        word = image_u64(at, 0);
    }
    return ones + platform_popcount(_bzhi_u64(word, (unsigned)bits));
}

/* Returns whether key `key` of the block, up to which remainders leave `left`,
 * is the number wanted. */
CPU_TARGET_AVX2 PLATFORM_INLINE bool
gcs_confirm_avx2(const gcs_view *v, gcs_span span, uint64_t key, uint64_t left)
{
    uint64_t one = span.start + key + (left >> v->k);
    return left >> 63 == 0
        && one + 1 + (key + 1) * v->k <= span.start + span.length
        && (gcs_window(v->code, one) & 1) != 0
        && gcs_ones_avx2(v->code, span.start, one) == key;
}

/* gcs_find(), row by row. The 8 bytes of code after the block may be read, and
 * up to 26 bytes before it, which are in the index at worst. */
CPU_TARGET_AVX2 PLATFORM_INLINE bool
gcs_find_rows_avx2(const gcs_view *v, gcs_span span, uint64_t wanted,
                   bool broad)
{
    const uint32_t k = v->k, keys = broad ? 8 : 16;
    const uint64_t stop = span.start + span.length;
    const gcs_comb comb = broad ? gcs_comb_broad(k, stop)
                                : gcs_comb_narrow(k, stop);
    const uint8_t *row = v->code + (stop >> 3);
    uint64_t left = wanted + 1, first = 0;
    for (uint64_t bits = 0; bits < span.length; bits += keys * (k + 1)) {
        row -= keys * k / 8;
        __m256i sums = gcs_sums_avx2(row, &comb, k, broad);
        uint32_t pass = gcs_pass_avx2(sums, left, k, broad);
        __m128i end = _mm256_extracti128_si256(sums, 1);
        while (pass != 0) {
            uint32_t byte = platform_trailing_zeros(pass);
            uint64_t sum = gcs_lane_avx2(sums, byte, broad);
            if (gcs_confirm_avx2(v, span, first + byte / (broad ? 4 : 2),
                                 left - sum))
                return true;
            pass &= ~((broad ? UINT32_C(15) : UINT32_C(3)) << byte);
        }
        left -= broad ? (uint32_t)_mm_extract_epi32(end, 3)
                      : (uint32_t)_mm_extract_epi16(end, 7);
        if (left >> 63 != 0)
            return false;
        first += keys;
    }
    return false;
}

CPU_TARGET_AVX2 PLATFORM_INLINE bool
gcs_find_avx2(const gcs_view *v, gcs_span span, uint64_t wanted)
{
    if (v->k > GCS_K_BROAD || span.start + span.length + 64 > v->bits)
        return gcs_find(v, span, wanted);
    return v->k > GCS_K_NARROW ? gcs_find_rows_avx2(v, span, wanted, true)
                               : gcs_find_rows_avx2(v, span, wanted, false);
}

CPU_TARGET_AVX2 bool gcs_one_avx2(const void *subject, uint64_t hash)
{
    const gcs_view *v = subject;
    uint64_t mixed = gcs_mix(v, hash);
    gcs_span span = gcs_locate_avx2(v, gcs_block_of(v, mixed));
    return gcs_find_avx2(v, span, gcs_number_of(v, mixed));
}

CPU_TARGET_AVX2 void
gcs_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                  bool *present)
{
    const gcs_view v = gcs_look(image);
    GCS_ROLL(v, hashes, n, gcs_locate_avx2,
             present[key] = gcs_find_avx2(&v, trip->span, trip->wanted));
}
#endif
