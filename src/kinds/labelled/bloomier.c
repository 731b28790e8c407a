/* bloomier.c - a Bloomier filter: a label for each key.
 *
 * WHAT IT IS
 *
 * A map from keys to labels of v bits, which does not store the keys. It always
 * returns the right label for a key that it was built from. An absent key is
 * reported as absent, except with probability 2^-f, in which case it gets some
 * other label. The keys are fixed when the map is built; their labels may be
 * changed at any time.
 *
 * WHEN TO USE IT
 *
 * Use it to map each key of a fixed set to a small number, such as a shard, a
 * counter or a version. If absent keys are never looked up, a rate of 0.5
 * leaves one bit of fingerprint.
 *
 * WHEN NOT TO
 *
 * - Keys are added later: `approximator` and `spatial`, whose labels may be
 *   too high.
 * - `put` might be called with absent keys: if such a key is a false positive,
 *   the label of another key changes.
 * - No labels are needed: `fuse` is smaller.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %          43.7                4
 *      0.1 %        46.9                4
 *
 * These are for labels of 32 bits, the default, and include them: 1.07 (f + 2 +
 * v) bits, where f is the rate's bits and v the label's. The same four lines
 * tell whether the key is present and what its label is.
 *
 * THE PICTURE (f = 4)
 *
 *                       field      label
 *            fingerprint own
 *      cell s0        |  6   1  |   …   |
 *      cell s1        |  3   2  |  310  |  <- own cell of x: the label of x
 *      cell s2        | 12   0  |   …   |
 *      cell s3        |  2   2  |   …   |
 *                     ----------
 *      XOR              11   1     x's fingerprint is 11: perhaps present,
 *                                  and its own cell is s1
 *
 * IMAGE
 *
 *      geometry 0   different keys
 *      geometry 1   bits 0-31   shards, 1 .. 2^20
 *                   bits 32-39  4, the cells of a key
 *                   bits 40-47  f, bits of a fingerprint, 1 .. 30
 *                   bits 48-55  v, bits of a label, 1 .. 64
 *                   bits 56-63  zero
 *      geometry 2   bits 0-31   L, cells of a segment, 1 .. 2^24
 *                   bits 32-63  c, segments where a key may begin, 1 .. 2^16
 *      geometry 3   bytes of a shard's table
 *      payload      a byte for each shard, its seed, then zeros up to a
 *                   multiple of 64; then the shards' tables of (c + 3) L cells,
 *                   each filled up with zeros to a multiple of 64 bytes. A cell
 *                   has f + 2 + v bits, the lowest first: f of fingerprint,
 *                   2 that name a cell of the key, 0 .. 3, and v of label.
 *                   Cell s begins at bit s (f + 2 + v) of its table; bit i is
 *                   bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) a table has
 *      fewer than 2^32 cells, (3) there are no more keys than cells in all, (4)
 *      geometry 3 is ceil((c + 3) L (f + 2 + v) / 8) rounded up to a multiple
 *      of 64, (5) the payload is as long as its parts.
 *
 *      Shard, seed and cells of a key: src/bodies/peel.h, with d = 4.
 *
 * MATHS
 *
 * The table is a `fuse` filter with four cells per key, whose fingerprints are
 * two bits wider. Peeling gives every key a cell that is no other key's own,
 * and the two bits say which of the four it is. The label is stored there as it
 * is, so it can be changed without affecting any other key's answer. An absent
 * key passes with probability 2^-f, f = ceil(log2(1/p)). Bits per key:
 *
 *      1.07 (f + 2 + v)    from a million keys on; 1.11 for 10^5, 1.20 for 10^4
 *
 * Fixed labels, XORed like the fingerprints, would take 1.07 (f + v), and no
 * map can take fewer than v + log2(1/p).
 *
 * BUILDING
 *
 * The labels are written to each key's own cell after the fields are filled.
 * Their bits are ORed in, so that the order of the keys does not matter, and
 * then read again. A key that was given two different labels finds that at
 * least one of them is gone, and the build reports it. Building needs as much
 * memory as for `fuse`, and that of the labels.
 *
 * PAPERS
 *
 *  [Chazelle 2004]   The Bloomier filter: an efficient data structure for
 *                    static support lookup tables, SODA. The map, and labels
 *                    that can change by naming a key's own cell; there in a
 *                    second table, here beside the fingerprint, on the same
 *                    line.
 *  [Charles 2008]    Bloomier filters: a second look, ESA.
 *  [Graf 2022]       Binary fuse filters: fast and smaller than xor filters,
 *                    ACM JEA 27. The cells.
 */
