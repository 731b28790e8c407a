/* sets.c - union, intersection, overlap and difference of filters.
 *
 * Only filters of one kind, geometry, hash and seed can be combined. Anything
 * else would need code for every pair of kinds.
 */
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "bloomery/form.h"
#include "bloomery/nested.h"
#include "bloomery/sketch.h"
#include "verbs/handle.h"
#include "verbs/order.h"
#include "verbs/registry.h"

static bly_status sets_here(const bly_filter *a, const bly_filter *b)
{
    bly_status status = handle_here(a, "combined");
    return status == BLY_OK ? handle_here(b, "combined") : status;
}

static bly_status sets_match_forms(uint64_t a, uint64_t b)
{
    char first[BLY_FORM_TEXT], second[BLY_FORM_TEXT];
    if (a == b || bly_form_same(a, b))
        return BLY_OK;
    if (bly_form_nests(a | b)
        && (a == BLY_KEYS_UNSTATED || b == BLY_KEYS_UNSTATED))
        return status_fail(BLY_EMISMATCH, "one filter states the form of its "
                           "keys, %s, but the other does not, and may lack "
                           "the markers of its levels: build it with this form",
                           bly_form_write(first, a | b));
    if (a == BLY_KEYS_UNSTATED || b == BLY_KEYS_UNSTATED)
        return status_fail(BLY_EMISMATCH, "one filter states the form of its "
                           "keys, %s, but the other does not: state it there "
                           "if it is the same (bly_form_set)",
                           bly_form_write(first, a | b));
    return status_fail(BLY_EMISMATCH, "the filters' keys have the forms %s and "
                       "%s: build both with the same form",
                       bly_form_write(first, a), bly_form_write(second, b));
}

/* Returns whether a filter has no keys and states no form of keys: one of any
 * form can be combined with it. A kind that subtracts can have a count of 0 and
 * keys, if others were removed than were added: it is empty if all its cells
 * are 0. */
static bool sets_blank(const bly_filter *filter)
{
    if (filter->items != 0 || bly_form_of(filter) != BLY_KEYS_UNSTATED)
        return false;
    if (!KIND_HAS(filter->kind, combining, subtract))
        return true;
    const uint8_t *cells = image_payload(filter->image);
    uint64_t bytes = image_payload_bytes(filter->image);
    return cells[0] == 0 && memcmp(cells, cells + 1, (size_t)bytes - 1) == 0;
}

/* Checks that both filters hash keys alike. */
static bly_status sets_match_keys(const bly_filter *a, const bly_filter *b)
{
    if (a->hasher.function != b->hasher.function)
        return status_fail(BLY_EMISMATCH, "the filters have the hash functions "
                           "%.8s and %.8s: build both with the same one",
                           (const char *)a->image + IMAGE_HASH,
                           (const char *)b->image + IMAGE_HASH);
    uint64_t first = image_u64(a->image, IMAGE_SEED);
    uint64_t second = image_u64(b->image, IMAGE_SEED);
    if (first != second)
        return status_fail(BLY_EMISMATCH, "the filters have the seeds %llu and "
                           "%llu, or different secrets: build both with the "
                           "same one", (unsigned long long)first,
                           (unsigned long long)second);
    return sets_blank(a) || sets_blank(b) ? BLY_OK
         : sets_match_forms(bly_form_of(a), bly_form_of(b));
}

