/* cmd_add.c - `bloomery add`: adds keys to a filter file. The work is in
 * change.c.
 */
#include "bloomery/command.h"

static const cli_example add_examples[] = {
    { "bloomery add words.bly new-words.txt", "Add the words of a file." },
    { "tail -n 1000 log | bloomery add -f 1 -t ' ' seen.bly",
      "Add the first column of lines from a pipe." },
    { "bloomery add seen.bly --key apple", "Add one key." },
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
        "Reads keys, one per line, from the files KEYS (or standard input) and "
        "adds them to the filter FILE, which is replaced when all of them are "
        "in. Two commands may add to one file at once: one of them waits, and "
        "no key is lost.\n\n"
        "If more keys come than the filter was planned for, all of them are "
        "found, but the false-positive rate rises, and a warning says so. At "
        "twice as many 'add' stops, saves the keys up to there and reports an "
        "error, unless --overfill is given. Some kinds are full before that: "
        "'bloomery resize' makes them larger.\n\n"
        "A filter of more than half the memory, if its kind consists of pages "
        "(buffered), is not replaced but changed in place; so is a smaller "
        "one with --memory. If that is interrupted, the next 'add' mends the "
        "file: what was there before is still there, and so are some of the "
        "new keys: give it all of them again, which does no harm to those.\n\n"
        "A filter that is replaced is verified before, by a checksum of all of "
        "it; of one that is changed in place each page that keys go to is. "
        "Damage ends the command.",
    .options = change_add_options,
    .examples = add_examples,
    .status = "0 if the keys were added, 2 after an error; FILE is then as it "
              "was before (one that is changed in place, or that has come to "
              "twice its plan, has some of the keys).",
    .run = add_run,
};
