/* rehash.c - a Bloom filter that hashes the key anew for every bit.
 *
 * WHAT IT IS
 *
 * The Bloom filter as textbooks describe it: k hash functions, each of which
 * selects one bit for the key. Every other kind derives all its positions from
 * one 64-bit hash, which is faster. This kind computes k hashes. It can
 * therefore reproduce filters that others built this way, and use the families
 * of hash functions that theorems are about.
 *
 * WHEN TO USE IT
 *
 * Use it to be compatible with a filter that hashes the key again for every
 * bit, or to measure hash functions.
 *
 * WHEN NOT TO
 *
 * - For all other purposes `standard` has the same size and rate and is
 *   faster.
 * - With key=whole the filter hashes the bytes of each key. It then needs the
 *   key itself: a lookup by hash alone answers "perhaps", and an add by hash
 *   alone is refused.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.6                  7                  2
 *      0.1 %        14.4                 10                  2
 *
 * Each probe computes a hash as well: k of them for a present key, two on
 * average for an absent one.
 *
 * THE PICTURE (m = 16, k = 3)
 *
 *      key --+-- hash with seed 0 --- mod 16 -->  6
 *            +-- hash with seed 1 --- mod 16 --> 11
 *            +-- hash with seed 2 --- mod 16 -->  1
 *
 *      bit  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
 *         | 0  1  0  0  0  0  1  0  0  0  0  1  0  0  0  0 |
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^60; 1 .. 2^32 where the functions
 *                   give 32 bits
 *      geometry 1   k, probes, 1 .. 512
 *      geometry 2   the functions, 0 .. 7 as in the table below
 *      geometry 3   what is hashed: 0 the 64-bit hash of the key, as 8 bytes,
 *                   lowest first; 1 the bytes of the key
 *      payload      ceil(m/8) bytes; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) functions
 *      0 and 5 to 7 hash no bytes of keys, (3) the payload has ceil(m/8) bytes,
 *      (4) the bits from m on are clear.
 *
 * MATHS
 *
 * Rate and sizes are those of `standard` with independent positions, as far as
 * the functions are as good as independent. That holds for xxh64, murmur3,
 * slices, tabulation, and for multiply and the polynomials applied to hashes.
 * It does not hold for murmur2. For the keys "0" … "49999" in 479256 bits with
 * k = 7, it sets 245664 bits; 248367 are expected, with a standard deviation of
 * 196. That is fewer bits, and fewer false positives. So murmur2 needs m= and a
 * capacity, and is not planned for a rate.
 *
 * The last four functions keep their promise for any keys, provided that the
 * key is an integer (hash=identity, hash=decimal) and the seed is drawn after
 * the keys were chosen. `multiply` and `poly2` are strictly 2-universal,
 * `poly4` is 4-universal, `tabulation` 3-universal and by [Patrascu 2012]
 * better than that suggests. A guaranteed rate for k probes would need k-fold
 * independence of n keys at once; lab/vadhan shows how much of that is visible
 * on hard inputs. The c(i,j) are themselves derived from the seed, so the
 * families are only as strict as that derivation is random.
 *
 * FUNCTIONS
 *
 * These give position i, i = 0 .. k-1, of the bytes x or of the 64-bit hash x.
 * s is the filter's seed, and s_32 its lower 32 bits:
 *
 *      0  multiply     ((a x + b) mod 2^128) / 2^64, rounded down, = y; the
 *                      position is floor(y m / 2^64). a, b: c(i,0) 2^64 +
 *                      c(i,1) and c(i,2) 2^64 + c(i,3)
 *      1  xxh64        XXH64(x, seed s + i) mod m
 *      2  murmur3      MurmurHash3_x86_32(x, seed s_32 + i) mod m
 *      3  murmur2      MurmurHash2(x, seed s_32 + i) mod m, 32 bits
 *      4  slices       fields of w bits of MurmurHash3_x64_128(x, seed s_32),
 *                      then (…, seed s_32 + 1) and so on, floor(64 / w) from
 *                      each word of 64, its lowest first; a field f is the
 *                      position floor(f m / 2^w). w is log2 m where that is
 *                      whole (1 for m = 1), and else 8 more than m - 1 has
 *                      bits, 64 at most
 *      5  poly2        y = c(i,0) + c(i,1) x in the field of 2^64 elements
 *      6  poly4        y = c(i,0) + c(i,1) x + c(i,2) x^2 + c(i,3) x^3 there
 *      7  tabulation   y = T(0, x_0) xor … xor T(7, x_7), x_j the bytes of x,
 *                      T(j, v) = c(i, 256 j + v)
 *
 * c(i,j) = mix(mix(s + (i+1) g) + (j+1) g), all modulo 2^64, with mix and g as
 * in src/bits/hash.h and src/bits/index.h. The field consists of the
 * polynomials over {0, 1} modulo t^64 + t^4 + t^3 + t + 1; bit j of a number is
 * the coefficient of t^j.
 *
 * PAPERS
 *
 *  [Bloom 1970]     Space/time trade-offs in hash coding with allowable errors,
 *                   CACM 13(7). "Method 2", with its d hash codes.
 *  [Wegman 1981]    Wegman & Carter, New hash functions and their use in
 *                   authentication and set equality, JCSS 22(3). Polynomials.
 *  [Dietzfelbinger 1996]  Universal hashing and k-wise independent random
 *                   variables via integer arithmetic without primes, STACS.
 *  [Patrascu 2012]  Pătraşcu & Thorup, The power of simple tabulation hashing,
 *                   JACM 59(3).
 */
