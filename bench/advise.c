/* advise.c - checks the advice: the first choice of bly_advise, compared with
 * every suitable kind, built and measured.
 *
 *      advise [COSTS]
 *
 * For each need on a grid, the ranking is made from the library's own costs and
 * from those in the file. Then every suitable kind is built with that many keys
 * at that rate and queried: those of the ranking, and each with every word of
 * its options. The score is the quantity that the aim minimises. The first
 * choice's measured score, over the best measured score, must be at most
 * ADVISE_BOUND. Two kinds are measured again in turn before they are compared,
 * and the smallest times count. Exit status 1 if the bound is exceeded by the
 * costs of the file, or, without a file, by the library's own. Takes some
 * minutes; best on an idle machine.
 */
#include "bench.h"
#include "filters/costs.h"

#include <bloomery.h>
#include <bloomery/advice.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ADVISE_BOUND 1.2

enum { ADVISE_TAKEN = 2048, ADVISE_AGAIN = 3, ADVISE_CANDIDATES = 256 };

/* Sizes from cached to far beyond the cache, rates from 1e-1 to 1e-6, each
 * share and each ability. */
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
                              .fixed = true } },
    { "fixed, small",       { 1000000, .rate = 0.001, .present = 0.5,
                              .fixed = true,
                              .aim = BLY_AIM_SMALL } },
    { "remove",             { 1000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_REMOVE } },
    { "remove, count",      { 300000, .rate = 1e-5, .present = 0.5,
                              .can = BLY_CAN_REMOVE | BLY_CAN_COUNT } },
    { "remove, merge",      { 1000000, .rate = 0.001, .present = 0.5,
                              .can = BLY_CAN_REMOVE | BLY_CAN_UNITE } },
    { "grow",               { 1000000, .rate = 0.01,
                              .can = BLY_CAN_GROW } },
    { "a stream",           { 1000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_FORGET } },
    { "labels",             { 100000, .rate = 0.001, .present = 1,
                              .can = BLY_CAN_LABEL } },
    { "fixed, labels",      { 1000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_LABEL, .fixed = true } },
    { "many threads",       { 5000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_SHARE } },
    { "tiny",               { 10000, .rate = 0.01, .present = 0.5 } },
    { "tiny, absent",       { 10000, .rate = 1e-4 } },
    { "tiny, fixed, small", { 10000, .rate = 0.001, .present = 0.5,
                              .fixed = true,
                              .aim = BLY_AIM_SMALL } },
    { "tiny, remove",       { 10000, .rate = 0.01, .present = 1,
                              .can = BLY_CAN_REMOVE } },
    { "one in ten",         { 1000000, .rate = 0.1, .present = 0.5 } },
    { "one in ten, small",  { 100000, .rate = 0.1, .present = 0.5,
                              .aim = BLY_AIM_SMALL } },
    { "one in a million",   { 1000000, .rate = 1e-6, .present = 0.5 } },
    { "fixed, absent",      { 1000000, .rate = 1e-6,
                              .fixed = true } },
    { "fixed, fast",        { 100000, .rate = 1e-4, .present = 1,
                              .fixed = true,
                              .aim = BLY_AIM_FAST } },
    { "huge",               { 30000000, .rate = 0.01, .present = 0.5 } },
    { "huge, fixed, small", { 30000000, .rate = 0.01,
                              .fixed = true,
                              .aim = BLY_AIM_SMALL } },
    { "huge, remove",       { 30000000, .rate = 0.01,
                              .can = BLY_CAN_REMOVE } },
    { "huge, in a limit",   { 30000000, .rate = 0.01, .present = 0.5,
                              .memory = 36500000 } },
    { "count",              { 1000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_COUNT } },
    { "merge",              { 1000000, .rate = 0.01,
                              .can = BLY_CAN_UNITE } },
    { "grow, small",        { 1000000, .rate = 0.001, .present = 1,
                              .can = BLY_CAN_GROW,
                              .aim = BLY_AIM_SMALL } },
    { "a stream, absent",   { 100000, .rate = 0.001,
                              .can = BLY_CAN_FORGET } },
    { "few labels",         { 100000, .rate = 0.001, .present = 1,
                              .can = BLY_CAN_LABEL, .label_most = 4 } },
    { "labels, absent",     { 1000000, .rate = 0.01,
                              .can = BLY_CAN_LABEL } },
    { "exact",              { 100000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_EXACT, .fixed = true } },
    { "on disk",            { 1000000, .rate = 0.01, .present = 0.5,
                              .can = BLY_CAN_PAGE } },
    { "one in two",         { 1000000, .rate = 0.5, .present = 0.5 } },
    { "one in two, absent", { 100000, .rate = 0.5 } },
    { "three in a hundred", { 1000000, .rate = 0.03, .present = 0.5 } },
    { "between, remove",    { 1000000, .rate = 5e-4, .present = 0.5,
                              .can = BLY_CAN_REMOVE } },
    { "wide, remove",       { 100000, .rate = 2e-4, .present = 0.5,
                              .can = BLY_CAN_REMOVE } },
    { "wider, remove",      { 5000000, .rate = 3e-5, .present = 0.5,
                              .can = BLY_CAN_REMOVE } },
    { "wide, in a limit",   { 1000000, .rate = 2e-4, .present = 0.5,
                              .memory = 2125000 } },
    { "between, fixed",     { 1000000, .rate = 3e-4, .present = 0.5,
                              .fixed = true,
                              .aim = BLY_AIM_SMALL } },
    { "between, grow",      { 1000000, .rate = 2e-4, .present = 0.5,
                              .can = BLY_CAN_GROW,
                              .aim = BLY_AIM_SMALL } },
    { "between, count",     { 300000, .rate = 3e-5, .present = 0.5,
                              .can = BLY_CAN_COUNT } },
    { "huge, fast",         { 30000000, .rate = 0.01, .present = 0.5,
                              .aim = BLY_AIM_FAST } },
};

