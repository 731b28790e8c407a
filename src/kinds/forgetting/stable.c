/* stable.c - the stable Bloom filter, for streams without end.
 *
 * WHAT IT IS
 *
 * A Bloom filter with a small number, a cell, in place of every bit. Adding a
 * key sets its k cells to their largest value, after lowering P neighbouring
 * cells at a random place by one. So keys that are not added again fade away
 * and make room for new ones. After a while, as many cells fade as are set.
 * From then on the false-positive rate stays the same, however long the stream
 * is. The price is false negatives: a key that was added long ago is probably
 * not found.
 *
 * WHEN TO USE IT
 *
 * Use it to find duplicates in an endless stream in fixed memory, if an old key
 * may pass as new. The filter is never cleared, so its error rate does not
 * vary. Adding a key reports at once whether it was there.
 *
 * WHEN NOT TO
 *
 * - The last n keys must all be found: `aging` guarantees that in a quarter of
 *   the memory.
 * - Nothing may be forgotten: `scalable`, or `standard` if the number of keys
 *   is known.
 * - Two filters must be compared: their keys fade independently, so cells that
 *   differ say nothing about the keys.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          90.6                  6                  1.8
 *      0.1 %       141.3                  9                  1.9
 *
 * "Per key" means per key of the window, of which 1 % are lost by its end. An
 * add also lowers P cells, 16 at a time: 142 of them at 1 %.
 *
 * THE PICTURE (m = 12 cells of 2 bits, k = 3, max = 3, P = 4, adding x)
 *
 *      cell       0  1  2  3  4  5  6  7  8  9 10 11
 *      before   | 1  0  3  0  2  0  0  3  1  0  0  2 |    x looks at 2, 5, 10:
 *                                                         5 and 10 are zero,
 *      lowered    0  .                          .  1      x is new
 *               | 0  0  3  0  2  0  0  3  1  0  0  1 |    start 10, P = 4:
 *                       |        |             |          cells 10, 11, 0, 1
 *      set              v        v             v
 *               | 0  0  3  0  2  3  0  3  1  0  3  1 |
 *
 * IMAGE
 *
 *      geometry 0   m, number of cells, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   max, what a cell is set to, 1 .. 255
 *      geometry 3   P, cells lowered by one add, 1 .. m
 *      payload      8 bytes: t, how often a key was added, modulo 2^64; 56 zero
 *                   bytes; then the cells, in w bits each: w is 1, 2, 4 or 8,
 *                   the least that can hold max. Cell i is the bits i w …
 *                   i w + w - 1, its lowest first; bit j is bit (j mod 8) of
 *                   byte j / 8. Zero bits up to a multiple of 8 bytes
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      has 64 + 8 ceil(m w / 64) bytes, (3) the zero bytes and bits are zero.
 *
 *      The probes are those of kind `standard` with its default index scheme.
 *      The cells that add number t (from 0) lowers begin at
 *
 *          range(mix(mix(seed) + (t + 1) G), m),   G = 9E3779B97F4A7C15
 *
 *      with the header's seed, and go on at cell 0 after cell m - 1. So the
 *      same keys in the same order give the same bytes, in one batch or many.
 *
 * MATHS
 *
 * In one add a cell is lowered with probability a = P/m and set with
 * probability b = 1 - (1-1/m)^k. (The paper has k/m, for cells that all
 * differ.) Looking back from now, a cell is zero if it was lowered max times
 * since it was last set. In each step back it was set; or it was not set but
 * lowered; or neither. So the probability of meeting max of the second before
 * one of the first is
 *
 *      z = (1 + b / ((1-b) a))^-max                                        (1)
 *
 * which is the stable share of zeros. There an absent key is found with
 * probability
 *
 *      F = (1-z)^k (1 + k (k-1) V / (2 m (1-z)^2))                         (2)
 *
 * The second factor accounts for the variation of the share of zeros over time,
 * whose variance is V/m. Neighbouring cells fade together, distant cells never
 * at the same time, so V is not that of independent cells:
 *
 *      V = z (1-z) + sum over all other cells of (Z_i - z^2)               (3)
 *
 * Z_i is the probability that a cell and the one i further are both zero. It
 * follows by looking back at both of them. With s and t times still to come,
 *
 *      Z(s,t) = u (p_i Z(s-1,t-1) + (a-p_i) (Z(s-1,t) + Z(s,t-1))
 *                  + (1-2a+p_i) Z(s,t)),   u = (1-2/m)^k, p_i = max(P-i,0)/m
 *
 * and Z(s,0) = Z(0,s) = z^(s/max). V is between half of z (1-z) and all of it
 * for the plans below, and several times as much if cells have few bits and P
 * is large.
 *
 * An empty filter has more zeros and approaches the stable point, to within
 * e^-(kt/m) after t adds, or sooner. Repeats of a key only leave more zeros: a
 * cell is zero if no key since its max-th last lowering sets it, and repeats
 * reduce the number of those keys. So F is the planned rate, and on average it
 * is never exceeded, whatever the stream, unless keys are chosen by their
 * hashes.
 *
 * A key is not found g adds of other keys after its own with probability
 *
 *      L = 1 - (1-q)^k,   q = z P(Bin(g, a + b - a b) >= max)              (4)
 *
 * by the same argument: the cell was lowered max times before it was set, all
 * within g steps. This is the paper's Markov chain of a cell in closed form
 * (tests/kinds/stable.c compares them). L grows with g up to 1 - (1-z)^k, at
 * which a key is found as often as an absent one. No key is lost within max - 1
 * adds.
 *
 * SIZES
 *
 * The capacity is the g of the plan: of the keys that were added that many
 * different keys ago, `lost` in a hundred, by default 1, are no longer found.
 * More recent keys are hardly ever lost; of those twice as far back, most are.
 * The plan takes the smallest P that keeps the rate, the smallest m that then
 * keeps the loss, and the k and the cell size, 1, 2 or 4 bits, that need the
 * least memory. In bits per key:
 *
 *      lost        rate 10 %    1 %    0.1 %   0.01 %
 *      1 in 2         13.3     41.0     73.7    112.4
 *      10 %           30.8     68.1    107.3    148.6
 *      1 %            41.9     90.6    141.3    194.4
 *
 * Cells of 5 or 6 bits would save up to 11 % of the last row but straddle
 * bytes. Cells of 8 bits would save 4 % at most, and every add would lower 17
 * times as many.
 *
 * A filter that forgets gradually needs more memory than one for a fixed set,
 * and no design avoids that for an endless stream. For any filter of M bits,
 * the two error rates add up to at least 1 - M/n after n keys, as for one that
 * tosses coins [Geraud-Stewart 2020]. Only the recent past can be known.
 *
 * PAPERS
 *
 *  [Deng 2006]   Approximately detecting duplicates for streaming data using
 *                stable Bloom filters, SIGMOD. The filter, (1), the chain; the
 *                spread and (4) are ours.
 *  [Geraud-Stewart 2020]  Approaching optimal duplicate detection in a sliding
 *                window, COCOON. The bound.
 */
