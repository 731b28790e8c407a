/* listen.c - threads, signals and reloading.
 *
 * The main thread opens the filters, starts the serving threads, and waits for
 * signals. A watcher thread checks for replaced files once a second and after
 * SIGHUP, so that opening a new file, which may take minutes, delays neither
 * clients nor shutdown. Signals are blocked in all threads and read from a
 * descriptor. Until the filters are open they simply end the program.
 */
#include "bloomery/serve/serve.h"
#include "frame/output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    SERVER_PLACES = 3,          /* socket, port and HTTP port of serve_how  */
    SERVER_LOOK = 1000,         /* ms between checks of the files           */
    SERVER_SPARE = 64,          /* descriptors besides those of clients, …  */
    SERVER_LOOP = 8,            /* … per loop, …                            */
    SERVER_FILE = 4,            /* … and per file while it is replaced      */
    SERVER_END = 5,             /* seconds for a reader of standard output  */
    SERVER_LEAVE = 1            /* … and for a file that is being opened    */
};

typedef struct {
    const serve_how *how;
    size_t           files;
    int              signals;
    serve_common     common;
    serve_loop      *loops;
    size_t           opened, started;
    bool             placed[SERVER_PLACES];
    serve_counted   *counted;
    size_t           counted_n;
    serve_coprocess  coprocess;
    pthread_t        watcher;           /* checks the files                  */
    int              watch;             /* eventfd that wakes it             */
    bool             watched, busy;     /* whether it was started; is opening a
                                           file                              */
    atomic_bool      again;             /* retry files that were refused     */
} serve_server;

static bool listen_sockets(const serve_how *how)
{
    return how->socket.text != NULL || how->port.text != NULL
        || how->web.text != NULL;
}

/* ==== Before ============================================================ */

static int listen_signals(serve_server *s)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC);
    s->watch = eventfd(0, EFD_CLOEXEC);
    return s->signals >= 0 && s->watch >= 0
         ? CLI_GO
         : report_error("cannot wait for signals: %s: allow more open files "
                        "(ulimit -n)", strerror(errno));
}

