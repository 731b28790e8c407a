/* standard.c - the classic Bloom filter.
 *
 * WHAT IT IS
 *
 * A row of m bits, all 0 at first. Adding a key sets k of them, chosen by the
 * key's hash. A key is reported present if all k of its bits are set. So a key
 * that was added is always found. Any other key is found only if the keys in
 * the filter happen to have set all of its bits: a false positive.
 *
 * WHEN TO USE IT
 *
 * Use it by default. It guarantees any false-positive rate and never refuses a
 * key. Beyond the planned number of keys, only the rate rises, and
 * `bloomery info` reports it. Filters of one plan can be united, intersected,
 * compared, and folded to half their size.
 *
 * WHEN NOT TO
 *
 * - Keys must be removed or counted: `cuckoo`, `quotient`, `counting`.
 * - The filter is larger than the processor's cache and speed matters:
 *   `blocked` touches one cache line per key, for 3 % more bits at 1 %.
 * - All keys are known and stay: `fuse` and `ribbon` are 18 to 30 % smaller.
 * - The number of keys is unknown: `scalable`.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.6                  7                  2
 *      0.1 %        14.4                 10                  2
 *
 * A present key has k bits in k cache lines. A lookup of an absent key ends at
 * the first clear bit. In a full filter half of the bits are clear, so that
 * takes two lines on average, for any k.
 *
 * THE PICTURE (m = 16, k = 3, after adding x and y)
 *
 *      x ------+--------+-----------+
 *              v        v           v
 *      bit  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
 *         | 0  1  0  0  1  0  1  0  1  0  0  1  0  0  0  0 |
 *              ^              ^              ^
 *      y ------+--------------+--------------+
 *
 *      An absent key with bits {1, 4, 11} is a false positive; one with {1, 4,
 *      5} is known to be absent after reading bit 5.
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^60
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   index scheme, 0 .. 5 as numbered in bits/index.h
 *      geometry 3   zero
 *      payload      ceil(m/8) bytes; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has ceil(m/8) bytes, (3) the bits from m on are clear.
 *
 * MATHS
 *
 * After n keys, a given bit is still clear with probability (1 - 1/m)^(kn),
 * about e^(-kn/m). The false-positive rate is therefore about
 *
 *      f = (1 - e^(-kn/m))^k                                             (1)
 *
 * For a given m/n it is least at k = (m/n) ln 2. Half of the bits are then set,
 * f = 2^-k, and
 *
 *      m/n = log2(1/f) / ln 2 = 1.4427 log2(1/f)                         (2)
 *
 * bits per key: 4.79 for every decimal digit of f.
 *
 * (1) treats the bits as independent and m as infinite, so it is a little low
 * [Bose 2008]: by 0.09 % for 1000 keys at 1 %, by 9 % for m = 64, n = 8. The
 * textbook sizes, m from (2) and k rounded, also miss the requested rate
 * because of the rounding (1.0039 % for 50000 keys at 1 %). The plan uses the
 * true rate E[(X/m)^k], where X is the number of set bits (math_rate). It takes
 * the k that needs the smallest m, and the smallest m whose true rate is at
 * most the requested one. [Goel 2010] proves an m that is always large enough,
 * so the search tries only a handful of numbers.
 *
 * PROBES
 *
 * The k positions are made from one 64-bit hash. src/bits/index.h describes the
 * schemes and their effect on the rate. The default, `power`, and `seeds` meet
 * the true rate at every m.
 *
 * The other schemes come from the literature and are here for comparison. Two
 * keys share all their positions with a probability of about 1/m^2, however
 * large k is, and a step that divides m yields few different positions. They
 * therefore have more false positives than independent positions would: an
 * eighth more for m = 1000 and k = 7 (double), but a hundred times as many at m
 * = 20 and k = 13. No formula is known to plan by, so these schemes need m= and
 * a capacity, and the rate that `plan` and `stat` report is that of independent
 * positions. The image stores the scheme.
 *
 * PAPERS
 *
 *  [Bloom 1970]   Space/time trade-offs in hash coding with allowable errors,
 *                 CACM 13(7). The filter; (1) is his "method 2".
 *  [Bose 2008]    On the false-positive rate of Bloom filters, IPL 108(4).
 *                 (1) is not exact; the true rate.
 *  [Goel 2010]    Small subset queries and Bloom filters using ternary
 *                 associative memories, SIGMETRICS. The proved upper bound.
 */
