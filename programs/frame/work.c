/* work.c - works on chunks of lines with all cores, in order.
 *
 * All threads do the same: they take the next chunk from the reader, one thread
 * at a time; work on it in parallel; and hand it in. Chunks are committed one
 * at a time, in order. The thread that hands in the next one commits it and all
 * later ones that have been handed in meanwhile, while the others read and
 * work:
 *
 *      committed | 7: being committed | 8, 9: handed in | 10: worked on | …
 *
 * So output has the order of the input, no thread waits for a commit while
 * there is room for one more chunk, and memory is a few chunks whatever the
 * size of the files.
 */
#include "frame/work.h"

#include "frame/headers.h"
#include "frame/mistakes.h"
#include "frame/strange.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* The number of chunks that may be handed in beyond one per thread. Two keep
 * the other threads going if one commit takes long. */
enum { WORK_MOST = 256, WORK_MORE = 2 };

/* A chunk, and its place in the order. */
typedef struct {
    cli_worker worker;
    uint64_t   number;
    bool       ready;                   /* handed in                         */
} work_chunk;

/* The state that the threads share. */
typedef struct {
    const cli_work *work;
    void           *job;
    cli_lines      *lines;
    work_chunk     *chunks, *idle[WORK_MOST + WORK_MORE];
    size_t          n;
    pthread_mutex_t reading, turning;
    pthread_cond_t  freed;
    uint64_t        taken;              /* chunks read; under `reading`      */
    size_t          idles;              /* this and the rest under `turning` */
    uint64_t        turn;               /* chunks committed                  */
    bool            committing;         /* one is just now                   */
    int             status;             /* CLI_GO, or why all stop           */
} work_state;

/* Returns whether all threads should stop. */
static bool work_stopped(work_state *s)
{
    pthread_mutex_lock(&s->turning);
    bool stopped = s->status != CLI_GO;
    pthread_mutex_unlock(&s->turning);
    return stopped;
}

/* Returns the place that became idle last, which may still be in a cache. */
static work_chunk *work_place(work_state *s)
{
    pthread_mutex_lock(&s->turning);
    while (s->idles == 0)
        pthread_cond_wait(&s->freed, &s->turning);
    work_chunk *c = s->idle[--s->idles];
    pthread_mutex_unlock(&s->turning);
    return c;
}

static bool work_take(work_state *s, work_chunk *c)
{
    pthread_mutex_lock(&s->reading);
    bool got = !work_stopped(s) && lines_next(s->lines, &c->worker.chunk);
    if (got)
        c->number = s->taken++;
    pthread_mutex_unlock(&s->reading);
    return got;
}

static int work_commit(work_state *s, cli_worker *w)
{
    int status;

    mistakes_note(&w->chunk);
    status = headers_title(s->lines, &w->chunk) ? s->work->commit(s->job, w)
                                              : CLI_ERROR;
    strange_tally(s->lines, &w->chunk);
    return status;
}

/* Returns the chunk whose turn it is, if it has been handed in. */
static work_chunk *work_next(const work_state *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->chunks[i].ready && s->chunks[i].number == s->turn)
            return &s->chunks[i];
    return NULL;
}

/* Hands the chunk in, and commits all chunks that are due, unless another
 * thread does. After a status that stops the work, chunks are only released. */
static void work_hand_in(work_state *s, work_chunk *c)
{
    pthread_mutex_lock(&s->turning);
    c->ready = true;
    while (!s->committing && (c = work_next(s)) != NULL) {
        int status = s->status;

        s->committing = true;
        pthread_mutex_unlock(&s->turning);
        if (status == CLI_GO)
            status = work_commit(s, &c->worker);
        pthread_mutex_lock(&s->turning);
        s->status = status;
        s->committing = false;
        s->turn++;
        c->ready = false;
        s->idle[s->idles++] = c;
        pthread_cond_signal(&s->freed);
    }
    pthread_mutex_unlock(&s->turning);
}

/* Releases the place at the end of the input, for threads that wait for one. */
static void work_leave(work_state *s, work_chunk *c)
{
    pthread_mutex_lock(&s->turning);
    s->idle[s->idles++] = c;
    pthread_cond_signal(&s->freed);
    pthread_mutex_unlock(&s->turning);
}

static void *work_loop(void *argument)
{
    work_state *s = argument;

    for (;;) {
        work_chunk *c = work_place(s);
        cli_worker *w = &c->worker;

        if (!work_take(s, c)) {
            work_leave(s, c);
            return NULL;
        }
        w->failed = w->chunk.error == 0 && !s->work->work(s->job, w);
        work_hand_in(s, c);
    }
}

static bool work_prepare(work_state *s, work_chunk *c)
{
    c->worker.lines = s->lines;
    c->worker.batch = malloc(sizeof *c->worker.batch);
    c->worker.own = calloc(1, s->work->own);
    s->idle[s->idles++] = c;
    return c->worker.batch != NULL && c->worker.own != NULL;
}

static void work_clean(cli_worker *w, const cli_work *work)
{
    if (w->own != NULL && work->clean != NULL)
        work->clean(w->own);
    free(w->own);
    free(w->batch);
    free(w->chunk.block);
}

void work_threads(size_t n, void *(*loop)(void *), void *argument)
{
    pthread_t ids[WORK_MOST];
    size_t started = 1;

    while (started < n && started < WORK_MOST
           && pthread_create(&ids[started], NULL, loop, argument) == 0)
        started++;
    loop(argument);
    for (size_t i = 1; i < started; i++)
        pthread_join(ids[i], NULL);
}

size_t work_jobs(uint64_t wanted)
{
    long cores = wanted > 0 ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = wanted > 0 ? wanted : cores > 0 ? (uint64_t)cores : 1;

    return jobs < WORK_MOST ? (size_t)jobs : WORK_MOST;
}

int work_run(cli_lines *lines, const cli_work *work, void *job, size_t jobs)
{
    work_state s = { .work = work, .job = job, .lines = lines,
                     .n = jobs > 1 ? jobs + WORK_MORE : 1, .status = CLI_GO };
    bool ready;

    s.chunks = calloc(s.n, sizeof *s.chunks);
    ready = s.chunks != NULL;
    for (size_t i = 0; ready && i < s.n; i++)
        ready = work_prepare(&s, &s.chunks[i]);
    pthread_mutex_init(&s.reading, NULL);
    pthread_mutex_init(&s.turning, NULL);
    pthread_cond_init(&s.freed, NULL);
    if (ready)
        work_threads(jobs, work_loop, &s);
    if (s.status == CLI_GO && !headers_title(lines, NULL))
        s.status = CLI_ERROR;
    for (size_t i = 0; s.chunks != NULL && i < s.n; i++)
        work_clean(&s.chunks[i].worker, work);
    free(s.chunks);
    if (s.status != CLI_ERROR)
        strange_note(lines);
    pthread_cond_destroy(&s.freed);
    pthread_mutex_destroy(&s.turning);
    pthread_mutex_destroy(&s.reading);
    return ready ? s.status : report_no_memory();
}
