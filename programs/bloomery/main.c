/* main.c - the command `bloomery`: its table of subcommands.
 *
 * To add a subcommand, add a file cmd_NAME.c and a line in main_commands.
 */
#include "bloomery/command.h"
#include "frame/program.h"

static const cli_command *const main_commands[] = {
    &cmd_dedup, &cmd_join,
    &cmd_build, &cmd_add, &cmd_remove, &cmd_query, &cmd_count, &cmd_put,
    &cmd_get, &cmd_info, &cmd_check, &cmd_resize, &cmd_convert, &cmd_list,
    &cmd_plan, &cmd_advise, &cmd_kinds, &cmd_formats, &program_cmd_help,
    &cmd_unite, &cmd_intersect, &cmd_overlap, &cmd_sketch, &cmd_diff,
    &cmd_index, &cmd_which,
#if defined(BLY_SEARCH)
    &cmd_search,
#endif
    &cmd_similar,
#if defined(BLY_SERVE)
    &cmd_serve,
#endif
    NULL
};

static const cli_heading main_headings[] = {
    { "Work with lines", &cmd_dedup },
    { "Make and use filters", &cmd_build },
    { "Choose and read on", &cmd_plan },
    { "Combine sets", &cmd_unite },
    { "Search and serve", &cmd_index },
    { NULL, NULL }
};

static const cli_example main_first[] = {
    { "bloomery build -p 1% -o words.bly words.txt",
      "Make a filter of the lines of a file." },
    { "bloomery query words.bly text.txt",
      "Print the lines that are perhaps in the filter." },
    { "bloomery dedup access.log > once.log",
      "Print each line once; exact, and without sorting." },
    { NULL, NULL }
};

static const cli_example main_environment[] = {
    { "TMPDIR",
      "The folder of temporary files. 'diff', 'join' and 'dedup --count' need "
      "them for a pipe, and 'dedup' and 'join' for lines that do not fit into "
      "their memory. Default: /tmp." },
    { "XDG_CACHE_HOME",
      "The folder whose subfolder bloomery holds the measurements of 'advise "
      "--measure'. Default: ~/.cache, with ~ from HOME." },
    { "BLY_CPU, BLY_AHEAD, BLY_NEAR",
      "How the processor is used: the highest instructions, 'portable', "
      "'sse2', 'avx2' or 'avx512', or 'neon' on aarch64; how many keys ahead "
      "memory is prefetched; and how many KiB count as near. Answers and "
      "files do not depend on them. See '--version --verbose'." },
    { "NO_COLOR",
      "If set and not empty, errors on a terminal are not shown in color." },
    { NULL, NULL }
};

/* Names that users of other tools are likely to try first. */
static const cli_example main_others[] = {
    { "create", "build" }, { "make", "build" }, { "new", "build" },
    { "reserve", "build" }, { "insert", "add" }, { "append", "add" },
    { "delete", "remove" }, { "rm", "remove" }, { "del", "remove" },
    { "contains", "query" }, { "test", "query" }, { "exists", "query" },
    { "lookup", "query" }, { "grep", "search" }, { "rg", "search" },
    { "ask", "query" }, { "uniq", "dedup" }, { "unique", "dedup" },
    { "deduplicate", "dedup" }, { "merge", "unite" }, { "union", "unite" },
    { "combine", "unite" }, { "intersection", "intersect" },
    { "stat", "info" }, { "stats", "info" }, { "show", "info" },
    { "verify", "check" }, { "recommend", "advise" }, { "suggest", "advise" },
    { "compare", "overlap" }, { "similarity", "overlap" },
    { "nearest", "similar" },
    { "catalog", "index" }, { "catalogue", "index" }, { "reindex", "index" },
    { "simsearch", "similar" }, { "tanimoto", "similar" }, { "label", "put" },
    { "set", "put" }, { "dump", "list" }, { NULL, NULL }
};

static const cli_example main_other_options[] = {
    { "fpr", "rate" }, { "fpp", "rate" }, { "error-rate", "rate" },
    { "error", "rate" }, { "false-positive-rate", "rate" },
    { "probability", "rate" }, { "capacity", "items" }, { "size", "items" },
    { "count", "items" }, { "elements", "items" }, { "entries", "items" },
    { "keys", "items" }, { "type", "kind" }, { "filter", "kind" },
    { "out", "output" }, { "threads", "jobs" }, { "delimiter", "separator" },
    { "column", "field" }, { "invert", "invert-match" },
    { "anti", "invert-match" }, { "lower", "ignore-case" },
    { "v", "verbose" }, { "n", "line-number" }, { "H", "with-filename" },
    { "F", "list-field" }, { "F", "to" }, { "d", "differences" },
    { "w", "whole" }, { "l", "files-with-matches" }, { "l", "level" },
    { "n", "rows" }, { "t", "threshold" }, { "b", "both" },
    { "e", "estimate" }, { "u", "update" }, { "within", "superset" },
    { "a", "invert-match" },
    { NULL, NULL }
};

static const cli_program main_program = {
    .name = "bloomery",
    .version = BLY_VERSION,
    .library = bly_version,
    .about = filter_about,
    .summary = "filters for approximate membership",
    .text =
        "A filter remembers a set of keys in a few bits per key. For any key "
        "it answers: certainly not there, or perhaps there. Every key that was "
        "added is found. Another key is found by mistake with a small, known "
        "probability, the false-positive rate.",
    .parts = BLY_PARTS,
    .first = main_first,
    .status =
        "0 for success; 1 for an answer, such as no selected line; 2 after an "
        "error. See bloomery-exit-status (7). A command whose output has lost "
        "its reader ('| head') dies of SIGPIPE.",
    .environment = main_environment,
    .others = main_others,
    .other_options = main_other_options,
    .own = "a filter",
    .knows = filter_knows,
    .commands = main_commands,
    .headings = main_headings,
    .topics = topics,
};

int main(int argc, char **argv)
{
    return program_main(&main_program, argc, argv);
}
