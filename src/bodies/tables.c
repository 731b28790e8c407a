/* tables.c - fingerprints in RedisBloom's tables.
 */
#include "bodies/tables.h"

#include <string.h>

#include "base/platform.h"
#include "base/ring.h"
#include "base/sizes.h"
#include "base/status.h"
#include "image/image.h"
#include "bits/hash.h"

enum { TABLES_RING = 128 };             /* prefetched keys, at most          */

#define TABLES_BUCKETS_MOST (UINT64_C(1) << 56)
#define TABLES_TURN         UINT64_C(0x5BD1E995)

/* ---- Numbers ------------------------------------------------------------ */

static uint16_t tables_u16(const uint8_t *head, size_t at)
{
    return (uint16_t)(head[at] | head[at + 1] << 8);
}

static void tables_set_u16(uint8_t *head, size_t at, uint16_t v)
{
    head[at] = (uint8_t)v;
    head[at + 1] = (uint8_t)(v >> 8);
}

uint64_t tables_power_above(uint64_t v)
{
    uint64_t power = 1;
    while (power < v && power < UINT64_C(1) << 62)
        power *= 2;
    return power;
}

static bool tables_is_power(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

/* A filter of growing tables has few of the largest size; others may have many,
 * all of one size. */
bool tables_slots(uint64_t *out, const bly_tables *of, uint64_t n)
{
    bool grows = of->expansion > 1;
    uint64_t sizes = grows ? n : n > 0, same = grows ? 1 : n;
    uint64_t sum = 0, buckets = of->buckets, more;
    for (uint64_t i = 0; i < sizes; i++) {
        if (buckets > TABLES_BUCKETS_MOST
            || !sizes_mul(&more, buckets, of->slots)
            || !sizes_mul(&more, more, same)
            || !sizes_add(&sum, sum, more))
            return false;
        buckets *= of->expansion;
    }
    *out = sum;
    return sum <= UINT64_MAX / 2;
}

bly_tables tables_look(const uint8_t *head)
{
    return (bly_tables){
        .n = image_u64(head, TABLES_AT_TABLES),
        .buckets = image_u64(head, TABLES_AT_BUCKETS),
        .items = image_u64(head, TABLES_AT_ITEMS),
        .removed = image_u64(head, TABLES_AT_REMOVED),
        .slots = tables_u16(head, TABLES_AT_SLOTS),
        .moves = tables_u16(head, TABLES_AT_MOVES),
        .expansion = tables_u16(head, TABLES_AT_EXPANSION),
    };
}

void tables_write(uint8_t *head, const bly_tables *of)
{
    image_set_u64(head, TABLES_AT_TABLES, of->n);
    image_set_u64(head, TABLES_AT_BUCKETS, of->buckets);
    image_set_u64(head, TABLES_AT_ITEMS, of->items);
    image_set_u64(head, TABLES_AT_REMOVED, of->removed);
    tables_set_u16(head, TABLES_AT_SLOTS, of->slots);
    tables_set_u16(head, TABLES_AT_MOVES, of->moves);
    tables_set_u16(head, TABLES_AT_EXPANSION, of->expansion);
}

static bly_status tables_wrong(unsigned at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a cuckoo filter of RedisBloom: "
                       "byte %u: %s: dump it again, or name another format", at,
                       what);
}

bly_status tables_check(const bly_tables *of)
{
    if (!tables_is_power(of->buckets) || of->buckets > TABLES_BUCKETS_MOST)
        return tables_wrong(TABLES_AT_BUCKETS, "the number of buckets is not a "
                            "power of two up to 2^56");
    if (of->n == 0 || of->n > BLY_TABLES_MOST)
        return tables_wrong(TABLES_AT_TABLES, "the number of tables is not "
                            "1 .. 65535");
    if (of->slots == 0 || of->slots > TABLES_SLOTS_MOST)
        return tables_wrong(TABLES_AT_SLOTS, "the number of slots in a bucket "
                            "is not 1 .. 255");
    if (of->moves == 0)
        return tables_wrong(TABLES_AT_MOVES, "no fingerprint can be moved");
    if (of->expansion == 0 ? of->n != 1
                           : !tables_is_power(of->expansion)
                             || of->expansion > TABLES_EXPANSION_MOST)
        return tables_wrong(TABLES_AT_EXPANSION, "the expansion is not a power "
                            "of two, or it is 0 with more than one table");
    return BLY_OK;
}

