/* plain.c - the line protocol: one key per line.
 *
 *      apple           1
 *      zyzzyva         0
 *
 * 1 means perhaps present and 0 certainly absent; a ? and a reason mean that
 * there is no answer. Lines end with a newline or, if chosen, with NUL, and so
 * do their answers.
 */
#include "bloomery/serve/serve.h"

#include <string.h>

const char plain_too_long[] = "the request is longer than 1 MiB: is its end "
                              "missing?";

size_t plain_line(char terminator, const unsigned char *bytes, size_t n,
                  size_t *looked, bool end, size_t *length)
{
    const unsigned char *hit = memchr(bytes + *looked, terminator, n - *looked);

    *length = hit != NULL ? (size_t)(hit - bytes) : n;
    if (*length > SERVE_LONGEST)
        return TALK_GARBAGE;
    *looked = n;
    return hit != NULL ? *length + 1 : end ? n : 0;
}

static int plain_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

size_t plain_unescape(unsigned char *text, size_t n)
{
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        int high, low;

        if (text[i] != '%') {
            text[to++] = text[i];
            continue;
        }
        high = i + 1 < n ? plain_digit(text[i + 1]) : -1;
        low = i + 2 < n ? plain_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return SIZE_MAX;
        text[to++] = (unsigned char)(high << 4 | low);
        i += 2;
    }
    return to;
}

static char plain_end(const serve_how *how)
{
    return how->null ? '\0' : '\n';
}

static size_t plain_take(const serve_how *how, unsigned char *bytes, size_t n,
                         size_t *looked, bool end, serve_request *out)
{
    size_t took = plain_line(plain_end(how), bytes, n, looked, end,
                             &out->length);

    if (took == TALK_GARBAGE) {
        out->fault = plain_too_long;
    } else {
        out->text = bytes;
        if (took > 1 && bytes[took - 2] == '\r')
            out->returns = took > out->length;
    }
    return took;
}

static bool plain_put(const serve_how *how, const serve_request *r,
                      cli_bytes *out)
{
    const char answer[] = { r->there ? '1' : '0', plain_end(how) };

    if (r->fault == NULL)
        return bytes_put(out, answer, sizeof answer);
    return bytes_text(out, "? ") && bytes_text(out, r->fault)
        && bytes_put(out, answer + 1, 1);
}

const serve_protocol plain_protocol = {
    .name = "lines",
    .take = plain_take,
    .put = plain_put,
};
