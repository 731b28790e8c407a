/* blocked_avx512.c - looks up and adds keys of kind `blocked` with AVX-512. */
#include "kinds/sets/blocked/blocked.h"

#include "base/vector.h"

#if CPU_X86

/* Returns which of up to sixteen probes find their bit clear. One register
 * holds the whole line. The word of each probe is rotated until its bit is the
 * lowest. */
CPU_TARGET_AVX512 PLATFORM_INLINE __mmask16
blocked_clear_avx512(const uint8_t *line, uint32_t g, uint32_t k, __m512i steps)
{
    __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)g), steps);
    __m512i word = _mm512_srli_epi32(product, 28);
    __m512i picked = _mm512_permutexvar_epi32(word, vector_load64(line));
    __m512i turned = _mm512_rorv_epi32(picked, _mm512_srli_epi32(product,
                                                         BLOCKED_SHIFT));
    return _mm512_mask_testn_epi32_mask((__mmask16)_bzhi_u32(UINT16_MAX, k),
                                        turned, _mm512_set1_epi32(1));
}

CPU_TARGET_AVX512 PLATFORM_INLINE bool
blocked_test_avx512(const uint8_t *line, uint32_t g, uint32_t k, __m512i steps)
{
    __mmask16 clear = blocked_clear_avx512(line, g, k, steps);
    if (k > 16)
        clear |= blocked_clear_avx512(line, g * blocked_steps[15], k - 16,
                                      steps);
    return _kortestz_mask16_u8(clear, clear);
}

/* With up to eight probes, half of a register is free for another key. So keys
 * are worked on in pairs: prefetched together, each with the places of its
 * bits. */
enum {
    BLOCKED_PAIR_K = 8,                 /* probes of a key in a pair         */
    BLOCKED_PAIRS = 64                  /* prefetched pairs, at most         */
};

typedef struct {
    uint8_t *line[2];
    uint32_t place[2 * BLOCKED_PAIR_K];
} blocked_pair;

PLATFORM_INLINE size_t blocked_pairs_ahead(size_t pairs)
{
    return (cpu_ahead(2 * pairs, 2 * BLOCKED_PAIRS, CPU_FAR) + 1) / 2;
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i blocked_pair_steps(void)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(
               (const __m256i *)(const void *)blocked_steps));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_prefetch_pair(const blocked_view *v, blocked_pair *pair,
                      const uint64_t *hashes, __m512i steps, bool write)
{
    uint64_t one = hash_spread(hashes[0]), other = hash_spread(hashes[1]);
    __m512i g = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)one), 0xFF00,
                                       (int)other);
    pair->line[0] = bly_inside_line(v, one);
    pair->line[1] = bly_inside_line(v, other);
    PLATFORM_UNROLL
    for (size_t i = 0; i < 2; i++)
        if (write)
            platform_prefetch_write(pair->line[i]);
        else
            platform_prefetch(pair->line[i]);
    _mm512_storeu_si512(pair->place, _mm512_srli_epi32(
        _mm512_mullo_epi32(g, steps), BLOCKED_SHIFT));
}

