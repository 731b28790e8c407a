/* xor.c - the classic xor filter: three cells XOR to a fingerprint.
 *
 * WHAT IT IS
 *
 * The predecessor of `fuse`: a table of three blocks, in each of which every
 * key has one cell. The table is filled so that the XOR of a key's three cells
 * is its fingerprint of f bits. If a key's cells do not XOR to its fingerprint,
 * the key is absent; an absent key passes by accident with probability 2^-f.
 * The filter is built from all keys at once and cannot be changed.
 *
 * WHEN TO USE IT
 *
 * Use it to compare with other work. Rates are met in whole bits: for 1 % it
 * has 7, and a rate of 0.78 %.
 *
 * WHEN NOT TO
 *
 * - For new filters: `fuse` is 5 to 8 % smaller from ten thousand keys on, and
 *   up to 12 % where it mixes cells of two sizes. It is faster to build, and
 *   `fuse` of whole bits is not slower to query.
 * - Keys are added later: `blocked` or `standard`.
 * - Two filters must be united or compared: no frozen kind can do that.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           8.6                3
 *      0.1 %        12.2                3
 *
 * THE PICTURE (f = 4)
 *
 *      block    |      0      |      1      |      2      |
 *      cells    | . . . 5 . . | 10 . . . .  | . . 7 . . . |
 *                       |        |                |
 *      key x -----------+--------+----------------+   5 XOR 10 XOR 7 = 8
 *
 *      The fingerprint of x is 8: perhaps present.
 *
 * IMAGE
 *
 *      geometry 0   different keys
 *      geometry 1   bits 0-31   shards, 1 .. 2^20
 *                   bits 32-39  3, the cells of a key
 *                   bits 40-47  f, bits of a fingerprint, 1 .. 32
 *                   bits 48-63  zero
 *      geometry 2   bits 0-31   L, cells of a block, 1 .. 2^24
 *                   bits 32-63  1
 *      geometry 3   bytes of a shard's table
 *      payload      a byte for each shard, its seed, then zeros up to a
 *                   multiple of 64; then the shards' tables of 3 L cells, each
 *                   filled up with zeros to a multiple of 64 bytes. Cell s is
 *                   bits s f to s f + f - 1 of its table; bit i is bit
 *                   (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) there are
 *      no more keys than cells in all, (3) geometry 3 is ceil(3 L f / 8)
 *      rounded up to a multiple of 64, (4) the payload is as long as its parts.
 *
 *      Shard, seed and cells of a key: src/bodies/peel.h, with c = 1.
 *
 * MATHS
 *
 * An absent key passes with probability 2^-f whatever the cells hold, and f =
 * ceil(log2(1/rate)). There are no short cells as in `fuse`: they could be in
 * the first block only, and would save a third of what they save there. Three
 * random cells per key can be peeled for up to 0.818 keys per cell [Botelho
 * 2007]. The plan takes
 *
 *      cells = 1.222 n + 1.5 sqrt(n) + 3                                 (1)
 *
 * With these, nine of ten attempts succeed from a hundred keys on, and four of
 * five below: 1.275 cells per key for a thousand keys, 1.224 for a million and
 * 1.227 beyond, because the shards have unequal sizes.
 *
 * PAPERS
 *
 *  [Graf 2020]     Xor filters: faster and smaller than Bloom and cuckoo
 *                  filters, ACM JEA 25. The filter, there without shards.
 *  [Botelho 2007]  Simple and space-efficient minimal perfect hash functions,
 *                  WADS. Filling a table by peeling.
 */
#include "bodies/fingerprints.h"

enum { XOR_VERSION = 1, XOR_ARITY = 3 };

enum { XOR_OPTION_BITS };

static const kind_option xor_options[] = {
    [XOR_OPTION_BITS] = {
        .name = "bits", .help = "bits of a fingerprint, instead of a rate",
        .least = 1, .most = FINGERPRINT_BITS_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- Plan, check -------------------------------------------------------- */

static bly_status xor_plan(bly_plan_t *plan, const kind_spec *spec)
{
    const fingerprint_wish wish = {
        .kind = "xor", .coupled = false, .arity = XOR_ARITY,
        .bits = spec->option[XOR_OPTION_BITS],
    };
    return fingerprint_plan(plan, &wish, spec);
}

/* Checks for one window, three blocks and cells of equal size; any other shape
 * is a `fuse`. */
static bly_status xor_check(const void *image)
{
    bly_status status = fingerprint_check(image, false);
    const fingerprint_view v = fingerprint_look(image);
    if (status == BLY_OK
        && (v.shape.arity != XOR_ARITY || v.shape.windows != 1
            || fingerprint_share(image) != 0))
        status = kind_bad_geometry(image);
    return status;
}

static const kind_building xor_building = {
    .build = fingerprint_build,
};

static const kind_inlining xor_inlining = {
    .view = fingerprint_inline,
};

const bly_kind bly_kind_xor = {
    .name    = "xor",
    .family  = "frozen",
    .summary = "the classic xor filter: three cells XOR to a fingerprint",
    .version = XOR_VERSION,
    .options = xor_options,

    .plan  = xor_plan,
    .check = xor_check,
    .stat  = fingerprint_stat,

    .contains      = fingerprint_contains,
    .contains_many = fingerprint_contains_many,
    .contains_here = fingerprint_contains_here,

    .building = &xor_building,
    .inlining = &xor_inlining,
};
