/* valkey.c - the Bloom filter of Valkey's module, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is DATA of the command BF.LOAD, byte for byte, with which a
 * server of Valkey with the module valkey-bloom writes a filter to its file of
 * commands (AOF) and to its replicas. Such an object is a chain of Bloom
 * filters: when the last one is full, one for more keys is added.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect Bloom filters that a Valkey server holds, or to make one
 * that it loads:
 *
 *      valkey-cli config set rdbcompression no
 *      valkey-cli --raw dump seen > seen.dump
 *      bloomery query seen.dump keys
 *
 *      bloomery build -k valkey -p 0.01 -o seen.valkey keys
 *      valkey-cli -x BF.LOAD seen < seen.valkey
 *
 * WHEN NOT TO
 *
 * - No Valkey server must read the filter: `scalable` is the same idea, or
 *   `standard` if the number of keys is known.
 * - The server runs Redis: its module's filters are of kind `redisbloom`.
 * - The server must take a filter of more than 128 MiB: see its setting
 *   bf.bloom-memory-usage-limit.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.6                  7                  2
 *      0.1 %        14.4                 10                  2
 *
 * These are for the first filter of a chain. A lookup computes two hashes; an
 * absent key is looked up in every filter. With the module's settings, a chain
 * that has grown errs about twice as often as requested, so give the number of
 * keys if you know it.
 *
 * THE PICTURE
 *
 *      | 30 bytes | length | numbers, 45 | bits | keys, 16 | length | …
 *      0          30       filter 0                        filter 1
 *
 * IMAGE
 *
 *      geometry 0   filters, 1 .. 1100
 *      geometry 1   expansion
 *      geometry 2   the first 8 bytes of the seed
 *      geometry 3   1 if the seed is random
 *      payload      all numbers have the lowest byte first
 *         0   1     version, 1
 *         1   4     expansion: how many times as many keys the next filter is
 *                   for; 0: the chain does not grow
 *         5   8     p, the rate of the first filter, a double, 0 < p < 1
 *        13   8     t, by which the rate of each further filter is multiplied,
 *                   a double, 0 < t < 1
 *        21   1     1 if the seed is random, 0 if it is the module's own
 *        22   8     filters
 *      of each filter
 *         0   8     45 + b
 *         8   1     version, 1
 *         9   8     b, bytes of bits, 1 .. 2^37
 *        17   4     k, probes, 1 .. 1100
 *        21  32     the seed: two keys of SipHash, equal in all filters
 *        53   b     bits; bit i is bit (i mod 8) of byte i / 8
 *         …   8     keys that were new when they were added
 *         …   8     keys it is planned for, 1 .. 2^63 - 1; no fewer than those
 *
 *      Valid if and only if the fields are as above, the last filter ends with
 *      the payload, and the geometry is what the file says.
 *
 * MATHS
 *
 * Filter i has rate p t^i and expansion^i times as many keys as the first. b
 * and k are those of the crate `bloomfilter` of Rust, as for kind `rustbloom`,
 * and so is the correction of the rate for positions that are a progression
 * (src/maths/strides.h). The module's own settings are 100 keys, a rate of
 * 0.01, expansion 2 and tightening 0.5; `build` takes the number of keys that
 * it is given. No filter has a rate below 2^-1022, so that a chain whose rates
 * are halved has at most 1022 filters.
 *
 * THE BITS OF A KEY
 *
 * a and b are SipHash-1-3, by the first and by the second half of the seed, of
 * the length of the key in 8 bytes and then the key. In a filter of m bits
 * these are a mod m, b mod m and then, for i = 2 .. k - 1, c mod (2^64 - 59)
 * mod m, where c is a + i b modulo 2^64. A key is present if it is in any
 * filter. A new key is added to the last one.
 *
 * FROM A SERVER
 *
 * The value that DUMP returns has the fields of the payload in another form;
 * `bloomery convert --to valkey seen.dump seen.valkey` makes one of it. With
 * rdbcompression yes, the server compresses bits of which few or many are set,
 * and such a dump is refused. A file of commands has the payload itself, behind
 * "BF.LOAD", the key and the number of its bytes; BGREWRITEAOF writes one if
 * aof-use-rdb-preamble is no.
 *
 * The test files were written by the crates that the module is made of,
 * bloomfilter 3.0.1 and bincode 1.3.3, from a structure with the module's
 * fields. Redis 7.0.15 dumped them, with a module that saves these fields as
 * valkey-bloom does. The module valkey-bloom itself was not run: no server has
 * loaded a filter of ours.
 *
 * PAPERS
 *
 *  [Almeida et al. 2007]  Scalable Bloom filters, IPL 101(6).
 */
