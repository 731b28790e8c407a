/* deletable.c - a Bloom filter that removes keys by their unshared bits.
 *
 * WHAT IT IS
 *
 * The bits of `standard` and a map of the regions in which keys collided. If an
 * add finds one of its bits already set, it marks the bit's region, a few
 * neighbouring bits. A set bit in an unmarked region belongs to one key alone,
 * so clearing that bit removes this key and no other.
 *
 * WHEN TO USE IT
 *
 * Use it if a few keys are removed now and then, no key is added twice, and it
 * does no harm that one key in ten cannot be removed. It needs a quarter more
 * memory than `standard`, whereas `counting` takes four times as much. Filters
 * of one plan can be united, intersected and compared.
 *
 * WHEN NOT TO
 *
 * - Every key must be removable: at 1 %, 10 of 100 keys have all their bits in
 *   marked regions, and their removal is refused with BLY_EUNSAFE.
 * - Keys come and go all the time: marks are never cleared, so fewer and fewer
 *   keys can be removed. Use `counting`, `dleft` or `cuckoo`.
 * - Keys are added twice: such a key marks all its regions and stays for good.
 * - The file format must be stable: this kind is experimental.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          12.0                  7                  2
 *      0.1 %        18.0                 10                  2
 *
 * A lookup does not read the marks. An add or a removal does: up to 2k lines.
 *
 * THE PICTURE (m = 16, k = 3, four bits a region, after adding x and y)
 *
 *      x ------+--------+-----------+
 *              v        v           v
 *      bit  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
 *         | 0  1  0  0  1  0  1  0  1  0  0  1  0  0  0  0 |
 *              ^              ^              ^
 *      y ------+--------------+--------------+
 *
 *      map |    1     |     0     |     0     |     0     |
 *
 *      Both can be removed: x by its bits 4 and 8, y by 6 and 11. Bit 1 stays
 *      set, because x and y met in region 0.
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 1 .. 2^48
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   R, bits of a region, 1 .. 65536
 *      geometry 3   zero
 *      payload      ceil(m/8) bytes of bits, numbered as in kind standard, then
 *                   ceil(ceil(m/R)/8) of marks; bit j's is number floor(j/R)
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has that many bytes, (3) the bits from m on and the marks from
 *      ceil(m/R) on are clear.
 *
 * MATHS
 *
 * The rate is that of `standard` with m bits. With n keys, two or more of them
 * set a given bit with probability
 *
 *      c = 1 - (1-1/m)^(kn) - kn/m (1-1/m)^(kn-1)                        (1)
 *
 * A set bit of a given key is unshared with probability (1-1/m)^(kn-1), and its
 * region contains no shared bit with (1-c)^(R-1). A key can be removed unless
 * this fails for all of its k bits:
 *
 *      p = 1 - (1 - (1-1/m)^(kn-1) (1-c)^(R-1))^k                        (2)
 *
 * [Rothenberg 2010] has (1-c)^R for the product inside. That ignores that the
 * bit is known to be set once, and is too high; in print it also lacks the
 * outer "1 -". Measured and by (2), 100 keys:
 *
 *      m      k   R      measured     (2)     (1-c)^R
 *      1000   7   20      0.128      0.131     0.214
 *      1000   7   10      0.551      0.552     0.759
 *      1000   7    5      0.871      0.870     0.980
 *      1000   7    1      0.992      0.992     1.000
 *      2000   7   10      0.985      0.985     0.999
 *      1000   4   10      0.851      0.851     0.951
 *
 * The map takes 1/R more bits. The share of keys that can be removed by (2),
 * from a filter that is as full as planned and from one half as full:
 *
 *      rate      k       R = 1          2            4            8
 *      10 %      3    0.90  0.98   0.85  0.97   0.73  0.96   0.49  0.91
 *      1 %       7    0.99  1.00   0.97  1.00   0.90  1.00   0.64  0.99
 *      0.1 %    10    1.00  1.00   1.00  1.00   0.97  1.00   0.81  1.00
 *      0.01 %   13    1.00  1.00   1.00  1.00   0.99  1.00   0.90  1.00
 *
 * The default R is 4. At 1 % it takes 12.0 bits per key and lets 90 of 100 keys
 * go; `counting` takes 38.4 and lets all go.
 *
 * REPEATS
 *
 * Marks are not taken back. A key that is present, or seems to be, finds all
 * its bits set when it is added, and marks all their regions. Neither it nor
 * the key it was mistaken for can then be removed by those bits. That is the
 * safe side: if the second add did nothing, removing one of the two keys would
 * also remove the other. No removal of a present key ever loses another key.
 *
 * PROBES
 *
 * The probes are those of `standard` with the scheme `power`. If a key's own
 * probes meet in one bit, that is not a collision with another key: only the
 * first of them counts.
 *
 * PAPERS
 *
 *  [Rothenberg 2010]  The deletable Bloom filter: a new member of the Bloom
 *                     family, IEEE Communications Letters 14(6). The map; it
 *                     takes the marks out of the m bits, we add them.
 */
