/* golomb_look.c - looks up keys of kind `golomb`, and walks over all of them.
 */
#include "kinds/removable/golomb/golomb.h"

#include <assert.h>

#include "base/cpu.h"
#include "base/task.h"

/* ---- Contains ---------------------------------------------------------- */

/* Returns whether x is in the bucket. The first gap is counted from the
 * bucket's first value; a later gap of 0 marks a count. */
PLATFORM_INLINE bool golomb_search(const golomb_view *v, const uint8_t *page,
                                   golomb_span span, uint64_t x)
{
    golomb_reader r = golomb_read(v, page, span);
    uint64_t gap, value;
    if (!golomb_gap(&r, &value))
        return false;
    while (value < x) {
        if (!golomb_gap(&r, &gap) || (gap == 0 && !golomb_skip(&r)))
            return false;
        value += gap;
    }
    return value == x;
}

PLATFORM_INLINE bool golomb_one_by(const golomb_view *v, uint64_t hash)
{
    golomb_place p = golomb_place_of(v, golomb_value(v, hash));
    return golomb_search(v, p.page, golomb_span_of(v, p.page, p.bucket), p.x);
}

bool golomb_contains(const void *image, uint64_t hash)
{
    golomb_view v = golomb_look(image);
    return golomb_one_by(&v, hash);
}

static bool golomb_contains_view(const void *view, uint64_t hash)
{
    return golomb_one_by(view, hash);
}

static_assert(sizeof(golomb_view) <= KIND_VIEW, "a view has its room");

#if CPU_X86
CPU_TARGET_AVX2 static bool golomb_contains_bmi(const void *view, uint64_t hash)
{
    return golomb_one_by(view, hash);
}
#endif

kind_contains *golomb_contains_here(const void **subject, void *view)
{
    *(golomb_view *)view = golomb_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return golomb_contains_bmi;
#endif
    return golomb_contains_view;
}

PLATFORM_INLINE void golomb_contains_by(const void *image,
                                        const uint64_t *hashes, size_t n,
                                        bool *present)
{
    golomb_view v = golomb_look(image);
    GOLOMB_ROLL(v, hashes, n, present[i] = golomb_search(
        &v, p.page, golomb_span_of(&v, p.page, p.bucket), p.x));
}

#if CPU_X86
CPU_TARGET_AVX2 static void
golomb_contains_many_bmi(const void *image, const uint64_t *hashes, size_t n,
                         bool *present)
{
    golomb_contains_by(image, hashes, n, present);
}
#endif

void golomb_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        golomb_contains_many_bmi(image, hashes, n, present);
        return;
    }
#endif
    golomb_contains_by(image, hashes, n, present);
}

/* ---- Counts ------------------------------------------------------------ */

uint64_t golomb_count_bits(const golomb_view *v, uint64_t count)
{
    uint64_t bits = 0, more = count - 1;
    if (count <= 1)
        return 0;
    while (more >> bits > 1)
        bits++;
    return 1 + v->k + 2 * bits + 1;
}

/* A number of `bits` bits below its highest, which stand from `at` on. */
static uint64_t golomb_number(const uint8_t *page, uint64_t at, uint64_t bits)
{
    uint64_t low = golomb_bits(page, at);
    if (bits > 32)
        low = (low & golomb_low(32)) | golomb_bits(page, at + 32) << 32;
    return UINT64_C(1) << bits | (low & golomb_low((uint32_t)bits));
}

uint64_t golomb_count_of(golomb_reader *r)
{
    golomb_reader after = *r;
    uint64_t gap;
    if (!golomb_gap(&after, &gap) || gap != 0)
        return 1;
    uint64_t from = after.from;
    if (!golomb_skip(&after))
        return 1;
    uint64_t bits = (after.from - from) / 2;
    uint64_t more = golomb_number(r->page, from + bits + 1, bits);
    if (more == UINT64_MAX)
        return 1;
    *r = after;
    return more + 1;
}

golomb_found golomb_seek(const golomb_view *v, const uint8_t *page,
                         golomb_span span, uint64_t x)
{
    golomb_reader r = golomb_read(v, page, span);
    golomb_found f = { .from = r.from, .rest = r.rest };
    uint64_t gap;
    for (; golomb_gap(&r, &gap); f.from = r.from, f.rest = r.rest) {
        if (f.later && gap == 0) {
            if (!golomb_skip(&r))
                break;
            continue;
        }
        f.value = f.before + gap;
        if (f.value < f.before || f.value >> v->width != 0)
            break;
        if (f.value >= x) {
            f.some = true;
            break;
        }
        f.before = f.value;
        f.later = true;
    }
    f.next = r;
    return f;
}

static uint64_t golomb_count_in(const golomb_view *v, golomb_place p)
{
    golomb_span span = golomb_span_of(v, p.page, p.bucket);
    golomb_found f = golomb_seek(v, p.page, span, p.x);
    return f.some && f.value == p.x ? golomb_count_of(&f.next) : 0;
}

uint64_t golomb_count(const void *image, uint64_t hash)
{
    golomb_view v = golomb_look(image);
    return golomb_count_in(&v, golomb_place_of(&v, golomb_value(&v, hash)));
}

void golomb_count_many(const void *image, const uint64_t *hashes, size_t n,
                       uint64_t *counts)
{
    golomb_view v = golomb_look(image);
    GOLOMB_ROLL(v, hashes, n, counts[i] = golomb_count_in(&v, p));
}

/* ---- All items --------------------------------------------------------- */

golomb_items golomb_items_of(const golomb_view *v, const uint8_t *page,
                             uint64_t bucket)
{
    return (golomb_items){
        .reader = golomb_read(v, page, golomb_span_of(v, page, bucket)),
        .most = golomb_low(v->width),
    };
}

/* Values rise: where they do not, no filter wrote the rest of the bucket. */
bool golomb_item(golomb_items *items)
{
    uint64_t gap;
    if (!golomb_gap(&items->reader, &gap) || (items->later && gap == 0)
        || gap > items->most - items->value)
        return false;
    items->value += gap;
    items->later = true;
    items->count = golomb_count_of(&items->reader);
    return true;
}

golomb_walk golomb_first(const golomb_view *v)
{
    return (golomb_walk){ .view = v, .items.reader = golomb_read(
        v, v->pages, (golomb_span){ v->code, v->code }) };
}

bool golomb_next(golomb_walk *w)
{
    const golomb_view *v = w->view;
    while (!golomb_item(&w->items)) {
        if (w->bucket == v->total
            || (w->bucket % TASK_KEYS == 0 && task_step(TASK_KEYS)))
            return false;
        golomb_place p = golomb_bucket(v, w->bucket++);
        w->items = golomb_items_of(v, p.page, p.bucket);
    }
    w->value = (w->bucket - 1) << v->width | w->items.value;
    w->count = w->items.count;
    return w->value < v->range;
}
