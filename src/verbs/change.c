/* change.c - removes keys, resizes and folds filters, and attaches data.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "bloomery/foreign.h"
#include "verbs/keylist.h"
#include "verbs/order.h"
#include "verbs/registry.h"

/* ---- Remove ------------------------------------------------------------ */

/* Sets a message for a key that is absent, which not all kinds do. */
static bly_status change_removed(bly_filter *filter, bly_status status)
{
    if (status == BLY_OK)
        handle_uncount_items(filter, 1);
    return status == BLY_EABSENT || status == BLY_EUNSAFE ? status_plain(status)
                                                          : status;
}

/* Checks that keys can be removed, and begins the change. */
static bly_status change_begin(bly_filter *filter)
{
    if (filter->kind->remove == NULL)
        return handle_unsupported(filter->kind, "remove", BLY_CAN_REMOVE);
    bly_status status = handle_begin(filter);
    if (status == BLY_OK && filter->kind->varying != NULL)
        status = filter->kind->varying->removes(filter->image);
    return status;
}

bly_status bly_remove_hash(bly_filter *filter, uint64_t hash)
{
    bly_status status = change_begin(filter);
    if (status != BLY_OK)
        return status;
    return change_removed(filter, filter->kind->remove(filter->image, hash));
}

/* Removes a key from a kind that takes whole keys. */
static bly_status change_remove_key(bly_filter *filter, const void *key,
                                    size_t length)
{
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    uint64_t hash = bly_hash(filter, key, length);
    status = filter->kind->whole->remove(filter->image, hash, key, length);
    return change_removed(filter, status);
}

bly_status bly_remove(bly_filter *filter, const void *key, size_t length)
{
    if (KIND_HAS(filter->kind, whole, remove))
        return change_remove_key(filter, key, length);
    return bly_remove_hash(filter, bly_hash(filter, key, length));
}

/* The results of a batch. */
typedef struct {
    bly_status  first;          /* the first that is not BLY_OK, its key, and
                                   its message */
    uint64_t    key;
    status_kept why;
    uint64_t    tried, removed;
} change_tally;

static void change_count(change_tally *tally, const bly_status *each, size_t n)
{
    size_t removed = 0, i = 0;
    for (size_t j = 0; j < n; j++)
        removed += each[j] == BLY_OK;
    if (removed < n && tally->first == BLY_OK) {
        while (each[i] == BLY_OK)
            i++;
        tally->first = each[i];
        tally->key = tally->tried + i;
        tally->why = status_keep();
    }
    tally->tried += n;
    tally->removed += removed;
}

/* Restores the message of the first key that could not be removed. */
static bly_status change_told(const change_tally *tally, uint64_t before)
{
    char from[48] = "";
    const char *wrong = tally->first == BLY_EABSENT
                      ? " is not in the filter"
                      : tally->first == BLY_EUNSAFE
                      ? " cannot be removed safely" : ": ";
    if (tally->first == BLY_OK)
        return BLY_OK;
    if (before > 0)
        snprintf(from, sizeof from, " from key %llu on",
                 (unsigned long long)before);
    return status_fail(tally->first, "key %llu of the batch%s%s; of its %llu "
                       "keys%s %llu were removed",
                       (unsigned long long)(before + tally->key),
                       wrong, *wrong == ':' ? tally->why.text : "",
                       (unsigned long long)tally->tried, from,
                       (unsigned long long)tally->removed);
}

/* Removes some of the batch, with a status for each. A filter that takes whole
 * keys refuses the first hash, and then nothing is written. */
static bly_status change_remove_some(bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     bly_status *each, change_tally *tally)
{
    const bly_kind *kind = filter->kind;
    uint64_t before = tally->removed;
    if (kind->remove_many != NULL)
        kind->remove_many(filter->image, hashes, n, each);
    else
        for (size_t i = 0; i < n; i++) {
            bly_status status = kind->remove(filter->image, hashes[i]);
            if (status == BLY_EUNSUPPORTED)
                return status;
            each[i] = status;
        }
    change_count(tally, each, n);
    handle_uncount_items(filter, tally->removed - before);
    return BLY_OK;
}

/* Removes all keys. Returns BLY_OK if all were tried; the tally has the
   results. */
