/* cuckoo.c - fingerprints that can be taken out again, in two possible places.
 *
 * WHAT IT IS
 *
 * A hash table of fingerprints. A key has a fingerprint of f bits and two
 * buckets of four slots; its fingerprint is in one of the eight. When all are
 * taken, one of the eight goes over to its own other bucket to make room, and
 * if that is full too, one of those, and so on. The other bucket follows from
 * the bucket and the fingerprint alone, so a fingerprint can move without its
 * key. To remove a key is to clear one slot that holds its fingerprint: two
 * keys that share fingerprint and buckets are one to the filter, whichever of
 * the two equal copies goes.
 *
 * THE PICTURE (a key x with fingerprint 7 and buckets 1 and 4)
 *
 *      bucket       0         1         2         3         4         5
 *              | 3 . . . | 5 9 2 8 | 6 . . . | 1 4 . . | 7 2 . . | . . . . |
 *                            ^                           ^
 *      x --------------------+---------------------------+
 *
 *      A foreign key with buckets 1 and 4 and fingerprint 7 is a false
 *      positive. One with fingerprint 5 and the buckets 1 and 2 finds the 5.
 *
 * IMAGE
 *
 *      geometry 0   buckets, even, 2 .. 2^48
 *      geometry 1   f, bits of a fingerprint, 6 .. 32
 *      geometry 2   1 with sorted quads, else 0
 *      geometry 3   quads of a bucket, 1 .. 64: 1 in a filter not yet grown
 *      payload      the quads of bucket 0, those of bucket 1, …, each 4f bits,
 *                   4f - 4 if sorted, without gaps, bits numbered as in
 *                   tools/bits.h; then zeros up to the next byte; then 16 bytes
 *                   of zeros, so that any quad can be read as 16 bytes
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has that size.
 *
 * A plain quad is four fingerprints of f bits, 0 for a free slot. A sorted one
 * is the four in rising order: 12 bits that say which highest four bits they
 * have, one of 3876 multisets, then the f - 4 low bits of each. That is one bit
 * less for each. The 3876 are numbered in lexicographic order: 0 0 0 0 is 0,
 * 1 2 3 4 is 951, 15 15 15 15 is 3875; a number beyond counts as 0.
 *
 * PROBES
 *
 * With s the hash, spread, and B the number of buckets, the first bucket i is
 * the high half of s * B. With g the high 32 bits of s spread once more, the
 * fingerprint is 1 + the high half of g * (2^f - 1), so that all numbers of f
 * bits but 0 are met alike. The other bucket is
 *
 *      H - i modulo B,  H an odd number in [0, B) from the fingerprint
 *
 * and the other of that is i again. B need not be a power of two, as it must
 * where the two are joined by an exclusive or. It is even: so with an odd H one
 * of the two is even, one is odd, and they are never the same.
 *
 * MATHS
 *
 * A foreign key is found just if a key in the filter has the same fingerprint
 * and the same two buckets: wherever that key's fingerprint is now, all eight
 * slots are compared. There are (2^f - 1) B / 2 such classes, all alike, so
 *
 *      F = 1 - (1 - 1/C)^n,  C = (2^f - 1) B / 2                         (1)
 *
 * exactly, at any load, however full single buckets are. (In the literature's
 * form, with load a, F is about 8a / 2^f.) The number D of classes taken is
 * that of balls in C bins: from it come the estimate of the keys,
 * -C ln(1 - D/C), the filter's own rate D/C, and, with l = n/C, its deviation
 *
 *      e^-l sqrt((e^l - 1 - l) / C)                                      (2)
 *
 * LOAD. Large tables have 95 slots of 100 taken at capacity. The first key is
 * refused at a load of 0.974 with 65 536 buckets (40 runs, deviation 0.0007):
 * the search looks at 2000 buckets. With 500 it was 0.965, and falls by 0.004
 * for 16 times as many buckets. Small tables can fail for another reason: nine
 * keys of the same two buckets are one too many, and the chance of that grows
 * as n^9 over the number of pairs to the 8th. We take
 *
 *      n / 0.95 + 3 sqrt(n) + 40 slots, 8 for 7 keys and fewer
 *
 * with which no run of two million (9 and 20 keys), 500 000 (64), 30 000 (1000)
 * or 2000 (10 000 keys) failed, nor would have with 4 % more keys. A pair of
 * buckets has at most 2^f - 1 fingerprints to be joined by. At a given load the
 * chance that some nine keys meet is about
 *
 *      116 B / 2^8f                                                      (3)
 *
 * and must stay below 10^-9: hence f is at least 6 up to 2^10 buckets and one
 * more for every 2^8 times as many: with 10^8 keys it is 8, and a higher rate
 * than 2.9 % is no cheaper.
 *
 *      wanted rate   f    rate      plain    sorted    standard
 *      1 %          10    0.74 %    10.53     9.48       9.59
 *      0.1 %        13    0.093 %   13.69    12.63      14.38
 *      0.01 %       17    0.0058 %  17.90    16.84      19.17
 *      0.0001 %     23    9e-7      24.21    23.16      28.76
 *
 * in bits a key for 10^8 keys: f/a or (f-1)/a, a the load, and f is a whole
 * number: to ask for 0.75 % costs no more than 1 %.
 *
 * COPIES
 *
 * Every add stores a copy, also of a key that is there (BLY_SEEN). There are
 * eight slots for all copies of a key, so the ninth is BLY_EFULL. Copies also
 * fill the table unevenly: of keys added twice each, 83 to 87 % of the slots
 * can be taken, of keys added four times each 41 to 52 %. This kind is for
 * keys that are added once; `counting` and `quotient` are for those that come
 * often.
 *
 * ADD
 *
 * The emptier bucket takes the fingerprint. If both are full, a search goes
 * breadth first through the buckets where those in the way could go, until one
 * has a free slot; then the fingerprints on the way to it move, the last one
 * first. The way is a shortest one, so no bucket is on it twice, and a search
 * that fails has changed nothing. The walk at random that is usual here touches
 * one line after another, and has to be undone when it fails; the search asks
 * for several lines at once.
 *
 * GROWTH
 *
 * A filter grows by giving every bucket t quads for one. Where a key belongs
 * does not change, nor what can be told apart, so (1) holds on: t times the
 * keys have about t times the rate, and a lookup still goes to two places,
 * each t quads long. Tables of other sizes side by side, as are often chained,
 * are not safe to remove from: there two keys may be the same in one table and
 * not in the other, and the removal of one may take what belongs to the other.
 *
 * COST
 *
 * Two lines for any key, three at times where a quad lies across two. Measured
 * with f = 12 (12.6 bits, 0.185 %), in ns a key, on a machine where a random
 * line costs 2.4, portable in brackets:
 *
 *                          lookup        add to 90 %, to 95 %     remove
 *      500 000 keys        2.5 (5.8)          15    20               12
 *      the same, sorted    3.9 (12)           36    42               22
 *      20 million keys     5.5 (8.8)          28    38               14
 *
 * and lookups in 20 million sorted 7.7 (19).
 *
 * WHEN TO USE, WHEN NOT
 *
 * Where keys come once, leave again, and lookups must be few lines at a low
 * rate: from 0.4 % down it is smaller than a `standard` filter, sorted from
 * 1 %.
 * It says BLY_EFULL a little beyond its capacity, and two of them cannot be
 * united or compared: `quotient`, whose fingerprints are in order, can. `sorted`
 * is for where memory is dearer than time.
 *
 * PAPERS
 *
 *  [Fan 2014]     Cuckoo filter: practically better than Bloom, CoNEXT. The
 *                 filter, and semi-sorted buckets. There the other bucket is
 *                 the exclusive or, the buckets are a power of two, and the
 *                 moves are a walk at random.
 *  [Pagh 2001]    Cuckoo hashing, ESA.
 *  [Li 2014]      Algorithmic improvements for fast concurrent cuckoo hashing,
 *                 EuroSys. The search breadth first.
 */
