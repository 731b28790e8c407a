/* maths.c - the formulas of Bloom filters, compared with enumeration of every
 * outcome, with the catalogue's tables (made with rationals and by a second
 * formula each), with each other, and with simulated filters.
 *
 * `digits(8)` is the relative tolerance for a table value printed with eight
 * significant digits.
 */
#include "test.h"

#include "base/platform.h"
#include "maths/formulas.h"
#include "maths/maths.h"

/* Returns half a unit in the last of n digits, relative to a leading 1: no
 * rounding is coarser. */
static double digits(int n)
{
    return 0.5 * pow(10, 1 - n);
}

/* Rounding errors of a few hundred double operations. */
static const double EXACT = 1e-12;

/* ---- The rate by enumeration ------------------------------------------- */

/* Returns the sum of X^k over all m^t ways to throw t probes into m bits, over
 * m^(t + k): the rate, exact up to the division. */
static double enumerated_rate(unsigned m, unsigned t, unsigned k)
{
    unsigned probe[20] = { 0 };
    double ways = 0, sum = 0;
    for (;;) {
        unsigned seen = 0, at = 0;
        for (unsigned i = 0; i < t; i++)
            seen |= 1u << probe[i];
        ways++;
        sum += pow(platform_popcount(seen), k);
        while (at < t && ++probe[at] == m)
            probe[at++] = 0;
        if (at == t)
            return sum / ways / pow(m, k);
    }
}

static void test_rate_by_enumeration(void **state)
{
    (void)state;
    for (unsigned m = 1; m <= 6; m++)
        for (unsigned n = 1; n <= 5; n++)
            for (unsigned k = 1; k <= 4; k++) {
                if (pow(m, n * k) > 1e5)
                    continue;
                double wanted = enumerated_rate(m, n * k, k);
                assert_close(formulas_rate_occupancy(m, n, k), wanted, EXACT);
                assert_close(math_rate(m, n, k), wanted, EXACT);
                assert_close(formulas_rate_inclusion(m, n, k), wanted, EXACT);
            }
}

