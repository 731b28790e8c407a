/* cmd_advise.c - `bloomery advise`: which kind for which need.
 *
 * The library ranks (src/advise.c); here the need is read, the costs are
 * fetched or measured, and the ranking is shown. Floor 7; includes cli.h,
 * costs.h and <bloomery.h> only.
 */
#include "cli.h"
#include "costs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ADVISE_SHOWN = 5 };

typedef struct {
    uint64_t items, memory, others;
    double   rate, present;
    bool     remove, count, grow, merge, fixed, stream, labels, exact, disk,
             concurrent;
    bool     small, fast, measure, all, json;
} advise_settings;

#define ADVISE_FLAG(name, field, help)                                        \
    { 0, name, NULL, CLI_FLAG, offsetof(advise_settings, field), false, help }

static const cli_option advise_options[] = {
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(advise_settings, items),
      false, "How many keys it should hold: 1000000, 1e6, 10k, 2.5M, 1G." },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(advise_settings, rate), false,
      "The false-positive rate with that many keys: 0.01, 1%, 1e-3. "
      "Default: 1%." },
    ADVISE_FLAG("remove", remove, "Any key may be removed again, and come "
                "back."),
    ADVISE_FLAG("count", count, "It should tell how often a key came."),
    ADVISE_FLAG("grow", grow, "The keys may become more than ITEMS, at the "
                "same rate."),
    ADVISE_FLAG("merge", merge, "Filters should be united."),
    ADVISE_FLAG("static", fixed, "All keys are known before it is built, and "
                "none comes later: this lets in more kinds."),
    ADVISE_FLAG("stream", stream, "Keys come without end, and old ones may be "
                "forgotten once ITEMS others have come."),
    ADVISE_FLAG("labels", labels, "It should tell a number for each key."),
    ADVISE_FLAG("exact", exact, "No false positive at all, among the keys of "
                "a closed universe."),
    ADVISE_FLAG("disk", disk, "It is to be worked on in a file bigger than "
                "memory."),
    ADVISE_FLAG("concurrent", concurrent, "Many threads add at once."),
    { 0, "present", "SHARE", CLI_SHARE, offsetof(advise_settings, present),
      false, "The share of lookups that are of keys which are there: 0.9, 90%. "
      "Default: 50%." },
    { 0, "others", "ITEMS", CLI_ITEMS, offsetof(advise_settings, others),
      false, "With --exact: how many keys will be asked for that are not "
      "there. Default: as many as are." },
    { 0, "memory-limit", "SIZE", CLI_SIZE, offsetof(advise_settings, memory),
      false, "The filter may have so many bytes: 64M, 1G (K, M, G, T are "
      "powers of 1024). Not for --disk." },
    ADVISE_FLAG("small", small, "Look for the smallest one, and at time only "
                "between equals. Always so with --disk."),
    ADVISE_FLAG("fast", fast, "Look for the quickest one, and at size only "
                "between equals."),
    ADVISE_FLAG("measure", measure, "First measure what lookups cost on this "
                "machine, which takes about half a minute and 350 MB, and "
                "keep it in the folder bloomery of $XDG_CACHE_HOME or "
                "~/.cache. It is used from then on, and shared by no other "
                "machine."),
    ADVISE_FLAG("all", all, "Show all kinds, with those that cannot and why; "
                "not only the first five."),
    ADVISE_FLAG("json", json, "Print an object: where the costs are from, and "
                "an array of all kinds."),
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example advise_examples[] = {
    { "bloomery advise -n 10M -p 0.1%", "For keys that are added one by one." },
    { "bloomery advise -n 10M --static --small", "The smallest of fixed keys." },
    { "bloomery advise -n 1M --remove --count --all",
      "All that can, and why the others cannot." },
    { "bloomery advise --measure", "Measure this machine." },
    { NULL, NULL }
};

/* ==== The need ========================================================== */