#include "image/kind_foreign.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bodies/chains.h"
#include "bodies/siprow.h"

enum {
    VALKEY_VERSION = 1,
    VALKEY_FILTERS = 0, VALKEY_EXPANSION = 1, VALKEY_SEED = 2,
    VALKEY_RANDOM = 3,                  /* fields of the geometry            */
    VALKEY_OPTION_EXPANSION = 0, VALKEY_OPTION_TIGHTENING = 1,
    VALKEY_OPTION_SEED = 2,
    VALKEY_AT_EXPANSION = 1, VALKEY_AT_RATE = 5, VALKEY_AT_TIGHTENING = 13,
    VALKEY_AT_RANDOM = 21, VALKEY_AT_FILTERS = 22,
    VALKEY_HEAD = 30,
    VALKEY_LENGTH = 8,                  /* bytes of the length of a row      */
    VALKEY_FRONT = VALKEY_LENGTH + SIPROW_HEAD,
    VALKEY_COUNTS = 16,                 /* bytes of items and capacity       */
    VALKEY_BESIDE = VALKEY_FRONT + VALKEY_COUNTS,
    VALKEY_LEAST = VALKEY_HEAD + VALKEY_BESIDE + 1,
    VALKEY_AT_KEYS = VALKEY_HEAD + VALKEY_LENGTH + SIPROW_AT_KEYS,
    VALKEY_FILTERS_MAX = 1100,          /* halving has rates for 1022       */
    VALKEY_K_MAX = 1100                 /* above what the least rate has     */
};

/* The seed of a server whose bloom-use-random-seed is no. */
static const uint64_t valkey_seed[] = {
    UINT64_C(0xDA1178EA22F50F59), UINT64_C(0xD97B3E3B09D814A7),
    UINT64_C(0x8788983E738A891D), UINT64_C(0x83330728CD977F30),
};

static const kind_option valkey_options[] = {
    [VALKEY_OPTION_EXPANSION] = {
        .name = "expansion", .help = "how many times as many keys the next "
                                     "filter is for; 0: it does not grow, as "
                                     "with NONSCALING",
        .least = 0, .most = UINT32_MAX, .standard = 2 },
    [VALKEY_OPTION_TIGHTENING] = {
        .name = "tightening", .help = "by how many thousandths the rate of the "
                                      "next filter is multiplied",
        .least = 1, .most = 999, .standard = 500 },
    [VALKEY_OPTION_SEED] = {
        .name = "seed", .help = "a number that seeds the hashes; otherwise "
                                "they have the module's own seed",
        .least = 0, .most = UINT64_MAX - 1, .standard = KIND_CHOOSE },
    { .name = NULL },
};

/* ---- Filters of a chain ------------------------------------------------- */

/* A walk from the first filter to the last. */
typedef struct {
    const uint8_t *file;
    uint64_t left;                      /* filters                           */
    size_t   at, end;                   /* of the next one; of the file      */
    size_t   last;                      /* the one that is reached           */
} valkey_walk;

static valkey_walk valkey_start(const void *image)
{
    return (valkey_walk){
        .file = image_payload(image),
        .left = image_geometry(image, VALKEY_FILTERS),
        .at = VALKEY_HEAD, .end = image_payload_bytes(image),
    };
}

/* Returns the bytes of bits of the filter at a place, if they fit between it
 * and the end; 0 if not: it may have changed after it was checked. */
static uint64_t valkey_bytes(const uint8_t *file, size_t at, size_t end)
{
    if (end < VALKEY_BESIDE || at > end - VALKEY_BESIDE)
        return 0;
    uint64_t bytes = image_u64(file, at + VALKEY_LENGTH + SIPROW_AT_BYTES);
    return bytes <= end - at - VALKEY_BESIDE ? bytes : 0;
}

/* Returns the bits of this filter. One that does not fit has none, and then all
 * keys are there. */
