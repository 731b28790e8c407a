/* stream.c - `bloomery dedup` in one pass, which prints each new line at once.
 *
 * All distinct keys are kept, byte by byte, in a table. When it is full, its
 * keys go to a sorted run in a temporary file (sorted.c) and it starts again
 * empty. A line is new if its key is in no run and not in the table:
 *
 *     all threads       split and hash; look up the keys in the runs
 *     in order, one     look up newer runs and the table; print
 *     at a time
 *
 * A key found in a run by any thread stays found, since runs only hold keys of
 * earlier chunks. The table gets room for all keys of a chunk before the chunk
 * is decided, so no run is written half way through.
 */
#include "bloomery/exact/dedup.h"
#include "frame/headers.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <errno.h>

typedef struct {
    const exact_want *want;
    const bly_keyed *keyed;
    dedup_table  table;
    dedup_runs   runs;
    dedup_tally  tally;
} stream_job;

typedef struct {
    dedup_rows rows;
    dedup_units units;          /* the documents, if there are any         */
    sorted_space space;
    size_t     seen;            /* number of runs searched                 */
    int        error;           /* errno of the search                     */
} stream_own;

static void stream_clean(void *argument)
{
    stream_own *own = argument;

    marked_free(&own->rows);
    units_free(&own->units);
    sorted_space_free(&own->space);
}

static bool stream_work(void *argument, cli_worker *w)
{
    stream_job *job = argument;
    stream_own *own = w->own;

    const units_want *units = job->want->units;
    const grams_hasher by = { .keyed = job->keyed };

    if (!(units != NULL ? units_fill(&own->units, &own->rows, w, units, &by)
                        : marked_fill(&own->rows, w, job->keyed, NULL)))
        return false;
    own->seen = sorted_count(&job->runs);
    own->error = sorted_look(&job->runs, 0, own->seen, &own->rows, &own->space);
    return true;
}

/* Searches the runs that the worker has not seen. */
static int stream_look(stream_job *job, stream_own *own)
{
    size_t n = sorted_count(&job->runs);

    if (own->error == 0)
        own->error = sorted_look(&job->runs, own->seen, n, &own->rows,
                                 &own->space);
    return own->error == 0 ? CLI_GO
         : own->error == ENOMEM ? report_no_memory() : spill_unread(own->error);
}

static int stream_commit(void *argument, cli_worker *w)
{
    stream_job *job = argument;
    stream_own *own = w->own;
    int status = CLI_GO;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed)
        return report_no_memory();
    if (job->table.keys > 0 && !keytable_fits(&job->table, job->want->held,
                                              own->rows.n, own->rows.bytes))
        status = sorted_write(&job->runs, &job->table);
    if (status == CLI_GO)
        status = stream_look(job, own);
    if (status != CLI_GO)
        return status;
    if (!keytable_prepare(&job->table, job->want->held, own->rows.n,
                          own->rows.bytes)
        || keytable_add_rows(&job->table, &own->rows, NULL) != TABLE_NEW)
        return report_no_memory();
    progress_at(w->chunk.bytes);
    if (job->want->units != NULL)
        return units_print(&own->units, &own->rows, w, job->want->units,
                           &job->tally);
    for (size_t i = 0; i < own->rows.n; i++)
        job->tally.kept += !own->rows.drop[i];
    job->tally.lines += own->rows.n;
    job->tally.keyless += own->rows.lacking;
    return marked_print(&own->rows, w) ? CLI_GO : CLI_ERROR;
}

static int stream_open(stream_job *job)
{
    enum { KEYS = 1 << 13, BYTES = 1 << 22 };   /* in large pages */

    job->table.keyed = job->keyed;
    sorted_open(&job->runs, job->keyed);
    return keytable_open(&job->table, KEYS, BYTES) ? CLI_GO
                                                   : report_no_memory();
}

int stream_run(const exact_want *want, const bly_keyed *keyed,
               cli_lines *lines, dedup_tally *tally)
{
    static const cli_work work = { sizeof(stream_own), stream_work,
                                   stream_commit, stream_clean };
    stream_job job = { .want = want, .keyed = keyed, .tally.passes = 1 };
    int status = stream_open(&job);

    if (status == CLI_GO) {
        headers_print(lines, "");
        progress_start("deduplicating", 0, want->progress);
        status = work_run(lines, &work, &job, work_jobs(want->jobs));
        progress_close();
    }
    job.tally.spilled = job.runs.bytes;
    *tally = job.tally;
    sorted_close(&job.runs);
    keytable_close(&job.table);
    return status;
}
