/* bip158.c - Bitcoin's compact block filter, in its own bytes.
 *
 * WHAT IT IS
 *
 * A light wallet uses this filter to find out whether a block may concern it.
 * It is the Golomb-coded set of all scripts that the block spends from and pays
 * to. The payload is the filter, byte for byte, as it follows its length in the
 * message `cfilter`. Its hashes depend on the block, which the filter does not
 * name: give block=HASH to open it.
 *
 * WHEN TO USE IT
 *
 * Use it to read the compact filters of Bitcoin blocks, or to make them.
 *
 * WHEN NOT TO
 *
 * - No Bitcoin program must read the filter: `gcs` and `golomb` find a key
 *   without reading all keys before it, and keep any rate.
 *
 * COST
 *
 * 21 bits per key, at a fixed rate of 1/784931. A lookup reads all gaps from
 * the beginning. A batch sorts 1024 keys at a time and reads the gaps once for
 * all of them.
 *
 * THE PICTURE
 *
 *      | N | gap | gap | … | gap | 0 … |
 *      0   1, 3, 5 or 9                end
 *
 * IMAGE
 *
 *      geometry 0   N, different keys
 *      geometry 1   the last 64 bits of the block's hash as it is written, the
 *                   first half of the key of the hashes
 *      geometry 2   the 64 bits before them, the second half
 *      payload      N, in 1, 3, 5 or 9 bytes: below fd one byte, else fd, fe or
 *                   ff and 2, 4 or 8 bytes, the lowest first; then bits, the
 *                   highest of a byte first: for each key, in rising order of
 *                   their values, the gap g to the one before as g / 2^19 ones,
 *                   a zero, and 19 bits; zeros to the end of the byte
 *
 *      Valid if and only if N takes as few bytes as possible, the stream has N
 *      gaps and ends in the last byte with zeros, the values are below 784931
 *      N, and N is that of the geometry.
 *
 * MATHS
 *
 * An absent key is found with probability 1/784931. A key takes 21.05 bits: 19
 * bits, the one that ends the unary part, and 1.05 of the unary part on
 * average. A repeated key is stored once.
 *
 * THE VALUE OF A KEY
 *
 * The value is SipHash-2-4 of the script with that key, times 784931 N / 2^64.
 *
 * PAPERS
 *
 *  [Putze, Sanders & Singler 2007]  Cache-, hash- and space-efficient Bloom
 *                                   filters, WEA. Golomb-coded sets.
 *  [BIP 158]  Osuntokun & Akselrod, Compact block filters for light clients,
 *             2017.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "base/platform.h"
#include "base/task.h"
#include "bits/sort.h"

enum {
    BIP158_VERSION = 1,
    BIP158_N = 0, BIP158_LOW = 1, BIP158_HIGH = 2,      /* geometry          */
    BIP158_OPTION_BLOCK = 0, BIP158_OPTION_HIGH = 1,
    BIP158_P = 19, BIP158_LEAST = BIP158_P + 1,         /* bits of a gap     */
    BIP158_SIZE_MOST = 9,               /* bytes of N                        */
    BIP158_NUMBER = 10, BIP158_BATCH = 1 << BIP158_NUMBER
};

#define BIP158_M     UINT64_C(784931)
#define BIP158_N_MAX (UINT64_C(1) << 32)

static const kind_option bip158_options[] = {
    [BIP158_OPTION_BLOCK] = {
        .name = "block", .help = "the hash of the block, as it is written",
        .standard = KIND_CHOOSE, .high = BIP158_OPTION_HIGH },
    { .name = NULL },
};

/* ---- Numbers ----------------------------------------------------------- */

/* Bytes in which N is written. */
static size_t bip158_size_bytes(uint64_t n)
{
    return n < 0xFD ? 1 : n <= 0xFFFF ? 3 : n <= UINT32_MAX ? 5 : 9;
}

static void bip158_set_size(uint8_t *file, uint64_t n)
{
    size_t bytes = bip158_size_bytes(n);
    file[0] = (uint8_t)(bytes == 1 ? n : bytes == 3 ? 0xFD
                                   : bytes == 5 ? 0xFE : 0xFF);
    for (size_t i = 1; i < bytes; i++)
        file[i] = (uint8_t)(n >> 8 * (i - 1));
}

/* False: cut short, or in more bytes than it needs. */
static bool bip158_size(uint64_t *n, const uint8_t *file, uint64_t bytes)
{
    *n = bytes > 0 ? file[0] : 0;
    if (bytes == 0 || *n < 0xFD)
        return bytes > 0;
    size_t width = (size_t)1 << (*n - 0xFC);
    *n = 0;
    for (size_t i = 0; i < width && i + 1 < bytes; i++)
        *n |= (uint64_t)file[1 + i] << 8 * i;
    return bytes > width && bip158_size_bytes(*n) == 1 + width;
}

/* ---- The stream -------------------------------------------------------- */

typedef struct {
    const uint8_t *bits;
    uint64_t       at, end;             /* in bits                           */
    uint64_t       value;               /* of the last key                   */
} bip158_stream;

