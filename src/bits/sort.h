/* sort.h - putting keys in order. */
#ifndef BLY_BITS_SORT_H
#define BLY_BITS_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/task.h"

/* By insertion: for few keys, or for keys that are nearly in order. */
static inline void sort_insert(uint64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Let keys[root] sink to its place in a heap of n. */
static inline void sort_sink(uint64_t *keys, size_t root, size_t n)
{
    uint64_t key = keys[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && keys[child + 1] > keys[child];
        if (keys[child] <= key)
            break;
        keys[root] = keys[child];
    }
    keys[root] = key;
}

/* By a heap: in time n log n whatever they are. Long rows are steps of the
 * caller's task, and not sorted if it is cancelled. */
static inline void sort_heap(uint64_t *keys, size_t n)
{
    for (size_t i = n / 2; i-- > 0; )
        sort_sink(keys, i, n);
    while (n > 1 && (n % TASK_KEYS != 0 || !task_step(0))) {
        uint64_t top = keys[0];
        keys[0] = keys[--n];
        keys[n] = top;
        sort_sink(keys, 0, n);
    }
}

#endif /* BLY_BITS_SORT_H */
