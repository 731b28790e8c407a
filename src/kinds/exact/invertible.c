/* invertible.c - the invertible Bloom lookup table: keys that can be listed.
 *
 * WHAT IT IS
 *
 * A table of cells. Each cell holds the number of the keys that fall into it
 * and the XOR of their hashes. Any number of keys may be added to a table of
 * any size. Two tables can be subtracted cell by cell: keys in both cancel, and
 * the difference of the two sets is left. If that is no larger than the table
 * was planned for, all of it can be listed.
 *
 * WHEN TO USE IT
 *
 * Use it to find the keys in which two large sets differ, if the difference is
 * small and its size is roughly known. Two machines that hold nearly the same
 * million keys can find ten differences by sending 608 bytes: `bloomery sketch`
 * and `bloomery diff` do this.
 *
 * WHEN NOT TO
 *
 * - The difference is as large as the sets, or its size is unknown: send a
 *   filter of one side (`standard`, 10 bits per key). The other side finds all
 *   but 1 % of the keys that the first lacks. `bloomery diff` does this too.
 * - The filter is only queried: its rate is 4 % to 34 %, whatever you request.
 *   Any other kind is better.
 * - Keys may be added twice: a repeat counts twice, but its hash cancels, so
 *   it cannot be listed. `bloomery sketch -d` drops repeats; `build` and `add`
 *   do not.
 *
 * COST
 *
 *      keys that differ    bytes of the table
 *      10                        608
 *      1000                   21 968
 *      100 000             1 977 344
 *
 * An add, a lookup or a removal touches k cells, 3 to 5, each in its own cache
 * line.
 *
 * THE PICTURE (m = 9 cells, k = 3 sub-tables, keys x, y and z)
 *
 *            0      1      2   |  3      4      5   |  6      7      8
 *      | x^y  2 |   0  | z  1  | y 1 |   0  | x^z 2 | z 1 | x^y 2 |  0   |
 *
 *      Cell 2 has one key, z. Taken out of cells 2, 5 and 6, it leaves x alone
 *      in 5. Taken out of 0, 5 and 7, x leaves y. Then the table is empty, and
 *      all keys are listed. A key with cells {1, 5, 7} is certainly absent,
 *      because 1 is empty; so is one with {2, 5, 7}, because 2 has only z. One
 *      with {0, 5, 7} would be a false positive.
 *
 * IMAGE
 *
 *      geometry 0   w, cells of a sub-table, 1 .. 2^48
 *      geometry 1   k, sub-tables, 1 .. 8
 *      geometry 2   b, bytes of a key at most, 0 .. 255; 0: only hashes
 *      geometry 3   zero
 *      payload      k w cells of 16 bytes, or if b > 0 of 16 + 8 ceil((b+1)/8):
 *
 *       0  4  count of the keys, those subtracted taken off: two's complement
 *       4  4  exclusive-or of their checks
 *       8  8  exclusive-or of their hashes
 *      16  1  exclusive-or of their lengths                     (only if b > 0)
 *      17     exclusive-or of their bytes, each key padded with zeros; and
 *             zeros up to the end of the cell                   (only if b > 0)
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has the bytes of these cells.
 *
 *      With word(i) = mix(hash + i g) as in index scheme `seeds` of kind
 *      `standard`, a key has the cell j w + fastrange(word(j + 1), w) for
 *      0 <= j < k, and its check is the high half of word(0).
 *
 * MATHS
 *
 * A cell is pure if its count is 1 or -1, its check is that of its hash, and
 * the hash has a cell here. One of several keys appears so with probability
 * 2^-32 / w. Listing removes the key of a pure cell from its other cells, which
 * makes more of them pure, until none is left. This is the peeling of a random
 * k-partite hypergraph. For many keys it succeeds with more than 1.222 (k = 3),
 * 1.295 (4) or 1.425 (5) cells per key. Few keys need more, mainly because two
 * of them may share all of their cells, C(d, 2) / w^k. The plan takes:
 *
 *      d keys         k    cells                cells per key
 *      up to 40       5    1.4 d + 16           3.5 for 10                 (1)
 *      up to 999      4    1.34 d + 24          1.6 for 100
 *      more           3    1.235 d + 75         1.31 for 1000, 1.24 for 10^4
 *
 * rounded up to whole sub-tables. tests/kinds/invertible.c measures how often d
 * keys then cannot be listed:
 *
 *      d keys     1    2     5    10    20    40    41   100   300
 *      cells     20   20    25    30    45    75    80   160   428
 *      failed  0 %  0.09  0.40  0.67  0.35  0.26  0.46  0.28  0.20
 *
 *      d keys     999   1000   3000   10000   100000
 *      cells     1364   1365   3783   12426   123576
 *      failed  0.20 %   0.55   0.60    0.33   0 of 20
 *
 * An absent key is found if none of its cells is empty or pure. With d keys in
 * the table the probability is
 *
 *      f = (1 - (1 - 1/w)^d - (d/w) (1 - 1/w)^(d-1))^k                     (2)
 *
 * which is 4 % for a table of 10 keys as planned, 26 % for 100 and 34 % for 100
 * 000. The table is made for listing, and the requested rate is ignored. Keys
 * that are added and removed again leave no trace.
 *
 * HOW MANY KEYS DIFFER
 *
 * Overfull tables cannot be listed but show how many keys are in them. With s
 * the sum of the counts of a sub-table (the same in each) and q the sum of the
 * squares of all counts,
 *
 *      D = (q - k s^2/w) / (k (1 - 1/w)),     sd = D sqrt(2/(k w))         (3)
 *
 * since a key adds 1 to q in each of its cells, and two keys that meet add 2 or
 * -2, which s^2 takes off again. It holds for any number of keys. While one
 * cell in 24 or more is empty, the empty cells give a smaller error, as in kind
 * `partitioned`, and also if keys were added twice.
 *
 * REPEATS
 *
 * A table represents a set. Keys that were added twice on both sides may be
 * lost by a subtraction.
 *
 * LIMITS
 *
 * Counts end at 2^31 - 1: an add that would go beyond is refused (BLY_EFULL),
 * after some 10^9 keys in the smallest table. Listing takes memory of 25/16 of
 * the payload, and time in proportion.
 *
 * SIZES
 *
 * To find how two sets of a million keys of 56 bytes differ, these bytes are
 * sent (tools/bench/sketch; all differences were found):
 *
 *      keys that differ             10        1000       100 000
 *      sketch, of hashes           608      21 968     1 977 344
 *      sketch, of whole keys     2 528     109 328     9 886 208
 *      a filter, 1 %         1 199 248   1 199 248     1 199 248
 *      the hashes of all     8 000 000   8 000 000     8 000 000
 *      the keys             56 000 000  56 000 000    56 000 000
 *
 * PAPERS
 *
 *  [Goodrich 2011]   Goodrich and Mitzenmacher, Invertible Bloom lookup tables,
 *                    Allerton. The table.
 *  [Eppstein 2011]   What's the difference? Efficient set reconciliation
 *                    without prior context, SIGCOMM. Subtraction, the check.
 *  [Agarwal 2006]    Approximating the number of differences between remote
 *                    sets, IEEE ITW. On counting filters for (3), whose form
 *                    for sub-tables is ours.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/sizes.h"
#include "base/task.h"
#include "bits/index.h"
#include "maths/maths.h"
#include "maths/shape.h"

enum {
    INVERTIBLE_VERSION = 1,
    INVERTIBLE_W = 0, INVERTIBLE_K = 1, INVERTIBLE_KEY = 2, INVERTIBLE_ZERO = 3,

    INVERTIBLE_K_MAX = 8,
    INVERTIBLE_CHECK = 4, INVERTIBLE_HASH = 8, INVERTIBLE_LENGTH = 16,
    INVERTIBLE_BYTES = 17,              /* in a cell                         */
    INVERTIBLE_AHEAD = 16               /* keys whose cells are on their way */
};

