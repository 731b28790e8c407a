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
 *
 * If the members state their sizes, as those of bgzip and pzstd do, several
 * threads decompress. Each takes some whole members while it alone reads, and
 * writes what they contain when it is its turn:
 *
 *      file --> | read | decompress | wait, write | --> pipe
 *                      | decompress | wait, write |
 *
 * Before the first member without a size, the thread that has found it goes on
 * alone, as with other files. So it does behind a size that is wrong, where no
 * member begins: a frame that may be skipped can contain any number.
 */
#include "frame/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of input and output, of the pipe, and to know a member. For several
 * threads: bytes of members that one takes, of the longest that it takes, and
 * of output that waits for its turn; and the most threads. */
enum {
    SOURCE_BLOCK = 1 << 17, SOURCE_PIPE = 1 << 20, SOURCE_MAGIC = CODEC_MEMBER,
    SOURCE_SLICE = 1 << 19, SOURCE_MEMBER = 1 << 24, SOURCE_OUT = 1 << 21,
    SOURCE_THREADS = 4
};

struct cli_source {
    const codec *codec;
    pthread_t    thread;
    int          from, to;      /* the file, and the end to write to       */
    atomic_size_t taken;        /* bytes of the file, so far               */
    pthread_mutex_t reading;    /* guards these                            */
    unsigned char *in;          /* read, but not used                      */
    const unsigned char *at;
    size_t       left;
    bool         ended;         /* the file has been read to its end       */
    bool         sized;         /* members may state their sizes           */
    bool         last;          /* nothing more is to be taken             */
    uint64_t     slices;
    pthread_mutex_t writing;    /* guards these                            */
    pthread_cond_t turned;
    uint64_t     turn;          /* the slice to write next                 */
    bool         stopped;
    int          error;         /* why; for source_close                   */
};

/* A thread that decompresses. */
typedef struct {
    cli_source *source;
    pthread_t   thread;
    void       *state;          /* of the codec                            */
    uint64_t    number;         /* of its slice                            */
    unsigned char *slice;       /* whole members                           */
    size_t      bytes, room;
    unsigned char *out;         /* decompressed                            */
    size_t      used;
} source_part;

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

/* ==== Reading =========================================================== */

/* In this section, functions return 0, an errno or a negative number. EPIPE:
 * nobody reads any more. */

/* Waits for input. */
static int source_wait(cli_source *s)
{
    struct pollfd at[2] = { { s->from, POLLIN, 0 }, { s->to, 0, 0 } };

    while (poll(at, 2, -1) < 0 && errno == EINTR)
        continue;
    return (at[1].revents & (POLLERR | POLLNVAL)) != 0 ? EPIPE : 0;
}

/* Reads more input after the unused bytes, which move to the front. */
static int source_fill(cli_source *s)
{
    ssize_t got;

    if (s->left > 0)
        memmove(s->in, s->at, s->left);
    s->at = s->in;
    if (source_wait(s) != 0)
        return EPIPE;
    do
        got = read(s->from, s->in + s->left, SOURCE_BLOCK - s->left);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    s->ended = got == 0;
    s->taken += (size_t)got;
    s->left += (size_t)got;
    return 0;
}

/* Reads what it takes to know the next member. */
static int source_peek(cli_source *s)
{
    int error = 0;

    while (error == 0 && s->left < SOURCE_MAGIC && !s->ended)
        error = source_fill(s);
    return error;
}

/* Appends n bytes of input to a slice; fewer if the file ends. */
static int source_append(cli_source *s, source_part *p, size_t n)
{
    int error = 0;

    while (n > 0 && error == 0) {
        size_t some = n < s->left ? n : s->left;

        memcpy(p->slice + p->bytes, s->at, some);
        p->bytes += some;
        s->at += some;
        s->left -= some;
        n -= some;
        if (s->ended)
            break;
        if (n > 0)
            error = source_fill(s);
    }
    return error;
}

static bool source_room(source_part *p, size_t more)
{
    size_t room = p->bytes + more;
    unsigned char *grown;

    if (room <= p->room)
        return true;
    room = room > SOURCE_SLICE ? room : SOURCE_SLICE;
    grown = realloc(p->slice, room);
    if (grown == NULL)
        return false;
    p->slice = grown;
    p->room = room;
    return true;
}

