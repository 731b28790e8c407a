/* similar.c - `bloomery dedup --similar`: documents that resemble earlier ones.
 *
 * A document is the set of its n-grams, lines or paragraphs. It is removed if
 * its similarity |A and B| / |A or B| with an earlier document that stayed is
 * the wanted share or more. So the first of a group stays, and what is similar
 * only to removed documents stays, too. All threads make the sets and the
 * hashes of their bands (minhash.c). Documents are then decided in input order,
 * so the number of threads changes nothing.
 *
 * By default, each document under one of the bands is compared exactly
 * (keptsets.c): nothing is removed by mistake, except for collisions of hashes,
 * and the bands are chosen so that of pairs with exactly the wanted similarity
 * at most a share SIMILAR_MISSED is not found. There is no option to verify
 * because this is the default.
 *
 * With --approximate, the bands go into a filter, and a document is removed if
 * one of its bands is there [Khan et al. 2024]. The bands are chosen so that
 * half of the pairs with exactly the wanted similarity are found: about as many
 * documents below it are removed as above it are missed.
 *
 *  [Khan et al. 2024]  LSHBloom: memory-efficient, extreme-scale document
 *      deduplication, arXiv:2411.04257.
 */
#include "bloomery/exact/dedup.h"
#include "frame/measure.h"
#include "frame/output.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIMILAR_MISSED 0.01

/* The numbers of a signature. Exact bands take memory; those of a filter take
 * less, and more of them tell near similarities apart. */
enum { SIMILAR_EXACT = 128, SIMILAR_APPROXIMATE = MINHASH_MOST };

typedef struct {
    const similar_want *want;
    minhash_shape shape;
    bly_keyed    keyed;
    keptsets     kept;          /* without a filter                        */
    bly_filter  *filter;        /* NULL: exact                             */
    cli_lines    lines;
    uint64_t     number;        /* lines of earlier chunks, known ones too */
    dedup_tally  tally;
} similar_job;

typedef struct {
    bly_key line;               /* as written, with its end if any         */
    bool    text;               /* whether it has one                      */
    size_t  from, n;            /* its elements                            */
} similar_document;

typedef struct {
    dedup_units units;          /* room to cut a document                  */
    units_set   set;            /* of all documents of the chunk           */
    similar_document *documents;
    uint64_t   *bands;          /* shape.bands for each document           */
    size_t      n, room;
    uint64_t   *sorted;         /* room to sort the elements of one        */
    size_t     *buckets, sorted_room;
    uint64_t    lacking;
} similar_own;

bool similar_shape(minhash_shape *shape, double similar, bool approximate)
{
    return minhash_choose(shape, similar, approximate ? 0.5
                                                      : 1 - SIMILAR_MISSED,
                          approximate ? SIMILAR_APPROXIMATE : SIMILAR_EXACT);
}

/* ==== The documents of a chunk ========================================== */

static bool similar_room(similar_own *own, size_t more, size_t bands)
{
    size_t room = own->n + more + own->n / 2;

    if (own->n + more <= own->room)
        return true;
    if (!bytes_grow(&own->documents, room, sizeof *own->documents)
        || !bytes_grow(&own->bands, room * bands, sizeof *own->bands))
        return false;
    own->room = room;
    return true;
}

static bool similar_sort_room(similar_own *own, size_t n, size_t buckets)
{
    size_t room = n + n / 2;

    if (n <= own->sorted_room)
        return true;
    if (!bytes_grow(&own->sorted, room, sizeof *own->sorted)
        || !bytes_grow(&own->buckets, 2 * buckets, sizeof *own->buckets))
        return false;
    own->sorted_room = room;
    return true;
}

/* Sorts hashes into own->sorted. They are spread evenly, so their upper bits,
 * of which there are as many as n has, almost say where each belongs. */
static bool similar_sort(similar_own *own, const uint64_t *hashes, size_t n)
{
    unsigned shift = 63;
    size_t sum = 0;

    while (n >> (64 - shift) > 0)
        shift--;
    if (!similar_sort_room(own, n, (size_t)1 << (64 - shift)))
        return false;
    memset(own->buckets, 0, sizeof *own->buckets << (64 - shift));
    for (size_t i = 0; i < n; i++)
        own->buckets[hashes[i] >> shift]++;
    for (size_t i = 0; i < (size_t)1 << (64 - shift); i++) {
        size_t some = own->buckets[i];

        own->buckets[i] = sum;
        sum += some;
    }
    for (size_t i = 0; i < n; i++)
        own->sorted[own->buckets[hashes[i] >> shift]++] = hashes[i];
    for (size_t i = 1; i < n; i++) {
        uint64_t hash = own->sorted[i];
        size_t at = i;

        for (; at > 0 && own->sorted[at - 1] > hash; at--)
            own->sorted[at] = own->sorted[at - 1];
        own->sorted[at] = hash;
    }
    return true;
}

