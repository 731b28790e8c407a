/* cells.c - keys that add something to each of k counters.
 */
#include "bodies/cells.h"

#include <math.h>

#include "base/cpu.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/counters.h"
#include "bits/hash.h"
#include "bodies/rows.h"

/* ---- Two counters of four bits in a byte -------------------------------- */

enum { CELLS_PLAIN_WIDTH = 4, CELLS_ABSENT = 1 << 8, CELLS_SATURATED = 1 << 9 };

/* The byte that follows when its counter at a shift is raised or lowered by
 * one, with CELLS_ABSENT if that was 0, and CELLS_SATURATED if it was 15. */
#define CELLS_VALUE(byte, shift) ((byte) >> (shift) & 15)
#define CELLS_FLAGS(byte, shift)                                               \
    (CELLS_VALUE(byte, shift) == 0 ? CELLS_ABSENT                              \
     : CELLS_VALUE(byte, shift) == 15 ? CELLS_SATURATED : 0)
#define CELLS_RAISED(byte, shift)                                              \
    (CELLS_FLAGS(byte, shift)                                                  \
     | ((byte) + ((CELLS_VALUE(byte, shift) != 15) << (shift))))
#define CELLS_LOWERED(byte, shift)                                             \
    (CELLS_FLAGS(byte, shift)                                                  \
     | ((byte) - ((CELLS_FLAGS(byte, shift) == 0) << (shift))))

#define CELLS_1(f, byte)   f(byte, 0), f(byte, 4)
#define CELLS_4(f, byte)   CELLS_1(f, (byte)), CELLS_1(f, (byte) + 1),         \
                           CELLS_1(f, (byte) + 2), CELLS_1(f, (byte) + 3)
#define CELLS_16(f, byte)  CELLS_4(f, (byte)), CELLS_4(f, (byte) + 4),         \
                           CELLS_4(f, (byte) + 8), CELLS_4(f, (byte) + 12)
#define CELLS_64(f, byte)  CELLS_16(f, (byte)), CELLS_16(f, (byte) + 16),      \
                           CELLS_16(f, (byte) + 32), CELLS_16(f, (byte) + 48)
#define CELLS_256(f)       CELLS_64(f, 0), CELLS_64(f, 64), CELLS_64(f, 128),  \
                           CELLS_64(f, 192)

/* Entry 2 b is for the low counter of byte b, and 2 b + 1 for the high one. */
static const uint16_t cells_raised[512] = { CELLS_256(CELLS_RAISED) };
static const uint16_t cells_lowered[512] = { CELLS_256(CELLS_LOWERED) };

/* ---- Bodies for one width and one l, or for all ------------------------- */

/* Call `work` with a copy of the cells in which the compiler knows what it can
 * about width and l: the two kinds' defaults, l = 1 with any width, each set,
 * and all else. */
#define CELLS_FOR(c, work)                                                     \
    do {                                                                       \
        cells known = *(c);                                                    \
        if (known.l == 1 && known.width == 4) {                                \
            known.l = 1;                                                       \
            known.width = 4;                                                   \
            work;                                                              \
        } else if (known.l == 1) {                                             \
            known.l = 1;                                                       \
            work;                                                              \
        } else if (known.l == 4 && known.width == 6) {                         \
            known.l = 4;                                                       \
            known.width = 6;                                                   \
            work;                                                              \
        } else if (known.l <= CELLS_L_MAX) {                                   \
            work;                                                              \
        } else if (known.l == CELLS_4_6_7) {                                   \
            known.l = CELLS_4_6_7;                                             \
            work;                                                              \
        } else {                                                               \
            known.l = CELLS_8_12_14_15;                                        \
            work;                                                              \
        }                                                                      \
    } while (0)

/* 2^64 over the golden ratio, odd: with it the state is spread once more. */
static const uint64_t CELLS_SPREAD = UINT64_C(0x9E3779B97F4A7C15);

PLATFORM_INLINE uint64_t cells_at(const cells *c, uint64_t state)
{
    return bits_range(state, c->m);
}

/* The increment of the probe of a state. */
PLATFORM_INLINE uint32_t cells_own(const cells *c, uint64_t state)
{
    if (c->l > CELLS_L_MAX) {
        cells_set set = cells_set_of(c->l);
        return cells_element(&set, bits_range(state * CELLS_SPREAD, set.count));
    }
    return c->l == 1 ? 1
         : c->l + (uint32_t)bits_range(state * CELLS_SPREAD, c->l);
}

