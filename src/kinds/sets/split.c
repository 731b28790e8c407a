/* split.c - the split-block Bloom filter, as in Parquet files.
 *
 * WHAT IT IS
 *
 * Blocks of 256 bits, each cut into eight lanes of 32. A key selects a block
 * and sets one bit in each lane: eight independent multiplications and shifts,
 * which suit vector units. With the hash `xxh64` and seed 0, the payload equals
 * the bitset of a Parquet filter byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it if speed matters most, or to exchange filter bits with Parquet. It has
 * the fastest lookups and adds of all kinds: the work per key is fixed and
 * stays within one cache line. It never refuses a key, and filters of one plan
 * can be united, intersected, compared and folded.
 *
 * WHEN NOT TO
 *
 * - Memory matters: `blocked` takes fewer bits at every rate.
 * - The rate is far from 1 %: k is always 8, which then wastes memory.
 * - The filter is larger than 64 GiB (2^31 - 1 blocks), or its keys are hashed
 *   with `fnv1a`. The high half of the hash selects the block, so functions
 *   with weak high bits are refused.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          10.5                  1                  1
 *      0.1 %        16.9                  1                  1
 *
 * THE PICTURE
 *
 *      payload  | block 0 | block 1 | block 2 | …            32 bytes each
 *                              |
 *      high 32 bits of hash ---+
 *
 *      a block  | lane 0 | lane 1 | … | lane 7 |   32 bits each, one set:
 *                   ^        ^            ^        bit (low * salt_i) >> 27
 *      low 32 bits of hash * salt_i ------+
 *
 *      "hello" hashed by xxh64 is 26c7827d889f6da3; among four blocks that is
 *      block 0 and the bits 20 9 10 7 9 31 28 27.
 *
 * IMAGE
 *
 *      geometry 0   number of blocks, 1 .. 2^31 - 1
 *      geometry 1, 2, 3  zero
 *      payload      32 bytes a block: eight little-endian 32-bit words
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has 32 bytes a block.
 *
 * MATHS
 *
 * With w_i the binomial probability of i keys in a block (lanes are
 * independent):
 *
 *      F = sum w_i (1 - (1 - 1/32)^i)^8                                  (1)
 *
 * k is 8 whatever the rate, which is best near 1 %:
 *
 *      rate           10 %     1 %     0.1 %    0.01 %    0.001 %
 *      bits per key    5.99   10.53    16.89     26.34      41.0
 *
 * An older text of the Parquet format computes the size without the spread of
 * (1) and misses its rates: its 11.54 bits for 0.5 % give 0.65 %.
 *
 * PAPERS
 *
 *  [Parquet]      Apache Parquet format, BloomFilter.md. The layout and salts.
 *  [Putze 2009]   Cache-, hash- and space-efficient Bloom filters, ACM JEA 14.
 *  [Apple 2022]   Split block Bloom filters, arXiv:2101.01719.
 */
#include "image/abilities.h"

#include <assert.h>
#include <string.h>

#include "base/ring.h"
#include "base/vector.h"

#include "bloomery/inline.h"

#include "bits/bits.h"
#include "bodies/rows.h"

enum {
    SPLIT_VERSION = 1,
    SPLIT_BLOCKS = 0, SPLIT_ZERO = 1,
    SPLIT_LANES = 8, SPLIT_LANE_BITS = 32, SPLIT_LANE_BYTES = 4,
    SPLIT_BLOCK_BITS = 256, SPLIT_BLOCK_BYTES = 32,
    SPLIT_HALF = 4, SPLIT_HALF_BYTES = 16,      /* of lanes, of a block  */
    SPLIT_SHIFT = 32 - 5                /* 5 high bits name one of 32 */
};

static_assert(SPLIT_LANES * SPLIT_LANE_BYTES == SPLIT_BLOCK_BYTES,
              "lanes fill the block");

static const uint64_t SPLIT_BLOCKS_MAX = INT32_MAX;

static const uint32_t split_salt[SPLIT_LANES] = {
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
    0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
};

enum { SPLIT_OPTION_M };

