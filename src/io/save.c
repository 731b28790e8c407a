/* save.c - writing a filter to a file, all of it or not at all.
 *
 * Floor 6. The bytes go to a temporary file in the same folder; it is flushed
 * to the disk, renamed over the old one, and the folder is flushed. Whatever
 * fails before the rename leaves the old file as it was and removes the
 * temporary one; after the rename the new file is whole.
 */
#include "bloomery/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "verbs/handle.h"
#include "io/folder.h"

enum {
    SAVE_PIECE = 1 << 30,               /* bytes in one write call           */
    SAVE_PART = 4 << 20,                /* bytes asked for at a time         */
    SAVE_TRIES = 100                    /* names tried for a temporary file  */
};

static bly_status save_failed(const char *what, const char *path)
{
    const char *mend = errno == EACCES || errno == EPERM
                     ? "the owner of the folder can permit it, or save to "
                       "another place"
                     : "see to that, or save to another place";
    return status_fail(BLY_EIO, "%s: cannot %s: %s: %s", path, what,
                       strerror(errno), mend);
}

static bool save_write(int file, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(file, bytes, n < SAVE_PIECE ? n : SAVE_PIECE);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        bytes += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

/* What is to be written. */
typedef struct save_source save_source;
struct save_source {
    bool (*write)(save_source *from, int file);
    bly_status     status;              /* why it failed, if not by errno    */
    const uint8_t *bytes;               /* an image in memory …              */
    size_t         n;
    uint8_t       *header;              /* … or in parts behind its header,  */
    uint8_t       *piece;               /* with room for one                 */
    bly_part      *part;
    void          *context;
};

static bool save_write_bytes(save_source *from, int file)
{
    return save_write(file, from->bytes, from->n);
}

/* A device or a pipe: nothing there to be kept, so no detour. */
static bly_status save_straight(const char *path, const uint8_t *bytes,
                                size_t n)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return save_failed("open", path);
    bool written = save_write(file, bytes, n);
    int kept = errno;
    bool closed = close(file) == 0;
    if (!written)
        errno = kept;
    return written && closed ? BLY_OK : save_failed("write", path);
}

/* Open a new file beside `path`; its name goes to `temporary`. One that is to
 * have an old file's mode is nobody else's until it has that. */
