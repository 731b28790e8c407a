/* moduli.c - pairwise coprime numbers whose product is beyond a power. */
#include "maths/moduli.h"

#include <string.h>

#include "base/platform.h"
#include "base/sizes.h"

enum {
    MODULI_SMALL = 290,                 /* primes whose squares are in range */
    MODULI_POWERS = 160,                /* steps to second and higher powers */
    MODULI_STRIDE = 3,
    MODULI_AFTER = MODULI_STRIDE * MODULI_CORE / 2,
    MODULI_LAST = 128,                  /* steps kept: more than twice
                                           MODULI_AFTER                      */
    MODULI_HALF = 1 << (MODULI_CORE / 2)
};

/* ---- Logarithms -------------------------------------------------------- */

/* Squares a number in [1, 2) with 63 bits of fraction: each square of 2 or more
 * yields a one bit of the logarithm. Rounding down loses less than 2^-61. */
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

/* ---- Numbers that are moduli ------------------------------------------- */

static bool moduli_is(const moduli *m, uint32_t i)
{
    return i % 2 == 0 ? i == m->even
                      : (m->none[i / 16] >> (i / 2 % 8) & 1) == 0;
}

static void moduli_set(moduli *m, uint32_t i, bool in)
{
    uint8_t bit = (uint8_t)(1u << (i / 2 % 8));
    if (i % 2 == 0)
        m->even = in ? i : m->even == i ? 0 : m->even;
    else if (in)
        m->none[i / 16] &= (uint8_t)~bit;
    else
        m->none[i / 16] |= bit;
}

uint32_t moduli_before(const moduli *m, uint32_t limit)
{
    while (limit-- > 2) {
        if (moduli_is(m, limit))
            return limit;
        if (m->none[limit / 16] == 0xFF && m->even / 16 != limit / 16)
            limit -= limit % 16;
    }
    return 0;
}

/* Starts with all primes. */
static void moduli_primes(moduli *m)
{
    memset(m->none, 0, sizeof m->none);
    m->even = 2;
    moduli_set(m, 1, false);
    for (uint32_t p = 3; p < MODULI_SMALL; p += 2)
        for (uint32_t i = p * p; i < MODULI_BELOW; i += 2 * p)
            moduli_set(m, i, false);
}

/* ---- Steps ------------------------------------------------------------- */

/* A step from prime^(power-1) to prime^power. */
typedef struct {
    uint32_t prime, cost;
    uint64_t gain;
} moduli_step;

/* Steps in order of cost per gain; the first `taken` suffice, and gain `total`.
 * The best choice differs from these only around the last one taken, so only
 * the last steps are kept: step i at i % MODULI_LAST. */
typedef struct {
    moduli_step step[MODULI_LAST];
    bool        in[MODULI_LAST];
    size_t      n, taken;
    uint64_t    need, total;
} moduli_list;

static moduli_step moduli_step_for(uint32_t prime, uint32_t cost)
{
    return (moduli_step){ prime, cost, moduli_log2(prime) };
}

/* Returns the cost per gain, for ordering steps. */
static uint64_t moduli_ratio(const moduli_step *s)
{
    return ((uint64_t)s->cost << 24) / (s->gain >> 20);
}

/* Appends a step, and takes it if there is not enough yet. */
static void moduli_append(moduli_list *list, const moduli_step *s)
{
    bool take = list->total < list->need;
    list->in[list->n % MODULI_LAST] = take;
    list->step[list->n++ % MODULI_LAST] = *s;
    list->taken += take;
    list->total += take ? s->gain : 0;
}

/* Returns whether there are enough steps, and enough candidates to replace
   some. */
static bool moduli_full(const moduli_list *list)
{
    return list->total >= list->need
        && list->n >= list->taken + MODULI_AFTER;
}

static bool moduli_in(const moduli_list *list, size_t i)
{
    return i + MODULI_LAST < list->n || (i < list->n
                                         && list->in[i % MODULI_LAST]);
}

/* The steps to squares, cubes and so on, by ratio, with their indices. */
typedef struct {
    moduli_step step[MODULI_POWERS];
    uint16_t    number[MODULI_POWERS];
    size_t      n, appended;
} moduli_later;

