/* whole.h - work on whole filters. */
#ifndef BLY_REDIS_WHOLE_H
#define BLY_REDIS_WHOLE_H

#include "redis/work.h"

/* The complexity of commands, for COMMAND DOCS. */
#define WHOLE_ALL "O(n), where n is the bytes of the filter"
#define WHOLE_EACH "O(n), where n is the bytes of all filters"

/* Returns a work that reads the filters of arguments `first` to `end` - 1, or
 * NULL after an error reply. */
work *whole_work(const redis_work_kind *kind, server_context *context,
                 server_string **argv, int first, int end);

/* Returns the bytes of all filters that the work reads. */
uint64_t whole_bytes(const work *w);

/* Runs the work, unless it is NULL. */
int whole_do(work *w, server_context *context, server_string **argv, int argc);

/* Copy the first filter to w->made; verbs on the copy of whole_copy_watched end
 * if the client goes away. Return false if memory is short. */
bool whole_copy(work *w);
bool whole_copy_watched(work *w);

/* Finishes a work that made a filter of arguments 2 and up: stores it at
 * argument 1, whatever is there. */
int whole_store(work *w, server_context *context, server_string **argv,
                int argc);

/* Finishes a work that changed a copy of argument 1: replaces the filter, if it
 * is still the one that was read. */
int whole_replace(work *w, server_context *context, server_string **argv,
                  int argc);

#endif
