/* cmd_remove.c - `bloomery remove`: removes keys from a filter file. The work
 * is in change.c.
 */
#include "bloomery/command.h"

static const cli_example remove_examples[] = {
    { "bloomery remove members.bly left.txt",
      "Take out those that have left." },
    { "cut -d ' ' -f 1 expired | bloomery remove --json sessions.bly",
      "The same from a pipe, with a report for a program." },
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
    .text =
        "Reads keys, one per line, from the files KEYS (or standard input) and "
        "removes each from the filter FILE, once for each time it is read. "
        "FILE is replaced at the end. A key that is not there is skipped, and "
        "so is one whose removal might lose others; a note says how many.\n\n"
        "Remove only keys that were added: a key that was not, but is perhaps "
        "there by accident, may take another key's traces with it. The filter "
        "must be of a kind that can remove: see 'bloomery kinds'.",
    .options = change_options,
    .examples = remove_examples,
    .status = "0 if all keys were removed, 1 if some were not there or could "
              "not be removed, " CLI_KEPT("FILE"),
    .run = remove_run,
};
