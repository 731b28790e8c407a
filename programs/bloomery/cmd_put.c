/* cmd_put.c - `bloomery put`: stores labels of keys in a filter file. The work
 * is in change.c.
 */
#include "bloomery/command.h"

static const cli_example put_examples[] = {
    { "bloomery put shard.bly moved.tsv",
      "A line such as '7 TAB alice' gives alice the label 7." },
    { "bloomery get shard.bly names.txt | sed 's/^3\\b/5/' | "
      "bloomery put shard.bly",
      "Give label 5 to the names with label 3." },
    { "bloomery put zones.bly more.tsv",
      "Add keys to a filter of kind spatial, with their areas." },
    { NULL, NULL }
};

static int put_run(const cli_command *self, int argc, char **argv)
{
    static const cli_change how = { feed_put, BLY_CAN_LABEL,
                                    "stores no labels",
                                    "the FILE to change is missing", 1 };

    return change_run(self, &how, argc, argv);
}

const cli_command cmd_put = {
    .name = "put",
    .operands = "FILE [KEYS...]",
    .summary = "give keys of a filter new labels, or add keys with labels",
    .text =
        "Reads lines of a label and a key, as 'bloomery get' prints them, from "
        "the files KEYS or from standard input, and gives each key its label "
        "in the filter FILE. FILE is replaced at the end. The kind of the "
        "filter must carry labels: see 'bloomery kinds' and 'bloomery build "
        "-l'. A label that is not a number, or does not fit the filter (see "
        "'bloomery info'), is an error that names its line.\n\n"
        "A kind that is built from all its keys (bloomier) changes the labels "
        "of its keys. If a key has two labels, the later one stays. A key that "
        "is not there is skipped; a note says how many were. Give only keys "
        "that were built in: another key that is a false positive changes the "
        "label of some key.\n\n"
        "Kinds that add keys at any time (approximator, spatial, attenuated) "
        "add each key with its label. A key that is already there keeps the "
        "larger label, or in kind attenuated the smaller one.",
    .options = change_label_options,
    .usual = "label field separator overfill jobs verbose json",
    .examples = put_examples,
    .status = "0 if all keys got their labels, 1 if some were not there, "
              CLI_KEPT("FILE"),
    .run = put_run,
};
