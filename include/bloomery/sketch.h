/* bloomery/sketch.h - lists the contents of filters that can list them:
 * fingerprints, or whole keys and the difference of two sets.
 */
#ifndef BLOOMERY_SKETCH_H
#define BLOOMERY_SKETCH_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called with each fingerprint in a filter: the smallest hash that has it, and
 * how often it was added. The hashes with this fingerprint are those from
 * `hash` up to the one before the next fingerprint's. There are at most 2^bits
 * possible fingerprints, and more than half as many. (If fingerprints are
 * simply the high `bits` bits of a hash, the low bits of `hash` are 0.) In a
 * filter that grows they have different numbers of bits: each has its own
 * `bits`, its hashes are those with the same high bits, and one can begin
 * another. Return false to stop. */
typedef bool bly_visit_fingerprint(void *context, uint64_t hash, unsigned bits,
                                   uint64_t count);

/* Visits all fingerprints in a filter, in rising order; in a filter that grows,
 * in any order. BLY_OK, also if `visit` stops early; BLY_EUNSUPPORTED (kinds
 * without the ability "fingerprints", which do not keep whole ones). */
BLY_API bly_status bly_list_fingerprints(const bly_filter *filter,
                                         bly_visit_fingerprint *visit,
                                         void *context) BLY_GIVEN(1, 2);

/* Subtracts a filter from another: into := into - other. This is for kinds that
 * can list their keys. Keys in both cancel out; the result is the difference,
 * with the keys that are only in `into` and those that are only in `other`.
 * Each key must have been added at most once to each filter: a key added twice
 * to both may hide another. bly_list_keys lists the difference, and bly_info
 * estimates its size (`distinct`). A lookup of a key in the difference answers
 * "perhaps" for both sides. Errors of bly_unite. */
BLY_API bly_status bly_subtract(bly_filter *into, const bly_filter *other)
                                BLY_GIVEN(1, 2);

/* A key of a filter: its hash; the key itself, if the filter keeps it, or else
 * NULL and 0; and whether it is in the filter (+1) or only in the one that was
 * subtracted (-1). */
typedef struct {
    uint64_t    hash;
    const void *key;            /* valid until `visit` returns */
    size_t      length;
    int         side;
} bly_listed;

/* Called with each key. Return false to stop. */
typedef bool bly_visit_key(void *context, const bly_listed *listed);

/* Visits every key of a filter once, in an arbitrary order. It visits them only
 * if all of them can be decoded. BLY_EFULL: they cannot, because there are more
 * than about `capacity` or, rarely, by bad luck. bly_why() then gives their
 * number and the capacity to plan for, and no key is visited. Allocates about
 * twice the filter's size from its allocator while it runs. BLY_ENOMEM;
 * BLY_EUNSUPPORTED (kinds without the ability "list"). Thread-safe. */
BLY_API bly_status bly_list_keys(const bly_filter *filter,
                                 bly_visit_key *visit, void *context)
                                 BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_SKETCH_H */
