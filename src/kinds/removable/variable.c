/* variable.c - a counting Bloom filter whose keys count by different numbers.
 *
 * WHAT IT IS
 *
 * As in kind `counting` a key raises k counters, and lowers them when it is
 * removed; but not by one: its hash chooses for each probe a number of L, L+1,
 * …, 2L-1, its increment. What a counter holds then tells more than whether
 * somebody was there: a counter of 5 cannot hold an increment of 4, for the
 * remaining 1 is no increment. So fewer strangers pass, and though a counter
 * takes more bits, the filter takes a third fewer. Remove only what was added,
 * as with every kind that removes.
 *
 * THE PICTURE (L = 4, m = 12, k = 3, after adding x and y)
 *
 *      x    adds 5   adds 7      adds 4
 *              v        v           v
 *   counter 0  1  2  3  4  5  6  7  8  9 10 11
 *         | 0  5  0  0 13  0  0  0  4  7  0  4 |
 *                       ^              ^     ^
 *      y             adds 6         adds 7  adds 4
 *
 *      A stranger whose increment at counter 1 is not 5 is not there, nor one
 *      whose increment at counter 8 is not 4. Counter 4 lets all pass: its 13
 *      is 7 + 6, but could be 4 + 4 + 5 as well.
 *
 * IMAGE
 *
 *      geometry 0   m, number of counters, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   L: 2, 4, 8 or 16
 *      geometry 3   b, bits of a counter, log2 L + 2 .. 16
 *      payload      ceil(m b / 8) bytes; counter i is the bits i b … i b + b-1,
 *                   its lowest bit first; bit j is bit (j mod 8) of byte j / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has ceil(m b / 8) bytes, (3) the bits from m b on are clear.
 *
 * PROBES
 *
 * The positions are those of kind `standard` with its default index scheme: s,
 * s c, s c^2, … modulo 2^64, high half of each times m. The increment of a
 * probe is L and the high log2 L bits of its s c^i times 9E3779B97F4A7C15.
 *
 * Every number from L on is a sum of numbers of L … 2L-1. So a counter c holds
 * the increment v perhaps if c = v or c >= v + L, and certainly not otherwise.
 *
 * MATHS
 *
 * With N = kn probes in all, P_j the binomial chance that j of them met in a
 * given counter, a probe of a stranger passes with chance
 *
 *      q = 1 - P_0 - (L-1)/L P_1 - (L^2-1)/(6 L^2) P_2                   (1)
 *
 * for one increment passes only its equal, two fail those above their sum less
 * L, and three or more pass all. The rate is E[Y^k], where Y is what q is the
 * mean of, the share of pairs of a counter and an increment that pass:
 *
 *      f = q^k (1 + C(k,2) V/q^2 + 3 C(k,4) V^2/q^4)                     (2)
 *
 * V the variance of Y: that of a counter's share g, less what the fixed number
 * of probes J takes away, (var g - cov(g, J)^2 / var J) / m. [Rottenstreich
 * 2014] has q^k. We take the k that takes the fewest bits, and the least m at
 * which (2) is at most the wanted rate. Bits a key:
 *
 *      rate      counting, 4 bits   variable, L = 4, 6 bits     less
 *      10 %          19.2                12.4 (k = 2)           35 %
 *      1 %           38.4                24.7 (k = 5)           36 %
 *      0.1 %         57.5                37.0 (k = 7)           36 %
 *      0.01 %        76.7                49.3 (k = 9)           36 %
 *
 * The counters are fuller than a Bloom filter's: 1.1 to 1.2 increments each.
 * At that load a counter of b = log2 L + 4 bits saturates with a chance of
 * about
 *
 *      L              2         4         8         16
 *      1 %, bits     26.9      24.7      25.3      27.2
 *      saturates     2e-9      3e-8      3e-8      7e-8
 *
 * while all keys are different (the sum of a Poisson number of increments); one
 * bit more makes it less than 10^-18.
 *
 * SATURATION
 *
 * A counter at its largest value never changes again and lets all pass, as in
 * `counting`: no key is ever lost by it, but removed ones may be found still.
 * A key whose counters are all saturated cannot be removed (BLY_EUNSAFE), and
 * its count is not bounded (UINT64_MAX).
 *
 * REMOVAL, COUNTS
 *
 * A key is taken out if all its probes pass; where several meet in one counter,
 * that must hold them all, and 0 or at least L be left. If not, it is not there
 * and all is as before. A key was added r times at most, r the largest number
 * for which each of its counters holds the increment r times, and 0 or at least
 * L is left.
 *
 * NOT HERE
 *
 * Increments of a set whose sums of h are all different (B_h) can be told
 * apart where at most h met, if a counter also has how many that were: two
 * numbers, of 4 bits and of log2 of the group in which the sums differ. Bits a
 * key at 10 %, 1 % and 0.1 %, by the formula of [Rottenstreich 2014]:
 *
 *      B_2 of 4 numbers modulo 13, 4 + 4 bits     12.9   25.8   38.5
 *      B_2 of 6 numbers modulo 31, 4 + 5 bits     12.2   24.5   36.7
 *      B_3 of 4 numbers modulo 63, 4 + 6 bits     13.9   27.4   41.2
 *      L … 2L-1, L = 4, 6 bits, as here           12.4   24.7   37.0
 *
 * One per cent less at best, for tables to take sums apart and two fields in a
 * counter: they are left out.
 *
 * COST
 *
 * Lines: k for a key that is there (0.8 % of counters of 6 bits lie across
 * two), about 1.6 for one that is not. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * Where `counting` would be used and its memory hurts: the same verbs, at two
 * thirds of the size. `counting` has the simpler counters: they are the number
 * of keys that met, and its bits are a Bloom filter's.
 *
 * PAPERS
 *
 *  [Rottenstreich 2014]  The variable-increment counting Bloom filter,
 *                  IEEE/ACM ToN 22(4) (INFOCOM 2012). The filter, (1), and the
 *                  form with B_h.
 */
