/* strides.c - the rate of positions that come from one hash.
 *
 * The formulas are in strides.h; tests/formats/rates.c compares every
 * format's plan with counted answers.
 */
#include "maths/strides.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/platform.h"
#include "maths/maths.h"

enum {
    STRIDES_MOST = MATH_GIVEN,          /* maximum positions that are
                                           distinguished                     */
    STRIDES_FRACTIONS = 8,              /* the largest p                     */
    STRIDES_SAMPLES = 16,               /* of the wraps of a step            */
    STRIDES_STEPS = 1024,               /* steps with own collisions, most   */
    STRIDES_WORDS = 4,
    STRIDES_RESIDUES = 2 * STRIDES_FEW, /* of a halved row                   */
    STRIDES_LOAD = 8,                   /* n k / m, most, of such a row      */
    STRIDES_ROWS = 1024, STRIDES_ROWS_LEAST = 4,
    STRIDES_WORK = 1 << 17,             /* words of all rows that are made   */
    STRIDES_LOOK = 1 << 13,             /* words of a row that is given      */
    STRIDES_ASKED = 256,                /* positions, most, in such a row    */
    STRIDES_CLASSES = 256,              /* over which they are spread evenly */
    STRIDES_KEPT = 64
};

/* Above it own collisions are rarer than one in 2^50. */
#define STRIDES_M_MOST (UINT64_C(1) << 50)

/* Returns evenly spread numbers, the same in each run: splitmix64. */
static uint64_t strides_draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void strides_draw_words(uint64_t *h, uint64_t *random)
{
    for (size_t w = 0; w < STRIDES_WORDS; w++)
        h[w] = strides_draw(random);
}

static uint64_t strides_mask(const strides *s)
{
    return UINT64_MAX >> (64 - s->width);
}

/* Returns the modulus of steps: halving makes 2 m residues of m positions. */
static uint64_t strides_modulus(const strides *s)
{
    return s->form == STRIDES_HALVED ? 2 * s->m : s->m;
}

/* Returns the residue that a wrap takes away: 2^width mod `modulus`. */
static uint64_t strides_wrap(const strides *s, uint64_t modulus)
{
    return s->form == STRIDES_STRAIGHT ? 0
         : (strides_mask(s) % modulus + 1) % modulus;
}

static uint32_t strides_told(const strides *s)
{
    return s->k < STRIDES_MOST ? s->k : STRIDES_MOST;
}

/* Changes the first word to the one whose rotation is the second. */
static void strides_rotate(const strides *s, uint64_t *h)
{
    if (s->form == STRIDES_ROTATED)
        h[0] = (h[1] << 17 | (h[1] & strides_mask(s)) >> 15) & strides_mask(s);
}

/* Returns whether positions are the sum of a start and equal steps. */
static bool strides_sums(const strides *s)
{
    return s->form < STRIDES_POWERS;
}

/* Returns whether position i does not depend on the start. */
static bool strides_alone(const strides *s, uint64_t i)
{
    return s->form == STRIDES_ALONE && i == 1;
}

/* Returns the number whose residue is position i. */
static uint64_t strides_value(const strides *s, const uint64_t *h, uint64_t i)
{
    if (s->form == STRIDES_FOUR)
        return h[i % 2] + i * h[2 + (i + i % 2) % 4 / 2];
    uint64_t start = strides_alone(s, i) ? 0 : h[0] & strides_mask(s);
    uint64_t sum = start + i * (h[1] & strides_mask(s));
    return s->form == STRIDES_CUBIC ? sum + (i * i * i - i) / 6
         : s->form == STRIDES_STRAIGHT ? sum : sum & strides_mask(s);
}

/* Returns whether values with the top bit are changed. */
static bool strides_folds(const strides *s)
{
    return s->form == STRIDES_FOLDED || s->form == STRIDES_NEGATED;
}

static bool strides_inverts(const strides *s, uint64_t value)
{
    return strides_folds(s) && value >> (s->width - 1) != 0;
}

