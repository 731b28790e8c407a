/* cmd_advise.c - `bloomery advise`: ranks the kinds for a need.
 *
 * The library ranks (src/advise/advise.c). This file reads the need, fetches or
 * measures the costs, and prints the ranking.
 *
 * THE CORE FIRST
 *
 * There are two rankings: of the core kinds, which is shown, and of all kinds.
 * If the best of all is outside the core, one line says which kind it is and by
 * how much it is better, so that nothing is hidden. If no core kind fits, the
 * ranking of all is shown, as it is by --all and in JSON.
 */
#include "bloomery/command.h"

#include <bloomery/advice.h>
#include "filters/costs.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ADVISE_SHOWN = 5 };

typedef struct {
    uint64_t items, memory, others, label_most, times;
    double   rate, present;
    bool     remove, count, grow, unknown, unite, fixed, forget, label, exact,
             page, share;
    bool     small, fast, measure, all, json;
} advise_settings;

#define ADVISE_FLAG(name, field, ...)                                         \
    { 0, name, NULL, CLI_FLAG, offsetof(advise_settings, field), false,       \
      __VA_ARGS__ }

static const cli_option advise_options[] = {
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(advise_settings, items),
      false, "The number of keys to plan for: 1000000, 1e6, 10k, 2.5M, 1G." },
    CLI_RATE_OPTION(advise_settings),
    ADVISE_FLAG("remove", remove,
      "Keys can be removed and added again."),
    ADVISE_FLAG("count", count,
      "The filter counts how often a key was added, up to a dozen or more."),
    { 0, "at-least", "T", CLI_NUMBER, offsetof(advise_settings, times), false,
      "The filter reports whether a key was added at least T times, 1 to "
      "65535. The rate is then that of keys that were never added.",
      .excludes = "count" },
    ADVISE_FLAG("grow", grow,
      "More than ITEMS keys may be added later at the same rate."),
    ADVISE_FLAG("unknown", unknown,
      "Nobody knows how many keys there will be: filters that begin small and "
      "grow are compared when they have ITEMS keys. Default of ITEMS: 1M.",
                .excludes = "static forget"),
    ADVISE_FLAG("unite", unite,
      "Two filters can be united."),
    ADVISE_FLAG("static", fixed,
      "All keys are known before the filter is built. This allows more kinds.",
                .excludes = "grow forget"),
    ADVISE_FLAG("forget", forget,
      "Keys arrive without end, and old ones may be forgotten after ITEMS "
      "others."),
    ADVISE_FLAG("label", label,
      "The filter stores a number with each key."),
    ADVISE_FLAG("exact", exact,
      "No false positive among the keys of a closed universe."),
    ADVISE_FLAG("page", page,
      "The filter exceeds memory and is used in its file."),
    ADVISE_FLAG("share", share,
      "Many threads add keys at once."),
    { 0, "present", "SHARE", CLI_SHARE, offsetof(advise_settings, present),
      false, "The share of lookups whose key is present: 0.9, 90%. Default: "
      "50%." },
    { 0, "others", "ITEMS", CLI_ITEMS, offsetof(advise_settings, others),
      false, "With --exact: the number of queried keys that are not in the "
      "filter. Default: ITEMS.",
      .needs = "exact" },
    { 0, "label-most", "N", CLI_ITEMS, offsetof(advise_settings, label_most),
      false, "With --label: the largest label. Default: 255.",
      .needs = "label" },
    { 0, "memory-limit", "SIZE", CLI_SIZE, offsetof(advise_settings, memory),
      false, "The largest size of the filter: 64M, 1G.",
      .excludes = "page" },
    ADVISE_FLAG("small", small,
      "Prefer the smallest kind; time decides between equals. This is the "
      "default with --page.", .excludes = "fast"),
    ADVISE_FLAG("fast", fast,
      "Prefer the fastest kind; size decides between equals."),
    ADVISE_FLAG("measure", measure,
      "First measure lookups on this machine, in about half a minute and 350 "
      "MB. Later runs on this machine use the result, which is kept in the "
      "folder bloomery of $XDG_CACHE_HOME or ~/.cache.",
      .group = CLI_SPEED),
    ADVISE_FLAG("all", all,
      "Show all kinds, not only the best five, with the reason for each that "
      "does not qualify.",
      .group = CLI_OUTPUT),
    ADVISE_FLAG("json", json,
      "Print an object: the source of the costs, and an array of all kinds.",
      .group = CLI_OUTPUT),
    { 0 }
};