#include "image/abilities.h"

#include <assert.h>
#include <string.h>

#include "bodies/probes.h"
#include "bodies/rows.h"
#include "bits/bits.h"
#include "bits/index.h"

enum {
    REHASH_VERSION = 1,
    REHASH_M = KIND_ROW_M, REHASH_K = KIND_ROW_K, REHASH_BY = 2, REHASH_KEY = 3,
    REHASH_K_MAX = 512,
    REHASH_MULTIPLY = 0, REHASH_XXH64, REHASH_MURMUR3, REHASH_MURMUR2,
    REHASH_SLICES, REHASH_POLY2, REHASH_POLY4, REHASH_TABULATION,
    REHASH_FUNCTIONS
};

#define REHASH_M_MAX    (UINT64_C(1) << 60)
#define REHASH_M_MAX_32 (UINT64_C(1) << 32)

static const char *const rehash_functions[REHASH_FUNCTIONS + 1] = {
    [REHASH_MULTIPLY] = "multiply", [REHASH_XXH64] = "xxh64",
    [REHASH_MURMUR3] = "murmur3",   [REHASH_MURMUR2] = "murmur2",
    [REHASH_SLICES] = "slices",     [REHASH_POLY2] = "poly2",
    [REHASH_POLY4] = "poly4",       [REHASH_TABULATION] = "tabulation",
};

static const char *const rehash_keys[] = { "hash", "whole", NULL };

/* In the order of the geometry. */
static const kind_option rehash_options[] = {
    [REHASH_M] = {
        .name = "m", .help = "number of bits, instead of a rate",
        .least = 1, .most = REHASH_M_MAX, .standard = KIND_CHOOSE,
    },
    [REHASH_K] = {
        .name = "k", .help = "probes: bits that a key sets",
        .least = 1, .most = REHASH_K_MAX, .standard = KIND_CHOOSE,
    },
    [REHASH_BY] = {
        .name = "by", .help = "the hash functions (murmur2 has no plan for a "
                              "rate: give m=)",
        .choices = rehash_functions, .standard = REHASH_MULTIPLY,
    },
    [REHASH_KEY] = {
        .name = "key", .help = "what they hash: the key's 64-bit hash, or the "
                               "key's own bytes",
        .choices = rehash_keys, .standard = 0,
    },
    { .name = NULL },
};

/* Returns whether the functions give 32 bits and hash integers rather than
 * bytes. */
static bool rehash_short(uint64_t by)
{
    return by == REHASH_MURMUR3 || by == REHASH_MURMUR2;
}