#include "image/kind.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "bits/bits.h"
#include "bodies/cells.h"
#include "bits/counters.h"
#include "bits/hash.h"
#include "bits/index.h"
#include "maths/maths.h"

enum {
    STABLE_VERSION = 1,
    STABLE_M = 0, STABLE_K = 1, STABLE_MAX = 2, STABLE_P = 3, STABLE_LOST = 4,

    STABLE_HEAD = 64,                   /* bytes before the cells            */
    STABLE_MAX_MAX = 255
};

#define STABLE_M_MAX (UINT64_C(1) << 56)

/* The gap for which k and max are chosen if m is given. */
static const double STABLE_GAP = 1e6;

/* The m at which the zeros' spread is worked out: for larger and for much
 * smaller ones it is nearly the same. */
static const double STABLE_LARGE = 1 << 24;

/* The first four in the order of the geometry. */
static const kind_option stable_options[] = {
    [STABLE_M] = {
        .name = "m", .help = "number of cells, instead of a capacity",
        .least = 1, .most = STABLE_M_MAX, .standard = KIND_CHOOSE,
    },
    [STABLE_K] = {
        .name = "k", .help = "probes: cells that a key sets",
        .least = 1, .most = CELLS_K_MAX, .standard = KIND_CHOOSE,
    },
    [STABLE_MAX] = {
        .name = "max", .help = "what a cell is set to (1 bit holds 1, 2 bits "
                               "3, 4 bits 15)",
        .least = 1, .most = STABLE_MAX_MAX, .standard = KIND_CHOOSE,
    },
    [STABLE_P] = {
        .name = "p", .help = "cells lowered by one add, instead of a rate",
        .least = 1, .most = STABLE_M_MAX, .standard = KIND_CHOOSE,
    },
    [STABLE_LOST] = {
        .name = "lost", .help = "per cent of keys that are lost after as many "
                                "others as the capacity",
        .least = 1, .most = 50, .standard = 1,
    },
    { .name = NULL },
};

