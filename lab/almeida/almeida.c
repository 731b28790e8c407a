/* almeida.c - filters that grow, and the sum of their errors [Almeida et al.
 * 2007].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { ALMEIDA_FIRST = 1000, ALMEIDA_RATIOS = 3,
       ALMEIDA_FILTERS = 20, ALMEIDA_STEPS = 16 };

static const double almeida_rate = 0.01;
static const unsigned almeida_ratio[ALMEIDA_RATIOS] = { 50, 80, 90 };

typedef struct {
    bly_filter *f[ALMEIDA_RATIOS][ALMEIDA_FILTERS];
    size_t   filters;
    uint64_t in, asked;
    size_t   steps;
    double   bits[ALMEIDA_STEPS][ALMEIDA_RATIOS], highest;
} almeida;

/* Let all filters grow to n keys, and measure them. */
static void almeida_grow(almeida *a, lab *l, uint64_t n)
{
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++) {
        double rate[ALMEIDA_FILTERS];
        size_t bytes = 0;
        for (size_t j = 0; j < a->filters; j++) {
            lab_fill(a->f[i][j], 2 * j, a->in, n - a->in);
            rate[j] = (double)lab_hits(a->f[i][j], 2 * j + 1, a->asked)
                    / (double)a->asked;
            bly_raw(a->f[i][j], &bytes);
        }
        lab_measure r = lab_shares(rate, a->filters, a->asked);
        a->bits[a->steps][i] = 8 * (double)bytes / (double)n;
        a->highest = fmax(a->highest, r.low);
        lab_row(l, "%.0f,%u,%.6g,%.6g,%.6g", (double)n, almeida_ratio[i],
                r.value, r.low, r.high);
    }
    a->in = n;
    a->steps++;
}

static void almeida_cost(const almeida *a, lab *l)
{
    const double *last = a->bits[a->steps - 1];
    lab_figure(l, "cost", "keys,ratio 0.5,ratio 0.8,ratio 0.9");
    for (size_t i = 0; i < a->steps; i++)
        lab_row(l, "%.0f,%.5g,%.5g,%.5g", ldexp(ALMEIDA_FIRST, (int)i),
                a->bits[i][0], a->bits[i][1], a->bits[i][2]);
    lab_says(l, "a ratio of 0.8 or 0.9 takes less memory than 0.5, where many "
                "keys come", last[1] < last[0] && last[2] < last[0],
             "%.1f (0.5), %.1f (0.8), %.1f (0.9) bits a key at the end",
             last[0], last[1], last[2]);
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
                 "come", a.highest <= almeida_rate,
             "1 %% was asked for; the interval begins at %.4g at the worst "
             "moment, up to %.0f times the first capacity", a.highest,
             (double)most / ALMEIDA_FIRST);
    almeida_cost(&a, &l);
    for (size_t i = 0; i < ALMEIDA_RATIOS; i++)
        for (size_t j = 0; j < a.filters; j++)
            bly_free(a.f[i][j]);
    return lab_close(&l);
}
