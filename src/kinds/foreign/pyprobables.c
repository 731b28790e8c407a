/* pyprobables.c - the Bloom filter of Python's pyprobables, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is what `export` of a BloomFilter of the Python package
 * pyprobables writes and `BloomFilter(filepath=...)` reads, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Python program with this package has written or
 * will read. What a key is depends on the type in Python:
 *
 *      str      bloomery query --format pyprobables seen.blm keys
 *      bytes    bloomery query --format pyprobables:type=bytes --as hex
 *                        seen.blm keys
 *
 * For texts in ASCII the two are the same. With the wrong type, keys with other
 * characters seem to be absent.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   several times as fast.
 * - The filter was written with another hash function than the default, which
 *   the file does not name, or by `export_hex`: such files are not read.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %. A lookup goes
 * through the key once for each probe, up to the first that is not set, byte by
 * byte.
 *
 * THE PICTURE
 *
 *      | bits, whole bytes | n, 8 bytes | keys added, 8 | rate, 4 |
 *      0                   b                                      b + 20
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^40
 *      geometry 1   k, probes, 1 .. 1100
 *      geometry 3   type of the keys: 0 str, 1 bytes
 *      payload      all numbers have the lowest byte first
 *         0         bits; bit i is bit (i mod 8) of byte i / 8
 *      and behind them
 *         0   8     n, the planned number of keys, at least 1
 *         8   8     number of keys that were added
 *        16   4     the planned rate, a float
 *
 *      Valid if and only if (1) the rate is between 0 and 1, (2) m and k, which
 *      follow from n and the rate, are in these ranges and those of the
 *      geometry, (3) the payload has the bits and 20 bytes, (4) bits from m on
 *      are clear.
 *
 * MATHS
 *
 * With the rate p as a float, m is -n ln p / 0.4804530139182 rounded up, and k
 * is 0.6931471805599453 m / n rounded to the nearest number. The k hashes of a
 * key differ in their start only, and each of their steps permutes the numbers
 * modulo a power of two. Where such a power divides m, the positions of a key
 * are therefore spread evenly over the classes modulo it; otherwise they are
 * independent. This matters for a few keys: for 1 key at 0.001 % there are 24
 * bits, and the rate is 0.016 %, three times that of independent positions.
 * plan and info take it into account (src/maths/strides.h). Keys of up to 3
 * bytes have few such permutations, and a higher rate.
 *
 * THE BITS OF A KEY
 *
 * For i = 0 .. k - 1, the bit is h mod m, where h is the FNV-1a of the key of
 * 64 bits, but it starts with cbf29ce484222325 + 31 i. Of a str, not the bytes
 * but the code points of the characters are taken in, all of their bits at
 * once.
 *
 * PAPERS
 *
 *  [Bloom 1970]  Space/time trade-offs in hash coding with allowable errors,
 *                CACM 13.
 */
#include "bodies/rowfile.h"

#include <math.h>

enum {
    PYPROBABLES_VERSION = 1,
    PYPROBABLES_TYPE = ROWFILE_FOURTH,
    PYPROBABLES_STR = 0, PYPROBABLES_BYTES = 1,
    PYPROBABLES_TAIL = 20, PYPROBABLES_AT_RATE = 16,
    PYPROBABLES_K_MAX = 1100
};

#define PYPROBABLES_M_MAX (UINT64_C(1) << 40)

static const char *const pyprobables_types[] = { "str", "bytes", NULL };

static const kind_option pyprobables_options[] = {
    { .name = "type", .help = "of the keys in Python: str or bytes",
      .choices = pyprobables_types },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number pyprobables_numbers[] = {
    { "the number of keys", ROWFILE_BEHIND, 8, false, ROWFILE_KEYS, 1,
      1, UINT64_MAX, 0 },
    { "the number of keys added", ROWFILE_BEHIND + 8, 8, false, ROWFILE_ADDED,
      1, 0, UINT64_MAX, 0 },
    { "the rate", ROWFILE_BEHIND + PYPROBABLES_AT_RATE, 4, false,
      ROWFILE_OTHER, 0, 0, UINT32_MAX, 0 },
    { "the type of the keys", 0, 0, false, PYPROBABLES_TYPE, 1,
      PYPROBABLES_STR, PYPROBABLES_BYTES, 0 },
    { .name = NULL },
};

/* m and k, which the file does not state. */
static void pyprobables_plan_for(uint64_t *geometry, double n, float rate)
{
    uint64_t m = rowfile_row_of(ceil(-n * log((double)rate) / 0.4804530139182),
                                1);
    geometry[ROWFILE_M] = m;
    geometry[ROWFILE_K] = rowfile_whole(nearbyint(0.6931471805599453
                                                  * (double)m / n));
}

static float pyprobables_rate_of(const uint8_t *at)
{
    float rate;
    uint32_t bits = image_u32(at, 0);
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

static bly_status pyprobables_size(uint64_t *geometry, const kind_spec *spec)
{
    pyprobables_plan_for(geometry, (double)spec->capacity, (float)spec->rate);
    geometry[PYPROBABLES_TYPE] = spec->option[0];
    if (geometry[ROWFILE_K] >= 1 && (float)spec->rate > 0)
        return BLY_OK;
    return status_fail(BLY_EPARAM, "a filter of pyprobables with a rate of "
                       "%.3g has no hash function, or no rate as a float: use "
                       "another rate", spec->rate);
}

static strides pyprobables_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_EVEN, .width = 64 };
}

