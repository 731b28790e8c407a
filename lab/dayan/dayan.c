/* dayan.c - how to divide bits among the filters of a log-structured store
 * [Dayan, Athanassoulis & Idreos 2017].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { DAYAN_RUNS = 3, DAYAN_RATIO = 10 };

/* The filters of a store. Run i has DAYAN_RATIO^i parts of the keys. */
typedef struct {
    uint64_t keys[DAYAN_RUNS], all;
    double   rate[DAYAN_RUNS];
} dayan_store;

/* Sets the rate of each run: `each` for each of its keys or, if even, for each
 * run. Returns the bits of all filters; a rate of 1 needs none. */
static double dayan_bits(dayan_store *s, double each, bool even)
{
    double bits = 0;
    for (size_t i = 0; i < DAYAN_RUNS; i++) {
        bly_plan_t plan;
        s->rate[i] = each * (even ? 1 : (double)s->keys[i]);
        if (s->rate[i] >= 1)
            continue;
        bly_spec spec = { .capacity = s->keys[i], .rate = s->rate[i] };
        if (bly_plan(&plan, "standard", &spec) < 0)
            return INFINITY;
        bits += 8 * (double)(plan.bytes - BLY_HEADER_BYTES);
    }
    return bits;
}

/* Sets the lowest rates for so many bits per key. */
static void dayan_divide(dayan_store *s, double bits, bool even)
{
    double low = -64, high = 0;         /* exponents of 2 */
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        bool more = dayan_bits(s, exp2(middle), even) > bits * (double)s->all;
        *(more ? &low : &high) = middle;
    }
    dayan_bits(s, exp2(high), even);
}

/* Returns the reads of an absent key, all of them in vain. */
static lab_measure dayan_reads(const lab *l, const dayan_store *s)
{
    unsigned stores = (unsigned)lab_pick(l, 2, 10, 30);
    uint64_t asked = lab_pick(l, 100, 100000, 1000000);
    lab_measure sum = { 0, 0, 0 };
    for (size_t i = 0; i < DAYAN_RUNS; i++) {
        lab_measure m = { 1, 1, 1 };
        if (s->rate[i] < 1)
            m = lab_rate("standard", s->rate[i], s->keys[i], stores, asked);
        sum.value += m.value;
        sum.low += m.low;
        sum.high += m.high;
    }
    return sum;
}

/* The paper's reads: the sum of all rates, for any number of bits and probes.
 * Even rates: L e^-b, with b = (bits per key) ln^2 2. In proportion to the keys
 * of each run, the last of which is T times as large as the one before:
 * T^(T / (T - 1)) / (T - 1) e^-b, which is exact for infinitely many runs. */
static double dayan_formula(double bits, bool even)
{
    double t = DAYAN_RATIO;
    return exp(-bits * log(2) * log(2))
         * (even ? DAYAN_RUNS : pow(t, t / (t - 1)) / (t - 1));
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    dayan_store s = { .all = 0 };
    uint64_t keys = lab_pick(&l, 10, 1000, 10000);
    unsigned fewer = 0, half = 0, budgets = 0;
    for (size_t i = 0; i < DAYAN_RUNS; i++) {
        s.keys[i] = keys;
        s.all += keys;
        keys *= DAYAN_RATIO;
    }
    lab_figure(&l, "reads", "bits,even,low,high,formula,proportional,low,high,"
                            "formula");
    for (double bits = 4; bits <= 14; bits += 2, budgets++) {
        dayan_divide(&s, bits, true);
        lab_measure even = dayan_reads(&l, &s);
        dayan_divide(&s, bits, false);
        lab_measure ours = dayan_reads(&l, &s);
        lab_row(&l, "%g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", bits,
                even.value, even.low, even.high, dayan_formula(bits, true),
                ours.value, ours.low, ours.high, dayan_formula(bits, false));
        fewer += ours.high < even.low;
        half += ours.low <= even.high
              * dayan_formula(bits, false) / dayan_formula(bits, true);
    }
    lab_says(&l, "with the same memory, rates in proportion to the keys of the "
                 "runs need fewer reads than equal rates", fewer == budgets,
             "at %u of %u budgets", fewer, budgets);
    lab_says(&l, "ours: with three runs, each ten times as large as the one "
                 "before, they need less than half of the reads",
             half == budgets, "the formula's factor of %.3f, or less, is "
             "within the intervals at %u of %u budgets",
             dayan_formula(1, false) / dayan_formula(1, true), half, budgets);
    return lab_close(&l);
}
