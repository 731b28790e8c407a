/* work.c - chunks of lines, read in turn, worked on by all cores, and brought
 * to an end in their order.
 *
 * Every worker does the same: takes the next chunk from the reader (one worker
 * at a time), works on it (all at once), waits until all chunks before it are
 * done with, and commits it (one at a time, in order). So output keeps the
 * order of the input, and memory is one chunk for each worker whatever the
 * size of the files. Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORK_MOST = 256 };

/* What the workers share. */
typedef struct {
    const cli_work *work;
    void           *job;
    cli_lines      *lines;
    pthread_mutex_t reading, turning;
    pthread_cond_t  turned;
    uint64_t        taken;              /* chunks read; under `reading`      */
    uint64_t        turn;               /* chunks committed; under `turning` */
    int             status;             /* CLI_GO, or why all stop; likewise */
} work_state;

typedef struct {
    work_state *state;
    cli_worker  worker;
} work_thread;

/* Is there a reason for all to stop? */
static bool work_stopped(work_state *s)
{
    pthread_mutex_lock(&s->turning);
    bool stopped = s->status != CLI_GO;
    pthread_mutex_unlock(&s->turning);
    return stopped;
}

static bool work_take(work_state *s, cli_worker *w, uint64_t *number)
{
    pthread_mutex_lock(&s->reading);
    bool got = !work_stopped(s) && lines_next(s->lines, &w->chunk);
    if (got)
        *number = s->taken++;
    pthread_mutex_unlock(&s->reading);
    return got;
}

/* Commit when it is this chunk's turn, unless an earlier one said stop. */
static void work_commit(work_state *s, cli_worker *w, uint64_t number)
{
    pthread_mutex_lock(&s->turning);
    while (s->turn != number)
        pthread_cond_wait(&s->turned, &s->turning);
    if (s->status == CLI_GO) {
        lines_note(&w->chunk);
        s->status = lines_title(s->lines, &w->chunk)
                  ? s->work->commit(s->job, w) : CLI_ERROR;
        lines_tally(s->lines, &w->chunk);
    }
    s->turn++;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->turning);
}

static void *work_loop(void *argument)
{
    work_thread *t = argument;
    work_state *s = t->state;
    cli_worker *w = &t->worker;
    uint64_t number;

    while (work_take(s, w, &number)) {
        w->failed = w->chunk.error == 0 && !s->work->work(s->job, w);
        work_commit(s, w, number);
    }
    return NULL;
}

static bool work_prepare(work_thread *t, work_state *s)
{
    t->state = s;
    t->worker.lines = s->lines;
    t->worker.batch = malloc(sizeof *t->worker.batch);
    t->worker.own = calloc(1, s->work->own);
    return t->worker.batch != NULL && t->worker.own != NULL;
}

static void work_clean(work_thread *t, const cli_work *work)
{
    if (t->worker.own != NULL && work->clean != NULL)
        work->clean(t->worker.own);
    free(t->worker.own);
    free(t->worker.batch);
    free(t->worker.chunk.block);
}

/* The caller is a worker too; a thread that cannot be had is done without. */
static void work_threads(work_thread *threads, size_t n)
{
    pthread_t ids[WORK_MOST];
    size_t started = 1;

    while (started < n && pthread_create(&ids[started], NULL, work_loop,
                                         &threads[started]) == 0)
        started++;
    work_loop(&threads[0]);
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
                     .status = CLI_GO };
    work_thread *threads = calloc(jobs, sizeof *threads);
    bool ready = threads != NULL;

    for (size_t i = 0; ready && i < jobs; i++)
        ready = work_prepare(&threads[i], &s);
    pthread_mutex_init(&s.reading, NULL);
    pthread_mutex_init(&s.turning, NULL);
    pthread_cond_init(&s.turned, NULL);
    if (ready)
        work_threads(threads, jobs);
    if (s.status == CLI_GO && !lines_title(lines, NULL))
        s.status = CLI_ERROR;
    for (size_t i = 0; threads != NULL && i < jobs; i++)
        work_clean(&threads[i], work);
    free(threads);
    if (s.status != CLI_ERROR)
        lines_note_strange(lines);
    pthread_cond_destroy(&s.turned);
    pthread_mutex_destroy(&s.turning);
    pthread_mutex_destroy(&s.reading);
    return ready ? s.status : work_no_memory();
}

bool work_grow(void *array, size_t room, size_t size)
{
    void *old, *grown;

    memcpy(&old, array, sizeof old);
    grown = realloc(old, room * size);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    return true;
}

int work_no_memory(void)
{
    return report_error("out of memory: close other programs and try again, "
                        "or give -j 1");
}
