/* cmd_dedup.c - `bloomery dedup`: prints the first occurrence of each line.
 *
 * Lines are compared exactly (exact.c, the default), or with a filter that
 * grows (--approximate) or forgets (--window; filtered.c).
 */
#include "bloomery/exact/dedup.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEDUP_RATE 0.001
#define DEDUP_MEMORY (UINT64_C(256) << 20)
#define DEDUP_HELD_MOST (UINT64_C(1) << 30)
#define DEDUP_MEMORY_LEAST (UINT64_C(1) << 20)

typedef struct {
    const char *kind;           /* NULL, or 0: not given */
    const char *key_file, *output, *folder, *by, *remove;
    units_want  units;          /* read from them                           */
    dedup_outputs outputs;
    cli_operands known;         /* names from malloc                        */
    uint64_t    items, window, memory, jobs;
    double      rate;
    cli_how     how;
    cli_inputs  inputs;
    bool        approximate, count, repeated, unique, verbose,
                no_progress, force, json, resume;
} dedup_settings;

/* The elements of the sets of --similar, unless --by is given. */
static const char dedup_by[] = "ngrams=5";

static const cli_option dedup_options[] = {
    { 'a', "approximate", NULL, CLI_FLAG,
      offsetof(dedup_settings, approximate), false,
      "Store some bits of each distinct line instead of the line. It takes "
      "less memory, and drops at most a share RATE of the new lines by "
      "mistake. A note at the end estimates their number.",
      .excludes = "count only-repeated only-unique" },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(dedup_settings, rate), false,
      "With --approximate and --window: the share of new lines that may be "
      "dropped: 0.001, 0.1%, 1e-6. Default: 0.1%.",
      .needs = "approximate window" },
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(dedup_settings, kind), false,
      "With --approximate: the kind of filter. Default: scalable:of=blocked, "
      "or of=standard for a RATE below 1e-5. Most kinds do not grow and need "
      "-n.",
      .needs = "approximate" },
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(dedup_settings, items), false,
      "With --approximate: the number of distinct lines, n-grams or, with "
      "--similar, documents to expect: 1000000, 1e6, 10k, 2.5M, 1G. A first "
      "guess is enough for a filter that grows.",
      .needs = "approximate" },
    { 'w', "window", "N", CLI_ITEMS, offsetof(dedup_settings, window), false,
      "For endless streams: remember at least the last N distinct lines, or "
      "n-grams, in memory that does not grow. An older line is printed again "
      "if it returns, and at most a share RATE of the new lines is dropped.",
      .excludes = "kind items count only-repeated only-unique memory" },
    { 'c', "count", NULL, CLI_FLAG, offsetof(dedup_settings, count), false,
      "Print each line after its number of occurrences and a TAB. With -c, -d "
      "and -u nothing is printed before the input ends. A pipe is copied to a "
      "temporary file if it has options about keys or does not fit in "
      "--memory." },
    { 'd', "only-repeated", NULL, CLI_FLAG,
      offsetof(dedup_settings, repeated), false,
      "Print only lines that occur twice or more." },
    { 'u', "only-unique", NULL, CLI_FLAG, offsetof(dedup_settings, unique),
      false, "Print only lines that occur once." },
    UNITS_OPTIONS(dedup_settings, units, by, remove),
    { 0, "similar", "SHARE", CLI_SHARE, offsetof(dedup_settings,
                                                 units.similar), false,
      "Remove documents whose similarity with an earlier one that stays is "
      "SHARE or more: 0.8 or 80%. It is the share of their different n-grams "
      "that both have, of 5 words, or of what --by says.",
      .excludes = UNITS_WHOLE " overlap remove window kind" },
    { 0, "known", "FILE", CLI_LIST, offsetof(dedup_settings, known), false,
      "With --by and --similar: the documents in FILE, such as test data, or "
      "their parts, have occurred before. FILE is read first, by the same "
      "options, and not printed. May be repeated.",
      .needs = "by similar" },
    { 0, "annotate", "NAME", CLI_TEXT, offsetof(dedup_settings,
                                                units.annotate), false,
      "With --by or --similar, and --json-field: remove nothing, and add a "
      "member NAME to each document with a text: a list of [FROM, TO, SHARE] "
      "for the characters of repeated parts. With --similar: [LINE, SHARE] of "
      "the earlier document that is most similar, or [].",
      .needs = "by similar" },
    { 0, "output-dir", "FOLDER", CLI_TEXT, offsetof(dedup_settings, folder),
      false, "With --by and --similar: write the documents of each input file "
      "to a file of its name in FOLDER, and compress it if the name ends in "
      ".gz or .zst. A file gets its name when it is complete. The journal for "
      "--resume, " INPUTS_JOURNAL ", is removed when all are; -r reads no file "
      "of this name.",
      .excludes = "output", .needs = "by similar",
      .group = CLI_OUTPUT },
    { 0, "resume", NULL, CLI_FLAG, offsetof(dedup_settings, resume), false,
      "With --output-dir: go on after an interruption, with the same options. "
      "Inputs whose outputs are complete are read again, and these outputs "
      "stay.",
      .needs = "output-dir",
      .group = CLI_OUTPUT },
    { 'M', "memory", "SIZE", CLI_SIZE, offsetof(dedup_settings, memory), false,
      "Use this much memory, and a few MiB per thread (tens of MiB with "
      "n-grams): 512M, 2G; at least 1M. The rest goes to a temporary file in "
      "TMPDIR, apart from two bytes for each line of a pipe. A longer line "
      "takes what it needs. Default: 256M, or for a pipe a sixteenth of the "
      "machine's memory if that is more, up to 1G. With --similar, it is an "
      "error if the tables take more. Default: half of the machine's. "
      "Likewise with --approximate for the filter, without a default.",
      .group = CLI_SPEED },
    { 0, "key-file", "FILE", CLI_TEXT, offsetof(dedup_settings, key_file),
      false, "With --approximate and --window: the secret that lines are "
      "hashed with, 16 bytes or 32 hexadecimal digits. The same secret drops "
      "the same lines. Default: a random secret.",
      .needs = "approximate window",
      .group = CLI_SAFETY },
    CLI_FILES_OPTIONS(dedup_settings, inputs),
    CLI_HOW_OPTIONS(dedup_settings, how),
    CLI_JOBS_OPTION(dedup_settings, jobs),
    CLI_LINES_OPTIONS(dedup_settings),
    { 0, "json", NULL, CLI_FLAG, offsetof(dedup_settings, json), false,
      "With -o FILE: print the report of --verbose as a JSON object on "
      "standard output. 'dropped' is roughly the largest number of new lines "
      "that may have been dropped, and 'rate' is 0 if none was.",
      .needs = "output",
      .group = CLI_OUTPUT },
    { 0, "verbose", NULL, CLI_FLAG, offsetof(dedup_settings, verbose), false,
      "Print on standard error how many lines were read and printed, and in "
      "how many passes.",
      .group = CLI_OUTPUT },
    CLI_NO_PROGRESS_OPTION(dedup_settings, no_progress),
    { 0 }
};

