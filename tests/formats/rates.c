/* rates.c - every format errs as often as it is planned to: few keys and many,
 * high rates and low.
 *
 * The plan is compared with counted answers of many filters of random keys.
 * The band is BAND standard errors of their mean, from the counted spread, and
 * a share of the plan for what its model leaves out.
 */
#include "test.h"

#include <math.h>

#include "image/kind.h"
#include "verbs/registry.h"

enum { KEY = 16, BAND = 5 };

static const double rates_model = 0.35;

static const bly_kind *rates_kind;
static const uint64_t rates_sizes[] = { 1, 10, 100, 1000, 100000 };

/* Random keys, of which each call gives others. */
static bly_key *rates_keys(uint64_t *stream, size_t n)
{
    bly_key *keys = malloc(n * (sizeof *keys + KEY));
    assert_non_null(keys);
    uint64_t *words = (uint64_t *)(keys + n);
    for (size_t i = 0; i < n; i++) {
        words[2 * i] = test_random(*stream, 2 * i);
        words[2 * i + 1] = test_random(*stream, 2 * i + 1);
        keys[i] = (bly_key){ words + 2 * i, KEY };
    }
    ++*stream;
    return keys;
}

/* The rate of one filter, counted. */
static double rates_count(const char *kind, const bly_spec *spec, size_t asked,
                          uint64_t *stream)
{
    bly_filter *filter = NULL;
    size_t n = (size_t)spec->capacity, found = 0;
    bly_key *members = rates_keys(stream, n), *others = rates_keys(stream, asked);
    bool *present = malloc(asked);
    bly_keys all = { .n = n, .keys = members };
    assert_non_null(present);
    assert_status(bly_build_keys(&filter, kind, spec, &all, NULL), BLY_OK);
    all = (bly_keys){ .n = asked, .keys = others };
    assert_status(bly_contains_keys(filter, &all, present), BLY_OK);
    for (size_t i = 0; i < asked; i++)
        found += present[i];
    free(present);
    free(others);
    free(members);
    bly_free(filter);
    return (double)found / (double)asked;
}

static void rates_compare(const char *kind, uint64_t n, double rate,
                          size_t asked_in_all)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = n, .rate = rate };
    /* some formats cannot be so small, or so exact */
    if (bly_plan(&plan, kind, &spec) != BLY_OK)
        return;
    uint64_t stream = n + 1000003 * (uint64_t)(-log10(rate));
    size_t filters = n > 10000 ? 4 : n > 100 ? 20 : 200;
    size_t asked = asked_in_all / filters;
    double sum = 0, squares = 0, count = (double)filters;
    for (size_t i = 0; i < filters; i++) {
        double one = rates_count(kind, &spec, asked, &stream);
        sum += one;
        squares += one * one;
    }
    double mean = sum / count;
    double spread = fmax(squares / count - mean * mean, 0) / (count - 1);
    double least = plan.rate / (double)(filters * asked);
    double error = sqrt(fmax(spread, least)) + 1 / (double)(filters * asked);
    if (fabs(mean - plan.rate) > BAND * error + rates_model * plan.rate)
        fail_msg("%s of %llu keys, asked for %g: planned %g, counted %g, "
                 "standard error %g", kind, (unsigned long long)n, rate,
                 plan.rate, mean, error);
}

static bool rates_is(const char *name)
{
    return strcmp(rates_kind->name, name) == 0;
}

/* With its own options, where the rate alone will not do or takes long to plan
 * for. */
static void rates_compare_options(size_t sizes, size_t asked)
{
    static const struct { const char *format, *kind; } options[] = {
        { "guava", "guava:strategy=mitz32" },
        { "leveldb", "leveldb:bits=5" }, { "leveldb", "leveldb:bits=10" },
        { "leveldb", "leveldb:bits=14" }, { "leveldb", "leveldb:bits=20" },
        { "bip158", "bip158:block=000102030405060708090a0b0c0d0e0f"
                    "101112131415161718191a1b1c1d1e1f" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (size_t j = 0; j < sizes && rates_is(options[i].format); j++)
            rates_compare(options[i].kind, rates_sizes[j], 1e-4, asked);
}

/* Of one key these have a row of a few bits, for which the model is coarse. */
static bool rates_are_coarse(void)
{
    return rates_is("dcso") || rates_is("bitsandblooms");
}

static void a_plan_is_kept(void **state)
{
    static const double rates[] = { 0.1, 0.01, 1e-4, 1e-6 };
    size_t asked = (size_t)test_work(1000000, 40000, 0);
    size_t sizes = (size_t)test_work(5, 4, 0);
    (void)state;
    TEST_STATISTICS();
    rates_compare_options(sizes, asked);
    if (rates_is("leveldb") || rates_is("bip158"))
        return;
    for (size_t i = rates_are_coarse(); i < sizes; i++)
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++)
            rates_compare(rates_kind->name, rates_sizes[i], rates[j], asked);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_plan_is_kept) };
    int failed = 0;
    for (size_t i = 0; registry_foreign[i] != NULL; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = 10 };
        rates_kind = registry_foreign[i];
        if (!test_mine(argc, argv, i)
            || bly_plan(&plan, rates_kind->name, &spec) == BLY_EUNSUPPORTED)
            continue;
        failed += cmocka_run_group_tests_name(rates_kind->name, tests, NULL,
                                              NULL);
    }
    return failed != 0;
}
