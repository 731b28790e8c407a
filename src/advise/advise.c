/* advise.c - which kind for which need: the kinds ranked by what they would
 * cost, and why.
 *
 * Nothing is built or measured here: sizes come from each kind's
 * plan, times from a table of what filters of known size took (bly_costs), and
 * what a kind can do from the slots it fills.
 *
 * THE COST OF A LOOKUP
 *
 * With n keys at rate p, a filter of kind K and S bytes, of which a lookup
 * touches L lines:
 *
 *      t = work(p) + L / L(1 %) * wait(S) + L * beyond(S).
 *
 * work(p) is the time in the nearest cache, in straight lines between the
 * logarithms of the five rates that were measured, but for a kind whose batch
 * goes another way between two of them; it does not fall before the first of
 * them, as hardly any kind gets quicker there. wait(S) is how much more the
 * kind took at 1 % when it was larger, in straight lines between the logarithms
 * of the three sizes. beyond(S), for what is larger still, is how much more a
 * random line of S bytes costs than one of the largest of the three: this is of
 * the machine and the same for all kinds. Each question (a key that is there,
 * one that is not, both mixed) and adding have numbers of their own. A share s
 * of present keys costs
 *
 *      s P + (1 - s) A + 4 s (1 - s) (M - (P + A) / 2),
 *
 * where M, of equal shares, is more than the mean of P and A for the kinds
 * whose way depends on the answer: the processor cannot guess it then.
 */
#include "bloomery/advice.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advise/costs.h"
#include "base/memory.h"
#include "base/status.h"
#include "verbs/registry.h"

/* ==== Candidates ========================================================== */

/* Options worth a place of their own in the ranking. Others change what a
 * kind is for, or are better chosen by the kind itself. */
static const char *const advise_variants[] = {
    "cuckoo:sorted=yes", "fuse:arity=4",
    "ribbon:form=homogeneous", "scalable:of=blocked", "scalable:of=split",
    "scalable:of=cuckoo", "twin:of=blocked", "aging:of=split",
    "aging:of=standard", "layered:of=split", "attenuated:of=blocked",
    "attenuated:of=split",
};

enum { ADVISE_VARIANTS = sizeof advise_variants / sizeof *advise_variants };

/* Returns the kind of a name with options. */
static const bly_kind *advise_kind(const char *text)
{
    return registry_named(text);
}

/* Returns whether this is `counting`, which has a special plan for a threshold.
 */
static bool advise_planned(const char *text)
{
    return strcspn(text, ":") == strlen("counting")
        && strncmp(text, "counting", strlen("counting")) == 0;
}

/* ==== Abilities ========================================================= */

/* Restrictions that no slot shows: kinds that have an ability only in part. The
 * restriction excludes the kind when the ability is needed, or is reported with
 * it. It does not apply if at most `counts` occurrences are needed. */
static const struct {
    const char *kind;
    uint64_t    need;
    bool        excludes;
    uint64_t    counts;
    const char *text;
} advise_limits[] = {
    { "deletable", BLY_CAN_REMOVE, true, 0,
      "some keys cannot be removed (BLY_EUNSAFE)" },
    { "twin", BLY_CAN_REMOVE, true, 0,
      "a removed key cannot be added again (BLY_EREMOVED)" },
    { "dleft", BLY_CAN_COUNT, true, 2, "it counts only to 2" },
    { "layered", BLY_CAN_COUNT, true, 7, "it counts only to 7" },
    { "cuckoo", BLY_CAN_COUNT, true, 8, "it takes a key at most eight times" },
    { "counting", BLY_CAN_COUNT, false, UINT64_MAX, "counts to 14" },
    { "expandable", BLY_CAN_GROW, false, 0,
      "while it grows from nothing, adds take up to six times as long" },
    { "variable", BLY_CAN_COUNT, false, 15, "counts to 15" },
    { "cascade", BLY_CAN_EXACT, false, 0,
      "exact for its members and the others it is built from; the rate is that "
      "of all other keys" },
    { "egh", BLY_CAN_EXACT, false, 0,
      "exact except for equal 64-bit hashes; with decimal or identity, "
      "integers have none" },
};

enum { ADVISE_LIMITS = sizeof advise_limits / sizeof *advise_limits };

