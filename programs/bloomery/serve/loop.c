/* loop.c - the clients of one thread, in an epoll loop.
 *
 * Threads share only the filters and the listening addresses. All threads wait
 * on the same Unix socket, and each new client wakes one of them; at a port
 * each thread has a queue of its own.
 *
 * All clients on the loopback interface have the same address, so a limit per
 * address would keep out honest clients as well. Instead, a new client replaces
 * the one that has stalled for longest, with an incomplete request or unread
 * answers. If none has, an idle HTTP client is replaced, since those clients
 * expect it. Holding connections open therefore cannot keep others out.
 */
#include "bloomery/serve/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LOOP_EVENTS = 64,           /* events handled per wait                  */
    LOOP_ACCEPTS = 64,          /* new clients accepted per event           */
    LOOP_PAUSE = 50,            /* ms until the loop tries to accept again after
                                   it had no room                           */
    LOOP_SWEEP = 1000,          /* ms between checks for stalled clients    */
    LOOP_END = 5                /* seconds to finish answers at shutdown    */
};

/* ==== Sources =========================================================== */

static bool loop_add(const serve_loop *l, loop_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

static void loop_remove(const serve_loop *l, const loop_source *source)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, source->fd, NULL);
}

/* Makes a listener accept clients, or pauses it. A new client wakes only one
 * thread. */
static void loop_listen(serve_loop *l, loop_listener *from, bool now)
{
    if (now && loop_add(l, &from->source, EPOLLIN | EPOLLEXCLUSIVE)) {
        from->paused = 0;
        return;
    }
    if (!now && from->paused == 0)
        loop_remove(l, &from->source);
    from->paused = l->now;
}

/* ==== Clients =========================================================== */

/* Adds `change` to the number of clients. */
static void loop_count(serve_loop *l, bool web, int change)
{
    uint64_t n = (uint64_t)(int64_t)change;

    counts_add(web ? &l->webs.clients : &l->talks.clients, n);
    if (web)
        l->visitors += n;
    else
        atomic_fetch_add(&l->common->clients, n);
}

static void loop_let_go(serve_loop *l, serve_client *c)
{
    if (c->before != NULL)
        c->before->next = c->next;
    else
        l->clients = c->next;
    if (c->next != NULL)
        c->next->before = c->before;
    close(c->source.fd);
    talk_free(&c->talk);
    loop_count(l, c->web != NULL, -1);
    free(c);
}

/* Advances a client, and registers the events it waits for next. */
static void loop_step(serve_loop *l, serve_client *c, bool ready)
{
    struct epoll_event event = { .data.ptr = c };

    if (!client_step(c, l->asker, &l->talks, ready, l->now)) {
        loop_let_go(l, c);
        return;
    }
    event.events = client_events(c);
    if (event.events == c->events)
        return;
    c->events = event.events;
    if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->source.fd, &event) < 0)
        loop_let_go(l, c);
}

static bool loop_take(serve_loop *l, int fd, bool web)
{
    serve_client *c = calloc(1, sizeof *c);

    if (c == NULL) {
        close(fd);
        return false;
    }
    c->source = (loop_source){ LOOP_CLIENT, fd };
    c->talk.idle = true;
    c->web = web ? l->web : NULL;
    c->since = l->now;
    c->events = EPOLLIN;
    if (!loop_add(l, &c->source, EPOLLIN)) {
        close(fd);
        free(c);
        return false;
    }
    c->next = l->clients;
    if (c->next != NULL)
        c->next->before = c;
    l->clients = c;
    loop_count(l, web, 1);
    return true;
}

/* Returns whether enough time has passed to print another note. */
static bool loop_tells(const serve_loop *l)
{
    int_fast64_t now = (int_fast64_t)l->now;
    int_fast64_t told = atomic_load(&l->common->told);

    return now - told >= LOOP_TELL
        && atomic_compare_exchange_strong(&l->common->told, &told, now);
}

/* Pauses a listener because there is no room; the kernel queues new clients. */
static void loop_pause(serve_loop *l, loop_listener *from, const char *why)
{
    loop_listen(l, from, false);
    if (loop_tells(l))
        report_note("new clients wait: %s", why);
}

/* Returns whether this thread has its share of the HTTP clients. */
static bool loop_full(const serve_loop *l, bool web)
{
    uint64_t share = l->how->clients / l->how->threads;

    return web ? l->visitors >= (share > 0 ? share : 1)
               : atomic_load(&l->common->clients) >= l->how->clients;
}

