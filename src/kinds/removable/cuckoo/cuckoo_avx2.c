/* cuckoo_avx2.c - looks up batches of keys of kind `cuckoo` with AVX2.
 *
 * Four keys at a time, in filters of fewer than 2^32 buckets of one quad of up
 * to 64 bits. Unsorted quads are compared together, sorted ones in turn.
 */
#include "kinds/removable/cuckoo/cuckoo.h"

#if CPU_X86
#include "bits/four.h"

enum { CUCKOO_FOUR = 4, CUCKOO_FOURS = CUCKOO_RING / CUCKOO_FOUR };

/* Four keys on their way: the nibbles where their buckets begin, and their
 * fingerprints. */
typedef struct {
    uint64_t one[CUCKOO_FOUR], other[CUCKOO_FOUR], fp[CUCKOO_FOUR];
} cuckoo_four;

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i cuckoo_get_avx2(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void cuckoo_set_avx2(uint64_t *to, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, v);
}

/* bits_range() for n < 2^32. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i cuckoo_range_avx2(__m256i h, uint64_t n)
{
    __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(h, four_all(n)), 32);
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), four_all(n));
    return _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
}

/* cuckoo_key_of() of four keys. */
CPU_TARGET_AVX2 PLATFORM_INLINE void
cuckoo_keys_avx2(const cuckoo_view *v, cuckoo_four *keys,
                 const uint64_t *hashes)
{
    const __m256i nibbles = four_all(v->nibbles), all = four_all(v->buckets);
    __m256i state = four_spread(cuckoo_get_avx2(hashes));
    __m256i fp = _mm256_srli_epi64(four_spread(state), 32);
    fp = _mm256_mul_epu32(fp, four_all(bits_mask(v->f)));
    fp = _mm256_add_epi64(_mm256_srli_epi64(fp, 32), four_all(1));

    __m256i one = cuckoo_range_avx2(state, v->buckets);
    __m256i mixed = four_spread(four_times(fp, HASH_STEP));
    __m256i half = cuckoo_range_avx2(mixed, v->buckets / 2);
    __m256i sum = _mm256_or_si256(_mm256_slli_epi64(half, 1), four_all(1));
    __m256i other = _mm256_sub_epi64(sum, one);
    other = _mm256_add_epi64(other,
        _mm256_and_si256(_mm256_cmpgt_epi64(one, sum), all));
    cuckoo_set_avx2(keys->one, _mm256_mul_epu32(one, nibbles));
    cuckoo_set_avx2(keys->other, _mm256_mul_epu32(other, nibbles));
    cuckoo_set_avx2(keys->fp, fp);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
cuckoo_prefetch_avx2(const cuckoo_view *v, const uint64_t nibble[CUCKOO_FOUR])
{
    PLATFORM_UNROLL
    for (size_t i = 0; i < CUCKOO_FOUR; i++) {
        platform_prefetch(v->payload + (nibble[i] >> 1));
        platform_prefetch(v->payload + ((nibble[i] + v->nibbles) >> 1));
    }
}

/* Returns the words where four quads begin; `halves`: perhaps in the middle of
 * a byte. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
cuckoo_words_avx2(const cuckoo_view *v, const uint64_t nibble[CUCKOO_FOUR],
                  bool halves)
{
    double word[CUCKOO_FOUR];
    PLATFORM_UNROLL
    for (size_t i = 0; i < CUCKOO_FOUR; i++)
        memcpy(&word[i], v->payload + (nibble[i] >> 1), sizeof word[i]);
    __m256i words = _mm256_castpd_si256(_mm256_setr_pd(word[0], word[1],
                                                       word[2], word[3]));
    if (!halves)
        return words;
    __m256i odd = _mm256_and_si256(cuckoo_get_avx2(nibble), four_all(1));
    return _mm256_srlv_epi64(words, _mm256_slli_epi64(odd, 2));
}

/* Returns numbers with the highest bits of lanes: none only if no lane is 0.
 * Subtracting 1 from each lane borrows if and only if one of them is 0. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i cuckoo_zero_avx2(__m256i words,
                                                         uint64_t lanes)
{
    __m256i less = _mm256_sub_epi64(words, four_all(lanes));
    return _mm256_andnot_si256(words, less);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
cuckoo_plain_avx2(const cuckoo_view *v, const cuckoo_four *keys, bool *present,
                  bool halves)
{
    const uint64_t lanes = cuckoo_lanes(v->f);
    __m256i wanted = four_times(cuckoo_get_avx2(keys->fp), lanes);
    __m256i one = _mm256_xor_si256(wanted,
                                   cuckoo_words_avx2(v, keys->one, halves));
    __m256i other = _mm256_xor_si256(wanted,
                                     cuckoo_words_avx2(v, keys->other, halves));
    __m256i found = _mm256_and_si256(four_all(lanes << (v->f - 1)),
        _mm256_or_si256(cuckoo_zero_avx2(one, lanes),
                        cuckoo_zero_avx2(other, lanes)));
    __m256i lost = _mm256_cmpeq_epi64(found, _mm256_setzero_si256());
    uint32_t no = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(lost));
    uint32_t yes = ~(no * 0x00204081) & 0x01010101;     /* bit i in byte i */
    memcpy(present, &yes, CUCKOO_FOUR);
}

