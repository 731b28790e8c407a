/* rediscuckoo.c - the cuckoo filter of RedisBloom, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is the output of CF.SCANDUMP of Redis' module as one file: the
 * first chunk, which is the header, then the others in order. (The single file
 * is Bloomery's own form.) Such a filter is a chain of tables of fingerprints:
 * when the last one is full, another is added.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect cuckoo filters that a Redis server holds, or to make one
 * that it loads.
 *
 * WHEN NOT TO
 *
 * - No Redis server must read the filter: `cuckoo` has fingerprints of any
 *   width, and grows without adding tables to search.
 * - The expansion is above 1 and keys are removed: two keys may be the same in
 *   the small table but not in the large one, so a removal can remove another
 *   key.
 * - The expansion is above 1 and attackers choose the keys: one key that is
 *   added over and over fills its two buckets of each table and makes the
 *   filter add ever larger tables, until memory is full.
 *
 * COST
 *
 * Fingerprints have 8 bits, and the number of buckets is a power of two, so a
 * key takes 8 to 17 bits. The rate follows from that and cannot be requested:
 * about 1.5 % in a full table of two slots per bucket. A lookup reads two cache
 * lines per table, from the last table to the first that has the key; a batch
 * reads them of all tables.
 *
 * THE PICTURE
 *
 *      | 38 bytes | slots of table 0, a byte each | of table 1 | …
 *      0          38
 *
 * IMAGE
 *
 *      geometry 0   buckets of table 0, a power of two, 1 .. 2^56
 *      geometry 1   slots a bucket, 1 .. 255
 *      geometry 2   expansion: 0, or how many times as many buckets the next
 *                   table has, a power of two up to 2^15
 *      geometry 3   tables, 1 or more; more when it has grown
 *      payload      all numbers have the lowest byte first
 *         0   8     copies of keys that are in
 *         8   8     buckets of table 0
 *        16   8     keys that were removed
 *        24   8     tables
 *        32   2     slots a bucket
 *        34   2     1 or more: fingerprints that an add may move
 *        36   2     expansion
 *        38         a byte for each slot: 0, or the fingerprint in it
 *
 *      Valid if and only if the fields are as above, an expansion of 0 goes
 *      with one table, the slots end where the payload does, no more keys are
 *      in than there are slots, and the geometry is what the file says.
 *
 * MATHS
 *
 * An absent key is compared with the 2 s slots of its buckets in each of t
 * tables, and matches a taken slot with probability 1/255. If a share a of the
 * slots is taken, the rate is 1 - (1 - a/255)^(2 s t). With b <= 255 buckets,
 * the two buckets of a fingerprint that is a multiple of b are the same one,
 * and only s slots are compared. The rate follows from the slots, not from the
 * requested rate: only bucket= changes it. RedisBloom sizes filters in this
 * way, and so does this format.
 *
 * THE PLACES OF A KEY
 *
 * With h = MurmurHash64A of the key, seed 0: the fingerprint is f = h mod 255
 * + 1; the buckets of a table of b are h mod b and (h XOR 5bd1e995 f) mod b.
 *
 * ADD
 *
 * A copy takes the first free slot. Tables are tried from the last to the
 * first, and in each the first bucket and then the second. If no slot is free,
 * the last table makes room: the fingerprint replaces another in its bucket, in
 * turn of each slot, which moves to its own other bucket, and so on. After the
 * allowed number of moves everything is moved back, and a table is added.
 *
 * PAPERS
 *
 *  [Fan et al. 2014]  Cuckoo filter: practically better than Bloom, CoNEXT.
 */
#include "image/kind_foreign.h"

#include <math.h>

#include "bodies/tables.h"

enum {
    REDISCUCKOO_VERSION = 1,
    REDISCUCKOO_BUCKETS = 0, REDISCUCKOO_SLOTS = 1, REDISCUCKOO_EXPANSION = 2,
    REDISCUCKOO_TABLES = 3,             /* geometry                          */
    REDISCUCKOO_OPTION_BUCKET = 0, REDISCUCKOO_OPTION_MOVES = 1,
    REDISCUCKOO_OPTION_EXPANSION = 2
};

