/* clubcard.h - the parts of CRLite's clubcards that reading and writing share:
 * keys, their equations, and the layout of the two versions.
 */
#ifndef BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_H
#define BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bits/digest.h"
#include "image/image.h"

enum {
    CLUBCARD_ID = 32,                   /* bytes of a block's name           */
    CLUBCARD_HEAD = 2,                  /* version and a zero                */
    CLUBCARD_LOG = 48,                  /* of the coverage                   */
    CLUBCARD_LITTLE = 3, CLUBCARD_BIG = 4,      /* versions                  */
    CLUBCARD_BAND = 256,                /* coefficients of an equation       */
    CLUBCARD_LIMBS = 4,
    CLUBCARD_COLUMNS = 64,              /* of the approximate part, at most:
                                           a rank is log2 of a ratio         */
    CLUBCARD_ENTRY_LITTLE = 89,         /* bytes without exceptions          */
    CLUBCARD_ENTRY_BIG = 52
};

/* The options, and how a key is written: as the 32 bytes of a block's name and
 * an item, or as the text of a group, a separator and an item. */
enum { CLUBCARD_OPTION_KEYS, CLUBCARD_OPTION_VERSION };
enum { CLUBCARD_BYTES, CLUBCARD_TAB, CLUBCARD_COMMA, CLUBCARD_FORMS };

/* A key: the name of its block, and its item. */
typedef struct {
    uint8_t        id[CLUBCARD_ID];
    const uint8_t *item;
    size_t         length;
} clubcard_key;

/* Divides a key. False: it is too short to name a block. */
bool clubcard_split(clubcard_key *out, uint64_t form, const void *key,
                    size_t length);

/* The equation of a key: 256 coefficients, the first of which is 1, and the
 * number whose remainder is the start. */
typedef struct {
    uint64_t a[CLUBCARD_LIMBS], start;
} clubcard_equation;

/* Returns the equation that a digest makes. */
static inline clubcard_equation clubcard_of(const uint8_t *digest)
{
    clubcard_equation e = { .start = image_u64(digest, 24) };
    for (size_t i = 0; i < CLUBCARD_LIMBS; i++)
        e.a[i] = image_u64(digest, 8 * i);
    e.a[0] |= 1;
    return e;
}

/* Returns the first bit of its window in a block of m rows. */
static inline uint64_t clubcard_start(const clubcard_equation *e, uint64_t m)
{
    return m > 1 ? e->start % m : 0;
}

/* Returns a number with its bytes in the other order. */
static inline uint64_t clubcard_swap(uint64_t v)
{
    v = (v & UINT64_C(0x00FF00FF00FF00FF)) << 8
      | (v >> 8 & UINT64_C(0x00FF00FF00FF00FF));
    v = (v & UINT64_C(0x0000FFFF0000FFFF)) << 16
      | (v >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return v << 32 | v >> 32;
}

/* Returns the 64 bits that begin at bit `bit` of `low` and go on in `high`, the
 * word behind it. */
static inline uint64_t clubcard_shift(uint64_t low, uint64_t high,
                                      unsigned bit)
{
    return bit == 0 ? low : low >> bit | high << (64 - bit);
}

#endif /* BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_H */
