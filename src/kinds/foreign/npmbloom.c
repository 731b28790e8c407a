/* npmbloom.c - the Bloom filter of npm's bloom-filters, in its own JSON.
 *
 * WHAT IT IS
 *
 * The payload is the text of JSON.stringify(filter.saveAsJSON()) for a
 * BloomFilter of the npm package `bloom-filters`, version 3, which its
 * BloomFilter.fromJSON(JSON.parse(text)) takes, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a JavaScript program with this package has written or
 * will read. Keys are strings, as UTF-8, or Buffers:
 *
 *      node -e 'const { BloomFilter } = require("bloom-filters")
 *          const filter = BloomFilter.create(1000, 0.01)
 *          filter.add("alice")
 *          console.log(JSON.stringify(filter.saveAsJSON()))' > users.json
 *      bloomery query users.json --key alice
 *      bloomery add users.json more-users
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has three quarters of the
 *   size and is twice as fast. It also has a package for JavaScript.
 * - The filter is a PartitionedBloomFilter, CountingBloomFilter, CuckooFilter
 *   or XorFilter of the package, or its JSON was written in another way, such
 *   as with spaces: these are not read.
 *
 * COST
 *
 * The size is 4/3 of that of `standard`, since the bits are in base64: 12.8
 * bits per key at 1 %, and about 100 bytes. A lookup computes two hashes of the
 * key, and a multiplication per probe. A batch prefetches the lines of 64 keys
 * together.
 *
 * THE PICTURE
 *
 *      {"type":"BloomFilter","_size":m,"_nbHashes":k,
 *       "_filter":{"size":8b,"content":"b bytes in base64"},"_seed":s}
 *
 * This is one line without a break.
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^32
 *      geometry 1   k, probes, 1 .. 65536
 *      geometry 2   s, the seed, 0 .. 2^53 - 2
 *      geometry 3   place of the first digit of base64 in the payload
 *      payload      the text above, with b = ceil(m / 8). Bit i is bit (i mod
 *                   8) of byte i / 8, and so bit i ^ 7 of base64, which begins
 *                   with the highest bit of each digit
 *
 *      Valid if and only if (1) the numbers are in these ranges, and without a
 *      zero in front, (2) the payload is this text, or this text and a line
 *      feed, (3) bits from m on are clear, (4) the numbers are those of the
 *      geometry.
 *
 * MATHS
 *
 * A filter for n keys at a rate p has m = ceil(-n ln p / (ln 2)^2) bits and k =
 * ceil(ln 2 m / n). The positions of a key follow from two numbers modulo m.
 * With equal numbers, two keys are one, so that n / m^2 is added to the rate of
 * independent positions: if 0.001 % is requested for 100 keys, the rate is
 * 0.0028 %. Rows of up to 1024 bits are computed from examples. plan, info and
 * a warning of build take that into account (src/maths/strides.h).
 *
 * n is not in the file; for an opened filter it is taken to be m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * a and b are the lower halves of XXH64 of the key. Their seeds are s + 1 and
 * s + 2 modulo 2^32. For i = 0 .. k - 1 the bit is
 *
 *      (a + i b + (i^3 - i) / 6) mod m
 *
 * where the sum does not wrap.
 *
 * PAPERS
 *
 *  [Dillinger 2004]  Dillinger & Manolios, Bloom filters in probabilistic
 *                    verification, FMCAD. Its enhanced double hashing.
 */
#include "image/kind_foreign.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/task.h"
#include "bodies/probes.h"

enum {
    NPMBLOOM_VERSION = 1,
    NPMBLOOM_M = 0, NPMBLOOM_K, NPMBLOOM_SEED, NPMBLOOM_CONTENT,
    NPMBLOOM_K_MAX = 65536,
    NPMBLOOM_DIGIT = 6,                 /* bits of a digit of base64         */
    NPMBLOOM_ROOM = 128                 /* bytes of the text on either side  */
};

#define NPMBLOOM_M_MAX    (UINT64_C(1) << 32)
#define NPMBLOOM_SEED_MAX ((UINT64_C(1) << 53) - 2)

/* The text in front of each value. */
#define NPMBLOOM_AT_M       "{\"type\":\"BloomFilter\",\"_size\":"
#define NPMBLOOM_AT_K       ",\"_nbHashes\":"
#define NPMBLOOM_AT_BITS    ",\"_filter\":{\"size\":"
#define NPMBLOOM_AT_CONTENT ",\"content\":\""
#define NPMBLOOM_AT_SEED    "\"},\"_seed\":"