static bip158_stream bip158_start(const uint8_t *file, uint64_t bytes,
                                  uint64_t n)
{
    size_t head = bip158_size_bytes(n);
    return (bip158_stream){
        .bits = file + head,
        .end = bytes > head ? 8 * (bytes - head) : 0,
    };
}

static unsigned bip158_bit(bip158_stream *s)
{
    unsigned byte = s->bits[s->at / 8];
    unsigned bit = byte >> (7 - s->at % 8) & 1;
    s->at++;
    return bit;
}

static uint64_t bip158_eight(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48
         | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32
         | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16
         | (uint64_t)p[6] << 8  | (uint64_t)p[7];
}

/* Returns the next 57 bits or more, the first one highest, and zeros behind the
 * end. */
static uint64_t bip158_word(const bip158_stream *s)
{
    const uint8_t *p = s->bits + s->at / 8;
    uint64_t word = 0, bytes = (s->end - s->at + 7) / 8;
    if (bytes >= 8)
        word = bip158_eight(p);
    else
        for (uint64_t i = 0; i < bytes; i++)
            word |= (uint64_t)p[i] << (56 - 8 * i);
    return word << s->at % 8;
}

/* Moves behind that many bits, or to the end. */
static void bip158_skip(bip158_stream *s, uint64_t n)
{
    s->at = n < s->end - s->at ? s->at + n : s->end;
}

/* The next key's value; false: the stream ends before. */
static bool bip158_next(bip158_stream *s)
{
    uint64_t high = 0, word = bip158_word(s);
    for (; word >> 32 == UINT32_MAX; word = bip158_word(s)) {
        high += 32;
        bip158_skip(s, 32);
    }
    unsigned ones = platform_leading_zeros(~word);
    bip158_skip(s, ones + 1);
    if (s->end - s->at < BIP158_P)
        return false;
    s->at += BIP158_P;
    s->value += ((high + ones) << BIP158_P)
              + (word << (ones + 1) >> (64 - BIP158_P));
    return true;
}

/* ---- The file ---------------------------------------------------------- */

static bly_status bip158_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a block filter of BIP 158: byte "
                       "%llu: %s: fetch it again, or name another format",
                       (unsigned long long)at, what);
}

static bly_status bip158_check_stream(const uint8_t *file, uint64_t bytes,
                                      uint64_t n)
{
    size_t head = bip158_size_bytes(n);
    bip158_stream s = bip158_start(file, bytes, n);
    for (uint64_t i = 0; i < n; i++)
        if (!bip158_next(&s) || s.value >= n * BIP158_M)
            return bip158_wrong(head + s.at / 8, "the keys end, or leave their "
                                "range, before their number is reached");
    if (s.end - s.at >= 8)
        return bip158_wrong(head + (s.at + 7) / 8, "there are bytes after the "
                            "last key");
    while (s.at < s.end)
        if (bip158_bit(&s) != 0)
            return bip158_wrong(bytes - 1, "the bits after the last key are "
                                "not 0");
    return BLY_OK;
}

static bly_status bip158_read(kind_found *out, const uint8_t *file,
                              uint64_t bytes)
{
    uint64_t n = 0;
    if (!bip158_size(&n, file, bytes))
        return bip158_wrong(0, "the number of keys is cut short, or takes more "
                            "bytes than it needs");
    if (n > BIP158_N_MAX || n > 8 * bytes / BIP158_LEAST)
        return bip158_wrong(0, "it has more keys than its bytes allow");
    bly_status status = bip158_check_stream(file, bytes, n);
    if (status != BLY_OK)
        return status;
    *out = (kind_found){
        .capacity = n, .items = n,
        .rate = n > 0 ? 1 / (double)BIP158_M : 0, .geometry = { n },
    };
    return BLY_OK;
}

static bly_status bip158_told(uint64_t *geometry, const uint64_t *option)
{
    if (option[BIP158_OPTION_BLOCK] == KIND_CHOOSE)
        return status_fail(BLY_EPARAM, "a block filter does not name its "
                           "block: give bip158:block=HASH, with the 64 digits "
                           "of the block's hash");
    geometry[BIP158_LOW] = option[BIP158_OPTION_BLOCK];
    geometry[BIP158_HIGH] = option[BIP158_OPTION_HIGH];
    return BLY_OK;
}

static uint64_t bip158_hash(const void *key, size_t length, hash_seed seed)
{
    return hash_siphash(key, length, seed);
}

static void bip158_hasher(kind_hasher *out, const uint64_t *geometry)
{
    *out = (kind_hasher){
        .function = bip158_hash,
        .seed = { geometry[BIP158_LOW], geometry[BIP158_HIGH] },
    };
}

static uint64_t bip158_reach(const uint64_t *geometry)
{
    uint64_t n = geometry[BIP158_N];
    return n > BIP158_N_MAX ? UINT64_MAX : bip158_size_bytes(n);
}

static const kind_foreign bip158_foreign = {
    .writer = "Bitcoin nodes: compact block filters (BIP 158)",
    .numbers = {
        { "items", NULL },
        { "hash, end", "64 bits of the block's hash" },
        { "hash, middle", "64 bits before them" },
    },
    .read   = bip158_read,
    .reach  = bip158_reach,
    .plans  = true,
    .told   = bip158_told,
    .fields = 1u << BIP158_LOW | 1u << BIP158_HIGH,
    .hasher = bip158_hasher,
};

