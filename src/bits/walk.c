/* walk.c - batches of keys whose k bits lie anywhere in a large row. */
#include "bits/walk.h"

#include "base/cpu.h"
#include "bits/bits.h"
#include "bits/hash.h"

/* ---- Contains ---------------------------------------------------------- */

/* The first three probes are tested together, without unpredictable branches:
 * an absent key passes them once in eight times. The others follow one by one.
 */
bool walk_contains_one(const void *view, uint64_t hash)
{
    enum { TOGETHER = 3 };
    const walk_view *v = view;
    const uint64_t slice = v->plan.slice, stride = v->plan.stride >> 3;
    const uint8_t *row = v->row;
    uint32_t k = v->plan.k;
    uint64_t state = hash_spread(hash);
    bool all = true;
    if (k >= TOGETHER) {
        k -= TOGETHER;
        PLATFORM_UNROLL
        for (int i = 0; i < TOGETHER; i++, state *= HASH_STEP, row += stride)
            all &= bits_test(row, bits_range(state, slice));
    }
    for (; all && k > 0; k--, state *= HASH_STEP, row += stride)
        all = bits_test(row, bits_range(state, slice));
    return all;
}

/* Returns the bytes of a row. */
PLATFORM_INLINE uint64_t walk_bytes(const walk_plan *plan)
{
    return (plan->slice + (plan->k - 1) * plan->stride) / 8;
}

/* Keys taken through their probes together: many, so that the last few probes
 * of a group, which wait for their lines, are few among all; and few enough
 * for the stack. */
enum { WALK_GROUP = 1536 };

/* The keys of a group whose probes so far have found their bits set. */
typedef struct {
    uint64_t state[WALK_GROUP];         /* of the index walk, at this probe  */
    uint16_t key[WALK_GROUP];           /* its place in the group            */
} walk_group;

/* Returns the bit that the probe of a state tests. */
PLATFORM_INLINE uint64_t walk_at(const walk_plan *plan, uint64_t state,
                                 uint64_t base)
{
    return base + bits_range(state, plan->slice);
}

PLATFORM_INLINE void walk_prefetch(const walk_plan *plan, const uint8_t *row,
                                   uint64_t state, uint64_t base)
{
    platform_prefetch(row + (walk_at(plan, state, base) >> 3));
}

/* Keeps key i at place `kept`. Returns the next place, or the same one if its
 * bit is clear. */
PLATFORM_INLINE size_t walk_keep(walk_group *g, size_t kept, size_t i,
                                 const walk_plan *plan, const uint8_t *row,
                                 uint64_t base)
{
    uint64_t state = g->state[i];
    bool set = bits_test(row, walk_at(plan, state, base));
    g->state[kept] = state * HASH_STEP;
    g->key[kept] = g->key[i];
    return kept + set;
}

/* Runs one probe of the group's n keys, with `most` prefetched at a time;
 * returns how many are left. The first *fetched are prefetched already. While
 * the last ones are tested, the lines of the next probe are prefetched, so that
 * no group waits between its probes. */
PLATFORM_INLINE size_t walk_probe(walk_group *g, size_t n, size_t most,
                                  size_t *fetched,
                                  const walk_plan *plan, const uint8_t *row,
                                  uint64_t base)
{
    size_t ahead = n < most ? n : most, kept = 0, next = 0;
    for (size_t i = *fetched; i < ahead; i++)
        walk_prefetch(plan, row, g->state[i], base);
    for (size_t i = 0; i < n - ahead; i++) {
        walk_prefetch(plan, row, g->state[i + ahead], base);
        kept = walk_keep(g, kept, i, plan, row, base);
    }
    for (size_t i = n - ahead; i < n; i++) {
        kept = walk_keep(g, kept, i, plan, row, base);
        walk_prefetch(plan, row, g->state[next], base + plan->stride);
        next += next < kept;
    }
    *fetched = next;
    return kept;
}

