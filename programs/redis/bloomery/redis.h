/* bloomery/redis.h - the filters of Redis' module, in the pieces that a server
 * holds them in.
 *
 * RedisBloom keeps a Bloom filter as a chain of *links*, each with bits of its
 * own, and a cuckoo filter as *tables*, each with slots of its own, so that one
 * that grows takes more memory and moves none. The formats redisbloom and
 * rediscuckoo (<bloomery/foreign.h>) are what such a server dumps, in one file;
 * here are the same filters piece by piece, for who keeps them as it does. All
 * memory is the caller's. Sizes, rates, bits and answers are those of the
 * server, bit for bit; the essays of the kinds redisbloom and rediscuckoo
 * describe them.
 *
 * THREADS
 *
 * What only asks may be called by any number of threads at once; what changes a
 * filter needs it for itself.
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
    BLY_CHAIN_EXACT = 1,        /* sizes are not rounded up to powers of two */
    BLY_CHAIN_BITS  = 2,        /* the size was given in bits                */
    BLY_CHAIN_LONG  = 4,        /* hashes of 64 bits; must be                */
    BLY_CHAIN_FIXED = 8         /* it does not grow                          */
};

/* One link. Its struct never changes. */
typedef struct {
    void    *bits;              /* `bytes` bytes; 0 in an empty one          */
    uint64_t bytes;             /* a multiple of 8                           */
    uint64_t items;             /* keys that were added to it                */
    uint64_t capacity;          /* keys it is for                            */
    double   rate;              /* false-positive rate at that many          */
    double   per_key;           /* bits a key                                */
    uint32_t probes;            /* bits that a key sets                      */
    uint32_t power;             /* 0; or where the bits are 2^power: that    */
} bly_link;

/* All of them, the oldest first. Its struct never changes. */
typedef struct {
    bly_link *links;
    uint32_t  n;                /* links                                     */
    uint32_t  options;          /* BLY_CHAIN_…                               */
    uint32_t  growth;           /* how many times as many keys the next link
                                   is for, 0 .. 32768; 0: there is none      */
    uint32_t  zero;             /* 0                                         */
} bly_chain;

enum {
    BLY_CHAIN_HEAD = 20,        /* bytes of a chain's header …               */
    BLY_CHAIN_HEAD_LINK = 53,   /* … and so many more for each link          */
    BLY_CHAIN_LINKS = 1100      /* the most links that there can be          */
};

/* The numbers of a link for so many keys at this rate; `bits` is NULL: give it
 * memory that is all 0. The first link of a chain that grows has half of the
 * chain's rate. BLY_EPARAM (no keys; a rate that is not between 0 and 1),
 * BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_chain_plan(bly_link *out, uint64_t capacity,
                                  double rate) BLY_MUST BLY_GIVEN(1);

/* The numbers of the link that is to follow the last one, once that is full:
 * for `growth` times as many keys, at half of its rate. BLY_EFULL (the chain
 * does not grow), BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_chain_next(bly_link *out, const bly_chain *chain)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Add a key. BLY_OK: it was new; BLY_SEEN: it was perhaps there, and nothing is
 * changed; BLY_EFULL: it was not there, and the last link is full: put
 * one behind it (bly_chain_next) and add the key again. */
BLY_API bly_status bly_chain_add(bly_chain *chain, const void *key,
                                 size_t length) BLY_MUST BLY_GIVEN(1);

/* Add many keys, the first ones first, and write to `seen` of each whether it
 * was perhaps there before. *done is how many were added or seen: all, but for
 * an error, of which the key behind them is the cause. BLY_EFULL, as above: go
 * on behind *done once there is another link; BLY_EPARAM (`keys` is not well
 * formed; nothing is done). */
BLY_API bly_status bly_chain_add_keys(bly_chain *chain, const bly_keys *keys,
                                      bool *seen, size_t *done)
                                      BLY_MUST BLY_GIVEN(1, 2, 3, 4);

/* False: the key was certainly not added. True: perhaps it was. Of many keys
 * BLY_EPARAM, and "perhaps" of all, where `keys` is not well formed. */
