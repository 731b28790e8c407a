/* settings.h - queries one table under several settings of the environment.
 *
 * settings.c explains how.
 */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "bench.h"

#include <bloomery.h>

enum { SETTINGS_MAX = 32 };

/* A variable of the environment and its value; without a variable, the
 * library's default. */
typedef struct {
    char name[16];                      /* in the CSV: "AHEAD=64"            */
    const char *variable;               /* or NULL                           */
    char value[24];
} settings_one;

typedef enum {
    SETTINGS_MEMBERS, SETTINGS_STRANGERS, SETTINGS_ADDS, SETTINGS_VERBS
} settings_verb;

extern const char *const settings_verbs[SETTINGS_VERBS];

/* The subject, and the amount of work. */
typedef struct {
    const char *kind;
    double      rate;
    uint64_t    bytes;                  /* largest image                     */
    size_t      asked, rounds;          /* per sample; least number of them  */
    double      seconds;                /* more samples until this time      */
    bool        adds;                   /* measure adds, if possible         */
} settings_subject;

/* The description of the numbers, and the verbs measured. */
typedef struct {
    bench_case of;
    bool       adds;
} settings_measured;

/* Measures all verbs under the n settings: each number goes to the table under
 * "VERB NAME", in nanoseconds per key. */
settings_measured settings_measure(const settings_subject *subject,
                                   const settings_one *settings, size_t n);

/* Returns the library's own choices, found by another process so that this one
 * remains undecided. */
bly_processor_t settings_processor(void);

#endif /* BENCH_SETTINGS_H */
