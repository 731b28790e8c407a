/* mitzenmacher.c - filters compressed for transmission [Mitzenmacher 2002].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

#include <stdlib.h>

/* A coder may exceed the entropy by 0.2 %, and ours has a header, in bits. */
enum { MITZENMACHER_FILTERS = 20, MITZENMACHER_HEADER = 8 * 128 };

/* Bits per key in memory and probes; bits per key when sent, and the rate. */
static const struct { unsigned bits, k; double sent, rate; }
mitzenmacher_table[] = {
    { 8, 6, 8, 0.021577 },      { 14, 2, 7.923, 0.017721 },
    { 92, 1, 7.923, 0.010811 }, { 16, 11, 16, 0.000459 },
    { 28, 4, 15.846, 0.000314 }, { 48, 3, 15.829, 0.000222 },
};
enum { MITZENMACHER_ROWS = sizeof mitzenmacher_table
                         / sizeof *mitzenmacher_table };

static double mitzenmacher_sent(uint64_t n, unsigned bits, unsigned k,
                                uint64_t series)
{
    bly_filter *f = lab_new(n, 0, "compressed:m=%.0f,k=%u",
                            (double)n * bits, k);
    lab_fill(f, series, 0, n);
    size_t room, bytes;
    bly_raw(f, &room);
    void *packed = lab_allocate(room);
    if (bly_pack(f, packed, room, &bytes) < 0)
        lab_stop("pack", bly_why());
    free(packed);
    bly_free(f);
    return 8 * (double)bytes / (double)n;
}

static lab_measure mitzenmacher_length(lab *l, uint64_t n, unsigned bits,
                                       unsigned k)
{
    double sent[MITZENMACHER_FILTERS];
    size_t filters = lab_pick(l, 2, 8, MITZENMACHER_FILTERS);
    for (size_t i = 0; i < filters; i++)
        sent[i] = mitzenmacher_sent(n, bits, k, i);
    return lab_mean(sent, filters);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t n = lab_pick(&l, 1000, 100000, 1000000);
    lab_figure(&l, "sent", "bits in memory,k,bits sent,rate,low,high,"
                           "reported sent,reported rate");
    for (size_t i = 0; i < MITZENMACHER_ROWS; i++) {
        unsigned bits = mitzenmacher_table[i].bits, k = mitzenmacher_table[i].k;
        char kind[96], what[128];
        lab_measure sent = mitzenmacher_length(&l, n, bits, k);
        snprintf(kind, sizeof kind, "compressed:m=%.0f,k=%u", (double)n * bits,
                 k);
        lab_measure r = lab_rate(kind, 0, n, (unsigned)lab_pick(&l, 2, 8, 20),
                                 lab_pick(&l, 1000, 1000000, 10000000));
        lab_row(&l, "%u,%u,%.5g,%.6g,%.6g,%.6g,%.5g,%.6g", bits, k, sent.value,
                r.value, r.low, r.high, mitzenmacher_table[i].sent,
                mitzenmacher_table[i].rate);
        snprintf(what, sizeof what, "bits a key sent, of %u in memory, k = %u",
                 bits, k);
        lab_number(&l, what, mitzenmacher_table[i].sent,
                   0.002 * mitzenmacher_table[i].sent
                   + MITZENMACHER_HEADER / (double)n, sent);
        snprintf(what, sizeof what, "rate of %u bits a key in memory, k = %u",
                 bits, k);
        lab_number(&l, what, mitzenmacher_table[i].rate, 1e-6, r);
    }
    return lab_close(&l);
}
