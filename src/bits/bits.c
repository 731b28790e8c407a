/* bits.c - whole rows of bits: counted, united, intersected. Long rows are
 * steps of the caller's task.
 */
#include "bits/bits.h"

#include "base/task.h"

/* Returns the end of the piece that begins at `at`. A short row is one piece,
 * since callers count many of them per step. */
static size_t bits_until(size_t at, size_t bytes)
{
    return bytes < BITS_LONG ? bytes : (size_t)task_until(at, bytes);
}

static uint64_t bits_count_piece(const uint8_t *row, size_t bytes)
{
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        count += platform_popcount(bits_word(row + i));
    for (; i < bytes; i++)
        count += platform_popcount(row[i]);
    return count;
}

static uint64_t bits_count_or_piece(const uint8_t *a, const uint8_t *b,
                                    size_t bytes)
{
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        count += platform_popcount(bits_word(a + i) | bits_word(b + i));
    for (; i < bytes; i++)
        count += platform_popcount((uint64_t)(a[i] | b[i]));
    return count;
}

uint64_t bits_count(const uint8_t *row, size_t bytes)
{
    uint64_t count = 0;
    for (size_t at = 0, end; (end = bits_until(at, bytes)) > at; at = end)
        count += bits_count_piece(row + at, end - at);
    return count;
}

uint64_t bits_count_or(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    uint64_t count = 0;
    for (size_t at = 0, end; (end = bits_until(at, bytes)) > at; at = end)
        count += bits_count_or_piece(a + at, b + at, end - at);
    return count;
}

void bits_or(uint8_t *into, const uint8_t *other, size_t bytes)
{
    for (size_t at = 0, end; (end = bits_until(at, bytes)) > at; at = end)
        for (size_t i = at; i < end; i++)
            into[i] |= other[i];
}

void bits_and(uint8_t *into, const uint8_t *other, size_t bytes)
{
    for (size_t at = 0, end; (end = bits_until(at, bytes)) > at; at = end)
        for (size_t i = at; i < end; i++)
            into[i] &= other[i];
}
