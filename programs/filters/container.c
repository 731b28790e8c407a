/* container.c - files that contain filters: Parquet and ORC files, and tables.
 *
 * If a file does not begin like a filter, and no format is named, its end tells
 * whether it is a container. All filters of a column or table are opened
 * together: a key may be in the file if any of them may contain it.
 */
#include "filters/filters.h"
#include "frame/blocks.h"
#include "frame/bytes.h"
#include "frame/nearest.h"

#include <bloomery/container.h>
#include <bloomery/foreign.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONTAINER_LOOK = 4096, CONTAINER_END = 8, CONTAINER_COLUMNS = 50,
    CONTAINER_EACH = 1024               /* rough bytes of an open filter     */
};

/* ==== Is it one? ======================================================== */

static bool container_ends(int file)
{
    unsigned char begin[CONTAINER_LOOK], end[CONTAINER_END];
    struct stat about;
    ssize_t got;

    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)
        || about.st_size < CONTAINER_END
        || pread(file, end, sizeof end, about.st_size - CONTAINER_END)
           != CONTAINER_END
        || bly_container_recognise(end, sizeof end) == NULL)
        return false;
    got = pread(file, begin, sizeof begin, 0);
    return got >= 0 && bly_recognise(begin, (size_t)got,
                                     (uint64_t)about.st_size) == NULL;
}

/* Returns whether the format named, if any, is one of filters inside such
 * files. No such filter ends with the bytes that these files end with. */
static bool container_format(void)
{
    static const char *const inside[] = { "parquet", "orc", "leveldb",
                                          "rocksdb", "rocksribbon" };
    const char *format = format_how()->format;

    for (size_t i = 0; format != NULL && i < sizeof inside / sizeof *inside;
         i++)
        if (strcmp(format, inside[i]) == 0)
            return true;
    return format == NULL;
}

static const char *container_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

/* Never opens a named pipe: its writer would fail when it is closed again. */
bool container_is(const char *path)
{
    int file = container_format() && filter_is_file(container_path(path))
             ? open(container_path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
             : -1;
    bool is = file >= 0 && container_ends(file);

    if (file >= 0)
        close(file);
    return is;
}

static bly_status container_block(void *context, const char *name,
                                  const void *from, size_t n, void *to,
                                  size_t room, size_t *made)
{
    (void)context;
    switch (blocks_unpack(name, from, n, to, room, made)) {
    case BLOCKS_GOOD:
        return BLY_OK;
    case BLOCKS_UNKNOWN:
        return BLY_EUNSUPPORTED;
    case BLOCKS_NO_MEMORY:
        return BLY_ENOMEM;
    default:
        return BLY_ECORRUPT;
    }
}

bly_status container_try(bly_container **out, const char *path)
{
    static const bly_decompressor with = { container_block, NULL };

    return bly_container_open_with(out, container_path(path), &with,
                                   format_how());
}

bly_container *container_open(const char *path)
{
    bly_container *file;

    if (container_try(&file, path) >= 0)
        return file;
    filter_error();
    return NULL;
}

bool container_has_columns(const bly_contents *is)
{
    return strcmp(is->system, "parquet") == 0 || strcmp(is->system, "orc") == 0;
}

/* ==== Columns ========================================================== */

/* Appends a column's name if there is room. */
static size_t container_name(char *out, size_t room, size_t used,
                             const char *column)
{
    int n = snprintf(out + used, room - used, "%s%.80s", used > 0 ? ", " : "",
                     column[0] != '\0' ? column : "''");

    if ((size_t)n < room - used)
        return used + (size_t)n;
    out[used] = '\0';
    return room;
}

/* Lists the columns with filters, "a, b, c", as far as there is room. */
static void container_columns(char *out, size_t room, const bly_contents *is)
{
    static const char more[] = ", ...";
    const char *listed[CONTAINER_COLUMNS];
    size_t used = 0, n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < is->n && n < CONTAINER_COLUMNS && used < room; i++) {
        bool known = is->filters[i].format == NULL;

        for (size_t j = 0; j < n && !known; j++)
            known = strcmp(listed[j], is->filters[i].column) == 0;
        if (known)
            continue;
        listed[n++] = is->filters[i].column;
        used = container_name(out, room - sizeof more, used, listed[n - 1]);
    }
    if (used >= room - sizeof more || n == CONTAINER_COLUMNS)
        strcat(out, more);
}

static bool container_has(const bly_contents *is, const char *column)
{
    for (size_t i = 0; i < is->n; i++)
        if (strcmp(is->filters[i].column, column) == 0)
            return true;
    return false;
}