static bool rehash_of_integers(uint64_t by)
{
    return by == REHASH_MULTIPLY || by >= REHASH_POLY2;
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status rehash_check_spec(const kind_spec *spec)
{
    uint64_t by = spec->option[REHASH_BY];
    bool sized = spec->capacity != 0 && spec->option[REHASH_M] != KIND_CHOOSE;
    if (by == REHASH_MURMUR2 && !sized)
        return status_fail(BLY_EPARAM, "by=murmur2 has other error rates than "
                           "independent functions, and cannot be planned for a "
                           "rate: give m= and a capacity, or choose "
                           "by=murmur3");
    if (rehash_of_integers(by) && spec->option[REHASH_KEY] != 0)
        return status_fail(BLY_EPARAM, "by=%s hashes numbers of 64 bits, not "
                           "bytes: leave key=whole out, or choose xxh64, "
                           "murmur3, murmur2 or slices with by=",
                           rehash_functions[by]);
    return BLY_OK;
}

static bly_status rehash_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t m = 0, n = 0, by = spec->option[REHASH_BY];
    uint32_t k = 0;
    const kind_row row = {
        .m_most = rehash_short(by) ? REHASH_M_MAX_32 : REHASH_M_MAX,
        .k_most = REHASH_K_MAX,
        .limit = rehash_short(by) ? "2^32 bits, as its functions have 32"
                                  : "2^60 bits",
    };
    bly_status status = rehash_check_spec(spec);
    if (status == BLY_OK)
        status = kind_row_size(&m, &k, &n, spec, &row);
    if (status == BLY_OK && m > row.m_most)
        status = kind_too_big(spec, row.limit);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, rows_bytes_of(m));
    if (status != BLY_OK)
        return status;

    rows_plan_row(plan, m, k, n, rows_bytes_of(m));
    plan->geometry[REHASH_M] = m;
    plan->geometry[REHASH_K] = k;
    plan->geometry[REHASH_BY] = by;
    plan->geometry[REHASH_KEY] = spec->option[REHASH_KEY];
    return BLY_OK;
}

/* A secret is for the hash, which key=whole does not use. */
static bly_status rehash_format(void *image, const kind_spec *spec)
{
    const hash_info *hash = hash_find_field((uint8_t *)image + IMAGE_HASH);
    if (spec->option[REHASH_KEY] != 0 && hash != NULL && hash->keyed)
        return status_fail(BLY_EPARAM, "key=whole does not hash with a secret: "
                           "leave key=whole out, or the secret");
    return BLY_OK;
}

static void rehash_like(void *image, const void *other)
{
    (void)image;
    (void)other;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status rehash_check(const void *image)
{
    uint64_t m = image_geometry(image, REHASH_M);
    uint64_t k = image_geometry(image, REHASH_K);
    uint64_t by = image_geometry(image, REHASH_BY);
    uint64_t key = image_geometry(image, REHASH_KEY);
    size_t bytes = image_payload_bytes(image);

    bool sound = m >= 1 && m <= (rehash_short(by) ? REHASH_M_MAX_32
                                                  : REHASH_M_MAX)
              && k >= 1 && k <= REHASH_K_MAX && by < REHASH_FUNCTIONS
              && key <= (rehash_of_integers(by) ? 0 : 1)
              && bytes == rows_bytes_of(m);
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), bytes, m))
        return status_fail(BLY_ECORRUPT, "bits beyond the last are set");
    return BLY_OK;
}

/* ---- Functions --------------------------------------------------------- */

/* The numbers, besides the row, that the functions need from an image: `with`
 * of probes_row. */
enum { REHASH_WITH_BY, REHASH_WITH_SEED, REHASH_WITH_FIELD };

/* `state` of a key: the number that it is, if it is one; for slices the last
 * hash, the one of so many whole ones before it, and 1. */
enum { REHASH_NUMBER, REHASH_WORDS, REHASH_MADE = 3 };

static unsigned rehash_field(uint64_t m)
{
    unsigned bits = 1;
    while (bits < 64 && (m - 1) >> bits != 0)
        bits++;
    return (m & (m - 1)) == 0 ? bits : bits > 56 ? 64 : bits + 8;
}

static probes_row rehash_look(const void *image)
{
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .m = image_geometry(image, REHASH_M),
        .k = image_geometry(image, REHASH_K),
        .with = {
            [REHASH_WITH_BY] = image_geometry(image, REHASH_BY),
            [REHASH_WITH_SEED] = image_u64(image, IMAGE_SEED),
            [REHASH_WITH_FIELD] = rehash_field(image_geometry(image, REHASH_M)),
        },
    };
}

/* Returns whether the filter hashes whole keys. */
static bool rehash_whole(const void *image)
{
    return image_geometry(image, REHASH_KEY) != 0;
}

/* Returns the number that c(i,j) of the essay is drawn from, and c(i,j). */
static uint64_t rehash_source(const probes_row *v, uint64_t i)
{
    return hash_mix(v->with[REHASH_WITH_SEED] + (i + 1) * INDEX_GOLDEN);
}

static uint64_t rehash_drawn(uint64_t source, uint64_t j)
{
    return hash_mix(source + (j + 1) * INDEX_GOLDEN);
}

/* The product of two elements of the field. */
static uint64_t rehash_times(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (unsigned i = 64; i-- > 0; ) {
        product = product << 1 ^ (product >> 63) * 0x1B;
        product ^= (b >> i & 1) * a;
    }
    return product;
}

