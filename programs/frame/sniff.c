/* sniff.c - tells by the first bytes of a file whether it is text.
 *
 * A file is refused before a key is made of it if it has NULs, is in UTF-16 or
 * UTF-32, or was written by the program itself. The option --text switches this
 * off.
 */
#include "frame/sniff.h"

#include "frame/inputs.h"
#include "frame/keys.h"
#include "frame/mistakes.h"
#include "frame/returns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sniff_mark(const unsigned char *bytes, size_t n)
{
    static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };

    return memcmp(bytes, mark, n < sizeof mark ? n : sizeof mark) == 0;
}

/* Returns whether bytes with NULs begin as UTF-16 or UTF-32 does. UTF-16 has
 * NULs in every text with a newline. */
static bool sniff_is_wide(const unsigned char *bytes, size_t n)
{
    return n >= 4 && (memcmp(bytes, "\xff\xfe", 2) == 0
                      || memcmp(bytes, "\xfe\xff", 2) == 0
                      || memcmp(bytes, "\0\0\xfe\xff", 4) == 0);
}

int sniff_nul(const cli_how *how, const unsigned char *bytes, size_t n)
{
    if (how->text || how->null || how->separator == '\0'
        || memchr(bytes, '\0', n) == NULL)
        return 0;
    return source_error(sniff_is_wide(bytes, n) ? SOURCE_WIDE : SOURCE_NUL,
                        NULL);
}

int sniff_check(const cli_how *how, const unsigned char *bytes, size_t n)
{
    n = n < SNIFF_MOST ? n : SNIFF_MOST;
    if (!how->text && report_program != NULL && report_program->knows != NULL
        && report_program->knows(bytes, n))
        return source_error(SOURCE_KNOWN, NULL);
    return sniff_nul(how, bytes, n);
}

ssize_t sniff_peek(const char *path, off_t at, unsigned char *bytes,
                   size_t room)
{
    bool in = inputs_is_stdin(path);
    int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), error;
    ssize_t got = -1;

    if (fd < 0)
        return -1;
    do
        got = pread(fd, bytes, room, at);
    while (got < 0 && errno == EINTR);
    error = errno;
    if (!in)
        close(fd);
    errno = error;
    return got;
}

int sniff_file(const cli_lines *l, const char *path, size_t *skip,
               cli_chunk *about)
{
    unsigned char *bytes = malloc(keys_block(&l->how, SNIFF_MOST));
    ssize_t got = bytes != NULL ? sniff_peek(path, 0, bytes, SNIFF_MOST) : -1;
    int error = bytes == NULL ? ENOMEM : got < 0 ? errno : 0;
    const codec *found = NULL;
    bool more;

    *skip = 0;
    if (error == 0 && !l->how.compressed)
        found = codec_find(bytes, (size_t)got, &more);
    if (found != NULL)
        error = source_error(SOURCE_DIVIDED, found);
    if (error == 0)
        error = sniff_check(&l->how, bytes, (size_t)got);
    if (error == 0 && returns_wanted(&l->how)
        && returns_only(bytes, (size_t)got))
        error = source_error(SOURCE_RETURNS, NULL);
    if (error == 0) {
        *skip = got >= 3 && sniff_mark(bytes, 3) ? 3 : 0;
        *about = (cli_chunk){ .block = bytes, .length = (size_t)got,
                              .capacity = SNIFF_MOST, .path = path };
        mistakes_look(l, about);
        about->block = NULL;
    }
    free(bytes);
    return error;
}
