/* wrong.c - wrong removals, of keys that were never added, in every kind.
 *
 * A wrong removal of a random key is *accepted* if it changes the filter, and
 * *harms* if a key that is present is then no longer found. What a removal
 * takes with it depends on the kind, so each kind that removes has a row here:
 * the odds of one wrong removal in a filter that is as full as planned. They
 * are derived above each formula and compared with measurements. The table in
 * docs/guide/removing-keys.md must have them, too.
 *
 * The kinds come from the registry, other systems' formats included. One that
 * removes and has no row fails.
 */
#include "test.h"

#include "maths/maths.h"
#include "verbs/registry.h"

/* The kind under test. */
static const bly_kind *wrong_kind;

/* ---- Odds --------------------------------------------------------------- */

/* The probabilities of one wrong removal, and the expected number of present
 * keys that it loses. */
typedef struct {
    double accepted, harms, loses;
} wrong_odds;

typedef wrong_odds wrong_formula(const bly_plan_t *plan);

/* Keys have one of R equally likely fingerprints, and the filter knows how
 * often each is there. A removal takes one of them. If it was the only one, its
 * key is lost; otherwise nobody is, as long as the others are not removed. So
 * it harms if exactly one of n keys has the fingerprint:
 *
 *      n/R (1 - 1/R)^(n-1)  =  about -(1-f) ln(1-f),  f = 1 - (1 - 1/R)^n
 */
static wrong_odds wrong_among(double range, double n)
{
    double alone = n / range * exp((n - 1) * log1p(-1 / range));
    return (wrong_odds){ math_numbers_rate(range, n), alone, alone };
}

static wrong_odds wrong_fingerprint(const bly_plan_t *plan)
{
    double n = (double)plan->capacity;
    return wrong_among(-1 / expm1(log1p(-plan->rate) / n), n);
}

/* As above, but a fingerprint whose counter of b bits is at its largest value,
 * 2^b - 1, is not removed. */
static wrong_odds wrong_dleft(const bly_plan_t *plan)
{
    double n = (double)plan->capacity;
    double range = ldexp((double)plan->geometry[0], (int)plan->geometry[1]);
    wrong_odds odds = wrong_among(range, n);
    odds.accepted -= math_tail(range, n, ldexp(1, (int)plan->geometry[3]) - 1);
    return odds;
}

/* 255 fingerprints and half as many pairs of buckets as buckets. Tables that
 * are added have as many buckets, and the same pairs. */
static wrong_odds wrong_rediscuckoo(const bly_plan_t *plan)
{
    assert_true(plan->geometry[0] > 255);
    return wrong_among(255.0 / 2 * (double)plan->geometry[0],
                       (double)plan->capacity);
}

/* The increments of a key in a counter, and which numbers are 0 or a sum of
 * them. */
enum { WRONG_ELEMENTS = 16, WRONG_SUMS = 256, WRONG_OWNERS = 8 };
typedef struct {
    unsigned n, element[WRONG_ELEMENTS];
    bool     sum[WRONG_SUMS];
} wrong_set;

static wrong_set wrong_set_of(uint64_t l)
{
    wrong_set set = { .sum = { true } };
    for (unsigned v = 1; v < 2 * WRONG_ELEMENTS; v++)
        if (l > WRONG_ELEMENTS ? l >> v & 1 : v >= l && v < 2 * l)
            set.element[set.n++] = v;
    for (unsigned s = 1; s < WRONG_SUMS; s++)
        for (unsigned i = 0; i < set.n; i++)
            set.sum[s] |= s >= set.element[i] && set.sum[s - set.element[i]];
    return set;
}

/* A probe of the removal meets a counter that some present keys have raised.
 * These are the probabilities that it passes, and that it then harms none of
 * them, and the mean number that it loses, over all increments. */
typedef struct {
    double passes, spares, loses;
} wrong_probe;

static bool wrong_lets(const wrong_set *set, unsigned value, unsigned own)
{
    return value >= own && set->sum[value - own];
}

