/* golomb.h - shared by the files of kind `golomb`: pages, buckets, codes.
 *
 * golomb.c has the essay, plans, checks and looks inside; golomb_look.c looks
 * keys up; golomb_move.c shifts the bits of a page; golomb_change.c adds and
 * removes keys; golomb_pairs.c works on two filters.
 */
#ifndef BLY_KINDS_REMOVABLE_GOLOMB_GOLOMB_H
#define BLY_KINDS_REMOVABLE_GOLOMB_GOLOMB_H

#include "image/abilities.h"
#include "bits/bits.h"

enum {
    GOLOMB_VERSION = 1,
    GOLOMB_RANGE = 0, GOLOMB_SHAPE = 1, GOLOMB_BYTES = 2, GOLOMB_BUCKETS = 3,
    GOLOMB_K_MAX = 44,                  /* so that no gap of a page, and none
                                           with a value before, is 2^64      */
    GOLOMB_STEPS_MAX = 16,              /* w - k                             */
    GOLOMB_BUCKETS_MIN = 2, GOLOMB_BUCKETS_MAX = 65535,
    GOLOMB_PAGE_MAX = 65536,
    GOLOMB_TAIL = 16                    /* a read of 16 bytes may begin at
                                           any byte of a page                */
};

#define GOLOMB_RANGE_MAX (UINT64_C(1) << 60)
#define GOLOMB_TABLE_MAX (UINT64_C(1) << 48)    /* buckets of all pages      */

/* The fields of an image that the verbs need, read once. */
typedef struct {
    uint8_t *pages;
    uint64_t range;                     /* R                                 */
    uint64_t total;                     /* buckets of all pages              */
    uint64_t count, stride;             /* pages, and bytes of one           */
    uint64_t buckets, inverse;          /* of a page; 2^64 by that           */
    uint64_t code, room;                /* bits: where codes begin, how many */
    uint32_t width, k, entry;
} golomb_view;

/* A bit of a number so large: the width of an entry that may be `most`. */
static inline uint32_t golomb_entry(uint64_t most)
{
    uint32_t bits = 1;
    while (most >> bits != 0)
        bits++;
    return bits;
}

/* Buckets of 2^width values for all of R. */
static inline uint64_t golomb_total(uint64_t range, uint32_t width)
{
    return ((range - 1) >> width) + 1;
}

PLATFORM_INLINE golomb_view golomb_look(const void *image)
{
    uint64_t shape = image_geometry(image, GOLOMB_SHAPE);
    uint64_t bytes = image_geometry(image, GOLOMB_BYTES);
    golomb_view v = {
        .pages = image_payload_mut((void *)(uintptr_t)image),
        .range = image_geometry(image, GOLOMB_RANGE),
        .stride = bytes,
        .count = (image_payload_bytes(image) - GOLOMB_TAIL) / bytes,
        .buckets = image_geometry(image, GOLOMB_BUCKETS),
        .width = shape & 0xFF, .k = shape >> 8 & 0xFF,
        .entry = golomb_entry(8 * bytes),
    };
    v.total = golomb_total(v.range, v.width);
    v.inverse = UINT64_MAX / v.buckets + 1;
    v.code = v.buckets * v.entry;
    v.room = 8 * bytes - v.code;
    return v;
}

/* ---- Where a key is ---------------------------------------------------- */

/* A bucket's page and its number there; a value's place in the bucket. */
typedef struct {
    uint8_t *page;
    uint64_t bucket, x;
} golomb_place;

/* Multiplied, not divided: exact as long as bucket * buckets < 2^64. */
PLATFORM_INLINE golomb_place golomb_bucket(const golomb_view *v,
                                           uint64_t bucket)
{
    uint64_t page = platform_mul_high(bucket, v->inverse);
    return (golomb_place){ .page = v->pages + page * v->stride,
                           .bucket = bucket - page * v->buckets };
}