#include "image/kind.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "tools/bits.h"
#include "tools/hash.h"

#if CPU_X86
#include <immintrin.h>
#endif

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

enum { CUCKOO_OPTION_F, CUCKOO_OPTION_SORTED };

static const char *const cuckoo_sorted[] = { "no", "yes", NULL };

static const kind_option cuckoo_options[] = {
    [CUCKOO_OPTION_F] = {
        .name = "f", .help = "bits of a fingerprint, instead of a rate",
        .least = CUCKOO_F_LEAST, .most = CUCKOO_F_MOST,
        .standard = KIND_CHOOSE,
    },
    [CUCKOO_OPTION_SORTED] = {
        .name = "sorted", .help = "sort the fingerprints by fours, which "
                                  "saves a bit of each",
        .choices = cuckoo_sorted, .standard = 0,
    },
    { .name = NULL },
};

/* ---- Four sorted prefixes in 12 bits ----------------------------------- */

/* The 3876 ways to choose a <= b <= c <= d from 0 .. 15, in lexicographic
 * order, a in the low four bits and d in the high ones. CUCKOO_A_0() writes
 * those of all a from 0 on, CUCKOO_B_3(p) those of all b from 3 on behind the
 * digits p. Codes from 3876 on are no quad: they read as four zeros. (And two
 * entries more, because vector instructions read four bytes at a time.) */
#define CUCKOO_D_15(p) (p) | 15 << 12,
#define CUCKOO_D_14(p) (p) | 14 << 12, CUCKOO_D_15(p)
#define CUCKOO_D_13(p) (p) | 13 << 12, CUCKOO_D_14(p)
#define CUCKOO_D_12(p) (p) | 12 << 12, CUCKOO_D_13(p)
#define CUCKOO_D_11(p) (p) | 11 << 12, CUCKOO_D_12(p)
#define CUCKOO_D_10(p) (p) | 10 << 12, CUCKOO_D_11(p)
#define CUCKOO_D_9(p)  (p) |  9 << 12, CUCKOO_D_10(p)
#define CUCKOO_D_8(p)  (p) |  8 << 12, CUCKOO_D_9(p)
#define CUCKOO_D_7(p)  (p) |  7 << 12, CUCKOO_D_8(p)
#define CUCKOO_D_6(p)  (p) |  6 << 12, CUCKOO_D_7(p)
#define CUCKOO_D_5(p)  (p) |  5 << 12, CUCKOO_D_6(p)
#define CUCKOO_D_4(p)  (p) |  4 << 12, CUCKOO_D_5(p)
#define CUCKOO_D_3(p)  (p) |  3 << 12, CUCKOO_D_4(p)
#define CUCKOO_D_2(p)  (p) |  2 << 12, CUCKOO_D_3(p)
#define CUCKOO_D_1(p)  (p) |  1 << 12, CUCKOO_D_2(p)
#define CUCKOO_D_0(p)  (p) |  0 << 12, CUCKOO_D_1(p)

#define CUCKOO_C_15(p) CUCKOO_D_15((p) | 15 << 8)
#define CUCKOO_C_14(p) CUCKOO_D_14((p) | 14 << 8) CUCKOO_C_15(p)
#define CUCKOO_C_13(p) CUCKOO_D_13((p) | 13 << 8) CUCKOO_C_14(p)
#define CUCKOO_C_12(p) CUCKOO_D_12((p) | 12 << 8) CUCKOO_C_13(p)
#define CUCKOO_C_11(p) CUCKOO_D_11((p) | 11 << 8) CUCKOO_C_12(p)
#define CUCKOO_C_10(p) CUCKOO_D_10((p) | 10 << 8) CUCKOO_C_11(p)
#define CUCKOO_C_9(p)  CUCKOO_D_9((p)  |  9 << 8) CUCKOO_C_10(p)
#define CUCKOO_C_8(p)  CUCKOO_D_8((p)  |  8 << 8) CUCKOO_C_9(p)
#define CUCKOO_C_7(p)  CUCKOO_D_7((p)  |  7 << 8) CUCKOO_C_8(p)
#define CUCKOO_C_6(p)  CUCKOO_D_6((p)  |  6 << 8) CUCKOO_C_7(p)
#define CUCKOO_C_5(p)  CUCKOO_D_5((p)  |  5 << 8) CUCKOO_C_6(p)
#define CUCKOO_C_4(p)  CUCKOO_D_4((p)  |  4 << 8) CUCKOO_C_5(p)
#define CUCKOO_C_3(p)  CUCKOO_D_3((p)  |  3 << 8) CUCKOO_C_4(p)
#define CUCKOO_C_2(p)  CUCKOO_D_2((p)  |  2 << 8) CUCKOO_C_3(p)
#define CUCKOO_C_1(p)  CUCKOO_D_1((p)  |  1 << 8) CUCKOO_C_2(p)
#define CUCKOO_C_0(p)  CUCKOO_D_0((p)  |  0 << 8) CUCKOO_C_1(p)