#include "bodies/fingerprints.h"

#include "base/cpu.h"
#include "base/task.h"
#include "base/threads.h"

enum {
    BLOOMIER_VERSION = 1,
    BLOOMIER_LABEL = 32                 /* bits of a label if not given      */
};

enum { BLOOMIER_OPTION_BITS };

static const kind_option bloomier_options[] = {
    [BLOOMIER_OPTION_BITS] = {
        .name = "bits", .help = "bits of a label",
        .least = 1, .most = FINGERPRINT_LABEL_MAX, .standard = BLOOMIER_LABEL,
    },
    { .name = NULL },
};

/* ---- Plan, check -------------------------------------------------------- */

static bly_status bloomier_plan(bly_plan_t *plan, const kind_spec *spec)
{
    const fingerprint_wish wish = {
        .kind = "bloomier", .coupled = true, .arity = FINGERPRINT_LABEL_ARITY,
        .bits = KIND_CHOOSE,
        .label = (uint32_t)spec->option[BLOOMIER_OPTION_BITS],
    };
    plan->label_bits = wish.label;
    plan->label_most = bits_mask(wish.label);
    return fingerprint_plan(plan, &wish, spec);
}

static bly_status bloomier_check(const void *image)
{
    return fingerprint_check(image, true);
}

/* ---- Labels ------------------------------------------------------------ */

/* Returns whether a label fits. */
static bool bloomier_fits(const fingerprint_view *v, uint64_t label)
{
    return (label & ~bits_mask(v->label)) == 0;
}

PLATFORM_INLINE void bloomier_turn_half(uint8_t *rows, uint64_t bit,
                                        uint32_t bits, uint64_t value)
{
    uint64_t place = fingerprint_place(bit, bits);
    uint8_t *at = rows + (place >> 6);
    image_set_u64(at, 0, image_u64(at, 0)
                         ^ (value & bits_mask(bits)) << (place & 63));
}

/* XOR `value` into the label that begins at `bit`. */
PLATFORM_INLINE void bloomier_turn(const fingerprint_view *v, uint8_t *rows,
                                   uint64_t bit, uint64_t value)
{
    uint32_t low = v->label < FINGERPRINT_HALF ? v->label : FINGERPRINT_HALF;
    bloomier_turn_half(rows, bit, low, value);
    if (v->label > low)
        bloomier_turn_half(rows, bit + low, v->label - low, value >> low);
}

/* The first bit of a key's label: in the cell that its cells name. */
PLATFORM_INLINE uint64_t bloomier_own(const fingerprint_view *v, uint64_t read,
                                      const uint64_t bit[PEEL_ARITY_MAX])
{
    return bit[fingerprint_which(v, read)] + v->field;
}

/* Finds the label of a key that may be there. False: it is absent. */
static bool bloomier_find(const fingerprint_view *v, uint64_t hash,
                          uint64_t *bit)
{
    uint64_t state = hash_mix(hash), bits[PEEL_ARITY_MAX];
    fingerprint_cells(v, FINGERPRINT_LABEL_ARITY, state, bits);
    uint64_t read = fingerprint_read(v, FINGERPRINT_LABEL_ARITY, bits);
    *bit = bloomier_own(v, read, bits);
    return fingerprint_match(v, read, state);
}

static bool bloomier_get(const void *image, uint64_t hash, uint64_t *label)
{
    const fingerprint_view v = fingerprint_look(image);
    uint64_t bit;
    if (!bloomier_find(&v, hash, &bit))
        return false;
    *label = fingerprint_label(&v, bit);
    return true;
}

