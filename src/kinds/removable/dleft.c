/* dleft.c - counted fingerprints in the least loaded of four buckets.
 *
 * WHAT IT IS
 *
 * A table of fingerprints, each with a small counter. It consists of four
 * subtables with buckets of eight cells. A key has one possible bucket in each
 * subtable and goes to the one with the fewest cells in use, or to the leftmost
 * of several such buckets. That fills the buckets so evenly that 25 of 32 cells
 * can be filled, and no bucket needs an overflow list.
 *
 * WHEN TO USE IT
 *
 * Use it if keys come and go, may be added twice, and `counting` is too large:
 * it takes half of that memory or less. It can be doubled in size without the
 * keys.
 *
 * WHEN NOT TO
 *
 * - Keys are added once: `cuckoo` is smaller and reads two cache lines.
 * - Keys repeat often: with the default counters of 2 bits, a key added three
 *   times can no longer be removed. Use bits=8, `counting` or `quotient`.
 * - An add must never be refused: an add returns BLY_EFULL if all four buckets
 *   of the key are full.
 * - Filters must be united: `quotient`, `golomb` or `counting`.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %          17.9              4.8
 *      0.1 %        21.8              5.0
 *
 * Adds and removals read the same four buckets, whichever keys an attacker
 * chooses.
 *
 * THE PICTURE (r = 3, bits = 2: a bucket of 5 bytes)
 *
 *      subtable 0            1              2              3
 *      | bucket | … |  | … | bucket |  | bucket | … |  | … | bucket | … |
 *           |                   |
 *           |      byte 0       +-- lowest  bit of its 8 counters
 *           |           1           highest bit of its 8 counters
 *           |           2           lowest  bit of its 8 remainders
 *           |           3           …
 *           |           4           highest bit of its 8 remainders
 *
 *      Bit j of every byte is cell j. A cell whose counter is 0 is free, and
 *      its remainder is then 0 as well.
 *
 * With the bits of a bucket transposed in this way, a remainder of any width is
 * compared with eight cells at once: the bucket is XORed with the remainder's
 * bits, each widened to a byte. The OR of the resulting bytes has a 0 for each
 * cell that matches.
 *
 * IMAGE
 *
 *      geometry 0   B, buckets of a subtable when it was made, 1 .. 2^48
 *      geometry 1   w, width of a fingerprint below its bucket, 4 .. 56
 *      geometry 2   r, bits of a remainder, 4 .. w; w - r is how often the
 *                   filter has been doubled since
 *      geometry 3   c, bits of a counter, 2 .. 8
 *      payload      four subtables of B 2^(w-r) buckets of c + r bytes, then 8
 *                   zero bytes, so that every byte of a bucket is the first of
 *                   eight that can be read
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) B 2^(w-r)
 *      is at most 2^48 and B 2^w at most 2^63, and (3) the payload has that
 *      size.
 *
 * MATHS
 *
 * A fingerprint is one of R = B 2^w. An absent key is found if one of the n
 * keys has the same fingerprint:
 *
 *      f = 1 - (1 - 1/R)^n  =  about n / R                               (1)
 *
 * With 25 of every 32 cells in use, this is 25 / 2^w. r is a whole number, so
 * the rate may be half of the requested one. The plan takes the r that needs
 * the fewest bytes. It takes more buckets than the load requires if one bit
 * less per cell is cheaper that way.
 *
 *      requested      r     planned rate    bits per key   counting (4 bits)
 *      10 %           8       9.3 %           12.8             19.2
 *      1 %           12       0.61 %          17.9             38.4
 *      0.1 %         15       0.076 %         21.8             57.5
 *      0.01 %        18       0.0095 %        25.6             76.7
 *
 * Full buckets. In a large table, the share of buckets in each subtable with 8
 * keys follows from differential equations [Vöcking 1999 has the argument,
 * Bonomi 2006 the parameters]. Up to a load of 25 / 32, an add finds four full
 * buckets with a probability of 10^-70. In small tables chance matters more:
 * one simulated table in 10^7 overflowed with 57 of 64 cells in use, and one
 * with 85 of 96. If keys are removed and others added at full capacity, the
 * loads spread. After fifty turnovers at 25 in 32, one bucket in 14 of the
 * first subtable was full, one in 6 700 of the third and none of the last. Of
 * 10^8 adds to each of five tables of 64 to 1024 cells, none was refused; at 26
 * in 32, two of 5 10^7 were. So the capacity of B buckets per subtable is 25 B.
 *
 * Saturation. A counter of c bits saturates when 2^c - 1 keys share a
 * fingerprint; the number of adds is then unknown, and the key cannot be
 * removed (BLY_EUNSAFE). For c = 2 that happens to n f^2 / 6 fingerprints, 6 in
 * a million keys at 1 %, in addition to keys that are added three times
 * themselves.
 *
 * PROBES
 *
 * With d independent buckets and one remainder, two keys might agree in one
 * bucket and remainder but not in the others. Removing one of them could then
 * clear the wrong cell. [Bonomi 2006] derives bucket and remainder in subtable
 * i from one fingerprint by a permutation P_i, so that keys that agree anywhere
 * agree everywhere, and each fingerprint is in at most one cell. That
 * permutation, a product with an odd number modulo a power of two, needs a
 * power of two of buckets. Ours works for any number. With the fingerprint as a
 * pair, b in [0, B) and t of w bits:
 *
 *      bucket     (b + f_i(t)) mod B, then the high w - r bits of a_i t
 *                 modulo 2^w                                             (2)
 *      remainder  the low r bits of t
 *
 * where f_i(t) is a hash of t into [0, B), 0 for the first subtable, and a_i an
 * odd number, 1 for the first (docs/format has the details). The remainder
 * and the high bits of a_i t determine the high bits of t; t and the bucket
 * determine b.
 *
 * ANOTHER SIZE
 *
 * Doubling takes one bit from the remainders and gives it to the buckets. w and
 * R stay the same, and so does the rate that n keys have. By (2) a bucket
 * splits into two neighbouring ones in the same subtable. Nothing moves
 * elsewhere, nothing can overflow, and the old table is read and the new one
 * written from the first byte to the last. Splitting makes the loads less even,
 * which later adds repair: tables that were doubled three times and filled to
 * 26 in 32 each time first overflowed at 28.6. To double a filter j times, plan
 * it for a rate 2^j times lower than the one needed at the end. A filter cannot
 * shrink.
 *
 * PAPERS
 *
 *  [Bonomi 2006]   An improved construction for counting Bloom filters, ESA,
 *                  LNCS 4168. Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese.
 *                  The construction, its permutations and their use to double.
 *  [Vöcking 1999]  How asymmetry helps load balancing, FOCS. Ties to the left.
 *  [Whang 1990]    A linear-time probabilistic counting algorithm for database
 *                  applications, ACM TODS 15(2). Keys from the cells in use.
 */
