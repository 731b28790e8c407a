/* timing.c - the clock, keys, memory and threads of the benchmark. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

volatile uint64_t bench_sink;

static double timing_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_now(void)
{
    return timing_clock(CLOCK_MONOTONIC);
}

double bench_worked(void)
{
    return timing_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_stop(const char *doing, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", doing, why);
    exit(2);
}

void *bench_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL)
        bench_stop("memory", "not enough");
    return memory;
}

uint64_t bench_hash(uint64_t i)
{
    i = (i ^ i >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    i = (i ^ i >> 27) * UINT64_C(0x94D049BB133111EB);
    return i ^ i >> 31;
}

/* ---- Threads ----------------------------------------------------------- */

typedef struct {
    bench_work *work;
    void       *context;
    unsigned    part, parts;
    pthread_barrier_t *gate;
    double      start, end;
    uint64_t    result;
} timing_thread;

static void *timing_run(void *context)
{
    timing_thread *t = context;
    pthread_barrier_wait(t->gate);
    t->start = bench_now();
    t->result = t->work(t->context, t->part, t->parts);
    t->end = bench_now();
    return NULL;
}

static double timing_alone(bench_work *work, void *context, clockid_t clock)
{
    double start = timing_clock(clock);
    uint64_t result = work(context, 0, 1);
    double taken = timing_clock(clock) - start;
    bench_sink += result;
    return taken;
}

double bench_cost(bench_work *work, void *context)
{
    return timing_alone(work, context, CLOCK_THREAD_CPUTIME_ID);
}

double bench_time(bench_work *work, void *context, unsigned threads)
{
    if (threads <= 1)
        return timing_alone(work, context, CLOCK_MONOTONIC);
    timing_thread part[BENCH_THREADS_MAX];
    pthread_t id[BENCH_THREADS_MAX];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        part[i] = (timing_thread){ .work = work, .context = context,
                                   .part = i, .parts = threads,
                                   .gate = &gate };
        if (pthread_create(&id[i], NULL, timing_run, &part[i]) != 0)
            bench_stop("threads", "the system gives no more");
    }
    double start = 0, end = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
        start = i == 0 || part[i].start < start ? part[i].start : start;
        end = part[i].end > end ? part[i].end : end;
        bench_sink += part[i].result;
    }
    pthread_barrier_destroy(&gate);
    return end - start;
}
