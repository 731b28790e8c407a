/* items.h - converts the items of a command to keys in the filter's form.
 *
 * Arguments are text. The class of the filter's keys says how to parse them,
 * and changes such as case=lower are applied. With the forms any, bytes and
 * text without changes an item is used as it is, without copying.
 */
#ifndef BLY_REDIS_ITEMS_H
#define BLY_REDIS_ITEMS_H

#include "redis/held.h"

typedef struct {
    server_string **argv;
    int             n, step;            /* every step-th argument is an item */
    bly_key        *made;               /* NULL if items are keys as they are */
    void           *room;               /* the bytes of the keys in `made`   */
} items;

/* Returns the form of a filter's keys or, for NULL, of a filter without one. */
uint64_t items_form(const held *value);

/* Reads n items before the filter is used. Returns false, after an error reply,
 * if one cannot be read in the form. Otherwise call items_free. */
bool items_read(items *all, server_context *context, uint64_t form,
                server_string **argv, int n, int step);
void items_free(items *all);

/* Returns the key of item i. */
bly_key items_key(const items *all, int i);

/* Returns `n` keys from item i on. They may be written to `keys`. */
const bly_key *items_some(const items *all, int i, int n, bly_key *keys);

/* Returns the keys of all items. */
const bly_key *items_all(items *all);

#endif