static bly_status pyprobables_settle(kind_found *found, const uint8_t *file,
                                     uint64_t bytes);
static void pyprobables_finish(uint8_t *file, const uint64_t *geometry,
                               const kind_spec *spec);

static const rowfile pyprobables_file[] = { {
    .what = "a filter of pyprobables", .numbers = pyprobables_numbers,
    .tail = PYPROBABLES_TAIL, .unit = 1, .m_most = PYPROBABLES_M_MAX,
    .limit = "2^40 bits", .strides = pyprobables_strides,
    .size = pyprobables_size,
    .settle = pyprobables_settle, .finish = pyprobables_finish,
} };

static bly_status pyprobables_settle(kind_found *found, const uint8_t *file,
                                     uint64_t bytes)
{
    uint64_t at = bytes - PYPROBABLES_TAIL + PYPROBABLES_AT_RATE;
    float rate = pyprobables_rate_of(file + at);
    if (!(rate > 0 && rate < 1))
        return rowfile_wrong(pyprobables_file, at, "the rate is not between 0 "
                             "and 1");
    pyprobables_plan_for(found->geometry, (double)found->capacity, rate);
    if (found->geometry[ROWFILE_K] < 1
        || found->geometry[ROWFILE_K] > PYPROBABLES_K_MAX)
        return rowfile_wrong(pyprobables_file, at, "the number of hash "
                             "functions that follows from the rate is not "
                             "1 .. 1100");
    return BLY_OK;
}

static void pyprobables_finish(uint8_t *file, const uint64_t *geometry,
                               const kind_spec *spec)
{
    float rate = (float)spec->rate;
    uint32_t bits;
    uint64_t row = rowfile_bytes(pyprobables_file, geometry[ROWFILE_M]);
    memcpy(&bits, &rate, sizeof bits);
    image_set_u32(file, row + PYPROBABLES_AT_RATE, bits);
}

ROWFILE(pyprobables)

static bly_status pyprobables_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[PYPROBABLES_TYPE] = option[0];
    return BLY_OK;
}

static const kind_foreign pyprobables_foreign = {
    .writer = "Python's pyprobables, BloomFilter.export",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { NULL, NULL },
        { "type", "of the keys: 0 str, 1 bytes" },
    },
    ROWFILE_FOREIGN(pyprobables),
    .plans = true,
    .told = pyprobables_told,
    .fields = 1u << PYPROBABLES_TYPE,
};

/* ---- Keys -------------------------------------------------------------- */

static void pyprobables_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    (void)key;
}

/* Returns a character of UTF-8 and moves to the next one. A byte that begins
 * none is taken as it is. */
static uint32_t pyprobables_character(const uint8_t **at, const uint8_t *end)
{
    uint32_t first = *(*at)++;
    unsigned more = first < 0xC2 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2
                  : first < 0xF5 ? 3 : 0;
    if ((size_t)(end - *at) < more)
        return first;
    uint32_t character = first & (more == 0 ? 0xFFu : 0x3Fu >> more);
    for (unsigned i = 0; i < more; i++) {
        if (((*at)[i] & 0xC0) != 0x80)
            return first;
        character = character << 6 | ((*at)[i] & 0x3Fu);
    }
    *at += more;
    return character;
}

static uint64_t pyprobables_next(const probes_row *row, probes_key *key,
                                 uint64_t i)
{
    const uint8_t *at = key->bytes;
    uint64_t h = UINT64_C(0xCBF29CE484222325) + 31 * i;
    bool text = row->with[ROWFILE_WITH_FOURTH] == PYPROBABLES_STR;
    if (key->length == 0)
        return probes_mod(row, h);
    for (const uint8_t *end = at + key->length; at < end;)
        h = (h ^ (text ? pyprobables_character(&at, end) : *at++))
          * UINT64_C(0x100000001B3);
    return probes_mod(row, h);
}

ROWFILE_KIND(pyprobables,
    .summary = "the Bloom filter of Python's pyprobables",
    .version = PYPROBABLES_VERSION,
    .options = pyprobables_options)