/* The catalogue's rationals, beside the two formulas. */
static void test_rate_of_tiny_filters(void **state)
{
    (void)state;
    static const struct {
        unsigned m, n, k;
        double top, bottom, classic, bound;
    } rows[] = {
        { 2, 1, 1, 1, 2, 0.5, 0.7768698399 },
        { 2, 1, 2, 5, 8, 0.5625, 0.9029046154 },
        { 3, 1, 2, 1, 3, 0.3086419753, 0.6035267481 },
        { 2, 2, 2, 29, 32, 0.8789062500, 0.9865695059 },
        { 4, 2, 2, 505, 1024, 0.4673004150, 0.6579227877 },
        { 4, 3, 2, 11473, 16384, 0.6757193208, 0.8154596268 },
        { 5, 2, 3, 174993, 390625, 0.4017120317, 0.6068817739 },
        { 6, 2, 2, 727, 2592, 0.2680618665, 0.3995764009 },
        { 2, 1, 3, 25, 32, 0.6699218750, 0.9670418688 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned m = rows[i].m, n = rows[i].n, k = rows[i].k;
        double exact = rows[i].top / rows[i].bottom;
        assert_close(formulas_rate_occupancy(m, n, k), exact, EXACT);
        assert_close(formulas_rate_inclusion(m, n, k), exact, EXACT);
        assert_close(math_rate(m, n, k), exact, EXACT);
        assert_close(math_rate_classic(m, n, k), rows[i].classic, digits(10));
        assert_close(formulas_rate_bound(m, n, k), rows[i].bound, digits(10));
    }
}

static void test_rate_of_larger_filters(void **state)
{
    (void)state;
    static const struct {
        unsigned m, n, k;
        double exact, classic, exp, bound;
    } rows[] = {
        { 32, 3, 3, 1.5889653e-2, 1.5352983e-2, 1.4735028e-2, 2.3716755e-2 },
        { 32, 4, 4, 2.6768251e-2, 2.5164962e-2, 2.3968651e-2, 3.7638882e-2 },
        { 64, 8, 6, 2.3809225e-2, 2.2270492e-2, 2.1577141e-2, 2.9203133e-2 },
        { 64, 10, 4, 4.9141872e-2, 4.7715030e-2, 4.6648198e-2, 5.6056671e-2 },
        { 100, 10, 7, 8.9363116e-3, 8.3948076e-3, 8.1937221e-3, 1.0853223e-2 },
        { 128, 16, 6, 2.2676732e-2, 2.1920227e-2, 2.1577141e-2, 2.5176803e-2 },
        { 256, 32, 6, 2.2122858e-2, 2.1747798e-2, 2.1577141e-2, 2.3325370e-2 },
        { 512, 64, 6, 2.1848984e-2, 2.1662250e-2, 2.1577141e-2, 2.2438573e-2 },
        { 1000, 100, 7, 8.2662475e-3, 8.2135546e-3, 8.1937221e-3,
          8.4340554e-3 },
        { 1024, 128, 6, 2.1712810e-2, 2.1619641e-2, 2.1577141e-2,
          2.2004714e-2 },
        { 8192, 1024, 6, 2.1594072e-2, 2.1582448e-2, 2.1577141e-2,
          2.1630246e-2 },
        { 9586, 1000, 7, 1.0043584e-2, 1.0037020e-2, 1.0034532e-2,
          1.0063384e-2 },
        { 95851, 10000, 7, 1.0039916e-2, 1.0039259e-2, 1.0039010e-2,
          1.0041894e-2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned m = rows[i].m, n = rows[i].n, k = rows[i].k;
        assert_close(math_rate_classic(m, n, k), rows[i].classic, digits(8));
        assert_close(math_rate_exp(m, n, k), rows[i].exp, digits(8));
        assert_close(formulas_rate_bound(m, n, k), rows[i].bound, digits(8));
        assert_close(formulas_rate_inclusion(m, n, k), rows[i].exact,
                     digits(8));
        if (m <= MATH_OCCUPANCY)
            assert_close(formulas_rate_occupancy(m, n, k), rows[i].exact,
                         digits(8));
        else                            /* by the moments: 3/m^2, see below */
            assert_close(math_rate(m, n, k), rows[i].exact,
                         digits(8) + 3.0 / m / m);
    }
}

/* ---- The rate by other formulas ---------------------------------------- */

static void check_order(unsigned m, unsigned n, unsigned k)
{
    double room = 1 + EXACT;
    double exact = formulas_rate_occupancy(m, n, k);
    double classic = math_rate_classic(m, n, k);
    assert_true(math_rate_exp(m, n, k) <= classic * room);
    assert_true(classic <= exact * room);
    assert_true(exact <= formulas_rate_bound(m, n, k) * room);
    if (k == 1)
        assert_close(classic, exact, EXACT);
    if (k == 1)
        assert_close(math_rate(m, n, k), exact, EXACT);
}

static void test_rates_are_in_order(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 2, 3, 5, 8, 13, 64, 100, 257, 512 };
    static const unsigned probes[] = { 1, 2, 3, 5, 8, 13, 32, 64 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t j = 0; j < sizeof probes / sizeof probes[0]; j++)
            for (unsigned n = 1; n <= 2 * sizes[i] / probes[j] + 4;
                 n += 1 + n / 2)
                check_order(sizes[i], n, probes[j]);
}

/* Inclusion and exclusion loses ((1+q)/(1-q))^k of its precision, where q is
 * the share of clear bits: this bound is never exceeded. */
static void test_inclusion_against_occupancy(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 3, 64, 200, 777, 2048 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned k = 1; k <= 20; k++) {
            unsigned m = sizes[i], n = 1 + m * 7 / (10 * k);
            double q = exp(k * (double)n * log1p(-1.0 / m));
            double loss = 1e-15 * pow((1 + q) / (1 - q), k);
            assert_close(formulas_rate_inclusion(m, n, k),
                         formulas_rate_occupancy(m, n, k), EXACT + loss);
        }
    assert_true(isnan(formulas_rate_inclusion(1000, 100, 64)));
}