static const cli_example dedup_examples[] = {
    { "bloomery dedup access.log > once.log",
      "Print each line once, in the order of its first occurrence." },
    { "bloomery dedup --count --only-repeated -f 2 -t , users.csv",
      "Print lines whose second column is repeated, with their number." },
    { "tail -n 1000 access.log | bloomery dedup --window 1M",
      "For endless streams: print lines that are not among the last million "
      "distinct lines." },
    { "bloomery dedup --approximate -p 1e-6 urls.txt > once.txt",
      "Use little memory; about one new line in a million may be missing." },
    { "bloomery dedup --json -o unique.txt access.log urls.txt",
      "Write the lines to a file and a report to standard output." },
    { "bloomery dedup -r logs > once.log",
      "Print each line of all files under a folder once." },
    { "bloomery dedup --json-field text --by paragraphs pages.jsonl > new",
      "Remove paragraphs that occurred before from the texts of documents." },
    { "bloomery dedup --json-field text --by ngrams=13 pages.jsonl > new",
      "Remove lines of which four fifths of the runs of 13 words occurred "
      "before." },
    { "bloomery dedup --json-field text --similar 80% pages.jsonl > new",
      "Remove documents that have four fifths of their runs of 5 words in "
      "common with an earlier one." },
    { NULL, NULL }
};

