/* floom.c - the Floom filter compared with standard ones [Schierz 2022, figures
 * 11 and 12], and over a wide range of parameters.
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>

#include <stdlib.h>
#include <string.h>

/* Floom; a standard filter of its row alone; standard ones of the same total
 * size, with the same k and with the best. */
typedef enum { FLOOM, ROW, SAME, BEST, FILTERS } floom_who;

enum { FLOOM_NAME = 64, FLOOM_MOST = 1000, FLOOM_ROUNDS = 101,
       FLOOM_B_MOST = 20, FLOOM_CASES = 8 };

/* The author's measurements for a rate of 1 % and b = 16: n of a million
 * numbers inserted, the others queried. Then the model of essay.html. */
static const struct { uint64_t n; double who[FILTERS], model; }
floom_author[FLOOM_CASES] = {
    { 500, { 2.39e-4, 0.010522, NAN, 0 }, 2.378e-4 },
    { 1000, { 4.52e-4, 0.009706, NAN, 0 }, 4.710e-4 },
    { 10000, { 3.593e-3, 0.009763, NAN, 4.23e-4 }, 3.751e-3 },
    { 50000, { 8.637e-3, 0.010043, NAN, 5.283e-3 }, 8.658e-3 },
    { 100000, { 9.663e-3, 0.010096, NAN, 7.228e-3 }, 9.643e-3 },
    { 200000, { 9.928e-3, 0.009979, NAN, 8.551e-3 }, 9.977e-3 },
    { 300000, { 1.0106e-2, 0.010133, NAN, 9.103e-3 }, 1.0026e-2 },
    { 500000, { 9.964e-3, 0.009968, NAN, 9.268e-3 }, 1.0037e-2 },
};

/* ---- Comparisons ------------------------------------------------------- */

typedef struct {
    uint64_t n;
    unsigned b, k;
    char     kind[FILTERS][FLOOM_NAME];
} floom_case;

/* Returns a row of the textbook's size for the rate, in whole bytes. With k =
 * 0, the textbook's k. */
static floom_case floom_of(uint64_t n, double rate, unsigned b, unsigned k)
{
    double bits = (double)n * log(1 / rate) / (log(2) * log(2));
    double m = 8 * ceil(bits / 8), all = m + ldexp(1, (int)b);
    floom_case c = { .n = n, .b = b, .k = k };
    if (k == 0)
        c.k = (unsigned)fmax(1, round(log2(1 / rate)));
    snprintf(c.kind[FLOOM], FLOOM_NAME, "floom:m=%.0f,k=%u,b=%u", m, c.k, b);
    snprintf(c.kind[ROW], FLOOM_NAME, "standard:m=%.0f,k=%u", m, c.k);
    snprintf(c.kind[SAME], FLOOM_NAME, "standard:m=%.0f,k=%u", all, c.k);
    snprintf(c.kind[BEST], FLOOM_NAME, "standard:m=%.0f", all);
    return c;
}

static bly_plan_t floom_plan(const floom_case *c, floom_who who)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = c->n };
    if (bly_plan(&plan, c->kind[who], &spec) < 0)
        lab_stop(c->kind[who], bly_why());
    return plan;
}

/* Patterns of j of b regions: their number, and the chance of each. */
typedef struct {
    double many[FLOOM_B_MOST + 1], chance[FLOOM_B_MOST + 1];
} floom_patterns;

static floom_patterns floom_patterns_of(unsigned b, unsigned k)
{
    floom_patterns p = { .many = { 1 }, .chance = { 1 } };
    for (unsigned j = 1; j <= b; j++)
        p.many[j] = p.many[j - 1] * (b - j + 1) / j;
    for (unsigned i = 0; i < k; i++) {
        for (unsigned j = b; j > 0; j--)
            p.chance[j] = (p.chance[j] + p.chance[j - 1]) * j / b;
        p.chance[0] = 0;
    }
    return p;
}