#include "image/abilities.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "maths/maths.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum {
    DLEFT_VERSION = 1,
    DLEFT_BASE = 0, DLEFT_WIDTH = 1, DLEFT_REST = 2, DLEFT_BITS = 3,
    DLEFT_TABLES = 4, DLEFT_CELLS = 8,
    DLEFT_LOAD = 25,                    /* keys planned for four buckets     */
    DLEFT_REST_MIN = 4, DLEFT_REST_MAX = 56,
    DLEFT_BITS_MIN = 2, DLEFT_BITS_MAX = 8, DLEFT_BITS_STANDARD = 2,
    DLEFT_WORDS = 8,                    /* of 8 bytes, in the largest bucket */
    DLEFT_PADDING = 8
};

static_assert(DLEFT_REST_MAX + DLEFT_BITS_MAX <= 8 * DLEFT_WORDS,
              "remainder and counter are one 64-bit number");

#define DLEFT_BUCKETS_MAX (UINT64_C(1) << 48)
#define DLEFT_RANGE_MAX   (UINT64_C(1) << 63)

enum { DLEFT_OPTION_BITS };

static const kind_option dleft_options[] = {
    [DLEFT_OPTION_BITS] = {
        .name = "bits", .help = "bits of a counter, which saturates at its "
                                "largest value",
        .least = DLEFT_BITS_MIN, .most = DLEFT_BITS_MAX,
        .standard = DLEFT_BITS_STANDARD,
    },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

/* The numbers of the geometry. */
typedef struct {
    uint64_t base;
    uint32_t width, rest, bits;
} dleft_shape;

static dleft_shape dleft_shape_of(const void *image)
{
    return (dleft_shape){
        .base = image_geometry(image, DLEFT_BASE),
        .width = (uint32_t)image_geometry(image, DLEFT_WIDTH),
        .rest = (uint32_t)image_geometry(image, DLEFT_REST),
        .bits = (uint32_t)image_geometry(image, DLEFT_BITS),
    };
}

/* Buckets of a subtable. */
static uint64_t dleft_buckets(const dleft_shape *s)
{
    return s->base << (s->width - s->rest);
}

/* At most 4 2^48 64 + 8. */
static uint64_t dleft_bytes(const dleft_shape *s)
{
    return DLEFT_TABLES * dleft_buckets(s) * (s->rest + s->bits)
         + DLEFT_PADDING;
}

/* R: how many fingerprints there are. */
static double dleft_range(const dleft_shape *s)
{
    return ldexp((double)s->base, (int)s->width);
}

/* (1) */
static double dleft_rate(const dleft_shape *s, uint64_t n)
{
    return -expm1((double)n * log1p(-1 / dleft_range(s)));
}

/* The fewest buckets for n keys at `rate` with the width of *s; false if they
 * or R would be too many. */
static bool dleft_enough(dleft_shape *s, uint64_t n, double rate)
{
    double range = -1 / expm1(log1p(-rate) / (double)n);
    double by_rate = ceil(ldexp(range, -(int)s->width));
    uint64_t by_load = n / DLEFT_LOAD + (n % DLEFT_LOAD != 0);
    uint64_t most = DLEFT_RANGE_MAX >> s->width;
    if (most > DLEFT_BUCKETS_MAX)
        most = DLEFT_BUCKETS_MAX;
    if (by_rate >= (double)most || by_load >= most)
        return false;
    s->base = (uint64_t)by_rate > by_load ? (uint64_t)by_rate : by_load;
    while (dleft_rate(s, n) > rate)     /* by_rate is rounded */
        s->base++;
    return s->base <= most;
}

static bool dleft_best(dleft_shape *best, uint64_t n, double rate,
                       uint32_t bits)
{
    bool found = false;
    for (uint32_t r = DLEFT_REST_MIN; r <= DLEFT_REST_MAX; r++) {
        dleft_shape s = { .width = r, .rest = r, .bits = bits };
        if (dleft_enough(&s, n, rate)
            && (!found || dleft_bytes(&s) < dleft_bytes(best))) {
            *best = s;
            found = true;
        }
    }
    return found;
}

/* All of a plan that follows from the shape and the keys. */
static bly_status dleft_plan_of(bly_plan_t *plan, const dleft_shape *s,
                                uint64_t n)
{
    bly_status status = kind_plan_bytes(plan, dleft_bytes(s));
    if (status != BLY_OK)
        return status;
    double range = dleft_range(s), buckets = (double)dleft_buckets(s);
    double bytes = s->rest + s->bits, split = (bytes - 1) / 64;
    plan->capacity = n;
    plan->rate = dleft_rate(s, n);
    plan->rate_sd = sqrt(math_set_variance(range, (double)n)) / range;
    plan->fill = plan->rate * range / (DLEFT_TABLES * DLEFT_CELLS * buckets);
    plan->probes = DLEFT_TABLES;
    plan->lines_present = plan->lines_absent
        = fmin(DLEFT_TABLES * (1 + split), ceil((double)plan->bytes / 64));
    plan->geometry[DLEFT_BASE] = s->base;
    plan->geometry[DLEFT_WIDTH] = s->width;
    plan->geometry[DLEFT_REST] = s->rest;
    plan->geometry[DLEFT_BITS] = s->bits;
    return BLY_OK;
}

static bly_status dleft_plan(bly_plan_t *plan, const kind_spec *spec)
{
    dleft_shape best;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!dleft_best(&best, spec->capacity, spec->rate,
                    (uint32_t)spec->option[DLEFT_OPTION_BITS]))
        return kind_too_big(spec, "2^48 buckets or 2^63 fingerprints");
    return dleft_plan_of(plan, &best, spec->capacity);
}