/* ==== The command ======================================================= */

/* Returns the memory of the machine or of the container. */
static uint64_t dedup_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes
                                          : 0;
    FILE *limit = fopen("/sys/fs/cgroup/memory.max", "r");
    uint64_t given;

    if (limit == NULL)
        return all;
    if (fscanf(limit, "%" SCNu64, &given) == 1 && given < all)
        all = given;
    fclose(limit);
    return all;
}

/* Returns the memory for lines of a pipe, which is read once. */
static uint64_t dedup_held(void)
{
    uint64_t part = dedup_machine() / 16;

    return part < DEDUP_MEMORY ? DEDUP_MEMORY
         : part < DEDUP_HELD_MOST ? part : DEDUP_HELD_MOST;
}

/* Without --memory, similar documents may take half of the machine's. */
static int dedup_similar(const dedup_settings *s, const cli_operands *operands,
                         dedup_tally *tally)
{
    similar_want want = { .how = s->how, .approximate = s->approximate,
                          .items = s->items, .memory = s->memory,
                          .jobs = s->jobs, .rate = s->rate,
                          .progress = !s->no_progress, .units = &s->units };

    if (want.memory == 0 && !s->approximate)
        want.memory = dedup_machine() / 2;
    return similar_run(&want, operands, tally);
}

static int dedup_exactly(const dedup_settings *s, const cli_operands *operands,
                         dedup_tally *tally)
{
    exact_want want = { .how = s->how, .jobs = s->jobs,
                        .memory = s->memory > 0 ? s->memory : DEDUP_MEMORY,
                        .held = s->memory > 0 ? s->memory : dedup_held(),
                        .count = s->count, .repeated = s->repeated,
                        .unique = s->unique, .progress = !s->no_progress,
                        .units = s->by != NULL ? &s->units : NULL };

    return exact_run(&want, operands, tally);
}

static int dedup_by_filter(const dedup_settings *s,
                           const cli_operands *operands, dedup_tally *tally)
{
    filtered_want want = { .how = s->how, .jobs = s->jobs, .kind = s->kind,
                           .items = s->items, .window = s->window,
                           .memory = s->memory, .rate = s->rate,
                           .progress = !s->no_progress,
                           .units = s->by != NULL ? &s->units : NULL };

    return filtered_run(&want, operands, tally);
}

/* Reports, with -v, how the lines were compared. */
static void dedup_tell_way(const dedup_settings *s, const dedup_tally *tally,
                           char *text, size_t room)
{
    static const char *const passes[] = { "one pass", "two passes",
                                          "three passes" };

    if (s->units.similar > 0 && !s->approximate)
        snprintf(text, room, "%s pairs compared, %s in a temporary file",
                 report_count(tally->compared).text,
                 report_bytes(tally->spilled).text);
    else if (!s->approximate)
        snprintf(text, room, "no new line was dropped (%s, %s)",
                 passes[tally->passes - 1], tally->spilled == 0
                 ? "in memory" : report_bytes(tally->spilled).text);
    else
        snprintf(text, room, "at most %s of the new lines were dropped",
                 report_percent(tally->rate).text);
}

/* Returns the name of what is compared. */
static const char *dedup_noun(const dedup_settings *s)
{
    return s->by != NULL && s->units.by == UNITS_PARAGRAPHS ? "paragraph"
                                                            : "line";
}

/* Returns how many new lines, or parts of documents, were probably taken for
 * repeated ones: of n, n * (1 - rate) were not. */
static double dedup_lost(const dedup_settings *s, const dedup_tally *tally)
{
    uint64_t kept = s->by != NULL ? tally->parts - tally->repeated
                                  : tally->kept;

    return (double)kept * tally->rate / (1 - tally->rate);
}

/* Reports how many documents are left, and how many of their parts were
 * repeated. */
