/* settings.h - one table, asked under several settings of the environment.
 *
 * Floor 8: a part of tune. settings.c says how.
 */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "bench.h"

#include <bloomery.h>

enum { SETTINGS_MAX = 32 };

/* A variable of the environment and what it says; no variable: what the library
 * does by itself. */
typedef struct {
    char name[16];                      /* in the CSV: "AHEAD=64"            */
    const char *variable;               /* NULL: none                        */
    char value[24];
} settings_one;

typedef enum {
    SETTINGS_MEMBERS, SETTINGS_STRANGERS, SETTINGS_ADDS, SETTINGS_VERBS
} settings_verb;

extern const char *const settings_verbs[SETTINGS_VERBS];

/* What is asked, and how much. */
typedef struct {
    const char *kind;
    double      rate;
    uint64_t    bytes;                  /* of the image, at most             */
    size_t      asked, rounds;          /* lookups a sample, samples at least*/
    double      seconds;                /* more samples until they are over  */
    bool        adds;                   /* measure them, where there are any */
} settings_subject;

/* What the numbers are of, and which verbs there are. */
typedef struct {
    bench_case of;
    bool       adds;
} settings_measured;

/* Measure all verbs under the n settings: each number goes to the table under
 * "VERB NAME", nanoseconds a key. */
settings_measured settings_measure(const settings_subject *subject,
                                   const settings_one *settings, size_t n);

/* What the library does by itself, as a process of its own is told; it leaves
 * this one undecided. */
bly_processor_t settings_processor(void);

#endif /* BENCH_SETTINGS_H */
