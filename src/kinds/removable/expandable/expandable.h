/* expandable.h - shared by the files of kind `expandable`: layouts, segments,
 * items and walks.
 *
 * expandable.c has the essay, plans, checks and looks inside;
 * expandable_layout.c finds layouts and the lengths of fingerprints;
 * expandable_look.c looks keys up, adds and removes them; expandable_grow.c
 * makes the filter larger, one segment at a time.
 */
#ifndef BLY_KINDS_REMOVABLE_EXPANDABLE_EXPANDABLE_H
#define BLY_KINDS_REMOVABLE_EXPANDABLE_EXPANDABLE_H

#include "image/abilities.h"
#include "bodies/runs.h"

enum {
    EXPANDABLE_VERSION = 1,
    EXPANDABLE_RATE = 0, EXPANDABLE_FIRST = 1, EXPANDABLE_KNOWN = 2,
    EXPANDABLE_ZERO = 3,

    /* The head of the payload. */
    EXPANDABLE_LEFT = 0, EXPANDABLE_USED = 8, EXPANDABLE_DUE = 16,
    EXPANDABLE_OLD = 24, EXPANDABLE_NEW = 32, EXPANDABLE_HEAD = 64,

    EXPANDABLE_SEGMENT = 13,            /* a segment has 2^13 quotients       */
    EXPANDABLE_FIRST_MIN = 6,           /* one block                          */
    EXPANDABLE_FIRST_NONE = 9,          /* if the number of keys is unknown   */
    EXPANDABLE_ADDRESS_MAX = 50,
    EXPANDABLE_BITS_MIN = 9,            /* of a new fingerprint's remainder   */
    EXPANDABLE_SHORT = 2,               /* slots of a fingerprint that is
                                           shorter than the address, without
                                           the digits of its count            */
    EXPANDABLE_BEYOND = 6,              /* bits of how much shorter it is     */
    EXPANDABLE_SHORT_MOST = EXPANDABLE_SHORT + 64 / EXPANDABLE_BITS_MIN + 1
};

/* ---- Layouts ----------------------------------------------------------- */

/* How a hash becomes a quotient of `address` bits and a remainder of r, and
 * over how many blocks a segment spreads its quotients. */
typedef struct {
    uint32_t address, r, blocks;
} expandable_layout;

/* The numbers from which the lengths of fingerprints follow. */
typedef struct {
    double   rate;                      /* of the whole filter                */
    uint32_t first;                     /* bits of the address at first       */
    bool     known;                     /* was the number of keys estimated?  */
} expandable_rule;

static inline expandable_rule expandable_rule_of(const void *image)
{
    return (expandable_rule){
        .rate = image_f64(image, IMAGE_GEOMETRY + 8 * EXPANDABLE_RATE),
        .first = (uint32_t)image_geometry(image, EXPANDABLE_FIRST),
        .known = image_geometry(image, EXPANDABLE_KNOWN) != 0,
    };
}

/* Returns the bits of a new key's remainder at an address of so many bits;
 * more than 64 if there are none that keep the rate. */
uint32_t expandable_bits(const expandable_rule *rule, uint32_t address);

/* Finds the next layout, a sixteenth larger. False: there is none. */
bool expandable_next(expandable_layout *next, const expandable_layout *now,
                     const expandable_rule *rule);

/* Finds the layout for that many keys, or for an unknown number if it is 0.
 * The rule's `first` is set if it is 0. False: there is none. */
bool expandable_layout_for(expandable_layout *out, expandable_rule *rule,
                           uint64_t keys);

static inline uint64_t expandable_pack(const expandable_layout *l)
{
    return (uint64_t)l->address | (uint64_t)l->r << 8
         | (uint64_t)l->blocks << 16;
}

static inline expandable_layout expandable_unpack(uint64_t packed)
{
    return (expandable_layout){ packed & 0xFF, packed >> 8 & 0xFF,
                                (uint32_t)(packed >> 16) };
}

/* ---- Segments ---------------------------------------------------------- */

/* Segments of one layout. */
typedef struct {
    uint64_t fields;                    /* as in runs_view                    */
    uint32_t bytes;                     /* of a segment                       */
    uint32_t slots;                     /* where its runs have their homes    */
    uint32_t limit;                     /* slots that may be in use           */
    uint16_t stride, count;             /* of its blocks, with the tail       */
    uint8_t  address, within, r;        /* bits of a quotient, of those that
                                           tell it in the segment, and of a
                                           remainder                          */
} expandable_side;

/* Quotients of a segment. */
static inline uint32_t expandable_within(uint32_t address)
{
    return address < EXPANDABLE_SEGMENT ? address : EXPANDABLE_SEGMENT;
}

/* Blocks of a segment: as many slots as quotients, and up to nearly twice as
 * many. */
static inline uint32_t expandable_blocks_least(uint32_t address)
{
    return (UINT32_C(1) << expandable_within(address)) / RUNS_BLOCK;
}

