/* loop.c - the clients of a thread: one epoll loop.
 *
 * Threads share nothing but the filters and where they listen. At a Unix socket
 * all wait for the same clients, of whom each wakes one thread; at a port each
 * has a queue of its own. HTTP's library has an epoll of its own, which is one
 * more descriptor here: it is readable when there is something to do. So a
 * thread waits in one place, and need not know the library's connections.
 * (Had that a thread of its own, filters would change under it at other times,
 * and the end would have to be told to two.) Floor 8; includes serve.h only.
 */
#include "serve/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LOOP_EVENTS = 64,           /* that are taken at once                   */
    LOOP_ACCEPTS = 64,          /* new clients, too                         */
    LOOP_PAUSE = 50,            /* ms until new clients are looked for, where
                                   there was no place for one               */
    LOOP_SWEEP = 1000,          /* ms until those who stall are looked for  */
    LOOP_END = 5                /* seconds to answer in, at the end         */
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

/* One client wakes one thread. */
static bool loop_listen(serve_loop *l, bool now)
{
    bool fine = true;

    for (size_t i = 0; i < LOOP_LISTENERS; i++) {
        loop_source *source = &l->listeners[i];

        if (source->fd < 0)
            continue;
        if (now)
            fine = loop_add(l, source, EPOLLIN | EPOLLEXCLUSIVE) && fine;
        else
            loop_remove(l, source);
    }
    return fine;
}

/* ==== Clients =========================================================== */

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
    free(c);
    atomic_fetch_sub(&l->common->clients, 1);
    atomic_fetch_sub_explicit(&l->talks.clients, 1, memory_order_relaxed);
}

/* Go on with a client, and wait for what it needs now. */
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

static bool loop_take(serve_loop *l, int fd)
{
    serve_client *c = calloc(1, sizeof *c);

    if (c == NULL) {
        close(fd);
        return false;
    }
    c->source = (loop_source){ LOOP_CLIENT, fd };
    c->talk.idle = true;
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
    atomic_fetch_add(&l->common->clients, 1);
    counts_add(&l->talks.clients, 1);
    return true;
}

/* May there be a note again? */
static bool loop_tells(const serve_loop *l)
{
    int_fast64_t now = (int_fast64_t)l->now;
    int_fast64_t told = atomic_load(&l->common->told);

    return now - told >= LOOP_TELL
        && atomic_compare_exchange_strong(&l->common->told, &told, now);
}

/* There is no place for a new client: the queue of the system keeps them for a
 * while. */
static void loop_pause(serve_loop *l, const char *why)
{
    if (l->paused == 0)
        loop_listen(l, false);
    l->paused = l->now;
    if (loop_tells(l))
        report_note("new clients wait: %s", why);
}

/* Look for new clients again, or else later. */
static void loop_resume(serve_loop *l)
{
    l->paused = 0;
    if (!loop_listen(l, true)) {
        loop_listen(l, false);
        l->paused = l->now;
    }
}

static bool loop_full(const serve_loop *l)
{
    return atomic_load(&l->common->clients) >= l->how->clients;
}

/* True: there may be more of them. */
static bool loop_accept(serve_loop *l, const loop_source *listener)
{
    for (int i = 0; i < LOOP_ACCEPTS; i++) {
        int fd;

        if (loop_full(l)) {
            loop_pause(l, "there are as many as --clients allows");
            return false;
        }
        fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS
                       || errno == ENOMEM)) {
            loop_pause(l, strerror(errno));
            return false;
        }
        if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
            return false;
        if (fd >= 0 && !loop_take(l, fd)) {
            loop_pause(l, "out of memory");
            return false;
        }
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

/* Take who is in the queue already, listen no more, and answer what has come.
 * Then nothing more is read. */
static void loop_drain(serve_loop *l)
{
    serve_client *next;

    l->draining = true;
    l->deadline = l->now + LOOP_END;
    for (size_t i = 0; i < LOOP_LISTENERS; i++) {
        if (l->listeners[i].fd < 0)
            continue;
        while (loop_accept(l, &l->listeners[i]))
            continue;
        if (l->paused == 0)
            loop_remove(l, &l->listeners[i]);
        close(l->listeners[i].fd);
        l->listeners[i].fd = -1;
    }
    l->paused = 0;
    for (serve_client *c = l->clients; c != NULL; c = next) {
        next = c->next;
        client_drain(c);
        loop_step(l, c, c->left > 0);
    }
}

