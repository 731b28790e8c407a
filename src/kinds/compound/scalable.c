/* scalable.c - a growing series of filters, each larger and stricter.
 *
 * WHAT IT IS
 *
 * A filter for an unknown number of keys. It starts with one filter, a *slice*,
 * for the planned number of keys. When that is full, a second slice for twice
 * as many joins it, and so on. A key is reported present if any slice has it.
 * The rates of all slices add up. So each slice has a lower rate than the one
 * before, and the sum stays below the requested rate.
 *
 * WHEN TO USE IT
 *
 * Use it if the number of keys is unknown and the keys cannot be read again.
 * Its rate never exceeds the requested one, and adding is fast. Plan it for as
 * many keys as you expect, because every slice costs time. Without a number it
 * begins with 4096. `of=blocked` makes the fastest slices.
 *
 * WHEN NOT TO
 *
 * - The number of keys is known within a factor of two, or the keys can be read
 * again: plan another kind for the larger number. It is smaller and faster.
 * - Old keys may be forgotten instead: `aging`.
 * - Keys must be removed or counted, filters united, or memory and lookups
 *   matter more than adds: `expandable`. It grows by a sixteenth, and a lookup
 *   still looks in one place.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          13.6                  9                  2
 *      0.1 %        18.3                 13                  2
 *
 * These are for the first slice alone. A filter that was planned for 1000 keys
 * and has grown to 10^6 keys, when its last slice is full, takes 16.6 bits per
 * key (at 0.1 %: 21.5). At 10^7 keys its last slice is a fifth full, and it
 * takes 28.8 (36.7). A present key is mostly found in the last slices, which
 * are queried first; an absent key is looked up in all of them.
 *
 * THE PICTURE
 *
 *      payload  | directory | slice 0 | slice 1      | slice 2            | …
 *      keys                   n         g n            g^2 n
 *      rate                   P(1-r)    P(1-r) r       P(1-r) r^2
 *
 *      contains x = the last slice has x, or the one before, or …
 *      add x      = if no slice has x: to the last slice
 *
 * A key that is perhaps present is not added again, so repeats do not fill the
 * filter. A new key that is mistaken for a present one will be found later for
 * the same reason.
 *
 * IMAGE
 *
 *      geometry 0   kind of the slices: 0 partitioned, 1 blocked, 2 standard,
 *                   3 split, 4 counting, 5 variable, 6 dleft, 7 deletable,
 *                   8 cuckoo, 9 quotient, 10 compaction, 11 floom,
 *                   12 rehash, 13 golomb, 14 expandable
 *      geometry 1   growth g, 2 .. 16
 *      geometry 2   tightening r in per cent, 1 .. 99
 *      geometry 3   the requested rate P (IEEE double), 2^-64 .. 1
 *      payload      a directory of 64 entries of two u64: where the slice
 *                   begins, in bytes from the payload's start, and how many
 *                   keys were added to it; unused entries are zero. Then the
 *                   slices, each at the next multiple of 64.
 *
 *      Slices are whole images (docs/format) with the outer hash and seed.
 *      Their payload checksums are 0, because the outer one covers them, and
 *      their items "unknown". Slices of kind split and quotient take the spread
 *      hashes (docs/format/hashes.md), all others the hashes. Valid if and
 *      only if (1) the geometry is in these ranges, (2) slice 0 begins at 1024
 *      and every other one where the last one ends, rounded up, (3) all inner
 *      headers are valid, of that kind, hash and seed, (4) the last slice ends
 *      where the payload does, (5) slice i has the capacity of the outer image
 *      times g^i and (6) n log2(1/(P (1-r))), the bits that n keys must take at
 *      the rate of slice 0, n being its capacity, are at most twice the bits of
 *      its payload, and 64. (Otherwise a few bytes could demand a next slice of
 *      any size.)
 *
 * MATHS
 *
 * A key that was never added is found if any slice finds it. With f_i the rate
 * of slice i [Almeida 2007]:
 *
 *      F = 1 - prod_i (1 - f_i) <= sum_i P (1-r) r^i < P                (1)
 *
 * A slice is full once n keys were written to it. Of the N keys that came to
 * it, some were found by chance and not written, as all their bits were set. So
 * the slice has the bits of all N:
 *
 *      n = N (1 - mean of its rate while they came)                     (2)
 *
 * It is planned for N keys, n being its capacity. At a rate of 0.0015, the
 * first slice's for P = 0.01, these are 25 more in 100,000, and at 0.495 (P =
 * 0.5, r = 0.01) 1.4 times as many.
 *
 * bly_info computes F from the slices as they are. The plan reports P, which
 * holds for any number of keys; while there are only `capacity` keys, the true
 * rate is about P (1-r). After l slices, the last one, which holds most of the
 * keys, is planned for P (1-r) r^(l-1). A Bloom filter takes 1.44 log2 of its
 * reciprocal bits per key, where 1.44 log2(1/P) would do if the number were
 * known in advance:
 *
 *      r       more bits per key, at    1      4     10     20 slices
 *      0.5                            1.4    5.8   14.4   28.9
 *      0.85                           3.9    5.0    7.0   10.4
 *      0.9                            4.8    5.5    6.8    9.0
 *
 * So r = 0.85 by default. The last slice is half full on average, which at
 * worst doubles the memory (g = 2). Slices of kind `blocked` end at a rate of
 * 10^-8, which for P = 10^-6 is after 17 of them.
 *
 * BATCHES
 *
 * A batch takes all keys to the last slice, those not found to the one before,
 * and so on; within a slice, the cache lines of all keys are prefetched.
 * Growing allocates a new image and copies the old one, which is smaller.
 *
 * PAPERS
 *
 *  [Almeida 2007]  Scalable Bloom filters, Information Processing Letters
 *                  101(6)
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bits/hash.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"

enum {
    SCALABLE_VERSION = 1,
    SCALABLE_OF = 0, SCALABLE_GROWTH = 1, SCALABLE_TIGHTENING = 2,
    SCALABLE_RATE = 3,                  /* of the geometry                   */
    SCALABLE_SLICES = 64,               /* at most                           */
    SCALABLE_ENTRY = 16,                /* bytes in the directory            */
    SCALABLE_KEYS = 8,                  /* of them, where the keys stand     */
    SCALABLE_DIRECTORY = SCALABLE_SLICES * SCALABLE_ENTRY,
    SCALABLE_FIRST = 4096,              /* keys of slice 0, if not planned   */
    SCALABLE_CHUNK = INNER_CHUNK        /* keys asked at a time              */
};

