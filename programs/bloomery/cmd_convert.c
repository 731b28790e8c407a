/* cmd_convert.c - `bloomery convert`: writes a filter in another format, or
 * with other attached data. The library (bly_save_as) knows which conversions
 * are possible without the keys.
 */
#include "bloomery/command.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/foreign.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *to, *data, *key_file, *format;
    uint64_t    unpack_limit;
    bool        verbose, force, json;
} convert_settings;

static const cli_option convert_options[] = {
    { 0, "to", "FORMAT", CLI_TEXT, offsetof(convert_settings, to), false,
      "The format of OUT: 'bloomery', a format that 'bloomery formats' lists, "
      "or a kind with the same bits (split for parquet). Not needed with "
      "--data, where the default is the format of IN." },
    { 0, "data", "FILE", CLI_TEXT, offsetof(convert_settings, data), false,
      "Attach the bytes of FILE ('-' is standard input) to the filter, "
      "instead of its attached data. An empty FILE removes the data. For "
      "formats with a place for data (dcso)." },
    CLI_FORMAT_OPTION(convert_settings, format),
    CLI_UNPACK_OPTION(convert_settings, unpack_limit),
    CLI_FORCE_OPTION(convert_settings, force),
    CLI_SECRET_OPTION(convert_settings, key_file),
    CLI_MADE_OPTIONS(convert_settings),
    { 0 }
};

static const cli_example convert_examples[] = {
    { "bloomery convert --to bloomery known.bloom known.bly",
      "Write another system's filter in Bloomery's format." },
    { "bloomery convert --to dcso known.bly back.bloom",
      "Write it in the format of DCSO's bloom again." },
    { "bloomery convert --to parquet column.bly column.filter",
      "Write a filter of kind split with hash xxh64 for a Parquet file." },
    { "bloomery convert --data notes.txt known.bloom noted.bloom",
      "Attach notes to a filter." },
    { NULL, NULL }
};

/* ==== Attached data ===================================================== */

typedef struct {
    unsigned char *bytes;
    size_t         n, room;
} convert_data;

/* Enlarges the buffer. Returns false if memory is short. */
static bool convert_grow(convert_data *data)
{
    size_t room = data->room > 0 ? 2 * data->room : 1 << 16;
    unsigned char *grown = data->room <= SIZE_MAX / 2
                         ? realloc(data->bytes, room) : NULL;

    if (grown == NULL)
        return false;
    data->bytes = grown;
    data->room = room;
    return true;
}

/* Reads to the end of the file. CLI_GO or CLI_ERROR. */
static int convert_read(convert_data *data, int fd, const char *path)
{
    ssize_t got = 1;

    while (got != 0) {
        if (data->n == data->room && !convert_grow(data))
            return report_error("out of memory: the data in '%s' is too large: "
                                "attach less", path);
        got = read(fd, data->bytes + data->n, data->room - data->n);
        if (got < 0 && errno != EINTR)
            return report_unread("read the data in", path, errno);
        data->n += got > 0 ? (size_t)got : 0;
    }
    return CLI_GO;
}

static int convert_load(convert_data *data, const char *path)
{
    bool input = strcmp(path, "-") == 0;
    int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), status;

    if (fd < 0)
        return report_unread("read the data in", path, errno);
    status = convert_read(data, fd, path);
    if (!input)
        close(fd);
    return status;
}

/* ==== Conversion ======================================================== */

/* Opens the filter in memory, so that data can be attached. */
static bly_filter *convert_open(const char *from)
{
    if (wrapped_is(from))
        return wrapped_open(from);
    return load_whole(strcmp(from, "-") == 0 ? "/dev/stdin" : from, 0);
}

/* Opens the filter and attaches the data, if given. */
static bly_filter *convert_filter(const convert_data *data, const char *from)
{
    bly_filter *filter = data != NULL ? convert_open(from)
                                      : load_mapped(from, BLY_VERIFY);

    if (filter == NULL || data == NULL
        || bly_attach(filter, data->bytes, data->n) == BLY_OK)
        return filter;
    report_error("'%s': %s", from, filter_why());
    bly_free(filter);
    return NULL;
}

