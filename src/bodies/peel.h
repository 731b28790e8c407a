/* peel.h - give every key a slot of its own, by peeling.
 *
 * The kinds whose answer is the XOR of a key's slots (`fuse`, `xor`,
 * `bloomier`) all have this to solve: each key has d slots in a table, and an
 * order of the keys is wanted in which each has one slot that no later key
 * uses. Then the table is filled from the end of that order, and every key has
 * a slot left to make its XOR right. The order is found by peeling: take a slot
 * that has only one key, put that key next in the order, take it out of its
 * other slots, and go on. It comes to an end for random slots if there are
 * enough of them; if it does not, other slots are tried.
 *
 * THE SLOTS
 *
 * Keys are dealt out to shards of about a million, and each shard is a table
 * of its own, with a seed of its own: one byte, the number of its attempt. A
 * table is a row of segments of L slots. A key begins at one of c places and
 * has one slot in each of d segments from there on:
 *
 *      state   hash_mix(hash)
 *      shard   high 32 bits of state, times shards, >> 32; what is left over,
 *              32 bits too, times c, >> 32, is the first segment w
 *      a       (state XOR (seed + 1) STEP) PEEL_A; a := a XOR (a >> 32)
 *      b       a PEEL_B
 *      slots   (w + i) L + (r_i L >> 32), i < d, with r_0 and r_1 the high and
 *              low half of a, r_2 and r_3 those of b
 *
 * c = 1 is the table of d blocks of [Botelho 2007]; with c near n^(1/3) it is
 * the one of [Walzer 2021], whose ends, where the load is light, peel first
 * and take the rest with them: it needs fewer slots, and its keys' slots are
 * near each other. A segment's length is any number, so that a table is no
 * larger than it must be.
 *
 * The low 32 bits of the state choose neither shard nor first segment: they
 * are the key's fingerprint.
 *
 *   [Botelho 2007]  Simple and space-efficient minimal perfect hash functions,
 *                   WADS
 *   [Walzer 2021]   Peeling close to the orientability threshold: spatial
 *                   coupling in hashing-based data structures, SODA
 */
#ifndef BLY_BODIES_PEEL_H
#define BLY_BODIES_PEEL_H

#include "base/platform.h"
#include "bits/hash.h"

enum {
    PEEL_ARITY_MAX = 4,                 /* slots of a key, at most           */
    PEEL_PARTS = 6,                     /* threads that build, at most       */
    PEEL_ALONE = 100000                 /* keys below which one is quicker   */
};

/* Ends of what a shape may be: 2^32 shards, 2^32 slots in each. */
#define PEEL_SHARDS_MAX UINT32_MAX
#define PEEL_SLOTS_MAX  UINT32_MAX

/* Odd multipliers. */
#define PEEL_A UINT64_C(0xAEF17502108EF2D9)
#define PEEL_B UINT64_C(0xF1357AEA2E62A9C5)

typedef struct {
    uint64_t shards;
    uint32_t arity;                     /* d, 3 or 4                         */
    uint32_t windows;                   /* c, at least 1                     */
    uint32_t segment;                   /* L, at least 1                     */
} peel_shape;

/* Slots of one shard. */
PLATFORM_INLINE uint64_t peel_slots(const peel_shape *shape)
{
    return ((uint64_t)shape->windows + shape->arity - 1) * shape->segment;
}

PLATFORM_INLINE uint64_t peel_shard(const peel_shape *shape, uint64_t state)
{
    return (state >> 32) * shape->shards >> 32;
}

/* Returns the value that is xored into the states of a shard with this `seed`
 * byte. */
PLATFORM_INLINE uint64_t peel_salt(uint8_t seed)
{
    return (seed + UINT64_C(1)) * HASH_STEP;
}

/* r times n, >> 32: evenly over [0, n). */
PLATFORM_INLINE uint64_t peel_range(uint32_t r, uint32_t n)
{
    return (uint64_t)r * n >> 32;
}

/* The slots, in its shard, of a state. `arity` is shape->arity, where the
 * compiler knows it. */
PLATFORM_INLINE void peel_places(const peel_shape *shape, uint32_t arity,
                                 uint64_t state, uint64_t salt,
                                 uint64_t at[PEEL_ARITY_MAX])
{
    uint32_t rest = (uint32_t)((state >> 32) * shape->shards);
    uint32_t length = shape->segment;
    uint64_t first = peel_range(rest, shape->windows) * length;
    uint64_t a = (state ^ salt) * PEEL_A;
    uint64_t high = a >> 32, low = a ^ high;    /* low >> 32 is high */
    uint64_t b = low * PEEL_B;
    at[0] = first + peel_range((uint32_t)high, length);
    at[1] = first + length + peel_range((uint32_t)low, length);
    at[2] = first + 2 * (uint64_t)length + peel_range((uint32_t)(b >> 32),
                                                      length);
    if (arity == 4)
        at[3] = first + 3 * (uint64_t)length + peel_range((uint32_t)b, length);
}

/* ---- Sizes ------------------------------------------------------------- */

/* A shape for n >= 1 keys; `coupled`: with c > 1 where that takes fewer slots.
 * False if it would end beyond PEEL_SHARDS_MAX. */
bool peel_plan(peel_shape *out, uint64_t n, uint32_t arity, bool coupled);

/* Bytes of scratch that peel_build takes: 8 a key, and for each of up to
 * PEEL_PARTS threads 8 a shard and 8 a slot of one shard. False if that is
 * beyond 64 bits. */
bool peel_scratch(uint64_t *out, const peel_shape *shape, uint64_t n);

/* ---- Build ------------------------------------------------------------- */

/* A shard that has been peeled: its states, and all of them in order; an entry
 * is the place in `states` << 2 | which of its slots is the key's own. `cells`
 * has a number for each slot, all 0: to work out the table in. */
typedef struct {
    uint64_t shard, salt;
    const uint64_t *states;
    const uint32_t *order;
    size_t n;
    uint32_t *cells;
} peel_order;

/* Fill the table of one shard, the last of the order first. Called for each
 * shard that has keys, once, in any of the threads. */
typedef void peel_fill(void *context, const peel_order *order);

typedef struct {
    const peel_shape *shape;
    const uint64_t *hashes;             /* any order, repeats too            */
    size_t      n;
    void       *scratch;                /* aligned to 64                     */
    unsigned    threads;
    uint8_t    *seeds;                  /* out: one a shard                  */
    uint64_t    distinct;               /* out: different hashes             */
    peel_fill  *fill;
    void       *context;
} peel_work;

/* False if some shard could not be peeled, whatever its seed: its keys' hashes
 * are not random. What comes out depends on nothing but the set of hashes. */
bool peel_build(peel_work *work);

#endif /* BLY_BODIES_PEEL_H */
