/* cmd_plan.c - `bloomery plan`: prints the cost of a filter before it is built.
 *
 * The library computes the plan; nothing is built. Without -k the kinds are
 * compared: the core kinds, unless --all is given. JSON has all kinds.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <inttypes.h>

typedef struct {
    const char *kind, *hash, *key_file;
    uint64_t    items;
    double      rate;
    bool        unknown, all, json;
} plan_settings;

static const cli_option plan_options[] = {
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(plan_settings, items), false,
      "The number of keys: 1000000, 1e6, 10k, 2.5M, 1G. Required, unless the "
      "options of the kind fix its size." },
    CLI_RATE_OPTION(plan_settings),
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(plan_settings, kind), false,
      "The kind of filter with its options. Default: compare the core kinds." },
    { 0, "unknown", NULL, CLI_FLAG, offsetof(plan_settings, unknown), false,
      "The number of keys is not known when the filter is made: the plan is "
      "that of a filter which began small and has grown to ITEMS keys. Kinds "
      "that do not grow are planned for ITEMS, for comparison." },
    { 0, "all", NULL, CLI_FLAG, offsetof(plan_settings, all), false,
      "Without -k: compare all kinds.",
      .excludes = "kind" },
    { 'H', "hash", "HASH", CLI_TEXT, offsetof(plan_settings, hash), false,
      "The hash function." },
    CLI_SECRET_OPTION(plan_settings, key_file),
    { 0, "json", NULL, CLI_FLAG, offsetof(plan_settings, json), false,
      "Print a JSON object or, without -k, an array of objects for all kinds.",
      .group = CLI_OUTPUT },
    { 0 }
};

static const cli_example plan_examples[] = {
    { "bloomery plan -n 1e9 -p 1%",
      "Compare the core kinds for a billion keys." },
    { "bloomery plan -k blocked -n 10M -p 0.1%", "Show one kind in detail." },
    { "bloomery plan -n 1e6 --unknown",
      "The price of not knowing the number: filters that grew to a million "
      "keys, and the others." },
    { NULL, NULL }
};

/* ==== A plan ============================================================ */

/* Prints a plan as an object, with the tier of its kind unless that is NULL. */
static void plan_json(const bly_plan_t *p, const char *tier)
{
    json_open_object(NULL);
    bly_plan_each(p, json_field, NULL);
    if (tier != NULL)
        json_string("tier", tier);
    json_close_object();
}

static void plan_text(const bly_plan_t *p)
{
    output_format("kind       %s\n", p->kind);
    output_format("keys       %s\n", report_count(p->capacity).text);
    output_format("size       %s, %.2f bits per key\n",
                  report_bytes(p->bytes).text, p->bits_per_key);
    if (p->packed > 0)
        output_format("packed     %s, %.2f bits per key, when saved or sent\n",
                      report_bytes(p->packed).text,
                      8 * (double)p->packed / (double)p->capacity);
    if (p->scratch > 0)
        output_format("scratch    %s more while it is built\n",
                      report_bytes(p->scratch).text);
    output_format("rate       %s false positives",
                  report_percent(p->rate).text);
    output_format(" (± %s between filters)\n",
                  report_percent(p->rate_sd).text);
    if (p->lost > 0 && p->window < UINT64_MAX)
        output_format("lost       %s of the keys are no longer found after as "
                      "many others are added\n",
                      report_percent(p->lost).text);
    if (p->window > 0 && p->window < UINT64_MAX)
        output_format("window     the last %s different keys are certain "
                      "to be found\n", report_count(p->window).text);
    output_format("probes     %" PRIu32 " per key\n", p->probes);
    output_format("fill       %s of the bits or cells are in use after all "
                  "keys are added\n", report_percent(p->fill).text);
    if (p->label_bits > 0)
        output_format("labels     %" PRIu64 " .. %" PRIu64 "\n",
                      p->label_least, p->label_most);
    output_format("lookup     touches %.2f cache lines for a key that is "
                  "there, %.2f for one that is not\n", p->lines_present,
                  p->lines_absent);
}

/* Plans a filter for the keys of the spec, or one that began without a number
 * and has grown to them. */
static bly_status plan_make(bly_plan_t *plan, const char *kind,
                            const bly_spec *spec, bool unknown)
{
    bly_spec begun = *spec;

    begun.capacity = 0;
    return unknown ? bly_plan_grown(plan, kind, &begun, spec->capacity)
                   : bly_plan(plan, kind, spec);
}

