/* dedup.h - what the files of `bloomery-mpi dedup` share.
 *
 * From the bottom up:
 *
 *      volume.c     what rounds cost and leave over, by formula
 *      rounds.c     hashes that no other line can have drop out
 *      verify.c     the keys that are left, compared byte by byte
 *      cmd_dedup.c  the command
 */
#ifndef CLUSTER_DEDUP_H
#define CLUSTER_DEDUP_H

#include "mpi/cluster.h"

/* ==== volume.c ========================================================== */

/* Bits of a number in a coded list that takes a share p of its range. */
double volume_gap(double p);

/* Bits of the answer to a value, when a share c of the answers is yes. */
double volume_answer(double c);

/* Which share of elements a round leaves over: `repeated` of them are, and f
 * values come to a position. */
double volume_left(double repeated, double f);

/* The f of the next round, if it saves anything; else 0. There are so many
 * elements (not 0), and one that is left in the end costs key_bits. */
double volume_plan(double ranks, double elements, double repeated,
                   double key_bits);

/* The next round where no key is sent in the end, and how far it goes. */
typedef struct {
    double f;
    bool   last;                /* it leaves no more than the rate         */
} volume_next;

/* The cheapest next round of those that leave over no more than the share
 * `rate` of unique elements, with at most `more` after this one. `alone`: the
 * last of them must do that by itself. */
volume_next volume_plan_rate(double ranks, double elements, double repeated,
                             double rate, bool alone, unsigned more);

/* ==== rounds.c ========================================================== */

enum { ROUNDS_MOST = 6 };

/* What ends the rounds: what a key that is left costs then, in bits; or, with a
 * rate above 0, the share of keys that may be taken for repeated ones, and of
 * which: of those that come once, or, for the first of each, of all. */
typedef struct {
    double key_bits, rate;
    bool   first;
} rounds_goal;

/* What a round was like, over all ranks. */
typedef struct {
    double   f;                 /* values for each position of the filter  */
    uint64_t positions;
    uint64_t elements, left;    /* different hashes of each rank, summed   */
    uint64_t values;            /* sent to other ranks                     */
    uint64_t value_bytes, answer_bytes;
    double   value_bits;        /* a value should take                     */
    double   answer_bits;
    double   chance;            /* share of positions that any rank has    */
    double   lost;              /* first ones that were taken for later    */
} rounds_about;

/* The hashes of this rank's keys: those that are still in doubt. */
typedef struct {
    uint64_t *hashes;           /* sorted, each twice at most              */
    size_t    n, room;
    unsigned  steps;            /* how often they were mixed               */
    size_t   *starts;           /* where hashes with the same top bits do  */
    unsigned  bits;
    size_t    rounds;
    rounds_about about[ROUNDS_MOST];
    double   lost;              /* errors to be expected, with a rate      */
    unsigned char *met;         /* a bit for each hash, for rounds_again   */
} rounds;

void rounds_add(rounds *r, uint64_t hash);
void rounds_free(rounds *r);

/* Let hashes drop out that are the only ones of their kind, as long as that
 * saves communication, or until the rate is reached. Collective. */
void rounds_run(rounds *r, const rounds_goal *goal);

/* Its steps. All hashes were added: */
void rounds_begin(rounds *r);

/* One round, by a filter of so many positions, of which owners have ranges of
 * the same size, but for the last ones. Those that are left are the hashes that
 * another rank has too, by this filter; or an `earlier` one, and then, twice,
 * also those that this rank has several times and no earlier one. How many of
 * those that are left their rank has twice, summed. Collective. */
uint64_t rounds_one(rounds *r, uint64_t positions, bool earlier);

/* After rounds_run: is the key with this hash still in doubt? */
bool rounds_doubt(const rounds *r, uint64_t hash);

/* After rounds_run for the first of each: does the next line, which has a key
 * with this hash, come again? */
bool rounds_again(rounds *r, uint64_t hash);

/* ==== verify.c ========================================================== */

/* What is wanted of lines. */
typedef struct {
    bool count, repeated, unique;
} verify_want;

typedef struct verify verify;

verify *verify_open(const verify_want *want, const bly_filter *hasher);
void    verify_close(verify *s);

/* The key of the next line that is in doubt. */
void verify_add(verify *s, uint64_t hash, bly_key key);

/* Compare all that were added by all ranks. Collective. */
void verify_run(verify *s);

/* Different keys that each rank has sent, summed over all: how many there were,
 * those of them that two lines or more have, and those that a rank before has
 * sent already. Collective. */
typedef struct {
    uint64_t sent, repeated, again;
} verify_tally;

verify_tally verify_sum_up(const verify *s);

/* The decision on the next line, in the same order: is it to be printed, and
 * how many are there? */
bool verify_next(verify *s, uint64_t hash, uint64_t *count);

/* Is a line wanted that is the first of so many? */
bool verify_wanted(const verify_want *want, uint64_t count);

#endif
