/* broder.c - rate by number of probes [Broder & Mitzenmacher 2004], and by
 * number of keys.
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { BRODER_KEYS = 20000, BRODER_MOST = 20 };

static const struct { unsigned bits, best; double rate, within; }
broder_table[] = {
    { 8, 6, 0.021577, 5e-7 }, { 10, 7, 8.1937e-3, 5e-8 },
    { 16, 11, 4.5871e-4, 5e-9 },
};
enum { BRODER_SIZES = sizeof broder_table / sizeof *broder_table };

/* ---- Rate by probes ----------------------------------------------------- */

/* A number of probes is as good as the best one if their intervals meet. */
static void broder_claim(lab *l, size_t size, const lab_measure *rate)
{
    unsigned best = 1;
    for (unsigned k = 2; k <= BRODER_MOST; k++)
        if (rate[k].value < rate[best].value)
            best = k;
    char what[96];
    unsigned reported = broder_table[size].best;
    snprintf(what, sizeof what, "with %u bits a key no k is better than %u",
             broder_table[size].bits, reported);
    lab_says(l, what, rate[reported].low <= rate[best].high,
             "k = %u: %.4g (%.4g … %.4g), least at k = %u: %.4g", reported,
             rate[reported].value, rate[reported].low, rate[reported].high,
             best, rate[best].value);
    snprintf(what, sizeof what, "rate of %u bits a key, k = %u",
             broder_table[size].bits, reported);
    lab_number(l, what, broder_table[size].rate, broder_table[size].within,
               rate[reported]);
}

static void broder_probes(lab *l)
{
    lab_figure(l, "probes", "bits a key,k,rate,low,high,formula");
    unsigned filters = (unsigned)lab_pick(l, 2, 20, 100);
    uint64_t asked = lab_pick(l, 100, 200000, 1000000);
    for (size_t i = 0; i < BRODER_SIZES; i++) {
        lab_measure rate[BRODER_MOST + 1];
        double m = (double)BRODER_KEYS * broder_table[i].bits;
        for (unsigned k = 1; k <= BRODER_MOST; k++) {
            char kind[64];
            snprintf(kind, sizeof kind, "standard:m=%.0f,k=%u", m, k);
            rate[k] = lab_rate(kind, 0, BRODER_KEYS, filters, asked);
            lab_row(l, "%u,%u,%.6g,%.6g,%.6g,%.6g", broder_table[i].bits, k,
                    rate[k].value, rate[k].low, rate[k].high,
                    lab_classic(m, BRODER_KEYS, k));
        }
        broder_claim(l, i, rate);
    }
}

/* ---- Rate by keys ------------------------------------------------------- */

/* Sizes start at 2^12 bits, each four times the last; the plan is for ten bits
 * per key. Fills start at 16 bits per key and go by the root of two. */
enum { BRODER_ROWS = 4, BRODER_FIRST = 12, BRODER_PLANNED = 7,
       BRODER_FILLS = 10 };

static const double broder_sparse = 16;

/* A curve: the measured rate at each fill, and the formula's. */
typedef struct { lab_measure rate[BRODER_FILLS]; double formula[BRODER_FILLS]; }
broder_curve;

static double broder_bits(unsigned fill)
{
    return broder_sparse / pow(2, fill / 2.0);
}

static uint64_t broder_keys(double m, unsigned fill)
{
    return (uint64_t)lround(m / broder_bits(fill));
}

/* Returns the best whole k for that many keys. */
static unsigned broder_best(double m, double n)
{
    unsigned best = 1;
    for (unsigned k = 2; k <= BRODER_MOST; k++)
        if (lab_classic(m, n, k) < lab_classic(m, n, best))
            best = k;
    return best;
}

/* Returns the k of a point: the plan's (0), or the best for its keys. */
static unsigned broder_k(unsigned k, double m, unsigned fill)
{
    return k > 0 ? k : broder_best(m, (double)broder_keys(m, fill));
}

