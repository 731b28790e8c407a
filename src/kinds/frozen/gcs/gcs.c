/* gcs.c - a Golomb-coded set: sorted numbers, only their gaps stored.
 *
 * WHAT IT IS
 *
 * Each key becomes one of R numbers, where R is about n / rate. The numbers are
 * sorted and duplicates dropped, and the gaps between neighbours are written in
 * Rice's code. A key is perhaps in the set if its number is there. This is a
 * compressed Bloom filter of R bits with one probe. A lookup must read through
 * a few dozen gaps. The set is built from all keys at once.
 *
 * WHEN TO USE IT
 *
 * Use it for a fixed set of keys, if the filter is sent or stored, and queried
 * in batches. It is 14 % smaller than `standard` at 1 %, 22 % at 0.01 %, and
 * meets any rate exactly, not only powers of two. The option `block` can save
 * another 0.1 bits per key, but makes lookups slower.
 *
 * WHEN NOT TO
 *
 * - Speed matters: `fuse` is several times faster, `blocked` ten times.
 * - Every bit counts: `ribbon` is smaller, 6.75 bits per key at 1 %,
 *   and faster.
 * - Keys are added later: `standard`, or `golomb`, which is coded like this
 *   kind.
 * - Two filters must be united or compared: no frozen kind can do that,
 *   because each set of keys has a plan of its own.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           8.2              2.8
 *      0.1 %        11.6              5.1
 *
 * Decoding then takes as long as a dozen lookups in `blocked`, for absent keys
 * as well.
 *
 * THE PICTURE (a block of 64 numbers, k = 2, holding 3, 12, 14, 31)
 *
 *      number        3       12       14       31
 *      gap before    3        8        1       16       numbers passed over
 *      quotient      0        2        0        4       gap / 2^k
 *      remainder     3        0        1        0       gap mod 2^k
 *
 *      bits of the block, first to last:
 *
 *      | 1 | 001 | 1 | 00001 |  0 0  | 1 0  | 0 0  | 1 1 |
 *        quotients: that many     remainders, k bits each, lowest bit
 *        zeros, then a one        first, the last key's in front
 *      ----->                                      <-----
 *
 *      A block is read from both ends at once: the unary codes give the
 *      numbers in steps of 2^k, the remainders the rest.
 *
 * IMAGE
 *
 *      geometry 0   blocks B, 1 .. 2^48
 *      geometry 1   numbers in a block w, 1 .. 2^63; R = B w at most 2^63
 *      geometry 2   different keys
 *      geometry 3   k, bits 0 .. 7, at most 56; the grain g, bits 8 .. 23, at
 *                   least 1; the least length, in grains, bits 24 .. 47, at
 *                   most 65535; the seed, bits 48 .. 63
 *      payload      ceil(B/56) records of 64 bytes; the code, a multiple of 8
 *                   bytes; 8 bytes: how many different numbers there are
 *
 *      record  0    bit of the code where the first of 56 blocks begins
 *              8    for each of the 56 its length in grains of g bits, less
 *                   the least length: a byte
 *
 *      Blocks of a record follow each other without a gap. Bits between a
 *      block's quotients and its remainders are 0, and so are lengths after
 *      the last block. Valid if and only if (1) the fields are in these ranges
 *      and (2) the payload has room for the records and the last 8 bytes, and
 *      a multiple of 8 bytes.
 *
 * MATHS
 *
 * With n keys, a number is taken with probability p = 1 - (1 - 1/R)^n, which is
 * the false-positive rate; R is the smallest number at which p is the requested
 * rate. Gaps are geometric, and no code of them is shorter than
 *
 *      H(p) / p = log2(1/p) + 1.4427 bits per number                     (1)
 *
 * for small p. Rice's code of a gap d takes k + 1 + floor(d / 2^k) bits. With s
 * = (1-p)^(2^k) that is on average
 *
 *      k + 1 + s / (1 - s)                                               (2)
 *
 * which at the best k is log2(1/p) + 1.4702 .. 1.5416. A lookup decodes half of
 * a block of I keys on average. The length of a block is a byte of the index,
 * in grains of more than one bit if a byte would not suffice. Together they
 * take
 *
 *      (64 * 8 / 56 + (g - 1) / 2) / I bits per key                      (3)
 *
 * The plan takes the smallest I at which (2) and (3) are below log2(1/p) +
 * 1.59.
 *
 *      rate         bits per key    I      over log2(1/p)
 *      5 %              5.91        32        1.59
 *      1 %              8.24        52        1.59
 *      0.1 %           11.56       139        1.59
 *      0.01 %          14.88       122        1.59
 *      10^-6           21.52       174        1.59
 *
 * SEPARATE QUOTIENTS
 *
 * Golomb's original code, with any number in place of 2^k, saves up to 0.07
 * bits per key, but the start of a code is not known before the previous one
 * has been read. Here the remainders lie at known places: as many as the
 * processor can hold are fetched at a time, and the next quotient is one
 * instruction away. That is several times faster, in as many bits as Rice's
 * code. (Quotients of the numbers themselves, as in the code of Elias and Fano,
 * could be entered in the middle, but take 1.91 .. 2 bits over log2(1/p).)
 *
 * With vector instructions, a block is filtered by its remainders, a row of
 * 8 to 32 keys at a time, and only the quotients of the few keys that are left
 * are read: see gcs_avx2.c, and "A row of keys" in gcs_look.c.
 *
 * BUILDING
 *
 * The mixed hashes are sorted, in 8 bytes per key and at most 2.3 MB of further
 * memory: first divided by their high bits into shards of whole records, then
 * each shard by one thread. If a block is too long for its byte, which happens
 * to one filter of 10^9 random keys in thousands, or a code is longer than
 * planned, another seed is tried, which gives the keys other numbers. The image
 * depends only on the set of keys, not on their order or on the number of
 * threads.
 *
 * PAPERS
 *
 *  [Golomb 1966]  Run-length encodings, IEEE Trans. Information Theory 12(3).
 *                 The code and why it is the best one.
 *  [Rice 1971]    Rice & Plaunt, Adaptive variable-length coding for efficient
 *                 compression of spacecraft television data, IEEE Trans.
 *                 Communication Technology 19(6). Powers of two.
 *  [Putze 2009]   Cache-, hash- and space-efficient Bloom filters, ACM JEA 14
 *                 (WEA 2007). The filter, and blocks with an index.
 *  [McIlroy 1993] Engineering radix sort, Computing Systems 6(1), by McIlroy,
 *                 Bostic & McIlroy: sorting in place, the "American flag".
 */
