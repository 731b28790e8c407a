/* graf.c - the space of filters that are built of all their keys [Graf &
 * Lemire 2020, 2022; Dillinger et al. 2022; Putze et al. 2007].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>
#include <stdlib.h>

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

/* ---- Time ---------------------------------------------------------------- */

enum { GRAF_TIMED = 5, GRAF_ROUNDS = 15, GRAF_STANDARD = 2, GRAF_CUCKOO = 4 };

static const char *const graf_timed[GRAF_TIMED] = {
    "xor:bits=8", "fuse:bits=8", "standard", "blocked", "cuckoo",
};

typedef struct {
    bly_filter *filter[GRAF_TIMED];
    uint64_t   *ask;                    /* members and strangers in turn     */
    bool       *present;
    size_t      n;
    double      ns[2][GRAF_TIMED][GRAF_ROUNDS];
} graf_bench;

/* ns a lookup, one call for each or one for all. */
static double graf_time(graf_bench *b, size_t kind, bool batch)
{
    const bly_filter *f = b->filter[kind];
    uint64_t found = 0;
    double from = lab_clock();
    if (batch)
        bly_contains_many(f, b->ask, b->n, b->present);
    for (size_t i = 0; !batch && i < b->n; i++)
        found += bly_contains_hash(f, b->ask[i]);
    lab_sink += found;
    return (lab_clock() - from) / (double)b->n;
}

/* All kinds in turn in each round, so that whatever else the machine does hits
 * them alike. */
static void graf_rounds(graf_bench *b, uint64_t n)
{
    for (size_t k = 0; k < GRAF_TIMED; k++)
        b->filter[k] = lab_build(n, ldexp(1, -GRAF_BITS), 1, graf_timed[k]);
    for (size_t i = 0; i < b->n; i++)
        b->ask[i] = lab_key(1 + (i & 1), lab_key(3, i) % n);
    for (size_t r = 0; r < GRAF_ROUNDS; r++)
        for (size_t k = 0; k < GRAF_TIMED; k++)
            for (int batch = 0; batch < 2; batch++)
                b->ns[batch][k][r] = graf_time(b, k, batch);
    for (size_t k = 0; k < GRAF_TIMED; k++)
        bly_free(b->filter[k]);
}

/* How many times as long kind a takes as kind b. */
static lab_measure graf_ratio(const graf_bench *b, int batch, size_t over,
                              size_t under)
{
    double ratio[GRAF_ROUNDS];
    for (size_t r = 0; r < GRAF_ROUNDS; r++)
        ratio[r] = b->ns[batch][over][r] / b->ns[batch][under][r];
    return lab_median(ratio, GRAF_ROUNDS);
}

static lab_measure graf_ns(const graf_bench *b, int batch, size_t kind)
{
    double ns[GRAF_ROUNDS];
    for (size_t r = 0; r < GRAF_ROUNDS; r++)
        ns[r] = b->ns[batch][kind][r];
    return lab_median(ns, GRAF_ROUNDS);
}

/* What the papers say, at one size. */
static void graf_claims(lab *l, const graf_bench *b, uint64_t n)
{
    static const struct { size_t slow, quick; const char *says; } claims[] = {
        { GRAF_STANDARD, 0, "xor is faster than Bloom" },
        { GRAF_CUCKOO, 0, "xor is faster than cuckoo" },
        { 0, 1, "binary fuse is faster than xor" },
        { GRAF_STANDARD, GRAF_CUCKOO, "cuckoo improves on Bloom's time" },
    };
    for (size_t c = 0; c < sizeof claims / sizeof *claims; c++)
        for (int batch = 0; batch < 2; batch++) {
            lab_measure m = graf_ratio(b, batch, claims[c].slow,
                                       claims[c].quick);
            char what[128];
            snprintf(what, sizeof what, "%s: %s, %.0f keys", claims[c].says,
                     batch ? "a batch" : "one at a time", (double)n);
            lab_says(l, what, m.low > 1, "%.2f times as quick (quartiles %.2f "
                     "… %.2f)", m.value, m.low, m.high);
        }
}

static void graf_times(lab *l)
{
    uint64_t most = lab_pick(l, 1 << 11, 1 << 23, 1 << 27);
    graf_bench b = { .n = lab_pick(l, 1000, 200000, 2000000) };
    double first = 0, last = 0;
    b.ask = lab_allocate(b.n * sizeof *b.ask);
    b.present = lab_allocate(b.n * sizeof *b.present);
    lab_figure(l, "times", "keys,xor,fuse,standard,blocked,cuckoo,xor batch,"
                           "fuse batch,standard batch,blocked batch,"
                           "cuckoo batch");
    for (uint64_t n = 1 << 11; n <= most; n *= 8) {
        n = n * 8 > most ? most : n;
        graf_rounds(&b, n);
        double ns[2][GRAF_TIMED];
        for (int batch = 0; batch < 2; batch++)
            for (size_t k = 0; k < GRAF_TIMED; k++)
                ns[batch][k] = graf_ns(&b, batch, k).value;
        lab_row(l, "%.0f,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g",
                (double)n, ns[0][0], ns[0][1], ns[0][2], ns[0][3], ns[0][4],
                ns[1][0], ns[1][1], ns[1][2], ns[1][3], ns[1][4]);
        last = ns[0][GRAF_STANDARD];
        first = first > 0 ? first : last;
        if (n == 1 << 14 || n == most)
            graf_claims(l, &b, n);
    }
    lab_says(l, "every textbook: a lookup in a Bloom filter takes the same "
                "time whatever m is, within a fifth", last <= 1.2 * first,
             "%.3g ns for %.0f keys, %.3g for %.0f: as many probes, but other "
             "caches", first, (double)(1 << 11), last, (double)most);
    free(b.ask);
    free(b.present);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    double last[GRAF_KINDS] = { 0 };
    graf_sizes(&l, last);
    graf_rates(&l);
    graf_times(&l);
    return lab_close(&l);
}
