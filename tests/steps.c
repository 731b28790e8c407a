/* steps.c - planning ends soon for any input: each kind is planned for a grid
 * of odd capacities and rates while its steps are counted. Removals from a
 * crowded `quotient` are counted, too.
 *
 * A step is a branch in the files that CMakeLists.txt lists for this test; the
 * compiler inserts a call there (-fsanitize-coverage=trace-pc). No time is
 * asserted; a million steps take some milliseconds.
 */
#include "test.h"

#include <inttypes.h>

#include "verbs/each.h"

/* The worst case is compaction for 2^40 keys near a rate of 1: 1.8e8 steps, a
 * sixth of a second without counting. Compilers differ by less than a factor of
 * three. */
enum { STEPS_MOST = 1 << 29 };

static uint64_t steps_now, steps_worst;
static const char *steps_kind;
static bly_spec steps_spec;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    if (++steps_now > STEPS_MOST)
        fail_msg("%s: planning for %" PRIu64 " keys at %.12g takes more than "
                 "%d steps", steps_kind, steps_spec.capacity, steps_spec.rate,
                 STEPS_MOST);
}

static const uint64_t steps_capacities[] = {
    1, 2, 3, 7, 63, 64, 65, 1000, 65537, 1000003, UINT64_C(1) << 31,
    UINT64_C(1) << 40, UINT64_C(1) << 58, UINT64_MAX,
};

static const double steps_rates[] = {
    0.9999999999, 0.999999, 0.99, 0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-9,
    1e-12, 1e-18, 1e-300,
};

enum {
    STEPS_CAPACITIES = sizeof steps_capacities / sizeof *steps_capacities,
    STEPS_RATES = sizeof steps_rates / sizeof *steps_rates,
};

static void steps_visit(const char *kind, const bly_kind_info *info)
{
    uint64_t stride = test_work(1, 17, 37), worst = 0;
    (void)info;
    steps_kind = kind;
    for (size_t i = 0; i < STEPS_CAPACITIES * STEPS_RATES;
         i += stride) {
        bly_plan_t plan;
        steps_spec = (bly_spec){
            .capacity = steps_capacities[i % STEPS_CAPACITIES],
            .rate = steps_rates[i / STEPS_CAPACITIES],
        };
        steps_now = 0;
        bly_status status = bly_plan(&plan, kind, &steps_spec);
        each_true(kind, status >= 0 || bly_why()[0] != '\0');
        worst = steps_now > worst ? steps_now : worst;
    }
    steps_worst = worst > steps_worst ? worst : steps_worst;
}

static void test_plans_end_soon(void **state)
{
    (void)state;
    each_choice(steps_visit);
    assert_in_range(steps_worst, 1000, STEPS_MOST);     /* they are counted */
}

/* Returns the steps of removing one of n keys that crowd at the beginning of a
 * filter, their hashes starting with `zeros` zeros. */
static uint64_t steps_of_removal(uint64_t n, unsigned zeros, double rate)
{
    bly_spec spec = { .capacity = 1000000, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "quotient", &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++) {
        steps_now = 0;
        assert_true(bly_add_hash(filter, test_random(1, i) >> zeros) >= 0);
    }
    steps_now = 0;
    assert_status(bly_remove_hash(filter, test_random(1, 0) >> zeros), BLY_OK);
    uint64_t steps = steps_now;
    for (uint64_t i = 1; i < n; i += n / 100)
        assert_true(bly_contains_hash(filter, test_random(1, i) >> zeros));
    bly_free(filter);
    return steps;
}

/* Removing crowded keys takes time proportional to their number, not its
 * square. */
static void test_removals_are_linear(void **state)
{
    (void)state;
    steps_kind = "quotient";
    for (unsigned zeros = 11; zeros <= 21; zeros += 10) {
        double rate = zeros == 11 ? 0.01 : 1e-9;     /* many runs, and one */
        uint64_t some = steps_of_removal(4000, zeros, rate);
        uint64_t more = steps_of_removal(16000, zeros, rate);
        assert_in_range(more, 1000, 8 * some);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_end_soon),
        cmocka_unit_test(test_removals_are_linear),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