static void dedup_tell_parts(const dedup_settings *s, const dedup_tally *tally)
{
    report_note("note: %ss that occurred before: %s of %s; documents printed: "
                "%s of %s", dedup_noun(s), report_count(tally->repeated).text,
                report_count(tally->parts).text,
                report_count(tally->kept).text,
                report_count(tally->lines).text);
    if (s->approximate && s->units.by == UNITS_GRAMS)
        report_note("note: at most %s of the new n-grams counted as repeated",
                    report_percent(tally->rate).text);
}

/* Reports, for bands in a filter, what they find and how many documents were
 * probably removed by mistake. */
static void dedup_tell_bands(const dedup_settings *s, const dedup_tally *tally,
                             const minhash_shape *shape)
{
    double lost = dedup_lost(s, tally), unit = report_unit(lost);

    report_note("note: %zu bands of %zu hashes remove 10%% of the documents "
                "with a similarity of %.3g%%, half of those with %.3g%%, and "
                "90%% of those with %.3g%%", shape->bands, shape->rows,
                100 * minhash_similarity(shape, 0.1),
                100 * minhash_similarity(shape, 0.5),
                100 * minhash_similarity(shape, 0.9));
    if (lost >= 1)
        report_note("note: up to about %s documents that are not similar may "
                    "have been removed (%s): leave out --approximate to remove "
                    "none", report_estimate(ceil(lost / unit) * unit).text,
                    report_percent(tally->rate).text);
}

/* Reports how many documents are similar to earlier ones, and how many may have
 * been missed. */
static void dedup_tell_similar(const dedup_settings *s,
                               const dedup_tally *tally)
{
    double similar = s->units.similar;
    minhash_shape shape;

    similar_shape(&shape, similar, s->approximate);
    report_note("note: documents that are similar to earlier ones: %s of %s; "
                "documents printed: %s of %s",
                report_count(tally->repeated).text,
                report_count(tally->parts).text,
                report_count(tally->kept).text,
                report_count(tally->lines).text);
    if (s->approximate)
        dedup_tell_bands(s, tally, &shape);
    else
        report_note("note: %zu bands of %zu hashes miss %.2f%% of the "
                    "documents whose similarity is exactly %.4g%%, and fewer "
                    "of the others; each removal was verified",
                    shape.bands, shape.rows,
                    100 * (1 - minhash_found(&shape, similar)), 100 * similar);
}

/* Reports how many new lines were probably lost. Says nothing if the chance
 * that any was lost is below 1 in 1000. A filter with all bits set drops
 * everything. */
static void dedup_tell_loss(const dedup_settings *s, const dedup_tally *tally)
{
    const char *instead = s->approximate && s->window == 0
                        ? ": leave out --approximate to drop none" : "";
    double lost = dedup_lost(s, tally);
    double unit = report_unit(lost);

    if (tally->rate > 0.5)
        report_note("note: most new %ss were dropped, at a rate of up to %s%s",
                    dedup_noun(s), report_percent(tally->rate).text, instead);
    else if (lost >= 1)
        report_note("note: up to about %s new %ss may have been dropped (%s of "
                    "the different ones)%s",
                    report_estimate(ceil(lost / unit) * unit).text,
                    dedup_noun(s),
                    report_percent(tally->rate).text, instead);
    else if (lost >= 0.001)
        report_note("note: a new %s may have been dropped, with a probability "
                    "of %s%s", dedup_noun(s), report_percent(lost).text,
                    instead);
}

static void dedup_json_similar(const dedup_settings *s,
                               const dedup_tally *tally)
{
    minhash_shape shape;

    similar_shape(&shape, s->units.similar, s->approximate);
    json_count("similar", tally->repeated);
    json_count("compared", tally->compared);
    json_count("bands", shape.bands);
    json_count("rows", shape.rows);
    json_real("missed", 1 - minhash_found(&shape, s->units.similar));
}

