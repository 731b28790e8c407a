/* rates.c - laws about members, strangers and the rate of false positives. */
#include "laws/laws.h"

static void law_empty_knows_nothing(void **state)
{
    (void)state;
    bly_filter *filter = laws_new(1000, 0.01, 0, 0);
    assert_int_equal(laws_present(filter, 1, 10000), 0);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items == 0 && stat.items_exact);
    assert_true(stat.fill == 0 && stat.distinct == 0 && stat.rate == 0);
    bly_free(filter);
}

static void law_no_false_negative(void **state)
{
    (void)state;
    LAWS_NEED_MEMORY();
    static const uint64_t sizes[] = { 1, 2, 7, 64, 1000, 100000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_filter *filter = laws_of(sizes[i], 0.01, 1, sizes[i]);
        assert_int_equal(laws_present(filter, 1, sizes[i]), sizes[i]);
        bly_free(filter);
    }
}

/* Over its capacity a filter either reports that it is full, or still finds
 * every key. If it does not grow, its rate then rises. */
static void law_overfull_loses_nothing(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    if (laws_kind->forgets)
        skip();
    bly_filter *filter = laws_new(100, 0.01, 0, 0);
    uint64_t in = 0;
    while (in < 20000 && bly_add_hash(filter, test_random(1, in)) >= 0)
        in++;
    assert_true(in >= 100);
    assert_int_equal(laws_present(filter, 1, in), in);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, in);
    if (laws_kind->growing != NULL)
        assert_true(in == 20000 && stat.rate <= 0.01);
    else if (in > 200)
        assert_true(stat.rate > 2 * stat.planned_rate);
    bly_free(filter);
}

static uint64_t laws_grown(const bly_spec *spec, double keys)
{
    bly_plan_t plan;
    assert_status(bly_plan_grown(&plan, laws_kind->name, spec, (uint64_t)keys),
                  BLY_OK);
    assert_true(plan.capacity >= (uint64_t)keys && plan.fill <= 1);
    assert_true(laws_kept(plan.rate, 0.01) && plan.probes >= 1);
    return plan.bytes;
}

/* The plan of a filter that grows has the size that the filter has later. Keys
 * that are there by chance, and copies of short fingerprints, are not planned.
 */
static void law_growth_is_planned(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = laws_unplanned() ? 0 : 100 };
    bly_plan_t plan;
    bool grows = laws_kind->growing != NULL && laws_kind->foreign == NULL;
    if (!grows) {
        assert_status(bly_plan_grown(&plan, laws_kind->name, &spec,
                                     UINT64_MAX), BLY_EUNSUPPORTED);
        return;
    }
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_true(laws_grown(&spec, 1) == plan.bytes);
    assert_true(bly_plan_grown(&plan, laws_kind->name, &spec, UINT64_MAX) < 0);
    bly_filter *filter = laws_make(&spec);
    uint64_t more = test_work(1000000, 200000, 20000), in = 0;
    for (uint64_t n = 100; n <= more; n += n / 8) {
        for (; in < n; in++)
            assert_true(bly_add_hash(filter, test_random(1, in)) >= 0);
        bly_info_t info;
        assert_status(bly_info(&info, filter), BLY_OK);
        assert_in_range(info.bytes, laws_grown(&spec, 0.9 * (double)n),
                        laws_grown(&spec, 1.1 * (double)n));
    }
    bly_free(filter);
}

/* Measures the rate. The planned rate of a kind that grows or has a window
 * holds for any number of keys. A kind that forgets without a window reaches it
 * in a long stream. */
static void laws_measure(uint64_t n, double rate, uint64_t filters,
                         uint64_t asked)
{
    n = laws_room(n);
    bly_spec spec = { .capacity = n, .rate = rate };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_true(laws_kept(plan.rate, rate));

    uint64_t hits = 0, in = plan.window == 0 ? 8 * n : n;
    bly_filter *empty = laws_new(n, rate, 0, 0);
    for (uint64_t f = 0; f < filters; f++) {
        bly_filter *filter = laws_frozen()
                           ? laws_build(rate, 2 * f + 10, in)
                           : laws_fill(empty, 2 * f + 10, in);
        hits += laws_present(filter, 2 * f + 11, asked);
        bly_free(filter);
    }
    bly_free(empty);
    bool most = laws_kind->growing != NULL
             || (laws_kind->forgets && plan.window > 0);
    /* the rate of many more keys: fewer hits are right */
    if (!most || (double)hits > plan.rate * (double)(filters * asked))
        assert_within(hits, filters * asked, plan.rate,
                      plan.rate_sd / sqrt((double)filters));
}

static void law_measured_rate_is_planned(void **state)
{
    (void)state;
    TEST_STATISTICS();
    static const double rates[] = { 0.5, 0.1, 0.01, 0.001, 0.0001 };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        laws_measure(100, rates[r], test_work(200, 100, 100), 4000);
        laws_measure(10000, rates[r], test_work(10, 4, 4), 100000);
        laws_measure(test_work(300000, 100000, 100000), rates[r], 1,
                     test_work(1000000, 400000, 400000));
    }
}

/* The rate from bly_info, computed from the bits alone, is the measured one;
 * over capacity too, unless the filter is full before. */
static void law_stat_tells_the_rate(void **state)
{
    (void)state;
    uint64_t room = laws_room(10000);
    uint64_t most = laws_kind->forgets ? room : 4 * room;
    for (uint64_t n = room / 2; n <= most; n *= 2) {
        bly_filter *filter = laws_frozen() ? laws_build(0.01, 5, n)
                                           : laws_new(room, 0.01, 0, 0);
        uint64_t in = laws_frozen() ? n : 0;
        while (in < n && bly_add_hash(filter, test_random(5, in)) >= 0)
            in++;
        assert_true(in == n || in >= room);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        uint64_t asked = test_work(1000000, 300000, 50000);
        assert_within(laws_present(filter, 6, asked), asked, stat.rate, 0);
        assert_true(fabs(stat.distinct - (double)in)
                    <= 5 * stat.distinct_sd + 1);
        assert_true(stat.items == in && stat.items_exact);
        bly_free(filter);
    }
}

static void law_add_tells_new_from_seen(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    LAWS_NEED_MEMORY();
    bly_filter *filter = laws_new(3000, 0.001, 0, 0);
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < 1000; i++)
        fresh += bly_add_hash(filter, test_random(1, i)) == BLY_OK;
    assert_true(fresh >= 990); /* false positives: 1 at most expected */
    for (uint64_t i = 0; i < 1000; i++)
        assert_status(bly_add_hash(filter, test_random(1, i)), BLY_SEEN);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, 2000);
    assert_true(fabs(stat.distinct - 1000) <= 5 * stat.distinct_sd + 1);
    bly_free(filter);
}

static const struct CMUnitTest rates_laws[] = {
    cmocka_unit_test(law_empty_knows_nothing),
    cmocka_unit_test(law_no_false_negative),
    cmocka_unit_test(law_overfull_loses_nothing),
    cmocka_unit_test(law_growth_is_planned),
    cmocka_unit_test(law_measured_rate_is_planned),
    cmocka_unit_test(law_stat_tells_the_rate),
    cmocka_unit_test(law_add_tells_new_from_seen),
};

const laws_group laws_rates = LAWS_GROUP(rates_laws);
