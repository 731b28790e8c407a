/* web.c - what is asked by HTTP.
 *
 *      GET  /contains?key=K    {"contains": true}
 *      POST /contains          a JSON array of keys -> [true, false]
 *      GET  /info              what `bloomery info --json` says
 *      GET  /metrics           Prometheus' text of what is counted
 *
 * With ?filter=NAME one filter is asked, else all; &as=CLASS says how keys are
 * written, as --as does. A key in JSON is a string, what it stands for, or a
 * number, true or false, its text. An error is {"error": "..."}. The module
 * that knows HTTP hands each request over when all of it has come (web.h).
 * Floor 8; includes serve.h and web.h only.
 */
#include "serve/serve.h"
#include "serve/web.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct serve_web {
    void         *module;
    serve_asker  *asker;
    serve_counts *counts;
    const serve_counted *counted;
    size_t        n;
};

static const char web_json[] = "application/json";

/* ==== Answers =========================================================== */

/* What has been written becomes the answer; where there was no memory for it
 * the client finds the connection closed. */
static void web_finish(web_reply *out, cli_bytes *text, bool fits,
                       const char *type)
{
    out->type = type;
    if (!fits)
        bytes_free(text);
    out->body = text->data;
    out->length = bytes_waiting(text);
}

static void web_well(const serve_web *web, web_reply *out, cli_bytes *text,
                     bool fits, const char *type)
{
    counts_add(&web->counts->requests, 1);
    web_finish(out, text, fits, type);
}

/* The messages are ours, and hold nothing that JSON would escape. */
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

static void web_refuse(void *context, unsigned status, web_reply *out)
{
    const serve_web *web = context;

    web_wrong(web, out, status, status == WEB_TOO_LONG
              ? "the body is longer than 1 MiB: send the keys in parts"
              : status == WEB_MALFORMED
              ? "in what is asked there is a NUL, or a % without two "
                "hexadecimal digits behind it: write %00 or %25"
              : "there is no memory for the body now: send it again later");
}

/* ==== Arguments ========================================================= */

/* What is asked, and how. */
typedef struct {
    size_t filter;
    uint64_t as;
} web_how;

/* The one value of an argument; NULL: there is none, or *fault says what is
 * wrong. */
static const char *web_argument(const web_question *q, const char *name,
                                size_t *length, const char **fault)
{
    size_t n;
    const char *value = q->argument(q, name, length, &n);

    if (n > 1)
        *fault = "an argument comes more than once: send several keys as a "
                 "JSON array by POST";
    return n == 1 ? value : NULL;
}

/* 0, or the status that refuses it. */
static unsigned web_arguments(const web_question *q, web_how *how,
                              const char **fault)
{
    size_t length;
    const char *text;

    *how = (web_how){ SERVED_ALL, FORMS_UNSAID };
    text = web_argument(q, "filter", &length, fault);
    if (text != NULL) {
        how->filter = served_find(text, length);
        *fault = "there is no filter of this name: it is that of its file "
                 "without the ending";
        if (how->filter == SERVED_ALL)
            return 404;
        *fault = NULL;
    }
    text = web_argument(q, "as", &length, fault);
    if (text != NULL && forms_read(text, &how->as) != NULL)
        *fault = "as is not a class of keys: give one of" BLY_KEYS_WORDS;
    return *fault != NULL ? 400 : 0;
}

/* ==== One key =========================================================== */

static void web_ask(const serve_web *web, const web_question *q,
                    web_reply *out)
{
    serve_request *r = &web->asker->requests[0];
    cli_bytes text = { NULL, 0, 0, 0 };
    const char *fault = NULL, *key;
    web_how how;
    unsigned status = web_arguments(q, &how, &fault);
    size_t length = 0;

    key = web_argument(q, "key", &length, &fault);
    if (status == 0 && key == NULL) {
        status = 400;
        fault = fault != NULL ? fault : "the key is missing: /contains?key=...";
    }
    if (status != 0) {
        web_wrong(web, out, status, fault);
        return;
    }
    *r = (serve_request){ .text = (const unsigned char *)key,
                          .length = length, .filter = how.filter };
    asking_batch(web->asker, 1, how.as, web->counts);
    if (r->fault != NULL)
        web_wrong(web, out, r->passing ? 503 : 400, r->fault);
    else
        web_well(web, out, &text, bytes_text(&text, r->there
                                             ? "{\"contains\": true}\n"
                                             : "{\"contains\": false}\n"),
                 web_json);
}

/* ==== Many keys ========================================================= */

/* A JSON array on its way, and what is answered. */
typedef struct {
    const serve_web *web;
    web_how     how;
    serve_list  keys;
    size_t      n;              /* of them wait to be asked                 */
    bool        any;            /* something was answered                   */
    cli_bytes out;
    const char *fault;
    unsigned    status;
} web_list;

static const char web_no_array[] =
    "the body is no JSON array of strings, numbers, true and false";

static bool web_fails(web_list *l, unsigned status, const char *fault)
{
    l->status = status;
    l->fault = fault;
    return false;
}

