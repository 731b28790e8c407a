/* change.c - shared by `add`, `remove` and `put`.
 *
 * The file is locked, read, changed in memory and replaced. Another change of
 * the same file waits for the lock and then reads the result, so neither loses
 * keys. Large files are changed in place (paged.c), under the same lock.
 */
#include "bloomery/command.h"
#include "frame/options.h"
#include "frame/strange.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    cli_how  how;
    cli_how  list_how;          /* of the witness                           */
    cli_inputs inputs;
    cli_operands witness;       /* names from malloc                        */
    uint64_t jobs, memory;
    const char *key_file, *format;
    uint64_t    unpack_limit;
    bool     verbose, json, no_progress, overfill;
} change_settings;

#define CHANGE_OPTIONS                                                        \
    CLI_FILES_OPTIONS(change_settings, inputs),                               \
    CLI_HOW_OPTIONS(change_settings, how),                                    \
    CLI_JOBS_OPTION(change_settings, jobs),                                   \
    CLI_SECRET_OPTION(change_settings, key_file),                             \
    CLI_FORMAT_OPTION(change_settings, format),                               \
    CLI_UNPACK_OPTION(change_settings, unpack_limit),                         \
    { 0, "verbose", NULL, CLI_FLAG, offsetof(change_settings, verbose),       \
      false, "Print what was done on standard error.",                        \
      .group = CLI_OUTPUT },                                                  \
    { 0, "json", NULL, CLI_FLAG, offsetof(change_settings, json), false,      \
      "Print what the filter is now as a JSON object.",                       \
      .group = CLI_OUTPUT },                                                  \
    CLI_NO_PROGRESS_OPTION(change_settings, no_progress),                     \
    { 0 }

const cli_option change_remove_options[] = {
    { 0, "witness", "LIST", CLI_LIST, offsetof(change_settings, witness),
      false, "Remove only keys that LIST has, a file of exactly the keys that "
      "are in the filter now. A key is removed at most as often as LIST has "
      "it. LIST is read once, by the same options as KEYS. May be repeated." },
    CLI_KEY_OPTION(change_settings, inputs),
    CHANGE_OPTIONS
};

const cli_option change_label_options[] = {
    CLI_LABEL_OPTION(change_settings, how, "Default: 1."),
    CLI_OVERFILL_OPTION(change_settings, overfill),
    CHANGE_OPTIONS
};

const cli_option change_add_options[] = {
    CLI_MEMORY_OPTION(change_settings, memory),
    CLI_OVERFILL_OPTION(change_settings, overfill),
    CLI_KEY_OPTION(change_settings, inputs),
    CHANGE_OPTIONS
};

/* A change of a file: in place, page by page, or in memory, where many threads
 * may add at once. */
typedef struct {
    const cli_change      *how;
    const change_settings *want;
    const char            *path;
    int                    lock;
    bool                   paged, shared;
} change_job;

static int change_save(const change_job *job, bly_filter *filter)
{
    int status = job->paged && bly_seal(filter) < 0
               ? filter_error() : filter_check_lock(job->lock, job->path);

    return status != CLI_OK || job->paged ? status
                                          : filter_save(filter, job->path);
}

/* Removes the keys that the witness has. Keys of --key are whole lines, but its
 * lines may have columns. */
static int change_witness(const change_job *job, const cli_operands *operands,
                          const cli_how *how, bly_filter *filter, cli_fed *fed)
{
    const change_settings *s = job->want;
    cli_how list = how->given.data != NULL ? s->list_how : *how;
    cli_witness want = {
        .how = how, .keys = operands, .first = 1, .list_how = &list,
        .list = &s->witness, .jobs = work_jobs(s->jobs),
        .progress = !s->no_progress,
    };

    list.found = NULL;
    if (how->given.data != NULL
        && forms_follow(&list, bly_form_of(filter), job->path) != CLI_GO)
        return CLI_ERROR;
    return witness_out(filter, &want, fed);
}

/* Adds or removes the keys. */
static int change_feed(const change_job *job, const cli_operands *operands,
                       bly_filter *filter, cli_fed *fed)
{
    const change_settings *s = job->want;
    cli_feed *feed = job->shared ? feed_shared : job->how->feed;
    cli_how how = s->how;
    cli_lines lines;
    int status;

    if (forms_follow(&how, bly_form_of(filter), job->path) != CLI_GO
        || typed_check(filter, how.form, job->path) != CLI_GO)
        return CLI_ERROR;
    if (s->witness.count > 0)
        return change_witness(job, operands, &how, filter, fed);
    fed->full = filter_can(filter, BLY_CAN_RESIZE)
              ? "make room with 'bloomery resize'"
              : "build a new filter with a larger -n";
    fed->overfill = s->overfill;
    lines_open(&lines, &how, operands, 1, false);
    status = feed(filter, &lines, work_jobs(s->jobs), !s->no_progress, fed);
    lines_close(&lines);
    return status;
}

