/* blocked.c - tests specific to kind `blocked`: a key stays in its line, and
 * the sizes of the essay's table.
 */
#include "test.h"

#include "bits/bits.h"

/* All bits of a key lie in one line of 64 bytes, and every line is used. */
static void test_one_line_a_key(void **state)
{
    (void)state;
    bool used[16] = { false };
    for (uint64_t i = 0; i < 500; i++) {
        bly_spec spec = { .capacity = 100 };
        bly_filter *filter = NULL;
        assert_status(bly_new(&filter, "blocked:m=8192,k=6", &spec), BLY_OK);
        bly_add_hash(filter, test_random(1, i));
        const uint8_t *image = bly_image(filter, NULL);
        size_t lines = 0;
        for (size_t line = 0; line < 16; line++) {
            uint64_t bits = bits_count(image + 128 + 64 * line, 64);
            lines += bits > 0;
            used[line] |= bits > 0;
            assert_in_range(bits, 0, 6);
        }
        assert_int_equal(lines, 1);
        bly_free(filter);
    }
    for (size_t line = 0; line < 16; line++)
        assert_true(used[line]);
}

/* Bits per key at the round rates match the essay. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { double rate, bits; uint64_t k; } rows[] = {
        { 0.1, 4.84, 3 }, { 0.01, 9.92, 6 }, { 0.001, 15.55, 9 },
        { 0.0001, 22.03, 12 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 100000000, .rate = rows[i].rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "blocked", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].bits, 0.001);
        assert_int_equal(plan.probes, rows[i].k);
        assert_close(plan.rate, rows[i].rate, 1e-5);
    }
}

/* With one line in 10^5 fewer the rate is missed, and no other k reaches it
 * with one in 10^4 fewer. */
static void test_least_lines(void **state)
{
    (void)state;
    for (double rate = 0.4; rate > 1e-7; rate *= 0.2) {
        bly_spec spec = { .capacity = 20000, .rate = rate };
        bly_plan_t best, other;
        assert_status(bly_plan(&best, "blocked", &spec), BLY_OK);
        assert_true(best.rate <= rate);
        for (unsigned k = 1; k <= 32; k++) {
            char kind[64];
            snprintf(kind, sizeof kind, "blocked:k=%u", k);
            assert_status(bly_plan(&other, kind, &spec), BLY_OK);
            assert_true(other.rate <= rate);
            assert_true((double)other.bytes >= 0.9999 * (double)best.bytes);
        }
        uint64_t lines = best.geometry[0] - best.geometry[0] / 100000 - 1;
        char less[64];
        snprintf(less, sizeof less, "blocked:m=%llu,k=%u",
                 (unsigned long long)lines * 512, best.probes);
        if (lines > 0) {
            assert_status(bly_plan(&other, less, &spec), BLY_OK);
            assert_true(other.rate > rate);
        }
    }
}

/* Two keys in one line with the same 32 bits are indistinguishable; the plan
 * includes that, and refuses rates below 10^-8. */
static void test_very_low_rates(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1000000 };
    static const double rates[] = { 1e-6, 3e-7, 1e-7, 3e-8, 1e-8 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double rate = spec.rate = rates[i];
        assert_status(bly_plan(&plan, "blocked", &spec), BLY_OK);
        assert_true(plan.rate <= rate);
        assert_true(plan.bits_per_key < 90);
        assert_true(plan.rate >= 1e6 / ((double)plan.geometry[0] * 4294967296));
    }
    spec.rate = 0.9e-8;
    assert_status(bly_plan(&plan, "blocked", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "use standard"));
}

/* More lines than allowed, with and without a given k. */
static void test_too_many_keys(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = UINT64_C(1) << 56, .rate = 0.01 };
    assert_status(bly_plan(&plan, "blocked", &spec), BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "2^48 lines"));
    assert_status(bly_plan(&plan, "blocked:k=6", &spec), BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "2^48 lines"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line_a_key),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_least_lines),
        cmocka_unit_test(test_very_low_rates),
        cmocka_unit_test(test_too_many_keys),
    };
    return cmocka_run_group_tests_name("blocked", tests, NULL, NULL);
}
