/* gcs.c - a Golomb-coded set: the keys as numbers, sorted, only the gaps kept.
 *
 * WHAT IT IS
 *
 * Each key becomes one of R numbers, R about n / rate. The numbers are sorted,
 * repeats vanish, and the gaps between neighbours are written in Rice's code.
 * A key is perhaps there if its number is. It is a Bloom filter of R bits with
 * one probe, compressed: fewer bits than any filter one can add to, for the
 * price of reading through a few dozen gaps. Built once, of all keys.
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
 *        quotients: so many       remainders, k bits each, lowest bit
 *        zeros, then a one        first, the last key's in front
 *      ----->                                      <-----
 *
 *      Read from both ends at once: the unary code says how far in steps of
 *      2^k the numbers have come, the remainders the rest.
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
 * With n keys a number is taken with chance p = 1 - (1 - 1/R)^n, which is the
 * false-positive rate; R is the least at which p is what was asked. Gaps are
 * geometric, and no code of them is shorter than
 *
 *      H(p) / p = log2(1/p) + 1.4427 bits a number                       (1)
 *
 * for small p. Rice's code of a gap d takes k + 1 + floor(d / 2^k) bits, in
 * the mean, with s = (1-p)^(2^k),
 *
 *      k + 1 + s / (1 - s)                                               (2)
 *
 * which at the best k is log2(1/p) + 1.4702 .. 1.5416. A key is decoded in a
 * block of I keys, half of it in the mean. A block's length is a byte of
 * index; grains of more than a bit where a byte would not do; together
 *
 *      (64 * 8 / 56 + (g - 1) / 2) / I bits a key                        (3)
 *
 * and we take the smallest I at which (2) and (3) are below log2(1/p) + 1.59.
 *
 *      wanted rate    bits a key    I      over log2(1/p)
 *      5 %              5.91        32        1.59
 *      1 %              8.24        52        1.59
 *      0.1 %           11.56       139        1.59
 *      0.01 %          14.88       122        1.59
 *      10^-6           21.52       174        1.59
 *
 * SEPARATE QUOTIENTS
 *
 * Golomb's code proper, for 2^k any number, saves up to 0.07 bits a key, but
 * where a code begins is not known before the last one is read to its end.
 * Here the remainders lie at places known beforehand, as many can be fetched
 * at a time as the processor likes, and the next one in the quotients is one
 * instruction away. That is several times quicker, and the bits are those of
 * Rice's code. (Quotients of the numbers themselves, as Elias and Fano have
 * it, could be entered in the middle, but take 1.91 .. 2 bits over
 * log2(1/p).)
 *
 * Where there are vector instructions a whole block is sifted by its
 * remainders, 32 keys at a time, and the quotients are looked at for the few
 * keys left: see "A row of keys" below.
 *
 * BUILDING
 *
 * The mixed hashes are sorted, in scratch of 8 bytes a key and 2.3 MB more at
 * the most: first cut by their high bits into shards of whole records, then
 * each shard for itself, a thread a shard. A block too long for its byte,
 * which one filter of 10^9 random keys in thousands has, or a code longer than
 * planned, is mended by another seed: the keys get other numbers. The image
 * depends on the set of keys alone, not on their order, nor on the number of
 * threads.
 *
 * COST
 *
 * A lookup reads a line of index, and the block: two lines at 1 %, four to five
 * at 0.1 %; then it works for as long as a dozen lookups of `blocked` take, for
 * absent keys too. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * For filters that are sent or stored, and looked up in batches: 14 % smaller
 * than `standard` at 1 %, 22 % at 0.01 %. With option `block` they get smaller
 * by another 0.1 bits a key, and slower. `blocked` is ten times quicker;
 * `standard` can add. Two of them cannot be compared: each set of keys has a
 * plan of its own.
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
#include "image/kind.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/sizes.h"
#include "base/threads.h"
#include "tools/bits.h"
#include "tools/hash.h"
#include "maths/maths.h"
#include "tools/sort.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum {
    GCS_VERSION = 1,
    GCS_BLOCKS = 0, GCS_WIDTH = 1, GCS_KEYS = 2, GCS_SHAPE = 3,
    GCS_RECORD = 64, GCS_RECORD_BLOCKS = 56,
    GCS_TAIL = 8,                       /* the number of numbers             */
    GCS_K_MAX = 56,                     /* so that 8 bytes hold a remainder  */
    GCS_ENTRY_MAX = 255,
    GCS_LEAST_MAX = 65535,              /* so no block has 2^33 bits         */
    GCS_SEEDS = 64,                     /* tries; one in thousands fails     */
    GCS_SHARDS = 4096,                  /* at most                           */
    GCS_SHARD_KEYS = 32768              /* about, where there are so many    */
};

#define GCS_BLOCKS_MAX (UINT64_C(1) << 48)
#define GCS_KEYS_MAX   (UINT64_C(1) << 48)
#define GCS_RANGE_MAX  (UINT64_C(1) << 63)

static const kind_option gcs_options[] = {
    { .name = "block", .help = "keys in a block: more are smaller and slower",
      .least = 16, .most = 1024, .standard = KIND_CHOOSE },
    { .name = NULL },
};

/* What the code needs of the image, read once. */
typedef struct {
    const uint8_t *records, *code;
    uint64_t bits;                      /* of code                           */
    uint64_t blocks, width, seed;
    uint64_t least;                     /* grains                            */
    uint32_t k, grain;
} gcs_view;

static uint64_t gcs_records(uint64_t blocks)
{
    return blocks / GCS_RECORD_BLOCKS + (blocks % GCS_RECORD_BLOCKS != 0);
}

static uint64_t gcs_shape(uint64_t k, uint64_t grain, uint64_t least,
                          uint64_t seed)
{
    return k | grain << 8 | least << 24 | seed << 48;
}