enum { ADVISE_GRID = sizeof advise_grid / sizeof *advise_grid };

/* ---- Measurements ------------------------------------------------------- */

static struct {
    char     kind[48];
    uint64_t keys;
    double   rate;
    bool     built;
    bly_cost_point point;
} advise_taken[ADVISE_TAKEN];

static costs_room *advise_room;

/* Returns the index of this filter's times, measuring them if missing. */
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
    bly_cost_point p;
    if (costs_point(&p, advise_room, advise_taken[i].kind, advise_taken[i].keys,
                    advise_taken[i].rate))
        costs_least(&advise_taken[i].point, &p);
}

/* The grid has shares of 0, 1 and a half only. */
static double advise_time(const bly_cost_point *p, double present)
{
    return present < 0.25 ? p->absent : present > 0.75 ? p->present : p->mixed;
}

/* ---- Candidates --------------------------------------------------------- */

typedef struct {
    char   kind[48];
    double bits;
} advise_candidate;

static advise_candidate advise_list[ADVISE_CANDIDATES];
static size_t           advise_listed;

/* Returns the index of this kind in the list, adding it if new. */
static size_t advise_candidate_at(const char *kind, double bits)
{
    size_t i = 0;
    for (; i < advise_listed; i++)
        if (strcmp(advise_list[i].kind, kind) == 0)
            return i;
    if (i == ADVISE_CANDIDATES)
        bench_stop("advise", "there are more kinds than its table has room");
    snprintf(advise_list[i].kind, sizeof advise_list[i].kind, "%s", kind);
    advise_list[i].bits = bits;
    return advise_listed++;
}

/* Adds a kind with a word for an option, if rate and memory allow it. */
static void advise_try(const char *kind, const char *option, const char *word,
                       size_t length, const bly_need *need)
{
    char text[48];
    bly_plan_t plan;
    bly_spec spec = { .capacity = need->capacity, .rate = need->rate };
    snprintf(text, sizeof text, "%s:%s=%.*s", kind, option, (int)length, word);
    if (bly_plan(&plan, text, &spec) == BLY_OK
        && plan.rate <= need->rate * (1 + 1e-5)
        && (need->memory == 0 || plan.bytes <= need->memory)
        && ((need->can & BLY_CAN_LABEL) == 0 || plan.label_most
            >= (need->label_most > 0 ? need->label_most : 255)))
        advise_candidate_at(text, plan.bits_per_key);
}

/* Tries all words of all options: "one | two | three". */
static void advise_words(const bly_kind_info *kind, const bly_need *need)
{
    const bly_option_info *o;
    for (size_t i = 0; (o = kind->options[i]) != NULL; i++)
        if (strstr(o->range, " | ") != NULL)
            for (const char *at = o->range; *at != '\0'; ) {
                size_t length = strcspn(at, " |");
                if (strlen(o->standard) != length
                    || memcmp(o->standard, at, length) != 0)
                    advise_try(kind->name, o->name, at, length, need);
                at += length;
                at += strspn(at, " |");
            }
}

/* Lists the suitable kinds of the ranking, then their variants with other
 * words, except of an exact kind, whose size no plan knows. */
static void advise_candidates(const bly_ranking *all, const bly_need *need)
{
    bly_need wide = *need;
    bly_ranking *any;
    const bly_advice *a;

    advise_listed = 0;
    wide.memory = 0;
    for (size_t i = 0; (a = bly_ranking_at(all, i)) != NULL && a->fits; i++)
        advise_candidate_at(a->kind, a->plan.bits_per_key);
    if ((need->can & BLY_CAN_EXACT) != 0 || bly_advise(&any, &wide) < 0)
        return;
    for (size_t i = 0; (a = bly_ranking_at(any, i)) != NULL && a->fits; i++)
        if (strchr(a->kind, ':') == NULL)
            advise_words(bly_kind_find(a->kind), need);
    bly_ranking_free(any);
}

