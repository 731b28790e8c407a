/* ribbon.h - shared by the files of kind `ribbon`: shape, keys, layers.
 *
 * ribbon.c has the essay, which defines the words and the bytes of an image; it
 * plans and checks. ribbon_look.c looks keys up; ribbon_build.c solves the
 * equations.
 */
#ifndef BLY_KINDS_FROZEN_RIBBON_RIBBON_H
#define BLY_KINDS_FROZEN_RIBBON_RIBBON_H

#include "bits/bits.h"
#include "bits/hash.h"
#include "image/abilities.h"

enum {
    RIBBON_DISTINCT = 0, RIBBON_FIRST = 1, RIBBON_MIDDLE = 2, RIBBON_END = 3,

    RIBBON_BITS_MAX = 32,
    RIBBON_BAND = 64,                   /* slots that a key's equation spans */
    RIBBON_TILE = 32,                   /* slots that are stored together    */
    RIBBON_BUCKET = 128,                /* starts that share a threshold     */
    RIBBON_BUCKET_TILES = RIBBON_BUCKET / RIBBON_TILE,
    RIBBON_SHARD_LOG = 16,
    RIBBON_SHARD = 1 << 16,             /* starts that are solved together   */
    RIBBON_NO_SHARDS = 63,              /* log2 of more starts than exist    */
    RIBBON_SLOTS = RIBBON_SHARD + RIBBON_BAND,
    RIBBON_SHARD_BUCKETS = RIBBON_SHARD / RIBBON_BUCKET,
    RIBBON_LAYERS = 4,                  /* of buckets, at most               */
    RIBBON_BUMPED_ONE_IN = 17,          /* keys, or a few more               */
    RIBBON_FEW = 500,                   /* keys that need no such layer      */
    RIBBON_PAD = 32,                    /* bytes a vector load may read on   */
    RIBBON_BUCKETS_MAX = 1 << 28,       /* of a layer                        */
    RIBBON_LAST_MAX = 8192,             /* tiles that the last layer uses    */

    RIBBON_SHARES = 1 << 16,            /* a share of 1                      */
    RIBBON_SEEDS = 16,                  /* of the whole filter               */
    RIBBON_LAST_SEEDS = 64              /* of the last layer                 */
};

/* With more, those in the last layer might need more than its tiles. */
#define RIBBON_KEYS_MAX (UINT64_C(1) << 34)

/* Odd multipliers, of no particular kind, that take the coefficients and the
 * fingerprint from a key's state. */
#define RIBBON_COEFFICIENTS UINT64_C(0xE7A81F36B92D4C5D)
#define RIBBON_FINGERPRINT  UINT64_C(0x9E3779B97F4A7C15)

/* The thresholds 0, 16, 36 and 128, a byte for each code. */
#define RIBBON_THRESHOLDS UINT32_C(0x80241000)

enum { RIBBON_BUMPED, RIBBON_HOMOGENEOUS };

/* ---- Shape ------------------------------------------------------------- */

/* The numbers in the geometry. */
typedef struct {
    uint64_t distinct;                  /* keys; 0: an empty filter          */
    uint32_t share;                     /* of the starts, in wide tiles      */
    uint32_t buckets[RIBBON_LAYERS];    /* 0: no such layer                  */
    uint32_t last;                      /* tiles of the last layer           */
    uint32_t bits, form, seed, last_seed;
} ribbon_shape;

PLATFORM_INLINE ribbon_shape ribbon_shape_of(const void *image)
{
    uint64_t distinct = image_geometry(image, RIBBON_DISTINCT);
    uint64_t first = image_geometry(image, RIBBON_FIRST);
    uint64_t middle = image_geometry(image, RIBBON_MIDDLE);
    uint64_t end = image_geometry(image, RIBBON_END);
    return (ribbon_shape){
        .distinct = distinct << 16 >> 16, .share = (uint16_t)(distinct >> 48),
        .buckets = { (uint32_t)first, (uint32_t)middle,
                     (uint32_t)(middle >> 32), (uint32_t)end },
        .last = (uint32_t)(end >> 32),
        .bits = (uint8_t)(first >> 32), .form = (uint8_t)(first >> 40),
        .seed = (uint8_t)(first >> 48), .last_seed = (uint8_t)(first >> 56),
    };
}

/* Returns the columns of the widest tiles. */
PLATFORM_INLINE uint32_t ribbon_columns(const ribbon_shape *g)
{
    return g->bits + (g->share > 0);
}

/* Shards of a layer, the last one perhaps smaller. */
PLATFORM_INLINE uint64_t ribbon_shards(uint64_t buckets)
{
    return (buckets + RIBBON_SHARD_BUCKETS - 1) / RIBBON_SHARD_BUCKETS;
}

