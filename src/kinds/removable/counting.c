/* counting.c - the counting Bloom filter.
 *
 * WHAT IT IS
 *
 * A Bloom filter with a small counter in place of every bit. Adding a key
 * raises its k counters by one; removing the key lowers them again. A key is
 * reported present if all of its counters are above 0, and the smallest of them
 * is an upper bound for how often it was added. By default a counter has 4
 * bits.
 *
 * WHEN TO USE IT
 *
 * Use it if keys come and go, repeats must be counted, and an add must never be
 * refused. It is the simplest kind that removes. Filters of one plan can be
 * united.
 *
 * WHEN NOT TO
 *
 * - Memory matters: this is the largest kind that removes. `cuckoo` and
 *   `quotient` take about a quarter of it, and `variable` two thirds with the
 *   same abilities.
 * - Keys that were never added might be removed: if such a key is a false
 *   positive, its removal lowers counters of other keys, which may then be
 *   lost.
 * - Keys are added more than 14 times, or 2^b - 2 times with counters of b
 *   bits: such a key can no longer be removed. `quotient` counts without a
 *   limit.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          38.4                  7                  2
 *      0.1 %        57.5                 10                  2
 *
 * THE PICTURE (m = 12, k = 3, after adding x twice and y once)
 *
 *      x ------+--------+-----------+
 *              v        v           v
 *   counter 0  1  2  3  4  5  6  7  8  9 10 11
 *         | 0  2  0  0  3  0  0  0  2  1  0  1 |
 *                       ^              ^     ^
 *      y ---------------+--------------+-----+
 *
 *      Removing y leaves x as it was: counter 4 goes from 3 to 2. A key with
 *      counters {1, 4, 11} would be a false positive. x was added twice at
 *      most: its smallest counter is 2.
 *
 * IMAGE
 *
 *      geometry 0   m, number of counters, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   b, bits of a counter, 1 .. 16
 *      geometry 3   rule: 0 every, 1 least
 *      payload      ceil(m b / 8) bytes; counter i is the bits i b … i b + b-1,
 *                   its lowest bit first; bit j is bit (j mod 8) of byte j / 8.
 *                   With b = 4 counter 0 is the low half of byte 0
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has ceil(m b / 8) bytes, (3) the bits from m b on are clear.
 *
 *      The probes are those of kind `standard` with its default index scheme.
 *      Its bit i is set if and only if counter i here is above 0, for the same
 *      keys, m and k.
 *
 * MATHS
 *
 * The counters above 0 form a Bloom filter, so rate and sizes are those of
 * `standard`: m counters where that has m bits, and b times its memory. With N
 * = kn probes in all, a counter reaches j with probability
 *
 *      P(Bin(N, 1/m) >= j)  <=  C(N, j) / m^j                            (1)
 *
 * At the best k a counter is ln 2 on average, and this is
 *
 *      bits     reaches its largest value    probability per counter
 *        2      3                            3.3e-2
 *        3      7                            8.3e-6
 *        4      15                           1.6e-15
 *
 * So with 4 bits, one filter in 600 000 of 10^9 counters has even one saturated
 * counter, as long as all keys are different. A key that is added 15 times
 * saturates its counters by itself.
 *
 * SATURATION
 *
 * A counter at its largest value never changes again. Nobody knows how many
 * further adds it would have seen, and lowering it too far would lose a key.
 * Saturation therefore never causes a false negative, but removed keys may
 * still be found. bly_info reports the number of saturated counters. A key
 * whose counters are all saturated cannot be removed (BLY_EUNSAFE), and its
 * count is unbounded (UINT64_MAX). With b = 1 a counter saturates at once, and
 * the kind is `standard`, byte for byte.
 *
 * REMOVAL
 *
 * A key is removed if each of its counters is above 0. Otherwise it is not in
 * the filter, and nothing changes. Where i probes of a key meet in one counter,
 * they raise and lower it by i, and it must hold that many.
 *
 * RULE
 *
 * Everything above is about rule=every. With rule=least, an add raises only the
 * smallest of a key's counters, by one: just enough for the count to rise by
 * one [Cohen 2003, minimum increase; Estan 2002, conservative update]. By
 * induction over the adds:
 *
 * - No count is too low. Each of a key's counters is at least its count, and
 *   no add lowers one.
 * - No counter is above its value with rule=every after the same adds, so no
 *   count is: errors only get smaller. The same counters are above 0, so rate,
 *   sizes and (1) hold, and (2) holds as an upper bound.
 * - The order matters: x, y, x and x, x, y may leave different counters.
 *   Batches add in their order.
 * - A union adds the counters one by one. Its counts are upper bounds, because
 *   min(a + b) >= min a + min b, but not those of one filter of all keys.
 * - Nothing can be removed (BLY_EUNSUPPORTED): it is not known which counters
 *   a key has raised, and lowering all of them might lose another key.
 *
 * Its counts are wrong 1.6 to 10 times less often than with rule=every; the
 * gain is least when few keys make up most of the adds (lab/cohen).
 *
 * [Cohen 2003] has a third rule, recurring minimum: a key whose smallest
 * counter is the only one that low goes into a second, smaller filter as well,
 * and removal stays possible. This kind does not have it. With the same memory
 * it errs 3 to 10 times as often as rule=least and no less often than
 * rule=every. It also yields counts that are too low, for up to 0.3 % of all
 * keys (lab/cohen simulates it).
 *
 * AT LEAST T TIMES
 *
 * A key that was added T times finds at least T in each of its counters. If n
 * different keys were added once each, with L = kn/m probes per counter, an
 * absent key does so with probability
 *
 *      P(Bin(N, 1/m) >= T)^k                                             (2)
 *      ->  (1 - e^-L (1 + L + L^2/2 + … + L^(T-1)/(T-1)!))^k
 *
 * [Kim 2019]. As k grows this falls to one minimum and then rises towards 1.
 * The load at the minimum depends on T alone and is above ln 2, so fewer
 * counters are needed than bits would be:
 *
 *      T                       1       2       3       4       5       8
 *      L at the best k       0.693   0.933   1.164   1.389   1.612   2.266
 *      ln rate at it, n/m   -0.480  -1.333  -2.540  -4.094  -5.989 -13.701
 *
 *      m/n = 4, T = 2, k = 1, 3, 4, 6, 10:  .0265  .0052  .0049  .0075  .0338
 *      m/n = 10: 8.2e-3 (T = 1, k = 7), 1.6e-6 (T = 2, k = 9), 9.4e-12 (3, 12)
 *
 * The share of such counters differs between filters, so the true rate is the
 * mean of its k-th power. math_rate_times (src/maths/maths.h) computes it from
 * two moments. There are two limits. A key that was added T-1 times needs only
 * one other key in each counter, so it passes as in a Bloom filter of m bits:
 * 15 % in the first example. And a key that is added often fills the filter
 * like many keys.
 *
 * `bloomery advise --at-least T` and bly_plan_threshold plan m, k and bits for
 * this. They take the fewest bits with 2^b - 1 >= T, because a counter at its
 * largest value still means "at least T". `bloomery count -m T` queries such a
 * filter. lab/kim measures (2).
 *
 * PAPERS
 *
 *  [Cohen 2003]  Spectral Bloom filters, SIGMOD. Minimum selection, which is
 *              rule=every, minimum increase and recurring minimum.
 *  [Estan 2002]  New directions in traffic measurement and accounting, SIGCOMM.
 *              Conservative update, in a sketch.
 *  [Fan 2000]  Summary cache: a scalable wide-area web cache sharing protocol,
 *              IEEE/ACM ToN 8(3) (SIGCOMM 1998). The filter, (1), 4 bits.
 *  [Kim 2019]  Analysis of counting Bloom filters used for count thresholding,
 *              Electronics 8(7):779. (2), without the second moment.
 */