static const kind_option npmbloom_options[] = {
    { .name = "seed", .help = "of the hashes: the filter's property `seed`",
      .least = 0, .most = NPMBLOOM_SEED_MAX,
      .standard = UINT64_C(0x1234567890) },
    { .name = NULL },
};

static const double NPMBLOOM_LN2 = 0.69314718055994530942;

/* ---- The row ------------------------------------------------------------ */

static const char npmbloom_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of each digit, plus one. */
static const uint8_t npmbloom_values[UINT8_MAX + 1] = {
    ['A'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    20, 21, 22, 23, 24, 25, 26,
    ['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52,
    ['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, ['+'] = 63, ['/'] = 64,
};

/* Returns the value of a digit; more than 63 if it is none. */
static unsigned npmbloom_value(uint8_t c)
{
    return npmbloom_values[c] - 1u;
}

/* Returns the number of digits for m bits, without and with the signs "=" that
 * make them a multiple of four. */
static uint64_t npmbloom_used(uint64_t m)
{
    return (8 * rows_bytes_of(m) + NPMBLOOM_DIGIT - 1) / NPMBLOOM_DIGIT;
}

static uint64_t npmbloom_all(uint64_t m)
{
    return (npmbloom_used(m) + 3) / 4 * 4;
}

/* Returns the place of bit x: eight times its digit, and the number of its bit,
 * from the highest, in the digit. */
static uint64_t npmbloom_at(uint64_t x)
{
    return 8 * ((x ^ 7) / NPMBLOOM_DIGIT) + (x ^ 7) % NPMBLOOM_DIGIT;
}

static bool npmbloom_test(const uint8_t *row, uint64_t at)
{
    return (npmbloom_value(row[at / 8]) & 32u >> at % 8) != 0;
}

/* Returns true if the bit was clear. */
static bool npmbloom_set(uint8_t *row, uint64_t at)
{
    uint8_t *digit = row + at / 8;
    unsigned value = npmbloom_value(*digit) & 63, bit = 32u >> at % 8;
    *digit = (uint8_t)npmbloom_digits[value | bit];
    return (value & bit) == 0;
}

static unsigned npmbloom_either(const probes_row *a, const probes_row *b,
                                uint64_t i)
{
    return (npmbloom_value(a->row[i]) | npmbloom_value(b->row[i])) & 63;
}

/* Returns the number of bits that are set in either row. */
static uint64_t npmbloom_count(const probes_row *a, const probes_row *b)
{
    uint64_t set = 0;
    TASK_SPAN(i, 0, npmbloom_used(a->m))
        set += platform_popcount(npmbloom_either(a, b, i));
    return set;
}

/* Writes an empty row. */
static void npmbloom_clear(uint8_t *row, uint64_t m)
{
    size_t used = (size_t)npmbloom_used(m), all = (size_t)npmbloom_all(m);
    memset(row, npmbloom_digits[0], used);
    memset(row + used, '=', all - used);
}

/* ---- The text ----------------------------------------------------------- */

/* Write the text in front of the row and behind it. Return its length. */
static size_t npmbloom_head(char text[NPMBLOOM_ROOM], const uint64_t *geometry)
{
    return (size_t)snprintf(text, NPMBLOOM_ROOM, NPMBLOOM_AT_M "%" PRIu64
                            NPMBLOOM_AT_K "%" PRIu64 NPMBLOOM_AT_BITS "%" PRIu64
                            NPMBLOOM_AT_CONTENT, geometry[NPMBLOOM_M],
                            geometry[NPMBLOOM_K],
                            8 * rows_bytes_of(geometry[NPMBLOOM_M]));
}

static size_t npmbloom_tail(char text[NPMBLOOM_ROOM], const uint64_t *geometry)
{
    return (size_t)snprintf(text, NPMBLOOM_ROOM, NPMBLOOM_AT_SEED "%" PRIu64
                            "}", geometry[NPMBLOOM_SEED]);
}

static bly_status npmbloom_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of npm's bloom-filters: "
                       "byte %" PRIu64 ": %s: it is damaged, or was not "
                       "written by JSON.stringify(filter.saveAsJSON()): write "
                       "it again",
                       at, what);
}

/* Finds the number that follows this text, and moves behind it. */
static bool npmbloom_number(uint64_t *v, uint64_t *at, const uint8_t *file,
                            uint64_t bytes, const char *text)
{
    size_t n = strlen(text);
    if (bytes - *at < n || memcmp(file + *at, text, n) != 0)
        return false;
    *v = 0;
    for (*at += n; *at < bytes && file[*at] >= '0' && file[*at] <= '9'; ++*at)
        if (*v <= NPMBLOOM_SEED_MAX)
            *v = 10 * *v + (uint64_t)(file[*at] - '0');
    return true;
}

/* Checks that the file continues with this text. */
static bly_status npmbloom_same(const uint8_t *file, uint64_t bytes,
                                uint64_t at, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at + i >= bytes)
            return npmbloom_wrong(at + i, "it ends here");
        else if (file[at + i] != (uint8_t)text[i])
            return npmbloom_wrong(at + i, "it is another text");
    return BLY_OK;
}

