/* guava.c - the Bloom filter of Guava, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the stream that BloomFilter.writeTo of Google's Guava writes
 * and readFrom reads, byte for byte, in either of its two strategies.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Java program with Guava has written or will read. A
 * funnel selects the bytes of an object that are hashed, and these bytes are
 * the key. The file does not name the funnel, so the command has to. In these
 * examples, each line of `keys` is a text, hexadecimal digits or a number:
 *
 *      funnel in Java            command
 *      stringFunnel(UTF_8)       bloomery query seen.guava keys
 *      stringFunnel(ISO_8859_1)  iconv -f UTF-8 -t ISO-8859-1 keys |
 *                                bloomery query seen.guava
 *      stringFunnel(UTF_16LE)    bloomery query --as utf16 seen.guava keys
 *      unencodedCharsFunnel()    bloomery query --as utf16 seen.guava keys
 *      byteArrayFunnel()         bloomery query --as hex seen.guava keys
 *      integerFunnel()           bloomery query --as int32 seen.guava keys
 *      longFunnel()              bloomery query --as int64 seen.guava keys
 *
 * For other charsets of stringFunnel, name the charset to iconv. If its text
 * has zero bytes, as UTF_16 does, write the bytes in hexadecimal digits and use
 * `--as hex`. `build -k guava` and `add` take the same options as `query`. With
 * the wrong option almost every key seems to be absent, so look up a known
 * member first.
 *
 * In Python, after `f = Filter.open("seen.guava")`, a lookup is `"apple" in f`
 * for UTF-8, `7 in f` for a long, `(7).to_bytes(4, "little") in f` for an int,
 * and `b"..." in f` for other bytes. In C, `bly_open` opens the file, and
 * `bly_contains` takes the bytes: 2 for a unit of UTF-16, 4 for an int and 8
 * for a long, with the lowest byte first.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster.
 * - The filter was written by Java's ObjectOutputStream: such a file is not
 *   read. Call writeTo instead.
 * - A filter of fewer than 1000 keys must keep a rate: plan it for 1000 keys
 *   (see Maths).
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %. A
 * lookup reads 7 or 10 cache lines for a present key, 2 for an absent one. It
 * computes one hash per key, and a multiplication per probe. A batch prefetches
 * the cache lines of 64 keys together.
 *
 * THE PICTURE
 *
 *      | strategy | k | longs, 4 bytes | w longs of 8 bytes each |
 *      0          1   2                6                         end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^37 - 64
 *      geometry 1   k, probes, 1 .. 255
 *      geometry 2   strategy: 0 mitz32, 1 mitz64
 *      payload      all numbers have the highest byte first
 *         0   1     strategy
 *         1   1     k
 *         2   4     w, 1 .. 2^31 - 1
 *         6   8 w   longs; bit i is bit (i mod 64) of long i / 64, the lowest
 *                   being bit 0
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      has 6 + 8 w bytes, (3) m, k and the strategy are those of the geometry.
 *
 * MATHS
 *
 * m and k are those of Guava's own formulas for n keys and a rate, so that
 * putAll accepts the filter. They are made for independent positions. The
 * positions of a key are a progression, and in a small filter many keys have
 * few different ones, so the rate is far above the requested one. plan, info
 * and a warning of build report it (src/maths/strides.h).
 *
 *      requested          1 key    10 keys   100 keys   1000 keys
 *      1 %                0.20 %   1.05 %    1.07 %     1.01 %
 *      0.01 %             0.48 %   0.38 %    0.029 %    0.012 %
 *      0.00001 %          1.4 %    0.13 %    0.0049 %   0.00047 %
 *
 * n is not in the file; for an opened filter it is taken to be the n that m and
 * k are best for, m ln 2 / k. With mitz32 all positions come from 32 bits each,
 * so from a few million keys on, the rate is above the plan (Guava's own reason
 * for the second strategy).
 *
 * THE BITS OF A KEY
 *
 * With (h1, h2) = MurmurHash3_x64_128 of the key, seed 0:
 *
 *      mitz64   c = h1; k times: the bit is (c mod 2^63) mod m; c = c + h2
 *      mitz32   a and b are the lower and the upper 32 bits of h1; for i = 1 ..
 *               k: c = a + i b modulo 2^32; where its highest bit is set all of
 *               them are turned; the bit is c mod m
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
    GUAVA_VERSION = 1,
    GUAVA_M = 0, GUAVA_K = 1, GUAVA_STRATEGY = 2,       /* geometry          */
    GUAVA_AT_STRATEGY = 0, GUAVA_AT_K = 1, GUAVA_AT_LONGS = 2,
    GUAVA_AT_BITS = 6,
    GUAVA_MITZ32 = 0, GUAVA_MITZ64 = 1,
    GUAVA_K_MAX = 255,
    GUAVA_TURN = 56                     /* a long has its highest byte first */
};

