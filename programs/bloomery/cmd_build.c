/* cmd_build.c - `bloomery build`: a new filter from the keys of lines.
 *
 * A filter must know beforehand how many keys it will hold. Without -n the
 * keys are counted first, and the different ones estimated. Their hashes are
 * held meanwhile; where they are too many, or the kind needs more than those,
 * the files are read again, and so must be such as can be. Floor 8; includes
 * command.h and <bloomery.h> only.
 */
#include "bloomery/command.h"
#include "frame/measure.h"
#include "frame/options.h"
#include "frame/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
      "cascade." },
    { 0, "within", "ALL", CLI_LIST, offsetof(cli_build, within), false,
      "Instead of --without: all keys that will ever be asked for, the keys of "
      "the filter among them. The others are what is left of the file ALL "
      "without those. It may be given several times, too." },
    CLI_OVERFILL_OPTION(cli_build, overfill),
    CLI_JOBS_OPTION(cli_build, jobs),
    { 'v', "verbose", NULL, CLI_FLAG, offsetof(cli_build, verbose), false,
      "Say on standard error what was built." },
    { 0, "json", NULL, CLI_FLAG, offsetof(cli_build, json), false,
      "Print what was built as a JSON object. Where the keys were counted "
      "'different' is about how many different ones there are; 'capacity' is "
      "how many were planned for. 'seconds' is the time of reading and adding, "
      "without saving after, and without counting before if the keys are then "
      "read again." },
    { 0, "no-progress", NULL, CLI_FLAG, offsetof(cli_build, no_progress),
      false, "Show no progress on the terminal." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
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
      "Of lines such as 'alice TAB 7' the second column is a label of 8 bits, "
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

/* ==== How many keys ===================================================== */

/* Keys that a filter which grows begins with, when they cannot be counted, or
 * there are none as yet; and one that does not. */
enum { BUILD_FIRST = 1 << 16, BUILD_LEAST = 1 };

static uint64_t build_first(const cli_build *s)
{
    return filter_kind_can(s->kind, BLY_CAN_GROW) ? BUILD_FIRST : BUILD_LEAST;
}

/* Fill in spec->capacity by reading everything; stdin is wound back. Where a
 * key that comes again leaves the filter as it is, only different ones are
 * planned for; where it may be full, the hashes are held for more than one
 * try. */
static int build_count(const cli_build *s, cli_lines *lines, bly_spec *spec,
                       cli_fed *fed, cli_counted *counted)
{
    off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    bool once = estimate_serves(s->kind);
    bool fills = filter_kind_can(s->kind, BLY_CAN_RESIZE);
    int status;

    progress_expect(0.4);
    status = feed_count(lines, work_jobs(s->jobs), !s->no_progress, fed,
                        once || fills ? counted : NULL);

    if (start >= 0)
        lseek(STDIN_FILENO, start, SEEK_SET);
    if (status != CLI_GO)
        return status;
    spec->capacity = fed->keys == 0 ? build_first(s) : !once ? fed->keys
                   : estimate_capacity(&counted->different, fed->keys);
    if (s->verbose && once && fed->keys > 0)
        feed_planned(fed, &counted->different);
    return CLI_GO;
}

/* The keys come from a pipe, and nobody has said how many. A kind that grows
 * takes the place of plain sets, but carries no labels and is not exact. */
static int build_uncounted(const cli_build *s, bly_spec *spec)
{
    if (!filter_kind_can(s->kind, BLY_CAN_GROW))
        return report_error("the keys of a pipe cannot be counted beforehand: "
                            "give -n ITEMS, how many there will be at most%s",
                            filter_kind_of_family(s->kind, "sets")
                            ? ", or take a kind that grows (-k scalable)"
                            : "");
    spec->capacity = build_first(s);
    return CLI_GO;
}

/* A wrong kind or hash is told before anything is read; a kind whose options
 * fix its size needs no count. */
static int build_size(const cli_build *s, const cli_operands *operands,
                      bly_spec *spec, cli_fed *fed, cli_counted *counted)
{
    uint64_t total = 0;
    bly_plan_t plan;
    bly_status planned = bly_plan(&plan, s->kind, spec);
    cli_lines lines;
    int status;

    if (planned < 0 && (spec->capacity > 0 || planned != BLY_EPARAM))
        return filter_error();
    lines_open(&lines, &s->how, operands, 0, false);
    status = measure_input(&lines, &total);
    if (status == CLI_OK && spec->capacity == 0)
        status = build_count(s, &lines, spec, fed, counted);
    else if (status == CLI_NONE && spec->capacity == 0 && planned < 0)
        status = build_uncounted(s, spec);
    lines_close(&lines);
    return status == CLI_ERROR ? status : CLI_GO;
}

/* ==== Building ========================================================== */

/* Returns whether nothing is saved: a filter that lacks keys of the input does
 * not replace one that may have all of them, nor goes to who cannot know. */
static bool build_keeps(const cli_build *s, const cli_fed *fed)
{
    struct stat about;

    return fed->cut && (s->whole || strcmp(s->output, "-") == 0
                        || stat(s->output, &about) == 0);
}

/* Of the keys, of what is known of them by counting, and of the others if there
 * are any; `kept`: nothing was saved. */
static int build_report(const cli_build *s, const bly_filter *filter,
                        const cli_fed *fed, const cli_counted *counted,
                        const cli_fed *others, bool kept)
{
    char advice[80];
    int status;
    cli_feed_report how = { .output = s->output, .advice = advice,
                            .overfill = "give --overfill",
                            .kept = kept,
                            .rate = s->rate, .kind = s->kind,
                            .verbose = s->verbose, .json = s->json,
                            .others = others };

    if (counted != NULL && counted->estimated)
        how.different = &counted->different;
    if (fed->over)
        snprintf(advice, sizeof advice, "build it again with a larger -n");
    else
        snprintf(advice, sizeof advice, "build it again with -n %llu",
                 (unsigned long long)fed->keys);
    status = feed_report(filter, fed, &how);
    if (fed->keys == 0 && s->items == 0 && others == NULL)
        feed_none(filter);
    return status;
}

/* Save what was built, and tell. */
static int build_done(const cli_build *s, bly_filter *filter,
                      const cli_fed *fed, const cli_counted *counted,
                      const cli_fed *others)
{
    bool kept = build_keeps(s, fed);
    int status = kept ? CLI_OK : filter_save(filter, s->output);

    return status == CLI_OK
         ? build_report(s, filter, fed, counted, others, kept) : status;
}

static int build_fill(const cli_build *s, const cli_operands *operands,
                      cli_feed *feed, bly_filter *filter, cli_fed *fed)
{
    cli_lines lines;
    int status;

    fed->full = "give a larger -n";
    fed->overfill = s->overfill;
    lines_open(&lines, &s->how, operands, 0, false);
    progress_expect(0.9);
    status = feed(filter, &lines, work_jobs(s->jobs), !s->no_progress, fed);
    lines_close(&lines);
    return status == CLI_OK && feed_some(fed) != CLI_GO ? CLI_ERROR : status;
}

/* In its file, which gets its name when it is complete. */
static int build_in_file(const cli_build *s, const cli_operands *operands,
                         const bly_spec *spec, const cli_counted *counted)
{
    cli_fed fed;
    bly_filter *filter = paged_create(s->output, s->kind, spec, s->memory);
    bool kept;
    int status;

    if (filter == NULL)
        return CLI_ERROR;
    status = build_fill(s, operands, feed_filter, filter, &fed);
    kept = status == CLI_OK && build_keeps(s, &fed);
    if (status == CLI_OK && !kept && bly_seal(filter) < 0)
        status = filter_error();
    if (status == CLI_OK)
        status = build_report(s, filter, &fed, counted, NULL, kept);
    bly_free(filter);
    return status;
}

static bool build_shares(const cli_build *s, const bly_spec *spec)
{
    bly_plan_t plan;

    return bly_plan(&plan, s->kind, spec) >= 0
        && filter_shares(s->kind, plan.bytes, work_jobs(s->jobs));
}

/* Into an empty filter, key by key. */
static int build_by_reading(const cli_build *s, const cli_operands *operands,
                            bly_spec *spec, const cli_counted *counted)
{
    cli_feed *feed = s->how.label.n > 0 ? feed_put : feed_filter;
    bly_filter *filter;
    cli_fed fed;
    int status;

    if (paged_builds(s->kind, spec, s->output, s->memory))
        return build_in_file(s, operands, spec, counted);
    if (feed == feed_filter && build_shares(s, spec)) {
        spec->flags = BLY_SHARED;
        feed = feed_shared;
    }
    if (bly_new(&filter, s->kind, spec) < 0)
        return filter_error();
    status = build_fill(s, operands, feed, filter, &fed);
    if (status == CLI_OK)
        status = build_done(s, filter, &fed, counted, NULL);
    bly_free(filter);
    return status;
}

/* Were all hashes held while the keys were counted? One of UINT64_MAX may be a
 * word where numbers belong, whose line is to be told. */
static bool build_held(const cli_counted *counted)
{
    for (size_t i = 0; i < counted->n && counted->hashes != NULL; i++)
        if (counted->hashes[i] == UINT64_MAX)
            return false;
    return counted->hashes != NULL;
}

/* Keys that come several times may not fit where so many different ones do:
 * cuckoo has two buckets for all copies of a key. Then there is more room, up
 * to four times as much, or five. */
static bly_status build_with_room(bly_filter **out, const cli_build *s,
                                  const bly_spec *spec,
                                  const cli_counted *counted)
{
    bly_spec more = *spec;
    bly_status status;

    more.progress = progress_library();
    for (;;) {
        status = bly_build(out, s->kind, &more, counted->hashes, NULL,
                           counted->n);
        if (status != BLY_EFULL || more.capacity / 4 >= spec->capacity)
            return status;
        more.capacity += more.capacity / 4 + 1;
    }
}

/* From the hashes: the filter is the one that reading them again makes. */
static int build_by_hashes(const cli_build *s, const bly_spec *spec,
                           cli_fed *fed, const cli_counted *counted)
{
    double start = report_clock();
    bly_filter *filter;
    int status;

    progress_expect(0.8);
    progress_start("build", 0, false);
    status = build_with_room(&filter, s, spec, counted);
    progress_close();
    if (status == BLY_EFULL)
        return report_error("keys come too often for kind %s, whatever its "
                            "size: give each once (bloomery dedup), or take a "
                            "kind that counts in little room (-k quotient)",
                            s->kind);
    if (status < 0)
        return filter_error();
    fed->seconds += report_clock() - start;
    status = build_done(s, filter, fed, counted, NULL);
    bly_free(filter);
    return status;
}

/* A filter to which keys can be added. */
static int build_by_adding(const cli_build *s, const cli_operands *operands,
                           bly_spec *spec)
{
    cli_counted counted = { .kind = s->kind, .spec = spec };
    cli_fed fed;
    int status = build_size(s, operands, spec, &fed, &counted);

    if (status == CLI_GO)
        status = build_held(&counted)
              && !paged_builds(s->kind, spec, s->output, s->memory)
               ? build_by_hashes(s, spec, &fed, &counted)
               : build_by_reading(s, operands, spec, &counted);
    free(counted.hashes);
    return status;
}

static int build_hashes(const cli_build *s, const cli_operands *operands,
                        cli_hashes *hashes, cli_fed *fed)
{
    cli_lines lines;
    int status;

    lines_open(&lines, &s->how, operands, 0, false);
    progress_expect(0.5);
    status = feed_hashes(hashes, &lines, work_jobs(s->jobs), !s->no_progress,
                         fed);
    lines_close(&lines);
    return status;
}

/* The files that tell what the others are; none: there are no others. */
static const cli_operands *build_outside(const cli_build *s)
{
    return s->within.count > 0 ? &s->within : &s->without;
}

static const char *build_outside_name(const cli_build *s)
{
    return s->within.count > 0 ? "--within" : "--without";
}

/* Is this a kind that carries labels, or separates, if that is wanted? */
static int build_labels(const cli_build *s, const bly_plan_t *plan,
                        cli_hashes *hashes)
{
    bool outside = build_outside(s)->count > 0;

    if (outside && !filter_kind_can(s->kind, BLY_CAN_SEPARATE))
        return report_error("kind %s cannot keep keys out: leave out %s, or "
                            "take -k cascade", plan->kind,
                            build_outside_name(s));
    if (!outside && filter_kind_can(s->kind, BLY_CAN_SEPARATE))
        return report_error("kind %s tells keys apart from all others, and "
                            "needs those too: give --without FILE or --within "
                            "ALL, or take -k ribbon for a filter of the keys "
                            "alone", plan->kind);
    if (s->how.label.n > 0 && plan->label_bits == 0)
        return report_error("kind %s carries no labels: leave out -l, or "
                            "choose one that does (see 'bloomery kinds')",
                            plan->kind);
    if (s->how.label.n > 0)
        hashes->may = (cli_labels){ plan->label_least, plan->label_most };
    return CLI_GO;
}

/* One file of other keys. */
static int build_others(const cli_build *s, char **path, cli_hashes *hashes,
                        cli_fed *sum)
{
    cli_operands file = { path, 1 };
    uint64_t lacking;
    cli_fed fed;
    int status = build_hashes(s, &file, hashes, &fed);

    if (status != CLI_OK)
        return status;
    if (fed.keyless > 0 && fed.keys == 0 && s->how.member != NULL)
        return report_error("no line of '%s' has a key: check --json-field",
                            *path);
    if (fed.keyless > 0 && fed.keys == 0)
        return report_error("no line of '%s' has a key: give its keys the "
                            "column and separator that the others have (-f, "
                            "-t)", *path);
    lacking = report_unexplained(fed.keyless);
    if (lacking > 0)
        report_note("note: %s %s of '%s' %s no such %s and %s skipped",
                    report_count(lacking).text,
                    lacking == 1 ? "line" : "lines", *path,
                    lacking == 1 ? "has" : "have", report_lack.part,
                    lacking == 1 ? "was" : "were");
    sum->keys += fed.keys;
    sum->keyless += fed.keyless;
    return CLI_OK;
}

/* The keys so far are members: the others follow, or all keys do. Labels tell
 * them apart. */
static int build_without(const cli_build *s, const cli_operands *operands,
                         cli_hashes *hashes, cli_fed *others)
{
    const cli_operands *outside = build_outside(s);
    cli_disjoint lists = { &s->how, operands, outside };
    bool within = s->within.count > 0;
    size_t members = hashes->n;
    int status = CLI_OK;

    *others = (cli_fed){ .keys = 0 };
    for (size_t i = 0; i < outside->count && status == CLI_OK; i++)
        status = build_others(s, &outside->names[i], hashes, others);
    if (status == CLI_OK)
        status = (within ? within_run : disjoint_run)(hashes, &members,
                                                      &lists);
    if (status != CLI_OK)
        return status;
    if (within)
        others->keys = hashes->n - members;
    free(hashes->labels);
    hashes->labels = malloc((hashes->n + 1) * sizeof *hashes->labels);
    if (hashes->labels == NULL)
        return report_no_memory();
    for (size_t i = 0; i < hashes->n; i++)
        hashes->labels[i] = i < members;
    return CLI_OK;
}

static int build_from(const cli_build *s, const cli_hashes *hashes,
                      const cli_fed *fed, const cli_fed *others)
{
    bool labels = hashes->may.most > 0 || others != NULL;
    bly_spec spec = *hashes->spec;
    bly_filter *filter;
    int status;

    spec.progress = progress_library();
    progress_expect(0.9);
    progress_start("build", 0, false);
    status = bly_build(&filter, hashes->kind, &spec, hashes->hashes,
                       labels ? hashes->labels : NULL, hashes->n);
    progress_close();
    if (status < 0)
        return filter_error();
    status = build_done(s, filter, fed, NULL, others);
    bly_free(filter);
    return status;
}

static int build_all(const cli_build *s, const cli_operands *operands,
                     cli_hashes *hashes)
{
    bool without = build_outside(s)->count > 0;
    cli_fed fed, others;
    int status;

    hashes->checks = s->within.count > 0
                  && (s->hash == NULL || strcmp(s->hash, "decimal") != 0);
    status = build_hashes(s, operands, hashes, &fed);

    if (status == CLI_OK && feed_some(&fed) != CLI_GO)
        return CLI_ERROR;
    if (status == CLI_OK && without)
        status = build_without(s, operands, hashes, &others);
    if (status == CLI_OK)
        status = build_from(s, hashes, &fed, without ? &others : NULL);
    return status;
}

/* A kind that is built from all its keys: the hashes are held till then, and
 * the labels. A wrong option is told before anything is read. */
static int build_at_once(const cli_build *s, const cli_operands *operands,
                         bly_spec *spec)
{
    cli_hashes hashes = { .kind = s->kind, .spec = spec };
    bly_plan_t plan;
    int status;

    spec->capacity = spec->capacity == 0 ? 1 : spec->capacity;
    if (bly_plan(&plan, s->kind, spec) < 0)
        return filter_error();
    status = build_labels(s, &plan, &hashes);
    if (status != CLI_GO)
        return status;
    status = build_all(s, operands, &hashes);
    free(hashes.hashes);
    free(hashes.labels);
    return status;
}

static bool build_is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* The other keys are more input. */
static int build_check_without(const cli_command *self, const cli_build *s,
                               const cli_operands *operands)
{
    const cli_operands *outside = build_outside(s);
    const char *name = build_outside_name(s);
    size_t theirs = 0;
    char what[80];

    if (outside->count == 0)
        return CLI_GO;
    if (s->within.count > 0 && s->without.count > 0)
        return options_wrong(self, "--within and --without exclude each other");
    snprintf(what, sizeof what, "-l and %s exclude each other", name);
    if (s->how.label.n > 0)
        return options_wrong(self, what);
    snprintf(what, sizeof what, "--key and %s exclude each other", name);
    if (s->inputs.keys.count > 0)
        return options_wrong(self, what);
    for (size_t i = 0; i < outside->count; i++)
        theirs += build_is_stdin(outside->names[i]);
    snprintf(what, sizeof what, "KEYS and %s both want standard input", name);
    if (theirs > 0 && inputs_stdin(&s->inputs, operands, 0))
        return options_wrong(self, what);
    snprintf(what, sizeof what, "%s wants standard input twice", name);
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
    if (s->json && strcmp(s->output, "-") == 0)
        return options_wrong(self, "-o - and --json both want standard output");
    if (filter_kind_check(s->kind) != CLI_GO
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

/* The formats of other systems cannot state the form of the keys. */
static int build_unstated(cli_build *s)
{
    int status = forms_follow(&s->how, BLY_KEYS_UNSTATED, s->output);

    if (status == CLI_GO && forms_changes(s->how.form))
        report_note("note: a file of this format cannot state that its keys "
                    "have the form %s: query it with the same options",
                    forms_name(s->how.form).text);
    return status;
}

int build_make(const cli_command *self, cli_build *s,
               const cli_operands *operands)
{
    bly_spec spec = { .capacity = s->items, .rate = s->rate, .seed = s->seed,
                      .hash = s->hash,
                      .threads = (uint32_t)work_jobs(s->jobs) };
    int status = build_check(self, s, operands);

    if (status != CLI_GO)
        return status;
    if (filter_kind_of_family(s->kind, "foreign"))
        status = build_unstated(s);
    if (s->how.stated)
        spec.form = s->how.form;
    spec.secret = secret_bytes();
    progress_open("build", !s->no_progress);
    if (build_outside(s)->count > 0 || !filter_kind_can(s->kind, BLY_CAN_ADD)
        || (s->how.label.n > 0 && !filter_kind_can(s->kind, BLY_CAN_LABEL)))
        status = build_at_once(s, operands, &spec);
    else
        status = build_by_adding(s, operands, &spec);
    progress_close();
    return status;
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
        "standard deviations, but never for more keys than there are lines; -v "
        "tells. Other kinds keep something of a key each time that it comes, "
        "and are planned for all lines. If "
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
