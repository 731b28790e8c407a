/* exim.c - tests specific to format `exim`: the places of an event, and sizes.
 */
#include "test.h"
#include "vectors.h"

static void test_places(void **state)
{
    (void)state;
    static const int bits[] = {
        8 * 30 + 5, 8 * 31 + 1, 8 * 23 + 5, 8 * 24 + 1, 8 * 16 + 5, 8 * 17 + 1,
        8 * 9 + 5, 8 * 10 + 1, -1,
    };
    static const char event[] = "user@example.com";
    bly_filter *filter = vector_new("exim", 20, 0);
    assert_status(bly_add(filter, event, sizeof event - 1), BLY_OK);
    vector_bits(filter, 0, bits);
    bly_free(filter);
}

static void test_rates(void **state)
{
    (void)state;
    static const struct { uint64_t n; double rate; } rates[] = {
        { 500, 1.07e-5 }, { 1000, 5.87e-4 }, { 2000, 0.0255 }, { 4000, 0.312 },
    };
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1000 };
    assert_status(bly_plan(&plan, "exim", &spec), BLY_OK);
    assert_int_equal(plan.geometry[0], 16000);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        bly_info_t stat;
        bly_filter *filter = vector_new("exim", 1000, 0);
        for (uint64_t j = 0; j < rates[i].n; j++)
            assert_true(bly_add(filter, &j, sizeof j) >= 0);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(fabs(stat.rate - rates[i].rate) < 0.25 * rates[i].rate);
        bly_free(filter);
    }
    spec.capacity = 1;
    assert_status(bly_plan(&plan, "exim", &spec), BLY_OK);
    assert_int_equal(plan.geometry[0], 8 * 40);
    vector_refused((const uint8_t *)"", 0, "exim", BLY_ECORRUPT, "1 to 2^29");
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests_name("exim", tests, NULL, NULL);
}