/* Reports that the column does not exist, or that none is named. */
static int container_which(const char *path, const bly_contents *is,
                           const char *column)
{
    cli_nearest nearest = nearest_to(column != NULL ? column : "",
                                     column != NULL ? strlen(column) : 0);
    char list[300];

    for (size_t i = 0; i < is->n && column != NULL; i++)
        nearest_try(&nearest, is->filters[i].column);
    container_columns(list, sizeof list, is);
    if (list[0] == '\0')
        return report_error("no column of '%s' has a filter, so any key may be "
                            "in it: write the file with Bloom filters", path);
    if (column == NULL)
        return report_error("'%s' is %s file, which has a filter for each "
                            "column: choose one with --column: %s", path,
                            strcmp(is->system, "orc") == 0 ? "an ORC"
                                                           : "a Parquet",
                            list);
    if (nearest.name != NULL)
        return report_error("'%s' has no column '%.80s': did you mean '%.80s'? "
                            "The columns with filters are %s", path, column,
                            nearest.name, list);
    return report_error("'%s' has no column '%.80s': the columns with filters "
                        "are %s", path, column, list);
}

/* Requires a column for files that have columns, and refuses one for others. */
static int container_check(const char *path, const bly_contents *is,
                           const char *column)
{
    bool columns = container_has_columns(is);

    if (!columns && column != NULL)
        return report_error("'%s' is a table of %s, which has no columns: "
                            "leave --column out", path, is->system);
    return !columns || (column != NULL && container_has(is, column))
         ? CLI_GO : container_which(path, is, column);
}

/* ==== The filters of one ================================================ */

/* Filters being opened. */
typedef struct {
    cli_inside     *out;
    const char     *path;
    bly_container  *file;
    uint64_t          said;       /* the class of keys on the command line  */
    uint64_t        bytes;      /* of the file, for the filters open so far */
    uint64_t        held;       /* in memory, by these filters */
    uint64_t        lacking;
    const char     *lacks;      /* name of the first one that is */
    uint64_t        first;
} container_job;

/* Returns whether another filter fits, however small each is, and however well
 * they are compressed in the file. */
static bool container_fits(const container_job *job)
{
    uint64_t limit = bly_memory_limit(format_how(), job->bytes);

    if (job->out->n < limit / CONTAINER_EACH
        && (job->held <= job->bytes || job->held - job->bytes <= limit))
        return true;
    report_error("'%s': its filters take more than %s of memory: raise the "
                 "limit if you trust the file (--unpack-limit)", job->path,
                 report_bytes(limit).text);
    return false;
}

static bool container_append(cli_inside *out, bly_filter *filter,
                             uint64_t number)
{
    if (out->n == out->room) {
        size_t room = 2 * out->room + 16;

        if (!bytes_grow(&out->filters, room, sizeof *out->filters)
            || !bytes_grow(&out->numbers, room, sizeof *out->numbers)) {
            bly_free(filter);
            report_no_memory();
            return false;
        }
        out->room = room;
    }
    out->filters[out->n] = filter;
    out->numbers[out->n++] = number;
    return true;
}

/* Returns the number of groups that an entry is for. */
static uint64_t container_span(const bly_contained *one)
{
    return one->format == NULL && one->parts > 0 ? one->parts : 1;
}

static bool container_lacks(container_job *job, uint64_t number,
                            const char *why)
{
    if (job->lacking++ == 0) {
        job->lacks = why;
        job->first = number;
    }
    return container_fits(job) && container_append(job->out, NULL, number);
}

/* Handles an entry without a filter, which may be for several groups. */
static bool container_lacks_all(container_job *job, const bly_contained *one)
{
    uint64_t n = container_span(one);

    for (uint64_t i = 0; i < n; i++)
        if (!container_lacks(job, one->group + i, one->lacks))
            return false;
    return true;
}

/* Returns the class of which keys are the same as those of this class. ORC has
 * one hash for all integers, and one for all real numbers. */
static uint64_t container_class(const bly_contents *is, uint64_t class)
{
    bool orc = strcmp(is->system, "orc") == 0;

    switch (class) {
    case BLY_KEYS_UNSTATED:
    case BLY_KEYS_BYTES:
    case BLY_KEYS_HEX:
        return BLY_KEYS_TEXT;
    case BLY_KEYS_NUMBER:
    case BLY_KEYS_INT32:
        return orc ? BLY_KEYS_INT64 : class;
    case BLY_KEYS_FLOAT:
        return orc ? BLY_KEYS_DOUBLE : class;
    default:
        return class;
    }
}

