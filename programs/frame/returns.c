/* returns.c - replaces a CR that ends a line by a newline.
 *
 * If the first bytes of a file hold a CR but no newline, a CR alone ends its
 * lines, as on old Macs. A newline later in such a file is an error.
 */
#include "frame/returns.h"

#include "frame/refuse.h"
#include "frame/sniff.h"

#include <string.h>

bool returns_only(const unsigned char *bytes, size_t n)
{
    return n > 0 && memchr(bytes, '\r', n - 1) != NULL
        && memchr(bytes, '\n', n) == NULL;
}

bool returns_wanted(const cli_how *how)
{
    return !how->null && !how->text && !how->keep_cr && !how->copy
        && how->given.data == NULL;
}

/* Decides whether a CR alone ends lines, once the chunk has enough of the first
 * bytes of the file. */
static void returns_settle(cli_lines *l, const cli_chunk *c, bool ended)
{
    size_t n = c->length < SNIFF_MOST ? c->length : SNIFF_MOST;

    if (n < SNIFF_MOST && !ended && memchr(c->block, '\n', n) == NULL)
        return;
    l->settled = true;
    l->returns = returns_only(c->block, n);
}

/* Replaces each CR from byte `from` of the chunk. Returns 0, or the error. */
static int returns_end(const cli_lines *l, cli_chunk *c, size_t from)
{
    unsigned char *at = c->block + from, *end = c->block + c->length;

    if (memchr(at, '\n', c->length - from) != NULL)
        return refuse_later(c, "the first lines of %s end with a CR alone, and "
                            "later ones with a newline: convert it with tr "
                            "'\\r' '\\n', or use --text to read only newlines",
                            refuse_path(l->path).text);
    for (; (at = memchr(at, '\r', (size_t)(end - at))) != NULL; at++)
        *at = '\n';
    return 0;
}

int returns_replace(cli_lines *l, cli_chunk *c, size_t from, bool ended)
{
    if (!l->settled)
        returns_settle(l, c, ended);
    return l->returns ? returns_end(l, c, from) : 0;
}
