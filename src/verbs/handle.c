/* handle.c - makes a handle for an image, and does what every verb needs: begin
 * a change, count items, seal.
 */
#include "verbs/handle.h"

#include <assert.h>

#include "base/memory.h"
#include "base/status.h"
#include "verbs/registry.h"

bly_status handle_unsupported(const bly_kind *kind, const char *verb,
                              uint64_t ability)
{
    char able[REGISTRY_LINE];
    registry_able(able, ability);
    if (able[0] == '\0')
        return status_fail(BLY_EUNSUPPORTED, "kind %s cannot %s: see the "
                           "abilities in the list of kinds", kind->name, verb);
    return status_fail(BLY_EUNSUPPORTED, "kind %s cannot %s: kinds that can "
                       "are %s", kind->name, verb, able);
}

bly_status handle_no_memory(uint64_t bytes)
{
    bly_status status = image_check_size(bytes);
    if (status != BLY_OK)
        return status;
    return status_fail(BLY_ENOMEM, "out of memory: the filter takes %.4g MiB: "
                       "use fewer keys or a higher rate",
                       (double)bytes / (1 << 20));
}

bly_status handle_allows(const bly_filter *filter, uint64_t bytes)
{
    return memory_allows(filter->memory_limit, filter->bytes, bytes);
}

uint64_t bly_memory_limit(const bly_options *options, uint64_t given)
{
    return memory_limit(options != NULL ? options->memory_limit : 0, given);
}

bly_status handle_options_read(handle_options *out, const bly_options *options)
{
    static const bly_options none;
    const bly_options *o = options != NULL ? options : &none;
    if (o->zero != 0
        || memcmp(o->reserved, none.reserved, sizeof none.reserved) != 0)
        return status_fail(BLY_EPARAM, "the options have values in reserved "
                           "fields: set them to zero before you fill them in, "
                           "or link the library they were written for");
    *out = (handle_options){
        .allocator = memory_allocator(o->allocator, o->threads),
        .secret = o->secret, .threads = o->threads, .format = o->format,
        .progress = o->progress, .memory_limit = o->memory_limit,
    };
    return BLY_OK;
}

/* ---- Checking ---------------------------------------------------------- */

bly_status handle_find(const bly_kind **kind, const void *image)
{
    const char *name = (const char *)image + IMAGE_KIND;
    size_t length = strnlen(name, IMAGE_KIND_NAME);
    const bly_kind *found = registry_find(name, length);
    for (size_t i = length; i < IMAGE_KIND_NAME; i++)
        if (name[i] != '\0')
            found = NULL;
    if (found == NULL)
        return status_fail(BLY_EKIND, "the filter is of kind '%.16s', which "
                           REGISTRY_ELSEWHERE, name);
    uint32_t version = image_u32(image, IMAGE_VERSION);
    if (version != found->version)
        return status_fail(BLY_EVERSION, "the filter has version %u of kind "
                           "%s, but this library reads %u: use the library "
                           "that wrote it, or rebuild it", version, found->name,
                           found->version);
    *kind = found;
    return BLY_OK;
}

bly_status handle_check_kind(const bly_kind **kind, const void *image)
{
    const bly_kind *found;
    uint64_t unpacked = 0;
    bly_status status = handle_find(&found, image);
    if (status == BLY_OK && found->packing != NULL)
        status = found->packing->unpack_plan(&unpacked, image);
    if (status == BLY_OK && unpacked == 0)
        status = found->check(image);
    if (status == BLY_OK)
        *kind = found;
    return status;
}

bly_status handle_check(const bly_kind **kind, const void *image,
                        uint64_t bytes)
{
    bly_status status = image_check_header(image, bytes);
    return status == BLY_OK ? handle_check_kind(kind, image) : status;
}

bly_status handle_check_head(const bly_kind **kind, const void *head,
                             uint64_t bytes)
{
    const bly_kind *found;
    bly_status status = image_check_header(head, bytes);
    if (status == BLY_OK)
        status = handle_find(&found, head);
    if (status == BLY_OK && found->pages == NULL)
        status = handle_unsupported(found, "be opened page by page",
                                    BLY_CAN_PAGE);
    if (status == BLY_OK)
        status = found->check(head);
    if (status == BLY_OK)
        *kind = found;
    return status;
}

/* ---- Making ------------------------------------------------------------ */

static void handle_release_owned(bly_filter *filter)
{
    memory_release(&filter->allocator, filter->image, filter->bytes);
}

const handle_source handle_owned = { .release = handle_release_owned };

/* Finds how the image's keys are hashed. Returns BLY_ESECRET, with *out
 * unchanged, if the secret does not match. */
