/* keys.h - hashes many keys at once, in any layout.
 */
#ifndef BLY_VERBS_KEYS_H
#define BLY_VERBS_KEYS_H

#include "verbs/handle.h"

/* Keys hashed at a time: enough to make filling and emptying the pipelines of a
 * batch negligible, and 8 KiB of hashes. */
enum { KEYS_CHUNK = 1024 };

/* Verifies that the keys are in exactly one layout. BLY_EPARAM. */
bly_status keys_check(const bly_keys *keys);

/* Returns key i of keys that were checked. */
bly_key keys_at(const bly_keys *keys, size_t i);

/* Returns the hash of a key for a kind that gets whole keys, or 0 if the kind
 * looks at the key alone, as those of other systems do. */
static inline uint64_t keys_hash_whole(const bly_filter *filter,
                                       const void *key, size_t length)
{
    const kind_foreign *foreign = filter->kind->foreign;
    return foreign != NULL && foreign->hasher == NULL
         ? 0 : bly_hash(filter, key, length);
}

/* Hashes up to KEYS_CHUNK keys from number `from` on; returns their number. */
size_t keys_hash(const kind_hasher *hasher, uint64_t hashes[KEYS_CHUNK],
                 const bly_keys *keys, size_t from);

/* Hashes all keys. */
void keys_hash_all(const kind_hasher *hasher, uint64_t *hashes,
                   const bly_keys *keys);

#endif /* BLY_VERBS_KEYS_H */
