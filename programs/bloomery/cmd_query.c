/* cmd_query.c - `bloomery query`: prints the lines whose key is perhaps in a
 * filter, like grep with a filter for a pattern. The work is in ask.c.
 */
#include "bloomery/command.h"
#include "frame/output.h"

#include <bloomery/parts.h>
#include <inttypes.h>
#include <stdlib.h>

static const cli_option query_options[] = {
    { 'F', "filter", "FILE", CLI_LIST, offsetof(ask_settings, filters), false,
      "Query this filter; all operands are then KEYS. May be repeated: a line "
      "is selected if its key is perhaps in any filter." },
    { 0, "all", NULL, CLI_FLAG, offsetof(ask_settings, all), false,
      "With several filters, select the lines whose key is perhaps in all of "
      "them.",
      .needs = "filter" },
    { 'v', "invert-match", NULL, CLI_FLAG, offsetof(ask_settings, invert),
      false, "Select the lines whose key is certainly not in FILE." },
    { 0, "mark", NULL, CLI_FLAG, offsetof(ask_settings, mark), false,
      "Print all lines but skipped ones, each after 1 and a TAB if its key is "
      "perhaps in the filter, 0 and a TAB if not, or ? and a TAB if the key "
      "cannot be read. "
      "With several filters, print a digit for "
      "each, in the order of -F. For --as domain, cidr and path, print what "
      "the key lies within instead, and nothing if that is not in the filter, "
      "with a TAB for each filter.",
      .excludes = "invert-match groups count quiet summary json",
      .group = CLI_OUTPUT },
    CLI_ASSUME_OPTION(ask_settings, assume),
    { 0, "verify-with", "LIST", CLI_TEXT, offsetof(ask_settings, list), false,
      "Look up in LIST each key that is perhaps in FILE, and select it only if "
      "it is there too. LIST has a key on each line, sorted by 'LC_ALL=C "
      "sort': text as it is, or entries as --mark prints them, where empty "
      "lines and ? stand for none.",
      .excludes = "filter column groups" },
    { 0, "column", "NAME", CLI_TEXT, offsetof(ask_settings, column), false,
      "FILE is a Parquet or ORC file: query the filters of this column, one in "
      "each row group. --as says how keys are read; the default is the "
      "column's type, or hex for types without numbers and text." },
    { 0, "groups", NULL, CLI_FLAG, offsetof(ask_settings, groups), false,
      "Before each line, print the numbers of the row groups, blocks or "
      "partitions in FILE where its key perhaps is. They count from 0, have "
      "commas between them and a TAB after them.",
      .excludes = "invert-match count quiet summary json",
      .group = CLI_OUTPUT },
    { 0, "line-number", NULL, CLI_FLAG, offsetof(ask_settings, numbers),
      false, "Before each line, print its number in its file and a colon.",
      .excludes = "count quiet summary json",
      .group = CLI_OUTPUT },
    { 0, "with-filename", NULL, CLI_FLAG, offsetof(ask_settings, names),
      false, "Before each line, print the name of its file and a colon: before "
      "the number of --line-number, and after the TAB of --mark. Standard "
      "input is '(standard input)', and --key is '(command line)'.",
      .excludes = "quiet summary json",
      .group = CLI_OUTPUT },
    { 'c', "count", NULL, CLI_FLAG, offsetof(ask_settings, count), false,
      "Print only the number of selected lines, for each file with "
      "--with-filename.",
      .group = CLI_OUTPUT },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(ask_settings, quiet), false,
      "Print nothing and stop at the first selected line.",
      .group = CLI_OUTPUT },
    { 'S', "summary", NULL, CLI_FLAG, offsetof(ask_settings, summary), false,
      "Print only a summary: keys, the share that is perhaps present with its "
      "95 % interval, and the speed.",
      .excludes = "invert-match count quiet",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "Print the summary as a JSON object.",
      .excludes = "invert-match count quiet",
      .group = CLI_OUTPUT },
    { 0, "line-buffered", NULL, CLI_FLAG, offsetof(ask_settings, buffered),
      false, "Print selected lines after each read. Default: only when no more "
      "input is waiting.",
      .group = CLI_OUTPUT },
    { 0, "paged", NULL, CLI_FLAG, offsetof(ask_settings, paged), false,
      "Read FILE page by page instead of mapping it. This is the default for "
      "a kind that consists of pages if FILE exceeds half of the memory.",
      .group = CLI_SPEED },
    ASK_OPTIONS
};

