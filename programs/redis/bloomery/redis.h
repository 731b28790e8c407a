/* bloomery/redis.h - the filters of Redis' module, piece by piece.
 *
 * RedisBloom stores a Bloom filter as a chain of *links*, each with bits of its
 * own, and a cuckoo filter as *tables*, each with slots of its own, so that a
 * growing filter allocates memory without moving any. The formats redisbloom
 * and rediscuckoo (<bloomery/foreign.h>) read such a server's dump from one
 * file. This header is for programs that keep the pieces in memory as the
 * server does. The caller owns all memory. Sizes, rates, bits and answers equal
 * the server's bit for bit; the kinds redisbloom and rediscuckoo explain them.
 *
 * THREADS
 *
 * Queries may run in any number of threads at once. A change needs exclusive
 * access to the filter.
 */
#ifndef BLOOMERY_REDIS_H
#define BLOOMERY_REDIS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== A chain of Bloom filters ========================================== */

/* Options of a chain. */
enum {
    BLY_CHAIN_EXACT = 1,        /* sizes are not rounded to powers of two    */
    BLY_CHAIN_BITS  = 2,        /* the size was given in bits                */
    BLY_CHAIN_LONG  = 4,        /* 64-bit hashes; required                   */
    BLY_CHAIN_FIXED = 8         /* the chain does not grow                   */
};

/* A link. This struct will never change. */
typedef struct {
    void    *bits;              /* `bytes` bytes; 0 in an empty one          */
    uint64_t bytes;             /* a multiple of 8                           */
    uint64_t items;             /* keys added to the link                    */
    uint64_t capacity;          /* planned number of keys                    */
    double   rate;              /* false-positive rate at capacity           */
    double   per_key;           /* bits per key                              */
    uint32_t probes;            /* bits set per key                          */
    uint32_t power;             /* if the number of bits is 2^power, else 0  */
} bly_link;

/* A chain, oldest link first. This struct will never change. */
typedef struct {
    bly_link *links;
    uint32_t  n;                /* links                                     */
    uint32_t  options;          /* BLY_CHAIN_…                               */
    uint32_t  growth;           /* capacity of the next link relative to the
                                   last, 0 .. 32768; 0: no next link         */
    uint32_t  zero;             /* 0                                         */
} bly_chain;

enum {
    BLY_CHAIN_HEAD = 20,        /* bytes of a chain's header …               */
    BLY_CHAIN_HEAD_LINK = 53,   /* … plus these for each link                */
    BLY_CHAIN_LINKS = 1100      /* maximum number of links                   */
};

/* Plans a link of a chain. It is for `capacity` keys at `rate`; `bits` is NULL,
 * to be set to zeroed memory. The first link of a growing chain has half of the
 * chain's rate. Returns BLY_EPARAM (no keys, or a rate not between 0 and 1) or
 * BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_chain_plan(bly_link *out, uint64_t capacity,
                                  double rate) BLY_MUST BLY_GIVEN(1);

/* Plans the next link of a chain, to be added when the last one is full. It is
 * for `growth` times as many keys, at half the rate. Returns BLY_EFULL (the
 * chain does not grow) or BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_chain_next(bly_link *out, const bly_chain *chain)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Adds a key to a chain of Bloom filters. Returns BLY_OK if it was new;
 * BLY_SEEN if it may have been present, in which case nothing changes;
 * BLY_EFULL if the last link is full: append one (bly_chain_next) and add the
 * key again. */
BLY_API bly_status bly_chain_add(bly_chain *chain, const void *key,
                                 size_t length) BLY_MUST BLY_GIVEN(1);

/* Adds many keys to a chain of Bloom filters, in order. seen[i] becomes whether
 * key i may have been present. *done is the number of keys handled: all of
 * them, unless the next key caused an error. On BLY_EFULL append a link and
 * continue after *done. BLY_EPARAM: `keys` is not well formed, and nothing was
 * done. */
BLY_API bly_status bly_chain_add_many(bly_chain *chain, const bly_keys *keys,
                                      bool *seen, size_t *done)
                                      BLY_MUST BLY_GIVEN(1, 2, 3, 4);

/* Looks up a key in a chain of Bloom filters. Returns false if the key was
 * certainly not added, true if it may have been. For many keys, BLY_EPARAM
 * means that `keys` is not well formed; all answers are then true. */
