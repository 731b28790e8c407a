/* poppy.c - the Bloom filter of CIRCL's Poppy, second version, in its own
 * bytes.
 *
 * WHAT IT IS
 *
 * The command `poppy` of CIRCL, which also makes filters for hashlookup, and
 * its libraries for Rust and Python write such filters. The payload is a file
 * of version 2, byte for byte. Files of version 1 are filters of kind `dcso`.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that Poppy has written or will read:
 *
 *      one of Poppy      bloomery query seen.poppy hashes
 *      a new one         bloomery build -k poppy:opt=best -o seen.poppy hashes
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `blocked` reads one cache line for
 *   each key, and has no limit to the rate.
 * - Keys have up to 8 bytes and are not random, such as short words: Poppy does
 *   not hash these, so that far more of them are found by accident. Keys that
 *   differ only by NUL bytes at the end are the same key.
 * - A Rust program inserted integers by their type: these are hashed otherwise,
 *   and are not found as bytes.
 * - A lower rate than 0.001 % is needed: see Maths.
 *
 * COST
 *
 * The size is that of `standard`, rounded up to buckets of 4 KiB: 9.6 bits per
 * key at 1 %. With opt=best the cache adds 1 to 2 bits per key, and with
 * opt=speed there are also up to twice as many buckets. A lookup reads a few
 * lines of one page; with these two it first reads one more line, which
 * excludes about every second absent key.
 *
 * THE PICTURE
 *
 *      | version, opt | n | rate | k | added | c | cache | B | B buckets | data
 *      0              8  16     24  32      40  48                         end
 *
 * IMAGE
 *
 *      geometry 0   B, buckets of 32768 bits, 1 .. 2^45
 *      geometry 1   k, probes in a bucket, 1 .. 1088
 *      geometry 2   c, bits of the cache, 0 or a power of two, 8 .. 2^60
 *      geometry 3   opt: 0 none, 1 space, 2 speed, 3 best
 *      payload      the file; all numbers have the lowest byte first
 *         0   1     2, the version
 *         1   1     opt
 *         2   6     0
 *         8   8     n, keys it was planned for, 1 or more
 *        16   8     p, the rate it was planned for, a double, 0 < p <= 1
 *        24   8     k
 *        32   8     N, keys that were new when they were added
 *        40   8     c; 0 if opt is none or space
 *        48   c/8   the cache; bit i is bit (i mod 8) of byte i / 8
 *        …    8     B
 *        …  4096 B  the buckets, with their bits in the same order
 *        …          data: whatever its owner has attached, of any length
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the buckets
 *      end within the payload, (3) the numbers are those of the geometry.
 *
 * A filter with N = n takes no more keys, in Poppy as here. After a union, N is
 * the sum of -32768 ln(1 - x/32768) / k of each bucket, rounded down, where x
 * is the number of its set bits.
 *
 * MATHS
 *
 * A bucket is planned for b = 32768 (ln 2)^2 / |ln p| keys, rounded down. There
 * are n / b buckets, rounded up, and k is 32768 ln 2 / b, rounded up. With
 * speed or best the cache has a bit for each key, rounded up to a power of two.
 * The number of buckets is rounded up in the same way with speed. k is then ln
 * 2 P 32768 / b, where P is the share of cache bits that will be set.
 *
 * Buckets have unequal numbers of keys. The places of a key come from 30 bits
 * of its hash, so that an absent key has the places of one of L keys in its
 * bucket with chance L / 2^30. Both raise the rate: of a million keys, to
 * 0.00116 % if 0.001 % is requested, and to 0.0001 % if 0.00001 % is. plan,
 * info and a warning of build take that into account (src/maths/buckets.h).
 *
 * THE BITS OF A KEY
 *
 * All is modulo 2^64. h is wyhash (src/bits/hash.h) of the key with the seed
 * 706f707079533d42; for a key of up to 8 bytes it is the key itself, the lowest
 * byte first. g is h of 8 bytes, the highest first, hashed in the same way.
 *
 *      x = h;  x ^= 2^12 x;  x ^= x / 2^25;  x ^= 2^27 x
 *      x = 2685821657736338717 x
 *      bucket x mod B, cache bit x mod c
 *      in the bucket: bit h mod 32768; then for i = 1 .. k - 1: h += g;
 *      g += i; bit h mod 32768
 *
 * PAPERS
 *
 *  [Putze, Sanders & Singler 2007]  Cache-, hash- and space-efficient Bloom
 *                                   filters, WEA.
 *  [Dillinger & Manolios 2004]      Bloom filters in probabilistic
 *                                   verification, FMCAD. Its sequence.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "base/task.h"
#include "bits/hash.h"
#include "bodies/probes.h"
#include "maths/buckets.h"
#include "maths/maths.h"

enum {
    POPPY_VERSION = 1,
    POPPY_BUCKETS = 0, POPPY_K = 1, POPPY_CACHE = 2, POPPY_OPT = 3,
    POPPY_FILE_VERSION = 2,
    POPPY_SPEED = 2, POPPY_BEST = 3,
    POPPY_AT_KEYS = 8, POPPY_AT_RATE = 16, POPPY_AT_K = 24, POPPY_AT_ADDED = 32,
    POPPY_AT_CACHE = 40, POPPY_HEAD = 48,
    POPPY_BUCKET = 4096, POPPY_BITS = 8 * POPPY_BUCKET,
    POPPY_K_MAX = 1088                  /* above what the least p asks for   */
};

