/* swamidass.c - estimates the number of keys, and of common keys, from the bits
 * [Swamidass & Baldi 2007].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { SWAMIDASS_BITS = 10000, SWAMIDASS_PROBES = 7, SWAMIDASS_KEYS = 1000 };

typedef struct { double mean, sd; lab_measure interval; } swamidass_spread;

static swamidass_spread swamidass_of(const double *x, size_t n)
{
    lab_measure mean = lab_mean(x, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean.value) * (x[i] - mean.value);
    return (swamidass_spread){ mean.value, sqrt(squares / ((double)n - 1)),
                               mean };
}

/* Returns a standard deviation of n numbers, with its interval: that of a
 * normal distribution, whose logarithm varies by 1 / sqrt(2 n). */
static lab_measure swamidass_sd(double sd, size_t n)
{
    double part = 3.29 / sqrt(2 * (double)n);
    return (lab_measure){ sd, sd * (1 - part), sd * (1 + part) };
}

static double swamidass_theory(double m, double k, double n)
{
    double load = k * n / m;
    return sqrt(m * (exp(load) - 1 - load)) / k;
}

/* ---- Number of keys ---------------------------------------------------- */

static swamidass_spread swamidass_count(unsigned m, unsigned k, uint64_t n,
                                        size_t filters)
{
    double *told = lab_allocate(filters * sizeof *told);
    for (size_t i = 0; i < filters; i++) {
        bly_filter *f = lab_new(n, 0, "standard:m=%u,k=%u", m, k);
        lab_fill(f, i, 0, n);
        bly_info_t stat;
        bly_info(&stat, f);
        told[i] = stat.distinct;
        bly_free(f);
    }
    swamidass_spread s = swamidass_of(told, filters);
    free(told);
    return s;
}

static void swamidass_counts(lab *l, size_t filters)
{
    lab_figure(l, "count", "keys,mean,low,high,sd,low,high,theory");
    for (uint64_t n = 200; n <= 4000; n += 200) {
        swamidass_spread s = swamidass_count(SWAMIDASS_BITS, SWAMIDASS_PROBES,
                                             n, filters);
        double theory = swamidass_theory(SWAMIDASS_BITS, SWAMIDASS_PROBES,
                                         (double)n);
        lab_measure sd = swamidass_sd(s.sd, filters);
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", (double)n,
                s.mean, s.interval.low, s.interval.high, sd.value, sd.low,
                sd.high, theory);
        if (n != SWAMIDASS_KEYS)
            continue;
        lab_number(l, "1000 keys in 10000 bits, k = 7: mean of the estimates",
                   1000, 0.5, s.interval);
        lab_number(l, "1000 keys: standard deviation of the estimates", theory,
                   5e-5, swamidass_sd(s.sd, filters));
    }
    swamidass_spread s = swamidass_count(1000, 3, 150, filters);
    lab_number(l, "150 keys in 1000 bits, k = 3: mean of the estimates", 150,
               0.2, s.interval);
    lab_number(l, "150 keys: standard deviation of the estimates",
               swamidass_theory(1000, 3, 150), 5e-5,
               swamidass_sd(s.sd, filters));
}

/* ---- Number of common keys --------------------------------------------- */

typedef struct { swamidass_spread both, promised; } swamidass_pair;

/* Returns the deviation for two sets of n keys: see the essay. */
static double swamidass_common(double n, double common)
{
    double m = SWAMIDASS_BITS, k = SWAMIDASS_PROBES;
    double either = swamidass_theory(m, k, 2 * n - common);
    double both = swamidass_theory(m, k, common);
    double each = swamidass_theory(m, k, n);
    return sqrt(either * either + 2 * both * both - 2 * each * each);
}

static void swamidass_claim(lab *l, uint64_t common, lab_measure sd)
{
    char what[96];
    snprintf(what, sizeof what, "ours: two sets of 1000 with %.0f in common: "
             "standard deviation of the estimates", (double)common);
    lab_number(l, what, swamidass_common(SWAMIDASS_KEYS, (double)common), 5e-5,
               sd);
}