BLY_API bool bly_chain_contains(const bly_chain *chain, const void *key,
                                size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_chain_contains_many(const bly_chain *chain,
                                           const bly_keys *keys, bool *present)
                                           BLY_GIVEN(1, 2);

/* Returns the number of keys in a chain: those that were new when added, summed
 * over the links. */
BLY_API uint64_t bly_chain_items(const bly_chain *chain) BLY_GIVEN(1);

/* Writes the header of a chain, which BF.SCANDUMP begins with. It has
 * BLY_CHAIN_HEAD bytes plus BLY_CHAIN_HEAD_LINK for each link. */
BLY_API void bly_chain_write(void *into, const bly_chain *chain)
                             BLY_GIVEN(1, 2);

/* Verifies an untrusted header of a chain. *links becomes its number of links.
 * Returns BLY_ECORRUPT, or BLY_EVERSION (32-bit hashes). Thread-safe. */
BLY_API bly_status bly_chain_check(uint32_t *links, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

/* Reads the header of a chain that bly_chain_check has accepted. chain->links
 * must have room for its links, whose `bits` become NULL. */
BLY_API void bly_chain_read(bly_chain *chain, const void *head)
                            BLY_GIVEN(1, 2);

/* Verifies the numbers of a chain. It need not come from a header. Returns
 * errors like bly_chain_check. Thread-safe. */
BLY_API bly_status bly_chain_verify(const bly_chain *chain) BLY_GIVEN(1);

/* ==== Tables of a cuckoo filter ========================================= */

/* The tables of a cuckoo filter. This struct will never change. */
typedef struct {
    void *const *table;         /* oldest first, bly_tables_bytes(…, i) bytes
                                   each; 0 in an empty one                   */
    uint64_t n;                 /* tables, at least 1                        */
    uint64_t buckets;           /* of table 0, a power of two up to 2^56     */
    uint64_t items;             /* stored copies of keys                     */
    uint64_t removed;           /* since the tables were last compacted      */
    uint16_t slots;             /* per bucket, 1 .. 255                      */
    uint16_t moves;             /* maximum number of fingerprints that an add
                                   moves, at least 1                         */
    uint16_t expansion;         /* buckets of the next table relative to the
                                   last, a power of two; 0: no next table    */
    uint16_t zero;              /* 0                                         */
} bly_tables;

enum {
    BLY_TABLES_HEAD = 38,       /* bytes of the header                       */
    BLY_TABLES_MOST = 65535     /* maximum number of tables                  */
};

/* Plans a cuckoo filter of one table. It is for `capacity` keys; `table` is
 * NULL. Buckets and expansion are rounded up to powers of two. Returns
 * BLY_EPARAM (a number is out of range) or BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_tables_plan(bly_tables *out, uint64_t capacity,
                                   uint16_t slots, uint16_t moves,
                                   uint16_t expansion) BLY_MUST BLY_GIVEN(1);

/* Returns the size of a cuckoo filter's table: the bytes of table i, which may
 * be a future one; 0 if it can never exist. Thread-safe. */
BLY_API uint64_t bly_tables_bytes(const bly_tables *tables, uint64_t i)
                                  BLY_GIVEN(1);

/* Adds a copy of a key to a cuckoo filter. Returns BLY_OK, or BLY_EFULL with
 * nothing changed: append a table and add the key again. */
BLY_API bly_status bly_tables_add(bly_tables *tables, const void *key,
                                  size_t length) BLY_MUST BLY_GIVEN(1);

/* Looks up a key in a cuckoo filter. Returns false if the key is certainly
 * absent, true if it may be present. For many keys, BLY_EPARAM means that
 * `keys` is not well formed; all answers are then true. */
BLY_API bool bly_tables_contains(const bly_tables *tables, const void *key,
                                 size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_tables_contains_keys(const bly_tables *tables,
                                            const bly_keys *keys,
                                            bool *present) BLY_GIVEN(1, 2);

/* Returns how many copies of a key a cuckoo filter has, at most: 0 is certain,
 * a larger number is an upper bound. */
BLY_API uint64_t bly_tables_count(const bly_tables *tables, const void *key,
                                  size_t length) BLY_GIVEN(1);

/* Removes one copy of a key from a cuckoo filter. Returns BLY_EABSENT, with
 * nothing changed, if none exists. Remove only keys that were added, or a copy
 * of another key may be lost. When the number removed exceeds a tenth of those
 * stored and there are several tables, they are compacted as by
 * bly_tables_compact without `all`: check `n` afterwards. */
BLY_API bly_status bly_tables_remove(bly_tables *tables, const void *key,
                                     size_t length) BLY_GIVEN(1);

/* Compacts a cuckoo filter. Moves fingerprints from the newest tables into free
 * slots of older ones. Without `all`, stops at the first table that cannot be
 * emptied. If the last table becomes empty, `n` no longer counts it: free its
 * memory. Reads all slots of the tables that it empties. */
BLY_API void bly_tables_compact(bly_tables *tables, bool all) BLY_GIVEN(1);

/* Writes the header of a cuckoo filter, which CF.SCANDUMP begins with. It has
 * BLY_TABLES_HEAD bytes. Thread-safe. */
BLY_API void bly_tables_write(void *into, const bly_tables *tables)
                              BLY_GIVEN(1, 2);

/* Reads the header of a cuckoo filter, from untrusted bytes. Sets `table` to
 * NULL. BLY_ECORRUPT: the bytes are invalid. Thread-safe. */
BLY_API bly_status bly_tables_read(bly_tables *tables, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif
