/* moduli.c - pairwise coprime numbers whose product is beyond a power.
 *
 * Floor 1.
 */
#include "maths/moduli.h"

#include <string.h>

#include "base/platform.h"
#include "base/sizes.h"

enum {
    MODULI_SMALL = 290,                 /* primes with a square in reach     */
    MODULI_POWERS = 160,                /* steps to second and later powers  */
    MODULI_STEPS = MODULI_MOST + MODULI_POWERS,
    MODULI_STRIDE = 3,
    MODULI_AFTER = MODULI_STRIDE * MODULI_CORE / 2,
    MODULI_HALF = 1 << (MODULI_CORE / 2)
};

/* ---- Logarithms -------------------------------------------------------- */

/* By squaring a number in [1, 2), 63 bits of fraction: a square of 2 or more
 * is one bit of the logarithm. Each square is rounded down, which makes less
 * than 2^-61 of the result. */
uint64_t moduli_log2(uint64_t v)
{
    uint64_t log = 63;
    while (v >> 63 == 0) {
        v <<= 1;
        log--;
    }
    for (int bit = 0; bit < MODULI_LOG; bit++) {
        v = platform_mul_high(v, v);
        log = log << 1 | v >> 63;
        v <<= v >> 63 == 0;
    }
    return log;
}

/* ---- Steps ------------------------------------------------------------- */

/* From prime^(power-1) to prime^power. */
typedef struct {
    uint32_t prime, cost;
} moduli_step;

/* Steps in the order of their cost a gain; the first `taken` of them are
 * enough, and `total` is what they gain. */
typedef struct {
    moduli_step step[MODULI_STEPS];
    bool        in[MODULI_STEPS];
    size_t      n, taken;
    uint64_t    need, total;
} moduli_list;

static uint64_t moduli_gain(const moduli_step *s)
{
    return moduli_log2(s->prime);
}

/* Cost a gain, to put steps in order. */
static uint64_t moduli_ratio(const moduli_step *s)
{
    return ((uint64_t)s->cost << 24) / (moduli_gain(s) >> 20);
}

/* Append a step; take it if there is not enough yet. */
static void moduli_append(moduli_list *list, const moduli_step *s)
{
    bool take = list->total < list->need;
    list->in[list->n] = take;
    list->step[list->n++] = *s;
    list->taken += take;
    list->total += take ? moduli_gain(s) : 0;
}

/* Are there enough, and those that might take their place? */
static bool moduli_full(const moduli_list *list)
{
    return list->total >= list->need
        && list->n >= list->taken + MODULI_AFTER;
}

/* Odd i is marked in bit i/2 if it has a divisor. */
typedef struct {
    uint8_t marks[MODULI_BELOW / 16 + 1];
} moduli_sieve;

static void moduli_sieve_start(moduli_sieve *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t p = 3; p < MODULI_SMALL; p += 2)
        for (uint32_t i = p * p; i < MODULI_BELOW; i += 2 * p)
            s->marks[i / 16] |= (uint8_t)(1u << (i / 2 % 8));
}

static bool moduli_prime(const moduli_sieve *s, uint32_t i)
{
    return i == 2
        || (i % 2 == 1 && (s->marks[i / 16] >> (i / 2 % 8) & 1) == 0);
}

/* The steps to squares, cubes and so on, by ratio; how many. */
static size_t moduli_later(moduli_step later[MODULI_POWERS],
                           const moduli_sieve *s)
{
    size_t n = 0;
    for (uint32_t p = 2; p < MODULI_SMALL; p++)
        for (uint32_t q = p; moduli_prime(s, p) && q <= MODULI_BELOW / p;
             q *= p) {
            moduli_step step = { p, q * p - q };
            size_t at = n++;
            for (; at > 0 && moduli_ratio(&later[at - 1])
                             > moduli_ratio(&step); at--)
                later[at] = later[at - 1];
            later[at] = step;
        }
    return n;
}

/* Steps enough and MODULI_AFTER more, as far as there are; false if there are
 * not enough. */
static bool moduli_collect(moduli_list *list, uint64_t need, bool powers)
{
    moduli_sieve sieve;
    moduli_step later[MODULI_POWERS];
    moduli_sieve_start(&sieve);
    size_t n = powers ? moduli_later(later, &sieve) : 0, next = 0;

    list->n = list->taken = 0;
    list->total = 0;
    list->need = need;
    for (uint32_t p = 2; p < MODULI_BELOW && !moduli_full(list); p++) {
        moduli_step step = { p, p };
        if (!moduli_prime(&sieve, p))
            continue;
        while (next < n && moduli_ratio(&later[next]) < moduli_ratio(&step))
            moduli_append(list, &later[next++]);
        moduli_append(list, &step);
    }
    return list->total >= list->need;
}

/* ---- A smaller sum ----------------------------------------------------- */

