/* rediscuckoo.c - the cuckoo filter of RedisBloom, in its own bytes.
 *
 * WHAT IT IS
 *
 * What CF.SCANDUMP of Redis' module says of a key, as one file: the first
 * chunk, which is the header, and behind it the others in their order. (That
 * they stand in one file is ours.) Such a filter is a chain of tables: when the
 * last one is full one more is begun.
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
 *      Valid if and only if the fields are so, an expansion of 0 goes with one
 *      table, the slots end where the payload does, no more keys are in than
 *      there are slots, and the geometry is what the file says.
 *
 * THE PLACES OF A KEY
 *
 * With h = MurmurHash64A of the key, seed 0: the fingerprint is f = h mod 255
 * + 1; the buckets of a table of b are h mod b and (h XOR 5bd1e995 f) mod b.
 *
 * ADD
 *
 * A copy takes the first free slot, of the tables from the last to the first
 * and in each of the first bucket and then the second. Where there is none, the
 * last table is made room in: the fingerprint takes the place of another in its
 * bucket, in turn of each slot of it, which goes to its own other bucket, and
 * so on. After as many moves as are allowed all go back, and a table is added.
 * Tables of unlike sizes (an expansion above 1) are not safe to remove from:
 * two keys may be one in the small table and not in the large one. And one key
 * that comes over and over fills its two buckets of each table, and then has
 * one more begun, each so many times as large: with an expansion above 1 who
 * may choose keys that repeat may take all memory.
 *
 * MATHS
 *
 * A stranger meets each of the 2 s slots of its buckets in each of t tables
 * with a chance of 1/255 if it is taken: 1 - (1 - a/255)^(2 s t) of those of
 * which a part a is taken. What is asked for cannot be chosen, but by bucket=.
 *
 * COST
 *
 * Two lines of memory for a table.
 *
 * WHEN TO USE, WHEN NOT
 *
 * To look into what a server keeps, or to make what it loads. For all else
 * `cuckoo`: its fingerprints have any width, and it grows without more places
 * to look at.
 *
 * PAPERS
 *
 *  [Fan et al. 2014]  Cuckoo filter: practically better than Bloom, CoNEXT.
 */
#include "image/kind.h"

#include <math.h>
#include <string.h>

#include "base/platform.h"
#include "base/sizes.h"

enum {
    REDISCUCKOO_VERSION = 1,
    REDISCUCKOO_BUCKETS = 0, REDISCUCKOO_SLOTS = 1, REDISCUCKOO_EXPANSION = 2,
    REDISCUCKOO_TABLES = 3,             /* geometry                          */
    REDISCUCKOO_OPTION_BUCKET = 0, REDISCUCKOO_OPTION_MOVES = 1,
    REDISCUCKOO_OPTION_EXPANSION = 2,
    REDISCUCKOO_AT_ITEMS = 0, REDISCUCKOO_AT_BUCKETS = 8,
    REDISCUCKOO_AT_GONE = 16, REDISCUCKOO_AT_TABLES = 24,
    REDISCUCKOO_AT_SLOTS = 32, REDISCUCKOO_AT_MOVES = 34,
    REDISCUCKOO_AT_EXPANSION = 36, REDISCUCKOO_HEAD = 38,
    REDISCUCKOO_SLOTS_MOST = 255, REDISCUCKOO_MOVES_MOST = 65535,
    REDISCUCKOO_EXPANSION_MOST = 32768, REDISCUCKOO_TABLES_MOST = 65535,
    REDISCUCKOO_CLASSES = 255
};

#define REDISCUCKOO_BUCKETS_MOST (UINT64_C(1) << 56)
#define REDISCUCKOO_TURN         UINT64_C(0x5BD1E995)