PLATFORM_INLINE uint32_t cells_get(const cells *c, const uint8_t *row,
                                   uint64_t at)
{
    return counters_get(row, at, c->width);
}

PLATFORM_INLINE bool cells_saturated(const cells *c, uint32_t value)
{
    return value == counters_max(c->width);
}

/* Returns whether a counter of this value can hold the increment: value == own
 * or value >= own + l. It uses the sign bits, because compilers turn two
 * comparisons into two branches, which would be unpredictable. (A saturated
 * counter is at least 4l - 1, which holds any increment.) */
PLATFORM_INLINE bool cells_pass(const cells *c, uint32_t value, uint32_t own)
{
    if (c->l == 1)
        return value > 0;
    if (c->l > CELLS_L_MAX) {
        cells_set set = cells_set_of(c->l);
        return cells_sum(&set, value - own);
    }
    uint32_t rest = value - own, equal = ~rest & (rest - 1);
    uint32_t more = own + c->l - 1 - value;
    return (equal | more) >> 31;
}

/* Returns whether the compiler knows that counters have four bits and every
 * increment is 1. Then two tables have the work of a probe. */
PLATFORM_INLINE bool cells_plain(const cells *c)
{
    return c->l == 1 && c->width == CELLS_PLAIN_WIDTH;
}

/* Returns whether the probe of a state passes. Two plain counters share a byte,
 * and a mask of one of them is cheaper than a shift. */
PLATFORM_INLINE bool cells_lets(const cells *c, const uint8_t *row,
                                uint64_t state)
{
    uint64_t at = cells_at(c, state);
    if (cells_plain(c))
        return (row[at >> 1] & (0x0f ^ (0 - (at & 1)))) != 0;
    return cells_pass(c, cells_get(c, row, at), cells_own(c, state));
}

/* Raises counter `at` by the increment of a probe, up to its largest value.
 * Returns whether it was 0. */
PLATFORM_INLINE bool cells_raise(const cells *c, uint8_t *row, uint64_t at,
                                 uint32_t own)
{
    if (cells_plain(c)) {
        uint32_t next = cells_raised[2 * (size_t)row[at >> 1] + (at & 1)];
        row[at >> 1] = (uint8_t)next;
        return (next & CELLS_ABSENT) != 0;
    }
    bool zero = cells_get(c, row, at) == 0;
    counters_raise(row, at, c->width, own);
    return zero;
}

/* Lowers counter `at`, unless it is saturated or does not let the probe pass.
 * Returns a number with CELLS_SATURATED or CELLS_ABSENT in these cases. */
PLATFORM_INLINE uint32_t cells_lower(const cells *c, uint8_t *row, uint64_t at,
                                     uint32_t own)
{
    if (cells_plain(c)) {
        uint32_t next = cells_lowered[2 * (size_t)row[at >> 1] + (at & 1)];
        row[at >> 1] = (uint8_t)next;
        return next;
    }
    uint32_t value = cells_get(c, row, at);
    if (!cells_pass(c, value, own))
        return CELLS_ABSENT;
    if (cells_saturated(c, value))
        return CELLS_SATURATED;
    counters_set(row, at, c->width, value - own);
    return 0;
}

PLATFORM_INLINE void cells_prefetch(const cells *c, const uint8_t *row,
                                    uint64_t at)
{
    platform_prefetch(row + (cells_plain(c) ? at >> 1 : at * c->width >> 3));
}

/* Returns the bytes of a row. */
PLATFORM_INLINE uint64_t cells_bytes(const cells *c)
{
    return c->m / 8 * c->width;
}

/* ---- Single keys ------------------------------------------------------- */

/* The first three probes together, as in bits/walk.c. */
PLATFORM_INLINE bool cells_contains_by(const cells *c, const uint8_t *row,
                                       uint64_t hash)
{
    enum { TOGETHER = 3 };
    uint64_t state = hash_spread(hash);
    uint32_t k = c->k;
    if (k >= TOGETHER) {
        bool all = true;
        k -= TOGETHER;
        PLATFORM_UNROLL
        for (int i = 0; i < TOGETHER; i++, state *= HASH_STEP)
            all &= cells_lets(c, row, state);
        if (!all)
            return false;
    }
    for (; k > 0; k--, state *= HASH_STEP)
        if (!cells_lets(c, row, state))
            return false;
    return true;
}

