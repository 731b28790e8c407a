/* fingerprints.c - tables in which a key's cells XOR to its fingerprint.
 */
#include "bodies/fingerprints.h"

#include "bloomery/inline.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/sizes.h"
#include "base/task.h"
#include "bits/eight.h"
#include "bits/four.h"

enum {
    FINGERPRINT_SHARDS_MAX = 1 << 20, FINGERPRINT_SEGMENT_MAX = 1 << 24,
    FINGERPRINT_WINDOWS_MAX = 1 << 16
};

/* ---- Sizes ------------------------------------------------------------- */

/* The part of a rate that may be missed, because two keys may share their
 * hash. */
static const double FINGERPRINT_NEARLY = 1.0 / (1 << 20);

/* Returns the largest share p with which the rate is kept, where `bits` is the
 * least f for it. Cells of one, two or four bytes stay whole, because they are
 * looked up twice as fast as others. */
static uint32_t fingerprint_choose_share(uint32_t bits, double rate)
{
    double share = FINGERPRINT_SHARES * (ldexp(rate, (int)bits) - 1);
    bool whole = bits == 8 || bits == 16 || bits == 32 || bits < 2;
    return whole || share < 1 ? 0
         : (uint32_t)fmin(share, FINGERPRINT_SHARES - 1);
}

/* The least f for the rate. */
static bly_status fingerprint_bits(uint32_t *bits, const fingerprint_wish *wish,
                                   const kind_spec *spec)
{
    uint32_t f = 1;
    uint32_t most = FINGERPRINT_BITS_MAX - fingerprint_field(0, wish->label);
    double enough = spec->rate * (1 + FINGERPRINT_NEARLY);
    while (f <= most && ldexp(1, -(int)f) > enough)
        f++;
    if (f > most)
        return status_fail(BLY_EPARAM, "kind %s cannot go below a rate of "
                           "2^-%u, and %.3g is lower: use a higher rate, or "
                           "another kind", wish->kind, most, spec->rate);
    *bits = f;
    return BLY_OK;
}

/* No result overflows for a shape within the limits of `check`: a stride is
 * below 2^39. */
static uint64_t fingerprint_stride(const peel_shape *shape, uint32_t cell,
                                   uint32_t share)
{
    uint64_t bits = peel_slots(shape) * cell
                  - fingerprint_shorter(shape, share);
    return fingerprint_round((bits + 7) / 8);
}

static uint64_t fingerprint_payload(const peel_shape *shape, uint64_t stride)
{
    return fingerprint_round(shape->shards) + shape->shards * stride;
}

/* Returns the probability that an absent key passes: 2^-f, and twice that if
 * its first slot is one of the short cells. */
static double fingerprint_rate(const peel_shape *shape, uint32_t bits,
                               uint32_t shorter)
{
    double part = shorter / (double)fingerprint_firsts(shape);
    return ldexp(1 + part, -(int)bits);
}

/* Lines that the fields of a key lie in, on average: one that is no whole part
 * of a line may reach into the next. */
static double fingerprint_lines(uint32_t arity, uint32_t field, uint32_t cell,
                                uint32_t share)
{
    bool whole = share == 0 && 512 % cell == 0;
    return arity * (1 + (whole ? 0 : (field - 1) / 512.0));
}

static void fingerprint_plan_fill(bly_plan_t *plan, const peel_shape *s,
                                  uint32_t bits, uint32_t share,
                                  uint32_t label, const kind_spec *spec)
{
    uint32_t field = fingerprint_field(bits, label), cell = field + label;
    double rate = fingerprint_rate(s, bits, fingerprint_shorter(s, share));
    bool nearly = rate > spec->rate
               && rate <= spec->rate * (1 + FINGERPRINT_NEARLY);
    plan->capacity = spec->capacity;
    plan->rate = nearly ? spec->rate : rate;
    plan->rate_sd = 0;
    plan->fill = (double)spec->capacity / (double)(s->shards * peel_slots(s));
    plan->probes = s->arity;
    plan->lines_present = fingerprint_lines(s->arity, field, cell, share);
    plan->lines_absent = plan->lines_present;
    plan->geometry[FINGERPRINT_KEYS] =
        spec->capacity | (uint64_t)share << FINGERPRINT_SHARE_AT;
    plan->geometry[FINGERPRINT_SHARDS] =
        s->shards | (uint64_t)s->arity << FINGERPRINT_ARITY_AT
                  | (uint64_t)bits << FINGERPRINT_BITS_AT
                  | (uint64_t)label << FINGERPRINT_LABEL_AT;
    plan->geometry[FINGERPRINT_SEGMENT] =
        s->segment | (uint64_t)s->windows << FINGERPRINT_WINDOWS_AT;
    plan->geometry[FINGERPRINT_STRIDE] = fingerprint_stride(s, cell, share);
}

bly_status fingerprint_plan(bly_plan_t *plan, const fingerprint_wish *wish,
                            const kind_spec *spec)
{
    uint32_t bits = (uint32_t)wish->bits, label = wish->label, cell, share = 0;
    bly_status status = BLY_OK;
    peel_shape s;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (wish->bits == KIND_CHOOSE)
        status = fingerprint_bits(&bits, wish, spec);
    if (status != BLY_OK)
        return status;
    if (!peel_plan(&s, spec->capacity, wish->arity, wish->coupled)
        || s.shards > FINGERPRINT_SHARDS_MAX
        || !peel_scratch(&plan->scratch, &s, spec->capacity))
        return kind_too_big(spec, "2^20 shards of 2^20 keys");
    if (wish->share && wish->bits == KIND_CHOOSE)
        share = fingerprint_choose_share(bits, spec->rate);
    cell = fingerprint_field(bits, label) + label;
    status = kind_plan_bytes(plan, fingerprint_payload(&s,
                                       fingerprint_stride(&s, cell, share)));
    if (status == BLY_OK)
        fingerprint_plan_fill(plan, &s, bits, share, label, spec);
    return status;
}

/* ---- Check ------------------------------------------------------------- */

