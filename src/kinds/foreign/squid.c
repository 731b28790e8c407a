/* squid.c - a cache digest of Squid, in its own bytes.
 *
 * WHAT IT IS
 *
 * The proxy Squid sends this digest of its cache to its neighbours. A running
 * proxy serves its own at /squid-internal-periodic/store_digest. The payload is
 * the body of that reply, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it to look up what a Squid proxy has in its cache, or to make a digest
 * for its neighbours.
 *
 * WHEN NOT TO
 *
 * - No proxy must read the filter: `standard` keeps any rate, and `split`
 *   needs no MD5. The paper about summary caches uses 16 bits per key and six
 *   probes.
 * - The answer must be current: Squid makes a new digest every hour and removes
 *   nothing from it. Objects that have left the cache since then are still
 *   found, and new ones are not.
 *
 * COST
 *
 * 5 bits per entry by default, with four probes, at a rate of 9.2 %; 8 bits at
 * 2.4 %. A lookup computes an MD5 and reads up to four cache lines.
 *
 * THE PICTURE
 *
 *      | 128 bytes of numbers | mask |
 *      0                      128    end
 *
 * IMAGE
 *
 *      geometry 0   m, bits of the mask, 8 .. 2^31 - 8
 *      geometry 1   the method of the requests that are looked up: 1 GET,
 *                   2 POST; given by whoever opens the filter
 *      payload      all numbers have the highest byte first, and a sign
 *         0   2     5, the current version
 *         2   2     3, the version that a reader needs, at most 5
 *         4   4     capacity, 1 or more
 *         8   4     entries, 0 or more
 *        12   4     deletions, 0 or more
 *        16   4     bytes of the mask, 1 or more
 *        20   1     b, bits an entry, 1 or more
 *        21   1     4, probes
 *        22 106     0, or fields of a later version
 *       128         the mask; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, the current
 *      version 3 or more, (2) the mask has (capacity b + 7) / 8 bytes, rounded
 *      down, (3) the payload ends where the mask does, (4) m is that of the
 *      geometry, and the method is 1 or 2.
 *
 * MATHS
 *
 * At its capacity the rate is (1 - e^(-4/b))^4: 16 % for 4 bits per entry, 9.2
 * % for 5, which is Squid's own choice, 5.6 % for 6, 2.4 % for 8.
 *
 * THE BITS OF A KEY
 *
 * The hash is the MD5 of the method's number, one byte, and the URL. The bits
 * are its four words of 32 bits, the highest byte first, modulo m.
 *
 * PAPERS
 *
 *  [Rousskov & Wessels 1998]  Cache digests, Computer Networks 30.
 *  [Fan et al. 2000]          Summary cache: a scalable wide-area Web cache
 *                             sharing protocol, IEEE/ACM ToN 8(3).
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"
#include "bits/digest.h"

enum {
    SQUID_VERSION = 1,
    SQUID_M = 0, SQUID_METHOD = 1,      /* geometry                          */
    SQUID_OPTION_BITS = 0, SQUID_OPTION_METHOD = 1,
    SQUID_AT_CURRENT = 0, SQUID_AT_NEEDED = 2, SQUID_AT_CAPACITY = 4,
    SQUID_AT_COUNT = 8, SQUID_AT_GONE = 12, SQUID_AT_BYTES = 16,
    SQUID_AT_BITS = 20, SQUID_AT_K = 21,
    SQUID_HEAD = 128,
    SQUID_CURRENT = 5, SQUID_NEEDED = 3, SQUID_K = 4,
    SQUID_BITS_MOST = 127,
    SQUID_METHODS = 2
};

#define SQUID_CAPACITY_MAX (UINT64_C(0x7FFFFFFF))
#define SQUID_BYTES_MAX    (UINT64_C(0x7FFFFFFF) / 8)

static const char *const squid_methods[] = { "get", "post", NULL };

static const kind_option squid_options[] = {
    [SQUID_OPTION_BITS] = {
        .name = "bits", .help = "bits per entry, 5 in Squid; instead of a rate",
        .least = 1, .most = SQUID_BITS_MOST, .standard = KIND_CHOOSE },
    [SQUID_OPTION_METHOD] = {
        .name = "method", .help = "the method of the requests whose URLs are "
                                  "the keys",
        .choices = squid_methods },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static uint64_t squid_number(const uint8_t *file, size_t at, size_t width)
{
    uint64_t v = 0;
    for (size_t i = 0; i < width; i++)
        v = v << 8 | file[at + i];
    return v;
}

static void squid_set_number(uint8_t *file, size_t at, size_t width, uint64_t v)
{
    for (size_t i = 0; i < width; i++)
        file[at + i] = (uint8_t)(v >> 8 * (width - 1 - i));
}

static uint64_t squid_bytes(uint64_t capacity, uint64_t bits)
{
    return (capacity * bits + 7) / 8;
}

static bly_status squid_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a cache digest of Squid: byte "
                       "%u: %s: fetch it again, or name another format", at,
                       what);
}

