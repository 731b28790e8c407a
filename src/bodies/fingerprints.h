/* fingerprints.h - tables in which a key's cells XOR to its fingerprint.
 *
 * The body of the kinds `fuse`, `xor` and `bloomier`: each is a plan, its
 * options and its essay over what is here. The slots of a key are those of
 * bodies/peel.h; a slot is a cell of `cell` bits, whose low `field` bits are
 * XORed. Of a key that was built in that gives its fingerprint, the low f bits
 * of its state; of any other key something that has nothing to do with its
 * fingerprint, and is the same by accident with chance 2^-f.
 *
 *      geometry 0   bits 0-47   different keys, at most as many as slots
 *                   bits 48-63  p, share of the places for a key's first slot
 *                               that have a bit less, in 2^-16; 0 with labels
 *      geometry 1   bits 0-31   shards, 1 .. 2^20
 *                   bits 32-39  d, slots of a key, 3 or 4
 *                   bits 40-47  f, bits of a fingerprint, 1 .. 32; 2 at least
 *                               if p is not 0
 *                   bits 48-55  v, bits of a label, 1 .. 64; 0: no labels
 *      geometry 2   bits 0-31   L, slots of a segment, 1 .. 2^24
 *                   bits 32-63  c, places where a key may begin, 1 .. 2^16
 *      geometry 3   bytes of a shard's table: (c + d - 1) L cells, rounded up
 *                   to a multiple of 64
 *      payload      a byte for each shard, its seed, filled up with zeros to a
 *                   multiple of 64; then the shards' tables. Bit i of a table
 *                   is bit (i mod 8) of its byte i / 8; cell s begins at bit
 *                   s times the bits of a cell, less min(s, U).
 *
 * The first U = floor(c L p / 2^16) cells of a table are short: they have f - 1
 * bits. A key is short if its first slot is such a cell; then its fingerprint
 * has f - 1 bits. All cells of another key lie behind its first one, so none of
 * them is short.
 *
 * A cell of a filter is its field, f bits. One with labels (v > 0) has d = 4
 * and a field of f + 2 bits, f <= 30: the high two say which of the key's four
 * slots, counted from 0, is its own; the label stands in that cell above the
 * field.
 */
#ifndef BLY_BODIES_FINGERPRINTS_H
#define BLY_BODIES_FINGERPRINTS_H

#include "image/abilities.h"
#include "bits/bits.h"
#include "bodies/peel.h"

enum {
    FINGERPRINT_KEYS = 0, FINGERPRINT_SHARDS = 1, FINGERPRINT_SEGMENT = 2,
    FINGERPRINT_STRIDE = 3,
    FINGERPRINT_SHARE_AT = 48, FINGERPRINT_SHARES = 1 << 16,
    FINGERPRINT_ARITY_AT = 32, FINGERPRINT_BITS_AT = 40,
    FINGERPRINT_LABEL_AT = 48,
    FINGERPRINT_END_AT = 56, FINGERPRINT_WINDOWS_AT = 32,
    FINGERPRINT_BITS_MAX = 32, FINGERPRINT_LABEL_MAX = 64,
    FINGERPRINT_LABEL_ARITY = 4,
    FINGERPRINT_LINE = 64,
    FINGERPRINT_HALF = 32,              /* bits of a label read at a time    */
    FINGERPRINT_WHICH_BITS = 2          /* that name a key's own slot        */
};

/* The table that a kind asks for. */
typedef struct {
    const char *kind;                   /* its name                          */
    uint32_t    arity;                  /* d                                 */
    bool        coupled;                /* c > 1 where that takes less       */
    bool        share;                  /* p > 0 if f is chosen, unless it is
                                           a whole number of bytes           */
    uint64_t    bits;                   /* f; KIND_CHOOSE: from the rate     */
    uint32_t    label;                  /* v                                 */
} fingerprint_wish;

