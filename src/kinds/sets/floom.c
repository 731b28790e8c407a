/* floom.c - the Floom filter: a Bloom filter and the regions that keys use.
 *
 * WHAT IT IS
 *
 * The bits of `standard`, divided into b regions, and an extra array of 2^b
 * bits. A key sets its k bits. The set of regions that contain them, written as
 * a number below 2^b, is the key's pattern. The key also sets the bit of the
 * extra array that has this number. A key is reported present if its k bits and
 * the bit of its pattern are set.
 *
 * WHEN TO USE IT
 *
 * Use it only to measure a published design. It is never better than a
 * `standard` of the same size. While there are few patterns, the bits of the
 * extra array would be more useful in the row. Once there are many, the array
 * is full and excludes nothing. tests/kinds/floom.c compares the two for every
 * b, rates from 0.3 to 10^-5 and 1 to 10^8 keys.
 *
 * WHEN NOT TO
 *
 * - For every practical use: `standard` has a lower rate in the same memory
 *   and takes less time.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.7                  8                  2
 *      0.1 %        14.4                 11                  2
 *
 * These are for a million keys; the extra array of 8 KiB weighs more on small
 * filters. With 10^6 keys at 1 %, adding a batch took 1.85 times as long as
 * with `standard`, looking up present keys 1.6 times and absent keys 1.15
 * times. The paper's own ratio for adding is about 1.55.
 *
 * THE PICTURE (b = 5, a key of k = 3 with bits in regions 1 and 4)
 *
 *      row     | region 0 | region 1 | region 2 | region 3 | region 4 |
 *                               *                               *  *
 *      pattern      0         + 2         + 0        + 0        + 16   = 18
 *
 *      extra   | . . . . . . . . . . . . . . . . . . * . . . . . … . . |
 *                0                            bit 18 +                31
 *
 * IMAGE
 *
 *      geometry 0   m, bits of the row, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   b, regions, 3 .. 20
 *      geometry 3   zero
 *      payload      ceil(m/8) bytes of the row, bits numbered as in kind
 *                   standard, then 2^b / 8 bytes of the extra array, likewise.
 *                   Bit j of the row is in region floor(j b / m)
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has that many bytes, (3) the row's bits from m on are clear.
 *
 * MATHS
 *
 * A key touches exactly the j regions of a given pattern with probability
 *
 *      q_j = j! S(k, j) / b^k       S: Stirling numbers, second kind     (1)
 *
 * There are C(b, j) such patterns, and each is in the extra array after n keys
 * with probability h_j = 1 - (1 - q_j)^n. The pattern of an absent key is there
 * with probability
 *
 *      H = sum of C(b, j) q_j h_j,     j = 1 .. min(k, b)                (2)
 *
 * The rate is about f H, where f is the rate of the row alone. It is slightly
 * higher, because the keys that share an absent key's pattern have their bits
 * in the same regions. Given that the pattern is there, n q_j / h_j keys have
 * it instead of n q_j. Each further key puts k/j bits into each region of m/b,
 * so a bit there is clear not with probability c = (1 - 1/m)^(kn) but with
 *
 *      c_j = c (1 - b/m)^((n q_j / h_j - n q_j) k / j)                   (3)
 *
 * and each term of (2) is multiplied by ((1 - c_j) / (1 - c))^k. In a row of
 * 960 bits with 100 keys, k = 7 and b = 16, f H is 4.8e-5; with (3) it is
 * 5.5e-5, and 5.36e-5 was measured. With 1000 keys (3) adds 1.4 %, with 10000
 * 0.1 %. If regions have fewer than about ten bits, the plan is too high: by 5
 * % for 200 bits and 40 keys, by 40 % for 96 bits and 10 keys.
 *
 * The payload shows the number of set bits x_r in each region and the patterns
 * that are present. An absent key has pattern s and meets only set bits with
 * probability
 *
 *      q_j ( mean of x_r b / m over the regions r of s )^k               (4)
 *
 * to first order in the differences of the x_r. bly_info adds this up. For 960
 * bits the sum is 2.5 % too high, for 200 bits 7 %.
 *
 * Sizes follow the paper: the row is planned for the requested rate, as
 * `standard` would be, and the 2^b bits are added. So the planned rate is below
 * the requested one by the factor H. For a requested rate of 1 %, with k = 7
 * and b = 16, the extra array has 65536 bits:
 *
 *      keys        H       planned   the author's   `standard` of as many
 *                                      measured     bytes, best k
 *      500        0.024    2.4e-4      2.39e-4        3e-17 (k = 64)
 *      1000       0.047    4.8e-4      4.52e-4        3e-16
 *      10000      0.374    3.7e-3      3.59e-3        4.3e-4
 *      50000      0.862    8.6e-3      8.64e-3        5.3e-3
 *      200000     0.994    9.9e-3      9.93e-3        8.5e-3
 *      500000     1.000   10.0e-3      9.96e-3        9.4e-3
 *
 * DEAD MEMORY
 *
 * The k bits of a key lie in at most k regions. So of the 2^b patterns only sum
 * C(b, j) for j = 1 .. min(k, b) can ever be set: 26332 of 65536 for b = 16, k
 * = 7, and 162 of 256 for b = 8, k = 4. All other bits stay clear, and so does
 * bit 0, which would be a key without bits.
 *
 * PROBES
 *
 * The probes are those of `standard` with the scheme `power`.
 *
 * PAPERS
 *
 *  [Schierz]      A seminar paper on Bloom filters and their variants, with the
 *                 raw results of its measurements. The filter; that bit 0 is
 *                 never set. (1) to (4) are ours.
 *  [Bloom 1970]   Space/time trade-offs in hash coding with allowable errors,
 *                 CACM 13(7). The row.
 */
