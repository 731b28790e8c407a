/* cmd_build.c - `bloomery build`: a new filter from the keys of lines. build.c
 * chooses how. */
#include "bloomery/build/build.h"
#include "frame/options.h"

#include <stdio.h>
#include <stdlib.h>

static const cli_option build_options[] = {
    { 'o', "output", "FILE", CLI_TEXT, offsetof(cli_build, output), true,
      "The file of the filter, or '-' for standard output. An existing file "
      "is replaced only when the new one is complete.",
      .group = CLI_OUTPUT },
    CLI_FORCE_OPTION(cli_build, force),
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(cli_build, kind), false,
      "The kind of filter with its options, such as blocked or standard:k=5. "
      "Default: " BLY_DEFAULT_KIND ". 'bloomery kinds' lists kinds." },
    CLI_SPEC_OPTIONS(cli_build),
    CLI_HASH_OPTION(cli_build, hash),
    CLI_SECRET_OPTION(cli_build, key_file),
    CLI_MEMORY_OPTION(cli_build, memory),
    CLI_KEY_OPTION(cli_build, inputs),
    CLI_FILES_OPTIONS(cli_build, inputs),
    CLI_HOW_OPTIONS(cli_build, how),
    CLI_LABEL_OPTION(cli_build, how, "For kinds that carry labels."),
    { 0, "without", "FILE", CLI_LIST, offsetof(cli_build, without), false,
      "All other keys that will ever be queried, one per line; none of them "
      "is found. May be repeated. For kinds that separate, such as cascade.",
      .excludes = "within label key" },
    { 0, "within", "ALL", CLI_LIST, offsetof(cli_build, within), false,
      "Instead of --without: all keys that will ever be queried, including "
      "the filter's own. May be repeated.",
      .excludes = "label key" },
    { 0, "coverage", "FILE", CLI_TEXT, offsetof(cli_build, coverage), false,
      "For kind clubcard: the logs of certificates that are covered. A line is "
      "64 digits, the first time and the last, in milliseconds since 1970." },
    CLI_OVERFILL_OPTION(cli_build, overfill),
    CLI_JOBS_OPTION(cli_build, jobs),
    { 0, "verbose", NULL, CLI_FLAG, offsetof(cli_build, verbose), false,
      "Print what was built on standard error.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(cli_build, json), false,
      "Print what was built as a JSON object. 'different' estimates the "
      "distinct keys, 'capacity' is the number planned for, and 'seconds' is "
      "the time of reading and adding the keys, without counting and saving.",
      .group = CLI_OUTPUT },
    CLI_NO_PROGRESS_OPTION(cli_build, no_progress),
    { 0 }
};

static const cli_example build_examples[] = {
    { "bloomery build -o words.bly words.txt",
      "Make a filter of the lines of a file, with a false-positive rate of 1 "
      "%." },
    { "bloomery build -k blocked -p 0.1% -f 2 -t , -o ids.bly users.csv",
      "Use the second column, and a kind that looks into one cache line." },
    { "cut -d ' ' -f 1 access.log | bloomery build -n 1M -o seen.bly",
      "Plan for a million keys: a pipe cannot be counted beforehand." },
    { "find logs -name '*.log' -print0 | bloomery build --files0-from - -o "
      "all.bly",
      "Read the lines of many files." },
    { "bloomery build -k cuckoo -o members.bly members.txt",
      "Make a filter whose keys can be removed." },
    { "bloomery build -k counting -o visits.bly visits.txt",
      "Make a filter that counts, for 'bloomery count'." },
    { "bloomery build -k bloomier:bits=8 -l 2 -o shard.bly shards.tsv",
      "Store the second column as a label of 8 bits, for 'bloomery get'." },
    { "bloomery build -k spatial:areas=3 -l 1 -o zones.bly cells.tsv",
      "Store in which of three areas a cell of a map is, from lines such as "
      "'2 TAB 48.85,2.35'." },
    { "bloomery build -k cascade --without valid.txt -o revoked.bly "
      "revoked.txt",
      "Make a revocation list that is exact for the serial numbers in both "
      "files." },
    { "bloomery build -k cascade --within issued.txt -o revoked.bly "
      "revoked.txt",
      "Make the same list from all issued serial numbers." },
    { "bloomery build -k clubcard:keys=tab --within certificates.tsv -o filter "
      "revoked.tsv",
      "Make a list with a block for each issuer, as Firefox has." },
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

    s->how.listing = s->how.nests = true;
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
    if (bly_form_nests(s->how.form)
        && (build_outside(s)->count > 0 || s->how.label.n > 0))
        return options_wrong(self, "-l, --without and --within are for keys "
                                   "that stand alone: they cannot be used with "
                                   "--as domain, cidr or path");
    if (s->coverage != NULL && !build_is_clubcard(s))
        return options_wrong(self, "--coverage is for kind clubcard");
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
    cli_build s = { .kind = BLY_DEFAULT_KIND, .how = CLI_HOW_UNSAID };
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
        "Reads keys, one per line, from the files KEYS or from standard input "
        "('-'), and writes a filter of them to a new FILE. 'bloomery help "
        "keys' explains how lines become keys, and 'bloomery help rates' what "
        "the rate means.\n\n"
        "Without -n the keys are counted first. That needs files, which may "
        "have to be read twice; for a pipe give -n, where a high estimate is "
        "fine, or -k expandable, which needs none. Up to 8 million keys are "
        "read once if the kind only adds keys or can be resized: their hashes "
        "are kept, in 64 MiB (of compressed files 32 million, in 256 MiB). "
        "For kinds that only add keys, the number of distinct keys is "
        "estimated (HyperLogLog). The filter is planned for 4 % more, which "
        "is five standard deviations, but never for more keys than there are "
        "lines. Other kinds store something each time that a key is added, "
        "and are planned for all lines.\n\n"
        "If there are more keys than planned, all of them are found, but the "
        "false-positive rate is higher, and a warning says so. At twice as "
        "many, 'build' stops with an error unless --overfill is given: a new "
        "FILE then has the keys so far, and an old FILE stays as it was.\n\n"
        "Kinds that are built from all keys at once need no -n, but hold the "
        "hashes of all keys in memory, 8 bytes each. With -l, they hold 8 "
        "bytes more for each label, and a key that is repeated must have the "
        "same label again (bloomier). Other kinds with labels (approximator, "
        "spatial, attenuated) keep the largest label of a key, or attenuated "
        "the smallest. A label that is not a number, or does not fit the "
        "filter (see 'bloomery plan'), is an error that names its line.\n\n"
        "With --without and --within, the filter is exact for a closed "
        "universe: it finds all of its keys and none of the others. Its "
        "answer for a key outside the universe means nothing. The hashes of "
        "all keys are held in memory, 16 bytes each. The kind cascade needs "
        "one of these options. So does clubcard, whose keys belong to groups; "
        "it reads the other keys twice and holds only about one or two of them "
        "for each of the filter's own.",
    .options = build_options,
    .usual = "output kind rate items field separator recursive verbose",
    .examples = build_examples,
    .status = "0 if the filter was built, "
              CLI_KEPT("FILE"),
    .run = build_run,
};
