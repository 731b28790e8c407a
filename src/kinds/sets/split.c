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

#include <string.h>

#include "bodies/lanes.h"
#include "bodies/rows.h"

enum {
    SPLIT_VERSION = 1,
    SPLIT_BLOCKS = LANES_BLOCKS, SPLIT_ZERO = 1
};

static const uint64_t SPLIT_BLOCKS_MAX = INT32_MAX;

enum { SPLIT_OPTION_M };

static const kind_option split_options[] = {
    [SPLIT_OPTION_M] = {
        .name = "m", .help = "number of bits, instead of a rate (rounded up "
                             "to blocks of 256)",
        .least = 1, .most = (uint64_t)INT32_MAX * LANES_BLOCK_BITS,
        .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

static shape split_shape(uint64_t blocks)
{
    return (shape){ .blocks = blocks, .lanes = LANES,
                    .bits = LANES_BITS, .probes = 1 };
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status split_size(uint64_t *blocks, uint64_t *n,
                             const kind_spec *spec)
{
    uint64_t m = spec->option[SPLIT_OPTION_M];
    shape s = split_shape(1);

    *n = spec->capacity;
    if (m != KIND_CHOOSE) {
        *blocks = s.blocks = m / LANES_BLOCK_BITS
                           + (m % LANES_BLOCK_BITS != 0);
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
        status = kind_plan_bytes(plan, blocks * LANES_BLOCK_BYTES);
    if (status != BLY_OK)
        return status;

    shape s = split_shape(blocks);
    rows_plan(plan, &s, n);
    plan->lines_present = plan->lines_absent = 1;
    memset(plan->geometry, 0, sizeof plan->geometry);
    plan->geometry[SPLIT_BLOCKS] = blocks;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status split_check(const void *image)
{
    uint64_t blocks = image_geometry(image, SPLIT_BLOCKS);
    bool sound = blocks >= 1 && blocks <= SPLIT_BLOCKS_MAX
              && image_payload_bytes(image) == blocks * LANES_BLOCK_BYTES;
    for (size_t i = SPLIT_ZERO; i < IMAGE_GEOMETRY_FIELDS; i++)
        sound = sound && image_geometry(image, i) == 0;
    return sound ? BLY_OK : kind_bad_geometry(image);
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
                                 * LANES_BLOCK_BITS;
    return kind_divides(times, blocks, "blocks");
}

static void split_fold(void *into, const void *image)
{
    kind_fold_blocks(into, image, LANES_BLOCK_BYTES);
}

static void split_stat(bly_info_t *out, const void *image)
{
    shape s = split_shape(image_geometry(image, SPLIT_BLOCKS));
    rows_stat(out, &s, image_payload(image));
}

static void split_inline(void *view, const void *image)
{
    *(bly_inline_split *)view = lanes_look(image);
}

static const kind_sharing split_sharing = {
    .add      = lanes_add_shared,
    .add_many = lanes_add_many_shared,
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

    .contains      = lanes_contains,
    .contains_many = lanes_contains_many,
    .contains_here = lanes_contains_here,

    .add      = lanes_add,
    .add_many = lanes_add_many,
    .add_each = lanes_add_each,

    .places = lanes_places,

    .sharing   = &split_sharing,
    .combining = &split_combining,
    .folding   = &split_folding,
    .inlining  = &split_inlining,
};
