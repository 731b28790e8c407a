/* calderoni.c - areas that hide one another [Palmieri, Calderoni & Maio 2014;
 * Calderoni et al. 2015].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { CALDERONI_AREAS = 4, CALDERONI_KEYS = 500, CALDERONI_CELLS = 16384,
       CALDERONI_PROBES = 6 };

/* Shares of strangers said to be in area 1 to 4, and of members of these areas
 * said to be in a higher one. */
static const double calderoni_strangers[CALDERONI_AREAS] = {
    0.013903, 0.004870, 0.000810, 0.000022
};
static const double calderoni_wrong[CALDERONI_AREAS] = {
    0.005701, 0.000832, 2.19e-5, 0
};

static bly_filter *calderoni_new(uint64_t series)
{
    bly_filter *f = lab_new(CALDERONI_AREAS * CALDERONI_KEYS, 0,
                            "spatial:m=%d,k=%d,areas=%d", CALDERONI_CELLS,
                            CALDERONI_PROBES, CALDERONI_AREAS);
    for (uint64_t i = 0; i < CALDERONI_AREAS * CALDERONI_KEYS; i++)
        if (bly_put_hash(f, lab_key(series, i), 1 + i % CALDERONI_AREAS) < 0)
            lab_stop("put", bly_why());
    return f;
}

/* [area - 1] shares of one filter. */
static void calderoni_ask(const bly_filter *f, uint64_t series, uint64_t asked,
                          double strangers[], double wrong[], uint64_t *lower)
{
    uint64_t label;
    for (uint64_t i = 0; i < asked; i++)
        if (bly_get_hash(f, lab_key(series + 1, i), &label))
            strangers[label - 1] += 1 / (double)asked;
    for (uint64_t i = 0; i < CALDERONI_AREAS * CALDERONI_KEYS; i++) {
        uint64_t area = 1 + i % CALDERONI_AREAS;
        bool found = bly_get_hash(f, lab_key(series, i), &label);
        *lower += !found || label < area;
        wrong[area - 1] += (found && label > area) / (double)CALDERONI_KEYS;
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t filters = lab_pick(&l, 3, 60, 1000);
    uint64_t asked = lab_pick(&l, 1000, 200000, 1000000), lower = 0;
    double (*strangers)[CALDERONI_AREAS] = lab_allocate(2 * filters
                                                        * sizeof *strangers);
    double (*wrong)[CALDERONI_AREAS] = strangers + filters;
    for (size_t i = 0; i < filters; i++) {
        for (size_t a = 0; a < CALDERONI_AREAS; a++)
            strangers[i][a] = wrong[i][a] = 0;
        bly_filter *f = calderoni_new(2 * i);
        calderoni_ask(f, 2 * i, asked, strangers[i], wrong[i], &lower);
        bly_free(f);
    }
    lab_figure(&l, "areas", "area,strangers,low,high,formula,members,low,high,"
                            "formula");
    for (size_t a = 0; a < CALDERONI_AREAS; a++) {
        double *x = lab_allocate(2 * filters * sizeof *x), *y = x + filters;
        for (size_t i = 0; i < filters; i++) {
            x[i] = strangers[i][a];
            y[i] = wrong[i][a];
        }
        lab_measure s = lab_shares(x, filters, asked);
        lab_measure w = lab_shares(y, filters, CALDERONI_KEYS);
        lab_row(&l, "%zu,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", a + 1,
                s.value, s.low, s.high, calderoni_strangers[a], w.value, w.low,
                w.high, calderoni_wrong[a]);
        char what[96];
        snprintf(what, sizeof what, "share of strangers said to be in area %zu",
                 a + 1);
        lab_number(&l, what, calderoni_strangers[a], 5e-7, s);
        snprintf(what, sizeof what, "share of the members of area %zu said to "
                 "be in a higher one", a + 1);
        if (a < CALDERONI_AREAS - 1)
            lab_number(&l, what, calderoni_wrong[a], 5e-7, w);
        free(x);
    }
    lab_says(&l, "no member is ever said to be in a lower area, or in none",
             lower == 0, "%.0f of %.0f", (double)lower,
             (double)filters * CALDERONI_AREAS * CALDERONI_KEYS);
    free(strangers);
    return lab_close(&l);
}
