/* bingmann.c - the size of an index of documents of different sizes, and how
 * many documents it names wrongly [Bingmann et al. 2019; Bradley et al. 2019].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

/* Series of keys. */
enum { BINGMANN_DRAWN = 1, BINGMANN_MEMBERS, BINGMANN_STRANGERS };

/* A single probe with a large share, the default of COBS; and the usual
 * share. */
static const double bingmann_large = 0.3, bingmann_small = 0.01;
enum { BINGMANN_PROBES = 7 };           /* the best for the usual share      */

static const double bingmann_pi = 3.14159265358979323846;

/* ---- Documents ---------------------------------------------------------- */

/* The number of keys of each of n documents, smallest first. */
typedef struct { uint64_t n, *keys, sum; } bingmann_sizes;

static int bingmann_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double bingmann_uniform(uint64_t i)
{
    return ((double)(lab_key(BINGMANN_DRAWN, i) >> 11) + 0.5) * 0x1p-53;
}

/* Draws sizes whose logarithms are normal with this deviation. */
static bingmann_sizes bingmann_draw(uint64_t n, double median, double spread)
{
    bingmann_sizes s = { .n = n, .keys = lab_allocate(n * sizeof *s.keys) };
    for (uint64_t i = 0; i < n; i++) {
        double angle = 2 * bingmann_pi * bingmann_uniform(2 * i + 1);
        double normal = sqrt(-2 * log(bingmann_uniform(2 * i))) * cos(angle);
        s.keys[i] = (uint64_t)fmax(1, median * exp(spread * normal));
        s.sum += s.keys[i];
    }
    qsort(s.keys, n, sizeof *s.keys, bingmann_order);
    return s;
}

/* ---- Sizes -------------------------------------------------------------- */

/* Returns bits per key if each document has exactly what it needs. */
static double bingmann_ideal(double rate, uint32_t probes)
{
    return probes == 1 ? -1 / log1p(-rate) : -log2(rate) / log(2);
}

static bly_index_spec bingmann_spec(double rate)
{
    return (bly_index_spec){ .rate = rate, .probes = rate == bingmann_large
                                                     ? 1 : BINGMANN_PROBES };
}

/* Returns bits per key if columns are as long as the largest document of their
 * batch needs, smallest documents first. */
static double bingmann_batches(const bingmann_sizes *s, double rate,
                               uint64_t batch)
{
    double bits = 0, each = bingmann_ideal(rate, bingmann_spec(rate).probes);
    for (uint64_t i = 0; i < s->n; i += batch) {
        uint64_t documents = s->n - i < batch ? s->n - i : batch;
        bits += ceil(each * (double)s->keys[i + documents - 1])
              * (double)documents;
    }
    return bits / (double)s->sum;
}

/* Returns bits per key with our groups. */
static double bingmann_groups(const bingmann_sizes *s, double rate)
{
    bly_index_spec spec = bingmann_spec(rate);
    double bits = 0;
    for (uint64_t i = 0; i < s->n; i++)
        bits += (double)bly_index_bits(&spec, s->keys[i]);
    return bits / (double)s->sum;
}

enum { BINGMANN_BATCH = 1024, BINGMANN_SPREADS = 9 };

static double bingmann_spread(unsigned i)
{
    return i * 0.25;
}

/* The maximum and mean of the bits our groups need, relative to the ideal. */
typedef struct { double most, mean, one; } bingmann_waste;

static bingmann_waste bingmann_row(lab *l, double spread)
{
    double ideal = bingmann_ideal(bingmann_large, 1);
    bingmann_sizes s = bingmann_draw(lab_pick(l, 2000, 50000, 200000), 3000,
                                     spread);
    double one = bingmann_batches(&s, bingmann_large, s.n);
    double ours = bingmann_groups(&s, bingmann_large);
    bingmann_waste waste = { .mean = ours / ideal, .one = one / ours };
    bly_index_spec spec = bingmann_spec(bingmann_large);
    for (uint64_t i = 0; i < s.n; i++)
        if (s.keys[i] >= 64)
            waste.most = fmax(waste.most, (double)bly_index_bits(&spec,
                              s.keys[i]) / (double)s.keys[i] / ideal);
    lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", spread, one,
            bingmann_batches(&s, bingmann_large, BINGMANN_BATCH), ours, ideal,
            bingmann_batches(&s, bingmann_small, s.n),
            bingmann_groups(&s, bingmann_small),
            bingmann_ideal(bingmann_small, 0));
    free(s.keys);
    return waste;
}

