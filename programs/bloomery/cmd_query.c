/* cmd_query.c - `bloomery query`: the lines whose key is perhaps there.
 *
 * grep, with a filter for a pattern. The work is in ask.c. Floor 8; includes
 * command.h only.
 */
#include "bloomery/command.h"

#include <inttypes.h>

static const cli_option query_options[] = {
    { 'v', "invert", NULL, CLI_FLAG, offsetof(ask_settings, invert), false,
      "Select the lines whose key is certainly not in FILE." },
    { 'c', "count", NULL, CLI_FLAG, offsetof(ask_settings, count), false,
      "Print only how many lines were selected." },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(ask_settings, quiet), false,
      "Print nothing; stop at the first line selected." },
    { 'S', "summary", NULL, CLI_FLAG, offsetof(ask_settings, summary), false,
      "Print no lines, but how many keys were asked for, the share that is "
      "perhaps there with its 95 % interval, and the speed." },
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "The summary as a JSON object." },
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

static void query_report(const ask_job *job, const char *file)
{
    const cli_asked *keys = &job->tally.keys;
    bly_stat_t stat;

    if (job->want.count && !job->want.quiet)
        output_format("%" PRIu64 "\n", keys->selected);
    if (!job->want.json && !job->want.summary)
        return;
    if (bly_stat(&stat, job->filter) < 0) {
        filter_error();
        return;
    }
    if (job->want.json)
        asked_json(keys, file, stat.planned_rate, job->seconds);
    else
        asked_text(keys, stat.planned_rate, job->seconds);
}

static int query_check(const cli_command *self, const ask_settings *s)
{
    if ((s->json || s->summary) && (s->invert || s->count || s->quiet))
        return options_wrong(self, "a summary counts all keys; it excludes -v, "
                                   "-c and -q");
    return CLI_GO;
}

static int query_run(const cli_command *self, int argc, char **argv)
{
    static const ask_how how = { query_ask, ASK_LINES, "asking",
                                 "" };
    ask_job job = { .how = &how };
    cli_operands operands;
    int status = ask_options(self, argc, argv, &job.want, &operands);

    if (status == CLI_GO)
        status = query_check(self, &job.want);
    if (status != CLI_GO)
        return status;
    job.filter = damage_open(operands.names[0], &job.want.verify,
                             job.want.paged);
    if (job.filter == NULL)
        return CLI_ERROR;
    status = ask_run(&job, &operands);
    if (!damage_seen())
        query_report(&job, operands.names[0]);
    bly_free(job.filter);
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