static void dedup_json(const dedup_settings *s, const dedup_tally *tally,
                       double seconds)
{
    double rate = s->approximate ? tally->rate : 0;

    json_open_object(NULL);
    json_count("lines", tally->lines);
    json_count("printed", tally->kept);
    json_count("keyless", tally->keyless);
    json_real("rate", rate);
    if (s->units.similar > 0)
        dedup_json_similar(s, tally);
    else if (s->by != NULL) {
        json_count("parts", tally->parts);
        json_count("repeated", tally->repeated);
    }
    if (s->by == NULL || s->units.similar > 0 || s->units.by != UNITS_GRAMS)
        json_real("dropped", s->approximate ? dedup_lost(s, tally) : 0);
    json_count("passes", s->approximate ? 1 : tally->passes);
    json_count("spilled_bytes", tally->spilled);
    json_real("seconds", seconds);
    json_real("lines_per_second", report_per_second(tally->lines, seconds));
    json_string("output", s->output);
    json_close_object();
}

static void dedup_report(const dedup_settings *s, const dedup_tally *tally,
                         double seconds)
{
    char way[192];

    if (s->json)
        dedup_json(s, tally, seconds);
    dedup_tell_way(s, tally, way, sizeof way);
    if (s->verbose)
        report_note("%s lines in %s (%s), %s printed; %s",
                    report_count(tally->lines).text,
                    report_seconds(seconds).text,
                    report_speed(report_per_second(tally->lines,
                                                   seconds)).text,
                    report_count(tally->kept).text, way);
    report_unique(tally->keyless);
    if (s->units.similar > 0)
        dedup_tell_similar(s, tally);
    else if (s->by != NULL)
        dedup_tell_parts(s, tally);
    if (s->approximate && s->units.similar <= 0
        && (s->by == NULL || s->units.by != UNITS_GRAMS))
        dedup_tell_loss(s, tally);
}

static int dedup_check_kind(const dedup_settings *s)
{
    bly_spec any = { .capacity = 1, .rate = s->rate, .hash = secret_hash(),
                     .secret = secret_bytes() };
    bly_plan_t plan;

    if (filter_kind_check(s->kind) != CLI_GO)
        return CLI_ERROR;
    if (bly_plan(&plan, s->kind, &any) < 0)
        return filter_error();
    if (!filter_kind_can(s->kind, BLY_CAN_ADD))
        return report_error("kind %s cannot add lines: 'bloomery kinds' lists "
                            "the kinds that can", s->kind);
    if (filter_kind_can(s->kind, BLY_CAN_FORGET))
        return report_error("kind %s forgets lines, which would be printed "
                            "again: use --window N to set how many lines are "
                            "remembered", s->kind);
    return CLI_GO;
}

/* Chooses a secret hash seed, so that nobody can craft lines that drop others.
 * Kinds of integers and of other systems have fixed hash functions. */
static int dedup_secret(const dedup_settings *s)
{
    static const unsigned char secret[BLY_SECRET_BYTES];
    const bly_spec any = { .capacity = 1, .rate = s->rate, .hash = "siphash",
                           .secret = secret };
    bly_plan_t plan;
    bly_status status;

    if (s->key_file != NULL)
        return secret_read(s->key_file);
    status = s->kind != NULL ? bly_plan(&plan, s->kind, &any) : BLY_OK;
    return status == BLY_EHASH || status == BLY_ESECRET ? CLI_GO
                                                        : secret_draw();
}

/* Verifies the similarity, which is above 0. */
static int dedup_check_similar(const dedup_settings *s)
{
    minhash_shape shape;

    if (!similar_shape(&shape, s->units.similar, s->approximate))
        return report_error("--similar %.4g is too small to be found: give a "
                            "share of 5%% or more", s->units.similar);
    if (s->approximate && s->units.annotate != NULL)
        return report_error("--annotate tells the similarity, which a filter "
                            "does not know: leave out --approximate");
    return CLI_GO;
}

/* Reads the options about the parts of documents. */
static int dedup_check_units(dedup_settings *s)
{
    if (s->units.similar == 0)
        return report_error("--similar 0 makes every document similar: give a "
                            "share above 0, up to 100%%");
    if (s->units.similar < 0)
        s->units.similar = 0;
    if (s->units.similar > 0 && s->by == NULL)
        s->by = dedup_by;
    if (units_check(&s->units, s->by, s->remove, &s->how) != CLI_GO)
        return CLI_ERROR;
    if (s->units.similar > 0 && dedup_check_similar(s) != CLI_GO)
        return CLI_ERROR;
    if (s->how.member == NULL && s->units.annotate != NULL)
        return report_error("--annotate adds a member to JSON objects: give "
                            "the member with the text as --json-field NAME");
    return CLI_GO;
}