/* ---- Check ------------------------------------------------------------- */

static bly_status dleft_check(const void *image)
{
    uint64_t base = image_geometry(image, DLEFT_BASE);
    uint64_t width = image_geometry(image, DLEFT_WIDTH);
    uint64_t rest = image_geometry(image, DLEFT_REST);
    uint64_t bits = image_geometry(image, DLEFT_BITS);

    bool sound = rest >= DLEFT_REST_MIN && rest <= width
              && width <= DLEFT_REST_MAX
              && bits >= DLEFT_BITS_MIN && bits <= DLEFT_BITS_MAX
              && base >= 1 && base <= DLEFT_RANGE_MAX >> width
              && base <= DLEFT_BUCKETS_MAX >> (width - rest);
    if (sound) {
        dleft_shape s = dleft_shape_of(image);
        sound = image_payload_bytes(image) == dleft_bytes(&s);
    }
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Eight cells as bytes of bits -------------------------------------- */

#define DLEFT_LOWEST  UINT64_C(0x0101010101010101)
#define DLEFT_HIGHEST UINT64_C(0x8080808080808080)

/* 1 in every byte that is not 0, of bytes that are 0 or a power of two. */
PLATFORM_INLINE uint64_t dleft_ones(uint64_t bytes)
{
    return ((bytes + ~DLEFT_HIGHEST) & DLEFT_HIGHEST) >> 7;
}

/* Bit k of a number below 256 as byte k: 0 or 255. */
PLATFORM_INLINE uint64_t dleft_widen(uint64_t bits)
{
    uint64_t one_each = bits * DLEFT_LOWEST & UINT64_C(0x8040201008040201);
    return dleft_ones(one_each) * 255;
}

/* Back: the bit `cell` (1, 2, 4 … 128) of byte k as bit k. */
PLATFORM_INLINE uint64_t dleft_gather(uint64_t word, uint64_t cell)
{
    return dleft_ones(word & DLEFT_LOWEST * cell)
         * UINT64_C(0x0102040810204080) >> 56;
}

/* The OR of the eight bytes. */
PLATFORM_INLINE uint32_t dleft_fold(uint64_t word)
{
    word |= word >> 32;
    word |= word >> 16;
    word |= word >> 8;
    return word & 255;
}

/* ---- The view of an image, and where a key is ------------------------- */

typedef struct {
    uint8_t *payload;
    uint64_t base, subtable;            /* buckets; bytes                    */
    uint32_t width, rest, bits, bucket; /* `bucket`: bytes                   */
    uint32_t words;                     /* of a bucket                       */
    uint64_t counters, last;            /* those bytes of the first word, and
                                           the bucket's of the last          */
} dleft_view;

/* The lowest n bytes, 1 <= n <= 8. */
PLATFORM_INLINE uint64_t dleft_low_bytes(uint32_t n)
{
    return UINT64_MAX >> (64 - 8 * n);
}

PLATFORM_INLINE dleft_view dleft_look(const void *image)
{
    dleft_shape s = dleft_shape_of(image);
    uint32_t bucket = s.rest + s.bits, words = (bucket + 7) / 8;
    return (dleft_view){
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .base = s.base, .subtable = dleft_buckets(&s) * bucket,
        .width = s.width, .rest = s.rest, .bits = s.bits,
        .bucket = bucket, .words = words,
        .counters = dleft_low_bytes(s.bits),
        .last = dleft_low_bytes(bucket - 8 * (words - 1)),
    };
}

/* A key's four buckets, and what its cell holds below a counter of 0. */
typedef struct {
    uint64_t field;
    uint8_t *bucket[DLEFT_TABLES];
} dleft_place;

/* (2) */
PLATFORM_INLINE dleft_place dleft_find(const dleft_view *v, uint64_t hash)
{
    uint64_t s = hash_spread(hash), first = bits_range(s, v->base);
    uint64_t t = s * v->base >> (64 - v->width), mixed = hash_mix(t);
    uint64_t product = t << (64 - v->width);
    uint32_t doubled = v->width - v->rest;

    dleft_place place;
    place.field = (t & ((UINT64_C(1) << v->rest) - 1)) << v->bits;
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < DLEFT_TABLES; i++) {
        uint64_t at = first + (i == 0 ? 0 : bits_range(mixed, v->base));
        at -= at >= v->base ? v->base : 0;
        at = at << doubled | product >> 8 >> (56 - doubled);
        place.bucket[i] = v->payload + i * v->subtable + at * v->bucket;
        mixed *= HASH_STEP;
        product *= HASH_STEP;
    }
    return place;
}