static void bingmann_figure_sizes(lab *l)
{
    bingmann_waste all[BINGMANN_SPREADS];
    double most = 0, mean = 0;
    unsigned wide = BINGMANN_SPREADS - 1, larger = 0;
    lab_figure(l, "sizes", "spread,one size,batches,ours,ideal,"
                           "one size small,ours small,ideal small");
    for (unsigned i = 0; i < BINGMANN_SPREADS; i++) {
        all[i] = bingmann_row(l, bingmann_spread(i));
        most = fmax(most, all[i].most);
        if (i >= 2)
            mean = fmax(mean, all[i].mean);
        larger += all[i].one > 1;
    }
    lab_says(l, "documents grouped by size take less than all of one size, the "
                "more so the wider sizes are spread",
             larger >= wide && all[wide].one > all[wide / 2].one
             && all[wide / 2].one > 1,
             "one size takes %.3g times as much at a spread of %g, %.3g at %g",
             all[wide / 2].one, bingmann_spread(wide / 2), all[wide].one,
             bingmann_spread(wide));
    lab_size(l, "ours: one probe and a share of 0.3: bits a key", 2.8, 0.05,
             bingmann_ideal(bingmann_large, 1));
    lab_says(l, "ours: groups of a factor of 2^(1/4) cost at most 1.19 times "
                "what is needed, from 64 keys on", most <= exp2(0.25) * 1.01,
             "at most %.4f times", most);
    lab_says(l, "ours: and 1.09 times on average, where sizes are spread",
             fabs(mean - 1.09) < 0.01, "at most %.4f times, of spreads from "
             "%g on", mean, bingmann_spread(2));
}

/* ---- Queries ------------------------------------------------------------ */

enum { BINGMANN_MOST = 64, BINGMANN_STEPS = 7, BINGMANN_SETS = 20 };

/* Makes an index of documents of these sizes, with the keys of one of several
 * sets. */
static bly_index *bingmann_index(const lab *l, const bingmann_sizes *s,
                                 double rate, unsigned set)
{
    bly_index_spec spec = bingmann_spec(rate);
    bly_index_maker *maker = lab_index(l, &spec);
    uint64_t most = s->keys[s->n - 1], from = set * s->sum;
    uint64_t *keys = lab_allocate(most * sizeof *keys);
    for (uint64_t i = 0; i < s->n; i++) {
        lab_keys(keys, s->keys[i], BINGMANN_MEMBERS, from);
        lab_index_add(maker, i, keys, s->keys[i]);
        from += s->keys[i];
    }
    free(keys);
    return lab_index_open(l, maker);
}

/* Returns the share of m bits set by that many probes, and its deviation
 * between documents, from the chances that one bit, and two, are 0.
 */
static double bingmann_density(double m, double probes, double *deviation)
{
    double clear = exp(probes * log1p(-1 / m));
    double both = m > 2 ? exp(probes * log1p(-2 / m)) : 0;
    double variance = clear / m + (1 - 1 / m) * both - clear * clear;
    *deviation = sqrt(fmax(0, variance));
    return 1 - clear;
}

/* Returns the chance of at least `least` of q independent events of chance
 * p. */
static double bingmann_tail(double p, unsigned q, unsigned least)
{
    double sum = 0;
    for (unsigned i = least; i <= q; i++)
        sum += exp2(lab_choose(q, i) + i * log2(p) + (q - i) * log2(1 - p));
    return sum;
}

/* Averages that chance over a document one deviation fuller and one as much
 * emptier. */
static double bingmann_document(const bly_index_spec *spec, uint64_t keys,
                                unsigned q, unsigned least)
{
    uint32_t probes = spec->probes;
    double deviation, m = (double)bly_index_bits(spec, keys);
    double density = bingmann_density(m, (double)keys * probes, &deviation);
    return (bingmann_tail(pow(density + deviation, probes), q, least)
            + bingmann_tail(pow(density - deviation, probes), q, least)) / 2;
}

/* Averages that chance over all documents, with their own fill. */
static double bingmann_exact(const bingmann_sizes *s, double rate, unsigned q,
                             unsigned least)
{
    bly_index_spec spec = bingmann_spec(rate);
    double sum = 0;
    for (uint64_t i = 0; i < s->n; i++)
        sum += bingmann_document(&spec, s->keys[i], q, least);
    return sum / (double)s->n;
}

/* Returns the share of an index's documents named by queries of q strange keys,
 * if `least` of them suffice, starting at query `from`. */
