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

/* The value of -A, -B and -C if the option is absent. */
#define SEARCH_UNSET UINT64_MAX

#define SEARCH_FLAG(member) CLI_FLAG, offsetof(search_settings, member), false

static const cli_option search_options[] = {
    { 'e', "regexp", "PATTERN", CLI_LIST, offsetof(search_settings, patterns),
      false, "A pattern, instead of the operand. May be repeated: a line must "
      "match any pattern." },
    { 'f', "file", "FILE", CLI_LIST, offsetof(search_settings, files), false,
      "Each line of FILE is a pattern. '-' is standard input." },
    { 'F', "fixed-strings", NULL, SEARCH_FLAG(want.how.fixed),
      "Patterns are texts, not regular expressions." },
    { 'i', "ignore-case", NULL, SEARCH_FLAG(want.how.fold),
      "Match the letters A to Z and a to z alike." },
    { 'w', "word-regexp", NULL, SEARCH_FLAG(want.how.words),
      "Match only where no letter, digit or _ is next to the match." },
    { 'x', "line-regexp", NULL, SEARCH_FLAG(want.how.lines),
      "Match only whole lines." },
    { 'v', "invert-match", NULL, SEARCH_FLAG(want.invert),
      "Select the lines that do not match. This reads all files." },
    { 'm', "max-count", "N", CLI_LINES, offsetof(search_settings, want.most),
      false, "Select at most N lines in each file." },
    { 'l', "files-with-matches", NULL, SEARCH_FLAG(want.files),
      "Print only the names of files with a selected line.",
      .excludes = "files-without-match count quiet",
      .group = CLI_OUTPUT },
    { 'L', "files-without-match", NULL, SEARCH_FLAG(want.others),
      "Print only the names of files without a selected line.",
      .excludes = "count quiet",
      .group = CLI_OUTPUT },
    { 'c', "count", NULL, SEARCH_FLAG(want.count),
      "Print only the number of selected lines in each file.",
      .excludes = "quiet",
      .group = CLI_OUTPUT },
    { 'o', "only-matching", NULL, SEARCH_FLAG(want.only),
      "Print each match on a line, without the rest of its line.",
      .excludes = "after-context before-context context",
      .group = CLI_OUTPUT },
    { 'n', "line-number", NULL, SEARCH_FLAG(want.number),
      "Print the number of each line before it.",
      .group = CLI_OUTPUT },
    { 0, "no-filename", NULL, SEARCH_FLAG(want.nameless),
      "Print no file names before lines and counts.",
      .group = CLI_OUTPUT },
    { 'Z', "null", NULL, SEARCH_FLAG(want.null),
      "End file names with a NUL byte.",
      .group = CLI_OUTPUT },
    { 'A', "after-context", "N", CLI_LINES,
      offsetof(search_settings, want.after), false,
      "Also print N lines after each selected line.",
      .group = CLI_OUTPUT },
    { 'B', "before-context", "N", CLI_LINES,
      offsetof(search_settings, want.before), false,
      "Also print N lines before each selected line.",
      .group = CLI_OUTPUT },
    { 'C', "context", "N", CLI_LINES, offsetof(search_settings, beside), false,
      "Also print N lines before and after each selected line.",
      .group = CLI_OUTPUT },
    { 0, "color", "WHEN", CLI_TEXT, offsetof(search_settings, color), false,
      "Color names, numbers and matches: always, never or auto. Default: "
      "auto, on a terminal that shows colors.",
      .group = CLI_OUTPUT },
    { 'a', "text", NULL, SEARCH_FLAG(want.text),
      "Search files with a NUL byte as text, too.",
      .group = CLI_INPUT },
    { 0, "include", "GLOB", CLI_LIST, offsetof(search_settings, include), false,
      "Search only files whose name, without folders, matches GLOB, as in "
      "'*.c'. May be repeated.",
      .group = CLI_INPUT },
    { 0, "exclude", "GLOB", CLI_LIST, offsetof(search_settings, exclude), false,
      "Skip files whose name matches GLOB. May be repeated.",
      .group = CLI_INPUT },
    { 's', "no-messages", NULL, SEARCH_FLAG(silent),
      "Report unreadable files only by the exit status.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, SEARCH_FLAG(want.json),
      "Print each line or match as a JSON object on its own line, with file, "
      "number, selected (false for context) and text; with -l and -L file; "
      "with -c file and count. Bytes that are not UTF-8 become U+FFFD.",
      .excludes = "null no-filename",
      .group = CLI_OUTPUT },
    { 'q', "quiet", NULL, SEARCH_FLAG(want.quiet),
      "Print nothing: the exit status says whether a line is selected.",
      .group = CLI_OUTPUT },
    { 0, "trust", NULL, SEARCH_FLAG(trust),
      "Read only files that the index names, without a look for new and "
      "changed files. A changed file is read as a whole, and a missing file "
      "is skipped; renamed files, such as rotated logs, are not found.",
      .excludes = "trust-known",
      .group = CLI_SPEED },
    { 0, "trust-known", NULL, SEARCH_FLAG(known),
      "Look for new files, but trust that indexed files have not changed.",
      .group = CLI_SPEED },
    { 0, "from", "FOLDER", CLI_TEXT, offsetof(search_settings, from), false,
      "The folder where the names in the index begin, if the index or the "
      "files have moved.",
      .group = CLI_INPUT },
    { 0, "stats", NULL, SEARCH_FLAG(stats),
      "Report at the end how many files and bytes were read.",
      .group = CLI_OUTPUT },
    TEXT_JOBS_OPTION(search_settings, jobs),
    { 0 }
};

