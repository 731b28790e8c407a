/* cmd_get.c - `bloomery get`: prints the labels of keys. The work is in
 * ask.c.
 */
#include "bloomery/command.h"

static const cli_option get_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "Print no lines, but how many keys were asked for and are perhaps there "
      "as a JSON object." },
    ASK_OPTIONS
};

static const cli_example get_examples[] = {
    { "bloomery get shard.bly names.txt",
      "The label of each name that has one: '7 TAB alice'." },
    { "bloomery get -f 2 -t , shard.bly table.csv | sort -n",
      "The lines of a table in the order of their second column's labels." },
    { NULL, NULL }
};

static int get_run(const cli_command *self, int argc, char **argv)
{
    static const ask_how how = { bly_get_keys, ASK_LABELS, "asking",
                                 "label\t" };

    return ask_numbers(self, &how, BLY_CAN_LABEL, "stores no labels", argc,
                       argv);
}

const cli_command cmd_get = {
    .name = "get",
    .operands = "FILE [KEYS...]",
    .summary = "print the label of each line's key",
    .text =
        "Reads lines from the files KEYS (or standard input) and prints those "
        "whose key is perhaps in the filter FILE, each with its key's label "
        "and a TAB before it. The label of a key that was built in is always "
        "right; of the others a small share, the filter's false-positive rate, "
        "is printed too, with a label that means nothing.\n\n"
        "The filter must be of a kind that carries labels: see 'bloomery "
        "kinds' and 'bloomery build -l'.\n\n"
        CLI_VERIFY_TEXT,
    .options = get_options,
    .examples = get_examples,
    .status = "0 if a key is perhaps there, 1 if none is, 2 after an error.",
    .run = get_run,
};
