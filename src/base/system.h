/* system.h - memory and random bytes from the operating system.
 *
 * Implemented by system.c for Unix, and by bare.c without a system.
 */
#ifndef BLY_BASE_SYSTEM_H
#define BLY_BASE_SYSTEM_H

#include "base/memory.h"

/* The built-in allocator. Its context is the number of threads that may fault
 * in the pages of a large block. */
void *system_allocate(void *context, size_t alignment, size_t bytes);
void system_release(void *context, void *memory, size_t bytes);

/* Makes a block that system_clears() longer without copying it; returns where
 * it is now, or NULL if that is impossible. */
void *system_extend(void *memory, size_t bytes, size_t more);

/* Returns the bytes of physical memory; UINT64_MAX if unknown. */
uint64_t system_memory(void);

/* Returns whether this allocator returns zeroed blocks of that size. */
bool system_clears(const bly_allocator *from, uint64_t bytes);

/* Fills n bytes with random ones. Returns BLY_EIO, or BLY_EUNSUPPORTED without
 * a system. */
bly_status system_draw(void *bytes, size_t n);

#endif /* BLY_BASE_SYSTEM_H */