/* Two keys that share their whole hash make the rate higher than 2^-f, by far
 * less than can be measured: a rate that is missed by less than a millionth of
 * itself counts as met. BLY_EPARAM below 2^-32, with labels 2^-30. */
bly_status fingerprint_plan(bly_plan_t *plan, const fingerprint_wish *wish,
                            const kind_spec *spec);

/* For `check`: labels or none. */
bly_status fingerprint_check(const void *image, bool labels);

/* ---- Look up --------------------------------------------------------- */

/* The fields of an image that a lookup needs, read once. */
typedef struct {
    const uint8_t *seeds, *rows;
    peel_shape shape;
    uint64_t stride;                    /* bytes of a shard's table          */
    uint64_t salt;                      /* of the first shard, where opened  */
    uint32_t bits, field, cell, label;  /* f, and bits of each               */
    uint32_t shorter;                   /* U: cells of a bit less            */
    bool     empty;                     /* no keys at all                    */
} fingerprint_view;

PLATFORM_INLINE uint32_t fingerprint_field(uint32_t bits, uint32_t label)
{
    return bits + (label > 0 ? FINGERPRINT_WHICH_BITS : 0);
}

PLATFORM_INLINE uint64_t fingerprint_round(uint64_t bytes)
{
    return (bytes + FINGERPRINT_LINE - 1) / FINGERPRINT_LINE * FINGERPRINT_LINE;
}

PLATFORM_INLINE uint32_t fingerprint_part(uint64_t field, unsigned at)
{
    return field >> at & UINT8_MAX;
}

/* Returns the part of geometry 0 that is the number of keys. */
PLATFORM_INLINE uint64_t fingerprint_keys(const void *image)
{
    return image_geometry(image, FINGERPRINT_KEYS)
         & bits_mask(FINGERPRINT_SHARE_AT);
}

PLATFORM_INLINE uint32_t fingerprint_share(const void *image)
{
    return (uint32_t)(image_geometry(image, FINGERPRINT_KEYS)
                      >> FINGERPRINT_SHARE_AT);
}

/* Returns the places for the first slot of a key: c L. */
PLATFORM_INLINE uint64_t fingerprint_firsts(const peel_shape *shape)
{
    return (uint64_t)shape->windows * shape->segment;
}

/* Returns U, which is below c L, for a shape that `check` accepts. */
PLATFORM_INLINE uint32_t fingerprint_shorter(const peel_shape *shape,
                                             uint32_t share)
{
    return (uint32_t)(fingerprint_firsts(shape) * share / FINGERPRINT_SHARES);
}

PLATFORM_INLINE fingerprint_view fingerprint_look(const void *image)
{
    uint64_t shards = image_geometry(image, FINGERPRINT_SHARDS);
    uint64_t segment = image_geometry(image, FINGERPRINT_SEGMENT);
    fingerprint_view v = {
        .seeds = image_payload(image),
        .shape = { .shards = (uint32_t)shards,
                   .arity = fingerprint_part(shards, FINGERPRINT_ARITY_AT),
                   .windows = (uint32_t)(segment >> FINGERPRINT_WINDOWS_AT),
                   .segment = (uint32_t)segment },
        .stride = image_geometry(image, FINGERPRINT_STRIDE),
        .bits = fingerprint_part(shards, FINGERPRINT_BITS_AT),
        .label = fingerprint_part(shards, FINGERPRINT_LABEL_AT),
        .empty = fingerprint_keys(image) == 0,
    };
    v.field = fingerprint_field(v.bits, v.label);
    v.cell = v.field + v.label;
    v.shorter = fingerprint_shorter(&v.shape, fingerprint_share(image));
    v.rows = v.seeds + fingerprint_round(v.shape.shards);
    return v;
}

/* Reads the fields and the salt of an image that `check` has accepted. */
PLATFORM_INLINE fingerprint_view fingerprint_open(const void *image)
{
    fingerprint_view v = fingerprint_look(image);
    v.salt = peel_salt(v.seeds[0]);
    return v;
}

