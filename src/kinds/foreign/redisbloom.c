/* redisbloom.c - the Bloom filter of RedisBloom, in its own bytes.
 *
 * WHAT IT IS
 *
 * What BF.SCANDUMP of Redis' module says of a key, as one file: the first
 * chunk, which is the header, and behind it the others in their order. (That
 * they stand in one file is ours; the server speaks chunks, each with a number
 * that tells where it belongs: 1 for the header, then 1 and the bytes so far.
 * Chunks in hexadecimal digits, behind one another, will do too, where the
 * format is named: "bloomery info --format redisbloom chunks.hex".)
 * Such a filter is a chain of Bloom filters, its *links*: when the last one is
 * full a larger one is begun.
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
 *                   bits, 4 hashes of 64 bits, which must be, 8 it does not
 *                   grow
 *        16   4     growth: how many times as many keys the next link is for,
 *                   up to 32768
 *      of each link
 *         0   8     bytes, a multiple of 8, 8 or more
 *         8   8     bits, 8 times that
 *        16   8     keys that were added to it
 *        24   8     its rate p, a double, 0 < p < 1
 *        32   8     bits a key, b = -ln p / 0.480453…, a double
 *        40   4     k = ceil(ln 2 b), probes
 *        44   8     keys it is for, whose bits there are
 *        52   1     0; or the logarithm of its bits, where they are 2^…
 *
 *      Valid if and only if the fields are so, the bits end where the payload
 *      does, the first number is the sum of those of the links, and the
 *      geometry is what the file says.
 *
 * THE BITS OF A KEY
 *
 * a = MurmurHash64A of the key with seed c6a4a7935bd1e995, b = the same with
 * seed a. In a link of m bits, i = 0 .. k - 1: bit (a + i b mod 2^64) mod m. A
 * key is there if it is in one of the links, and is added, where it is not, to
 * the last.
 *
 * MATHS
 *
 * The first link has half of the rate that is asked for, each next one half of
 * the one before, so that their sum stays below it. b = -ln p / 0.480453…, and
 * there are b n bits, rounded up to words of 64. One that does not grow
 * (growth=0) has the whole rate.
 *
 * COST
 *
 * Two hashes, and probes in every link for a key that is not there.
 *
 * WHEN TO USE, WHEN NOT
 *
 * To look into what a server keeps, or to make what it loads. For all else
 * `scalable`, which is the same idea.
 *
 * PAPERS
 *
 *  [Almeida et al. 2007]  Scalable Bloom filters, IPL 101(6).
 */
#include "image/kind.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bodies/probes.h"
#include "bodies/rows.h"

enum {
    REDISBLOOM_VERSION = 1,
    REDISBLOOM_LINKS = 0, REDISBLOOM_GROWTH = 1, REDISBLOOM_OPTIONS = 2,
    REDISBLOOM_AT_ITEMS = 0, REDISBLOOM_AT_LINKS = 8,
    REDISBLOOM_AT_OPTIONS = 12, REDISBLOOM_AT_GROWTH = 16,
    REDISBLOOM_HEAD = 20,
    REDISBLOOM_LINK = 53,               /* bytes; within them:               */
    REDISBLOOM_OF_BYTES = 0, REDISBLOOM_OF_BITS = 8, REDISBLOOM_OF_ITEMS = 16,
    REDISBLOOM_OF_RATE = 24, REDISBLOOM_OF_PER_KEY = 32, REDISBLOOM_OF_K = 40,
    REDISBLOOM_OF_CAPACITY = 44, REDISBLOOM_OF_POWER = 52,
    REDISBLOOM_LONG = 4, REDISBLOOM_FIXED = 8,      /* options               */
    REDISBLOOM_USUAL = 1 | REDISBLOOM_LONG, REDISBLOOM_ALL = 15,
    REDISBLOOM_K_MAX = 1100,            /* above what the least rate has     */
    REDISBLOOM_LINKS_MOST = 1100,       /* each has half the rate of the one
                                           before, which ends at 0           */
    REDISBLOOM_GROWTH_MOST = 32768
};

#define REDISBLOOM_SEED UINT64_C(0xC6A4A7935BD1E995)

static const double REDISBLOOM_LN2 = 0.693147180559945;
static const double REDISBLOOM_LN2_SQUARED = 0.480453013918201;
static const double REDISBLOOM_NEAR = 1e-9;     /* of another library        */
static const double REDISBLOOM_RATE_MOST = 0.25;
static const double REDISBLOOM_TIGHTENING = 0.5;

