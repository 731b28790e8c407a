/* mooers.c - false drops of notched cards, and of an index with as many rows as
 * a card has sites [Mooers 1951; Roberts 1979].
 *
 * See lab.h and essay.html beside this file.
 *
 * EXACTLY
 *
 * On a card with v of h sites notched, a pattern of k sites is fully notched
 * with chance C(v, k) / C(h, k), and q patterns with its q-th power. The
 * chances of each v follow from one descriptor to the next: some of its k sites
 * are new. In the index a key's probes may coincide, as if each were a pattern
 * of one site, so the sum is that of k D patterns, with (v / h)^(k q).
 */
#include "lab.h"

#include <stdlib.h>

enum { MOOERS_SITES = 40, MOOERS_NOTCHES = 4, MOOERS_ASKED = 3,
       MOOERS_MOST = 16, MOOERS_USUAL = 7, MOOERS_PATTERNS = 12,
       MOOERS_FIELD = 6, MOOERS_HALVINGS = 60 };

/* Series of keys. */
enum { MOOERS_DRAWN = 1, MOOERS_ON_CARDS, MOOERS_STRANGERS };

/* ---- Formulas ---------------------------------------------------------- */

static double mooers_density(double notches, double descriptors)
{
    return 1 - pow(1 - notches / MOOERS_SITES, descriptors);
}

static double mooers_formula(unsigned k, unsigned d, unsigned q)
{
    return pow(mooers_density(k, d), k * q);
}

static double mooers_choose(unsigned n, unsigned k)
{
    double product = 1;
    for (unsigned i = 0; i < k; i++)
        product *= n < k ? 0 : (double)(n - i) / (k - i);
    return product;
}

/* Updates the chance of each number of notched sites after another pattern. */
static void mooers_add(double *chance, unsigned k)
{
    double next[MOOERS_SITES + 1] = { 0 }, all = mooers_choose(MOOERS_SITES, k);
    for (unsigned v = 0; v <= MOOERS_SITES; v++)
        for (unsigned new = 0; new <= k && v + new <= MOOERS_SITES; new++)
            next[v + new] += chance[v] * mooers_choose(MOOERS_SITES - v, new)
                           * mooers_choose(v, k - new) / all;
    for (unsigned v = 0; v <= MOOERS_SITES; v++)
        chance[v] = next[v];
}

/* Returns the false drops of `asked` patterns of k sites on a card of d
 * patterns. */
static double mooers_exact(unsigned k, unsigned d, unsigned asked)
{
    double chance[MOOERS_SITES + 1] = { 1 }, sum = 0;
    for (unsigned i = 0; i < d; i++)
        mooers_add(chance, k);
    for (unsigned v = 0; v <= MOOERS_SITES; v++)
        sum += chance[v] * pow(mooers_choose(v, k)
                               / mooers_choose(MOOERS_SITES, k), asked);
    return sum;
}

static double mooers_exact_index(unsigned k, unsigned d, unsigned q)
{
    return mooers_exact(1, k * d, k * q);
}

/* ---- Cards ------------------------------------------------------------- */

/* Draws k different sites from the next random numbers. */
static uint64_t mooers_pattern(uint64_t *next, unsigned k)
{
    uint64_t pattern = 0;
    for (unsigned found = 0; found < k;) {
        uint64_t bits = lab_key(MOOERS_DRAWN, (*next)++);
        for (unsigned i = 0; i < 64 / MOOERS_FIELD && found < k; i++) {
            uint64_t site = bits >> MOOERS_FIELD * i & 63;
            bool new = site < MOOERS_SITES && !(pattern >> site & 1);
            pattern |= (uint64_t)new << site;
            found += new;
        }
    }
    return pattern;
}

/* Measures cards of d descriptors, with separate queries for each card: the
 * share that drops for one strange descriptor, for two, and for three. */
static void mooers_cards(const lab *l, unsigned k, unsigned d, lab_measure *out)
{
    uint64_t cards = lab_pick(l, 1000, 200000, 10000000);
    uint64_t next = 0, drops[MOOERS_ASKED] = { 0 };
    for (uint64_t i = 0; i < cards; i++) {
        uint64_t card = 0;
        for (unsigned j = 0; j < d; j++)
            card |= mooers_pattern(&next, k);
        for (unsigned q = 0; q < MOOERS_ASKED; q++) {
            if ((mooers_pattern(&next, k) & ~card) != 0)
                break;
            drops[q]++;
        }
    }
    for (unsigned q = 0; q < MOOERS_ASKED; q++)
        out[q] = lab_wilson(drops[q], cards);
}

/* Counts cards that do not drop for their own first and last descriptor. */
static uint64_t mooers_lost(const lab *l)
{
    uint64_t cards = lab_pick(l, 1000, 100000, 1000000), next = 0, lost = 0;
    for (uint64_t i = 0; i < cards; i++) {
        uint64_t first = mooers_pattern(&next, MOOERS_NOTCHES), card = first;
        uint64_t last = 0;
        for (unsigned j = 1; j < MOOERS_USUAL; j++)
            card |= last = mooers_pattern(&next, MOOERS_NOTCHES);
        lost += ((first | last) & ~card) != 0;
    }
    return lost;
}

