/* rocksribbon.c - the Ribbon filter of a RocksDB table, in its own bytes.
 *
 * WHAT IT IS
 *
 * NewRibbonFilterPolicy of RocksDB (since 6.15) makes such a filter of all keys
 * of a table or of a partition: a table of bits in which each key is a linear
 * equation. The payload is the block of the filter, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the Ribbon filters in RocksDB tables, or to make one that
 * RocksDB reads.
 *
 * WHEN NOT TO
 *
 * - No database must read the filter: `ribbon` is the same idea, a twentieth
 *   smaller, with windows of 64 slots.
 * - The filter is a Bloom filter: that is kind `rocksdb`. With a Ribbon policy,
 *   RocksDB itself makes one if it is smaller, as for fewer than 154 keys at
 *   10 bits.
 *
 * COST
 *
 *      policy    rate      bits per key    cache lines per lookup
 *      10        0.95 %       7.1                  4.1
 *      15        0.12 %      10.3                  5.7
 *      20        0.017 %     13.2                  7.1
 *
 * RocksDB takes 10, 15 and 20 bits for Bloom filters of these rates. With 10^7
 * keys the Ribbon filters have a hundredth more bits than with 10^6. A lookup
 * reads 32 bytes of each column, where `ribbon` reads 12, so a batch takes
 * longer than one of `ribbon`.
 *
 * THE PICTURE
 *
 *                      block 0             block 1
 *      | column 0 | 1 | … | 6 || column 0 | 1 | … | 6 || … | fe | seed | n |
 *        128 bits                                            tail
 *
 * Bit i of a column belongs to slot i of its block. The first blocks may have
 * a column less than the others.
 *
 * IMAGE
 *
 *      geometry 0   blocks n, 2 .. 2^24 - 1
 *      geometry 1   segments S, 1 .. 32 n: columns of all blocks
 *      payload      S segments of 16 bytes, lowest bit first; then 5 bytes: fe,
 *                   the mark of this format; seed; n, 3 bytes, lowest first
 *
 *      Valid if and only if the payload is as above, and the numbers are those
 *      of the geometry.
 *
 * With c = S / n rounded up, the first c n - S blocks have c - 1 columns, and
 * the others c. RocksDB takes a block with n < 2 as one that matches every key,
 * and ignores bytes at the end that make no segment. It never writes either,
 * and both are refused here.
 *
 * MATHS
 *
 * A key that was not added begins in any of 128 n - 127 slots with the same
 * probability, and is found with probability 2^-c' if its block has c' columns.
 * With b blocks of c - 1 columns the rate is exactly
 *
 *      2^-c (1 + 128 b / (128 n - 127))                                  (1)
 *
 * A policy of b bits per key stands for the rate of a Bloom filter of RocksDB
 * with b bits (src/maths/policy.h), from which follow c and b by (1). The slots
 * for a number of keys are so many that one seed of 20 fails. For 2^l slots,
 * l = 8 to 17, RocksDB has a table of those numbers, and a formula beyond it;
 * between them it interpolates. 1000 keys have 1024 slots, 10^6 have 1,047,552.
 *
 * THE EQUATION OF A KEY
 *
 * Modulo 2^64, with h the XXH3 of the preview 0.7.2 (src/bits/preview.h):
 *
 *      t = seed * C78219A23EEADD03;  t = t ^ (t & F0F0F0F0F0F0F0F0) / 2^4
 *      h = (h ^ (t mod 2^32)) * 6193D459236A3A0D
 *      start = h (128 n - 127) / 2^64
 *      a = h * C28F82822B650BED
 *      coefficients: low half a ^ C367844A6E52731D, with bit 0 set; high half a
 *      row: the four highest bytes of a in reverse order
 *
 * A key is present if, in each column of its first block, the XOR of the bits
 * from slot `start` on whose coefficient is 1 is that bit of the row. Slots
 * beyond the block are those of the next one.
 *
 * BUILD
 *
 * The same keys in the order of the table make the same bytes as RocksDB does
 * with the same policy (`bits`). The first key counts: its hash has the first
 * seed to try, and decides whether a block more has fewer columns. A rate that
 * is given instead is kept exactly.
 *
 * PAPERS
 *
 *  [Dillinger & Walzer 2021]  Ribbon filter: practically smaller than Bloom and
 *                             Xor, arXiv 2103.02515.
 */
#include "kinds/foreign/rocksribbon/rocksribbon.h"

#include <math.h>

#include "bits/bits.h"
#include "bits/preview.h"
#include "maths/policy.h"

enum { ROCKSRIBBON_VERSION = 1 };

enum { ROCKSRIBBON_OPTION_BITS, ROCKSRIBBON_OPTION_THOUSANDTHS };

