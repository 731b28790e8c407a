/* main.c - the command `bloomery`: its table of subcommands.
 *
 * To add a subcommand, add a file cmd_NAME.c and a line in main_commands.
 */
#include "bloomery/command.h"
#include "frame/program.h"

static const cli_command *const main_commands[] = {
    &cmd_build, &cmd_add, &cmd_remove, &cmd_query, &cmd_count, &cmd_put,
    &cmd_get, &cmd_dedup, &cmd_resize, &cmd_info, &cmd_check, &cmd_plan,
    &cmd_advise, &cmd_kinds, &cmd_formats, &cmd_convert, &cmd_list,
    &cmd_unite, &cmd_intersect, &cmd_compare, &cmd_sketch, &cmd_diff, &cmd_join,
    &cmd_similar, &cmd_index, &cmd_which,
#if defined(BLY_SEARCH)
    &cmd_search,
#endif
#if defined(BLY_SERVE)
    &cmd_serve,
#endif
    &program_cmd_help, NULL
};

static const cli_example main_environment[] = {
    { "TMPDIR",
      "The folder of temporary files, which 'diff', 'join' and 'dedup --count' "
      "need for a pipe, and 'dedup' and 'join' for what does not fit into "
      "their memory. Default: /tmp." },
    { "XDG_CACHE_HOME",
      "'advise --measure' keeps what it measures in the folder bloomery of "
      "this one, where 'advise' finds it. Default: ~/.cache, with ~ from "
      "HOME." },
    { "BLY_CPU, BLY_AHEAD, BLY_NEAR",
      "How the processor is used, where another way is better than the one "
      "that is chosen: no higher instructions than 'portable', 'sse2', 'avx2' "
      "or 'avx512', or on aarch64 'neon'; how many keys ahead memory is asked "
      "for; KiB that count as near. Answers and files do not depend on it. See "
      "'--version --verbose'." },
    { "NO_COLOR",
      "If it is set to anything, errors on a terminal are not shown in "
      "colour." },
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
    { "similarity", "compare" }, { "nearest", "similar" },
    { "catalog", "index" }, { "catalogue", "index" }, { "reindex", "index" },
    { "simsearch", "similar" }, { "tanimoto", "similar" }, { "label", "put" },
    { "set", "put" }, { "dump", "list" }, { "keys", "list" }, { NULL, NULL }
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
        "Filters for approximate membership: a filter remembers a set of keys "
        "in a few bits each, and answers for any key: certainly not there, or "
        "perhaps there. A key that was added is always found; one "
        "that was not is found by accident with a small, known probability, "
        "the false-positive rate.",
    .first =
        "  bloomery build -p 1% -o words.bly words.txt\n"
        "  bloomery query words.bly < text\n",
    .status =
        "0 if all went well; 2 after an error. 1 is an answer: of 'query' that "
        "it selected no line, of 'count' and 'get' that no key is there, of "
        "'remove' that some keys were not there or could not be removed, of "
        "'put' that some were not there, of 'diff' that there is a difference, "
        "of 'similar' that no row is similar enough, of 'which' that no file "
        "may have the words, of 'search' that no line matches. A command "
        "whose output has lost its reader ('| head') dies of SIGPIPE.",
    .environment = main_environment,
    .others = main_others,
    .other_options = main_other_options,
    .own = "a filter",
    .knows = filter_knows,
    .commands = main_commands,
};

int main(int argc, char **argv)
{
    return program_main(&main_program, argc, argv);
}
