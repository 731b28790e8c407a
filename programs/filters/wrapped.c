/* wrapped.c - filters that come in something: compressed, in hexadecimal
 * digits, or as a member of a JSON text.
 *
 *      compressed   by what compressed lines may be too (frame/codec.c); within
 *                   it any of these
 *      hexadecimal  where --format names the format: digits to the end, with 0x
 *                   before them or without, and blanks and newlines anywhere
 *      JSON         a block or receipt of Ethereum: the text of its "logsBloom"
 *
 * Such a filter is read into memory, so it is for asking: what changes a filter
 * in its file does not take it. A file whose bytes are none of these in whole
 * is left to the library as it is. Floor 8; includes filters.h and <bloomery.h>
 * only.
 */
#include "filters/filters.h"

#include <bloomery/container.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRAPPED_LOOK = 64, WRAPPED_TEXT = 24, WRAPPED_FIRST = 1 << 16 };

typedef struct {
    unsigned char *bytes;
    size_t         n, room;
} wrapped_text;

/* ==== Is it? ============================================================ */

static bool wrapped_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static int wrapped_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Where the digits begin: behind blanks and 0x. */
static size_t wrapped_digits(const unsigned char *bytes, size_t n)
{
    size_t at = 0;

    while (at < n && wrapped_blank(bytes[at]))
        at++;
    return at + 1 < n && bytes[at] == '0' && (bytes[at + 1] | 0x20) == 'x'
         ? at + 2 : at;
}

static bool wrapped_hex_begins(const unsigned char *bytes, size_t n)
{
    size_t digits = 0;

    for (size_t i = wrapped_digits(bytes, n); i < n; i++)
        if (wrapped_digit(bytes[i]) >= 0)
            digits++;
        else if (!wrapped_blank(bytes[i]))
            return false;
    return digits > 1;
}

/* JSON's objects and arrays, as far as these bytes tell. */
static bool wrapped_json_begins(const unsigned char *bytes, size_t n)
{
    size_t at = 0;

    while (at < n && wrapped_blank(bytes[at]))
        at++;
    return at < n && (bytes[at] == '{' || bytes[at] == '[');
}

/* The bits of no filter are so many letters, digits and blanks, one after the
 * other, behind a byte order mark or not: it is meant to be read as text. */
static bool wrapped_text_begins(const unsigned char *bytes, size_t n)
{
    size_t at = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    if (n < at + WRAPPED_TEXT)
        return false;
    for (size_t end = at + WRAPPED_TEXT; at < end; at++)
        if (!wrapped_blank(bytes[at]) && (bytes[at] < ' ' || bytes[at] > '~'))
            return false;
    return true;
}

/* Is a format named, another than ours? */
static bool wrapped_named(void)
{
    const char *format = filter_how()->format;

    return format != NULL && strcmp(format, "bloomery") != 0;
}

/* Do they look like what a filter may come in? */
static bool wrapped_begins(const unsigned char *bytes, size_t n)
{
    bool more;
    const codec *c = codec_find(bytes, n, &more);

    return (c != NULL && c->open != NULL) || wrapped_json_begins(bytes, n)
        || (wrapped_named() && (wrapped_hex_begins(bytes, n)
                                || wrapped_text_begins(bytes, n)));
}

