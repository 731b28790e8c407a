/* expandable_look.c - looks up keys of kind `expandable`, adds and removes
 * them.
 */
#include "kinds/removable/expandable/expandable.h"

#include <assert.h>

#include "base/cpu.h"
#include "base/status.h"
#include "bits/bits.h"

enum { EXPANDABLE_AHEAD = 64 };         /* keys to prefetch                   */

/* ---- Items ------------------------------------------------------------- */

size_t expandable_short_slots(uint64_t slots[EXPANDABLE_SHORT_MOST],
                              uint64_t beyond, uint64_t count, uint32_t r)
{
    uint64_t digits = 0, rest = count - 1;
    for (uint64_t more = rest; more > 0; more >>= r)
        digits++;
    slots[0] = 0;
    slots[1] = beyond | digits << EXPANDABLE_BEYOND;
    for (uint64_t i = digits; i-- > 0; rest >>= r)
        slots[EXPANDABLE_SHORT + i] = rest & runs_below(r);
    return (size_t)(EXPANDABLE_SHORT + digits);
}

expandable_item expandable_read(const runs_view *v, uint64_t at, uint64_t stop)
{
    if (runs_get(v, at) != 0)
        return (expandable_item){ .item = runs_read(v, at, stop) };
    uint64_t next = at + EXPANDABLE_SHORT, more = 0;
    if (next > stop)                    /* never in what a filter wrote */
        return (expandable_item){ .item = { at, stop, 0, 1 } };
    uint64_t shape = runs_get(v, at + 1);
    for (uint64_t digits = shape >> EXPANDABLE_BEYOND;
         digits > 0 && next < stop; digits--, next++)
        more = more << v->r | runs_get(v, next);
    if (more == UINT64_MAX)
        more--;
    return (expandable_item){ .item = { at, next, 0, more + 1 },
                              .beyond = shape & runs_below(EXPANDABLE_BEYOND) };
}

/* Returns the first slot of a run that holds no short one. */
static uint64_t expandable_long_from(const runs_view *v, const runs_run *run)
{
    uint64_t at = run->start;
    while (at < run->stop && runs_get(v, at) == 0)
        at = expandable_read(v, at, run->stop).item.next;
    return at;
}

/* ---- Contains ---------------------------------------------------------- */

/* Returns the highest bit of each remainder of the run that begins x. The bits
 * from the mark down do not count; a borrow would need a remainder that is 0
 * below its highest bit, and no long one is. */
PLATFORM_INLINE uint64_t expandable_equal(const runs_view *v,
                                          const runs_window *run, uint64_t x)
{
    uint64_t window = run->window, low = v->tops - v->fields;
    uint64_t ignored = ((window | v->tops) - v->fields) ^ window;
    uint64_t off = (window ^ x * v->fields) & ~(ignored & ~v->tops);
    return ~(((off & low) + low) | off) & v->tops
         & runs_below(run->length * v->r & 63);
}

/* Finds the next item of a run, from slot *at on, that begins x; sets *at to
 * what follows it. Reads the run slowly. */
static bool expandable_match(expandable_item *item, const runs_view *v,
                             const runs_run *run, uint64_t *at, uint64_t x)
{
    while (*at < run->stop) {
        *item = expandable_read(v, *at, run->stop);
        *at = item->item.next;
        if (item->item.remainder == 0
            || expandable_begins(item->item.remainder, x))
            return true;
    }
    return false;
}

static bool expandable_search(const runs_view *v, const runs_run *run,
                              uint64_t x)
{
    expandable_item item;
    uint64_t at = run->start;
    return expandable_match(&item, v, run, &at, x);
}

/* Returns whether a window holds four equal remainders in a row, as before
 * digits. */
PLATFORM_INLINE bool expandable_counts(const runs_view *v, uint64_t window)
{
    uint64_t off = window ^ window >> v->r, low = v->tops - v->fields;
    uint64_t same = ~(((off & low) + low) | off) & v->tops;
    return (same & same >> v->r & same >> v->r >> v->r) != 0;
}

/* The long way. It finds the place anew: handed over, that would have to be in
 * memory. */