static const kind_option split_options[] = {
    [SPLIT_OPTION_M] = {
        .name = "m", .help = "number of bits, instead of a rate (rounded up "
                             "to blocks of 256)",
        .least = 1, .most = (uint64_t)INT32_MAX * SPLIT_BLOCK_BITS,
        .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

static shape split_shape(uint64_t blocks)
{
    return (shape){ .blocks = blocks, .lanes = SPLIT_LANES,
                    .bits = SPLIT_LANE_BITS, .probes = 1 };
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status split_size(uint64_t *blocks, uint64_t *n,
                             const kind_spec *spec)
{
    uint64_t m = spec->option[SPLIT_OPTION_M];
    shape s = split_shape(1);

    *n = spec->capacity;
    if (m != KIND_CHOOSE) {
        *blocks = s.blocks = m / SPLIT_BLOCK_BITS
                           + (m % SPLIT_BLOCK_BITS != 0);
        if (*n == 0)
            *n = shape_capacity(&s, spec->rate);
        return BLY_OK;
    }
    if (*n == 0)
        return kind_no_capacity();
    if (!shape_enough(blocks, &s, *n, spec->rate)
        || *blocks > SPLIT_BLOCKS_MAX)
        return kind_too_big(spec, "2^31 - 1 blocks (64 GiB)");
    return BLY_OK;
}

static bly_status split_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t blocks = 0, n = 0;
    bly_status status = split_size(&blocks, &n, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, blocks * SPLIT_BLOCK_BYTES);
    if (status != BLY_OK)
        return status;

    shape s = split_shape(blocks);
    rows_plan(plan, &s, n);
    plan->lines_present = plan->lines_absent = 1;
    memset(plan->geometry, 0, sizeof plan->geometry);
    plan->geometry[SPLIT_BLOCKS] = blocks;
    return BLY_OK;
}

/* ---- Check, contains, add ---------------------------------------------- */

static bly_status split_check(const void *image)
{
    uint64_t blocks = image_geometry(image, SPLIT_BLOCKS);
    bool sound = blocks >= 1 && blocks <= SPLIT_BLOCKS_MAX
              && image_payload_bytes(image) == blocks * SPLIT_BLOCK_BYTES;
    for (size_t i = SPLIT_ZERO; i < IMAGE_GEOMETRY_FIELDS; i++)
        sound = sound && image_geometry(image, i) == 0;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* The bodies of single lookups are those of bloomery/inline.h. */
static_assert(sizeof(bly_inline_split) <= KIND_VIEW, "a view has its room");

PLATFORM_INLINE bly_inline_split split_look(const void *image)
{
    return (bly_inline_split){
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .blocks = image_geometry(image, SPLIT_BLOCKS),
    };
}

/* Returns the bit, 0 .. 255 of the block, that a hash has in a lane. */
PLATFORM_INLINE uint64_t split_bit(uint64_t hash, uint32_t lane)
{
    uint32_t in_lane = (uint32_t)hash * split_salt[lane] >> SPLIT_SHIFT;
    return (uint64_t)lane * SPLIT_LANE_BITS + in_lane;
}

/* Sets all eight; returns whether one of them was clear. */
PLATFORM_INLINE bool split_set(uint8_t *block, uint64_t hash, bool shared)
{
    bool fresh = false;
    for (uint32_t lane = 0; lane < SPLIT_LANES; lane++) {
        uint64_t at = split_bit(hash, lane);
        fresh |= shared ? bits_set_shared(block, at) : bits_set(block, at);
    }
    return fresh;
}

static bool split_one(const void *subject, uint64_t hash)
{
    return bly_inside_split_plain(bly_inside_block(subject, hash), hash);
}

static bool split_contains(const void *image, uint64_t hash)
{
    const bly_inline_split v = split_look(image);
    return split_one(&v, hash);
}

PLATFORM_INLINE bly_status split_add_any(void *image, uint64_t hash,
                                         bool shared)
{
    const bly_inline_split v = split_look(image);
    return split_set(bly_inside_block(&v, hash), hash, shared)
         ? BLY_OK : BLY_SEEN;
}

static bly_status split_add(void *image, uint64_t hash)
{
    return split_add_any(image, hash, false);
}

static bly_status split_add_shared(void *image, uint64_t hash)
{
    return split_add_any(image, hash, true);
}

static void split_places(const void *image, const uint64_t *hashes, size_t n,
                         uint64_t *places, size_t *bytes)
{
    const bly_inline_split v = split_look(image);
    *bytes = SPLIT_BLOCK_BYTES;
    for (size_t i = 0; i < n; i++)
        places[i] = IMAGE_HEADER
                  + (uint64_t)(bly_inside_block(&v, hashes[i]) - v.payload);
}

/* ---- Batches ----------------------------------------------------------- */

typedef uint8_t *split_key;             /* its block                         */

enum { SPLIT_RING = 128 };              /* prefetched keys, at most          */

/* `work` is the statement for hashes[i] and its `block`. It is so short that a
 * filter in the second-level cache is faster without prefetches. */
#define SPLIT_ROLL(image, hashes, n, prefetch, work)                           \
    do {                                                                       \
        const bly_inline_split view = split_look(image);                       \
        if (view.blocks * SPLIT_BLOCK_BYTES <= cpu_near()) {                   \
            for (size_t i = 0; i < (n); i++) {                                 \
                uint8_t *block = bly_inside_block(&view, (hashes)[i]);         \
                work;                                                          \
            }                                                                  \
            break;                                                             \
        }                                                                      \
        RING_ROLL(split_key, SPLIT_RING, n, view.blocks * SPLIT_BLOCK_BYTES,   \
            *slot = bly_inside_block(&view, (hashes)[i]);                      \
            prefetch(*slot),                                                   \
            uint8_t *block = *slot;                                            \
            work);                                                             \
    } while (0)

static void split_contains_portable(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch,
               present[i] = bly_inside_split_plain(block, hashes[i]));
}

static void split_add_portable(void *image, const uint64_t *hashes, size_t n)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
               split_set(block, hashes[i], false));
}