static bly_status handle_hasher(kind_hasher *out, const void *image,
                                const void *secret)
{
    const hash_info *hash = hash_find_field((const uint8_t *)image
                                            + IMAGE_HASH);
    hash_seed seed = { .low = image_u64(image, IMAGE_SEED) };
    if (hash->keyed && secret == NULL)
        return status_fail(BLY_ESECRET, "the filter's keys are hashed by %s "
                           "with a secret: give the one it was made with",
                           hash->name);
    if (!hash->keyed && secret != NULL)
        return status_fail(BLY_ESECRET, "the filter's keys are hashed by %s "
                           "without a secret, but one was given: somebody who "
                           "does not have it may have made this filter; open "
                           "it without a secret, if you trust it", hash->name);
    if (hash->keyed) {
        seed = hash_secret(secret);
        if (hash_secret_mark(seed) != image_u64(image, IMAGE_SEED)) {
            memory_wipe(&seed, sizeof seed);
            return status_fail(BLY_ESECRET, "the filter's keys are hashed with "
                               "another secret than the one given: give the "
                               "one it was made with");
        }
    }
    *out = (kind_hasher){ hash->function, seed };
    memory_wipe(&seed, sizeof seed);
    return BLY_OK;
}

bly_status handle_check_secret(const void *image, const void *secret)
{
    kind_hasher hasher = { .seed = { .low = 0 } };
    bly_status status = handle_hasher(&hasher, image, secret);
    memory_wipe(&hasher, sizeof hasher);
    return status;
}

/* A handle is followed by its kind's view, if any, aligned for uint64_t: a
 * struct of 32-bit pointers may end in between. */
enum {
    HANDLE_VIEW  = (sizeof(bly_filter) + 7) / 8 * 8,
    HANDLE_BYTES = HANDLE_VIEW + KIND_VIEW
};

static bool handle_ask_away(const void *subject, uint64_t hash)
{
    const bly_filter *filter = subject;
    bool present;
    filter->away->contains_many(filter, &hash, 1, &present);
    return present;
}

void handle_choose(bly_filter *filter)
{
    const bly_kind *kind = filter->kind;
    filter->subject = filter->image;
    filter->contains = kind->contains;
    filter->whole = KIND_HAS(kind, whole, contains) ? kind->whole : NULL;
    if (filter->away != NULL) {
        filter->subject = filter;
        filter->contains = handle_ask_away;
    } else if (kind->contains_here != NULL) {
        filter->contains = kind->contains_here(&filter->subject,
                                               (char *)filter + HANDLE_VIEW);
    }
}

void handle_replace(bly_filter *filter, void *image, size_t bytes)
{
    memory_release(&filter->allocator, filter->image, filter->bytes);
    filter->image = image;
    filter->bytes = bytes;
    handle_choose(filter);
}

static void handle_foreign_hasher(kind_hasher *out, const bly_kind *kind,
                                  const void *image)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(image, i);
    kind->foreign->hasher(out, geometry);
}

bly_status handle_make(bly_filter **out, const bly_kind *kind, void *image,
                       size_t bytes, const handle_source *source,
                       const handle_options *options)
{
    bly_filter *filter = memory_zeroed(&options->allocator, HANDLE_BYTES);
    if (filter == NULL)
        return status_plain(BLY_ENOMEM);
    *filter = (bly_filter){
        .kind = kind, .image = image, .bytes = bytes, .source = source,
        .allocator = options->allocator, .threads = options->threads,
        .memory_limit = options->memory_limit,
        .items = image_u64(image, IMAGE_ITEMS),
        .writable = true,
    };
    bly_status status = BLY_OK;
    if (kind->foreign != NULL && kind->foreign->hasher != NULL)
        handle_foreign_hasher(&filter->hasher, kind, image);
    else if (options->hasher != NULL)
        filter->hasher = *options->hasher;
    else
        status = handle_hasher(&filter->hasher, image, options->secret);
    if (status != BLY_OK) {
        memory_release(&options->allocator, filter, HANDLE_BYTES);
        return status;
    }
    threads_lock_make(&filter->lock);
    handle_choose(filter);
    *out = filter;
    return BLY_OK;
}

bly_status handle_own(bly_filter **out, const bly_kind *kind, void *image,
                      size_t bytes, const handle_options *options)
{
    bly_status status = handle_make(out, kind, image, bytes, &handle_owned,
                                    options);
    if (status != BLY_OK)
        memory_release(&options->allocator, image, bytes);
    return status;
}

void bly_progress_set(bly_filter *filter, const bly_progress *progress)
{
    const bly_progress none = { NULL, NULL };
    filter->progress = progress != NULL ? *progress : none;
}

