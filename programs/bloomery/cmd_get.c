/* cmd_get.c - `bloomery get`: prints the labels of keys. The work is in
 * ask.c.
 */
#include "bloomery/command.h"

static const cli_option get_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "Print only how many keys were queried and are perhaps there, as a JSON "
      "object.",
      .group = CLI_OUTPUT },
    ASK_OPTIONS
};

static const cli_example get_examples[] = {
    { "bloomery get shard.bly names.txt",
      "Print the names that have a label, such as '7 TAB alice'." },
    { "bloomery get -f 2 -t , shard.bly users.csv | sort -n",
      "Sort a table by the labels of its second column." },
    { NULL, NULL }
};

static int get_run(const cli_command *self, int argc, char **argv)
{
    static const ask_how how = { bly_get_many, ASK_LABELS, "asking",
                                 "label\t" };

    return ask_numbers(self, &how, BLY_CAN_LABEL, "stores no labels", argc,
                       argv);
}

const cli_command cmd_get = {
    .name = "get",
    .operands = "FILE [KEYS...]",
    .summary = "print the label of each line's key",
    .text =
        "Reads lines from the files KEYS or from standard input, and prints "
        "those whose key is perhaps in the filter FILE, each after its key's "
        "label and a TAB. The label of a key that was built in is always "
        "right. Of the other keys a small share, the false-positive rate, is "
        "printed as well, with a meaningless label.\n\n"
        "The kind of the filter must carry labels: see 'bloomery kinds' and "
        "'bloomery build -l'.\n\n"
        CLI_VERIFY_TEXT,
    .options = get_options,
    .usual = "key field separator recursive ignore-case jobs json",
    .examples = get_examples,
    .status = "0 if a key is perhaps there, 1 if none is, 2 after an error.",
    .run = get_run,
};
