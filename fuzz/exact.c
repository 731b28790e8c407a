/* exact.c - a set of 64-bit hashes with counts. */
#include "exact.h"

#include <string.h>

void exact_clear(exact *set)
{
    set->used = 0;
    set->adds = 0;
    set->adds_known = set->pure = set->plain = true;
    memset(set->slot, 0, sizeof set->slot);
}

void exact_copy(exact *out, const exact *set)
{
    out->used = set->used;
    out->adds = set->adds;
    out->adds_known = set->adds_known;
    out->pure = set->pure;
    out->plain = set->plain;
    memcpy(out->entry, set->entry, set->used * sizeof *set->entry);
    memcpy(out->slot, set->slot, sizeof set->slot);
}

/* Returns the slot of a hash, or the free slot where it would go. */
static uint16_t *exact_slot(exact *set, uint64_t hash)
{
    size_t at = (size_t)((hash ^ hash >> 29) * UINT64_C(0x9E3779B97F4A7C15)
                         >> 32) % EXACT_SLOTS;
    while (set->slot[at] != 0 && set->entry[set->slot[at] - 1].hash != hash)
        at = (at + 1) % EXACT_SLOTS;
    return &set->slot[at];
}

exact_entry *exact_find(exact *set, uint64_t hash)
{
    uint16_t place = *exact_slot(set, hash);
    bool in = place != 0 && set->entry[place - 1].count > 0;
    return in ? &set->entry[place - 1] : NULL;
}

bool exact_room(const exact *set, size_t n)
{
    return n <= EXACT_KEYS - set->used;
}

void exact_add(exact *set, uint64_t hash, uint64_t count)
{
    uint16_t *place = exact_slot(set, hash);
    if (*place == 0) {
        set->entry[set->used] = (exact_entry){ .hash = hash };
        *place = (uint16_t)++set->used;
    }
    set->entry[*place - 1].count += count;
    set->adds += count;
}

void exact_remove(exact *set, exact_entry *entry)
{
    entry->count--;
    set->adds--;
}

exact_entry *exact_pick(exact *set, uint64_t which)
{
    for (size_t i = 0; i < set->used; i++) {
        exact_entry *entry = &set->entry[(which + i) % set->used];
        if (entry->count > 0)
            return entry;
    }
    return NULL;
}

void exact_unite(exact *into, const exact *other)
{
    bool one_empty = into->adds == 0 || other->adds == 0;
    into->plain = into->plain && other->plain && one_empty;
    for (size_t i = 0; i < other->used; i++)
        if (other->entry[i].count > 0)
            exact_add(into, other->entry[i].hash, other->entry[i].count);
    into->adds_known = into->adds_known && other->adds_known;
    into->pure = into->pure && other->pure;
}

void exact_intersect(exact *into, exact *other)
{
    /* A filter that no longer knows its number of adds does not notice that all
     * keys are gone. */
    bool nothing = (into->plain && into->adds == 0)
                || (other->plain && other->adds == 0);
    into->adds = 0;
    for (size_t i = 0; i < into->used; i++) {
        exact_entry *mine = &into->entry[i];
        const exact_entry *theirs = exact_find(other, mine->hash);
        uint64_t both = theirs != NULL ? theirs->count : 0;
        if (both < mine->count)
            mine->count = both;
        into->adds += mine->count;
    }
    into->adds_known = into->pure = into->plain = nothing;
}
