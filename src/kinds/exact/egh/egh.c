/* egh.c - no false positive at all, for a few integers of a known range.
 *
 * WHAT IT IS
 *
 * A filter for at most n integers below a bound U. It consists of k blocks of
 * q_1 … q_k bits, where no two q_i share a factor. An integer x sets bit x mod
 * q_i in each block i. The product of the q_i is above (U-1)^n. Therefore,
 * while the filter holds at most n different keys, a key that was not added is
 * never found. This is proved, not merely probable. With more keys, it becomes
 * a filter like the others; as it counts its keys, it can report that.
 *
 * WHEN TO USE IT
 *
 * Use it for a few integers of a known range if no false positive is
 * acceptable: a hundred ports, a thousand ids below a million. Filters are
 * united by OR, and the union is exact as well while it has at most n keys.
 * With bits=2 or more, keys can be removed and are counted. While the filter is
 * exact, its keys can be listed.
 *
 * WHEN NOT TO
 *
 * - All keys and all possible lookups are known: `cascade` takes a few bits
 *   per key.
 * - There are many keys: the size grows with the square of n. More than 8192
 *   moduli are refused, which is about 1880 keys of 64 bits, in 42 MB.
 * - The filter is not united with others: a sorted list of n integers is
 *   always smaller, and takes log2 n probes.
 *
 * COST
 *
 *      keys, range         bytes     cache lines read: present    absent key
 *      10 below 10^6         990                 5                  1
 *      100 below 2^32     49 016               335                  1
 *      100 below 2^64    168 037               607                  1
 *
 * A lookup reads the largest block first, in which few bits are set, so an
 * absent key rarely needs a second line.
 *
 * THE PICTURE (universe=100, two keys, moduli=primes; 17 and 42 are in)
 *
 *      q = 13          11            7         5       3     2
 *      ...xx........ | ......x..x. | x..x... | ..x.. | x.x | xx |
 *      17 mod q: 4     6             3         2       2     1
 *      42 mod q: 3     9             0         2       0     0
 *
 *      41 bits. To be found by accident, z must be like 17 or like 42 modulo
 *      each q. Then (z - 17)(z - 42) is a multiple of 2 3 5 7 11 13 = 30030,
 *      but it is not 0 and below 100 * 100.
 *
 * IMAGE
 *
 *      geometry 0   U, 2 .. 2^64-2; 0: all 2^64 integers
 *      geometry 1   k, number of moduli, 1 .. 8192
 *      geometry 2   m, places in all, the sum of the moduli, 2 .. 2^36
 *      geometry 3   2 (b - 1), b the bits of a place, 1 .. 16; and 1 more with
 *                   moduli=primes
 *      payload      offset 0      u64, different keys in it, at most
 *                   8             for each modulus, falling: u64 q, and
 *                                 u64 floor((2^64-1) / q)
 *                   8 + 16 k      the blocks one after another in one row of m
 *                                 places of b bits: place i is the bits i b …
 *                                 i b + b - 1, its lowest bit first; bit j is
 *                                 bit (j mod 8) of byte j / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) k is 1
 *      exactly if m is U, (3) the payload has 8 + 16 k + ceil(m b/8) bytes, (4)
 *      the moduli are 2 or more, they fall, their sum is m, and beside each is
 *      its reciprocal, (5) the bits from m b on are clear.
 *
 * MATHS
 *
 * Let z not be in S, |S| <= n, and all bits of z be set. Then for each i there
 * is a y in S with q_i | z - y, so q_i divides
 *
 *      P = product over y in S of |z - y|,   0 < P <= (U-1)^n            (1)
 *
 * The q_i have no common factors, so their product divides P; but the product
 * is larger than P. By the prime number theorem the largest prime is about n ln
 * U, and bits and probes are
 *
 *      m ~ (n ln U)^2 / (2 ln (n ln U)),   k ~ n ln U / ln (n ln U)      (2)
 *
 * which is 10 to 30 % low at practical sizes. `primes` are the published first
 * k primes. `powers` are powers of primes with a small sum
 * (src/maths/moduli.h), which saves up to a sixth:
 *
 *      U         n     primes: k      m     powers: k      m     of U bits
 *      100       2             6     41             5     36           100
 *      1000      3            10    129             9    108          1000
 *      10^6      5            22    791            21    738          10^6
 *      10^6     10            37   2584            35   2350          10^6
 *      2^32      5            31   1720            29   1600          2^32
 *      2^64    100           613   1281192        607   1265506          -
 *      2^64   1000          4635  97441504       4619  96963234          -
 *
 * If that would be U bits or more, or more than 8192 moduli, the plan takes the
 * single modulus U (up to 2^36): one bit for each integer, exact for any number
 * of keys. Otherwise more than 8192 moduli are refused.
 *
 * With more than n keys of no particular pattern, a block has 1 - (1 - 1/q)^|S|
 * of its bits set, and the rate is the product of these shares. For U = 10^6,
 * primes for 10 keys: 7.2e-20 at 20 keys, 6.7e-9 at 60, 2.6e-5 at 100.
 *
 * KEYS
 *
 * The hash of a key must be the integer itself. So the hash function is
 * `decimal` (keys are decimal numbers as text) or `identity` (up to 8 bytes); a
 * program may add integers with bly_add_hash. An integer of U or more is
 * refused (BLY_EPARAM) and never found; `decimal` turns text that is not a
 * number into such an integer. Only with all 2^64 integers, the default, does
 * any hash function work. Keys that share all 64 bits of their hash are then
 * one key to the filter, and the planned rate accounts for that.
 *
 *      seq 3000 3000 60000 | bloomery build -k egh:universe=65536 -n 20 \
 *          -o ids.bly
 *
 * COUNTING
 *
 * An add that finds a bit clear is of a new key, and while the filter is exact
 * every new key finds one. So the count of keys is exact, and bly_info reports
 * a rate of 0. After a union the count is the sum of both counts, unless the
 * bits of one filter are all set in the other, which then has all its keys. The
 * sum may be too high, never too low.
 *
 * COUNTERS
 *
 * With bits=2 or more a place is a counter. An add raises the k counters of a
 * key, and keys can be removed. Up to n different keys, everything is exact:
 * which keys are in, how often each was added, and that an absent key cannot be
 * removed. Suppose each counter of x held another key of S as well. Then every
 * q_i would divide x - y for some y in S other than x, but (1) without the
 * factor of x is below the product of all moduli. So at least one counter is
 * x's alone, and the smallest of its counters is its count.
 *
 * This holds while no counter is at its largest value, 2^bits - 1, where it
 * sticks. None is as long as fewer keys than that are in at a time, repeats
 * included. In a block of a small modulus many keys meet, so plan for this: 8
 * bits for up to 254 keys, 16 for 65534. A key that is removed while one of its
 * counters sticks leaves a trace there. And if more than n keys were in at
 * once, one may have been missed. Either ends the guarantee for good: the
 * number of keys is then "not known" (2^64 - 1).
 *
 * LISTING
 *
 * While the filter is exact, its keys are the integers below U that are found.
 * bly_list_keys finds them with as few lookups as residues allow (egh_list.c):
 * 10^6 for 100 keys below 2^32. It lists about ten 64-bit keys; more would take
 * too long and are refused.
 *
 * REMAINDERS
 *
 * x mod q is computed without a division, by the reciprocal v of q: floor(x v /
 * 2^64) is x/q rounded down, or one less. If the table of reciprocals is wrong,
 * the last line of egh_bit() still keeps the bit in its block.
 *
 * SPEED
 *
 * Batches go block by block; each block has at most 10 KiB. Measured on an EPYC
 * under other load, per key of a batch: 2 ns if absent and 0.6 us if present
 * for U = 2^32 and 100 keys; 8 ns and 2.4 us for 64 bits.
 *
 * PAPERS
 *
 *  [Kiss 2018]       Bloom filter with a false positive free zone, INFOCOM.
 *                    This filter; it asks for a product of U^n or more.
 *  [Eppstein 2007]   Improved combinatorial group testing algorithms for
 *                    real-world problem sizes, SIAM J. Comput. 36. The moduli.
 */
