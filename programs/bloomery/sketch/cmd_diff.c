/* cmd_diff.c - `bloomery diff`: lists the differences from a sketch's owner.
 *
 * With a listable sketch, the same sketch is made of the local keys, the two
 * are subtracted, and the differences are listed. Keys that are only here are
 * found by their hashes in a second reading. With any other filter, the command
 * lists the keys that are not in it.
 */
#include "bloomery/sketch/sketches.h"
#include "frame/json.h"
#include "frame/numbers.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"
#include "frame/strange.h"

#include <bloomery/sketch.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* False-positive rate at which a filter is useless. */
#define DIFF_USELESS 0.99
#define DIFF_FAR     2

typedef struct {
    cli_how  how;
    uint64_t jobs, unpack_limit;
    const char *key_file;
    bool     both, theirs, estimate, verbose, json, no_progress;
} diff_settings;

typedef struct {
    const diff_settings *want;
    const char          *name;
    const bly_filter    *sketch;
    cli_operands         keys;          /* can be read twice               */
    const cli_operands  *operands;
    off_t                start;         /* of stdin; -1 if it is a pipe    */
    sketch_distinct     *how;           /* the keys being visited          */
    sketch_hashes        lacking;       /* hashes of keys that are only here */
    uint64_t             only_sketch, only_keys;
    bool                 known;         /* whether only_sketch is known    */
    bly_estimate         differ;
    cli_fed              fed;
} diff_job;

static const cli_option diff_options[] = {
    { 0, "both", NULL, CLI_FLAG, offsetof(diff_settings, both), false,
      "Print all differences: '< ' before a key that only the sketch has, '> "
      "' before a key that only KEYS have. A key of the sketch is printed as "
      "its hash, 16 hexadecimal digits, unless the sketch has whole keys.",
      .excludes = "theirs estimate" },
    { 0, "theirs", NULL, CLI_FLAG, offsetof(diff_settings, theirs), false,
      "Print the keys or hashes that only the sketch has.",
      .excludes = "estimate" },
    { 0, "estimate", NULL, CLI_FLAG, offsetof(diff_settings, estimate),
      false, "Print only the estimated number of differences, with its "
      "standard deviation. This works for any number of differences." },
    { 0, "verbose", NULL, CLI_FLAG, offsetof(diff_settings, verbose), false,
      "Print on standard error how many keys differ.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(diff_settings, json), false,
      "Print only a JSON object: how many keys only the sketch has (null if "
      "it cannot tell), how many only KEYS have, and the estimated "
      "differences (null if the kind cannot be compared).",
      .group = CLI_OUTPUT },
    CLI_HOW_OPTIONS(diff_settings, how),
    CLI_JOBS_OPTION(diff_settings, jobs),
    CLI_SECRET_OPTION(diff_settings, key_file),
    CLI_UNPACK_OPTION(diff_settings, unpack_limit),
    CLI_NO_PROGRESS_OPTION(diff_settings, no_progress),
    { 0 }
};

static const cli_example diff_examples[] = {
    { "bloomery diff theirs.bly keys.txt > send.txt",
      "Print the keys that the owner of the sketch lacks (status 1)." },
    { "bloomery diff --both theirs.bly keys.txt",
      "Print all differences, marked as by diff (status 1)." },
    { "bloomery diff --estimate theirs.bly keys.txt",
      "Estimate how large a sketch is needed (status 1)." },
    { NULL, NULL }
};

/* ==== Printing ========================================================== */

static bool diff_prints_keys(const diff_settings *s)
{
    return !s->theirs && !s->estimate && !s->json;
}

static bool diff_print(const diff_job *job, const char *mark, const void *key,
                       size_t length)
{
    char end = job->want->how.null ? '\0' : '\n';

    return output_text(job->want->both ? mark : "")
        && output_bytes(key, length) && output_bytes(&end, 1);
}

/* Prints keys that are only here; a fresh() callback. */
static int diff_fresh(void *context, const bly_key *keys,
                      const uint64_t *hashes, size_t n)
{
    diff_job *job = context;
    bool good = true;

    (void)hashes;
    job->only_keys += n;
    if (!diff_prints_keys(job->want))
        return CLI_GO;
    for (size_t i = 0; i < n && good; i++)
        good = diff_print(job, "> ", keys[i].data, keys[i].length);
    return good && (!job->how->idle || output_flush()) ? CLI_GO : CLI_ERROR;
}

