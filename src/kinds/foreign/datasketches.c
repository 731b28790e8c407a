/* datasketches.c - the Bloom filter of Apache DataSketches, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the serialized Bloom filter of Apache DataSketches (Java, C++,
 * and through them Druid and others), byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that Apache DataSketches has written or will read. A key
 * is the bytes that the library hashes: integers as 8 bytes, the lowest first;
 * floating-point numbers as their 8 bytes, with 7ff8000000000000 for any NaN;
 * strings as UTF-8.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` is faster.
 * - The filter was written without its words because no bit was set: it has no
 *   room for keys. Build another one.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %. A
 * lookup reads 7 or 10 cache lines for a present key, 2 for an absent one. It
 * computes two hashes of the key, and a multiplication per probe.
 *
 * THE PICTURE
 *
 *      | 4 | 1 | 21 | flags | k | 0 | seed | words | 0 | set | w words |
 *      0   1   2    3       4   6   8      16      20  24    32        end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^37 - 64
 *      geometry 1   k, probes, 1 .. 65535
 *      geometry 2   seed
 *      geometry 3   1 if the words are left out because no bit is set; else 0
 *      payload      all numbers have the lowest byte first
 *         0   1     words of 8 bytes before the bits: 3, or 4
 *         1   1     1: version
 *         2   1     21: that it is a Bloom filter
 *         3   1     flags: 4, no bit is set; others have no meaning here
 *         4   2     k
 *         6   2     ignored
 *         8   8     seed
 *        16   4     w, 1 .. 2^31 - 1
 *        20   4     ignored
 *        24   8     bits that are set; 2^64 - 1: not counted
 *        32   8 w   words; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) where flag
 *      4 is set byte 0 is 3 and the payload has 24 bytes, else byte 0 is 4 and
 *      the payload has 32 + 8 w, (3) the geometry says the same.
 *
 * MATHS
 *
 * A filter for n keys at a rate p has b = ceil(-n ln p / (ln 2)^2) bits,
 * rounded up to words, and k = ceil(ln 2 b / n). If -log2 p is a whole number,
 * k is one more than that. These are DataSketches' own sizes, made for
 * independent positions. The positions are a progression, so a small filter has
 * more false positives, which plan, info and a warning of build take into
 * account (src/maths/strides.h). If 0.01 % is requested, the rate is 0.24 % for
 * one key, 0.21 % for 10, 0.022 % for 100, 0.011 % for 1000. A filter stores
 * neither n nor p; for an opened one, n is taken to be m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 *      h0 = XXH64(key, seed), h1 = XXH64(key, h0);  bit i, i = 1 .. k, is
 *      ((h0 + i h1 mod 2^64) / 2, rounded down) mod m
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA. Its two hashes.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"

enum {
    SKETCHES_VERSION = 1,
    SKETCHES_M = 0, SKETCHES_K = 1, SKETCHES_SEED = 2, SKETCHES_BARE = 3,
    SKETCHES_AT_LONGS = 0, SKETCHES_AT_VERSION = 1, SKETCHES_AT_FAMILY = 2,
    SKETCHES_AT_FLAGS = 3, SKETCHES_AT_K = 4, SKETCHES_AT_SEED = 8,
    SKETCHES_AT_WORDS = 16, SKETCHES_AT_SET = 24, SKETCHES_AT_BITS = 32,
    SKETCHES_FAMILY = 21, SKETCHES_EMPTY = 4,
    SKETCHES_LONGS_BARE = 3, SKETCHES_LONGS = 4,
    SKETCHES_BARE_BYTES = 24, SKETCHES_K_MAX = 65535
};

#define SKETCHES_WORDS_MAX ((UINT64_C(1) << 31) - 1)
#define SKETCHES_UNCOUNTED UINT64_MAX

static const kind_option sketches_options[] = {
    { .name = "seed", .help = "a number that seeds the hashes",
      .least = 0, .most = UINT64_MAX - 1, .standard = 0 },
    { .name = NULL },
};

static const double SKETCHES_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static uint64_t sketches_k(const uint8_t *file)
{
    const uint8_t *p = file + SKETCHES_AT_K;
    return (uint64_t)p[0] | (uint64_t)p[1] << 8;
}

static bool sketches_bare(const uint8_t *file)
{
    return (file[SKETCHES_AT_FLAGS] & SKETCHES_EMPTY) != 0;
}

static strides sketches_strides(uint64_t m, uint64_t k)
{
    return (strides){ .m = m, .k = (uint32_t)k, .form = STRIDES_HALVED,
                      .width = 64 };
}

static void sketches_plan_row(bly_plan_t *plan, uint64_t words, uint64_t k,
                              uint64_t n)
{
    strides s = sketches_strides(64 * words, k);
    rows_plan_strides(plan, &s, n, 8 * words);
    plan->geometry[SKETCHES_M] = 64 * words;
    plan->geometry[SKETCHES_K] = k;
}

static bly_status sketches_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of DataSketches: byte "
                       "%u: %s: it is damaged, or of another format: fetch it "
                       "again, or name another format", at, what);
}

static bly_status sketches_check_size(const uint8_t *file, uint64_t bytes)
{
    uint64_t words = image_u32(file, SKETCHES_AT_WORDS);
    uint64_t all = sketches_bare(file) ? SKETCHES_BARE_BYTES
                                       : SKETCHES_AT_BITS + 8 * words;
    uint8_t longs = sketches_bare(file) ? SKETCHES_LONGS_BARE : SKETCHES_LONGS;
    if (file[SKETCHES_AT_LONGS] != longs)
        return sketches_wrong(SKETCHES_AT_LONGS, "the size of its header does "
                              "not match its flags");
    if (bytes != all)
        return status_fail(BLY_ECORRUPT, "read as a filter of DataSketches: "
                           "byte 16: its %llu words end at byte %llu, but "
                           "there are %llu bytes: fetch it again",
                           (unsigned long long)words, (unsigned long long)all,
                           (unsigned long long)bytes);
    return BLY_OK;
}

static bly_status sketches_check_file(const uint8_t *file, uint64_t bytes)
{
    if (bytes < SKETCHES_BARE_BYTES)
        return status_fail(BLY_ECORRUPT, "read as a filter of DataSketches, "
                           "which has at least 24 bytes, but there are %llu: "
                           "it is cut short: fetch it again",
                           (unsigned long long)bytes);
    if (file[SKETCHES_AT_VERSION] != 1)
        return status_fail(BLY_EVERSION, "read as a filter of DataSketches: "
                           "byte 1: the version is not 1: name another format, "
                           "or serialise it with a library of that version");
    if (file[SKETCHES_AT_FAMILY] != SKETCHES_FAMILY)
        return sketches_wrong(SKETCHES_AT_FAMILY, "it is another sketch, not a "
                              "Bloom filter (21)");
    if (sketches_k(file) == 0)
        return sketches_wrong(SKETCHES_AT_K, "it has no hash functions");
    if (image_u32(file, SKETCHES_AT_WORDS) == 0
        || image_u32(file, SKETCHES_AT_WORDS) > SKETCHES_WORDS_MAX)
        return sketches_wrong(SKETCHES_AT_WORDS, "the number of words is not "
                              "1 .. 2^31 - 1");
    return sketches_check_size(file, bytes);
}

static bool sketches_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= SKETCHES_BARE_BYTES
        && (bytes[0] == SKETCHES_LONGS_BARE || bytes[0] == SKETCHES_LONGS)
        && bytes[SKETCHES_AT_VERSION] == 1
        && bytes[SKETCHES_AT_FAMILY] == SKETCHES_FAMILY
        && all >= SKETCHES_BARE_BYTES;
}

static bly_status sketches_read(kind_found *out, const uint8_t *file,
                                uint64_t bytes)
{
    bly_status status = sketches_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t words = image_u32(file, SKETCHES_AT_WORDS), k = sketches_k(file);
    *out = (kind_found){
        .capacity = probes_capacity(64 * words, k),
        .items = sketches_bare(file) ? 0 : IMAGE_ITEMS_UNKNOWN,
        .geometry = { 64 * words, k, image_u64(file, SKETCHES_AT_SEED),
                      sketches_bare(file) },
    };
    return BLY_OK;
}

static double sketches_rate(const kind_found *found, const uint8_t *file)
{
    strides s = sketches_strides(found->geometry[SKETCHES_M],
                                 found->geometry[SKETCHES_K]);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t sketches_reach(const uint64_t *geometry)
{
    uint64_t words = geometry[SKETCHES_M] / 64;
    return words < 1 || words > SKETCHES_WORDS_MAX
        || geometry[SKETCHES_M] % 64 != 0 || geometry[SKETCHES_K] < 1
        || geometry[SKETCHES_K] > SKETCHES_K_MAX ? UINT64_MAX
         : geometry[SKETCHES_BARE] != 0 ? SKETCHES_BARE_BYTES
         : SKETCHES_AT_BITS + 8 * words;
}

static const kind_foreign sketches_foreign = {
    .writer = "Apache DataSketches' bloom_filter (C++, Java)",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "seed", NULL },
        { "empty", "1 the words are left out" },
    },
    .looks  = sketches_looks,
    .read   = sketches_read,
    .rate   = sketches_rate,
    .reach  = sketches_reach,
};

static bly_status sketches_check(const void *image)
{
    return kind_check_foreign(image, &sketches_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status sketches_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = ceil(-n * log(spec->rate) / (SKETCHES_LN2 * SKETCHES_LN2));
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!(m <= 64 * (double)SKETCHES_WORDS_MAX))
        return kind_too_big(spec, "2^31 - 1 words");
    double k = fmax(1, ceil(m / n * SKETCHES_LN2));
    uint64_t words = m < 1 ? 1 : ((uint64_t)m - 1) / 64 + 1;
    bly_status status = kind_plan_bytes(plan, SKETCHES_AT_BITS + 8 * words);
    if (status != BLY_OK)
        return status;
    sketches_plan_row(plan, words, (uint64_t)k, spec->capacity);
    plan->geometry[SKETCHES_SEED] = spec->option[0];
    return BLY_OK;
}

static bly_status sketches_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t k = image_geometry(image, SKETCHES_K);
    (void)spec;
    file[SKETCHES_AT_LONGS] = SKETCHES_LONGS;
    file[SKETCHES_AT_VERSION] = 1;
    file[SKETCHES_AT_FAMILY] = SKETCHES_FAMILY;
    file[SKETCHES_AT_K] = (uint8_t)k;
    file[SKETCHES_AT_K + 1] = (uint8_t)(k >> 8);
    image_set_u64(file, SKETCHES_AT_SEED, image_geometry(image, SKETCHES_SEED));
    image_set_u32(file, SKETCHES_AT_WORDS,
                  (uint32_t)(image_geometry(image, SKETCHES_M) / 64));
    return BLY_OK;
}

static void sketches_like(void *image, const void *other)
{
    if (image_geometry(image, SKETCHES_BARE) == 0)
        sketches_format(image, NULL);
    else
        memcpy(image_payload_mut(image), image_payload(other),
               SKETCHES_BARE_BYTES);
}

/* ---- Keys -------------------------------------------------------------- */

