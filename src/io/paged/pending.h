/* pending.h - keys in memory that wait to be written to their pages.
 *
 * An add costs eight bytes here and no I/O. When memory is full, all waiting
 * keys are sorted by page for one pass over the file. A lookup must see the
 * waiting keys, so the hashes of each page are chained, newest first. Chains
 * are only extended when a lookup needs them, so programs that only add do not
 * pay for them.
 */
#ifndef BLY_IO_PAGED_PENDING_H
#define BLY_IO_PAGED_PENDING_H

#include "image/abilities.h"

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

/* Makes room for as many hashes as `bytes` bytes hold with their overhead, but
 * at least some. Returns false if out of memory. */
bool pending_make(pending *p, const kind_pages *kind, const void *head,
                  uint64_t bytes, const bly_allocator *allocator);
void pending_release(pending *p);

/* Takes up to n hashes. Returns how many there was room for. */
size_t pending_take(pending *p, const uint64_t *hashes, size_t n);

/* Sorts them by page. */
void pending_sort(pending *p);

/* Removes all keys. */
void pending_clear(pending *p);

/* Chains the keys that are not chained yet, before the next call; by one
   thread. */
void pending_link(pending *p);

/* Adds the keys that wait for page `place` to `page`. */
void pending_overlay(const pending *p, uint64_t place, void *page);

#endif /* BLY_IO_PAGED_PENDING_H */