static int dedup_check(const cli_command *self, dedup_settings *s)
{
    int status = how_check(self, &s->how);

    if (status == CLI_GO && (s->by != NULL || s->units.similar >= 0))
        status = dedup_check_units(s);
    if (status != CLI_GO)
        return status;
    if (made_check(self, s->folder != NULL ? s->folder : s->output, s->json)
        != CLI_GO)
        return CLI_ERROR;
    if (s->resume && (s->approximate ? s->key_file == NULL
                                     : s->units.similar > 0))
        return report_error("--resume needs the hashes of the earlier run, and "
                            "--similar and --approximate draw others: give "
                            "--key-file with --approximate, or start again "
                            "without --resume");
    if (s->memory > 0 && s->memory < DEDUP_MEMORY_LEAST)
        return report_error("--memory is too small: give 1M or more");
    if (!s->approximate)
        return CLI_GO;
    if (dedup_secret(s) != CLI_GO)
        return CLI_ERROR;
    return s->kind != NULL ? dedup_check_kind(s) : CLI_GO;
}

/* Appends an option, or nothing if it is not given, and a TAB. `value` may be
 * NULL. */
static bool dedup_put(cli_bytes *to, bool given, const char *option,
                      const char *value)
{
    return (!given || bytes_text(to, option))
        && (!given || value == NULL
            || (bytes_text(to, " ") && bytes_text(to, value)))
        && bytes_text(to, "\t");
}

/* Appends an option that takes a real number, which is positive if it is
 * given. */
static bool dedup_put_real(cli_bytes *to, const char *option, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.10g", value);
    return dedup_put(to, value > 0, option, text);
}

static bool dedup_put_count(cli_bytes *to, const char *option, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return dedup_put(to, value > 0, option, text);
}

/* Appends the options about lines and members. */
static bool dedup_put_how(const cli_how *how, cli_bytes *to)
{
    return dedup_put(to, how->null, "-0", NULL)
        && dedup_put(to, how->crlf, "--crlf", NULL)
        && dedup_put(to, how->keep_cr, "--keep-cr", NULL)
        && dedup_put(to, how->compressed, "--no-decompress", NULL)
        && dedup_put(to, how->text, "--text", NULL)
        && dedup_put(to, how->trust, "--trust-json", NULL)
        && dedup_put(to, how->member != NULL, "--json-field", how->member);
}

/* Appends the known files, with what identifies their content. */
static bool dedup_put_known(const dedup_settings *s,
                            const cli_operands *operands, cli_bytes *to)
{
    char identity[80];
    bool fits = true;

    for (size_t i = 0; fits && i < s->units.known; i++)
        fits = bytes_format(to, "--known %s", operands->names[i])
            && (!outputs_identity(identity, sizeof identity,
                                  operands->names[i])
                || bytes_format(to, "\v%s", identity))
            && bytes_text(to, "\t");
    return fits;
}

/* Writes the options that decide what is written, and the known files. The
 * secret is told apart from others, but not written. CLI_GO or CLI_ERROR. */
static int dedup_put_options(const dedup_settings *s,
                             const cli_operands *operands, cli_bytes *to)
{
    bool by_secret = s->approximate && s->key_file != NULL;
    uint64_t mark = 0;
    bool fits;

    if (by_secret && secret_mark(&mark) != CLI_GO)
        return CLI_ERROR;
    fits = dedup_put(to, true, "--by", s->by)
        && dedup_put_real(to, "--overlap", s->units.overlap)
        && dedup_put_real(to, "--similar", s->units.similar)
        && dedup_put(to, s->remove != NULL, "--remove", s->remove)
        && dedup_put(to, s->approximate && s->window == 0, "--approximate",
                     NULL)
        && dedup_put(to, s->kind != NULL, "--kind", s->kind)
        && dedup_put_count(to, "--items", s->items)
        && dedup_put_count(to, "--memory", s->approximate ? s->memory : 0)
        && dedup_put_count(to, "--window", s->window)
        && dedup_put_real(to, "--rate", s->approximate ? s->rate : 0)
        && (!by_secret || bytes_format(to, "--key-file\v%016" PRIx64, mark))
        && bytes_text(to, "\t") && dedup_put_how(&s->how, to)
        && dedup_put(to, s->units.annotate != NULL, "--annotate",
                     s->units.annotate)
        && dedup_put_known(s, operands, to) && bytes_put(to, "", 1);
    return fits ? CLI_GO : report_no_memory();
}