static const kind_option rediscuckoo_options[] = {
    [REDISCUCKOO_OPTION_BUCKET] = {
        .name = "bucket", .help = "slots of a bucket, as BUCKETSIZE",
        .least = 1, .most = REDISCUCKOO_SLOTS_MOST, .standard = 2 },
    [REDISCUCKOO_OPTION_MOVES] = {
        .name = "moves", .help = "fingerprints that an add may move, as "
                                 "MAXITERATIONS",
        .least = 1, .most = REDISCUCKOO_MOVES_MOST, .standard = 20 },
    [REDISCUCKOO_OPTION_EXPANSION] = {
        .name = "expansion", .help = "how many times as many buckets the next "
                                     "table has; 0: there is none",
        .least = 0, .most = REDISCUCKOO_EXPANSION_MOST, .standard = 1 },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static uint64_t rediscuckoo_u16(const uint8_t *file, size_t at)
{
    return (uint64_t)file[at] | (uint64_t)file[at + 1] << 8;
}

static void rediscuckoo_set_u16(uint8_t *file, size_t at, uint64_t v)
{
    file[at] = (uint8_t)v;
    file[at + 1] = (uint8_t)(v >> 8);
}

/* The slots of `tables` tables; false: more than 2^63. */
static bool rediscuckoo_slots(uint64_t *out, uint64_t buckets, uint64_t slots,
                              uint64_t expansion, uint64_t tables)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < tables; i++) {
        uint64_t more;
        if (buckets > REDISCUCKOO_BUCKETS_MOST
            || !sizes_mul(&more, buckets, slots)
            || !sizes_add(&sum, sum, more))
            return false;
        buckets *= expansion;
    }
    *out = sum;
    return sum <= UINT64_MAX / 2;
}

static bool rediscuckoo_power(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

/* 0 with one table, or a power of two. */
static bool rediscuckoo_expands(uint64_t expansion, uint64_t tables)
{
    return expansion == 0 ? tables == 1
         : rediscuckoo_power(expansion)
           && expansion <= REDISCUCKOO_EXPANSION_MOST;
}

static bly_status rediscuckoo_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "taken for a cuckoo filter of RedisBloom: "
                       "byte %u: %s: dump it anew, or name another format", at,
                       what);
}

static bly_status rediscuckoo_check_numbers(const uint8_t *file)
{
    uint64_t buckets = image_u64(file, REDISCUCKOO_AT_BUCKETS);
    uint64_t tables = image_u64(file, REDISCUCKOO_AT_TABLES);
    uint64_t slots = rediscuckoo_u16(file, REDISCUCKOO_AT_SLOTS);
    uint64_t expansion = rediscuckoo_u16(file, REDISCUCKOO_AT_EXPANSION);
    if (!rediscuckoo_power(buckets) || buckets > REDISCUCKOO_BUCKETS_MOST)
        return rediscuckoo_wrong(REDISCUCKOO_AT_BUCKETS, "the number of "
                                 "buckets is no power of two up to 2^56");
    if (tables == 0 || tables > REDISCUCKOO_TABLES_MOST)
        return rediscuckoo_wrong(REDISCUCKOO_AT_TABLES, "the number of tables "
                                 "is not 1 .. 65535");
    if (slots == 0 || slots > REDISCUCKOO_SLOTS_MOST)
        return rediscuckoo_wrong(REDISCUCKOO_AT_SLOTS, "a bucket has not "
                                 "1 .. 255 slots");
    if (rediscuckoo_u16(file, REDISCUCKOO_AT_MOVES) == 0)
        return rediscuckoo_wrong(REDISCUCKOO_AT_MOVES, "no fingerprint may be "
                                 "moved");
    if (!rediscuckoo_expands(expansion, tables))
        return rediscuckoo_wrong(REDISCUCKOO_AT_EXPANSION, "the expansion is "
                                 "no power of two, or 0 with more tables than "
                                 "one");
    return BLY_OK;
}

static bly_status rediscuckoo_check_file(const uint8_t *file, uint64_t bytes)
{
    uint64_t slots = 0;
    if (bytes < REDISCUCKOO_HEAD)
        return status_fail(BLY_ECORRUPT, "taken for a cuckoo filter of "
                           "RedisBloom, which begins with 38 bytes of numbers, "
                           "but there are %llu: dump it anew, the header and "
                           "then the other chunks", (unsigned long long)bytes);
    bly_status status = rediscuckoo_check_numbers(file);
    if (status != BLY_OK)
        return status;
    if (!rediscuckoo_slots(&slots, image_u64(file, REDISCUCKOO_AT_BUCKETS),
                           rediscuckoo_u16(file, REDISCUCKOO_AT_SLOTS),
                           rediscuckoo_u16(file, REDISCUCKOO_AT_EXPANSION),
                           image_u64(file, REDISCUCKOO_AT_TABLES))
        || slots != bytes - REDISCUCKOO_HEAD)
        return status_fail(BLY_ECORRUPT, "taken for a cuckoo filter of "
                           "RedisBloom: byte 8: its tables do not end where "
                           "the file does, at byte %llu: chunks are missing, "
                           "or in another order: dump it anew",
                           (unsigned long long)bytes);
    return image_u64(file, REDISCUCKOO_AT_ITEMS) <= slots ? BLY_OK
         : rediscuckoo_wrong(REDISCUCKOO_AT_ITEMS, "more keys are in than "
                             "there are slots");
}