PLATFORM_INLINE uint64_t golomb_value(const golomb_view *v, uint64_t hash)
{
    return bits_range(hash, v->range);
}

PLATFORM_INLINE golomb_place golomb_place_of(const golomb_view *v,
                                             uint64_t value)
{
    golomb_place p = golomb_bucket(v, value >> v->width);
    p.x = value & ((UINT64_C(1) << v->width) - 1);
    return p;
}

/* ---- Bits of a page ---------------------------------------------------- */

/* 57 bits and more from this one on, the lowest first. */
PLATFORM_INLINE uint64_t golomb_bits(const uint8_t *page, uint64_t at)
{
    return image_u64(page + (at >> 3), 0) >> (at & 7);
}

PLATFORM_INLINE uint64_t golomb_low(uint32_t bits)
{
    return (UINT64_C(1) << bits) - 1;
}

/* Bits of a page: from here to there. */
typedef struct {
    uint64_t start, end;
} golomb_span;

/* Returns where the codes of a bucket end, from the first of the page. */
PLATFORM_INLINE uint64_t golomb_end(const golomb_view *v, const uint8_t *page,
                                    uint64_t bucket)
{
    return golomb_bits(page, bucket * v->entry) & golomb_low(v->entry);
}

PLATFORM_INLINE golomb_span golomb_span_as_is(const golomb_view *v,
                                              const uint8_t *page,
                                              uint64_t bucket)
{
    uint64_t before = bucket > 0 ? golomb_end(v, page, bucket - 1) : 0;
    return (golomb_span){ v->code + before,
                          v->code + golomb_end(v, page, bucket) };
}

PLATFORM_INLINE bool golomb_sound(const golomb_view *v, golomb_span span)
{
    return span.start <= span.end && span.end <= v->code + v->room;
}

/* Nothing, where the page does not say what it can mean. */
PLATFORM_INLINE golomb_span golomb_span_of(const golomb_view *v,
                                           const uint8_t *page,
                                           uint64_t bucket)
{
    golomb_span span = golomb_span_as_is(v, page, bucket);
    return golomb_sound(v, span) ? span : (golomb_span){ v->code, v->code };
}

/* Returns the end of the last code of a page. */
PLATFORM_INLINE uint64_t golomb_used(const golomb_view *v, const uint8_t *page)
{
    return v->code + golomb_end(v, page, v->buckets - 1);
}

/* ---- Codes, one after another ------------------------------------------ */

typedef struct {
    const uint8_t *page;
    uint64_t word, at;                  /* ones that were not read yet of the
                                           64 bits from `at` on              */
    uint64_t from;                      /* where the next quotient begins    */
    uint64_t rest;                      /* the remainders before this bit are
                                           still to come                     */
    uint64_t mask;
    uint32_t k;
} golomb_reader;

PLATFORM_INLINE void golomb_enter(golomb_reader *r, uint64_t from)
{
    r->from = from;
    r->at = from & ~UINT64_C(7);
    r->word = image_u64(r->page + (from >> 3), 0)
            & UINT64_MAX << (from & 7);
}

PLATFORM_INLINE golomb_reader golomb_read(const golomb_view *v,
                                          const uint8_t *page, golomb_span span)
{
    golomb_reader r = { .page = page, .rest = span.end, .k = v->k,
                        .mask = golomb_low(v->k) };
    golomb_enter(&r, span.start);
    return r;
}

/* The next one bit, which is `rest` or more where there is none. */
PLATFORM_INLINE uint64_t golomb_one(golomb_reader *r)
{
    while (r->word == 0) {
        r->at += 64;
        if (r->at >= r->rest)
            return r->rest;
        r->word = image_u64(r->page + (r->at >> 3), 0);
    }
    uint64_t one = r->at + platform_trailing_zeros(r->word);
    r->word &= r->word - 1;
    return one;
}

/* The next gap; false at the bucket's end, which is where quotients and
 * remainders would run into one another. */
