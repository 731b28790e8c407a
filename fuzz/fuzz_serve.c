/* fuzz_serve.c - any bytes sent to `bloomery serve`: requests are the same in
 * one piece or many and lie within what has arrived. A list of keys is accepted
 * if and only if it is a JSON array of strings, numbers, true and false
 * (strict.h). HTTP requests are the same in pieces, too.
 */
#include "targets.h"

#if defined(BLY_SERVE)
#include <stdlib.h>
#include <string.h>

#include "bloomery/serve/serve.h"
#include "strict.h"

/* ---- Requests ------------------------------------------------------------ */

/* The requests so far, with all their fields, one after the other. */
typedef struct {
    cli_bytes said;
    const char *wrong;
} serve_log;

static bool serve_within(const void *from, size_t length,
                         const unsigned char *bytes, size_t n)
{
    uintptr_t at = (uintptr_t)from, begin = (uintptr_t)bytes;
    return at >= begin && at - begin <= n && length <= n - (at - begin);
}

static void serve_note(serve_log *log, size_t took, const serve_request *r,
                       const unsigned char *bytes, size_t n)
{
    const void *lengths[] = { &took, &r->fault, &r->filter, &r->passing };
    const size_t sizes[] = { sizeof took, sizeof r->fault, sizeof r->filter,
                             sizeof r->passing };
    for (size_t i = 0; i < 4; i++)
        bytes_put(&log->said, lengths[i], sizes[i]);
    if (took != TALK_GARBAGE && took > n)
        log->wrong = "a request is longer than what has come";
    else if (r->text != NULL && !serve_within(r->text, r->length, bytes, n))
        log->wrong = "a key lies elsewhere than in what has come";
    else if (!serve_within(r->tag_length > 0 ? r->tag : bytes, r->tag_length,
                           bytes, n))
        log->wrong = "a tag lies elsewhere than in what has come";
    else if (r->text == NULL && r->fault == NULL)
        log->wrong = "there is neither a key nor a fault";
    if (log->wrong != NULL)
        return;
    if (r->text != NULL)
        bytes_put(&log->said, r->text, r->length);
    if (r->tag_length > 0)
        bytes_put(&log->said, r->tag, r->tag_length);
}

/* Reads all requests of n bytes, which arrive in pieces of these sizes. */
static void serve_take_all(const serve_how *how, unsigned char *bytes,
                           size_t n, target_input sizes, bool whole,
                           serve_log *log)
{
    size_t at = 0, come = whole ? n : 0, looked = 0;
    while (log->wrong == NULL) {
        serve_request r = { .filter = SERVED_ALL };
        size_t took = come > at
                    ? how->protocol->take(how, bytes + at, come - at, &looked,
                                          come == n, &r)
                    : 0;
        if (took == 0 && come == n)
            return;
        if (took == 0) {
            size_t piece = 1 + (size_t)target_take(&sizes, 1) % 40;
            come = n - come > piece ? come + piece : n;
            continue;
        }
        serve_note(log, took, &r, bytes + at, come - at);
        if (took == TALK_GARBAGE)
            return;
        looked = 0;
        at += took;
    }
}

static const char *serve_pieces(const serve_how *how, const uint8_t *bytes,
                                size_t n)
{
    serve_log logs[2] = { { { NULL, 0, 0, 0 }, NULL },
                          { { NULL, 0, 0, 0 }, NULL } };
    const char *wrong = NULL;
    for (size_t i = 0; i < 2 && wrong == NULL; i++) {
        unsigned char *copy = malloc(n + 1);
        if (copy == NULL)
            break;
        memcpy(copy, bytes, n);
        serve_take_all(how, copy, n, (target_input){ bytes, bytes + n },
                       i == 0, &logs[i]);
        wrong = logs[i].wrong;
        free(copy);
    }
    size_t said = bytes_waiting(&logs[0].said);
    if (wrong == NULL
        && (said != bytes_waiting(&logs[1].said)
            || (said > 0
                && memcmp(logs[0].said.data, logs[1].said.data, said) != 0)))
        wrong = "requests are others where they come in pieces";
    bytes_free(&logs[0].said);
    bytes_free(&logs[1].said);
    return wrong;
}

/* ---- Lists --------------------------------------------------------------- */