PLATFORM_INLINE gcs_view gcs_look(const void *image)
{
    uint64_t shape = image_geometry(image, GCS_SHAPE);
    uint64_t blocks = image_geometry(image, GCS_BLOCKS);
    uint64_t index = gcs_records(blocks) * GCS_RECORD;
    return (gcs_view){
        .records = image_payload(image),
        .code = image_payload(image) + index,
        .bits = (image_payload_bytes(image) - index - GCS_TAIL) * 8,
        .blocks = blocks,
        .width = image_geometry(image, GCS_WIDTH),
        .seed = (shape >> 48) * HASH_STEP,
        .least = shape >> 24 & 0xFFFFFF,
        .k = shape & 0xFF,
        .grain = shape >> 8 & 0xFFFF,
    };
}

/* ---- Plan -------------------------------------------------------------- */

/* What a filter of `n` keys is made of. */
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

/* Shards of a filter of so many blocks, each of `records` records but the
 * last. */
static uint64_t gcs_shards(uint64_t *records, uint64_t blocks, uint64_t n)
{
    uint64_t all = gcs_records(blocks);
    uint64_t shards = n / GCS_SHARD_KEYS + 1;
    if (shards > GCS_SHARDS)
        shards = GCS_SHARDS;
    *records = all / shards + (all % shards != 0);
    return all / *records + (all % *records != 0);
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

/* A shard's place in the sorted keys and in the code, and what is in it. */
typedef struct {
    uint64_t first, count;              /* in the sorted hashes              */
    uint64_t at, bits;                  /* in the code                       */
    uint64_t keys, numbers;             /* different ones                    */
} gcs_shard;

/* Bytes of scratch beside the sorted hashes. */
static uint64_t gcs_tables(uint64_t shards)
{
    return shards * (sizeof(gcs_shard) + THREADS_MAX * sizeof(uint64_t));
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

/* ---- Where a key is ---------------------------------------------------- */

/* A full mix, not only a spread: rows of consecutive hashes would give even
 * gaps, and those are not what the code is made for. Mixed hashes are in the
 * order of their numbers. */
PLATFORM_INLINE uint64_t gcs_mix(const gcs_view *v, uint64_t hash)
{
    return hash_mix(hash + v->seed);
}

PLATFORM_INLINE uint64_t gcs_block_of(const gcs_view *v, uint64_t mixed)
{
    return bits_range(mixed, v->blocks);
}

/* The number, in its block. */
PLATFORM_INLINE uint64_t gcs_number_of(const gcs_view *v, uint64_t mixed)
{
    return bits_range(mixed * v->blocks, v->width);
}

/* Bits of the code. */
typedef struct {
    uint64_t start, length;
} gcs_span;

/* 56 bytes of ones, then zeros: to keep the first i of 56 bytes, load from
 * 56 - i on. */
static const uint8_t gcs_keep[2 * GCS_RECORD_BLOCKS] = {
#define GCS_ONES 255, 255, 255, 255, 255, 255, 255, 255
    GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES,
#undef GCS_ONES
};

/* The sum of the first `count` of 56 bytes: two by two in lanes of 16 bits,
 * whose sum comes together in the highest. */
PLATFORM_INLINE uint64_t gcs_sum(const uint8_t *bytes, size_t count)
{
    const uint64_t even = UINT64_C(0x00FF00FF00FF00FF);
    const uint8_t *keep = gcs_keep + GCS_RECORD_BLOCKS - count;
    uint64_t lanes = 0;
    PLATFORM_UNROLL
    for (size_t i = 0; i < GCS_RECORD_BLOCKS; i += 8) {
        uint64_t word = image_u64(bytes, i) & image_u64(keep, i);
        lanes += (word & even) + (word >> 8 & even);
    }
    return lanes * UINT64_C(0x0001000100010001) >> 48;
}

PLATFORM_INLINE const uint8_t *gcs_record(const gcs_view *v, uint64_t block)
{
    return v->records + block / GCS_RECORD_BLOCKS * GCS_RECORD;
}

/* Where the block's code is, if the entries before it add up to `sum`;
 * nowhere, if the record says that it is beyond the end. */
PLATFORM_INLINE gcs_span gcs_span_at(const gcs_view *v, uint64_t block,
                                     uint64_t sum)
{
    const uint8_t *record = gcs_record(v, block);
    size_t slot = block % GCS_RECORD_BLOCKS;
    gcs_span span = {
        .start = image_u64(record, 0) + (sum + slot * v->least) * v->grain,
        .length = (record[8 + slot] + v->least) * v->grain,
    };
    bool inside = span.start <= v->bits && span.length <= v->bits - span.start;
    return inside ? span : (gcs_span){ 0, 0 };
}

PLATFORM_INLINE gcs_span gcs_locate(const gcs_view *v, uint64_t block)
{
    return gcs_span_at(v, block, gcs_sum(gcs_record(v, block) + 8,
                                         block % GCS_RECORD_BLOCKS));
}

/* ---- Decode ------------------------------------------------------------ */

/* 57 bits and more from a bit of the code on, lowest first. The 8 bytes may
 * reach into the last 8 of the payload, not beyond. */
PLATFORM_INLINE uint64_t gcs_window(const uint8_t *code, uint64_t at)
{
    return image_u64(code + (at >> 3), 0) >> (at & 7);
}

/* The numbers of a block, one after another. */
typedef struct {
    const uint8_t *code;
    uint64_t word, at, next;            /* quotients: 64 bits, where they
                                           begin, and the next ones          */
    uint64_t origin;                    /* where the next one bit would be if
                                           all quotients had been 0          */
    uint64_t rest;                      /* the remainders before this bit are
                                           still to come                     */
    uint64_t stop;                      /* the block's end                   */
    uint64_t low;                       /* the sum of remainders, and ones   */
    uint64_t mask;
    uint32_t k;
} gcs_reader;

PLATFORM_INLINE gcs_reader gcs_read(const gcs_view *v, gcs_span span)
{
    return (gcs_reader){
        .code = v->code, .at = span.start, .origin = span.start,
        .word = span.length > 0 ? gcs_window(v->code, span.start) : 0,
        .next = (span.start | 7) + 57,
        .stop = span.start + span.length, .rest = span.start + span.length,
        .mask = (UINT64_C(1) << v->k) - 1, .k = v->k,
    };
}

/* Where the next quotient ends: its one bit; `stop` or more if there is none.
 * Past the last quotient it finds the remainders' ones. */
PLATFORM_INLINE uint64_t gcs_next_one(gcs_reader *r)
{
    while (r->word == 0) {
        if (r->next >= r->stop)
            return r->stop;
        r->at = r->next;
        r->word = gcs_window(r->code, r->at);
        r->next += 64;
    }
    uint64_t one = r->at + platform_trailing_zeros(r->word);
    r->word &= r->word - 1;
    return one;
}

/* The block's next number; false at its end, which is where quotients and
 * remainders would run into one another. */
PLATFORM_INLINE bool gcs_next(gcs_reader *r, uint64_t *number)
{
    uint64_t one = gcs_next_one(r);
    if (one + 1 + r->k > r->rest)
        return false;
    r->rest -= r->k;
    r->low += gcs_window(r->code, r->rest) & r->mask;
    *number = ((one - r->origin) << r->k) + r->low;
    r->origin++;
    r->low++;
    return true;
}

PLATFORM_INLINE bool gcs_find(const gcs_view *v, gcs_span span,
                              uint64_t wanted)
{
    gcs_reader r = gcs_read(v, span);
    uint64_t number = 0;
    while (gcs_next(&r, &number))
        if (number >= wanted)
            return number == wanted;
    return false;
}

static bool gcs_contains(const void *image, uint64_t hash)
{
    gcs_view v = gcs_look(image);
    uint64_t mixed = gcs_mix(&v, hash);
    gcs_span span = gcs_locate(&v, gcs_block_of(&v, mixed));
    return gcs_find(&v, span, gcs_number_of(&v, mixed));
}

/* ---- Batches ----------------------------------------------------------- */

/* Keys whose index lines, and as many whose blocks, are on their way; and lines
 * of a block asked for without looking how many it has. */
enum { GCS_AHEAD = 64, GCS_TRIPS = 2 * GCS_AHEAD, GCS_LINES = 4 };

/* A key on its way: its block, then where that is; and its number. */
typedef struct {
    uint64_t block;
    gcs_span span;
    uint64_t wanted;
} gcs_trip;

PLATFORM_INLINE void gcs_ask_index(const gcs_view *v, gcs_trip *trip,
                                   uint64_t hash)
{
    uint64_t mixed = gcs_mix(v, hash);
    trip->block = gcs_block_of(v, mixed);
    trip->wanted = gcs_number_of(v, mixed);
    platform_prefetch(gcs_record(v, trip->block));
}

PLATFORM_INLINE void gcs_ask_block(const gcs_view *v, const gcs_trip *trip)
{
    const uint8_t *first = v->code + (trip->span.start >> 3);
    uint64_t last = trip->span.length >> 3, at = 0;
    PLATFORM_UNROLL
    for (; at < GCS_LINES * 64; at += 64)
        platform_prefetch(first + (at < last ? at : last));
    for (; at < last + 64; at += 64)
        platform_prefetch(first + (at < last ? at : last));
}

/* Three stages of a key follow each other GCS_AHEAD keys later; `answer` is the
 * statement for the last one, of key number `key` with its `trip`. */
#define GCS_ROLL(view, hashes, n, locate, answer)                              \
    do {                                                                       \
        gcs_trip ring[GCS_TRIPS];                                              \
        for (size_t i = 0; i < (n) + GCS_TRIPS; i++) {                         \
            gcs_trip *trip = &ring[i % GCS_TRIPS];                             \
            if (i >= GCS_TRIPS) {                                              \
                const size_t key = i - GCS_TRIPS;                              \
                answer;                                                        \
            }                                                                  \
            if (i < (n))                                                       \
                gcs_ask_index(&(view), trip, (hashes)[i]);                     \
            if (i < GCS_AHEAD || i - GCS_AHEAD >= (n))                         \
                continue;                                                      \
            trip = &ring[(i - GCS_AHEAD) % GCS_TRIPS];                         \
            trip->span = locate(&(view), trip->block);                         \
            gcs_ask_block(&(view), trip);                                      \
        }                                                                      \
    } while (0)

static void gcs_contains_portable(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    const gcs_view v = gcs_look(image);
    GCS_ROLL(v, hashes, n, gcs_locate,
             present[key] = gcs_find(&v, trip->span, trip->wanted));
}

#if CPU_X86
/* A row of keys of a block at a time: 32, or 16 where remainders have more than
 * 10 bits. Let L be the sum of the remainders up to that of key i, and i + 1;
 * then its number, and 1, is 2^k Q + L, where Q is the sum of the quotients. So
 * what is wanted, and 1, less L, must be a multiple of 2^k: that sifts all keys
 * of the block but one in 2^k, and takes the remainders only, which are where
 * they are. For a key that passes, Q is then known: it tells where in the
 * quotients the key's one bit is, and i how many are before it.
 *
 * How many rows a block has, which of them have keys that pass, and whether a
 * one bit is there, cannot be foreseen, and to branch on it cost more than all
 * else together. So this goes in stages, each a plain loop over a list that the
 * one before wrote: rows of 64 lookups; those of them with keys that pass; keys
 * with a one bit in the right place. What belongs on a list is written to its
 * end, and so is what does not; only the end moves on for one, not the other.
 */
enum {
    GCS_ROWS = 240, GCS_ROWS_EACH = 64, /* in the queue, and of one lookup   */
    GCS_K_LANES = 10, GCS_K_WIDE = 26   /* 32 remainders add up in 16 bits,
                                           16 of them in 32                  */
};

typedef struct {
    uint64_t start, stop;               /* the block's bits                  */
    uint64_t left;                      /* the number wanted, and 1          */
    int64_t  lines;                     /* as gcs_lines() has it             */
} gcs_lookup;

typedef struct {
    uint64_t inverse;                   /* 2^32 / bits of a row, rounded up  */
    size_t   rows;
    gcs_lookup lookup[GCS_AHEAD];
    uint32_t row[GCS_ROWS + 16];        /* lookup, times 2^16, and which of
                                           its rows                          */
    uint64_t left[GCS_ROWS];            /* what is left before it of the
                                           number wanted, and 1              */
    uint8_t  (*sums)[64];               /* L of its keys, from there on      */
    uint32_t pass[GCS_ROWS];            /* its keys that pass, as bits       */
    uint32_t some[GCS_ROWS];            /* the rows that have such keys      */
} gcs_queue;

/* How many bits of 64 bytes are set, from bit `start` of the first byte up to
 * before bit `end` of them all, at most 512. Bytes from there on are not read.
 */
CPU_TARGET_AVX512 PLATFORM_INLINE uint64_t
gcs_ones_here(const uint8_t *bytes, unsigned start, uint64_t end)
{
    const __m512i none = _mm512_setzero_si512(), few = _mm512_set1_epi8(15);
    const __m512i ones = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i begin = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384,
                                            448);
    __mmask64 inside = _bzhi_u64(UINT64_MAX, (unsigned)((end + 7) / 8));
    __m512i x = _mm512_maskz_loadu_epi8(inside, bytes);
    __m512i left = _mm512_max_epi64(none,
        _mm512_sub_epi64(_mm512_set1_epi64((int64_t)end), begin));
    __m512i after = _mm512_sllv_epi64(_mm512_set1_epi64(-1), left);
    __m512i before = _mm512_zextsi128_si512(
        _mm_cvtsi32_si128((1 << start) - 1));
    x = _mm512_andnot_si512(_mm512_or_si512(before, after), x);
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(x, 4), few);
    x = _mm512_add_epi8(_mm512_shuffle_epi8(ones, _mm512_and_si512(x, few)),
                        _mm512_shuffle_epi8(ones, high));
    return (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(x, none));
}

