/* threads.c - runs work on all processors; locks. */
#include "base/threads.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"

/* Returns the number of processors that this thread may use, if known; it may
 * be less than the machine has. */
static long threads_processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t given;
    if (sched_getaffinity(0, sizeof given, &given) == 0)
        return CPU_COUNT(&given);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

unsigned threads_count(uint32_t most)
{
    if (most > 0)
        return most < THREADS_MAX ? most : THREADS_MAX;
    long cores = threads_processors();
    if (cores < 1)
        return 1;
    return cores > THREADS_MAX ? THREADS_MAX : (unsigned)cores;
}

typedef struct {
    threads_work *work;
    void *context;
    unsigned part, parts;
    task *caller;                       /* the caller's task, or NULL        */
    bool ended;
} threads_job;

static void *threads_start(void *argument)
{
    threads_job *job = argument;
    task_help(job->caller);
    job->work(job->context, job->part, job->parts);
    platform_store_flag(&job->ended, true);
    return NULL;
}

/* Starts threads for all parts but the first. Returns the first part that got
 * no thread. */
static unsigned threads_begin(pthread_t *threads, threads_job *jobs,
                              const threads_job *all)
{
    sigset_t every, before;
    unsigned part = 1;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    for (; part < all->parts; part++) {
        jobs[part] = *all;
        jobs[part].part = part;
        if (pthread_create(&threads[part], NULL, threads_start,
                           &jobs[part]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return part;
}

/* Waits for a thread, reporting progress if the caller has a task. */
static void threads_await(pthread_t thread, const threads_job *job)
{
    const struct timespec millisecond = { .tv_nsec = 1000000 };
    while (job->caller != NULL && !platform_load_flag(&job->ended)) {
        nanosleep(&millisecond, NULL);
        task_step(0);
    }
    pthread_join(thread, NULL);
}

void threads_run(threads_work *work, void *context, unsigned parts)
{
    pthread_t threads[THREADS_MAX];
    threads_job jobs[THREADS_MAX];
    threads_job all = { work, context, 0, parts, task_share(), false };
    assert(parts >= 1 && parts <= THREADS_MAX);
    unsigned started = threads_begin(threads, jobs, &all);
    work(context, 0, parts);
    for (unsigned part = started; part < parts; part++)
        work(context, part, parts);
    while (started-- > 1)
        threads_await(threads[started], &jobs[started]);
}

void threads_lock_make(threads_lock *lock)
{
    pthread_mutex_init(lock, NULL);
}

void threads_lock_end(threads_lock *lock)
{
    pthread_mutex_destroy(lock);
}

void threads_lock_take(threads_lock *lock)
{
    pthread_mutex_lock(lock);
}

void threads_lock_give(threads_lock *lock)
{
    pthread_mutex_unlock(lock);
}

void threads_do_once(threads_once *once, void (*work)(void))
{
    pthread_once(once, work);
}