/* Does a limit matter to who asks for so many times (0: for as many as there
 * are), and does it then exclude the kind? A limit that is only told beside the
 * kind excludes it where more is asked for. */
static bool advise_matters(size_t i, uint64_t times, bool excludes)
{
    if (times == 0 || advise_limits[i].need != BLY_CAN_COUNT)
        return advise_limits[i].excludes == excludes;
    return excludes && times > advise_limits[i].counts;
}

/* Returns the text for any of these needs, or NULL. */
static const char *advise_limit(const bly_kind *kind, uint64_t needs,
                                uint64_t times, bool excludes)
{
    for (size_t i = 0; i < ADVISE_LIMITS; i++)
        if ((advise_limits[i].need & needs) != 0
            && advise_matters(i, times, excludes)
            && strcmp(advise_limits[i].kind, kind->name) == 0)
            return advise_limits[i].text;
    return NULL;
}

/* Every ability, with the text for a kind that lacks it. */
static const struct {
    uint64_t    flag;
    const char *word, *lack;
} advise_abilities[] = {
#define ADVISE_ABILITY(name, bit, word, lack) { BLY_CAN_##name, word, lack },
    BLY_ABILITY_MAP(ADVISE_ABILITY)
#undef ADVISE_ABILITY
};

/* Abilities whose lack is reported for each kind: those that people choose by.
 */
static const uint64_t ADVISE_TOLD = BLY_CAN_REMOVE | BLY_CAN_COUNT
    | BLY_CAN_GROW | BLY_CAN_UNITE | BLY_CAN_FORGET | BLY_CAN_LABEL
    | BLY_CAN_EXACT | BLY_CAN_PAGE | BLY_CAN_SHARE;

enum { ADVISE_KNOWN = (1 << BLY_ABILITIES) - 1, ADVISE_LABEL_MOST = 255,
       ADVISE_UNKNOWN = 1000000 };      /* keys to compare at               */

/* Returns the abilities of the need; counting and growing are some. */
static uint64_t advise_needs(const bly_need *need)
{
    return need->can | (need->times > 0 ? BLY_CAN_COUNT : 0)
         | (need->unknown ? BLY_CAN_GROW : 0);
}

/* Returns why a kind does not suit this need at any size, or NULL. */
static const char *advise_excluded(const bly_kind *kind, const bly_need *need)
{
    uint64_t needs = advise_needs(need), lacks = needs & ~registry_can(kind);
    if (need->core && strcmp(registry_tier(kind), "core") != 0)
        return "it is not a core kind";
    if (kind->add == NULL && !need->fixed)
        return "it needs all its keys at once: only for a static set";
    if (kind->forgets && (needs & BLY_CAN_FORGET) == 0)
        return "it forgets old keys: only for a stream";
    if (KIND_HAS(kind, building, separate) && (needs & BLY_CAN_EXACT) == 0)
        return "it is built from the other keys as well: only for an exact set";
    if (advise_limit(kind, needs, need->times, true) != NULL)
        return advise_limit(kind, needs, need->times, true);
    if (kind->growing == NULL && kind->resizing != NULL
        && (needs & BLY_CAN_GROW) != 0)
        return "it grows only when it is resized, and then its rate grows too";
    for (size_t i = 0; i < BLY_ABILITIES; i++)
        if ((lacks & advise_abilities[i].flag) != 0)
            return advise_abilities[i].lack;
    return NULL;
}

static void advise_list(char *list, size_t room, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used == 0 ? "" : ", ", word);
}

static void advise_lacks(bly_advice *a, const bly_kind *kind)
{
    if (kind->add == NULL)
        advise_list(a->lacks, sizeof a->lacks, "add");
    uint64_t can = registry_can(kind);
    for (size_t i = 0; i < BLY_ABILITIES; i++) {
        uint64_t flag = advise_abilities[i].flag;
        char full[24];
        snprintf(full, sizeof full, "full %s", advise_abilities[i].word);
        if ((ADVISE_TOLD & flag) != 0 && (can & flag) == 0)
            advise_list(a->lacks, sizeof a->lacks, advise_abilities[i].word);
        else if (advise_limit(kind, flag & ADVISE_TOLD, 0, true) != NULL)
            advise_list(a->lacks, sizeof a->lacks, full);
    }
}

/* ==== Costs ============================================================= */