#include "image/abilities.h"

#include <assert.h>

#include "bloomery/inline.h"

#include "bits/bits.h"
#include "bodies/cells.h"
#include "bits/counters.h"
#include "bodies/rows.h"

enum {
    COUNTING_VERSION = 1,
    COUNTING_M = 0, COUNTING_K = 1, COUNTING_BITS = 2, COUNTING_RULE = 3
};

#define COUNTING_M_MAX (UINT64_C(1) << 56)

/* In the order of the numbers in an image. */
enum { COUNTING_EVERY, COUNTING_LEAST, COUNTING_RULES };
static const char *const counting_rules[] = { "every", "least", NULL };

/* In the order of the geometry. */
static const kind_option counting_options[] = {
    [COUNTING_M] = {
        .name = "m", .help = "number of counters, instead of a rate",
        .least = 1, .most = COUNTING_M_MAX, .standard = KIND_CHOOSE,
    },
    [COUNTING_K] = {
        .name = "k", .help = "probes: counters that a key raises",
        .least = 1, .most = CELLS_K_MAX, .standard = KIND_CHOOSE,
    },
    [COUNTING_BITS] = {
        .name = "bits", .help = "bits of a counter",
        .least = 1, .most = COUNTERS_WIDTH_MAX, .standard = 4,
    },
    [COUNTING_RULE] = {
        .name = "rule", .help = "counters of a key that an add raises (least: "
                                "no removal)",
        .choices = counting_rules, .standard = COUNTING_EVERY,
    },
    { .name = NULL },
};