/* Computes the model: f H. */
static double floom_model(const floom_case *c)
{
    floom_patterns p = floom_patterns_of(c->b, c->k);
    double there = 0;
    for (unsigned j = 1; j <= c->b; j++)
        there -= p.many[j] * p.chance[j]
               * expm1((double)c->n * log1p(-p.chance[j]));
    return floom_plan(c, ROW).rate * there;
}

typedef struct {
    lab_measure rate[FILTERS], kept;    /* kept: of the row's, by the array */
} floom_rates;

/* Returns how many filters take that many keys together: filters of few keys
 * vary a lot. */
static unsigned floom_filters(const lab *l, uint64_t n, uint64_t keys)
{
    uint64_t filters = keys / n, least = lab_pick(l, 1, 8, 24);
    return (unsigned)(filters > FLOOM_MOST ? FLOOM_MOST
                      : filters < least    ? least : filters);
}

/* All get the same keys and queries, so the part of the row's rate that the
 * array keeps is known better than either rate. */
static floom_rates floom_measure(const lab *l, const floom_case *c)
{
    double share[FILTERS][FLOOM_MOST], kept[FLOOM_MOST];
    uint64_t keys = lab_pick(l, c->n, 1000000, 20000000);
    unsigned filters = floom_filters(l, c->n, keys);
    uint64_t each = lab_pick(l, 1000, 4000000, 100000000) / filters;
    floom_rates r;
    for (unsigned i = 0; i < filters; i++) {
        for (floom_who w = FLOOM; w < FILTERS; w++) {
            bly_filter *f = lab_build(c->n, 0, 2 * i, c->kind[w]);
            share[w][i] = (double)lab_hits(f, 2 * i + 1, each) / (double)each;
            bly_free(f);
        }
        kept[i] = share[FLOOM][i] / share[ROW][i];
    }
    for (floom_who w = FLOOM; w < FILTERS; w++)
        r.rate[w] = lab_shares(share[w], filters, each);
    r.kept = lab_mean(kept, filters);
    return r;
}

/* ---- Figure 11: rate --------------------------------------------------- */

/* Returns the author's random error: he had one filter, and queried it 10^6 - n
 * times. */
static double floom_noise(const floom_case *c, floom_who who)
{
    bly_plan_t plan = floom_plan(c, who);
    double asked = 1e6 - (double)c->n;
    return lab_z * hypot(sqrt(plan.rate * (1 - plan.rate) / asked),
                           plan.rate_sd);
}

static void floom_author_claims(lab *l, const floom_case *c,
                                const floom_rates *r)
{
    char what[96];
    unsigned others = 0;
    for (int i = 0; i < FLOOM_CASES; i++) {
        snprintf(what, sizeof what, "the author's measurement, %.0f keys",
                 (double)c[i].n);
        lab_number(l, what, floom_author[i].who[FLOOM],
                   floom_noise(&c[i], FLOOM), r[i].rate[FLOOM]);
        for (floom_who w = ROW; w < FILTERS; w += BEST - ROW) {
            double noise = floom_noise(&c[i], w), at = floom_author[i].who[w];
            others += r[i].rate[w].low - noise <= at
                   && at <= r[i].rate[w].high + noise;
        }
    }
    lab_says(l, "the author's measurements of both standard filters are as "
                "ours, but for chance", others == 2 * FLOOM_CASES,
             "%u of %d are", others, 2 * FLOOM_CASES);
}

static void floom_model_claims(lab *l, const floom_case *c,
                               const floom_rates *r)
{
    char what[96];
    unsigned met = 0;
    for (int i = 0; i < FLOOM_CASES; i++) {
        double plan = floom_plan(&c[i], FLOOM).rate;
        snprintf(what, sizeof what, "ours: the model f H, %.0f keys",
                 (double)c[i].n);
        lab_number(l, what, floom_author[i].model,
                   floom_author[i].model * 2e-4, r[i].rate[FLOOM]);
        met += r[i].rate[FLOOM].low <= plan && plan <= r[i].rate[FLOOM].high;
    }
    lab_says(l, "ours: the plan, which counts also that keys of one pattern "
                "share their regions, is met", met == FLOOM_CASES,
             "in %u of %d cases", met, FLOOM_CASES);
}

