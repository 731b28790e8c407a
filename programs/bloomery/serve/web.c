/* web.c - answers HTTP requests.
 *
 *      GET  /contains?key=K    {"contains": true}
 *      POST /contains          a JSON array of keys -> [true, false]
 *      GET  /allow?key=K       status 200 if it is there, else 403
 *      GET  /deny?key=K        status 403 if it is there, else 200
 *      GET  /info              the output of `bloomery info --json`
 *      GET  /metrics           counters for Prometheus
 *
 * ?filter=NAME queries one filter instead of all. &as=CLASS says how keys are
 * written, like --as. A key in JSON is a string, or the text of a number, true
 * or false. An error is {"error": "..."}.
 */
#include "bloomery/serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    unsigned    status;
    const char *type;           /* of the body                              */
    const char *allow;          /* allowed methods, if the method was wrong */
    cli_bytes   body;
    bool        fits;           /* whether memory for the body sufficed     */
} web_reply;

struct serve_web {
    serve_asker  *asker;
    serve_counts *counts;
    const serve_counted *counted;
    size_t        n;
    time_t        when;         /* of `date`                                */
    char          date[40];
};

static const char web_json[] = "application/json";

/* ==== Answers =========================================================== */

static void web_well(const serve_web *web, web_reply *out, cli_bytes *text,
                     bool fits, const char *type)
{
    counts_add(&web->counts->requests, 1);
    out->type = type;
    out->body = *text;
    out->fits = fits;
}

/* Fills in an error. The messages contain nothing that JSON must escape. */
static void web_wrong(const serve_web *web, web_reply *out, unsigned status,
                      const char *why)
{
    cli_bytes text = { NULL, 0, 0, 0 };
    bool fits = bytes_text(&text, "{\"error\": \"") && bytes_text(&text, why)
             && bytes_text(&text, "\"}\n");

    counts_add(&web->counts->errors, 1);
    out->status = status;
    web_well(web, out, &text, fits, web_json);
}

/* ==== Arguments ========================================================= */

/* The arguments of a request. */
typedef struct {
    size_t    filter;
    uint64_t  as;
    http_text key;              /* data is NULL if none was given           */
} web_how;

enum { WEB_FILTER, WEB_AS, WEB_KEY, WEB_ARGUMENTS };
static const char *const web_names[] = { "filter", "as", "key" };

/* Decodes %XX in place and, with `form`, + to a blank. Returns false if a % is
 * not followed by two digits. */
static bool web_decode(http_text *text, bool form)
{
    for (size_t i = 0; form && i < text->length; i++)
        if (text->data[i] == '+')
            text->data[i] = ' ';
    text->length = plain_unescape((unsigned char *)text->data, text->length);
    return text->length != SIZE_MAX;
}

static bool web_is(http_text text, const char *word)
{
    return text.length == strlen(word)
        && memcmp(text.data, word, text.length) == 0;
}

/* Takes the part of the query up to the next &, as a name and a value. */
static bool web_part(http_text *query, http_text *name, http_text *value)
{
    char *end = memchr(query->data, '&', query->length), *equals;
    size_t n = end != NULL ? (size_t)(end - query->data) : query->length;

    *name = (http_text){ query->data, n };
    equals = memchr(query->data, '=', n);
    *value = (http_text){ query->data + n, 0 };
    if (equals != NULL) {
        name->length = (size_t)(equals - query->data);
        *value = (http_text){ equals + 1, n - name->length - 1 };
    }
    n += end != NULL;
    *query = (http_text){ query->data + n, query->length - n };
    return web_decode(name, true) && web_decode(value, true);
}

/* Parses the query. Returns NULL or what is wrong with it. Unknown arguments
 * are ignored. */
static const char *web_query(const http_question *q,
                             http_text arguments[WEB_ARGUMENTS])
{
    http_text query = q->query, name, value;

    while (query.length > 0) {
        if (!web_part(&query, &name, &value))
            return "in the URL, a % is not followed by two hexadecimal digits: "
                   "write %25";
        for (size_t i = 0; i < WEB_ARGUMENTS; i++) {
            if (!web_is(name, web_names[i]))
                continue;
            if (arguments[i].data != NULL)
                return "an argument is given more than once: send several keys "
                       "as a JSON array with POST";
            arguments[i] = value;
        }
    }
    return NULL;
}

