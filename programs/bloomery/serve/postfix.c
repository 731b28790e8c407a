/* postfix.c - Postfix's two lookup protocols.
 *
 * socketmap_table(5), which Sendmail uses too: netstrings, each a length, a
 * colon, that many bytes and a comma. A request names a map, that is, a filter.
 *
 *      14:blocked a@b.cc,         5:OK OK,         perhaps present
 *                                 9:NOTFOUND ,     certainly absent
 *                                 ..:TEMP why,     may succeed later
 *                                 ..:PERM why,     malformed
 *
 * tcp_table(5): %-encoded lines. All filters are queried.
 *
 *      get a@b.cc                 200 OK
 *                                 500 not%20found
 *                                 400 why
 *
 * Postfix asks for the name and for parts of the address of each client, and
 * for addresses of mail and their domains. So what is no address is not found
 * among networks, instead of a fault, and neither are addresses among domains.
 */
#include "bloomery/serve/serve.h"

#include <stdio.h>
#include <string.h>

/* Returns the fault to report, or NULL. */
static const char *postfix_fault(const serve_request *r)
{
    return r->outside ? NULL : r->fault;
}

/* ==== socketmap ========================================================= */

enum { POSTFIX_DIGITS = 7 };            /* of SERVE_LONGEST */

static const char postfix_no_netstring[] =
    "the request is not a netstring: does the client use another protocol?";

/* Parses the length of a netstring and returns the number of bytes in front of
 * its content; 0 if incomplete, TALK_GARBAGE if malformed. */
static size_t postfix_length(const unsigned char *bytes, size_t n,
                             size_t *length)
{
    size_t at = 0;

    for (*length = 0; at < n && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
        if (at == POSTFIX_DIGITS || (at == 1 && bytes[0] == '0'))
            return TALK_GARBAGE;
        *length = 10 * *length + (bytes[at] - (size_t)'0');
    }
    if (at == n)
        return 0;
    return at == 0 || bytes[at] != ':' ? TALK_GARBAGE : at + 1;
}

/* "name key" */
static void postfix_map_read(unsigned char *text, size_t n, serve_request *out)
{
    unsigned char *blank = memchr(text, ' ', n);

    if (blank == NULL) {
        out->fault = "a request is the name of a filter, a space and a key";
        return;
    }
    out->filter = served_find(text, (size_t)(blank - text));
    if (out->filter == SERVED_ALL) {
        out->fault = "no filter has this name: use the name of its file "
                     "without the extension";
        return;
    }
    out->text = blank + 1;
    out->length = n - (size_t)(blank - text) - 1;
}

static size_t postfix_garbage(serve_request *out, const char *fault)
{
    out->fault = fault;
    out->passing = true;
    return TALK_GARBAGE;
}

static size_t postfix_map_take(const serve_how *how, unsigned char *bytes,
                               size_t n, size_t *looked, bool end,
                               serve_request *out)
{
    size_t length, head = postfix_length(bytes, n, &length);

    (void)how;
    (void)looked;
    (void)end;
    if (head == 0)
        return 0;
    if (head == TALK_GARBAGE || length > SERVE_LONGEST)
        return postfix_garbage(out, head == TALK_GARBAGE ? postfix_no_netstring
                                                         : plain_too_long);
    if (n - head <= length)
        return 0;
    if (bytes[head + length] != ',')
        return postfix_garbage(out, postfix_no_netstring);
    postfix_map_read(bytes + head, length, out);
    return head + length + 1;
}

static bool postfix_map_put(const serve_how *how, const serve_request *r,
                            cli_bytes *out)
{
    const char *fault = postfix_fault(r);
    const char *word = fault != NULL ? r->passing ? "TEMP " : "PERM "
                     : r->there ? "OK " : "NOTFOUND ";
    const char *text = fault != NULL ? fault : r->there ? how->value : "";

    return bytes_format(out, "%zu:", strlen(word) + strlen(text))
        && bytes_text(out, word) && bytes_text(out, text)
        && bytes_text(out, ",");
}

const serve_protocol postfix_map_protocol = {
    .name = "socketmap",
    .take = postfix_map_take,
    .put = postfix_map_put,
};

/* ==== tcp_table ========================================================= */

static void postfix_table_read(unsigned char *text, size_t n,
                               serve_request *out)
{
    static const char get[] = "get ";
    size_t word = sizeof get - 1;

    if (n < word || memcmp(text, get, word) != 0) {
        out->fault = "a request is 'get', a space and a key";
        return;
    }
    out->length = plain_unescape(text + word, n - word);
    if (out->length == SIZE_MAX)
        out->fault = "a % is not followed by two hexadecimal digits";
    else
        out->text = text + word;
}

static size_t postfix_table_take(const serve_how *how, unsigned char *bytes,
                                 size_t n, size_t *looked, bool end,
                                 serve_request *out)
{
    size_t length, took = plain_line('\n', bytes, n, looked, end, &length);

    (void)how;
    if (took == TALK_GARBAGE)
        out->fault = plain_too_long;
    else if (took > 0)
        postfix_table_read(bytes, length, out);
    return took;
}

static bool postfix_escape(cli_bytes *out, const char *text)
{
    bool fits = true;

    for (; fits && *text != '\0'; text++)
        fits = *text > ' ' && *text < 0x7f && *text != '%'
             ? bytes_put(out, text, 1)
             : bytes_format(out, "%%%02X", (unsigned)(unsigned char)*text);
    return fits;
}

static bool postfix_table_put(const serve_how *how, const serve_request *r,
                              cli_bytes *out)
{
    const char *fault = postfix_fault(r);
    const char *code = fault != NULL ? "400 " : r->there ? "200 " : "500 ";
    const char *text = fault != NULL ? fault
                     : r->there ? how->value : "not found";

    return bytes_text(out, code) && postfix_escape(out, text)
        && bytes_text(out, "\n");
}

const serve_protocol postfix_table_protocol = {
    .name = "tcp_table",
    .take = postfix_table_take,
    .put = postfix_table_put,
};