#define SCALABLE_PARTS(X)                                                      \
    X(partitioned) X(blocked) X(standard) X(split) X(counting) X(variable)     \
    X(dleft) X(deletable) X(cuckoo) X(quotient) X(compaction) X(floom)         \
    X(rehash) X(golomb) X(expandable)

static const char *const scalable_names[] = { SCALABLE_PARTS(PARTS_NAME) NULL };
static const bly_kind *const scalable_kinds[] = { SCALABLE_PARTS(PARTS_KIND) };
enum { SCALABLE_KINDS = sizeof scalable_kinds / sizeof *scalable_kinds };

static const double SCALABLE_RATE_LEAST = 0x1p-64;

enum { SCALABLE_OPTION_OF, SCALABLE_OPTION_GROWTH, SCALABLE_OPTION_TIGHTENING };

static const kind_option scalable_options[] = {
    [SCALABLE_OPTION_OF] = {
        .name = "of", .help = "kind of the slices",
        .choices = scalable_names, .standard = 0,
    },
    [SCALABLE_OPTION_GROWTH] = {
        .name = "growth", .help = "factor by which each slice is larger than "
                                  "the one before",
        .least = 2, .most = 16, .standard = 2,
    },
    [SCALABLE_OPTION_TIGHTENING] = {
        .name = "tightening", .help = "the next slice's rate, in per cent of "
                                      "the one before",
        .least = 1, .most = 99, .standard = 85,
    },
    { .name = NULL },
};

