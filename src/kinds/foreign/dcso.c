/* dcso.c - the Bloom filter of DCSO's bloom, in its own bytes.
 *
 * WHAT IT IS
 *
 * A Bloom filter as the command `bloom` of DCSO writes it. Flor, Poppy (its
 * first version) and MISP write it as well, and so does CIRCL's hashlookup: it
 * has the hashes of several hundred million known files in one file of a
 * gigabyte. The payload is that file, byte for byte. So such a file is opened
 * and queried in place, and the other programs can read a filter that Bloomery
 * builds.
 *
 * WHEN TO USE IT
 *
 * Use it to recognize known files with the filter of CIRCL hashlookup, and for
 * other filters of DCSO's bloom.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster, and `blocked` is much faster.
 * - Attackers choose the keys: the hash has no secret, so they can choose keys
 *   that are found.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %. A
 * lookup reads 7 or 10 cache lines for a present key, 2 for an absent one. It
 * computes one hash per key, byte by byte, and two multiplications per probe. A
 * batch prefetches the cache lines of 64 keys together.
 *
 * THE PICTURE
 *
 *      | flags | n | p | k | m | N |  m bits, in words of 64  | data |
 *      0       8  16  24  32  40  48                                end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^60
 *      geometry 1   k, probes, 1 .. 1088
 *      payload      the file; all numbers have the lowest byte first
 *         0   8     1: the version, in the lowest byte, and 7 bytes of 0
 *         8   8     n, keys it was planned for, 1 or more
 *        16   8     p, the rate it was planned for, a double, 0 < p < 1
 *        24   8     k
 *        32   8     m
 *        40   8     N, keys that were new when they were added
 *        48   8 w   w = ceil(m/64) words; bit i is bit (i mod 8) of byte i / 8
 *        …          data: whatever its owner has attached, of any length
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) m is
 *      floor(n |ln p| / (ln 2)^2), give or take 1 and one part in 10^12 for the
 *      writer's mathematical library, (3) k is ceil(ln 2 m / n), give or take
 *      1, (4) the words end within the payload, (5) their bits from m on are
 *      clear, (6) m and k are those of the geometry.
 *
 * MATHS
 *
 * m and k are those of the other system, which refuses files of other sizes.
 * The rate is p if k is what the formula gives before it is rounded up, and
 * otherwise slightly higher. The positions of a key are g h, g^2 h, …. Modulo
 * the largest power of two that divides m they follow from h alone, so filters
 * of a few keys, with an m such as 28 or 100, have far more false positives.
 * plan, info and a warning of build take that into account
 * (src/maths/strides.h) for up to 1024 bits. Beyond, where 64 divides m, the
 * counted rate of 64 to 200 keys at 0.03 % is up to 3.6 times the plan.
 *
 * All of this is for keys whose hashes are well mixed. FNV-1 multiplies first,
 * so the last byte of a key changes only the lowest 8 bits of h. The positions
 * of keys that differ in their last byte keep a fixed distance, which is
 * multiplied at every step. With 10^5 sequential integers of 8 bytes, the
 * highest byte first, such keys avoid each other's bits and set 52.7 % of them
 * instead of 51.8 %, and the next integers resemble them: at a requested rate
 * of 1 %, 1.5 % of those are found (of 10^6: 1.1 %). With the lowest byte first
 * it is 0.9 % (1.2 %). Digits as text, and hashes in hexadecimal digits, are
 * mixed better, since several of their last bytes vary.
 *
 * THE BITS OF A KEY
 *
 * With P = 2^64 - 59, a prime, and g = 18446744073709550147:
 *
 *      h = FNV-1(key) mod P             64 bits, multiplied first, then xored
 *      k times:  h = (g h mod 2^64) mod P;  the bit is h mod m
 *
 * KNOWN AND UNKNOWN FILES
 *
 * CIRCL's hashlookup publishes the SHA-1 hashes of known files as such a
 * filter. Its keys are hexadecimal digits in upper case, while sha1sum prints
 * lower case; --upper changes the keys, but not the names of files. The
 * cookbook (docs/cookbook/known-files.md) has the commands.
 *
 * Without --upper no file is found. `query` then prints a note, if at least
 * 1,000 files were looked up.
 *
 * PAPERS
 *
 *  [Bloom 1970]  Space/time trade-offs in hash coding with allowable errors,
 *                CACM 13(7).
 */
