/* cmd_kinds.c - `bloomery kinds`: lists the kinds of filters, or one of them.
 *
 * Everything comes from bly_kinds(): no kind is known by name here. People see
 * the core kinds, unless --all is given. Programs, which read JSON, get all
 * kinds with their tiers.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <string.h>

typedef struct {
    bool all, json, markdown;
} kinds_settings;

static const cli_option kinds_options[] = {
    { 0, "all", NULL, CLI_FLAG, offsetof(kinds_settings, all), false,
      "List all kinds, not only the core." },
    { 0, "json", NULL, CLI_FLAG, offsetof(kinds_settings, json), false,
      "Print an array of objects for all kinds or, with KIND, one object.",
      .group = CLI_OUTPUT },
    { 0, "markdown", NULL, CLI_FLAG, offsetof(kinds_settings, markdown), false,
      "Print a table in Markdown or, with KIND, its abilities and options.",
      .excludes = "json",
      .group = CLI_OUTPUT },
    { 0 }
};

static const cli_example kinds_examples[] = {
    { "bloomery kinds", "List the core kinds and their abilities." },
    { "bloomery kinds standard", "Show a kind and its options." },
    { "bloomery kinds --all", "List all kinds." },
    { NULL, NULL }
};

/* ==== JSON ============================================================== */

static void kinds_json_option(const bly_option_info *option)
{
    json_open_object(NULL);
    json_string("name", option->name);
    json_string("range", option->range);
    json_string("default", option->standard);
    json_string("help", option->help);
    json_close_object();
}

static void kinds_json_alias(const bly_alias_info *alias)
{
    json_open_object(NULL);
    json_string("name", alias->name);
    json_string("options", alias->options);
    json_close_object();
}

void kinds_json_members(const bly_kind_info *kind)
{
    json_string("name", kind->name);
    json_string("family", kind->family);
    json_string("tier", kind->tier);
    json_string("summary", kind->summary);
    json_open_array("abilities");
    for (unsigned i = 0; i < BLY_ABILITIES; i++)
        if ((kind->can >> i & 1) != 0)
            json_string(NULL, bly_ability(UINT64_C(1) << i));
    json_close_array();
    json_open_array("options");
    for (const bly_option_info *const *o = kind->options; *o != NULL; o++)
        kinds_json_option(*o);
    json_close_array();
    json_open_array("aliases");
    for (const bly_alias_info *const *a = kind->aliases; *a != NULL; a++)
        kinds_json_alias(*a);
    json_close_array();
}

static void kinds_json(const bly_kind_info *kind)
{
    json_open_object(NULL);
    kinds_json_members(kind);
    json_close_object();
}

/* ==== Text ============================================================== */

bool kinds_core(const bly_kind_info *kind)
{
    return strcmp(kind->tier, "core") == 0;
}

void kinds_others(void)
{
    size_t n, others = 0;
    const bly_kind_info *const *kinds = bly_kinds(&n);

    for (size_t i = 0; i < n; i++)
        others += !kinds_core(kinds[i]);
    if (others > 0)
        output_format("%zu more kinds are for rarer needs: --all lists them.\n",
                      others);
}

void kinds_abilities(const bly_kind_info *kind, uint64_t without)
{
    const char *between = "";

    for (unsigned i = 0; i < BLY_ABILITIES; i++)
        if (((kind->can & ~without) >> i & 1) != 0) {
            output_text(between);
            output_text(bly_ability(UINT64_C(1) << i));
            between = ", ";
        }
}

/* Prints "before bloom, xor8 (bits=8)after", or nothing if the kind has no
 * alias. */
static void kinds_aliases(const bly_kind_info *kind, const char *before,
                          const char *after)
{
    for (const bly_alias_info *const *a = kind->aliases; *a != NULL; a++) {
        output_text(a == kind->aliases ? before : ", ");
        output_text((*a)->name);
        if ((*a)->options[0] != '\0')
            output_format(" (%s)", (*a)->options);
    }
    output_text(*kind->aliases != NULL ? after : "");
}

/* Prints the tier of a kind outside the core, in parentheses. */
static void kinds_tier(const bly_kind_info *kind)
{
    if (!kinds_core(kind))
        output_format(" (%s)", kind->tier);
}

