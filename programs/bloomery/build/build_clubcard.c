/* build_clubcard.c - builds a clubcard from members and all other keys, which
 * are read twice instead of held in memory. */
#include "bloomery/build/build.h"
#include "frame/measure.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <bloomery/foreign.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool build_is_clubcard(const cli_build *s)
{
    static const char name[] = "clubcard";
    size_t n = sizeof name - 1;

    return strncmp(s->kind, name, n) == 0
        && (s->kind[n] == '\0' || s->kind[n] == ':');
}

/* ==== Keys ============================================================== */

/* Files of keys, on their way to the library. */
typedef struct {
    const cli_build    *s;
    const cli_operands *files;
    cli_fed             fed;
    bly_take_keys      *take;
    void               *into;
    const char         *doing;
    bool                failed;     /* and reported                          */
} clubcard_source;

/* The result of a chunk. */
typedef struct {
    uint64_t   keys, keyless, skipped;
    bly_status status;
    char       why[512];
} clubcard_own;

static bool clubcard_work(void *argument, cli_worker *w)
{
    const clubcard_source *source = argument;
    clubcard_own *own = w->own;
    const cli_batch *b = w->batch;

    own->keys = own->keyless = own->skipped = 0;
    own->status = BLY_OK;
    for (size_t at = 0; own->status == BLY_OK
         && batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        own->keys += b->n;
        own->keyless += b->lacking;
        own->skipped += b->keyless - b->lacking;
        if (b->n > 0)
            own->status = source->take(source->into, &(bly_keys){
                                       .n = b->n, .keys = b->keys });
    }
    if (own->status != BLY_OK)
        snprintf(own->why, sizeof own->why, "%s", filter_why());
    return true;
}

static int clubcard_commit(void *argument, cli_worker *w)
{
    clubcard_source *source = argument;
    const clubcard_own *own = w->own;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed)
        return report_no_memory();
    if (own->status != BLY_OK)
        return report_error("'%s': %s", w->chunk.path, own->why);
    source->fed.keys += own->keys;
    source->fed.keyless += own->keyless;
    source->fed.skipped += own->skipped;
    source->fed.bytes = w->chunk.bytes;
    progress_at(w->chunk.bytes);
    return CLI_GO;
}

static bly_status clubcard_each(void *context, bly_take_keys *take, void *into)
{
    static const cli_work work = { sizeof(clubcard_own), clubcard_work,
                                   clubcard_commit, NULL };
    clubcard_source *source = context;
    uint64_t total = 0;
    cli_lines lines;
    int status;

    source->take = take;
    source->into = into;
    source->fed = (cli_fed){ .keys = 0 };
    lines_open(&lines, &source->s->how, source->files, 0, false);
    status = measure_input(&lines, &total);
    if (status != CLI_ERROR) {
        progress_expect(0.3);
        progress_start(source->doing, total, !source->s->no_progress);
        status = work_run(&lines, &work, source, work_jobs(source->s->jobs));
        progress_close();
    }
    lines_close(&lines);
    if (status != CLI_ERROR && feed_some(&source->fed) != CLI_GO)
        status = CLI_ERROR;
    source->failed = status == CLI_ERROR;
    return source->failed ? BLY_EIO : BLY_OK;
}

/* ==== Coverage ========================================================== */

/* The logs that are covered. */
typedef struct {
    bly_covered_log *logs;
    size_t           n;
} clubcard_logs;

/* Reads a time behind blanks, and moves `at` behind it. */
static bool clubcard_time(uint64_t *out, const char **at)
{
    size_t blanks = strspn(*at, " \t");
    const char *digits = *at + blanks;
    char *end;

    errno = 0;
    *out = strtoull(digits, &end, 10);
    *at = end;
    return blanks > 0 && isdigit((unsigned char)*digits) && errno == 0;
}

/* Reads the name of a log and two times from a line of so many bytes. False:
 * the line is something else. */