#include "image/abilities.h"

#include "bloomery/inline.h"

#include <assert.h>

#include "bits/bits.h"
#include "bits/index.h"
#include "bodies/rows.h"
#include "bits/walk.h"

enum {
    STANDARD_VERSION = 1,
    STANDARD_M = KIND_ROW_M, STANDARD_K = KIND_ROW_K, STANDARD_INDEX = 2,
    STANDARD_ZERO = 3,
    STANDARD_K_MAX = 64                 /* f = 2^-64: the hash ends there too */
};

#define STANDARD_M_MAX (UINT64_C(1) << 60)

static const char *const standard_schemes[INDEX_SCHEMES + 1] = {
    [INDEX_POWER] = "power",   [INDEX_SEEDS] = "seeds",
    [INDEX_DOUBLE] = "double", [INDEX_ENHANCED] = "enhanced",
    [INDEX_TRIPLE] = "triple", [INDEX_STEP] = "step",
};

/* In the order of the geometry. */
static const kind_option standard_options[] = {
    [STANDARD_M] = {
        .name = "m", .help = "number of bits, instead of a rate",
        .least = 1, .most = STANDARD_M_MAX, .standard = KIND_CHOOSE,
    },
    [STANDARD_K] = {
        .name = "k", .help = "probes: bits that a key sets",
        .least = 1, .most = STANDARD_K_MAX, .standard = KIND_CHOOSE,
    },
    [STANDARD_INDEX] = {
        .name = "index", .help = "how k positions are made from one hash (all "
                                 "but power and seeds need m=)",
        .choices = standard_schemes, .standard = INDEX_POWER,
    },
    { .name = NULL },
};

static shape standard_shape_of(const void *image)
{
    return (shape){
        .blocks = 1, .lanes = 1, .bits = image_geometry(image, STANDARD_M),
        .probes = (uint32_t)image_geometry(image, STANDARD_K),
    };
}

/* ---- Plan -------------------------------------------------------------- */

static const kind_row standard_row = {
    .m_most = STANDARD_M_MAX, .k_most = STANDARD_K_MAX,
    .limit = "2^60 bits",
};

/* Returns whether the spec needs a size from a rate, or the reverse, for a
 * scheme whose rate the formulas do not give. */
static bool standard_cannot_size(const kind_spec *spec)
{
    uint64_t scheme = spec->option[STANDARD_INDEX];
    return scheme != INDEX_POWER && scheme != INDEX_SEEDS
        && (spec->capacity == 0 || spec->option[STANDARD_M] == KIND_CHOOSE);
}

static bly_status standard_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t m = 0, n = 0;
    uint32_t k = 0;
    if (standard_cannot_size(spec))
        return status_fail(BLY_EPARAM, "index=%s is for comparing rates, and "
                           "cannot be planned for one: give m= and a capacity, "
                           "or leave index= out",
                           standard_schemes[spec->option[STANDARD_INDEX]]);
    bly_status status = kind_row_size(&m, &k, &n, spec, &standard_row);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, rows_bytes_of(m));
    if (status != BLY_OK)
        return status;

    rows_plan_row(plan, m, k, n, rows_bytes_of(m));
    plan->geometry[STANDARD_M] = m;
    plan->geometry[STANDARD_K] = k;
    plan->geometry[STANDARD_INDEX] = spec->option[STANDARD_INDEX];
    plan->geometry[STANDARD_ZERO] = 0;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status standard_check(const void *image)
{
    uint64_t m = image_geometry(image, STANDARD_M);
    uint64_t k = image_geometry(image, STANDARD_K);
    size_t bytes = image_payload_bytes(image);

    bool sound = m >= 1 && m <= STANDARD_M_MAX
              && k >= 1 && k <= STANDARD_K_MAX
              && image_geometry(image, STANDARD_INDEX) < INDEX_SCHEMES
              && image_geometry(image, STANDARD_ZERO) == 0
              && bytes == rows_bytes_of(m);
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), bytes, m))
        return status_fail(BLY_ECORRUPT, "bits beyond the last are set");
    return BLY_OK;
}