/* How many bits of the code are set from `start` up to before `end`. */
CPU_TARGET_AVX512 static inline uint64_t
gcs_ones(const uint8_t *code, uint64_t start, uint64_t end)
{
    const uint8_t *bytes = code + (start >> 3);
    uint64_t ones = 0, left = end - (start & ~UINT64_C(7));
    unsigned skip = start & 7;
    for (; left > 512; left -= 512, bytes += 64, skip = 0)
        ones += gcs_ones_here(bytes, skip, 512);
    return ones + gcs_ones_here(bytes, skip, left);
}

PLATFORM_INLINE uint32_t gcs_lanes(uint32_t k)
{
    return k > GCS_K_LANES ? 16 : 32;
}

/* The fewest bits that a row of keys has. */
PLATFORM_INLINE uint64_t gcs_row_bits(uint32_t k)
{
    return (uint64_t)gcs_lanes(k) * (k + 1);
}

PLATFORM_INLINE void gcs_begin(const gcs_view *v, gcs_queue *q,
                               uint8_t (*sums)[64])
{
    q->sums = sums;
    q->inverse = (UINT64_C(1) << 32) / gcs_row_bits(v->k) + 1;
    q->rows = 0;
}

/* What L is for a key of a row, from there on. */
PLATFORM_INLINE uint32_t gcs_sum_of(const uint8_t *sums, uint32_t lane,
                                    bool wide)
{
    if (wide)
        return image_u32(sums, 4 * lane);
    return image_u32(sums, 4 * (lane / 2)) >> 16 * (lane % 2) & 0xFFFF;
}

