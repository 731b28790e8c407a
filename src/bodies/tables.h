/* tables.h - the tables of RedisBloom's cuckoo filters: how large they are,
 * what is written of them, and the fingerprints in them.
 * src/kinds/foreign/rediscuckoo.c says why they are so.
 *
 * Used by kind rediscuckoo, whose tables lie behind one another in one image,
 * and by the verbs of <bloomery/redis.h>, whose tables are anywhere.
 */
#ifndef BLY_BODIES_TABLES_H
#define BLY_BODIES_TABLES_H

#include "bloomery/redis.h"

enum {
    TABLES_AT_ITEMS = 0, TABLES_AT_BUCKETS = 8, TABLES_AT_REMOVED = 16,
    TABLES_AT_TABLES = 24, TABLES_AT_SLOTS = 32, TABLES_AT_MOVES = 34,
    TABLES_AT_EXPANSION = 36,
    TABLES_SLOTS_MOST = 255, TABLES_MOVES_MOST = 65535,
    TABLES_EXPANSION_MOST = 32768,
    TABLES_CLASSES = 255                /* fingerprints that there are       */
};

/* The least power of two that is not below v, up to 2^62. */
uint64_t tables_power_above(uint64_t v);

/* The slots of the first `n` of them; false: more than 2^63. */
bool tables_slots(uint64_t *out, const bly_tables *of, uint64_t n);

bly_tables tables_look (const uint8_t *head);
void       tables_write(uint8_t *head, const bly_tables *of);

/* Verifies all numbers except how many keys are in the tables, which must not
 * exceed the slots. BLY_ECORRUPT. */
bly_status tables_check(const bly_tables *of);
bly_status tables_check_items(const bly_tables *of);

/* Murmur's hash of a key, from which all else comes. */
uint64_t tables_hash(const void *key, size_t length);

/* A way from the last table to the first. */
typedef struct {
    uint8_t *slot;                      /* of the table that is reached      */
    uint64_t buckets, slots;            /* of it; of each bucket             */
    uint64_t left;                      /* tables before it                  */
    uint64_t expansion;
    void *const *table;                 /* where each is; NULL: all of them lie
                                           behind one another                */
} tables_walk;

/* Begins at the last one, which ends at `end` where they lie behind one
 * another: else that is NULL. */
tables_walk tables_last(const bly_tables *of, const uint8_t *end);
bool        tables_before(tables_walk *walk);

bool     tables_contain(tables_walk walk, uint64_t hash);
void     tables_contain_many(tables_walk walk, const uint64_t *hashes,
                             size_t n, bool *present);
uint64_t tables_count(tables_walk walk, uint64_t hash);

/* Put one fingerprint in, moving up to `moves` others of the last table; or
 * take one out. False: nothing was changed. */
bool tables_put (tables_walk walk, uint64_t hash, uint64_t moves);
bool tables_take(tables_walk walk, uint64_t hash);

/* Free slots of the table that is reached. */
uint64_t tables_free(const tables_walk *walk);

/* Move all fingerprints of the table that is reached to the free slots of those
 * before it, in turn. False: not all of them found one. Only of tables that are
 * anywhere. */
bool tables_empty(const bly_tables *of, const tables_walk *newer);

#endif /* BLY_BODIES_TABLES_H */
