/* hashes.c - a set of 64-bit hashes, in memory.
 *
 * Linear probing in three quarters of the slots at most. Strangers can compute
 * the hashes, which are those of a filter, so a keyed hash of them chooses the
 * slot. Floor 8; includes sketches.h only.
 */
#include "bloomery/sketches.h"

#include <stdlib.h>

/* The slot where the hash, not 0, is or would be; there is a free one. */
static size_t hashes_find(const sketch_hashes *set, uint64_t hash)
{
    size_t mask = set->room - 1;
    size_t at = (size_t)(bly_keyed_number(&set->keyed, hash)
                         >> set->shift);

    while (set->slots[at] != 0 && set->slots[at] != hash)
        at = (at + 1) & mask;
    return at;
}

int hashes_open(sketch_hashes *set)
{
    *set = (sketch_hashes){ .room = 0 };
    return bly_keyed_draw(&set->keyed) < 0 ? filter_error() : CLI_GO;
}

bool hashes_room(sketch_hashes *set, size_t more)
{
    sketch_hashes larger = { .keyed = set->keyed,
                             .room = set->room == 0 ? 4096 : set->room,
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
    uint64_t *slot;
    bool fresh = !set->zero;

    if (hash == 0) {
        set->zero = true;
        return fresh;
    }
    slot = &set->slots[hashes_find(set, hash)];
    fresh = *slot == 0;
    *slot = hash;
    set->used += fresh;
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
