/* advise.c - is the advice good? What bly_advise puts first, against every
 * kind that fits, built and measured.
 *
 *      advise [COSTS]
 *
 * On a grid of needs the ranking is made from the costs in the file (default:
 * the library's own), and then every kind of it that fits is built with that
 * many keys at that rate, and asked. What is held to at most ADVISE_BOUND is
 * the measured score of the first advice, which is what its aim makes least,
 * over the best measured score. Before two are compared they are measured
 * again in turn, and the least times count. Exit status 1 where the bound is
 * broken. A quarter of an hour for all; best on an idle machine. Floor 7:
 * <bloomery.h>, bench.h and the costs of the command.
 */
#include "bench.h"
#include "costs.h"

#include <bloomery.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ADVISE_BOUND 1.2

enum { ADVISE_TAKEN = 256, ADVISE_AGAIN = 3 };

static const struct {
    const char *name;
    bly_need    need;
} advise_grid[] = {
    { "a set",              { 1000000, .rate = 0.01, .present = 0.5 } },
    { "absent keys",        { 1000000, .rate = 0.001 } },
    { "present keys",       { 100000, .rate = 0.001, .present = 1 } },
    { "a small rate",       { 300000, .rate = 1e-5, .present = 0.5 } },
    { "a large set",        { 5000000, .rate = 0.01, .present = 0.5 } },
    { "fast",               { 1000000, .rate = 0.001, .present = 0.5,
                              .aim = BLY_AIM_FAST } },
    { "in so much memory",  { 1000000, .rate = 0.01, .present = 0.5,
                              .memory = 1200000 } },
    { "fixed",              { 1000000, .rate = 0.01, .present = 0.5,
                              .needs = BLY_NEED_STATIC } },
    { "fixed, small",       { 1000000, .rate = 0.001, .present = 0.5,
                              .needs = BLY_NEED_STATIC,
                              .aim = BLY_AIM_SMALL } },
    { "remove",             { 1000000, .rate = 0.01, .present = 0.5,
                              .needs = BLY_NEED_REMOVE } },
    { "remove, count",      { 300000, .rate = 1e-5, .present = 0.5,
                              .needs = BLY_NEED_REMOVE | BLY_NEED_COUNT } },
    { "remove, merge",      { 1000000, .rate = 0.001, .present = 0.5,
                              .needs = BLY_NEED_REMOVE | BLY_NEED_MERGE } },
    { "grow",               { 1000000, .rate = 0.01,
                              .needs = BLY_NEED_GROW } },
    { "a stream",           { 1000000, .rate = 0.01, .present = 0.5,
                              .needs = BLY_NEED_STREAM } },
    { "labels",             { 100000, .rate = 0.001, .present = 1,
                              .needs = BLY_NEED_LABELS } },
    { "fixed, labels",      { 1000000, .rate = 0.01, .present = 0.5,
                              .needs = BLY_NEED_LABELS | BLY_NEED_STATIC } },
    { "many threads",       { 5000000, .rate = 0.01, .present = 0.5,
                              .needs = BLY_NEED_CONCURRENT } },
};

enum { ADVISE_GRID = sizeof advise_grid / sizeof *advise_grid };

/* ---- What was measured -------------------------------------------------- */

static struct {
    char     kind[48];
    uint64_t keys;
    double   rate;
    bool     built;
    bly_cost_point point;
} advise_taken[ADVISE_TAKEN];

static double advise_least(double a, double b)
{
    return a < b ? a : b;
}

static costs_room *advise_room;

/* Where this filter's times are; they are measured if there are none. */
static size_t advise_find(const char *kind, const bly_need *need)
{
    size_t i = 0;
    for (; i < ADVISE_TAKEN && advise_taken[i].kind[0] != '\0'; i++)
        if (strcmp(advise_taken[i].kind, kind) == 0
            && advise_taken[i].keys == need->capacity
            && fabs(advise_taken[i].rate / need->rate - 1) < 1e-9)
            return i;
    if (i == ADVISE_TAKEN)
        bench_stop("advise", "the grid is larger than its table");
    snprintf(advise_taken[i].kind, sizeof advise_taken[i].kind, "%s", kind);
    advise_taken[i].keys = need->capacity;
    advise_taken[i].rate = need->rate;
    advise_taken[i].built = costs_point(&advise_taken[i].point, advise_room,
                                        kind, need->capacity, need->rate);
    return i;
}