/* Sorts the last elements of the chunk, and removes repeats. */
static bool similar_order(similar_own *own, size_t from)
{
    uint64_t *elements = own->set.elements + from;
    size_t all = own->set.n - from, n = 0;

    if (!similar_sort(own, elements, all))
        return false;
    for (size_t i = 0; i < all; i++)
        if (n == 0 || own->sorted[i] != elements[n - 1])
            elements[n++] = own->sorted[i];
    own->set.n = from + n;
    return true;
}

/* Makes the set and the bands of the chunk's last document. */
static bool similar_make(const similar_job *job, similar_own *own, bly_key text)
{
    const grams_hasher by = { .keyed = &job->keyed, .filter = job->filter };
    similar_document *d = &own->documents[own->n - 1];

    d->from = own->set.n;
    if (!units_collect(&own->units, &own->set, job->want->units, &by, text))
        return false;
    if (job->filter == NULL && !similar_order(own, d->from))
        return false;
    d->n = own->set.n - d->from;
    minhash_bands(&job->shape, own->set.elements + d->from, d->n,
                  own->bands + (own->n - 1) * job->shape.bands);
    if (job->filter != NULL)            /* the bands are enough */
        own->set.n = d->from;
    return true;
}

static bool similar_work(void *argument, cli_worker *w)
{
    const similar_job *job = argument;
    const cli_batch *b = w->batch;
    similar_own *own = w->own;

    own->n = own->set.n = 0;
    own->lacking = 0;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (!similar_room(own, b->n, job->shape.bands))
            return false;
        own->lacking += b->lacking;
        for (size_t i = 0; i < b->n; i++) {
            own->documents[own->n++] =
                (similar_document){ .line = b->lines[i],
                                    .text = b->keys[i].data != NULL };
            if (b->keys[i].data != NULL
                && !similar_make(job, own, b->keys[i]))
                return false;
        }
    }
    return true;
}

static void similar_clean(void *argument)
{
    similar_own *own = argument;

    units_free(&own->units);
    free(own->set.elements);
    free(own->documents);
    free(own->sorted);
    free(own->buckets);
    free(own->bands);
}

/* ==== Deciding ========================================================== */

/* Looks for an earlier document that is similar, and keeps the document if none
 * is. A known document stays known unless an equal one is: another similar one
 * is not as near to all others. */
static int similar_exactly(similar_job *job, similar_own *own, size_t number,
                           bool known, keptsets_match *match)
{
    const size_t bands = job->shape.bands;
    const similar_document *d = &own->documents[number];
    const units_set set = { own->set.elements + d->from, d->n, d->n };
    const keptsets_want want = {
        .least = known ? 1 : job->want->units->similar,
        .best = !known && job->want->units->annotate != NULL
    };

    if (number + 1 < own->n)
        keptsets_prefetch(&job->kept, own->bands + (number + 1) * bands);
    if (keptsets_find(&job->kept, &set, own->bands + number * bands, &want,
                      match) != CLI_GO)
        return CLI_ERROR;
    return match->share > 0 ? CLI_GO
         : keptsets_add(&job->kept, &set, own->bands + number * bands,
                        job->number + number + 1);
}

static int similar_by_filter(similar_job *job, const similar_own *own,
                             size_t number, bool known, keptsets_match *match)
{
    const uint64_t *bands = own->bands + number * job->shape.bands;
    bool there[MINHASH_MOST];

    bly_contains_hashes(job->filter, bands, job->shape.bands, there);
    *match = (keptsets_match){ 0, 0 };
    for (size_t i = 0; i < job->shape.bands; i++)
        if (there[i])
            match->share = 1;
    if (match->share > 0 && !known)
        return CLI_GO;
    return bly_add_hashes(job->filter, bands, job->shape.bands, NULL, NULL) < 0
         ? filter_error() : CLI_GO;
}

/* Prints a document with a new last member: the line and the similarity of the
 * document that it is similar to, if there is one. */
static int similar_annotate(similar_job *job, similar_own *own, bly_key line,
                            const keptsets_match *match, char end)
{
    if (!units_begin_member(&own->units, job->want->units)
        || (match->share > 0
            && !bytes_format(&own->units.out, "%" PRIu64 ", %.4g",
                             match->line, match->share)))
        return report_no_memory();
    return units_print_member(&own->units, job->want->units, line, end);
}