bool cells_contains(const cells *c, const uint8_t *row, uint64_t hash)
{
    CELLS_FOR(c, return cells_contains_by(&known, row, hash));
}

bool cells_contains_one(const void *view, uint64_t hash)
{
    const cells_row *v = view;
    CELLS_FOR(&v->cells, return cells_contains_by(&known, v->row, hash));
}

bool cells_contains_plain(const void *view, uint64_t hash)
{
    const cells_row *v = view;
    const cells known = { v->cells.m, v->cells.k, CELLS_PLAIN_WIDTH, 1 };
    return cells_contains_by(&known, v->row, hash);
}

/* First all are looked at, then all are raised: two probes may meet in one
 * counter, and the second shall not see what the first has added. With l = 1 it
 * may: if it matters, the first has seen the 0. */
PLATFORM_INLINE bly_status cells_add_by(const cells *c, uint8_t *row,
                                        uint64_t hash)
{
    bool fresh = false;
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < c->k && c->l != 1; i++, state *= HASH_STEP)
        fresh |= !cells_lets(c, row, state);
    state = hash_spread(hash);
    for (uint32_t i = 0; i < c->k; i++, state *= HASH_STEP) {
        bool zero = cells_raise(c, row, cells_at(c, state),
                                cells_own(c, state));
        fresh |= c->l == 1 && zero;
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

bly_status cells_add(const cells *c, uint8_t *row, uint64_t hash)
{
    CELLS_FOR(c, return cells_add_by(&known, row, hash));
}

/* A counter at which two probes meet is at one more when the second comes. */
PLATFORM_INLINE bly_status cells_add_least_by(const cells *c, uint8_t *row,
                                              uint64_t hash)
{
    uint64_t at[CELLS_K_MAX], state = hash_spread(hash);
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < c->k; i++, state *= HASH_STEP) {
        at[i] = cells_at(c, state);
        uint32_t value = cells_get(c, row, at[i]);
        least = value < least ? value : least;
    }
    for (uint32_t i = 0; i < c->k && !cells_saturated(c, least); i++)
        if (cells_get(c, row, at[i]) == least)
            counters_set(row, at[i], c->width, least + 1);
    return least > 0 ? BLY_SEEN : BLY_OK;
}

bly_status cells_add_least(const cells *c, uint8_t *row, uint64_t hash)
{
    CELLS_FOR(c, return cells_add_least_by(&known, row, hash));
}

/* ---- Remove ------------------------------------------------------------ */

/* Gives the first n of the key's increments back. What was lowered is not
 * saturated, what is saturated was not lowered. (The cells are a copy, so that
 * those of the caller can stay in registers.) */
PLATFORM_APART static void cells_give_back(cells c, uint8_t *row,
                                           uint64_t hash, uint32_t n)
{
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < n; i++, state *= HASH_STEP) {
        uint64_t at = cells_at(&c, state);
        if (!cells_saturated(&c, cells_get(&c, row, at)))
            cells_raise(&c, row, at, cells_own(&c, state));
    }
}

/* Counter by counter, each tested before it is lowered: so probes that meet in
 * one counter are tested for together, and what passes leaves a sum of
 * increments. For a key that is there, one walk less than to look first. */
PLATFORM_INLINE bly_status cells_remove_by(const cells *c, uint8_t *row,
                                           uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    uint32_t all = CELLS_SATURATED;
    for (uint32_t i = 0; i < c->k; i++, state *= HASH_STEP) {
        uint32_t was = cells_lower(c, row, cells_at(c, state),
                                   cells_own(c, state));
        if ((was & CELLS_ABSENT) != 0) {
            cells_give_back(*c, row, hash, i);
            return BLY_EABSENT;
        }
        all &= was;
    }
    return (all & CELLS_SATURATED) != 0 ? BLY_EUNSAFE : BLY_OK;
}

bly_status cells_remove(const cells *c, uint8_t *row, uint64_t hash)
{
    CELLS_FOR(c, return cells_remove_by(&known, row, hash));
}

/* ---- Count ------------------------------------------------------------- */

/* Returns how many times, at most, the increment is in the value, if the rest
 * must be a sum of increments, too. */
