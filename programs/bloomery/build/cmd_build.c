/* cmd_build.c - `bloomery build`: a new filter from the keys of lines. build.c
 * chooses how. */
#include "bloomery/build/build.h"
#include "frame/options.h"

#include <stdio.h>
#include <stdlib.h>

static const cli_option build_options[] = {
    { 'o', "output", "FILE", CLI_TEXT, offsetof(cli_build, output), true,
      "Where the filter goes; '-' is standard output. An existing file is "
      "replaced only when the new one is complete." },
    CLI_FORCE_OPTION(cli_build, force),
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(cli_build, kind), false,
      "The kind of filter, with its options: standard, blocked, standard:k=5. "
      "'bloomery kinds' lists them. Default: " BLY_DEFAULT_KIND "." },
    CLI_SPEC_OPTIONS(cli_build),
    CLI_HASH_OPTION(cli_build, hash),
    CLI_SECRET_OPTION(cli_build, key_file),
    CLI_MEMORY_OPTION(cli_build, memory),
    CLI_KEY_OPTION(cli_build, inputs),
    CLI_FILES_OPTIONS(cli_build, inputs),
    CLI_HOW_OPTIONS(cli_build, how),
    CLI_LABEL_OPTION(cli_build, how, "For kinds that carry labels."),
    { 0, "without", "FILE", CLI_LIST, offsetof(cli_build, without), false,
      "All other keys that will ever be asked for, in lines of the same form; "
      "'-' is standard input. None of them is found then. It may be given "
      "several times, for several files. For kinds that separate, such as "
      "cascade.",
      .excludes = "within label key" },
    { 0, "within", "ALL", CLI_LIST, offsetof(cli_build, within), false,
      "Instead of --without: all keys that will ever be asked for, the keys of "
      "the filter among them. The others are what is left of the file ALL "
      "without those. It may be given several times, too.",
      .excludes = "label key" },
    CLI_OVERFILL_OPTION(cli_build, overfill),
    CLI_JOBS_OPTION(cli_build, jobs),
    { 0, "verbose", NULL, CLI_FLAG, offsetof(cli_build, verbose), false,
      "Say on standard error what was built." },
    { 0, "json", NULL, CLI_FLAG, offsetof(cli_build, json), false,
      "Print what was built as a JSON object. Where the keys were counted "
      "'different' is about how many different ones there are; 'capacity' is "
      "how many were planned for. 'seconds' is the time of reading and adding, "
      "without saving after, and without counting before if the keys are then "
      "read again." },
    CLI_NO_PROGRESS_OPTION(cli_build, no_progress),
    { 0 }
};

static const cli_example build_examples[] = {
    { "bloomery build -o words.bly words.txt",
      "One key per line, a false-positive rate of 1 %." },
    { "find . -type f -print0 | bloomery build -0 -n 1M -o files.bly",
      "Keys of a pipe cannot be counted beforehand: -n says how many there "
      "may be." },
    { "bloomery build -k blocked -p 0.1% -f 2 -t , -o ids.bly *.csv",
      "The second column of comma-separated lines, in a filter that looks "
      "into one cache line per key." },
    { "bloomery build -k bloomier:bits=8 -l 2 -o shard.bly shards.tsv",
      "The second column of lines such as 'alice TAB 7' is a label of 8 bits, "
      "for 'bloomery get'." },
    { "bloomery build -k spatial:areas=3 -l 1 -o zones.bly cells.tsv",
      "Lines such as '2 TAB 48.85,2.35': in which of three areas a cell of "
      "the map is." },
    { "find . -name '*.txt' -print0 | bloomery build --files0-from - -o f.bly",
      "The lines of many files." },
    { "bloomery build -k cascade --without valid.txt -o revoked.bly "
      "revoked.txt",
      "A revocation list: right for every serial number of both files." },
    { "bloomery build -k cascade --within issued.txt -o revoked.bly "
      "revoked.txt",
      "The same from the list of all serial numbers." },
    { NULL, NULL }
};

/* Verifies the files of other keys, which are more input. CLI_GO or
 * CLI_ERROR. */
static int build_check_without(const cli_command *self, const cli_build *s,
                               const cli_operands *operands)
{
    const cli_operands *outside = build_outside(s);
    const char *name = build_outside_name(s);
    size_t theirs = 0;
    char what[80];

    if (outside->count == 0)
        return CLI_GO;
    for (size_t i = 0; i < outside->count; i++)
        theirs += inputs_is_stdin(outside->names[i]);
    snprintf(what, sizeof what, "KEYS and %s cannot both be read from standard "
             "input", name);
    if (theirs > 0 && inputs_stdin(&s->inputs, operands, 0))
        return options_wrong(self, what);
    snprintf(what, sizeof what, "%s names standard input twice", name);
    if (theirs > 1)
        return options_wrong(self, what);
    return filter_check_output(s->output, s->force, outside, 0);
}

