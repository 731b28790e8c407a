/* aging.c - a window over a stream: a ring of filters, the oldest is cleared.
 *
 * WHAT IT IS
 *
 * A ring of g filters, the generations. New keys are written to the active one.
 * When that is full, the oldest generation is cleared and becomes the active
 * one. A key is reported present if any generation has it. A key that is added
 * again is refreshed: if only an older generation has it, it is written to the
 * active one as well.
 *
 * WHEN TO USE IT
 *
 * Use it to answer "was this key among the last w?" in an endless stream, if no
 * key of that window may be missed. If keys rarely repeat, `generations=4`
 * saves a quarter of the memory, but makes lookups slower.
 *
 * WHEN NOT TO
 *
 * - The rate must be the same at all times: `stable`, which forgets gradually,
 * but guarantees no window and takes four times the memory.
 * - Nothing may be forgotten: `scalable`, or `standard` if the number of keys
 *   is known.
 * - Two windows must be compared: each filter clears its generations at
 *   different times.
 *
 * COST
 *
 *      rate     bits per key of the window    cache lines per lookup
 *      1 %                23.1                          2
 *      0.1 %              34.8                          2
 *
 * These are for two generations of kind `blocked`, the default.
 *
 * THE PICTURE (g = 4)
 *
 *      payload  | head | image 0 | image 1 | image 2 | image 3 |
 *                |  |               oldest   active
 *                |  keys in the active one
 *                number of the active one, 2
 *
 *      contains x = one of the g has x
 *      add x        the active one has x: seen, nothing is written
 *                   else: seen if an older one has it; if the active one has
 *                   its `cap` keys clear the oldest and make it the active
 *                   one; write x to the active one, and count it
 *
 * IMAGE
 *
 *      geometry 0   kind of the images: 0 standard, 1 partitioned, 2 blocked,
 *                   3 split
 *      geometry 1   g, generations, 2 .. 64
 *      geometry 2   cap, keys of a generation, at least 1
 *      geometry 3   bytes from one image to the next, a multiple of 64
 *      payload      offset 0: number of the active generation, 0 .. g-1;
 *                   offset 8: its keys, 0 .. cap; zeros to 64; then g images,
 *                   zeros from the end of each to the next
 *
 *      All are whole images (docs/format) with the outer hash and seed.
 *      Their payload checksums are 0, because the outer one covers them, and
 *      their items "unknown". Valid if and only if (1) the fields are in these
 *      ranges, (2) all inner headers are valid, of that kind, hash and seed,
 *      and of one size and geometry, (3) this size, rounded up to a multiple of
 *      64, is geometry 3, (4) the payload has 64 and g times geometry 3 bytes
 *      and (5) the first one's capacity is cap at least. An active generation
 *      out of its range is read as 0, and more than cap keys as cap.
 *
 * MATHS
 *
 * With g = 2, the default, this is the A2 filter of [Yoon 2010]. The window:
 * after x was added (written, or found in the active generation), it stays as
 * long as its generation. In the worst case x is the last key of its
 * generation. Then g-1 others fill up before that one is cleared, each with cap
 * keys that were not in it yet. So x is certainly found until
 *
 *      (g-1) cap further adds, counting only those that write,           (1)
 *
 * have come. The capacity w is this window: cap = w / (g-1), rounded up. No key
 * stays longer than g cap such adds, except by accident.
 *
 * Counted in DIFFERENT keys the window is cap, whatever g is:
 *
 *      x is certainly found until cap other different keys have come,    (2)
 *
 * since the keys of one generation differ, while those of the next may be the
 * same again, refreshed: cap + 1 keys in turn fill generation after generation.
 * (2) is bly_plan's `window`; for g = 2 it is w. Refreshing less often does no
 * better for the memory. If only keys of age r or more are refreshed, r
 * generations in a row have different keys, and a key found just before age r
 * stays for g - r more. That is min(r, g - r) cap different keys for g cap keys
 * of memory: at best half, which g = 2 has as well.
 *
 * The rate. Of the keys that come to a generation which has seen t of them, a
 * share p(t), its rate, is found there and not written. They are not among the
 * cap that it counts, but all their bits are set. So the generation has the
 * bits of all N keys that came, where
 *
 *      cap = N (1 - mean of p(t) over t = 0 .. N-1)                      (3)
 *
 * The first key of a generation is one that the generation before did not find,
 * so it complements that one's bits, with a probability that is up to 1 / (1-p)
 * times that of any other key, and it counts as so many keys. Including these,
 * a generation is planned for 1.02 cap keys at 10 %, 1.75 cap at 90 % (g = 2,
 * of=standard). With p its rate then, the filter's rate is at any time at most
 *
 *      1 - (1-p)^g                                                       (4)
 *
 * which is the requested rate, p = 1 - (1-f)^(1/g), and bly_plan's `rate`. It
 * is reached just before each rotation, once the ring is full. Right after
 * `capacity` different keys, when the last generation is still empty, it is 1 -
 * (1-p)^(g-1). The mean over time is
 *
 *      1 - (1-p)^(g-1) (1 - mean of p(t) over t = 0 .. N-1)              (5)
 *
 * bly_info treats the generations as independent. Keys that are refreshed are
 * in two of them, whose bits are then alike, so the true rate is lower than
 * reported.
 *
 * Bits for each key of the window (1), by g, of=blocked:
 *
 *      rate            g = 2      3      4      6      8     16
 *      10 %            12.7   10.8   10.4   10.4   10.7   11.7
 *      1 %             23.1   18.8   17.6   17.1   17.1   17.9
 *      0.1 %           34.8   27.8   25.8   24.6   24.4   25.1
 *
 * BATCHES
 *
 * The default inner kind is `blocked`, so that an absent key touches one line
 * in each generation instead of two or three. An add that writes has queried
 * all generations. In a batch the active generation is queried and written for
 * 2048 keys at once, and then each older one for those that are still not
 * found.
 *
 * PAPERS
 *
 *  [Yoon 2010]  Aging Bloom filter with two active buffers for dynamic sets,
 *               IEEE TKDE 22(1). He rotates when the count is reached and
 *               writes the key to both; we rotate before the next key is
 *               written, with the same window.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"

enum {
    AGING_VERSION = 1,
    AGING_OF = 0, AGING_GENERATIONS = 1, AGING_CAP = 2, AGING_STRIDE = 3,
    AGING_ACTIVE = 0, AGING_KEYS = 8, AGING_HEAD = 64,  /* in the payload    */
    AGING_MOST = 64,                    /* generations                       */
    AGING_CHUNK = INNER_CHUNK           /* keys asked at a time              */
};

