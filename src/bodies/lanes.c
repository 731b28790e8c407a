/* lanes.c - lookups and adds in the blocks of split-block Bloom filters. */
#include "bodies/lanes.h"

#include <assert.h>

#include "base/ring.h"
#include "base/vector.h"
#include "bits/bits.h"

enum {
    LANES_HALF = 4, LANES_HALF_BYTES = 16,      /* lanes, bytes              */
    LANES_SHIFT = 32 - 5                /* 5 high bits name one of 32 */
};

static_assert(sizeof(bly_inline_split) <= KIND_VIEW, "a view has its room");
static_assert(LANES * LANES_BITS == 8 * LANES_BLOCK_BYTES,
              "lanes fill the block");

static const uint32_t lanes_salt[LANES] = {
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
    0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
};

/* ---- One key ----------------------------------------------------------- */

/* Returns the bit, 0 .. 255 of the block, that a hash has in a lane. */
PLATFORM_INLINE uint64_t lanes_bit(uint64_t hash, uint32_t lane)
{
    uint32_t in_lane = (uint32_t)hash * lanes_salt[lane] >> LANES_SHIFT;
    return (uint64_t)lane * LANES_BITS + in_lane;
}

/* Sets all eight; returns whether one of them was clear. */
PLATFORM_INLINE bool lanes_set(uint8_t *block, uint64_t hash, bool shared)
{
    bool fresh = false;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t at = lanes_bit(hash, lane);
        fresh |= shared ? bits_set_shared(block, at) : bits_set(block, at);
    }
    return fresh;
}

static bool lanes_one(const void *subject, uint64_t hash)
{
    return bly_inside_split_plain(bly_inside_block(subject, hash), hash);
}

bool lanes_contains(const void *image, uint64_t hash)
{
    const bly_inline_split v = lanes_look(image);
    return lanes_one(&v, hash);
}

PLATFORM_INLINE bly_status lanes_add_any(void *image, uint64_t hash,
                                         bool shared)
{
    const bly_inline_split v = lanes_look(image);
    return lanes_set(bly_inside_block(&v, hash), hash, shared)
         ? BLY_OK : BLY_SEEN;
}

bly_status lanes_add(void *image, uint64_t hash)
{
    return lanes_add_any(image, hash, false);
}

bly_status lanes_add_shared(void *image, uint64_t hash)
{
    return lanes_add_any(image, hash, true);
}

void lanes_places(const void *image, const uint64_t *hashes, size_t n,
                  uint64_t *places, size_t *bytes)
{
    const bly_inline_split v = lanes_look(image);
    *bytes = LANES_BLOCK_BYTES;
    for (size_t i = 0; i < n; i++)
        places[i] = (uint64_t)(bly_inside_block(&v, hashes[i])
                               - (const uint8_t *)image);
}

/* ---- Batches ----------------------------------------------------------- */

typedef uint8_t *lanes_key;             /* its block                         */

enum { LANES_RING = 128 };              /* prefetched keys, at most          */

/* `work` is the statement for hashes[i] and its `block`. It is so short that a
 * filter in the second-level cache is faster without prefetches. In a file, a
 * block may begin in one line and end in the next. */
#define LANES_ROLL(image, hashes, n, prefetch, work)                           \
    do {                                                                       \
        const bly_inline_split view = lanes_look(image);                       \
        if (view.blocks * LANES_BLOCK_BYTES <= cpu_near()) {                   \
            for (size_t i = 0; i < (n); i++) {                                 \
                uint8_t *block = bly_inside_block(&view, (hashes)[i]);         \
                work;                                                          \
            }                                                                  \
            break;                                                             \
        }                                                                      \
        RING_ROLL(lanes_key, LANES_RING, n, view.blocks * LANES_BLOCK_BYTES,   \
            *slot = bly_inside_block(&view, (hashes)[i]);                      \
            prefetch(*slot);                                                   \
            prefetch(*slot + LANES_BLOCK_BYTES - 1),                           \
            uint8_t *block = *slot;                                            \
            work);                                                             \
    } while (0)

static void lanes_contains_portable(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    LANES_ROLL(image, hashes, n, platform_prefetch,
               present[i] = bly_inside_split_plain(block, hashes[i]));
}

static void lanes_add_portable(void *image, const uint64_t *hashes, size_t n)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
               lanes_set(block, hashes[i], false));
}

static void lanes_each_portable(void *image, const uint64_t *hashes, size_t n,
                                bool *seen)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
               seen[i] = !lanes_set(block, hashes[i], false));
}

#if CPU_VECTOR4
/* The bits of a hash in four lanes, the first or the last. */
PLATFORM_INLINE vector4 lanes_bits_baseline(uint64_t hash, size_t first)
{
    vector4 salts = vector4_of(lanes_salt + first);
    return vector4_power(vector4_times(salts, (uint32_t)hash));
}