static const cli_example advise_examples[] = {
    { "bloomery advise -n 10M -p 0.1%",
      "For keys that are added one by one." },
    { "bloomery advise -n 10M --static --small",
      "The smallest kind for fixed keys." },
    { "bloomery advise -n 1M --remove --count --all",
      "All kinds that can remove and count, and why the others cannot." },
    { "bloomery advise --unknown --remove",
      "Kinds that grow and remove keys, with the size that they have then." },
    { "bloomery advise -n 1M --at-least 3",
      "Kinds that report whether a key was added three times." },
    { "bloomery advise -n 100k --static --memory-limit 128K",
      "Kinds that fit, or the memory that they would need." },
    { "bloomery advise --measure", "Measure this machine." },
    { NULL, NULL }
};

/* ==== The need ========================================================== */

/* Abilities that can be requested, with their options. */
static const struct {
    size_t      offset;         /* of its flag in the settings */
    uint64_t    can;
    const char *option;
} advise_wishes[] = {
    { offsetof(advise_settings, remove), BLY_CAN_REMOVE, "remove" },
    { offsetof(advise_settings, count),  BLY_CAN_COUNT,  "count" },
    { offsetof(advise_settings, grow),   BLY_CAN_GROW,   "grow" },
    { offsetof(advise_settings, unite),  BLY_CAN_UNITE,  "unite" },
    { offsetof(advise_settings, forget), BLY_CAN_FORGET, "forget" },
    { offsetof(advise_settings, label),  BLY_CAN_LABEL,  "label" },
    { offsetof(advise_settings, exact),  BLY_CAN_EXACT,  "exact" },
    { offsetof(advise_settings, page),   BLY_CAN_PAGE,   "page" },
    { offsetof(advise_settings, share),  BLY_CAN_SHARE,  "share" },
};

enum { ADVISE_WISHES = sizeof advise_wishes / sizeof *advise_wishes };

static bly_need advise_need(const advise_settings *s, const bly_costs *costs)
{
    bly_need need = {
        .capacity = s->items, .rate = s->rate, .present = s->present,
        .fixed = s->fixed, .unknown = s->unknown, .memory = s->memory,
        .others = s->others,
        .label_most = s->label_most, .times = s->times, .costs = costs,
        .aim = s->small ? BLY_AIM_SMALL
             : s->fast  ? BLY_AIM_FAST : BLY_AIM_BALANCE,
    };

    for (size_t i = 0; i < ADVISE_WISHES; i++)
        if (*(const bool *)((const char *)s + advise_wishes[i].offset))
            need.can |= advise_wishes[i].can;
    return need;
}

/* ==== The command line that builds it =================================== */

typedef struct { char text[256]; } advise_line;

static advise_line advise_command(const bly_advice *a,
                                  const advise_settings *s)
{
    advise_line line;
    /* the keys of a file would be counted */
    int n = snprintf(line.text, sizeof line.text, "%sbloomery build -k %s",
                     s->unknown ? "cat KEYS | " : "", a->kind);
    size_t at = (size_t)n;

    if (!s->unknown) {
        n = snprintf(line.text + at, sizeof line.text - at, " -n %" PRIu64,
                     s->items);
        at += (size_t)n;
    }
    if (!s->exact) {
        n = snprintf(line.text + at, sizeof line.text - at, " -p %.12g",
                     s->rate);
        at += (size_t)n;
    }
    snprintf(line.text + at, sizeof line.text - at, "%s%s%s -o FILE%s",
             s->label ? " -l COLUMN" : "",
             s->exact && s->fixed ? " --without OTHERS" : "",
             s->page ? " --memory SIZE" : "", s->unknown ? "" : " KEYS");
    return line;
}

