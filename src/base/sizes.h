/* sizes.h - size arithmetic that detects overflow.
 *
 * Sizes in the format are uint64_t. Each function returns false, and leaves
 * *out unchanged, if the true result does not fit. sizes_fits() tells whether
 * this machine can address that many bytes at all.
 */
#ifndef BLY_BASE_SIZES_H
#define BLY_BASE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sizes_add(uint64_t *out, uint64_t a, uint64_t b)
{
    if (a > UINT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

static inline bool sizes_mul(uint64_t *out, uint64_t a, uint64_t b)
{
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* Rounds a up to a multiple of `unit` > 0. */
static inline bool sizes_round_up(uint64_t *out, uint64_t a, uint64_t unit)
{
    uint64_t rest = a % unit;
    return sizes_add(out, a, rest == 0 ? 0 : unit - rest);
}

/* Rounds v up to a whole number. Returns false for NaN, negative values, and
 * values of 2^63 or more. */
static inline bool sizes_from_double(uint64_t *out, double v)
{
    if (!(v >= 0 && v < 9223372036854775808.0))
        return false;
    uint64_t whole = (uint64_t)v;
    *out = whole + ((double)whole < v ? 1 : 0);
    return true;
}

/* Returns whether an object can have that many bytes here. */
static inline bool sizes_fits(uint64_t bytes)
{
    return bytes <= PTRDIFF_MAX;
}

#endif /* BLY_BASE_SIZES_H */
