/* save.c - saves a filter to a file, atomically.
 *
 * An image in memory, or one produced in parts, is written to a new file that
 * then replaces the old one (replace.c). If anything fails, the old file is
 * unchanged and nothing is left of the new one.
 */
#include "bloomery/foreign.h"
#include "bloomery/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/task.h"
#include "formats/formats.h"
#include "verbs/handle.h"
#include "verbs/registry.h"
#include "io/access.h"
#include "io/replace.h"

enum {
    SAVE_PART = 4 << 20                 /* bytes requested at a time         */
};

static bool save_write(int file, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(file, bytes, n < SAVE_PART ? n : SAVE_PART);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            bytes += wrote;
            n -= (size_t)wrote;
            access_drain(file, wrote);
        }
        if (task_step(wrote > 0 ? (uint64_t)wrote : 0)) {
            errno = ECANCELED;
            return false;
        }
    }
    return true;
}

/* The data to be written. */
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

/* Writes to a device or a pipe directly: there is no old file to protect. */
static bly_status save_straight(const char *path, const uint8_t *bytes,
                                size_t n)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return replace_failed("open", path);
    bool written = save_write(file, bytes, n);
    int kept = errno;
    bool closed = close(file) == 0;
    if (!written)
        errno = kept;
    return written && closed ? BLY_OK : replace_failed("write", path);
}

static bly_status save_replace(replacement *r, save_source *from)
{
    bly_status status = replace_begin(r);
    if (status != BLY_OK)
        return status;
    if (from->write(from, r->file))
        status = replace_end(r);
    else if (from->status != BLY_OK)
        status = from->status;
    else
        status = replace_failed("write", r->path);
    replace_drop(r);
    return status;
}

static bly_status save_from(const char *path, save_source *from)
{
    replacement r;
    bly_status status = replace_find(&r, path);
    if (status != BLY_OK)
        return status;
    if (r.exists && S_ISDIR(r.old.st_mode))
        return status_system(BLY_EIO, EISDIR, "%s: is a directory: name a file",
                             path);
    if (r.exists && !S_ISREG(r.old.st_mode) && from->bytes == NULL)
        return status_fail(BLY_EIO, "%s: is not a regular file, and a filter "
                           "in parts can be saved only to one: name another",
                           path);
    if (r.exists && !S_ISREG(r.old.st_mode))
        return save_straight(path, from->bytes, from->n);
    return save_replace(&r, from);
}

/* The place for the bytes of a file: a file or memory. */
typedef struct {
    const char *path;                   /* NULL: memory                      */
    void       *into;
    size_t      room;
    size_t     *bytes;                  /* where to write their number       */
} save_target;

static bly_status save_bytes(const save_target *to, const uint8_t *bytes,
                             size_t n)
{
    save_source from = { .write = save_write_bytes, .bytes = bytes, .n = n };
    if (to->path != NULL)
        return save_from(to->path, &from);
    if (n > to->room)
        return status_fail(BLY_EPARAM, "there is room for %zu bytes, but the "
                           "filter takes %zu: allocate the size of the image",
                           to->room, n);
    task_copy(to->into, bytes, n);
    bly_status status = task_status();
    if (status == BLY_OK)
        *to->bytes = n;
    return status;
}

/* Names the file in an error, if there is one. */
static bly_status save_error(bly_status status, const save_target *to)
{
    return to->path != NULL ? status_named(status, to->path) : status;
}

static const char save_verb[] = "saved, being on the disk already";

static bly_status save_packed(const bly_filter *filter, const save_target *to)
{
    bly_allocator allocator = filter->allocator;
    size_t n = filter->bytes;
    uint8_t *packed = memory_raw(&allocator, n);
    if (packed == NULL)
        return save_error(
            status_fail(BLY_ENOMEM, "out of memory: packing the filter takes "
                        "%.4g MiB", (double)n / (1 << 20)), to);
    size_t bytes = pack_write(filter, packed);
    bly_status status = task_status();
    if (status == BLY_OK)
        status = save_bytes(to, packed, bytes);
    memory_release(&allocator, packed, n);
    return status;
}

static bly_status save_image(const bly_filter *filter, const save_target *to)
{
    task_phase(0.3, filter->bytes);
    bly_status status = handle_whole(filter, save_verb);
    task_phase(0.7, filter->bytes);
    if (status != BLY_OK)
        return status;
    if (filter->kind->packing != NULL)
        return save_packed(filter, to);
    return save_bytes(to, filter->image, filter->bytes);
}

/* Writes another system's file: the image without its header, which has the
 * only checksums. */
static bly_status save_foreign(const bly_filter *filter, const save_target *to)
{
    bly_status here = handle_here(filter, save_verb);
    return here != BLY_OK ? here
         : save_bytes(to, image_payload(filter->image),
                      image_payload_bytes(filter->image));
}

/* Writes it in the form in which it was made or opened: of another system's
 * file, an image of ours also has what an option told when it was opened. */
static bly_status save_same(const bly_filter *filter, const save_target *to)
{
    return filter->bare ? save_foreign(filter, to) : save_image(filter, to);
}

bly_status bly_save(const bly_filter *filter, const char *path)
{
    const save_target to = { .path = path };
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, save_same(filter, &to));
}

/* ---- Conversion to a twin kind ------------------------------------------ */

static bool save_named(const bly_kind *kind, const char *name)
{
    return kind != NULL && name != NULL && strcmp(kind->name, name) == 0;
}

/* Returns whether the filter, of our kind for the format, has its bits. */
static bool save_is_twin(const bly_filter *filter, const kind_foreign *format)
{
    const hash_info *hash = hash_find_field(filter->image + IMAGE_HASH);
    return save_named(filter->kind, format->twin.kind)
        && hash != NULL && strcmp(hash->name, format->twin.hash) == 0
        && image_u64(filter->image, IMAGE_SEED) == 0;
}