/* ==== The ranking ======================================================= */

static void advise_json(const bly_advice *a, size_t place,
                        const advise_settings *s)
{
    json_open_object(NULL);
    json_string("kind", a->kind);
    json_string("tier", a->tier);
    json_bool("fits", a->fits);
    json_string("why", a->why);
    json_string("lacks", a->lacks);
    if (a->fits) {
        json_count("place", place);
        json_bool("beaten", a->beaten);
        json_string("limit", a->limit);
        json_count("bytes", a->plan.bytes);
        json_real("bits_per_key", a->plan.bits_per_key);
        json_real("rate", a->plan.rate);
        if (s->times > 0)
            json_real("rate_nearly", a->nearly);
        json_labels(a->plan.label_bits, a->plan.label_least,
                    a->plan.label_most);
        if (s->forget)
            json_real("lost", a->plan.lost);
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
                  "nanoseconds per key");
    output_format("%26s %9s %18s %9s %8s %7s %7s\n", "", "per key", "bytes",
                  "rate", "present", "absent", "add");
}

static bool advise_core(const bly_advice *a)
{
    return strcmp(a->tier, "core") == 0;
}

static void advise_text(const bly_advice *a, size_t place,
                        const advise_settings *s)
{
    output_format("%2zu %-23s %9.2f %18s %9s %8.1f %7.1f %7.1f\n", place,
                  a->kind, a->plan.bits_per_key,
                  report_count(a->plan.bytes).text,
                  report_percent(a->plan.rate).text, a->ns_present,
                  a->ns_absent, a->ns_add);
    output_format("   %s\n", bly_kind_find(a->kind)->summary);
    if (!advise_core(a))
        output_format("   tier: %s\n", a->tier);
    output_format("   %s\n", a->why);
    if (a->limit[0] != '\0')
        output_format("   %s\n", a->limit);
    if (s->label)
        output_format("   labels %" PRIu64 " .. %" PRIu64 "\n",
                      a->plan.label_least, a->plan.label_most);
    if (s->forget && a->plan.lost > 0)
        output_format("   %s of the keys are forgotten when %s others have "
                      "followed\n", report_percent(a->plan.lost).text,
                      report_count(a->plan.capacity).text);
    if (s->times > 1)
        output_format("   a key that came one time too few passes with %s%s\n",
                      report_percent(a->nearly).text,
                      a->nearly > a->plan.rate ? "" : " at most");
    if (a->lacks[0] != '\0')
        output_format("   lacks: %s\n", a->lacks);
    output_format("   %s\n", advise_command(a, s).text);
}

/* Reports a kind outside the core that is better than the first one shown. */
static void advise_outside(const bly_advice *best, const bly_advice *shown)
{
    if (advise_core(best))
        return;
    output_format("Outside the core, %s would be better: %.3g times the time "
                  "and %.3g times the size of %s.\n", best->kind,
                  best->ns_lookup / shown->ns_lookup,
                  (double)best->plan.bytes / (double)shown->plan.bytes,
                  shown->kind);
}

/* Reports how many kinds fit but were not shown. */
static void advise_rest(const bly_ranking *all, size_t shown)
{
    size_t fit = 0, core = 0;
    const bly_advice *a;

    for (; (a = bly_ranking_at(all, fit)) != NULL && a->fits; fit++)
        core += advise_core(a);
    if (fit == shown)
        return;
    output_format("%zu other kind%s can", fit - shown,
                  fit - shown == 1 ? "" : "s");
    if (core < fit && core >= shown)
        output_format(", %zu outside the core", fit - core);
    output_text(": --all shows all.\n");
}

/* Shows the best five of a ranking, without beaten kinds: these have other
 * strengths, which were not requested. */
static void advise_show(const bly_ranking *best, const bly_ranking *all,
                        const advise_settings *s)
{
    size_t shown = 0;
    const bly_advice *a;

    if (best == all)
        output_text("No core kind can do this: these are outside the core.\n");
    advise_heading();
    for (size_t i = 0; (a = bly_ranking_at(best, i)) != NULL; i++)
        if (a->fits && !a->beaten && shown < ADVISE_SHOWN)
            advise_text(a, ++shown, s);
    if (best != all)
        advise_outside(bly_ranking_at(all, 0), bly_ranking_at(best, 0));
    advise_rest(all, shown);
}