#define CUCKOO_B_15(p) CUCKOO_C_15((p) | 15 << 4)
#define CUCKOO_B_14(p) CUCKOO_C_14((p) | 14 << 4) CUCKOO_B_15(p)
#define CUCKOO_B_13(p) CUCKOO_C_13((p) | 13 << 4) CUCKOO_B_14(p)
#define CUCKOO_B_12(p) CUCKOO_C_12((p) | 12 << 4) CUCKOO_B_13(p)
#define CUCKOO_B_11(p) CUCKOO_C_11((p) | 11 << 4) CUCKOO_B_12(p)
#define CUCKOO_B_10(p) CUCKOO_C_10((p) | 10 << 4) CUCKOO_B_11(p)
#define CUCKOO_B_9(p)  CUCKOO_C_9((p)  |  9 << 4) CUCKOO_B_10(p)
#define CUCKOO_B_8(p)  CUCKOO_C_8((p)  |  8 << 4) CUCKOO_B_9(p)
#define CUCKOO_B_7(p)  CUCKOO_C_7((p)  |  7 << 4) CUCKOO_B_8(p)
#define CUCKOO_B_6(p)  CUCKOO_C_6((p)  |  6 << 4) CUCKOO_B_7(p)
#define CUCKOO_B_5(p)  CUCKOO_C_5((p)  |  5 << 4) CUCKOO_B_6(p)
#define CUCKOO_B_4(p)  CUCKOO_C_4((p)  |  4 << 4) CUCKOO_B_5(p)
#define CUCKOO_B_3(p)  CUCKOO_C_3((p)  |  3 << 4) CUCKOO_B_4(p)
#define CUCKOO_B_2(p)  CUCKOO_C_2((p)  |  2 << 4) CUCKOO_B_3(p)
#define CUCKOO_B_1(p)  CUCKOO_C_1((p)  |  1 << 4) CUCKOO_B_2(p)
#define CUCKOO_B_0(p)  CUCKOO_C_0((p)  |  0 << 4) CUCKOO_B_1(p)

static const uint16_t cuckoo_prefixes[(1 << CUCKOO_CODE) + 2] = {
    CUCKOO_B_0(0)   CUCKOO_B_1(1)   CUCKOO_B_2(2)   CUCKOO_B_3(3)
    CUCKOO_B_4(4)   CUCKOO_B_5(5)   CUCKOO_B_6(6)   CUCKOO_B_7(7)
    CUCKOO_B_8(8)   CUCKOO_B_9(9)   CUCKOO_B_10(10) CUCKOO_B_11(11)
    CUCKOO_B_12(12) CUCKOO_B_13(13) CUCKOO_B_14(14) CUCKOO_B_15(15)
};

/* How many ways come before a, before b behind a given a, and so on, counted
 * from the end: with x = 15 - a, (x+3 over 4); (x+2 over 3); (x+1 over 2). */
static const uint16_t cuckoo_after[3][16] = {
    { 3060, 2380, 1820, 1365, 1001, 715, 495, 330,
      210, 126, 70, 35, 15, 5, 1, 0 },
    { 680, 560, 455, 364, 286, 220, 165, 120, 84, 56, 35, 20, 10, 4, 1, 0 },
    { 120, 105, 91, 78, 66, 55, 45, 36, 28, 21, 15, 10, 6, 3, 1, 0 },
};

/* The code of a <= b <= c <= d. */
PLATFORM_INLINE uint32_t cuckoo_code(uint32_t a, uint32_t b, uint32_t c,
                                     uint32_t d)
{
    return 3875u - cuckoo_after[0][a] - cuckoo_after[1][b]
         - cuckoo_after[2][c] - (15 - d);
}

/* ---- Quads ------------------------------------------------------------- */

/* What the verbs need of the image, read once. */
typedef struct {
    uint8_t *payload;
    uint64_t buckets, quads;            /* quads: of a bucket                */
    uint32_t f, nibbles;                /* nibbles: of a quad                */
    bool     sorted;
} cuckoo_view;

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

/* By how many bits the quad begins later than that byte: 0 or 4. */
PLATFORM_INLINE uint32_t cuckoo_shift(const cuckoo_view *v, uint64_t quad)
{
    return (uint32_t)(quad * v->nibbles & 1) * 4;
}

/* The low `width` bits, 1 .. 64. */
PLATFORM_INLINE uint64_t cuckoo_mask(uint32_t width)
{
    return UINT64_MAX >> (64 - width);
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
    return (uint32_t)(from & cuckoo_mask(width));
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
    uint32_t prefixes = cuckoo_prefixes[b.low & cuckoo_mask(CUCKOO_CODE)];
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

/* In rising order: so what a sorted quad holds is written in one way only. */
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
                     q.slot[i] & cuckoo_mask(rest), narrow);
    return b;
}

/* Put `bits` of 64 in the place of those that `mask` names. */
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
        cuckoo_put(at, cuckoo_mask(width) << shift,
                   cuckoo_pack(v, q, true).low << shift);
        return;
    }
    cuckoo_bits b = cuckoo_pack(v, q, false);
    uint64_t over = shift != 0 ? b.low >> 60 : 0;
    cuckoo_put(at, UINT64_MAX << shift, b.low << shift);
    cuckoo_put(at + 8, cuckoo_mask(width - 64 + shift),
               b.high << shift | over);
}

/* How often `fp` is there; with 0, how many slots are free. */
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

/* Put `fp` in the place of one `old`; is there one? Which slot it is could not
 * be foreseen: so no branch. */
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

/* The same in a bucket. 0 is the fingerprint of a free slot. */
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
    uint64_t fp = (hash_spread(state) >> 32) * cuckoo_mask(v->f) >> 32;
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

/* How a filter's buckets are looked at. One quad of up to 64 bits, which is
 * nearly every filter, is compared as one word, all slots at once. */
typedef enum { CUCKOO_PLAIN, CUCKOO_CODED, CUCKOO_ANY } cuckoo_form;

PLATFORM_INLINE cuckoo_form cuckoo_form_of(const cuckoo_view *v)
{
    return v->quads > 1 || v->nibbles > CUCKOO_NARROW ? CUCKOO_ANY
         : v->sorted ? CUCKOO_CODED : CUCKOO_PLAIN;
}

/* A word with the bucket in its low bits; what is above does not matter. */
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

/* The highest bit of each lane that is zero. Adding all ones but the highest
 * carries into the highest from any lower bit, and never beyond it. */
PLATFORM_INLINE uint64_t cuckoo_zero_lanes(uint64_t word, uint32_t width)
{
    uint64_t ones = cuckoo_lanes(width), high = ones << (width - 1);
    uint64_t low = high - ones;
    return ~(((word & low) + low) | word) & high;
}

/* Where a match has the bit of the first slot. */
PLATFORM_INLINE uint32_t cuckoo_lowest(const cuckoo_view *v, cuckoo_form form)
{
    return form == CUCKOO_PLAIN ? v->f - 1 : 0;
}

/* One bit for each slot of the word that holds `fp`, 0 for free ones: in a
 * plain word the slot's highest, in a coded one the lowest of its end. */
