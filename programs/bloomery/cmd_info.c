/* cmd_info.c - `bloomery info`: describes filter files.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/numbers.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/foreign.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    bool        json, data, no_verify;
    const char *key_file, *format;
    uint64_t    unpack_limit;
} info_settings;

static const cli_option info_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(info_settings, json), false,
      "Print a JSON object, or an array of objects for several files.",
      .group = CLI_OUTPUT },
    { 0, "data", NULL, CLI_FLAG, offsetof(info_settings, data), false,
      "Print only the data that is attached to the filter, unchanged "
      "('convert --data' attaches data).",
      .excludes = "json" },
    CLI_SECRET_OPTION(info_settings, key_file),
    CLI_FORMAT_OPTION(info_settings, format),
    CLI_UNPACK_OPTION(info_settings, unpack_limit),
    { 0, "no-verify", NULL, CLI_FLAG, offsetof(info_settings, no_verify),
      false, "Show a filter that may be damaged: verify its header and trust "
      "the rest.",
      .group = CLI_SAFETY },
    { 0 }
};

static const cli_example info_examples[] = {
    { "bloomery info words.bly",
      "Show the kind, the fill and the false-positive rate." },
    { "bloomery info --json *.bly", "Show many filters, for a program." },
    { "bloomery info part.parquet",
      "Show which columns of a Parquet file have filters." },
    { "bloomery info --data known.bloom > notes.txt",
      "Print the data that is attached to a filter of DCSO's bloom." },
    { NULL, NULL }
};

/* ==== Labels ============================================================ */

/* Prints a row for a label, unless no cell shows it. The first row also prints
 * the head of the table and sets `any`. */
static bool info_text_label(void *context, const bly_label_t *label)
{
    bool *any = context;

    if (!*any)
        output_format("  %10s %12s %12s %12s\n", "label", "cells",
                      "of strangers", "mistaken");
    *any = true;
    if (label->fill > 0)
        output_format("  %10" PRIu64 " %12s %12s %12s\n", label->label,
                      report_percent(label->fill).text,
                      report_percent(label->rate).text,
                      report_percent(label->mistaken).text);
    return true;
}

/* ==== Files ============================================================= */

/* Prints the number of keys. After unite or intersect the number of adds is
 * unknown. The number of different keys is an estimate, unless the kind knows
 * it. */
static void info_keys(const bly_info_t *stat)
{
    output_format("  keys       %s added, planned for %s\n",
                  stat->items_exact ? report_count(stat->items).text
                                    : "unknown how many",
                  report_count(stat->capacity).text);
    if (stat->distinct_sd == 0)
        output_format("  different  %s, exact\n",
                      report_estimate(stat->distinct).text);
    else if (isfinite(stat->distinct) && isinf(stat->distinct_sd))
        output_format("  different  at most about %s, as repeated keys may be "
                      "counted again\n", report_estimate(stat->distinct).text);
    else if (isfinite(stat->distinct))
        output_format("  different  %s, estimated from the bits\n",
                      report_spread(stat->distinct, stat->distinct_sd).text);
    else
        output_format("  different  unknown (the filter %s)\n",
                      stat->window < UINT64_MAX ? "forgets"
                                                : "is saturated");
}

static void info_form(const bly_info_t *stat)
{
    output_format("  form       %s\n", stat->form != BLY_KEYS_UNSTATED
                  ? forms_name(stat->form).text
                  : "not recorded: give --as and other key options with every "
                    "command");
}

/* Prints the rates. A planned rate of 0 is a guarantee. */
static void info_rate(const bly_info_t *stat)
{
    if (filter_broken(stat))
        output_format("  rate       %s false positives now: there are none "
                      "only up to %s different keys\n",
                      report_percent(stat->rate).text,
                      report_count(stat->capacity).text);
    else if (stat->planned_rate == 0)
        output_format("  rate       no false positives up to %s different "
                      "keys\n", report_count(stat->capacity).text);
    else
        output_format("  rate       %s false positives now, planned %s\n",
                      report_percent(stat->rate).text,
                      report_percent(stat->planned_rate).text);
}

static void info_mark(const char *hash, uint64_t mark)
{
    char digits[17];

    numbers_hex(digits, mark);
    output_format("  hash       %s, mark of the secret %s\n", hash, digits);
}

/* Returns the names of the numbers of another system's filter. */
static const bly_number_info *info_numbers(const char *kind)
{
    const bly_format_info *format = format_of(kind);

    return format != NULL ? format->numbers : NULL;
}

static void info_geometry_named(const bly_number_info *numbers,
                                const uint64_t g[4])
{
    for (size_t i = 0; i < 4; i++) {
        if (numbers[i].name == NULL)
            continue;
        output_format("  %-10s %" PRIu64, numbers[i].name, g[i]);
        if (numbers[i].means != NULL)
            output_format(" (%s)", numbers[i].means);
        output_text("\n");
    }
}