/* ---- The index --------------------------------------------------------- */

/* Returns an index in which d keys with k probes have as many rows as a card
 * has sites. */
static bly_index_spec mooers_spec(unsigned k, unsigned d)
{
    double low = 1e-12, high = 1 - 1e-12;
    bly_index_spec spec = { .probes = k };
    for (unsigned i = 0; i < MOOERS_HALVINGS; i++) {
        spec.rate = (low + high) / 2;
        *(bly_index_bits(&spec, d) > MOOERS_SITES ? &low : &high) = spec.rate;
    }
    spec.rate = high;
    if (bly_index_bits(&spec, d) != MOOERS_SITES)
        lab_stop("an index", "no rate gives as many rows as a card has sites");
    return spec;
}

static bly_index *mooers_index(const lab *l, unsigned k, unsigned d,
                               uint64_t cards)
{
    bly_index_spec spec = mooers_spec(k, d);
    bly_index_maker *maker = lab_index(l, &spec);
    uint64_t keys[MOOERS_MOST];
    for (uint64_t i = 0; i < cards; i++) {
        lab_keys(keys, d, MOOERS_ON_CARDS, i * d);
        lab_index_add(maker, i, keys, d);
    }
    return lab_index_open(l, maker);
}

/* Measures the same queries, each on all cards. */
static void mooers_rows(const lab *l, unsigned k, unsigned d, lab_measure *out)
{
    uint64_t cards = lab_pick(l, 500, 20000, 50000);
    size_t asked = lab_pick(l, 10, 500, 5000);
    bly_index *index = mooers_index(l, k, d, cards);
    uint64_t *row = lab_allocate(lab_index_words(cards) * sizeof *row);
    double *share = lab_allocate(asked * sizeof *share);
    for (unsigned q = 0; q < MOOERS_ASKED; q++) {
        for (size_t i = 0; i < asked; i++) {
            uint64_t keys[MOOERS_ASKED];
            lab_keys(keys, q + 1, MOOERS_STRANGERS, i * MOOERS_ASKED);
            share[i] = (double)lab_index_ask(row, index, keys, q + 1)
                     / (double)cards;
        }
        out[q] = lab_shares(share, asked, cards);
    }
    free(share);
    free(row);
    bly_index_free(index);
}

/* ---- Figures ----------------------------------------------------------- */

typedef struct {
    lab_measure cards[MOOERS_MOST + 1][MOOERS_ASKED];
    lab_measure rows[MOOERS_MOST + 1][MOOERS_ASKED];
} mooers_drops;

/* Returns a value for a logarithmic axis, or nothing. */
static double mooers_shown(double x)
{
    return x > 0 ? x : (double)NAN;
}

static void mooers_row(lab *l, unsigned d, const lab_measure *cards,
                       const lab_measure *rows)
{
    for (unsigned q = 1; q <= MOOERS_ASKED; q++) {
        lab_measure c = cards[q - 1], r = rows[q - 1];
        lab_row(l, "%u,%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", q, d,
                mooers_formula(MOOERS_NOTCHES, d, q),
                mooers_exact(MOOERS_NOTCHES, d, q), mooers_shown(c.value),
                c.low, c.high, mooers_exact_index(MOOERS_NOTCHES, d, q),
                mooers_shown(r.value), r.low, r.high);
    }
}

static bool mooers_reaches(lab_measure m, double exact)
{
    return m.low <= exact && exact <= m.high;
}

/* Counts the intervals that contain the exact value. */
static unsigned mooers_reached(const mooers_drops *drops, bool cards)
{
    unsigned reached = 0;
    for (unsigned d = 1; d <= MOOERS_MOST; d++)
        for (unsigned q = 0; q < MOOERS_ASKED; q++)
            reached += cards
                ? mooers_reaches(drops->cards[d][q],
                                 mooers_exact(MOOERS_NOTCHES, d, q + 1))
                : mooers_reaches(drops->rows[d][q],
                                 mooers_exact_index(MOOERS_NOTCHES, d, q + 1));
    return reached;
}