PLATFORM_INLINE uint64_t cuckoo_match(const cuckoo_view *v, uint64_t word,
                                      uint32_t fp, cuckoo_form form)
{
    if (form == CUCKOO_PLAIN)
        return cuckoo_zero_lanes(word ^ fp * cuckoo_lanes(v->f), v->f);
    uint32_t rest = v->f - CUCKOO_PREFIX;
    uint64_t ends = (word >> CUCKOO_CODE)
                  ^ (fp & cuckoo_mask(rest)) * cuckoo_lanes(rest);
    uint64_t prefixes = cuckoo_prefixes[word & cuckoo_mask(CUCKOO_CODE)]
                      ^ (fp >> rest) * 0x1111u;
    uint64_t p = cuckoo_zero_lanes(prefixes, CUCKOO_PREFIX) >> 3;
    uint64_t there = (p & 1) | (p >> 4 & 1) << rest | (p >> 8 & 1) << 2 * rest
                   | (p >> 12) << 3 * rest;
    return cuckoo_zero_lanes(ends, rest) >> (rest - 1) & there;
}

/* How many slots a match names: a product adds all lanes up in the last. */
PLATFORM_INLINE uint64_t cuckoo_number(const cuckoo_view *v, uint64_t match,
                                       cuckoo_form form)
{
    uint32_t width = form == CUCKOO_PLAIN ? v->f : v->f - CUCKOO_PREFIX;
    return (match >> cuckoo_lowest(v, form)) * cuckoo_lanes(width)
           >> 3 * width & 7;
}

/* Is the key there? Without a branch: both buckets are on their way, and which
 * one has it could not be foreseen. */
PLATFORM_INLINE bool cuckoo_test(const cuckoo_view *v, cuckoo_key key,
                                 cuckoo_form form)
{
    if (form == CUCKOO_ANY)
        return cuckoo_count_key(v, key) != 0;
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

/* ---- Plan -------------------------------------------------------------- */

static const double CUCKOO_LOAD = 0.95; /* of a large table, at capacity     */

static uint64_t cuckoo_payload(const cuckoo_view *v)
{
    return (v->buckets * v->quads * v->nibbles + 1) / 2 + CUCKOO_END;
}

/* Pairs of buckets with a fingerprint: all that can be told apart. */
static double cuckoo_classes(const cuckoo_view *v)
{
    return (double)v->buckets / 2 * (double)cuckoo_mask(v->f);
}

/* The least f whose rate at CUCKOO_LOAD is `rate` and, (3), with which the
 * table can be filled; 33: there is none. */
static uint32_t cuckoo_best_f(uint64_t buckets, double rate)
{
    double kinds = -2 * CUCKOO_SLOTS * CUCKOO_LOAD / log1p(-rate);
    double f = ceil(log2(kinds + 1));
    double least = 5 + ceil((log2((double)buckets) - 2) / 8);
    return (uint32_t)fmin(fmax(fmax(f, least), CUCKOO_F_LEAST),
                          CUCKOO_F_MOST + 1);
}

/* Buckets for n keys; false if there are too many. */
static bool cuckoo_enough(uint64_t *buckets, uint64_t n)
{
    double slots = (double)n / CUCKOO_LOAD + 3 * sqrt((double)n) + 40;
    if (n < 2 * CUCKOO_SLOTS)
        slots = 2 * CUCKOO_SLOTS;
    double pairs = ceil(slots / (2 * CUCKOO_SLOTS));
    if (pairs > (double)CUCKOO_BUCKETS_MAX / 2)
        return false;
    *buckets = 2 * (uint64_t)pairs;
    return true;
}

/* Fill in a plan for n keys in a table of this shape. */
static bly_status cuckoo_plan_view(bly_plan_t *plan, const cuckoo_view *v,
                                   uint64_t n)
{
    bly_status status = kind_plan_bytes(plan, cuckoo_payload(v));
    if (status != BLY_OK)
        return status;
    double classes = cuckoo_classes(v), keys = (double)n;
    double absent = keys * log1p(-1 / classes);
    double nibbles = (double)(v->quads * v->nibbles);
    double lines = ceil((double)plan->bytes / 64) - 2;
    plan->capacity = n;
    plan->rate = -expm1(absent);
    plan->rate_sd = exp(absent) * sqrt((expm1(-absent) + absent) / classes);
    plan->fill = keys / (double)(v->buckets * v->quads * CUCKOO_SLOTS);
    plan->probes = 2;
    plan->lines_present = fmin(2 + 2 * (nibbles - 1) / 128, lines);
    plan->lines_absent = plan->lines_present;
    plan->geometry[CUCKOO_BUCKETS] = v->buckets;
    plan->geometry[CUCKOO_F] = v->f;
    plan->geometry[CUCKOO_SORTED] = v->sorted;
    plan->geometry[CUCKOO_QUADS] = v->quads;
    return BLY_OK;
}

static unsigned cuckoo_way(const bly_plan_t *plan)
{
    bool sorted = plan->geometry[CUCKOO_SORTED] != 0;
    cuckoo_view v = {
        .quads = plan->geometry[CUCKOO_QUADS], .sorted = sorted,
        .nibbles = cuckoo_nibbles((uint32_t)plan->geometry[CUCKOO_F], sorted),
    };
    return cuckoo_form_of(&v);
}

static bly_status cuckoo_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t f = spec->option[CUCKOO_OPTION_F];
    cuckoo_view v = {
        .quads = 1, .sorted = spec->option[CUCKOO_OPTION_SORTED] != 0,
    };
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!cuckoo_enough(&v.buckets, spec->capacity))
        return kind_too_big(spec, "2^48 buckets");
    v.f = f != KIND_CHOOSE ? (uint32_t)f
                           : cuckoo_best_f(v.buckets, spec->rate);
    if (v.f > CUCKOO_F_MOST)
        return status_fail(BLY_EPARAM, "kind cuckoo ends at a rate of 2e-9: "
                           "use standard for %.3g", spec->rate);
    v.nibbles = cuckoo_nibbles(v.f, v.sorted);
    return cuckoo_plan_view(plan, &v, spec->capacity);
}

/* ---- Check, contains, count -------------------------------------------- */

static bly_status cuckoo_check(const void *image)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t f = image_geometry(image, CUCKOO_F);

    bool sound = v.buckets >= 2 && v.buckets % 2 == 0
              && v.buckets <= CUCKOO_BUCKETS_MAX
              && f >= CUCKOO_F_LEAST && f <= CUCKOO_F_MOST
              && image_geometry(image, CUCKOO_SORTED) <= 1
              && v.quads >= 1 && v.quads <= CUCKOO_QUADS_MAX
              && image_payload_bytes(image) == cuckoo_payload(&v);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

static uint64_t cuckoo_count(const void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    return cuckoo_count_key(&v, cuckoo_key_of(&v, hash));
}