bly_status tables_check_items(const bly_tables *of)
{
    uint64_t slots = 0;
    return tables_slots(&slots, of, of->n) && of->items <= slots ? BLY_OK
         : tables_wrong(TABLES_AT_ITEMS, "it has more keys than slots");
}

/* ---- Places ------------------------------------------------------------- */

uint64_t tables_hash(const void *key, size_t length)
{
    return hash_murmur2(key, length, 0);
}

tables_walk tables_last(const bly_tables *of, const uint8_t *end)
{
    uint64_t buckets = of->buckets;
    for (uint64_t i = 1; i < of->n && of->expansion > 1; i++)
        buckets *= of->expansion;
    return (tables_walk){
        .slot = end == NULL ? of->table[of->n - 1]
              : (uint8_t *)(uintptr_t)end - buckets * of->slots,
        .buckets = buckets, .slots = of->slots, .left = of->n - 1,
        .expansion = of->expansion, .table = end == NULL ? of->table : NULL,
    };
}

bool tables_before(tables_walk *walk)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    walk->buckets /= walk->expansion;
    walk->slot = walk->table != NULL ? walk->table[walk->left]
               : walk->slot - walk->buckets * walk->slots;
    return true;
}

static uint8_t tables_fingerprint(uint64_t hash)
{
    return (uint8_t)(hash % TABLES_CLASSES + 1);
}

static uint64_t tables_other(uint64_t place, uint8_t fingerprint)
{
    return place ^ fingerprint * TABLES_TURN;
}

static uint8_t *tables_bucket(const tables_walk *walk, uint64_t place)
{
    return walk->slot + (place & (walk->buckets - 1)) * walk->slots;
}

static uint64_t tables_in(const uint8_t *bucket, uint64_t slots,
                          uint8_t fingerprint)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < slots; i++)
        n += bucket[i] == fingerprint;
    return n;
}

uint64_t tables_free(const tables_walk *walk)
{
    return tables_in(walk->slot, walk->buckets * walk->slots, 0);
}

static uint8_t *tables_find_in(uint8_t *bucket, uint64_t slots, uint8_t wanted)
{
    for (uint64_t i = 0; i < slots; i++)
        if (bucket[i] == wanted)
            return bucket + i;
    return NULL;
}

/* The first slot with this in it, 0 for a free one, of the two buckets of one
 * table. */
static uint8_t *tables_find_one(const tables_walk *walk, uint64_t place,
                                uint8_t fingerprint, uint8_t wanted)
{
    uint8_t *slot = tables_find_in(tables_bucket(walk, place), walk->slots,
                                   wanted);
    return slot != NULL ? slot
         : tables_find_in(tables_bucket(walk, tables_other(place, fingerprint)),
                          walk->slots, wanted);
}

/* Finds a fingerprint in the tables, from the last one to the first. */
static uint8_t *tables_find(tables_walk walk, uint64_t hash, uint8_t wanted)
{
    uint8_t fingerprint = tables_fingerprint(hash);
    do {
        uint8_t *slot = tables_find_one(&walk, hash, fingerprint, wanted);
        if (slot != NULL)
            return slot;
    } while (tables_before(&walk));
    return NULL;
}

/* ---- Keys --------------------------------------------------------------- */

bool tables_contain(tables_walk walk, uint64_t hash)
{
    return tables_find(walk, hash, tables_fingerprint(hash)) != NULL;
}

/* A key and its buckets in a table. */
typedef struct {
    const uint8_t *one, *two;
    uint8_t        fingerprint;
} tables_key;

PLATFORM_INLINE tables_key tables_prefetch(const tables_walk *walk,
                                           uint64_t hash)
{
    tables_key key = { .fingerprint = tables_fingerprint(hash) };
    key.one = tables_bucket(walk, hash);
    key.two = tables_bucket(walk, tables_other(hash, key.fingerprint));
    platform_prefetch(key.one);
    platform_prefetch(key.two);
    return key;
}

/* Compares all slots of both buckets, because the processor could not predict
 * which one matches. */