static void bloomier_get_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *found, uint64_t *labels)
{
    size_t i = fingerprint_get_many(image, hashes, n, found, labels);
    for (; i < n; i++)
        found[i] = bloomier_get(image, hashes[i], &labels[i]);
}

static uint8_t *bloomier_rows(void *image, const fingerprint_view *v)
{
    return image_payload_mut(image) + (v->rows - image_payload(image));
}

static bly_status bloomier_too_wide(const fingerprint_view *v, uint64_t label)
{
    return status_fail(BLY_EPARAM, "label %llu does not fit in the %u bits of "
                       "this filter's labels: use bits=64, or fewer that "
                       "suffice", (unsigned long long)label, v->label);
}

static bly_status bloomier_put(void *image, uint64_t hash, uint64_t label)
{
    const fingerprint_view v = fingerprint_look(image);
    uint64_t bit;
    if (!bloomier_fits(&v, label))
        return bloomier_too_wide(&v, label);
    if (!bloomier_find(&v, hash, &bit))
        return status_plain(BLY_EABSENT);
    bloomier_turn(&v, bloomier_rows(image, &v), bit,
                  fingerprint_label(&v, bit) ^ label);
    return BLY_OK;
}

/* ---- Build ------------------------------------------------------------- */

/* The number of keys whose lines are prefetched together: as many as fit into
 * the first-level cache. */
enum { BLOOMIER_GROUP = 64 };

typedef struct {
    const kind_keys *keys;
    fingerprint_view view;
    uint8_t    *rows;
    bool        differ[PEEL_PARTS];     /* a key with two labels was seen    */
} bloomier_job;

/* Where a key's cells begin. */
typedef struct { uint64_t bit[PEEL_ARITY_MAX]; } bloomier_key;

/* Prefetches the lines of a key to the ends of its cells, because any of them
 * may hold the label. */
PLATFORM_INLINE void bloomier_prefetch(const fingerprint_view *v, uint64_t hash,
                                       bloomier_key *key)
{
    fingerprint_cells(v, FINGERPRINT_LABEL_ARITY, hash_mix(hash), key->bit);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < FINGERPRINT_LABEL_ARITY; j++) {
        platform_prefetch(v->rows + (key->bit[j] >> 3));
        platform_prefetch(v->rows + ((key->bit[j] + v->cell - 1) >> 3));
    }
}

/* The cells of a group of keys. */
typedef struct {
    size_t       key[BLOOMIER_GROUP + 1];
    bloomier_key cells[BLOOMIER_GROUP];
} bloomier_group;

static void bloomier_prefetch_all(const bloomier_job *job, bloomier_group *g,
                                  size_t n)
{
    for (size_t i = 0; i < n; i++)
        bloomier_prefetch(&job->view, job->keys->hashes[g->key[i]],
                          &g->cells[i]);
}

/* Returns where the label of key i of the group is. */
static uint64_t bloomier_at(const bloomier_job *job, const bloomier_group *g,
                            size_t i)
{
    const uint64_t *bit = g->cells[i].bit;
    uint64_t read = fingerprint_read(&job->view, FINGERPRINT_LABEL_ARITY, bit);
    return bloomier_own(&job->view, read, bit);
}

/* The next keys, from *next on, that lie in a shard of this part. */
static size_t bloomier_collect(const bloomier_job *job, bloomier_group *g,
                               size_t *next, unsigned part, unsigned parts)
{
    size_t n = 0, i = *next;
    for (; i < job->keys->n && n < BLOOMIER_GROUP; i++) {
        uint64_t state = hash_mix(job->keys->hashes[i]);
        g->key[n] = i;
        n += peel_shard(&job->view.shape, state) % parts == part;
    }
    *next = i;
    return n;
}

/* Writes the labels of all keys in this part's shards; no two parts write to
 * the same line. Labels are combined by OR, so that the order of two labels of
 * one key does not matter; the check afterwards finds them. */
