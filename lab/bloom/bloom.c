/* bloom.c - words that a rule divides wrongly, behind a filter [Bloom 1970].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { BLOOM_WORDS = 50000 };           /* hard words; one in ten is hard */

static const double bloom_hard = .1;

/* Bits for each hard word, and Bloom's look-ups for each word. */
static const struct { double bits, lookups; } bloom_table[] = {
    { 2, .4443 }, { 3, .3129 }, { 3.948, .235 }, { 4, .2317 }, { 6, .1504 },
    { 8, .1193 }, { 10, .1074 },
};
enum { BLOOM_ROWS = sizeof bloom_table / sizeof *bloom_table };

/* The rate of the third row, which is also its share of an exact table's
 * bits. */
static const double bloom_share = .15;

/* The rate of the best number of probes, whole or not. */
static double bloom_rate(double bits)
{
    return exp(-bits * log(2) * log(2));
}

static double bloom_lookups(double rate)
{
    return bloom_hard + (1 - bloom_hard) * rate;
}

/* Returns the best whole number of probes. */
static unsigned bloom_probes(double bits)
{
    double m = bits * BLOOM_WORDS;
    unsigned best = 1;
    for (unsigned k = 2; k <= bits; k++)
        if (lab_classic(m, BLOOM_WORDS, k) < lab_classic(m, BLOOM_WORDS, best))
            best = k;
    return best;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    unsigned filters = (unsigned)lab_pick(&l, 2, 10, 100);
    uint64_t asked = lab_pick(&l, 100, 100000, 1000000);
    bool rounded = true, above = true;
    lab_measure avoided = { 0, 0, 0 };
    lab_figure(&l, "lookups", "bits,probes,lookups,low,high,formula,reported");
    for (size_t i = 0; i < BLOOM_ROWS; i++) {
        double bits = bloom_table[i].bits, formula = bloom_rate(bits);
        unsigned k = bloom_probes(bits);
        char kind[64];
        snprintf(kind, sizeof kind, "standard:m=%.0f,k=%u",
                 bits * BLOOM_WORDS, k);
        lab_measure rate = lab_rate(kind, 0, BLOOM_WORDS, filters, asked);
        lab_row(&l, "%g,%u,%.6g,%.6g,%.6g,%.6g,%g", bits, k,
                bloom_lookups(rate.value), bloom_lookups(rate.low),
                bloom_lookups(rate.high), bloom_lookups(formula),
                bloom_table[i].lookups);
        rounded = rounded && fabs(bloom_lookups(formula)
                                  - bloom_table[i].lookups) < .0001;
        above = above && rate.high >= formula;
        if (round(1000 * formula) == 1000 * bloom_share)
            avoided = (lab_measure){ 1 - rate.value, 1 - rate.high,
                                     1 - rate.low };
    }
    lab_says(&l, "look-ups for a word: one in ten for the hard ones, and the "
                 "rate for the others", rounded,
             "the formula gives each of the %d reported numbers", BLOOM_ROWS);
    lab_number(&l, "share of the needless look-ups that a filter of 15 % of an "
                   "exact table avoids", 1 - bloom_share, .005, avoided);
    lab_says(&l, "ours: whole probes never do better than the formula, which "
                 "allows any number", above, "at none of %d sizes", BLOOM_ROWS);
    return lab_close(&l);
}