PLATFORM_INLINE bool lanes_test_baseline(const uint8_t *block, uint64_t hash)
{
    vector4 lacks = vector4_lacks(vector4_load(block),
                                  lanes_bits_baseline(hash, 0));
    vector4 more = vector4_lacks(vector4_load(block + LANES_HALF_BYTES),
                                 lanes_bits_baseline(hash, LANES_HALF));
    return vector4_none(vector4_or(lacks, more));
}

/* Set the bits of half a block. Which of them were clear? */
PLATFORM_INLINE vector4 lanes_set_baseline(uint8_t *half, uint64_t hash,
                                           size_t first)
{
    vector4 bits = lanes_bits_baseline(hash, first);
    vector4 old = vector4_load(half);
    vector4_store(half, vector4_or(old, bits));
    return vector4_lacks(old, bits);
}

static bool lanes_one_baseline(const void *subject, uint64_t hash)
{
    return lanes_test_baseline(bly_inside_block(subject, hash), hash);
}

static void lanes_contains_baseline(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    LANES_ROLL(image, hashes, n, platform_prefetch,
               present[i] = lanes_test_baseline(block, hashes[i]));
}

static void lanes_add_baseline(void *image, const uint64_t *hashes, size_t n)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
        lanes_set_baseline(block, hashes[i], 0);
        lanes_set_baseline(block + LANES_HALF_BYTES, hashes[i], LANES_HALF));
}

static void lanes_each_baseline(void *image, const uint64_t *hashes, size_t n,
                                bool *seen)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
        vector4 fresh = lanes_set_baseline(block, hashes[i], 0);
        vector4 more = lanes_set_baseline(block + LANES_HALF_BYTES, hashes[i],
                                          LANES_HALF);
        seen[i] = vector4_none(vector4_or(fresh, more)));
}
#endif

#if CPU_X86
CPU_TARGET_AVX2 static bool lanes_one_avx2(const void *subject, uint64_t hash)
{
    const uint8_t *block = bly_inside_block(subject, hash);
    return _mm256_testc_si256(vector_load32(block),
                              bly_inside_lanes_avx2(hash));
}

CPU_TARGET_AVX2 static void
lanes_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                    bool *present)
{
    LANES_ROLL(image, hashes, n, platform_prefetch,
        __m256i bits = bly_inside_lanes_avx2(hashes[i]);
        present[i] = _mm256_testc_si256(vector_load32(block), bits));
}

CPU_TARGET_AVX2 static void
lanes_add_avx2(void *image, const uint64_t *hashes, size_t n)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
               _mm256_storeu_si256((__m256i *)(void *)block,
                   _mm256_or_si256(vector_load32(block),
                                   bly_inside_lanes_avx2(hashes[i]))));
}

CPU_TARGET_AVX2 static void
lanes_each_avx2(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    LANES_ROLL(image, hashes, n, platform_prefetch_write,
        __m256i bits = bly_inside_lanes_avx2(hashes[i]);
        __m256i old = vector_load32(block);
        seen[i] = _mm256_testc_si256(old, bits);
        _mm256_storeu_si256((__m256i *)(void *)block,
                            _mm256_or_si256(old, bits)));
}
#endif

/* ---- Choose by the processor ------------------------------------------- */

void lanes_contains_many(const void *image, const uint64_t *hashes, size_t n,
                         bool *present)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        lanes_contains_avx2(image, hashes, n, present);
        return;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        lanes_contains_baseline(image, hashes, n, present);
        return;
    }
#endif
    lanes_contains_portable(image, hashes, n, present);
}

/* Chooses the lookup of one key with as few instructions as possible, so that
 * the processor sees more keys ahead. */
kind_contains *lanes_contains_here(const void **subject, void *view)
{
    *(bly_inline_split *)view = lanes_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return lanes_one_avx2;
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE)
        return lanes_one_baseline;
#endif
    return lanes_one;
}

bly_status lanes_add_many(void *image, const uint64_t *hashes, size_t n,
                          size_t *done)
{
    *done = n;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        lanes_add_avx2(image, hashes, n);
        return BLY_OK;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        lanes_add_baseline(image, hashes, n);
        return BLY_OK;
    }
#endif
    lanes_add_portable(image, hashes, n);
    return BLY_OK;
}

bly_status lanes_add_each(void *image, const uint64_t *hashes, size_t n,
                          bool *seen, size_t *done)
{
    *done = n;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        lanes_each_avx2(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        lanes_each_baseline(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
    lanes_each_portable(image, hashes, n, seen);
    return BLY_OK;
}

bly_status lanes_add_many_shared(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done)
{
    *done = n;
    LANES_ROLL(image, hashes, n, platform_prefetch,
               lanes_set(block, hashes[i], true));
    return BLY_OK;
}