static const kind_option redisbloom_options[] = {
    { .name = "growth", .help = "how many times as many keys the next link is "
                                "for, as EXPANSION; 0: none, as NONSCALING",
      .least = 0, .most = REDISBLOOM_GROWTH_MOST, .standard = 2 },
    { .name = NULL },
};

/* ---- Links ------------------------------------------------------------- */

/* One link: its bits, and what its header says of it. */
typedef struct {
    uint64_t bytes, items, capacity;
    double   rate, per_key;
    uint64_t k;
    size_t   head;                      /* where its 53 bytes begin          */
} redisbloom_link;

static size_t redisbloom_at(uint64_t link)
{
    return (size_t)(REDISBLOOM_HEAD + REDISBLOOM_LINK * link);
}

static redisbloom_link redisbloom_look(const uint8_t *file, uint64_t link)
{
    size_t at = redisbloom_at(link);
    return (redisbloom_link){
        .bytes = image_u64(file, at + REDISBLOOM_OF_BYTES),
        .items = image_u64(file, at + REDISBLOOM_OF_ITEMS),
        .capacity = image_u64(file, at + REDISBLOOM_OF_CAPACITY),
        .rate = image_f64(file, at + REDISBLOOM_OF_RATE),
        .per_key = image_f64(file, at + REDISBLOOM_OF_PER_KEY),
        .k = image_u32(file, at + REDISBLOOM_OF_K),
        .head = at,
    };
}

static double redisbloom_per_key(double rate)
{
    return -log(rate) / REDISBLOOM_LN2_SQUARED;
}

/* The link for so many keys at a rate; false: there is none so large. */
static bool redisbloom_size(redisbloom_link *out, uint64_t n, double rate)
{
    double per_key = redisbloom_per_key(rate);
    double bits = (double)n * per_key;
    if (!(bits < 9.2e18))
        return false;
    uint64_t whole = bits < 1 ? 1 : (uint64_t)bits;
    *out = (redisbloom_link){
        .bytes = 8 * (whole / 64 + (whole % 64 != 0)), .capacity = n,
        .rate = rate, .per_key = per_key,
        .k = (uint64_t)ceil(REDISBLOOM_LN2 * per_key),
    };
    return true;
}

static void redisbloom_set_u32(uint8_t *file, size_t at, uint64_t v)
{
    for (size_t i = 0; i < 4; i++)
        file[at + i] = (uint8_t)(v >> 8 * i);
}

static void redisbloom_write(uint8_t *file, size_t at,
                             const redisbloom_link *link)
{
    image_set_u64(file, at + REDISBLOOM_OF_BYTES, link->bytes);
    image_set_u64(file, at + REDISBLOOM_OF_BITS, 8 * link->bytes);
    image_set_u64(file, at + REDISBLOOM_OF_ITEMS, link->items);
    image_set_f64(file, at + REDISBLOOM_OF_RATE, link->rate);
    image_set_f64(file, at + REDISBLOOM_OF_PER_KEY, link->per_key);
    redisbloom_set_u32(file, at + REDISBLOOM_OF_K, link->k);
    image_set_u64(file, at + REDISBLOOM_OF_CAPACITY, link->capacity);
    file[at + REDISBLOOM_OF_POWER] = 0;
}

/* A walk from the last link to the first, by where the bits of each end. */
typedef struct {
    const uint8_t *file;
    uint64_t links;                     /* that are left                     */
    size_t   first, end;                /* of the bits that are left         */
} redisbloom_walk;

static redisbloom_walk redisbloom_start(const void *image)
{
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    return (redisbloom_walk){
        .file = image_payload(image), .links = links,
        .first = redisbloom_at(links), .end = image_payload_bytes(image),
    };
}

/* The next one's bits. A file that was changed after it was looked at may have
 * links that do not fit: those have no bits, and then all keys are there. */
static bool redisbloom_next_link(redisbloom_walk *walk, probes_row *row,
                                 redisbloom_link *link)
{
    if (walk->links == 0)
        return false;
    *link = redisbloom_look(walk->file, --walk->links);
    bool fits = link->bytes >= 8 && link->bytes <= walk->end - walk->first;
    size_t bytes = fits ? (size_t)link->bytes : 0;
    walk->end -= bytes;
    *row = (probes_row){
        .row = probes_bytes(walk->file) + walk->end, .bytes = bytes,
        .m = fits ? 8 * (uint64_t)bytes : 1,
        .k = !fits ? 0 : link->k < REDISBLOOM_K_MAX ? link->k
                                                    : REDISBLOOM_K_MAX,
    };
    row->inverse = probes_inverse(row->m);
    return true;
}

