/* strides.c - the rate of positions that come from one hash.
 *
 * Floor 1. The formulas are in strides.h; tests/formats/rates.c compares every
 * format's plan with counted answers.
 */
#include "maths/strides.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "maths/maths.h"

enum {
    STRIDES_MOST = MATH_GIVEN,          /* positions that are told apart     */
    STRIDES_FRACTIONS = 8,              /* the largest p                     */
    STRIDES_SAMPLES = 64,               /* of the wraps of a step            */
    STRIDES_STEPS = 1024,               /* steps with own collisions, most   */
    STRIDES_WORDS = 4
};

/* Above it own collisions are rarer than one in 2^50. */
#define STRIDES_M_MOST (UINT64_C(1) << 50)

/* Evenly spread numbers, the same in each call: splitmix64. */
static uint64_t strides_draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t strides_mask(const strides *s)
{
    return UINT64_MAX >> (64 - s->width);
}

/* The modulus of steps: halving makes 2 m residues of m positions. */
static uint64_t strides_modulus(const strides *s)
{
    return s->form == STRIDES_HALVED ? 2 * s->m : s->m;
}

/* What a wrap takes away: 2^width mod `modulus`. */
static uint64_t strides_wrap(const strides *s, uint64_t modulus)
{
    return (strides_mask(s) % modulus + 1) % modulus;
}

static uint32_t strides_told(const strides *s)
{
    return s->k < STRIDES_MOST ? s->k : STRIDES_MOST;
}

static uint64_t strides_place(const strides *s, const uint64_t *h, uint64_t i)
{
    if (s->form == STRIDES_FOUR)
        return (h[i % 2] + i * h[2 + (i + i % 2) % 4 / 2]) % s->m;
    uint64_t v = (h[0] + i * h[1]) & strides_mask(s);
    if (s->form == STRIDES_HALVED)
        v /= 2;
    if (s->form == STRIDES_FOLDED && v >> (s->width - 1) != 0)
        v ^= strides_mask(s);
    return v % s->m;
}

/* ---- Own collisions ---------------------------------------------------- */

typedef struct {
    uint64_t of[STRIDES_STEPS];
    size_t   n;
} strides_steps;

static void strides_note(strides_steps *steps, uint64_t step)
{
    for (size_t i = 0; i < steps->n; i++)
        if (steps->of[i] == step)
            return;
    if (steps->n < STRIDES_STEPS)
        steps->of[steps->n++] = step;
}

/* All b of p b = sum modulo `modulus`. */
static void strides_solve(strides_steps *steps, uint64_t p, uint64_t sum,
                          uint64_t modulus)
{
    for (uint64_t r = 0; r < p; r++)
        if ((sum + r * modulus) % p == 0)
            strides_note(steps, (sum + r * modulus) / p);
}

/* Steps with which a key meets its own positions. */
static void strides_find(strides_steps *steps, const strides *s,
                         uint64_t modulus)
{
    uint64_t wrap = strides_wrap(s, modulus);
    uint64_t apart = s->form == STRIDES_FOUR ? 4 : 1;
    uint64_t most = strides_told(s) - 1;
    steps->n = 0;
    for (uint64_t p = apart; p <= most && p <= apart * STRIDES_FRACTIONS;
         p += apart)
        for (uint64_t turns = 0; turns <= p; turns++) {
            uint64_t sum = turns * wrap % modulus;
            uint64_t off = modulus - sum;
            strides_solve(steps, p, sum, modulus);
            strides_solve(steps, p, off % modulus, modulus);
            if (s->form == STRIDES_HALVED) {
                strides_solve(steps, p, (sum + 1) % modulus, modulus);
                strides_solve(steps, p, (sum + modulus - 1) % modulus, modulus);
                strides_solve(steps, p, (off + 1) % modulus, modulus);
                strides_solve(steps, p, off - 1, modulus);
            }
        }
}

