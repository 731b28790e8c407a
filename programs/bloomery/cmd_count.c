/* cmd_count.c - `bloomery count`: how often each line's key was added.
 *
 * The work is in ask.c. Floor 8; includes command.h and <bloomery.h> only.
 */
#include "bloomery/command.h"

static const cli_option count_options[] = {
    { 'm', "at-least", "T", CLI_NUMBER, offsetof(ask_settings, least), false,
      "Print only lines whose count is at least T, or not bounded: none whose "
      "key came T times is left out. 'bloomery advise --at-least' tells which "
      "filter to take, and how often another key passes." },
    { 0, "json", NULL, CLI_FLAG, offsetof(ask_settings, json), false,
      "Print no lines, but how many keys were asked for, the sum of their "
      "counts and, with -m, how many would be printed, as a JSON object." },
    ASK_OPTIONS
};

static const cli_example count_examples[] = {
    { "bloomery count visits.bly names.txt",
      "How often each name was added." },
    { "bloomery count -m 100 visits.bly < names.txt | sort -rn",
      "The frequent ones, the most frequent first." },
    { NULL, NULL }
};

static bly_status count_ask(const bly_filter *filter, const bly_keys *keys,
                            bool *there, uint64_t *counts)
{
    bly_status status = bly_count_keys(filter, keys, counts);

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
        "Reads lines from the files KEYS (or standard input) and prints each "
        "with a number and a TAB before it: an upper bound of how often its "
        "key was added to the filter FILE and not removed. The number is never "
        "too low; 0 "
        "is certain. A '?' says that the key is perhaps there but its counters "
        "are at their largest value, so that no bound is known.\n\n"
        "The filter must be of a kind that counts: see 'bloomery kinds'.\n\n"
        CLI_VERIFY_TEXT,
    .options = count_options,
    .examples = count_examples,
    .status = "0 if a key is perhaps there (with -m: at least T times), 1 if "
              "none is, 2 after an error.",
    .run = count_run,
};