#include "image/abilities.h"

#include <math.h>

#include "bits/bits.h"
#include "bits/hash.h"
#include "maths/maths.h"
#include "bodies/rows.h"
#include "bits/walk.h"

enum {
    FLOOM_VERSION = 1,
    FLOOM_M = 0, FLOOM_K = 1, FLOOM_B = 2, FLOOM_ZERO = 3,
    FLOOM_K_MAX = 64, FLOOM_B_MIN = 3, FLOOM_B_MAX = 20, FLOOM_B_STANDARD = 16
};

/* Times 20 it is below 2^64, see floom_region. */
#define FLOOM_M_MAX (UINT64_C(1) << 56)

/* In the order of the geometry. */
static const kind_option floom_options[] = {
    [FLOOM_M] = {
        .name = "m", .help = "number of bits of the row, instead of a rate",
        .least = 1, .most = FLOOM_M_MAX, .standard = KIND_CHOOSE,
    },
    [FLOOM_K] = {
        .name = "k", .help = "probes: bits that a key sets in the row",
        .least = 1, .most = FLOOM_K_MAX, .standard = KIND_CHOOSE,
    },
    [FLOOM_B] = {
        .name = "b", .help = "regions of the row; the extra array has 2^b bits",
        .least = FLOOM_B_MIN, .most = FLOOM_B_MAX,
        .standard = FLOOM_B_STANDARD,
    },
    { .name = NULL },
};

static shape floom_shape(uint64_t m, uint32_t k)
{
    return (shape){ .blocks = 1, .lanes = 1, .bits = m, .probes = k };
}

static shape floom_shape_of(const void *image)
{
    return floom_shape(image_geometry(image, FLOOM_M),
                       (uint32_t)image_geometry(image, FLOOM_K));
}

static uint64_t floom_row_bytes(uint64_t m)
{
    return m / 8 + (m % 8 != 0);
}

static uint64_t floom_extra_bytes(uint64_t b)
{
    return UINT64_C(1) << (b - 3);
}

/* ---- Patterns ---------------------------------------------------------- */

