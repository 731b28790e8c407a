/* wrapped.c - filters that are compressed, or written in another way.
 *
 *     compressed   like compressed lines (frame/codec.c); inside may be text
 *                  or any filter
 *     text         hexadecimal digits, or JSON (textual.c)
 *     object       of Java (javastream.c)
 *     dump         of a Valkey server (dumped.c)
 *
 * Such a filter is read into memory and is only for queries: commands that
 * change a filter in its file refuse it. A small compressed file may expand to
 * more than the memory, and may contain a packed filter. One limit applies to
 * all layers: bly_memory_limit of the size of the file itself. Files that are
 * none of these are left to the library.
 */
#include "filters/filters.h"
#include "frame/bytes.h"

#include <bloomery/container.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRAPPED_LOOK = 64, WRAPPED_FIRST = 1 << 16 };

typedef struct {
    unsigned char *bytes;
    size_t         n, room;
    uint64_t       limit;       /* of memory, from the size of the file     */
} wrapped_text;

/* ==== Is it? ============================================================ */

/* Returns the wrapping that the bytes look like, or NULL. */
static const char *wrapped_begins(const unsigned char *bytes, size_t n)
{
    bool more;
    const codec *c = codec_find(bytes, n, &more);

    return c != NULL && c->open != NULL ? "compressed"
         : textual_begins(bytes, n) ? "written as text"
         : javastream_begins(bytes, n) ? "an object of Java"
         : dumped_begins(bytes, n) ? "a dump of Valkey" : NULL;
}

/* Returns the wrapping of a regular file, or NULL. */
static const char *wrapped_in(const char *path)
{
    unsigned char head[WRAPPED_LOOK];
    struct stat about;
    ssize_t got = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        got = pread(file, head, sizeof head, 0);
    close(file);
    return got > 0 ? wrapped_begins(head, (size_t)got) : NULL;
}

bool wrapped_is(const char *path)
{
    struct stat about;

    path = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    return (stat(path, &about) == 0 && S_ISFIFO(about.st_mode))
        || wrapped_in(path) != NULL;
}

bool wrapped_refuse(const char *path)
{
    const char *what = wrapped_in(path);

    if (what != NULL)
        report_error("'%s' is %s, and cannot be changed in its file: make a "
                     "plain one with 'bloomery convert --to FORMAT %s NEW', "
                     "where FORMAT is its own or bloomery, and change that",
                     path, what, path);
    return what != NULL;
}

/* ==== Reading all of it ================================================= */

/* Makes room. Bytes that are not compressed (`from` is NULL) have no limit.
 * Returns 0 or an error number; EFBIG if the limit is exceeded. */
static int wrapped_grow(wrapped_text *t, const cli_source *from)
{
    uint64_t room = t->room > 0 ? 2 * (uint64_t)t->room : WRAPPED_FIRST;

    t->limit = from == NULL ? UINT64_MAX
             : bly_memory_limit(format_how(), source_taken(from));
    if (t->n > t->limit)
        return EFBIG;
    if (room > t->limit)
        room = t->limit + 1;
    if (room > SIZE_MAX || !bytes_grow(&t->bytes, (size_t)room, 1))
        return ENOMEM;
    t->room = (size_t)room;
    return 0;
}

static int wrapped_read(wrapped_text *t, int file, const cli_source *from)
{
    for (;;) {
        ssize_t got;
        int error = t->n == t->room ? wrapped_grow(t, from) : 0;

        if (error != 0)
            return error;
        got = read(file, t->bytes + t->n, t->room - t->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? 0 : errno;
        t->n += (size_t)got;
    }
}

/* Decompresses a file, and closes it. */
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
    plain.limit = bly_memory_limit(format_how(), source_taken(source));
    if (unread == 0 && plain.n > plain.limit)
        unread = EFBIG;
    close(pipe);
    error = source_close(source);
    *file = -1;
    free(t->bytes);
    *t = plain;
    if (unread == EFBIG)
        return report_error("'%s': it would take more than %s of memory: raise "
                            "the limit if you trust the file (--unpack-limit)",
                            path, report_bytes(plain.limit).text);
    if (unread != 0)
        return report_unread("unpack", path, unread);
    return error == 0 ? CLI_GO
         : report_error("'%s': it is compressed, and damaged or cut short: "
                        "fetch it again", path);
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
    t->limit = bly_memory_limit(format_how(), t->n);
    return error == 0 ? CLI_GO : report_unread("read", path, error);
}