/* The costs searched: the library's own, or a caller's. */
typedef struct {
    const bly_costs *given;             /* NULL: the library's               */
    size_t           lines, kinds;
} advise_costs;

static const bly_line_cost *advise_line_at(const advise_costs *c, size_t i)
{
    return c->given != NULL ? c->given->line[i] : &advise_line_costs[i];
}

static const bly_cost *advise_cost_at(const advise_costs *c, size_t i)
{
    return c->given != NULL ? c->given->kind[i] : &advise_kind_costs[i];
}

static advise_costs advise_costs_of(const bly_costs *given)
{
    if (given != NULL)
        return (advise_costs){ given, given->lines, given->kinds };
    return (advise_costs){
        NULL, sizeof advise_line_costs / sizeof *advise_line_costs,
        sizeof advise_kind_costs / sizeof *advise_kind_costs,
    };
}

static const struct { uint64_t keys; double rate; } advise_points[] = {
#define ADVISE_POINT(keys, rate) { keys, rate },
    BLY_COST_POINTS(ADVISE_POINT)
#undef ADVISE_POINT
};

/* The points that differ in rate, then those that differ in size; the first one
 * belongs to both. */
enum { ADVISE_POINTS = sizeof advise_points / sizeof *advise_points,
       ADVISE_RATES = 5, ADVISE_SIZES = ADVISE_POINTS - ADVISE_RATES + 1,
       ADVISE_QUESTIONS = sizeof(bly_cost_point) / sizeof(double) };

/* Returns the cost of accessing a random line in that many bytes. */
static double advise_line(const advise_costs *costs, double bytes)
{
    size_t i = 0;
    while (i + 1 < costs->lines
           && (double)advise_line_at(costs, i + 1)->bytes <= bytes)
        i++;
    const bly_line_cost *at = advise_line_at(costs, i);
    if (i + 1 == costs->lines || bytes <= (double)at->bytes)
        return at->ns;
    const bly_line_cost *next = advise_line_at(costs, i + 1);
    return at->ns + (next->ns - at->ns) * log2(bytes / (double)at->bytes)
                    / log2((double)next->bytes / (double)at->bytes);
}

/* A measured kind; times are in the order of bly_cost_point. */
typedef struct {
    double bytes[ADVISE_SIZES], lines[ADVISE_QUESTIONS];
    unsigned way[ADVISE_RATES];
    double work[ADVISE_RATES][ADVISE_QUESTIONS];
    double wait[ADVISE_SIZES][ADVISE_QUESTIONS];
} advise_fit;

/* Returns the cache lines of each kind of query. */
static void advise_lines(double *lines, const bly_plan_t *plan)
{
    lines[0] = lines[3] = fmax(plan->lines_present, 1);
    lines[1] = fmax(plan->lines_absent, 1);
    lines[2] = (lines[0] + lines[1]) / 2;
}

static const bly_cost *advise_cost(const advise_costs *costs, const char *kind,
                                   size_t length)
{
    for (size_t i = 0; i < costs->kinds; i++) {
        const bly_cost *cost = advise_cost_at(costs, i);
        if (strnlen(cost->kind, sizeof cost->kind) == length
            && memcmp(cost->kind, kind, length) == 0)
            return cost;
    }
    return NULL;
}

/* Returns the costs of this kind with its options, or without them. */
static const bly_cost *advise_find(const advise_costs *costs, const char *kind)
{
    const bly_cost *found = advise_cost(costs, kind, strlen(kind));
    return found != NULL ? found
                         : advise_cost(costs, kind, strcspn(kind, ":"));
}

static double advise_question(const bly_cost_point *at, size_t question)
{
    const double ns[ADVISE_QUESTIONS] = { at->present, at->absent, at->mixed,
                                          at->add };
    return ns[question];
}

/* Ranks kinds that were not measured behind the others. */
static void advise_fit_unknown(advise_fit *fit, const bly_plan_t *plan)
{
    *fit = (advise_fit){ .bytes = { 1 << 17, 1 << 20, 1 << 23 } };
    advise_lines(fit->lines, plan);
    for (size_t q = 0; q < ADVISE_QUESTIONS; q++) {
        for (size_t i = 0; i < ADVISE_RATES; i++)
            fit->work[i][q] = 15 + 3 * (double)i;
        for (size_t i = 1; i < ADVISE_SIZES; i++)
            fit->wait[i][q] = (double)i * fit->lines[q];
    }
}