/* The bytes of word k that belong to the bucket. */
PLATFORM_INLINE uint64_t dleft_mask(const dleft_view *v, uint32_t k)
{
    return k + 1 == v->words ? v->last : UINT64_MAX;
}

/* Returns a bit for each cell of a bucket that is in use. */
PLATFORM_INLINE uint32_t dleft_used(const dleft_view *v, const uint8_t *bucket)
{
    return dleft_fold(image_u64(bucket, 0) & v->counters);
}

/* Reads a cell: the remainder and, below it, the counter. */
PLATFORM_INLINE uint64_t dleft_read(const dleft_view *v, const uint8_t *bucket,
                                    uint32_t cell)
{
    uint64_t field = 0;
    for (uint32_t k = 0; k < v->words; k++)
        field |= dleft_gather(image_u64(bucket, 8 * k) & dleft_mask(v, k),
                              cell) << 8 * k;
    return field;
}

PLATFORM_INLINE void dleft_write(const dleft_view *v, uint8_t *bucket,
                                 uint32_t cell, uint64_t field)
{
    for (uint32_t k = 0; k < v->words; k++) {
        uint64_t mask = DLEFT_LOWEST * cell & dleft_mask(v, k);
        uint64_t word = image_u64(bucket, 8 * k) & ~mask;
        image_set_u64(bucket, 8 * k,
                      word | (dleft_widen(field >> 8 * k & 255) & mask));
    }
}

PLATFORM_INLINE uint32_t dleft_count_at(const dleft_view *v,
                                        const uint8_t *bucket, uint32_t cell)
{
    return (uint32_t)dleft_gather(image_u64(bucket, 0) & v->counters, cell);
}

/* The lowest bit of a number that is not 0. */
PLATFORM_INLINE uint32_t dleft_lowest(uint32_t bits)
{
    return bits & (0 - bits);
}

/* ---- Look at the four buckets ------------------------------------------ */

/* The cells in use, and those of them that have the key's remainder: 8 bits for
 * each bucket. All four are looked at, for which one has the key is not a thing
 * to be foreseen. */
typedef struct {
    uint32_t used, same;
} dleft_sight;

/* `words`: v->words, a constant where the compiler may know it. */
PLATFORM_INLINE dleft_sight dleft_see_by(const dleft_view *v,
                                         const dleft_place *place,
                                         uint32_t words)
{
    uint64_t wanted[DLEFT_WORDS];
    for (uint32_t k = 0; k < words; k++)
        wanted[k] = dleft_widen(place->field >> 8 * k & 255);

    dleft_sight sight = { 0, 0 };
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < DLEFT_TABLES; i++) {
        uint64_t first = image_u64(place->bucket[i], 0), differ = 0;
        for (uint32_t k = 0; k < words; k++) {
            uint64_t word = image_u64(place->bucket[i], 8 * k) ^ wanted[k];
            differ |= k == 0 ? word & ~v->counters & (words == 1 ? v->last
                                                                 : UINT64_MAX)
                    : k + 1 == words ? word & v->last : word;
        }
        uint32_t used = dleft_fold(first & v->counters);
        sight.used |= used << 8 * i;
        sight.same |= (used & ~dleft_fold(differ)) << 8 * i;
    }
    return sight;
}

/* A remainder of 7 to 14 bits, for a rate of 20 % to 0.2 %, takes two words,
 * and one of up to 22 three. */
PLATFORM_INLINE dleft_sight dleft_see(const dleft_view *v,
                                      const dleft_place *place)
{
    if (v->words == 2)
        return dleft_see_by(v, place, 2);
    if (v->words == 3)
        return dleft_see_by(v, place, 3);
    return dleft_see_by(v, place, v->words);
}

static bool dleft_contains(const void *image, uint64_t hash)
{
    dleft_view v = dleft_look(image);
    dleft_place place = dleft_find(&v, hash);
    return dleft_see(&v, &place).same != 0;
}

/* ---- Add, remove, count ------------------------------------------------ */

/* The one cell that holds a key. */
typedef struct {
    uint8_t *bucket;
    uint32_t cell, count;
} dleft_cell;

/* There must be one. */
PLATFORM_INLINE dleft_cell dleft_hold(const dleft_view *v,
                                      const dleft_place *place,
                                      dleft_sight sight)
{
    uint32_t same = dleft_lowest(sight.same);
    uint32_t i = (uint32_t)(same > 0xFF) + (same > 0xFFFF)
               + (same > 0xFFFFFF);
    uint32_t cell = same >> 8 * i;
    return (dleft_cell){
        .bucket = place->bucket[i], .cell = cell,
        .count = dleft_count_at(v, place->bucket[i], cell),
    };
}

PLATFORM_INLINE uint32_t dleft_count_max(const dleft_view *v)
{
    return (1u << v->bits) - 1;
}

/* Four numbers of cells in use, a byte each, from their bits. */
PLATFORM_INLINE uint32_t dleft_loads(uint32_t used)
{
    used -= used >> 1 & 0x55555555;
    used = (used & 0x33333333) + (used >> 2 & 0x33333333);
    return (used + (used >> 4)) & 0x0F0F0F0F;
}

