/* fuse.c - a binary fuse filter: a few neighbouring cells XOR to a fingerprint.
 *
 * WHAT IT IS
 *
 * A table in which every key has a few cells, three or four, that its hash
 * selects. The table is filled so that the XOR of a key's cells is its
 * fingerprint of f bits. If a key's cells do not XOR to its fingerprint, the
 * key is absent; an absent key passes by accident with probability 2^-f.
 * Filling the table requires all keys, so nothing can be added or removed
 * afterwards.
 *
 * WHEN TO USE IT
 *
 * Use it for a fixed set of keys that is built once and looked up often. At 1 %
 * it takes three quarters of the memory of `blocked`, at 0.1 % 72 %. It
 * guarantees any rate down to 2^-32. The option arity=4 makes it 5 % smaller,
 * at the price of one more cache line per lookup.
 *
 * WHEN NOT TO
 *
 * - Keys are added later, or speed matters more than a quarter of the memory:
 *   `blocked`, or `split`, the fastest.
 * - The filter is sent over a network, or memory is scarce: `ribbon` is 11 %
 *   smaller but slower.
 * - Two filters must be united or compared: no frozen kind can do that.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           7.6                3
 *      0.1 %        11.2                3
 *
 * All lines of a key are known before any of them is read, so a batch
 * prefetches them all. Any rate is met: 1 % takes 7.6 bits, because 28 % of the
 * keys have 6 bits and the others 7. Such a mixture makes a single lookup up to
 * 17 % slower, and a batch by vectors up to 10 %. `bits=7` avoids it. Cells of
 * 8, 16 or 32 bits are the fastest and therefore stay whole: a request of 0.5 %
 * gives a rate of 0.39 %.
 *
 * THE PICTURE (three cells a key, f = 4)
 *
 *      segment  |     w     |    w + 1    |    w + 2    |
 *      cells  … | . . 6 . . | . . . . 3 . | . 12 . . .  | …
 *                     |               |        |
 *      key x ---------+---------------+--------+   6 XOR 3 XOR 12 = 9
 *
 *      The fingerprint of x is 9: perhaps present. Another key with the same
 *      cells and another fingerprint is certainly absent.
 *
 * IMAGE
 *
 *      geometry 0   bits 0-47   different keys
 *                   bits 48-63  p, share of the places for a key's first cell
 *                               that have a bit less, in 2^-16
 *      geometry 1   bits 0-31   shards, 1 .. 2^20
 *                   bits 32-39  d, cells of a key (arity), 3 or 4
 *                   bits 40-47  f, bits of a fingerprint, 1 .. 32; 2 at least
 *                               if p is not 0
 *                   bits 48-63  zero
 *      geometry 2   bits 0-31   L, cells of a segment, 1 .. 2^24
 *                   bits 32-63  c, segments where a key may begin, 1 .. 2^16
 *      geometry 3   bytes of a shard's table
 *      payload      a byte for each shard, its seed, then zeros up to a
 *                   multiple of 64; then the shards' tables of (c + d - 1) L
 *                   cells, each filled up with zeros to a multiple of 64 bytes.
 *                   The first U = floor(c L p / 2^16) cells are short: f - 1
 *                   bits; all others have f. Cell s begins at bit s f - min(s,
 *                   U) of its table; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) a table has
 *      fewer than 2^32 cells, (3) there are no more keys than cells in all, (4)
 *      geometry 3 is ceil(((c + d - 1) L f - U) / 8) rounded up to a multiple
 *      of 64, (5) the payload is as long as its parts.
 *
 *      Shard, seed and cells of a key: src/bodies/peel.h. The fingerprint is
 *      the low f bits of the mixed hash, which choose none of these. If the
 *      first cell of a key is short, its fingerprint and all that is read of
 *      its cells have f - 1 bits.
 *
 * MATHS
 *
 * The fingerprint of an absent key is independent of its cells, so it passes
 * with probability 2^-f whatever they hold, and with probability 2^(1-f) if its
 * first cell is short. The first cell is any of c L with the same probability,
 * so
 *
 *      F = 2^-f (1 + U / (c L))                                          (1)
 *
 * The plan takes f = ceil(log2(1/rate)) and the largest share with which (1) is
 * at most the rate. No filter can have fewer than log2(1/rate) bits per key; f
 * less the share is at most 0.0861 more than that, as for `ribbon`. Cells are
 * in c + d - 1 segments, and only those in the first c can be short. If c is 1,
 * a share saves only 1/d of what it saves in large filters. This filter has f
 * bits, less the share, times the cells that it needs per key:
 *
 *      keys         d = 3      d = 4
 *      10^3         1.275      1.348
 *      10^4         1.238      1.205
 *      10^5         1.165      1.112
 *      10^6         1.126      1.066
 *      10^8         1.129      1.069
 *
 * The table can be filled if the keys can be peeled off it: some cell has only
 * one key, and after that key is taken away there is such a cell again, until
 * no key is left. d random cells of the whole table allow this for up to 0.818
 * (d = 3) or 0.772 (d = 4) keys per cell [Botelho 2007]. If a key's cells are
 * near each other, the ends of the table, which few keys reach, peel first, and
 * what they leave behind is another end. This works up to 0.918 and 0.977 keys
 * per cell [Walzer 2021], or 1.089 and 1.024 cells per key, plus the cost of
 * the ends and some room for chance. Both of these shrink only as n^(-1/3). We
 * fitted the sizes at which nine of ten attempts succeed:
 *
 *      cells / keys = 1.0894 + 0.0366 (n / 10^6)^-0.315      d = 3       (2)
 *      cells / keys = 1.0238 + 0.0424 (n / 10^6)^-0.315      d = 4
 *
 * Below about 10^4 keys (d = 3) the plan takes c = 1, which then needs fewer
 * cells. A failed attempt is repeated with other cells, up to 256 times.
 *
 * BUILDING
 *
 * All cells have f bits while the table is filled. As no later cell of a key
 * with a long first cell is short, the last bit of a short cell matters to no
 * key, and is left out when the table is written.
 *
 * Keys are divided into shards of about a million by the high bits of their
 * mixed hash. One thread peels and fills each shard in its cache, with a seed
 * of its own. Shards differ in size by chance, and their tables, all alike, are
 * made for the largest that is to be expected, which costs 0.3 %. A table's
 * segments can have any length, not only a power of two as in [Graf 2022], so
 * that it is no larger than (2) requires.
 *
 * Repeated keys make every attempt fail; the builder then finds and drops them.
 * The result depends only on the set of keys and on their number with repeats,
 * for which the table is planned, not on their order or on the number of
 * threads.
 *
 * Building needs 8 bytes per key and, for each of up to six threads, 8 bytes
 * for each cell of a shard: 55 MiB in all from six million keys on, besides the
 * 8 bytes per key.
 *
 * PAPERS
 *
 *  [Graf 2022]     Binary fuse filters: fast and smaller than xor filters, ACM
 *                  JEA 27. The filter. Segments of any length, shards and
 *                  seeds of their own are ours.
 *  [Botelho 2007]  Simple and space-efficient minimal perfect hash functions,
 *                  WADS. Filling a table by peeling.
 *  [Walzer 2021]   Peeling close to the orientability threshold: spatial
 *                  coupling in hashing-based data structures, SODA.
 */