/* Checks that the two filters can be combined. */
static bly_status sets_match(const bly_filter *a, const bly_filter *b)
{
    bly_status status = sets_here(a, b);
    if (status != BLY_OK)
        return status;
    if (a->kind != b->kind)
        return status_fail(BLY_EMISMATCH, "one filter is of kind %s, the other "
                           "of kind %s: build both of the same kind",
                           a->kind->name, b->kind->name);
    status = sets_match_keys(a, b);
    if (status != BLY_OK)
        return status;
    if (KIND_HAS(a->kind, combining, union_capacity))
        return a->kind->combining->alike(a->image, b->image) ? BLY_OK
             : status_fail(BLY_EMISMATCH, "the filters are for different "
                           "rates: build both for the same one");
    bool sizes = a->kind->foreign == NULL;      /* data may be attached      */
    if ((sizes && a->bytes != b->bytes)
        || memcmp(a->image + IMAGE_GEOMETRY, b->image + IMAGE_GEOMETRY,
                  8 * IMAGE_GEOMETRY_FIELDS) != 0
        || (KIND_HAS(a->kind, combining, alike)
            && !a->kind->combining->alike(a->image, b->image)))
        return status_fail(BLY_EMISMATCH, "the filters have different plans, "
                           "of %llu and %llu bytes%s: build both for the same "
                           "number of keys, rate and options",
                           (unsigned long long)a->bytes,
                           (unsigned long long)b->bytes,
                           a->bytes != b->bytes ? ""
                           : ", which they use in different ways");
    return BLY_OK;
}

static bly_status sets_cannot(const bly_kind *kind, const char *verb,
                              uint64_t ability)
{
    char able[REGISTRY_LINE];
    registry_able(able, ability);
    return status_fail(BLY_EUNSUPPORTED, "filters of kind %s cannot be %s: "
                       "kinds that can are %s", kind->name, verb, able);
}

/* Checks that `into` can be changed by the other filter, and begins the change.
 */
static bly_status sets_begin(bly_filter *into, const bly_filter *other,
                             uint64_t ability, const char *verb)
{
    bly_status status = sets_match(into, other);
    if (status == BLY_OK && (registry_can(into->kind) & ability) == 0)
        status = sets_cannot(into->kind, verb, ability);
    return status == BLY_OK ? handle_begin(into) : status;
}

/* Returns the item count of a union: the sum for a kind that counts or
 * subtracts; otherwise unknown, as some keys may be in both. */
static uint64_t sets_items(const bly_filter *a, const bly_filter *b)
{
    uint64_t sum;
    if (a->items == 0 || b->items == 0)
        return a->items == 0 ? b->items : a->items;
    const bly_kind *kind = a->kind;
    bool counts = kind->count != NULL
               && (!KIND_HAS(kind, varying, counts)
                   || kind->varying->counts(a->image));
    if ((!counts && !KIND_HAS(kind, combining, subtract))
        || a->items == IMAGE_ITEMS_UNKNOWN || b->items == IMAGE_ITEMS_UNKNOWN
        || !sizes_add(&sum, a->items, b->items))
        return IMAGE_ITEMS_UNKNOWN;
    return sum;
}

/* ---- In-place changes --------------------------------------------------- */

typedef struct {
    task        task;
    bly_filter *into;
    void       *image;
    uint64_t    bytes;
} sets_change;

/* Begins a change of all of an image. If the call may be cancelled, a copy is
 * changed and then takes the image's place. A mapped image may be larger than
 * memory, so it is changed where it is, and the call cannot be cancelled. */
static bly_status sets_open(sets_change *c, bly_filter *into)
{
    c->into = into;
    c->image = into->image;
    c->bytes = into->bytes;
    task_begin(&c->task, &into->progress, into->bytes);
    if (task_share() == NULL)
        return BLY_OK;
    if (into->source != &handle_owned) {
        task_commit();
        return BLY_OK;
    }
    c->image = memory_raw(&into->allocator, into->bytes);
    if (c->image == NULL)
        return handle_no_memory(into->bytes);
    task_phase(0.5, into->bytes);
    task_copy(c->image, into->image, into->bytes);
    task_phase(0.5, into->bytes);
    return task_status();
}

/* Does the same for a kind whose filters have to be enlarged to be united, and
 * unites them. As in order_resized(), they may need more room by chance. */
