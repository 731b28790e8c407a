/* exact.c - `bloomery dedup`: loses no line and repeats none.
 *
 * A pipe is read once, and each new line is printed at once (stream.c). So are
 * compressed files that are so small that their lines probably fit in memory:
 * decompressing them twice would take longer than all the rest. Other files are
 * read in several passes, as described here, which takes less memory. So are
 * inputs whose lines are counted, since counts are known only at the end.
 *
 * Most lines of most inputs occur once, and such a line needs no place in
 * memory. The input is therefore read more than once:
 *
 *     pass 1   every key goes into a filter. A key that may have been there
 *              already is perhaps repeated: it goes into a second filter.
 *     pass 2   a line whose key is not in the second filter is certainly
 *              unique. The others are compared byte by byte:
 *
 *       in memory     if the perhaps repeated keys fit (pass 1 has counted
 *                     them): with one table, while printing
 *       in parts      otherwise, or if counts are wanted: the keys are
 *                     divided by their hashes into parts, on disk if they
 *                     do not fit, and each part is decided alone (decide.c)
 *
 *     pass 3   only after deciding in parts: print. Each perhaps repeated
 *              line takes the next decision of its part.
 *
 * A false positive costs a little room and nothing else. The filters share the
 * memory with the table or the parts. If they are too small for the input they
 * fill up, more keys are compared, and the output is the same.
 *
 * Nor is a pipe or a compressed file read twice if its lines are counted. They
 * are held in a table that counts, and printed at the end. When they no longer
 * fit in memory, the lines of the table are written to a temporary file, each
 * as often as it occurred, and the rest of the input is appended. That file has
 * the same output as the input, and pass 1 continues with it. If keys are only
 * derived from lines, all lines go to the file.
 *
 * Files must not change until the end, but may grow. All passes read what the
 * files held at first; their sizes and times are compared, and the lines
 * counted.
 */
#include "bloomery/exact/dedup.h"
#include "frame/headers.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Shares of the memory: an eighth for the first filter, a sixteenth for the
 * second. For small inputs the filter has 16 bits per 8 bytes, the shortest
 * line assumed. */
enum { EXACT_SEEN = 8, EXACT_REPEATED = 16, EXACT_LINE = 8, EXACT_BITS = 16 };

typedef struct {
    const exact_want *want;
    const cli_operands *operands;
    cli_lines     lines;
    size_t        jobs;
    struct stat  *stamps;       /* of the files, before they are read      */
    uint64_t     *ends;         /* their ends at that time; data appended later,
                                   as to a log, is not read                */
    off_t         start;        /* of standard input                       */
    int           spool;        /* copy of input that cannot be read twice */
    bool          holding;      /* whether all lines so far are in the table */
    bly_keyed     keyed;        /* the hash function used throughout       */
    bly_filter   *seen, *repeated;
    uint64_t      total;        /* bytes of input; 0 if unknown            */
    uint64_t      lines_first;  /* lines in pass 1                         */
    uint64_t      there;        /* of these, perhaps seen before           */
    uint64_t      keys, bytes;  /* distinct, perhaps repeated; as records  */
    dedup_table   table;
    decide_all    parts;
    dedup_tally   tally;
} exact_job;

/* A worker's lines, and those that are perhaps repeated. */
typedef struct {
    dedup_rows     rows;
    size_t        *picked;      /* row numbers                             */
    uint64_t      *hashes;      /* of the picked rows                      */
    bool          *there;
    size_t         picks, room;
    unsigned char *records;     /* sorted by part                          */
    size_t         records_room;
    size_t        *ends;        /* of each part's records                  */
} exact_own;

static bool exact_counts(const exact_want *want)
{
    return want->count || want->repeated || want->unique;
}

/* ==== Workers =========================================================== */

static void exact_clean(void *argument)
{
    exact_own *own = argument;

    marked_free(&own->rows);
    free(own->picked);
    free(own->hashes);
    free(own->there);
    free(own->records);
    free(own->ends);
}

/* Makes room to pick every row. Returns false if out of memory. */
static bool exact_room(exact_own *own)
{
    size_t room = own->rows.room;

    if (own->room >= own->rows.n)
        return true;
    free(own->picked);
    free(own->hashes);
    free(own->there);
    own->picked = malloc(room * sizeof *own->picked);
    own->hashes = malloc(room * sizeof *own->hashes);
    own->there = malloc(room * sizeof *own->there);
    own->room = own->picked != NULL && own->hashes != NULL
              && own->there != NULL ? room : 0;
    return own->room > 0;
}

