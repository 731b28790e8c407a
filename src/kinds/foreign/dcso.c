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
 * (src/maths/strides.h).
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
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"
#include "bodies/rows.h"
#include "bits/bits.h"

enum {
    DCSO_VERSION = 1,
    DCSO_M = 0, DCSO_K = 1,             /* geometry                          */
    DCSO_AT_FLAGS = 0, DCSO_AT_N = 8, DCSO_AT_P = 16, DCSO_AT_K = 24,
    DCSO_AT_M = 32, DCSO_AT_ADDED = 40, DCSO_AT_WORDS = 48,
    DCSO_FLAGS = 1,
    DCSO_K_MAX = 1088                   /* above what the least p asks for   */
};

#define DCSO_M_MAX (UINT64_C(1) << 60)
#define DCSO_PRIME UINT64_C(18446744073709551557)
#define DCSO_STEP  UINT64_C(18446744073709550147)

static const double DCSO_LN2 = 0.69314718055994530942;

/* ---- Sizes ------------------------------------------------------------- */

static double dcso_bits(double n, double p)
{
    return floor(n * fabs(log(p)) / (DCSO_LN2 * DCSO_LN2));
}

static double dcso_probes(double n, double m)
{
    return ceil(DCSO_LN2 * m / n);
}

static uint64_t dcso_words_bytes(uint64_t m)
{
    return 8 * (m / 64 + (m % 64 != 0));
}

static strides dcso_strides(uint64_t m, uint64_t k)
{
    return (strides){ .m = m, .k = (uint32_t)k, .form = STRIDES_POWERS,
                      .factor = DCSO_STEP, .width = 64 };
}

static void dcso_plan_row(bly_plan_t *plan, uint64_t m, uint64_t k, uint64_t n)
{
    strides s = dcso_strides(m, k);
    rows_plan_strides(plan, &s, n, dcso_words_bytes(m));
    plan->geometry[DCSO_M] = m;
    plan->geometry[DCSO_K] = k;
}

/* ---- The file ---------------------------------------------------------- */

static bly_status dcso_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a DCSO filter: byte %u: %s: it "
                       "is damaged, or of another format: fetch it again, or "
                       "name its format", at, what);
}

/* m and k follow from n and p, but for rounding. */
static bly_status dcso_check_sizes(double n, double p, uint64_t m, uint64_t k)
{
    double bits = dcso_bits(n, p);
    if (fabs((double)m - bits) > 1 + bits * 1e-12)
        return dcso_wrong(DCSO_AT_M, "the number of bits does not follow from "
                          "the keys and the rate");
    if (fabs((double)k - dcso_probes(n, (double)m)) > 1)
        return dcso_wrong(DCSO_AT_K, "the number of hash functions does not "
                          "follow from the keys and the bits");
    return BLY_OK;
}

static bly_status dcso_check_fields(const uint8_t *file)
{
    uint64_t n = image_u64(file, DCSO_AT_N), k = image_u64(file, DCSO_AT_K);
    uint64_t m = image_u64(file, DCSO_AT_M);
    double p = image_f64(file, DCSO_AT_P);
    if (image_u64(file, DCSO_AT_FLAGS) != DCSO_FLAGS)
        return status_fail(BLY_EVERSION, "read as a DCSO filter: byte 0: the "
                           "version is not 1: name another format, or convert "
                           "it with the program that wrote it");
    if (n == 0)
        return dcso_wrong(DCSO_AT_N, "its capacity is 0");
    if (!(p > 0 && p < 1))
        return dcso_wrong(DCSO_AT_P, "its rate is not between 0 and 1");
    if (k == 0 || k > DCSO_K_MAX)
        return dcso_wrong(DCSO_AT_K, "the number of hash functions is not "
                          "1 .. 1088");
    if (m == 0 || m > DCSO_M_MAX)
        return dcso_wrong(DCSO_AT_M, "the number of bits is not 1 .. 2^60");
    return dcso_check_sizes((double)n, p, m, k);
}

static bly_status dcso_check_file(const uint8_t *file, uint64_t bytes)
{
    if (bytes < DCSO_AT_WORDS)
        return status_fail(BLY_ECORRUPT, "read as a DCSO filter, whose header "
                           "has 48 bytes, but there are %llu bytes: it is cut "
                           "short: fetch it again", (unsigned long long)bytes);
    bly_status status = dcso_check_fields(file);
    if (status != BLY_OK)
        return status;
    uint64_t m = image_u64(file, DCSO_AT_M), words = dcso_words_bytes(m);
    if (bytes - DCSO_AT_WORDS < words)
        return status_fail(BLY_ECORRUPT, "read as a DCSO filter, whose %llu "
                           "bits end at byte %llu, but there are %llu bytes: "
                           "it is cut short: fetch it again",
                           (unsigned long long)m,
                           (unsigned long long)(DCSO_AT_WORDS + words),
                           (unsigned long long)bytes);
    if (!bits_clear_from(file + DCSO_AT_WORDS, (size_t)words, m))
        return status_fail(BLY_ECORRUPT, "read as a DCSO filter: bits beyond "
                           "the last of %llu are set: it is damaged: fetch it "
                           "again", (unsigned long long)m);
    return BLY_OK;
}

static bool dcso_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    double p = n >= DCSO_AT_WORDS ? image_f64(bytes, DCSO_AT_P) : 0;
    return all > DCSO_AT_WORDS && p > 0 && p < 1
        && image_u64(bytes, DCSO_AT_FLAGS) == DCSO_FLAGS
        && image_u64(bytes, DCSO_AT_K) <= DCSO_K_MAX;
}

