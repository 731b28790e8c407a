/* bloom.h - the values of BF.*. */
#ifndef BLY_REDIS_BLOOM_H
#define BLY_REDIS_BLOOM_H

#include "redis/module.h"

typedef bly_chain bloom;

enum {
    BLOOM_OWN = 32, BLOOM_LINK_OWN = 64 /* what RedisBloom counts for a filter
                                           and for a link of it, besides bits */
};

/* Creates a filter without links. The caller owns it until it is set as the
   value of a key. */
bloom *bloom_new(uint32_t options, uint32_t growth);
void   bloom_free(void *value);         /* accepts NULL                      */

/* Appends a link with zeroed bits. Returns false if out of memory. */
bool bloom_begin(bloom *filter, server_context *context, const bly_link *link);

/* Returns the bytes that BF.INFO and MEMORY USAGE report. */
uint64_t bloom_bytes(const bloom *filter);

/* Return the header of a dump, to be released; and a filter made from one, with
 * zeroed bits, or NULL if the header is invalid or memory is short. */
void  *bloom_head   (const bloom *filter, size_t *bytes);
bloom *bloom_of_head(server_context *context, const void *head, size_t bytes);

/* Returns byte `at` of the bits of all links together, and the number of bytes
 * left in its link. Returns NULL at the end. */
uint8_t *bloom_at(const bloom *filter, uint64_t at, uint64_t *left);

#endif