/* ---- The slices -------------------------------------------------------- */

/* The numbers that determine all slices. */
typedef struct {
    const bly_kind *kind;
    uint64_t capacity;                  /* of slice 0                        */
    uint64_t growth, tightening;
    double   rate;                      /* of all together                   */
} scalable_rule;

static scalable_rule scalable_rule_of(const void *image)
{
    return (scalable_rule){
        .kind = scalable_kinds[image_geometry(image, SCALABLE_OF)],
        .capacity = image_u64(image, IMAGE_CAPACITY),
        .growth = image_geometry(image, SCALABLE_GROWTH),
        .tightening = image_geometry(image, SCALABLE_TIGHTENING),
        .rate = image_f64(image, IMAGE_GEOMETRY + 8 * SCALABLE_RATE),
    };
}

/* Slice i as it would be. The rate is worked out by multiplications alone, so
 * that every machine comes to the same. Its capacity is how many keys are
 * written to it, (2). */
static bly_status scalable_plan_slice(bly_plan_t *plan, kind_spec *spec,
                                      const scalable_rule *rule, size_t i)
{
    double ratio = (double)rule->tightening / 100;
    double rate = rule->rate * (1 - ratio);
    uint64_t keys = rule->capacity;
    for (size_t j = 0; j < i; j++) {
        rate *= ratio;
        if (!sizes_mul(&keys, keys, rule->growth))
            return status_fail(BLY_ETOOBIG, "the filter would have to grow to "
                               "more than 2^64 keys");
    }
    bly_status status = inner_plan_fresh(plan, spec, rule->kind, keys, rate);
    plan->capacity = keys;
    return status;
}

typedef struct {
    const bly_kind *kind;
    uint8_t *payload;
    size_t   slices;                    /* at least 1                        */
} scalable_view;

static uint64_t scalable_at(const uint8_t *payload, size_t i)
{
    return image_u64(payload, i * SCALABLE_ENTRY);
}

static scalable_view scalable_look(const void *image)
{
    scalable_view v = {
        .kind = scalable_kinds[image_geometry(image, SCALABLE_OF)],
        .payload = (uint8_t *)(uintptr_t)image_payload(image), .slices = 1,
    };
    while (v.slices < SCALABLE_SLICES && scalable_at(v.payload, v.slices) != 0)
        v.slices++;
    return v;
}

static void *scalable_slice(const scalable_view *v, size_t i)
{
    return v->payload + scalable_at(v->payload, i);
}

static uint64_t scalable_keys(const scalable_view *v, size_t i)
{
    return image_u64(v->payload, i * SCALABLE_ENTRY + SCALABLE_KEYS);
}

static void scalable_count(const scalable_view *v, uint64_t more)
{
    size_t last = v->slices - 1;
    image_set_u64(v->payload, last * SCALABLE_ENTRY + SCALABLE_KEYS,
                  scalable_keys(v, last) + more);
}