/* Takes the next members that state their sizes. s->last: no other follows. */
static int source_take(cli_source *s, source_part *p)
{
    for (;;) {
        int error = source_peek(s);
        size_t n = error == 0 ? codec_member(s->at, s->left) : 0;

        s->last = n == 0 || n > SOURCE_MEMBER;
        if (s->last || (p->bytes > 0 && p->bytes + n > SOURCE_SLICE))
            return error;
        if (!source_room(p, n))
            return source_error(SOURCE_MEMORY, s->codec);
        error = source_append(s, p, n);
        if (error != 0)
            return error;
    }
}

/* ==== Writing =========================================================== */

/* Returns false if decompressing has stopped. */
static bool source_await(source_part *p)
{
    cli_source *s = p->source;
    bool mine;

    pthread_mutex_lock(&s->writing);
    while (s->turn != p->number && !s->stopped)
        pthread_cond_wait(&s->turned, &s->writing);
    mine = !s->stopped;
    pthread_mutex_unlock(&s->writing);
    return mine;
}

/* Writes what is decompressed, in its turn. Returns 0 or the error. */
static int source_write(source_part *p)
{
    const unsigned char *from = p->out, *end = p->out + p->used;

    if (!source_await(p))
        return EPIPE;
    while (from < end) {
        ssize_t put = write(p->source->to, from, (size_t)(end - from));

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        from += put;
    }
    p->used = 0;
    return 0;
}

/* Ends a turn. Returns false if decompressing stops, because of an error or
 * after the last slice. */
static bool source_turn(source_part *p, int error, bool last)
{
    cli_source *s = p->source;
    bool stopped;

    pthread_mutex_lock(&s->writing);
    if (!s->stopped && s->turn == p->number) {
        s->turn++;
        s->stopped = error != 0 || last;
        s->error = error != EPIPE ? error : 0;
    }
    stopped = s->stopped;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->writing);
    return !stopped;
}

/* ==== Decompressing ===================================================== */

/* Makes a step into at most `room` bytes of output. *moved is whether there is
 * any progress, and *end whether a member ended. Returns 0 or the error. */
static int source_step(source_part *p, size_t room, const unsigned char **in,
                       size_t *left, bool *moved, bool *end)
{
    const codec *c = p->source->codec;
    codec_flow f = { *in, *left, p->out + p->used, room - p->used };
    codec_step step = c->step(p->state, &f);

    *moved = f.in_left < *left || f.out > p->out + p->used;
    *end = step == CODEC_END;
    *in = f.in;
    *left = f.in_left;
    p->used = (size_t)(f.out - p->out);
    return step == CODEC_BAD ? source_error(SOURCE_DAMAGED, c)
         : step == CODEC_NO_MEMORY ? source_error(SOURCE_MEMORY, c) : 0;
}

/* Decompresses a slice. *end: of a member. Returns 0 or the error. */
static int source_slice(source_part *p, bool *end)
{
    const codec *c = p->source->codec;
    const unsigned char *in = p->slice;
    size_t left = p->bytes;
    bool moved = true;
    int error = 0;

    *end = true;
    while (error == 0 && (left > 0 || (!*end && moved))) {
        if (*end && !codec_follows(c, in, left))
            return source_error(SOURCE_BEHIND, c);
        error = source_step(p, SOURCE_OUT, &in, &left, &moved, end);
        if (error == 0 && !moved && !*end && left > 0)
            return source_error(SOURCE_DAMAGED, c);
        if (error == 0 && p->used == SOURCE_OUT)
            error = source_write(p);
    }
    return error;
}

/* Finds whether another member follows. *end: no. Returns 0 or the error. */
static int source_goes_on(cli_source *s, bool *end)
{
    int error = 0;

    for (;;) {
        for (; s->left > 0 && *s->at == 0; s->left--)
            s->at++;
        if (error != 0 || s->left >= SOURCE_MAGIC || s->ended)
            break;
        error = source_fill(s);
    }
    *end = error != 0 || s->left == 0;
    return *end || codec_follows(s->codec, s->at, s->left)
         ? error : source_error(SOURCE_BEHIND, s->codec);
}

/* Makes a step of a file that is read as it is needed. *over: the last one.
 * Returns 0 or the error. */
static int source_go(source_part *p, bool *over)
{
    cli_source *s = p->source;
    bool moved, end;
    int error = source_step(p, SOURCE_BLOCK, &s->at, &s->left, &moved, &end);
    bool full = p->used == SOURCE_BLOCK;
    int wrote = source_write(p);

    if (error != 0 || wrote != 0)
        return error != 0 ? error : wrote;
    if (end)
        return source_goes_on(s, over);
    if (!moved && (s->left > 0 || s->ended))
        return source_error(s->ended ? SOURCE_CUT : SOURCE_DAMAGED, s->codec);
    return s->left > 0 || full || s->ended ? 0 : source_fill(s);
}

