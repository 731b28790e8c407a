/* shape.c - rate, size and estimates of filters made of plain bits.
 *
 * shape.h has the formulas; tests/maths/shape.c compares them with tables from
 * the literature and with simulations.
 */
#include "maths/shape.h"

#include <assert.h>
#include <math.h>

#include "base/sizes.h"
#include "maths/maths.h"

/* Returns the chance that a key leaves a given bit clear in a lane of its
 * block, as 1 - shape_hit. */
static double shape_hit(const shape *s)
{
    return s->bits == 1 ? 1 : -expm1(s->probes * log1p(-1 / (double)s->bits));
}

/* Returns ln of the chance that a key leaves a given bit of the filter clear.
 */
static double shape_log_clear(const shape *s)
{
    return log1p(-shape_hit(s) / (double)s->blocks);
}

double shape_fill(const shape *s, double n)
{
    return n > 0 ? -expm1(n * shape_log_clear(s)) : 0;
}

/* ---- The rate ---------------------------------------------------------- */

/* Number of loads tabled at a time: more than most filters need, and few enough
 * for the stack. */
enum { SHAPE_TABLED = 512 };

/* f_i^lanes and s_i of a block for i = from .. from + SHAPE_TABLED - 1, up to
 * `top`; s_i, the rate with twice as many probes, only if `squares`. */
typedef struct {
    const shape *s;
    bool         squares;
    uint64_t     top, from, next;       /* next: the load that `set` has reached
                                                                             */
    double       rate[SHAPE_TABLED], square[SHAPE_TABLED];
    math_chances once, twice;
    math_given   set;
} shape_table;

static void shape_table_begin(shape_table *table)
{
    const shape *s = table->s;
    math_given_start(&table->set, s->bits,
                     table->squares ? 2 * s->probes : s->probes);
    table->next = 0;
}

/* Tables the loads from `from` on; going back starts from the beginning. */
static void shape_table_fill(shape_table *table, uint64_t from)
{
    const double lanes = (double)table->s->lanes;
    if (from < table->next)
        shape_table_begin(table);
    for (; table->next < from; table->next++)
        math_given_probe(&table->set, table->s->probes);
    table->from = from;
    for (uint64_t i = 0; i < SHAPE_TABLED && from + i <= table->top; i++) {
        double rate = math_given_rate(&table->set, &table->once);
        double square = table->squares
                      ? math_given_rate(&table->set, &table->twice) : 0;
        table->rate[i] = pow(rate, lanes);
        table->square[i] = pow(square, lanes);
        math_given_probe(&table->set, table->s->probes);
        table->next++;
    }
}

static void shape_table_make(shape_table *table, const shape *s, double top,
                             bool squares)
{
    assert(2 * s->probes <= MATH_GIVEN);
    table->s = s;
    table->squares = squares;
    table->top = top < SHAPE_LOAD_MAX ? (uint64_t)top : SHAPE_LOAD_MAX;
    table->once = math_touch(s->bits, s->probes);
    if (squares)
        table->twice = math_touch(s->bits, 2 * s->probes);
    shape_table_begin(table);
    shape_table_fill(table, 0);
}

/* Returns the index of load i in the table. */
static uint64_t shape_table_at(shape_table *table, uint64_t i)
{
    if (i - table->from >= SHAPE_TABLED)
        shape_table_fill(table, i - i % SHAPE_TABLED);
    return i - table->from;
}

/* Returns the largest load of a block that matters at a mean of `load`. */
static double shape_top(double load)
{
    return ceil(load + 12 * sqrt(load) + 12);
}

typedef struct { double weight, rate, square, cross; } shape_sums;

static void shape_sum(shape_sums *sums, shape_table *table, uint64_t i,
                      double weight)
{
    uint64_t at = shape_table_at(table, i);
    sums->weight += weight;
    sums->rate += weight * table->rate[at];
    sums->square += weight * table->square[at];
    sums->cross += weight * table->rate[at] * (double)i;
}

