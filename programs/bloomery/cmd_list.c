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
      "End keys with a NUL instead of a newline." },
    CLI_SECRET_OPTION(list_settings, key_file),
    CLI_FORMAT_OPTION(list_settings, format),
    CLI_UNPACK_OPTION(list_settings, unpack_limit),
    { 0 }
};

static const cli_example list_examples[] = {
    { "bloomery list ids.bly",
      "The numbers that are in a filter of kind egh." },
    { "bloomery list ids.bly | sort -n | diff - ids.txt",
      "Is it what it should be?" },
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
    .summary = "print the keys of a filter that can tell them",
    .text =
        "Prints every key that the filter FILE holds, each once, if it can "
        "tell all of them: of kind egh with a universe= the numbers, and "
        "without one the hashes, as long as no more are in than it is exact "
        "for; of kind invertible the keys where it keeps them "
        "whole (key=), else their hashes, in 16 hexadecimal digits, as long as "
        "no more are in than it was planned for. Of other kinds nobody can say "
        "which keys went in.",
    .options = list_options,
    .examples = list_examples,
    .status = "0 if all keys were printed; 2 after an error, and none was.",
    .run = list_run,
};
