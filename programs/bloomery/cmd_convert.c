/* cmd_convert.c - `bloomery convert`: the same filter in another format.
 *
 * What can be done without the keys the library knows (bly_save_as). Floor 8;
 * includes command.h only.
 */
#include "bloomery/command.h"

typedef struct {
    const char *to, *key_file, *format;
    bool        verbose, force, json;
} convert_settings;

static const cli_option convert_options[] = {
    { 'F', "to", "FORMAT", CLI_TEXT, offsetof(convert_settings, to), true,
      "The format of OUT: 'bloomery', or one that 'bloomery formats' lists." },
    CLI_FORMAT_OPTION(convert_settings, format),
    CLI_FORCE_OPTION(convert_settings, force),
    CLI_SECRET_OPTION(convert_settings, key_file),
    CLI_MADE_OPTIONS(convert_settings),
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example convert_examples[] = {
    { "bloomery convert -F bloomery known.bloom known.bly",
      "The filter of another system, in a file that tells what it is and "
      "whether it is damaged." },
    { "bloomery convert -F dcso known.bly known.bloom", "And back." },
    { NULL, NULL }
};

static int convert_file(const convert_settings *s, const char *from,
                        const char *to)
{
    bly_filter *filter = filter_map(from, BLY_VERIFY);
    int status;

    if (filter == NULL)
        return CLI_ERROR;
    status = filter_save_as(filter, to, s->to);
    if (status == CLI_OK)
        made_report(filter, to, s->verbose, s->json, NULL);
    bly_free(filter);
    return status;
}

static int convert_run(const cli_command *self, int argc, char **argv)
{
    convert_settings s = { .to = NULL };
    cli_operands operands;
    const cli_operands none = { NULL, 0 };
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count != 2)
        return options_wrong(self, "it takes a filter, IN, and the place of "
                                   "the new one, OUT");
    if (format_check(s.to) != CLI_GO)
        return CLI_ERROR;
    status = made_check(self, operands.names[1], s.json);
    if (status == CLI_GO)
        status = filter_how_read(s.key_file, s.format);
    if (status == CLI_GO)
        status = filter_check_output(operands.names[1], s.force, &none, 0);
    return status == CLI_GO ? convert_file(&s, operands.names[0],
                                           operands.names[1]) : status;
}

const cli_command cmd_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .summary = "write a filter in another format, with the same bits",
    .text =
        "Writes the filter IN to OUT in another format, where that is possible "
        "without the keys: where both have the same bits for a key and differ "
        "in what is around them. Any filter can be written as 'bloomery', "
        "which tells what it is and whether it is damaged. Where a format has "
        "other bits, the filter has to be built anew from its keys: 'build -k "
        "FORMAT'.",
    .options = convert_options,
    .examples = convert_examples,
    .status = "0, or 2 after an error: nothing is written then.",
    .run = convert_run,
};
