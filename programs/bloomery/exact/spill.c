/* spill.c - streams of bytes that spill to disk.
 *
 * A stream is written once and then read from its start. It consists of blocks.
 * A full block stays in memory while the store has room for it, and otherwise
 * goes to a place in a temporary file that all streams share:
 *
 *     stream a   | block 0 | block 1 | block 2 | open, not full |
 *                 in memory     |         |
 *     the file         | place 0 | place 1 | place 2 | …
 *
 * The file never has a name, so its space is released however the program ends.
 */
#include "bloomery/exact/dedup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ==== The file ========================================================== */

static const char *spill_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

static int spill_refuse(const char *what, bool memory)
{
    int error = errno;
    const char *also = memory ? ", or use more --memory" : "";
    const char *folder = error == EACCES || error == EROFS
                       ? "a folder that you can write to"
                       : error == ENOENT || error == ENOTDIR
                       ? "a folder that exists" : "a folder with room";

    if (error == EMFILE || error == ENFILE)
        return report_error("cannot %s a temporary file: %s: allow more open "
                            "files (ulimit -n)%s", what, strerror(error), also);
    return report_error("cannot %s a temporary file in '%s': %s: set TMPDIR to "
                        "%s%s", what, spill_folder(), strerror(error), folder,
                        also);
}

/* Creates and unlinks a file, on systems that cannot create one unnamed. */
static int spill_file_named(void)
{
    char path[4096];
    int fd;

    if ((size_t)snprintf(path, sizeof path, "%s/bloomery-XXXXXX",
                         spill_folder()) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int spill_make(void)
{
    int fd = -1;

#ifdef O_TMPFILE
    fd = open(spill_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0)
        fd = spill_file_named();
    return fd;
}

int spill_file(bool memory)
{
    int fd = spill_make();

    if (fd < 0)
        spill_refuse("make", memory);
    return fd;
}

/* Writes at offset `at`, or appends if it is negative. */
static bool spill_write_at(int fd, const unsigned char *data, size_t n,
                           off_t at)
{
    while (n > 0) {
        ssize_t wrote = at < 0 ? write(fd, data, n) : pwrite(fd, data, n, at);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote == 0)
            errno = EIO;
        if (wrote <= 0)
            return false;
        data += wrote;
        n -= (size_t)wrote;
        at += at < 0 ? 0 : wrote;
    }
    return true;
}

int spill_write(int fd, const void *data, size_t n, bool memory)
{
    return spill_write_at(fd, data, n, -1) ? CLI_GO
                                           : spill_refuse("write", memory);
}

static bool spill_read_at(int fd, unsigned char *data, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t got = pread(fd, data, n, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return false;
        data += got;
        n -= (size_t)got;
        at += got;
    }
    return true;
}

int spill_read_file(int fd, void *data, size_t n, uint64_t at)
{
    return spill_read_at(fd, data, n, (off_t)at) ? 0 : errno;
}

int spill_unread(int error)
{
    errno = error;
    return spill_refuse("read", true);
}

/* ==== The store ========================================================= */

void spill_open(spill_store *s, size_t block, uint64_t memory)
{
    memset(s, 0, sizeof *s);
    s->block = block;
    s->most = memory / block;
    s->fd = -1;
    pthread_mutex_init(&s->lock, NULL);
}

void spill_close(spill_store *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->spare);
    pthread_mutex_destroy(&s->lock);
}

bool spill_failed(spill_store *s)
{
    pthread_mutex_lock(&s->lock);
    bool failed = s->failed;
    pthread_mutex_unlock(&s->lock);
    return failed;
}

/* Reports the first error only. */
static bool spill_fail(spill_store *s, const char *what)
{
    int error = errno;

    pthread_mutex_lock(&s->lock);
    bool first = !s->failed;
    s->failed = true;
    pthread_mutex_unlock(&s->lock);
    errno = error;
    if (first && what != NULL)
        spill_refuse(what, true);
    else if (first)
        report_no_memory();
    return false;
}

/* Returns whether one more block may stay in memory. */
static bool spill_hold(spill_store *s)
{
    pthread_mutex_lock(&s->lock);
    bool hold = s->held < s->most;
    s->held += hold;
    pthread_mutex_unlock(&s->lock);
    return hold;
}

/* Allocates a place in the file, which is created when first needed. */
static bool spill_place(spill_store *s, uint64_t *place)
{
    pthread_mutex_lock(&s->lock);
    bool known = s->failed;
    if (s->fd < 0 && !known) {
        s->fd = spill_make();
        if (s->fd < 0)
            spill_refuse("make", true);
    }
    s->failed |= s->fd < 0;
    if (s->spares > 0)
        *place = s->spare[--s->spares];
    else
        *place = s->used++;
    bool ready = !s->failed;
    pthread_mutex_unlock(&s->lock);
    return ready;
}

/* Frees the place of a block. A place that cannot be recorded stays unused. */
static void spill_leave(spill_store *s, const spill_block *block)
{
    pthread_mutex_lock(&s->lock);
    if (block->memory != NULL) {
        s->held--;
    } else {
        if (s->spares == s->spare_room) {
            size_t room = 2 * s->spare_room + 64;
            uint64_t *grown = realloc(s->spare, room * sizeof *grown);

            s->spare = grown != NULL ? grown : s->spare;
            s->spare_room = grown != NULL ? room : s->spare_room;
        }
        if (s->spares < s->spare_room)
            s->spare[s->spares++] = block->place;
    }
    pthread_mutex_unlock(&s->lock);
    free(block->memory);
}