/* ---- The chain of a cell ----------------------------------------------- */

/* The geometry, for formulas, and V of (3). */
typedef struct { double m, k, max, p, spread; } stable_chain;

/* b: that an add sets a given cell. */
static double stable_set(const stable_chain *c)
{
    return -expm1(c->k * log1p(-1 / c->m));
}

/* 1 - z, by (1). */
static double stable_fill(const stable_chain *c)
{
    double b = stable_set(c), fade = (1 - b) * c->p / c->m;
    return -expm1(c->max * log1p(-b / (b + fade)));
}

/* F, by (2); it cannot be more than one probe would have. */
static double stable_rate(const stable_chain *c)
{
    double fill = stable_fill(c), k = c->k;
    double more = k * (k - 1) / 2 * c->spread / (c->m * fill * fill);
    return fmin(pow(fill, k) * (1 + more), fill);
}

/* The standard deviation of one moment's rate. */
static double stable_rate_sd(const stable_chain *c)
{
    double spread = fmax(c->spread, 0);    /* rounded, where all are set */
    return c->k * pow(stable_fill(c), c->k - 1) * sqrt(spread / c->m);
}

/* The P for which (1-z)^k is `rate`: a real number. */
static double stable_p_for(const stable_chain *c, double rate)
{
    double b = stable_set(c);
    double fade = log1p(-pow(rate, 1 / c->k)) / c->max;
    return b / (1 - b) * c->m * exp(fade) / -expm1(fade);
}

/* ---- The spread of the zeros ------------------------------------------- */

/* The chance that two cells, `apart` of each other, are both zero: again by
 * looking back, until each has been lowered max times before it was set. Row i
 * of the table has i still to come for the one, its place j for the other. */
static double stable_pair(const stable_chain *c, double apart)
{
    double b = stable_set(c), a = c->p / c->m;
    double one = (1 - b) * a / (b + (1 - b) * a);
    double kept = exp(c->k * log1p(-2 / c->m));     /* neither is set */
    double both = fmax(c->p - apart, 0) / c->m;
    double ends = -expm1(c->k * log1p(-2 / c->m)) + kept * (2 * a - both);
    double row[STABLE_MAX_MAX + 1], high = 1;
    size_t max = (size_t)c->max;
    for (size_t j = 0; j <= max; j++, high *= one)
        row[j] = high;
    for (size_t i = 1; i <= max; i++) {
        double corner = row[0];
        row[0] *= one;
        for (size_t j = 1; j <= max; j++) {
            double sides = row[j] + row[j - 1], above = row[j];
            row[j] = kept * (both * corner + (a - both) * sides) / ends;
            corner = above;
        }
    }
    return row[max];
}

/* V, by (3), of a large filter: Simpson's rule over the pairs that are less
 * than P apart, and all the others, which are alike. */
static double stable_spread(stable_chain c, double rate)
{
    enum { STEPS = 8 };
    c.m = STABLE_LARGE;
    c.p = c.p == 0 ? ceil(stable_p_for(&c, rate)) : c.p;
    c.p = fmin(fmax(c.p, 1), c.m / 2);
    double zero = 1 - stable_fill(&c), alone = zero * zero, near = 0;
    for (int i = 0; i <= STEPS; i++) {
        int weight = i == 0 || i == STEPS ? 1 : i % 2 != 0 ? 4 : 2;
        near += weight * (stable_pair(&c, c.p * i / STEPS) - alone);
    }
    double touch = stable_pair(&c, 0) - alone;
    double far = stable_pair(&c, c.p) - alone;
    near = near * c.p / (3 * STEPS) - (touch + far) / 2;
    return zero * (1 - zero) + 2 * near + (c.m - 2 * c.p) * far;
}

/* ---- False negatives --------------------------------------------------- */

/* P(Bin(n, p) >= least), by the terms that are below. */
static double stable_tail(double n, double p, double least)
{
    if (n < least)
        return 0;
    if (p >= 1)
        return 1;
    double term = exp(n * log1p(-p)), below = 0;
    for (double j = 0; j < least; j++) {
        below += term;
        term *= (n - j) / (j + 1) * p / (1 - p);
    }
    return fmax(1 - below, 0);
}

