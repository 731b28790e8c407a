/* bloom.h - the values of BF.*. */
#ifndef BLY_REDIS_BLOOM_H
#define BLY_REDIS_BLOOM_H

#include "redis/module.h"

typedef bly_chain bloom;

enum {
    BLOOM_OWN = 32, BLOOM_LINK_OWN = 64 /* what RedisBloom counts for a filter
                                           and for a link of it, besides bits */
};

/* One without links; it is the caller's until it is set as a key's value. */
bloom *bloom_new(uint32_t options, uint32_t growth);
void   bloom_free(void *value);         /* NULL is fine                      */

/* Put a link behind the others: with bits that are all 0 (false: there is no
 * memory for them), or as it is. */
bool      bloom_begin(bloom *filter, server_context *context,
                      const bly_link *link);
bly_link *bloom_more (bloom *filter, const bly_link *link);

/* Bytes, as BF.INFO and MEMORY USAGE count them. */
uint64_t bloom_bytes(const bloom *filter);

/* The header of a dump, to be released; and a filter of one, all bits of which
 * are 0: NULL, the header is wrong, or there is no memory. */
void  *bloom_head   (const bloom *filter, size_t *bytes);
bloom *bloom_of_head(server_context *context, const void *head, size_t bytes);

/* Byte `at` of the bits of all links together, and how many its link has from
 * there on; NULL: there are no more. */
uint8_t *bloom_at(const bloom *filter, uint64_t at, uint64_t *left);

#endif /* BLY_REDIS_BLOOM_H */
