/* made.c - reports on filters made from other filters.
 *
 * The number of keys is unknown, so it is estimated from the bits.
 */
#include "filters/filters.h"
#include "frame/json.h"
#include "frame/options.h"

#include <math.h>

int made_check(const cli_command *command, const char *output, bool json)
{
    if (json && output != NULL && output[0] == '-' && output[1] == '\0')
        return options_wrong(command,
                             "-o - and --json cannot both write to standard "
                             "output");
    return CLI_GO;
}

static void made_json(const bly_info_t *stat, const char *output)
{
    json_open_object(NULL);
    json_string("kind", stat->kind);
    json_real("distinct", stat->distinct);
    json_real("distinct_sd", stat->distinct_sd);
    json_count("capacity", stat->capacity);
    json_count("bytes", stat->bytes);
    json_real("planned_rate", stat->planned_rate);
    json_real("rate", stat->rate);
    json_string("output", output);
    json_close_object();
}

void made_warn_united(const bly_info_t *stat)
{
    report_note("warning: the rates of united filters add up: the "
                "false-positive rate is %s, not %s: build it again from all "
                "keys", report_percent(stat->rate).text,
                report_percent(stat->planned_rate).text);
}

/* Warns about a filter that promises to be exact, or to keep a rate. */
static void made_warn(const bly_info_t *stat, const char *advice)
{
    if (filter_broken(stat))
        report_note("warning: the result may hold more different keys than the "
                    "%s up to which it is exact: false positives are possible "
                    "(rate %s): %s", report_count(stat->capacity).text,
                    report_percent(stat->rate).text, advice);
    else if (stat->planned_rate > 0 && stat->rate > 1.1 * stat->planned_rate
             && filter_kind_grows(stat->kind))
        made_warn_united(stat);
    else if (stat->planned_rate > 0 && stat->rate > 1.1 * stat->planned_rate)
        report_note("warning: the result holds more keys than the %s it was "
                    "planned for: its false-positive rate is %s, not %s: %s",
                    report_count(stat->capacity).text,
                    report_percent(stat->rate).text,
                    report_percent(stat->planned_rate).text, advice);
}

void made_report(const bly_filter *filter, const char *output, bool verbose,
                 bool json, const char *advice)
{
    bly_info_t stat;
    bool most;

    if (bly_info(&stat, filter) < 0) {
        filter_error();
        return;
    }
    most = isinf(stat.distinct_sd);
    if (filter_kind_of_family(stat.kind, "foreign"))
        stat.bytes -= BLY_HEADER_BYTES;     /* not part of its file */
    if (json)
        made_json(&stat, output);
    if (verbose)
        report_note("%s: %s %s keys, planned for %s: %s, %s, rate %s",
                    filter_place(output), most ? "at most about" : "about",
                    report_spread(stat.distinct, most ? 0 : stat.distinct_sd)
                    .text,
                    report_count(stat.capacity).text, stat.kind,
                    report_bytes(stat.bytes).text,
                    report_percent(stat.rate).text);
    if (advice != NULL)
        made_warn(&stat, advice);
}
