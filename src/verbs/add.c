/* add.c - adds keys, with or without labels.
 *
 * Each verb checks whether the kind has the ability, hashes the key, and calls
 * the slot. If a batch slot is empty it calls the single one in a loop. It
 * always reports how many keys were added, even after an error.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "verbs/keylist.h"
#include "verbs/nested.h"
#include "verbs/order.h"

/* ---- Growing ----------------------------------------------------------- */

/* Gives the image of a kind that grows in steps its next bytes. */
static bly_status add_enlarge(bly_filter *filter, uint64_t bytes)
{
    if (bytes == filter->bytes)
        return BLY_OK;
    void *image = memory_enlarged(&filter->allocator, filter->image,
                                  filter->bytes, bytes);
    if (image == NULL)
        return handle_no_memory(bytes);
    filter->image = image;
    filter->bytes = (size_t)bytes;
    image_set_u64(image, IMAGE_BYTES, bytes);
    return BLY_OK;
}

/* Writes the image anew at a larger size, as its next step did not fit. If that
 * does not fit either, the step has said why. */
static bly_status add_anew(bly_filter *filter)
{
    order o = order_like(filter);
    void *image;
    status_kept why = status_keep();
    task *outer = task_aside();
    bly_status status = order_resized(&o, &image, filter, 0);
    task_back(outer);
    if (status == BLY_OK)
        handle_replace(filter, image, (size_t)o.plan.bytes);
    if (status == BLY_EFULL)
        status_restore(&why);
    return status;
}

/* Takes a step of growing. */
static bly_status add_step(bly_filter *filter, uint64_t bytes)
{
    const kind_growing *growing = filter->kind->growing;
    uint64_t room = growing->scratch(filter->image);
    void *scratch = memory_raw(&filter->allocator, room);
    if (scratch == NULL)
        return handle_no_memory(room);
    bly_status status = add_enlarge(filter, bytes);
    if (status == BLY_OK)
        status = growing->grow(filter->image, scratch);
    memory_release(&filter->allocator, scratch, (size_t)room);
    handle_choose(filter);
    if (status == BLY_EFULL && filter->source == &handle_owned)
        status = add_anew(filter);
    return status;
}

/* Enlarges the image of a full filter, if its kind does that. */
static bly_status add_grow(bly_filter *filter)
{
    const bly_kind *kind = filter->kind;
    uint64_t bytes = 0;
    bly_status status = kind->growing->plan(&bytes, filter->image);
    if (status == BLY_OK && bytes != filter->bytes
        && filter->source != &handle_owned)
        return status_fail(BLY_EFULL, "the filter is full, and one that is "
                           "mapped from its file cannot grow: open it without "
                           "BLY_MAP, add and save it");
    if (status == BLY_OK)
        status = handle_allows(filter, bytes);
    if (status != BLY_OK)
        return status;
    if (kind->growing->scratch != NULL)
        return add_step(filter, bytes);
    uint8_t *image = memory_zeroed(&filter->allocator, bytes);
    if (image == NULL)
        return handle_no_memory(bytes);
    memcpy(image, filter->image, filter->bytes);
    image_set_u64(image, IMAGE_BYTES, bytes);
    status = kind->growing->grow(image, NULL);
    if (status != BLY_OK) {
        memory_release(&filter->allocator, image, (size_t)bytes);
        return status;
    }
    handle_replace(filter, image, (size_t)bytes);
    return BLY_OK;
}

/* ---- A key ------------------------------------------------------------- */

static bly_status add_one(bly_filter *filter, uint64_t hash)
{
    return filter->sharing != NULL ? filter->sharing->add(filter->image, hash)
                                   : filter->kind->add(filter->image, hash);
}

bly_status bly_add_hash(bly_filter *filter, uint64_t hash)
{
    const bly_kind *kind = filter->kind;
    if (kind->add == NULL)
        return handle_unsupported(kind, "add", BLY_CAN_ADD);
    if (filter->away != NULL)
        return bly_add_hashes(filter, &hash, 1, NULL, NULL);
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    status = add_one(filter, hash);
    while (status == BLY_EFULL && kind->growing != NULL) {
        status = add_grow(filter);
        if (status != BLY_OK)
            break;
        status = add_one(filter, hash);
    }
    if (status >= 0)
        handle_count_items(filter, 1);
    return status;
}

/* Adds a key to a kind that takes whole keys. */
static bly_status add_key(bly_filter *filter, const void *key, size_t length)
{
    uint64_t hash = keys_hash_whole(filter, key, length);
    bly_status status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->whole->add(filter->image, hash, key, length);
    while (status == BLY_EFULL && filter->kind->growing != NULL) {
        status = add_grow(filter);
        if (status != BLY_OK)
            break;
        status = filter->kind->whole->add(filter->image, hash, key, length);
    }
    if (status >= 0)
        handle_count_items(filter, 1);
    return status;
}