#include "kinds/exact/egh/egh.h"

#include <float.h>
#include <math.h>

#include "base/sizes.h"
#include "maths/moduli.h"
#include "bodies/cells.h"
#include "bodies/rows.h"

enum {
    EGH_VERSION = 1,
    EGH_GROUP = 512                     /* keys of a batch taken together    */
};

static const char *const egh_choices[] = { "powers", "primes", NULL };

/* In the order of the geometry, but for what is in between. */
enum { EGH_OPTION_UNIVERSE, EGH_OPTION_MODULI, EGH_OPTION_BITS };

static const kind_option egh_options[] = {
    [EGH_OPTION_UNIVERSE] = {
        .name = "universe", .help = "keys are integers below this, as text or "
                                    "8 bytes (else 2^64, with any hash)",
        .least = 2, .most = UINT64_MAX - 1, .standard = KIND_CHOOSE,
    },
    [EGH_OPTION_MODULI] = {
        .name = "moduli", .help = "powers of primes (fewer bits), or the first "
                                  "primes as published",
        .choices = egh_choices, .standard = 0,
    },
    [EGH_OPTION_BITS] = {
        .name = "bits", .help = "bits of a counter; with 2 or more, keys can "
                                "be removed and counted",
        .least = 1, .most = COUNTERS_WIDTH_MAX, .standard = 1,
    },
    { .name = NULL },
};

