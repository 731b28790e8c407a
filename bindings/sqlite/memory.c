/* memory.c - memory of the library's, from SQLite: it counts there, and is
 * bounded by the limits that the program has set (sqlite3_hard_heap_limit64).
 */
#include "extension.h"

#include <string.h>

/* Stores SQLite's address in front of aligned memory. */
static void *sql_memory_take(void *context, size_t alignment, size_t bytes)
{
    size_t all;
    (void)context;
    if (__builtin_add_overflow(bytes, alignment + sizeof(void *), &all))
        return NULL;
    char *begin = sqlite3_malloc64(all);
    if (begin == NULL)
        return NULL;
    uintptr_t at = (uintptr_t)begin + sizeof begin + alignment - 1;
    char *memory = begin + (at / alignment * alignment - (uintptr_t)begin);
    memcpy(memory - sizeof begin, &begin, sizeof begin);
    return memory;
}

static void sql_memory_give(void *context, void *memory, size_t bytes)
{
    void *begin;
    (void)context;
    (void)bytes;
    memcpy(&begin, (char *)memory - sizeof begin, sizeof begin);
    sqlite3_free(begin);
}

const bly_allocator sql_memory_allocator = {
    .allocate = sql_memory_take, .release = sql_memory_give,
};

bly_options sql_memory_options(uint64_t limit)
{
    return (bly_options){ .allocator = &sql_memory_allocator, .threads = 1,
                          .memory_limit = limit };
}

uint64_t sql_memory_limit(sqlite3 *db, uint64_t bytes)
{
    uint64_t limit = bly_memory_limit(NULL, bytes);
    int length = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    return length > 0 && (uint64_t)length < limit ? (uint64_t)length : limit;
}

/* The most bytes that sqlite3_malloc64 returns, with some for alignment. */
#define SQL_MEMORY_MOST ((uint64_t)2147483391 - 4096)

char *sql_memory_blob_refused(sqlite3 *db, uint64_t bytes)
{
    const int most = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    if (bytes <= (uint64_t)most && bytes <= SQL_MEMORY_MOST)
        return NULL;
    return sqlite3_mprintf(
        "the filter would have %llu bytes, and a BLOB has at most %d "
        "(SQLITE_LIMIT_LENGTH): store it by CREATE VIRTUAL TABLE, or plan it "
        "for fewer items", (unsigned long long)bytes, most);
}

char *sql_memory_table_refused(uint64_t bytes)
{
    if (bytes <= SQL_MEMORY_MOST)
        return NULL;
    return sqlite3_mprintf(
        "the filter would have %llu bytes, and the largest block of memory "
        "that SQLite allocates has 2147483391: divide the keys among several "
        "tables", (unsigned long long)bytes);
}

void *sql_memory_grow(void *old, size_t *room, size_t needed, size_t size)
{
    size_t more = *room + *room / 2 + 64;
    if (needed <= *room && old != NULL)
        return old;
    if (more < needed)
        more = needed;
    size_t bytes;
    if (__builtin_mul_overflow(more, size, &bytes))
        return NULL;
    void *grown = sqlite3_realloc64(old, bytes);
    if (grown != NULL)
        *room = more;
    return grown;
}
