/* variable.c - a counting Bloom filter whose keys add different increments.
 *
 * WHAT IT IS
 *
 * A counting Bloom filter in which a key raises each of its k counters not by
 * one, but by an increment of L, L+1, … or 2L-1 that its hash selects. The
 * value of a counter then shows more than whether any key raised it. For L = 4,
 * a counter of 5 cannot contain an increment of 4, because the remaining 1 is
 * not an increment. So fewer absent keys pass, and the filter is a third
 * smaller although each counter has more bits.
 *
 * WHEN TO USE IT
 *
 * Use it in place of `counting` if memory is short. It has the same abilities
 * (add, remove, count, unite) in two thirds of the memory, or in less than six
 * tenths with set=8-12-14-15.
 *
 * WHEN NOT TO
 *
 * - Memory matters more than never refusing an add: `cuckoo`, `quotient` and
 *   `golomb` are less than half as large.
 * - The counters themselves are of use: those of `counting` are plain counts.
 * - Keys that were never added might be removed: that can lose other keys,
 *   here as in every kind that removes.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          24.7                  5                  1.6
 *      0.1 %        37.0                  7                  1.6
 *
 * A lookup with a set takes 1.3 times as many instructions.
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
 *      A key whose increment at counter 1 is not 5 is absent, and so is one
 *      whose increment at counter 8 is not 4. Counter 4 lets all pass: its 13
 *      is 7 + 6, but could be 4 + 4 + 5 as well.
 *
 * IMAGE
 *
 *      geometry 0   m, number of counters, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   L: 2, 4, 8 or 16; or a set of increments, bit v for each
 *                   element v: d0 is {4, 6, 7}, d100 is {8, 12, 14, 15}
 *      geometry 3   b, bits of a counter, log2 L + 2 .. 16; for the two sets
 *                   5 .. 16 and 6 .. 16
 *      payload      ceil(m b / 8) bytes; counter i is the bits i b … i b + b-1,
 *                   its lowest bit first; bit j is bit (j mod 8) of byte j / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has ceil(m b / 8) bytes, (3) the bits from m b on are clear.
 *
 * MATHS
 *
 * With N = kn probes in all and P_j the binomial probability that j of them met
 * in a given counter, a probe of an absent key passes with probability
 *
 *      q = 1 - P_0 - (L-1)/L P_1 - (L^2-1)/(6 L^2) P_2                   (1)
 *
 * A single increment lets only its equal pass. Two increments stop those above
 * their sum less L. Three or more let all pass. The rate is E[Y^k], where Y is
 * the share of pairs of a counter and an increment that pass, and q its mean:
 *
 *      f = q^k (1 + C(k,2) V/q^2 + 3 C(k,4) V^2/q^4)                     (2)
 *
 * V is the variance of Y: the variance of a counter's share g, less the part
 * that the fixed number of probes J removes, (var g - cov(g, J)^2 / var J) / m.
 * [Rottenstreich 2014] has q^k. The plan takes the k that needs the fewest
 * bits, and the smallest m for which (2) is at most the requested rate. Bits
 * per key:
 *
 *      rate      counting, 4 bits   variable, L = 4, 6 bits     less
 *      10 %          19.2                12.4 (k = 2)           35 %
 *      1 %           38.4                24.7 (k = 5)           36 %
 *      0.1 %         57.5                37.0 (k = 7)           36 %
 *      0.01 %        76.7                49.3 (k = 9)           36 %
 *
 * The counters are fuller than a Bloom filter's: 1.1 to 1.2 increments each. At
 * that load a counter of b = log2 L + 4 bits saturates with a probability of
 * about
 *
 *      L              2         4         8         16
 *      1 %, bits     26.9      24.7      25.3      27.2
 *      saturates     2e-9      3e-8      3e-8      7e-8
 *
 * while all keys are different (the sum of a Poisson number of increments). One
 * more bit makes it less than 10^-18.
 *
 * PROBES
 *
 * The positions are those of kind `standard` with its default index scheme: s,
 * s c, s c^2, … modulo 2^64, the high half of each times m. The increment of a
 * probe is L plus the high log2 L bits of its s c^i times 9E3779B97F4A7C15.
 *
 * Every number from L on is a sum of numbers of L … 2L-1. So a counter c may
 * contain the increment v if c = v or c >= v + L, and certainly does not
 * otherwise.
 *
 * With a set of n elements, the same product scaled to 0 … n-1 selects the
 * element, in rising order.
 *
 * SATURATION
 *
 * A counter at its largest value never changes again and lets every key pass,
 * as in `counting`. It never loses a key, but removed keys may still be found.
 * A key whose counters are all saturated cannot be removed (BLY_EUNSAFE), and
 * its count is unbounded (UINT64_MAX).
 *
 * REMOVAL, COUNTS
 *
 * A key is removed if all of its probes pass. Where several probes meet in one
 * counter, that counter must contain all of their increments and keep 0 or at
 * least L. Otherwise the key is not in the filter, and nothing changes. A key
 * was added at most r times, where r is the largest number for which each of
 * its counters contains the increment r times and keeps 0 or at least L.
 *
 * SETS
 *
 * A set of increments whose sums of two elements all differ (B_2) tells more,
 * because the rest of a sum is less often a sum itself. Take {8, 12, 14, 15}. A
 * counter of 20 lets 8 and 12 pass, because it may be their sum. It does not
 * let 14 pass, which would leave 6, nor 15, which would leave 5: neither is a
 * sum of elements. A 64-bit number holds which numbers are sums, because every
 * number above 33 is one (above 9 for {4, 6, 7}). Where j increments met, they
 * let this share g_j of the elements pass:
 *
 *      j                   1      2      3      4      5      6      7
 *      L = 4             .250   .844   1
 *      {4, 6, 7}         .333   .667   .914   .996   1
 *      {8, 12, 14, 15}   .250   .516   .785   .948   .996   1.000  1
 *
 *      q = 1 - sum over j of P_j (1 - g_j)                               (3)
 *
 * For L … 2L-1 this is (1), and (2) holds with it. The plan finds g_j from the
 * distribution of sums of j elements. Bits per key, with counters of 6 and of 7
 * bits:
 *
 *      rate                       10 %      1 %    0.1 %   0.01 %
 *      L = 4, 6 bits             12.4     24.7     37.0     49.3
 *      set=4-6-7, 6 bits         11.8     23.6     35.3     47.1     5 % less
 *      set=8-12-14-15, 7 bits    11.1     21.9     32.9     43.8    11 % less
 *
 * The elements are larger, and so are the sums: a counter saturates with a
 * probability of 1e-7 and 3e-6, where L = 4 has 3e-8. One more bit each makes
 * it less than 10^-14.
 *
 * Two variants were tried and left out. A set of five, {16, 24, 28, 30, 31},
 * takes another 4 % less with 8 bits (21.0 at 1 %), but 3e-5 of its counters
 * saturate. The form of [Rottenstreich 2014] with a second field, which counts
 * the increments that met, takes at best 24.5 bits per key at 1 % (6 numbers
 * modulo 31, 4 + 5 bits): more than the sums alone.
 *
 * PAPERS
 *
 *  [Rottenstreich 2014]  The variable-increment counting Bloom filter,
 *                  IEEE/ACM ToN 22(4) (INFOCOM 2012). The filter, (1), and the
 *                  form with B_h.
 */