/* ---- Estimates --------------------------------------------------------- */

static double egh_clear(double q, double n)
{
    return exp(n * log1p(-1 / q));
}

/* Bits that n keys of no pattern set, in all blocks. */
static double egh_expected(const void *image, double n, double *slope)
{
    double sum = 0;
    egh_block b = egh_start();
    *slope = 0;
    for (uint64_t i = 0; i < egh_k(image) && egh_next(&b, image, i); i++) {
        double q = (double)b.q, clear = egh_clear(q, n);
        sum += q * (1 - clear);
        *slope -= q * clear * log1p(-1 / q);
    }
    return sum;
}

/* Returns how many keys set so many bits, by Newton's method from below: the
 * bits rise ever more slowly with the keys, so no step goes too far. */
static double egh_keys(const void *image, uint64_t set)
{
    double n = (double)set / (double)egh_k(image), slope;
    if (egh_k(image) == 1)              /* a bit is a key */
        return n;
    if (set >= egh_m(image))
        return (double)INFINITY;
    for (int step = 0; step < 64; step++) {
        double more = (double)set - egh_expected(image, n, &slope);
        if (!(more > 1e-9 * (double)set && slope > 0))
            break;
        n += more / slope;
    }
    return n;
}

/* The covariance of two filters' clear bits, in a block: `common` keys are in
 * both, a and b in one. Two places are clear in one filter each if the common
 * keys miss both. */
static double egh_block_covariance(double q, double common, double a, double b)
{
    double both = exp(common * log1p(-2 / q)), one = egh_clear(q, common);
    double others = egh_clear(q, a + b);
    return others * (q * (q - 1) * both + q * one - q * q * one * one);
}

/* Returns the covariance of the estimates from them, in keys. */
static double egh_covariance(const void *image, double common, double a,
                             double b)
{
    double sum = 0, a_slope, b_slope;
    egh_block block = egh_start();
    if (egh_k(image) == 1)
        return 0;
    for (uint64_t i = 0; i < egh_k(image) && egh_next(&block, image, i); i++)
        if (block.q > 2)                /* two places are each other's */
            sum += egh_block_covariance((double)block.q, common, a, b);
    egh_expected(image, common + a, &a_slope);
    egh_expected(image, common + b, &b_slope);
    return sum / (a_slope * b_slope);
}

static double egh_root(double variance)
{
    return sqrt(fmax(variance, 0));
}

/* ---- Plan and format --------------------------------------------------- */