static bly_status sets_unite_larger(sets_change *c, bly_filter *into,
                                    const bly_filter *other)
{
    const kind_combining *combining = into->kind->combining;
    uint64_t capacity = combining->union_capacity(into->image, other->image);
    order o = order_like(into);
    c->into = into;
    c->image = into->image;
    task_begin(&c->task, &into->progress, into->bytes + other->bytes);
    for (int tries = 0; ; tries++) {
        void *image;
        bly_status status = order_resized(&o, &image, into, capacity);
        if (status != BLY_OK)
            return status;
        c->image = image;
        c->bytes = o.plan.bytes;
        if (into->source != &handle_owned && c->bytes != into->bytes)
            return status_fail(BLY_EFULL, "a filter that is mapped from its "
                               "file cannot change its size: open it without "
                               "BLY_MAP, unite and save it");
        status = combining->unite(image, other->image);
        if (status != BLY_EFULL || tries == ORDER_TRIES)
            return status;
        c->image = into->image;
        memory_release(&into->allocator, image, (size_t)c->bytes);
        capacity = order_more(&o);
    }
}

/* Writes the payload of an image of the same size over that of a mapped one,
 * whose header is its own. */
static void sets_write(bly_filter *into, const void *image)
{
    memcpy(into->image + IMAGE_HEADER, image_payload(image),
           into->bytes - IMAGE_HEADER);
    handle_choose(into);
}

static bly_status sets_close(sets_change *c, bly_status status)
{
    bly_filter *into = c->into;
    status = task_status_or(status);
    if (c->image != into->image && status == BLY_OK
        && into->source == &handle_owned)
        handle_replace(into, c->image, (size_t)c->bytes);
    else if (c->image != into->image && status == BLY_OK)
        sets_write(into, c->image);
    if (c->image != into->image)
        memory_release(&into->allocator, c->image, (size_t)c->bytes);
    return task_end(&c->task, status);
}

/* Counts the keys in `into`, which now has those of the other. If it states no
 * form, either it had no keys or the other states none: it takes over
 * the form of the other. */
static void sets_joined(bly_filter *into, const bly_filter *other,
                        uint64_t items)
{
    if (bly_form_of(into) == BLY_KEYS_UNSTATED)
        image_set_u16(into->image, IMAGE_FORM, bly_form_of(other));
    into->items = items;
}

bly_status bly_unite(bly_filter *into, const bly_filter *other)
{
    sets_change c;
    bly_status status = sets_begin(into, other, BLY_CAN_UNITE, "united");
    if (status != BLY_OK)
        return status;
    if (KIND_HAS(into->kind, combining, union_capacity)) {
        status = sets_unite_larger(&c, into, other);
    } else {
        status = sets_open(&c, into);
        if (status == BLY_OK)
            status = into->kind->combining->unite(c.image, other->image);
    }
    status = sets_close(&c, status);
    if (status == BLY_OK)
        sets_joined(into, other, sets_items(into, other));
    return status;
}

/* Returns the item count after uniting at a label: keys may be in both, or left
   out. */
static uint64_t sets_items_at(const bly_filter *into, const bly_filter *other)
{
    if (other->items == 0)
        return into->items;
    return into->items == 0 && into->kind != other->kind ? other->items
                                                         : IMAGE_ITEMS_UNKNOWN;
}

bly_status bly_unite_at(bly_filter *into, const bly_filter *other,
                        uint64_t label)
{
    sets_change c;
    bly_status status = sets_here(into, other);
    if (status == BLY_OK && !KIND_HAS(into->kind, combining, unite_at))
        status = sets_cannot(into->kind, "united at a label",
                             BLY_CAN_UNITE_AT);
    if (status == BLY_OK)
        status = into->kind == other->kind ? sets_match(into, other)
                                           : sets_match_keys(into, other);
    if (status == BLY_OK)
        status = handle_begin(into);
    if (status != BLY_OK)
        return status;
    status = sets_open(&c, into);
    if (status == BLY_OK)
        status = into->kind->combining->unite_at(c.image, other->image, label);
    status = sets_close(&c, status);
    if (status == BLY_OK)
        sets_joined(into, other, sets_items_at(into, other));
    return status;
}

/* Refuses filters of keys that lie within others: an intersection has the
 * entries in both, and lacks a key that lies within different ones. */
