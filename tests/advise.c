/* advise.c - the advice never names a kind that cannot do the job, its order
 * follows from its figures, and every caller gets the same. bench/advise.c
 * checks that the predicted times are right.
 */
#include "image/abilities.h"
#include "bloomery/advice.h"

#include "advise/costs.h"
#include "test.h"

enum { ADVISE_NEED_BITS = 10, ADVISE_SUBSETS = 1 << ADVISE_NEED_BITS };

enum { ADVISE_MOST = 64 };

static bly_advice advise_out[ADVISE_MOST];

/* Copies the ranking and returns its length. */
static size_t advise_count(const bly_need *need)
{
    bly_ranking *ranking;
    assert_status(bly_advise(&ranking, need), BLY_OK);
    size_t n = bly_ranking_count(ranking);
    assert_true(n < ADVISE_MOST);
    for (size_t i = 0; i < n; i++)
        advise_out[i] = *bly_ranking_at(ranking, i);
    bly_ranking_free(ranking);
    return n;
}

/* The needs that are tried together, as bits: the abilities and
 * ADVISE_EXACT. */
#define ADVISE_NEEDS(X)                                                        \
    X(REMOVE, BLY_CAN_REMOVE) X(COUNT, BLY_CAN_COUNT) X(GROW, BLY_CAN_GROW)    \
    X(UNITE, BLY_CAN_UNITE) X(STATIC, 0) X(FORGET, BLY_CAN_FORGET)             \
    X(LABEL, BLY_CAN_LABEL) X(EXACT, BLY_CAN_EXACT) X(PAGE, BLY_CAN_PAGE)      \
    X(SHARE, BLY_CAN_SHARE)

enum {
#define ADVISE_BIT(name, can) ADVISE_BIT_##name,
    ADVISE_NEEDS(ADVISE_BIT)
#undef ADVISE_BIT
#define ADVISE_NEED(name, can) NEED_##name = 1 << ADVISE_BIT_##name,
    ADVISE_NEEDS(ADVISE_NEED)
#undef ADVISE_NEED
};

static bly_need advise_some(unsigned needs)
{
    static const uint64_t can[] = {
#define ADVISE_CAN(name, flag) flag,
        ADVISE_NEEDS(ADVISE_CAN)
#undef ADVISE_CAN
    };
    bly_need need = { .capacity = 100000, .rate = 0.01, .present = 0.5,
                      .fixed = (needs & NEED_STATIC) != 0 };
    for (unsigned i = 0; i < ADVISE_NEED_BITS; i++)
        need.can |= (needs >> i & 1) != 0 ? can[i] : 0;
    return need;
}

/* Returns whether the listing gives a kind this ability. */
static bool advise_able(const char *text, uint64_t ability)
{
    return (bly_kind_find(text)->can & ability) == ability;
}

/* ---- Kinds that are advised --------------------------------------------- */

static void advise_check_able(const bly_advice *a, unsigned needs)
{
    assert_true(
        advise_able(a->kind, advise_some(needs & ~(unsigned)NEED_EXACT).can));
    assert_true(advise_able(a->kind, BLY_CAN_ADD)
                || (needs & NEED_STATIC) != 0);
    assert_true(!advise_able(a->kind, BLY_CAN_FORGET)
                || (needs & NEED_FORGET) != 0);
    assert_true(!advise_able(a->kind, BLY_CAN_SEPARATE)
                || (needs & NEED_EXACT) != 0);
}

/* Tries every subset of needs: each kind is listed once, suitable kinds come
 * first, and every other has a reason. */
static void test_every_need(void **state)
{
    (void)state;
    bly_need plain = advise_some(0);
    size_t all = advise_count(&plain), answered = 0;
    size_t kinds;
    bly_kinds(&kinds);
    assert_true(all >= kinds && all < ADVISE_MOST);
    for (unsigned needs = 0; needs < ADVISE_SUBSETS; needs++) {
        bly_need need = advise_some(needs);
        assert_int_equal(advise_count(&need), all);
        answered += advise_out[0].fits;
        for (size_t i = 0; i < all; i++) {
            const bly_advice *a = &advise_out[i];
            assert_true(a->why[0] != '\0');
            assert_null(strchr(a->why, '\n'));
            if (i > 0 && a->fits)
                assert_true(advise_out[i - 1].fits
                            && advise_out[i - 1].score <= a->score);
            if (a->fits)
                advise_check_able(a, needs);
        }
    }
    assert_true(answered > 0 && answered < ADVISE_SUBSETS);
}