/* Verifies that the class of the keys is known, by the type of the column or
 * from the command line, and that these do not differ. The keys of tables may
 * be of any class. */
static bool container_agrees(const container_job *job, const bly_contents *is,
                             const bly_contained *one, uint64_t as)
{
    if (job->said == FORMS_UNSAID && one->as == NULL) {
        report_error("'%s': the type of column '%.80s' is unknown, or one "
                     "whose values are not stored as they are written, such as "
                     "a decimal: give the class of the stored values to "
                     "'bloomery query --as'", job->path, one->column);
        return false;
    }
    if (job->said == FORMS_UNSAID || as == FORMS_UNSAID
        || !container_has_columns(is)
        || container_class(is, job->said) == container_class(is, as))
        return true;
    report_error("'%s': the keys of column '%.80s' are of the class %s, not "
                 "%s: leave --as out", job->path, one->column,
                 forms_name(as).text, forms_name(job->said).text);
    return false;
}

static bool container_take(container_job *job, const bly_contents *is,
                           size_t which)
{
    const bly_contained *one = &is->filters[which];
    uint64_t as = FORMS_UNSAID;
    bly_filter *filter;
    size_t bytes;

    if (one->as != NULL && forms_read(one->as, &as) == NULL
        && job->out->as == FORMS_UNSAID)
        job->out->as = as;
    if (job->said == FORMS_UNSAID && as != FORMS_UNSAID
        && as != job->out->as) {
        report_error("'%s': two columns are named '%.80s', one of %s and one "
                     "of %s, or the file is damaged: write it with another "
                     "name for one of them", job->path, one->column,
                     forms_name(job->out->as).text, forms_name(as).text);
        return false;
    }
    if (one->format == NULL)
        return container_lacks_all(job, one);
    if (!container_agrees(job, is, one, as))
        return false;
    job->bytes += one->part == 0 ? one->bytes : 0;
    if (!container_fits(job))
        return false;
    if (bly_container_filter(&filter, job->file, which, format_how()) < 0) {
        filter_error();
        return false;
    }
    (void)bly_image(filter, &bytes);
    job->held += bytes;
    return container_append(job->out, filter, one->group);
}

/* Handles gaps: a row group without a filter may contain any key. */
static bool container_fill(container_job *job, uint64_t *next, uint64_t to)
{
    for (; *next < to; ++*next)
        if (!container_lacks(job, *next, "has no entry for it"))
            return false;
    return true;
}

static bool container_take_all(container_job *job, const char *column)
{
    const bly_contents *is = bly_container_contents(job->file);
    uint64_t next = 0;

    for (size_t i = 0; i < is->n; i++) {
        const bly_contained *one = &is->filters[i];

        if (column != NULL && strcmp(one->column, column) != 0)
            continue;
        if ((column != NULL && !container_fill(job, &next, one->group))
            || !container_take(job, is, i))
            return false;
        next = one->group + container_span(one);
    }
    return column == NULL || container_fill(job, &next, is->groups);
}

static int container_note(const container_job *job)
{
    const cli_inside *out = job->out;

    if (job->lacking == 0)
        return CLI_GO;
    if (job->lacking == out->n)
        return report_error("'%s': %s %" PRIu64 " %s, so any key may be in it: "
                            "query it with the system that wrote it", job->path,
                            out->group, job->first, job->lacks);
    report_note("note: of the %zu %ss of '%s', %" PRIu64 " cannot be queried, "
                "so any key may be in them (%s %" PRIu64 " %s)", out->n,
                out->group, job->path, job->lacking, out->group, job->first,
                job->lacks);
    return CLI_GO;
}

int container_read(cli_inside *out, const char *path, const char *column,
                   uint64_t as)
{
    container_job job = { .out = out, .path = path, .said = as,
                          .file = container_open(path) };
    const bly_contents *is;
    int status = CLI_ERROR;

    *out = (cli_inside){ .as = as };
    if (job.file == NULL)
        return CLI_ERROR;
    is = bly_container_contents(job.file);
    out->group = is->group;
    out->groups = is->groups;
    if (container_check(path, is, column) == CLI_GO
        && container_take_all(&job, column))
        status = container_note(&job);
    bly_container_free(job.file);
    return status;
}

void container_close(cli_inside *inside)
{
    for (size_t i = 0; i < inside->n; i++)
        bly_free(inside->filters[i]);
    free(inside->filters);
    free(inside->numbers);
}
