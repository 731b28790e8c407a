/* bonomi.c - fingerprints in d-left tables against counters [Bonomi et al.
 * 2006].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

enum { BONOMI_KINDS = 2 };

static const char *const bonomi_kind[BONOMI_KINDS] = { "counting", "dleft" };

typedef struct { double bits; lab_measure rate; } bonomi_point;

/* Measures the bits per key of a built filter, and its rate with all keys in,
 * with the same relative precision for low and high rates. */
static bonomi_point bonomi_measure(lab *l, const char *kind, double rate)
{
    uint64_t n = 24 * lab_pick(l, 64, 8192, 65536);
    uint64_t asked = (uint64_t)((double)lab_pick(l, 1, 1000, 10000) / rate);
    double rates[64];
    unsigned filters = (unsigned)lab_pick(l, 2, 8, 20);
    bonomi_point p = { 0 };
    for (unsigned i = 0; i < filters; i++) {
        bly_filter *f = lab_new(n, rate, "%s", kind);
        size_t bytes;
        lab_fill(f, 2 * i, 0, n);
        rates[i] = (double)lab_hits(f, 2 * i + 1, asked) / (double)asked;
        bly_raw(f, &bytes);
        p.bits = 8 * (double)bytes / (double)n;
        bly_free(f);
    }
    p.rate = lab_shares(rates, filters, asked);
    return p;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    lab_figure(&l, "space", "asked,counting bits,rate,low,high,dleft bits,rate,"
                            "low,high");
    double least = INFINITY, higher = 0, hundredth = 0;
    for (double rate = 0.0234375; rate > 1e-4; rate /= 2) {
        bonomi_point p[BONOMI_KINDS];
        for (size_t i = 0; i < BONOMI_KINDS; i++)
            p[i] = bonomi_measure(&l, bonomi_kind[i], rate);
        lab_row(&l, "%g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g", rate,
                p[0].bits, p[0].rate.value, p[0].rate.low, p[0].rate.high,
                p[1].bits, p[1].rate.value, p[1].rate.low, p[1].rate.high);
        higher = fmax(higher, p[1].rate.high / p[0].rate.low);
        least = fmin(least, p[0].bits / p[1].bits);
        if (fabs(rate - 0.0234375 / 16) < 1e-6)
            hundredth = p[0].bits / p[1].bits;
    }
    lab_says(&l, "the d-left filter takes about half of the memory of a "
                 "counting one of the same rate, or less",
             least >= 1.9 && higher < 1.2,
             "a counting filter takes at least %.2f times as much, to be 1.9; "
             "the d-left one's rate is surely below %.2f times the other's, to "
             "be 1.2", least, higher);
    lab_size(&l, "times as much, at a rate of 0.0015", 2.55, 0.05,
             hundredth);
    return lab_close(&l);
}