static bool web_put(web_list *l, bool there)
{
    bool fits = bytes_text(&l->out, l->any ? ", " : "")
             && bytes_text(&l->out, there ? "true" : "false");

    l->any = true;
    return fits || web_fails(l, 503, "the server is out of memory");
}

/* Ask for those that wait. */
static bool web_flush(web_list *l)
{
    const serve_request *r = l->web->asker->requests;
    size_t n = l->n;

    l->n = 0;
    asking_batch(l->web->asker, n, l->how.as, l->web->counts);
    for (size_t i = 0; i < n; i++) {
        if (r[i].fault != NULL)
            return web_fails(l, r[i].passing ? 503 : 400, r[i].fault);
        if (!web_put(l, r[i].there))
            return false;
    }
    return true;
}

/* From the opening bracket to the end. */
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

static void web_ask_many(const serve_web *web, const web_question *q,
                         web_reply *out)
{
    web_list l = { .web = web, .keys.at = q->body };
    unsigned status = web_arguments(q, &l.how, &l.fault);

    if (status != 0) {
        web_wrong(web, out, status, l.fault);
        return;
    }
    l.keys.end = q->body != NULL ? q->body + q->length : NULL;
    if (!bytes_text(&l.out, "[") || !web_array(&l)) {
        bytes_free(&l.out);
        if (l.fault != NULL)
            web_wrong(web, out, l.status, l.fault);
        return;
    }
    web_well(web, out, &l.out, bytes_text(&l.out, "]\n"), web_json);
}

/* ==== What is told ====================================================== */

/* Without the newline at its end. */
static bool web_put_about(cli_bytes *out, const served_filter *f)
{
    return f->about != NULL && bytes_put(out, f->about, f->about_length - 1);
}

static void web_info(const serve_web *web, const web_question *q,
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

static void web_metrics(const serve_web *web, const web_question *q,
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
    void (*answer)(const serve_web *web, const web_question *q, web_reply *out);
    const char *allow;
} web_route;

static const web_route web_routes[] = {
    { "/contains", "GET", web_ask, "GET, HEAD, POST" },
    { "/contains", "POST", web_ask_many, NULL },
    { "/info", "GET", web_info, "GET, HEAD" },
    { "/metrics", "GET", web_metrics, "GET, HEAD" },
};

static void web_answer(void *context, const web_question *q, web_reply *out)
{
    const serve_web *web = context;
    bool head = strcmp(q->method, "HEAD") == 0;

    asking_renew(web->asker);
    for (size_t i = 0; i < sizeof web_routes / sizeof *web_routes; i++) {
        const web_route *r = &web_routes[i];

        if (strcmp(r->path, q->path) != 0)
            continue;
        if (strcmp(r->method, head ? "GET" : q->method) == 0) {
            r->answer(web, q, out);
            return;
        }
        out->allow = r->allow != NULL ? r->allow : out->allow;
    }
    if (out->allow != NULL)
        web_wrong(web, out, 405, "this path takes other methods: see Allow");
    else
        web_wrong(web, out, 404, "there are /contains, /info and /metrics");
}

static void web_come(void *context, int clients)
{
    const serve_web *web = context;

    counts_add(&web->counts->clients, (uint64_t)(int64_t)clients);
}

/* ==== The module ======================================================== */

static const web_module *web_loaded;

#if defined(BLY_HTTP)
int web_load(void)
{
    void *module = dlopen(BLY_HTTP, RTLD_NOW | RTLD_LOCAL);

    web_loaded = module != NULL ? dlsym(module, WEB_SYMBOL) : NULL;
    if (web_loaded != NULL)
        return CLI_GO;
    return report_error("--http needs what cannot be loaded (%s): install "
                        "libmicrohttpd, and '%s' anew with this program",
                        module == NULL ? dlerror() : "it is of another version",
                        BLY_HTTP);
}
#else
int web_load(void)
{
    return report_error("--http is not in this program: it was built with "
                        "BLY_HTTP=OFF: build it with libmicrohttpd-dev and "
                        "-DBLY_HTTP=ON");
}
#endif

serve_web *web_open(int fd, serve_asker *asker, serve_counts *counts,
                    const serve_counted *counted, size_t n, uint64_t clients)
{
    serve_web *web = calloc(1, sizeof *web);
    const web_host host = {
        .answer = web_answer, .refuse = web_refuse, .come = web_come,
        .context = web, .longest = SERVE_LONGEST, .clients = (unsigned)clients,
    };

    if (web != NULL) {
        *web = (serve_web){ NULL, asker, counts, counted, n };
        web->module = web_loaded->open(fd, &host);
    }
    if (web != NULL && web->module != NULL)
        return web;
    free(web);
    close(fd);
    report_error("cannot serve by HTTP: out of memory, or of descriptors: let "
                 "more files be open (ulimit -n)");
    return NULL;
}

int web_descriptor(const serve_web *web)
{
    return web_loaded->descriptor(web->module);
}

void web_run(serve_web *web)
{
    web_loaded->run(web->module);
}

int web_timeout(const serve_web *web)
{
    return web_loaded->timeout(web->module);
}

bool web_drain(serve_web *web)
{
    return web_loaded->drain(web->module);
}

void web_close(serve_web *web)
{
    web_loaded->close(web->module);
    free(web);
}