/* Sums over the binomial loads w_i of a block, from the mode outwards, each
 * weight computed from its neighbour and finally divided by their total, which
 * avoids factorials. blocks >= 2. */
static shape_sums shape_mix(shape_table *table, double n, double blocks)
{
    const double least = 1e-25;
    double odds = 1 / (blocks - 1), mode = floor(n / blocks);
    shape_sums sums = { 0 };

    uint64_t i = (uint64_t)mode;
    for (double w = 1; w > least && i <= table->top && (double)i <= n; i++) {
        shape_sum(&sums, table, i, w);
        w *= (n - (double)i) / ((double)i + 1) * odds;
    }
    i = (uint64_t)mode;
    double w = 1;
    while (i > 0 && w > least) {
        w *= (double)i / ((n - (double)i + 1) * odds);
        shape_sum(&sums, table, --i, w);
    }
    sums.rate /= sums.weight;
    sums.square /= sums.weight;
    sums.cross /= sums.weight;
    return sums;
}

static double shape_rate_one_block(const shape *s, double n, double *sd)
{
    double bits = (double)s->bits, lanes = (double)s->lanes;
    double rate = pow(math_rate(s->bits, n, s->probes), lanes);
    if (sd != NULL) {
        double mean = math_set_mean(bits, n * s->probes);
        double spread = sqrt(math_set_variance(bits, n * s->probes)) / mean;
        *sd = mean > 0 ? rate * s->probes * sqrt(lanes) * spread : 0;
    }
    return rate;
}

/* Nearly every bit is set, so the mean load suffices. */
static double shape_rate_overfull(const shape *s, double load, double *sd)
{
    if (sd != NULL)
        *sd = 0;
    double lane = math_rate_classic((double)s->bits, load, s->probes);
    return pow(lane, (double)s->lanes);
}

double shape_rate(const shape *s, uint64_t n, double *sd)
{
    double keys = (double)n, load = keys / (double)s->blocks;
    if (s->blocks == 1)
        return shape_rate_one_block(s, keys, sd);
    if (shape_top(load) > SHAPE_LOAD_MAX)
        return shape_rate_overfull(s, load, sd);

    shape_table table;
    shape_table_make(&table, s, shape_top(load), sd != NULL);
    shape_sums f = shape_mix(&table, keys, (double)s->blocks);
    if (sd != NULL) {
        double cross = f.cross - load * f.rate;
        double spread = load * (1 - 1 / (double)s->blocks);
        double variance = f.square - f.rate * f.rate
                        - (load > 0 ? cross * cross / spread : 0);
        *sd = variance > 0 ? sqrt(variance / (double)s->blocks) : 0;
    }
    return f.rate;
}

/* Returns the rate for two or more blocks, from a table for its probes. */
static double shape_rate_by(shape_table *table, const shape *s, double n,
                            uint64_t blocks)
{
    double load = n / (double)blocks;
    if (shape_top(load) > SHAPE_LOAD_MAX)
        return shape_rate_overfull(s, load, NULL);
    return shape_mix(table, n, (double)blocks).rate;
}

/* Returns the load of a block at rate p if all blocks had equal loads. More
 * blocks are needed if unequal loads raise the rate, as at all but high rates.
 */
static double shape_even_load(const shape *s, double p)
{
    return math_capacity((double)s->bits, s->probes,
                         pow(p, 1 / (double)s->lanes));
}