#include "image/abilities.h"

#include <assert.h>

#include "base/cpu.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "bodies/rows.h"
#include "bits/walk.h"

enum {
    DELETABLE_VERSION = 1,
    DELETABLE_M = 0, DELETABLE_K = 1, DELETABLE_REGION = 2, DELETABLE_ZERO = 3,
    DELETABLE_K_MAX = 64, DELETABLE_REGION_MAX = 65536,
    DELETABLE_REGION_STANDARD = 4
};

/* Up to this a division by R is exact as a product, see deletable_mark_of. */
#define DELETABLE_M_MAX (UINT64_C(1) << 48)

/* In the order of the geometry. */
static const kind_option deletable_options[] = {
    [DELETABLE_M] = {
        .name = "m", .help = "number of bits, instead of a rate",
        .least = 1, .most = DELETABLE_M_MAX, .standard = KIND_CHOOSE,
    },
    [DELETABLE_K] = {
        .name = "k", .help = "probes: bits that a key sets",
        .least = 1, .most = DELETABLE_K_MAX, .standard = KIND_CHOOSE,
    },
    [DELETABLE_REGION] = {
        .name = "region", .help = "bits that share a mark: with fewer, more "
                                  "keys can be removed",
        .least = 1, .most = DELETABLE_REGION_MAX,
        .standard = DELETABLE_REGION_STANDARD,
    },
    { .name = NULL },
};

static shape deletable_shape_of(const void *image)
{
    return (shape){
        .blocks = 1, .lanes = 1, .bits = image_geometry(image, DELETABLE_M),
        .probes = (uint32_t)image_geometry(image, DELETABLE_K),
    };
}

/* ---- Plan -------------------------------------------------------------- */

static const kind_row deletable_row = {
    .m_most = DELETABLE_M_MAX, .k_most = DELETABLE_K_MAX,
    .limit = "2^48 bits",
};

static uint64_t deletable_marks(uint64_t m, uint64_t region)
{
    return m / region + (m % region != 0);
}

static bly_status deletable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t m = 0, n = 0, region = spec->option[DELETABLE_REGION];
    uint32_t k = 0;
    bly_status status = kind_row_size(&m, &k, &n, spec, &deletable_row);
    uint64_t bytes = rows_bytes_of(m)
                   + rows_bytes_of(deletable_marks(m, region));
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    rows_plan_row(plan, m, k, n, rows_bytes_of(m));
    plan->geometry[DELETABLE_M] = m;
    plan->geometry[DELETABLE_K] = k;
    plan->geometry[DELETABLE_REGION] = region;
    plan->geometry[DELETABLE_ZERO] = 0;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status deletable_check(const void *image)
{
    uint64_t m = image_geometry(image, DELETABLE_M);
    uint64_t k = image_geometry(image, DELETABLE_K);
    uint64_t region = image_geometry(image, DELETABLE_REGION);
    const uint8_t *row = image_payload(image);

    bool sound = m >= 1 && m <= DELETABLE_M_MAX
              && k >= 1 && k <= DELETABLE_K_MAX
              && region >= 1 && region <= DELETABLE_REGION_MAX
              && image_geometry(image, DELETABLE_ZERO) == 0;
    if (!sound)
        return kind_bad_geometry(image);
    uint64_t marks = deletable_marks(m, region);
    uint64_t bits = rows_bytes_of(m), map = rows_bytes_of(marks);
    if (image_payload_bytes(image) != bits + map)
        return kind_bad_geometry(image);
    if (!bits_clear_from(row, (size_t)bits, m)
        || !bits_clear_from(row + bits, (size_t)map, marks))
        return status_fail(BLY_ECORRUPT, "bits or marks beyond the last are "
                           "set");
    return BLY_OK;
}

