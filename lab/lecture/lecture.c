/* lecture.c - bits per key by rate, and the white list [lecture notes on
 * sketching].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

enum { LECTURE_KEYS = 1 << 16, LECTURE_MAIL_BITS = 8, LECTURE_MAIL_PROBES = 6 };

static const struct { double bits, reported, within; } lecture_table[] = {
    { 0.5, 0.786, 5e-4 }, { 1, 0.6185, 5e-5 }, { 2, 0.3825, 5e-5 },
    { 3, 0.2366, 5e-5 }, { 4, 0.1463, 5e-5 }, { 5, 0.0905, 5e-5 },
    { 8, 0.0214, 5e-5 }, { 16, 0.00045, 5e-6 },
};
enum { LECTURE_ROWS = sizeof lecture_table / sizeof *lecture_table };

static double lecture_best(double bits)
{
    double best = 1;
    for (double k = 2; k <= 20; k++)
        if (lab_classic(1e9 * bits, 1e9, k) < lab_classic(1e9 * bits, 1e9,
                                                          best))
            best = k;
    return best;
}

static lab_measure lecture_rate(lab *l, double bits, double k)
{
    char kind[64];
    snprintf(kind, sizeof kind, "standard:m=%.0f,k=%.0f", bits * LECTURE_KEYS,
             k);
    return lab_rate(kind, 0, LECTURE_KEYS, (unsigned)lab_pick(l, 2, 20, 50),
                    lab_pick(l, 100, 500000, 4000000));
}

static void lecture_bits(lab *l)
{
    lab_figure(l, "bits", "bits a key,notes,best k,rate,low,high,"
                          "k rounded up,rate,low,high");
    for (size_t i = 0; i < LECTURE_ROWS; i++) {
        double bits = lecture_table[i].bits, best = lecture_best(bits);
        double up = fmax(1, ceil(bits * log(2)));
        lab_measure a = lecture_rate(l, bits, best);
        lab_measure b = lecture_rate(l, bits, up);
        lab_row(l, "%g,%g,%.0f,%.6g,%.6g,%.6g,%.0f,%.6g,%.6g,%.6g", bits,
                lecture_table[i].reported, best, a.value, a.low, a.high, up,
                b.value, b.low, b.high);
        char what[128];
        snprintf(what, sizeof what, "rate at %g bits a key (k = %.0f)", bits,
                 best);
        lab_number(l, what, lecture_table[i].reported, lecture_table[i].within,
                   a);
        snprintf(what, sizeof what, "at %g bits a key k rounded up, %.0f, is "
                 "as good as any", bits, up);
        if (up > best)
            lab_says(l, what, b.low <= a.high,
                     "k = %.0f: %.4g (%.4g … %.4g), k = %.0f: %.4g (%.4g … "
                     "%.4g)", up, b.value, b.low, b.high, best, a.value, a.low,
                     a.high);
    }
}

/* Filters of that many keys differ by 0.04 % of their rate, far less than
 * answers do by chance: one suffices. */
enum { LECTURE_ALIKE = 10000000, LECTURE_FILTERS = 8 };

static lab_measure lecture_spam(lab *l, uint64_t n, size_t *bytes)
{
    uint64_t asked = lab_pick(l, 1000, 2000000, 20000000);
    size_t filters = n < LECTURE_ALIKE ? LECTURE_FILTERS : 1;
    double rate[LECTURE_FILTERS];
    for (size_t i = 0; i < filters; i++) {
        bly_filter *f = lab_new(n, 0, "standard:m=%.0f,k=%d",
                                (double)n * LECTURE_MAIL_BITS,
                                LECTURE_MAIL_PROBES);
        lab_fill(f, 2 * i + 1, 0, n);
        uint64_t hits = lab_hits(f, 2 * i + 2, asked);
        rate[i] = (double)hits / (double)asked;
        bly_raw(f, bytes);
        bly_free(f);
        if (filters == 1)
            return lab_wilson(hits, asked);
    }
    return lab_shares(rate, filters, asked);
}

/* The last list is that of the notes: a thousand million addresses. */
static void lecture_mail(lab *l)
{
    uint64_t most = lab_pick(l, 10000, 10000000, 1000000000);
    lab_figure(l, "mail", "addresses,bytes,rate,low,high,formula");
    for (uint64_t n = most / 1000; n <= most; n *= 10) {
        size_t bytes;
        lab_measure rate = lecture_spam(l, n, &bytes);
        lab_row(l, "%.0f,%zu,%.6g,%.6g,%.6g,%.6g", (double)n, bytes, rate.value,
                rate.low, rate.high,
                lab_classic((double)n * LECTURE_MAIL_BITS, (double)n,
                            LECTURE_MAIL_PROBES));
        if (n < most)
            continue;
        lab_says(l, "a byte an address: 10^9 addresses in 1 GB",
                 (double)bytes / (double)n < 1.001,
                 "%.0e addresses in %.6e bytes%s, to be below 1.001 each",
                 (double)n, (double)bytes,
                 l->effort == LAB_FULL ? "" : " (the full run takes 10^9)");
        lab_number(l, "share of spam that comes through", 0.02, 0.005, rate);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    lecture_bits(&l);
    lecture_mail(&l);
    return lab_close(&l);
}
