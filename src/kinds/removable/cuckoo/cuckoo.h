/* cuckoo.h - shared by the files of kind `cuckoo`: quads, buckets, and keys
 * that are being moved.
 *
 * cuckoo.c has the essay, plans, checks and resizes; cuckoo_look.c and
 * cuckoo_avx2.c look keys up; cuckoo_change.c adds and removes them;
 * cuckoo_codes.c has the tables of sorted quads.
 */
#ifndef BLY_KINDS_REMOVABLE_CUCKOO_CUCKOO_H
#define BLY_KINDS_REMOVABLE_CUCKOO_CUCKOO_H

#include "base/cpu.h"
#include "image/abilities.h"
#include "bits/bits.h"
#include "bits/hash.h"

enum {
    CUCKOO_VERSION = 1,
    CUCKOO_BUCKETS = 0, CUCKOO_F = 1, CUCKOO_SORTED = 2, CUCKOO_QUADS = 3,
    CUCKOO_SLOTS = 4,                   /* of a quad                         */
    CUCKOO_QUADS_MAX = 64,              /* of a bucket                       */
    CUCKOO_F_LEAST = 6, CUCKOO_F_MOST = 32,
    CUCKOO_NARROW = 16,                 /* nibbles that fit a 64-bit word    */
    CUCKOO_PREFIX = 4,                  /* bits of a fingerprint, sorted     */
    CUCKOO_CODE = 12,                   /* bits of four sorted prefixes      */
    CUCKOO_END = 16                     /* bytes behind the last quad        */
};

#define CUCKOO_BUCKETS_MAX (UINT64_C(1) << 48)

/* ---- Four sorted prefixes in 12 bits ----------------------------------- */

/* The 3876 ways to choose a <= b <= c <= d from 0 .. 15, in lexicographic
 * order, a in the low four bits and d in the high ones. Codes from 3876 on are
 * no quad: they read as four zeros. (And two entries more, because vector
 * instructions read four bytes at a time.) It is read for every key, so its
 * address must not be looked up: PLATFORM_HIDDEN. */
PLATFORM_HIDDEN extern const uint16_t cuckoo_prefixes[(1 << CUCKOO_CODE) + 2];

/* The number of combinations before a, before b after a given a, and so on,
 * from the end: with x = 15 - a, (x+3 over 4); (x+2 over 3); (x+1 over 2). */
PLATFORM_HIDDEN extern const uint16_t cuckoo_after[3][16];

/* The code of a <= b <= c <= d. */
PLATFORM_INLINE uint32_t cuckoo_code(uint32_t a, uint32_t b, uint32_t c,
                                     uint32_t d)
{
    return 3875u - cuckoo_after[0][a] - cuckoo_after[1][b]
         - cuckoo_after[2][c] - (15 - d);
}

/* ---- Quads ------------------------------------------------------------- */

/* The fields of an image that the verbs need, read once. */
typedef struct {
    uint8_t *payload;
    uint64_t buckets, quads;            /* quads: of a bucket                */
    uint32_t f, nibbles;                /* nibbles: of a quad                */
    bool     sorted;
} cuckoo_view;

/* Returns the bytes of the table. */
PLATFORM_INLINE uint64_t cuckoo_bytes(const cuckoo_view *v)
{
    return v->buckets * v->quads / 2 * v->nibbles;
}

/* Sorting saves four bits of a quad. */
PLATFORM_INLINE uint32_t cuckoo_nibbles(uint32_t f, bool sorted)
{
    return f - sorted;
}

PLATFORM_INLINE cuckoo_view cuckoo_look(const void *image)
{
    cuckoo_view v = {
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .buckets = image_geometry(image, CUCKOO_BUCKETS),
        .quads = image_geometry(image, CUCKOO_QUADS),
        .f = (uint32_t)image_geometry(image, CUCKOO_F),
        .sorted = image_geometry(image, CUCKOO_SORTED) != 0,
    };
    v.nibbles = cuckoo_nibbles(v.f, v.sorted);
    return v;
}

/* The first byte of a quad. */
PLATFORM_INLINE uint8_t *cuckoo_at(const cuckoo_view *v, uint64_t quad)
{
    return v->payload + (quad * v->nibbles >> 1);
}

/* Returns by how many bits the quad begins after that byte: 0 or 4. */
PLATFORM_INLINE uint32_t cuckoo_shift(const cuckoo_view *v, uint64_t quad)
{
    return (uint32_t)(quad * v->nibbles & 1) * 4;
}