#define POPPY_BUCKETS_MAX (UINT64_C(1) << 45)
#define POPPY_CACHE_MAX   (UINT64_C(1) << 60)
#define POPPY_SEED        UINT64_C(0x706F707079533D42)
#define POPPY_FACTOR      UINT64_C(2685821657736338717)

static const double POPPY_LN2 = 0.69314718055994530942;
static const double POPPY_TWIN = 1.0 / 1073741824;

static const char *const poppy_opts[] = { "none", "space", "speed", "best",
                                          NULL };

static const kind_option poppy_options[] = {
    { .name = "opt", .help = "what the filter is made for, as Poppy names it",
      .choices = poppy_opts },
    { .name = NULL },
};

/* ---- Sizes ------------------------------------------------------------- */

/* Where the buckets begin. */
static uint64_t poppy_head(uint64_t cache)
{
    return POPPY_HEAD + cache / 8 + 8;
}

static buckets poppy_rows(const uint64_t *geometry)
{
    return (buckets){
        .buckets = geometry[POPPY_BUCKETS], .bits = POPPY_BITS,
        .probes = (uint32_t)geometry[POPPY_K], .cache = geometry[POPPY_CACHE],
        .twin = geometry[POPPY_K] > 2 ? POPPY_TWIN : 0,
    };
}

static void poppy_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                           const void *image)
{
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(image, i);
}

/* The least power of two that is not below x; UINT64_MAX if there is none. */
static uint64_t poppy_power(uint64_t x)
{
    uint64_t power = 1;
    while (power < x && power <= UINT64_MAX / 2)
        power *= 2;
    return power >= x ? power : UINT64_MAX;
}

/* The share of the bits of a cache that n keys are expected to set. */
static double poppy_share(double n, double cache)
{
    double k = ceil(POPPY_LN2 * cache / n);
    return pow(1 - exp(-k * n / cache), k);
}

static bly_status poppy_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double least = POPPY_BITS * (POPPY_LN2 * POPPY_LN2) / log(spec->rate);
    double keys = fmin(trunc(fabs(least)), 18446744073709551615.0);
    double count = ceil(n / keys), k = ceil(POPPY_LN2 * POPPY_BITS / keys);
    uint64_t opt = spec->option[0], cache = 0;
    if (count > (double)POPPY_BUCKETS_MAX)
        return kind_too_big(spec, "2^45 buckets");
    uint64_t rows = (uint64_t)count;
    if (opt >= POPPY_SPEED) {
        cache = poppy_power(spec->capacity);
        rows = opt == POPPY_SPEED ? poppy_power(rows) : rows;
        k = ceil(POPPY_LN2 * poppy_share(n, (double)cache)
                 * round(POPPY_BITS / keys));
        cache = cache < 8 ? 8 : cache;
    }
    geometry[POPPY_BUCKETS] = rows;
    geometry[POPPY_K] = (uint64_t)fmax(1, fmin(k, POPPY_K_MAX));
    geometry[POPPY_CACHE] = cache;
    geometry[POPPY_OPT] = opt;
    return cache <= POPPY_CACHE_MAX ? BLY_OK
         : kind_too_big(spec, "2^60 bits of cache");
}

