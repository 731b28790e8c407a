/* threads.c - one piece of work cut into parts for all processors.
 *
 * Floor 0.
 */
#include "base/threads.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

/* The processors that this thread may run on, where the system tells; a
 * machine may have more of them than a program is given. */
static long threads_processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t given;
    if (sched_getaffinity(0, sizeof given, &given) == 0)
        return CPU_COUNT(&given);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

unsigned threads_count(void)
{
    long cores = threads_processors();
    if (cores < 1)
        return 1;
    return cores > THREADS_MAX ? THREADS_MAX : (unsigned)cores;
}

typedef struct {
    threads_work *work;
    void *context;
    unsigned part, parts;
} threads_job;

static void *threads_start(void *argument)
{
    const threads_job *job = argument;
    job->work(job->context, job->part, job->parts);
    return NULL;
}

void threads_run(threads_work *work, void *context, unsigned parts)
{
    pthread_t threads[THREADS_MAX];
    threads_job jobs[THREADS_MAX];
    unsigned started = 1;
    assert(parts >= 1 && parts <= THREADS_MAX);
    for (; started < parts; started++) {
        jobs[started] = (threads_job){ work, context, started, parts };
        if (pthread_create(&threads[started], NULL, threads_start,
                           &jobs[started]) != 0)
            break;
    }
    work(context, 0, parts);
    for (unsigned part = started; part < parts; part++)
        work(context, part, parts);
    while (started > 1)
        pthread_join(threads[--started], NULL);
}
