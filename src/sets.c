/* sets.c - filters as sets of keys: union, intersection, overlap.
 *
 * Floor 5. Only filters of one kind, geometry, hash and seed go together:
 * anything else would need every pair of kinds to know each other. Others meet
 * through their keys.
 */
#include "bloomery.h"

#include "base/sizes.h"
#include "base/status.h"
#include "handle.h"

/* May these two be combined? */
static bly_status sets_match(const bly_filter *a, const bly_filter *b)
{
    bly_status status = handle_here(a, "combined");
    if (status == BLY_OK)
        status = handle_here(b, "combined");
    if (status != BLY_OK)
        return status;
    if (a->kind != b->kind)
        return status_fail(BLY_EMISMATCH, "one filter is of kind %s, the other "
                           "of kind %s: build both of one kind", a->kind->name,
                           b->kind->name);
    if (a->hash != b->hash)
        return status_fail(BLY_EMISMATCH, "the filters have the hash functions "
                           "%.8s and %.8s: build both with one",
                           (const char *)a->image + IMAGE_HASH,
                           (const char *)b->image + IMAGE_HASH);
    if (a->seed != b->seed)
        return status_fail(BLY_EMISMATCH, "the filters have the seeds %llu and "
                           "%llu: build both with one",
                           (unsigned long long)a->seed,
                           (unsigned long long)b->seed);
    if (a->bytes != b->bytes
        || memcmp(a->image + IMAGE_GEOMETRY, b->image + IMAGE_GEOMETRY,
                  8 * IMAGE_GEOMETRY_FIELDS) != 0
        || (a->kind->alike != NULL && !a->kind->alike(a->image, b->image)))
        return status_fail(BLY_EMISMATCH, "the filters are of unlike plans, "
                           "%llu and %llu bytes: build both for the same "
                           "number of keys, rate and options",
                           (unsigned long long)a->bytes,
                           (unsigned long long)b->bytes);
    return BLY_OK;
}

static bly_status sets_cannot(const bly_kind *kind, const char *verb)
{
    return status_fail(BLY_EUNSUPPORTED, "filters of kind %s cannot be %s",
                       kind->name, verb);
}

/* The items of a union: for a kind that counts, all of both; for another, some
 * keys may be in both. */
static uint64_t sets_items(const bly_filter *a, const bly_filter *b)
{
    uint64_t sum;
    if (a->items == 0 || b->items == 0)
        return a->items == 0 ? b->items : a->items;
    if (a->kind->count == NULL || a->items == IMAGE_ITEMS_UNKNOWN
        || b->items == IMAGE_ITEMS_UNKNOWN
        || !sizes_add(&sum, a->items, b->items))
        return IMAGE_ITEMS_UNKNOWN;
    return sum;
}

bly_status bly_unite(bly_filter *into, const bly_filter *other)
{
    bly_status status = sets_match(into, other);
    if (status == BLY_OK && into->kind->unite == NULL)
        status = sets_cannot(into->kind, "united");
    if (status == BLY_OK)
        status = handle_begin(into);
    if (status == BLY_OK)
        status = into->kind->unite(into->image, other->image);
    if (status == BLY_OK)
        into->items = sets_items(into, other);
    return status;
}

bly_status bly_intersect(bly_filter *into, const bly_filter *other)
{
    bly_status status = sets_match(into, other);
    if (status == BLY_OK && into->kind->intersect == NULL)
        status = sets_cannot(into->kind, "intersected");
    if (status == BLY_OK)
        status = handle_begin(into);
    if (status != BLY_OK)
        return status;
    into->kind->intersect(into->image, other->image);
    bool empty = into->items == 0 || other->items == 0;
    into->items = empty ? 0 : IMAGE_ITEMS_UNKNOWN;
    return BLY_OK;
}

bly_status bly_overlap(bly_overlap_t *out, const bly_filter *a,
                       const bly_filter *b)
{
    bly_status status = sets_match(a, b);
    if (status == BLY_OK && a->kind->overlap == NULL)
        status = sets_cannot(a->kind, "compared");
    if (status == BLY_OK)
        a->kind->overlap(out, a->image, b->image);
    return status;
}