static bly_status change_remove_all(bly_filter *filter, const uint64_t *hashes,
                                    size_t n, bly_status *each,
                                    change_tally *tally)
{
    if (filter->kind->remove == NULL)
        return handle_unsupported(filter->kind, "remove", BLY_CAN_REMOVE);
    bly_status status = n > 0 ? change_begin(filter) : BLY_OK;
    if (status != BLY_OK)
        return status;
    bly_status unseen[KEYS_CHUNK];
    for (size_t i = 0, some; i < n && status == BLY_OK; i += some) {
        some = n - i < KEYS_CHUNK ? n - i : KEYS_CHUNK;
        status = change_remove_some(filter, hashes + i, some,
                                    each != NULL ? each + i : unseen, tally);
        if (status == BLY_OK && i + some < n && task_step(some))
            status = task_status();
    }
    return status;
}

/* Reports BLY_ECANCELED for the keys that a cancelled call did not reach. */
static void change_untried(bly_status *each, size_t n, bly_status status,
                           const change_tally *tally)
{
    for (size_t i = (size_t)tally->tried; each != NULL && i < n
                                          && status == BLY_ECANCELED; i++)
        each[i] = BLY_ECANCELED;
}

bly_status bly_remove_hashes(bly_filter *filter, const uint64_t *hashes,
                             size_t n, bly_status *each)
{
    change_tally tally = { .tried = 0 };
    task t;
    task_begin(&t, &filter->progress, n);
    bly_status status = change_remove_all(filter, hashes, n, each, &tally);
    change_untried(each, n, status, &tally);
    return task_end(&t, status == BLY_OK ? change_told(&tally, 0) : status);
}

static bly_status change_remove_whole(bly_filter *filter, const bly_keys *keys,
                                      bly_status *each, change_tally *tally)
{
    for (size_t i = 0; i < keys->n; i++) {
        bly_key key = keylist_at(keys, i);
        if (i % KEYS_CHUNK == 0 && i > 0 && task_step(KEYS_CHUNK))
            return task_status();
        bly_status status = change_remove_key(filter, key.data, key.length);
        if (status == BLY_EREADONLY)    /* the same for all keys */
            return status;
        if (each != NULL)
            each[i] = status;
        change_count(tally, &status, 1);
    }
    return BLY_OK;
}

static bly_status change_remove_hashed(bly_filter *filter,
                                       const bly_keys *keys, bly_status *each,
                                       change_tally *tally)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status status = BLY_OK;
    for (size_t i = 0, some; i < keys->n && status == BLY_OK; i += some) {
        some = keylist_hash(&filter->hasher, hashes, keys, i);
        status = change_remove_all(filter, hashes, some,
                                   each != NULL ? each + i : NULL, tally);
        if (status == BLY_OK && i + some < keys->n && task_step(some))
            status = task_status();
    }
    return status;
}

bly_status bly_remove_many(bly_filter *filter, const bly_keys *keys,
                           bly_status *each)
{
    change_tally tally = { .tried = 0 };
    task t;
    task_begin(&t, &filter->progress, keys->n);
    bly_status status = keylist_check(keys);
    if (status == BLY_OK)
        status = KIND_HAS(filter->kind, whole, remove)
               ? change_remove_whole(filter, keys, each, &tally)
               : change_remove_hashed(filter, keys, each, &tally);
    change_untried(each, keys->n, status, &tally);
    return task_end(&t, status == BLY_OK ? change_told(&tally, keys->before)
                                         : status);
}

/* ---- Another size ------------------------------------------------------- */

/* Checks whether the filter can be resized at all. */
static bly_status change_resizable(const bly_filter *filter)
{
    if (!filter->writable)
        return handle_read_only();
    if (filter->source != &handle_owned)
        return status_fail(BLY_EPARAM, "a filter that is mapped from its file "
                           "cannot change its size: open it without BLY_MAP, "
                           "change it and save it");
    return BLY_OK;
}

/* Replaces the filter's image, or frees the new one on an error. */
static bly_status change_replace(bly_filter *filter, void *image,
                                 uint64_t bytes, bly_status status)
{
    status = task_status_or(status);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status != BLY_OK) {
        memory_release(&filter->allocator, image, (size_t)bytes);
        return status;
    }
    handle_replace(filter, image, (size_t)bytes);
    return BLY_OK;
}

static bly_status change_resize(bly_filter *filter, order *o,
                                uint64_t capacity)
{
    void *image;
    bly_status status = order_resized(o, &image, filter, capacity);
    return status != BLY_OK ? status
         : change_replace(filter, image, o->plan.bytes, BLY_OK);
}