/* ---- Contains ---------------------------------------------------------- */

/* The fields of an image that the probes need, read once. */
typedef struct {
    uint8_t *row, *map;
    uint64_t m, region, inverse;        /* of `region`, 0 for 1              */
    uint32_t k;
} deletable_view;

PLATFORM_INLINE deletable_view deletable_look(const void *image)
{
    uint64_t m = image_geometry(image, DELETABLE_M);
    uint64_t region = image_geometry(image, DELETABLE_REGION);
    uint8_t *row = image_payload_mut((void *)(uintptr_t)image);
    return (deletable_view){
        .row = row, .map = row + rows_bytes_of(m), .m = m,
        .region = region,
        .inverse = region == 1 ? 0 : UINT64_MAX / region + 1,
        .k = (uint32_t)image_geometry(image, DELETABLE_K),
    };
}

/* Returns whether all bits of the key are set. */
PLATFORM_INLINE bool deletable_has(const deletable_view *v, uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < v->k; i++) {
        if (!bits_test(v->row, bits_range(state, v->m)))
            return false;
        state *= HASH_STEP;
    }
    return true;
}

static bool deletable_contains(const void *image, uint64_t hash)
{
    deletable_view v = deletable_look(image);
    return deletable_has(&v, hash);
}

/* Returns the walk, whose bits are those of `standard`. */
static walk_plan deletable_walk(const void *image)
{
    return (walk_plan){
        .slice = image_geometry(image, DELETABLE_M), .stride = 0,
        .k = (uint32_t)image_geometry(image, DELETABLE_K),
    };
}

static_assert(sizeof(walk_view) <= KIND_VIEW, "a view has its room");

static kind_contains *deletable_contains_here(const void **subject, void *view)
{
    const void *image = *subject;
    *(walk_view *)view = (walk_view){ deletable_walk(image),
                                      image_payload(image) };
    *subject = view;
    return walk_contains_one;
}

static void deletable_contains_many(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    walk_plan plan = deletable_walk(image);
    walk_contains(&plan, image_payload(image), hashes, n, present);
}

/* ---- Add, remove ------------------------------------------------------- */

/* The mark of a bit: floor(at / region). `inverse` is 2^64 / region rounded up,
 * too large by less than 1; so the quotient is too large by less than
 * at / 2^64 < 2^-16 <= 1 / region, and cannot reach the next whole number. */
PLATFORM_INLINE uint64_t deletable_mark_of(const deletable_view *v,
                                           uint64_t at)
{
    return v->region == 1 ? at : platform_mul_high(at, v->inverse);
}

/* Adds a key. All bits are read before the first is set, so that a bit that the
 * key itself hits twice does not count as shared. Whether a bit was set goes
 * into the map as a number, because a branch would be unpredictable. */
PLATFORM_INLINE bly_status deletable_put(const deletable_view *v,
                                         uint64_t hash)
{
    uint64_t own[DELETABLE_K_MAX], state = hash_spread(hash), met = 0;
    for (uint32_t i = 0; i < v->k; i++) {
        own[i] = bits_range(state, v->m);
        met |= (uint64_t)bits_test(v->row, own[i]) << i;
        state *= HASH_STEP;
    }
    for (uint32_t i = 0; i < v->k; i++) {
        uint64_t mark = deletable_mark_of(v, own[i]);
        bits_set(v->row, own[i]);
        v->map[mark >> 3] |= (uint8_t)((met >> i & 1) << (mark & 7));
    }
    return met == UINT64_MAX >> (64 - v->k) ? BLY_SEEN : BLY_OK;
}

PLATFORM_INLINE bly_status deletable_take(const deletable_view *v,
                                          uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    bool cleared = false;
    if (!deletable_has(v, hash))
        return BLY_EABSENT;
    for (uint32_t i = 0; i < v->k; i++) {
        uint64_t at = bits_range(state, v->m);
        bool alone = !bits_test(v->map, deletable_mark_of(v, at));
        v->row[at >> 3] &= (uint8_t)~((unsigned)alone << (at & 7));
        cleared |= alone;
        state *= HASH_STEP;
    }
    return cleared ? BLY_OK : BLY_EUNSAFE;
}

