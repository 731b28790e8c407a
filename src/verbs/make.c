/* make.c - makes filters: empty ones, copies, and filters built from keys.
 */
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "base/threads.h"
#include "bits/sort.h"
#include "verbs/keylist.h"
#include "verbs/nested.h"
#include "verbs/order.h"
#include "verbs/registry.h"

/* Returns the filter if nothing failed, or frees it. */
static bly_status make_done(bly_filter **out, bly_filter *filter,
                            bly_status status)
{
    if (status == BLY_OK)
        status = task_status();
    if (status == BLY_OK)
        *out = filter;
    else
        bly_free(filter);
    return status;
}

/* Makes a handle that owns a finished image of `bytes` bytes, which is freed on
 * an error. */
static bly_status make_own(bly_filter **out, const order *o, void *image,
                           size_t bytes)
{
    bly_filter *filter;
    bly_status status = handle_own(&filter, o->kind, image, bytes,
                                   &o->options);
    if (status != BLY_OK)
        return status;
    filter->changed = true;             /* its checksums are still to be made */
    filter->bare = o->kind->foreign != NULL;
    if ((o->flags & BLY_SHARED) != 0)
        status = handle_share(filter);
    return make_done(out, filter, status);
}

/* ---- Empty ------------------------------------------------------------- */

static bly_status make_new(bly_filter **out, const order *o)
{
    size_t bytes = (size_t)o->plan.bytes;
    void *image = order_image(o, &o->options.allocator);
    bly_status status = BLY_OK;
    if (image == NULL)
        return handle_no_memory(o->plan.bytes);
    if (o->kind->format != NULL)
        status = o->kind->format(image, &o->asked);
    status = task_status_or(status);
    if (status == BLY_OK)
        return make_own(out, o, image, bytes);
    memory_release(&o->options.allocator, image, bytes);
    return status;
}

static bly_status make_new_task(bly_filter **out, const order *o)
{
    task t;
    task_begin(&t, o->options.progress, o->plan.bytes);
    return task_end(&t, make_new(out, o));
}

bly_status bly_new(bly_filter **out, const char *kind, const bly_spec *spec)
{
    order o;
    bly_status status = order_make(&o, kind, spec, NULL);
    if (status == BLY_OK && o.kind->add == NULL)
        status = status_fail(BLY_EUNSUPPORTED, "kind %s cannot be made empty: "
                             "build it from all its keys (bly_build)",
                             o.kind->name);
    if (status == BLY_OK)
        status = make_new_task(out, &o);
    order_end(&o);
    return status;
}

/* Checks a plan, which may come from anywhere: its filter must be one that
 * could be opened. The check may read all of it, but allocates nothing before
 * it passes. */
static bly_status make_check_plan(const order *o)
{
    size_t bytes = (size_t)o->plan.bytes;
    if (o->plan.bytes < IMAGE_HEADER || !sizes_fits(o->plan.bytes))
        return status_fail(BLY_EPARAM, "the plan has no size: plan it "
                           "(bly_plan)");
    void *image = order_image(o, &system_sparse);
    if (image == NULL)
        return handle_no_memory(bytes);
    image_unseal(image);
    bly_status status = image_check_header(image, bytes);
    if (status == BLY_OK)
        status = o->kind->check(image);
    memory_release(&system_sparse, image, bytes);
    return status == BLY_OK ? BLY_OK
         : status_fail(BLY_EPARAM, "the plan is not that of a filter of kind "
                       "%s: plan it (bly_plan)", o->kind->name);
}

/* Recovers the order that a plan came from, as far as possible. Returns
 * BLY_EPARAM if its kind is more than a name. */
static bly_status make_read_plan(order *o, const bly_plan_t *plan,
                                 const bly_spec *spec)
{
    char kind[sizeof plan->kind + 1] = { 0 };
    memcpy(kind, plan->kind, sizeof plan->kind);
    bly_status status = order_begin(o, kind, spec);
    if (status == BLY_OK && strcmp(kind, o->kind->name) != 0)
        status = status_fail(BLY_EPARAM, "the plan's kind is '%s', but options "
                             "belong in the plan's geometry: plan it "
                             "(bly_plan)", kind);
    if (status == BLY_OK && memcmp(plan->reserved, o->plan.reserved,
                                   sizeof plan->reserved) != 0)
        status = status_fail(BLY_EPARAM, "the plan has values in reserved "
                             "fields: link the library that made it");
    o->plan = *plan;
    return status;
}

