/* deng.c - the stable point of a filter that forgets [Deng & Rafiei 2006].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

static const struct { unsigned m, k, max, p; double rate; } deng_table[] = {
    { 100000, 3, 1, 10, 0.01229 }, { 100000, 3, 3, 10, 0.16174 },
    { 10000, 2, 3, 35, 0.02359 },  { 10000, 4, 7, 26, 0.16043 },
};
enum { DENG_ROWS = sizeof deng_table / sizeof *deng_table, DENG_FILTERS = 20 };

/* Returns the share of cells at zero in the limit. */
static double deng_zeros(double m, double k, double max, double p)
{
    return pow(1 / (1 + 1 / (p * (1 / k - 1 / m))), max);
}

static bly_filter *deng_new(size_t i)
{
    return lab_new(1000, 0, "stable:m=%u,k=%u,max=%u,p=%u", deng_table[i].m,
                   deng_table[i].k, deng_table[i].max, deng_table[i].p);
}

/* Returns the rate at the stable point: the mean over moments far enough apart
 * for all cells to have changed in between. */
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

/* Measures the rate of several filters along the stream. */
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

/* ---- Lifetime in the filter ---------------------------------------------- */

enum { DENG_M = 100000, DENG_LIVES = 20000 };

/* Probes, the maximum value, cells lowered; for a rate of 0.1. */
static const struct { unsigned k, max, p; } deng_lives[] = {
    { 1, 1, 9 }, { 1, 3, 28 }, { 3, 1, 4 }, { 3, 3, 13 },
};
enum { DENG_LIFE_ROWS = sizeof deng_lives / sizeof *deng_lives };

typedef struct { uint64_t series, drawn; } deng_dice;

static double deng_uniform(deng_dice *d)
{
    return ((double)(lab_key(d->series, d->drawn++) >> 11) + 0.5) * 0x1p-53;
}

/* Returns the adds until a cell that was just set reaches zero: each add lowers
 * it with chance P/m and, if `set`, sets it again with k/m. */
static double deng_life(deng_dice *dice, size_t i, bool set)
{
    double lower = (double)deng_lives[i].p / DENG_M;
    double raise = set ? (double)deng_lives[i].k / DENG_M : 0, adds = 0;
    for (unsigned value = deng_lives[i].max; value > 0; ) {
        adds += -log(deng_uniform(dice)) / (lower + raise);
        if (deng_uniform(dice) * (lower + raise) < lower)
            value--;
        else
            value = deng_lives[i].max;
    }
    return adds;
}

typedef struct { lab_measure alone, cell, key; } deng_age;

/* Measures the age of a cell that is never set again, of one in the stream, and
 * of a key, which is lost with its first cell. */
static deng_age deng_measure_life(lab *l, size_t i)
{
    static double alone[DENG_LIVES], cell[DENG_LIVES], key[DENG_LIVES];
    size_t lives = lab_pick(l, 100, 5000, DENG_LIVES);
    deng_dice dice = { .series = 100 + i };
    for (size_t j = 0; j < lives; j++) {
        alone[j] = deng_life(&dice, i, false);
        cell[j] = key[j] = deng_life(&dice, i, true);
        for (unsigned c = 1; c < deng_lives[i].k; c++)
            key[j] = fmin(key[j], deng_life(&dice, i, true));
    }
    return (deng_age){ lab_mean(alone, lives), lab_mean(cell, lives),
                       lab_mean(key, lives) };
}

static void deng_ages(lab *l)
{
    bool cells = true, keys = true;
    double least = 1, most = 0;
    lab_figure(l, "life", "k,max,P,formula,alone,low,high,cell,low,high,key,"
                          "low,high");
    for (size_t i = 0; i < DENG_LIFE_ROWS; i++) {
        double told = (double)deng_lives[i].max * DENG_M / deng_lives[i].p;
        deng_age age = deng_measure_life(l, i);
        lab_row(l, "%u,%u,%u,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f",
                deng_lives[i].k, deng_lives[i].max, deng_lives[i].p, told,
                age.alone.value, age.alone.low, age.alone.high, age.cell.value,
                age.cell.low, age.cell.high, age.key.value, age.key.low,
                age.key.high);
        cells = cells && age.alone.low <= told && age.alone.high >= told;
        keys = keys && age.key.low <= told && age.key.high >= told;
        least = fmin(least, age.key.value / told);
        most = fmax(most, age.key.value / told);
    }
    lab_says(l, "a key is in the filter for c N / s adds: its cells' largest "
                "value times the cells, by those lowered (Hungarian "
                "encyclopaedia)", keys, "%.2f to %.2f times that for k of 1 "
             "and 3, largest values of 1 and 3", least, most);
    lab_says(l, "ours: so long lives a single cell that nobody sets again",
             cells, "within the interval for all four");
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
    deng_ages(&l);
    return lab_close(&l);
}
