/* look.c - look keys up in the buckets of kind `cuckoo`.
 *
 * Floor 3. One key, then batches: for every processor, and eight keys at a time
 * (AVX-512).
 */
#include "kinds/removable/cuckoo/cuckoo.h"

#include <assert.h>

#include "base/cpu.h"
#include "tools/eight.h"

/* ---- One key ----------------------------------------------------------- */

uint64_t cuckoo_count(const void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    return cuckoo_count_key(&v, cuckoo_key_of(&v, hash));
}

static bool cuckoo_one_plain(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test(v, cuckoo_key_of(v, hash), CUCKOO_PLAIN);
}

static bool cuckoo_one_coded(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test(v, cuckoo_key_of(v, hash), CUCKOO_CODED);
}

static bool cuckoo_one_any(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test(v, cuckoo_key_of(v, hash), CUCKOO_ANY);
}

static kind_contains *cuckoo_one(const cuckoo_view *v)
{
    switch (cuckoo_form_of(v)) {
    case CUCKOO_PLAIN:
        return cuckoo_one_plain;
    case CUCKOO_CODED:
        return cuckoo_one_coded;
    default:
        return cuckoo_one_any;
    }
}

bool cuckoo_contains(const void *image, uint64_t hash)
{
    const cuckoo_view v = cuckoo_look(image);
    return cuckoo_one(&v)(&v, hash);
}

static_assert(sizeof(cuckoo_view) <= KIND_VIEW, "a view has its room");

kind_contains *cuckoo_contains_here(const void **subject, void *view)
{
    *(cuckoo_view *)view = cuckoo_look(*subject);
    *subject = view;
    return cuckoo_one(view);
}

/* ---- Batches ----------------------------------------------------------- */

PLATFORM_INLINE void cuckoo_contains_by(const cuckoo_view *v,
                                        const uint64_t *hashes, size_t n,
                                        bool *present, cuckoo_form form)
{
    CUCKOO_ROLL(v, hashes, n, false, present[i] = cuckoo_test(v, key, form));
}

#if CPU_X86
enum { CUCKOO_LANES = 8, CUCKOO_GROUPS = CUCKOO_RING / CUCKOO_LANES };

/* Eight keys on their way: the bytes where their buckets begin; the fingerprint
 * in the low half of `what`, and in bits 34 and 35 whether the buckets begin in
 * the middle of that byte. */
typedef struct { __m512i one, other, what; } cuckoo_eight;