/* A larger filter may also be faster: some kinds have a special batch for
 * filters that fit the nearest cache. */
static void advise_fit_known(advise_fit *fit, const bly_cost *cost)
{
    for (size_t q = 0; q < ADVISE_QUESTIONS; q++) {
        double small = advise_question(&cost->at[0], q);
        fit->wait[0][q] = 0;
        for (size_t i = 1; i < ADVISE_SIZES; i++)
            fit->wait[i][q] = advise_question(&cost->at[ADVISE_RATES + i - 1],
                                              q) - small;
        for (size_t i = 0; i < ADVISE_RATES; i++)
            fit->work[i][q] = advise_question(&cost->at[i], q);
    }
}

static bool advise_plan_point(bly_plan_t *plan, const char *kind, size_t point)
{
    bly_spec spec = { .capacity = advise_points[point].keys,
                      .rate = advise_points[point].rate };
    return bly_plan(plan, kind, &spec) == BLY_OK;
}

static unsigned advise_way(const bly_kind *kind, const bly_plan_t *plan)
{
    return kind->way != NULL ? kind->way(plan) : 0;
}

/* Computes size, lines and method of the measured filters. Returns false if the
 * kind cannot have these options. */
static bool advise_fit_plans(advise_fit *fit, const char *text)
{
    const bly_kind *kind = advise_kind(text);
    bly_plan_t plan;
    for (size_t i = 0; i < ADVISE_SIZES; i++) {
        size_t point = i == 0 ? 0 : ADVISE_RATES + i - 1;
        if (!advise_plan_point(&plan, text, point))
            return false;
        fit->bytes[i] = (double)plan.bytes;
        if (i == 0)
            advise_lines(fit->lines, &plan);
    }
    for (size_t i = 0; i < ADVISE_RATES && kind->way != NULL; i++) {
        if (!advise_plan_point(&plan, text, i))
            return false;
        fit->way[i] = advise_way(kind, &plan);
    }
    return true;
}

/* Interpolates; beyond the last measured rate the last two are extrapolated. */
static double advise_work(const advise_fit *fit, size_t q, double rate,
                          unsigned way)
{
    size_t i = 0;
    while (i + 2 < ADVISE_RATES && rate < advise_points[i + 1].rate)
        i++;
    double from = fit->work[i][q], to = fit->work[i + 1][q];
    if (fit->way[i] != fit->way[i + 1])
        return way == fit->way[i] ? from : to;
    double part = log2(advise_points[i].rate / rate)
                / log2(advise_points[i].rate / advise_points[i + 1].rate);
    return fmax(from + fmax(part, 0) * (to - from), fit->work[0][q] / 2);
}

static double advise_wait(const advise_fit *fit, size_t q, double bytes)
{
    size_t i = 0;
    if (bytes <= fit->bytes[0])
        return 0;
    while (i + 1 < ADVISE_SIZES && bytes >= fit->bytes[i + 1])
        i++;
    if (i + 1 == ADVISE_SIZES)
        return fit->wait[i][q];
    return fit->wait[i][q] + (fit->wait[i + 1][q] - fit->wait[i][q])
                             * log2(bytes / fit->bytes[i])
                             / log2(fit->bytes[i + 1] / fit->bytes[i]);
}

/* Evaluates the formula above for each kind of query. */
static void advise_formula(double *ns, const advise_fit *fit,
                           const bly_plan_t *plan, double rate, unsigned way,
                           const advise_costs *costs)
{
    double lines[ADVISE_QUESTIONS], bytes = (double)plan->bytes;
    double largest = fit->bytes[ADVISE_SIZES - 1];
    double beyond = bytes > largest
                  ? advise_line(costs, bytes) - advise_line(costs, largest) : 0;

    advise_lines(lines, plan);
    for (size_t q = 0; q < ADVISE_QUESTIONS; q++) {
        double work = advise_work(fit, q, rate, way);
        ns[q] = fmax(work + lines[q] / fit->lines[q]
                            * advise_wait(fit, q, bytes), work / 4)
              + lines[q] * fmax(beyond, 0);
    }
}