/* ---- Contains ---------------------------------------------------------- */

/* Looks up a key. This one body serves all schemes: `scheme` is a constant in
 * each call below. */
PLATFORM_INLINE bool standard_contains_by(const void *image, uint64_t hash,
                                          int scheme)
{
    const uint8_t *row = image_payload(image);
    uint64_t k = image_geometry(image, STANDARD_K);
    index_walk walk;

    index_start(&walk, scheme, hash, image_geometry(image, STANDARD_M));
    for (uint64_t i = 0; i < k; i++)
        if (!bits_test(row, index_next(&walk, scheme)))
            return false;
    return true;
}

static bool standard_contains(const void *image, uint64_t hash)
{
    switch (image_geometry(image, STANDARD_INDEX)) {
    case INDEX_SEEDS:
        return standard_contains_by(image, hash, INDEX_SEEDS);
    case INDEX_DOUBLE:
        return standard_contains_by(image, hash, INDEX_DOUBLE);
    case INDEX_ENHANCED:
        return standard_contains_by(image, hash, INDEX_ENHANCED);
    case INDEX_TRIPLE:
        return standard_contains_by(image, hash, INDEX_TRIPLE);
    case INDEX_STEP:
        return standard_contains_by(image, hash, INDEX_STEP);
    default:
        return standard_contains_by(image, hash, INDEX_POWER);
    }
}

static walk_plan standard_walk(const void *image)
{
    return (walk_plan){
        .slice = image_geometry(image, STANDARD_M), .stride = 0,
        .k = (uint32_t)image_geometry(image, STANDARD_K),
    };
}

/* The schemes of the literature go one by one: they are to compare rates. */
static bool standard_walks(const void *image)
{
    return image_geometry(image, STANDARD_INDEX) == INDEX_POWER;
}

static_assert(sizeof(walk_view) <= KIND_VIEW, "a view has its room");

static kind_contains *standard_contains_here(const void **subject, void *view)
{
    const void *image = *subject;
    if (!standard_walks(image))
        return standard_contains;
    *(walk_view *)view = (walk_view){ standard_walk(image),
                                      image_payload(image) };
    *subject = view;
    return walk_contains_one;
}

/* ---- Add --------------------------------------------------------------- */