static double bingmann_share(const bly_index *index, uint64_t documents,
                             uint64_t from, size_t asked, unsigned q,
                             unsigned least)
{
    size_t words = lab_index_words(documents);
    uint64_t *row = lab_allocate(words * sizeof *row), named = 0;
    for (size_t i = 0; i < asked; i++) {
        uint64_t keys[BINGMANN_MOST];
        lab_keys(keys, q, BINGMANN_STRANGERS, (from + i) * BINGMANN_MOST);
        if (bly_index_which(row, index, keys, q, least) < 0)
            lab_stop("a question", bly_why());
        named += lab_ones(row, words);
    }
    free(row);
    return (double)named / (double)asked / (double)documents;
}

/* Queries on indexes with one share: the planned result, the expected one by
 * the sizes of the documents, and the measured one. */
typedef struct {
    double      rate;
    bool        some;           /* eight of ten keys suffice                 */
    double      plan[BINGMANN_STEPS], exact[BINGMANN_STEPS], bytes;
    lab_measure named[BINGMANN_STEPS];
} bingmann_asked;

static unsigned bingmann_keys(unsigned step)
{
    return 1u << step;
}

/* Returns how many keys suffice: eight of ten, rounded up, or all. */
static unsigned bingmann_least(const bingmann_asked *a, unsigned step)
{
    unsigned q = bingmann_keys(step);
    return a->some ? (q * 8 + 9) / 10 : q;
}

/* Measures sets of documents with equal sizes but different keys and queries:
 * if two probes of a query meet in one group, they are likely to meet in all
 * smaller ones, so a single set is not enough. */
static void bingmann_sets(const lab *l, const bingmann_sizes *s,
                          bingmann_asked *a)
{
    double share[BINGMANN_STEPS][BINGMANN_SETS];
    size_t asked = lab_pick(l, 20, 500, 2000);
    unsigned sets = (unsigned)lab_pick(l, 3, 10, BINGMANN_SETS);
    for (unsigned set = 0; set < sets; set++) {
        bly_index_stat_t stat;
        bly_index *index = bingmann_index(l, s, a->rate, set);
        for (unsigned i = 0; i < BINGMANN_STEPS; i++)
            share[i][set] = bingmann_share(index, s->n, set * asked, asked,
                                           bingmann_keys(i),
                                           bingmann_least(a, i));
        bly_index_stat(&stat, index);
        a->bytes = (double)stat.row_bytes;
        bly_index_free(index);
    }
    for (unsigned i = 0; i < BINGMANN_STEPS; i++)
        a->named[i] = lab_shares(share[i], sets, asked * s->n);
}

static void bingmann_ask(lab *l, const bingmann_sizes *s, bingmann_asked *a)
{
    bingmann_sets(l, s, a);
    for (unsigned i = 0; i < BINGMANN_STEPS; i++) {
        unsigned q = bingmann_keys(i), least = bingmann_least(a, i);
        lab_measure m = a->named[i];
        a->plan[i] = bingmann_tail(a->rate, q, least);
        a->exact[i] = bingmann_exact(s, a->rate, q, least);
        lab_row(l, "%g,%d,%u,%.6g,%.6g,%.6g,%.6g,%.6g", a->rate, a->some, q,
                a->plan[i], a->exact[i], m.value > 0 ? m.value : (double)NAN,
                m.low, m.high);
    }
}

static unsigned bingmann_reached(const bingmann_asked *a)
{
    unsigned reached = 0;
    for (unsigned i = 0; i < BINGMANN_STEPS; i++)
        reached += a->named[i].low <= a->exact[i]
                && a->exact[i] <= a->named[i].high;
    return reached;
}

/* Returns whether each doubling of the keys names fewer documents, and never
 * more than planned. */
static bool bingmann_falls(const bingmann_asked *a)
{
    bool falls = true;
    for (unsigned i = 0; i < BINGMANN_STEPS; i++)
        falls = falls && a->named[i].low <= a->plan[i];
    for (unsigned i = 1; i < BINGMANN_STEPS; i++)
        falls = falls && (a->named[i].value == 0
                          || a->named[i].value < a->named[i - 1].value);
    return falls;
}

/* Returns the number of keys from which one probe names fewer documents than
 * one key of the usual index.
 */
static unsigned bingmann_enough(double rate)
{
    unsigned q = 1;
    while (pow(rate, q) > bingmann_small)
        q++;
    return q;
}