static void moduli_later_find(moduli_later *l, const moduli *primes)
{
    for (uint32_t p = 2; p < MODULI_SMALL; p++)
        for (uint32_t q = p; moduli_is(primes, p) && q <= MODULI_BELOW / p;
             q *= p) {
            moduli_step step = moduli_step_for(p, q * p - q);
            size_t at = l->n++;
            for (; at > 0 && moduli_ratio(&l->step[at - 1])
                             > moduli_ratio(&step); at--)
                l->step[at] = l->step[at - 1];
            l->step[at] = step;
        }
}

/* Appends the later steps that come before a given ratio. */
static void moduli_append_later(moduli_list *list, moduli_later *later,
                                uint64_t ratio)
{
    for (; later->appended < later->n; later->appended++) {
        const moduli_step *step = &later->step[later->appended];
        if (moduli_ratio(step) >= ratio)
            return;
        later->number[later->appended] = (uint16_t)list->n;
        moduli_append(list, step);
    }
}

/* Collects enough steps and MODULI_AFTER more, if there are that many. Returns
 * false if there are not enough. */
static bool moduli_collect(moduli_list *list, moduli_later *later,
                           const moduli *primes, uint64_t need)
{
    list->n = list->taken = 0;
    list->total = 0;
    list->need = need;
    for (uint32_t p = 2; p < MODULI_BELOW && !moduli_full(list); p++) {
        if (!moduli_is(primes, p))
            continue;
        moduli_step step = moduli_step_for(p, p);
        moduli_append_later(list, later, moduli_ratio(&step));
        moduli_append(list, &step);
    }
    return list->total >= list->need;
}

/* ---- A smaller sum ----------------------------------------------------- */

enum { MODULI_QUARTER = MODULI_CORE / 4, MODULI_SUMS = 1 << MODULI_QUARTER };

typedef struct {
    uint64_t gain;
    uint32_t cost;
} moduli_sum;

/* All subsets of one half of the steps, by gain: bit i is step i. The gain of a
 * subset is the sum of two entries of `sum`, for its low and high bits. */
typedef struct {
    uint16_t   some[MODULI_HALF];
    moduli_sum sum[2][MODULI_SUMS];
    size_t     n, at[MODULI_CORE / 2], steps;
} moduli_half;

static moduli_sum moduli_sum_of(const moduli_half *h, size_t i)
{
    const moduli_sum *low = &h->sum[0][h->some[i] % MODULI_SUMS];
    const moduli_sum *high = &h->sum[1][h->some[i] / MODULI_SUMS];
    return (moduli_sum){ low->gain + high->gain, low->cost + high->cost };
}

static uint64_t moduli_gain(const moduli_half *h, size_t i)
{
    return moduli_sum_of(h, i).gain;
}

static uint32_t moduli_cost(const moduli_half *h, size_t i)
{
    return moduli_sum_of(h, i).cost;
}

/* Adds a step; sums with it follow those without it. */
static void moduli_sums(moduli_half *h, const moduli_step *step)
{
    moduli_sum *sum = h->sum[h->steps / MODULI_QUARTER];
    size_t n = (size_t)1 << h->steps % MODULI_QUARTER;
    for (size_t i = 0; i < n; i++)
        sum[n + i] = (moduli_sum){ sum[i].gain + step->gain,
                                   sum[i].cost + step->cost };
}

/* Doubles the subsets by this step: merges them in place, from the end. */
static void moduli_double(moduli_half *h, const moduli_step *step, size_t at)
{
    size_t without = h->n, with = h->n;
    for (size_t to = 2 * h->n; to-- > 0; ) {
        bool take = without == 0
                 || (with > 0 && moduli_gain(h, with - 1) + step->gain
                                 >= moduli_gain(h, without - 1));
        unsigned some = h->some[take ? --with : --without];
        h->some[to] = (uint16_t)(some | (unsigned)take << h->steps);
    }
    moduli_sums(h, step);
    h->at[h->steps++] = at;
    h->n *= 2;
}

static void moduli_take(moduli_list *list, const moduli_half *h, size_t choice)
{
    for (size_t i = 0; i < h->steps; i++)
        list->in[h->at[i] % MODULI_LAST] = h->some[choice] >> i & 1;
    list->total += moduli_gain(h, choice);
}

/* Finds the cheapest pair from both halves that reaches the need: the more one
 * gains, the less the other must. */