static probes_row valkey_row(const uint8_t *file, size_t at, size_t end)
{
    uint64_t bytes = valkey_bytes(file, at, end);
    if (bytes == 0)
        return (probes_row){ .row = probes_bytes(file), .m = 1 };
    uint32_t k = image_u32(file, at + VALKEY_LENGTH + SIPROW_AT_K);
    const uint64_t geometry[] = { 8 * bytes,
                                  k < VALKEY_K_MAX ? k : VALKEY_K_MAX };
    return (probes_row){
        .row = probes_bytes(file + at + VALKEY_FRONT), .bytes = (size_t)bytes,
        .m = geometry[ROWFILE_M], .k = geometry[ROWFILE_K],
        .inverse = probes_inverse(geometry[ROWFILE_M]),
        .from = siprow_strides(geometry),
    };
}

/* chains_walk. */
static bool valkey_next(void *context, probes_row *row)
{
    valkey_walk *walk = context;
    if (walk->left == 0)
        return false;
    *row = valkey_row(walk->file, walk->at, walk->end);
    walk->last = walk->at;
    walk->left = row->bytes > 0 ? walk->left - 1 : 0;
    walk->at += VALKEY_BESIDE + row->bytes;
    return true;
}

/* Returns where the counts of the filter are that a walk has reached. */
static size_t valkey_counts(const valkey_walk *walk)
{
    return walk->at - VALKEY_COUNTS;
}

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number valkey_numbers[] = {
    { "the version", 0, 1, false, ROWFILE_VERSION, 1, 1, 1, 0 },
    { "the expansion", VALKEY_AT_EXPANSION, 4, false, VALKEY_EXPANSION, 1,
      0, UINT32_MAX, 0 },
    { "the rate", VALKEY_AT_RATE, 8, false, ROWFILE_RATE, 1, 0, 0, 0 },
    { "the tightening", VALKEY_AT_TIGHTENING, 8, false, ROWFILE_RATE, 1,
      0, 0, 0 },
    { "the mark of a random seed", VALKEY_AT_RANDOM, 1, false, VALKEY_RANDOM,
      1, 0, 1, 0 },
    { "the number of filters", VALKEY_AT_FILTERS, 8, false, VALKEY_FILTERS, 1,
      1, VALKEY_FILTERS_MAX, 0 },
    { .name = NULL },
};

static const rowfile valkey_head = {
    .what = "a filter of Valkey", .numbers = valkey_numbers,
};

/* Returns what is said of the row that begins here. */
static rowfile valkey_row_file(uint64_t from)
{
    return (rowfile){
        .what = "a filter of Valkey", .from = from, .numbers = siprow_numbers,
        .head = SIPROW_HEAD, .unit = 1, .m_most = SIPROW_M_MAX,
    };
}

static bool valkey_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    kind_found found;
    (void)all;
    return n >= VALKEY_LEAST
        && rowfile_numbers(&valkey_head, &found, bytes) == BLY_OK
        && bytes[VALKEY_HEAD + VALKEY_LENGTH] == 1
        && image_u32(bytes, VALKEY_HEAD + VALKEY_LENGTH + SIPROW_AT_K) > 0
        && image_u64(bytes, VALKEY_HEAD)
           == image_u64(bytes, VALKEY_HEAD + VALKEY_LENGTH + SIPROW_AT_BYTES)
              + SIPROW_HEAD;
}

/* Checks what is in front of the bits of the filter at a place, and that they
 * end where its length says. */
static bly_status valkey_check_row(const uint8_t *file, uint64_t at,
                                   uint64_t bytes)
{
    rowfile row = valkey_row_file(at + VALKEY_LENGTH);
    kind_found found;
    if (bytes - at < VALKEY_BESIDE
        || image_u64(file, at) > bytes - at - VALKEY_LENGTH - VALKEY_COUNTS)
        return rowfile_wrong(&valkey_head, at, "this filter ends beyond the "
                             "file");
    bly_status status = rowfile_read(&row, &found, file + at + VALKEY_LENGTH,
                                     image_u64(file, at));
    if (status != BLY_OK)
        return status;
    if (found.geometry[ROWFILE_K] > VALKEY_K_MAX)
        return rowfile_wrong(&row, SIPROW_AT_K, "there are more than 1100 hash "
                             "functions");
    return memcmp(file + at + VALKEY_LENGTH + SIPROW_AT_KEYS,
                  file + VALKEY_AT_KEYS, SIPROW_KEYS) == 0 ? BLY_OK
         : rowfile_wrong(&row, SIPROW_AT_KEYS, "the seed is not that of the "
                         "first filter");
}