/* Compares the formula with the drops, at its lowest and highest. */
static void mooers_sides(lab *l, unsigned q, bool above, const char *statement)
{
    double least = INFINITY, most = 0;
    unsigned at = 0;
    for (unsigned d = 2; d <= MOOERS_MOST; d++) {
        double ratio = mooers_formula(MOOERS_NOTCHES, d, q)
                     / mooers_exact(MOOERS_NOTCHES, d, q);
        if (ratio < least)
            at = d;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    lab_says(l, statement, (least >= 1) == above,
             "%.3f times as many with %u descriptors on a card, at most %.3f "
             "times", least, at, most);
}

static void mooers_claims(lab *l, const mooers_drops *drops)
{
    static const unsigned shown[] = { 4, 7, 12 };
    uint64_t lost = mooers_lost(l);
    lab_says(l, "all cards drop that have the descriptors", lost == 0,
             "%llu of them stay", (unsigned long long)lost);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        for (unsigned q = 1; q <= 2; q++) {
            char what[128];
            snprintf(what, sizeof what, "density to the %u-th: false drops for "
                     "%u of them, with %u on a card", MOOERS_NOTCHES * q, q,
                     shown[i]);
            lab_number(l, what, mooers_formula(MOOERS_NOTCHES, shown[i], q), 0,
                       drops->cards[shown[i]][q - 1]);
        }
    mooers_sides(l, 1, true, "ours: for one descriptor the formula says no "
                             "less than drops");
    mooers_sides(l, 3, false, "ours: for three it may say less, as full cards "
                              "drop together");
    unsigned cards = mooers_reached(drops, true), all = 0;
    unsigned rows = mooers_reached(drops, false);
    all = MOOERS_MOST * MOOERS_ASKED;
    lab_says(l, "ours: the sum over the sites that are notched is what drops",
             cards == all, "%u of %u intervals reach it", cards, all);
    lab_says(l, "ours: an index of as many rows and probes drops as cards do "
                "whose notches may meet", rows == all,
             "%u of %u intervals reach it", rows, all);
}

static void mooers_figure_drops(lab *l)
{
    static mooers_drops drops;
    lab_figure(l, "drops", "asked,descriptors,formula,exact,cards,low,high,"
                           "exact index,index,low,high");
    for (unsigned d = 1; d <= MOOERS_MOST; d++) {
        mooers_cards(l, MOOERS_NOTCHES, d, drops.cards[d]);
        mooers_rows(l, MOOERS_NOTCHES, d, drops.rows[d]);
        mooers_row(l, d, drops.cards[d], drops.rows[d]);
    }
    mooers_claims(l, &drops);
}

/* ---- The number of notches --------------------------------------------- */

/* Returns the notches with the fewest false drops of cards with d
 * descriptors. */
static unsigned mooers_best(unsigned d)
{
    unsigned best = 1;
    for (unsigned k = 2; k <= MOOERS_SITES / 2; k++)
        if (mooers_exact(k, d, 1) < mooers_exact(best, d, 1))
            best = k;
    return best;
}

/* Returns the notches at which half of the sites are notched. */
static double mooers_half(unsigned d)
{
    return MOOERS_SITES * (1 - exp2(-1.0 / d));
}

static void mooers_claim_half(lab *l)
{
    double furthest = 0;
    unsigned at = 0, best = 0;
    for (unsigned d = 2; d <= MOOERS_PATTERNS; d++) {
        double away = fabs(mooers_best(d) - mooers_half(d));
        if (away >= furthest) {
            furthest = away;
            at = d;
            best = mooers_best(d);
        }
    }
    lab_says(l, "as many notches are best as leave half of the sites",
             furthest < 1, "less than a notch away with 2 to %u descriptors: "
             "furthest with %u of them, %u notches and %.2f",
             MOOERS_PATTERNS, at, best, mooers_half(at));
    lab_size(l, "40 ln 2 / 4, descriptors that fill half of a card", 6.9, 0.05,
             log(0.5) / log1p(-(double)MOOERS_NOTCHES / MOOERS_SITES));
    unsigned low = 0, high = 0;
    for (unsigned d = 2; d <= MOOERS_PATTERNS; d++)
        if (mooers_best(d) == MOOERS_NOTCHES) {
            low = low == 0 ? d : low;
            high = d;
        }
    lab_says(l, "with 4 notches a card is for about 7 descriptors",
             low <= MOOERS_USUAL && MOOERS_USUAL <= high,
             "4 notches are best for %u to %u", low, high);
}

static void mooers_figure_notches(lab *l)
{
    lab_figure(l, "notches", "notches,density,formula,exact,cards,low,high,"
                             "exact index,index,low,high");
    for (unsigned k = 1; k <= MOOERS_PATTERNS; k++) {
        lab_measure c[MOOERS_ASKED], r[MOOERS_ASKED];
        mooers_cards(l, k, MOOERS_USUAL, c);
        mooers_rows(l, k, MOOERS_USUAL, r);
        lab_row(l, "%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", k,
                mooers_density(k, MOOERS_USUAL),
                mooers_formula(k, MOOERS_USUAL, 1),
                mooers_exact(k, MOOERS_USUAL, 1), c[0].value, c[0].low,
                c[0].high, mooers_exact_index(k, MOOERS_USUAL, 1), r[0].value,
                r[0].low, r[0].high);
    }
    mooers_claim_half(l);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    mooers_figure_drops(&l);
    mooers_figure_notches(&l);
    return lab_close(&l);
}