#define INVERTIBLE_W_MAX (UINT64_C(1) << 48)

enum { INVERTIBLE_OPTION_M, INVERTIBLE_OPTION_K, INVERTIBLE_OPTION_KEY };

static const kind_option invertible_options[] = {
    [INVERTIBLE_OPTION_M] = {
        .name = "m", .help = "number of cells, instead of a capacity",
        .least = 1, .most = INVERTIBLE_W_MAX, .standard = KIND_CHOOSE,
    },
    [INVERTIBLE_OPTION_K] = {
        .name = "k", .help = "cells of a key, with m",
        .least = 1, .most = INVERTIBLE_K_MAX, .standard = KIND_CHOOSE,
    },
    [INVERTIBLE_OPTION_KEY] = {
        .name = "key", .help = "bytes of the longest key, to list keys whole; "
                               "0: list their hashes",
        .least = 0, .most = UINT8_MAX, .standard = 0,
    },
    { .name = NULL },
};

/* ---- Cells ------------------------------------------------------------- */

/* A table: cells of `stride` bytes, a multiple of 8. */
typedef struct {
    uint8_t *cells;
    uint64_t w;
    uint32_t k;
    size_t   key, stride;
} invertible;

static size_t invertible_stride(uint64_t key)
{
    return INVERTIBLE_LENGTH + (key == 0 ? 0 : (size_t)(key + 8) / 8 * 8);
}

