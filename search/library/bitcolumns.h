/* bitcolumns.h - columns of bits, and the rows that they are together.
 *
 * A column is m bits in whole words of 64, in memory; rows are as a
 * group has them in its file (layout.h).
 */
#ifndef BLY_INDEX_BITCOLUMNS_H
#define BLY_INDEX_BITCOLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* Words of a column of m bits. */
static inline uint64_t bitcolumns_words(uint64_t m)
{
    return m / 64 + (m % 64 != 0);
}

/* Writes d columns of m bits as rows, to zeroed memory with 9 bytes more than
 * layout_bits says. Threads may write to other rows concurrently. */
void bitcolumns_to_rows(uint8_t *rows, const uint64_t *const *columns,
                        uint64_t d, uint64_t m);

/* Reads columns `first` to `first + n` of a group, n <= 64, into zeroed words.
 * Up to 9 bytes after the rows are read. */
void bitcolumns_of_rows(uint64_t *const *columns, const uint8_t *rows,
                        uint64_t first, size_t n, uint64_t d, uint64_t m);

/* Loads 64 bits from any bit offset; reads up to 9 bytes. */
uint64_t bitcolumns_load(const uint8_t *bytes, uint64_t bit);

#endif /* BLY_INDEX_BITCOLUMNS_H */
