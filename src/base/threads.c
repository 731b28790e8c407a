/* threads.c - one piece of work cut into parts for all processors.
 *
 * Floor 0.
 */
#include "base/threads.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

unsigned threads_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
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
