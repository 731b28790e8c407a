/* datum.h - filters in PostgreSQL: values of type bloomery.
 *
 * A value is a varlena that contains what bly_save would write: an image or its
 * packed form. All files here obey three rules:
 *
 * - PostgreSQL raises errors by longjmp, which must never cross a frame of the
 *   library. Callbacks from the library (memory, visitors) must not raise
 *   errors; they are raised after it has returned.
 * - All memory of a filter belongs to a memory context. If an error ends the
 *   statement, the context frees the filter without bly_free.
 * - The library starts no threads in a backend: datum_threads.
 *
 * Long calls get datum_progress, which cancels them when the server wants to
 * end the query; datum_must then raises the server's own error.
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

enum { datum_threads = 1 };

/* Maximum bytes of an image or value. */
#define FILTER_MOST ((uint64_t)MaxAllocSize - VARHDRSZ)

/* Memory of `room`, for the library; NULL if it is exhausted. A block above
 * `most` bytes is refused, so that a few forged bytes cannot unpack to more
 * than a value may hold. */
typedef struct {
    bly_allocator allocator;
    MemoryContext room;
    uint64_t      most;
} datum_memory;

void datum_memory_of(datum_memory *memory, MemoryContext room, uint64_t most);

/* Creates one with the limit FILTER_MOST. It lives as long as its filter, which
 * allocates throughout its life. */
datum_memory *datum_memory_in(MemoryContext room);

/* Cancels a call of the library if CHECK_FOR_INTERRUPTS would end the query:
 * for the one call that makes a filter, and for later calls with one. */
extern const bly_progress datum_progress;

/* Takes the callback from a filter whose bits are combined within milliseconds,
 * which with it would be done on a copy. */
void datum_unwatch_quick(bly_filter *filter);

/* Grows memory without raising an error: returns NULL if out of memory. */
void *datum_more(MemoryContext room, void *old, size_t had, size_t bytes);

/* Raises the library's last error, unless the status is a success, with a hint
 * for SQL, or NULL. */
void datum_must(bly_status status);
void datum_must_or(bly_status status, const char *hint);

/* Does the same for the status of combining two filters. */
void datum_must_two(bly_status status, const bly_filter *a,
                    const bly_filter *b);

/* The bytes of a value, detoasted. */
typedef struct {
    const unsigned char *at;
    size_t               bytes;
} datum_bytes;

datum_bytes datum_bytes_of(Datum value);

/* Returns a copy of a filter, to be changed, in memory of `room`. */
bly_filter *datum_own(Datum value, MemoryContext room);

/* Returns a filter to read, in memory of `room` or inside the value. */
bly_filter *datum_read(Datum value, MemoryContext room);

/* The parts of datum_read: test whether the image is packed; unpack it in
 * memory of `room`; or use it in place, since it was verified on input. */
bool datum_packed(datum_bytes image);
bly_filter *datum_unpack(datum_bytes image, MemoryContext room);
bly_filter *datum_wrap(datum_bytes image, const datum_memory *memory);

/* Returns the context of the aggregate's state; raises an error in other calls.
 */
MemoryContext datum_room(FunctionCallInfo fcinfo);

/* Converts a filter to a value. */
Datum datum_value(bly_filter *filter);

/* Checks an argument that may be omitted but not 0, which the library would
 * take as a default. */
int64 datum_items(int64 items);
double datum_rate(double rate);

/* Makes the spec from arguments. */
bly_spec datum_spec(int64 items, double rate, const datum_memory *memory);

/* Refuses a filter larger than a value, before memory is allocated. */
void datum_fits(const char *kind, const bly_spec *spec);

/* Converts text to a C string. */
char *datum_string(Datum text);

#endif