static bool clubcard_log(bly_covered_log *log, const char *line, size_t n)
{
    const char *at = line + 2 * sizeof log->log;
    unsigned byte;

    if (strspn(line, "0123456789abcdefABCDEF") != 2 * sizeof log->log)
        return false;
    for (size_t i = 0; i < sizeof log->log; i++) {
        sscanf(line + 2 * i, "%2x", &byte);
        log->log[i] = (uint8_t)byte;
    }
    if (!clubcard_time(&log->from, &at) || !clubcard_time(&log->until, &at))
        return false;
    at += strspn(at, " \t\r\n");
    return at == line + n && log->from <= log->until;
}

/* Appends the log of a line. CLI_GO or CLI_ERROR. */
static int clubcard_add_log(clubcard_logs *logs, const char *path,
                            const char *line, size_t n)
{
    bly_covered_log *more = realloc(logs->logs, (logs->n + 1) * sizeof *more);

    if (more == NULL)
        return report_no_memory();
    logs->logs = more;
    return clubcard_log(&more[logs->n++], line, n) ? CLI_GO
         : report_error("line %zu of '%s' does not cover a log: write 64 "
                        "hexadecimal digits and two times in milliseconds, the "
                        "first and the last", logs->n, path);
}

static int clubcard_read_logs(clubcard_logs *logs, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int status = CLI_GO;

    if (file == NULL)
        return report_unread("read", path, errno);
    while (status == CLI_GO && (n = getline(&line, &room, file)) > 0)
        status = clubcard_add_log(logs, path, line, (size_t)n);
    if (status == CLI_GO && !feof(file))
        status = report_unread("read", path, errno);
    if (status == CLI_GO && logs->n == 0)
        status = report_error("'%s' has no line, so that no log is covered: "
                              "write a line for each log, or leave out "
                              "--coverage", path);
    free(line);
    fclose(file);
    return status;
}

/* ==== The build ========================================================= */

bool build_clubcard_serves(const build_job *job)
{
    return build_is_clubcard(job->s);
}

/* The others are read twice, which a pipe does not allow. */
static int clubcard_check(const cli_build *s)
{
    const cli_operands *outside = build_outside(s);

    if (outside->count == 0)
        return report_error("kind clubcard separates its keys from all other "
                            "keys, and needs those as well: use --without FILE "
                            "or --within ALL");
    for (size_t i = 0; i < outside->count; i++)
        if (!filter_is_file(outside->names[i]))
            return report_error("'%s' is read twice, and must be a file",
                                outside->names[i]);
    return CLI_GO;
}

static int clubcard_run(build_job *job, const clubcard_logs *logs)
{
    const cli_build *s = job->s;
    clubcard_source members = { .s = s, .files = job->operands,
                                .doing = "members" };
    clubcard_source others = { .s = s, .files = build_outside(s),
                               .doing = "others" };
    bly_clubcard_spec spec = {
        .kind = s->kind, .within = s->within.count > 0, .seed = s->seed,
        .members = { clubcard_each, &members },
        .others = { clubcard_each, &others },
        .logs = logs->logs, .n_logs = logs->n,
    };
    double start = report_clock();
    bly_filter *filter;
    int status;

    if (bly_build_clubcard(&filter, &spec) < 0)
        return members.failed || others.failed ? CLI_ERROR : filter_error();
    members.fed.seconds = report_clock() - start;
    if (spec.within)
        others.fed.keys -= members.fed.keys < others.fed.keys
                         ? members.fed.keys : others.fed.keys;
    status = build_save(s, filter, &members.fed, NULL, &others.fed);
    bly_free(filter);
    return status;
}

int build_clubcard(build_job *job)
{
    clubcard_logs logs = { NULL, 0 };
    int status = clubcard_check(job->s);

    if (status == CLI_GO && job->s->coverage != NULL)
        status = clubcard_read_logs(&logs, job->s->coverage);
    if (status == CLI_GO)
        status = clubcard_run(job, &logs);
    free(logs.logs);
    return status;
}