/* Shows every kind, with the reason for each that does not fit. */
static void advise_show_all(const bly_ranking *all, const advise_settings *s)
{
    const bly_advice *a;

    advise_heading();
    for (size_t i = 0; (a = bly_ranking_at(all, i)) != NULL; i++)
        if (a->fits)
            advise_text(a, i + 1, s);
        else
            output_format(" - %-23s %s\n", a->kind, a->why);
}

/* Ranks the core kinds and shows them, or all kinds if no core kind fits. */
static int advise_show_core(const bly_ranking *all, const advise_settings *s,
                            bly_need need)
{
    bly_ranking *core;

    need.core = true;
    if (bly_advise(&core, &need) < 0)
        return filter_error();
    advise_show(bly_ranking_at(core, 0)->fits ? core : all, all, s);
    bly_ranking_free(core);
    return CLI_OK;
}

static void advise_show_json(const bly_ranking *all, const advise_settings *s,
                             const char *costs)
{
    json_open_object(NULL);
    json_string("costs", costs);
    json_open_array("advice");
    for (size_t i = 0; i < bly_ranking_count(all); i++)
        advise_json(bly_ranking_at(all, i), i + 1, s);
    json_close_array();
    json_close_object();
}

/* ==== Hints if no kind fits ============================================= */

enum { ADVISE_HINTS = 3 };

typedef struct {
    char   text[400];
    size_t count;
} advise_hints;

/* The advice for a less demanding need. */
typedef struct {
    bool     fits;
    char     kind[48];
    uint64_t bytes, label_most;
} advise_then;

/* Returns the smallest fitting kind if memory was the problem, else the
 * best. */
static advise_then advise_would(const bly_need *need, bool smallest)
{
    advise_then then = { .fits = false };
    const bly_advice *best, *a;
    bly_ranking *all;

    if (bly_advise(&all, need) != BLY_OK)
        return then;
    best = bly_ranking_at(all, 0);
    for (size_t i = 1; smallest && (a = bly_ranking_at(all, i)) != NULL; i++)
        if (a->fits && a->plan.bytes < best->plan.bytes)
            best = a;
    then.fits = best->fits;
    snprintf(then.kind, sizeof then.kind, "%s", best->kind);
    then.bytes = best->plan.bytes;
    then.label_most = best->plan.label_most;
    bly_ranking_free(all);
    return then;
}

CLI_PRINTF(3, 4)
static void advise_hint(advise_hints *h, const char *kind, const char *format,
                        ...)
{
    char what[128];
    size_t used = strlen(h->text);
    va_list arguments;

    if (h->count >= ADVISE_HINTS)
        return;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(h->text + used, sizeof h->text - used, "%s%s (then %s)",
             h->count == 0 ? "" : ", or ", what, kind);
    h->count++;
}

static void advise_hint_memory(advise_hints *h, bly_need less)
{
    advise_then then;

    if (less.memory == 0)
        return;
    less.memory = 0;
    then = advise_would(&less, true);
    if (then.fits)
        advise_hint(h, then.kind, "raise --memory-limit to %" PRIu64 ", the "
                    "smallest possible", then.bytes);
}

static void advise_hint_static(advise_hints *h, bly_need less)
{
    advise_then then;

    if (less.fixed || (less.can & (BLY_CAN_GROW | BLY_CAN_FORGET)) != 0)
        return;
    less.fixed = true;
    then = advise_would(&less, false);
    if (then.fits)
        advise_hint(h, then.kind, "add --static if no keys are added later");
}

/* Tries the need without abilities i and j, which may be the same. */
static void advise_hint_without(advise_hints *h, bly_need less, size_t i,
                                size_t j)
{
    uint64_t both = advise_wishes[i].can | advise_wishes[j].can;
    advise_then then;

    if ((less.can & both) != both)
        return;
    less.can &= ~both;
    then = advise_would(&less, false);
    if (then.fits && i == j)
        advise_hint(h, then.kind, "leave out --%s", advise_wishes[i].option);
    else if (then.fits)
        advise_hint(h, then.kind, "leave out --%s and --%s",
                    advise_wishes[i].option, advise_wishes[j].option);
}

