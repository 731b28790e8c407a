/* similar.c - the most similar rows of bits, exactly, without reading all.
 *
 * THE BOUND
 *
 * A query has a bits, a row b, both c, and the similarity of Tversky, of which
 * the others are cases, is
 *
 *      s(c) = c / (alpha (a - c) + beta (b - c) + c)                      (1)
 *
 * which rises with c, and c is at most min(a, b). So no row with b bits is more
 * similar than
 *
 *      s(min(a, b)),                                                      (2)
 *
 * which for Tanimoto is min(a, b) / max(a, b) [Swamidass & Baldi 2007a]. (2)
 * falls on both sides of b = a. Rows lie by b (bitrows.c), and are read from
 * there outwards, always on the side where (2) is larger, until it is less than
 * what is asked for, or than the least of `most` rows that are known already.
 *
 * Within a range of equal b the same two limits give the least c that counts,
 * and of most rows nothing more is computed than c.
 *
 * ROUNDING
 *
 * Of Tanimoto and Dice, and of what is contained, every term of (1) is a whole
 * number, or half of one, and the quotient is rounded once: equal similarities
 * are equal. Of other alpha and beta (1) is off by some 2^-51 at most, and
 * another c with a smaller s could come out above one with a larger. So a range
 * or a c is only left out where it falls short by more than that.
 *
 * THREADS
 *
 * Many queries are dealt out to the threads. Of few each is looked for by all
 * of them, each in its own part of every range, and what they have found is put
 * together: as no two rows are equal, by similarity and then by number, the
 * answer does not depend on it.
 */
#include "bloomery/similar.h"

#include <math.h>

#include "base/sizes.h"
#include "base/status.h"
#include "base/task.h"
#include "base/threads.h"
#include "bodies/rows.h"
#include "bits/ones.h"
#include "similar/library/bitrows.h"

/* Rows whose bits in common are counted at a time. */
enum { SIMILAR_BLOCK = 256 };

/* Bound of the error of (1). */
static const double SIMILAR_SLACK = 1 + 0x1p-48;

/* ---- The measure -------------------------------------------------------- */

typedef struct { double alpha, beta; } similar_weights;

static bool similar_weigh(similar_weights *out, const bly_similar_spec *spec)
{
    switch (spec->measure) {
    case BLY_TANIMOTO:
        *out = (similar_weights){ 1, 1 };
        return true;
    case BLY_DICE:
        *out = (similar_weights){ 0.5, 0.5 };
        return true;
    case BLY_CONTAINED:
        *out = (similar_weights){ 1, 0 };
        return true;
    case BLY_TVERSKY:
        *out = (similar_weights){ spec->alpha, spec->beta };
        return true;
    default:
        return false;
    }
}

/* Returns (1). */
static double similar_of(const similar_weights *w, uint64_t a, uint64_t b,
                         uint64_t c)
{
    if (c == 0)
        return 0;
    return (double)c / (w->alpha * (double)(a - c) + w->beta * (double)(b - c)
                        + (double)c);
}

double bly_similarity(const bly_similar_spec *spec, uint64_t a, uint64_t b,
                      uint64_t c)
{
    similar_weights w;
    return similar_weigh(&w, spec) ? similar_of(&w, a, b, c) : (double)NAN;
}

bly_status bly_similar_estimate(bly_overlap_t *out, uint64_t m, uint64_t a,
                                uint64_t b, uint64_t c)
{
    const shape s = { .blocks = 1, .lanes = 1, .bits = m, .probes = 1 };
    if (m < 2 || m > BLY_ROW_BITS_MOST || a > m || b > m || c > a || c > b
        || a + b - c > m)
        return status_fail(BLY_EPARAM, "no two rows can have these numbers of "
                           "bits: a and b of m bits are set, c of them in "
                           "both, where m is at least 2 and a + b - c at most "
                           "m");
    *out = (bly_overlap_t){ .a.value = 0 };
    rows_overlap_of(out, &s, a, b, a + b - c);
    return BLY_OK;
}

/* ---- The best so far ---------------------------------------------------- */

/* A query in progress over some part of the rows. The root of the heap is the
 * last of the rows found. */
typedef struct {
    const bly_rows  *rows;
    similar_weights  weights;
    double           least;
    bool             within;
    const uint8_t   *query;
    uint64_t         a;                 /* bits of it                        */
    unsigned         part, parts;       /* of each range                     */
    bly_similar     *heap;
    size_t           n, room;
} similar_search;

/* Does x come after y? */
static bool similar_after(const bly_similar *x, const bly_similar *y)
{
    return x->similarity != y->similarity ? x->similarity < y->similarity
                                          : x->row > y->row;
}

static void similar_swap(bly_similar *x, bly_similar *y)
{
    bly_similar kept = *x;
    *x = *y;
    *y = kept;
}

