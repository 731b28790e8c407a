/* filter.h - filters as PostgreSQL holds them: values of type bloomery.
 *
 * A value is what bly_save would write, an image or its packed form, in a
 * varlena. Three rules hold in all files here:
 *
 *  - PostgreSQL tells errors by longjmp, which must never go through a frame of
 *    the library. So nothing that the library calls back (memory, visits) may
 *    raise one, and errors are raised when the library has returned.
 *  - All memory of a filter is of a memory context: where an error ends the
 *    statement, the filter goes with the context, and no bly_free is missed.
 *  - The library starts no thread in a backend: filter_threads.
 *
 * Long calls get filter_progress, which cancels them where the server wants the
 * query to end; then filter_must raises the server's own error.
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

/* What no image and no value can be larger than. */
#define FILTER_MOST ((uint64_t)MaxAllocSize - VARHDRSZ)

/* Memory of `room`, for the library: NULL where there is none. One piece above
 * `most` bytes is refused, so that a few forged bytes do not unpack to more
 * than a value may hold. */
typedef struct {
    bly_allocator allocator;
    MemoryContext room;
    uint64_t      most;
} filter_memory;

void filter_memory_of(filter_memory *memory, MemoryContext room, uint64_t most);

/* Up to FILTER_MOST, kept with what it serves: a filter asks for memory as long
 * as it lives. */
filter_memory *filter_memory_in(MemoryContext room);

/* Cancels a call of the library if CHECK_FOR_INTERRUPTS would end the query:
 * for the one call that makes a filter, and for later calls with one. */
extern const bly_progress filter_progress;

/* Takes the callback from a filter whose bits are combined within milliseconds,
 * which with it would be done on a copy. */
void filter_unwatch_quick(bly_filter *filter);

/* Memory without an error: NULL. What there was of it is in the new piece. */
void *filter_more(MemoryContext room, void *old, size_t had, size_t bytes);

/* Raise what the library said last, unless the status is a success; with a hint
 * of what to do about it in SQL, or NULL. */
void filter_must(bly_status status);
void filter_must_or(bly_status status, const char *hint);

/* The same for a status of combining two filters. */
void filter_must_two(bly_status status, const bly_filter *a,
                     const bly_filter *b);

/* The bytes of a value, out of TOAST. */
typedef struct {
    const unsigned char *at;
    size_t               bytes;
} filter_bytes;

filter_bytes filter_bytes_of(Datum value);

/* A filter to change, in memory of `room`; a copy. */
bly_filter *filter_own(Datum value, MemoryContext room);

/* A filter to read, in memory of `room` or in the value's own. */
bly_filter *filter_read(Datum value, MemoryContext room);

/* The parts of filter_read: is the image packed? Unpack it in memory of `room`;
 * read it where it lies, as it was checked when it came. */
bool filter_packed(filter_bytes image);
bly_filter *filter_unpack(filter_bytes image, MemoryContext room);
bly_filter *filter_wrap(filter_bytes image, const filter_memory *memory);

/* Where the state of the aggregate lives that this call is a part of; an error
 * of any other call. */
MemoryContext filter_room(FunctionCallInfo fcinfo);

/* The value of a filter. */
Datum filter_value(bly_filter *filter);

/* What the caller asks for, who may leave it out but not ask for 0, by which
 * the library means what is usual. */
int64 filter_items(int64 items);
double filter_rate(double rate);

/* The spec of what is asked. */
bly_spec filter_spec(int64 items, double rate, const filter_memory *memory);

/* Refuse what would be larger than a value, before it takes memory. */
void filter_fits(const char *kind, const bly_spec *spec);

/* The text as a string. */
char *filter_string(Datum text);

#endif
