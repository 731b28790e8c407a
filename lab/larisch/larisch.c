/* larisch.c - who is revoked, without error [Larisch et al. 2017].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { LARISCH_FORMS = 2 };

static const char *const larisch_form[LARISCH_FORMS] = {
    "cascade:of=standard", "cascade:of=ribbon"
};

/* Bits of a listed key; how many keys get a wrong answer is added to *wrong. */
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
    if (bly_build_labels(&f, kind, NULL, keys, labels, n) < 0)
        lab_stop(kind, bly_why());
    bly_contains_many(f, keys, n, present);
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

/* Levels of half-full Bloom filters, as the paper sizes them. */
static double larisch_formula(double listed, double others)
{
    return 1.4427 * log2(others / listed) + 4.196;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t listed = lab_pick(&l, 200, 30000, 50000), wrong = 0;
    uint64_t most = lab_pick(&l, 16, 64, 256);
    size_t rounds = lab_pick(&l, 2, 5, 10);
    double off = 0, least = INFINITY, nearest = INFINITY, last_formula = 0;
    lab_measure last = { 0 };
    lab_figure(&l, "cascade", "others a listed key,standard,low,high,ribbon,"
                              "low,high,formula,limit");
    for (uint64_t ratio = 4; ratio <= most; ratio *= 2) {
        double bits[LARISCH_FORMS][10];
        uint64_t others = listed * ratio;
        for (size_t i = 0; i < LARISCH_FORMS; i++)
            for (size_t j = 0; j < rounds; j++)
                bits[i][j] = larisch_bits(larisch_form[i], listed, others, j,
                                          &wrong);
        lab_measure plain = lab_mean(bits[0], rounds);
        lab_measure ribbon = lab_mean(bits[1], rounds);
        double limit = lab_choose((double)(listed + others), (double)listed)
                     / (double)listed;
        double formula = larisch_formula((double)listed, (double)others);
        lab_row(&l, "%.0f,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g",
                (double)ratio, plain.value, plain.low, plain.high,
                ribbon.value, ribbon.low, ribbon.high, formula, limit);
        off = fmax(off, fabs(plain.value / formula - 1));
        least = fmin(least, plain.low / ribbon.high);
        nearest = fmin(nearest, ribbon.value / limit);
        last = plain;
        last_formula = formula;
    }
    lab_says(&l, "the formula tells the size within 3 %, however many others "
                 "there are", off < 0.03,
             "%.2f %% off at most; %.2f (%.2f … %.2f) bits of a listed key "
             "for %.2f, where there are %.0f others for each", off * 100,
             last.value, last.low, last.high, last_formula, (double)most);
    lab_says(&l, "no certificate gets a wrong answer", wrong == 0,
             "%.0f wrong answers", (double)wrong);
    lab_says(&l, "ours: with ribbon filters for the first levels it is "
                 "smaller", least > 1,
             "one of Bloom filters is at least %.2f times as large; this one "
             "is at best %.0f %% above the limit of information", least,
             100 * (nearest - 1));
    return lab_close(&l);
}
