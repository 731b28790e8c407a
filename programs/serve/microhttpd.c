/* microhttpd.c - the module that knows HTTP, by libmicrohttpd.
 *
 * The library is used with an epoll of its own, which is one descriptor in the
 * loop of a thread (loop.c): it starts no threads. A request is answered when
 * all of it has come; bodies that are on their way hold MICROHTTPD_BODIES bytes
 * at most, of all clients together. Floor 8; includes web.h only.
 */
#include "serve/web.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MICROHTTPD_PATIENCE = 60,           /* seconds without a byte            */
    MICROHTTPD_ROOM = 1 << 16,          /* bytes of a client, without a body */
    MICROHTTPD_BODIES = 1 << 26
};

typedef struct {
    struct MHD_Daemon *daemon;
    web_host host;
    size_t   working;                   /* answers that are on their way     */
    int      listener;                  /* once no new clients are taken     */
} microhttpd;

/* A request on its way. */
typedef struct {
    unsigned char *body;
    size_t   length, room;
    unsigned fault;                     /* the status; 0: none               */
    bool     begun, answered;           /* its head is complete; it is       */
    const char *end;                    /* of what is asked for              */
} microhttpd_request;

static atomic_size_t microhttpd_bodies;

/* ==== Arguments ========================================================= */

typedef struct {
    const char *name, *value;
    size_t      length, n;
} microhttpd_search;

static enum MHD_Result microhttpd_look(void *context, enum MHD_ValueKind kind,
                                       const char *name, size_t name_length,
                                       const char *value, size_t length)
{
    microhttpd_search *s = context;

    (void)kind;
    if (name_length != strlen(s->name)
        || memcmp(name, s->name, name_length) != 0)
        return MHD_YES;
    s->value = value != NULL ? value : "";
    s->length = value != NULL ? length : 0;
    s->n++;
    return MHD_YES;
}

static const char *microhttpd_argument(const web_question *q, const char *name,
                                       size_t *length, size_t *n)
{
    microhttpd_search s = { name, NULL, 0, 0 };

    MHD_get_connection_values_n(q->connection, MHD_GET_ARGUMENT_KIND,
                                microhttpd_look, &s);
    *length = s.length;
    *n = s.n;
    return s.value;
}

/* ==== Answers =========================================================== */