bool shape_enough(uint64_t *blocks, const shape *s, uint64_t n, double p)
{
    const uint64_t most = UINT64_C(1) << 58;
    double keys = (double)n, load = shape_even_load(s, p);

    shape one = *s;
    one.blocks = 1;
    if (shape_rate(&one, n, NULL) <= p) {
        *blocks = 1;
        return true;
    }
    /* Twice the load, for the few blocks tried below `least`. */
    shape_table table;
    shape_table_make(&table, s, shape_top(2 * load), false);

    double least = fmin(floor(keys / load), (double)most);
    uint64_t low = least > 1 ? (uint64_t)least : 1;
    while (low > 1 && shape_rate_by(&table, s, keys, low) <= p)
        low -= low / 64 + 1;
    uint64_t high = low + 1;
    while (shape_rate_by(&table, s, keys, high) > p) {
        if (high >= most)
            return false;
        low = high;
        high += high / 4 + 1;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (shape_rate_by(&table, s, keys, middle) > p)
            low = middle;
        else
            high = middle;
    }
    *blocks = high;
    return true;
}

uint64_t shape_capacity(const shape *s, double p)
{
    uint64_t low = 1, high = 2;
    while (high < UINT64_C(1) << 62 && shape_rate(s, high, NULL) <= p) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (shape_rate(s, middle, NULL) <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- A row of bits ----------------------------------------------------- */

uint32_t shape_row_probes(double p, uint32_t most_k)
{
    uint32_t best = 1;
    for (uint32_t k = 2; k <= most_k; k++)
        if (math_bits_least(1, p, k) < math_bits_least(1, p, best))
            best = k;
    return best;
}

/* Takes the real optimum rounded, or a neighbour. */
uint32_t shape_row_probes_for(uint64_t m, double n, uint32_t most_k)
{
    double real = math_best_probes((double)m, n);
    double k = fmin(fmax(floor(real), 1), most_k);
    if (k < most_k && math_rate_exp((double)m, n, k + 1)
                    < math_rate_exp((double)m, n, k))
        k++;
    return (uint32_t)k;
}

bool shape_row_bits(uint64_t *m, double n, double p, uint32_t k,
                    uint64_t most_m)
{
    uint64_t low, high;
    if (!sizes_from_double(&high, math_bits_enough(n, p, k))
        || !sizes_from_double(&low, math_bits_least(n, p, k))
        || high > most_m)
        return false;
    low = low > 1 ? low - 1 : 0;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (math_rate(middle, n, k) <= p)
            high = middle;
        else
            low = middle;
    }
    *m = high;
    return true;
}

/* ---- Keys from bits ---------------------------------------------------- */

/* Covariance of the clear bits of one block in filters S and T, when its
 * loads are independent Poisson numbers: `both` keys in S and T, `only_s` and
 * `only_t` in one of them. With q the chance that a key leaves a bit clear
 * and r that it leaves two clear, a pair of bits of one lane is clear (the
 * first in S, the second in T) with chance
 *
 *      e^(-both (1-r) - (only_s + only_t)(1-q))
 *
 * and a pair in different lanes with q^2 for r. Terms in bits^2, and those in
 * bits, are gathered under expm1, or they would cancel to nothing in double. */
static double shape_clear_covariance(const shape *s, double both,
                                     double only_s, double only_t)
{
    double bits = (double)s->bits, lanes = (double)s->lanes;
    double hit = shape_hit(s), clear = 1 - hit;
    double apart = s->bits <= 2 ? -clear * clear
        : clear * clear * expm1(s->probes * log1p(-1 / ((bits - 1)
                                                        * (bits - 1))));
    double excess = both * (hit * hit + apart);     /* both (1 - 2q + r) */
    double alone = (only_s + only_t) * hit;
    double product = exp(-2 * both * hit - alone);

    double same_lane = bits * bits * product * expm1(excess)
                     + bits * product * (expm1(both * hit) - expm1(excess));
    double two_lanes = bits * bits * product * expm1(both * hit * hit);
    return lanes * same_lane + lanes * (lanes - 1) * two_lanes;
}

/* Covariance of the estimates (3) from filters S and T of fixed numbers of
 * keys, to first order: that of the clear bits under Poisson loads, over the
 * slopes dZ/dn, less the number of common keys, which is what the Poisson
 * numbers themselves vary by. */
static double shape_covariance(const shape *s, double both, double only_s,
                               double only_t)
{
    double blocks = (double)s->blocks, hit = shape_hit(s);
    double slope = (double)s->bits * (double)s->lanes * hit;
    double clear = shape_clear_covariance(s, both / blocks, only_s / blocks,
                                          only_t / blocks);
    double in_s = both + only_s, in_t = both + only_t;
    return blocks * clear * exp((in_s + in_t) / blocks * hit) / slope / slope
         - both;
}

static double shape_root(double variance)
{
    return variance > 0 ? sqrt(variance) : 0;
}

shape_estimate shape_keys(const shape *s, double set)
{
    double all = shape_bits(s);
    if (set >= all)
        return (shape_estimate){ (double)INFINITY, (double)INFINITY };
    if (set <= 0)
        return (shape_estimate){ 0, 0 };
    double n = log1p(-set / all) / shape_log_clear(s);
    return (shape_estimate){ n, shape_root(shape_covariance(s, n, 0, 0)) };
}

/* ---- Two filters ------------------------------------------------------- */

/* The variances of what a, b and either are combined to, where a_only and
 * b_only are the keys in one filter alone. Differences are taken between
 * neighbours first: those of equal filters are 0, not what rounding leaves. */
static void shape_pair_errors(shape_pair *out, shape_covary *covariance,
                              const void *filter)
{
    double both = fmax(out->both.value, 0);
    double a_only = fmax(out->a.value - both, 0);
    double b_only = fmax(out->b.value - both, 0);
    double either = both + a_only + b_only;

    double aa = covariance(filter, both + a_only, 0, 0);
    double bb = covariance(filter, both + b_only, 0, 0);
    double uu = covariance(filter, either, 0, 0);
    double ab = covariance(filter, both, a_only, b_only);
    double au = covariance(filter, both + a_only, 0, b_only);
    double bu = covariance(filter, both + b_only, 0, a_only);

    /* differ = (either - a) + (either - b), both = either - differ */
    double dd = (uu - au) + (aa - au) + (uu - bu) + (bb - bu)
              + 2 * ((uu - bu) + (ab - au));
    double du = (uu - au) + (uu - bu);
    out->a.sd = shape_root(aa);
    out->b.sd = shape_root(bb);
    out->either.sd = shape_root(uu);
    out->differ.sd = shape_root(dd);
    out->both.sd = shape_root(uu + (dd - 2 * du));
}

void shape_pair_end(shape_pair *out)
{
    out->jaccard = (shape_estimate){ 0, 0 };
    if (isinf(out->either.value))
        out->both = out->differ = out->jaccard = out->either;
    else if (out->either.value > 0) {
        double d = out->differ.value / out->either.value;
        double uu = out->either.sd * out->either.sd;
        double dd = out->differ.sd * out->differ.sd;
        double du = (uu - out->both.sd * out->both.sd + dd) / 2;
        out->jaccard.value = out->both.value / out->either.value;
        out->jaccard.sd = shape_root(dd - 2 * d * du + d * d * uu)
                        / out->either.value;
    }
}

void shape_pair_combine(shape_pair *out, shape_covary *covariance,
                        const void *filter)
{
    if (isfinite(out->either.value)) {
        double a_only = out->either.value - out->b.value;
        double b_only = out->either.value - out->a.value;
        out->both.value = out->a.value - a_only;
        out->differ.value = a_only + b_only;
        shape_pair_errors(out, covariance, filter);
    }
    shape_pair_end(out);
}

static double shape_covary_rows(const void *filter, double both, double a_only,
                                double b_only)
{
    return shape_covariance(filter, both, a_only, b_only);
}

shape_pair shape_pair_of(const shape *s, uint64_t a, uint64_t b,
                         uint64_t either)
{
    shape_pair pair = {
        .a = shape_keys(s, (double)a), .b = shape_keys(s, (double)b),
        .either = shape_keys(s, (double)either),
    };
    shape_pair_combine(&pair, shape_covary_rows, s);
    return pair;
}
