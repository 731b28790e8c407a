/* maths.c - the formulas of Bloom filters.
 *
 * Differences from 1 use expm1 and log1p: m may be 10^15, and 1 - 1/m is then 1
 * in double. tests/maths/maths.c compares every function with values enumerated
 * in rationals.
 */
#include "maths/maths.h"

#include <math.h>

#include "base/sizes.h"
#include "bits/bits.h"

static const double MATH_LN2 = 0.69314718055994530942;

/* ---- Sizes ------------------------------------------------------------- */

double math_best_probes(double m, double n)
{
    return m / n * MATH_LN2;
}

/* Returns -ln(1 - p^(1/k)), the load kn/m at which k bits are all set with
 * chance p. The two forms are equal; each is accurate where the other is not.
 */
static double math_load(double p, double k)
{
    double set = exp(log(p) / k);
    return set < 0.5 ? -log1p(-set) : -log(-expm1(log(p) / k));
}

double math_bits_least(double n, double p, double k)
{
    return k * n / math_load(p, k);
}

double math_bits_enough(double n, double p, double k)
{
    return 1 + k * (n + 0.5) / math_load(p, k);
}

double math_capacity(double m, double k, double p)
{
    return m / k * math_load(p, k);
}

/* ---- Rates ------------------------------------------------------------- */

double math_rate_exp(double m, double n, double k)
{
    return pow(-expm1(-k * n / m), k);
}

double math_rate_classic(double m, double n, double k)
{
    return pow(-expm1(k * n * log1p(-1 / m)), k);
}

/* E[(X/m)^k] from the mean and variance of X: the Taylor series of y^k around
 * the mean, with the moments of a normal distribution beyond the second. */
static double math_rate_moments(double m, double n, double k)
{
    double mean = math_set_mean(m, k * n);
    double spread = math_set_variance(m, k * n) / (mean * mean);
    double second = k * (k - 1) / 2 * spread;
    double fourth = k * (k - 1) * (k - 2) * (k - 3) / 8 * spread * spread;
    double rate = pow(mean / m, k) * (1 + second + fourth);
    return rate < 1 ? rate : 1;
}

static double math_rate_given(uint64_t m, uint64_t n, uint32_t k)
{
    math_chances touch = math_touch(m, k);
    math_given g;
    math_given_start(&g, m, k);
    for (uint64_t i = 0; i < n; i++)
        math_given_probe(&g, k);
    return math_given_rate(&g, &touch);
}

double math_rate(uint64_t m, double n, uint32_t k)
{
    if (n == 0)
        return 0;
    if (k == 1)
        return math_set_mean((double)m, n) / (double)m;
    bool small = m <= MATH_OCCUPANCY && m <= 4 * (uint64_t)k * k
              && k <= MATH_GIVEN;
    bool whole = n == floor(n) && n * k <= 16.0 * MATH_OCCUPANCY;
    if (small && whole)
        return math_rate_given(m, (uint64_t)n, k);
    return math_rate_moments((double)m, n, k);
}

/* ---- Counters ---------------------------------------------------------- */

static const double MATH_PI = 3.14159265358979323846;

/* Returns the error of Stirling's formula for ln x!, x > 0: by its series from
 * 16 on, below by its recurrence (x + 1/2) ln((x+1)/x) - 1 = d(x) - d(x+1). */
static double math_stirling(double x)
{
    double below = 0;
    for (; x < 16; x++)
        below += (x + 0.5) * log1p(1 / x) - 1;
    double y = 1 / (x * x);
    return below + (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - y / 1680) * y) * y)
                   / x;
}

/* x ln(x/mean) + mean - x, the deviance. */
static double math_deviance(double x, double mean)
{
    double d = (x - mean) / mean;
    return mean * ((1 + d) * log1p(d) - d);
}

/* P(Bin(t, 1/m) = j), 0 <= j <= t, m > 1. */
static double math_met(double m, double t, double j)
{
    double p = 1 / m;
    if (j < 1)
        return exp(t * log1p(-p));
    if (j >= t)
        return exp(-t * log(m));
    double part = math_stirling(t) - math_stirling(j) - math_stirling(t - j)
                - math_deviance(j, t * p) - math_deviance(t - j, t * (1 - p));
    return sqrt(t / (2 * MATH_PI * j * (t - j))) * exp(part);
}

/* Computes each term from the one before it, on the side of `times` away from
 * the mean, where terms decrease. */
double math_tail(double m, double t, double times)
{
    if (times < 1)
        return 1;
    if (times > t)
        return 0;
    if (m <= 1)
        return 1;
    double sum = 0, odds = 1 / (m - 1);
    if (times > t / m) {
        double term = math_met(m, t, times);
        for (double j = times; term > sum * 1e-17; j++) {
            sum += term;
            term *= (t - j) / (j + 1) * odds;
        }
        return fmin(sum, 1);
    }
    double term = math_met(m, t, times - 1);
    for (double j = times - 1; term > sum * 1e-17; j--) {
        sum += term;
        term *= j / (t - j + 1) / odds;
    }
    return fmax(1 - sum, 0);
}

double math_rate_times_classic(double m, double n, double k, double times)
{
    return pow(math_tail(m, k * n, times), k);
}

/* Var Y = (q(1-q) - cov^2 / var J) / m, where J counts the probes that met in a
 * counter: the variance of one counter, less what their total fixes. */
