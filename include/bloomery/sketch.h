/* bloomery/sketch.h - filters that list what they hold: fingerprints, or whole
 * keys and the difference of two sets.
 */
#ifndef BLOOMERY_SKETCH_H
#define BLOOMERY_SKETCH_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called with each fingerprint that a filter holds: the least hash that has it,
 * and how often it was added. The hashes that share a fingerprint are those
 * from its least one up to the next one's; there are at most 2^bits
 * fingerprints, and more than half as many. (Where they are just the high
 * `bits` bits of a hash, the lower ones are 0 here.) Return false to stop. */
typedef bool bly_visit_fingerprint(void *context, uint64_t hash, unsigned bits,
                                   uint64_t count);

/* Visit all fingerprints in rising order. BLY_EUNSUPPORTED (kinds that do not
 * keep whole fingerprints: without the ability "list"); else BLY_OK, also when
 * `visit` stops it. */
BLY_API bly_status bly_list_fingerprints(const bly_filter *filter,
                                         bly_visit_fingerprint *visit,
                                         void *context) BLY_GIVEN(1, 2);

/* into := into - other, for kinds that can list their keys: what is in both
 * goes, and what is left is the difference, keys that are only in `into` and
 * keys that are only in `other`. Each key must have been added at most once to
 * each: what was added twice to both may hide another. bly_list_keys tells the
 * difference, and bly_stat its size (`distinct`); to ask for a key that is in
 * it says "perhaps" whichever side it is from. Errors of bly_unite. */
BLY_API bly_status bly_subtract(bly_filter *into, const bly_filter *other)
                                BLY_GIVEN(1, 2);

/* A key that a filter holds: its hash; the key itself where the filter keeps
 * it, or else NULL and 0; and whether it is there (+1) or only in what was
 * subtracted (-1). */
typedef struct {
    uint64_t    hash;
    const void *key;            /* until the visit returns */
    size_t      length;
    int         side;
} bly_listed;

/* Return false to stop. */
typedef bool bly_visit_key(void *context, const bly_listed *listed);

/* Visit every key that the filter holds, each once, in no order that means
 * anything; if all can be told apart. BLY_EFULL: they cannot, because there
 * are more than about `capacity` or, rarely, by bad luck; bly_why() then says
 * how many there are and what to plan for, and none is visited. Takes memory
 * of the filter's allocator, about twice its size, while it works.
 * BLY_ENOMEM; BLY_EUNSUPPORTED (kinds without the ability "list keys"). May
 * run in many threads at once. */
BLY_API bly_status bly_list_keys(const bly_filter *filter,
                                 bly_visit_key *visit, void *context)
                                 BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_SKETCH_H */