/* Returns 0 or the status of the error. */
static unsigned web_arguments(const http_question *q, web_how *how,
                              const char **fault)
{
    http_text given[WEB_ARGUMENTS] = { { NULL, 0 } };
    char as[BLY_FORM_TEXT];

    *how = (web_how){ .filter = SERVED_ALL, .as = FORMS_UNSAID };
    *fault = web_query(q, given);
    if (*fault != NULL)
        return 400;
    how->key = given[WEB_KEY];
    if (given[WEB_FILTER].data != NULL) {
        how->filter = served_find(given[WEB_FILTER].data,
                                  given[WEB_FILTER].length);
        *fault = "no filter has this name: use the name of its file without "
                 "the extension";
        if (how->filter == SERVED_ALL)
            return 404;
        *fault = NULL;
    }
    if (given[WEB_AS].data == NULL)
        return 0;
    if (given[WEB_AS].length < sizeof as
        && memchr(given[WEB_AS].data, '\0', given[WEB_AS].length) == NULL) {
        memcpy(as, given[WEB_AS].data, given[WEB_AS].length);
        as[given[WEB_AS].length] = '\0';
        if (forms_read(as, &how->as) == NULL)
            return 0;
    }
    *fault = "as is not a class of keys: give one of" BLY_KEYS_WORDS;
    return 400;
}

/* ==== A key ============================================================= */

/* Looks up a key. The status is one of these. */
static void web_ask(const serve_web *web, const http_question *q,
                    web_reply *out, unsigned there, unsigned absent)
{
    serve_request *r = &web->asker->requests[0];
    cli_bytes text = { NULL, 0, 0, 0 };
    const char *fault;
    web_how how;
    unsigned status = web_arguments(q, &how, &fault);

    if (status == 0 && how.key.data == NULL) {
        status = 400;
        fault = "the key is missing: ?key=...";
    }
    if (status != 0) {
        web_wrong(web, out, status, fault);
        return;
    }
    *r = (serve_request){ .text = (unsigned char *)how.key.data,
                          .length = how.key.length, .filter = how.filter };
    asking_batch(web->asker, 1, how.as, web->counts);
    if (r->fault != NULL) {
        web_wrong(web, out, r->passing ? 503 : 400, r->fault);
        return;
    }
    out->status = r->there ? there : absent;
    web_well(web, out, &text, bytes_text(&text, r->there
                                         ? "{\"contains\": true}\n"
                                         : "{\"contains\": false}\n"),
             web_json);
}

static void web_contains(const serve_web *web, const http_question *q,
                         web_reply *out)
{
    web_ask(web, q, out, 200, 200);
}

static void web_allow(const serve_web *web, const http_question *q,
                      web_reply *out)
{
    web_ask(web, q, out, 200, 403);
}

static void web_deny(const serve_web *web, const http_question *q,
                     web_reply *out)
{
    web_ask(web, q, out, 403, 200);
}

/* ==== Many keys ========================================================= */

/* A JSON array that is being read, and its answers. */
typedef struct {
    const serve_web *web;
    web_how     how;
    serve_list  keys;
    size_t      n;              /* number of keys not yet looked up         */
    bool        any;            /* whether an answer was written            */
    cli_bytes out;
    const char *fault;
    unsigned    status;
} web_list;

static const char web_no_array[] =
    "the body is not a JSON array of strings, numbers, true and false";

static bool web_fails(web_list *l, unsigned status, const char *fault)
{
    l->status = status;
    l->fault = fault;
    return false;
}

static bool web_told(web_list *l, bool there)
{
    bool fits = bytes_text(&l->out, l->any ? ", " : "")
             && bytes_text(&l->out, there ? "true" : "false");

    l->any = true;
    return fits || web_fails(l, 503, "the server is out of memory");
}

/* Looks up the pending keys. */
static bool web_flush(web_list *l)
{
    const serve_request *r = l->web->asker->requests;
    size_t n = l->n;

    l->n = 0;
    asking_batch(l->web->asker, n, l->how.as, l->web->counts);
    for (size_t i = 0; i < n; i++) {
        if (r[i].fault != NULL)
            return web_fails(l, r[i].passing ? 503 : 400, r[i].fault);
        if (!web_told(l, r[i].there))
            return false;
    }
    return true;
}

