/* dasgupta.c - novelty as a fly perceives it: odours in a filter
 * [Dasgupta et al. 2018].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

/* Numbers of an odour; cells, the numbers that each adds up, and the cells of
 * an odour's tag. The reported means are of 40 trials. */
enum { DASGUPTA_ODOUR = 50, DASGUPTA_CELLS = 2000, DASGUPTA_INPUTS = 6,
       DASGUPTA_TAG = 100, DASGUPTA_LEARNED = 100, DASGUPTA_TRIALS = 40,
       DASGUPTA_MOST = 2000 };

typedef struct { double at[DASGUPTA_ODOUR]; } dasgupta_odour;
typedef struct { double sum; uint64_t cell; } dasgupta_sum;

static size_t dasgupta_inputs[DASGUPTA_CELLS][DASGUPTA_INPUTS];

/* ---- Tags --------------------------------------------------------------- */

/* Draws the inputs of all cells: different ones for each. */
static void dasgupta_connect(void)
{
    uint64_t drawn = 0;
    for (size_t c = 0; c < DASGUPTA_CELLS; c++)
        for (size_t i = 0; i < DASGUPTA_INPUTS; ) {
            size_t at = (size_t)(lab_key(0, drawn++) % DASGUPTA_ODOUR);
            bool new = true;
            for (size_t j = 0; j < i; j++)
                new = new && dasgupta_inputs[c][j] != at;
            if (new)
                dasgupta_inputs[c][i++] = at;
        }
}

/* Orders by larger sums, then by lower numbers. */
static int dasgupta_order(const void *one, const void *two)
{
    const dasgupta_sum *a = one, *b = two;
    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* The cells with the largest sums, as keys. */
static void dasgupta_tag(uint64_t *tag, const dasgupta_odour *o)
{
    dasgupta_sum sums[DASGUPTA_CELLS];
    for (size_t c = 0; c < DASGUPTA_CELLS; c++) {
        sums[c] = (dasgupta_sum){ 0, c };
        for (size_t i = 0; i < DASGUPTA_INPUTS; i++)
            sums[c].sum += o->at[dasgupta_inputs[c][i]];
    }
    qsort(sums, DASGUPTA_CELLS, sizeof *sums, dasgupta_order);
    for (size_t i = 0; i < DASGUPTA_TAG; i++)
        tag[i] = lab_key(1, sums[i].cell);
}

/* Returns an odour of exponential numbers. */
static dasgupta_odour dasgupta_draw(uint64_t series, uint64_t which)
{
    dasgupta_odour o;
    for (size_t i = 0; i < DASGUPTA_ODOUR; i++) {
        uint64_t key = lab_key(series, which * DASGUPTA_ODOUR + i);
        o.at[i] = -log1p(-ldexp((double)(key >> 11), -53));
    }
    return o;
}

static void dasgupta_learn(bly_filter *f, const dasgupta_odour *o)
{
    uint64_t tag[DASGUPTA_TAG];
    dasgupta_tag(tag, o);
    if (bly_add_hashes(f, tag, DASGUPTA_TAG, NULL, NULL) < 0)
        lab_stop("add", bly_why());
}

/* Returns the share of the tag that is not in the filter. */
static double dasgupta_novelty(const bly_filter *f, const dasgupta_odour *o)
{
    uint64_t tag[DASGUPTA_TAG];
    size_t new = 0;
    dasgupta_tag(tag, o);
    for (size_t i = 0; i < DASGUPTA_TAG; i++)
        new += !bly_contains_hash(f, tag[i]);
    return (double)new / DASGUPTA_TAG;
}

/* A filter whose own errors do not show. */
static bly_filter *dasgupta_new(void)
{
    return lab_new(DASGUPTA_CELLS, 1e-7, "standard");
}

/* ---- Figures ------------------------------------------------------------ */

/* Claims a reported mean, which is as precise as its digits and its trials. */
static void dasgupta_claim(lab *l, const char *what, double reported,
                           const double *x, size_t n)
{
    double square = 0;
    lab_measure m = lab_mean(x, n);
    for (size_t i = 0; i < n; i++)
        square += (x[i] - m.value) * (x[i] - m.value);
    double deviation = sqrt(square / (double)(n > 1 ? n - 1 : 1));
    lab_number(l, what, reported,
               .0005 + lab_z * deviation / sqrt(DASGUPTA_TRIALS), m);
}

/* One odour is learned, and mixtures of it with another are queried. */
static void dasgupta_similar(lab *l, size_t trials)
{
    static const struct { double share, novelty; } table[] = {
        { 1, 0 }, { .99, .007 }, { .95, .036 }, { .9, .081 }, { .8, .189 },
        { .6, .408 }, { .4, .713 }, { 0, .945 },
    };
    double x[DASGUPTA_MOST], last = -1;
    bool rises = true;
    lab_figure(l, "similar", "share,novelty,low,high,reported");
    for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
        for (size_t trial = 0; trial < trials; trial++) {
            dasgupta_odour one = dasgupta_draw(2, trial);
            dasgupta_odour other = dasgupta_draw(3, trial);
            bly_filter *f = dasgupta_new();
            dasgupta_learn(f, &one);
            for (size_t i = 0; i < DASGUPTA_ODOUR; i++)
                one.at[i] = table[row].share * one.at[i]
                          + (1 - table[row].share) * other.at[i];
            x[trial] = dasgupta_novelty(f, &one);
            bly_free(f);
        }
        lab_measure m = lab_mean(x, trials);
        char what[64];
        snprintf(what, sizeof what, "novelty of a mixture with %g of a learned "
                 "odour", table[row].share);
        dasgupta_claim(l, what, table[row].novelty, x, trials);
        lab_row(l, "%g,%.6g,%.6g,%.6g,%g", table[row].share, m.value, m.low,
                m.high, table[row].novelty);
        rises = rises && m.value > last;
        last = m.value;
    }
    lab_says(l, "the less an odour resembles a learned one, the newer it is",
             rises, "from 0 to %.3f", last);
}