/* Adds what all increments of `more` further keys contribute. */
static void wrong_increments(wrong_probe *out, const wrong_set *set,
                             unsigned *own, unsigned owners, unsigned more)
{
    for (unsigned i = 0; more > 0 && i < set->n; i++) {
        own[owners] = set->element[i];
        wrong_increments(out, set, own, owners + 1, more - 1);
    }
    if (more > 0)
        return;
    unsigned value = 0;
    for (unsigned i = 0; i < owners; i++)
        value += own[i];
    for (unsigned v = 0; v < set->n; v++) {
        unsigned lost = 0;
        if (!wrong_lets(set, value, set->element[v]))
            continue;
        for (unsigned i = 0; i < owners; i++)
            lost += !wrong_lets(set, value - set->element[v], own[i]);
        out->passes++;
        out->spares += lost == 0;
        out->loses += lost;
    }
}

/* With N = kn probes in m counters, j of them meet in a counter with the
 * binomial probability P_j. A removal lowers k counters. It is accepted if each
 * passes, and harms unless each that passes also spares the keys there:
 *
 *      q = sum P_j passes_j,  z = sum P_j spares_j,  w = sum P_j loses_j
 *      accepted f = about q^k,  harms f - z^k,  loses f k w / q
 *
 * With increments of 1, a counter passes from 1 on and spares from 2 on, and
 * loses its key at 1: q = 1 - P_0, z = q - P_1 and w = P_1. */
static wrong_odds wrong_cells(const bly_plan_t *plan, uint64_t l)
{
    const wrong_set set = wrong_set_of(l);
    double m = (double)plan->geometry[0], k = (double)plan->geometry[1];
    double probes = k * (double)plan->capacity, q = 0, z = 0, w = 0;
    double ways = set.n;
    for (unsigned j = 1; j <= WRONG_OWNERS; j++) {
        wrong_probe probe = { 0 };
        unsigned own[WRONG_OWNERS];
        ways *= set.n;
        if (ways > 1 << 18)
            break;
        wrong_increments(&probe, &set, own, 0, j);
        double met = math_tail(m, probes, j) - math_tail(m, probes, j + 1);
        q += met * probe.passes / ways;
        z += met * probe.spares / ways;
        w += met * probe.loses / ways;
        if (j == WRONG_OWNERS || ways * set.n > 1 << 18) {
            q += math_tail(m, probes, j + 1);
            z += math_tail(m, probes, j + 1);
        }
    }
    return (wrong_odds){ plan->rate, plan->rate - pow(z, k),
                         plan->rate * k * w / q };
}

static wrong_odds wrong_counting(const bly_plan_t *plan)
{
    return wrong_cells(plan, 1);
}

static wrong_odds wrong_variable(const bly_plan_t *plan)
{
    return wrong_cells(plan, plan->geometry[2]);
}

/* A removal clears the bits in regions without a mark. Each of them was set by
 * one key alone, which is lost: an accepted one always harms. With P_j as above
 * and regions of R bits, a bit is set and can be cleared with probability
 *
 *      s = P_1 (P_0 + P_1)^(R-1)
 *
 * because no other bit of its region may have been hit twice. With q = 1 - P_0,
 * the removal finds all bits set but none to clear with (q - s)^k. */
static wrong_odds wrong_deletable(const bly_plan_t *plan)
{
    double m = (double)plan->geometry[0], k = (double)plan->geometry[1];
    double probes = k * (double)plan->capacity;
    double q = math_tail(m, probes, 1), twice = math_tail(m, probes, 2);
    double s = (q - twice) * pow(1 - twice, (double)plan->geometry[2] - 1);
    double accepted = plan->rate * (1 - pow((q - s) / q, k));
    return (wrong_odds){ accepted, accepted, plan->rate * k * s / q };
}

/* The key is subtracted from cells that others are in as well, and these cells
 * stay in use. A present key is lost only if two checks of 32 bits agree by
 * chance. */
static wrong_odds wrong_subtracted(const bly_plan_t *plan)
{
    return (wrong_odds){ plan->rate, 0, 0 };
}

/* The key goes into another filter, of the removed keys. That loses a present
 * key only if all places of the one are among those of the other. */
static wrong_odds wrong_twin(const bly_plan_t *plan)
{
    return (wrong_odds){ plan->rate, 0, 0 };
}

