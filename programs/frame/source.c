/* source.c - a compressed file as a pipe of its contents.
 *
 *      file --> | thread: read, decompress, write | --> pipe --> lines.c
 *
 * A separate thread decompresses, so that it takes no time from the work on the
 * lines except a processor of its own. The lines are read from the pipe like
 * any file, and a reader that stops early only closes it. The thread notices
 * that at its next write or, while it waits for slow input, through poll. It
 * ends after an error or after the last member. Only zeros may follow that
 * member, as on tapes.
 */
#include "frame/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_BLOCK = 1 << 17, SOURCE_PIPE = 1 << 20, SOURCE_MAGIC = 16 };

struct cli_source {
    const codec *codec;
    pthread_t    thread;
    int          from, to;      /* the file, and the end to write to       */
    int          error;         /* why it ended; for source_close          */
    bool         ended;         /* the file has been read to its end       */
    bool         left;          /* nobody reads any more                   */
    atomic_size_t taken;        /* bytes of the file, so far               */
    codec_flow   flow;
    unsigned char *in, *out;    /* blocks of SOURCE_BLOCK                  */
};

/* ==== Errors ============================================================ */

int source_error(source_fault fault, const codec *c)
{
    int number = c != NULL ? codec_number(c) : 0;

    return -((int)SOURCE_FAULTS * number + (int)fault);
}

source_fault source_fault_of(int error, const codec **c)
{
    *c = codec_at(-error / (int)SOURCE_FAULTS);
    return (source_fault)(-error % (int)SOURCE_FAULTS);
}

/* ==== The thread ======================================================== */

/* Waits for input. Returns false if the output is no longer read. */
static bool source_wait(cli_source *s)
{
    struct pollfd at[2] = { { s->from, POLLIN, 0 }, { s->to, 0, 0 } };

    while (poll(at, 2, -1) < 0 && errno == EINTR)
        continue;
    s->left = (at[1].revents & (POLLERR | POLLNVAL)) != 0;
    return !s->left;
}

/* Reads more input after the unused bytes, which move to the front. */
static bool source_fill(cli_source *s)
{
    codec_flow *f = &s->flow;
    ssize_t got;

    if (f->in_left > 0)
        memmove(s->in, f->in, f->in_left);
    f->in = s->in;
    if (!source_wait(s))
        return false;
    do
        got = read(s->from, s->in + f->in_left, SOURCE_BLOCK - f->in_left);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        s->error = errno;
        return false;
    }
    s->ended = got == 0;
    s->taken += (size_t)got;
    f->in_left += (size_t)got;
    return true;
}

static bool source_write(cli_source *s)
{
    const unsigned char *from = s->out, *end = s->flow.out;

    while (from < end) {
        ssize_t put = write(s->to, from, (size_t)(end - from));

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            s->left = errno == EPIPE;
            s->error = s->left ? 0 : errno;
            return false;
        }
        from += put;
    }
    s->flow.out = s->out;
    s->flow.out_left = SOURCE_BLOCK;
    return true;
}

/* Returns whether another member follows. False: the end, good or bad. */
static bool source_goes_on(cli_source *s)
{
    codec_flow *f = &s->flow;

    for (;;) {
        for (; f->in_left > 0 && *f->in == 0; f->in_left--)
            f->in++;
        if (f->in_left >= SOURCE_MAGIC || s->ended)
            break;
        if (!source_fill(s))
            return false;
    }
    if (f->in_left == 0)
        return false;
    if (!codec_follows(s->codec, f->in, f->in_left)) {
        s->error = source_error(SOURCE_BEHIND, s->codec);
        return false;
    }
    return true;
}

/* Makes one step. Returns false at the end, good or bad. */
static bool source_step(cli_source *s, void *state)
{
    codec_flow *f = &s->flow;
    size_t in = f->in_left;
    codec_step step = s->codec->step(state, f);
    bool moved = f->in_left < in || f->out > s->out, full = f->out_left == 0;

    if (step == CODEC_BAD)
        s->error = source_error(SOURCE_DAMAGED, s->codec);
    else if (step == CODEC_NO_MEMORY)
        s->error = source_error(SOURCE_MEMORY, s->codec);
    if (!source_write(s) || s->error != 0)
        return false;
    if (step == CODEC_END)
        return source_goes_on(s);
    if (moved)                          /* a full block: there may be more */
        return f->in_left > 0 || full || s->ended || source_fill(s);
    if (f->in_left > 0 || s->ended) {
        s->error = source_error(s->ended ? SOURCE_CUT : SOURCE_DAMAGED,
                                s->codec);
        return false;
    }
    return source_fill(s);
}

static void *source_loop(void *argument)
{
    cli_source *s = argument;
    void *state = s->codec->open();

    if (state == NULL)
        s->error = source_error(SOURCE_MEMORY, s->codec);
    while (state != NULL && source_step(s, state))
        continue;
    if (state != NULL)
        s->codec->close(state);
    close(s->to);
    return NULL;
}

/* ==== Open and close ==================================================== */

static void source_free(cli_source *s)
{
    if (s->from > STDIN_FILENO)
        close(s->from);
    free(s->in);
    free(s->out);
    free(s);
}

/* Blocks signals in this thread, so that threads that can act on them get them.
 * A closed pipe is then an error of write. */
static int source_start(cli_source *s)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&s->thread, NULL, source_loop, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int source_pipe(cli_source *s, int *fd)
{
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
#ifdef F_SETPIPE_SZ
    (void)fcntl(ends[0], F_SETPIPE_SZ, SOURCE_PIPE);        /* a wish */
#endif
    s->from = *fd;
    s->to = ends[1];
    error = source_start(s);
    if (error == 0) {
        *fd = ends[0];
        return 0;
    }
    s->from = -1;
    close(ends[0]);
    close(ends[1]);
    return error;
}

int source_open(cli_source **out, const codec *c, int *fd, const void *head,
                size_t n)
{
    cli_source *s;
    int error = ENOMEM;

    if (c->open == NULL)
        return source_error(SOURCE_UNREAD, c);
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return ENOMEM;
    s->codec = c;
    s->from = -1;
    s->in = malloc(SOURCE_BLOCK + n);
    s->out = malloc(SOURCE_BLOCK);
    if (s->in != NULL && s->out != NULL) {
        memcpy(s->in, head, n);
        s->taken = n;
        s->flow = (codec_flow){ s->in, n, s->out, SOURCE_BLOCK };
        error = source_pipe(s, fd);
    }
    if (error == 0)
        *out = s;
    else
        source_free(s);
    return error;
}

size_t source_taken(const cli_source *s)
{
    return s->taken;
}

int source_close(cli_source *s)
{
    int error;

    pthread_join(s->thread, NULL);
    error = s->error;
    source_free(s);
    return error;
}
