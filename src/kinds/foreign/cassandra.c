/* cassandra.c - the Bloom filter of an SSTable of Cassandra or ScyllaDB.
 *
 * WHAT IT IS
 *
 * The payload is the file Filter.db of an SSTable, byte for byte. It holds the
 * partition keys of the table.
 *
 * WHEN TO USE IT
 *
 * Use it to learn which SSTables of a table may hold a partition, without a
 * running server: for a backup, or for data that were left behind. The file
 * does not say how it was written, but its name has the version of the SSTable,
 * as in `nb-1-big-Filter.db` or `Keyspace-Table-ka-1-Filter.db`. That is the
 * option:
 *
 *      written by            version                option
 *      Cassandra 4 and 5     na, nb, da and later   (none)
 *      Cassandra 3           ma to me               cassandra:version=ma
 *      ScyllaDB              mc to me, ms           cassandra:version=ma
 *      ScyllaDB              ka, la                 cassandra:version=ka
 *      Cassandra 1.2 to 2.2  ia to lb               cassandra:version=ka
 *
 *      bloomery query --format cassandra nb-1-big-Filter.db keys
 *
 * With the wrong option almost every key seems to be absent, so look up a known
 * partition first. A key is the bytes of the partition key:
 *
 *      column         bytes
 *      text, ascii    its UTF-8
 *      blob           as they are
 *      int, bigint    4 or 8 bytes, the highest first
 *      uuid           16 bytes, as its digits show them
 *      several        of each: 2 bytes with its length, its bytes, a zero
 *
 * For all but texts, give the bytes in hexadecimal digits, with `--as hex`:
 * `printf '%08x\n' 42` makes the line of an int.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` keeps the rate with fewer
 *   bits.
 * - The SSTable is of Cassandra 1.1 or older (f to hf): its filters have
 *   another hash, and are not read.
 *
 * COST
 *
 * A whole number of bits per key, 10 at 1 %, and 20 more. A lookup computes one
 * hash and reads up to k cache lines.
 *
 * THE PICTURE
 *
 *      | k, 4 bytes | w, 4 bytes | w words of 8 bytes each |
 *      0            4            8                         end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^37 - 64
 *      geometry 1   k, probes, 1 .. 255
 *      geometry 3   version: 0 na, 1 ma, 2 ka
 *      payload      all numbers have the highest byte first
 *         0   4     k
 *         4   4     w, 1 .. 2^31 - 1
 *         8   8 w   bits: in version na bit i is bit (i mod 8) of byte i / 8;
 *                   in the others bit (i mod 64) of word i / 64, the lowest
 *                   being bit 0
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      ends with the words, (3) m and k are those of the geometry.
 *
 * MATHS
 *
 * Bits per key b and k are those of Cassandra's own table: b is the least whose
 * best k keeps the rate, and then k the least that keeps it. The table is (1 -
 * e^(-k/b))^k, rounded to three digits. A rate below 0.0000671 is refused, as
 * Cassandra does. The positions of a key are a progression, which plan and info
 * take into account (src/maths/strides.h).
 *
 * n is not in the file; for an opened filter it is taken to be the n that m and
 * k are best for, m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * (h1, h2) is MurmurHash3_x64_128 of the key, seed 0, but the bytes behind the
 * last block of 16 are signed. The sum begins with h2, and h1 is added for each
 * further bit, modulo 2^64; in version ka it begins with h1, and h2 is added.
 * The bit is the sum's absolute value as a signed number, modulo m.
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA. Its two hashes.
 */
#include "bodies/rowfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CASSANDRA_VERSION = 1,
    CASSANDRA_FORM = ROWFILE_FOURTH,
    CASSANDRA_NA = 0, CASSANDRA_MA = 1, CASSANDRA_KA = 2,
    CASSANDRA_K_MAX = 255,
    CASSANDRA_EXCESS = 20,              /* bits beside those of the keys     */
    CASSANDRA_LEAST = 2, CASSANDRA_MOST = 20        /* bits per key          */
};

#define CASSANDRA_WORDS_MAX ((UINT64_C(1) << 31) - 1)

static const char *const cassandra_versions[] = { "na", "ma", "ka", NULL };

