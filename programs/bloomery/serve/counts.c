/* counts.c - counters, and their text for Prometheus.
 *
 * Each loop adds to its own counters, so no two threads write the same one. A
 * reader sums them up; the sum is as old as the oldest counter it has read.
 */
#include "bloomery/serve/serve.h"

#include <inttypes.h>
#include <string.h>

static uint64_t counts_read(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

typedef struct {
    const char *name, *help, *type;
    size_t      offset;
} counts_row;

#define COUNTS_ROW(name, type, field, help)                                   \
    { name, help, type, offsetof(serve_counts, field) }

static const counts_row counts_rows[] = {
    COUNTS_ROW("requests_total", "counter", requests,
               "Requests answered, including errors."),
    COUNTS_ROW("keys_total", "counter", keys, "Keys that were looked up."),
    COUNTS_ROW("positives_total", "counter", positives,
               "Keys that are perhaps there."),
    COUNTS_ROW("errors_total", "counter", errors,
               "Requests that were answered by an error."),
    COUNTS_ROW("clients", "gauge", clients, "Clients that are connected."),
};

static bool counts_head(cli_bytes *out, const char *name, const char *type,
                        const char *help)
{
    return bytes_format(out, "# HELP bloomery_%s %s\n# TYPE bloomery_%s %s\n",
                        name, help, name, type);
}

/* Appends one line, with the sum over the counters of one protocol, which are
   adjacent. */
static bool counts_line(cli_bytes *out, const counts_row *row,
                        const serve_counted *counted, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += counts_read((const atomic_uint_fast64_t *)(const void *)
                           ((const char *)counted[i].counts + row->offset));
    return bytes_format(out, "bloomery_%s{protocol=\"%s\"} %" PRIu64 "\n",
                        row->name, counted->protocol, sum);
}

static bool counts_protocols(cli_bytes *out, const counts_row *row,
                             const serve_counted *counted, size_t n)
{
    bool fits = counts_head(out, row->name, row->type, row->help);

    for (size_t from = 0, to; fits && from < n; from = to) {
        for (to = from + 1; to < n; to++)
            if (strcmp(counted[to].protocol, counted[from].protocol) != 0)
                break;
        fits = counts_line(out, row, counted + from, to - from);
    }
    return fits;
}

/* Escapes the three bytes that a label value may not contain as they are. */
static bool counts_label(cli_bytes *out, const char *text)
{
    bool fits = true;

    for (; fits && *text != '\0'; text++)
        fits = *text == '\n' ? bytes_text(out, "\\n")
             : *text == '"' || *text == '\\'
             ? bytes_format(out, "\\%c", *text) : bytes_put(out, text, 1);
    return fits;
}

typedef enum { COUNTS_ITEMS, COUNTS_BYTES, COUNTS_RATE } counts_figure;

static bool counts_filter(cli_bytes *out, const char *name, size_t i,
                          counts_figure figure, const bly_info_t *stat)
{
    return bytes_format(out, "bloomery_%s{filter=\"", name)
        && counts_label(out, served_name(i))
        && (figure == COUNTS_RATE
            ? bytes_format(out, "\"} %.9g\n", stat->rate)
            : bytes_format(out, "\"} %" PRIu64 "\n", figure == COUNTS_ITEMS
                                ? stat->items : stat->bytes));
}

static bool counts_filters(cli_bytes *out, const served_set *set,
                           const char *name, const char *help,
                           counts_figure figure)
{
    bool fits = counts_head(out, name, "gauge", help);

    for (size_t i = 0; fits && i < set->n; i++)
        fits = counts_filter(out, name, i, figure, &set->filters[i]->stat);
    return fits;
}

static bool counts_single(cli_bytes *out, const char *name, const char *help,
                          const atomic_uint_fast64_t *counter)
{
    return counts_head(out, name, "counter", help)
        && bytes_format(out, "bloomery_%s %" PRIu64 "\n", name,
                        counts_read(counter));
}

bool counts_text(cli_bytes *out, const serve_counted *counted, size_t n,
                 const served_set *set)
{
    bool fits = true;

    for (size_t i = 0; i < sizeof counts_rows / sizeof *counts_rows; i++)
        fits = fits && counts_protocols(out, &counts_rows[i], counted, n);
    return fits
        && counts_single(out, "reloads_total",
                         "Filters that were reopened because their file was "
                         "replaced.", &served_reloads)
        && counts_single(out, "reload_failures_total",
                         "New files that could not be opened, so that the old "
                         "filter was kept.", &served_refusals)
        && counts_filters(out, set, "filter_items", "Keys in the filter.",
                          COUNTS_ITEMS)
        && counts_filters(out, set, "filter_bytes", "Bytes of the filter.",
                          COUNTS_BYTES)
        && counts_filters(out, set, "filter_rate",
                          "The current false-positive rate of the filter.",
                          COUNTS_RATE);
}