static bool cuckoo_contains(const void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    cuckoo_key key = cuckoo_key_of(&v, hash);
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        return cuckoo_test(&v, key, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_test(&v, key, CUCKOO_CODED);
    default:
        return cuckoo_test(&v, key, CUCKOO_ANY);
    }
}

/* ---- Add, remove ------------------------------------------------------- */

enum { CUCKOO_STEPS = 2000, CUCKOO_NOTED = 8, CUCKOO_KNOWN = 256 };

/* Step i of the search came to a bucket from that of step from[i], whose
 * fingerprint victim[i] could go over to it. The buckets of the first steps,
 * which nearly always are enough, are known; of others the way there tells. */
typedef struct {
    uint32_t used;
    uint32_t victim[CUCKOO_STEPS];
    uint16_t from[CUCKOO_STEPS];
    uint64_t known[CUCKOO_KNOWN];
} cuckoo_search;

static void cuckoo_note(cuckoo_search *s, uint64_t bucket, uint32_t victim,
                        uint32_t from)
{
    if (s->used < CUCKOO_KNOWN)
        s->known[s->used] = bucket;
    s->victim[s->used] = victim;
    s->from[s->used++] = (uint16_t)from;
}

/* The bucket of a step: cuckoo_other() takes the bucket before from a number
 * that the fingerprint tells, modulo their number. */
static uint64_t cuckoo_came_to(const cuckoo_search *s, const cuckoo_view *v,
                               uint32_t step)
{
    uint64_t sum = 0;
    bool minus = false;
    if (step < CUCKOO_KNOWN)
        return s->known[step];
    for (; step >= CUCKOO_KNOWN; step = s->from[step], minus = !minus) {
        uint64_t number = cuckoo_other(v, 0, s->victim[step]);
        sum += minus ? v->buckets - number : number;
    }
    sum += minus ? v->buckets - s->known[step] : s->known[step];
    return sum % v->buckets;
}

/* Note the buckets to which the fingerprints of step number `from` could go.
 * Where the search came from is no way on. */
PLATFORM_INLINE void cuckoo_spread(cuckoo_search *s, const cuckoo_view *v,
                                   uint32_t from)
{
    uint64_t bucket = cuckoo_came_to(s, v, from);
    uint32_t victim = s->victim[from];
    for (uint64_t i = 0; i < v->quads; i++) {
        cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
        for (uint32_t j = 0; j < CUCKOO_SLOTS && s->used < CUCKOO_STEPS; j++) {
            if (q.slot[j] == victim || q.slot[j] == 0)
                continue;
            uint64_t next = cuckoo_other(v, bucket, q.slot[j]);
            platform_prefetch_write(cuckoo_at(v, next * v->quads));
            cuckoo_note(s, next, q.slot[j], from);
        }
    }
}

/* Each fingerprint of the way to step `last`, where a slot is free, goes one
 * bucket on, the last one first. */
static void cuckoo_shove(const cuckoo_search *s, const cuckoo_view *v,
                         uint32_t last)
{
    cuckoo_swap(v, cuckoo_came_to(s, v, last), 0, s->victim[last]);
    for (uint32_t to = last; s->from[to] != to; to = s->from[to]) {
        uint32_t from = s->from[to];
        cuckoo_swap(v, cuckoo_came_to(s, v, from), s->victim[to],
                    s->victim[from]);
    }
}

/* Make room by moving others. Breadth first finds a shortest way, on which no
 * bucket comes twice; nothing is written before there is one. Buckets are noted
 * a few before they are looked at, so that their lines come meanwhile. */
static bool cuckoo_kick(const cuckoo_view *v, cuckoo_key key, cuckoo_form form)
{
    cuckoo_search s;
    uint32_t spread = 0, at = 2;
    s.used = 0;
    cuckoo_note(&s, key.one, key.fp, 0);
    cuckoo_note(&s, key.other, key.fp, 1);
    for (;; at++) {
        while (spread < s.used && s.used < at + CUCKOO_NOTED)
            cuckoo_spread(&s, v, spread++);
        if (at >= s.used)
            return false;
        if (!cuckoo_full(v, cuckoo_came_to(&s, v, at), form))
            break;
    }
    cuckoo_shove(&s, v, at);
    return true;
}

static bly_status cuckoo_is_full(void)
{
    return status_fail(BLY_EFULL, "the filter is full: no room could be made "
                       "for a key (a key fits in eight times at most): plan it "
                       "for more keys, or choose a kind that counts");
}

/* Into the emptier bucket: so they fill evenly, and few keys must move others
 * before nine slots of ten are taken. */
PLATFORM_INLINE bly_status cuckoo_add_any(const cuckoo_view *v, cuckoo_key key)
{
    bool seen = cuckoo_count_key(v, key) > 0;
    uint64_t free_one = cuckoo_copies_in(v, key.one, 0);
    uint64_t free_other = cuckoo_copies_in(v, key.other, 0);
    uint64_t emptier = free_one >= free_other ? key.one : key.other;
    if (!cuckoo_swap(v, emptier, 0, key.fp) && !cuckoo_kick(v, key, CUCKOO_ANY))
        return cuckoo_is_full();
    return seen ? BLY_SEEN : BLY_OK;
}

/* Turn the slot of the lowest bit of a plain match from `old` into `fp`. */
PLATFORM_INLINE void cuckoo_turn(const cuckoo_view *v, uint64_t bucket,
                                 uint64_t match, uint32_t old, uint32_t fp)
{
    uint8_t *at = cuckoo_at(v, bucket);
    uint64_t slot = (match & (0 - match)) >> cuckoo_lowest(v, CUCKOO_PLAIN);
    uint64_t change = slot * (old ^ fp) << cuckoo_shift(v, bucket);
    image_set_u64(at, 0, image_u64(at, 0) ^ change);
}

/* cuckoo_add_any() for words. */
PLATFORM_INLINE bly_status cuckoo_add_word(const cuckoo_view *v, cuckoo_key key,
                                           cuckoo_form form)
{
    uint64_t one = cuckoo_word(v, key.one), other = cuckoo_word(v, key.other);
    uint64_t free_one = cuckoo_match(v, one, 0, form);
    uint64_t free_other = cuckoo_match(v, other, 0, form);
    bool seen = (cuckoo_match(v, one, key.fp, form)
               | cuckoo_match(v, other, key.fp, form)) != 0;
    bool first = cuckoo_number(v, free_one, form)
              >= cuckoo_number(v, free_other, form);
    uint64_t emptier = first ? key.one : key.other;
    uint64_t slots = first ? free_one : free_other;
    if (slots == 0 && !cuckoo_kick(v, key, form))
        return cuckoo_is_full();
    if (slots != 0 && form == CUCKOO_PLAIN)
        cuckoo_turn(v, emptier, slots, 0, key.fp);
    else if (slots != 0)
        cuckoo_swap(v, emptier, 0, key.fp);
    return seen ? BLY_SEEN : BLY_OK;
}

