/* blocked.c - a Bloom filter that touches one cache line for each key.
 *
 * WHAT IT IS
 *
 * Many small Bloom filters of 512 bits, each one cache line. A key chooses a
 * line and has all its k bits in it, so a lookup or an add in a filter larger
 * than the cache costs one miss instead of k.
 *
 * THE PICTURE (k = 3)
 *
 *      payload  | line 0 | line 1 | line 2 | line 3 | …      64 bytes each
 *                             |
 *      s, the hash, spread ---+      bit 0                         bit 511
 *      high half of s * lines       | 0 0 1 0 0 … 0 1 0 … 0 0 1 0 … 0 |
 *                                         ^         ^         ^
 *      g, low half of s:  high 9 bits of g c, of g c^2, of g c^3
 *
 * IMAGE
 *
 *      geometry 0   number of lines, 1 .. 2^48
 *      geometry 1   k, probes in the line, 1 .. 32
 *      geometry 2, 3  zero
 *      payload      64 bytes a line; bit b of a line is bit (b mod 8) of its
 *                   byte b / 8
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has 64 bytes a line.
 *
 * MATHS
 *
 * Keys fall on lines like balls into bins: some lines hold more than the mean
 * and err much more often. With w_i the binomial chance of i keys in a line
 * and f_i the true rate of 512 bits with i keys,
 *
 *      F = sum w_i f_i                                    [Putze 2009]   (1)
 *
 * computed as it stands (core/shape.h), not approximated. The price of the
 * unequal lines, in bits a key over the standard filter's best:
 *
 *      wanted rate    standard     blocked      more
 *      10 %             4.81         4.84        1 %
 *      1 %              9.59         9.92        3 %
 *      0.1 %           14.38        15.55        8 %
 *      0.01 %          19.17        22.03       15 %
 *      0.001 %         23.97        29.67       24 %
 *
 * The best k is smaller than the standard filter's: 6 at 1 %, 9 at 0.1 %. We
 * take the k that needs the fewest lines.
 *
 * PROBES
 *
 * One spread 64-bit state s: the high half of s * lines is the line. The low
 * 32 bits of s, g, choose the bits in it: the high 9 bits of g c, g c^2, …
 * modulo 2^32, c = 9E3779B9 (2^32 over the golden ratio, odd). Sixteen such
 * products are one vector instruction; that is why g has 32 bits and not 64.
 * Two keys of one line with the same g cannot be told apart, which adds
 *
 *      L / 2^32,  L = keys / lines                                       (2)
 *
 * to F: nothing at 1 %, 0.3 % of the rate at 10^-6, a tenth at 10^-8, where
 * the kind ends. For an ordinary number of lines the line and g come from
 * different bits of s; the measured rate meets the plan from 10^-1 to 10^-6.
 *
 * COST
 *
 * One line for any key, present or not. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * The one to use where speed matters and nothing need be removed. Below a
 * rate of 10^-4 the unequal lines cost more than 15 % and `standard` is
 * smaller; `split` is for exchange with Parquet.
 *
 * PAPERS
 *
 *  [Putze 2009]  Cache-, hash- and space-efficient Bloom filters, ACM JEA 14
 *                (WEA 2007). The construction and (1).
 */
#include "core/kind.h"

#include <assert.h>
#include <math.h>

#include "core/bits.h"
#include "core/hash.h"
#include "core/maths.h"
#include "core/shape.h"

enum {
    BLOCKED_VERSION = 1,
    BLOCKED_LINES = 0, BLOCKED_K = 1, BLOCKED_ZERO = 2, BLOCKED_ZERO_TOO = 3,
    BLOCKED_K_MAX = 32,
    BLOCKED_LINE_BITS = 512, BLOCKED_LINE_BYTES = 64,
    BLOCKED_SHIFT = 32 - 9              /* 9 high bits name one of 512 */
};

static_assert(BLOCKED_LINE_BITS == 1 << (32 - BLOCKED_SHIFT),
              "the high bits of a product name a bit of the line");

static const uint32_t BLOCKED_STEP = 0x9E3779B9;
static const double BLOCKED_RATE_LEAST = 1e-8;

#define BLOCKED_LINES_MAX (UINT64_C(1) << 48)

enum { BLOCKED_OPTION_M, BLOCKED_OPTION_K };