static bly_need advise_need(const advise_settings *s, const bly_costs *costs)
{
    const struct { bool wanted; unsigned need; } needs[] = {
        { s->remove, BLY_NEED_REMOVE },   { s->count, BLY_NEED_COUNT },
        { s->grow, BLY_NEED_GROW },       { s->merge, BLY_NEED_MERGE },
        { s->fixed, BLY_NEED_STATIC },    { s->stream, BLY_NEED_STREAM },
        { s->labels, BLY_NEED_LABELS },   { s->exact, BLY_NEED_EXACT },
        { s->disk, BLY_NEED_DISK },
        { s->concurrent, BLY_NEED_CONCURRENT },
    };
    bly_need need = {
        .capacity = s->items, .rate = s->rate, .present = s->present,
        .memory = s->memory, .others = s->others, .costs = costs,
        .aim = s->small ? BLY_AIM_SMALL
             : s->fast  ? BLY_AIM_FAST : BLY_AIM_BALANCE,
    };

    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].wanted)
            need.needs |= needs[i].need;
    return need;
}

/* ==== The command line that builds it =================================== */

typedef struct { char text[256]; } advise_line;

static advise_line advise_command(const bly_advice *a,
                                  const advise_settings *s)
{
    advise_line line;
    int n = snprintf(line.text, sizeof line.text, "bloomery build -k %s",
                     a->kind);
    size_t at = (size_t)n;

    n = snprintf(line.text + at, sizeof line.text - at,
                 s->exact ? " -n %" PRIu64 : " -n %" PRIu64 " -p %g", s->items,
                 s->rate);
    at += (size_t)n;
    snprintf(line.text + at, sizeof line.text - at, "%s%s%s -o FILE KEYS",
             s->labels ? " -l COLUMN" : "",
             s->exact && s->fixed ? " --without OTHERS" : "",
             s->disk ? " --memory SIZE" : "");
    return line;
}

/* ==== The ranking ======================================================= */

static void advise_json(const bly_advice *a, size_t place,
                        const advise_settings *s)
{
    json_open_object(NULL);
    json_string("kind", a->kind);
    json_bool("fits", a->fits);
    json_string("why", a->why);
    json_string("lacks", a->lacks);
    if (a->fits) {
        json_count("place", place);
        json_count("bytes", a->plan.bytes);
        json_real("bits_per_key", a->plan.bits_per_key);
        json_real("rate", a->plan.rate);
        json_real("ns_present", a->ns_present);
        json_real("ns_absent", a->ns_absent);
        json_real("ns_lookup", a->ns_lookup);
        json_real("ns_add", a->ns_add);
        json_real("score", a->score);
        json_string("command", advise_command(a, s).text);
    }
    json_close_object();
}

static void advise_heading(void)
{
    output_format("%26s %9s %18s %9s %24s\n", "", "bits", "", "",
                  "nanoseconds, a key");
    output_format("%26s %9s %18s %9s %8s %7s %7s\n", "", "per key", "bytes",
                  "rate", "there", "not", "add");
}

static void advise_text(const bly_advice *a, size_t place,
                        const advise_settings *s)
{
    output_format("%2zu %-23s %9.2f %18s %9s %8.1f %7.1f %7.1f\n", place,
                  a->kind, a->plan.bits_per_key,
                  report_count(a->plan.bytes).text,
                  report_percent(a->plan.rate).text, a->ns_present,
                  a->ns_absent, a->ns_add);
    output_format("   %s\n", a->why);
    if (s->labels)
        output_format("   labels %" PRIu64 " .. %" PRIu64 "\n",
                      a->plan.label_least, a->plan.label_most);
    if (a->plan.lost > 0)
        output_format("   %s of the keys are forgotten when %s others have "
                      "followed\n", report_percent(a->plan.lost).text,
                      report_count(a->plan.capacity).text);
    if (a->lacks[0] != '\0')
        output_format("   has not: %s\n", a->lacks);
    output_format("   %s\n", advise_command(a, s).text);
}

static void advise_show(const bly_advice *all, const advise_settings *s)
{
    size_t place = 1;

    advise_heading();
    for (; all->kind[0] != '\0'; all++) {
        if (all->fits && (s->all || place <= ADVISE_SHOWN))
            advise_text(all, place++, s);
        else if (!all->fits && s->all)
            output_format(" - %-23s %s\n", all->kind, all->why);
    }
}

static void advise_show_json(const bly_advice *all, const advise_settings *s,
                             const char *costs)
{
    json_open_object(NULL);
    json_string("costs", costs);
    json_open_array("advice");
    for (size_t place = 1; all->kind[0] != '\0'; all++)
        advise_json(all, place++, s);
    json_close_array();
    json_close_object();
}

