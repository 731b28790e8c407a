/* change.c - keys are removed, and filters get another size.
 *
 * Floor 5.
 */
#include "base/memory.h"
#include "base/status.h"
#include "verbs/keys.h"
#include "verbs/order.h"

/* ---- Remove ------------------------------------------------------------ */

bly_status bly_remove_hash(bly_filter *filter, uint64_t hash)
{
    if (filter->kind->remove == NULL)
        return handle_unsupported(filter->kind, "remove", BLY_CAN_REMOVE);
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    status = filter->kind->remove(filter->image, hash);
    if (status == BLY_OK)
        handle_uncount_items(filter, 1);
    return status;
}

/* For a kind that takes keys whole. */
static bly_status change_remove_key(bly_filter *filter, const void *key,
                                    size_t length)
{
    bly_status status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->remove_key(filter->image,
                                          bly_hash(filter, key, length), key,
                                          length);
    if (status == BLY_OK)
        handle_uncount_items(filter, 1);
    return status;
}

bly_status bly_remove(bly_filter *filter, const void *key, size_t length)
{
    if (filter->kind->remove_key != NULL)
        return change_remove_key(filter, key, length);
    return bly_remove_hash(filter, bly_hash(filter, key, length));
}

/* Some of the batch, with a place for what became of each. */
static bly_status change_remove_some(bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     bly_status *each)
{
    const bly_kind *kind = filter->kind;
    if (kind->remove_many != NULL)
        kind->remove_many(filter->image, hashes, n, each);
    else
        for (size_t i = 0; i < n; i++)
            each[i] = kind->remove(filter->image, hashes[i]);

    bly_status first = BLY_OK;
    uint64_t removed = 0;
    for (size_t i = 0; i < n; i++) {
        removed += each[i] == BLY_OK;
        first = first == BLY_OK ? each[i] : first;
    }
    handle_uncount_items(filter, removed);
    return first;
}

bly_status bly_remove_many(bly_filter *filter, const uint64_t *hashes, size_t n,
                           bly_status *each)
{
    if (filter->kind->remove == NULL)
        return handle_unsupported(filter->kind, "remove", BLY_CAN_REMOVE);
    bly_status first = n > 0 ? handle_begin(filter) : BLY_OK;
    if (first != BLY_OK)
        return first;
    bly_status unseen[KEYS_CHUNK];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < KEYS_CHUNK ? n - i : KEYS_CHUNK;
        bly_status status = change_remove_some(filter, hashes + i, some,
                                               each != NULL ? each + i
                                                            : unseen);
        first = first == BLY_OK ? status : first;
    }
    return first;
}

static bly_status change_remove_whole(bly_filter *filter,
                                      const bly_keys *keys, bly_status *each)
{
    bly_status first = BLY_OK;
    for (size_t i = 0; i < keys->n; i++) {
        bly_key key = keys_at(keys, i);
        bly_status status = change_remove_key(filter, key.data, key.length);
        if (status == BLY_EREADONLY)    /* the same for all keys */
            return status;
        if (each != NULL)
            each[i] = status;
        first = first == BLY_OK ? status : first;
    }
    return first;
}

static bly_status change_remove_hashed(bly_filter *filter,
                                       const bly_keys *keys, bly_status *each)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status first = BLY_OK;
    for (size_t i = 0, some; i < keys->n; i += some) {
        some = keys_hash(&filter->hasher, hashes, keys, i);
        bly_status status = bly_remove_many(filter, hashes, some,
                                            each != NULL ? each + i : NULL);
        if (status != BLY_OK && status != BLY_EABSENT && status != BLY_EUNSAFE)
            return status;              /* the same for all keys */
        first = first == BLY_OK ? status : first;
    }
    return first;
}

bly_status bly_remove_keys(bly_filter *filter, const bly_keys *keys,
                           bly_status *each)
{
    bly_status status = keys_check(keys);
    if (status != BLY_OK)
        return status;
    return filter->kind->remove_key != NULL
         ? change_remove_whole(filter, keys, each)
         : change_remove_hashed(filter, keys, each);
}

/* ---- Another size ------------------------------------------------------- */

/* A new image that holds what the filter holds. */
static bly_status change_resized(void **out, const bly_filter *filter,
                                 const order *o)
{
    void *image = order_image(o, &filter->allocator);
    if (image == NULL)
        return handle_no_memory(o->plan.bytes);
    bly_status status = filter->kind->resize(image, filter->image);
    if (status == BLY_OK)
        *out = image;
    else
        memory_release(&filter->allocator, image, (size_t)o->plan.bytes);
    return status;
}

/* May this filter get another size at all? */
static bly_status change_resizable(const bly_filter *filter, uint64_t capacity)
{
    if (filter->kind->resize == NULL)
        return handle_unsupported(filter->kind, "be resized", BLY_CAN_RESIZE);
    if (!filter->writable)
        return status_plain(BLY_EREADONLY);
    if (filter->source != &handle_owned)
        return status_fail(BLY_EPARAM, "a filter that is mapped from its file "
                           "cannot change its size: open it without BLY_MAP, "
                           "resize it and save it");
    if (capacity == 0)
        return status_fail(BLY_EPARAM, "a filter cannot be resized to hold no "
                           "keys: give the number it should hold");
    return BLY_OK;
}

bly_status bly_resize(bly_filter *filter, uint64_t capacity)
{
    order o = {
        .kind = filter->kind,
        .hash = hash_find_field(filter->image + IMAGE_HASH),
        .seed = image_u64(filter->image, IMAGE_SEED),
    };
    bly_status status = change_resizable(filter, capacity);
    if (status == BLY_OK)
        status = filter->kind->resize_plan(&o.plan, filter->image, capacity);
    if (status != BLY_OK)
        return status;
    order_finish(&o);
    void *image = NULL;
    status = change_resized(&image, filter, &o);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    memory_release(&filter->allocator, filter->image, filter->bytes);
    filter->image = image;
    filter->bytes = (size_t)o.plan.bytes;
    return BLY_OK;
}