PLATFORM_INLINE bool tables_match(const tables_key *key, uint64_t slots)
{
    bool any = false;
    for (uint64_t i = 0; i < slots; i++)
        any |= (key->one[i] == key->fingerprint)
             | (key->two[i] == key->fingerprint);
    return any;
}

/* Looks up a batch in one table after another. Two slots a bucket, which is
 * usual, need no loop. */
void tables_contain_many(tables_walk walk, const uint64_t *hashes, size_t n,
                         bool *present)
{
    memset(present, false, n * sizeof *present);
    do {
        RING_ROLL(tables_key, TABLES_RING, n, walk.buckets * walk.slots,
            *slot = tables_prefetch(&walk, hashes[i]),
            present[i] |= walk.slots == 2 ? tables_match(slot, 2)
                                          : tables_match(slot, walk.slots));
    } while (tables_before(&walk));
}

uint64_t tables_count(tables_walk walk, uint64_t hash)
{
    uint8_t fingerprint = tables_fingerprint(hash);
    uint64_t n = 0;
    do {
        const uint8_t *one = tables_bucket(&walk, hash);
        const uint8_t *two
            = tables_bucket(&walk, tables_other(hash, fingerprint));
        n += tables_in(one, walk.slots, fingerprint);
        if (two != one)
            n += tables_in(two, walk.slots, fingerprint);
    } while (tables_before(&walk));
    return n;
}

static void tables_swap(uint8_t *a, uint8_t *b)
{
    uint8_t was = *a;
    *a = *b;
    *b = was;
}

/* Room in the last table by moving others; false: nothing has changed. */
static bool tables_move(const tables_walk *last, uint64_t hash, uint64_t most)
{
    uint8_t fingerprint = tables_fingerprint(hash);
    uint64_t place = hash & (last->buckets - 1), victim = 0;
    for (uint64_t i = 0; i < most; i++) {
        tables_swap(tables_bucket(last, place) + victim, &fingerprint);
        place = tables_other(place, fingerprint) & (last->buckets - 1);
        uint8_t *free_slot = tables_find_in(tables_bucket(last, place),
                                            last->slots, 0);
        if (free_slot != NULL) {
            *free_slot = fingerprint;
            return true;
        }
        victim = (victim + 1) % last->slots;
    }
    for (uint64_t i = 0; i < most; i++) {
        victim = (victim + last->slots - 1) % last->slots;
        place = tables_other(place, fingerprint) & (last->buckets - 1);
        tables_swap(tables_bucket(last, place) + victim, &fingerprint);
    }
    return false;
}

bool tables_put(tables_walk walk, uint64_t hash, uint64_t moves)
{
    uint8_t *slot = tables_find(walk, hash, 0);
    if (slot == NULL)
        return tables_move(&walk, hash, moves);
    *slot = tables_fingerprint(hash);
    return true;
}

bool tables_take(tables_walk walk, uint64_t hash)
{
    uint8_t *slot = tables_find(walk, hash, tables_fingerprint(hash));
    if (slot == NULL)
        return false;
    *slot = 0;
    return true;
}

/* ---- Compaction --------------------------------------------------------- */

/* Move a fingerprint of bucket `place` of a newer table into the first free
 * slot of the `older` first ones. A smaller table's bucket is the larger one's
 * modulo its size, for a fingerprint's other bucket too. */
static bool tables_down(const bly_tables *of, uint64_t older, uint64_t place,
                        uint8_t fingerprint)
{
    tables_walk at = { .slots = of->slots, .buckets = of->buckets };
    for (uint64_t i = 0; i < older; i++) {
        at.slot = of->table[i];
        uint8_t *slot = tables_find_one(&at, place, fingerprint, 0);
        if (slot != NULL) {
            *slot = fingerprint;
            return true;
        }
        at.buckets *= of->expansion;
    }
    return false;
}

bool tables_empty(const bly_tables *of, const tables_walk *newer)
{
    bool all = true;
    for (uint64_t place = 0; place < newer->buckets; place++) {
        uint8_t *bucket = newer->slot + place * newer->slots;
        for (uint64_t i = 0; i < newer->slots; i++)
            if (bucket[i] != 0) {
                if (tables_down(of, newer->left, place, bucket[i]))
                    bucket[i] = 0;
                else
                    all = false;
            }
    }
    return all;
}
