/* memory.c - the built-in allocator, and the choice among allocators.
 *
 * Floor 0.
 */
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sizes.h"
#include "base/threads.h"

/* A mapping that begins on a huge page: the system aligns to small pages
 * only, so ask for one huge page more and give the ends back. */
static void *memory_map_huge(size_t bytes)
{
    size_t room = bytes + MEMORY_HUGE;  /* bytes fit: see memory_raw() */
    unsigned char *base = mmap(NULL, room, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t before = (MEMORY_HUGE - (uintptr_t)base % MEMORY_HUGE) % MEMORY_HUGE;
    if (before > 0)
        munmap(base, before);
    munmap(base + before + bytes, room - before - bytes);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + before, bytes, MADV_HUGEPAGE); /* a wish, not a need */
#endif
    return base + before;
}

/* `bytes` rounded up to whole pages of this system. */
static size_t memory_pages(size_t bytes)
{
    long known = sysconf(_SC_PAGESIZE);
    size_t page = known > 0 ? (size_t)known : 4096;
    return (bytes + page - 1) / page * page;
}

/* ---- Pages in parallel -------------------------------------------------- */

/* The system zeroes a page when it is first touched, one thread after another
 * if one thread does the touching. From this size on all of them share it;
 * more than eight only wait for the memory. */
enum { MEMORY_PARALLEL = 64 << 20, MEMORY_THREADS = 8 };

typedef struct { unsigned char *from; size_t bytes; } memory_range;

/* Have the pages of a range made: by the system's call for it, or, where it
 * does not know that, by touching them. If there is no memory for them, that
 * shows when they are used, as it would without this. */
static void memory_touch(unsigned char *from, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
#endif
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)from)[at] = 0;
}

static void memory_touch_part(void *context, unsigned part, unsigned parts)
{
    const memory_range *all = context;
    size_t each = (all->bytes / parts + MEMORY_HUGE - 1) / MEMORY_HUGE
                * MEMORY_HUGE, at = part * each;
    if (at < all->bytes)
        memory_touch(all->from + at, all->bytes - at < each ? all->bytes - at
                                                            : each);
}

static void memory_populate(unsigned char *from, size_t bytes, uint32_t most)
{
    unsigned parts = threads_count(most);
    memory_range all = { from, bytes };
    threads_run(memory_touch_part, &all,
                parts < MEMORY_THREADS ? parts : MEMORY_THREADS);
}

/* ---- The built-in allocator -------------------------------------------- */

static void *memory_default_allocate(void *context, size_t alignment,
                                     size_t bytes)
{
    void *memory = NULL;
    assert(alignment <= MEMORY_HUGE);
    if (bytes >= MEMORY_HUGE) {
        memory = memory_map_huge(memory_pages(bytes));
        if (memory != NULL && bytes >= MEMORY_PARALLEL)
            memory_populate(memory, bytes, (uint32_t)(uintptr_t)context);
        return memory;
    }
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void memory_default_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    if (bytes >= MEMORY_HUGE)
        munmap(memory, memory_pages(bytes));
    else
        free(memory);
}

/* ---- The sparse allocator ----------------------------------------------- */

/* Pages that the system makes when they are first written, small ones, and
 * sets no memory aside for. */
static void *memory_sparse_allocate(void *context, size_t alignment,
                                    size_t bytes)
{
    (void)context;
    (void)alignment;                    /* a page is aligned enough */
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void memory_sparse_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    munmap(memory, bytes);
}

const bly_allocator memory_sparse = {
    .allocate = memory_sparse_allocate,
    .release  = memory_sparse_release,
};

/* ---- The choice --------------------------------------------------------- */

bly_allocator memory_allocator(const bly_allocator *wanted, uint32_t threads)
{
    if (wanted != NULL)
        return *wanted;
    return (bly_allocator){
        .allocate = memory_default_allocate,
        .release  = memory_default_release,
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
    bool fresh = from->allocate == memory_sparse_allocate
              || (from->allocate == memory_default_allocate
                  && bytes >= MEMORY_HUGE);     /* the system's pages */
    if (memory != NULL && !fresh)
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
