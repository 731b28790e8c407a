/* headers.c - the first line of a file that names its columns.
 *
 * The header leaves the first chunk of each file. Commands that print lines
 * print the header of the first file once; the others must be like it.
 */
#include "frame/headers.h"

#include "frame/output.h"
#include "frame/refuse.h"

#include <bloomery.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void headers_alike(cli_lines *l)
{
    l->alike = true;
}

void headers_print(cli_lines *l, const char *words)
{
    l->alike = true;
    l->title = words;
}

bool headers_title(cli_lines *l, const cli_chunk *c)
{
    const char end = l->how.null ? '\0' : '\n';

    if (l->title == NULL || l->titled
        || (c != NULL ? !c->heads : l->first == NULL))
        return true;
    l->titled = true;
    return output_text(l->title) && output_bytes(l->first, l->first_length)
        && output_bytes(&end, 1);
}

/* Returns the length of the chunk's first line, with its end if it has one. */
static size_t headers_length(const cli_lines *l, const cli_chunk *c)
{
    const unsigned char *hit;
    size_t ends[64];

    if (l->how.csv)
        return records_ends(l->how.separator, c->block, c->length, ends, 64)
               > 0 ? ends[0] + 1 : c->length;
    hit = memchr(c->block, l->how.null ? '\0' : '\n', c->length);
    return hit != NULL ? (size_t)(hit + 1 - c->block) : c->length;
}

uint64_t headers_newlines(const unsigned char *text, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Keeps the first header; compares others with it if all are printed as one.
 * Returns 0, or the error. */
static int headers_compare(cli_lines *l, cli_chunk *c, size_t length,
                           size_t bare)
{
    const cli_short_path path = refuse_path(l->path);
    size_t first = l->first_length;

    if (l->first == NULL) {
        l->first = malloc(length + 1);
        if (l->first == NULL)
            return ENOMEM;
        memcpy(l->first, c->block, length);
        l->first_length = length;
        c->heads = true;
        return 0;
    }
    first -= first > 0 && l->first[first - 1] == '\r';
    if (!l->alike || (first == bare && memcmp(l->first, c->block, bare) == 0))
        return 0;
    return refuse_later(c, "the header of %s differs from that of the file "
                        "before it: process files with different headers one "
                        "by one", path.text);
}

int headers_take(cli_lines *l, cli_chunk *c)
{
    size_t n = headers_length(l, c), length = n, bare;
    int error;

    length -= c->block[n - 1] == (l->how.null ? '\0' : '\n');
    bare = length - (length > 0 && c->block[length - 1] == '\r');
    if ((l->how.field.named || l->how.label.named)
        && !columns_find(l, c, (bly_key){ c->block, bare },
                         refuse_path(l->path).text, c->why, sizeof c->why))
        return source_error(SOURCE_TOLD, NULL);
    error = headers_compare(l, c, length, bare);
    if (error != 0)
        return error;
    l->headed = true;
    if (l->how.csv)
        c->before += headers_newlines(c->block, n);
    else
        c->before = l->before = 1;
    c->length -= n;
    memmove(c->block, c->block + n, c->length);
    return 0;
}
