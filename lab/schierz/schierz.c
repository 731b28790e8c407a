/* schierz.c - time by number of probes [Schierz 2022, figures 3-6], and by size
 * of the filter.
 *
 * See lab.h and essay.html beside this file.
 *
 * Each k has a filter with the same number of keys, whose size grows with k so
 * that half of its bits are set (as in any filter of the best size), and which
 * fits in the first-level cache. Rounds go over all k in turn, so that a
 * disturbance hits one round of many filters instead of all rounds of one.
 */
#include "lab.h"

#include <bloomery/inline.h>
#include <stdlib.h>

enum {
    SCHIERZ_KEYS = 2048, SCHIERZ_STEPS = 16, SCHIERZ_ROUNDS = 401,
    SCHIERZ_INDEXES = 2,
    SCHIERZ_FEW = 512, SCHIERZ_LONG = 15, SCHIERZ_LONGEST = 299,
    SCHIERZ_MEMBERS = 1, SCHIERZ_STRANGERS = 2,
    SCHIERZ_LEAST = 13, SCHIERZ_SIZES = 11, SCHIERZ_K = 7,
    SCHIERZ_ASKED = 1 << 14, SCHIERZ_SIZE_ROUNDS = 101
};

/* How k positions are made from a key: with a hash each, as in the paper, or
 * all from one hash. */
static const char *const schierz_index[SCHIERZ_INDEXES] = { "seeds", "power" };

typedef enum { INSERT, MEMBERS, STRANGERS, MIX, FIGURES } schierz_what;

static const char *const schierz_figure[FIGURES] = {
    "insert", "members", "strangers", "mix"
};

typedef struct {
    uint64_t asked[FIGURES][SCHIERZ_KEYS];      /* the keys of each figure */
    size_t   rounds;
    double   k[SCHIERZ_STEPS];
    double   time[FIGURES][SCHIERZ_INDEXES][SCHIERZ_STEPS][SCHIERZ_ROUNDS];
    lab_measure middle[FIGURES][SCHIERZ_INDEXES][SCHIERZ_STEPS];
} schierz;

/* Every eleventh key of the mix is a stranger: ten members to one. */
static void schierz_keys(schierz *s)
{
    lab_keys(s->asked[INSERT], SCHIERZ_KEYS, SCHIERZ_MEMBERS, 0);
    lab_keys(s->asked[MEMBERS], SCHIERZ_KEYS, SCHIERZ_MEMBERS, 0);
    lab_keys(s->asked[STRANGERS], SCHIERZ_KEYS, SCHIERZ_STRANGERS, 0);
    for (uint64_t i = 0; i < SCHIERZ_KEYS; i++)
        s->asked[MIX][i] = lab_key(i % 11 == 10 ? SCHIERZ_STRANGERS
                                                : SCHIERZ_MEMBERS, i);
}

/* Returns nanoseconds per key; keys are added and queried singly, as in the
 * paper. */
static double schierz_time(bly_filter *f, schierz_what what,
                           const uint64_t *keys, size_t n)
{
    uint64_t result = 0;
    double start = lab_clock();
    for (size_t i = 0; i < n; i++)
        if (what == INSERT)
            result += (uint64_t)bly_add(f, &keys[i], sizeof keys[i]);
        else
            result += bly_contains(f, &keys[i], sizeof keys[i]);
    double taken = lab_clock() - start;
    lab_sink += result;
    return taken / (double)n;
}

static void schierz_round(schierz *s, size_t round)
{
    for (size_t i = 0; i < SCHIERZ_STEPS; i++)
        for (size_t j = 0; j < SCHIERZ_INDEXES; j++) {
            double m = ceil(s->k[i] * SCHIERZ_KEYS / log(2));
            bly_filter *f = lab_new(SCHIERZ_KEYS, 0,
                                    "standard:m=%.0f,k=%.0f,index=%s", m,
                                    s->k[i], schierz_index[j]);
            for (schierz_what w = INSERT; w < FIGURES; w++)
                s->time[w][j][i][round] = schierz_time(f, w, s->asked[w],
                                                       SCHIERZ_KEYS);
            bly_free(f);
        }
}

static lab_line schierz_fit(schierz *s, schierz_what w, size_t j)
{
    double y[SCHIERZ_STEPS];
    for (size_t i = 0; i < SCHIERZ_STEPS; i++)
        y[i] = s->middle[w][j][i].value;
    return lab_fit(s->k, y, SCHIERZ_STEPS);
}