bly_status bly_add(bly_filter *filter, const void *key, size_t length)
{
    if (KIND_HAS(filter->kind, whole, add))
        return add_key(filter, key, length);
    return bly_add_hash(filter, bly_hash(filter, key, length));
}

/* ---- Many -------------------------------------------------------------- */

/* Adds a batch with the kind's own function, or in a loop over the single one;
 * `seen` may be NULL. */
static bly_status add_batch(bly_filter *filter, const uint64_t *hashes,
                            size_t n, bool *seen, size_t *done)
{
    const bly_kind *kind = filter->kind;
    void *image = filter->image;
    if (filter->away != NULL)
        return filter->away->add_many(filter, hashes, n, seen, done);
    if (seen == NULL && filter->sharing != NULL)
        return filter->sharing->add_many(image, hashes, n, done);
    if (seen == NULL && filter->sharing == NULL && kind->add_many != NULL)
        return kind->add_many(image, hashes, n, done);
    if (seen != NULL && filter->sharing == NULL && kind->add_each != NULL)
        return kind->add_each(image, hashes, n, seen, done);

    for (*done = 0; *done < n; ++*done) {
        bly_status status = add_one(filter, hashes[*done]);
        if (status < 0)
            return status;
        if (seen != NULL)
            seen[*done] = status == BLY_SEEN;
    }
    return BLY_OK;
}

/* Adds a batch, in steps if the call may be cancelled. */
static bly_status add_in_steps(bly_filter *filter, const uint64_t *hashes,
                               size_t n, bool *seen, size_t *done)
{
    if (n <= TASK_KEYS || task_share() == NULL)
        return add_batch(filter, hashes, n, seen, done);
    bly_status status = BLY_OK;
    for (*done = 0; *done < n && status == BLY_OK; ) {
        size_t some = n - *done < TASK_KEYS ? n - *done : TASK_KEYS, in = 0;
        status = add_batch(filter, hashes + *done, some,
                           seen != NULL ? seen + *done : NULL, &in);
        *done += in;
        task_step(in);
        if (status == BLY_OK && *done < n)
            status = task_status();
    }
    return status;
}

/* Adds a whole batch, and grows the filter on the way if its kind does that. */
static bly_status add_all(bly_filter *filter, const uint64_t *hashes, size_t n,
                          bool *seen, size_t *done)
{
    *done = 0;
    if (filter->kind->add == NULL)
        return handle_unsupported(filter->kind, "add", BLY_CAN_ADD);
    if (n == 0)
        return BLY_OK;
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    status = add_in_steps(filter, hashes, n, seen, done);
    while (status == BLY_EFULL && filter->kind->growing != NULL) {
        size_t more = 0;
        status = add_grow(filter);
        if (status != BLY_OK)           /* it may be unable to grow */
            break;
        status = add_in_steps(filter, hashes + *done, n - *done,
                              seen != NULL ? seen + *done : NULL, &more);
        *done += more;
    }
    handle_count_items(filter, *done);
    return status;
}

/* Reports the number of added keys, if the caller wants it. */
static void add_told(size_t *done, size_t in)
{
    if (done != NULL)
        *done = in;
}

bly_status bly_add_hashes(bly_filter *filter, const uint64_t *hashes, size_t n,
                          bool *seen, size_t *done)
{
    size_t in;
    task t;
    task_begin(&t, &filter->progress, n);
    bly_status status = add_all(filter, hashes, n, seen, &in);
    add_told(done, in);
    return task_end(&t, status);
}

static bly_status add_whole(bly_filter *filter, const bly_keys *keys,
                            bool *seen, size_t *in)
{
    for (*in = 0; *in < keys->n; ++*in) {
        bly_key key = keylist_at(keys, *in);
        if (*in % KEYS_CHUNK == 0 && *in > 0 && task_step(KEYS_CHUNK))
            return task_status();
        bly_status status = add_key(filter, key.data, key.length);
        if (status < 0)
            return status;
        if (seen != NULL)
            seen[*in] = status == BLY_SEEN;
    }
    return BLY_OK;
}

static bly_status add_hashed(bly_filter *filter, const bly_keys *keys,
                             bool *seen, size_t *in)
{
    uint64_t hashes[KEYS_CHUNK];
    bly_status status = filter->kind->add == NULL
                      ? handle_unsupported(filter->kind, "add",
                                           BLY_CAN_ADD) : BLY_OK;
    for (*in = 0; *in < keys->n && status >= 0; ) {
        size_t some = keylist_hash(&filter->hasher, hashes, keys, *in), done;
        status = add_all(filter, hashes, some,
                         seen != NULL ? seen + *in : NULL, &done);
        *in += done;
        if (status >= 0 && *in < keys->n && task_step(done))
            status = task_status();
    }
    return status;
}

