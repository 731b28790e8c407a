/* cuckoo.c - removable fingerprints, each in one of two possible buckets.
 *
 * WHAT IT IS
 *
 * A hash table of fingerprints. A key has a fingerprint of f bits and two
 * buckets of four slots, and its fingerprint is stored in one of these eight
 * slots. If all eight are taken, one of the fingerprints in them moves to its
 * own other bucket, which may displace another, and so on. The other bucket
 * follows from the bucket and the fingerprint alone, so a fingerprint can move
 * without its key. Removing a key clears one slot that holds its fingerprint.
 *
 * WHEN TO USE IT
 *
 * Use it for keys that are added once and removed later, when lookups must be
 * fast and the rate low. It takes a third of the memory of `counting` at 1 %.
 * At 0.1 % it is also smaller than `standard`, with the option `sorted` even at
 * 1 %. It can grow without the keys.
 *
 * WHEN NOT TO
 *
 * - Keys repeat: a key has room for eight copies, and `add` refuses the ninth.
 *   `quotient` and `counting` count repeats.
 * - Filters must be united or compared: `quotient` can do both.
 * - An add must never be refused: this kind reports "full" shortly beyond its
 *   capacity; `counting` does not.
 * - Keys that were never added might be removed: that can remove another key,
 *   here as in every kind that removes.
 *
 * COST
 *
 *      rate     bits per key    with `sorted`    cache lines per lookup
 *      1 %          10.6              9.5               2.1
 *      0.1 %        13.7             12.7               2.2
 *
 * THE PICTURE (a key x with fingerprint 7 and buckets 1 and 4)
 *
 *      bucket       0         1         2         3         4         5
 *              | 3 . . . | 5 9 2 8 | 6 . . . | 1 4 . . | 7 2 . . | . . . . |
 *                            ^                           ^
 *      x --------------------+---------------------------+
 *
 *      An absent key with buckets 1 and 4 and fingerprint 7 is a false
 *      positive, and so is one with fingerprint 5 and buckets 1 and 2.
 *
 * IMAGE
 *
 *      geometry 0   buckets, even, 2 .. 2^48
 *      geometry 1   f, bits of a fingerprint, 6 .. 32
 *      geometry 2   1 with sorted quads, else 0
 *      geometry 3   quads of a bucket, 1 .. 64: 1 in a filter not yet grown
 *      payload      the quads of bucket 0, those of bucket 1, …, each 4f bits,
 *                   4f - 4 if sorted, without gaps, bits numbered as in
 *                   bits/bits.h; then zeros up to the next byte; then 16 bytes
 *                   of zeros, so that any quad can be read as 16 bytes
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has that size.
 *
 * A plain quad is four fingerprints of f bits; 0 marks a free slot. A sorted
 * quad stores the four in rising order: 12 bits for the multiset of their
 * highest four bits, one of 3876, then the f - 4 low bits of each. That saves
 * one bit per fingerprint. The multisets are numbered in lexicographic order: 0
 * 0 0 0 is 0, 1 2 3 4 is 951, 15 15 15 15 is 3875. A larger number counts as 0.
 *
 * MATHS
 *
 * An absent key is found exactly if a key in the filter has the same
 * fingerprint and the same two buckets, because a lookup compares all eight
 * slots. Keys thus fall into (2^f - 1) B / 2 equally likely classes, and the
 * rate is
 *
 *      F = 1 - (1 - 1/C)^n,  C = (2^f - 1) B / 2                         (1)
 *
 * exactly, at any load and however full single buckets are. (In the
 * literature's form, with load a, F is about 8a / 2^f.) The number D of classes
 * taken is the number of occupied bins out of C. It yields the estimated number
 * of keys, -C ln(1 - D/C), the filter's own rate D/C and, with l = n/C, the
 * standard deviation of that rate
 *
 *      e^-l sqrt((e^l - 1 - l) / C)                                      (2)
 *
 * Load. In a large table 95 of 100 slots are taken at capacity. An add searches
 * up to 2000 buckets; with 65 536 buckets the first key is refused at a load of
 * 0.974 (40 runs, deviation 0.0007). With a search of 500 it was 0.965, which
 * falls by 0.004 for 16 times as many buckets. Small tables can fail for
 * another reason: nine keys that share both buckets are one too many, and the
 * probability of that grows as n^9 over the 8th power of the number of pairs.
 * The plan takes
 *
 *      n / 0.95 + 3 sqrt(n) + 40 slots, 8 for 7 keys and fewer
 *
 * With these, no run of two million (9 and 20 keys), 500 000 (64), 30 000
 * (1000) or 2000 (10 000 keys) failed, nor would it have with 4 % more keys. At
 * most 2^f - 1 fingerprints connect a pair of buckets. At a given load, the
 * probability that some nine keys share both buckets is about
 *
 *      116 B / 2^8f                                                      (3)
 *
 * and must stay below 10^-9. So f is at least 6 for up to 2^10 buckets and one
 * more for every 2^8 times as many. For 10^8 keys it is 8, and a rate above 2.9
 * % saves nothing. Bits per key for 10^8 keys:
 *
 *      requested     f    rate      plain    sorted    standard
 *      1 %          10    0.74 %    10.53     9.48       9.59
 *      0.1 %        13    0.093 %   13.69    12.63      14.38
 *      0.01 %       17    0.0058 %  17.90    16.84      19.17
 *      0.0001 %     23    9e-7      24.21    23.16      28.76
 *
 * These are f/a and (f-1)/a, where a is the load. f is a whole number, so
 * requesting 0.75 % costs no more than 1 %.
 *
 * PROBES
 *
 * With s the spread hash and B the number of buckets, the first bucket i is the
 * high half of s * B. With g the high 32 bits of s spread once more, the
 * fingerprint is 1 + the high half of g * (2^f - 1), so that all numbers of f
 * bits except 0 are equally likely. The other bucket is
 *
 *      H - i modulo B,  H an odd number in [0, B) from the fingerprint
 *
 * and the other bucket of that one is i again. B need not be a power of two, as
 * it must be when the two buckets are related by an exclusive or. B is even and
 * H is odd, so one of the two buckets is even and the other odd: they always
 * differ.
 *
 * COPIES
 *
 * Every add stores a copy, even of a key that is already present (BLY_SEEN).
 * All copies of a key share eight slots, so the ninth add returns BLY_EFULL.
 * Copies also fill the table unevenly: if every key is added twice, 83 to 87 %
 * of the slots can be filled; if four times, 41 to 52 %.
 *
 * ADD
 *
 * The emptier bucket takes the fingerprint. If both are full, a breadth-first
 * search goes through the buckets to which the fingerprints in the way could
 * move, until one has a free slot. Then the fingerprints along that path move,
 * the last one first. The path is a shortest one, so it visits no bucket twice,
 * and a failed search changes nothing. The usual random walk touches one cache
 * line after another and must be undone when it fails; the search prefetches
 * several lines at once.
 *
 * GROWTH
 *
 * A filter grows by giving every bucket t quads in place of one. A key's
 * buckets do not change, nor do the keys that it can be mistaken for, so (1)
 * still holds: t times as many keys have about t times the rate. A lookup still
 * goes to two places, each t quads long. Chaining tables of other sizes, which
 * is common, makes removal unsafe: two keys may be the same in one table but
 * not in the other, and removing one may take out the other's fingerprint.
 *
 * SPEED
 *
 * Nanoseconds per key, measured with f = 12 (12.6 bits per key, 0.185 %) on a
 * machine where a random cache line costs 2.4 ns. Portable code in brackets:
 *
 *                          lookup        add to 90 %, to 95 %     remove
 *      500 000 keys        2.5 (5.8)          15    20               12
 *      the same, sorted    3.9 (12)           36    42               22
 *      20 million keys     5.5 (8.8)          28    38               14
 *
 * A lookup among 20 million sorted keys takes 7.7 (19). With AVX2, a lookup
 * takes about half of the time of portable code. Whichever keys an
 * attacker chooses, a lookup or a removal reads two buckets, and an add reads
 * at most 2000 slots.
 *
 * PAPERS
 *
 *  [Fan 2014]     Cuckoo filter: practically better than Bloom, CoNEXT. The
 *                 filter, and semi-sorted buckets. There the other bucket is
 *                 the exclusive or, the buckets are a power of two, and the
 *                 moves are a walk at random.
 *  [Pagh 2001]    Cuckoo hashing, ESA.
 *  [Li 2014]      Algorithmic improvements for fast concurrent cuckoo hashing,
 *                 EuroSys. The search breadth first.
 */
