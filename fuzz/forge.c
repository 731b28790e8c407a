/* forge.c - fields of an image's header, and matching checksums. */
#include "forge.h"

#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

uint64_t forge_u64(const uint8_t *image, size_t at)
{
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0; )
        value = value << 8 | image[at + i];
    return value;
}

void forge_set_u64(uint8_t *image, size_t at, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        image[at + i] = (uint8_t)(value >> (8 * i));
}

void forge_seal_header(uint8_t *image)
{
    forge_set_u64(image, FORGE_HEADER_SUM,
                  XXH3_64bits(image, FORGE_HEADER_SUM));
}

void forge_seal(uint8_t *image, size_t bytes)
{
    uint64_t sum = XXH3_64bits(image + FORGE_HEADER, bytes - FORGE_HEADER);
    forge_set_u64(image, FORGE_PAYLOAD_SUM, sum == 0 ? 1 : sum);
    forge_seal_header(image);
}

void forge_repair(uint8_t *image, size_t bytes)
{
    memcpy(image + FORGE_MAGIC, "bloomery", 8);
    forge_set_u64(image, FORGE_BYTES, bytes);
    forge_seal(image, bytes);
}

/* Returns whether a complete image begins here. Buffered and compressed filters
 * begin with a header alone. */
static bool forge_is_whole(const uint8_t *outer, const uint8_t *inner,
                           size_t left)
{
    const char *kind = (const char *)outer + FORGE_KIND;
    bool alone = inner == outer + FORGE_HEADER
              && (strncmp(kind, "buffered", 16) == 0
                  || strncmp(kind, "compressed", 16) == 0);
    return !alone && forge_u64(inner, FORGE_PAYLOAD_SUM) != 0
        && forge_u64(inner, FORGE_BYTES) >= FORGE_HEADER
        && forge_u64(inner, FORGE_BYTES) <= left;
}

void forge_mend(uint8_t *image, size_t bytes)
{
    for (size_t at = FORGE_HEADER; at + FORGE_HEADER <= bytes; at += 8) {
        uint8_t *inner = image + at;
        if (memcmp(inner, "bloomery", 8) != 0)
            continue;
        if (forge_is_whole(image, inner, bytes - at))
            forge_mend(inner, (size_t)forge_u64(inner, FORGE_BYTES));
        else
            forge_seal_header(inner);
    }
    forge_repair(image, bytes);
}