/* Starts reading from the beginning, also of stdin if it is a file. */
static void diff_open(const diff_job *job, cli_lines *lines)
{
    if (job->start >= 0)
        lseek(STDIN_FILENO, job->start, SEEK_SET);
    lines_open(lines, &job->want->how, &job->keys, 0, false);
    lines_name(lines, job->operands, 1);
}

static int diff_read(diff_job *job, sketch_distinct *how, const char *doing)
{
    cli_lines lines;
    int status;

    job->how = how;
    diff_open(job, &lines);
    status = distinct_run(how, &lines, work_jobs(job->want->jobs), doing,
                          !job->want->no_progress, &job->fed);
    lines_close(&lines);
    return status;
}

/* ==== By a sketch that can be listed ==================================== */

/* Visits a difference. */
static bool diff_visit(void *context, const bly_listed *one)
{
    diff_job *job = context;
    const diff_settings *s = job->want;
    char hash[17];

    if (one->side < 0) {
        hashes_add(&job->lacking, one->hash);
        return true;
    }
    job->only_sketch++;
    if (!(s->both || s->theirs) || s->json)
        return true;
    if (one->key != NULL)
        return diff_print(job, "< ", one->key, one->length);
    numbers_hex(hash, one->hash);
    return diff_print(job, "< ", hash, sizeof hash - 1);
}

/* Suggests a larger sketch: two standard deviations more or, if that was just
 * bad luck, twice as many differences, rounded to two digits. */
static int diff_crowd(const diff_job *job, uint64_t capacity)
{
    double enough = ceil(job->differ.value + 2 * job->differ.sd);

    if (enough <= (double)capacity)
        enough = 2 * (double)capacity;
    enough = ceil(enough / report_unit(enough)) * report_unit(enough);
    double unit = report_unit(job->differ.sd);
    cli_text about = report_estimate(round(job->differ.value / unit) * unit);
    bool one = strcmp(about.text, "1") == 0;
    return report_error("about %s %s, but '%s' was made for %s and cannot list "
                        "%s: request one made with 'bloomery sketch "
                        "--differences %.0f'", about.text,
                        one ? "key differs" : "keys differ", job->name,
                        report_count(capacity).text,
                        one ? "which" : "them", enough);
}

static int diff_list(diff_job *job, const bly_filter *left)
{
    bly_info_t stat;
    bly_status listed;

    bly_info(&stat, left);
    job->differ = (bly_estimate){ stat.distinct, stat.distinct_sd };
    if (job->want->estimate)
        return CLI_GO;
    if (hashes_open(&job->lacking) != CLI_GO)
        return CLI_ERROR;
    if (!hashes_room(&job->lacking, (size_t)(stat.geometry[0]
                                             * stat.geometry[1])))
        return report_no_memory();
    listed = bly_list_keys(left, diff_visit, job);
    if (listed == BLY_EFULL)
        return diff_crowd(job, stat.capacity);
    if (listed < 0)
        return filter_error();
    job->known = true;
    job->only_keys = job->lacking.used + job->lacking.zero;
    return output_failed() ? CLI_ERROR : CLI_GO;
}

/* Returns the sketch minus one of the local keys, or NULL. */
static bly_filter *diff_subtract(const diff_job *job, const bly_filter *mine)
{
    bly_filter *left = NULL;

    if (bly_copy(&left, job->sketch, NULL) == BLY_OK
        && bly_subtract(left, mine) == BLY_OK)
        return left;
    filter_error();
    bly_free(left);
    return NULL;
}

static void diff_select_lacking(void *context, const bly_key *keys,
                                const uint64_t *hashes, size_t n,
                                bool *selected)
{
    const diff_job *job = context;

    (void)keys;
    for (size_t i = 0; i < n; i++)
        selected[i] = hashes_has(&job->lacking, hashes[i]);
}