/* Tries the need without one ability and, if that is not enough, without
 * two. */
static void advise_hint_wishes(advise_hints *h, const bly_need *need)
{
    size_t before = h->count;

    for (size_t i = 0; i < ADVISE_WISHES; i++)
        advise_hint_without(h, *need, i, i);
    for (size_t i = 0; h->count == before && i < ADVISE_WISHES; i++)
        for (size_t j = i + 1; j < ADVISE_WISHES; j++)
            advise_hint_without(h, *need, i, j);
}

/* Returns the numbers 1, 2, 5, 10, 20, … */
static double advise_step(int i)
{
    static const double digit[] = { 1, 2, 5 };
    return digit[i % 3] * pow(10, i / 3);
}

static void advise_hint_labels(advise_hints *h, bly_need less)
{
    const uint64_t most = less.label_most > 0 ? less.label_most : 255;
    advise_then then = { .fits = false };

    for (int i = 57; !then.fits && i >= 0 && less.label_most != 1; i--) {
        less.label_most = (uint64_t)(advise_step(i) + 0.5);
        if (less.label_most < most)
            then = advise_would(&less, false);
    }
    if (then.fits)
        advise_hint(h, then.kind, "lower --label-most to %" PRIu64,
                    then.label_most);
}

static void advise_hint_rate(advise_hints *h, bly_need less)
{
    const double least = 1e-19;
    const double rate = less.rate;
    advise_then then = { .fits = false };

    for (int i = 0; !then.fits && advise_step(i) * least < 0.3; i++) {
        less.rate = advise_step(i) * least;
        if (less.rate > rate)
            then = advise_would(&less, false);
    }
    if (then.fits)
        advise_hint(h, then.kind, "allow a rate of %g", less.rate);
}

static void advise_hint_items(advise_hints *h, bly_need less)
{
    const uint64_t items = less.capacity;
    advise_then then = { .fits = false };

    for (int i = 57; !then.fits && i >= 0; i--) {
        less.capacity = (uint64_t)(advise_step(i) + 0.5);
        if (less.capacity < items)
            then = advise_would(&less, false);
    }
    if (then.fits)
        advise_hint(h, then.kind, "plan for %s keys",
                    report_count(less.capacity).text);
}

static int advise_none(const bly_need *need)
{
    advise_hints h = { .count = 0 };

    advise_hint_memory(&h, *need);
    advise_hint_static(&h, *need);
    if ((need->can & BLY_CAN_LABEL) != 0)
        advise_hint_labels(&h, *need);
    advise_hint_wishes(&h, need);
    advise_hint_rate(&h, *need);
    if (h.count == 0)
        advise_hint_items(&h, *need);
    return report_error("no kind meets all these requirements: %s; --all shows "
                        "why each kind fails",
                        h.count > 0 ? h.text : "require less");
}

/* ==== The answer ======================================================== */

/* Prints where the times come from. */
static void advise_source(const advise_settings *s, const bly_costs *costs,
                          const char *path)
{
    if (s->page)
        output_text("On disk a lookup reads one page, whatever the kind: times "
                    "are of the same filter in memory.\n");
    if (costs != NULL)
        output_format("Times: as measured on this machine (%s).\n", path);
    else
        output_text("Times: as measured on the developers' machine; "
                    "--measure measures this one.\n");
}

static int advise_give(const advise_settings *s, const bly_costs *costs,
                       const char *path)
{
    bly_need need = advise_need(s, costs);
    bly_ranking *all;
    bool fits;
    int status = CLI_OK;

    if (bly_advise(&all, &need) < 0)
        return filter_error();
    fits = bly_ranking_at(all, 0)->fits;
    if (s->json)
        advise_show_json(all, s, costs != NULL ? path : "built in");
    else if (s->all)
        advise_show_all(all, s);
    else if (fits)
        status = advise_show_core(all, s, need);
    bly_ranking_free(all);
    if (status != CLI_OK)
        return status;
    if (!fits)
        return advise_none(&need);
    if (!s->json)
        advise_source(s, costs, path);
    return CLI_OK;
}

