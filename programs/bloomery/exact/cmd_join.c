/* cmd_join.c - `bloomery join`: prints the lines whose key is in another list.
 *
 * An exact semi-join or anti-join, done by join.c.
 */
#include "bloomery/exact/dedup.h"
#include "frame/json.h"
#include "frame/members.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <string.h>

#define JOIN_MEMORY (UINT64_C(128) << 20)
#define JOIN_MEMORY_LEAST (UINT64_C(1) << 20)

typedef struct {
    const char *output, *list_member;
    uint64_t    memory, jobs;
    cli_how     how;
    cli_columns list_field;
    bool        anti, count, verbose, no_progress, force, json;
} join_settings;

static const cli_option join_options[] = {
    { 'v', "invert-match", NULL, CLI_FLAG, offsetof(join_settings, anti),
      false, "Print the lines whose key is not in LIST." },
    { 'c', "count", NULL, CLI_FLAG, offsetof(join_settings, count), false,
      "Print only the number of lines.",
      .excludes = "output",
      .group = CLI_OUTPUT },
    { 0, "list-field", "LIST", CLI_COLUMNS,
      offsetof(join_settings, list_field), false,
      "The key columns of LIST. Default: the columns that -f names by name, "
      "or the whole line, with its quotes in CSV. A name implies that LIST "
      "has a header; --header means both inputs.",
      .group = CLI_KEYS },
    { 0, "list-json-field", "NAME", CLI_TEXT,
      offsetof(join_settings, list_member), false,
      "The lines of LIST are JSON objects, and the key is the member NAME, as "
      "with --json-field.",
      .excludes = "list-field",
      .group = CLI_KEYS },
    { 'M', "memory", "SIZE", CLI_SIZE, offsetof(join_settings, memory), false,
      "Use this much memory, and a few MiB per thread: 512M, 2G; at least 1M. "
      "If LIST does not fit, keys go to a temporary file in TMPDIR and LINES "
      "is read twice. A longer line takes what it needs. Default: 128M.",
      .group = CLI_SPEED },
    CLI_HOW_OPTIONS(join_settings, how),
    CLI_JOBS_OPTION(join_settings, jobs),
    CLI_LINES_OPTIONS(join_settings),
    { 0, "json", NULL, CLI_FLAG, offsetof(join_settings, json), false,
      "With -o FILE or -c: print the report of --verbose as a JSON object on "
      "standard output.",
      .needs = "output count",
      .group = CLI_OUTPUT },
    { 0, "verbose", NULL, CLI_FLAG, offsetof(join_settings, verbose), false,
      "Print on standard error how many lines were read and printed, and "
      "whether LIST fitted into memory.",
      .group = CLI_OUTPUT },
    CLI_NO_PROGRESS_OPTION(join_settings, no_progress),
    { 0 }
};

static const cli_example join_examples[] = {
    { "bloomery join urls.txt wanted.txt",
      "Print the lines of urls.txt that are also in wanted.txt." },
    { "bloomery join --invert-match -f 2 -t , users.csv blocked.txt",
      "Print the users whose second column is not a line of blocked.txt." },
    { "zcat log.tsv.gz | bloomery join -f 1 --list-field 3 - sessions.tsv",
      "Print the lines of a log whose first column is a third column of "
      "sessions.tsv." },
    { NULL, NULL }
};

static void join_note_keyless(uint64_t lines, const char *one,
                              const char *many, report_words lack)
{
    if (lines > 0)
        report_note("note: %s %s no such %s and %s left out: check %s",
                    report_count(lines).text, lines == 1 ? one : many,
                    lack.part, lines == 1 ? "was" : "were", lack.options);
}

static void join_json(const join_settings *s, const join_tally *tally,
                      double seconds)
{
    json_open_object(NULL);
    json_count("lines", tally->lines);
    json_count(s->count ? "counted" : "printed", tally->kept);
    json_count("keyless", tally->keyless);
    json_count("listed", tally->listed);
    json_count("listed_keyless", tally->listed_keyless);
    json_bool("in_memory", !tally->parts);
    json_real("seconds", seconds);
    json_real("lines_per_second", report_per_second(tally->lines, seconds));
    json_string("output", s->output);
    json_close_object();
}

static void join_report(const join_settings *s, const join_tally *tally,
                        double seconds)
{
    if (s->json)
        join_json(s, tally, seconds);
    if (s->verbose)
        report_note("%s lines in %s (%s), %s %s; %s keys in the list, which "
                    "%s the memory", report_count(tally->lines).text,
                    report_seconds(seconds).text,
                    report_speed(report_per_second(tally->lines,
                                                   seconds)).text,
                    report_count(tally->kept).text,
                    s->count ? "counted" : "printed",
                    report_count(tally->listed).text,
                    tally->parts ? "did not fit" : "fitted");
    join_note_keyless(tally->keyless, "line of LINES has",
                      "lines of LINES have", report_lack);
    join_note_keyless(tally->listed_keyless, "line of LIST has",
                      "lines of LIST have",
                      s->list_member != NULL
                      ? (report_words){ .part = "member",
                                        .options = "--list-json-field" }
                      : (report_words){ .part = "column",
                                        .options = "--list-field and -t" });
    if (tally->listed_uncut > 0 && tally->listed_strange == 0
        && tally->listed_uncut == tally->listed)
        report_note("note: every line of LIST has several columns, but whole "
                    "lines are its keys: use --list-field to choose the column "
                    "to compare");
    if (tally->listed_strange > 0)
        report_note("note: %s %s with a %s, which is part of the key: use %s",
                    report_count(tally->listed_strange).text,
                    tally->listed_strange == 1 ? "line of LIST begins"
                                               : "lines of LIST begin",
                    s->how.member != NULL ? "brace" : "quote",
                    s->how.member != NULL
                        ? "--list-json-field NAME for the value of a member"
                        : "--list-field 1 for the first column without its "
                          "quotes");
}

