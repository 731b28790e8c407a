/* rowgroups.c - queries the filters inside Parquet and ORC files.
 *
 * These files may have a Bloom filter for each column of each row group. An
 * index records only that such a file is there, and `which` queries the filters
 * of the file. So the answer is for its present contents.
 */
#include "search/commands/search.h"

#include <bloomery/container.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ==== Checks ============================================================ */

/* Refuses a column without a single filter. Returns CLI_GO or CLI_ERROR. */
static int rowgroups_column(const char *path, const bly_contents *is,
                            const char *column)
{
    const bool orc = strcmp(is->system, "orc") == 0;
    bool there = false;

    for (size_t i = 0; i < is->n; i++) {
        const bool same = strcmp(is->filters[i].column, column) == 0;

        if (same && is->filters[i].format != NULL)
            return CLI_GO;
        there |= same;
    }
    if (!there)
        return CLI_GO;                  /* container_read lists the others */
    return report_error("column '%s' of '%s' has no Bloom filter, so any value "
                        "may be in it: write the file with one, in Spark with "
                        "the option %s%s%s", column, path,
                        orc ? "orc.bloom.filter.columns="
                            : "parquet.bloom.filter.enabled#",
                        column, orc ? "" : "=true");
}

/* Returns CLI_GO, or CLI_ERROR after reporting an error. */
static int rowgroups_look(const char *path, const values_names *names)
{
    bly_container *file = container_open(path);
    const bly_contents *is;
    int status = CLI_GO;

    if (file == NULL)
        return CLI_ERROR;
    is = bly_container_contents(file);
    if (!container_has_columns(is))
        status = report_error("'%s' is a table of %s, which has no columns: "
                              "leave it out", path, is->system);
    for (size_t i = 0; i < names->n && status == CLI_GO; i++)
        status = rowgroups_column(path, is, names->names[i]);
    bly_container_free(file);
    return status;
}

int rowgroups_check(const char *path, const values_names *names)
{
    int status = rowgroups_look(path, names);

    for (size_t i = 0; i < names->n && status == CLI_GO; i++) {
        cli_inside inside;

        status = container_read(&inside, path, names->names[i], FORMS_UNSAID);
        container_close(&inside);
    }
    return status;
}

/* ==== Queries =========================================================== */

/* The row groups of a file that may have the values so far. */
typedef struct {
    bool  *groups;
    size_t n;
    bool   any;
} rowgroups_found;

/* Combines the answers of the filters for one key. A row group may have several
 * columns of this name, and the value in any of them. */
static int rowgroups_combine(rowgroups_found *found, const char *path,
                             const cli_inside *inside, bly_key key)
{
    const size_t n = (size_t)inside->groups;
    bool *has = calloc(n + 1, sizeof *has);

    if (found->groups == NULL) {
        found->groups = malloc(n + 1);
        found->n = n;
        if (found->groups != NULL)
            memset(found->groups, !found->any, n);
    }
    if (has == NULL || found->groups == NULL) {
        free(has);
        return report_no_memory();
    }
    for (size_t i = 0; i < inside->n; i++) {
        const bly_filter *filter = inside->filters[i];

        has[inside->numbers[i]] |= filter == NULL
                                || bly_contains(filter, key.data, key.length);
    }
    for (size_t i = 0; i < n && n == found->n; i++)
        found->groups[i] = found->any ? found->groups[i] || has[i]
                                      : found->groups[i] && has[i];
    free(has);
    return n == found->n ? CLI_GO
         : report_error("'%s' was changed while it was queried: query it again",
                        path);
}

/* Queries the filters of a column. Returns CLI_GO or CLI_ERROR. */
static int rowgroups_ask(rowgroups_found *found, const char *path,
                         const char *column, const char *value)
{
    const size_t length = strlen(value);
    const bly_key written = { value, length };
    cli_inside inside;
    int status = container_read(&inside, path, column, FORMS_UNSAID);
    const uint64_t form = inside.as != FORMS_UNSAID ? inside.as
                                                    : BLY_KEYS_UNSTATED;
    unsigned char *room = malloc(forms_times(form) * (length + 1));
    bly_key key = written;

    if (status == CLI_GO && room == NULL)
        status = report_no_memory();
    if (status == CLI_GO && forms_changes(form))
        key = forms_key(form, written, room);
    if (status == CLI_GO && key.data == NULL)
        status = report_error("'%s' is not a value of the form %s, which "
                              "column '%s' of '%s' has: check the value",
                              value, forms_name(form).text, column, path);
    if (status == CLI_GO)
        status = rowgroups_combine(found, path, &inside, key);
    free(room);
    container_close(&inside);
    return status;
}

int rowgroups_query(bool *may, const char *path, const values_names *names,
                    const cli_operands *given, bool any)
{
    rowgroups_found found = { .any = any };
    int status = CLI_GO;

    for (size_t i = 0; i < given->count && status == CLI_GO; i++) {
        const char *name = values_name(names, given->names[i]);

        status = rowgroups_ask(&found, path, name,
                               given->names[i] + strlen(name) + 1);
    }
    *may = false;
    for (size_t i = 0; i < found.n; i++)
        *may |= found.groups[i];
    free(found.groups);
    return status;
}