/* ==== The costs ========================================================= */

static void advise_watch(void *context, const char *kind, double share)
{
    (void)context, (void)kind;
    progress_share(share);
}

static int advise_unwritable(const char *path)
{
    return report_error("cannot write %s: %s: set XDG_CACHE_HOME to a folder "
                        "that you can write to", path, strerror(errno));
}

static int advise_measure(costs_table *table, const char *path)
{
    const costs_watch watch = { advise_watch, NULL };
    bool good;

    if (!costs_writable(path))
        return advise_unwritable(path);
    progress_start("measuring this machine", 0, true);
    good = costs_measure(table, &watch);
    progress_close();
    if (!good)
        return report_error("out of memory: measuring takes about 350 MB: "
                            "close other programs and try again");
    return costs_write(table, path) ? CLI_OK : advise_unwritable(path);
}

/* Loads the costs; *costs stays NULL if nothing was measured. */
static int advise_fetch(const bly_costs **costs, costs_table *table,
                        const char *path, bool measure)
{
    const char *wrong, *lacks;

    if (measure && path[0] == '\0')
        return report_error("there is no folder for the measured costs: set "
                            "XDG_CACHE_HOME or HOME");
    if (measure && advise_measure(table, path) != CLI_OK)
        return CLI_ERROR;
    wrong = measure ? NULL
          : path[0] == '\0' ? costs_missing : costs_read(table, path);
    if (wrong != NULL && wrong != costs_missing)
        report_note("note: %s %s: measure again with --measure", path, wrong);
    if (wrong != NULL)
        return CLI_OK;
    lacks = costs_lacks(table);
    if (lacks != NULL)
        report_note("note: %s lacks %s: measure again with --measure", path,
                    lacks);
    else
        *costs = &table->costs;
    return CLI_OK;
}

/* ==== The command ======================================================= */

/* Refuses abilities that contradict each other. */
static int advise_run(const cli_command *self, int argc, char **argv)
{
    static costs_table table;
    advise_settings s = { .rate = 0.01, .present = 0.5 };
    cli_operands operands;
    const bly_costs *costs = NULL;
    char path[COSTS_PATH];
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count > 0)
        return options_wrong(self, "this command takes no operands");
    if (s.items == 0 && !s.unknown && !s.measure)
        return options_wrong(self, "-n ITEMS is missing");
    if (!costs_path(path, sizeof path))
        path[0] = '\0';
    status = advise_fetch(&costs, &table, path, s.measure);
    return status != CLI_OK || (s.items == 0 && !s.unknown)
         ? status : advise_give(&s, costs, path);
}

const cli_command cmd_advise = {
    .name = "advise",
    .operands = "",
    .summary = "show which kind suits a need best",
    .text =
        "Ranks the core kinds of filters for a number of keys, a "
        "false-positive rate, and the required abilities. If a kind outside "
        "the core would be better, a line says which and by how much; --all "
        "ranks all kinds. If no core kind has the abilities, the others are "
        "ranked.\n\n"
        "The best kind has the smallest product of lookup time and the cube "
        "root of the size: a kind that is eight times as large must be twice "
        "as fast to be as good. --fast compares only times, --small only "
        "sizes. A kind that is neither smaller nor much faster to query or to "
        "fill than a kind above it is left out, except with --all.\n\n"
        "The table shows the size, the rate, and the expected time in "
        "nanoseconds: for a lookup in a batch of a key that is present and of "
        "a key that is not, and for an add, or for a kind that is built at "
        "once, for building, per key. Times are computed from measurements of "
        "each kind inside and outside of caches.",
    .options = advise_options,
    .usual = "items rate remove count grow static small all",
    .examples = advise_examples,
    .status = "0 if there is advice, 2 after an error or if no kind has the "
              "abilities.",
    .run = advise_run,
};
