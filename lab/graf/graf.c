/* graf.c - the space of filters built from all their keys [Graf & Lemire 2020,
 * 2022; Dillinger et al. 2022; Putze et al. 2007], and their lookup times
 * compared with others.
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

#include <stdlib.h>

enum { GRAF_BITS = 8, GRAF_KINDS = 5 };

/* Bits per key for 8-bit fingerprints and a million keys. */
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

/* ---- Time --------------------------------------------------------------- */

/* Members singly and in batches, then strangers. */
enum { GRAF_TIMED = 6, GRAF_WAYS = 4, GRAF_ROUNDS = 101, GRAF_ASKED = 1 << 14,
       GRAF_IN = 1, GRAF_OUT = 2 };

/* All at a rate of 1/256. */
enum { GRAF_STANDARD, GRAF_BLOCKED, GRAF_CUCKOO, GRAF_XOR };

static const char *const graf_timed[GRAF_TIMED] = {
    "standard", "blocked", "cuckoo", "xor:bits=8", "fuse:arity=3,bits=8",
    "fuse:arity=4,bits=8",
};
static const char *const graf_names[GRAF_TIMED] = {
    "standard", "blocked", "cuckoo", "xor", "fuse of 3", "fuse of 4",
};

typedef struct {
    const char *place;                  /* the memory of filters of this size */
    size_t      rounds;
    double      bits[GRAF_TIMED];
    double      time[GRAF_TIMED][GRAF_WAYS][GRAF_ROUNDS];
} graf_times;

/* Each round measures all filters in turn; each query has its own keys. */
static void graf_round(graf_times *t, bly_filter *const *f, uint64_t n,
                       size_t round)
{
    static uint64_t keys[GRAF_ASKED];
    for (size_t i = 0; i < GRAF_TIMED; i++)
        for (size_t w = 0; w < GRAF_WAYS; w++) {
            uint64_t from = ((round * GRAF_TIMED + i) * GRAF_WAYS + w)
                          * GRAF_ASKED;
            if (w < 2)
                lab_draw(keys, GRAF_ASKED, GRAF_IN, n, from);
            else
                lab_keys(keys, GRAF_ASKED, GRAF_OUT, from);
            t->time[i][w][round] = lab_look(f[i], keys, GRAF_ASKED, w % 2 == 1);
        }
}

/* Returns the time of a lookup in one relative to the other: the median of
 * rounds. */
static lab_measure graf_ratio(const graf_times *t, size_t one, size_t other,
                              size_t way)
{
    double ratio[GRAF_ROUNDS];
    for (size_t r = 0; r < t->rounds; r++)
        ratio[r] = t->time[one][way][r] / t->time[other][way][r];
    return lab_median(ratio, t->rounds);
}

typedef struct { const char *statement; size_t one, other; } graf_claim;

static const graf_claim graf_claims[] = {
    { "xor is faster than Bloom's filter", GRAF_XOR, GRAF_STANDARD },
    { "xor is faster than cuckoo", GRAF_XOR, GRAF_CUCKOO },
    { "cuckoo is faster than Bloom's filter (Fan et al. 2014)", GRAF_CUCKOO,
      GRAF_STANDARD },
    { "ours: one cache line a key is faster than xor", GRAF_BLOCKED, GRAF_XOR },
};
enum { GRAF_CLAIMS = sizeof graf_claims / sizeof *graf_claims };

/* A claim holds if it does for members and for strangers. */
static void graf_quicker(lab *l, const graf_times *t, size_t i, bool batch)
{
    const graf_claim *c = &graf_claims[i];
    lab_measure in = graf_ratio(t, c->one, c->other, batch);
    lab_measure out = graf_ratio(t, c->one, c->other, 2 + batch);
    char what[192];
    snprintf(what, sizeof what, "%s: %s, %s", c->statement, t->place,
             batch ? "in batches" : "one by one");
    lab_says(l, what, in.high < 1 && out.high < 1,
             "%.2f (%.2f … %.2f) of its time for a member, %.2f (%.2f … %.2f) "
             "for a stranger", in.value, in.low, in.high, out.value, out.low,
             out.high);
}

static void graf_rows(lab *l, graf_times *t)
{
    for (size_t i = 0; i < GRAF_TIMED; i++) {
        lab_measure m[GRAF_WAYS];
        for (size_t w = 0; w < GRAF_WAYS; w++) {
            double sorted[GRAF_ROUNDS];
            for (size_t r = 0; r < t->rounds; r++)
                sorted[r] = t->time[i][w][r];
            m[w] = lab_median(sorted, t->rounds);
        }
        lab_row(l, "%s,%.5g,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,"
                "%.2f,%.2f", graf_names[i], t->bits[i], m[0].value, m[0].low,
                m[0].high, m[1].value, m[1].low, m[1].high, m[2].value,
                m[2].low, m[2].high, m[3].value, m[3].low, m[3].high);
    }
}

static void graf_time(lab *l, const char *figure, const char *place, uint64_t n)
{
    graf_times *t = lab_allocate(sizeof *t);
    bly_filter *f[GRAF_TIMED];
    t->place = place;
    t->rounds = lab_pick(l, 1, 21, GRAF_ROUNDS);
    for (size_t i = 0; i < GRAF_TIMED; i++) {
        f[i] = lab_build(n, ldexp(1, -GRAF_BITS), GRAF_IN, graf_timed[i]);
        t->bits[i] = graf_bits(f[i], n);
    }
    for (size_t round = 0; round < t->rounds; round++)
        graf_round(t, f, n, round);
    lab_figure(l, figure, "kind,bits a key,member,low,high,member batch,low,"
               "high,stranger,low,high,stranger batch,low,high");
    graf_rows(l, t);
    for (size_t i = 0; i < 2 * GRAF_CLAIMS; i++)
        graf_quicker(l, t, i % GRAF_CLAIMS, i >= GRAF_CLAIMS);
    for (size_t i = 0; i < GRAF_TIMED; i++)
        bly_free(f[i]);
    free(t);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    double last[GRAF_KINDS] = { 0 };
    graf_sizes(&l, last);
    graf_rates(&l);
    graf_time(&l, "near", "in the second cache", lab_pick(&l, 1000, 100000,
                                                          100000));
    graf_time(&l, "middle", "in the third cache", lab_pick(&l, 2000, 4000000,
                                                           4000000));
    graf_time(&l, "far", "in memory", lab_pick(&l, 4000, 40000000, 100000000));
    return lab_close(&l);
}