static void walk_contains_group(walk_group *g, const walk_plan *plan,
                                const uint8_t *row, const uint64_t *hashes,
                                size_t n, bool *present)
{
    const walk_plan p = *plan;
    const size_t most = cpu_ahead(n, n, walk_bytes(plan));
    size_t fetched = 0;
    for (size_t i = 0; i < n; i++) {
        g->state[i] = hash_spread(hashes[i]);
        g->key[i] = (uint16_t)i;
        present[i] = false;
    }
    for (uint32_t j = 0; j < p.k && n > 0; j++)
        n = walk_probe(g, n, most, &fetched, &p, row, j * p.stride);
    for (size_t i = 0; i < n; i++)
        present[g->key[i]] = true;
}

void walk_contains(const walk_plan *plan, const uint8_t *row,
                   const uint64_t *hashes, size_t n, bool *present)
{
    walk_group group;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < WALK_GROUP ? n - i : WALK_GROUP;
        walk_contains_group(&group, plan, row, hashes + i, some, present + i);
    }
}

/* ---- Add --------------------------------------------------------------- */

/* Probes that wait for their lines, at most. */
enum { WALK_RING = 128 };

/* Prefetches the line of a probe, whose state becomes that of the next one.
 * Returns its bit. */
PLATFORM_INLINE uint64_t walk_place(const walk_plan *p, const uint8_t *row,
                                    uint64_t *state, uint64_t base)
{
    uint64_t at = walk_at(p, *state, base);
    platform_prefetch_write(row + (at >> 3));
    *state *= HASH_STEP;
    return at;
}

PLATFORM_INLINE bool walk_set(uint8_t *row, uint64_t at, bool shared)
{
    return shared ? bits_set_shared(row, at) : bits_set(row, at);
}

/* Adds all keys in order, some keys behind their prefetches. The ring has k
 * places for each key, and one loop sets a bit and fills its place again. */
PLATFORM_INLINE void walk_add_k(walk_plan p, uint32_t k, uint8_t *row,
                                const uint64_t *hashes, size_t n, bool shared,
                                bool *seen)
{
    uint64_t ring[WALK_RING];
    const size_t ahead = cpu_ahead(n, WALK_RING / k, walk_bytes(&p));
    size_t turn = 0;
    for (size_t i = 0; i < ahead; i++) {
        uint64_t state = hash_spread(hashes[i]);
        for (uint32_t j = 0; j < k; j++)
            ring[i * k + j] = walk_place(&p, row, &state, j * p.stride);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *slot = ring + turn * k;
        bool fresh = false;
        if (i + ahead < n) {
            uint64_t state = hash_spread(hashes[i + ahead]);
            PLATFORM_UNROLL
            for (uint32_t j = 0; j < k; j++) {
                fresh |= walk_set(row, slot[j], shared);
                slot[j] = walk_place(&p, row, &state, j * p.stride);
            }
        } else {
            for (uint32_t j = 0; j < k; j++)
                fresh |= walk_set(row, slot[j], shared);
        }
        if (seen != NULL)
            seen[i] = !fresh;
        turn = turn + 1 < ahead ? turn + 1 : 0;
    }
}

void walk_add(const walk_plan *plan, uint8_t *row, const uint64_t *hashes,
              size_t n, bool shared)
{
    if (shared) {
        walk_add_k(*plan, plan->k, row, hashes, n, true, NULL);
        return;
    }
/* With a k known to the compiler, an add takes four fifths of the time. */
#define WALK_OF(k)                                                             \
    case k:                                                                    \
        walk_add_k(*plan, k, row, hashes, n, false, NULL);                     \
        break
    switch (plan->k) {
    WALK_OF(5);  WALK_OF(6);  WALK_OF(7);  WALK_OF(8);  WALK_OF(9);
    WALK_OF(10); WALK_OF(11); WALK_OF(12); WALK_OF(13); WALK_OF(14);
    default: walk_add_k(*plan, plan->k, row, hashes, n, false, NULL);
    }
#undef WALK_OF
}

void walk_add_each(const walk_plan *plan, uint8_t *row, const uint64_t *hashes,
                   size_t n, bool *seen)
{
    walk_add_k(*plan, plan->k, row, hashes, n, false, seen);
}
