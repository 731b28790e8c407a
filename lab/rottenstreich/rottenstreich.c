/* rottenstreich.c - counters raised by varying increments, compared with
 * counters raised by one [Rottenstreich, Kanizo & Keslassy 2012].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { ROTTENSTREICH_KEYS = 20000, ROTTENSTREICH_BITS = 6,
       ROTTENSTREICH_COUNTING = 4 };

/* Expected for 1000 keys: l is the smallest increment, 1 for a counting
 * filter. */
static const struct { unsigned m, k, l; double rate; } rottenstreich_table[] = {
    { 8000, 4, 1, 2.3973e-2 },  { 8000, 4, 2, 2.9153e-3 },
    { 8000, 4, 4, 5.6497e-4 },  { 8000, 4, 8, 1.7900e-4 },
    { 8000, 4, 16, 8.6949e-5 }, { 10000, 6, 2, 4.2503e-4 },
    { 10000, 6, 4, 4.5272e-5 },
};
enum { ROTTENSTREICH_ROWS = sizeof rottenstreich_table
                          / sizeof *rottenstreich_table };

/* Computes the formula: a cell that no key raised says no; one raised by one
 * key says yes for one of l increments, one raised by two for a few. */
static double rottenstreich_rate(double n, double m, double k, double l)
{
    double p0 = exp(-n * k / m), p1 = p0 * n * k / m, p2 = p1 * n * k / m / 2;
    return pow(1 - p0 - (l - 1) / l * p1
               - (l - 1) * (l + 1) / (6 * l * l) * p2, k);
}

static double rottenstreich_best(double n, double m, double l)
{
    double best = 1;
    for (double k = 2; k <= 32; k++)
        if (rottenstreich_rate(n, m, k, l) < rottenstreich_rate(n, m, best, l))
            best = k;
    return best;
}

static void rottenstreich_cells(lab *l)
{
    lab_figure(l, "cells", "l,m,k,rate,low,high,formula");
    for (size_t i = 0; i < ROTTENSTREICH_ROWS; i++) {
        unsigned m = rottenstreich_table[i].m, k = rottenstreich_table[i].k;
        unsigned least = rottenstreich_table[i].l;
        char kind[64], what[96];
        if (least == 1)
            snprintf(kind, sizeof kind, "counting:m=%u,k=%u,bits=8", m, k);
        else
            snprintf(kind, sizeof kind, "variable:m=%u,k=%u,l=%u,bits=10", m, k,
                     least);
        lab_measure rate = lab_rate(kind, 0, 1000,
                                    (unsigned)lab_pick(l, 5, 300, 10000),
                                    lab_pick(l, 100, 40000, 100000));
        lab_row(l, "%u,%u,%u,%.6g,%.6g,%.6g,%.6g", least, m, k, rate.value,
                rate.low, rate.high, rottenstreich_table[i].rate);
        snprintf(what, sizeof what, "rate of 1000 keys in %u cells, k = %u, "
                 "l = %u", m, k, least);
        lab_number(l, what, rottenstreich_table[i].rate,
                   1e-4 * rottenstreich_table[i].rate, rate);
    }
}

static lab_measure rottenstreich_kind(lab *l, const char *kind, double cells,
                                      double k)
{
    char text[96];
    snprintf(text, sizeof text, "%s,m=%.0f,k=%.0f", kind, cells, k);
    return lab_rate(text, 0, ROTTENSTREICH_KEYS,
                    (unsigned)lab_pick(l, 2, 12, 60),
                    lab_pick(l, 100, 200000, 5000000));
}

static void rottenstreich_memory(lab *l)
{
    bool less = true;
    double least = INFINITY;
    lab_figure(l, "memory", "bits a key,counting,low,high,variable,low,high,"
                            "counting formula,variable formula");
    for (double bits = 24; bits <= 60; bits += 6) {
        double n = ROTTENSTREICH_KEYS, cells = n * bits, l4 = 4;
        double plain = floor(cells / ROTTENSTREICH_COUNTING);
        double raised = floor(cells / ROTTENSTREICH_BITS);
        double k1 = rottenstreich_best(n, plain, 1);
        double k4 = rottenstreich_best(n, raised, l4);
        lab_measure a = rottenstreich_kind(l, "counting:bits=4", plain, k1);
        lab_measure b = rottenstreich_kind(l, "variable:l=4,bits=6", raised,
                                           k4);
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", bits, a.value,
                a.low, a.high, b.value, b.low, b.high,
                rottenstreich_rate(n, plain, k1, 1),
                rottenstreich_rate(n, raised, k4, l4));
        less = less && b.high < a.low;
        least = fmin(least, a.value / b.value);
    }
    lab_says(l, "of equal memory the filter with variable increments has the "
                "lower rate", less, "at least %.1f times as low", least);
}