/* The least loaded bucket, the leftmost of several, gets it. */
PLATFORM_INLINE bly_status dleft_settle(const dleft_view *v,
                                        const dleft_place *place,
                                        uint32_t used)
{
    uint32_t loads = dleft_loads(used), best = UINT32_MAX;
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < DLEFT_TABLES; i++) {
        uint32_t load = (loads >> 8 * i & 255) * DLEFT_TABLES + i;
        best ^= (best ^ load) & (0 - (uint32_t)(load < best));
    }
    if (best >= DLEFT_CELLS * DLEFT_TABLES)
        return BLY_EFULL;
    uint32_t i = best % DLEFT_TABLES;
    uint32_t free_cells = ~(used >> 8 * i) & 255;
    dleft_write(v, place->bucket[i], dleft_lowest(free_cells),
                place->field | 1);
    return BLY_OK;
}

PLATFORM_INLINE bly_status dleft_put(const dleft_view *v,
                                     const dleft_place *place,
                                     dleft_sight sight)
{
    if (sight.same == 0)
        return dleft_settle(v, place, sight.used);
    dleft_cell at = dleft_hold(v, place, sight);
    if (at.count < dleft_count_max(v))
        dleft_write(v, at.bucket, at.cell, place->field | (at.count + 1));
    return BLY_SEEN;
}

PLATFORM_INLINE bly_status dleft_take(const dleft_view *v,
                                      const dleft_place *place,
                                      dleft_sight sight)
{
    if (sight.same == 0)
        return BLY_EABSENT;
    dleft_cell at = dleft_hold(v, place, sight);
    if (at.count == dleft_count_max(v))
        return BLY_EUNSAFE;
    dleft_write(v, at.bucket, at.cell,
                at.count == 1 ? 0 : place->field | (at.count - 1));
    return BLY_OK;
}

PLATFORM_INLINE uint64_t dleft_tell(const dleft_view *v,
                                    const dleft_place *place,
                                    dleft_sight sight)
{
    if (sight.same == 0)
        return 0;
    uint32_t count = dleft_hold(v, place, sight).count;
    return count < dleft_count_max(v) ? count : UINT64_MAX;
}

static bly_status dleft_full(void)
{
    return status_fail(BLY_EFULL, "all four buckets of the key are full: "
                       "resize the filter (bly_resize), or plan it for more "
                       "keys");
}

static bly_status dleft_add(void *image, uint64_t hash)
{
    dleft_view v = dleft_look(image);
    dleft_place place = dleft_find(&v, hash);
    bly_status status = dleft_put(&v, &place, dleft_see(&v, &place));
    return status == BLY_EFULL ? dleft_full() : status;
}

static bly_status dleft_remove(void *image, uint64_t hash)
{
    dleft_view v = dleft_look(image);
    dleft_place place = dleft_find(&v, hash);
    bly_status status = dleft_take(&v, &place, dleft_see(&v, &place));
    return status == BLY_OK ? status : status_plain(status);
}

static uint64_t dleft_count(const void *image, uint64_t hash)
{
    dleft_view v = dleft_look(image);
    dleft_place place = dleft_find(&v, hash);
    return dleft_tell(&v, &place, dleft_see(&v, &place));
}

/* ---- Batches ----------------------------------------------------------- */

/* Keys on their way, at most: about 300 lines. 32, 64 and 128 keys measured the
 * same. */
enum { DLEFT_RING = 64 };

/* Prefetches the lines of a place. A bucket may begin in one line and end in
 * the next. */
PLATFORM_INLINE void dleft_prefetch(const dleft_view *v,
                                    const dleft_place *place)
{
    PLATFORM_UNROLL
    for (uint32_t i = 0; i < DLEFT_TABLES; i++) {
        platform_prefetch(place->bucket[i]);
        platform_prefetch(place->bucket[i] + v->bucket - 1);
    }
}

/* A batch that runs some keys behind its prefetches. `work` is the
 * statement for hashes[i] with its `place`. */
#define DLEFT_ROLL(view, hashes, n, work)                                      \
    do {                                                                       \
        dleft_place ring[DLEFT_RING];                                          \
        size_t ahead = cpu_ahead(n, DLEFT_RING,                                \
                                 DLEFT_TABLES * (view).subtable);              \
        for (size_t i = 0; i < ahead; i++) {                                   \
            ring[i] = dleft_find(&(view), (hashes)[i]);                        \
            dleft_prefetch(&(view), &ring[i]);                                 \
        }                                                                      \
        for (size_t i = 0; i < (n); i++) {                                     \
            dleft_place *place = &ring[i % DLEFT_RING];                        \
            work;                                                              \
            if (i + ahead < (n)) {                                             \
                place = &ring[(i + ahead) % DLEFT_RING];                       \
                *place = dleft_find(&(view), (hashes)[i + ahead]);             \
                dleft_prefetch(&(view), place);                                \
            }                                                                  \
        }                                                                      \
    } while (0)