bly_status bly_new_planned(bly_filter **out, const bly_plan_t *plan,
                           const bly_spec *spec)
{
    order o;
    bly_status status = make_read_plan(&o, plan, spec);
    if (status == BLY_OK && (o.kind->add == NULL || o.kind->format != NULL))
        status = handle_unsupported(o.kind, "be made from a plan alone", 0);
    if (status == BLY_OK)
        status = make_check_plan(&o);
    if (status == BLY_OK)
        status = make_new_task(out, &o);
    order_end(&o);
    return status;
}

bly_status make_head(uint8_t **head, const bly_kind **kind, const char *name,
                       const bly_spec *spec, const bly_allocator *allocator)
{
    order o;
    bly_status status = order_make(&o, name, spec, NULL);
    order_end(&o);                      /* no key is hashed here */
    if (status == BLY_OK && o.kind->pages == NULL)
        status = handle_unsupported(o.kind, "be used page by page",
                                    BLY_CAN_PAGE);
    if (status == BLY_OK && (o.flags & BLY_SHARED) != 0)
        status = handle_unsupported(o.kind, "be shared among threads",
                                    BLY_CAN_SHARE);
    if (status == BLY_OK)
        status = image_check_size(o.plan.bytes);
    if (status != BLY_OK)
        return status;
    uint8_t *image = memory_zeroed(allocator, KIND_PAGE_MOST);
    if (image == NULL)
        return status_plain(BLY_ENOMEM);
    order_format(&o, image);
    status = o.kind->format(image, &o.asked);
    if (status != BLY_OK) {
        memory_release(allocator, image, KIND_PAGE_MOST);
        return status;
    }
    *kind = o.kind;
    *head = image;
    return BLY_OK;
}

/* ---- Copies ------------------------------------------------------------ */

/* Returns options for a filter made from this one: it has the same hash. */
static bly_status make_options(handle_options *out, const bly_filter *filter,
                               const bly_options *options)
{
    bly_status status = handle_options_read(out, options);
    out->hasher = &filter->hasher;
    if (out->memory_limit == 0)
        out->memory_limit = filter->memory_limit;
    return status;
}

/* Checks that an empty filter can be derived from this one alone. */
static bly_status make_can_empty(const bly_filter *filter, const char *verb)
{
    const bly_kind *kind = filter->kind;
    bool fills = kind->format == NULL || kind->like != NULL;
    if (kind->add != NULL && fills && kind->growing == NULL)
        return BLY_OK;
    return handle_unsupported(kind, verb, 0);
}

/* Makes the image of an empty filter with this one's plan, without checksums.
 */
static bly_status make_empty(uint8_t **out, const bly_filter *filter,
                             const bly_allocator *allocator)
{
    uint8_t *image = memory_zeroed(allocator, filter->bytes);
    if (image == NULL)
        return handle_no_memory(filter->bytes);
    handle_read(filter, image, IMAGE_HEADER);
    image_set_u64(image, IMAGE_ITEMS, 0);
    if (filter->kind->like != NULL)
        filter->kind->like(image, filter->image);
    *out = image;
    return BLY_OK;
}

bly_status bly_like(bly_filter **out, const bly_filter *filter,
                    const bly_options *given)
{
    handle_options options;
    bly_filter *like;
    uint8_t *image = NULL;
    bly_status status = make_options(&options, filter, given);
    if (status == BLY_OK)
        status = handle_here(filter, "used as a model");
    if (status == BLY_OK)
        status = make_can_empty(filter, "be made from another filter's plan");
    if (status == BLY_OK)
        status = make_empty(&image, filter, &options.allocator);
    if (status == BLY_OK)
        status = handle_own(&like, filter->kind, image, filter->bytes,
                            &options);
    if (status != BLY_OK)
        return status;
    like->changed = true;               /* its checksums are still to be made */
    like->bare = filter->bare;
    *out = like;
    return BLY_OK;
}

bly_status bly_clear(bly_filter *filter)
{
    uint8_t *empty = NULL;
    bly_status status = handle_here(filter, "cleared");
    if (status == BLY_OK)
        status = make_can_empty(filter, "be cleared");
    if (status == BLY_OK && filter->kind->like != NULL)
        status = make_empty(&empty, filter, &filter->allocator);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status == BLY_OK && empty != NULL)
        memcpy(filter->image + IMAGE_HEADER, empty + IMAGE_HEADER,
               filter->bytes - IMAGE_HEADER);
    else if (status == BLY_OK)
        memset(filter->image + IMAGE_HEADER, 0, filter->bytes - IMAGE_HEADER);
    if (status == BLY_OK)
        filter->items = 0;
    memory_release(&filter->allocator, empty, filter->bytes);
    return status;
}

