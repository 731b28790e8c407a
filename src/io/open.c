/* open.c - opens a file by reading or mapping it. (pages.c opens it page by
 * page.)
 *
 * The header of a file mapped for writing is marked "being written" (no payload
 * checksum) on the disk before any page may change, and is sealed only after
 * all pages are on the disk. Whoever opens it after a crash gets an error
 * instead of losing keys silently. The file is locked, since two writers would
 * lose each other's keys. A packed file cannot be mapped and is unpacked into
 * memory.
 */
#include "io/access.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "formats/formats.h"
#include "io/foreign.h"
#include "io/paged/pages.h"

/* ---- Reading into memory ----------------------------------------------- */

/* Returns the size stated by a valid header. A regular file must have exactly
 * that size; a pipe's is unknown. */
static bly_status open_size(uint64_t *bytes, const uint8_t *header,
                            size_t have, const struct stat *info)
{
    *bytes = have;
    if (S_ISREG(info->st_mode))
        *bytes = (uint64_t)info->st_size;
    else if (have == IMAGE_HEADER)
        *bytes = image_u64(header, IMAGE_BYTES);
    return image_check_header(header, have < IMAGE_HEADER ? have : *bytes);
}

static bly_status open_no_memory(uint64_t bytes)
{
    return status_fail(BLY_ENOMEM, "out of memory: the filter takes %.4g MiB",
                       (double)bytes / (1 << 20));
}

/* Reads the rest of the image. A pipe's header may promise anything, so memory
 * grows with the bytes read, in few steps, so that most are not copied. */
static bly_status open_read_rest(access_coming *c, int file, const char *path,
                                 size_t bytes)
{
    uint8_t more;
    for (;;) {
        ssize_t got = access_read(file, c->image + c->have, c->room - c->have);
        if (got < 0)
            return access_failed("read", path);
        c->have += (size_t)got;
        if (c->have < c->room)
            return status_fail(BLY_ECORRUPT, "cut short: it has %zu bytes, but "
                               "its header says %zu: copy it again, or rebuild "
                               "it", c->have, bytes);
        if (c->have == bytes)
            break;
        if (!access_make_room(c, c->have < bytes / ACCESS_GROW
                                 ? c->have * ACCESS_GROW : bytes))
            return open_no_memory(bytes);
    }
    ssize_t beyond = access_read(file, &more, 1);
    if (beyond < 0)
        return access_failed("read", path);
    if (beyond > 0)
        return status_fail(BLY_ECORRUPT, "too long: it has more than the %zu "
                           "bytes in its header: copy it again, or rebuild it",
                           bytes);
    return BLY_OK;
}

/* Makes a handle that owns the image, whose header was checked, or one unpacked
 * from it. */
static bly_status open_owned(bly_filter **out, uint8_t *image, size_t bytes,
                             const handle_options *options)
{
    const bly_kind *kind;
    bly_status status = handle_check_kind(&kind, image);
    if (status == BLY_OK)
        status = image_check_payload(image);
    if (status != BLY_OK)
        return status;
    if (pack_whole_bytes(kind, image) == 0)
        return handle_make(out, kind, image, bytes, &handle_owned, options);
    status = pack_open(out, kind, image, options);
    if (status == BLY_OK)
        memory_release(&options->allocator, image, bytes);
    return status;
}

static bly_status open_into_memory(bly_filter **out, int file,
                                   const char *path, const struct stat *info,
                                   const handle_options *options)
{
    uint8_t header[IMAGE_HEADER];
    uint64_t bytes;
    ssize_t have = access_read(file, header, sizeof header);
    if (have < 0)
        return access_failed("read", path);
    if (formats_other(options->format, header, (size_t)have))
        return foreign_read(out, file, path, info, header, (size_t)have,
                            options);
    bly_status status = open_size(&bytes, header, (size_t)have, info);
    if (status != BLY_OK)
        return status_named(status, path);

    bool there = S_ISREG(info->st_mode) || bytes < ACCESS_TRUST;
    access_coming c = { .allocator = &options->allocator };
    if (!access_make_room(&c, there ? (size_t)bytes : ACCESS_TRUST))
        return status_named(open_no_memory(bytes), path);
    memcpy(c.image, header, sizeof header);
    c.have = sizeof header;
    task_phase(0.5, bytes);
    status = open_read_rest(&c, file, path, (size_t)bytes);
    task_phase(0.5, bytes);
    if (status == BLY_OK)
        status = open_owned(out, c.image, (size_t)bytes, options);
    if (status != BLY_OK && status != BLY_EIO && status != BLY_ECANCELED)
        status = status_named(status, path);
    if (status != BLY_OK)
        memory_release(&options->allocator, c.image, c.room);
    return status;
}

