/* distinct.c - visits the distinct keys of lines.
 *
 * All threads split lines, hash keys and select those of interest. A set of
 * hashes then drops repeats, in input order, one thread at a time. Keys with
 * the same 64-bit hash count as one, as they do in a filter.
 */
#include "bloomery/sketch/sketches.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <stdlib.h>

typedef struct {
    sketch_distinct *how;
    sketch_hashes    seen;
    cli_fed         *fed;
} distinct_job;

/* A worker's keys of interest. */
typedef struct {
    bly_key  *keys;
    uint64_t *hashes;
    size_t    n, room;
    uint64_t  asked, keyless, skipped;
    bool      selected[BATCHES_MOST];
} distinct_own;

/* ==== A chunk, in any thread ============================================ */

static bool distinct_room(distinct_own *own, size_t more)
{
    size_t room = own->room + own->room / 2 + more;
    bly_key *keys;
    uint64_t *hashes;

    if (own->n + more <= own->room)
        return true;
    keys = realloc(own->keys, room * sizeof *keys);
    if (keys != NULL)
        own->keys = keys;
    hashes = realloc(own->hashes, room * sizeof *hashes);
    if (hashes != NULL)
        own->hashes = hashes;
    if (keys == NULL || hashes == NULL)
        return false;
    own->room = room;
    return true;
}

/* Appends the keys of a batch. */
static void distinct_batch(const sketch_distinct *how, const cli_batch *b,
                           distinct_own *own)
{
    bly_key *keys;
    uint64_t *hashes;
    size_t kept = 0;

    own->asked += b->n;
    own->keyless += b->lacking;
    own->skipped += b->keyless - b->lacking;
    if (b->n == 0)
        return;
    keys = own->keys + own->n;
    hashes = own->hashes + own->n;
    for (size_t i = 0; i < b->n; i++) {
        keys[i] = b->keys[i];
        hashes[i] = bly_hash(how->hasher, keys[i].data, keys[i].length);
        own->selected[i] = true;
    }
    if (how->select != NULL)
        how->select(how->context, keys, hashes, b->n, own->selected);
    for (size_t i = 0; i < b->n; i++) {
        keys[kept] = keys[i];
        hashes[kept] = hashes[i];
        kept += own->selected[i];
    }
    own->n += kept;
}

static bool distinct_work(void *argument, cli_worker *w)
{
    const distinct_job *job = argument;
    distinct_own *own = w->own;

    own->n = 0;
    own->asked = own->keyless = own->skipped = 0;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (!distinct_room(own, w->batch->n))
            return false;
        distinct_batch(job->how, w->batch, own);
    }
    return true;
}

static void distinct_clean(void *argument)
{
    distinct_own *own = argument;

    free(own->keys);
    free(own->hashes);
}

/* ==== A chunk, in its turn ============================================== */

/* Moves the keys not seen before to the front. Returns their number. */
static size_t distinct_fresh(distinct_job *job, distinct_own *own)
{
    size_t kept = 0;

    for (size_t at = 0; at < own->n; at += BATCHES_MOST) {
        size_t some = own->n - at < BATCHES_MOST ? own->n - at : BATCHES_MOST;

        hashes_add_many(&job->seen, own->hashes + at, some, own->selected);
        for (size_t i = 0; i < some; i++) {
            own->keys[kept] = own->keys[at + i];
            own->hashes[kept] = own->hashes[at + i];
            kept += own->selected[i];
        }
    }
    return kept;
}

static int distinct_commit(void *argument, cli_worker *w)
{
    distinct_job *job = argument;
    distinct_own *own = w->own;
    size_t fresh;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed || !hashes_room(&job->seen, own->n))
        return report_no_memory();
    fresh = distinct_fresh(job, own);
    if (filter_check_numbers(job->how->hasher, own->keys, fresh) != CLI_GO)
        return CLI_ERROR;
    job->how->idle = w->chunk.idle;
    job->fed->keys += own->asked;
    job->fed->keyless += own->keyless;
    job->fed->skipped += own->skipped;
    job->fed->bytes = w->chunk.bytes;
    progress_at(w->chunk.bytes);
    return job->how->fresh(job->how->context, own->keys, own->hashes,
                           fresh);
}

int distinct_run(sketch_distinct *how, cli_lines *lines, size_t jobs,
                 const char *doing, bool progress, cli_fed *fed)
{
    static const cli_work work = { sizeof(distinct_own), distinct_work,
                                   distinct_commit, distinct_clean };
    distinct_job job = { .how = how, .fed = fed };
    double start = report_clock();
    uint64_t total = 0;
    int status = measure_input(lines, &total);

    *fed = (cli_fed){ .keys = 0 };
    if (status == CLI_ERROR || hashes_open(&job.seen) != CLI_GO)
        return CLI_ERROR;
    progress_start(doing, total, progress);
    status = work_run(lines, &work, &job, jobs);
    progress_close();
    hashes_free(&job.seen);
    fed->seconds = report_clock() - start;
    return status;
}
