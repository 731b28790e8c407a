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
#include "bodies/rowfile.h"

#include <math.h>

enum {
    GUAVA_VERSION = 1,
    GUAVA_STRATEGY = ROWFILE_THIRD,
    GUAVA_MITZ32 = 0, GUAVA_MITZ64 = 1,
    GUAVA_K_MAX = 255
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

static const rowfile_number guava_numbers[] = {
    { "the strategy", 0, 1, false, GUAVA_STRATEGY, 1, 0, GUAVA_MITZ64, 0 },
    { "the number of hash functions", 1, 1, false, ROWFILE_K, 1,
      1, GUAVA_K_MAX, 0 },
    { "the number of longs", 2, 4, true, ROWFILE_M, 64, 1, GUAVA_LONGS_MAX, 0 },
    { .name = NULL },
};

static strides guava_strides(const uint64_t *geometry)
{
    bool folds = geometry[GUAVA_STRATEGY] == GUAVA_MITZ32;
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = folds ? STRIDES_FOLDED : STRIDES_PLAIN,
                      .width = folds ? 32 : 63 };
}

static bly_status guava_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = floor(-n * log(spec->rate) / (GUAVA_LN2 * GUAVA_LN2));
    geometry[ROWFILE_M] = rowfile_row_of(m, 64);
    geometry[ROWFILE_K] = rowfile_whole(fmax(1, round(m / n * GUAVA_LN2)));
    geometry[GUAVA_STRATEGY] = spec->option[0];
    return BLY_OK;
}

static const rowfile guava_file[] = { {
    .what = "a Guava filter", .numbers = guava_numbers, .head = 6, .unit = 8,
    .turn = ROWFILE_BIG_WORDS, .m_most = 64 * GUAVA_LONGS_MAX,
    .limit = "2^31 - 1 longs", .strides = guava_strides, .size = guava_size,
} };

ROWFILE(guava)
ROWFILE_LOOKS(guava)

static const kind_foreign guava_foreign = {
    .writer = "Guava's BloomFilter.writeTo (Java)",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "strategy", "0 mitz32, 1 mitz64" },
    },
    .looks = guava_looks,
    ROWFILE_FOREIGN(guava)
};

/* ---- Keys -------------------------------------------------------------- */

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
    uint64_t c = row->with[ROWFILE_WITH_THIRD] == GUAVA_MITZ32
               ? guava_narrow(key, i) : guava_wide(key);
    return probes_mod(row, c) ^ ROWFILE_BIG_WORDS;
}

ROWFILE_KIND(guava,
    .summary = "the Bloom filter that Guava's BloomFilter writes",
    .version = GUAVA_VERSION,
    .options = guava_options)