static int plan_one(const plan_settings *s, const bly_spec *spec)
{
    bly_plan_t plan;

    if (filter_kind_check(s->kind) != CLI_GO
        || filter_hash_check(s->hash) != CLI_GO)
        return CLI_ERROR;
    if (plan_make(&plan, s->kind, spec, s->unknown) < 0)
        return filter_error();
    if (s->json)
        plan_json(&plan, NULL);
    else
        plan_text(&plan);
    return CLI_OK;
}

/* ==== Kinds side by side ================================================ */

static void plan_row(const char *kind, const bly_plan_t *p)
{
    output_format("%-16s %18s %9.2f %9s %7" PRIu32 " %8.2f %8.2f\n", kind,
                  report_count(p->bytes).text, p->bits_per_key,
                  report_percent(p->rate).text, p->probes, p->lines_present,
                  p->lines_absent);
}

static void plan_heading(void)
{
    output_format("%-16s %18s %9s %9s %7s %17s\n", "", "", "bits", "", "bits",
                  "cache lines, key");
    output_format("%-16s %18s %9s %9s %7s %8s %8s\n", "kind", "bytes",
                  "per key", "rate", "probed", "there", "not");
}

/* Lists a kind that has no plan for this need, with the reason. */
static void plan_refused(const bly_kind_info *kind, bool json)
{
    if (!json) {
        output_format("%-16s cannot: %s\n", kind->name, filter_why());
        return;
    }
    json_open_object(NULL);
    json_string("kind", kind->name);
    json_string("tier", kind->tier);
    json_string("why", filter_why());
    json_close_object();
}

/* Returns how many kinds have a plan; the last reason stays in bly_why. */
static size_t plan_possible(const bly_kind_info *const *kinds, size_t n,
                            const bly_spec *spec)
{
    bly_plan_t plan;
    size_t possible = 0;

    for (size_t i = 0; i < n; i++)
        possible += bly_plan(&plan, kinds[i]->name, spec) >= 0;
    return possible;
}

static void plan_kind(const bly_kind_info *kind, const bly_spec *spec,
                      const plan_settings *s)
{
    bly_plan_t plan;

    if ((!s->unknown || plan_make(&plan, kind->name, spec, true) < 0)
        && bly_plan(&plan, kind->name, spec) < 0)
        plan_refused(kind, s->json);
    else if (s->json)
        plan_json(&plan, kind->tier);
    else
        plan_row(kind->name, &plan);
}

static int plan_compare(const plan_settings *s, const bly_spec *spec)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);

    if (plan_possible(kinds, n, spec) == 0)
        return filter_error();
    if (s->json)
        json_open_array(NULL);
    else
        plan_heading();
    for (size_t i = 0; i < n; i++)
        if (s->all || s->json || kinds_core(kinds[i]))
            plan_kind(kinds[i], spec, s);
    if (s->json)
        json_close_array();
    else if (!s->all)
        kinds_others();
    return CLI_OK;
}

/* ==== The command ======================================================= */

static int plan_run(const cli_command *self, int argc, char **argv)
{
    plan_settings s = { .rate = 0.01 };
    cli_operands operands;
    bly_spec spec = { 0 };
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count > 0)
        return options_wrong(self, "this command takes no operands");
    if (s.items == 0 && (s.kind == NULL || s.unknown))
        return options_wrong(self, "-n ITEMS is missing");
    if (secret_read(s.key_file) != CLI_GO)
        return CLI_ERROR;
    spec.capacity = s.items;
    spec.rate = s.rate;
    spec.hash = s.hash;
    spec.secret = secret_bytes();
    return s.kind != NULL ? plan_one(&s, &spec) : plan_compare(&s, &spec);
}

const cli_command cmd_plan = {
    .name = "plan",
    .operands = "",
    .summary = "show the cost of a filter before it is built",
    .text =
        "Prints the size of a filter for this many keys and this "
        "false-positive rate, its exact rate, and the cache lines that a "
        "lookup touches. Nothing is built.",
    .options = plan_options,
    .usual = "items rate kind all json",
    .examples = plan_examples,
    .status = "0 if there is a plan, 2 after an error.",
    .run = plan_run,
};
