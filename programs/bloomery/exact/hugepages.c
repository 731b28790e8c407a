/* hugepages.c - memory in large pages, which grows without copying.
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

static size_t hugepages_whole(size_t bytes)
{
    return (bytes + PAGES_LARGE - 1) / PAGES_LARGE * PAGES_LARGE;
}

static bool hugepages_small(size_t bytes)
{
    return bytes < PAGES_LARGE || bytes > SIZE_MAX - 2 * PAGES_LARGE;
}

/* Reserves addresses for large pages, aligned to one if possible. */
static unsigned char *hugepages_map(size_t bytes)
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

void *hugepages_new(size_t bytes)
{
    return hugepages_small(bytes) ? malloc(bytes)
                                  : hugepages_map(hugepages_whole(bytes));
}

void hugepages_free(void *memory, size_t bytes)
{
    if (memory == NULL || hugepages_small(bytes))
        free(memory);
    else
        munmap(memory, hugepages_whole(bytes));
}

/* Moves the old mapping to a new address. Returns NULL if it has not moved. If
 * a move fails half way, the new address may already belong to somebody else,
 * so it is not touched again. */
static void *hugepages_move(void *old, size_t had, size_t bytes)
{
#ifdef MREMAP_FIXED
    void *place = hugepages_map(bytes);

    if (place != NULL && mremap(old, had, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                place) != MAP_FAILED)
        return place;
#else
    (void)old, (void)had, (void)bytes;
#endif
    return NULL;
}

void *hugepages_grow(void *old, size_t had, size_t bytes)
{
    void *grown = NULL;

    if (hugepages_small(bytes))
        return realloc(old, bytes);
    if (!hugepages_small(had))
        grown =
            hugepages_move(old, hugepages_whole(had), hugepages_whole(bytes));
    if (grown != NULL)
        return grown;
    grown = hugepages_new(bytes);
    if (grown == NULL)
        return NULL;
    memcpy(grown, old, had);
    hugepages_free(old, had);
    return grown;
}
