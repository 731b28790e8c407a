/* cmd_sketch.c - `bloomery sketch`: summarises a set of keys in a few bytes,
 * for comparison on another machine.
 *
 * A sketch is an ordinary filter: a listable one, sized for the expected number
 * of differences, or one of bits.
 */
#include "bloomery/sketch/sketches.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The most differences for which the size does not overflow. */
#define SKETCH_MOST UINT64_C(1000000000000)

typedef struct {
    cli_build build;
    uint64_t  differences, whole;
} sketch_settings;

static const cli_option sketch_options[] = {
    { 'o', "output", "FILE", CLI_TEXT, offsetof(sketch_settings, build.output),
      true,
      "The file of the sketch, or '-' for standard output.",
      .group = CLI_OUTPUT },
    CLI_FORCE_OPTION(sketch_settings, build.force),
    { 0, "differences", "N", CLI_NUMBER,
      offsetof(sketch_settings, differences), false,
      "Find up to N differences exactly, however many keys there are. A "
      "difference is a key that only one side has. Each takes 24 bytes, and "
      "more if N is small.",
      .excludes = "kind rate items" },
    { 0, "whole", "BYTES", CLI_NUMBER, offsetof(sketch_settings, whole),
      false, "Store the keys themselves, of up to BYTES bytes (at most 255), "
      "so that the other side can print keys that it lacks. Default: only "
      "their hashes.",
      .needs = "differences" },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(sketch_settings, build.rate),
      false, "The share of lacking keys that are overlooked. Default: 1%." },
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(sketch_settings, build.kind),
      false,
      "The kind of filter. Default: " BLY_DEFAULT_KIND "." },
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(sketch_settings, build.items),
      false, "The most keys, for keys from a pipe. Default: the keys are "
      "counted first." },
    { 's', "seed", "SEED", CLI_SEED, offsetof(sketch_settings, build.seed),
      false, "The seed of the hash function; another seed makes other errors. "
      "Default: 0." },
    CLI_HASH_OPTION(sketch_settings, build.hash),
    CLI_SECRET_OPTION(sketch_settings, build.key_file),
    CLI_HOW_OPTIONS(sketch_settings, build.how),
    CLI_OVERFILL_OPTION(sketch_settings, build.overfill),
    CLI_JOBS_OPTION(sketch_settings, build.jobs),
    { 0, "verbose", NULL, CLI_FLAG, offsetof(sketch_settings, build.verbose),
      false, "Print what was made on standard error.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(sketch_settings, build.json), false,
      "Print what was made as a JSON object.",
      .group = CLI_OUTPUT },
    CLI_NO_PROGRESS_OPTION(sketch_settings, build.no_progress),
    { 0 }
};

static const cli_example sketch_examples[] = {
    { "bloomery sketch --differences 1000 -o mine.bly keys.txt",
      "For a peer whose keys differ in up to about 1000." },
    { "bloomery sketch --differences 50 --whole 40 -o theirs.bly theirs.txt",
      "Store whole keys, of up to 40 bytes each, for 'diff --both'." },
    { "bloomery sketch -p 0.1% -o many.bly keys.txt",
      "For a peer with many different keys: one lacking key in a thousand is "
      "overlooked, at 14.4 bits per key." },
    { NULL, NULL }
};

/* ==== A sketch that can be listed ======================================= */

bool sketch_fits(const sketch_into *into)
{
    return into->whole == 0 || into->longest <= into->whole;
}

/* Finds the longest key. After a key that is too long the others are only
 * measured. */
static bool sketch_measure(sketch_into *into, const bly_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i].length > into->longest)
            into->longest = keys[i].length;
    return sketch_fits(into);
}

int sketch_put(void *context, const bly_key *keys, const uint64_t *hashes,
               size_t n)
{
    sketch_into *into = context;
    bly_status status;

    if (!sketch_measure(into, keys, n))
        return CLI_GO;
    status = into->whole > 0
                 ? bly_add_many(into->filter, &(bly_keys){.n = n, .keys = keys},
                                NULL, NULL)
                 : bly_add_hashes(into->filter, hashes, n, NULL, NULL);
    return status < 0 ? filter_error() : CLI_GO;
}

static int sketch_too_long(const sketch_into *into)
{
    if (into->longest > UINT8_MAX)
        return report_error("a key has %zu bytes, but a sketch stores at most "
                            "255: leave out --whole to store only hashes",
                            into->longest);
    return report_error("a key has %zu bytes, but the sketch stores %zu: use "
                        "--whole %zu, or leave it out to store only hashes",
                        into->longest, into->whole, into->longest);
}

static void sketch_json(const sketch_settings *s, const bly_info_t *stat,
                        const cli_fed *fed)
{
    json_open_object(NULL);
    json_string("kind", stat->kind);
    json_count("differences", stat->capacity);
    json_count("whole", s->whole);
    json_count("bytes", stat->bytes);
    json_count("keys", fed->keys);
    json_count("distinct", stat->items);
    json_count("keyless", fed->keyless);
    json_real("seconds", fed->seconds);
    json_real("keys_per_second", report_per_second(fed->keys, fed->seconds));
    json_string("output", s->build.output);
    json_close_object();
}