static bly_status egh_too_many(const kind_spec *spec)
{
    return status_fail(BLY_ETOOBIG, "%llu integers of this universe need more "
                       "than %d moduli, the limit of this kind: use fewer "
                       "keys, a smaller universe= or another kind",
                       (unsigned long long)spec->capacity, (int)MODULI_MOST);
}

/* The moduli for n integers below U, 0 for 2^64; one of them is a bit for each
 * integer. False if there are too many. */
static bool egh_moduli(moduli *out, uint64_t *m, uint64_t universe, uint64_t n,
                       uint64_t choice)
{
    bool found = moduli_choose(out, universe - 1, n, choice == 0);
    *m = found ? out->sum : 0;
    if (universe == 0 || universe > EGH_M_MAX || (found && *m < universe))
        return found;
    out->n = 1;
    *m = universe;
    return true;
}

/* Share of the bits that are set when n keys are in, and how many blocks a
 * foreign key is asked for, on average. */
static void egh_plan_fill(bly_plan_t *plan, const moduli *q, uint64_t m,
                          uint32_t width)
{
    double set = 0, asked = 0, goes_on = 1, n = (double)plan->capacity;
    uint32_t next = MODULI_BELOW;
    for (uint32_t i = 0; i < q->n; i++) {
        next = moduli_before(q, next);
        double size = q->n == 1 ? (double)m : (double)next;
        double fill = 1 - egh_clear(size, n);
        set += size * fill;
        asked += goes_on;
        goes_on *= fill;
    }
    plan->fill = fmin(set / (double)m, 1 - DBL_EPSILON);
    plan->lines_absent = fmin(asked, ceil((double)m * width / 512));
}

static bly_status egh_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t asked = spec->option[EGH_OPTION_UNIVERSE], m;
    uint64_t universe = asked == KIND_CHOOSE ? 0 : asked;
    uint64_t choice = spec->option[EGH_OPTION_MODULI];
    moduli q;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!egh_moduli(&q, &m, universe, spec->capacity, choice))
        return egh_too_many(spec);
    uint32_t width = (uint32_t)spec->option[EGH_OPTION_BITS];
    bly_status status = kind_plan_bytes(plan, egh_bytes(q.n, m, width));
    if (status != BLY_OK)
        return status;
    plan->capacity = spec->capacity;
    plan->rate = plan->rate_sd = 0;
    plan->probes = q.n;
    plan->lines_present = fmin((double)q.n, ceil((double)m * width / 512));
    egh_plan_fill(plan, &q, m, width);
    plan->geometry[EGH_UNIVERSE] = universe;
    plan->geometry[EGH_K] = q.n;
    plan->geometry[EGH_M] = m;
    plan->geometry[EGH_FORM] = choice + 2 * (uint64_t)(width - 1);
    return BLY_OK;
}

static void egh_set_entry(void *image, size_t i, uint64_t q)
{
    size_t entry = IMAGE_HEADER + EGH_TABLE + EGH_ENTRY * i;
    image_set_u64(image, entry, q);
    image_set_u64(image, entry + 8, UINT64_MAX / q);
}

static bly_status egh_format(void *image, const kind_spec *spec)
{
    moduli q;
    uint64_t m;
    if (!egh_moduli(&q, &m, image_geometry(image, EGH_UNIVERSE),
                    spec->capacity, egh_choice(image)))
        return egh_too_many(spec);
    uint32_t next = MODULI_BELOW;
    for (uint32_t i = 0; i < q.n; i++) {
        next = moduli_before(&q, next);
        egh_set_entry(image, i, q.n == 1 ? m : next);
    }
    return BLY_OK;
}

static void egh_like(void *image, const void *other)
{
    size_t bytes = (size_t)(EGH_ENTRY * image_geometry(other, EGH_K));
    memcpy(image_payload_mut(image) + EGH_TABLE,
           image_payload(other) + EGH_TABLE, bytes);
}

/* The keys of a universe are integers, and so their hashes must be. */
static bool egh_integers(const kind_spec *spec)
{
    return spec->option[EGH_OPTION_UNIVERSE] != KIND_CHOOSE;
}

