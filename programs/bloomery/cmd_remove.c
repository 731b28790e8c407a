/* cmd_remove.c - `bloomery remove`: removes keys from a filter file. The work
 * is in change.c.
 */
#include "bloomery/command.h"

static const cli_example remove_examples[] = {
    { "bloomery remove members.bly left.txt",
      "Remove the members that have left." },
    { "bloomery remove --witness members.txt members.bly banned.txt",
      "Remove only keys that are in members.txt, the keys of the filter." },
    { "cut -d , -f 2 gone.csv | bloomery remove --json members.bly",
      "Remove keys from a pipe, with a report for a program." },
    { NULL, NULL }
};

static int remove_run(const cli_command *self, int argc, char **argv)
{
    static const cli_change how = { feed_out, BLY_CAN_REMOVE,
                                    "cannot remove keys",
                                    "the FILE to remove from is missing", 0 };

    return change_run(self, &how, argc, argv);
}

const cli_command cmd_remove = {
    .name = "remove",
    .operands = "FILE [KEYS...]",
    .summary = "remove the keys of lines from a filter",
    .caution =
        "Remove only keys that were added: removing another key may remove a "
        "member.",
    .text =
        "Reads keys, one per line, from the files KEYS or from standard "
        "input, and removes each from the filter FILE, once for each time "
        "that it is read. FILE is replaced at the end. A key that is not "
        "there is skipped, and so is a key whose removal might lose others; a "
        "note says how many.\n\n"
        "A key that is there only as a false positive may take the traces of "
        "another key with it. The filter cannot notice this, but the list of "
        "its keys can: with --witness, only keys that are in the list are "
        "removed. They are compared byte by byte. Without such a list, give "
        "only keys that you know to be in the filter. The kind of the filter "
        "must be able to remove: see 'bloomery kinds'.",
    .options = change_remove_options,
    .usual = "witness key field separator recursive ignore-case verbose json",
    .examples = remove_examples,
    .status = "0 if all keys were removed, 1 if some were not there, not in "
              "LIST or could not be removed, " CLI_KEPT("FILE"),
    .run = remove_run,
};
