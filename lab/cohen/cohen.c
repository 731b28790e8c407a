/* cohen.c - how often keys occurred, counted with three rules for raising
 * counters [Cohen & Matias 2003; Estan & Varghese 2002].
 *
 * See lab.h and essay.html beside this file. Two of the rules are those of kind
 * `counting`; recurring minimum is simulated here, with the same memory.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum {
    COHEN_KEYS = 5000, COHEN_ADDS = 100000, COHEN_K = 5,
    COHEN_M = COHEN_KEYS * COHEN_K * 10 / 7,    /* 0.7 keys' probes each     */
    COHEN_FIRST = COHEN_M * 4 / 5,              /* about the best share */
    COHEN_SECOND = COHEN_M - COHEN_FIRST,
    COHEN_RUNS = 40, COHEN_RULES = 3
};

static const char *const cohen_rule[COHEN_RULES] = { "every", "least",
                                                     "recurring" };

/* ---- Skewed keys --------------------------------------------------------- */

/* Sets share[i] to the share of keys 0 .. i in all adds, if key i has weight 1
 * / (i+1)^skew. */
static void cohen_zipf(double *share, double skew)
{
    double sum = 0;
    for (int i = 0; i < COHEN_KEYS; i++)
        share[i] = sum += pow(i + 1, -skew);
    for (int i = 0; i < COHEN_KEYS; i++)
        share[i] /= sum;
}

