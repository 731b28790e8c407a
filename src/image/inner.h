/* inner.h - images within an image, for compound kinds.
 *
 * A compound kind's payload holds whole images of other kinds, one after
 * another, each at a multiple of 64 bytes. Their hash function and seed are
 * those of the outer image, so one hash of a key serves all. An inner header
 * has its own checksum; its payload's is 0, because the outer payload's covers
 * it, and its number of items is "unknown".
 *
 * The compound kinds know which kinds may be inside
 * (src/kinds/compound/parts.h); the caller passes a pointer to one of them.
 */
#ifndef BLY_IMAGE_INNER_H
#define BLY_IMAGE_INNER_H

#include "image/kind.h"

/* Where an inner image stands. */
typedef struct {
    const bly_kind *kind;
    void *image;
} inner;

/* The bytes that an image takes among others: up to the next multiple of 64.
 * False: too many. */
bool inner_room(uint64_t *out, uint64_t bytes);

/* Plan an inner image for a spec; or with its options as they are when none is
 * given, and write down the spec that it was planned for. */
bly_status inner_plan_spec(bly_plan_t *plan, const bly_kind *kind,
                           const kind_spec *spec);
bly_status inner_plan(bly_plan_t *plan, kind_spec *spec, const bly_kind *kind,
                      uint64_t capacity, double rate);

/* Plan an inner image that errs at `rate` at most once `fresh` keys are written
 * to it, of which none was found in it before. So it has the bits of all that
 * came, also of those that were found by chance: aging.c, (3). plan->capacity
 * is how many these are. */
bly_status inner_plan_fresh(bly_plan_t *plan, kind_spec *spec,
                            const bly_kind *kind, uint64_t fresh, double rate);

/* Write the header of an empty inner image over zero bytes, of the kind that
 * made the plan. */
bly_status inner_format(void *at, const bly_kind *kind, const bly_plan_t *plan,
                        const void *outer, const kind_spec *spec);

/* Is there, `offset` bytes into the outer payload, an image of this kind that
 * may be used? Its header must be sound, its hash and seed the outer image's,
 * and it must end within the payload. Trusts nothing. */
bool inner_check(const void *outer, uint64_t offset, const bly_kind *kind);

/* Are two images, each of which has been accepted, of one kind and plan, so
 * that their payloads mean the same? (Hash and seed are compared elsewhere.) */
bool inner_alike(const void *a, const void *b);

/* The inner image, `offset` bytes into the payload; inner_check() has said
 * yes before. */
inner inner_at(const void *outer, uint64_t offset, const bly_kind *kind);

/* Keys of a batch that have not been found in any image so far. */
enum { INNER_CHUNK = 1024 };

typedef struct {
    uint64_t hash[INNER_CHUNK];
    uint16_t place[INNER_CHUNK];        /* in the batch                      */
    size_t   n;
} inner_rest;

/* Begin with those of n keys, INNER_CHUNK at most, that have no mark. */
void inner_rest_begin(inner_rest *rest, const uint64_t *hashes, size_t n,
                      const bool *found);

/* Ask an image for the rest: those that it has get a mark, the others are the
 * rest for the next one. */
void inner_rest_query(inner_rest *rest, const bly_kind *kind, const void *image,
                      bool *found);

/* The kind's own batch, or a loop over its single form. `add` of a kind that
 * counts adds a key once more that it says was seen. */
void inner_contains_many(const bly_kind *kind, const void *image,
                         const uint64_t *hashes, size_t n, bool *present);
bly_status inner_add_each(const bly_kind *kind, void *image,
                          const uint64_t *hashes, size_t n, bool *seen,
                          size_t *done);

#endif /* BLY_IMAGE_INNER_H */
