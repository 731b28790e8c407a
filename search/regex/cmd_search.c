/* cmd_search.c - `bloomery search`: prints the lines of files that match, by an
 * index.
 *
 *      files as they are now     a   b   c   d       b has changed: all of it
 *      in the index, unchanged   a       c   d
 *      may have a match          a           d       a and d: those parts
 *
 * candidates.c finds the files and their parts, scan.c reads them, select.c
 * selects their lines, and turns.c prints these in order.
 */
#include "search/regex/patterns.h"
#include "search/regex/scan.h"
#include "frame/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEARCH_FLAG(member) CLI_FLAG, offsetof(search_settings, member), false

static const cli_option search_options[] = {
    { 'e', "regexp", "PATTERN", CLI_LIST, offsetof(search_settings, patterns),
      false, "A pattern, instead of the operand; of several a line must match "
      "one." },
    { 'f', "file", "FILE", CLI_LIST, offsetof(search_settings, files), false,
      "Each line of FILE is a pattern; '-' is standard input." },
    { 'F', "fixed-strings", NULL, SEARCH_FLAG(want.how.fixed),
      "Patterns are texts, and not regular expressions." },
    { 'i', "ignore-case", NULL, SEARCH_FLAG(want.how.fold),
      "The letters A to Z match a to z." },
    { 'w', "word-regexp", NULL, SEARCH_FLAG(want.how.words),
      "Only matches with no letter, digit or _ right before or behind them." },
    { 'x', "line-regexp", NULL, SEARCH_FLAG(want.how.lines),
      "Only matches of the whole line." },
    { 'v', "invert-match", NULL, SEARCH_FLAG(want.invert),
      "Select the lines that do not match: reads all files." },
    { 'm', "max-count", "N", CLI_NUMBER, offsetof(search_settings, want.most),
      false, "Select at most N lines of each file." },
    { 'l', "files-with-matches", NULL, SEARCH_FLAG(want.files),
      "Print the names of files with a selected line, and no lines.",
      .excludes = "files-without-match count quiet" },
    { 'L', "files-without-match", NULL, SEARCH_FLAG(want.others),
      "Print the names of the other files.",
      .excludes = "count quiet" },
    { 'c', "count", NULL, SEARCH_FLAG(want.count),
      "Print for each file how many lines are selected.",
      .excludes = "quiet" },
    { 'o', "only-matching", NULL, SEARCH_FLAG(want.only),
      "Print the matches, each on a line, and not their lines.",
      .excludes = "after-context before-context context" },
    { 'n', "line-number", NULL, SEARCH_FLAG(want.number),
      "Print the number of each line before it." },
    { 0, "no-filename", NULL, SEARCH_FLAG(want.nameless),
      "Print no names of files before lines and counts." },
    { 'Z', "null", NULL, SEARCH_FLAG(want.null),
      "Names end with a NUL byte." },
    { 'A', "after-context", "N", CLI_NUMBER,
      offsetof(search_settings, want.after), false,
      "Print N lines behind each selected one too." },
    { 'B', "before-context", "N", CLI_NUMBER,
      offsetof(search_settings, want.before), false,
      "Print N lines before each selected one too." },
    { 'C', "context", "N", CLI_NUMBER, offsetof(search_settings, beside), false,
      "Both." },
    { 0, "color", "WHEN", CLI_TEXT, offsetof(search_settings, color), false,
      "Mark names, numbers and matches by colors: always, never, or auto, "
      "where a terminal shows them. Default: auto." },
    { 'a', "text", NULL, SEARCH_FLAG(want.text),
      "Take files with a NUL in them for text, too." },
    { 0, "include", "GLOB", CLI_LIST, offsetof(search_settings, include), false,
      "Only files whose name, without folders, matches GLOB, as '*.c'; of "
      "several, one of them." },
    { 0, "exclude", "GLOB", CLI_LIST, offsetof(search_settings, exclude), false,
      "No files whose name matches GLOB." },
    { 's', "no-messages", NULL, SEARCH_FLAG(silent),
      "Say nothing of files that cannot be read; the exit status does." },
    { 0, "json", NULL, SEARCH_FLAG(want.json),
      "Print each line, or match, as a JSON object on a line of its own, with "
      "file, number, selected (false: it is beside one) and text; with -l and "
      "-L file; with -c file and count. Bytes that are no UTF-8 are U+FFFD.",
      .excludes = "null no-filename" },
    { 'q', "quiet", NULL, SEARCH_FLAG(want.quiet),
      "Print nothing; the exit status says whether there is a selected line." },
    { 0, "trust", NULL, SEARCH_FLAG(trust),
      "Do not look which files are new, or have changed: only those are read "
      "that the index names. Of these one that has changed is read as a whole, "
      "and one that is gone is passed over; of files that were renamed, as "
      "logs are, nothing is found.",
      .excludes = "trust-known" },
    { 0, "trust-known", NULL, SEARCH_FLAG(known),
      "Look which files are new, and take it that those that the index knows "
      "have not changed." },
    { 0, "from", "FOLDER", CLI_TEXT, offsetof(search_settings, from), false,
      "The names in the index begin in FOLDER: where it was made somewhere "
      "else, or the files have moved." },
    { 0, "stats", NULL, SEARCH_FLAG(stats),
      "Say in the end how many files were read, and how much." },
    TEXT_JOBS_OPTION(search_settings, jobs),
    { 0 }
};

