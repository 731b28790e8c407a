/* rocksribbon_build.c - the sizes of RocksDB's Ribbon filters, and the solution
 * of their equations.
 *
 * Keys are added in any order by Gaussian elimination: a key whose first slot
 * is empty becomes the equation of that slot; otherwise the equation that is
 * there is XORed to it, which clears its first coefficient, and it tries the
 * next slot where it has one. If none is left but a part of the row is, the key
 * contradicts others, and the next of 256 seeds is tried. Then the slots are
 * solved from the last to the first, where the free ones are 0. So the result
 * depends on the set of keys, and on the first key in three ways: its hash has
 * the first seed, and rounds the size.
 */
#include "kinds/foreign/rocksribbon/rocksribbon.h"

#include <math.h>
#include <string.h>

#include "base/task.h"
#include "maths/policy.h"

enum { ROCKSRIBBON_SEEDS = 256, ROCKSRIBBON_AHEAD = 16 };

/* ---- Sizes ------------------------------------------------------------- */

/* Returns how many keys can be added to 2^log slots so that a seed fails with
 * a probability of 1/20; 0: the filter is too small for the formula. */
static double rocksribbon_room(int log)
{
    static const double room[] = {
        248.851, 499.532, 1001.26, 2003.97, 4005.59, 8000.39, 15966.6, 31828.1,
        63447.3, 126506,
    };
    if (log < 18)
        return log < 8 ? 0 : room[log - 8];
    return ldexp(1, log) / ((131072 / room[9] - 17 * 0.0038) + log * 0.0038);
}

uint64_t rocksribbon_slots(uint64_t n)
{
    int log_n = (int)(log((double)n) * 1.4426950409 + 0.5);
    double keys = (double)n, low = rocksribbon_room(log_n), high;
    if (low <= 0)
        return 2 * ROCKSRIBBON_SLOTS;
    if (keys < low) {
        high = low;
        low = rocksribbon_room(--log_n);
    } else {
        high = rocksribbon_room(log_n + 1);
    }
    double power = ldexp(1, log_n);
    uint64_t slots = (uint64_t)((keys - low) / (high - low) * power + power
                                + 0.999999999);
    uint64_t blocks = (slots + ROCKSRIBBON_SLOTS - 1) / ROCKSRIBBON_SLOTS;
    return ROCKSRIBBON_SLOTS * (blocks < 2 ? 2 : blocks);
}

rocksribbon_shape rocksribbon_fit(uint64_t slots, double one_in, double more)
{
    uint64_t blocks = slots / ROCKSRIBBON_SLOTS;
    if (one_in > UINT32_MAX)
        return rocksribbon_shape_of(blocks, ROCKSRIBBON_COLUMNS_MAX * blocks);
    int columns;
    frexp(floor(one_in), &columns);     /* of the slots that have more       */
    double few = ldexp(1, 1 - columns), many = ldexp(1, -columns);
    double share = (1 / one_in - many) / (few - many);
    double starts = (double)(slots - (ROCKSRIBBON_SLOTS - 1));
    uint64_t lower = (uint64_t)((share * starts + more) / ROCKSRIBBON_SLOTS);
    return rocksribbon_shape_of(blocks, blocks * (uint64_t)columns - lower);
}

/* ---- Equations ---------------------------------------------------------- */

/* The equations of all slots; that of an empty slot is 0. */
typedef struct {
    rocksribbon_shape shape;
    uint64_t *low, *high;
    uint32_t *row;
    uint64_t  slots;
} rocksribbon_work;

uint64_t rocksribbon_scratch(uint64_t slots)
{
    return slots * (2 * sizeof(uint64_t) + sizeof(uint32_t));
}

static rocksribbon_work rocksribbon_begin(const rocksribbon_shape *shape,
                                          void *scratch)
{
    rocksribbon_work w = { .shape = *shape, .low = scratch };
    w.slots = ROCKSRIBBON_SLOTS * shape->blocks;
    w.high = w.low + w.slots;
    w.row = (uint32_t *)(w.high + w.slots);
    return w;
}

/* Removes the zeros in front of the first coefficient, one of which is 1. */
static void rocksribbon_shift(rocksribbon_equation *e)
{
    if (e->low == 0) {
        e->low = e->high;
        e->high = 0;
        e->start += 64;
    }
    unsigned zeros = platform_trailing_zeros(e->low);
    e->low = e->low >> zeros | e->high << 1 << (63 - zeros);
    e->high >>= zeros;
    e->start += zeros;
}

/* Returns false if the equation contradicts the others. */
static bool rocksribbon_add(rocksribbon_work *w, rocksribbon_equation e)
{
    while (w->low[e.start] != 0) {
        e.low ^= w->low[e.start];
        e.high ^= w->high[e.start];
        e.row ^= w->row[e.start];
        if ((e.low | e.high) == 0)
            return e.row == 0;
        rocksribbon_shift(&e);
    }
    w->low[e.start] = e.low;
    w->high[e.start] = e.high;
    w->row[e.start] = e.row;
    return true;
}

static void rocksribbon_bring(const rocksribbon_work *w, uint64_t hash,
                              uint64_t seed)
{
    uint64_t at = rocksribbon_equation_of(hash, seed, w->shape.starts).start;
    platform_prefetch_write(w->low + at);
    platform_prefetch_write(w->high + at);
    platform_prefetch_write(w->row + at);
}

