/* bloomery.c - the handle and the verbs: plan, make, use, look inside.
 *
 * Floor 5. A verb here checks what may be done, hashes the key, and calls the
 * kind's slot; for a slot the kind left out it loops over the single form, or
 * says BLY_EUNSUPPORTED. Counts and checksums of the header are kept here.
 */
#include "bloomery.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "tools/hash.h"
#include "maths/maths.h"
#include "verbs/handle.h"
#include "verbs/registry.h"

static const double BLOOMERY_RATE = 0.01;       /* when none is asked for */

/* So much of a rate is no reason to take a bit more for every key. */
static const double BLOOMERY_RATE_PART = 1.0 / (1 << 20);

/* Keys hashed at a time: enough that filling and emptying the pipelines of a
 * batch does not count, and 16 KiB of hashes. */
enum { BLOOMERY_CHUNK = 1024 };

/* ==== Plan ============================================================== */

/* Everything bly_new needs to know, worked out from kind and spec. */
typedef struct {
    const bly_kind *kind;
    const char     *hash;
    kind_spec       asked;
    bly_plan_t      plan;
    uint64_t        items;              /* once it is built                  */
} bloomery_order;

static bly_status bloomery_unsupported(const bly_kind *kind, const char *verb)
{
    return status_fail(BLY_EUNSUPPORTED, "kind %s cannot %s: see the abilities "
                       "in the list of kinds", kind->name, verb);
}

/* The rate that is left for the kind to keep, once the chance that two keys
 * share all 64 bits of their hash is taken off, where that is worth it. */
static bly_status bloomery_rate(double *left, const bly_spec *spec)
{
    double rate = spec->rate == 0 ? BLOOMERY_RATE : spec->rate;
    if (!(rate > 0 && rate < 1))
        return status_fail(BLY_EPARAM, "a false-positive rate of %g is not "
                           "possible: give one between 0 and 1, as 0.01", rate);
    double collision = math_collision((double)spec->capacity);
    if (rate <= collision)
        return status_fail(BLY_EPARAM, "a rate of %.3g is below %.3g, which is "
                           "the least that 64-bit hashes of so many keys can "
                           "have: ask for a higher rate", rate, collision);
    *left = collision < rate * BLOOMERY_RATE_PART ? rate : rate - collision;
    return BLY_OK;
}

static bly_status bloomery_hash_name(const char **name, const bly_kind *kind,
                                     const kind_spec *asked,
                                     const bly_spec *spec)
{
    bool integers = kind->integers != NULL && kind->integers(asked);
    const hash_info *found = spec->hash == NULL
                           ? integers ? hash_find("decimal") : hash_list
                           : hash_find(spec->hash);
    if (found == NULL)
        return status_fail(BLY_EHASH, "there is no hash function '%.40s': "
                           "choose xxh3, xxh64, murmur2, murmur3, fnv1a, "
                           "identity or decimal", spec->hash);
    if (integers && !found->integer)
        return status_fail(BLY_EHASH, "kind %s with a universe= has integers for "
                           "keys, which %s does not leave as they are: choose "
                           "decimal or identity", kind->name, found->name);
    if (kind->raw_hash && found->weak)
        return status_fail(BLY_EHASH, "kind %s uses the hash as it comes, and "
                           "the high bits of %s are weak: choose xxh64 or xxh3",
                           kind->name, found->name);
    *name = found->name;
    return BLY_OK;
}

/* The chance that a foreign key shares its hash with one of n: none for an
 * exact kind of integers. */
static double bloomery_collision(const bly_kind *kind, const hash_info *hash,
                                 double n)
{
    return kind->integers != NULL && hash->integer ? 0 : math_collision(n);
}

/* What every kind's plan has in common. */
static void bloomery_plan_finish(bly_plan_t *plan, const bly_kind *kind,
                                 const char *hash)
{
    double same = bloomery_collision(kind, hash_find(hash),
                                     (double)plan->capacity);
    strcpy(plan->kind, kind->name);
    plan->bits_per_key = 8 * (double)plan->bytes / (double)plan->capacity;
    plan->rate += (1 - plan->rate) * same;
}

/* Which keys it is for may change what is asked. */
static bly_status bloomery_order_keys(bloomery_order *order,
                                      const kind_keys *keys)
{
    const bly_kind *kind = order->kind;
    order->items = keys->n;
    if (keys->labels == NULL)
        return BLY_OK;
    if (kind->separate != NULL)
        return kind->separate(&order->asked, &order->items, keys);
    return kind->get != NULL ? BLY_OK
                             : bloomery_unsupported(kind, "carry labels");
}

/* For these keys; NULL: they are not known yet. */
static bly_status bloomery_order_make(bloomery_order *order, const char *kind,
                                      const bly_spec *spec,
                                      const kind_keys *keys)
{
    order->asked = (kind_spec){ .capacity = spec->capacity };
    bly_status status = registry_parse(&order->kind, order->asked.option,
                                       kind);
    if (status == BLY_OK)
        status = bloomery_hash_name(&order->hash, order->kind, &order->asked,
                                    spec);
    if (status == BLY_OK)
        status = bloomery_rate(&order->asked.rate, spec);
    if (status == BLY_OK && (spec->flags & ~(BLY_SHARED | BLY_SPARSE)) != 0)
        status = status_fail(BLY_EPARAM, "a spec's flags may be BLY_SHARED, "
                             "BLY_SPARSE and nothing else");
    if (status == BLY_OK && keys != NULL)
        status = bloomery_order_keys(order, keys);

    bly_plan_t *plan = &order->plan;
    *plan = (bly_plan_t){ .window = UINT64_MAX };
    if (status == BLY_OK)
        status = order->kind->plan(plan, &order->asked);
    if (status == BLY_OK)
        bloomery_plan_finish(plan, order->kind, order->hash);
    return status;
}

