/* server.c - threads, signals, and new files.
 *
 * The thread that began opens the filters, starts those that serve, and then
 * waits for a signal and looks once a second whether a file was replaced: so
 * that to open a new one, which may take seconds, keeps nobody waiting. Signals
 * are blocked in all threads and come by a descriptor, which no code can be
 * interrupted by. Floor 8; includes serve.h only.
 */
#include "serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    SERVER_LOOK = 1000,         /* ms between looks at the files            */
    SERVER_SPARE = 64,          /* descriptors beside those of clients      */
    SERVER_END = 5              /* seconds for a reader of standard output  */
};

typedef struct {
    const serve_how *how;
    int              signals;
    atomic_bool      stop;
    atomic_uint_fast64_t clients;
    serve_loop      *loops;
    size_t           opened, started;
    serve_counted   *counted;
    size_t           counted_n;
    serve_coprocess  coprocess;
} serve_server;

static bool server_sockets(const serve_how *how)
{
    return how->socket.text != NULL || how->port.text != NULL
        || how->web.text != NULL;
}

/* ==== Before ============================================================ */

static int server_signals(serve_server *s)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC);
    return s->signals >= 0
         ? CLI_GO
         : report_error("cannot wait for signals: %s: let more files be open "
                        "(ulimit -n)", strerror(errno));
}

/* As many descriptors as clients need, as far as we may. */
static void server_descriptors(const serve_how *how)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)how->clients + SERVER_SPARE;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ==== Loops ============================================================= */

/* What /metrics tells: counters of one protocol side by side. */
static void server_count(serve_server *s)
{
    size_t n = s->how->threads;

    for (size_t i = 0; s->how->socket.text != NULL || s->how->port.text != NULL
                       ? i < n : false; i++)
        s->counted[s->counted_n++] =
            (serve_counted){ s->how->protocol->name, &s->loops[i].talks };
    for (size_t i = 0; i < n; i++)
        s->counted[s->counted_n++] =
            (serve_counted){ "http", &s->loops[i].webs };
}

/* Sockets of one place, -1 where it is none. */
static int server_place(const serve_place *place, int mode, int *sockets,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        sockets[i] = -1;
    return place->text != NULL ? place_open(place, mode, sockets, n) : CLI_GO;
}

/* From here on each loop has its own, and closes it. */
static int server_open_loops(serve_server *s, int *const sockets[3])
{
    int status = CLI_GO;

    server_count(s);
    for (size_t i = 0; i < s->how->threads; i++) {
        const int own[LOOP_LISTENERS] = { sockets[0][i], sockets[1][i] };
        serve_loop *l = &s->loops[i];

        l->how = s->how;
        l->stop = &s->stop;
        l->count = &s->clients;
        s->opened++;
        if (loop_open(l, own, sockets[2][i], s->counted, s->counted_n)
            != CLI_GO)
            status = CLI_ERROR;
    }
    return status;
}

static int server_listen(serve_server *s, int *sockets)
{
    const serve_how *how = s->how;
    size_t n = how->threads;
    int *const each[3] = { sockets, sockets + n, sockets + 2 * n };

    if (server_place(&how->socket, how->mode, each[0], n) != CLI_GO
        || server_place(&how->port, how->mode, each[1], n) != CLI_GO
        || server_place(&how->web, how->mode, each[2], n) != CLI_GO)
        return CLI_ERROR;
    return server_open_loops(s, each);
}

static int server_open(serve_server *s)
{
    size_t n = s->how->threads;
    int *sockets = malloc(3 * n * sizeof *sockets), status;

    s->loops = calloc(n, sizeof *s->loops);
    s->counted = calloc(2 * n, sizeof *s->counted);
    if (sockets == NULL || s->loops == NULL || s->counted == NULL)
        status = work_no_memory();
    else
        status = server_listen(s, sockets);
    free(sockets);
    return status;
}

