/* bitsandblooms.c - the Bloom filter of Go's bits-and-blooms, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the stream that WriteTo of the Go package
 * bits-and-blooms/bloom writes, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Go program has written or will read. The commands
 * also read the JSON that this package makes of a filter, with m, k and b:
 *
 *      the JSON          bloomery query filter.json keys
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster.
 * - A filter of a few keys must have a low rate: see Maths.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %. A
 * lookup reads 7 or 10 cache lines for a present key, 2 for an absent one. It
 * computes two hashes of the key, and a multiplication per probe.
 *
 * THE PICTURE
 *
 *      | m | k | bits | w words of 8 bytes |
 *      0   8   16     24                   end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^60
 *      geometry 1   k, probes, 1 .. 65536
 *      payload      all numbers have the highest byte first
 *         0   8     m
 *         8   8     k
 *        16   8     the length of the bit set, m again
 *        24   8 w   w = ceil(m / 64) words; bit i is bit (i mod 64) of word
 *                   i / 64
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the length
 *      is m, (3) the payload has 24 + 8 w bytes, (4) the bits from m on are
 *      clear, (5) m and k are those of the geometry.
 *
 * MATHS
 *
 * A filter for n keys at a rate p has ceil(-n ln p / (ln 2)^2) bits and k =
 * ceil(ln 2 m / n), which are the library's own sizes for independent
 * positions. The positions are made of two starts and two steps, so a small
 * filter has more false positives, which plan, info and a warning of build take
 * into account (src/maths/strides.h). If 0.01 % is requested, the rate is 1.2 %
 * for one key, 0.044 % for 10, 0.011 % for 100. n is not in the file; for an
 * opened filter it is taken to be m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * (h0, h1) is MurmurHash3_x64_128 of the key with seed 0, and (h2, h3) is that
 * of the key followed by a byte 01. Bit i, i = 0 .. k-1, modulo 2^64 and then
 * m:
 *
 *      h[i mod 2] + i h[2 + ((i + i mod 2) mod 4) / 2]
 *
 * PAPERS
 *
 *  [Bloom 1970]  Space/time trade-offs in hash coding with allowable errors,
 *                CACM 13(7).
 */
#include "bodies/rowfile.h"

#include <math.h>

enum { BITSANDBLOOMS_VERSION = 1 };

#define BITSANDBLOOMS_M_MAX (UINT64_C(1) << 60)

static const double BITSANDBLOOMS_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static const rowfile_number bitsandblooms_numbers[] = {
    { "the number of bits", 0, 8, true, ROWFILE_M, 1,
      1, BITSANDBLOOMS_M_MAX, 0 },
    { "the number of hash functions", 8, 8, true, ROWFILE_K, 1, 1, 65536, 0 },
    { "the length of the bit set", 16, 8, true, ROWFILE_M, 1,
      1, BITSANDBLOOMS_M_MAX, 0 },
    { .name = NULL },
};

static strides bitsandblooms_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_FOUR, .width = 64 };
}

static bly_status bitsandblooms_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = ceil(-n * log(spec->rate)
                    / (BITSANDBLOOMS_LN2 * BITSANDBLOOMS_LN2));
    geometry[ROWFILE_M] = rowfile_row_of(m, 1);
    double k = ceil(BITSANDBLOOMS_LN2 * (double)geometry[ROWFILE_M] / n);
    geometry[ROWFILE_K] = rowfile_whole(fmax(1, k));
    return BLY_OK;
}

static const rowfile bitsandblooms_file[] = { {
    .what = "a filter of bits-and-blooms", .numbers = bitsandblooms_numbers,
    .head = 24, .unit = 8, .turn = ROWFILE_BIG_WORDS,
    .m_most = BITSANDBLOOMS_M_MAX, .limit = "2^60 bits",
    .strides = bitsandblooms_strides, .size = bitsandblooms_size,
} };

ROWFILE(bitsandblooms)
ROWFILE_LOOKS(bitsandblooms)

static const kind_foreign bitsandblooms_foreign = {
    .writer = "Go's bits-and-blooms/bloom, WriteTo",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
    },
    .looks = bitsandblooms_looks,
    ROWFILE_FOREIGN(bitsandblooms)
};

/* ---- Keys -------------------------------------------------------------- */

static void bitsandblooms_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    hash_murmur3_128(key->bytes, key->length, 0, key->state);
    hash_murmur3_128_and(key->bytes, key->length, 1, 0, key->state + 2);
}

static uint64_t bitsandblooms_next(const probes_row *row, probes_key *key,
                                   uint64_t i)
{
    uint64_t step = key->state[2 + (i + i % 2) % 4 / 2];
    return probes_mod(row, key->state[i % 2] + i * step) ^ ROWFILE_BIG_WORDS;
}

ROWFILE_KIND(bitsandblooms,
    .summary = "the Bloom filter of Go's bits-and-blooms",
    .version = BITSANDBLOOMS_VERSION)
