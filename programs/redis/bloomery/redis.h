/* bloomery/redis.h - filters of Redis' module, in the pieces that a server
 * keeps.
 *
 * RedisBloom keeps a Bloom filter as a chain of *links*, each with bits of its
 * own, and a cuckoo filter as *tables*, each with slots of its own. A filter
 * that grows allocates more memory and moves none. The formats redisbloom and
 * rediscuckoo (<bloomery/foreign.h>) are the dumps of such a server in one
 * file. This header is for programs that keep the pieces as the server does.
 * All memory is the caller's. Sizes, rates, bits and answers equal those of the
 * server, bit for bit; the essays of the kinds redisbloom and rediscuckoo
 * describe them.
 *
 * THREADS
 *
 * Any number of threads may query a filter at once. A change needs exclusive
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

/* A link. This struct never changes. */
typedef struct {
    void    *bits;              /* `bytes` bytes; all 0 in an empty link     */
    uint64_t bytes;             /* a multiple of 8                           */
    uint64_t items;             /* keys added to it                          */
    uint64_t capacity;          /* keys it is planned for                    */
    double   rate;              /* false-positive rate at that many          */
    double   per_key;           /* bits per key                              */
    uint32_t probes;            /* bits set per key                          */
    uint32_t power;             /* log2 of the bits if they are a power of
                                   two; or 0                                 */
} bly_link;

/* A chain of links, oldest first. This struct never changes. */
typedef struct {
    bly_link *links;
    uint32_t  n;                /* links                                     */
    uint32_t  options;          /* BLY_CHAIN_…                               */
    uint32_t  growth;           /* growth factor of the next link's capacity,
                                   0 .. 32768; 0: no next link               */
    uint32_t  zero;             /* 0                                         */
} bly_chain;

enum {
    BLY_CHAIN_HEAD = 20,        /* bytes of a chain's header …               */
    BLY_CHAIN_HEAD_LINK = 53,   /* … and of each link's part                 */
    BLY_CHAIN_LINKS = 1100      /* the most links in a chain                 */
};

/* Plans a link for so many keys at this rate. `bits` is NULL: the caller gives
 * it memory that is all 0. The first link of a growing chain has half of the
 * chain's rate. BLY_EPARAM (no keys; a rate not between 0 and 1), BLY_ETOOBIG.
 * Thread-safe. */
BLY_API bly_status bly_chain_plan(bly_link *out, uint64_t capacity,
                                  double rate) BLY_MUST BLY_GIVEN(1);

/* Plans the link that follows the last one when that is full: for `growth`
 * times as many keys, at half of its rate. BLY_EFULL (the chain does not grow),
 * BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_chain_next(bly_link *out, const bly_chain *chain)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Adds a key. BLY_OK: it is new. BLY_SEEN: it was perhaps there; nothing is
 * changed. BLY_EFULL: it is new, but the last link is full: append a link
 * (bly_chain_next) and add the key again. */
BLY_API bly_status bly_chain_add(bly_chain *chain, const void *key,
                                 size_t length) BLY_MUST BLY_GIVEN(1);

/* Adds many keys in order and writes to `seen` whether each was perhaps there
 * before. *done is the number of keys processed; after an error, key *done is
 * its cause. BLY_EFULL: append a link and continue from key *done. BLY_EPARAM
 * (`keys` is not well formed): nothing was added. */
BLY_API bly_status bly_chain_add_keys(bly_chain *chain, const bly_keys *keys,
                                      bool *seen, size_t *done)
                                      BLY_MUST BLY_GIVEN(1, 2, 3, 4);

/* Looks up a key. False: it was certainly not added. True: perhaps it was. For
 * many keys BLY_EPARAM, with "perhaps" for all, if `keys` is not well
 * formed. */