/* The table of an image; who has it const does not write to it. */
PLATFORM_INLINE invertible invertible_of(const void *image)
{
    uint64_t key = image_geometry(image, INVERTIBLE_KEY);
    return (invertible){
        .cells = (uint8_t *)(uintptr_t)image_payload(image),
        .w = image_geometry(image, INVERTIBLE_W),
        .k = (uint32_t)image_geometry(image, INVERTIBLE_K),
        .key = (size_t)key, .stride = invertible_stride(key),
    };
}

static uint64_t invertible_cells(const invertible *t)
{
    return t->w * t->k;
}

PLATFORM_INLINE uint8_t *invertible_cell(const invertible *t, uint64_t at)
{
    return t->cells + at * t->stride;
}

PLATFORM_INLINE int64_t invertible_count(const uint8_t *cell)
{
    uint32_t v = image_u32(cell, 0);
    return (int64_t)v - (v > INT32_MAX ? (int64_t)1 << 32 : 0);
}

PLATFORM_INLINE void invertible_set_count(uint8_t *cell, int64_t count)
{
    image_set_u32(cell, 0, (uint32_t)count);
}

PLATFORM_INLINE uint32_t invertible_check_of(uint64_t hash)
{
    return (uint32_t)(index_word(hash, 0) >> 32);
}

/* The key's cell in sub-table j. */
PLATFORM_INLINE uint64_t invertible_at(const invertible *t, uint64_t hash,
                                       uint32_t j)
{
    return j * t->w + bits_range(index_word(hash, j + 1), t->w);
}

static bool invertible_empty(const invertible *t, const uint8_t *cell)
{
    for (size_t i = 0; i < t->stride; i += 8)
        if (image_u64(cell, i) != 0)
            return false;
    return true;
}

/* Returns whether this cell of sub-table j holds a single key. */
PLATFORM_INLINE bool invertible_pure(const invertible *t, uint64_t at,
                                     uint32_t j)
{
    const uint8_t *cell = invertible_cell(t, at);
    int64_t count = invertible_count(cell);
    uint64_t hash = image_u64(cell, INVERTIBLE_HASH);
    return (count == 1 || count == -1)
        && image_u32(cell, INVERTIBLE_CHECK) == invertible_check_of(hash)
        && invertible_at(t, hash, j) == at;
}

/* Returns whether this cell of sub-table j may hold a key. */
PLATFORM_INLINE bool invertible_lets(const invertible *t, uint64_t at,
                                     uint32_t j, uint64_t hash)
{
    const uint8_t *cell = invertible_cell(t, at);
    if (image_u64(cell, 0) == 0 && image_u64(cell, INVERTIBLE_HASH) == 0)
        return false;
    return image_u64(cell, INVERTIBLE_HASH) == hash
        || !invertible_pure(t, at, j);
}

/* cell ^= other, all but the count, which becomes another. */
static void invertible_mix(const invertible *t, uint8_t *cell,
                           const uint8_t *other, int64_t count)
{
    for (size_t i = 0; i < t->stride; i += 8)
        image_set_u64(cell, i, image_u64(cell, i) ^ image_u64(other, i));
    invertible_set_count(cell, count);
}

/* A key on its way: its cells, and a cell with nothing but it. */
typedef struct {
    uint64_t hash, at[INVERTIBLE_K_MAX];
    uint8_t  cell[INVERTIBLE_LENGTH + UINT8_MAX + 1];
} invertible_key;