static bly_status poppy_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t *geometry = plan->geometry, n = spec->capacity;
    if (n == 0)
        return kind_no_capacity();
    bly_status status = poppy_size(geometry, spec);
    if (status != BLY_OK)
        return status;
    buckets rows = poppy_rows(geometry);
    double cached = rows.cache > 0;
    double pass = cached > 0 ? math_set_mean((double)rows.cache, (double)n)
                               / (double)rows.cache : 1;
    plan->capacity = n;
    plan->rate = buckets_rate(&rows, n, &plan->rate_sd);
    plan->fill = -expm1((double)n * rows.probes
                        * log1p(-1 / ((double)rows.buckets * POPPY_BITS)));
    plan->probes = rows.probes;
    plan->lines_present = fmin(rows.probes, POPPY_BUCKET / 64) + cached;
    plan->lines_absent = pass * fmin(math_absent_probes(plan->fill,
                                                        rows.probes),
                                     POPPY_BUCKET / 64) + cached;
    return kind_plan_bytes(plan, poppy_head(rows.cache)
                                 + POPPY_BUCKET * rows.buckets);
}

static bly_status poppy_format(void *image, const kind_spec *spec)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    uint8_t *file = image_payload_mut(image);
    poppy_geometry(geometry, image);
    file[0] = POPPY_FILE_VERSION;
    file[1] = (uint8_t)geometry[POPPY_OPT];
    image_set_u64(file, POPPY_AT_KEYS, spec->capacity);
    image_set_f64(file, POPPY_AT_RATE, spec->rate);
    image_set_u64(file, POPPY_AT_K, geometry[POPPY_K]);
    image_set_u64(file, POPPY_AT_CACHE, geometry[POPPY_CACHE]);
    image_set_u64(file, POPPY_HEAD + geometry[POPPY_CACHE] / 8,
                  geometry[POPPY_BUCKETS]);
    return BLY_OK;
}

/* Copies the attached data as well: there is room for it. */
static void poppy_like(void *image, const void *other)
{
    uint8_t *file = image_payload_mut(image);
    const uint8_t *from = image_payload(other);
    size_t head = (size_t)poppy_head(image_geometry(image, POPPY_CACHE));
    size_t end = head + POPPY_BUCKET
                        * (size_t)image_geometry(image, POPPY_BUCKETS);
    memcpy(file, from, POPPY_HEAD);
    memcpy(file + head - 8, from + head - 8, 8);
    memcpy(file + end, from + end, image_payload_bytes(other) - end);
    image_set_u64(file, POPPY_AT_ADDED, 0);
}

/* ---- The file ---------------------------------------------------------- */

static bly_status poppy_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of Poppy: byte %llu: "
                       "%s: it is damaged, or of another format: fetch it "
                       "again, or name another format",
                       (unsigned long long)at, what);
}

static bool poppy_is_cache(uint64_t bits)
{
    return bits == 0 || (bits >= 8 && bits <= POPPY_CACHE_MAX
                         && (bits & (bits - 1)) == 0);
}

static bly_status poppy_check_mark(const uint8_t *file)
{
    if (file[0] != POPPY_FILE_VERSION)
        return status_fail(BLY_EVERSION, "read as a filter of Poppy: byte 0: "
                           "the version is %u, which is not known: write it "
                           "again in version 2, or, if it is 1, name the "
                           "format dcso", file[0]);
    if (file[1] > POPPY_BEST)
        return poppy_wrong(1, "its opt is not 0 .. 3");
    for (size_t i = 2; i < POPPY_AT_KEYS; i++)
        if (file[i] != 0)
            return poppy_wrong(i, "it is not 0");
    return BLY_OK;
}

