/* client.c - a client at a socket.
 *
 * Whatever a client does costs others nothing but its turn: at most SERVE_READ
 * bytes are read of it at a time; a request has at most SERVE_LONGEST; and
 * where it does not read its answers nothing more is read of it, so that what
 * waits for it has a bound. Who keeps us waiting for a minute, with a request
 * that does not end or answers that he does not read, is let go. The head of a
 * request of HTTP has 5 seconds, from its first byte. A client without anything
 * to say may stay as long as it likes, or a minute if it speaks HTTP, whose
 * clients expect that. Where there is no place for a new client, loop.c lets
 * one go that owes us something.
 *
 * To close a socket in which there is something unread throws away, of TCP,
 * what was written and has not arrived. So who is told that he sent garbage is
 * first told that nothing more comes, and what he still sends is read, for two
 * seconds at most.
 */
#include "bloomery/serve/serve.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CLIENT_PATIENCE = 60, CLIENT_HEAD = 5, CLIENT_FAREWELL = 2 }; /* s */

/* Is more of it wanted? */
static bool client_reads(const serve_client *c)
{
    const serve_talk *t = &c->talk;

    return c->leaving
        || (t->idle && !t->ended && !t->broken && (!c->draining || c->left > 0)
            && bytes_waiting(&t->out) < SERVE_UNSENT);
}

/* False: it is gone. */
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

/* False: it is gone. */
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

/* Throw away what it still sends. False: there is nothing more. */
static bool client_leave(serve_client *c)
{
    char nothing[4096];
    ssize_t n = read(c->source.fd, nothing, sizeof nothing);

    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* All is said. False: and nothing is left that would be lost. */
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