/* Reads the array, from the opening bracket to the end. */
static bool web_array(web_list *l)
{
    serve_request *requests = l->web->asker->requests;
    list_step step;
    bly_key key;

    while ((step = list_next(&l->keys, &key)) == LIST_KEY) {
        requests[l->n++] = (serve_request){
            .text = key.data, .length = key.length,
            .filter = l->how.filter,
        };
        if (l->n == SERVE_BATCH && !web_flush(l))
            return false;
    }
    return step == LIST_END ? web_flush(l) : web_fails(l, 400, web_no_array);
}

static void web_ask_many(const serve_web *web, const http_question *q,
                         web_reply *out)
{
    web_list l = { .web = web, .keys.at = q->body };
    unsigned status = web_arguments(q, &l.how, &l.fault);

    if (status != 0) {
        web_wrong(web, out, status, l.fault);
        return;
    }
    l.keys.end = q->body + q->length;
    if (!bytes_text(&l.out, "[") || !web_array(&l)) {
        bytes_free(&l.out);
        if (l.fault != NULL)
            web_wrong(web, out, l.status, l.fault);
        return;
    }
    web_well(web, out, &l.out, bytes_text(&l.out, "]\n"), web_json);
}

/* ==== Information ===================================================== */

/* Appends the information without its final newline. */
static bool web_put_about(cli_bytes *out, const served_filter *f)
{
    return f->about != NULL && bytes_put(out, f->about, f->about_length - 1);
}

static void web_info(const serve_web *web, const http_question *q,
                     web_reply *out)
{
    const served_set *set = web->asker->set;
    cli_bytes text = { NULL, 0, 0, 0 };
    const char *fault = NULL;
    web_how how;
    unsigned status = web_arguments(q, &how, &fault);
    bool fits = true, several = how.filter == SERVED_ALL && set->n > 1;

    if (status != 0) {
        web_wrong(web, out, status, fault);
        return;
    }
    fits = bytes_text(&text, several ? "[" : "");
    for (size_t i = 0; fits && i < set->n; i++)
        if (how.filter == SERVED_ALL || how.filter == i)
            fits = bytes_text(&text, i > 0 && several ? ", " : "")
                && web_put_about(&text, set->filters[i]);
    web_well(web, out, &text, fits && bytes_text(&text, several ? "]\n" : "\n"),
             web_json);
}

static void web_metrics(const serve_web *web, const http_question *q,
                        web_reply *out)
{
    cli_bytes text = { NULL, 0, 0, 0 };

    (void)q;
    web_well(web, out, &text, counts_text(&text, web->counted, web->n,
                                          web->asker->set),
             "text/plain; version=0.0.4; charset=utf-8");
}

/* ==== Paths ============================================================= */

typedef struct {
    const char *path, *method;
    void (*answer)(const serve_web *web, const http_question *q,
                   web_reply *out);
    const char *allow;
} web_route;

static const web_route web_routes[] = {
    { "/contains", "GET", web_contains, "GET, HEAD, POST" },
    { "/contains", "POST", web_ask_many, NULL },
    { "/allow", "GET", web_allow, "GET, HEAD" },
    { "/deny", "GET", web_deny, "GET, HEAD" },
    { "/info", "GET", web_info, "GET, HEAD" },
    { "/metrics", "GET", web_metrics, "GET, HEAD" },
};

static void web_answer(const serve_web *web, const http_question *q, bool head,
                       web_reply *out)
{
    http_text path = q->path;

    if (!web_decode(&path, false)) {
        web_wrong(web, out, 400, "in the path, a % is not followed by two "
                                 "hexadecimal digits");
        return;
    }
    for (size_t i = 0; i < sizeof web_routes / sizeof *web_routes; i++) {
        const web_route *r = &web_routes[i];

        if (!web_is(path, r->path))
            continue;
        if (head ? strcmp(r->method, "GET") == 0
                 : web_is(q->method, r->method)) {
            r->answer(web, q, out);
            return;
        }
        out->allow = r->allow != NULL ? r->allow : out->allow;
    }
    if (out->allow != NULL)
        web_wrong(web, out, 405, "this path does not support the method: see "
                  "Allow");
    else
        web_wrong(web, out, 404, "this path is unknown: use /contains, "
                  "/allow, /deny, /info or /metrics");
}