static bly_status squid_check_versions(const uint8_t *file)
{
    uint64_t current = squid_number(file, SQUID_AT_CURRENT, 2);
    uint64_t needed = squid_number(file, SQUID_AT_NEEDED, 2);
    if (current >= SQUID_NEEDED && current < 0x8000 && needed >= 1
        && needed <= SQUID_CURRENT)
        return BLY_OK;
    return status_fail(BLY_EVERSION, "read as a cache digest of Squid: byte 0: "
                       "it has version %u and needs version %u to be read, but "
                       "only 3 to 5 are known: name another format, or get it "
                       "from a Squid of these years", (unsigned)current,
                       (unsigned)needed);
}

static bly_status squid_check_numbers(const uint8_t *file)
{
    uint64_t capacity = squid_number(file, SQUID_AT_CAPACITY, 4);
    uint64_t bytes = squid_number(file, SQUID_AT_BYTES, 4);
    uint64_t bits = file[SQUID_AT_BITS];
    if (capacity == 0 || capacity > SQUID_CAPACITY_MAX)
        return squid_wrong(SQUID_AT_CAPACITY, "the capacity is not "
                           "1 .. 2^31 - 1");
    if (squid_number(file, SQUID_AT_COUNT, 4) > SQUID_CAPACITY_MAX)
        return squid_wrong(SQUID_AT_COUNT, "the number of entries is negative");
    if (squid_number(file, SQUID_AT_GONE, 4) > SQUID_CAPACITY_MAX)
        return squid_wrong(SQUID_AT_GONE, "the number of deletions is "
                           "negative");
    if (bits == 0)
        return squid_wrong(SQUID_AT_BITS, "an entry has no bits");
    if (file[SQUID_AT_K] != SQUID_K)
        return squid_wrong(SQUID_AT_K, "the number of hash functions is not 4");
    if (bytes == 0 || bytes > SQUID_BYTES_MAX
        || bytes != squid_bytes(capacity, bits))
        return squid_wrong(SQUID_AT_BYTES, "the size of the mask does not "
                           "follow from the capacity");
    return BLY_OK;
}

static bly_status squid_check_file(const uint8_t *file, uint64_t bytes)
{
    bly_status status = digest_check("format squid");
    if (status == BLY_OK && bytes < SQUID_HEAD)
        status = status_fail(BLY_ECORRUPT, "read as a cache digest of Squid, "
                             "whose header has 128 bytes, but there are %llu: "
                             "fetch it again", (unsigned long long)bytes);
    if (status == BLY_OK)
        status = squid_check_versions(file);
    if (status == BLY_OK)
        status = squid_check_numbers(file);
    if (status == BLY_OK
        && bytes != SQUID_HEAD + squid_number(file, SQUID_AT_BYTES, 4))
        status = status_fail(BLY_ECORRUPT, "read as a cache digest of Squid: "
                             "byte 16: its mask ends at byte %llu, but there "
                             "are %llu bytes: fetch it again",
                             (unsigned long long)(SQUID_HEAD + squid_number(
                                 file, SQUID_AT_BYTES, 4)),
                             (unsigned long long)bytes);
    return status;
}

static bool squid_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= SQUID_HEAD
        && squid_number(bytes, SQUID_AT_CURRENT, 2) == SQUID_CURRENT
        && squid_number(bytes, SQUID_AT_NEEDED, 2) == SQUID_NEEDED
        && bytes[SQUID_AT_K] == SQUID_K
        && all == SQUID_HEAD + squid_number(bytes, SQUID_AT_BYTES, 4);
}

static void squid_plan_row(bly_plan_t *plan, uint64_t bytes, uint64_t n)
{
    rows_plan_row(plan, 8 * bytes, SQUID_K, n, bytes);
    plan->geometry[SQUID_M] = 8 * bytes;
}

static bly_status squid_read(kind_found *out, const uint8_t *file,
                             uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    bly_status status = squid_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t n = squid_number(file, SQUID_AT_CAPACITY, 4);
    squid_plan_row(&plan, squid_number(file, SQUID_AT_BYTES, 4), n);
    *out = (kind_found){
        .capacity = n, .items = squid_number(file, SQUID_AT_COUNT, 4),
        .rate = plan.rate, .geometry = { plan.geometry[SQUID_M] },
    };
    return BLY_OK;
}

static bly_status squid_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[SQUID_METHOD] = option[SQUID_OPTION_METHOD] + 1;
    return BLY_OK;
}

static uint64_t squid_reach(const uint64_t *geometry)
{
    uint64_t bytes = geometry[SQUID_M] / 8;
    return bytes < 1 || bytes > SQUID_BYTES_MAX || geometry[SQUID_M] % 8 != 0
         ? UINT64_MAX : SQUID_HEAD + bytes;
}

static const kind_foreign squid_foreign = {
    .writer = "Squid's cache digests",
    .numbers = {
        { "bits", NULL },
        { "method", "1 get, 2 post" },
    },
    .looks  = squid_looks,
    .read   = squid_read,
    .reach  = squid_reach,
    .plans  = true,
    .told   = squid_told,
    .fields = 1u << SQUID_METHOD,
};

