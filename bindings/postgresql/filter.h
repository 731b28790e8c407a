/* filter.h - filters in PostgreSQL: values of type bloomery.
 *
 * A value is a varlena that contains what bly_save would write: an image or its
 * packed form. All files here obey three rules:
 *
 * - PostgreSQL raises errors by longjmp, which must never cross a frame of the
 *   library. Callbacks from the library (memory, visitors) must not raise
 *   errors; they are raised after it has returned.
 * - All memory of a filter belongs to a memory context. If an error ends the
 *   statement, the context frees the filter without bly_free.
 * - The library starts no threads in a backend: filter_threads.
 *
 * Long calls get filter_progress, which cancels them when the server wants to
 * end the query; filter_must then raises the server's own error.
 */
#ifndef BLOOMERY_POSTGRESQL_FILTER_H
#define BLOOMERY_POSTGRESQL_FILTER_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include <bloomery.h>

enum { filter_threads = 1 };

/* Maximum bytes of an image or value. */
#define FILTER_MOST ((uint64_t)MaxAllocSize - VARHDRSZ)

/* Memory of `room`, for the library; NULL if it is exhausted. A block above
 * `most` bytes is refused, so that a few forged bytes cannot unpack to more
 * than a value may hold. */
typedef struct {
    bly_allocator allocator;
    MemoryContext room;
    uint64_t      most;
} filter_memory;

void filter_memory_of(filter_memory *memory, MemoryContext room, uint64_t most);

/* Creates one with the limit FILTER_MOST. It lives as long as its filter, which
 * allocates throughout its life. */
filter_memory *filter_memory_in(MemoryContext room);

/* Cancels a call of the library if CHECK_FOR_INTERRUPTS would end the query:
 * for the one call that makes a filter, and for later calls with one. */
extern const bly_progress filter_progress;

/* Takes the callback from a filter whose bits are combined within milliseconds,
 * which with it would be done on a copy. */
void filter_unwatch_quick(bly_filter *filter);

/* Grows memory without raising an error: returns NULL if out of memory. */
void *filter_more(MemoryContext room, void *old, size_t had, size_t bytes);

/* Raises the library's last error, unless the status is a success, with a hint
 * for SQL, or NULL. */
void filter_must(bly_status status);
void filter_must_or(bly_status status, const char *hint);

/* Does the same for the status of combining two filters. */
void filter_must_two(bly_status status, const bly_filter *a,
                     const bly_filter *b);

/* The bytes of a value, detoasted. */
typedef struct {
    const unsigned char *at;
    size_t               bytes;
} filter_bytes;

filter_bytes filter_bytes_of(Datum value);

/* Returns a copy of a filter, to be changed, in memory of `room`. */
bly_filter *filter_own(Datum value, MemoryContext room);

/* Returns a filter to read, in memory of `room` or inside the value. */
bly_filter *filter_read(Datum value, MemoryContext room);

/* The parts of filter_read: test whether the image is packed; unpack it in
 * memory of `room`; or use it in place, since it was verified on input. */
bool filter_packed(filter_bytes image);
bly_filter *filter_unpack(filter_bytes image, MemoryContext room);
bly_filter *filter_wrap(filter_bytes image, const filter_memory *memory);

/* Returns the context of the aggregate's state; raises an error in other calls.
 */
MemoryContext filter_room(FunctionCallInfo fcinfo);

/* Converts a filter to a value. */
Datum filter_value(bly_filter *filter);

/* Checks an argument that may be omitted but not 0, which the library would
 * take as a default. */
int64 filter_items(int64 items);
double filter_rate(double rate);

/* Makes the spec from arguments. */
bly_spec filter_spec(int64 items, double rate, const filter_memory *memory);

/* Refuses a filter larger than a value, before memory is allocated. */
void filter_fits(const char *kind, const bly_spec *spec);

/* Converts text to a C string. */
char *filter_string(Datum text);

#endif