/* Evaluates a polynomial by Horner's rule, highest power first. */
static uint64_t rehash_polynomial(uint64_t source, uint64_t x, unsigned terms)
{
    uint64_t y = 0;
    for (unsigned j = terms; j-- > 0; )
        y = rehash_times(y, x) ^ rehash_drawn(source, j);
    return y;
}

/* The high half of (a x + b) modulo 2^128, a and b of two words each. */
static uint64_t rehash_multiply(uint64_t source, uint64_t x)
{
    uint64_t a = rehash_drawn(source, 1), b = rehash_drawn(source, 3);
    uint64_t high = platform_mul_high(a, x) + rehash_drawn(source, 0) * x
                  + rehash_drawn(source, 2);
    return high + (a * x + b < b);
}

static uint64_t rehash_tabulation(uint64_t source, uint64_t x)
{
    uint64_t y = 0;
    for (uint64_t j = 0; j < 8; j++)
        y ^= rehash_drawn(source, 256 * j + (x >> 8 * j & 0xFF));
    return y;
}

static uint64_t rehash_slice(const probes_row *v, probes_key *key, uint64_t i)
{
    uint64_t width = v->with[REHASH_WITH_FIELD], each = 64 / width;
    uint64_t word = i / each, *words = &key->state[REHASH_WORDS];
    if (key->state[REHASH_MADE] != word / 2 + 1) {
        hash_murmur3_128(key->bytes, key->length,
                         (uint32_t)(v->with[REHASH_WITH_SEED] + word / 2),
                         words);
        key->state[REHASH_MADE] = word / 2 + 1;
    }
    uint64_t field = words[word % 2] >> i % each * width;
    return bits_range(field << (64 - width), v->m);
}

/* Hashes an integer to 64 bits. */
static uint64_t rehash_family(const probes_row *v, uint64_t x, uint64_t i)
{
    uint64_t source = rehash_source(v, i);
    switch (v->with[REHASH_WITH_BY]) {
    case REHASH_POLY2:
        return rehash_polynomial(source, x, 2);
    case REHASH_POLY4:
        return rehash_polynomial(source, x, 4);
    case REHASH_TABULATION:
        return rehash_tabulation(source, x);
    default:
        return rehash_multiply(source, x);
    }
}

/* Position i of a key. */
static uint64_t rehash_next(const probes_row *v, probes_key *key, uint64_t i)
{
    uint64_t seed = v->with[REHASH_WITH_SEED] + i;
    switch (v->with[REHASH_WITH_BY]) {
    case REHASH_XXH64:
        return hash_xxh64(key->bytes, key->length, seed) % v->m;
    case REHASH_MURMUR3:
        return hash_murmur3_32(key->bytes, key->length, (uint32_t)seed) % v->m;
    case REHASH_MURMUR2:
        return hash_murmur2_32(key->bytes, key->length, (uint32_t)seed) % v->m;
    case REHASH_SLICES:
        return rehash_slice(v, key, i);
    default:
        return bits_range(rehash_family(v, key->state[REHASH_NUMBER], i), v->m);
    }
}

/* A key of 8 bytes is the number that they are. */
static void rehash_begin(const probes_row *v, probes_key *key)
{
    (void)v;
    key->state[REHASH_MADE] = 0;
    if (key->length == 8)
        key->state[REHASH_NUMBER] = image_u64(key->bytes, 0);
}

/* ---- Single keys ------------------------------------------------------- */

static bly_status rehash_wants_key(void)
{
    return status_fail(BLY_EUNSUPPORTED, "the filter hashes whole keys "
                       "(key=whole): give it keys, not hashes");
}

static bool rehash_has(const void *image, const void *bytes, size_t length)
{
    probes_row row = rehash_look(image);
    probes_key key = { .bytes = bytes, .length = length };
    return probes_has(&row, &key, rehash_begin, rehash_next);
}

static bly_status rehash_put(const void *image, const void *bytes,
                             size_t length)
{
    probes_row row = rehash_look(image);
    probes_key key = { .bytes = bytes, .length = length };
    return probes_put(&row, &key, rehash_begin, rehash_next);
}

/* Answers true for a hash alone in a filter of whole keys. */
static bool rehash_contains(const void *image, uint64_t hash)
{
    uint8_t bytes[8];
    image_set_u64(bytes, 0, hash);
    return rehash_whole(image) || rehash_has(image, bytes, sizeof bytes);
}