static bool rediscuckoo_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= REDISCUCKOO_HEAD
        && rediscuckoo_check_file(bytes, all) == BLY_OK;
}

static double rediscuckoo_rate(double fill, uint64_t slots, uint64_t tables)
{
    return -expm1(2 * (double)slots * (double)tables
                  * log1p(-fill / REDISCUCKOO_CLASSES));
}

static bly_status rediscuckoo_read(kind_found *out, const uint8_t *file,
                                   uint64_t bytes)
{
    bly_status status = rediscuckoo_check_file(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t slots = rediscuckoo_u16(file, REDISCUCKOO_AT_SLOTS);
    uint64_t tables = image_u64(file, REDISCUCKOO_AT_TABLES);
    *out = (kind_found){
        .capacity = bytes - REDISCUCKOO_HEAD,
        .items = image_u64(file, REDISCUCKOO_AT_ITEMS),
        .rate = rediscuckoo_rate(1, slots, tables),
        .geometry = { image_u64(file, REDISCUCKOO_AT_BUCKETS), slots,
                      rediscuckoo_u16(file, REDISCUCKOO_AT_EXPANSION),
                      tables },
    };
    return BLY_OK;
}

static uint64_t rediscuckoo_murmur(const void *key, size_t length,
                                   hash_seed seed)
{
    (void)seed;
    return hash_murmur2(key, length, 0);
}

static void rediscuckoo_hasher(kind_hasher *out, const uint64_t *geometry)
{
    (void)geometry;
    *out = (kind_hasher){ .function = rediscuckoo_murmur };
}

static uint64_t rediscuckoo_reach(const uint64_t *geometry)
{
    uint64_t buckets = geometry[REDISCUCKOO_BUCKETS], all;
    uint64_t slots = geometry[REDISCUCKOO_SLOTS];
    uint64_t tables = geometry[REDISCUCKOO_TABLES];
    return !rediscuckoo_power(buckets) || slots < 1
        || slots > REDISCUCKOO_SLOTS_MOST || tables < 1
        || tables > REDISCUCKOO_TABLES_MOST
        || !rediscuckoo_expands(geometry[REDISCUCKOO_EXPANSION], tables)
        || !rediscuckoo_slots(&all, buckets, slots,
                              geometry[REDISCUCKOO_EXPANSION], tables)
         ? UINT64_MAX : REDISCUCKOO_HEAD + all;
}

static const kind_foreign rediscuckoo_foreign = {
    .writer = "RedisBloom: the chunks of CF.SCANDUMP, one behind the other",
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

static uint64_t rediscuckoo_power_above(uint64_t v)
{
    uint64_t power = 1;
    while (power < v && power < UINT64_C(1) << 62)
        power *= 2;
    return power;
}

static bly_status rediscuckoo_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t slots = spec->option[REDISCUCKOO_OPTION_BUCKET], all = 0;
    uint64_t expansion = spec->option[REDISCUCKOO_OPTION_EXPANSION];
    uint64_t buckets = rediscuckoo_power_above(spec->capacity / slots);
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!rediscuckoo_slots(&all, buckets, slots, 1, 1))
        return kind_too_big(spec, "2^56 buckets");
    bly_status status = kind_plan_bytes(plan, REDISCUCKOO_HEAD + all);
    if (status != BLY_OK)
        return status;
    plan->capacity = spec->capacity;
    plan->fill = fmin(1, (double)spec->capacity / (double)all);
    plan->rate = rediscuckoo_rate(plan->fill, slots, 1);
    plan->probes = 2;
    plan->lines_present = plan->lines_absent = 2;
    plan->geometry[REDISCUCKOO_BUCKETS] = buckets;
    plan->geometry[REDISCUCKOO_SLOTS] = slots;
    plan->geometry[REDISCUCKOO_EXPANSION]
        = expansion == 0 ? 0 : rediscuckoo_power_above(expansion);
    plan->geometry[REDISCUCKOO_TABLES] = 1;
    return BLY_OK;
}