static void advise_questions(double *ns, const char *text,
                             const bly_plan_t *plan, double rate,
                             const advise_costs *costs)
{
    const bly_cost *cost = advise_find(costs, text);
    const bly_kind *kind = advise_kind(text);
    advise_fit fit = { .way = { 0 } };

    if (cost != NULL && advise_fit_plans(&fit, cost->kind))
        advise_fit_known(&fit, cost);
    else
        advise_fit_unknown(&fit, plan);
    advise_formula(ns, &fit, plan, rate, advise_way(kind, plan), costs);
}

/* Kinds of several filters in which a lookup queries the first one only, with
 * the size and rate of a filter of this kind. */
static const struct { const char *kind, *first; } advise_first[] = {
    { "layered", "blocked" }, { "layered:of=split", "split" },
};

static void advise_questions_first(double *ns, const bly_advice *a,
                                   const bly_need *need, double rate,
                                   const advise_costs *costs)
{
    double add = ns[ADVISE_QUESTIONS - 1];
    bly_spec spec = { .capacity = need->capacity, .rate = rate };
    bly_plan_t plan;

    for (size_t i = 0; i < sizeof advise_first / sizeof *advise_first; i++)
        if (strcmp(advise_first[i].kind, a->kind) == 0
            && bly_plan(&plan, advise_first[i].first, &spec) == BLY_OK)
            advise_questions(ns, advise_first[i].first, &plan, rate, costs);
    ns[ADVISE_QUESTIONS - 1] = add;
}

/* Returns the rate of a filter that takes as much work as this one. For a
 * threshold it is the one at which that many probes are best. */
static double advise_alike(const bly_advice *a, const bly_need *need)
{
    if (need->times > 0 && advise_planned(a->kind))
        return exp2(-(double)a->plan.probes);
    return need->rate > 0 ? need->rate : 0.01;
}

/* Sets how many times as many lines a filter reads that has grown as one that
 * was planned for all its keys. Returns the plan with the lines of the latter.
 */
static bly_plan_t advise_parts(double *times, bly_plan_t plan,
                               const bly_advice *a, const bly_need *need)
{
    double now[ADVISE_QUESTIONS], once[ADVISE_QUESTIONS];
    bly_spec spec = { .capacity = need->capacity, .rate = need->rate };
    bly_plan_t whole;
    advise_lines(now, &plan);
    if (need->unknown && bly_plan(&whole, a->kind, &spec) == BLY_OK) {
        plan.lines_present = whole.lines_present;
        plan.lines_absent = whole.lines_absent;
    }
    advise_lines(once, &plan);
    for (size_t q = 0; q < ADVISE_QUESTIONS; q++)
        times[q] = now[q] / once[q];
    return plan;
}

static void advise_times(bly_advice *a, const bly_need *need,
                         const advise_costs *costs)
{
    double ns[ADVISE_QUESTIONS], times[ADVISE_QUESTIONS], s = need->present;
    double rate = advise_alike(a, need);
    bly_plan_t plan = advise_parts(times, a->plan, a, need);

    advise_questions(ns, a->kind, &plan, rate, costs);
    for (size_t q = 0; q + 1 < ADVISE_QUESTIONS; q++)
        ns[q] *= times[q];
    ns[3] += ns[1] - ns[1] / times[1];  /* a key is looked up everywhere, and
                                           added to one part                  */
    advise_questions_first(ns, a, need, rate, costs);
    a->ns_present = ns[0];
    a->ns_absent = ns[1];
    a->ns_add = ns[3];
    a->ns_lookup = fmax(s * ns[0] + (1 - s) * ns[1]
                        + 4 * s * (1 - s) * (ns[2] - (ns[0] + ns[1]) / 2),
                        fmin(ns[0], ns[1]));
}

/* ==== The ranking ======================================================= */

static bly_aim advise_aim(const bly_need *need)
{
    return (need->can & BLY_CAN_PAGE) != 0 ? BLY_AIM_SMALL : need->aim;
}

/* Times go in steps of 2 %: what differs by less was measured so by chance. */
static double advise_score(const bly_advice *a, bly_aim aim)
{
    double bits = a->plan.bits_per_key;
    double ns = exp2(round(32 * log2(a->ns_lookup)) / 32);
    switch (aim) {
    case BLY_AIM_FAST:    return ns * pow(bits, 1.0 / 8);
    case BLY_AIM_SMALL:   return bits * pow(ns, 1.0 / 16);
    case BLY_AIM_BALANCE: break;
    }
    return ns * cbrt(bits);
}

