/* sanders.c - duplicates among many computers, by a hash of each key [Sanders,
 * Schlag & Mueller 2013].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { SANDERS_KEYS = 20000 };  /* of one computer */

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
static double sanders_bits(uint64_t ranks, double load)
{
    uint64_t share = (uint64_t)ceil(SANDERS_KEYS / load);
    uint64_t *h = lab_allocate(SANDERS_KEYS * sizeof *h), sent = 0, bytes = 0;
    sanders_hashes(h, SANDERS_KEYS, share * ranks, 1);
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

/* The share of keys, all different, whose hash another one has too. */
static double sanders_survivors(uint64_t n, double load)
{
    uint64_t *h = lab_allocate(n * sizeof *h), alike = 0;
    sanders_hashes(h, n, (uint64_t)((double)n / load), 2);
    for (uint64_t i = 0; i < n; i++)
        alike += (i > 0 && h[i] == h[i - 1]) || (i + 1 < n && h[i] == h[i + 1]);
    free(h);
    return (double)alike / (double)n;
}

static void sanders_volume(lab *l)
{
    double off = 0;
    lab_figure(l, "volume", "computers,an eighth,a 64th,formula,formula");
    for (uint64_t ranks = 1; ranks <= 256; ranks *= 2) {
        double coarse = sanders_bits(ranks, 0.125);
        double fine = sanders_bits(ranks, 1.0 / 64);
        double a = log2((double)ranks * 8) + 1.4715;
        double b = log2((double)ranks * 64) + 1.4715;
        lab_row(l, "%.0f,%.5g,%.5g,%.5g,%.5g", (double)ranks, coarse, fine, a,
                b);
        if (ranks <= 64)
            off = fmax(off, fmax(fabs(coarse / a - 1), fabs(fine / b - 1)));
        if (ranks != 8)
            continue;
        lab_number(l, "bits a hash, 8 computers, 8 places for each", a, 0.1,
                   (lab_measure){ coarse, coarse, coarse });
        lab_number(l, "bits a hash, 8 computers, 64 places for each", b, 0.1,
                   (lab_measure){ fine, fine, fine });
    }
    lab_says(l, "within 3 % of the formula, however many computers",
             off < 0.03, "%.2f %% off at most, up to 64 of them", off * 100);
}

static void sanders_left(lab *l)
{
    uint64_t n = lab_pick(l, 10000, 1600000, 16000000);
    lab_figure(l, "left", "load,left,low,high,formula");
    for (double load = 0.5; load > 0.01; load /= 2) {
        double left = sanders_survivors(n, load);
        lab_measure m = lab_wilson((uint64_t)(left * (double)n), n);
        lab_row(l, "%g,%.5g,%.5g,%.5g,%.5g", load, m.value, m.low, m.high,
                -expm1(-load));
        char what[96];
        snprintf(what, sizeof what, "share of single keys that stay in the "
                 "game, %.0f places for each key", 1 / load);
        lab_number(l, what, -expm1(-load), 5e-5, m);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    sanders_volume(&l);
    sanders_left(&l);
    return lab_close(&l);
}
