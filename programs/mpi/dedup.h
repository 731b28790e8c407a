/* dedup.h - declarations shared by the files of `bloomery-mpi dedup`.
 *
 * From the bottom up:
 *
 *     volume.c     predicted cost and effect of rounds
 *     rounds.c     removes hashes that are unique
 *     verify.c     compares the remaining keys byte by byte
 *     cmd_dedup.c  the command
 */
#ifndef CLUSTER_DEDUP_H
#define CLUSTER_DEDUP_H

#include "mpi/cluster.h"

/* ==== volume.c ========================================================== */

/* Returns the bits per number of a coded list that takes a share p of its
   range. */
double volume_gap(double p);

/* Returns the bits per answer if a share c of the answers is yes. */
double volume_answer(double c);

/* Returns the share of elements that a round leaves, if a share `repeated` is
 * repeated and there are f values per position. */
double volume_left(double repeated, double f);

/* Returns the f of the next round, or 0 if no round saves anything. There are
 * `elements` (not 0), and each one left at the end costs key_bits. */
double volume_plan(double ranks, double elements, double repeated,
                   double key_bits);

/* The next round if no keys are sent, and its effect. */
typedef struct {
    double f;
    bool   last;                /* whether it reaches the rate             */
} volume_next;

/* Returns the cheapest next round that leads to at most the share `rate` of
 * unique elements, with at most `more` rounds after it. With `alone`, the last
 * round must reach the rate by itself. */
volume_next volume_plan_rate(double ranks, double elements, double repeated,
                             double rate, bool alone, unsigned more);

/* ==== rounds.c ========================================================== */

enum { ROUNDS_MOST = 6 };

/* When to end the rounds: the cost in bits of a key that is left; or, if the
 * rate is above 0, the share of keys that may be taken for repeated, among
 * unique keys or, for the first of each, among all. */
typedef struct {
    double key_bits, rate;
    bool   first;
} rounds_goal;

/* Statistics of a round, over all ranks. */
typedef struct {
    double   f;                 /* values per position of the filter       */
    uint64_t positions;
    uint64_t elements, left;    /* sums of each rank's distinct hashes     */
    uint64_t values;            /* sent to other ranks                     */
    uint64_t value_bytes, answer_bytes;
    double   value_bits;        /* predicted bits per value                */
    double   answer_bits;
    double   chance;            /* share of positions that are taken       */
    double   lost;              /* first keys taken for later ones         */
} rounds_about;

/* The hashes of this rank's keys that are still in doubt. */
typedef struct {
    uint64_t *hashes;           /* sorted, each at most twice              */
    size_t    n, room;
    unsigned  steps;            /* number of times they were mixed         */
    size_t   *starts;           /* index by their top bits                 */
    unsigned  bits;
    size_t    rounds;
    rounds_about about[ROUNDS_MOST];
    double   lost;              /* expected errors, if a rate is given     */
    unsigned char *met;         /* one bit per hash, for rounds_again      */
} rounds;

void rounds_add(rounds *r, uint64_t hash);
void rounds_free(rounds *r);

/* Removes unique hashes as long as that saves communication, or until the rate
 * is reached. Collective. */
void rounds_run(rounds *r, const rounds_goal *goal);

/* The steps of rounds_run, which follow when all hashes have been added: */
void rounds_begin(rounds *r);

/* Runs one round with a filter of `positions`, divided evenly among owners.
 * Keeps the hashes that another rank, or an `earlier` one, has too according to
 * this filter; with `earlier` also, twice, those that this rank has repeatedly
 * and no earlier one has. Returns the sum over all ranks of the hashes left
 * that their rank has twice. Collective. */
uint64_t rounds_one(rounds *r, uint64_t positions, bool earlier);

/* Returns whether the key with this hash is in doubt, after rounds_run. */
bool rounds_doubt(const rounds *r, uint64_t hash);

/* Returns whether the next line, whose key has this hash, is a repeat, after
 * rounds_run for the first of each. */
bool rounds_again(rounds *r, uint64_t hash);

/* ==== verify.c ========================================================== */

/* The choice of lines to print. */
typedef struct {
    bool count, repeated, unique;
} verify_want;

typedef struct verify verify;

verify *verify_open(const verify_want *want, const bly_filter *hasher);
void    verify_close(verify *s);

/* Adds the key of the next line in doubt. */
void verify_add(verify *s, uint64_t hash, bly_key key);

/* Compares all keys that all ranks have added. Collective. */
void verify_run(verify *s);

/* Sums over all ranks of the distinct keys sent: all of them, those of two or
 * more lines, and those that an earlier rank has sent. Collective. */
typedef struct {
    uint64_t sent, repeated, again;
} verify_tally;

verify_tally verify_sum_up(const verify *s);

/* Returns whether to print the next line, in the order of verify_add, and how
 * often its key occurs. */
bool verify_next(verify *s, uint64_t hash, uint64_t *count);

/* Returns whether to print the first line of a key with this count. */
bool verify_wanted(const verify_want *want, uint64_t count);

#endif
