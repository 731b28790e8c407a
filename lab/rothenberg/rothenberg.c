/* rothenberg.c - how many keys can be removed from a deletable filter
 * [Rothenberg et al. 2010].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { ROTHENBERG_KEYS = 100, ROTHENBERG_TRIED = 10 };

/* Expected shares for 100 keys, with regions of that many bits. */
static const struct { unsigned m, k, region; double share; }
rothenberg_table[] = {
    { 1000, 7, 20, 0.13135 }, { 1000, 7, 10, 0.55163 },
    { 1000, 7, 5, 0.86952 },  { 1000, 7, 1, 0.99184 },
    { 2000, 7, 10, 0.98480 }, { 1000, 4, 10, 0.85130 },
};
enum { ROTHENBERG_ROWS = sizeof rothenberg_table / sizeof *rothenberg_table };

/* Returns the chance that a key has a bit hit by no other key, in a region
 * without a bit that was hit twice. */
static double rothenberg_share(double n, double m, double k, double region)
{
    double once = exp((k * n - 1) * log1p(-1 / m));
    double p0 = exp(k * n * log1p(-1 / m)), p1 = k * n / m * once;
    return 1 - pow(1 - once * pow(p0 + p1, region - 1), k);
}

/* Tries some keys of each filter, each on a copy of it. */
static double rothenberg_try(const bly_filter *f, uint64_t series)
{
    unsigned out = 0;
    for (uint64_t i = 0; i < ROTHENBERG_TRIED; i++) {
        bly_filter *copy;
        if (bly_copy(&copy, f, NULL) < 0)
            lab_stop("copy", bly_why());
        out += bly_remove_hash(copy, lab_key(series, i)) == BLY_OK;
        bly_free(copy);
    }
    return (double)out / ROTHENBERG_TRIED;
}

static lab_measure rothenberg_measure(lab *l, unsigned m, unsigned k,
                                      unsigned region)
{
    size_t filters = lab_pick(l, 5, 3000, 50000);
    double *share = lab_allocate(filters * sizeof *share);
    for (size_t i = 0; i < filters; i++) {
        bly_filter *f = lab_new(ROTHENBERG_KEYS, 0,
                                "deletable:m=%u,k=%u,region=%u", m, k, region);
        lab_fill(f, i, 0, ROTHENBERG_KEYS);
        share[i] = rothenberg_try(f, i);
        bly_free(f);
    }
    lab_measure mean = lab_mean(share, filters);
    free(share);
    return mean;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    lab_figure(&l, "regions", "bits in a region,share,low,high,formula");
    double last = 2;
    bool falls = true;
    for (unsigned region = 1; region <= 40; region += region < 10 ? 1 : 5) {
        lab_measure share = rothenberg_measure(&l, 1000, 7, region);
        lab_row(&l, "%u,%.6g,%.6g,%.6g,%.6g", region, share.value, share.low,
                share.high, rothenberg_share(ROTHENBERG_KEYS, 1000, 7, region));
        falls = falls && share.low < last;
        last = share.value;
    }
    lab_says(&l, "the more regions, the more keys can be taken out", falls,
             "down to %.3f of them with 40 bits in a region", last);
    for (size_t i = 0; i < ROTHENBERG_ROWS; i++) {
        char what[96];
        snprintf(what, sizeof what, "share of 100 keys in %u bits, k = %u, "
                 "regions of %u", rothenberg_table[i].m, rothenberg_table[i].k,
                 rothenberg_table[i].region);
        lab_number(&l, what, rothenberg_table[i].share, 5e-6,
                   rothenberg_measure(&l, rothenberg_table[i].m,
                                      rothenberg_table[i].k,
                                      rothenberg_table[i].region));
    }
    return lab_close(&l);
}