bly_status bly_plan(bly_plan_t *out, const char *kind, const bly_spec *spec)
{
    bloomery_order order;
    bly_status status = bloomery_order_make(&order, kind, spec, NULL);
    if (status == BLY_OK)
        *out = order.plan;
    return status;
}

/* ==== The handle ======================================================== */

static void handle_release_owned(bly_filter *filter)
{
    memory_release(&filter->allocator, filter->image, filter->bytes);
}

const handle_source handle_owned = { .release = handle_release_owned };

/* A borrowed image: nothing to give back. */
static const handle_source handle_borrowed = { .release = NULL };

/* The kind that the header names, and its version. */
static bly_status handle_find(const bly_kind **kind, const void *image,
                              uint64_t bytes)
{
    bly_status status = image_check_header(image, bytes);
    if (status != BLY_OK)
        return status;
    const char *name = (const char *)image + IMAGE_KIND;
    size_t length = strnlen(name, IMAGE_KIND_NAME);
    const bly_kind *found = kind_named(name, length);
    for (size_t i = length; i < IMAGE_KIND_NAME; i++)
        if (name[i] != '\0')
            found = NULL;
    if (found == NULL)
        return status_fail(BLY_EKIND, "the filter is of kind '%.16s', which "
                           "this version does not know: use the library that "
                           "wrote it", name);
    uint32_t version = image_u32(image, IMAGE_VERSION);
    if (version != found->version)
        return status_fail(BLY_EVERSION, "the filter has version %u of kind "
                           "%s, this library reads %u: use the library that "
                           "wrote it, or build it anew", version, found->name,
                           found->version);
    *kind = found;
    return BLY_OK;
}

bly_status handle_check(const bly_kind **kind, const void *image,
                        uint64_t bytes)
{
    const bly_kind *found;
    uint64_t unpacked = 0;
    bly_status status = handle_find(&found, image, bytes);
    if (status == BLY_OK && found->unpack_plan != NULL)
        status = found->unpack_plan(&unpacked, image);
    if (status == BLY_OK && unpacked == 0)
        status = found->check(image);
    if (status == BLY_OK)
        *kind = found;
    return status;
}

bly_status handle_check_head(const bly_kind **kind, const void *head,
                             uint64_t bytes)
{
    const bly_kind *found;
    bly_status status = handle_find(&found, head, bytes);
    if (status == BLY_OK && found->pages == NULL)
        status = bloomery_unsupported(found, "be opened page by page");
    if (status == BLY_OK)
        status = found->check(head);
    if (status == BLY_OK)
        *kind = found;
    return status;
}

bly_status handle_make(bly_filter **out, const bly_kind *kind, void *image,
                       size_t bytes, const handle_source *source,
                       const bly_allocator *allocator)
{
    bly_filter *filter = memory_zeroed(allocator, sizeof *filter);
    if (filter == NULL)
        return status_plain(BLY_ENOMEM);
    *filter = (bly_filter){
        .kind = kind, .contains = kind->contains_here != NULL
                                ? kind->contains_here() : kind->contains,
        .image = image, .bytes = bytes, .source = source,
        .allocator = *allocator,
        .hash = hash_find_field((const uint8_t *)image + IMAGE_HASH)->function,
        .seed = image_u64(image, IMAGE_SEED),
        .items = image_u64(image, IMAGE_ITEMS),
        .writable = true,
    };
    *out = filter;
    return BLY_OK;
}

bly_status handle_own(bly_filter **out, const bly_kind *kind, void *image,
                      size_t bytes, const bly_allocator *allocator)
{
    bly_status status = handle_make(out, kind, image, bytes, &handle_owned,
                                    allocator);
    if (status != BLY_OK)
        memory_release(allocator, image, bytes);
    return status;
}

bly_status handle_share(bly_filter *filter)
{
    if (filter->kind->add_shared == NULL)
        return bloomery_unsupported(filter->kind, "be shared among threads");
    filter->shared = true;
    return BLY_OK;
}

bly_status handle_begin(bly_filter *filter)
{
    if (!filter->writable)
        return status_plain(BLY_EREADONLY);
    if (!platform_load_flag(&filter->changed)
        && !platform_raise_flag(&filter->changed)
        && filter->source->begin != NULL)
        filter->source->begin(filter);
    return BLY_OK;
}

bly_status handle_here(const bly_filter *filter, const char *verb)
{
    if (filter->away == NULL)
        return BLY_OK;
    return status_fail(BLY_EUNSUPPORTED, "a filter that is open page by page "
                       "cannot be %s: open its file without BLY_PAGED", verb);
}

void handle_seal(bly_filter *filter)
{
    image_set_u64(filter->image, IMAGE_ITEMS, filter->items);
    if (filter->kind->seal != NULL)
        filter->kind->seal(filter->image);
    image_seal(filter->image);
    filter->changed = false;
}