/* Reads the numbers in front of the row. */
static bly_status npmbloom_read_head(uint64_t *geometry, const uint8_t *file,
                                     uint64_t bytes)
{
    char text[NPMBLOOM_ROOM];
    uint64_t at = 0, m = 0, k = 0;
    if (!npmbloom_number(&m, &at, file, bytes, NPMBLOOM_AT_M))
        return npmbloom_wrong(0, "it does not begin as a BloomFilter does");
    if (m < 1 || m > NPMBLOOM_M_MAX)
        return npmbloom_wrong(at, "the _size is not 1 .. 2^32");
    if (!npmbloom_number(&k, &at, file, bytes, NPMBLOOM_AT_K))
        return npmbloom_wrong(at, "there is no _nbHashes");
    if (k < 1 || k > NPMBLOOM_K_MAX)
        return npmbloom_wrong(at, "the _nbHashes is not 1 .. 65536");
    geometry[NPMBLOOM_M] = m;
    geometry[NPMBLOOM_K] = k;
    geometry[NPMBLOOM_CONTENT] = npmbloom_head(text, geometry);
    return npmbloom_same(file, bytes, 0, text,
                         (size_t)geometry[NPMBLOOM_CONTENT]);
}

/* Reads what is behind the row. */
static bly_status npmbloom_read_tail(uint64_t *geometry, const uint8_t *file,
                                     uint64_t bytes)
{
    char text[NPMBLOOM_ROOM];
    uint64_t from = geometry[NPMBLOOM_CONTENT]
                  + npmbloom_all(geometry[NPMBLOOM_M]);
    uint64_t at = from, seed = 0;
    if (bytes <= from)
        return npmbloom_wrong(bytes, "it ends here");
    if (!npmbloom_number(&seed, &at, file, bytes, NPMBLOOM_AT_SEED))
        return npmbloom_wrong(at, "the content ends elsewhere, or there is no "
                              "_seed");
    if (seed > NPMBLOOM_SEED_MAX)
        return npmbloom_wrong(at, "the _seed is not 0 .. 2^53 - 2");
    geometry[NPMBLOOM_SEED] = seed;
    size_t n = npmbloom_tail(text, geometry);
    at = from + n;
    if (bytes > at && (bytes > at + 1 || file[at] != '\n'))
        return npmbloom_wrong(at, "more follows");
    return npmbloom_same(file, bytes, from, text, n);
}

/* Checks the digits, and that bits from m on are clear. */
static bly_status npmbloom_check_row(const uint64_t *geometry,
                                     const uint8_t *file)
{
    uint64_t m = geometry[NPMBLOOM_M], content = geometry[NPMBLOOM_CONTENT];
    uint64_t used = npmbloom_used(m);
    const uint8_t *row = file + content;
    for (uint64_t i = 0; i < used; i++)
        if (npmbloom_value(row[i]) > 63)
            return npmbloom_wrong(content + i, "it is not a digit of base64");
    for (uint64_t i = used; i < npmbloom_all(m); i++)
        if (row[i] != '=')
            return npmbloom_wrong(content + i, "it is not =");
    for (uint64_t at = m / 8 * 8; at < NPMBLOOM_DIGIT * used; at++)
        if ((at ^ 7) >= m && npmbloom_test(row, npmbloom_at(at ^ 7)))
            return npmbloom_wrong(content + at / NPMBLOOM_DIGIT,
                                  "bits beyond the last are set");
    return BLY_OK;
}

static bool npmbloom_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    size_t head = sizeof NPMBLOOM_AT_M - 1;
    (void)all;
    return n > head && memcmp(bytes, NPMBLOOM_AT_M, head) == 0;
}

