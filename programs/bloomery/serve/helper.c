/* helper.c - Squid's protocol for external ACL helpers (protocol 3.x of
 * external_acl_type in squid.conf).
 *
 *      7 www.example.org -        7 OK         perhaps present
 *      8 198.51.100.9 -           8 ERR        certainly absent
 *      9                          9 BH message="..."
 *
 * With concurrency=N a request and its answer begin with a channel number;
 * otherwise a request begins with its first field. Fields are separated by
 * blanks and %-encoded. After the fields of its format Squid sends the
 * arguments of the acl line, or a hyphen.
 */
#include "bloomery/serve/serve.h"

#include <string.h>

enum { HELPER_CHANNEL = 20 };           /* maximum digits of a channel       */

static bool helper_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Finds the next word at *at and moves *at past it. Returns its length; 0 if
 * there is none. */
static size_t helper_word(unsigned char **at, const unsigned char *end,
                          unsigned char **word)
{
    while (*at < end && helper_blank(**at))
        ++*at;
    *word = *at;
    while (*at < end && !helper_blank(**at))
        ++*at;
    return (size_t)(*at - *word);
}

static bool helper_channel(serve_request *out, unsigned char **at,
                           const unsigned char *end)
{
    unsigned char *word;
    size_t n = helper_word(at, end, &word);

    for (size_t i = 0; i < n; i++)
        if (word[i] < '0' || word[i] > '9')
            return false;
    out->tag = word;
    out->tag_length = n;
    return n > 0 && n <= HELPER_CHANNEL;
}

static void helper_read(const serve_how *how, unsigned char *at, size_t length,
                        serve_request *out)
{
    const unsigned char *end = at + length;
    unsigned char *word = at;
    size_t n = 0;

    if (how->channels && !helper_channel(out, &at, end)) {
        out->tag_length = 0;
        out->fault = "the line does not begin with a channel: set concurrency "
                     "in Squid's external_acl_type, or leave out --channels";
        return;
    }
    for (uint64_t i = 0; i < how->field; i++)
        n = helper_word(&at, end, &word);
    out->length = plain_unescape(word, n);
    if (n == 0)
        out->fault = "the line does not have this field: see --field";
    else if (out->length == SIZE_MAX)
        out->fault = "a % is not followed by two hexadecimal digits";
    else
        out->text = word;
}

static size_t helper_take(const serve_how *how, unsigned char *bytes, size_t n,
                          size_t *looked, bool end, serve_request *out)
{
    size_t length, took = plain_line('\n', bytes, n, looked, end, &length);

    if (took == TALK_GARBAGE) {
        if (!how->channels || !helper_channel(out, &bytes, bytes + n))
            out->tag_length = 0;
        out->fault = plain_too_long;
    } else if (took > 0)
        helper_read(how, bytes, length, out);
    return took;
}

static bool helper_put(const serve_how *how, const serve_request *r,
                       cli_bytes *out)
{
    (void)how;
    if (r->tag_length > 0 && (!bytes_put(out, r->tag, r->tag_length)
                              || !bytes_text(out, " ")))
        return false;
    if (r->fault == NULL)
        return bytes_text(out, r->there ? "OK\n" : "ERR\n");
    return bytes_text(out, "BH message=\"") && bytes_text(out, r->fault)
        && bytes_text(out, "\"\n");
}

const serve_protocol helper_protocol = {
    .name = "squid",
    .take = helper_take,
    .put = helper_put,
};