/* Converts a file. `lock`: the lock of OUT if it is also IN and gets other
 * data; or -1. */
static int convert_file(const convert_settings *s, const convert_data *data,
                        const cli_operands *operands, int lock)
{
    const char *to = operands->names[1];
    bly_filter *filter = convert_filter(data, operands->names[0]);
    int status = CLI_OK;

    if (filter == NULL)
        return CLI_ERROR;
    if (lock >= 0)
        status = filter_check_lock(lock, to);
    if (status == CLI_OK)
        status = s->to != NULL ? filter_save_as(filter, operands->names[0],
                                                to, s->to)
                               : filter_save(filter, to);
    if (status == CLI_OK)
        made_report(filter, to, s->verbose, s->json, NULL);
    bly_free(filter);
    return status;
}

/* Attaches data. OUT may be IN, as in programs that attach data in place. */
static int convert_attach(const convert_settings *s,
                          const cli_operands *operands)
{
    convert_data data = { NULL, 0, 0 };
    int status = convert_load(&data, s->data), lock = -1;

    if (status == CLI_GO
        && output_same(operands->names[0], operands->names[1])) {
        lock = filter_lock(operands->names[1]);
        status = lock >= 0 ? CLI_GO : CLI_ERROR;
    }
    if (status == CLI_GO)
        status = convert_file(s, &data, operands, lock);
    if (lock >= 0)
        close(lock);
    free(data.bytes);
    return status;
}

/* Verifies the command line. CLI_GO or an error. */
static int convert_check(const cli_command *self, const convert_settings *s,
                         const cli_operands *operands)
{
    if (operands->count != 2)
        return options_wrong(self, "this command takes a filter, IN, and the "
                                   "file to write, OUT");
    if (s->to == NULL && s->data == NULL)
        return options_wrong(self, "give the format of OUT with --to, or the "
                                   "data to attach with --data");
    if (s->data != NULL && strcmp(s->data, "-") == 0
        && strcmp(operands->names[0], "-") == 0)
        return options_wrong(self, "only one of IN and the data can be read "
                                   "from standard input");
    if (s->to != NULL && bly_kind_find(s->to) == NULL)
        return format_check(s->to);
    return CLI_GO;
}

static int convert_run(const cli_command *self, int argc, char **argv)
{
    convert_settings s = { .to = NULL };
    cli_operands operands;
    const cli_operands none = { NULL, 0 };
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = convert_check(self, &s, &operands);
    if (status == CLI_GO)
        status = made_check(self, operands.names[1], s.json);
    if (status == CLI_GO)
        status = filter_how_read(s.key_file, s.format, s.unpack_limit);
    if (status == CLI_GO)
        status = filter_check_output(operands.names[1], s.force, &none, 0);
    if (status == CLI_GO && s.data != NULL
        && output_same(s.data, operands.names[1]))
        status = report_error("'%s' is both the output and the data: name "
                              "another output", s.data);
    if (status != CLI_GO)
        return status;
    return s.data != NULL ? convert_attach(&s, &operands)
                          : convert_file(&s, NULL, &operands, -1);
}

const cli_command cmd_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .summary = "write a filter in another format, or with other data attached",
    .text =
        "Writes the filter IN to OUT in another format. That is possible "
        "without the keys if both formats have the same bits for a key, and "
        "differ only in the bytes around them. Any filter can be written as "
        "'bloomery', a format that names its kind and detects damage. For a "
        "format with other bits, build the filter again from its keys, with "
        "'build -k FORMAT'.\n\n"
        "Some formats store arbitrary data for the owner of the filter. All "
        "commands keep it, --data replaces it, and 'info --data' prints it.",
    .options = convert_options,
    .usual = "to data format verbose json",
    .examples = convert_examples,
    .status = "0, or 2 after an error: nothing is written then.",
    .shows_progress = true,
    .run = convert_run,
};