/* ---- Check ------------------------------------------------------------- */

static bool egh_sound(const void *image)
{
    uint64_t universe = image_geometry(image, EGH_UNIVERSE);
    uint64_t k = egh_k(image), m = egh_m(image);
    return universe != 1 && universe != UINT64_MAX
        && k >= 1 && k <= MODULI_MOST
        && m >= 2 && m <= EGH_M_MAX
        && (k == 1) == (m == universe)
        && image_geometry(image, EGH_FORM) < 2 * COUNTERS_WIDTH_MAX
        && image_payload_bytes(image) == egh_bytes(k, m, egh_width(image));
}

static bool egh_table_sound(const void *image)
{
    uint64_t last = UINT64_MAX, sum = 0;
    egh_block b = egh_start();
    for (uint64_t i = 0; i < egh_k(image); i++) {
        if (!egh_next(&b, image, i) || b.q >= last
            || b.inverse != UINT64_MAX / b.q)
            return false;
        last = b.q;
        sum += b.q;
    }
    return sum == egh_m(image);
}

static bly_status egh_check(const void *image)
{
    if (!egh_sound(image))
        return kind_bad_geometry(image);
    if (!egh_table_sound(image))
        return status_fail(BLY_ECORRUPT, "the table of moduli does not match "
                           "%llu blocks and %llu bits in all: rebuild the "
                           "filter", (unsigned long long)egh_k(image),
                           (unsigned long long)egh_m(image));
    if (!bits_clear_from(egh_row(image), egh_row_bytes(image),
                         egh_m(image) * egh_width(image)))
        return status_fail(BLY_ECORRUPT, "bits beyond the last are set");
    return BLY_OK;
}

/* ---- Contains ---------------------------------------------------------- */

/* The keys of a group whose bits were all set so far. */
typedef struct {
    uint64_t x[EGH_GROUP];
    uint16_t key[EGH_GROUP];
    size_t   n;
} egh_group;

/* Block by block, with those keys that are still in question. */
PLATFORM_INLINE void egh_contains_by(const void *image, uint32_t width,
                                     egh_group *g)
{
    const uint8_t *row = egh_row(image);
    egh_block b = egh_start();
    for (uint64_t i = 0; i < egh_k(image) && g->n > 0; i++) {
        size_t kept = 0;
        if (!egh_next(&b, image, i)) {
            g->n = 0;
            return;
        }
        for (size_t j = 0; j < g->n; j++) {
            bool set = egh_held(row, egh_bit(&b, g->x[j]), width);
            g->x[kept] = g->x[j];
            g->key[kept] = g->key[j];
            kept += set;
        }
        g->n = kept;
    }
}

static void egh_contains_group(const void *image, const uint64_t *hashes,
                               size_t n, bool *present)
{
    uint32_t width = egh_width(image);
    egh_group g = { .n = 0 };
    for (size_t i = 0; i < n; i++) {
        present[i] = false;
        g.x[g.n] = hashes[i];
        g.key[g.n] = (uint16_t)i;
        g.n += egh_inside(image, hashes[i]);
    }
    if (width == 1)
        egh_contains_by(image, 1, &g);
    else
        egh_contains_by(image, width, &g);
    for (size_t i = 0; i < g.n; i++)
        present[g.key[i]] = true;
}

static void egh_contains_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *present)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < EGH_GROUP ? n - i : EGH_GROUP;
        egh_contains_group(image, hashes + i, some, present + i);
    }
}

/* ---- Add --------------------------------------------------------------- */

static bly_status egh_outside(const void *image)
{
    return status_fail(BLY_EPARAM,
                       "the key is not an integer below %llu: leave it out, or "
                       "build with a larger universe=",
                       (unsigned long long)image_geometry(image, EGH_UNIVERSE));
}

/* Sets the number of different keys. A filter with counters loses it once it
 * was too large: from then on a new key may find no counter at 0, and be in
 * without being counted when others are removed. */