static void floom_rate_claims(lab *l, const floom_case *c,
                              const floom_rates *r)
{
    bool below = true, equal = true, above = true;
    double least = INFINITY, last = 1;
    for (int i = 0; i < FLOOM_CASES; i++) {
        below = below && (c[i].n > 10000 || r[i].kept.high < 0.5);
        equal = equal && (c[i].n < 200000 || r[i].kept.low > 0.99);
        above = above && r[i].rate[FLOOM].low > r[i].rate[SAME].high
                      && r[i].rate[FLOOM].low > r[i].rate[BEST].high;
        last = c[i].n < 200000 ? last : fmin(last, r[i].kept.value);
        least = fmin(least, r[i].rate[FLOOM].value / r[i].rate[BEST].value);
    }
    lab_says(l, "for few keys far below the standard filter of the original "
                "size", below, "%.3f of its rate at 500 keys, %.3f at 1000, "
                "%.3f at 10000, to be below a half", r[0].kept.value,
             r[1].kept.value, r[2].kept.value);
    lab_says(l, "from about 200000 keys on equal to it", equal,
             "%.4f of its rate or more, to be surely above 0.99", last);
    lab_says(l, "for any number of keys above the standard filter of equal "
                "total size", above, "at least %.3f times as high", least);
    floom_author_claims(l, c, r);
    floom_model_claims(l, c, r);
}

/* Writes a row; r, i: measured here, and the author's i-th, or NULL. */
static void floom_rate_row(lab *l, const floom_case *c, const floom_rates *r,
                           int i)
{
    double his = r == NULL ? NAN : floom_author[i].who[FLOOM];
    double other = r == NULL ? NAN : floom_author[i].who[BEST];
    char text[512] = "";
    for (floom_who w = FLOOM; w < FILTERS; w++) {
        lab_measure m = r == NULL ? (lab_measure){ NAN, NAN, NAN } : r->rate[w];
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%.6g,%.6g,%.6g,%.6g,",
                 m.value, m.low, m.high, floom_plan(c, w).rate);
    }
    lab_row(l, "%.0f,%s%.6g,%g,%g", (double)c->n, text, floom_model(c), his,
            other);
}

/* Plans a fine grid that includes all of the author's numbers. */
static void floom_figure_11(lab *l)
{
    static const double steps[] = { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 };
    enum { STEPS = sizeof steps / sizeof *steps };
    floom_case c[FLOOM_CASES];
    floom_rates r[FLOOM_CASES];
    int done = 0;
    lab_figure(l, "rate", "keys,floom,low,high,plan,row alone,low,high,plan,"
                          "as large,low,high,plan,as large best k,low,high,"
                          "plan,model,author's floom,author's as large");
    for (double ten = 100; ten <= 100000; ten *= 10)
        for (size_t i = 0; i < STEPS; i++) {
            uint64_t n = (uint64_t)(steps[i] * ten + 0.5);
            floom_case here = floom_of(n, 0.01, 16, 0);
            bool his = done < FLOOM_CASES && n == floom_author[done].n;
            if (n < 500 || n > 500000)
                continue;
            if (his) {
                c[done] = here;
                r[done] = floom_measure(l, &here);
            }
            floom_rate_row(l, &here, his ? &r[done] : NULL, done);
            done += his;
        }
    floom_rate_claims(l, c, r);
}

/* ---- Figure 12: insertion time ----------------------------------------- */