/* Takes the counts at a place. */
static bly_status valkey_take(kind_found *out, const uint8_t *file, uint64_t at)
{
    uint64_t items = image_u64(file, at), capacity = image_u64(file, at + 8);
    if (capacity < 1 || capacity > INT64_MAX)
        return rowfile_wrong(&valkey_head, at + 8, "the capacity is not 1 .. "
                             "2^63 - 1");
    if (items > capacity)
        return rowfile_wrong(&valkey_head, at, "it has more keys than its "
                             "capacity");
    out->items += items;
    if (!sizes_add(&out->capacity, out->capacity, capacity))
        out->capacity = UINT64_MAX;
    return BLY_OK;
}

static bly_status valkey_read(kind_found *out, const uint8_t *file,
                              uint64_t bytes)
{
    uint64_t at = VALKEY_HEAD;
    *out = (kind_found){ .items = 0 };
    if (bytes < VALKEY_LEAST)
        return status_fail(BLY_ECORRUPT, "read as a filter of Valkey, which "
                           "has at least %d bytes, but there are %llu: it is "
                           "cut short: fetch it again", VALKEY_LEAST,
                           (unsigned long long)bytes);
    bly_status status = rowfile_numbers(&valkey_head, out, file);
    for (uint64_t i = 0; status == BLY_OK && i < out->geometry[VALKEY_FILTERS];
         i++) {
        status = valkey_check_row(file, at, bytes);
        if (status != BLY_OK)
            return status;
        at += VALKEY_LENGTH + image_u64(file, at) + VALKEY_COUNTS;
        status = valkey_take(out, file, at - VALKEY_COUNTS);
    }
    out->geometry[VALKEY_SEED] = image_u64(file, VALKEY_AT_KEYS);
    return status != BLY_OK || at == bytes ? status
         : rowfile_wrong(&valkey_head, at, "there are bytes after the last "
                         "filter");
}

/* The rate that filters have when each is full. */
static double valkey_rate(const kind_found *found, const uint8_t *file)
{
    double none = 0;
    uint64_t at = VALKEY_HEAD;
    for (uint64_t i = 0; i < found->geometry[VALKEY_FILTERS]; i++) {
        uint64_t bytes = image_u64(file, at) - SIPROW_HEAD;
        const uint64_t row[] = {
            8 * bytes, image_u32(file, at + VALKEY_LENGTH + SIPROW_AT_K),
        };
        strides s = siprow_strides(row);
        at += VALKEY_BESIDE + bytes;
        none += log1p(-strides_rate(&s, image_u64(file, at - 8)).rate);
    }
    return -expm1(none);
}

static uint64_t valkey_reach(const uint64_t *geometry)
{
    uint64_t filters = geometry[VALKEY_FILTERS];
    return filters < 1 || filters > VALKEY_FILTERS_MAX ? UINT64_MAX
         : VALKEY_HEAD + (VALKEY_BESIDE + 1) * filters;
}

static const kind_foreign valkey_foreign = {
    .writer = "Valkey's module valkey-bloom: the data of BF.LOAD",
    .numbers = {
        { "filters", NULL },
        { "expansion", NULL },
        { "seed", NULL },
        { "random", "1 if the seed is random" },
    },
    .looks  = valkey_looks,
    .read   = valkey_read,
    .rate   = valkey_rate,
    .reach  = valkey_reach,
    .plans  = true,
};