/* Plans `counting` for a threshold; its name gets the options. */
static bly_status advise_plan_times(bly_advice *a, const bly_need *need)
{
    bly_threshold_plan made;
    bly_threshold times = { .capacity = need->capacity, .rate = need->rate,
                            .times = need->times };
    bly_status status = bly_plan_threshold(&made, &times);
    if (status != BLY_OK)
        return status;
    snprintf(a->kind, sizeof a->kind, "%.*s", (int)sizeof a->kind - 1,
             made.kind);
    a->plan = made.plan;
    a->nearly = made.nearly;
    return BLY_OK;
}

/* Plans a kind. One that separates two sets is planned for the others too; it
 * learns their number when built, so its name need not state it. */
static bly_status advise_plan(bly_advice *a, const bly_kind *kind,
                              const bly_need *need)
{
    char text[96];
    bly_spec spec = { .capacity = need->capacity, .rate = need->rate };
    if (need->times > 0 && advise_planned(a->kind))
        return advise_plan_times(a, need);
    if (need->unknown) {
        spec.capacity = 0;
        return bly_plan_grown(&a->plan, a->kind, &spec, need->capacity);
    }
    if (!KIND_HAS(kind, building, separate))
        return bly_plan(&a->plan, a->kind, &spec);
    snprintf(text, sizeof text, "%s%cothers=%llu", a->kind,
             strchr(a->kind, ':') == NULL ? ':' : ',',
             (unsigned long long)(need->others > 0 ? need->others
                                                   : need->capacity));
    return bly_plan(&a->plan, text, &spec);
}

/* Checks a plan, whose kind has the abilities, for what else may be lacking. */
static bool advise_enough(bly_advice *a, const bly_need *need)
{
    double rate = need->rate > 0 ? need->rate : 0.01;
    if ((need->can & BLY_CAN_EXACT) == 0
        && a->plan.rate > rate * (1 + 1e-5)) {
        snprintf(a->why, sizeof a->why, "its rate would be %.3g %%",
                 100 * a->plan.rate);
        return false;
    }
    if ((need->can & BLY_CAN_LABEL) != 0
        && a->plan.label_most < (need->label_most > 0 ? need->label_most
                                                      : ADVISE_LABEL_MOST)) {
        snprintf(a->why, sizeof a->why, "its labels end at %llu",
                 (unsigned long long)a->plan.label_most);
        return false;
    }
    if ((need->can & BLY_CAN_PAGE) == 0 && need->memory > 0
        && a->plan.bytes > need->memory) {
        snprintf(a->why, sizeof a->why, "it would have %llu bytes: more than "
                 "the limit", (unsigned long long)a->plan.bytes);
        return false;
    }
    return true;
}

/* Reports that no rate is known for other kinds, except that of mere
   membership. */
static void advise_nearly(bly_advice *a, const bly_need *need)
{
    if (need->times > 0 && !advise_planned(a->kind))
        a->nearly = a->plan.rate;
}

static void advise_one(bly_advice *a, const char *text, const bly_need *need,
                       const advise_costs *costs)
{
    const bly_kind *kind = advise_kind(text);
    const char *excluded = advise_excluded(kind, need);
    const char *limit = advise_limit(kind, advise_needs(need),
                                     need->times, false);

    *a = (bly_advice){ .fits = false, .tier = registry_tier(kind) };
    snprintf(a->kind, sizeof a->kind, "%s", text);
    advise_lacks(a, kind);
    if (excluded != NULL) {
        snprintf(a->why, sizeof a->why, "%s", excluded);
    } else if (advise_plan(a, kind, need) < 0) {
        snprintf(a->why, sizeof a->why, "%.*s", (int)sizeof a->why - 1,
                 bly_why());
    } else if (advise_enough(a, need)) {
        a->fits = true;
        snprintf(a->limit, sizeof a->limit, "%s", limit != NULL ? limit : "");
        advise_nearly(a, need);
        advise_times(a, need, costs);
        a->score = advise_score(a, advise_aim(need));
    }
}

