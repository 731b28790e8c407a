/* blocked_avx2.c - looks up and adds keys of kind `blocked` with AVX2. */
#include "kinds/sets/blocked/blocked.h"

#include "base/vector.h"

#include <string.h>

#if CPU_X86

/* ---- Single keys ------------------------------------------------------- */

CPU_TARGET_AVX2 PLATFORM_INLINE bool
blocked_one_of_avx2(const blocked_view *v, uint64_t hash, uint32_t k)
{
    uint64_t state = hash_spread(hash);
    return bly_inside_blocked_avx2(bly_inside_line(v, state), (uint32_t)state,
                                   k);
}

#define BLOCKED_ONE(name, k)                                                   \
    CPU_TARGET_AVX2 static bool                                                \
    blocked_one_##name##_avx2(const void *subject, uint64_t hash)              \
    {                                                                          \
        const blocked_view *v = subject;                                       \
        return blocked_one_of_avx2(v, hash, k);                                \
    }
BLOCKED_ONE(1, 1)   BLOCKED_ONE(2, 2)   BLOCKED_ONE(3, 3)   BLOCKED_ONE(4, 4)
BLOCKED_ONE(5, 5)   BLOCKED_ONE(6, 6)   BLOCKED_ONE(7, 7)   BLOCKED_ONE(8, 8)
BLOCKED_ONE(9, 9)   BLOCKED_ONE(10, 10) BLOCKED_ONE(11, 11) BLOCKED_ONE(12, 12)
BLOCKED_ONE(k, v->k)

kind_contains *blocked_choose_avx2(uint32_t k)
{
#define BLOCKED_CHOOSE(k) return blocked_one_##k##_avx2
    BLOCKED_FOR_K(k, BLOCKED_CHOOSE)
#undef BLOCKED_CHOOSE
}

/* ---- Batches ----------------------------------------------------------- */

CPU_TARGET_AVX2 void
blocked_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                      bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = bly_inside_blocked_avx2(line, g, v.k));
}

/* Sets the k bits of g, word by word. Collecting them in registers as with
 * AVX-512 would take two registers per line and twice the work, 1.5 times as
 * long. The words and bits of eight probes are computed before the first write,
 * so that no load waits for the address of an earlier store. */
CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_set_avx2(uint8_t *line, uint32_t g, uint32_t k)
{
    for (uint32_t first = 0; first < k; first += 8) {
        uint32_t word[8], bit[8];
        __m256i steps = _mm256_loadu_si256((const __m256i *)(const void *)
                                           (blocked_steps + first % 16));
        if (first == 16)
            g *= blocked_steps[15];
        __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)g), steps);
        __m256i place = _mm256_and_si256(_mm256_srli_epi32(product, 23),
                                         _mm256_set1_epi32(31));
        _mm256_storeu_si256((__m256i *)(void *)word,
                            _mm256_srli_epi32(product, 28));
        _mm256_storeu_si256((__m256i *)(void *)bit,
                            _mm256_sllv_epi32(_mm256_set1_epi32(1), place));
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < 8; j++) {
            uint8_t *at = line + sizeof bit[j] * (size_t)word[j];
            uint32_t bits;
            if (first + j >= k)
                break;
            memcpy(&bits, at, sizeof bits);
            bits |= bit[j];
            memcpy(at, &bits, sizeof bits);
        }
    }
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_add_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                   size_t n)
{
    BLOCKED_ROLL(*v, hashes, n, true, blocked_set_avx2(line, g, k));
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_each_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                    size_t n, bool *seen)
{
    BLOCKED_ROLL(*v, hashes, n, true,
        seen[i] = bly_inside_blocked_avx2(line, g, k);
        blocked_set_avx2(line, g, k));
}

CPU_TARGET_AVX2 void
blocked_add_avx2(void *image, const uint64_t *hashes, size_t n)
{
    const blocked_view v = blocked_look(image);
#define BLOCKED_ADD_K(k) blocked_add_k_avx2(&v, k, hashes, n)
    BLOCKED_FOR_K(v.k, BLOCKED_ADD_K)
#undef BLOCKED_ADD_K
}

CPU_TARGET_AVX2 void
blocked_each_avx2(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    const blocked_view v = blocked_look(image);
#define BLOCKED_EACH_K(k) blocked_each_k_avx2(&v, k, hashes, n, seen)
    BLOCKED_FOR_K(v.k, BLOCKED_EACH_K)
#undef BLOCKED_EACH_K
}

#endif
