/* vadhan.c - how good hash functions must be: strictly universal families, on
 * random and regular keys [Mitzenmacher & Vadhan 2008; Wegman & Carter 1981].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <string.h>

enum { VADHAN_BITS = 10, VADHAN_K = 7, VADHAN_FILTERS = 1000 };

/* The functions; the last, that of `standard`, has no seed. */
static const char *const vadhan_family[] = {
    "multiply", "poly2", "poly4", "tabulation", "xxh64", "murmur3", "murmur2",
    "power",
};
enum { VADHAN_MULTIPLY = 0, VADHAN_POLY2 = 1, VADHAN_POLY4 = 2,
       VADHAN_TABULATION = 3, VADHAN_XXH64 = 4, VADHAN_POWER = 7,
       VADHAN_FAMILIES = 8 };

/* The keys: random; 0, 1, 2, …; multiples of 2^32; and a cube, numbers whose
 * bits are five places apart. */
enum { VADHAN_RANDOM = 0, VADHAN_ROW = 1, VADHAN_FAR = 2, VADHAN_CUBE = 3,
       VADHAN_INPUTS = 4 };

static uint64_t vadhan_key(unsigned input, uint64_t series, uint64_t i)
{
    uint64_t cube = 0;
    switch (input) {
    case VADHAN_RANDOM:
        return lab_key(series, i);
    case VADHAN_ROW:
        return i;
    case VADHAN_FAR:
        return i << 32;
    default:
        for (unsigned bit = 0; bit < 13; bit++)
            cube |= (i >> bit & 1) << 5 * bit;
        return cube;
    }
}

/* Returns the share of strangers that a filter of n keys accepts. Members are
 * keys 0 to n-1, strangers the following ones. */
