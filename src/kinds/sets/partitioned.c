/* partitioned.c - a Bloom filter with a slice of bits for each probe.
 *
 * WHAT IT IS
 *
 * A Bloom filter whose bits are cut into k slices of M bits. Probe i sets and
 * tests one bit in slice i only, so a key's k bits are always different, and
 * the slices can lie in separate memories that work in parallel. The formula
 * for its rate is exact, which is why `scalable` is made of this kind by
 * default.
 *
 * WHEN TO USE IT
 *
 * Use it if every probe should have memory of its own, as in hardware with
 * parallel memory banks. It never refuses a key, and filters of one plan can be
 * united, intersected and compared.
 *
 * WHEN NOT TO
 *
 * - On an ordinary processor, `standard` costs the same, has a slightly lower
 *   rate, and can be folded to half its size.
 * - For speed, `blocked`; to remove keys, `cuckoo`, `quotient` or `counting`.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %           9.6                  7                  2
 *      0.1 %        14.4                 10                  2
 *
 * THE PICTURE (k = 3, M = 8, after adding x and y)
 *
 *           slice 0            slice 1            slice 2
 *         | 0 1 0 0 0 1 0 0 | 0 0 0 1 0 0 0 0 | 1 0 0 0 0 0 1 0 |
 *             x       y             x                 y     x
 *                                   y
 *
 * IMAGE
 *
 *      geometry 0   M, bits in a slice, a multiple of 8, 8 .. 2^54
 *      geometry 1   k, number of slices, 1 .. 64
 *      geometry 2, 3  zero
 *      payload      k slices of M/8 bytes one after another; bit b of slice i
 *                   is bit (b mod 8) of byte i M/8 + b/8
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has k M/8 bytes.
 *
 * MATHS
 *
 * In one slice, a given bit is clear after n keys with probability (1 - 1/M)^n,
 * and the slices are independent, so exactly
 *
 *      f = (1 - (1 - 1/M)^n)^k                                           (1)
 *
 *      M = -1 / ((1 - f^(1/k))^(1/n) - 1)                                (2)
 *
 * For a finite number of bits m = kM this is slightly above the rate of a
 * standard filter of m bits (2.62 % against 2.38 % for m = 64, n = 8, k = 6);
 * in the limit they are equal. The plan takes the k for which k M is least,
 * with M rounded up to whole bytes.
 *
 * PROBES
 *
 * Every step of the `power` walk (src/bits/index.h) reduces its 64-bit state to
 * [0, M) afresh. Reducing first and stepping then (double hashing modulo M)
 * would leave only M^2 different keys. The rate could then not fall below
 * n/M^2, nine times the requested rate at m = 2048, k = 11.
 *
 * PAPERS
 *
 *  [Mullin 1983]    A second look at Bloom filters, CACM 26(8).
 *  [Kirsch & Mitzenmacher 2006]  Less hashing, same performance, ESA.
 *  [Almeida 2007]   Scalable Bloom filters, IPL 101(6); uses this kind.
 */
#include "image/abilities.h"

#include <assert.h>
#include <math.h>

#include "base/sizes.h"
#include "bits/bits.h"
#include "bits/index.h"
#include "maths/maths.h"
#include "bodies/rows.h"
#include "bits/walk.h"

enum {
    PARTITIONED_VERSION = 1,
    PARTITIONED_SLICE = 0, PARTITIONED_K = 1,
    PARTITIONED_ZERO = 2, PARTITIONED_ZERO_TOO = 3,
    PARTITIONED_K_MAX = 64
};

#define PARTITIONED_SLICE_MAX (UINT64_C(1) << 54)

enum { PARTITIONED_OPTION_M, PARTITIONED_OPTION_K };