/* ---- Sets of increments -------------------------------------------------- */

enum { ROTTENSTREICH_MET = 6, ROTTENSTREICH_SUM = ROTTENSTREICH_MET * 15 };

/* The increments of a counter, and its width: the interval first. */
static const struct { const char *kind; unsigned n, element[4], bits; }
rottenstreich_sets[] = {
    { "variable:l=4,bits=6", 4, { 4, 5, 6, 7 }, 6 },
    { "variable:set=4-6-7,bits=6", 3, { 4, 6, 7 }, 6 },
    { "variable:set=8-12-14-15,bits=7", 4, { 8, 12, 14, 15 }, 7 },
};
enum { ROTTENSTREICH_SETS = sizeof rottenstreich_sets
                          / sizeof *rottenstreich_sets };

/* Sets pass[j], for a counter hit by j elements, to the share of elements whose
 * removal leaves 0 or a sum. */
static void rottenstreich_pass(double *pass, size_t set)
{
    static double chance[ROTTENSTREICH_MET + 1][ROTTENSTREICH_SUM + 1];
    static bool sum[ROTTENSTREICH_SUM + 1];
    unsigned n = rottenstreich_sets[set].n;
    const unsigned *element = rottenstreich_sets[set].element;
    for (unsigned j = 0; j <= ROTTENSTREICH_MET; j++) {
        pass[j] = 0;
        for (unsigned s = 0; s <= ROTTENSTREICH_SUM; s++) {
            double passes = 0;
            chance[j][s] = j == 0 && s == 0;
            sum[s] = s == 0 || (j > 0 && sum[s]);
            for (unsigned i = 0; i < n && element[i] <= s; i++) {
                chance[j][s] += j == 0 ? 0 : chance[j - 1][s - element[i]] / n;
                sum[s] = sum[s] || sum[s - element[i]];
                passes += sum[s - element[i]];
            }
            pass[j] += chance[j][s] * passes / n;
        }
    }
}

static double rottenstreich_set_rate(const double *pass, double load, double k)
{
    double met = exp(-load), fails = 0;
    for (unsigned j = 0; j <= ROTTENSTREICH_MET; j++) {
        fails += met * (1 - pass[j]);
        met *= load / (j + 1);
    }
    return pow(1 - fails, k);
}

/* Returns the rate of a set with that many bits per key and its best k,
 * measured and by the formula. */
static lab_measure rottenstreich_set(lab *l, size_t set, double bits,
                                     double *formula)
{
    double pass[ROTTENSTREICH_MET + 1], best = 1;
    double cells = floor(ROTTENSTREICH_KEYS * bits
                         / rottenstreich_sets[set].bits);
    rottenstreich_pass(pass, set);
    *formula = 1;
    for (double k = 1; k <= 32; k++) {
        double load = k * ROTTENSTREICH_KEYS / cells;
        double rate = rottenstreich_set_rate(pass, load, k);
        best = rate < *formula ? k : best;
        *formula = fmin(*formula, rate);
    }
    return rottenstreich_kind(l, rottenstreich_sets[set].kind, cells, best);
}

static void rottenstreich_compare(lab *l)
{
    bool less = true, near = true;
    double least = INFINITY;
    lab_figure(l, "sets", "bits a key,interval,low,high,4-6-7,low,high,"
                          "8-12-14-15,low,high,interval formula,4-6-7 formula,"
                          "8-12-14-15 formula");
    for (double bits = 12; bits <= 36; bits += 6) {
        lab_measure rate[ROTTENSTREICH_SETS];
        double formula[ROTTENSTREICH_SETS];
        for (size_t i = 0; i < ROTTENSTREICH_SETS; i++) {
            rate[i] = rottenstreich_set(l, i, bits, &formula[i]);
            near = near && rate[i].low <= 1.02 * formula[i]
                && rate[i].high >= formula[i] / 1.02;
        }
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,"
                "%.6g", bits, rate[0].value, rate[0].low, rate[0].high,
                rate[1].value, rate[1].low, rate[1].high, rate[2].value,
                rate[2].low, rate[2].high, formula[0], formula[1], formula[2]);
        less = less && rate[2].high < rate[1].low && rate[1].high < rate[0].low;
        least = fmin(least, rate[0].value / rate[2].value);
    }
    lab_says(l, "ours: of equal memory {8, 12, 14, 15} has a lower rate than "
                "{4, 6, 7}, and that a lower one than {4, 5, 6, 7}", less,
             "the first at least %.2f times as low as the last", least);
    lab_says(l, "ours: their rates are those of the formula, to 2 % and the "
                "interval", near, "at %d sizes", 5);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    rottenstreich_cells(&l);
    rottenstreich_memory(&l);
    rottenstreich_compare(&l);
    return lab_close(&l);
}