/* The number of patterns of j regions, and the chance that a key has a given
 * one of them. (1) */
typedef struct {
    uint32_t most;                      /* j, at most                        */
    double   many[FLOOM_B_MAX + 1], chance[FLOOM_B_MAX + 1];
} floom_patterns;

static floom_patterns floom_patterns_of(uint32_t b, uint32_t k)
{
    floom_patterns p = { .most = k < b ? k : b, .many = { 1 } };
    math_chances touch = math_touch(b, k);
    for (uint32_t j = 1; j <= p.most; j++) {
        p.many[j] = p.many[j - 1] * (b - j + 1) / j;
        p.chance[j] = touch.of[j] / p.many[j];
    }
    return p;
}

/* ---- Plan -------------------------------------------------------------- */

static const kind_row floom_row = {
    .m_most = FLOOM_M_MAX, .k_most = FLOOM_K_MAX, .limit = "2^56 bits",
};

/* From the row's rate and its deviation to the filter's, by (2) and (3).
 * Which patterns are there differs from filter to filter as boxes do that n
 * balls are thrown into, each of the weight that its pattern has in the rate:
 * the variance of independent boxes, less what the fixed n takes from it. With
 * fewer bits than regions, each bit is a region. */
static void floom_rates(bly_plan_t *plan, uint64_t m, uint32_t k, uint32_t b)
{
    uint32_t regions = m < b ? (uint32_t)m : b;
    floom_patterns p = floom_patterns_of(regions, k);
    double n = (double)plan->capacity, rate = 0, boxes = 0, tied = 0;
    double apart = 1 - regions / (double)m;

    for (uint32_t j = 1; j <= p.most; j++) {
        double there = -expm1(n * log1p(-p.chance[j]));
        double more = n * p.chance[j] / there - n * p.chance[j];
        double clear = (1 - plan->fill) * pow(apart, more * k / j);
        double weight = p.chance[j] * pow((1 - clear) / plan->fill, k);
        rate += p.many[j] * weight * there;
        boxes += p.many[j] * weight * weight * there * (1 - there);
        tied += p.many[j] * weight * p.chance[j] * (1 - there);
    }
    rate = fmin(rate, 1);
    plan->rate_sd = hypot(plan->rate_sd * rate,
                          plan->rate * sqrt(fmax(boxes - n * tied * tied, 0)));
    plan->rate *= rate;
}

static bly_status floom_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t m = 0, n = 0, b = spec->option[FLOOM_B];
    uint32_t k = 0;
    bly_status status = kind_row_size(&m, &k, &n, spec, &floom_row);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, floom_row_bytes(m)
                                       + floom_extra_bytes(b));
    if (status != BLY_OK)
        return status;

    shape s = floom_shape(m, k);
    rows_plan(plan, &s, n);
    double lines = ceil((double)m / 512);
    plan->lines_present = fmin(k, lines) + 1;
    plan->lines_absent = fmin(math_absent_probes(plan->fill, k), lines)
                       + plan->rate;    /* of the row: the pattern too       */
    floom_rates(plan, m, k, (uint32_t)b);
    plan->geometry[FLOOM_M] = m;
    plan->geometry[FLOOM_K] = k;
    plan->geometry[FLOOM_B] = b;
    plan->geometry[FLOOM_ZERO] = 0;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status floom_check(const void *image)
{
    uint64_t m = image_geometry(image, FLOOM_M);
    uint64_t k = image_geometry(image, FLOOM_K);
    uint64_t b = image_geometry(image, FLOOM_B);

    bool sound = m >= 1 && m <= FLOOM_M_MAX
              && k >= 1 && k <= FLOOM_K_MAX
              && b >= FLOOM_B_MIN && b <= FLOOM_B_MAX
              && image_geometry(image, FLOOM_ZERO) == 0
              && image_payload_bytes(image) == floom_row_bytes(m)
                                             + floom_extra_bytes(b);
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), (size_t)floom_row_bytes(m), m))
        return status_fail(BLY_ECORRUPT, "bits beyond the last are set");
    return BLY_OK;
}