/* Decompresses all that is left behind the slice. `end`: it ended with a
 * member. Returns 0 or the error. */
static int source_rest(source_part *p, bool end)
{
    bool over = false, first = p->number == 0 && p->bytes == 0;
    int error = source_write(p);

    if (error == 0 && end && !first)
        error = source_goes_on(p->source, &over);
    while (error == 0 && !over)
        error = source_go(p, &over);
    return error;
}

/* Takes slice after slice, and writes each in its turn. */
static void source_work(source_part *p)
{
    cli_source *s = p->source;
    bool last, end;
    int error, wrote;

    do {
        pthread_mutex_lock(&s->reading);
        p->number = s->slices++;
        p->bytes = 0;
        error = s->last ? EPIPE : 0;
        if (error == 0 && s->sized)
            error = source_take(s, p);
        last = s->last || error != 0 || !s->sized;
        s->last = last;
        pthread_mutex_unlock(&s->reading);
        wrote = source_slice(p, &end);
        if (error == 0 && wrote == 0 && last)
            wrote = source_rest(p, end);
        else if (wrote == 0 && !end)
            wrote = source_error(SOURCE_DAMAGED, s->codec);
        error = error != 0 ? error : wrote;
        wrote = source_write(p);
        error = error != 0 ? error : wrote;
    } while (source_turn(p, error, last));
}
/* ==== Threads =========================================================== */

static void source_part_close(source_part *p)
{
    if (p->state != NULL)
        p->source->codec->close(p->state);
    free(p->slice);
    free(p->out);
}

/* Returns false if memory is short. */
static bool source_part_open(source_part *p, cli_source *s)
{
    *p = (source_part){ .source = s };
    p->state = s->codec->open();
    p->out = malloc(s->sized ? SOURCE_OUT : SOURCE_BLOCK);
    if (p->state != NULL && p->out != NULL)
        return true;
    source_part_close(p);
    return false;
}

static void *source_help(void *part)
{
    source_work(part);
    return NULL;
}

/* Starts the other threads, as many as there are processors, and returns their
 * number. */
static size_t source_helpers(cli_source *s, source_part *parts)
{
    long processors = s->sized ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    size_t n = 0;

    while (n < SOURCE_THREADS - 1 && (long)n + 1 < processors
           && source_part_open(&parts[n], s)) {
        if (pthread_create(&parts[n].thread, NULL, source_help, &parts[n])
            != 0) {
            source_part_close(&parts[n]);
            break;
        }
        n++;
    }
    return n;
}

static void *source_loop(void *argument)
{
    cli_source *s = argument;
    source_part first, helpers[SOURCE_THREADS - 1];
    size_t n = 0;

    if (source_part_open(&first, s)) {
        n = source_helpers(s, helpers);
        source_work(&first);
        source_part_close(&first);
    } else {
        s->error = source_error(SOURCE_MEMORY, s->codec);
    }
    for (size_t i = 0; i < n; i++) {
        pthread_join(helpers[i].thread, NULL);
        source_part_close(&helpers[i]);
    }
    close(s->to);
    return NULL;
}

/* ==== Open and close ==================================================== */

static void source_free(cli_source *s)
{
    if (s->from > STDIN_FILENO)
        close(s->from);
    pthread_mutex_destroy(&s->reading);
    pthread_mutex_destroy(&s->writing);
    pthread_cond_destroy(&s->turned);
    free(s->in);
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

/* Slices are read only from files: a pipe's bytes are printed as they come. */
static bool source_is_sized(const cli_source *s)
{
    struct stat about;

    return fstat(s->from, &about) == 0 && S_ISREG(about.st_mode)
        && codec_member(s->at, s->left) > 0;
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
    s->sized = source_is_sized(s);
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
    pthread_mutex_init(&s->reading, NULL);
    pthread_mutex_init(&s->writing, NULL);
    pthread_cond_init(&s->turned, NULL);
    s->in = malloc(SOURCE_BLOCK + n);
    if (s->in != NULL) {
        memcpy(s->in, head, n);
        s->at = s->in;
        s->left = n;
        s->taken = n;
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
