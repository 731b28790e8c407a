/* spark.c - the Bloom filter of Apache Spark, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the stream that writeTo of Spark's
 * org.apache.spark.util.sketch.BloomFilter writes and readFrom reads, byte for
 * byte, in either of its two versions. It is also the binary value of the SQL
 * function `bloom_filter_agg`.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Spark job has made, or will read: those of
 * `df.stat.bloomFilter`, for example. What a key is depends on the column:
 *
 *      column in Spark                command
 *      string                         bloomery query seen.spark keys
 *      binary                         bloomery query --as hex seen.spark keys
 *      byte, short, integer, long     bloomery query --as int64 seen.spark keys
 *
 * `build -k spark` and `add` take the same options as `query`. With the wrong
 * option almost every key seems to be absent, so look up a known member first.
 *
 * The command also reads a filter that was serialised as an object of Java, by
 * ObjectOutputStream; the library and commands that change a filter do not.
 *
 * Spark 4.1 makes filters of version 2, and reads both; older ones know only
 * version 1. The default is version 1, which every Spark reads.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster.
 * - The filter was made by `bloom_filter_agg` of a hash, as Spark's own runtime
 *   filters are: then the keys are the values of `xxhash64`, as numbers.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %. A
 * lookup reads 7 or 10 cache lines for a present key, 2 for an absent one. It
 * computes two hashes per key, and a multiplication per probe.
 *
 * THE PICTURE
 *
 *      | version, 4 bytes | k, 4 | seed, 4, of version 2 | words, 4 | w words |
 *      0                  4      8                       8 or 12     12 or 16
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^37 - 64
 *      geometry 1   k, probes, 1 .. 65536
 *      geometry 2   seed, 0 .. 2^32 - 1; 0 in version 1
 *      geometry 3   0 version 1, 1 version 2
 *      payload      all numbers have the highest byte first
 *         0   4     version
 *         4   4     k
 *         8   4     seed, in version 2 only
 *       8/12  4     w, 1 .. 2^31 - 1
 *      12/16  8 w   words; bit i is bit (i mod 64) of word i / 64, the lowest
 *                   being bit 0
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      ends with the words, (3) m, k, seed and version are those of the
 *      geometry.
 *
 * MATHS
 *
 * m and k are those of Spark's own formulas for n keys and a rate. The
 * positions of a key are a progression, which plan and info take into account
 * (src/maths/strides.h). The positions of version 1 are below 2^31, so that a
 * filter of more bits has a higher rate than planned. This is why version 2
 * exists, and why `build` refuses more bits in version 1.
 *
 * n is not in the file; for an opened filter it is taken to be the n that m and
 * k are best for, m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * h1 is the hash of the key with the seed, and h2 the hash with seed h1, as
 * signed numbers. The hash is MurmurHash3_x86_32, but of the last 1 to 3 bytes
 * each is a block of its own, which is signed.
 *
 *      version 1   for i = 1 .. k: c = h1 + i h2 modulo 2^32; if that is
 *                  negative all its bits are turned; the bit is c mod m
 *      version 2   c = h1 (2^31 - 1); k times: c = c + h2; the bit is c mod m,
 *                  or if c is negative that of c with all bits turned
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA. Its two hashes.
 */
#include "bodies/rowfile.h"

#include <math.h>

enum {
    SPARK_VERSION = 1,
    SPARK_SEED = ROWFILE_THIRD,
    SPARK_FORM = ROWFILE_FOURTH,
    SPARK_OPTION_VERSION = 0, SPARK_OPTION_SEED = 1,
    SPARK_K_MAX = 65536
};

#define SPARK_WORDS_MAX ((UINT64_C(1) << 31) - 1)
#define SPARK_NARROW    (UINT64_C(1) << 31)     /* positions of version 1    */

static const char *const spark_versions[] = { "1", "2", NULL };

static const kind_option spark_options[] = {
    [SPARK_OPTION_VERSION] = {
        .name = "version", .help = "of the stream: 1, or 2 for Spark 4.1 and "
                                   "later", .choices = spark_versions },
    [SPARK_OPTION_SEED] = {
        .name = "seed", .help = "a number that seeds the hashes of version 2",
        .least = 0, .most = UINT32_MAX, .standard = 0 },
    { .name = NULL },
};

static const double SPARK_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number spark_numbers_1[] = {
    { "the version", 0, 4, true, ROWFILE_VERSION, 1, 1, 1, 0 },
    { "the number of hash functions", 4, 4, true, ROWFILE_K, 1,
      1, SPARK_K_MAX, 0 },
    { "the number of words", 8, 4, true, ROWFILE_M, 64, 1, SPARK_WORDS_MAX, 0 },
    { .name = NULL },
};