static bly_status valkey_check(const void *image)
{
    return kind_check_foreign(image, &valkey_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

typedef struct { uint64_t bytes, k, capacity; } valkey_filter;

/* False: none is so large. */
static bool valkey_size(valkey_filter *out, uint64_t n, double rate)
{
    uint64_t row[2];
    siprow_size(row, n, rate);
    *out = (valkey_filter){ row[ROWFILE_M] / 8, row[ROWFILE_K], n };
    return row[ROWFILE_M] <= SIPROW_M_MAX && n <= INT64_MAX;
}

static void valkey_write(uint8_t *at, const valkey_filter *filter,
                         const uint8_t *keys)
{
    uint8_t *row = at + VALKEY_LENGTH, *behind = row + SIPROW_HEAD
                                               + filter->bytes;
    image_set_u64(at, 0, SIPROW_HEAD + filter->bytes);
    row[0] = 1;
    image_set_u64(row, SIPROW_AT_BYTES, filter->bytes);
    image_set_u32(row, SIPROW_AT_K, (uint32_t)filter->k);
    memcpy(row + SIPROW_AT_KEYS, keys, SIPROW_KEYS);
    image_set_u64(behind, 8, filter->capacity);
}

static bly_status valkey_plan(bly_plan_t *plan, const kind_spec *spec)
{
    valkey_filter filter;
    uint64_t seed = spec->option[VALKEY_OPTION_SEED];
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!valkey_size(&filter, spec->capacity, spec->rate))
        return kind_too_big(spec, "2^37 bytes");
    bly_status status = kind_plan_bytes(plan, VALKEY_HEAD + VALKEY_BESIDE
                                              + filter.bytes);
    if (status != BLY_OK)
        return status;
    const uint64_t row[] = { 8 * filter.bytes, filter.k };
    strides s = siprow_strides(row);
    rows_plan_strides(plan, &s, spec->capacity, filter.bytes);
    plan->geometry[VALKEY_FILTERS] = 1;
    plan->geometry[VALKEY_EXPANSION] = spec->option[VALKEY_OPTION_EXPANSION];
    plan->geometry[VALKEY_SEED] = seed == KIND_CHOOSE ? valkey_seed[0] : seed;
    plan->geometry[VALKEY_RANDOM] = seed != KIND_CHOOSE;
    return BLY_OK;
}

static bly_status valkey_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image), keys[SIPROW_KEYS];
    bool random = image_geometry(image, VALKEY_RANDOM) == 1;
    double tightening = (double)spec->option[VALKEY_OPTION_TIGHTENING] / 1000;
    valkey_filter filter;
    (void)valkey_size(&filter, spec->capacity, spec->rate);
    image_set_u64(keys, 0, image_geometry(image, VALKEY_SEED));
    for (size_t i = 1; i < 4; i++)
        image_set_u64(keys, 8 * i, random ? i : valkey_seed[i]);
    file[0] = 1;
    image_set_u32(file, VALKEY_AT_EXPANSION,
                  (uint32_t)image_geometry(image, VALKEY_EXPANSION));
    image_set_f64(file, VALKEY_AT_RATE, spec->rate);
    image_set_f64(file, VALKEY_AT_TIGHTENING, tightening);
    file[VALKEY_AT_RANDOM] = random;
    image_set_u64(file, VALKEY_AT_FILTERS, 1);
    valkey_write(file + VALKEY_HEAD, &filter, keys);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static uint64_t valkey_place(const probes_row *row, probes_key *key, uint64_t i)
{
    return siprow_place(row, key, i);
}

static void valkey_hash(uint64_t h[2], const void *image, const void *key,
                        size_t length)
{
    siprow_hash(h, image_payload(image) + VALKEY_AT_KEYS, key, length,
                HASH_RUST_BYTES);
}

static bool valkey_contains_key(const void *image, uint64_t hash,
                                const void *bytes, size_t length)
{
    valkey_walk walk = valkey_start(image);
    uint64_t h[2];
    (void)hash;
    valkey_hash(h, image, bytes, length);
    return chains_have(&walk, valkey_next, h, valkey_place);
}

static void valkey_contains_keys(const void *image, const uint64_t *hashes,
                                 const bly_key *keys, size_t n, bool *present)
{
    (void)hashes;
    for (size_t i = 0, some; i < n; i += some) {
        valkey_walk walk = valkey_start(image);
        chains_keys of;
        some = n - i < PROBES_GROUP ? n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++)
            valkey_hash(of.h[j], image, keys[i + j].data, keys[i + j].length);
        chains_start(&of, some, present + i);
        chains_group(&walk, valkey_next, &of, present + i, valkey_place);
    }
}

static bly_status valkey_add_key(void *image, uint64_t hash, const void *bytes,
                                 size_t length)
{
    valkey_walk walk = valkey_start(image);
    uint64_t h[2];
    (void)hash;
    valkey_hash(h, image, bytes, length);
    if (chains_have(&walk, valkey_next, h, valkey_place))
        return BLY_SEEN;
    uint8_t *counts = image_payload_mut(image) + valkey_counts(&walk);
    uint64_t items = image_u64(counts, 0);
    if (items >= image_u64(counts, 8))
        return BLY_EFULL;
    probes_row row = valkey_row(walk.file, walk.last, walk.end);
    image_set_u64(counts, 0, items + 1);
    return chains_put(&row, h, valkey_place);
}

