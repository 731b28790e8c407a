/* index.c - the schemes that turn one hash into k positions: compared with
 * their formulas and golden values, kept inside [0, m) for every m, and
 * measured.
 *
 * The last test makes the table of rates in src/bits/index.h. It fills 64
 * filters at once, one in each bit of a row of words, so one walk queries all
 * 64. Standard errors are those of the means of such groups, which share their
 * queries and nothing else.
 */
#include "test.h"

#include "bits/index.h"
#include "maths/formulas.h"

enum { PROBES = 64 };

static const char *const names[INDEX_SCHEMES] = {
    [INDEX_POWER] = "power", [INDEX_SEEDS] = "seeds",
    [INDEX_DOUBLE] = "double", [INDEX_ENHANCED] = "enhanced",
    [INDEX_TRIPLE] = "triple", [INDEX_STEP] = "step",
};

static void check_golden(int scheme, const uint64_t wanted[8])
{
    index_walk w = { .m = 1000, .a = 123, .b = 457, .z = 89 };
    for (int i = 0; i < 8; i++)
        assert_int_equal(index_next(&w, scheme), wanted[i]);
}

static void test_golden(void **state)
{
    (void)state;
    static const uint64_t twice[] = { 123, 580, 37, 494, 951, 408, 865, 322 };
    static const uint64_t enhanced[] = { 123, 580, 38, 498, 961, 428, 900,
                                         378 };
    static const uint64_t triple[] = { 123, 580, 126, 761, 485, 298, 200, 191 };
    check_golden(INDEX_DOUBLE, twice);
    check_golden(INDEX_ENHANCED, enhanced);
    check_golden(INDEX_TRIPLE, triple);
}

/* ---- The formulas ------------------------------------------------------ */

/* Returns x y mod m, by doubling to avoid overflow. */
static uint64_t times(uint64_t x, uint64_t y, uint64_t m)
{
    uint64_t sum = 0;
    for (x %= m; y > 0; y >>= 1, x = index_add(x, x, m))
        if (y & 1)
            sum = index_add(sum, x, m);
    return sum;
}

/* Returns position i of the hash, computed from the table in src/bits/index.h
 * alone. */
static uint64_t formula(int scheme, uint64_t hash, uint64_t i, uint64_t m)
{
    uint64_t one = hash_mix(hash + INDEX_GOLDEN);
    uint64_t two = hash_mix(hash + 2 * INDEX_GOLDEN);
    uint64_t three = hash_mix(hash + 3 * INDEX_GOLDEN);
    uint64_t a = bits_range(one, m), z = bits_range(three, m);
    uint64_t b = m == 1 ? 0 : 1 + bits_range(two, m - 1);
    uint64_t line = index_add(a, times(b, i, m), m), power = hash_spread(hash);

    switch (scheme) {
    case INDEX_POWER:
        for (uint64_t j = 0; j < i; j++)
            power *= HASH_STEP;
        return bits_range(power, m);
    case INDEX_SEEDS:
        return bits_range(hash_mix(hash + (i + 1) * INDEX_GOLDEN), m);
    case INDEX_STEP:
        return bits_range(one + i * (two | 1), m);
    case INDEX_ENHANCED:
        return index_add(line, (i * i * i - i) / 6 % m, m);
    case INDEX_TRIPLE:
        return index_add(line, times(z, i * (i - 1) / 2, m), m);
    default:
        return line;
    }
}

static const uint64_t lengths[] = {
    1, 2, 3, 7, 64, 1000, (UINT64_C(1) << 33) + 5, UINT64_C(1) << 60,
};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

/* Random hashes, and those with all bits equal. */
static uint64_t hash_number(uint64_t i)
{
    return i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random(1, i);
}

static void test_every_position_is_by_the_formula(void **state)
{
    (void)state;
    for (int scheme = 0; scheme < INDEX_SCHEMES; scheme++)
        for (int l = 0; l < LENGTHS; l++)
            for (uint64_t h = 0; h < 50; h++) {
                index_walk w;
                index_start(&w, scheme, hash_number(h), lengths[l]);
                for (uint64_t i = 0; i < PROBES; i++)
                    assert_int_equal(index_next(&w, scheme),
                                     formula(scheme, hash_number(h), i,
                                             lengths[l]));
            }
}

