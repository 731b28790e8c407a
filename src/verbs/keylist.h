/* keylist.h - many keys at once, however they lie in memory, as hashes. */
#ifndef BLY_VERBS_KEYLIST_H
#define BLY_VERBS_KEYLIST_H

#include "verbs/handle.h"

/* Keys hashed at a time: enough that filling and emptying the pipelines of a
 * batch does not count, and 8 KiB of hashes. */
enum { KEYS_CHUNK = 1024 };

/* Checks that the keys are given in exactly one way, and not as hashes. Returns
 * BLY_EPARAM if not. */
bly_status keylist_check(const bly_keys *keys);

/* Checks keys of bly_build, which may be hashes and have labels. */
bly_status keylist_check_build(const bly_keys *keys);

/* Returns whether the keys are given as hashes, or are none. */
static inline bool keylist_hashed(const bly_keys *keys)
{
    return keys->hashes != NULL || keys->n == 0;
}

/* Returns key i of keys that were checked. */
bly_key keylist_at(const bly_keys *keys, size_t i);

/* Returns the hash of a key whose kind takes whole keys; 0 if the kind ignores
 * it, as kinds of other systems' filters do. */
static inline uint64_t keys_hash_whole(const bly_filter *filter,
                                       const void *key, size_t length)
{
    const kind_foreign *foreign = filter->kind->foreign;
    return foreign != NULL && foreign->hasher == NULL
         ? 0 : bly_hash(filter, key, length);
}

/* Hashes up to KEYS_CHUNK keys from number `from` on. Returns their number. */
size_t keylist_hash(const kind_hasher *hasher, uint64_t hashes[KEYS_CHUNK],
                    const bly_keys *keys, size_t from);

/* Hashes all of them. */
void keylist_hash_all(const kind_hasher *hasher, uint64_t *hashes,
                      const bly_keys *keys);

#endif /* BLY_VERBS_KEYLIST_H */
