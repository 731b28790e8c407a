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

/* In each loop, the compiler knows the range of k. */
CPU_TARGET_AVX2 void
blocked_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                      bool *present)
{
    const blocked_view v = blocked_look(image);
    const uint32_t k = v.k;
#define BLOCKED_CONTAINS                                                       \
    BLOCKED_ROLL(v, hashes, n, false,                                          \
                 present[i] = bly_inside_blocked_avx2(line, g, k))
    if (k <= 8)
        BLOCKED_CONTAINS;
    else if (k <= 16)
        BLOCKED_CONTAINS;
    else
        BLOCKED_CONTAINS;
#undef BLOCKED_CONTAINS
}

/* A prefetched line with the words and bits of its first eight probes. They are
 * computed long before they are used, as vectors; a load of 4 bytes has to wait
 * for a store of 32 that is still under way. */
typedef struct {
    uint8_t *line;
    uint32_t g;                         /* of the probes after the eighth    */
    uint32_t word[8], bit[8];
} blocked_spots;

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_place_avx2(blocked_spots *slot, const blocked_view *v, uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    __m256i steps = _mm256_loadu_si256((const __m256i *)(const void *)
                                       blocked_steps);
    __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)state), steps);
    __m256i place = _mm256_and_si256(_mm256_srli_epi32(product, BLOCKED_SHIFT),
                                     _mm256_set1_epi32(31));
    slot->line = bly_inside_line(v, state);
    slot->g = (uint32_t)state * blocked_steps[7];
    platform_prefetch_write(slot->line);
    _mm256_storeu_si256((__m256i *)(void *)slot->word,
                        _mm256_srli_epi32(product, 28));
    _mm256_storeu_si256((__m256i *)(void *)slot->bit,
                        _mm256_sllv_epi32(_mm256_set1_epi32(1), place));
}

/* Sets k bits word by word; returns whether one of them was clear. Collecting
 * them in registers as with AVX-512 would take two registers per line and twice
 * the work. */
PLATFORM_INLINE bool blocked_set_spots(const blocked_spots *slot, uint32_t k)
{
    uint32_t fresh = 0;
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < 8; j++) {
        uint8_t *at = slot->line + sizeof fresh * (size_t)slot->word[j];
        uint32_t old, bits = slot->bit[j];
        if (j >= k)
            break;
        memcpy(&old, at, sizeof old);
        fresh |= bits & ~old;
        bits |= old;
        memcpy(at, &bits, sizeof bits);
    }
    if (k <= 8)
        return fresh != 0;
    return blocked_set(slot->line, slot->g, k - 8, false) | (fresh != 0);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_add_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                   size_t n)
{
    RING_ROLL(blocked_spots, BLOCKED_RING, n, blocked_bytes(v),
              blocked_place_avx2(slot, v, hashes[i]),
              blocked_set_spots(slot, k));
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_each_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                    size_t n, bool *seen)
{
    RING_ROLL(blocked_spots, BLOCKED_RING, n, blocked_bytes(v),
              blocked_place_avx2(slot, v, hashes[i]),
              seen[i] = !blocked_set_spots(slot, k));
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