static void advise_again(size_t i)
{
    bly_cost_point p, *old = &advise_taken[i].point;
    if (!costs_point(&p, advise_room, advise_taken[i].kind,
                     advise_taken[i].keys, advise_taken[i].rate))
        return;
    old->present = advise_least(old->present, p.present);
    old->absent = advise_least(old->absent, p.absent);
    old->mixed = advise_least(old->mixed, p.mixed);
}

/* The grid asks for shares of 0, 1 and a half only. */
static double advise_time(const bly_cost_point *p, double present)
{
    return present < 0.25 ? p->absent : present > 0.75 ? p->present : p->mixed;
}

static double advise_score(size_t i, const bly_advice *a, const bly_need *need)
{
    double ns = advise_time(&advise_taken[i].point, need->present);
    double bits = a->plan.bits_per_key;
    switch (need->aim) {
    case BLY_AIM_FAST:    return ns * pow(bits, 1.0 / 16);
    case BLY_AIM_SMALL:   return bits * pow(ns, 1.0 / 16);
    case BLY_AIM_BALANCE: break;
    }
    return ns * cbrt(bits);
}

/* ---- One need ----------------------------------------------------------- */

/* Which of the fitting kinds measures best. */
static size_t advise_best(const bly_advice *all, const bly_need *need)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < BLY_ADVICE_MOST && all[i].fits; i++) {
        size_t at = advise_find(all[i].kind, need);
        double score = advise_score(at, &all[i], need);
        if (advise_taken[at].built && score < least) {
            least = score;
            best = i;
        }
    }
    return best;
}

/* The ratio; the two are measured until the same one stays the best. */
static double advise_need_one(const char *name, const bly_need *need)
{
    static bly_advice all[BLY_ADVICE_MOST];
    size_t first, at, best = 0;
    if (bly_advise(all, BLY_ADVICE_MOST, need) < 0)
        bench_stop(name, bly_why());
    if (!all[0].fits)
        bench_stop(name, "no kind fits");
    first = advise_find(all[0].kind, need);
    for (size_t round = 0; round < ADVISE_AGAIN; round++) {
        best = advise_best(all, need);
        if (best == 0)
            break;
        advise_again(first);
        advise_again(advise_find(all[best].kind, need));
    }
    best = advise_best(all, need);
    at = advise_find(all[best].kind, need);
    double ratio = advise_score(first, &all[0], need)
                 / advise_score(at, &all[best], need);
    printf("%-18s %9" PRIu64 " %7g  %-20s %6.2f %6.2f %7.2f  %-20s %6.2f "
           "%7.2f %6.2f%s\n", name, need->capacity, need->rate, all[0].kind,
           all[0].ns_lookup, advise_time(&advise_taken[first].point,
                                         need->present),
           all[0].plan.bits_per_key, all[best].kind,
           advise_time(&advise_taken[at].point, need->present),
           all[best].plan.bits_per_key, ratio,
           ratio > ADVISE_BOUND ? "  BROKEN" : "");
    fflush(stdout);
    return ratio;
}

int main(int argc, char **argv)
{
    static costs_table costs;
    const char *wrong = argc > 1 ? costs_read(&costs, argv[1]) : NULL;
    size_t broken = 0;
    double worst = 1;

    if (wrong != NULL)
        bench_stop(argv[1], wrong);
    advise_room = costs_open();
    if (advise_room == NULL)
        bench_stop("advise", "no memory");
    printf("%-18s %9s %7s  %-20s %6s %6s %7s  %-20s %6s %7s %6s\n", "need",
           "keys", "rate", "first advice", "told", "ns", "bits", "best measured",
           "ns", "bits", "ratio");
    for (size_t i = 0; i < ADVISE_GRID; i++) {
        bly_need need = advise_grid[i].need;
        need.costs = argc > 1 ? &costs.costs : NULL;
        double ratio = advise_need_one(advise_grid[i].name, &need);
        worst = ratio > worst ? ratio : worst;
        broken += ratio > ADVISE_BOUND;
    }
    printf("worst ratio %.2f, to be at most %.2f: %zu of %d needs broken\n",
           worst, ADVISE_BOUND, broken, (int)ADVISE_GRID);
    costs_close(advise_room);
    return broken > 0;
}