/* ---- The file ---------------------------------------------------------- */

static bly_status redisbloom_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "taken for a filter of RedisBloom: byte "
                       "%llu: %s: dump it anew, or name another format",
                       (unsigned long long)at, what);
}

static bly_status redisbloom_check_head(const uint8_t *file, uint64_t bytes,
                                        uint64_t links)
{
    if (bytes < REDISBLOOM_HEAD + REDISBLOOM_LINK)
        return status_fail(BLY_ECORRUPT, "taken for a filter of RedisBloom, "
                           "which begins with 73 bytes of numbers or more, "
                           "but there are %llu: dump it anew, the header and "
                           "then the other chunks", (unsigned long long)bytes);
    uint64_t options = image_u32(file, REDISBLOOM_AT_OPTIONS);
    if (links == 0 || links > (bytes - REDISBLOOM_HEAD) / REDISBLOOM_LINK
        || links > REDISBLOOM_LINKS_MOST)
        return redisbloom_wrong(REDISBLOOM_AT_LINKS, "it has no links, or more "
                                "than there are bytes or rates for");
    if (options > REDISBLOOM_ALL)
        return redisbloom_wrong(REDISBLOOM_AT_OPTIONS, "it has options that "
                                "there are not");
    if (image_u32(file, REDISBLOOM_AT_GROWTH) > REDISBLOOM_GROWTH_MOST)
        return redisbloom_wrong(REDISBLOOM_AT_GROWTH, "the next link would be "
                                "for more than 32768 times as many keys");
    if ((options & REDISBLOOM_LONG) == 0)
        return status_fail(BLY_EVERSION, "taken for a filter of RedisBloom: "
                           "byte 12: it hashes to 32 bits, as no module that "
                           "makes dumps does: name another format");
    return BLY_OK;
}

static bly_status redisbloom_check_link(const uint8_t *file, uint64_t i)
{
    redisbloom_link link = redisbloom_look(file, i);
    size_t at = link.head;
    uint64_t bits = image_u64(file, at + REDISBLOOM_OF_BITS);
    unsigned power = file[at + REDISBLOOM_OF_POWER];
    if (link.bytes == 0 || link.bytes > UINT64_MAX / 8
        || link.bytes % 8 != 0 || bits != 8 * link.bytes)
        return redisbloom_wrong(at, "the bits are not 8 times the bytes, or "
                                "no whole words, or none");
    if (link.items > link.capacity)
        return redisbloom_wrong(at + REDISBLOOM_OF_ITEMS, "more keys are in "
                                "than it is for");
    if (!(link.rate > 0 && link.rate < 1))
        return redisbloom_wrong(at + REDISBLOOM_OF_RATE, "the rate is not "
                                "between 0 and 1");
    if (!(fabs(link.per_key - redisbloom_per_key(link.rate))
          <= REDISBLOOM_NEAR * link.per_key))
        return redisbloom_wrong(at + REDISBLOOM_OF_PER_KEY, "the bits a key do "
                                "not follow from the rate");
    if (link.k == 0 || link.k > REDISBLOOM_K_MAX
        || (double)link.k != ceil(REDISBLOOM_LN2 * link.per_key))
        return redisbloom_wrong(at + REDISBLOOM_OF_K, "the number of hash "
                                "functions does not follow from the bits a "
                                "key");
    if (link.capacity == 0)
        return redisbloom_wrong(at + REDISBLOOM_OF_CAPACITY, "it is for no "
                                "keys");
    if (!((double)link.capacity * link.per_key < (double)bits + 1))
        return redisbloom_wrong(at + REDISBLOOM_OF_CAPACITY, "it is for more "
                                "keys than there are bits for");
    if (power != 0 && (power > 63 || bits != UINT64_C(1) << power))
        return redisbloom_wrong(at + REDISBLOOM_OF_POWER, "the bits are not "
                                "that power of two");
    return BLY_OK;
}

/* How many links a file says that it has, if it may be one. */
static uint64_t redisbloom_links(const uint8_t *file, uint64_t bytes)
{
    return bytes >= REDISBLOOM_HEAD ? image_u32(file, REDISBLOOM_AT_LINKS) : 0;
}