enum { AGING_OPTION_OF, AGING_OPTION_GENERATIONS };

static const char *const aging_names[] = { PARTS_BITS(PARTS_NAME) NULL };
static const bly_kind *const aging_kinds[] = { PARTS_BITS(PARTS_KIND) };

static const kind_option aging_options[] = {
    [AGING_OPTION_OF] = {
        .name = "of", .help = "kind of the generations",
        .choices = aging_names, .standard = PARTS_BLOCKED,
    },
    [AGING_OPTION_GENERATIONS] = {
        .name = "generations", .help = "filters in the ring: more take less "
                                       "memory, if keys rarely repeat",
        .least = 2, .most = AGING_MOST, .standard = 2,
    },
    { .name = NULL },
};

/* ---- The ring ---------------------------------------------------------- */

typedef struct {
    const bly_kind *kind;
    uint8_t *head, *first;              /* image 0                           */
    uint64_t generations, stride, cap;
    uint64_t active, keys;
} aging_view;

static aging_view aging_look(const void *image)
{
    uint8_t *payload = image_payload_mut((void *)(uintptr_t)image);
    aging_view v = {
        .kind = aging_kinds[image_geometry(image, AGING_OF)],
        .head = payload, .first = payload + AGING_HEAD,
        .generations = image_geometry(image, AGING_GENERATIONS),
        .stride = image_geometry(image, AGING_STRIDE),
        .cap = image_geometry(image, AGING_CAP),
        .active = image_u64(payload, AGING_ACTIVE),
        .keys = image_u64(payload, AGING_KEYS),
    };
    if (v.active >= v.generations)
        v.active = 0;
    if (v.keys > v.cap)
        v.keys = v.cap;
    return v;
}

