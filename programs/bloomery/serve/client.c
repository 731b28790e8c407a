/* client.c - one client on a socket.
 *
 * A slow or hostile client cannot hold up the others. At most SERVE_READ bytes
 * are read from it at a time, a request has at most SERVE_LONGEST bytes, and
 * nothing more is read while its answers are unread, so its queues are bounded.
 *
 * A client is disconnected if a request stays incomplete, or answers stay
 * unread, for a minute. An HTTP head must be complete within 5 seconds of its
 * first byte. Idle clients may stay connected, except that HTTP clients, which
 * expect it, are disconnected after a minute. If there is no room for a new
 * client, loop.c evicts one.
 *
 * Closing a TCP socket that holds unread input discards output that has not
 * arrived yet. After an error the server therefore shuts down its sending side
 * first, and then reads and discards input for two seconds at most.
 */
#include "bloomery/serve/serve.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CLIENT_PATIENCE = 60, CLIENT_HEAD = 5, CLIENT_FAREWELL = 2 }; /* s    */

/* Returns whether more input is wanted from the client. */
static bool client_reads(const serve_client *c)
{
    const serve_talk *t = &c->talk;

    return c->leaving
        || (t->idle && !t->ended && !t->broken && (!c->draining || c->left > 0)
            && bytes_waiting(&t->out) < SERVE_UNSENT);
}

/* Handles the result of a read. Returns false if the client is gone. */
static bool client_heard(serve_client *c, ssize_t n)
{
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->talk.in.to += (size_t)n;
    c->talk.ended = n == 0;
    c->left -= c->draining ? (size_t)n : 0;
    return true;
}

static bool client_read(serve_client *c, double now)
{
    serve_talk *t = &c->talk;
    size_t most = c->draining && c->left < SERVE_READ ? c->left : SERVE_READ;

    if (bytes_waiting(&t->in) == 0)
        c->since = now;
    return bytes_room(&t->in, most)
        && client_heard(c, read(c->source.fd, t->in.data + t->in.to, most));
}

/* Writes pending output. Returns false if the client is gone. */
static bool client_write(serve_client *c, double now)
{
    cli_bytes *out = &c->talk.out;

    while (bytes_waiting(out) > 0) {
        ssize_t n = send(c->source.fd, out->data + out->from,
                         bytes_waiting(out), MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        bytes_done(out, (size_t)n);
        c->since = now;
    }
    return true;
}

/* Reads and discards input. Returns false at the end of it. */
static bool client_leave(serve_client *c)
{
    char nothing[4096];
    ssize_t n = read(c->source.fd, nothing, sizeof nothing);

    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Handles the end of a conversation. Returns false once nothing can be lost. */
static bool client_end(serve_client *c, double now)
{
    int unread = 0;

    if (c->talk.ended
        || (!c->talk.broken && (ioctl(c->source.fd, FIONREAD, &unread) < 0
                                || unread == 0)))
        return false;
    c->leaving = true;
    c->since = now;
    return shutdown(c->source.fd, SHUT_WR) == 0;
}

bool client_step(serve_client *c, serve_asker *asker, serve_counts *counts,
                 bool ready, double now)
{
    serve_talk *t = &c->talk;

    if (c->leaving)
        return !ready || client_leave(c);
    if (ready && client_reads(c) && !client_read(c, now))
        return false;
    do {
        if (!(c->web != NULL ? web_talk(c->web, t)
                             : talk_answer(t, asker, counts))
            || !client_write(c, now))
            return false;
    } while (!t->idle && bytes_waiting(&t->out) == 0);
    if (bytes_waiting(&t->out) > 0 || !t->idle
        || !(t->ended || t->broken || (c->draining && c->left == 0)))
        return true;
    return client_end(c, now);
}

uint32_t client_events(const serve_client *c)
{
    return (client_reads(c) ? EPOLLIN : 0u)
         | (bytes_waiting(&c->talk.out) > 0 ? EPOLLOUT : 0u);
}

void client_drain(serve_client *c)
{
    int arrived = 0;

    if (ioctl(c->source.fd, FIONREAD, &arrived) < 0)
        arrived = 0;
    c->draining = true;
    c->left = (size_t)arrived;
}

bool client_owes(const serve_client *c)
{
    return bytes_waiting(&c->talk.in) + bytes_waiting(&c->talk.out) > 0;
}

bool client_stalls(const serve_client *c, double now)
{
    double waited = now - c->since;
    bool head = c->web != NULL && c->talk.http.head == 0
             && bytes_waiting(&c->talk.in) > 0
             && bytes_waiting(&c->talk.out) == 0;

    return waited > (c->leaving ? CLIENT_FAREWELL
                     : head ? CLIENT_HEAD : CLIENT_PATIENCE)
        && (c->leaving || c->web != NULL || client_owes(c));
}
