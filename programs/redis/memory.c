/* memory.c - allocates from the server, and refuses what would not fit.
 *
 * Redis aborts when an allocation fails, so anyone who can send a command, a
 * chunk or a dump could end it. Large requests are therefore first checked
 * against the server's limit and the system's free memory.
 */
#include "redis/module.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY_LARGE = 1 << 20 };        /* bytes: below this the commands'
                                           deny-oom flag suffices            */

/* Returns the system's free memory; UINT64_MAX if unknown. */
static uint64_t redis_memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    uint64_t kib = UINT64_MAX;
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib > UINT64_MAX >> 10 ? UINT64_MAX : kib << 10;
}

/* Returns the server's limit, and how much of it is used. */
static uint64_t redis_memory_figures(server_context *context, uint64_t *used)
{
    int error = 0;
    server_figures *figures = server_figures_of(context, "memory");
    uint64_t most = server_figure(figures, "maxmemory", &error);
    *used = server_figure(figures, "used_memory", &error);
    server_figures_free(context, figures);
    return most == 0 ? UINT64_MAX : most;
}

uint64_t redis_memory_most(server_context *context)
{
    uint64_t used;
    return redis_memory_figures(context, &used);
}

/* Returns the memory left up to the server's limit. A server that evicts keys
 * makes room for anything below its limit. Data from a master or a file is
 * never refused, as it would be lost. */
static uint64_t redis_memory_limit(server_context *context)
{
    int flags = context == NULL ? SERVER_LOADING
              : server_context_flags(context);
    if ((flags & (SERVER_REPLICATED | SERVER_LOADING)) != 0)
        return UINT64_MAX;
    uint64_t used, most = redis_memory_figures(context, &used);
    if ((flags & SERVER_EVICTS) != 0)
        used = 0;
    return most == UINT64_MAX ? most : used <= most ? most - used : 0;
}

bool redis_memory_room(server_context *context, uint64_t bytes)
{
    return bytes < MEMORY_LARGE
           || (bytes <= redis_memory_available()
               && bytes <= redis_memory_limit(context));
}

/* ---- For filters of the library ------------------------------------------ */

/* For whom this thread allocates: a command, or a work with the memory left
 * when it began. */
static _Thread_local struct {
    server_context *context;
    uint64_t        left;
} redis_memory_asker = { NULL, UINT64_MAX };

void redis_memory_for(server_context *context)
{
    redis_memory_asker.context = context;
    redis_memory_asker.left = UINT64_MAX;
}

/* Memory left when the last work began, minus what works have taken since, so
 * that concurrent works do not each take all of it. The lock is held from an
 * allocation until the server counts it. */
static uint64_t redis_memory_shared = UINT64_MAX;
static pthread_mutex_t redis_memory_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t redis_memory_left(server_context *context)
{
    pthread_mutex_lock(&redis_memory_lock);
    uint64_t left = redis_memory_limit(context);
    if (left != UINT64_MAX)
        redis_memory_shared = left;
    pthread_mutex_unlock(&redis_memory_lock);
    return left;
}

/* Allocates from the server, within the share of all works. */
static void *redis_memory_share(uint64_t bytes)
{
    void *memory = NULL;
    pthread_mutex_lock(&redis_memory_lock);
    if (bytes <= redis_memory_shared)
        memory = server_try_allocate(bytes);
    if (memory != NULL)
        redis_memory_shared -= bytes;
    pthread_mutex_unlock(&redis_memory_lock);
    return memory;
}

/* Frees such memory. */
static void redis_memory_share_back(void *memory, uint64_t bytes)
{
    pthread_mutex_lock(&redis_memory_lock);
    server_release(memory);
    if (redis_memory_shared <= UINT64_MAX - bytes)
        redis_memory_shared += bytes;
    pthread_mutex_unlock(&redis_memory_lock);
}

void redis_memory_within(uint64_t left)
{
    redis_memory_asker.context = NULL;
    redis_memory_asker.left = left;
}

/* Precedes aligned memory: the start and size of the server's allocation. */
typedef struct {
    void  *begin;
    size_t bytes;
} redis_memory_mark;

static void *redis_memory_take(void *taken, size_t alignment, size_t bytes)
{
    size_t all;
    if (__builtin_add_overflow(bytes, alignment + sizeof(redis_memory_mark),
                               &all)
        || all > redis_memory_asker.left
        || !redis_memory_room(redis_memory_asker.context, all))
        return NULL;
    redis_memory_mark mark = { .bytes = all };
    mark.begin = redis_memory_asker.left != UINT64_MAX ? redis_memory_share(all)
                                                 : server_try_allocate(all);
    if (mark.begin == NULL)
        return NULL;
    if (redis_memory_asker.left != UINT64_MAX)
        redis_memory_asker.left -= all;
    uintptr_t at = (uintptr_t)mark.begin + sizeof mark + alignment - 1;
    char *memory = (char *)mark.begin
                 + (at / alignment * alignment - (uintptr_t)mark.begin);
    memcpy(memory - sizeof mark, &mark, sizeof mark);
    __atomic_fetch_add((uint64_t *)taken, all, __ATOMIC_RELAXED);
    return memory;
}

static void redis_memory_give(void *taken, void *memory, size_t bytes)
{
    redis_memory_mark mark;
    (void)bytes;
    memcpy(&mark, (char *)memory - sizeof mark, sizeof mark);
    __atomic_fetch_sub((uint64_t *)taken, mark.bytes, __ATOMIC_RELAXED);
    if (redis_memory_asker.left != UINT64_MAX)
        redis_memory_share_back(mark.begin, mark.bytes);
    else
        server_release(mark.begin);
}

bly_allocator redis_memory_allocator_of(uint64_t *taken)
{
    return (bly_allocator){ .allocate = redis_memory_take,
                            .release = redis_memory_give,
                            .context = taken };
}

/* ---- For pieces ---------------------------------------------------------- */

/* Returns whether the allocator can provide that much. Older servers cannot
 * allocate zeroed memory and report a failure. */
static bool redis_memory_there(size_t bytes)
{
    void *probe = server_try_allocate(bytes);
    server_release(probe);
    return probe != NULL;
}

void *redis_memory_zeroed(server_context *context, uint64_t bytes)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2
        || !redis_memory_room(context, bytes))
        return NULL;
    if (server_try_zeroed != NULL)
        return server_try_zeroed(1, (size_t)bytes);
    return bytes < MEMORY_LARGE || redis_memory_there((size_t)bytes)
         ? server_allocate_zeroed(1, (size_t)bytes) : NULL;
}

void redis_memory_move(server_defrag *defrag, void **memory)
{
    void *moved = server_moved(defrag, *memory);
    if (moved != NULL)
        *memory = moved;
}