/* No kind fits: which single wish less would help? */
static int advise_none(const bly_need *need)
{
    static const char *const names[] = {
        "remove", "count", "grow", "merge", NULL, "stream", "labels", "exact",
        "disk", "concurrent",
    };
    bly_advice first;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        bly_need less = *need;
        less.needs &= ~(1U << i);
        if (names[i] != NULL && bly_advise(&first, 1, &less) == BLY_OK
            && first.fits)
            return report_error("no kind can do all that: leave out --%s, "
                                "or see --all for the reasons", names[i]);
    }
    return report_error("no kind can do all that: see --all for the reasons, "
                        "and ask for less%s", need->memory > 0
                        ? " or allow more memory" : "");
}

static int advise_give(const advise_settings *s, const bly_costs *costs,
                       const char *path)
{
    static bly_advice all[BLY_ADVICE_MOST + 1];
    bly_need need = advise_need(s, costs);

    if (bly_advise(all, BLY_ADVICE_MOST, &need) < 0)
        return report_library();
    if (!all[0].fits && !s->all && !s->json)
        return advise_none(&need);
    if (s->json) {
        advise_show_json(all, s, costs != NULL ? path : "built in");
        return CLI_OK;
    }
    advise_show(all, s);
    if (costs != NULL)
        output_format("Times: as measured on this machine (%s).\n", path);
    else
        output_text("Times: of the machine that Bloomery was made on; "
                    "--measure measures this one.\n");
    return CLI_OK;
}

/* ==== The costs ========================================================= */

static void advise_watch(void *context, const char *kind, double share)
{
    (void)context;
    progress_share(kind, share);
}

static int advise_measure(costs_table *table, const char *path)
{
    const costs_watch watch = { advise_watch, NULL };
    bool good;

    progress_start("measuring this machine", 0, true);
    good = costs_measure(table, &watch);
    progress_end();
    if (!good)
        return report_error("cannot measure: %s", bly_why());
    if (costs_write(table, path))
        return CLI_OK;
    return report_error("%s cannot be written: %s: set XDG_CACHE_HOME to a "
                        "folder that can be", path, strerror(errno));
}

/* *costs stays NULL where nothing was measured. */
static int advise_fetch(const bly_costs **costs, costs_table *table,
                        const char *path, bool measure)
{
    const char *wrong;

    if (measure && path[0] == '\0')
        return report_error("there is no place to keep what is measured: set "
                            "XDG_CACHE_HOME or HOME");
    if (measure && advise_measure(table, path) != CLI_OK)
        return CLI_ERROR;
    wrong = measure ? NULL
          : path[0] == '\0' ? costs_missing : costs_read(table, path);
    if (wrong == NULL)
        *costs = &table->costs;
    else if (wrong != costs_missing)
        report_note("note: %s %s: measure anew with --measure", path, wrong);
    return CLI_OK;
}

/* ==== The command ======================================================= */

static int advise_run(const cli_command *self, int argc, char **argv)
{
    static costs_table table;
    advise_settings s = { .rate = 0.01, .present = 0.5 };
    cli_operands operands;
    const bly_costs *costs = NULL;
    char path[4096];
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count > 0)
        return options_wrong(self, "it takes no operands");
    if (s.items == 0 && !s.measure)
        return options_wrong(self, "-n ITEMS is missing");
    if (s.small && s.fast)
        return options_wrong(self, "--small and --fast exclude each other");
    if (!costs_path(path, sizeof path))
        path[0] = '\0';
    status = advise_fetch(&costs, &table, path, s.measure);
    return status != CLI_OK || s.items == 0 ? status
                                            : advise_give(&s, costs, path);
}

const cli_command cmd_advise = {
    .name = "advise",
    .operands = "",
    .summary = "tell which kind is best for a need",
    .text =
        "Ranks the kinds of filters for a number of keys, a false-positive "
        "rate, and what the filter must be able to do. The best is where the "
        "time of a lookup times the cube root of the size is least: what is "
        "eight times as large must be twice as quick; --fast and --small look "
        "at one of the two.\n\n"
        "Shown are the size, the rate, and the expected nanoseconds of a "
        "lookup in a batch, of a key that is there and of one that is not, "
        "and of an add (of a kind that is built at once: of the build, by "
        "key). The times are reckoned from what each kind's filters took, "
        "when measured, in a cache and out of it.",
    .options = advise_options,
    .examples = advise_examples,
    .status = "0 if there is advice, 2 after an error or if no kind can do "
              "what is needed.",
    .run = advise_run,
};