/* math_rate, for given bits, equals the result of the distribution. */
static void test_rate_is_exact_where_m_is_small(void **state)
{
    (void)state;
    static const struct { unsigned m, n, k; } rows[] = {
        { 1, 1, 2 }, { 16, 1, 2 }, { 16, 10, 2 }, { 36, 9, 3 }, { 512, 0, 12 },
        { 512, 40, 12 }, { 1936, 1, 22 }, { 1936, 60, 22 }, { 2048, 1, 23 },
        { 2048, 20, 64 }, { 2048, 512, 64 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_close(math_rate(rows[i].m, rows[i].n, rows[i].k),
                     formulas_rate_occupancy(rows[i].m, rows[i].n, rows[i].k),
                     EXACT);
}

/* The largest relative error of the moments, by the share of set bits, for m >
 * 4 k^2: found by scanning every m from 5 to 2048, every such k and every n. It
 * is largest for one key. */
static const struct { double fill, error; } moments[] = {
    { 0.45, 1.0e-4 }, { 0.30, 4.0e-4 }, { 0.20, 9.0e-4 }, { 0.10, 3.0e-3 },
    { 0.05, 5.5e-3 }, { 0.01, 1.4e-2 },
};
enum { BANDS = sizeof moments / sizeof moments[0] };

static void moments_errors(double worst[BANDS], unsigned m, unsigned k)
{
    formulas_occupancy o;
    unsigned next = 1;
    formulas_occupancy_start(&o, m);
    for (unsigned n = 1; ; n++) {
        double fill = math_set_mean(m, (double)n * k) / m;
        int band = 0;
        if (fill > 0.99)
            return;
        formulas_occupancy_probe(&o, k);
        if (n < next || fill < 0.01)
            continue;
        while (fill < moments[band].fill)
            band++;
        double exact = formulas_occupancy_moment(&o, k);
        double error = fabs(math_rate(m, n, k) / exact - 1);
        worst[band] = fmax(worst[band], error);
        next = n + 1 + n / 8;
    }
}

static void test_rate_by_moments_against_occupancy(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 17, 37, 65, 101, 115, 148, 197, 257, 401,
                                      577, 801, 1030, 1474, 1941, 2048 };
    double worst[BANDS] = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned k = 2; 4 * k * k < sizes[i]; k++)
            moments_errors(worst, sizes[i], k);
    for (int i = 0; i < BANDS; i++) {
        print_message("rate by moments: error %.1e where fill >= %.2f\n",
                      worst[i], moments[i].fill);
        assert_true(worst[i] <= moments[i].error);
    }
}

/* The error falls as 1/m^2: twice the size, a quarter of it. */
static void test_moments_get_better_with_m(void **state)
{
    (void)state;
    double before = 0;
    for (unsigned m = 256; m <= 2048; m *= 2) {
        double exact = formulas_rate_occupancy(m, m / 8, 6);
        double error = math_rate(m, m / 8, 6) / exact - 1;
        if (before != 0)
            assert_true(before / error > 3.5 && before / error < 4.5);
        before = error;
    }
}

/* Beyond the recurrence's range, inclusion and exclusion serves as comparison,
 * up to 20 probes. */
static void test_rate_by_moments_of_many_bits(void **state)
{
    (void)state;
    static const double sizes[] = { 2049, 4000, 100000, 1e9 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t k = 2; k <= 20; k++)
            for (double fill = 0.46; fill < 0.99; fill += 0.04) {
                double m = sizes[i], n = ceil(-m * log1p(-fill) / k);
                double wanted = formulas_rate_inclusion(m, n, k);
                double loss = 1e-15 * pow((2 - fill) / fill, k);
                assert_close(math_rate((uint64_t)m, n, k), wanted,
                             1e-4 + loss);
            }
}