static inline uint32_t expandable_blocks_most(uint32_t address)
{
    uint32_t least = expandable_blocks_least(address);
    return 2 * least - (least + 31) / 32;
}

/* The blocks, and the ones behind them that runs may spill into. */
static inline uint32_t expandable_count(const expandable_layout *l)
{
    return l->blocks + 1 + l->blocks / 128;
}

static inline uint32_t expandable_segment_bytes(const expandable_layout *l)
{
    return expandable_count(l) * (RUNS_REMAINDERS + 8 * l->r) + RUNS_USED;
}

static inline uint64_t expandable_segments(const expandable_layout *l)
{
    return UINT64_C(1) << (l->address - expandable_within(l->address));
}

/* Home slots of the whole filter. */
static inline uint64_t expandable_slots(const expandable_layout *l)
{
    return expandable_segments(l) * l->blocks * RUNS_BLOCK;
}

/* Slots of all segments: what may be in use. */
static inline uint64_t expandable_room(const expandable_layout *l)
{
    return expandable_segments(l) * expandable_count(l) * RUNS_BLOCK;
}

/* The slots in use at which the filter begins to grow. */
static inline uint64_t expandable_due(const expandable_layout *l)
{
    uint64_t slots = expandable_slots(l);
    return slots - slots / 16;
}

/* The filter, read once. A hash is the quotient within a segment, at most 13
 * bits, the segment, and the remainder. Those that are below `boundary` without
 * the first 13 bits are in segments of side 0, which have not grown yet, the
 * others in those of side 1. */
typedef struct {
    uint8_t        *segments;
    uint64_t        boundary;
    expandable_side side[2];
} expandable_view;

/* Returns how many slots of a segment may be in use; `moving`: while the filter
 * grows or is written anew, segments may be fuller. */
static inline uint32_t expandable_limit(uint32_t slots, bool moving)
{
    return slots - slots / (moving ? 128 : 64);
}

static inline expandable_side expandable_side_of(const expandable_layout *l,
                                                 bool moving)
{
    uint32_t slots = l->blocks * RUNS_BLOCK;
    return (expandable_side){
        .fields = runs_fields[l->r],
        .bytes = expandable_segment_bytes(l),
        .slots = slots,
        .limit = expandable_limit(slots, moving),
        .stride = (uint16_t)(RUNS_REMAINDERS + 8 * l->r),
        .count = (uint16_t)expandable_count(l),
        .address = (uint8_t)l->address,
        .within = (uint8_t)expandable_within(l->address),
        .r = (uint8_t)l->r,
    };
}

static inline expandable_layout expandable_layout_at(const void *image,
                                                     uint64_t which)
{
    return expandable_unpack(image_u64(image_payload(image), which));
}

/* Counts slots that were freed, and others that were taken, in the head of a
 * payload that has `room`. In one that was forged, the number may be wrong, but
 * stays within the room. */
static inline void expandable_recount(uint8_t *head, uint64_t room,
                                      uint64_t freed, uint64_t taken)
{
    uint64_t used = image_u64(head, EXPANDABLE_USED);
    used = used > freed ? used - freed : 0;
    used += taken < room - used ? taken : room - used;
    image_set_u64(head, EXPANDABLE_USED, used);
}

/* Is a hash in a segment that has grown? */
PLATFORM_INLINE bool expandable_moved(const expandable_view *v, uint64_t hash)
{
    return hash << EXPANDABLE_SEGMENT >= v->boundary;
}

PLATFORM_INLINE expandable_view expandable_look(const void *image)
{
    uint8_t *head = image_payload_mut((void *)(uintptr_t)image);
    uint64_t left = image_u64(head, EXPANDABLE_LEFT);
    expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW);
    expandable_view v = { .segments = head + EXPANDABLE_HEAD };
    v.side[0] = v.side[1] = expandable_side_of(&now, left > 0);
    if (left > 0) {
        expandable_layout old = expandable_layout_at(image, EXPANDABLE_OLD);
        v.side[0] = expandable_side_of(&old, true);
        v.boundary = left << (64 - (old.address - EXPANDABLE_SEGMENT));
    }
    return v;
}

/* A segment as a table of runs. */
PLATFORM_INLINE runs_view expandable_table(const expandable_side *s,
                                           uint8_t *blocks)
{
    return (runs_view){
        .blocks = blocks, .count = s->count,
        .slots = (uint64_t)s->count * RUNS_BLOCK,
        .space = (uint64_t)s->count * RUNS_BLOCK,
        .stride = s->stride, .fields = s->fields,
        .tops = s->fields << (s->r - 1), .r = s->r,
    };
}

/* Where a key is: its table, its quotient there, and its remainder with a zero
 * in the place of the mark. */
typedef struct {
    runs_view              v;
    const expandable_side *side;
    uint64_t               quotient, x;
} expandable_place;

