/* pending.h - keys that wait in memory to be written to their pages.
 *
 * An add costs eight bytes here and no look at the disk. When there
 * is no room left all that wait are sorted by page, for one pass over the
 * file in rising order. A lookup must see what waits: for it the hashes of
 * one page are chained, the newest first. The chains are made when a lookup
 * comes, for what has been added since the last one, so that who only adds
 * does not pay for them.
 */
#ifndef BLY_IO_PAGED_PENDING_H
#define BLY_IO_PAGED_PENDING_H

#include "image/kind.h"

typedef struct {
    const kind_pages *kind;
    const void *head;
    bly_allocator allocator;
    uint64_t *hashes;                   /* n of them                         */
    uint64_t *spare;                    /* where sorting puts them           */
    uint32_t *next;                     /* of each hash, in its chain        */
    uint32_t *first;                    /* of each chain                     */
    size_t    n, room, chains;
    size_t    linked;                   /* hashes that are in chains         */
} pending;

/* Room for as many hashes as `bytes` bytes of memory hold, with all that goes
 * with them; some at least. False: no memory. */
bool pending_make(pending *p, const kind_pages *kind, const void *head,
                  uint64_t bytes, const bly_allocator *allocator);
void pending_release(pending *p);

/* Take up to n hashes; how many there was room for. */
size_t pending_take(pending *p, const uint64_t *hashes, size_t n);

/* Put them in the order of their pages. */
void pending_sort(pending *p);

/* None waits any more. */
void pending_clear(pending *p);

/* Chain what is not chained yet: before the next, and by one thread. */
void pending_link(pending *p);

/* Add what waits for page number `place` to `page`. */
void pending_overlay(const pending *p, uint64_t place, void *page);

#endif /* BLY_IO_PAGED_PENDING_H */