/* Looks up a pair. The high 4 bits of a place select a word of the line, and
 * the low 5 a bit of it. The words of the second line have the numbers 16 to
 * 31. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_test_pair(const blocked_pair *pair, __mmask16 wanted, bool *present)
{
    const __m512i second = _mm512_maskz_set1_epi32(0xFF00, 16);
    __m512i place = _mm512_loadu_si512(pair->place);
    __m512i word = _mm512_or_si512(_mm512_srli_epi32(place, 5), second);
    __m512i picked = _mm512_permutex2var_epi32(vector_load64(pair->line[0]),
                                               word,
                                               vector_load64(pair->line[1]));
    uint32_t clear = _mm512_mask_testn_epi32_mask(wanted,
        _mm512_rorv_epi32(picked, place), _mm512_set1_epi32(1));
    present[0] = (clear & 0xFF) == 0;
    present[1] = clear >> 8 == 0;
}

/* Looks up all keys but the last of an odd number. Returns how many. */
CPU_TARGET_AVX512 static size_t
blocked_contains_pairs(const blocked_view *view, const uint64_t *hashes,
                       size_t n, bool *present)
{
    const blocked_view v = *view;
    const __mmask16 wanted = (__mmask16)(((1u << v.k) - 1) * 0x101);
    const __m512i steps = blocked_pair_steps();
    blocked_pair ring[BLOCKED_PAIRS];
    size_t pairs = n / 2, ahead = blocked_pairs_ahead(pairs);
    for (size_t i = 0; i < ahead; i++)
        blocked_prefetch_pair(&v, &ring[i], hashes + 2 * i, steps, false);
    for (size_t i = 0; i < pairs - ahead; i++) {
        blocked_test_pair(&ring[i % BLOCKED_PAIRS], wanted, present + 2 * i);
        blocked_prefetch_pair(&v, &ring[(i + ahead) % BLOCKED_PAIRS],
                              hashes + 2 * (i + ahead), steps, false);
    }
    for (size_t i = pairs - ahead; i < pairs; i++)
        blocked_test_pair(&ring[i % BLOCKED_PAIRS], wanted, present + 2 * i);
    return 2 * pairs;
}

CPU_TARGET_AVX512 bool
blocked_one_avx512(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test_avx512(bly_inside_line(v, state), (uint32_t)state, v->k,
                               _mm512_loadu_si512(blocked_steps));
}

CPU_TARGET_AVX512 void
blocked_contains_avx512(const void *image, const uint64_t *hashes, size_t n,
                        bool *present)
{
    blocked_view v = blocked_look(image);
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    if (v.k <= BLOCKED_PAIR_K) {
        size_t done = blocked_contains_pairs(&v, hashes, n, present);
        if (done < n)
            present[done] = blocked_one_avx512(&v, hashes[done]);
        return;
    }
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test_avx512(line, g, v.k, steps));
}