BLY_API bool bly_chain_contains(const bly_chain *chain, const void *key,
                                size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_chain_contains_keys(const bly_chain *chain,
                                           const bly_keys *keys, bool *present)
                                           BLY_GIVEN(1, 2);

/* Keys that were new when they were added: the sum of the links'. */
BLY_API uint64_t bly_chain_items(const bly_chain *chain) BLY_GIVEN(1);

/* Write the header that BF.SCANDUMP begins with: BLY_CHAIN_HEAD bytes and
 * BLY_CHAIN_HEAD_LINK for each link. */
BLY_API void bly_chain_write(void *into, const bly_chain *chain)
                             BLY_GIVEN(1, 2);

/* Look how many links a header tells of, trusting nothing: the numbers of each,
 * and that the header is as long as that many need. BLY_ECORRUPT, BLY_EVERSION
 * (hashes of 32 bits). Thread-safe. */
BLY_API bly_status bly_chain_check(uint32_t *links, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

/* Read a header that bly_chain_check took: chain->links has room for as many.
 * Their `bits` are NULL. */
BLY_API void bly_chain_read(bly_chain *chain, const void *head)
                            BLY_GIVEN(1, 2);

/* Are the numbers of a chain such as there can be? For who had them from
 * elsewhere than a header. Errors of bly_chain_check. Thread-safe. */
BLY_API bly_status bly_chain_verify(const bly_chain *chain) BLY_GIVEN(1);

/* ==== Tables of a cuckoo filter ========================================= */

/* Its struct never changes. */
typedef struct {
    void *const *table;         /* the oldest first, of bly_tables_bytes(…, i)
                                   bytes each; 0 in an empty one             */
    uint64_t n;                 /* tables, 1 or more                         */
    uint64_t buckets;           /* of the first, a power of two up to 2^56   */
    uint64_t items;             /* copies of keys that are in                */
    uint64_t removed;           /* since the tables were last compacted      */
    uint16_t slots;             /* a bucket, 1 .. 255                        */
    uint16_t moves;             /* fingerprints that an add may move, 1 or
                                   more                                      */
    uint16_t expansion;         /* how many times as many buckets the next
                                   table has, a power of two; 0: there is
                                   none                                      */
    uint16_t zero;              /* 0                                         */
} bly_tables;

enum {
    BLY_TABLES_HEAD = 38,       /* bytes of their header                     */
    BLY_TABLES_MOST = 65535     /* the most tables that there can be         */
};

/* The numbers of a filter for so many keys, with one table; `table` is NULL.
 * Buckets and expansion are rounded up to powers of two. BLY_EPARAM (a number
 * that is out of its range), BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_tables_plan(bly_tables *out, uint64_t capacity,
                                   uint16_t slots, uint16_t moves,
                                   uint16_t expansion) BLY_MUST BLY_GIVEN(1);

/* Bytes of table i, which need not be there yet; 0: it can never be there.
 * Thread-safe. */
BLY_API uint64_t bly_tables_bytes(const bly_tables *tables, uint64_t i)
                                  BLY_GIVEN(1);

/* Add a copy of a key. BLY_OK; BLY_EFULL: put another table behind the last one
 * and add it again; nothing is changed. */
BLY_API bly_status bly_tables_add(bly_tables *tables, const void *key,
                                  size_t length) BLY_MUST BLY_GIVEN(1);

/* False: the key is certainly not there. True: perhaps it is. Of many keys
 * BLY_EPARAM, and "perhaps" of all, where `keys` is not well formed. */
BLY_API bool bly_tables_contains(const bly_tables *tables, const void *key,
                                 size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_tables_contains_keys(const bly_tables *tables,
                                            const bly_keys *keys,
                                            bool *present) BLY_GIVEN(1, 2);

/* How many copies of the key there are, at most. */
BLY_API uint64_t bly_tables_count(const bly_tables *tables, const void *key,
                                  size_t length) BLY_GIVEN(1);

/* Remove one copy. BLY_EABSENT: there is none, and nothing is changed. Remove
 * only what was added: another key's copy may go else. Where more than a tenth
 * as many were removed as are in, and there are several tables, they are
 * compacted as by bly_tables_compact without `all`: look at `n` afterwards. */
BLY_API bly_status bly_tables_remove(bly_tables *tables, const void *key,
                                     size_t length) BLY_GIVEN(1);

/* Move fingerprints out of the newest tables into free slots of older ones.
 * Without `all` it ends at the first table of which not all could move. A last
 * table that is empty then is no longer counted in `n`: give its memory back.
 * Reads all slots of the tables that it empties. */
BLY_API void bly_tables_compact(bly_tables *tables, bool all) BLY_GIVEN(1);

/* Write and look at the header that CF.SCANDUMP begins with, of BLY_TABLES_HEAD
 * bytes. bly_tables_read trusts nothing: BLY_ECORRUPT; `table` is NULL
 * afterwards. Thread-safe. */
BLY_API void bly_tables_write(void *into, const bly_tables *tables)
                              BLY_GIVEN(1, 2);
BLY_API bly_status bly_tables_read(bly_tables *tables, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_REDIS_H */