static bly_status rediscuckoo_format(void *image, const kind_spec *spec)
{
    uint8_t *file = image_payload_mut(image);
    image_set_u64(file, REDISCUCKOO_AT_BUCKETS,
                  image_geometry(image, REDISCUCKOO_BUCKETS));
    image_set_u64(file, REDISCUCKOO_AT_TABLES,
                  image_geometry(image, REDISCUCKOO_TABLES));
    rediscuckoo_set_u16(file, REDISCUCKOO_AT_SLOTS,
                        image_geometry(image, REDISCUCKOO_SLOTS));
    rediscuckoo_set_u16(file, REDISCUCKOO_AT_MOVES,
                        spec->option[REDISCUCKOO_OPTION_MOVES]);
    rediscuckoo_set_u16(file, REDISCUCKOO_AT_EXPANSION,
                        image_geometry(image, REDISCUCKOO_EXPANSION));
    return BLY_OK;
}

/* ---- Places ------------------------------------------------------------ */

/* One table, and where in it a key can be. */
typedef struct {
    uint8_t *slot;
    uint64_t buckets, slots;
} rediscuckoo_table;

typedef struct {
    rediscuckoo_table table;
    uint64_t left;                      /* tables before this one            */
    uint64_t expansion;
} rediscuckoo_walk;

static uint8_t rediscuckoo_fingerprint(uint64_t hash)
{
    return (uint8_t)(hash % REDISCUCKOO_CLASSES + 1);
}

static uint64_t rediscuckoo_other(uint64_t place, uint8_t fingerprint)
{
    return place ^ fingerprint * REDISCUCKOO_TURN;
}

static uint8_t *rediscuckoo_bucket(const rediscuckoo_table *table,
                                   uint64_t place)
{
    return table->slot + (place & (table->buckets - 1)) * table->slots;
}

/* The last table; all geometry was checked, so that they end in the payload. */
static rediscuckoo_walk rediscuckoo_last(const void *image)
{
    uint64_t tables = image_geometry(image, REDISCUCKOO_TABLES);
    uint64_t buckets = image_geometry(image, REDISCUCKOO_BUCKETS);
    uint64_t expansion = image_geometry(image, REDISCUCKOO_EXPANSION);
    for (uint64_t i = 1; i < tables && expansion > 1; i++)
        buckets *= expansion;
    uint64_t slots = image_geometry(image, REDISCUCKOO_SLOTS);
    uint8_t *end = (uint8_t *)(uintptr_t)image_payload(image)
                 + image_payload_bytes(image);
    return (rediscuckoo_walk){
        .table = { end - buckets * slots, buckets, slots },
        .left = tables - 1, .expansion = expansion,
    };
}

static bool rediscuckoo_before(rediscuckoo_walk *walk)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    walk->table.buckets /= walk->expansion;
    walk->table.slot -= walk->table.buckets * walk->table.slots;
    return true;
}

static uint64_t rediscuckoo_in(const uint8_t *bucket, uint64_t slots,
                               uint8_t fingerprint)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < slots; i++)
        n += bucket[i] == fingerprint;
    return n;
}

static uint8_t *rediscuckoo_find_in(uint8_t *bucket, uint64_t slots,
                                    uint8_t fingerprint)
{
    for (uint64_t i = 0; i < slots; i++)
        if (bucket[i] == fingerprint)
            return bucket + i;
    return NULL;
}

/* The first slot with this in it, 0 for a free one: of the tables from the last
 * to the first. */
static uint8_t *rediscuckoo_find(const void *image, uint64_t hash,
                                 uint8_t wanted)
{
    uint8_t fingerprint = rediscuckoo_fingerprint(hash);
    rediscuckoo_walk walk = rediscuckoo_last(image);
    const rediscuckoo_table *table = &walk.table;
    do {
        uint8_t *slot = rediscuckoo_find_in(rediscuckoo_bucket(table, hash),
                                            table->slots, wanted);
        if (slot == NULL)
            slot = rediscuckoo_find_in(
                rediscuckoo_bucket(table, rediscuckoo_other(hash, fingerprint)),
                table->slots, wanted);
        if (slot != NULL)
            return slot;
    } while (rediscuckoo_before(&walk));
    return NULL;
}