/* L after `gap` adds, by (4). */
static double stable_lost(const stable_chain *c, double gap)
{
    double b = stable_set(c), a = c->p / c->m;
    double zero = (1 - stable_fill(c)) * stable_tail(gap, a + b - a * b,
                                                     c->max);
    return -expm1(c->k * log1p(-zero));
}

/* Let P be the least that keeps the rate; false: not even m would. */
static bool stable_keep_rate(stable_chain *c, double rate)
{
    double low = 0, high = c->m;
    c->p = fmax(ceil(stable_p_for(c, rate)), 1);
    if (c->p <= c->m && stable_rate(c) <= rate)
        return true;
    if (c->p < c->m)
        low = c->p;
    c->p = high;
    if (stable_rate(c) > rate)
        return false;
    while (high - low > 1) {
        c->p = floor(low + (high - low) / 2);
        if (c->p <= low || c->p >= high)
            break;                      /* beyond 2^53 doubles are far apart */
        if (stable_rate(c) <= rate)
            high = c->p;
        else
            low = c->p;
    }
    c->p = high;
    return true;
}

/* ---- Plan: sizes ------------------------------------------------------- */

/* Bits of a cell. */
PLATFORM_INLINE uint32_t stable_width(uint64_t max)
{
    return max <= 1 ? 1 : max <= 3 ? 2 : max <= 15 ? 4 : 8;
}

/* Whole words, so that no word of cells reaches beyond the payload. */
static uint64_t stable_bytes(uint64_t m, uint64_t max)
{
    uint64_t bits = m * stable_width(max);
    return STABLE_HEAD + bits / 64 * 8 + (bits % 64 != 0 ? 8 : 0);
}

/* The bounds that a size must keep; p is 0 if it is to be chosen. */
typedef struct { double gap, rate, lost, p; } stable_wish;

/* Returns whether this m suffices, with its P; then every larger one does. */
static bool stable_fits(stable_chain *c, double m, const stable_wish *wish)
{
    c->m = m;
    c->p = wish->p;
    bool kept = wish->p == 0 ? stable_keep_rate(c, wish->rate)
                             : wish->p <= m && stable_rate(c) <= wish->rate;
    return kept && stable_lost(c, wish->gap) <= wish->lost;
}

/* The least m for this k and max, to one in a million; false: it is too large.
 * `guess` is where to begin. */
static bool stable_least_m(stable_chain *c, const stable_wish *wish,
                           double guess)
{
    double low = 0, high = guess;
    while (high < (double)STABLE_M_MAX && !stable_fits(c, high, wish)) {
        low = high;
        high = fmin(2 * high, (double)STABLE_M_MAX);
    }
    if (low == 0)
        for (low = floor(high / 2); low > 0 && stable_fits(c, low, wish); ) {
            high = low;
            low = floor(low / 2);
        }
    while (high - low > 1 + floor(low / (1 << 20))) {
        double middle = floor(low + (high - low) / 2);
        if (stable_fits(c, middle, wish))
            high = middle;
        else
            low = middle;
    }
    return stable_fits(c, high, wish);
}

/* Returns the starting point of the search for m. */
static double stable_guess(const stable_wish *wish)
{
    return fmin(wish->gap, (double)STABLE_M_MAX);
}

/* The best k for this max, least memory; false if none will do. Memory as a
 * function of k falls, then rises, but for small steps, since P is whole. */
static bool stable_best_k(stable_chain *best, const stable_wish *wish,
                          double max)
{
    double guess = stable_guess(wish);
    bool found = false;
    for (double k = 1; k <= CELLS_K_MAX; k++) {
        stable_chain c = { .k = k, .max = max, .p = wish->p };
        c.spread = stable_spread(c, wish->rate);
        if (!stable_least_m(&c, wish, guess))
            continue;
        if (found && c.m > 1.25 * best->m)
            break;
        if (!found || c.m < best->m)
            *best = c;
        found = true;
        guess = c.m;
    }
    return found;
}

/* Does so for the k of the options, if they have one. */
static bool stable_for_max(stable_chain *best, const stable_wish *wish,
                           double max, uint64_t k)
{
    if (k == KIND_CHOOSE)
        return stable_best_k(best, wish, max);
    *best = (stable_chain){ .k = (double)k, .max = max, .p = wish->p };
    best->spread = stable_spread(*best, wish->rate);
    return stable_least_m(best, wish, stable_guess(wish));
}

