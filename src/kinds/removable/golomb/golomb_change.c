/* golomb_change.c - adds keys to a filter of kind `golomb` and removes them.
 * A CHANGE in golomb.c explains the steps.
 */
#include "kinds/removable/golomb/golomb.h"

#include "base/cpu.h"

/* ---- Codes are written ------------------------------------------------- */

void golomb_write_gap(const golomb_view *v, uint8_t *page, uint64_t *from,
                      uint64_t *rest, uint64_t gap)
{
    *from += gap >> v->k;
    golomb_put(page, *from, 1, 1);
    ++*from;
    *rest -= v->k;
    golomb_put(page, *rest, gap & golomb_low(v->k), v->k);
}

void golomb_write_count(const golomb_view *v, uint8_t *page, uint64_t *from,
                        uint64_t *rest, uint64_t count)
{
    uint64_t more = count - 1;
    uint32_t bits = 0;
    if (count <= 1)
        return;
    golomb_write_gap(v, page, from, rest, 0);
    while (more >> bits > 1)
        bits++;
    *from += bits;
    golomb_put(page, *from, 1, 1);
    ++*from;
    uint32_t low = bits < 32 ? bits : 32;
    golomb_put(page, *from, more & golomb_low(low), low);
    golomb_put(page, *from + low, more >> 32 & golomb_low(bits - low),
               bits - low);
    *from += bits;
}

/* ---- A piece of a bucket is exchanged ---------------------------------- */

/* Some codes of a bucket, one behind another: quotients [from, from_end) and
 * remainders [rest_end, rest); and the bits that will be there instead. */
typedef struct {
    uint64_t from, from_end, rest, rest_end;
    uint64_t quotients, remainders;
} golomb_piece;

bly_status golomb_full(void)
{
    return status_fail(BLY_EFULL, "a page of the filter is full: plan for "
                       "more keys, or resize the filter");
}

/* Moves the bits behind the piece so that the new codes fit exactly. Its
 * quotients are clear then, and `rest` is where its remainders begin, the
 * highest first. BLY_EFULL; BLY_ECORRUPT if one half would grow and the other
 * shrink, which no valid filter needs. */
static bly_status golomb_make_room(const golomb_view *v, uint8_t *page,
                                   golomb_piece *p, golomb_codes *codes)
{
    uint64_t stop = codes->stop;
    uint64_t first = p->from_end - p->from;
    uint64_t old = first + p->rest - p->rest_end;
    uint64_t now = p->quotients + p->remainders;
    if (now >= old && p->quotients >= first) {
        if (now - old > v->code + v->room - stop)
            return golomb_full();
        golomb_up(page, p->rest, stop, now - old);
        golomb_up(page, p->from_end, p->rest_end, p->quotients - first);
    } else if (now <= old && p->quotients <= first) {
        golomb_down(page, p->from_end, p->rest_end, first - p->quotients);
        golomb_down(page, p->rest, stop, old - now);
        golomb_clear(page, stop - (old - now), stop);
    } else {
        return status_plain(BLY_ECORRUPT);
    }
    golomb_clear(page, p->from, p->from + p->quotients);
    p->rest += now - old;
    codes->stop += now - old;
    codes->span.end += now - old;
    return BLY_OK;
}

/* A value that is there gets another count, not 0: `code` is the reader behind
 * its gap, `behind` that behind its count. */
static bly_status golomb_recount(const golomb_view *v, uint8_t *page,
                                 golomb_codes *codes,
                                 const golomb_reader *code,
                                 const golomb_reader *behind, uint64_t count)
{
    golomb_piece p = {
        .from = code->from, .from_end = behind->from,
        .rest = code->rest, .rest_end = behind->rest,
        .remainders = count > 1 ? v->k : 0,
    };
    p.quotients = golomb_count_bits(v, count) - p.remainders;
    bly_status status = golomb_make_room(v, page, &p, codes);
    if (status == BLY_OK)
        golomb_write_count(v, page, &p.from, &p.rest, count);
    return status;
}

/* ---- Add --------------------------------------------------------------- */

/* A value that is not there, before that which was found or at the end: the
 * gap to the next one becomes two. */
static bly_status golomb_insert(const golomb_view *v, uint8_t *page,
                                golomb_codes *codes, const golomb_found *f,
                                uint64_t x, uint64_t count)
{
    uint64_t to = x - f->before, on = f->some ? f->value - x : 0;
    golomb_piece p = {
        .from = f->from, .from_end = f->some ? f->next.from : f->from,
        .rest = f->rest, .rest_end = f->some ? f->next.rest : f->rest,
        .remainders = ((uint64_t)1 + (count > 1) + f->some) * v->k,
    };
    p.quotients = golomb_gap_bits(v, to)
                + (count > 1 ? golomb_count_bits(v, count) - v->k : 0)
                + (f->some ? golomb_gap_bits(v, on) : 0);
    bly_status status = golomb_make_room(v, page, &p, codes);
    if (status != BLY_OK)
        return status;
    golomb_write_gap(v, page, &p.from, &p.rest, to);
    golomb_write_count(v, page, &p.from, &p.rest, count);
    if (f->some)
        golomb_write_gap(v, page, &p.from, &p.rest, on);
    return BLY_OK;
}

