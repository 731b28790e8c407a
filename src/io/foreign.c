/* foreign.c - opens other systems' files.
 *
 * An image is our header followed by the unchanged file. To load one, the file
 * is read to after the place of the header. A mapped file begins on a page, and
 * the header is the last 128 bytes of a page of memory in front of it, so a
 * file of many gigabytes is neither read nor copied in advance.
 */
#include "io/foreign.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "formats/formats.h"
#include "io/access.h"

/* Writes the header in front of the file, and makes a handle that owns both. */
static bly_status foreign_make(bly_filter **out, const formats_found *found,
                               uint8_t *image, uint64_t bytes,
                               const handle_source *source,
                               const handle_options *options)
{
    uint8_t header[IMAGE_HEADER] = { 0 };
    bly_status status = formats_head(header, found, image + IMAGE_HEADER,
                                     bytes);
    if (status != BLY_OK)
        return status;
    memcpy(image, header, sizeof header);
    status = handle_make(out, found->kind, image, (size_t)bytes + IMAGE_HEADER,
                         source, options);
    if (status != BLY_OK)
        return status;
    (*out)->changed = true;             /* its checksums are not made yet     */
    (*out)->bare = true;
    return BLY_OK;
}

/* ---- Into memory ------------------------------------------------------- */

/* Makes room for that many bytes of the file after the header; c->have includes
 * the header. */
static bly_status foreign_make_room(access_coming *c, uint64_t bytes)
{
    bly_status status = image_check_size(bytes + IMAGE_HEADER);
    if (status != BLY_OK)
        return status;
    return access_make_room(c, (size_t)bytes + IMAGE_HEADER)
         ? BLY_OK : handle_no_memory(bytes + IMAGE_HEADER);
}

/* Reads the rest of the file. A regular file must keep its size; a pipe's is
 * known at its end. */
static bly_status foreign_read_rest(access_coming *c, int file,
                                    const char *path, bool sized)
{
    for (;;) {
        size_t want = c->room - c->have;
        ssize_t got = access_read(file, c->image + c->have, want);
        if (got < 0)
            return access_failed("read", path);
        c->have += (size_t)got;
        if ((size_t)got < want || sized)
            break;
        bly_status status = foreign_make_room(c, (uint64_t)c->have
                                                 * ACCESS_GROW);
        if (status != BLY_OK)
            return status;
    }
    if (sized && c->have != c->room)
        return status_fail(BLY_EIO, "%s: the file became shorter while it was "
                           "read: open it when its writer has ended", path);
    return c->have == c->room ? BLY_OK
                              : foreign_make_room(c, c->have - IMAGE_HEADER);
}

static bly_status foreign_come(access_coming *c, formats_found *found, int file,
                               const char *path, const struct stat *info,
                               const char *format)
{
    bool sized = S_ISREG(info->st_mode);
    size_t begun = c->have - IMAGE_HEADER;
    uint64_t all = sized ? (uint64_t)info->st_size : ACCESS_TRUST;
    bly_status status = formats_choose(found, format, c->image + IMAGE_HEADER,
                                       begun, sized ? all : UINT64_MAX);
    if (status == BLY_OK && all < begun)
        status = status_fail(BLY_EIO, "%s: the file became longer while it was "
                             "read: open it when its writer has ended", path);
    if (status == BLY_OK)
        status = foreign_make_room(c, all);
    if (status == BLY_OK)
        status = foreign_read_rest(c, file, path, sized);
    return status;
}

bly_status foreign_read(bly_filter **out, int file, const char *path,
                        const struct stat *info, const uint8_t *bytes, size_t n,
                        const handle_options *options)
{
    formats_found found = { .kind = NULL };
    access_coming c = { .allocator = &options->allocator };
    bly_status status = foreign_make_room(&c, KIND_LOOK);
    if (status == BLY_OK) {
        memset(c.image, 0, IMAGE_HEADER);
        memcpy(c.image + IMAGE_HEADER, bytes, n);
        c.have = IMAGE_HEADER + n;
        ssize_t got = access_read(file, c.image + c.have, c.room - c.have);
        c.have += got > 0 ? (size_t)got : 0;
        status = got < 0 ? access_failed("read", path)
               : foreign_come(&c, &found, file, path, info, options->format);
    }
    if (status == BLY_OK)
        status = foreign_make(out, &found, c.image, c.have - IMAGE_HEADER,
                              &handle_owned, options);
    if (status != BLY_OK)
        memory_release(c.allocator, c.image, c.room);
    return status == BLY_OK || status == BLY_EIO ? status
                                                 : status_named(status, path);
}

/* ---- Mapped ------------------------------------------------------------ */

/* Returns the start of the memory that contains the header. */
static uint8_t *foreign_front(const bly_filter *filter)
{
    return filter->image - (access_page() - IMAGE_HEADER);
}

static void foreign_mapped_release(bly_filter *filter)
{
    munmap(foreign_front(filter), filter->bytes + access_page() - IMAGE_HEADER);
}

static const handle_source foreign_mapped = {
    .release = foreign_mapped_release,
};

/* Maps the file behind a page of memory. Returns where it begins, or NULL. */
static uint8_t *foreign_map_behind(int file, size_t bytes)
{
    size_t page = access_page();
    uint8_t *front = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (front == MAP_FAILED)
        return NULL;
    if (mmap(front + page, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0)
        != MAP_FAILED)
        return front + page;
    munmap(front, page + bytes);
    return NULL;
}

static bly_status foreign_check_flags(const struct stat *info, int flags)
{
    uint64_t bytes = (uint64_t)info->st_size;
    if (flags & BLY_WRITE)
        return status_fail(BLY_EUNSUPPORTED, "a filter in another system's "
                           "format cannot be changed in its file: open it "
                           "without BLY_MAP, and save it");
    if (bytes > UINT64_MAX - access_page())
        return status_plain(BLY_ETOOBIG);
    return image_check_size(bytes + access_page());
}

bly_status foreign_map(bly_filter **out, int file, const char *path,
                       const struct stat *info, const uint8_t *bytes, size_t n,
                       int flags, const handle_options *options)
{
    uint8_t header[IMAGE_HEADER] = { 0 };
    formats_found found = { .kind = NULL };
    size_t all = (size_t)info->st_size;
    bly_status status = formats_choose(&found, options->format, bytes, n,
                                       (uint64_t)info->st_size);
    if (status == BLY_OK && all == 0)   /* empty files cannot be mapped */
        status = formats_head(header, &found, bytes, 0);
    if (status == BLY_OK)
        status = foreign_check_flags(info, flags);
    if (status != BLY_OK)
        return status_named(status, path);
    uint8_t *mapped = foreign_map_behind(file, all);
    if (mapped == NULL)
        return access_failed("map", path);
    status = foreign_make(out, &found, mapped - IMAGE_HEADER, all,
                          &foreign_mapped, options);
    if (status == BLY_OK) {
        (*out)->writable = false;
        return BLY_OK;
    }
    munmap(mapped - access_page(), all + access_page());
    return status_named(status, path);
}