bly_status bly_copy(bly_filter **out, const bly_filter *filter,
                    const bly_options *given)
{
    handle_options options;
    bly_filter *copy;
    bly_status status = make_options(&options, filter, given);
    if (status == BLY_OK)
        status = handle_here(filter, "copied");
    if (status != BLY_OK)
        return status;
    void *image = memory_raw(&options.allocator, filter->bytes);
    if (image == NULL)
        return handle_no_memory(filter->bytes);
    task t;
    task_begin(&t, options.progress, filter->bytes);
    handle_read(filter, image, filter->bytes);
    status = task_end(&t, task_status());
    if (status == BLY_OK)
        status = handle_own(&copy, filter->kind, image, filter->bytes,
                            &options);
    else
        memory_release(&options.allocator, image, filter->bytes);
    if (status != BLY_OK)
        return status;
    copy->items = filter->items;
    copy->changed = true;               /* as it may have been in the other  */
    copy->sharing = filter->sharing;
    copy->bare = filter->bare;
    *out = copy;
    return BLY_OK;
}

/* ---- Built of their keys ------------------------------------------------ */

/* Calls the kind's own build on an existing image. */
static bly_status make_build_image(void *image, const order *o,
                                   const kind_keys *keys)
{
    const bly_allocator *allocator = &o->options.allocator;
    kind_bench bench = { .bytes = (size_t)o->plan.scratch,
                         .threads = threads_count(o->options.threads) };
    bly_status status = BLY_OK;
    if (o->plan.scratch > 0)
        bench.scratch = memory_raw(allocator, o->plan.scratch);
    if (o->plan.scratch > 0 && bench.scratch == NULL) {
        if (o->kind->add == NULL)
            return handle_no_memory(o->plan.bytes + o->plan.scratch);
        bench.bytes = 0;
    }
    if (o->kind->format != NULL)
        status = o->kind->format(image, &o->asked);
    if (status == BLY_OK)
        status = task_status_or(o->kind->building->build(image, keys, &bench));
    memory_release(allocator, bench.scratch, bench.bytes);
    return status;
}

/* Moves the image to a smaller block if the kind used fewer bytes than planned.
 * If memory is short, *bytes and the image stay as they are for now. */
static void *make_trim(void *image, size_t *bytes,
                       const bly_allocator *allocator)
{
    size_t used = (size_t)image_u64(image, IMAGE_BYTES);
    void *smaller = used < *bytes ? memory_raw(allocator, used) : NULL;
    if (smaller == NULL)
        return image;
    memcpy(smaller, image, used);
    memory_release(allocator, image, *bytes);
    *bytes = used;
    return smaller;
}

static bly_status make_build(bly_filter **out, const order *o,
                             const kind_keys *keys)
{
    const bly_allocator *allocator = &o->options.allocator;
    size_t bytes = (size_t)o->plan.bytes;
    void *image = order_image(o, allocator);
    if (image == NULL)
        return handle_no_memory(o->plan.bytes);
    bly_status status = make_build_image(image, o, keys);
    if (status == BLY_OK)
        image = make_trim(image, &bytes, allocator);
    if (status == BLY_OK && image_u64(image, IMAGE_BYTES) != bytes)
        status = handle_no_memory(bytes);
    if (status != BLY_OK) {
        memory_release(allocator, image, bytes);
        return status;
    }
    image_set_u64(image, IMAGE_ITEMS, o->items);
    return make_own(out, o, image, bytes);
}

/* Makes an empty filter and fills it, for a kind without a build. */
static bly_status make_fill(bly_filter **out, const order *o,
                            const kind_keys *keys)
{
    bly_filter *filter;
    bly_status status = make_new(&filter, o);
    if (status != BLY_OK)
        return status;
    status = keys->labels == NULL
           ? bly_add_hashes(filter, keys->hashes, keys->n, NULL, NULL)
           : bly_put_hashes(filter, keys->hashes, keys->labels, keys->n, NULL);
    return make_done(out, filter, status);
}

/* Makes the default order for that many keys. */
static bly_status make_order(order *o, const char *name, const bly_spec *spec,
                             const kind_keys *keys)
{
    bly_spec filled = *order_spec(spec);
    uint64_t option[KIND_OPTIONS];
    const bly_kind *kind;
    bly_status status = registry_parse(&kind, option, name);
    if (status != BLY_OK)
        return status;
    if (filled.capacity == 0 || (kind->add == NULL && keys->n > 0))
        filled.capacity = keys->n;
    return order_make(o, name, &filled, keys);
}

