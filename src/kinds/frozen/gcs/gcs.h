/* gcs.h - shared by the files of kind `gcs`: shape, keys, blocks.
 *
 * gcs.c has the essay, plans and checks; gcs_look.c looks keys up; gcs_build.c
 * sorts the keys and writes the code.
 */
#ifndef BLY_KINDS_FROZEN_GCS_GCS_H
#define BLY_KINDS_FROZEN_GCS_GCS_H

#include "image/abilities.h"
#include "bits/bits.h"
#include "bits/hash.h"

enum {
    GCS_VERSION = 1,
    GCS_BLOCKS = 0, GCS_WIDTH = 1, GCS_KEYS = 2, GCS_SHAPE = 3,
    GCS_RECORD = 64, GCS_RECORD_BLOCKS = 56,
    GCS_TAIL = 8,                       /* the number of numbers             */
    GCS_K_MAX = 56,                     /* so that 8 bytes hold a remainder  */
    GCS_ENTRY_MAX = 255,
    GCS_LEAST_MAX = 65535,              /* so no block has 2^33 bits         */
    GCS_SEEDS = 64,                     /* tries; one in thousands fails     */
    GCS_SHARDS = 4096,                  /* at most                           */
    GCS_SHARD_KEYS = 32768              /* about, where there are so many    */
};

#define GCS_BLOCKS_MAX (UINT64_C(1) << 48)
#define GCS_KEYS_MAX   (UINT64_C(1) << 48)
#define GCS_RANGE_MAX  (UINT64_C(1) << 63)

/* The fields of an image that the code needs, read once. */
typedef struct {
    const uint8_t *records, *code;
    uint64_t bits;                      /* of code                           */
    uint64_t blocks, width, seed;
    uint64_t least;                     /* grains                            */
    uint32_t k, grain;
} gcs_view;

PLATFORM_INLINE uint64_t gcs_records(uint64_t blocks)
{
    return blocks / GCS_RECORD_BLOCKS + (blocks % GCS_RECORD_BLOCKS != 0);
}

PLATFORM_INLINE gcs_view gcs_look(const void *image)
{
    uint64_t shape = image_geometry(image, GCS_SHAPE);
    uint64_t blocks = image_geometry(image, GCS_BLOCKS);
    uint64_t index = gcs_records(blocks) * GCS_RECORD;
    return (gcs_view){
        .records = image_payload(image),
        .code = image_payload(image) + index,
        .bits = (image_payload_bytes(image) - index - GCS_TAIL) * 8,
        .blocks = blocks,
        .width = image_geometry(image, GCS_WIDTH),
        .seed = (shape >> 48) * HASH_STEP,
        .least = shape >> 24 & 0xFFFFFF,
        .k = shape & 0xFF,
        .grain = shape >> 8 & 0xFFFF,
    };
}

/* ---- Where a key is ---------------------------------------------------- */

/* Mixes the hash fully: consecutive hashes, only spread, would give even gaps,
 * for which the code is not made. Mixed hashes are in the order of their
 * numbers. */
PLATFORM_INLINE uint64_t gcs_mix(const gcs_view *v, uint64_t hash)
{
    return hash_mix(hash + v->seed);
}

PLATFORM_INLINE uint64_t gcs_block_of(const gcs_view *v, uint64_t mixed)
{
    return bits_range(mixed, v->blocks);
}

/* The number, in its block. */
PLATFORM_INLINE uint64_t gcs_number_of(const gcs_view *v, uint64_t mixed)
{
    return bits_range(mixed * v->blocks, v->width);
}

/* Bits of the code. */
typedef struct {
    uint64_t start, length;
} gcs_span;

/* ---- Look up ----------------------------------------------------------- */

/* Slots of the kind, for an image that was checked. */
bool gcs_contains(const void *image, uint64_t hash);
kind_contains *gcs_contains_here(const void **subject, void *view);
void gcs_contains_many(const void *image, const uint64_t *hashes, size_t n,
                       bool *present);

/* ---- Build ------------------------------------------------------------- */

/* Shards of a filter of so many blocks, each of `records` records but the
 * last. */
uint64_t gcs_shards(uint64_t *records, uint64_t blocks, uint64_t n);

/* Bytes of scratch beside the sorted hashes. */
uint64_t gcs_tables(uint64_t shards);

/* BLY_EFULL, if the hashes are not random. */
bly_status gcs_build(void *image, const kind_keys *keys,
                     const kind_bench *bench);

#endif /* BLY_KINDS_FROZEN_GCS_GCS_H */
