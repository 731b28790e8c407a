/* coprocess.c - the single client on standard input and output.
 *
 * A program that runs the server as a coprocess waits for an answer before it
 * sends the next request, so all answers are written before the server waits
 * for more input. Reads and writes may block, because nobody else is served.
 * The flags of the descriptors, which other processes may share, are not
 * changed.
 */
#include "bloomery/serve/serve.h"
#include "frame/output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Waits for input. Returns false if woken before any arrived. */
static bool coprocess_poll(const serve_coprocess *c)
{
    struct pollfd both[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
                              { .fd = c->wake, .events = POLLIN } };

    while (poll(both, 2, -1) < 0 && errno == EINTR)
        continue;
    if (both[1].revents == 0)
        return true;
    loop_hear(c->wake);
    return false;
}

/* Returns how many bytes to read: SIZE_MAX, or at shutdown those that have
 * arrived. Filters may be replaced while this waits, so the caller must not
 * keep the old ones. */
static size_t coprocess_wait(const serve_coprocess *c)
{
    int arrived = 0;

    while (!coprocess_poll(c) && !atomic_load(c->stop))
        asking_renew(c->asker);
    if (!atomic_load(c->stop))
        return SIZE_MAX;
    return ioctl(STDIN_FILENO, FIONREAD, &arrived) < 0 ? 0 : (size_t)arrived;
}

/* Reads input. Returns false at its end. */
static bool coprocess_read(serve_coprocess *c, serve_talk *t, size_t most)
{
    ssize_t n = -1;

    if (most > SERVE_READ)
        most = SERVE_READ;
    if (!bytes_room(&t->in, SERVE_READ)) {
        report_no_memory();
        c->failed = true;
        return false;
    }
    do
        n = read(STDIN_FILENO, t->in.data + t->in.to, most);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        report_unread("read", "standard input", errno);
        c->failed = true;
        return false;
    }
    t->in.to += (size_t)n;
    t->ended = n == 0;
    return true;
}

/* Answers all complete requests and writes the answers. */
static bool coprocess_answer(serve_coprocess *c, serve_talk *t)
{
    do {
        if (!talk_answer(t, c->asker, &c->counts)) {
            report_no_memory();
            c->failed = true;
            return false;
        }
        if (!output_bytes(t->out.data, bytes_waiting(&t->out))
            || !output_flush())
            return false;
        bytes_done(&t->out, bytes_waiting(&t->out));
    } while (!t->idle);
    if (t->broken) {
        report_error("standard input: %s", "the input is not a request of this "
                     "protocol, so the next one cannot be found: see "
                     "--protocol");
        c->failed = true;
    }
    return !t->ended && !t->broken;
}

void *coprocess_run(void *coprocess)
{
    serve_coprocess *c = coprocess;
    serve_talk talk = { .idle = true };
    size_t left = SIZE_MAX, before;

    do {
        if (left == SIZE_MAX)
            left = coprocess_wait(c);
        before = bytes_waiting(&talk.in);
        asking_renew(c->asker);
        if (left == 0 || !coprocess_read(c, &talk, left))
            break;
        if (left != SIZE_MAX)
            left -= bytes_waiting(&talk.in) - before;
    } while (coprocess_answer(c, &talk));
    talk_free(&talk);
    atomic_store(c->stop, true);
    loop_wake(c->done);
    return NULL;
}

int coprocess_open(serve_coprocess *c)
{
    c->wake = eventfd(0, EFD_CLOEXEC);
    c->done = eventfd(0, EFD_CLOEXEC);
    if (c->wake < 0 || c->done < 0)
        return report_error("cannot wait for input: %s: allow more open files "
                            "(ulimit -n)", strerror(errno));
    c->asker = asking_new(c->how);
    return c->asker != NULL ? CLI_GO : CLI_ERROR;
}

void coprocess_close(serve_coprocess *c)
{
    asking_free(c->asker);
    if (c->wake >= 0)
        close(c->wake);
    if (c->done >= 0)
        close(c->done);
}
