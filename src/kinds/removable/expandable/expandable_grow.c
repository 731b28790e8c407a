/* expandable_grow.c - makes a filter of kind `expandable` larger, one segment
 * at a time.
 *
 * Segments are moved from the last to the first, each into its place in the
 * next layout, which begins at or behind its old one. So it may cover the old
 * segment, which is read from a copy, but none that is still to be moved.
 */
#include "kinds/removable/expandable/expandable.h"

#include <string.h>

#include "base/status.h"
#include "base/task.h"
#include "bits/bits.h"

/* Segments are moved while the filter gains a 64th of its keys. */
enum { EXPANDABLE_PACE = 64 };

/* ---- Writing a segment ------------------------------------------------- */

/* An empty segment that runs are written into, in rising order. */
typedef struct {
    const expandable_side *side;
    runs_view v;
    uint64_t  at, used;
    uint64_t  block;                    /* the first without its spill        */
    bool      sound;                    /* everything did fit                 */
} expandable_writer;

static expandable_writer expandable_writer_of(const expandable_side *side,
                                              uint8_t *blocks)
{
    return (expandable_writer){ .side = side,
                                .v = expandable_table(side, blocks),
                                .sound = true };
}

static void expandable_spills(expandable_writer *w, uint64_t last)
{
    for (; w->block <= last && w->block < w->v.count; w->block++)
        runs_block(&w->v, w->block)[RUNS_SPILL] = runs_spill(w->block, w->at);
}

/* Goes to where the run of a quotient of the segment begins. */
PLATFORM_INLINE void expandable_write_to(expandable_writer *w,
                                         uint64_t quotient)
{
    uint64_t home = expandable_home(w->side, quotient);
    if (w->block <= home / RUNS_BLOCK)
        expandable_spills(w, home / RUNS_BLOCK);
    w->at = w->at > home ? w->at : home;
}

/* Makes room for the next slots of the run; returns the first. */
PLATFORM_INLINE uint64_t expandable_write_slots(expandable_writer *w,
                                                uint64_t n)
{
    uint64_t at = w->at;
    w->sound &= n <= w->v.space - at;
    if (!w->sound)
        return w->v.space;
    w->at += n;
    w->used += n;
    return at;
}

/* Ends the run of a quotient. */
PLATFORM_INLINE void expandable_write_run(expandable_writer *w,
                                          uint64_t quotient)
{
    runs_mark(&w->v, RUNS_OCCUPIED, expandable_home(w->side, quotient), true);
    runs_mark(&w->v, RUNS_ENDS, w->at - 1, true);
}

static bool expandable_write_end(expandable_writer *w)
{
    expandable_spills(w, w->v.count);
    runs_set_used(&w->v, w->used);
    return w->sound;
}

/* Writes an item. */
static void expandable_write_item(expandable_writer *w, uint64_t x,
                                  uint64_t count)
{
    uint64_t at = expandable_write_slots(w, runs_length(count, w->v.r));
    if (w->sound)
        runs_write(&w->v, at, x, count);
}

static void expandable_write_short(expandable_writer *w, uint64_t beyond,
                                   uint64_t count)
{
    uint64_t slots[EXPANDABLE_SHORT_MOST];
    size_t n = expandable_short_slots(slots, beyond, count, w->v.r);
    uint64_t at = expandable_write_slots(w, n);
    for (size_t i = 0; w->sound && i < n; i++)
        runs_set(&w->v, at + i, slots[i]);
}

/* Copies n slots of remainders of the same width into slots that are zero.
 * Words are counted from the row's first, so that a word that was written last
 * is read again at the same address: the processor hands it on only then. */
PLATFORM_INLINE void expandable_copy(const runs_view *to, uint64_t at,
                                     const runs_view *from, uint64_t slot,
                                     uint64_t n)
{
    const uint64_t most = 57 / to->r;
    for (uint64_t some; n > 0; n -= some, at += some, slot += some) {
        uint64_t bit = slot % RUNS_BLOCK * from->r;
        uint64_t into = at % RUNS_BLOCK * to->r;
        some = n < most ? n : most;
        uint64_t here = RUNS_BLOCK - slot % RUNS_BLOCK;
        uint64_t there = RUNS_BLOCK - at % RUNS_BLOCK;
        some = some < here ? some : here;
        some = some < there ? some : there;
        uint64_t window = image_u64(runs_block(from, slot / RUNS_BLOCK),
                                    RUNS_REMAINDERS + (bit >> 3)) >> (bit & 7)
                        & runs_below(some * from->r);
        uint8_t *row = runs_block(to, at / RUNS_BLOCK) + RUNS_REMAINDERS;
        uint64_t word = into / 64, last = (into + some * to->r - 1) / 64;
        uint64_t low = image_u64(row, 8 * word) | window << into % 64;
        uint64_t high = window >> 1 >> (~into % 64);
        image_set_u64(row, 8 * word, low);
        image_set_u64(row, 8 * last, last > word ? high : low);
    }
}

