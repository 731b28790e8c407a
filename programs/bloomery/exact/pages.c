/* pages.c - memory in large pages, which grows without copying.
 *
 * Random access to a large table costs a page walk as well as a cache miss if
 * the processor does not hold the page's translation. Large pages are few
 * enough to be held. realloc would fall back to small pages, so a mapping is
 * moved to an address aligned to a large page instead: only the page tables
 * change. If the system cannot do that the bytes are copied, and sizes below a
 * large page use malloc.
 */
#include "bloomery/exact/dedup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_LARGE ((size_t)2 << 20)

static size_t pages_whole(size_t bytes)
{
    return (bytes + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE;
}

static bool pages_small(size_t bytes)
{
    return bytes < PAGES_LARGE || bytes > SIZE_MAX - 2 * PAGES_LARGE;
}

/* Reserves addresses for large pages, aligned to one if possible. */
static unsigned char *pages_map(size_t bytes)
{
    unsigned char *base = mmap(NULL, bytes + PAGES_LARGE,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (base == MAP_FAILED)
        return NULL;
    before = (PAGES_LARGE - (uintptr_t)base % PAGES_LARGE) % PAGES_LARGE;
    if (before > 0)
        munmap(base, before);
    munmap(base + before + bytes, PAGES_LARGE - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + before, bytes, MADV_HUGEPAGE);
#endif
    return base + before;
}

void *pages_new(size_t bytes)
{
    return pages_small(bytes) ? malloc(bytes) : pages_map(pages_whole(bytes));
}

void pages_free(void *memory, size_t bytes)
{
    if (memory == NULL || pages_small(bytes))
        free(memory);
    else
        munmap(memory, pages_whole(bytes));
}

/* Moves the old mapping to a new address. Returns NULL if it has not moved. If
 * a move fails half way, the new address may already belong to somebody else,
 * so it is not touched again. */
static void *pages_move(void *old, size_t had, size_t bytes)
{
#ifdef MREMAP_FIXED
    void *place = pages_map(bytes);

    if (place != NULL && mremap(old, had, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                place) != MAP_FAILED)
        return place;
#else
    (void)old, (void)had, (void)bytes;
#endif
    return NULL;
}

void *pages_grow(void *old, size_t had, size_t bytes)
{
    void *grown = NULL;

    if (pages_small(bytes))
        return realloc(old, bytes);
    if (!pages_small(had))
        grown = pages_move(old, pages_whole(had), pages_whole(bytes));
    if (grown != NULL)
        return grown;
    grown = pages_new(bytes);
    if (grown == NULL)
        return NULL;
    memcpy(grown, old, had);
    pages_free(old, had);
    return grown;
}
