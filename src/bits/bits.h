/* bits.h - a run of bytes as a row of bits.
 *
 * Bit i is bit (i mod 8) of byte i / 8, on every machine, so an image
 * means the same everywhere and needs no particular alignment. Rows are
 * measured in bytes; `at` must lie inside.
 */
#ifndef BLY_BITS_BITS_H
#define BLY_BITS_BITS_H

#include <string.h>

#include "base/platform.h"

/* Maps h to [0, n) without a division: the high half of h * n [Lemire 2019].
 * Uses the high bits of h; each value has floor(2^64/n) preimages or one more,
 * for any n >= 1. */
PLATFORM_INLINE uint64_t bits_range(uint64_t h, uint64_t n)
{
    return platform_mul_high(h, n);
}

/* Returns a mask of the low `width` bits, 1 .. 64. */
PLATFORM_INLINE uint64_t bits_mask(uint32_t width)
{
    return UINT64_MAX >> (64 - width);
}

PLATFORM_INLINE bool bits_test(const uint8_t *row, uint64_t at)
{
    return platform_load8(row + (at >> 3)) >> (at & 7) & 1;
}

/* Sets bit `at`. Returns true if it was clear. */
PLATFORM_INLINE bool bits_set(uint8_t *row, uint64_t at)
{
    uint8_t old = row[at >> 3], bit = (uint8_t)(1u << (at & 7));
    row[at >> 3] = old | bit;
    return !(old & bit);
}

/* Does the same while other threads set and test bits of the row. Reads before
 * it writes, so that a line whose bit is set stays in every cache. */
PLATFORM_INLINE bool bits_set_shared(uint8_t *row, uint64_t at)
{
    uint8_t bit = (uint8_t)(1u << (at & 7));
    return !(platform_load8(row + (at >> 3)) & bit)
        && !(platform_or8(row + (at >> 3), bit) & bit);
}

/* Loads eight bytes for popcounts and bitwise operations, in the machine's byte
 * order. */
PLATFORM_INLINE uint64_t bits_word(const uint8_t *row)
{
    uint64_t word;
    memcpy(&word, row, sizeof word);
    return word;
}

/* Bytes of a row that takes steps of its own in these: shorter ones belong to
 * their caller's. */
enum { BITS_LONG = 4096 };

/* Returns the number of set bits of the row. */
uint64_t bits_count(const uint8_t *row, size_t bytes);

/* Returns the number of set bits of a OR b. */
uint64_t bits_count_or(const uint8_t *a, const uint8_t *b, size_t bytes);

/* Compute into |= other and into &= other. */
void bits_or (uint8_t *into, const uint8_t *other, size_t bytes);
void bits_and(uint8_t *into, const uint8_t *other, size_t bytes);

/* Returns whether all bits from `first` to the end of the row are clear. */
static inline bool bits_clear_from(const uint8_t *row, size_t bytes,
                                   uint64_t first)
{
    for (uint64_t at = first; at < (uint64_t)bytes * 8; at++) {
        if ((at & 7) == 0 && row[at >> 3] == 0)
            at += 7;
        else if (bits_test(row, at))
            return false;
    }
    return true;
}

#endif /* BLY_BITS_BITS_H */
