/* cmd_intersect.c - `bloomery intersect`: makes a filter of the keys that
 * several filters share. The work is in combine.c.
 */
#include "bloomery/command.h"

static const cli_example intersect_examples[] = {
    { "bloomery intersect -o both.bly monday.bly tuesday.bly",
      "Find every key that is in both filters." },
    { "bloomery intersect -o - monday.bly tuesday.bly | bloomery query - "
      "names.txt",
      "Print the names that are perhaps in both, without a file in between." },
    { NULL, NULL }
};

static int intersect_run(const cli_command *self, int argc, char **argv)
{
    static const cli_combination how = { bly_intersect, "intersected" };

    return combine_run(self, &how, argc, argv);
}

const cli_command cmd_intersect = {
    .name = "intersect",
    .operands = "A B...",
    .summary = "make a filter of the keys that are in all of several",
    .text =
        "Writes to OUT a filter that finds every key that is in all of the "
        "filters. Its false-positive rate is at most that of the best of "
        "them, but higher than that of a filter built from the common keys "
        "alone. The filters must have the same kind, capacity, rate, hash and "
        "seed.\n\n"
        "Filters of domains, networks and paths cannot be intersected: a key "
        "may lie within an entry of each, and in the intersection within "
        "none. Use 'query' with --all and -F for each filter.\n\n"
        "One of the filters may be '-', standard input.",
    .options = combine_options,
    .usual = "output assume-form force verbose json",
    .examples = intersect_examples,
    .status = "0 if OUT was written, " CLI_KEPT("OUT"),
    .shows_progress = true,
    .run = intersect_run,
};
