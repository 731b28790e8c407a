/* broder.c - rate against the number of probes [Broder & Mitzenmacher 2004].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { BRODER_KEYS = 20000, BRODER_MOST = 20 };

static const struct { unsigned bits, best; double rate, within; }
broder_table[] = {
    { 8, 6, 0.021577, 5e-7 }, { 10, 7, 8.1937e-3, 5e-8 },
    { 16, 11, 4.5871e-4, 5e-9 },
};
enum { BRODER_SIZES = sizeof broder_table / sizeof *broder_table };

/* The number of probes is as good as the best one if their intervals meet. */
static void broder_claim(lab *l, size_t size, const lab_measure *rate)
{
    unsigned best = 1;
    for (unsigned k = 2; k <= BRODER_MOST; k++)
        if (rate[k].value < rate[best].value)
            best = k;
    char what[96];
    unsigned reported = broder_table[size].best;
    snprintf(what, sizeof what, "with %u bits a key no k is better than %u",
             broder_table[size].bits, reported);
    lab_says(l, what, rate[reported].low <= rate[best].high,
             "k = %u: %.4g (%.4g … %.4g), least at k = %u: %.4g", reported,
             rate[reported].value, rate[reported].low, rate[reported].high,
             best, rate[best].value);
    snprintf(what, sizeof what, "rate of %u bits a key, k = %u",
             broder_table[size].bits, reported);
    lab_number(l, what, broder_table[size].rate, broder_table[size].within,
               rate[reported]);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    lab_figure(&l, "probes", "bits a key,k,rate,low,high,formula");
    unsigned filters = (unsigned)lab_pick(&l, 2, 20, 100);
    uint64_t asked = lab_pick(&l, 100, 200000, 1000000);
    for (size_t i = 0; i < BRODER_SIZES; i++) {
        lab_measure rate[BRODER_MOST + 1];
        double m = (double)BRODER_KEYS * broder_table[i].bits;
        for (unsigned k = 1; k <= BRODER_MOST; k++) {
            char kind[64];
            snprintf(kind, sizeof kind, "standard:m=%.0f,k=%u", m, k);
            rate[k] = lab_rate(kind, 0, BRODER_KEYS, filters, asked);
            lab_row(&l, "%u,%u,%.6g,%.6g,%.6g,%.6g", broder_table[i].bits, k,
                    rate[k].value, rate[k].low, rate[k].high,
                    lab_classic(m, BRODER_KEYS, k));
        }
        broder_claim(&l, i, rate);
    }
    return lab_close(&l);
}
