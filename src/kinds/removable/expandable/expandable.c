/* expandable.c - a growing filter that removes keys: fingerprints of all ages.
 *
 * WHAT IT IS
 *
 * A quotient filter for an unknown number of keys. When it is nearly full, it
 * becomes a sixteenth larger, some thousand keys at a time, without the keys.
 * Each time that its size has doubled, all fingerprints lose a bit, because
 * there are twice as many places to tell apart. New keys get fingerprints of
 * full length, and longer ones the larger the filter is. So the rate stays
 * below the requested one however many keys come, and a lookup still looks in
 * one place.
 *
 * WHEN TO USE IT
 *
 * Use it if the number of keys is unknown, or keys come and go. Without a
 * capacity it begins with 1.2 KB. If you give the number of keys that you
 * expect, it begins at that size and its fingerprints are two bits shorter, up
 * to about sixteen times that number. Beyond, they are three bits longer. It
 * counts, lists its fingerprints and shrinks again (bly_resize). Filters of one
 * rate can be united, whatever their sizes are. The result grows by the plan of
 * the first. Its rate is up to the sum of theirs, which may be above the
 * requested one.
 *
 * WHEN NOT TO
 *
 * - The number of keys is known within a factor of two: `quotient` does the
 *   same in two thirds of the memory, `cuckoo` is faster.
 * - The filter is in memory that you provide: there it cannot grow.
 * - The filter is larger than memory: `buffered`. A step of growing writes
 *   segments over the places of others, so a file that is used page by page
 *   would need a journal to survive a crash in between.
 * - Keys are never removed and speed matters more than memory:
 *   `scalable:of=blocked`.
 * - Attackers choose the keys: hash them with `siphash` and a secret, or the
 *   filter may refuse to grow. Crowded keys slow others only in their segment.
 *
 * COST
 *
 *      rate     keys    bits per key, unknown    planned for a tenth to all
 *      1 %      10^4           15.5                 14.0
 *      1 %      10^6           15.4                 13.7
 *      1 %      10^7           15.8                 13.3 to 13.6
 *      1 %      10^8           17.4
 *      0.1 %    10^6           19.8                 18.2
 *
 * A lookup reads 2 cache lines, as in `quotient`. It takes 1.2 to 1.5 times as
 * long, and outside the cache, if keys are looked up one by one, up to 3.6
 * times. An add takes as long as there while the filter does not grow. A filter
 * that grows from nothing moves 17 fingerprints per key, which makes its adds
 * two and a half to seven times as slow. It moves one segment, up to 16,000
 * fingerprints, at a time, which takes about 0.1 ms, and 0.4 ms in the one
 * cycle of 16 that doubles the addresses. Memory of 2 MiB and more is extended
 * in place; other memory is copied each time that the filter begins to grow. If
 * keys are added many times, an add may write the whole filter anew.
 *
 * THE PICTURE (four segments, while the last two have got more slots)
 *
 *      before   | segment 0 | segment 1 | segment 2 | segment 3 |
 *      now      | segment 0 | segment 1 |    | segment 2  | segment 3  |
 *               '----- as they were ----'    '--- with more slots -----'
 *
 *      a hash   | quotient in the segment | segment | remainder | not used |
 *
 *      remainder (r = 6): the fingerprint's bits, a 1, zeros
 *      10110|1    a new key: five bits
 *      101|100    a key that came two doublings ago: three bits
 *      000000 …   fewer bits than the address: then 2 or more slots
 *
 * A lookup compares as many bits as the fingerprint has. The position of its
 * last 1 tells how many.
 *
 * IMAGE
 *
 *      geometry 0   the requested rate (IEEE double), above 0 and below 1
 *      geometry 1   bits of the address at first, 6 .. 50
 *      geometry 2   1: the number of keys was estimated; else 0
 *      geometry 3   zero
 *      payload       8 bytes  segments that are left in the old layout
 *                    8 bytes  slots in use
 *                    8 bytes  slots in use at which growing goes on
 *                    8 bytes  the old layout; 0 if no segments are left
 *                    8 bytes  the layout
 *                   24 bytes  zero
 *                             the segments
 *
 *      A layout is A + 2^8 r + 2^16 b. The first A bits of a hash are its
 *      address: w = min(A,13) bits are the quotient in its segment, the next A
 *      - w the segment. A remainder has r bits, and a segment b blocks for its
 *      2^w quotients. r is given by A (MATHS), and b by the layout before:
 *      b + ceil(b/16), or, if that is above 2c - ceil(c/32) for c = 2^w / 64,
 *      half of it, rounded up, and not less than c, with A + 1; for A < 13 all
 *      of it, and not less than the next c.
 *
 *      A segment is the payload of kind `quotient` for b + 1 + floor(b/128)
 *      blocks. The quotient q of the segment is number floor(q 64b / 2^w)
 *      there. While segments are left, those below have the old layout. Valid
 *      if and only if (1) the geometry is in these ranges, (2) the layouts
 *      follow from it and from each other, (3) fewer segments are left than the
 *      old layout has, (4) the payload is long enough for all segments, (5) not
 *      more slots are in use than these have, (6) the header's capacity is at
 *      most the slots at which the layout, or the old one, begins to grow.
 *
 *      A fingerprint of A + k bits, k >= 1, is a remainder of its last k bits,
 *      a 1 and r - 1 - k zeros. One of A - t bits is at each of the 2^t
 *      addresses that begin with it, before all other remainders: the slots 0,
 *      t + 64 d, and d digits, base 2^r, of how often it was added, less one.
 *      Other counts are as in `quotient`.
 *
 * MATHS
 *
 * A fingerprint of b bits is a false answer for 2^-b of all keys, and this
 * never changes: a bit that goes from the fingerprint to the address is still
 * compared. So the rate is at most the sum of 2^-b over all fingerprints.
 *
 * New fingerprints have A + l(A) bits while the address has A. At an address of
 * A bits there are at most 1.875 2^A fingerprints: a segment has at most 2 -
 * 1/32 slots per quotient, growing begins when 15/16 of all are in use, and
 * ends before a 64th more are. As A + l(A) never falls, the worst case is that
 * each address has as many as it can hold, and with F the first address
 *
 *      f <= sum_A c(A) 2^-l(A),   c(F) = 1.875,  c(A) = 0.9375            (1)
 *
 * l(A) is the least whole number for which the next part of this sum is at most
 *
 *      3 / max(40 - A, 12) of what the parts before it have left of the rate
 *
 * and never below that of the address before it, or 9. No part takes more than
 * a quarter of what is left, so the sum stays below the rate for any number of
 * keys; and up to 2^40 keys no part takes more than three times its even share,
 * so that l grows by a bit only after every 10 to 17 doublings, as the
 * logarithm of the number of doublings does. That is of the order of the lower
 * bound [Pagh 2013].
 *
 * If the number of keys was estimated, 14/15 of the rate goes to the first four
 * addresses, a sixth of that to each and a third to the first, and the rest as
 * above to those that follow.
 *
 * Bits per key are (l + 3 + 1/8) / a, where a is between 0.88 and 0.95: the
 * mark, two bits of the quotient filter and the spills.
 *
 * REMOVING
 *
 * A key's longest fingerprint is removed. If that was another key's, this key's
 * own is a beginning of it, and so a fingerprint of the other key as well: no
 * key is lost. A key that was never added but is found takes the fingerprint of
 * a key that was: remove only keys that were added.
 *
 * A fingerprint that is shorter than the address is removed from all 2^t
 * segments that have it. That is the only operation whose time grows with the
 * filter. It happens to keys that were added when the filter was 2^(l + t)
 * times smaller: 2^21 times for 1000 segments.
 *
 * GROWING
 *
 * Segments move from the last to the first, so that none covers another that is
 * still to be moved; the one that moves is read from a copy. A step moves one
 * segment. The next is due when a 64th as many keys have come, so a filter in
 * which n keys are due grows while n/64 more come. If a segment is full before
 * that, steps follow at once. Keys that were added many times take several
 * slots each, and may crowd in a segment until its place in the next layout is
 * too small. Then the whole filter is written anew, a sixteenth larger, and up
 * to a half where that is too small as well. If that does not help, or the
 * filter is half empty nevertheless, because hashes crowd in few segments, it
 * refuses to grow.
 *
 * PAPERS
 *
 *  [Bender 2012]   Don't thrash: how to cache your hash on flash, PVLDB 5(11).
 *                  A fingerprint's bit becomes a bit of the address.
 *  [Pagh 2013]     Pagh, Segev and Wieder, How to approximate a set without
 *                  knowing its size in advance, FOCS. The lower bound.
 *  [Apple 2022]    Stretching your data with taffy filters, Software: Practice
 *                  and Experience 53(8). Growth by less than a factor of two.
 *  [Dayan 2023]    Dayan, Bercea, Reviriego and Pagh, InfiniFilter: expanding
 *                  filters to infinity and beyond, SIGMOD. Fingerprints of many
 *                  lengths, with a mark; remove the longest.
 *  [Dayan 2024]    Dayan, Bercea and Pagh, Aleph filter: to infinity in
 *                  constant time, PVLDB 17(11). Copies of those that are
 *                  shorter than the address.
 *  [Litwin 1980]   Linear hashing: a new tool for file and table addressing,
 *                  VLDB. To grow one part at a time.
 */
