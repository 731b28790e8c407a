/* golomb_pairs.c - unites, compares and resizes filters of kind `golomb`.
 */
#include "kinds/removable/golomb/golomb.h"

#include "base/task.h"
#include "bodies/rows.h"

/* ---- How many bits ----------------------------------------------------- */

/* The bits of the items of a bucket, summed one after another. */
typedef struct {
    uint64_t before, bits;
} golomb_sum;

static void golomb_sum_one(golomb_sum *s, const golomb_view *v, uint64_t value,
                           uint64_t count)
{
    s->bits += golomb_gap_bits(v, value - s->before) + v->k
             + golomb_count_bits(v, count);
    s->before = value;
}

/* ---- Both -------------------------------------------------------------- */

/* The items of a bucket in two filters of one plan, by their values. */
typedef struct {
    golomb_items a, b;
    bool some_a, some_b;                /* have they come to one each?       */
    bool in_a, in_b;                    /* and is it `value`?                */
    uint64_t value;
} golomb_pair;

static golomb_pair golomb_pair_of(const golomb_view *a, const golomb_view *b,
                                  uint64_t bucket)
{
    golomb_place in_a = golomb_bucket(a, bucket);
    golomb_place in_b = golomb_bucket(b, bucket);
    return (golomb_pair){ .a = golomb_items_of(a, in_a.page, in_a.bucket),
                          .b = golomb_items_of(b, in_b.page, in_b.bucket),
                          .in_a = true, .in_b = true };
}

/* The next value that is in one of them or both; false at the end. */
static bool golomb_pair_next(golomb_pair *p)
{
    if (p->in_a)
        p->some_a = golomb_item(&p->a);
    if (p->in_b)
        p->some_b = golomb_item(&p->b);
    p->in_a = p->some_a && (!p->some_b || p->a.value <= p->b.value);
    p->in_b = p->some_b && (!p->some_a || p->b.value <= p->a.value);
    p->value = p->in_a ? p->a.value : p->b.value;
    return p->in_a || p->in_b;
}

/* Buckets between two steps of a task. */
enum { GOLOMB_TURN = 256 };

/* Returns whether this bucket is among the first n and the call is not
 * cancelled. */
static bool golomb_goes_on(uint64_t bucket, uint64_t n)
{
    return bucket < n && (bucket % GOLOMB_TURN != 0 || !task_step(GOLOMB_TURN));
}

/* ---- Unite ------------------------------------------------------------- */

/* Bits of a bucket of both together; false where a count has no number. */
static bool golomb_both_bits(uint64_t *bits, const golomb_view *a,
                             const golomb_view *b, uint64_t bucket)
{
    golomb_pair p = golomb_pair_of(a, b, bucket);
    golomb_sum sum = { 0, 0 };
    while (golomb_pair_next(&p)) {
        uint64_t count = p.in_a ? p.a.count : 0, more = p.in_b ? p.b.count : 0;
        if (count > UINT64_MAX - more)
            return false;
        golomb_sum_one(&sum, a, p.value, count + more);
    }
    *bits = sum.bits;
    return true;
}

/* Would both together fit? */
static bool golomb_both_fit(const golomb_view *a, const golomb_view *b)
{
    uint64_t used = 0, bits;
    for (uint64_t bucket = 0; golomb_goes_on(bucket, a->total); bucket++) {
        if (golomb_bucket(a, bucket).bucket == 0)
            used = 0;
        if (!golomb_both_bits(&bits, a, b, bucket) || bits > a->room - used)
            return false;
        used += bits;
    }
    return true;
}

/* Returns whether everything is where a filter writes it, which only a forged
 * payload violates. Then the number of items is right. */
static bool golomb_written(const golomb_view *v)
{
    uint64_t all = v->count * v->buckets;
    for (uint64_t bucket = 0; golomb_goes_on(bucket, all); bucket++) {
        golomb_place p = golomb_bucket(v, bucket);
        golomb_span span = golomb_span_as_is(v, p.page, p.bucket);
        golomb_sum sum = { 0, 0 };
        if (!golomb_sound(v, span))
            return false;
        golomb_items items = golomb_items_of(v, p.page, p.bucket);
        while (golomb_item(&items))
            golomb_sum_one(&sum, v, items.value, items.count);
        if (sum.bits != span.end - span.start)
            return false;
    }
    return true;
}

/* The items of another filter's bucket, one by one, where there is room. */
static void golomb_pour(const golomb_view *into, golomb_place p,
                        golomb_codes *codes, golomb_items *items)
{
    while (golomb_item(items)) {
        p.x = items->value;
        (void)golomb_plus(into, p, codes, items->count);
    }
}

/* Adds each value of a bucket once more. The changed bits are always behind the
 * next value. */
static void golomb_double(const golomb_view *v, golomb_place p,
                          golomb_codes *codes)
{
    golomb_found f = golomb_seek(v, p.page, codes->span, 0);
    while (f.some) {
        p.x = f.value;
        (void)golomb_plus(v, p, codes, golomb_count_of(&f.next));
        f = golomb_seek(v, p.page, codes->span, p.x + 1);
    }
}