/* Returns how many more keys the last slice is planned for. */
static uint64_t scalable_room(const scalable_view *v)
{
    size_t last = v->slices - 1;
    uint64_t capacity = image_u64(scalable_slice(v, last), IMAGE_CAPACITY);
    uint64_t keys = scalable_keys(v, last);
    return keys < capacity ? capacity - keys : 0;
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status scalable_grown_most(void)
{
    return status_fail(BLY_EFULL, "the filter has grown %d times, and cannot "
                       "grow further: build one for more keys",
                       SCALABLE_SLICES - 1);
}

static scalable_rule scalable_rule_for(const kind_spec *spec)
{
    return (scalable_rule){
        .kind = scalable_kinds[spec->option[SCALABLE_OPTION_OF]],
        .capacity = spec->capacity > 0 ? spec->capacity : SCALABLE_FIRST,
        .rate = spec->rate,
        .growth = spec->option[SCALABLE_OPTION_GROWTH],
        .tightening = spec->option[SCALABLE_OPTION_TIGHTENING],
    };
}

static bly_status scalable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    scalable_rule rule = scalable_rule_for(spec);
    bly_plan_t first;
    kind_spec wanted;
    uint64_t bytes = 0;
    if (!(spec->rate >= SCALABLE_RATE_LEAST))
        return status_fail(BLY_EPARAM, "kind scalable cannot go below a rate "
                           "of 2^-64 beside the chance of equal hashes: use a "
                           "higher one");
    bly_status status = scalable_plan_slice(&first, &wanted, &rule, 0);
    if (status == BLY_OK
        && !sizes_add(&bytes, first.bytes, SCALABLE_DIRECTORY))
        status = kind_too_big(spec, "2^64 bytes");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    plan->capacity = first.capacity;
    plan->rate = rule.rate;
    plan->rate_sd = 0;
    plan->fill = first.fill;
    plan->probes = first.probes;
    plan->lines_present = first.lines_present;
    plan->lines_absent = first.lines_absent;
    plan->geometry[SCALABLE_OF] = spec->option[SCALABLE_OPTION_OF];
    plan->geometry[SCALABLE_GROWTH] = rule.growth;
    plan->geometry[SCALABLE_TIGHTENING] = rule.tightening;
    memcpy(&plan->geometry[SCALABLE_RATE], &rule.rate, sizeof rule.rate);
    return BLY_OK;
}

/* Slices are looked through from the last to the first, and until one has the
 * key: see scalable_has(). */
static bly_status scalable_grown(bly_plan_t *plan, const kind_spec *spec,
                                 uint64_t keys)
{
    scalable_rule rule = scalable_rule_for(spec);
    bly_plan_t slice, whole = *plan;
    bly_status status = BLY_OK;
    kind_spec wanted;
    for (size_t i = 1; status == BLY_OK && plan->capacity < keys; i++) {
        uint64_t bytes = plan->bytes - IMAGE_HEADER;
        if (i == SCALABLE_SLICES)
            return scalable_grown_most();
        status = scalable_plan_slice(&slice, &wanted, &rule, i);
        if (status != BLY_OK)
            break;
        if (!inner_room(&bytes, bytes) || !sizes_add(&bytes, bytes, slice.bytes)
            || !sizes_add(&whole.capacity, plan->capacity, slice.capacity))
            return kind_too_big(&wanted, "2^64 bytes");
        status = kind_plan_bytes(&whole, bytes);
        double last = (double)slice.capacity / (double)whole.capacity;
        whole.lines_present = last * slice.lines_present
                            + (1 - last) * (slice.lines_absent
                                            + plan->lines_present);
        whole.lines_absent = plan->lines_absent + slice.lines_absent;
        whole.fill = (1 - last) * plan->fill + last * slice.fill;
        whole.probes = plan->probes + slice.probes;
        *plan = whole;
    }
    return status;
}

/* Writes the empty slice i into zero bytes, `at` bytes into the payload. */
static bly_status scalable_open(void *image, size_t i, uint64_t at)
{
    scalable_rule rule = scalable_rule_of(image);
    uint8_t *payload = image_payload_mut(image);
    bly_plan_t plan;
    kind_spec spec;
    bly_status status = scalable_plan_slice(&plan, &spec, &rule, i);
    if (status == BLY_OK)
        status = inner_format(payload + at, rule.kind, &plan, image, &spec);
    if (status == BLY_OK)
        image_set_u64(payload, i * SCALABLE_ENTRY, at);
    return status;
}

static bly_status scalable_format(void *image, const kind_spec *spec)
{
    (void)spec;
    return scalable_open(image, 0, SCALABLE_DIRECTORY);
}

/* ---- Grow -------------------------------------------------------------- */

