/* ask.c - what `query`, `count` and `get` have in common: a filter is asked for
 * the key of each line.
 *
 * All threads split lines, hash and ask, and select among the lines of their
 * chunk; what is selected is printed in the order of the input. Lines that are
 * printed as they are move to the front of the chunk; those with a number
 * before them are written behind one another elsewhere. When the next read may
 * wait for a slow writer, what has been found goes out first. Floor 8; includes
 * command.h only.
 */
#include "bloomery/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A worker's chunk: what is known of its keys, and what is to be printed. */
typedef struct {
    ask_tally tally;
    char     *text;             /* lines with numbers                      */
    size_t    length, room;     /* bytes of it, or at the chunk's front    */
    bool      there[LINES_MOST];
    uint64_t  numbers[LINES_MOST];
} ask_own;

/* ==== A chunk, in any thread ============================================ */

static bool ask_prints(const ask_settings *s)
{
    return !s->count && !s->quiet && !s->summary && !s->json;
}

static void ask_filter(const ask_job *job, const cli_batch *b, ask_own *own)
{
    const bly_keys keys = { .n = b->n, .keys = b->keys };

    job->how->ask(job->filter, &keys, own->there, own->numbers);
    for (size_t i = 0; i < b->n; i++) {
        own->there[i] &= b->keys[i].data != NULL;
        own->tally.keys.there += own->there[i];
        own->tally.keys.selected += own->there[i] != job->want.invert;
    }
    own->tally.keys.asked += b->n - b->keyless;
    own->tally.keys.keyless += b->keyless;
}

/* ---- Lines as they are -------------------------------------------------- */

/* Lines `from` to `to` of the batch, which lie side by side, go to the end of
 * what is selected already, at or before the place where they are. */
static void ask_move(cli_worker *w, size_t from, size_t to)
{
    ask_own *own = w->own;
    const bly_key *lines = w->batch->lines, *last = &lines[to - 1];
    const unsigned char *first = lines[from].data;
    const unsigned char *end = (const unsigned char *)last->data + last->length;

    memmove(w->chunk.block + own->length, first, (size_t)(end - first));
    own->length += (size_t)(end - first);
}

static void ask_select(const ask_job *job, cli_worker *w)
{
    const ask_own *own = w->own;
    size_t n = w->batch->n, from, to;

    for (from = 0; from < n; from = to) {
        bool selected = own->there[from] != job->want.invert;

        for (to = from + 1; to < n; to++)
            if ((own->there[to] != job->want.invert) != selected)
                break;
        if (selected)
            ask_move(w, from, to);
    }
}

/* ---- Lines with a number before them ------------------------------------ */

static bool ask_room(ask_own *own, size_t more)
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

/* The number, a TAB and the line. */
static bool ask_write(ask_own *own, uint64_t number, bool bounded,
                      const bly_key *line)
{
    enum { LONGEST = 24 };

    if (!ask_room(own, LONGEST + line->length))
        return false;
    own->length += (size_t)(bounded
        ? snprintf(own->text + own->length, LONGEST, "%" PRIu64 "\t", number)
        : snprintf(own->text + own->length, LONGEST, "?\t"));
    memcpy(own->text + own->length, line->data, line->length);
    own->length += line->length;
    return true;
}

static bool ask_select_numbers(const ask_job *job, cli_worker *w)
{
    bool counts = job->how->answer == ASK_COUNTS;
    bool prints = ask_prints(&job->want);
    ask_own *own = w->own;

    for (size_t i = 0; i < w->batch->n; i++) {
        uint64_t number = own->there[i] ? own->numbers[i] : 0;
        bool bounded = !counts || number < UINT64_MAX;
        bool shown = counts ? number >= job->want.least : own->there[i];

        own->tally.unbounded += !bounded;
        own->tally.sum += bounded ? number : 0;
        if (shown && prints
            && !ask_write(own, number, bounded, &w->batch->lines[i]))
            return false;
    }
    return true;
}

static bool ask_work(void *argument, cli_worker *w)
{
    const ask_job *job = argument;
    ask_own *own = w->own;

    own->tally = (ask_tally){ .sum = 0 };
    own->length = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, w->batch); ) {
        ask_filter(job, w->batch, own);
        if (job->how->answer != ASK_LINES) {
            if (!ask_select_numbers(job, w))
                return false;
        } else if (ask_prints(&job->want)) {
            ask_select(job, w);
        }
    }
    return true;
}

static void ask_clean(void *argument)
{
    ask_own *own = argument;

    free(own->text);
}

/* ==== A chunk, in its turn ============================================== */

/* False: output has failed. */
static bool ask_print(ask_job *job, const cli_worker *w)
{
    const ask_own *own = w->own;
    const void *text = own->text;
    char terminator = job->want.how.null ? '\0' : '\n';

    if (job->how->answer == ASK_LINES)
        text = w->chunk.block;
    return output_lines(text, own->length, terminator, &job->unended)
        && (!w->chunk.idle || output_flush());
}

