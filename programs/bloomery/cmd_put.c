/* cmd_put.c - `bloomery put`: stores labels of keys in a filter file. The work
 * is in change.c.
 */
#include "bloomery/command.h"

static const cli_example put_examples[] = {
    { "bloomery put shard.bly moved.txt",
      "Lines such as '7 TAB alice': alice has the label 7 from now on." },
    { "bloomery get shard.bly names.txt | sed 's/^3\\t/5\\t/' "
      "| bloomery put shard.bly",
      "The names that have label 3 get label 5." },
    { "bloomery put zones.bly more.tsv",
      "zones.bly is of kind spatial: the keys of more.tsv are added with their "
      "areas." },
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
        "the files KEYS (or standard input) and gives each key this label in "
        "the filter FILE, which is replaced at the end. The filter must be of "
        "a kind that carries labels: see 'bloomery kinds' and 'bloomery build "
        "-l'. A label that is no number, or none of the filter's (see "
        "'bloomery info'), is an error that names its line.\n\n"
        "A kind that is built from all its keys (bloomier) labels those that "
        "are there. Of two labels for one key the later one stays. A key that "
        "is not there is left out; a note says how many. Name only keys that "
        "were built in: another that is perhaps there by accident changes some "
        "key's label.\n\n"
        "Kinds that take keys at any time (approximator, spatial, attenuated) "
        "add each key with its label; a key that is there keeps the larger of "
        "both, and of kind attenuated the smaller.",
    .options = change_label_options,
    .examples = put_examples,
    .status = "0 if all keys got their labels, 1 if some were not there, "
              CLI_KEPT("FILE"),
    .run = put_run,
};
