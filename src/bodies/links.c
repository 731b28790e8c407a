/* links.c - the numbers of RedisBloom's links.
 */
#include "bodies/links.h"

#include <math.h>

#include "base/sizes.h"
#include "base/status.h"
#include "image/image.h"
#include "bits/hash.h"

#define LINKS_SEED UINT64_C(0xC6A4A7935BD1E995)

static const double LINKS_LN2 = 0.693147180559945;
static const double LINKS_LN2_SQUARED = 0.480453013918201;
static const double LINKS_NEAR = 1e-9;          /* of another library        */
static const double LINKS_TIGHTENING = 0.5;

enum {
    LINKS_OF_BYTES = 0, LINKS_OF_BITS = 8, LINKS_OF_RATE = 24,
    LINKS_OF_PER_KEY = 32, LINKS_OF_PROBES = 40, LINKS_OF_CAPACITY = 44,
    LINKS_OF_POWER = 52
};

static double links_per_key(double rate)
{
    return -log(rate) / LINKS_LN2_SQUARED;
}

bool links_plan(bly_link *out, uint64_t n, double rate)
{
    double per_key = links_per_key(rate);
    double bits = (double)n * per_key;
    if (!(bits < 9.2e18))
        return false;
    uint64_t whole = bits < 1 ? 1 : (uint64_t)bits;
    *out = (bly_link){
        .bytes = 8 * (whole / 64 + (whole % 64 != 0)), .capacity = n,
        .rate = rate, .per_key = per_key,
        .probes = (uint32_t)ceil(LINKS_LN2 * per_key),
    };
    return true;
}

double links_rate(const bly_link *link)
{
    strides s = links_strides(8 * link->bytes, link->probes);
    return strides_rate(&s, link->capacity).rate;
}

void links_plan_row(bly_plan_t *plan, const bly_link *link)
{
    strides s = links_strides(8 * link->bytes, link->probes);
    rows_plan_strides(plan, &s, link->capacity, link->bytes);
}

bool links_next(bly_link *out, const bly_link *last, uint64_t growth)
{
    double rate = last->rate * LINKS_TIGHTENING;
    uint64_t n = 0;
    return rate > 0 && sizes_mul(&n, last->capacity, growth)
        && links_plan(out, n, rate);
}

bly_link links_look(const uint8_t *head, uint64_t link)
{
    const uint8_t *of = head + links_at(link);
    return (bly_link){
        .bytes = image_u64(of, LINKS_OF_BYTES),
        .items = image_u64(of, LINKS_OF_ITEMS),
        .capacity = image_u64(of, LINKS_OF_CAPACITY),
        .rate = image_f64(of, LINKS_OF_RATE),
        .per_key = image_f64(of, LINKS_OF_PER_KEY),
        .probes = image_u32(of, LINKS_OF_PROBES),
        .power = of[LINKS_OF_POWER],
    };
}

void links_write(uint8_t *head, uint64_t link, const bly_link *from)
{
    uint8_t *of = head + links_at(link);
    image_set_u64(of, LINKS_OF_BYTES, from->bytes);
    image_set_u64(of, LINKS_OF_BITS, 8 * from->bytes);
    image_set_u64(of, LINKS_OF_ITEMS, from->items);
    image_set_f64(of, LINKS_OF_RATE, from->rate);
    image_set_f64(of, LINKS_OF_PER_KEY, from->per_key);
    image_set_u32(of, LINKS_OF_PROBES, from->probes);
    image_set_u64(of, LINKS_OF_CAPACITY, from->capacity);
    of[LINKS_OF_POWER] = (uint8_t)from->power;
}

/* ---- Errors ------------------------------------------------------------- */

bly_status links_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of RedisBloom: byte "
                       "%llu: %s: dump it again, or name another format",
                       (unsigned long long)at, what);
}

bly_status links_check_options(uint32_t options, uint32_t growth)
{
    if (options > LINKS_ALL)
        return links_wrong(LINKS_AT_OPTIONS, "it has unknown options");
    if (growth > LINKS_GROWTH_MOST)
        return links_wrong(LINKS_AT_GROWTH, "the next link would be for more "
                           "than 32768 times as many keys");
    if ((options & BLY_CHAIN_LONG) == 0)
        return status_fail(BLY_EVERSION, "read as a filter of RedisBloom: byte "
                           "12: its hashes have 32 bits, but modules that make "
                           "dumps use 64: name another format");
    return BLY_OK;
}

bly_status links_check_head(const uint8_t *head, uint64_t bytes,
                            uint64_t links)
{
    if (bytes < BLY_CHAIN_HEAD + BLY_CHAIN_HEAD_LINK)
        return status_fail(BLY_ECORRUPT, "read as a filter of RedisBloom, "
                           "whose header has at least 73 bytes, but there are "
                           "%llu: dump it again, the header and then the other "
                           "chunks", (unsigned long long)bytes);
    if (links == 0 || links > (bytes - BLY_CHAIN_HEAD) / BLY_CHAIN_HEAD_LINK
        || links > BLY_CHAIN_LINKS)
        return links_wrong(LINKS_AT_LINKS, "it has no links, or more than its "
                           "bytes or rates allow");
    return links_check_options(image_u32(head, LINKS_AT_OPTIONS),
                               image_u32(head, LINKS_AT_GROWTH));
}

bly_status links_check_bits(const uint8_t *head, uint64_t link)
{
    size_t at = links_at(link);
    uint64_t bytes = image_u64(head, at + LINKS_OF_BYTES);
    uint64_t bits = image_u64(head, at + LINKS_OF_BITS);
    return bytes <= UINT64_MAX / 8 && bits == 8 * bytes ? BLY_OK
         : links_wrong(at, "the bits are not 8 times the bytes");
}

bly_status links_check_link(const bly_link *link, size_t at)
{
    if (link->bytes == 0 || link->bytes > UINT64_MAX / 8
        || link->bytes % 8 != 0)
        return links_wrong(at, "the bits are not whole words, or there are "
                           "none");
    if (link->items > link->capacity)
        return links_wrong(at + LINKS_OF_ITEMS, "it has more keys than its "
                           "capacity");
    if (!(link->rate > 0 && link->rate < 1))
        return links_wrong(at + LINKS_OF_RATE, "the rate is not between 0 and "
                           "1");
    if (!(fabs(link->per_key - links_per_key(link->rate))
          <= LINKS_NEAR * link->per_key))
        return links_wrong(at + LINKS_OF_PER_KEY, "the bits per key do not "
                           "follow from the rate");
    if (link->probes == 0 || link->probes > LINKS_K_MAX
        || (double)link->probes != ceil(LINKS_LN2 * link->per_key))
        return links_wrong(at + LINKS_OF_PROBES, "the number of hash functions "
                           "does not follow from the bits per key");
    if (link->capacity == 0)
        return links_wrong(at + LINKS_OF_CAPACITY, "its capacity is 0");
    if (!((double)link->capacity * link->per_key
          < 8 * (double)link->bytes + 1))
        return links_wrong(at + LINKS_OF_CAPACITY, "its capacity is too large "
                           "for its bits");
    if (link->power != 0 && (link->power > 63
                             || 8 * link->bytes != UINT64_C(1) << link->power))
        return links_wrong(at + LINKS_OF_POWER, "the bits are not the power of "
                           "two in the header");
    return BLY_OK;
}

void links_hash(uint64_t h[2], const void *key, size_t length)
{
    h[0] = hash_murmur2(key, length, LINKS_SEED);
    h[1] = hash_murmur2(key, length, h[0]);
}
