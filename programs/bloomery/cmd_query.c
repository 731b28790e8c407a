/* cmd_query.c - `bloomery query`: the lines whose key is perhaps there.
 *
 * grep, with a filter for a pattern. All threads split lines, hash and ask;
 * each moves the lines it selects to the front of its chunk, from where they
 * are printed in the order of the input. When the next read may wait for a
 * slow writer, what has been found goes out first. Floor 8; includes its own
 * folder's, the frame's and the library's headers only.
 */
#include "bloomery/command.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    cli_how  how;
    uint64_t jobs;
    bool     invert, count, quiet, summary, json, no_progress, paged;
} query_settings;

/* A query on its way. */
typedef struct {
    query_settings    want;
    const bly_filter *filter;
    cli_lines         lines;
    cli_asked       tally;
    bool              unended;      /* the last line printed lacks its end */
    bool              failed;       /* a file could not be read */
} query_job;

/* A worker's chunk: what is selected stands at its front. */
typedef struct {
    cli_asked tally;
    size_t      out;                /* bytes selected */
    bool        present[LINES_MOST];
} query_own;

static const cli_option query_options[] = {
    { 'v', "invert", NULL, CLI_FLAG, offsetof(query_settings, invert), false,
      "Select the lines whose key is certainly not in FILE." },
    { 'c', "count", NULL, CLI_FLAG, offsetof(query_settings, count), false,
      "Print only how many lines were selected." },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(query_settings, quiet), false,
      "Print nothing; stop at the first line selected." },
    { 'S', "summary", NULL, CLI_FLAG, offsetof(query_settings, summary), false,
      "Print no lines, but how many keys were asked for, the share that is "
      "perhaps there with its 95 % interval, and the speed." },
    { 0, "json", NULL, CLI_FLAG, offsetof(query_settings, json), false,
      "The summary as a JSON object." },
    { 0, "paged", NULL, CLI_FLAG, offsetof(query_settings, paged), false,
      "Read FILE page by page instead of mapping it, as it is done in any case "
      "with one of more than half the memory whose kind consists of pages." },
    CLI_HOW_OPTIONS(query_settings, how),
    CLI_JOBS_OPTION(query_settings, jobs),
    { 0, "no-progress", NULL, CLI_FLAG, offsetof(query_settings, no_progress),
      false, "Show no progress on the terminal." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example query_examples[] = {
    { "bloomery query words.bly text.txt",
      "The lines of text.txt that are perhaps in words.bly." },
    { "bloomery query -v seen.bly < urls | crawl",
      "Lines that are certainly new." },
    { "bloomery query -f 3 -t , -c ids.bly table.csv",
      "How many lines have a third column that is perhaps in ids.bly." },
    { "bloomery query --json words.bly others.txt",
      "Ask for keys that are not in the filter: 'share' is then its measured "
      "false-positive rate." },
    { NULL, NULL }
};

/* ==== A chunk, in any thread ============================================ */

static bool query_prints_lines(const query_settings *s)
{
    return !s->count && !s->quiet && !s->summary && !s->json;
}

static void query_ask(const query_job *job, const cli_batch *b, query_own *own)
{
    bly_contains_keys(job->filter, &(bly_keys){.n = b->n, .keys = b->keys},
                      own->present);
    for (size_t i = 0; i < b->n; i++) {
        bool keyed = b->keys[i].data != NULL;

        own->present[i] &= keyed;
        own->tally.there += own->present[i];
        own->tally.selected += own->present[i] != job->want.invert;
    }
    own->tally.asked += b->n - b->keyless;
    own->tally.keyless += b->keyless;
}

/* Lines `from` to `to` of the batch, which lie side by side, go to the end of
 * what is selected already, at or before the place where they are. */
static void query_move(cli_worker *w, size_t from, size_t to)
{
    query_own *own = w->own;
    const bly_key *lines = w->batch->lines, *last = &lines[to - 1];
    const unsigned char *first = lines[from].data;
    const unsigned char *end = (const unsigned char *)last->data + last->length;

    memmove(w->chunk.block + own->out, first, (size_t)(end - first));
    own->out += (size_t)(end - first);
}

static void query_move_selected(const query_job *job, cli_worker *w)
{
    const query_own *own = w->own;
    size_t n = w->batch->n, from, to;

    for (from = 0; from < n; from = to) {
        bool selected = own->present[from] != job->want.invert;

        for (to = from + 1; to < n; to++)
            if ((own->present[to] != job->want.invert) != selected)
                break;
        if (selected)
            query_move(w, from, to);
    }
}

static bool query_work(void *argument, cli_worker *w)
{
    const query_job *job = argument;
    query_own *own = w->own;

    own->tally = (cli_asked){ .asked = 0 };
    own->out = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, w->batch); ) {
        query_ask(job, w->batch, own);
        if (query_prints_lines(&job->want))
            query_move_selected(job, w);
    }
    return true;
}