static bly_status squid_check(const void *image)
{
    uint64_t method = image_geometry(image, SQUID_METHOD);
    return method >= 1 && method <= SQUID_METHODS
         ? kind_check_foreign(image, &squid_foreign)
         : kind_bad_geometry(image);
}

/* ---- Plan -------------------------------------------------------------- */

/* The fewest bits an entry whose rate is kept. BLY_EPARAM. */
static bly_status squid_choose(uint64_t *bits, uint64_t n, double rate)
{
    bly_plan_t plan;
    for (*bits = 1; *bits <= SQUID_BITS_MOST; ++*bits) {
        squid_plan_row(&plan, squid_bytes(n, *bits), n);
        if (plan.rate <= rate)
            return BLY_OK;
    }
    return status_fail(BLY_EPARAM, "a rate of %.3g is too low for a cache "
                       "digest: use a higher rate, or give bits=", rate);
}

static bly_status squid_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity, bits = spec->option[SQUID_OPTION_BITS];
    bly_status status = digest_check("format squid");
    if (status == BLY_OK && n == 0)
        status = kind_no_capacity();
    if (status == BLY_OK && n > SQUID_CAPACITY_MAX)
        status = kind_too_big(spec, "2^31 - 1 entries");
    if (status == BLY_OK && bits == KIND_CHOOSE)
        status = squid_choose(&bits, n, spec->rate);
    if (status == BLY_OK && squid_bytes(n, bits) > SQUID_BYTES_MAX)
        status = kind_too_big(spec, "2^31 bits");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, SQUID_HEAD + squid_bytes(n, bits));
    if (status != BLY_OK)
        return status;
    squid_plan_row(plan, squid_bytes(n, bits), n);
    return squid_told(plan->geometry, spec->option);
}

static bly_status squid_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t bytes = image_geometry(image, SQUID_M) / 8;
    uint64_t bits = spec->option[SQUID_OPTION_BITS];
    if (bits == KIND_CHOOSE)
        bits = 8 * bytes / spec->capacity;
    squid_set_number(file, SQUID_AT_CURRENT, 2, SQUID_CURRENT);
    squid_set_number(file, SQUID_AT_NEEDED, 2, SQUID_NEEDED);
    squid_set_number(file, SQUID_AT_CAPACITY, 4, spec->capacity);
    squid_set_number(file, SQUID_AT_BYTES, 4, bytes);
    file[SQUID_AT_BITS] = (uint8_t)bits;
    file[SQUID_AT_K] = SQUID_K;
    return BLY_OK;
}

static void squid_like(void *image, const void *other)
{
    uint8_t *file = image_payload_mut(image);
    memcpy(file, image_payload(other), SQUID_HEAD);
    squid_set_number(file, SQUID_AT_COUNT, 4, 0);
    squid_set_number(file, SQUID_AT_GONE, 4, 0);
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row squid_row(const void *image)
{
    uint64_t m = image_geometry(image, SQUID_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + SQUID_HEAD,
        .bytes = (size_t)(m / 8), .m = m, .k = SQUID_K,
        .with = { image_geometry(image, SQUID_METHOD) },
    };
}

static void squid_begin(const probes_row *row, probes_key *key)
{
    uint8_t h[DIGEST_MD5];
    digest_md5_of(h, (uint8_t)row->with[0], key->bytes, key->length);
    for (size_t i = 0; i < SQUID_K; i++)
        key->state[i] = squid_number(h, 4 * i, 4);
}

static uint64_t squid_next(const probes_row *row, probes_key *key, uint64_t i)
{
    return key->state[i] % row->m;
}

PROBES_WHOLE(squid)
PROBES_LOOKS(squid)
PROBES_PUT(squid)

/* The number of entries, which ends at its largest. */
static void squid_count(uint8_t *file, uint64_t more)
{
    uint64_t n = squid_number(file, SQUID_AT_COUNT, 4) + more;
    squid_set_number(file, SQUID_AT_COUNT, 4,
                     n > SQUID_CAPACITY_MAX ? SQUID_CAPACITY_MAX : n);
}

static bly_status squid_add_key(void *image, uint64_t hash, const void *bytes,
                                size_t length)
{
    (void)hash;
    squid_count(image_payload_mut(image), 1);
    return squid_put(image, bytes, length);
}

/* ---- Sets -------------------------------------------------------------- */

static bly_status squid_unite_all(void *into, const void *other)
{
    squid_count(image_payload_mut(into),
                squid_number(image_payload(other), SQUID_AT_COUNT, 4));
    return squid_unite(into, other);
}

static const kind_whole squid_whole = {
    .contains      = squid_contains_key,
    .contains_many = squid_contains_keys,
    .add           = squid_add_key,
};

static const kind_combining squid_combining = {
    .unite   = squid_unite_all,
    .overlap = squid_overlap,
};

const bly_kind bly_kind_squid = {
    .name    = "squid",
    .family  = "foreign",
    .summary = "a cache digest of the proxy Squid",
    .version = SQUID_VERSION,
    .options = squid_options,

    .plan   = squid_plan,
    .format = squid_format,
    .like   = squid_like,
    .check  = squid_check,
    .stat   = squid_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &squid_whole,
    .combining = &squid_combining,
    .foreign   = &squid_foreign,
};