static bly_status deletable_add(void *image, uint64_t hash)
{
    deletable_view v = deletable_look(image);
    return deletable_put(&v, hash);
}

static bly_status deletable_remove(void *image, uint64_t hash)
{
    deletable_view v = deletable_look(image);
    bly_status status = deletable_take(&v, hash);
    return status == BLY_OK ? status : status_plain(status);
}

/* ---- Batches ----------------------------------------------------------- */

/* The largest number of keys to prefetch ahead: up to 2k lines each. */
enum { DELETABLE_AHEAD = 16 };

PLATFORM_INLINE void deletable_prefetch(const deletable_view *v, uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < v->k; i++) {
        uint64_t at = bits_range(state, v->m);
        platform_prefetch_write(v->row + (at >> 3));
        platform_prefetch_write(v->map + (deletable_mark_of(v, at) >> 3));
        state *= HASH_STEP;
    }
}

/* A batch that runs some keys behind its prefetches. `work` is the
 * statement for hashes[i]. */
#define DELETABLE_ROLL(view, hashes, n, work)                                  \
    do {                                                                       \
        const size_t ahead = cpu_ahead(n, DELETABLE_AHEAD, (view).m / 8);      \
        for (size_t i = 0; i < ahead; i++)                                     \
            deletable_prefetch(&(view), (hashes)[i]);                          \
        for (size_t i = 0; i < (n); i++) {                                     \
            if ((n) - i > ahead)                                               \
                deletable_prefetch(&(view), (hashes)[i + ahead]);              \
            work;                                                              \
        }                                                                      \
    } while (0)

static bly_status deletable_add_many(void *image, const uint64_t *hashes,
                                     size_t n, size_t *done)
{
    deletable_view v = deletable_look(image);
    DELETABLE_ROLL(v, hashes, n, deletable_put(&v, hashes[i]));
    *done = n;
    return BLY_OK;
}

static void deletable_remove_many(void *image, const uint64_t *hashes,
                                  size_t n, bly_status *each)
{
    deletable_view v = deletable_look(image);
    bly_status first = BLY_OK;
    DELETABLE_ROLL(v, hashes, n,
        each[i] = deletable_take(&v, hashes[i]);
        first = first == BLY_OK ? each[i] : first);
    if (first != BLY_OK)
        status_plain(first);
}

/* ---- Sets -------------------------------------------------------------- */

/* A bit of both has been set twice: as if other's keys had been added. */
static bly_status deletable_unite(void *into, const void *other)
{
    deletable_view v = deletable_look(into), o = deletable_look(other);
    TASK_EACH(byte, (v.m + 7) / 8) {
        unsigned both = v.row[byte] & o.row[byte];
        for (unsigned i = 0; both != 0 && i < 8 && 8 * byte + i < v.m; i++)
            if ((both >> i & 1) != 0)
                bits_set(v.map, deletable_mark_of(&v, 8 * byte + i));
    }
    return kind_unite_bits(into, other);
}

/* A mark in either stays. A bit that is set in both and marked in neither was
 * set by one key in each; a key that is in both filters and has it is that
 * one in both, and may clear it. */
static void deletable_intersect(void *into, const void *other)
{
    deletable_view v = deletable_look(into), o = deletable_look(other);
    size_t bits = (size_t)(v.map - v.row);
    bits_and(v.row, o.row, bits);
    bits_or(v.map, o.map, image_payload_bytes(into) - bits);
}

static void deletable_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = deletable_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

/* ---- Look inside ------------------------------------------------------- */

static void deletable_stat(bly_info_t *out, const void *image)
{
    shape s = deletable_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

static const kind_combining deletable_combining = {
    .unite     = deletable_unite,
    .intersect = deletable_intersect,
    .overlap   = deletable_overlap,
};

const bly_kind bly_kind_deletable = {
    .name    = "deletable",
    .family  = "removable",
    .summary = "a Bloom filter that removes keys by their unshared bits",
    .version = DELETABLE_VERSION,
    .options = deletable_options,

    .plan  = deletable_plan,
    .check = deletable_check,
    .stat  = deletable_stat,

    .contains      = deletable_contains,
    .contains_many = deletable_contains_many,
    .contains_here = deletable_contains_here,

    .add         = deletable_add,
    .add_many    = deletable_add_many,
    .remove      = deletable_remove,
    .remove_many = deletable_remove_many,

    .combining = &deletable_combining,
};
