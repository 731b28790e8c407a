/* gcs.h - shared by the files of kind `gcs`: shape, keys, blocks.
 *
 * gcs.c has the essay, plans and checks; gcs_look.c and gcs_avx2.c look keys
 * up; gcs_build.c sorts the keys and writes the code.
 */
#ifndef BLY_KINDS_FROZEN_GCS_GCS_H
#define BLY_KINDS_FROZEN_GCS_GCS_H

#include "base/cpu.h"
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

/* ---- Where a block is -------------------------------------------------- */

/* Bits of the code. */
typedef struct {
    uint64_t start, length;
} gcs_span;

/* 56 bytes of ones, then zeros: to keep the first i of 56 bytes, load from
 * 56 - i on. */
static const uint8_t gcs_keep[2 * GCS_RECORD_BLOCKS] = {
#define GCS_ONES 255, 255, 255, 255, 255, 255, 255, 255
    GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES, GCS_ONES,
#undef GCS_ONES
};

/* The sum of the first `count` of 56 bytes: two by two in lanes of 16 bits,
 * whose sum comes together in the highest. */
PLATFORM_INLINE uint64_t gcs_sum(const uint8_t *bytes, uint64_t count)
{
    const uint64_t even = UINT64_C(0x00FF00FF00FF00FF);
    const uint8_t *keep = gcs_keep + GCS_RECORD_BLOCKS - count;
    uint64_t lanes = 0;
    PLATFORM_UNROLL
    for (size_t i = 0; i < GCS_RECORD_BLOCKS; i += 8) {
        uint64_t word = image_u64(bytes, i) & image_u64(keep, i);
        lanes += (word & even) + (word >> 8 & even);
    }
    return lanes * UINT64_C(0x0001000100010001) >> 48;
}

PLATFORM_INLINE const uint8_t *gcs_record(const gcs_view *v, uint64_t block)
{
    return v->records + block / GCS_RECORD_BLOCKS * GCS_RECORD;
}

/* Where the block's code is, if the entries before it add up to `sum`;
 * nowhere, if the record says that it is beyond the end. */
PLATFORM_INLINE gcs_span gcs_span_at(const gcs_view *v, uint64_t block,
                                     uint64_t sum)
{
    const uint8_t *record = gcs_record(v, block);
    uint64_t slot = block % GCS_RECORD_BLOCKS;
    gcs_span span = {
        .start = image_u64(record, 0) + (sum + slot * v->least) * v->grain,
        .length = (record[8 + slot] + v->least) * v->grain,
    };
    bool inside = span.start <= v->bits && span.length <= v->bits - span.start;
    return inside ? span : (gcs_span){ 0, 0 };
}

PLATFORM_INLINE gcs_span gcs_locate(const gcs_view *v, uint64_t block)
{
    return gcs_span_at(v, block, gcs_sum(gcs_record(v, block) + 8,
                                         block % GCS_RECORD_BLOCKS));
}

/* ---- Decode ------------------------------------------------------------ */

/* 57 bits and more from a bit of the code on, lowest first. The 8 bytes may
 * reach into the last 8 of the payload, not beyond. */
PLATFORM_INLINE uint64_t gcs_window(const uint8_t *code, uint64_t at)
{
    return image_u64(code + (at >> 3), 0) >> (at & 7);
}

/* The numbers of a block, one after another. */
typedef struct {
    const uint8_t *code;
    uint64_t word, at, next;            /* quotients: 64 bits, where they
                                           begin, and the next ones          */
    uint64_t origin;                    /* where the next one bit would be if
                                           all quotients had been 0          */
    uint64_t rest;                      /* the remainders before this bit are
                                           still to come                     */
    uint64_t stop;                      /* the block's end                   */
    uint64_t low;                       /* the sum of remainders, and ones   */
    uint64_t mask;
    uint32_t k;
} gcs_reader;

PLATFORM_INLINE gcs_reader gcs_read(const gcs_view *v, gcs_span span)
{
    return (gcs_reader){
        .code = v->code, .at = span.start, .origin = span.start,
        .word = span.length > 0 ? gcs_window(v->code, span.start) : 0,
        .next = (span.start | 7) + 57,
        .stop = span.start + span.length, .rest = span.start + span.length,
        .mask = (UINT64_C(1) << v->k) - 1, .k = v->k,
    };
}

/* Returns where the next quotient ends: its one bit, or `stop` or more if there
 * is none. After the last quotient it finds the ones of remainders. */
