/* calderoni.c - areas that hide one another [Palmieri, Calderoni & Maio 2014;
 * Calderoni et al. 2015].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { CALDERONI_AREAS = 4, CALDERONI_KEYS = 500, CALDERONI_CELLS = 16384,
       CALDERONI_PROBES = 6 };

/* Shares of strangers assigned to areas 1 to 4, and of members of these areas
 * assigned to a higher one. */
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

/* Measures the shares of a filter, at [area - 1]. */
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

/* Shares of all filters: [filter][area - 1]. */
typedef struct {
    size_t   filters;
    uint64_t asked, lower;
    double (*strangers)[CALDERONI_AREAS], (*wrong)[CALDERONI_AREAS];
} calderoni;

static void calderoni_measure(calderoni *c)
{
    size_t bytes = c->filters * sizeof *c->wrong;
    c->lower = 0;
    c->strangers = lab_allocate(bytes);
    c->wrong = lab_allocate(bytes);
    for (size_t i = 0; i < c->filters; i++) {
        for (size_t a = 0; a < CALDERONI_AREAS; a++)
            c->strangers[i][a] = c->wrong[i][a] = 0;
        bly_filter *f = calderoni_new(2 * i);
        calderoni_ask(f, 2 * i, c->asked, c->strangers[i], c->wrong[i],
                      &c->lower);
        bly_free(f);
    }
}

/* Returns the mean over filters for one area. */
static lab_measure calderoni_mean(double (*share)[CALDERONI_AREAS],
                                  size_t filters, size_t area, uint64_t asked)
{
    double *x = lab_allocate(filters * sizeof *x);
    for (size_t i = 0; i < filters; i++)
        x[i] = share[i][area];
    lab_measure mean = lab_shares(x, filters, asked);
    free(x);
    return mean;
}

static void calderoni_area(lab *l, const calderoni *c, size_t a)
{
    char what[96];
    lab_measure s = calderoni_mean(c->strangers, c->filters, a, c->asked);
    lab_measure w = calderoni_mean(c->wrong, c->filters, a, CALDERONI_KEYS);
    lab_row(l, "%zu,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", a + 1, s.value,
            s.low, s.high, calderoni_strangers[a], w.value, w.low, w.high,
            calderoni_wrong[a]);
    snprintf(what, sizeof what, "share of strangers said to be in area %zu",
             a + 1);
    lab_number(l, what, calderoni_strangers[a], 5e-7, s);
    snprintf(what, sizeof what, "share of the members of area %zu said to be "
             "in a higher one", a + 1);
    if (a < CALDERONI_AREAS - 1)
        lab_number(l, what, calderoni_wrong[a], 5e-7, w);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    calderoni c = { .filters = lab_pick(&l, 3, 60, 1000),
                    .asked = lab_pick(&l, 1000, 200000, 1000000) };
    calderoni_measure(&c);
    lab_figure(&l, "areas", "area,strangers,low,high,formula,members,low,high,"
                            "formula");
    for (size_t a = 0; a < CALDERONI_AREAS; a++)
        calderoni_area(&l, &c, a);
    lab_says(&l, "no member is ever said to be in a lower area, or in none",
             c.lower == 0, "%.0f of %.0f", (double)c.lower,
             (double)c.filters * CALDERONI_AREAS * CALDERONI_KEYS);
    free(c.strangers);
    free(c.wrong);
    return lab_close(&l);
}