static void swamidass_estimate(uint64_t series, uint64_t a, uint64_t b,
                               uint64_t common, bly_overlap_t *out)
{
    bly_filter *x = lab_new(a, 0, "standard:m=%d,k=%d", SWAMIDASS_BITS,
                            SWAMIDASS_PROBES), *y;
    if (bly_like(&y, x, NULL) < 0)
        lab_stop("a like filter", bly_why());
    lab_fill(x, series, 0, a);
    lab_fill(y, series, a - common, b);
    if (bly_overlap(out, x, y) < 0)
        lab_stop("overlap", bly_why());
    bly_free(x);
    bly_free(y);
}

static swamidass_pair swamidass_overlap(uint64_t a, uint64_t b,
                                        uint64_t common, size_t filters)
{
    double *both = lab_allocate(2 * filters * sizeof *both);
    for (size_t i = 0; i < filters; i++) {
        bly_overlap_t o;
        swamidass_estimate(i, a, b, common, &o);
        both[i] = o.both.value;
        both[filters + i] = o.both.sd;
    }
    swamidass_pair p = { swamidass_of(both, filters),
                         swamidass_of(both + filters, filters) };
    free(both);
    return p;
}

/* The pair whose measured deviation is farthest from the published one. */
typedef struct { uint64_t a, b, common; double named, off; lab_measure sd; }
swamidass_case;

/* Keeps this pair if it is farther off than the worst one so far, counting from
 * the end of its interval. */
static void swamidass_judge(swamidass_case *worst, uint64_t a, uint64_t b,
                            uint64_t common, double named, lab_measure sd)
{
    double off = fmax(sd.high / named - 1, 1 - sd.low / named);
    if (off > worst->off)
        *worst = (swamidass_case){ a, b, common, named, off, sd };
}

static void swamidass_overlaps(lab *l, size_t filters)
{
    lab_figure(l, "common", "in common,mean,low,high,sd,low,high,named,theory");
    swamidass_case worst = { 0 };
    for (uint64_t common = 0; common <= SWAMIDASS_KEYS; common += 100) {
        swamidass_pair p = swamidass_overlap(SWAMIDASS_KEYS, SWAMIDASS_KEYS,
                                             common, filters);
        lab_measure sd = swamidass_sd(p.both.sd, filters);
        swamidass_judge(&worst, SWAMIDASS_KEYS, SWAMIDASS_KEYS, common,
                        p.promised.mean, sd);
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g",
                (double)common, p.both.mean, p.both.interval.low,
                p.both.interval.high, sd.value, sd.low, sd.high,
                p.promised.mean,
                swamidass_common(SWAMIDASS_KEYS, (double)common));
        if (common == 500)
            lab_number(l, "two sets of 1000 with 500 in common: mean of the "
                          "estimates", 500, 0.5, p.both.interval);
        if (common % 500 == 0)
            swamidass_claim(l, common, sd);
    }
    swamidass_pair p = swamidass_overlap(1000, 500, 100, filters);
    swamidass_judge(&worst, 1000, 500, 100, p.promised.mean,
                    swamidass_sd(p.both.sd, filters));
    lab_number(l, "1000 and 500 keys with 100 in common: mean", 100, 0.5,
               p.both.interval);
    lab_says(l, "ours: the standard deviation that our estimate names is the "
                "one it has, within a tenth", worst.off <= 0.1,
             "the worst of 12 pairs, %.0f and %.0f keys with %.0f in common: "
             "named %.2f, measured %.2f (%.2f … %.2f), to be within 10 %% to "
             "the interval's ends", (double)worst.a, (double)worst.b,
             (double)worst.common, worst.named, worst.sd.value, worst.sd.low,
             worst.sd.high);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t filters = lab_pick(&l, 5, 2000, 50000);
    swamidass_counts(&l, filters);
    swamidass_overlaps(&l, filters);
    return lab_close(&l);
}