#include "kinds/frozen/gcs/gcs.h"

#include <math.h>

#include "maths/maths.h"

static const kind_option gcs_options[] = {
    { .name = "block", .help = "keys in a block: more make it smaller and "
                               "slower",
      .least = 16, .most = 1024, .standard = KIND_CHOOSE },
    { .name = NULL },
};

static uint64_t gcs_shape(uint64_t k, uint64_t grain, uint64_t least,
                          uint64_t seed)
{
    return k | grain << 8 | least << 24 | seed << 48;
}

/* ---- Plan -------------------------------------------------------------- */

/* The layout of a filter of `n` keys. */
typedef struct {
    uint64_t n, blocks, width;
    uint32_t k, grain;
    uint64_t least;
    double   bits;                      /* of code, in the mean              */
} gcs_size;

/* s, the chance that 2^k numbers in a row are free, as its logarithm. */
static double gcs_log_free(double p, uint32_t k)
{
    return ldexp(log1p(-p), (int)k);
}

/* (2), for a chance p that a number is taken. */
static double gcs_rice(double p, uint32_t k)
{
    double log_s = gcs_log_free(p, k);
    return k + 1 - exp(log_s) / expm1(log_s);
}

static uint32_t gcs_best_k(double p)
{
    uint32_t k = 0;
    while (k < GCS_K_MAX && gcs_rice(p, k + 1) < gcs_rice(p, k))
        k++;
    return k;
}