/* A key that passed, the one bit it should have, and whose lookup it is. */
typedef struct {
    uint64_t key, one;
    uint32_t lookup;
} gcs_guess;

/* The key of that lane of a row; is its one bit there? For half of those that
 * pass by chance it is not. */
PLATFORM_INLINE bool gcs_guess_for(gcs_guess *guess, const gcs_view *v,
                                   const gcs_queue *q, uint32_t row,
                                   uint32_t lane)
{
    const gcs_lookup *lookup = &q->lookup[q->row[row] >> 16];
    const uint32_t lanes = gcs_lanes(v->k);
    uint64_t key = (q->row[row] & 0xFFFF) * lanes + lane;
    uint64_t left = q->left[row] - gcs_sum_of(q->sums[row], lane, lanes == 16);
    uint64_t one = lookup->start + key + (left >> v->k);
    bool room = !(left >> 63) & (one + 1 + (key + 1) * v->k <= lookup->stop);
    one = room ? one : lookup->start;
    *guess = (gcs_guess){ key, one, q->row[row] >> 16 };
    return room & (gcs_window(v->code, one) & 1);
}

/* Are there as many before it as there are keys? Then the number is there. */
CPU_TARGET_AVX512 static void gcs_settle(const gcs_view *v, const gcs_queue *q,
                                         const gcs_guess *guess, size_t n,
                                         bool *present)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t lookup = guess[i].lookup;
        present[lookup] |= guess[i].key
            == gcs_ones(v->code, q->lookup[lookup].start, guess[i].one);
    }
}

/* Settle one key of each of the first `some` rows of the list of that name.
 * Those that have more stay on it: so many. */
CPU_TARGET_AVX512 static size_t gcs_round(const gcs_view *v, gcs_queue *q,
                                          size_t some, bool *present)
{
    gcs_guess guess[GCS_ROWS];
    size_t n = 0, more = 0;
    for (size_t i = 0; i < some; i++) {
        uint32_t row = q->some[i], pass = q->pass[row];
        n += gcs_guess_for(&guess[n], v, q, row, platform_trailing_zeros(pass));
        q->pass[row] = pass &= pass - 1;
        q->some[more] = row;
        more += pass != 0;
    }
    gcs_settle(v, q, guess, n, present);
    return more;
}