/* ==== A chunk, in its turn ============================================== */

/* False: output has failed. */
static bool query_print(query_job *job, const cli_worker *w)
{
    const query_own *own = w->own;
    char terminator = job->want.how.null ? '\0' : '\n';

    return output_lines(w->chunk.block, own->out, terminator, &job->unended)
        && (!w->chunk.idle || output_flush());
}

static int query_commit(void *argument, cli_worker *w)
{
    query_job *job = argument;
    const query_own *own = w->own;

    if (w->chunk.error != 0) {          /* the other files are still asked */
        lines_refuse(w->chunk.path, w->chunk.error);
        job->failed = true;
        return CLI_GO;
    }
    job->tally.asked += own->tally.asked;
    job->tally.there += own->tally.there;
    job->tally.selected += own->tally.selected;
    job->tally.keyless += own->tally.keyless;
    progress_at(job->tally.asked, w->chunk.bytes);
    if (job->want.quiet && job->tally.selected > 0)
        return CLI_OK;
    return query_print(job, w) ? CLI_GO : CLI_ERROR;
}

static int query_all(query_job *job)
{
    static const cli_work work = { sizeof(query_own), query_work, query_commit,
                                   NULL };
    int status = work_run(&job->lines, &work, job, work_jobs(job->want.jobs));

    if (status != CLI_GO)
        return status;
    if (job->failed)
        return CLI_ERROR;
    return job->tally.selected > 0 ? CLI_OK : CLI_NONE;
}

/* ==== The report ======================================================== */

static void query_report(const query_job *job, const char *file,
                         double seconds)
{
    bly_stat_t stat;

    if (job->want.count && !job->want.quiet)
        output_format("%" PRIu64 "\n", job->tally.selected);
    if (!job->want.json && !job->want.summary)
        return;
    if (bly_stat(&stat, job->filter) < 0) {
        filter_error();
        return;
    }
    if (job->want.json)
        asked_json(&job->tally, file, stat.planned_rate, seconds);
    else
        asked_text(&job->tally, stat.planned_rate, seconds);
}

/* ==== The command ======================================================= */

static int query_job_run(query_job *job, const cli_operands *operands)
{
    double start = report_clock();
    int status;

    progress_start("asking", lines_size(&job->lines), !job->want.no_progress);
    status = query_all(job);
    progress_end();
    query_report(job, operands->names[0], report_clock() - start);
    return status;
}

static int query_check(const cli_command *self, const query_settings *s,
                       const cli_operands *operands)
{
    int status = lines_how_check(self, &s->how);

    if (status == CLI_GO)
        status = lines_asked_check(self, operands);
    if (status != CLI_GO)
        return status;
    if ((s->json || s->summary) && (s->invert || s->count || s->quiet))
        return options_wrong(self, "a summary counts all keys; it goes not "
                                   "with -v, -c or -q");
    return CLI_GO;
}

static int query_run(const cli_command *self, int argc, char **argv)
{
    query_job job = { .want.how.separator = -1 };
    cli_operands operands;
    bly_filter *filter;
    int status = options_read(self, argc, argv, &job.want, &operands);

    if (status == CLI_GO)
        status = query_check(self, &job.want, &operands);
    if (status != CLI_GO)
        return status;
    filter = paged_ask(operands.names[0], job.want.paged);
    if (filter == NULL)
        return CLI_ERROR;
    job.filter = filter;
    lines_open(&job.lines, &job.want.how, &operands, 1, true);
    status = query_job_run(&job, &operands);
    lines_close(&job.lines);
    if (bly_sync(filter) < 0)          /* a page could not be read */
        status = filter_error();
    bly_free(filter);
    return status;
}

const cli_command cmd_query = {
    .name = "query",
    .operands = "FILE [KEYS...]",
    .summary = "print the lines whose key is perhaps in a filter",
    .text =
        "Reads lines from the files KEYS (or standard input) and prints those "
        "whose key is perhaps in the filter FILE, in their order and as they "
        "are, like grep. No key that was added is missed; of the others a "
        "small share, the filter's false-positive rate, is printed too. With "
        "-v the lines are printed whose key is certainly not there.\n\n"
        "A line without the column of -f has no key: it is not there, and -v "
        "prints it. A file of KEYS that cannot be read is reported, and the "
        "others are still asked.",
    .options = query_options,
    .examples = query_examples,
    .status = "0 if a line was selected, 1 if none was, 2 after an error.",
    .run = query_run,
};