/* ---- Mapping ----------------------------------------------------------- */

/* Flushes only once: after a failed write the system may consider the pages
 * clean and report success. A signal may interrupt the wait. */
static bool open_mapped_sync(bly_filter *filter, size_t bytes)
{
    int result = -1;
    errno = filter->unsure ? EIO : EINTR;
    while (result != 0 && errno == EINTR)
        result = msync(filter->image, bytes, MS_SYNC);
    filter->unsure = result != 0;
    return !filter->unsure;
}

static bly_status open_mapped_failed(void)
{
    int error = errno;
    return status_system(BLY_EIO, error, "a mapped filter could not be flushed "
                         "to the disk: %s: the contents of the file are "
                         "unknown: rebuild it, or save a copy (bly_copy) "
                         "elsewhere", strerror(error));
}

static bly_status open_mapped_begin(bly_filter *filter)
{
    size_t page = access_page();
    if (filter->unsure) {
        errno = EIO;
        return open_mapped_failed();
    }
    uint64_t sum = image_u64(filter->image, IMAGE_PAYLOAD_SUM);
    filter->behind = true;
    image_unseal(filter->image);
    if (open_mapped_sync(filter, page < filter->bytes ? page : filter->bytes))
        return BLY_OK;
    image_seal_by(filter->image, sum);
    return open_mapped_failed();
}

/* Seals for a reader of the image (bly_image), who cannot receive an error: it
 * is kept for bly_seal to report. */
static bool open_mapped_flush(bly_filter *filter)
{
    return open_mapped_sync(filter, filter->bytes);
}

static void open_mapped_release(bly_filter *filter)
{
    (void)bly_seal(filter);
    munmap(filter->image, filter->bytes);
}

static const handle_source open_mapped = {
    .begin = open_mapped_begin,
    .flush = open_mapped_flush,
    .release = open_mapped_release,
};

static bly_status open_seal(bly_filter *filter)
{
    if (filter->source != &open_mapped || !filter->behind)
        return BLY_OK;
    if (filter->unsure)
        errno = EIO;
    bool sealed = handle_seal(filter);
    bly_status status = task_status();
    if (status != BLY_OK)
        return status;
    filter->behind = !sealed || !open_mapped_flush(filter);
    return filter->behind ? open_mapped_failed() : BLY_OK;
}

bly_status bly_sync(bly_filter *filter)
{
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, filter->away != NULL ? filter->away->sync(filter)
                                             : open_seal(filter));
}

bly_status bly_seal(bly_filter *filter)
{
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, filter->away != NULL ? filter->away->seal(filter)
                                             : open_seal(filter));
}

static bly_status open_check_mapped(const bly_kind **kind, const void *image,
                                    size_t bytes, int flags)
{
    bly_status status = handle_check(kind, image, bytes);
    if (status == BLY_OK)
        status = flags & BLY_VERIFY ? image_check_payload(image)
                                    : image_check_sealed(image);
    return status;
}

/* Maps it for reading, and unmaps it in any case. */
static bly_status open_packed(bly_filter **out, const bly_kind *kind,
                              const void *image, int flags,
                              const handle_options *options)
{
    if (flags & BLY_WRITE)
        return status_fail(BLY_EUNSUPPORTED, "the filter is packed and cannot "
                           "be changed in its file: open it without BLY_MAP, "
                           "and save it");
    bly_status status = image_check_payload(image);
    return status == BLY_OK ? pack_open(out, kind, image, options)
                            : status;
}

static bly_status open_map(bly_filter **out, int file, const char *path,
                           const struct stat *info, int flags,
                           const handle_options *options)
{
    uint8_t begins[KIND_LOOK];
    size_t bytes = (size_t)info->st_size;
    if (!S_ISREG(info->st_mode))
        return status_fail(BLY_EIO, "%s: only a regular file can be mapped: "
                           "open it without mapping", path);
    ssize_t have = access_read(file, begins, sizeof begins);
    if (have < 0)
        return access_failed("read", path);
    if (formats_other(options->format, begins, (size_t)have))
        return foreign_map(out, file, path, info, begins, (size_t)have, flags,
                           options);
    if (image_check_size((uint64_t)info->st_size) != BLY_OK)
        return status_named(BLY_ETOOBIG, path);
    bly_status status = flags & BLY_WRITE ? access_lock(file, path) : BLY_OK;
    if (status != BLY_OK)
        return status;

    int protection = flags & BLY_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    void *image = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);
    if (image == MAP_FAILED)
        return access_failed("map", path);
    const bly_kind *kind;
    status = open_check_mapped(&kind, image, bytes, flags);
    bool packed = status == BLY_OK && pack_whole_bytes(kind, image) != 0;
    if (packed)
        status = open_packed(out, kind, image, flags, options);
    else if (status == BLY_OK)
        status = handle_make(out, kind, image, bytes, &open_mapped, options);
    if (status != BLY_OK)
        status = status_named(status, path);
    if (packed || status != BLY_OK)
        munmap(image, bytes);
    if (status == BLY_OK)
        (*out)->writable = (flags & BLY_WRITE) != 0;
    return status;
}

