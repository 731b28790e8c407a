/* sanders.c - duplicates among many computers, by a hash of each key [Sanders,
 * Schlag & Mueller 2013].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/gaps.h>

#include <stdlib.h>

enum { SANDERS_KEYS = 20000, SANDERS_ROUNDS = 16 };  /* keys of one computer */

static int sanders_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Hashes of the keys of computer `rank`, below `range`, in order. */
static void sanders_hashes(uint64_t *h, uint64_t n, uint64_t range,
                           uint64_t rank)
{
    for (uint64_t i = 0; i < n; i++)
        h[i] = lab_key(rank, i) % range;
    qsort(h, n, sizeof *h, sanders_order);
}

/* Bits a hash that one computer sends: to each other one, and to itself for
 * measuring, the list of the hashes that fall to it. */
static double sanders_sent(uint64_t ranks, double load, uint64_t series)
{
    uint64_t share = (uint64_t)ceil(SANDERS_KEYS / load);
    uint64_t *h = lab_allocate(SANDERS_KEYS * sizeof *h), sent = 0, bytes = 0;
    sanders_hashes(h, SANDERS_KEYS, share * ranks, series);
    size_t room = bly_gaps_room(SANDERS_KEYS, share, 0);
    unsigned char *list = lab_allocate(room);
    for (uint64_t rank = 0, i = 0; rank < ranks; rank++) {
        uint64_t *first = h + i, n = 0;
        for (; i < SANDERS_KEYS && h[i] < (rank + 1) * share; i++) {
            uint64_t offset = h[i] - rank * share;
            if (n == 0 || first[n - 1] != offset)
                first[n++] = offset;
        }
        size_t used;
        if (bly_gaps_pack(list, room, &used, first, n, share, 0) < 0)
            lab_stop("gaps", bly_why());
        bytes += used;
        sent += n;
    }
    free(list);
    free(h);
    return 8 * (double)bytes / (double)sent;
}

static lab_measure sanders_bits(uint64_t ranks, double load)
{
    double bits[SANDERS_ROUNDS];
    for (uint64_t i = 0; i < SANDERS_ROUNDS; i++)
        bits[i] = sanders_sent(ranks, load, i);
    return lab_mean(bits, SANDERS_ROUNDS);
}

/* The share of keys, all different, whose hash another one has too. */
static double sanders_survivors(uint64_t n, double load, uint64_t series)
{
    uint64_t *h = lab_allocate(n * sizeof *h), alike = 0;
    sanders_hashes(h, n, (uint64_t)((double)n / load), series);
    for (uint64_t i = 0; i < n; i++)
        alike += (i > 0 && h[i] == h[i - 1]) || (i + 1 < n && h[i] == h[i + 1]);
    free(h);
    return (double)alike / (double)n;
}

static void sanders_volume(lab *l)
{
    double off = 0;
    lab_figure(l, "volume", "computers,an eighth,low,high,a 64th,low,high,"
                            "formula,formula");
    for (uint64_t ranks = 1; ranks <= 256; ranks *= 2) {
        lab_measure coarse = sanders_bits(ranks, 0.125);
        lab_measure fine = sanders_bits(ranks, 1.0 / 64);
        double a = log2((double)ranks * 8) + 1.4715;
        double b = log2((double)ranks * 64) + 1.4715;
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g",
                (double)ranks, coarse.value, coarse.low, coarse.high,
                fine.value, fine.low, fine.high, a, b);
        off = fmax(off, fmax(fabs(coarse.value / a - 1),
                             fabs(fine.value / b - 1)));
        if (ranks == 8)
            lab_says(l, "8 computers: log2(P/f) + 1.47 bits a hash, within "
                        "half a per cent", coarse.high < 1.005 * a
                     && coarse.low > 0.995 * a && fine.high < 1.005 * b
                     && fine.low > 0.995 * b, "%.3f (%.3f … %.3f) for %.3f "
                     "with 8 places for each key, %.3f (%.3f … %.3f) for %.3f "
                     "with 64", coarse.value, coarse.low, coarse.high, a,
                     fine.value, fine.low, fine.high, b);
    }
    lab_says(l, "and within 3 % for up to 256 computers",
             off < 0.03, "%.2f %% off at most", off * 100);
}

static void sanders_left(lab *l)
{
    uint64_t n = lab_pick(l, 10000, 100000, 1000000);
    lab_figure(l, "left", "load,left,low,high,formula");
    for (double load = 0.5; load > 0.01; load /= 2) {
        double left[SANDERS_ROUNDS];
        for (uint64_t i = 0; i < SANDERS_ROUNDS; i++)
            left[i] = sanders_survivors(n, load, i);
        lab_measure m = lab_mean(left, SANDERS_ROUNDS);
        lab_row(l, "%g,%.5g,%.5g,%.5g,%.5g", load, m.value, m.low, m.high,
                -expm1(-load));
        char what[96];
        snprintf(what, sizeof what, "share of single keys that stay in the "
                 "game, %.0f places for each key", 1 / load);
        lab_number(l, what, -expm1(-load), 5e-6, m);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    sanders_volume(&l);
    sanders_left(&l);
    return lab_close(&l);
}
