/* deng.c - the stable point of a filter that forgets [Deng & Rafiei 2006].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

static const struct { unsigned m, k, max, p; double rate; } deng_table[] = {
    { 100000, 3, 1, 10, 0.01229 }, { 100000, 3, 3, 10, 0.16174 },
    { 10000, 2, 3, 35, 0.02359 },  { 10000, 4, 7, 26, 0.16043 },
};
enum { DENG_ROWS = sizeof deng_table / sizeof *deng_table, DENG_FILTERS = 20 };

/* Share of cells at zero in the limit. */
static double deng_zeros(double m, double k, double max, double p)
{
    return pow(1 / (1 + 1 / (p * (1 / k - 1 / m))), max);
}

static bly_filter *deng_new(size_t i)
{
    return lab_new(1000, 0, "stable:m=%u,k=%u,max=%u,p=%u", deng_table[i].m,
                   deng_table[i].k, deng_table[i].max, deng_table[i].p);
}

/* The rate at the stable point: the mean over moments that are far enough
 * apart for all cells to have changed in between. */
static lab_measure deng_rate(lab *l, size_t i)
{
    double rate[200];
    size_t moments = lab_pick(l, 3, 30, 200);
    uint64_t apart = 10 * (uint64_t)deng_table[i].max * deng_table[i].m
                   / deng_table[i].p;
    uint64_t asked = lab_pick(l, 100, 50000, 500000);
    bly_filter *f = deng_new(i);
    lab_fill(f, 1, 0, apart);
    for (size_t j = 0; j < moments; j++) {
        lab_fill(f, 1, (j + 1) * apart, apart);
        rate[j] = (double)lab_hits(f, 2 + j, asked) / (double)asked;
    }
    bly_free(f);
    return lab_shares(rate, moments, asked);
}

/* The rate while the stream goes on, of several filters. */
static void deng_way(lab *l, size_t i)
{
    bly_filter *f[DENG_FILTERS];
    double rate[DENG_FILTERS], m = deng_table[i].m, k = deng_table[i].k;
    size_t filters = lab_pick(l, 2, 8, DENG_FILTERS);
    uint64_t in = 0, asked = lab_pick(l, 100, 50000, 500000);
    for (size_t j = 0; j < filters; j++)
        f[j] = deng_new(i);
    for (uint64_t n = 100; n <= 200000; n = n * 3 / 2) {
        for (size_t j = 0; j < filters; j++) {
            lab_fill(f[j], 2 * j, in, n - in);
            rate[j] = (double)lab_hits(f[j], 2 * j + 1, asked) / (double)asked;
        }
        in = n;
        lab_measure r = lab_shares(rate, filters, asked);
        lab_row(l, "%zu,%.0f,%.6g,%.6g,%.6g,%.6g", i + 1, (double)n, r.value,
                r.low, r.high, pow(1 - deng_zeros(m, k, deng_table[i].max,
                                                  deng_table[i].p), k));
    }
    for (size_t j = 0; j < filters; j++)
        bly_free(f[j]);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    lab_figure(&l, "stable", "filter,keys,rate,low,high,limit");
    for (size_t i = 0; i < DENG_ROWS; i++)
        deng_way(&l, i);
    for (size_t i = 0; i < DENG_ROWS; i++) {
        char what[96];
        snprintf(what, sizeof what, "rate in the limit: m = %u, k = %u, "
                 "max = %u, P = %u", deng_table[i].m, deng_table[i].k,
                 deng_table[i].max, deng_table[i].p);
        lab_number(&l, what, deng_table[i].rate, 5e-6,
                   deng_rate(&l, i));
    }
    return lab_close(&l);
}
