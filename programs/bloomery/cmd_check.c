/* cmd_check.c - `bloomery check`: verifies that filter files are complete and
 * undamaged.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <bloomery/foreign.h>
#include <bloomery/index.h>
#include <string.h>

typedef struct {
    bool        quiet, json;
    const char *key_file, *format;
    uint64_t    unpack_limit;
} check_settings;

static const cli_option check_options[] = {
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(check_settings, quiet), false,
      "Print nothing about files that are fine." },
    { 0, "json", NULL, CLI_FLAG, offsetof(check_settings, json), false,
      "Print a JSON object of file, ok, status and why, or an array of "
      "objects for several files.",
      .group = CLI_OUTPUT },
    { 0, "key-file", "FILE", CLI_TEXT, offsetof(check_settings, key_file),
      false, "Also check that FILE holds the secret of the filters: 16 bytes "
      "or 32 hexadecimal digits.",
      .group = CLI_SAFETY },
    CLI_FORMAT_OPTION(check_settings, format),
    CLI_UNPACK_OPTION(check_settings, unpack_limit),
    { 0 }
};

static const cli_example check_examples[] = {
    { "bloomery check words.bly",
      "Read all of a filter and verify its checksums." },
    { "bloomery check -q backup/*.bly && echo fine",
      "Report only damaged files." },
    { NULL, NULL }
};

static const char *check_name(bly_status status)
{
    switch (status) {
#define CHECK_CASE(name, value, text) case BLY_##name: return "BLY_" #name;
    BLY_STATUS_MAP(CHECK_CASE)
#undef CHECK_CASE
    case BLY_STATUS_END:
        break;
    }
    return "unknown";
}

/* An intact filter may still hold more than its kind can store exactly. */
static void check_promise(const bly_filter *filter, const char *path)
{
    bly_info_t stat;

    if (bly_info(&stat, filter) >= 0 && filter_broken(&stat))
        report_note("warning: '%s' holds more different keys than the %s up to "
                    "which it is exact: false positives are possible (rate %s)",
                    path, report_count(stat.capacity).text,
                    report_percent(stat.rate).text);
}

/* Returns the caveat for another system's filter of this kind; NULL: ours. */
static const char *check_doubt(const char *kind)
{
    const bly_format_info *format = format_of(kind);

    return format == NULL ? NULL
         : format->recognised ? "its format has no checksum: its numbers were "
                                "looked at"
                              : "its format has no checksum, nor tells whether "
                                "this is all of it, or such a filter at all";
}

/* Needing a secret is not a fault if none was given. */
static bly_status check_lenient(bly_status status)
{
    return status == BLY_ESECRET && secret_bytes() == NULL ? BLY_OK : status;
}

/* Maps the file, which needs no memory, or else reads it. The secret is
 * verified last, after everything else. */
static bly_status check_open(const char *path, bool quiet, const char **doubt)
{
    bly_filter *filter = NULL;
    bly_header header;
    bly_status status;

    if (strcmp(path, "-") == 0)
        path = "/dev/stdin";
    status = bly_open(&filter, path, BLY_MAP | BLY_VERIFY, format_how());
    if (status == BLY_EIO)
        status = bly_open(&filter, path, 0, format_how());
    if (status >= 0 && !quiet)
        check_promise(filter, path);
    if (status >= 0 && !filter_peek(&header, path))
        *doubt = check_doubt(bly_kind_of(filter));
    if (status >= 0)
        bly_free(filter);
    return check_lenient(status);
}

static bly_status check_index(const char *path)
{
    bly_index *index = NULL;
    bly_status status = bly_index_open(&index, path, NULL);

    if (status >= 0)
        status = bly_index_verify(index, progress_library());
    bly_index_free(index);
    return status;
}

static void check_json(const char *file, bly_status status, const char *why,
                       bool inside, size_t n)
{
    json_open_object(NULL);
    json_string("file", file);
    json_bool("ok", status >= 0);
    json_string("status", check_name(status));
    json_string("why", status >= 0 ? NULL : why);
    if (inside)
        json_count("filters", n);
    json_close_object();
}