static void egh_set_keys(void *image, uint64_t n)
{
    if (egh_width(image) > 1 && n > image_u64(image, IMAGE_CAPACITY))
        n = EGH_KEYS_UNKNOWN;
    image_set_u64(image, IMAGE_HEADER + EGH_KEYS, n);
}

static void egh_more_keys(void *image, uint64_t n)
{
    uint64_t sum = EGH_KEYS_UNKNOWN;
    sizes_add(&sum, egh_keys_in(image), n);
    egh_set_keys(image, sum);
}

/* Raise counter `at`, or set the bit; was it 0? */
PLATFORM_INLINE bool egh_raise(uint8_t *row, uint64_t at, uint32_t width)
{
    if (width == 1)
        return bits_set(row, at);
    uint32_t value = counters_get(row, at, width);
    if (value < counters_max(width))
        counters_set(row, at, width, value + 1);
    return value == 0;
}

/* Block by block: within each the keys come in their order, and fresh[i] if
 * key i found one of its bits clear. */
static void egh_add_group(void *image, const uint64_t *hashes, size_t n,
                          bool *fresh)
{
    uint8_t *row = egh_row_mut(image);
    uint64_t k = egh_k(image), more = 0;
    uint32_t width = egh_width(image);
    egh_block b = egh_start();
    for (size_t j = 0; j < n; j++)
        fresh[j] = false;
    for (uint64_t i = 0; i < k && egh_next(&b, image, i); i++)
        for (size_t j = 0; j < n; j++)
            fresh[j] |= egh_raise(row, egh_bit(&b, hashes[j]), width);
    for (size_t j = 0; j < n; j++)
        more += fresh[j];
    if (more > 0)
        egh_more_keys(image, more);
}

static bly_status egh_add(void *image, uint64_t x)
{
    bool fresh;
    if (!egh_inside(image, x))
        return egh_outside(image);
    egh_add_group(image, &x, 1, &fresh);
    return fresh ? BLY_OK : BLY_SEEN;
}

/* `seen` may be NULL. */
static bly_status egh_add_any(void *image, const uint64_t *hashes, size_t n,
                              bool *seen, size_t *done)
{
    bool fresh[EGH_GROUP];
    size_t inside = 0;
    while (inside < n && egh_inside(image, hashes[inside]))
        inside++;
    for (size_t i = 0, some; i < inside; i += some) {
        some = inside - i < EGH_GROUP ? inside - i : EGH_GROUP;
        egh_add_group(image, hashes + i, some, fresh);
        for (size_t j = 0; seen != NULL && j < some; j++)
            seen[i + j] = !fresh[j];
    }
    *done = inside;
    return inside == n ? BLY_OK : egh_outside(image);
}

static bly_status egh_add_many(void *image, const uint64_t *hashes, size_t n,
                               size_t *done)
{
    return egh_add_any(image, hashes, n, NULL, done);
}

static bly_status egh_add_each(void *image, const uint64_t *hashes, size_t n,
                               bool *seen, size_t *done)
{
    return egh_add_any(image, hashes, n, seen, done);
}

/* ---- Count and remove -------------------------------------------------- */

/* The counters of a key: the least unsaturated one, or EGH_COUNT_ALL if all are
 * saturated, and whether any is. 0: the key is absent. */
typedef struct {
    uint32_t least;
    bool     saturated;
} egh_tally;

enum { EGH_COUNT_ALL = 1 << COUNTERS_WIDTH_MAX };

static egh_tally egh_look_up(const void *image, uint64_t x)
{
    uint32_t width = egh_width(image), max = counters_max(width);
    egh_tally t = { .least = EGH_COUNT_ALL };
    egh_block b = egh_start();
    if (!egh_inside(image, x))
        return (egh_tally){ .least = 0 };
    for (uint64_t i = 0; i < egh_k(image) && t.least > 0; i++) {
        uint32_t value = egh_next(&b, image, i)
                       ? counters_get(egh_row(image), egh_bit(&b, x), width)
                       : 0;
        if (value == max)
            t.saturated = true;
        else if (value < t.least)
            t.least = value;
    }
    return t;
}