static void sketch_report(const sketch_settings *s, const bly_filter *filter,
                          const cli_fed *fed)
{
    bly_info_t stat;

    bly_info(&stat, filter);
    if (s->build.json)
        sketch_json(s, &stat, fed);
    if (s->build.verbose)
        report_note("%s: %s different keys in %s (%s), for up to %s "
                    "differences: %s", s->build.output,
                    report_count(stat.items).text,
                    report_seconds(fed->seconds).text,
                    report_speed(report_per_second(fed->keys,
                                                   fed->seconds)).text,
                    report_count(stat.capacity).text,
                    report_bytes(stat.bytes).text);
    report_keyless(fed->keyless);
}

static int sketch_fill(const sketch_settings *s, const cli_operands *operands,
                       bly_filter *filter, cli_fed *fed)
{
    sketch_into into = { .filter = filter, .whole = (size_t)s->whole };
    sketch_distinct how = { .hasher = filter, .fresh = sketch_put,
                            .context = &into };
    cli_lines lines;
    int status;

    lines_open(&lines, &s->build.how, operands, 0, false);
    status = distinct_run(&how, &lines, work_jobs(s->build.jobs),
                          "sketching", !s->build.no_progress, fed);
    lines_close(&lines);
    if (status == CLI_GO && !sketch_fits(&into))
        return sketch_too_long(&into);
    return status == CLI_GO ? feed_some(fed) : status;
}

/* Reports an error: out of memory, or an unusable specification. */
static int sketch_refuse(const char *kind, const bly_spec *spec,
                         bly_status status)
{
    bly_plan_t plan;

    if (status != BLY_ENOMEM || bly_plan(&plan, kind, spec) < 0)
        return filter_error();
    return report_error("out of memory: a sketch for %s differences takes %s: "
                        "use fewer differences",
                        report_count(spec->capacity).text,
                        report_bytes(plan.bytes).text);
}

static int sketch_make(const sketch_settings *s, const cli_operands *operands)
{
    bly_spec spec = { .capacity = s->differences, .seed = s->build.seed,
                      .hash = s->build.hash, .secret = secret_bytes(),
                      .form = s->build.how.stated ? s->build.how.form
                                                  : BLY_KEYS_UNSTATED };
    bly_filter *filter;
    char kind[64];
    cli_fed fed;
    int status;

    snprintf(kind, sizeof kind, "invertible:key=%" PRIu64, s->whole);
    bly_status made = bly_new(&filter, kind, &spec);
    if (made < 0)
        return sketch_refuse(kind, &spec, made);
    status = sketch_fill(s, operands, filter, &fed);
    if (status == CLI_GO)
        status = filter_save(filter, s->build.output);
    if (status == CLI_OK)
        sketch_report(s, filter, &fed);
    bly_free(filter);
    return status;
}

/* ==== The command ======================================================= */

static int sketch_check(const cli_command *self, sketch_settings *s,
                        const cli_operands *operands)
{
    cli_build *b = &s->build;
    int status = how_check(self, &b->how);

    if (status != CLI_GO)
        return status;
    if (s->differences > SKETCH_MOST)
        return report_error("a sketch cannot list %s differences: use fewer "
                            "differences", report_count(s->differences).text);
    if (s->whole > UINT8_MAX)
        return options_wrong(self, "--whole is at most 255 bytes");
    status = made_check(self, b->output, b->json);
    if (status == CLI_GO)
        status = secret_read(b->key_file);
    return status == CLI_GO
         ? filter_check_output(b->output, b->force, operands, 0) : status;
}

static int sketch_run(const cli_command *self, int argc, char **argv)
{
    sketch_settings s = { .build.how = CLI_HOW_UNSAID, .build.whole = true };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (s.differences == 0) {
        s.build.kind = s.build.kind != NULL ? s.build.kind
                                             : BLY_DEFAULT_KIND;
        if (filter_kind_can(s.build.kind, BLY_CAN_SUBTRACT))
            return options_wrong(self, "a sketch that can be listed stores "
                                       "each key once: use --differences N, "
                                       "and no -k");
        return build_make(self, &s.build, &operands);
    }
    status = sketch_check(self, &s, &operands);
    return status == CLI_GO ? sketch_make(&s, &operands) : status;
}

const cli_command cmd_sketch = {
    .name = "sketch",
    .operands = "[KEYS...]",
    .summary = "make a small sketch of keys for another side to compare",
    .text =
        "Reads keys, one per line, from the files KEYS or from standard "
        "input, and writes a sketch of them to FILE. Send the sketch to "
        "another side: there, 'bloomery diff' prints the keys that only one "
        "side has, although the keys themselves were never sent.\n\n"
        "With --differences, the sketch (a filter of kind invertible) finds "
        "up to N differences exactly. Its size depends only on N; if there "
        "are more differences, their number is estimated. It suits sets that "
        "are nearly equal. Repeated lines do not matter: the hashes of the "
        "keys are held in memory, 11 to 22 bytes each.\n\n"
        "Without --differences, the sketch is an ordinary filter, with 9.6 "
        "bits per key at 1 %. A key that is not in it is certainly lacking, "
        "and 1 % of the lacking keys are overlooked. It suits sets that "
        "differ much, or by an unknown number of keys.\n\n"
        "A sketch has the format of any filter: 'bloomery info' and 'bloomery "
        "check' read it, and 'bloomery unite' unites two sketches with the "
        "same plan and different keys.",
    .options = sketch_options,
    .usual = "output differences whole rate field separator force json",
    .examples = sketch_examples,
    .status = "0 if the sketch was made, " CLI_KEPT("FILE"),
    .run = sketch_run,
};