/* Settle all keys that passed. */
CPU_TARGET_AVX512 static void gcs_settle_all(const gcs_view *v, gcs_queue *q,
                                             bool *present)
{
    size_t some = 0;
    for (uint32_t r = 0; r < q->rows; r++) {
        q->some[some] = r;
        some += q->pass[r] != 0;
    }
    while (some > 0)
        some = gcs_round(v, q, some, present);
}

/* gcs_locate, its sum in one register. */
CPU_TARGET_AVX512 static inline gcs_span
gcs_locate_avx512(const gcs_view *v, uint64_t block)
{
    size_t slot = block % GCS_RECORD_BLOCKS;
    __m512i lengths = _mm512_maskz_loadu_epi8((UINT64_C(1) << slot) - 1,
                                              gcs_record(v, block) + 8);
    __m512i sums = _mm512_sad_epu8(lengths, _mm512_setzero_si512());
    return gcs_span_at(v, block, (uint64_t)_mm512_reduce_add_epi64(sums));
}

/* The first byte of 64 that hold all bits of a block up to `top`, or the last
 * 481 of them and more; no line but the block's own, where `lines`, which is
 * where they begin, is as gcs_lines() has it. */
PLATFORM_INLINE int64_t gcs_from(uint64_t top, int64_t lines)
{
    int64_t from = (int64_t)((top + 31) >> 5) * 4 - 64;
    return from > lines ? from : lines;
}

/* Where the line begins that the block begins in; but the 64 bytes from there
 * on must not reach beyond the code. They may begin in the index. */
PLATFORM_INLINE int64_t gcs_lines(const gcs_view *v, gcs_span span)
{
    int64_t line = (int64_t)(span.start >> 3 & ~UINT64_C(63));
    int64_t last = (int64_t)(v->bits >> 3) - 64;
    return line < last ? line : last;
}

/* Of the 32 keys whose remainders end before bit `top` of 64 bytes, each
 * remainder and 1, added up: in 128 bits by themselves, then in pairs and in
 * halves of the register. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
gcs_sums(__m512i words, uint32_t top, uint32_t k)
{
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i number = _mm512_set_epi16(32, 31, 30, 29, 28, 27, 26, 25, 24,
        23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5,
        4, 3, 2, 1);
    const __m512i halves = _mm512_set1_epi16(15);
    const __m512i pairs = _mm512_set_epi64(
        0x0017001700170017, 0x0017001700170017, 0, 0,
        0x0007000700070007, 0x0007000700070007, 0, 0);      /* words 23, 7 */
    const __m512i steps = _mm512_mullo_epi16(number,
                                             _mm512_set1_epi16((short)k));
    __m512i at = _mm512_sub_epi16(_mm512_set1_epi16((short)top), steps);
    __m512i word = _mm512_srli_epi16(at, 4);
    __m512i shift = _mm512_and_si512(at, _mm512_set1_epi16(15));
    __m512i up = _mm512_sub_epi16(_mm512_set1_epi16(16), shift);
    __m512i low = _mm512_permutexvar_epi16(word, words);
    __m512i high = _mm512_permutexvar_epi16(_mm512_add_epi16(word, one), words);
    __m512i x = _mm512_or_si512(_mm512_srlv_epi16(low, shift),
                                _mm512_sllv_epi16(high, up));
    x = _mm512_and_si512(x, _mm512_set1_epi16((short)((1u << k) - 1)));
    x = _mm512_add_epi16(x, one);
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 2));
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 4));
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 8));
    x = _mm512_add_epi16(x,
            _mm512_maskz_permutexvar_epi16(0xFF00FF00, pairs, x));
    return _mm512_add_epi16(x,
               _mm512_maskz_permutexvar_epi16(0xFFFF0000, halves, x));
}