static const cli_example search_examples[] = {
    { "bloomery search logs.blx 'refused|timed out'",
      "The lines, with the names of their files." },
    { "bloomery search -F -w -l logs.blx 10.0.0.7",
      "The names of files that have this address." },
    { "bloomery search -n -C 3 code.blx 'alloc\\w*\\(NULL'",
      "With the three lines before and behind each." },
    { NULL, NULL }
};

static void search_stats(const search_settings *set, const candidates *from,
                         const turns_counts *c)
{
    bly_index_stat_t stat;

    bly_index_stat(&stat, from->index.index);
    if (!set->trust)
        report_note("files: %s; new or changed: %s",
                    report_count(from->all.count).text,
                    report_count(from->changed.count).text);
    report_note("documents: %s; candidates: %s; files read: %s, of them "
                "without a match: %s; read: %s; lines selected: %s",
                report_count(stat.documents).text,
                report_count(from->found.n).text, report_count(c->files).text,
                report_count(c->false_files).text, report_bytes(c->bytes).text,
                report_count(c->selected).text);
}

/* Verifies that the index can be used from this folder. CLI_GO or CLI_ERROR. */
static int search_check(const candidates *c, const char *path)
{
    const settings *made = &c->index.made;
    const char *from = c->set->from;
    char *folder;
    int status = CLI_GO;

    if (from != NULL && chdir(from) < 0)
        return report_unread("enter", from, errno);
    folder = getcwd(NULL, 0);
    if (made->rule != TERMS_TRIGRAMS && made->rule != TERMS_WORDS)
        status = report_error("'%s' is an index by %s, with which patterns "
                              "cannot be looked up: make one by trigrams or "
                              "words", path, terms_name(made->rule));
    else if (folder == NULL)
        status = report_unread("name", ".", errno);
    else if (from == NULL)
        status = settings_here(path, made, c->index.index, folder);
    free(folder);
    return status;
}

/* Searches the files. Returns the exit status. */
static int search_files(scan *s)
{
    const search_settings *set = s->set;

    if (s->from->unasked && !set->want.invert
        && (set->stats || isatty(STDERR_FILENO)))
        report_note("no text is known to be in every match, so all files are "
                    "read%s", set->want.how.fixed ? ""
                    : " (use -F for a pattern that is plain text)");
    turns_open(&s->turns, &set->want);
    scan_run(s);
    turns_close(&s->turns);
    if (set->stats)
        search_stats(set, s->from, &s->turns.counts);
    if (set->want.quiet && s->any)
        return CLI_OK;
    return s->failed || s->unread ? CLI_ERROR : s->any ? CLI_OK : CLI_NONE;
}

