/* crc.h - the checksum CRC-32C, of Castagnoli, by which tables of other systems
 * protect their blocks.
 */
#ifndef BLY_BITS_CRC_H
#define BLY_BITS_CRC_H

#include "bloomery.h"

/* Continues the checksum `crc` with n bytes; it is 0 for no bytes. */
uint32_t crc_32c(uint32_t crc, const void *bytes, size_t n);

#endif /* BLY_BITS_CRC_H */