static off_t spill_offset(const spill_store *s, uint64_t place)
{
    return (off_t)(place * s->block);
}

/* ==== Writing =========================================================== */

static spill_block *spill_next_block(spill_stream *stream)
{
    size_t room = 2 * stream->room + 4;
    spill_block *grown;

    if (stream->n < stream->room)
        return &stream->blocks[stream->n];
    grown = realloc(stream->blocks, room * sizeof *grown);
    if (grown == NULL)
        return NULL;
    stream->blocks = grown;
    stream->room = room;
    return &grown[stream->n];
}

/* Keeps the open block, which is full, or writes it and reuses its memory. */
static bool spill_put(spill_store *s, spill_stream *stream)
{
    spill_block *block = spill_next_block(stream);

    if (block == NULL)
        return spill_fail(s, NULL);
    *block = (spill_block){ NULL, 0 };
    if (spill_hold(s)) {
        block->memory = stream->open;
        stream->open = NULL;
    } else {
        if (!spill_place(s, &block->place))
            return false;
        if (!spill_write_at(s->fd, stream->open, s->block,
                            spill_offset(s, block->place)))
            return spill_fail(s, "write");
    }
    stream->n++;
    stream->used = 0;
    return true;
}

bool spill_append(spill_store *s, spill_stream *stream, const void *data,
                  size_t n)
{
    const unsigned char *from = data;

    while (n > 0) {
        size_t part = s->block - stream->used;

        if (stream->open == NULL)
            stream->open = malloc(s->block);
        if (stream->open == NULL)
            return spill_fail(s, NULL);
        part = n < part ? n : part;
        memcpy(stream->open + stream->used, from, part);
        stream->used += part;
        from += part;
        n -= part;
        if (stream->used == s->block && !spill_put(s, stream))
            return false;
    }
    return true;
}

void spill_finish(spill_stream *stream)
{
    unsigned char *less;

    if (stream->used == 0) {
        free(stream->open);
        stream->open = NULL;
        return;
    }
    less = realloc(stream->open, stream->used);
    if (less != NULL)
        stream->open = less;
}

void spill_drop(spill_store *s, spill_stream *stream)
{
    for (size_t i = 0; i < stream->n; i++)
        spill_leave(s, &stream->blocks[i]);
    free(stream->blocks);
    free(stream->open);
    memset(stream, 0, sizeof *stream);
}

/* ==== Reading =========================================================== */

void spill_read(spill_reader *r, spill_store *s, const spill_stream *stream)
{
    memset(r, 0, sizeof *r);
    r->store = s;
    r->stream = stream;
}

void spill_read_end(spill_reader *r)
{
    free(r->buffer);
    free(r->joined);
    memset(r, 0, sizeof *r);
}

static bool spill_fetch(spill_reader *r, const spill_block *block)
{
    spill_store *s = r->store;

    if (r->buffer == NULL)
        r->buffer = malloc(s->block);
    if (r->buffer == NULL)
        return spill_fail(s, NULL);
    if (!spill_read_at(s->fd, r->buffer, s->block,
                       spill_offset(s, block->place)))
        return spill_fail(s, "read");
    return true;
}

/* Moves to the next block. Returns false at the end. */
static bool spill_turn(spill_reader *r)
{
    const spill_stream *stream = r->stream;
    size_t number = r->next, length = r->store->block;

    if (number > stream->n)
        return false;
    if (number == stream->n) {
        r->at = stream->open;
        length = stream->used;
    } else if (stream->blocks[number].memory != NULL) {
        r->at = stream->blocks[number].memory;
    } else {
        if (!spill_fetch(r, &stream->blocks[number]))
            return false;
        r->at = r->buffer;
    }
    r->end = length > 0 ? r->at + length : r->at;
    r->next++;
    return true;
}

/* Copies bytes that span several blocks into one piece. */
static const unsigned char *spill_join(spill_reader *r, size_t n)
{
    size_t have = 0;

    if (n > r->joined_room) {
        unsigned char *grown = realloc(r->joined, n);

        if (grown == NULL) {
            spill_fail(r->store, NULL);
            return NULL;
        }
        r->joined = grown;
        r->joined_room = n;
    }
    while (have < n) {
        size_t part = (size_t)(r->end - r->at);

        part = n - have < part ? n - have : part;
        if (part > 0)
            memcpy(r->joined + have, r->at, part);
        have += part;
        r->at += part;
        if (have < n && !spill_turn(r))
            return NULL;
    }
    return r->joined;
}

const unsigned char *spill_get(spill_reader *r, size_t n)
{
    const unsigned char *from;

    if (n == 0)
        return (const unsigned char *)"";
    while (r->at == r->end)
        if (!spill_turn(r))
            return NULL;
    from = r->at;
    if ((size_t)(r->end - from) < n)
        return spill_join(r, n);
    r->at += n;
    return from;
}

/* ==== Numbers =========================================================== */

size_t spill_number(unsigned char out[SPILL_NUMBER], uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

bool spill_get_number(spill_reader *r, uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        const unsigned char *byte = spill_get(r, 1);

        if (byte == NULL)
            return false;
        sum |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80) {
            *value = sum;
            return true;
        }
    }
    return false;
}