static uint64_t strides_place(const strides *s, const uint64_t *h, uint64_t i)
{
    uint64_t v = strides_value(s, h, i);
    if (strides_inverts(s, v))
        v = (s->form == STRIDES_NEGATED ? -v : ~v) & strides_mask(s);
    return (s->form == STRIDES_HALVED ? v / 2 : v) % s->m;
}

/* ---- Small rows ---------------------------------------------------------- */

/* The residues with a set bit, stored twice so that a rotation is a range; and
 * those whose inverse has one. */
typedef struct {
    uint64_t word[STRIDES_RESIDUES / 32 + 2];
} strides_ring;

typedef struct {
    bool         set[STRIDES_FEW];      /* the row itself                    */
    strides_ring plain, inverse;
} strides_row;

static void strides_ring_set(strides_ring *ring, uint64_t at)
{
    ring->word[at / 64] |= UINT64_C(1) << at % 64;
}

/* Fills the rings from the row. */
static void strides_turn(strides_row *row, const strides *s)
{
    uint64_t modulus = strides_modulus(s), halves = modulus / s->m;
    uint64_t last = s->form == STRIDES_NEGATED ? strides_wrap(s, s->m)
                                               : strides_mask(s) % s->m;
    memset(&row->plain, 0, sizeof row->plain);
    memset(&row->inverse, 0, sizeof row->inverse);
    for (uint64_t at = 0; at < modulus; at++) {
        uint64_t back = last >= at ? last - at : last + s->m - at;
        if (row->set[halves == 2 ? at / 2 : at]) {
            strides_ring_set(&row->plain, at);
            strides_ring_set(&row->plain, at + modulus);
        }
        if (strides_folds(s) && row->set[back]) {
            strides_ring_set(&row->inverse, at);
            strides_ring_set(&row->inverse, at + modulus);
        }
    }
}

/* Keeps in `left` the starts that find bit `off` places on set. Returns false
 * if none do. */
static bool strides_keep(uint64_t *left, const strides_ring *ring,
                         uint64_t words, uint64_t off)
{
    const uint64_t *from = ring->word + off / 64;
    unsigned low = off % 64;
    uint64_t any = 0;
    for (uint64_t w = 0; w < words; w++)
        any |= left[w] &= from[w] >> low | from[w + 1] << 1 << (63 - low);
    return any != 0;
}

/* Returns the share of starts from which the positions first, first + by, … of
 * a key with these steps are all set. */
static double strides_starts(const strides_row *row, const strides *s,
                             const uint64_t *h, uint64_t first, uint64_t by)
{
    uint64_t left[STRIDES_RESIDUES / 64], modulus = strides_modulus(s);
    uint64_t words = (modulus + 63) / 64, count = 0;
    uint64_t back = modulus - (h[first] & strides_mask(s)) % modulus;
    memset(left, 0xFF, (size_t)(8 * words));
    if (modulus % 64 != 0)
        left[words - 1] >>= 64 - modulus % 64;
    for (uint64_t i = first; i < s->k && i < STRIDES_ASKED; i += by) {
        uint64_t value = strides_value(s, h, i);
        if (strides_alone(s, i) && row->set[value % s->m])
            continue;
        if (strides_alone(s, i))
            return 0;
        const strides_ring *ring = strides_inverts(s, value) ? &row->inverse
                                                             : &row->plain;
        uint64_t off = value % modulus + back;
        if (!strides_keep(left, ring, words,
                          off >= modulus ? off - modulus : off))
            return 0;
    }
    for (uint64_t w = 0; w < words; w++)
        count += platform_popcount(left[w]);
    return (double)count / (double)modulus;
}

/* Changes a word to one of this residue. */
static uint64_t strides_with(const strides *s, uint64_t word, uint64_t residue,
                             uint64_t modulus)
{
    word &= strides_mask(s);
    word = word - word % modulus + residue;
    return word > strides_mask(s) ? word - modulus : word;
}

/* Returns the largest power of two that divides m. */
static uint64_t strides_classes(const strides *s)
{
    return s->m & (~s->m + 1);
}

/* Returns the number of classes for form EVEN. More than k of them, with one
 * position or none in each, make no difference. */