/* Every single need has an answer except exactness: an exact kind must know all
 * keys, or hold only a few. */
static void test_single_needs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ADVISE_NEED_BITS; i++) {
        bly_need need = advise_some(1U << i);
        advise_count(&need);
        assert_int_equal(advise_out[0].fits, (1U << i) != NEED_EXACT);
    }
    bly_need exact = advise_some(NEED_EXACT | NEED_STATIC);
    advise_count(&exact);
    assert_string_equal(advise_out[0].kind, "cascade");
    exact = advise_some(NEED_EXACT);
    exact.capacity = 20;
    advise_count(&exact);
    assert_string_equal(advise_out[0].kind, "egh");
}

/* Some kinds have `remove` but cannot remove every key, or may find a removed
 * key again. */
static void test_remove_means_any(void **state)
{
    (void)state;
    bly_need need = advise_some(NEED_REMOVE);
    size_t n = advise_count(&need), seen = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(advise_out[i].kind, "deletable") == 0
            || strcmp(advise_out[i].kind, "twin") == 0) {
            assert_false(advise_out[i].fits);
            assert_non_null(strstr(advise_out[i].why, "BLY_E"));
            assert_non_null(strstr(advise_out[i].lacks, "full remove"));
            seen++;
        }
    assert_int_equal(seen, 2);
}

/* Adds one key `times` times and returns its count, or 0 if an add was
 * refused. */
static uint64_t advise_came(const char *kind, double rate, uint64_t times)
{
    bly_spec spec = { .capacity = 1000, .rate = rate };
    bly_filter *filter;
    bly_status status = BLY_OK;
    uint64_t count;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    for (uint64_t i = 0; status >= 0 && i < times; i++)
        status = bly_add_hash(filter, UINT64_C(0x9E3779B97F4A7C15));
    count = status < 0 ? 0 : bly_count_hash(filter,
                                            UINT64_C(0x9E3779B97F4A7C15));
    bly_free(filter);
    return count;
}

/* Each kind counts as far as it claims; without a claim, further than that. */
static void test_count_limits(void **state)
{
    (void)state;
    bly_need need = advise_some(NEED_COUNT);
    size_t n = advise_count(&need), counts = 0;
    for (size_t i = 0; i < n; i++) {
        const bly_advice *a = &advise_out[i];
        unsigned most = 0;
        if (!advise_able(a->kind, BLY_CAN_COUNT))
            continue;
        if (sscanf(a->why, "it counts only to %u", &most) != 1
            && sscanf(a->limit, "counts to %u", &most) != 1
            && strstr(a->why, "eight times") != NULL)
            most = 8;
        assert_int_equal(a->fits, most == 0 || most > 11);
        for (double rate = 1e-2; rate > 1e-7; rate /= 100)
            for (unsigned times = 1; times < 40;
                 times += (unsigned)test_work(1, 1, 7)) {
                uint64_t told = advise_came(a->kind, rate, times);
                assert_true(most != 0 && times > most
                            ? told == 0 || told == UINT64_MAX : told == times);
            }
        counts++;
    }
    assert_true(counts > 5);
}

/* A plan shows which labels a kind lacks. */
static void test_labels(void **state)
{
    (void)state;
    for (uint64_t most = 1; most > 0 && most < UINT64_C(1) << 62; most *= 2) {
        bly_need need = advise_some(NEED_LABEL | NEED_STATIC);
        need.label_most = most;
        size_t n = advise_count(&need);
        for (size_t i = 0; i < n; i++)
            assert_true(!advise_out[i].fits
                        || advise_out[i].plan.label_most >= most);
        assert_int_equal(advise_out[0].fits, most <= UINT32_MAX);
    }
    bly_need need = advise_some(NEED_LABEL);
    advise_count(&need);
    assert_int_equal(advise_out[0].plan.label_most, 255);
}