/* Picks the marked rows. */
static void exact_pick(exact_own *own)
{
    const dedup_rows *rows = &own->rows;

    own->picks = 0;
    for (size_t i = 0; i < rows->n; i++) {
        own->picked[own->picks] = i;
        own->hashes[own->picks] = rows->hashes[i];
        own->picks += rows->drop[i];
    }
}

/* Marks and picks the lines that are perhaps repeated, in passes 2 and 3. */
static bool exact_candidates(const exact_job *job, cli_worker *w)
{
    exact_own *own = w->own;
    dedup_rows *rows = &own->rows;

    if (!marked_fill(rows, w, &job->keyed, NULL) || !exact_room(own))
        return false;
    bly_contains_hashes(job->repeated, rows->hashes, rows->n, rows->drop);
    for (size_t i = 0; rows->keyless > 0 && i < rows->n; i++)
        rows->drop[i] &= rows->keys[i].data != NULL;
    exact_pick(own);
    return true;
}

/* Starts a commit, in any pass. Returns CLI_GO or CLI_ERROR. */
static int exact_commit(exact_job *job, const cli_worker *w)
{
    const exact_own *own = w->own;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed)
        return report_no_memory();
    job->tally.lines += own->rows.n;
    job->tally.keyless += own->rows.lacking;
    progress_at(w->chunk.bytes);
    return CLI_GO;
}

/* ==== Files that stay as they are ======================================= */

