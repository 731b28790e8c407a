/* memory.c - the choice among allocators, and what is made of them.
 *
 * Floor 0.
 */
#include "base/memory.h"

#include <assert.h>
#include <string.h>

#include "base/sizes.h"
#include "base/system.h"

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

void memory_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = 0;
}
