/* crc.c - CRC-32C, four bits at a time: blocks of filters are small, and so is
 * the table.
 *
 * Reflected, as everywhere: the lowest bit of a byte comes first, and
 * entry i is what remains of the four bits i in front of 28 zeros.
 */
#include "bits/crc.h"

static const uint32_t crc_table[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1,
    0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
    0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t crc_32c(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ crc_table[crc & 15];
        crc = crc >> 4 ^ crc_table[crc & 15];
    }
    return ~crc;
}