bly_status golomb_plus(const golomb_view *v, golomb_place p,
                       golomb_codes *codes, uint64_t count)
{
    golomb_found f = golomb_seek(v, p.page, codes->span, p.x);
    if (!f.some || f.value != p.x)
        return golomb_insert(v, p.page, codes, &f, p.x, count);
    golomb_reader behind = f.next;
    uint64_t old = golomb_count_of(&behind);
    if (count > UINT64_MAX - old)
        return golomb_full();
    bly_status status = golomb_recount(v, p.page, codes, &f.next, &behind,
                                       old + count);
    return status == BLY_OK ? BLY_SEEN : status;
}

/* ---- Remove ------------------------------------------------------------ */

/* The only one of its value goes: two gaps become one, or the last gap of the
 * bucket none. */
static bly_status golomb_delete(const golomb_view *v, uint8_t *page,
                                golomb_codes *codes, const golomb_found *f)
{
    golomb_reader behind = f->next;
    uint64_t gap;
    bool some = golomb_gap(&behind, &gap) && gap != 0;
    uint64_t on = some ? f->value - f->before + gap : 0;
    golomb_piece p = {
        .from = f->from, .from_end = some ? behind.from : f->next.from,
        .rest = f->rest, .rest_end = some ? behind.rest : f->next.rest,
        .quotients = some ? golomb_gap_bits(v, on) : 0,
        .remainders = some ? v->k : 0,
    };
    bly_status status = golomb_make_room(v, page, &p, codes);
    if (status == BLY_OK && some)
        golomb_write_gap(v, page, &p.from, &p.rest, on);
    return status;
}

static bly_status golomb_minus(const golomb_view *v, golomb_place p,
                               golomb_codes *codes)
{
    golomb_found f = golomb_seek(v, p.page, codes->span, p.x);
    if (!f.some || f.value != p.x)
        return status_plain(BLY_EABSENT);
    golomb_reader behind = f.next;
    uint64_t old = golomb_count_of(&behind);
    return old > 1 ? golomb_recount(v, p.page, codes, &f.next, &behind,
                                    old - 1)
                   : golomb_delete(v, p.page, codes, &f);
}

/* ---- Single keys ------------------------------------------------------- */

/* A bucket's codes, if the page says what it can mean of its own end and the
 * last one. */
static bool golomb_open(const golomb_view *v, golomb_place p,
                        golomb_codes *codes)
{
    codes->span = golomb_span_as_is(v, p.page, p.bucket);
    codes->stop = golomb_used(v, p.page);
    return golomb_sound(v, codes->span) && codes->stop >= codes->span.end
        && codes->stop <= v->code + v->room;
}

/* Adds or removes one copy. */
static bly_status golomb_change(const golomb_view *v, golomb_place p, bool more)
{
    golomb_codes codes;
    if (!golomb_open(v, p, &codes))
        return more ? golomb_full() : status_plain(BLY_EABSENT);
    uint64_t stop = codes.stop;
    bly_status status = more ? golomb_plus(v, p, &codes, 1)
                             : golomb_minus(v, p, &codes);
    if (codes.stop != stop)
        golomb_move_ends(v, p.page, p.bucket, codes.stop - stop);
    return status;
}

bly_status golomb_add(void *image, uint64_t hash)
{
    golomb_view v = golomb_look(image);
    return golomb_change(&v, golomb_place_of(&v, golomb_value(&v, hash)), true);
}

bly_status golomb_remove(void *image, uint64_t hash)
{
    golomb_view v = golomb_look(image);
    return golomb_change(&v, golomb_place_of(&v, golomb_value(&v, hash)),
                         false);
}

/* ---- Batches ----------------------------------------------------------- */

bly_status golomb_add_many(void *image, const uint64_t *hashes, size_t n,
                           size_t *done)
{
    golomb_view v = golomb_look(image);
    bly_status status = BLY_OK;
    GOLOMB_ROLL(v, hashes, n, {
        status = golomb_change(&v, p, true);
        *done = i + (status >= 0);
        if (status < 0)
            break;
    });
    return status < 0 ? status : BLY_OK;
}

void golomb_remove_many(void *image, const uint64_t *hashes, size_t n,
                        bly_status *each)
{
    golomb_view v = golomb_look(image);
    GOLOMB_ROLL(v, hashes, n, each[i] = golomb_change(&v, p, false));
}