/* A quad in the low ones of 128 bits. Where it is `narrow` all of it is in
 * `low`, and `high` does not matter. */
typedef struct { uint64_t low, high; } cuckoo_bits;

PLATFORM_INLINE bool cuckoo_narrow(const cuckoo_view *v)
{
    return v->nibbles <= CUCKOO_NARROW;
}

/* The `width` <= 32 bits from `at` on. */
PLATFORM_INLINE uint32_t cuckoo_cut(cuckoo_bits b, uint32_t at, uint32_t width,
                                    bool narrow)
{
    uint64_t from = narrow || at == 0 ? b.low >> at
                  : at < 64 ? b.low >> at | b.high << (64 - at)
                            : b.high >> (at - 64);
    return (uint32_t)(from & bits_mask(width));
}

/* Set the bits from `at` on, which are clear. */
PLATFORM_INLINE void cuckoo_paste(cuckoo_bits *b, uint32_t at, uint64_t value,
                                  bool narrow)
{
    if (narrow || at < 64)
        b->low |= value << at;
    if (!narrow && at >= 64)
        b->high |= value << (at - 64);
    else if (!narrow && at > 0)
        b->high |= value >> (64 - at);
}

/* Four fingerprints; 0 where there is none. */
typedef struct { uint32_t slot[CUCKOO_SLOTS]; } cuckoo_quad;

PLATFORM_INLINE cuckoo_quad cuckoo_unpack(const cuckoo_view *v, cuckoo_bits b,
                                          bool narrow)
{
    cuckoo_quad q;
    uint32_t rest = v->f - CUCKOO_PREFIX;
    uint32_t prefixes = cuckoo_prefixes[b.low & bits_mask(CUCKOO_CODE)];
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < CUCKOO_SLOTS; i++)
        q.slot[i] = !v->sorted ? cuckoo_cut(b, i * v->f, v->f, narrow)
            : cuckoo_cut(b, CUCKOO_CODE + i * rest, rest, narrow)
              | (prefixes >> CUCKOO_PREFIX * i & 15) << rest;
    return q;
}

PLATFORM_INLINE cuckoo_quad cuckoo_read(const cuckoo_view *v, uint64_t quad)
{
    const uint8_t *at = cuckoo_at(v, quad);
    uint32_t shift = cuckoo_shift(v, quad);
    cuckoo_bits b = { image_u64(at, 0) >> shift, 0 };
    if (cuckoo_narrow(v))
        return cuckoo_unpack(v, b, true);
    uint64_t high = image_u64(at, 8);
    b.low |= shift != 0 ? high << 60 : 0;
    b.high = high >> shift;
    return cuckoo_unpack(v, b, false);
}

PLATFORM_INLINE void cuckoo_order(uint32_t *a, uint32_t *b)
{
    uint32_t low = *a < *b ? *a : *b;
    *b ^= *a ^ low;
    *a = low;
}

/* Sorts a quad, so that its contents have only one representation. */
PLATFORM_INLINE void cuckoo_sort(cuckoo_quad *q)
{
    cuckoo_order(&q->slot[0], &q->slot[1]);
    cuckoo_order(&q->slot[2], &q->slot[3]);
    cuckoo_order(&q->slot[0], &q->slot[2]);
    cuckoo_order(&q->slot[1], &q->slot[3]);
    cuckoo_order(&q->slot[1], &q->slot[2]);
}

PLATFORM_INLINE cuckoo_bits cuckoo_pack(const cuckoo_view *v, cuckoo_quad q,
                                        bool narrow)
{
    cuckoo_bits b = { 0, 0 };
    uint32_t rest = v->f - CUCKOO_PREFIX;
    if (!v->sorted) {
        PLATFORM_UNROLL
        for (uint32_t i = 0; i < CUCKOO_SLOTS; i++)
            cuckoo_paste(&b, i * v->f, q.slot[i], narrow);
        return b;
    }
    cuckoo_sort(&q);
    b.low = cuckoo_code(q.slot[0] >> rest, q.slot[1] >> rest,
                        q.slot[2] >> rest, q.slot[3] >> rest);
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < CUCKOO_SLOTS; i++)
        cuckoo_paste(&b, CUCKOO_CODE + i * rest,
                     q.slot[i] & bits_mask(rest), narrow);
    return b;
}

