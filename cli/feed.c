/* feed.c - the keys of lines go into a filter, and what is said about it.
 *
 * Shared by `build` and `add`. Floor 7; includes cli.h and <bloomery.h> only.
 */
#include "cli.h"

#include <math.h>

/* ==== Adding ============================================================ */

static int feed_batches(bly_filter *filter, cli_lines *lines, cli_fed *out)
{
    lines_result result;

    while ((result = lines_next(lines)) == LINES_BATCH) {
        if (bly_add_keys(filter, lines->keys, lines->n) < 0)
            return report_library();
        out->keys += lines->n;
        progress_at(out->keys, lines->bytes);
    }
    return result == LINES_END ? CLI_OK : CLI_ERROR;
}

int feed_filter(bly_filter *filter, cli_lines *lines, bool progress,
                cli_fed *out)
{
    double start = report_clock();
    uint64_t total = 0;
    int status = lines_measure(lines, &total);

    if (status == CLI_ERROR)
        return status;
    *out = (cli_fed){ 0, 0, 0, 0 };
    progress_start("adding", total, progress);
    status = feed_batches(filter, lines, out);
    progress_end();
    out->bytes = lines->bytes;
    out->keyless = lines->keyless;
    out->seconds = report_clock() - start;
    return status;
}

/* ==== The report ======================================================== */

static void feed_json(const bly_stat_t *stat, const cli_fed *fed,
                      const char *output)
{
    json_open_object(NULL);
    json_string("kind", stat->kind);
    json_count("items", stat->items);
    json_count("capacity", stat->capacity);
    json_count("bytes", stat->bytes);
    json_real("bits_per_key", stat->bits_per_key);
    json_count("probes", stat->probes);
    json_real("planned_rate", stat->planned_rate);
    json_real("rate", stat->rate);
    json_count("keys", fed->keys);
    json_count("keyless", fed->keyless);
    json_real("seconds", fed->seconds);
    json_real("keys_per_second", report_per_second(fed->keys, fed->seconds));
    json_count("input_bytes", fed->bytes);
    json_string("output", output);
    json_close_object();
}

static void feed_verbose(const bly_stat_t *stat, const cli_fed *fed,
                         const char *output)
{
    report_note("%s: %s keys in %s (%s): %s, %s, %.2f bits per key, "
                "rate %s", output, report_count(fed->keys).text,
                report_seconds(fed->seconds).text,
                report_speed(report_per_second(fed->keys, fed->seconds)).text,
                stat->kind, report_bytes(stat->bytes).text,
                stat->bits_per_key, report_percent(stat->rate).text);
}

/* Repeated keys take no room: more adds than planned are no news while the
 * rate keeps near to the plan. */
static void feed_warn(const bly_stat_t *stat, const char *advice)
{
    if (stat->items <= stat->capacity
        || !(stat->rate > 1.1 * stat->planned_rate))
        return;
    report_note("warning: %s keys are in a filter planned for %s: its "
                "false-positive rate is now %s, not %s: %s",
                report_count(stat->items).text,
                report_count(stat->capacity).text,
                report_percent(stat->rate).text,
                report_percent(stat->planned_rate).text, advice);
}

void feed_report(const bly_filter *filter, const cli_fed *fed,
                 const cli_feed_report *how)
{
    bly_stat_t stat;

    bly_stat(&stat, filter);
    if (how->json)
        feed_json(&stat, fed, how->output);
    if (how->verbose)
        feed_verbose(&stat, fed, how->output);
    if (fed->keyless > 0)
        report_note("note: %s %s no such column and %s skipped: check -f and "
                    "-t", report_count(fed->keyless).text,
                    fed->keyless == 1 ? "line has" : "lines have",
                    fed->keyless == 1 ? "was" : "were");
    feed_warn(&stat, how->advice);
}
