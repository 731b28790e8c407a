/* byers.c - two sides with nearly equal sets: what each method of finding the
 * difference sends, and what it misses [Byers et al. 2004; Agarwal &
 * Trachtenberg 2006; Eppstein et al. 2011; Mitzenmacher 2002].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/gaps.h>
#include <bloomery/sketch.h>
#include <stdlib.h>
#include <string.h>

/* Series of keys: shared ones, those of only one side; and another hash. */
enum { BYERS_BOTH = 1, BYERS_MINE, BYERS_THEIRS, BYERS_VALUE };

enum { BYERS_BITS = 8, BYERS_LEVELS = 6, BYERS_TRIALS = 200 };

/* ---- A tree over the hashes of a set ------------------------------------ */

/* An element: its place in the tree, and what it adds to nodes above. */
typedef struct { uint64_t place, value; } byers_leaf;

/* The elements by place; above[i] is the XOR of the values of the first i, so
 * that any range's is the XOR of two. */
typedef struct {
    byers_leaf *leaf;
    uint64_t   *above;
    size_t      n;
} byers_tree;

static int byers_order(const void *a, const void *b)
{
    uint64_t x = ((const byers_leaf *)a)->place;
    uint64_t y = ((const byers_leaf *)b)->place;
    return (x > y) - (x < y);
}

/* Grows a tree of n shared elements and `more` of one side's own. */
static byers_tree byers_grow(size_t n, size_t more, uint64_t side,
                             uint64_t trial)
{
    byers_tree t = { .n = n + more };
    t.leaf = lab_allocate(t.n * sizeof *t.leaf);
    t.above = lab_allocate((t.n + 1) * sizeof *t.above);
    for (size_t i = 0; i < t.n; i++) {
        uint64_t place = i < n ? lab_key(BYERS_BOTH, trial << 24 | i)
                               : lab_key(side, trial << 24 | (i - n));
        t.leaf[i] = (byers_leaf){ place, place };
    }
    qsort(t.leaf, t.n, sizeof *t.leaf, byers_order);
    t.above[0] = 0;
    for (size_t i = 0; i < t.n; i++) {
        t.leaf[i].value = bly_mix64(t.leaf[i].place + BYERS_VALUE);
        t.above[i + 1] = t.above[i] ^ t.leaf[i].value;
    }
    return t;
}

static void byers_fell(byers_tree *t)
{
    free(t->leaf);
    free(t->above);
}

/* Returns where the range [from, to), of at least two elements, splits: at the
 * first with the highest differing bit set. */
