/* venti.c - the Bloom filter of a Venti server, in its own bytes.
 *
 * WHAT IT IS
 *
 * The archival server Venti of Plan 9 queries this filter before it searches
 * its index for a block. The payload is the file or partition that the server's
 * configuration calls `bloom`, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the Bloom filter of a Venti archival server.
 *
 * WHEN NOT TO
 *
 * - No Venti server must read the filter: `blocked` and `standard`.
 * - The server has the other byte order: it writes w1 to w4 and the words of
 *   the bits in its own order, and the file does not show that.
 *
 * COST
 *
 * The size is a power of two, from 8 KiB on, that the server chooses; it plans
 * for 0.7 m / k blocks, about 1.44 k bits each. A lookup adds and masks, and
 * reads up to k cache lines. If the key is a block, it also computes SHA-1.
 *
 * THE PICTURE
 *
 *      | magic | version | k | bytes |  bits 128 …                |
 *      0       4         8   12      16                           end
 *
 * IMAGE
 *
 *      geometry 0   m, all bits of the file, a power of two, 2^8 .. 2^32
 *      geometry 1   k, probes, 1 .. 32
 *      payload      the file; numbers have the highest byte first
 *         0   4     b1004ead
 *         4   4     1, the version
 *         8   4     k
 *        12   4     bytes of the file, these 16 too
 *        16         bits 128 .. m - 1; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if the fields are as above, the payload has that many
 *      bytes, and m and k are those of the geometry.
 *
 * MATHS
 *
 * The rate is about 2^-k if 128 bits are always set: the server plans for 0.7 m
 * / k blocks. A new filter has at least 8 KiB, so these bits hardly matter. The
 * positions are a progression, which adds about 1/m for steps with few
 * different positions (src/maths/strides.h). In 8 KiB, no filter of a thousand
 * keys has less than 0.0005 %.
 *
 * THE BITS OF A KEY
 *
 * A key is a score, the 20 bytes of a block's SHA-1. A key of any other length
 * is a block, whose score is computed. With w1 to w4 the words of 32 bits from
 * the score's byte 4 on, the lowest byte first:
 *
 *      a = w1 ^ w3,  b = w2 ^ w4
 *      k times: the bit is max(a, 128) modulo m; a = a + b modulo 2^32
 *
 * The remainder can still be below 128, where the numbers of the header are.
 * The server sets and reads the bit there, and overwrites it with its numbers.
 * Bloomery never sets such a bit and treats it as set: a key whose other bits
 * are all set is found.
 *
 * PAPERS
 *
 *  [Quinlan & Dorward 2002]  Venti: a new approach to archival storage, FAST.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"
#include "bits/digest.h"

enum {
    VENTI_VERSION = 1,
    VENTI_M = 0, VENTI_K = 1,           /* geometry                          */
    VENTI_AT_MAGIC = 0, VENTI_AT_VERSION = 4, VENTI_AT_K = 8,
    VENTI_AT_SIZE = 12,
    VENTI_HEAD = 16, VENTI_HEAD_BITS = 8 * VENTI_HEAD,
    VENTI_K_MAX = 32, VENTI_LEAST = 32,
    VENTI_PLANNED = 8192                /* bytes at least, a block of a disk */
};

#define VENTI_MAGIC     UINT32_C(0xB1004EAD)
#define VENTI_BYTES_MAX (UINT64_C(1) << 29)

/* ---- The file ---------------------------------------------------------- */

static uint32_t venti_u32(const uint8_t *file, size_t at)
{
    return (uint32_t)file[at] << 24 | (uint32_t)file[at + 1] << 16
         | (uint32_t)file[at + 2] << 8 | file[at + 3];
}

static void venti_set_u32(uint8_t *file, size_t at, uint64_t v)
{
    for (size_t i = 0; i < 4; i++)
        file[at + i] = (uint8_t)(v >> (24 - 8 * i));
}

static bly_status venti_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as the filter of a Venti server: "
                       "byte %u: %s: it is damaged, or of another format: copy "
                       "it again, or name its format", at, what);
}

