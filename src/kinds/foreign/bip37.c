/* bip37.c - the Bloom filter of Bitcoin's filterload message, in its own bytes.
 *
 * WHAT IT IS
 *
 * A wallet that stores no blocks sends its peer a filter of the addresses it is
 * waiting for, and gets the transactions that match. The payload is the body of
 * that message, byte for byte. The bytes do not identify the format, so it must
 * be named.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the filter in a Bitcoin filterload message, or to make one.
 *
 * WHEN NOT TO
 *
 * - No Bitcoin node must read the filter: use `standard`.
 * - The addresses are private: the filter tells the peer which they are, the
 *   more reliably the more filters it has seen. Today's wallets use block
 *   filters instead: see `bip158`.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %, 14.4 at 0.1 %, at
 * most 36,000 bytes. It computes a hash of the whole key for each probe.
 *
 * THE PICTURE
 *
 *      | bytes, 1 or 3 | bits | k, 4 | tweak, 4 | flags |
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 8 times the bytes of bits, 0 .. 288000
 *      geometry 1   k, probes, 0 .. 50
 *      geometry 2   tweak
 *      geometry 3   flags, 0 .. 255
 *      payload      CompactSize: how many bytes of bits, 0 .. 36000: one byte
 *                   below 253, else fd and two bytes; the bits, bit i being bit
 *                   (i mod 8) of byte i / 8; u32 k; u32 tweak; u8 flags. The
 *                   lowest byte comes first
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the number
 *      of bytes is written in as few as it can be, (3) the payload ends after
 *      the flags, (4) the geometry says the same.
 *
 * MATHS
 *
 * For n keys at a rate p, the message has floor(-n ln p / (ln 2)^2) bits,
 * 288000 at most, in whole bytes rounded down, and k = floor(m ln 2 / n), 50 at
 * most. Both are rounded down, so the rate is above p, and far above it for a
 * few keys: plan and stat report it. n is not in the message; for an opened one
 * it is taken to be m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 *      bit i, i = 0 .. k-1, is MurmurHash3_x86_32(key, seed i fba4c795 + tweak)
 *      mod m, the seed modulo 2^32
 *
 * A filter without bits contains no key, so nothing is divided by 0.
 *
 * PAPERS
 *
 *  [Hearn 2012]    Hearn & Corallo, Connection Bloom filtering, BIP 37.
 *  [Gervais 2014]  On the privacy provisions of Bloom filters in lightweight
 *                  Bitcoin clients, ACSAC.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"

enum {
    BIP37_VERSION = 1,
    BIP37_M = 0, BIP37_K = 1, BIP37_TWEAK = 2, BIP37_FLAGS = 3, /* geometry  */
    BIP37_OPTION_TWEAK = 0, BIP37_OPTION_FLAGS = 1,
    BIP37_BYTES_MAX = 36000, BIP37_K_MAX = 50, BIP37_SHORT = 253,
    BIP37_TAIL = 9,                     /* k, tweak and flags                */
    BIP37_LEAST = 1 + BIP37_TAIL
};

static const kind_option bip37_options[] = {
    [BIP37_OPTION_TWEAK] = {
        .name = "tweak", .help = "a number that seeds the hashes",
        .least = 0, .most = UINT32_MAX, .standard = 0 },
    [BIP37_OPTION_FLAGS] = {
        .name = "flags", .help = "how the peer updates it: 0 not, 1 all, 2 "
                                 "public keys only",
        .least = 0, .most = 255, .standard = 0 },
    { .name = NULL },
};

static const double BIP37_LN2 = 0.69314718055994530942;

/* ---- The message ------------------------------------------------------- */

/* Returns the offset of the bits, from their number of bytes. */
static uint64_t bip37_head(uint64_t bytes)
{
    return bytes < BIP37_SHORT ? 1 : 3;
}

static uint64_t bip37_size(uint64_t bytes)
{
    return bip37_head(bytes) + bytes + BIP37_TAIL;
}

/* Returns how many bytes of bits a message states; may be too many. */
static uint64_t bip37_said(const uint8_t *file, uint64_t bytes)
{
    if (bytes < BIP37_LEAST || file[0] > BIP37_SHORT)
        return UINT64_MAX;
    if (file[0] < BIP37_SHORT)
        return file[0];
    uint64_t said = (uint64_t)file[1] | (uint64_t)file[2] << 8;
    return said < BIP37_SHORT ? UINT64_MAX : said;
}

static bly_status bip37_plan_row(bly_plan_t *plan, uint64_t bytes, uint64_t k,
                                 uint64_t n)
{
    bly_status status = kind_plan_bytes(plan, bip37_size(bytes));
    rows_plan_row(plan, 8 * bytes, (uint32_t)k, n, bytes);
    plan->geometry[BIP37_M] = 8 * bytes;
    plan->geometry[BIP37_K] = k;
    return status;
}

static bly_status bip37_wrong(const uint8_t *file, uint64_t bytes)
{
    uint64_t said = bip37_said(file, bytes);
    if (said > BIP37_BYTES_MAX)
        return status_fail(BLY_ECORRUPT, "read as a filterload message: byte "
                           "0: it is too short, or has more than 36000 bytes "
                           "of bits: name another format, or fetch it again");
    if (bytes != bip37_size(said))
        return status_fail(BLY_ECORRUPT, "read as a filterload message: byte "
                           "0: it should have %llu bytes of bits, and %llu in "
                           "all, but there are %llu: fetch it again",
                           (unsigned long long)said,
                           (unsigned long long)bip37_size(said),
                           (unsigned long long)bytes);
    return status_fail(BLY_ECORRUPT, "read as a filterload message: byte %llu: "
                       "it has more than 50 hash functions: fetch it again",
                       (unsigned long long)(bytes - BIP37_TAIL));
}