/* After many, that filter has the bits of as many keys as were accepted. Those
 * are bits that the present keys have set as well, qm of m bits. So a present
 * key finds one of its bits set there if any of their probes hit one of qm. */
static double wrong_twin_many(const bly_plan_t *plan, double removals)
{
    bly_spec spec = { .capacity = plan->capacity, .rate = plan->rate };
    bly_plan_t one;
    assert_status(bly_plan(&one, "standard", &spec), BLY_OK);
    double m = (double)one.geometry[0], k = (double)one.geometry[1];
    double n = (double)plan->capacity, set = m * math_tail(m, k * n, 1);
    return n * pow(math_tail(set, k * removals * plan->rate, 1), k);
}

/* Only a key with the same 64-bit hash is ever found. */
static wrong_odds wrong_none(const bly_plan_t *plan)
{
    assert_true(plan->rate < 1e-15);
    return (wrong_odds){ 0, 0, 0 };
}

/* Rows for each kind that removes: the kind, with options if it needs them; the
 * most keys that it can take here, or 0; the odds; and the keys lost by many
 * wrong removals, unless each loses as many as the first. */
static const struct {
    const char    *spec;
    uint64_t       most;
    wrong_formula *odds;
    double       (*many)(const bly_plan_t *plan, double removals);
} wrong_rows[] = {
    { "counting",                0, wrong_counting,    NULL },
    { "variable",                0, wrong_variable,    NULL },
    { "variable:set=8-12-14-15", 0, wrong_variable,    NULL },
    { "dleft",                   0, wrong_dleft,       NULL },
    { "deletable",               0, wrong_deletable,   NULL },
    { "cuckoo",                  0, wrong_fingerprint, NULL },
    { "quotient",                0, wrong_fingerprint, NULL },
    { "golomb",                  0, wrong_fingerprint, NULL },
    { "expandable",              0, wrong_fingerprint, NULL },
    { "egh:bits=8",             40, wrong_none,        NULL },
    { "invertible",              0, wrong_subtracted,  NULL },
    { "twin",                    0, wrong_twin,        wrong_twin_many },
    { "rediscuckoo",             0, wrong_rediscuckoo, NULL },
};

enum { WRONG_ROWS = sizeof wrong_rows / sizeof *wrong_rows };

/* Finds the next row of the kind under test. A kind that removes and has none
 * fails. */
static bool wrong_next(size_t *row)
{
    bool first = *row == 0;
    while (*row < WRONG_ROWS)
        if (registry_named(wrong_rows[(*row)++].spec) == wrong_kind)
            return true;
    if (first)
        fail_msg("kind %s removes keys, but nothing says what a wrong removal "
                 "does: derive its odds, and add a row to wrong_rows in "
                 "tests/wrong.c and one to the table in "
                 "docs/guide/removing-keys.md", wrong_kind->name);
    return false;
}

/* Runs `work` with each row of the kind under test. */
#define WRONG_EACH(work)                                                       \
    for (size_t row = 0; wrong_next(&row); )                                   \
        work(row - 1)

/* ---- Measurements ------------------------------------------------------- */

enum { WRONG_KEYS = 1000, WRONG_FILTERS = 20 };

typedef struct {
    size_t     row;
    bly_spec   spec;
    bly_plan_t plan;
    wrong_odds odds;
    uint64_t   keys[WRONG_KEYS], n;     /* present                           */
    double     tried, accepted, harmed, lost;
    double     squares;                 /* sum of the squares of lost keys   */
} wrong_trial;

/* Plans a filter of this many keys, or of as many as the kind can take. */
static bly_spec wrong_plan(bly_plan_t *plan, size_t row, uint64_t keys,
                           double rate)
{
    uint64_t most = wrong_rows[row].most;
    bly_spec spec = { .capacity = most > 0 ? most : keys, .rate = rate };
    assert_status(bly_plan(plan, wrong_rows[row].spec, &spec), BLY_OK);
    return spec;
}

static bly_filter *wrong_fill(wrong_trial *t, uint64_t stream)
{
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, wrong_rows[t->row].spec, &t->spec), BLY_OK);
    for (uint64_t i = 0; i < t->n; i++) {
        t->keys[i] = test_random(stream, i);
        assert_true(bly_add_hash(filter, t->keys[i]) >= 0);
    }
    return filter;
}

