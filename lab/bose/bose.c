/* bose.c - the exact rate of small filters [Bose et al. 2008].
 *
 * See lab.h and essay.html beside this file.
 *
 * The exact rate is computed by following how many bits are set, probe after
 * probe: of x set bits of m the next probe hits one with x / m. All terms are
 * positive, so nothing cancels.
 */
#include "lab.h"

#include <stdlib.h>

static const struct { unsigned m, n, k; double exact; } bose_table[] = {
    { 32, 3, 3, 1.5889653e-2 },    { 32, 4, 4, 2.6768251e-2 },
    { 64, 8, 6, 2.3809225e-2 },    { 100, 10, 7, 8.9363116e-3 },
    { 128, 16, 6, 2.2676732e-2 },  { 256, 32, 6, 2.2122858e-2 },
    { 512, 64, 6, 2.1848984e-2 },  { 1024, 128, 6, 2.1712810e-2 },
    { 1000, 100, 7, 8.2662475e-3 },
};
enum { BOSE_ROWS = sizeof bose_table / sizeof *bose_table };

static double bose_exact(unsigned m, unsigned n, unsigned k)
{
    double *chance = lab_allocate((m + 1) * sizeof *chance), rate = 0;
    for (unsigned x = 0; x <= m; x++)
        chance[x] = x == 0;
    for (unsigned t = 0; t < n * k; t++)
        for (unsigned x = m + 1; x-- > 0; )
            chance[x] = chance[x] * x / m
                      + (x > 0 ? chance[x - 1] * (m - x + 1) / m : 0);
    for (unsigned x = 0; x <= m; x++)
        rate += chance[x] * pow((double)x / m, k);
    free(chance);
    return rate;
}

/* Returns a proven upper bound [Goel & Gupta 2010]. */
static double bose_bound(unsigned m, unsigned n, unsigned k)
{
    return pow(-expm1(-(double)k * (n + 0.5) / (m - 1)), k);
}

static lab_measure bose_rate(lab *l, unsigned m, unsigned n, unsigned k)
{
    char kind[64];
    snprintf(kind, sizeof kind, "standard:m=%u,k=%u,index=seeds", m, k);
    return lab_rate(kind, 0, n, (unsigned)lab_pick(l, 10, 20000, 400000),
                    500);
}

static void bose_claims(lab *l)
{
    lab_figure(l, "small", "m,n,k,rate,low,high,exact,classic,bound");
    unsigned below = 0, above = 0, bounded = 0, beyond = 0;
    for (size_t i = 0; i < BOSE_ROWS; i++) {
        unsigned m = bose_table[i].m, n = bose_table[i].n, k = bose_table[i].k;
        lab_measure rate = bose_rate(l, m, n, k);
        double classic = lab_classic(m, n, k), bound = bose_bound(m, n, k);
        lab_row(l, "%u,%u,%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", m, n, k,
                rate.value, rate.low, rate.high, bose_exact(m, n, k), classic,
                bound);
        char what[96];
        snprintf(what, sizeof what, "exact rate of %u bits, %u keys, k = %u", m,
                 n, k);
        lab_number(l, what, bose_table[i].exact, 5e-10, rate);
        below += classic < rate.low;
        above += classic > rate.high;
        bounded += bound > rate.high;
        beyond += bound < rate.low;
    }
    lab_says(l, "the classic formula is too low", below > 0 && above == 0,
             "below the interval that was measured for %u of %d sizes, above "
             "it for %u", below, BOSE_ROWS, above);
    lab_says(l, "Goel and Gupta's bound is above the truth",
             bounded > 0 && beyond == 0, "above the interval that was measured "
             "for %u of %d sizes, below it for %u", bounded, BOSE_ROWS, beyond);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    bose_claims(&l);
    lab_figure(&l, "vanishes", "m,exact,bound,rate,low,high");
    lab_measure first = { 0 }, last = { 0 };
    for (unsigned m = 20; m <= lab_pick(&l, 40, 5120, 10240); m *= 2) {
        double classic = lab_classic(m, m / 10, 7);
        last = bose_rate(&l, m, m / 10, 7);
        last = (lab_measure){ last.value / classic, last.low / classic,
                              last.high / classic };
        if (m == 20)
            first = last;
        lab_row(&l, "%u,%.6g,%.6g,%.6g,%.6g,%.6g", m,
                bose_exact(m, m / 10, 7) / classic,
                bose_bound(m, m / 10, 7) / classic, last.value, last.low,
                last.high);
    }
    lab_says(&l, "the difference vanishes as filters grow",
             first.low > 1 && last.high < first.low && last.low <= 1.005,
             "10 bits a key, k = 7: %.3f times the classic formula with 20 "
             "bits, %.4f (%.4f … %.4f) in the largest filter", first.value,
             last.value, last.low, last.high);
    return lab_close(&l);
}