/* ---- The figures and the order ------------------------------------------- */

/* The plan equals that of bly_plan, keeps the rate, and the first kind can be
 * built. */
static void test_plans(void **state)
{
    (void)state;
    bly_need need = advise_some(NEED_STATIC);
    bly_spec spec = { .capacity = need.capacity, .rate = need.rate };
    size_t n = advise_count(&need);
    for (size_t i = 0; i < n && advise_out[i].fits; i++) {
        bly_plan_t plan;
        const bly_advice *a = &advise_out[i];
        assert_status(bly_plan(&plan, a->kind, &spec), BLY_OK);
        assert_true(plan.bytes == a->plan.bytes);
        assert_true(a->plan.rate <= need.rate * 1.0001);
        assert_true(a->ns_present > 0 && a->ns_absent > 0 && a->ns_add > 0);
        assert_true(isfinite(a->ns_lookup) && a->ns_lookup > 0);
    }
    uint64_t key = 1;
    bly_filter *filter;
    assert_status(bly_build(&filter, advise_out[0].kind, &spec,
                            &(bly_keys){ .n = 1, .hashes = &key }),
                  BLY_OK);
    bly_free(filter);
}

/* A kind is beaten if one before it is at least as good in every figure; the
 * entry names that one. The first is never beaten. */
static void test_beaten(void **state)
{
    (void)state;
    for (unsigned needs = 0; needs < ADVISE_SUBSETS; needs += NEED_STATIC) {
        bly_need need = advise_some(needs);
        size_t n = advise_count(&need);
        for (size_t i = 0; i < n && advise_out[i].fits; i++) {
            const bly_advice *b = &advise_out[i], *by = NULL;
            for (size_t j = 0; j < i && by == NULL; j++) {
                const bly_advice *a = &advise_out[j];
                if (!a->beaten && a->ns_lookup <= 1.2 * b->ns_lookup
                    && a->ns_add <= 1.2 * b->ns_add
                    && (double)a->plan.bytes <= 1.01 * (double)b->plan.bytes)
                    by = a;
            }
            assert_int_equal(b->beaten, by != NULL);
            assert_int_equal(strstr(b->why, " gain: ") != NULL, by != NULL);
            if (by != NULL)
                assert_non_null(strstr(b->why, by->kind));
        }
    }
}

/* The praise of the first kind is true. */
static void test_praise(void **state)
{
    (void)state;
    bly_need need = advise_some(NEED_PAGE);
    advise_count(&need);
    assert_string_equal(advise_out[0].why, "the only kind that can");
    for (int aim = BLY_AIM_FAST; aim <= BLY_AIM_SMALL; aim++)
        for (need.rate = 0.3; need.rate > 1e-9; need.rate /= 3) {
            need.can = 0;
            need.aim = (bly_aim)aim;
            size_t n = advise_count(&need);
            bool best = true;
            for (size_t i = 1; i < n && advise_out[i].fits; i++)
                best = best && (aim == BLY_AIM_FAST
                     ? advise_out[0].ns_lookup <= advise_out[i].ns_lookup
                     : advise_out[0].plan.bytes <= advise_out[i].plan.bytes);
            const char *praise = aim == BLY_AIM_FAST ? "the fastest"
                                                     : "the smallest";
            assert_int_equal(strncmp(advise_out[0].why, praise, strlen(praise))
                             == 0, best);
        }
}

/* A larger limit never makes the first advice worse, and none exceeds it. */
static void test_memory_limit(void **state)
{
    (void)state;
    static const unsigned needs[] = { 0, NEED_REMOVE, NEED_STATIC,
                                      NEED_LABEL };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        for (int aim = BLY_AIM_BALANCE; aim <= BLY_AIM_SMALL; aim++) {
            bly_need need = advise_some(needs[i]);
            double last = INFINITY;
            need.aim = (bly_aim)aim;
            for (need.memory = 50000; need.memory < 4000000;
                 need.memory += need.memory / test_work(8, 3, 1)) {
                advise_count(&need);
                assert_true(advise_out[0].fits || isinf(last));
                if (!advise_out[0].fits)
                    continue;
                assert_true(advise_out[0].plan.bytes <= need.memory);
                assert_true(advise_out[0].score <= last);
                last = advise_out[0].score;
            }
            assert_true(isfinite(last));
        }
}

