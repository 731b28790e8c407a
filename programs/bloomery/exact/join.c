/* join.c - `bloomery join`: an exact semi-join or anti-join.
 *
 * A filter of the list, at a few bits per key, rules out most lines whose key
 * is not in the list. Only the remaining lines are compared:
 *
 *     in memory     if the list fits: its keys are in one table, and the
 *                   lines are read once and printed at once
 *     in parts      otherwise: the keys of the list are divided by their
 *                   hashes into parts, on disk if they do not fit, followed
 *                   by the keys that passed the filter. Each part is decided
 *                   alone (decide.c). The lines are then read again, and
 *                   each that passes the filter takes the next decision of
 *                   its part.
 *
 * If the filter is too small for the list, more keys are compared, and the
 * output is the same. A pipe that would have to be read twice is first copied
 * to a temporary file.
 */
#include "bloomery/exact/dedup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/sketch/sketches.h"
#include "frame/headers.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

/* The filter takes at most an eighth of the memory. */
enum { JOIN_FILTER = 8 };

/* Slots are prefetched 24 keys ahead, the keys to compare with 12. */
enum { JOIN_SLOT_AHEAD = 24, JOIN_KEY_AHEAD = 12 };

typedef struct {
    const join_want *want;
    cli_lines    lines;         /* of this pass                            */
    off_t        start;         /* of standard input; -1 if it is a pipe   */
    const cli_operands *names;  /* LINES and LIST, as given                */
    struct stat  stamps[2];     /* of inputs read twice, before reading    */
    uint64_t     ends[2];       /* their ends; data appended later is ignored */
    size_t       jobs;
    uint64_t     total;         /* bytes of the pass; 0 if unknown         */
    bly_keyed    keyed;
    bly_filter  *filter;        /* of the list                             */
    dedup_table  table;         /* the list, if it fits in memory          */
    decide_all   parts;         /* the list, if it does not                */
    uint64_t     listed_bytes;  /* of the list's keys, as records          */
    uint64_t     lines_first;   /* in the first of two passes              */
    bool         full;          /* whether the list does not fit in memory */
    bool         printing;      /* whether this pass prints                */
    join_tally  *tally;
} join_job;

/* A worker's lines, and those whose key has passed the filter. */
typedef struct {
    dedup_rows rows;
    size_t    *picked;          /* row numbers                             */
    size_t     picks, room;
} join_own;

static void join_clean(void *argument)
{
    join_own *own = argument;

    marked_free(&own->rows);
    free(own->picked);
}

/* ==== Passes ============================================================ */

/* Reads all lines of operand i. */
static int join_pass(join_job *job, const cli_how *how,
                     const cli_operands *operands, size_t i,
                     const cli_work *work, const char *what)
{
    const cli_operands one = { operands->names + i, 1 };
    int status;

    if (job->start >= 0 && strcmp(one.names[0], "-") == 0)
        lseek(STDIN_FILENO, job->start, SEEK_SET);
    lines_open(&job->lines, how, &one, 0, true);
    lines_name(&job->lines, &(cli_operands){ job->names->names + i, 1 }, 0);
    lines_until(&job->lines, &job->ends[i]);
    if (job->printing && !job->want->count)
        headers_print(&job->lines, "");
    job->total = measure_progress(&job->lines);
    progress_start(what, job->total, job->want->progress);
    status = work_run(&job->lines, work, job, job->jobs);
    progress_close();
    lines_close(&job->lines);
    return status;
}

/* Starts a commit, in any pass. Returns CLI_GO or CLI_ERROR. */
static int join_commit(const cli_worker *w)
{
    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    return w->failed ? report_no_memory() : CLI_GO;
}

/* ==== The list ========================================================== */

/* Estimates the number of keys in the list from its first chunk. */
static uint64_t join_guess(const join_job *job, const cli_worker *w)
{
    const join_own *own = w->own;
    double share = w->chunk.bytes > 0 && job->total > w->chunk.bytes
                 ? (double)job->total / (double)w->chunk.bytes : 1;

    return (uint64_t)(1.05 * share * (double)own->rows.n) + 64;
}

static int join_filter(join_job *job, uint64_t keys)
{
    uint64_t most = job->want->memory / JOIN_FILTER;
    bly_spec spec = { .capacity = keys < most / 2 ? keys : most / 2,
                      .rate = 0.01 };

    return bly_new(&job->filter, "blocked", &spec) < 0 ? filter_error()
                                                       : CLI_GO;
}

