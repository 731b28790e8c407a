/* cuckoo_look.c - looks up keys in the buckets of kind `cuckoo`.
 *
 * First quads that are too wide for a word, then one key, then batches: in
 * portable C, and eight keys at a time (AVX-512). cuckoo_avx2.c has those of
 * four keys at a time.
 */
#include "kinds/removable/cuckoo/cuckoo.h"

#include "bloomery/inline.h"

#include <assert.h>

#include "base/cpu.h"
#include "bits/eight.h"

/* ---- Quads of more than 64 bits, and buckets of several ---------------- */

/* 128 bits are compared as two words of two slots. */
typedef struct { uint64_t first, second; } cuckoo_pairs;

/* 1 in each of two lanes of `width` <= 32 bits. */
PLATFORM_INLINE uint64_t cuckoo_two(uint32_t width)
{
    return UINT64_C(1) | UINT64_C(1) << width;
}

/* Returns `width` <= 32 bits of two slots each, from bit `at` of `low` on. The
 * bits above them are undefined. */
PLATFORM_INLINE cuckoo_pairs cuckoo_pairs_at(uint64_t low, uint64_t high,
                                             uint32_t at, uint32_t width)
{
    low = low >> at | high << 1 << (63 - at);
    high >>= at;
    return (cuckoo_pairs){
        .first = low,
        .second = low >> 1 >> (2 * width - 1) | high << (64 - 2 * width),
    };
}

/* Returns a number other than 0 if a wide quad has `fp`. */
PLATFORM_INLINE uint64_t cuckoo_match_wide(const cuckoo_view *v, uint64_t quad,
                                           uint32_t fp, bool sorted)
{
    const uint8_t *at = cuckoo_at(v, quad);
    uint64_t low = image_u64(at, 0), high = image_u64(at, 8);
    uint32_t shift = cuckoo_shift(v, quad);
    uint32_t width = sorted ? v->f - CUCKOO_PREFIX : v->f;
    uint64_t two = cuckoo_two(width), ends = (fp & bits_mask(width)) * two;
    cuckoo_pairs q = cuckoo_pairs_at(low, high,
                                     sorted ? shift + CUCKOO_CODE : shift,
                                     width);
    uint64_t first = cuckoo_zero_of(q.first ^ ends, two, width);
    uint64_t second = cuckoo_zero_of(q.second ^ ends, two, width);
    if (!sorted)
        return first | second;
    uint64_t prefixes = cuckoo_prefixes[low >> shift & bits_mask(CUCKOO_CODE)]
                      ^ (fp >> width) * 0x1111u;
    uint64_t p = cuckoo_zero_lanes(prefixes, CUCKOO_PREFIX) >> 3;
    return (first >> (width - 1) & ((p & 1) | (p >> 4 & 1) << width))
         | (second >> (width - 1) & ((p >> 8 & 1) | (p >> 12) << width));
}

/* The way to look up the remaining cases: one wide quad, or buckets that have
 * grown. */
typedef enum { CUCKOO_WIDE, CUCKOO_WIDE_CODED, CUCKOO_GROWN } cuckoo_rest;

PLATFORM_INLINE cuckoo_rest cuckoo_rest_of(const cuckoo_view *v)
{
    return v->quads > 1 ? CUCKOO_GROWN
         : v->sorted ? CUCKOO_WIDE_CODED : CUCKOO_WIDE;
}

/* Returns a number other than 0 if a bucket of several quads has `fp`. */
PLATFORM_INLINE uint64_t cuckoo_match_grown(const cuckoo_view *v,
                                            uint64_t bucket, uint32_t fp)
{
    const cuckoo_form form = v->sorted ? CUCKOO_CODED : CUCKOO_PLAIN;
    uint64_t match = 0, first = bucket * v->quads;
    for (uint64_t quad = first; quad < first + v->quads; quad++)
        match |= cuckoo_narrow(v)
            ? cuckoo_match(v, cuckoo_word(v, quad), fp, form)
            : cuckoo_match_wide(v, quad, fp, v->sorted);
    return match;
}

/* cuckoo_test() of the rest. */
PLATFORM_INLINE bool cuckoo_test_rest(const cuckoo_view *v, cuckoo_key key,
                                      cuckoo_rest rest)
{
    const bool sorted = rest == CUCKOO_WIDE_CODED;
    if (rest == CUCKOO_GROWN)
        return (cuckoo_match_grown(v, key.one, key.fp)
              | cuckoo_match_grown(v, key.other, key.fp)) != 0;
    return (cuckoo_match_wide(v, key.one, key.fp, sorted)
          | cuckoo_match_wide(v, key.other, key.fp, sorted)) != 0;
}

/* ---- Single keys ------------------------------------------------------- */

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

static bool cuckoo_one_wide(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test_rest(v, cuckoo_key_of(v, hash), CUCKOO_WIDE);
}