/* Finds where the next slice begins. */
static bool scalable_end(uint64_t *at, const scalable_view *v)
{
    size_t last = v->slices - 1;
    uint64_t bytes = image_u64(scalable_slice(v, last), IMAGE_BYTES);
    return inner_room(&bytes, bytes)
        && sizes_add(at, scalable_at(v->payload, last), bytes);
}

static bly_status scalable_grow_plan(uint64_t *bytes, const void *image)
{
    scalable_view v = scalable_look(image);
    scalable_rule rule = scalable_rule_of(image);
    bly_plan_t plan, whole = { .bytes = 0 };
    kind_spec spec;
    uint64_t at, end = 0;
    if (v.slices == SCALABLE_SLICES)
        return scalable_grown_most();
    bly_status status = scalable_plan_slice(&plan, &spec, &rule, v.slices);
    if (status == BLY_EPARAM)
        return status_fail(BLY_EFULL, "the filter is full, and its next slice "
                           "needs a rate of %.3g, which is too low for kind "
                           "%s: build one for more keys, or use of=standard",
                           spec.rate, rule.kind->name);
    if (status == BLY_OK && (!scalable_end(&at, &v)
                             || !sizes_add(&end, at, plan.bytes)))
        status = kind_too_big(&spec, "2^64 bytes");
    if (status == BLY_OK)
        status = kind_plan_bytes(&whole, end);
    if (status == BLY_OK)
        *bytes = whole.bytes;
    return status;
}

static bly_status scalable_grow(void *image, void *scratch)
{
    (void)scratch;
    scalable_view v = scalable_look(image);
    uint64_t at = 0;
    scalable_end(&at, &v);              /* it did for the plan */
    return scalable_open(image, v.slices, at);
}

/* ---- Check, contains, add ---------------------------------------------- */

/* Can slice 0 be one of its keys at its rate, by theory, with room for what any
 * kind's plan may lack in a small filter? The next one is planned by them. */
static bool scalable_first_sound(const void *image)
{
    scalable_rule rule = scalable_rule_of(image);
    const uint8_t *first = image_payload(image) + SCALABLE_DIRECTORY;
    double rate = rule.rate * (1 - (double)rule.tightening / 100);
    double bits = 8 * (double)image_payload_bytes(first);
    return -(double)rule.capacity * log2(rate) <= 2 * bits + 64;
}

/* Each slice must begin where the one before ends, for as many keys as the rule
 * says, and the last one end where the payload does. */
static bool scalable_row(const void *image, const bly_kind *kind)
{
    const uint8_t *payload = image_payload(image);
    uint64_t at = SCALABLE_DIRECTORY, end = 0;
    uint64_t keys = image_u64(image, IMAGE_CAPACITY);
    uint64_t growth = image_geometry(image, SCALABLE_GROWTH);
    bool more = true, counted = true;
    for (size_t i = 0; i < SCALABLE_SLICES; i++) {
        more = more && (i == 0 || scalable_at(payload, i) != 0);
        if (!more) {
            if (scalable_at(payload, i) != 0
                || image_u64(payload, i * SCALABLE_ENTRY + SCALABLE_KEYS) != 0)
                return false;
            continue;
        }
        if (scalable_at(payload, i) != at || !inner_check(image, at, kind)
            || !counted || image_u64(payload + at, IMAGE_CAPACITY) != keys)
            return false;
        counted = sizes_mul(&keys, keys, growth);
        end = at + image_u64(payload + at, IMAGE_BYTES);
        if (!inner_room(&at, end))
            return false;
    }
    return end == image_payload_bytes(image);
}