PLATFORM_INLINE bly_status standard_add_by(void *image, uint64_t hash,
                                           int scheme, bool shared)
{
    uint8_t *row = image_payload_mut(image);
    uint64_t k = image_geometry(image, STANDARD_K);
    bool fresh = false;
    index_walk walk;

    index_start(&walk, scheme, hash, image_geometry(image, STANDARD_M));
    for (uint64_t i = 0; i < k; i++) {
        uint64_t at = index_next(&walk, scheme);
        fresh |= shared ? bits_set_shared(row, at) : bits_set(row, at);
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

PLATFORM_INLINE bly_status standard_add_any(void *image, uint64_t hash,
                                            bool shared)
{
    switch (image_geometry(image, STANDARD_INDEX)) {
    case INDEX_SEEDS:
        return standard_add_by(image, hash, INDEX_SEEDS, shared);
    case INDEX_DOUBLE:
        return standard_add_by(image, hash, INDEX_DOUBLE, shared);
    case INDEX_ENHANCED:
        return standard_add_by(image, hash, INDEX_ENHANCED, shared);
    case INDEX_TRIPLE:
        return standard_add_by(image, hash, INDEX_TRIPLE, shared);
    case INDEX_STEP:
        return standard_add_by(image, hash, INDEX_STEP, shared);
    default:
        return standard_add_by(image, hash, INDEX_POWER, shared);
    }
}

static bly_status standard_add(void *image, uint64_t hash)
{
    return standard_add_any(image, hash, false);
}

static bly_status standard_add_shared(void *image, uint64_t hash)
{
    return standard_add_any(image, hash, true);
}

/* ---- Batches ----------------------------------------------------------- */

static void standard_contains_many(const void *image, const uint64_t *hashes,
                                   size_t n, bool *present)
{
    walk_plan plan = standard_walk(image);
    if (standard_walks(image)) {
        walk_contains(&plan, image_payload(image), hashes, n, present);
        return;
    }
    for (size_t i = 0; i < n; i++)
        present[i] = standard_contains(image, hashes[i]);
}

PLATFORM_INLINE bly_status standard_add_many_any(void *image,
                                                 const uint64_t *hashes,
                                                 size_t n, size_t *done,
                                                 bool shared)
{
    walk_plan plan = standard_walk(image);
    *done = n;
    if (standard_walks(image)) {
        walk_add(&plan, image_payload_mut(image), hashes, n, shared);
        return BLY_OK;
    }
    for (size_t i = 0; i < n; i++)
        standard_add_any(image, hashes[i], shared);
    return BLY_OK;
}

static bly_status standard_add_each(void *image, const uint64_t *hashes,
                                    size_t n, bool *seen, size_t *done)
{
    walk_plan plan = standard_walk(image);
    *done = n;
    if (standard_walks(image)) {
        walk_add_each(&plan, image_payload_mut(image), hashes, n, seen);
        return BLY_OK;
    }
    for (size_t i = 0; i < n; i++)
        seen[i] = standard_add_any(image, hashes[i], false) == BLY_SEEN;
    return BLY_OK;
}

static bly_status standard_add_many(void *image, const uint64_t *hashes,
                                    size_t n, size_t *done)
{
    return standard_add_many_any(image, hashes, n, done, false);
}

static bly_status standard_add_many_shared(void *image, const uint64_t *hashes,
                                           size_t n, size_t *done)
{
    return standard_add_many_any(image, hashes, n, done, true);
}

/* ---- Look inside ------------------------------------------------------- */

static void standard_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = standard_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

static void standard_stat(bly_info_t *out, const void *image)
{
    shape s = standard_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

/* Plans a filter of m / times bits. Position floor(s m / 2^64), divided by
 * `times` and rounded down, is the position for m / times; one that is reduced
 * modulo m is not. */
static bly_status standard_fold_spec(kind_spec *spec, const void *image,
                                     uint64_t times)
{
    uint64_t m = image_geometry(image, STANDARD_M);
    uint64_t scheme = image_geometry(image, STANDARD_INDEX);
    if (scheme != INDEX_POWER && scheme != INDEX_SEEDS && scheme != INDEX_STEP)
        return status_fail(BLY_EPARAM, "a filter with index=%s cannot be "
                           "folded: only those with power, seeds and step can",
                           standard_schemes[scheme]);
    spec->option[STANDARD_M] = m / (times + (times == 0));
    spec->option[STANDARD_K] = image_geometry(image, STANDARD_K);
    spec->option[STANDARD_INDEX] = scheme;
    return kind_divides(times, m, "bits");
}

static void standard_fold(void *into, const void *image)
{
    kind_fold_bits(into, image, image_geometry(into, STANDARD_M),
                   image_geometry(image, STANDARD_M));
}

static void standard_inline(void *view, const void *image)
{
    bly_inline_standard *out = view;
    out->payload = image_payload_mut((void *)(uintptr_t)image);
    out->m = image_geometry(image, STANDARD_M);
    out->k = (uint32_t)image_geometry(image, STANDARD_K);
    out->index = (uint32_t)image_geometry(image, STANDARD_INDEX);
}

static const kind_sharing standard_sharing = {
    .add      = standard_add_shared,
    .add_many = standard_add_many_shared,
};

static const kind_combining standard_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = standard_overlap,
};

static const kind_folding standard_folding = {
    .spec = standard_fold_spec,
    .fold = standard_fold,
};

static const kind_inlining standard_inlining = {
    .view = standard_inline,
    .adds = true,
};

const bly_kind bly_kind_standard = {
    .name    = "standard",
    .family  = "sets",
    .summary = "the classic Bloom filter: k bits in one array of m",
    .version = STANDARD_VERSION,
    .options = standard_options,

    .plan  = standard_plan,
    .check = standard_check,
    .stat  = standard_stat,

    .contains      = standard_contains,
    .contains_many = standard_contains_many,
    .contains_here = standard_contains_here,

    .add      = standard_add,
    .add_many = standard_add_many,
    .add_each = standard_add_each,

    .sharing   = &standard_sharing,
    .combining = &standard_combining,
    .folding   = &standard_folding,
    .inlining  = &standard_inlining,
};