static void schierz_linear(schierz *s, lab *l, schierz_what w,
                           const char *statement)
{
    lab_line line = schierz_fit(s, w, 0);
    lab_says(l, statement, line.r2 > 0.98 && line.slope.low > 0,
             "%.1f ns + %.2f ns (%.2f … %.2f) per hash function, R² = %.4f, "
             "to be above 0.98", line.begin, line.slope.value, line.slope.low,
             line.slope.high, line.r2);
}

static void schierz_claims(schierz *s, lab *l, schierz_what w)
{
    lab_line insert = schierz_fit(s, INSERT, 0);
    lab_line one = schierz_fit(s, INSERT, 1);
    lab_line members = schierz_fit(s, MEMBERS, 0);
    lab_line here = schierz_fit(s, w, 0);
    double share = here.slope.value / members.slope.value;
    if (w == INSERT) {
        schierz_linear(s, l, w, "an insert takes time linear in k");
        lab_number(l, "ns for each further hash function, on the author's "
                      "machine", 8.7, 0.05, insert.slope);
        lab_says(l, "ours: positions made of one hash cost less than a hash "
                    "function each", one.slope.value < insert.slope.value,
                 "%.2f against %.2f ns", one.slope.value, insert.slope.value);
    } else if (w == MEMBERS) {
        schierz_linear(s, l, w, "to find a member takes time linear in k");
    } else if (w == STRANGERS) {
        lab_says(l, "to look for a stranger takes the same time whatever k is",
                 fabs(share) < 0.05,
                 "its slope is %.1f %% of that for members, to be within 5 %%",
                 share * 100);
    } else {
        schierz_linear(s, l, w, "ten members to one stranger: linear in k");
        lab_says(l, "its slope is about 10/11 of that for members",
                 fabs(share - 10.0 / 11) < 0.05,
                 "%.3f of it, to be within 0.05 of %.3f", share, 10.0 / 11);
    }
}

static void schierz_figures(schierz *s, lab *l)
{
    for (schierz_what w = INSERT; w < FIGURES; w++)
        for (size_t j = 0; j < SCHIERZ_INDEXES; j++)
            for (size_t i = 0; i < SCHIERZ_STEPS; i++)
                s->middle[w][j][i] = lab_median(s->time[w][j][i], s->rounds);
    for (schierz_what w = INSERT; w < FIGURES; w++) {
        lab_figure(l, schierz_figure[w],
                   "k,seeds,seeds low,seeds high,power,power low,power high");
        for (size_t i = 0; i < SCHIERZ_STEPS; i++) {
            lab_measure a = s->middle[w][0][i], b = s->middle[w][1][i];
            lab_row(l, "%.0f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f", s->k[i], a.value,
                    a.low, a.high, b.value, b.low, b.high);
        }
        schierz_claims(s, l, w);
    }
}

/* ---- The paper's own limits --------------------------------------------- */

/* The paper's filter: murmur2 of the key with another seed for each
 * position. */
typedef struct {
    double k[SCHIERZ_LONG];
    double time[FIGURES][SCHIERZ_LONG][SCHIERZ_ROUNDS];
    lab_measure middle[FIGURES][SCHIERZ_LONG];
} schierz_long;

static void schierz_long_round(schierz_long *s, const schierz *keys,
                               size_t round)
{
    for (size_t i = 0; i < SCHIERZ_LONG; i++) {
        bly_filter *f = lab_new(SCHIERZ_FEW, 0, "rehash:m=%.0f,k=%.0f,"
                                "by=murmur2,key=whole",
                                ceil(s->k[i] * SCHIERZ_FEW / log(2)), s->k[i]);
        for (schierz_what w = INSERT; w < FIGURES; w++)
            s->time[w][i][round] = schierz_time(f, w, keys->asked[w],
                                                SCHIERZ_FEW);
        bly_free(f);
    }
}

static lab_line schierz_long_fit(const schierz_long *s, schierz_what w)
{
    double y[SCHIERZ_LONG];
    for (size_t i = 0; i < SCHIERZ_LONG; i++)
        y[i] = s->middle[w][i].value;
    return lab_fit(s->k, y, SCHIERZ_LONG);
}

static void schierz_long_claims(const schierz_long *s, lab *l)
{
    lab_line line[FIGURES];
    double least = 1;
    for (schierz_what w = INSERT; w < FIGURES; w++) {
        line[w] = schierz_long_fit(s, w);
        least = w == STRANGERS ? least : fmin(least, line[w].r2);
    }
    lab_says(l, "up to 299 hash functions an insert, a member and the mix take "
                "time linear in k", least > 0.98,
             "%.2f, %.2f and %.2f ns for each, R² at least %.4f, to be above "
             "0.98", line[INSERT].slope.value, line[MEMBERS].slope.value,
             line[MIX].slope.value, least);
    lab_says(l, "and a stranger the same whatever k is",
             fabs(line[STRANGERS].slope.value)
             < 0.05 * line[MEMBERS].slope.value,
             "%.1f ns and %.3f ns for each", line[STRANGERS].begin,
             line[STRANGERS].slope.value);
}