static bool join_list_work(void *argument, cli_worker *w)
{
    const join_job *job = argument;
    join_own *own = w->own;

    return marked_fill(&own->rows, w, &job->keyed, NULL);
}

/* Sizes everything from the first chunk of the list. */
static int join_list_begin(join_job *job, const cli_worker *w)
{
    uint64_t keys = join_guess(job, w);
    uint64_t bytes = job->total > w->chunk.length ? job->total
                                                  : w->chunk.length;
    int status = join_filter(job, keys);

    if (status != CLI_GO)
        return status;
    job->full = keytable_bytes(keys, bytes) > job->table.most;
    job->table.keyed = &job->keyed;
    return job->full || keytable_open(&job->table, keys, bytes)
         ? CLI_GO : report_no_memory();
}

/* Returns the number of whole lines in a list of values that look like a quoted
 * CSV column or a JSON object. */
static uint64_t join_strange(const join_want *want, const dedup_rows *rows)
{
    const char first = want->lines.member != NULL ? '{' : '"';
    bool whole = want->list.field.n == 0 && want->list.member == NULL;
    bool values = want->lines.member != NULL
               || (want->lines.csv && want->lines.field.n == 1);
    uint64_t strange = 0;

    for (size_t i = 0; whole && values && i < rows->n; i++)
        strange += rows->keys[i].length > 0
                && *(const char *)rows->keys[i].data == first;
    return strange;
}

/* Returns the number of whole lines of the list that contain the separator of
 * LINES, when the key is a column. */
static uint64_t join_uncut(const join_job *job, const dedup_rows *rows)
{
    const cli_how *lines = &job->want->lines;
    bool whole = job->want->list.field.n == 0
              && job->want->list.member == NULL;
    int separator = job->lines.how.separator;   /* of both inputs */
    uint64_t uncut = 0;

    if (!whole || lines->field.n != 1 || lines->blanks)
        return 0;
    for (size_t i = 0; i < rows->n; i++)
        uncut += rows->keys[i].data != NULL
              && memchr(rows->keys[i].data, separator, rows->keys[i].length)
                 != NULL;
    return uncut;
}

static int join_list_commit(void *argument, cli_worker *w)
{
    join_job *job = argument;
    join_own *own = w->own;
    dedup_rows *rows = &own->rows;
    int status = join_commit(w);

    if (status == CLI_GO && job->filter == NULL)
        status = join_list_begin(job, w);
    if (status != CLI_GO)
        return status;
    job->tally->listed += rows->n - rows->keyless;
    job->tally->listed_keyless += rows->lacking;
    progress_at(w->chunk.bytes);
    if (bly_add_hashes(job->filter, rows->hashes, rows->n, NULL, NULL) < 0)
        return filter_error();
    for (size_t i = 0; i < rows->n; i++)
        job->listed_bytes += rows->keys[i].length + SPILL_NUMBER / 5;
    job->tally->listed_strange += join_strange(job->want, rows);
    job->tally->listed_uncut += join_uncut(job, rows);
    if (!job->full) {
        keytable_answer answer = keytable_add_rows(&job->table, rows, NULL);

        if (answer == TABLE_NO_MEMORY)
            return report_no_memory();
        job->full = answer == TABLE_FULL;
    }
    return CLI_GO;
}

/* Builds the filter, and the table if it fits. */
static int join_list(join_job *job, const cli_operands *operands)
{
    static const cli_work work = { sizeof(join_own), join_list_work,
                                   join_list_commit, join_clean };

    job->table.most = job->want->memory - job->want->memory / JOIN_FILTER;
    return join_pass(job, &job->want->list, operands, 1, &work,
                     "reading the list");
}

/* ==== In memory ========================================================= */

/* Makes room to pick every row. Returns false if out of memory. */
static bool join_room(join_own *own)
{
    if (own->room >= own->rows.n)
        return true;
    free(own->picked);
    own->picked = malloc(own->rows.room * sizeof *own->picked);
    own->room = own->picked != NULL ? own->rows.room : 0;
    return own->picked != NULL;
}

/* Queries the filter and picks the rows that pass. All other rows get their
 * final state: dropped or, in an anti-join, kept. Lines without a key are
 * dropped. An empty list has no filter. */
