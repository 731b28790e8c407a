/* system.h - memory and random bytes as the system gives them.
 *
 * system.c is of a Unix; bare.c of where there is no system.
 */
#ifndef BLY_BASE_SYSTEM_H
#define BLY_BASE_SYSTEM_H

#include "base/memory.h"

/* The functions of the built-in allocator, whose context is the number of
 * threads that may make a large block's pages. */
void *system_allocate(void *context, size_t alignment, size_t bytes);
void system_release(void *context, void *memory, size_t bytes);

/* Returns the bytes of physical memory; UINT64_MAX: not known. */
uint64_t system_memory(void);

/* Are blocks of `bytes` zero when this allocator gives them? */
bool system_clears(const bly_allocator *from, uint64_t bytes);

/* Fills n bytes with random ones. BLY_EIO, or BLY_EUNSUPPORTED where there is
 * no system. */
bly_status system_draw(void *bytes, size_t n);

#endif /* BLY_BASE_SYSTEM_H */