/* Replaces the bits of 64 that `mask` selects with `bits`. */
PLATFORM_INLINE void cuckoo_put(uint8_t *at, uint64_t mask, uint64_t bits)
{
    image_set_u64(at, 0, (image_u64(at, 0) & ~mask) | bits);
}

PLATFORM_INLINE void cuckoo_write(const cuckoo_view *v, uint64_t quad,
                                  cuckoo_quad q)
{
    uint8_t *at = cuckoo_at(v, quad);
    uint32_t shift = cuckoo_shift(v, quad), width = v->nibbles * 4;
    if (cuckoo_narrow(v)) {
        cuckoo_put(at, bits_mask(width) << shift,
                   cuckoo_pack(v, q, true).low << shift);
        return;
    }
    cuckoo_bits b = cuckoo_pack(v, q, false);
    uint64_t over = shift != 0 ? b.low >> 60 : 0;
    cuckoo_put(at, UINT64_MAX << shift, b.low << shift);
    cuckoo_put(at + 8, bits_mask(width - 64 + shift),
               b.high << shift | over);
}

/* Returns how often `fp` is there or, for 0, how many slots are free. */
PLATFORM_INLINE uint32_t cuckoo_copies(cuckoo_quad q, uint32_t fp)
{
    uint32_t copies = 0;
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < CUCKOO_SLOTS; i++)
        copies += q.slot[i] == fp;
    return copies;
}

/* ---- Buckets ----------------------------------------------------------- */

PLATFORM_INLINE uint64_t cuckoo_copies_in(const cuckoo_view *v,
                                          uint64_t bucket, uint32_t fp)
{
    uint64_t copies = 0, first = bucket * v->quads;
    for (uint64_t i = 0; i < v->quads; i++)
        copies += cuckoo_copies(cuckoo_read(v, first + i), fp);
    return copies;
}

/* Replaces one `old` with `fp`; returns whether there was one. Branchless,
 * because the slot is unpredictable. */
PLATFORM_INLINE bool cuckoo_replace(cuckoo_quad *q, uint32_t old, uint32_t fp)
{
    uint32_t left = 1;
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < CUCKOO_SLOTS; i++) {
        uint32_t hit = left & (q->slot[i] == old);
        q->slot[i] ^= (old ^ fp) & (0 - hit);
        left -= hit;
    }
    return left == 0;
}

/* Replaces a fingerprint in a bucket. 0 is the fingerprint of a free slot. */
PLATFORM_INLINE bool cuckoo_swap(const cuckoo_view *v, uint64_t bucket,
                                 uint32_t old, uint32_t fp)
{
    uint64_t first = bucket * v->quads;
    for (uint64_t i = 0; i < v->quads; i++) {
        cuckoo_quad q = cuckoo_read(v, first + i);
        if (cuckoo_replace(&q, old, fp)) {
            cuckoo_write(v, first + i, q);
            return true;
        }
    }
    return false;
}

/* A fingerprint and its two buckets. */
typedef struct {
    uint64_t one, other;
    uint32_t fp;
} cuckoo_key;

/* The other bucket of a fingerprint, from either of them: both together make
 * an odd number that depends on the fingerprint alone, modulo the number of
 * buckets, which is even. So one is even and one odd. */
PLATFORM_INLINE uint64_t cuckoo_other(const cuckoo_view *v, uint64_t bucket,
                                      uint32_t fp)
{
    uint64_t mixed = hash_spread(fp * HASH_STEP);
    uint64_t other = 2 * bits_range(mixed, v->buckets / 2) + 1 - bucket;
    return other + (v->buckets & (0 - (other >> 63)));
}

PLATFORM_INLINE cuckoo_key cuckoo_key_of(const cuckoo_view *v, uint64_t hash)
{
    uint64_t state = hash_spread(hash);
    uint64_t fp = (hash_spread(state) >> 32) * bits_mask(v->f) >> 32;
    cuckoo_key key = { .one = bits_range(state, v->buckets),
                       .fp = 1 + (uint32_t)fp };
    key.other = cuckoo_other(v, key.one, key.fp);
    return key;
}

PLATFORM_INLINE uint64_t cuckoo_count_key(const cuckoo_view *v, cuckoo_key key)
{
    return cuckoo_copies_in(v, key.one, key.fp)
         + cuckoo_copies_in(v, key.other, key.fp);
}

