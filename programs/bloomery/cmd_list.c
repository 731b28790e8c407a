/* cmd_list.c - `bloomery list`: prints the keys in a filter, for kinds that can
 * decode all of their keys (bly_list_keys).
 */
#include "bloomery/command.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/sketch.h>
#include <inttypes.h>

typedef struct {
    bool        nul;
    const char *key_file, *format;
    uint64_t    unpack_limit;
} list_settings;

static const cli_option list_options[] = {
    { '0', "null", NULL, CLI_FLAG, offsetof(list_settings, nul), false,
      "End keys with a NUL byte instead of a newline.",
      .group = CLI_OUTPUT },
    CLI_SECRET_OPTION(list_settings, key_file),
    CLI_FORMAT_OPTION(list_settings, format),
    CLI_UNPACK_OPTION(list_settings, unpack_limit),
    { 0 }
};

static const cli_example list_examples[] = {
    { "bloomery list sparse.bly",
      "Print the numbers in a filter of kind egh." },
    { "bloomery list sparse.bly | sort -n | diff - sparse.txt",
      "Compare them with the numbers that it should hold." },
    { NULL, NULL }
};

typedef struct {
    bool numbers, nul;
} list_job;

/* Prints a key: the key itself if the filter keeps it whole, the number that it
 * is, or else its hash. */
static bool list_visit(void *context, const bly_listed *listed)
{
    const list_job *job = context;

    if (listed->key != NULL)
        output_bytes(listed->key, listed->length);
    else if (job->numbers)
        output_format("%" PRIu64, listed->hash);
    else
        output_format("%016" PRIx64, listed->hash);
    return output_bytes(job->nul ? "\0" : "\n", 1);
}

static int list_file(const list_settings *s, const char *path)
{
    bly_filter *filter = load_mapped(path, BLY_VERIFY);
    list_job job = { .nul = s->nul };
    int status = CLI_OK;

    if (filter == NULL)
        return CLI_ERROR;
    job.numbers = filter_numbers(filter);
    if (!filter_can(filter, BLY_CAN_LIST_KEYS))
        status = filter_cannot(filter, path, "cannot list its keys",
                               BLY_CAN_LIST_KEYS);
    else if (bly_list_keys(filter, list_visit, &job) < 0)
        status = report_error("'%s' cannot be listed: %s", path, filter_why());
    bly_free(filter);
    return status;
}

static int list_run(const cli_command *self, int argc, char **argv)
{
    list_settings s = { .nul = false };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count != 1)
        return options_wrong(self, "this command takes one FILE");
    if (filter_how_read(s.key_file, s.format, s.unpack_limit) != CLI_GO)
        return CLI_ERROR;
    return list_file(&s, operands.names[0]);
}

const cli_command cmd_list = {
    .name = "list",
    .operands = "FILE",
    .summary = "print the keys of a filter that can list them",
    .text =
        "Prints every key that the filter FILE holds, once, if its kind can "
        "list all of them. Kind egh lists numbers if it has a universe=, and "
        "otherwise hashes, up to the number of keys that it is exact for. "
        "Kind invertible lists keys that it stores whole (key=), and "
        "otherwise hashes of 16 hexadecimal digits, up to the number of keys "
        "that it was planned for. For other kinds the keys cannot be "
        "recovered.",
    .options = list_options,
    .usual = "null format key-file",
    .examples = list_examples,
    .status = "0 if all keys were printed; 2 after an error, and none was.",
    .run = list_run,
};