/* Unites one bucket. The rest of the page moves up once, by the growth of the
 * bucket. */
static void golomb_unite_bucket(const golomb_view *a, const golomb_view *b,
                                uint64_t bucket)
{
    golomb_place p = golomb_bucket(a, bucket), q = golomb_bucket(b, bucket);
    golomb_span span = golomb_span_of(a, p.page, p.bucket);
    golomb_codes codes = { span, span.end };
    uint64_t bits;
    if (!golomb_both_bits(&bits, a, b, bucket))
        return;
    uint64_t more = bits - (span.end - span.start);
    if (more > 0) {
        golomb_up(p.page, span.end, golomb_used(a, p.page), more);
        golomb_move_ends(a, p.page, p.bucket, more);
    }
    if (a->pages == b->pages) {
        golomb_double(a, p, &codes);
    } else {
        golomb_items items = golomb_items_of(b, q.page, q.bucket);
        golomb_pour(a, p, &codes, &items);
    }
}

bly_status golomb_unite(void *into, const void *other)
{
    golomb_view a = golomb_look(into), b = golomb_look(other);
    task_units(3 * a.total);
    if (!golomb_both_fit(&a, &b))
        return golomb_full();
    if (!golomb_written(&a))
        return status_fail(BLY_ECORRUPT, "the filter's pages are in an "
                           "impossible state: rebuild it");
    for (uint64_t bucket = 0; golomb_goes_on(bucket, a.total); bucket++)
        golomb_unite_bucket(&a, &b, bucket);
    return BLY_OK;
}

/* Values are counted one by one; keys are estimated from them as if each were
 * a bit of a row of R. */
void golomb_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    golomb_view of_a = golomb_look(a), of_b = golomb_look(b);
    shape row = { .blocks = 1, .lanes = 1, .bits = of_a.range, .probes = 1 };
    uint64_t in_a = 0, in_b = 0, either = 0;
    task_units(of_a.total);
    for (uint64_t bucket = 0; golomb_goes_on(bucket, of_a.total); bucket++) {
        golomb_pair p = golomb_pair_of(&of_a, &of_b, bucket);
        while (golomb_pair_next(&p)) {
            in_a += p.in_a;
            in_b += p.in_b;
            either++;
        }
    }
    rows_overlap_of(out, &row, in_a, in_b, either);
}

/* ---- Another size ------------------------------------------------------ */

/* Bits of the items of a bucket of another width: those that the walk is at
 * and that follow. */
static uint64_t golomb_next_bits(const golomb_view *v, golomb_walk *w,
                                 bool *some, uint64_t bucket)
{
    golomb_sum sum = { 0, 0 };
    while (*some && w->value >> v->width == bucket) {
        golomb_sum_one(&sum, v, w->value & golomb_low(v->width), w->count);
        *some = golomb_next(w);
    }
    return sum.bits;
}

bool golomb_fits(const golomb_view *into, const golomb_view *from)
{
    golomb_walk w = golomb_first(from);
    bool some = golomb_next(&w);
    uint64_t used = 0, page = 0;
    while (some) {
        uint64_t bucket = w.value >> into->width;
        if (bucket / into->buckets != page)
            used = 0;
        page = bucket / into->buckets;
        uint64_t bits = golomb_next_bits(into, &w, &some, bucket);
        if (bits > into->room - used)
            return false;
        used += bits;
    }
    return true;
}

/* The items of one bucket, which take so many bits from `at` on. */
static void golomb_write_next(const golomb_view *v, uint8_t *page, uint64_t at,
                              uint64_t bits, golomb_walk *w, bool *some,
                              uint64_t bucket)
{
    uint64_t rest = at + bits, before = 0;
    while (*some && w->value >> v->width == bucket) {
        uint64_t value = w->value & golomb_low(v->width);
        golomb_write_gap(v, page, &at, &rest, value - before);
        golomb_write_count(v, page, &at, &rest, w->count);
        before = value;
        *some = golomb_next(w);
    }
}

bly_status golomb_resize(void *into, const void *image)
{
    golomb_view v = golomb_look(image), new = golomb_look(into);
    golomb_walk w = golomb_first(&v);
    bool some = golomb_next(&w);
    uint64_t at = 0, all = new.count * new.buckets;
    task_units(all);
    for (uint64_t b = 0; golomb_goes_on(b, all); b++) {
        golomb_place p = golomb_bucket(&new, b);
        golomb_walk ahead = w;
        bool more = some;
        at = p.bucket == 0 ? 0 : at;
        uint64_t bits = golomb_next_bits(&new, &ahead, &more, b);
        if (bits > new.room - at)
            return status_plain(BLY_ECORRUPT);
        golomb_write_next(&new, p.page, new.code + at, bits, &w, &some, b);
        at += bits;
        golomb_put(p.page, p.bucket * new.entry, at, new.entry);
    }
    return BLY_OK;
}
