/* pages.c - memory in large pages, which grows without being copied.
 *
 * What is looked for all over a table costs, beside the line of memory, the
 * walk to its page where the processor does not know that page: large pages
 * are few enough to be known. realloc would give the system's small ones back,
 * so that a mapping is moved to a place that begins on a large page: what moves
 * is the pages' places, and no byte of them. Where the system cannot do that
 * the bytes are copied, and below a large page it is malloc.
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

/* Places for whole large pages, the first of which begins where one can. */
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

/* The pages of the old mapping at a new place; NULL: they are where they were.
 * A system that begins to move them, and fails, may have given the new place to
 * somebody else meanwhile: then it is not touched again. */
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