PLATFORM_INLINE bool expandable_long_by(const expandable_view *view,
                                        uint64_t hash, bool bmi)
{
    expandable_place p = expandable_at(view, hash);
    runs_run run = runs_find_by(&p.v, p.quotient, bmi);
    return expandable_search(&p.v, &run, p.x);
}

PLATFORM_APART static bool
expandable_long_portable(const expandable_view *view, uint64_t hash)
{
    return expandable_long_by(view, hash, false);
}

#if CPU_X86
PLATFORM_APART CPU_TARGET_AVX2 static bool
expandable_long_bmi2(const expandable_view *view, uint64_t hash)
{
    return expandable_long_by(view, hash, true);
}
#endif

PLATFORM_INLINE bool expandable_contains_long(const expandable_view *view,
                                              uint64_t hash, bool bmi)
{
#if CPU_X86
    if (bmi)
        return expandable_long_bmi2(view, hash);
#endif
    (void)bmi;
    return expandable_long_portable(view, hash);
}

/* Looks up a key. `still`: the filter is not growing, so that all segments are
 * alike; it and `bmi` are constants in every body below. */
PLATFORM_INLINE bool expandable_contains_by(const expandable_view *view,
                                            uint64_t hash, bool still, bool bmi)
{
    expandable_place p = expandable_on(view, hash, still);
    runs_window run = runs_window_at(&p.v, p.quotient, false, bmi);
    bool brief = (run.window & runs_low(&p.v)) == 0;
    if (run.there & (run.odd | brief))
        return expandable_contains_long(view, hash, bmi);
    bool found = (run.there & 1) & (expandable_equal(&p.v, &run, p.x) != 0);
    if (found & (run.length > RUNS_PLAIN)
        && expandable_counts(&p.v, run.window))
        return expandable_contains_long(view, hash, bmi);
    return found;
}

static bool expandable_one(const void *subject, uint64_t hash)
{
    return expandable_contains_by(subject, hash, false, false);
}

