/* counters.h - packed counters of 1 .. 16 bits in a run of bytes.
 *
 * Counter i of width w occupies bits i*w … i*w + w-1 of the row, its
 * lowest bit first, bits numbered as in bits.h: with w = 4, byte 0 holds
 * counter 0 in its low half and counter 1 in its high half. Counters may
 * straddle bytes. A row of n counters takes counters_bytes(n, w) bytes and no
 * access touches a byte beyond them.
 *
 *      w = 3    byte 0          byte 1
 *      bit      0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
 *      counter  0 0 0 1 1 1 2 2 2 3 3 3 4 4 4 5
 */
#ifndef BLY_BITS_COUNTERS_H
#define BLY_BITS_COUNTERS_H

#include <assert.h>

#include "base/platform.h"
#include "base/sizes.h"

enum { COUNTERS_WIDTH_MAX = 16 };

/* Bytes of n counters of `width` bits; false if that does not fit 64 bits. */
static inline bool counters_bytes(uint64_t *out, uint64_t n, uint32_t width)
{
    uint64_t bits;
    if (!sizes_mul(&bits, n, width))
        return false;
    *out = bits / 8 + (bits % 8 != 0 ? 1 : 0);
    return true;
}

/* Returns the largest value: a counter that reaches it is saturated, and its
 * true count is unknown. */
PLATFORM_INLINE uint32_t counters_max(uint32_t width)
{
    return (1u << width) - 1;
}

/* Returns whether counters may cross byte boundaries. Those of 1, 2, 4 or 8
   bits do not. */
PLATFORM_INLINE bool counters_straddle(uint32_t width)
{
    return (width & (width - 1)) != 0 || width > 8;
}

/* Where counter i is: its lowest bit in byte p[0], and the places of its
 * second and third byte, or of the last one again if it has fewer. So all three
 * can be read and written without a branch, which would go either way. */
typedef struct {
    uint64_t byte;
    uint32_t shift, second, third;
} counters_place;

PLATFORM_INLINE counters_place counters_find(uint64_t i, uint32_t width)
{
    uint64_t bit = i * width;
    uint32_t shift = bit & 7, last = (shift + width - 1) >> 3;
    return (counters_place){ bit >> 3, shift, last >= 1, last };
}

/* Its bytes, lowest first, as one number. What is above a counter of fewer
 * than three bytes means nothing. */
PLATFORM_INLINE uint32_t counters_window(const uint8_t *row, counters_place at,
                                         uint32_t width)
{
    const uint8_t *p = row + at.byte;
    uint32_t window = p[0];
    if (counters_straddle(width))
        window |= (uint32_t)p[at.second] << 8;
    if (width > 9)
        window |= (uint32_t)p[at.third] << 16;
    return window;
}

PLATFORM_INLINE uint32_t counters_get(const uint8_t *row, uint64_t i,
                                      uint32_t width)
{
    assert(width >= 1 && width <= COUNTERS_WIDTH_MAX);
    counters_place at = counters_find(i, width);
    return counters_window(row, at, width) >> at.shift & counters_max(width);
}

/* Writes its bytes back. */
PLATFORM_INLINE void counters_write(uint8_t *row, counters_place at,
                                    uint32_t width, uint32_t window)
{
    uint8_t *p = row + at.byte;
    p[0] = (uint8_t)window;
    if (counters_straddle(width))
        p[at.second] = (uint8_t)(window >> 8 * at.second);
    if (width > 9)
        p[at.third] = (uint8_t)(window >> 8 * at.third);
}

PLATFORM_INLINE void counters_set(uint8_t *row, uint64_t i, uint32_t width,
                                  uint32_t value)
{
    assert(width >= 1 && width <= COUNTERS_WIDTH_MAX);
    assert(value <= counters_max(width));
    counters_place at = counters_find(i, width);
    uint32_t window = counters_window(row, at, width);
    window = (window & ~(counters_max(width) << at.shift)) | value << at.shift;
    counters_write(row, at, width, window);
}

/* Adds `by` to counter i, up to its largest value. It cannot overflow into the
 * next counter, so nothing is masked. */
PLATFORM_INLINE void counters_raise(uint8_t *row, uint64_t i, uint32_t width,
                                    uint32_t by)
{
    assert(width >= 1 && width <= COUNTERS_WIDTH_MAX);
    counters_place at = counters_find(i, width);
    uint32_t window = counters_window(row, at, width);
    uint32_t room = ~(window >> at.shift) & counters_max(width);
    window += (by < room ? by : room) << at.shift;
    counters_write(row, at, width, window);
}

#endif /* BLY_BITS_COUNTERS_H */