BLY_API bool bly_chain_contains(const bly_chain *chain, const void *key,
                                size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_chain_contains_keys(const bly_chain *chain,
                                           const bly_keys *keys, bool *present)
                                           BLY_GIVEN(1, 2);

/* Returns the number of keys that were new when added: the sum over all
 * links. */
BLY_API uint64_t bly_chain_items(const bly_chain *chain) BLY_GIVEN(1);

/* Writes the header with which BF.SCANDUMP begins: BLY_CHAIN_HEAD bytes, and
 * BLY_CHAIN_HEAD_LINK for each link. */
BLY_API void bly_chain_write(void *into, const bly_chain *chain)
                             BLY_GIVEN(1, 2);

/* Validates an untrusted header, its length and the numbers of each link, and
 * returns the number of links. BLY_ECORRUPT, BLY_EVERSION (32-bit hashes).
 * Thread-safe. */
BLY_API bly_status bly_chain_check(uint32_t *links, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

/* Reads a header that bly_chain_check accepted into chain->links, which has
 * room for all links. Their `bits` are NULL. */
BLY_API void bly_chain_read(bly_chain *chain, const void *head)
                            BLY_GIVEN(1, 2);

/* Verifies the numbers of a chain that did not come from a header. Errors of
 * bly_chain_check. Thread-safe. */
BLY_API bly_status bly_chain_verify(const bly_chain *chain) BLY_GIVEN(1);

/* ==== Tables of a cuckoo filter ========================================= */

/* Tables. This struct never changes. */
typedef struct {
    void *const *table;         /* oldest first, with bly_tables_bytes(…, i)
                                   bytes each, all 0 in an empty one         */
    uint64_t n;                 /* tables, 1 or more                         */
    uint64_t buckets;           /* of the first, a power of two up to 2^56   */
    uint64_t items;             /* copies of keys in the filter              */
    uint64_t removed;           /* since the tables were last compacted      */
    uint16_t slots;             /* per bucket, 1 .. 255                      */
    uint16_t moves;             /* most fingerprints that an add may move, 1
                                   or more                                   */
    uint16_t expansion;         /* growth factor of the next table's
                                   buckets, a power of two; 0: no next table */
    uint16_t zero;              /* 0                                         */
} bly_tables;

enum {
    BLY_TABLES_HEAD = 38,       /* bytes of their header                     */
    BLY_TABLES_MOST = 65535     /* the most tables in a filter               */
};

/* Plans a filter for so many keys, with one table; `table` is NULL. Buckets and
 * expansion are rounded up to powers of two. BLY_EPARAM (a number out of
 * range), BLY_ETOOBIG. Thread-safe. */
BLY_API bly_status bly_tables_plan(bly_tables *out, uint64_t capacity,
                                   uint16_t slots, uint16_t moves,
                                   uint16_t expansion) BLY_MUST BLY_GIVEN(1);

/* Returns the bytes of table i, which need not exist yet; 0: it cannot exist.
 * Thread-safe. */
BLY_API uint64_t bly_tables_bytes(const bly_tables *tables, uint64_t i)
                                  BLY_GIVEN(1);

/* Adds a copy of a key. BLY_OK; BLY_EFULL (nothing is changed): append a table
 * and add the key again. */
BLY_API bly_status bly_tables_add(bly_tables *tables, const void *key,
                                  size_t length) BLY_MUST BLY_GIVEN(1);

/* Looks up a key. False: it is certainly not there. True: perhaps it is. For
 * many keys BLY_EPARAM, with "perhaps" for all, if `keys` is not well
 * formed. */
BLY_API bool bly_tables_contains(const bly_tables *tables, const void *key,
                                 size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_tables_contains_keys(const bly_tables *tables,
                                            const bly_keys *keys,
                                            bool *present) BLY_GIVEN(1, 2);

/* Returns how many copies of the key there are, at most. */
BLY_API uint64_t bly_tables_count(const bly_tables *tables, const void *key,
                                  size_t length) BLY_GIVEN(1);

/* Removes one copy of a key. BLY_EABSENT: it has none; nothing is changed.
 * Remove only keys that were added, or another key's copy may be lost. If there
 * are several tables and more than a tenth as many copies were removed as
 * remain, the tables are compacted as by bly_tables_compact without `all`: read
 * `n` afterwards. */
BLY_API bly_status bly_tables_remove(bly_tables *tables, const void *key,
                                     size_t length) BLY_GIVEN(1);

/* Moves fingerprints from the newest tables into free slots of older ones.
 * Without `all` it ends at the first table that does not become empty. If the
 * last table is then empty, it is no longer counted in `n`: free its memory.
 * Reads all slots of the tables that it empties. */
BLY_API void bly_tables_compact(bly_tables *tables, bool all) BLY_GIVEN(1);

/* Writes and reads the header with which CF.SCANDUMP begins, of BLY_TABLES_HEAD
 * bytes. bly_tables_read trusts nothing: BLY_ECORRUPT. `table` is then NULL.
 * Thread-safe. */
BLY_API void bly_tables_write(void *into, const bly_tables *tables)
                              BLY_GIVEN(1, 2);
BLY_API bly_status bly_tables_read(bly_tables *tables, const void *head,
                                   size_t bytes) BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif
