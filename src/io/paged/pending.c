/* pending.c - keys in memory that wait to be written to their pages. */
#include "io/paged/pending.h"

#include <string.h>

#include "base/memory.h"

enum {
    PENDING_LEAST = 256,                /* hashes                            */
    PENDING_CHUNK = 512,                /* placed at a time                  */
    PENDING_DIGIT = 11,                 /* bits of a page number, in sorting */
    PENDING_DIGITS = 1 << PENDING_DIGIT,
    PENDING_EACH = 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)
};

#define PENDING_NONE UINT32_MAX         /* ends a chain                      */

/* ---- Room -------------------------------------------------------------- */

/* Returns a power of two: the number of hashes, or down to half of it. */
static size_t pending_chains(size_t room)
{
    size_t chains = 1;
    while (chains <= room / 2)
        chains *= 2;
    return chains;
}

bool pending_make(pending *p, const kind_pages *kind, const void *head,
                  uint64_t bytes, const bly_allocator *allocator)
{
    uint64_t room = bytes / PENDING_EACH;
    if (room < PENDING_LEAST)
        room = PENDING_LEAST;
    if (room > PENDING_NONE / 2)
        room = PENDING_NONE / 2;
    *p = (pending){ .kind = kind, .head = head, .allocator = *allocator,
                    .room = (size_t)room };
    p->chains = pending_chains(p->room);
    p->hashes = memory_raw(allocator, p->room * sizeof *p->hashes);
    p->spare = memory_raw(allocator, p->room * sizeof *p->spare);
    p->next = memory_raw(allocator, p->room * sizeof *p->next);
    p->first = memory_raw(allocator, p->chains * sizeof *p->first);
    if (p->hashes != NULL && p->spare != NULL && p->next != NULL
        && p->first != NULL)
        return true;
    pending_release(p);
    return false;
}

void pending_release(pending *p)
{
    memory_release(&p->allocator, p->hashes, p->room * sizeof *p->hashes);
    memory_release(&p->allocator, p->spare, p->room * sizeof *p->spare);
    memory_release(&p->allocator, p->next, p->room * sizeof *p->next);
    memory_release(&p->allocator, p->first, p->chains * sizeof *p->first);
    p->hashes = p->spare = NULL;
    p->next = p->first = NULL;
    p->n = p->room = p->chains = p->linked = 0;
}

size_t pending_take(pending *p, const uint64_t *hashes, size_t n)
{
    size_t left = p->room - p->n, taken = n < left ? n : left;
    if (taken > 0)
        memcpy(p->hashes + p->n, hashes, taken * sizeof *hashes);
    p->n += taken;
    return taken;
}

void pending_clear(pending *p)
{
    p->n = p->linked = 0;
}

/* ---- Sorting ----------------------------------------------------------- */

/* Computes the pages of up to PENDING_CHUNK hashes from `at` on. Returns their
   number. */
static size_t pending_places(const pending *p, size_t at,
                             uint64_t places[PENDING_CHUNK])
{
    size_t some = p->n - at < PENDING_CHUNK ? p->n - at : PENDING_CHUNK;
    p->kind->place(p->head, p->hashes + at, some, places);
    return some;
}

/* Sorts by the digit at `shift` of the page number: a step of a radix sort. */
static void pending_pass(pending *p, unsigned shift)
{
    uint32_t start[PENDING_DIGITS] = { 0 }, sum = 0;
    uint64_t places[PENDING_CHUNK];
    for (size_t at = 0, some; at < p->n; at += some) {
        some = pending_places(p, at, places);
        for (size_t i = 0; i < some; i++)
            start[places[i] >> shift & (PENDING_DIGITS - 1)]++;
    }
    for (size_t d = 0; d < PENDING_DIGITS; d++) {
        uint32_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (size_t at = 0, some; at < p->n; at += some) {
        some = pending_places(p, at, places);
        for (size_t i = 0; i < some; i++) {
            size_t digit = places[i] >> shift & (PENDING_DIGITS - 1);
            p->spare[start[digit]++] = p->hashes[at + i];
        }
    }
    uint64_t *sorted = p->spare;
    p->spare = p->hashes;
    p->hashes = sorted;
}

void pending_sort(pending *p)
{
    uint64_t last = p->kind->count(p->head) - 1;
    p->linked = 0;                      /* chains are now invalid */
    for (unsigned shift = 0; shift < 64 && last >> shift > 0;
         shift += PENDING_DIGIT)
        pending_pass(p, shift);
}

/* ---- Chains ------------------------------------------------------------ */

void pending_link(pending *p)
{
    uint64_t places[PENDING_CHUNK];
    if (p->linked == 0 && p->n > 0)
        memset(p->first, 0xFF, p->chains * sizeof *p->first);
    for (size_t some; p->linked < p->n; p->linked += some) {
        some = pending_places(p, p->linked, places);
        for (size_t i = 0; i < some; i++) {
            uint32_t *first = &p->first[places[i] & (p->chains - 1)];
            p->next[p->linked + i] = *first;
            *first = (uint32_t)(p->linked + i);
        }
    }
}

/* Collects up to PENDING_CHUNK hashes of the page from *at on, and moves *at.
 */
static size_t pending_chain(const pending *p, uint64_t place, uint32_t *at,
                            uint64_t hashes[PENDING_CHUNK])
{
    size_t found = 0;
    for (; *at != PENDING_NONE && found < PENDING_CHUNK; *at = p->next[*at]) {
        uint64_t here;
        p->kind->place(p->head, &p->hashes[*at], 1, &here);
        if (here == place)
            hashes[found++] = p->hashes[*at];
    }
    return found;
}

void pending_overlay(const pending *p, uint64_t place, void *page)
{
    uint64_t hashes[PENDING_CHUNK];
    uint32_t at = p->n == 0 ? PENDING_NONE
                : p->first[place & (p->chains - 1)];
    while (at != PENDING_NONE) {
        size_t found = pending_chain(p, place, &at, hashes);
        if (found > 0)
            p->kind->add(p->head, page, hashes, found);
    }
}
