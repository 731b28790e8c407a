/* attenuated.c - how far away a key is: a filter for each distance.
 *
 * WHAT IT IS
 *
 * A stack of D filters of one plan, the levels. A key is put with a label from
 * 1 to D, its distance, and written to the level with that number. A lookup
 * returns the lowest level that has the key. In a network, a node keeps one
 * such filter for each link: it says what can be reached over the link, and in
 * how many hops.
 *
 * WHEN TO USE IT
 *
 * Use it to route requests to objects in a network without a map, for caches of
 * caches, or for nearness in a few steps. A key is never reported farther away
 * than it is, or absent. Filters can be united, also with their levels shifted
 * (bly_unite_at).
 *
 * WHEN NOT TO
 *
 * - Labels are not distances, or must be right: `approximator`, `spatial` and
 *   `bloomier` store labels.
 * - The levels differ much in size: all have the same plan, which wastes
 *   memory.
 * - One filter is to serve all links of a node: keep one filter per link.
 *   Otherwise the bits of different links mix, and requests are sent where
 *   nothing is.
 *
 * COST
 *
 *      D, rate     bits per key    cache lines read: present    absent key
 *      4, 1 %          38.4                 13                  8
 *      4, 0.1 %        57.5                 16                  8
 *
 * THE PICTURE (D = 3; a link of node u leads to v, behind which are w and z)
 *
 *                               v      w  z
 *      payload         | level 1 | level 2 | level 3 |
 *
 *      u ---- v ---- w      x at v: level 1
 *              \---- z      y at w: level 2         get y: 2
 *                           y at z too: level 2 has it already
 *
 *      what v sends to u    its own filter, to level 1, and what it knows of
 *                           its other links, each level to the next one; the
 *                           last level is dropped
 *
 *      That is bly_unite_at(message, own, 1) and, for each other link,
 *      bly_unite_at(message, link, 1). After D rounds of messages between
 *      neighbours, every node knows what is within D hops. What came over a
 *      link is not sent back over it, or a node would find its own keys at
 *      its neighbours.
 *
 * IMAGE
 *
 *      geometry 0   kind of the levels: 0 standard, 1 partitioned, 2 blocked,
 *                   3 split
 *      geometry 1   D, levels, 1 .. 64
 *      geometry 2   bytes from one level to the next
 *      geometry 3   zero
 *      payload      D images, level 1 first, each filled up with zeros to a
 *                   multiple of 64 bytes
 *
 *      All are whole images (docs/format) with the outer hash and seed.
 *      Their payload checksums are 0, because the outer one covers them, and
 *      their items "unknown". Valid if and only if (1) the fields are in these
 *      ranges, (2) all inner headers are valid, of that kind, hash and seed and
 *      of equal bytes and geometry, (3) geometry 2 is those bytes, rounded up
 *      to a multiple of 64, and (4) the payload is D times that.
 *
 *      A key has the same hash in all levels, so that levels can be shifted and
 *      plain filters of the levels' plan united into them.
 *
 * MATHS
 *
 * Let p_i be the rate of level i as it is. An absent key is reported at
 * distance d with probability (1), and a present key is reported nearer than it
 * is with probability (2), d being its level:
 *
 *      p_d (1 - p_1) … (1 - p_(d-1))                                     (1)
 *      1 - (1 - p_1) … (1 - p_(d-1))                                     (2)
 *
 * if different keys are in different levels; keys that are in several at once
 * make both smaller.
 *
 * An absent key that is found in some level has all its bits set there, and so
 * in the OR of all levels, which is a filter of all keys. Therefore
 *
 *      the rate of the whole <= the rate of one level with all n keys    (3)
 *
 * however the keys are spread. Each level is planned for the capacity, n
 * different keys in all levels together, and for the requested rate, not a
 * lower one. The plan reports the rate of all keys in one level, for which (3)
 * is equal. It also follows that a plain filter planned for the same keys and
 * rate can be united into a level.
 *
 * A level is worth less the more it holds. The rates of one row of m = 512 bits
 * and k = 4: 10 keys 0.003 %, 20 0.04 %, 50 1.1 %, 100 8.6 %, 200 39 %. Above a
 * fill of 0.7 a level matches nearly anything; read such an answer as "not
 * known". bly_list_labels reports (1), (2) and the share of all bits that are
 * set in a level, of which D times is the level's own fill.
 *
 * The number of different keys follows from the bits that are set in any level.
 * For all kinds of bits it is proportional to L = -ln(1 - fill), so that with
 * L_1, n_1 of the fullest level
 *
 *      n = n_1 L / L_1,     sd^2 = sd_1^2 g(L) / g(L_1),  g(x) = e^x - 1 - x
 *
 * (the second exactly for one row, otherwise approximately).
 *
 * BATCHES
 *
 * A batch goes level by level with the keys that are not found so far. bly_add
 * puts a key at distance D.
 *
 * PAPERS
 *
 *  [Rhea 2002]          Probabilistic location and routing, INFOCOM. The filter
 *                       for each link, the messages, the search.
 *  [Kubiatowicz 2000]   OceanStore: an architecture for global-scale
 *                       persistent storage, ASPLOS.
 *  [Koucheryavy 2009]   One filter for a node's links together. (3) and the
 *                       number of keys in all levels are ours.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bits/bits.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"

enum {
    ATTENUATED_VERSION = 1,
    ATTENUATED_OF = 0, ATTENUATED_DEPTH = 1, ATTENUATED_STRIDE = 2,
    ATTENUATED_ZERO = 3,
    ATTENUATED_MOST = 64,               /* levels                            */
    ATTENUATED_CHUNK = INNER_CHUNK,     /* keys of a batch at a time         */
    ATTENUATED_PIECE = 4096             /* bytes of levels laid together     */
};