static bool cuckoo_one_wide_coded(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test_rest(v, cuckoo_key_of(v, hash), CUCKOO_WIDE_CODED);
}

static bool cuckoo_one_grown(const void *subject, uint64_t hash)
{
    const cuckoo_view *v = subject;
    return cuckoo_test_rest(v, cuckoo_key_of(v, hash), CUCKOO_GROWN);
}

static kind_contains *cuckoo_one_rest(const cuckoo_view *v)
{
    switch (cuckoo_rest_of(v)) {
    case CUCKOO_WIDE:
        return cuckoo_one_wide;
    case CUCKOO_WIDE_CODED:
        return cuckoo_one_wide_coded;
    default:
        return cuckoo_one_grown;
    }
}

static kind_contains *cuckoo_one(const cuckoo_view *v)
{
    switch (cuckoo_form_of(v)) {
    case CUCKOO_PLAIN:
        return cuckoo_one_plain;
    case CUCKOO_CODED:
        return cuckoo_one_coded;
    default:
        return cuckoo_one_rest(v);
    }
}

bool cuckoo_contains(const void *image, uint64_t hash)
{
    const cuckoo_view v = cuckoo_look(image);
    return cuckoo_one(&v)(&v, hash);
}

void cuckoo_inline(void *view, const void *image)
{
    const cuckoo_view v = cuckoo_look(image);
    bly_inline_cuckoo *out = view;
    out->payload = v.payload;
    out->prefixes = cuckoo_prefixes;
    out->buckets = v.buckets;
    out->quads = (uint32_t)v.quads;
    out->f = v.f;
    out->nibbles = v.nibbles;
    out->sorted = v.sorted;
    out->ones = cuckoo_form_of(&v) == CUCKOO_PLAIN ? cuckoo_lanes(v.f) : 0;
}

static bool cuckoo_one_inline(const void *view, uint64_t hash)
{
    return bly_inside_plain(view, hash);
}

static_assert(sizeof(cuckoo_view) <= KIND_VIEW
              && sizeof(bly_inline_cuckoo) <= KIND_VIEW, "a view has its room");