static void test_rate_at_its_ends(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 1, 2, 100, 2048, 2049, 1000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t k = 1; k <= 64; k += 7) {
            assert_true(math_rate(sizes[i], 0, k) == 0);
            assert_close(math_rate(sizes[i], 1e9, k), 1, EXACT);
            double half = math_rate(sizes[i], sizes[i] * 0.5 + 0.25, k);
            assert_true(half > 0 && half <= 1);
        }
    assert_true(math_rate(1, 1, 5) == 1);
}

/* 1 - 1/m does not round to 1: at 10^15 bits the three formulas agree. */
static void test_rate_of_huge_filters(void **state)
{
    (void)state;
    double m = 1e15, n = 1e14, limit = math_rate_exp(m, n, 7);
    assert_close(limit, 8.1937221e-3, digits(8));
    assert_close(math_rate_classic(m, n, 7), limit, EXACT);
    assert_close(formulas_rate_bound(m, n, 7), limit, EXACT);
    assert_close(math_rate((uint64_t)m, n, 7), limit, EXACT);
    assert_close(formulas_rate_inclusion(m, n, 7), limit, 1e-15 * pow(3, 7));
}

/* ---- Sizes ------------------------------------------------------------- */

/* Bits per key c: the best real k, the best whole k and its rate. At the real k
 * half of the bits are set and the rate is 2^-k. */
static void test_best_probes(void **state)
{
    (void)state;
    static const struct { double c, best; int k; double rate; } rows[] = {
        { 0.5, 0.347, 1, 0.86466 },  { 1, 0.693, 1, 0.63212 },
        { 2, 1.386, 1, 0.39347 },    { 3, 2.079, 2, 0.23676 },
        { 4, 2.773, 3, 0.14689 },    { 5, 3.466, 3, 0.091849 },
        { 6, 4.159, 4, 0.056057 },   { 8, 5.545, 6, 0.021577 },
        { 10, 6.931, 7, 8.1937e-3 }, { 12, 8.318, 8, 3.1424e-3 },
        { 16, 11.090, 11, 4.5871e-4 }, { 20, 13.863, 14, 6.7137e-5 },
        { 24, 16.636, 17, 9.8386e-6 }, { 32, 22.181, 22, 2.1042e-7 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double n = 1e6, m = rows[i].c * n, k = math_best_probes(m, n);
        assert_close(k, rows[i].best, 0.0005 / rows[i].best);
        assert_close(math_rate_exp(m, n, k), exp2(-k), EXACT);
        double best = math_rate_exp(m, n, rows[i].k);
        assert_close(best, rows[i].rate, digits(5));
        assert_true(best <= math_rate_exp(m, n, rows[i].k + 1));
        assert_true(rows[i].k == 1
                    || best <= math_rate_exp(m, n, rows[i].k - 1));
    }
}

static void test_bits_for_a_guarantee(void **state)
{
    (void)state;
    assert_true(ceil(math_bits_least(50000, 0.01, 7)) == 479648);
    assert_true(ceil(math_bits_least(50000, 0.01, 6)) == 480833);
    assert_true(ceil(math_bits_least(1000, 0.001, 10)) == 14378);
    static const double rates[] = { 0.9, 0.5, 0.1, 0.01, 1e-6, 1e-12 };
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        for (double k = 1; k <= 64; k *= 2)
            for (double n = 1; n < 1e12; n *= 1000) {
                double p = rates[i], least = math_bits_least(n, p, k);
                double enough = math_bits_enough(n, p, k);
                assert_close(math_rate_exp(least, n, k), p, 1e-10);
                assert_close(formulas_rate_bound(enough, n, k), p, 1e-10);
                assert_true(enough > least);
                assert_close(math_capacity(least, k, p), n, 1e-10);
            }
}

/* The truth lies between the two. */
static void test_least_and_enough_enclose_the_truth(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 200; n = 2 * n + 1)
        for (unsigned k = 1; k <= 10; k++) {
            double p = pow(0.5, k), least = math_bits_least(n, p, k);
            double enough = math_bits_enough(n, p, k);
            if (enough > MATH_OCCUPANCY || least < 2)
                continue;
            assert_true(formulas_rate_occupancy((uint64_t)least, n, k) > p);
            assert_true(formulas_rate_occupancy((uint64_t)ceil(enough), n, k)
                        <= p);
        }
}