static void bingmann_claims(lab *l, const bingmann_asked *all, uint64_t keys)
{
    const bingmann_asked *a = &all[0], *some = &all[1], *b = &all[2];
    lab_says(l, "what is named wrongly falls exponentially with the keys of a "
                "question: at most the share to their power",
             bingmann_falls(a) && bingmann_falls(b),
             "one probe, 4 keys: %.4g of at most %.4g; 8: %.3g of %.3g",
             a->named[2].value, a->plan[2], a->named[3].value, a->plan[3]);
    lab_says(l, "so it does if eight of ten keys are enough",
             bingmann_falls(some), "%u of 16: %.4g of at most %.4g; %u of 64: "
             "%.3g of %.3g", bingmann_least(some, 4), some->named[4].value,
             some->plan[4], bingmann_least(some, 6), some->named[6].value,
             some->plan[6]);
    unsigned reached = bingmann_reached(a) + bingmann_reached(b)
                     + bingmann_reached(some);
    lab_says(l, "ours: it is what the documents' own sizes tell",
             reached == 3 * BINGMANN_STEPS, "%u of %u intervals reach it",
             reached, 3 * BINGMANN_STEPS);
    lab_says(l, "ours: one probe and a share of 0.3 take less space than "
                "seven and 0.01", a->bytes < b->bytes,
             "%.3f bits a key against %.3f", a->bytes * 8 / (double)keys,
             b->bytes * 8 / (double)keys);
    unsigned enough = bingmann_enough(bingmann_large);
    lab_says(l, "ours: it is enough for questions of a few keys", enough <= 8,
             "from %u keys on fewer are named wrongly than by one key at 0.01",
             enough);
}

static void bingmann_figure_questions(lab *l)
{
    bingmann_sizes s = bingmann_draw(lab_pick(l, 50, 1000, 4000), 300, 1);
    bingmann_asked asked[] = {
        { .rate = bingmann_large },
        { .rate = bingmann_large, .some = true },
        { .rate = bingmann_small },
    };
    lab_figure(l, "questions", "rate,some,keys,plan,exact,named,low,high");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        bingmann_ask(l, &s, &asked[i]);
    bingmann_claims(l, asked, s.sum);
    free(s.keys);
}

/* ---- A budget ----------------------------------------------------------- */

/* The share of documents that a query may name wrongly. */
static const double bingmann_budget = 1e-6;

/* Returns bits per key for a share with that many probes. */
static double bingmann_bits(double rate, double probes)
{
    return probes / -log1p(-pow(rate, 1 / probes));
}

/* Returns bits per key for queries of q keys with that many probes, or, with 0,
 * the best number. */
static double bingmann_needed(unsigned q, uint32_t probes)
{
    double rate = pow(bingmann_budget, 1.0 / q);
    double best = INFINITY;
    for (uint32_t k = probes > 0 ? probes : 1; k <= (probes > 0 ? probes : 32);
         k++)
        best = fmin(best, bingmann_bits(rate, k));
    return best;
}

static void bingmann_claims_probes(lab *l)
{
    double one = bingmann_bits(bingmann_large, 1), from = 0.0001;
    double two = bingmann_bits(bingmann_large, 2);
    lab_says(l, "ours: for a share of 0.3 no number of probes takes less space "
                "than one", one <= two, "one takes %.3f bits a key, two %.3f, "
             "but a question reads twice as many rows", one, two);
    while (from < 1 && bingmann_bits(from, 1) > bingmann_bits(from, 2))
        from += 0.0001;
    lab_says(l, "ours: one probe takes the least space for a share of one half",
             from <= 0.5, "it does from %.3f on", from);
}

static void bingmann_figure_budget(lab *l)
{
    unsigned equal = 0;
    lab_figure(l, "budget", "keys,rate,one probe,best probes,0.3,0.01");
    for (unsigned q = 1; q <= BINGMANN_MOST; q++) {
        double one = bingmann_needed(q, 1), best = bingmann_needed(q, 0);
        if (equal == 0 && one <= best)
            equal = q;
        lab_row(l, "%u,%.6g,%.6g,%.6g,%.6g,%.6g", q,
                pow(bingmann_budget, 1.0 / q), one, best,
                q >= ceil(log(bingmann_budget) / log(bingmann_large))
                ? bingmann_ideal(bingmann_large, 1) : (double)NAN,
                q >= ceil(log(bingmann_budget) / log(bingmann_small) - 1e-9)
                ? bingmann_ideal(bingmann_small, 0) : (double)NAN);
    }
    lab_says(l, "ours: for long questions one probe is best", equal > 0
             && equal <= BINGMANN_MOST, "from %u keys on, if one of a million "
             "documents may be named wrongly", equal);
    bingmann_claims_probes(l);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    bingmann_figure_sizes(&l);
    bingmann_figure_questions(&l);
    bingmann_figure_budget(&l);
    return lab_close(&l);
}