PLATFORM_INLINE bly_status cuckoo_add_key(const cuckoo_view *v, cuckoo_key key,
                                          cuckoo_form form)
{
    return form == CUCKOO_ANY ? cuckoo_add_any(v, key)
                              : cuckoo_add_word(v, key, form);
}

static bly_status cuckoo_add(void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    cuckoo_key key = cuckoo_key_of(&v, hash);
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        return cuckoo_add_key(&v, key, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_add_key(&v, key, CUCKOO_CODED);
    default:
        return cuckoo_add_key(&v, key, CUCKOO_ANY);
    }
}

PLATFORM_INLINE bly_status cuckoo_remove_key(const cuckoo_view *v,
                                             cuckoo_key key, cuckoo_form form)
{
    if (form != CUCKOO_PLAIN)
        return cuckoo_swap(v, key.one, key.fp, 0)
            || cuckoo_swap(v, key.other, key.fp, 0)
             ? BLY_OK : status_plain(BLY_EABSENT);
    uint64_t one = cuckoo_match(v, cuckoo_word(v, key.one), key.fp, form);
    uint64_t other = cuckoo_match(v, cuckoo_word(v, key.other), key.fp, form);
    if ((one | other) == 0)
        return status_plain(BLY_EABSENT);
    cuckoo_turn(v, one != 0 ? key.one : key.other, one != 0 ? one : other,
                key.fp, 0);
    return BLY_OK;
}

static bly_status cuckoo_remove(void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    cuckoo_key key = cuckoo_key_of(&v, hash);
    return cuckoo_form_of(&v) == CUCKOO_PLAIN
         ? cuckoo_remove_key(&v, key, CUCKOO_PLAIN)
         : cuckoo_remove_key(&v, key, CUCKOO_ANY);
}

/* ---- Batches ----------------------------------------------------------- */

enum {
    CUCKOO_AHEAD = 128,                 /* keys that lines are asked ahead of:
                                           so deep that the processor's queue
                                           of misses is never empty          */
    CUCKOO_PEEK = 48,                   /* keys ahead whose lines have come  */
    CUCKOO_STAT_AHEAD = 32              /* buckets                           */
};

/* The keys on their way. */
typedef struct { cuckoo_key key[CUCKOO_AHEAD]; } cuckoo_ring;

PLATFORM_INLINE void cuckoo_ask_bucket(const cuckoo_view *v, uint64_t bucket,
                                       bool write)
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

/* Ask for the other buckets of the fingerprints in the first quads of one. */
PLATFORM_INLINE void cuckoo_ask_others(const cuckoo_view *v, uint64_t bucket,
                                       uint64_t quads)
{
    for (uint64_t i = 0; i < quads; i++) {
        cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
        for (uint32_t j = 0; j < CUCKOO_SLOTS; j++)
            cuckoo_ask_bucket(v, cuckoo_other(v, bucket, q.slot[j]), true);
    }
}

PLATFORM_INLINE void cuckoo_ask(const cuckoo_view *v, cuckoo_ring *ring,
                                size_t i, uint64_t hash, bool write)
{
    cuckoo_key key = cuckoo_key_of(v, hash);
    cuckoo_ask_bucket(v, key.one, write);
    cuckoo_ask_bucket(v, key.other, write);
    ring->key[i % CUCKOO_AHEAD] = key;
}

/* A batch that runs CUCKOO_AHEAD keys behind its prefetches. `work` is the
 * statement for hashes[i] with its `key`. */
#define CUCKOO_EACH(ring, from, to, work, next)                                \
    for (size_t i = (from); i < (to); i++) {                                   \
        cuckoo_key key = (ring).key[i % CUCKOO_AHEAD];                         \
        work;                                                                  \
        next;                                                                  \
    }

#define CUCKOO_ROLL(v, hashes, n, write, work)                                 \
    do {                                                                       \
        cuckoo_ring ring;                                                      \
        size_t ahead = (n) < CUCKOO_AHEAD ? (n) : CUCKOO_AHEAD;                \
        for (size_t i = 0; i < ahead; i++)                                     \
            cuckoo_ask(v, &ring, i, (hashes)[i], write);                       \
        CUCKOO_EACH(ring, 0, (n) - ahead, work,                                \
            cuckoo_ask(v, &ring, i, (hashes)[i + ahead], write))               \
        CUCKOO_EACH(ring, (n) - ahead, n, work, (void)0)                       \
    } while (0)

PLATFORM_INLINE void cuckoo_contains_by(const cuckoo_view *v,
                                        const uint64_t *hashes, size_t n,
                                        bool *present, cuckoo_form form)
{
    CUCKOO_ROLL(v, hashes, n, false, present[i] = cuckoo_test(v, key, form));
}

#if CPU_X86
enum { CUCKOO_LANES = 8, CUCKOO_GROUPS = CUCKOO_AHEAD / CUCKOO_LANES };

/* Eight keys on their way: the bytes where their buckets begin; the fingerprint
 * in the low half of `what`, and in bits 34 and 35 whether the buckets begin in
 * the middle of that byte. */
typedef struct { __m512i one, other, what; } cuckoo_eight;

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i cuckoo_mix_avx512(__m512i h)
{
    h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
    return _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)HASH_STEP));
}

