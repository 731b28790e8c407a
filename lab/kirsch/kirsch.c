/* kirsch.c - the cost of making k positions from two hashes [Kirsch &
 * Mitzenmacher 2006; Dillinger & Manolios 2004].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { KIRSCH_FILTERS = 20 };      /* at least */

static const char *const kirsch_index[] = { "seeds", "power", "double",
                                            "enhanced", "triple", "step" };
enum { KIRSCH_INDEXES = sizeof kirsch_index / sizeof *kirsch_index };

static const struct { const char *figure; unsigned bits, k; } kirsch_case[] = {
    { "ten", 10, 7 }, { "sixteen", 16, 11 },
};
enum { KIRSCH_CASES = sizeof kirsch_case / sizeof *kirsch_case };

static lab_measure kirsch_rate(lab *l, const char *index, unsigned m,
                               unsigned n, unsigned k)
{
    char kind[64];
    snprintf(kind, sizeof kind, "standard:m=%u,k=%u,index=%s", m, k, index);
    uint64_t asked = lab_pick(l, 10000, 8000000, 200000000);
    uint64_t filters = lab_pick(l, 5, 4000, 80000) * 1024 / m;
    filters = filters < KIRSCH_FILTERS ? KIRSCH_FILTERS : filters;
    return lab_rate(kind, 0, n, (unsigned)filters,
                    asked / filters);
}

/* Writes the rows of a case; the rates [index] of the smallest and the largest
 * size go to `first` and `last`, as multiples of those of independent
 * probes. */
static void kirsch_sizes(lab *l, size_t which, lab_measure *first,
                         lab_measure *last)
{
    unsigned bits = kirsch_case[which].bits, k = kirsch_case[which].k;
    unsigned most = (unsigned)lab_pick(l, 2048, 65536, 262144);
    lab_figure(l, kirsch_case[which].figure, "m,seeds,seeds low,seeds high,"
        "power,power low,power high,double,double low,double high,"
        "enhanced,enhanced low,enhanced high,triple,triple low,triple high,"
        "step,step low,step high");
    for (unsigned m = 1024; m <= most; m *= 4) {
        char row[1024];
        size_t used = (size_t)snprintf(row, sizeof row, "%u", m);
        double base = lab_classic(m, m / bits, k);
        for (size_t i = 0; i < KIRSCH_INDEXES; i++) {
            lab_measure r = kirsch_rate(l, kirsch_index[i], m, m / bits, k);
            r = (lab_measure){ r.value / base, r.low / base, r.high / base };
            last[i] = r;
            if (m == 1024)
                first[i] = r;
            used += (size_t)snprintf(row + used, sizeof row - used,
                                     ",%.5g,%.5g,%.5g", r.value, r.low, r.high);
        }
        lab_row(l, "%s", row);
    }
}

static void kirsch_claims(lab *l, const lab_measure *first,
                          const lab_measure *last)
{
    lab_says(l, "double hashing loses nothing in the limit",
             last[2].low <= last[0].high,
             "in the largest filter %.3f (%.3f … %.3f) times the formula, "
             "independent probes %.3f", last[2].value, last[2].low,
             last[2].high, last[0].value);
    lab_says(l, "in a small one it does: enhanced double hashing mends most of "
                "it [Dillinger & Manolios]",
             first[2].low > first[3].high && first[3].value - first[0].value
             < 0.3 * (first[2].value - first[0].value),
             "1024 bits: double %.3f, enhanced %.3f, triple %.3f, independent "
             "%.3f", first[2].value, first[3].value, first[4].value,
             first[0].value);
    lab_says(l, "ours: our scheme, power, errs no more than independent probes",
             first[1].low <= first[0].high && last[1].low <= last[0].high,
             "1024 bits: %.3f against %.3f; largest: %.3f against %.3f",
             first[1].value, first[0].value, last[1].value, last[0].value);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    for (size_t i = 0; i < KIRSCH_CASES; i++) {
        lab_measure first[KIRSCH_INDEXES], last[KIRSCH_INDEXES];
        kirsch_sizes(&l, i, first, last);
        kirsch_claims(&l, first, last);
    }
    return lab_close(&l);
}
