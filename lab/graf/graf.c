/* graf.c - the space of filters that are built of all their keys [Graf &
 * Lemire 2020, 2022; Dillinger et al. 2022; Putze et al. 2007].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

enum { GRAF_BITS = 8, GRAF_KINDS = 5 };

/* Bits a key for fingerprints of 8 bits, of a million keys. */
static const struct { const char *kind, *name; double bits, within; }
graf_table[GRAF_KINDS] = {
    { "xor:bits=8",           "xor",              9.840, 0.005 },
    { "fuse:arity=3,bits=8",  "binary fuse of 3", 9.044, 0.005 },
    { "fuse:arity=4,bits=8",  "binary fuse of 4", 8.6176, 0.005 },
    { "ribbon:bits=8",        "bumped ribbon",    8.0374, 0.03 },
    { "gcs",                  "Golomb-coded set", 9.476, 0.05 },
};

static double graf_bits(const bly_filter *f, uint64_t n)
{
    size_t bytes;
    bly_raw(f, &bytes);
    return 8 * (double)bytes / (double)n;
}

static void graf_sizes(lab *l, double *last)
{
    uint64_t most = lab_pick(l, 1000, 1000000, 10000000);
    lab_figure(l, "sizes", "keys,xor,fuse 3,fuse 4,ribbon,gcs");
    for (uint64_t n = 100; n <= most; n *= 10) {
        for (size_t i = 0; i < GRAF_KINDS; i++) {
            bly_filter *f = lab_build(n, ldexp(1, -GRAF_BITS), 1,
                                      graf_table[i].kind);
            last[i] = graf_bits(f, n);
            bly_free(f);
        }
        lab_row(l, "%.0f,%.5g,%.5g,%.5g,%.5g,%.5g", (double)n, last[0],
                last[1], last[2], last[3], last[4]);
        if (n != 1000000)
            continue;
        for (size_t i = 0; i < GRAF_KINDS; i++) {
            char what[96];
            snprintf(what, sizeof what, "bits a key of %s, 8 bits, 10^6 keys",
                     graf_table[i].name);
            lab_size(l, what, graf_table[i].bits, graf_table[i].within,
                     last[i]);
        }
    }
    lab_says(l, "the later the smaller: xor, fuse of 3, fuse of 4, ribbon",
             last[0] > last[1] && last[1] > last[2] && last[2] > last[3],
             "%.3f, %.3f, %.3f, %.3f bits a key, where 8 is the limit",
             last[0], last[1], last[2], last[3]);
}

static void graf_rates(lab *l)
{
    uint64_t n = lab_pick(l, 1000, 100000, 1000000);
    uint64_t asked = lab_pick(l, 1000, 1000000, 20000000);
    lab_figure(l, "rates", "kind,rate,low,high");
    for (size_t i = 0; i < GRAF_KINDS; i++) {
        lab_measure r = lab_rate(graf_table[i].kind, ldexp(1, -GRAF_BITS), n,
                                 (unsigned)lab_pick(l, 2, 8, 20), asked);
        lab_row(l, "%s,%.6g,%.6g,%.6g", graf_table[i].name, r.value, r.low,
                r.high);
        char what[96];
        snprintf(what, sizeof what, "rate of %s with 8 bits",
                 graf_table[i].name);
        lab_number(l, what, ldexp(1, -GRAF_BITS), 1e-5, r);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    double last[GRAF_KINDS] = { 0 };
    graf_sizes(&l, last);
    graf_rates(&l);
    return lab_close(&l);
}
