/* cmd_unite.c - `bloomery unite`: makes a filter of the keys of several
 * filters. The work is in combine.c.
 */
#include "bloomery/command.h"

static const cli_example unite_examples[] = {
    { "bloomery unite -o year.bly month-*.bly",
      "Unite filters of parts, built one by one or on many machines." },
    { "bloomery unite -o year.bly year.bly today.bly",
      "Add the keys of today.bly to year.bly." },
    { "bloomery unite --level 1 -o link.bly link.bly neighbour.bly",
      "The keys of neighbour.bly are one hop away over this link." },
    { NULL, NULL }
};

static int unite_run(const cli_command *self, int argc, char **argv)
{
    static const cli_combination how = { bly_unite, "united" };

    return combine_run(self, &how, argc, argv);
}

const cli_command cmd_unite = {
    .name = "unite",
    .operands = "A B...",
    .summary = "make a filter of the keys that are in any of several",
    .text =
        "Writes to OUT the union of the filters: it finds every key that any "
        "of them finds, as if all keys had been added to one filter. Except "
        "in kinds that count, the number of added keys is then unknown, and "
        "the number of distinct keys is an estimate. The filters must have "
        "the same kind, capacity, rate, hash and seed: build the parts with "
        "the same -k, -n, -p, -H and -s, where -n is the number of keys of "
        "the whole. With --level they may differ, and filters of kind "
        "expandable need only the same rate, hash and seed.\n\n"
        "One of the filters may be '-', standard input.",
    .options = combine_level_options,
    .usual = "output level assume-form force verbose json",
    .examples = unite_examples,
    .status = "0 if OUT was written, "
              CLI_KEPT("OUT"),
    .shows_progress = true,
    .run = unite_run,
};