/* Returns the k bits of a key in one register. A lane is a word of 32 bits. Its
 * 1 is shifted by the place of the bit minus that of the lane, which leaves 0
 * except in the lane where the difference is 0 to 31. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
blocked_bits_avx512(uint32_t g, uint32_t k, __m512i steps)
{
    const __m512i lanes = _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224,
                                            256, 288, 320, 352, 384, 416, 448,
                                            480);
    __m512i bits = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    for (;;) {
        __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)g), steps);
        __m512i places = _mm512_srli_epi32(product, BLOCKED_SHIFT);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < 16 && j < k; j++) {
            __m512i probe = _mm512_set1_epi32((int)j);
            __m512i place = _mm512_permutexvar_epi32(probe, places);
            bits = _mm512_or_si512(bits, _mm512_sllv_epi32(one,
                                         _mm512_sub_epi32(place, lanes)));
        }
        if (k <= 16)
            return bits;
        k -= 16;
        g *= blocked_steps[15];
    }
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_add_k_avx512(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                     size_t n)
{
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    BLOCKED_ROLL(*v, hashes, n, true,
        _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line),
            blocked_bits_avx512(g, k, steps))));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_each_k_avx512(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                      size_t n, bool *seen)
{
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    BLOCKED_ROLL(*v, hashes, n, true,
        __m512i bits = blocked_bits_avx512(g, k, steps);
        __m512i old = _mm512_loadu_si512(line);
        __m512i fresh = _mm512_andnot_si512(old, bits);
        seen[i] = _mm512_test_epi32_mask(fresh, fresh) == 0;
        _mm512_storeu_si512(line, _mm512_or_si512(old, bits)));
}

/* Returns the k bits of a key in a pair. The highest bit of each word is
 * shifted down by its distance to the place of the bit, which is 0 to 31 in one
 * lane only. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
blocked_pair_bits(const uint32_t *places, uint32_t k)
{
    const __m512i last = _mm512_setr_epi32(31, 63, 95, 127, 159, 191, 223, 255,
                                           287, 319, 351, 383, 415, 447, 479,
                                           511);
    const __m512i top = _mm512_set1_epi32(INT32_MIN);
    __m512i bits = _mm512_setzero_si512();
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < BLOCKED_PAIR_K && j < k; j++) {
        __m512i place = _mm512_set1_epi32((int)places[j]);
        bits = _mm512_or_si512(bits, _mm512_srlv_epi32(top,
                                     _mm512_sub_epi32(last, place)));
    }
    return bits;
}

/* Sets the bits of both keys. seen[i]: all bits of key i were set before. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_set_pair(const blocked_pair *pair, uint32_t k, bool *seen)
{
    for (size_t i = 0; i < 2; i++) {
        __m512i bits = blocked_pair_bits(pair->place + i * BLOCKED_PAIR_K, k);
        __m512i old = _mm512_loadu_si512(pair->line[i]);
        if (seen != NULL) {
            __m512i fresh = _mm512_andnot_si512(old, bits);
            seen[i] = _mm512_test_epi32_mask(fresh, fresh) == 0;
        }
        _mm512_storeu_si512(pair->line[i], _mm512_or_si512(old, bits));
    }
}

/* Adds all keys but the last of an odd number. Returns how many. `seen` may be
 * NULL. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
blocked_add_pairs(const blocked_view *view, uint32_t k, const uint64_t *hashes,
                  size_t n, bool *seen)
{
    const blocked_view v = *view;
    const __m512i steps = blocked_pair_steps();
    blocked_pair ring[BLOCKED_PAIRS];
    size_t pairs = n / 2, ahead = blocked_pairs_ahead(pairs);
    for (size_t i = 0; i < ahead; i++)
        blocked_prefetch_pair(&v, &ring[i], hashes + 2 * i, steps, true);
    for (size_t i = 0; i < pairs; i++) {
        blocked_set_pair(&ring[i % BLOCKED_PAIRS], k,
                         seen != NULL ? seen + 2 * i : NULL);
        if (i + ahead < pairs)
            blocked_prefetch_pair(&v, &ring[(i + ahead) % BLOCKED_PAIRS],
                                  hashes + 2 * (i + ahead), steps, true);
    }
    return 2 * pairs;
}

#define BLOCKED_PAIRS_OF(k)                                                    \
    case k: return blocked_add_pairs(v, k, hashes, n, seen)

/* Adds keys in pairs. Returns how many. */
CPU_TARGET_AVX512 static size_t
blocked_pairs_avx512(const blocked_view *v, const uint64_t *hashes, size_t n,
                     bool *seen)
{
    switch (v->k) {
    BLOCKED_PAIRS_OF(1); BLOCKED_PAIRS_OF(2); BLOCKED_PAIRS_OF(3);
    BLOCKED_PAIRS_OF(4); BLOCKED_PAIRS_OF(5); BLOCKED_PAIRS_OF(6);
    BLOCKED_PAIRS_OF(7); BLOCKED_PAIRS_OF(8);
    default: return 0;
    }
}
#undef BLOCKED_PAIRS_OF

CPU_TARGET_AVX512 void
blocked_add_avx512(void *image, const uint64_t *hashes, size_t n)
{
    const blocked_view v = blocked_look(image);
    size_t done = blocked_pairs_avx512(&v, hashes, n, NULL);
    if (done == n)
        return;
    hashes += done, n -= done;
#define BLOCKED_ADD_K(k) blocked_add_k_avx512(&v, k, hashes, n)
    BLOCKED_FOR_MANY(v.k, BLOCKED_ADD_K)
#undef BLOCKED_ADD_K
}

CPU_TARGET_AVX512 void
blocked_each_avx512(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    const blocked_view v = blocked_look(image);
    size_t done = blocked_pairs_avx512(&v, hashes, n, seen);
    if (done == n)
        return;
    hashes += done, seen += done, n -= done;
#define BLOCKED_EACH_K(k) blocked_each_k_avx512(&v, k, hashes, n, seen)
    BLOCKED_FOR_MANY(v.k, BLOCKED_EACH_K)
#undef BLOCKED_EACH_K
}

#endif