#include "kinds/removable/expandable/expandable.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/task.h"
#include "bits/bits.h"
#include "maths/maths.h"

/* ---- Plan -------------------------------------------------------------- */

static bly_status expandable_plan_of(bly_plan_t *plan,
                                     const expandable_rule *rule,
                                     const expandable_layout *l)
{
    uint64_t bytes = EXPANDABLE_HEAD
                   + expandable_segments(l) * expandable_segment_bytes(l);
    bly_status status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;
    plan->rate = rule->rate;
    plan->rate_sd = 0;
    plan->fill = 0.9375;
    plan->probes = 1;
    plan->lines_present = plan->lines_absent = 2;
    memcpy(&plan->geometry[EXPANDABLE_RATE], &rule->rate, sizeof rule->rate);
    plan->geometry[EXPANDABLE_FIRST] = rule->first;
    plan->geometry[EXPANDABLE_KNOWN] = rule->known;
    plan->geometry[EXPANDABLE_ZERO] = 0;
    return BLY_OK;
}

static bly_status expandable_grown(bly_plan_t *plan, const kind_spec *spec,
                                   uint64_t keys)
{
    expandable_rule rule = { .rate = spec->rate, .known = spec->capacity > 0 };
    expandable_layout l;
    bool sound = expandable_layout_for(&l, &rule, spec->capacity);
    while (sound && expandable_due(&l) < keys) {
        expandable_layout now = l;
        sound = expandable_next(&l, &now, &rule);
    }
    kind_spec all = *spec;
    all.capacity = keys > spec->capacity ? keys : spec->capacity;
    if (!sound && all.capacity == 0)
        return status_fail(BLY_EPARAM, "64-bit hashes do not allow a rate of "
                           "%.3g: use a higher one", spec->rate);
    if (!sound)
        return kind_too_big(&all, "64 bits of a hash");
    plan->capacity = expandable_due(&l);
    return expandable_plan_of(plan, &rule, &l);
}