static uint64_t strides_even(const strides *s)
{
    uint64_t classes = strides_classes(s);
    return classes < STRIDES_CLASSES ? classes : STRIDES_CLASSES;
}

/* Returns the rate of a row for positions a g^i. Modulo the largest power of
 * two that divides m they follow from a; modulo the rest they are taken for
 * independent. */
static double strides_look_powers(const strides_row *row, const strides *s)
{
    double set[STRIDES_FEW] = { 0 }, sum = 0;
    uint64_t classes = strides_classes(s);
    for (uint64_t i = 0; i < s->m; i++)
        set[i % classes] += row->set[i];
    for (uint64_t x = 0; x < classes; x++) {
        double all = 1;
        uint64_t power = x;
        for (uint32_t i = 0; i < s->k && i < STRIDES_ASKED && all > 0; i++) {
            power = power * s->factor % classes;
            all *= set[power] * (double)classes / (double)s->m;
        }
        sum += all;
    }
    return sum / (double)classes;
}

/* Returns the rate of a row for positions that are spread evenly. For class x
 * modulo a power of two, `few` is the chance that all its positions are set, if
 * it has its share of k rounded down, and `more` if it has one more. */
static double strides_look_even(const strides_row *row, const strides *s)
{
    double few[STRIDES_CLASSES] = { 0 }, more[STRIDES_CLASSES];
    uint64_t classes = strides_even(s);
    for (uint64_t i = 0; i < s->m; i++)
        few[i % classes] += row->set[i];
    for (uint64_t x = 0; x < classes; x++) {
        double set = few[x] * (double)classes / (double)s->m;
        few[x] = pow(set, (double)(s->k / classes));
        more[x] = set * few[x];
    }
    for (uint64_t half = classes / 2; half > 0; half /= 2)
        for (uint64_t x = 0; x < half; x++) {
            double odd = (few[x] * more[x + half] + more[x] * few[x + half])
                       / 2;
            bool one = s->k / half % 2 != 0;
            few[x] = one ? odd : few[x] * few[x + half];
            more[x] = one ? more[x] * more[x + half] : odd;
        }
    return few[0];
}

/* Returns the rate of a row: the mean over the residues of a step. */
static double strides_look(strides_row *row, const strides *s,
                           uint64_t *random)
{
    uint64_t modulus = strides_modulus(s);
    double sum = 0;
    if (s->form == STRIDES_POWERS)
        return strides_look_powers(row, s);
    if (s->form == STRIDES_EVEN)
        return strides_look_even(row, s);
    strides_turn(row, s);
    for (uint64_t step = 0; step < modulus; step++) {
        uint64_t h[STRIDES_WORDS];
        strides_draw_words(h, random);
        size_t at = s->form == STRIDES_FOUR ? 2 : 1;
        h[at] = strides_with(s, h[at], step, modulus);
        strides_rotate(s, h);
        if (s->form != STRIDES_FOUR)
            sum += strides_starts(row, s, h, 0, 1);
        else
            sum += strides_starts(row, s, h, 0, 2)
                 * strides_starts(row, s, h, 1, 2);
    }
    return sum / (double)modulus;
}

/* Adds a key whose positions are spread evenly, drawn from this state. */
static void strides_add_even(strides_row *row, const strides *s, uint64_t *h)
{
    uint32_t in[STRIDES_CLASSES] = { s->k };
    uint64_t classes = strides_even(s);
    for (uint64_t half = 1; half < classes; half *= 2)
        for (uint64_t x = 0; x < half; x++) {
            uint32_t all = in[x];
            in[x] = all / 2 + (all & strides_draw(h) & 1);
            in[x + half] = all - in[x];
        }
    for (uint64_t x = 0; x < classes; x++)
        for (uint32_t i = 0; i < in[x]; i++)
            row->set[x + strides_draw(h) % (s->m / classes) * classes] = true;
}