/* ---- Moving a segment -------------------------------------------------- */

/* Writes the runs of a segment into a larger one with as many quotients. */
static bool expandable_spread(const expandable_side *from, uint8_t *copy,
                              const expandable_side *to, uint8_t *blocks)
{
    expandable_walk walk = expandable_walk_of(from, copy);
    expandable_writer w = expandable_writer_of(to, blocks);
    while (expandable_walk_next(&walk)) {
        uint64_t start = walk.run.start, n = walk.run.stop - start;
        expandable_write_to(&w, walk.quotient);
        uint64_t at = expandable_write_slots(&w, n);
        if (!w.sound)
            break;
        expandable_copy(&w.v, at, &walk.v, start, n);
        expandable_write_run(&w, walk.quotient);
    }
    return expandable_write_end(&w) && walk.sound;
}

/* Writes what one half of a quotient has of its run: the fingerprints that are
 * too short to tell, those that end with the bit that tells, and those that go
 * on. */
static void expandable_write_half(expandable_writer *w,
                                  const expandable_walk *walk, uint64_t half)
{
    const runs_view *v = &walk->v;
    const uint64_t top = UINT64_C(1) << (v->r - 1);
    const uint64_t ending = top >> 1 | top * half, stop = walk->run.stop;
    const uint32_t wider = w->v.r - v->r + 1;
    uint64_t at, ended = 0;
    for (at = walk->run.start; at < stop; ) {
        expandable_item i = expandable_read(v, at, stop);
        if (i.item.remainder == ending)
            ended = i.item.count;
        at = i.item.next;
    }
    if (ended > 0)
        expandable_write_short(w, 0, ended);
    for (at = walk->run.start; at < stop; ) {
        expandable_item i = expandable_read(v, at, stop);
        uint64_t x = i.item.remainder;
        if (x == 0)
            expandable_write_short(w, i.beyond + 1, i.item.count);
        else if (x / top == half && x != ending)
            expandable_write_item(w, (x << wider) & runs_low(&w->v),
                                  i.item.count);
        at = i.item.next;
    }
}

/* Writes what one half has of a run of few slots, all of fingerprints that go
 * on. False: it is not such a run. */
PLATFORM_INLINE bool expandable_half_plain(expandable_writer *w,
                                           const expandable_walk *walk,
                                           uint64_t quotient, uint64_t half)
{
    const runs_view *v = &walk->v;
    const uint64_t top = UINT64_C(1) << (v->r - 1), ending = top >> 1;
    const uint64_t n = walk->run.stop - walk->run.start;
    const uint32_t wider = w->v.r - v->r + 1;
    uint64_t kept[RUNS_PLAIN], some = 0;
    if (n > RUNS_PLAIN)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = runs_get(v, walk->run.start + i);
        if (x == 0 || (x & (top - 1)) == ending)
            return false;
        kept[some] = x << wider & runs_low(&w->v);
        some += x / top == half;
    }
    if (some == 0)
        return true;
    expandable_write_to(w, quotient);
    uint64_t at = expandable_write_slots(w, some);
    if (!w->sound)
        return true;
    for (uint64_t i = 0; i < some; i++)
        runs_set(&w->v, at + i, kept[i]);
    expandable_write_run(w, quotient);
    return true;
}

/* Writes what one half has of a run as that of a quotient. */
static void expandable_write_half_run(expandable_writer *w,
                                      const expandable_walk *walk,
                                      uint64_t quotient, uint64_t half)
{
    if (expandable_half_plain(w, walk, quotient, half))
        return;
    uint64_t used = w->used;
    expandable_write_to(w, quotient);
    expandable_write_half(w, walk, half);
    if (w->sound && w->used > used)
        expandable_write_run(w, quotient);
}

/* Writes the runs of a segment with a bit more of address: into two segments,
 * or, while there is only one, into twice as many quotients. */
static bool expandable_deepen(const expandable_side *from, uint8_t *copy,
                              const expandable_side *to, uint8_t *blocks)
{
    const bool two = to->within == from->within;
    bool sound = true;
    for (uint64_t part = 0; sound && part < 1 + (uint64_t)two; part++) {
        expandable_walk walk = expandable_walk_of(from, copy);
        expandable_writer w
            = expandable_writer_of(to, blocks + part * to->bytes);
        while (w.sound && expandable_walk_next(&walk))
            for (uint64_t half = part; half < 2 - (uint64_t)two + part; half++)
                expandable_write_half_run(
                    &w, &walk, two ? walk.quotient : 2 * walk.quotient + half,
                    half);
        sound = expandable_write_end(&w) && walk.sound;
    }
    return sound;
}

