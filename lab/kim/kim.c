/* kim.c - counters queried for keys that occurred at least T times [Kim, Jeong,
 * Lee & Lee 2019].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/advice.h>

enum { KIM_KEYS = 20000, KIM_EACH = 4, KIM_K = 16, KIM_FILTERS = 40 };

static const unsigned kim_times[] = { 1, 2, 3, 5 };
enum { KIM_TIMES = sizeof kim_times / sizeof *kim_times };

/* Computes 1 - e^-L (1 + L + … + L^(T-1)/(T-1)!), or, if that is small, the
 * terms from L^T on. */
static double kim_tail(double load, double times)
{
    double below = 0, above = 0, term = exp(-load), j = 0;
    for (; j < times; j++, term *= load / j)
        below += term;
    for (; j < times + 200; j++, term *= load / j)
        above += term;
    return below < 0.5 ? 1 - below : above;
}

static double kim_rate(double each, double k, double times)
{
    return pow(kim_tail(k / each, times), k);
}

/* ---- Measured ----------------------------------------------------------- */

/* Counts the strangers, of n, that seem to occur that often. */
static uint64_t kim_hits(const bly_filter *f, uint64_t series, uint64_t n,
                         uint64_t times)
{
    enum { SOME = 4096 };
    uint64_t keys[SOME], counts[SOME], hits = 0;
    for (uint64_t i = 0; i < n; i += SOME) {
        size_t some = n - i < SOME ? (size_t)(n - i) : SOME;
        lab_keys(keys, some, series, i);
        bly_count_hashes(f, keys, some, counts);
        for (size_t j = 0; j < some; j++)
            hits += counts[j] >= times;
    }
    return hits;
}

static lab_measure kim_measure(lab *l, unsigned k, unsigned times)
{
    double share[KIM_FILTERS];
    unsigned filters = (unsigned)lab_pick(l, 2, 6, KIM_FILTERS);
    uint64_t asked = lab_pick(l, 200, 200000, 2000000);
    for (unsigned i = 0; i < filters; i++) {
        bly_filter *f = lab_new(KIM_KEYS, 0, "counting:m=%d,k=%u,bits=4",
                                KIM_EACH * KIM_KEYS, k);
        lab_fill(f, 1 + i, 0, KIM_KEYS);
        share[i] = (double)kim_hits(f, 1000 + i, asked, times) / (double)asked;
        bly_free(f);
    }
    return lab_shares(share, filters, asked);
}

/* ---- The figures -------------------------------------------------------- */

/* Returns the probes at which a row of rates is lowest, or 0 if it has several
 * minima. */
static unsigned kim_valley(const double *rate, unsigned n)
{
    unsigned least = 0;
    for (unsigned k = 1; k < n; k++)
        least = rate[k] < rate[least] ? k : least;
    for (unsigned k = 1; k < n; k++)
        if (k <= least ? rate[k] >= rate[k - 1] : rate[k] <= rate[k - 1])
            return 0;
    return least + 1;
}

static void kim_best(lab *l, unsigned times, const double *formula)
{
    bly_threshold need = { .capacity = KIM_KEYS, .times = times,
                           .m = KIM_EACH * KIM_KEYS };
    bly_threshold_plan plan;
    char what[128];
    if (bly_plan_threshold(&plan, &need) != BLY_OK)
        lab_stop("planning", bly_why());
    snprintf(what, sizeof what, "ours: the plan for T = %u has the k with the "
             "least rate", times);
    unsigned least = kim_valley(formula, KIM_K);
    lab_says(l, what, least == plan.plan.geometry[1], "k = %u, and %u by the "
             "formula", (unsigned)plan.plan.geometry[1], least);
}

static void kim_rates(lab *l)
{
    static const unsigned told[] = { 1, 3, 4, 6, 10 };
    unsigned valleys = 0;
    lab_figure(l, "rate", "times,k,rate,low,high,formula");
    for (size_t t = 0; t < KIM_TIMES; t++) {
        unsigned times = kim_times[t];
        double formula[KIM_K];
        for (unsigned k = 1; k <= KIM_K; k++) {
            lab_measure rate = kim_measure(l, k, times);
            formula[k - 1] = kim_rate(KIM_EACH, k, times);
            lab_row(l, "%u,%u,%.6g,%.6g,%.6g,%.6g", times, k, rate.value,
                    rate.low, rate.high, formula[k - 1]);
            for (size_t i = 0; i < sizeof told / sizeof *told; i++)
                if (times == 2 && told[i] == k) {
                    char what[96];
                    snprintf(what, sizeof what, "rate of T = 2 at 4 counters "
                             "a key, k = %u, by the formula", k);
                    lab_number(l, what, formula[k - 1], 0.001 * formula[k - 1],
                               rate);
                }
        }
        valleys += kim_valley(formula, KIM_K) > 0;
        kim_best(l, times, formula);
    }
    lab_says(l, "with k the rate falls, has one minimum and rises",
             valleys == KIM_TIMES, "for %u of %d T", valleys, KIM_TIMES);
    lab_says(l, "ours: it rises towards 1 and not to infinity: it is k that "
                "grows", kim_rate(KIM_EACH, 1000, 5) < 1.0 + 1e-12
                && kim_rate(KIM_EACH, 1000, 5) > 0.999,
             "at T = 5 and k = 1000 it is %.6f", kim_rate(KIM_EACH, 1000, 5));
}

/* Returns the load with the lowest rate in an infinite row: the minimum of ln
 * rate per counter, L ln tail(L), by golden section. */
static double kim_load(double times)
{
    double low = 0.1, high = 3 * times + 1, cut = (sqrt(5) - 1) / 2;
    for (int i = 0; i < 100; i++) {
        double a = high - cut * (high - low), b = low + cut * (high - low);
        if (a * log(kim_tail(a, times)) < b * log(kim_tail(b, times)))
            high = b;
        else
            low = a;
    }
    return low;
}

static void kim_loads(lab *l)
{
    static const struct { double times, load, rate; } row[] = {
        { 1, 0.693, -0.48045 }, { 2, 0.933, -1.33301 }, { 3, 1.164, -2.5400 },
        { 4, 1.389, -4.0935 },  { 5, 1.612, -5.98895 }, { 8, 2.266, -13.701 },
        { 10, 2.696, 0 },       { 16, 3.969, 0 },       { 30, 6.893, 0 },
    };
    lab_figure(l, "load", "times,load,ln rate");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double load = kim_load(row[i].times);
        double rate = load * log(kim_tail(load, row[i].times));
        char what[96];
        lab_row(l, "%g,%.6g,%.6g", row[i].times, load, rate);
        snprintf(what, sizeof what, "ours: probes a counter at the best k, "
                 "T = %g", row[i].times);
        lab_size(l, what, row[i].load, 5e-4, load);
        snprintf(what, sizeof what, "ours: ln of the rate there, for each "
                 "counter a key, T = %g", row[i].times);
        if (row[i].rate < 0)
            lab_size(l, what, row[i].rate, 5e-4, rate);
    }
    lab_size(l, "ours: rate at 10 counters a key, T = 1, k = 7", 8.194e-3, 5e-7,
             kim_rate(10, 7, 1));
    lab_size(l, "ours: rate at 10 counters a key, T = 2, k = 9", 1.6336e-6,
             5e-11, kim_rate(10, 9, 2));
    lab_size(l, "ours: rate at 10 counters a key, T = 3, k = 12", 9.384e-12,
             5e-15, kim_rate(10, 12, 3));
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    kim_rates(&l);
    kim_loads(&l);
    return lab_close(&l);
}