/* Adds the key of a hash of so many words. */
static void strides_add(strides_row *row, const strides *s, uint64_t *h)
{
    if (s->form == STRIDES_EVEN) {
        strides_add_even(row, s, h);
        return;
    }
    strides_rotate(s, h);
    for (uint32_t i = 0; i < s->k; i++) {
        h[0] *= s->form == STRIDES_POWERS ? s->factor : 1;
        row->set[s->form == STRIDES_POWERS ? h[0] % s->m
                                           : strides_place(s, h, i)] = true;
    }
}

static bool strides_small(const strides *s)
{
    return s->m <= STRIDES_FEW;
}

/* Returns the mean rate of rows of n keys. */
static strides_rates strides_rate_small(const strides *s, uint64_t n)
{
    strides_row row;
    uint64_t modulus = strides_modulus(s), random = s->m, set = 0;
    uint64_t rows = STRIDES_WORK / (modulus * ((modulus + 63) / 64));
    double sum = 0, squares = 0;
    rows = rows < STRIDES_ROWS_LEAST ? STRIDES_ROWS_LEAST
         : rows > STRIDES_ROWS ? STRIDES_ROWS : rows;
    for (uint64_t r = 0; r < rows; r++) {
        memset(row.set, 0, sizeof row.set);
        for (uint64_t key = 0; key < n; key++) {
            uint64_t h[STRIDES_WORDS];
            strides_draw_words(h, &random);
            strides_add(&row, s, h);
        }
        for (uint64_t i = 0; i < s->m; i++)
            set += row.set[i];
        double rate = strides_look(&row, s, &random);
        sum += rate;
        squares += rate * rate;
    }
    double all = (double)rows, mean = sum / all;
    return (strides_rates){ mean, sqrt(fmax(squares / all - mean * mean, 0)),
                            (double)set / ((double)s->m * all) };
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

/* Notes all b with p b = sum modulo `modulus`. */
static void strides_solve(strides_steps *steps, uint64_t p, uint64_t sum,
                          uint64_t modulus)
{
    for (uint64_t r = 0; r < p; r++)
        if ((sum + r * modulus) % p == 0)
            strides_note(steps, (sum + r * modulus) / p);
}

/* Finds the steps with which a key meets its own positions. */
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
            strides_solve(steps, p, sum, modulus);
            if (s->form == STRIDES_HALVED) {
                strides_solve(steps, p, (sum + 1) % modulus, modulus);
                strides_solve(steps, p, (sum + modulus - 1) % modulus, modulus);
            }
        }
}

/* Returns how many different positions the key of these hashes has. */
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

/* Adds the keys with this step to the chances of each number of positions. */
static void strides_spread(math_chances *own, const strides *s, uint64_t step,
                           uint64_t modulus, uint64_t *random)
{
    double share = 1 / (double)modulus / STRIDES_SAMPLES;
    for (uint64_t i = 0; i < STRIDES_SAMPLES; i++) {
        uint64_t h[STRIDES_WORDS];
        strides_draw_words(h, random);
        size_t at = s->form == STRIDES_FOUR ? 2 + i % 2 : 1;
        h[at] = strides_with(s, UINT64_MAX / STRIDES_SAMPLES * i + h[at]
                                / STRIDES_SAMPLES, step, modulus);
        strides_rotate(s, h);
        own->of[strides_distinct(s, h)] += share;
    }
}

/* Adds those whose two steps of four words both meet themselves. */
static void strides_spread_both(math_chances *own, const strides *s,
                                const strides_steps *steps, uint64_t *random)
{
    const double pairs = 16.0 * STRIDES_SAMPLES;
    double share = (double)steps->n / (double)s->m;
    share *= share;
    for (uint64_t i = 0; i < 16 * STRIDES_SAMPLES; i++) {
        uint64_t h[STRIDES_WORDS];
        strides_draw_words(h, random);
        for (size_t w = 2; w < STRIDES_WORDS; w++)
            h[w] = strides_with(s, strides_draw(random),
                                steps->of[h[w] % steps->n], s->m);
        own->of[strides_distinct(s, h)] += share / pairs;
    }
}