/* The k and max that take the least memory, of those that the options leave
 * open. */
static bool stable_choose(stable_chain *best, const stable_wish *wish,
                          const kind_spec *spec)
{
    static const double maxima[] = { 1, 3, 15 };
    uint64_t k = spec->option[STABLE_K], max = spec->option[STABLE_MAX];
    double least = INFINITY;
    if (max != KIND_CHOOSE)
        return stable_for_max(best, wish, (double)max, k);
    for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++) {
        stable_chain c;
        if (!stable_for_max(&c, wish, maxima[i], k))
            continue;
        double bits = c.m * stable_width((uint64_t)c.max);
        if (bits < least) {
            least = bits;
            *best = c;
        }
    }
    return isfinite(least);
}

/* The most keys that can come between without more than `lost` gone; at least
 * 1. No cell lasts for more than m max adds, or else for ever. */
static uint64_t stable_capacity(const stable_chain *c, double lost)
{
    uint64_t low = 1, high = (uint64_t)(c->m * c->max);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (stable_lost(c, (double)middle) <= lost)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A size that is chosen: by the capacity, rate and loss. */
static bly_status stable_by_capacity(stable_chain *c, const kind_spec *spec)
{
    uint64_t p = spec->option[STABLE_P];
    stable_wish wish = {
        .gap = (double)spec->capacity, .rate = spec->rate,
        .lost = (double)spec->option[STABLE_LOST] / 100,
        .p = p == KIND_CHOOSE ? 0 : (double)p,
    };
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (stable_choose(c, &wish, spec))
        return BLY_OK;
    if (p == KIND_CHOOSE)
        return kind_too_big(spec, "2^56 cells");
    return status_fail(BLY_EPARAM, "kind stable with p=%llu cannot keep a rate "
                       "of %.3g: give a larger p, or leave it out",
                       (unsigned long long)p, spec->rate);
}

/* Plans a filter of a given size. k and max are those of a large filter of the
 * same rate and loss; P keeps the rate if it can. */
static bly_status stable_by_m(stable_chain *c, const kind_spec *spec)
{
    uint64_t m = spec->option[STABLE_M], p = spec->option[STABLE_P];
    uint64_t k = spec->option[STABLE_K], max = spec->option[STABLE_MAX];
    stable_wish wish = {
        .gap = STABLE_GAP, .rate = spec->rate,
        .lost = (double)spec->option[STABLE_LOST] / 100,
    };
    if (p != KIND_CHOOSE && p > m)
        return status_fail(BLY_EPARAM, "kind stable cannot lower p=%llu of "
                           "m=%llu cells: give a smaller p",
                           (unsigned long long)p, (unsigned long long)m);
    if (k != KIND_CHOOSE && max != KIND_CHOOSE)
        *c = (stable_chain){ .k = (double)k, .max = (double)max };
    else if (!stable_choose(c, &wish, spec))
        return kind_too_big(spec, "2^56 cells");
    c->m = (double)m;
    c->p = p == KIND_CHOOSE ? 0 : (double)p;
    c->spread = stable_spread(*c, spec->rate);
    if (p == KIND_CHOOSE && !stable_keep_rate(c, spec->rate))
        c->p = c->m;
    return BLY_OK;
}

static bly_status stable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    stable_chain c = { .m = 0 };
    bly_status status = spec->option[STABLE_M] == KIND_CHOOSE
                      ? stable_by_capacity(&c, spec) : stable_by_m(&c, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, stable_bytes((uint64_t)c.m,
                                                    (uint64_t)c.max));
    if (status != BLY_OK)
        return status;

    double lost = (double)spec->option[STABLE_LOST] / 100;
    plan->capacity = spec->capacity != 0 ? spec->capacity
                                         : stable_capacity(&c, lost);
    plan->rate = stable_rate(&c);
    plan->rate_sd = stable_rate_sd(&c);
    plan->fill = stable_fill(&c);
    plan->lost = stable_lost(&c, (double)plan->capacity);
    plan->window = 0;
    plan->probes = (uint32_t)c.k;
    double lines = ceil((double)(plan->bytes - IMAGE_HEADER - STABLE_HEAD)
                        / 64);
    plan->lines_present = fmin(c.k, lines);
    plan->lines_absent = fmin(math_absent_probes(plan->fill, c.k), lines);
    plan->geometry[STABLE_M] = (uint64_t)c.m;
    plan->geometry[STABLE_K] = (uint64_t)c.k;
    plan->geometry[STABLE_MAX] = (uint64_t)c.max;
    plan->geometry[STABLE_P] = (uint64_t)c.p;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status stable_check(const void *image)
{
    uint64_t m = image_geometry(image, STABLE_M);
    uint64_t k = image_geometry(image, STABLE_K);
    uint64_t max = image_geometry(image, STABLE_MAX);
    uint64_t p = image_geometry(image, STABLE_P);

    bool sound = m >= 1 && m <= STABLE_M_MAX
              && k >= 1 && k <= CELLS_K_MAX
              && max >= 1 && max <= STABLE_MAX_MAX
              && p >= 1 && p <= m
              && image_payload_bytes(image) == stable_bytes(m, max);
    if (!sound)
        return kind_bad_geometry(image);

    const uint8_t *payload = image_payload(image);
    size_t bytes = image_payload_bytes(image);
    if (!bits_clear_from(payload, STABLE_HEAD, 64)
        || !bits_clear_from(payload + STABLE_HEAD, bytes - STABLE_HEAD,
                            m * stable_width(max)))
        return status_fail(BLY_ECORRUPT, "bits between or beyond the cells are "
                           "set");
    return BLY_OK;
}

/* ---- The cells --------------------------------------------------------- */

/* The fields of an image that the verbs need, read once. */
typedef struct {
    uint8_t *payload, *row;             /* from its start; from cell 0 on    */
    uint64_t m, p;
    uint64_t chance;                    /* what the starts are drawn from    */
    uint32_t k, max, width;
} stable_view;

PLATFORM_INLINE stable_view stable_look(const void *image)
{
    uint8_t *payload = image_payload_mut((void *)(uintptr_t)image);
    uint32_t max = (uint32_t)image_geometry(image, STABLE_MAX);
    return (stable_view){
        .payload = payload, .row = payload + STABLE_HEAD,
        .m = image_geometry(image, STABLE_M),
        .p = image_geometry(image, STABLE_P),
        .chance = hash_mix(image_u64(image, IMAGE_SEED)),
        .k = (uint32_t)image_geometry(image, STABLE_K),
        .max = max, .width = stable_width(max),
    };
}

/* Call `work` with a copy of the view of which the compiler knows the width. */
#define STABLE_FOR(view, work)                                                 \
    do {                                                                       \
        stable_view known = *(view);                                           \
        if (known.width == 4) {                                                \
            known.width = 4;                                                   \
            work;                                                              \
        } else if (known.width == 2) {                                         \
            known.width = 2;                                                   \
            work;                                                              \
        } else if (known.width == 1) {                                         \
            known.width = 1;                                                   \
            work;                                                              \
        } else {                                                               \
            known.width = 8;                                                   \
            work;                                                              \
        }                                                                      \
    } while (0)

/* Returns the cells, which a lookup reads as those of kind `counting`. */
PLATFORM_INLINE cells stable_cells(const void *image)
{
    uint64_t max = image_geometry(image, STABLE_MAX);
    return (cells){
        .m = image_geometry(image, STABLE_M),
        .k = (uint32_t)image_geometry(image, STABLE_K),
        .width = stable_width(max), .l = 1,
    };
}

/* The word with each of its cells lowered by one, of those in `which`, that is
 * above zero. All bits of a cell are gathered in its lowest one, which is then
 * what to take off; nothing is borrowed from the next cell. Cells do not
 * straddle bytes, so that the order of the bytes in the word does not matter,
 * if it is that of `which` too. */
PLATFORM_INLINE uint64_t stable_lowered(uint64_t word, uint64_t which,
                                        uint32_t width)
{
    uint64_t any = word;
    if (width >= 2)
        any |= any >> 1;
    if (width >= 4)
        any |= any >> 2;
    if (width >= 8)
        any |= any >> 4;
    return word - (any & UINT64_MAX / counters_max(width) & which);
}

/* The lowest n bits; all from 64 on. */
PLATFORM_INLINE uint64_t stable_below(uint64_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

PLATFORM_INLINE void stable_lower_some(uint8_t *word, uint64_t which,
                                       uint32_t width)
{
    image_set_u64(word, 0, stable_lowered(image_u64(word, 0), which, width));
}

PLATFORM_INLINE void stable_lower_all(uint8_t *word, uint32_t width)
{
    uint64_t lowered = stable_lowered(bits_word(word), UINT64_MAX, width);
    memcpy(word, &lowered, sizeof lowered);
}

/* Lower n >= 1 cells from cell `from` on. */
PLATFORM_INLINE void stable_lower_run(uint8_t *row, uint64_t from, uint64_t n,
                                      uint32_t width)
{
    uint64_t bit = from * width, last = bit + n * width - 1;
    uint64_t head = UINT64_MAX << (bit & 63);
    uint64_t tail = UINT64_MAX >> (63 - (last & 63));
    uint8_t *word = row + (bit >> 6) * 8, *end = row + (last >> 6) * 8;
    if (word == end) {
        stable_lower_some(word, head & tail, width);
        return;
    }
    stable_lower_some(word, head, width);
    for (word += 8; word < end; word += 8)
        stable_lower_all(word, width);
    stable_lower_some(end, tail, width);
}

/* Lower P cells from `start` on. Where there is room behind them it is always
 * as many words, of which the last two may be touched in part or not at all:
 * the processor could not guess from run to run how many they are. */
PLATFORM_INLINE void stable_lower(const stable_view *v, uint64_t start)
{
    uint64_t room = v->m - start, each = 64 / v->width, whole = v->p / each;
    uint64_t bit = start * v->width & 63;
    if (whole > 0 && room / each >= whole + 2) {
        uint64_t rest = bit + v->p % each * v->width;
        uint8_t *word = v->row + (start * v->width >> 6) * 8;
        stable_lower_some(word, UINT64_MAX << bit, v->width);
        for (uint64_t i = 1; i < whole; i++)
            stable_lower_all(word + 8 * i, v->width);
        stable_lower_some(word + 8 * whole, stable_below(rest), v->width);
        stable_lower_some(word + 8 * whole + 8,
                          stable_below(rest < 64 ? 0 : rest - 64), v->width);
        return;
    }
    uint64_t first = v->p < room ? v->p : room;
    stable_lower_run(v->row, start, first, v->width);
    if (first < v->p)
        stable_lower_run(v->row, 0, v->p - first, v->width);
}

/* ---- Adding ------------------------------------------------------------ */

/* Finds the cells of an add: the first one to lower, then the key's k. */
PLATFORM_INLINE void stable_find(uint64_t *turn, const stable_view *v,
                                 uint64_t hash, uint64_t t)
{
    uint64_t state = hash_spread(hash);
    turn[0] = bits_range(hash_mix(v->chance + (t + 1) * INDEX_GOLDEN), v->m);
    for (uint32_t i = 1; i <= v->k; i++, state *= HASH_STEP)
        turn[i] = bits_range(state, v->m);
}

/* A cell lies in one byte; `ones` is all of its bits. */
PLATFORM_INLINE bool stable_test(const stable_view *v, uint64_t at)
{
    uint64_t bit = at * v->width, ones = counters_max(v->width);
    uint64_t byte = v->row[bit >> 3];
    return byte >> (bit & 7) & ones;
}

PLATFORM_INLINE void stable_renew(const stable_view *v, uint64_t at)
{
    uint64_t bit = at * v->width;
    uint32_t shift = bit & 7, ones = counters_max(v->width);
    uint8_t *byte = v->row + (bit >> 3);
    *byte = (uint8_t)((*byte & ~(ones << shift)) | v->max << shift);
}

/* Performs an add; returns whether the key was perhaps there before. */
PLATFORM_INLINE bool stable_observe(const stable_view *v, const uint64_t *turn)
{
    bool seen = true;
    for (uint32_t i = 1; i <= v->k; i++)
        seen &= stable_test(v, turn[i]);
    stable_lower(v, turn[0]);
    for (uint32_t i = 1; i <= v->k; i++)
        stable_renew(v, turn[i]);
    return seen;
}

/* ---- Keys -------------------------------------------------------------- */

static bool stable_contains(const void *image, uint64_t hash)
{
    cells c = stable_cells(image);
    return cells_contains(&c, image_payload(image) + STABLE_HEAD, hash);
}

static void stable_contains_many(const void *image, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    cells c = stable_cells(image);
    cells_contains_many(&c, image_payload(image) + STABLE_HEAD, hashes, n,
                        present);
}

static bly_status stable_add(void *image, uint64_t hash)
{
    stable_view v = stable_look(image);
    uint64_t t = image_u64(v.payload, 0), turn[1 + CELLS_K_MAX];
    bool seen = false;
    stable_find(turn, &v, hash, t);
    STABLE_FOR(&v, seen = stable_observe(&known, turn));
    image_set_u64(v.payload, 0, t + 1);
    return seen ? BLY_SEEN : BLY_OK;
}

/* ---- Batches ----------------------------------------------------------- */

/* Lines on their way at most. */
enum { STABLE_RING = 128 };

/* Keys whose lines are on their way, at least one. Their turns, of k + 1 places
 * each, have room in as many words. */
static size_t stable_keys_ahead(const stable_view *v)
{
    uint64_t lines = 1 + v->k + v->p / (512 / v->width);
    size_t all = cpu_ahead(STABLE_RING, STABLE_RING, v->m / 8 * v->width);
    return lines < all ? (size_t)(all / lines) : 1;
}

static_assert((int)STABLE_RING > (int)CELLS_K_MAX,
              "one turn at least has room");

/* Prefetches the memory that an add will touch: its cells, and the first lines
 * of the run that it lowers. The processor follows a longer run by itself. */
PLATFORM_INLINE void stable_prefetch(const stable_view *v, const uint64_t *turn)
{
    const uint8_t *run = v->row + (turn[0] * v->width >> 3);
    uint64_t bytes = v->p * v->width >> 3;
    platform_prefetch_write(run);
    platform_prefetch_write(run + (bytes < 64 ? bytes : 64));
    for (uint32_t i = 1; i <= v->k; i++)
        platform_prefetch_write(v->row + (turn[i] * v->width >> 3));
}

/* Adds keys one by one, because each add depends on all before it, and
 * prefetches the lines of later ones. `seen` may be NULL. */
PLATFORM_INLINE void stable_observe_many(const stable_view *v,
                                         const uint64_t *hashes, size_t n,
                                         bool *seen)
{
    uint64_t t = image_u64(v->payload, 0), ring[STABLE_RING];
    size_t ahead = stable_keys_ahead(v), stride = v->k + 1, slot = 0;
    for (size_t i = 0; i < n && i < ahead; i++) {
        stable_find(ring + i * stride, v, hashes[i], t + i);
        stable_prefetch(v, ring + i * stride);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *turn = ring + slot * stride;
        bool was = stable_observe(v, turn);
        if (seen != NULL)
            seen[i] = was;
        if (n - i > ahead) {
            stable_find(turn, v, hashes[i + ahead], t + i + ahead);
            stable_prefetch(v, turn);
        }
        slot = slot + 1 < ahead ? slot + 1 : 0;
    }
    image_set_u64(v->payload, 0, t + n);
}

static bly_status stable_add_each(void *image, const uint64_t *hashes, size_t n,
                                  bool *seen, size_t *done)
{
    stable_view v = stable_look(image);
    STABLE_FOR(&v, stable_observe_many(&known, hashes, n, seen));
    *done = n;
    return BLY_OK;
}

static bly_status stable_add_many(void *image, const uint64_t *hashes,
                                  size_t n, size_t *done)
{
    return stable_add_each(image, hashes, n, NULL, done);
}

/* ---- Look inside ------------------------------------------------------- */

/* Fills in the statistics. Forgotten keys leave nothing to count, and no cell
 * saturates. */
static void stable_stat(bly_info_t *out, const void *image)
{
    cells c = stable_cells(image);
    stable_chain chain = {
        .m = (double)c.m, .k = c.k,
        .max = (double)image_geometry(image, STABLE_MAX),
        .p = (double)image_geometry(image, STABLE_P),
    };
    cells_stat(out, &c, image_payload(image) + STABLE_HEAD);
    out->distinct = out->distinct_sd = out->fill > 0 ? INFINITY : 0;
    out->saturated = 0;
    out->lost = stable_lost(&chain, (double)out->capacity);
    out->window = 0;
}

const bly_kind bly_kind_stable = {
    .name    = "stable",
    .family  = "forgetting",
    .summary = "the stable Bloom filter: endless streams, old keys fade",
    .version = STABLE_VERSION,
    .options = stable_options,
    .forgets = true,

    .plan  = stable_plan,
    .check = stable_check,
    .stat  = stable_stat,

    .contains      = stable_contains,
    .contains_many = stable_contains_many,

    .add      = stable_add,
    .add_many = stable_add_many,
    .add_each = stable_add_each,
};
