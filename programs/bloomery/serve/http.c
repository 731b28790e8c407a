/* http.c - parses HTTP/1.1 requests.
 *
 * A proxy in front of this server may share one connection among many clients.
 * If the two disagreed on where a request ends, one client would get the answer
 * to another. The parser therefore accepts only requests that every parser
 * reads alike. Two lengths, a length together with a transfer coding, blanks
 * before a colon, folded headers, bare CR or LF, and NUL are errors, and an
 * error ends the connection.
 *
 * A web page can make a browser query a server on the same machine under the
 * page's own name (DNS rebinding). The Host of a request must therefore be a
 * name of the loopback interface or one given with --host. Numeric addresses
 * are safe, because a page only has such a name if it came from that address.
 *
 * A request is parsed in three steps. http_take looks for the end of the head,
 * line by line, as bytes arrive. http_head parses the head. For a chunked body
 * http_take then removes the framing as data arrives, so that the body is
 * contiguous and no byte is examined twice.
 */
#include "bloomery/serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

enum {
    HTTP_HEAD = 1 << 16,        /* bytes of a head or of all trailers       */
    HTTP_LINE = 1 << 10,        /* bytes of a line in a chunked body        */
    HTTP_BODIES = 1 << 26       /* bytes of all large bodies together        */
};

static atomic_size_t http_bodies;

static const char http_too_long[] =
    "the body is longer than 1 MiB: send the keys in several requests";
static const char http_malformed[] =
    "the request is malformed: send HTTP/1.1 as RFC 9112 defines it";

static bool http_refuse(http_question *q, unsigned status, const char *fault)
{
    q->status = status;
    q->fault = fault;
    return false;
}

/* ==== Characters ======================================================== */