static bly_status venti_check_file(const uint8_t *file, uint64_t bytes)
{
    if (bytes < VENTI_HEAD)
        return status_fail(BLY_ECORRUPT, "read as the filter of a Venti "
                           "server, whose header has 16 bytes, but there are "
                           "%llu: copy it again", (unsigned long long)bytes);
    uint64_t size = venti_u32(file, VENTI_AT_SIZE);
    uint32_t k = venti_u32(file, VENTI_AT_K);
    if (venti_u32(file, VENTI_AT_MAGIC) != VENTI_MAGIC)
        return venti_wrong(VENTI_AT_MAGIC, "it does not begin with b1004ead");
    if (venti_u32(file, VENTI_AT_VERSION) != VENTI_VERSION)
        return status_fail(BLY_EVERSION, "read as the filter of a Venti "
                           "server: byte 4: its version is not 1: let the "
                           "server make a new one");
    if (k == 0 || k > VENTI_K_MAX)
        return venti_wrong(VENTI_AT_K, "the number of hash functions is not "
                           "1 .. 32");
    if (size < VENTI_LEAST || size > VENTI_BYTES_MAX
        || (size & (size - 1)) != 0)
        return venti_wrong(VENTI_AT_SIZE, "its size is not a power of two from "
                           "2^5 to 2^29 bytes");
    if (size != bytes)
        return status_fail(BLY_ECORRUPT, "read as the filter of a Venti "
                           "server: byte 12: it should have %llu bytes, but "
                           "there are %llu: copy all of it",
                           (unsigned long long)size,
                           (unsigned long long)bytes);
    return BLY_OK;
}

static bool venti_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    (void)all;
    return n >= VENTI_HEAD && venti_u32(bytes, VENTI_AT_MAGIC) == VENTI_MAGIC;
}

/* The rate of a filter with about n keys, of which this part of the keys' bits
 * is set. */
static double venti_rate(uint64_t m, uint64_t k, double n, double fill)
{
    strides s = { .m = m, .k = (uint32_t)k, .form = STRIDES_PLAIN,
                  .width = 32 };
    double set = fill * (double)(m - VENTI_HEAD_BITS) + VENTI_HEAD_BITS;
    return fill < 1 ? strides_rate_filled(&s, n, set / (double)m) : 1;
}

static void venti_plan_row(bly_plan_t *plan, uint64_t bytes, uint64_t k,
                           uint64_t n)
{
    rows_plan_row(plan, 8 * bytes - VENTI_HEAD_BITS, (uint32_t)k, n, bytes);
    plan->rate = venti_rate(8 * bytes, k, (double)n, plan->fill);
    plan->geometry[VENTI_M] = 8 * bytes;
    plan->geometry[VENTI_K] = k;
}

/* Blocks that the server plans for. */
static uint64_t venti_blocks(uint64_t bytes, uint64_t k)
{
    double n = floor(0.7 * 8 * (double)bytes / (double)k);
    return n < 1 ? 1 : (uint64_t)n;
}

static bly_status venti_read(kind_found *out, const uint8_t *file,
                             uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    bly_status status = digest_check("format venti");
    if (status == BLY_OK)
        status = venti_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t k = venti_u32(file, VENTI_AT_K), n = venti_blocks(bytes, k);
    venti_plan_row(&plan, bytes, k, n);
    *out = (kind_found){
        .capacity = n, .items = IMAGE_ITEMS_UNKNOWN, .rate = plan.rate,
        .geometry = { plan.geometry[VENTI_M], k },
    };
    return BLY_OK;
}

static uint64_t venti_reach(const uint64_t *geometry)
{
    uint64_t bytes = geometry[VENTI_M] / 8, k = geometry[VENTI_K];
    return bytes < VENTI_LEAST || bytes > VENTI_BYTES_MAX
        || (geometry[VENTI_M] & (geometry[VENTI_M] - 1)) != 0 || k < 1
        || k > VENTI_K_MAX ? UINT64_MAX : bytes;
}

static const kind_foreign venti_foreign = {
    .writer = "the archival server Venti of Plan 9",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
    },
    .looks  = venti_looks,
    .read   = venti_read,
    .reach  = venti_reach,
};