bly_status bly_add_many(bly_filter *filter, const bly_keys *keys, bool *seen,
                        size_t *done)
{
    size_t in = 0;
    task t;
    task_begin(&t, &filter->progress, keys->n);
    bly_status status = keylist_check(keys);
    if (status == BLY_OK)
        status = KIND_HAS(filter->kind, whole, add)
               ? add_whole(filter, keys, seen, &in)
               : add_hashed(filter, keys, seen, &in);
    add_told(done, in);
    return task_end(&t, status);
}

/* ---- With labels ------------------------------------------------------- */

static bly_status add_labels_check(const bly_filter *filter)
{
    return filter->kind->labels == NULL
         ? handle_unsupported(filter->kind, "store labels", BLY_CAN_LABEL)
         : form_labels_check(bly_form_of(filter));
}

bly_status bly_put_hash(bly_filter *filter, uint64_t hash, uint64_t label)
{
    bly_status status = add_labels_check(filter);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->labels->put(filter->image, hash, label);
    if (status >= 0 && filter->kind->add != NULL)
        handle_count_items(filter, 1);
    return status;
}

bly_status bly_put(bly_filter *filter, const void *key, size_t length,
                   uint64_t label)
{
    return bly_put_hash(filter, bly_hash(filter, key, length), label);
}

static bly_status add_put_some(bly_filter *filter, const uint64_t *hashes,
                               const uint64_t *labels, size_t n, size_t *done)
{
    const bly_kind *kind = filter->kind;
    bly_status status = BLY_OK;
    if (kind->labels->put_many != NULL)
        return kind->labels->put_many(filter->image, hashes, labels, n, done);
    for (*done = 0; *done < n && status >= 0; *done += status >= 0)
        status = kind->labels->put(filter->image, hashes[*done], labels[*done]);
    return status;
}

static bly_status add_put_all(bly_filter *filter, const uint64_t *hashes,
                              const uint64_t *labels, size_t n, size_t *done)
{
    *done = 0;
    bly_status status = add_labels_check(filter);
    if (status == BLY_OK && n > 0)
        status = handle_begin(filter);
    while (*done < n && status >= 0) {
        size_t some = n - *done < TASK_KEYS ? n - *done : TASK_KEYS, in = 0;
        status = add_put_some(filter, hashes + *done, labels + *done, some,
                              &in);
        *done += in;
        task_step(in);
        if (status >= 0 && *done < n)
            status = task_status();
    }
    if (filter->kind->add != NULL)
        handle_count_items(filter, *done);
    return status < 0 ? status : BLY_OK;
}

/* Names the key at which a batch of labels stopped. */
static bly_status add_put_stopped(bly_status status, uint64_t key)
{
    char others[64] = "nothing was changed";
    if (key == 1)
        snprintf(others, sizeof others, "the one before it was changed");
    if (key > 1)
        snprintf(others, sizeof others, "the %llu before it were changed",
                 (unsigned long long)key);
    if (status == BLY_EABSENT)
        return status_fail(status, "key %llu of the batch is not in the "
                           "filter; %s", (unsigned long long)key, others);
    if (status != BLY_EPARAM)
        return status;
    status_kept kept = status_keep();
    return status_fail(status, "key %llu of the batch: %s; %s",
                       (unsigned long long)key, kept.text, others);
}

bly_status bly_put_hashes(bly_filter *filter, const uint64_t *hashes,
                          const uint64_t *labels, size_t n, size_t *done)
{
    size_t in;
    task t;
    task_begin(&t, &filter->progress, n);
    bly_status status = add_put_all(filter, hashes, labels, n, &in);
    add_told(done, in);
    return task_end(&t, add_put_stopped(status, in));
}

bly_status bly_put_many(bly_filter *filter, const bly_keys *keys,
                        const uint64_t *labels, size_t *done)
{
    uint64_t hashes[KEYS_CHUNK];
    size_t in = 0;
    task t;
    bly_status status = keylist_check(keys);
    if (status != BLY_OK) {
        add_told(done, in);
        return status;
    }
    task_begin(&t, &filter->progress, keys->n);
    status = add_labels_check(filter);
    while (in < keys->n && status >= 0) {
        size_t some = keylist_hash(&filter->hasher, hashes, keys, in), more;
        status = add_put_all(filter, hashes, labels + in, some, &more);
        in += more;
        if (status == BLY_OK && in < keys->n)
            status = task_status();
    }
    add_told(done, in);
    return task_end(&t, add_put_stopped(status, keys->before + in));
}