static void split_each_portable(void *image, const uint64_t *hashes, size_t n,
                                bool *seen)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
               seen[i] = !split_set(block, hashes[i], false));
}

#if CPU_VECTOR4
/* The bits of a hash in four lanes, the first or the last. */
PLATFORM_INLINE vector4 split_bits_baseline(uint64_t hash, size_t first)
{
    vector4 salts = vector4_of(split_salt + first);
    return vector4_power(vector4_times(salts, (uint32_t)hash));
}

PLATFORM_INLINE bool split_test_baseline(const uint8_t *block, uint64_t hash)
{
    vector4 lacks = vector4_lacks(vector4_load(block),
                                  split_bits_baseline(hash, 0));
    vector4 more = vector4_lacks(vector4_load(block + SPLIT_HALF_BYTES),
                                 split_bits_baseline(hash, SPLIT_HALF));
    return vector4_none(vector4_or(lacks, more));
}

/* Set the bits of half a block. Which of them were clear? */
PLATFORM_INLINE vector4 split_set_baseline(uint8_t *half, uint64_t hash,
                                           size_t first)
{
    vector4 bits = split_bits_baseline(hash, first);
    vector4 old = vector4_load(half);
    vector4_store(half, vector4_or(old, bits));
    return vector4_lacks(old, bits);
}

static bool split_one_baseline(const void *subject, uint64_t hash)
{
    return split_test_baseline(bly_inside_block(subject, hash), hash);
}

static void split_contains_baseline(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch,
               present[i] = split_test_baseline(block, hashes[i]));
}

static void split_add_baseline(void *image, const uint64_t *hashes, size_t n)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
        split_set_baseline(block, hashes[i], 0);
        split_set_baseline(block + SPLIT_HALF_BYTES, hashes[i], SPLIT_HALF));
}

static void split_each_baseline(void *image, const uint64_t *hashes, size_t n,
                                bool *seen)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
        vector4 fresh = split_set_baseline(block, hashes[i], 0);
        vector4 more = split_set_baseline(block + SPLIT_HALF_BYTES, hashes[i],
                                          SPLIT_HALF);
        seen[i] = vector4_none(vector4_or(fresh, more)));
}
#endif

#if CPU_X86
CPU_TARGET_AVX2 static bool split_one_avx2(const void *subject, uint64_t hash)
{
    const uint8_t *block = bly_inside_block(subject, hash);
    return _mm256_testc_si256(vector_load32(block),
                              bly_inside_lanes_avx2(hash));
}

CPU_TARGET_AVX2 static void
split_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                    bool *present)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch,
        __m256i bits = bly_inside_lanes_avx2(hashes[i]);
        present[i] = _mm256_testc_si256(vector_load32(block), bits));
}