/* Is all said that is to be said? */
static bool loop_done(serve_loop *l)
{
    if (!l->draining)
        return false;
    return l->now >= l->deadline
        || ((l->web == NULL || web_drain(l->web)) && l->clients == NULL);
}

/* ==== Running =========================================================== */

static int loop_timeout(const serve_loop *l)
{
    int web = l->web != NULL ? web_timeout(l->web) : -1;
    int own = l->draining || l->paused > 0 ? LOOP_PAUSE
            : l->clients != NULL ? LOOP_SWEEP : -1;

    return own < 0 || (web >= 0 && web < own) ? web : own;
}

static void loop_event(serve_loop *l, const struct epoll_event *event)
{
    loop_source *source = event->data.ptr;

    switch (source->kind) {
    case LOOP_WAKE:
        loop_hear(l->wake);
        break;
    case LOOP_LISTENER:
        if (l->paused == 0 && source->fd >= 0)
            loop_accept(l, source);
        break;
    case LOOP_WEB:
        web_run(l->web);
        break;
    case LOOP_CLIENT:
        loop_step(l, (serve_client *)source,
                  (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0);
        break;
    }
}

/* What is to be done whatever has happened. */
static void loop_between(serve_loop *l)
{
    if (l->paused > 0 && (l->now - l->paused) * 1000 >= LOOP_PAUSE)
        loop_resume(l);
    if ((l->now - l->swept) * 1000 >= LOOP_SWEEP)
        loop_sweep(l);
    if (l->web != NULL && web_timeout(l->web) == 0)
        web_run(l->web);
    if (!l->draining && atomic_load(&l->common->stop))
        loop_drain(l);
}

/* Without this thread some clients would wait for ever: so all end. */
static void loop_fail(serve_loop *l)
{
    l->failed = true;
    report_error("a thread cannot wait for clients any more: %s: start the "
                 "server again", strerror(errno));
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
        for (int i = 0; i < n; i++)
            loop_event(l, &events[i]);
        loop_between(l);
    }
    return NULL;
}

/* ==== From the beginning to the end ===================================== */

static int loop_failed(void)
{
    return report_error("cannot wait for clients: %s: let more files be open "
                        "(ulimit -n)", strerror(errno));
}

static int loop_open_web(serve_loop *l, int web, const serve_counted *counted,
                         size_t n)
{
    uint64_t clients = l->how->clients / l->how->threads;

    l->web = web_open(web, l->asker, &l->webs, counted, n,
                      clients > 0 ? clients : 1);
    if (l->web == NULL)
        return CLI_ERROR;
    l->webber = (loop_source){ LOOP_WEB, web_descriptor(l->web) };
    return loop_add(l, &l->webber, EPOLLIN) ? CLI_GO : loop_failed();
}

static int loop_prepare(serve_loop *l, const int sockets[LOOP_LISTENERS])
{
    for (size_t i = 0; i < LOOP_LISTENERS; i++)
        l->listeners[i] = (loop_source){ LOOP_LISTENER, sockets[i] };
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->waker = (loop_source){ LOOP_WAKE, l->wake };
    l->now = l->swept = report_clock();
    if (l->epoll < 0 || l->wake < 0 || !loop_add(l, &l->waker, EPOLLIN)
        || !loop_listen(l, true))
        return loop_failed();
    l->asker = asking_new(l->how);
    return l->asker != NULL ? CLI_GO : CLI_ERROR;
}

int loop_open(serve_loop *l, const int sockets[LOOP_LISTENERS], int web,
              const serve_counted *counted, size_t n)
{
    int status = loop_prepare(l, sockets);

    if (web < 0)
        return status;
    if (status == CLI_GO)
        return loop_open_web(l, web, counted, n);
    close(web);
    return status;
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
        if (l->listeners[i].fd >= 0)
            close(l->listeners[i].fd);
    if (l->web != NULL)
        web_close(l->web);
    asking_free(l->asker);
    if (l->epoll >= 0)
        close(l->epoll);
    if (l->wake >= 0)
        close(l->wake);
}