/* ==== Bytes ============================================================= */

static const struct {
    unsigned    status;
    const char *reason;
} web_reasons[] = {
    { 200, "OK" }, { 400, "Bad Request" }, { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" }, { 413, "Content Too Large" },
    { 414, "URI Too Long" }, { 417, "Expectation Failed" },
    { 431, "Request Header Fields Too Large" },
    { 503, "Service Unavailable" }, { 505, "HTTP Version Not Supported" },
};

static const char *web_reason(unsigned status)
{
    size_t i = 0;

    while (web_reasons[i].status != status)
        i++;
    return web_reasons[i].reason;
}

/* Returns the current time in the format of the Date header. */
static const char *web_date(serve_web *web)
{
    time_t now = time(NULL);
    struct tm utc;

    if (now != web->when && gmtime_r(&now, &utc) != NULL) {
        web->when = now;
        strftime(web->date, sizeof web->date, "%a, %d %b %Y %H:%M:%S GMT",
                 &utc);
    }
    return web->date;
}

/* Appends the answer and frees it. Returns false if out of memory. */
static bool web_put(serve_web *web, web_reply *r, bool head, bool close,
                    cli_bytes *out)
{
    bool fits = r->fits
        && bytes_format(out, "HTTP/1.1 %u %s\r\nDate: %s\r\n"
                        "Content-Type: %s\r\nContent-Length: %zu\r\n",
                        r->status, web_reason(r->status), web_date(web),
                        r->type, bytes_waiting(&r->body))
        && (r->allow == NULL
            || bytes_format(out, "Allow: %s\r\n", r->allow))
        && bytes_text(out, close ? "Connection: close\r\n\r\n" : "\r\n")
        && (head || bytes_put(out, r->body.data + r->body.from,
                              bytes_waiting(&r->body)));

    bytes_free(&r->body);
    return fits;
}

/* Refuses a request. The connection must end, as the parser has lost track. */
static bool web_refuse(serve_web *web, serve_talk *t, const http_question *q)
{
    web_reply reply = { .status = q->status };

    t->broken = true;
    bytes_done(&t->in, bytes_waiting(&t->in));
    http_forget(&t->http);
    web_wrong(web, &reply, q->status, q->fault);
    return web_put(web, &reply, false, true, &t->out);
}

static bool web_reply_to(serve_web *web, serve_talk *t, const http_question *q)
{
    web_reply reply = { .status = 200 };
    bool head = web_is(q->method, "HEAD"), close = q->close;
    size_t bytes = q->bytes;

    web_answer(web, q, head, &reply);
    http_forget(&t->http);
    bytes_done(&t->in, bytes);
    t->broken = close;
    return web_put(web, &reply, head, close, &t->out);
}

bool web_talk(serve_web *web, serve_talk *t)
{
    http_question q;
    bool fits = true;

    t->idle = false;
    while (fits && !t->idle && !t->broken
           && bytes_waiting(&t->out) < SERVE_UNSENT)
        switch (http_take(web->asker->how, &t->http, &t->in, &q)) {
        case HTTP_DONE:
            fits = web_reply_to(web, t, &q);
            break;
        case HTTP_WRONG:
            fits = web_refuse(web, t, &q);
            break;
        case HTTP_MORE:
            t->idle = true;
            fits = !t->http.expects
                || bytes_text(&t->out, "HTTP/1.1 100 Continue\r\n\r\n");
            t->http.expects = false;
            break;
        }
    t->idle = t->idle || t->broken;
    return fits;
}

serve_web *web_open(serve_asker *asker, serve_counts *counts,
                    const serve_counted *counted, size_t n)
{
    serve_web *web = calloc(1, sizeof *web);

    if (web == NULL)
        report_no_memory();
    else
        *web = (serve_web){ asker, counts, counted, n, 0, "" };
    return web;
}