CPU_TARGET_AVX2 static void
split_add_avx2(void *image, const uint64_t *hashes, size_t n)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
               _mm256_storeu_si256((__m256i *)(void *)block,
                   _mm256_or_si256(vector_load32(block),
                                   bly_inside_lanes_avx2(hashes[i]))));
}

CPU_TARGET_AVX2 static void
split_each_avx2(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    SPLIT_ROLL(image, hashes, n, platform_prefetch_write,
        __m256i bits = bly_inside_lanes_avx2(hashes[i]);
        __m256i old = vector_load32(block);
        seen[i] = _mm256_testc_si256(old, bits);
        _mm256_storeu_si256((__m256i *)(void *)block,
                            _mm256_or_si256(old, bits)));
}
#endif

/* ---- Choose by the processor ------------------------------------------- */

static void split_contains_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        split_contains_avx2(image, hashes, n, present);
        return;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        split_contains_baseline(image, hashes, n, present);
        return;
    }
#endif
    split_contains_portable(image, hashes, n, present);
}

/* Chooses the lookup of one key with as few instructions as possible, so that
 * the processor sees more keys ahead. */
static kind_contains *split_contains_here(const void **subject, void *view)
{
    *(bly_inline_split *)view = split_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return split_one_avx2;
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE)
        return split_one_baseline;
#endif
    return split_one;
}

static bly_status split_add_many(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done)
{
    *done = n;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        split_add_avx2(image, hashes, n);
        return BLY_OK;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        split_add_baseline(image, hashes, n);
        return BLY_OK;
    }
#endif
    split_add_portable(image, hashes, n);
    return BLY_OK;
}

static bly_status split_add_each(void *image, const uint64_t *hashes, size_t n,
                                 bool *seen, size_t *done)
{
    *done = n;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        split_each_avx2(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE) {
        split_each_baseline(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
    split_each_portable(image, hashes, n, seen);
    return BLY_OK;
}

static bly_status split_add_many_shared(void *image, const uint64_t *hashes,
                                        size_t n, size_t *done)
{
    *done = n;
    SPLIT_ROLL(image, hashes, n, platform_prefetch,
               split_set(block, hashes[i], true));
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void split_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = split_shape(image_geometry(a, SPLIT_BLOCKS));
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

static bly_status split_fold_spec(kind_spec *spec, const void *image,
                                  uint64_t times)
{
    uint64_t blocks = image_geometry(image, SPLIT_BLOCKS);
    spec->option[SPLIT_OPTION_M] = blocks / (times + (times == 0))
                                 * SPLIT_BLOCK_BITS;
    return kind_divides(times, blocks, "blocks");
}

static void split_fold(void *into, const void *image)
{
    kind_fold_blocks(into, image, SPLIT_BLOCK_BYTES);
}

static void split_stat(bly_info_t *out, const void *image)
{
    shape s = split_shape(image_geometry(image, SPLIT_BLOCKS));
    rows_stat(out, &s, image_payload(image));
}

static void split_inline(void *view, const void *image)
{
    *(bly_inline_split *)view = split_look(image);
}

static const kind_sharing split_sharing = {
    .add      = split_add_shared,
    .add_many = split_add_many_shared,
};

static const kind_combining split_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = split_overlap,
};

static const kind_folding split_folding = {
    .spec = split_fold_spec,
    .fold = split_fold,
};

static const kind_inlining split_inlining = {
    .view = split_inline,
    .adds = true,
};

const bly_kind bly_kind_split = {
    .name     = "split",
    .family   = "sets",
    .summary  = "Parquet's split-block Bloom filter: eight bits in 256",
    .version  = SPLIT_VERSION,
    .options  = split_options,
    .raw_hash = true,

    .plan  = split_plan,
    .check = split_check,
    .stat  = split_stat,

    .contains      = split_contains,
    .contains_many = split_contains_many,
    .contains_here = split_contains_here,

    .add      = split_add,
    .add_many = split_add_many,
    .add_each = split_add_each,

    .places = split_places,

    .sharing   = &split_sharing,
    .combining = &split_combining,
    .folding   = &split_folding,
    .inlining  = &split_inlining,
};