static bool join_ask(const join_job *job, cli_worker *w)
{
    join_own *own = w->own;
    dedup_rows *rows = &own->rows;
    bool anti = job->want->anti;

    if (!marked_fill(rows, w, &job->keyed, NULL) || !join_room(own))
        return false;
    if (job->filter != NULL)
        bly_contains_hashes(job->filter, rows->hashes, rows->n, rows->drop);
    own->picks = 0;
    for (size_t i = 0; i < rows->n; i++) {
        own->picked[own->picks] = i;
        own->picks += rows->drop[i] && rows->keys[i].data != NULL;
        rows->drop[i] = !anti || rows->keys[i].data == NULL;
    }
    return true;
}

static bool join_look_work(void *argument, cli_worker *w)
{
    const join_job *job = argument;
    const dedup_table *table = &job->table;
    join_own *own = w->own;
    dedup_rows *rows = &own->rows;

    if (!join_ask(job, w))
        return false;
    for (size_t j = 0; j < own->picks; j++) {
        size_t row = own->picked[j];

        if (j + JOIN_SLOT_AHEAD < own->picks)
            keytable_prefetch_slot(table, rows->hashes[own->picked[
                                           j + JOIN_SLOT_AHEAD]]);
        if (j + JOIN_KEY_AHEAD < own->picks)
            keytable_prefetch_key(table, rows->hashes[own->picked[
                                          j + JOIN_KEY_AHEAD]]);
        rows->drop[row] =
            keytable_has(table, rows->hashes[row], rows->keys[row])
            == job->want->anti;
    }
    return true;
}

static int join_print(join_job *job, cli_worker *w)
{
    const join_own *own = w->own;
    const dedup_rows *rows = &own->rows;
    join_tally *tally = job->tally;

    tally->lines += rows->n;
    tally->keyless += rows->lacking;
    for (size_t i = 0; i < rows->n; i++)
        tally->kept += !rows->drop[i];
    progress_at(w->chunk.bytes);
    return job->want->count || marked_print(rows, w) ? CLI_GO : CLI_ERROR;
}

static int join_look_commit(void *job, cli_worker *w)
{
    int status = join_commit(w);

    return status == CLI_GO ? join_print(job, w) : status;
}

static int join_in_memory(join_job *job, const cli_operands *operands)
{
    static const cli_work work = { sizeof(join_own), join_look_work,
                                   join_look_commit, join_clean };

    job->printing = true;
    return join_pass(job, &job->want->lines, operands, 0, &work, "joining");
}

/* ==== In parts ========================================================== */

static int join_part_list_commit(void *argument, cli_worker *w)
{
    join_job *job = argument;
    const join_own *own = w->own;
    const dedup_rows *rows = &own->rows;
    decide_all *all = &job->parts;
    int status = join_commit(w);

    for (size_t i = 0; status == CLI_GO && i < rows->n; i++) {
        if (rows->keys[i].data == NULL)
            continue;
        all->parts[decide_number(all, rows->hashes[i])].members++;
        if (!decide_put(all, rows->hashes[i], rows->keys[i]))
            status = CLI_ERROR;
    }
    return status;
}

static bool join_ask_work(void *job, cli_worker *w)
{
    return join_ask(job, w);
}

static int join_part_lines_commit(void *argument, cli_worker *w)
{
    join_job *job = argument;
    const join_own *own = w->own;
    const dedup_rows *rows = &own->rows;
    int status = join_commit(w);

    for (size_t j = 0; status == CLI_GO && j < own->picks; j++)
        if (!decide_put(&job->parts, rows->hashes[own->picked[j]],
                        rows->keys[own->picked[j]]))
            status = CLI_ERROR;
    job->lines_first += rows->n;
    progress_at(w->chunk.bytes);
    return status;
}

/* Stamps operand i, which is read twice. */
static void join_stamp(join_job *job, const cli_operands *operands, size_t i)
{
    if (stamp_take(&job->stamps[i], operands->names[i]))
        job->ends[i] = stamp_end(&job->stamps[i]);
}

/* Reports that the lines differ from the last pass, though no file shows it. */
static int join_changed(const join_job *job, size_t i)
{
    return report_error("'%s' changed while it was being read, so the output "
                        "is incomplete: try again with a copy of it",
                        job->names->names[i]);
}

static int join_check_stamp(const join_job *job, const cli_operands *operands,
                            size_t i)
{
    return stamp_holds(&job->stamps[i], operands->names[i])
         ? CLI_GO : join_changed(job, i);
}