PLATFORM_INLINE uint64_t cells_times(const cells *c, uint32_t value,
                                     uint32_t own)
{
    if (cells_saturated(c, value))
        return UINT64_MAX;
    if (c->l == 1)
        return value;
    uint32_t times = value / own, rest = value % own;
    if (c->l > CELLS_L_MAX) {
        cells_set set = cells_set_of(c->l);
        for (; times > 0 && !cells_sum(&set, rest); rest += own)
            times--;
        return times;
    }
    return times - (times > 0 && rest > 0 && rest < c->l);
}

PLATFORM_INLINE uint64_t cells_count_by(const cells *c, const uint8_t *row,
                                        uint64_t hash)
{
    uint64_t state = hash_spread(hash), least = UINT64_MAX;
    for (uint32_t i = 0; i < c->k; i++) {
        uint32_t value = cells_get(c, row, cells_at(c, state));
        uint64_t times = cells_times(c, value, cells_own(c, state));
        least = times < least ? times : least;
        state *= HASH_STEP;
    }
    return least;
}

uint64_t cells_count(const cells *c, const uint8_t *row, uint64_t hash)
{
    CELLS_FOR(c, return cells_count_by(&known, row, hash));
}

/* ---- Batches: key by key ------------------------------------------------ */

/* Lines on their way at most. */
enum { CELLS_RING = 128 };

/* Returns whether a row is so near that waiting for a line takes no longer than
 * a prefetch. */
PLATFORM_INLINE bool cells_near(const cells *c)
{
    return cells_bytes(c) <= cpu_near();
}

/* Returns for how many keys lines are on their way: at least one, or none if
 * the row is near. */
PLATFORM_INLINE size_t cells_keys_ahead(const cells *c)
{
    size_t lines = cpu_ahead(CELLS_RING, CELLS_RING, cells_bytes(c));
    return cells_near(c) ? 0 : (lines + c->k - 1) / c->k;
}

PLATFORM_INLINE void cells_prefetch_key(const cells *c, const uint8_t *row,
                                        uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < c->k; i++) {
        cells_prefetch(c, row, cells_at(c, state));
        state *= HASH_STEP;
    }
}

/* Does `work` for each i < n in turn, and prefetches the lines of later
 * keys. */
#define CELLS_ROLL(c, row, hashes, n, work)                                    \
    do {                                                                       \
        size_t ahead = cells_keys_ahead(c);                                    \
        for (size_t i = 0; i < (n) && i < ahead; i++)                          \
            cells_prefetch_key(c, row, (hashes)[i]);                           \
        for (size_t i = 0; i < (n); i++) {                                     \
            if (ahead > 0 && (n) - i > ahead)                                  \
                cells_prefetch_key(c, row, (hashes)[i + ahead]);               \
            work;                                                              \
        }                                                                      \
    } while (0)

/* ---- Batches: contains ------------------------------------------------- */

/* Keys in a group: as in bits/walk.c. */
enum { CELLS_GROUP = 1536 };

/* The keys of a group whose probes so far have passed. */
typedef struct {
    uint64_t state[CELLS_GROUP];        /* of the index walk, at this probe  */
    uint16_t key[CELLS_GROUP];          /* its place in the group            */
} cells_group;

/* Moves key i to place `kept`. Returns the next place, or this one again if the
 * probe does not pass. */
PLATFORM_INLINE size_t cells_keep(cells_group *g, size_t kept, size_t i,
                                  const cells *c, const uint8_t *row)
{
    uint64_t state = g->state[i];
    bool pass = cells_lets(c, row, state);
    g->state[kept] = state * HASH_STEP;
    g->key[kept] = g->key[i];
    return kept + pass;
}

/* Runs one probe of the group's n keys; returns how many are left. `most` and
 * *fetched are as in walk.c. */
PLATFORM_INLINE size_t cells_probe(cells_group *g, size_t n, size_t most,
                                   size_t *fetched, const cells *c,
                                   const uint8_t *row)
{
    size_t ahead = n < most ? n : most, kept = 0, next = 0;
    for (size_t i = *fetched; i < ahead; i++)
        cells_prefetch(c, row, cells_at(c, g->state[i]));
    for (size_t i = 0; i < n - ahead; i++) {
        cells_prefetch(c, row, cells_at(c, g->state[i + ahead]));
        kept = cells_keep(g, kept, i, c, row);
    }
    for (size_t i = n - ahead; i < n; i++) {
        kept = cells_keep(g, kept, i, c, row);
        cells_prefetch(c, row, cells_at(c, g->state[next]));
        next += next < kept;
    }
    *fetched = next;
    return kept;
}

