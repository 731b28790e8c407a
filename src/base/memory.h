/* memory.h - memory for images and handles.
 *
 * Everything comes from a bly_allocator; the built-in one gives
 * blocks of 2 MiB and more fresh from the system, on huge pages where it has
 * them (a lookup in a big filter is a random access, and half of its cost can
 * be the walk of the page table), and smaller ones from the C library.
 */
#ifndef BLY_BASE_MEMORY_H
#define BLY_BASE_MEMORY_H

#include "bloomery.h"

enum {
    MEMORY_LINE = 64,                   /* alignment of an image             */
    MEMORY_HUGE = 2 << 20               /* a huge page, where big ones begin */
};

/* The allocator that was asked for, or, for NULL, the built-in one, which has
 * the pages of large blocks made by `threads` threads (threads_count()). */
bly_allocator memory_allocator(const bly_allocator *wanted, uint32_t threads);

/* Pages that are made when they are first written, for BLY_SPARSE. */
extern const bly_allocator memory_sparse;

/* `bytes` zero bytes at a multiple of MEMORY_LINE, or NULL: also where so many
 * cannot be addressed. bytes > 0. */
void *memory_zeroed(const bly_allocator *from, uint64_t bytes);

/* The same without the zeros, for memory that is overwritten at once. */
void *memory_raw(const bly_allocator *from, uint64_t bytes);

/* Give back what one of the two above gave; NULL is fine. */
void memory_release(const bly_allocator *to, void *memory, size_t bytes);

/* Returns bly_memory_limit, for a limit that was asked for; 0: none was. */
uint64_t memory_limit(uint64_t asked, uint64_t given);

/* May so many bytes be needed for what is made of `given` bytes? BLY_ELIMIT. */
bly_status memory_allows(uint64_t asked, uint64_t given, uint64_t needed);

/* Overwrite a secret, even where nothing reads the memory any more. */
void memory_wipe(void *memory, size_t bytes);

#endif /* BLY_BASE_MEMORY_H */