/* What some of the steps of one half come to. */
typedef struct {
    uint64_t gain;
    uint32_t cost, chosen;              /* bit i: step i of the half         */
} moduli_some;

typedef struct {
    moduli_some some[MODULI_HALF];      /* by gain                           */
    size_t      n, at[MODULI_CORE / 2], steps;
} moduli_half;

/* Every choice so far, and every one with this step too: merged from behind,
 * in its place. */
static void moduli_double(moduli_half *h, const moduli_step *step, size_t at)
{
    uint64_t gain = moduli_gain(step);
    size_t without = h->n, with = h->n;
    for (size_t to = 2 * h->n; to-- > 0; ) {
        bool take = without == 0
                 || (with > 0 && h->some[with - 1].gain + gain
                                 >= h->some[without - 1].gain);
        moduli_some s = h->some[take ? --with : --without];
        if (take) {
            s.gain += gain;
            s.cost += step->cost;
            s.chosen |= UINT32_C(1) << h->steps;
        }
        h->some[to] = s;
    }
    h->at[h->steps++] = at;
    h->n *= 2;
}

static void moduli_take(moduli_list *list, const moduli_half *h,
                        uint32_t chosen)
{
    for (size_t i = 0; i < h->steps; i++) {
        bool take = chosen >> i & 1;
        list->in[h->at[i]] = take;
        list->total += take ? moduli_gain(&list->step[h->at[i]]) : 0;
    }
}

/* Of both halves what costs least and brings the total up to the need: the
 * more one gains, the less the other has to. */
static void moduli_best(moduli_list *list, const moduli_half *a,
                        const moduli_half *b)
{
    uint64_t lack = list->need > list->total ? list->need - list->total : 0;
    const moduli_some *cheapest = NULL, *best = NULL, *beside = NULL;
    size_t from = b->n;
    for (size_t i = 0; i < a->n; i++) {
        const moduli_some *s = &a->some[i];
        for (; from > 0 && s->gain + b->some[from - 1].gain >= lack; from--)
            if (cheapest == NULL || b->some[from - 1].cost < cheapest->cost)
                cheapest = &b->some[from - 1];
        if (cheapest != NULL
            && (best == NULL
                || s->cost + cheapest->cost < best->cost + beside->cost)) {
            best = s;
            beside = cheapest;
        }
    }
    moduli_take(list, a, best->chosen);
    moduli_take(list, b, beside->chosen);
}

/* Choose MODULI_CORE steps anew, every `stride`th about the last one taken. */
static void moduli_improve(moduli_list *list, size_t stride)
{
    moduli_half half[2];
    for (int i = 0; i < 2; i++) {
        half[i].some[0] = (moduli_some){ 0, 0, 0 };
        half[i].n = 1;
        half[i].steps = 0;
    }
    for (size_t i = 0; i < MODULI_CORE; i++) {
        size_t at = list->taken + stride * i;
        if (at < stride * MODULI_CORE / 2
            || at - stride * MODULI_CORE / 2 >= list->n)
            continue;
        at -= stride * MODULI_CORE / 2;
        const moduli_step *step = &list->step[at];
        list->total -= list->in[at] ? moduli_gain(step) : 0;
        moduli_double(&half[i % 2], step, at);
    }
    moduli_best(list, &half[0], &half[1]);
}

/* ---- The choice -------------------------------------------------------- */

/* Put a modulus among those that are larger and smaller. */
static void moduli_insert(moduli *out, uint32_t q)
{
    size_t at = out->n++;
    for (; at > 0 && out->of[at - 1] < q; at--)
        out->of[at] = out->of[at - 1];
    out->of[at] = q;
    out->sum += q;
}

/* From the steps that are in to the powers they lead to. */
static void moduli_list_out(moduli *out, const moduli_list *list)
{
    uint32_t power[MODULI_SMALL];
    for (size_t p = 0; p < MODULI_SMALL; p++)
        power[p] = 1;
    out->n = 0;
    out->sum = 0;
    for (size_t i = list->n; i-- > 0; ) {
        uint32_t p = list->step[i].prime;
        if (list->in[i] && p < MODULI_SMALL)
            power[p] *= p;
        else if (list->in[i])
            moduli_insert(out, p);
    }
    for (size_t p = 0; p < MODULI_SMALL; p++)
        if (power[p] > 1)
            moduli_insert(out, power[p]);
}

bool moduli_choose(moduli *out, uint64_t last, uint64_t n, bool powers)
{
    moduli_list list;
    uint64_t need;
    if (!sizes_mul(&need, n, moduli_log2(last) + 2)
        || need >> 62 != 0 || !moduli_collect(&list, need, powers))
        return false;
    for (size_t stride = 1; powers && stride <= MODULI_STRIDE; stride++)
        moduli_improve(&list, stride);
    moduli_list_out(out, &list);
    return true;
}