static size_t byers_parting(const byers_tree *t, size_t from, size_t to)
{
    uint64_t first = t->leaf[from].place, differ = first
                                                 ^ t->leaf[to - 1].place;
    uint64_t bit = UINT64_C(1) << 63;
    while ((differ & bit) == 0)
        bit >>= 1;
    size_t low = from, high = to - 1;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (((first ^ t->leaf[middle].place) & bit) != 0)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Visits all inner nodes. */
static void byers_nodes(const byers_tree *t, size_t from, size_t to,
                        bly_filter *into)
{
    if (to - from < 2)
        return;
    bly_add_hash(into, t->above[from] ^ t->above[to]);
    size_t parts = byers_parting(t, from, to);
    byers_nodes(t, from, parts, into);
    byers_nodes(t, parts, to, into);
}

/* The message: the other side's nodes and leaves, in two filters. */
typedef struct { bly_filter *nodes, *leaves; } byers_sent;

static bly_filter *byers_filter(size_t n, double bits)
{
    double k = fmax(1, round(bits * log(2)));
    return lab_new(n, 0, "standard:m=%.0f,k=%.0f", bits * (double)n, k);
}

static byers_sent byers_send(const byers_tree *t, double leaf_bits)
{
    byers_sent s = { byers_filter(t->n, BYERS_BITS - leaf_bits),
                     byers_filter(t->n, leaf_bits) };
    byers_nodes(t, 0, t->n, s.nodes);
    for (size_t i = 0; i < t->n; i++)
        bly_add_hash(s.leaves, t->leaf[i].value);
    return s;
}

/* A walk through one's own tree: it leaves a branch when more than `level`
 * nodes in a row are also the other side's. */
typedef struct {
    const byers_tree *tree;
    const byers_sent *sent;
    unsigned level;
    uint64_t found, looked;
} byers_walk;

static void byers_descend(byers_walk *w, size_t from, size_t to, unsigned alike)
{
    const byers_tree *t = w->tree;
    w->looked++;
    if (to - from == 1) {
        w->found += !bly_contains_hash(w->sent->leaves, t->leaf[from].value);
        return;
    }
    uint64_t value = t->above[from] ^ t->above[to];
    alike = bly_contains_hash(w->sent->nodes, value) ? alike + 1 : 0;
    if (alike > w->level)
        return;
    size_t parts = byers_parting(t, from, to);
    byers_descend(w, from, parts, alike);
    byers_descend(w, parts, to, alike);
}

/* ---- The tree's figure --------------------------------------------------- */

/* The share of differences found, and nodes visited, at levels 0 to 5, mean
 * over trials. */
typedef struct {
    lab_measure found[BYERS_LEVELS];
    double looked[BYERS_LEVELS];
} byers_result;

static byers_result byers_try(lab *l, size_t n, size_t d, double leaf_bits)
{
    static double share[BYERS_LEVELS][BYERS_TRIALS];
    size_t trials = lab_pick(l, 3, 20, BYERS_TRIALS);
    byers_result r = { .looked = { 0 } };
    for (size_t i = 0; i < trials; i++) {
        byers_tree mine = byers_grow(n - d / 2, d / 2, BYERS_MINE, i);
        byers_tree theirs = byers_grow(n - d / 2, d / 2, BYERS_THEIRS, i);
        byers_sent sent = byers_send(&theirs, leaf_bits);
        for (unsigned level = 0; level < BYERS_LEVELS; level++) {
            byers_walk w = { &mine, &sent, level, 0, 0 };
            byers_descend(&w, 0, mine.n, 0);
            share[level][i] = (double)w.found / (double)(d / 2);
            r.looked[level] += (double)w.looked / (double)trials;
        }
        bly_free(sent.nodes);
        bly_free(sent.leaves);
        byers_fell(&mine);
        byers_fell(&theirs);
    }
    for (unsigned level = 0; level < BYERS_LEVELS; level++)
        r.found[level] = lab_mean(share[level], trials);
    return r;
}

/* Returns the result of 5 bits for leaves at level 3. */
static byers_result byers_trees(lab *l, size_t n, size_t d)
{
    byers_result five = { .looked = { 0 } };
    lab_figure(l, "tree", "leaf bits,level,found,low,high,nodes");
    for (unsigned bits = 2; bits <= 6; bits++) {
        byers_result r = byers_try(l, n, d, bits);
        if (bits == 5)
            five = r;
        for (unsigned level = 0; level < BYERS_LEVELS; level++)
            lab_row(l, "%u,%u,%.4g,%.4g,%.4g,%.0f", bits, level,
                    r.found[level].value, fmax(0, r.found[level].low),
                    fmin(1, r.found[level].high), r.looked[level]);
    }
    const lab_measure *f = &five.found[3];
    lab_says(l, "a tree finds most of the differences without looking at all "
                "elements", f->low > 0.75 && five.looked[3] < (double)n,
             "%.0f (%.0f … %.0f) %% of them by %.0f of %.0f nodes, with 5 bits "
             "for leaves and 3 for nodes, level 3", 100 * f->value,
             100 * f->low, 100 * f->high, five.looked[3], 2.0 * (double)n);
    lab_says(l, "the level trades work for misses: each is looked at further, "
                "and finds more", five.looked[0] < five.looked[2]
             && five.looked[2] < five.looked[5]
             && five.found[0].value < five.found[2].value,
             "levels 0, 2, 5: %.0f, %.0f, %.0f nodes, %.0f, %.0f, %.0f %% "
             "found",
             five.looked[0], five.looked[2], five.looked[5],
             100 * five.found[0].value, 100 * five.found[2].value,
             100 * five.found[5].value);
    return five;
}

/* ---- All methods compared ------------------------------------------------ */

/* Returns the share of differences that a filter of that many bits misses. */
static lab_measure byers_plain(lab *l, size_t n, size_t d, double bits)
{
    static double share[BYERS_TRIALS];
    size_t trials = lab_pick(l, 3, 20, BYERS_TRIALS);
    for (size_t i = 0; i < trials; i++) {
        bly_filter *f = byers_filter(n, bits);
        uint64_t missed = 0;
        for (size_t j = 0; j < n; j++)
            bly_add_hash(f, lab_key(BYERS_BOTH, i << 24 | j));
        for (size_t j = 0; j < d / 2; j++)
            missed += bly_contains_hash(f, lab_key(BYERS_MINE, i << 24 | j));
        share[i] = (double)missed / (double)(d / 2);
        bly_free(f);
    }
    return lab_shares(share, trials, d / 2);
}

static bool byers_count_side(void *context, const bly_listed *listed)
{
    uint64_t *sides = context;
    sides[listed->side > 0]++;
    return true;
}

/* Returns the bytes of a table from which d differences can be listed; *all:
 * none is missing. */
static double byers_table(size_t n, size_t d, bool *all)
{
    bly_filter *mine = lab_new(d, 0, "invertible");
    bly_filter *theirs = lab_new(d, 0, "invertible");
    uint64_t sides[2] = { 0, 0 };
    lab_fill(mine, BYERS_BOTH, 0, n - d / 2);
    lab_fill(theirs, BYERS_BOTH, 0, n - d / 2);
    lab_fill(mine, BYERS_MINE, 0, d / 2);
    lab_fill(theirs, BYERS_THEIRS, 0, d / 2);
    size_t bytes;
    bly_image(theirs, &bytes);
    *all = bly_subtract(mine, theirs) == BLY_OK
        && bly_list_keys(mine, byers_count_side, sides) == BLY_OK
        && sides[0] == d / 2 && sides[1] == d / 2;
    bly_free(mine);
    bly_free(theirs);
    return (double)bytes;
}

static void byers_ways(lab *l, size_t n, size_t d, const byers_result *tree)
{
    lab_figure(l, "ways", "way,bytes,missed,low,high,looked at");
    bool all;
    double table = byers_table(n, d, &all), whole = 8.0 * (double)n;
    lab_measure plain = { 0, 0, 0 };
    for (unsigned bits = 4; bits <= 16; bits += 4) {
        lab_measure m = byers_plain(l, n, d, bits);
        plain = bits == BYERS_BITS ? m : plain;
        lab_row(l, "\"a filter of %u bits\",%.0f,%.4g,%.4g,%.4g,%.0f", bits,
                (double)n * bits / 8, m.value, m.low, m.high, (double)n);
    }
    for (unsigned level = 1; level <= 5; level += 2)
        lab_row(l, "\"a tree to level %u\",%.0f,%.4g,%.4g,%.4g,%.0f", level,
                (double)n * BYERS_BITS / 8, 1 - tree->found[level].value,
                fmax(0, 1 - tree->found[level].high),
                1 - tree->found[level].low, tree->looked[level]);
    lab_row(l, "\"an invertible table\",%.0f,0,0,0,%.0f", table, (double)n);
    lab_row(l, "\"all hashes\",%.0f,0,0,0,%.0f", whole, (double)n);
    lab_number(l, "share that a filter of 8 bits an element, k = 6, finds",
               0.9784, 5e-4, (lab_measure){ 1 - plain.value, 1 - plain.high,
                                            1 - plain.low });
    lab_says(l, "ours: at the bytes of a tree a plain filter misses fewer; the "
                "tree saves work only", plain.high < 1 - tree->found[3].high,
             "%.1f %% against %.1f %% at level 3", 100 * plain.value,
             100 * (1 - tree->found[3].value));
    lab_says(l, "an invertible table finds every difference in bytes that grow "
                "with their number alone", all && table < whole / 4,
             "%.0f bytes for %.0f differences of %.0f elements, a filter of 8 "
             "bits %.0f, all hashes %.0f", table, (double)d, (double)n,
             (double)n, whole);
}

/* ---- Estimating the difference ------------------------------------------- */

/* Adds an element to the counters of a set, k of m. */
static void byers_count(int64_t *cell, uint64_t m, unsigned k, uint64_t key,
                        int64_t by)
{
    for (unsigned i = 0; i < k; i++)
        cell[bly_mix64(key + i * UINT64_C(0x9E3779B97F4A7C15)) % m] += by;
}

/* Removes an element if the counters allow it. */
static bool byers_unwrap(int64_t *cell, uint64_t m, unsigned k, uint64_t key)
{
    byers_count(cell, m, k, key, -1);
    for (unsigned i = 0; i < k; i++)
        if (cell[bly_mix64(key + i * UINT64_C(0x9E3779B97F4A7C15)) % m] < 0) {
            byers_count(cell, m, k, key, 1);
            return false;
        }
    return true;
}

static double byers_ones(const int64_t *cell, uint64_t m)
{
    double ones = 0;
    for (uint64_t i = 0; i < m; i++)
        ones += cell[i] != 0;
    return ones;
}

/* Returns the expected number of elements for that many ones among m bits. */
static double byers_keys(double ones, double m, double k)
{
    return -m / k * log1p(-fmin(ones, m - 0.5) / m);
}

typedef struct { double bits, moments, unwrapped; } byers_estimate;

static uint64_t byers_element(uint64_t i, uint64_t both, uint64_t side,
                              uint64_t trial)
{
    return lab_key(i < both ? BYERS_BOTH : side, trial << 24 | i);
}

/* Estimates for two sets of n elements that differ in d. */
static byers_estimate byers_guess(uint64_t n, uint64_t d, uint64_t m,
                                  unsigned k, uint64_t trial)
{
    uint64_t both = n - d / 2;
    int64_t *a = lab_allocate(3 * m * sizeof *a), *b = a + m, *or = b + m;
    memset(a, 0, 3 * m * sizeof *a);
    for (uint64_t i = 0; i < n; i++) {
        byers_count(a, m, k, byers_element(i, both, BYERS_MINE, trial), 1);
        byers_count(b, m, k, byers_element(i, both, BYERS_THEIRS, trial), 1);
    }
    double size = (double)m, first = 0, second = 0;
    for (uint64_t i = 0; i < m; i++) {
        or[i] = a[i] | b[i];
        first += (double)(a[i] - b[i]);
        second += (double)((a[i] - b[i]) * (a[i] - b[i]));
    }
    byers_estimate e = {
        .bits = 2 * byers_keys(byers_ones(or, m), size, k)
              - byers_keys(byers_ones(a, m), size, k)
              - byers_keys(byers_ones(b, m), size, k),
        .moments = (second - first * first / size) / (k * (1 - 1 / size)),
    };
    uint64_t failed = 0, left = 0;
    for (uint64_t i = 0; i < n; i++)
        failed += !byers_unwrap(a, m, k, byers_element(i, both, BYERS_THEIRS,
                                                       trial));
    for (uint64_t i = 0; i < m; i++)
        left += (uint64_t)a[i];
    e.unwrapped = (double)failed + (double)left / k;
    free(a);
    return e;
}

static const struct {
    unsigned d, m, k;
    double bits, moments, unwrapped;    /* root mean squares of the errors   */
} byers_cases[] = {
    { 100, 16000, 4, 3.5, 1.5, 0.0 },   { 400, 16000, 4, 10.0, 4.5, 0.0 },
    { 2000, 16000, 4, 28.9, 23.3, 6.2 }, { 400, 2000, 4, 84.2, 11.6, 5.4 },
    { 400, 16000, 1, 6.8, 4.8, 5.9 },   { 400, 2000, 1, 30.2, 11.8, 38.6 },
};
enum { BYERS_SET = 2000,
       BYERS_CASES = sizeof byers_cases / sizeof *byers_cases };

static void byers_estimates(lab *l)
{
    size_t trials = lab_pick(l, 3, 40, 400);
    double worst = 0;
    bool fewest = true;
    lab_figure(l, "estimate", "differences,cells,k,bits,moments,unwrapped,"
               "named bits,named moments,named unwrapped");
    for (size_t c = 0; c < BYERS_CASES; c++) {
        unsigned d = byers_cases[c].d;
        double bits = 0, moments = 0, unwrapped = 0;
        for (size_t i = 0; i < trials; i++) {
            byers_estimate e = byers_guess(BYERS_SET, d, byers_cases[c].m,
                                           byers_cases[c].k, i);
            bits += (e.bits - d) * (e.bits - d) / (double)trials;
            moments += (e.moments - d) * (e.moments - d) / (double)trials;
            unwrapped += (e.unwrapped - d) * (e.unwrapped - d)
                       / (double)trials;
        }
        lab_row(l, "%u,%u,%u,%.3g,%.3g,%.3g,%g,%g,%g", d, byers_cases[c].m,
                byers_cases[c].k, sqrt(bits), sqrt(moments), sqrt(unwrapped),
                byers_cases[c].bits, byers_cases[c].moments,
                byers_cases[c].unwrapped);
        worst = fmax(worst, sqrt(moments) / d);
        if (byers_cases[c].m > 4 * BYERS_SET && byers_cases[c].k > 1)
            fewest = fewest && unwrapped < moments && unwrapped < bits;
    }
    lab_says(l, "a filter that is unwrapped tells best how much differs, as "
                "long as it is not crowded", fewest,
             "least error of the three where there are 8 counters an element "
             "and k = 4");
    lab_says(l, "ours: the second moment of the counters' differences stays "
                "right in a crowded filter as well", worst < 0.05,
             "at most %.1f %% off in all cases, root mean square", 100 * worst);
}

/* ---- Sending changes ----------------------------------------------------- */

/* Returns the bytes of a coded list of the bits in which two filters differ. */
static double byers_delta(uint64_t n, uint64_t changed, unsigned bits)
{
    bly_filter *old = byers_filter(n, bits), *new = byers_filter(n, bits);
    size_t bytes, packed = 0;
    lab_fill(old, BYERS_BOTH, 0, n);
    lab_fill(new, BYERS_BOTH, changed, n);
    const uint8_t *a = bly_image(old, &bytes), *b = bly_image(new, NULL);
    uint64_t cells = 8 * (bytes - BLY_HEADER_BYTES), some = 0;
    uint64_t *at = lab_allocate(cells * sizeof *at);
    for (uint64_t i = 0; i < cells; i++) {
        size_t byte = BLY_HEADER_BYTES + i / 8;
        if (((a[byte] ^ b[byte]) >> i % 8 & 1) != 0)
            at[some++] = i;
    }
    size_t room = bly_gaps_room(some, cells, 0);
    void *into = lab_allocate(room);
    if (bly_gaps_pack(into, room, &packed, at, (size_t)some, cells, 0) < 0)
        lab_stop("pack", bly_why());
    free(into);
    free(at);
    bly_free(old);
    bly_free(new);
    return (double)packed;
}

static void byers_deltas(lab *l)
{
    uint64_t n = lab_pick(l, 1000, 100000, 1000000);
    double one = 0, third = 0;
    lab_figure(l, "delta", "changed,8 bits,16 bits");
    for (double share = 0.001; share < 0.9; share *= sqrt(10)) {
        uint64_t changed = (uint64_t)((double)n * share);
        double eight = byers_delta(n, changed, 8) / (double)n;
        double sixteen = byers_delta(n, changed, 16) / (2.0 * (double)n);
        lab_row(l, "%.4g,%.4g,%.4g", share, eight, sixteen);
        one = share < 0.0101 ? eight : one;
        third = share < 0.33 ? eight : third;
    }
    lab_says(l, "when few keys have changed the two filters' difference, "
                "coded, is a small part of the filter", one < 0.15,
             "%.1f %% of its bytes where 1 %% of the keys are others",
             100 * one);
    lab_says(l, "ours: where a third has changed it saves little", third > 0.5,
             "%.0f %% of the filter's bytes", 100 * third);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t n = lab_pick(&l, 400, 10000, 10000), d = n / 50;
    byers_result tree = byers_trees(&l, n, d);
    byers_ways(&l, n, d, &tree);
    byers_estimates(&l);
    byers_deltas(&l);
    return lab_close(&l);
}