/* The same for 16 keys, in lanes of 32 bits. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
gcs_sums_wide(__m512i words, uint32_t top, uint32_t k)
{
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const __m512i number = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                             12, 13, 14, 15, 16);
    const __m512i steps = _mm512_mullo_epi32(_mm512_set1_epi32((int)k), number);
    __m512i at = _mm512_sub_epi32(_mm512_set1_epi32((int)top), steps);
    __m512i word = _mm512_srli_epi32(at, 5);
    __m512i shift = _mm512_and_si512(at, _mm512_set1_epi32(31));
    __m512i up = _mm512_sub_epi32(_mm512_set1_epi32(32), shift);
    __m512i low = _mm512_permutexvar_epi32(word, words);
    __m512i high = _mm512_permutexvar_epi32(_mm512_add_epi32(word, one), words);
    __m512i x = _mm512_or_si512(_mm512_srlv_epi32(low, shift),
                                _mm512_sllv_epi32(high, up));
    x = _mm512_and_si512(x, _mm512_set1_epi32((int)((1u << k) - 1)));
    x = _mm512_add_epi32(x, one);
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    return _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
}

/* Which of a row's keys pass: `left` less L is a multiple of 2^k. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
gcs_pass(__m512i sums, uint64_t left, uint32_t k, bool wide)
{
    int mask = (int)((1u << k) - 1);
    if (wide)
        return _mm512_testn_epi32_mask(_mm512_set1_epi32(mask),
                   _mm512_sub_epi32(_mm512_set1_epi32((int)left), sums));
    return _mm512_testn_epi16_mask(_mm512_set1_epi16((short)mask),
               _mm512_sub_epi16(_mm512_set1_epi16((short)left), sums));
}

/* Which keys of the rows in the queue pass. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
gcs_sift(const gcs_view *v, gcs_queue *q, bool wide)
{
    const uint32_t k = v->k, step = gcs_lanes(k) * k;
    const uint8_t *code = v->code;
    uint64_t left = 0;
    for (size_t r = 0, rows = q->rows; r < rows; r++) {
        const gcs_lookup *lookup = &q->lookup[q->row[r] >> 16];
        uint32_t number = q->row[r] & 0xFFFF;
        uint64_t top = lookup->stop - number * step;
        int64_t from = gcs_from(top, lookup->lines);
        __m512i words = _mm512_loadu_si512(code + from);
        uint32_t bit = (uint32_t)(top - 8 * (uint64_t)from);
        __m512i sums = wide ? gcs_sums_wide(words, bit, k)
                            : gcs_sums(words, bit, k);
        __m128i last = _mm512_extracti32x4_epi32(sums, 3);
        left = number == 0 ? lookup->left : left;
        q->left[r] = left;
        _mm512_storeu_si512(q->sums[r], sums);
        q->pass[r] = gcs_pass(sums, left, k, wide);
        left -= wide ? (uint32_t)_mm_extract_epi32(last, 3)
                     : (uint32_t)_mm_extract_epi16(last, 7);
    }
}

CPU_TARGET_AVX512 static void gcs_sift_narrow(const gcs_view *v, gcs_queue *q)
{
    gcs_sift(v, q, false);
}

CPU_TARGET_AVX512 static void gcs_sift_wide(const gcs_view *v, gcs_queue *q)
{
    gcs_sift(v, q, true);
}

CPU_TARGET_AVX512 static void gcs_empty(const gcs_view *v, gcs_queue *q,
                                        bool *present)
{
    if (v->k > GCS_K_LANES)
        gcs_sift_wide(v, q);
    else
        gcs_sift_narrow(v, q);
    gcs_settle_all(v, q, present);
    q->rows = 0;
}

/* present[j] for lookup j, now or when the queue is emptied. A key has k + 1
 * bits and more. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
gcs_answer_avx512(const gcs_view *v, gcs_queue *q, size_t j,
                  const gcs_trip *trip, bool *present)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                           12, 13, 14, 15);
    uint64_t row = gcs_row_bits(v->k), length = trip->span.length;
    uint64_t rows = (length + row - 1) * q->inverse >> 32;
    bool lanes = length <= GCS_ROWS_EACH * row && v->k <= GCS_K_WIDE;
    present[j] = !lanes && gcs_find(v, trip->span, trip->wanted);
    if (!lanes)
        return;
    q->lookup[j] = (gcs_lookup){
        .start = trip->span.start, .stop = trip->span.start + length,
        .left = trip->wanted + 1, .lines = gcs_lines(v, trip->span),
    };
    if (q->rows + rows > GCS_ROWS)
        gcs_empty(v, q, present);
    for (uint64_t i = 0; i < rows; i += 16)
        _mm512_storeu_si512(q->row + q->rows + i, _mm512_add_epi32(iota,
            _mm512_set1_epi32((int)(j << 16 | i))));
    q->rows += rows;
}

CPU_TARGET_AVX512 static bool gcs_one_avx512(const void *image, uint64_t hash)
{
    const gcs_view v = gcs_look(image);
    uint64_t mixed = gcs_mix(&v, hash);
    gcs_trip trip = { .span = gcs_locate_avx512(&v, gcs_block_of(&v, mixed)),
                      .wanted = gcs_number_of(&v, mixed) };
    bool present;
    gcs_queue q;
    uint8_t sums[GCS_ROWS_EACH][64];
    gcs_begin(&v, &q, sums);
    gcs_answer_avx512(&v, &q, 0, &trip, &present);
    gcs_empty(&v, &q, &present);
    return present;
}

PLATFORM_APART CPU_TARGET_AVX512 static void
gcs_contains_with(uint8_t (*sums)[64], const void *image,
                  const uint64_t *hashes, size_t n, bool *present)
{
    const gcs_view v = gcs_look(image);
    gcs_queue q;
    gcs_begin(&v, &q, sums);
    GCS_ROLL(v, hashes, n, gcs_locate_avx512,
        size_t j = key % GCS_AHEAD;
        gcs_answer_avx512(&v, &q, j, trip, present + key - j);
        if (j == GCS_AHEAD - 1 || key == n - 1)
            gcs_empty(&v, &q, present + key - j));
}

/* The sums in a frame of their own: no frame is above 16 KiB. */
static void gcs_contains_avx512(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
    uint8_t sums[GCS_ROWS][64];
    gcs_contains_with(sums, image, hashes, n, present);
}
#endif

static void gcs_contains_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *present)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX512) {
        gcs_contains_avx512(image, hashes, n, present);
        return;
    }
#endif
    gcs_contains_portable(image, hashes, n, present);
}

static kind_contains *gcs_contains_here(void)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX512)
        return gcs_one_avx512;
#endif
    return gcs_contains;
}

/* ---- Sort -------------------------------------------------------------- */

enum { GCS_FEW = 20, GCS_DIGIT = 9,     /* keys to insert; bits of a digit   */
       GCS_LEVELS = 3 };

/* Bits for about four keys in a bucket. */
static unsigned gcs_digit(size_t n, unsigned top)
{
    unsigned bits = 2;
    while (bits < GCS_DIGIT && n >> bits > 4)
        bits++;
    return bits < top ? bits : top;
}

/* Keys into their buckets, in place: each goes where it belongs, and the one
 * that was there goes on [McIlroy 1993]. */
static void gcs_deal(uint64_t *keys, uint64_t base, unsigned shift,
                     uint32_t mask, size_t *next, const size_t *end)
{
    for (size_t b = 0; b <= mask; b++)
        while (next[b] < end[b]) {
            uint64_t key = keys[next[b]];
            size_t digit = (key - base) >> shift & mask;
            while (digit != b) {
                uint64_t other = keys[next[digit]];
                keys[next[digit]++] = key;
                key = other;
                digit = (key - base) >> shift & mask;
            }
            keys[next[b]++] = key;
        }
}

/* Sort keys that, less `base`, are alike in the bits from `top` on. Random ones
 * take two levels or three; what takes more is many times the same key, or made
 * to take more of the stack. */