bly_status fingerprint_check(const void *image, bool labels)
{
    const fingerprint_view v = fingerprint_look(image);
    const peel_shape *s = &v.shape;
    uint64_t shards = image_geometry(image, FINGERPRINT_SHARDS);
    uint32_t share = fingerprint_share(image);
    bool sound = s->shards >= 1 && s->shards <= FINGERPRINT_SHARDS_MAX
              && s->segment >= 1 && s->segment <= FINGERPRINT_SEGMENT_MAX
              && s->windows >= 1 && s->windows <= FINGERPRINT_WINDOWS_MAX
              && (s->arity == 3 || s->arity == 4)
              && v.bits >= 1 && v.field <= FINGERPRINT_BITS_MAX
              && (share == 0 || (v.bits >= 2 && !labels))
              && (labels ? v.label >= 1 && v.label <= FINGERPRINT_LABEL_MAX
                           && s->arity == FINGERPRINT_LABEL_ARITY
                         : v.label == 0)
              && shards >> FINGERPRINT_END_AT == 0;
    /* Only now is it known that none of these overflows. */
    sound = sound && peel_slots(s) <= PEEL_SLOTS_MAX
         && fingerprint_keys(image) <= s->shards * peel_slots(s)
         && v.stride == fingerprint_stride(s, v.cell, share)
         && image_payload_bytes(image) == fingerprint_payload(s, v.stride);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains ---------------------------------------------------------- */

/* The forms of a cell's field that have code of their own: one byte; two bytes;
 * up to 9 bits, which are read from the two bytes that end with their last bit;
 * and any bits. These two have a form for tables with short cells. A short cell
 * is read like the others, with the first bit of the next cell as its last bit.
 * A cell that is not short follows the last one, so that this stays inside. */
typedef enum {
    FINGERPRINT_ANY, FINGERPRINT_ANY_SHORT, FINGERPRINT_BYTE, FINGERPRINT_PAIR,
    FINGERPRINT_NARROW, FINGERPRINT_NARROW_SHORT, FINGERPRINT_FORMS
} fingerprint_form;

enum { FINGERPRINT_NARROW_BITS = 9 };

static fingerprint_form fingerprint_form_of(const fingerprint_view *v)
{
    bool narrow = v->field <= FINGERPRINT_NARROW_BITS;
    if (v->shorter > 0)
        return narrow ? FINGERPRINT_NARROW_SHORT : FINGERPRINT_ANY_SHORT;
    if (v->label == 0 && (v->cell == 8 || v->cell == 16))
        return v->cell == 8 ? FINGERPRINT_BYTE : FINGERPRINT_PAIR;
    return narrow ? FINGERPRINT_NARROW : FINGERPRINT_ANY;
}

PLATFORM_INLINE bool fingerprint_narrow(fingerprint_form form)
{
    return form == FINGERPRINT_NARROW || form == FINGERPRINT_NARROW_SHORT;
}

/* Returns whether the table has short cells. */
PLATFORM_INLINE bool fingerprint_short(fingerprint_form form)
{
    return form == FINGERPRINT_ANY_SHORT || form == FINGERPRINT_NARROW_SHORT;
}

/* Returns the place of the field of a slot in the table that begins `row` bytes
 * behind v->rows: the field's first byte, its last bit if it is narrow, and
 * fingerprint_place() for others. */
PLATFORM_INLINE uint64_t fingerprint_at(const fingerprint_view *v,
                                        fingerprint_form form, uint64_t row,
                                        uint64_t slot)
{
    if (form == FINGERPRINT_BYTE)
        return row + slot;
    if (form == FINGERPRINT_PAIR)
        return row + 2 * slot;
    uint64_t bit = 8 * row + slot * v->cell;
    if (fingerprint_short(form))
        bit -= slot < v->shorter ? slot : v->shorter;
    return fingerprint_narrow(form) ? bit + v->field - 1
                                    : fingerprint_place(bit, v->field);
}

/* Reads the field at a place, with other bits above it; a narrow one with
 * 9 - v->field bits below it. Seeds are in front of the tables. */
PLATFORM_INLINE uint64_t fingerprint_get(const fingerprint_view *v,
                                         fingerprint_form form, uint64_t place)
{
    if (form == FINGERPRINT_BYTE)
        return v->rows[place];
    if (form == FINGERPRINT_PAIR)
        return image_u16(v->rows + place, 0);
    if (fingerprint_narrow(form))
        return image_u16(v->rows + (place >> 3) - 1, 0) >> (place & 7);
    return fingerprint_load(v->rows, place);
}

/* Removes the bits below fields, which are exclusive ors like the fields. */
PLATFORM_INLINE uint64_t fingerprint_low(const fingerprint_view *v,
                                         fingerprint_form form, uint64_t read)
{
    return fingerprint_narrow(form)
         ? read >> (FINGERPRINT_NARROW_BITS - v->field) : read;
}

/* Returns whether the XOR of fields is the fingerprint of a state, which has
 * the bits of `mask`, in a table that is not empty. */
PLATFORM_INLINE bool fingerprint_same(fingerprint_form form, uint64_t read,
                                      uint64_t state, uint64_t mask)
{
    if (form == FINGERPRINT_BYTE)
        return (uint8_t)(read ^ state) == 0;
    if (form == FINGERPRINT_PAIR)
        return (uint16_t)(read ^ state) == 0;
    return ((read ^ state) & mask) == 0;
}

/* Looks up a key. `one`: the only shard has the salt v->salt. The fewer
 * instructions a lookup takes, the more keys the processor sees ahead. */
PLATFORM_INLINE bool fingerprint_has(const fingerprint_view *v, uint32_t arity,
                                     fingerprint_form form, bool one,
                                     uint64_t hash)
{
    peel_shape shape = v->shape;
    shape.shards = one ? 1 : shape.shards;
    uint64_t state = hash_mix(hash), slot[PEEL_ARITY_MAX], read = 0;
    uint64_t shard = peel_shard(&shape, state), row = shard * v->stride;
    uint64_t salt = one ? v->salt : peel_salt(v->seeds[shard]);
    peel_places(&shape, arity, state, salt, slot);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++)
        read ^= fingerprint_get(v, form,
                                fingerprint_at(v, form, row, slot[j]));
    bool brief = fingerprint_short(form) && slot[0] < v->shorter;
    return fingerprint_same(form, fingerprint_low(v, form, read), state,
                            bits_mask(v->bits - brief));
}