static void similar_sink(bly_similar *heap, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && similar_after(&heap[child + 1], &heap[child]))
            child++;
        if (!similar_after(&heap[child], &heap[at]))
            return;
        similar_swap(&heap[child], &heap[at]);
    }
}

static void similar_rise(bly_similar *heap, size_t at)
{
    for (size_t up; at > 0; at = up) {
        up = (at - 1) / 2;
        if (!similar_after(&heap[at], &heap[up]))
            return;
        similar_swap(&heap[at], &heap[up]);
    }
}

static void similar_offer(similar_search *s, const bly_similar *found)
{
    if (found->similarity < s->least)
        return;
    if (s->n < s->room) {
        s->heap[s->n] = *found;
        similar_rise(s->heap, s->n++);
    } else if (similar_after(&s->heap[0], found)) {
        s->heap[0] = *found;
        similar_sink(s->heap, s->n, 0);
    }
}

/* Sorts by moving the last one to the end repeatedly. */
static void similar_order(similar_search *s)
{
    for (size_t left = s->n; left > 1; left--) {
        similar_swap(&s->heap[0], &s->heap[left - 1]);
        similar_sink(s->heap, left - 1, 0);
    }
}

/* ---- Ranges ------------------------------------------------------------- */

/* Returns whether this is less than a row must have. */
static bool similar_short(const similar_search *s, double similarity)
{
    double least = s->least;
    if (s->n == s->room && s->heap[0].similarity > least)
        least = s->heap[0].similarity;
    return similarity * SIMILAR_SLACK < least;
}

/* Returns (2). */
static double similar_bound(const similar_search *s, uint64_t b)
{
    return similar_of(&s->weights, s->a, b, b < s->a ? b : s->a);
}

/* Returns the least c at which a row of b bits may count, given that one with
   the maximum c may. */
static uint64_t similar_least(const similar_search *s, uint64_t b)
{
    uint64_t high = b < s->a ? b : s->a;
    uint64_t low = s->within ? s->a : 0;
    while (low < high) {
        uint64_t c = low + (high - low) / 2;
        if (similar_short(s, similar_of(&s->weights, s->a, b, c)))
            low = c + 1;
        else
            high = c;
    }
    return high;
}

/* Searches n rows of b bits, starting at a place. */
static void similar_block(similar_search *s, uint64_t b, uint64_t place,
                          size_t n)
{
    const uint64_t *origin = bitrows_numbers(&s->rows->origin) + (size_t)place;
    uint32_t shared[SIMILAR_BLOCK];
    uint64_t least = similar_least(s, b);
    ones_shared(shared, bitrows_place(s->rows, place), n, s->rows->stride,
                s->query);
    for (size_t i = 0; i < n; i++) {
        if (shared[i] < least)
            continue;
        similar_offer(s, &(bly_similar){
            .row = origin[i], .bits = (uint32_t)b, .shared = shared[i],
            .similarity = similar_of(&s->weights, s->a, b, shared[i]) });
    }
}

/* This part of the rows with b bits, as long as they may count. */
static void similar_range(similar_search *s, uint64_t b)
{
    const uint64_t *first = bitrows_numbers(&s->rows->first);
    uint64_t n = first[b + 1] - first[b];
    uint64_t place = first[b] + n * s->part / s->parts;
    uint64_t end = first[b] + n * (s->part + 1) / s->parts;
    double bound = similar_bound(s, b);
    while (place < end && !similar_short(s, bound) && !task_step(0)) {
        size_t some = end - place < SIMILAR_BLOCK ? (size_t)(end - place)
                                                  : SIMILAR_BLOCK;
        similar_block(s, b, place, some);
        place += some;
    }
}

/* Walks outwards from b = a: b < down for rows with fewer bits, b >= up for
 * those with as many or more. */
static void similar_walk(similar_search *s)
{
    uint64_t end = s->rows->most + 1, least = s->within ? s->a : 0;
    uint64_t down = s->a < end ? s->a : end, up = down;
    while (down > least || up < end) {
        double below = down > least ? similar_bound(s, down - 1) : -1;
        double above = up < end ? similar_bound(s, up) : -1;
        if (similar_short(s, below > above ? below : above))
            return;
        similar_range(s, below > above ? --down : up++);
    }
}

/* ---- Queries ------------------------------------------------------------ */

typedef struct {
    const bly_rows  *rows, *queries;
    const bly_similar_spec *spec;
    similar_weights  weights;
    uint64_t         first;             /* of the queries                    */
    size_t           n;
    bly_similar     *out;
    size_t          *found;
    bly_similar     *parts;             /* of one query, `room` for each     */
    size_t           counts[THREADS_MAX], room;
    size_t           query;             /* the shared query                  */
} similar_job;

static similar_search similar_begin(const similar_job *job, size_t query)
{
    similar_search s = {
        .rows = job->rows, .weights = job->weights, .least = job->spec->least,
        .within = job->spec->within, .parts = 1,
        .query = bly_rows_at(job->queries, job->first + query),
    };
    uint32_t ones;
    ones_shared(&ones, s.query, 1, job->rows->stride, s.query);
    s.a = ones;
    return s;
}