static bly_status make_from(bly_filter **out, const order *o,
                            const kind_keys *keys)
{
    return o->kind->building != NULL ? make_build(out, o, keys)
                                  : make_fill(out, o, keys);
}

/* Number of hashes whose bits are examined, and the number of distinct ones
 * that all agree in a bit only once in 10^17 times. */
enum { MAKE_LOOK = 256, MAKE_DIFFERENT = 64 };

static bool make_many_differ(uint64_t *hashes, size_t n)
{
    size_t different = n > 0;
    sort_insert(hashes, n);
    for (size_t i = 1; i < n; i++)
        different += hashes[i] != hashes[i - 1];
    return different >= MAKE_DIFFERENT;
}

/* Refuses unmixed integers instead of hashes, for a kind that does not mix. */
static bly_status make_check_hashes(const uint64_t *hashes, size_t n)
{
    uint64_t some[MAKE_LOOK], any = 0, all = ~UINT64_C(0);
    size_t m = 0;
    for (size_t i = 0; i < n && m < MAKE_LOOK; i += (n - 1) / MAKE_LOOK + 1) {
        some[m++] = hashes[i];
        any |= hashes[i];
        all &= hashes[i];
    }
    if ((all | ~any) == 0 || !make_many_differ(some, m))
        return BLY_OK;
    return status_fail(BLY_EPARAM, "these are not hashes, because some bits "
                       "are the same in all of them: mix integers (bly_mix64), "
                       "or build from the keys themselves");
}

/* Fills a kind that may need whole keys. */
static bly_status make_fill_whole(bly_filter **out, const order *o,
                                  const bly_keys *keys)
{
    bly_filter *filter;
    bly_status status = make_new(&filter, o);
    if (status != BLY_OK)
        return status;
    status = bly_add_many(filter, keys, NULL, NULL);
    return make_done(out, filter, status);
}

/* Share of a build's time spent on hashing. */
static const double MAKE_HASHING = 0.1;

/* Builds from the hashes of the keys, kept for the duration of the call. */
static bly_status make_from_hashed(bly_filter **out, const order *o,
                                   const bly_keys *keys)
{
    const bly_allocator *allocator = &o->options.allocator;
    uint64_t bytes = ((uint64_t)keys->n + 1) * sizeof(uint64_t);
    uint64_t *hashes = memory_raw(allocator, bytes);
    if (hashes == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the hashes of the keys "
                           "take %.4g MiB", (double)bytes / (1 << 20));
    task_phase(MAKE_HASHING, keys->n);
    keylist_hash_all(&o->hasher, hashes, keys);
    task_phase(1 - MAKE_HASHING, keys->n);
    task_part whole = task_down();
    kind_keys hashed = { .hashes = hashes, .labels = keys->labels,
                         .n = keys->n };
    bly_status status = task_status();
    if (status == BLY_OK)
        status = make_from(out, o, &hashed);
    task_up(whole);
    memory_release(allocator, hashes, (size_t)bytes);
    return status;
}

/* Builds from keys or hashes, which were checked. */
static bly_status make_of_keys(bly_filter **out, const order *o,
                               const bly_keys *keys)
{
    kind_keys hashed = { .hashes = keys->hashes, .labels = keys->labels,
                         .n = keys->n };
    if (keylist_hashed(keys))
        return make_from(out, o, &hashed);
    return KIND_HAS(o->kind, whole, add) && keys->labels == NULL
         ? make_fill_whole(out, o, keys) : make_from_hashed(out, o, keys);
}

bly_status bly_build(bly_filter **out, const char *kind, const bly_spec *spec,
                     const bly_keys *keys)
{
    kind_keys expected = { .hashes = keys->hashes, .labels = keys->labels,
                           .n = keys->n };
    order o;
    task t;
    bly_status status = keylist_check_build(keys);
    if (status == BLY_OK)
        status = make_order(&o, kind, spec, &expected);
    if (status == BLY_OK && keys->labels != NULL)
        status = form_labels_check(o.form);
    if (status == BLY_OK && o.kind->raw_hash && !o.hash->integer
        && keylist_hashed(keys))
        status = make_check_hashes(keys->hashes, keys->n);
    task_begin(&t, status == BLY_OK ? o.options.progress : NULL, keys->n);
    if (status == BLY_OK)
        status = make_of_keys(out, &o, keys);
    order_end(&o);
    return task_end(&t, status);
}
