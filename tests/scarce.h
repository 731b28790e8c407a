/* scarce.h - an allocator with a limited number of blocks that counts them, for
 * tests of what a failed allocation leaves behind.
 */
#ifndef BLY_TEST_SCARCE_H
#define BLY_TEST_SCARCE_H

#include <stdlib.h>

#include "bloomery.h"

typedef struct {
    size_t left;                        /* blocks still to be granted        */
    size_t held, bytes;                 /* not yet freed                     */
} scarce;

static void *scarce_allocate(void *context, size_t alignment, size_t bytes)
{
    scarce *s = context;
    void *memory = NULL;
    if (s->left == 0 || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    s->left--;
    s->held++;
    s->bytes += bytes;
    return memory;
}

static void scarce_release(void *context, void *memory, size_t bytes)
{
    scarce *s = context;
    s->held--;
    s->bytes -= bytes;
    free(memory);
}

#endif /* BLY_TEST_SCARCE_H */