#include "kinds/removable/cuckoo/cuckoo.h"

#include <math.h>

#include "base/task.h"
#include "maths/maths.h"

enum { CUCKOO_OPTION_F, CUCKOO_OPTION_SORTED };

static const char *const cuckoo_sorted[] = { "no", "yes", NULL };

static const kind_option cuckoo_options[] = {
    [CUCKOO_OPTION_F] = {
        .name = "f", .help = "bits of a fingerprint, instead of a rate",
        .least = CUCKOO_F_LEAST, .most = CUCKOO_F_MOST,
        .standard = KIND_CHOOSE,
    },
    [CUCKOO_OPTION_SORTED] = {
        .name = "sorted", .help = "sort the fingerprints in fours, which saves "
                                  "a bit of each",
        .choices = cuckoo_sorted, .standard = 0,
    },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

static const double CUCKOO_LOAD = 0.95; /* of a large table, at capacity     */

static uint64_t cuckoo_payload(const cuckoo_view *v)
{
    return (v->buckets * v->quads * v->nibbles + 1) / 2 + CUCKOO_END;
}

/* Returns the number of pairs of buckets with a fingerprint, the classes of
 * keys that can be distinguished. */
static double cuckoo_classes(const cuckoo_view *v)
{
    return (double)v->buckets / 2 * (double)bits_mask(v->f);
}

/* The least f whose rate at CUCKOO_LOAD is `rate` and, (3), with which the
 * table can be filled; 33: there is none. */
static uint32_t cuckoo_best_f(uint64_t buckets, double rate)
{
    double kinds = -2 * CUCKOO_SLOTS * CUCKOO_LOAD / log1p(-rate);
    double f = ceil(log2(kinds + 1));
    double least = 5 + ceil((log2((double)buckets) - 2) / 8);
    return (uint32_t)fmin(fmax(fmax(f, least), CUCKOO_F_LEAST),
                          CUCKOO_F_MOST + 1);
}

/* Buckets for n keys; false if there are too many. */
static bool cuckoo_enough(uint64_t *buckets, uint64_t n)
{
    double slots = (double)n / CUCKOO_LOAD + 3 * sqrt((double)n) + 40;
    if (n < 2 * CUCKOO_SLOTS)
        slots = 2 * CUCKOO_SLOTS;
    double pairs = ceil(slots / (2 * CUCKOO_SLOTS));
    if (pairs > (double)CUCKOO_BUCKETS_MAX / 2)
        return false;
    *buckets = 2 * (uint64_t)pairs;
    return true;
}

/* Fill in a plan for n keys in a table of this shape. */
static bly_status cuckoo_plan_view(bly_plan_t *plan, const cuckoo_view *v,
                                   uint64_t n)
{
    bly_status status = kind_plan_bytes(plan, cuckoo_payload(v));
    if (status != BLY_OK)
        return status;
    double classes = cuckoo_classes(v), keys = (double)n;
    double absent = keys * log1p(-1 / classes);
    double nibbles = (double)(v->quads * v->nibbles);
    double lines = ceil((double)plan->bytes / 64) - 2;
    plan->capacity = n;
    plan->rate = -expm1(absent);
    plan->rate_sd = exp(absent) * sqrt((expm1(-absent) + absent) / classes);
    plan->fill = keys / (double)(v->buckets * v->quads * CUCKOO_SLOTS);
    plan->probes = 2;
    plan->lines_present = fmin(2 + 2 * (nibbles - 1) / 128, lines);
    plan->lines_absent = plan->lines_present;
    plan->geometry[CUCKOO_BUCKETS] = v->buckets;
    plan->geometry[CUCKOO_F] = v->f;
    plan->geometry[CUCKOO_SORTED] = v->sorted;
    plan->geometry[CUCKOO_QUADS] = v->quads;
    return BLY_OK;
}

static unsigned cuckoo_way(const bly_plan_t *plan)
{
    bool sorted = plan->geometry[CUCKOO_SORTED] != 0;
    cuckoo_view v = {
        .quads = plan->geometry[CUCKOO_QUADS], .sorted = sorted,
        .nibbles = cuckoo_nibbles((uint32_t)plan->geometry[CUCKOO_F], sorted),
    };
    return cuckoo_form_of(&v);
}

static bly_status cuckoo_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t f = spec->option[CUCKOO_OPTION_F];
    cuckoo_view v = {
        .quads = 1, .sorted = spec->option[CUCKOO_OPTION_SORTED] != 0,
    };
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!cuckoo_enough(&v.buckets, spec->capacity))
        return kind_too_big(spec, "2^48 buckets");
    v.f = f != KIND_CHOOSE ? (uint32_t)f
                           : cuckoo_best_f(v.buckets, spec->rate);
    if (v.f > CUCKOO_F_MOST)
        return status_fail(BLY_EPARAM, "kind cuckoo cannot go below a rate of "
                           "2e-9: use standard for %.3g", spec->rate);
    v.nibbles = cuckoo_nibbles(v.f, v.sorted);
    return cuckoo_plan_view(plan, &v, spec->capacity);
}