/* Opens the outputs of all files but the known ones. The journal records the
 * options. */
static int dedup_open_outputs(dedup_settings *s, const cli_operands *operands)
{
    cli_bytes options = { NULL, 0, 0, 0 };
    outputs_want want = { s->folder, NULL, s->resume, s->force,
                          s->units.known, s->inputs.found };
    int status = CLI_ERROR;

    if (dedup_put_options(s, operands, &options) != CLI_GO) {
        bytes_free(&options);
        return CLI_ERROR;
    }
    want.options = (const char *)options.data;
    s->units.outputs = &s->outputs;
    s->outputs.lock = -1;
    if (strchr(want.options, '\n') != NULL)
        report_error("a name has a newline, which the journal of --output-dir "
                     "cannot hold");
    else
        status = outputs_open(&s->outputs, &want, operands);
    bytes_free(&options);
    return status == CLI_GO ? status : outputs_close(&s->outputs, CLI_ERROR);
}

/* Returns whether no line had anything to compare, and no note has told why: an
 * option is wrong. */
static bool dedup_compared_none(const dedup_settings *s,
                                const dedup_tally *tally)
{
    return tally->keyless > 0 && tally->keyless == tally->lines
        && (s->by != NULL || report_unexplained(tally->keyless) > 0);
}

static int dedup_lines(dedup_settings *s, const cli_operands *operands)
{
    dedup_tally tally = { .lines = 0 };
    double start = report_clock();
    int status;

    if (s->rate <= 0)
        s->rate = DEDUP_RATE;
    s->no_progress |= s->output == NULL && s->folder == NULL
                   && !progress_apart();
    status = s->folder != NULL ? dedup_open_outputs(s, operands)
                               : output_open(s->output);
    if (status != CLI_GO)
        return status;
    status = (s->units.similar > 0 ? dedup_similar
              : s->approximate ? dedup_by_filter : dedup_exactly)(s, operands,
                                                                  &tally);
    if (status == CLI_OK && dedup_compared_none(s, &tally))
        status = report_error("%s", report_none());
    if (s->folder == NULL)
        status = output_close(status);
    else if (dedup_compared_none(s, &tally))
        status = outputs_withdraw(&s->outputs);
    else
        status = outputs_close(&s->outputs, status);
    if (status == CLI_OK && !output_failed())
        dedup_report(s, &tally, report_clock() - start);
    return tally.over ? CLI_ERROR : status;
}

/* Makes a list of all files, the known ones first. The names are the caller's.
 * CLI_GO or CLI_ERROR. */
static int dedup_list(dedup_settings *s, const cli_operands *operands,
                      cli_operands *all)
{
    static char pipe[] = "-";
    size_t n = operands->count > 0 ? operands->count : 1;

    s->units.known = s->known.count;
    all->names = malloc((s->known.count + n) * sizeof *all->names);
    if (all->names == NULL)
        return report_no_memory();
    all->count = s->known.count + n;
    s->units.known_rows = calloc(s->known.count, sizeof *s->units.known_rows);
    if (s->units.known_rows == NULL)
        return report_no_memory();
    for (size_t i = 0; i < s->known.count; i++)
        all->names[i] = s->known.names[i];
    for (size_t i = 0; i < n; i++)
        all->names[s->known.count + i] = operands->count > 0
                                       ? operands->names[i] : pipe;
    for (size_t i = 0; i < s->known.count; i++)
        if (strcmp(s->known.names[i], "-") == 0)
            return report_error("--known cannot be read from standard input: "
                                "name a file");
    return CLI_GO;
}