/* Applies the change; the filter is open and the file locked. */
static int change_keys(const change_job *job, const cli_operands *operands,
                       bly_filter *filter)
{
    const change_settings *s = job->want;
    cli_feed_report report = {
        .output = job->path, .advice = "build a new filter with a larger -n",
        .overfill = "add the other keys with --overfill",
        .verbose = s->verbose, .json = s->json,
    };
    cli_fed fed;
    uint64_t left;
    int status = change_feed(job, operands, filter, &fed);

    if (status != CLI_OK)
        return status;
    left = fed.absent + fed.unsafe + fed.unlisted;
    if (job->paged || fed.keys > left)
        status = change_save(job, filter);              /* otherwise the
                                                           file is unchanged */
    if (status != CLI_OK)
        return status;
    if (report_some(fed.keys, fed.keyless) == CLI_ERROR
        || feed_report(filter, &fed, &report) != CLI_OK
        || (fed.keys == 0 && strange_lost()))
        return CLI_ERROR;
    return left > 0 ? CLI_NONE : CLI_OK;
}

/* Verifies the files of the witness, which are more input. CLI_GO or
 * CLI_ERROR. */
static int change_check_witness(const cli_command *self, change_settings *s,
                                const cli_operands *operands)
{
    size_t theirs = 0;

    if (s->witness.count == 0)
        return CLI_GO;
    for (size_t i = 0; i < s->witness.count; i++)
        theirs += inputs_is_stdin(s->witness.names[i]);
    if (theirs > 0 && inputs_stdin(&s->inputs, operands, 1))
        return options_wrong(self, "KEYS and --witness cannot both be read "
                                   "from standard input");
    if (theirs > 1)
        return options_wrong(self, "--witness names standard input twice");
    s->list_how.listing = true;
    if (how_check(self, &s->list_how) != CLI_GO)
        return CLI_ERROR;
    return filter_check_output(operands->names[0], true, &s->witness, 0);
}

static int change_check(const cli_command *self, const cli_change *how,
                        change_settings *s, const cli_operands *operands)
{
    int status;

    s->how.listing = true;
    s->how.nests = how->feed != feed_put && s->witness.count == 0;
    status = how_check(self, &s->how);

    if (status == CLI_GO)
        status = paged_memory_check(s->memory);
    if (status != CLI_GO)
        return status;
    if (operands->count == 0)
        return options_wrong(self, how->missing);
    if (strcmp(operands->names[0], "-") == 0)
        return options_wrong(self, "a filter from a pipe cannot be changed in "
                                   "place; name a file");
    status = filter_how_read(s->key_file, s->format, s->unpack_limit);
    if (status == CLI_GO)
        status = filter_check_output(operands->names[0], true, operands, 1);
    return status == CLI_GO ? change_check_witness(self, s, operands) : status;
}

/* Opens the locked file, if its kind supports the change. */
static bly_filter *change_open(const change_job *job)
{
    uint64_t ability = job->how->ability;
    bly_filter *filter;

    if (job->paged)
        return paged_open(job->path, job->want->memory);
    if (job->want->memory > 0) {
        report_error("'%s' is not of a kind that consists of pages: leave out "
                     "--memory", job->path);
        return NULL;
    }
    filter = load_whole(job->path, job->shared ? BLY_SHARED : 0);
    if (filter == NULL || filter_can(filter, ability))
        return filter;
    filter_cannot(filter, job->path, job->how->lacks, ability);
    bly_free(filter);
    return NULL;
}

static void change_way(change_job *job)
{
    bly_header header;

    if (job->how->feed != feed_filter)
        return;
    job->paged = paged_wanted(job->path, job->want->memory);
    job->shared = !job->paged && filter_peek(&header, job->path)
               && filter_shares(header.kind, header.bytes,
                                work_jobs(job->want->jobs));
}

/* Refuses a pipe: reading would empty it or wait for it, and saving would
 * replace it with a file. */
static int change_check_file(const char *path)
{
    struct stat about;

    return stat(path, &about) < 0 || S_ISREG(about.st_mode) ? CLI_GO
         : report_error("'%s' is not a regular file, so the filter cannot be "
                        "changed in it: copy it to a regular file", path);
}

static int change_file(change_job *job, const cli_operands *operands)
{
    int status = CLI_ERROR;
    bly_filter *filter;

    if (change_check_file(job->path) != CLI_GO)
        return CLI_ERROR;
    job->lock = filter_lock(job->path);
    if (job->lock < 0)
        return CLI_ERROR;
    change_way(job);
    filter = change_open(job);
    if (filter != NULL)
        status = change_keys(job, operands, filter);
    bly_free(filter);
    close(job->lock);
    return status;
}

int change_run(const cli_command *self, const cli_change *how, int argc,
               char **argv)
{
    change_settings s = { .how = CLI_HOW_UNSAID };
    change_job job = { .how = how, .want = &s };
    cli_operands operands;
    int status;

    s.how.label = (cli_columns){ .n = how->label > 0,
                                 .numbers = { how->label } };
    status = options_read(self, argc, argv, &s, &operands);
    s.list_how = s.how;
    if (status == CLI_GO)
        status = inputs_take(self, &s.inputs, &s.how, &operands, 1);
    if (status == CLI_GO)
        status = change_check(self, how, &s, &operands);
    if (status == CLI_GO) {
        job.path = operands.names[0];
        status = change_file(&job, &operands);
    }
    inputs_end(&s.inputs, status != CLI_ERROR);
    free(s.witness.names);
    return status;
}