/* ---- Four slots at a time ---------------------------------------------- */

/* The way to compare a filter's buckets. One quad of up to 64 bits, which
 * nearly every filter has, is compared as one word, all slots at once. */
typedef enum { CUCKOO_PLAIN, CUCKOO_CODED, CUCKOO_ANY } cuckoo_form;

PLATFORM_INLINE cuckoo_form cuckoo_form_of(const cuckoo_view *v)
{
    return v->quads > 1 || v->nibbles > CUCKOO_NARROW ? CUCKOO_ANY
         : v->sorted ? CUCKOO_CODED : CUCKOO_PLAIN;
}

/* Returns a word with the bucket in its low bits. The bits above are undefined.
 * */
PLATFORM_INLINE uint64_t cuckoo_word(const cuckoo_view *v, uint64_t bucket)
{
    return image_u64(cuckoo_at(v, bucket), 0) >> cuckoo_shift(v, bucket);
}

/* 1 in each of four lanes of `width` <= 16 bits. */
PLATFORM_INLINE uint64_t cuckoo_lanes(uint32_t width)
{
    return (UINT64_C(1) | UINT64_C(1) << width)
         * (UINT64_C(1) | UINT64_C(1) << 2 * width);
}

/* The highest bit of each lane that is zero, of the lanes whose lowest bits are
 * `ones`. Adding all ones but the highest carries into the highest from any
 * lower bit, and never beyond it. */
PLATFORM_INLINE uint64_t cuckoo_zero_of(uint64_t word, uint64_t ones,
                                        uint32_t width)
{
    uint64_t high = ones << (width - 1), low = high - ones;
    return ~(((word & low) + low) | word) & high;
}

PLATFORM_INLINE uint64_t cuckoo_zero_lanes(uint64_t word, uint32_t width)
{
    return cuckoo_zero_of(word, cuckoo_lanes(width), width);
}

/* Returns the place of the first slot's bit in a match. */
PLATFORM_INLINE uint32_t cuckoo_lowest(const cuckoo_view *v, cuckoo_form form)
{
    return form == CUCKOO_PLAIN ? v->f - 1 : 0;
}

/* Returns a bit for each slot of the word that holds `fp`, 0 for free ones: the
 * highest bit of a slot in a plain word, the lowest bit of its end in a coded
 * one. */
PLATFORM_INLINE uint64_t cuckoo_match(const cuckoo_view *v, uint64_t word,
                                      uint32_t fp, cuckoo_form form)
{
    if (form == CUCKOO_PLAIN)
        return cuckoo_zero_lanes(word ^ fp * cuckoo_lanes(v->f), v->f);
    uint32_t rest = v->f - CUCKOO_PREFIX;
    uint64_t ends = (word >> CUCKOO_CODE)
                  ^ (fp & bits_mask(rest)) * cuckoo_lanes(rest);
    uint64_t prefixes = cuckoo_prefixes[word & bits_mask(CUCKOO_CODE)]
                      ^ (fp >> rest) * 0x1111u;
    uint64_t p = cuckoo_zero_lanes(prefixes, CUCKOO_PREFIX) >> 3;
    uint64_t there = (p & 1) | (p >> 4 & 1) << rest | (p >> 8 & 1) << 2 * rest
                   | (p >> 12) << 3 * rest;
    return cuckoo_zero_lanes(ends, rest) >> (rest - 1) & there;
}

/* Returns how many slots a match names: a product adds all lanes up in the
 * last. */
PLATFORM_INLINE uint64_t cuckoo_number(const cuckoo_view *v, uint64_t match,
                                       cuckoo_form form)
{
    uint32_t width = form == CUCKOO_PLAIN ? v->f : v->f - CUCKOO_PREFIX;
    return (match >> cuckoo_lowest(v, form)) * cuckoo_lanes(width)
           >> 3 * width & 7;
}

/* Looks up a key in a filter of plain or coded words. Branchless: both buckets
 * are being fetched, and which one has the key is unpredictable. */
PLATFORM_INLINE bool cuckoo_test(const cuckoo_view *v, cuckoo_key key,
                                 cuckoo_form form)
{
    return (cuckoo_match(v, cuckoo_word(v, key.one), key.fp, form)
          | cuckoo_match(v, cuckoo_word(v, key.other), key.fp, form)) != 0;
}