static int join_check_output(const cli_command *self, const join_settings *s,
                             const cli_operands *operands)
{
    if (s->count)
        return CLI_GO;
    return made_check(self, s->output, s->json) == CLI_GO
         ? filter_check_lines(s->output, s->force, operands) : CLI_ERROR;
}

/* Returns how LIST stores its keys. */
static cli_how join_list_how(const join_settings *s)
{
    cli_how list = s->how;

    if (!s->how.field.named || s->list_field.n > 0 || s->list_member != NULL)
        list.field = s->list_field;
    else
        list.lacks = "-f names a column of both files, which must have the "
                     "same separator. For a list without a header, use "
                     "--list-field 1";
    list.member = s->list_member;
    list.listing = true;
    if (list.member != NULL)
        list.csv = list.tsv = list.blanks = list.header = false;
    forms_choose(&list);
    return list;
}

static int join_check_keys(const cli_command *self, join_settings *s)
{
    cli_how any = s->how, list = join_list_how(s);
    const char *wrong = list.member != NULL ? members_wrong(list.member) : NULL;

    if (s->how.field.n > 0 && s->list_field.n > 0
        && s->how.field.n != s->list_field.n)
        return report_error("-f and --list-field list different numbers of "
                            "columns, %zu and %zu, so that no keys can be "
                            "equal: list as many in both", s->how.field.n,
                            s->list_field.n);
    if (s->list_field.n == 0 && s->list_member == NULL && columns_mixed(
            &s->how.field))
        return options_wrong(self, "-f lists columns both by number and by "
                                   "name, so the columns of LIST are unknown: "
                                   "use --list-field too");
    if (wrong != NULL)
        return report_error("--list-json-field '%s' %s", list.member, wrong);
    if (any.field.n == 0)
        any.field = s->list_field;
    if (s->list_field.n > 0)
        any.member = NULL;
    forms_choose(&s->how);
    if (how_check(self, &any) != CLI_GO
        || how_check_member(&s->how) != CLI_GO)
        return CLI_ERROR;
    return how_check_member(&list);
}

static int join_check(const cli_command *self, join_settings *s,
                      const cli_operands *operands)
{
    if (operands->count != 2)
        return options_wrong(self, "this command takes two files, LINES and "
                             "LIST");
    if (strcmp(operands->names[0], "-") == 0
        && strcmp(operands->names[1], "-") == 0)
        return options_wrong(self, "LINES and LIST cannot both be read from "
                                   "standard input");
    if (s->memory > 0 && s->memory < JOIN_MEMORY_LEAST)
        return report_error("--memory is too small: give 1M or more");
    if (join_check_keys(self, s) != CLI_GO)
        return CLI_ERROR;
    return join_check_output(self, s, operands);
}

static int join_start(const cli_command *self, int argc, char **argv)
{
    join_settings s = { .how = CLI_HOW_UNSAID };
    cli_operands operands;
    join_tally tally = { .lines = 0 };
    join_want want;
    double start;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = join_check(self, &s, &operands);
    if (status == CLI_GO)
        status = output_open(s.output);
    if (status != CLI_GO)
        return status;
    s.no_progress |= !s.count && s.output == NULL && !progress_apart();
    want = (join_want){ .lines = s.how, .list = join_list_how(&s),
                        .jobs = s.jobs,
                        .memory = s.memory > 0 ? s.memory : JOIN_MEMORY,
                        .anti = s.anti, .count = s.count,
                        .progress = !s.no_progress };
    start = report_clock();
    status = output_close(join_run(&want, &operands, &tally));
    if (status != CLI_OK)
        return status;
    if (s.count && !s.json)
        output_format("%llu\n", (unsigned long long)tally.kept);
    if (!output_flush())
        return CLI_ERROR;
    join_report(&s, &tally, report_clock() - start);
    return tally.kept > 0 ? CLI_OK : CLI_NONE;
}

const cli_command cmd_join = {
    .name = "join",
    .operands = "LINES LIST",
    .summary = "print the lines whose key is in another list, exactly",
    .text =
        "Prints the lines of the file LINES whose key is a key of the file "
        "LIST, in their order; with -v, the lines whose key is not. Either "
        "file may be '-', standard input. The result is exact: a filter rules "
        "out most keys that are not in LIST, and the others are compared byte "
        "by byte. A line is printed as often as it is in LINES, however often "
        "its key is in LIST.\n\n"
        "LIST is read first. If it fits in --memory, LINES is read once, and "
        "lines are printed as they arrive. Otherwise LINES is read twice, and "
        "a pipe is first copied to a temporary file.\n\n"
        "A line without the column of -f has no key and is never printed. A "
        "note reports how many there are.",
    .options = join_options,
    .usual = "invert-match count field separator list-field csv output memory",
    .examples = join_examples,
    .status = "0 if a line was printed or counted, 1 if there was none, "
              CLI_KEPT("FILE"),
    .run = join_start,
};
