/* bitsandblooms.c - the Bloom filter of Go's bits-and-blooms, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the stream that WriteTo of the Go package
 * bits-and-blooms/bloom writes, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Go program has written or will read.
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
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"

enum {
    BLOOMS_VERSION = 1,
    BLOOMS_M = 0, BLOOMS_K = 1,         /* geometry                          */
    BLOOMS_AT_M = 0, BLOOMS_AT_K = 8, BLOOMS_AT_LENGTH = 16,
    BLOOMS_AT_WORDS = 24,
    BLOOMS_K_MAX = 65536,
    BLOOMS_TURN = 56                    /* a word has its highest byte first */
};

#define BLOOMS_M_MAX (UINT64_C(1) << 60)

static const double BLOOMS_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

static uint64_t blooms_u64(const uint8_t *file, size_t at)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 8; i++)
        v = v << 8 | file[at + i];
    return v;
}

static void blooms_set_u64(uint8_t *file, size_t at, uint64_t v)
{
    for (size_t i = 0; i < 8; i++)
        file[at + i] = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t blooms_bytes(uint64_t m)
{
    return 8 * (m / 64 + (m % 64 != 0));
}

static strides blooms_strides(uint64_t m, uint64_t k)
{
    return (strides){ .m = m, .k = (uint32_t)k, .form = STRIDES_FOUR,
                      .width = 64 };
}

static void blooms_plan_row(bly_plan_t *plan, uint64_t m, uint64_t k,
                            uint64_t n)
{
    strides s = blooms_strides(m, k);
    rows_plan_strides(plan, &s, n, blooms_bytes(m));
    plan->geometry[BLOOMS_M] = m;
    plan->geometry[BLOOMS_K] = k;
}

static bly_status blooms_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of bits-and-blooms: "
                       "byte %u: %s: it is damaged, or of another format: "
                       "fetch it again, or name another format", at, what);
}

/* Returns whether the bits from m on, the highest of the last word, are
 * clear. */
static bool blooms_clear(const uint8_t *file, uint64_t m)
{
    uint64_t words = blooms_bytes(m) / 8;
    uint64_t last = blooms_u64(file, (size_t)(BLOOMS_AT_WORDS + 8 * words - 8));
    return m % 64 == 0 || last >> m % 64 == 0;
}

static bly_status blooms_check_file(const uint8_t *file, uint64_t bytes)
{
    if (bytes < BLOOMS_AT_WORDS)
        return status_fail(BLY_ECORRUPT, "read as a filter of bits-and-blooms, "
                           "whose header has 24 bytes, but there are %llu "
                           "bytes: it is cut short: fetch it again",
                           (unsigned long long)bytes);
    uint64_t m = blooms_u64(file, BLOOMS_AT_M);
    uint64_t k = blooms_u64(file, BLOOMS_AT_K);
    if (m == 0 || m > BLOOMS_M_MAX)
        return blooms_wrong(BLOOMS_AT_M, "the number of bits is not 1 .. 2^60");
    if (k == 0 || k > BLOOMS_K_MAX)
        return blooms_wrong(BLOOMS_AT_K, "the number of hash functions is not "
                            "1 .. 65536");
    if (blooms_u64(file, BLOOMS_AT_LENGTH) != m)
        return blooms_wrong(BLOOMS_AT_LENGTH, "the length of the bit set is "
                            "not the number of bits");
    if (bytes != BLOOMS_AT_WORDS + blooms_bytes(m))
        return status_fail(BLY_ECORRUPT, "read as a filter of bits-and-blooms: "
                           "byte 0: its %llu bits end at byte %llu, but there "
                           "are %llu bytes: fetch it again",
                           (unsigned long long)m,
                           (unsigned long long)(BLOOMS_AT_WORDS
                                                + blooms_bytes(m)),
                           (unsigned long long)bytes);
    return blooms_clear(file, m) ? BLY_OK
         : blooms_wrong((unsigned)BLOOMS_AT_WORDS, "bits beyond the last are "
                        "set");
}

/* Two equal numbers and the size leave little room for chance. */
static bool blooms_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    if (n < BLOOMS_AT_WORDS)
        return false;
    uint64_t m = blooms_u64(bytes, BLOOMS_AT_M);
    uint64_t k = blooms_u64(bytes, BLOOMS_AT_K);
    return m >= 1 && m <= BLOOMS_M_MAX && k >= 1 && k <= BLOOMS_K_MAX
        && blooms_u64(bytes, BLOOMS_AT_LENGTH) == m
        && all == BLOOMS_AT_WORDS + blooms_bytes(m);
}