PLATFORM_INLINE bool golomb_gap(golomb_reader *r, uint64_t *gap)
{
    uint64_t one = golomb_one(r);
    if (one + 1 + r->k > r->rest)
        return false;
    uint64_t steps = one - r->from;
    r->from = one + 1;
    r->rest -= r->k;
    *gap = steps << r->k | (golomb_bits(r->page, r->rest) & r->mask);
    return true;
}

/* Skips the count behind a gap of 0: as many zeros as there are bits behind the
 * one that ends them. Returns false if it does not end. */
PLATFORM_INLINE bool golomb_skip(golomb_reader *r)
{
    uint64_t one = golomb_one(r), zeros = one - r->from;
    if (one >= r->rest || zeros > 63 || one + 1 + zeros > r->rest)
        return false;
    golomb_enter(r, one + 1 + zeros);
    return true;
}

/* ---- Items: values and how often they are there ------------------------ */

/* The place where the code of the first value of x or more begins, or the
 * bucket ends; and the reader after that gap, if there is one. */
typedef struct {
    uint64_t from, rest;
    uint64_t before;                    /* the value before, 0 if none       */
    bool     later;                     /* is there one before?              */
    bool     some;                      /* is there one of x or more?        */
    uint64_t value;
    golomb_reader next;
} golomb_found;

/* The items of a bucket, one after another. */
typedef struct {
    golomb_reader reader;
    uint64_t value, count, most;
    bool     later;
} golomb_items;

golomb_items golomb_items_of(const golomb_view *v, const uint8_t *page,
                             uint64_t bucket);
bool golomb_item(golomb_items *items);

/* Bits of the gap of 0 and the number that make a value come so often. */
uint64_t golomb_count_bits(const golomb_view *v, uint64_t count);

/* Bits of a gap's quotient. */
PLATFORM_INLINE uint64_t golomb_gap_bits(const golomb_view *v, uint64_t gap)
{
    return (gap >> v->k) + 1;
}

/* Reads a count, as sized by golomb_count_bits(), if it is next: how often the
 * previous value is there; otherwise returns 1 and reads nothing. */
uint64_t golomb_count_of(golomb_reader *r);

golomb_found golomb_seek(const golomb_view *v, const uint8_t *page,
                         golomb_span span, uint64_t x);

/* A walk through all items of a filter. */
typedef struct {
    const golomb_view *view;
    golomb_items items;
    uint64_t bucket;                    /* the next to be looked at          */
    uint64_t value, count;
} golomb_walk;

golomb_walk golomb_first(const golomb_view *v);
bool golomb_next(golomb_walk *w);

/* ---- Look up ----------------------------------------------------------- */

bool golomb_contains(const void *image, uint64_t hash);
kind_contains *golomb_contains_here(const void **subject, void *view);
void golomb_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present);
uint64_t golomb_count(const void *image, uint64_t hash);
void golomb_count_many(const void *image, const uint64_t *hashes, size_t n,
                       uint64_t *counts);

/* The largest number of keys whose lines are prefetched ahead. */
enum { GOLOMB_AHEAD = 64 };

/* Prefetches the entry that says where a key's bucket is. */
PLATFORM_INLINE void golomb_prefetch(const golomb_view *v, golomb_place p)
{
    platform_prefetch(p.page + (p.bucket * v->entry >> 3));
}

/* Prefetches the bucket, and returns where it is. */
PLATFORM_INLINE golomb_span golomb_prefetch_codes(const golomb_view *v,
                                                  golomb_place p)
{
    golomb_span span = golomb_span_of(v, p.page, p.bucket);
    platform_prefetch(p.page + (span.start >> 3));
    platform_prefetch(p.page + (span.start >> 3) + 64);
    platform_prefetch(p.page + (span.end >> 3));
    return span;
}

/* A batch: entries are prefetched `ahead` keys before, buckets half of that.
 * `work` is the statement for hashes[i] and its place p, whose span may have
 * changed since. */
