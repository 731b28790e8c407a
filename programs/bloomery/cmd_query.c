/* cmd_query.c - `bloomery query`: prints the lines whose key is perhaps in a
 * filter, like grep with a filter for a pattern. The work is in ask.c.
 */
#include "bloomery/command.h"
#include "frame/output.h"

#include <inttypes.h>
#include <stdlib.h>

static const cli_option query_options[] = {
    { 'F', "filter", "FILE", CLI_LIST, offsetof(ask_settings, filters), false,
      "Ask this filter; all operands are KEYS then. It may be given several "
      "times: a line is selected if its key is perhaps in any of them. With "
      "--key-file all of them must be made with its secret." },
    { 0, "all", NULL, CLI_FLAG, offsetof(ask_settings, all), false,
      "With several filters, select the lines whose key is perhaps in all.",
      .needs = "filter" },
    { 'v', "invert-match", NULL, CLI_FLAG, offsetof(ask_settings, invert),
      false,
      "Select the others: the lines whose key is certainly not in FILE." },
    { 0, "mark", NULL, CLI_FLAG, offsetof(ask_settings, mark), false,
      "Print all lines, each with 1 and a TAB before it if its key is perhaps "
      "there, and 0 if it is certainly not, or if there is no key. Of several "
      "filters each has its digit, in the order of -F.",
      .excludes = "invert-match groups count quiet summary json" },
    CLI_ASSUME_OPTION(ask_settings, assume),
    { 0, "column", "NAME", CLI_TEXT, offsetof(ask_settings, column), false,
      "FILE is a Parquet file: ask the filters that it has for this column, "
      "one in each row group. A key is what --as says, or else the column's "
      "type: a number, text, or of types without either hex." },
    { 0, "groups", NULL, CLI_FLAG, offsetof(ask_settings, groups), false,
      "FILE has filters inside: before each line print the numbers of the row "
      "groups, blocks or partitions where its key perhaps is, from 0, with "
      "commas between them, and a TAB.",
      .excludes = "invert-match count quiet summary json" },
    { 0, "line-number", NULL, CLI_FLAG, offsetof(ask_settings, numbers),
      false, "Before each line print its number in its file, from 1, and a "
      "colon.",
      .excludes = "count quiet summary json" },
    { 0, "with-filename", NULL, CLI_FLAG, offsetof(ask_settings, names),
      false, "Before each line print the name of its file and a colon; with "
      "--line-number before the number, and with --mark both behind the TAB. "
      "Standard input is '(standard input)', --key '(command line)'.",
      .excludes = "quiet summary json" },
    { 'c', "count", NULL, CLI_FLAG, offsetof(ask_settings, count), false,
      "Print only how many lines were selected; with --with-filename, of each "
      "file." },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(ask_settings, quiet), false,
      "Print nothing; stop at the first line selected." },
    { 'S', "summary", NULL, CLI_FLAG, offsetof(ask_settings, summary), false,
      "Print no lines, but how many keys were asked for, the share that is "
      "perhaps there with its 95 % interval, and the speed.",
      .excludes = "invert-match count quiet" },
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "The summary as a JSON object.",
      .excludes = "invert-match count quiet" },
    { 0, "line-buffered", NULL, CLI_FLAG, offsetof(ask_settings, buffered),
      false, "Print what is selected after each read, whatever comes next. "
      "Without it that waits while more input is there at once." },
    { 0, "paged", NULL, CLI_FLAG, offsetof(ask_settings, paged), false,
      "Read FILE page by page instead of mapping it, as is always done with "
      "one of more than half the memory whose kind consists of pages." },
    ASK_OPTIONS
};

static const cli_example query_examples[] = {
    { "bloomery query words.bly text.txt",
      "The lines of text.txt that are perhaps in words.bly." },
    { "bloomery query -v seen.bly < urls | crawl",
      "Lines that are certainly new." },
    { "bloomery query -f 3 -t , -c ids.bly table.csv",
      "How many lines have a third column that is perhaps in ids.bly." },
    { "bloomery query -F mine.bly -F ours.bly --mark urls",
      "All lines: '10 TAB url' is perhaps in mine.bly, certainly not in "
      "ours.bly." },
    { "bloomery query -r --line-number --with-filename leaked.bly src",
      "Where in all files under src, as 'file:line:text'." },
    { "bloomery query words.bly --key apple --key pear",
      "Ask for two keys." },
    { "bloomery query --column user_id --groups part.parquet ids",
      "In which row groups of a Parquet file the ids perhaps are." },
    { "bloomery query --json words.bly others.txt",
      "Ask for keys that are not in the filter: 'share' is then its measured "
      "false-positive rate." },
    { NULL, NULL }
};

static bly_status query_ask(const bly_filter *filter, const bly_keys *keys,
                            bool *there, uint64_t *numbers)
{
    (void)numbers;
    return bly_contains_keys(filter, keys, there);
}

/* Collects facts about each filter. Returns false after an error. */
static bool query_each(const ask_job *job, cli_asked_one *each)
{
    for (size_t i = 0; i < job->n; i++) {
        bly_stat_t stat = { .planned_rate = 1 };
        const ask_place *place = &job->places[i];

        if (job->filters[i] != NULL && bly_stat(&stat, job->filters[i]) < 0) {
            filter_error();
            return false;
        }
        each[i] = (cli_asked_one){ place->path, place->group, place->number,
                                   job->there[i], stat.planned_rate };
    }
    return true;
}

static int query_summary(const ask_job *job)
{
    const ask_settings *s = &job->want;
    const cli_asked *keys = &job->tally.keys;
    size_t n = job->n;
    cli_asked_one *each = malloc((n + 1) * sizeof *each);
    bool known;

    if (each == NULL)
        return report_no_memory();
    known = query_each(job, each);
    if (known && n != 1)
        (s->json ? asked_many_json : asked_many_text)(keys, each, n, s->all,
                                                      job->seconds);
    else if (known && s->json)
        asked_json(keys, each[0].file, each[0].planned_rate, job->seconds);
    else if (known)
        asked_text(keys, each[0].planned_rate, job->seconds);
    free(each);
    return known ? CLI_GO : CLI_ERROR;
}

static int query_report(const ask_job *job, int status)
{
    const ask_settings *s = &job->want;

    if (s->count && !s->quiet && !s->names)
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
        "Reads lines from the files KEYS (or standard input) and prints those "
        "whose key is perhaps in the filter FILE, in their order and as they "
        "are, like grep. No key that was added is missed; of the others a "
        "small share, the filter's false-positive rate, is printed too. With "
        "-v the lines are printed whose key is certainly not there.\n\n"
        "Several filters are asked by -F, which takes the place of FILE. With "
        "--mark all lines are printed and marked. What is known goes out "
        "before more input is waited for, so that a program can keep 'bloomery "
        "query --mark' at its side, write a line to it and read the answer, as "
        "often as it likes.\n\n"
        "FILE may be a Parquet file (--column) or a table of LevelDB or "
        "RocksDB, which have filters inside: a key is perhaps there if any of "
        "them says so, or if a part of the file has none, of which a note "
        "tells. The more parts there are the more strangers pass: --groups "
        "tells which.\n\n"
        "A line without a column of -f has no key: it is not there, and -v "
        "prints it. A file of KEYS that cannot be read is reported, and the "
        "others are still asked.\n\n"
        CLI_VERIFY_TEXT " A filter that is asked page by page is verified "
        "page by page.",
    .options = query_options,
    .examples = query_examples,
    .status = "0 if a line was selected, 1 if none was, 2 after an error.",
    .run = query_run,
};