/* ---- Contains ---------------------------------------------------------- */

/* The fields of an image that the probes need, read once. */
typedef struct {
    uint8_t *row, *extra;
    uint64_t m;
    uint32_t k, b;
} floom_view;

PLATFORM_INLINE floom_view floom_look(const void *image)
{
    uint64_t m = image_geometry(image, FLOOM_M);
    uint8_t *row = image_payload_mut((void *)(uintptr_t)image);
    return (floom_view){
        .row = row, .extra = row + floom_row_bytes(m), .m = m,
        .k = (uint32_t)image_geometry(image, FLOOM_K),
        .b = (uint32_t)image_geometry(image, FLOOM_B),
    };
}

/* floor(at b / m), the region of the bit of a state, without a division. The
 * bit begins at or before state / 2^64 of the row, so the region of that point
 * is the bit's or, where a region ends within the bit, a later one. */
PLATFORM_INLINE uint64_t floom_region(const floom_view *v, uint64_t state,
                                      uint64_t at)
{
    uint64_t region = bits_range(state, v->b);
    while (at * v->b < region * v->m)
        region--;
    return region;
}

/* Below 2^b. */
PLATFORM_INLINE uint64_t floom_pattern(const floom_view *v, uint64_t hash)
{
    uint64_t state = hash_spread(hash), pattern = 0;
    for (uint32_t i = 0; i < v->k; i++) {
        uint64_t at = bits_range(state, v->m);
        pattern |= UINT64_C(1) << floom_region(v, state, at);
        state *= HASH_STEP;
    }
    return pattern;
}

static bool floom_contains(const void *image, uint64_t hash)
{
    floom_view v = floom_look(image);
    uint64_t state = hash_spread(hash), pattern = 0;
    for (uint32_t i = 0; i < v.k; i++) {
        uint64_t at = bits_range(state, v.m);
        if (!bits_test(v.row, at))
            return false;
        pattern |= UINT64_C(1) << floom_region(&v, state, at);
        state *= HASH_STEP;
    }
    return bits_test(v.extra, pattern);
}

static walk_plan floom_walk(const floom_view *v)
{
    return (walk_plan){ .slice = v->m, .stride = 0, .k = v->k };
}

static void floom_contains_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
    floom_view v = floom_look(image);
    walk_plan plan = floom_walk(&v);
    walk_contains(&plan, v.row, hashes, n, present);
    for (size_t i = 0; i < n; i++)
        present[i] = present[i]
                  && bits_test(v.extra, floom_pattern(&v, hashes[i]));
}

/* ---- Add --------------------------------------------------------------- */

PLATFORM_INLINE bool floom_set(uint8_t *row, uint64_t at, bool shared)
{
    return shared ? bits_set_shared(row, at) : bits_set(row, at);
}

PLATFORM_INLINE bly_status floom_add_any(void *image, uint64_t hash,
                                         bool shared)
{
    floom_view v = floom_look(image);
    uint64_t state = hash_spread(hash), pattern = 0;
    bool fresh = false;
    for (uint32_t i = 0; i < v.k; i++) {
        uint64_t at = bits_range(state, v.m);
        fresh |= floom_set(v.row, at, shared);
        pattern |= UINT64_C(1) << floom_region(&v, state, at);
        state *= HASH_STEP;
    }
    fresh |= floom_set(v.extra, pattern, shared);
    return fresh ? BLY_OK : BLY_SEEN;
}

static bly_status floom_add(void *image, uint64_t hash)
{
    return floom_add_any(image, hash, false);
}

static bly_status floom_add_shared(void *image, uint64_t hash)
{
    return floom_add_any(image, hash, true);
}

/* All keys into the row, then all into the extra array: neither asks the
 * other. */
