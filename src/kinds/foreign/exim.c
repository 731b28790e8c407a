/* exim.c - the Bloom filter of Exim's unique rate limits, in its own bytes.
 *
 * WHAT IT IS
 *
 * The mail server Exim can count only the different events of a sender, such as
 * the recipients it has not written to before: `ratelimit` with `unique=`. For
 * each sender it then keeps a Bloom filter in its hints database. The payload
 * is the bytes of the filter in such a record, without the numbers before them.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the record of a unique rate limit in Exim's hints database.
 *
 * WHEN NOT TO
 *
 * - Exim need not read the filter: `standard`, which keeps the rate that you
 *   request.
 *
 * COST
 *
 * For a limit of L events Exim takes max(40, 2 L) bytes: 16 bits per event, at
 * a rate of 0.06 % for L events. A lookup computes an MD5 and reads up to eight
 * cache lines.
 *
 * THE PICTURE
 *
 *      | bits, whole bytes |
 *      0                   end
 *
 * IMAGE
 *
 *      geometry 0   m, bits: 8 times the payload's bytes, 8 .. 2^32
 *      payload      bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if the payload has 1 to 2^29 bytes, and m is that.
 *
 * MATHS
 *
 * A filter that Bloomery builds has Exim's size, so no rate can be requested.
 * An event that is found is not counted, so a sender seems to send slightly
 * less than it does.
 *
 * With independent positions, the rate of n events is (1 - e^(-n / 2 L))^8. The
 * positions of an event are a progression, of which two events share more, and
 * plan and info take that into account (src/maths/strides.h). For a limit of
 * 1000:
 *
 *      events                       500        1000       2000      4000
 *      independent positions        0.00057 %  0.0574 %   2.55 %    31.2 %
 *      plan and info                0.00100 %  0.0589 %   2.57 %    31.2 %
 *      counted, 10^7 absent keys    0.00107 %  0.0587 %   2.55 %    31.2 %
 *
 * THE BITS OF A KEY
 *
 * With the first two words of 32 bits of the event's MD5, the lowest byte
 * first, h and d: eight times, the bit is h mod m, and h = h + d modulo 2^32.
 *
 * PAPERS
 *
 *  [Kirsch & Mitzenmacher 2006]  Less hashing, same performance: building a
 *                                better Bloom filter, ESA.
 */
#include "image/kind_foreign.h"

#include "bodies/probes.h"
#include "bits/digest.h"

enum {
    EXIM_VERSION = 1,
    EXIM_M = 0,                         /* geometry                          */
    EXIM_K = 8, EXIM_LEAST = 40, EXIM_A_KEY = 2
};

#define EXIM_BYTES_MAX (UINT64_C(1) << 29)

static strides exim_strides(uint64_t m)
{
    return (strides){ .m = m, .k = EXIM_K, .form = STRIDES_PLAIN,
                      .width = 32 };
}

static void exim_plan_row(bly_plan_t *plan, uint64_t bytes, uint64_t n)
{
    strides s = exim_strides(8 * bytes);
    rows_plan_strides(plan, &s, n, bytes);
    plan->geometry[EXIM_M] = 8 * bytes;
}

static bly_status exim_plan(bly_plan_t *plan, const kind_spec *spec)
{
    bly_status status = digest_check("format exim");
    if (status == BLY_OK && spec->capacity == 0)
        status = kind_no_capacity();
    if (status == BLY_OK && spec->capacity > EXIM_BYTES_MAX / EXIM_A_KEY)
        status = kind_too_big(spec, "2^29 bytes");
    if (status != BLY_OK)
        return status;
    uint64_t bytes = EXIM_A_KEY * spec->capacity;
    bytes = bytes < EXIM_LEAST ? EXIM_LEAST : bytes;
    status = kind_plan_bytes(plan, bytes);
    if (status == BLY_OK)
        exim_plan_row(plan, bytes, spec->capacity);
    return status;
}

static bly_status exim_read(kind_found *out, const uint8_t *file,
                            uint64_t bytes)
{
    bly_status status = digest_check("format exim");
    (void)file;
    if (status != BLY_OK)
        return status;
    if (bytes == 0 || bytes > EXIM_BYTES_MAX)
        return status_fail(BLY_ECORRUPT, "read as a filter of Exim, which has "
                           "1 to 2^29 bytes, but there are %llu: name another "
                           "format, or read the record again",
                           (unsigned long long)bytes);
    *out = (kind_found){
        .capacity = bytes / EXIM_A_KEY + (bytes < EXIM_A_KEY),
        .items = IMAGE_ITEMS_UNKNOWN,
        .geometry = { 8 * bytes },
    };
    return BLY_OK;
}

static double exim_rate(const kind_found *found, const uint8_t *file)
{
    strides s = exim_strides(found->geometry[EXIM_M]);
    (void)file;
    return strides_rate(&s, found->capacity).rate;
}

static uint64_t exim_reach(const uint64_t *geometry)
{
    uint64_t bytes = geometry[EXIM_M] / 8;
    return bytes < 1 || bytes > EXIM_BYTES_MAX || geometry[EXIM_M] % 8 != 0
         ? UINT64_MAX : bytes;
}

static const kind_foreign exim_foreign = {
    .writer = "the mail server Exim: ratelimit with unique=",
    .numbers = {
        { "bits", NULL },
    },
    .read   = exim_read,
    .rate   = exim_rate,
    .reach  = exim_reach,
};

static bly_status exim_check(const void *image)
{
    return kind_check_foreign(image, &exim_foreign);
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row exim_row(const void *image)
{
    uint64_t m = image_geometry(image, EXIM_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .bytes = (size_t)(m / 8), .m = m, .k = EXIM_K,
        .from = exim_strides(m),
    };
}

static void exim_begin(const probes_row *row, probes_key *key)
{
    uint8_t h[DIGEST_MD5];
    (void)row;
    digest_md5(h, key->bytes, key->length);
    key->state[0] = image_u32(h, 0);
    key->state[1] = image_u32(h, 4);
}

static uint64_t exim_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint64_t h = key->state[0];
    (void)i;
    key->state[0] = (h + key->state[1]) & UINT32_MAX;
    return h % row->m;
}

PROBES_WHOLE(exim)
PROBES_LOOKS(exim)
PROBES_ADD(exim)

static const kind_whole exim_whole = {
    .contains      = exim_contains_key,
    .contains_many = exim_contains_keys,
    .add           = exim_add_key,
};

static const kind_combining exim_combining = {
    .unite   = exim_unite,
    .overlap = exim_overlap,
};

const bly_kind bly_kind_exim = {
    .name    = "exim",
    .family  = "foreign",
    .summary = "the filter of a unique rate limit of the mail server Exim",
    .version = EXIM_VERSION,

    .plan  = exim_plan,
    .check = exim_check,
    .stat  = exim_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &exim_whole,
    .combining = &exim_combining,
    .foreign   = &exim_foreign,
};