/* Prints the keys whose hashes are only here. */
static int diff_print_lacking(diff_job *job)
{
    sketch_distinct how = { .hasher = job->sketch,
                            .select = diff_select_lacking,
                            .fresh = diff_fresh, .context = job };
    uint64_t wanted = job->only_keys;
    int status;

    if (wanted == 0 || !diff_prints_keys(job->want))
        return CLI_GO;
    job->only_keys = 0;
    status = diff_read(job, &how, "printing");
    if (status == CLI_GO && job->only_keys != wanted)
        return report_error("the keys changed while they were being read: try "
                            "again with a copy of them");
    return status;
}

/* Reports a local key that is too long for the other sketch. */
static int diff_too_long(const diff_job *job, const sketch_into *into)
{
    bly_info_t stat;

    bly_info(&stat, job->sketch);
    if (into->longest > UINT8_MAX)
        return report_error("a key has %zu bytes, but '%s' stores keys of up "
                            "to %zu: request one made with 'bloomery sketch "
                            "--differences %" PRIu64 "', with hashes alone",
                            into->longest, job->name, into->whole,
                            stat.capacity);
    return report_error("a key has %zu bytes, but '%s' stores keys of up to "
                        "%zu: request one made with 'bloomery sketch "
                        "--differences %" PRIu64 " --whole %zu'", into->longest,
                        job->name, into->whole, stat.capacity, into->longest);
}

static int diff_exactly(diff_job *job, uint64_t whole)
{
    bly_filter *mine, *left = NULL;
    int status;

    if (bly_like(&mine, job->sketch, NULL) < 0)
        return filter_error();
    sketch_into into = { .filter = mine, .whole = (size_t)whole };
    sketch_distinct how = { .hasher = mine, .fresh = sketch_put,
                            .context = &into };
    status = diff_read(job, &how, "sketching");
    if (status == CLI_GO && !sketch_fits(&into))
        status = diff_too_long(job, &into);
    if (status == CLI_GO) {
        left = diff_subtract(job, mine);
        status = left != NULL ? diff_list(job, left) : CLI_ERROR;
    }
    bly_free(mine);
    bly_free(left);
    return status == CLI_GO ? diff_print_lacking(job) : status;
}

/* ==== By any other filter =============================================== */

static void diff_select_absent(void *context, const bly_key *keys,
                               const uint64_t *hashes, size_t n,
                               bool *selected)
{
    const diff_job *job = context;

    if (filter_can(job->sketch, BLY_CAN_WHOLE_KEYS))
        bly_contains_many(job->sketch, &(bly_keys){ .n = n, .keys = keys },
                          selected);
    else
        bly_contains_hashes(job->sketch, hashes, n, selected);
    for (size_t i = 0; i < n; i++)
        selected[i] = !selected[i];
}

/* Estimates the number of differences from a filter of the local keys. */
static int diff_compare(diff_job *job, bly_filter *mine)
{
    bly_overlap_t overlap;
    cli_lines lines;
    int status;

    job->fed.full = "make the sketch with a larger -n";
    job->fed.overfill = true;
    diff_open(job, &lines);
    status = feed_filter(mine, &lines, work_jobs(job->want->jobs),
                         !job->want->no_progress, &job->fed);
    lines_close(&lines);
    if (status == CLI_OK && bly_overlap(&overlap, job->sketch, mine) == BLY_OK)
        job->differ = overlap.differ;
    if (status == CLI_OK && job->want->estimate
        && !isfinite(job->differ.value))
        return report_error("the number of differences cannot be estimated, "
                            "because every bit of '%s', or of a filter like it "
                            "of the keys here, is set: request one made for as "
                            "many keys as there are ('bloomery sketch -n')",
                            job->name);
    return status == CLI_OK ? CLI_GO : status;
}

static int diff_estimate(diff_job *job)
{
    const diff_settings *s = job->want;
    bly_filter *mine;
    int status;

    if (!s->estimate && !s->verbose && !s->json)
        return CLI_GO;
    if (filter_can(job->sketch, BLY_CAN_OVERLAP)
        && bly_like(&mine, job->sketch, NULL) == BLY_OK) {
        status = diff_compare(job, mine);
        bly_free(mine);
        return status;
    }
    if (!s->estimate)
        return CLI_GO;
    return report_error("'%s' is of kind %s, which cannot be compared: make "
                        "the sketch with --differences, or of kind standard",
                        job->name, bly_kind_of(job->sketch));
}