void bly_free(bly_filter *filter)
{
    if (filter == NULL)
        return;
    bly_progress_set(filter, NULL);     /* the rest cannot be cancelled     */
    task *outer = task_aside();
    if (filter->source->release != NULL)
        filter->source->release(filter);
    task_back(outer);
    threads_lock_end(&filter->lock);
    bly_allocator allocator = filter->allocator;
    memory_wipe(&filter->hasher, sizeof filter->hasher);
    memory_release(&allocator, filter, HANDLE_BYTES);
}

/* ---- Changing ---------------------------------------------------------- */

bly_status handle_share(bly_filter *filter)
{
    if (filter->kind->sharing == NULL)
        return handle_unsupported(filter->kind, "be shared among threads",
                                  BLY_CAN_SHARE);
    filter->sharing = filter->kind->sharing;
    return BLY_OK;
}

bly_status handle_read_only(void)
{
    return status_fail(BLY_EREADONLY, "the filter is open for reading only: "
                       "open its file for writing (BLY_WRITE), or change a "
                       "copy of it (bly_copy)");
}

/* If many threads begin at once, all wait until one has marked the file on the
 * disk: `changed` is true only then. */
bly_status handle_begin(bly_filter *filter)
{
    if (!filter->writable)
        return handle_read_only();
    if (platform_load_flag(&filter->changed))
        return BLY_OK;
    bly_status status = BLY_OK;
    threads_lock_take(&filter->lock);
    if (!filter->changed) {
        if (filter->source->begin != NULL)
            status = filter->source->begin(filter);
        platform_store_flag(&filter->changed, status == BLY_OK);
    }
    threads_lock_give(&filter->lock);
    return status;
}

/* If several threads pass the limit together, each marks the count as unknown
 * after its own addition, so that the last one leaves it so. */
void handle_count_items(bly_filter *filter, uint64_t n)
{
    uint64_t was = platform_load64(&filter->items);
    if (was == IMAGE_ITEMS_UNKNOWN)
        return;
    if (filter->sharing != NULL)
        was = platform_add64(&filter->items, n);
    else
        filter->items = was + n;
    if (was >= IMAGE_ITEMS_UNKNOWN - n)
        platform_store64(&filter->items, IMAGE_ITEMS_UNKNOWN);
}

void handle_uncount_items(bly_filter *filter, uint64_t n)
{
    if (filter->items != IMAGE_ITEMS_UNKNOWN)
        filter->items = n <= filter->items ? filter->items - n
                                           : IMAGE_ITEMS_UNKNOWN;
}

bly_status handle_here(const bly_filter *filter, const char *verb)
{
    if (filter->away == NULL)
        return BLY_OK;
    return status_fail(BLY_EUNSUPPORTED, "a filter that is open page by page "
                       "cannot be %s: open its file without BLY_PAGED", verb);
}

/* The header must reach the disk last, so the kind's own checksums are made
 * before the flush. After a failed flush nothing more can be done, and the next
 * change is refused at its beginning. */
static void handle_seal_changed(bly_filter *own)
{
    if (own->kind->pages != NULL)
        own->kind->pages->seal_all(own->image);
    if (task_cancelled())
        return;
    if (own->source->flush == NULL || own->source->flush(own)) {
        image_set_u64(own->image, IMAGE_ITEMS, own->items);
        image_seal(own->image);
    }
    if (!task_cancelled())
        platform_store_flag(&own->changed, false);
}

/* Reading a filter may require its checksums to be made first. Readers can see
 * that only through the image, which is locked here. */
bool handle_seal(const bly_filter *filter)
{
    bly_filter *own = (bly_filter *)(uintptr_t)filter;
    if (platform_load_flag(&own->changed)) {
        threads_lock_take(&own->lock);
        if (own->changed)
            handle_seal_changed(own);
        threads_lock_give(&own->lock);
    }
    return !own->unsure || image_u64(own->image, IMAGE_PAYLOAD_SUM) != 0;
}

bly_status handle_whole(const bly_filter *filter, const char *verb)
{
    bly_status here = handle_here(filter, verb);
    if (here != BLY_OK)
        return here;
    bool sealed = handle_seal(filter);
    bly_status status = task_status();
    if (sealed || status != BLY_OK)
        return status;
    return status_fail(BLY_EIO, "a mapped filter could not be flushed to the "
                       "disk, and the contents of its file are unknown: "
                       "rebuild it, or use a copy (bly_copy) of the one in "
                       "memory");
}

void handle_read(const bly_filter *filter, void *into, size_t bytes)
{
    bly_filter *own = (bly_filter *)(uintptr_t)filter;
    if (!platform_load_flag(&own->changed)) {
        task_copy(into, own->image, bytes);
        return;
    }
    threads_lock_take(&own->lock);
    task_copy(into, own->image, bytes);
    threads_lock_give(&own->lock);
}