bool expandable_contains(const void *image, uint64_t hash)
{
    expandable_view view = expandable_look(image);
    return expandable_one(&view, hash);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool expandable_one_bmi2(const void *subject,
                                                uint64_t hash)
{
    return expandable_contains_by(subject, hash, false, true);
}

CPU_TARGET_AVX2 static bool expandable_one_still_bmi2(const void *subject,
                                                      uint64_t hash)
{
    return expandable_contains_by(subject, hash, true, true);
}
#endif

static_assert(sizeof(expandable_view) <= KIND_VIEW, "a view has its room");

kind_contains *expandable_contains_here(const void **subject, void *view)
{
    expandable_view *v = view;
    *v = expandable_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return v->boundary == 0 ? expandable_one_still_bmi2
                                : expandable_one_bmi2;
#endif
    return expandable_one;
}

/* ---- Count ------------------------------------------------------------- */

/* Sums what the key's fingerprints of all lengths were added. */
static uint64_t expandable_sum(const expandable_place *p)
{
    runs_run run = runs_find_by(&p->v, p->quotient, false);
    uint64_t sum = 0, at = run.start;
    expandable_item i;
    while (expandable_match(&i, &p->v, &run, &at, p->x))
        sum = i.item.count > UINT64_MAX - sum ? UINT64_MAX : sum + i.item.count;
    return sum;
}

PLATFORM_INLINE uint64_t expandable_count_by(const expandable_view *view,
                                             uint64_t hash, bool bmi)
{
    if (!expandable_contains_by(view, hash, false, bmi))
        return 0;
    expandable_place p = expandable_at(view, hash);
    uint64_t sum = expandable_sum(&p);
    return sum > 0 ? sum : 1;
}

uint64_t expandable_count_of(const void *image, uint64_t hash)
{
    expandable_view view = expandable_look(image);
    return expandable_count_by(&view, hash, false);
}

/* ---- Slots that are counted -------------------------------------------- */

/* Counts the slots of a segment after a change, of which some were in use
 * before it. */
PLATFORM_INLINE void expandable_changed(void *image, const runs_view *segment,
                                        uint64_t before)
{
    expandable_layout now = expandable_layout_at(image, EXPANDABLE_NEW);
    expandable_recount(image_payload_mut(image), expandable_room(&now), before,
                       runs_used(segment));
}

bly_status expandable_is_full(void)
{
    return status_fail(BLY_EFULL, "the filter is full: resize it (bly_resize), "
                       "or plan it for more keys");
}

/* ---- Add --------------------------------------------------------------- */

/* Finds the run of a key, the item of its longest fingerprint and whether any
 * of its fingerprints is there. False: the run is long or far away, or holds
 * short ones, and must be read slowly. */
PLATFORM_INLINE bool expandable_quick(const expandable_place *p, runs_run *run,
                                      runs_item *item, bool *seen, bool bmi)
{
    const runs_view *v = &p->v;
    uint64_t x = p->x | 1;
    runs_window read = runs_window_at(v, p->quotient, true, bmi);
    bool there = read.there & 1;
    read.length = there ? read.length : 0;
    uint64_t start = p->quotient / RUNS_BLOCK * RUNS_BLOCK + read.slot;
    uint64_t at = start + platform_popcount(runs_less(v, &read, x));
    uint64_t count = platform_popcount(runs_equal(v, &read, x));
    *run = (runs_run){ start, start + read.length, there };
    *item = (runs_item){ at, at + count, x, count };
    *seen = expandable_equal(v, &read, p->x) != 0;
    bool slow = there ? read.odd | ((read.window & runs_low(v)) == 0)
              : read.far;
    return !(slow | (read.length > RUNS_PLAIN));
}

PLATFORM_INLINE runs_item expandable_seek(const expandable_place *p,
                                          runs_run *run, bool *seen, bool bmi)
{
    runs_item item;
    if (expandable_quick(p, run, &item, seen, bmi))
        return item;
    *run = runs_find_by(&p->v, p->quotient, bmi);
    *seen = expandable_search(&p->v, run, p->x);
    runs_run rest = { expandable_long_from(&p->v, run), run->stop,
                      run->occupied };
    return runs_seek(&p->v, &rest, p->x | 1);
}

/* Adds a key whose run must be read slowly, or holds its fingerprint. */
PLATFORM_APART static bly_status
expandable_add_long(void *image, const expandable_view *view, uint64_t hash)
{
    expandable_place p = expandable_at(view, hash);
    uint64_t before = runs_used(&p.v);
    runs_run run;
    bool seen;
    runs_item item = expandable_seek(&p, &run, &seen, false);
    if (!runs_raise(&p.v, p.quotient, &run, &item, 1, p.side->limit))
        return expandable_is_full();
    expandable_changed(image, &p.v, before);
    return seen ? BLY_SEEN : BLY_OK;
}

PLATFORM_INLINE bly_status expandable_add_by(void *image,
                                             const expandable_view *view,
                                             uint64_t hash, bool still,
                                             bool bmi)
{
    uint8_t *head = image_payload_mut(image);
    expandable_place p = expandable_on(view, hash, still);
    uint64_t all = image_u64(head, EXPANDABLE_USED), used = runs_used(&p.v);
    runs_run run;
    runs_item item;
    bool seen, quick = expandable_quick(&p, &run, &item, &seen, bmi);
    if (all >= image_u64(head, EXPANDABLE_DUE) || used >= p.side->limit)
        return expandable_is_full();
    if (!quick || item.count > 0)
        return expandable_add_long(image, view, hash);

    uint64_t gap = runs_gap(&p.v, run.stop, true);
    if (gap >= p.v.space)
        return expandable_is_full();
    runs_insert_new(&p.v, p.quotient, &run, item.at, gap, item.remainder);
    runs_set_used(&p.v, used + 1);
    image_set_u64(head, EXPANDABLE_USED, all + 1);
    return seen ? BLY_SEEN : BLY_OK;
}

bly_status expandable_add(void *image, uint64_t hash)
{
    expandable_view view = expandable_look(image);
    return expandable_add_by(image, &view, hash, false, false);
}

/* ---- Slots of short ones ----------------------------------------------- */

/* Inserts slots into a run. False: there is no room, and nothing changed. */
static bool expandable_insert(const runs_view *v, uint64_t quotient,
                              runs_run run, uint64_t at,
                              const uint64_t *slots, size_t n, uint64_t limit)
{
    uint64_t gap;
    if (!runs_room(v, run.stop, n, limit, &gap))
        return false;
    runs_set_used(v, runs_used(v) + n);
    for (size_t i = 0; i < n; i++, at++, run.stop++) {
        gap = runs_gap(v, run.stop, true);
        if (gap >= v->space)            /* never in what a filter wrote */
            return false;
        runs_insert_new(v, quotient, &run, at, gap, slots[i]);
        run.occupied = true;
    }
    return true;
}

static void expandable_delete(const runs_view *v, uint64_t quotient,
                              runs_run run, uint64_t at, uint64_t n)
{
    uint64_t used = runs_used(v);
    runs_set_used(v, used > n ? used - n : 0);
    for (; n > 0; n--, run.stop--)
        runs_delete_last(v, quotient, &run, at);
}

/* Finds the short one of a run that is `beyond` bits shorter than the address;
 * count 0: it would be there. */
static runs_item expandable_seek_short(const runs_view *v, const runs_run *run,
                                       uint64_t beyond)
{
    uint64_t at = run->start;
    while (at < run->stop && runs_get(v, at) == 0) {
        expandable_item i = expandable_read(v, at, run->stop);
        if (i.beyond == beyond)
            return i.item;
        if (i.beyond > beyond)
            break;
        at = i.item.next;
    }
    return (runs_item){ at, at, 0, 0 };
}

/* Sets how often a short one of this place was added, 0 for never. */
static bool expandable_set_short(const expandable_place *p, uint64_t beyond,
                                 uint64_t count)
{
    uint64_t slots[EXPANDABLE_SHORT_MOST];
    const runs_view *v = &p->v;
    runs_run run = runs_find_by(v, p->quotient, false);
    runs_item old = expandable_seek_short(v, &run, beyond);
    size_t n = count == 0 ? 0
             : expandable_short_slots(slots, beyond, count, v->r);
    uint64_t taken = old.next - old.at, gap;
    if (n > taken
        && !runs_room(v, run.stop, n - taken, p->side->limit, &gap))
        return false;
    expandable_delete(v, p->quotient, run, old.at, taken);
    if (n == 0)
        return true;
    run = runs_find_by(v, p->quotient, false);
    old = expandable_seek_short(v, &run, beyond);
    return expandable_insert(v, p->quotient, run, old.at, slots, n,
                             p->side->limit);
}

static uint64_t expandable_get_short(const expandable_place *p, uint64_t beyond)
{
    runs_run run = runs_find_by(&p->v, p->quotient, false);
    return expandable_seek_short(&p->v, &run, beyond).count;
}

/* Changes how often the fingerprint of `bits` bits, shorter than the address,
 * was added: it is in each quotient that begins with it. */
static bly_status expandable_change_short(void *image,
                                          const expandable_view *view,
                                          uint64_t hash, uint32_t bits,
                                          uint64_t more, bool less)
{
    uint64_t from = bits == 0 ? 0 : hash >> (64 - bits) << (64 - bits);
    uint64_t last = from | (bits == 0 ? UINT64_MAX : UINT64_MAX >> bits);
    for (uint64_t at = from, step; ; at += step) {
        expandable_place p = expandable_at(view, at);
        uint64_t beyond = p.side->address - bits, before = runs_used(&p.v);
        uint64_t count = expandable_get_short(&p, beyond);
        uint64_t now = less ? count - (count > 0) : count + more;
        if ((!less && now < count)
            || (now != count && !expandable_set_short(&p, beyond, now)))
            return expandable_is_full();
        expandable_changed(image, &p.v, before);
        step = UINT64_C(1) << (64 - p.side->address);
        if (last - at < step)
            return BLY_OK;
    }
}

bly_status expandable_put(void *image, const expandable_view *view,
                          uint64_t hash, uint32_t bits, uint64_t count)
{
    expandable_place p = expandable_at(view, hash);
    uint32_t address = p.side->address;
    if (bits <= address)
        return expandable_change_short(image, view, hash, bits, count, false);
    uint32_t length = bits - address, most = p.side->r - 1u;
    length = length < most ? length : most;
    uint64_t mark = UINT64_C(1) << (most - length), before = runs_used(&p.v);
    uint64_t x = (p.x & ~((mark << 1) - 1)) | mark;
    runs_run run = runs_find_by(&p.v, p.quotient, false);
    runs_run rest = { expandable_long_from(&p.v, &run), run.stop,
                      run.occupied };
    runs_item item = runs_seek(&p.v, &rest, x);
    if (!runs_raise(&p.v, p.quotient, &run, &item, count, p.side->limit))
        return expandable_is_full();
    expandable_changed(image, &p.v, before);
    return BLY_OK;
}

/* ---- Remove ------------------------------------------------------------ */

/* Finds the key's longest fingerprint; `beyond` where it is a short one. */
static expandable_item expandable_longest(const expandable_place *p,
                                          runs_run *run)
{
    expandable_item best = { .item = { 0, 0, 0, 0 } }, i;
    uint64_t least = 0, at;             /* the mark of the longest            */
    *run = runs_find_by(&p->v, p->quotient, false);
    at = run->start;
    while (expandable_match(&i, &p->v, run, &at, p->x)) {
        uint64_t x = i.item.remainder;
        uint64_t mark = x == 0 ? UINT64_MAX : x & (~x + 1);
        if (best.item.count == 0 || mark < least) {
            best = i;
            least = mark;
        }
    }
    return best;
}

/* Removes the longest of the key's fingerprints. If that is another key's, then
 * this key's own is a beginning of it, and serves the other key as well. */
static bly_status expandable_remove_slowly(void *image,
                                           const expandable_view *view,
                                           uint64_t hash)
{
    expandable_place p = expandable_at(view, hash);
    uint64_t before = runs_used(&p.v);
    runs_run run;
    expandable_item i = expandable_longest(&p, &run);
    if (i.item.count == 0 || i.beyond > p.side->address)
        return status_plain(BLY_EABSENT);
    if (i.item.remainder == 0)
        return expandable_change_short(image, view, hash,
                                       p.side->address - (uint32_t)i.beyond, 0,
                                       true);
    if (!runs_lower(&p.v, p.quotient, &run, &i.item))
        return status_plain(BLY_EABSENT);
    expandable_changed(image, &p.v, before);
    return BLY_OK;
}

PLATFORM_INLINE bly_status expandable_remove_by(void *image,
                                                const expandable_view *view,
                                                uint64_t hash, bool bmi)
{
    expandable_place p = expandable_at(view, hash);
    uint64_t before = runs_used(&p.v);
    runs_run run;
    bool seen;
    runs_item item = expandable_seek(&p, &run, &seen, bmi);
    if (!seen && item.count == 0)
        return status_plain(BLY_EABSENT);
    if (item.count == 0 || !runs_lower(&p.v, p.quotient, &run, &item))
        return expandable_remove_slowly(image, view, hash);
    expandable_changed(image, &p.v, before);
    return BLY_OK;
}

bly_status expandable_remove(void *image, uint64_t hash)
{
    expandable_view view = expandable_look(image);
    return expandable_remove_by(image, &view, hash, false);
}

/* ---- Batches ----------------------------------------------------------- */

PLATFORM_INLINE void expandable_prefetch(const expandable_view *view,
                                         uint64_t hash, bool still)
{
    expandable_place p = expandable_on(view, hash, still);
    runs_prefetch(&p.v, p.quotient);
}

/* Runs `work`, the statement for hashes[i], some keys behind its prefetches. */
#define EXPANDABLE_ROLL_BY(view, hashes, n, is_still, work)                    \
    do {                                                                       \
        const bool still = is_still;                                           \
        size_t ahead = cpu_ahead(n, EXPANDABLE_AHEAD, bytes);                  \
        for (size_t i = 0; i < ahead; i++)                                     \
            expandable_prefetch(&(view), (hashes)[i], still);                  \
        for (size_t i = 0; i < (n); i++) {                                     \
            if (i + ahead < (n))                                               \
                expandable_prefetch(&(view), (hashes)[i + ahead], still);      \
            work;                                                              \
        }                                                                      \
    } while (0)

/* Does so with a body for filters that are not growing. */
#define EXPANDABLE_ROLL(image, view, hashes, n, work)                          \
    do {                                                                       \
        const uint64_t bytes = image_u64(image, IMAGE_BYTES);                  \
        const expandable_view view = expandable_look(image);                   \
        if (view.boundary == 0)                                                \
            EXPANDABLE_ROLL_BY(view, hashes, n, true, work);                   \
        else                                                                   \
            EXPANDABLE_ROLL_BY(view, hashes, n, false, work);                  \
    } while (0)

PLATFORM_INLINE void
expandable_contains_many_by(const void *image, const uint64_t *hashes, size_t n,
                            bool *present, bool bmi)
{
    EXPANDABLE_ROLL(image, view, hashes, n,
                    present[i] = expandable_contains_by(&view, hashes[i],
                                                        still, bmi));
}

PLATFORM_INLINE void
expandable_count_many_by(const void *image, const uint64_t *hashes, size_t n,
                         uint64_t *counts, bool bmi)
{
    EXPANDABLE_ROLL(image, view, hashes, n, {
        counts[i] = expandable_count_by(&view, hashes[i], bmi);
        (void)still;
    });
}

PLATFORM_INLINE bly_status
expandable_add_many_by(void *image, const uint64_t *hashes, size_t n,
                       size_t *done, bool bmi)
{
    bly_status status = BLY_OK;
    EXPANDABLE_ROLL(image, view, hashes, n, {
        status = expandable_add_by(image, &view, hashes[i], still, bmi);
        *done = i + (status >= 0);
        if (status < 0)
            break;
    });
    return status < 0 ? status : BLY_OK;
}

PLATFORM_INLINE void
expandable_remove_many_by(void *image, const uint64_t *hashes, size_t n,
                          bly_status *each, bool bmi)
{
    EXPANDABLE_ROLL(image, view, hashes, n, {
        each[i] = expandable_remove_by(image, &view, hashes[i], bmi);
        (void)still;
    });
}

#if CPU_X86
CPU_TARGET_AVX2 static void
expandable_contains_many_bmi2(const void *image, const uint64_t *hashes,
                              size_t n, bool *present)
{
    expandable_contains_many_by(image, hashes, n, present, true);
}

CPU_TARGET_AVX2 static void
expandable_count_many_bmi2(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *counts)
{
    expandable_count_many_by(image, hashes, n, counts, true);
}

CPU_TARGET_AVX2 static bly_status
expandable_add_many_bmi2(void *image, const uint64_t *hashes, size_t n,
                         size_t *done)
{
    return expandable_add_many_by(image, hashes, n, done, true);
}

CPU_TARGET_AVX2 static void
expandable_remove_many_bmi2(void *image, const uint64_t *hashes, size_t n,
                            bly_status *each)
{
    expandable_remove_many_by(image, hashes, n, each, true);
}

/* Call the body for this processor. */
#define EXPANDABLE_HERE(name, ...)                                             \
    (cpu_now() >= CPU_AVX2 ? expandable_##name##_bmi2(__VA_ARGS__)             \
                           : expandable_##name##_by(__VA_ARGS__, false))
#else
#define EXPANDABLE_HERE(name, ...) expandable_##name##_by(__VA_ARGS__, false)
#endif

void expandable_contains_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *present)
{
    EXPANDABLE_HERE(contains_many, image, hashes, n, present);
}

void expandable_count_many(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *counts)
{
    EXPANDABLE_HERE(count_many, image, hashes, n, counts);
}

bly_status expandable_add_many(void *image, const uint64_t *hashes, size_t n,
                               size_t *done)
{
    return EXPANDABLE_HERE(add_many, image, hashes, n, done);
}

void expandable_remove_many(void *image, const uint64_t *hashes, size_t n,
                            bly_status *each)
{
    EXPANDABLE_HERE(remove_many, image, hashes, n, each);
}