static bool sketches_empty(const void *image)
{
    return image_geometry(image, SKETCHES_BARE) != 0;
}

enum { SKETCHES_WITH_SEED };

static probes_row sketches_row(const void *image)
{
    uint64_t m = sketches_empty(image) ? 0 : image_geometry(image, SKETCHES_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image))
             + (m > 0 ? SKETCHES_AT_BITS : 0),
        .bytes = (size_t)(m / 8), .m = m, .inverse = probes_inverse(m),
        .k = image_geometry(image, SKETCHES_K),
        .from = sketches_strides(m, image_geometry(image, SKETCHES_K)),
        .with = { [SKETCHES_WITH_SEED] = image_geometry(image, SKETCHES_SEED) },
    };
}

static void sketches_begin(const probes_row *row, probes_key *key)
{
    uint64_t seed = row->with[SKETCHES_WITH_SEED];
    key->state[0] = hash_xxh64(key->bytes, key->length, seed);
    key->state[1] = hash_xxh64(key->bytes, key->length, key->state[0]);
}

static uint64_t sketches_next(const probes_row *row, probes_key *key,
                              uint64_t i)
{
    return probes_mod(row, (key->state[0] + (i + 1) * key->state[1]) / 2);
}

PROBES_WHOLE(sketches)
PROBES_LOOKS(sketches)