static bool loop_owes(const serve_client *c)
{
    return c->leaving || client_owes(c);
}

/* Seconds for which a client with unfinished work is preferred to idle ones, so
 * that a flood of idle connections does not end requests in progress. */
static const double LOOP_GRACE = 1;

/* Ranks a client for eviction: higher goes first, 0 may stay. */
static int loop_badness(const serve_client *c, bool web, double now)
{
    if ((c->web != NULL) != web)
        return 0;
    if (!loop_owes(c))
        return web ? 2 : 0;
    return now - c->since > LOOP_GRACE ? 3 : 1;
}

/* Returns the client to evict first, or NULL if none may be evicted. */
static serve_client *loop_worst(const serve_loop *l, bool web)
{
    serve_client *worst = NULL;
    int most = 0;

    for (serve_client *c = l->clients; c != NULL; c = c->next) {
        int bad = loop_badness(c, web, l->now);

        if (bad > most || (bad > 0 && bad == most && c->since <= worst->since))
            worst = c;
        most = bad > most ? bad : most;
    }
    return worst;
}

/* Accepts a client. Returns false if none can be accepted now; if one is
 * waiting, *why holds the reason. */
static bool loop_take_next(serve_loop *l, loop_listener *from, const char **why)
{
    bool web = from == &l->listeners[LOOP_WEB], full = loop_full(l, web);
    serve_client *worst = full ? loop_worst(l, web) : NULL;
    int fd;

    *why = "the number of clients has reached --clients";
    if (full && worst == NULL)
        return false;
    fd = accept4(from->source.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    *why = errno == EMFILE || errno == ENFILE || errno == ENOBUFS
        || errno == ENOMEM ? strerror(errno) : NULL;
    if (fd < 0)
        return errno == ECONNABORTED || errno == EINTR;
    if (worst != NULL)
        loop_let_go(l, worst);
    *why = "out of memory";
    return loop_take(l, fd, web);
}

/* Accepts a client. Returns true if more may be waiting. */
static bool loop_accept(serve_loop *l, loop_listener *from)
{
    const char *why = NULL;

    for (int i = 0; i < LOOP_ACCEPTS; i++) {
        if (loop_take_next(l, from, &why))
            continue;
        if (why != NULL)
            loop_pause(l, from, why);
        return false;
    }
    return true;
}

static void loop_sweep(serve_loop *l)
{
    serve_client *next;

    l->swept = l->now;
    for (serve_client *c = l->clients; c != NULL; c = next) {
        next = c->next;
        if (client_stalls(c, l->now))
            loop_let_go(l, c);
    }
}

/* ==== The end =========================================================== */

/* Returns whether the time to finish answers is over. It is asked for before
 * each client, since each may have an answer that takes long. */
static bool loop_late(serve_loop *l)
{
    if (l->draining)
        l->now = report_clock();
    return l->draining && l->now >= l->deadline;
}

/* Accepts the clients already queued, stops listening, and answers the requests
 * already received. Nothing is read after that. */
static void loop_drain(serve_loop *l)
{
    serve_client *next;

    l->draining = true;
    l->deadline = l->now + LOOP_END;
    for (size_t i = 0; i < LOOP_LISTENERS; i++) {
        loop_listener *from = &l->listeners[i];

        if (from->source.fd < 0)
            continue;
        while (loop_accept(l, from))
            continue;
        if (from->paused == 0)
            loop_remove(l, &from->source);
        close(from->source.fd);
        *from = (loop_listener){ { LOOP_LISTENER, -1 }, 0 };
    }
    for (serve_client *c = l->clients; c != NULL && !loop_late(l); c = next) {
        next = c->next;
        client_drain(c);
        loop_step(l, c, c->left > 0);
    }
}

/* Returns whether all answers have been sent. */
static bool loop_done(serve_loop *l)
{
    if (!l->draining)
        return false;
    return l->now >= l->deadline || l->clients == NULL;
}

/* ==== Running =========================================================== */

static bool loop_paused(const serve_loop *l)
{
    bool any = false;

    for (size_t i = 0; i < LOOP_LISTENERS; i++)
        any = any || l->listeners[i].paused > 0;
    return any;
}

static int loop_timeout(const serve_loop *l)
{
    return l->draining || loop_paused(l) ? LOOP_PAUSE
         : l->clients != NULL ? LOOP_SWEEP : -1;
}

/* Returns whether the other events of a round are left: the end begins, and
 * they occur again, or it is there. */
static bool loop_breaks(serve_loop *l)
{
    return l->draining ? loop_late(l) : atomic_load(&l->common->stop);
}

/* Handles events. New clients come last, because accepting one may evict a
 * client whose event is still in the list. A client is handled only once, since
 * it may be gone afterwards. */
static void loop_events(serve_loop *l, const struct epoll_event *events, int n)
{
    loop_listener *ready[LOOP_LISTENERS];
    size_t listeners = 0;

    for (int i = 0; i < n && !loop_breaks(l); i++) {
        loop_source *source = events[i].data.ptr;

        if (source->kind == LOOP_LISTENER)
            ready[listeners++] = (loop_listener *)source;
        else if (source->kind == LOOP_WAKE)
            loop_hear(l->wake);
        else
            loop_step(l, (serve_client *)source,
                      (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                      != 0);
    }
    for (size_t i = 0; i < listeners; i++)
        loop_accept(l, ready[i]);
}

/* Does the periodic work, whatever events have occurred. */
static void loop_between(serve_loop *l)
{
    for (size_t i = 0; i < LOOP_LISTENERS; i++)
        if (l->listeners[i].paused > 0
            && (l->now - l->listeners[i].paused) * 1000 >= LOOP_PAUSE)
            loop_listen(l, &l->listeners[i], true);
    if ((l->now - l->swept) * 1000 >= LOOP_SWEEP)
        loop_sweep(l);
    if (!l->draining && atomic_load(&l->common->stop))
        loop_drain(l);
}

/* Ends all threads: without this one some clients would wait for ever. */
static void loop_fail(serve_loop *l)
{
    l->failed = true;
    report_error("a thread can no longer wait for clients: %s: restart the "
                 "server", strerror(errno));
    atomic_store(&l->common->stop, true);
}

void *loop_run(void *loop)
{
    struct epoll_event events[LOOP_EVENTS];
    serve_loop *l = loop;

    while (!loop_done(l)) {
        int n = epoll_wait(l->epoll, events, LOOP_EVENTS, loop_timeout(l));

        if (n < 0 && errno != EINTR) {
            loop_fail(l);
            break;
        }
        l->now = report_clock();
        asking_renew(l->asker);
        loop_events(l, events, n);
        loop_between(l);
    }
    return NULL;
}

/* ==== From the beginning to the end ===================================== */

static int loop_failed(void)
{
    return report_error("cannot wait for clients: %s: allow more open files "
                        "(ulimit -n)", strerror(errno));
}

static bool loop_listen_all(serve_loop *l, const int sockets[LOOP_LISTENERS])
{
    bool fine = true;

    for (size_t i = 0; i < LOOP_LISTENERS; i++) {
        l->listeners[i].source = (loop_source){ LOOP_LISTENER, sockets[i] };
        fine = fine && (sockets[i] < 0
                        || loop_add(l, &l->listeners[i].source,
                                    EPOLLIN | EPOLLEXCLUSIVE));
    }
    return fine;
}

int loop_open(serve_loop *l, const int sockets[LOOP_LISTENERS],
              const serve_counted *counted, size_t n)
{
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->waker = (loop_source){ LOOP_WAKE, l->wake };
    l->now = l->swept = report_clock();
    if (!loop_listen_all(l, sockets) || !loop_add(l, &l->waker, EPOLLIN))
        return loop_failed();
    l->asker = asking_new(l->how);
    if (l->asker != NULL)
        l->web = web_open(l->asker, &l->webs, counted, n);
    return l->web != NULL ? CLI_GO : CLI_ERROR;
}

void loop_wake(int wake)
{
    const uint64_t once = 1;

    while (write(wake, &once, sizeof once) < 0 && errno == EINTR)
        continue;
}

void loop_hear(int wake)
{
    uint64_t times;

    while (read(wake, &times, sizeof times) < 0 && errno == EINTR)
        continue;
}

void loop_close(serve_loop *l)
{
    while (l->clients != NULL)
        loop_let_go(l, l->clients);
    for (size_t i = 0; i < LOOP_LISTENERS; i++)
        if (l->listeners[i].source.fd >= 0)
            close(l->listeners[i].source.fd);
    free(l->web);
    asking_free(l->asker);
    if (l->epoll >= 0)
        close(l->epoll);
    if (l->wake >= 0)
        close(l->wake);
}