/* ==== Make and free ===================================================== */

static bly_status bloomery_no_memory(uint64_t bytes)
{
    return status_fail(BLY_ENOMEM, "out of memory: the filter takes %.4g MiB: "
                       "ask for fewer keys or a higher rate",
                       (double)bytes / (1 << 20));
}

/* The image of an empty filter, or NULL. */
static void *bloomery_image(const bloomery_order *order, uint64_t seed,
                            const bly_allocator *allocator)
{
    void *image = memory_zeroed(allocator, (size_t)order->plan.bytes);
    if (image != NULL)
        image_format(image, &order->plan, order->kind->version, seed,
                     order->hash);
    return image;
}

/* A handle for a finished image of `bytes` bytes, which it owns, or which is
 * gone on an error. */
static bly_status bloomery_own(bly_filter **out, const bloomery_order *order,
                               void *image, size_t bytes, int flags,
                               const bly_allocator *allocator)
{
    bly_filter *filter;
    bly_status status = handle_own(&filter, order->kind, image, bytes,
                                   allocator);
    if (status != BLY_OK)
        return status;
    filter->changed = true;             /* its checksums are still to be made */
    if ((flags & BLY_SHARED) != 0)
        status = handle_share(filter);
    if (status == BLY_OK)
        *out = filter;
    else
        bly_free(filter);
    return status;
}

static bly_status bloomery_new(bly_filter **out, const bloomery_order *order,
                               const bly_spec *spec)
{
    bly_allocator allocator = (spec->flags & BLY_SPARSE) != 0
                            ? memory_sparse : memory_allocator(spec->allocator);
    size_t bytes = (size_t)order->plan.bytes;
    void *image = bloomery_image(order, spec->seed, &allocator);
    bly_status status = BLY_OK;
    if (image == NULL)
        return bloomery_no_memory(bytes);
    if (order->kind->format != NULL)
        status = order->kind->format(image, &order->asked);
    if (status == BLY_OK)
        return bloomery_own(out, order, image, bytes, spec->flags, &allocator);
    memory_release(&allocator, image, bytes);
    return status;
}

bly_status bly_new(bly_filter **out, const char *kind, const bly_spec *spec)
{
    bloomery_order order;
    bly_status status = bloomery_order_make(&order, kind, spec, NULL);
    if (status == BLY_OK && order.kind->add == NULL)
        status = bloomery_unsupported(order.kind, "be made empty; build it");
    return status == BLY_OK ? bloomery_new(out, &order, spec) : status;
}

bly_status handle_head(uint8_t **head, const bly_kind **kind, const char *name,
                       const bly_spec *spec, const bly_allocator *allocator)
{
    bloomery_order order;
    bly_status status = bloomery_order_make(&order, name, spec, NULL);
    if (status == BLY_OK && order.kind->pages == NULL)
        status = bloomery_unsupported(order.kind, "be paged");
    if (status == BLY_OK && (spec->flags & BLY_SHARED) != 0)
        status = bloomery_unsupported(order.kind, "be shared among threads");
    if (status != BLY_OK)
        return status;
    uint8_t *image = memory_zeroed(allocator, KIND_PAGE_MOST);
    if (image == NULL)
        return status_plain(BLY_ENOMEM);
    image_format(image, &order.plan, order.kind->version, spec->seed,
                 order.hash);
    status = order.kind->format(image, &order.asked);
    if (status != BLY_OK) {
        memory_release(allocator, image, KIND_PAGE_MOST);
        return status;
    }
    *kind = order.kind;
    *head = image;
    return BLY_OK;
}

/* ==== Build ============================================================= */

/* By the kind's own build, into an image that is there. */
static bly_status bloomery_build_image(void *image, const bloomery_order *order,
                                       const kind_keys *keys,
                                       const bly_allocator *allocator)
{
    kind_bench bench = { .bytes = (size_t)order->plan.scratch,
                         .threads = threads_count() };
    bly_status status = BLY_OK;
    if (bench.bytes > 0)
        bench.scratch = memory_raw(allocator, bench.bytes);
    if (bench.bytes > 0 && bench.scratch == NULL)
        return bloomery_no_memory(order->plan.bytes + order->plan.scratch);
    if (order->kind->format != NULL)
        status = order->kind->format(image, &order->asked);
    if (status == BLY_OK)
        status = order->kind->build(image, keys, &bench);
    memory_release(allocator, bench.scratch, bench.bytes);
    return status;
}

/* Where the kind has used fewer bytes than planned: move to a smaller place.
 * No memory for it: *bytes, and the image, stay as they are for the moment. */