/* The generation of that age: 0 is the active one, generations - 1 the
 * oldest. */
static uint8_t *aging_at(const aging_view *v, uint64_t age)
{
    uint64_t number = v->active >= age ? v->active - age
                                       : v->active + v->generations - age;
    return v->first + number * v->stride;
}

/* Clear the oldest and make it the active one. */
static void aging_rotate(aging_view *v)
{
    v->active = v->active + 1 < v->generations ? v->active + 1 : 0;
    v->keys = 0;
    memset(image_payload_mut(aging_at(v, 0)), 0,
           (size_t)v->stride - IMAGE_HEADER);
}

/* Adds a key that the active filter lacks. Returns true after a rotation. */
static bool aging_write(aging_view *v, uint64_t hash)
{
    bool full = v->keys == v->cap;
    if (full)
        aging_rotate(v);
    v->kind->add(aging_at(v, 0), hash);
    v->keys++;
    return full;
}

static void aging_keep(const aging_view *v)
{
    image_set_u64(v->head, AGING_ACTIVE, v->active);
    image_set_u64(v->head, AGING_KEYS, v->keys);
}

/* ---- Plan -------------------------------------------------------------- */

typedef struct {
    const bly_kind *kind;
    kind_spec  spec;                    /* of one generation                 */
    bly_plan_t plan;
    uint64_t   generations, cap, stride, payload;
} aging_parts;

static bool aging_raw_hash(const kind_spec *spec)
{
    return aging_kinds[spec->option[AGING_OPTION_OF]]->raw_hash;
}

static bly_status aging_plan_parts(aging_parts *parts, const kind_spec *spec)
{
    uint64_t g = spec->option[AGING_OPTION_GENERATIONS], w = spec->capacity;
    if (w == 0)
        return kind_no_capacity();
    parts->generations = g;
    parts->cap = w / (g - 1) + (w % (g - 1) != 0);
    double p = -expm1(log1p(-spec->rate) / (double)g);
    parts->kind = aging_kinds[spec->option[AGING_OPTION_OF]];
    bly_status status = inner_plan_fresh(&parts->plan, &parts->spec,
                                         parts->kind, parts->cap, p);
    if (status == BLY_OK
        && (!inner_room(&parts->stride, parts->plan.bytes)
            || !sizes_mul(&parts->payload, parts->stride, g)
            || !sizes_add(&parts->payload, parts->payload, AGING_HEAD)))
        status = kind_too_big(spec, "2^64 bytes");
    return status;
}

/* Plans the fullest state, just before a rotation. */
static bly_status aging_plan(bly_plan_t *plan, const kind_spec *spec)
{
    aging_parts parts = { .payload = 0 };
    bly_status status = aging_plan_parts(&parts, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, parts.payload);
    if (status != BLY_OK)
        return status;

    const bly_plan_t *one = &parts.plan;
    double g = (double)parts.generations;
    plan->capacity = spec->capacity;
    plan->rate = -expm1(g * log1p(-one->rate));
    plan->rate_sd = one->rate_sd * sqrt(g) * pow(1 - one->rate, g - 1);
    plan->fill = one->fill;
    plan->window = parts.cap;
    plan->probes = one->probes;
    plan->lines_present = one->lines_present + (g - 1) * one->lines_absent;
    plan->lines_absent = g * one->lines_absent;
    plan->geometry[AGING_OF] = spec->option[AGING_OPTION_OF];
    plan->geometry[AGING_GENERATIONS] = parts.generations;
    plan->geometry[AGING_CAP] = parts.cap;
    plan->geometry[AGING_STRIDE] = parts.stride;
    return BLY_OK;
}