PLATFORM_INLINE void invertible_find(const invertible *t, invertible_key *key,
                                     uint64_t hash)
{
    key->hash = hash;
    image_set_u32(key->cell, 0, 0);
    image_set_u32(key->cell, INVERTIBLE_CHECK, invertible_check_of(hash));
    image_set_u64(key->cell, INVERTIBLE_HASH, hash);
    for (uint32_t j = 0; j < t->k; j++)
        key->at[j] = invertible_at(t, hash, j);
}

/* The bytes of a key of t->key bytes at most. */
static void invertible_fill(const invertible *t, invertible_key *key,
                            const void *bytes, size_t length)
{
    memset(key->cell + INVERTIBLE_LENGTH, 0, t->stride - INVERTIBLE_LENGTH);
    key->cell[INVERTIBLE_LENGTH] = (uint8_t)length;
    if (length > 0)
        memcpy(key->cell + INVERTIBLE_BYTES, bytes, length);
}

static bool invertible_there(const invertible *t, const invertible_key *key)
{
    for (uint32_t j = 0; j < t->k; j++)
        if (!invertible_lets(t, key->at[j], j, key->hash))
            return false;
    return true;
}

/* Once more or, by -1, less. False: a count would leave its range. */
static bool invertible_change(const invertible *t, const invertible_key *key,
                              int by)
{
    for (uint32_t j = 0; j < t->k; j++) {
        int64_t count = invertible_count(invertible_cell(t, key->at[j])) + by;
        if (count > INT32_MAX || count < -INT32_MAX)
            return false;
    }
    for (uint32_t j = 0; j < t->k; j++) {
        uint8_t *cell = invertible_cell(t, key->at[j]);
        invertible_mix(t, cell, key->cell, invertible_count(cell) + by);
    }
    return true;
}

/* ---- Plan -------------------------------------------------------------- */

/* (1): the sub-tables for so many keys, and their cells. */
static uint64_t invertible_rule(uint32_t *k, uint64_t keys)
{
    double d = (double)keys;
    double cells = keys <= 40 ? 1.4 * d + 16
                 : keys < 1000 ? 1.34 * d + 24
                 : fmax(1.235 * d + 75, 1.34 * 1000 + 24);
    *k = keys <= 40 ? 5 : keys < 1000 ? 4 : 3;
    return (uint64_t)ceil(cells / *k);
}

/* The most keys for which (1) wants no more than m cells, but at least 1. */
static uint64_t invertible_capacity(uint64_t m)
{
    uint64_t keys = 1;
    uint32_t k;
    for (uint64_t step = INVERTIBLE_W_MAX; step > 0; step /= 2)
        if (invertible_rule(&k, keys + step) * k <= m)
            keys += step;
    return keys;
}

/* w, k and the keys to be listed, from the options and the capacity. */
static bly_status invertible_size(uint64_t *w, uint32_t *k, uint64_t *keys,
                                  const kind_spec *spec)
{
    uint64_t m = spec->option[INVERTIBLE_OPTION_M];
    uint64_t probes = spec->option[INVERTIBLE_OPTION_K];
    *keys = spec->capacity;
    if (m == KIND_CHOOSE && probes != KIND_CHOOSE)
        return status_fail(BLY_EPARAM, "k= alone would make a table that "
                           "cannot be listed as planned: give m= as well, or "
                           "neither");
    if (m == KIND_CHOOSE && *keys == 0)
        return kind_no_capacity();
    if (m == KIND_CHOOSE && *keys > INVERTIBLE_W_MAX)
        return kind_too_big(spec, "2^48 cells");
    if (*keys == 0)
        *keys = invertible_capacity(m);
    if (m == KIND_CHOOSE || probes == KIND_CHOOSE)
        *w = invertible_rule(k, *keys);
    if (probes != KIND_CHOOSE)
        *k = (uint32_t)probes;
    if (m != KIND_CHOOSE)
        *w = (m + *k - 1) / *k;
    return BLY_OK;
}

/* The share of cells with two of d keys or more, and its variance from table
 * to table: that of independent cells, less what a fixed d takes away. */