static int join_decided_commit(void *argument, cli_worker *w)
{
    join_job *job = argument;
    join_own *own = w->own;
    dedup_rows *rows = &own->rows;
    int status = join_commit(w);
    uint64_t count;

    for (size_t j = 0; status == CLI_GO && j < own->picks; j++) {
        size_t row = own->picked[j];
        bool in;

        if (!decide_next(&job->parts, rows->hashes[row], &in, &count))
            return spill_failed(&job->parts.store) ? CLI_ERROR
                                                   : join_changed(job, 0);
        rows->drop[row] = in == job->want->anti;
    }
    return status == CLI_GO ? join_print(job, w) : status;
}

static int join_parts_open(join_job *job)
{
    const join_want *want = job->want;
    decide_all *all = &job->parts;
    bly_info_t stat;
    decide_room room = { .memory = want->memory, .jobs = job->jobs,
                         .keys = job->tally->listed,
                         .bytes = job->listed_bytes };

    if (bly_info(&stat, job->filter) < 0)
        return filter_error();
    room.taken = stat.bytes;
    all->keyed = &job->keyed;
    all->joining = true;
    return decide_begin(all, &room) ? CLI_GO : report_no_memory();
}

/* Joins in parts; all operands can be read twice. */
static int join_in_parts(join_job *job, const cli_operands *operands)
{
    static const cli_work list = { sizeof(join_own), join_list_work,
                                   join_part_list_commit, join_clean };
    static const cli_work lines = { sizeof(join_own), join_ask_work,
                                    join_part_lines_commit, join_clean };
    static const cli_work print = { sizeof(join_own), join_ask_work,
                                    join_decided_commit, join_clean };
    const join_want *want = job->want;
    int status = join_parts_open(job);

    progress_expect(0.3);
    join_stamp(job, operands, 0);
    if (status == CLI_GO)
        status = join_pass(job, &want->list, operands, 1, &list,
                           "parting the list");
    if (status == CLI_GO)
        status = join_check_stamp(job, operands, 1);
    progress_expect(0.3);
    if (status == CLI_GO)
        status = join_pass(job, &want->lines, operands, 0, &lines,
                           "parting the lines");
    if (status == CLI_GO)
        status = join_check_stamp(job, operands, 0);
    progress_expect(0.5);
    if (status == CLI_GO)
        status = decide_run(&job->parts, job->jobs, want->progress);
    job->printing = true;
    if (status == CLI_GO)
        status = join_pass(job, &want->lines, operands, 0, &print, "printing");
    if (status == CLI_GO)
        status = join_check_stamp(job, operands, 0);
    if (status == CLI_GO && job->tally->lines != job->lines_first)
        status = join_changed(job, 0);
    decide_close(&job->parts);
    return status;
}

/* ==== All of it ========================================================= */

/* Joins in memory, or in parts if the list does not fit; only then must the
 * lines be readable twice. */
static int join_all(join_job *job, const cli_operands *operands)
{
    sketch_reread again;
    int status;

    progress_expect(0.4);
    join_stamp(job, operands, 1);
    status = join_list(job, operands);
    if (status != CLI_GO)
        return status;
    if (!job->full)
        return join_in_memory(job, operands);
    keytable_close(&job->table);
    job->table = (dedup_table){ .keyed = &job->keyed };
    job->tally->parts = true;
    status = reread_open(&again, operands, 0);
    if (status == CLI_GO)
        status = join_in_parts(job, &again.operands);
    reread_close(&again);
    return status;
}

int join_run(const join_want *want, const cli_operands *operands,
             join_tally *tally)
{
    char *names[2] = { operands->names[0], operands->names[1] };
    join_job job = { .want = want, .jobs = work_jobs(want->jobs),
                     .start = lseek(STDIN_FILENO, 0, SEEK_CUR),
                     .names = operands, .tally = tally,
                     .ends = { UINT64_MAX, UINT64_MAX } };
    sketch_reread list;
    int status = reread_open(&list, operands, 1);

    *tally = (join_tally){ .lines = 0 };
    if (status == CLI_GO && bly_keyed_draw(&job.keyed) < 0)
        status = filter_error();
    if (status == CLI_GO) {
        names[1] = list.operands.names[0];
        progress_open("join", want->progress);
        status = join_all(&job, &(cli_operands){ names, 2 });
        progress_close();
    }
    keytable_close(&job.table);
    bly_free(job.filter);
    reread_close(&list);
    return status == CLI_GO ? CLI_OK : CLI_ERROR;
}
