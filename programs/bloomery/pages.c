/* pages.c - memory in large pages, which grows without being copied.
 *
 * What is looked for all over a table costs, beside the line of memory, the
 * walk to its page where the processor does not know that page: large pages
 * are few enough to be known. realloc would give the system's small ones back,
 * so that a mapping is moved to a place that begins on a large page: what moves
 * is the pages' places, and no byte of them. Where the system cannot do that
 * the bytes are copied, and below a large page it is malloc. Floor 8; includes
 * dedup.h only.
 */
#include "bloomery/dedup.h"

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
    if (before < PAGES_LARGE)
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

/* The pages of the old mapping come to the place of the new one, which nobody
 * has written. False: they are where they were. */
static bool pages_move(void *old, size_t had, void *place, size_t bytes)
{
#ifdef MREMAP_FIXED
    return mremap(old, had, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place)
           != MAP_FAILED;
#else
    (void)old, (void)had, (void)place, (void)bytes;
    return false;
#endif
}

void *pages_grow(void *old, size_t had, size_t bytes)
{
    void *grown;

    if (pages_small(bytes))
        return realloc(old, bytes);
    grown = pages_new(bytes);
    if (grown == NULL)
        return NULL;
    if (!pages_small(had) && pages_move(old, pages_whole(had), grown,
                                        pages_whole(bytes)))
        return grown;
    memcpy(grown, old, had);
    pages_free(old, had);
    return grown;
}