/* Returns ns per key, with keys added singly to several filters. */
static double floom_insert(const char *kind, const uint64_t *keys, uint64_t n,
                           uint64_t filters)
{
    double taken = 0;
    for (uint64_t i = 0; i < filters; i++) {
        bly_filter *f = lab_new(n, 0, "%s", kind);
        uint64_t result = 0;
        double start = lab_clock();
        for (uint64_t j = 0; j < n; j++)
            result += (uint64_t)bly_add(f, &keys[j], sizeof keys[j]);
        taken += lab_clock() - start;
        lab_sink += result;
        bly_free(f);
    }
    return taken / (double)(n * filters);
}

typedef struct {
    double time[FLOOM_CASES][FILTERS][FLOOM_ROUNDS];
} floom_clock;

/* Rounds go over all filters of all sizes in turn, so that a disturbance hits
 * one round of many instead of all rounds of one. */
static void floom_round(const lab *l, floom_clock *clock,
                        const floom_case *c, const uint64_t *keys, size_t round)
{
    uint64_t atleast = lab_pick(l, 1, 100000, 100000);
    for (int i = 0; i < FLOOM_CASES; i++)
        for (floom_who w = FLOOM; w < BEST; w++)
            clock->time[i][w][round] = floom_insert(c[i].kind[w], keys, c[i].n,
                                                    1 + atleast / c[i].n);
}

/* Returns the time of one relative to the standard filter of the original size
 * in the same round: the median of the rounds. */
static double floom_slower(const floom_clock *clock, int i, floom_who who,
                           size_t rounds)
{
    double times[FLOOM_ROUNDS];
    for (size_t r = 0; r < rounds; r++)
        times[r] = clock->time[i][who][r] / clock->time[i][ROW][r];
    return lab_median(times, rounds).value;
}

/* Returns that ratio over all sizes: each round gives a mean over sizes, and
 * the rounds show its precision. */
static lab_measure floom_overall(const floom_clock *clock, floom_who who,
                                 size_t rounds)
{
    double times[FLOOM_ROUNDS] = { 0 };
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < FLOOM_CASES; i++)
            times[r] += clock->time[i][who][r] / clock->time[i][ROW][r]
                      / FLOOM_CASES;
    return lab_mean(times, rounds);
}

static void floom_time_claims(lab *l, const floom_clock *clock, size_t rounds)
{
    lab_measure same = floom_overall(clock, SAME, rounds);
    double least = INFINITY, most = 0;
    bool always = true;
    for (int i = 0; i < FLOOM_CASES; i++) {
        double floom = floom_slower(clock, i, FLOOM, rounds);
        double large = floom_slower(clock, i, SAME, rounds);
        always = always && floom > fmax(large, 1);
        least = fmin(least, floom);
        most = fmax(most, floom);
    }
    lab_says(l, "an insert takes longer than with either standard filter, for "
                "any number of keys", always,
             "%.2f to %.2f times as long as with that of the original size",
             least, most);
    lab_number(l, "how many times as long, on the author's machine", 1.55, 0.05,
               floom_overall(clock, FLOOM, rounds));
    lab_says(l, "the two standard filters take the same time",
             fabs(same.value - 1) < 0.05,
             "%.3f (%.3f … %.3f) times as long, to be within 5 %%", same.value,
             same.low, same.high);
}

static void floom_figure_12(lab *l)
{
    size_t rounds = lab_pick(l, 1, 9, FLOOM_ROUNDS);
    uint64_t most = floom_author[FLOOM_CASES - 1].n;
    uint64_t *keys = lab_allocate(most * sizeof *keys);
    floom_clock *clock = lab_allocate(sizeof *clock);
    floom_case c[FLOOM_CASES];
    lab_keys(keys, most, 1, 0);
    for (int i = 0; i < FLOOM_CASES; i++)
        c[i] = floom_of(floom_author[i].n, 0.05, 8, 0);
    for (size_t i = 0; i < rounds; i++)
        floom_round(l, clock, c, keys, i);
    lab_figure(l, "time", "keys,floom,low,high,standard,low,high,as large,"
                          "low,high");
    floom_time_claims(l, clock, rounds);
    for (int i = 0; i < FLOOM_CASES; i++) {
        lab_measure t[BEST];
        for (floom_who w = FLOOM; w < BEST; w++)
            t[w] = lab_median(clock->time[i][w], rounds);
        lab_row(l, "%.0f,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g",
                (double)c[i].n, t[FLOOM].value, t[FLOOM].low, t[FLOOM].high,
                t[ROW].value, t[ROW].low, t[ROW].high, t[SAME].value,
                t[SAME].low, t[SAME].high);
    }
    free(keys);
    free(clock);
}