/* For each aim, the first kind is no worse than the others by that measure. */
static void test_aims(void **state)
{
    (void)state;
    bly_advice first[3];
    for (int aim = BLY_AIM_BALANCE; aim <= BLY_AIM_SMALL; aim++) {
        bly_need need = advise_some(NEED_STATIC);
        need.aim = (bly_aim)aim;
        advise_count(&need);
        first[aim] = advise_out[0];
    }
    const bly_advice *fast = &first[BLY_AIM_FAST],
                     *small = &first[BLY_AIM_SMALL];
    assert_true(small->plan.bytes <= first[BLY_AIM_BALANCE].plan.bytes);
    assert_true(small->plan.bytes <= fast->plan.bytes);
    assert_true(fast->ns_lookup <= first[BLY_AIM_BALANCE].ns_lookup);
    bly_need disk = advise_some(NEED_PAGE);
    bly_advice a, b;
    disk.aim = BLY_AIM_FAST;
    disk.memory = 1;                    /* not of what is in memory */
    advise_count(&disk);
    a = advise_out[0];
    disk.aim = BLY_AIM_SMALL;
    advise_count(&disk);
    b = advise_out[0];
    assert_true(a.fits);
    assert_string_equal(a.kind, b.kind);
}

/* ---- Costs --------------------------------------------------------------- */

/* Kinds that have no costs, and why. */
static const struct { const char *kind, *reason; } advise_free[] = {
    { "egh", "it ends at some hundreds of integers; a cost point has more" },
};

static bool advise_costs_known(const char *kind)
{
    for (size_t i = 0; i < sizeof advise_kind_costs / sizeof(bly_cost); i++)
        if (strcmp(advise_kind_costs[i].kind, kind) == 0)
            return true;
    return false;
}

static bool advise_has_reason(const char *kind)
{
    for (size_t i = 0; i < sizeof advise_free / sizeof *advise_free; i++)
        if (strcmp(advise_free[i].kind, kind) == 0)
            return true;
    return false;
}

/* Every kind that can be advised has built-in costs. Those without have a
 * reason: no filter can be planned the way they are measured. */
static void test_every_kind_has_costs(void **state)
{
    (void)state;
    static const bly_spec least = { .capacity = 100000, .rate = 0.01 };
    bly_need need = advise_some(0);
    size_t n = advise_count(&need), known = 0;
    for (size_t i = 0; i < n; i++) {
        const char *kind = advise_out[i].kind;
        bly_plan_t plan;
        if (!advise_costs_known(kind) && !advise_has_reason(kind))
            fail_msg("%s has no costs: measure them (CONTRIBUTING.md), or add "
                     "it to advise_free with a reason", kind);
        if (advise_has_reason(kind))
            assert_true(bly_plan(&plan, kind, &least) < 0);
        known += advise_costs_known(kind);
    }
    assert_int_equal(known, sizeof advise_kind_costs / sizeof(bly_cost));
}

/* Plans that fail here do not replace the last error of another verb. */
static void test_leaves_the_last_error(void **state)
{
    (void)state;
    bly_need need = advise_some(0);
    bly_ranking *ranking;
    char before[512];
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "nosuch", &(bly_spec){ .capacity = 1 }),
                  BLY_EKIND);
    snprintf(before, sizeof before, "%s", bly_why());
    assert_int_equal(bly_advise(&ranking, &need), BLY_OK);
    assert_string_equal(bly_why(), before);
    bly_ranking_free(ranking);
}

static const bly_line_cost advise_near_line = { 1024, 1 },
                           advise_far_line = { 1 << 20, 1 };