static double vadhan_rate(unsigned family, unsigned input, uint64_t n,
                          uint64_t asked, uint64_t seed)
{
    char kind[64];
    uint64_t hits = 0;
    bly_filter *f;
    bly_spec spec = { .capacity = n, .seed = lab_key(seed, 0) };
    if (family == VADHAN_POWER)
        snprintf(kind, sizeof kind, "standard:m=%u,k=%d",
                 (unsigned)n * VADHAN_BITS, VADHAN_K);
    else
        snprintf(kind, sizeof kind, "rehash:m=%u,k=%d,by=%s",
                 (unsigned)n * VADHAN_BITS, VADHAN_K, vadhan_family[family]);
    if (bly_new(&f, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    for (uint64_t i = 0; i < n; i++)
        bly_add_hash(f, vadhan_key(input, seed, i));
    for (uint64_t i = n; i < n + asked; i++)
        hits += bly_contains_hash(f, vadhan_key(input, seed, i));
    bly_free(f);
    return (double)hits / (double)asked;
}

/* A mean over filters, and the deviation between filters, as multiples of the
 * formula's. */
typedef struct { lab_measure mean; double spread; } vadhan_result;

static vadhan_result vadhan_measure(lab *l, unsigned family, unsigned input,
                                    uint64_t n)
{
    static double share[VADHAN_FILTERS];
    size_t filters = lab_pick(l, 5, 100, VADHAN_FILTERS);
    uint64_t asked = lab_pick(l, 100, 3000, 4000);
    bly_spec spec = { .capacity = n };
    bly_plan_t plan;
    char kind[64];
    snprintf(kind, sizeof kind, "standard:m=%u,k=%d",
             (unsigned)n * VADHAN_BITS, VADHAN_K);
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    double mean = 0, squares = 0;
    for (size_t i = 0; i < filters; i++) {
        share[i] = vadhan_rate(family, input, n, asked, i) / plan.rate;
        mean += share[i] / (double)filters;
    }
    for (size_t i = 0; i < filters; i++)
        squares += (share[i] - mean) * (share[i] - mean);
    double one = sqrt((1 - plan.rate) / plan.rate / (double)asked
                      + plan.rate_sd * plan.rate_sd / plan.rate / plan.rate);
    return (vadhan_result){ lab_mean(share, filters),
                            sqrt(squares / (double)(filters - 1)) / one };
}

/* ---- Claims ------------------------------------------------------------ */

typedef vadhan_result vadhan_table[VADHAN_FAMILIES][VADHAN_INPUTS];

static bool vadhan_reaches(const vadhan_result *r)
{
    return r->mean.low <= 1 && r->mean.high >= 1;
}

/* Returns a family's worst results on all inputs except random: the mean's
 * distance from the formula, and the widest spread. */
static double vadhan_worst(const vadhan_result row[VADHAN_INPUTS],
                           double *spread)
{
    double worst = 0;
    *spread = 0;
    for (unsigned i = VADHAN_ROW; i < VADHAN_INPUTS; i++) {
        worst = fmax(worst, fabs(row[i].mean.value - 1));
        *spread = fmax(*spread, row[i].spread);
    }
    return worst;
}

static void vadhan_claim_means(lab *l, vadhan_table t)
{
    const vadhan_result *two = &t[VADHAN_POLY2][VADHAN_RANDOM];
    const vadhan_result *line = &t[VADHAN_MULTIPLY][VADHAN_RANDOM];
    lab_says(l, "where the keys are random enough, functions of a 2-universal "
                "family do as well as truly random ones",
             vadhan_reaches(two) && vadhan_reaches(line),
             "%.3f (%.3f … %.3f) and %.3f (%.3f … %.3f) times the formula, of "
             "random keys", two->mean.value, two->mean.low, two->mean.high,
             line->mean.value, line->mean.low, line->mean.high);
    double spread, far = vadhan_worst(t[VADHAN_POWER], &spread);
    lab_says(l, "ours: integers as they are, without any hash, are no hashes",
             far > 0.2, "the rate of standard is up to %.0f %% off", 100 * far);
}

static void vadhan_claim_spreads(lab *l, vadhan_table t)
{
    double spread, strong, far = vadhan_worst(t[VADHAN_POLY4], &strong);
    double off = vadhan_worst(t[VADHAN_POLY2], &spread);
    lab_says(l, "ours: where they are not, 2-universal functions make filters "
                "that differ more than the formula lets them",
             spread > 1.5, "a filter's own rate spreads %.1f times as wide on "
             "the worst input, its mean is up to %.0f %% off", spread,
             100 * off);
    lab_says(l, "ours: 4-universal functions keep mean and spread on all "
                "inputs here", far < 0.05 && strong < 1.2,
             "mean at most %.1f %% off, spread at most %.2f times", 100 * far,
             strong);
    far = vadhan_worst(t[VADHAN_TABULATION], &strong);
    lab_says(l, "tabulation, though 3-universal only, does as well as a random "
                "function [Patrascu & Thorup 2012]",
             far < 0.05 && strong < 1.3, "mean at most %.1f %% off, spread at "
             "most %.2f times", 100 * far, strong);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t n = lab_pick(&l, 100, 1000, 1000);
    static vadhan_table table;
    lab_figure(&l, "inputs", "family,random,low,high,in a row,low,high,"
               "times 2^32,low,high,cube,low,high");
    for (unsigned family = 0; family < VADHAN_FAMILIES; family++) {
        char row[512];
        size_t used = (size_t)snprintf(row, sizeof row, "%s",
                                       vadhan_family[family]);
        for (unsigned input = 0; input < VADHAN_INPUTS; input++) {
            vadhan_result *r = &table[family][input];
            *r = vadhan_measure(&l, family, input, n);
            used += (size_t)snprintf(row + used, sizeof row - used,
                                     ",%.5g,%.5g,%.5g", r->mean.value,
                                     r->mean.low, r->mean.high);
        }
        lab_row(&l, "%s", row);
    }
    vadhan_claim_means(&l, table);

    lab_figure(&l, "spread", "family,random,in a row,times 2^32,cube");
    for (unsigned family = 0; family < VADHAN_FAMILIES; family++)
        lab_row(&l, "%s,%.4g,%.4g,%.4g,%.4g", vadhan_family[family],
                table[family][VADHAN_RANDOM].spread,
                table[family][VADHAN_ROW].spread,
                table[family][VADHAN_FAR].spread,
                table[family][VADHAN_CUBE].spread);
    vadhan_claim_spreads(&l, table);
    return lab_close(&l);
}
