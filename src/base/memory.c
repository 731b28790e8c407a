/* memory.c - the choice among allocators, and what is made of them.
 *
 * Floor 0.
 */
#include "base/memory.h"

#include <assert.h>
#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "base/system.h"

enum { MEMORY_TIMES = 8 };              /* of the bytes given, by default    */

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

void *memory_zeroed(const bly_allocator *from, uint64_t bytes)
{
    void *memory = memory_raw(from, bytes);
    if (memory != NULL && !system_clears(from, bytes))
        memset(memory, 0, (size_t)bytes);
    return memory;
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
    return status_fail(BLY_ELIMIT, "%.4g MiB of memory are needed for what has "
                       "%.4g MiB, and the limit is %.4g MiB: raise the limit "
                       "if you trust where it comes from (bly_memory_limit)",
                       (double)needed / (1 << 20), (double)given / (1 << 20),
                       (double)limit / (1 << 20));
}

void memory_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = 0;
}