/* ---- Small things ------------------------------------------------------ */

static void test_absent_probes(void **state)
{
    (void)state;
    assert_close(math_absent_probes(0.5, 4), 1.875, EXACT);
    assert_close(math_absent_probes(0.5, 7), 1.9844, digits(5));
    assert_close(math_absent_probes(0.5, 20), 2.0000, digits(5));
    assert_close(math_absent_probes(0.3, 7), 1.4283, digits(5));
    assert_close(math_absent_probes(0.7, 7), 3.0588, digits(5));
    assert_true(math_absent_probes(0, 7) == 1);
    assert_true(math_absent_probes(1, 7) == 7);
    for (double fill = 0.01; fill < 1; fill += 0.07)
        for (int k = 1; k <= 64; k++) {
            double sum = 0;             /* the i-th probe is made if all */
            for (int i = 0; i < k; i++) /* earlier ones met set bits */
                sum += pow(fill, i);
            assert_close(math_absent_probes(fill, k), sum, EXACT);
        }
}

static void test_collision(void **state)
{
    (void)state;
    assert_close(math_collision(1e6), 5.4e-14, digits(2));
    assert_close(math_collision(1e8), 5.4e-12, digits(2));
    assert_close(math_collision(1), 0x1p-64, EXACT);
    assert_close(math_collision(0x1p64), 1 - exp(-1), EXACT);
    assert_true(math_collision(0) == 0);
}

/* ---- Set bits ---------------------------------------------------------- */

static void test_set_bits_against_occupancy(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 1, 2, 3, 4, 10, 100, 1000, 2048 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        formulas_occupancy o;
        double m = sizes[i];
        formulas_occupancy_start(&o, sizes[i]);
        for (unsigned t = 0; t <= 4 * sizes[i]; t++) {
            double mass = 0, mean = 0, variance = 0;
            for (uint64_t x = o.low; x <= o.high; x++)
                mass += o.chance[x], mean += o.chance[x] * (double)x;
            for (uint64_t x = o.low; x <= o.high; x++)
                variance += o.chance[x] * pow((double)x - mean, 2);
            assert_close(mass, 1, EXACT);
            assert_close(math_set_mean(m, t), mean, EXACT);
            /* terms near m cancel, leaving rounding errors of order m */
            assert_true(fabs(math_set_variance(m, t) - variance) < 1e-13 * m);
            assert_close(formulas_occupancy_moment(&o, 1), mean / m, EXACT);
            formulas_occupancy_probe(&o, 1);
        }
    }
}

static void test_set_bits_of_the_catalogue(void **state)
{
    (void)state;
    assert_close(9586 - math_set_mean(9586, 7000), 4618.334, digits(7));
    assert_close(sqrt(math_set_variance(9586, 7000)), 27.7206, digits(6));
    assert_close(math_set_mean(479256, 350000), 248367.36, digits(8));
    assert_close(sqrt(math_set_variance(479256, 350000)), 196.01, digits(5));
}

/* At m = 10^12 the squares that cancel are 10^12 times the variance, which must
 * match the limit m e^-L (1 - (1 + L) e^-L) to 1/m. */
static void test_set_bits_of_huge_filters(void **state)
{
    (void)state;
    for (double load = 0.01; load < 8; load *= 1.7) {
        double m = 1e12, q = exp(-load);
        assert_close(math_set_mean(m, load * m), m * -expm1(-load), 1e-10);
        assert_close(math_set_variance(m, load * m),
                     m * q * (-expm1(-load) - load * q), 1e-9);
    }
}