static const cli_example query_examples[] = {
    { "bloomery query words.bly text.txt",
      "Print the lines of text.txt that are perhaps in words.bly." },
    { "bloomery query -v seen.bly < addresses.txt",
      "Print the lines that are certainly new." },
    { "bloomery query -f 2 -t , -c ids.bly users.csv",
      "Count the lines whose second column is perhaps in ids.bly." },
    { "bloomery query words.bly --key apple --key pear", "Query two keys." },
    { "bloomery query -F words.bly -F seen.bly --mark text.txt",
      "Mark all lines: '10 TAB line' is perhaps in words.bly and certainly "
      "not in seen.bly." },
    { "bloomery query -r --line-number --with-filename words.bly src",
      "Search all files under src, and print 'file:line:text'." },
    { "bloomery query --column a --groups part.parquet keys.txt",
      "Print the row groups of a Parquet file where the keys perhaps are." },
    { "bloomery query --json words.bly others.txt",
      "Query keys that are not in the filter: 'share' is then the measured "
      "false-positive rate." },
    { NULL, NULL }
};

static bly_status query_ask(const bly_filter *filter, const bly_keys *keys,
                            bool *there, uint64_t *numbers)
{
    (void)numbers;
    return bly_contains_many(filter, keys, there);
}

/* Collects facts about each filter. bly_info would read whole filters. */
static void query_each(const ask_job *job, cli_asked_one *each)
{
    for (size_t i = 0; i < job->n; i++) {
        bly_header header = { .rate = 1 };
        const ask_place *place = &job->places[i];

        if (job->filters[i] != NULL)
            bly_peek(&header, bly_raw(job->filters[i], NULL), BLY_HEADER_BYTES);
        each[i] = (cli_asked_one){ place->path, place->group, place->number,
                                   job->there[i], header.rate };
    }
}

static int query_summary(const ask_job *job)
{
    const ask_settings *s = &job->want;
    const cli_asked *keys = &job->tally.keys;
    size_t n = job->n;
    cli_asked_one *each = malloc((n + 1) * sizeof *each);

    if (each == NULL)
        return report_no_memory();
    query_each(job, each);
    if (n != 1)
        (s->json ? asked_many_json : asked_many_text)(keys, each, n, s->all,
                                                      job->seconds);
    else if (s->json)
        asked_json(keys, each[0].file, each[0].planned_rate, job->seconds);
    else
        asked_text(keys, each[0].planned_rate, job->seconds);
    free(each);
    return CLI_GO;
}

static int query_report(const ask_job *job, int status)
{
    const ask_settings *s = &job->want;
    bool nothing = job->failed && job->tally.keys.lines == 0;

    if (s->count && !s->quiet && !s->names && !nothing)
        output_format("%" PRIu64 "\n", job->tally.keys.selected);
    digests_note(job);
    if ((s->json || s->summary) && query_summary(job) != CLI_GO)
        return CLI_ERROR;
    return status;
}

static int query_run(const cli_command *self, int argc, char **argv)
{
    static const ask_how how = { query_ask, ASK_LINES, "asking", "" };
    ask_job job = { .how = &how };
    int status = ask_open(self, argc, argv, &job);

    if (status == CLI_GO) {
        status = ask_run(&job);
        if (!damage_seen() && !job.stopped)
            status = query_report(&job, status);
    }
    return ask_close(&job, status);
}

const cli_command cmd_query = {
    .name = "query",
    .operands = "FILE [KEYS...]",
    .summary = "print the lines whose key is perhaps in a filter",
    .text =
        "Reads lines from the files KEYS or from standard input, and prints "
        "those whose key is perhaps in the filter FILE: in their order and "
        "unchanged, like grep. Every key that was added is found; of the "
        "other keys a small share, the false-positive rate, is printed as "
        "well. With -v, the lines whose key is certainly not in the filter "
        "are printed.\n\n"
        "With -F, several filters are queried, and FILE is left out. With "
        "--mark, all lines are printed and marked. Answers are written before "
        "the command waits for more input, so a program can keep 'bloomery "
        "query --mark' running, write a line to it and read the answer.\n\n"
        "FILE may be a Parquet or ORC file (--column), or a table of LevelDB "
        "or RocksDB, which contain filters. A key is perhaps there if any "
        "filter inside finds it, or if a part of the file has no filter, which "
        "a note reports. The more parts there are, the more other keys pass: "
        "--groups prints the parts.\n\n"
        "A line without the column of -f has no key: it is not in the filter, "
        "and -v prints it. A line whose key cannot be read, such as a word for "
        "a filter of numbers, is not printed, not even with -v: a note reports "
        "it, and the status is 2. A file of KEYS that cannot be read is "
        "reported, and the others are still read.\n\n"
        CLI_VERIFY_TEXT
        " A filter that is read page by page is verified page by page.",
    .options = query_options,
    .usual = "filter invert-match count quiet key field separator mark",
    .examples = query_examples,
    .status = "0 if a line was selected, 1 if none was, 2 after an error. With "
              "-v, status 0 means that a key is certainly not there, and 1 "
              "that every key is perhaps there.",
    .run = query_run,
};
