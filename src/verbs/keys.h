/* keys.h - many keys at once, however they lie in memory, as hashes. */
#ifndef BLY_VERBS_KEYS_H
#define BLY_VERBS_KEYS_H

#include "verbs/handle.h"

/* Keys hashed at a time: enough that filling and emptying the pipelines of a
 * batch does not count, and 8 KiB of hashes. */
enum { KEYS_CHUNK = 1024 };

/* Are they in just one of the forms? BLY_EPARAM. */
bly_status keys_check(const bly_keys *keys);

/* Key number i of keys that were checked. */
bly_key keys_at(const bly_keys *keys, size_t i);

/* The hash of a key that its kind gets whole, or 0 where that looks at the key
 * alone, as those of other systems' filters do. */
static inline uint64_t keys_hash_whole(const bly_filter *filter,
                                       const void *key, size_t length)
{
    const kind_foreign *foreign = filter->kind->foreign;
    return foreign != NULL && foreign->hasher == NULL
         ? 0 : bly_hash(filter, key, length);
}

/* The hashes of up to KEYS_CHUNK keys from number `from` on; how many those
 * are. */
size_t keys_hash(const kind_hasher *hasher, uint64_t hashes[KEYS_CHUNK],
                 const bly_keys *keys, size_t from);

/* Those of all of them. */
void keys_hash_all(const kind_hasher *hasher, uint64_t *hashes,
                   const bly_keys *keys);

#endif /* BLY_VERBS_KEYS_H */
