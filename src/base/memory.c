/* memory.c - chooses the allocator, and allocates with it. */
#include "base/memory.h"

#include <assert.h>
#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "base/system.h"
#include "base/task.h"

enum { MEMORY_TIMES = 8 };              /* default limit, relative to the bytes
                                           given                             */

#define MEMORY_FREE (UINT64_C(1) << 30)

bly_allocator memory_allocator(const bly_allocator *wanted, uint32_t threads)
{
    if (wanted != NULL)
        return *wanted;
    return (bly_allocator){
        .allocate = system_allocate,
        .release  = system_release,
        .context  = (void *)(uintptr_t)threads,
    };
}

void *memory_raw(const bly_allocator *from, uint64_t bytes)
{
    assert(bytes > 0);
    return sizes_fits(bytes)
         ? from->allocate(from->context, MEMORY_LINE, (size_t)bytes) : NULL;
}

/* Bytes cleared between two steps of a task. */
enum { MEMORY_PIECE = 16 << 20 };

/* Clears all of it, even if the call is cancelled meanwhile. */
static void memory_clear(uint8_t *at, size_t bytes)
{
    for (size_t n; bytes > 0; at += n, bytes -= n) {
        n = bytes < MEMORY_PIECE ? bytes : MEMORY_PIECE;
        memset(at, 0, n);
        if (bytes > n)
            task_step(0);
    }
}

void *memory_zeroed(const bly_allocator *from, uint64_t bytes)
{
    void *memory = memory_raw(from, bytes);
    if (memory != NULL && !system_clears(from, bytes))
        memory_clear(memory, (size_t)bytes);
    return memory;
}

void *memory_enlarged(const bly_allocator *from, void *memory, size_t bytes,
                      uint64_t more)
{
    void *now = NULL;
    if (system_clears(from, bytes) && sizes_fits(more))
        now = system_extend(memory, bytes, (size_t)more);
    if (now != NULL)
        return now;
    now = memory_zeroed(from, more);
    if (now == NULL)
        return NULL;
    memcpy(now, memory, bytes);
    memory_release(from, memory, bytes);
    return now;
}

void memory_release(const bly_allocator *to, void *memory, size_t bytes)
{
    if (memory != NULL)
        to->release(to->context, memory, bytes);
}

uint64_t memory_limit(uint64_t asked, uint64_t given)
{
    uint64_t limit = MEMORY_FREE, half = system_memory() / 2;
    if (asked != 0)
        return asked;
    if (given > limit / MEMORY_TIMES && !sizes_mul(&limit, given, MEMORY_TIMES))
        limit = UINT64_MAX;
    return limit < half ? limit : half;
}

bly_status memory_allows(uint64_t asked, uint64_t given, uint64_t needed)
{
    uint64_t limit = needed <= given ? UINT64_MAX : memory_limit(asked, given);
    if (needed <= limit)
        return BLY_OK;
    return status_fail(BLY_ELIMIT, "%llu bytes of memory are needed for %llu "
                       "bytes of input, and the limit is %llu: raise the limit "
                       "if you trust the input (bly_options.memory_limit)",
                       (unsigned long long)needed,
                       (unsigned long long)given, (unsigned long long)limit);
}

void memory_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = 0;
}