/* A single probe always sets one bit: the variance is 0, and must not be
 * negative, where a square root fails. */
static void test_set_variance_is_not_negative(void **state)
{
    (void)state;
    for (double m = 1; m < 1e15; m = ceil(m * 1.4))
        for (double t = 0; t < 100; t++)
            assert_true(math_set_variance(m, t) >= 0);
}

static void test_occupancy_loses_nothing(void **state)
{
    (void)state;
    formulas_occupancy o;
    double mass = 0;
    formulas_occupancy_start(&o, MATH_OCCUPANCY);
    formulas_occupancy_probe(&o, 7000);
    for (uint64_t x = 0; x <= MATH_OCCUPANCY; x++) {
        mass += o.chance[x];
        assert_true(o.chance[x] >= 0);
        assert_true((x >= o.low && x <= o.high) || o.chance[x] == 0);
    }
    assert_close(mass, 1, EXACT);
    assert_true(o.low > 0 && o.low < o.high && o.high <= MATH_OCCUPANCY);
}

/* ---- Counters ----------------------------------------------------------- */

/* P(Bin(t, 1/m) >= times), each chance as a product. */
static double tail_by_products(double m, double t, double times)
{
    double sum = 0;
    for (double j = times; j <= t; j++) {
        double chance = pow(1 - 1 / m, t - j);
        for (double i = 0; i < j; i++)
            chance *= (t - i) / (i + 1) / m;
        sum += chance;
    }
    return sum;
}

static void test_tail_by_products(void **state)
{
    (void)state;
    for (unsigned m = 2; m < 40; m += 3)
        for (unsigned t = 0; t < 60; t++)
            for (unsigned times = 0; times <= t + 1; times++)
                assert_close(math_tail(m, t, times),
                             tail_by_products(m, t, times), 1e-11);
    assert_true(math_tail(1, 3, 3) == 1 && math_tail(1, 3, 4) == 0);
}

/* An infinite row: a Poisson distribution, and its lower tail as a sum. */
static void test_tail_of_huge_rows(void **state)
{
    (void)state;
    for (double load = 0.01; load < 100; load *= 1.7)
        for (double times = 1; times <= load; times++) {
            double below = 0, chance = exp(-load);
            for (double j = 0; j < times; j++, chance *= load / j)
                below += chance;
            assert_close(math_tail(1e12, load * 1e12, times), 1 - below, 1e-9);
        }
    assert_close(math_tail(1e12, 1e-3 * 1e12, 3), 1e-9 / 6 * (1 - 0.75e-3),
                 1e-6);
    assert_close(math_tail(1e12, 65535e12, 65535), 0.5, 3e-3);
}

/* Returns the true rate of counters that hold at least `times`, over all ways
 * to throw t probes into m, in exact integers like enumerated_rate. */
static double enumerated_times(unsigned m, unsigned t, unsigned k,
                               unsigned times)
{
    unsigned probe[20] = { 0 };
    double ways = 0, sum = 0;
    for (;;) {
        unsigned met[8] = { 0 }, high = 0, at = 0;
        for (unsigned i = 0; i < t; i++)
            high += ++met[probe[i]] == times;
        ways++;
        sum += pow(high, k);
        while (at < t && ++probe[at] == m)
            probe[at++] = 0;
        if (at == t)
            return sum / ways / pow(m, k);
    }
}

/* The mean is the rate of one probe. */
static void test_rate_times_by_enumeration(void **state)
{
    (void)state;
    for (unsigned m = 1; m <= 5; m++)
        for (unsigned n = 1; pow(m, n) < 1e5 && n <= 12; n++)
            for (unsigned times = 1; times <= 4; times++)
                assert_close(math_rate_times(m, n, 1, times, NULL),
                             enumerated_times(m, n, 1, times), 1e-10);
}