static bly_status bip158_check(const void *image)
{
    return kind_check_foreign(image, &bip158_foreign);
}

/* ---- Build ------------------------------------------------------------- */

/* 20 bits a key, and as many ones as the last value has 2^19: 1.5 a key. */
static uint64_t bip158_room(uint64_t n)
{
    return BIP158_SIZE_MOST + (22 * n + 7) / 8;
}

static bly_status bip158_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity;
    if (n > BIP158_N_MAX)
        return kind_too_big(spec, "2^32 keys");
    bly_status status = bip158_told(plan->geometry, spec->option);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bip158_room(n));
    plan->capacity = n + (n == 0);
    plan->scratch = n * sizeof(uint64_t);
    plan->rate = 1 / (double)BIP158_M;
    plan->fill = 1;
    plan->probes = 1;
    plan->lines_present = plan->lines_absent
                        = ceil(21.05 * (double)n / 1024 + 1);
    plan->geometry[BIP158_N] = n;
    return status;
}

/* Bits that are to be written are all 0 before. */
static void bip158_put(uint8_t *bits, uint64_t *at, uint64_t gap)
{
    for (uint64_t ones = gap >> BIP158_P; ones > 0; ones--, ++*at)
        bits[*at / 8] |= (uint8_t)(0x80 >> *at % 8);
    ++*at;
    for (int i = BIP158_P - 1; i >= 0; i--, ++*at)
        if ((gap >> i & 1) != 0)
            bits[*at / 8] |= (uint8_t)(0x80 >> *at % 8);
}

static bly_status bip158_build(void *image, const kind_keys *keys,
                               const kind_bench *bench)
{
    uint64_t *hashes = bench->scratch, at = 0, before = 0;
    uint8_t *file = image_payload_mut(image);
    size_t n = 0;
    if (keys->n > 0)
        memcpy(hashes, keys->hashes, keys->n * sizeof *hashes);
    sort_heap(hashes, keys->n);
    if (task_cancelled())
        return task_status();
    for (size_t i = 0; i < keys->n; i++)
        if (n == 0 || hashes[i] != hashes[n - 1])
            hashes[n++] = hashes[i];
    size_t head = bip158_size_bytes(n);
    bip158_set_size(file, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = platform_mul_high(hashes[i], n * BIP158_M);
        bip158_put(file + head, &at, value - before);
        before = value;
    }
    image_set_u64(image, IMAGE_BYTES, IMAGE_HEADER + head + (at + 7) / 8);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * BIP158_N, n);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static bool bip158_contains(const void *image, uint64_t hash)
{
    uint64_t n = image_geometry(image, BIP158_N);
    uint64_t value = platform_mul_high(hash, n * BIP158_M);
    bip158_stream s = bip158_start(image_payload(image),
                                   image_payload_bytes(image), n);
    for (uint64_t i = 0; i < n && bip158_next(&s); i++)
        if (s.value >= value)
            return s.value == value;
    return false;
}

/* Sorts the values, with the number of each key in the lowest bits, so that the
 * stream is read once. */
static void bip158_group(const void *image, const uint64_t *hashes, size_t n,
                         bool *present)
{
    uint64_t all = image_geometry(image, BIP158_N), left = all;
    uint64_t order[BIP158_BATCH];
    bip158_stream s = bip158_start(image_payload(image),
                                   image_payload_bytes(image), all);
    bool more = left > 0 && bip158_next(&s);
    for (size_t i = 0; i < n; i++)
        order[i] = platform_mul_high(hashes[i], all * BIP158_M) << BIP158_NUMBER
                 | i;
    sort_heap(order, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = order[i] >> BIP158_NUMBER;
        while (more && s.value < value)
            more = --left > 0 && bip158_next(&s);
        present[order[i] % BIP158_BATCH] = more && s.value == value;
    }
}

static void bip158_contains_many(const void *image, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < BIP158_BATCH ? n - i : BIP158_BATCH;
        bip158_group(image, hashes + i, some, present + i);
    }
}

static void bip158_stat(bly_info_t *out, const void *image)
{
    uint64_t n = image_geometry(image, BIP158_N);
    out->distinct = (double)n;
    out->distinct_sd = 0;
    out->fill = n > 0;
    out->rate = n > 0 ? 1 / (double)BIP158_M : 0;
    out->probes = 1;
}

static const kind_building bip158_building = {
    .build = bip158_build,
};

const bly_kind bly_kind_bip158 = {
    .name    = "bip158",
    .family  = "foreign",
    .summary = "a Bitcoin block's compact filter",
    .version = BIP158_VERSION,
    .options = bip158_options,

    .plan  = bip158_plan,
    .check = bip158_check,
    .stat  = bip158_stat,

    .contains      = bip158_contains,
    .contains_many = bip158_contains_many,

    .building = &bip158_building,
    .foreign  = &bip158_foreign,
};