/* Raises the descriptor limit to what the clients need, as far as allowed. */
static void listen_descriptors(const serve_server *s)
{
    struct rlimit limit;
    rlim_t wanted = 2 * s->how->clients + SERVER_LOOP * s->how->threads
                  + SERVER_FILE * s->files + SERVER_SPARE;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ==== Loops ============================================================= */

/* Lists the counters for /metrics, with those of one protocol adjacent. */
static void listen_count(serve_server *s)
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

static const serve_place *listen_place(const serve_how *how, size_t i)
{
    return i == 0 ? &how->socket : i == 1 ? &how->port : &how->web;
}

/* Opens the loops, which then own their sockets. */
static int listen_open_loops(serve_server *s, const int *sockets)
{
    size_t n = s->how->threads;
    int status = CLI_GO;

    listen_count(s);
    for (size_t i = 0; i < n; i++) {
        const int own[LOOP_LISTENERS] = { sockets[i], sockets[n + i],
                                          sockets[2 * n + i] };
        serve_loop *l = &s->loops[i];

        l->how = s->how;
        l->common = &s->common;
        s->opened++;
        if (loop_open(l, own, s->counted, s->counted_n) != CLI_GO)
            status = CLI_ERROR;
    }
    return status;
}

/* Opens a socket for each address and loop; -1 for unused addresses. */
static int listen_listen(serve_server *s, int *sockets)
{
    size_t n = s->how->threads;
    int status = CLI_GO;

    for (size_t i = 0; i < SERVER_PLACES * n; i++)
        sockets[i] = -1;
    for (size_t i = 0; i < SERVER_PLACES && status == CLI_GO; i++) {
        const serve_place *place = listen_place(s->how, i);

        if (place->text == NULL)
            continue;
        status = place_open(place, s->how->mode, sockets + i * n, n);
        s->placed[i] = status == CLI_GO;
    }
    if (status == CLI_GO)
        return listen_open_loops(s, sockets);
    for (size_t i = 0; i < SERVER_PLACES * n; i++)
        if (sockets[i] >= 0)
            close(sockets[i]);
    return status;
}

static int listen_open(serve_server *s)
{
    size_t n = s->how->threads;
    int *sockets = malloc(SERVER_PLACES * n * sizeof *sockets), status;

    s->loops = calloc(n, sizeof *s->loops);
    s->counted = calloc(2 * n, sizeof *s->counted);
    if (sockets == NULL || s->loops == NULL || s->counted == NULL)
        status = report_no_memory();
    else
        status = listen_listen(s, sockets);
    free(sockets);
    return status;
}

static int listen_no_thread(int error)
{
    return report_error("cannot start a thread: %s: allow more threads (ulimit "
                        "-u), or use fewer --jobs", strerror(error));
}

static int listen_start(serve_server *s)
{
    for (; s->started < s->opened; s->started++) {
        serve_loop *l = &s->loops[s->started];
        int error = pthread_create(&l->thread, NULL, loop_run, l);

        if (error != 0)
            return listen_no_thread(error);
    }
    return CLI_GO;
}

/* Wakes the loops or the coprocess. */
static void listen_wake(const serve_server *s)
{
    for (size_t i = 0; i < s->started; i++)
        loop_wake(s->loops[i].wake);
    if (s->coprocess.how != NULL)
        loop_wake(s->coprocess.wake);
}

static void listen_stop(serve_server *s)
{
    atomic_store(&s->common.stop, true);
    listen_wake(s);
}

/* ==== Meanwhile ========================================================= */

/* Returns the signal received; 0 if none. */
static uint32_t listen_signal(const serve_server *s)
{
    struct signalfd_siginfo came;

    return read(s->signals, &came, sizeof came) == sizeof came
         ? came.ssi_signo : 0;
}

/* Reloads replaced files, and wakes all loops to release the old ones. */
static void *listen_watch(void *server)
{
    serve_server *s = server;
    struct pollfd one = { .fd = s->watch, .events = POLLIN };
    bool renewed = false;

    while (!atomic_load(&s->common.stop)) {
        if (renewed)
            listen_wake(s);
        if (poll(&one, 1, SERVER_LOOK) > 0)
            loop_hear(s->watch);
        renewed = !atomic_load(&s->common.stop)
               && served_renew(atomic_exchange(&s->again, false));
    }
    return NULL;
}

/* Waits for a signal, the end of the coprocess, or the failure of a loop. */
static int listen_wait(serve_server *s, int done)
{
    struct pollfd both[2] = { { .fd = s->signals, .events = POLLIN },
                              { .fd = done, .events = POLLIN } };
    int error = pthread_create(&s->watcher, NULL, listen_watch, s);

    if (error != 0)
        return listen_no_thread(error);
    s->watched = true;
    while (!atomic_load(&s->common.stop)) {
        bool any = poll(both, 2, SERVER_LOOK) > 0;
        uint32_t number = any && both[0].revents != 0 ? listen_signal(s) : 0;

        if (number == SIGHUP) {
            atomic_store(&s->again, true);
            loop_wake(s->watch);
        } else if (number != 0)
            break;
    }
    return CLI_GO;
}

/* Stops the watcher. If it is opening a file it is abandoned, together with the
   memory it uses. */
static void listen_unwatch(serve_server *s)
{
    struct timespec until;

    if (!s->watched)
        return;
    loop_wake(s->watch);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SERVER_LEAVE;
    s->busy = pthread_timedjoin_np(s->watcher, NULL, &until) != 0;
}

static int listen_run_loops(serve_server *s)
{
    int status = listen_open(s);

    if (status == CLI_GO)
        status = listen_start(s);
    if (status == CLI_GO)
        status = listen_wait(s, -1);
    listen_stop(s);
    for (size_t i = 0; i < s->started; i++) {
        pthread_join(s->loops[i].thread, NULL);
        status = s->loops[i].failed ? CLI_ERROR : status;
    }
    listen_unwatch(s);
    for (size_t i = 0; i < s->opened; i++)
        loop_close(&s->loops[i]);
    for (size_t i = 0; i < SERVER_PLACES; i++)
        if (s->placed[i])
            place_close(listen_place(s->how, i));
    free(s->loops);
    free(s->counted);
    return status == CLI_GO ? CLI_OK : status;
}

/* Joins the coprocess, but not for ever: its output may be unread. */
static void listen_join(const serve_coprocess *c)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SERVER_END;
    if (pthread_timedjoin_np(c->thread, NULL, &until) == 0)
        return;
    report_error("answers are lost because standard output was closed: let its "
                 "reader read to the end");
    _exit(CLI_ERROR);
}

static int listen_run_coprocess(serve_server *s)
{
    serve_coprocess *c = &s->coprocess;
    int status, error;

    *c = (serve_coprocess){ .how = s->how, .stop = &s->common.stop };
    status = coprocess_open(c);
    if (status == CLI_GO) {
        error = pthread_create(&c->thread, NULL, coprocess_run, c);
        status = error != 0 ? listen_no_thread(error) : CLI_GO;
    }
    if (status == CLI_GO) {
        status = listen_wait(s, c->done);
        listen_stop(s);
        listen_join(c);
        listen_unwatch(s);
        status = c->failed || status != CLI_GO ? CLI_ERROR : CLI_OK;
    }
    coprocess_close(c);
    return status;
}

int listen_run(const serve_how *how, const cli_operands *files)
{
    serve_server s = { .how = how, .files = files->count, .signals = -1,
                       .watch = -1, .common.told = -LOOP_TELL };
    int status;

    listen_descriptors(&s);
    guard_start();
    status = served_open(files, &how->open);
    if (status == CLI_GO)
        status = listen_signals(&s);
    if (status == CLI_GO)
        status = (listen_sockets(how) ? listen_run_loops
                                      : listen_run_coprocess)(&s);
    if (s.busy)
        _exit(output_finish(status));
    served_close();
    if (s.signals >= 0)
        close(s.signals);
    if (s.watch >= 0)
        close(s.watch);
    return status;
}