/* How many different positions the key of these hashes has. */
static uint32_t strides_distinct(const strides *s, const uint64_t *h)
{
    uint64_t seen[STRIDES_MOST];
    uint32_t n = 0, told = strides_told(s);
    for (uint32_t i = 0; i < told; i++) {
        uint64_t at = strides_place(s, h, i);
        uint32_t j = 0;
        while (j < n && seen[j] != at)
            j++;
        seen[j] = at;
        n += j == n;
    }
    return n;
}

/* A word of that residue, the sample-th of evenly spaced ones. */
static uint64_t strides_word(const strides *s, uint64_t sample,
                             uint64_t residue, uint64_t modulus)
{
    uint64_t word = (UINT64_MAX / STRIDES_SAMPLES * sample
                     + UINT64_MAX / STRIDES_SAMPLES / 2) >> (64 - s->width);
    return (word - word % modulus + residue) & strides_mask(s);
}

/* The share of keys with this step, spread over the numbers of positions. */
static void strides_spread(math_chances *own, const strides *s, uint64_t step,
                           uint64_t modulus, uint64_t *random)
{
    double share = 1 / (double)modulus / STRIDES_SAMPLES;
    for (uint64_t i = 0; i < STRIDES_SAMPLES; i++) {
        uint64_t h[STRIDES_WORDS];
        for (size_t w = 0; w < STRIDES_WORDS; w++)
            h[w] = strides_draw(random);
        size_t at = s->form == STRIDES_FOUR ? 2 + i % 2 : 1;
        h[at] = strides_word(s, i, step, modulus);
        if (s->form == STRIDES_ROTATED)
            h[0] = (h[1] << 17 | h[1] >> 15) & strides_mask(s);
        own->of[strides_distinct(s, h)] += share;
    }
}

/* The chances of keys whose two steps of four words both meet themselves. */
static void strides_spread_both(math_chances *own, const strides *s,
                                const strides_steps *steps, uint64_t *random)
{
    const double pairs = 16.0 * STRIDES_SAMPLES;
    double share = (double)steps->n / (double)s->m;
    share *= share;
    for (uint64_t i = 0; i < 16 * STRIDES_SAMPLES; i++) {
        uint64_t h[STRIDES_WORDS];
        for (size_t w = 0; w < STRIDES_WORDS; w++)
            h[w] = strides_draw(random);
        for (size_t w = 2; w < STRIDES_WORDS; w++) {
            uint64_t step = steps->of[h[w] % steps->n];
            h[w] = strides_draw(random);
            h[w] = h[w] - h[w] % s->m + step;
        }
        own->of[strides_distinct(s, h)] += share / pairs;
    }
}

/* D_j. */
static math_chances strides_own(const strides *s)
{
    math_chances own = { { 0 } };
    uint32_t told = strides_told(s);
    uint64_t modulus = strides_modulus(s), random = s->m;
    double usual = 1;
    if (s->form != STRIDES_NONE && s->m <= STRIDES_M_MOST
        && s->m <= strides_mask(s) / STRIDES_WORDS) {
        strides_steps steps;
        strides_find(&steps, s, modulus);
        for (size_t i = 0; i < steps.n; i++)
            strides_spread(&own, s, steps.of[i], modulus, &random);
        usual -= (double)steps.n / (double)modulus;
        if (s->form == STRIDES_FOUR && steps.n > 0) {
            /* only one of the two, either; and both */
            for (uint32_t j = 0; j <= told; j++)
                own.of[j] *= 2 * usual;
            strides_spread_both(&own, s, &steps, &random);
            usual *= usual;
        }
    }
    own.of[told] += usual;
    return own;
}

/* ---- The positions of another ------------------------------------------ */

/* The number of wraps before position i, i < told, of a start and a step. */
static void strides_turns(uint64_t *turns, const strides *s, uint64_t *random)
{
    uint64_t at = strides_draw(random) >> (64 - s->width);
    uint64_t step = strides_draw(random) >> (64 - s->width);
    turns[0] = 0;
    for (uint32_t i = 1; i < strides_told(s); i++) {
        uint64_t next = (at + step) & strides_mask(s);
        turns[i] = turns[i - 1] + (next < at);
        at = next;
    }
}