bool wrapped_is(const char *path)
{
    unsigned char head[WRAPPED_LOOK];
    struct stat about;
    ssize_t got = -1;
    int file;

    if (strcmp(path, "-") == 0)
        return wrapped_named();
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

static bool wrapped_read(wrapped_text *t, int file)
{
    for (;;) {
        ssize_t got;

        if (t->n == t->room) {
            size_t room = t->room > 0 ? 2 * t->room : WRAPPED_FIRST;

            if (!work_grow(&t->bytes, room, 1)) {
                errno = ENOMEM;
                return false;
            }
            t->room = room;
        }
        got = read(file, t->bytes + t->n, t->room - t->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        t->n += (size_t)got;
    }
}

static int wrapped_refuse(const char *path, const char *what)
{
    return report_error("'%s': %s: fetch it anew", path, what);
}

/* What a compressed file holds; it is closed by that. */
static int wrapped_expand(wrapped_text *t, const char *path, const codec *c,
                          int *file)
{
    cli_source *source;
    wrapped_text plain = { .n = 0 };
    int pipe = *file, error = source_open(&source, c, &pipe, t->bytes, t->n);
    bool whole;

    if (error != 0)
        return report_unread("unpack", path, error > 0 ? error : EIO);
    whole = wrapped_read(&plain, pipe);
    close(pipe);
    error = source_close(source);
    *file = -1;
    free(t->bytes);
    *t = plain;
    if (!whole)
        return work_no_memory();
    return error == 0 ? CLI_GO
         : wrapped_refuse(path, "it is compressed, and damaged or cut short");
}

static int wrapped_read_plain(wrapped_text *t, const char *path, int *file)
{
    const codec *c;
    bool more;
    ssize_t got;

    if (!work_grow(&t->bytes, WRAPPED_FIRST, 1))
        return work_no_memory();
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
    if (wrapped_read(t, *file))
        return CLI_GO;
    return report_unread("read", path, errno);
}

/* ==== What is in it ===================================================== */

/* Digits to bytes, in their place; false: not all are. */
static bool wrapped_unhex(wrapped_text *t)
{
    size_t n = 0;
    int high = -1;

    if (!wrapped_hex_begins(t->bytes, t->n))
        return false;
    for (size_t i = wrapped_digits(t->bytes, t->n); i < t->n; i++) {
        int digit = wrapped_digit(t->bytes[i]);

        if (digit < 0)
            continue;                   /* a blank */
        if (high >= 0)
            t->bytes[n++] = (unsigned char)(high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    t->n = high >= 0 ? 0 : n;
    return high < 0;
}

/* The next string of a JSON text from *at on, without its quotes; false: there
 * is none. What is escaped in it stays so. */
static bool wrapped_string(const wrapped_text *t, size_t *at, size_t *from,
                           size_t *n)
{
    const unsigned char *quote = memchr(t->bytes + *at, '"', t->n - *at);
    size_t i;

    if (quote == NULL)
        return false;
    *from = (size_t)(quote - t->bytes) + 1;
    for (i = *from; i < t->n && t->bytes[i] != '"'; i++)
        i += t->bytes[i] == '\\';
    if (i >= t->n)
        return false;
    *n = i - *from;
    *at = i + 1;
    return true;
}

/* Where the text of the member "logsBloom" is, and how many there are. */
static size_t wrapped_member(const wrapped_text *t, size_t *from, size_t *n)
{
    static const char name[] = "logsBloom";
    size_t at = 0, begin, length, count = 0;

    while (wrapped_string(t, &at, &begin, &length)) {
        bool named = length == sizeof name - 1
                  && memcmp(t->bytes + begin, name, length) == 0;
        size_t colon = at;

        while (named && colon < t->n && wrapped_blank(t->bytes[colon]))
            colon++;
        if (!named || colon == t->n || t->bytes[colon] != ':')
            continue;
        at = colon + 1;
        if (!wrapped_string(t, &at, &begin, &length))
            break;
        if (count++ == 0) {
            *from = begin;
            *n = length;
        }
    }
    return count;
}

/* A block or receipt; *format is then "ethereum". */
static int wrapped_take_json(wrapped_text *t, const char *path,
                             const char **format)
{
    size_t from, n, count = wrapped_member(t, &from, &n);

    if (count == 0)
        return CLI_GO;
    if (count > 1)
        return report_error("'%s' has %zu filters named logsBloom: give one "
                            "block or receipt (jq '.result[0]')", path, count);
    memmove(t->bytes, t->bytes + from, n);
    t->n = n;
    if (!wrapped_unhex(t))
        return wrapped_refuse(path, "its logsBloom is not in hexadecimal "
                                    "digits");
    *format = "ethereum";
    return CLI_GO;
}

static bly_filter *wrapped_unpack(wrapped_text *t, const char *path)
{
    bly_options how = *filter_how();
    bly_filter *filter;
    bool json = wrapped_json_begins(t->bytes, t->n);

    if (json && wrapped_take_json(t, path, &how.format) != CLI_GO)
        return NULL;
    if (!json && wrapped_named() && !wrapped_hex_begins(t->bytes, t->n)
        && wrapped_text_begins(t->bytes, t->n)) {
        report_error("'%s': it is text, and not hexadecimal digits alone: give "
                     "these, or the bytes (xxd -r -p)", path);
        return NULL;
    }
    if (!json && how.format != NULL && wrapped_hex_begins(t->bytes, t->n)
        && !wrapped_unhex(t)) {
        wrapped_refuse(path, "it has an odd number of hexadecimal digits");
        return NULL;
    }
    if (bly_unpack(&filter, t->bytes, t->n, &how) >= 0)
        return filter;
    if (bly_container_recognise(t->bytes, t->n) != NULL) {
        report_error("'%s': what it holds has filters inside: only a file of "
                     "its own is looked into: save it to one, unpacked", path);
        return NULL;
    }
    report_error("%s: %s", path, bly_why());
    return NULL;
}

bly_filter *wrapped_open(const char *path)
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
        filter = wrapped_unpack(&t, name);
    free(t.bytes);
    if (file >= 0)
        close(file);
    return filter;
}
