/* redisbloom.c - the Bloom filter of RedisBloom, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the output of BF.SCANDUMP of Redis' module as one file: the
 * first chunk, which is the header, then the others in order. Such a filter is
 * a chain of Bloom filters, its *links*: when the last one is full, a larger
 * one is added. RedisBloom 8 has no new layout.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect Bloom filters that a Redis server holds, or to make one
 * that it loads.
 *
 * WHEN NOT TO
 *
 * - No Redis server must read the filter: `scalable` is the same idea, or
 *   `standard` if the number of keys is known.
 * - The server runs Valkey's own module: its filters are of kind `valkey`.
 * - The first link is small: such a chain has far more false positives than
 *   requested, as the reference of the Redis module shows.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          11.0                  8                  2
 *      0.1 %        15.8                 11                  2
 *
 * These are for the first link alone. A lookup computes two hashes; an absent
 * key is looked up in every link.
 *
 * THE PICTURE
 *
 *      | 20 bytes | 53 bytes for each link | bits of link 0 | of link 1 | …
 *      0          20
 *
 * IMAGE
 *
 *      geometry 0   links, 1 .. 1100; more when it has grown
 *      geometry 1   growth
 *      geometry 2   options
 *      payload      all numbers have the lowest byte first
 *         0   8     keys that were new when they were added
 *         8   4     links
 *        12   4     options: 1 sizes are not rounded, 2 sizes were given in
 *                   bits, 4 hashes of 64 bits (required), 8 it does not
 *                   grow
 *        16   4     growth: how many times as many keys the next link is for,
 *                   up to 32768
 *      of each link
 *         0   8     bytes, a multiple of 8, 8 or more
 *         8   8     bits, 8 times that
 *        16   8     keys that were added to it
 *        24   8     its rate p, a double, 0 < p < 1
 *        32   8     bits per key, b = -ln p / 0.480453…, a double
 *        40   4     k = ceil(ln 2 b), probes
 *        44   8     keys it is planned for
 *        52   1     0; or the logarithm of its bits, where they are 2^…
 *
 *      Valid if and only if the fields are as above, the bits end where the
 *      payload does, the first number is the sum of those of the links, and the
 *      geometry is what the file says.
 *
 * MATHS
 *
 * The first link has half of the requested rate, each further one half of the
 * one before, so that their sum would stay below it. There are b n bits, with b
 * = -ln p / 0.480453…, rounded up to words of 64: these are the module's own
 * sizes. A filter that does not grow (growth=0) has the whole rate.
 *
 * A link of few keys has more false positives than that, because its positions
 * are a progression (src/maths/strides.h), and so does a chain whose first link
 * is small. plan and info report the true rate.
 *
 * THE BITS OF A KEY
 *
 * a = MurmurHash64A of the key with seed c6a4a7935bd1e995, b = the same with
 * seed a. In a link of m bits, i = 0 .. k - 1: bit (a + i b mod 2^64) mod m. A
 * key is present if it is in any link. A new key is added to the last link.
 *
 * CHUNKS
 *
 * The single file is Bloomery's own form. The server sends chunks, each with a
 * number for its place: 1 for the header, then 1 plus the bytes so far. A file
 * of chunks in hexadecimal digits works as well if the format is named:
 * "bloomery info --format redisbloom chunks.hex".
 *
 * PAPERS
 *
 *  [Almeida et al. 2007]  Scalable Bloom filters, IPL 101(6).
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bodies/links.h"

enum {
    REDISBLOOM_VERSION = 1,
    REDISBLOOM_LINKS = 0, REDISBLOOM_GROWTH = 1, REDISBLOOM_OPTIONS = 2,
    REDISBLOOM_USUAL = BLY_CHAIN_EXACT | BLY_CHAIN_LONG
};

static const double REDISBLOOM_RATE_MOST = 0.25;
static const double REDISBLOOM_FIRST = 0.5;     /* of the rate asked for     */

