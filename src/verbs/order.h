/* order.h - what is asked for, worked out: kind, options, hash and plan. */
#ifndef BLY_VERBS_ORDER_H
#define BLY_VERBS_ORDER_H

#include "image/kind.h"
#include "verbs/handle.h"

/* Everything bly_new needs to know, worked out from kind and spec. */
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

/* The spec, or one of nothing but zeros. */
const bly_spec *order_spec(const bly_spec *spec);

/* For these keys; NULL: they are not known yet. Errors of bly_plan. */
bly_status order_make(order *o, const char *kind, const bly_spec *spec,
                      const kind_keys *keys);

/* The same but for the plan, which is left to the caller. */
bly_status order_begin(order *o, const char *kind, const bly_spec *spec);

/* Whatever came of the two above: the order keeps no secret. */
void order_end(order *o);

/* What every kind's plan has in common, after the kind has filled in its own.
 */
void order_finish(order *o);

/* The chance that a foreign key shares its hash with one of n: none for an
 * exact kind of integers. */
double order_collision(const bly_kind *kind, const hash_info *hash, double n);

/* The header of the filter, over zero bytes. */
void order_format(const order *o, void *image);

/* The zeroed image of an empty filter with its header, or NULL. */
void *order_image(const order *o, const bly_allocator *allocator);

#endif /* BLY_VERBS_ORDER_H */
