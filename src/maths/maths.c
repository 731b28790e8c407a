/* maths.c - the formulas of Bloom filters.
 *
 * Floor 1. Differences from 1 go through expm1 and log1p: m may be 10^15, and
 * 1 - 1/m is then 1 in double. tests/maths/maths.c holds every function against
 * values found by enumeration in rationals.
 */
#include "maths/maths.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double MATH_LN2 = 0.69314718055994530942;

/* ---- Sizes ------------------------------------------------------------- */

double math_bits_per_key(double p)
{
    return -log2(p) / MATH_LN2;
}

double math_best_probes(double m, double n)
{
    return m / n * MATH_LN2;
}

void math_textbook(double n, double p, double *m, double *k)
{
    *m = ceil(-n * log(p) / (MATH_LN2 * MATH_LN2));
    double rounded = round(*m / n * MATH_LN2);
    *k = rounded < 1 ? 1 : rounded;
}

/* -ln(1 - p^(1/k)): the load kn/m at which k bits are all set with chance p.
 * Both forms are this; each keeps the digits where the other loses them. */
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

double math_rate_bound(double m, double n, double k)
{
    return pow(-expm1(-k * (n + 0.5) / (m - 1)), k);
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

/* f = sum over j of Q_j R_j: Q_j the chance that k query probes touch j
 * different bits, R_j that j given bits are all set. */
double math_rate_inclusion(double m, double n, uint32_t k)
{
    double touched[64] = { 1 };         /* touched[j] = Q_j, after i probes */
    if (k >= 64)
        return (double)NAN;
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = i + 1; j > 0; j--) {
            double stay = i == 0 ? 0 : touched[j] * j / m;
            touched[j] = stay + touched[j - 1] * (m - j + 1) / m;
            touched[j - 1] = j == 1 ? 0 : touched[j - 1];
        }
    double rate = 0;
    for (uint32_t j = 1; j <= k; j++) {
        double choose = 1, all = 0;
        for (uint32_t i = 0; i <= j; i++) {
            double clear = i < m ? exp(k * n * log1p(-(double)i / m)) : 0;
            all += (i % 2 == 0 ? choose : -choose) * clear;
            choose = choose * (j - i) / (i + 1);
        }
        rate += touched[j] * all;
    }
    return rate;
}

double math_zeros_tail(double m, double n, double k, double off)
{
    return 2 * exp(-2 * (off * m) * (off * m) / (k * n));
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

/* Var Z = m(m-1)(1-2/m)^t + E - E^2 for the number Z of zeros, arranged so
 * that the terms in m^2 do not cancel: with q = (1-1/m)^t,
 * (1-2/m)^t / q^2 = (1 - 1/(m-1)^2)^t. What rounding leaves below 0 is 0. */
double math_set_variance(double m, double t)
{
    if (m <= 2)
        return m <= 1 || t == 0 ? 0 : pow(0.5, t - 1) * (1 - pow(0.5, t - 1));
    double clear = t * log1p(-1 / m), pair = t * log1p(-1 / ((m - 1) * (m - 1)));
    double q = exp(clear);
    double variance = m * m * q * q * expm1(pair)
                    - m * q * expm1(clear + pair);
    return variance > 0 ? variance : 0;
}

/* ---- Occupancy --------------------------------------------------------- */

static const double MATH_NEGLIGIBLE = 1e-30;

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

void math_occupancy_start(math_occupancy *o, uint64_t m)
{
    assert(m >= 1 && m <= MATH_OCCUPANCY);
    memset(o, 0, sizeof *o);
    o->m = m;
    o->chance[0] = 1;
}

/* P'(x) = P(x) x/m + P(x-1) (m-x+1)/m, from the top down, in place. */
void math_occupancy_probe(math_occupancy *o, uint32_t probes)
{
    double m = (double)o->m;
    for (uint32_t i = 0; i < probes; i++) {
        if (o->high < o->m)
            o->high++;
        for (uint64_t x = o->high; x > o->low; x--)
            o->chance[x] = o->chance[x] * ((double)x / m)
                         + o->chance[x - 1] * ((m - (double)x + 1) / m);
        o->chance[o->low] *= (double)o->low / m;
        while (o->low < o->high && o->chance[o->low] < MATH_NEGLIGIBLE)
            o->chance[o->low++] = 0;
        while (o->high > o->low && o->chance[o->high] < MATH_NEGLIGIBLE)
            o->chance[o->high--] = 0;
    }
}

double math_occupancy_moment(const math_occupancy *o, uint32_t k)
{
    double sum = 0;
    for (uint64_t x = o->low; x <= o->high; x++)
        sum += o->chance[x] * pow((double)x / (double)o->m, k);
    return sum < 1 ? sum : 1;           /* not by a rounding more than 1 */
}

/* ---- Sets of keys ------------------------------------------------------ */

double math_intersection_and(double m, double k, double x, double y,
                             double both)
{
    double inside = m - (both * m - x * y) / (m - x - y + both);
    double n = (log(inside) - log(m)) / (k * log1p(-1 / m));
    return n > 0 ? n : 0;
}

double math_and_fill(double common, double a, double b)
{
    return common + (1 - common) * a * b;
}