static const kind_option rocksribbon_options[] = {
    [ROCKSRIBBON_OPTION_BITS] = {
        .name = "bits", .help = "bits per key, as passed to the policy; "
                                "instead of a rate",
        .least = 1, .most = POLICY_BITS_MOST, .standard = KIND_CHOOSE,
    },
    [ROCKSRIBBON_OPTION_THOUSANDTHS] = {
        .name = "thousandths", .help = "of a bit, added to `bits`: 900 for a "
                                       "policy of 9.9 if bits=9",
        .least = 0, .most = 999, .standard = 0,
    },
    { .name = NULL },
};

/* ---- Sizes ------------------------------------------------------------- */

/* Returns (1). */
static double rocksribbon_rate(const rocksribbon_shape *shape)
{
    double lower = ROCKSRIBBON_SLOTS * (double)shape->lower;
    return ldexp(1 + lower / (double)shape->starts, -(int)shape->columns);
}

/* Returns the shape of a filter that keeps the rate. */
static rocksribbon_shape rocksribbon_keep(uint64_t slots, double rate)
{
    rocksribbon_shape shape = rocksribbon_fit(slots, 1 / rate, 0);
    return rocksribbon_rate(&shape) <= rate ? shape
         : rocksribbon_shape_of(shape.blocks, shape.segments + 1);
}

/* Returns the lines of 64 bytes that a window in two blocks touches. */
static double rocksribbon_lines(const rocksribbon_shape *shape)
{
    double columns = (double)shape->segments / (double)shape->blocks;
    return 1 + (2 * columns - 1) * ROCKSRIBBON_SEGMENT / 64;
}

/* Returns the most keys that RocksDB gives so many slots. */
static uint64_t rocksribbon_capacity(uint64_t slots)
{
    uint64_t least = 1, most = ROCKSRIBBON_KEYS_MAX;
    while (least < most) {
        uint64_t middle = least + (most - least + 1) / 2;
        if (rocksribbon_slots(middle) <= slots)
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

/* Sets the policy, in thousandths of a bit per key; 0: a rate is given. */
static bly_status rocksribbon_policy(uint64_t *policy, const kind_spec *spec)
{
    uint64_t bits = spec->option[ROCKSRIBBON_OPTION_BITS];
    uint64_t thousandths = spec->option[ROCKSRIBBON_OPTION_THOUSANDTHS];
    if (bits == KIND_CHOOSE && thousandths > 0)
        return status_fail(BLY_EPARAM, "thousandths=%llu are a part of bits "
                           "per key: give bits= as well",
                           (unsigned long long)thousandths);
    *policy = bits == KIND_CHOOSE ? 0 : 1000 * bits + thousandths;
    if (*policy == 0 && spec->rate < ldexp(1, -ROCKSRIBBON_COLUMNS_MAX))
        return status_fail(BLY_EPARAM, "a rate of %.3g is below 2^-32, the "
                           "lowest for Ribbon filters of RocksDB: use a higher "
                           "rate, or kind ribbon", spec->rate);
    return BLY_OK;
}

static bly_status rocksribbon_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity + (spec->capacity == 0), policy;
    bly_status status = rocksribbon_policy(&policy, spec);
    if (status != BLY_OK)
        return status;
    if (n > ROCKSRIBBON_KEYS_MAX)
        return kind_too_big(spec, "950,000,000 keys");
    uint64_t slots = rocksribbon_slots(n);
    rocksribbon_shape shape = policy > 0
        ? rocksribbon_fit(slots, policy_one_in(policy), 0)
        : rocksribbon_keep(slots, spec->rate);
    plan->capacity = n;
    plan->rate = rocksribbon_rate(&shape);
    plan->fill = 0.5;
    plan->probes = ROCKSRIBBON_SLOTS;
    plan->lines_present = plan->lines_absent = rocksribbon_lines(&shape);
    plan->scratch = rocksribbon_scratch(slots);
    plan->geometry[ROCKSRIBBON_BLOCKS] = shape.blocks;
    plan->geometry[ROCKSRIBBON_SEGMENTS] = shape.segments;
    plan->geometry[ROCKSRIBBON_POLICY] = policy;
    return kind_plan_bytes(plan, ROCKSRIBBON_SEGMENT * shape.segments
                                 + ROCKSRIBBON_TAIL);
}

/* ---- The file ---------------------------------------------------------- */

static bly_status rocksribbon_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a Ribbon filter of RocksDB: byte "
                       "%llu: %s: fetch it again, or name another format",
                       (unsigned long long)at, what);
}

/* Refuses a filter with the mark of another format. */
static bly_status rocksribbon_other(uint64_t at, uint8_t mark)
{
    const char *what = mark == 0xFF ? "it is a Bloom filter: name the format "
                                      "rocksdb"
        : mark == 0 ? "it matches every key: let the database rewrite its "
                      "tables"
        : mark < 0x80 ? "it is a Bloom filter from before format version 5: "
                        "let the database rewrite its tables"
                      : "it is of an unknown kind: query the database itself";
    return status_fail(BLY_EVERSION, "read as a Ribbon filter of RocksDB: byte "
                       "%llu: %s", (unsigned long long)at, what);
}