static void info_geometry(const uint64_t g[4])
{
    output_format("  geometry   %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                  "\n", g[0], g[1], g[2], g[3]);
}

/* Prints the share of bits or cells in use, as a number and as a bar. */
static void info_fill(const bly_info_t *stat)
{
    enum { WIDTH = 20 };
    static const char used[] = "####################";
    static const char left[] = "....................";
    int n = (int)lround(fmin(stat->fill, 1) * WIDTH);

    output_format("  fill       %s of the bits or cells are in use",
                  report_percent(stat->fill).text);
    if (stat->fullest > 0)
        output_format(", %s in the fullest layer",
                      report_percent(stat->fullest).text);
    output_format("  [%.*s%.*s]\n", n, used, WIDTH - n, left);
}

static void info_text(const bly_filter *filter, const bly_info_t *stat,
                      const char *file)
{
    bool labels = false;
    size_t attached;

    output_text(file);
    output_format("\n  kind       %s\n", stat->kind);
    info_keys(stat);
    info_form(stat);
    output_format("  size       %s, %.2f bits for each key planned\n",
                  report_bytes(stat->bytes).text, stat->bits_per_key);
    cheaper_text(stat);
    if (stat->packed > 0)
        output_format("  packed     about %s when saved or sent\n",
                      report_bytes(stat->packed).text);
    if (about_attached(&attached, filter))
        output_format("  attached   %s of data\n",
                      report_bytes((uint64_t)attached).text);
    output_format("  probes     %" PRIu32 " per key\n", stat->probes);
    info_fill(stat);
    info_rate(stat);
    if (stat->lost > 0 && stat->window < UINT64_MAX)
        output_format("  lost       %s of the keys are no longer found after "
                      "%s others are added\n",
                      report_percent(stat->lost).text,
                      report_count(stat->capacity).text);
    else if (stat->lost > 0)
        output_format("  lost       %s of the keys that are there are not "
                      "found\n", report_percent(stat->lost).text);
    if (stat->window > 0 && stat->window < UINT64_MAX)
        output_format("  window     the last %s different keys are certain "
                      "to be found\n", report_count(stat->window).text);
    if (stat->saturated > 0)
        output_format("  saturated  %s counters at their largest value\n",
                      report_count(stat->saturated).text);
    if (stat->label_bits > 0)
        output_format("  labels     %" PRIu64 " .. %" PRIu64 "\n",
                      stat->label_least, stat->label_most);
    if (filter_kind_of_family(stat->kind, "foreign"))
        output_text("  hash       as its system does, of the whole key\n");
    else if (secret_bytes() != NULL)
        info_mark(stat->hash, stat->seed);
    else
        output_format("  hash       %s, seed %" PRIu64 "\n", stat->hash,
                      stat->seed);
    if (filter_kind_of_family(stat->kind, "foreign"))
        info_geometry_named(info_numbers(stat->kind), stat->geometry);
    else
        info_geometry(stat->geometry);
    bly_list_labels(filter, info_text_label, &labels);
}

/* ==== Header only ======================================================= */

static bool info_secret(const bly_header *header)
{
    return strcmp(header->hash, "siphash") == 0;
}

static void info_header_json(const bly_header *header, const char *file)
{
    json_open_object(NULL);
    json_string("file", file);
    bly_header_each(header, json_field, NULL);
    json_close_object();
}

static void info_header_text(const bly_header *header, const char *file)
{
    bool known = header->items < UINT64_MAX;

    output_format("%s\n  kind       %s\n", file, header->kind);
    output_format("  keys       %s added, planned for %s\n",
                  known ? report_count(header->items).text : "unknown how many",
                  report_count(header->capacity).text);
    output_format("  size       %s\n",
                  report_bytes(header->packed ? header->unpacked
                                              : header->bytes).text);
    if (header->packed)
        output_format("  packed     %s in the file\n",
                      report_bytes(header->bytes).text);
    output_format("  rate       planned %s\n",
                  report_percent(header->rate).text);
    if (info_secret(header))
        info_mark(header->hash, header->seed);
    else
        output_format("  hash       %s, seed %" PRIu64 "\n", header->hash,
                      header->seed);
    info_geometry(header->geometry);
}

static int info_flags(const info_settings *s)
{
    return s->no_verify ? 0 : BLY_VERIFY;
}

/* If only the secret is missing, prints the header. */
static bool info_header(const char *file, const info_settings *s)
{
    bly_header header;
    bly_filter *filter;

    if (secret_bytes() != NULL || !filter_peek(&header, file)
        || !info_secret(&header)
        || bly_open(&filter, file, BLY_MAP | info_flags(s), NULL)
           != BLY_ESECRET)
        return false;
    (s->json ? info_header_json : info_header_text)(&header, file);
    report_note("note: the keys of '%s' are hashed with a secret: use "
                "--key-file to see more", file);
    return true;
}

/* Opens a filter, and unpacks a packed one to read its bits if it is small.
 * Returns NULL after an error, or with *large set to the header of one that is
 * too large. */
static bly_filter *info_open(const char *file, const info_settings *s,
                             bly_header *large)
{
    bly_header header;

    return wrapped_is(file) || (filter_peek(&header, file) && header.packed)
         ? wrapped_show(file, large) : load_mapped(file, info_flags(s));
}

static int info_large(const char *file, const info_settings *s,
                      const bly_header *header)
{
    (s->json ? info_header_json : info_header_text)(header, file);
    report_note("note: '%s' is packed and would take %s unpacked: only its "
                "header is shown", file, report_bytes(header->unpacked).text);
    return CLI_OK;
}

static int info_data(const char *file, const info_settings *s)
{
    bly_filter *filter = load_mapped(file, info_flags(s));
    const void *data;
    size_t bytes;
    int status;

    if (filter == NULL)
        return CLI_ERROR;
    if (bly_attached(&data, &bytes, filter) < 0)
        status = report_error("'%s': %s", file, filter_why());
    else
        status = output_bytes(data, bytes) ? CLI_OK : CLI_ERROR;
    bly_free(filter);
    return status;
}

static int info_file(const char *file, const info_settings *s)
{
    bly_header large = { .bytes = 0 };
    bly_filter *filter;
    bly_info_t stat;

    if (container_is(file))
        return inside_info(file, s->json);
    if (filter_is_index(file))
        return indexed_info(file, s->json, !s->no_verify);
    if (info_header(file, s))
        return CLI_OK;
    filter = info_open(file, s, &large);
    if (filter == NULL && large.bytes > 0)
        return info_large(file, s, &large);
    if (filter == NULL)
        return CLI_ERROR;
    bly_info(&stat, filter);
    about_bytes(&stat);
    if (s->json)
        about_json(filter, &stat, file);
    else
        info_text(filter, &stat, file);
    bly_free(filter);
    return CLI_OK;
}

static int info_run(const cli_command *self, int argc, char **argv)
{
    info_settings s = { .json = false };
    cli_operands files;
    int status = options_read(self, argc, argv, &s, &files);

    if (status != CLI_GO)
        return status;
    if (files.count == 0)
        return options_wrong(self, "the FILE is missing");
    if (s.data && files.count > 1)
        return options_wrong(self, "--data takes exactly one FILE");
    if (filter_how_read(s.key_file, s.format, s.unpack_limit) != CLI_GO)
        return CLI_ERROR;
    if (s.data)
        return info_data(files.names[0], &s);
    status = CLI_OK;
    if (s.json && files.count > 1)
        json_open_array(NULL);
    for (size_t i = 0; i < files.count; i++)
        if (info_file(files.names[i], &s) != CLI_OK)
            status = CLI_ERROR;
    if (s.json && files.count > 1)
        json_close_array();
    return status;
}

const cli_command cmd_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "show what a filter is and how full it is",
    .text =
        "Prints the kind of each filter, the number of keys that it holds and "
        "was planned for, its size, its fill, and its present false-positive "
        "rate, computed from the bits. For kinds with ordered labels (spatial, "
        "attenuated) it prints a line for each label: the share of cells that "
        "show it, the share of keys that were never put but seem to have it, "
        "and the share of its own keys that seem to have another label.\n\n"
        "For a filter that is hashed with a secret, only the header is shown "
        "unless --key-file is given. Nor is a packed filter of more than 64 "
        "MiB unpacked: only its header is shown.\n\n"
        "For a Parquet or ORC file, or a table of LevelDB or RocksDB, the "
        "filters inside are listed: for each, the part of the file that it "
        "covers, its size, its fill, its rate and the estimated number of "
        "distinct keys. --json also lists the parts without a filter.\n\n"
        "For an index made by 'bloomery index', the documents, the rate, the "
        "settings that it was made with, and the files that it does not cover "
        "are shown.\n\n"
        "If a format stores data for the owner of the filter (dcso), the "
        "number of attached bytes is shown, and --data prints them.\n\n"
        "Each filter is read completely and its checksum is verified before "
        "anything is shown.",
    .options = info_options,
    .usual = "json format no-verify key-file",
    .examples = info_examples,
    .status = "0 if all files were shown, 2 after an error.",
    .shows_progress = true,
    .run = info_run,
};