/* The entries, and their ranking. */
enum { ADVISE_MOST = 64 };

struct bly_ranking {
    bly_allocator allocator;
    size_t        n;
    bly_advice   *at[ADVISE_MOST];
    bly_advice    all[ADVISE_MOST];
};

static void advise_next(bly_ranking *r, const char *text, const bly_need *need,
                        const advise_costs *costs)
{
    assert(r->n < ADVISE_MOST);
    r->at[r->n] = &r->all[r->n];
    advise_one(r->at[r->n++], text, need, costs);
}

/* Evaluates every kind, plain and with the options to try. */
static void advise_all(bly_ranking *r, const bly_need *need,
                       const advise_costs *costs)
{
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        const char *name = registry_kinds[i]->name;
        advise_next(r, name, need, costs);
        for (size_t v = 0; v < ADVISE_VARIANTS; v++)
            if (strcspn(advise_variants[v], ":") == strlen(name)
                && memcmp(advise_variants[v], name, strlen(name)) == 0)
                advise_next(r, advise_variants[v], need, costs);
    }
}

/* Returns whether a ranks before b; of equals, the smaller. */
static bool advise_before(const bly_advice *a, const bly_advice *b)
{
    if (!a->fits || !b->fits)
        return a->fits && !b->fits;
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score;
    return a->plan.bytes < b->plan.bytes;
}

/* Sorts by insertion: equals stay in the order of the registry. */
static void advise_sort(bly_advice **all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        bly_advice *one = all[i];
        size_t at = i;
        for (; at > 0 && advise_before(one, all[at - 1]); at--)
            all[at] = all[at - 1];
        all[at] = one;
    }
}

/* Accuracy of times and sizes: smaller differences do not count. `make bench
 * WHAT=advise` checks the first. */
static const double advise_time_near = 1.2, advise_size_near = 1.01;

/* Returns whether there is no reason to choose b when a will do. */
static bool advise_beats(const bly_advice *a, const bly_advice *b)
{
    return a->ns_lookup <= advise_time_near * b->ns_lookup
        && a->ns_add <= advise_time_near * b->ns_add
        && (double)a->plan.bytes <= advise_size_near * (double)b->plan.bytes;
}

/* Returns the first one before all[i] that beats it and is not beaten itself,
 * or NULL. */
static const bly_advice *advise_beater(bly_advice *const *all, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (!all[j]->beaten && advise_beats(all[j], all[i]))
            return all[j];
    return NULL;
}

/* Compares it with the first one, or with the one that beats it. */
static void advise_against(bly_advice *a, const bly_advice *other)
{
    double time = a->ns_lookup / other->ns_lookup;
    double size = (double)a->plan.bytes / (double)other->plan.bytes;

    snprintf(a->why, sizeof a->why, "%s%.3g times the time and %.3g times the "
             "size of %s%s", !a->beaten ? "" : time < 1 ? "hardly a gain: "
             : "no gain: ", time, size,
             other->kind, !a->beaten && time > 1 && size > 1
             ? ", but faster to fill" : "");
}

/* Describes the first of those that fit. The score may prefer one that is as
 * good as the best in one respect and better in another. */
static void advise_praise(bly_advice *const *all, size_t fit, bly_aim aim)
{
    const char *place = "the best balance of time and size";
    bly_advice *first = all[0];
    double least = first->ns_lookup;
    uint64_t smallest = first->plan.bytes;

    for (size_t i = 1; i < fit; i++) {
        least = fmin(least, all[i]->ns_lookup);
        if (all[i]->plan.bytes < smallest)
            smallest = all[i]->plan.bytes;
    }
    if (aim == BLY_AIM_FAST)
        place = first->ns_lookup <= least ? "the fastest"
                                          : "smaller than the fastest, and "
                                            "nearly as fast,";
    if (aim == BLY_AIM_SMALL)
        place = first->plan.bytes <= smallest ? "the smallest"
                                              : "faster than the smallest, and "
                                                "nearly as small,";
    if (fit == 1)
        snprintf(first->why, sizeof first->why, "the only kind that can");
    else
        snprintf(first->why, sizeof first->why, "%s of the %zu kinds that can",
                 place, fit);
}

