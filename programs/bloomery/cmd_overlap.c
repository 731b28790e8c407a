/* cmd_overlap.c - `bloomery overlap`: estimates how many keys two filters
 * share, from their bits, with standard deviations.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <math.h>

typedef struct {
    bool        json, assume;
    const char *key_file, *format;
    uint64_t    unpack_limit;
} overlap_settings;

static const cli_option overlap_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(overlap_settings, json), false,
      "Print a JSON object of a, b, either, both, differ and jaccard, each "
      "with value and sd.",
      .group = CLI_OUTPUT },
    CLI_ASSUME_OPTION(overlap_settings, assume),
    CLI_SECRET_OPTION(overlap_settings, key_file),
    CLI_FORMAT_OPTION(overlap_settings, format),
    CLI_UNPACK_OPTION(overlap_settings, unpack_limit),
    { 0 }
};

static const cli_example overlap_examples[] = {
    { "bloomery overlap monday.bly tuesday.bly",
      "Estimate how many visitors came on both days." },
    { "bloomery overlap --json monday.bly tuesday.bly",
      "Print the estimates for a program." },
    { NULL, NULL }
};

static void overlap_json_one(const char *name, const bly_estimate *e)
{
    json_open_object(name);
    json_real("value", e->value);
    json_real("sd", e->sd);
    json_close_object();
}

static void overlap_json(const bly_overlap_t *o)
{
    json_open_object(NULL);
    overlap_json_one("a", &o->a);
    overlap_json_one("b", &o->b);
    overlap_json_one("either", &o->either);
    overlap_json_one("both", &o->both);
    overlap_json_one("differ", &o->differ);
    overlap_json_one("jaccard", &o->jaccard);
    json_close_object();
}

static void overlap_keys(const char *name, const bly_estimate *e)
{
    output_format("%-16s  ", name);
    if (isfinite(e->value))
        output_format("%s keys\n", report_spread(e->value, e->sd).text);
    else
        output_text("unknown (the filter is saturated)\n");
}

static void overlap_text(const bly_overlap_t *o, char **names)
{
    output_format("a                 %s\n", names[0]);
    output_format("b                 %s\n", names[1]);
    overlap_keys("in a", &o->a);
    overlap_keys("in b", &o->b);
    overlap_keys("in either", &o->either);
    overlap_keys("in both", &o->both);
    overlap_keys("in just one", &o->differ);
    if (isfinite(o->jaccard.value))
        output_format("jaccard           %.4f ± %.4f (both / either)\n",
                      o->jaccard.value, o->jaccard.sd);
    else
        output_text("jaccard           unknown (a filter is saturated)\n");
}

/* Raises an estimate below 0 to 0: no common keys can be detected, so all keys
 * are in just one filter. */
static void overlap_at_least_none(bly_overlap_t *o)
{
    o->differ.value = fmin(o->differ.value, o->either.value);
    o->both.value = fmax(o->both.value, 0);
    o->jaccard.value = fmax(o->jaccard.value, 0);
}

static int overlap_filters(char **names, const overlap_settings *s)
{
    bly_filter *a = load_mapped(names[0], BLY_VERIFY);
    bly_filter *b = a != NULL ? load_mapped(names[1], BLY_VERIFY) : NULL;
    bly_overlap_t overlap;
    int status = CLI_ERROR;

    if (b != NULL)
        status = filter_same_form(&a, names[0], &b, names[1], s->assume);
    if (status == CLI_GO && bly_overlap(&overlap, a, b) < 0) {
        status = report_error("'%s' and '%s' cannot be compared: %s", names[0],
                              names[1], filter_why());
    } else if (status == CLI_GO) {
        overlap_at_least_none(&overlap);
        if (s->json)
            overlap_json(&overlap);
        else
            overlap_text(&overlap, names);
        status = CLI_OK;
    }
    bly_free(b);
    bly_free(a);
    return status;
}

static int overlap_run(const cli_command *self, int argc, char **argv)
{
    overlap_settings s = { .json = false };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count != 2)
        return options_wrong(self, "this command takes two filters");
    status = filter_how_read(s.key_file, s.format, s.unpack_limit);
    return status == CLI_GO ? overlap_filters(operands.names, &s) : status;
}

const cli_command cmd_overlap = {
    .name = "overlap",
    .operands = "A B",
    .summary = "estimate how many keys two filters share",
    .text =
        "Estimates the number of distinct keys in A, in B, in either, in both "
        "and in only one of them, and the Jaccard index, both / either. Each "
        "estimate comes from the bits and has its standard deviation. If two "
        "filters differ little, the number of keys in only one of them is "
        "precise, because it depends only on the bits that differ. An "
        "estimate below 0 is shown as 0.\n\n"
        "The filters must have the same kind, capacity, rate, hash and seed, "
        "and their kind must be comparable (overlap in 'bloomery kinds'). "
        "Nothing can be estimated for a filter in which every bit is set: its "
        "numbers are null in JSON.",
    .options = overlap_options,
    .usual = "json assume-form format key-file",
    .examples = overlap_examples,
    .status = "0 if the filters were compared, 2 after an error.",
    .shows_progress = true,
    .run = overlap_run,
};
