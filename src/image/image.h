/* image.h - the 128 bytes every filter image starts with, and how to read
 * them. The first of the two contracts (the other is kind.h).
 *
 *   offset size field
 *        0    8 magic, "bloomery"
 *        8   16 kind's name, NUL-padded            "standard"
 *       24    2 format version, of this header     1
 *       26    2 form of the keys (bloomery/form.h); 0: not stated
 *       28    4 payload version, of the kind
 *       32    8 bytes, of the whole image
 *       40    8 items, keys added; 2^64-1: not known (after unite, intersect,
 *               or where the count would leave its range)
 *       48    8 capacity, keys it was planned for, >= 1
 *       56    8 rate, predicted for `capacity` keys (IEEE double, 0 <= r <= 1)
 *       64    8 seed of the hash function
 *       72    8 hash function's name, NUL-padded   "xxh3"
 *       80   32 kind's own geometry, four u64
 *      112    8 checksum of the payload (XXH3-64), 0 while open for writing
 *      120    8 checksum of the first 120 bytes (XXH3-64)
 *      128      payload
 *
 * All integers are little-endian, on every machine. There are no pointers: an
 * image may be written, sent or mapped anywhere. A payload whose checksum comes
 * out as 0 has 1 written instead.
 *
 * Unused geometry is zero, and the kind's check says so.
 */
#ifndef BLY_IMAGE_IMAGE_H
#define BLY_IMAGE_IMAGE_H

#include <string.h>

#include "bloomery.h"
#include "bloomery/form.h"

#include "base/platform.h"

enum {
    IMAGE_MAGIC = 0, IMAGE_KIND = 8, IMAGE_FORMAT = 24, IMAGE_FORM = 26,
    IMAGE_VERSION = 28,
    IMAGE_BYTES = 32, IMAGE_ITEMS = 40, IMAGE_CAPACITY = 48, IMAGE_RATE = 56,
    IMAGE_SEED = 64, IMAGE_HASH = 72, IMAGE_GEOMETRY = 80,
    IMAGE_PAYLOAD_SUM = 112, IMAGE_HEADER_SUM = 120, IMAGE_HEADER = 128,

    IMAGE_KIND_NAME = 16, IMAGE_GEOMETRY_FIELDS = 4, IMAGE_FORMAT_NOW = 1
};

#define IMAGE_ITEMS_UNKNOWN UINT64_MAX

/* Numbers, lowest byte first. Where memory has this order, memcpy is always one
 * load or store. gcc makes one of the bytes as well, but not of bytes that it
 * has put in another order first, as it does if the number is part of a larger
 * `|`. Inlining is forced because of the length of the bytes. */
PLATFORM_INLINE uint64_t image_u64(const void *image, uint64_t at)
{
    const uint8_t *p = (const uint8_t *)image + at;
    PLATFORM_READS8(p);
#if PLATFORM_LITTLE_ENDIAN
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
#else
    return (uint64_t)p[0]       | (uint64_t)p[1] << 8
         | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24
         | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40
         | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
#endif
}

PLATFORM_INLINE void image_set_u64(void *image, uint64_t at, uint64_t v)
{
    uint8_t *p = (uint8_t *)image + at;
    PLATFORM_WRITES8(p);
#if PLATFORM_LITTLE_ENDIAN
    memcpy(p, &v, sizeof v);
#else
    p[0] = (uint8_t)v;         p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16); p[3] = (uint8_t)(v >> 24);
    p[4] = (uint8_t)(v >> 32); p[5] = (uint8_t)(v >> 40);
    p[6] = (uint8_t)(v >> 48); p[7] = (uint8_t)(v >> 56);
#endif
}

static inline uint32_t image_u32(const void *image, uint64_t at)
{
    const uint8_t *p = (const uint8_t *)image + at;
#if PLATFORM_LITTLE_ENDIAN
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
#else
    return (uint32_t)p[0]       | (uint32_t)p[1] << 8
         | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
#endif
}

static inline void image_set_u32(void *image, uint64_t at, uint32_t v)
{
    uint8_t *p = (uint8_t *)image + at;
#if PLATFORM_LITTLE_ENDIAN
    memcpy(p, &v, sizeof v);
#else
    p[0] = (uint8_t)v;         p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16); p[3] = (uint8_t)(v >> 24);
#endif
}

static inline uint32_t image_u16(const void *image, uint64_t at)
{
    const uint8_t *p = (const uint8_t *)image + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline void image_set_u16(void *image, uint64_t at, uint64_t v)
{
    uint8_t *p = (uint8_t *)image + at;
    p[0] = (uint8_t)v;         p[1] = (uint8_t)(v >> 8);
}

static inline double image_f64(const void *image, uint64_t at)
{
    uint64_t bits = image_u64(image, at);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline void image_set_f64(void *image, uint64_t at, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    image_set_u64(image, at, bits);
}

/* Number i of the kind's geometry. */
static inline uint64_t image_geometry(const void *image, size_t i)
{
    return image_u64(image, IMAGE_GEOMETRY + 8 * i);
}

static inline const uint8_t *image_payload(const void *image)
{
    return (const uint8_t *)image + IMAGE_HEADER;
}

static inline uint8_t *image_payload_mut(void *image)
{
    return (uint8_t *)image + IMAGE_HEADER;
}

static inline size_t image_payload_bytes(const void *image)
{
    return (size_t)image_u64(image, IMAGE_BYTES) - IMAGE_HEADER;
}

/* Returns whether the number is a form of keys: a class, with changes only if
 * its keys can have them. */
bool image_is_form(uint64_t form);

/* Write the header of an empty filter over zero bytes, without a form of keys.
 * The checksums are left 0: image_seal() writes them. */
void image_format(void *image, const bly_plan_t *plan, uint32_t version,
                  uint64_t seed, const char *hash);

/* Brings the checksums up to date: the payload's and the header's. Reads the
 * whole image. If the call is cancelled meanwhile, they stay as they were. */
void image_seal(void *image);

/* Seals the image with an XXH3-64 of the payload that the caller computed. */
void image_seal_by(void *image, uint64_t sum);

/* Say "open for writing": payload checksum 0, header checksum to match. */
void image_unseal(void *image);

/* Verifies that these `bytes` bytes begin with an undamaged header of this
 * version; does not look at its fields. BLY_EFORMAT, BLY_EVERSION,
 * BLY_ECORRUPT. */
bly_status image_check_start(const void *image, uint64_t bytes);

/* Verifies that an image of so many bytes can be addressed. BLY_ETOOBIG. */
bly_status image_check_size(uint64_t bytes);

/* Verifies a header for an image of `bytes` bytes, with every field in its
 * range. Reads only the first 128 bytes, if they are there. Does not look at
 * the kind's name or geometry, nor at whether the payload's checksum is 0.
 * BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EHASH, BLY_ETOOBIG. */
bly_status image_check_header(const void *image, uint64_t bytes);

/* Was the image closed after writing? BLY_EUNSEALED. The header must have
 * been checked. */
bly_status image_check_sealed(const void *image);

/* Verifies the payload's checksum; reads all of it. BLY_ECORRUPT,
 * BLY_EUNSEALED. The header must have been checked. */
bly_status image_check_payload(const void *image);

#endif /* BLY_IMAGE_IMAGE_H */