static void bloomier_write_part(void *context, unsigned part, unsigned parts)
{
    const bloomier_job *job = context;
    const fingerprint_view v = job->view;
    bloomier_group group;
    for (size_t next = 0; next < job->keys->n && !task_step(BLOOMIER_GROUP); ) {
        size_t n = bloomier_collect(job, &group, &next, part, parts);
        bloomier_prefetch_all(job, &group, n);
        for (size_t i = 0; i < n; i++) {
            uint64_t bit = bloomier_at(job, &group, i);
            uint64_t label = job->keys->labels[group.key[i]];
            label &= ~fingerprint_label(&v, bit);
            bloomier_turn(&v, job->rows, bit, label);
        }
    }
}

/* Verifies that every key has the label it came with. */
static void bloomier_prove_part(void *context, unsigned part, unsigned parts)
{
    bloomier_job *job = context;
    const fingerprint_view v = job->view;
    size_t all = job->keys->n, each = all / parts + 1;
    size_t from = part * each < all ? part * each : all;
    size_t to = all - from < each ? all : from + each;
    bloomier_group group;
    bool differ = false;
    for (size_t n; from < to && !task_step(BLOOMIER_GROUP); from += n) {
        n = to - from < BLOOMIER_GROUP ? to - from : BLOOMIER_GROUP;
        for (size_t i = 0; i < n; i++)
            group.key[i] = from + i;
        bloomier_prefetch_all(job, &group, n);
        for (size_t i = 0; i < n; i++)
            differ |= fingerprint_label(&v, bloomier_at(job, &group, i))
                   != job->keys->labels[from + i];
    }
    job->differ[part] = differ;
}

/* The share of a build that writing and verifying the labels takes. */
static const double BLOOMIER_LABELLING = 0.4;

static bly_status bloomier_label(void *image, const kind_keys *keys,
                                 const kind_bench *bench)
{
    bloomier_job job = { .keys = keys, .view = fingerprint_look(image) };
    unsigned parts = bench->threads < PEEL_PARTS ? bench->threads : PEEL_PARTS;
    if (keys->n < PEEL_ALONE || parts < 1)
        parts = 1;
    for (size_t i = 0; i < keys->n; i++)
        if (!bloomier_fits(&job.view, keys->labels[i]))
            return bloomier_too_wide(&job.view, keys->labels[i]);
    job.rows = bloomier_rows(image, &job.view);
    task_phase(BLOOMIER_LABELLING / 2, keys->n);
    threads_run(bloomier_write_part, &job, parts);
    task_phase(BLOOMIER_LABELLING / 2, keys->n);
    threads_run(bloomier_prove_part, &job, parts);
    if (task_cancelled())
        return task_status();
    for (unsigned part = 0; part < parts; part++)
        if (job.differ[part])
            return status_fail(BLY_EPARAM, "a key was given with two different "
                               "labels: give each key one label");
    return BLY_OK;
}

static bly_status bloomier_build(void *image, const kind_keys *keys,
                                 const kind_bench *bench)
{
    task_phase(keys->labels != NULL ? 1 - BLOOMIER_LABELLING : 1, keys->n);
    task_part whole = task_down();
    bly_status status = fingerprint_build(image, keys, bench);
    task_up(whole);
    if (status == BLY_OK && keys->labels != NULL)
        status = bloomier_label(image, keys, bench);
    return status;
}

static void bloomier_stat(bly_info_t *out, const void *image)
{
    fingerprint_stat(out, image);
    out->label_bits = fingerprint_look(image).label;
    out->label_most = bits_mask(out->label_bits);
}

static const kind_building bloomier_building = {
    .build = bloomier_build,
};

static const kind_labels bloomier_labels = {
    .put      = bloomier_put,
    .get      = bloomier_get,
    .get_many = bloomier_get_many,
};

const bly_kind bly_kind_bloomier = {
    .name    = "bloomier",
    .family  = "labelled",
    .summary = "a Bloomier filter: a label for each key of a fixed set",
    .version = BLOOMIER_VERSION,
    .options = bloomier_options,

    .plan  = bloomier_plan,
    .check = bloomier_check,
    .stat  = bloomier_stat,

    .contains      = fingerprint_contains,
    .contains_many = fingerprint_contains_many,
    .contains_here = fingerprint_contains_here,

    .building = &bloomier_building,
    .labels   = &bloomier_labels,
};
