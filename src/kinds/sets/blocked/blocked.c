/* blocked.c - a Bloom filter that touches one cache line per key.
 *
 * WHAT IT IS
 *
 * Many small Bloom filters of 512 bits, one for each cache line. A key's hash
 * selects a line, and all k bits of the key lie in that line. In a filter
 * larger than the cache, a lookup or an add therefore costs one cache miss
 * instead of k.
 *
 * WHEN TO USE IT
 *
 * Use it if speed matters and keys are added but never removed. In a large
 * filter, lookups and adds are several times as fast as with `standard`, in
 * hardly more memory. Like `standard` it never refuses a key, and filters of
 * one plan can be united, intersected, compared and folded.
 *
 * WHEN NOT TO
 *
 * - Keys must be removed or counted: `cuckoo`, `quotient`, `counting`.
 * - The rate is below 0.01 %: keys are spread unevenly over the lines, which
 *   then costs more than 15 % in size. `standard` is smaller.
 * - Speed matters more than 6 % of the memory, or the filter goes into a
 * Parquet file: `split`.
 * - All keys are known and stay: `fuse` is a fifth smaller at 1 %.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.9                  1                  1
 *      0.1 %        15.5                  1                  1
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
 * Keys fall on lines like balls into bins. Some lines hold more keys than the
 * mean and have a much higher rate. With w_i the binomial probability of i keys
 * in a line and f_i the true rate of 512 bits that hold i keys,
 *
 *      F = sum w_i f_i                                    [Putze 2009]   (1)
 *
 * The plan computes (1) exactly (src/maths/shape.h). The uneven lines cost
 * these bits per key, compared with the best standard filter:
 *
 *      rate         standard     blocked      more
 *      10 %             4.81         4.84        1 %
 *      1 %              9.59         9.92        3 %
 *      0.1 %           14.38        15.55        8 %
 *      0.01 %          19.17        22.03       15 %
 *      0.001 %         23.97        29.67       24 %
 *
 * The best k is smaller than the standard filter's: 6 at 1 %, 9 at 0.1 %. The
 * plan takes the k that needs the fewest lines.
 *
 * PROBES
 *
 * The hash is spread to a 64-bit state s. The high half of s * lines selects
 * the line. The low 32 bits of s, called g, select the bits in it: the high 9
 * bits of g c, g c^2, … modulo 2^32, where c = 9E3779B9 (2^32 divided by the
 * golden ratio, odd). One vector instruction computes sixteen such products,
 * which is why g has 32 bits and not 64.
 *
 * Two keys in one line that share g are indistinguishable. That adds
 *
 *      L / 2^32,  L = keys / lines                                       (2)
 *
 * to F: nothing at 1 %, 0.3 % of the rate at 10^-6, a fifth of it at 10^-8,
 * which is the lowest rate of this kind. For a usual number of lines, the line
 * and g come from different bits of s. The measured rate agrees with the plan
 * from 10^-1 to 10^-6.
 *
 * PAPERS
 *
 *  [Putze 2009]  Cache-, hash- and space-efficient Bloom filters, ACM JEA 14
 *                (WEA 2007). The construction and (1).
 */
#include "kinds/sets/blocked/blocked.h"

#include "bodies/rows.h"
#include "maths/maths.h"

#include <math.h>

/* 10^-8, minus the share of the requested rate that equal 64-bit hashes
 * take. */
static const double BLOCKED_RATE_LEAST = 9e-9;

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

/* Returns the chance of an error by F or by (2). */
static double blocked_with_alike(double rate, uint64_t lines, uint64_t n)
{
    return rate + (1 - rate) * (double)n / (double)lines / 4294967296.0;
}

static double blocked_rate(uint64_t lines, uint32_t k, uint64_t n)
{
    shape s = blocked_shape(lines, k);
    return blocked_with_alike(shape_rate(&s, n, NULL), lines, n);
}

/* Computes the lines that k probes need without (2). Returns false if there are
 * too many. */
static bool blocked_enough(uint64_t *lines, uint32_t k, uint64_t n,
                           double rate)
{
    shape s = blocked_shape(1, k);
    return shape_enough(lines, &s, n, rate) && *lines <= BLOCKED_LINES_MAX;
}

/* Returns the k that needs the fewest lines, or 0 if none suffices. As k grows,
 * the number of lines falls, then rises: the search begins at half the standard
 * filter's k and ends when it rises. */
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

/* Computes the lines that k probes need with (2), to one in a million: a little
 * more than without it. */
static bool blocked_lines(uint64_t *lines, uint32_t k, uint64_t n, double rate)
{
    uint64_t low, high;
    if (!blocked_enough(&low, k, n, rate))
        return false;
    for (high = low; blocked_rate(high, k, n) > rate; ) {
        low = high;
        high += high / 64 + 1;
    }
    while (high - low > 1 + low / 1000000) {
        uint64_t middle = low + (high - low) / 2;
        if (blocked_rate(middle, k, n) <= rate)
            high = middle;
        else
            low = middle;
    }
    *lines = high;
    return high <= BLOCKED_LINES_MAX;
}