#include "bodies/rowfile.h"

#include <math.h>

enum {
    DCSO_VERSION = 1,
    DCSO_AT_K = 24, DCSO_AT_M = 32,
    DCSO_K_MAX = 1088                   /* above what the least p asks for   */
};

#define DCSO_M_MAX (UINT64_C(1) << 60)
#define DCSO_PRIME UINT64_C(18446744073709551557)
#define DCSO_STEP  UINT64_C(18446744073709550147)

static const double DCSO_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number dcso_numbers[] = {
    { "the version", 0, 8, false, ROWFILE_VERSION, 1, 1, 1, 0 },
    { "the capacity", 8, 8, false, ROWFILE_KEYS, 1, 1, UINT64_MAX, 0 },
    { "the rate", 16, 8, false, ROWFILE_RATE, 1, 0, 0, 0 },
    { "the number of hash functions", DCSO_AT_K, 8, false, ROWFILE_K, 1,
      1, DCSO_K_MAX, 0 },
    { "the number of bits", DCSO_AT_M, 8, false, ROWFILE_M, 1,
      1, DCSO_M_MAX, 0 },
    { "the number of keys", 40, 8, false, ROWFILE_ADDED, 1, 0, UINT64_MAX, 0 },
    { .name = NULL },
};

static strides dcso_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_POWERS, .factor = DCSO_STEP,
                      .width = 64 };
}

static double dcso_bits(double n, double p)
{
    return floor(n * fabs(log(p)) / (DCSO_LN2 * DCSO_LN2));
}

static double dcso_probes(double n, double m)
{
    return ceil(DCSO_LN2 * m / n);
}

static bly_status dcso_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    geometry[ROWFILE_M] = rowfile_row_of(dcso_bits(n, spec->rate), 1);
    double k = dcso_probes(n, (double)geometry[ROWFILE_M]);
    geometry[ROWFILE_K] = rowfile_whole(fmax(1, k));
    return BLY_OK;
}

static bly_status dcso_settle(kind_found *found, const uint8_t *file,
                              uint64_t bytes);

static const rowfile dcso_file[] = { {
    .what = "a DCSO filter", .numbers = dcso_numbers, .head = 48, .unit = 8,
    .attaches = true, .shows = true, .counts_new = true,
    .m_most = DCSO_M_MAX, .limit = "2^60 bits", .strides = dcso_strides,
    .size = dcso_size, .settle = dcso_settle,
} };

/* m and k follow from n and p, but for rounding. */
static bly_status dcso_settle(kind_found *found, const uint8_t *file,
                              uint64_t bytes)
{
    double n = (double)found->capacity, m = (double)found->geometry[ROWFILE_M];
    double k = (double)found->geometry[ROWFILE_K];
    double bits = dcso_bits(n, image_f64(file, 16));
    (void)bytes;
    if (fabs(m - bits) > 1 + bits * 1e-12)
        return rowfile_wrong(dcso_file, DCSO_AT_M, "the number of bits does "
                             "not follow from the keys and the rate");
    if (fabs(k - dcso_probes(n, m)) > 1)
        return rowfile_wrong(dcso_file, DCSO_AT_K, "the number of hash "
                             "functions does not follow from the keys and the "
                             "bits");
    return BLY_OK;
}

ROWFILE(dcso)
ROWFILE_LOOKS(dcso)

static const kind_foreign dcso_foreign = {
    .writer = "DCSO's bloom, flor and CIRCL's hashlookup",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
    },
    .looks = dcso_looks,
    ROWFILE_FOREIGN(dcso),
    .attaches = true,
    .plans = true,
};

/* ---- Keys -------------------------------------------------------------- */

static void dcso_begin(const probes_row *row, probes_key *key)
{
    const uint8_t *bytes = key->bytes;
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    (void)row;
    for (size_t i = 0; i < key->length; i++)
        h = h * UINT64_C(0x100000001B3) ^ bytes[i];
    key->state[0] = h % DCSO_PRIME;
}

static uint64_t dcso_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint64_t h = key->state[0] * DCSO_STEP;
    (void)i;
    key->state[0] = h - (h >= DCSO_PRIME ? DCSO_PRIME : 0);
    return probes_mod(row, key->state[0]);
}

ROWFILE_KIND(dcso,
    .summary = "the filter files of DCSO's bloom and CIRCL's hashlookup",
    .version = DCSO_VERSION)