#include "image/abilities.h"

#include <assert.h>
#include <math.h>

#include "base/sizes.h"
#include "bits/bits.h"
#include "bodies/cells.h"
#include "bits/counters.h"
#include "maths/maths.h"
#include "maths/shape.h"

enum {
    VARIABLE_VERSION = 1,
    VARIABLE_M = 0, VARIABLE_K = 1, VARIABLE_L = 2, VARIABLE_BITS = 3,
    VARIABLE_SET = 4,                   /* an option without a field         */
    VARIABLE_BITS_LEAST = 3             /* for L = 2 */
};

#define VARIABLE_M_MAX (UINT64_C(1) << 56)

/* Choice i is L = 2^(i+1). */
static const char *const variable_ls[] = { "2", "4", "8", "16", NULL };

enum { VARIABLE_LS = sizeof variable_ls / sizeof *variable_ls - 1,
       VARIABLE_L_STANDARD = 1 };

/* Beside the first, which is what L says. */
static const char *const variable_sets[] = {
    "interval", "4-6-7", "8-12-14-15", NULL,
};
static const struct { uint32_t l, log; } variable_set[] = {
    { 0, 0 }, { CELLS_4_6_7, 2 }, { CELLS_8_12_14_15, 3 },
};

enum { VARIABLE_SETS = sizeof variable_set / sizeof *variable_set };

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
        .name = "l", .help = "increments are l … 2l-1",
        .choices = variable_ls, .standard = VARIABLE_L_STANDARD,
    },
    [VARIABLE_BITS] = {
        .name = "bits", .help = "bits of a counter: at least log2 l + 2, by "
                                "default + 4",
        .least = VARIABLE_BITS_LEAST, .most = COUNTERS_WIDTH_MAX,
        .standard = KIND_CHOOSE,
    },
    [VARIABLE_SET] = {
        .name = "set", .help = "increments, instead of l … 2l-1",
        .choices = variable_sets, .standard = 0,
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

/* The most increments in a counter with which some increment may not pass. With
 * 8 elements or more, beyond this number all pass. */
enum { VARIABLE_MET = 6, VARIABLE_SUM = VARIABLE_MET * 15 };

/* The share of increments that pass in a counter where j of them met, with its
 * mean and mean square, up to j = `most`. */
typedef struct {
    unsigned most;
    double   mean[VARIABLE_MET + 1], square[VARIABLE_MET + 1];
} variable_law;

/* Computes the law of the set l … 2l-1: one increment passes its equal only,
 * two fail those above their sum less l, three pass all. */
static variable_law variable_interval(uint32_t l)
{
    variable_law law = { .most = 2 };
    law.mean[1] = 1.0 / l;
    law.square[1] = 1.0 / l / l;
    for (uint32_t a = 0; a < l; a++)
        for (uint32_t b = 0; b < l; b++) {
            double share = fmin(a + b + 1, l) / l;
            law.mean[2] += share / l / l;
            law.square[2] += share * share / l / l;
        }
    return law;
}

/* The share that passes a counter of this value. */
static double variable_share_of(const cells_set *set, uint32_t value)
{
    double passes = 0;
    for (uint32_t i = 0; i < set->count; i++)
        passes += cells_sum(set, value - cells_element(set, i));
    return passes / set->count;
}

/* Computes the law of a set. chance[s] is the chance that j elements have the
 * sum s, for one j after another, from the largest sum down, because elements
 * are above 0. */
static variable_law variable_elements(uint32_t l)
{
    cells_set set = cells_set_of(l);
    variable_law law = { .most = VARIABLE_MET };
    double chance[VARIABLE_SUM + 1] = { 1 };
    for (unsigned j = 1; j <= law.most; j++)
        for (uint32_t s = VARIABLE_SUM + 1; s-- > 0; ) {
            double sum = 0;
            for (uint32_t i = 0; i < set.count; i++) {
                uint32_t element = cells_element(&set, i);
                sum += element <= s ? chance[s - element] : 0;
            }
            chance[s] = sum / set.count;
            double share = variable_share_of(&set, s);
            law.mean[j] += chance[s] * share;
            law.square[j] += chance[s] * share * share;
        }
    return law;
}

static variable_law variable_law_of(uint32_t l)
{
    return l > CELLS_L_MAX ? variable_elements(l) : variable_interval(l);
}

/* P_0, P_1, …: the probability that this many of N probes met in one of m
 * counters. */
typedef struct { double p[VARIABLE_MET + 1]; } variable_met;

static variable_met variable_meet(double m, double probes)
{
    variable_met met = { { 0 } };
    met.p[0] = m == 1 ? 0 : exp(probes * log1p(-1 / m));
    for (unsigned j = 1; j <= VARIABLE_MET; j++)
        met.p[j] = m == 1 ? probes == j
                          : met.p[j - 1] * (probes - j + 1) / j * (1 / (m - 1));
    return met;
}

/* Returns the probability that more than law->most met. If that is the
 * difference of nearly equal numbers, it returns the first term. */
static double variable_more(const variable_law *law, const variable_met *met,
                            double load)
{
    double more = 1, power = 1, ways = 1;
    for (unsigned j = 0; j <= law->most; j++) {
        more -= met->p[j];
        power *= load;
        ways *= j + 1;
    }
    return load < 1e-3 ? power / ways : more;
}

/* q and V of the essay. */
typedef struct { double mean, variance; } variable_share;

static variable_share variable_passes(double m, double probes,
                                      const variable_law *law)
{
    variable_met met = variable_meet(m, probes);
    double load = probes / m, more = variable_more(law, &met, load);
    double mean = 0, square = 0, cross = load;
    for (unsigned j = 1; j <= law->most; j++) {
        mean += met.p[j] * law->mean[j];
        square += met.p[j] * law->square[j];
        cross -= j * met.p[j] * (1 - law->mean[j]);
    }
    mean += more;
    square += more;
    cross -= mean * load;
    double variance = square - mean * mean
                    - (m == 1 ? 0 : cross * cross / (load * (1 - 1 / m)));
    return (variable_share){ mean, fmax(variance, 0) / m };
}

/* (2), and the deviation of one filter's own rate. */
static double variable_rate(const cells *c, const variable_law *law, double n,
                            double *sd)
{
    double k = c->k;
    variable_share y = variable_passes((double)c->m, n * k, law);
    double spread = y.variance / (y.mean * y.mean), power = pow(y.mean, k);
    double second = k * (k - 1) / 2 * spread;
    double fourth = k * (k - 1) * (k - 2) * (k - 3) / 8 * spread * spread;
    if (sd != NULL)
        *sd = power * k * sqrt(spread);
    return fmin(power * (1 + second + fourth), 1);
}

/* (1) for an infinite m: the chance to pass at a load of `load` probes a
 * counter. */
static double variable_passes_at(double load, const variable_law *law)
{
    double fail = 1 - law->mean[law->most];
    for (unsigned j = law->most; j-- > 0; )
        fail = 1 - law->mean[j] + load / (j + 1) * fail;
    return 1 - exp(-load) * fail;
}

/* The load at which k probes pass with chance p. */
static double variable_load(double p, double k, const variable_law *law)
{
    double wanted = pow(p, 1 / k), low = 0, high = 1;
    while (high < 1024 && variable_passes_at(high, law) < wanted)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (variable_passes_at(middle, law) < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- Plan -------------------------------------------------------------- */

/* The k that takes the least counters a key for this rate. */
static uint32_t variable_best_k(double rate, const variable_law *law)
{
    uint32_t best = 1;
    double least = 1 / variable_load(rate, 1, law);
    for (uint32_t k = 2; k <= CELLS_K_MAX; k++) {
        double counters = k / variable_load(rate, k, law);
        if (counters < least) {
            least = counters;
            best = k;
        }
    }
    return best;
}

/* The k whose rate is least for this many counters and keys. */
static uint32_t variable_best_k_for(cells c, const variable_law *law,
                                    double n)
{
    uint32_t best = 1;
    double least = 2;
    for (c.k = 1; c.k <= CELLS_K_MAX; c.k++) {
        double rate = variable_rate(&c, law, n, NULL);
        if (rate < least) {
            least = rate;
            best = c.k;
        }
    }
    return best;
}

/* The least m whose rate is at most `rate`, from what would do for an infinite
 * m; false if that is too much. */
static bool variable_least_m(cells *c, const variable_law *law, double n,
                             double rate)
{
    double about = n * c->k / variable_load(rate, c->k, law);
    uint64_t low, high;
    if (about > (double)VARIABLE_M_MAX || !sizes_from_double(&low, about))
        return false;
    for (c->m = low; low > 0 && variable_rate(c, law, n, NULL) <= rate;
         c->m = low)
        low -= low / 64 + 1;
    for (high = low + 1; high < 2 * VARIABLE_M_MAX; high += high / 64 + 1) {
        c->m = high;
        if (variable_rate(c, law, n, NULL) <= rate)
            break;
        low = high;
    }
    while (high - low > 1) {
        c->m = low + (high - low) / 2;
        if (variable_rate(c, law, n, NULL) <= rate)
            high = c->m;
        else
            low = c->m;
    }
    c->m = high;
    return high <= VARIABLE_M_MAX;
}

/* The most keys, but at least 1, whose rate is at most `rate`. */
static uint64_t variable_capacity(const cells *c, const variable_law *law,
                                  double rate)
{
    uint64_t low = 1, high = 2;
    while (high < UINT64_C(1) << 62
           && variable_rate(c, law, (double)high, NULL) <= rate) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (variable_rate(c, law, (double)middle, NULL) <= rate)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* l or the set, and the width, from the options. */
static bly_status variable_counters(cells *c, const kind_spec *spec)
{
    uint64_t set = spec->option[VARIABLE_SET];
    uint64_t bits = spec->option[VARIABLE_BITS];
    uint32_t log = set > 0 ? variable_set[set].log
                           : 1 + (uint32_t)spec->option[VARIABLE_L];
    uint32_t least = log + (set > 0 ? 3 : 2);
    c->l = set > 0 ? variable_set[set].l : 1u << log;
    c->width = bits == KIND_CHOOSE ? log + 4 : (uint32_t)bits;
    if (set > 0 && spec->option[VARIABLE_L] != VARIABLE_L_STANDARD)
        return status_fail(BLY_EPARAM, "l=%s and set=%s cannot be used "
                           "together: leave one out",
                           variable_ls[spec->option[VARIABLE_L]],
                           variable_sets[set]);
    if (c->width < least && set > 0)
        return status_fail(BLY_EPARAM, "bits=%u are too few for set=%s: give "
                           "%u or more", (unsigned)c->width,
                           variable_sets[set], (unsigned)least);
    if (c->width < least)
        return status_fail(BLY_EPARAM, "bits=%u are too few for l=%u: two "
                           "increments need %u", (unsigned)c->width,
                           (unsigned)c->l, (unsigned)least);
    return BLY_OK;
}

/* Sets k, then n, then m, each from the options or from the ones before. */
static bly_status variable_size(cells *c, const variable_law *law, uint64_t *n,
                                const kind_spec *spec)
{
    bool sized = spec->option[VARIABLE_M] != KIND_CHOOSE;

    *n = spec->capacity;
    if (*n == 0 && !sized)
        return kind_no_capacity();
    c->m = spec->option[VARIABLE_M];
    if (spec->option[VARIABLE_K] != KIND_CHOOSE)
        c->k = (uint32_t)spec->option[VARIABLE_K];
    else if (sized && *n != 0)
        c->k = variable_best_k_for(*c, law, (double)*n);
    else
        c->k = variable_best_k(spec->rate, law);

    if (*n == 0)
        *n = variable_capacity(c, law, spec->rate);
    if (!sized && !variable_least_m(c, law, (double)*n, spec->rate))
        return kind_too_big(spec, "2^56 counters");
    return BLY_OK;
}

static bly_status variable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    cells c = { 0 };
    uint64_t n = 0, bytes = 0;
    bly_status status = variable_counters(&c, spec);
    variable_law law = variable_law_of(c.l);
    if (status == BLY_OK)
        status = variable_size(&c, &law, &n, spec);
    if (status == BLY_OK && !counters_bytes(&bytes, c.m, c.width))
        status = kind_too_big(spec, "2^64 bits");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    shape s = cells_shape(&c);
    double pass = variable_passes((double)c.m, (double)n * c.k, &law).mean;
    double lines = ceil((double)bytes / 64);
    plan->capacity = n;
    plan->rate = variable_rate(&c, &law, (double)n, &plan->rate_sd);
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

/* Returns whether this is a valid L or set, with enough bits. */
static bool variable_fits(uint64_t l, uint64_t bits)
{
    for (uint32_t log_l = 1; log_l <= VARIABLE_LS; log_l++)
        if (l == UINT64_C(1) << log_l)
            return bits >= log_l + 2 && bits <= COUNTERS_WIDTH_MAX;
    for (size_t i = 1; i < VARIABLE_SETS; i++)
        if (l == variable_set[i].l)
            return bits >= variable_set[i].log + 3
                && bits <= COUNTERS_WIDTH_MAX;
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

static const kind_combining variable_combining = {
    .unite   = variable_unite,
    .overlap = variable_overlap,
};

const bly_kind bly_kind_variable = {
    .name    = "variable",
    .family  = "removable",
    .summary = "a counting Bloom filter whose keys add different increments",
    .version = VARIABLE_VERSION,
    .options = variable_options,

    .plan  = variable_plan,
    .check = variable_check,
    .stat  = variable_stat,

    .contains      = variable_contains,
    .contains_many = variable_contains_many,
    .contains_here = variable_contains_here,

    .add         = variable_add,
    .add_many    = variable_add_many,
    .remove      = variable_remove,
    .remove_many = variable_remove_many,
    .count       = variable_count,
    .count_many  = variable_count_many,

    .combining = &variable_combining,
};