static bly_status aging_format(void *image, const kind_spec *spec)
{
    aging_parts parts = { .payload = 0 };
    uint8_t *at = image_payload_mut(image) + AGING_HEAD;
    bly_status status = aging_plan_parts(&parts, spec);
    for (uint64_t i = 0; i < parts.generations && status == BLY_OK; i++)
        status = inner_format(at + i * parts.stride, parts.kind, &parts.plan,
                              image, &parts.spec);
    return status;
}

/* ---- Check, contains, add ---------------------------------------------- */

static bool aging_sound(const void *image)
{
    uint64_t of = image_geometry(image, AGING_OF);
    uint64_t g = image_geometry(image, AGING_GENERATIONS);
    uint64_t stride = image_geometry(image, AGING_STRIDE), payload, room;
    if (of >= PARTS_OF_BITS || g < 2 || g > AGING_MOST
        || image_geometry(image, AGING_CAP) == 0
        || !sizes_mul(&payload, stride, g)
        || !sizes_add(&payload, payload, AGING_HEAD)
        || payload != image_payload_bytes(image))
        return false;
    const bly_kind *kind = aging_kinds[of];
    const uint8_t *first = image_payload(image) + AGING_HEAD;
    for (uint64_t i = 0; i < g; i++)
        if (!inner_check(image, AGING_HEAD + i * stride, kind)
            || !inner_alike(first, first + i * stride))
            return false;
    return image_geometry(image, AGING_CAP) <= image_u64(first, IMAGE_CAPACITY)
        && inner_room(&room, image_u64(first, IMAGE_BYTES)) && room == stride;
}

static bly_status aging_check(const void *image)
{
    return aging_sound(image) ? BLY_OK : kind_bad_geometry(image);
}

/* Returns whether a generation of that age or older has the key. */
static bool aging_has(const aging_view *v, uint64_t age, uint64_t hash)
{
    for (; age < v->generations; age++)
        if (v->kind->contains(aging_at(v, age), hash))
            return true;
    return false;
}

static bool aging_contains(const void *image, uint64_t hash)
{
    aging_view v = aging_look(image);
    return aging_has(&v, 0, hash);
}

static bly_status aging_add(void *image, uint64_t hash)
{
    aging_view v = aging_look(image);
    if (v.kind->contains(aging_at(&v, 0), hash))
        return BLY_SEEN;
    bool seen = aging_has(&v, 1, hash);
    aging_write(&v, hash);
    aging_keep(&v);
    return seen ? BLY_SEEN : BLY_OK;
}

/* ---- Batches ----------------------------------------------------------- */

/* Queries the older generations in turn for the keys, at most AGING_CHUNK, that
 * are not found yet. */
static void aging_query_older(const aging_view *v, const uint64_t *hashes,
                              size_t n, bool *present)
{
    inner_rest rest;
    inner_rest_begin(&rest, hashes, n, present);
    for (uint64_t age = 1; age < v->generations; age++)
        inner_rest_query(&rest, v->kind, aging_at(v, age), present);
}

static void aging_contains_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
    aging_view v = aging_look(image);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < AGING_CHUNK ? n - i : AGING_CHUNK;
        v.kind->contains_many(aging_at(&v, 0), hashes + i, some, present + i);
        aging_query_older(&v, hashes + i, some, present + i);
    }
}

/* Keys that fit into the active generation, even if all of them are new. No
 * rotation comes between, so the older ones may be asked at the end. */
static void aging_add_fitting(aging_view *v, const uint64_t *hashes, size_t n,
                              bool *seen, bool ask)
{
    size_t done, known = 0;
    v->kind->add_each(aging_at(v, 0), hashes, n, seen, &done);
    for (size_t i = 0; i < n; i++)
        known += seen[i];
    v->keys += n - known;
    if (ask)
        aging_query_older(v, hashes, n, seen);
}

/* Adds at most AGING_CHUNK keys, which may not fit, up to the first rotation. A
 * key that the active generation did not have is queried again, because it may
 * be in the batch twice; its lines are in the cache now. Returns the number of
 * keys added. */