/* Returns false if the keys have no solution with this seed. */
static bool rocksribbon_add_all(rocksribbon_work *w, const kind_keys *keys,
                                uint64_t seed)
{
    memset(w->low, 0, (size_t)rocksribbon_scratch(w->slots));
    TASK_SPAN(i, 0, keys->n) {
        if (keys->n - i > ROCKSRIBBON_AHEAD)
            rocksribbon_bring(w, keys->hashes[i + ROCKSRIBBON_AHEAD], seed);
        if (!rocksribbon_add(w, rocksribbon_equation_of(keys->hashes[i], seed,
                                                        w->shape.starts)))
            return false;
    }
    return true;
}

/* ---- The solution ------------------------------------------------------- */

/* The last 128 bits of the solution of each column; the first slot of them is
 * the lowest bit. */
typedef struct {
    uint64_t low [ROCKSRIBBON_COLUMNS_MAX];
    uint64_t high[ROCKSRIBBON_COLUMNS_MAX];
} rocksribbon_last;

static void rocksribbon_solve(const rocksribbon_work *w, uint64_t slot,
                              rocksribbon_last *last, uint32_t columns)
{
    uint64_t low = w->low[slot], high = w->high[slot];
    uint32_t row = w->row[slot];
    for (uint32_t i = 0; i < columns; i++) {
        last->high[i] = last->high[i] << 1 | last->low[i] >> 63;
        last->low[i] <<= 1;
        last->low[i] |= rocksribbon_parity((last->low[i] & low)
                                           ^ (last->high[i] & high), false)
                      ^ (row >> i & 1);
    }
}

static void rocksribbon_solve_all(const rocksribbon_work *w, uint8_t *file)
{
    rocksribbon_last last = { .low = { 0 } };
    for (uint64_t block = w->shape.blocks; block-- > 0;) {
        uint32_t columns = rocksribbon_columns(&w->shape, block);
        uint64_t first = rocksribbon_first(&w->shape, block);
        for (uint64_t i = ROCKSRIBBON_SLOTS; i-- > 0;)
            rocksribbon_solve(w, ROCKSRIBBON_SLOTS * block + i, &last, columns);
        for (uint32_t i = 0; i < columns; i++) {
            uint64_t at = ROCKSRIBBON_SEGMENT * (first + i);
            image_set_u64(file, at, last.low[i]);
            image_set_u64(file, at + 8, last.high[i]);
        }
        if (block % (TASK_KEYS / ROCKSRIBBON_SLOTS) == 0
            && task_step(TASK_KEYS))
            return;
    }
}

/* ---- All of it ---------------------------------------------------------- */

/* Returns the number of keys without those that equal the one before. */
static uint64_t rocksribbon_distinct(const kind_keys *keys)
{
    uint64_t n = 0;
    for (size_t i = 0; i < keys->n; i++)
        n += i == 0 || keys->hashes[i] != keys->hashes[i - 1];
    return n;
}

/* Returns the shape that RocksDB chooses for the keys, if it has a policy. */
static rocksribbon_shape rocksribbon_choose(void *image, const kind_keys *keys)
{
    uint64_t policy = image_geometry(image, ROCKSRIBBON_POLICY);
    rocksribbon_shape shape = rocksribbon_shape_of(
        image_geometry(image, ROCKSRIBBON_BLOCKS),
        image_geometry(image, ROCKSRIBBON_SEGMENTS));
    if (policy > 0 && keys->n > 0) {
        double more = ((double)(keys->hashes[0] >> 32) + 0.5) / 4294967296.0;
        shape = rocksribbon_fit(rocksribbon_slots(rocksribbon_distinct(keys)),
                                policy_one_in(policy), more);
    }
    image_set_u64(image, IMAGE_GEOMETRY + 8 * ROCKSRIBBON_BLOCKS, shape.blocks);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * ROCKSRIBBON_SEGMENTS,
                  shape.segments);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * ROCKSRIBBON_POLICY, 0);
    image_set_u64(image, IMAGE_BYTES, IMAGE_HEADER + ROCKSRIBBON_TAIL
                                      + ROCKSRIBBON_SEGMENT * shape.segments);
    return shape;
}

static void rocksribbon_end(uint8_t *file, const rocksribbon_shape *shape,
                            uint8_t seed)
{
    uint8_t *tail = file + ROCKSRIBBON_SEGMENT * shape->segments;
    tail[0] = ROCKSRIBBON_MARK;
    tail[ROCKSRIBBON_AT_SEED] = seed;
    for (size_t i = 0; i < 3; i++)
        tail[ROCKSRIBBON_AT_BLOCKS + i] = (uint8_t)(shape->blocks >> 8 * i);
}

bly_status rocksribbon_build(void *image, const kind_keys *keys,
                             const kind_bench *bench)
{
    rocksribbon_shape shape = rocksribbon_choose(image, keys);
    rocksribbon_work w = rocksribbon_begin(&shape, bench->scratch);
    uint8_t *file = image_payload_mut(image);
    uint8_t seed = keys->n > 0 ? (uint8_t)keys->hashes[0] : 0;
    for (int i = 0; i < ROCKSRIBBON_SEEDS && !task_cancelled(); i++, seed++)
        if (rocksribbon_add_all(&w, keys, rocksribbon_seed(seed))) {
            rocksribbon_solve_all(&w, file);
            rocksribbon_end(file, &shape, seed);
            return BLY_OK;
        }
    return status_fail(BLY_EFULL, "none of the 256 seeds of RocksDB's Ribbon "
                       "filter suits these keys, which is nearly impossible: "
                       "build a filter of kind rocksdb");
}