static const kind_option redisbloom_options[] = {
    { .name = "growth", .help = "how many times as many keys the next link is "
                                "for, as EXPANSION; 0: the filter does not "
                                "grow, as with NONSCALING",
      .least = 0, .most = LINKS_GROWTH_MOST, .standard = 2 },
    { .name = NULL },
};

/* ---- Links ------------------------------------------------------------- */

/* A walk from the last link to the first, by where the bits of each end. */
typedef struct {
    const uint8_t *file;
    uint64_t links;                     /* that are left                     */
    size_t   first, end;                /* of the bits that are left         */
    bly_link link;                      /* the one that is reached           */
} redisbloom_walk;

static redisbloom_walk redisbloom_start(const void *image)
{
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    return (redisbloom_walk){
        .file = image_payload(image), .links = links,
        .first = links_at(links), .end = image_payload_bytes(image),
    };
}

/* chains_walk. */
static bool redisbloom_before(void *context, probes_row *row)
{
    redisbloom_walk *walk = context;
    if (walk->links == 0)
        return false;
    walk->link = links_look(walk->file, --walk->links);
    uint64_t room = walk->end - walk->first;
    if (walk->link.bytes <= room)
        walk->end -= (size_t)walk->link.bytes;
    *row = links_row(&walk->link, walk->file + walk->end, room);
    return true;
}

/* ---- The file ---------------------------------------------------------- */

/* Returns how many links a file states, if it may be one. */
static uint64_t redisbloom_links(const uint8_t *file, uint64_t bytes)
{
    return bytes >= BLY_CHAIN_HEAD ? image_u32(file, LINKS_AT_LINKS) : 0;
}

static bly_status redisbloom_check_link(const uint8_t *file, uint64_t i)
{
    bly_link link = links_look(file, i);
    bly_status status = links_check_bits(file, i);
    return status == BLY_OK ? links_check_link(&link, links_at(i)) : status;
}

static bly_status redisbloom_check_file(const uint8_t *file, uint64_t bytes,
                                        uint64_t links)
{
    uint64_t items = 0;
    bly_status status = links_check_head(file, bytes, links);
    if (status != BLY_OK)
        return status;
    uint64_t end = links_at(links);
    for (uint64_t i = 0; i < links; i++) {
        bly_link link = links_look(file, i);
        status = redisbloom_check_link(file, i);
        if (status != BLY_OK)
            return status;
        if (link.bytes > bytes - end)
            return links_wrong(links_at(i), "the bits of this link end beyond "
                               "the file: chunks are missing");
        end += link.bytes;
        items += link.items;
    }
    if (end != bytes)
        return links_wrong(end, "there are bytes after the bits of the links");
    return items == image_u64(file, LINKS_AT_ITEMS) ? BLY_OK
         : links_wrong(LINKS_AT_ITEMS, "the number of keys is not the sum of "
                       "those of the links");
}

static bool redisbloom_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= BLY_CHAIN_HEAD + BLY_CHAIN_HEAD_LINK
        && links_check_head(bytes, all, redisbloom_links(bytes, n)) == BLY_OK
        && redisbloom_check_link(bytes, 0) == BLY_OK;
}

/* The keys for which there are links. */
static uint64_t redisbloom_capacity(const uint8_t *file, uint64_t links)
{
    uint64_t capacity = 0;
    for (uint64_t i = 0; i < links; i++)
        if (!sizes_add(&capacity, capacity, links_look(file, i).capacity))
            capacity = UINT64_MAX;
    return capacity;
}

static bly_status redisbloom_read(kind_found *out, const uint8_t *file,
                                  uint64_t bytes)
{
    uint64_t links = redisbloom_links(file, bytes);
    bly_status status = redisbloom_check_file(file, bytes, links);
    if (status != BLY_OK)
        return status;
    *out = (kind_found){
        .capacity = redisbloom_capacity(file, links),
        .items = image_u64(file, LINKS_AT_ITEMS),
        .geometry = { links, image_u32(file, LINKS_AT_GROWTH),
                      image_u32(file, LINKS_AT_OPTIONS) },
    };
    return BLY_OK;
}

