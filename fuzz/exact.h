/* exact.h - the exact set that a filter is compared with: up to 8192 hashes,
 * and how often each was added.
 *
 * A dense array in order of arrival, and a hash table of places in it. A
 * removed key stays in the array with a count of 0.
 */
#ifndef BLY_FUZZ_EXACT_H
#define BLY_FUZZ_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXACT_KEYS = 8192, EXACT_SLOTS = 2 * EXACT_KEYS };

typedef struct {
    uint64_t hash, count;
} exact_entry;

typedef struct {
    size_t      used;                   /* entries, including count 0        */
    uint64_t    adds;                   /* adds less removes                 */
    bool        adds_known;             /* not after an intersection         */
    bool        pure;                   /* only these keys' bits: never
                                           intersected                       */
    bool        plain;                  /* nor united: it knows its adds     */
    exact_entry entry[EXACT_KEYS];
    uint16_t    slot[EXACT_SLOTS];      /* 1 + place in `entry`; 0: free     */
} exact;

void exact_clear(exact *set);
void exact_copy(exact *out, const exact *set);

/* Returns its entry if it is in the set, or NULL. */
exact_entry *exact_find(exact *set, uint64_t hash);

/* Returns whether n more keys fit. */
bool exact_room(const exact *set, size_t n);

/* Adds a hash `count` times. There must be room. */
void exact_add(exact *set, uint64_t hash, uint64_t count);

/* Removes one copy. It must be in the set. */
void exact_remove(exact *set, exact_entry *entry);

/* Returns an entry chosen by `which`, or NULL if the set is empty. */
exact_entry *exact_pick(exact *set, uint64_t which);

/* into := into + other. There must be room. */
void exact_unite(exact *into, const exact *other);

/* into := the keys in both, as often as they are in both. */
void exact_intersect(exact *into, exact *other);

#endif /* BLY_FUZZ_EXACT_H */