static void schierz_further(schierz *keys, lab *l)
{
    schierz_long *s = lab_allocate(sizeof *s);
    size_t rounds = lab_pick(l, 1, 15, 101);
    for (size_t i = 0; i < SCHIERZ_LONG; i++)
        s->k[i] = i + 1 < SCHIERZ_LONG ? 20 * (double)(i + 1)
                                       : SCHIERZ_LONGEST;
    for (size_t round = 0; round < rounds; round++)
        schierz_long_round(s, keys, round);
    lab_figure(l, "further", "k,insert,low,high,members,low,high,strangers,low,"
               "high,mix,low,high");
    for (size_t i = 0; i < SCHIERZ_LONG; i++) {
        lab_measure m[FIGURES];
        for (schierz_what w = INSERT; w < FIGURES; w++)
            m[w] = s->middle[w][i] = lab_median(s->time[w][i], rounds);
        lab_row(l, "%.0f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,"
                "%.1f,%.1f", s->k[i], m[INSERT].value, m[INSERT].low,
                m[INSERT].high, m[MEMBERS].value, m[MEMBERS].low,
                m[MEMBERS].high, m[STRANGERS].value, m[STRANGERS].low,
                m[STRANGERS].high, m[MIX].value, m[MIX].low, m[MIX].high);
    }
    schierz_long_claims(s, l);
    free(s);
}

/* ---- The size of the filter --------------------------------------------- */

/* Members and strangers, queried singly and in batches. */
enum { SCHIERZ_WAYS = 4 };

static const char *const schierz_way[SCHIERZ_WAYS] = {
    "a member, one by one", "a member, in batches",
    "a stranger, one by one", "a stranger, in batches",
};

/* Filters of 2^13 bits and more, each four times as large as the last. */
typedef struct {
    bly_filter *filter[SCHIERZ_SIZES];
    uint64_t    keys[SCHIERZ_SIZES];
    double      log_m[SCHIERZ_SIZES];
    size_t      sizes;
    double      time[SCHIERZ_SIZES][SCHIERZ_WAYS][SCHIERZ_SIZE_ROUNDS];
    lab_measure middle[SCHIERZ_SIZES][SCHIERZ_WAYS];
    lab_measure probes[SCHIERZ_SIZES][2];       /* members, strangers */
} schierz_grown;

static void schierz_ask(uint64_t *keys, bool members, uint64_t n,
                        uint64_t question)
{
    uint64_t from = question * SCHIERZ_ASKED;
    if (members)
        lab_draw(keys, SCHIERZ_ASKED, SCHIERZ_MEMBERS, n, from);
    else
        lab_keys(keys, SCHIERZ_ASKED, SCHIERZ_STRANGERS, from);
}

/* Each query of a round has its own keys, which are not yet in the cache. */
static void schierz_size_round(schierz_grown *g, size_t round)
{
    static uint64_t keys[SCHIERZ_ASKED];
    for (size_t s = 0; s < g->sizes; s++)
        for (size_t w = 0; w < SCHIERZ_WAYS; w++) {
            schierz_ask(keys, w < 2, g->keys[s], round * SCHIERZ_WAYS + w);
            g->time[s][w][round] = lab_look(g->filter[s], keys, SCHIERZ_ASKED,
                                            w % 2 == 1);
        }
}

/* Returns how many bits a lookup inspects until the answer is known: one for
 * the first, and one for each leading run of probes that does not end in no. */
static lab_measure schierz_probes(const bly_filter *f, bool members, uint64_t n)
{
    static uint64_t keys[SCHIERZ_ASKED];
    static double probes[SCHIERZ_ASKED];
    bly_inline_standard view;
    if (bly_inline_standard_of(&view, f) < 0)
        lab_stop("view", bly_why());
    schierz_ask(keys, members, n, 0);
    for (size_t i = 0; i < SCHIERZ_ASKED; i++) {
        uint32_t seen = 1;
        for (view.k = 1; view.k < SCHIERZ_K
             && bly_inline_standard_contains(&view, keys[i]); view.k++)
            seen++;
        probes[i] = seen;
    }
    return lab_mean(probes, SCHIERZ_ASKED);
}