/* Returns whether JSON is an array of valid keys only. */
static bool serve_is_flat(const unsigned char *text, size_t n)
{
    bool flat = true;
    size_t brackets = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            for (i++; text[i] != '"'; i++)
                i += text[i] == '\\';
        brackets += text[i] == '[';
        flat = flat && text[i] != '{' && text[i] != 'n';
    }
    return flat && brackets == 1;
}

/* Bytes beyond ASCII become letters here, as a list accepts any. */
static const char *serve_array(const uint8_t *bytes, size_t n)
{
    unsigned char *text = calloc(1, n + 1);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        text[i] = bytes[i] < 0x80 ? bytes[i] : 'x';
    bool wanted = strict_json(text, n) && serve_is_flat(text, n);
    serve_list list = { text, text + n, false };
    const char *wrong = NULL;
    list_step step;
    bly_key key = { text, 0 };
    while ((step = list_next(&list, &key)) == LIST_KEY && wrong == NULL)
        if (!serve_within(key.data, key.length, text, n))
            wrong = "a key of a list lies elsewhere";
    if (wrong == NULL && (step == LIST_END) != wanted)
        wrong = wanted ? "a list of keys is refused"
                       : "what is no list of keys is taken for one";
    free(text);
    return wrong;
}

/* ---- HTTP ---------------------------------------------------------------- */

static void serve_say(cli_bytes *said, http_text text)
{
    bytes_put(said, &text.length, sizeof text.length);
    if (text.length > 0)
        bytes_put(said, text.data, text.length);
}

/* Appends all fields of a request. */
static void serve_question(cli_bytes *said, const http_question *q)
{
    bytes_put(said, &q->status, sizeof q->status);
    bytes_put(said, &q->close, sizeof q->close);
    serve_say(said, q->method);
    serve_say(said, q->path);
    serve_say(said, q->query);
    serve_say(said, (http_text){ (char *)q->body, (size_t)q->length });
}

/* Reads all requests of n bytes, which arrive in pieces of these sizes. */
static void serve_http(const serve_how *how, const uint8_t *bytes, size_t n,
                       target_input sizes, bool whole, cli_bytes *said)
{
    cli_bytes in = { NULL, 0, 0, 0 };
    http_state state = { .part = HTTP_IN_HEAD };
    http_step step = HTTP_MORE;
    http_question q;
    for (size_t at = 0; at < n && step != HTTP_WRONG; ) {
        size_t some = whole ? n : 1 + (size_t)target_take(&sizes, 1) % 64;
        some = some < n - at ? some : n - at;
        bytes_put(&in, bytes + at, some);
        at += some;
        while ((step = http_take(how, &state, &in, &q)) == HTTP_DONE) {
            serve_question(said, &q);
            bytes_done(&in, q.bytes);
            http_forget(&state);
        }
    }
    bytes_put(said, &step, sizeof step);
    http_forget(&state);
    bytes_free(&in);
}

static const char *serve_http_pieces(const serve_how *how, const uint8_t *bytes,
                                     size_t n)
{
    cli_bytes said[2] = { { NULL, 0, 0, 0 }, { NULL, 0, 0, 0 } };
    for (int i = 0; i < 2; i++)
        serve_http(how, bytes, n, (target_input){ bytes, bytes + n }, i == 0,
                   &said[i]);
    bool same = bytes_waiting(&said[0]) == bytes_waiting(&said[1])
             && memcmp(said[0].data, said[1].data, bytes_waiting(&said[0]))
                == 0;
    bytes_free(&said[0]);
    bytes_free(&said[1]);
    return same ? NULL : "HTTP in pieces is read otherwise than as a whole";
}

const char *fuzz_serve(const uint8_t *bytes, size_t n)
{
    static const serve_protocol *const protocols[] = {
        &plain_protocol, &helper_protocol, &postfix_map_protocol,
        &postfix_table_protocol,
    };
    target_input in = { bytes, bytes + n };
    unsigned which = (unsigned)target_take(&in, 1);
    const serve_how how = {
        .protocol = protocols[which & 3], .null = (which & 4) != 0,
        .channels = (which & 8) != 0, .field = 1 + (which >> 4 & 1),
    };
    const char *wrong = serve_array(in.at, target_left(&in));
    if (wrong == NULL)
        wrong = serve_http_pieces(&how, in.at, target_left(&in));
    return wrong != NULL ? wrong
                         : serve_pieces(&how, in.at, target_left(&in));
}
#else
const char *fuzz_serve(const uint8_t *bytes, size_t n)
{
    (void)bytes;
    (void)n;
    return NULL;
}
#endif