/* Tiles of a layer: those where bands start, and for each shard two more,
 * where its last bands end. */
PLATFORM_INLINE uint64_t ribbon_tiles(uint64_t buckets)
{
    return buckets * RIBBON_BUCKET_TILES
         + ribbon_shards(buckets) * (RIBBON_BAND / RIBBON_TILE);
}

PLATFORM_INLINE uint64_t ribbon_code_bytes(const ribbon_shape *g,
                                           uint32_t buckets)
{
    return g->form == RIBBON_BUMPED ? ((uint64_t)buckets + 3) / 4 : 0;
}

/* Returns how many tiles, out of n in which bands start, have keys of r bits.
 * With a share above 0, they are fewer than n. */
static inline uint64_t ribbon_narrow(const ribbon_shape *g, uint64_t n)
{
    return n * (RIBBON_SHARES - g->share) / RIBBON_SHARES;
}

/* Returns how many tiles have r + 1 columns, of a layer in which bands start in
 * n tiles, in shards of 2^shard starts: the first ones, to where the last band
 * of r + 1 bits ends. */
static inline uint64_t ribbon_wide(const ribbon_shape *g, uint64_t n,
                                   uint32_t shard)
{
    if (g->share == 0)
        return 0;
    uint64_t tile = n - ribbon_narrow(g, n);
    uint64_t gaps = (tile * RIBBON_TILE >> shard) + 1;
    return tile + gaps * (RIBBON_BAND / RIBBON_TILE);
}

/* Returns the byte of a layer where a tile begins. Compilers make the minimum
 * without a branch, which would often be mispredicted. */
PLATFORM_INLINE uint64_t ribbon_offset(uint32_t bits, uint64_t wide,
                                       uint64_t tile)
{
    return 4 * (tile * bits + (tile < wide ? tile : wide));
}

/* Returns whether the band that starts in a tile has r + 1 bits. */
PLATFORM_INLINE bool ribbon_is_wide(uint64_t wide, uint64_t tile)
{
    return tile + RIBBON_BAND / RIBBON_TILE < wide;
}

static inline uint64_t ribbon_layer_wide(const ribbon_shape *g,
                                         uint32_t buckets)
{
    return ribbon_wide(g, (uint64_t)buckets * RIBBON_BUCKET_TILES,
                       RIBBON_SHARD_LOG);
}

/* Returns the bytes of the tiles, which the codes follow. */
static inline uint64_t ribbon_tiles_bytes(const ribbon_shape *g,
                                          uint32_t buckets)
{
    return ribbon_offset(g->bits, ribbon_layer_wide(g, buckets),
                         ribbon_tiles(buckets));
}

static inline uint64_t ribbon_layer_bytes(const ribbon_shape *g,
                                          uint32_t buckets)
{
    return ribbon_tiles_bytes(g, buckets) + ribbon_code_bytes(g, buckets);
}

/* Returns the tiles of the last layer that are used. */
PLATFORM_INLINE uint64_t ribbon_last_tiles(const ribbon_shape *g)
{
    return g->last < RIBBON_LAST_MAX ? g->last : RIBBON_LAST_MAX;
}

/* Returns the tiles of the last layer in which bands start. */
PLATFORM_INLINE uint64_t ribbon_last_starts(const ribbon_shape *g)
{
    return g->last > 2 ? ribbon_last_tiles(g) - 2 : 0;
}

static inline uint64_t ribbon_last_wide(const ribbon_shape *g)
{
    return ribbon_wide(g, ribbon_last_starts(g), RIBBON_NO_SHARDS);
}

static inline uint64_t ribbon_last_bytes(const ribbon_shape *g)
{
    return ribbon_offset(g->bits, ribbon_last_wide(g), g->last);
}

/* ---- Keys and layers --------------------------------------------------- */

/* The state of a key in the first layer, in the next one, and in the last. */
PLATFORM_INLINE uint64_t ribbon_state(uint64_t hash, uint32_t seed)
{
    return hash_mix(hash + seed * HASH_STEP);
}

PLATFORM_INLINE uint64_t ribbon_next(uint64_t state)
{
    return hash_mix(state + HASH_STEP);
}

/* Returns the number that is added to a state before it is mixed for the last
 * layer. */
PLATFORM_INLINE uint64_t ribbon_last_add(uint32_t last_seed)
{
    return (last_seed + UINT64_C(2)) * HASH_STEP;
}

/* Returns the coefficients of the key's equation, for 64 slots from its start.
 * The first is always 1. */
PLATFORM_INLINE uint64_t ribbon_coefficients(uint64_t state)
{
    uint64_t product = state * RIBBON_COEFFICIENTS;
    return (product ^ product >> 32) | 1;
}