static int dedup_run(const cli_command *self, int argc, char **argv)
{
    dedup_settings s = { .how = CLI_HOW_UNSAID, .units.overlap = -1,
                         .units.similar = -1 };
    cli_operands operands, all = { NULL, 0 };
    int status = options_read(self, argc, argv, &s, &operands);

    s.approximate |= s.window > 0;
    if (status == CLI_GO)
        status = dedup_check(self, &s);
    if (status == CLI_GO)
        status = inputs_take(self, &s.inputs, &s.how, &operands, 0);
    if (status == CLI_GO && s.known.count > 0) {
        status = dedup_list(&s, &operands, &all);
        operands = all;
    }
    if (status == CLI_GO)
        status = filter_check_lines(s.output, s.force, &operands);
    if (status == CLI_GO)
        status = dedup_lines(&s, &operands);
    inputs_end(&s.inputs, status != CLI_ERROR);
    free(all.names);
    free(s.units.known_rows);
    free(s.known.names);
    return status;
}

const cli_command cmd_dedup = {
    .name = "dedup",
    .operands = "[KEYS...]",
    .summary = "print the first occurrence of each line",
    .text =
        "Prints each line of the files KEYS, or of standard input, when it "
        "occurs for the first time, in the order of the input. The input need "
        "not be sorted. Lines are compared byte by byte: no line is lost, and "
        "no line is printed twice.\n\n"
        "A pipe is read once, and each new line is printed at once. Distinct "
        "lines are kept in memory. Those that do not fit in --memory go to a "
        "temporary file, which is read only for lines that may be repeated "
        "according to a filter. Files are read two or three times, which takes "
        "less memory: a filter finds the lines that may be repeated, and only "
        "these are compared. Compressed files are read once, as a pipe is, if "
        "they take less than a quarter of the memory of a pipe.\n\n"
        "With --approximate, a filter alone decides whether a line is new. No "
        "repeated line is ever printed, but a share of the new lines, at most "
        "RATE, is dropped by mistake. Lines are hashed with a secret that is "
        "drawn for each run, so nobody can choose lines that drop others. With "
        "--window, old lines are forgotten, and printed when they return.\n\n"
        "With -f, lines are compared by columns, and the first line with them "
        "is printed whole. A line that lacks a column is different from all "
        "others; if no line has it, the status is 2. A last line without a "
        "newline gets one, as in awk, sort and "
        "uniq.\n\n"
        "With --by, parts of documents are compared, and what is left of each "
        "document is printed: only the text of its member changes. A part is "
        "repeated if it occurred before, in an earlier document or in its own. "
        "Blank lines belong to the part before them. With ngrams=N, a line is "
        "compared by its runs of N words, as 61-bit hashes. Words end at "
        "blanks; from U+2E80 on, each character is a word. A line of fewer "
        "words stays.\n\n"
        "With --similar, a document is the set of its n-grams, which may span "
        "lines, or of what --by says. If there are none, its whole text is "
        "the only element, even if it is empty. The similarity of two "
        "documents is the number of elements in both, divided by the number "
        "in either. Candidates are found by MinHash and then compared, so "
        "nothing is removed by mistake. At most 1 % of the documents with "
        "exactly the similarity SHARE are missed, and fewer of the others. "
        "With --approximate, the MinHashes are in a filter, and nothing is "
        "compared: documents of somewhat less similarity are removed, too, "
        "and at most a share RATE of the others. Notes tell the numbers.\n\n"
        "A file that cannot be read ends the command before anything is "
        "printed. Damage in a compressed file may be noticed only at its end, "
        "when lines that it changed have been printed: use -o, which keeps "
        "FILE unchanged after an error. With --approximate and --window an "
        "unreadable file is reported, and the other files are still read.",
    .options = dedup_options,
    .usual = "field separator count only-repeated by approximate window "
             "output",
    .examples = dedup_examples,
    .status = "0, or "
              CLI_KEPT("FILE"),
    .run = dedup_run,
};