static const rowfile_number spark_numbers_2[] = {
    { "the version", 0, 4, true, ROWFILE_VERSION, 1, 2, 2, 0 },
    { "the number of hash functions", 4, 4, true, ROWFILE_K, 1,
      1, SPARK_K_MAX, 0 },
    { "the seed", 8, 4, true, SPARK_SEED, 1, 0, UINT32_MAX, 0 },
    { "the number of words", 12, 4, true, ROWFILE_M, 64,
      1, SPARK_WORDS_MAX, 0 },
    { .name = NULL },
};

static strides spark_strides(const uint64_t *geometry)
{
    bool first = geometry[SPARK_FORM] == 0;
    uint64_t m = geometry[ROWFILE_M];
    return (strides){ .m = first && m > SPARK_NARROW ? SPARK_NARROW : m,
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = first ? STRIDES_FOLDED : STRIDES_STRAIGHT,
                      .width = 32 };
}

static bly_status spark_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = trunc(-n * log(spec->rate) / (SPARK_LN2 * SPARK_LN2));
    geometry[SPARK_FORM] = spec->option[SPARK_OPTION_VERSION];
    geometry[SPARK_SEED] = spec->option[SPARK_OPTION_SEED];
    if (geometry[SPARK_FORM] == 0 && geometry[SPARK_SEED] != 0)
        return status_fail(BLY_EPARAM, "filters of Spark have a seed only in "
                           "version 2: use version=2, or leave seed= out");
    geometry[ROWFILE_M] = rowfile_row_of(m, 64);
    geometry[ROWFILE_K] = rowfile_whole(fmax(1, floor(m / n * SPARK_LN2
                                                      + 0.5)));
    if (geometry[SPARK_FORM] == 0 && geometry[ROWFILE_M] > SPARK_NARROW)
        return kind_too_big(spec, "2^31 bits in version=1");
    return BLY_OK;
}

static const rowfile spark_file[] = { {
    .forms = 2, .what = "a Spark filter", .numbers = spark_numbers_1,
    .head = 12, .unit = 8, .turn = ROWFILE_BIG_WORDS,
    .m_most = 64 * SPARK_WORDS_MAX, .limit = "2^31 - 1 words",
    .strides = spark_strides, .size = spark_size,
}, {
    .what = "a Spark filter", .numbers = spark_numbers_2,
    .head = 16, .unit = 8, .turn = ROWFILE_BIG_WORDS,
    .m_most = 64 * SPARK_WORDS_MAX, .limit = "2^31 - 1 words",
    .strides = spark_strides,
} };

ROWFILE(spark)
ROWFILE_LOOKS(spark)

static const kind_foreign spark_foreign = {
    .writer = "Apache Spark's BloomFilter.writeTo and bloom_filter_agg",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "seed", NULL },
        { "layout", "0 version 1, 1 version 2" },
    },
    .looks = spark_looks,
    ROWFILE_FOREIGN(spark)
};

/* ---- Keys -------------------------------------------------------------- */

static uint32_t spark_hash(const void *key, size_t length, uint32_t seed)
{
    const uint8_t *p = key;
    size_t blocks = length / 4;
    uint32_t h = seed;
    for (size_t i = 0; i < blocks; i++)
        h = hash_murmur3_32_block(h, image_u32(p, 4 * i));
    for (size_t i = 4 * blocks; i < length; i++)
        h = hash_murmur3_32_block(h, (uint32_t)(int32_t)(int8_t)p[i]);
    return hash_murmur3_32_end(h, (uint32_t)length);
}

/* The sum, and what is added to it for each bit. */
static void spark_begin(const probes_row *row, probes_key *key)
{
    uint32_t seed = (uint32_t)row->with[ROWFILE_WITH_THIRD];
    uint32_t first = spark_hash(key->bytes, key->length, seed);
    uint32_t second = spark_hash(key->bytes, key->length, first);
    int64_t a = (int32_t)first, b = (int32_t)second;
    bool narrow = row->with[ROWFILE_WITH_FOURTH] == 0;
    key->state[0] = (uint64_t)(narrow ? a : a * INT32_MAX);
    key->state[1] = (uint64_t)b;
}

static uint64_t spark_next(const probes_row *row, probes_key *key, uint64_t i)
{
    (void)i;
    key->state[0] += key->state[1];
    int64_t c = row->with[ROWFILE_WITH_FOURTH] == 0
              ? (int32_t)(uint32_t)key->state[0] : (int64_t)key->state[0];
    return probes_mod(row, (uint64_t)(c < 0 ? ~c : c)) ^ ROWFILE_BIG_WORDS;
}

ROWFILE_KIND(spark,
    .summary = "the Bloom filter of Apache Spark",
    .version = SPARK_VERSION,
    .options = spark_options)