/* Checks the numbers in front of the cache. */
static bly_status poppy_check_head(const uint8_t *file)
{
    double rate = image_f64(file, POPPY_AT_RATE);
    uint64_t k = image_u64(file, POPPY_AT_K);
    uint64_t cache = image_u64(file, POPPY_AT_CACHE);
    bly_status status = poppy_check_mark(file);
    if (status != BLY_OK)
        return status;
    if (image_u64(file, POPPY_AT_KEYS) == 0)
        return poppy_wrong(POPPY_AT_KEYS, "the capacity is 0");
    if (!(rate > 0 && rate <= 1))
        return poppy_wrong(POPPY_AT_RATE, "the rate is not between 0 and 1");
    if (k < 1 || k > POPPY_K_MAX)
        return poppy_wrong(POPPY_AT_K, "the number of hash functions is not 1 "
                           ".. 1088");
    if (!poppy_is_cache(cache) || (cache > 0) != (file[1] >= POPPY_SPEED))
        return poppy_wrong(POPPY_AT_CACHE, "the bits of the cache are not a "
                           "power of two, or, as byte 1 says, not 0");
    return BLY_OK;
}

static bly_status poppy_cut(uint64_t at, uint64_t bytes)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of Poppy: byte %llu: "
                       "its buckets do not end within its %llu bytes: it is "
                       "cut short, or damaged: fetch it again",
                       (unsigned long long)at, (unsigned long long)bytes);
}

/* Finds the number of buckets, if they end within so many bytes. */
static bly_status poppy_find_buckets(uint64_t *rows, const uint8_t *file,
                                     uint64_t bytes)
{
    uint64_t at = POPPY_HEAD + image_u64(file, POPPY_AT_CACHE) / 8;
    if (bytes < at + 8)
        return poppy_cut(POPPY_AT_CACHE, bytes);
    *rows = image_u64(file, at);
    if (*rows == 0)
        return poppy_wrong(at, "there are no buckets");
    return *rows <= POPPY_BUCKETS_MAX
           && POPPY_BUCKET * *rows <= bytes - (at + 8) ? BLY_OK
         : poppy_cut(at, bytes);
}

/* Looks at the number of buckets as well if it is among the first n bytes. */
static bool poppy_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    uint64_t rows;
    if (n < POPPY_HEAD || poppy_check_head(bytes) != BLY_OK)
        return false;
    uint64_t head = poppy_head(image_u64(bytes, POPPY_AT_CACHE));
    return n < head ? all >= head + POPPY_BUCKET
         : poppy_find_buckets(&rows, bytes, all) == BLY_OK;
}

static bly_status poppy_read(kind_found *out, const uint8_t *file,
                             uint64_t bytes)
{
    uint64_t rows;
    if (bytes < POPPY_HEAD)
        return poppy_cut(0, bytes);
    bly_status status = poppy_check_head(file);
    if (status == BLY_OK)
        status = poppy_find_buckets(&rows, file, bytes);
    if (status != BLY_OK)
        return status;
    *out = (kind_found){
        .capacity = image_u64(file, POPPY_AT_KEYS),
        .items = image_u64(file, POPPY_AT_ADDED),
        .geometry = { rows, image_u64(file, POPPY_AT_K),
                      image_u64(file, POPPY_AT_CACHE), file[1] },
    };
    return BLY_OK;
}

static double poppy_rate(const kind_found *found, const uint8_t *file)
{
    buckets rows = poppy_rows(found->geometry);
    double sd;
    (void)file;
    return buckets_rate(&rows, found->capacity, &sd);
}

static uint64_t poppy_reach(const uint64_t *geometry)
{
    uint64_t rows = geometry[POPPY_BUCKETS], k = geometry[POPPY_K];
    return rows < 1 || rows > POPPY_BUCKETS_MAX || k < 1 || k > POPPY_K_MAX
           || !poppy_is_cache(geometry[POPPY_CACHE])
           || geometry[POPPY_OPT] > POPPY_BEST ? UINT64_MAX
         : poppy_head(geometry[POPPY_CACHE]) + POPPY_BUCKET * rows;
}

static const kind_foreign poppy_foreign = {
    .writer = "CIRCL's Poppy, version 2",
    .numbers = {
        { "buckets", NULL },
        { "k", NULL },
        { "cache", "its bits" },
        { "opt", "0 none, 1 space, 2 speed, 3 best" },
    },
    .looks = poppy_looks,
    .read  = poppy_read,
    .rate  = poppy_rate,
    .reach = poppy_reach,
    .attaches = true,
    .plans = true,
};

static bly_status poppy_check(const void *image)
{
    return kind_check_foreign(image, &poppy_foreign);
}

