/* ask.c - looks up keys: whether, how often, and with which label.
 *
 * Nothing here can fail, except for invalid lists of keys.
 */
#include <string.h>

#include "base/status.h"
#include "verbs/keylist.h"

/* ---- Is it there ------------------------------------------------------- */

bool bly_contains_hash(const bly_filter *filter, uint64_t hash)
{
    return filter->contains(filter->subject, hash);
}

/* Looks up a key for a kind that needs whole keys. */
static bool ask_key(const bly_filter *filter, const void *key, size_t length)
{
    return filter->whole->contains(filter->image,
                                   keys_hash_whole(filter, key, length), key,
                                   length);
}

bool bly_contains(const bly_filter *filter, const void *key, size_t length)
{
    if (filter->whole != NULL)
        return ask_key(filter, key, length);
    return filter->contains(filter->subject,
                            filter->hasher.function(key, length,
                                                    filter->hasher.seed));
}

void bly_contains_hashes(const bly_filter *filter, const uint64_t *hashes,
                         size_t n, bool *present)
{
    if (filter->away != NULL)
        filter->away->contains_many(filter, hashes, n, present);
    else
        filter->kind->contains_many(filter->image, hashes, n, present);
}

/* Packs eight answers into a byte, the first one lowest: the multiplication
 * moves each to its place in the top byte without carries. */
static uint8_t ask_byte(uint64_t answers)
{
    return (uint8_t)(answers * UINT64_C(0x0102040810204080) >> 56);
}

/* Packs n answers into a mask, and returns how many are true. There is room for
 * seven more answers behind them. */
static uint64_t ask_pack(uint8_t *mask, bool *present, size_t n)
{
    uint64_t some = 0;
    memset(present + n, 0, 7 * sizeof *present);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t answers = image_u64(present, i);
        some += answers * UINT64_C(0x0101010101010101) >> 56;
        if (mask != NULL)
            mask[i / 8] = ask_byte(answers);
    }
    return some;
}

uint64_t bly_contains_mask(const bly_filter *filter, const uint64_t *hashes,
                           size_t n, uint8_t *mask)
{
    enum { CHUNK = 3072 };              /* two groups of bits/walk.c */
    bool present[CHUNK + 7];
    uint64_t all = 0;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < CHUNK ? n - i : CHUNK;
        bly_contains_hashes(filter, hashes + i, some, present);
        all += ask_pack(mask != NULL ? mask + i / 8 : NULL, present, some);
    }
    return all;
}

/* Hashes as many keys as fit into a frame. */
static void ask_whole(const bly_filter *filter, const bly_keys *keys,
                      bool *present)
{
    enum { CHUNK = 256 };
    bly_key whole[CHUNK];
    uint64_t hashes[CHUNK];
    for (size_t i = 0, some; i < keys->n; i += some) {
        some = keys->n - i < CHUNK ? keys->n - i : CHUNK;
        for (size_t j = 0; j < some; j++) {
            whole[j] = keylist_at(keys, i + j);
            hashes[j] = keys_hash_whole(filter, whole[j].data,
                                        whole[j].length);
        }
        filter->whole->contains_many(filter->image, hashes, whole, some,
                                     present + i);
    }
}

bly_status bly_contains_many(const bly_filter *filter, const bly_keys *keys,
                             bool *present)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status status = keylist_check(keys);
    if (status != BLY_OK) {
        memset(present, true, keys->n * sizeof *present);
        return status;
    }
    if (filter->whole != NULL) {
        ask_whole(filter, keys, present);
        return BLY_OK;
    }
    for (size_t i = 0, some; i < keys->n; i += some) {
        some = keylist_hash(&filter->hasher, hashes, keys, i);
        bly_contains_hashes(filter, hashes, some, present + i);
    }
    return BLY_OK;
}

/* ---- How often --------------------------------------------------------- */

uint64_t bly_count_hash(const bly_filter *filter, uint64_t hash)
{
    if (filter->kind->count != NULL)
        return filter->kind->count(filter->image, hash);
    return bly_contains_hash(filter, hash) ? UINT64_MAX : 0;
}

uint64_t bly_count(const bly_filter *filter, const void *key, size_t length)
{
    if (filter->kind->count == NULL)
        return bly_contains(filter, key, length) ? UINT64_MAX : 0;
    return bly_count_hash(filter, bly_hash(filter, key, length));
}

void bly_count_hashes(const bly_filter *filter, const uint64_t *hashes,
                      size_t n, uint64_t *counts)
{
    if (filter->kind->count_many != NULL) {
        filter->kind->count_many(filter->image, hashes, n, counts);
        return;
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = bly_count_hash(filter, hashes[i]);
}

bly_status bly_count_many(const bly_filter *filter, const bly_keys *keys,
                          uint64_t *counts)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status status = keylist_check(keys);
    if (status != BLY_OK) {
        for (size_t i = 0; i < keys->n; i++)
            counts[i] = UINT64_MAX;
        return status;
    }
    for (size_t i = 0; filter->whole != NULL && i < keys->n; i++) {
        bly_key key = keylist_at(keys, i);
        counts[i] = bly_count(filter, key.data, key.length);
    }
    if (filter->whole != NULL)
        return BLY_OK;
    for (size_t i = 0, some; i < keys->n; i += some) {
        some = keylist_hash(&filter->hasher, hashes, keys, i);
        bly_count_hashes(filter, hashes, some, counts + i);
    }
    return BLY_OK;
}

/* ---- Labels ------------------------------------------------------------ */

bool bly_get_hash(const bly_filter *filter, uint64_t hash, uint64_t *label)
{
    return filter->kind->labels != NULL
        && filter->kind->labels->get(filter->image, hash, label);
}

bool bly_get(const bly_filter *filter, const void *key, size_t length,
             uint64_t *label)
{
    return bly_get_hash(filter, bly_hash(filter, key, length), label);
}

void bly_get_hashes(const bly_filter *filter, const uint64_t *hashes, size_t n,
                    bool *found, uint64_t *labels)
{
    if (filter->kind->labels != NULL)
        filter->kind->labels->get_many(filter->image, hashes, n, found, labels);
    else
        for (size_t i = 0; i < n; i++)
            found[i] = false;
}

bly_status bly_get_many(const bly_filter *filter, const bly_keys *keys,
                        bool *found, uint64_t *labels)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status status = keylist_check(keys);
    if (status != BLY_OK) {
        memset(found, false, keys->n * sizeof *found);
        return status;
    }
    for (size_t i = 0, some; i < keys->n; i += some) {
        some = keylist_hash(&filter->hasher, hashes, keys, i);
        bly_get_hashes(filter, hashes, some, found + i, labels + i);
    }
    return BLY_OK;
}