static void *bloomery_trim(void *image, size_t *bytes,
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

static bly_status bloomery_build(bly_filter **out, const bloomery_order *order,
                                 const bly_spec *spec, const kind_keys *keys)
{
    bly_allocator allocator = memory_allocator(spec->allocator);
    size_t bytes = (size_t)order->plan.bytes;
    void *image = bloomery_image(order, spec->seed, &allocator);
    if (image == NULL)
        return bloomery_no_memory(bytes);
    bly_status status = bloomery_build_image(image, order, keys, &allocator);
    if (status == BLY_OK)
        image = bloomery_trim(image, &bytes, &allocator);
    if (status == BLY_OK && image_u64(image, IMAGE_BYTES) != bytes)
        status = bloomery_no_memory(bytes);
    if (status != BLY_OK) {
        memory_release(&allocator, image, bytes);
        return status;
    }
    image_set_u64(image, IMAGE_ITEMS, order->items);
    return bloomery_own(out, order, image, bytes, spec->flags, &allocator);
}

/* A kind without a build of its own is made empty and filled. */
static bly_status bloomery_fill(bly_filter **out, const bloomery_order *order,
                                const bly_spec *spec, const kind_keys *keys)
{
    bly_filter *filter;
    bly_status status = bloomery_new(&filter, order, spec);
    if (status != BLY_OK)
        return status;
    status = keys->labels == NULL
           ? bly_add_many(filter, keys->hashes, keys->n)
           : bly_put_many(filter, keys->hashes, keys->labels, keys->n);
    if (status == BLY_OK)
        *out = filter;
    else
        bly_free(filter);
    return status;
}

static bly_status bloomery_build_any(bly_filter **out, const char *name,
                                     const bly_spec *spec,
                                     const kind_keys *keys)
{
    bly_spec filled = spec != NULL ? *spec : (bly_spec){ .capacity = 0 };
    uint64_t option[KIND_OPTIONS];
    bloomery_order order;
    const bly_kind *kind;
    bly_status status = registry_parse(&kind, option, name);
    if (status != BLY_OK)
        return status;
    if (filled.capacity == 0 || (kind->add == NULL && keys->n > 0))
        filled.capacity = keys->n;
    status = bloomery_order_make(&order, name, &filled, keys);
    if (status != BLY_OK)
        return status;
    return kind->build != NULL ? bloomery_build(out, &order, &filled, keys)
                               : bloomery_fill(out, &order, &filled, keys);
}

bly_status bly_build(bly_filter **out, const char *kind, const bly_spec *spec,
                     const uint64_t *hashes, size_t n)
{
    kind_keys keys = { .hashes = hashes, .n = n };
    return bloomery_build_any(out, kind, spec, &keys);
}

bly_status bly_build_labels(bly_filter **out, const char *kind,
                            const bly_spec *spec, const uint64_t *hashes,
                            const uint64_t *labels, size_t n)
{
    kind_keys keys = { .hashes = hashes, .labels = labels, .n = n };
    return bloomery_build_any(out, kind, spec, &keys);
}

bly_status bly_like(bly_filter **out, const bly_filter *filter)
{
    const bly_kind *kind = filter->kind;
    bly_status status = handle_here(filter, "made anew");
    bool fills = kind->format == NULL || kind->like != NULL;
    if (status == BLY_OK && (kind->add == NULL || !fills
                             || kind->grow != NULL))
        status = bloomery_unsupported(kind, "be made anew from another "
                                            "filter's plan");
    if (status != BLY_OK)
        return status;
    bly_allocator allocator = memory_allocator(NULL);
    uint8_t *image = memory_zeroed(&allocator, filter->bytes);
    if (image == NULL)
        return bloomery_no_memory(filter->bytes);
    memcpy(image, filter->image, IMAGE_HEADER);
    image_set_u64(image, IMAGE_ITEMS, 0);
    if (kind->like != NULL)
        kind->like(image, filter->image);
    bly_filter *like;
    status = handle_own(&like, kind, image, filter->bytes, &allocator);
    if (status != BLY_OK)
        return status;
    like->changed = true;               /* its checksums are still to be made */
    *out = like;
    return BLY_OK;
}

bly_status bly_copy(bly_filter **out, const bly_filter *filter)
{
    bly_status here = handle_here(filter, "copied");
    if (here != BLY_OK)
        return here;
    bly_allocator allocator = memory_allocator(NULL);
    void *image = memory_raw(&allocator, filter->bytes);
    if (image == NULL)
        return bloomery_no_memory(filter->bytes);
    memcpy(image, filter->image, filter->bytes);

    bly_filter *copy;
    bly_status status = handle_own(&copy, filter->kind, image, filter->bytes,
                                   &allocator);
    if (status != BLY_OK)
        return status;
    copy->items = filter->items;
    copy->changed = filter->changed;
    copy->shared = filter->shared;
    *out = copy;
    return BLY_OK;
}

bly_status bly_wrap(bly_filter **out, const void *image, size_t bytes)
{
    const bly_kind *kind;
    bly_status status = handle_check(&kind, image, bytes);
    if (status == BLY_OK)
        status = image_check_sealed(image);
    if (status == BLY_OK && handle_packed(kind, image) != 0)
        status = status_fail(BLY_EUNSUPPORTED, "the filter is packed and "
                             "cannot be used where it is: unpack it "
                             "(bly_unpack)");
    if (status != BLY_OK)
        return status;

    bly_allocator allocator = memory_allocator(NULL);
    bly_filter *filter;
    status = handle_make(&filter, kind, (void *)(uintptr_t)image, bytes,
                         &handle_borrowed, &allocator);
    if (status != BLY_OK)
        return status;
    filter->writable = false;           /* so the cast above changes nothing */
    *out = filter;
    return BLY_OK;
}

bly_status bly_check(const void *image, size_t bytes)
{
    const bly_kind *kind;
    bly_status status = handle_check(&kind, image, bytes);
    return status == BLY_OK ? image_check_payload(image) : status;
}

const void *bly_image(const bly_filter *filter, size_t *bytes)
{
    if (handle_here(filter, "shown as one image") != BLY_OK)
        return NULL;
    if (filter->changed)
        handle_seal((bly_filter *)(uintptr_t)filter);
    if (bytes != NULL)
        *bytes = filter->bytes;
    return filter->image;
}

void bly_free(bly_filter *filter)
{
    if (filter == NULL)
        return;
    if (filter->source->release != NULL)
        filter->source->release(filter);
    bly_allocator allocator = filter->allocator;
    memory_release(&allocator, filter, sizeof *filter);
}

const char *bly_kind_of(const bly_filter *filter)
{
    return filter->kind->name;
}

const char *bly_version(void)
{
    return BLY_VERSION;
}

/* ==== Add =============================================================== */

uint64_t bly_hash(const bly_filter *filter, const void *key, size_t length)
{
    return filter->hash(key, length, filter->seed);
}

static void bloomery_count_items(bly_filter *filter, uint64_t n)
{
    if (platform_load64(&filter->items) == IMAGE_ITEMS_UNKNOWN)
        return;
    if (filter->shared)
        platform_add64(&filter->items, n);
    else
        filter->items += n;
}

/* The same for keys that went out, which takes exclusion. */
static void bloomery_uncount_items(bly_filter *filter, uint64_t n)
{
    if (filter->items != IMAGE_ITEMS_UNKNOWN)
        filter->items -= n;
}

/* Make the image of a full filter longer, where its kind does that. */
static bly_status bloomery_grow(bly_filter *filter)
{
    const bly_kind *kind = filter->kind;
    uint64_t bytes = 0;
    if (filter->source != &handle_owned)
        return status_fail(BLY_EFULL, "the filter is full, and one that is "
                           "mapped from its file cannot grow: open it without "
                           "BLY_MAP, add and save it");
    bly_status status = kind->grow_plan(&bytes, filter->image);
    if (status != BLY_OK)
        return status;
    uint8_t *image = bytes > SIZE_MAX ? NULL
                   : memory_zeroed(&filter->allocator, (size_t)bytes);
    if (image == NULL)
        return bloomery_no_memory(bytes);
    memcpy(image, filter->image, filter->bytes);
    image_set_u64(image, IMAGE_BYTES, bytes);
    status = kind->grow(image);
    if (status != BLY_OK) {
        memory_release(&filter->allocator, image, (size_t)bytes);
        return status;
    }
    memory_release(&filter->allocator, filter->image, filter->bytes);
    filter->image = image;
    filter->bytes = (size_t)bytes;
    return BLY_OK;
}

static bly_status bloomery_add(bly_filter *filter, uint64_t hash)
{
    return filter->shared ? filter->kind->add_shared(filter->image, hash)
                          : filter->kind->add(filter->image, hash);
}

bly_status bly_add_hash(bly_filter *filter, uint64_t hash)
{
    const bly_kind *kind = filter->kind;
    if (kind->add == NULL)
        return bloomery_unsupported(kind, "add");
    if (filter->away != NULL)
        return bly_add_many(filter, &hash, 1);
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    status = bloomery_add(filter, hash);
    if (status == BLY_EFULL && kind->grow != NULL) {
        status = bloomery_grow(filter);
        if (status == BLY_OK)
            status = bloomery_add(filter, hash);
    }
    if (status >= 0)
        bloomery_count_items(filter, 1);
    return status;
}

/* For a kind that takes keys whole. */
static bly_status bloomery_add_key(bly_filter *filter, const void *key,
                                   size_t length)
{
    bly_status status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->add_key(filter->image,
                                       bly_hash(filter, key, length), key,
                                       length);
    if (status >= 0)
        bloomery_count_items(filter, 1);
    return status;
}

bly_status bly_add(bly_filter *filter, const void *key, size_t length)
{
    if (filter->kind->add_key != NULL)
        return bloomery_add_key(filter, key, length);
    return bly_add_hash(filter, bly_hash(filter, key, length));
}

/* The kind's own batch, or a loop over its single form; `seen` may be NULL. */
static bly_status bloomery_add_batch(bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     bool *seen, size_t *done)
{
    const bly_kind *kind = filter->kind;
    void *image = filter->image;
    if (filter->away != NULL)
        return filter->away->add_many(filter, hashes, n, seen, done);
    if (seen == NULL && filter->shared && kind->add_many_shared != NULL)
        return kind->add_many_shared(image, hashes, n, done);
    if (seen == NULL && !filter->shared && kind->add_many != NULL)
        return kind->add_many(image, hashes, n, done);
    if (seen != NULL && !filter->shared && kind->add_each != NULL)
        return kind->add_each(image, hashes, n, seen, done);

    for (*done = 0; *done < n; ++*done) {
        bly_status status = bloomery_add(filter, hashes[*done]);
        if (status < 0)
            return status;
        if (seen != NULL)
            seen[*done] = status == BLY_SEEN;
    }
    return BLY_OK;
}

/* All of a batch, growing on the way where the kind does that. */
static bly_status bloomery_add_all(bly_filter *filter, const uint64_t *hashes,
                                   size_t n, bool *seen)
{
    if (filter->kind->add == NULL)
        return bloomery_unsupported(filter->kind, "add");
    if (n == 0)
        return BLY_OK;
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    size_t in = 0;
    status = bloomery_add_batch(filter, hashes, n, seen, &in);
    while (status == BLY_EFULL && filter->kind->grow != NULL) {
        size_t done = 0;
        status = bloomery_grow(filter);
        if (status != BLY_OK)           /* it may be full for good */
            break;
        status = bloomery_add_batch(filter, hashes + in, n - in,
                                    seen != NULL ? seen + in : NULL, &done);
        in += done;
    }
    bloomery_count_items(filter, in);
    return status;
}

bly_status bly_add_many(bly_filter *filter, const uint64_t *hashes, size_t n)
{
    return bloomery_add_all(filter, hashes, n, NULL);
}

bly_status bly_add_each(bly_filter *filter, const uint64_t *hashes, size_t n,
                        bool *seen)
{
    return bloomery_add_all(filter, hashes, n, seen);
}

/* The hashes of up to BLOOMERY_CHUNK keys; how many those are. */
static size_t bloomery_hash_chunk(const bly_filter *filter, uint64_t *hashes,
                                  const bly_key *keys, size_t n)
{
    size_t chunk = n < BLOOMERY_CHUNK ? n : BLOOMERY_CHUNK;
    for (size_t i = 0; i < chunk; i++)
        hashes[i] = bly_hash(filter, keys[i].data, keys[i].length);
    return chunk;
}

static bly_status bloomery_add_whole(bly_filter *filter, const bly_key *keys,
                                     size_t n, bool *seen)
{
    for (size_t i = 0; i < n; i++) {
        bly_status status = bloomery_add_key(filter, keys[i].data,
                                             keys[i].length);
        if (status < 0)
            return status;
        if (seen != NULL)
            seen[i] = status == BLY_SEEN;
    }
    return BLY_OK;
}

static bly_status bloomery_add_keys(bly_filter *filter, const bly_key *keys,
                                    size_t n, bool *seen)
{
    if (filter->kind->add_key != NULL)
        return bloomery_add_whole(filter, keys, n, seen);
    uint64_t hashes[BLOOMERY_CHUNK];
    bly_status status = filter->kind->add == NULL
                      ? bloomery_unsupported(filter->kind, "add") : BLY_OK;
    for (size_t i = 0, some; i < n && status >= 0; i += some) {
        some = bloomery_hash_chunk(filter, hashes, keys + i, n - i);
        status = bloomery_add_all(filter, hashes, some,
                                  seen != NULL ? seen + i : NULL);
    }
    return status;
}

bly_status bly_add_keys(bly_filter *filter, const bly_key *keys, size_t n)
{
    return bloomery_add_keys(filter, keys, n, NULL);
}

bly_status bly_add_each_keys(bly_filter *filter, const bly_key *keys, size_t n,
                             bool *seen)
{
    return bloomery_add_keys(filter, keys, n, seen);
}

/* ==== Ask =============================================================== */

PLATFORM_INLINE bool bloomery_contains(const bly_filter *filter, uint64_t hash)
{
    bool present;
    if (filter->away == NULL)
        return filter->contains(filter->image, hash);
    filter->away->contains_many(filter, &hash, 1, &present);
    return present;
}

bool bly_contains_hash(const bly_filter *filter, uint64_t hash)
{
    return bloomery_contains(filter, hash);
}

bool bly_contains(const bly_filter *filter, const void *key, size_t length)
{
    return bloomery_contains(filter, filter->hash(key, length, filter->seed));
}

void bly_contains_many(const bly_filter *filter, const uint64_t *hashes,
                       size_t n, bool *present)
{
    const bly_kind *kind = filter->kind;
    if (filter->away != NULL) {
        filter->away->contains_many(filter, hashes, n, present);
        return;
    }
    if (kind->contains_many != NULL) {
        kind->contains_many(filter->image, hashes, n, present);
        return;
    }
    for (size_t i = 0; i < n; i++)
        present[i] = filter->contains(filter->image, hashes[i]);
}

void bly_contains_keys(const bly_filter *filter, const bly_key *keys, size_t n,
                       bool *present)
{
    uint64_t hashes[BLOOMERY_CHUNK];
    while (n > 0) {
        size_t chunk = bloomery_hash_chunk(filter, hashes, keys, n);
        bly_contains_many(filter, hashes, chunk, present);
        keys += chunk;
        present += chunk;
        n -= chunk;
    }
}

/* ==== Remove, count, label ============================================== */

bly_status bly_remove_hash(bly_filter *filter, uint64_t hash)
{
    if (filter->kind->remove == NULL)
        return bloomery_unsupported(filter->kind, "remove");
    bly_status status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    status = filter->kind->remove(filter->image, hash);
    if (status == BLY_OK)
        bloomery_uncount_items(filter, 1);
    return status;
}

/* For a kind that takes keys whole. */
static bly_status bloomery_remove_key(bly_filter *filter, const void *key,
                                      size_t length)
{
    bly_status status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->remove_key(filter->image,
                                          bly_hash(filter, key, length), key,
                                          length);
    if (status == BLY_OK)
        bloomery_uncount_items(filter, 1);
    return status;
}

bly_status bly_remove(bly_filter *filter, const void *key, size_t length)
{
    if (filter->kind->remove_key != NULL)
        return bloomery_remove_key(filter, key, length);
    return bly_remove_hash(filter, bly_hash(filter, key, length));
}

/* Some of the batch, with a place for what became of each. */
static bly_status bloomery_remove_some(bly_filter *filter,
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
    bloomery_uncount_items(filter, removed);
    return first;
}

bly_status bly_remove_many(bly_filter *filter, const uint64_t *hashes, size_t n,
                           bly_status *each)
{
    if (filter->kind->remove == NULL)
        return bloomery_unsupported(filter->kind, "remove");
    bly_status first = n > 0 ? handle_begin(filter) : BLY_OK;
    if (first != BLY_OK)
        return first;
    bly_status unseen[BLOOMERY_CHUNK];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < BLOOMERY_CHUNK ? n - i : BLOOMERY_CHUNK;
        bly_status status = bloomery_remove_some(filter, hashes + i, some,
                                                 each != NULL ? each + i
                                                              : unseen);
        first = first == BLY_OK ? status : first;
    }
    return first;
}

