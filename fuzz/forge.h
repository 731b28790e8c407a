/* forge.h - a forger's tools: fields of an image's header, and checksums that
 * match any bytes.
 *
 * Written from docs/format and not from the library's headers, so that the
 * two check each other. A fuzzer cannot guess a checksum; forge_seal() gets it
 * past them to the code behind.
 */
#ifndef BLY_FUZZ_FORGE_H
#define BLY_FUZZ_FORGE_H

#include <stddef.h>
#include <stdint.h>

enum {
    FORGE_MAGIC = 0, FORGE_KIND = 8, FORGE_FORMAT = 24, FORGE_FORM = 26,
    FORGE_VERSION = 28,
    FORGE_BYTES = 32, FORGE_ITEMS = 40, FORGE_CAPACITY = 48, FORGE_RATE = 56,
    FORGE_SEED = 64, FORGE_HASH = 72, FORGE_GEOMETRY = 80,
    FORGE_PAYLOAD_SUM = 112, FORGE_HEADER_SUM = 120, FORGE_HEADER = 128
};

uint64_t forge_u64(const uint8_t *image, size_t at);
void forge_set_u64(uint8_t *image, size_t at, uint64_t value);

/* Makes the header's checksum match. Needs at least FORGE_HEADER bytes. */
void forge_seal_header(uint8_t *image);

/* Makes both checksums match. Needs at least FORGE_HEADER bytes. */
void forge_seal(uint8_t *image, size_t bytes);

/* Corrects the magic and the size, then makes both checksums match. */
void forge_repair(uint8_t *image, size_t bytes);

/* Repairs the images inside first, then this one. A checksum of 0 of an inner
 * payload is kept: the outer one covers it. */
void forge_mend(uint8_t *image, size_t bytes);

#endif /* BLY_FUZZ_FORGE_H */
