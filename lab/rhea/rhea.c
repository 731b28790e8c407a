/* rhea.c - what is far is told less surely [Rhea & Kubiatowicz 2002].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { RHEA_BITS = 512, RHEA_PROBES = 4, RHEA_LEVELS = 5 };

/* Objects of a level, and its rate. */
static const struct { uint64_t objects; double rate; } rhea_table[] = {
    { 10, 3.2e-5 }, { 20, 4.4e-4 }, { 50, 0.0109 }, { 100, 0.0864 },
    { 200, 0.390 },
};

static bly_filter *rhea_new(uint64_t series)
{
    bly_filter *f = lab_new(1000, 0, "attenuated:m=%d,k=%d,depth=%d",
                            RHEA_BITS, RHEA_PROBES, RHEA_LEVELS);
    uint64_t key = 0;
    for (uint64_t level = 0; level < RHEA_LEVELS; level++)
        for (uint64_t i = 0; i < rhea_table[level].objects; i++)
            if (bly_put_hash(f, lab_key(series, key++), level + 1) < 0)
                lab_stop("put", bly_why());
    return f;
}

/* How many objects are said to be farther than they are, or nowhere. */
static uint64_t rhea_farther(const bly_filter *f, uint64_t series)
{
    uint64_t key = 0, farther = 0, label;
    for (uint64_t level = 0; level < RHEA_LEVELS; level++)
        for (uint64_t i = 0; i < rhea_table[level].objects; i++)
            farther += !bly_get_hash(f, lab_key(series, key++), &label)
                    || label > level + 1;
    return farther;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t filters = lab_pick(&l, 5, 300, 3000);
    uint64_t asked = lab_pick(&l, 100, 20000, 100000), farther = 0;
    double *said[RHEA_LEVELS];
    for (size_t d = 0; d < RHEA_LEVELS; d++)
        said[d] = lab_allocate(filters * sizeof *said[d]);
    for (size_t i = 0; i < filters; i++) {
        bly_filter *f = rhea_new(2 * i);
        uint64_t label, count[RHEA_LEVELS] = { 0 };
        for (uint64_t j = 0; j < asked; j++)
            if (bly_get_hash(f, lab_key(2 * i + 1, j), &label))
                count[label - 1]++;
        for (size_t d = 0; d < RHEA_LEVELS; d++)
            said[d][i] = (double)count[d] / (double)asked;
        farther += rhea_farther(f, 2 * i);
        bly_free(f);
    }
    lab_figure(&l, "levels", "distance,objects,strangers,low,high,formula");
    double left = 1;
    for (size_t d = 0; d < RHEA_LEVELS; d++) {
        lab_measure s = lab_shares(said[d], filters, asked);
        lab_row(&l, "%zu,%.0f,%.6g,%.6g,%.6g,%.6g", d + 1,
                (double)rhea_table[d].objects, s.value, s.low, s.high,
                left * rhea_table[d].rate);
        char what[96];
        snprintf(what, sizeof what, "rate of a level of %.0f objects, in 512 "
                 "bits", (double)rhea_table[d].objects);
        s = (lab_measure){ s.value / left, s.low / left, s.high / left };
        lab_number(&l, what, rhea_table[d].rate, 0.03 * rhea_table[d].rate, s);
        left *= 1 - rhea_table[d].rate;
        free(said[d]);
    }
    lab_says(&l, "no object is said to be farther than it is, or nowhere",
             farther == 0, "%.0f", (double)farther);
    return lab_close(&l);
}