PLATFORM_INLINE uint64_t gcs_next_one(gcs_reader *r)
{
    while (r->word == 0) {
        if (r->next >= r->stop)
            return r->stop;
        r->at = r->next;
        r->word = gcs_window(r->code, r->at);
        r->next += 64;
    }
    uint64_t one = r->at + platform_trailing_zeros(r->word);
    r->word &= r->word - 1;
    return one;
}

/* The block's next number; false at its end, which is where quotients and
 * remainders would run into one another. */
PLATFORM_INLINE bool gcs_next(gcs_reader *r, uint64_t *number)
{
    uint64_t one = gcs_next_one(r);
    if (one + 1 + r->k > r->rest)
        return false;
    r->rest -= r->k;
    r->low += gcs_window(r->code, r->rest) & r->mask;
    *number = ((one - r->origin) << r->k) + r->low;
    r->origin++;
    r->low++;
    return true;
}

PLATFORM_INLINE bool gcs_find(const gcs_view *v, gcs_span span,
                              uint64_t wanted)
{
    gcs_reader r = gcs_read(v, span);
    uint64_t number = 0;
    while (gcs_next(&r, &number))
        if (number >= wanted)
            return number == wanted;
    return false;
}

/* ---- Batches ----------------------------------------------------------- */

/* The most keys whose index lines are prefetched, and as many whose blocks are;
 * the keys answered together; and the lines of a block that are prefetched
 * whatever its length. */
enum { GCS_AHEAD = 64, GCS_TRIPS = 2 * GCS_AHEAD, GCS_LINES = 4 };

/* A key on its way: its block, then where that is; and its number. */
typedef struct {
    uint64_t block;
    gcs_span span;
    uint64_t wanted;
} gcs_trip;

PLATFORM_INLINE void gcs_prefetch_index(const gcs_view *v, gcs_trip *trip,
                                        uint64_t hash)
{
    uint64_t mixed = gcs_mix(v, hash);
    trip->block = gcs_block_of(v, mixed);
    trip->wanted = gcs_number_of(v, mixed);
    platform_prefetch(gcs_record(v, trip->block));
}

PLATFORM_INLINE void gcs_prefetch_block(const gcs_view *v, const gcs_trip *trip)
{
    const uint8_t *first = v->code + (trip->span.start >> 3);
    uint64_t last = trip->span.length >> 3, at = 0;
    PLATFORM_UNROLL
    for (; at < GCS_LINES * 64; at += 64)
        platform_prefetch(first + (at < last ? at : last));
    for (; at < last + 64; at += 64)
        platform_prefetch(first + (at < last ? at : last));
}

/* Three stages of a key follow each other some keys later; `answer` is the
 * statement for the last one, of key number `key` with its `trip`. */
#define GCS_ROLL(view, hashes, n, locate, answer)                              \
    do {                                                                       \
        gcs_trip ring[GCS_TRIPS];                                              \
        const size_t ahead = cpu_ahead(GCS_AHEAD, GCS_AHEAD,                   \
                                       (view).bits / 8);                       \
        for (size_t i = 0; i < (n) + 2 * ahead; i++) {                         \
            gcs_trip *trip;                                                    \
            if (i >= 2 * ahead) {                                              \
                const size_t key = i - 2 * ahead;                              \
                trip = &ring[key % GCS_TRIPS];                                 \
                answer;                                                        \
            }                                                                  \
            if (i < (n))                                                       \
                gcs_prefetch_index(&(view), &ring[i % GCS_TRIPS],              \
                                   (hashes)[i]);                               \
            if (i < ahead || i - ahead >= (n))                                 \
                continue;                                                      \
            trip = &ring[(i - ahead) % GCS_TRIPS];                             \
            trip->span = locate(&(view), trip->block);                         \
            gcs_prefetch_block(&(view), trip);                                 \
        }                                                                      \
    } while (0)

/* ---- Look up ----------------------------------------------------------- */

/* Slots of the kind, for an image that was checked. */
bool gcs_contains(const void *image, uint64_t hash);
kind_contains *gcs_contains_here(const void **subject, void *view);
void gcs_contains_many(const void *image, const uint64_t *hashes, size_t n,
                       bool *present);

#if CPU_X86
bool gcs_one_avx2(const void *view, uint64_t hash);
void gcs_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                       bool *present);
#endif

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