static bly_status expandable_plan(bly_plan_t *plan, const kind_spec *spec)
{
    bly_status status = expandable_grown(plan, spec, 0);
    if (spec->capacity > 0)
        plan->capacity = spec->capacity;
    return status;
}

/* The layout follows from the number of keys in the header. */
static bly_status expandable_format(void *image, const kind_spec *spec)
{
    expandable_rule rule = expandable_rule_of(image);
    expandable_layout l;
    uint8_t *head = image_payload_mut(image);
    (void)spec;
    expandable_layout_for(&l, &rule, image_u64(image, IMAGE_CAPACITY));
    image_set_u64(head, EXPANDABLE_NEW, expandable_pack(&l));
    image_set_u64(head, EXPANDABLE_DUE, expandable_due(&l));
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

/* Is this a layout of the rule? */
static bool expandable_layout_sound(const expandable_layout *l,
                                    const expandable_rule *rule)
{
    if (l->address < rule->first || l->address > EXPANDABLE_ADDRESS_MAX
        || l->blocks < expandable_blocks_least(l->address)
        || l->blocks > expandable_blocks_most(l->address))
        return false;
    return l->r == expandable_bits(rule, l->address) + 1
        && l->r <= RUNS_R_MAX && l->address + l->r - 1 <= 64;
}

static bly_status expandable_check(const void *image)
{
    uint64_t bytes = image_payload_bytes(image);
    uint64_t first = image_geometry(image, EXPANDABLE_FIRST);
    uint64_t known = image_geometry(image, EXPANDABLE_KNOWN);
    expandable_rule rule = expandable_rule_of(image);
    if (!(rule.rate > 0 && rule.rate < 1) || first < EXPANDABLE_FIRST_MIN
        || first > EXPANDABLE_ADDRESS_MAX || known > 1
        || image_geometry(image, EXPANDABLE_ZERO) != 0
        || bytes < EXPANDABLE_HEAD)
        return kind_bad_geometry(image);

    uint64_t left = image_u64(image_payload(image), EXPANDABLE_LEFT);
    uint64_t used = image_u64(image_payload(image), EXPANDABLE_USED);
    uint64_t due = image_u64(image_payload(image), EXPANDABLE_DUE);
    uint64_t packed = image_u64(image_payload(image), EXPANDABLE_NEW);
    uint64_t was = image_u64(image_payload(image), EXPANDABLE_OLD);
    expandable_layout now = expandable_unpack(packed);
    expandable_layout old = expandable_unpack(was), next;
    bool sound = packed >> 32 == 0 && was >> 32 == 0
              && expandable_layout_sound(&now, &rule)
              && expandable_segments(&now)
                 <= (bytes - EXPANDABLE_HEAD) / expandable_segment_bytes(&now)
              && used <= expandable_room(&now) && due <= expandable_room(&now);
    if (sound && left > 0)
        sound = expandable_layout_sound(&old, &rule)
             && left < expandable_segments(&old)
             && expandable_next(&next, &old, &rule)
             && expandable_pack(&next) == packed;
    if (sound && left == 0)
        sound = was == 0;
    if (sound)
        sound = image_u64(image, IMAGE_CAPACITY)
                <= expandable_due(left > 0 ? &old : &now);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Lists --------------------------------------------------------------- */

bool expandable_listed(expandable_item *item, uint64_t *least, uint32_t *bits,
                       const expandable_walk *walk, uint64_t hash,
                       uint64_t *at)
{
    const expandable_side *s = walk->side;
    *item = expandable_read(&walk->v, *at, walk->run.stop);
    *at = item->item.next;
    *least = hash;
    *bits = s->address;
    uint64_t x = item->item.remainder;
    if (x != 0) {
        *bits += expandable_length(s, x);
        *least |= (x & (x - 1)) >> 1 << (65 - s->address - s->r);
        return true;
    }
    if (item->beyond >= s->address)
        return false;
    *bits -= (uint32_t)item->beyond;
    return hash << *bits == 0;
}

bool expandable_each_run(const void *image, expandable_visit *visit,
                         void *context)
{
    expandable_view v = expandable_look(image);
    uint64_t left = image_u64(image_payload(image), EXPANDABLE_LEFT);
    expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW);
    expandable_layout old = expandable_layout_at(image, EXPANDABLE_OLD);
    uint64_t count = expandable_segments(&now), from = 0;
    if (left > 0)
        from = left * (count / expandable_segments(&old));
    for (uint64_t i = 0; i < left + count - from; i++) {
        const expandable_side *s = &v.side[i >= left];
        uint64_t segment = i < left ? i : from + i - left;
        expandable_walk w
            = expandable_walk_of(s, v.segments + segment * s->bytes);
        while (expandable_walk_next(&w))
            if (!visit(context, &w, w.quotient << (64 - s->within)
                                    | segment << (64 - s->address)))
                return true;
        if (!w.sound)
            return false;
        if (task_step(s->bytes))
            return true;
    }
    return true;
}

typedef struct {
    bly_visit_fingerprint *visit;
    void *context;
} expandable_lister;

static bool expandable_list_run(void *context, const expandable_walk *walk,
                                uint64_t hash)
{
    const expandable_lister *l = context;
    expandable_item i;
    uint64_t least;
    uint32_t bits;
    for (uint64_t at = walk->run.start; at < walk->run.stop; )
        if (expandable_listed(&i, &least, &bits, walk, hash, &at)
            && !l->visit(l->context, least, bits, i.item.count))
            return false;
    return true;
}

static void expandable_list(const void *image, bly_visit_fingerprint *visit,
                            void *context)
{
    expandable_lister l = { visit, context };
    expandable_each_run(image, expandable_list_run, &l);
}

/* ---- Another size, and two filters ------------------------------------- */

static bly_status expandable_resize_plan(bly_plan_t *plan, const void *image,
                                         uint64_t capacity)
{
    expandable_rule rule = expandable_rule_of(image);
    expandable_layout l;
    uint64_t used = image_u64(image_payload(image), EXPANDABLE_USED);
    if (capacity == 0) {
        l = expandable_layout_at(image, EXPANDABLE_NEW);
        capacity = expandable_due(&l) / 16 * 17;
        if (used < expandable_due(&l) / 2)
            return expandable_crowded();
    }
    if (used > capacity)
        return status_fail(BLY_EFULL, "the filter has as much in it as %llu "
                           "keys, and has no room at a capacity of %llu: give "
                           "at least %llu", (unsigned long long)used,
                           (unsigned long long)capacity,
                           (unsigned long long)used);
    if (!expandable_layout_for(&l, &rule, capacity))
        return status_fail(BLY_ETOOBIG, "64-bit hashes do not allow so many "
                           "keys at this filter's rate");
    bly_status status = expandable_plan_of(plan, &rule, &l);
    plan->capacity = capacity;
    return status;
}

/* Where fingerprints are put, and the first error. */
typedef struct {
    void *into;
    expandable_view view;
    bly_status status;
} expandable_putter;

static bool expandable_put_run(void *context, const expandable_walk *walk,
                               uint64_t hash)
{
    expandable_putter *p = context;
    expandable_item i;
    uint64_t least, after = 0;          /* t + 1 of the short one before      */
    uint32_t bits;
    for (uint64_t at = walk->run.start; at < walk->run.stop; ) {
        bool listed = expandable_listed(&i, &least, &bits, walk, hash, &at);
        if (i.item.remainder == 0 && i.beyond < after)
            p->status = status_plain(BLY_ECORRUPT);
        after = i.item.remainder == 0 ? i.beyond + 1 : after;
        if (listed && bits < EXPANDABLE_FIRST_MIN + EXPANDABLE_BITS_MIN)
            p->status = status_plain(BLY_ECORRUPT);
        if (listed && p->status == BLY_OK)
            p->status = expandable_put(p->into, &p->view, least, bits,
                                       i.item.count);
        if (p->status != BLY_OK)
            return false;
    }
    return true;
}

/* A fingerprint that is shorter than those of the least first address, which no
 * filter writes, would be at so many places that a small forged one takes
 * hours. A union has those of both filters' first addresses. */
static bly_status expandable_put_all(void *into, const void *image)
{
    expandable_putter p = { .into = into, .view = expandable_look(into) };
    p.view.side[0].limit = p.view.side[1].limit
        = expandable_limit(p.view.side[1].slots, true);
    bool sound = expandable_each_run(image, expandable_put_run, &p);
    return sound ? p.status : status_plain(BLY_ECORRUPT);
}

static bly_status expandable_resize(void *into, const void *image)
{
    expandable_format(into, NULL);
    return expandable_put_all(into, image);
}

/* Fingerprints are of any length, so only the promise must be the same. */
static bool expandable_alike(const void *a, const void *b)
{
    return image_geometry(a, EXPANDABLE_RATE)
        == image_geometry(b, EXPANDABLE_RATE);
}

static uint64_t expandable_union_capacity(const void *into, const void *other)
{
    uint64_t a = image_u64(image_payload(into), EXPANDABLE_USED);
    uint64_t b = image_u64(image_payload(other), EXPANDABLE_USED);
    uint64_t all = a > UINT64_MAX - b ? UINT64_MAX : a + b;
    uint64_t capacity = image_u64(into, IMAGE_CAPACITY);
    return all > capacity ? all : capacity;
}

static bly_status expandable_unite(void *into, const void *other)
{
    return expandable_put_all(into, other);
}

/* ---- Look inside ------------------------------------------------------- */

/* Sums over all fingerprints. Those of one length are for
 * different hashes, but shorter ones can be for the hashes of longer ones as
 * well: `cover` is the share of hashes that any is for. */
typedef struct {
    double some[65];                    /* fingerprints of each length        */
    double cover;
} expandable_stats;

/* Returns for which share of its quotient's hashes the long fingerprints of a
 * run are. As numbers, remainders are in the order of the middles of what they
 * are for. So a shorter one comes in the middle of the longer ones that it
 * begins, and takes the place of those before it: what there was before them is
 * kept, for the block of remainders of each size that the last one is in. */
static double expandable_cover(const expandable_walk *walk, uint64_t at)
{
    double cover = 0, before[64] = { 0 };
    uint64_t last = 0, reach = 0;
    while (at < walk->run.stop) {
        uint64_t x = expandable_read(&walk->v, at, walk->run.stop).item
                     .remainder;
        at = expandable_read(&walk->v, at, walk->run.stop).item.next;
        if (x == 0)                     /* never in what a filter wrote */
            continue;
        uint64_t mark = x & (~x + 1), differ = last ^ x;
        for (unsigned b = 0; differ >> b != 0; b++)
            before[b] = cover;
        if (last == 0 || x + mark - 1 > reach) {
            cover = before[platform_trailing_zeros(mark) + 1]
                  + (double)mark * 2;
            reach = x + mark - 1;
        }
        last = x;
    }
    return ldexp(cover, -(int)walk->v.r);
}

static bool expandable_stat_run(void *context, const expandable_walk *walk,
                                uint64_t hash)
{
    expandable_stats *s = context;
    const uint64_t start = walk->run.start, stop = walk->run.stop;
    uint32_t bits, address = walk->side->address;
    expandable_item i;
    uint64_t least;
    for (uint64_t at = start; at < stop; )
        if (expandable_listed(&i, &least, &bits, walk, hash, &at))
            s->some[bits]++;
    double share = runs_get(&walk->v, start) == 0 ? 1
                 : expandable_cover(walk, start);
    s->cover += ldexp(share, -(int)address);
    return true;
}

/* Reports statistics. The number of keys is the one from which the number of
 * fingerprints of each length is expected. A key that was added at several
 * sizes has a fingerprint of each length: then the number is an upper bound. */
static void expandable_stat(bly_info_t *out, const void *image)
{
    const uint8_t *head = image_payload(image);
    expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW), first;
    expandable_rule rule = expandable_rule_of(image);
    expandable_stats s = { .cover = 0 };
    double keys = 0, variance = 0;
    uint32_t lengths = 0;
    expandable_layout_for(&first, &rule, image_u64(image, IMAGE_CAPACITY));
    expandable_each_run(image, expandable_stat_run, &s);
    for (uint32_t bits = 0; bits <= 64; bits++) {
        double range = ldexp(1, (int)bits), share = s.some[bits] / range;
        if (s.some[bits] == 0)
            continue;
        double load = -log1p(-fmin(share, 1 - 1 / range)), sd;
        sd = math_probes_sd(range, load);
        keys += range * load;
        variance += sd * sd;
        lengths++;
    }
    if (expandable_pack(&now) != expandable_pack(&first))
        out->capacity = expandable_due(&now);
    out->distinct = keys;
    out->distinct_sd = lengths > 1 ? INFINITY : sqrt(variance);
    out->fill = fmin((double)image_u64(head, EXPANDABLE_USED)
                     / (double)expandable_slots(&now), 1);
    out->rate = fmin(s.cover, 1);
    out->probes = 1;
}

