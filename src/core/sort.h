/* sort.h - putting keys in order.
 *
 * Floor 1.
 */
#ifndef BLY_CORE_SORT_H
#define BLY_CORE_SORT_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* BLY_CORE_SORT_H */