/* Where a cell is found: eight bytes that hold its `bits` <= 57 bits from
 * `bit` on begin at byte place >> 6, and it begins at bit place & 63 of these.
 * They leave the last bit's line of 64 bytes only if the bits themselves come
 * from the line before: so no lookup waits for a line that it does not need,
 * and since tables are whole lines none reads beyond. */
PLATFORM_INLINE uint64_t fingerprint_place(uint64_t bit, uint32_t bits)
{
    uint64_t first = bit >> 3, last = (bit + bits - 1) >> 3;
    uint64_t end = (last | (FINGERPRINT_LINE - 1)) - 7;
    uint64_t at = first < end ? first : end;
    return (at << 6) + (bit - 8 * at);
}

/* Returns the word that begins at a place, with other bits above the cell. */
PLATFORM_INLINE uint64_t fingerprint_load(const uint8_t *rows, uint64_t place)
{
    return image_u64(rows + (place >> 6), 0) >> (place & 63);
}

/* The first bits of a state's cells, counted from v->rows, if none is short.
 */
PLATFORM_INLINE void fingerprint_cells(const fingerprint_view *v,
                                       uint32_t arity, uint64_t state,
                                       uint64_t bit[PEEL_ARITY_MAX])
{
    uint64_t shard = peel_shard(&v->shape, state);
    uint64_t row = shard * v->stride * 8;
    peel_places(&v->shape, arity, state, peel_salt(v->seeds[shard]), bit);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++)
        bit[j] = row + bit[j] * v->cell;
}

/* Fingerprint and number of the own slot, as the cells tell them. */
PLATFORM_INLINE uint64_t fingerprint_read(const fingerprint_view *v,
                                          uint32_t arity,
                                          const uint64_t bit[PEEL_ARITY_MAX])
{
    uint64_t read = 0;
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++)
        read ^= fingerprint_load(v->rows, fingerprint_place(bit[j], v->field));
    return read;
}

/* Returns whether this is what a key with this fingerprint would read, if no
 * cell is short. */
PLATFORM_INLINE bool fingerprint_match(const fingerprint_view *v, uint64_t read,
                                       uint64_t fingerprint)
{
    return !(((read ^ fingerprint) & bits_mask(v->bits)) | v->empty);
}

/* Returns which of a key's cells is its own, as its fields say. */
PLATFORM_INLINE uint64_t fingerprint_which(const fingerprint_view *v,
                                           uint64_t read)
{
    return read >> v->bits & bits_mask(FINGERPRINT_WHICH_BITS);
}

/* Returns the label that begins at `bit`, from its lower and its upper half. */
PLATFORM_INLINE uint64_t fingerprint_label(const fingerprint_view *v,
                                           uint64_t bit)
{
    uint32_t low = v->label < FINGERPRINT_HALF ? v->label : FINGERPRINT_HALF;
    uint32_t high = v->label - low;
    uint64_t label = fingerprint_load(v->rows, fingerprint_place(bit, low))
                   & bits_mask(low);
    if (high > 0)
        label |= (fingerprint_load(v->rows, fingerprint_place(bit + low, high))
                  & bits_mask(high)) << low;
    return label;
}

bool fingerprint_contains(const void *image, uint64_t hash);
kind_contains *fingerprint_contains_here(const void **subject, void *view);
void fingerprint_contains_many(const void *image, const uint64_t *hashes,
                               size_t n, bool *present);

/* Looks up as many keys and their labels as fill groups; returns their number.
 */
size_t fingerprint_get_many(const void *image, const uint64_t *hashes, size_t n,
                            bool *found, uint64_t *labels);

/* All but the labels, which are 0 then. BLY_EFULL. */
bly_status fingerprint_build(void *image, const kind_keys *keys,
                             const kind_bench *bench);

void fingerprint_stat(bly_info_t *out, const void *image);

/* `inline_view` of a kind without labels. */
void fingerprint_inline(void *view, const void *image);

#endif /* BLY_BODIES_FINGERPRINTS_H */