/* ---- Keys --------------------------------------------------------------
 *
 * The row is the whole file, so that the bit of the cache, if there is one, is
 * the first probe. with[] has the number of buckets, the bits of the cache, and
 * where the buckets begin, in bits. */

enum { POPPY_WITH_BUCKETS, POPPY_WITH_CACHE, POPPY_WITH_HEAD };

static probes_row poppy_row(const void *image)
{
    uint64_t cache = image_geometry(image, POPPY_CACHE);
    uint64_t rows = image_geometry(image, POPPY_BUCKETS);
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .m = rows, .inverse = probes_inverse(rows),
        .k = image_geometry(image, POPPY_K) + (cache > 0),
        .with = { rows, cache, 8 * poppy_head(cache) },
    };
}

static uint64_t poppy_second(uint64_t h)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(h >> (56 - 8 * i));
    return hash_wyhash(bytes, sizeof bytes, POPPY_SEED);
}

/* The hash, its second part once it is needed, and where the bucket and the
 * cache's bit are. */
static void poppy_begin(const probes_row *row, probes_key *key)
{
    uint64_t h = 0;
    const uint8_t *bytes = key->bytes;
    if (key->length > 8)
        h = hash_wyhash(bytes, key->length, POPPY_SEED);
    else
        for (size_t i = 0; i < key->length; i++)
            h |= (uint64_t)bytes[i] << 8 * i;
    uint64_t x = h;
    x ^= x << 12;
    x ^= x >> 25;
    x ^= x << 27;
    x *= POPPY_FACTOR;
    key->state[0] = h;
    key->state[1] = 0;
    key->state[2] = row->with[POPPY_WITH_HEAD]
                  + POPPY_BITS * probes_mod(row, x);
    key->state[3] = 8 * POPPY_HEAD + (x & (row->with[POPPY_WITH_CACHE] - 1));
}

static uint64_t poppy_next(const probes_row *row, probes_key *key, uint64_t i)
{
    bool cached = row->with[POPPY_WITH_CACHE] > 0;
    if (cached && i == 0)
        return key->state[3];
    i -= cached;
    if (i == 1)
        key->state[1] = poppy_second(key->state[0]);
    if (i >= 1) {
        key->state[0] += key->state[1];
        key->state[1] += i;
    }
    return key->state[2] + (key->state[0] & (POPPY_BITS - 1));
}

PROBES_WHOLE(poppy)

/* A full filter stops at the first clear bit, before any is set. */
static bly_status poppy_put(uint8_t *file, const probes_row *row,
                            probes_key *key)
{
    bool fresh = false;
    uint64_t added = image_u64(file, POPPY_AT_ADDED);
    bool full = added >= image_u64(file, POPPY_AT_KEYS);
    for (uint64_t i = row->with[POPPY_WITH_CACHE] > 0; i < row->k; i++) {
        uint64_t at = poppy_next(row, key, i);
        if (full && !bits_test(file, at))
            return status_fail(BLY_EFULL, "the filter has the %llu keys that "
                               "it was built for, and Poppy adds no more: "
                               "build one for more keys",
                               (unsigned long long)added);
        fresh |= bits_set(file, at);
    }
    image_set_u64(file, POPPY_AT_ADDED, added + fresh);
    return fresh ? BLY_OK : BLY_SEEN;
}

/* A key whose cache bit was clear is new, although Poppy counts only those that
 * change their bucket. */
static bly_status poppy_add_key(void *image, uint64_t hash, const void *bytes,
                                size_t length)
{
    probes_row row = poppy_row(image);
    probes_key key = { .bytes = bytes, .length = length };
    (void)hash;
    poppy_begin(&row, &key);
    bly_status status = poppy_put(row.row, &row, &key);
    if (status >= 0 && row.with[POPPY_WITH_CACHE] > 0
        && bits_set(row.row, key.state[3]))
        status = BLY_OK;
    return status;
}

/* ---- Sets and statistics ----------------------------------------------- */

static shape poppy_shape(const buckets *rows)
{
    return (shape){ .blocks = rows->buckets, .lanes = 1, .bits = POPPY_BITS,
                    .probes = rows->probes };
}

