/* cmd_get.c - `bloomery get`: the labels of keys.
 *
 * The work is in tell.c. Floor 8; includes command.h and <bloomery.h> only.
 */
#include "bloomery/command.h"

static const cli_option get_options[] = {
    { 0, "json", NULL, CLI_FLAG, offsetof(cli_tell_settings, json), false,
      "Print no lines, but how many keys were asked for and are perhaps there "
      "as a JSON object." },
    CLI_TELL_OPTIONS
};

static const cli_example get_examples[] = {
    { "bloomery get shard.bly names.txt",
      "The label of each name that has one: '7 TAB alice'." },
    { "bloomery get -f 2 -t , shard.bly table.csv | sort -n",
      "The lines of a table in the order of their second column's labels." },
    { NULL, NULL }
};

static void get_ask(const bly_filter *filter, const bly_key *keys, size_t n,
                    bool *there, uint64_t *labels)
{
    bly_get_keys(filter, &(bly_keys){ .n = n, .keys = keys }, there, labels);
}

static int get_run(const cli_command *self, int argc, char **argv)
{
    static const cli_tell how = { get_ask, BLY_CAN_LABEL, "carries no labels",
                                  "asking", false };

    return tell_run(self, &how, argc, argv);
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
        "kinds' and 'bloomery build -l'.",
    .options = get_options,
    .examples = get_examples,
    .status = "0 if a key is perhaps there, 1 if none is, 2 after an error.",
    .run = get_run,
};