/* Odours are learned one after another, and each is queried first. */
static void dasgupta_capacity(lab *l, size_t trials)
{
    static const struct { size_t learned; double novelty; } table[] = {
        { 1, .946 }, { 5, .788 }, { 10, .591 }, { 20, .367 }, { 50, .077 },
        { 100, .010 },
    };
    double *x = lab_allocate((DASGUPTA_LEARNED + 1) * trials * sizeof *x);
    for (size_t trial = 0; trial < trials; trial++) {
        bly_filter *f = dasgupta_new();
        for (size_t n = 0; n <= DASGUPTA_LEARNED; n++) {
            dasgupta_odour o = dasgupta_draw(4 + trial, n);
            x[n * trials + trial] = dasgupta_novelty(f, &o);
            dasgupta_learn(f, &o);
        }
        bly_free(f);
    }
    lab_figure(l, "capacity", "learned,novelty,low,high,formula");
    for (size_t n = 0; n <= DASGUPTA_LEARNED; n += n < 10 ? 1 : 5) {
        lab_measure m = lab_mean(x + n * trials, trials);
        lab_row(l, "%zu,%.6g,%.6g,%.6g,%.6g", n, m.value, m.low, m.high,
                pow(1 - (double)DASGUPTA_TAG / DASGUPTA_CELLS, (double)n));
    }
    for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
        char what[64];
        snprintf(what, sizeof what, "novelty of an odour after %zu others",
                 table[row].learned);
        dasgupta_claim(l, what, table[row].novelty,
                       x + table[row].learned * trials, trials);
    }
    free(x);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t trials = lab_pick(&l, 2, 40, DASGUPTA_MOST);
    dasgupta_connect();
    dasgupta_similar(&l, trials);
    dasgupta_capacity(&l, trials);
    return lab_close(&l);
}