static int diff_nearly(diff_job *job)
{
    sketch_distinct how = { .hasher = job->sketch, .select = diff_select_absent,
                            .fresh = diff_fresh, .context = job };
    int status = diff_estimate(job);

    if (status != CLI_GO || job->want->estimate)
        return status;
    return diff_read(job, &how, "asking");
}

/* ==== The report ======================================================== */

static void diff_json(const diff_job *job)
{
    json_open_object(NULL);
    json_string("sketch", job->name);
    json_string("kind", bly_kind_of(job->sketch));
    json_count("keys", job->fed.keys);
    json_count("keyless", job->fed.keyless);
    if (job->known)
        json_count("only_sketch", job->only_sketch);
    else
        json_real("only_sketch", NAN);
    if (job->want->estimate)
        json_real("only_keys", NAN);
    else
        json_count("only_keys", job->only_keys);
    json_open_object("differ");
    json_real("value", job->differ.value);
    json_real("sd", job->differ.sd);
    json_close_object();
    json_real("seconds", job->fed.seconds);
    json_real("keys_per_second",
              report_per_second(job->fed.keys, job->fed.seconds));
    json_close_object();
}

static void diff_verbose(const diff_job *job)
{
    if (job->known)
        report_note("%s: %s %s only in the sketch, %s only here",
                    job->name, report_count(job->only_sketch).text,
                    job->only_sketch == 1 ? "key is" : "keys are",
                    report_count(job->only_keys).text);
    else
        report_note("%s: %s %s certainly only here; %s keys differ",
                    job->name, report_count(job->only_keys).text,
                    job->only_keys == 1 ? "key is" : "keys are",
                    report_spread(job->differ.value, job->differ.sd).text);
}

/* Prints the report and returns the exit status. */
static int diff_report(const diff_job *job)
{
    const diff_settings *s = job->want;
    bool differ = job->only_sketch + job->only_keys > 0;

    if (s->estimate)
        differ = !(job->differ.value < 0.5);
    if (s->json)
        diff_json(job);
    else if (s->estimate)
        output_format("%s keys differ\n",
                      report_spread(job->differ.value, job->differ.sd).text);
    else if (s->verbose)
        diff_verbose(job);
    if (report_some(job->fed.keys, job->fed.keyless) == CLI_ERROR)
        return CLI_ERROR;
    report_keyless(job->fed.keyless);
    return strange_lost() ? CLI_ERROR : differ ? CLI_NONE : CLI_OK;
}

/* ==== The command ======================================================= */

/* Checks the rate: a filter with more keys than planned overlooks differences,
 * and one with hardly a bit left is useless. */
static int diff_check_rate(const char *name, const bly_info_t *stat)
{
    if (stat->rate >= DIFF_USELESS && stat->planned_rate < DIFF_USELESS)
        return report_error("'%s' is overfull, and overlooks %s of the keys "
                            "that its owner lacks: request one made for as "
                            "many keys as there are ('bloomery sketch -n')",
                            name, report_percent(stat->rate).text);
    if (filter_broken(stat)
        || (stat->items > stat->capacity
            && stat->rate > DIFF_FAR * stat->planned_rate))
        report_note("warning: '%s' is overfull, and overlooks %s of the keys "
                    "that its owner lacks, not %s: request one made for as "
                    "many keys as there are ('bloomery sketch -n')", name,
                    report_percent(stat->rate).text,
                    report_percent(stat->planned_rate).text);
    return CLI_GO;
}

/* Returns CLI_GO if this filter can show what its owner lacks. */
static int diff_check_sketch(const diff_job *job, const bly_info_t *stat,
                             bool listed)
{
    if (stat->lost > 0 || filter_can(job->sketch, BLY_CAN_FORGET))
        return report_error("'%s' is of a kind that may forget keys, so that "
                            "no key is certainly missing: make a sketch of "
                            "another kind", job->name);
    if (!listed && (job->want->both || job->want->theirs))
        return report_error("'%s' is a filter, which cannot list the keys that "
                            "only its owner has: make it with 'bloomery sketch "
                            "--differences'",
                            job->name);
    return listed ? CLI_GO : diff_check_rate(job->name, stat);
}