/* bits_range() for n < 2^32. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i cuckoo_range_avx512(__m512i h,
                                                              uint64_t n)
{
    __m512i all = _mm512_set1_epi64((long long)n);
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(h, all), 32);
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), all);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

/* cuckoo_key_of() for fewer than 2^32 buckets. */
CPU_TARGET_AVX512 PLATFORM_INLINE cuckoo_eight
cuckoo_keys_avx512(const cuckoo_view *v, const uint64_t *hashes)
{
    const __m512i ones = _mm512_set1_epi64(1);
    __m512i all = _mm512_set1_epi64((long long)v->buckets);
    __m512i nibbles = _mm512_set1_epi64((long long)v->nibbles);
    __m512i state = cuckoo_mix_avx512(_mm512_loadu_si512(hashes));
    __m512i fp = _mm512_srli_epi64(cuckoo_mix_avx512(state), 32);
    fp = _mm512_mul_epu32(fp, _mm512_set1_epi64((long long)
                                                cuckoo_mask(v->f)));
    fp = _mm512_add_epi64(_mm512_srli_epi64(fp, 32), ones);

    __m512i one = cuckoo_range_avx512(state, v->buckets);
    __m512i mixed = cuckoo_mix_avx512(_mm512_mullo_epi64(fp,
        _mm512_set1_epi64((long long)HASH_STEP)));
    __m512i half = cuckoo_range_avx512(mixed, v->buckets / 2);
    __m512i sum = _mm512_or_si512(_mm512_slli_epi64(half, 1), ones);
    __m512i other = _mm512_sub_epi64(sum, one);
    other = _mm512_mask_add_epi64(other, _mm512_movepi64_mask(other), other,
                                  all);
    one = _mm512_mul_epu32(one, nibbles);
    other = _mm512_mul_epu32(other, nibbles);
    __m512i half_one = _mm512_slli_epi64(_mm512_and_si512(one, ones), 34);
    __m512i half_other = _mm512_slli_epi64(_mm512_and_si512(other, ones), 35);
    return (cuckoo_eight){
        _mm512_srli_epi64(one, 1), _mm512_srli_epi64(other, 1),
        _mm512_or_si512(fp, _mm512_or_si512(half_one, half_other)),
    };
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_zero_avx512(__m512i words, uint32_t width)
{
    uint64_t ones = cuckoo_lanes(width), high = ones << (width - 1);
    __m512i low = _mm512_set1_epi64((long long)(high - ones));
    __m512i sum = _mm512_add_epi64(_mm512_and_si512(words, low), low);
    return _mm512_andnot_si512(_mm512_or_si512(sum, words),
                               _mm512_set1_epi64((long long)high));
}

/* cuckoo_match() of eight words. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
cuckoo_match_avx512(const cuckoo_view *v, __m512i words, __m512i fp,
                    cuckoo_form form)
{
    if (form == CUCKOO_PLAIN)
        return cuckoo_zero_avx512(_mm512_xor_si512(words, _mm512_mullo_epi64(fp,
            _mm512_set1_epi64((long long)cuckoo_lanes(v->f)))), v->f);
    const __m512i one = _mm512_set1_epi64(1);
    uint32_t rest = v->f - CUCKOO_PREFIX;
    __m512i ends = _mm512_mullo_epi64(
        _mm512_and_si512(fp, _mm512_set1_epi64((long long)cuckoo_mask(rest))),
        _mm512_set1_epi64((long long)cuckoo_lanes(rest)));
    ends = cuckoo_zero_avx512(_mm512_xor_si512(ends,
        _mm512_srli_epi64(words, CUCKOO_CODE)), rest);
    __m512i code = _mm512_and_si512(words,
        _mm512_set1_epi64((long long)cuckoo_mask(CUCKOO_CODE)));
    __m512i p = _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(code,
        (const void *)cuckoo_prefixes, 2));
    p = _mm512_xor_si512(p, _mm512_mul_epu32(_mm512_srli_epi64(fp, rest),
                                             _mm512_set1_epi64(0x1111)));
    p = _mm512_srli_epi64(cuckoo_zero_avx512(p, CUCKOO_PREFIX), 3);
    __m512i there = _mm512_and_si512(p, one);
    for (uint32_t i = 1; i < CUCKOO_SLOTS; i++)
        there = _mm512_or_si512(there, _mm512_slli_epi64(_mm512_and_si512(
            _mm512_srli_epi64(p, 4 * i), one), i * rest));
    return _mm512_and_si512(_mm512_srli_epi64(ends, rest - 1), there);
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
cuckoo_test_avx512(const cuckoo_view *v, const cuckoo_eight *keys,
                   bool *present, cuckoo_form form)
{
    const __m512i four = _mm512_set1_epi64(4);
    __m512i fp = _mm512_and_si512(keys->what, _mm512_set1_epi64(UINT32_MAX));
    __m512i one = _mm512_i64gather_epi64(keys->one, v->payload, 1);
    __m512i other = _mm512_i64gather_epi64(keys->other, v->payload, 1);
    one = _mm512_srlv_epi64(one, _mm512_and_si512(
        _mm512_srli_epi64(keys->what, 32), four));
    other = _mm512_srlv_epi64(other, _mm512_and_si512(
        _mm512_srli_epi64(keys->what, 33), four));
    __m512i found = _mm512_or_si512(cuckoo_match_avx512(v, one, fp, form),
                                    cuckoo_match_avx512(v, other, fp, form));
    __mmask8 yes = _mm512_test_epi64_mask(found, found);
    _mm_storel_epi64((__m128i *)(void *)present, _mm_maskz_set1_epi8(yes, 1));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
cuckoo_ask_avx512(const cuckoo_view *v, cuckoo_eight *keys,
                  const uint64_t *hashes)
{
    uint64_t at[2 * CUCKOO_LANES];
    uint32_t span = v->nibbles >> 1;
    *keys = cuckoo_keys_avx512(v, hashes);
    _mm512_storeu_si512(at, keys->one);
    _mm512_storeu_si512(at + CUCKOO_LANES, keys->other);
    PLATFORM_UNROLL
    for (size_t i = 0; i < 2 * CUCKOO_LANES; i++) {
        platform_prefetch(v->payload + at[i]);
        platform_prefetch(v->payload + at[i] + span);
    }
}

/* Whole groups of eight keys; how many keys those are. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
cuckoo_groups_avx512(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                     bool *present, cuckoo_form form)
{
    cuckoo_eight ring[CUCKOO_GROUPS];
    size_t groups = n / CUCKOO_LANES;
    size_t ahead = groups < CUCKOO_GROUPS ? groups : CUCKOO_GROUPS;
    for (size_t i = 0; i < ahead; i++)
        cuckoo_ask_avx512(v, &ring[i], hashes + i * CUCKOO_LANES);
    for (size_t i = 0; i < groups - ahead; i++) {
        cuckoo_eight *keys = &ring[i % CUCKOO_GROUPS];
        cuckoo_test_avx512(v, keys, present + i * CUCKOO_LANES, form);
        cuckoo_ask_avx512(v, keys, hashes + (i + ahead) * CUCKOO_LANES);
    }
    for (size_t i = groups - ahead; i < groups; i++)
        cuckoo_test_avx512(v, &ring[i % CUCKOO_GROUPS],
                           present + i * CUCKOO_LANES, form);
    return groups * CUCKOO_LANES;
}

CPU_TARGET_AVX512 static size_t
cuckoo_contains_avx512(const cuckoo_view *v, const uint64_t *hashes, size_t n,
                       bool *present)
{
    if (v->buckets > UINT32_MAX)
        return 0;
    switch (cuckoo_form_of(v)) {
    case CUCKOO_PLAIN:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_groups_avx512(v, hashes, n, present, CUCKOO_CODED);
    default:
        return 0;
    }
}
#endif

static void cuckoo_contains_many(const void *image, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    const cuckoo_view v = cuckoo_look(image);
#if CPU_X86
    if (cpu_now() >= CPU_AVX512) {
        size_t done = cuckoo_contains_avx512(&v, hashes, n, present);
        hashes += done;
        present += done;
        n -= done;
    }
#endif
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_PLAIN);
        return;
    case CUCKOO_CODED:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_CODED);
        return;
    default:
        cuckoo_contains_by(&v, hashes, n, present, CUCKOO_ANY);
    }
}

static void cuckoo_count_many(const void *image, const uint64_t *hashes,
                              size_t n, uint64_t *counts)
{
    const cuckoo_view v = cuckoo_look(image);
    CUCKOO_ROLL(&v, hashes, n, false, counts[i] = cuckoo_count_key(&v, key));
}

static void cuckoo_remove_many(void *image, const uint64_t *hashes, size_t n,
                               bly_status *each)
{
    const cuckoo_view v = cuckoo_look(image);
    if (cuckoo_form_of(&v) == CUCKOO_PLAIN)
        CUCKOO_ROLL(&v, hashes, n, true,
                    each[i] = cuckoo_remove_key(&v, key, CUCKOO_PLAIN));
    else
        CUCKOO_ROLL(&v, hashes, n, true,
                    each[i] = cuckoo_remove_key(&v, key, CUCKOO_ANY));
}

/* If both buckets are full by now, ask for those of the fingerprints in them,
 * to which one will have to move. */
PLATFORM_INLINE void cuckoo_peek(const cuckoo_view *v, cuckoo_key key,
                                 cuckoo_form form)
{
    if (!cuckoo_full(v, key.one, form) || !cuckoo_full(v, key.other, form))
        return;
    cuckoo_ask_others(v, key.one, 1);
    cuckoo_ask_others(v, key.other, 1);
}

PLATFORM_INLINE bly_status cuckoo_add_by(const cuckoo_view *v,
                                         const uint64_t *hashes, size_t n,
                                         size_t *done, cuckoo_form form)
{
    bly_status status;
    *done = 0;
    CUCKOO_ROLL(v, hashes, n, true,
        if (i + CUCKOO_PEEK < n)
            cuckoo_peek(v, ring.key[(i + CUCKOO_PEEK) % CUCKOO_AHEAD], form);
        status = cuckoo_add_key(v, key, form);
        if (status < 0)
            return status;
        ++*done);
    return BLY_OK;
}

static bly_status cuckoo_add_many(void *image, const uint64_t *hashes,
                                  size_t n, size_t *done)
{
    const cuckoo_view v = cuckoo_look(image);
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_CODED);
    default:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_ANY);
    }
}

