/* stern.c - hash compaction compared with a Bloom filter of as many bits per
 * state [Stern & Dill 1996; Dillinger & Manolios 2004].
 *
 * See lab.h and essay.html beside this file.
 *
 * A plan computes a size from a rate; here the size is given, so the rate is
 * found by halving its logarithm.
 */
#include "lab.h"

enum { STERN_STATES = 1000000, STERN_STEPS = 40, STERN_SLOWEST = 36,
       STERN_LEAST = 8, STERN_MOST = 48 };

static double stern_bits(const char *kind, double log_rate)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = STERN_STATES, .rate = exp2(log_rate) };
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop("plan", bly_why());
    return plan.bits_per_key;
}

/* Returns log2 of the lowest rate for that many bits per state. */
static double stern_rate(const char *kind, double bits)
{
    double low = -STERN_SLOWEST, high = -1;
    for (unsigned i = 0; i < STERN_STEPS; i++) {
        double middle = (low + high) / 2;
        if (stern_bits(kind, middle) <= bits)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static lab_measure stern_measure(lab *l, const char *kind, double log_rate)
{
    return lab_rate(kind, exp2(log_rate), lab_pick(l, 1000, 100000, 1000000),
                    (unsigned)lab_pick(l, 2, 5, 20),
                    lab_pick(l, 100, 1000000, 10000000));
}

/* Returns the signatures compared by an unsuccessful search at load a: with
 * random slots for each probe, or consecutive ones [Knuth 1973]. */
static double stern_anew(double a)
{
    return a / (1 - a);
}

static double stern_row(double a)
{
    return (1 / ((1 - a) * (1 - a)) - 1) / 2;
}

/* Returns log2 of the rate of a full table of the literature, with the best
 * signature length: (1 - 2^-b)^t is the chance that none of t matches. */
static double stern_table(double bits, double (*compared)(double))
{
    double best = 0;
    for (double b = 1; b < bits; b++) {
        double rate = -expm1(compared(b / bits) * log1p(-exp2(-b)));
        best = fmin(best, log2(rate));
    }
    return best;
}

/* Returns the bits from which the table is never worse than a Bloom filter. */
static double stern_crossing(double (*compared)(double))
{
    double bits = STERN_MOST;
    while (bits > STERN_LEAST
           && stern_table(bits, compared) <= -bits * log(2))
        bits -= 0.1;
    return bits + 0.1;
}

static void stern_claim(lab *l, unsigned bits, double standard, double table)
{
    char what[128];
    snprintf(what, sizeof what, "with %u bits a state hash compaction is much "
             "more accurate: at most a tenth of the rate", bits);
    lab_says(l, what, table <= standard - log2(10),
             "2^%.2f against 2^%.2f, %.3g times as much", table, standard,
             exp2(table - standard));
}

static void stern_curve(lab *l)
{
    double most = 0, bits_most = 0;
    unsigned step = (unsigned)lab_pick(l, 8, 1, 1);
    lab_figure(l, "bits", "bits a state,standard,slots anew,slots in a row,"
                          "ours,ours measured,low,high");
    for (unsigned bits = STERN_LEAST; bits <= STERN_MOST; bits += step) {
        double standard = stern_rate("standard", bits);
        double ours = stern_rate("compaction", bits);
        double anew = stern_table(bits, stern_anew);
        lab_measure m = { NAN, NAN, NAN };
        if (bits % 4 == 0 && bits <= 16)
            m = stern_measure(l, "compaction", ours);
        lab_row(l, "%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", bits,
                exp2(standard), exp2(anew), exp2(stern_table(bits, stern_row)),
                exp2(ours), m.value, m.low, m.high);
        if (bits == 16 || bits == 24 || bits == 40)
            stern_claim(l, bits, standard, anew);
        if (bits == STERN_LEAST || standard - ours > most) {
            most = standard - ours;
            bits_most = bits;
        }
    }
    double anew = stern_crossing(stern_anew), row = stern_crossing(stern_row);
    lab_says(l, "ours: with few bits a state the Bloom filter is the more "
                "accurate one", anew > STERN_LEAST && row > STERN_LEAST,
             "a full table is never worse from %.1f bits on with slots chosen "
             "anew, from %.1f with slots in a row", anew, row);
    lab_says(l, "ours: tables in lines of the cache do not reach a Bloom "
                "filter of as many bits", most < 0,
             "best with %.0f bits: 2^%.2f times its rate", bits_most, -most);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    stern_curve(&l);
    return lab_close(&l);
}
