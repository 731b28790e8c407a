/* rocksribbon.h - the shape of a RocksDB Ribbon filter and the equation of a
 * key, for the files of kind `rocksribbon`.
 */
#ifndef BLY_KINDS_FOREIGN_ROCKSRIBBON_ROCKSRIBBON_H
#define BLY_KINDS_FOREIGN_ROCKSRIBBON_ROCKSRIBBON_H

#include "image/kind_foreign.h"

#include "base/platform.h"

enum {
    ROCKSRIBBON_BLOCKS = 0, ROCKSRIBBON_SEGMENTS = 1,   /* geometry          */
    ROCKSRIBBON_POLICY = 2,             /* thousandths of a bit per key, until
                                           the filter is built; then 0       */
    ROCKSRIBBON_SLOTS = 128,            /* of a block; and coefficients      */
    ROCKSRIBBON_SEGMENT = 16,           /* bytes: a column of a block        */
    ROCKSRIBBON_COLUMNS_MAX = 32,
    ROCKSRIBBON_TAIL = 5, ROCKSRIBBON_AT_SEED = 1, ROCKSRIBBON_AT_BLOCKS = 2,
    ROCKSRIBBON_MARK = 0xFE,
    ROCKSRIBBON_BLOCKS_MAX = (1 << 24) - 1
};

/* The sizes that blocks and segments determine. */
typedef struct {
    uint64_t blocks, segments;
    uint64_t starts;                    /* slots at which a key may begin    */
    uint64_t lower;                     /* the first blocks, which have a
                                           column less than the others       */
    uint32_t columns;                   /* of the others                     */
} rocksribbon_shape;

/* The equation of a key: among the slots from `start` on, the XOR of the rows
 * whose coefficient is 1 is `row`. */
typedef struct {
    uint64_t start;
    uint64_t low, high;                 /* coefficients; the first is 1      */
    uint32_t row;
} rocksribbon_equation;

static inline rocksribbon_shape rocksribbon_shape_of(uint64_t blocks,
                                                     uint64_t segments)
{
    uint64_t columns = (segments + blocks - 1) / blocks;
    return (rocksribbon_shape){
        .blocks = blocks, .segments = segments,
        .starts = ROCKSRIBBON_SLOTS * blocks - (ROCKSRIBBON_SLOTS - 1),
        .lower = columns * blocks - segments, .columns = (uint32_t)columns,
    };
}

/* Returns the columns of a block. */
PLATFORM_INLINE uint32_t rocksribbon_columns(const rocksribbon_shape *shape,
                                             uint64_t block)
{
    return shape->columns - (block < shape->lower);
}

/* Returns the first segment of a block. */
PLATFORM_INLINE uint64_t rocksribbon_first(const rocksribbon_shape *shape,
                                           uint64_t block)
{
    return block * shape->columns
         - (block < shape->lower ? block : shape->lower);
}

/* Returns the number that a seed of 0 .. 255 is xored into hashes as. */
static inline uint64_t rocksribbon_seed(uint8_t seed)
{
    uint64_t t = seed * UINT64_C(0xC78219A23EEADD03);
    return (t ^ (t & UINT64_C(0xF0F0F0F0F0F0F0F0)) >> 4) & UINT32_MAX;
}

PLATFORM_INLINE rocksribbon_equation
rocksribbon_equation_of(uint64_t hash, uint64_t seed, uint64_t starts)
{
    uint64_t h = (hash ^ seed) * UINT64_C(0x6193D459236A3A0D);
    uint64_t a = h * UINT64_C(0xC28F82822B650BED);
    uint32_t top = (uint32_t)(a >> 32);
    return (rocksribbon_equation){
        .start = platform_mul_high(h, starts),
        .low = (a ^ UINT64_C(0xC367844A6E52731D)) | 1, .high = a,
        .row = top << 24 | (top & 0xFF00) << 8 | (top >> 8 & 0xFF00)
             | top >> 24,
    };
}

/* Returns 1 if the number of ones is odd. `quick`: the processor counts. */
PLATFORM_INLINE uint32_t rocksribbon_parity(uint64_t v, bool quick)
{
    if (quick)
        return platform_popcount(v) & 1;
    v ^= v >> 32;
    v ^= v >> 16;
    v ^= v >> 8;
    v ^= v >> 4;
    return 0x6996u >> (v & 15) & 1;
}

/* ---- Look up ------------------------------------------------------------ */

/* Slots of the kind. */
bool rocksribbon_contains(const void *image, uint64_t hash);
void rocksribbon_contains_many(const void *image, const uint64_t *hashes,
                               size_t n, bool *present);

/* ---- Build -------------------------------------------------------------- */

/* Returns the slots for n keys; 0 < n <= ROCKSRIBBON_KEYS_MAX. */
#define ROCKSRIBBON_KEYS_MAX UINT64_C(950000000)
uint64_t rocksribbon_slots(uint64_t n);

/* Returns the shape of so many slots for a rate of 1 / one_in. RocksDB rounds
 * the slots with fewer columns by chance: up if `more`, 0 .. 1, is large. */
rocksribbon_shape rocksribbon_fit(uint64_t slots, double one_in, double more);

/* Returns the bytes that a build of so many slots needs. */
uint64_t rocksribbon_scratch(uint64_t slots);

/* The slot of the kind. */
bly_status rocksribbon_build(void *image, const kind_keys *keys,
                             const kind_bench *bench);

#endif /* BLY_KINDS_FOREIGN_ROCKSRIBBON_ROCKSRIBBON_H */
