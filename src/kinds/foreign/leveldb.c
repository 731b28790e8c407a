/* leveldb.c - the Bloom filter of a LevelDB block, in its own bytes.
 *
 * WHAT IT IS
 *
 * LevelDB's NewBloomFilterPolicy makes such a filter for the keys in two
 * kilobytes of a table, and queries it before it reads them. The payload is one
 * filter, byte for byte. The bytes do not identify the format, so it must be
 * named.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the filters in LevelDB tables, or to make some for a
 * database.
 *
 * WHEN NOT TO
 *
 * - No database must read the filter: `blocked` and `standard` use a hash of
 *   64 bits; here it has 32.
 * - There are more than a few thousand keys: the rate is then above the plan.
 *
 * COST
 *
 * 10.1 bits per key at 1 %, 15.1 at 0.1 %, for 10,000 keys; fewer keys take
 * more. A lookup reads 6 or 10 cache lines for a present key, 2 for an absent
 * one. It computes one hash, and a 32-bit division per probe.
 *
 * THE PICTURE
 *
 *      | bits, whole bytes | k |
 *      0                       end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 8 .. 2^32 - 8: 8 times the payload's
 *                   bytes but one
 *      geometry 1   k, 0 .. 255: above 30 every key is reported present
 *      payload      m / 8 bytes, bit i is bit (i mod 8) of byte i / 8; and k
 *
 *      Valid if and only if the payload has 2 bytes or more, m is as above, and
 *      m and k are those of the geometry.
 *
 * MATHS
 *
 * k is 0.69 times the bits per key, rounded down, 1 .. 30. All positions come
 * from 32 bits, which adds 2^-32 to the rate for each key. They are a
 * progression, so a small filter has more false positives than one of
 * independent positions (src/maths/strides.h). In filters of 10^5 keys and more
 * the third position adds to that: h + 2 d is one of 196,608 numbers.
 *
 *      bits per key independent    10 keys   60 keys   10^4 keys  10^5 keys
 *      10           0.84 %         1.26 %    0.91 %    0.88 %     1.11 %
 *      20           0.0068 %       0.24 %    0.047 %   0.0073 %   0.011 %
 *
 * These are the planned rates. Up to 1000 keys, which is more than a block has,
 * measured rates are within 15 % of them. With 10^5 keys and more they are up
 * to three times as high, depending on m.
 *
 * LevelDB accepts filters of any number of bits, so a filter that Bloomery
 * builds for a rate has as many as the rate needs: 30 keys at 1 % have 44 bits
 * each. If even 1000 bits per key do not keep the rate, the filter has those of
 * independent positions, and a warning of build gives its rate. The number of
 * keys is not in the file; for an opened filter it is taken to be 0.69 m / k.
 *
 * THE BITS OF A KEY
 *
 *      h = LevelDB's hash of the key, of 32 bits, seed bc9f1d34
 *      d = h, rotated right by 17
 *      k times: the bit is h mod m; h = h + d modulo 2^32
 *
 * The hash takes four bytes at a time, h = (h + word) c, h = h ^ h >> 16, with
 * c = c6a4a793, from h = seed ^ (length c). The remaining bytes are added one
 * by one, and then h = h c, h = h ^ h >> 24.
 *
 * PAPERS
 *
 *  [Chang 2006]  Bigtable: a distributed storage system for structured data,
 *                OSDI. Filters of tables.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"

enum {
    LEVELDB_VERSION = 1,
    LEVELDB_M = 0, LEVELDB_K = 1,       /* geometry                          */
    LEVELDB_K_MAX = 30,                 /* above it every key is there       */
    LEVELDB_BITS_MOST = 1000,
    LEVELDB_LEAST = 64
};

#define LEVELDB_M_MAX ((UINT64_C(1) << 32) - 8)

static const kind_option leveldb_options[] = {
    { .name = "bits", .help = "bits per key, as passed to the policy; instead "
                              "of a rate",
      .least = 1, .most = LEVELDB_BITS_MOST, .standard = KIND_CHOOSE },
    { .name = NULL },
};

/* ---- Sizes ------------------------------------------------------------- */

