/* filtered.c - `bloomery dedup` with a filter: --approximate and --window.
 *
 * All threads split lines, or cut documents into parts, and hash them. The
 * filter is then queried and extended in input order, one chunk at a time. It
 * grows, or with --window it forgets.
 */
#include "bloomery/exact/dedup.h"
#include "frame/headers.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <math.h>

typedef struct {
    const filtered_want *want;
    bly_filter  *filter;
    cli_lines    lines;
    dedup_tally  tally;
    bool         failed;        /* whether a file could not be read */
} filtered_job;

typedef struct {
    dedup_rows  rows;
    dedup_units units;          /* the documents, if there are any         */
} filtered_own;

/* ==== The filter ======================================================== */

/* Returns the number of distinct lines for which a growing filter is first
 * sized: as many as the input might have, within a limit of a few mebibytes,
 * and a part of `memory` if that is given. A filter that is large enough at
 * once is faster; one that is too large wastes memory. */
static uint64_t filtered_guess(uint64_t total, uint64_t memory)
{
    enum { LINE = 32, LEAST = 1000, UNKNOWN = 1 << 20, MOST = 6 << 20,
           BYTES = 16 };
    uint64_t lines = total > 0 ? total / LINE + LEAST : UNKNOWN;
    uint64_t most = memory > 0 && memory / BYTES < MOST ? memory / BYTES : MOST;

    return lines < most ? lines : most;
}

/* Chooses the kind. One cache line per key is fastest, but takes too many bits
 * at small rates, and its lowest rate is above what the late slices of a
 * growing filter need. */
static const char *filtered_kind(const filtered_want *s)
{
    bool small = s->rate < 1e-5;

    if (s->kind != NULL)
        return s->kind;
    if (s->window > 0)
        return small ? "aging:of=standard" : "aging:of=blocked";
    return small ? "scalable:of=standard" : "scalable:of=blocked";
}

int filtered_open(bly_filter **filter, const filtered_want *s, uint64_t total)
{
    const char *kind = filtered_kind(s);
    bly_spec spec = { .capacity = s->items, .rate = s->rate,
                      .hash = secret_hash(), .secret = secret_bytes() };

    if (s->window > 0)
        spec.capacity = s->window;
    else if (s->items == 0 && filter_kind_can(kind, BLY_CAN_GROW))
        spec.capacity = filtered_guess(total, s->memory);
    if (bly_new(filter, kind, &spec) == BLY_OK)
        return CLI_GO;
    return spec.capacity > 0 ? filter_error()
         : report_error("kind %s does not grow: give the maximum number of "
                        "different lines with -n ITEMS", kind);
}

int filtered_check_memory(const bly_filter *filter, uint64_t most)
{
    bly_header now;

    if (most == 0)
        return CLI_GO;
    bly_header_of(&now, filter);
    if (now.bytes <= most)
        return CLI_GO;
    return report_error("the filter takes %s, more than --memory: give more, "
                        "or a higher RATE", report_bytes(now.bytes).text);
}

/* ==== The work ========================================================== */

static bool filtered_work(void *argument, cli_worker *w)
{
    const filtered_job *job = argument;
    const grams_hasher by = { .filter = job->filter };
    filtered_own *own = w->own;

    return job->want->units != NULL
         ? units_fill(&own->units, &own->rows, w, job->want->units, &by)
         : marked_fill(&own->rows, w, NULL, job->filter);
}

static uint64_t filtered_kept(const dedup_rows *rows)
{
    uint64_t kept = 0;

    for (size_t i = 0; i < rows->n; i++)
        kept += !rows->drop[i];
    return kept;
}

static int filtered_commit(void *argument, cli_worker *w)
{
    filtered_job *job = argument;
    filtered_own *own = w->own;
    dedup_rows *rows = &own->rows;
    int status;

    if (w->chunk.error != 0) {          /* the other files are still read */
        refuse_chunk(&w->chunk);
        job->failed = true;
        return job->want->units != NULL
            && (job->want->units->outputs != NULL
                || units_known(job->want->units, w) < job->want->units->known)
             ? CLI_ERROR : CLI_GO;
    }
    if (w->failed)
        return report_no_memory();
    status = marked_add(rows, job->filter);
    if (status == CLI_GO)
        status = filtered_check_memory(job->filter, job->want->memory);
    if (status != CLI_GO)
        return status;
    progress_at(w->chunk.bytes);
    if (job->want->units != NULL)
        return units_print(&own->units, rows, w, job->want->units,
                           &job->tally);
    job->tally.lines += rows->n;
    job->tally.keyless += rows->lacking;
    job->tally.kept += filtered_kept(rows);
    return marked_print(rows, w) ? CLI_GO : CLI_ERROR;
}

static void filtered_clean(void *argument)
{
    filtered_own *own = argument;

    marked_free(&own->rows);
    units_free(&own->units);
}

/* ==== Its end =========================================================== */

/* Warns if the filter was planned for fewer lines and so drops too many. */
static void filtered_warn(const filtered_job *job, const bly_info_t *now)
{
    const bly_info_t stat = *now;

    if (stat.rate > 1.1 * job->want->rate && isinf(stat.distinct))
        report_note("warning: a filter planned for %s lines holds too many to "
                    "estimate their number: the last new lines were dropped at "
                    "a rate of %s, not %s: try again with a larger -n",
                    report_count(stat.capacity).text,
                    report_percent(stat.rate).text,
                    report_percent(job->want->rate).text);
    else if (stat.rate > 1.1 * job->want->rate)
        report_note("warning: about %s lines are in a filter planned for %s: "
                    "the last new lines were dropped at a rate of %s, not %s: "
                    "try again with a larger -n",
                    report_estimate(stat.distinct).text,
                    report_count(stat.capacity).text,
                    report_percent(stat.rate).text,
                    report_percent(job->want->rate).text);
}

/* Refuses to go on: so many new lines were dropped that the output is of little
   use. */
static void filtered_refuse(const bly_info_t *stat)
{
    report_error("the input has more than twice as many different lines as the "
                 "%s that the filter was planned for: the last new lines were "
                 "dropped at a rate of %s: try again with a larger -n, or "
                 "without -k", report_count(stat->capacity).text,
                 report_percent(stat->rate).text);
}

int filtered_run(const filtered_want *s, const cli_operands *operands,
                 dedup_tally *tally)
{
    static const cli_work work = { sizeof(filtered_own), filtered_work,
                                   filtered_commit, filtered_clean };
    filtered_job job = { .want = s };
    bly_info_t stat = { .rate = 0 };
    uint64_t total;
    int status;

    lines_open(&job.lines, &s->how, operands, 0, true);
    headers_print(&job.lines, "");
    total = measure_progress(&job.lines);
    status = filtered_open(&job.filter, s, total);
    if (status != CLI_GO)
        return status;
    progress_start("deduplicating", total, s->progress);
    status = work_run(&job.lines, &work, &job, work_jobs(s->jobs));
    progress_close();
    lines_close(&job.lines);
    if (bly_info(&stat, job.filter) < 0)
        status = filter_error();
    job.tally.rate = stat.rate > s->rate ? stat.rate : s->rate;
    job.tally.over = status == CLI_GO && s->kind != NULL
                  && feed_overfull(job.filter);
    if (job.tally.over)
        filtered_refuse(&stat);
    else if (status == CLI_GO && s->kind != NULL)
        filtered_warn(&job, &stat);
    bly_free(job.filter);
    *tally = job.tally;
    return status == CLI_GO && !job.failed ? CLI_OK : CLI_ERROR;
}