static bly_status redisbloom_check_file(const uint8_t *file, uint64_t bytes,
                                        uint64_t links)
{
    uint64_t items = 0;
    bly_status status = redisbloom_check_head(file, bytes, links);
    if (status != BLY_OK)
        return status;
    uint64_t end = redisbloom_at(links);
    for (uint64_t i = 0; i < links; i++) {
        redisbloom_link link = redisbloom_look(file, i);
        status = redisbloom_check_link(file, i);
        if (status != BLY_OK)
            return status;
        if (link.bytes > bytes - end)
            return redisbloom_wrong(link.head, "the bits of this link end "
                                    "beyond the file: chunks are missing");
        end += link.bytes;
        items += link.items;
    }
    if (end != bytes)
        return redisbloom_wrong(end, "there is more than the bits of the "
                                "links");
    return items == image_u64(file, REDISBLOOM_AT_ITEMS) ? BLY_OK
         : redisbloom_wrong(REDISBLOOM_AT_ITEMS, "the number of keys is not "
                            "the sum of those of the links");
}

static bool redisbloom_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= REDISBLOOM_HEAD + REDISBLOOM_LINK
        && redisbloom_check_head(bytes, all, redisbloom_links(bytes, n))
           == BLY_OK
        && redisbloom_check_link(bytes, 0) == BLY_OK;
}

/* The rate that links have when each is full. */
static double redisbloom_full_rate(const uint8_t *file, uint64_t links,
                                   uint64_t *capacity)
{
    double none = 1;
    bly_plan_t plan;
    *capacity = 0;
    for (uint64_t i = 0; i < links; i++) {
        redisbloom_link link = redisbloom_look(file, i);
        rows_plan_row(&plan, 8 * link.bytes, (uint32_t)link.k, link.capacity,
                      link.bytes);
        none *= 1 - plan.rate;
        if (!sizes_add(capacity, *capacity, link.capacity))
            *capacity = UINT64_MAX;
    }
    return links == 1 ? plan.rate : 1 - none;
}

static bly_status redisbloom_read(kind_found *out, const uint8_t *file,
                                  uint64_t bytes)
{
    uint64_t links = redisbloom_links(file, bytes), capacity;
    bly_status status = redisbloom_check_file(file, bytes, links);
    if (status != BLY_OK)
        return status;
    double rate = redisbloom_full_rate(file, links, &capacity);
    *out = (kind_found){
        .capacity = capacity, .items = image_u64(file, REDISBLOOM_AT_ITEMS),
        .rate = rate,
        .geometry = { links, image_u32(file, REDISBLOOM_AT_GROWTH),
                      image_u32(file, REDISBLOOM_AT_OPTIONS) },
    };
    return BLY_OK;
}

static uint64_t redisbloom_reach(const uint64_t *geometry)
{
    uint64_t links = geometry[REDISBLOOM_LINKS];
    return links < 1 || links > REDISBLOOM_LINKS_MOST ? UINT64_MAX
         : redisbloom_at(links);
}

static const kind_foreign redisbloom_foreign = {
    .writer = "RedisBloom: the chunks of BF.SCANDUMP, one behind the other",
    .numbers = {
        { "links", NULL },
        { "growth", NULL },
        { "options", "1 not rounded, 2 sizes in bits, 4 hashes of 64 bits, "
                     "8 does not grow" },
    },
    .looks  = redisbloom_looks,
    .read   = redisbloom_read,
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
    return spec->option[0] == 0 ? rate : rate * REDISBLOOM_TIGHTENING;
}

static bly_status redisbloom_plan(bly_plan_t *plan, const kind_spec *spec)
{
    redisbloom_link link;
    uint64_t growth = spec->option[0], bytes = 0;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!redisbloom_size(&link, spec->capacity, redisbloom_first_rate(spec)))
        return kind_too_big(spec, "2^63 bits");
    if (!sizes_add(&bytes, link.bytes, REDISBLOOM_HEAD + REDISBLOOM_LINK))
        return kind_too_big(spec, "2^63 bits");
    bly_status status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;
    rows_plan_row(plan, 8 * link.bytes, (uint32_t)link.k, spec->capacity,
                  link.bytes);
    plan->geometry[REDISBLOOM_LINKS] = 1;
    plan->geometry[REDISBLOOM_GROWTH] = growth;
    plan->geometry[REDISBLOOM_OPTIONS]
        = REDISBLOOM_USUAL | (growth == 0 ? REDISBLOOM_FIXED : 0);
    return BLY_OK;
}