bly_status bly_resize(bly_filter *filter, uint64_t capacity)
{
    order o = order_like(filter);
    if (filter->kind->resizing == NULL)
        return handle_unsupported(filter->kind, "be resized", BLY_CAN_RESIZE);
    bly_status status = change_resizable(filter);
    if (status == BLY_OK && capacity == 0)
        status = status_fail(BLY_EPARAM, "a filter cannot be resized to hold "
                             "no keys: give the number that it should hold");
    if (status != BLY_OK)
        return status;
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, change_resize(filter, &o, capacity));
}

/* Returns the filter's own spec, with fewer keys and no size. */
static kind_spec change_fold_spec(const bly_filter *filter, uint64_t times)
{
    uint64_t capacity = image_u64(filter->image, IMAGE_CAPACITY);
    kind_spec spec = kind_spec_plain(filter->kind, capacity, 0.5);
    if (times > 1)
        spec.capacity = capacity / times + (capacity < times);
    return spec;
}

bly_status bly_fold(bly_filter *filter, uint64_t times)
{
    const bly_kind *kind = filter->kind;
    order o = order_like(filter);
    if (kind->folding == NULL)
        return handle_unsupported(kind, "be folded", BLY_CAN_FOLD);
    kind_spec spec = change_fold_spec(filter, times);
    bly_status status = change_resizable(filter);
    if (status == BLY_OK)
        status = kind->folding->spec(&spec, filter->image, times);
    if (status == BLY_OK)
        status = kind->plan(&o.plan, &spec);
    if (status != BLY_OK)
        return status;
    order_finish(&o);
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    void *image = order_image(&o, &filter->allocator);
    if (image != NULL)
        kind->folding->fold(image, filter->image);
    status = image == NULL ? handle_no_memory(o.plan.bytes)
           : change_replace(filter, image, o.plan.bytes, BLY_OK);
    return task_end(&t, status);
}

/* ---- Attached data ------------------------------------------------------ */

static bly_status change_no_data(const bly_kind *kind)
{
    char able[REGISTRY_LINE] = "";
    for (const bly_kind *const *k = registry_foreign; *k != NULL; k++) {
        size_t used = strlen(able);
        if ((*k)->foreign->attaches)
            snprintf(able + used, sizeof able - used, " %s", (*k)->name);
    }
    return status_fail(BLY_EUNSUPPORTED, "a filter of kind %s has no place for "
                       "attached data: the formats that have one are%s",
                       kind->name, able);
}

/* Finds where the attached data begins in the image. Others may write to a
 * mapped image, so its numbers are read once and then checked. */
static bly_status change_data_at(uint64_t *at, const bly_filter *filter)
{
    const kind_foreign *foreign = filter->kind->foreign;
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    if (foreign == NULL || !foreign->attaches)
        return change_no_data(filter->kind);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(filter->image, i);
    bly_status status = kind_check_reach(foreign, geometry,
                                         filter->bytes - IMAGE_HEADER);
    if (status == BLY_OK)
        *at = IMAGE_HEADER + foreign->reach(geometry);
    return status;
}

bly_status bly_attached(const void **data, size_t *bytes,
                        const bly_filter *filter)
{
    uint64_t at;
    bly_status status = change_data_at(&at, filter);
    if (status != BLY_OK)
        return status;
    *data = filter->image + at;
    *bytes = filter->bytes - (size_t)at;
    return BLY_OK;
}

/* The data may be the data attached now, or a part of it. */
bly_status bly_attach(bly_filter *filter, const void *data, size_t bytes)
{
    uint64_t at = 0, all = 0;
    bly_status status = change_data_at(&at, filter);
    if (status == BLY_OK)
        status = change_resizable(filter);
    if (status == BLY_OK)
        status = sizes_add(&all, at, bytes) ? image_check_size(all)
                                            : status_plain(BLY_ETOOBIG);
    if (status != BLY_OK)
        return status;
    uint8_t *image = memory_raw(&filter->allocator, all);
    if (image == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the filter and its data "
                           "take %.4g MiB a second time while data is "
                           "attached: attach less, or end other programs",
                           (double)all / (1 << 20));
    task t;
    task_begin(&t, &filter->progress, all);
    task_copy(image, filter->image, (size_t)at);
    if (bytes > 0)
        task_copy(image + at, data, bytes);
    image_set_u64(image, IMAGE_BYTES, all);
    return task_end(&t, change_replace(filter, image, all, BLY_OK));
}