/* ---- Check ------------------------------------------------------------- */

static bly_status cuckoo_check(const void *image)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t f = image_geometry(image, CUCKOO_F);

    bool sound = v.buckets >= 2 && v.buckets % 2 == 0
              && v.buckets <= CUCKOO_BUCKETS_MAX
              && f >= CUCKOO_F_LEAST && f <= CUCKOO_F_MOST
              && image_geometry(image, CUCKOO_SORTED) <= 1
              && v.quads >= 1 && v.quads <= CUCKOO_QUADS_MAX
              && image_payload_bytes(image) == cuckoo_payload(&v);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Another size ------------------------------------------------------ */

/* Plans a resize. Each quad per bucket holds as many keys as the first. */
static bly_status cuckoo_resize_plan(bly_plan_t *plan, const void *image,
                                     uint64_t capacity)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t now = image_u64(image, IMAGE_CAPACITY);
    uint64_t each = now / v.quads + (now < v.quads);
    if (each > CUCKOO_SLOTS * CUCKOO_BUCKETS_MAX)
        return kind_bad_geometry(image);
    if (capacity <= now)
        return status_fail(BLY_EPARAM, "a cuckoo filter can only grow, and "
                           "already has room for %llu keys: give a larger "
                           "number, or build a smaller one from the keys",
                           (unsigned long long)now);
    v.quads = capacity / each + (capacity % each != 0);
    if (v.quads > CUCKOO_QUADS_MAX)
        return status_fail(BLY_EPARAM, "a cuckoo filter grows to at most %d "
                           "times the %llu keys it was made for: give at most "
                           "%llu, or rebuild it", CUCKOO_QUADS_MAX,
                           (unsigned long long)each,
                           (unsigned long long)(each * CUCKOO_QUADS_MAX));
    return cuckoo_plan_view(plan, &v, each * v.quads);
}