/* ==== Contents ========================================================== */

/* How to handle the filter, and the result. */
typedef struct {
    bool        check;          /* do not unpack it if its bytes suffice     */
    bly_header *large;          /* NULL, or where to store the header of a
                                   packed filter that is not small           */
    bly_status  status;         /* of the library                            */
    bool        looked;         /* whether the library was asked             */
} wrapped_wish;

/* Returns whether the header or checksum is all that is needed, so that nothing
 * is unpacked. Opening a filter checks the secret. */
static bool wrapped_is_seen(wrapped_wish *wish, const wrapped_text *t,
                            const bly_options *how)
{
    bly_header header;

    if ((how->format != NULL && strcmp(how->format, "bloomery") != 0)
        || bly_peek(&header, t->bytes, t->n) != BLY_OK || !header.packed)
        return false;
    if (wish->large != NULL && header.unpacked > WRAPPED_SMALL) {
        wish->status = bly_check(t->bytes, t->n, how);
        if (wish->status >= 0)
            *wish->large = header;
        return true;
    }
    if (!wish->check || how->secret != NULL)
        return false;
    wish->status = bly_check(t->bytes, t->n, how);
    return true;
}

static bly_filter *wrapped_unpack(wrapped_text *t, const char *path,
                                  wrapped_wish *wish)
{
    bly_options how = *format_how();
    bly_filter *filter = NULL;

    if (dumped_take(&t->bytes, &t->n, path, &how.format) != CLI_GO
        || javastream_take(t->bytes, &t->n, path, &how.format) != CLI_GO
        || textual_take(t->bytes, &t->n, path, &how.format) != CLI_GO)
        return NULL;
    how.memory_limit = t->limit;
    wish->looked = true;
    if (!wrapped_is_seen(wish, t, &how))
        wish->status = bly_unpack(&filter, t->bytes, t->n, &how);
    if (wish->status >= 0)
        return filter;
    if (bly_container_recognise(t->bytes, t->n) != NULL)
        report_error("'%s': its contents have filters inside, which are found "
                     "only in a regular file: decompress it to one", path);
    else if (wish->status != BLY_ESECRET || !wish->check || how.secret != NULL)
        report_error("%s: %s%s", path, filter_why(), filter_option());
    return NULL;
}

static bly_filter *wrapped_look(const char *path, wrapped_wish *wish)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                      : open(path, O_RDONLY | O_CLOEXEC);
    bly_filter *filter = NULL;
    wrapped_text t = { .n = 0 };

    if (file < 0) {
        report_unread("open", name, errno);
        return NULL;
    }
    if (wrapped_read_plain(&t, name, &file) == CLI_GO)
        filter = wrapped_unpack(&t, name, wish);
    free(t.bytes);
    if (file >= 0)
        close(file);
    return filter;
}

bly_filter *wrapped_open(const char *path)
{
    wrapped_wish wish = { .check = false };

    return wrapped_look(path, &wish);
}

bly_filter *wrapped_show(const char *path, bly_header *large)
{
    wrapped_wish wish = { .large = large };

    return wrapped_look(path, &wish);
}

bool wrapped_check(const char *path, bly_status *status, bly_filter **filter)
{
    wrapped_wish wish = { .check = true };

    *filter = wrapped_look(path, &wish);
    *status = wish.status;
    return wish.looked;
}
