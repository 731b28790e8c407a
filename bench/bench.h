/* bench.h - the interfaces between the parts of the benchmark. bench.c
 * describes what is measured; each part below is one file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_ROUNDS_MAX = 64, BENCH_THREADS_MAX = 64, BENCH_LIST_MAX = 64 };

/* The parameters of a run, from the command line. */
typedef struct {
    uint64_t keys[BENCH_LIST_MAX];      /* sizes of filters, in keys         */
    double   rates[BENCH_LIST_MAX];
    const char *kinds[BENCH_LIST_MAX];
    size_t   key_count, rate_count, kind_count;
    size_t   rounds;                    /* samples of each number            */
    uint64_t asked;                     /* lookups a sample                  */
    unsigned threads;                   /* for multi-threaded measurements   */
    bool     peers;
    bool     formats;                   /* measures formats.c instead        */
} bench_plan;

/* ---- timing.c: clock, memory, keys, threads ---------------------------- */

/* Results are written here, so that the compiler keeps the work. */
extern volatile uint64_t bench_sink;

/* Returns nanoseconds since some fixed time. */
double bench_now(void);

/* Returns nanoseconds of processor time of this thread. */
double bench_worked(void);

/* Prints an error and exits with status 2. */
_Noreturn void bench_stop(const char *doing, const char *why);

/* Allocates memory, or ends the program. */
void *bench_allocate(size_t bytes);

/* Returns the hash of key i: the splitmix64 finaliser, a bijection. */
uint64_t bench_hash(uint64_t i);

/* Does one part (0 .. parts-1) of a job; the result goes to the sink. */
typedef uint64_t bench_work(void *context, unsigned part, unsigned parts);

/* Returns the job's nanoseconds of this thread's processor time, which excludes
 * other programs. */
double bench_cost(bench_work *work, void *context);

/* Returns the job's wall-clock nanoseconds with that many threads, from the
 * first start to the last end; one thread is the caller. */
double bench_time(bench_work *work, void *context, unsigned threads);

/* ---- table.c: the numbers ---------------------------------------------- */

/* The subject of a number. */
typedef struct {
    const char *subject;                /* "blocked", "libbloom", "machine"  */
    uint64_t    keys;
    double      rate;                   /* asked                             */
    uint64_t    bytes;                  /* of the filter or buffer           */
} bench_case;

/* The samples of one number, by rounds. */
typedef struct {
    bench_case of;
    char   what[24];                    /* "batch 50"                        */
    double sample[BENCH_ROUNDS_MAX];
    size_t samples;
} bench_series;

/* Adds a sample of a number. */
void table_add(const bench_case *of, const char *what, double value);

/* Returns NULL if it was not measured. */
const bench_series *table_find(const char *subject, uint64_t keys, double rate,
                               const char *what);

double table_median(const bench_series *s);             /* NAN for NULL      */
double table_least(const bench_series *s);

/* Returns the median of the rounds' ratios a / b, in which a round's noise
 * cancels. With unequal numbers of samples, the ratio of the medians. */
double table_ratio(const bench_series *a, const bench_series *b);

void table_print(const bench_plan *plan);

/* Prints the kinds with removal and the frozen ones, beside published numbers
 * of other filters. */
void table_print_families(void);
void table_csv(FILE *out);

/* ---- Queries ------------------------------------------------------------ */

/* Present, mixed and absent keys to look up. */
typedef struct {
    uint64_t *hashes[3];                /* 0, 50, 100 % present              */
    uint64_t *fresh;                    /* keys that were never added        */
    size_t    n;
    unsigned  repeats;                  /* passes, if n is small             */
} bench_questions;

/* ---- limits.c: the machine's limits ------------------------------------ */

/* Measures all depths at the sizes of the plan's filters, chooses the best, and
 * prints them. */
void limits_survey(const bench_plan *plan);

/* Measures this size again with the chosen depths: "line", "line write", with
 * several threads "line threads", and "line fed" by an array of hashes. */
void limits_again(const bench_case *of, const bench_plan *plan,
                  const bench_questions *questions);

/* ---- kinds.c, peers.c: subjects ---------------------------------------- */

extern const unsigned bench_shares[3];

/* Measures the filters of all kinds with that many keys at that rate; the first
 * round makes them. */
void kinds_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round);
void kinds_free(void);

void peers_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round);
void peers_free(void);
void peers_print(void);

/* ---- formats.c --------------------------------------------------------- */

/* Measures the formats of other systems beside our kinds of the same shapes,
 * and prints the table. */
void formats_measure(const bench_plan *plan);

/* ---- bounds.c ---------------------------------------------------------- */

/* Prints the project's goals beside the measured numbers. */
void bounds_print(const bench_plan *plan);

#endif /* BENCH_H */