/* The high half, of which the lower bits are taken. */
PLATFORM_INLINE uint32_t ribbon_fingerprint(uint64_t state)
{
    return (uint32_t)(state * RIBBON_FINGERPRINT >> 32);
}

/* A layer, for lookups. */
typedef struct {
    const uint8_t *tiles;
    const uint8_t *codes;               /* NULL: it bumps no key             */
    uint64_t starts;
    uint64_t wide;                      /* first tiles, of bits + 1 columns  */
    uint32_t bits;
    uint32_t columns;                   /* of the widest tile                */
    uint32_t shard;                     /* log2 of the starts in a shard     */
    uint32_t prints;                    /* all ones; 0: equations are of 0   */
} ribbon_layer;

PLATFORM_INLINE ribbon_layer ribbon_layer_at(const ribbon_shape *g,
                                             const uint8_t *at,
                                             uint32_t buckets)
{
    bool bumped = g->form == RIBBON_BUMPED;
    return (ribbon_layer){
        .tiles = at,
        .codes = bumped ? at + ribbon_tiles_bytes(g, buckets) : NULL,
        .starts = (uint64_t)buckets * RIBBON_BUCKET,
        .wide = ribbon_layer_wide(g, buckets),
        .bits = g->bits, .columns = ribbon_columns(g),
        .shard = RIBBON_SHARD_LOG, .prints = bumped ? UINT32_MAX : 0,
    };
}

static inline ribbon_layer ribbon_last_at(const ribbon_shape *g,
                                          const uint8_t *at)
{
    return (ribbon_layer){
        .tiles = at, .codes = NULL,
        .starts = ribbon_last_starts(g) * RIBBON_TILE,
        .wide = ribbon_last_wide(g),
        .bits = g->bits, .columns = ribbon_columns(g),
        .shard = RIBBON_NO_SHARDS, .prints = UINT32_MAX,
    };
}

/* Returns the tile of the layer where the band of a start begins. */
PLATFORM_INLINE uint64_t ribbon_tile(const ribbon_layer *layer, uint64_t start)
{
    return start / RIBBON_TILE
         + (start >> layer->shard) * (RIBBON_BAND / RIBBON_TILE);
}

/* Returns whether a key with this start has moved to the next layer. `codes` is
 * the byte with its bucket's code. */
PLATFORM_INLINE bool ribbon_below(uint64_t start, uint8_t codes)
{
    uint32_t code = codes >> start / RIBBON_BUCKET % 4 * 2 & 3;
    return start % RIBBON_BUCKET < (RIBBON_THRESHOLDS >> 8 * code & 0xFF);
}

PLATFORM_INLINE bool ribbon_gone(const ribbon_layer *layer, uint64_t start)
{
    return layer->codes != NULL
        && ribbon_below(start, layer->codes[start / (4 * RIBBON_BUCKET)]);
}

/* 1, if the number of ones is odd. */
PLATFORM_INLINE uint32_t ribbon_parity(uint64_t v, bool quick)
{
    if (quick)                          /* there is an instruction for it */
        return platform_popcount(v) & 1;
    v ^= v >> 32;
    v ^= v >> 16;
    v ^= v >> 8;
    v ^= v >> 4;
    return 0x6996u >> (v & 15) & 1;
}

/* ---- Look up ------------------------------------------------------------ */

/* Slots of a kind, for an image that was checked. */
bool ribbon_contains(const void *image, uint64_t hash);
kind_contains *ribbon_contains_here(const void **subject, void *view);
void ribbon_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present);

/* ---- Build -------------------------------------------------------------- */

/* Buckets of a layer for n keys: 95 % of the slots that they would need, so
 * that nearly every slot is used and the keys that find none go on. */
uint32_t ribbon_buckets(uint64_t n);

/* Buckets of the one layer of the homogeneous form: (5) and (6) of the
 * essay. */
uint32_t ribbon_homogeneous_buckets(uint64_t n, double bits);

/* Returns the bits of a fingerprint, on average over the starts. */
static inline double ribbon_mean_bits(const ribbon_shape *g)
{
    return g->bits + (double)g->share / RIBBON_SHARES;
}

/* Sets the tiles of the last layer to as many as fit in these bytes. Returns
 * whether it can hold a band. */
bool ribbon_last_fit(ribbon_shape *g, uint64_t bytes);

/* The fields of an image's header. */
void ribbon_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                     const ribbon_shape *g);

/* Bytes of scratch that building for n keys takes. */
uint64_t ribbon_scratch(uint64_t n);

/* BLY_EFULL, if the hashes are not random. */
bly_status ribbon_build(void *image, const kind_keys *keys,
                        const kind_bench *bench);

#endif /* BLY_KINDS_FROZEN_RIBBON_RIBBON_H */