static enum MHD_Result microhttpd_send(struct MHD_Connection *connection,
                                       const web_reply *reply)
{
    struct MHD_Response *response;
    enum MHD_Result sent;

    if (reply->body == NULL)
        return MHD_NO;
    response = MHD_create_response_from_buffer(reply->length, reply->body,
                                               MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(reply->body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            reply->type);
    if (reply->allow != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
    sent = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result microhttpd_refuse(const microhttpd *web,
                                         struct MHD_Connection *connection,
                                         unsigned status)
{
    web_reply reply = { .status = status };

    web->host.refuse(web->host.context, status, &reply);
    return microhttpd_send(connection, &reply);
}

static enum MHD_Result microhttpd_answer(const microhttpd *web,
                                         struct MHD_Connection *connection,
                                         const char *method, const char *path,
                                         const microhttpd_request *r)
{
    const web_question question = { method, path, r->body, r->length,
                                    microhttpd_argument, connection };
    web_reply reply = { .status = MHD_HTTP_OK };

    if (r->fault != 0)
        return microhttpd_refuse(web, connection, r->fault);
    web->host.answer(web->host.context, &question, &reply);
    return microhttpd_send(connection, &reply);
}

/* ==== Bodies ============================================================ */

static void microhttpd_forget(microhttpd_request *r)
{
    free(r->body);
    atomic_fetch_sub(&microhttpd_bodies, r->room);
    r->body = NULL;
    r->length = r->room = 0;
}

/* The status that refuses it; 0: there is room. */
static unsigned microhttpd_room(const microhttpd *web, microhttpd_request *r,
                                size_t more)
{
    size_t room = r->room > 0 ? r->room : 4096;
    unsigned char *body;

    if (more > web->host.longest - r->length)
        return WEB_TOO_LONG;
    while (room < r->length + more)
        room *= 2;
    if (room == r->room)
        return 0;
    if (atomic_fetch_add(&microhttpd_bodies, room - r->room) + room - r->room
        > MICROHTTPD_BODIES) {
        atomic_fetch_sub(&microhttpd_bodies, room - r->room);
        return WEB_BUSY;
    }
    body = realloc(r->body, room);
    if (body == NULL) {
        atomic_fetch_sub(&microhttpd_bodies, room - r->room);
        return WEB_BUSY;
    }
    r->body = body;
    r->room = room;
    return 0;
}

/* What is refused is read to its end all the same, so that the answer is. */
static void microhttpd_take(const microhttpd *web, microhttpd_request *r,
                            const char *bytes, size_t n)
{
    if (r->fault != 0 || n == 0)
        return;
    r->fault = microhttpd_room(web, r, n);
    if (r->fault != 0) {
        microhttpd_forget(r);
        return;
    }
    memcpy(r->body + r->length, bytes, n);
    r->length += n;
}

/* ==== What the library calls ============================================ */

static bool microhttpd_is_digit(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f')
        || (byte >= 'A' && byte <= 'F');
}

/* Are two digits behind each %? The library takes the others as they stand. */
static bool microhttpd_is_well(const char *uri)
{
    while ((uri = strchr(uri, '%')) != NULL) {
        if (!microhttpd_is_digit(uri[1]) || !microhttpd_is_digit(uri[2]))
            return false;
        uri += 3;
    }
    return true;
}

/* The first line of a request is there. */
static void *microhttpd_begin(void *context, const char *uri,
                              struct MHD_Connection *connection)
{
    microhttpd_request *r = calloc(1, sizeof *r);

    (void)context;
    (void)connection;
    if (r == NULL)
        return NULL;
    r->fault = microhttpd_is_well(uri) ? 0 : WEB_MALFORMED;
    r->end = uri + strlen(uri);
    return r;
}

/* The library takes a NUL for the end of what is asked for. But behind it then
 * does not follow what does in the line, the version. */
static bool microhttpd_is_cut(const microhttpd_request *r, const char *version)
{
    uintptr_t behind = (uintptr_t)version - (uintptr_t)r->end;

    return behind > 1 && behind < MICROHTTPD_ROOM;
}

static enum MHD_Result microhttpd_handle(void *context,
                                         struct MHD_Connection *connection,
                                         const char *path, const char *method,
                                         const char *version, const char *bytes,
                                         size_t *n, void **request)
{
    microhttpd *web = context;
    microhttpd_request *r = *request;

    if (r == NULL)
        return MHD_NO;
    if (r->begun && *n == 0) {
        web->working += !r->answered;
        r->answered = true;
        return microhttpd_answer(web, connection, method, path, r);
    }
    if (!r->begun && microhttpd_is_cut(r, version))
        r->fault = WEB_MALFORMED;
    r->begun = true;
    microhttpd_take(web, r, bytes, *n);
    *n = 0;
    return MHD_YES;
}

static void microhttpd_done(void *context, struct MHD_Connection *connection,
                            void **request,
                            enum MHD_RequestTerminationCode how)
{
    microhttpd *web = context;
    microhttpd_request *r = *request;

    (void)connection;
    (void)how;
    if (r == NULL)
        return;
    web->working -= r->answered;
    microhttpd_forget(r);
    free(r);
    *request = NULL;
}

static void microhttpd_come(void *context, struct MHD_Connection *connection,
                            void **own,
                            enum MHD_ConnectionNotificationCode what)
{
    const microhttpd *web = context;

    (void)connection;
    (void)own;
    web->host.come(web->host.context,
                   what == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1);
}

/* ==== The module ======================================================== */

static void *microhttpd_open(int fd, const web_host *host)
{
    microhttpd *web = calloc(1, sizeof *web);

    if (web == NULL)
        return NULL;
    web->host = *host;
    web->listener = -1;
    web->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, microhttpd_handle, web,
        MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, host->clients,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)MICROHTTPD_PATIENCE,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MICROHTTPD_ROOM,
        MHD_OPTION_URI_LOG_CALLBACK, microhttpd_begin, web,
        MHD_OPTION_NOTIFY_COMPLETED, microhttpd_done, web,
        MHD_OPTION_NOTIFY_CONNECTION, microhttpd_come, web,
        MHD_OPTION_END);
    if (web->daemon != NULL)
        return web;
    free(web);
    return NULL;
}

static int microhttpd_descriptor(void *context)
{
    const microhttpd *web = context;

    return MHD_get_daemon_info(web->daemon,
                               MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static void microhttpd_run(void *context)
{
    const microhttpd *web = context;

    MHD_run(web->daemon);
}

static int microhttpd_timeout(void *context)
{
    const microhttpd *web = context;
    MHD_UNSIGNED_LONG_LONG wait;

    if (MHD_get_timeout(web->daemon, &wait) != MHD_YES)
        return -1;
    return wait < INT32_MAX ? (int)wait : INT32_MAX;
}

/* Before the library takes no one any more it takes who is there. A request
 * that is not complete is not waited for. */
static bool microhttpd_drain(void *context)
{
    microhttpd *web = context;
    struct pollfd more = { microhttpd_descriptor(web), POLLIN, 0 };

    MHD_run(web->daemon);
    if (web->listener < 0)
        web->listener = MHD_quiesce_daemon(web->daemon);
    MHD_run(web->daemon);
    return web->working == 0 && microhttpd_timeout(web) != 0
        && poll(&more, 1, 0) == 0;
}

static void microhttpd_close(void *context)
{
    microhttpd *web = context;

    MHD_stop_daemon(web->daemon);
    if (web->listener >= 0)
        close(web->listener);
    free(web);
}

__attribute__((visibility("default")))
extern const web_module bloomery_http_1;

const web_module bloomery_http_1 = {
    .open = microhttpd_open,
    .descriptor = microhttpd_descriptor,
    .run = microhttpd_run,
    .timeout = microhttpd_timeout,
    .drain = microhttpd_drain,
    .close = microhttpd_close,
};