/* Returns whether the input is read more than once. */
static bool diff_reads_twice(const diff_settings *s, bool listed)
{
    return listed ? diff_prints_keys(s) : (s->verbose || s->json)
                                          && !s->estimate;
}

static int diff_keys(diff_job *job, const cli_operands *operands)
{
    bool listed = filter_can(job->sketch, BLY_CAN_SUBTRACT);
    sketch_reread reread = { .names = NULL };
    bly_info_t stat;
    int status = CLI_GO;

    if (bly_info(&stat, job->sketch) < 0)
        return filter_error();
    status = diff_check_sketch(job, &stat, listed);
    job->keys = (cli_operands){ operands->names + 1, operands->count - 1 };
    if (status == CLI_GO && diff_reads_twice(job->want, listed)) {
        status = reread_open(&reread, operands, 1);
        job->keys = reread.operands;
    }
    if (status == CLI_GO)
        status = listed ? diff_exactly(job, stat.geometry[2])
                        : diff_nearly(job);
    if (status == CLI_GO)
        status = diff_report(job);
    hashes_free(&job->lacking);
    reread_close(&reread);
    return status;
}

static int diff_check(const cli_command *self, diff_settings *s,
                      const cli_operands *operands)
{
    int status = how_check(self, &s->how);

    if (status == CLI_GO && operands->count == 0)
        status = options_wrong(self, "the SKETCH is missing");
    if (status == CLI_GO)
        status = how_check_asked(self, operands);
    if (status == CLI_GO)
        status = output_check_inputs(operands->names, 1);
    if (status == CLI_GO && diff_prints_keys(s))
        status = output_check_inputs(operands->names + 1, operands->count - 1);
    return status == CLI_GO
         ? filter_how_read(s->key_file, NULL, s->unpack_limit) : status;
}

static int diff_run(const cli_command *self, int argc, char **argv)
{
    diff_settings s = { .how = CLI_HOW_UNSAID };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = diff_check(self, &s, &operands);
    if (status != CLI_GO)
        return status;
    s.no_progress |= diff_prints_keys(&s) && !progress_apart();
    bly_filter *sketch = load_mapped(operands.names[0], BLY_VERIFY);
    if (sketch == NULL)
        return CLI_ERROR;
    diff_job job = { .want = &s, .name = operands.names[0], .sketch = sketch,
                     .operands = &operands,
                     .start = lseek(STDIN_FILENO, 0, SEEK_CUR),
                     .differ = { NAN, NAN } };
    status = forms_follow(&s.how, bly_form_of(sketch), job.name);
    if (status == CLI_GO)
        status = diff_keys(&job, &operands);
    bly_free(sketch);
    return status;
}

const cli_command cmd_diff = {
    .name = "diff",
    .operands = "SKETCH [KEYS...]",
    .summary = "print the keys that the owner of a sketch lacks",
    .text =
        "Reads keys, one per line, from the files KEYS or from standard "
        "input, and prints those that are certainly not among the keys of "
        "SKETCH: each once, in the order of the input. With --both or "
        "--theirs, the keys that only SKETCH has are printed as well or "
        "instead.\n\n"
        "A sketch that was made with --differences shows all differences, up "
        "to the number that it was made for. If there are more, the error "
        "estimates their number and says which sketch is needed. Keys from a "
        "pipe are kept in a temporary file (in TMPDIR, or /tmp) because they "
        "are read twice; memory holds 11 to 22 bytes per key.\n\n"
        "Any other filter that never loses a key is a sketch, too. It finds "
        "the keys that its owner lacks, except for a share equal to its "
        "false-positive rate, and never a key that the owner has. It cannot "
        "show keys that only the owner has. --estimate, --verbose and --json "
        "then estimate the differences by comparing two filters, if their "
        "kind is comparable (overlap in 'bloomery kinds').",
    .options = diff_options,
    .usual = "both theirs estimate field separator verbose json",
    .examples = diff_examples,
    .status = "0 if no difference was found, 1 if there is one, 2 after an "
              "error.",
    .run = diff_run,
};
