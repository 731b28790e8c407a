/* system.c - memory from the system (large blocks on huge pages, sparse blocks)
 * and random bytes.
 */
#include "base/system.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/status.h"
#include "base/task.h"
#include "base/threads.h"

/* Maps memory aligned to a huge page: the system only aligns to small pages, so
 * map one huge page more and unmap the ends. */
static void *system_map_huge(size_t bytes)
{
    size_t room = bytes + MEMORY_HUGE;  /* cannot overflow: see memory_raw() */
    unsigned char *base = mmap(NULL, room, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t before = (MEMORY_HUGE - (uintptr_t)base % MEMORY_HUGE) % MEMORY_HUGE;
    if (before > 0)
        munmap(base, before);
    munmap(base + before + bytes, room - before - bytes);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + before, bytes, MADV_HUGEPAGE); /* may fail          */
#endif
    return base + before;
}

/* Rounds `bytes` up to whole pages of the system. */
static size_t system_pages(size_t bytes)
{
    long known = sysconf(_SC_PAGESIZE);
    size_t page = known > 0 ? (size_t)known : 4096;
    return (bytes + page - 1) / page * page;
}

uint64_t system_memory(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        return (uint64_t)pages * (uint64_t)bytes;
#endif
    return UINT64_MAX;
}

/* ---- Pages in parallel -------------------------------------------------- */

/* The system zeroes pages on first touch, in the touching thread. From this
 * size on several threads share that; more than eight would only wait for
 * memory. */
enum { SYSTEM_PARALLEL = 64 << 20, SYSTEM_THREADS = 8 };

/* Bytes touched between two steps of a task. */
enum { SYSTEM_TOUCH = 8 * MEMORY_HUGE };

typedef struct { unsigned char *from; size_t bytes; } system_range;

/* Faults in the pages of a range with the system's call or, if there is none,
 * by touching them. A lack of memory shows only when they are used. */
static void system_touch(unsigned char *from, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
#endif
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)from)[at] = 0;
}

static void system_touch_part(void *context, unsigned part, unsigned parts)
{
    const system_range *all = context;
    size_t each = (all->bytes / parts + MEMORY_HUGE - 1) / MEMORY_HUGE
                * MEMORY_HUGE, at = part * each;
    size_t end = part + 1 < parts && at + each < all->bytes ? at + each
                                                            : all->bytes;
    for (size_t n; at < end && !task_cancelled(); at += n) {
        n = end - at < SYSTEM_TOUCH ? end - at : SYSTEM_TOUCH;
        system_touch(all->from + at, n);
        task_step(0);
    }
}

static void system_populate(unsigned char *from, size_t bytes, uint32_t most)
{
    unsigned parts = threads_count(most);
    system_range all = { from, bytes };
    threads_run(system_touch_part, &all,
                parts < SYSTEM_THREADS ? parts : SYSTEM_THREADS);
}

/* ---- The built-in allocator -------------------------------------------- */

void *system_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    assert(alignment <= MEMORY_HUGE);
    if (bytes >= MEMORY_HUGE) {
        memory = system_map_huge(system_pages(bytes));
        if (memory != NULL && bytes >= SYSTEM_PARALLEL)
            system_populate(memory, bytes, (uint32_t)(uintptr_t)context);
        return memory;
    }
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

void system_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    if (bytes >= MEMORY_HUGE)
        munmap(memory, system_pages(bytes));
    else
        free(memory);
}

void *system_extend(void *memory, size_t bytes, size_t more)
{
#ifdef MREMAP_MAYMOVE
    memory = mremap(memory, system_pages(bytes), system_pages(more),
                    MREMAP_MAYMOVE);
    return memory != MAP_FAILED ? memory : NULL;
#else
    (void)memory;
    (void)bytes;
    (void)more;
    return NULL;
#endif
}

/* ---- The sparse allocator ----------------------------------------------- */

/* Maps small pages that are allocated on first write, without reserving memory.
 */
static void *system_sparse_allocate(void *context, size_t alignment,
                                    size_t bytes)
{
    (void)context;
    (void)alignment;                    /* page alignment is enough */
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void system_sparse_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    munmap(memory, bytes);
}

const bly_allocator system_sparse = {
    .allocate = system_sparse_allocate,
    .release  = system_sparse_release,
};

bool system_clears(const bly_allocator *from, uint64_t bytes)
{
    return from->allocate == system_sparse_allocate
        || (from->allocate == system_allocate && bytes >= MEMORY_HUGE);
}

/* ---- Random bytes -------------------------------------------------------- */

bly_status system_draw(void *bytes, size_t n)
{
    enum { MOST = 256 };                /* that one call returns */
    unsigned char *at = bytes;
    for (size_t some; n > 0; at += some, n -= some) {
        some = n < MOST ? n : MOST;
        if (getentropy(at, some) < 0)
            return status_system(BLY_EIO, errno, "the system provides no "
                                 "random numbers: %s", strerror(errno));
    }
    return BLY_OK;
}