/* ---- The sweep --------------------------------------------------------- */

typedef struct {
    uint64_t plans, below, measured, better, worse, met;
    double   least, lowest;
    char     where[FLOOM_NAME];
} floom_found;

static double floom_ratio(const floom_case *c)
{
    return floom_plan(c, FLOOM).rate / floom_plan(c, BEST).rate;
}

/* Tries the planned k, and every k up to twice the textbook's, in case another
 * suits floom better. */
static void floom_wide(lab *l, floom_found *found)
{
    double step = pow(10, 1.0 / (double)lab_pick(l, 1, 4, 8));
    for (unsigned b = 3; b <= FLOOM_B_MOST; b++)
        for (double rate = 0.1; rate > 0.9e-4; rate /= sqrt(10))
            for (double n = 100; n < 1.1e7; n *= step)
                for (unsigned k = 1; k <= 2 * log2(1 / rate); k++) {
                    floom_case c = floom_of((uint64_t)n, rate, b, k);
                    double ratio = floom_ratio(&c);
                    found->plans++;
                    found->below += ratio < 1;
                    if (ratio >= found->least)
                        continue;
                    found->least = ratio;
                    snprintf(found->where, sizeof found->where,
                             "b = %u, k = %u, %.0f keys", b, k, n);
                }
}

/* Measures points whose rates are neither too close nor too far apart; the
 * lower the rate, the more strangers are needed. */
static lab_measure floom_point(lab *l, const floom_case *c, double rate)
{
    uint64_t asked = lab_pick(l, 1000, 30000, 150000);
    uint64_t keys = lab_pick(l, c->n, 500000, 10000000);
    unsigned filters = floom_filters(l, c->n, keys);
    asked = (uint64_t)((double)asked / rate / filters);
    lab_measure f = lab_rate(c->kind[FLOOM], 0, c->n, filters, asked);
    lab_measure s = lab_rate(c->kind[BEST], 0, c->n, filters, asked);
    return (lab_measure){ f.value / s.value, f.low / s.high, f.high / s.low };
}

static void floom_line(lab *l, double rate, unsigned b, floom_found *found)
{
    for (int i = -16; i <= 28; i++) {
        double each = exp2(i / 4.0);
        floom_case c = floom_of((uint64_t)ldexp(each, (int)b), rate, b, 0);
        double plan = floom_ratio(&c);
        lab_measure ratio = { NAN, NAN, NAN };
        if (b <= 16 && i >= -4 && i <= 8 && i % 4 == 0) {
            ratio = floom_point(l, &c, rate);
            found->measured++;
            found->better += ratio.high < 1;
            found->worse += ratio.low > 1;
            found->met += ratio.low <= plan && plan <= ratio.high;
            found->lowest = fmin(found->lowest, ratio.value);
        }
        lab_row(l, "%g,%u,%g,%.6g,%.6g,%.6g,%.6g", rate, b, each, plan,
                ratio.value, ratio.low, ratio.high);
    }
}

