/* rates.c - the law of rates: every format of another system has the rate that
 * its plan and its bits say, for few keys and many, at high rates and low.
 *
 * The plan is compared with counted answers of many filters for random keys
 * that were never added. The count has a standard error, from the spread
 * between filters; the model's error is a share of the rate, MODEL, for what
 * its first order omits (maths/strides.h). Without the models, the counted rate
 * of small filters is up to a million times the plan.
 */
#include "test.h"

#include <math.h>

#include "image/kind_foreign.h"
#include "maths/strides.h"
#include "verbs/registry.h"

enum { KEY = 16, BAND = 5 };

static const double rates_model = 0.3;

static const bly_kind *rates_kind;
static const uint64_t rates_sizes[] = { 1, 10, 100, 1000, 100000 };

/* Returns n random keys, different ones for each call. */
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

typedef struct {
    size_t filters, asked;              /* keys each                         */
    double mean, error;                 /* of the counted rate               */
    double told;                        /* mean of stat's rate               */
} rates_counted;

/* Counts one filter's rate, and adds the rate in stat. */
static double rates_count(const char *kind, const bly_spec *spec, size_t asked,
                          uint64_t *stream, double *told)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    size_t n = (size_t)spec->capacity, found = 0;
    bly_key *members = rates_keys(stream, n);
    bly_key *others = rates_keys(stream, asked);
    bool *present = malloc(asked);
    bly_keys all = { .n = n, .keys = members };
    assert_non_null(present);
    assert_status(bly_build(&filter, kind, spec, &all), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    *told += stat.rate;
    all = (bly_keys){ .n = asked, .keys = others };
    assert_status(bly_contains_many(filter, &all, present), BLY_OK);
    for (size_t i = 0; i < asked; i++)
        found += present[i];
    free(present);
    free(others);
    free(members);
    bly_free(filter);
    return (double)found / (double)asked;
}

static rates_counted rates_count_all(const char *kind, const bly_spec *spec,
                                     size_t asked_in_all)
{
    uint64_t n = spec->capacity;
    uint64_t stream = n + 1000003 * (uint64_t)(-log10(spec->rate));
    size_t filters = n > 10000 ? 4 : n > 100 ? 20
                   : (size_t)(n > 1 ? test_work(200, 50, 0)
                                    : test_work(800, 200, 0));
    double sum = 0, squares = 0, told = 0, count = (double)filters;
    size_t asked = asked_in_all / filters;
    for (size_t i = 0; i < filters; i++) {
        double one = rates_count(kind, spec, asked, &stream, &told);
        sum += one;
        squares += one * one;
    }
    double mean = sum / count, all = count * (double)asked;
    double spread = fmax(squares / count - mean * mean, 0) / (count - 1);
    return (rates_counted){ filters, asked, mean, sqrt(spread) + 1 / all,
                            told / count };
}

static void rates_hold(const char *kind, const bly_spec *spec, const char *who,
                       double rate, const rates_counted *c)
{
    double least = sqrt(rate / (double)(c->filters * c->asked));
    double error = fmax(c->error, least);
    if (fabs(c->mean - rate) > BAND * error + rates_model * rate)
        fail_msg("%s of %llu keys, asked for %g: %s %g, counted %g, standard "
                 "error %g", kind, (unsigned long long)spec->capacity,
                 spec->rate, who, rate, c->mean, error);
}

static void rates_compare(const char *kind, uint64_t n, double rate,
                          size_t asked)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = n, .rate = rate };
    /* some formats cannot be so small or so exact */
    if (bly_plan(&plan, kind, &spec) != BLY_OK)
        return;
    rates_counted c = rates_count_all(kind, &spec, asked);
    rates_hold(kind, &spec, "planned", plan.rate, &c);
    rates_hold(kind, &spec, "its bits say", c.told, &c);
}

/* If the third position of leveldb's keys has fewer numbers than the row has
 * bits, keys share more than two positions in ways that depend on m, and
 * counted rates are up to three times the plan. A real filter covers two
 * kilobytes. */
static size_t rates_sizes_held(size_t sizes)
{
    return strcmp(rates_kind->name, "leveldb") == 0 && sizes > 4 ? 4 : sizes;
}

/* Tests options that the rate alone does not reach. */
static void rates_compare_options(size_t sizes, size_t asked)
{
    static const struct { const char *format, *kind; } options[] = {
        { "guava", "guava:strategy=mitz32" },
        { "cassandra", "cassandra:version=ka" }, { "spark", "spark:version=2" },
        { "leveldb", "leveldb:bits=5" }, { "leveldb", "leveldb:bits=10" },
        { "leveldb", "leveldb:bits=20" },
        { "poppy", "poppy:opt=speed" }, { "poppy", "poppy:opt=best" },
        { "bip158", "bip158:block=000102030405060708090a0b0c0d0e0f"
                    "101112131415161718191a1b1c1d1e1f" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (size_t j = 0; j < sizes
             && strcmp(rates_kind->name, options[i].format) == 0; j++)
            rates_compare(options[i].kind, rates_sizes[j], 1e-4, asked);
}

static void a_plan_is_kept(void **state)
{
    /* for 1 key at 0.025, many formats have 8 bits */
    static const double rates[] = { 0.1, 0.025, 0.01, 1e-3, 1e-5 };
    size_t asked = (size_t)test_work(1000000, 40000, 0);
    size_t sizes = rates_sizes_held((size_t)test_work(5, 4, 0));
    (void)state;
    TEST_STATISTICS();
    rates_compare_options(sizes, asked);
    for (size_t i = 0; i < sizes; i++)
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++)
            rates_compare(rates_kind->name, rates_sizes[i], rates[j], asked);
}

/* The rate is within 0 .. 1 for a row of any length. */
static void any_row_has_a_rate(void **state)
{
    static const uint64_t m[] = { 1, 2, 63, 1024, 1025, 65537,
                                  UINT64_C(1) << 35, UINT64_C(1) << 50,
                                  UINT64_C(1) << 60 };
    static const uint32_t k[] = { 1, 2, 64, 65, 65535 };
    static const uint8_t row[STRIDES_FEW / 8];
    (void)state;
    for (size_t i = 0; i < 9 * 5 * (STRIDES_EVEN + 1); i++) {
        strides s = { .m = m[i % 9], .k = k[i / 9 % 5], .factor = 3,
                      .form = (strides_form)(i / 45) };
        s.width = s.form == STRIDES_FOLDED || s.form == STRIDES_ROTATED
               || s.form == STRIDES_STRAIGHT ? 32 : 64;
        strides_rates rates = strides_rate(&s, 1000);
        double rate = strides_rate_of(&s, 10, 0.4, row, 0);
        assert_true(rates.rate >= 0 && rates.rate <= 1);
        assert_true(rates.fill > 0 && rates.fill <= 1 && rates.sd >= 0);
        assert_true(rate >= 0 && rate <= 1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_plan_is_kept) };
    const struct CMUnitTest any[] = { cmocka_unit_test(any_row_has_a_rate) };
    int failed = 0;
    for (size_t i = 0; registry_foreign[i] != NULL; i++) {
        rates_kind = registry_foreign[i];
        if (test_mine(argc, argv, i))
            failed += cmocka_run_group_tests_name(rates_kind->name, tests,
                                                  NULL, NULL);
    }
    if (test_mine(argc, argv, 0))
        failed += cmocka_run_group_tests_name("rows", any, NULL, NULL);
    return failed != 0;
}