static unsigned cohen_draw(const double *share, uint64_t series, uint64_t i)
{
    double at = (double)(lab_key(series, i) >> 11) * 0x1p-53;
    unsigned low = 0, high = COHEN_KEYS - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (share[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- Recurring minimum --------------------------------------------------- */

typedef struct {
    uint32_t first[COHEN_FIRST], second[COHEN_SECOND];
} cohen_rows;

/* A key's counters in a row of m: their minimum, and how many equal it. */
typedef struct {
    uint32_t *at[COHEN_K], least;
    unsigned times;
} cohen_seen;

static cohen_seen cohen_look(uint32_t *row, uint64_t m, uint64_t key)
{
    cohen_seen seen = { .least = UINT32_MAX };
    for (unsigned j = 0; j < COHEN_K; j++) {
        uint64_t high = lab_key(7000 + j, key & 0xffffffffff) >> 32;
        seen.at[j] = &row[high * m >> 32];
        if (*seen.at[j] < seen.least) {
            seen.least = *seen.at[j];
            seen.times = 0;
        }
        seen.times += *seen.at[j] == seen.least;
    }
    return seen;
}

static void cohen_raise(cohen_seen *seen, uint32_t by)
{
    for (unsigned j = 0; j < COHEN_K; j++)
        *seen->at[j] += by;
}

/* A key with a single minimal counter also uses the second row, where it starts
 * with that value. */
static void cohen_add(cohen_rows *rows, uint64_t key)
{
    cohen_seen one = cohen_look(rows->first, COHEN_FIRST, key);
    cohen_raise(&one, 1);
    one = cohen_look(rows->first, COHEN_FIRST, key);
    cohen_seen two = cohen_look(rows->second, COHEN_SECOND, key);
    if (two.least > 0)
        cohen_raise(&two, 1);
    else if (one.times < 2)
        for (unsigned j = 0; j < COHEN_K; j++)
            if (*two.at[j] < one.least)
                *two.at[j] = one.least;
}

static uint64_t cohen_count(cohen_rows *rows, uint64_t key)
{
    cohen_seen one = cohen_look(rows->first, COHEN_FIRST, key);
    cohen_seen two = cohen_look(rows->second, COHEN_SECOND, key);
    return one.times < 2 && two.least > 0 && two.least < one.least ? two.least
                                                                   : one.least;
}

/* ---- A run -------------------------------------------------------------- */

/* The mean error of all counts, and the share that is too low. */
typedef struct { double error, low; } cohen_result;

static void cohen_judge(cohen_result *r, uint64_t counted, uint64_t truth)
{
    double off = (double)counted - (double)truth;
    r->error += fabs(off) / COHEN_KEYS;
    r->low += (counted < truth) / (double)COHEN_KEYS;
}

/* Applies the same adds with each rule. */
static void cohen_run(cohen_result *result, const double *share, unsigned run)
{
    static cohen_rows rows;
    static unsigned truth[COHEN_KEYS];
    uint64_t base = (uint64_t)run * COHEN_KEYS;
    bly_filter *f[2];
    memset(&rows, 0, sizeof rows);
    memset(truth, 0, sizeof truth);
    for (int r = 0; r < 2; r++)
        f[r] = lab_new(COHEN_KEYS, 0, "counting:m=%d,k=%d,bits=16,rule=%s",
                       COHEN_M, COHEN_K, cohen_rule[r]);
    for (uint64_t i = 0; i < COHEN_ADDS; i++) {
        unsigned id = cohen_draw(share, 1 + run, i);
        uint64_t key = lab_key(5000, base + id);
        truth[id]++;
        bly_add_hash(f[0], key);
        bly_add_hash(f[1], key);
        cohen_add(&rows, base + id);
    }
    for (unsigned id = 0; id < COHEN_KEYS; id++) {
        uint64_t key = lab_key(5000, base + id);
        cohen_judge(&result[0], bly_count_hash(f[0], key), truth[id]);
        cohen_judge(&result[1], bly_count_hash(f[1], key), truth[id]);
        cohen_judge(&result[2], cohen_count(&rows, base + id), truth[id]);
    }
    bly_free(f[0]);
    bly_free(f[1]);
}

/* ---- The figure --------------------------------------------------------- */

typedef struct { lab_measure error, low; } cohen_point;

static void cohen_measure(lab *l, cohen_point *point, double skew)
{
    static double share[COHEN_KEYS], error[COHEN_RULES][COHEN_RUNS],
                  low[COHEN_RULES][COHEN_RUNS];
    unsigned runs = (unsigned)lab_pick(l, 2, 6, COHEN_RUNS);
    cohen_zipf(share, skew);
    for (unsigned run = 0; run < runs; run++) {
        cohen_result result[COHEN_RULES] = { { 0, 0 } };
        cohen_run(result, share, run);
        for (int r = 0; r < COHEN_RULES; r++) {
            error[r][run] = result[r].error;
            low[r][run] = result[r].low;
        }
    }
    for (int r = 0; r < COHEN_RULES; r++) {
        point[r].error = lab_mean(error[r], runs);
        point[r].low = lab_mean(low[r], runs);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    double most = 0, fewest = INFINITY, behind = INFINITY, low = 0, wrong = 0,
           even = 0;
    lab_figure(&l, "error", "skew,every,low,high,least,low,high,recurring,low,"
                            "high,too low");
    double step = l.effort == LAB_TINY ? 1 : 0.25;
    for (double skew = 0; skew <= 1.5; skew += step) {
        cohen_point p[COHEN_RULES];
        cohen_measure(&l, p, skew);
        lab_row(&l, "%g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g",
                skew, p[0].error.value, p[0].error.low, p[0].error.high,
                p[1].error.value, p[1].error.low, p[1].error.high,
                p[2].error.value, p[2].error.low, p[2].error.high,
                p[2].low.value);
        double less = p[0].error.value / p[1].error.value;
        even = skew > 0 ? even : less;
        most = fmax(most, less);
        fewest = fmin(fewest, less);
        behind = fmin(behind, p[2].error.value / p[1].error.value);
        low = fmax(low, p[2].low.value);
        wrong = fmax(wrong, fmax(p[0].low.value, p[1].low.value));
    }
    lab_says(&l, "raising the least counters only errs less, whatever the skew",
             fewest > 1, "%.1f to %.1f times less, and %.1f times where all "
             "keys come equally often", fewest, most, even);
    lab_says(&l, "ours: neither of these two ever counts too low",
             wrong <= 0, "%g of the counts do", wrong);
    lab_says(&l, "ours: with the same memory recurring minimum errs more than "
                 "raising the least", behind > 1, "at least %.1f times as much",
             behind);
    lab_says(&l, "ours: recurring minimum counts some keys too low", low > 0,
             "up to %.2g %% of them", 100 * low);
    return lab_close(&l);
}
