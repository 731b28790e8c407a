/* bytes.c - a queue of bytes that are waiting to be read or written, and arrays
 * that grow. */
#include "frame/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_FIRST = 4096 };

bool bytes_grow(void *array, size_t room, size_t size)
{
    void *old, *grown;

    memcpy(&old, array, sizeof old);
    grown = realloc(old, room * size);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    return true;
}

size_t bytes_waiting(const cli_bytes *b)
{
    return b->to - b->from;
}

static bool bytes_enlarge(cli_bytes *b, size_t needed)
{
    size_t room = b->room > 0 ? b->room : BYTES_FIRST;

    while (room < needed) {
        if (room > SIZE_MAX / 2)
            return false;
        room *= 2;
    }
    if (!bytes_grow(&b->data, room, 1))
        return false;
    b->room = room;
    return true;
}

bool bytes_room(cli_bytes *b, size_t more)
{
    if (more <= b->room - b->to)
        return true;
    if (b->from > 0) {
        memmove(b->data, b->data + b->from, bytes_waiting(b));
        b->to -= b->from;
        b->from = 0;
    }
    return more <= b->room - b->to
        || (more <= SIZE_MAX - b->to && bytes_enlarge(b, b->to + more));
}

bool bytes_put(cli_bytes *b, const void *from, size_t n)
{
    if (n == 0)
        return true;
    if (!bytes_room(b, n))
        return false;
    memcpy(b->data + b->to, from, n);
    b->to += n;
    return true;
}

bool bytes_text(cli_bytes *b, const char *text)
{
    return bytes_put(b, text, strlen(text));
}

bool bytes_format(cli_bytes *b, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return n >= 0 && (size_t)n < sizeof text && bytes_put(b, text, (size_t)n);
}

bool bytes_load(cli_bytes *b, int fd)
{
    enum { PIECE = 1 << 16 };

    for (ssize_t got = 1; got != 0; ) {
        if (!bytes_room(b, PIECE)) {
            errno = ENOMEM;
            return false;
        }
        got = read(fd, b->data + b->to, b->room - b->to);
        if (got < 0 && errno != EINTR)
            return false;
        b->to += got > 0 ? (size_t)got : 0;
    }
    return true;
}

void bytes_done(cli_bytes *b, size_t n)
{
    b->from += n;
    if (b->from == b->to)
        bytes_free(b);
}

void bytes_free(cli_bytes *b)
{
    free(b->data);
    *b = (cli_bytes){ NULL, 0, 0, 0 };
}