/* Returns the k with the lowest rate for this many lines and keys. */
static uint32_t blocked_best_k_for(uint64_t lines, uint64_t n)
{
    uint32_t best = 1;
    double least = 2;
    for (uint32_t k = 1; k <= BLOCKED_K_MAX; k++) {
        double rate = blocked_rate(lines, k, n);
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
        return status_fail(BLY_EPARAM, "kind blocked cannot go below a rate of "
                           "1e-8: use standard for %.3g", spec->rate);

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
    rows_plan(plan, &s, n);
    plan->rate = blocked_with_alike(plan->rate, lines, n);
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

static bool blocked_one(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return bly_inside_blocked_plain(bly_inside_line(v, state), (uint32_t)state,
                                    v->k);
}

static bool blocked_contains(const void *image, uint64_t hash)
{
    const blocked_view v = blocked_look(image);
    return blocked_one(&v, hash);
}

PLATFORM_INLINE bly_status blocked_add_any(void *image, uint64_t hash,
                                           bool shared)
{
    blocked_view v = blocked_look(image);
    uint64_t state = hash_spread(hash);
    return blocked_set(bly_inside_line(&v, state), (uint32_t)state, v.k, shared)
         ? BLY_OK : BLY_SEEN;
}

static bly_status blocked_add(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, false);
}

static bly_status blocked_add_shared(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, true);
}

static void blocked_places(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *places, size_t *bytes)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    *bytes = BLOCKED_LINE_BYTES;
    for (size_t i = 0; i < n; i++)
        places[i] = IMAGE_HEADER + bits_range(hash_spread(hashes[i]), lines)
                                   * BLOCKED_LINE_BYTES;
}

/* ---- Batches ----------------------------------------------------------- */

static void blocked_contains_portable(const void *image, const uint64_t *hashes,
                                      size_t n, bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = bly_inside_blocked_plain(line, g, v.k));
}

static void blocked_add_portable(void *image, const uint64_t *hashes, size_t n)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, true, blocked_set(line, g, v.k, false));
}

static void blocked_each_portable(void *image, const uint64_t *hashes, size_t n,
                                  bool *seen)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, true,
                 seen[i] = !blocked_set(line, g, v.k, false));
}

static void blocked_contains_many(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_contains_avx512(image, hashes, n, present);
        return;
    }
    if (level >= CPU_AVX2) {
        blocked_contains_avx2(image, hashes, n, present);
        return;
    }
#endif
#if CPU_NEON
    if (cpu_now() >= CPU_BASELINE) {
        blocked_contains_neon(image, hashes, n, present);
        return;
    }
#endif
    blocked_contains_portable(image, hashes, n, present);
}

/* Chooses a vector body for single keys too, made for this k: with fewer
 * instructions per key the processor sees more keys ahead. */
static kind_contains *blocked_contains_here(const void **subject, void *view)
{
    const blocked_view v = blocked_look(*subject);
    *(blocked_view *)view = v;
    *subject = view;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512)
        return blocked_one_avx512;
    if (level >= CPU_AVX2)
        return blocked_choose_avx2(v.k);
#endif
#if CPU_NEON
    if (cpu_now() >= CPU_BASELINE)
        return blocked_one_neon;
#endif
    return blocked_one;
}

static bly_status blocked_add_many(void *image, const uint64_t *hashes,
                                   size_t n, size_t *done)
{
    *done = n;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_add_avx512(image, hashes, n);
        return BLY_OK;
    }
    if (level >= CPU_AVX2) {
        blocked_add_avx2(image, hashes, n);
        return BLY_OK;
    }
#endif
    blocked_add_portable(image, hashes, n);
    return BLY_OK;
}

static bly_status blocked_add_each(void *image, const uint64_t *hashes,
                                   size_t n, bool *seen, size_t *done)
{
    *done = n;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_each_avx512(image, hashes, n, seen);
        return BLY_OK;
    }
    if (level >= CPU_AVX2) {
        blocked_each_avx2(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
    blocked_each_portable(image, hashes, n, seen);
    return BLY_OK;
}

static bly_status blocked_add_many_shared(void *image, const uint64_t *hashes,
                                          size_t n, size_t *done)
{
    blocked_view v = blocked_look(image);
    *done = n;
    BLOCKED_ROLL(v, hashes, n, false,
                 blocked_set(line, g, v.k, true));
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void blocked_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = blocked_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

static bly_status blocked_fold_spec(kind_spec *spec, const void *image,
                                    uint64_t times)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    spec->option[BLOCKED_OPTION_M] = lines / (times + (times == 0))
                                   * BLOCKED_LINE_BITS;
    spec->option[BLOCKED_OPTION_K] = image_geometry(image, BLOCKED_K);
    return kind_divides(times, lines, "lines");
}

static void blocked_fold(void *into, const void *image)
{
    kind_fold_blocks(into, image, BLOCKED_LINE_BYTES);
}

static void blocked_stat(bly_info_t *out, const void *image)
{
    shape s = blocked_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

static void blocked_inline(void *view, const void *image)
{
    *(blocked_view *)view = blocked_look(image);
}

static const kind_sharing blocked_sharing = {
    .add      = blocked_add_shared,
    .add_many = blocked_add_many_shared,
};

static const kind_combining blocked_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = blocked_overlap,
};

static const kind_folding blocked_folding = {
    .spec = blocked_fold_spec,
    .fold = blocked_fold,
};

static const kind_inlining blocked_inlining = {
    .view = blocked_inline,
    .adds = true,
};

const bly_kind bly_kind_blocked = {
    .name    = "blocked",
    .family  = "sets",
    .summary = "a Bloom filter with all bits of a key in one cache line",
    .version = BLOCKED_VERSION,
    .options = blocked_options,

    .plan  = blocked_plan,
    .check = blocked_check,
    .stat  = blocked_stat,

    .contains      = blocked_contains,
    .contains_many = blocked_contains_many,
    .contains_here = blocked_contains_here,

    .add      = blocked_add,
    .add_many = blocked_add_many,
    .add_each = blocked_add_each,

    .places = blocked_places,

    .sharing   = &blocked_sharing,
    .combining = &blocked_combining,
    .folding   = &blocked_folding,
    .inlining  = &blocked_inlining,
};