static void schierz_grow(schierz_grown *g, const lab *l)
{
    g->sizes = lab_pick(l, 3, 9, SCHIERZ_SIZES);
    for (size_t s = 0; s < g->sizes; s++) {
        g->log_m[s] = SCHIERZ_LEAST + 2 * (double)s;
        double m = exp2(g->log_m[s]);
        g->keys[s] = (uint64_t)(m * log(2) / SCHIERZ_K);
        g->filter[s] = lab_new(g->keys[s], 0, "standard:m=%.0f,k=%d", m,
                               SCHIERZ_K);
        lab_fill(g->filter[s], SCHIERZ_MEMBERS, 0, g->keys[s]);
        for (size_t who = 0; who < 2; who++)
            g->probes[s][who] = schierz_probes(g->filter[s], who == 0,
                                               g->keys[s]);
    }
}

/* In operations: the fitted line for strangers is flat within its error. */
static void schierz_operations(const schierz_grown *g, lab *l)
{
    double strangers[SCHIERZ_SIZES];
    bool members = true;
    for (size_t s = 0; s < g->sizes; s++) {
        strangers[s] = g->probes[s][1].value;
        members = members && g->probes[s][0].low >= SCHIERZ_K;
    }
    lab_line line = lab_fit(g->log_m, strangers, g->sizes);
    lab_says(l, "the work of a lookup is independent of m and of the number of "
                "keys: bits looked at",
             members && line.slope.low <= 0 && 0 <= line.slope.high,
             "a member %d at each size; a stranger %.3f in the smallest, "
             "and %+.4f (%+.4f … %+.4f) for each doubling", SCHIERZ_K,
             strangers[0], line.slope.value, line.slope.low, line.slope.high);
}

/* In nanoseconds: the quartiles of the smallest and the largest filter
 * overlap. */
static void schierz_seconds(const schierz_grown *g, lab *l, size_t way)
{
    lab_measure first = g->middle[0][way], last = g->middle[g->sizes - 1][way];
    double least = INFINITY, most = 0;
    char what[96];
    for (size_t s = 0; s < g->sizes; s++) {
        least = fmin(least, g->middle[s][way].value);
        most = fmax(most, g->middle[s][way].value);
    }
    snprintf(what, sizeof what, "the time of a lookup is independent of m: %s",
             schierz_way[way]);
    lab_says(l, what, last.low <= first.high && first.low <= last.high,
             "%.1f (%.1f … %.1f) ns in 2^%.0f bits, %.1f (%.1f … %.1f) in "
             "2^%.0f; the longest of all is %.1f times the shortest",
             first.value, first.low, first.high, g->log_m[0], last.value,
             last.low, last.high, g->log_m[g->sizes - 1], most / least);
}

static void schierz_size(lab *l)
{
    schierz_grown *g = lab_allocate(sizeof *g);
    size_t rounds = lab_pick(l, 1, 21, SCHIERZ_SIZE_ROUNDS);
    schierz_grow(g, l);
    for (size_t round = 0; round < rounds; round++)
        schierz_size_round(g, round);
    lab_figure(l, "size", "log2 m,keys,member,low,high,member batch,low,high,"
               "stranger,low,high,stranger batch,low,high,member bits,"
               "stranger bits");
    for (size_t s = 0; s < g->sizes; s++) {
        lab_measure *m = g->middle[s];
        for (size_t w = 0; w < SCHIERZ_WAYS; w++)
            m[w] = lab_median(g->time[s][w], rounds);
        lab_row(l, "%.0f,%.0f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,"
                "%.2f,%.2f,%.2f,%.4f,%.4f", g->log_m[s], (double)g->keys[s],
                m[0].value, m[0].low, m[0].high, m[1].value, m[1].low,
                m[1].high, m[2].value, m[2].low, m[2].high, m[3].value,
                m[3].low, m[3].high, g->probes[s][0].value,
                g->probes[s][1].value);
        bly_free(g->filter[s]);
    }
    schierz_operations(g, l);
    for (size_t w = 0; w < SCHIERZ_WAYS; w++)
        schierz_seconds(g, l, w);
    free(g);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    schierz *s = lab_allocate(sizeof *s);
    s->rounds = lab_pick(&l, 1, 61, SCHIERZ_ROUNDS);
    for (size_t i = 0; i < SCHIERZ_STEPS; i++)
        s->k[i] = (double)(4 * (i + 1));
    schierz_keys(s);
    for (size_t round = 0; round < s->rounds; round++)
        schierz_round(s, round);
    schierz_figures(s, &l);
    schierz_further(s, &l);
    schierz_size(&l);
    free(s);
    return lab_close(&l);
}