/* Looks up a group probe by probe; returns how many are there. */
PLATFORM_INLINE size_t cells_walk(cells_group *g, const cells *c,
                                  const uint8_t *row, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    const size_t most = cpu_ahead(n, n, cells_bytes(c));
    size_t fetched = 0;
    for (size_t i = 0; i < n; i++) {
        g->state[i] = hash_spread(hashes[i]);
        g->key[i] = (uint16_t)i;
        present[i] = false;
    }
    for (uint32_t j = 0; j < c->k && n > 0; j++)
        n = cells_probe(g, n, most, &fetched, c, row);
    for (size_t i = 0; i < n; i++)
        present[g->key[i]] = true;
    return n;
}

/* Looks up keys one by one, without a branch; returns how many are there. */
PLATFORM_INLINE size_t cells_whole(const cells *c, const uint8_t *row,
                                   const uint64_t *hashes, size_t n,
                                   bool *present)
{
    size_t there = 0;
    CELLS_ROLL(c, row, hashes, n,
        uint64_t state = hash_spread(hashes[i]);
        bool all = true;
        for (uint32_t j = 0; j < c->k; j++, state *= HASH_STEP)
            all &= cells_lets(c, row, state);
        present[i] = all;
        there += all);
    return there;
}

/* Chooses the way of each group by the one before it; the first is small. If
 * most keys are there, all their lines are needed, and key by key is faster. In
 * a row that is near, that is so from a quarter of the keys on. */
PLATFORM_INLINE void cells_contains_many_by(cells_group *g, const cells *c,
                                            const uint8_t *row,
                                            const uint64_t *hashes, size_t n,
                                            bool *present)
{
    enum { FIRST = 256 };
    const size_t quarters = cells_near(c) ? 1 : 3;
    bool whole = false;
    for (size_t i = 0, some, there; i < n; i += some) {
        size_t room = i == 0 ? FIRST : CELLS_GROUP;
        some = n - i < room ? n - i : room;
        there = whole ? cells_whole(c, row, hashes + i, some, present + i)
                      : cells_walk(g, c, row, hashes + i, some, present + i);
        whole = 4 * there > quarters * some;
    }
}

void cells_contains_many(const cells *c, const uint8_t *row,
                         const uint64_t *hashes, size_t n, bool *present)
{
    cells_group group;
    CELLS_FOR(c, cells_contains_many_by(&group, &known, row, hashes, n,
                                        present));
}

/* ---- Batches: add, remove, count ----------------------------------------- */

/* Raises all probes of a key. */
PLATFORM_INLINE void cells_put(const cells *c, uint8_t *row, uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    for (uint32_t i = 0; i < c->k; i++, state *= HASH_STEP)
        cells_raise(c, row, cells_at(c, state), cells_own(c, state));
}

PLATFORM_INLINE void cells_add_many_by(const cells *c, uint8_t *row,
                                       const uint64_t *hashes, size_t n)
{
    CELLS_ROLL(c, row, hashes, n, cells_put(c, row, hashes[i]));
}

void cells_add_many(const cells *c, uint8_t *row, const uint64_t *hashes,
                    size_t n)
{
    CELLS_FOR(c, cells_add_many_by(&known, row, hashes, n));
}

PLATFORM_INLINE void cells_add_least_many_by(const cells *c, uint8_t *row,
                                             const uint64_t *hashes, size_t n)
{
    CELLS_ROLL(c, row, hashes, n, cells_add_least_by(c, row, hashes[i]));
}

void cells_add_least_many(const cells *c, uint8_t *row, const uint64_t *hashes,
                          size_t n)
{
    CELLS_FOR(c, cells_add_least_many_by(&known, row, hashes, n));
}

PLATFORM_INLINE void cells_remove_many_by(const cells *c, uint8_t *row,
                                          const uint64_t *hashes, size_t n,
                                          bly_status *each)
{
    CELLS_ROLL(c, row, hashes, n,
               each[i] = cells_remove_by(c, row, hashes[i]));
}

void cells_remove_many(const cells *c, uint8_t *row, const uint64_t *hashes,
                       size_t n, bly_status *each)
{
    CELLS_FOR(c, cells_remove_many_by(&known, row, hashes, n, each));
}

