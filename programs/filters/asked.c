/* asked.c - reports on queries of many keys.
 *
 * Shared by `bloomery query` and `bloomery-mpi query`.
 */
#include "filters/filters.h"
#include "frame/json.h"
#include "frame/output.h"

#include <inttypes.h>
#include <math.h>

typedef struct { double share, low, high; } asked_share;

/* Returns the share k/n with its 95 % interval [Wilson 1927], which stays
 * within [0, 1] and is accurate for shares near 0 too. */
static asked_share asked_wilson(uint64_t present, uint64_t keys)
{
    const double z = 1.959963984540054;
    double n = (double)keys, p = (double)present / n;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
                / (1 + z * z / n);
    asked_share out = { p, middle - half, middle + half };

    if (keys == 0)
        return (asked_share){ NAN, NAN, NAN };
    if (present == 0 || out.low < 0)
        out.low = 0;
    if (present == keys || out.high > 1)
        out.high = 1;
    return out;
}

/* ==== JSON ============================================================== */

static void asked_json_share(uint64_t there, uint64_t asked)
{
    asked_share share = asked_wilson(there, asked);

    json_count("present", there);
    json_real("share", share.share);
    json_real("share_low", share.low);
    json_real("share_high", share.high);
}

static void asked_json_rest(const cli_asked *asked, double seconds)
{
    json_count("keyless", asked->keyless);
    json_real("seconds", seconds);
    json_real("keys_per_second", report_per_second(asked->asked, seconds));
    if (asked->ranks > 0) {
        json_count("ranks", asked->ranks);
        json_count("sent_bytes", asked->sent);
    }
}

void asked_json(const cli_asked *asked, const char *file, double planned_rate,
                double seconds)
{
    json_open_object(NULL);
    json_string("file", file);
    json_count("keys", asked->asked);
    asked_json_share(asked->there, asked->asked);
    if (asked->listed)
        json_count("unlisted", asked->unlisted);
    json_real("planned_rate", planned_rate);
    asked_json_rest(asked, seconds);
    json_close_object();
}

void asked_many_json(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds)
{
    json_open_object(NULL);
    json_count("keys", asked->asked);
    json_string("in", all ? "all" : "any");
    asked_json_share(asked->there, asked->asked);
    json_open_array("filters");
    for (size_t i = 0; i < n; i++) {
        json_open_object(NULL);
        json_string("file", each[i].file);
        if (each[i].group != NULL)
            json_count("group", each[i].number);
        asked_json_share(each[i].there, asked->asked);
        json_real("planned_rate", each[i].planned_rate);
        json_close_object();
    }
    json_close_array();
    asked_json_rest(asked, seconds);
    json_close_object();
}

/* ==== Text ============================================================== */

static void asked_text_share(uint64_t there, uint64_t asked)
{
    asked_share share = asked_wilson(there, asked);

    if (asked > 0)
        output_format("share          %s (95 %% interval %s to %s)\n",
                      report_percent(share.share).text,
                      report_percent(share.low).text,
                      report_percent(share.high).text);
}

static void asked_text_rate(double planned_rate)
{
    output_format("planned rate   %s of the keys that were never added\n",
                  report_percent(planned_rate).text);
}

static void asked_text_rest(const cli_asked *asked, double seconds)
{
    if (asked->keyless > 0)
        output_format("without a key  %s %s\n",
                      report_count(asked->keyless).text,
                      asked->keyless == 1 ? "line" : "lines");
    output_format("time           %s, %s\n", report_seconds(seconds).text,
                  report_speed(report_per_second(asked->asked,
                                                 seconds)).text);
    if (asked->ranks > 0)
        output_format("sent           %s bytes by %s %s\n",
                      report_count(asked->sent).text,
                      report_count(asked->ranks).text,
                      asked->ranks == 1 ? "rank" : "ranks");
}

void asked_text(const cli_asked *asked, double planned_rate, double seconds)
{
    output_format("keys queried   %s\n", report_count(asked->asked).text);
    output_format(asked->listed ? "there          %s\n"
                                : "perhaps there  %s\n",
                  report_count(asked->there).text);
    if (asked->listed)
        output_format("by mistake     %s, found by the filter alone\n",
                      report_count(asked->unlisted).text);
    asked_text_share(asked->there, asked->asked);
    asked_text_rate(planned_rate);
    asked_text_rest(asked, seconds);
}

void asked_many_text(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds)
{
    output_format("keys queried   %s\n", report_count(asked->asked).text);
    output_format("perhaps there  %s, in %s of %zu filters\n",
                  report_count(asked->there).text, all ? "all" : "any", n);
    asked_text_share(asked->there, asked->asked);
    asked_text_rest(asked, seconds);
    for (size_t i = 0; i < n; i++) {
        output_text("\n");
        output_text(each[i].file);
        if (each[i].group != NULL)
            output_format(", %s %" PRIu64, each[i].group, each[i].number);
        output_format("\nperhaps there  %s\n",
                      report_count(each[i].there).text);
        asked_text_share(each[i].there, asked->asked);
        asked_text_rate(each[i].planned_rate);
    }
}