static bly_status bloomery_remove_whole(bly_filter *filter,
                                        const bly_key *keys, size_t n,
                                        bly_status *each)
{
    bly_status first = BLY_OK;
    for (size_t i = 0; i < n; i++) {
        bly_status status = bloomery_remove_key(filter, keys[i].data,
                                                keys[i].length);
        if (status == BLY_EREADONLY)    /* the same for all keys */
            return status;
        if (each != NULL)
            each[i] = status;
        first = first == BLY_OK ? status : first;
    }
    return first;
}

bly_status bly_remove_keys(bly_filter *filter, const bly_key *keys, size_t n,
                           bly_status *each)
{
    if (filter->kind->remove_key != NULL)
        return bloomery_remove_whole(filter, keys, n, each);
    uint64_t hashes[BLOOMERY_CHUNK];
    bly_status first = BLY_OK;
    for (size_t i = 0, some; i < n; i += some) {
        some = bloomery_hash_chunk(filter, hashes, keys + i, n - i);
        bly_status status = bly_remove_many(filter, hashes, some,
                                            each != NULL ? each + i : NULL);
        if (status != BLY_OK && status != BLY_EABSENT && status != BLY_EUNSAFE)
            return status;              /* the same for all keys */
        first = first == BLY_OK ? status : first;
    }
    return first;
}