/* Bits of a block's code, in the mean: (2) for its keys, but that the gap at
 * the block's end is never written. A quotient is the number of multiples of
 * 2^k in the gap: the sum, over i from 1 on, of the chance p s^i of a key with
 * that many before it, at each of width - i 2^k places. */
static double gcs_block_bits(double p, double width, uint32_t k)
{
    double step = ldexp(1, (int)k), log_s = gcs_log_free(p, k);
    double s = exp(log_s), taken = -expm1(log_s);
    double steps = floor(width / step), left = exp(log_s * steps);
    double sum = width * s * (1 - left) / taken
               - step * (s * (1 - left) / taken - steps * left * s) / taken;
    return p * (width * (k + 1) + fmax(0, sum));
}

/* The standard deviation of a block's bits: a key more is k + 1/2 bits. */
static double gcs_block_sd(double keys, uint32_t k)
{
    return sqrt(keys) * (k + 0.54);
}

/* Grain and least length for blocks of so many keys, from 3 standard
 * deviations below the mean (those that are shorter are padded) to 8 above
 * it, and more where keys are few, for Poisson's upper tail is long. */
static uint32_t gcs_grain(double keys, uint32_t k)
{
    double above = 7 + 8 / sqrt(keys);
    double grain = (above + 3) * gcs_block_sd(keys, k) / GCS_ENTRY_MAX;
    return (uint32_t)fmax(1, ceil(grain));
}

static uint64_t gcs_least(double mean, double keys, uint32_t k, uint32_t grain)
{
    double least = (mean - 3 * gcs_block_sd(keys, k)) / grain;
    return (uint64_t)fmax(0, floor(least));
}

/* (2) and (3), less the gap that a block's end cuts off, in bits a key. */
static double gcs_bits_per_key(double rate, uint32_t k, double keys)
{
    double numbers = -1 / log1p(-rate);         /* for each key */
    double width = keys * numbers;
    double index = 8.0 * GCS_RECORD / GCS_RECORD_BLOCKS
                 + (gcs_grain(keys, k) - 1) / 2.0;
    return (gcs_block_bits(rate, width, k) + index) / keys;
}

/* The fewest keys in a block at which the size is what we want it to be. */
static uint64_t gcs_block_keys(double rate, uint32_t k)
{
    uint64_t keys = 32;
    while (keys < 512
           && gcs_bits_per_key(rate, k, (double)keys) > log2(1 / rate) + 1.59)
        keys++;
    return keys;
}

/* The least number of numbers for this rate. */
static double gcs_range(double n, double rate)
{
    return fmax(2, ceil(-1 / expm1(log1p(-rate) / n)));
}

static double gcs_rate(const gcs_size *size)
{
    double range = (double)size->blocks * (double)size->width;
    return math_set_mean(range, (double)size->n) / range;
}

static bool gcs_size_for(gcs_size *size, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double range = gcs_range(n, spec->rate);
    uint32_t k = gcs_best_k(spec->rate);
    uint64_t keys = spec->option[0];
    if (keys == KIND_CHOOSE)
        keys = gcs_block_keys(spec->rate, k);
    *size = (gcs_size){ .n = spec->capacity, .k = k };
    size->blocks = size->n / keys + (size->n % keys != 0);
    double width = ceil(range / (double)size->blocks);
    if (!(width * (double)size->blocks < 0.99 * (double)GCS_RANGE_MAX))
        return false;
    for (size->width = (uint64_t)width; gcs_rate(size) > spec->rate; )
        size->width += 1 + (size->width >> 48); /* a double sees no less */

    double each = n / (double)size->blocks, p = gcs_rate(size);
    double mean = gcs_block_bits(p, (double)size->width, k);
    size->grain = gcs_grain(each, k);
    size->least = gcs_least(mean, each, k, size->grain);
    size->bits = (mean + (size->grain - 1) / 2.0) * (double)size->blocks;
    return true;
}