/* ---- Keys -------------------------------------------------------------- */

static bool rediscuckoo_contains(const void *image, uint64_t hash)
{
    return rediscuckoo_find(image, hash, rediscuckoo_fingerprint(hash)) != NULL;
}

enum { REDISCUCKOO_AHEAD = 16 };

/* The last table's lines are asked for some keys ahead. */
static void rediscuckoo_contains_many(const void *image, const uint64_t *hashes,
                                      size_t n, bool *present)
{
    rediscuckoo_walk last = rediscuckoo_last(image);
    for (size_t i = 0; i < n + REDISCUCKOO_AHEAD; i++) {
        if (i < n) {
            uint8_t fingerprint = rediscuckoo_fingerprint(hashes[i]);
            uint64_t other = rediscuckoo_other(hashes[i], fingerprint);
            platform_prefetch(rediscuckoo_bucket(&last.table, hashes[i]));
            platform_prefetch(rediscuckoo_bucket(&last.table, other));
        }
        if (i >= REDISCUCKOO_AHEAD)
            present[i - REDISCUCKOO_AHEAD] = rediscuckoo_contains(
                image, hashes[i - REDISCUCKOO_AHEAD]);
    }
}

static uint64_t rediscuckoo_count(const void *image, uint64_t hash)
{
    uint8_t fingerprint = rediscuckoo_fingerprint(hash);
    rediscuckoo_walk walk = rediscuckoo_last(image);
    const rediscuckoo_table *table = &walk.table;
    uint64_t n = 0;
    do {
        const uint8_t *one = rediscuckoo_bucket(table, hash);
        const uint8_t *two
            = rediscuckoo_bucket(table, rediscuckoo_other(hash, fingerprint));
        n += rediscuckoo_in(one, table->slots, fingerprint);
        if (two != one)
            n += rediscuckoo_in(two, table->slots, fingerprint);
    } while (rediscuckoo_before(&walk));
    return n;
}

static void rediscuckoo_swap(uint8_t *a, uint8_t *b)
{
    uint8_t was = *a;
    *a = *b;
    *b = was;
}

/* Room in the last table by moving others; false: nothing has changed. */
static bool rediscuckoo_move(void *image, uint64_t hash)
{
    uint64_t most = rediscuckoo_u16(image_payload(image), REDISCUCKOO_AT_MOVES);
    rediscuckoo_walk last = rediscuckoo_last(image);
    const rediscuckoo_table *table = &last.table;
    uint8_t fingerprint = rediscuckoo_fingerprint(hash);
    uint64_t place = hash & (table->buckets - 1), victim = 0;
    for (uint64_t i = 0; i < most; i++) {
        rediscuckoo_swap(rediscuckoo_bucket(table, place) + victim,
                         &fingerprint);
        place = rediscuckoo_other(place, fingerprint) & (table->buckets - 1);
        uint8_t *free_slot = rediscuckoo_find_in(
            rediscuckoo_bucket(table, place), table->slots, 0);
        if (free_slot != NULL) {
            *free_slot = fingerprint;
            return true;
        }
        victim = (victim + 1) % table->slots;
    }
    for (uint64_t i = 0; i < most; i++) {
        victim = (victim + table->slots - 1) % table->slots;
        place = rediscuckoo_other(place, fingerprint) & (table->buckets - 1);
        rediscuckoo_swap(rediscuckoo_bucket(table, place) + victim,
                         &fingerprint);
    }
    return false;
}

/* The number of copies goes up or down by one, within what there can be: a file
 * may say any other number than there are. */
static void rediscuckoo_change(void *image, bool up)
{
    uint8_t *file = image_payload_mut(image);
    uint64_t items = image_u64(file, REDISCUCKOO_AT_ITEMS);
    if (up && items < image_payload_bytes(image) - REDISCUCKOO_HEAD)
        items++;
    else if (!up && items > 0)
        items--;
    image_set_u64(file, REDISCUCKOO_AT_ITEMS, items);
}

