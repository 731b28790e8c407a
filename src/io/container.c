/* container.c - files of other systems that contain filters.
 *
 * src/formats/contents.h parses them. The file stays open, so that listing and
 * reading refer to the same file even if its name is reused.
 */
#include "bloomery/container.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/threads.h"
#include "formats/contents.h"
#include "io/access.h"

struct bly_container {
    contents_list   list;
    contents_source source;
    bly_allocator   allocator;
    char           *path;
    int             file;

    /* The filters that share the place read last, so that those of a column are
     * read once. */
    threads_lock    lock;
    contents_shared shared;
};

enum { CONTAINER_PIECE = 1 << 30 };     /* maximum bytes per read call       */

static bly_status container_read(void *context, uint8_t *out, uint64_t offset,
                                 size_t n)
{
    const bly_container *c = context;
    size_t have = 0;
    while (have < n) {
        size_t want = n - have < CONTAINER_PIECE ? n - have : CONTAINER_PIECE;
        ssize_t got = pread(c->file, out + have, want,
                            (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return access_failed("read", c->path);
        if (got == 0)
            return status_fail(BLY_EIO, "%s: it became shorter while it was "
                               "read: open it when its writer has ended",
                               c->path);
        have += (size_t)got;
    }
    return BLY_OK;
}

/* ---- Open and free ------------------------------------------------------ */

static bly_container *container_make(const char *path,
                                     const bly_allocator *allocator)
{
    size_t name = strlen(path) + 1;
    bly_container *c = memory_zeroed(allocator, sizeof *c);
    if (c == NULL)
        return NULL;
    c->allocator = *allocator;
    c->file = -1;
    c->path = memory_raw(allocator, name);
    if (c->path != NULL) {
        memcpy(c->path, path, name);
        threads_lock_make(&c->lock);
        return c;
    }
    memory_release(allocator, c, sizeof *c);
    return NULL;
}

void bly_container_free(bly_container *container)
{
    if (container == NULL)
        return;
    const bly_allocator allocator = container->allocator;
    if (container->file >= 0)
        close(container->file);
    contents_release(&container->list, &allocator);
    stripes_release(&container->shared, &allocator);
    threads_lock_end(&container->lock);
    memory_release(&allocator, container->path, strlen(container->path) + 1);
    memory_release(&allocator, container, sizeof *container);
}

static bly_status container_find(bly_container *c, uint64_t memory_limit,
                                 const bly_decompressor *with)
{
    struct stat info;
    c->file = open(c->path, O_RDONLY | O_CLOEXEC);
    if (c->file < 0)
        return access_failed("open", c->path);
    if (fstat(c->file, &info) != 0)
        return access_failed("examine", c->path);
    if (!S_ISREG(info.st_mode))
        return status_fail(BLY_EIO, "%s: only a regular file can be searched "
                           "for filters: name one", c->path);
    c->source = (contents_source){
        .read = container_read, .context = c, .allocator = &c->allocator,
        .bytes = (uint64_t)info.st_size, .memory_limit = memory_limit,
    };
    if (with != NULL)
        c->source.with = *with;
    bly_status status = carriers_find(&c->list, &c->source);
    return status == BLY_OK || status == BLY_EIO
         ? status : status_named(status, c->path);
}

static bly_status container_open(bly_container **out, const char *path,
                                 const bly_decompressor *with,
                                 const bly_options *given)
{
    handle_options options;
    bly_status status = handle_options_read(&options, given);
    if (status != BLY_OK)
        return status;
    bly_container *c = container_make(path, &options.allocator);
    if (c == NULL)
        return status_plain(BLY_ENOMEM);
    status = container_find(c, options.memory_limit, with);
    if (status == BLY_OK)
        *out = c;
    else
        bly_container_free(c);
    return status;
}

bly_status bly_container_open(bly_container **out, const char *path,
                              const bly_options *options)
{
    return container_open(out, path, NULL, options);
}

bly_status bly_container_open_with(bly_container **out, const char *path,
                                   const bly_decompressor *with,
                                   const bly_options *options)
{
    return container_open(out, path, with, options);
}

const bly_contents *bly_container_contents(const bly_container *of)
{
    return &of->list.is;
}

/* ---- A filter of it ----------------------------------------------------- */

/* The bytes of a filter. */
typedef struct {
    uint8_t *bytes;
    uint64_t n;
} container_bytes;

static bly_status container_room(container_bytes *out, const bly_container *c,
                                 uint64_t n)
{
    out->n = n;
    out->bytes = memory_raw(&c->allocator, n + 1);
    return out->bytes == NULL ? handle_no_memory(n) : BLY_OK;
}

/* Copies a filter from those that share its place, which are read unless they
 * were the last ones that were. The lock is held. */
static bly_status container_share(container_bytes *out, bly_container *c,
                                  const bly_contained *one,
                                  const bly_options *options)
{
    contents_shared *shared = &c->shared;
    bly_status status = BLY_OK;
    if (shared->bytes == NULL || shared->offset != one->offset) {
        contents_source source = c->source;
        source.memory_limit = options != NULL ? options->memory_limit : 0;
        stripes_release(shared, &c->allocator);
        status = stripes_load(shared, &c->list, &source, one);
    }
    if (status == BLY_OK)
        status = container_room(out, c, shared->filters[one->part].n);
    if (status == BLY_OK)
        memcpy(out->bytes, shared->bytes + shared->filters[one->part].at,
               (size_t)out->n);
    return status;
}

static bly_status container_take(container_bytes *out, bly_container *c,
                                 const bly_contained *one,
                                 const bly_options *options)
{
    bly_status status;
    if (one->parts > 0) {
        threads_lock_take(&c->lock);
        status = container_share(out, c, one, options);
        threads_lock_give(&c->lock);
        return status;
    }
    status = container_room(out, c, one->bytes);
    if (status == BLY_OK)
        status = container_read(c, out->bytes, one->offset, (size_t)out->n);
    return status;
}

static bly_status container_open_filter(bly_filter **out, bly_container *c,
                                        const bly_contained *one,
                                        const bly_options *options)
{
    bly_options how = options != NULL ? *options
                                      : (bly_options){ .format = NULL };
    container_bytes filter = { .bytes = NULL };
    how.format = one->format;
    bly_status status = container_take(&filter, c, one, options);
    if (status == BLY_OK)
        status = bly_unpack(out, filter.bytes, (size_t)filter.n, &how);
    if (filter.bytes != NULL)
        memory_release(&c->allocator, filter.bytes, (size_t)filter.n + 1);
    return status;
}

bly_status bly_container_filter(bly_filter **out,
                                const bly_container *container, size_t which,
                                const bly_options *options)
{
    const bly_contents *is = &container->list.is;
    if (which >= is->n)
        return status_fail(BLY_EPARAM, "%s: there are %zu filters: give a "
                           "smaller number", container->path, is->n);
    const bly_contained *one = &is->filters[which];
    bly_status status = one->format == NULL
        ? status_fail(BLY_EUNSUPPORTED, "it %s, so any key may be in it: "
                      "choose another", one->lacks)
        : container_open_filter(out, (bly_container *)(uintptr_t)container, one,
                                options);
    if (status == BLY_OK || status == BLY_EIO)
        return status;
    char where[STATUS_LINE];
    snprintf(where, sizeof where, "%s: %s %" PRIu64 "%s%.80s", container->path,
             is->group, one->group, one->column[0] != '\0' ? ", column " : "",
             one->column);
    return status_named(status, where);
}
