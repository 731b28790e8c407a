/* cuckoo.h - the values of CF.*. */
#ifndef BLY_REDIS_CUCKOO_H
#define BLY_REDIS_CUCKOO_H

#include "redis/module.h"

typedef struct {
    bly_tables tables;                  /* `table` points to this one        */
    void     **table;
} cuckoo;

enum {
    CUCKOO_OWN = 40, CUCKOO_TABLE_OWN = 16      /* what RedisBloom counts for a
                                                   filter and for a table of it,
                                                   besides slots             */
};

/* Creates a filter with the tables described by the numbers, all empty. The
 * caller owns it until it is set as the value of a key. Returns NULL if out of
 * memory. */
cuckoo *redis_cuckoo_new(server_context *context, const bly_tables *tables);

/* Appends an empty table. Returns false if no more are allowed or memory is
 * short. */
bool redis_cuckoo_grow(cuckoo *filter, server_context *context);

/* Frees the tables that the numbers no longer count. */
void redis_cuckoo_shrink(cuckoo *filter, uint64_t were);

/* Returns the bytes that CF.INFO and MEMORY USAGE report. */
uint64_t redis_cuckoo_bytes(const cuckoo *filter);

/* Returns the table that contains byte `at` of all tables together, its size,
 * and the offset within it. Returns NULL at the end. */
uint8_t *redis_cuckoo_at(const cuckoo *filter, uint64_t *at, uint64_t *bytes);

#endif