#include "bodies/fingerprints.h"

enum { FUSE_VERSION = 1, FUSE_ARITY = 3 };

enum { FUSE_OPTION_ARITY, FUSE_OPTION_BITS };

static const kind_option fuse_options[] = {
    [FUSE_OPTION_ARITY] = {
        .name = "arity", .help = "cells per key: 4 is smaller, 3 is faster",
        .least = 3, .most = 4, .standard = FUSE_ARITY,
    },
    [FUSE_OPTION_BITS] = {
        .name = "bits", .help = "bits of a fingerprint, instead of a rate",
        .least = 1, .most = FINGERPRINT_BITS_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- Plan, check -------------------------------------------------------- */

static bly_status fuse_plan(bly_plan_t *plan, const kind_spec *spec)
{
    const fingerprint_wish wish = {
        .kind = "fuse", .coupled = true, .share = true,
        .arity = (uint32_t)spec->option[FUSE_OPTION_ARITY],
        .bits = spec->option[FUSE_OPTION_BITS],
    };
    return fingerprint_plan(plan, &wish, spec);
}

static bly_status fuse_check(const void *image)
{
    return fingerprint_check(image, false);
}

static const kind_building fuse_building = {
    .build = fingerprint_build,
};

static const kind_inlining fuse_inlining = {
    .view = fingerprint_inline,
};

const bly_kind bly_kind_fuse = {
    .name    = "fuse",
    .family  = "frozen",
    .summary = "a binary fuse filter: nearby cells XOR to a fingerprint",
    .version = FUSE_VERSION,
    .options = fuse_options,

    .plan  = fuse_plan,
    .check = fuse_check,
    .stat  = fingerprint_stat,

    .contains      = fingerprint_contains,
    .contains_many = fingerprint_contains_many,
    .contains_here = fingerprint_contains_here,

    .building = &fuse_building,
    .inlining = &fuse_inlining,
};