static int save_temporary(char *temporary, const char *path,
                          const struct stat *old)
{
    mode_t mode = old != NULL ? 0600 : 0666;
    for (int i = 0; i < SAVE_TRIES; i++) {
        int length = snprintf(temporary, PATH_MAX, "%s.%ld-%d.tmp", path,
                              (long)getpid(), i);
        if (length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        mode);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* Write, flush and close the temporary file; keep the old file's mode. */
static bool save_fill(int file, const struct stat *old, save_source *from)
{
    bool filled = (old == NULL || fchmod(file, old->st_mode & 07777) == 0)
               && from->write(from, file)
               && fsync(file) == 0;
    int kept = errno;
    bool closed = close(file) == 0;
    if (!filled)
        errno = kept;
    return filled && closed;
}

static bly_status save_replace(char *path, const struct stat *old,
                               save_source *from)
{
    char temporary[PATH_MAX];
    int file = save_temporary(temporary, path, old);
    if (file < 0)
        return save_failed("make a file beside it", path);
    if (!save_fill(file, old, from)
        || rename(temporary, path) != 0) {
        bly_status status = from->status != BLY_OK
                          ? from->status : save_failed("write", path);
        unlink(temporary);
        return status;
    }
    return folder_flush(path) ? BLY_OK
                              : save_failed("flush the folder of", path);
}

static bly_status save_from(const char *path, save_source *from)
{
    char real[PATH_MAX];
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return status_fail(BLY_EIO, "%s: is a directory: name a file", path);
    if (exists && !S_ISREG(old.st_mode) && from->bytes == NULL)
        return status_fail(BLY_EIO, "%s: is not a regular file, and a filter "
                           "in parts can only be saved to one: name another",
                           path);
    if (exists && !S_ISREG(old.st_mode))
        return save_straight(path, from->bytes, from->n);
    if (exists && realpath(path, real) == NULL)
        return save_failed("follow", path);
    if (!exists && (size_t)snprintf(real, sizeof real, "%s", path)
                   >= sizeof real) {
        errno = ENAMETOOLONG;
        return save_failed("write", path);
    }
    return save_replace(real, exists ? &old : NULL, from);
}

static bly_status save_bytes(const char *path, const uint8_t *bytes, size_t n)
{
    save_source from = { .write = save_write_bytes, .bytes = bytes, .n = n };
    return save_from(path, &from);
}

bly_status bly_save(const bly_filter *filter, const char *path)
{
    size_t n = 0;
    bly_status here = handle_here(filter, "saved, being on the disk already");
    if (here != BLY_OK)
        return here;
    const uint8_t *bytes = bly_image(filter, &n);
    if (filter->kind->pack == NULL)
        return save_bytes(path, bytes, n);
    bly_allocator allocator = filter->allocator;
    uint8_t *packed = memory_raw(&allocator, n);
    if (packed == NULL)
        return status_fail(BLY_ENOMEM, "%s: out of memory: to pack the filter "
                           "takes %.4g MiB", path, (double)n / (1 << 20));
    bly_status status = save_bytes(path, packed, handle_pack(filter, packed));
    memory_release(&allocator, packed, n);
    return status;
}

/* ---- An image that is elsewhere ----------------------------------------- */

/* The payload, piece after piece, into the file and the checksum. */
static bool save_write_payload(save_source *from, int file,
                               hash_stream *stream)
{
    uint64_t bytes = image_u64(from->header, IMAGE_BYTES);
    for (uint64_t at = IMAGE_HEADER; at < bytes; at += SAVE_PART) {
        size_t n = bytes - at < SAVE_PART ? (size_t)(bytes - at) : SAVE_PART;
        if (!from->part(from->context, at, from->piece, n)) {
            from->status = status_fail(BLY_EIO, "a part of the filter, %zu "
                                       "bytes from byte %llu on, could not be "
                                       "read: nothing was saved", n,
                                       (unsigned long long)at);
            return false;
        }
        hash_stream_feed(stream, from->piece, n);
        if (!save_write(file, from->piece, n))
            return false;
    }
    return true;
}

/* The header, too early; the payload; and the header with its checksums. */
static bool save_write_parts(save_source *from, int file)
{
    hash_stream *stream = hash_stream_start();
    if (stream == NULL)
        return false;
    bool written = save_write(file, from->header, IMAGE_HEADER)
                && save_write_payload(from, file, stream);
    int kept = errno;
    image_seal_by(from->header, hash_stream_end(stream));
    errno = kept;
    return written && lseek(file, 0, SEEK_SET) == 0
        && save_write(file, from->header, IMAGE_HEADER);
}

bly_status bly_save_parts(const bly_filter *like, const char *path,
                          uint64_t items, bly_part *part, void *context)
{
    uint8_t header[IMAGE_HEADER];
    bly_status status = handle_here(like, "saved in parts");
    if (status == BLY_OK
        && (like->kind->pack != NULL || like->kind->seal != NULL))
        status = status_fail(BLY_EUNSUPPORTED, "kind %s needs all of its image "
                             "to be saved: have it in one place (bly_save)",
                             like->kind->name);
    if (status != BLY_OK)
        return status;
    bly_allocator allocator = like->allocator;
    uint8_t *piece = memory_raw(&allocator, SAVE_PART);
    if (piece == NULL)
        return status_plain(BLY_ENOMEM);
    handle_read(like, header, IMAGE_HEADER);
    image_set_u64(header, IMAGE_ITEMS, items);
    save_source from = { .write = save_write_parts, .header = header,
                         .piece = piece, .part = part, .context = context };
    status = save_from(path, &from);
    memory_release(&allocator, piece, SAVE_PART);
    return status;
}