static broder_curve broder_measure(const lab *l, double m, unsigned k)
{
    unsigned filters = (unsigned)lab_pick(l, 2, 24, 100);
    uint64_t asked = lab_pick(l, 100, 50000, 200000);
    broder_curve c;
    for (unsigned i = 0; i < BRODER_FILLS; i++) {
        char kind[64];
        unsigned probes = broder_k(k, m, i);
        uint64_t n = broder_keys(m, i);
        snprintf(kind, sizeof kind, "standard:m=%.0f,k=%u", m, probes);
        c.rate[i] = lab_rate(kind, 0, n, filters, asked);
        c.formula[i] = lab_classic(m, (double)n, probes);
    }
    return c;
}

/* Claims for how many points the interval contains the formula, and how far off
 * the farthest is. */
static void broder_within(lab *l, const char *statement,
                          const broder_curve *curve, unsigned rows)
{
    unsigned met = 0, points = rows * BRODER_FILLS;
    double far = 0;
    for (unsigned i = 0; i < points; i++) {
        const broder_curve *c = &curve[i / BRODER_FILLS];
        lab_measure r = c->rate[i % BRODER_FILLS];
        double formula = c->formula[i % BRODER_FILLS];
        met += r.low <= formula && formula <= r.high;
        far = fmax(far, fabs(r.value / formula - 1));
    }
    lab_says(l, statement, met == points,
             "of %u points %u have the formula in their interval; the farthest "
             "is %.1f %% from it", points, met, 100 * far);
}

/* Claims that the intervals of all rows at one fill share a number. */
static void broder_alike(lab *l, const broder_curve *curve, unsigned rows)
{
    unsigned alike = 0;
    for (unsigned i = 0; i < BRODER_FILLS; i++) {
        double low = 0, high = 1;
        for (unsigned j = 0; j < rows; j++) {
            low = fmax(low, curve[j].rate[i].low);
            high = fmin(high, curve[j].rate[i].high);
        }
        alike += low <= high;
    }
    lab_says(l, "the rate depends on m/n alone: the curves of all m are one, "
                "shifted", alike == BRODER_FILLS,
             "at %u of %d values of m/n the intervals of rows of 2^%d to 2^%d "
             "bits meet", alike, BRODER_FILLS, BRODER_FIRST,
             BRODER_FIRST + 2 * ((int)rows - 1));
}

static void broder_against_keys(lab *l)
{
    broder_curve planned[BRODER_ROWS], best[BRODER_ROWS];
    unsigned rows = (unsigned)lab_pick(l, 2, BRODER_ROWS, BRODER_ROWS);
    lab_figure(l, "keys", "bits,keys,planned k,rate,low,high,formula,best k,"
                          "rate,low,high,formula");
    for (unsigned j = 0; j < rows; j++) {
        double m = ldexp(1, BRODER_FIRST + 2 * (int)j);
        planned[j] = broder_measure(l, m, BRODER_PLANNED);
        best[j] = broder_measure(l, m, 0);
        for (unsigned i = 0; i < BRODER_FILLS; i++) {
            lab_measure p = planned[j].rate[i], b = best[j].rate[i];
            lab_row(l, "%.0f,%.0f,%d,%.6g,%.6g,%.6g,%.6g,%u,%.6g,%.6g,%.6g,"
                    "%.6g", m, (double)broder_keys(m, i), BRODER_PLANNED,
                    p.value, p.low, p.high, planned[j].formula[i],
                    broder_k(0, m, i), b.value, b.low, b.high,
                    best[j].formula[i]);
        }
    }
    broder_within(l, "rate against keys, k = 7 as planned for 10 bits a key: "
                     "as the formula says", planned, rows);
    broder_within(l, "rate against keys, k the best for each number of them: "
                     "as the formula says", best, rows);
    broder_alike(l, planned, rows);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    broder_probes(&l);
    broder_against_keys(&l);
    return lab_close(&l);
}
