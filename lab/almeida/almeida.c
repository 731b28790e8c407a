/* almeida.c - filters that grow, and the sum of their errors [Almeida et al.
 * 2007].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

enum { ALMEIDA_FIRST = 1000, ALMEIDA_RATIOS = 3, ALMEIDA_FILTERS = 20 };

static const double almeida_rate = 0.01;
static const unsigned almeida_ratio[ALMEIDA_RATIOS] = { 50, 80, 90 };

typedef struct {
    bly_filter *f[ALMEIDA_RATIOS][ALMEIDA_FILTERS];
    size_t   filters;
    uint64_t in, asked;
    lab_measure highest;
} almeida;

/* Grows all filters to n keys and measures them. */
static void almeida_grow(almeida *a, lab *l, uint64_t n)
{
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++) {
        double rate[ALMEIDA_FILTERS];
        for (size_t j = 0; j < a->filters; j++) {
            lab_fill(a->f[i][j], 2 * j, a->in, n - a->in);
            rate[j] = (double)lab_hits(a->f[i][j], 2 * j + 1, a->asked)
                    / (double)a->asked;
        }
        lab_measure r = lab_shares(rate, a->filters, a->asked);
        if (r.value > a->highest.value)
            a->highest = r;
        lab_row(l, "%.0f,%u,%.6g,%.6g,%.6g", (double)n, almeida_ratio[i],
                r.value, r.low, r.high);
    }
    a->in = n;
}

/* Returns the bits per key of a growing filter, taken eight times per doubling;
 * the mean over the last doubling, as the unused part varies. */
static double almeida_bits(lab *l, unsigned ratio, uint64_t most)
{
    bly_filter *f = lab_new(ALMEIDA_FIRST, almeida_rate,
                            "scalable:tightening=%u", ratio);
    double sum = 0;
    uint64_t in = 0;
    unsigned steps = 0;
    for (double n = ALMEIDA_FIRST; n <= (double)most; n *= exp2(0.125)) {
        size_t bytes;
        lab_fill(f, 1, in, (uint64_t)n - in);
        in = (uint64_t)n;
        bly_raw(f, &bytes);
        double bits = 8 * (double)bytes / (double)in;
        lab_row(l, "%.0f,%u,%.5g", (double)in, ratio, bits);
        if (2 * n >= (double)most) {
            sum += bits;
            steps++;
        }
    }
    bly_free(f);
    return sum / steps;
}

static void almeida_cost(lab *l, uint64_t most)
{
    double bits[ALMEIDA_RATIOS];
    lab_figure(l, "cost", "keys,ratio,bits");
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++)
        bits[i] = almeida_bits(l, almeida_ratio[i], most);
    lab_says(l, "a ratio of 0.8 or 0.9 takes less memory than 0.5, where many "
                "keys come", bits[1] < bits[0] && bits[2] < bits[0],
             "%.1f (0.5), %.1f (0.8), %.1f (0.9) bits a key, the mean over the "
             "last doubling", bits[0], bits[1], bits[2]);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t most = lab_pick(&l, 4000, 1024000, 16384000);
    almeida a = { .filters = lab_pick(&l, 2, 10, ALMEIDA_FILTERS),
                  .asked = lab_pick(&l, 1000, 200000, 2000000) };
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++)
        for (size_t j = 0; j < a.filters; j++)
            a.f[i][j] = lab_new(ALMEIDA_FIRST, almeida_rate,
                                "scalable:tightening=%u", almeida_ratio[i]);
    lab_figure(&l, "growing", "keys,ratio,rate,low,high");
    for (uint64_t n = ALMEIDA_FIRST; n <= most; n *= 2)
        almeida_grow(&a, &l, n);
    lab_says(&l, "the rate stays below what was asked for, however many keys "
                 "come", a.highest.low <= almeida_rate,
             "1 %% was asked for: %.4g (%.4g … %.4g) at the worst moment, up "
             "to %.0f times the first capacity", a.highest.value, a.highest.low,
             a.highest.high,
             (double)most / ALMEIDA_FIRST);
    almeida_cost(&l, most);
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++)
        for (size_t j = 0; j < a.filters; j++)
            bly_free(a.f[i][j]);
    return lab_close(&l);
}
