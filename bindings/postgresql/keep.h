/* keep.h - state that an SQL function keeps between calls: the filters it has
 * used, and how to read its keys.
 */
#ifndef BLOOMERY_POSTGRESQL_KEEP_H
#define BLOOMERY_POSTGRESQL_KEEP_H

#include "datum.h"
#include "key.h"

/* Returns the filter that is the first argument, to read, and makes the key
 * that is the second. Both are valid until the next call. */
bly_filter *keep_asked(FunctionCallInfo fcinfo, bool written, key *k);

#endif