bly_status expandable_crowded(void)
{
    return status_fail(BLY_EFULL, "the filter cannot grow, because its keys "
                       "crowd in a few places: their hashes are not random "
                       "(use siphash and a secret against chosen keys)");
}

/* Moves the last of the segments that are left. */
static bly_status expandable_move(void *image, const expandable_view *v,
                                  uint64_t left, uint8_t *copy)
{
    const expandable_side *from = &v->side[0], *to = &v->side[1];
    const bool deeper = to->address > from->address;
    const unsigned halves = (unsigned)(to->address - to->within)
                          - (from->address - from->within);
    const uint64_t segment = left - 1;
    uint8_t *old = v->segments + segment * from->bytes;
    uint8_t *blocks = v->segments + (segment << halves) * to->bytes;
    uint8_t *head = image_payload_mut(image);
    runs_view was = expandable_table(from, copy);

    memcpy(copy, old, from->bytes);
    memset(blocks, 0, (size_t)to->bytes << halves);
    bool moved = deeper ? expandable_deepen(from, copy, to, blocks)
                        : expandable_spread(from, copy, to, blocks);
    if (!moved) {
        memcpy(old, copy, from->bytes);
        return expandable_crowded();
    }
    uint64_t freed = runs_used(&was), taken = 0;
    uint64_t segments = UINT64_C(1) << (to->address - to->within);
    uint64_t room = segments * to->count * RUNS_BLOCK;
    for (uint64_t i = 0; i < UINT64_C(1) << halves; i++) {
        runs_view now = expandable_table(to, blocks + i * to->bytes);
        taken += runs_used(&now);
    }
    expandable_recount(head, room, freed, taken);
    uint64_t due = image_u64(head, EXPANDABLE_USED) + freed / EXPANDABLE_PACE
                 + 1;
    image_set_u64(head, EXPANDABLE_LEFT, segment);
    image_set_u64(head, EXPANDABLE_DUE, due < room ? due : room);
    return BLY_OK;
}

/* ---- Growing ----------------------------------------------------------- */

uint64_t expandable_scratch(const void *image)
{
    bool begun = image_u64(image_payload(image), EXPANDABLE_LEFT) > 0;
    expandable_layout from = expandable_layout_at(
        image, begun ? EXPANDABLE_OLD : EXPANDABLE_NEW);
    return expandable_segment_bytes(&from);
}

bly_status expandable_grow_plan(uint64_t *bytes, const void *image)
{
    const uint8_t *head = image_payload(image);
    expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW), next;
    expandable_rule rule = expandable_rule_of(image);
    bly_plan_t plan = { .bytes = 0 };
    *bytes = image_u64(image, IMAGE_BYTES);
    if (image_u64(head, EXPANDABLE_LEFT) == 0) {
        if (image_u64(head, EXPANDABLE_USED) < expandable_due(&now) / 2)
            return expandable_crowded();
        if (!expandable_next(&next, &now, &rule))
            return status_fail(BLY_EFULL, "the filter has grown as far as "
                               "64-bit hashes allow at its rate: build one "
                               "with a higher rate");
        uint64_t more = EXPANDABLE_HEAD + expandable_segments(&next)
                                        * expandable_segment_bytes(&next);
        bly_status status = kind_plan_bytes(&plan, more);
        if (status != BLY_OK)
            return status;
        if (plan.bytes > *bytes)        /* else the image is longer than its
                                           layout                            */
            *bytes = plan.bytes;
    }
    return BLY_OK;
}

bly_status expandable_grow(void *image, void *scratch)
{
    uint8_t *head = image_payload_mut(image);
    uint64_t left = image_u64(head, EXPANDABLE_LEFT);
    if (left > 0) {
        expandable_view v = expandable_look(image);
        bly_status status = expandable_move(image, &v, left, scratch);
        if (status != BLY_OK || left > 1)
            return status;
    } else {
        expandable_rule rule = expandable_rule_of(image);
        expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW);
        expandable_layout next;
        expandable_next(&next, &now, &rule);    /* it did for the plan */
        expandable_view v = {
            .segments = head + EXPANDABLE_HEAD,
            .side = { expandable_side_of(&now, true),
                      expandable_side_of(&next, true) },
        };
        left = expandable_segments(&now);
        bly_status status = expandable_move(image, &v, left, scratch);
        if (status != BLY_OK)
            return status;
        image_set_u64(head, EXPANDABLE_OLD, expandable_pack(&now));
        image_set_u64(head, EXPANDABLE_NEW, expandable_pack(&next));
    }
    if (image_u64(head, EXPANDABLE_LEFT) == 0) {
        expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW);
        image_set_u64(head, EXPANDABLE_OLD, 0);
        image_set_u64(head, EXPANDABLE_DUE, expandable_due(&now));
    }
    return BLY_OK;
}