static void ask_add_up(ask_tally *sum, const ask_tally *more)
{
    sum->keys.asked += more->keys.asked;
    sum->keys.there += more->keys.there;
    sum->keys.selected += more->keys.selected;
    sum->keys.keyless += more->keys.keyless;
    sum->unbounded += more->unbounded;
    sum->sum += more->sum;
}

static int ask_commit(void *argument, cli_worker *w)
{
    ask_job *job = argument;
    const ask_own *own = w->own;

    if (w->chunk.error != 0) {          /* the other files are still asked */
        lines_refuse(w->chunk.path, w->chunk.error);
        job->failed = true;
        return CLI_GO;
    }
    if (w->failed)
        return work_no_memory();
    if (damage_seen())
        return CLI_ERROR;
    ask_add_up(&job->tally, &own->tally);
    damage_asked(job->tally.keys.asked, w->chunk.idle && job->streams);
    progress_at(job->tally.keys.asked, w->chunk.bytes);
    if (job->want.quiet && job->tally.keys.selected > 0)
        return CLI_OK;
    return ask_print(job, w) ? CLI_GO : CLI_ERROR;
}

/* ==== All of it ========================================================= */

/* Another thread might wait for more of a pipe when the first line selected is
 * there, and that is to be the end. */
static size_t ask_jobs(const ask_job *job)
{
    return job->want.quiet && job->streams ? 1 : work_jobs(job->want.jobs);
}

static int ask_lines(ask_job *job)
{
    static const cli_work work = { sizeof(ask_own), ask_work, ask_commit,
                                   ask_clean };
    int status = work_run(&job->lines, &work, job, ask_jobs(job));

    if (status != CLI_GO)
        return status;
    if (job->failed)
        return CLI_ERROR;
    return job->tally.keys.selected > 0 ? CLI_OK : CLI_NONE;
}

int ask_run(ask_job *job, const cli_operands *operands)
{
    double start = report_clock();
    uint64_t total;
    int status;

    lines_open(&job->lines, &job->want.how, operands, 1, true);
    total = lines_size(&job->lines);
    job->streams = total == 0;
    progress_start(job->how->doing, total,
                   !job->want.no_progress
                   && (!ask_prints(&job->want) || progress_apart()));
    status = ask_lines(job);
    progress_end();
    if (job->tally.keys.asked == 0 && !job->want.quiet)
        report_no_key(job->tally.keys.keyless);
    lines_close(&job->lines);
    job->seconds = report_clock() - start;
    return damage_verdict(job->filter, status);
}

/* Nothing may go into the filter's file, and no lines into the keys'. */
static int ask_check_output(const ask_settings *want,
                            const cli_operands *operands)
{
    int status = output_check_inputs(operands->names, 1);

    return status == CLI_GO && ask_prints(want)
         ? output_check_inputs(operands->names + 1, operands->count - 1)
         : status;
}

int ask_options(const cli_command *self, int argc, char **argv,
                ask_settings *want, cli_operands *operands)
{
    int status;

    want->how.separator = -1;
    status = options_read(self, argc, argv, want, operands);
    if (status == CLI_GO)
        status = lines_how_check(self, &want->how);
    if (status == CLI_GO)
        status = lines_asked_check(self, operands);
    if (status == CLI_GO)
        status = ask_check_output(want, operands);
    if (status == CLI_GO)
        status = damage_options(self, &want->verify);
    if (status == CLI_GO)
        status = secret_read(want->key_file);
    return status;
}

/* ==== Numbers =========================================================== */

static void ask_json(const ask_job *job, const char *file)
{
    const ask_tally *t = &job->tally;

    json_open_object(NULL);
    json_string("file", file);
    json_count("keys", t->keys.asked);
    json_count("present", t->keys.there);
    if (job->how->answer == ASK_COUNTS) {
        json_count("sum", t->sum);
        json_count("unbounded", t->unbounded);
    }
    json_count("keyless", t->keys.keyless);
    json_real("seconds", job->seconds);
    json_real("keys_per_second", report_per_second(t->keys.asked,
                                                   job->seconds));
    json_close_object();
}

static int ask_run_numbers(ask_job *job, const cli_operands *operands)
{
    int status = ask_run(job, operands);

    if (job->want.json && !damage_seen())
        ask_json(job, operands->names[0]);
    return status;
}

int ask_numbers(const cli_command *self, const ask_how *how,
                uint64_t ability, const char *lacks, int argc, char **argv)
{
    ask_job job = { .how = how };
    cli_operands operands;
    int status = ask_options(self, argc, argv, &job.want, &operands);

    if (status != CLI_GO)
        return status;
    job.filter = damage_open(operands.names[0], &job.want.verify, false);
    if (job.filter == NULL)
        return CLI_ERROR;
    if (!filter_can(job.filter, ability))
        status = filter_cannot(job.filter, operands.names[0], lacks, ability);
    else
        status = ask_run_numbers(&job, &operands);
    bly_free(job.filter);
    return status;
}
