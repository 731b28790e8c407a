/* wrapped.c - filters that come in something: compressed, or written as text.
 *
 *      compressed   by what compressed lines may be too (frame/codec.c); within
 *                   it text, or any filter
 *      text         hexadecimal digits, or JSON (textual.c)
 *
 * Such a filter is read into memory, so it is for asking: what changes a filter
 * in its file does not take it. A small compressed file may stand for more than
 * there is memory: one of which more than WRAPPED_TIMES its own size came, and
 * more than WRAPPED_FREE, is refused. A file whose bytes are none of these in
 * whole is left to the library as it is. Floor 8; includes filters.h and
 * <bloomery.h> only.
 */
#include "filters/filters.h"

#include <bloomery/container.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WRAPPED_LOOK = 64, WRAPPED_FIRST = 1 << 16,
    WRAPPED_TIMES = 256, WRAPPED_FREE = 1 << 26
};

typedef struct {
    unsigned char *bytes;
    size_t         n, room;
} wrapped_text;

/* ==== Is it? ============================================================ */

/* Do they look like what a filter may come in? */
static bool wrapped_begins(const unsigned char *bytes, size_t n)
{
    bool more;
    const codec *c = codec_find(bytes, n, &more);

    return (c != NULL && c->open != NULL) || textual_begins(bytes, n);
}

bool wrapped_is(const char *path)
{
    unsigned char head[WRAPPED_LOOK];
    struct stat about;
    ssize_t got = -1;
    int file;

    path = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode))
        return true;
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        got = pread(file, head, sizeof head, 0);
    close(file);
    return got > 0 && wrapped_begins(head, (size_t)got);
}

/* ==== Reading all of it ================================================= */

/* Of what it comes from, or NULL, more is read than that can be trusted for. */
static bool wrapped_bomb(const wrapped_text *t, const cli_source *from)
{
    return from != NULL && t->n > WRAPPED_FREE
        && t->n / WRAPPED_TIMES > source_taken(from);
}

/* 0, or an error number; EFBIG: it is a bomb. */
static int wrapped_read(wrapped_text *t, int file, const cli_source *from)
{
    for (;;) {
        ssize_t got;

        if (t->n == t->room) {
            size_t room = t->room > 0 ? 2 * t->room : WRAPPED_FIRST;

            if (wrapped_bomb(t, from))
                return EFBIG;
            if (!bytes_grow(&t->bytes, room, 1))
                return ENOMEM;
            t->room = room;
        }
        got = read(file, t->bytes + t->n, t->room - t->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? 0 : errno;
        t->n += (size_t)got;
    }
}

/* What a compressed file holds; it is closed by that. */
static int wrapped_expand(wrapped_text *t, const char *path, const codec *c,
                          int *file)
{
    cli_source *source;
    wrapped_text plain = { .n = 0 };
    int pipe = *file, unread;
    int error = source_open(&source, c, &pipe, t->bytes, t->n);

    if (error != 0)
        return report_unread("unpack", path, error > 0 ? error : EIO);
    unread = wrapped_read(&plain, pipe, source);
    close(pipe);
    error = source_close(source);
    *file = -1;
    free(t->bytes);
    *t = plain;
    if (unread == EFBIG)
        return report_error("'%s': more than %d times its own size comes from "
                            "it, which would all be in memory: if it is to, "
                            "unpack it to a file, and name that", path,
                            WRAPPED_TIMES);
    if (unread != 0)
        return report_unread("unpack", path, unread);
    return error == 0 ? CLI_GO
         : report_error("'%s': it is compressed, and damaged or cut short: "
                        "fetch it anew", path);
}

static int wrapped_read_plain(wrapped_text *t, const char *path, int *file)
{
    const codec *c;
    bool more;
    ssize_t got;
    int error;

    if (!bytes_grow(&t->bytes, WRAPPED_FIRST, 1))
        return report_no_memory();
    t->room = WRAPPED_FIRST;
    do
        got = read(*file, t->bytes + t->n, WRAPPED_LOOK - t->n);
    while ((got > 0 && (t->n += (size_t)got) < WRAPPED_LOOK)
           || (got < 0 && errno == EINTR));
    if (got < 0)
        return report_unread("read", path, errno);
    c = codec_find(t->bytes, t->n, &more);
    if (c != NULL && c->open != NULL)
        return wrapped_expand(t, path, c, file);
    error = wrapped_read(t, *file, NULL);
    return error == 0 ? CLI_GO : report_unread("read", path, error);
}

/* ==== What is in it ===================================================== */

static bly_filter *wrapped_unpack(wrapped_text *t, const char *path,
                                  bly_status *status, bool lenient)
{
    bly_options how = *format_how();
    bly_filter *filter;

    if (textual_take(t->bytes, &t->n, path, &how.format) != CLI_GO)
        return NULL;
    *status = bly_unpack(&filter, t->bytes, t->n, &how);
    if (*status >= 0)
        return filter;
    if (bly_container_recognise(t->bytes, t->n) != NULL)
        report_error("'%s': what it holds has filters inside: only a file of "
                     "its own is looked into: save it to one, unpacked", path);
    else if (*status != BLY_ESECRET || !lenient)
        report_error("%s: %s%s", path, filter_why(),
                     strstr(bly_why(), " secret") ? " (--key-file)" : "");
    return NULL;
}

/* `status`: of the library, where it says why there is none; lenient: that its
 * secret is needed is not reported. */
static bly_filter *wrapped_look(const char *path, bly_status *status,
                                bool lenient)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                      : open(path, O_RDONLY | O_CLOEXEC);
    bly_filter *filter = NULL;
    wrapped_text t = { .n = 0 };

    *status = BLY_OK;
    if (file < 0) {
        report_unread("open", name, errno);
        return NULL;
    }
    if (wrapped_read_plain(&t, name, &file) == CLI_GO)
        filter = wrapped_unpack(&t, name, status, lenient);
    free(t.bytes);
    if (file >= 0)
        close(file);
    return filter;
}

bly_filter *wrapped_open(const char *path)
{
    bly_status status;

    return wrapped_look(path, &status, false);
}

bly_filter *wrapped_check(const char *path, bly_status *status)
{
    return wrapped_look(path, status, secret_bytes() == NULL);
}