bool fingerprint_contains(const void *image, uint64_t hash)
{
    const fingerprint_view v = fingerprint_look(image);
    if (v.empty)
        return false;
    if (v.shorter > 0)
        return v.shape.arity == 3
             ? fingerprint_has(&v, 3, FINGERPRINT_ANY_SHORT, false, hash)
             : fingerprint_has(&v, 4, FINGERPRINT_ANY_SHORT, false, hash);
    return v.shape.arity == 3
         ? fingerprint_has(&v, 3, FINGERPRINT_ANY, false, hash)
         : fingerprint_has(&v, 4, FINGERPRINT_ANY, false, hash);
}

/* ---- Single keys, by a view ---------------------------------------------- */

static_assert(sizeof(fingerprint_view) <= KIND_VIEW, "a view has its room");

static bool fingerprint_none(const void *view, uint64_t hash)
{
    (void)view, (void)hash;
    return false;
}

/* Defines a body for each arity and number of shards of a form. */
#define FINGERPRINT_SINGLE(name, arity, form, one)                             \
    static bool name(const void *view, uint64_t hash)                          \
    {                                                                          \
        return fingerprint_has(view, arity, form, one, hash);                  \
    }
#define FINGERPRINT_SINGLES(name, form)                                        \
    FINGERPRINT_SINGLE(fingerprint_##name##_3, 3, form, false)                 \
    FINGERPRINT_SINGLE(fingerprint_##name##_3_one, 3, form, true)              \
    FINGERPRINT_SINGLE(fingerprint_##name##_4, 4, form, false)                 \
    FINGERPRINT_SINGLE(fingerprint_##name##_4_one, 4, form, true)
#define FINGERPRINT_TABLE(name)                                                \
    { { fingerprint_##name##_3, fingerprint_##name##_3_one },                  \
      { fingerprint_##name##_4, fingerprint_##name##_4_one } }

FINGERPRINT_SINGLES(any, FINGERPRINT_ANY)
FINGERPRINT_SINGLES(any_short, FINGERPRINT_ANY_SHORT)
FINGERPRINT_SINGLES(byte, FINGERPRINT_BYTE)
FINGERPRINT_SINGLES(pair, FINGERPRINT_PAIR)
FINGERPRINT_SINGLES(narrow, FINGERPRINT_NARROW)
FINGERPRINT_SINGLES(narrow_short, FINGERPRINT_NARROW_SHORT)

kind_contains *fingerprint_contains_here(const void **subject, void *view)
{
    static kind_contains *const single[FINGERPRINT_FORMS][2][2] = {
        [FINGERPRINT_ANY] = FINGERPRINT_TABLE(any),
        [FINGERPRINT_ANY_SHORT] = FINGERPRINT_TABLE(any_short),
        [FINGERPRINT_BYTE] = FINGERPRINT_TABLE(byte),
        [FINGERPRINT_PAIR] = FINGERPRINT_TABLE(pair),
        [FINGERPRINT_NARROW] = FINGERPRINT_TABLE(narrow),
        [FINGERPRINT_NARROW_SHORT] = FINGERPRINT_TABLE(narrow_short),
    };
    const fingerprint_view v = fingerprint_open(*subject);
    memcpy(view, &v, sizeof v);
    *subject = view;
    return v.empty ? fingerprint_none
         : single[fingerprint_form_of(&v)][v.shape.arity == 4]
                 [v.shape.shards == 1];
}

/* ---- Batches ----------------------------------------------------------- */

/* Returns whether the table is so near that asking takes longer than waiting;
 * hashes and answers share the cache with it. */
PLATFORM_INLINE bool fingerprint_near(const fingerprint_view *v)
{
    return v->shape.shards * v->stride / 3 <= cpu_near() / 4;
}

/* Keys are prepared four at a time, which computes their places. Fields are
 * prefetched then, and read `ahead` steps later. */
enum {
    FINGERPRINT_FOUR = 4,
    FINGERPRINT_FOURS = 8               /* groups on their way               */
};

typedef struct {
    size_t fours, ahead;
    bool   near;                        /* nothing is prefetched             */
} fingerprint_walk;

typedef struct {
    uint64_t place[PEEL_ARITY_MAX][FINGERPRINT_FOUR];
    uint64_t wanted[FINGERPRINT_FOUR];
} fingerprint_four;

/* Returns a state with all that comparing it takes: if there are short cells,
 * the mask of the fingerprint's bits is in the high half, which has been used.
 */
PLATFORM_INLINE uint64_t fingerprint_wanted(const fingerprint_view *v,
                                            fingerprint_form form,
                                            uint64_t state, uint64_t first)
{
    if (!fingerprint_short(form))
        return state;
    uint64_t mask = bits_mask(v->bits - (first < v->shorter)) << 32;
    return (uint32_t)state | mask;
}

PLATFORM_INLINE void
fingerprint_prepare(const fingerprint_view *v, uint32_t arity,
                    fingerprint_form form, const uint64_t *hashes,
                    fingerprint_four *four)
{
    PLATFORM_UNROLL
    for (size_t i = 0; i < FINGERPRINT_FOUR; i++) {
        uint64_t state = hash_mix(hashes[i]), slot[PEEL_ARITY_MAX];
        uint64_t shard = peel_shard(&v->shape, state), row = shard * v->stride;
        uint64_t salt = v->shape.shards == 1 ? v->salt
                                             : peel_salt(v->seeds[shard]);
        peel_places(&v->shape, arity, state, salt, slot);
        four->wanted[i] = fingerprint_wanted(v, form, state, slot[0]);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++)
            four->place[j][i] = fingerprint_at(v, form, row, slot[j]);
    }
}

/* Returns the first bit of the label behind a field. */
PLATFORM_INLINE uint64_t fingerprint_behind(const fingerprint_view *v,
                                            fingerprint_form form,
                                            uint64_t place)
{
    return form == FINGERPRINT_NARROW
         ? place + 1 : (place >> 6) * 8 + (place & 63) + v->field;
}

/* Prefetches the lines of four keys; `labels`: to the ends of their cells,
 * because any of them may hold the label. The line in which a narrow field
 * begins and does not end is so rare that it is not asked for. */
PLATFORM_INLINE void
fingerprint_fetch(const fingerprint_view *v, uint32_t arity,
                  fingerprint_form form, bool labels,
                  const fingerprint_four *four)
{
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        PLATFORM_UNROLL
        for (size_t i = 0; i < FINGERPRINT_FOUR; i++) {
            uint64_t place = four->place[j][i];
            bool any = form == FINGERPRINT_ANY || form == FINGERPRINT_ANY_SHORT;
            uint64_t at = any ? place >> 6
                        : fingerprint_narrow(form) ? place >> 3 : place;
            platform_prefetch(v->rows + at);
            if (labels)
                platform_prefetch(v->rows + ((fingerprint_behind(v, form, place)
                                              + v->label - 1) >> 3));
            else if (any)
                platform_prefetch(v->rows + at + 7);
        }
    }
}

/* Answers for four keys. The labels of those that are there are read unless
 * `labels` is NULL. */
PLATFORM_INLINE void
fingerprint_answer(const fingerprint_view *v, uint32_t arity,
                   fingerprint_form form, const fingerprint_four *four,
                   bool *present, uint64_t *labels)
{
    PLATFORM_UNROLL
    for (size_t i = 0; i < FINGERPRINT_FOUR; i++) {
        uint64_t read = 0;
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++)
            read ^= fingerprint_get(v, form, four->place[j][i]);
        read = fingerprint_low(v, form, read);
        uint64_t wanted = four->wanted[i];
        uint64_t mask = fingerprint_short(form) ? wanted >> 32
                                                : bits_mask(v->bits);
        present[i] = fingerprint_same(form, read, wanted, mask);
        if (labels != NULL && present[i]) {
            uint64_t own = four->place[fingerprint_which(v, read)][i];
            labels[i] = fingerprint_label(v, fingerprint_behind(v, form, own));
        }
    }
}

PLATFORM_INLINE fingerprint_walk
fingerprint_walk_of(const fingerprint_view *v, size_t n)
{
    size_t keys = cpu_ahead(n, FINGERPRINT_FOURS * FINGERPRINT_FOUR,
                            v->shape.shards * v->stride);
    return (fingerprint_walk) {
        .fours = n / FINGERPRINT_FOUR,
        .ahead = (keys + FINGERPRINT_FOUR - 1) / FINGERPRINT_FOUR,
        .near = fingerprint_near(v),
    };
}

/* Answers, in step i, for the keys that were prepared `ahead` steps before.
 * Those of step i may take their place in the ring afterwards. */
PLATFORM_INLINE void
fingerprint_step(const fingerprint_view *v, uint32_t arity,
                 fingerprint_form form, const fingerprint_walk *walk,
                 const fingerprint_four *ring, size_t i, bool *present,
                 uint64_t *labels)
{
    size_t done = i - walk->ahead, key = done * FINGERPRINT_FOUR;
    if (i >= walk->ahead)
        fingerprint_answer(v, arity, form, &ring[done % FINGERPRINT_FOURS],
                           present + key, labels != NULL ? labels + key : NULL);
}

PLATFORM_INLINE size_t
fingerprint_many(const fingerprint_view *view, uint32_t arity,
                 fingerprint_form form, const uint64_t *hashes, size_t n,
                 bool *present, uint64_t *labels)
{
    const fingerprint_view v = *view;
    const fingerprint_walk walk = fingerprint_walk_of(&v, n);
    fingerprint_four ring[FINGERPRINT_FOURS];
    for (size_t i = 0; i < walk.fours + walk.ahead; i++) {
        fingerprint_four *four = &ring[i % FINGERPRINT_FOURS];
        fingerprint_step(&v, arity, form, &walk, ring, i, present, labels);
        if (i >= walk.fours)
            continue;
        fingerprint_prepare(&v, arity, form, hashes + i * FINGERPRINT_FOUR,
                            four);
        if (!walk.near)
            fingerprint_fetch(&v, arity, form, labels != NULL, four);
    }
    return walk.fours * FINGERPRINT_FOUR;
}

#if CPU_X86
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i fingerprint_range_avx2(__m256i r,
                                                               __m256i n)
{
    return _mm256_srli_epi64(_mm256_mul_epu32(r, n), 32);
}

/* Computes the salts of four shards. A seed is read with the seven bytes behind
 * it: the tables follow. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
fingerprint_salt_avx2(const fingerprint_view *v, __m256i shard)
{
    __m256i seed = _mm256_i64gather_epi64((const long long *)v->seeds, shard,
                                          1);
    seed = _mm256_and_si256(seed, four_all(UINT8_MAX));
    return four_times(_mm256_add_epi64(seed, four_all(1)), HASH_STEP);
}

/* Computes fingerprint_place(). */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
fingerprint_place_avx2(const fingerprint_view *v, __m256i bit)
{
    __m256i first = _mm256_srli_epi64(bit, 3);
    __m256i last = _mm256_add_epi64(bit, four_all(v->field - 1));
    __m256i end = _mm256_or_si256(_mm256_srli_epi64(last, 3),
                                  four_all(FINGERPRINT_LINE - 1));
    end = _mm256_sub_epi64(end, four_all(7));
    __m256i at = _mm256_blendv_epi8(first, end, _mm256_cmpgt_epi64(first, end));
    return _mm256_add_epi64(bit, _mm256_sub_epi64(_mm256_slli_epi64(at, 6),
                                                  _mm256_slli_epi64(at, 3)));
}

/* Computes fingerprint_at(). */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
fingerprint_at_avx2(const fingerprint_view *v, fingerprint_form form,
                    __m256i row, __m256i slot)
{
    if (form == FINGERPRINT_BYTE)
        return _mm256_add_epi64(row, slot);
    if (form == FINGERPRINT_PAIR)
        return _mm256_add_epi64(row, _mm256_slli_epi64(slot, 1));
    __m256i bit = _mm256_add_epi64(_mm256_slli_epi64(row, 3),
                                   _mm256_mul_epu32(slot, four_all(v->cell)));
    if (fingerprint_short(form))
        bit = _mm256_sub_epi64(bit, _mm256_min_epu32(slot,
                                                     four_all(v->shorter)));
    return fingerprint_narrow(form)
         ? _mm256_add_epi64(bit, four_all(v->field - 1))
         : fingerprint_place_avx2(v, bit);
}

/* Computes fingerprint_wanted(). */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
fingerprint_wanted_avx2(const fingerprint_view *v, fingerprint_form form,
                        __m256i state, __m256i first)
{
    if (!fingerprint_short(form))
        return state;
    __m256i brief = _mm256_cmpgt_epi64(four_all(v->shorter), first);
    __m256i masks = _mm256_blendv_epi8(four_all(bits_mask(v->bits) << 32),
                                       four_all(bits_mask(v->bits - 1) << 32),
                                       brief);
    return _mm256_blend_epi32(state, masks, 0xAA);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
fingerprint_prepare_avx2(const fingerprint_view *v, uint32_t arity,
                         fingerprint_form form, const uint64_t *hashes,
                         fingerprint_four *four)
{
    __m256i length = four_all(v->shape.segment);
    __m256i state = four_mix(_mm256_loadu_si256((const __m256i *)hashes));
    __m256i product = _mm256_mul_epu32(_mm256_srli_epi64(state, 32),
                                       four_all(v->shape.shards));
    __m256i shard = _mm256_srli_epi64(product, 32);
    __m256i first = fingerprint_range_avx2(product, four_all(v->shape.windows));
    __m256i row = _mm256_setzero_si256(), salt = four_all(v->salt);
    if (v->shape.shards > 1) {
        row = four_times(shard, v->stride);
        salt = fingerprint_salt_avx2(v, shard);
    }
    __m256i a = four_times(_mm256_xor_si256(state, salt), PEEL_A);
    __m256i high = _mm256_srli_epi64(a, 32), low = _mm256_xor_si256(a, high);
    __m256i b = four_times(low, PEEL_B);
    const __m256i r[PEEL_ARITY_MAX] = { high, low, _mm256_srli_epi64(b, 32),
                                        b };
    __m256i begin = _mm256_mul_epu32(first, length);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        __m256i slot = _mm256_add_epi64(begin,
                                        fingerprint_range_avx2(r[j], length));
        begin = _mm256_add_epi64(begin, length);
        if (j == 0)
            _mm256_storeu_si256((__m256i *)four->wanted,
                                fingerprint_wanted_avx2(v, form, state, slot));
        __m256i at = fingerprint_at_avx2(v, form, row, slot);
        _mm256_storeu_si256((__m256i *)four->place[j], at);
    }
}

/* Cells are prefetched one step later, because vectors are read faster when
 * they have left for the cache. */
CPU_TARGET_AVX2 PLATFORM_INLINE size_t
fingerprint_many_avx2(const fingerprint_view *view, uint32_t arity,
                      fingerprint_form form, const uint64_t *hashes, size_t n,
                      bool *present, uint64_t *labels)
{
    const fingerprint_view v = *view;
    const fingerprint_walk walk = fingerprint_walk_of(&v, n);
    fingerprint_four ring[FINGERPRINT_FOURS];
    for (size_t i = 0; i < walk.fours + walk.ahead; i++) {
        fingerprint_step(&v, arity, form, &walk, ring, i, present, labels);
        if (!walk.near && i > 0 && i <= walk.fours)
            fingerprint_fetch(&v, arity, form, labels != NULL,
                              &ring[(i - 1) % FINGERPRINT_FOURS]);
        if (i < walk.fours)
            fingerprint_prepare_avx2(&v, arity, form,
                                     hashes + i * FINGERPRINT_FOUR,
                                     &ring[i % FINGERPRINT_FOURS]);
    }
    return walk.fours * FINGERPRINT_FOUR;
}

/* Groups of keys are prepared, then their lines asked for, FINGERPRINT_SETTLED
 * groups later, then they are answered, some groups after that. A group
 * is written in vectors and read key by key, which the processor cannot do
 * before the vectors have left for the cache; whence the pause. And a load that
 * waits for memory may have to wait for stores to addresses that only look like
 * its own: where tables are far, FINGERPRINT_BLOCK groups are prepared at once,
 * so that while lines are asked for and read nothing is written but answers.
 * That was measured to halve the time for four cells, and to make it steady;
 * but in the cache one group at a time is quicker by a quarter. */
enum {
    FINGERPRINT_AHEAD = 64,             /* keys, with three or four lines    */
    FINGERPRINT_LANES = 8,              /* keys of one vector                */
    FINGERPRINT_GROUPS = FINGERPRINT_AHEAD / FINGERPRINT_LANES,
    FINGERPRINT_SETTLED = 2,
    FINGERPRINT_BLOCK = 32,
    FINGERPRINT_RING = FINGERPRINT_GROUPS + FINGERPRINT_SETTLED
                     + FINGERPRINT_BLOCK
};

/* Returns whether the table is far from the processor's own cache. */
PLATFORM_INLINE bool fingerprint_far(const fingerprint_view *v)
{
    return v->shape.shards * v->stride / 8 > cpu_near();
}

/* Groups whose lines are on their way. */
PLATFORM_INLINE size_t fingerprint_groups(void)
{
    size_t keys = cpu_ahead(FINGERPRINT_AHEAD, FINGERPRINT_AHEAD, CPU_FAR);
    return (keys + FINGERPRINT_LANES - 1) / FINGERPRINT_LANES;
}

/* As many keys on their way; `over`: a bit for each whose cell ends in another
 * line than it begins in. */
typedef struct {
    uint64_t place[PEEL_ARITY_MAX][FINGERPRINT_LANES];
    uint64_t wanted[FINGERPRINT_LANES];
    uint8_t  over[PEEL_ARITY_MAX];
} fingerprint_group;

/* peel_range of the low halves. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i fingerprint_range_avx512(__m512i r,
                                                                   __m512i n)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(r, n), 32);
}

/* The salts of eight shards. A seed is read with the seven bytes behind it:
 * the tables follow. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_salt_avx512(const fingerprint_view *v, __m512i shard)
{
    if (v->shape.shards == 1)
        return eight_all(peel_salt(v->seeds[0]));
    __m512i seed = _mm512_i64gather_epi64(shard, v->seeds, 1);
    seed = _mm512_and_si512(seed, eight_all(UINT8_MAX));
    return _mm512_mullo_epi64(_mm512_add_epi64(seed, eight_all(1)),
                              eight_all(HASH_STEP));
}

/* Computes fingerprint_place() for eight keys. *over: a bit for each cell that
 * ends in another cache line than it begins in. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_place_avx512(const fingerprint_view *v, __m512i bit, __mmask8 *over)
{
    __m512i first = _mm512_srli_epi64(bit, 3);
    __m512i last = _mm512_srli_epi64(_mm512_add_epi64(bit,
                                     eight_all(v->field - 1)), 3);
    __m512i end = _mm512_or_si512(last, eight_all(FINGERPRINT_LINE - 1));
    end = _mm512_sub_epi64(end, eight_all(7));
    __m512i at = _mm512_min_epu64(first, end);
    *over = _mm512_test_epi64_mask(_mm512_xor_si512(first, last),
                                   eight_all(~UINT64_C(63)));
    return _mm512_add_epi64(bit, _mm512_sub_epi64(_mm512_slli_epi64(at, 6),
                                                  _mm512_slli_epi64(at, 3)));
}

/* Computes fingerprint_wanted(); `brief`: there are short cells. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_wanted_avx512(const fingerprint_view *v, bool brief, __m512i state,
                          __m512i first)
{
    if (!brief)
        return state;
    __mmask8 less = _mm512_cmplt_epu64_mask(first, eight_all(v->shorter));
    __m512i mask = _mm512_mask_blend_epi64(less,
                       eight_all(bits_mask(v->bits) << 32),
                       eight_all(bits_mask(v->bits - 1) << 32));
    return _mm512_mask_blend_epi32(0xAAAA, state, mask);
}

/* Computes the first bits of the cells of eight keys, as fingerprint_at() does.
 * Returns what is wanted there. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_cells_avx512(const fingerprint_view *v, uint32_t arity, bool brief,
                         const uint64_t *hashes, __m512i bit[PEEL_ARITY_MAX])
{
    __m512i length = eight_all(v->shape.segment);
    __m512i cell = eight_all(v->cell);
    __m512i state = eight_mix(_mm512_loadu_si512(hashes));
    __m512i product = _mm512_mul_epu32(_mm512_srli_epi64(state, 32),
                                       eight_all(v->shape.shards));
    __m512i shard = _mm512_srli_epi64(product, 32);
    __m512i first = fingerprint_range_avx512(product,
                                             eight_all(v->shape.windows));
    __m512i row = _mm512_mullo_epi64(shard, eight_all(v->stride * 8));
    __m512i salt = fingerprint_salt_avx512(v, shard);
    __m512i a = _mm512_mullo_epi64(_mm512_xor_si512(state, salt),
                                   eight_all(PEEL_A));
    a = _mm512_xor_si512(a, _mm512_srli_epi64(a, 32));
    __m512i b = _mm512_mullo_epi64(a, eight_all(PEEL_B));
    const __m512i r[PEEL_ARITY_MAX] = { _mm512_srli_epi64(a, 32), a,
                                        _mm512_srli_epi64(b, 32), b };
    __m512i begin = _mm512_mul_epu32(first, length), wanted = state;
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        __m512i slot = _mm512_add_epi64(begin,
                                        fingerprint_range_avx512(r[j], length));
        begin = _mm512_add_epi64(begin, length);
        bit[j] = _mm512_add_epi64(row, _mm512_mul_epu32(slot, cell));
        if (brief)
            bit[j] = _mm512_sub_epi64(bit[j], _mm512_min_epu32(slot,
                                                  eight_all(v->shorter)));
        if (j == 0)
            wanted = fingerprint_wanted_avx512(v, brief, state, slot);
    }
    return wanted;
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
fingerprint_prepare_avx512(const fingerprint_view *v, uint32_t arity,
                           bool brief, const uint64_t *hashes,
                           fingerprint_group *g)
{
    __m512i bit[PEEL_ARITY_MAX];
    __m512i wanted = fingerprint_cells_avx512(v, arity, brief, hashes, bit);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        __mmask8 over;
        _mm512_storeu_si512(g->place[j],
                            fingerprint_place_avx512(v, bit[j], &over));
        g->over[j] = over;
    }
    _mm512_storeu_si512(g->wanted, wanted);
}

/* Prefetches the lines of a group. A cell across two lines is rare, so the
 * branch costs less than a second prefetch. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
fingerprint_fetch_avx512(const fingerprint_view *v, uint32_t arity,
                         const fingerprint_group *g)
{
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        PLATFORM_UNROLL
        for (size_t i = 0; i < FINGERPRINT_LANES; i++)
            platform_prefetch(v->rows + (g->place[j][i] >> 6));
        for (uint32_t over = g->over[j]; over != 0; over &= over - 1)
            platform_prefetch(v->rows + 7
                              + (g->place[j][_tzcnt_u32(over)] >> 6));
    }
}

/* fingerprint_load() */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_load_avx512(const fingerprint_view *v, __m512i place)
{
    __m512i word = _mm512_i64gather_epi64(_mm512_srli_epi64(place, 6), v->rows,
                                          1);
    return _mm512_srlv_epi64(word, _mm512_and_si512(place, eight_all(63)));
}

/* fingerprint_match() */
CPU_TARGET_AVX512 PLATFORM_INLINE void
fingerprint_match_avx512(const fingerprint_view *v, bool brief, __m512i read,
                         __m512i wanted, bool *present)
{
    __m512i mask = brief ? _mm512_srli_epi64(wanted, 32)
                         : eight_all(bits_mask(v->bits));
    __mmask8 same = _mm512_testn_epi64_mask(_mm512_xor_si512(read, wanted),
                                            mask);
    same = v->empty ? 0 : same;
    _mm_storel_epi64((__m128i *)(void *)present, _mm_maskz_set1_epi8(same, 1));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
fingerprint_answer_avx512(const fingerprint_view *v, uint32_t arity, bool brief,
                          const fingerprint_group *g, bool *present)
{
    __m512i read = _mm512_setzero_si512();
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++)
        read = _mm512_xor_si512(read, fingerprint_load_avx512(v,
                                      _mm512_loadu_si512(g->place[j])));
    fingerprint_match_avx512(v, brief, read, _mm512_loadu_si512(g->wanted),
                             present);
}

/* The cells that begin at such bits; `whole`, where they are 8, 16 or 32 bits:
 * from the aligned four bytes that each lies in. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
fingerprint_read_avx512(const fingerprint_view *v, __m512i bit, bool whole)
{
    __mmask8 over;
    if (!whole)
        return fingerprint_load_avx512(v, fingerprint_place_avx512(v, bit,
                                                                   &over));
    __m512i word = _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(
                       _mm512_srli_epi64(bit, 5), v->rows, 4));
    return _mm512_srlv_epi64(word, _mm512_and_si512(bit, eight_all(31)));
}

/* Tables that are in the cache: eight keys after another, nothing is asked for
 * ahead, and nothing but the answers written. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
fingerprint_here_avx512(const fingerprint_view *view, uint32_t arity,
                        bool brief, bool whole, const uint64_t *hashes,
                        size_t n, bool *present)
{
    const fingerprint_view v = *view;
    size_t i = 0;
    for (; i + FINGERPRINT_LANES <= n; i += FINGERPRINT_LANES) {
        __m512i bit[PEEL_ARITY_MAX], read = _mm512_setzero_si512();
        __m512i wanted = fingerprint_cells_avx512(&v, arity, brief, hashes + i,
                                                  bit);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++)
            read = _mm512_xor_si512(read, fingerprint_read_avx512(&v, bit[j],
                                                                  whole));
        fingerprint_match_avx512(&v, brief, read, wanted, present + i);
    }
    return i;
}

PLATFORM_INLINE size_t fingerprint_turn(size_t at, size_t size)
{
    return at + 1 < size ? at + 1 : 0;
}

/* Looks up as many keys as fill whole vectors; returns their number. Turn i
 * fetches the lines of group i and answers for group i - `asking`. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
fingerprint_many_avx512(const fingerprint_view *view, uint32_t arity,
                        bool brief, const uint64_t *hashes, size_t n,
                        bool *present)
{
    const fingerprint_view v = *view;
    size_t block = fingerprint_far(&v) ? FINGERPRINT_BLOCK : 1;
    size_t groups = n / FINGERPRINT_LANES, asking = fingerprint_groups();
    size_t ahead = FINGERPRINT_SETTLED + block, size = asking + ahead;
    size_t prepared = 0, in = 0, fetched = 0, answered = 0;
    fingerprint_group ring[FINGERPRINT_RING];
    for (size_t i = 0; i < groups + asking; i++) {
        if (i % block == 0)
            for (; prepared < groups && prepared < i + ahead;
                 prepared++, in = fingerprint_turn(in, size)) {
                fingerprint_prepare_avx512(&v, arity, brief, hashes, &ring[in]);
                hashes += FINGERPRINT_LANES;
            }
        if (i < groups) {
            fingerprint_fetch_avx512(&v, arity, &ring[fetched]);
            fetched = fingerprint_turn(fetched, size);
        }
        if (i >= asking) {
            fingerprint_answer_avx512(&v, arity, brief, &ring[answered],
                                      present);
            present += FINGERPRINT_LANES;
            answered = fingerprint_turn(answered, size);
        }
    }
    return groups * FINGERPRINT_LANES;
}

CPU_TARGET_AVX512 PLATFORM_INLINE size_t
fingerprint_vectors_of(const fingerprint_view *v, uint32_t arity,
                       const uint64_t *hashes, size_t n, bool *present)
{
    bool brief = v->shorter > 0;
    bool whole = v->cell == 8 || v->cell == 16 || v->cell == 32;
    if (!fingerprint_near(v))
        return brief
             ? fingerprint_many_avx512(v, arity, true, hashes, n, present)
             : fingerprint_many_avx512(v, arity, false, hashes, n, present);
    if (brief)
        return fingerprint_here_avx512(v, arity, true, false, hashes, n,
                                       present);
    return whole
         ? fingerprint_here_avx512(v, arity, false, true, hashes, n, present)
         : fingerprint_here_avx512(v, arity, false, false, hashes, n, present);
}

CPU_TARGET_AVX512 static size_t
fingerprint_vectors(const fingerprint_view *v, const uint64_t *hashes, size_t n,
                    bool *present)
{
    return v->shape.arity == 3
         ? fingerprint_vectors_of(v, 3, hashes, n, present)
         : fingerprint_vectors_of(v, 4, hashes, n, present);
}
#endif

/* Defines the choice among the bodies of `many`, which looks up as many keys as
 * fill its groups and returns their number. Labels are in the forms that come
 * last, and cells are four then. */
#define FINGERPRINT_BODY(many, form)                                           \
    case form:                                                                 \
        return v->shape.arity == 3                                             \
             ? many(v, 3, form, hashes, n, present, NULL)                      \
             : many(v, 4, form, hashes, n, present, NULL);
#define FINGERPRINT_CHOICE(name, many)                                         \
    name(const fingerprint_view *v, const uint64_t *hashes, size_t n,          \
         bool *present, uint64_t *labels)                                      \
    {                                                                          \
        fingerprint_form form = fingerprint_form_of(v);                        \
        if (labels != NULL)                                                    \
            return form == FINGERPRINT_NARROW                                  \
                 ? many(v, 4, FINGERPRINT_NARROW, hashes, n, present, labels)  \
                 : many(v, 4, FINGERPRINT_ANY, hashes, n, present, labels);    \
        switch (form) {                                                        \
        FINGERPRINT_BODY(many, FINGERPRINT_BYTE)                               \
        FINGERPRINT_BODY(many, FINGERPRINT_PAIR)                               \
        FINGERPRINT_BODY(many, FINGERPRINT_NARROW)                             \
        FINGERPRINT_BODY(many, FINGERPRINT_NARROW_SHORT)                       \
        FINGERPRINT_BODY(many, FINGERPRINT_ANY_SHORT)                          \
        default:                                                               \
        FINGERPRINT_BODY(many, FINGERPRINT_ANY)                                \
        }                                                                      \
    }

static size_t FINGERPRINT_CHOICE(fingerprint_portable, fingerprint_many)
#if CPU_X86
CPU_TARGET_AVX2 static size_t FINGERPRINT_CHOICE(fingerprint_avx2,
                                                 fingerprint_many_avx2)
#endif

static size_t fingerprint_fours(const fingerprint_view *v,
                                const uint64_t *hashes, size_t n,
                                bool *present, uint64_t *labels)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return fingerprint_avx2(v, hashes, n, present, labels);
#endif
    return fingerprint_portable(v, hashes, n, present, labels);
}

void fingerprint_contains_many(const void *image, const uint64_t *hashes,
                               size_t n, bool *present)
{
    const fingerprint_view v = fingerprint_open(image);
    size_t done = 0;
#if CPU_X86
    if (cpu_now() >= CPU_AVX512)
        done = fingerprint_vectors(&v, hashes, n, present);
    else
#endif
    if (!v.empty)
        done = fingerprint_fours(&v, hashes, n, present, NULL);
    for (; done < n; done++)
        present[done] = fingerprint_contains(image, hashes[done]);
}

size_t fingerprint_get_many(const void *image, const uint64_t *hashes, size_t n,
                            bool *found, uint64_t *labels)
{
    const fingerprint_view v = fingerprint_open(image);
    return v.empty ? 0 : fingerprint_fours(&v, hashes, n, found, labels);
}

/* ---- Build ------------------------------------------------------------- */

typedef struct {
    fingerprint_view view;
    uint8_t *rows;
} fingerprint_job;

/* How far ahead in the order a key's state is prefetched. */
enum { FINGERPRINT_SOON = 16 };

/* Sets the cells of a key so that they XOR to its fingerprint, with each cell
 * in a word of its own. */
PLATFORM_INLINE void fingerprint_solve(const fingerprint_view *view,
                                       uint32_t arity, const peel_order *order)
{
    const fingerprint_view v = *view;
    const uint64_t mask = bits_mask(v.bits);
    const uint64_t reach = (uint64_t)arity * v.shape.segment;
    for (size_t i = order->n; i-- > 0; ) {
        if (i % TASK_KEYS == 0)
            task_step(TASK_KEYS);
        uint32_t entry = order->order[i], which = entry & 3;
        if (i >= FINGERPRINT_SOON)
            platform_prefetch(order->states
                              + (order->order[i - FINGERPRINT_SOON] >> 2));
        uint64_t state = order->states[entry >> 2], at[PEEL_ARITY_MAX];
        uint64_t value = (state & mask)
                       | (v.label > 0 ? (uint64_t)which << v.bits : 0);
        peel_places(&v.shape, arity, state, order->salt, at);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++)
            value ^= order->cells[at[j]];       /* its own is still 0 */
        order->cells[at[which]] = (uint32_t)value;
        platform_prefetch_write(order->cells
                                + (at[0] > reach ? at[0] - reach : 0));
    }
}

/* A row of cells that is being written. */
typedef struct {
    uint8_t *at;
    uint64_t word;                      /* the next, of which some bits are
                                           used                              */
    uint32_t used;
} fingerprint_pen;

/* Writes cells one after another: `field` bits of each, and `gap` bits of 0. */
PLATFORM_INLINE void fingerprint_write(fingerprint_pen *pen,
                                       const uint32_t *cells, uint64_t from,
                                       uint64_t to, uint32_t field,
                                       uint32_t gap)
{
    const uint64_t mask = bits_mask(field);
    fingerprint_pen p = *pen;
    TASK_SPAN(i, from, to) {
        uint64_t value = cells[i] & mask;
        p.word |= value << p.used;
        p.used += field;
        if (p.used >= 64) {
            image_set_u64(p.at, 0, p.word);
            p.at += 8;
            p.used -= 64;
            p.word = value >> (field - p.used);
        }
        p.used += gap;
        if (p.used >= 64) {
            image_set_u64(p.at, 0, p.word);
            p.at += 8;
            p.used -= 64;
            p.word = 0;
        }
    }
    *pen = p;
}

/* Writes the table of a shard. Short cells lose their last bit, which no key
 * compares. */
static void fingerprint_pack(uint8_t *row, const fingerprint_view *v,
                             const uint32_t *cells)
{
    fingerprint_pen pen = { .at = row };
    if (v->shorter > 0)                 /* so f is 2 at least                */
        fingerprint_write(&pen, cells, 0, v->shorter, v->field - 1, v->label);
    fingerprint_write(&pen, cells, v->shorter, peel_slots(&v->shape), v->field,
                      v->label);
    if (pen.used > 0)
        image_set_u64(pen.at, 0, pen.word);
}

static void fingerprint_fill(void *context, const peel_order *order)
{
    const fingerprint_job *job = context;
    const fingerprint_view *v = &job->view;
    if (v->shape.arity == 3)
        fingerprint_solve(v, 3, order);
    else
        fingerprint_solve(v, 4, order);
    fingerprint_pack(job->rows + order->shard * v->stride, v, order->cells);
}

bly_status fingerprint_build(void *image, const kind_keys *keys,
                             const kind_bench *bench)
{
    fingerprint_job job = { .view = fingerprint_look(image) };
    uint8_t *seeds = image_payload_mut(image);
    uint64_t share = fingerprint_share(image);
    job.rows = seeds + fingerprint_round(job.view.shape.shards);
    peel_work work = {
        .shape = &job.view.shape, .hashes = keys->hashes, .n = keys->n,
        .scratch = bench->scratch, .threads = bench->threads, .seeds = seeds,
        .fill = fingerprint_fill, .context = &job,
    };
    bool built = peel_build(&work);
    if (task_cancelled())
        return task_status();
    if (!built)
        return status_fail(BLY_EFULL, "the hashes of these keys are too "
                           "similar: use another hash seed, or a hash function "
                           "other than identity");
    image_set_u64(image, IMAGE_GEOMETRY + 8 * FINGERPRINT_KEYS,
                  work.distinct | share << FINGERPRINT_SHARE_AT);
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

void fingerprint_stat(bly_info_t *out, const void *image)
{
    const fingerprint_view v = fingerprint_look(image);
    uint64_t keys = fingerprint_keys(image);
    out->distinct = (double)keys;
    out->distinct_sd = 0;
    out->fill = (double)keys / (double)(v.shape.shards * peel_slots(&v.shape));
    out->rate = v.empty ? 0 : fingerprint_rate(&v.shape, v.bits, v.shorter);
    out->probes = v.shape.arity;
}

void fingerprint_inline(void *view, const void *image)
{
    const fingerprint_view v = fingerprint_open(image);
    bly_inline_fuse *out = view;
    out->seeds = v.seeds;
    out->tables = v.rows;
    out->stride = v.stride;
    out->shards = (uint32_t)v.shape.shards;
    out->segment = v.shape.segment;
    out->windows = v.shape.windows;
    out->arity = v.shape.arity;
    out->bits = v.bits;
    out->empty = v.empty;
    out->salt = v.shape.shards == 1 ? v.salt : 0;
    out->shorter = v.shorter;
    out->bytes = v.shape.arity == 3 && v.cell == 8 && v.shorter == 0
              && !v.empty;
}