kind_contains *cuckoo_contains_here(const void **subject, void *view)
{
    const cuckoo_view v = cuckoo_look(*subject);
    if (cuckoo_form_of(&v) == CUCKOO_PLAIN) {
        cuckoo_inline(view, *subject);
        *subject = view;
        return cuckoo_one_inline;
    }
    *(cuckoo_view *)view = v;
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

PLATFORM_INLINE void cuckoo_contains_as(const cuckoo_view *v,
                                        const uint64_t *hashes, size_t n,
                                        bool *present, cuckoo_rest rest)
{
    CUCKOO_ROLL(v, hashes, n, false,
                present[i] = cuckoo_test_rest(v, key, rest));
}

static void cuckoo_contains_rest(const cuckoo_view *v, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    switch (cuckoo_rest_of(v)) {
    case CUCKOO_WIDE:
        cuckoo_contains_as(v, hashes, n, present, CUCKOO_WIDE);
        return;
    case CUCKOO_WIDE_CODED:
        cuckoo_contains_as(v, hashes, n, present, CUCKOO_WIDE_CODED);
        return;
    default:
        cuckoo_contains_as(v, hashes, n, present, CUCKOO_GROWN);
    }
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

/* cuckoo_zero_of() of eight words. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_zero_of_avx512(__m512i words, uint64_t ones, uint32_t width)
{
    uint64_t high = ones << (width - 1);
    __m512i low = _mm512_set1_epi64((long long)(high - ones));
    __m512i sum = _mm512_add_epi64(_mm512_and_si512(words, low), low);
    return _mm512_andnot_si512(_mm512_or_si512(sum, words),
                               _mm512_set1_epi64((long long)high));
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_zero_avx512(__m512i words, uint32_t width)
{
    return cuckoo_zero_of_avx512(words, cuckoo_lanes(width), width);
}

/* Returns four bits per quad, the lowest of each set if the sorted prefix
 * equals that of `fp`. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_prefix_avx512(__m512i words, __m512i fp, uint32_t rest)
{
    __m512i code = _mm512_and_si512(words,
        _mm512_set1_epi64((long long)bits_mask(CUCKOO_CODE)));
    __m512i p = _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(code,
        (const void *)cuckoo_prefixes, 2));
    p = _mm512_xor_si512(p, _mm512_mul_epu32(_mm512_srli_epi64(fp, rest),
                                             _mm512_set1_epi64(0x1111)));
    return _mm512_srli_epi64(cuckoo_zero_avx512(p, CUCKOO_PREFIX), 3);
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
    __m512i p = cuckoo_prefix_avx512(words, fp, rest);
    __m512i there = _mm512_and_si512(p, one);
    for (uint32_t i = 1; i < CUCKOO_SLOTS; i++)
        there = _mm512_or_si512(there, _mm512_slli_epi64(_mm512_and_si512(
            _mm512_srli_epi64(p, 4 * i), one), i * rest));
    return _mm512_and_si512(_mm512_srli_epi64(ends, rest - 1), there);
}

/* cuckoo_match_wide() of eight quads that begin at these bytes, `shift` bits
 * later. A shift by 64 gives 0, as it does not in C. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_wide_avx512(const cuckoo_view *v, __m512i at, __m512i shift, __m512i fp)
{
    const __m512i all = _mm512_set1_epi64(64), one = _mm512_set1_epi64(1);
    const uint32_t width = v->sorted ? v->f - CUCKOO_PREFIX : v->f;
    const uint64_t two = cuckoo_two(width);
    __m512i low = _mm512_i64gather_epi64(at, v->payload, 1);
    __m512i high = _mm512_i64gather_epi64(at, v->payload + 8, 1);
    __m512i words = _mm512_srlv_epi64(low, shift);
    if (v->sorted)
        shift = _mm512_add_epi64(shift, _mm512_set1_epi64(CUCKOO_CODE));
    low = _mm512_or_si512(_mm512_srlv_epi64(low, shift),
        _mm512_sllv_epi64(high, _mm512_sub_epi64(all, shift)));
    high = _mm512_srlv_epi64(high, shift);
    high = _mm512_or_si512(_mm512_srli_epi64(low, 2 * width),
                           _mm512_slli_epi64(high, 64 - 2 * width));
    __m512i ends = _mm512_and_si512(fp,
        _mm512_set1_epi64((long long)bits_mask(width)));
    ends = _mm512_or_si512(ends, _mm512_slli_epi64(ends, width));
    low = cuckoo_zero_of_avx512(_mm512_xor_si512(low, ends), two, width);
    high = cuckoo_zero_of_avx512(_mm512_xor_si512(high, ends), two, width);
    if (!v->sorted)
        return _mm512_or_si512(low, high);
    __m512i p = cuckoo_prefix_avx512(words, fp, width), q;
    q = _mm512_srli_epi64(p, 8);
    p = _mm512_or_si512(_mm512_and_si512(p, one), _mm512_slli_epi64(
        _mm512_and_si512(_mm512_srli_epi64(p, 4), one), width));
    q = _mm512_or_si512(_mm512_and_si512(q, one), _mm512_slli_epi64(
        _mm512_srli_epi64(q, 4), width));
    return _mm512_or_si512(
        _mm512_and_si512(_mm512_srli_epi64(low, width - 1), p),
        _mm512_and_si512(_mm512_srli_epi64(high, width - 1), q));
}

/* CUCKOO_ANY: one quad of more than 64 bits. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
cuckoo_test_avx512(const cuckoo_view *v, const cuckoo_eight *keys,
                   bool *present, cuckoo_form form)
{
    const __m512i four = _mm512_set1_epi64(4);
    __m512i fp = _mm512_and_si512(keys->what, _mm512_set1_epi64(UINT32_MAX));
    __m512i shift_one = _mm512_and_si512(_mm512_srli_epi64(keys->what, 32),
                                         four);
    __m512i shift_other = _mm512_and_si512(_mm512_srli_epi64(keys->what, 33),
                                           four);
    __m512i one, other;
    if (form == CUCKOO_ANY) {
        one = cuckoo_wide_avx512(v, keys->one, shift_one, fp);
        other = cuckoo_wide_avx512(v, keys->other, shift_other, fp);
    } else {
        one = _mm512_i64gather_epi64(keys->one, v->payload, 1);
        other = _mm512_i64gather_epi64(keys->other, v->payload, 1);
        one = cuckoo_match_avx512(v, _mm512_srlv_epi64(one, shift_one), fp,
                                  form);
        other = cuckoo_match_avx512(v, _mm512_srlv_epi64(other, shift_other),
                                    fp, form);
    }
    __m512i found = _mm512_or_si512(one, other);
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
    size_t ahead = (cpu_ahead(groups * CUCKOO_LANES, CUCKOO_RING, CPU_FAR)
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
    if (v->buckets > UINT32_MAX || v->quads > 1)
        return 0;
    switch (cuckoo_form_of(v)) {
    case CUCKOO_PLAIN:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_CODED);
    default:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_ANY);
    }
}
#endif

void cuckoo_contains_many(const void *image, const uint64_t *hashes,
                          size_t n, bool *present)
{
    const cuckoo_view v = cuckoo_look(image);
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        size_t done = cpu_now() >= CPU_AVX512
                    ? cuckoo_contains_avx512(&v, hashes, n, present)
                    : cuckoo_contains_avx2(&v, hashes, n, present);
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
        cuckoo_contains_rest(&v, hashes, n, present);
    }
}

void cuckoo_count_many(const void *image, const uint64_t *hashes,
                       size_t n, uint64_t *counts)
{
    const cuckoo_view v = cuckoo_look(image);
    CUCKOO_ROLL(&v, hashes, n, false, counts[i] = cuckoo_count_key(&v, key));
}