static uint64_t leveldb_probes(uint64_t bits)
{
    uint64_t k = (uint64_t)((double)bits * 0.69);
    return k < 1 ? 1 : k > LEVELDB_K_MAX ? LEVELDB_K_MAX : k;
}

static uint64_t leveldb_bits(uint64_t n, uint64_t bits)
{
    uint64_t m = n * bits < LEVELDB_LEAST ? LEVELDB_LEAST : n * bits;
    return (m + 7) / 8 * 8;
}

static strides leveldb_strides(uint64_t m, uint64_t k)
{
    return (strides){ .m = m, .k = (uint32_t)k, .form = STRIDES_ROTATED,
                      .width = 32 };
}

static void leveldb_plan_row(bly_plan_t *plan, uint64_t m, uint64_t k,
                             uint64_t n)
{
    strides s = leveldb_strides(m, k);
    rows_plan_strides(plan, &s, n, m / 8);
}

/* Returns whether a filter with so many bits per key keeps the rate, which is
 * at best that of independent positions. */
static bool leveldb_keeps(uint64_t bits, uint64_t n, double rate, bool really)
{
    bly_plan_t plan;
    uint64_t m = leveldb_bits(n, bits), k = leveldb_probes(bits);
    rows_plan_row(&plan, m, (uint32_t)k, n, m / 8);
    if (really && plan.rate <= rate)
        leveldb_plan_row(&plan, m, k, n);
    return plan.rate <= rate;
}

/* The fewest bits a key, from *bits on, whose filter keeps the rate; false: not
 * even the most do. */
static bool leveldb_search(uint64_t *bits, uint64_t n, double rate, bool really)
{
    uint64_t least = *bits, most = LEVELDB_BITS_MOST;
    if (leveldb_keeps(least, n, rate, really))
        return true;
    if (!leveldb_keeps(most, n, rate, really))
        return false;
    while (least < most) {
        uint64_t middle = (least + most) / 2;
        if (leveldb_keeps(middle, n, rate, really))
            most = middle;
        else
            least = middle + 1;
    }
    *bits = most;
    return true;
}

/* Chooses the bits per key that keep the rate. If the rate is too low for few
 * keys, it takes those of independent positions. BLY_EPARAM. */
static bly_status leveldb_choose(uint64_t *bits, uint64_t n, double rate)
{
    *bits = 1;
    if (!leveldb_search(bits, n, rate, false))
        return status_fail(BLY_EPARAM, "a rate of %.3g is too low for a filter "
                           "of LevelDB: use a higher rate, or give bits=",
                           rate);
    (void)leveldb_search(bits, n, rate, true);
    return BLY_OK;
}

static bly_status leveldb_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity, bits = spec->option[0];
    if (n == 0)
        return kind_no_capacity();
    if (n > LEVELDB_M_MAX)
        return kind_too_big(spec, "2^32 bits");
    bly_status status = bits == KIND_CHOOSE
                      ? leveldb_choose(&bits, n, spec->rate) : BLY_OK;
    if (status != BLY_OK)
        return status;
    uint64_t m = leveldb_bits(n, bits), k = leveldb_probes(bits);
    if (m > LEVELDB_M_MAX)
        return kind_too_big(spec, "2^32 bits");
    status = kind_plan_bytes(plan, m / 8 + 1);
    if (status != BLY_OK)
        return status;
    leveldb_plan_row(plan, m, k, n);
    plan->geometry[LEVELDB_M] = m;
    plan->geometry[LEVELDB_K] = k;
    return BLY_OK;
}

static bly_status leveldb_format(void *image, const kind_spec *spec)
{
    (void)spec;
    image_payload_mut(image)[image_geometry(image, LEVELDB_M) / 8]
        = (uint8_t)image_geometry(image, LEVELDB_K);
    return BLY_OK;
}

static void leveldb_like(void *image, const void *other)
{
    (void)other;
    leveldb_format(image, NULL);
}

/* ---- The file ---------------------------------------------------------- */