/* ---- Open -------------------------------------------------------------- */

static bly_status open_check_flags(int flags)
{
    if (flags & ~(BLY_MAP | BLY_WRITE | BLY_SHARED | BLY_VERIFY | BLY_PAGED))
        return status_fail(BLY_EPARAM, "unknown open flag %#x",
                           (unsigned)flags);
    if ((flags & BLY_PAGED) && (flags & (BLY_MAP | BLY_SHARED)))
        return status_fail(BLY_EPARAM, "BLY_PAGED cannot be used with BLY_MAP "
                           "or BLY_SHARED: leave one of them out");
    if ((flags & BLY_WRITE) && !(flags & (BLY_MAP | BLY_PAGED)))
        return status_fail(BLY_EPARAM, "BLY_WRITE is for a mapped or paged "
                           "file: use BLY_MAP too, or change the copy in "
                           "memory and save it");
    return BLY_OK;
}

static bly_status open_file(bly_filter **out, int file, const char *path,
                            int flags, const handle_options *options)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return access_failed("examine", path);
    if (S_ISDIR(info.st_mode))
        return status_system(BLY_EIO, EISDIR, "%s: is a directory: name the "
                             "file of a filter", path);
    bly_filter *filter = NULL;
    bly_status status = flags & BLY_MAP
                      ? open_map(&filter, file, path, &info, flags, options)
                      : open_into_memory(&filter, file, path, &info, options);
    if (status == BLY_OK && (flags & BLY_SHARED)) {
        status = handle_share(filter);
        if (status != BLY_OK)
            bly_free(filter);
    }
    if (status != BLY_OK)
        return status;
    filter->file = access_identity(&info, (flags & BLY_WRITE) != 0);
    *out = filter;
    return BLY_OK;
}

bly_status bly_open(bly_filter **out, const char *path, int flags,
                    const bly_options *given)
{
    handle_options options;
    bly_status status = open_check_flags(flags);
    if (status == BLY_OK)
        status = handle_options_read(&options, given);
    if (status != BLY_OK)
        return status;
    task t;
    if (flags & BLY_PAGED) {
        struct stat info;
        uint64_t bytes = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
        task_begin(&t, options.progress, bytes);
        return task_end(&t, pages_open(out, path, flags, &options));
    }
    int mode = flags & BLY_WRITE ? O_RDWR : O_RDONLY;
    int file = open(path, mode | O_CLOEXEC);
    if (file < 0)
        return access_failed("open", path);
    task_begin(&t, options.progress, access_size(file));
    status = open_file(out, file, path, flags, &options);
    close(file);
    return task_end(&t, status);
}

/* ---- Without opening ---------------------------------------------------- */

bly_status bly_peek_file(bly_header *out, const char *path)
{
    uint8_t header[IMAGE_HEADER];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return access_failed("open", path);
    ssize_t have = access_read(file, header, sizeof header);
    bly_status status = have < 0 ? access_failed("read", path) : BLY_OK;
    close(file);
    if (status != BLY_OK)
        return status;
    status = bly_peek(out, header, (size_t)have);
    return status == BLY_OK ? BLY_OK : status_named(status, path);
}

bly_status bly_replaced(bool *out, const bly_filter *filter, const char *path)
{
    const handle_file *was = &filter->file;
    struct stat info;
    if (!was->known)
        return status_fail(BLY_EUNSUPPORTED, "the filter was not opened from "
                           "a file: compare filters instead");
    if (stat(path, &info) != 0)
        return access_failed("examine", path);
    handle_file is = access_identity(&info, was->ours);
    *out = is.device != was->device || is.number != was->number
        || (!was->ours && (is.bytes != was->bytes
                           || is.seconds != was->seconds
                           || is.nanoseconds != was->nanoseconds));
    return BLY_OK;
}
