/* hashes.c - a set of 64-bit hashes in memory.
 *
 * Linear probing with at most three quarters of the slots in use. An attacker
 * can compute a filter's hashes, so slots are chosen by a keyed hash of them.
 */
#include "bloomery/sketch/sketches.h"

#include <stdlib.h>

/* Number of slots prefetched at once. */
enum { HASHES_SOME = 32 };

/* Returns the first slot where the hash may be. */
static size_t hashes_home(const sketch_hashes *set, uint64_t hash)
{
    return (size_t)(bly_keyed_number(&set->keyed, hash) >> set->shift);
}

/* Returns the slot of the hash (not 0), or the free one for it, from `at` on.
 */
static size_t hashes_find(const sketch_hashes *set, size_t at, uint64_t hash)
{
    while (set->slots[at] != 0 && set->slots[at] != hash)
        at = (at + 1) & (set->room - 1);
    return at;
}

/* Finds the home slots of some hashes, and prefetches them. */
static void hashes_homes(const sketch_hashes *set, const uint64_t *hashes,
                         size_t n, size_t homes[HASHES_SOME])
{
    for (size_t i = 0; i < n; i++) {
        homes[i] = hashes_home(set, hashes[i]);
#if defined(__GNUC__)
        __builtin_prefetch(&set->slots[homes[i]], 1);
#endif
    }
}

int hashes_open(sketch_hashes *set)
{
    *set = (sketch_hashes){ .room = 0 };
    return bly_keyed_draw(&set->keyed) < 0 ? filter_error() : CLI_GO;
}

static void hashes_move(sketch_hashes *to, const sketch_hashes *from)
{
    uint64_t some[HASHES_SOME];
    size_t homes[HASHES_SOME];

    for (size_t at = 0; at < from->room; ) {
        size_t n = 0;

        for (; at < from->room && n < HASHES_SOME; at++) {
            some[n] = from->slots[at];
            n += some[n] != 0;
        }
        hashes_homes(to, some, n, homes);
        for (size_t i = 0; i < n; i++)
            to->slots[hashes_find(to, homes[i], some[i])] = some[i];
    }
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
    hashes_move(&larger, set);
    free(set->slots);
    *set = larger;
    return true;
}

static bool hashes_add_at(sketch_hashes *set, size_t home, uint64_t hash)
{
    uint64_t *slot;
    bool fresh = !set->zero;

    if (hash == 0) {
        set->zero = true;
        return fresh;
    }
    slot = &set->slots[hashes_find(set, home, hash)];
    fresh = *slot == 0;
    *slot = hash;
    set->used += fresh;
    return fresh;
}

bool hashes_add(sketch_hashes *set, uint64_t hash)
{
    return hashes_add_at(set, hashes_home(set, hash), hash);
}

void hashes_add_many(sketch_hashes *set, const uint64_t *hashes, size_t n,
                     bool *fresh)
{
    size_t homes[HASHES_SOME];

    for (size_t at = 0; at < n; at += HASHES_SOME) {
        size_t some = n - at < HASHES_SOME ? n - at : HASHES_SOME;

        hashes_homes(set, hashes + at, some, homes);
        for (size_t i = 0; i < some; i++)
            fresh[at + i] = hashes_add_at(set, homes[i], hashes[at + i]);
    }
}

bool hashes_has(const sketch_hashes *set, uint64_t hash)
{
    size_t home;

    if (hash == 0)
        return set->zero;
    home = hashes_home(set, hash);
    return set->room > 0 && set->slots[hashes_find(set, home, hash)] != 0;
}

void hashes_free(sketch_hashes *set)
{
    free(set->slots);
    *set = (sketch_hashes){ .room = 0 };
}