static int search_index(const cli_command *self, candidates *c,
                        patterns *p, const char *path)
{
    scan s = { .set = c->set, .from = c };
    int status;

    if (stat(path, &s.self) < 0)
        s.self.st_ino = 0;
    status = search_check(c, path);
    if (status == CLI_GO)
        s.match = match_open(&p->each, &c->set->want.how);
    if (status != CLI_GO || s.match == NULL)
        return CLI_ERROR;
    status = candidates_find(c, self, &p->each);
    status = status == CLI_GO ? search_files(&s) : CLI_ERROR;
    match_close(s.match);
    return status;
}

static int search_settle(const cli_command *self, search_settings *s)
{
    select_want *want = &s->want;

    if (want->before == 0)
        want->before = s->beside;
    if (want->after == 0)
        want->after = s->beside;
    if (s->color == NULL || strcmp(s->color, "auto") == 0)
        want->color = report_colors(STDOUT_FILENO);
    else if (strcmp(s->color, "always") == 0)
        want->color = true;
    else if (strcmp(s->color, "never") != 0)
        return options_wrong(self, "--color is always, never or auto");
    if (want->files || want->others || want->count || want->quiet)
        want->before = want->after = 0;
    return CLI_GO;
}

static int search_run_settled(const cli_command *self, search_settings *s,
                              const cli_operands *operands)
{
    candidates c = { .set = s };
    patterns p = { .each = { NULL, 0 } };
    bool given = s->patterns.count + s->files.count > 0;
    int status = search_settle(self, s);

    if (status != CLI_GO)
        return status;
    if (operands->count != (given ? 1 : 2))
        return options_wrong(self, given ? "with -e or -f, this command takes "
                                           "only an INDEX"
                                         : "this command takes an INDEX and a "
                                           "PATTERN");
    status = patterns_read(&p, given ? NULL : operands->names[1], &s->patterns,
                           &s->files);
    if (status == CLI_GO) {
        c.index.index = settings_open(operands->names[0], &c.index.made);
        status = c.index.index == NULL ? CLI_ERROR
               : search_index(self, &c, &p, operands->names[0]);
    }
    candidates_free(&c);
    patterns_free(&p);
    return status;
}

static int search_run(const cli_command *self, int argc, char **argv)
{
    search_settings s = { .want.most = UINT64_MAX };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = search_run_settled(self, &s, &operands);
    free(s.patterns.names);
    free(s.files.names);
    free(s.include.names);
    free(s.exclude.names);
    return status;
}

const cli_command cmd_search = {
    .name = "search",
    .operands = "INDEX PATTERN",
    .summary = "search files for lines that match, by their index",
    .text =
        "Prints the lines that match, as 'grep -r' does, in the order of the "
        "files' names, but reads only the files, and parts of files, that may "
        "have a match: 'bloomery index' knows which texts of three bytes, or "
        "which words, each has. A file that is new or has changed since is "
        "searched always, and one that is gone is not. Of an index that was "
        "made of a list of files (--files0-from) new ones are not known.\n\n"
        "PATTERN is a regular expression of PCRE2, over bytes: a dot is one "
        "byte, and letters are those of ASCII, as in 'LC_ALL=C grep -P'. Where "
        "nothing is known that a match must have (as for '[0-9]+', or of an "
        "index by words where no whole word is in it) all files are read; "
        "--stats says so.\n\n"
        "Compressed files are searched as what they hold, unless the index was "
        "made with --no-decompress. Of a file with a NUL in it, from the part "
        "on that has it (--block), no lines are printed, and a note says that "
        "it has a match. A line of more than 64 MiB ends at a NUL in it, or "
        "the file is searched up to it, which is an error.",
    .options = search_options,
    .examples = search_examples,
    .status = "0 if a line was selected; 1 if none was; 2 after an error, also "
              "where a file could not be read.",
    .run = search_run,
};