static int similar_print(similar_job *job, similar_own *own, size_t number,
                         const keptsets_match *match)
{
    const similar_document *d = &own->documents[number];
    const char end = job->want->how.null ? '\0' : '\n';
    bool annotate = job->want->units->annotate != NULL;

    job->tally.parts += d->text;
    job->tally.repeated += match->share > 0;
    if (match->share > 0 && !annotate)
        return CLI_GO;
    job->tally.kept++;
    if (annotate && d->text)
        return similar_annotate(job, own, d->line, match, end);
    return units_end(d->line.data, d->line.length, end) ? CLI_GO : CLI_ERROR;
}

/* Decides all documents of the chunk, and prints them unless they are known. */
static int similar_documents(similar_job *job, similar_own *own, bool known)
{
    int status = CLI_GO;

    for (size_t i = 0; status == CLI_GO && i < own->n; i++) {
        keptsets_match match = { 0, 0 };

        if (own->documents[i].text)
            status = job->filter != NULL
                   ? similar_by_filter(job, own, i, known, &match)
                   : similar_exactly(job, own, i, known, &match);
        if (status == CLI_GO && !known)
            status = similar_print(job, own, i, &match);
    }
    job->number += own->n;
    return status;
}

static int similar_commit(void *argument, cli_worker *w)
{
    similar_job *job = argument;
    similar_own *own = w->own;
    const units_want *want = job->want->units;
    size_t file = units_known(want, w);
    bool known = file < want->known;
    int status;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed)
        return report_no_memory();
    if (!known && (units_check_known(want, w->lines) != CLI_GO
                   || outputs_turn(want->outputs, w->chunk.path) != CLI_GO))
        return CLI_ERROR;
    status = similar_documents(job, own, known);
    if (status == CLI_GO && job->filter != NULL)
        status = filtered_check_memory(job->filter, job->want->memory);
    if (status != CLI_GO)
        return status;
    progress_at(w->chunk.bytes);
    if (known) {
        want->known_rows[file] += own->n - own->lacking;
        return CLI_GO;
    }
    job->tally.lines += own->n;
    job->tally.keyless += own->lacking;
    return w->chunk.idle && !output_flush() ? CLI_ERROR : CLI_GO;
}

/* ==== All of it ========================================================= */

/* Plans a filter for all bands of each document. Of the documents that are not
 * similar, the share want->rate has a band that is there by mistake. */
static int similar_open_filter(similar_job *job, uint64_t total)
{
    const similar_want *want = job->want;
    double bands = (double)job->shape.bands;
    filtered_want filter = { .memory = want->memory,
                             .rate = -expm1(log1p(-want->rate) / bands) };

    if (want->items > UINT64_MAX / MINHASH_MOST)
        return report_error("--items %" PRIu64 " is too large: give a number "
                            "of documents", want->items);
    filter.items = want->items * job->shape.bands;
    return filtered_open(&job->filter, &filter, total);
}

/* Computes the share of documents that the filter as it is now would remove by
 * mistake. */
static int similar_rate(similar_job *job)
{
    bly_info_t stat;
    double rate;

    if (bly_info(&stat, job->filter) < 0)
        return filter_error();
    rate = -expm1(log1p(-stat.rate) * (double)job->shape.bands);
    job->tally.rate = rate > job->want->rate ? rate : job->want->rate;
    return CLI_GO;
}

static int similar_open(similar_job *job, uint64_t total)
{
    const similar_want *want = job->want;

    if (want->approximate)
        return similar_open_filter(job, total);
    keptsets_open(&job->kept, job->shape.bands, want->memory);
    return bly_keyed_draw(&job->keyed) < 0 ? filter_error() : CLI_GO;
}

int similar_run(const similar_want *want, const cli_operands *operands,
                dedup_tally *tally)
{
    static const cli_work work = { sizeof(similar_own), similar_work,
                                   similar_commit, similar_clean };
    similar_job job = { .want = want, .kept.fd = -1 };
    uint64_t total;
    int status;

    similar_shape(&job.shape, want->units->similar, want->approximate);
    lines_open(&job.lines, &want->how, operands, 0, true);
    total = measure_progress(&job.lines);
    status = similar_open(&job, total);
    if (status == CLI_GO) {
        progress_start("deduplicating", total, want->progress);
        status = work_run(&job.lines, &work, &job, work_jobs(want->jobs));
        progress_close();
    }
    lines_close(&job.lines);
    if (status == CLI_GO && want->approximate)
        status = similar_rate(&job);
    job.tally.passes = 1;
    job.tally.spilled = job.kept.written * sizeof(uint64_t);
    job.tally.compared = job.kept.compared;
    *tally = job.tally;
    keptsets_close(&job.kept);
    bly_free(job.filter);
    return status == CLI_GO ? CLI_OK : CLI_ERROR;
}