static const kind_option partitioned_options[] = {
    [PARTITIONED_OPTION_M] = {
        .name = "m", .help = "number of bits in all, instead of a rate "
                             "(slices are rounded up to bytes)",
        .least = 1, .most = PARTITIONED_SLICE_MAX, .standard = KIND_CHOOSE,
    },
    [PARTITIONED_OPTION_K] = {
        .name = "k",
        .help = "probes: slices, in each of which a key sets a bit",
        .least = 1, .most = PARTITIONED_K_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

static shape partitioned_shape(uint64_t slice, uint64_t k)
{
    return (shape){ .blocks = 1, .lanes = k, .bits = slice, .probes = 1 };
}

static shape partitioned_shape_of(const void *image)
{
    return partitioned_shape(image_geometry(image, PARTITIONED_SLICE),
                             image_geometry(image, PARTITIONED_K));
}

/* ---- Plan -------------------------------------------------------------- */

/* (2), rounded up to whole bytes; false if that is too much. */
static bool partitioned_slice(uint64_t *slice, double n, double rate,
                              uint32_t k)
{
    double clear = log1p(-exp(log(rate) / k)) / n;
    return sizes_from_double(slice, -1 / expm1(clear))
        && sizes_round_up(slice, *slice, 8)
        && *slice <= PARTITIONED_SLICE_MAX;
}

/* The k for which k slices are least, and those slices; 0 if none will do. */
static uint32_t partitioned_best_k(uint64_t *slice, double n, double rate)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k <= PARTITIONED_K_MAX; k++) {
        uint64_t bits;
        if (partitioned_slice(&bits, n, rate, k)
            && (best == 0 || bits * k < *slice * best)) {
            *slice = bits;
            best = k;
        }
    }
    return best;
}

/* m bits given: slices of m/k, and as many keys as they hold at the rate if
 * that is not given too. */
static void partitioned_from_m(uint64_t *slice, uint32_t *k, uint64_t *n,
                               const kind_spec *spec)
{
    uint64_t m = spec->option[PARTITIONED_OPTION_M];
    double best = *n == 0 ? -log2(spec->rate)
                : math_best_probes((double)m, (double)*n);
    if (*k == 0)
        *k = (uint32_t)fmin(fmax(round(best), 1), PARTITIONED_K_MAX);
    *slice = (m / *k + (m % *k != 0) + 7) / 8 * 8;
    shape s = partitioned_shape(*slice, *k);
    if (*n == 0)
        *n = shape_capacity(&s, spec->rate);
}

static bly_status partitioned_size(uint64_t *slice, uint32_t *k, uint64_t *n,
                                   const kind_spec *spec)
{
    uint64_t k_option = spec->option[PARTITIONED_OPTION_K];
    *k = k_option == KIND_CHOOSE ? 0 : (uint32_t)k_option;
    *n = spec->capacity;
    if (spec->option[PARTITIONED_OPTION_M] != KIND_CHOOSE) {
        partitioned_from_m(slice, k, n, spec);
        return BLY_OK;
    }
    if (*n == 0)
        return kind_no_capacity();
    if (*k != 0)
        return partitioned_slice(slice, (double)*n, spec->rate, *k)
             ? BLY_OK : kind_too_big(spec, "2^54 bits a slice");
    *k = partitioned_best_k(slice, (double)*n, spec->rate);
    return *k != 0 ? BLY_OK : kind_too_big(spec, "2^54 bits a slice");
}

static bly_status partitioned_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t slice = 0, n = 0;
    uint32_t k = 0;
    bly_status status = partitioned_size(&slice, &k, &n, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, slice / 8 * k);
    if (status != BLY_OK)
        return status;

    shape s = partitioned_shape(slice, k);
    rows_plan(plan, &s, n);
    double lines = ceil(shape_bits(&s) / 512);
    plan->lines_present = fmin(k, lines);
    plan->lines_absent = fmin(math_absent_probes(plan->fill, k), lines);
    plan->geometry[PARTITIONED_SLICE] = slice;
    plan->geometry[PARTITIONED_K] = k;
    plan->geometry[PARTITIONED_ZERO] = 0;
    plan->geometry[PARTITIONED_ZERO_TOO] = 0;
    return BLY_OK;
}

/* ---- Check, contains, add ---------------------------------------------- */

