/* cmd_formats.c - `bloomery formats`: lists the formats of other systems'
 * filters. Everything comes from bly_formats; this file names no format.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/foreign.h>

typedef struct {
    bool json, markdown;
} formats_settings;

static const cli_option formats_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(formats_settings, json), false,
      "Print an array of objects: the members of 'kinds --json' with writer, "
      "and told: whether the bytes tell the format.",
      .group = CLI_OUTPUT },
    { 0, "markdown", NULL, CLI_FLAG, offsetof(formats_settings, markdown),
      false, "Print the table in Markdown.",
      .excludes = "json",
      .group = CLI_OUTPUT },
    { 0 }
};

static const cli_example formats_examples[] = {
    { "bloomery formats", "List all formats." },
    { "bloomery info known.bloom",
      "Show the properties of another system's filter." },
    { NULL, NULL }
};

/* Abilities that all formats share, and that are not listed. */
static const uint64_t formats_alike = BLY_CAN_WHOLE_KEYS;

static void formats_json(const bly_format_info *format)
{
    json_open_object(NULL);
    kinds_json_members(format->kind);
    json_string("writer", format->writer);
    json_bool("recognised", format->recognised);
    json_close_object();
}

static const char *formats_how(const bly_format_info *format)
{
    return format->recognised ? "recognised" : "needs --format";
}

static void formats_row(const bly_format_info *format)
{
    output_format("%-14s %-14s %s\n%30s", format->kind->name,
                  formats_how(format), format->writer, "");
    kinds_abilities(format->kind, formats_alike);
    output_text("\n");
}

static void formats_markdown(const bly_format_info *format)
{
    output_format("| `%s` | %s | %s | ", format->kind->name, format->writer,
                  formats_how(format));
    kinds_abilities(format->kind, formats_alike);
    output_text(" |\n");
}

static int formats_run(const cli_command *self, int argc, char **argv)
{
    formats_settings s = { false, false };
    cli_operands operands;
    size_t n;
    const bly_format_info *const *formats = bly_formats(&n);
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count > 0)
        return options_wrong(self, "this command takes no operands; 'bloomery "
                                   "kinds NAME' lists the options of a format");
    if (s.json)
        json_open_array(NULL);
    else if (s.markdown)
        output_text("| format | written by | a file | can |\n"
                    "|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        (s.json ? formats_json : s.markdown ? formats_markdown
                                            : formats_row)(formats[i]);
    if (s.json)
        json_close_array();
    return CLI_OK;
}

const cli_command cmd_formats = {
    .name = "formats",
    .operands = "",
    .summary = "list the formats of other systems' filters",
    .text =
        "Lists the formats of other systems' filters: their writers, and what "
        "can be done with each. Every command reads them in place of a filter. "
        "If the bytes do not identify the format, give --format. Each format "
        "is also a kind: 'build -k NAME' makes such a file, and 'kinds NAME' "
        "shows its options.\n\n"
        "Parquet and ORC files and tables of LevelDB and RocksDB are not "
        "filters but contain some: 'info', 'check' and 'query' read these. "
        "'similar' reads fingerprints in chemfp's FPS format.",
    .options = formats_options,
    .usual = "json markdown",
    .examples = formats_examples,
    .status = "0.",
    .run = formats_run,
};