static void gcs_sort(uint64_t *keys, size_t n, uint64_t base, unsigned top,
                     unsigned levels)
{
    size_t next[1 << GCS_DIGIT], end[1 << GCS_DIGIT];
    if (n <= GCS_FEW) {
        sort_insert(keys, n);
        return;
    }
    if (top == 0)
        return;
    if (levels == 0) {
        sort_heap(keys, n);
        return;
    }
    unsigned bits = gcs_digit(n, top), shift = top - bits;
    uint32_t mask = (1u << bits) - 1;
    memset(end, 0, sizeof *end << bits);
    for (size_t i = 0; i < n; i++)
        end[(keys[i] - base) >> shift & mask]++;
    for (size_t b = 0, sum = 0; b <= mask; b++) {
        next[b] = sum;
        end[b] = sum += end[b];
    }
    gcs_deal(keys, base, shift, mask, next, end);
    for (size_t b = 0, from = 0; b <= mask; from = end[b++])
        gcs_sort(keys + from, end[b] - from, base, shift, levels - 1);
}

/* ---- Build ------------------------------------------------------------- */

/* What the parts of a build share. */
typedef struct {
    const kind_keys *keys;
    gcs_view view;
    uint8_t *records, *code;
    uint64_t shards, shard_blocks;      /* blocks of each, the last has less */
    uint64_t inverse;                   /* 2^64 / shard_blocks, rounded up   */
    gcs_shard *shard;
    uint64_t *counts;                   /* [part][shard]                     */
    uint64_t *sorted;
    unsigned parts;
} gcs_work;

/* Multiplied, not divided: exact as long as block * shard_blocks < 2^64. */
PLATFORM_INLINE uint64_t gcs_shard_of(const gcs_work *w, uint64_t mixed)
{
    return platform_mul_high(gcs_block_of(&w->view, mixed), w->inverse);
}

/* Where part `part` of `parts` of n things begins. */
static uint64_t gcs_slice(uint64_t n, unsigned part, unsigned parts)
{
    return n / parts * part + n % parts * part / parts;
}

static void gcs_count_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    uint64_t *counts = w->counts + part * w->shards;
    uint64_t to = gcs_slice(w->keys->n, part + 1, parts);
    memset(counts, 0, w->shards * sizeof *counts);
    for (uint64_t i = gcs_slice(w->keys->n, part, parts); i < to; i++)
        counts[gcs_shard_of(w, gcs_mix(&w->view, w->keys->hashes[i]))]++;
}

/* From how many there are to where they go. */
static void gcs_places(gcs_work *w)
{
    uint64_t sum = 0;
    for (uint64_t s = 0; s < w->shards; s++) {
        w->shard[s].first = sum;
        for (unsigned part = 0; part < w->parts; part++) {
            uint64_t *count = &w->counts[part * w->shards + s], some = *count;
            *count = sum;
            sum += some;
        }
        w->shard[s].count = sum - w->shard[s].first;
    }
}

static void gcs_deal_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    uint64_t *places = w->counts + part * w->shards;
    uint64_t to = gcs_slice(w->keys->n, part + 1, parts);
    for (uint64_t i = gcs_slice(w->keys->n, part, parts); i < to; i++) {
        uint64_t mixed = gcs_mix(&w->view, w->keys->hashes[i]);
        w->sorted[places[gcs_shard_of(w, mixed)]++] = mixed;
    }
}

static void gcs_sort_shard(gcs_work *w, gcs_shard *shard)
{
    uint64_t *keys = w->sorted + shard->first;
    uint64_t low = UINT64_MAX, high = 0;
    unsigned top = 0;
    for (uint64_t i = 0; i < shard->count; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    while (top < 64 && high > low && (high - low) >> top != 0)
        top++;
    gcs_sort(keys, shard->count, low, top, GCS_LEVELS);
}

/* Bits of code of the keys from i on that are in this block. Those with a
 * number of their own are kept, at `kept`. */
static uint64_t gcs_measure(gcs_work *w, gcs_shard *shard, uint64_t block,
                            uint64_t *i, uint64_t *kept)
{
    const gcs_view *v = &w->view;
    uint64_t *keys = w->sorted + shard->first;
    uint64_t bits = 0, next = 0, last = 0;
    for (; *i < shard->count; ++*i) {
        uint64_t key = keys[*i];
        if (gcs_block_of(v, key) != block)
            break;
        shard->keys += *i == 0 || key != last;
        last = key;
        uint64_t number = gcs_number_of(v, key);
        if (number < next)
            continue;
        bits += v->k + 1 + ((number - next) >> v->k);
        next = number + 1;
        keys[(*kept)++] = key;
    }
    return bits;
}

static uint64_t gcs_first_block(const gcs_work *w, uint64_t shard)
{
    uint64_t block = shard * w->shard_blocks;
    return block < w->view.blocks ? block : w->view.blocks;
}

/* The lengths of a shard's blocks, into the records; its bits, UINT64_MAX if
 * one of them is too long. */
static void gcs_measure_shard(gcs_work *w, uint64_t s)
{
    gcs_shard *shard = &w->shard[s];
    const gcs_view *v = &w->view;
    uint64_t i = 0, kept = 0, end = gcs_first_block(w, s + 1);
    shard->bits = shard->keys = 0;
    for (uint64_t block = gcs_first_block(w, s); block < end; block++) {
        uint64_t bits = gcs_measure(w, shard, block, &i, &kept);
        uint64_t grains = bits / v->grain + (bits % v->grain != 0);
        uint64_t entry = grains < v->least ? 0 : grains - v->least;
        if (entry > GCS_ENTRY_MAX) {
            shard->bits = UINT64_MAX;
            return;
        }
        w->records[block / GCS_RECORD_BLOCKS * GCS_RECORD + 8
                   + block % GCS_RECORD_BLOCKS] = (uint8_t)entry;
        shard->bits += (entry + v->least) * v->grain;
    }
    shard->numbers = kept;
}

static void gcs_sort_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    for (uint64_t s = part; s < w->shards; s += parts) {
        gcs_sort_shard(w, &w->shard[s]);
        gcs_measure_shard(w, s);
    }
}

/* Where each shard's code begins, at a word of its own, so that no two threads
 * write to one; the bits of them all, UINT64_MAX if they do not fit. */