static bly_status npmbloom_read(kind_found *out, const uint8_t *file,
                                uint64_t bytes)
{
    *out = (kind_found){ .items = IMAGE_ITEMS_UNKNOWN };
    bly_status status = npmbloom_read_head(out->geometry, file, bytes);
    if (status == BLY_OK)
        status = npmbloom_read_tail(out->geometry, file, bytes);
    if (status == BLY_OK)
        status = npmbloom_check_row(out->geometry, file);
    if (status == BLY_OK)
        out->capacity = probes_capacity(out->geometry[NPMBLOOM_M],
                                        out->geometry[NPMBLOOM_K]);
    return status;
}

static strides npmbloom_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[NPMBLOOM_M],
                      .k = (uint32_t)geometry[NPMBLOOM_K],
                      .form = STRIDES_CUBIC, .width = 32 };
}

static double npmbloom_rate(const kind_found *found, const uint8_t *file)
{
    strides s = npmbloom_strides(found->geometry);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t npmbloom_reach(const uint64_t *geometry)
{
    char text[NPMBLOOM_ROOM];
    uint64_t m = geometry[NPMBLOOM_M], k = geometry[NPMBLOOM_K];
    return m < 1 || m > NPMBLOOM_M_MAX || k < 1 || k > NPMBLOOM_K_MAX
        || geometry[NPMBLOOM_SEED] > NPMBLOOM_SEED_MAX
        || geometry[NPMBLOOM_CONTENT] != npmbloom_head(text, geometry)
         ? UINT64_MAX
         : geometry[NPMBLOOM_CONTENT] + npmbloom_all(m)
           + npmbloom_tail(text, geometry);
}

static const kind_foreign npmbloom_foreign = {
    .writer = "npm's bloom-filters 3: BloomFilter.saveAsJSON, in JSON",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "seed", NULL },
        { "content", "the place of the bits in the text" },
    },
    .looks = npmbloom_looks,
    .read  = npmbloom_read,
    .rate  = npmbloom_rate,
    .reach = npmbloom_reach,
};

static bly_status npmbloom_check(const void *image)
{
    return kind_check_foreign(image, &npmbloom_foreign);
}

/* ---- Making ------------------------------------------------------------- */

static bly_status npmbloom_plan(bly_plan_t *plan, const kind_spec *spec)
{
    char text[NPMBLOOM_ROOM];
    double n = (double)spec->capacity;
    double m = ceil(-(n * log(spec->rate) / pow(NPMBLOOM_LN2, 2)));
    uint64_t *geometry = plan->geometry;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (m > (double)NPMBLOOM_M_MAX)
        return kind_too_big(spec, "2^32 bits");
    geometry[NPMBLOOM_M] = (uint64_t)m;
    geometry[NPMBLOOM_K] = (uint64_t)ceil(m / n * NPMBLOOM_LN2);
    geometry[NPMBLOOM_SEED] = spec->option[0];
    geometry[NPMBLOOM_CONTENT] = npmbloom_head(text, geometry);
    strides s = npmbloom_strides(geometry);
    rows_plan_strides(plan, &s, spec->capacity, npmbloom_all(s.m));
    return kind_plan_bytes(plan, npmbloom_reach(geometry));
}

static void npmbloom_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                              const void *image)
{
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(image, i);
}

static bly_status npmbloom_format(void *image, const kind_spec *spec)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    char text[NPMBLOOM_ROOM];
    uint8_t *file = image_payload_mut(image);
    (void)spec;
    npmbloom_geometry(geometry, image);
    size_t n = npmbloom_head(text, geometry);
    memcpy(file, text, n);
    npmbloom_clear(file + n, geometry[NPMBLOOM_M]);
    file += n + npmbloom_all(geometry[NPMBLOOM_M]);
    n = npmbloom_tail(text, geometry);
    memcpy(file, text, n);
    return BLY_OK;
}

/* Copies the line feed as well, if there is one. */
static void npmbloom_like(void *image, const void *other)
{
    uint8_t *file = image_payload_mut(image);
    memcpy(file, image_payload(other), image_payload_bytes(other));
    npmbloom_clear(file + image_geometry(image, NPMBLOOM_CONTENT),
                   image_geometry(image, NPMBLOOM_M));
}

/* ---- Keys --------------------------------------------------------------- */

