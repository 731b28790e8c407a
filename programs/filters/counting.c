/* counting.c - counts the keys of lines, and estimates how many are different,
 * before a filter is planned for them. Keeps their hashes if they are few.
 */
#include "filters/filters.h"
#include "frame/batches.h"
#include "frame/bytes.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"
#include "frame/work.h"

#include <stdlib.h>
#include <string.h>

/* The most hashes that are kept, in 64 MiB, so that the lines need not be read
 * again; in 256 MiB if the lines would also be decompressed again. */
enum { COUNTING_KEPT = 1 << 23, COUNTING_KEPT_COMPRESSED = 1 << 25 };

typedef struct {
    cli_fed     *sum;
    cli_counted *counted;       /* NULL: only keys are counted             */
    uint64_t     total;         /* bytes of input; 0: it is compressed     */
    bool         many;          /* too many to keep                        */
    cli_levels   levels;        /* of keys that lie within others          */
} counting_job;

typedef struct {
    uint64_t     keyless, skipped;      /* of the chunk, like the next two */
    uint64_t     keys;
    uint64_t    *hashes;
    size_t       room;
    cli_estimate different;     /* of all chunks of this worker            */
    cli_levels   levels;
} counting_own;

/* Appends the hashes of a batch. Returns false if memory is short. */
static bool counting_batch(const cli_counted *counted, const cli_batch *b,
                           counting_own *own)
{
    size_t n = (size_t)own->keys, room = own->room + own->room / 2 + b->n;

    if (b->n == 0)
        return true;
    if (n + b->n > own->room) {
        if (!bytes_grow(&own->hashes, room, sizeof *own->hashes))
            return false;
        own->room = room;
    }
    bly_hash_many(own->hashes + n, counted->kind, counted->spec,
                  &(bly_keys){ .n = b->n, .keys = b->keys });
    estimate_add(&own->different, own->hashes + n, b->n);
    return true;
}

static bool counting_work(void *argument, cli_worker *w)
{
    const counting_job *job = argument;
    counting_own *own = w->own;
    const cli_batch *b = w->batch;

    own->keys = own->keyless = own->skipped = 0;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (job->counted != NULL && !counting_batch(job->counted, b, own))
            return false;
        if (bly_form_nests(w->lines->how.form))
            levels_note(&own->levels, w->lines->how.form, b->keys, b->n);
        own->keys += b->n;
        own->keyless += b->lacking;
        own->skipped += b->keyless - b->lacking;
    }
    return true;
}

/* Returns whether there are too many hashes, or will be if all chunks are like
 * the first. */
static bool counting_is_many(const counting_job *job, const cli_worker *w)
{
    const counting_own *own = w->own;
    double each = (double)own->keys / (double)w->chunk.length;
    uint64_t most = job->total > 0 ? COUNTING_KEPT : COUNTING_KEPT_COMPRESSED;

    return job->counted->n + own->keys > most
        || (job->sum->keys == 0 && each * (double)job->total > (double)most);
}

/* Keeps the hashes of the chunk while there are few. Returns false if memory is
 * short. */
static bool counting_keep(counting_job *job, const cli_worker *w)
{
    const counting_own *own = w->own;
    cli_counted *all = job->counted;
    size_t n = (size_t)own->keys, room = all->room + all->room / 2 + n;

    estimate_unite(&all->different, &own->different);
    if (!job->many && counting_is_many(job, w)) {
        job->many = true;
        free(all->hashes);
        all->hashes = NULL;
    }
    if (job->many)
        return true;
    if (all->n + n > all->room) {
        if (!bytes_grow(&all->hashes, room, sizeof *all->hashes))
            return false;
        all->room = room;
    }
    if (n > 0)
        memcpy(all->hashes + all->n, own->hashes, n * sizeof *all->hashes);
    all->n += n;
    return true;
}

static int counting_commit(void *argument, cli_worker *w)
{
    const counting_own *own = w->own;
    counting_job *job = argument;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed || (job->counted != NULL && !counting_keep(job, w)))
        return report_no_memory();
    levels_unite(&job->levels, &own->levels);
    job->sum->keys += own->keys;
    job->sum->keyless += own->keyless;
    job->sum->skipped += own->skipped;
    job->sum->bytes = w->chunk.bytes;
    progress_at(w->chunk.bytes);
    return CLI_GO;
}

static void counting_clean(void *argument)
{
    counting_own *own = argument;

    free(own->hashes);
}

/* Appends the hashes of the markers that the keys need, if hashes are kept.
 * Returns false if memory is short. */
static bool counting_mark(const counting_job *job)
{
    cli_counted *all = job->counted;
    cli_markers markers;
    size_t n = levels_markers(&markers, &job->levels);

    job->sum->markers = n;
    if (n == 0 || all == NULL || all->hashes == NULL)
        return true;
    if (!bytes_grow(&all->hashes, all->n + n, sizeof *all->hashes))
        return false;
    bly_hash_many(all->hashes + all->n, all->kind, all->spec,
                  &(bly_keys){ .n = n, .keys = markers.keys });
    all->n += n;
    return true;
}

int counting_run(cli_lines *lines, size_t jobs, bool progress, cli_fed *out,
                 cli_counted *counted)
{
    static const cli_work work = { sizeof(counting_own), counting_work,
                                   counting_commit, counting_clean };
    counting_job job = { .sum = out, .counted = counted };
    double start = report_clock();
    uint64_t total = 0;
    int status = measure_input(lines, &total);

    if (status == CLI_ERROR)
        return status;
    *out = (cli_fed){ .keys = 0 };
    job.total = total;
    progress_start("counting", total, progress);
    status = work_run(lines, &work, &job, jobs);
    progress_close();
    out->seconds = report_clock() - start;
    if (lines->how.stated && !counting_mark(&job))
        return report_no_memory();
    if (counted != NULL)
        counted->estimated = status == CLI_GO;
    return status == CLI_GO ? feed_some(out) : status;
}