static int build_check(const cli_command *self, cli_build *s,
                       const cli_operands *operands)
{
    int status;

    s->how.listing = true;
    status = how_check(self, &s->how);

    if (status == CLI_GO)
        status = secret_read(s->key_file);
    if (status != CLI_GO)
        return status;
    if (made_check(self, s->output, s->json) != CLI_GO
        || filter_kind_check(s->kind) != CLI_GO
        || filter_hash_check(s->hash) != CLI_GO
        || paged_memory_check(s->memory) != CLI_GO)
        return CLI_ERROR;
    if (s->memory > 0 && !filter_kind_can(s->kind, BLY_CAN_PAGE))
        return options_wrong(self, "--memory is for kinds that consist of "
                                   "pages, such as buffered");
    if (build_check_without(self, s, operands) != CLI_GO)
        return CLI_ERROR;
    return filter_check_output(s->output, s->force, operands, 0);
}

int build_make(const cli_command *self, cli_build *s,
               const cli_operands *operands)
{
    int status = build_check(self, s, operands);

    return status == CLI_GO ? build_filter(s, operands) : status;
}

static int build_run(const cli_command *self, int argc, char **argv)
{
    cli_build s = { .kind = BLY_DEFAULT_KIND, .rate = 0.01,
                    .how = CLI_HOW_UNSAID };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = inputs_take(self, &s.inputs, &s.how, &operands, 0);
    if (status == CLI_GO)
        status = build_make(self, &s, &operands);
    inputs_end(&s.inputs, status != CLI_ERROR);
    free(s.without.names);
    free(s.within.names);
    return status;
}

const cli_command cmd_build = {
    .name = "build",
    .operands = "[KEYS...]",
    .summary = "make a filter from the keys of lines",
    .text =
        "Reads keys, one per line, from the files KEYS (or standard input, "
        "which is also '-') and writes a filter of them to a new FILE.\n\n"
        "A filter is planned for a number of keys and a false-positive rate. "
        "Without -n the keys are counted first, which takes files that can be "
        "read twice; for a pipe give -n, where a high estimate is fine. Of "
        "kinds that only add keys the different ones are counted: their number "
        "is estimated (HyperLogLog), and the filter planned for 4 % more, five "
        "standard deviations, but never for more keys than there are lines; "
        "--verbose tells. Other kinds keep something of a key each time that "
        "it comes, and are planned for all lines. If "
        "more keys come than planned, all of them are found, but the "
        "false-positive rate is higher than asked, and a warning says so. At "
        "twice as many 'build' stops with an error, unless --overfill is "
        "given: a new file then has the keys up to there, and an old one "
        "stays.\n\n"
        "A filter bigger than memory is built in its file, if its kind "
        "consists of pages (buffered); --memory says how much memory keys may "
        "wait in.\n\n"
        "Kinds that are built from all their keys at once (see 'bloomery "
        "kinds') need no -n: the hashes of the keys, 8 bytes each, are held "
        "in memory until then. With -l each key has a label, for kinds that "
        "carry labels. For a kind that is built at once (bloomier) the labels "
        "take 8 bytes more of memory each, and a key that comes twice must "
        "have the same label both times; other kinds (approximator, spatial, "
        "attenuated) take keys and labels as they come, and keep one label of "
        "a key: the largest, or in kind attenuated the smallest. A label that "
        "is no number, or none of the filter's (see 'bloomery plan'), is an "
        "error that names its line.\n\n"
        "With --without FILE the filter is built of the keys and of all "
        "others there are, those of FILE: it finds all keys and none of the "
        "others. What it says of a key in neither means nothing. With --within "
        "ALL it is the same of the keys that are in the file ALL and are none "
        "of the filter's; all of these must be in ALL. Kind cascade is made "
        "for that, and must have one of the two. The hashes of all keys are "
        "held, in 16 bytes each.\n\n"
        "A line without a column of -f or -l has no key and is skipped; "
        "their number is reported. An empty line is a key, the empty one. If "
        "there is no line at all the filter is empty: it finds no key.",
    .options = build_options,
    .examples = build_examples,
    .status = "0 if the filter was built, " CLI_KEPT("FILE"),
    .run = build_run,
};