static const kind_combining expandable_combining = {
    .alike          = expandable_alike,
    .union_capacity = expandable_union_capacity,
    .unite          = expandable_unite,
};

static const kind_listing expandable_listing = {
    .fingerprints = expandable_list,
};

static const kind_resizing expandable_resizing = {
    .plan   = expandable_resize_plan,
    .resize = expandable_resize,
};

static const kind_growing expandable_growing = {
    .plan    = expandable_grow_plan,
    .scratch = expandable_scratch,
    .grow    = expandable_grow,
    .grown   = expandable_grown,
};

const bly_kind bly_kind_expandable = {
    .name     = "expandable",
    .family   = "removable",
    .summary  = "grows as keys come, and removes them",
    .version  = EXPANDABLE_VERSION,
    .raw_hash = true,

    .plan   = expandable_plan,
    .format = expandable_format,
    .check  = expandable_check,
    .stat   = expandable_stat,

    .contains      = expandable_contains,
    .contains_many = expandable_contains_many,
    .contains_here = expandable_contains_here,

    .add         = expandable_add,
    .add_many    = expandable_add_many,
    .remove      = expandable_remove,
    .remove_many = expandable_remove_many,
    .count       = expandable_count_of,
    .count_many  = expandable_count_many,

    .growing   = &expandable_growing,
    .combining = &expandable_combining,
    .listing   = &expandable_listing,
    .resizing  = &expandable_resizing,
};
