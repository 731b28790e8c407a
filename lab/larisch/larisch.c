/* larisch.c - revocation lists without errors [Larisch et al. 2017].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

#include <stdlib.h>
#include <string.h>

enum { LARISCH_FORMS = 2, LARISCH_ROUNDS = 10 };

static const char *const larisch_form[LARISCH_FORMS] = {
    "cascade:of=standard", "cascade:of=ribbon"
};

/* Returns bits per listed key; adds the number of wrong answers to *wrong. */
static double larisch_bits(const char *kind, uint64_t listed, uint64_t others,
                           uint64_t series, uint64_t *wrong)
{
    uint64_t n = listed + others;
    uint64_t *keys = lab_allocate(n * sizeof *keys);
    uint64_t *labels = lab_allocate(n * sizeof *labels);
    bool *present = lab_allocate(n * sizeof *present);
    lab_keys(keys, n, series, 0);
    for (uint64_t i = 0; i < n; i++)
        labels[i] = i < listed;
    bly_filter *f;
    if (bly_build(&f, kind, NULL,
                  &(bly_keys){ .n = n, .hashes = keys, .labels = labels }) < 0)
        lab_stop(kind, bly_why());
    bly_contains_hashes(f, keys, n, present);
    for (uint64_t i = 0; i < n; i++)
        *wrong += present[i] != (i < listed);
    size_t bytes;
    bly_raw(f, &bytes);
    bly_free(f);
    free(keys);
    free(labels);
    free(present);
    return 8 * (double)bytes / (double)listed;
}

/* Levels of half-full Bloom filters, in the paper's sizes. */
static double larisch_formula(double listed, double others)
{
    return 1.4427 * log2(others / listed) + 4.196;
}

/* Cases by the number of other keys per listed key. */
typedef struct {
    double      ratio, formula, limit;
    lab_measure bits[LARISCH_FORMS];
} larisch_point;

static larisch_point larisch_measure(lab *l, uint64_t ratio, uint64_t *wrong)
{
    size_t rounds = lab_pick(l, 2, 5, LARISCH_ROUNDS);
    uint64_t listed = lab_pick(l, 200, 30000, 50000), others = listed * ratio;
    larisch_point p = {
        .ratio = (double)ratio,
        .formula = larisch_formula((double)listed, (double)others),
        .limit = lab_choose((double)(listed + others), (double)listed)
               / (double)listed,
    };
    for (size_t i = 0; i < LARISCH_FORMS; i++) {
        double bits[LARISCH_ROUNDS];
        for (size_t j = 0; j < rounds; j++)
            bits[j] = larisch_bits(larisch_form[i], listed, others, j, wrong);
        p.bits[i] = lab_mean(bits, rounds);
    }
    return p;
}

static void larisch_claims(lab *l, const larisch_point *point, size_t points,
                           uint64_t wrong)
{
    double off = 0, least = INFINITY, nearest = INFINITY;
    const larisch_point *last = &point[points - 1];
    for (const larisch_point *p = point; p <= last; p++) {
        off = fmax(off, fabs(p->bits[0].value / p->formula - 1));
        least = fmin(least, p->bits[0].low / p->bits[1].high);
        nearest = fmin(nearest, p->bits[1].value / p->limit);
    }
    lab_says(l, "the formula tells the size within 3 %, however many others "
                "there are", off < 0.03,
             "%.2f %% off at most; %.2f (%.2f … %.2f) bits of a listed key for "
             "%.2f, where there are %.0f others for each", off * 100,
             last->bits[0].value, last->bits[0].low, last->bits[0].high,
             last->formula, last->ratio);
    lab_says(l, "no certificate gets a wrong answer", wrong == 0,
             "%.0f wrong answers", (double)wrong);
    lab_says(l, "ours: with ribbon filters for the first levels it is smaller",
             least > 1,
             "one of Bloom filters is at least %.2f times as large; this one "
             "is at best %.0f %% above the limit of information", least,
             100 * (nearest - 1));
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    larisch_point point[8];
    uint64_t most = lab_pick(&l, 16, 64, 256), wrong = 0;
    size_t points = 0;
    lab_figure(&l, "cascade", "others a listed key,standard,low,high,ribbon,"
                              "low,high,formula,limit");
    for (uint64_t ratio = 4; ratio <= most; ratio *= 2) {
        larisch_point p = larisch_measure(&l, ratio, &wrong);
        lab_row(&l, "%.0f,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g", p.ratio,
                p.bits[0].value, p.bits[0].low, p.bits[0].high,
                p.bits[1].value, p.bits[1].low, p.bits[1].high, p.formula,
                p.limit);
        point[points++] = p;
    }
    larisch_claims(&l, point, points, wrong);
    return lab_close(&l);
}