static int server_no_thread(int error)
{
    return report_error("cannot start a thread: %s: let more of them run "
                        "(ulimit -u), or give fewer --threads",
                        strerror(error));
}

static int server_start(serve_server *s)
{
    for (; s->started < s->opened; s->started++) {
        serve_loop *l = &s->loops[s->started];
        int error = pthread_create(&l->thread, NULL, loop_run, l);

        if (error != 0)
            return server_no_thread(error);
    }
    return CLI_GO;
}

static void server_wake(serve_server *s)
{
    for (size_t i = 0; i < s->started; i++)
        loop_wake(&s->loops[i]);
}

/* ==== Meanwhile ========================================================= */

/* Until a signal comes, or the coprocess has ended. What was replaced is
 * renewed, and all are told so, that nobody keeps the old one. */
static void server_wait(const serve_server *s, int done,
                        void (*wake)(const serve_server *s))
{
    struct pollfd both[2] = { { .fd = s->signals, .events = POLLIN },
                              { .fd = done, .events = POLLIN } };

    while (poll(both, 2, SERVER_LOOK) <= 0)
        if (served_renew())
            wake(s);
}

static void server_wake_loops(const serve_server *s)
{
    for (size_t i = 0; i < s->started; i++)
        loop_wake(&s->loops[i]);
}

static void server_wake_coprocess(const serve_server *s)
{
    const uint64_t once = 1;

    while (write(s->coprocess.wake, &once, sizeof once) < 0 && errno == EINTR)
        continue;
}

static int server_run_loops(serve_server *s)
{
    int status = server_open(s);

    if (status == CLI_GO)
        status = server_start(s);
    if (status == CLI_GO)
        server_wait(s, -1, server_wake_loops);
    atomic_store(&s->stop, true);
    server_wake(s);
    for (size_t i = 0; i < s->started; i++) {
        pthread_join(s->loops[i].thread, NULL);
        status = s->loops[i].failed ? CLI_ERROR : status;
    }
    for (size_t i = 0; i < s->opened; i++)
        loop_close(&s->loops[i]);
    place_close(&s->how->socket);
    place_close(&s->how->web);
    free(s->loops);
    free(s->counted);
    return status == CLI_GO ? CLI_OK : status;
}

/* Whoever does not read our answers would keep us for ever. */
static void server_join(const serve_coprocess *c)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SERVER_END;
    if (pthread_timedjoin_np(c->thread, NULL, &until) == 0)
        return;
    report_error("answers are lost: nobody reads standard output: let its "
                 "reader read to the end");
    _exit(CLI_ERROR);
}

static int server_run_coprocess(serve_server *s)
{
    serve_coprocess *c = &s->coprocess;
    int status, error;

    *c = (serve_coprocess){ .how = s->how, .stop = &s->stop };
    status = coprocess_open(c);
    if (status == CLI_GO) {
        error = pthread_create(&c->thread, NULL, coprocess_run, c);
        status = error != 0 ? server_no_thread(error) : CLI_GO;
    }
    if (status == CLI_GO) {
        server_wait(s, c->done, server_wake_coprocess);
        atomic_store(&s->stop, true);
        server_wake_coprocess(s);
        server_join(c);
        status = c->failed ? CLI_ERROR : CLI_OK;
    }
    coprocess_close(c);
    return status;
}

int server_run(const serve_how *how, const cli_operands *files)
{
    serve_server s = { .how = how, .signals = -1 };
    int status = how->web.text != NULL ? web_load() : CLI_GO;

    if (status == CLI_GO)
        status = server_signals(&s);
    server_descriptors(how);
    if (status == CLI_GO)
        status = served_open(files, &how->open);
    if (status == CLI_GO)
        status = (server_sockets(how) ? server_run_loops
                                      : server_run_coprocess)(&s);
    served_close();
    if (s.signals >= 0)
        close(s.signals);
    return status;
}