#define GUAVA_LONGS_MAX ((UINT64_C(1) << 31) - 1)

static const char *const guava_strategies[] = { "mitz32", "mitz64", NULL };

static const kind_option guava_options[] = {
    { .name = "strategy", .help = "how positions are made of the hash: of its "
                                  "first 32 + 32 bits, or of all 128",
      .choices = guava_strategies, .standard = GUAVA_MITZ64 },
    { .name = NULL },
};

static const double GUAVA_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static uint64_t guava_longs(const uint8_t *file)
{
    const uint8_t *p = file + GUAVA_AT_LONGS;
    return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8
         | p[3];
}

static bool guava_sound(const uint8_t *file, size_t n, uint64_t all)
{
    return n >= GUAVA_AT_BITS && file[GUAVA_AT_STRATEGY] <= GUAVA_MITZ64
        && file[GUAVA_AT_K] >= 1 && guava_longs(file) >= 1
        && guava_longs(file) <= GUAVA_LONGS_MAX
        && all == GUAVA_AT_BITS + 8 * guava_longs(file);
}

static bly_status guava_wrong(const uint8_t *file, uint64_t bytes)
{
    if (bytes < GUAVA_AT_BITS)
        return status_fail(BLY_ECORRUPT, "read as a Guava filter, whose header "
                           "has 6 bytes, but there are %llu bytes: it is cut "
                           "short: fetch it again", (unsigned long long)bytes);
    if (file[GUAVA_AT_STRATEGY] > GUAVA_MITZ64)
        return status_fail(BLY_EVERSION, "read as a Guava filter: byte 0: "
                           "strategy %u is unknown: name another format, or "
                           "write it again with a strategy of Guava",
                           file[GUAVA_AT_STRATEGY]);
    if (file[GUAVA_AT_K] == 0)
        return status_fail(BLY_ECORRUPT, "read as a Guava filter: byte 1: it "
                           "has no hash functions: it is damaged: fetch it "
                           "again");
    return status_fail(BLY_ECORRUPT, "read as a Guava filter: byte 2: it "
                       "should have %llu longs of 8 bytes after 6 bytes, but "
                       "there are %llu bytes: it is cut short, or damaged: "
                       "fetch it again", (unsigned long long)guava_longs(file),
                       (unsigned long long)bytes);
}

static strides guava_strides(uint64_t m, uint64_t k, uint64_t strategy)
{
    bool folds = strategy == GUAVA_MITZ32;
    return (strides){ .m = m, .k = (uint32_t)k,
                      .form = folds ? STRIDES_FOLDED : STRIDES_PLAIN,
                      .width = folds ? 32 : 63 };
}

static void guava_plan_row(bly_plan_t *plan, uint64_t longs, uint64_t k,
                           uint64_t strategy, uint64_t n)
{
    strides s = guava_strides(64 * longs, k, strategy);
    rows_plan_strides(plan, &s, n, 8 * longs);
    plan->geometry[GUAVA_M] = 64 * longs;
    plan->geometry[GUAVA_K] = k;
    plan->geometry[GUAVA_STRATEGY] = strategy;
}

static bool guava_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return guava_sound(bytes, n, all);
}

static bly_status guava_read(kind_found *out, const uint8_t *file,
                             uint64_t bytes)
{
    if (!guava_sound(file, bytes < KIND_LOOK ? (size_t)bytes : KIND_LOOK,
                     bytes))
        return guava_wrong(file, bytes);
    uint64_t longs = guava_longs(file), k = file[GUAVA_AT_K];
    *out = (kind_found){
        .capacity = probes_capacity(64 * longs, k),
        .items = IMAGE_ITEMS_UNKNOWN,
        .geometry = { 64 * longs, k, file[GUAVA_AT_STRATEGY] },
    };
    return BLY_OK;
}

static double guava_rate(const kind_found *found, const uint8_t *file)
{
    strides s = guava_strides(found->geometry[GUAVA_M],
                              found->geometry[GUAVA_K],
                              found->geometry[GUAVA_STRATEGY]);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t guava_reach(const uint64_t *geometry)
{
    uint64_t longs = geometry[GUAVA_M] / 64;
    return longs < 1 || longs > GUAVA_LONGS_MAX || geometry[GUAVA_M] % 64 != 0
        || geometry[GUAVA_K] < 1 || geometry[GUAVA_K] > GUAVA_K_MAX
         ? UINT64_MAX : GUAVA_AT_BITS + 8 * longs;
}

static const kind_foreign guava_foreign = {
    .writer = "Guava's BloomFilter.writeTo (Java)",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "strategy", "0 mitz32, 1 mitz64" },
    },
    .looks  = guava_looks,
    .read   = guava_read,
    .rate   = guava_rate,
    .reach  = guava_reach,
};