static uint64_t egh_count(const void *image, uint64_t x)
{
    egh_tally t = egh_look_up(image, x);
    return t.least == EGH_COUNT_ALL ? UINT64_MAX : t.least;
}

static void egh_lower(void *image, uint64_t x)
{
    uint32_t width = egh_width(image), max = counters_max(width);
    uint8_t *row = egh_row_mut(image);
    egh_block b = egh_start();
    for (uint64_t i = 0; i < egh_k(image) && egh_next(&b, image, i); i++) {
        uint64_t at = egh_bit(&b, x);
        uint32_t value = counters_get(row, at, width);
        if (value > 0 && value < max)
            counters_set(row, at, width, value - 1);
    }
}

/* Removes a key. A saturated counter keeps part of a removed key, which ends
 * the promise. */
static bly_status egh_remove(void *image, uint64_t x)
{
    egh_tally t = egh_look_up(image, x);
    uint64_t n = egh_keys_in(image);
    if (t.least == 0)
        return BLY_EABSENT;
    if (t.least == EGH_COUNT_ALL)
        return BLY_EUNSAFE;
    egh_lower(image, x);
    if (t.saturated)
        egh_set_keys(image, EGH_KEYS_UNKNOWN);
    else if (t.least == 1 && n > 0 && n != EGH_KEYS_UNKNOWN)
        egh_set_keys(image, n - 1);
    return BLY_OK;
}

static bool egh_counts(const void *image)
{
    return egh_width(image) > 1;
}

static bly_status egh_removes(const void *image)
{
    if (egh_counts(image))
        return BLY_OK;
    return status_fail(BLY_EUNSUPPORTED, "the filter stores bits, which cannot "
                       "tell how many keys have set them: to remove keys, "
                       "build it with counters, egh:bits=8");
}

/* ---- Look inside ------------------------------------------------------- */

/* Returns whether false positives are impossible, as in a row with a bit for
 * each integer. */
static bool egh_exact(const void *image)
{
    return egh_k(image) == 1
        || egh_keys_in(image) <= image_u64(image, IMAGE_CAPACITY);
}

/* Bits set, or counters above 0; and how many counters are saturated. */
static uint64_t egh_set(const void *image)
{
    return egh_set_between(egh_row(image), 0, egh_m(image), egh_width(image));
}

static uint64_t egh_saturated(const void *image)
{
    uint32_t width = egh_width(image);
    uint64_t n = 0;
    for (uint64_t i = 0; width > 1 && i < egh_m(image); i++)
        n += counters_get(egh_row(image), i, width) == counters_max(width);
    return n;
}

/* The product of the blocks' shares; above 0 at any rate, for it is. */
static double egh_rate(const void *image)
{
    double rate = 1;
    egh_block b = egh_start();
    for (uint64_t i = 0; i < egh_k(image) && egh_next(&b, image, i); i++)
        rate *= (double)egh_set_between(egh_row(image), b.at, b.at + b.q,
                                        egh_width(image)) / (double)b.q;
    return fmax(rate, DBL_MIN);
}

/* While the promise holds the count is no estimate, but after a union a bound:
 * of bits the number of items is not known then, and of counters nobody knows
 * whether there was one. Keys that have a pattern may spread better than any
 * others and seem more: but they are not more than were added. */
static void egh_stat(bly_info_t *out, const void *image)
{
    uint64_t set = egh_set(image), count = egh_keys_in(image);
    out->saturated = egh_saturated(image);
    out->fill = (double)set / (double)egh_m(image);
    out->probes = (uint32_t)egh_k(image);
    out->rate = egh_exact(image) ? 0 : egh_rate(image);
    out->distinct = egh_keys(image, set);
    if (egh_k(image) > 1 && egh_exact(image) && out->items_exact
        && !egh_counts(image))
        out->distinct = (double)count;
    else if (isfinite(out->distinct))
        out->distinct_sd = egh_root(egh_covariance(image, out->distinct, 0, 0));
    else
        out->distinct_sd = (double)INFINITY;
    if (egh_k(image) > 1 && egh_exact(image))
        out->distinct = fmin(out->distinct, (double)count);
    if (out->items_exact)
        out->distinct = fmin(out->distinct, (double)out->items);
}