/* The four batches, of a `target`'s instructions, by its way to see. */
#define DLEFT_BATCHES(target, see)                                             \
    target static void                                                         \
    see##_contains_many(const void *image, const uint64_t *hashes, size_t n,   \
                        bool *present)                                         \
    {                                                                          \
        dleft_view v = dleft_look(image);                                      \
        DLEFT_ROLL(v, hashes, n, present[i] = see(&v, place).same != 0);       \
    }                                                                          \
    /* How many are in: n, or less if the next finds no cell. */               \
    target static size_t                                                       \
    see##_add_many(void *image, const uint64_t *hashes, size_t n)              \
    {                                                                          \
        dleft_view v = dleft_look(image);                                      \
        DLEFT_ROLL(v, hashes, n,                                               \
            if (dleft_put(&v, place, see(&v, place)) == BLY_EFULL)             \
                return i);                                                     \
        return n;                                                              \
    }                                                                          \
    /* BLY_OK, or one of the others. */                                        \
    target static bly_status                                                   \
    see##_remove_many(void *image, const uint64_t *hashes, size_t n,           \
                      bly_status *each)                                        \
    {                                                                          \
        dleft_view v = dleft_look(image);                                      \
        bly_status status = BLY_OK;                                            \
        DLEFT_ROLL(v, hashes, n,                                               \
            each[i] = dleft_take(&v, place, see(&v, place));                   \
            status = each[i] != BLY_OK ? each[i] : status);                    \
        return status;                                                         \
    }                                                                          \
    target static void                                                         \
    see##_count_many(const void *image, const uint64_t *hashes, size_t n,      \
                     uint64_t *counts)                                         \
    {                                                                          \
        dleft_view v = dleft_look(image);                                      \
        DLEFT_ROLL(v, hashes, n,                                               \
            counts[i] = dleft_tell(&v, place, see(&v, place)));                \
    }

DLEFT_BATCHES(, dleft_see)

#if CPU_X86
/* 16 bytes of each of the four buckets, from their byte `at`. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
dleft_load_avx512(const dleft_place *place, uint32_t at)
{
    __m512i x = _mm512_castsi128_si512(_mm_loadu_si128(
        (const __m128i *)(const void *)(place->bucket[0] + at)));
    x = _mm512_inserti32x4(x, _mm_loadu_si128(
        (const __m128i *)(const void *)(place->bucket[1] + at)), 1);
    x = _mm512_inserti32x4(x, _mm_loadu_si128(
        (const __m128i *)(const void *)(place->bucket[2] + at)), 2);
    return _mm512_inserti32x4(x, _mm_loadu_si128(
        (const __m128i *)(const void *)(place->bucket[3] + at)), 3);
}

/* Byte k of a bucket is compared with bit k of the field, widened to a byte by
 * a mask: what differs of the bytes from `first` to before `end`. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
dleft_differ_avx512(__m512i x, uint64_t field, uint32_t first, uint32_t end)
{
    __mmask16 bytes = (__mmask16)((1u << end) - (1u << first));
    __m512i wanted = _mm512_broadcast_i32x4(_mm_movm_epi8((__mmask16)field));
    __m512i mask = _mm512_broadcast_i32x4(_mm_movm_epi8(bytes));
    return _mm512_and_si512(_mm512_xor_si512(x, wanted), mask);
}

/* Buckets of 9 to 32 bytes; of more than 16 the last 16 are looked at after the
 * first. Then come the ORs of bytes, of what differs in the low half of each
 * 128 bits and of the counters in their high half. */
CPU_TARGET_AVX512 PLATFORM_INLINE dleft_sight
dleft_see_avx512(const dleft_view *v, const dleft_place *place)
{
    __m512i x = dleft_load_avx512(place, 0);
    uint32_t end = v->bucket < 16 ? v->bucket : 16;
    __m512i differ = dleft_differ_avx512(x, place->field, v->bits, end);
    if (v->bucket > 16) {
        uint32_t at = v->bucket - 16;
        differ = _mm512_or_si512(differ, dleft_differ_avx512(
            dleft_load_avx512(place, at), place->field >> at, 16 - at, 16));
    }
    __m512i counters = _mm512_and_si512(
        x, _mm512_set1_epi64((long long)v->counters));
    __m512i both = _mm512_or_si512(_mm512_unpacklo_epi64(differ, counters),
        _mm512_maskz_unpackhi_epi64(0x55, differ, differ));
    both = _mm512_or_si512(both, _mm512_srli_epi64(both, 32));
    both = _mm512_or_si512(both, _mm512_srli_epi64(both, 16));
    both = _mm512_or_si512(both, _mm512_srli_epi64(both, 8));

    /* differ, used, differ, used … a byte each */
    uint64_t bytes = (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(both));
    uint32_t differs = (uint32_t)_pext_u64(bytes, UINT64_C(0x00FF00FF00FF00FF));
    uint32_t used = (uint32_t)_pext_u64(bytes, UINT64_C(0xFF00FF00FF00FF00));
    return (dleft_sight){ .used = used, .same = used & ~differs };
}

DLEFT_BATCHES(CPU_TARGET_AVX512, dleft_see_avx512)

CPU_TARGET_AVX512 static bool dleft_one_avx512(const void *subject,
                                               uint64_t hash)
{
    const dleft_view *v = subject;
    dleft_place place = dleft_find(v, hash);
    return dleft_see_avx512(v, &place).same != 0;
}

/* 16 bytes of two buckets, from their byte `at`. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
dleft_load_avx2(uint8_t *const bucket[2], uint32_t at)
{
    return _mm256_setr_m128i(
        _mm_loadu_si128((const __m128i *)(const void *)(bucket[0] + at)),
        _mm_loadu_si128((const __m128i *)(const void *)(bucket[1] + at)));
}

/* Bytes of ones from `first` to before `end`, of each 16. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i dleft_bytes_avx2(uint32_t first,
                                                         uint32_t end)
{
    const __m256i number = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm256_andnot_si256(
        _mm256_cmpgt_epi8(_mm256_set1_epi8((char)first), number),
        _mm256_cmpgt_epi8(_mm256_set1_epi8((char)end), number));
}

/* The low 16 bits of the field, each widened to a byte. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i dleft_widen_avx2(uint64_t field)
{
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101,
                                            0, 0x0101010101010101);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi16((short)field), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(x, bit), bit);
}

/* dleft_see_avx512() with two registers of two buckets. The OR of a bucket's
 * bytes comes together in the lowest byte of 32 bits: first what differs of
 * buckets 0, 2, 1, 3, then the counters. */