static const kind_option cassandra_options[] = {
    { .name = "version", .help = "of the SSTable: na and later of Cassandra; "
                                 "ma to ms; ka and others before ma",
      .choices = cassandra_versions, .standard = CASSANDRA_NA },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

/* The rate of k probes in b bits per key, in three digits as in Cassandra's
 * table, whose one other value this is, too. */
static double cassandra_table(uint64_t b, uint64_t k)
{
    char digits[32];
    double rate = pow(1 - exp(-(double)k / (double)b), (double)k);
    snprintf(digits, sizeof digits, "%.2e", b == 5 && k == 3 ? 0.092 : rate);
    return strtod(digits, NULL);
}

/* The least k with the lowest rate for b bits per key. */
static uint64_t cassandra_best(uint64_t b)
{
    uint64_t k = 1;
    while (cassandra_table(b, k + 1) < cassandra_table(b, k))
        k++;
    return k;
}

static bly_status cassandra_choose(uint64_t *b, uint64_t *k, double rate)
{
    *b = 1;
    *k = 2;
    if (rate >= cassandra_table(CASSANDRA_LEAST, 1))
        return BLY_OK;
    for (*b = CASSANDRA_LEAST; *b <= CASSANDRA_MOST; ++*b) {
        *k = cassandra_best(*b);
        if (cassandra_table(*b, *k) > rate)
            continue;
        while (*k > 1 && cassandra_table(*b, *k - 1) <= rate)
            --*k;
        return BLY_OK;
    }
    return status_fail(BLY_EPARAM, "a rate of %.3g is below 6.71e-05, the "
                       "lowest for a filter of Cassandra: use a higher rate",
                       rate);
}

static bly_status cassandra_size(uint64_t *geometry, const kind_spec *spec)
{
    uint64_t b;
    bly_status status = cassandra_choose(&b, &geometry[ROWFILE_K], spec->rate);
    double m = (double)spec->capacity * (double)b + CASSANDRA_EXCESS;
    geometry[ROWFILE_M] = rowfile_row_of(m, 64);
    geometry[CASSANDRA_FORM] = spec->option[0];
    return status;
}

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number cassandra_numbers[] = {
    { "the number of hash functions", 0, 4, true, ROWFILE_K, 1,
      1, CASSANDRA_K_MAX, 0 },
    { "the number of words", 4, 4, true, ROWFILE_M, 64,
      1, CASSANDRA_WORDS_MAX, 0 },
    { .name = NULL },
};

static strides cassandra_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_NEGATED, .width = 64 };
}

#define CASSANDRA_FILE(orders)                                                 \
    .what = "a Filter.db of Cassandra", .numbers = cassandra_numbers,          \
    .head = 8, .unit = 8, .turn = orders,                                      \
    .m_most = 64 * CASSANDRA_WORDS_MAX, .limit = "2^31 - 1 words",             \
    .strides = cassandra_strides, .size = cassandra_size

static const rowfile cassandra_file[] = {
    [CASSANDRA_NA] = { CASSANDRA_FILE(0), .forms = 3 },
    [CASSANDRA_MA] = { CASSANDRA_FILE(ROWFILE_BIG_WORDS) },
    [CASSANDRA_KA] = { CASSANDRA_FILE(ROWFILE_BIG_WORDS) },
};

ROWFILE(cassandra)

static bly_status cassandra_told(uint64_t *geometry, const uint64_t *option)
{
    return rowfile_told(cassandra_file, geometry, option[0]);
}

static const kind_foreign cassandra_foreign = {
    .writer = "Cassandra and ScyllaDB: Filter.db of an SSTable",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { NULL, NULL },
        { "version", "0 na and later, 1 ma, 2 ka" },
    },
    ROWFILE_FOREIGN(cassandra),
    .told = cassandra_told,
    .fields = 1u << CASSANDRA_FORM,
};

/* ---- Keys -------------------------------------------------------------- */

/* The sum, and what is added to it. */
static void cassandra_begin(const probes_row *row, probes_key *key)
{
    uint64_t h[2];
    bool old = row->with[ROWFILE_WITH_FOURTH] == CASSANDRA_KA;
    hash_murmur3_128_signed(key->bytes, key->length, 0, h);
    key->state[0] = h[old ? 0 : 1];
    key->state[1] = h[old ? 1 : 0];
}

static uint64_t cassandra_next(const probes_row *row, probes_key *key,
                               uint64_t i)
{
    uint64_t sum = key->state[0];
    (void)i;
    key->state[0] += key->state[1];
    return probes_mod(row, sum >> 63 != 0 ? -sum : sum) ^ row->turn;
}

ROWFILE_KIND(cassandra,
    .summary = "the filter of an SSTable of Cassandra or ScyllaDB",
    .version = CASSANDRA_VERSION,
    .options = cassandra_options)