/* A threshold of one is a Bloom filter. */
static void test_rate_times_of_one(void **state)
{
    (void)state;
    for (double m = 1e4; m < 1e10; m *= 7)
        for (unsigned k = 1; k < 20; k += 3) {
            double n = round(m / 10);
            assert_close(math_rate_times_classic(m, n, k, 1),
                         math_rate_classic(m, n, k), 1e-9);
            assert_close(math_rate_times(m, n, k, 1, NULL),
                         math_rate((uint64_t)m, n, k), 1e-6);
        }
}

/* (1 - e^-L (1 + L + …))^k by hand for 4 and 10 counters per key; the rate has
 * one minimum in k. */
static void test_rate_times_by_hand(void **state)
{
    (void)state;
    static const struct { double m, k, times, rate, within; } rows[] = {
        { 4, 1, 2, 0.02650, 5e-6 }, { 4, 3, 2, 0.00521, 5e-6 },
        { 4, 4, 2, 0.00488, 5e-6 }, { 4, 6, 2, 0.00747, 5e-6 },
        { 4, 10, 2, 0.03381, 5e-6 }, { 10, 7, 1, 8.194e-3, 5e-7 },
        { 10, 9, 2, 1.6336e-6, 5e-11 }, { 10, 7, 2, 2.2288e-6, 5e-11 },
        { 10, 12, 3, 9.384e-12, 5e-15 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(math_rate_times_classic(rows[i].m * 1e6, 1e6,
                                                 rows[i].k, rows[i].times)
                         - rows[i].rate) <= rows[i].within);
    for (double times = 1; times <= 8; times++) {
        double last = 1;
        bool falls = true;
        for (double k = 1; k <= 200; k++) {
            double rate = math_rate_times_classic(6e6, 1e6, k, times);
            falls = falls && rate < last;
            assert_true(falls ? k < 20 : rate <= 1 && rate >= last);
            last = rate;
        }
        assert_true(last > 0.99);
    }
}

/* The formula of docs/reference/rates.md holds for a large filter; a small one
 * is slightly worse. */
static void test_table_of_rates(void **state)
{
    (void)state;
    for (uint64_t c = 2; c <= 32; c++)
        for (uint32_t k = 1; k <= 24; k++) {
            double limit = pow(-expm1(-(double)k / (double)c), k);
            assert_close(math_rate(c * 1000000, 1e6, k), limit, 3e-4);
            assert_true(math_rate(c * 1000, 1e3, k) >= limit * (1 - 1e-9));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_by_enumeration),
        cmocka_unit_test(test_rate_of_tiny_filters),
        cmocka_unit_test(test_rate_of_larger_filters),
        cmocka_unit_test(test_rates_are_in_order),
        cmocka_unit_test(test_inclusion_against_occupancy),
        cmocka_unit_test(test_rate_is_exact_where_m_is_small),
        cmocka_unit_test(test_rate_by_moments_against_occupancy),
        cmocka_unit_test(test_moments_get_better_with_m),
        cmocka_unit_test(test_rate_by_moments_of_many_bits),
        cmocka_unit_test(test_rate_at_its_ends),
        cmocka_unit_test(test_rate_of_huge_filters),
        cmocka_unit_test(test_best_probes),
        cmocka_unit_test(test_bits_for_a_guarantee),
        cmocka_unit_test(test_least_and_enough_enclose_the_truth),
        cmocka_unit_test(test_absent_probes),
        cmocka_unit_test(test_collision),
        cmocka_unit_test(test_set_bits_against_occupancy),
        cmocka_unit_test(test_set_bits_of_the_catalogue),
        cmocka_unit_test(test_set_bits_of_huge_filters),
        cmocka_unit_test(test_set_variance_is_not_negative),
        cmocka_unit_test(test_occupancy_loses_nothing),
        cmocka_unit_test(test_tail_by_products),
        cmocka_unit_test(test_tail_of_huge_rows),
        cmocka_unit_test(test_rate_times_by_enumeration),
        cmocka_unit_test(test_rate_times_of_one),
        cmocka_unit_test(test_rate_times_by_hand),
        cmocka_unit_test(test_table_of_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