static const cli_example search_examples[] = {
    { "bloomery search logs.blx 'refused|timed out'",
      "Print the lines with the names of their files." },
    { "bloomery search -F -w -l logs.blx 10.0.0.7",
      "Print the names of files with this address." },
    { "bloomery search -n -C 3 code.blx 'alloc\\w*\\(NULL'",
      "Print line numbers and three lines around each match." },
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
                    report_count(from->changed.count + c->changed).text);
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
    if (c->set->want.most == 0 && !c->set->want.others) {
        match_close(s.match);           /* no line can be selected */
        return CLI_NONE;
    }
    status = candidates_find(c, self, &p->each);
    status = status == CLI_GO ? search_files(&s) : CLI_ERROR;
    match_close(s.match);
    return status;
}

/* Takes the value of -C for -A or -B if that is absent. *apart is set if either
 * is given: grep then separates lines, even with a value of 0. */
static void search_beside(uint64_t *lines, uint64_t both, bool *apart)
{
    *lines = *lines != SEARCH_UNSET ? *lines : both;
    *apart |= *lines != SEARCH_UNSET;
    *lines = *lines != SEARCH_UNSET ? *lines : 0;
}

static int search_settle(const cli_command *self, search_settings *s)
{
    select_want *want = &s->want;

    search_beside(&want->before, s->beside, &want->apart);
    search_beside(&want->after, s->beside, &want->apart);
    if (s->color == NULL || strcmp(s->color, "auto") == 0)
        want->color = report_colors(STDOUT_FILENO);
    else if (strcmp(s->color, "always") == 0)
        want->color = true;
    else if (strcmp(s->color, "never") != 0)
        return options_wrong(self, "--color is always, never or auto");
    if (want->files || want->others || want->count || want->quiet) {
        want->before = want->after = 0;
        want->apart = false;
    }
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
    search_settings s = { .beside = SEARCH_UNSET,
                          .want = { .most = UINT64_MAX, .before = SEARCH_UNSET,
                                    .after = SEARCH_UNSET } };
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
        "files' names. It reads only the files and parts of files that may "
        "have a match, which the index knows. New and changed files are "
        "always searched. With an index made by --files0-from, new files are "
        "not known.\n\n"
        "PATTERN is a regular expression of PCRE2 over bytes: a dot is one "
        "byte, and letters are those of ASCII, as in 'LC_ALL=C grep -P'. If "
        "no text is certain to be in a match, as for '[0-9]+', or no whole "
        "word for an index by words, all files are read; --stats reports "
        "it.\n\n"
        "Compressed files are searched decompressed, unless the index was "
        "made with --no-decompress. In a file with a NUL byte, no lines are "
        "printed from the part with it on, and a note says that it matches. A "
        "line of more than 64 MiB ends at a NUL byte; if it has none, the "
        "file is searched up to this line, which is an error.",
    .options = search_options,
    .usual = "ignore-case word-regexp fixed-strings invert-match "
             "files-with-matches count line-number context",
    .examples = search_examples,
    .status = "0 if a line was selected, 1 if none was, 2 after an error, "
              "also if a file could not be read.",
    .run = search_run,
};