static bool http_is_token(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(text[i] >= '0' && text[i] <= '9')
            && !((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z')
            && (text[i] == '\0' || strchr("!#$%&'*+-.^_`|~", text[i]) == NULL))
            return false;
    return n > 0;
}

/* Returns whether the text has no control bytes other than tabs. */
static bool http_is_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static int http_digit(char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : (byte | 32) >= 'a' && (byte | 32) <= 'f' ? (byte | 32) - 'a' + 10
         : -1;
}

/* Parses digits of base 10 or 16, up to the end of the text or, in chunk sizes,
 * to a semicolon. Numbers beyond 64 bits become UINT64_MAX. */
static bool http_number(const char *text, size_t n, unsigned base,
                        uint64_t *number)
{
    size_t i = 0;

    *number = 0;
    for (; i < n && !(base == 16 && text[i] == ';'); i++) {
        int digit = http_digit(text[i]);

        if (digit < 0 || (unsigned)digit >= base)
            return false;
        if (*number > (UINT64_MAX - (unsigned)digit) / base)
            *number = UINT64_MAX;
        else
            *number = *number * base + (unsigned)digit;
    }
    return i > 0;
}

static bool http_is(http_text text, const char *word)
{
    return text.length == strlen(word)
        && strncasecmp(text.data, word, text.length) == 0;
}

/* ==== Hosts ============================================================= */

static bool http_is_loopback(const char *host, size_t n)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;

    if (n >= sizeof text)
        return false;
    memcpy(text, host, n);
    text[n] = '\0';
    return (inet_pton(AF_INET, text, &v4) == 1
            && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET)
        || (inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

/* Returns whether the text is a colon and digits, or empty. */
static bool http_is_port(http_text port)
{
    for (size_t i = 1; i < port.length; i++)
        if (port.data[i] < '0' || port.data[i] > '9')
            return false;
    return port.length == 0 || port.data[0] == ':';
}

static bool http_is_ours(const serve_how *how, http_text host)
{
    bool brackets = host.length > 0 && host.data[0] == '[';
    const char *end = memchr(host.data, brackets ? ']' : ':', host.length);
    size_t n = end != NULL ? (size_t)(end - host.data) : host.length;
    http_text port = { host.data + n, host.length - n };

    if (brackets)
        return end != NULL
            && http_is_port((http_text){ port.data + 1, port.length - 1 })
            && http_is_loopback(host.data + 1, n - 1);
    if (!http_is_port(port))
        return false;
    host.length = n;
    for (size_t i = 0; i < how->hosts.count; i++)
        if (http_is(host, how->hosts.names[i]))
            return true;
    return http_is(host, "localhost") || http_is_loopback(host.data, n);
}

/* Checks the host. At a Unix socket any host is accepted, because no browser
   connects there. */
static bool http_check_host(const serve_how *how, http_question *q,
                            http_text host)
{
    return how->web.path != NULL || http_is_ours(how, host)
        || http_refuse(q, 400, "the host is not a name of this server: use "
                               "localhost, or add the name with --host");
}

/* ==== The first line ==================================================== */

/* Parses an absolute target, http://host/path, as sent to proxies. */
static bool http_absolute(const serve_how *how, http_question *q)
{
    http_text host = { q->path.data + 7, q->path.length };
    const char *slash;

    if (q->path.length < 8 || strncasecmp(q->path.data, "http://", 7) != 0)
        return http_refuse(q, 400, http_malformed);
    host.length -= 7;
    slash = memchr(host.data, '/', host.length);
    if (slash == NULL)
        return http_refuse(q, 400, http_malformed);
    q->path.length -= (size_t)(slash - q->path.data);
    q->path.data = (char *)q->path.data + (slash - q->path.data);
    host.length = (size_t)(slash - host.data);
    return http_check_host(how, q, host);
}

static bool http_target(const serve_how *how, http_question *q)
{
    const char *mark;

    for (size_t i = 0; i < q->path.length; i++)
        if ((unsigned char)q->path.data[i] <= ' ' || q->path.data[i] == 0x7f
            || q->path.data[i] == '#')
            return http_refuse(q, 400, http_malformed);
    if (q->path.length == 0)
        return http_refuse(q, 400, http_malformed);
    if (q->path.data[0] != '/' && !http_absolute(how, q))
        return false;
    mark = memchr(q->path.data, '?', q->path.length);
    if (mark != NULL) {
        size_t n = (size_t)(mark - q->path.data);

        q->query = (http_text){ q->path.data + n + 1, q->path.length - n - 1 };
        q->path.length = n;
    }
    return true;
}

/* Parses "HTTP/1.1". Later minor versions are treated as 1.1. */
static bool http_version(http_question *q, http_text version)
{
    if (version.length != 8 || memcmp(version.data, "HTTP/", 5) != 0
        || version.data[5] < '0' || version.data[5] > '9'
        || version.data[6] != '.'
        || version.data[7] < '0' || version.data[7] > '9')
        return http_refuse(q, 400, http_malformed);
    if (version.data[5] != '1')
        return http_refuse(q, 505, "the request is not HTTP/1.1: send that");
    q->old = version.data[7] == '0';
    q->close = q->old;
    return true;
}

static bool http_first(const serve_how *how, http_question *q, http_text line)
{
    char *end = line.data + line.length;
    char *one = memchr(line.data, ' ', line.length);
    char *two = one == NULL ? NULL
              : memchr(one + 1, ' ', (size_t)(end - one - 1));

    if (two == NULL || !http_is_token(line.data, (size_t)(one - line.data)))
        return http_refuse(q, 400, http_malformed);
    q->method = (http_text){ line.data, (size_t)(one - line.data) };
    q->path = (http_text){ one + 1, (size_t)(two - one - 1) };
    return http_version(q, (http_text){ two + 1, (size_t)(end - two - 1) })
        && http_target(how, q);
}

/* ==== Headers =========================================================== */

/* Counts the headers that affect the framing of the request. */
typedef struct {
    http_text host;
    unsigned  hosts, lengths, codings;
} http_counts;

/* Returns whether a comma-separated list contains the word. */
static bool http_lists(http_text list, const char *word)
{
    while (list.length > 0) {
        char *comma = memchr(list.data, ',', list.length);
        size_t n = comma != NULL ? (size_t)(comma - list.data) : list.length;
        http_text one = { list.data, n };

        while (one.length > 0 && strchr(" \t", one.data[0]) != NULL)
            one = (http_text){ one.data + 1, one.length - 1 };
        while (one.length > 0 && strchr(" \t", one.data[one.length - 1]))
            one.length--;
        if (http_is(one, word))
            return true;
        n += comma != NULL;
        list = (http_text){ list.data + n, list.length - n };
    }
    return false;
}

static bool http_length(http_question *q, http_text value)
{
    if (!http_number(value.data, value.length, 10, &q->length))
        return http_refuse(q, 400, http_malformed);
    return true;
}

static bool http_field(http_question *q, http_counts *c, http_text name,
                       http_text value)
{
    if (http_is(name, "host")) {
        c->hosts++;
        c->host = value;
    } else if (http_is(name, "content-length")) {
        c->lengths++;
        return http_length(q, value);
    } else if (http_is(name, "transfer-encoding")) {
        c->codings++;
        q->chunked = http_is(value, "chunked");
    } else if (http_is(name, "connection")) {
        q->close = q->close || http_lists(value, "close");
    } else if (http_is(name, "expect")) {
        q->expects = http_is(value, "100-continue");
        return q->expects
            || http_refuse(q, 417, "the only supported expectation is "
                           "100-continue");
    }
    return true;
}

/* Splits "Name: value". */
static bool http_split(http_text line, http_text *name, http_text *value)
{
    char *colon = memchr(line.data, ':', line.length);

    if (colon == NULL)
        return false;
    *name = (http_text){ line.data, (size_t)(colon - line.data) };
    *value = (http_text){ colon + 1, line.length - name->length - 1 };
    while (value->length > 0
           && (value->data[0] == ' ' || value->data[0] == '\t'))
        *value = (http_text){ value->data + 1, value->length - 1 };
    while (value->length > 0 && (value->data[value->length - 1] == ' '
                                 || value->data[value->length - 1] == '\t'))
        value->length--;
    return http_is_token(name->data, name->length)
        && http_is_plain(value->data, value->length);
}

/* Checks the headers against each other, after all have been read. */
static bool http_framing(const serve_how *how, http_question *q,
                         const http_counts *c)
{
    if (c->hosts > 1 || (c->hosts == 0 && !q->old))
        return http_refuse(q, 400, "a request needs exactly one Host: send it "
                           "once");
    if (c->hosts == 1 && !http_check_host(how, q, c->host))
        return false;
    if (c->lengths + c->codings > 1)
        return http_refuse(q, 400, "the length of the body is given twice: "
                                   "send one Content-Length, or chunks");
    if (c->codings == 1 && (!q->chunked || q->old))
        return http_refuse(q, 400, "the only supported Transfer-Encoding is "
                                   "chunked, in HTTP/1.1: send that, or a "
                                   "Content-Length");
    if (q->length > SERVE_LONGEST)
        return http_refuse(q, 413, http_too_long);
    return true;
}

/* Takes the next line, which ends with CR LF: http_take has checked that. */
static http_text http_line(http_text *from)
{
    char *end = memchr(from->data, '\n', from->length);
    http_text line = { from->data, (size_t)(end - from->data) - 1 };

    *from = (http_text){ end + 1, from->length - line.length - 2 };
    return line;
}

static bool http_head(const serve_how *how, http_question *q, http_text head)
{
    http_counts c = { .hosts = 0 };
    http_text name, value, line = http_line(&head);

    if (!http_first(how, q, line))
        return false;
    while ((line = http_line(&head)).length > 0)
        if (!http_split(line, &name, &value))
            return http_refuse(q, 400, http_malformed);
        else if (!http_field(q, &c, name, value))
            return false;
    return http_framing(how, q, &c);
}

/* ==== Bodies ============================================================ */

/* Reserves memory for a body. Large bodies share a budget, so that clients
 * cannot exhaust memory by starting many of them. Only received bytes count. */
static bool http_hold(http_state *s, http_question *q, size_t come)
{
    size_t more = come > SERVE_READ && come > s->held ? come - s->held : 0;

    s->held += more;
    if (more == 0 || atomic_fetch_add(&http_bodies, more) + more <= HTTP_BODIES)
        return true;
    return http_refuse(q, 503, "the server is out of memory for the body: send "
                               "it again later");
}

void http_forget(http_state *s)
{
    if (s->held > 0)
        atomic_fetch_sub(&http_bodies, s->held);
    *s = (http_state){ .part = HTTP_IN_HEAD };
}

/* Finds a line of at most `most` bytes at *at, stores its length without the
 * line ending, and moves *at past it. */
static http_step http_next(const char *bytes, size_t n, size_t *at, size_t most,
                           size_t *length)
{
    const char *end = memchr(bytes + *at, '\n', n - *at);
    size_t came = end != NULL ? (size_t)(end - bytes) + 1 - *at : n - *at;

    if (came > most || (end != NULL && (came < 2 || end[-1] != '\r')))
        return HTTP_WRONG;
    if (end == NULL)
        return HTTP_MORE;
    *length = came - 2;
    *at += came;
    return HTTP_DONE;
}

/* Returns whether the text is a list of chunk extensions. Quoted values are
 * refused, since parsers differ on where a quote ends. */
static bool http_is_extension(const char *text, size_t n)
{
    size_t i = 0;

    while (i < n && (text[i] == ';' || text[i] == '='
                     || http_is_token(text + i, 1)))
        i++;
    return i == n && n != 1;
}

static http_step http_size(http_state *s, http_question *q, const char *line,
                           size_t n)
{
    const char *more = memchr(line, ';', n);

    if (!http_number(line, n, 16, &s->left)
        || (more != NULL && !http_is_extension(more,
                                               n - (size_t)(more - line)))) {
        http_refuse(q, 400, http_malformed);
        return HTTP_WRONG;
    }
    if (s->left > SERVE_LONGEST - s->body) {
        http_refuse(q, 413, http_too_long);
        return HTTP_WRONG;
    }
    s->part = s->left > 0 ? HTTP_IN_CHUNK : HTTP_IN_TRAILERS;
    return HTTP_MORE;
}

static http_step http_trailer(http_state *s, const char *line, size_t n)
{
    http_text name, value, text = { (char *)line, n };

    s->trailers += n + 2;
    return n == 0 ? HTTP_DONE
         : s->trailers > HTTP_HEAD || !http_split(text, &name, &value)
         ? HTTP_WRONG : HTTP_MORE;
}

/* Moves data of a chunk to the end of the body. */
static void http_data(http_state *s, char *bytes, size_t n, size_t *at)
{
    size_t some = s->left < n - *at ? (size_t)s->left : n - *at;

    memmove(bytes + s->head + s->body, bytes + *at, some);
    s->body += some;
    s->left -= some;
    *at += some;
    if (s->left == 0)
        s->part = HTTP_IN_END;
}

/* Takes one step through a chunked body. Returns HTTP_MORE, with *at unchanged,
 * if more bytes are needed. */
static http_step http_chunk(http_state *s, http_question *q, char *bytes,
                            size_t n, size_t *at)
{
    size_t from = *at, length;
    http_step step;

    if (s->part == HTTP_IN_CHUNK) {
        http_data(s, bytes, n, at);
        return HTTP_MORE;
    }
    step = http_next(bytes, n, at, s->part == HTTP_IN_END ? 2 : HTTP_LINE,
                     &length);
    if (step != HTTP_DONE)
        return step;
    if (s->part == HTTP_IN_SIZE)
        return http_size(s, q, bytes + from, length);
    if (s->part == HTTP_IN_TRAILERS)
        return http_trailer(s, bytes + from, length);
    s->part = HTTP_IN_SIZE;
    return length == 0 ? HTTP_MORE : HTTP_WRONG;
}

static http_step http_chunks(http_state *s, http_question *q, cli_bytes *in)
{
    char *bytes = (char *)in->data + in->from;
    size_t n = bytes_waiting(in), at = s->head + s->body, from;
    http_step step;

    do {
        from = at;
        step = http_chunk(s, q, bytes, n, &at);
    } while (step == HTTP_MORE && at > from);
    if (step == HTTP_WRONG && q->status == 0)
        http_refuse(q, 400, http_malformed);
    memmove(bytes + s->head + s->body, bytes + at, n - at);
    in->to -= at - s->head - s->body;
    return step;
}

/* ==== A request ========================================================= */

/* Looks for the end of the head. Lines without CR are refused at once. */
static http_step http_find_head(http_state *s, http_question *q,
                                const char *bytes, size_t n)
{
    const char *end;

    while ((end = memchr(bytes + s->looked, '\n', n - s->looked)) != NULL) {
        size_t at = (size_t)(end - bytes);

        if (at == s->line || bytes[at - 1] != '\r' || at >= HTTP_HEAD)
            break;
        if (at == s->line + 1) {
            s->head = at + 1;
            s->part = HTTP_IN_SIZE;
            return HTTP_DONE;
        }
        s->line = s->looked = at + 1;
    }
    if (end == NULL && n <= HTTP_HEAD) {
        s->looked = n;
        return HTTP_MORE;
    }
    if (n > HTTP_HEAD && (end == NULL || (size_t)(end - bytes) >= HTTP_HEAD))
        http_refuse(q, s->line == 0 ? 414 : 431, "the head is longer than 64 "
                    "KiB: send long keys with POST");
    else
        http_refuse(q, 400, http_malformed);
    return HTTP_WRONG;
}

/* Skips empty lines before a request, as RFC 9112 asks. */
static void http_skip(http_state *s, cli_bytes *in)
{
    while (bytes_waiting(in) >= 2
           && memcmp(in->data + in->from, "\r\n", 2) == 0) {
        bytes_done(in, 2);
        s->looked = 0;
    }
}

/* Parses the head once it is complete, and prepares for the body. */
static http_step http_begin(const serve_how *how, http_state *s, cli_bytes *in,
                            http_question *q)
{
    char *bytes = (char *)in->data + in->from;
    http_step step = http_find_head(s, q, bytes, bytes_waiting(in));

    if (step != HTTP_DONE)
        return step;
    if (!http_head(how, q, (http_text){ bytes, s->head }))
        return HTTP_WRONG;
    s->chunked = q->chunked;
    s->expects = q->expects && !q->old;     /* RFC 9110, 10.1.1 */
    s->body = q->chunked ? 0 : (size_t)q->length;
    return HTTP_DONE;
}

http_step http_take(const serve_how *how, http_state *s, cli_bytes *in,
                    http_question *q)
{
    http_step step = HTTP_DONE;

    *q = (http_question){ .status = 0 };
    if (s->line == 0 && s->head == 0)
        http_skip(s, in);
    if (bytes_waiting(in) == 0)
        return HTTP_MORE;
    if (s->head == 0)
        step = http_begin(how, s, in, q);
    if (step == HTTP_DONE && s->chunked)
        step = http_chunks(s, q, in);
    else if (step == HTTP_DONE && bytes_waiting(in) - s->head < s->body)
        step = HTTP_MORE;
    if (step == HTTP_MORE && s->head > 0
        && !http_hold(s, q, bytes_waiting(in)))
        step = HTTP_WRONG;
    if (step != HTTP_DONE)
        return step;
    http_head(how, q, (http_text){ (char *)in->data + in->from, s->head });
    q->body = in->data + in->from + s->head;
    q->length = s->body;
    q->bytes = s->head + s->body;
    return HTTP_DONE;
}
