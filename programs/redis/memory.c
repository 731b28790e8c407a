/* memory.c - memory of the server's allocator, refused before it is taken.
 *
 * Redis ends when it cannot have what it asks for, so that who can send a
 * command, a chunk or a dump could end it. Large requests are looked at first:
 * against the server's own limit, and what the system says it has.
 *
 * Floor 8 (programs); includes module.h only.
 */
#include "redis/module.h"

#include <inttypes.h>
#include <stdio.h>

enum { MEMORY_LARGE = 1 << 20 };        /* bytes: below, the flag deny-oom of
                                           the commands will do              */

/* Bytes that the system has left; UINT64_MAX: it does not say. */
static uint64_t memory_available(void)
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

/* Does the server's limit leave so much? One that evicts keys makes room for
 * all that its limit can hold. What a master has done, or a file says, is not
 * to be refused: it would be lost. */
static bool memory_allowed(server_context *context, uint64_t bytes)
{
    int flags = context == NULL ? SERVER_LOADING
              : server_context_flags(context);
    if ((flags & (SERVER_REPLICATED | SERVER_LOADING)) != 0)
        return true;
    int error = 0;
    server_figures *figures = server_figures_of(context, "memory");
    uint64_t most = server_figure(figures, "maxmemory", &error);
    uint64_t used = server_figure(figures, "used_memory", &error);
    server_figures_free(context, figures);
    if ((flags & SERVER_EVICTS) != 0)
        used = 0;
    return most == 0 || (used <= most && bytes <= most - used);
}

bool memory_room(server_context *context, uint64_t bytes)
{
    return bytes < MEMORY_LARGE
        || (bytes <= memory_available() && memory_allowed(context, bytes));
}

/* Would the allocator give so much? Older servers have no way to ask for memory
 * that is all 0 and be told that there is none. */
static bool memory_there(size_t bytes)
{
    void *probe = server_try_allocate(bytes);
    server_release(probe);
    return probe != NULL;
}

void *memory_zeroed(server_context *context, uint64_t bytes)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2 || !memory_room(context, bytes))
        return NULL;
    if (server_try_zeroed != NULL)
        return server_try_zeroed(1, (size_t)bytes);
    return bytes < MEMORY_LARGE || memory_there((size_t)bytes)
         ? server_allocate_zeroed(1, (size_t)bytes) : NULL;
}

void memory_move(server_defrag *defrag, void **memory)
{
    void *moved = server_moved(defrag, *memory);
    if (moved != NULL)
        *memory = moved;
}
