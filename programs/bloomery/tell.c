/* tell.c - what `count` and `get` have in common: a number before each line.
 *
 * All threads split lines, hash, ask and write the answers of a chunk; they
 * are printed in the order of the input. Floor 8; includes its own folder's,
 * the frame's and the library's headers only.
 */
#include "bloomery/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t asked, there, unbounded, sum, keyless;
} tell_tally;

/* On its way. */
typedef struct {
    const cli_tell   *how;
    cli_tell_settings want;
    const bly_filter *filter;
    cli_lines         lines;
    tell_tally        tally;
    bool              unended;      /* the last line printed lacks its end */
    bool              failed;       /* a file could not be read */
} tell_job;

/* A worker's chunk: its answers, and what is to be printed. */
typedef struct {
    tell_tally tally;
    char      *text;
    size_t     length, room;
    bool       there[LINES_MOST];
    uint64_t   numbers[LINES_MOST];
} tell_own;

/* ==== A chunk, in any thread ============================================ */

static bool tell_room(tell_own *own, size_t more)
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
static bool tell_write(tell_own *own, uint64_t number, bool bounded,
                       const bly_key *line)
{
    enum { LONGEST = 24 };

    if (!tell_room(own, LONGEST + line->length))
        return false;
    own->length += (size_t)(bounded
        ? snprintf(own->text + own->length, LONGEST, "%" PRIu64 "\t", number)
        : snprintf(own->text + own->length, LONGEST, "?\t"));
    memcpy(own->text + own->length, line->data, line->length);
    own->length += line->length;
    return true;
}

static void tell_ask(const tell_job *job, const cli_batch *b, tell_own *own)
{
    job->how->ask(job->filter, b->keys, b->n, own->there, own->numbers);
    for (size_t i = 0; i < b->n; i++) {
        own->there[i] &= b->keys[i].data != NULL;
        own->tally.there += own->there[i];
    }
    own->tally.asked += b->n - b->keyless;
    own->tally.keyless += b->keyless;
}

static bool tell_batch(const tell_job *job, const cli_batch *b, tell_own *own)
{
    bool counts = job->how->counts;

    tell_ask(job, b, own);
    for (size_t i = 0; i < b->n; i++) {
        uint64_t number = own->there[i] ? own->numbers[i] : 0;
        bool bounded = !counts || number < UINT64_MAX;
        bool shown = counts ? number >= job->want.least : own->there[i];

        own->tally.unbounded += !bounded;
        own->tally.sum += bounded ? number : 0;
        if (shown && !job->want.json
            && !tell_write(own, number, bounded, &b->lines[i]))
            return false;
    }
    return true;
}

static bool tell_work(void *argument, cli_worker *w)
{
    const tell_job *job = argument;
    tell_own *own = w->own;

    own->tally = (tell_tally){ .asked = 0 };
    own->length = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, w->batch); )
        if (!tell_batch(job, w->batch, own))
            return false;
    return true;
}

static void tell_clean(void *argument)
{
    tell_own *own = argument;

    free(own->text);
}

/* ==== A chunk, in its turn ============================================== */

/* False: output has failed. */
static bool tell_print(tell_job *job, const cli_worker *w)
{
    const tell_own *own = w->own;
    char terminator = job->want.how.null ? '\0' : '\n';

    return output_lines(own->text, own->length, terminator, &job->unended)
        && (!w->chunk.idle || output_flush());
}

static int tell_commit(void *argument, cli_worker *w)
{
    tell_job *job = argument;
    const tell_own *own = w->own;

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
    return tell_print(job, w) ? CLI_GO : CLI_ERROR;
}

static int tell_all(tell_job *job)
{
    static const cli_work work = { sizeof(tell_own), tell_work, tell_commit,
                                   tell_clean };
    int status = work_run(&job->lines, &work, job, work_jobs(job->want.jobs));

    if (status != CLI_GO)
        return status;
    if (job->failed)
        return CLI_ERROR;
    return job->tally.there > 0 ? CLI_OK : CLI_NONE;
}

/* ==== The command ======================================================= */

static void tell_json(const tell_job *job, const char *file, double seconds)
{
    json_open_object(NULL);
    json_string("file", file);
    json_count("keys", job->tally.asked);
    json_count("present", job->tally.there);
    if (job->how->counts) {
        json_count("sum", job->tally.sum);
        json_count("unbounded", job->tally.unbounded);
    }
    json_count("keyless", job->tally.keyless);
    json_real("seconds", seconds);
    json_real("keys_per_second", report_per_second(job->tally.asked, seconds));
    json_close_object();
}

static int tell_job_run(tell_job *job, const cli_operands *operands)
{
    double start = report_clock();
    int status;

    lines_open(&job->lines, &job->want.how, operands, 1, true);
    progress_start(job->how->doing, lines_size(&job->lines),
                   !job->want.no_progress);
    status = tell_all(job);
    progress_end();
    lines_close(&job->lines);
    if (job->want.json)
        tell_json(job, operands->names[0], report_clock() - start);
    return status;
}

int tell_run(const cli_command *self, const cli_tell *how, int argc,
             char **argv)
{
    tell_job job = { .how = how, .want.how.separator = -1 };
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
    job.filter = filter;
    status = filter_can(filter, how->ability)
           ? tell_job_run(&job, &operands)
           : report_error("'%s' is of a kind that %s: 'bloomery kinds' lists "
                          "what each can do", operands.names[0], how->lacks);
    bly_free(filter);
    return status;
}