static void floom_sweep(lab *l)
{
    floom_found found = { .least = INFINITY, .lowest = INFINITY };
    lab_figure(l, "sweep", "asked for,b,keys a bit of the array,planned,"
                           "measured,low,high");
    for (double rate = 0.1; rate > 0.9e-3; rate /= 10)
        for (unsigned b = 8; b <= FLOOM_B_MOST; b += 4)
            floom_line(l, rate, b, &found);
    floom_wide(l, &found);
    lab_says(l, "never better than the standard filter of equal total size",
             found.worse == found.measured,
             "of %.0f cases surely worse in %.0f, surely better in %.0f; at "
             "least %.3f times its rate", (double)found.measured,
             (double)found.worse, (double)found.better, found.lowest);
    lab_says(l, "the same by our plans: rates 0.1 to 10⁻⁴, b from 3 to 20, 10² "
                "to 10⁷ keys, any k", found.below == 0,
             "better in %.0f of %.0f cases; at least 1 + %.1e times its rate "
             "(%s)", (double)found.below, (double)found.plans, found.least - 1,
             found.where);
    lab_says(l, "ours: the plans are what is measured",
             found.met == found.measured, "in %.0f of %.0f cases",
             (double)found.met, (double)found.measured);
}

/* ---- Bits that are never set ------------------------------------------- */

typedef struct { double reach, set, wrong; } floom_bits;

/* Counts the array's bits that can be set, that are set after n keys, and that
 * are set but should not be. */
static floom_bits floom_array(uint64_t n, unsigned b, unsigned k)
{
    char kind[FLOOM_NAME];
    size_t bytes;
    floom_bits bits = { 0, 0, 0 };
    snprintf(kind, sizeof kind, "floom:m=1000000,k=%u,b=%u", k, b);
    bly_filter *f = lab_build(n, 0, 1, kind);
    const uint8_t *image = bly_raw(f, &bytes);
    const uint8_t *extra = image + bytes - (UINT64_C(1) << b) / 8;
    for (uint64_t pattern = 0; pattern >> b == 0; pattern++) {
        unsigned regions = 0;
        for (unsigned i = 0; i < b; i++)
            regions += pattern >> i & 1;
        bool can = regions >= 1 && regions <= k;
        bool set = extra[pattern / 8] >> (pattern % 8) & 1;
        bits.reach += can;
        bits.set += set;
        bits.wrong += set && !can;
    }
    bly_free(f);
    return bits;
}

static void floom_dead(lab *l)
{
    static const unsigned probes[] = { 4, 7, 10, 13 };
    uint64_t n = lab_pick(l, 1000, 300000, 10000000);
    double wrong = 0;
    lab_figure(l, "dead", "k,b,can be set,set");
    for (size_t i = 0; i < 4; i++)
        for (unsigned b = 3; b <= FLOOM_B_MOST; b++) {
            floom_bits bits = floom_array(n, b, probes[i]);
            double all = ldexp(1, (int)b);
            lab_row(l, "%u,%u,%.6g,%.6g", probes[i], b, bits.reach / all,
                    bits.set / all);
            wrong += bits.wrong;
        }
    floom_bits usual = floom_array(n, 16, 7), small = floom_array(n, 8, 4);
    lab_says(l, "bit 0 of the array is never set", wrong == 0,
             "of it and those of more than k regions %.0f were set", wrong);
    double unset = 1 - usual.set / 65536;
    lab_says(l, "ours: so with b = 16, k = 7 three in five bits never are",
             usual.wrong == 0 && fabs(unset - 0.6) < 0.005,
             "%.2f %% of 65536 are not, to be within 0.5 of 60; %.0f can be, "
             "%.0f are", 100 * unset, usual.reach, usual.set);
    lab_says(l, "ours: with b = 8, k = 4 more than a third never are",
             small.wrong == 0 && small.set < 256 * 2.0 / 3,
             "%.1f %% of 256 are not; %.0f can be, %.0f are",
             100 - small.set / 2.56, small.reach, small.set);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    floom_figure_11(&l);
    floom_figure_12(&l);
    floom_sweep(&l);
    floom_dead(&l);
    return lab_close(&l);
}