static size_t aging_add_tail(aging_view *v, const uint64_t *hashes, size_t n,
                             bool *seen, bool ask)
{
    bool here[AGING_CHUNK];
    v->kind->contains_many(aging_at(v, 0), hashes, n, here);
    memcpy(seen, here, n);
    if (ask)
        aging_query_older(v, hashes, n, seen);
    for (size_t i = 0; i < n; i++) {
        if (here[i] || v->kind->contains(aging_at(v, 0), hashes[i]))
            seen[i] = true;
        else if (aging_write(v, hashes[i]))
            return i + 1;
    }
    return n;
}

/* Near the end of a generation a few keys are tried, and twice as many each
 * time that no rotation came. */
static void aging_add_all(void *image, const uint64_t *hashes, size_t n,
                          bool *seen)
{
    enum { FEW = 4 };
    aging_view v = aging_look(image);
    bool unasked[AGING_CHUNK];
    size_t few = FEW;
    for (size_t i = 0; i < n; ) {
        size_t some = n - i < AGING_CHUNK ? n - i : AGING_CHUNK;
        bool *told = seen != NULL ? seen + i : unasked;
        if (some <= v.cap - v.keys) {
            aging_add_fitting(&v, hashes + i, some, told, seen != NULL);
            i += some;
            continue;
        }
        some = some < few ? some : few;
        size_t done = aging_add_tail(&v, hashes + i, some, told, seen != NULL);
        few = done < some ? FEW : few < AGING_CHUNK ? 2 * few : AGING_CHUNK;
        i += done;
    }
    aging_keep(&v);
}

static bly_status aging_add_many(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done)
{
    aging_add_all(image, hashes, n, NULL);
    *done = n;
    return BLY_OK;
}

static bly_status aging_add_each(void *image, const uint64_t *hashes, size_t n,
                                 bool *seen, size_t *done)
{
    aging_add_all(image, hashes, n, seen);
    *done = n;
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

/* Estimates the different keys in all generations. The bits of two filters show
 * their common keys; with more filters, a key counts once for each that has it.
 * */
static bly_estimate aging_distinct(const aging_view *v)
{
    bly_overlap_t both;
    if (v->generations == 2) {
        v->kind->combining->overlap(&both, aging_at(v, 0), aging_at(v, 1));
        return both.either;
    }
    bly_estimate all = { 0, 0 };
    for (uint64_t age = 0; age < v->generations; age++) {
        bly_info_t one = { .bytes = 0 };
        v->kind->stat(&one, aging_at(v, age));
        all.value += one.distinct;
        all.sd = hypot(all.sd, one.distinct_sd);
    }
    return all;
}

static void aging_stat(bly_info_t *out, const void *image)
{
    aging_view v = aging_look(image);
    double clear = 1, fill = 0;
    for (uint64_t age = 0; age < v.generations; age++) {
        bly_info_t one = { .bytes = 0 };
        v.kind->stat(&one, aging_at(&v, age));
        clear *= 1 - one.rate;
        fill += one.fill;
        out->probes = one.probes;
    }
    bly_estimate distinct = aging_distinct(&v);
    out->distinct = distinct.value;
    out->distinct_sd = distinct.sd;
    out->fill = fill / (double)v.generations;
    out->rate = 1 - clear;
    out->window = v.cap;
}

static const kind_hashing aging_hashing = {
    .raw_of = aging_raw_hash,
};

const bly_kind bly_kind_aging = {
    .name    = "aging",
    .family  = "compound",
    .summary = "a window over a stream: a ring of filters",
    .version = AGING_VERSION,
    .options = aging_options,
    .forgets = true,

    .plan   = aging_plan,
    .format = aging_format,
    .check  = aging_check,
    .stat   = aging_stat,

    .contains      = aging_contains,
    .contains_many = aging_contains_many,

    .add      = aging_add,
    .add_many = aging_add_many,
    .add_each = aging_add_each,

    .hashing = &aging_hashing,
};