/* Returns the maximum number of results of a query. */
static size_t similar_room(const similar_job *job)
{
    uint64_t most = job->spec->most;
    return (size_t)(most < job->rows->n ? most : job->rows->n);
}

/* Runs the queries of this part, each over all rows. */
static void similar_dealt(void *context, unsigned part, unsigned parts)
{
    similar_job *job = context;
    for (size_t i = part; i < job->n && !task_step(1); i += parts) {
        similar_search s = similar_begin(job, i);
        s.heap = job->out + i * (size_t)job->spec->most;
        s.room = similar_room(job);
        similar_walk(&s);
        similar_order(&s);
        job->found[i] = s.n;
    }
}

/* Runs one query over a part of the rows. */
static void similar_shared(void *context, unsigned part, unsigned parts)
{
    similar_job *job = context;
    similar_search s = similar_begin(job, job->query);
    s.part = part;
    s.parts = parts;
    s.heap = job->parts + part * job->room;
    s.room = job->room;
    similar_walk(&s);
    job->counts[part] = s.n;
}

static void similar_together(similar_job *job, unsigned parts)
{
    threads_run(similar_shared, job, parts);
    similar_search s = { .heap = job->out + job->query
                                 * (size_t)job->spec->most,
                         .room = similar_room(job) };
    for (unsigned part = 0; part < parts; part++)
        for (size_t i = 0; i < job->counts[part]; i++)
            similar_offer(&s, &job->parts[part * job->room + i]);
    similar_order(&s);
    job->found[job->query] = s.n;
}

/* A part finds at most as many results as it has rows. */
static bly_status similar_all_parts(similar_job *job, unsigned parts)
{
    uint64_t share = job->rows->n / parts + job->rows->most + 2, bytes;
    size_t room = similar_room(job);
    job->room = share < room ? (size_t)share : room;
    if (!sizes_mul(&bytes, parts * sizeof *job->parts, job->room))
        return status_plain(BLY_ENOMEM);
    job->parts = memory_raw(&job->rows->allocator, bytes);
    if (job->parts == NULL)
        return status_plain(BLY_ENOMEM);
    for (job->query = 0; job->query < job->n; job->query++) {
        similar_together(job, parts);
        if (task_step(1))
            break;
    }
    memory_release(&job->rows->allocator, job->parts, (size_t)bytes);
    return BLY_OK;
}

static bool similar_weight_fits(double weight)
{
    return isfinite(weight) && weight >= 0;
}

static bly_status similar_check(similar_job *job)
{
    const bly_similar_spec *spec = job->spec;
    if (!job->rows->sorted)
        return status_fail(BLY_EPARAM, "the rows are not sorted: sort them "
                           "before searching");
    if (job->first > job->queries->n
        || job->n > job->queries->n - job->first)
        return status_fail(BLY_EPARAM, "there are fewer queries than that: "
                           "give rows among them");
    if (!similar_weigh(&job->weights, spec))
        return status_fail(BLY_EPARAM, "unknown measure: choose one of "
                           "BLY_TANIMOTO, _DICE, _TVERSKY and _CONTAINED");
    if (!similar_weight_fits(job->weights.alpha)
        || !similar_weight_fits(job->weights.beta))
        return status_fail(BLY_EPARAM, "alpha and beta are weights: give two "
                           "numbers of at least 0");
    if (!(spec->least >= 0 && spec->least <= 1))
        return status_fail(BLY_EPARAM, "the least similarity must be from 0 to "
                           "1");
    if (spec->most == 0)
        return status_fail(BLY_EPARAM, "no rows are requested: request at "
                           "least 1");
    if (job->n > 0 && job->rows->n > 0
        && job->rows->bits != job->queries->bits)
        return status_fail(BLY_EMISMATCH, "the queries and the rows have "
                           "different numbers of bits: make both in the same "
                           "way");
    return BLY_OK;
}

bly_status bly_similar_find(bly_similar *out, size_t *found,
                            const bly_rows *rows, const bly_rows *queries,
                            uint64_t first, size_t n,
                            const bly_similar_spec *spec)
{
    similar_job job = { .rows = rows, .queries = queries, .spec = spec,
                        .first = first, .n = n, .out = out, .found = found };
    bly_status status = similar_check(&job);
    if (status != BLY_OK)
        return status;
    unsigned parts = threads_count(spec->threads);
    if (similar_room(&job) == 0) {      /* their widths may differ           */
        for (size_t i = 0; i < n; i++)
            found[i] = 0;
        return BLY_OK;
    }
    task t;
    task_begin(&t, spec->progress, n);
    if (n < parts)
        status = similar_all_parts(&job, parts);
    else
        threads_run(similar_dealt, &job, parts);
    return task_end(&t, task_status_or(status));
}