static double advise_score(const advise_candidate *c, size_t taken,
                           const bly_need *need)
{
    double ns = advise_time(&advise_taken[taken].point, need->present);
    switch (need->aim) {
    case BLY_AIM_FAST:    return ns * pow(c->bits, 1.0 / 8);
    case BLY_AIM_SMALL:   return c->bits * pow(ns, 1.0 / 16);
    case BLY_AIM_BALANCE: break;
    }
    return ns * cbrt(c->bits);
}

/* Returns the candidate that measures best. */
static size_t advise_best(const bly_need *need)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < advise_listed; i++) {
        size_t at = advise_find(advise_list[i].kind, need);
        double score = advise_taken[at].built
                     ? advise_score(&advise_list[i], at, need) : INFINITY;
        if (score < least) {
            least = score;
            best = i;
        }
    }
    return best;
}

/* ---- A single need ------------------------------------------------------ */

/* Repeats measuring the first choice and the best candidate until the best one
 * stays the same. */
static size_t advise_settle(const bly_need *need)
{
    size_t best = advise_best(need);
    for (size_t round = 0; best != 0 && round < ADVISE_AGAIN; round++) {
        advise_again(advise_find(advise_list[0].kind, need));
        advise_again(advise_find(advise_list[best].kind, need));
        best = advise_best(need);
    }
    return best;
}

/* Measures a need and returns the ratio. */
static double advise_need_one(const char *name, const char *whose,
                              const bly_need *need)
{
    bly_ranking *all;
    if (bly_advise(&all, need) < 0)
        bench_stop(name, bly_why());
    const bly_advice *advice = bly_ranking_at(all, 0);
    if (!advice->fits)
        bench_stop(name, "no kind fits");
    advise_candidates(all, need);
    size_t best = advise_settle(need);
    size_t first = advise_find(advise_list[0].kind, need);
    size_t at = advise_find(advise_list[best].kind, need);
    if (!advise_taken[first].built)
        bench_stop(name, "the first advice cannot be built");
    double ratio = advise_score(&advise_list[0], first, need)
                 / advise_score(&advise_list[best], at, need);
    printf("%-18s %8" PRIu64 " %6g %-8s %3zu  %-20s %6.2f %6.2f %6.2f  "
           "%-22s %6.2f %6.2f %6.2f%s\n", name, need->capacity, need->rate,
           whose, advise_listed, advice->kind, advice->ns_lookup,
           advise_time(&advise_taken[first].point, need->present),
           advise_list[0].bits, advise_list[best].kind,
           advise_time(&advise_taken[at].point, need->present),
           advise_list[best].bits, ratio,
           ratio > ADVISE_BOUND ? "  BROKEN" : "");
    fflush(stdout);
    bly_ranking_free(all);
    return ratio;
}

/* ---- All needs ---------------------------------------------------------- */

typedef struct {
    const char      *whose;
    const bly_costs *costs;
    double           worst;
    size_t           broken;
} advise_side;

static void advise_grid_one(size_t i, advise_side *side)
{
    bly_need need = advise_grid[i].need;
    need.costs = side->costs;
    double ratio = advise_need_one(advise_grid[i].name, side->whose, &need);
    side->worst = ratio > side->worst ? ratio : side->worst;
    side->broken += ratio > ADVISE_BOUND;
}

int main(int argc, char **argv)
{
    static costs_table costs;
    const char *wrong = argc > 1 ? costs_read(&costs, argv[1]) : NULL;
    advise_side side[] = { { "built in", NULL, 1, 0 },
                           { "measured", &costs.costs, 1, 0 } };
    size_t sides = argc > 1 ? 2 : 1;

    if (wrong != NULL)
        bench_stop(argv[1], wrong);
    advise_room = costs_open();
    if (advise_room == NULL)
        bench_stop("advise", "no memory");
    printf("%-18s %8s %6s %-8s %3s  %-20s %6s %6s %6s  %-22s %6s %6s %6s\n",
           "need", "keys", "rate", "costs", "of", "first advice", "told", "ns",
           "bits", "best measured", "ns", "bits", "ratio");
    for (size_t i = 0; i < ADVISE_GRID; i++)
        for (size_t j = 0; j < sides; j++)
            advise_grid_one(i, &side[j]);
    for (size_t j = 0; j < sides; j++)
        printf("costs %s: worst ratio %.2f, to be at most %.2f: %zu of %d "
               "needs broken\n", side[j].whose, side[j].worst, ADVISE_BOUND,
               side[j].broken, (int)ADVISE_GRID);
    costs_close(advise_room);
    return side[sides - 1].broken > 0;
}
