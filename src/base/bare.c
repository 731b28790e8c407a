/* bare.c - replaces the operating system where there is none: memory from the C
 * library, one thread, no locks, no random numbers.
 *
 * For WebAssembly: built with -DBLY_WITHOUT_SYSTEM instead of system.c,
 * threads.c and all of src/io/ (tools/check/cross).
 */
#include <stdlib.h>

#include "base/status.h"
#include "base/system.h"
#include "base/threads.h"

/* ---- Memory ------------------------------------------------------------- */

void *system_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    (void)context;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

void system_release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

uint64_t system_memory(void)
{
    return UINT64_MAX;
}

void *system_extend(void *memory, size_t bytes, size_t more)
{
    (void)memory, (void)bytes, (void)more;
    return NULL;
}

bool system_clears(const bly_allocator *from, uint64_t bytes)
{
    (void)from, (void)bytes;
    return false;
}

const bly_allocator system_sparse = {
    .allocate = system_allocate,
    .release  = system_release,
};

bly_status system_draw(void *bytes, size_t n)
{
    (void)bytes, (void)n;
    return status_plain(BLY_EUNSUPPORTED);
}

/* ---- Threads ------------------------------------------------------------ */

unsigned threads_count(uint32_t most)
{
    (void)most;
    return 1;
}

void threads_run(threads_work *work, void *context, unsigned parts)
{
    for (unsigned part = 0; part < parts; part++)
        work(context, part, parts);
}

void threads_lock_make(threads_lock *lock)
{
    *lock = 0;
}

void threads_lock_end(threads_lock *lock)
{
    (void)lock;
}

void threads_lock_take(threads_lock *lock)
{
    (void)lock;
}

void threads_lock_give(threads_lock *lock)
{
    (void)lock;
}

void threads_do_once(threads_once *once, void (*work)(void))
{
    if (*once == THREADS_ONCE) {
        *once = THREADS_ONCE + 1;
        work();
    }
}