static bly_status redisbloom_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    redisbloom_link link = { .bytes = 0 };
    (void)redisbloom_size(&link, spec->capacity, redisbloom_first_rate(spec));
    redisbloom_set_u32(file, REDISBLOOM_AT_LINKS, 1);
    redisbloom_set_u32(file, REDISBLOOM_AT_OPTIONS,
                       image_geometry(image, REDISBLOOM_OPTIONS));
    redisbloom_set_u32(file, REDISBLOOM_AT_GROWTH,
                       image_geometry(image, REDISBLOOM_GROWTH));
    redisbloom_write(file, REDISBLOOM_HEAD, &link);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static void redisbloom_hash(uint64_t h[2], const void *key, size_t length)
{
    h[0] = hash_murmur2(key, length, REDISBLOOM_SEED);
    h[1] = hash_murmur2(key, length, h[0]);
}

/* A key's bytes are here those of its two hashes, made once for all links. */
static void redisbloom_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    memcpy(key->state, key->bytes, 2 * sizeof *key->state);
}

static uint64_t redisbloom_next(const probes_row *row, probes_key *key,
                                uint64_t i)
{
    uint64_t h = key->state[0];
    (void)i;
    key->state[0] += key->state[1];
    return probes_mod(row, h);
}

static bool redisbloom_has(const void *image, const uint64_t h[2])
{
    redisbloom_walk walk = redisbloom_start(image);
    redisbloom_link link;
    probes_row row;
    while (redisbloom_next_link(&walk, &row, &link)) {
        probes_key key = { .bytes = h };
        if (probes_has(&row, &key, redisbloom_begin, redisbloom_next))
            return true;
    }
    return false;
}

static bool redisbloom_contains_key(const void *image, uint64_t hash,
                                    const void *bytes, size_t length)
{
    uint64_t h[2];
    (void)hash;
    redisbloom_hash(h, bytes, length);
    return redisbloom_has(image, h);
}

/* Of a group, those that no link had so far are asked of the next. */
static void redisbloom_group(const void *image, const bly_key *keys, size_t n,
                             bool *present)
{
    redisbloom_walk walk = redisbloom_start(image);
    redisbloom_link link;
    probes_row row;
    probes_key asked[PROBES_GROUP];
    uint64_t h[PROBES_GROUP][2];
    uint8_t left[PROBES_GROUP];
    bool has[PROBES_GROUP];
    for (size_t i = 0; i < n; i++) {
        redisbloom_hash(h[i], keys[i].data, keys[i].length);
        left[i] = (uint8_t)i;
        present[i] = false;
    }
    while (n > 0 && redisbloom_next_link(&walk, &row, &link)) {
        size_t some = n;
        for (size_t j = 0; j < some; j++)
            asked[j] = (probes_key){ .bytes = h[left[j]] };
        probes_group(&row, asked, some, has, redisbloom_begin,
                     redisbloom_next);
        n = 0;
        for (size_t j = 0; j < some; j++) {
            present[left[j]] = has[j];
            left[n] = left[j];
            n += !has[j];
        }
    }
}

static void redisbloom_contains_keys(const void *image, const uint64_t *hashes,
                                     const bly_key *keys, size_t n,
                                     bool *present)
{
    (void)hashes;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PROBES_GROUP ? n - i : PROBES_GROUP;
        redisbloom_group(image, keys + i, some, present + i);
    }
}

static bly_status redisbloom_add_key(void *image, uint64_t hash,
                                     const void *bytes, size_t length)
{
    uint8_t *file = image_payload_mut(image);
    redisbloom_walk walk = redisbloom_start(image);
    redisbloom_link link;
    probes_row row;
    uint64_t h[2];
    probes_key key = { .bytes = h };
    (void)hash;
    redisbloom_hash(h, bytes, length);
    if (redisbloom_has(image, h))
        return BLY_SEEN;
    (void)redisbloom_next_link(&walk, &row, &link);
    if (link.items >= link.capacity)
        return BLY_EFULL;
    (void)probes_put(&row, &key, redisbloom_begin, redisbloom_next);
    image_set_u64(file, link.head + REDISBLOOM_OF_ITEMS, link.items + 1);
    image_set_u64(file, REDISBLOOM_AT_ITEMS,
                  image_u64(file, REDISBLOOM_AT_ITEMS) + 1);
    return BLY_OK;
}