static bly_status guava_check(const void *image)
{
    return kind_check_foreign(image, &guava_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status guava_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = floor(-n * log(spec->rate) / (GUAVA_LN2 * GUAVA_LN2));
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!(m <= 64 * (double)GUAVA_LONGS_MAX))
        return kind_too_big(spec, "2^31 - 1 longs");
    double k = fmax(1, round(m / n * GUAVA_LN2));
    if (k > GUAVA_K_MAX)
        return status_fail(BLY_EPARAM, "a rate of %.3g needs %.0f probes, but "
                           "a Guava filter has at most 255: use a higher rate",
                           spec->rate, k);
    uint64_t longs = m < 1 ? 1 : ((uint64_t)m - 1) / 64 + 1;
    bly_status status = kind_plan_bytes(plan, GUAVA_AT_BITS + 8 * longs);
    if (status == BLY_OK)
        guava_plan_row(plan, longs, (uint64_t)k, spec->option[0],
                       spec->capacity);
    return status;
}

static bly_status guava_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t longs = image_geometry(image, GUAVA_M) / 64;
    (void)spec;
    file[GUAVA_AT_STRATEGY] = (uint8_t)image_geometry(image, GUAVA_STRATEGY);
    file[GUAVA_AT_K] = (uint8_t)image_geometry(image, GUAVA_K);
    for (unsigned i = 0; i < 4; i++)
        file[GUAVA_AT_LONGS + i] = (uint8_t)(longs >> (24 - 8 * i));
    return BLY_OK;
}

static void guava_like(void *image, const void *other)
{
    memcpy(image_payload_mut(image), image_payload(other), GUAVA_AT_BITS);
}

/* ---- Keys -------------------------------------------------------------- */

enum { GUAVA_WITH_STRATEGY };

static probes_row guava_row(const void *image)
{
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + GUAVA_AT_BITS,
        .bytes = image_payload_bytes(image) - GUAVA_AT_BITS,
        .m = image_geometry(image, GUAVA_M),
        .inverse = probes_inverse(image_geometry(image, GUAVA_M)),
        .k = image_geometry(image, GUAVA_K),
        .from = guava_strides(image_geometry(image, GUAVA_M),
                              image_geometry(image, GUAVA_K),
                              image_geometry(image, GUAVA_STRATEGY)),
        .turn = GUAVA_TURN,
        .with = { [GUAVA_WITH_STRATEGY]
                      = image_geometry(image, GUAVA_STRATEGY) },
    };
}

static void guava_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    hash_murmur3_128(key->bytes, key->length, 0, key->state);
}

/* Position i of mitz32: the lower half of the first hash, and i + 1 times the
 * upper. */
static uint64_t guava_narrow(const probes_key *key, uint64_t i)
{
    uint32_t c = (uint32_t)key->state[0]
               + (uint32_t)(i + 1) * (uint32_t)(key->state[0] >> 32);
    return c >> 31 != 0 ? ~c : c;
}

static uint64_t guava_wide(probes_key *key)
{
    uint64_t c = key->state[0];
    key->state[0] += key->state[1];
    return c & (UINT64_MAX >> 1);
}

static uint64_t guava_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint64_t c = row->with[GUAVA_WITH_STRATEGY] == GUAVA_MITZ32
               ? guava_narrow(key, i) : guava_wide(key);
    return probes_mod(row, c) ^ GUAVA_TURN;
}

PROBES_WHOLE(guava)
PROBES_LOOKS(guava)
PROBES_ADD(guava)

static const kind_whole guava_whole = {
    .contains      = guava_contains_key,
    .contains_many = guava_contains_keys,
    .add           = guava_add_key,
};

static const kind_combining guava_combining = {
    .unite   = guava_unite,
    .overlap = guava_overlap,
};

const bly_kind bly_kind_guava = {
    .name    = "guava",
    .family  = "foreign",
    .summary = "the Bloom filter that Guava's BloomFilter writes",
    .version = GUAVA_VERSION,
    .options = guava_options,

    .plan   = guava_plan,
    .format = guava_format,
    .like   = guava_like,
    .check  = guava_check,
    .stat   = guava_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &guava_whole,
    .combining = &guava_combining,
    .foreign   = &guava_foreign,
};