static void kinds_row(const bly_kind_info *kind)
{
    output_format("%-13s %-10s %s", kind->name, kind->family, kind->summary);
    kinds_tier(kind);
    output_format("\n%25s", "");
    kinds_abilities(kind, 0);
    kinds_aliases(kind, "\n                         also called ", "");
    output_text("\n");
}

static void kinds_markdown(const bly_kind_info *kind)
{
    output_format("| `%s` | %s | %s | ", kind->name, kind->family,
                  kind->summary);
    kinds_abilities(kind, 0);
    kinds_tier(kind);
    output_text(" |\n");
}

/* Prints two sections of the kind's page. */
static void kinds_page(const bly_kind_info *kind)
{
    const bly_option_info *const *o = kind->options;

    output_text("## What it can\n\n");
    kinds_abilities(kind, 0);
    output_text(strcmp(kind->tier, "experimental") == 0 ? "; experimental.\n"
                                                        : ".\n");
    kinds_aliases(kind, "\nOther names: ", ".\n");
    if (*o == NULL)
        return;
    output_text("\n## Options\n\n| option | values | default | what it is |\n"
                "|---|---|---|---|\n");
    for (; *o != NULL; o++) {
        output_format("| `%s` | ", (*o)->name);
        for (const char *c = (*o)->range; *c != '\0'; c++)
            output_format(*c == '|' ? "\\%c" : "%c", *c);
        output_format(" | %s | %s |\n", (*o)->standard, (*o)->help);
    }
}

static void kinds_one(const bly_kind_info *kind)
{
    const bly_option_info *const *o = kind->options;

    output_format("%s: %s\n", kind->name, kind->summary);
    output_format("  family  %s\n  tier    %s%s\n", kind->family, kind->tier,
                  strcmp(kind->tier, "experimental") != 0 ? ""
                  : ": a later version may change its format");
    kinds_aliases(kind, "  also    ", "\n");
    output_text("  can     ");
    kinds_abilities(kind, 0);
    output_text(*o == NULL ? "\n  no options\n" : "\n  options\n");
    for (; *o != NULL; o++)
        output_format("    %s=%s\n        %s; default: %s\n", (*o)->name,
                      (*o)->range, (*o)->help, (*o)->standard);
}

/* ==== The command ======================================================= */

static void kinds_all(const kinds_settings *s)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);

    if (s->json)
        json_open_array(NULL);
    else if (s->markdown)
        output_text("| kind | family | what it is | can |\n"
                    "|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        if (s->all || s->json || kinds_core(kinds[i]))
            (s->json ? kinds_json : s->markdown ? kinds_markdown
                                                : kinds_row)(kinds[i]);
    if (s->json)
        json_close_array();
    else if (!s->all && !s->markdown)
        kinds_others();
}

static int kinds_run(const cli_command *self, int argc, char **argv)
{
    kinds_settings s = { .all = false };
    cli_operands operands;
    const bly_kind_info *kind;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count > 1)
        return options_wrong(self, "this command takes at most one KIND");
    if (operands.count == 1 && s.all)
        return options_wrong(self, "--all and KIND cannot be used together: "
                             "leave one out");
    if (operands.count == 0) {
        kinds_all(&s);
        return CLI_OK;
    }
    if (filter_kind_check(operands.names[0]) != CLI_GO)
        return CLI_ERROR;
    kind = bly_kind_find(operands.names[0]);
    (s.json ? kinds_json : s.markdown ? kinds_page : kinds_one)(kind);
    return CLI_OK;
}

const cli_command cmd_kinds = {
    .name = "kinds",
    .operands = "[KIND]",
    .summary = "list kinds of filters, or the options of a kind",
    .text =
        "Lists the core kinds of filters with their family and abilities. "
        "--all also lists kinds for rarer needs and experimental kinds; every "
        "command accepts every kind. With KIND, the options of that kind are "
        "shown. -k of 'build' and 'plan' takes them as "
        "KIND:OPTION=VALUE,OPTION=VALUE.\n\n"
        "Some kinds have other names, such as bloom, cbf or xor8. Every "
        "command accepts them; files and reports use the kind's own name.",
    .options = kinds_options,
    .usual = "all json markdown",
    .examples = kinds_examples,
    .status = "0, or 2 if there is no such kind.",
    .run = kinds_run,
};
