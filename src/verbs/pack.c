/* pack.c - filters as bytes: the image, borrowed or shown; packed for the way
 * where the kind can, whole where it cannot.
 *
 * The other direction trusts nothing; files go through the same two functions
 * (src/io/).
 */
#include "bloomery.h"

#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "formats/formats.h"
#include "verbs/handle.h"

size_t pack_write(const bly_filter *filter, void *into)
{
    const void *image = filter->image;
    (void)handle_seal(filter);
    if (task_cancelled())
        return 0;
    if (filter->kind->packing == NULL) {
        task_copy(into, image, filter->bytes);
        return filter->bytes;
    }
    filter->kind->packing->pack(into, image);
    image_seal(into);
    return (size_t)image_u64(into, IMAGE_BYTES);
}

bly_status bly_pack(const bly_filter *filter, void *into, size_t room,
                    size_t *bytes)
{
    task t;
    size_t packed = 0;
    task_begin(&t, &filter->progress, filter->bytes);
    bly_status status = handle_whole(filter, "packed");
    if (status == BLY_OK && room < filter->bytes)
        status = status_fail(BLY_EPARAM, "there is room for %zu bytes, but "
                             "packing needs the size of the image, %zu: "
                             "allocate that", room, filter->bytes);
    if (status == BLY_OK) {
        packed = pack_write(filter, into);
        status = task_status();
    }
    if (status == BLY_OK)
        *bytes = packed;
    return task_end(&t, status);
}

uint64_t pack_whole_bytes(const bly_kind *kind, const void *image)
{
    uint64_t bytes = 0;
    if (kind->packing != NULL)
        (void)kind->packing->unpack_plan(&bytes, image);
    return bytes;
}

/* Returns a new image: unpacked, or copied. */
static void *pack_image(const bly_kind *kind, const void *image,
                        uint64_t plain, size_t bytes,
                        const bly_allocator *allocator)
{
    if (plain == 0) {
        void *copy = memory_raw(allocator, bytes);
        if (copy != NULL)
            task_copy(copy, image, bytes);
        return copy;
    }
    void *unpacked = memory_zeroed(allocator, plain);
    if (unpacked != NULL) {
        kind->packing->unpack(unpacked, image);
        image_seal(unpacked);
    }
    return unpacked;
}

bly_status pack_open(bly_filter **out, const bly_kind *kind,
                         const void *image, const handle_options *options)
{
    bly_status status = handle_check_secret(image, options->secret);
    if (status != BLY_OK)
        return status;
    uint64_t plain = pack_whole_bytes(kind, image);
    size_t bytes = (size_t)image_u64(image, IMAGE_BYTES);
    size_t own = plain != 0 ? (size_t)plain : bytes;
    status = memory_allows(options->memory_limit, bytes, own);
    if (status != BLY_OK)
        return status;
    void *unpacked = pack_image(kind, image, plain, bytes,
                                &options->allocator);
    if (unpacked == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the filter takes %.4g "
                           "MiB when it is unpacked",
                           (double)own / (1 << 20));
    status = task_status();
    if (status == BLY_OK)
        return handle_own(out, kind, unpacked, own, options);
    memory_release(&options->allocator, unpacked, own);
    return status;
}

/* Copies another system's file behind a header. */
static bly_status pack_foreign(bly_filter **out, const uint8_t *file,
                               size_t bytes, const handle_options *options)
{
    formats_found found;
    uint8_t header[IMAGE_HEADER] = { 0 };
    bly_status status = formats_choose(&found, options->format, file, bytes,
                                       bytes);
    if (status == BLY_OK)
        status = formats_head(header, &found, file, bytes);
    if (status == BLY_OK)
        status = image_check_size((uint64_t)bytes + IMAGE_HEADER);
    if (status != BLY_OK)
        return status;
    uint8_t *image = memory_raw(&options->allocator, bytes + IMAGE_HEADER);
    if (image == NULL)
        return handle_no_memory((uint64_t)bytes + IMAGE_HEADER);
    memcpy(image, header, IMAGE_HEADER);
    task_copy(image + IMAGE_HEADER, file, bytes);
    status = task_status();
    if (status != BLY_OK) {
        memory_release(&options->allocator, image, bytes + IMAGE_HEADER);
        return status;
    }
    status = handle_own(out, found.kind, image, bytes + IMAGE_HEADER,
                        options);
    if (status != BLY_OK)
        return status;
    (*out)->changed = true;             /* its checksums are still to be made */
    (*out)->bare = true;
    return BLY_OK;
}

static bly_status pack_unpack(bly_filter **out, const void *packed,
                              size_t bytes, const handle_options *options)
{
    const bly_kind *kind;
    if (formats_other(options->format, packed, bytes))
        return pack_foreign(out, packed, bytes, options);
    bly_status status = handle_check(&kind, packed, bytes);
    task_phase(0.5, bytes);
    if (status == BLY_OK)
        status = image_check_payload(packed);
    task_phase(0.5, bytes);
    return status == BLY_OK ? pack_open(out, kind, packed, options)
                            : status;
}

bly_status bly_unpack(bly_filter **out, const void *packed, size_t bytes,
                      const bly_options *given)
{
    handle_options options;
    task t;
    bly_status status = handle_options_read(&options, given);
    if (status != BLY_OK)
        return status;
    task_begin(&t, options.progress, bytes);
    return task_end(&t, pack_unpack(out, packed, bytes, &options));
}

/* ---- Where it is -------------------------------------------------------- */

/* For a borrowed image, which is not freed. */
static const handle_source pack_borrowed = { .release = NULL };

bly_status bly_wrap(bly_filter **out, const void *image, size_t bytes,
                    const bly_options *given)
{
    const bly_kind *kind;
    bly_filter *filter;
    handle_options options;
    bly_status status = handle_options_read(&options, given);
    if (status == BLY_OK)
        status = handle_check(&kind, image, bytes);
    if (status == BLY_OK)
        status = image_check_sealed(image);
    if (status == BLY_OK && pack_whole_bytes(kind, image) != 0)
        status = status_fail(BLY_EUNSUPPORTED, "the filter is packed and "
                             "cannot be used as it is: unpack it (bly_unpack)");
    if (status == BLY_OK)
        status = handle_make(&filter, kind, (void *)(uintptr_t)image, bytes,
                             &pack_borrowed, &options);
    if (status != BLY_OK)
        return status;
    filter->writable = false;           /* so the cast above changes nothing */
    *out = filter;
    return BLY_OK;
}

bly_status bly_check(const void *image, size_t bytes,
                     const bly_options *given)
{
    const bly_kind *kind;
    handle_options options;
    task t;
    bly_status status = handle_options_read(&options, given);
    task_begin(&t, status == BLY_OK ? options.progress : NULL, bytes);
    if (status == BLY_OK)
        status = handle_check(&kind, image, bytes);
    if (status == BLY_OK)
        status = task_status_or(image_check_payload(image));
    return task_end(&t, status);
}

const void *bly_image(const bly_filter *filter, size_t *bytes)
{
    task t;
    if (handle_here(filter, "shown as one image") != BLY_OK)
        return NULL;
    task_begin(&t, &filter->progress, filter->bytes);
    (void)handle_seal(filter);          /* or it says "being written" */
    if (task_end(&t, task_status()) != BLY_OK)
        return NULL;
    if (bytes != NULL)
        *bytes = filter->bytes;
    return filter->image;
}