/* The home slot of a quotient of a segment. There are at least as many slots
 * as quotients, so each has its own: to the table, that is its quotient. */
PLATFORM_INLINE uint64_t expandable_home(const expandable_side *s, uint64_t q)
{
    return q * s->slots >> s->within;
}

/* `still`: the filter is not growing, so that all segments are alike. */
PLATFORM_INLINE expandable_place expandable_on(const expandable_view *v,
                                               uint64_t hash, bool still)
{
    const expandable_side *s = &v->side[still || expandable_moved(v, hash)];
    unsigned split = s->address - s->within;
    uint64_t segment = hash << EXPANDABLE_SEGMENT >> 1 >> (63 - split);
    uint64_t q = hash >> (64 - s->within);
    return (expandable_place){
        .v = expandable_table(s, v->segments + segment * s->bytes),
        .side = s,
        .quotient = expandable_home(s, q),
        .x = hash << s->address >> (65 - s->r) << 1,
    };
}

PLATFORM_INLINE expandable_place expandable_at(const expandable_view *v,
                                               uint64_t hash)
{
    return expandable_on(v, hash, false);
}

/* ---- Items ------------------------------------------------------------- */

/* One part of a run: a remainder and how often it was added, or a fingerprint
 * that is shorter than the address, by `beyond` bits: it has the remainder 0.
 */
typedef struct {
    runs_item item;
    uint64_t  beyond;
} expandable_item;

/* Reads the item at a slot of a run. */
expandable_item expandable_read(const runs_view *v, uint64_t at, uint64_t stop);

/* Fills in the slots of a fingerprint that is `beyond` bits shorter than the
 * address and was added so often, at least once; returns how many. */
size_t expandable_short_slots(uint64_t slots[EXPANDABLE_SHORT_MOST],
                              uint64_t beyond, uint64_t count, uint32_t r);

/* Does a remainder begin the remainder x of a key? */
static inline bool expandable_begins(uint64_t remainder, uint64_t x)
{
    uint64_t mark = remainder & (~remainder + 1);
    return (remainder ^ x) < mark << 1;
}

/* Bits of the fingerprint in a remainder that is not 0. */
static inline uint32_t expandable_length(const expandable_side *s,
                                         uint64_t remainder)
{
    return s->r - 1 - platform_trailing_zeros(remainder);
}

/* Adds a fingerprint, the first `bits` bits of a hash, so often. BLY_EFULL. */
bly_status expandable_put(void *image, const expandable_view *v, uint64_t hash,
                          uint32_t bits, uint64_t count);

bly_status expandable_is_full(void);
bly_status expandable_crowded(void);

/* ---- Walks ------------------------------------------------------------- */

/* All runs of a segment in order. */
typedef struct {
    const expandable_side *side;
    runs_view v;
    uint64_t  inverse;                  /* 2^42 / slots, rounded up           */
    uint64_t  block;                    /* of quotients                       */
    uint64_t  occupied;                 /* those that are left there          */
    uint64_t  ends, end_block;          /* the same of run ends               */
    uint64_t  quotient;                 /* of the run, in the segment         */
    runs_run  run;
    bool      sound;                    /* as a filter writes it, so far      */
} expandable_walk;

expandable_walk expandable_walk_of(const expandable_side *side,
                                   uint8_t *blocks);
bool expandable_walk_next(expandable_walk *w);

/* Calls `visit` for each run, with its lowest hash, until it returns false.
 * Returns false if a run was not as a filter writes it. */
typedef bool expandable_visit(void *context, const expandable_walk *walk,
                              uint64_t hash);
bool expandable_each_run(const void *image, expandable_visit *visit,
                         void *context);

/* Reads the item of a run at *at, and goes on to the next: its least hash and
 * its bits. False: it is a copy of one that is in an earlier segment, or no
 * filter writes it. */
bool expandable_listed(expandable_item *item, uint64_t *least, uint32_t *bits,
                       const expandable_walk *walk, uint64_t hash,
                       uint64_t *at);

/* ---- The verbs --------------------------------------------------------- */

bool expandable_contains(const void *image, uint64_t hash);
void expandable_contains_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *present);
kind_contains *expandable_contains_here(const void **subject, void *view);
uint64_t expandable_count_of(const void *image, uint64_t hash);
void expandable_count_many(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *counts);
bly_status expandable_add(void *image, uint64_t hash);
bly_status expandable_add_many(void *image, const uint64_t *hashes, size_t n,
                               size_t *done);
bly_status expandable_remove(void *image, uint64_t hash);
void expandable_remove_many(void *image, const uint64_t *hashes, size_t n,
                            bly_status *each);

/* As in kind_growing. */
bly_status expandable_grow_plan(uint64_t *bytes, const void *image);
uint64_t expandable_scratch(const void *image);
bly_status expandable_grow(void *image, void *scratch);

#endif /* BLY_KINDS_REMOVABLE_EXPANDABLE_EXPANDABLE_H */