static bly_status bip37_read(kind_found *out, const uint8_t *file,
                             uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    uint64_t said = bip37_said(file, bytes);
    if (said > BIP37_BYTES_MAX || bytes != bip37_size(said)
        || image_u32(file, (size_t)bytes - BIP37_TAIL) > BIP37_K_MAX)
        return bip37_wrong(file, bytes);
    uint64_t k = image_u32(file, (size_t)bytes - BIP37_TAIL);
    uint64_t n = probes_capacity(8 * said, k);
    if (said > 0 && k > 0)
        (void)bip37_plan_row(&plan, said, k, n);
    *out = (kind_found){
        .capacity = n, .items = IMAGE_ITEMS_UNKNOWN,
        .rate = said > 0 && k == 0 ? 1 : plan.rate,
        .geometry = { 8 * said, k, image_u32(file, (size_t)bytes - 5),
                      file[bytes - 1] },
    };
    return BLY_OK;
}

static uint64_t bip37_reach(const uint64_t *geometry)
{
    uint64_t bytes = geometry[BIP37_M] / 8;
    return bytes > BIP37_BYTES_MAX || geometry[BIP37_M] % 8 != 0
        || geometry[BIP37_K] > BIP37_K_MAX ? UINT64_MAX : bip37_size(bytes);
}

static const kind_foreign bip37_foreign = {
    .writer = "Bitcoin wallets: the filterload message (BIP 37)",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "tweak", NULL },
        { "flags", NULL },
    },
    .read   = bip37_read,
    .reach  = bip37_reach,
};

static bly_status bip37_check(const void *image)
{
    return kind_check_foreign(image, &bip37_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status bip37_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double bits = floor(-n * log(spec->rate) / (BIP37_LN2 * BIP37_LN2));
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (bits > 8 * (double)BIP37_BYTES_MAX)
        return kind_too_big(spec, "36000 bytes");
    uint64_t bytes = (uint64_t)bits / 8;
    if (bytes == 0)
        return status_fail(BLY_EPARAM, "%llu keys at a rate of %.3g would take "
                           "less than a byte: use more keys or a lower rate",
                           (unsigned long long)spec->capacity, spec->rate);
    double k = fmin(BIP37_K_MAX, floor(8 * (double)bytes / n * BIP37_LN2));
    if (k < 1)
        return status_fail(BLY_EPARAM, "%llu keys at a rate of %.3g would have "
                           "no hash function: use a lower rate",
                           (unsigned long long)spec->capacity, spec->rate);
    bly_status status = bip37_plan_row(plan, bytes, (uint64_t)k,
                                       spec->capacity);
    plan->geometry[BIP37_TWEAK] = spec->option[BIP37_OPTION_TWEAK];
    plan->geometry[BIP37_FLAGS] = spec->option[BIP37_OPTION_FLAGS];
    return status;
}

static bly_status bip37_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t bytes = image_geometry(image, BIP37_M) / 8;
    size_t tail = (size_t)(bip37_head(bytes) + bytes);
    (void)spec;
    file[0] = bytes < BIP37_SHORT ? (uint8_t)bytes : BIP37_SHORT;
    if (bytes >= BIP37_SHORT) {
        file[1] = (uint8_t)bytes;
        file[2] = (uint8_t)(bytes >> 8);
    }
    image_set_u32(file, tail, (uint32_t)image_geometry(image, BIP37_K));
    image_set_u32(file, tail + 4, (uint32_t)image_geometry(image, BIP37_TWEAK));
    file[tail + 8] = (uint8_t)image_geometry(image, BIP37_FLAGS);
    return BLY_OK;
}

static void bip37_like(void *image, const void *other)
{
    (void)other;
    bip37_format(image, NULL);
}

/* ---- Keys -------------------------------------------------------------- */

enum { BIP37_WITH_TWEAK };

static probes_row bip37_row(const void *image)
{
    uint64_t m = image_geometry(image, BIP37_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + bip37_head(m / 8),
        .bytes = (size_t)(m / 8), .m = m, .k = image_geometry(image, BIP37_K),
        .with = { [BIP37_WITH_TWEAK] = image_geometry(image, BIP37_TWEAK) },
    };
}

static void bip37_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    (void)key;
}

static uint64_t bip37_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint32_t seed = (uint32_t)i * 0xFBA4C795
                  + (uint32_t)row->with[BIP37_WITH_TWEAK];
    return hash_murmur3_32(key->bytes, key->length, seed) % row->m;
}

PROBES_WHOLE(bip37)
PROBES_LOOKS(bip37)
PROBES_ADD(bip37)

static const kind_whole bip37_whole = {
    .contains      = bip37_contains_key,
    .contains_many = bip37_contains_keys,
    .add           = bip37_add_key,
};

static const kind_combining bip37_combining = {
    .unite   = bip37_unite,
    .overlap = bip37_overlap,
};

const bly_kind bly_kind_bip37 = {
    .name    = "bip37",
    .family  = "foreign",
    .summary = "the Bloom filter of Bitcoin's filterload message",
    .version = BIP37_VERSION,
    .options = bip37_options,

    .plan   = bip37_plan,
    .format = bip37_format,
    .like   = bip37_like,
    .check  = bip37_check,
    .stat   = bip37_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &bip37_whole,
    .combining = &bip37_combining,
    .foreign   = &bip37_foreign,
};
