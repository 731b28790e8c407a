/* xorfilter_build.h - the cells of xor_singleheader's filters, for xorfilter.c.
 */
#ifndef BLY_KINDS_FOREIGN_XORFILTER_XORFILTER_BUILD_H
#define BLY_KINDS_FOREIGN_XORFILTER_XORFILTER_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/platform.h"

enum { XORFILTER_SEGMENT_MOST = 1 << 18 };

typedef struct {
    unsigned cell;                      /* bytes of a cell, 1 or 2           */
    uint32_t length;                    /* cells of a block, or a segment    */
    uint32_t segments;                  /* of a fuse filter's first cells;
                                           0: it is an xor filter            */
} xorfilter_shape;

/* The cells of a key. */
typedef struct {
    uint64_t hash;
    uint32_t cell[3];
} xorfilter_places;

static inline uint64_t xorfilter_mix(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    h = (h ^ h >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return h ^ h >> 33;
}

/* The cells of a mixed hash, which are all below xorfilter_cells(). */
PLATFORM_INLINE xorfilter_places xorfilter_place(const xorfilter_shape *shape,
                                                 uint64_t hash)
{
    xorfilter_places p = { .hash = hash };
    uint32_t length = shape->length;
    if (shape->segments == 0) {
        uint64_t turned[3] = { hash, hash << 21 | hash >> 43,
                               hash << 42 | hash >> 22 };
        for (uint32_t i = 0; i < 3; i++)
            p.cell[i] = (uint32_t)((turned[i] & UINT32_MAX) * length >> 32)
                      + i * length;
        return p;
    }
    uint64_t first = (uint64_t)length * shape->segments;
    p.cell[0] = (uint32_t)platform_mul_high(hash, first);
    p.cell[1] = (p.cell[0] + length) ^ ((uint32_t)(hash >> 18) & (length - 1));
    p.cell[2] = (p.cell[0] + 2 * length) ^ ((uint32_t)hash & (length - 1));
    return p;
}

static inline xorfilter_places xorfilter_find(const xorfilter_shape *shape,
                                              uint64_t key, uint64_t seed)
{
    return xorfilter_place(shape, xorfilter_mix(key + seed));
}

static inline uint32_t xorfilter_cell(const xorfilter_shape *shape,
                                      const uint8_t *cells, uint32_t at)
{
    const uint8_t *cell = cells + shape->cell * (size_t)at;
    uint32_t v = cell[0];
    for (unsigned i = 1; i < shape->cell; i++)
        v |= (uint32_t)cell[i] << 8 * i;
    return v;
}

/* The XOR of a key's cells and its fingerprint: 0 if it is there. */
PLATFORM_INLINE uint32_t xorfilter_xor(const xorfilter_shape *shape,
                                       const uint8_t *cells,
                                       const xorfilter_places *at)
{
    uint32_t all = (uint32_t)(at->hash ^ at->hash >> 32);
    for (size_t i = 0; i < 3; i++)
        all ^= xorfilter_cell(shape, cells, at->cell[i]);
    return all & UINT32_MAX >> (32 - 8 * shape->cell);
}

static inline uint64_t xorfilter_cells(const xorfilter_shape *shape)
{
    return shape->segments == 0 ? 3 * (uint64_t)shape->length
         : (uint64_t)shape->length * ((uint64_t)shape->segments + 2);
}

static inline uint64_t xorfilter_bytes(const xorfilter_shape *shape)
{
    return shape->cell * xorfilter_cells(shape);
}

/* The shape for n keys; false: more than 2^32 cells. */
bool xorfilter_size(xorfilter_shape *out, uint64_t n, bool is_xor,
                    unsigned cell);

/* Bytes that filling takes. */
uint64_t xorfilter_scratch(const xorfilter_shape *shape, uint64_t n);

/* Fill the cells, which are 0, with these keys; false: a hundred seeds were
 * tried in vain. */
bool xorfilter_fill(const xorfilter_shape *shape, uint8_t *cells,
                    uint64_t *seed, const uint64_t *keys, size_t n,
                    void *scratch);

#endif /* BLY_KINDS_FOREIGN_XORFILTER_XORFILTER_BUILD_H */