static bly_status rocksribbon_read(kind_found *out, const uint8_t *file,
                                   uint64_t bytes)
{
    if (bytes < ROCKSRIBBON_TAIL)
        return status_fail(BLY_ECORRUPT, "read as a Ribbon filter of RocksDB, "
                           "which ends with 5 bytes of its own, but there are "
                           "%llu: it is cut short: fetch it again",
                           (unsigned long long)bytes);
    uint64_t at = bytes - ROCKSRIBBON_TAIL;
    const uint8_t *n = file + at + ROCKSRIBBON_AT_BLOCKS;
    if (file[at] != ROCKSRIBBON_MARK)
        return rocksribbon_other(at, file[at]);
    uint64_t blocks = n[0] | (uint64_t)n[1] << 8 | (uint64_t)n[2] << 16;
    uint64_t segments = at / ROCKSRIBBON_SEGMENT;
    if (blocks < 2)
        return rocksribbon_wrong(at + ROCKSRIBBON_AT_BLOCKS, "there are fewer "
                                 "than 2 blocks, so that it matches every key");
    if (at % ROCKSRIBBON_SEGMENT != 0 || segments == 0)
        return rocksribbon_wrong(0, "the segments of 16 bytes are not whole, "
                                 "or none");
    if (segments > ROCKSRIBBON_COLUMNS_MAX * blocks)
        return rocksribbon_wrong(at + ROCKSRIBBON_AT_BLOCKS, "there are too "
                                 "few blocks for its segments: more than 32 "
                                 "each");
    rocksribbon_shape shape = rocksribbon_shape_of(blocks, segments);
    *out = (kind_found){
        .capacity = rocksribbon_capacity(ROCKSRIBBON_SLOTS * blocks),
        .items = IMAGE_ITEMS_UNKNOWN, .rate = rocksribbon_rate(&shape),
        .geometry = { blocks, segments },
    };
    return BLY_OK;
}

static uint64_t rocksribbon_reach(const uint64_t *geometry)
{
    uint64_t blocks = geometry[ROCKSRIBBON_BLOCKS];
    uint64_t segments = geometry[ROCKSRIBBON_SEGMENTS];
    return blocks < 2 || blocks > ROCKSRIBBON_BLOCKS_MAX || segments < 1
           || segments > ROCKSRIBBON_COLUMNS_MAX * blocks ? UINT64_MAX
         : ROCKSRIBBON_SEGMENT * segments + ROCKSRIBBON_TAIL;
}

static uint64_t rocksribbon_hash(const void *key, size_t length, hash_seed seed)
{
    (void)seed;
    return preview_xxh3(key, length);
}

static void rocksribbon_hasher(kind_hasher *out, const uint64_t *geometry)
{
    (void)geometry;
    *out = (kind_hasher){ .function = rocksribbon_hash };
}

static const kind_foreign rocksribbon_foreign = {
    .writer = "RocksDB's Ribbon filter policy, of a table",
    .numbers = {
        { "blocks", "of 128 slots" },
        { "segments", "columns of all blocks" },
    },
    .read   = rocksribbon_read,
    .reach  = rocksribbon_reach,
    .hasher = rocksribbon_hasher,
};

static bly_status rocksribbon_check(const void *image)
{
    return kind_check_foreign(image, &rocksribbon_foreign);
}

/* The number of keys cannot be counted; the slots say how many it was made for.
 */
static void rocksribbon_stat(bly_info_t *out, const void *image)
{
    rocksribbon_shape shape = rocksribbon_shape_of(
        image_geometry(image, ROCKSRIBBON_BLOCKS),
        image_geometry(image, ROCKSRIBBON_SEGMENTS));
    uint64_t bytes = ROCKSRIBBON_SEGMENT * shape.segments;
    out->fill = (double)bits_count(image_payload(image), (size_t)bytes)
              / (8 * (double)bytes);
    out->rate = rocksribbon_rate(&shape);
    out->distinct = out->items_exact ? (double)out->items
                  : (double)rocksribbon_capacity(ROCKSRIBBON_SLOTS
                                                 * shape.blocks);
    out->distinct_sd = out->distinct > 0 ? INFINITY : 0;
    out->probes = ROCKSRIBBON_SLOTS;
}

static const kind_building rocksribbon_building = {
    .build = rocksribbon_build,
};

const bly_kind bly_kind_rocksribbon = {
    .name    = "rocksribbon",
    .family  = "foreign",
    .summary = "the Ribbon filter of a RocksDB table",
    .version = ROCKSRIBBON_VERSION,
    .options = rocksribbon_options,

    .plan  = rocksribbon_plan,
    .check = rocksribbon_check,
    .stat  = rocksribbon_stat,

    .contains      = rocksribbon_contains,
    .contains_many = rocksribbon_contains_many,

    .building = &rocksribbon_building,
    .foreign  = &rocksribbon_foreign,
};