uint64_t bly_count_hash(const bly_filter *filter, uint64_t hash)
{
    if (filter->kind->count != NULL)
        return filter->kind->count(filter->image, hash);
    return bly_contains_hash(filter, hash) ? UINT64_MAX : 0;
}

uint64_t bly_count(const bly_filter *filter, const void *key, size_t length)
{
    return bly_count_hash(filter, bly_hash(filter, key, length));
}

void bly_count_many(const bly_filter *filter, const uint64_t *hashes, size_t n,
                    uint64_t *counts)
{
    if (filter->kind->count_many != NULL) {
        filter->kind->count_many(filter->image, hashes, n, counts);
        return;
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = bly_count_hash(filter, hashes[i]);
}

void bly_count_keys(const bly_filter *filter, const bly_key *keys, size_t n,
                    uint64_t *counts)
{
    uint64_t hashes[BLOOMERY_CHUNK];
    for (size_t i = 0, some; i < n; i += some) {
        some = bloomery_hash_chunk(filter, hashes, keys + i, n - i);
        bly_count_many(filter, hashes, some, counts + i);
    }
}

bly_status bly_put_hash(bly_filter *filter, uint64_t hash, uint64_t label)
{
    if (filter->kind->put == NULL)
        return bloomery_unsupported(filter->kind, "carry labels");
    bly_status status = handle_begin(filter);
    if (status == BLY_OK)
        status = filter->kind->put(filter->image, hash, label);
    if (status >= 0 && filter->kind->add != NULL)
        bloomery_count_items(filter, 1);
    return status;
}

bly_status bly_put(bly_filter *filter, const void *key, size_t length,
                   uint64_t label)
{
    return bly_put_hash(filter, bly_hash(filter, key, length), label);
}

bly_status bly_put_many(bly_filter *filter, const uint64_t *hashes,
                        const uint64_t *labels, size_t n)
{
    const bly_kind *kind = filter->kind;
    if (kind->put == NULL)
        return bloomery_unsupported(kind, "carry labels");
    bly_status status = n > 0 ? handle_begin(filter) : BLY_OK;
    if (status != BLY_OK)
        return status;
    size_t done = 0;
    if (kind->put_many != NULL)
        status = kind->put_many(filter->image, hashes, labels, n, &done);
    else
        for (; done < n && status >= 0; done += status >= 0)
            status = kind->put(filter->image, hashes[done], labels[done]);
    if (kind->add != NULL)
        bloomery_count_items(filter, done);
    return status < 0 ? status : BLY_OK;
}

bly_status bly_put_keys(bly_filter *filter, const bly_key *keys,
                        const uint64_t *labels, size_t n)
{
    uint64_t hashes[BLOOMERY_CHUNK];
    bly_status status = filter->kind->put == NULL
                      ? bloomery_unsupported(filter->kind, "carry labels")
                      : BLY_OK;
    for (size_t i = 0, some; i < n && status >= 0; i += some) {
        some = bloomery_hash_chunk(filter, hashes, keys + i, n - i);
        status = bly_put_many(filter, hashes, labels + i, some);
    }
    return status;
}

bool bly_get_hash(const bly_filter *filter, uint64_t hash, uint64_t *label)
{
    return filter->kind->get != NULL
        && filter->kind->get(filter->image, hash, label);
}

bool bly_get(const bly_filter *filter, const void *key, size_t length,
             uint64_t *label)
{
    return bly_get_hash(filter, bly_hash(filter, key, length), label);
}

void bly_get_many(const bly_filter *filter, const uint64_t *hashes, size_t n,
                  bool *found, uint64_t *labels)
{
    if (filter->kind->get_many != NULL) {
        filter->kind->get_many(filter->image, hashes, n, found, labels);
        return;
    }
    for (size_t i = 0; i < n; i++)
        found[i] = bly_get_hash(filter, hashes[i], &labels[i]);
}

void bly_get_keys(const bly_filter *filter, const bly_key *keys, size_t n,
                  bool *found, uint64_t *labels)
{
    uint64_t hashes[BLOOMERY_CHUNK];
    for (size_t i = 0, some; i < n; i += some) {
        some = bloomery_hash_chunk(filter, hashes, keys + i, n - i);
        bly_get_many(filter, hashes, some, found + i, labels + i);
    }
}

/* ==== Another size ====================================================== */

/* A new image that holds what the filter holds. */
static bly_status bloomery_resized(void **out, const bly_filter *filter,
                                   const bloomery_order *order)
{
    void *image = bloomery_image(order, filter->seed, &filter->allocator);
    if (image == NULL)
        return bloomery_no_memory(order->plan.bytes);
    bly_status status = filter->kind->resize(image, filter->image);
    if (status == BLY_OK)
        *out = image;
    else
        memory_release(&filter->allocator, image, (size_t)order->plan.bytes);
    return status;
}

bly_status bly_resize(bly_filter *filter, uint64_t capacity)
{
    if (filter->kind->resize == NULL)
        return bloomery_unsupported(filter->kind, "be resized");
    if (!filter->writable)
        return status_plain(BLY_EREADONLY);
    if (filter->source != &handle_owned)
        return status_fail(BLY_EPARAM, "a filter that is mapped from its file "
                           "cannot change its size: open it without BLY_MAP, "
                           "resize it and save it");
    if (capacity == 0)
        return status_fail(BLY_EPARAM, "a filter cannot be resized to hold no "
                           "keys: give the number it should hold");
    bloomery_order order = { .kind = filter->kind };
    order.hash = hash_find_field(filter->image + IMAGE_HASH)->name;
    bly_status status = filter->kind->resize_plan(&order.plan, filter->image,
                                                  capacity);
    if (status != BLY_OK)
        return status;
    bloomery_plan_finish(&order.plan, filter->kind, order.hash);
    void *image = NULL;
    status = bloomery_resized(&image, filter, &order);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    memory_release(&filter->allocator, filter->image, filter->bytes);
    filter->image = image;
    filter->bytes = (size_t)order.plan.bytes;
    return BLY_OK;
}

bly_status bly_each(const bly_filter *filter, bly_visit *visit, void *context)
{
    if (filter->kind->each == NULL)
        return bloomery_unsupported(filter->kind, "list what it holds");
    filter->kind->each(filter->image, visit, context);
    return BLY_OK;
}

bly_status bly_each_label(const bly_filter *filter, bly_visit_label *visit,
                          void *context)
{
    if (filter->kind->each_label == NULL)
        return bloomery_unsupported(filter->kind, "list its labels");
    filter->kind->each_label(filter->image, visit, context);
    return BLY_OK;
}

/* ==== Look inside ======================================================= */

/* An estimate as a whole number. */
static uint64_t bloomery_whole(double v)
{
    return v < 18446744073709549568.0 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

bly_status bly_stat(bly_stat_t *out, const bly_filter *filter)
{
    const uint8_t *image = filter->image;
    bly_stat_t s = {
        .seed = filter->seed,
        .capacity = image_u64(image, IMAGE_CAPACITY),
        .bytes = filter->bytes,
        .planned_rate = image_f64(image, IMAGE_RATE),
        .window = UINT64_MAX,
        .items = platform_load64(&filter->items),
    };
    s.items_exact = s.items != IMAGE_ITEMS_UNKNOWN;
    strcpy(s.kind, filter->kind->name);
    memcpy(s.hash, image + IMAGE_HASH, HASH_NAME);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        s.geometry[i] = image_geometry(image, i);

    bly_status status = BLY_OK;
    if (filter->away != NULL)
        status = filter->away->stat(&s, filter);
    else
        filter->kind->stat(&s, image);
    if (status != BLY_OK)
        return status;
    s.bits_per_key = 8 * (double)s.bytes / (double)s.capacity;
    if (!s.items_exact)
        s.items = bloomery_whole(s.distinct);
    if (isfinite(s.distinct))
        s.rate += (1 - s.rate)
                * bloomery_collision(filter->kind,
                                     hash_find_field(image + IMAGE_HASH),
                                     s.distinct);
    *out = s;
    return BLY_OK;
}
