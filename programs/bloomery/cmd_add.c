/* cmd_add.c - `bloomery add`: adds keys to a filter file. The work is in
 * change.c.
 */
#include "bloomery/command.h"

static const cli_example add_examples[] = {
    { "bloomery add words.bly new-words.txt", "Add the lines of a file." },
    { "bloomery add seen.bly --key 10.0.0.1", "Add one key." },
    { "tail -n 1000 access.log | bloomery add -f 1 -t ' ' seen.bly",
      "Add the first column of lines from a pipe." },
    { NULL, NULL }
};

static int add_run(const cli_command *self, int argc, char **argv)
{
    static const cli_change how = { feed_filter, BLY_CAN_ADD,
                                    "takes no more keys",
                                    "the FILE to add to is missing", 0 };

    return change_run(self, &how, argc, argv);
}

const cli_command cmd_add = {
    .name = "add",
    .operands = "FILE [KEYS...]",
    .summary = "add the keys of lines to a filter",
    .text =
        "Reads keys, one per line, from the files KEYS or from standard "
        "input, and adds them to the filter FILE. FILE is replaced once all "
        "keys are in. Two commands may add to one file at the same time: one "
        "waits for the other, and no key is lost.\n\n"
        "If there are more keys than the filter was planned for, all of them "
        "are found, but the false-positive rate rises, and a warning says so. "
        "At twice as many, 'add' stops, saves the keys so far and reports an "
        "error, unless --overfill is given. Some kinds are full before that: "
        "'bloomery resize' makes them larger.\n\n"
        "A filter of more than half of the memory is changed in place if its "
        "kind consists of pages (buffered), and so is a smaller one with "
        "--memory. If that is interrupted, the next 'add' repairs the file: "
        "it has all of its old keys and some of the new ones. Add all new "
        "keys again; adding a key twice does no harm.\n\n"
        "A filter that is replaced is verified first by its checksum. In a "
        "filter that is changed in place, each changed page is verified. "
        "Damage ends the command.",
    .options = change_add_options,
    .usual = "key field separator recursive ignore-case jobs verbose json",
    .examples = add_examples,
    .status = "0 if the keys were added, 2 after an error. FILE is then "
              "unchanged, with two exceptions: if it is changed in place, or "
              "reaches twice the planned number of keys, some of the keys are "
              "saved.",
    .run = add_run,
};