static bly_status scalable_check(const void *image)
{
    uint64_t of = image_geometry(image, SCALABLE_OF);
    uint64_t growth = image_geometry(image, SCALABLE_GROWTH);
    uint64_t tightening = image_geometry(image, SCALABLE_TIGHTENING);
    double rate = image_f64(image, IMAGE_GEOMETRY + 8 * SCALABLE_RATE);

    bool sound = of < SCALABLE_KINDS && growth >= 2 && growth <= 16
              && tightening >= 1 && tightening <= 99
              && rate >= SCALABLE_RATE_LEAST && rate < 1
              && image_payload_bytes(image) >= SCALABLE_DIRECTORY
              && scalable_row(image, scalable_kinds[of])
              && scalable_first_sound(image);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* The hash as the slices want it: a kind that uses its bits as they come must
 * have good ones, whatever function they are from. */
static uint64_t scalable_hash(const scalable_view *v, uint64_t hash)
{
    return v->kind->raw_hash ? hash_spread(hash) : hash;
}

/* Returns whether any slice has this hash. */
static bool scalable_has(const scalable_view *v, uint64_t hash)
{
    for (size_t i = v->slices; i-- > 0; )
        if (v->kind->contains(scalable_slice(v, i), hash))
            return true;
    return false;
}

static bool scalable_contains(const void *image, uint64_t hash)
{
    scalable_view v = scalable_look(image);
    return scalable_has(&v, scalable_hash(&v, hash));
}

static bly_status scalable_add(void *image, uint64_t hash)
{
    scalable_view v = scalable_look(image);
    hash = scalable_hash(&v, hash);
    if (scalable_has(&v, hash))
        return BLY_SEEN;
    if (scalable_room(&v) == 0)
        return BLY_EFULL;
    bly_status status = v.kind->add(scalable_slice(&v, v.slices - 1), hash);
    if (status >= 0)
        scalable_count(&v, 1);
    return status;
}

/* ---- Batches ----------------------------------------------------------- */

/* All keys of a chunk, as the slices want them; none is found yet. */
static void scalable_begin(inner_rest *rest, const scalable_view *v,
                           const uint64_t *hashes, size_t n, bool *found)
{
    memset(found, false, n * sizeof *found);
    inner_rest_begin(rest, hashes, n, found);
    for (size_t i = 0; v->kind->raw_hash && i < n; i++)
        rest->hash[i] = scalable_hash(v, hashes[i]);
}

/* Queries slices top-1 down to 0, each for the keys that are left. */
static void scalable_query(inner_rest *rest, const scalable_view *v, size_t top,
                           bool *found)
{
    for (size_t s = top; s-- > 0; )
        inner_rest_query(rest, v->kind, scalable_slice(v, s), found);
}

static void scalable_contains_many(const void *image, const uint64_t *hashes,
                                   size_t n, bool *present)
{
    scalable_view v = scalable_look(image);
    inner_rest rest;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < SCALABLE_CHUNK ? n - i : SCALABLE_CHUNK;
        scalable_begin(&rest, &v, hashes + i, some, present + i);
        scalable_query(&rest, &v, v.slices, present + i);
    }
}

/* Add the first m of the rest, which no older slice has, to the last slice,
 * unless a key before it in the batch was the same to it; how many are done. A
 * kind from which keys are removed would count it twice, or take it for another
 * one's, so it is asked first. */
static bly_status scalable_add_rest(const scalable_view *v,
                                    const inner_rest *rest, size_t m,
                                    bool *seen, size_t *done)
{
    void *last = scalable_slice(v, v->slices - 1);
    bly_status status = BLY_OK;
    if (v->kind->remove == NULL)
        return inner_add_each(v->kind, last, rest->hash, m, seen, done);

    inner_contains_many(v->kind, last, rest->hash, m, seen);
    for (*done = 0; *done < m; ++*done) {
        uint64_t hash = rest->hash[*done];
        seen[*done] = v->kind->contains(last, hash);
        if (!seen[*done])
            status = v->kind->add(last, hash);
        if (status < 0)
            return status;
    }
    return BLY_OK;
}

/* At most a chunk, and no more new keys than the last slice has room for; where
 * it has none, up to the first new key. */