static bool exact_stamp(exact_job *job)
{
    size_t n = job->lines.count;

    job->stamps = calloc(n, sizeof *job->stamps);
    job->ends = calloc(n, sizeof *job->ends);
    if (job->stamps == NULL || job->ends == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        job->ends[i] = stamp_take(&job->stamps[i], job->lines.paths[i])
                     ? stamp_end(&job->stamps[i]) : UINT64_MAX;
    return true;
}

static int exact_changed(const char *path)
{
    return report_error("'%s' changed while it was being read, so the output "
                        "is incomplete: try again with a copy of it", path);
}

/* Checks that no file has changed. Returns CLI_GO or CLI_ERROR. */
static int exact_check(const exact_job *job)
{
    for (size_t i = 0; job->spool < 0 && i < job->lines.count; i++)
        if (!stamp_holds(&job->stamps[i], job->lines.paths[i]))
            return exact_changed(job->lines.paths[i]);
    return CLI_GO;
}

/* Reports that the lines differ from pass 1, though no file shows a change. */
static int exact_differs(const exact_job *job)
{
    int status = exact_check(job);

    return status != CLI_GO ? status : exact_changed(job->lines.paths[0]);
}

/* ==== Passes ============================================================ */

/* Reads all lines from the start. */
static int exact_pass(exact_job *job, const cli_work *work, const char *what)
{
    int status;

    if (job->start >= 0)
        lseek(STDIN_FILENO, job->start, SEEK_SET);
    job->tally = (dedup_tally){ .passes = job->tally.passes + 1,
                                .spilled = job->tally.spilled };
    progress_start(what, job->total, job->want->progress);
    status = work_run(&job->lines, work, job, job->jobs);
    progress_close();
    return status;
}

/* Runs a later pass over the same lines. */
static int exact_pass_again(exact_job *job, const cli_work *work,
                            const char *what, bool prints)
{
    const cli_operands *operands = job->operands;
    cli_lines *lines = &job->lines;
    int status = exact_check(job);

    if (status != CLI_GO)
        return status;
    lines_close(lines);
    lines_open(lines, &job->want->how, operands,
               job->spool >= 0 ? operands->count : 0, true);
    lines->how.copy = job->spool >= 0;
    if (prints)
        headers_print(lines, job->want->count ? "count\t" : "");
    if (job->spool < 0)
        lines_until(lines, job->ends);
    status = exact_pass(job, work, what);
    if (status == CLI_GO)
        status = exact_check(job);
    if (status == CLI_GO && job->tally.lines != job->lines_first)
        status = exact_changed(lines->paths[0]);
    return status;
}

/* ==== Pass 1: which keys are perhaps repeated =========================== */

static bool exact_survey_work(void *argument, cli_worker *w)
{
    const exact_job *job = argument;
    exact_own *own = w->own;

    return marked_fill(&own->rows, w, &job->keyed, NULL) && exact_room(own);
}

static unsigned char exact_end(const exact_job *job)
{
    return job->want->how.null ? '\0' : '\n';
}

/* Returns whether lines can be held, in which case more memory would avoid the
   copy. */
static bool exact_holds(const exact_job *job)
{
    return job->lines.form == LINES_WHOLE && !job->lines.how.header;
}

static int exact_spool_bytes(exact_job *job, const void *data, size_t n)
{
    job->tally.spilled += n;
    return spill_write(job->spool, data, n, exact_holds(job));
}

/* Starts the copy with the header that the files share. */
static int exact_spool_header(exact_job *job)
{
    const cli_lines *lines = &job->lines;
    unsigned char terminator = exact_end(job);

    return exact_spool_bytes(job, lines->first, lines->first_length) == CLI_GO
         ? exact_spool_bytes(job, &terminator, 1) : CLI_ERROR;
}

/* Appends the chunk to the copy, and ends its last line. */
static int exact_spool(exact_job *job, const cli_worker *w)
{
    const cli_chunk *chunk = &w->chunk;
    unsigned char terminator = exact_end(job);
    int status = chunk->heads ? exact_spool_header(job) : CLI_GO;

    if (status == CLI_GO)
        status = exact_spool_bytes(job, chunk->block, chunk->length);
    if (status == CLI_GO && chunk->length > 0
        && chunk->block[chunk->length - 1] != terminator)
        status = exact_spool_bytes(job, &terminator, 1);
    return status;
}

/* Returns the size of a key's record; long keys have longer lengths. */
static uint64_t exact_record(bly_key key)
{
    return key.length + (key.length < 0x80 ? 1 : 2);
}

/* Counted keys that are added to the filters, which then are as if all their
 * lines had been read. */
typedef struct {
    uint64_t hashes[256], counts[256];
    bly_key  keys[256];
    size_t   n;
} exact_counted;

static int exact_count_in(exact_job *job, exact_counted *some)
{
    bool there[256];
    size_t n = 0;

    if (bly_add_hashes(job->seen, some->hashes, some->n, there, NULL) < 0)
        return filter_error();
    for (size_t i = 0; i < some->n; i++) {
        job->there += some->counts[i] - !there[i];
        some->hashes[n] = some->hashes[i];
        some->keys[n] = some->keys[i];
        n += some->counts[i] > 1 || there[i];
    }
    some->n = 0;
    if (bly_add_hashes(job->repeated, some->hashes, n, there, NULL) < 0)
        return filter_error();
    for (size_t i = 0; i < n; i++) {
        job->keys += !there[i];
        job->bytes += there[i] ? 0 : exact_record(some->keys[i]);
    }
    return CLI_GO;
}

/* Moves the held lines to the start of the copy, when memory runs out. */
static int exact_release(exact_job *job)
{
    exact_counted some = { .n = 0 };
    int status;

    job->holding = false;
    job->spool = spill_file(true);
    status = job->spool < 0 ? CLI_ERROR
           : held_write(&job->table, job->spool, exact_end(job),
                        &job->tally.spilled);
    for (size_t at = 0; status == CLI_GO
         && keytable_each(&job->table, &at, &some.keys[some.n],
                          &some.counts[some.n]); ) {
        bly_key key = some.keys[some.n];

        some.hashes[some.n++] = bly_keyed_hash(&job->keyed, key.data,
                                               key.length);
        if (some.n == sizeof some.keys / sizeof some.keys[0])
            status = exact_count_in(job, &some);
    }
    if (status == CLI_GO)
        status = exact_count_in(job, &some);
    keytable_close(&job->table);
    job->table = (dedup_table){ .room = 0 };
    return status;
}

/* Holds the chunk's lines, and keeps memory free for the filters. */
static int exact_hold(exact_job *job, exact_own *own, const cli_worker *w)
{
    const exact_want *want = job->want;
    uint64_t memory = want->held - want->memory / EXACT_SEEN
                                 - want->memory / EXACT_REPEATED;

    if (!keytable_fits(&job->table, memory, own->rows.n, w->chunk.length))
        return exact_release(job);
    if (!keytable_prepare(&job->table, memory, own->rows.n, w->chunk.length)
        || keytable_add_rows(&job->table, &own->rows, NULL) != TABLE_NEW)
        return report_no_memory();
    return CLI_GO;
}

static int exact_survey_commit(void *argument, cli_worker *w)
{
    exact_job *job = argument;
    exact_own *own = w->own;
    int status = exact_commit(job, w);

    if (status == CLI_GO && job->holding)
        status = exact_hold(job, own, w);
    if (status == CLI_GO && job->spool >= 0)
        status = exact_spool(job, w);
    if (status == CLI_GO && !job->holding)
        status = marked_add(&own->rows, job->seen);
    if (status != CLI_GO || job->holding)
        return status;
    exact_pick(own);
    if (bly_add_hashes(job->repeated, own->hashes, own->picks, own->there, NULL)
        < 0)
        return filter_error();
    for (size_t j = 0; j < own->picks; j++) {
        job->keys += !own->there[j];
        job->bytes += own->there[j] ? 0
                    : exact_record(own->rows.keys[own->picked[j]]);
    }
    job->there += own->picks;
    return CLI_GO;
}

/* Creates a filter of this many bits. */
static int exact_filter(bly_filter **out, uint64_t bits)
{
    bly_spec spec = { .capacity = bits / 12 + 1 };
    char kind[64];

    snprintf(kind, sizeof kind, "blocked:k=6,m=%" PRIu64, bits);
    return bly_new(out, kind, &spec) < 0 ? filter_error() : CLI_GO;
}

static uint64_t exact_filter_bits(const exact_job *job, uint64_t share)
{
    uint64_t most = job->want->memory / share * 8;
    uint64_t enough = job->total / EXACT_LINE * EXACT_BITS
                    + 512;

    return job->total > 0 && enough < most ? enough : most;
}

static int exact_survey(exact_job *job)
{
    static const cli_work work = { sizeof(exact_own), exact_survey_work,
                                   exact_survey_commit, exact_clean };
    int status = exact_filter(&job->seen, exact_filter_bits(job, EXACT_SEEN));

    if (status == CLI_GO)
        status = exact_filter(&job->repeated,
                              exact_filter_bits(job, EXACT_REPEATED));
    job->table.keyed = &job->keyed;
    progress_expect(job->holding ? 1 : 0.4);
    if (status == CLI_GO)
        status = exact_pass(job, &work, "looking for repeated lines");
    if (status == CLI_GO && job->spool >= 0 && job->tally.spilled == 0
        && job->lines.first != NULL)
        status = exact_spool_header(job);       /* the input was empty */
    if (status == CLI_GO && job->holding
        && !held_print(&job->table, job->want, &job->tally.kept))
        status = CLI_ERROR;
    bly_free(job->seen);
    job->seen = NULL;
    job->lines_first = job->tally.lines;
    return status;
}

/* Adds the expected number of unique keys that are in the second filter by
 * accident, as they must be decided too. Returns the bytes of the filter. */
static uint64_t exact_add_accidents(exact_job *job)
{
    uint64_t mean = job->total / (job->tally.lines + 1) + 2;
    uint64_t once = job->tally.lines - job->there;
    bly_info_t stat;

    bly_info(&stat, job->repeated);
    once -= once < job->keys ? once : job->keys;
    job->keys += (uint64_t)(stat.rate * (double)once);
    job->bytes += (uint64_t)(stat.rate * (double)once * (double)mean);
    return stat.bytes;
}

/* ==== Pass 2, in memory ================================================= */

static bool exact_direct_work(void *job, cli_worker *w)
{
    return exact_candidates(job, w);
}

/* Keeps the first occurrence of each key and drops the others. */
static keytable_answer exact_direct(exact_job *job, exact_own *own)
{
    const keytable_picks picks = { own->picked, own->picks };
    keytable_answer answer = keytable_add_rows(&job->table, &own->rows, &picks);

    for (size_t j = 0; j < own->picks; j++)
        job->tally.kept -= own->rows.drop[own->picked[j]];
    return answer;
}

static int exact_direct_commit(void *argument, cli_worker *w)
{
    exact_job *job = argument;
    exact_own *own = w->own;
    int status = exact_commit(job, w);

    if (status != CLI_GO)
        return status;
    job->tally.kept += own->rows.n;
    if (exact_direct(job, own) != TABLE_NEW)
        return report_no_memory();
    return marked_print(&own->rows, w) ? CLI_GO : CLI_ERROR;
}

static int exact_in_memory(exact_job *job)
{
    static const cli_work work = { sizeof(exact_own), exact_direct_work,
                                   exact_direct_commit, exact_clean };
    int status;

    job->table.keyed = &job->keyed;
    status = keytable_open(&job->table, job->keys, job->bytes)
           ? exact_pass_again(job, &work, "printing", true)
           : report_no_memory();
    keytable_close(&job->table);
    return status;
}

/* ==== Pass 2, in parts ================================================== */

/* Computes the bytes of records of each part, then their offsets. */
static void exact_sort_begin(const decide_all *all, exact_own *own)
{
    size_t parts = (size_t)1 << all->bits, sum = 0;

    memset(own->ends, 0, parts * sizeof *own->ends);
    for (size_t j = 0; j < own->picks; j++) {
        unsigned char number[SPILL_NUMBER];
        size_t length = own->rows.keys[own->picked[j]].length;

        own->ends[decide_number(all, own->hashes[j])]
            += spill_number(number, length) + length;
    }
    for (size_t i = 0; i < parts; i++) {
        size_t bytes = own->ends[i];

        own->ends[i] = sum;
        sum += bytes;
    }
}

/* Writes the records sorted by part, in input order within each. */
static void exact_sort(const decide_all *all, exact_own *own)
{
    exact_sort_begin(all, own);
    for (size_t j = 0; j < own->picks; j++) {
        bly_key key = own->rows.keys[own->picked[j]];
        size_t *end = &own->ends[decide_number(all, own->hashes[j])];

        *end += spill_number(own->records + *end, key.length);
        if (key.length > 0)
            memcpy(own->records + *end, key.data, key.length);
        *end += key.length;
    }
}

static bool exact_parts_room(exact_own *own, size_t parts, size_t bytes)
{
    if (own->ends == NULL)
        own->ends = malloc(parts * sizeof *own->ends);
    if (bytes > own->records_room) {
        free(own->records);
        own->records = malloc(bytes);
        own->records_room = own->records != NULL ? bytes : 0;
    }
    return own->ends != NULL && own->records != NULL;
}

/* A key is at least a byte shorter than its line, except in the last one, so
 * the record is no longer than the line plus the extra bytes of its length. */
static bool exact_parts_work(void *argument, cli_worker *w)
{
    const exact_job *job = argument;
    const decide_all *all = &job->parts;
    exact_own *own = w->own;

    if (!exact_candidates(job, w))
        return false;
    if (!exact_parts_room(own, (size_t)1 << all->bits,
                          w->chunk.length + w->chunk.length / 64
                          + 2 * SPILL_NUMBER))
        return false;
    exact_sort(all, own);
    return true;
}

static int exact_parts_commit(void *argument, cli_worker *w)
{
    exact_job *job = argument;
    decide_all *all = &job->parts;
    const exact_own *own = w->own;
    int status = exact_commit(job, w);
    size_t begin = 0;

    for (size_t i = 0; status == CLI_GO && i < (size_t)1 << all->bits; i++) {
        if (!spill_append(&all->store, &all->parts[i].records,
                          own->records + begin, own->ends[i] - begin))
            return CLI_ERROR;
        begin = own->ends[i];
    }
    return status;
}

/* ==== Pass 3 ============================================================ */

static bool exact_print_work(void *job, cli_worker *w)
{
    return exact_candidates(job, w);
}

/* Decides all rows of the chunk: marked rows take the next decision of their
 * part. With counts, rows are printed at once. */
static int exact_decide(exact_job *job, cli_worker *w)
{
    exact_own *own = w->own;
    dedup_rows *rows = &own->rows;

    for (size_t i = 0; i < rows->n; i++) {
        bool first = true;
        uint64_t count = 1;

        if (rows->drop[i]
            && !decide_next(&job->parts, rows->hashes[i], &first, &count))
            return spill_failed(&job->parts.store) ? CLI_ERROR
                                                    : exact_differs(job);
        rows->drop[i] = !first || !held_wanted(job->want, count);
        job->tally.kept += !rows->drop[i];
        if (!rows->drop[i] && job->want->count
            && (!held_print_count(count)
                || !marked_print_some(rows, w, i, i + 1)))
            return CLI_ERROR;
    }
    return CLI_GO;
}

static int exact_print_commit(void *argument, cli_worker *w)
{
    exact_job *job = argument;
    const exact_own *own = w->own;
    int status = exact_commit(job, w);

    if (status == CLI_GO)
        status = exact_decide(job, w);
    if (status == CLI_GO && !job->want->count
        && !marked_print(&own->rows, w))
        status = CLI_ERROR;
    return status;
}

/* ==== Settling in parts ================================================= */

static bool exact_parts_open(exact_job *job, uint64_t filter)
{
    const exact_want *want = job->want;
    const decide_room room = { .memory = want->memory, .taken = filter,
                               .jobs = job->jobs, .keys = job->keys,
                               .bytes = job->bytes };

    job->parts.keyed = &job->keyed;
    job->parts.counting = exact_counts(want);
    return decide_begin(&job->parts, &room);
}

static int exact_in_parts(exact_job *job, uint64_t filter)
{
    static const cli_work parts = { sizeof(exact_own), exact_parts_work,
                                    exact_parts_commit, exact_clean };
    static const cli_work print = { sizeof(exact_own), exact_print_work,
                                    exact_print_commit, exact_clean };
    int status;

    progress_expect(0.4);
    status = exact_parts_open(job, filter)
               ? exact_pass_again(job, &parts, "collecting repeated lines",
                                  false)
               : report_no_memory();

    progress_expect(0.4);
    if (status == CLI_GO)
        status = decide_run(&job->parts, job->jobs, job->want->progress);
    if (status == CLI_GO)
        status = exact_pass_again(job, &print, "printing", true);
    job->tally.spilled += job->parts.store.used * job->parts.store.block;
    decide_close(&job->parts);
    return status;
}

/* ==== All of it ========================================================= */

/* Opens an empty table for all lines. */
static int exact_open_held(exact_job *job)
{
    enum { KEYS = 1 << 13, BYTES = 1 << 16 };

    job->holding = true;
    job->table.counting = true;
    return keytable_open(&job->table, KEYS, BYTES) ? CLI_GO
                                                   : report_no_memory();
}

/* Stamps input that can be read twice. Other input is held, or copied to a file
 * that replaces standard input from pass 2 on. */
static int exact_open(exact_job *job, bool twice)
{
    bool holds = exact_holds(job);

    if (twice)
        job->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    else if (holds && exact_open_held(job) != CLI_GO)
        return CLI_ERROR;
    else if (!holds && (job->spool = spill_file(false)) < 0)
        return CLI_ERROR;
    if (!exact_stamp(job))
        return report_no_memory();
    if (twice)
        lines_until(&job->lines, job->ends);
    return CLI_GO;
}

static int exact_use_copy(exact_job *job)
{
    if (dup2(job->spool, STDIN_FILENO) < 0)
        return report_error("cannot read the temporary file: %s: try again",
                            strerror(errno));
    job->start = 0;
    return CLI_GO;
}

static int exact_all(exact_job *job, bool twice)
{
    int status = exact_open(job, twice);
    uint64_t filter;

    if (status == CLI_GO)
        status = exact_survey(job);
    if (status == CLI_GO && job->spool >= 0)
        status = exact_use_copy(job);
    if (status != CLI_GO || job->holding)
        return status;
    job->total = job->lines.bytes;
    filter = exact_add_accidents(job);
    if (!exact_counts(job->want)
        && keytable_bytes(job->keys, job->bytes) <= job->want->memory - filter)
        return exact_in_memory(job);
    return exact_in_parts(job, filter);
}

/* Returns whether files are read once because they are compressed, and four
 * times their size, as logs expand, fits in the memory for lines. */
static bool exact_once(const exact_job *job)
{
    uint64_t compressed = measure_compressed(&job->lines);

    return compressed > 0 && compressed <= job->want->held / 4;
}

int exact_run(const exact_want *want, const cli_operands *operands,
              dedup_tally *tally)
{
    exact_job job = { .want = want, .operands = operands, .start = -1,
                      .spool = -1, .jobs = work_jobs(want->jobs) };
    int status;

    if (bly_keyed_draw(&job.keyed) < 0)
        return filter_error();
    lines_open(&job.lines, &want->how, operands, 0, true);
    headers_alike(&job.lines);
    status = measure_input(&job.lines, &job.total);
    if (status != CLI_ERROR) {
        bool twice = status == CLI_OK && want->units == NULL
                  && (job.total > 0 || !exact_once(&job));

        progress_open("dedup", want->progress);
        status = !twice && !exact_counts(want)
               ? stream_run(want, &job.keyed, &job.lines, &job.tally)
               : exact_all(&job, twice);
        progress_close();
    }
    lines_close(&job.lines);
    if (job.holding)
        keytable_close(&job.table);
    if (job.spool >= 0)
        close(job.spool);
    free(job.stamps);
    free(job.ends);
    bly_free(job.repeated);
    *tally = job.tally;
    return status == CLI_GO ? CLI_OK : status;
}