static const bly_line_cost *const advise_flat[] = { &advise_near_line,
                                                    &advise_far_line };

/* Among kinds without measurements an equal number of cache lines costs the
 * same, so the size decides; equal sizes keep the order of the listing. */
static void test_no_costs(void **state)
{
    (void)state;
    bly_costs costs = { .line = advise_flat, .lines = 2 };
    bly_need need = advise_some(0);
    need.costs = &costs;
    size_t n = advise_count(&need);
    for (size_t i = 1; i < n && advise_out[i].fits; i++) {
        const bly_advice *a = &advise_out[i - 1], *b = &advise_out[i];
        if (a->plan.lines_present == b->plan.lines_present
            && a->plan.lines_absent == b->plan.lines_absent)
            assert_true(a->plan.bytes <= b->plan.bytes);
    }
}

/* Allows for one cache line in a thousand, as sizes differ by that much. */
static void advise_near(double told, double wanted)
{
    assert_true(fabs(told - wanted) < 0.001 * wanted);
}

/* Costs given by the caller are used: exactly at the measured points, and
 * interpolated between them. */
static void test_given_costs(void **state)
{
    (void)state;
    bly_cost cost = { .kind = "standard", .at = {
        { 10, 4, 8, 20 }, { 13, 4, 10, 25 }, { 16, 4, 12, 30 },
        { 19, 4, 14, 35 }, { 22, 4, 16, 40 }, { 12, 5, 10, 22 },
        { 30, 9, 20, 50 } } };
    const bly_cost *const kinds[] = { &cost };
    bly_costs costs = { .line = advise_flat, .lines = 2, .kind = kinds,
                        .kinds = 1 };
    bly_need need = advise_some(0);
    need.costs = &costs;
    static const struct { uint64_t keys; double present, absent, mixed; } at[] =
        { { 1000, 10, 4, 8 }, { 100000, 10, 4, 8 }, { 1000000, 12, 5, 10 },
          { 10000000, 30, 9, 20 }, { 1000000000, 30, 9, 20 } };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        need.capacity = at[i].keys;
        size_t n = advise_count(&need), seen = 0;
        for (size_t j = 0; j < n; j++)
            if (strcmp(advise_out[j].kind, "standard") == 0) {
                advise_near(advise_out[j].ns_present, at[i].present);
                advise_near(advise_out[j].ns_absent, at[i].absent);
                advise_near(advise_out[j].ns_lookup, at[i].mixed);
                seen++;
            }
        assert_int_equal(seen, 1);
    }
}

/* ---- The call ------------------------------------------------------------ */

static void test_ranking(void **state)
{
    (void)state;
    bly_need need = advise_some(0);
    bly_ranking *ranking = NULL;
    assert_status(bly_advise(&ranking, &need), BLY_OK);
    size_t n = bly_ranking_count(ranking);
    assert_true(n > 30);
    assert_non_null(bly_ranking_at(ranking, n - 1));
    assert_null(bly_ranking_at(ranking, n));
    assert_null(bly_ranking_at(ranking, SIZE_MAX));
    bly_ranking_free(ranking);
    bly_ranking_free(NULL);
}

static void advise_refused(bly_need need)
{
    bly_ranking *ranking = NULL;
    assert_status(bly_advise(&ranking, &need), BLY_EPARAM);
    assert_true(bly_why()[0] != '\0');
    assert_null(ranking);
}

static void test_refuses(void **state)
{
    (void)state;
    bly_costs costs = { .line = advise_flat, .lines = 1 };
    advise_refused((bly_need){ .rate = 0.01 });
    advise_refused((bly_need){ .capacity = 1, .rate = 1 });
    advise_refused((bly_need){ .capacity = 1, .rate = -0.1 });
    advise_refused((bly_need){ .capacity = 1, .rate = NAN });
    advise_refused((bly_need){ .capacity = 1, .present = 1.1 });
    advise_refused((bly_need){ .capacity = 1, .present = NAN });
    advise_refused(
        (bly_need){.capacity = 1, .can = UINT64_C(1) << BLY_ABILITIES});
    advise_refused((bly_need){ .capacity = 1, .reserved = { 1 } });
    advise_refused((bly_need){ .capacity = 1, .zero = { true } });
    advise_refused((bly_need){ .capacity = 1, .aim = (bly_aim)3 });
    advise_refused((bly_need){ .capacity = 1, .costs = &costs });
    const bly_cost newer = { .kind = "standard",
                             .reserved = { { .present = 1 } } };
    const bly_cost *const kinds[] = { &newer };
    costs = (bly_costs){ .line = advise_flat, .lines = 2, .kind = kinds,
                         .kinds = 1 };
    advise_refused((bly_need){ .capacity = 1, .costs = &costs });
}