/* Code that only one set in 10^14 and more exceeds: the mean and 8 standard
 * deviations. Given their number, keys differ by their quotients only, each by
 * less than half a bit from what the gap as a whole makes of it; the rounding
 * to grains is even. And a word for each shard, which begins with one. */
static uint64_t gcs_code_bytes(const gcs_size *size)
{
    double grain = size->grain, blocks = (double)size->blocks;
    double variance = (double)size->n / 4 + blocks * (1 + grain * grain / 12);
    uint64_t records, words;
    uint64_t shards = gcs_shards(&records, size->blocks, size->n);
    double bits = size->bits * (1 + 1e-12) + 8 * sqrt(variance);
    words = (uint64_t)(bits / 64) + shards + 1;
    return words * 8;
}

static bly_status gcs_plan(bly_plan_t *plan, const kind_spec *spec)
{
    gcs_size size;
    uint64_t records;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (spec->capacity > GCS_KEYS_MAX)
        return kind_too_big(spec, "2^48 keys");
    if (!gcs_size_for(&size, spec))
        return kind_too_big(spec, "2^63 numbers");
    uint64_t index = gcs_records(size.blocks) * GCS_RECORD;
    bly_status status = kind_plan_bytes(plan, index + gcs_code_bytes(&size)
                                              + GCS_TAIL);
    if (status != BLY_OK)
        return status;

    double range = (double)size.blocks * (double)size.width, n = (double)size.n;
    plan->scratch = 8 * size.n
                  + gcs_tables(gcs_shards(&records, size.blocks, size.n));
    plan->capacity = size.n;
    plan->rate = plan->fill = gcs_rate(&size);
    plan->rate_sd = sqrt(math_set_variance(range, n)) / range;
    plan->probes = 1;
    plan->lines_present = plan->lines_absent
        = 2 + size.bits / (double)size.blocks / 512;
    plan->geometry[GCS_BLOCKS] = size.blocks;
    plan->geometry[GCS_WIDTH] = size.width;
    plan->geometry[GCS_KEYS] = 0;
    plan->geometry[GCS_SHAPE] = gcs_shape(size.k, size.grain, size.least, 0);
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status gcs_check(const void *image)
{
    uint64_t blocks = image_geometry(image, GCS_BLOCKS);
    uint64_t width = image_geometry(image, GCS_WIDTH);
    uint64_t shape = image_geometry(image, GCS_SHAPE);
    size_t bytes = image_payload_bytes(image);

    bool sound = blocks >= 1 && blocks <= GCS_BLOCKS_MAX
              && width >= 1 && width <= GCS_RANGE_MAX / blocks
              && (shape & 0xFF) <= GCS_K_MAX && (shape >> 8 & 0xFFFF) >= 1
              && (shape >> 24 & 0xFFFFFF) <= GCS_LEAST_MAX
              && bytes % 8 == 0 && bytes >= GCS_TAIL
              && (bytes - GCS_TAIL) / GCS_RECORD >= gcs_records(blocks);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Look inside ------------------------------------------------------- */

static void gcs_stat(bly_info_t *out, const void *image)
{
    double range = (double)image_geometry(image, GCS_BLOCKS)
                 * (double)image_geometry(image, GCS_WIDTH);
    const uint8_t *end = image_payload(image) + image_payload_bytes(image);
    double numbers = (double)image_u64(end - GCS_TAIL, 0);
    out->distinct = (double)image_geometry(image, GCS_KEYS);
    out->distinct_sd = 0;
    out->rate = out->fill = fmin(1, numbers / range);
    out->probes = 1;
}

static const kind_building gcs_building = {
    .build = gcs_build,
};

const bly_kind bly_kind_gcs = {
    .name    = "gcs",
    .family  = "frozen",
    .summary = "a Golomb-coded set: sorted numbers, stored as gaps",
    .version = GCS_VERSION,
    .options = gcs_options,

    .plan  = gcs_plan,
    .check = gcs_check,
    .stat  = gcs_stat,

    .contains      = gcs_contains,
    .contains_many = gcs_contains_many,
    .contains_here = gcs_contains_here,

    .building = &gcs_building,
};