/* sum (f^(k - t) - f^k) over the runs of t common positions of two keys, one
 * `ahead` positions ahead. Its step has `more` wraps' residue more. */
static double strides_runs(const strides *s, const uint64_t *a,
                           const uint64_t *b, uint32_t ahead, uint64_t more,
                           double fill)
{
    uint64_t modulus = strides_modulus(s), wrap = strides_wrap(s, modulus);
    uint64_t gaps[STRIDES_MOST];
    uint32_t times[STRIDES_MOST], n = 0, told = strides_told(s);
    double sum = 0, all = pow(fill, told);
    for (uint32_t i = 0; i + ahead < told; i++) {
        uint64_t gap = (a[i + ahead] + told - b[i] + more * i) * wrap % modulus;
        uint32_t j = 0;
        while (j < n && gaps[j] != gap)
            j++;
        if (j == n) {
            gaps[n] = gap;
            times[n++] = 0;
        }
        times[j]++;
    }
    for (uint32_t j = 0; j < n; j++)
        if (times[j] > 1)
            sum += pow(fill, told - times[j]) - all;
    return sum;
}

/* The second term of (1). */
static double strides_others(const strides *s, double n, double fill)
{
    uint64_t modulus = strides_modulus(s), random = ~s->m;
    uint64_t wrap = s->m > STRIDES_M_MOST ? 0 : strides_wrap(s, modulus);
    double each = 2 * n / ((double)modulus * (double)modulus), sum = 0;
    if (s->form == STRIDES_NONE || s->form == STRIDES_FOUR || s->k < 3
        || !(each > 0) || s->m > STRIDES_M_MOST)
        return 0;
    uint64_t samples = wrap == 0 ? 1 : STRIDES_SAMPLES;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t a[STRIDES_MOST], b[STRIDES_MOST];
        strides_turns(a, s, &random);
        strides_turns(b, s, &random);
        for (uint32_t d = 0; d < strides_told(s); d++)
            for (uint64_t more = 0; more < 1 + (wrap != 0); more++)
                sum += strides_runs(s, a, b, d, more, fill)
                     * (d == 0 ? 1 : 2) * (more == 0 ? 1 : 2);
    }
    /* a position of two residues is common by either of them */
    return each * sum / (double)samples * (s->form == STRIDES_HALVED ? 2 : 1);
}

/* ---- Rates -------------------------------------------------------------- */

static double strides_equal(const strides *s, double n)
{
    return s->form == STRIDES_ROTATED ? -expm1(-n / 4294967296.0) : 0;
}

double strides_rate_of(const strides *s, double n, double fill)
{
    math_chances own = strides_own(s);
    uint32_t told = strides_told(s);
    double rate = own.of[told] * pow(fill, s->k);
    for (uint32_t j = 0; j < told; j++)
        rate += own.of[j] * pow(fill, j);
    return fmin(rate + strides_others(s, n, fill) + strides_equal(s, n), 1);
}

/* E[(X/m)^j], from the mean and variance of X after t different positions. */
static double strides_power(double fill, double spread, double j)
{
    return pow(fill, j) * (1 + j * (j - 1) / 2 * spread);
}

double strides_rate(const strides *s, double n, double *fill)
{
    math_chances own = strides_own(s);
    uint32_t told = strides_told(s);
    double m = (double)s->m, each = own.of[told] * s->k, rate = 0;
    for (uint32_t j = 0; j < told; j++)
        each += own.of[j] * j;
    each = fmin(each, m);
    /* a key's positions differ, unlike t independent ones */
    double f = each < m ? -expm1(n * log1p(-each / m)) : 1;
    double spread = n > 1 ? math_set_variance(m, n * each) / (f * f * m * m)
                  : 0;
    for (uint32_t j = 0; j < told; j++)
        rate += own.of[j] * strides_power(f, spread, j);
    rate += own.of[told] * strides_power(f, spread, s->k);
    *fill = f;
    return fmin(rate + strides_others(s, n, f) + strides_equal(s, n), 1);
}