static bly_status venti_check(const void *image)
{
    return kind_check_foreign(image, &venti_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

/* Plans as the server does: 2^-k for the rate, and the next power of two. */
static bly_status venti_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t k = (uint64_t)ceil(-log2(spec->rate)), bytes = VENTI_PLANNED;
    bly_status status = digest_check("format venti");
    if (status == BLY_OK && spec->capacity == 0)
        status = kind_no_capacity();
    if (status != BLY_OK)
        return status;
    if (k > VENTI_K_MAX)
        return status_fail(BLY_EPARAM, "a rate of %.3g is below 2^-32, the "
                           "lowest for a filter of Venti: use a higher rate",
                           spec->rate);
    k = k < 1 ? 1 : k;
    while (bytes < VENTI_BYTES_MAX && venti_blocks(bytes, k) < spec->capacity)
        bytes *= 2;
    if (venti_blocks(bytes, k) < spec->capacity)
        return kind_too_big(spec, "2^29 bytes");
    status = kind_plan_bytes(plan, bytes);
    if (status == BLY_OK)
        venti_plan_row(plan, bytes, k, spec->capacity);
    return status;
}

static bly_status venti_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    (void)spec;
    venti_set_u32(file, VENTI_AT_MAGIC, VENTI_MAGIC);
    venti_set_u32(file, VENTI_AT_VERSION, VENTI_VERSION);
    venti_set_u32(file, VENTI_AT_K, image_geometry(image, VENTI_K));
    venti_set_u32(file, VENTI_AT_SIZE, image_geometry(image, VENTI_M) / 8);
    return BLY_OK;
}

static void venti_like(void *image, const void *other)
{
    (void)other;
    venti_format(image, NULL);
}

/* ---- Keys -------------------------------------------------------------- */

/* The whole file, whose bits are asked by where they stand in it; */
static probes_row venti_row(const void *image)
{
    uint64_t m = image_geometry(image, VENTI_M);
    return (probes_row){
        .row = probes_bytes(image_payload(image)), .m = m,
        .k = image_geometry(image, VENTI_K),
    };
}

/* and those of them that are keys'. */
static probes_row venti_keys_row(const void *image)
{
    probes_row row = venti_row(image);
    row.row += VENTI_HEAD;
    row.m -= VENTI_HEAD_BITS;
    row.bytes = (size_t)(row.m / 8);
    return row;
}

static void venti_begin(const probes_row *row, probes_key *key)
{
    uint8_t made[DIGEST_SHA1];
    const uint8_t *score = key->bytes;
    (void)row;
    if (key->length != DIGEST_SHA1) {
        digest_sha1(made, key->bytes, key->length);
        score = made;
    }
    key->state[0] = image_u32(score, 4) ^ image_u32(score, 12);
    key->state[1] = image_u32(score, 8) ^ image_u32(score, 16);
}

/* The magic's first bit, which is set, stands for those that are not kept. */
static uint64_t venti_next(const probes_row *row, probes_key *key, uint64_t i)
{
    uint64_t a = key->state[0];
    (void)i;
    key->state[0] = (a + key->state[1]) & UINT32_MAX;
    uint64_t at = (a < VENTI_HEAD_BITS ? VENTI_HEAD_BITS : a) & (row->m - 1);
    return at < VENTI_HEAD_BITS ? 0 : at;
}

PROBES_WHOLE(venti)
PROBES_ADD(venti)
PROBES_LOOKS(venti_keys)

static void venti_stat(bly_info_t *out, const void *image)
{
    venti_keys_stat(out, image);
    out->rate = venti_rate(image_geometry(image, VENTI_M),
                           image_geometry(image, VENTI_K), out->distinct,
                           out->fill);
}

static const kind_whole venti_whole = {
    .contains      = venti_contains_key,
    .contains_many = venti_contains_keys,
    .add           = venti_add_key,
};

static const kind_combining venti_combining = {
    .unite   = venti_keys_unite,
    .overlap = venti_keys_overlap,
};

const bly_kind bly_kind_venti = {
    .name    = "venti",
    .family  = "foreign",
    .summary = "the filter of a Venti server of Plan 9",
    .version = VENTI_VERSION,

    .plan   = venti_plan,
    .format = venti_format,
    .like   = venti_like,
    .check  = venti_check,
    .stat   = venti_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &venti_whole,
    .combining = &venti_combining,
    .foreign   = &venti_foreign,
};
