/* inside.c - `info` and `check` for files with filters inside.
 *
 * Each filter is opened and closed separately, so that a file takes no more
 * memory than its largest filter.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/output.h"

#include <bloomery/container.h>
#include <inttypes.h>
#include <string.h>

/* ==== Filters =========================================================== */

/* Reads a filter's statistics. Returns false if it is damaged; stderr says
 * so. */
static bool inside_stat(bly_info_t *out, const bly_container *file,
                          size_t which)
{
    bly_filter *filter;

    if (bly_container_filter(&filter, file, which, format_how()) < 0) {
        filter_error();
        return false;
    }
    bly_info(out, filter);
    bly_free(filter);
    return true;
}

/* Returns the bytes of a filter, which may share a larger place in the file. */
static uint64_t inside_bytes(const bly_contained *one, const bly_info_t *stat)
{
    return one->parts == 0 ? one->bytes : stat->bytes - BLY_HEADER_BYTES;
}

static void inside_json_one(const bly_contained *one, const bly_info_t *stat)
{
    json_open_object(NULL);
    json_count("group", one->group);
    if (one->column[0] != '\0')
        json_string("column", one->column);
    json_string("keys_as", one->as);
    if (one->keys < UINT64_MAX)
        json_count("values", one->keys);
    json_string("format", one->format);
    if (one->format == NULL) {
        json_string("lacks", one->lacks);
    } else {
        json_count("offset", one->offset);
        if (one->parts > 0)
            json_count("part", one->part);
        json_count("bytes", inside_bytes(one, stat));
        json_real("fill", stat->fill);
        json_real("rate", stat->rate);
        json_real("distinct", stat->distinct);
        json_real("distinct_sd", stat->distinct_sd);
    }
    json_close_object();
}

/* Prints a column's name, which may have any bytes; those that are not text
 * become '?'. */
static void inside_column(const char *name)
{
    for (; *name != '\0'; name++) {
        char shown[] = { (unsigned char)*name < ' ' || *name == 127 ? '?'
                                                                    : *name,
                         '\0' };

        output_text(shown);
    }
}

static void inside_text_one(const bly_contained *one, const bly_info_t *stat)
{
    output_format("  %9" PRIu64 " %9" PRIu64 " %12s %12s %12s", one->group,
                  inside_bytes(one, stat), report_percent(stat->fill).text,
                  report_percent(stat->rate).text,
                  report_estimate(stat->distinct).text);
    output_text(one->column[0] != '\0' ? "  " : "");
    inside_column(one->column);
    output_text("\n");
}

/* ==== Files ============================================================= */

/* Prints all filters of a file. *pass: the share of absent keys that no
 * filter lets pass. */
static bool inside_print(const bly_container *file, bool json, double *pass)
{
    const bly_contents *is = bly_container_contents(file);
    bool good = true;

    *pass = 1;

    for (size_t i = 0; i < is->n; i++) {
        const bly_contained *one = &is->filters[i];
        bly_info_t stat;

        if (one->format != NULL && !inside_stat(&stat, file, i)) {
            good = false;
            continue;
        }
        *pass *= one->format != NULL ? 1 - stat.rate : 0;
        if (json)
            inside_json_one(one, &stat);
        else if (one->format != NULL)
            inside_text_one(one, &stat);
    }
    return good;
}

/* Returns how many groups have a filter, and the first that has none. */
static size_t inside_count(const bly_contents *is, const bly_contained **none)
{
    size_t n = 0;

    for (size_t i = 0; i < is->n; i++)
        if (is->filters[i].format != NULL)
            n++;
        else if (*none == NULL)
            *none = &is->filters[i];
    return n;
}

static bool inside_text(const bly_container *file, const char *path)
{
    const bly_contents *is = bly_container_contents(file);
    const bly_contained *none = NULL;
    size_t n = inside_count(is, &none);
    double pass;
    bool good;

    output_text(path);
    output_format("\n  system     %s\n", is->system);
    output_format("  groups     %s (a group is a %s)\n",
                  report_count(is->groups).text, is->group);
    output_format("  filters    %s\n", report_count(n).text);
    if (none != NULL) {
        output_format("  without    %s: %s %" PRIu64,
                      report_count(is->n - n).text, is->group, none->group);
        if (none->column[0] != '\0') {
            output_text(", column ");
            inside_column(none->column);
        }
        output_format(" %s%s\n", none->lacks, is->n - n > 1 ? ", and so on"
                                                            : "");
    }
    if (!container_has_columns(is) && is->groups > is->n)
        output_format("  empty      %s: no key is there\n",
                      report_count(is->groups - is->n).text);
    if (n > 0)
        output_format("  %9s %9s %12s %12s %12s%s\n", is->group, "bytes",
                      "fill", "rate", "different",
                      container_has_columns(is) ? "  column" : "");
    good = inside_print(file, false, &pass);
    if (n > 1 && !container_has_columns(is))
        output_format("  in any     %s of strangers pass\n",
                      report_percent(1 - pass).text);
    return good;
}

static bool inside_json(const bly_container *file, const char *path)
{
    const bly_contents *is = bly_container_contents(file);
    double pass;
    bool good;

    json_open_object(NULL);
    json_string("file", path);
    json_string("system", is->system);
    json_string("group", is->group);
    json_count("groups", is->groups);
    json_open_array("filters");
    good = inside_print(file, true, &pass);
    json_close_array();
    json_close_object();
    return good;
}

int inside_info(const char *path, bool json)
{
    bly_container *file = container_open(path);
    bool good = file != NULL
             && (json ? inside_json : inside_text)(file, path);

    bly_container_free(file);
    return good ? CLI_OK : CLI_ERROR;
}

bly_status inside_check(const char *path, size_t *n)
{
    bly_container *file = NULL;
    bly_status status = container_try(&file, path);
    size_t all = status >= 0 ? bly_container_contents(file)->n : 0;

    *n = 0;
    for (size_t i = 0; status >= 0 && i < all; i++) {
        bly_filter *filter;

        if (bly_container_contents(file)->filters[i].format == NULL)
            continue;
        status = bly_container_filter(&filter, file, i, format_how());
        if (status >= 0)
            bly_free(filter);
        ++*n;
    }
    bly_container_free(file);
    return status;
}
