/* order.h - a request for a filter: its kind, options, hash and plan.
 */
#ifndef BLY_VERBS_ORDER_H
#define BLY_VERBS_ORDER_H

#include "image/abilities.h"
#include "verbs/handle.h"

enum {
    ORDER_TRIES = 12,                   /* then there is room for twice as
                                           many keys                         */
    ORDER_TRIES_ADDING = 6              /* of an add, which may be hostile   */
};

/* All that bly_new needs, derived from kind and spec. */
typedef struct {
    const bly_kind  *kind;
    const hash_info *hash;
    kind_hasher      hasher;
    uint64_t         seed;              /* as the header has it              */
    uint64_t         form;              /* of the keys                       */
    kind_spec        asked;
    bly_plan_t       plan;
    uint64_t         items;             /* once it is built                  */
    int              flags;
    handle_options   options;
} order;

/* Returns the spec, or an all-zero one. */
const bly_spec *order_spec(const bly_spec *spec);

/* Makes an order for these keys; NULL if they are not known yet. Errors of
   bly_plan. */
bly_status order_make(order *o, const char *kind, const bly_spec *spec,
                      const kind_keys *keys);

/* Makes one for a filter that has grown to so many keys. */
bly_status order_make_grown(order *o, const char *kind, const bly_spec *spec,
                            const kind_keys *keys, uint64_t grown);

/* Returns an order for a filter of the same kind and hash, without a plan so
 * far. */
order order_like(const bly_filter *filter);

/* Makes an image of another size with the filter's keys, from its allocator; a
 * capacity of 0 is a little more than it has. If keys do not fit by chance, it
 * gets a sixteenth more room, and again. Errors of bly_resize. */
bly_status order_resized(order *o, void **image, const bly_filter *filter,
                         uint64_t capacity);

/* Returns a sixteenth more keys than a plan has room for. */
uint64_t order_more(const order *o);

/* Does so without the plan, which is left to the caller. */
bly_status order_begin(order *o, const char *kind, const bly_spec *spec);

/* Erases the secret; must be called whether or not the two above succeed. */
void order_end(order *o);

/* Computes the fields that all kinds share, after the kind has filled in its
   own. */
void order_finish(order *o);

/* Returns the chance that an absent key shares its hash with one of n; 0 for an
 * exact kind of integers. */
double order_collision(const bly_kind *kind, const hash_info *hash, double n);

/* Writes the filter's header over zero bytes. */
void order_format(const order *o, void *image);

/* Returns the zeroed image of an empty filter with its header, or NULL. */
void *order_image(const order *o, const bly_allocator *allocator);

#endif /* BLY_VERBS_ORDER_H */
