/* egh.h - shared by the files of kind `egh`: its blocks, in an image.
 *
 * egh.c has the essay, plans, checks, looks keys up and changes them;
 * egh_list.c finds all keys again.
 */
#ifndef BLY_KINDS_EGH_H
#define BLY_KINDS_EGH_H

#include "image/abilities.h"

#include "base/sizes.h"
#include "bits/bits.h"
#include "bits/counters.h"

enum {
    EGH_UNIVERSE = 0, EGH_K = 1, EGH_M = 2, EGH_FORM = 3,       /* geometry  */
    EGH_KEYS = 0, EGH_TABLE = 8, EGH_ENTRY = 16         /* of the payload    */
};

#define EGH_M_MAX (UINT64_C(1) << 36)

/* The number of keys is unknown: so many keys were in once, or a saturated
 * counter has lost count. */
#define EGH_KEYS_UNKNOWN UINT64_MAX

/* A block: its modulus, and where its bits or counters begin. */
typedef struct {
    uint64_t q, inverse, at;
} egh_block;

/* Bytes before the bits. */
static inline uint64_t egh_head(uint64_t k)
{
    return EGH_TABLE + EGH_ENTRY * k;
}

/* Bytes of the payload: m is 2^36 at most, and the width 16. */
static inline uint64_t egh_bytes(uint64_t k, uint64_t m, uint32_t width)
{
    uint64_t bits = m * width;
    return egh_head(k) + bits / 8 + (bits % 8 != 0);
}

static inline uint64_t egh_k(const void *image)
{
    return image_geometry(image, EGH_K);
}

static inline uint64_t egh_m(const void *image)
{
    return image_geometry(image, EGH_M);
}

/* Bits of a counter; 1: there are bits. And how the moduli were chosen. */
static inline uint32_t egh_width(const void *image)
{
    return 1 + (uint32_t)(image_geometry(image, EGH_FORM) / 2);
}

static inline uint64_t egh_choice(const void *image)
{
    return image_geometry(image, EGH_FORM) % 2;
}

/* Different keys in it, at most. */
static inline uint64_t egh_keys_in(const void *image)
{
    return image_u64(image, IMAGE_HEADER + EGH_KEYS);
}

static inline const uint8_t *egh_row(const void *image)
{
    return image_payload(image) + egh_head(egh_k(image));
}

static inline uint8_t *egh_row_mut(void *image)
{
    return image_payload_mut(image) + egh_head(egh_k(image));
}

static inline size_t egh_row_bytes(const void *image)
{
    return image_payload_bytes(image) - (size_t)egh_head(egh_k(image));
}

/* Returns whether bit `at` is set, or its counter above 0. */
PLATFORM_INLINE bool egh_held(const uint8_t *row, uint64_t at, uint32_t width)
{
    return width == 1 ? bits_test(row, at) : counters_get(row, at, width) > 0;
}

/* The block before the first. */
static inline egh_block egh_start(void)
{
    return (egh_block){ .q = 0, .at = 0 };
}

/* Go on to block i; false if the table, which is not to be trusted, has none
 * there within the row. */
PLATFORM_INLINE bool egh_next(egh_block *b, const void *image, uint64_t i)
{
    size_t entry = IMAGE_HEADER + EGH_TABLE + EGH_ENTRY * (size_t)i;
    b->at += b->q;
    b->q = image_u64(image, entry);
    b->inverse = image_u64(image, entry + 8);
    return b->q >= 2 && b->q <= egh_m(image) - b->at;
}

/* The bit of x. */
PLATFORM_INLINE uint64_t egh_bit(const egh_block *b, uint64_t x)
{
    uint64_t rest = x - platform_mul_high(x, b->inverse) * b->q;
    rest -= rest >= b->q ? b->q : 0;
    return b->at + (rest < b->q ? rest : 0);
}

/* Returns whether x is below U. */
static inline bool egh_inside(const void *image, uint64_t x)
{
    uint64_t universe = image_geometry(image, EGH_UNIVERSE);
    return universe == 0 || x < universe;
}

PLATFORM_INLINE bool egh_has(const void *image, uint64_t x, uint32_t width)
{
    const uint8_t *row = egh_row(image);
    uint64_t k = egh_k(image);
    egh_block b = egh_start();
    for (uint64_t i = 0; i < k; i++)
        if (!egh_next(&b, image, i) || !egh_held(row, egh_bit(&b, x), width))
            return false;
    return true;
}

static inline bool egh_contains(const void *image, uint64_t x)
{
    uint32_t width = egh_width(image);
    return egh_inside(image, x)
        && (width == 1 ? egh_has(image, x, 1) : egh_has(image, x, width));
}

/* Bits set, or counters above 0, from `at` up to `end`. */
static inline uint64_t egh_set_between(const uint8_t *row, uint64_t at,
                                       uint64_t end, uint32_t width)
{
    uint64_t count = 0;
    for (; at < end && (width > 1 || at % 8 != 0); at++)
        count += egh_held(row, at, width);
    if (at < end)
        count += bits_count(row + at / 8, (size_t)((end - at) / 8));
    for (at += (end - at) / 8 * 8; at < end; at++)
        count += bits_test(row, at);
    return count;
}

/* Slots of `kind_listing`, in egh_list.c. */
uint64_t   egh_list_scratch(const void *image);
bly_status egh_list(const void *image, void *scratch, const kind_hasher *hasher,
                    bly_visit_key *visit, void *context);

#endif /* BLY_KINDS_EGH_H */
