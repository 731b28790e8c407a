/* hashes.c - a set of 64-bit hashes, in memory.
 *
 * Linear probing from the high bits of an odd multiple, in three quarters of
 * the slots at most. The high ones depend on every bit of the hash: of integers
 * that end in zeros the others are all zero. Floor 8; includes sketch.h only.
 */
#include "bloomery/sketches.h"

#include <stdlib.h>

/* 2^64 over the golden ratio, odd: weak hash functions are spread too. */
#define HASHES_SPREAD UINT64_C(0x9E3779B97F4A7C15)

/* The slot where the hash, not 0, is or would be; there is a free one. */
static size_t hashes_find(const sketch_hashes *set, uint64_t hash)
{
    size_t mask = set->room - 1;
    size_t at = (size_t)(hash * HASHES_SPREAD >> set->shift);

    while (set->slots[at] != 0 && set->slots[at] != hash)
        at = (at + 1) & mask;
    return at;
}

bool hashes_room(sketch_hashes *set, size_t more)
{
    sketch_hashes larger = { .room = set->room == 0 ? 4096 : set->room,
                             .shift = set->room == 0 ? 64 - 12 : set->shift,
                             .used = set->used, .zero = set->zero };

    for (; set->used + more > larger.room / 4 * 3; larger.shift--)
        larger.room *= 2;
    if (larger.room == set->room)
        return true;
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i] != 0)
            larger.slots[hashes_find(&larger, set->slots[i])] = set->slots[i];
    free(set->slots);
    *set = larger;
    return true;
}

bool hashes_add(sketch_hashes *set, uint64_t hash)
{
    bool fresh = !hashes_has(set, hash);

    if (hash == 0)
        set->zero = true;
    else if (fresh) {
        set->slots[hashes_find(set, hash)] = hash;
        set->used++;
    }
    return fresh;
}

bool hashes_has(const sketch_hashes *set, uint64_t hash)
{
    if (hash == 0)
        return set->zero;
    return set->room > 0 && set->slots[hashes_find(set, hash)] != 0;
}

void hashes_free(sketch_hashes *set)
{
    free(set->slots);
    *set = (sketch_hashes){ .room = 0 };
}