static bly_status leveldb_read(kind_found *out, const uint8_t *file,
                               uint64_t bytes)
{
    if (bytes < 2 || bytes - 1 > LEVELDB_M_MAX / 8)
        return status_fail(BLY_ECORRUPT, "read as a filter of LevelDB, which "
                           "has 2 to 2^29 bytes, but there are %llu: name "
                           "another format, or fetch it again",
                           (unsigned long long)bytes);
    uint64_t m = 8 * (bytes - 1), k = file[bytes - 1];
    double n = k == 0 ? 1 : fmax(1, floor((double)m * 0.69 / (double)k));
    *out = (kind_found){
        .capacity = (uint64_t)n, .items = IMAGE_ITEMS_UNKNOWN,
        .geometry = { m, k },
    };
    return BLY_OK;
}

static double leveldb_rate(const kind_found *found, const uint8_t *file)
{
    uint64_t k = found->geometry[LEVELDB_K];
    strides s = leveldb_strides(found->geometry[LEVELDB_M], k);
    (void)file;
    return k > LEVELDB_K_MAX ? 1 : strides_rate(&s, found->capacity).rate;
}

static uint64_t leveldb_reach(const uint64_t *geometry)
{
    uint64_t m = geometry[LEVELDB_M];
    return m < 8 || m > LEVELDB_M_MAX || m % 8 != 0 ? UINT64_MAX : m / 8 + 1;
}

static const kind_foreign leveldb_foreign = {
    .writer = "LevelDB's filter policy, one filter of a table",
    .numbers = {
        { "bits", NULL },
        { "k", "above 30 every key is found" },
    },
    .read   = leveldb_read,
    .rate   = leveldb_rate,
    .reach  = leveldb_reach,
};

static bly_status leveldb_check(const void *image)
{
    return kind_check_foreign(image, &leveldb_foreign);
}

/* ---- Keys -------------------------------------------------------------- */

/* Reads the row. If it has more probes than are in use, none is looked at, so
 * that every key is there. */
static probes_row leveldb_row(const void *image)
{
    uint64_t k = image_geometry(image, LEVELDB_K);
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .bytes = (size_t)(image_geometry(image, LEVELDB_M) / 8),
        .m = image_geometry(image, LEVELDB_M),
        .k = k > LEVELDB_K_MAX ? 0 : k,
        .from = leveldb_strides(image_geometry(image, LEVELDB_M), k),
    };
}

static uint32_t leveldb_hash(const uint8_t *p, size_t length)
{
    const uint32_t c = 0xC6A4A793;
    uint32_t h = 0xBC9F1D34 ^ (uint32_t)length * c;
    for (; length >= 4; length -= 4, p += 4) {
        h = (h + image_u32(p, 0)) * c;
        h ^= h >> 16;
    }
    if (length == 0)
        return h;
    for (size_t i = 0; i < length; i++)
        h += (uint32_t)p[i] << 8 * i;
    h *= c;
    return h ^ h >> 24;
}

static void leveldb_begin(const probes_row *row, probes_key *key)
{
    uint32_t h = leveldb_hash(key->bytes, key->length);
    (void)row;
    key->state[0] = h;
    key->state[1] = h >> 17 | h << 15;
}

static uint64_t leveldb_next(const probes_row *row, probes_key *key,
                             uint64_t i)
{
    uint32_t h = (uint32_t)key->state[0];
    (void)i;
    key->state[0] = (uint32_t)(h + (uint32_t)key->state[1]);
    return h % (uint32_t)row->m;
}

PROBES_WHOLE(leveldb)
PROBES_LOOKS(leveldb)
PROBES_ADD(leveldb)

static const kind_whole leveldb_whole = {
    .contains      = leveldb_contains_key,
    .contains_many = leveldb_contains_keys,
    .add           = leveldb_add_key,
};

static const kind_combining leveldb_combining = {
    .unite   = leveldb_unite,
    .overlap = leveldb_overlap,
};

const bly_kind bly_kind_leveldb = {
    .name    = "leveldb",
    .family  = "foreign",
    .summary = "the Bloom filter of a block of a LevelDB table",
    .version = LEVELDB_VERSION,
    .options = leveldb_options,

    .plan   = leveldb_plan,
    .format = leveldb_format,
    .like   = leveldb_like,
    .check  = leveldb_check,
    .stat   = leveldb_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &leveldb_whole,
    .combining = &leveldb_combining,
    .foreign   = &leveldb_foreign,
};