static bly_status rediscuckoo_add(void *image, uint64_t hash)
{
    bool seen = rediscuckoo_contains(image, hash);
    uint8_t *slot = rediscuckoo_find(image, hash, 0);
    if (slot != NULL)
        *slot = rediscuckoo_fingerprint(hash);
    else if (!rediscuckoo_move(image, hash))
        return status_plain(BLY_EFULL);
    rediscuckoo_change(image, true);
    return seen ? BLY_SEEN : BLY_OK;
}

static bly_status rediscuckoo_remove(void *image, uint64_t hash)
{
    uint8_t *file = image_payload_mut(image);
    uint8_t *slot = rediscuckoo_find(image, hash,
                                     rediscuckoo_fingerprint(hash));
    if (slot == NULL)
        return status_plain(BLY_EABSENT);
    *slot = 0;
    rediscuckoo_change(image, false);
    image_set_u64(file, REDISCUCKOO_AT_GONE,
                  image_u64(file, REDISCUCKOO_AT_GONE) + 1);
    return BLY_OK;
}

/* ---- Growth ------------------------------------------------------------ */

static bly_status rediscuckoo_grow_plan(uint64_t *bytes, const void *image)
{
    uint64_t tables = image_geometry(image, REDISCUCKOO_TABLES), slots = 0;
    uint64_t expansion = image_geometry(image, REDISCUCKOO_EXPANSION);
    if (expansion == 0)
        return status_fail(BLY_EFULL, "the filter is full, and it is one that "
                           "does not grow: build it anew for more keys, or "
                           "with expansion=1");
    if (tables == REDISCUCKOO_TABLES_MOST
        || !rediscuckoo_slots(&slots, image_geometry(image,
                                                     REDISCUCKOO_BUCKETS),
                              image_geometry(image, REDISCUCKOO_SLOTS),
                              expansion, tables + 1))
        return status_fail(BLY_ETOOBIG, "the filter is full, and has as many "
                           "tables as there may be: build it anew for more "
                           "keys");
    *bytes = IMAGE_HEADER + REDISCUCKOO_HEAD + slots;
    return image_check_size(*bytes);
}

static bly_status rediscuckoo_grow(void *image)
{
    uint64_t tables = image_geometry(image, REDISCUCKOO_TABLES) + 1;
    image_set_u64(image_payload_mut(image), REDISCUCKOO_AT_TABLES, tables);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * REDISCUCKOO_TABLES, tables);
    return BLY_OK;
}

/* ---- What it says of itself -------------------------------------------- */

static void rediscuckoo_stat(bly_stat_t *out, const void *image)
{
    rediscuckoo_walk walk = rediscuckoo_last(image);
    const rediscuckoo_table *table = &walk.table;
    double none = 0, keys = 0, all = 0;
    do {
        uint64_t slots = table->buckets * table->slots;
        uint64_t taken = slots - rediscuckoo_in(table->slot, slots, 0);
        double fill = (double)taken / (double)slots;
        none += 2 * (double)table->slots * log1p(-fill / REDISCUCKOO_CLASSES);
        keys += (double)taken;
        all += (double)slots;
    } while (rediscuckoo_before(&walk));
    out->fill = keys / all;
    out->rate = -expm1(none);
    out->distinct = keys;
    out->distinct_sd = 0;
    out->probes = 2 * (uint32_t)image_geometry(image, REDISCUCKOO_TABLES);
    if (image_geometry(image, REDISCUCKOO_TABLES) > 1)
        out->capacity = (uint64_t)all;
}

const bly_kind bly_kind_rediscuckoo = {
    .name    = "rediscuckoo",
    .family  = "foreign",
    .summary = "the cuckoo filter of Redis' module",
    .version = REDISCUCKOO_VERSION,
    .options = rediscuckoo_options,
    .foreign = &rediscuckoo_foreign,

    .plan   = rediscuckoo_plan,
    .format = rediscuckoo_format,
    .check  = rediscuckoo_check,

    .contains      = rediscuckoo_contains,
    .contains_many = rediscuckoo_contains_many,
    .add           = rediscuckoo_add,
    .remove        = rediscuckoo_remove,
    .count         = rediscuckoo_count,
    .grow_plan     = rediscuckoo_grow_plan,
    .grow          = rediscuckoo_grow,

    .stat = rediscuckoo_stat,
};
