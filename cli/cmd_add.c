/* cmd_add.c - `bloomery add`: more keys into a filter file.
 *
 * The file is locked, read, changed in memory and saved in its own place.
 * Another `add` of the same file waits for the lock and then reads what this
 * one has saved, so neither loses keys. Floor 7; includes cli.h and
 * <bloomery.h> only.
 */
#include "cli.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    cli_how  how;
    uint64_t jobs;
    bool     verbose, json, no_progress;
} add_settings;

static const cli_option add_options[] = {
    CLI_HOW_OPTIONS(add_settings, how),
    CLI_JOBS_OPTION(add_settings, jobs),
    { 'v', "verbose", NULL, CLI_FLAG, offsetof(add_settings, verbose), false,
      "Say on standard error what was added." },
    { 0, "json", NULL, CLI_FLAG, offsetof(add_settings, json), false,
      "Print what the filter is now as a JSON object." },
    { 0, "no-progress", NULL, CLI_FLAG, offsetof(add_settings, no_progress),
      false, "Show no progress on the terminal." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example add_examples[] = {
    { "bloomery add words.bly new-words.txt", "Add the words of a file." },
    { "tail -n 1000 log | bloomery add -f 1 -t ' ' seen.bly",
      "Add the first column of lines from a pipe." },
    { NULL, NULL }
};

/* With the filter open and the file locked. Nothing new: nothing is saved. */
static int add_keys(const add_settings *s, const cli_operands *operands,
                    bly_filter *filter)
{
    const char *path = operands->names[0];
    cli_feed_report how = { path, "build a new filter with a larger -n",
                            s->verbose, s->json };
    cli_lines lines;
    cli_fed fed;
    int status;

    lines_open(&lines, &s->how, operands, 1, false);
    status = feed_filter(filter, &lines, work_jobs(s->jobs), !s->no_progress,
                         &fed);
    lines_close(&lines);
    if (status == CLI_OK && fed.keys > 0)
        status = filter_save(filter, path);
    if (status == CLI_OK)
        feed_report(filter, &fed, &how);
    return status;
}

static int add_check(const cli_command *self, const add_settings *s,
                     const cli_operands *operands)
{
    int status = lines_how_check(self, &s->how);

    if (status != CLI_GO)
        return status;
    if (operands->count == 0)
        return options_wrong(self, "the FILE to add to is missing");
    if (strcmp(operands->names[0], "-") == 0)
        return options_wrong(self, "a filter in a pipe cannot be changed in "
                                   "its place; name a file");
    return filter_check_output(operands->names[0], operands, 1);
}

static int add_run(const cli_command *self, int argc, char **argv)
{
    add_settings s = { .how.separator = -1 };
    cli_operands operands;
    bly_filter *filter;
    int lock, status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = add_check(self, &s, &operands);
    if (status != CLI_GO)
        return status;
    lock = filter_lock(operands.names[0]);
    if (lock < 0)
        return CLI_ERROR;
    if (bly_open(&filter, operands.names[0], 0) < 0) {
        close(lock);
        return report_library();
    }
    status = add_keys(&s, &operands, filter);
    bly_free(filter);
    close(lock);
    return status;
}

const cli_command cmd_add = {
    .name = "add",
    .operands = "FILE [KEYS...]",
    .summary = "add the keys of lines to a filter",
    .text =
        "Reads keys, one per line, from the files KEYS (or standard input) and "
        "adds them to the filter FILE, which is replaced when all of them are "
        "in. Two commands may add to one file at once: one of them waits, and "
        "no key is lost.\n\n"
        "If more keys come than the filter was planned for all of them are "
        "found, but the false-positive rate rises, and a warning says so.",
    .options = add_options,
    .examples = add_examples,
    .status = "0 if the keys were added, 2 after an error; FILE is then as it "
              "was before.",
    .run = add_run,
};