static bly_status rehash_add(void *image, uint64_t hash)
{
    uint8_t bytes[8];
    image_set_u64(bytes, 0, hash);
    return rehash_whole(image) ? rehash_wants_key()
                               : rehash_put(image, bytes, sizeof bytes);
}

static bool rehash_contains_key(const void *image, uint64_t hash,
                                const void *bytes, size_t length)
{
    return rehash_whole(image) ? rehash_has(image, bytes, length)
                               : rehash_contains(image, hash);
}

static bly_status rehash_add_key(void *image, uint64_t hash, const void *bytes,
                                 size_t length)
{
    return rehash_whole(image) ? rehash_put(image, bytes, length)
                               : rehash_add(image, hash);
}

/* ---- Batches ----------------------------------------------------------- */

static void rehash_has_keys(const void *image, const bly_key *keys, size_t n,
                            bool *present)
{
    probes_row row = rehash_look(image);
    probes_has_keys(&row, keys, n, present, rehash_begin, rehash_next,
                    bits_test);
}

static void rehash_contains_many(const void *image, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    uint8_t bytes[PROBES_GROUP][8];
    probes_key keys[PROBES_GROUP];
    probes_row row = rehash_look(image);
    if (rehash_whole(image)) {
        memset(present, true, n * sizeof *present);
        return;
    }
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PROBES_GROUP ? n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++) {
            image_set_u64(bytes[j], 0, hashes[i + j]);
            keys[j].bytes = bytes[j];
            keys[j].length = sizeof bytes[j];
        }
        probes_group(&row, keys, some, present + i, rehash_begin, rehash_next,
                     bits_test);
    }
}

static void rehash_contains_keys(const void *image, const uint64_t *hashes,
                                 const bly_key *keys, size_t n, bool *present)
{
    if (rehash_whole(image))
        rehash_has_keys(image, keys, n, present);
    else
        rehash_contains_many(image, hashes, n, present);
}

/* ---- Look inside ------------------------------------------------------- */

static shape rehash_shape_of(const void *image)
{
    return (shape){
        .blocks = 1, .lanes = 1, .bits = image_geometry(image, REHASH_M),
        .probes = (uint32_t)image_geometry(image, REHASH_K),
    };
}

static void rehash_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = rehash_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

/* Plans a filter of m / times bits. A position modulo m, taken modulo m /
 * times, is a position of the smaller filter, and so is a scaled one that is
 * divided. A slice has other bits for another m. */
static bly_status rehash_fold_spec(kind_spec *spec, const void *image,
                                   uint64_t times)
{
    uint64_t m = image_geometry(image, REHASH_M);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        spec->option[i] = image_geometry(image, i);
    if (spec->option[REHASH_BY] == REHASH_SLICES)
        return status_fail(BLY_EPARAM, "a filter with by=slices cannot be "
                           "folded: its slices are as long as m has bits");
    spec->option[REHASH_M] = m / (times + (times == 0));
    return kind_divides(times, m, "bits");
}

static void rehash_fold(void *into, const void *image)
{
    probes_row from = rehash_look(image), to = rehash_look(into);
    if (rehash_of_integers(from.with[REHASH_WITH_BY])) {
        kind_fold_bits(into, image, to.m, from.m);
        return;
    }
    for (uint64_t at = 0, bit = 0; at < from.m; at++, bit++) {
        bit = bit == to.m ? 0 : bit;
        if (bits_test(from.row, at))
            bits_set(to.row, bit);
    }
}

static void rehash_stat(bly_info_t *out, const void *image)
{
    shape s = rehash_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

static const kind_whole rehash_whole_keys = {
    .contains      = rehash_contains_key,
    .contains_many = rehash_contains_keys,
    .add           = rehash_add_key,
};

static const kind_combining rehash_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = rehash_overlap,
};

static const kind_folding rehash_folding = {
    .spec = rehash_fold_spec,
    .fold = rehash_fold,
};

const bly_kind bly_kind_rehash = {
    .name    = "rehash",
    .family  = "sets",
    .summary = "a Bloom filter that hashes the key anew for every bit",
    .version = REHASH_VERSION,
    .options = rehash_options,

    .plan   = rehash_plan,
    .format = rehash_format,
    .like   = rehash_like,
    .check  = rehash_check,
    .stat   = rehash_stat,

    .contains      = rehash_contains,
    .contains_many = rehash_contains_many,

    .add = rehash_add,

    .whole     = &rehash_whole_keys,
    .combining = &rehash_combining,
    .folding   = &rehash_folding,
};