PLATFORM_INLINE void cells_count_many_by(const cells *c, const uint8_t *row,
                                         const uint64_t *hashes, size_t n,
                                         uint64_t *counts)
{
    CELLS_ROLL(c, row, hashes, n,
               counts[i] = cells_count_by(c, row, hashes[i]));
}

void cells_count_many(const cells *c, const uint8_t *row,
                      const uint64_t *hashes, size_t n, uint64_t *counts)
{
    CELLS_FOR(c, cells_count_many_by(&known, row, hashes, n, counts));
}

/* ---- Whole rows -------------------------------------------------------- */

PLATFORM_INLINE void cells_unite_by(const cells *c, uint8_t *into,
                                    const uint8_t *other)
{
    TASK_EACH(i, c->m)
        counters_raise(into, i, c->width, cells_get(c, other, i));
}

void cells_unite(const cells *c, uint8_t *into, const uint8_t *other)
{
    CELLS_FOR(c, cells_unite_by(&known, into, other));
}

/* Numbers of counters above 0 in a, in b, and in a or b. */
typedef struct { uint64_t a, b, either; } cells_pair;

PLATFORM_INLINE cells_pair cells_compare_by(const cells *c, const uint8_t *a,
                                            const uint8_t *b)
{
    cells_pair used = { 0, 0, 0 };
    TASK_EACH(i, c->m) {
        uint32_t in_a = cells_get(c, a, i), in_b = cells_get(c, b, i);
        used.a += in_a > 0;
        used.b += in_b > 0;
        used.either += (in_a | in_b) > 0;
    }
    return used;
}

static cells_pair cells_compare(const cells *c, const uint8_t *a,
                                const uint8_t *b)
{
    CELLS_FOR(c, return cells_compare_by(&known, a, b));
}

void cells_overlap(bly_overlap_t *out, const cells *c, const uint8_t *a,
                   const uint8_t *b)
{
    shape s = cells_shape(c);
    cells_pair used = cells_compare(c, a, b);
    rows_overlap_of(out, &s, used.a, used.b, used.either);
}

/* ---- Look inside ------------------------------------------------------- */

/* The contents of a row, counted. */
typedef struct {
    uint64_t used;                      /* counters above 0                  */
    uint64_t saturated;                 /* and at their largest value        */
    double   pass;                      /* the chance that one probe of a
                                           foreign key passes: of all pairs of
                                           a counter and an increment, the
                                           share that does                   */
} cells_view;

/* Returns how many of the l increments pass a counter of this value: the one
 * equal to it, and those up to value - l. */
PLATFORM_INLINE uint32_t cells_passes(const cells *c, uint32_t value)
{
    if (c->l > CELLS_L_MAX) {
        cells_set set = cells_set_of(c->l);
        uint32_t passes = 0;
        for (uint32_t i = 0; i < set.count; i++)
            passes += cells_sum(&set, value - cells_element(&set, i));
        return passes;
    }
    int32_t l = (int32_t)c->l, up_to = (int32_t)value - 2 * l + 1;
    up_to = up_to < 0 ? 0 : up_to;
    up_to = up_to > l ? l : up_to;
    return (uint32_t)up_to + (value - c->l < c->l);
}

PLATFORM_INLINE cells_view cells_look_by(const cells *c, const uint8_t *row)
{
    cells_view view = { 0, 0, 0 };
    uint64_t passes = 0;
    TASK_EACH(i, c->m) {
        uint32_t value = cells_get(c, row, i);
        view.used += value > 0;
        view.saturated += cells_saturated(c, value);
        passes += c->l == 1 ? value > 0 : cells_passes(c, value);
    }
    uint32_t increments = c->l > CELLS_L_MAX ? cells_set_of(c->l).count : c->l;
    view.pass = (double)passes / (double)c->m / (double)increments;
    return view;
}

static cells_view cells_look(const cells *c, const uint8_t *row)
{
    CELLS_FOR(c, return cells_look_by(&known, row));
}

void cells_stat(bly_info_t *out, const cells *c, const uint8_t *row)
{
    shape s = cells_shape(c);
    cells_view view = cells_look(c, row);
    shape_estimate keys = shape_keys(&s, (double)view.used);

    out->fill = (double)view.used / (double)c->m;
    out->rate = pow(view.pass, c->k);
    out->distinct = keys.value;
    out->distinct_sd = keys.sd;
    out->probes = c->k;
    out->saturated = view.saturated;
}