static void test_positions_are_below_m(void **state)
{
    (void)state;
    for (int scheme = 0; scheme < INDEX_SCHEMES; scheme++)
        for (int l = 0; l < LENGTHS; l++) {
            uint64_t most = 0;
            for (uint64_t h = 0; h < 2000; h++) {
                index_walk w;
                index_start(&w, scheme, hash_number(h), lengths[l]);
                for (int i = 0; i < PROBES; i++) {
                    uint64_t at = index_next(&w, scheme);
                    assert_true(at < lengths[l]);
                    most = at > most ? at : most;
                }
            }
            /* 128 000 positions reach the last place, or the last 1 % */
            assert_true(most >= lengths[l] - 1 - lengths[l] / 100);
            assert_true(lengths[l] <= UINT32_MAX || most > UINT32_MAX);
        }
}

/* Steps modulo m are never 0, or all k positions would be equal; steps modulo
 * 2^64 are odd. */
static void test_steps_are_sound(void **state)
{
    (void)state;
    for (int l = 0; l < LENGTHS; l++)
        for (uint64_t h = 0; h < 2000; h++) {
            index_walk w;
            index_start(&w, INDEX_DOUBLE, hash_number(h), lengths[l]);
            assert_int_equal(w.b == 0, lengths[l] == 1);
            index_start(&w, INDEX_STEP, hash_number(h), lengths[l]);
            assert_int_equal(w.b % 2, 1);
        }
}

static void test_add_modulo(void **state)
{
    (void)state;
    for (uint64_t m = 1; m <= 20; m++)
        for (uint64_t x = 0; x < m; x++)
            for (uint64_t y = 0; y < m; y++)
                assert_int_equal(index_add(x, y, m), (x + y) % m);
    assert_int_equal(index_add(UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX),
                     UINT64_MAX - 2);
    assert_int_equal(index_add(UINT64_MAX - 1, 1, UINT64_MAX), 0);
}

/* The first seven positions of a key hit every bit equally often: chi-square of
 * m - 1 degrees has mean m - 1 and variance 2 (m - 1). (Positions of one key
 * depend on each other, which can double the variance.) */
static void test_positions_are_even(void **state)
{
    (void)state;
    enum { M = 100, KEYS = 20000, K = 7 };
    for (int scheme = 0; scheme < INDEX_SCHEMES; scheme++) {
        double met[M] = { 0 }, even = (double)KEYS * K / M, chi = 0;
        for (uint64_t h = 0; h < KEYS; h++) {
            index_walk w;
            index_start(&w, scheme, test_random(2, h), M);
            for (int i = 0; i < K; i++)
                met[index_next(&w, scheme)]++;
        }
        for (int i = 0; i < M; i++)
            chi += (met[i] - even) * (met[i] - even) / even;
        assert_true(fabs(chi - (M - 1)) <= TEST_SIGMAS * sqrt(4.0 * (M - 1)));
    }
}

/* ---- The measured table ------------------------------------------------ */

enum { M_MOST = 2048, GROUPS = 300, FILTERS = 64 };

typedef struct {
    uint64_t m, n;
    uint32_t k;
    uint64_t queries;                   /* of each group: enough for 0.5 %   */
} setting;

static const setting settings[] = { { 1000, 100, 7, 4000 },
                                    { 2048, 128, 11, 16000 } };
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Fills 64 filters and returns the group's mean rate for foreign keys. */
PLATFORM_INLINE double group_rate_by(int scheme, const setting *s,
                                     uint64_t stream)
{
    uint64_t row[M_MOST] = { 0 }, hits = 0, next = 0;
    index_walk w;

    for (uint64_t key = 0; key < s->n * FILTERS; key++) {
        index_start(&w, scheme, test_random(stream, next++), s->m);
        for (uint32_t i = 0; i < s->k; i++)
            row[index_next(&w, scheme)] |= UINT64_C(1) << key % FILTERS;
    }
    for (uint64_t query = 0; query < s->queries; query++) {
        uint64_t perhaps = UINT64_MAX;
        index_start(&w, scheme, test_random(stream, next++), s->m);
        for (uint32_t i = 0; i < s->k && perhaps != 0; i++)
            perhaps &= row[index_next(&w, scheme)];
        hits += platform_popcount(perhaps);
    }
    return (double)hits / ((double)s->queries * FILTERS);
}

