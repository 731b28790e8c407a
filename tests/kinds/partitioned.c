/* partitioned.c - tests specific to kind `partitioned`: one bit per slice, and
 * an exact rate formula.
 */
#include "test.h"

#include "bits/bits.h"

static bly_filter *partitioned_new(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* The first add sets one bit in each slice, n adds at most n. */
static void test_one_bit_a_slice(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        bly_filter *filter = partitioned_new("partitioned:m=4096,k=8", 100);
        bly_add_hash(filter, test_random(seed, 0));
        const uint8_t *image = bly_image(filter, NULL);
        for (size_t slice = 0; slice < 8; slice++)
            assert_int_equal(bits_count(image + 128 + 64 * slice, 64), 1);
        for (uint64_t i = 1; i < 20; i++)
            bly_add_hash(filter, test_random(seed, i));
        image = bly_image(filter, NULL);
        for (size_t slice = 0; slice < 8; slice++)
            assert_in_range(bits_count(image + 128 + 64 * slice, 64), 10, 20);
        bly_free(filter);
    }
}

/* f = (1 - (1 - 1/M)^n)^k to the last digit, with the smallest M. */
static void test_plan_is_exact(void **state)
{
    (void)state;
    for (uint64_t n = 10; n < 1000000; n *= 7) {
        bly_spec spec = { .capacity = n, .rate = 0.002 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "partitioned", &spec), BLY_OK);
        double slice = (double)plan.geometry[0], k = (double)plan.geometry[1];
        double rate = pow(-expm1((double)n * log1p(-1 / slice)), k);
        assert_close(plan.rate, rate, 1e-9);
        assert_true(rate <= 0.002);
        double less = pow(-expm1((double)n * log1p(-1 / (slice - 8))), k);
        assert_true(less > 0.002);
        assert_int_equal(plan.bytes, 128 + (uint64_t)(slice * k) / 8);
    }
}

static void test_options(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1000, .rate = 0.01 };
    assert_status(bly_plan(&plan, "partitioned:k=4", &spec), BLY_OK);
    assert_int_equal(plan.probes, 4);
    assert_true(plan.rate <= 0.01);
    assert_status(bly_plan(&plan, "partitioned:m=9586", &spec), BLY_OK);
    assert_int_equal(plan.probes, 7);
    assert_int_equal(plan.geometry[0], 1376);   /* 9586/7 up to bytes */
    spec.capacity = 0;
    assert_status(bly_plan(&plan, "partitioned:m=9586,k=7", &spec), BLY_OK);
    assert_in_range(plan.capacity, 980, 1010);
    assert_status(bly_plan(&plan, "partitioned:k=4", &spec), BLY_EPARAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_bit_a_slice),
        cmocka_unit_test(test_plan_is_exact),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests_name("partitioned", tests, NULL, NULL);
}