static const kind_option rediscuckoo_options[] = {
    [REDISCUCKOO_OPTION_BUCKET] = {
        .name = "bucket", .help = "slots of a bucket, as BUCKETSIZE",
        .least = 1, .most = TABLES_SLOTS_MOST, .standard = 2 },
    [REDISCUCKOO_OPTION_MOVES] = {
        .name = "moves", .help = "fingerprints that an add may move, as "
                                 "MAXITERATIONS",
        .least = 1, .most = TABLES_MOVES_MOST, .standard = 20 },
    [REDISCUCKOO_OPTION_EXPANSION] = {
        .name = "expansion", .help = "how many times as many buckets the next "
                                     "table has; 0: the filter does not grow",
        .least = 0, .most = TABLES_EXPANSION_MOST, .standard = 1 },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static bly_status rediscuckoo_check_file(const uint8_t *file, uint64_t bytes)
{
    uint64_t slots = 0;
    if (bytes < BLY_TABLES_HEAD)
        return status_fail(BLY_ECORRUPT, "read as a cuckoo filter of "
                           "RedisBloom, whose header has 38 bytes, but there "
                           "are %llu: dump it again, the header and then the "
                           "other chunks", (unsigned long long)bytes);
    bly_tables tables = tables_look(file);
    bly_status status = tables_check(&tables);
    if (status != BLY_OK)
        return status;
    if (!tables_slots(&slots, &tables, tables.n)
        || slots != bytes - BLY_TABLES_HEAD)
        return status_fail(BLY_ECORRUPT, "read as a cuckoo filter of "
                           "RedisBloom: byte 8: its tables do not end where "
                           "the file does, at byte %llu: chunks are missing, "
                           "or in another order: dump it again",
                           (unsigned long long)bytes);
    return tables_check_items(&tables);
}

static bool rediscuckoo_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= BLY_TABLES_HEAD
        && rediscuckoo_check_file(bytes, all) == BLY_OK;
}

/* Returns the probability that an absent key meets no fingerprint in a table
 * with this share of its slots taken. Its two buckets are one if the
 * fingerprint is a multiple of their number. */
static double rediscuckoo_none(double fill, uint64_t buckets, uint64_t slots)
{
    double one = pow(1 - fill / TABLES_CLASSES, (double)slots);
    double alike = floor(TABLES_CLASSES / (double)buckets) / TABLES_CLASSES;
    return alike * one + (1 - alike) * one * one;
}

static bly_status rediscuckoo_read(kind_found *out, const uint8_t *file,
                                   uint64_t bytes)
{
    bly_status status = rediscuckoo_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    bly_tables tables = tables_look(file);
    *out = (kind_found){
        .capacity = bytes - BLY_TABLES_HEAD, .items = tables.items,
        .rate = 1 - pow(rediscuckoo_none(1, tables.buckets, tables.slots),
                        (double)tables.n),
        .geometry = { tables.buckets, tables.slots, tables.expansion,
                      tables.n },
    };
    return BLY_OK;
}

static uint64_t rediscuckoo_murmur(const void *key, size_t length,
                                   hash_seed seed)
{
    (void)seed;
    return tables_hash(key, length);
}

static void rediscuckoo_hasher(kind_hasher *out, const uint64_t *geometry)
{
    (void)geometry;
    *out = (kind_hasher){ .function = rediscuckoo_murmur };
}

/* Reads the tables from the geometry. A number that is out of its field's range
 * becomes 0, which no field may be. */
static bly_tables rediscuckoo_tables(const uint64_t *geometry)
{
    uint64_t slots = geometry[REDISCUCKOO_SLOTS];
    uint64_t expansion = geometry[REDISCUCKOO_EXPANSION];
    return (bly_tables){
        .n = expansion <= TABLES_EXPANSION_MOST ? geometry[REDISCUCKOO_TABLES]
                                                : 0,
        .buckets = geometry[REDISCUCKOO_BUCKETS], .moves = 1,
        .slots = slots <= TABLES_SLOTS_MOST ? (uint16_t)slots : 0,
        .expansion = (uint16_t)expansion,
    };
}