static bly_status dcso_read(kind_found *out, const uint8_t *file,
                            uint64_t bytes)
{
    bly_status status = dcso_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    *out = (kind_found){
        .capacity = image_u64(file, DCSO_AT_N),
        .items = image_u64(file, DCSO_AT_ADDED),
        .geometry = { image_u64(file, DCSO_AT_M), image_u64(file, DCSO_AT_K) },
    };
    return BLY_OK;
}

static double dcso_rate(const kind_found *found, const uint8_t *file)
{
    strides s = dcso_strides(found->geometry[DCSO_M],
                             found->geometry[DCSO_K]);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t dcso_reach(const uint64_t *geometry)
{
    uint64_t m = geometry[DCSO_M], k = geometry[DCSO_K];
    return m < 1 || m > DCSO_M_MAX || k < 1 || k > DCSO_K_MAX ? UINT64_MAX
         : DCSO_AT_WORDS + dcso_words_bytes(m);
}

static const kind_foreign dcso_foreign = {
    .writer = "DCSO's bloom, flor and CIRCL's hashlookup",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
    },
    .looks  = dcso_looks,
    .read   = dcso_read,
    .rate   = dcso_rate,
    .reach  = dcso_reach,
    .attaches = true,
    .plans  = true,
};

static bly_status dcso_check(const void *image)
{
    return kind_check_foreign(image, &dcso_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status dcso_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity, m = dcso_bits(n, spec->rate);
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (m > (double)DCSO_M_MAX)
        return kind_too_big(spec, "2^60 bits");
    uint64_t bits = m < 1 ? 1 : (uint64_t)m;
    bly_status status = kind_plan_bytes(plan, DCSO_AT_WORDS
                                              + dcso_words_bytes(bits));
    if (status != BLY_OK)
        return status;
    double k = dcso_probes(n, (double)bits);
    dcso_plan_row(plan, bits, k < 1 ? 1 : (uint64_t)k, spec->capacity);
    return BLY_OK;
}

static bly_status dcso_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    image_set_u64(file, DCSO_AT_FLAGS, DCSO_FLAGS);
    image_set_u64(file, DCSO_AT_N, spec->capacity);
    image_set_f64(file, DCSO_AT_P, spec->rate);
    image_set_u64(file, DCSO_AT_K, image_geometry(image, DCSO_K));
    image_set_u64(file, DCSO_AT_M, image_geometry(image, DCSO_M));
    return BLY_OK;
}

/* Copies the attached data as well: there is room for it, and zeros would be
 * data too. */
static void dcso_like(void *image, const void *other)
{
    uint8_t *file = image_payload_mut(image);
    const uint8_t *from = image_payload(other);
    uint64_t data = DCSO_AT_WORDS
                  + dcso_words_bytes(image_geometry(image, DCSO_M));
    memcpy(file, from, DCSO_AT_ADDED);
    memcpy(file + data, from + data,
           (size_t)(image_payload_bytes(other) - data));
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row dcso_row(const void *image)
{
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + DCSO_AT_WORDS,
        .bytes = (size_t)dcso_words_bytes(image_geometry(image, DCSO_M)),
        .m = image_geometry(image, DCSO_M),
        .inverse = probes_inverse(image_geometry(image, DCSO_M)),
        .k = image_geometry(image, DCSO_K),
        .from = dcso_strides(image_geometry(image, DCSO_M),
                             image_geometry(image, DCSO_K)),
    };
}

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

PROBES_WHOLE(dcso)
PROBES_LOOKS(dcso)
PROBES_PUT(dcso)

/* N, which ends at its largest. */
static void dcso_count(uint8_t *file, uint64_t more)
{
    uint64_t n = image_u64(file, DCSO_AT_ADDED);
    image_set_u64(file, DCSO_AT_ADDED, n > UINT64_MAX - more ? UINT64_MAX
                                                             : n + more);
}

static bly_status dcso_add_key(void *image, uint64_t hash, const void *bytes,
                               size_t length)
{
    bly_status status = dcso_put(image, bytes, length);
    (void)hash;
    dcso_count(image_payload_mut(image), status == BLY_OK);
    return status;
}

/* ---- Sets -------------------------------------------------------------- */

/* Requires one n and p, as the system's own `join` does. */
static bool dcso_alike(const void *a, const void *b)
{
    return memcmp(image_payload(a), image_payload(b), DCSO_AT_ADDED) == 0;
}

/* With the number of keys. */
static bly_status dcso_unite_all(void *into, const void *other)
{
    dcso_count(image_payload_mut(into),
               image_u64(image_payload(other), DCSO_AT_ADDED));
    return dcso_unite(into, other);
}

static const kind_whole dcso_whole = {
    .contains      = dcso_contains_key,
    .contains_many = dcso_contains_keys,
    .add           = dcso_add_key,
};

static const kind_combining dcso_combining = {
    .alike   = dcso_alike,
    .unite   = dcso_unite_all,
    .overlap = dcso_overlap,
};

const bly_kind bly_kind_dcso = {
    .name    = "dcso",
    .family  = "foreign",
    .summary = "the filter files of DCSO's bloom and CIRCL's hashlookup",
    .version = DCSO_VERSION,

    .plan   = dcso_plan,
    .format = dcso_format,
    .like   = dcso_like,
    .check  = dcso_check,
    .stat   = dcso_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &dcso_whole,
    .combining = &dcso_combining,
    .foreign   = &dcso_foreign,
};