static double group_rate(int scheme, const setting *s, uint64_t stream)
{
    switch (scheme) {                   /* constants, as in the kinds        */
    case INDEX_SEEDS:    return group_rate_by(INDEX_SEEDS, s, stream);
    case INDEX_DOUBLE:   return group_rate_by(INDEX_DOUBLE, s, stream);
    case INDEX_ENHANCED: return group_rate_by(INDEX_ENHANCED, s, stream);
    case INDEX_TRIPLE:   return group_rate_by(INDEX_TRIPLE, s, stream);
    case INDEX_STEP:     return group_rate_by(INDEX_STEP, s, stream);
    default:             return group_rate_by(INDEX_POWER, s, stream);
    }
}

/* Returns the mean over many groups, and its standard error. */
static bly_estimate measure(int scheme, const setting *s)
{
    double sum = 0, squares = 0;
    for (uint64_t g = 0; g < GROUPS; g++) {
        double rate = group_rate(scheme, s, 1000 + g);
        sum += rate;
        squares += rate * rate;
    }
    double mean = sum / GROUPS;
    double variance = (squares - sum * mean) / (GROUPS - 1);
    return (bly_estimate){ mean, sqrt(variance / GROUPS) };
}

static bool agree(bly_estimate a, bly_estimate b)
{
    return fabs(a.value - b.value) <= TEST_SIGMAS * hypot(a.sd, b.sd);
}

static bool above(bly_estimate a, bly_estimate b)
{
    return a.value - b.value > TEST_SIGMAS * hypot(a.sd, b.sd);
}

/* The catalogue's measurements, with the standard errors it states. */
static const bly_estimate catalogue[INDEX_SCHEMES][SETTINGS] = {
    [INDEX_DOUBLE]   = { { 9.21e-3, 4e-5 }, { 8.79e-4, 4e-6 } },
    [INDEX_ENHANCED] = { { 8.35e-3, 4e-5 }, { 4.96e-4, 4e-6 } },
    [INDEX_TRIPLE]   = { { 8.42e-3, 4e-5 }, { 5.06e-4, 4e-6 } },
    [INDEX_STEP]     = { { 8.65e-3, 4e-5 }, { 6.03e-4, 4e-6 } },
};

static void test_measured_rates(void **state)
{
    (void)state;
    TEST_STATISTICS();
    for (int j = 0; j < SETTINGS; j++) {
        const setting *s = &settings[j];
        bly_estimate exact = { formulas_rate_occupancy(s->m, s->n, s->k), 0 };
        print_message("m=%d n=%d k=%d  formula   %.4e\n", (int)s->m, (int)s->n,
                      (int)s->k, exact.value);
        for (int scheme = 0; scheme < INDEX_SCHEMES; scheme++) {
            bly_estimate got = measure(scheme, s);
            print_message("    %-8s  %.4e +- %.1e (%+.2f %%)\n", names[scheme],
                          got.value, got.sd,
                          100 * (got.value / exact.value - 1));
            assert_true(got.sd < 0.005 * got.value);    /* precise enough    */
            if (scheme == INDEX_POWER || scheme == INDEX_SEEDS) {
                assert_true(agree(got, exact));
            } else {
                assert_true(agree(got, catalogue[scheme][j]));
                assert_true(above(got, exact));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_every_position_is_by_the_formula),
        cmocka_unit_test(test_positions_are_below_m),
        cmocka_unit_test(test_steps_are_sound),
        cmocka_unit_test(test_add_modulo),
        cmocka_unit_test(test_positions_are_even),
        cmocka_unit_test(test_measured_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