static bly_status sets_nest(const bly_filter *a, const bly_filter *b)
{
    char text[BLY_FORM_TEXT];
    uint64_t form = bly_form_nests(bly_form_of(a)) ? bly_form_of(a)
                                                   : bly_form_of(b);
    if (!bly_form_nests(form))
        return BLY_OK;
    return status_fail(BLY_EUNSUPPORTED, "filters of the form %s cannot be "
                       "intersected: a key may lie within an entry of each of "
                       "them, and these entries differ; look up keys in both",
                       bly_form_write(text, form));
}

bly_status bly_intersect(bly_filter *into, const bly_filter *other)
{
    sets_change c;
    bly_status status = sets_nest(into, other);
    if (status == BLY_OK)
        status = sets_begin(into, other, BLY_CAN_INTERSECT, "intersected");
    if (status != BLY_OK)
        return status;
    status = sets_open(&c, into);
    if (status == BLY_OK)
        into->kind->combining->intersect(c.image, other->image);
    status = sets_close(&c, status);
    if (status != BLY_OK)
        return status;
    bool empty = into->items == 0 || other->items == 0;
    into->items = empty ? 0 : IMAGE_ITEMS_UNKNOWN;
    return BLY_OK;
}

bly_status bly_subtract(bly_filter *into, const bly_filter *other)
{
    sets_change c;
    bly_status status = sets_begin(into, other, BLY_CAN_SUBTRACT,
                                   "subtracted");
    if (status != BLY_OK)
        return status;
    status = sets_open(&c, into);
    if (status == BLY_OK)
        status = into->kind->combining->subtract(c.image, other->image);
    status = sets_close(&c, status);
    if (status == BLY_OK)
        sets_joined(into, other, other->items == 0 ? into->items
                                                   : IMAGE_ITEMS_UNKNOWN);
    return status;
}

/* The caller's visitor may use the library for other filters. */
typedef struct {
    bly_visit_key *visit;
    void          *context;
} sets_visitor;

static bool sets_visit(void *context, const bly_listed *key)
{
    const sets_visitor *visitor = context;
    task *outer = task_aside();
    bool more = visitor->visit(visitor->context, key);
    task_back(outer);
    return more;
}

bly_status bly_list_keys(const bly_filter *filter, bly_visit_key *visit,
                         void *context)
{
    bly_status status = handle_here(filter, "listed");
    if (status == BLY_OK && !KIND_HAS(filter->kind, listing, keys))
        status = sets_cannot(filter->kind, "listed key by key",
                             BLY_CAN_LIST_KEYS);
    if (status != BLY_OK)
        return status;
    const kind_listing *listing = filter->kind->listing;
    uint64_t bytes = listing->keys_scratch(filter->image);
    status = handle_allows(filter, bytes);
    if (status != BLY_OK)
        return status;
    void *scratch = memory_raw(&filter->allocator, bytes);
    if (scratch == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: listing the keys takes "
                           "%.4g MiB: make filters for fewer",
                           (double)bytes / (1 << 20));
    task t;
    sets_visitor visitor = { visit, context };
    task_begin(&t, &filter->progress, filter->bytes);
    status = listing->keys(filter->image, scratch, &filter->hasher, sets_visit,
                           &visitor);
    status = task_status_or(status);
    (void)task_end(&t, status);
    memory_release(&filter->allocator, scratch, (size_t)bytes);
    return status;
}

bly_status bly_overlap(bly_overlap_t *out, const bly_filter *a,
                       const bly_filter *b)
{
    bly_status status = sets_match(a, b);
    if (status == BLY_OK && !KIND_HAS(a->kind, combining, overlap))
        status = sets_cannot(a->kind, "compared", BLY_CAN_OVERLAP);
    if (status != BLY_OK)
        return status;
    task t;
    bly_overlap_t overlap = { .reserved = { 0 } };
    task_begin(&t, &a->progress, a->bytes);
    a->kind->combining->overlap(&overlap, a->image, b->image);
    status = task_end(&t, task_status());
    if (status == BLY_OK)
        *out = overlap;
    return status;
}