/* Every bucket keeps its quads and gets empty ones behind them. */
static bly_status cuckoo_resize(void *into, const void *image)
{
    cuckoo_view old = cuckoo_look(image), new = cuckoo_look(into);
    TASK_EACH(i, old.buckets)
        for (uint64_t j = 0; j < old.quads; j++)
            cuckoo_write(&new, i * new.quads + j,
                         cuckoo_read(&old, i * old.quads + j));
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

enum { CUCKOO_STAT_AHEAD = 32 };        /* buckets                           */

/* Returns whether slot j of quad i of the bucket is the first copy of its
 * fingerprint in this bucket and, if the other bucket has a smaller number, in
 * that one. */
static bool cuckoo_first(const cuckoo_view *v, uint64_t bucket, uint64_t i,
                         uint32_t j)
{
    cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
    uint32_t fp = q.slot[j];
    bool first = fp != 0;
    for (uint32_t k = 0; k < j; k++)
        first &= q.slot[k] != fp;
    for (uint64_t k = 0; k < i && first; k++)
        first = cuckoo_copies(cuckoo_read(v, bucket * v->quads + k), fp) == 0;
    if (!first)
        return false;
    uint64_t other = cuckoo_other(v, bucket, fp);
    return bucket < other || cuckoo_copies_in(v, other, fp) == 0;
}

static void cuckoo_stat(bly_info_t *out, const void *image)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t taken = 0, different = 0;
    TASK_EACH(bucket, v.buckets) {
        if (bucket + CUCKOO_STAT_AHEAD < v.buckets)
            cuckoo_prefetch_others(&v, bucket + CUCKOO_STAT_AHEAD, v.quads);
        taken += v.quads * CUCKOO_SLOTS - cuckoo_copies_in(&v, bucket, 0);
        for (uint64_t i = 0; i < v.quads; i++)
            for (uint32_t j = 0; j < CUCKOO_SLOTS; j++)
                different += cuckoo_first(&v, bucket, i, j);
    }
    double classes = cuckoo_classes(&v);
    double rate = fmin((double)different / classes, 1), keys = -log1p(-rate);
    out->fill = (double)taken
              / (double)(v.buckets * v.quads * CUCKOO_SLOTS);
    out->rate = rate;
    out->distinct = classes * keys;
    out->distinct_sd = math_probes_sd(classes, keys);
    out->probes = 2;
}

static const kind_resizing cuckoo_resizing = {
    .plan   = cuckoo_resize_plan,
    .resize = cuckoo_resize,
};

static const kind_inlining cuckoo_inlining = {
    .view = cuckoo_inline,
};

const bly_kind bly_kind_cuckoo = {
    .name    = "cuckoo",
    .family  = "removable",
    .summary = "fingerprints in buckets of four, each in one of two buckets",
    .version = CUCKOO_VERSION,
    .options = cuckoo_options,

    .plan  = cuckoo_plan,
    .check = cuckoo_check,
    .stat  = cuckoo_stat,

    .contains      = cuckoo_contains,
    .contains_many = cuckoo_contains_many,
    .contains_here = cuckoo_contains_here,

    .add         = cuckoo_add,
    .add_many    = cuckoo_add_many,
    .remove      = cuckoo_remove,
    .remove_many = cuckoo_remove_many,
    .count       = cuckoo_count,
    .count_many  = cuckoo_count_many,

    .way = cuckoo_way,

    .resizing = &cuckoo_resizing,
    .inlining = &cuckoo_inlining,
};
