/* walk.c - batches of keys whose k bits lie anywhere in a large row.
 *
 * Floor 1.
 */
#include "core/walk.h"

#include "core/bits.h"
#include "core/hash.h"

/* A key on its way: the bit that is being fetched, and what comes after. */
typedef struct {
    uint64_t at;                        /* the bit to be tested              */
    uint64_t state;                     /* of the index walk, at this probe  */
    uint64_t base;                      /* where this probe's slice begins   */
    size_t   key;                       /* its place in the batch            */
    uint32_t left;                      /* probes to go, this one included   */
} walk_slot;

/* Find the slot's bit and ask for its line. */
PLATFORM_INLINE void walk_aim(walk_slot *s, const walk_plan *plan,
                              const uint8_t *row)
{
    s->at = s->base + bits_range(s->state, plan->slice);
    platform_prefetch(row + (s->at >> 3));
}

PLATFORM_INLINE void walk_begin(walk_slot *s, const walk_plan *plan,
                                const uint8_t *row, uint64_t hash, size_t key)
{
    *s = (walk_slot){ .state = hash_spread(hash), .key = key, .left = plan->k };
    walk_aim(s, plan, row);
}

/* Test the slot's bit; is its key's answer known now? The answer is written
 * every time: the last time it is the right one. */
PLATFORM_INLINE bool walk_test(const walk_slot *s, const uint8_t *row,
                               bool *present)
{
    bool set = bits_test(row, s->at);
    present[s->key] = set;
    return !set | (s->left == 1);
}

PLATFORM_INLINE void walk_on(walk_slot *s, const walk_plan *plan,
                             const uint8_t *row)
{
    s->state *= HASH_STEP;
    s->base += plan->stride;
    s->left--;
    walk_aim(s, plan, row);
}

/* One turn of every slot, while there are new keys for all of them; both
 * futures of a slot are computed, and one is chosen. */
PLATFORM_INLINE size_t walk_sweep(walk_slot *slots, const walk_plan *plan,
                                  const uint8_t *row, const uint64_t *hashes,
                                  size_t next, bool *present)
{
    for (size_t i = 0; i < WALK_SLOTS; i++) {
        walk_slot *s = &slots[i];
        bool known = walk_test(s, row, present);
        uint64_t fresh = hash_spread(hashes[next]), on = s->state * HASH_STEP;
        s->state = known ? fresh : on;
        s->base = known ? 0 : s->base + plan->stride;
        s->key = known ? next : s->key;
        s->left = known ? plan->k : s->left - 1;
        next += known;
        walk_aim(s, plan, row);
    }
    return next;
}

/* The last keys: a slot without a new one is filled by the last slot. */
static void walk_drain(walk_slot *slots, size_t active, const walk_plan *plan,
                       const uint8_t *row, const uint64_t *hashes, size_t next,
                       size_t n, bool *present)
{
    while (active > 0)
        for (size_t i = 0; i < active; i++) {
            walk_slot *s = &slots[i];
            if (!walk_test(s, row, present)) {
                walk_on(s, plan, row);
            } else if (next < n) {
                walk_begin(s, plan, row, hashes[next], next);
                next++;
            } else {
                *s = slots[--active];
            }
        }
}

void walk_contains(const walk_plan *plan, const uint8_t *row,
                   const uint64_t *hashes, size_t n, bool *present)
{
    walk_slot slots[WALK_SLOTS];
    const walk_plan p = *plan;
    size_t next = 0;
    for (; next < n && next < WALK_SLOTS; next++)
        walk_begin(&slots[next], &p, row, hashes[next], next);
    size_t active = next;
    while (n - next >= WALK_SLOTS)
        next = walk_sweep(slots, &p, row, hashes, next, present);
    walk_drain(slots, active, &p, row, hashes, next, n, present);
}

/* ---- Add --------------------------------------------------------------- */

PLATFORM_INLINE void walk_set(uint8_t *row, uint64_t at, bool shared)
{
    if (shared)
        bits_set_shared(row, at);
    else
        bits_set(row, at);
}

/* All probes of all keys, one after another, set WALK_SLOTS behind their
 * prefetches. */
PLATFORM_INLINE void walk_add_any(const walk_plan *plan, uint8_t *row,
                                  const uint64_t *hashes, size_t n, bool shared)
{
    uint64_t ring[WALK_SLOTS];
    const walk_plan p = *plan;
    size_t turn = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t state = hash_spread(hashes[i]), base = 0;
        for (uint32_t j = 0; j < p.k; j++, turn++) {
            uint64_t *slot = &ring[turn % WALK_SLOTS];
            if (turn >= WALK_SLOTS)
                walk_set(row, *slot, shared);
            *slot = base + bits_range(state, p.slice);
            platform_prefetch_write(row + (*slot >> 3));
            state *= HASH_STEP;
            base += p.stride;
        }
    }
    for (size_t i = 0; i < turn && i < WALK_SLOTS; i++)
        walk_set(row, ring[i], shared);
}

void walk_add(const walk_plan *plan, uint8_t *row, const uint64_t *hashes,
              size_t n, bool shared)
{
    if (shared)
        walk_add_any(plan, row, hashes, n, true);
    else
        walk_add_any(plan, row, hashes, n, false);
}
