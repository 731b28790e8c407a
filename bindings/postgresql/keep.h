/* keep.h - state that an SQL function keeps between calls: the filters it has
 * used, and how to read its keys.
 */
#ifndef BLOOMERY_POSTGRESQL_KEEP_H
#define BLOOMERY_POSTGRESQL_KEEP_H

#include "datum.h"
#include "key.h"

/* Returns the filter that is the argument `filter_at`, to read, and makes the
 * key that is the argument `key_at`. Both are valid until the next call. */
bly_filter *keep_asked(FunctionCallInfo fcinfo, int filter_at, int key_at,
                       bool written, key *k);

#endif