/* Takes the rate that a kind that grows has with these keys, which is below the
 * one that it plans for all that may follow. */
static void wrong_take_rate(wrong_trial *t)
{
    bly_filter *filter = wrong_fill(t, 99);
    bly_info_t info;
    assert_status(bly_info(&info, filter), BLY_OK);
    t->plan.rate = info.rate;
    t->plan.rate_sd = info.rate / sqrt((double)t->n);
    bly_free(filter);
}

static void wrong_begin(wrong_trial *t, size_t row, double rate)
{
    *t = (wrong_trial){ .row = row };
    t->spec = wrong_plan(&t->plan, row, WRONG_KEYS, rate);
    t->n = t->plan.capacity;
    if (wrong_kind->growing != NULL)
        wrong_take_rate(t);
    t->odds = wrong_rows[row].odds(&t->plan);
}

static bly_filter *wrong_copy(const bly_filter *filter)
{
    bly_filter *copy = NULL;
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    return copy;
}

static uint64_t wrong_lost(const wrong_trial *t, const bly_filter *filter)
{
    bool present[WRONG_KEYS];
    uint64_t lost = 0;
    bly_contains_hashes(filter, t->keys, t->n, present);
    for (uint64_t i = 0; i < t->n; i++)
        lost += !present[i];
    return lost;
}

/* Removes a key that was never added; returns whether that was accepted. */
static bool wrong_remove(bly_filter *filter, uint64_t stranger)
{
    bly_status status = bly_remove_hash(filter, stranger);
    assert_true(status == BLY_OK || status == BLY_EABSENT
                || status == BLY_EUNSAFE);
    return status == BLY_OK;
}

/* Tries wrong removals, each on the whole filter. */
static void wrong_try(wrong_trial *t, const bly_filter *whole, uint64_t stream,
                      uint64_t strangers)
{
    bly_filter *filter = wrong_copy(whole);
    for (uint64_t i = 0; i < strangers; i++) {
        if (!wrong_remove(filter, test_random(stream, i)))
            continue;
        double lost = (double)wrong_lost(t, filter);
        t->accepted++;
        t->harmed += lost > 0;
        t->lost += lost;
        t->squares += lost * lost;
        bly_free(filter);
        filter = wrong_copy(whole);
    }
    t->tried += (double)strangers;
    bly_free(filter);
}

/* Compares the lost keys with their mean. Its variance is that of the sample,
 * and from filter to filter that of a share of n keys. */
static void wrong_compare_lost(const wrong_trial *t)
{
    double each = t->odds.loses / t->odds.accepted;
    double expected = t->accepted * each;
    double between = expected * expected / (WRONG_FILTERS * (double)t->n);
    double sample = t->squares - t->lost * t->lost / t->accepted;
    if (!(fabs(t->lost - expected)
          <= TEST_SIGMAS * sqrt(sample + between) + 0.5))
        fail_msg("%s: %g accepted removals lose %g keys, not %g",
                 wrong_rows[t->row].spec, t->accepted, t->lost, expected);
}

static void wrong_measure(size_t row, double rate, uint64_t strangers)
{
    wrong_trial t;
    wrong_begin(&t, row, rate);
    for (uint64_t f = 0; f < WRONG_FILTERS; f++) {
        bly_filter *whole = wrong_fill(&t, 2 * f + 100);
        wrong_try(&t, whole, 2 * f + 101, strangers);
        bly_free(whole);
    }
    assert_within(t.accepted, t.tried, t.odds.accepted,
                  t.plan.rate_sd / sqrt(WRONG_FILTERS));
    if (t.accepted == 0)
        return;
    double share = t.odds.harms / t.odds.accepted;
    assert_within(t.harmed, t.accepted, share,
                  sqrt(share * (1 - share) / (WRONG_FILTERS * (double)t.n)));
    wrong_compare_lost(&t);
}

static void wrong_removal(size_t row)
{
    wrong_measure(row, 0.1, 1500);
    wrong_measure(row, 0.01, 4000);
}