/* ---- Growth ------------------------------------------------------------ */

/* The link behind the last. BLY_EFULL, BLY_ETOOBIG. */
static bly_status redisbloom_more(redisbloom_link *out, const void *image)
{
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS), n = 0;
    uint64_t growth = image_geometry(image, REDISBLOOM_GROWTH);
    redisbloom_link last = redisbloom_look(image_payload(image), links - 1);
    double rate = last.rate * REDISBLOOM_TIGHTENING;
    if (growth == 0
        || (image_geometry(image, REDISBLOOM_OPTIONS) & REDISBLOOM_FIXED) != 0)
        return status_fail(BLY_EFULL, "the filter is full, and it is one that "
                           "does not grow: build it anew for more keys, or "
                           "with growth=2");
    if (links == REDISBLOOM_LINKS_MOST || !(rate > 0)
        || !sizes_mul(&n, last.capacity, growth)
        || !redisbloom_size(out, n, rate))
        return status_fail(BLY_ETOOBIG, "the filter is full, and its next link "
                           "would be beyond 2^63 bits: build it anew for more "
                           "keys");
    return BLY_OK;
}

static bly_status redisbloom_grow_plan(uint64_t *bytes, const void *image)
{
    redisbloom_link link;
    bly_status status = redisbloom_more(&link, image);
    uint64_t all = image_u64(image, IMAGE_BYTES) + REDISBLOOM_LINK;
    if (status != BLY_OK)
        return status;
    if (!sizes_add(bytes, all, link.bytes))
        return status_fail(BLY_ETOOBIG, "the filter is full, and would have "
                           "more than 2^64 bytes: build it anew");
    return image_check_size(*bytes);
}

/* The bits make room for a link's numbers before them. */
static bly_status redisbloom_grow(void *image)
{
    redisbloom_link link;
    uint8_t *file = image_payload_mut(image);
    uint64_t links = image_geometry(image, REDISBLOOM_LINKS);
    bly_status status = redisbloom_more(&link, image);
    if (status != BLY_OK)
        return status;
    size_t at = redisbloom_at(links);
    size_t old = image_payload_bytes(image) - REDISBLOOM_LINK
               - (size_t)link.bytes;
    memmove(file + at + REDISBLOOM_LINK, file + at, old - at);
    redisbloom_write(file, at, &link);
    redisbloom_set_u32(file, REDISBLOOM_AT_LINKS, links + 1);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * REDISBLOOM_LINKS, links + 1);
    return BLY_OK;
}

/* ---- What it says of itself -------------------------------------------- */

static void redisbloom_stat(bly_stat_t *out, const void *image)
{
    redisbloom_walk walk = redisbloom_start(image);
    redisbloom_link link;
    probes_row row;
    double none = 1, set = 0, bits = 0, distinct = 0, variance = 0;
    uint64_t capacity = 0;
    while (redisbloom_next_link(&walk, &row, &link)) {
        bly_stat_t one = { .rate = 0 };
        probes_stat(&one, &row);
        none *= 1 - one.rate;
        set += one.fill * (double)row.m;
        bits += (double)row.m;
        distinct += one.distinct;
        variance += one.distinct_sd * one.distinct_sd;
        out->probes += one.probes;
        if (!sizes_add(&capacity, capacity, link.capacity))
            capacity = UINT64_MAX;
    }
    out->rate = 1 - none;
    out->fill = set / bits;
    out->distinct = distinct;
    out->distinct_sd = sqrt(variance);
    if (image_geometry(image, REDISBLOOM_LINKS) > 1)
        out->capacity = capacity;
}

const bly_kind bly_kind_redisbloom = {
    .name    = "redisbloom",
    .family  = "foreign",
    .summary = "the growing Bloom filter of Redis' module",
    .version = REDISBLOOM_VERSION,
    .options = redisbloom_options,
    .foreign = &redisbloom_foreign,

    .plan   = redisbloom_plan,
    .format = redisbloom_format,
    .check  = redisbloom_check,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,
    .contains_key  = redisbloom_contains_key,
    .contains_keys = redisbloom_contains_keys,
    .add           = kind_whole_add,
    .add_key       = redisbloom_add_key,
    .grow_plan     = redisbloom_grow_plan,
    .grow          = redisbloom_grow,

    .stat = redisbloom_stat,
};
