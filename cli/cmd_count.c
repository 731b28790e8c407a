/* cmd_count.c - `bloomery count`: how often each line's key was added.
 *
 * All threads split lines, hash, ask and write the answers of a chunk; they
 * are printed in the order of the input. Floor 7; includes cli.h and
 * <bloomery.h> only.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_how  how;
    uint64_t jobs, least;
    bool     json, no_progress;
} count_settings;

typedef struct {
    uint64_t asked, there, unbounded, sum, keyless;
} count_tally;

/* A count on its way. */
typedef struct {
    count_settings    want;
    const bly_filter *filter;
    cli_lines         lines;
    count_tally       tally;
    bool              unended;      /* the last line printed lacks its end */
    bool              failed;       /* a file could not be read */
} count_job;

/* A worker's chunk: its counts, and what is to be printed. */
typedef struct {
    count_tally tally;
    char       *text;
    size_t      length, room;
    uint64_t    counts[LINES_MOST];
} count_own;

static const cli_option count_options[] = {
    { 'm', "min", "N", CLI_ITEMS, offsetof(count_settings, least), false,
      "Print only lines whose count is at least N." },
    { 0, "json", NULL, CLI_FLAG, offsetof(count_settings, json), false,
      "Print no lines, but how many keys were asked for and the sum of their "
      "counts as a JSON object." },
    CLI_HOW_OPTIONS(count_settings, how),
    CLI_JOBS_OPTION(count_settings, jobs),
    { 0, "no-progress", NULL, CLI_FLAG, offsetof(count_settings, no_progress),
      false, "Show no progress on the terminal." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example count_examples[] = {
    { "bloomery count visits.bly names.txt",
      "How often each name was added." },
    { "bloomery count -m 100 visits.bly < names.txt | sort -rn",
      "The frequent ones, the most frequent first." },
    { NULL, NULL }
};

/* ==== A chunk, in any thread ============================================ */

static bool count_room(count_own *own, size_t more)
{
    size_t room = own->room + own->room / 2 + more;
    char *grown;

    if (own->length + more <= own->room)
        return true;
    grown = realloc(own->text, room);
    if (grown == NULL)
        return false;
    own->text = grown;
    own->room = room;
    return true;
}

/* The count, a TAB and the line. */
static bool count_write(count_own *own, uint64_t count, const bly_key *line)
{
    enum { LONGEST = 24 };

    if (!count_room(own, LONGEST + line->length))
        return false;
    own->length += (size_t)(count == UINT64_MAX
        ? snprintf(own->text + own->length, LONGEST, "?\t")
        : snprintf(own->text + own->length, LONGEST, "%" PRIu64 "\t", count));
    memcpy(own->text + own->length, line->data, line->length);
    own->length += line->length;
    return true;
}

static bool count_batch(const count_job *job, const cli_batch *b,
                        count_own *own)
{
    bly_count_keys(job->filter, b->keys, b->n, own->counts);
    for (size_t i = 0; i < b->n; i++) {
        uint64_t count = b->keys[i].data != NULL ? own->counts[i] : 0;

        own->tally.there += count > 0;
        own->tally.unbounded += count == UINT64_MAX;
        own->tally.sum += count != UINT64_MAX ? count : 0;
        if (!job->want.json && count >= job->want.least
            && !count_write(own, count, &b->lines[i]))
            return false;
    }
    own->tally.asked += b->n - b->keyless;
    own->tally.keyless += b->keyless;
    return true;
}

static bool count_work(void *argument, cli_worker *w)
{
    const count_job *job = argument;
    count_own *own = w->own;

    own->tally = (count_tally){ .asked = 0 };
    own->length = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, w->batch); )
        if (!count_batch(job, w->batch, own))
            return false;
    return true;
}

static void count_clean(void *argument)
{
    count_own *own = argument;

    free(own->text);
}

/* ==== A chunk, in its turn ============================================== */