CPU_TARGET_AVX2 PLATFORM_INLINE dleft_sight
dleft_see_avx2(const dleft_view *v, const dleft_place *place)
{
    const __m256i order = _mm256_setr_epi8(
        0, -1, 4, -1, -1, -1, -1, -1, 8, -1, 12, -1, -1, -1, -1, -1,
        -1, 0, -1, 4, -1, -1, -1, -1, -1, 8, -1, 12, -1, -1, -1, -1);
    uint32_t end = v->bucket < 16 ? v->bucket : 16;
    __m256i x = dleft_load_avx2(place->bucket, 0);
    __m256i y = dleft_load_avx2(place->bucket + 2, 0);
    __m256i wanted = dleft_widen_avx2(place->field);
    __m256i mask = dleft_bytes_avx2(v->bits, end);
    __m256i used = _mm256_and_si256(_mm256_unpacklo_epi64(x, y),
        _mm256_set1_epi64x((long long)v->counters));
    x = _mm256_and_si256(_mm256_xor_si256(x, wanted), mask);
    y = _mm256_and_si256(_mm256_xor_si256(y, wanted), mask);
    if (v->bucket > 16) {
        uint32_t at = v->bucket - 16;
        wanted = dleft_widen_avx2(place->field >> at);
        mask = dleft_bytes_avx2(16 - at, 16);
        x = _mm256_or_si256(x, _mm256_and_si256(mask, _mm256_xor_si256(wanted,
            dleft_load_avx2(place->bucket, at))));
        y = _mm256_or_si256(y, _mm256_and_si256(mask, _mm256_xor_si256(wanted,
            dleft_load_avx2(place->bucket + 2, at))));
    }
    x = _mm256_or_si256(_mm256_unpacklo_epi64(x, y),
                        _mm256_unpackhi_epi64(x, y));
    __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(
        _mm256_castsi256_ps(x), _mm256_castsi256_ps(used), 0x88));
    __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(
        _mm256_castsi256_ps(x), _mm256_castsi256_ps(used), 0xDD));
    x = _mm256_or_si256(low, high);
    x = _mm256_or_si256(x, _mm256_srli_epi32(x, 16));
    x = _mm256_or_si256(x, _mm256_srli_epi32(x, 8));
    x = _mm256_shuffle_epi8(x, order);
    __m128i both = _mm_or_si128(_mm256_castsi256_si128(x),
                                _mm256_extracti128_si256(x, 1));
    uint32_t differs = (uint32_t)_mm_cvtsi128_si32(both);
    uint32_t counters = (uint32_t)_mm_extract_epi32(both, 2);
    return (dleft_sight){ .used = counters, .same = counters & ~differs };
}

DLEFT_BATCHES(CPU_TARGET_AVX2, dleft_see_avx2)

CPU_TARGET_AVX2 static bool dleft_one_avx2(const void *subject, uint64_t hash)
{
    const dleft_view *v = subject;
    dleft_place place = dleft_find(v, hash);
    return dleft_see_avx2(v, &place).same != 0;
}

/* Returns the level of vector instructions for a bucket of this size. */
static cpu_level dleft_level(const void *image)
{
    uint64_t bucket = image_geometry(image, DLEFT_REST)
                    + image_geometry(image, DLEFT_BITS);
    return bucket > 8 && bucket <= 32 ? cpu_now() : CPU_PORTABLE;
}

#define DLEFT_CALL(image, verb, ...)                                           \
    (dleft_level(image) >= CPU_AVX512                                          \
     ? dleft_see_avx512_##verb(image, __VA_ARGS__)                             \
     : dleft_level(image) >= CPU_AVX2                                          \
     ? dleft_see_avx2_##verb(image, __VA_ARGS__)                               \
     : dleft_see_##verb(image, __VA_ARGS__))
#else
#define DLEFT_CALL(image, verb, ...) dleft_see_##verb(image, __VA_ARGS__)
#endif

static_assert(sizeof(dleft_view) <= KIND_VIEW, "a view has its room");

static bool dleft_one(const void *view, uint64_t hash)
{
    dleft_place place = dleft_find(view, hash);
    return dleft_see(view, &place).same != 0;
}

static kind_contains *dleft_contains_here(const void **subject, void *view)
{
    kind_contains *contains = dleft_one;
#if CPU_X86
    cpu_level level = dleft_level(*subject);
    contains = level >= CPU_AVX512 ? dleft_one_avx512
             : level >= CPU_AVX2 ? dleft_one_avx2 : dleft_one;
#endif
    *(dleft_view *)view = dleft_look(*subject);
    *subject = view;
    return contains;
}

static void dleft_contains_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
    DLEFT_CALL(image, contains_many, hashes, n, present);
}

static bly_status dleft_add_many(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done)
{
    *done = DLEFT_CALL(image, add_many, hashes, n);
    return *done == n ? BLY_OK : dleft_full();
}

static void dleft_remove_many(void *image, const uint64_t *hashes, size_t n,
                              bly_status *each)
{
    bly_status status = DLEFT_CALL(image, remove_many, hashes, n, each);
    if (status != BLY_OK)
        status_plain(status);
}

static void dleft_count_many(const void *image, const uint64_t *hashes,
                             size_t n, uint64_t *counts)
{
    DLEFT_CALL(image, count_many, hashes, n, counts);
}