PLATFORM_INLINE bool cuckoo_full(const cuckoo_view *v, uint64_t bucket,
                                 cuckoo_form form)
{
    if (form == CUCKOO_ANY)
        return cuckoo_copies_in(v, bucket, 0) == 0;
    return cuckoo_match(v, cuckoo_word(v, bucket), 0, form) == 0;
}

/* Returns whether the table is outside the core's own cache. */
PLATFORM_INLINE bool cuckoo_far(const cuckoo_view *v)
{
    return cuckoo_bytes(v) > cpu_near();
}

/* ---- Batches ----------------------------------------------------------- */

/* The keys on their way, at most. */
enum { CUCKOO_RING = 128 };
typedef struct { cuckoo_key key[CUCKOO_RING]; } cuckoo_ring;

PLATFORM_INLINE void cuckoo_prefetch_bucket(const cuckoo_view *v,
                                            uint64_t bucket, bool write)
{
    const uint8_t *at = cuckoo_at(v, bucket * v->quads);
    const uint8_t *end = at + (v->quads * v->nibbles >> 1);
    if (write) {
        platform_prefetch_write(at);
        platform_prefetch_write(end);
    } else {
        platform_prefetch(at);
        platform_prefetch(end);
    }
}

/* Prefetches the other buckets of the fingerprints in a bucket's first quads.
 */
PLATFORM_INLINE void cuckoo_prefetch_others(const cuckoo_view *v,
                                            uint64_t bucket, uint64_t quads)
{
    for (uint64_t i = 0; i < quads; i++) {
        cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
        for (uint32_t j = 0; j < CUCKOO_SLOTS; j++)
            cuckoo_prefetch_bucket(v, cuckoo_other(v, bucket, q.slot[j]), true);
    }
}

PLATFORM_INLINE void cuckoo_prefetch(const cuckoo_view *v, cuckoo_ring *ring,
                                     size_t i, uint64_t hash, bool write)
{
    cuckoo_key key = cuckoo_key_of(v, hash);
    cuckoo_prefetch_bucket(v, key.one, write);
    cuckoo_prefetch_bucket(v, key.other, write);
    ring->key[i % CUCKOO_RING] = key;
}

/* A batch that runs some keys behind its prefetches. `work` is the
 * statement for hashes[i] with its `key`. */
#define CUCKOO_EACH(ring, from, to, work, next)                                \
    for (size_t i = (from); i < (to); i++) {                                   \
        cuckoo_key key = (ring).key[i % CUCKOO_RING];                          \
        work;                                                                  \
        next;                                                                  \
    }

#define CUCKOO_ROLL(v, hashes, n, write, work)                                 \
    do {                                                                       \
        cuckoo_ring ring;                                                      \
        size_t ahead = cpu_ahead(n, CUCKOO_RING, cuckoo_bytes(v));             \
        for (size_t i = 0; i < ahead; i++)                                     \
            cuckoo_prefetch(v, &ring, i, (hashes)[i], write);                  \
        CUCKOO_EACH(ring, 0, (n) - ahead, work,                                \
            cuckoo_prefetch(v, &ring, i + ahead, (hashes)[i + ahead], write))  \
        CUCKOO_EACH(ring, (n) - ahead, n, work, (void)0)                       \
    } while (0)

/* ---- Slots of the kind -------------------------------------------------- */

#if CPU_X86
/* Returns how many of the keys were looked up: all but the last three, or none
 * in a filter of another form. */
size_t cuckoo_contains_avx2(const cuckoo_view *v, const uint64_t *hashes,
                            size_t n, bool *present);
#endif

bool cuckoo_contains(const void *image, uint64_t hash);
kind_contains *cuckoo_contains_here(const void **subject, void *view);
void cuckoo_inline(void *view, const void *image);
void cuckoo_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present);
uint64_t cuckoo_count(const void *image, uint64_t hash);
void cuckoo_count_many(const void *image, const uint64_t *hashes, size_t n,
                       uint64_t *counts);

bly_status cuckoo_add(void *image, uint64_t hash);
bly_status cuckoo_add_many(void *image, const uint64_t *hashes, size_t n,
                           size_t *done);
bly_status cuckoo_remove(void *image, uint64_t hash);
void cuckoo_remove_many(void *image, const uint64_t *hashes, size_t n,
                        bly_status *each);

#endif /* BLY_KINDS_REMOVABLE_CUCKOO_CUCKOO_H */