/* Writes it as another system's file: a header, then its bits. */
static bly_status save_to_twin(const bly_filter *filter, const save_target *to,
                               const kind_foreign *format)
{
    uint64_t bits = image_payload_bytes(filter->image);
    size_t head = format->twin.head(NULL, bits);
    bly_status status = handle_here(filter, save_verb);
    if (status != BLY_OK)
        return status;
    if (head == 0)
        return save_error(
            status_fail(BLY_ETOOBIG, "files of this format cannot hold %.4g "
                        "MiB of bits: build it for fewer keys, or with a "
                        "higher rate", (double)bits / (1 << 20)), to);
    bly_allocator allocator = filter->allocator;
    uint8_t *file = memory_raw(&allocator, head + bits);
    if (file == NULL)
        return save_error(handle_no_memory(head + bits), to);
    format->twin.head(file, bits);
    task_copy(file + head, image_payload(filter->image), (size_t)bits);
    status = save_bytes(to, file, head + (size_t)bits);
    memory_release(&allocator, file, head + (size_t)bits);
    return status;
}

/* Writes it as an image of our kind; its number of keys is unknown. */
static bly_status save_from_twin(const bly_filter *filter,
                                 const save_target *to)
{
    const kind_foreign *format = filter->kind->foreign;
    uint64_t all = image_payload_bytes(filter->image), bits = all - 1;
    bly_filter *twin = NULL;
    char kind[64];
    while (bits > 0 && format->twin.head(NULL, bits) + bits != all)
        bits--;
    const bly_spec spec = {
        .capacity = image_u64(filter->image, IMAGE_CAPACITY),
        .hash = format->twin.hash, .allocator = &filter->allocator,
    };
    snprintf(kind, sizeof kind, "%s:%s=%llu", format->twin.kind,
             format->twin.size, 8 * (unsigned long long)bits);
    bly_status status = handle_here(filter, save_verb);
    if (status == BLY_OK)
        status = bly_new(&twin, kind, &spec);
    if (status != BLY_OK)
        return save_error(status, to);
    task_copy(image_payload_mut(twin->image),
              image_payload(filter->image) + (all - bits), (size_t)bits);
    twin->items = IMAGE_ITEMS_UNKNOWN;
    twin->changed = true;
    status = save_image(twin, to);
    bly_free(twin);
    return status;
}

/* ---- In a format -------------------------------------------------------- */

/* Refuses a format that does not exist, or has other bits. */
static bly_status save_not_as(const bly_filter *filter, const save_target *to,
                              const char *format)
{
    formats_found other;
    bly_status status = formats_choose(&other, format, NULL, 0, 0);
    if (status == BLY_OK)
        status = status_fail(BLY_EUNSUPPORTED, "a filter of kind %s cannot be "
                             "written as %s, which sets other bits for a key: "
                             "build a filter of kind %s from the keys",
                             filter->kind->name, format, format);
    return save_error(status, to);
}

static bly_status save_as(const bly_filter *filter, const save_target *to,
                          const char *format)
{
    if (format == NULL)
        return save_same(filter, to);
    if (strcmp(format, "bloomery") == 0)
        return save_image(filter, to);
    const kind_foreign *own = filter->kind->foreign;
    const bly_kind *other = registry_find(format, strlen(format));
    if (own != NULL && save_named(other, filter->kind->name))
        return save_foreign(filter, to);
    if (own != NULL && save_named(other, own->twin.kind))
        return save_from_twin(filter, to);
    if (other != NULL && other->foreign != NULL
        && save_is_twin(filter, other->foreign))
        return save_to_twin(filter, to, other->foreign);
    return save_not_as(filter, to, format);
}

bly_status bly_save_as(const bly_filter *filter, const char *path,
                       const char *format)
{
    const save_target to = { .path = path };
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, save_as(filter, &to, format));
}

bly_status bly_pack_as(const bly_filter *filter, const char *format,
                       void *into, size_t room, size_t *bytes)
{
    const save_target to = { .into = into, .room = room, .bytes = bytes };
    task t;
    task_begin(&t, &filter->progress, filter->bytes);
    return task_end(&t, save_as(filter, &to, format));
}

/* ---- An image that is elsewhere ----------------------------------------- */

/* Writes the payload piece by piece, and updates the checksum. */
static bool save_write_payload(save_source *from, int file,
                               hash_stream *stream)
{
    uint64_t bytes = image_u64(from->header, IMAGE_BYTES);
    for (uint64_t at = IMAGE_HEADER; at < bytes; at += SAVE_PART) {
        size_t n = bytes - at < SAVE_PART ? (size_t)(bytes - at) : SAVE_PART;
        task *outer = task_aside();     /* the callback may call the library */
        bool given = from->part(from->context, at, from->piece, n);
        task_back(outer);
        if (!given) {
            from->status = status_fail(BLY_EIO, "%zu bytes of the filter from "
                                       "byte %llu on could not be read: "
                                       "nothing was saved", n,
                                       (unsigned long long)at);
            return false;
        }
        hash_stream_feed(stream, from->piece, n);
        if (!save_write(file, from->piece, n))
            return false;
    }
    return true;
}

/* Writes a provisional header, the payload, and then the header with checksums.
 */
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
        && (like->kind->packing != NULL || like->kind->pages != NULL))
        status = status_fail(BLY_EUNSUPPORTED, "kind %s needs its whole image "
                             "to be saved: keep it in one place (bly_save)",
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
    task t;
    task_begin(&t, &like->progress, image_u64(header, IMAGE_BYTES));
    status = task_end(&t, save_from(path, &from));
    memory_release(&allocator, piece, SAVE_PART);
    return status;
}