/* ---- Growth ------------------------------------------------------------ */

/* Returns a power in the order of multiplications of Rust's powi, so that it is
 * the same to the last bit. */
static double valkey_power(double x, uint64_t n)
{
    double power = 1;
    for (; n > 0; n /= 2, x *= x)
        power *= n % 2 == 1 ? x : 1;
    return power;
}

/* Returns the sum of the capacities, and the last one. */
static uint64_t valkey_capacity(const void *image, uint64_t *last)
{
    valkey_walk walk = valkey_start(image);
    probes_row row;
    uint64_t sum = 0;
    *last = 0;
    while (valkey_next(&walk, &row)) {
        if (row.bytes > 0)
            *last = image_u64(walk.file, valkey_counts(&walk) + 8);
        if (!sizes_add(&sum, sum, *last))
            sum = UINT64_MAX;
    }
    return sum;
}

/* The filter behind the last. BLY_EFULL, BLY_ETOOBIG. */
static bly_status valkey_more(valkey_filter *out, const void *image)
{
    const uint8_t *file = image_payload(image);
    uint64_t filters = image_geometry(image, VALKEY_FILTERS), last, n = 0;
    uint64_t expansion = image_geometry(image, VALKEY_EXPANSION);
    double rate = image_f64(file, VALKEY_AT_RATE)
                * valkey_power(image_f64(file, VALKEY_AT_TIGHTENING), filters);
    (void)valkey_capacity(image, &last);
    if (expansion == 0)
        return status_fail(BLY_EFULL, "the filter is full and does not grow: "
                           "build one for more keys, or with expansion=2");
    if (filters == VALKEY_FILTERS_MAX || !(rate > DBL_MIN)
        || !sizes_mul(&n, last, expansion) || !valkey_size(out, n, rate))
        return status_fail(BLY_ETOOBIG, "the filter is full, and its next part "
                           "would be too large, or its rate too low: build one "
                           "for more keys");
    return BLY_OK;
}

static bly_status valkey_grow_plan(uint64_t *bytes, const void *image)
{
    valkey_filter filter;
    bly_status status = valkey_more(&filter, image);
    if (status != BLY_OK)
        return status;
    *bytes = image_u64(image, IMAGE_BYTES) + VALKEY_BESIDE + filter.bytes;
    return image_check_size(*bytes);
}

static bly_status valkey_grow(void *image, void *scratch)
{
    (void)scratch;
    valkey_filter filter;
    uint8_t *file = image_payload_mut(image);
    uint64_t filters = image_geometry(image, VALKEY_FILTERS);
    bly_status status = valkey_more(&filter, image);
    if (status != BLY_OK)
        return status;
    size_t at = image_payload_bytes(image) - VALKEY_BESIDE
              - (size_t)filter.bytes;
    valkey_write(file + at, &filter, file + VALKEY_AT_KEYS);
    image_set_u64(file, VALKEY_AT_FILTERS, filters + 1);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * VALKEY_FILTERS, filters + 1);
    return BLY_OK;
}

/* ---- Statistics -------------------------------------------------------- */

static void valkey_restart(void *walk, const void *image)
{
    *(valkey_walk *)walk = valkey_start(image);
}

static void valkey_stat(bly_info_t *out, const void *image)
{
    valkey_walk walk;
    uint64_t filters = image_geometry(image, VALKEY_FILTERS), last;
    chains_stat(out, image, &(chains){
        .rows = filters, .walk = &walk, .start = valkey_restart,
        .next = valkey_next, .place = valkey_place,
    });
    if (filters > 1)
        out->capacity = valkey_capacity(image, &last);
}

static const kind_whole valkey_whole = {
    .contains      = valkey_contains_key,
    .contains_many = valkey_contains_keys,
    .add           = valkey_add_key,
};

static const kind_growing valkey_growing = {
    .plan = valkey_grow_plan,
    .grow = valkey_grow,
};

const bly_kind bly_kind_valkey = {
    .name    = "valkey",
    .family  = "foreign",
    .summary = "the growing Bloom filter of Valkey's module",
    .version = VALKEY_VERSION,
    .options = valkey_options,

    .plan   = valkey_plan,
    .format = valkey_format,
    .check  = valkey_check,
    .stat   = valkey_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole   = &valkey_whole,
    .growing = &valkey_growing,
    .foreign = &valkey_foreign,
};