/* The count of bits was right, or was none. */
static void sketches_set_more(void *image, uint64_t more)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t set = image_u64(file, SKETCHES_AT_SET);
    if (set != SKETCHES_UNCOUNTED)
        image_set_u64(file, SKETCHES_AT_SET, set + more);
}

static bly_status sketches_add_key(void *image, uint64_t hash,
                                   const void *bytes, size_t length)
{
    probes_row row;
    probes_key key = { .bytes = bytes, .length = length };
    uint64_t more = 0;
    (void)hash;
    if (sketches_empty(image))
        return status_fail(BLY_EFULL, "the filter was written without its "
                           "bits, because it had no keys, and has no room for "
                           "any: build another");
    row = sketches_row(image);
    sketches_begin(&row, &key);
    for (uint64_t i = 0; i < row.k; i++)
        more += bits_set(row.row, sketches_next(&row, &key, i));
    sketches_set_more(image, more);
    return more > 0 ? BLY_OK : BLY_SEEN;
}

/* With the count of bits. */
static bly_status sketches_unite_all(void *into, const void *other)
{
    probes_row row = sketches_row(into);
    bly_status status = sketches_unite(into, other);
    if (row.m > 0)
        image_set_u64(image_payload_mut(into), SKETCHES_AT_SET,
                      bits_count(row.row, row.bytes));
    return status;
}

static const kind_whole sketches_whole = {
    .contains      = sketches_contains_key,
    .contains_many = sketches_contains_keys,
    .add           = sketches_add_key,
};

static const kind_combining sketches_combining = {
    .unite   = sketches_unite_all,
    .overlap = sketches_overlap,
};

const bly_kind bly_kind_datasketches = {
    .name    = "datasketches",
    .family  = "foreign",
    .summary = "the Bloom filter of Apache DataSketches",
    .version = SKETCHES_VERSION,
    .options = sketches_options,

    .plan   = sketches_plan,
    .format = sketches_format,
    .like   = sketches_like,
    .check  = sketches_check,
    .stat   = sketches_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &sketches_whole,
    .combining = &sketches_combining,
    .foreign   = &sketches_foreign,
};