static probes_row npmbloom_row(const void *image)
{
    uint64_t m = image_geometry(image, NPMBLOOM_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image))
             + image_geometry(image, NPMBLOOM_CONTENT),
        .m = m, .inverse = probes_inverse(m),
        .k = image_geometry(image, NPMBLOOM_K),
        .with = { image_geometry(image, NPMBLOOM_SEED) },
    };
}

static void npmbloom_begin(const probes_row *row, probes_key *key)
{
    for (size_t i = 0; i < 2; i++) {
        uint32_t seed = (uint32_t)(row->with[0] + 1 + i);
        key->state[i] = hash_xxh64(key->bytes, key->length, seed) & UINT32_MAX;
    }
}

static uint64_t npmbloom_next(const probes_row *row, probes_key *key,
                              uint64_t i)
{
    return npmbloom_at(probes_mod(row, key->state[0] + i * key->state[1]
                                       + (i * i * i - i) / 6));
}

static bool npmbloom_contains_key(const void *image, uint64_t hash,
                                  const void *bytes, size_t length)
{
    probes_row row = npmbloom_row(image);
    probes_key key = { .bytes = bytes, .length = length };
    (void)hash;
    npmbloom_begin(&row, &key);
    for (uint64_t i = 0; i < row.k; i++)
        if (!npmbloom_test(row.row, npmbloom_next(&row, &key, i)))
            return false;
    return true;
}

static void npmbloom_contains_keys(const void *image, const uint64_t *hashes,
                                   const bly_key *keys, size_t n,
                                   bool *present)
{
    probes_row row = npmbloom_row(image);
    (void)hashes;
    probes_has_keys(&row, keys, n, present, npmbloom_begin, npmbloom_next,
                    npmbloom_test);
}

static bly_status npmbloom_add_key(void *image, uint64_t hash,
                                   const void *bytes, size_t length)
{
    probes_row row = npmbloom_row(image);
    probes_key key = { .bytes = bytes, .length = length };
    bool fresh = false;
    (void)hash;
    npmbloom_begin(&row, &key);
    for (uint64_t i = 0; i < row.k; i++)
        fresh |= npmbloom_set(row.row, npmbloom_next(&row, &key, i));
    return fresh ? BLY_OK : BLY_SEEN;
}

/* ---- All keys ----------------------------------------------------------- */

static void npmbloom_stat(bly_info_t *out, const void *image)
{
    uint8_t bits[STRIDES_FEW / 8] = { 0 };
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    probes_row row = npmbloom_row(image);
    uint64_t set = npmbloom_count(&row, &row);
    for (uint64_t x = 0; x < row.m && row.m <= STRIDES_FEW; x++)
        if (npmbloom_test(row.row, npmbloom_at(x)))
            bits_set(bits, x);
    npmbloom_geometry(geometry, image);
    row.from = npmbloom_strides(geometry);
    row.row = bits;
    probes_stat_of(out, &row, set);
}

static bly_status npmbloom_unite(void *into, const void *other)
{
    probes_row to = npmbloom_row(into), from = npmbloom_row(other);
    TASK_SPAN(i, 0, npmbloom_used(to.m))
        to.row[i] = (uint8_t)npmbloom_digits[npmbloom_either(&to, &from, i)];
    return BLY_OK;
}

static void npmbloom_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    probes_row in_a = npmbloom_row(a), in_b = npmbloom_row(b);
    probes_overlap_of(out, &in_a, npmbloom_count(&in_a, &in_a),
                      npmbloom_count(&in_b, &in_b),
                      npmbloom_count(&in_a, &in_b));
}

static const kind_whole npmbloom_whole = {
    .contains      = npmbloom_contains_key,
    .contains_many = npmbloom_contains_keys,
    .add           = npmbloom_add_key,
};

static const kind_combining npmbloom_combining = {
    .unite   = npmbloom_unite,
    .overlap = npmbloom_overlap,
};

const bly_kind bly_kind_npmbloom = {
    .name    = "npmbloom",
    .family  = "foreign",
    .summary = "the Bloom filter of npm's bloom-filters",
    .version = NPMBLOOM_VERSION,
    .options = npmbloom_options,

    .plan   = npmbloom_plan,
    .format = npmbloom_format,
    .like   = npmbloom_like,
    .check  = npmbloom_check,
    .stat   = npmbloom_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &npmbloom_whole,
    .combining = &npmbloom_combining,
    .foreign   = &npmbloom_foreign,
};
