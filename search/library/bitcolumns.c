/* bitcolumns.c - columns of bits, and the rows that they are together.
 *
 * A square of 64 times 64 bits is turned over by exchanging its
 * quarters, then the quarters of these, and so on [Warren, Hacker's Delight,
 * 7-3]; columns are taken 64 at a time, which stay in the cache while all their
 * rows are written.
 */
#include "search/library/bitcolumns.h"

#include "image/image.h"
#include "base/task.h"

enum { COLUMNS_SQUARE = 64 };

static void bitcolumns_turn(uint64_t square[COLUMNS_SQUARE])
{
    uint64_t mask = UINT64_C(0x00000000FFFFFFFF);
    for (unsigned half = 32; half > 0; half /= 2, mask ^= mask << half)
        for (unsigned i = 0; i < COLUMNS_SQUARE; i = (i + half + 1) & ~half) {
            uint64_t other = (square[i] >> half ^ square[i + half]) & mask;
            square[i] ^= other << half;
            square[i + half] ^= other;
        }
}

uint64_t bitcolumns_load(const uint8_t *bytes, uint64_t bit)
{
    const uint8_t *at = bytes + bit / 8;
    unsigned shift = bit % 8;
    uint64_t low = image_u64(at, 0);
    return shift == 0 ? low
         : low >> shift | (uint64_t)at[8] << (64 - shift);
}

/* Bits are only ever set. */
static void bitcolumns_store(uint8_t *bytes, uint64_t bit, uint64_t bits)
{
    uint8_t *at = bytes + bit / 8;
    unsigned shift = bit % 8;
    image_set_u64(at, 0, image_u64(at, 0) | bits << shift);
    if (shift != 0)
        at[8] |= (uint8_t)(bits >> (64 - shift));
}

void bitcolumns_to_rows(uint8_t *rows, const uint64_t *const *columns,
                        uint64_t d, uint64_t m)
{
    uint64_t square[COLUMNS_SQUARE];
    for (uint64_t c = 0; c < d && !task_step(0); c += COLUMNS_SQUARE)
        for (uint64_t r = 0; r < m; r += COLUMNS_SQUARE) {
            uint64_t wide = d - c < COLUMNS_SQUARE ? d - c : COLUMNS_SQUARE;
            uint64_t high = m - r < COLUMNS_SQUARE ? m - r : COLUMNS_SQUARE;
            for (uint64_t i = 0; i < COLUMNS_SQUARE; i++)
                square[i] = i < wide ? columns[c + i][r / COLUMNS_SQUARE] : 0;
            bitcolumns_turn(square);
            for (uint64_t i = 0; i < high; i++)
                bitcolumns_store(rows, (r + i) * d + c, square[i]);
        }
}

void bitcolumns_of_rows(uint64_t *const *columns, const uint8_t *rows,
                        uint64_t first, size_t n, uint64_t d, uint64_t m)
{
    uint64_t square[COLUMNS_SQUARE];
    for (uint64_t r = 0; r < m; r += COLUMNS_SQUARE) {
        for (uint64_t i = 0; i < COLUMNS_SQUARE; i++)
            square[i] =
                r + i < m ? bitcolumns_load(rows, (r + i) * d + first) : 0;
        bitcolumns_turn(square);
        for (size_t i = 0; i < n; i++)
            columns[i][r / COLUMNS_SQUARE] = square[i];
    }
}