static bly_status blooms_read(kind_found *out, const uint8_t *file,
                              uint64_t bytes)
{
    bly_status status = blooms_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t m = blooms_u64(file, BLOOMS_AT_M);
    uint64_t k = blooms_u64(file, BLOOMS_AT_K);
    *out = (kind_found){
        .capacity = probes_capacity(m, k), .items = IMAGE_ITEMS_UNKNOWN,
        .geometry = { m, k },
    };
    return BLY_OK;
}

static double blooms_rate(const kind_found *found, const uint8_t *file)
{
    strides s = blooms_strides(found->geometry[BLOOMS_M],
                               found->geometry[BLOOMS_K]);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t blooms_reach(const uint64_t *geometry)
{
    uint64_t m = geometry[BLOOMS_M], k = geometry[BLOOMS_K];
    return m < 1 || m > BLOOMS_M_MAX || k < 1 || k > BLOOMS_K_MAX ? UINT64_MAX
         : BLOOMS_AT_WORDS + blooms_bytes(m);
}

static const kind_foreign blooms_foreign = {
    .writer = "Go's bits-and-blooms/bloom, WriteTo",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
    },
    .looks  = blooms_looks,
    .read   = blooms_read,
    .rate   = blooms_rate,
    .reach  = blooms_reach,
};

static bly_status blooms_check(const void *image)
{
    return kind_check_foreign(image, &blooms_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status blooms_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double m = ceil(-n * log(spec->rate) / (BLOOMS_LN2 * BLOOMS_LN2));
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!(m <= (double)BLOOMS_M_MAX))
        return kind_too_big(spec, "2^60 bits");
    uint64_t bits = m < 1 ? 1 : (uint64_t)m;
    double k = fmax(1, ceil(BLOOMS_LN2 * (double)bits / n));
    bly_status status = kind_plan_bytes(plan, BLOOMS_AT_WORDS
                                              + blooms_bytes(bits));
    if (status == BLY_OK)
        blooms_plan_row(plan, bits, (uint64_t)k, spec->capacity);
    return status;
}

static bly_status blooms_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    (void)spec;
    blooms_set_u64(file, BLOOMS_AT_M, image_geometry(image, BLOOMS_M));
    blooms_set_u64(file, BLOOMS_AT_K, image_geometry(image, BLOOMS_K));
    blooms_set_u64(file, BLOOMS_AT_LENGTH, image_geometry(image, BLOOMS_M));
    return BLY_OK;
}

static void blooms_like(void *image, const void *other)
{
    (void)other;
    blooms_format(image, NULL);
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row blooms_row(const void *image)
{
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + BLOOMS_AT_WORDS,
        .bytes = image_payload_bytes(image) - BLOOMS_AT_WORDS,
        .m = image_geometry(image, BLOOMS_M),
        .inverse = probes_inverse(image_geometry(image, BLOOMS_M)),
        .k = image_geometry(image, BLOOMS_K),
        .from = blooms_strides(image_geometry(image, BLOOMS_M),
                               image_geometry(image, BLOOMS_K)),
        .turn = BLOOMS_TURN,
    };
}

static void blooms_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    hash_murmur3_128(key->bytes, key->length, 0, key->state);
    hash_murmur3_128_and(key->bytes, key->length, 1, 0, key->state + 2);
}

static uint64_t blooms_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint64_t step = key->state[2 + (i + i % 2) % 4 / 2];
    return probes_mod(row, key->state[i % 2] + i * step) ^ BLOOMS_TURN;
}

PROBES_WHOLE(blooms)
PROBES_LOOKS(blooms)
PROBES_ADD(blooms)

static const kind_whole blooms_whole = {
    .contains      = blooms_contains_key,
    .contains_many = blooms_contains_keys,
    .add           = blooms_add_key,
};

static const kind_combining blooms_combining = {
    .unite   = blooms_unite,
    .overlap = blooms_overlap,
};

const bly_kind bly_kind_bitsandblooms = {
    .name    = "bitsandblooms",
    .family  = "foreign",
    .summary = "the Bloom filter of Go's bits-and-blooms",
    .version = BLOOMS_VERSION,

    .plan   = blooms_plan,
    .format = blooms_format,
    .like   = blooms_like,
    .check  = blooms_check,
    .stat   = blooms_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &blooms_whole,
    .combining = &blooms_combining,
    .foreign   = &blooms_foreign,
};