static void wrong_removals_harm_as_derived(void **state)
{
    (void)state;
    TEST_STATISTICS();
    WRONG_EACH(wrong_removal);
}

/* Many wrong removals, one after another. While they have lost a share x of the
 * keys, each loses about as many as the first, but not more: x fewer, because
 * fewer are there, and about x fewer, because fewer are accepted. The variance
 * is that of independent removals, from the sample of single ones. */
static void wrong_removals(size_t row)
{
    const bool late = wrong_rows[row].many != NULL;
    wrong_trial t;
    wrong_begin(&t, row, 0.01);
    double share = 0.05, n = (double)t.n, lost = 0;
    double removals = t.odds.loses > 0 ? share * n / t.odds.loses
                    : late ? 40000 : 4000;
    double most = t.odds.loses * floor(removals);
    double least = most * (1 - 2 * share);
    if (late)
        least = most = wrong_rows[row].many(&t.plan, floor(removals));
    for (uint64_t f = 0; f < WRONG_FILTERS; f++) {
        bly_filter *filter = wrong_fill(&t, 2 * f + 200);
        wrong_try(&t, filter, 2 * f + 201, 1000);
        for (uint64_t i = 0; i < (uint64_t)removals; i++)
            wrong_remove(filter, test_random(2 * f + 301, i));
        lost += (double)wrong_lost(&t, filter);
        bly_free(filter);
    }
    double variance = most + removals * t.squares / t.tried;
    double band = TEST_SIGMAS * sqrt(variance / WRONG_FILTERS);
    if (lost / WRONG_FILTERS < least - band
        || lost / WRONG_FILTERS > most + band)
        fail_msg("%s: %g wrong removals lose %g keys, not %g to %g (± %g)",
                 wrong_rows[row].spec, removals, lost / WRONG_FILTERS, least,
                 most, band);
}

static void wrong_removals_lose_as_many_each(void **state)
{
    (void)state;
    TEST_STATISTICS();
    WRONG_EACH(wrong_removals);
}

/* ---- The guide ---------------------------------------------------------- */

/* The guide's table has the odds at a rate of 1 % and a million keys: the
 * planned rate, accepted, harms, and the keys lost by 1000 wrong removals. It
 * has the first row of each kind. */
static void wrong_guide(size_t row)
{
    if (row > 0 && registry_named(wrong_rows[row - 1].spec) == wrong_kind)
        return;
    static char guide[65536];
    bly_plan_t plan;
    char wanted[160];
    FILE *file = fopen(TEST_SOURCE_DIR "/docs/guide/removing-keys.md", "r");
    assert_non_null(file);
    guide[fread(guide, 1, sizeof guide - 1, file)] = '\0';
    fclose(file);
    wrong_plan(&plan, row, 1000000, 0.01);
    wrong_odds odds = wrong_rows[row].odds(&plan);
    snprintf(wanted, sizeof wanted,
             "| `%s` | %.3g %% | %.3g %% | %.3g %% | %.3g |",
             wrong_rows[row].spec, plan.rate < 1e-15 ? 0 : 100 * plan.rate,
             100 * odds.accepted, 100 * odds.harms, 1000 * odds.loses);
    if (strstr(guide, wanted) == NULL)
        fail_msg("docs/guide/removing-keys.md lacks the row %s", wanted);
}

static void wrong_odds_are_in_the_guide(void **state)
{
    (void)state;
    WRONG_EACH(wrong_guide);
}

/* Runs the tests with each kind of a list that removes. */
static int wrong_run(const bly_kind *const *kinds)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_removals_harm_as_derived),
        cmocka_unit_test(wrong_removals_lose_as_many_each),
        cmocka_unit_test(wrong_odds_are_in_the_guide),
    };
    int failed = 0;
    for (; *kinds != NULL; kinds++) {
        wrong_kind = *kinds;
        if (wrong_kind->remove != NULL)
            failed += cmocka_run_group_tests_name(wrong_kind->name, tests, NULL,
                                                  NULL);
    }
    return failed;
}

int main(void)
{
    return wrong_run(registry_kinds) + wrong_run(registry_foreign);
}