PLATFORM_INLINE cells counting_cells(const void *image)
{
    return (cells){
        .m = image_geometry(image, COUNTING_M),
        .k = (uint32_t)image_geometry(image, COUNTING_K),
        .width = (uint32_t)image_geometry(image, COUNTING_BITS), .l = 1,
    };
}

/* ---- Plan -------------------------------------------------------------- */

static const kind_row counting_row = {
    .m_most = COUNTING_M_MAX, .k_most = CELLS_K_MAX,
    .limit = "2^56 counters",
};

static bly_status counting_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t m = 0, n = 0, bytes = 0;
    uint32_t k = 0, bits = (uint32_t)spec->option[COUNTING_BITS];
    bly_status status = kind_row_size(&m, &k, &n, spec, &counting_row);
    if (status == BLY_OK && !counters_bytes(&bytes, m, bits))
        status = kind_too_big(spec, "2^64 bits");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    rows_plan_row(plan, m, k, n, bytes);
    plan->geometry[COUNTING_M] = m;
    plan->geometry[COUNTING_K] = k;
    plan->geometry[COUNTING_BITS] = bits;
    plan->geometry[COUNTING_RULE] = spec->option[COUNTING_RULE];
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status counting_check(const void *image)
{
    uint64_t m = image_geometry(image, COUNTING_M), wanted = 0;
    uint64_t k = image_geometry(image, COUNTING_K);
    uint64_t bits = image_geometry(image, COUNTING_BITS);
    size_t bytes = image_payload_bytes(image);

    bool sound = m >= 1 && m <= COUNTING_M_MAX
              && k >= 1 && k <= CELLS_K_MAX
              && bits >= 1 && bits <= COUNTERS_WIDTH_MAX
              && image_geometry(image, COUNTING_RULE) < COUNTING_RULES
              && counters_bytes(&wanted, m, (uint32_t)bits) && bytes == wanted;
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), bytes, m * bits))
        return status_fail(BLY_ECORRUPT, "bits beyond the last counter are "
                           "set");
    return BLY_OK;
}

/* ---- Keys, sets, look inside ------------------------------------------- */

CELLS_LOOKS(counting)
CELLS_REMOVES(counting)

static bool counting_least(const void *image)
{
    return image_geometry(image, COUNTING_RULE) == COUNTING_LEAST;
}

static bly_status counting_add(void *image, uint64_t hash)
{
    cells c = counting_cells(image);
    uint8_t *row = image_payload_mut(image);
    return counting_least(image) ? cells_add_least(&c, row, hash)
                                 : cells_add(&c, row, hash);
}

static bly_status counting_add_many(void *image, const uint64_t *hashes,
                                    size_t n, size_t *done)
{
    cells c = counting_cells(image);
    uint8_t *row = image_payload_mut(image);
    if (counting_least(image))
        cells_add_least_many(&c, row, hashes, n);
    else
        cells_add_many(&c, row, hashes, n);
    *done = n;
    return BLY_OK;
}

/* Refuses removals with rule=least. Which counters a key raised there depends
 * on earlier keys, so it cannot take its share back. */
static bly_status counting_removes(const void *image)
{
    if (!counting_least(image))
        return BLY_OK;
    return status_fail(BLY_EUNSUPPORTED, "a counting filter with rule=least "
                       "cannot remove keys, because an add does not raise all "
                       "counters of a key: make it with rule=every");
}

static void counting_inline(void *view, const void *image)
{
    const cells c = counting_cells(image);
    bly_inline_counting *out = view;
    out->payload = image_payload(image);
    out->m = c.m;
    out->k = c.k;
    out->bits = c.width;
}

static const kind_varying counting_varying = {
    .removes = counting_removes,
};

static const kind_combining counting_combining = {
    .unite   = counting_unite,
    .overlap = counting_overlap,
};

static const kind_inlining counting_inlining = {
    .view = counting_inline,
};

const bly_kind bly_kind_counting = {
    .name    = "counting",
    .family  = "removable",
    .summary = "the counting Bloom filter: a counter for every bit",
    .version = COUNTING_VERSION,
    .options = counting_options,

    .plan  = counting_plan,
    .check = counting_check,
    .stat  = counting_stat,

    .contains      = counting_contains,
    .contains_many = counting_contains_many,
    .contains_here = counting_contains_here,

    .add         = counting_add,
    .add_many    = counting_add_many,
    .remove      = counting_remove,
    .remove_many = counting_remove_many,
    .count       = counting_count,
    .count_many  = counting_count_many,

    .varying   = &counting_varying,
    .combining = &counting_combining,
    .inlining  = &counting_inlining,
};
