/* memory.h - memory for images and handles.
 *
 * All memory comes from a bly_allocator. The built-in one maps blocks of 2 MiB
 * and more directly, on huge pages where available: lookups in a big filter are
 * random accesses, and half of their cost can be page walks. Smaller blocks
 * come from the C library.
 */
#ifndef BLY_BASE_MEMORY_H
#define BLY_BASE_MEMORY_H

#include "bloomery.h"

enum {
    MEMORY_LINE = 64,                   /* alignment of an image             */
    MEMORY_HUGE = 2 << 20               /* a huge page; the minimum size of big
                                           blocks                            */
};

/* Returns the allocator requested or, for NULL, the built-in one, whose large
 * blocks are faulted in by `threads` threads (threads_count()). */
bly_allocator memory_allocator(const bly_allocator *wanted, uint32_t threads);

/* Allocates pages on first write, for BLY_SPARSE. */
extern const bly_allocator system_sparse;

/* Returns `bytes` > 0 zero bytes aligned to MEMORY_LINE. Returns NULL if out of
 * memory, or if so many bytes cannot be addressed. */
void *memory_zeroed(const bly_allocator *from, uint64_t bytes);

/* Does the same without clearing, for memory that is overwritten at once. */
void *memory_raw(const bly_allocator *from, uint64_t bytes);

/* Makes memory of `bytes` bytes longer: returns where its content is now, with
 * zeros behind it. Returns NULL if out of memory: then nothing has changed. */
void *memory_enlarged(const bly_allocator *from, void *memory, size_t bytes,
                      uint64_t more);

/* Frees such memory; accepts NULL. */
void memory_release(const bly_allocator *to, void *memory, size_t bytes);

/* Returns bly_memory_limit for the limit requested; 0 means none was. */
uint64_t memory_limit(uint64_t asked, uint64_t given);

/* Returns BLY_ELIMIT if making an object from `given` bytes may not take
   `needed`. */
bly_status memory_allows(uint64_t asked, uint64_t given, uint64_t needed);

/* Overwrites a secret, even if the memory is never read again. */
void memory_wipe(void *memory, size_t bytes);

#endif /* BLY_BASE_MEMORY_H */