static uint64_t rediscuckoo_reach(const uint64_t *geometry)
{
    bly_tables tables = rediscuckoo_tables(geometry);
    uint64_t slots;
    return tables_check(&tables) != BLY_OK
        || !tables_slots(&slots, &tables, tables.n) ? UINT64_MAX
         : BLY_TABLES_HEAD + slots;
}

static const kind_foreign rediscuckoo_foreign = {
    .writer = "RedisBloom: the chunks of CF.SCANDUMP, one after another",
    .numbers = {
        { "buckets", NULL },
        { "slots", "a bucket" },
        { "expansion", NULL },
        { "tables", NULL },
    },
    .looks  = rediscuckoo_looks,
    .read   = rediscuckoo_read,
    .reach  = rediscuckoo_reach,
    .hasher = rediscuckoo_hasher,
};

static bly_status rediscuckoo_check(const void *image)
{
    return kind_check_foreign(image, &rediscuckoo_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status rediscuckoo_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t in_bucket = spec->option[REDISCUCKOO_OPTION_BUCKET], slots = 0;
    uint64_t expansion = spec->option[REDISCUCKOO_OPTION_EXPANSION];
    bly_tables tables = {
        .n = 1, .buckets = tables_power_above(spec->capacity / in_bucket),
        .slots = (uint16_t)in_bucket,
    };
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!tables_slots(&slots, &tables, 1))
        return kind_too_big(spec, "2^56 buckets");
    bly_status status = kind_plan_bytes(plan, BLY_TABLES_HEAD + slots);
    if (status != BLY_OK)
        return status;
    plan->capacity = spec->capacity;
    /* more keys than slots begin another table, of the same size if it is not
       asked to be larger */
    double load = (double)spec->capacity / (double)slots;
    plan->fill = fmin(1, load);
    plan->rate = 1 - rediscuckoo_none(load, tables.buckets, in_bucket);
    plan->probes = 2;
    plan->lines_present = plan->lines_absent = 2;
    plan->geometry[REDISCUCKOO_BUCKETS] = tables.buckets;
    plan->geometry[REDISCUCKOO_SLOTS] = in_bucket;
    plan->geometry[REDISCUCKOO_EXPANSION]
        = expansion == 0 ? 0 : tables_power_above(expansion);
    plan->geometry[REDISCUCKOO_TABLES] = 1;
    return BLY_OK;
}

static bly_tables rediscuckoo_of(const void *image)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(image, i);
    return rediscuckoo_tables(geometry);
}

static bly_status rediscuckoo_format(void *image, const kind_spec *spec)
{
    bly_tables tables = rediscuckoo_of(image);
    tables.moves = (uint16_t)spec->option[REDISCUCKOO_OPTION_MOVES];
    tables_write(image_payload_mut(image), &tables);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

/* All geometry was checked, so that the tables end in the payload. */
static tables_walk rediscuckoo_last(const void *image)
{
    bly_tables tables = rediscuckoo_of(image);
    return tables_last(&tables, image_payload(image)
                                + image_payload_bytes(image));
}

static bool rediscuckoo_contains(const void *image, uint64_t hash)
{
    return tables_contain(rediscuckoo_last(image), hash);
}

static void rediscuckoo_contains_many(const void *image, const uint64_t *hashes,
                                      size_t n, bool *present)
{
    tables_contain_many(rediscuckoo_last(image), hashes, n, present);
}

static uint64_t rediscuckoo_count(const void *image, uint64_t hash)
{
    return tables_count(rediscuckoo_last(image), hash);
}

/* Changes the number of copies by one, within the possible range: a file may
 * contain a wrong number. */
static void rediscuckoo_change(void *image, bool up)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t items = image_u64(file, TABLES_AT_ITEMS);
    if (up && items < image_payload_bytes(image) - BLY_TABLES_HEAD)
        items++;
    else if (!up && items > 0)
        items--;
    image_set_u64(file, TABLES_AT_ITEMS, items);
}

