/* preview.c - XXH3 as it was in a preview, xxHash 0.7.2. */
#include "bits/preview.h"

#include "base/platform.h"

#define PREVIEW_P32_1 UINT64_C(0x9E3779B1)
#define PREVIEW_P32_2 UINT64_C(0x85EBCA77)
#define PREVIEW_P32_3 UINT64_C(0xC2B2AE3D)
#define PREVIEW_P64_1 UINT64_C(0x9E3779B185EBCA87)
#define PREVIEW_P64_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PREVIEW_P64_3 UINT64_C(0x165667B19E3779F9)
#define PREVIEW_P64_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PREVIEW_P64_5 UINT64_C(0x27D4EB2F165667C5)

enum {
    PREVIEW_LANES = 8, PREVIEW_STRIPE = 8 * PREVIEW_LANES,
    PREVIEW_SECRET = 192,               /* bytes, and the fewest there may be*/
    PREVIEW_SECRET_LEAST = 136,
    PREVIEW_STRIPES = (PREVIEW_SECRET - PREVIEW_STRIPE) / 8,
    PREVIEW_SHORT = 16, PREVIEW_MIDDLE = 128, PREVIEW_LONG = 240
};

static const uint8_t preview_secret[PREVIEW_SECRET] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c,
    0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb,
    0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
    0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97,
    0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
    0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83,
    0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26,
    0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc,
    0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

/* ---- Pieces ------------------------------------------------------------ */

static uint64_t preview_u32(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16
         | (uint64_t)p[3] << 24;
}

static uint64_t preview_u64(const uint8_t *p)
{
    return preview_u32(p) | preview_u32(p + 4) << 32;
}

/* Returns the exclusive or of both halves of the product. */
static uint64_t preview_fold(uint64_t a, uint64_t b)
{
    return a * b ^ platform_mul_high(a, b);
}

static uint64_t preview_finish(uint64_t h)
{
    h = (h ^ h >> 37) * PREVIEW_P64_3;
    return h ^ h >> 32;
}

static uint64_t preview_mix(const uint8_t *p, const uint8_t *secret)
{
    return preview_fold(preview_u64(p) ^ preview_u64(secret),
                        preview_u64(p + 8) ^ preview_u64(secret + 8));
}

/* ---- Up to 240 bytes --------------------------------------------------- */

static uint64_t preview_to_3(const uint8_t *p, size_t length)
{
    uint64_t all = (uint64_t)p[0] | (uint64_t)p[length >> 1] << 8
                 | (uint64_t)p[length - 1] << 16 | (uint64_t)length << 24;
    return preview_finish((all ^ preview_u32(preview_secret)) * PREVIEW_P64_1);
}

static uint64_t preview_to_8(const uint8_t *p, size_t length)
{
    uint64_t all = preview_u32(p) | preview_u32(p + length - 4) << 32;
    uint64_t keyed = all ^ preview_u64(preview_secret);
    uint64_t mixed = length + (keyed ^ keyed >> 51) * PREVIEW_P32_1;
    return preview_finish((mixed ^ mixed >> 47) * PREVIEW_P64_2);
}

static uint64_t preview_to_16(const uint8_t *p, size_t length)
{
    uint64_t low = preview_u64(p) ^ preview_u64(preview_secret);
    uint64_t high = preview_u64(p + length - 8)
                  ^ preview_u64(preview_secret + 8);
    return preview_finish(length + low + high + preview_fold(low, high));
}

static uint64_t preview_short(const uint8_t *p, size_t length)
{
    return length > 8 ? preview_to_16(p, length)
         : length > 3 ? preview_to_8(p, length)
         : length > 0 ? preview_to_3(p, length)
         : preview_fold(preview_u64(preview_secret), PREVIEW_P64_2);
}

/* Hashes from both ends to the middle. */
static uint64_t preview_to_128(const uint8_t *p, size_t length)
{
    uint64_t sum = length * PREVIEW_P64_1;
    for (size_t i = 0; i <= (length - 1) / 32; i++) {
        sum += preview_mix(p + 16 * i, preview_secret + 32 * i);
        sum += preview_mix(p + length - 16 * (i + 1),
                           preview_secret + 32 * i + 16);
    }
    return preview_finish(sum);
}

static uint64_t preview_to_240(const uint8_t *p, size_t length)
{
    uint64_t sum = length * PREVIEW_P64_1;
    for (size_t i = 0; i < 8; i++)
        sum += preview_mix(p + 16 * i, preview_secret + 16 * i);
    sum = preview_finish(sum);
    for (size_t i = 8; i < length / 16; i++)
        sum += preview_mix(p + 16 * i, preview_secret + 16 * (i - 8) + 3);
    sum += preview_mix(p + length - 16,
                       preview_secret + PREVIEW_SECRET_LEAST - 17);
    return preview_finish(sum);
}

/* ---- Longer ------------------------------------------------------------ */

static void preview_stripe(uint64_t lane[PREVIEW_LANES], const uint8_t *p,
                           const uint8_t *secret)
{
    for (size_t i = 0; i < PREVIEW_LANES; i++) {
        uint64_t value = preview_u64(p + 8 * i);
        uint64_t keyed = value ^ preview_u64(secret + 8 * i);
        lane[i] += value + (keyed & UINT32_MAX) * (keyed >> 32);
    }
}

static void preview_scramble(uint64_t lane[PREVIEW_LANES])
{
    const uint8_t *secret = preview_secret + PREVIEW_SECRET - PREVIEW_STRIPE;
    for (size_t i = 0; i < PREVIEW_LANES; i++)
        lane[i] = (lane[i] ^ lane[i] >> 47 ^ preview_u64(secret + 8 * i))
                * PREVIEW_P32_1;
}

static uint64_t preview_long(const uint8_t *p, size_t length)
{
    uint64_t lane[PREVIEW_LANES] = {
        PREVIEW_P32_3, PREVIEW_P64_1, PREVIEW_P64_2, PREVIEW_P64_3,
        PREVIEW_P64_4, PREVIEW_P32_2, PREVIEW_P64_5, PREVIEW_P32_1,
    };
    uint64_t sum = length * PREVIEW_P64_1;
    size_t stripes = length / PREVIEW_STRIPE;
    for (size_t i = 0; i < stripes; i++) {
        preview_stripe(lane, p + PREVIEW_STRIPE * i,
                       preview_secret + 8 * (i % PREVIEW_STRIPES));
        if ((i + 1) % PREVIEW_STRIPES == 0)
            preview_scramble(lane);
    }
    if (length % PREVIEW_STRIPE != 0)
        preview_stripe(lane, p + length - PREVIEW_STRIPE,
                       preview_secret + PREVIEW_SECRET - PREVIEW_STRIPE - 7);
    for (size_t i = 0; i < PREVIEW_LANES; i += 2)
        sum += preview_fold(lane[i] ^ preview_u64(preview_secret + 11 + 8 * i),
                            lane[i + 1]
                            ^ preview_u64(preview_secret + 19 + 8 * i));
    return preview_finish(sum);
}

uint64_t preview_xxh3(const void *key, size_t length)
{
    return length <= PREVIEW_SHORT ? preview_short(key, length)
         : length <= PREVIEW_MIDDLE ? preview_to_128(key, length)
         : length <= PREVIEW_LONG ? preview_to_240(key, length)
         : preview_long(key, length);
}
