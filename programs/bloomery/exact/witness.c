/* witness.c - `bloomery remove --witness`: removes the keys that a list has.
 *
 * A filter cannot tell a key that was added from a false positive. The list of
 * its keys can. It is read once, and only the keys to remove are in memory:
 *
 *     pass 1   the keys to remove go into a table, which counts them
 *     pass 2   keys of the list that are in it go into a second table
 *     then     each key is removed as often as both tables have it
 *
 * Keys are compared byte by byte. A key that occurs twice among the keys to
 * remove but once in the list is removed once: the second removal could take
 * another key with it.
 */
#include "bloomery/exact/dedup.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <stdlib.h>

typedef struct {
    const cli_witness *want;
    bly_keyed   keyed;
    dedup_table wanted, vouched;        /* keys to remove; those in the list */
    uint64_t    listed, lacking;        /* keys of the list; lines without   */
    cli_fed    *fed;
} witness_job;

typedef struct {
    dedup_rows rows;
} witness_own;

static void witness_clean(void *argument)
{
    witness_own *own = argument;

    marked_free(&own->rows);
}

/* ==== The passes ======================================================== */

static bool witness_key_work(void *argument, cli_worker *w)
{
    const witness_job *job = argument;
    witness_own *own = w->own;

    return marked_fill(&own->rows, w, &job->keyed, NULL);
}

/* Drops the rows whose keys are not to be removed. */
static bool witness_list_work(void *argument, cli_worker *w)
{
    const witness_job *job = argument;
    witness_own *own = w->own;
    dedup_rows *rows = &own->rows;

    if (!marked_fill(rows, w, &job->keyed, NULL))
        return false;
    for (size_t i = 0; i < rows->n; i++)
        rows->drop[i] = rows->keys[i].data == NULL
                     || !keytable_has(&job->wanted, rows->hashes[i],
                                      rows->keys[i]);
    return true;
}

/* Adds the rows that are not dropped to a table. */
static int witness_take(dedup_table *table, cli_worker *w)
{
    witness_own *own = w->own;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed
        || keytable_add_rows(table, &own->rows, NULL) != TABLE_NEW)
        return report_no_memory();
    progress_at(w->chunk.bytes);
    return CLI_GO;
}

static int witness_key_commit(void *argument, cli_worker *w)
{
    witness_job *job = argument;
    const witness_own *own = w->own;
    cli_fed *fed = job->fed;

    fed->keys += own->rows.n - own->rows.keyless;
    fed->keyless += own->rows.lacking;
    fed->skipped += own->rows.keyless - own->rows.lacking;
    fed->bytes = w->chunk.bytes;
    return witness_take(&job->wanted, w);
}

static int witness_list_commit(void *argument, cli_worker *w)
{
    witness_job *job = argument;
    const witness_own *own = w->own;

    job->listed += own->rows.n - own->rows.keyless;
    job->lacking += own->rows.lacking;
    return witness_take(&job->vouched, w);
}

static int witness_pass(witness_job *job, cli_lines *lines,
                        const cli_work *work, const char *doing)
{
    uint64_t total = 0;
    int status = measure_input(lines, &total);

    if (status == CLI_ERROR)
        return status;
    progress_start(doing, total, job->want->progress);
    status = work_run(lines, work, job, job->want->jobs);
    progress_close();
    return status == CLI_ERROR ? status : CLI_GO;
}

/* Reads both. The list is measured first, so that a missing one is reported
 * before keys are read from a terminal. */
static int witness_read(witness_job *job)
{
    static const cli_work keys = { sizeof(witness_own), witness_key_work,
                                   witness_key_commit, witness_clean };
    static const cli_work list = { sizeof(witness_own), witness_list_work,
                                   witness_list_commit, witness_clean };
    const cli_witness *want = job->want;
    cli_lines lines;
    uint64_t total;
    int status;

    lines_open(&lines, want->list_how, want->list, 0, true);
    status = measure_input(&lines, &total) == CLI_ERROR ? CLI_ERROR : CLI_GO;
    lines_close(&lines);
    if (status != CLI_GO)
        return status;
    lines_open(&lines, want->how, want->keys, want->first, true);
    status = witness_pass(job, &lines, &keys, "reading the keys");
    lines_close(&lines);
    if (status != CLI_GO)
        return status;
    lines_open(&lines, want->list_how, want->list, 0, true);
    status = witness_pass(job, &lines, &list, "reading the witness");
    lines_close(&lines);
    return status;
}

/* ==== Removing ========================================================== */

/* Keys that are removed together. */
typedef struct {
    bly_filter *filter;
    bly_key     keys[BATCHES_MOST];
    size_t      n;
} witness_batch;

static int witness_flush(witness_batch *b, cli_fed *fed)
{
    size_t n = b->n;

    b->n = 0;
    return filter_check_numbers(b->filter, b->keys, n) == CLI_GO
         ? feed_out_keys(b->filter, b->keys, n, fed) : CLI_ERROR;
}

static int witness_remove_key(witness_job *job, witness_batch *b, bly_key key,
                              uint64_t times)
{
    int status = CLI_GO;

    job->fed->unlisted -= times;
    for (; status == CLI_GO && times > 0; times--) {
        b->keys[b->n++] = key;
        if (b->n == BATCHES_MOST)
            status = witness_flush(b, job->fed);
    }
    return status;
}

static int witness_remove(witness_job *job, bly_filter *filter)
{
    witness_batch *b = malloc(sizeof *b);
    int status = CLI_GO;
    uint64_t listed, wanted;
    bly_key key;

    if (b == NULL)
        return report_no_memory();
    b->filter = filter;
    b->n = 0;
    job->fed->unlisted = job->fed->keys;
    for (size_t at = 0; status == CLI_GO
                        && keytable_each(&job->vouched, &at, &key, &listed); ) {
        wanted = keytable_count(&job->wanted,
                                bly_keyed_hash(&job->keyed, key.data,
                                               key.length), key);
        status = witness_remove_key(job, b, key,
                                    wanted < listed ? wanted : listed);
    }
    if (status == CLI_GO && b->n > 0)
        status = witness_flush(b, job->fed);
    free(b);
    return status;
}

static int witness_check(const witness_job *job)
{
    if (job->listed > 0 || job->lacking == 0)
        return CLI_GO;
    return report_error("no line of the witness has such a %s: it is read by "
                        "the same options as KEYS", report_lack.part);
}

int witness_out(bly_filter *filter, const cli_witness *want, cli_fed *out)
{
    double start = report_clock();
    witness_job job = { .want = want, .fed = out };
    int status = CLI_GO;

    *out = (cli_fed){ .keys = 0 };
    job.wanted = (dedup_table){ .keyed = &job.keyed, .counting = true };
    job.vouched = job.wanted;
    if (bly_keyed_draw(&job.keyed) < 0)
        return filter_error();
    if (!keytable_open(&job.wanted, 0, 0) || !keytable_open(&job.vouched, 0, 0))
        status = report_no_memory();
    if (status == CLI_GO)
        status = witness_read(&job);
    if (status == CLI_GO)
        status = witness_check(&job);
    if (status == CLI_GO)
        status = witness_remove(&job, filter);
    keytable_close(&job.wanted);
    keytable_close(&job.vouched);
    out->seconds = report_clock() - start;
    return status == CLI_GO ? CLI_OK : status;
}