double math_rate_times(double m, double n, double k, double times, double *sd)
{
    double t = k * n, load = t / m, q = math_tail(m, t, times);
    if (sd != NULL)
        *sd = 0;
    if (!(q > 0) || m <= 1)
        return q;
    double cross = load * (math_tail(m, t - 1, times - 1) - q);
    double variance = q * (1 - q) - cross * cross / (load * (1 - 1 / m));
    double spread = fmax(variance, 0) / m / (q * q);
    double second = k * (k - 1) / 2 * spread;
    double fourth = k * (k - 1) * (k - 2) * (k - 3) / 8 * spread * spread;
    if (sd != NULL)
        *sd = pow(q, k) * k * sqrt(spread);
    return fmin(pow(q, k) * (1 + second + fourth), 1);
}

double math_absent_probes(double fill, double k)
{
    return fill >= 1 ? k : (1 - pow(fill, k)) / (1 - fill);
}

double math_entropy(double p)
{
    if (!(p > 0 && p < 1))
        return 0;
    return -(p * log(p) + (1 - p) * log1p(-p)) / MATH_LN2;
}

double math_collision(double n)
{
    return -expm1(-n / 18446744073709551616.0);
}

/* ---- Set bits ---------------------------------------------------------- */

double math_set_mean(double m, double t)
{
    return m == 1 ? (t > 0) : -m * expm1(t * log1p(-1 / m));
}

/* Var Z = m(m-1)(1-2/m)^t + E - E^2 for the number Z of zeros, rearranged so
 * that the terms in m^2 do not cancel: with q = (1-1/m)^t, (1-2/m)^t / q^2 = (1
 * - 1/(m-1)^2)^t. Rounding errors below 0 become 0. */
double math_set_variance(double m, double t)
{
    if (m <= 2)
        return m <= 1 || t == 0 ? 0 : pow(0.5, t - 1) * (1 - pow(0.5, t - 1));
    double clear = t * log1p(-1 / m);
    double pair = t * log1p(-1 / ((m - 1) * (m - 1)));
    double q = exp(clear);
    double variance = m * m * q * q * expm1(pair)
                    - m * q * expm1(clear + pair);
    return variance > 0 ? variance : 0;
}

/* The root of m (e^load - 1 - load), whose terms cancel at small loads. */
double math_probes_sd(double m, double load)
{
    if (isinf(load))
        return INFINITY;
    return sqrt(m * (load < 1e-3 ? load * load / 2 * (1 + load / 3)
                                 : expm1(load) - load));
}

/* ---- A number below R for a key ---------------------------------------- */

double math_numbers_rate(double range, double n)
{
    return range <= 1 ? n > 0 : -expm1(n * log1p(-1 / range));
}

double math_numbers_keys(double met, double range, double *sd)
{
    if (met >= range)
        return *sd = (double)INFINITY;
    double clear = log1p(-met / range);
    *sd = math_probes_sd(range, -clear);
    return met > 0 ? clear / log1p(-1 / range) : 0;
}

bool math_numbers_for(uint64_t *range, uint64_t n, double rate, uint64_t most)
{
    double least = -1 / expm1(log1p(-rate) / (double)n);
    if (!(least < (double)most) || !sizes_from_double(range, least))
        return false;
    while (math_numbers_rate((double)*range, (double)n) > rate)
        *range += 1 + *range / (UINT64_C(1) << 50);
    return *range <= most;
}

uint64_t math_least_hash(uint64_t f, uint64_t range)
{
    double guess = (double)f / (double)range * 18446744073709551616.0;
    uint64_t middle = guess < 18446744073709543424.0 ? (uint64_t)guess
                                                     : UINT64_MAX - 8192;
    uint64_t low = middle > 8192 ? middle - 8192 : 0;
    uint64_t high = middle < UINT64_MAX - 8192 ? middle + 8192 : UINT64_MAX;
    while (low < high) {
        middle = low + (high - low) / 2;
        if (bits_range(middle, range) >= f)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- Given bits -------------------------------------------------------- */

math_chances math_touch(uint64_t m, uint32_t probes)
{
    math_chances q = { { 1 } };
    for (uint32_t i = 0; i < probes; i++)
        for (uint32_t j = i + 1; j > 0; j--) {
            double again = (double)j / (double)m;
            double fresh = fmax(0, 1 - (double)(j - 1) / (double)m);
            q.of[j] = q.of[j] * again + q.of[j - 1] * fresh;
            q.of[j - 1] = j == 1 ? 0 : q.of[j - 1];
        }
    return q;
}

void math_given_start(math_given *g, uint64_t m, uint32_t most)
{
    *g = (math_given){ .set = { { 1 } },
                       .most = m < most ? (uint32_t)m : most };
    for (uint32_t j = 0; j <= g->most; j++)
        g->share[j] = (double)j / (double)m;
}

void math_given_probe(math_given *g, uint32_t probes)
{
    double *set = g->set.of;
    for (uint32_t i = 0; i < probes; i++)
        for (uint32_t j = g->most; j > 0; j--)
            set[j] += (set[j - 1] - set[j]) * g->share[j];
}

double math_given_rate(const math_given *g, const math_chances *touch)
{
    double sum = 0;
    for (uint32_t j = 0; j <= g->most; j++)
        sum += touch->of[j] * g->set.of[j];
    return sum;
}