static void moduli_best(moduli_list *list, const moduli_half *a,
                        const moduli_half *b)
{
    uint64_t lack = list->need > list->total ? list->need - list->total : 0;
    uint32_t cheapest = UINT32_MAX, least = UINT32_MAX;
    size_t from = b->n, with = 0, best = 0, beside = 0;
    for (size_t i = 0; i < a->n; i++) {
        uint64_t gain = moduli_gain(a, i);
        for (; from > 0 && gain + moduli_gain(b, from - 1) >= lack; from--) {
            uint32_t cost = moduli_cost(b, from - 1);
            with = cost < cheapest ? from - 1 : with;
            cheapest = cost < cheapest ? cost : cheapest;
        }
        if (from < b->n && moduli_cost(a, i) + cheapest < least) {
            least = moduli_cost(a, i) + cheapest;
            best = i;
            beside = with;
        }
    }
    moduli_take(list, a, best);
    moduli_take(list, b, beside);
}

/* Chooses MODULI_CORE steps again, every `stride`th around the last one taken.
 */
static void moduli_improve(moduli_list *list, size_t stride)
{
    moduli_half half[2];
    for (int i = 0; i < 2; i++) {
        half[i].some[0] = 0;
        half[i].sum[0][0] = half[i].sum[1][0] = (moduli_sum){ 0, 0 };
        half[i].n = 1;
        half[i].steps = 0;
    }
    for (size_t i = 0; i < MODULI_CORE; i++) {
        size_t at = list->taken + stride * i;
        if (at < stride * MODULI_CORE / 2
            || at - stride * MODULI_CORE / 2 >= list->n)
            continue;
        at -= stride * MODULI_CORE / 2;
        const moduli_step *step = &list->step[at % MODULI_LAST];
        list->total -= moduli_in(list, at) ? step->gain : 0;
        moduli_double(&half[i % 2], step, at);
    }
    moduli_best(list, &half[0], &half[1]);
}

/* ---- The choice -------------------------------------------------------- */

/* Keeps the primes whose steps were chosen. */
static void moduli_keep(moduli *out, const moduli_list *list,
                        const moduli_later *later)
{
    size_t number = 0, next = 0;
    uint32_t p = 2;
    for (; number < list->n; p++) {
        if (!moduli_is(out, p))
            continue;
        for (; next < later->appended && later->number[next] == number; next++)
            number++;
        moduli_set(out, p, moduli_in(list, number++));
    }
    for (; p % 16 != 0; p++)
        moduli_set(out, p, false);
    memset(out->none + p / 16, 0xFF, sizeof out->none - p / 16);
}

/* Raises primes to the powers chosen; a later step of a prime may be chosen
 * without the first. */
static void moduli_raise(moduli *out, const moduli_list *list,
                         const moduli_later *later)
{
    uint32_t power[MODULI_SMALL];
    for (uint32_t p = 2; p < MODULI_SMALL; p++)
        power[p] = moduli_is(out, p) ? p : 1;
    for (size_t i = 0; i < later->appended; i++)
        if (moduli_in(list, later->number[i]))
            power[later->step[i].prime] *= later->step[i].prime;
    for (uint32_t p = 2; p < MODULI_SMALL; p++)
        moduli_set(out, p, false);
    for (uint32_t p = 2; p < MODULI_SMALL; p++)
        if (power[p] > 1)
            moduli_set(out, power[p], true);
}

bool moduli_choose(moduli *out, uint64_t last, uint64_t n, bool powers)
{
    moduli_list list;
    moduli_later later = { .n = 0 };
    uint64_t need;
    moduli_primes(out);
    if (powers)
        moduli_later_find(&later, out);
    if (!sizes_mul(&need, n, moduli_log2(last) + 2)
        || need >> 62 != 0 || !moduli_collect(&list, &later, out, need))
        return false;
    for (size_t stride = 1; powers && stride <= MODULI_STRIDE; stride++)
        moduli_improve(&list, stride);
    moduli_keep(out, &list, &later);
    moduli_raise(out, &list, &later);
    out->n = 0;
    out->sum = 0;
    for (uint32_t q = MODULI_BELOW; (q = moduli_before(out, q)) > 0; out->n++)
        out->sum += q;
    return true;
}