enum { ATTENUATED_OPTION_OF, ATTENUATED_OPTION_DEPTH, ATTENUATED_OPTION_M,
       ATTENUATED_OPTION_K };

static const char *const attenuated_names[] = { PARTS_BITS(PARTS_NAME) NULL };
static const bly_kind *const attenuated_kinds[] = { PARTS_BITS(PARTS_KIND) };

static const kind_option attenuated_options[] = {
    [ATTENUATED_OPTION_OF] = {
        .name = "of", .help = "kind of the levels",
        .choices = attenuated_names, .standard = PARTS_STANDARD,
    },
    [ATTENUATED_OPTION_DEPTH] = {
        .name = "depth", .help = "levels, and the largest label",
        .least = 1, .most = ATTENUATED_MOST, .standard = 4,
    },
    [ATTENUATED_OPTION_M] = {
        .name = "m", .help = "number of bits of a level, instead of a rate",
        .least = 1, .most = UINT64_C(1) << 60, .standard = KIND_CHOOSE,
    },
    [ATTENUATED_OPTION_K] = {
        .name = "k", .help = "probes: bits that a key sets in its level",
        .least = 1, .most = 64, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- The levels -------------------------------------------------------- */

/* Levels are counted from 0 here: label - 1. */
typedef struct {
    const bly_kind *kind;
    uint8_t *first;
    uint64_t depth, stride;
} attenuated_view;

static attenuated_view attenuated_look(const void *image)
{
    return (attenuated_view){
        .kind = attenuated_kinds[image_geometry(image, ATTENUATED_OF)],
        .first = image_payload_mut((void *)(uintptr_t)image),
        .depth = image_geometry(image, ATTENUATED_DEPTH),
        .stride = image_geometry(image, ATTENUATED_STRIDE),
    };
}

static uint8_t *attenuated_at(const attenuated_view *v, uint64_t level)
{
    return v->first + level * v->stride;
}

/* Bits of the label of the last level. */
static uint32_t attenuated_label_bits(uint64_t depth)
{
    uint32_t bits = 0;
    while (depth >> bits != 0)
        bits++;
    return bits;
}

/* ---- Plan -------------------------------------------------------------- */

typedef struct {
    const bly_kind *kind;
    kind_spec  spec;                    /* of one level                      */
    bly_plan_t plan;
    uint64_t   depth, stride, payload;
} attenuated_parts;

/* Hand an option of ours on to the levels, whose kind may not have it, or not
 * go as far. */
static bly_status attenuated_hand_on(attenuated_parts *parts, size_t ours,
                                     uint64_t value)
{
    const char *name = attenuated_options[ours].name;
    if (value == KIND_CHOOSE
        || kind_spec_give(&parts->spec, parts->kind, name, value))
        return BLY_OK;
    return status_fail(BLY_EPARAM, "levels of kind %s cannot have %s=%llu: "
                       "see that kind's options, or choose of=standard",
                       parts->kind->name, name, (unsigned long long)value);
}

static bool attenuated_raw_hash(const kind_spec *spec)
{
    return attenuated_kinds[spec->option[ATTENUATED_OPTION_OF]]->raw_hash;
}

static bly_status attenuated_plan_parts(attenuated_parts *parts,
                                        const kind_spec *spec)
{
    parts->kind = attenuated_kinds[spec->option[ATTENUATED_OPTION_OF]];
    parts->depth = spec->option[ATTENUATED_OPTION_DEPTH];
    parts->spec = kind_spec_plain(parts->kind, spec->capacity, spec->rate);
    bly_status status = BLY_OK;
    for (size_t i = ATTENUATED_OPTION_M; i <= ATTENUATED_OPTION_K; i++)
        if (status == BLY_OK)
            status = attenuated_hand_on(parts, i, spec->option[i]);
    if (status == BLY_OK)
        status = inner_plan_spec(&parts->plan, parts->kind, &parts->spec);
    if (status == BLY_OK
        && (!inner_room(&parts->stride, parts->plan.bytes)
            || !sizes_mul(&parts->payload, parts->stride, parts->depth)))
        status = kind_too_big(spec, "2^64 bytes");
    return status;
}

/* With all keys in one level: see MATHS. */
static bly_status attenuated_plan(bly_plan_t *plan, const kind_spec *spec)
{
    attenuated_parts parts = { .payload = 0 };
    bly_status status = attenuated_plan_parts(&parts, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, parts.payload);
    if (status != BLY_OK)
        return status;

    const bly_plan_t *one = &parts.plan;
    double depth = (double)parts.depth;
    plan->capacity = one->capacity;
    plan->rate = one->rate;
    plan->rate_sd = one->rate_sd;
    plan->fill = one->fill / depth;
    plan->probes = one->probes;
    plan->lines_present = one->lines_present + (depth - 1) * one->lines_absent;
    plan->lines_absent = depth * one->lines_absent;
    plan->label_least = 1;
    plan->label_most = parts.depth;
    plan->label_bits = attenuated_label_bits(parts.depth);
    plan->geometry[ATTENUATED_OF] = spec->option[ATTENUATED_OPTION_OF];
    plan->geometry[ATTENUATED_DEPTH] = parts.depth;
    plan->geometry[ATTENUATED_STRIDE] = parts.stride;
    plan->geometry[ATTENUATED_ZERO] = 0;
    return BLY_OK;
}

static bly_status attenuated_format(void *image, const kind_spec *spec)
{
    attenuated_parts parts = { .payload = 0 };
    uint8_t *at = image_payload_mut(image);
    bly_status status = attenuated_plan_parts(&parts, spec);
    for (uint64_t i = 0; i < parts.depth && status == BLY_OK; i++)
        status = inner_format(at + i * parts.stride, parts.kind, &parts.plan,
                              image, &parts.spec);
    return status;
}

/* ---- Check ------------------------------------------------------------- */

static bool attenuated_sound(const void *image)
{
    uint64_t of = image_geometry(image, ATTENUATED_OF);
    uint64_t depth = image_geometry(image, ATTENUATED_DEPTH);
    uint64_t stride = image_geometry(image, ATTENUATED_STRIDE), payload, room;
    if (of >= PARTS_OF_BITS || depth < 1 || depth > ATTENUATED_MOST
        || image_geometry(image, ATTENUATED_ZERO) != 0
        || !sizes_mul(&payload, stride, depth)
        || payload != image_payload_bytes(image))
        return false;
    attenuated_view v = attenuated_look(image);
    for (uint64_t i = 0; i < depth; i++)
        if (!inner_check(image, i * stride, v.kind)
            || !inner_alike(v.first, attenuated_at(&v, i)))
            return false;
    return inner_room(&room, image_u64(v.first, IMAGE_BYTES)) && room == stride;
}

static bly_status attenuated_check(const void *image)
{
    return attenuated_sound(image) ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains, get ----------------------------------------------------- */

/* The nearest of the first `levels` levels that has the key, or `levels`. */
static uint64_t attenuated_find(const attenuated_view *v, uint64_t levels,
                                uint64_t hash)
{
    uint64_t level = 0;
    while (level < levels && !v->kind->contains(attenuated_at(v, level), hash))
        level++;
    return level;
}

static bool attenuated_contains(const void *image, uint64_t hash)
{
    attenuated_view v = attenuated_look(image);
    return attenuated_find(&v, v.depth, hash) < v.depth;
}

static bool attenuated_get(const void *image, uint64_t hash, uint64_t *label)
{
    attenuated_view v = attenuated_look(image);
    uint64_t level = attenuated_find(&v, v.depth, hash);
    if (level < v.depth)
        *label = level + 1;
    return level < v.depth;
}

/* Up to a chunk of keys, by the first `levels` levels; labels may be NULL. */
static void attenuated_find_some(const attenuated_view *v, uint64_t levels,
                                 const uint64_t *hashes, size_t n, bool *found,
                                 uint64_t *labels)
{
    inner_rest rest;
    uint16_t place[INNER_CHUNK];
    memset(found, 0, n * sizeof *found);
    inner_rest_begin(&rest, hashes, n, found);
    for (uint64_t level = 0; level < levels && rest.n > 0; level++) {
        size_t asked = rest.n;
        memcpy(place, rest.place, asked * sizeof *place);
        inner_rest_query(&rest, v->kind, attenuated_at(v, level), found);
        for (size_t i = 0; labels != NULL && i < asked; i++)
            if (found[place[i]])
                labels[place[i]] = level + 1;
    }
}

static size_t attenuated_some(size_t left)
{
    return left < ATTENUATED_CHUNK ? left : ATTENUATED_CHUNK;
}

static void attenuated_contains_many(const void *image, const uint64_t *hashes,
                                     size_t n, bool *present)
{
    attenuated_view v = attenuated_look(image);
    for (size_t i = 0, some; i < n; i += some) {
        some = attenuated_some(n - i);
        attenuated_find_some(&v, v.depth, hashes + i, some, present + i, NULL);
    }
}

static void attenuated_get_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *found, uint64_t *labels)
{
    attenuated_view v = attenuated_look(image);
    for (size_t i = 0, some; i < n; i += some) {
        some = attenuated_some(n - i);
        attenuated_find_some(&v, v.depth, hashes + i, some, found + i,
                             labels + i);
    }
}

/* ---- Add, put ---------------------------------------------------------- */

/* Written to the last level, but seen where any has it. */
static bly_status attenuated_add(void *image, uint64_t hash)
{
    attenuated_view v = attenuated_look(image);
    uint64_t last = v.depth - 1;
    bool nearer = attenuated_find(&v, last, hash) < last;
    bly_status status = v.kind->add(attenuated_at(&v, last), hash);
    return nearer ? BLY_SEEN : status;
}

static bly_status attenuated_add_many(void *image, const uint64_t *hashes,
                                      size_t n, size_t *done)
{
    attenuated_view v = attenuated_look(image);
    return v.kind->add_many(attenuated_at(&v, v.depth - 1), hashes, n, done);
}

/* The nearer levels do not change on the way. */
static bly_status attenuated_add_each(void *image, const uint64_t *hashes,
                                      size_t n, bool *seen, size_t *done)
{
    attenuated_view v = attenuated_look(image);
    uint64_t last = v.depth - 1;
    bool nearer[ATTENUATED_CHUNK];
    size_t in;
    for (size_t i = 0, some; i < n; i += some) {
        some = attenuated_some(n - i);
        attenuated_find_some(&v, last, hashes + i, some, nearer, NULL);
        v.kind->add_each(attenuated_at(&v, last), hashes + i, some, seen + i,
                         &in);
        for (size_t j = 0; j < some; j++)
            seen[i + j] |= nearer[j];
    }
    *done = n;
    return BLY_OK;
}

static bool attenuated_is_level(const attenuated_view *v, uint64_t label)
{
    return label >= 1 && label <= v->depth;
}

static bly_status attenuated_no_level(const attenuated_view *v, uint64_t label)
{
    return status_fail(BLY_EPARAM, "this filter has no level %llu: give one "
                       "from 1 to %llu, or build it with a larger depth=",
                       (unsigned long long)label, (unsigned long long)v->depth);
}

static bly_status attenuated_put(void *image, uint64_t hash, uint64_t label)
{
    attenuated_view v = attenuated_look(image);
    return attenuated_is_level(&v, label)
         ? v.kind->add(attenuated_at(&v, label - 1), hash)
         : attenuated_no_level(&v, label);
}

/* Up to a chunk, level by level: the order in which bits are set leaves no
 * trace. */
static void attenuated_put_some(const attenuated_view *v,
                                const uint64_t *hashes, const uint64_t *labels,
                                size_t n)
{
    size_t end[ATTENUATED_MOST + 1] = { 0 }, done;
    uint64_t sorted[ATTENUATED_CHUNK];
    for (size_t i = 0; i < n; i++)
        end[labels[i]]++;
    for (uint64_t label = 1; label <= v->depth; label++)
        end[label] += end[label - 1];
    for (size_t i = n; i-- > 0; )
        sorted[--end[labels[i]]] = hashes[i];
    for (uint64_t label = 1; label <= v->depth; label++) {
        size_t next = label < v->depth ? end[label + 1] : n;
        v->kind->add_many(attenuated_at(v, label - 1), sorted + end[label],
                          next - end[label], &done);
    }
}

static bly_status attenuated_put_many(void *image, const uint64_t *hashes,
                                      const uint64_t *labels, size_t n,
                                      size_t *done)
{
    attenuated_view v = attenuated_look(image);
    size_t good = 0;
    while (good < n && attenuated_is_level(&v, labels[good]))
        good++;
    for (size_t i = 0, some; i < good; i += some) {
        some = attenuated_some(good - i);
        attenuated_put_some(&v, hashes + i, labels + i, some);
    }
    *done = good;
    return good == n ? BLY_OK : attenuated_no_level(&v, labels[good]);
}

/* ---- Sets -------------------------------------------------------------- */

static bool attenuated_alike(const void *a, const void *b)
{
    return inner_alike(attenuated_look(a).first, attenuated_look(b).first);
}

/* Reports that a filter cannot be united into a level. */
static bly_status attenuated_unlike(const attenuated_view *v,
                                    const uint8_t *other)
{
    return status_fail(BLY_EMISMATCH, "the levels are filters of kind %s with "
                       "%llu bytes, and the other filter has bits of kind "
                       "%.16s with %llu bytes: build both for the same number "
                       "of keys, rate and options", v->kind->name,
                       (unsigned long long)image_u64(v->first, IMAGE_BYTES),
                       (const char *)other + IMAGE_KIND,
                       (unsigned long long)image_u64(other, IMAGE_BYTES));
}

/* Level i of the other to level i + by, the last one first, so that the other
 * may be this one too. */
static bly_status attenuated_unite_by(void *image, const void *other,
                                      uint64_t by)
{
    attenuated_view v = attenuated_look(image), o = attenuated_look(other);
    for (uint64_t level = v.depth; level-- > by; )
        v.kind->combining->unite(attenuated_at(&v, level),
                                 attenuated_at(&o, level - by));
    return BLY_OK;
}

static bly_status attenuated_unite(void *image, const void *other)
{
    return attenuated_unite_by(image, other, 0);
}

static bly_status attenuated_unite_at(void *image, const void *other,
                                      uint64_t label)
{
    attenuated_view v = attenuated_look(image);
    const uint8_t *outer = image, *plain = other;
    if (!attenuated_is_level(&v, label))
        return attenuated_no_level(&v, label);
    if (memcmp(outer + IMAGE_KIND, plain + IMAGE_KIND, IMAGE_KIND_NAME) == 0)
        return attenuated_unite_by(image, other, label);
    return inner_alike(v.first, plain)
         ? v.kind->combining->unite(attenuated_at(&v, label - 1), plain)
         : attenuated_unlike(&v, plain);
}

/* ---- Look inside ------------------------------------------------------- */

static void attenuated_each_label(const void *image, bly_visit_label *visit,
                                  void *context)
{
    attenuated_view v = attenuated_look(image);
    double none = 0;                    /* logarithm: to be in none so far   */
    for (uint64_t level = 0; level < v.depth; level++) {
        bly_info_t one = { .bytes = 0 };
        v.kind->stat(&one, attenuated_at(&v, level));
        bly_label_t label = {
            .label = level + 1, .fill = one.fill / (double)v.depth,
            .rate = exp(none) * one.rate,
            .mistaken = none < 0 ? -expm1(none) : 0,
        };
        if (!visit(context, &label))
            return;
        none += log1p(-one.rate);
    }
}

/* Bits that are set in any level: all are laid over one another, piece by
 * piece. */
static uint64_t attenuated_set(const attenuated_view *v)
{
    uint8_t piece[ATTENUATED_PIECE];
    size_t bytes = image_payload_bytes(v->first), some;
    uint64_t set = 0;
    for (size_t at = 0; at < bytes; at += some) {
        some = bytes - at < sizeof piece ? bytes - at : sizeof piece;
        memset(piece, 0, some);
        for (uint64_t level = 0; level < v->depth; level++)
            bits_or(piece, image_payload(attenuated_at(v, level)) + at, some);
        set += bits_count(piece, some);
    }
    return set;
}

/* e^x - 1 - x, which for a small x is lost in the difference. */
static double attenuated_spread(double x)
{
    return x < 1e-4 ? x * x / 2 : expm1(x) - x;
}

/* Estimates the different keys in all levels, from the fullest level and the
 * further bits of the others. */
static bly_estimate attenuated_distinct(const attenuated_view *v,
                                        const bly_info_t *most,
                                        uint64_t most_set)
{
    uint64_t set = attenuated_set(v);
    if (set == most_set)
        return (bly_estimate){ most->distinct, most->distinct_sd };
    double fill = most->fill * (double)set / (double)most_set;
    if (!(fill < 1))
        return (bly_estimate){ (double)INFINITY, (double)INFINITY };
    double all = -log1p(-fill), one = -log1p(-most->fill);
    return (bly_estimate){
        most->distinct * all / one,
        most->distinct_sd * sqrt(attenuated_spread(all)
                                 / attenuated_spread(one)),
    };
}

static void attenuated_stat(bly_info_t *out, const void *image)
{
    attenuated_view v = attenuated_look(image);
    bly_info_t most = { .bytes = 0 };
    uint64_t most_set = 0;
    double none = 0, fill = 0;          /* logarithm: to be in none          */
    for (uint64_t level = 0; level < v.depth; level++) {
        bly_info_t one = { .bytes = 0 };
        const uint8_t *at = attenuated_at(&v, level);
        uint64_t set = bits_count(image_payload(at), image_payload_bytes(at));
        v.kind->stat(&one, at);
        none += log1p(-one.rate);
        fill += one.fill;
        if (level == 0 || set > most_set) {
            most = one;
            most_set = set;
        }
    }
    bly_estimate distinct = attenuated_distinct(&v, &most, most_set);
    out->distinct = distinct.value;
    out->distinct_sd = distinct.sd;
    out->fill = fill / (double)v.depth;
    out->rate = none < 0 ? -expm1(none) : 0;
    out->probes = most.probes;
    out->label_least = 1;
    out->label_most = v.depth;
    out->label_bits = attenuated_label_bits(v.depth);
}

static const kind_hashing attenuated_hashing = {
    .raw_of = attenuated_raw_hash,
};

static const kind_labels attenuated_labels = {
    .put      = attenuated_put,
    .put_many = attenuated_put_many,
    .get      = attenuated_get,
    .get_many = attenuated_get_many,
    .each     = attenuated_each_label,
    .better   = KIND_LABEL_SMALLER,
};

static const kind_combining attenuated_combining = {
    .alike    = attenuated_alike,
    .unite    = attenuated_unite,
    .unite_at = attenuated_unite_at,
};

const bly_kind bly_kind_attenuated = {
    .name    = "attenuated",
    .family  = "compound",
    .summary = "how far away a key is: a filter for each distance",
    .version = ATTENUATED_VERSION,
    .options = attenuated_options,

    .plan   = attenuated_plan,
    .format = attenuated_format,
    .check  = attenuated_check,
    .stat   = attenuated_stat,

    .contains      = attenuated_contains,
    .contains_many = attenuated_contains_many,

    .add      = attenuated_add,
    .add_many = attenuated_add_many,
    .add_each = attenuated_add_each,

    .hashing   = &attenuated_hashing,
    .labels    = &attenuated_labels,
    .combining = &attenuated_combining,
};
