/* plans.c - laws about plans and specifications. */
#include "laws/laws.h"

static void law_plan_is_kept(void **state)
{
    (void)state;
    uint64_t most = laws_exact() ? laws_room(1000000) : 1000000;
    for (uint64_t n = 1; n <= most; n = n * 10 + 3) {
        bly_spec spec = { .capacity = n, .rate = 0.003 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        bly_filter *filter = laws_frozen() ? laws_build(0.003, 1, n)
                                           : laws_new(n, 0.003, 0, 0);
        bly_info_t stat;
        size_t bytes;
        assert_status(bly_info(&stat, filter), BLY_OK);
        bly_image(filter, &bytes);
        assert_string_equal(plan.kind, laws_kind->name);
        assert_true(plan.bytes == bytes
                    || (laws_frozen() && plan.bytes > bytes));
        assert_int_equal(stat.bytes, bytes);
        assert_true(plan.capacity == n && stat.capacity == n);
        assert_true(laws_kept(plan.rate, 0.003));
        assert_true(plan.rate == stat.planned_rate);
        assert_true(plan.rate_sd >= 0 && plan.fill > 0 && plan.fill < 1);
        assert_close(plan.bits_per_key, 8 * (double)plan.bytes / (double)n,
                     1e-12);
        if (!laws_frozen())
            assert_memory_equal(plan.geometry, stat.geometry,
                                sizeof plan.geometry);
        bly_free(filter);
    }
}

/* A request for exactly the rate of a fingerprint of whole bytes does not take
 * one more bit: the chance of equal hashes is too small for that. */
static void law_plan_takes_round_rates_at_their_word(void **state)
{
    (void)state;
    uint64_t n = laws_room(1000000);
    bly_spec round = { .capacity = n, .rate = 1.0 / 256 };
    bly_spec above = { .capacity = n, .rate = 1.0001 / 256 };
    bly_plan_t a, b;
    assert_status(bly_plan(&a, laws_kind->name, &round), BLY_OK);
    assert_status(bly_plan(&b, laws_kind->name, &above), BLY_OK);
    assert_true((double)a.bytes < 1.02 * (double)b.bytes);
}

/* Returns the size that the kind minimizes: of the image, or of its packed
 * form. */
static uint64_t laws_size(const bly_plan_t *plan)
{
    return plan->packed != 0 ? plan->packed : plan->bytes;
}

/* More keys or a lower rate never take fewer bytes. */
static void law_plan_is_monotone(void **state)
{
    (void)state;
    uint64_t last = 0, most = laws_room(3000);
    const double factor = (double)test_work(8, 5, 3) / 10;
    for (uint64_t n = 1; n < most; n += test_work(7, 30, 70)) {
        bly_spec spec = { .capacity = n, .rate = 0.02 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        assert_true(laws_size(&plan) >= last);
        last = laws_size(&plan);
    }
    last = 0;
    for (double rate = 0.9; rate > 1e-6; rate *= factor) {
        bly_spec spec = { .capacity = laws_room(50000), .rate = rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        assert_true(laws_size(&plan) >= last);
        last = laws_size(&plan);
    }
}

/* Plans without building: 10^9 keys, and too many. Kinds with whole bits per
 * fingerprint may need up to one bit too many. */
static void law_plan_knows_big_sizes(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000000000, .rate = 0.01 };
    bly_plan_t plan;
    if (laws_exact()) {
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_ETOOBIG);
        return;
    }
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    bool bits = strcmp(laws_kind->family, "sets") == 0;
    assert_true(plan.bytes > UINT64_C(830000000));      /* log2(1/rate) bits */
    assert_true(plan.bytes > UINT64_C(1150000000) || !bits);
    assert_true(laws_kept(plan.rate, 0.01));
    assert_true(plan.rate > (bits ? 0.0099 : 0.0024));

    spec.capacity = UINT64_MAX;
    spec.rate = 0.9999;
    bly_status status = bly_plan(&plan, laws_kind->name, &spec);
    assert_true(status == BLY_ETOOBIG || status == BLY_EPARAM);
    assert_true(strlen(bly_why()) > 20);
}

static void law_bad_specs_are_refused(void **state)
{
    (void)state;
    static const double rates[] = { -1, 1, 2, 1e300, 1e-300 };
    bly_filter *untouched = (bly_filter *)state;
    bly_spec spec = { .capacity = 100 };
    for (size_t i = 0; i <= sizeof rates / sizeof *rates; i++) {
        spec.rate = i < sizeof rates / sizeof *rates ? rates[i] : (double)NAN;
        assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    }
    spec = (bly_spec){ .rate = 0.01 };
    if (!laws_unplanned())
        assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    spec = (bly_spec){ .capacity = 10, .hash = "md5" };
    assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EHASH);
    spec = (bly_spec){ .capacity = 10, .flags = BLY_MAP };
    assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    char name[64];
    snprintf(name, sizeof name, "%s:nonsense=1", laws_kind->name);
    spec = (bly_spec){ .capacity = 10 };
    assert_status(bly_new(&untouched, name, &spec), BLY_EOPTION);
    assert_ptr_equal(untouched, state);
}

static const struct CMUnitTest plans_laws[] = {
    cmocka_unit_test(law_plan_is_kept),
    cmocka_unit_test(law_plan_takes_round_rates_at_their_word),
    cmocka_unit_test(law_plan_is_monotone),
    cmocka_unit_test(law_plan_knows_big_sizes),
    cmocka_unit_test(law_bad_specs_are_refused),
};

const laws_group laws_plans = LAWS_GROUP(plans_laws);
