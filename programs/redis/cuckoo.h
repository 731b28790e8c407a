/* cuckoo.h - the values of CF.*. */
#ifndef BLY_REDIS_CUCKOO_H
#define BLY_REDIS_CUCKOO_H

#include "redis/module.h"

typedef struct {
    bly_tables tables;                  /* whose `table` is this one         */
    void     **table;
} cuckoo;

enum {
    CUCKOO_OWN = 40, CUCKOO_TABLE_OWN = 16      /* what RedisBloom counts for a
                                           filter and for a table of it,
                                           besides slots                     */
};

/* One with the tables that the numbers tell of, all empty; it is the caller's
 * until it is set as a key's value. NULL: there is no memory. */
cuckoo *cuckoo_new (server_context *context, const bly_tables *tables);
void    cuckoo_free(void *value);       /* NULL is fine                      */

/* Put an empty table behind the others; false: there can be none, or there is
 * no memory. */
bool cuckoo_grow(cuckoo *filter, server_context *context);

/* Give back the tables that the numbers tell of no more. */
void cuckoo_shrink(cuckoo *filter, uint64_t were);

/* Bytes, as CF.INFO and MEMORY USAGE count them. */
uint64_t cuckoo_bytes(const cuckoo *filter);

/* The table that has byte `at` of all of them together: its bytes, and where in
 * it that is. NULL: there are no more. */
uint8_t *cuckoo_at(const cuckoo *filter, uint64_t *at, uint64_t *bytes);

#endif /* BLY_REDIS_CUCKOO_H */