/* Returns D_j. */
static math_chances strides_own(const strides *s)
{
    math_chances own = { { 0 } };
    uint32_t told = strides_told(s);
    uint64_t modulus = strides_modulus(s), random = s->m;
    double usual = 1;
    if (strides_sums(s) && s->m <= STRIDES_M_MOST
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

/* Counts the wraps before position i, i < told, from a drawn start and step. */
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

/* Returns sum (f^(k - t) - f^k) over the runs of t common positions of two
 * keys, one `ahead` positions ahead, whose step has `more` wraps' residue
 * more. */
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

/* Returns the second term of (1). */
static double strides_others(const strides *s, double n, double fill)
{
    uint64_t modulus = strides_modulus(s), random = ~s->m;
    uint64_t wrap = s->m > STRIDES_M_MOST ? 0 : strides_wrap(s, modulus);
    double each = 2 * n / ((double)modulus * (double)modulus), sum = 0;
    if (!strides_sums(s) || s->form == STRIDES_FOUR || s->k < 3
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

/* ---- A third position of few values ------------------------------------- */

/* A hash h = 2^17 H + L of 32 bits is rotated to d = 2^15 L + H. The third
 * position, h + 2 d, is (2^16 + 1) (2 H + L): one of 2^17 + 2^16 numbers, where
 * the others have 2^32. In long rows many members share it, so that it is set
 * more often than the others, and all positions set fewer different bits. */
enum { STRIDES_PROBES = 1 << 20, STRIDES_PROBES_LEAST = 16 };

typedef struct {
    double set;                         /* the chance, by third positions    */
    double different;                   /* of them, by keys                  */
} strides_thirds;

static bool strides_repeats(const strides *s)
{
    return s->form == STRIDES_ROTATED && s->k > 2 && s->m > UINT16_MAX;
}

/* Returns the chance that a third position is this number, before the modulus:
 * the upper half of it is the lower one and 0, 1 or 2. */
static double strides_third_chance(uint64_t value)
{
    uint64_t more = ((value >> 16) - value) & UINT16_MAX;
    uint64_t sum = (value & UINT16_MAX) + (more << 16);
    if (more > 2)
        return 0;
    uint64_t most = sum / 2 < 32767 ? sum / 2 : 32767;
    uint64_t least = sum > 131071 ? (sum - 131070) / 2 : 0;
    return (double)(most - least + 1) / 4294967296.0;
}

/* Returns the means over some third positions, drawn by their chance. */
static strides_thirds strides_third(const strides *s, double n)
{
    strides_thirds mean = { 0, 0 };
    uint64_t numbers = (UINT64_C(1) << 32) / s->m + 1, random = s->m;
    uint64_t samples = STRIDES_PROBES / numbers + STRIDES_PROBES_LEAST;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t h[STRIDES_WORDS];
        double members = 0;
        strides_draw_words(h, &random);
        strides_rotate(s, h);
        for (uint64_t v = strides_value(s, h, 2) % s->m; v >> 32 == 0;
             v += s->m)
            members += n * strides_third_chance(v);
        mean.set -= expm1(-members) / (double)samples;
        mean.different -= expm1(-members) / (members * (double)samples);
    }
    return mean;
}

/* ---- Rates -------------------------------------------------------------- */

/* Returns the chance that a member has the same hash, or the same positions. */
static double strides_equal(const strides *s, double n)
{
    double m = (double)s->m;
    return s->form == STRIDES_ROTATED ? -expm1(-n / 4294967296.0)
         : s->form == STRIDES_CUBIC ? -expm1(-n / (m * m)) : 0;
}

/* Returns E[(X/m)^j], from the mean and variance of X. */
static double strides_power(double fill, double spread, double j)
{
    return pow(fill, j) * (1 + j * (j - 1) / 2 * spread);
}

/* Returns (1), where X has this mean and variance, relative to its square. */
static double strides_sum(const strides *s, const math_chances *own, double n,
                          double fill, double spread)
{
    uint32_t told = strides_told(s);
    double rate = own->of[told] * strides_power(fill, spread, s->k);
    for (uint32_t j = 0; j < told; j++)
        rate += own->of[j] * strides_power(fill, spread, j);
    if (strides_repeats(s)) {
        strides_thirds third = strides_third(s, n);
        double others = (1 - fill) / (1 - n * third.different / (double)s->m);
        rate *= (1 - others * (1 - third.set)) / fill;
    }
    return fmin(rate + strides_others(s, n, fill) + strides_equal(s, n), 1);
}

static strides_rates strides_rate_large(const strides *s, double n)
{
    math_chances own = strides_own(s);
    uint32_t told = strides_told(s);
    double m = (double)s->m, each = own.of[told] * s->k;
    for (uint32_t j = 0; j < told; j++)
        each += own.of[j] * j;
    each = fmin(each, m);
    /* a key's positions differ, unlike t independent ones */
    double fill = each < m ? -expm1(n * log1p(-each / m)) : 1;
    if (strides_repeats(s)) {
        double third = n / m * strides_third(s, n).different;
        fill = 1 - exp(-n * (each - 1) / m) * (1 - third);
    }
    double set = fill * m;
    double spread = n > 1 ? math_set_variance(m, n * each) / (set * set) : 0;
    double rate = strides_sum(s, &own, n, fill, spread);
    double other = strides_sum(s, &own, n, fmin(fill * (1 + sqrt(spread)), 1),
                               spread);
    return (strides_rates){ rate, fmax(other - rate, 0), fill };
}

/* In a long row, positions without equal steps are independent. */
static strides_rates strides_rate_free(const strides *s, double n)
{
    double m = (double)s->m, t = n * s->k, set = math_set_mean(m, t);
    double rate = fmin(math_rate(s->m, n, s->k) + strides_equal(s, n), 1);
    return (strides_rates){ rate, rate * s->k
                                  * sqrt(math_set_variance(m, t)) / set,
                            set / m };
}

static strides_rates strides_rate_new(const strides *s, uint64_t n)
{
    strides_rates rates = { .rate = 0 };
    if (strides_small(s)
        && (double)n * s->k <= STRIDES_LOAD * (double)s->m)
        rates = strides_rate_small(s, n);
    return rates.rate > 0 ? rates
         : strides_sums(s) ? strides_rate_large(s, (double)n)
         : strides_rate_free(s, (double)n);
}

typedef struct {
    strides       s;
    uint64_t      n;
    strides_rates rates;
} strides_kept;

static bool strides_alike(const strides *a, const strides *b)
{
    return a->m == b->m && a->k == b->k && a->width == b->width
        && a->form == b->form && a->factor == b->factor;
}

strides_rates strides_rate(const strides *s, uint64_t n)
{
    static _Thread_local strides_kept all[STRIDES_KEPT];
    if (s->m == 0 || s->k == 0 || n == 0)
        return (strides_rates){ .rate = s->m > 0 && s->k == 0 };
    uint64_t at = s->m ^ (uint64_t)s->k << 40 ^ n << 20;
    strides_kept *kept = &all[strides_draw(&at) % STRIDES_KEPT];
    if (kept->n != n || !strides_alike(&kept->s, s))
        *kept = (strides_kept){ *s, n, strides_rate_new(s, n) };
    return kept->rates;
}

double strides_rate_filled(const strides *s, double n, double fill)
{
    if (!strides_sums(s))
        return fmin(pow(fill, s->k) + strides_equal(s, n), 1);
    math_chances own = strides_own(s);
    return strides_sum(s, &own, n, fill, 0);
}

double strides_rate_of(const strides *s, double n, double fill,
                       const uint8_t *bits, uint64_t turn)
{
    strides_row row;
    double sum = 0;
    if (!strides_small(s))
        return strides_rate_filled(s, n, fill);
    uint64_t modulus = strides_modulus(s), random = s->m;
    uint64_t looks = 1 + STRIDES_LOOK / (modulus * ((modulus + 63) / 64));
    for (uint64_t i = 0; i < s->m; i++)
        row.set[i] = bits[(i ^ turn) / 8] >> (i ^ turn) % 8 & 1;
    for (uint64_t i = 0; i < looks; i++)
        sum += strides_look(&row, s, &random);
    return sum / (double)looks;
}
