/* bench.h - what the parts of the benchmark share.
 *
 * Floor 7: programs, through <bloomery.h> only. bench.c says what is measured
 * and how; each part below is one file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_ROUNDS_MAX = 64, BENCH_THREADS_MAX = 64, BENCH_LIST_MAX = 64 };

/* What a run does; made of the command line by bench.c. */
typedef struct {
    uint64_t keys[BENCH_LIST_MAX];      /* sizes of filters, in keys         */
    double   rates[BENCH_LIST_MAX];
    const char *kinds[BENCH_LIST_MAX];
    size_t   key_count, rate_count, kind_count;
    size_t   rounds;                    /* samples of each number            */
    uint64_t asked;                     /* lookups a sample                  */
    unsigned threads;                   /* of the measurements with several  */
    bool     peers;
} bench_plan;

/* ---- timing.c: clock, memory, keys, threads ---------------------------- */

/* Written to, so that nothing measured is optimised away. */
extern volatile uint64_t bench_sink;

/* Nanoseconds since some fixed time. */
double bench_now(void);

/* Those that this thread has had a processor. */
double bench_worked(void);

/* Say what is wrong and leave, exit status 2. */
_Noreturn void bench_stop(const char *doing, const char *why);

/* Memory, or the end of the program. */
void *bench_allocate(size_t bytes);

/* The hash of key i: the splitmix64 finaliser, one to one. */
uint64_t bench_hash(uint64_t i);

/* One part (0 .. parts-1) of a job; what it returns goes to the sink. */
typedef uint64_t bench_work(void *context, unsigned part, unsigned parts);

/* Nanoseconds that the job takes of this thread's processor time: what other
 * programs take of it meanwhile is not counted. */
double bench_cost(bench_work *work, void *context);

/* Nanoseconds by the clock on the wall of the job done by so many threads, from
 * the first start to the last end; one thread is the caller. */
double bench_time(bench_work *work, void *context, unsigned threads);

/* ---- table.c: the numbers ---------------------------------------------- */

/* Whose number it is. */
typedef struct {
    const char *subject;                /* "blocked", "libbloom", "machine"  */
    uint64_t    keys;
    double      rate;                   /* asked                             */
    uint64_t    bytes;                  /* of the filter or buffer           */
} bench_case;

/* The samples of one number, in the order of the rounds. */
typedef struct {
    bench_case of;
    char   what[24];                    /* "batch 50"                        */
    double sample[BENCH_ROUNDS_MAX];
    size_t samples;
} bench_series;

/* One more sample of a number. */
void table_add(const bench_case *of, const char *what, double value);

/* NULL if it was not measured. */
const bench_series *table_find(const char *subject, uint64_t keys, double rate,
                               const char *what);

double table_median(const bench_series *s);             /* NAN for NULL      */
double table_least(const bench_series *s);

/* The median of the rounds' ratios a / b: noise of a round is in both. With
 * unequal numbers of samples, the ratio of the medians. */
double table_ratio(const bench_series *a, const bench_series *b);

void table_print(const bench_plan *plan);

/* The kinds that remove and the frozen ones, beside what others measured
 * elsewhere. */
void table_print_families(void);
void table_csv(FILE *out);

/* ---- What is asked ------------------------------------------------------ */

/* Lookups by present, mixed and absent keys. */
typedef struct {
    uint64_t *hashes[3];                /* 0, 50, 100 % present              */
    uint64_t *fresh;                    /* of keys that nobody added         */
    size_t    n;
    unsigned  repeats;                  /* passes, where n is small          */
} bench_questions;

/* ---- limits.c: what the machine can do --------------------------------- */

/* Measure all depths at the sizes of the plan's filters, choose the best, and
 * print them. */
void limits_survey(const bench_plan *plan);

/* Once more at this size with the depths chosen: "line", "line write",
 * with several threads "line threads", and "line fed" by the questions. */
void limits_again(const bench_case *of, const bench_plan *plan,
                  const bench_questions *questions);

/* ---- kinds.c, peers.c: who is measured --------------------------------- */

extern const unsigned bench_shares[3];

/* The filters of all kinds for so many keys at that rate; a round measures
 * each, the first one makes them. */
void kinds_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round);
void kinds_free(void);

void peers_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round);
void peers_free(void);
void peers_print(void);

/* A library that is measured beside ours; keys are 8 bytes, as they stand in
 * the array. */
typedef struct {
    const char *name;
    const char *(*version)(void);
    void    *(*make)(uint64_t keys, double rate);       /* NULL: cannot      */
    void     (*free)(void *filter);
    uint64_t (*bytes)(const void *filter);
    void     (*add)(void *filter, const uint64_t *keys, size_t n);
    uint64_t (*ask)(void *filter, const uint64_t *keys, size_t n);
} bench_peer;

#ifdef BENCH_LIBBLOOM
extern const bench_peer peers_libbloom;
#endif

/* ---- bounds.c ---------------------------------------------------------- */

/* The list of what the project set itself to reach, held against the table. */
void bounds_print(const bench_plan *plan);

#endif /* BENCH_H */