/* False: output has failed. */
static bool count_print(count_job *job, const cli_worker *w)
{
    const count_own *own = w->own;
    char terminator = job->want.how.null ? '\0' : '\n';

    return output_lines(own->text, own->length, terminator, &job->unended)
        && (!w->chunk.idle || output_flush());
}

static int count_commit(void *argument, cli_worker *w)
{
    count_job *job = argument;
    const count_own *own = w->own;

    if (w->chunk.error != 0) {          /* the other files are still asked */
        lines_refuse(w->chunk.path, w->chunk.error);
        job->failed = true;
        return CLI_GO;
    }
    if (w->failed)
        return work_no_memory();
    job->tally.asked += own->tally.asked;
    job->tally.there += own->tally.there;
    job->tally.unbounded += own->tally.unbounded;
    job->tally.sum += own->tally.sum;
    job->tally.keyless += own->tally.keyless;
    progress_at(job->tally.asked, w->chunk.bytes);
    return count_print(job, w) ? CLI_GO : CLI_ERROR;
}

static int count_all(count_job *job)
{
    static const cli_work work = { sizeof(count_own), count_work, count_commit,
                                   count_clean };
    int status = work_run(&job->lines, &work, job, work_jobs(job->want.jobs));

    if (status != CLI_GO)
        return status;
    if (job->failed)
        return CLI_ERROR;
    return job->tally.there > 0 ? CLI_OK : CLI_NONE;
}

/* ==== The command ======================================================= */

static void count_json(const count_job *job, const char *file, double seconds)
{
    json_open_object(NULL);
    json_string("file", file);
    json_count("keys", job->tally.asked);
    json_count("present", job->tally.there);
    json_count("sum", job->tally.sum);
    json_count("unbounded", job->tally.unbounded);
    json_count("keyless", job->tally.keyless);
    json_real("seconds", seconds);
    json_real("keys_per_second", report_per_second(job->tally.asked, seconds));
    json_close_object();
}

static int count_job_run(count_job *job, const cli_operands *operands)
{
    double start = report_clock();
    int status;

    progress_start("counting", lines_size(&job->lines),
                   !job->want.no_progress);
    status = count_all(job);
    progress_end();
    if (job->want.json)
        count_json(job, operands->names[0], report_clock() - start);
    return status;
}

static int count_run(const cli_command *self, int argc, char **argv)
{
    count_job job = { .want.how.separator = -1 };
    cli_operands operands;
    bly_filter *filter;
    int status = options_read(self, argc, argv, &job.want, &operands);

    if (status == CLI_GO)
        status = lines_how_check(self, &job.want.how);
    if (status == CLI_GO)
        status = lines_asked_check(self, &operands);
    if (status != CLI_GO)
        return status;
    filter = filter_map(operands.names[0], 0);
    if (filter == NULL)
        return CLI_ERROR;
    if (filter_can(filter, "count")) {
        job.filter = filter;
        lines_open(&job.lines, &job.want.how, &operands, 1, true);
        status = count_job_run(&job, &operands);
        lines_close(&job.lines);
    } else {
        status = report_error("'%s' is of a kind that does not count: 'bloomery "
                              "kinds' lists what each can do",
                              operands.names[0]);
    }
    bly_free(filter);
    return status;
}

const cli_command cmd_count = {
    .name = "count",
    .operands = "FILE [KEYS...]",
    .summary = "print how often the key of each line was added",
    .text =
        "Reads lines from the files KEYS (or standard input) and prints each "
        "with a number and a TAB before it: how often its key was added to the "
        "filter FILE and not removed, at most. The number is never too low; 0 "
        "is certain. A '?' says that the key is perhaps there but its counters "
        "are at their largest value, so that no bound is known.\n\n"
        "The filter must be of a kind that counts: see 'bloomery kinds'.",
    .options = count_options,
    .examples = count_examples,
    .status = "0 if a key is perhaps there, 1 if none is, 2 after an error.",
    .run = count_run,
};