static const uint8_t *poppy_bucket(const void *image, uint64_t i)
{
    return image_payload(image) + poppy_head(image_geometry(image, POPPY_CACHE))
         + POPPY_BUCKET * i;
}

/* Returns whether two filters may be united. */
static bool poppy_alike(const void *a, const void *b)
{
    return memcmp(image_payload(a), image_payload(b), POPPY_AT_ADDED) == 0;
}

/* Poppy's estimate of the keys of a bucket; UINT64_MAX if all bits are set. */
static uint64_t poppy_keys(const buckets *rows, uint64_t set)
{
    double load = -(POPPY_BITS * log(1 - (double)set / POPPY_BITS));
    return set == POPPY_BITS ? UINT64_MAX
         : (uint64_t)(load / rows->probes);
}

static bly_status poppy_unite(void *into, const void *other)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS], keys = 0;
    uint8_t *file = image_payload_mut(into);
    poppy_geometry(geometry, into);
    buckets rows = poppy_rows(geometry);
    uint8_t *to = file + poppy_head(rows.cache);
    bits_or(file + POPPY_HEAD, image_payload(other) + POPPY_HEAD,
            (size_t)(rows.cache / 8));
    TASK_EACH(i, rows.buckets) {
        bits_or(to, poppy_bucket(other, i), POPPY_BUCKET);
        uint64_t more = poppy_keys(&rows, bits_count(to, POPPY_BUCKET));
        keys = more > UINT64_MAX - keys ? UINT64_MAX : keys + more;
        to += POPPY_BUCKET;
    }
    image_set_u64(file, POPPY_AT_ADDED, keys);
    return BLY_OK;
}

static void poppy_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    poppy_geometry(geometry, a);
    buckets rows = poppy_rows(geometry);
    shape s = poppy_shape(&rows);
    rows_overlap(out, &s, poppy_bucket(a, 0), poppy_bucket(b, 0));
}

/* The share of set bits of the cache among those of keys in this bucket, and in
 * those that are a multiple of `common` away from it. */
static double poppy_passing(const buckets *rows, const uint8_t *cache,
                            uint64_t bucket, uint64_t common)
{
    uint64_t set = 0;
    if (rows->cache == 0)
        return 1;
    if (common == 1)
        set = bits_count(cache, (size_t)(rows->cache / 8));
    else
        for (uint64_t i = bucket; i < rows->cache; i += common)
            set += bits_test(cache, i);
    return (double)set / ((double)rows->cache / (double)common);
}

static void poppy_stat(bly_info_t *out, const void *image)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS], set = 0;
    const uint8_t *cache = image_payload(image) + POPPY_HEAD;
    poppy_geometry(geometry, image);
    buckets rows = poppy_rows(geometry);
    shape s = poppy_shape(&rows);
    uint64_t common = buckets_common(&rows);
    double rate = 0, passing = 0, all = (double)rows.buckets;
    TASK_EACH(first, common) {
        double pass = poppy_passing(&rows, cache, first, common);
        passing += pass / (double)common;
        for (uint64_t i = first; i < rows.buckets; i += common) {
            uint64_t x = bits_count(poppy_bucket(image, i), POPPY_BUCKET);
            set += x;
            rate += pass * pow((double)x / POPPY_BITS, rows.probes);
        }
    }
    rows_stat_of(out, &s, set, rate / all);
    if (isfinite(out->distinct))
        out->rate += (passing - out->rate)
                   * fmin(out->distinct / all * rows.twin, 1);
}

static const kind_whole poppy_whole = {
    .contains      = poppy_contains_key,
    .contains_many = poppy_contains_keys,
    .add           = poppy_add_key,
};

static const kind_combining poppy_combining = {
    .alike   = poppy_alike,
    .unite   = poppy_unite,
    .overlap = poppy_overlap,
};

const bly_kind bly_kind_poppy = {
    .name    = "poppy",
    .family  = "foreign",
    .summary = "the Bloom filter of CIRCL's Poppy, version 2",
    .version = POPPY_VERSION,
    .options = poppy_options,

    .plan   = poppy_plan,
    .format = poppy_format,
    .like   = poppy_like,
    .check  = poppy_check,
    .stat   = poppy_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &poppy_whole,
    .combining = &poppy_combining,
    .foreign   = &poppy_foreign,
};
