/* cmd_count.c - `bloomery count`: prints how often each line's key was added.
 * The work is in ask.c.
 */
#include "bloomery/command.h"

static const cli_option count_options[] = {
    { 'm', "at-least", "T", CLI_NUMBER, offsetof(ask_settings, least), false,
      "Print only lines whose count is at least T, or is not bounded. No key "
      "that was added T times is missed. 'bloomery advise --at-least' shows "
      "how often other keys pass." },
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "Print only the numbers of keys, the sum of their counts and, with -m, "
      "how many lines would be printed, as a JSON object.",
      .group = CLI_OUTPUT },
    ASK_OPTIONS
};

static const cli_example count_examples[] = {
    { "bloomery count visits.bly names.txt",
      "Print how often each name was added." },
    { "bloomery count -m 3 visits.bly < names.txt | sort -rn",
      "Print the names that were added three times or more, the most frequent "
      "first." },
    { NULL, NULL }
};

static bly_status count_ask(const bly_filter *filter, const bly_keys *keys,
                            bool *there, uint64_t *counts)
{
    bly_status status = bly_count_many(filter, keys, counts);

    for (size_t i = 0; i < keys->n; i++)
        there[i] = counts[i] > 0;
    return status;
}

static int count_run(const cli_command *self, int argc, char **argv)
{
    static const ask_how how = { count_ask, ASK_COUNTS, "counting",
                                 "count\t" };

    return ask_numbers(self, &how, BLY_CAN_COUNT, "does not count", argc, argv);
}

const cli_command cmd_count = {
    .name = "count",
    .operands = "FILE [KEYS...]",
    .summary = "print how often the key of each line was added",
    .text =
        "Reads lines from the files KEYS or from standard input, and prints "
        "each after a number and a TAB: an upper bound of how often its key "
        "was added to the filter FILE and not removed. The number is never "
        "too low, and 0 is certain. A '?' means that the key is perhaps "
        "there, but its counters are at their largest value, so that no bound "
        "is known.\n\n"
        "The kind of the filter must be able to count: see 'bloomery "
        "kinds'.\n\n"
        CLI_VERIFY_TEXT,
    .options = count_options,
    .usual = "at-least key field separator recursive ignore-case jobs json",
    .examples = count_examples,
    .status = "0 if a key is perhaps there (with -m: at least T times), 1 if "
              "none is, 2 after an error.",
    .run = count_run,
};