#include "image/kind.h"

#include <assert.h>
#include <math.h>

#include "base/sizes.h"
#include "tools/bits.h"
#include "bodies/cells.h"
#include "tools/counters.h"
#include "maths/maths.h"
#include "maths/shape.h"

enum {
    VARIABLE_VERSION = 1,
    VARIABLE_M = 0, VARIABLE_K = 1, VARIABLE_L = 2, VARIABLE_BITS = 3,
    VARIABLE_BITS_LEAST = 3             /* for L = 2 */
};

#define VARIABLE_M_MAX (UINT64_C(1) << 56)

/* Choice i is L = 2^(i+1). */
static const char *const variable_ls[] = { "2", "4", "8", "16", NULL };

enum { VARIABLE_LS = sizeof variable_ls / sizeof *variable_ls - 1 };

/* In the order of the geometry. */
static const kind_option variable_options[] = {
    [VARIABLE_M] = {
        .name = "m", .help = "number of counters, instead of a rate",
        .least = 1, .most = VARIABLE_M_MAX, .standard = KIND_CHOOSE,
    },
    [VARIABLE_K] = {
        .name = "k", .help = "probes: counters that a key raises",
        .least = 1, .most = CELLS_K_MAX, .standard = KIND_CHOOSE,
    },
    [VARIABLE_L] = {
        .name = "l", .help = "a counter is raised by l … 2l-1",
        .choices = variable_ls, .standard = 1,
    },
    [VARIABLE_BITS] = {
        .name = "bits", .help = "bits of a counter: log2 l + 2 at least, "
                                "+ 4 if not given",
        .least = VARIABLE_BITS_LEAST, .most = COUNTERS_WIDTH_MAX,
        .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

PLATFORM_INLINE cells variable_cells(const void *image)
{
    return (cells){
        .m = image_geometry(image, VARIABLE_M),
        .k = (uint32_t)image_geometry(image, VARIABLE_K),
        .width = (uint32_t)image_geometry(image, VARIABLE_BITS),
        .l = (uint32_t)image_geometry(image, VARIABLE_L),
    };
}

/* ---- The rate ---------------------------------------------------------- */

/* Two increments pass which share of a third; mean and mean square. */
typedef struct { double mean, square; } variable_pair;

static variable_pair variable_pairs(uint32_t l)
{
    variable_pair sum = { 0, 0 };
    for (uint32_t a = 0; a < l; a++)
        for (uint32_t b = 0; b < l; b++) {
            double share = fmin(a + b + 1, l) / l;
            sum.mean += share / l / l;
            sum.square += share * share / l / l;
        }
    return sum;
}

/* P_0, P_1, P_2: that so many of N probes met in one of m counters. */
typedef struct { double p[3]; } variable_met;

static variable_met variable_meet(double m, double probes)
{
    if (m == 1)
        return (variable_met){ { 0, probes == 1, probes == 2 } };
    double none = exp(probes * log1p(-1 / m)), odds = 1 / (m - 1);
    return (variable_met){ {
        none, none * probes * odds,
        none * probes * odds * (probes - 1) / 2 * odds,
    } };
}

/* q and V of the essay. */
typedef struct { double mean, variance; } variable_share;

static variable_share variable_passes(double m, double probes, uint32_t l)
{
    variable_pair pair = variable_pairs(l);
    variable_met met = variable_meet(m, probes);
    double one = 1.0 / l, load = probes / m;
    double more = 1 - met.p[0] - met.p[1] - met.p[2];
    if (load < 1e-3)
        more = load * load * load / 6;  /* where the difference is rounding */

    double mean = met.p[1] * one + met.p[2] * pair.mean + more;
    double square = met.p[1] * one * one + met.p[2] * pair.square + more;
    double cross = load - met.p[1] * (1 - one)
                 - 2 * met.p[2] * (1 - pair.mean) - mean * load;
    double variance = square - mean * mean
                    - (m == 1 ? 0 : cross * cross / (load * (1 - 1 / m)));
    return (variable_share){ mean, fmax(variance, 0) / m };
}

/* (2), and the deviation of one filter's own rate. */
static double variable_rate(const cells *c, double n, double *sd)
{
    double k = c->k;
    variable_share y = variable_passes((double)c->m, n * k, c->l);
    double spread = y.variance / (y.mean * y.mean), power = pow(y.mean, k);
    double second = k * (k - 1) / 2 * spread;
    double fourth = k * (k - 1) * (k - 2) * (k - 3) / 8 * spread * spread;
    if (sd != NULL)
        *sd = power * k * sqrt(spread);
    return fmin(power * (1 + second + fourth), 1);
}

/* (1) for an infinite m: the chance to pass at a load of `load` probes a
 * counter. */
static double variable_passes_at(double load, uint32_t l)
{
    double one = 1.0 - 1.0 / l, two = (1 - 1.0 / l / l) / 6;
    return 1 - exp(-load) * (1 + load * (one + load / 2 * two));
}

/* The load at which k probes pass with chance p. */
static double variable_load(double p, double k, uint32_t l)
{
    double wanted = pow(p, 1 / k), low = 0, high = 1;
    while (high < 1024 && variable_passes_at(high, l) < wanted)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (variable_passes_at(middle, l) < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- Plan -------------------------------------------------------------- */

/* The k that takes the least counters a key for this rate. */
static uint32_t variable_best_k(double rate, uint32_t l)
{
    uint32_t best = 1;
    double least = 1 / variable_load(rate, 1, l);
    for (uint32_t k = 2; k <= CELLS_K_MAX; k++) {
        double counters = k / variable_load(rate, k, l);
        if (counters < least) {
            least = counters;
            best = k;
        }
    }
    return best;
}

/* The k whose rate is least for this many counters and keys. */
static uint32_t variable_best_k_for(cells c, double n)
{
    uint32_t best = 1;
    double least = 2;
    for (c.k = 1; c.k <= CELLS_K_MAX; c.k++) {
        double rate = variable_rate(&c, n, NULL);
        if (rate < least) {
            least = rate;
            best = c.k;
        }
    }
    return best;
}

/* The least m whose rate is at most `rate`, from what would do for an infinite
 * m; false if that is too much. */
static bool variable_least_m(cells *c, double n, double rate)
{
    double about = n * c->k / variable_load(rate, c->k, c->l);
    uint64_t low, high;
    if (about > (double)VARIABLE_M_MAX || !sizes_from_double(&low, about))
        return false;
    for (c->m = low; low > 0 && variable_rate(c, n, NULL) <= rate; c->m = low)
        low -= low / 64 + 1;
    for (high = low + 1; high < 2 * VARIABLE_M_MAX; high += high / 64 + 1) {
        c->m = high;
        if (variable_rate(c, n, NULL) <= rate)
            break;
        low = high;
    }
    while (high - low > 1) {
        c->m = low + (high - low) / 2;
        if (variable_rate(c, n, NULL) <= rate)
            high = c->m;
        else
            low = c->m;
    }
    c->m = high;
    return high <= VARIABLE_M_MAX;
}

/* The most keys, but at least 1, whose rate is at most `rate`. */
static uint64_t variable_capacity(const cells *c, double rate)
{
    uint64_t low = 1, high = 2;
    while (high < UINT64_C(1) << 62
           && variable_rate(c, (double)high, NULL) <= rate) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (variable_rate(c, (double)middle, NULL) <= rate)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* l and the width from the options. */
static bly_status variable_counters(cells *c, const kind_spec *spec)
{
    uint32_t log_l = 1 + (uint32_t)spec->option[VARIABLE_L];
    uint64_t bits = spec->option[VARIABLE_BITS];
    c->l = 1u << log_l;
    c->width = bits == KIND_CHOOSE ? log_l + 4 : (uint32_t)bits;
    if (c->width < log_l + 2)
        return status_fail(BLY_EPARAM, "bits=%u are too few for l=%u: two "
                           "increments need %u", (unsigned)c->width,
                           (unsigned)c->l, (unsigned)log_l + 2);
    return BLY_OK;
}

/* k, then n, then m, each from the options or from what is known already. */
static bly_status variable_size(cells *c, uint64_t *n, const kind_spec *spec)
{
    bool sized = spec->option[VARIABLE_M] != KIND_CHOOSE;

    *n = spec->capacity;
    if (*n == 0 && !sized)
        return kind_no_capacity();
    c->m = spec->option[VARIABLE_M];
    if (spec->option[VARIABLE_K] != KIND_CHOOSE)
        c->k = (uint32_t)spec->option[VARIABLE_K];
    else if (sized && *n != 0)
        c->k = variable_best_k_for(*c, (double)*n);
    else
        c->k = variable_best_k(spec->rate, c->l);

    if (*n == 0)
        *n = variable_capacity(c, spec->rate);
    if (!sized && !variable_least_m(c, (double)*n, spec->rate))
        return kind_too_big(spec, "2^56 counters");
    return BLY_OK;
}

static bly_status variable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    cells c = { 0 };
    uint64_t n = 0, bytes = 0;
    bly_status status = variable_counters(&c, spec);
    if (status == BLY_OK)
        status = variable_size(&c, &n, spec);
    if (status == BLY_OK && !counters_bytes(&bytes, c.m, c.width))
        status = kind_too_big(spec, "2^64 bits");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    shape s = cells_shape(&c);
    double pass = variable_passes((double)c.m, (double)n * c.k, c.l).mean;
    double lines = ceil((double)bytes / 64);
    plan->capacity = n;
    plan->rate = variable_rate(&c, (double)n, &plan->rate_sd);
    plan->fill = shape_fill(&s, (double)n);
    plan->probes = c.k;
    plan->lines_present = fmin(c.k, lines);
    plan->lines_absent = fmin(math_absent_probes(pass, c.k), lines);
    plan->geometry[VARIABLE_M] = c.m;
    plan->geometry[VARIABLE_K] = c.k;
    plan->geometry[VARIABLE_L] = c.l;
    plan->geometry[VARIABLE_BITS] = c.width;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

/* Is this one of the L, and do two increments fit into so many bits? */
static bool variable_fits(uint64_t l, uint64_t bits)
{
    for (uint32_t log_l = 1; log_l <= VARIABLE_LS; log_l++)
        if (l == UINT64_C(1) << log_l)
            return bits >= log_l + 2 && bits <= COUNTERS_WIDTH_MAX;
    return false;
}

static bly_status variable_check(const void *image)
{
    uint64_t m = image_geometry(image, VARIABLE_M), wanted = 0;
    uint64_t k = image_geometry(image, VARIABLE_K);
    uint64_t bits = image_geometry(image, VARIABLE_BITS);
    size_t bytes = image_payload_bytes(image);

    bool sound = m >= 1 && m <= VARIABLE_M_MAX
              && k >= 1 && k <= CELLS_K_MAX
              && variable_fits(image_geometry(image, VARIABLE_L), bits)
              && counters_bytes(&wanted, m, (uint32_t)bits) && bytes == wanted;
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), bytes, m * bits))
        return status_fail(BLY_ECORRUPT, "bits beyond the last counter are "
                           "set");
    return BLY_OK;
}

/* ---- Keys, sets, look inside ------------------------------------------- */

CELLS_LOOKS(variable)
CELLS_ADDS(variable)
CELLS_REMOVES(variable)

const bly_kind bly_kind_variable = {
    .name    = "variable",
    .family  = "removable",
    .summary = "counters that keys raise by numbers of their own",
    .version = VARIABLE_VERSION,
    .options = variable_options,

    .plan  = variable_plan,
    .check = variable_check,

    .contains      = variable_contains,
    .contains_here = variable_contains_here,
    .contains_many = variable_contains_many,
    .add           = variable_add,
    .add_many      = variable_add_many,
    .remove        = variable_remove,
    .remove_many   = variable_remove_many,
    .count         = variable_count,
    .count_many    = variable_count_many,

    .unite   = variable_unite,
    .overlap = variable_overlap,

    .stat = variable_stat,
};