static bly_status partitioned_check(const void *image)
{
    uint64_t slice = image_geometry(image, PARTITIONED_SLICE);
    uint64_t k = image_geometry(image, PARTITIONED_K);

    bool sound = slice >= 8 && slice % 8 == 0 && slice <= PARTITIONED_SLICE_MAX
              && k >= 1 && k <= PARTITIONED_K_MAX
              && image_geometry(image, PARTITIONED_ZERO) == 0
              && image_geometry(image, PARTITIONED_ZERO_TOO) == 0
              && image_payload_bytes(image) == slice / 8 * k;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

static bool partitioned_contains(const void *image, uint64_t hash)
{
    uint64_t slice = image_geometry(image, PARTITIONED_SLICE);
    uint64_t k = image_geometry(image, PARTITIONED_K);
    const uint8_t *row = image_payload(image);
    index_walk walk;

    index_start(&walk, INDEX_POWER, hash, slice);
    for (uint64_t i = 0; i < k; i++, row += slice / 8)
        if (!bits_test(row, index_next(&walk, INDEX_POWER)))
            return false;
    return true;
}

PLATFORM_INLINE bly_status partitioned_add_any(void *image, uint64_t hash,
                                               bool shared)
{
    uint64_t slice = image_geometry(image, PARTITIONED_SLICE);
    uint64_t k = image_geometry(image, PARTITIONED_K);
    uint8_t *row = image_payload_mut(image);
    bool fresh = false;
    index_walk walk;

    index_start(&walk, INDEX_POWER, hash, slice);
    for (uint64_t i = 0; i < k; i++, row += slice / 8) {
        uint64_t at = index_next(&walk, INDEX_POWER);
        fresh |= shared ? bits_set_shared(row, at) : bits_set(row, at);
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

static bly_status partitioned_add(void *image, uint64_t hash)
{
    return partitioned_add_any(image, hash, false);
}

static bly_status partitioned_add_shared(void *image, uint64_t hash)
{
    return partitioned_add_any(image, hash, true);
}

/* ---- Batches ----------------------------------------------------------- */

static walk_plan partitioned_walk(const void *image)
{
    uint64_t slice = image_geometry(image, PARTITIONED_SLICE);
    return (walk_plan){
        .slice = slice, .stride = slice,
        .k = (uint32_t)image_geometry(image, PARTITIONED_K),
    };
}

static_assert(sizeof(walk_view) <= KIND_VIEW, "a view has its room");

static kind_contains *partitioned_contains_here(const void **subject,
                                                void *view)
{
    *(walk_view *)view = (walk_view){ partitioned_walk(*subject),
                                      image_payload(*subject) };
    *subject = view;
    return walk_contains_one;
}

static void partitioned_contains_many(const void *image, const uint64_t *hashes,
                                      size_t n, bool *present)
{
    walk_plan plan = partitioned_walk(image);
    walk_contains(&plan, image_payload(image), hashes, n, present);
}

static bly_status partitioned_add_many(void *image, const uint64_t *hashes,
                                       size_t n, size_t *done)
{
    walk_plan plan = partitioned_walk(image);
    walk_add(&plan, image_payload_mut(image), hashes, n, false);
    *done = n;
    return BLY_OK;
}

static bly_status partitioned_add_many_shared(void *image,
                                              const uint64_t *hashes, size_t n,
                                              size_t *done)
{
    walk_plan plan = partitioned_walk(image);
    walk_add(&plan, image_payload_mut(image), hashes, n, true);
    *done = n;
    return BLY_OK;
}

static bly_status partitioned_add_each(void *image, const uint64_t *hashes,
                                       size_t n, bool *seen, size_t *done)
{
    walk_plan plan = partitioned_walk(image);
    walk_add_each(&plan, image_payload_mut(image), hashes, n, seen);
    *done = n;
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void partitioned_overlap(bly_overlap_t *out, const void *a,
                                const void *b)
{
    shape s = partitioned_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

static void partitioned_stat(bly_info_t *out, const void *image)
{
    shape s = partitioned_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

static const kind_sharing partitioned_sharing = {
    .add      = partitioned_add_shared,
    .add_many = partitioned_add_many_shared,
};

static const kind_combining partitioned_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = partitioned_overlap,
};

const bly_kind bly_kind_partitioned = {
    .name    = "partitioned",
    .family  = "sets",
    .summary = "a Bloom filter with a slice of bits for each probe",
    .version = PARTITIONED_VERSION,
    .options = partitioned_options,

    .plan  = partitioned_plan,
    .check = partitioned_check,
    .stat  = partitioned_stat,

    .contains      = partitioned_contains,
    .contains_many = partitioned_contains_many,
    .contains_here = partitioned_contains_here,

    .add      = partitioned_add,
    .add_many = partitioned_add_many,
    .add_each = partitioned_add_each,

    .sharing   = &partitioned_sharing,
    .combining = &partitioned_combining,
};