static uint64_t gcs_line_up(gcs_work *w)
{
    uint64_t at = 0;
    for (uint64_t s = 0; s < w->shards; s++) {
        gcs_shard *shard = &w->shard[s];
        if (shard->bits > w->view.bits - at)
            return UINT64_MAX;
        shard->at = at;
        at += (shard->bits + 63) / 64 * 64;
        if (at > w->view.bits)
            return UINT64_MAX;
    }
    return at;
}

/* `value` of fewer than 58 bits, into words where its bits are still 0. */
static void gcs_put(uint8_t *code, uint64_t at, uint64_t value, uint32_t k)
{
    uint8_t *word = code + (at >> 6) * 8;
    unsigned shift = at & 63;
    image_set_u64(word, 0, image_u64(word, 0) | value << shift);
    if (shift + k > 64)
        image_set_u64(word, 8, image_u64(word, 8) | value >> (64 - shift));
}

/* The code of the keys from i on that are in this block. */
static uint64_t gcs_write(const gcs_work *w, const gcs_shard *shard,
                          uint64_t block, gcs_span span, uint64_t i)
{
    const gcs_view *v = &w->view;
    const uint64_t *keys = w->sorted + shard->first;
    const uint64_t mask = (UINT64_C(1) << v->k) - 1;
    uint64_t one = span.start, rest = span.start + span.length, next = 0;
    for (; i < shard->numbers && gcs_block_of(v, keys[i]) == block; i++) {
        uint64_t number = gcs_number_of(v, keys[i]), gap = number - next;
        one += gap >> v->k;
        rest -= v->k;
        gcs_put(w->code, one++, 1, 1);
        gcs_put(w->code, rest, gap & mask, v->k);
        next = number + 1;
    }
    return i;
}

static void gcs_write_shard(gcs_work *w, uint64_t s)
{
    const gcs_shard *shard = &w->shard[s];
    const gcs_view *v = &w->view;
    uint64_t at = shard->at, i = 0, end = gcs_first_block(w, s + 1);
    for (uint64_t block = gcs_first_block(w, s); block < end; block++) {
        uint8_t *record = w->records + block / GCS_RECORD_BLOCKS * GCS_RECORD;
        size_t slot = block % GCS_RECORD_BLOCKS;
        if (slot == 0)
            image_set_u64(record, 0, at);
        gcs_span span = { at, (record[8 + slot] + v->least) * v->grain };
        i = gcs_write(w, shard, block, span, i);
        at += span.length;
    }
}

static void gcs_write_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    for (uint64_t s = part; s < w->shards; s += parts)
        gcs_write_shard(w, s);
}

/* Code, counts and the image's new size, once all fits. */
static void gcs_finish(void *image, gcs_work *w, uint64_t bits)
{
    uint64_t keys = 0, numbers = 0;
    threads_run(gcs_write_part, w, w->parts);
    for (uint64_t s = 0; s < w->shards; s++) {
        keys += w->shard[s].keys;
        numbers += w->shard[s].numbers;
    }
    image_set_u64(w->code, bits / 8, numbers);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * GCS_KEYS, keys);
    image_set_u64(image, IMAGE_BYTES, (uint64_t)(w->code - (uint8_t *)image)
                                      + bits / 8 + GCS_TAIL);
}

static gcs_work gcs_work_for(void *image, const kind_keys *keys,
                             const kind_bench *bench)
{
    gcs_view view = gcs_look(image);
    uint64_t records, all = gcs_records(view.blocks);
    gcs_work w = {
        .keys = keys, .view = view, .sorted = bench->scratch,
        .records = image_payload_mut(image),
        .code = image_payload_mut(image) + all * GCS_RECORD,
        .shards = gcs_shards(&records, view.blocks,
                             image_u64(image, IMAGE_CAPACITY)),
    };
    w.shard_blocks = records * GCS_RECORD_BLOCKS;
    w.inverse = UINT64_MAX / w.shard_blocks + 1;
    w.parts = w.shards < bench->threads ? (unsigned)w.shards : bench->threads;
    w.shard = (gcs_shard *)(w.sorted + image_u64(image, IMAGE_CAPACITY));
    w.counts = (uint64_t *)(w.shard + w.shards);
    assert(8 * image_u64(image, IMAGE_CAPACITY) + gcs_tables(w.shards)
           <= bench->bytes);
    return w;
}

static bly_status gcs_build(void *image, const kind_keys *keys,
                            const kind_bench *bench)
{
    uint64_t shape = image_geometry(image, GCS_SHAPE);
    for (uint64_t seed = 0; seed < GCS_SEEDS; seed++) {
        image_set_u64(image, IMAGE_GEOMETRY + 8 * GCS_SHAPE,
                      shape | seed << 48);
        gcs_work w = gcs_work_for(image, keys, bench);
        threads_run(gcs_count_part, &w, w.parts);
        gcs_places(&w);
        threads_run(gcs_deal_part, &w, w.parts);
        threads_run(gcs_sort_part, &w, w.parts);
        uint64_t bits = gcs_line_up(&w);
        if (bits != UINT64_MAX) {
            gcs_finish(image, &w, bits);
            return BLY_OK;
        }
    }
    return status_fail(BLY_EFULL, "these hashes crowd together under each of "
                       "%d seeds: hash the keys with another seed", GCS_SEEDS);
}

/* ---- Look inside ------------------------------------------------------- */

static void gcs_stat(bly_stat_t *out, const void *image)
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

const bly_kind bly_kind_gcs = {
    .name    = "gcs",
    .family  = "frozen",
    .summary = "a Golomb-coded set: sorted numbers, only their gaps kept",
    .version = GCS_VERSION,
    .options = gcs_options,

    .plan  = gcs_plan,
    .check = gcs_check,

    .contains      = gcs_contains,
    .contains_here = gcs_contains_here,
    .contains_many = gcs_contains_many,

    .build = gcs_build,

    .stat = gcs_stat,
};