static void check_text(const char *file, bool inside, const char *doubt,
                       size_t n)
{
    output_text(file);
    if (doubt != NULL)
        output_format(": ok (%s)\n", doubt);
    else if (inside && n == 0)
        output_text(": ok, but it has no filter inside that can be asked\n");
    else if (inside)
        output_format(": ok (%zu %s inside)\n", n,
                      n == 1 ? "filter" : "filters");
    else
        output_text(": ok\n");
}

/* Checks a filter inside another file. The library cannot tell that the outer
 * file is damaged or has no filter; *why then says so. */
static bly_status check_wrapped(const char *file, bool quiet,
                                const char **doubt, const char **why)
{
    bly_status status;
    bly_filter *filter;

    if (!wrapped_check(file, &status, &filter)) {
        *why = "what it comes in is damaged, or has no filter";
        return BLY_ECORRUPT;
    }
    if (filter == NULL)
        return check_lenient(status);
    if (!quiet)
        check_promise(filter, file);
    *doubt = check_doubt(bly_kind_of(filter));
    bly_free(filter);
    return status;
}

/* Checks a packed filter by its bytes, because opening it would unpack it. */
static bool check_packed(const char *file)
{
    bly_header header;

    return filter_peek(&header, file) && header.packed;
}

static int check_file(const char *file, const check_settings *s)
{
    bool wrapped = wrapped_is(file) || check_packed(file);
    bool inside = !wrapped && container_is(file);
    bool quiet = s->quiet || s->json;
    const char *doubt = NULL, *why = NULL;
    size_t n = 0;
    bly_status status = filter_is_index(file) ? check_index(file)
                      : wrapped ? check_wrapped(file, quiet, &doubt, &why)
                      : inside ? inside_check(file, &n)
                                : check_open(file, quiet, &doubt);

    if (status < 0 && !wrapped)         /* otherwise reported when read */
        paged_refuse(file, status);
    if (s->json)
        check_json(file, status, why != NULL ? why : filter_why(), inside, n);
    else if (status >= 0 && !s->quiet)
        check_text(file, inside, doubt, n);
    return status >= 0 ? CLI_OK : CLI_ERROR;
}

static int check_run(const cli_command *self, int argc, char **argv)
{
    check_settings s = { .quiet = false };
    cli_operands files;
    int status = options_read(self, argc, argv, &s, &files);

    if (status != CLI_GO)
        return status;
    if (files.count == 0)
        return options_wrong(self, "the FILE is missing");
    if (filter_how_read(s.key_file, s.format, s.unpack_limit) != CLI_GO)
        return CLI_ERROR;
    status = CLI_OK;
    if (s.json && files.count > 1)
        json_open_array(NULL);
    for (size_t i = 0; i < files.count; i++) {
        progress_expect(1 / (double)(files.count - i));
        progress_start("check", 0, false);
        if (check_file(files.names[i], &s) != CLI_OK)
            status = CLI_ERROR;
        progress_close();
    }
    if (s.json && files.count > 1)
        json_close_array();
    return status;
}

const cli_command cmd_check = {
    .name = "check",
    .operands = "FILE...",
    .summary = "check that filters are whole and undamaged",
    .text =
        "Reads each filter from end to end, trusts nothing in it, and verifies "
        "its checksums. Prints 'FILE: ok' for a good file. For a damaged file, "
        "a line on standard error says what is wrong. A warning is printed for "
        "a filter that is exact up to a number of keys and has more.\n\n"
        "In a Parquet or ORC file, or a table of LevelDB or RocksDB, the "
        "filters inside and the records that locate them are checked. A packed "
        "filter is checked without unpacking it. An index of 'bloomery index' "
        "is checked as well.",
    .options = check_options,
    .usual = "quiet json format key-file",
    .examples = check_examples,
    .status = "0 if all files are fine, 2 if any is not.",
    .shows_progress = true,
    .run = check_run,
};