static void advise_explain(bly_advice *const *all, size_t n, bly_aim aim)
{
    size_t fit = 0;
    while (fit < n && all[fit]->fits)
        fit++;
    if (fit > 0)
        advise_praise(all, fit, aim);
    for (size_t i = 1; i < fit; i++) {
        const bly_advice *beater = advise_beater(all, i);
        all[i]->beaten = beater != NULL;
        advise_against(all[i], beater != NULL ? beater : all[0]);
    }
}

/* ==== The verb ========================================================== */

static bool advise_reserved_costs(const bly_costs *costs)
{
    static const bly_cost none;
    for (size_t i = 0; i < costs->kinds; i++)
        if (memcmp(costs->kind[i]->reserved, none.reserved,
                   sizeof none.reserved) != 0)
            return false;
    return true;
}

static bool advise_reserved(const bly_need *need)
{
    static const bly_need none;
    return memcmp(need->reserved, none.reserved, sizeof none.reserved) == 0
        && memcmp(need->zero, none.zero, sizeof none.zero) == 0
        && (need->costs == NULL
            || (memcmp(need->costs->reserved, none.reserved,
                       sizeof need->costs->reserved) == 0
                && advise_reserved_costs(need->costs)));
}

static bly_status advise_check(const bly_need *need)
{
    if (need->capacity == 0)
        return status_fail(BLY_EPARAM, "the need has no capacity: give the "
                           "number of keys");
    if (need->rate != 0 && !(need->rate > 0 && need->rate < 1))
        return status_fail(BLY_EPARAM, "the rate %g is not between 0 and 1: "
                           "give one such as 0.01", need->rate);
    if (!(need->present >= 0 && need->present <= 1))
        return status_fail(BLY_EPARAM, "the share %g of present keys is not "
                           "within 0 .. 1: give one such as 0.5",
                           need->present);
    if ((need->can & ~(uint64_t)ADVISE_KNOWN) != 0
        || (unsigned)need->aim > BLY_AIM_SMALL)
        return status_fail(BLY_EPARAM, "unknown ability or aim: use BLY_CAN_… "
                           "and BLY_AIM_…");
    if (need->unknown && (need->fixed || (need->can & BLY_CAN_FORGET) != 0))
        return status_fail(BLY_EPARAM, "a need with an unknown number of keys "
                           "cannot be for fixed keys, or forget some: leave "
                           "one of them out");
    if (need->times > 65535)
        return status_fail(BLY_EPARAM, "at least %llu times is not within "
                           "1 .. 65535: a counter has 16 bits at most",
                           (unsigned long long)need->times);
    if (!advise_reserved(need))
        return status_fail(BLY_EPARAM, "the need has values in reserved "
                           "fields: set it to zero before you fill it in, or "
                           "link the library it was written for");
    if (need->costs != NULL && need->costs->lines < 2)
        return status_fail(BLY_EPARAM, "costs of lines are needed for at least "
                           "two sizes: measure them, or give no costs");
    return BLY_OK;
}

bly_status bly_advise(bly_ranking **out, const bly_need *given)
{
    bly_need asked = *given;
    const bly_need *need = &asked;
    if (asked.unknown && asked.capacity == 0)
        asked.capacity = ADVISE_UNKNOWN;
    bly_status status = advise_check(need);
    if (status != BLY_OK)
        return status;
    bly_allocator allocator = memory_allocator(need->allocator, 1);
    bly_ranking *r = memory_zeroed(&allocator, sizeof *r);
    if (r == NULL)
        return status_plain(BLY_ENOMEM);
    status_kept before = status_keep();
    advise_costs costs = advise_costs_of(need->costs);
    r->allocator = allocator;
    advise_all(r, need, &costs);
    advise_sort(r->at, r->n);
    advise_explain(r->at, r->n, advise_aim(need));
    status_restore(&before);            /* plans that failed left theirs */
    *out = r;
    return BLY_OK;
}

size_t bly_ranking_count(const bly_ranking *ranking)
{
    return ranking->n;
}

const bly_advice *bly_ranking_at(const bly_ranking *ranking, size_t i)
{
    return i < ranking->n ? ranking->at[i] : NULL;
}

void bly_ranking_free(bly_ranking *ranking)
{
    if (ranking == NULL)
        return;
    bly_allocator allocator = ranking->allocator;
    memory_release(&allocator, ranking, sizeof *ranking);
}