CPU_TARGET_AVX2 PLATFORM_INLINE uint64_t
cuckoo_coded_avx2(const cuckoo_view *v, uint64_t nibble, uint64_t fp)
{
    uint64_t word = image_u64(v->payload + (nibble >> 1), 0);
    return cuckoo_match(v, word >> (nibble & 1) * 4, (uint32_t)fp,
                        CUCKOO_CODED);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
cuckoo_answer_avx2(const cuckoo_view *v, const cuckoo_four *keys, bool *present,
                   cuckoo_form form, bool halves)
{
    if (form == CUCKOO_PLAIN) {
        cuckoo_plain_avx2(v, keys, present, halves);
        return;
    }
    for (size_t i = 0; i < CUCKOO_FOUR; i++)
        present[i] = (cuckoo_coded_avx2(v, keys->one[i], keys->fp[i])
                    | cuckoo_coded_avx2(v, keys->other[i], keys->fp[i])) != 0;
}

/* Answers whole fours. In the core's own cache they are answered as they come:
 * the processor works on several of them by itself. */
CPU_TARGET_AVX2 PLATFORM_INLINE void
cuckoo_fours_avx2(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                  bool *present, cuckoo_form form, bool halves)
{
    cuckoo_four ring[CUCKOO_FOURS], now;
    size_t keys_ahead = cpu_ahead(n, CUCKOO_RING, cuckoo_bytes(v));
    size_t ahead = (keys_ahead + CUCKOO_FOUR - 1) / CUCKOO_FOUR;
    if (!cuckoo_far(v)) {
        for (size_t i = 0; i < n; i += CUCKOO_FOUR) {
            cuckoo_keys_avx2(v, &now, hashes + i);
            cuckoo_answer_avx2(v, &now, present + i, form, halves);
        }
        return;
    }
    for (size_t i = 0; i < n / CUCKOO_FOUR + ahead; i++) {
        if (i >= ahead)
            cuckoo_answer_avx2(v, &ring[(i - ahead) % CUCKOO_FOURS],
                               present + (i - ahead) * CUCKOO_FOUR, form,
                               halves);
        if (i >= n / CUCKOO_FOUR)
            continue;
        cuckoo_four *keys = &ring[i % CUCKOO_FOURS];
        cuckoo_keys_avx2(v, keys, hashes + i * CUCKOO_FOUR);
        cuckoo_prefetch_avx2(v, keys->one);
        cuckoo_prefetch_avx2(v, keys->other);
    }
}

CPU_TARGET_AVX2 size_t
cuckoo_contains_avx2(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                     bool *present)
{
    n -= n % CUCKOO_FOUR;
    if (v->buckets > UINT32_MAX || cuckoo_form_of(v) == CUCKOO_ANY)
        return 0;
    if (v->sorted)
        cuckoo_fours_avx2(v, hashes, n, present, CUCKOO_CODED, true);
    else if (v->nibbles % 2 == 0)
        cuckoo_fours_avx2(v, hashes, n, present, CUCKOO_PLAIN, false);
    else
        cuckoo_fours_avx2(v, hashes, n, present, CUCKOO_PLAIN, true);
    return n;
}
#endif