#define GOLOMB_ROLL(view, hashes, n, work)                                     \
    do {                                                                       \
        golomb_place golomb_ring[GOLOMB_AHEAD];                                \
        size_t golomb_far = cpu_ahead(n, GOLOMB_AHEAD,                         \
                                      (view).count * (view).stride);           \
        size_t golomb_near = golomb_far / 2;                                   \
        for (size_t t = 0; t < (n) + golomb_far; t++) {                        \
            if (t >= golomb_far) {                                             \
                size_t i = t - golomb_far;                                     \
                golomb_place p = golomb_ring[i % GOLOMB_AHEAD];                \
                work;                                                          \
            }                                                                  \
            if (t < (n)) {                                                     \
                golomb_place q = golomb_place_of(                              \
                    &(view), golomb_value(&(view), (hashes)[t]));              \
                golomb_ring[t % GOLOMB_AHEAD] = q;                             \
                golomb_prefetch(&(view), q);                                   \
            }                                                                  \
            if (t >= golomb_near && t - golomb_near < (n))                     \
                golomb_prefetch_codes(                                         \
                    &(view), golomb_ring[(t - golomb_near) % GOLOMB_AHEAD]);   \
        }                                                                      \
    } while (0)

/* ---- Change ------------------------------------------------------------ */

/* Move bits [from, to) of a page up or down by so many. They stay in the page;
 * the bits that they leave behind are undefined. */
void golomb_up(uint8_t *page, uint64_t from, uint64_t to, uint64_t by);
void golomb_down(uint8_t *page, uint64_t from, uint64_t to, uint64_t by);

/* Clear bits [from, to); write the low `bits`, 0 .. 57, of a value. Neither
 * touches a byte outside the page. */
void golomb_clear(uint8_t *page, uint64_t from, uint64_t to);
void golomb_put(uint8_t *page, uint64_t at, uint64_t value, uint32_t bits);

/* The ends of this and all later buckets of the page go up by so much, or down
 * where that is 2^64 - x. */
void golomb_move_ends(const golomb_view *v, uint8_t *page, uint64_t bucket,
                      uint64_t by);

bly_status golomb_add(void *image, uint64_t hash);
bly_status golomb_add_many(void *image, const uint64_t *hashes, size_t n,
                           size_t *done);
bly_status golomb_remove(void *image, uint64_t hash);
void golomb_remove_many(void *image, const uint64_t *hashes, size_t n,
                        bly_status *each);

/* A bucket's codes, and the end of the bits that move when it changes: the end
 * of the page's bits, or of its own. */
typedef struct {
    golomb_span span;
    uint64_t stop;
} golomb_codes;

/* Adds a value `count` times. Returns BLY_OK, BLY_SEEN or BLY_EFULL. The page's
 * table of ends stays as it is; *codes says what to change there. */
bly_status golomb_plus(const golomb_view *v, golomb_place p,
                       golomb_codes *codes, uint64_t count);

/* Writes a gap's quotient at *from and its remainder before *rest, and the code
 * for a previous value that occurs `count` times. The bits of quotients must be
 * clear. */
void golomb_write_gap(const golomb_view *v, uint8_t *page, uint64_t *from,
                      uint64_t *rest, uint64_t gap);
void golomb_write_count(const golomb_view *v, uint8_t *page, uint64_t *from,
                        uint64_t *rest, uint64_t count);

/* ---- Two filters ------------------------------------------------------- */

bly_status golomb_full(void);
bly_status golomb_unite(void *into, const void *other);
void golomb_overlap(bly_overlap_t *out, const void *a, const void *b);

/* Would what `from` holds fit into the pages of another shape? */
bool golomb_fits(const golomb_view *into, const golomb_view *from);
bly_status golomb_resize(void *into, const void *image);

#endif /* BLY_KINDS_REMOVABLE_GOLOMB_GOLOMB_H */