/* ---- Another size ------------------------------------------------------ */

/* As many keys again with every quad. */
static bly_status cuckoo_resize_plan(bly_plan_t *plan, const void *image,
                                     uint64_t capacity)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t now = image_u64(image, IMAGE_CAPACITY);
    uint64_t each = now / v.quads + (now < v.quads);
    if (each > CUCKOO_SLOTS * CUCKOO_BUCKETS_MAX)
        return kind_bad_geometry(image);
    if (capacity <= now)
        return status_fail(BLY_EPARAM, "a cuckoo filter can only grow, and it "
                           "has room for %llu keys already: ask for more, or "
                           "build a smaller one from the keys",
                           (unsigned long long)now);
    v.quads = capacity / each + (capacity % each != 0);
    if (v.quads > CUCKOO_QUADS_MAX)
        return status_fail(BLY_EPARAM, "a cuckoo filter grows to %d times the "
                           "keys it was made for, %llu: ask for %llu at most, "
                           "or build it anew", CUCKOO_QUADS_MAX,
                           (unsigned long long)each,
                           (unsigned long long)(each * CUCKOO_QUADS_MAX));
    return cuckoo_plan_view(plan, &v, each * v.quads);
}

/* Every bucket keeps its quads and gets empty ones behind them. */
static bly_status cuckoo_resize(void *into, const void *image)
{
    cuckoo_view old = cuckoo_look(image), new = cuckoo_look(into);
    for (uint64_t i = 0; i < old.buckets; i++)
        for (uint64_t j = 0; j < old.quads; j++)
            cuckoo_write(&new, i * new.quads + j,
                         cuckoo_read(&old, i * old.quads + j));
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

/* Is slot j of quad i of the bucket the first of its fingerprint's copies, in
 * this bucket and, where that is the smaller one, the other? */
static bool cuckoo_first(const cuckoo_view *v, uint64_t bucket, uint64_t i,
                         uint32_t j)
{
    cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
    uint32_t fp = q.slot[j];
    bool first = fp != 0;
    for (uint32_t k = 0; k < j; k++)
        first &= q.slot[k] != fp;
    for (uint64_t k = 0; k < i && first; k++)
        first = cuckoo_copies(cuckoo_read(v, bucket * v->quads + k), fp) == 0;
    if (!first)
        return false;
    uint64_t other = cuckoo_other(v, bucket, fp);
    return bucket < other || cuckoo_copies_in(v, other, fp) == 0;
}

static void cuckoo_stat(bly_stat_t *out, const void *image)
{
    cuckoo_view v = cuckoo_look(image);
    uint64_t taken = 0, different = 0;
    for (uint64_t bucket = 0; bucket < v.buckets; bucket++) {
        if (bucket + CUCKOO_STAT_AHEAD < v.buckets)
            cuckoo_ask_others(&v, bucket + CUCKOO_STAT_AHEAD, v.quads);
        taken += v.quads * CUCKOO_SLOTS - cuckoo_copies_in(&v, bucket, 0);
        for (uint64_t i = 0; i < v.quads; i++)
            for (uint32_t j = 0; j < CUCKOO_SLOTS; j++)
                different += cuckoo_first(&v, bucket, i, j);
    }
    double classes = cuckoo_classes(&v);
    double rate = fmin((double)different / classes, 1), keys = -log1p(-rate);
    out->fill = (double)taken
              / (double)(v.buckets * v.quads * CUCKOO_SLOTS);
    out->rate = rate;
    out->distinct = classes * keys;
    out->distinct_sd = sqrt(classes * (expm1(keys) - keys));
    out->probes = 2;
}

const bly_kind bly_kind_cuckoo = {
    .name    = "cuckoo",
    .family  = "removable",
    .summary = "fingerprints in buckets of four, each in one of two buckets",
    .version = CUCKOO_VERSION,
    .options = cuckoo_options,

    .plan  = cuckoo_plan,
    .check = cuckoo_check,

    .contains      = cuckoo_contains,
    .contains_many = cuckoo_contains_many,
    .way           = cuckoo_way,
    .add           = cuckoo_add,
    .add_many      = cuckoo_add_many,
    .remove        = cuckoo_remove,
    .remove_many   = cuckoo_remove_many,
    .count         = cuckoo_count,
    .count_many    = cuckoo_count_many,

    .resize_plan = cuckoo_resize_plan,
    .resize      = cuckoo_resize,

    .stat = cuckoo_stat,
};