/* ---- Sets -------------------------------------------------------------- */

/* Bits set, or counters above 0, in one of two filters or in both. */
static uint64_t egh_set_either(const void *a, const void *b)
{
    uint32_t width = egh_width(a);
    uint64_t n = 0;
    if (width == 1)
        return bits_count_or(egh_row(a), egh_row(b), egh_row_bytes(a));
    for (uint64_t i = 0; i < egh_m(a); i++)
        n += egh_held(egh_row(a), i, width) || egh_held(egh_row(b), i, width);
    return n;
}

/* The count of a union: if the bits of one hold the other's, and it is exact,
 * it has all the other's keys. */
static uint64_t egh_united(const void *into, const void *other)
{
    uint64_t sum = EGH_KEYS_UNKNOWN, both = egh_set_either(into, other);
    if (egh_exact(into) && both == egh_set(into))
        return egh_keys_in(into);
    if (egh_exact(other) && both == egh_set(other))
        return egh_keys_in(other);
    sizes_add(&sum, egh_keys_in(into), egh_keys_in(other));
    return sum;
}

/* The OR of bits, the sum of counters. */
static void egh_unite_rows(void *into, const void *other)
{
    const cells c = { .m = egh_m(into), .k = 1, .l = 1,
                      .width = egh_width(into) };
    if (c.width == 1)
        bits_or(egh_row_mut(into), egh_row(other), egh_row_bytes(into));
    else
        cells_unite(&c, egh_row_mut(into), egh_row(other));
}

static bly_status egh_unite(void *into, const void *other)
{
    size_t table = (size_t)egh_head(egh_k(into));
    if (memcmp(image_payload(into) + EGH_TABLE,
               image_payload(other) + EGH_TABLE, table - EGH_TABLE) != 0)
        return status_fail(BLY_EMISMATCH, "the filters have different moduli: "
                           "build both with the same version of the library");
    uint64_t count = egh_united(into, other);
    egh_unite_rows(into, other);
    egh_set_keys(into, count);
    return BLY_OK;
}

static shape_estimate egh_estimate(const void *image, uint64_t set)
{
    double keys = egh_keys(image, set);
    return (shape_estimate){ .value = keys,
                             .sd = isfinite(keys) ? 0 : (double)INFINITY };
}

/* Estimates from the bits alone, so that the mean is right, for keys without a
 * pattern. */
static void egh_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    uint64_t set = egh_set_either(a, b);
    shape_pair pair = {
        .a = egh_estimate(a, egh_set(a)), .b = egh_estimate(b, egh_set(b)),
        .either = egh_estimate(a, set),
    };
    shape_pair_combine(&pair, egh_covariance, a);
    rows_tell(out, &pair);
}

static const kind_hashing egh_hashing = {
    .integers = egh_integers,
};

static const kind_varying egh_varying = {
    .removes = egh_removes,
    .counts  = egh_counts,
};

static const kind_combining egh_combining = {
    .unite   = egh_unite,
    .overlap = egh_overlap,
};

static const kind_listing egh_listing = {
    .keys         = egh_list,
    .keys_scratch = egh_list_scratch,
};

const bly_kind bly_kind_egh = {
    .name    = "egh",
    .family  = "exact",
    .summary = "integers without false positives, up to a planned number",
    .version = EGH_VERSION,
    .options = egh_options,

    .plan   = egh_plan,
    .format = egh_format,
    .like   = egh_like,
    .check  = egh_check,
    .stat   = egh_stat,

    .contains      = egh_contains,
    .contains_many = egh_contains_many,

    .add      = egh_add,
    .add_many = egh_add_many,
    .add_each = egh_add_each,
    .remove   = egh_remove,
    .count    = egh_count,

    .hashing   = &egh_hashing,
    .varying   = &egh_varying,
    .combining = &egh_combining,
    .listing   = &egh_listing,
};