static bly_status rediscuckoo_add(void *image, uint64_t hash)
{
    tables_walk last = rediscuckoo_last(image);
    bool seen = tables_contain(last, hash);
    if (!tables_put(last, hash, tables_look(image_payload(image)).moves))
        return status_plain(BLY_EFULL);
    rediscuckoo_change(image, true);
    return seen ? BLY_SEEN : BLY_OK;
}

static bly_status rediscuckoo_remove(void *image, uint64_t hash)
{
    uint8_t *file = image_payload_mut(image);
    if (!tables_take(rediscuckoo_last(image), hash))
        return status_plain(BLY_EABSENT);
    rediscuckoo_change(image, false);
    image_set_u64(file, TABLES_AT_REMOVED,
                  image_u64(file, TABLES_AT_REMOVED) + 1);
    return BLY_OK;
}

/* ---- Growth ------------------------------------------------------------ */

static bly_status rediscuckoo_grow_plan(uint64_t *bytes, const void *image)
{
    bly_tables tables = rediscuckoo_of(image);
    uint64_t slots = 0;
    if (tables.expansion == 0)
        return status_fail(BLY_EFULL, "the filter is full and does not grow: "
                           "build one for more keys, or with expansion=1");
    if (tables.n == BLY_TABLES_MOST
        || !tables_slots(&slots, &tables, tables.n + 1))
        return status_fail(BLY_ETOOBIG, "the filter is full, and has the "
                           "largest number of tables: build one for more keys");
    *bytes = IMAGE_HEADER + BLY_TABLES_HEAD + slots;
    return image_check_size(*bytes);
}

static bly_status rediscuckoo_grow(void *image, void *scratch)
{
    (void)scratch;
    uint64_t tables = image_geometry(image, REDISCUCKOO_TABLES) + 1;
    image_set_u64(image_payload_mut(image), TABLES_AT_TABLES, tables);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * REDISCUCKOO_TABLES, tables);
    return BLY_OK;
}

/* ---- Statistics -------------------------------------------------------- */

static void rediscuckoo_stat(bly_info_t *out, const void *image)
{
    tables_walk walk = rediscuckoo_last(image);
    double none = 1, keys = 0, all = 0;
    do {
        uint64_t slots = walk.buckets * walk.slots;
        uint64_t taken = slots - tables_free(&walk);
        none *= rediscuckoo_none((double)taken / (double)slots, walk.buckets,
                                 walk.slots);
        keys += (double)taken;
        all += (double)slots;
    } while (tables_before(&walk));
    out->fill = keys / all;
    out->rate = 1 - none;
    out->distinct = keys;
    out->distinct_sd = INFINITY;        /* repeated keys are stored again */
    out->probes = 2 * (uint32_t)image_geometry(image, REDISCUCKOO_TABLES);
    if (image_geometry(image, REDISCUCKOO_TABLES) > 1)
        out->capacity = (uint64_t)all;
}

static const kind_growing rediscuckoo_growing = {
    .plan = rediscuckoo_grow_plan,
    .grow = rediscuckoo_grow,
};

const bly_kind bly_kind_rediscuckoo = {
    .name    = "rediscuckoo",
    .family  = "foreign",
    .summary = "the cuckoo filter of Redis' module",
    .version = REDISCUCKOO_VERSION,
    .options = rediscuckoo_options,

    .plan   = rediscuckoo_plan,
    .format = rediscuckoo_format,
    .check  = rediscuckoo_check,
    .stat   = rediscuckoo_stat,

    .contains      = rediscuckoo_contains,
    .contains_many = rediscuckoo_contains_many,

    .add    = rediscuckoo_add,
    .remove = rediscuckoo_remove,
    .count  = rediscuckoo_count,

    .growing = &rediscuckoo_growing,
    .foreign = &rediscuckoo_foreign,
};
