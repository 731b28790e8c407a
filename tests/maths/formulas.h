/* formulas.h - independent formulas for the rate of a Bloom filter, to compare
 * the library's with.
 *
 *   [Bose 2008]     On the false-positive rate of Bloom filters, IPL 108(4)
 *   [Christensen 2010]  A new analysis of the false positive rate of a Bloom
 *                   filter, IPL 110(21)
 *   [Goel 2010]     Small subset queries and Bloom filters using ternary
 *                   associative memories, SIGMETRICS
 */
#ifndef BLY_TEST_FORMULAS_H
#define BLY_TEST_FORMULAS_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "maths/maths.h"

/* (1 - e^(-k(n+1/2)/(m-1)))^k, proved never to be below the true rate; m >= 2.
 * [Goel 2010] */
static inline double formulas_rate_bound(double m, double n, double k)
{
    return pow(-expm1(-k * (n + 0.5) / (m - 1)), k);
}

/* ---- Occupancy: how many of m <= MATH_OCCUPANCY bits are set ----------- */

/* chance[x] for low <= x <= high is the chance of x set bits. Chances outside
 * are below 10^-30. */
typedef struct {
    uint64_t m, low, high;
    double   chance[MATH_OCCUPANCY + 1];
} formulas_occupancy;

static const double FORMULAS_NEGLIGIBLE = 1e-30;

static inline void formulas_occupancy_start(formulas_occupancy *o, uint64_t m)
{
    assert(m >= 1 && m <= MATH_OCCUPANCY);
    memset(o, 0, sizeof *o);
    o->m = m;
    o->chance[0] = 1;
}

/* P'(x) = P(x) x/m + P(x-1) (m-x+1)/m, from the top down, in place. */
static inline void formulas_occupancy_probe(formulas_occupancy *o,
                                            uint32_t probes)
{
    double m = (double)o->m;
    for (uint32_t i = 0; i < probes; i++) {
        if (o->high < o->m)
            o->high++;
        for (uint64_t x = o->high; x > o->low; x--)
            o->chance[x] = o->chance[x] * ((double)x / m)
                         + o->chance[x - 1] * ((m - (double)x + 1) / m);
        o->chance[o->low] *= (double)o->low / m;
        while (o->low < o->high && o->chance[o->low] < FORMULAS_NEGLIGIBLE)
            o->chance[o->low++] = 0;
        while (o->high > o->low && o->chance[o->high] < FORMULAS_NEGLIGIBLE)
            o->chance[o->high--] = 0;
    }
}

/* E[(X/m)^k] */
static inline double formulas_occupancy_moment(const formulas_occupancy *o,
                                               uint32_t k)
{
    double sum = 0;
    for (uint64_t x = o->low; x <= o->high; x++)
        sum += o->chance[x] * pow((double)x / (double)o->m, k);
    return sum < 1 ? sum : 1;           /* not above 1 by rounding */
}

/* Returns the true rate from the distribution of X, for whole n and m <=
 * MATH_OCCUPANCY. [Christensen 2010] */
static inline double formulas_rate_occupancy(uint64_t m, uint64_t n, uint32_t k)
{
    formulas_occupancy o;
    formulas_occupancy_start(&o, m);
    for (uint64_t i = 0; i < n; i++)
        formulas_occupancy_probe(&o, k);
    return formulas_occupancy_moment(&o, k);
}

/* ---- Inclusion and exclusion ------------------------------------------- */

/* Returns the true rate by inclusion and exclusion, in O(k^2); loses log10(3^k)
 * digits at half fill: k <= 20 [Bose 2008, rearranged].
 *
 * f = sum over j of Q_j R_j: Q_j the chance that k query probes touch j
 * different bits, R_j that j given bits are all set. */
static inline double formulas_rate_inclusion(double m, double n, uint32_t k)
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

#endif /* BLY_TEST_FORMULAS_H */