/* From one key to more than fits in memory, there is advice or a reason. */
static void test_extremes(void **state)
{
    (void)state;
    static const uint64_t keys[] = { 1, 2, 1000, UINT64_C(1) << 40,
                                     UINT64_C(1) << 60, UINT64_MAX };
    static const double rates[] = { 0.999, 0.5, 1e-3, 1e-9, 1e-15, 1e-300 };
    const size_t step = test_work(1, 2, 3);
    for (size_t i = step - 1; i < sizeof keys / sizeof *keys; i += step)
        for (size_t j = step - 1; j < sizeof rates / sizeof *rates; j += step) {
            bly_need need = { .capacity = keys[i], .rate = rates[j],
                              .present = 0.5, .fixed = true };
            size_t n = advise_count(&need);
            for (size_t k = 0; k < n; k++) {
                assert_true(advise_out[k].why[0] != '\0');
                assert_true(isfinite(advise_out[k].score));
            }
        }
}

/* Kinds that count only up to a limit drop out. `counting` is planned for the
 * requested count, which costs memory; other kinds stay as they are. */
static void test_at_least(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t most; } rows[] = {
        { "dleft", 2 }, { "layered", 7 }, { "cuckoo", 8 },
        { "variable", 15 }, { "quotient", 65535 }, { "standard", 0 },
    };
    uint64_t least = UINT64_MAX;
    for (uint64_t times = 1; times <= 20; times++) {
        bly_need need = { .capacity = 100000, .rate = 0.001, .present = 0.5,
                          .times = times };
        size_t n = advise_count(&need);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t j = 0; j < n; j++)
                if (strcmp(advise_out[j].kind, rows[i].kind) == 0) {
                    assert_int_equal(advise_out[j].fits,
                                     times <= rows[i].most);
                    assert_true(!advise_out[j].fits
                                || advise_out[j].nearly
                                   == advise_out[j].plan.rate);
                }
        for (size_t j = 0; j < n; j++)
            if (strncmp(advise_out[j].kind, "counting:", 9) == 0) {
                assert_true(advise_out[j].fits);
                assert_true(advise_out[j].limit[0] == '\0');
                uint64_t m = advise_out[j].plan.geometry[0];
                assert_true(times < 2 || m < least);
                assert_true(times < 2
                            || advise_out[j].nearly > advise_out[j].plan.rate);
                least = m;
            }
    }
    assert_true(least < 100000);
    bly_need huge = { .capacity = UINT64_MAX, .rate = 1e-9, .times = 2 };
    size_t n = advise_count(&huge);
    for (size_t j = 0; j < n; j++)
        if (strncmp(advise_out[j].kind, "counting", 8) == 0)
            assert_true(!advise_out[j].fits
                        && strstr(advise_out[j].why, "2^56") != NULL);
    bly_ranking *ranking;
    bly_need far = { .capacity = 1, .times = 65536 };
    assert_status(bly_advise(&ranking, &far), BLY_EPARAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_need),
        cmocka_unit_test(test_single_needs),
        cmocka_unit_test(test_remove_means_any),
        cmocka_unit_test(test_count_limits),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_beaten),
        cmocka_unit_test(test_praise),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_aims),
        cmocka_unit_test(test_every_kind_has_costs),
        cmocka_unit_test(test_leaves_the_last_error),
        cmocka_unit_test(test_no_costs),
        cmocka_unit_test(test_given_costs),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