static double invertible_crowded(double *variance, double w, double d)
{
    double load = d / w, other = log1p(-1 / w);
    double share = w == 1 ? d > 1
                 : -expm1(d * other) - load * exp((d - 1) * other);
    share = fmax(share, 0);
    *variance = fmax(share * (1 - share)
                     - load * load * load * exp(-2 * load), 0) / w;
    return share;
}

static bly_status invertible_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t w = 0, keys = 0, bytes = 0;
    uint32_t k = 1;
    uint64_t key = spec->option[INVERTIBLE_OPTION_KEY];
    size_t stride = invertible_stride(key);
    bly_status status = invertible_size(&w, &k, &keys, spec);
    if (status == BLY_OK && (w > INVERTIBLE_W_MAX
                             || !sizes_mul(&bytes, w * k, stride)))
        status = kind_too_big(spec, "2^48 cells");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    double variance, share = invertible_crowded(&variance, (double)w,
                                                (double)keys);
    plan->capacity = keys;
    plan->rate = pow(share, k);
    plan->rate_sd = sqrt(fmax(pow(share * share + variance, k)
                              - plan->rate * plan->rate, 0));
    plan->fill = -expm1((double)keys * log1p(-1 / (double)w));
    plan->probes = k;
    plan->lines_present = stride % 16 == 0 ? k : 2 * k;
    plan->lines_absent = math_absent_probes(share, k);
    plan->geometry[INVERTIBLE_W] = w;
    plan->geometry[INVERTIBLE_K] = k;
    plan->geometry[INVERTIBLE_KEY] = key;
    plan->geometry[INVERTIBLE_ZERO] = 0;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status invertible_check(const void *image)
{
    uint64_t w = image_geometry(image, INVERTIBLE_W), wanted = 0;
    uint64_t k = image_geometry(image, INVERTIBLE_K);
    uint64_t key = image_geometry(image, INVERTIBLE_KEY);
    bool sound = w >= 1 && w <= INVERTIBLE_W_MAX
              && k >= 1 && k <= INVERTIBLE_K_MAX && key <= UINT8_MAX
              && image_geometry(image, INVERTIBLE_ZERO) == 0
              && sizes_mul(&wanted, w * k, invertible_stride(key))
              && image_payload_bytes(image) == wanted;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains, add, remove --------------------------------------------- */

static bool invertible_contains(const void *image, uint64_t hash)
{
    invertible t = invertible_of(image);
    for (uint32_t j = 0; j < t.k; j++)
        if (!invertible_lets(&t, invertible_at(&t, hash, j), j, hash))
            return false;
    return true;
}

/* The next keys of a batch, and their cells on their way; how many. */
static size_t invertible_ahead(const invertible *t, invertible_key *keys,
                               const uint64_t *hashes, size_t n)
{
    n = cpu_ahead(n, INVERTIBLE_AHEAD, t->k * t->w * t->stride);
    for (size_t i = 0; i < n; i++) {
        invertible_find(t, &keys[i], hashes[i]);
        for (uint32_t j = 0; j < t->k; j++)
            platform_prefetch(invertible_cell(t, keys[i].at[j]));
    }
    return n;
}

static void invertible_contains_many(const void *image, const uint64_t *hashes,
                                     size_t n, bool *present)
{
    invertible t = invertible_of(image);
    invertible_key keys[INVERTIBLE_AHEAD];
    for (size_t i = 0, some; i < n; i += some) {
        some = invertible_ahead(&t, keys, hashes + i, n - i);
        for (size_t j = 0; j < some; j++)
            present[i + j] = invertible_there(&t, &keys[j]);
    }
}

static bly_status invertible_add_found(const invertible *t,
                                       const invertible_key *key)
{
    bool seen = invertible_there(t, key);
    if (!invertible_change(t, key, 1))
        return status_fail(BLY_EFULL, "a cell has counted 2^31 - 1 keys: "
                           "divide the keys among several filters");
    return seen ? BLY_SEEN : BLY_OK;
}

static bly_status invertible_remove_found(const invertible *t,
                                          const invertible_key *key)
{
    return invertible_there(t, key) && invertible_change(t, key, -1)
         ? BLY_OK : BLY_EABSENT;
}

static bly_status invertible_needs_key(const invertible *t)
{
    return status_fail(BLY_EUNSUPPORTED, "a filter that stores whole keys of "
                       "at most %zu bytes takes keys, not hashes: give the "
                       "keys, or make it with key=0", t->key);
}

static bly_status invertible_add(void *image, uint64_t hash)
{
    invertible t = invertible_of(image);
    invertible_key key;
    if (t.key > 0)
        return invertible_needs_key(&t);
    invertible_find(&t, &key, hash);
    return invertible_add_found(&t, &key);
}

static bly_status invertible_add_many(void *image, const uint64_t *hashes,
                                      size_t n, size_t *done)
{
    invertible t = invertible_of(image);
    invertible_key keys[INVERTIBLE_AHEAD];
    *done = 0;
    if (t.key > 0)
        return invertible_needs_key(&t);
    while (*done < n) {
        size_t some = invertible_ahead(&t, keys, hashes + *done, n - *done);
        for (size_t j = 0; j < some; j++, ++*done) {
            bly_status status = invertible_add_found(&t, &keys[j]);
            if (status < 0)
                return status;
        }
    }
    return BLY_OK;
}

static bly_status invertible_remove(void *image, uint64_t hash)
{
    invertible t = invertible_of(image);
    invertible_key key;
    if (t.key > 0)
        return invertible_needs_key(&t);
    invertible_find(&t, &key, hash);
    return invertible_remove_found(&t, &key);
}

static bly_status invertible_add_key(void *image, uint64_t hash,
                                     const void *bytes, size_t length)
{
    invertible t = invertible_of(image);
    invertible_key key;
    if (t.key == 0)
        return invertible_add(image, hash);
    if (length > t.key)
        return status_fail(BLY_EPARAM, "a key of %zu bytes is too long for "
                           "this filter: make it with key=%zu (at most 255), "
                           "or "
                           "with key=0 for hashes alone", length, length);
    invertible_find(&t, &key, hash);
    invertible_fill(&t, &key, bytes, length);
    return invertible_add_found(&t, &key);
}

static bly_status invertible_remove_key(void *image, uint64_t hash,
                                        const void *bytes, size_t length)
{
    invertible t = invertible_of(image);
    invertible_key key;
    if (t.key == 0)
        return invertible_remove(image, hash);
    if (length > t.key)
        return BLY_EABSENT;
    invertible_find(&t, &key, hash);
    invertible_fill(&t, &key, bytes, length);
    return invertible_remove_found(&t, &key);
}

/* ---- Sets -------------------------------------------------------------- */

static bly_status invertible_combine(void *into, const void *other, int by)
{
    invertible a = invertible_of(into), b = invertible_of(other);
    TASK_EACH(i, invertible_cells(&a)) {
        int64_t count = invertible_count(invertible_cell(&a, i))
                      + by * invertible_count(invertible_cell(&b, i));
        if (count > INT32_MAX || count < -INT32_MAX)
            return status_fail(BLY_EFULL, "a cell would count more than "
                               "2^31 - 1 keys: combine fewer filters");
    }
    if (task_cancelled())
        return task_status();
    TASK_EACH(i, invertible_cells(&a)) {
        uint8_t *cell = invertible_cell(&a, i);
        const uint8_t *taken = invertible_cell(&b, i);
        invertible_mix(&a, cell, taken, invertible_count(cell)
                                        + by * invertible_count(taken));
    }
    return BLY_OK;
}

static bly_status invertible_unite(void *into, const void *other)
{
    return invertible_combine(into, other, 1);
}

static bly_status invertible_subtract(void *into, const void *other)
{
    return invertible_combine(into, other, -1);
}

/* ---- Look inside ------------------------------------------------------- */

/* Statistics of the cells: how many are empty, the sums of (3), and the chance
 * that all of them let a stranger pass. */
typedef struct {
    uint64_t empty;
    double   sum, squares, rate;        /* sum: of one sub-table             */
} invertible_view;

static void invertible_look_row(invertible_view *view, const invertible *t,
                                uint32_t j)
{
    uint64_t lets = 0;
    TASK_SPAN(i, 0, t->w) {
        const uint8_t *cell = invertible_cell(t, j * t->w + i);
        double count = (double)invertible_count(cell);
        bool none = image_u64(cell, 0) == 0
                 && image_u64(cell, INVERTIBLE_HASH) == 0;
        view->empty += none;
        view->sum += count / t->k;
        view->squares += count * count;
        lets += !none && !invertible_pure(t, j * t->w + i, j);
    }
    view->rate *= (double)lets / (double)t->w;
}

static invertible_view invertible_look(const invertible *t)
{
    invertible_view view = { .rate = 1 };
    for (uint32_t j = 0; j < t->k; j++)
        invertible_look_row(&view, t, j);
    return view;
}

/* (3), or from the empty cells. It cannot be less than the one set is larger
 * than the other. */
static shape_estimate invertible_keys(const invertible *t,
                                      const invertible_view *view)
{
    double w = (double)t->w, k = t->k, more = fabs(view->sum);
    uint64_t cells = invertible_cells(t);
    shape s = { .blocks = 1, .lanes = t->k, .bits = t->w, .probes = 1 };
    if (t->w == 1)
        return (shape_estimate){ more, more };
    if (view->empty >= cells / 24 + 1)
        return shape_keys(&s, (double)(cells - view->empty));
    double squares = view->squares - k * view->sum * view->sum / w;
    double keys = fmax(squares / (k * (1 - 1 / w)), more);
    return (shape_estimate){ keys, keys * sqrt(2 / (k * w)) };
}

static void invertible_stat(bly_info_t *out, const void *image)
{
    invertible t = invertible_of(image);
    invertible_view view = invertible_look(&t);
    shape_estimate keys = invertible_keys(&t, &view);
    out->distinct = keys.value;
    out->distinct_sd = keys.sd;
    out->fill = 1 - (double)view.empty / (double)invertible_cells(&t);
    out->rate = view.rate;
    out->probes = t.k;
}

/* ---- List -------------------------------------------------------------- */

/* A copy of the table that is peeled. A cell whose key has been taken out of
 * its other cells is done, and keeps it. */
typedef struct {
    invertible     t;
    const kind_hasher *hasher;
    uint64_t      *stack;               /* cells to look at                  */
    uint64_t       top;
    uint8_t       *mark;                /* of each cell                      */
} invertible_peel;

enum { INVERTIBLE_IDLE, INVERTIBLE_STACKED, INVERTIBLE_DONE };

static uint64_t invertible_list_scratch(const void *image)
{
    invertible t = invertible_of(image);
    uint64_t cells = invertible_cells(&t), bytes = 0;
    return sizes_mul(&bytes, cells, t.stride + sizeof(uint64_t) + 1)
         ? bytes : UINT64_MAX;
}

/* Returns whether this is a single key and, if keys are kept, one with this
 * hash. */
static bool invertible_ready(const invertible_peel *p, uint64_t at)
{
    const invertible *t = &p->t;
    const uint8_t *cell = invertible_cell(t, at);
    if (!invertible_pure(t, at, (uint32_t)(at / t->w)))
        return false;
    if (t->key == 0)
        return true;
    size_t length = cell[INVERTIBLE_LENGTH];
    return length <= t->key
        && bits_clear_from(cell, t->stride, 8 * (INVERTIBLE_BYTES + length))
        && p->hasher->function(cell + INVERTIBLE_BYTES, length, p->hasher->seed)
           == image_u64(cell, INVERTIBLE_HASH);
}

static void invertible_push(invertible_peel *p, uint64_t at)
{
    if (p->mark[at] != INVERTIBLE_IDLE)
        return;
    p->mark[at] = INVERTIBLE_STACKED;
    p->stack[p->top++] = at;
}

/* Removes the key of a cell from its other cells. Returns false if one of them
 * was done with another key, so that one of the two was never added. */
static bool invertible_take(invertible_peel *p, uint64_t from)
{
    const invertible *t = &p->t;
    const uint8_t *key = invertible_cell(t, from);
    uint64_t hash = image_u64(key, INVERTIBLE_HASH);
    p->mark[from] = INVERTIBLE_DONE;
    for (uint32_t j = 0; j < t->k; j++) {
        uint64_t at = invertible_at(t, hash, j);
        uint8_t *cell = invertible_cell(t, at);
        int64_t count = invertible_count(cell) - invertible_count(key);
        if (at == from)
            continue;
        if (p->mark[at] == INVERTIBLE_DONE)
            return false;
        invertible_mix(t, cell, key, count);
        if (count == 1 || count == -1)
            invertible_push(p, at);
    }
    return true;
}

/* Each cell is done once, and stacked once for each of its keys that is taken:
 * it ends, whatever the cells hold. */
static bool invertible_peel_all(invertible_peel *p)
{
    uint64_t cells = invertible_cells(&p->t);
    uint64_t turn = 0;
    for (uint64_t i = 0; i < cells; i++)
        invertible_push(p, cells - 1 - i);
    while (p->top > 0 && (turn++ % TASK_KEYS != 0 || !task_step(TASK_KEYS))) {
        uint64_t at = p->stack[--p->top];
        p->mark[at] = INVERTIBLE_IDLE;
        if (invertible_ready(p, at) && !invertible_take(p, at))
            return false;
    }
    for (uint64_t i = 0; i < cells; i++)
        if (p->mark[i] != INVERTIBLE_DONE
            && !invertible_empty(&p->t, invertible_cell(&p->t, i)))
            return false;
    return true;
}

/* Reports how many keys there are, and the capacity to plan for: two deviations
 * more or, after bad luck, twice as many as last time. */
static bly_status invertible_crowd(const void *image)
{
    invertible t = invertible_of(image);
    invertible_view view = invertible_look(&t);
    shape_estimate keys = invertible_keys(&t, &view);
    double capacity = (double)image_u64(image, IMAGE_CAPACITY);
    double enough = ceil(keys.value + 2 * keys.sd);
    if (enough <= capacity)
        enough = 2 * capacity;
    return status_fail(BLY_EFULL, "about %.0f %s in it, too many for a filter "
                       "planned for %.0f: make it for %.0f", keys.value,
                       keys.value < 1.5 ? "key differs or is"
                                                    : "keys differ or are",
                       capacity, enough);
}

static bly_status invertible_list(const void *image, void *scratch,
                                  const kind_hasher *hasher,
                                  bly_visit_key *visit, void *context)
{
    invertible_peel p = { .t = invertible_of(image), .hasher = hasher };
    uint64_t cells = invertible_cells(&p.t);
    size_t bytes = image_payload_bytes(image);
    memcpy(scratch, p.t.cells, bytes);
    p.t.cells = scratch;
    p.stack = (void *)(p.t.cells + bytes);
    p.mark = p.t.cells + bytes + cells * sizeof *p.stack;
    memset(p.mark, INVERTIBLE_IDLE, (size_t)cells);
    bool listed = invertible_peel_all(&p);
    if (task_cancelled())
        return task_status();
    if (!listed)
        return invertible_crowd(image);

    bool more = true;
    for (uint64_t i = 0; i < cells && more; i++) {
        const uint8_t *cell = invertible_cell(&p.t, i);
        if (p.mark[i] != INVERTIBLE_DONE)
            continue;
        bly_listed one = { .hash = image_u64(cell, INVERTIBLE_HASH),
                           .side = (int)invertible_count(cell) };
        if (p.t.key > 0) {
            one.key = cell + INVERTIBLE_BYTES;
            one.length = cell[INVERTIBLE_LENGTH];
        }
        more = visit(context, &one);
    }
    return BLY_OK;
}

static const kind_whole invertible_whole = {
    .add    = invertible_add_key,
    .remove = invertible_remove_key,
};

static const kind_combining invertible_combining = {
    .unite    = invertible_unite,
    .subtract = invertible_subtract,
};

static const kind_listing invertible_listing = {
    .keys         = invertible_list,
    .keys_scratch = invertible_list_scratch,
};

const bly_kind bly_kind_invertible = {
    .name    = "invertible",
    .family  = "exact",
    .summary = "an invertible lookup table: lists how two sets differ",
    .version = INVERTIBLE_VERSION,
    .options = invertible_options,

    .plan  = invertible_plan,
    .check = invertible_check,
    .stat  = invertible_stat,

    .contains      = invertible_contains,
    .contains_many = invertible_contains_many,

    .add      = invertible_add,
    .add_many = invertible_add_many,
    .remove   = invertible_remove,

    .whole     = &invertible_whole,
    .combining = &invertible_combining,
    .listing   = &invertible_listing,
};