PLATFORM_INLINE bly_status floom_add_many_any(void *image,
                                              const uint64_t *hashes, size_t n,
                                              size_t *done, bool shared)
{
    floom_view v = floom_look(image);
    walk_plan plan = floom_walk(&v);
    walk_add(&plan, v.row, hashes, n, shared);
    for (size_t i = 0; i < n; i++)
        floom_set(v.extra, floom_pattern(&v, hashes[i]), shared);
    *done = n;
    return BLY_OK;
}

static bly_status floom_add_many(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done)
{
    return floom_add_many_any(image, hashes, n, done, false);
}

static bly_status floom_add_many_shared(void *image, const uint64_t *hashes,
                                        size_t n, size_t *done)
{
    return floom_add_many_any(image, hashes, n, done, true);
}

static bly_status floom_add_each(void *image, const uint64_t *hashes, size_t n,
                                 bool *seen, size_t *done)
{
    floom_view v = floom_look(image);
    walk_plan plan = floom_walk(&v);
    walk_add_each(&plan, v.row, hashes, n, seen);
    for (size_t i = 0; i < n; i++)
        seen[i] &= !bits_set(v.extra, floom_pattern(&v, hashes[i]));
    *done = n;
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void floom_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = floom_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

/* Set bits of the row from `from` up to `end`. */
static uint64_t floom_count(const uint8_t *row, uint64_t from, uint64_t end)
{
    uint64_t count = 0;
    for (; from < end && (from & 7) != 0; from++)
        count += bits_test(row, from);
    size_t bytes = (size_t)((end - from) / 8);
    count += bits_count(row + (from >> 3), bytes);
    for (from += 8 * (uint64_t)bytes; from < end; from++)
        count += bits_test(row, from);
    return count;
}

/* The share of each region's bits that is set; of m/b bits, if b does not
 * divide m. */
static void floom_fills(double fill[FLOOM_B_MAX], const floom_view *v)
{
    uint64_t from = 0;
    for (uint64_t r = 0; r < v->b; r++) {
        uint64_t end = ((r + 1) * v->m + v->b - 1) / v->b;
        fill[r] = (double)floom_count(v->row, from, end) * v->b
                / (double)v->m;
        from = end;
    }
}

/* The sum of (4). */
static double floom_rate_now(const floom_view *v)
{
    floom_patterns p = floom_patterns_of(v->b, v->k);
    double fill[FLOOM_B_MAX], rate = 0;
    floom_fills(fill, v);
    for (uint64_t pattern = 1; pattern >> v->b == 0; pattern++) {
        double sum = 0;
        uint32_t j = 0;
        if (!bits_test(v->extra, pattern))
            continue;
        for (uint32_t r = 0; r < v->b; r++)
            if (pattern >> r & 1) {
                sum += fill[r];
                j++;
            }
        if (j <= p.most)
            rate += p.chance[j] * pow(sum / j, v->k);
    }
    return rate;
}

static void floom_stat(bly_info_t *out, const void *image)
{
    floom_view v = floom_look(image);
    shape s = floom_shape_of(image);
    rows_stat(out, &s, v.row);
    out->rate = fmin(out->rate, floom_rate_now(&v));
}

static const kind_sharing floom_sharing = {
    .add      = floom_add_shared,
    .add_many = floom_add_many_shared,
};

static const kind_combining floom_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = floom_overlap,
};

const bly_kind bly_kind_floom = {
    .name    = "floom",
    .family  = "sets",
    .summary = "a Bloom filter and an array of the regions that keys use",
    .version = FLOOM_VERSION,
    .options = floom_options,

    .plan  = floom_plan,
    .check = floom_check,
    .stat  = floom_stat,

    .contains      = floom_contains,
    .contains_many = floom_contains_many,

    .add      = floom_add,
    .add_many = floom_add_many,
    .add_each = floom_add_each,

    .sharing   = &floom_sharing,
    .combining = &floom_combining,
};