static bly_status scalable_add_some(const scalable_view *v,
                                    const uint64_t *hashes, size_t n,
                                    bool *seen, size_t *done)
{
    inner_rest rest;
    bool each[SCALABLE_CHUNK];
    uint64_t room = scalable_room(v), fresh = 0;
    bly_status status = BLY_OK;

    scalable_begin(&rest, v, hashes, n, seen);
    scalable_query(&rest, v, room > 0 ? v->slices - 1 : v->slices, seen);
    size_t m = rest.n < room ? rest.n : (size_t)room, in = 0;
    if (m > 0)
        status = scalable_add_rest(v, &rest, m, each, &in);
    for (size_t j = 0; j < in; j++) {
        seen[rest.place[j]] = each[j];
        fresh += !each[j];
    }
    scalable_count(v, fresh);
    *done = in < rest.n ? rest.place[in] : n;
    return room == 0 && rest.n > 0 ? BLY_EFULL : status;
}

/* `seen` may be NULL. */
static bly_status scalable_add_each(void *image, const uint64_t *hashes,
                                    size_t n, bool *seen, size_t *done)
{
    scalable_view v = scalable_look(image);
    bool unasked[SCALABLE_CHUNK];
    bly_status status = BLY_OK;
    for (*done = 0; *done < n && status >= 0; ) {
        size_t some = n - *done < SCALABLE_CHUNK ? n - *done : SCALABLE_CHUNK;
        size_t in;
        status = scalable_add_some(&v, hashes + *done, some,
                                   seen != NULL ? seen + *done : unasked, &in);
        *done += in;
    }
    return status < 0 ? status : BLY_OK;
}

static bly_status scalable_add_many(void *image, const uint64_t *hashes,
                                    size_t n, size_t *done)
{
    return scalable_add_each(image, hashes, n, NULL, done);
}

/* ---- Look inside ------------------------------------------------------- */

/* Some new keys were taken for keys that were there, and not added: with a
 * chance that was F before the slice, from (1), and on average about a third
 * of the slice's own more while it filled. */
static void scalable_stat(bly_info_t *out, const void *image)
{
    scalable_view v = scalable_look(image);
    double some = 0, keys = 0, unsure = 0, used = 0, bytes = 0;
    uint64_t capacity = 0;
    uint32_t probes = 0;
    for (size_t i = 0; i < v.slices; i++) {
        const uint8_t *slice = scalable_slice(&v, i);
        double size = (double)image_u64(slice, IMAGE_BYTES);
        bly_info_t s = { .bytes = 0 };
        v.kind->stat(&s, slice);
        double taken = some + (1 - some) * s.rate / 3;
        double offered = taken < 1 ? (double)scalable_keys(&v, i) / (1 - taken)
                       : INFINITY;
        keys += offered;
        unsure += offered * taken;
        used += s.fill * size;
        bytes += size;
        probes += s.probes;
        if (!sizes_add(&capacity, capacity, image_u64(slice, IMAGE_CAPACITY)))
            capacity = UINT64_MAX;
        some += (1 - some) * s.rate;
    }
    out->capacity = capacity;
    out->distinct = keys;
    out->distinct_sd = sqrt(unsure);
    out->fill = used / bytes;
    out->rate = some;
    out->probes = probes;
}

static const kind_growing scalable_growing = {
    .plan = scalable_grow_plan,
    .grow = scalable_grow,
    .grown = scalable_grown,
};

const bly_kind bly_kind_scalable = {
    .name    = "scalable",
    .family  = "compound",
    .summary = "a growing series of filters, for an unknown number of keys",
    .version = SCALABLE_VERSION,
    .options = scalable_options,

    .plan   = scalable_plan,
    .format = scalable_format,
    .check  = scalable_check,
    .stat   = scalable_stat,

    .contains      = scalable_contains,
    .contains_many = scalable_contains_many,

    .add      = scalable_add,
    .add_many = scalable_add_many,
    .add_each = scalable_add_each,

    .growing = &scalable_growing,
};