/* The rate that links have when each is full. */
static double redisbloom_rate(const kind_found *found, const uint8_t *file)
{
    double none = 0;
    for (uint64_t i = 0; i < found->geometry[REDISBLOOM_LINKS]; i++) {
        bly_link link = links_look(file, i);
        none += log1p(-links_rate(&link));
    }
    return -expm1(none);
}

static uint64_t redisbloom_reach(const uint64_t *geometry)
{
    uint64_t links = geometry[REDISBLOOM_LINKS];
    return links < 1 || links > BLY_CHAIN_LINKS ? UINT64_MAX
         : links_at(links);
}

static const kind_foreign redisbloom_foreign = {
    .writer = "RedisBloom: the chunks of BF.SCANDUMP, one after another",
    .numbers = {
        { "links", NULL },
        { "growth", NULL },
        { "options", "1 not rounded, 2 sizes in bits, 4 hashes of 64 bits, "
                     "8 does not grow" },
    },
    .looks  = redisbloom_looks,
    .read   = redisbloom_read,
    .rate   = redisbloom_rate,
    .reach  = redisbloom_reach,
    .plans  = true,
};

static bly_status redisbloom_check(const void *image)
{
    return kind_check_foreign(image, &redisbloom_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static double redisbloom_first_rate(const kind_spec *spec)
{
    double rate = fmin(spec->rate, REDISBLOOM_RATE_MOST);
    return spec->option[0] == 0 ? rate : rate * REDISBLOOM_FIRST;
}

static bly_status redisbloom_plan(bly_plan_t *plan, const kind_spec *spec)
{
    bly_link link;
    uint64_t growth = spec->option[0], bytes = 0;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!links_plan(&link, spec->capacity, redisbloom_first_rate(spec)))
        return kind_too_big(spec, "2^63 bits");
    if (!sizes_add(&bytes, link.bytes, links_at(1)))
        return kind_too_big(spec, "2^63 bits");
    bly_status status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;
    links_plan_row(plan, &link);
    plan->geometry[REDISBLOOM_LINKS] = 1;
    plan->geometry[REDISBLOOM_GROWTH] = growth;
    plan->geometry[REDISBLOOM_OPTIONS]
        = REDISBLOOM_USUAL | (growth == 0 ? BLY_CHAIN_FIXED : 0);
    return BLY_OK;
}

static bly_status redisbloom_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    bly_link link = { .bytes = 0 };
    (void)links_plan(&link, spec->capacity, redisbloom_first_rate(spec));
    image_set_u32(file, LINKS_AT_LINKS, 1);
    image_set_u32(file, LINKS_AT_OPTIONS,
                  (uint32_t)image_geometry(image, REDISBLOOM_OPTIONS));
    image_set_u32(file, LINKS_AT_GROWTH,
                  (uint32_t)image_geometry(image, REDISBLOOM_GROWTH));
    links_write(file, 0, &link);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static bool redisbloom_contains_key(const void *image, uint64_t hash,
                                    const void *bytes, size_t length)
{
    redisbloom_walk walk = redisbloom_start(image);
    uint64_t h[2];
    (void)hash;
    links_hash(h, bytes, length);
    return chains_have(&walk, redisbloom_before, h, links_place);
}

static void redisbloom_contains_keys(const void *image, const uint64_t *hashes,
                                     const bly_key *keys, size_t n,
                                     bool *present)
{
    (void)hashes;
    for (size_t i = 0, some; i < n; i += some) {
        redisbloom_walk walk = redisbloom_start(image);
        some = n - i < PROBES_GROUP ? n - i : PROBES_GROUP;
        links_group(&walk, redisbloom_before, keys + i, some, present + i);
    }
}

static bly_status redisbloom_add_key(void *image, uint64_t hash,
                                     const void *bytes, size_t length)
{
    uint8_t *file = image_payload_mut(image);
    redisbloom_walk walk = redisbloom_start(image), last = walk;
    probes_row row;
    uint64_t h[2];
    (void)hash;
    links_hash(h, bytes, length);
    if (chains_have(&walk, redisbloom_before, h, links_place))
        return BLY_SEEN;
    (void)redisbloom_before(&last, &row);
    if (last.link.items >= last.link.capacity)
        return BLY_EFULL;
    (void)chains_put(&row, h, links_place);
    image_set_u64(file, links_at(last.links) + LINKS_OF_ITEMS,
                  last.link.items + 1);
    image_set_u64(file, LINKS_AT_ITEMS,
                  image_u64(file, LINKS_AT_ITEMS) + 1);
    return BLY_OK;
}

/* ---- Growth ------------------------------------------------------------ */

/* The link behind the last. BLY_EFULL, BLY_ETOOBIG. */
static bly_status redisbloom_more(bly_link *out, const void *image)
{
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    uint64_t growth = image_geometry(image, REDISBLOOM_GROWTH);
    bly_link last = links_look(image_payload(image), links - 1);
    if (growth == 0
        || (image_geometry(image, REDISBLOOM_OPTIONS) & BLY_CHAIN_FIXED) != 0)
        return status_fail(BLY_EFULL, "the filter is full and does not grow: "
                           "build one for more keys, or with growth=2");
    if (links == BLY_CHAIN_LINKS || !links_next(out, &last, growth))
        return status_fail(BLY_ETOOBIG, "the filter is full, and its next link "
                           "would have more than 2^63 bits: build one for more "
                           "keys");
    return BLY_OK;
}

static bly_status redisbloom_grow_plan(uint64_t *bytes, const void *image)
{
    bly_link link;
    bly_status status = redisbloom_more(&link, image);
    uint64_t all = image_u64(image, IMAGE_BYTES) + BLY_CHAIN_HEAD_LINK;
    if (status != BLY_OK)
        return status;
    if (!sizes_add(bytes, all, link.bytes))
        return status_fail(BLY_ETOOBIG, "the filter is full, and would have "
                           "more than 2^64 bytes: build one for more keys");
    return image_check_size(*bytes);
}

/* The bits make room for a link's numbers before them. */
static bly_status redisbloom_grow(void *image, void *scratch)
{
    (void)scratch;
    bly_link link;
    uint8_t *file = image_payload_mut(image);
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    bly_status status = redisbloom_more(&link, image);
    if (status != BLY_OK)
        return status;
    size_t at = links_at(links);
    size_t old = image_payload_bytes(image) - BLY_CHAIN_HEAD_LINK
               - (size_t)link.bytes;
    memmove(file + at + BLY_CHAIN_HEAD_LINK, file + at, old - at);
    links_write(file, links, &link);
    image_set_u32(file, LINKS_AT_LINKS, (uint32_t)(links + 1));
    image_set_u64(image, IMAGE_GEOMETRY + 8 * REDISBLOOM_LINKS, links + 1);
    return BLY_OK;
}

/* ---- Statistics -------------------------------------------------------- */

static void redisbloom_restart(void *walk, const void *image)
{
    *(redisbloom_walk *)walk = redisbloom_start(image);
}

static void redisbloom_stat(bly_info_t *out, const void *image)
{
    redisbloom_walk walk;
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    chains_stat(out, image, &(chains){
        .rows = links, .walk = &walk, .start = redisbloom_restart,
        .next = redisbloom_before, .place = links_place,
    });
    if (links > 1)
        out->capacity = redisbloom_capacity(image_payload(image), links);
}

static const kind_whole redisbloom_whole = {
    .contains      = redisbloom_contains_key,
    .contains_many = redisbloom_contains_keys,
    .add           = redisbloom_add_key,
};

static const kind_growing redisbloom_growing = {
    .plan = redisbloom_grow_plan,
    .grow = redisbloom_grow,
};

const bly_kind bly_kind_redisbloom = {
    .name    = "redisbloom",
    .family  = "foreign",
    .summary = "the growing Bloom filter of Redis' module",
    .version = REDISBLOOM_VERSION,
    .options = redisbloom_options,

    .plan   = redisbloom_plan,
    .format = redisbloom_format,
    .check  = redisbloom_check,
    .stat   = redisbloom_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole   = &redisbloom_whole,
    .growing = &redisbloom_growing,
    .foreign = &redisbloom_foreign,
};