/* bits_range() for n < 2^32. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i cuckoo_range_avx512(__m512i h,
                                                              uint64_t n)
{
    __m512i all = _mm512_set1_epi64((long long)n);
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(h, all), 32);
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), all);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

/* cuckoo_key_of() for fewer than 2^32 buckets. */
CPU_TARGET_AVX512 PLATFORM_INLINE cuckoo_eight
cuckoo_keys_avx512(const cuckoo_view *v, const uint64_t *hashes)
{
    const __m512i ones = _mm512_set1_epi64(1);
    __m512i all = _mm512_set1_epi64((long long)v->buckets);
    __m512i nibbles = _mm512_set1_epi64((long long)v->nibbles);
    __m512i state = eight_spread(_mm512_loadu_si512(hashes));
    __m512i fp = _mm512_srli_epi64(eight_spread(state), 32);
    fp = _mm512_mul_epu32(fp, _mm512_set1_epi64((long long)
                                                bits_mask(v->f)));
    fp = _mm512_add_epi64(_mm512_srli_epi64(fp, 32), ones);

    __m512i one = cuckoo_range_avx512(state, v->buckets);
    __m512i mixed = eight_spread(_mm512_mullo_epi64(fp,
        _mm512_set1_epi64((long long)HASH_STEP)));
    __m512i half = cuckoo_range_avx512(mixed, v->buckets / 2);
    __m512i sum = _mm512_or_si512(_mm512_slli_epi64(half, 1), ones);
    __m512i other = _mm512_sub_epi64(sum, one);
    other = _mm512_mask_add_epi64(other, _mm512_movepi64_mask(other), other,
                                  all);
    one = _mm512_mul_epu32(one, nibbles);
    other = _mm512_mul_epu32(other, nibbles);
    __m512i half_one = _mm512_slli_epi64(_mm512_and_si512(one, ones), 34);
    __m512i half_other = _mm512_slli_epi64(_mm512_and_si512(other, ones), 35);
    return (cuckoo_eight){
        _mm512_srli_epi64(one, 1), _mm512_srli_epi64(other, 1),
        _mm512_or_si512(fp, _mm512_or_si512(half_one, half_other)),
    };
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_zero_avx512(__m512i words, uint32_t width)
{
    uint64_t ones = cuckoo_lanes(width), high = ones << (width - 1);
    __m512i low = _mm512_set1_epi64((long long)(high - ones));
    __m512i sum = _mm512_add_epi64(_mm512_and_si512(words, low), low);
    return _mm512_andnot_si512(_mm512_or_si512(sum, words),
                               _mm512_set1_epi64((long long)high));
}

/* cuckoo_match() of eight words. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_match_avx512(const cuckoo_view *v, __m512i words, __m512i fp,
                    cuckoo_form form)
{
    if (form == CUCKOO_PLAIN)
        return cuckoo_zero_avx512(_mm512_xor_si512(words, _mm512_mullo_epi64(fp,
            _mm512_set1_epi64((long long)cuckoo_lanes(v->f)))), v->f);
    const __m512i one = _mm512_set1_epi64(1);
    uint32_t rest = v->f - CUCKOO_PREFIX;
    __m512i ends = _mm512_mullo_epi64(
        _mm512_and_si512(fp, _mm512_set1_epi64((long long)bits_mask(rest))),
        _mm512_set1_epi64((long long)cuckoo_lanes(rest)));
    ends = cuckoo_zero_avx512(_mm512_xor_si512(ends,
        _mm512_srli_epi64(words, CUCKOO_CODE)), rest);
    __m512i code = _mm512_and_si512(words,
        _mm512_set1_epi64((long long)bits_mask(CUCKOO_CODE)));
    __m512i p = _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(code,
        (const void *)cuckoo_prefixes, 2));
    p = _mm512_xor_si512(p, _mm512_mul_epu32(_mm512_srli_epi64(fp, rest),
                                             _mm512_set1_epi64(0x1111)));
    p = _mm512_srli_epi64(cuckoo_zero_avx512(p, CUCKOO_PREFIX), 3);
    __m512i there = _mm512_and_si512(p, one);
    for (uint32_t i = 1; i < CUCKOO_SLOTS; i++)
        there = _mm512_or_si512(there, _mm512_slli_epi64(_mm512_and_si512(
            _mm512_srli_epi64(p, 4 * i), one), i * rest));
    return _mm512_and_si512(_mm512_srli_epi64(ends, rest - 1), there);
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
cuckoo_test_avx512(const cuckoo_view *v, const cuckoo_eight *keys,
                   bool *present, cuckoo_form form)
{
    const __m512i four = _mm512_set1_epi64(4);
    __m512i fp = _mm512_and_si512(keys->what, _mm512_set1_epi64(UINT32_MAX));
    __m512i one = _mm512_i64gather_epi64(keys->one, v->payload, 1);
    __m512i other = _mm512_i64gather_epi64(keys->other, v->payload, 1);
    one = _mm512_srlv_epi64(one, _mm512_and_si512(
        _mm512_srli_epi64(keys->what, 32), four));
    other = _mm512_srlv_epi64(other, _mm512_and_si512(
        _mm512_srli_epi64(keys->what, 33), four));
    __m512i found = _mm512_or_si512(cuckoo_match_avx512(v, one, fp, form),
                                    cuckoo_match_avx512(v, other, fp, form));
    __mmask8 yes = _mm512_test_epi64_mask(found, found);
    _mm_storel_epi64((__m128i *)(void *)present, _mm_maskz_set1_epi8(yes, 1));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
cuckoo_ask_avx512(const cuckoo_view *v, cuckoo_eight *keys,
                  const uint64_t *hashes)
{
    uint64_t at[2 * CUCKOO_LANES];
    uint32_t span = v->nibbles >> 1;
    *keys = cuckoo_keys_avx512(v, hashes);
    _mm512_storeu_si512(at, keys->one);
    _mm512_storeu_si512(at + CUCKOO_LANES, keys->other);
    PLATFORM_UNROLL
    for (size_t i = 0; i < 2 * CUCKOO_LANES; i++) {
        platform_prefetch(v->payload + at[i]);
        platform_prefetch(v->payload + at[i] + span);
    }
}

/* Whole groups of eight keys; how many keys those are. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
cuckoo_groups_avx512(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                     bool *present, cuckoo_form form)
{
    cuckoo_eight ring[CUCKOO_GROUPS];
    size_t groups = n / CUCKOO_LANES;
    size_t ahead = (cpu_ahead(groups * CUCKOO_LANES, CUCKOO_RING)
                    + CUCKOO_LANES - 1) / CUCKOO_LANES;
    for (size_t i = 0; i < ahead; i++)
        cuckoo_ask_avx512(v, &ring[i], hashes + i * CUCKOO_LANES);
    for (size_t i = 0; i < groups - ahead; i++) {
        cuckoo_test_avx512(v, &ring[i % CUCKOO_GROUPS],
                           present + i * CUCKOO_LANES, form);
        cuckoo_ask_avx512(v, &ring[(i + ahead) % CUCKOO_GROUPS],
                          hashes + (i + ahead) * CUCKOO_LANES);
    }
    for (size_t i = groups - ahead; i < groups; i++)
        cuckoo_test_avx512(v, &ring[i % CUCKOO_GROUPS],
                           present + i * CUCKOO_LANES, form);
    return groups * CUCKOO_LANES;
}

CPU_TARGET_AVX512 static size_t
cuckoo_contains_avx512(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                       bool *present)
{
    if (v->buckets > UINT32_MAX)
        return 0;
    switch (cuckoo_form_of(v)) {
    case CUCKOO_PLAIN:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_CODED);
    default:
        return 0;
    }
}
#endif

void cuckoo_contains_many(const void *image, const uint64_t *hashes,
                          size_t n, bool *present)
{
    const cuckoo_view v = cuckoo_look(image);
#if CPU_X86
    if (cpu_now() >= CPU_AVX512) {
        size_t done = cuckoo_contains_avx512(&v, hashes, n, present);
        hashes += done;
        present += done;
        n -= done;
    }
#endif
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_PLAIN);
        return;
    case CUCKOO_CODED:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_CODED);
        return;
    default:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_ANY);
    }
}

void cuckoo_count_many(const void *image, const uint64_t *hashes,
                       size_t n, uint64_t *counts)
{
    const cuckoo_view v = cuckoo_look(image);
    CUCKOO_ROLL(&v, hashes, n, false, counts[i] = cuckoo_count_key(&v, key));
}