static const kind_option blocked_options[] = {
    [BLOCKED_OPTION_M] = {
        .name = "m", .help = "number of bits, instead of a rate (rounded up "
                             "to lines of 512)",
        .least = 1, .most = BLOCKED_LINES_MAX, .standard = KIND_CHOOSE,
    },
    [BLOCKED_OPTION_K] = {
        .name = "k", .help = "probes: bits that a key sets in its line",
        .least = 1, .most = BLOCKED_K_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

static shape blocked_shape(uint64_t lines, uint32_t k)
{
    return (shape){ .blocks = lines, .lanes = 1,
                    .bits = BLOCKED_LINE_BITS, .probes = k };
}

static shape blocked_shape_of(const void *image)
{
    return blocked_shape(image_geometry(image, BLOCKED_LINES),
                         (uint32_t)image_geometry(image, BLOCKED_K));
}

/* ---- Plan -------------------------------------------------------------- */

/* F and (2) together. */
static double blocked_rate(const shape *s, uint64_t n, double *sd)
{
    double rate = shape_rate(s, n, sd);
    return rate + (1 - rate) * (double)n / (double)s->blocks / 4294967296.0;
}

/* The lines that k probes need, (2) left out; false if there are too many. */
static bool blocked_enough(uint64_t *lines, uint32_t k, uint64_t n,
                           double rate)
{
    shape s = blocked_shape(1, k);
    return shape_enough(lines, &s, n, rate) && *lines <= BLOCKED_LINES_MAX;
}

/* The k that needs the fewest lines; 0 if none will do. Lines as a function
 * of k fall, then rise: walk up from half the standard filter's k until they
 * rise. */
static uint32_t blocked_best_k(uint64_t n, double rate)
{
    uint32_t best = 0, k = (uint32_t)fmax(1, -log2(rate) / 2);
    uint64_t least = 0, need;
    for (; k <= BLOCKED_K_MAX; k++) {
        if (!blocked_enough(&need, k, n, rate))
            continue;
        if (best != 0 && need > least)
            break;
        if (best == 0 || need < least) {
            best = k;
            least = need;
        }
    }
    return best;
}

static bool blocked_keeps(uint64_t lines, uint32_t k, uint64_t n, double rate)
{
    shape s = blocked_shape(lines, k);
    return blocked_rate(&s, n, NULL) <= rate;
}

/* The lines that k probes need with (2) too, to one in a million: a little
 * more than those without it. */
static bool blocked_lines(uint64_t *lines, uint32_t k, uint64_t n, double rate)
{
    uint64_t low, high;
    if (!blocked_enough(&low, k, n, rate))
        return false;
    for (high = low; !blocked_keeps(high, k, n, rate); ) {
        low = high;
        high += high / 64 + 1;
    }
    while (high - low > 1 + low / 1000000) {
        uint64_t middle = low + (high - low) / 2;
        if (blocked_keeps(middle, k, n, rate))
            high = middle;
        else
            low = middle;
    }
    *lines = high;
    return high <= BLOCKED_LINES_MAX;
}

/* The k whose rate is least for this many lines and keys. */
static uint32_t blocked_best_k_for(uint64_t lines, uint64_t n)
{
    uint32_t best = 1;
    double least = 2;
    for (uint32_t k = 1; k <= BLOCKED_K_MAX; k++) {
        shape s = blocked_shape(lines, k);
        double rate = blocked_rate(&s, n, NULL);
        if (rate < least) {
            least = rate;
            best = k;
        }
    }
    return best;
}

static void blocked_from_m(uint64_t *lines, uint32_t *k, uint64_t *n,
                           const kind_spec *spec)
{
    uint64_t m = spec->option[BLOCKED_OPTION_M];
    *lines = m / BLOCKED_LINE_BITS + (m % BLOCKED_LINE_BITS != 0);
    if (*k == 0 && *n == 0)
        *k = (uint32_t)fmin(fmax(floor(-log2(spec->rate)), 1), BLOCKED_K_MAX);
    if (*k == 0)
        *k = blocked_best_k_for(*lines, *n);
    shape s = blocked_shape(*lines, *k);
    if (*n == 0)
        *n = shape_capacity(&s, spec->rate);
}

static bly_status blocked_size(uint64_t *lines, uint32_t *k, uint64_t *n,
                               const kind_spec *spec)
{
    uint64_t k_option = spec->option[BLOCKED_OPTION_K];
    *k = k_option == KIND_CHOOSE ? 0 : (uint32_t)k_option;
    *n = spec->capacity;
    if (spec->option[BLOCKED_OPTION_M] != KIND_CHOOSE) {
        blocked_from_m(lines, k, n, spec);
        return BLY_OK;
    }
    if (*n == 0)
        return kind_no_capacity();
    if (spec->rate < BLOCKED_RATE_LEAST)
        return status_fail(BLY_EPARAM, "kind blocked ends at a rate of %g: use "
                           "standard for %.3g", BLOCKED_RATE_LEAST,
                           spec->rate);

    if (*k == 0)
        *k = blocked_best_k(*n, spec->rate);
    return *k != 0 && blocked_lines(lines, *k, *n, spec->rate)
         ? BLY_OK : kind_too_big(spec, "2^48 lines");
}

static bly_status blocked_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t lines = 0, n = 0;
    uint32_t k = 0;
    bly_status status = blocked_size(&lines, &k, &n, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, lines * BLOCKED_LINE_BYTES);
    if (status != BLY_OK)
        return status;

    shape s = blocked_shape(lines, k);
    shape_plan(plan, &s, n);
    plan->rate = blocked_rate(&s, n, NULL);
    plan->lines_present = plan->lines_absent = 1;
    plan->geometry[BLOCKED_LINES] = lines;
    plan->geometry[BLOCKED_K] = k;
    plan->geometry[BLOCKED_ZERO] = 0;
    plan->geometry[BLOCKED_ZERO_TOO] = 0;
    return BLY_OK;
}

/* ---- Check, contains, add ---------------------------------------------- */

static bly_status blocked_check(const void *image)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    uint64_t k = image_geometry(image, BLOCKED_K);

    bool sound = lines >= 1 && lines <= BLOCKED_LINES_MAX
              && k >= 1 && k <= BLOCKED_K_MAX
              && image_geometry(image, BLOCKED_ZERO) == 0
              && image_geometry(image, BLOCKED_ZERO_TOO) == 0
              && image_payload_bytes(image) == lines * BLOCKED_LINE_BYTES;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* Where the line of a spread hash begins in the payload. */
PLATFORM_INLINE uint64_t blocked_line(const void *image, uint64_t state)
{
    return bits_range(state, image_geometry(image, BLOCKED_LINES))
         * BLOCKED_LINE_BYTES;
}

static bool blocked_contains(const void *image, uint64_t hash)
{
    uint64_t state = hash_spread(hash), k = image_geometry(image, BLOCKED_K);
    const uint8_t *line = image_payload(image) + blocked_line(image, state);
    uint32_t g = (uint32_t)state;

    for (uint64_t i = 0; i < k; i++) {
        g *= BLOCKED_STEP;
        if (!bits_test(line, g >> BLOCKED_SHIFT))
            return false;
    }
    return true;
}

PLATFORM_INLINE bly_status blocked_add_any(void *image, uint64_t hash,
                                           bool shared)
{
    uint64_t state = hash_spread(hash), k = image_geometry(image, BLOCKED_K);
    uint8_t *line = image_payload_mut(image) + blocked_line(image, state);
    uint32_t g = (uint32_t)state;
    bool fresh = false;

    for (uint64_t i = 0; i < k; i++) {
        g *= BLOCKED_STEP;
        uint64_t at = g >> BLOCKED_SHIFT;
        fresh |= shared ? bits_set_shared(line, at) : bits_set(line, at);
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

static bly_status blocked_add(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, false);
}

static bly_status blocked_add_shared(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, true);
}

/* ---- Look inside ------------------------------------------------------- */

static void blocked_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = blocked_shape_of(a);
    shape_overlap(out, &s, image_payload(a), image_payload(b));
}

static void blocked_stat(bly_stat_t *out, const void *image)
{
    shape s = blocked_shape_of(image);
    shape_stat(out, &s, image_payload(image));
}

const bly_kind bly_kind_blocked = {
    .name    = "blocked",
    .family  = "sets",
    .summary = "a Bloom filter with all bits of a key in one cache line",
    .version = BLOCKED_VERSION,
    .options = blocked_options,

    .plan  = blocked_plan,
    .check = blocked_check,

    .contains   = blocked_contains,
    .add        = blocked_add,
    .add_shared = blocked_add_shared,

    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = blocked_overlap,

    .stat = blocked_stat,
};