/* ---- Another size ------------------------------------------------------ */

static bly_status dleft_resize_plan(bly_plan_t *plan, const void *image,
                                    uint64_t capacity)
{
    dleft_shape s = dleft_shape_of(image);
    uint64_t now = image_u64(image, IMAGE_CAPACITY);
    if (capacity <= now)
        return status_fail(BLY_EPARAM, "a filter of kind dleft can only grow, "
                           "and already has room for %llu keys: give a larger "
                           "number, or build a smaller one from the keys",
                           (unsigned long long)now);
    uint64_t buckets = capacity / DLEFT_LOAD + (capacity % DLEFT_LOAD != 0);
    while (dleft_buckets(&s) < buckets && s.rest > DLEFT_REST_MIN
           && dleft_buckets(&s) <= DLEFT_BUCKETS_MAX / 2)
        s.rest--;
    if (dleft_buckets(&s) < buckets)
        return status_fail(BLY_EPARAM, "this filter can grow to at most %llu "
                           "keys: each doubling takes a bit of its "
                           "fingerprints, so plan it for a lower rate",
                           (unsigned long long)dleft_buckets(&s) * DLEFT_LOAD);
    return dleft_plan_of(plan, &s, capacity);
}

/* The inverse of an odd number modulo 2^64: five steps of Newton's, each of
 * which doubles the bits that are right, from three. */
static uint64_t dleft_inverse(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/* t from the remainder and the bucket's number, by (2): with t = u 2^r + rest,
 * the high bits of `factor` t are those of factor u and factor rest. */
static uint64_t dleft_recover(const dleft_view *v, uint64_t at, uint64_t rest,
                              uint64_t factor, uint64_t inverse)
{
    uint64_t u = inverse * (at - (factor * rest >> v->rest));
    uint64_t mask = (UINT64_C(1) << (v->width - v->rest)) - 1;
    return (u & mask) << v->rest | rest;
}

/* The cells of bucket number `at` of a subtable go over into those it splits
 * into, `table` being the subtable of the larger filter. */
static void dleft_split(const dleft_view *into, uint8_t *table,
                        const dleft_view *from, const uint8_t *bucket,
                        uint64_t at, uint64_t factor, uint64_t inverse)
{
    uint32_t doubled = into->width - into->rest;
    uint64_t first = at >> (from->width - from->rest) << doubled;
    uint32_t used = dleft_used(from, bucket);
    for (; used != 0; used &= used - 1) {
        uint64_t held = dleft_read(from, bucket, dleft_lowest(used));
        uint64_t count = held & ((UINT64_C(1) << from->bits) - 1);
        uint64_t t = dleft_recover(from, at, held >> from->bits, factor,
                                   inverse);
        uint64_t high = factor * t << (64 - into->width) >> 8;
        uint64_t rest = t & ((UINT64_C(1) << into->rest) - 1);
        uint8_t *target = table + (first | high >> (56 - doubled))
                                * into->bucket;
        uint32_t free_cells = ~dleft_used(into, target) & 255;
        assert(free_cells != 0);        /* 8 cells at most came from `bucket`,
                                           and from nowhere else */
        dleft_write(into, target, dleft_lowest(free_cells),
                    rest << into->bits | count);
    }
}

static bly_status dleft_resize(void *into, const void *image)
{
    dleft_view from = dleft_look(image), to = dleft_look(into);
    uint64_t buckets = from.subtable / from.bucket, factor = 1;
    for (uint32_t i = 0; i < DLEFT_TABLES; i++) {
        uint64_t inverse = dleft_inverse(factor);
        const uint8_t *table = from.payload + i * from.subtable;
        TASK_EACH(at, buckets)
            dleft_split(&to, to.payload + i * to.subtable, &from,
                        table + at * from.bucket, at, factor, inverse);
        factor *= HASH_STEP;
    }
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void dleft_stat(bly_info_t *out, const void *image)
{
    dleft_view v = dleft_look(image);
    dleft_shape s = dleft_shape_of(image);
    uint64_t buckets = DLEFT_TABLES * dleft_buckets(&s), met = 0, full = 0;
    const uint8_t *bucket = v.payload;
    for (uint64_t i = 0; i < buckets; i++, bucket += v.bucket) {
        met += platform_popcount(dleft_used(&v, bucket));
        uint64_t short_of = ~image_u64(bucket, 0) & v.counters;
        full += DLEFT_CELLS - platform_popcount(dleft_fold(short_of));
    }
    double range = dleft_range(&s);
    out->distinct = math_numbers_keys((double)met, range, &out->distinct_sd);
    out->fill = (double)met / (DLEFT_CELLS * (double)buckets);
    out->rate = fmin((double)met / range, 1);
    out->probes = DLEFT_TABLES;
    out->saturated = full;
}

static const kind_resizing dleft_resizing = {
    .plan   = dleft_resize_plan,
    .resize = dleft_resize,
};

const bly_kind bly_kind_dleft = {
    .name    = "dleft",
    .family  = "removable",
    .summary = "counted fingerprints in the least loaded of four buckets",
    .version = DLEFT_VERSION,
    .options = dleft_options,

    .plan  = dleft_plan,
    .check = dleft_check,
    .stat  = dleft_stat,

    .contains      = dleft_contains,
    .contains_many = dleft_contains_many,
    .contains_here = dleft_contains_here,

    .add         = dleft_add,
    .add_many    = dleft_add_many,
    .remove      = dleft_remove,
    .remove_many = dleft_remove_many,
    .count       = dleft_count,
    .count_many  = dleft_count_many,

    .resizing = &dleft_resizing,
};
