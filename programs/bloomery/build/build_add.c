/* build_add.c - builds a filter by adding keys: in its file, from hashes, by
 * all threads, or one by one. */
#include "bloomery/build/build.h"
#include "frame/progress.h"

#include <stdlib.h>

/* Reads all keys into the filter. */
static int build_fill(const build_job *job, cli_feed *feed, bly_filter *filter,
                      cli_fed *fed)
{
    const cli_build *s = job->s;
    cli_lines lines;
    int status;

    fed->full = "use a larger -n";
    fed->overfill = s->overfill;
    lines_open(&lines, &s->how, job->operands, 0, false);
    progress_expect(0.9);
    status = feed(filter, &lines, work_jobs(s->jobs), !s->no_progress, fed);
    lines_close(&lines);
    return status == CLI_OK && feed_some(fed) != CLI_GO ? CLI_ERROR : status;
}

/* ==== In its file ======================================================= */

bool build_in_file_serves(const build_job *job)
{
    const cli_build *s = job->s;

    return paged_builds(s->kind, job->spec, s->output, s->memory);
}

/* The file gets its name when it is complete. */
int build_in_file(build_job *job)
{
    const cli_build *s = job->s;
    cli_fed fed;
    bly_filter *filter = paged_create(s->output, s->kind, job->spec, s->memory);
    bool kept;
    int status;

    if (filter == NULL)
        return CLI_ERROR;
    status = build_fill(job, feed_filter, filter, &fed);
    kept = status == CLI_OK && build_keeps(s, &fed);
    if (status == CLI_OK && !kept && bly_seal(filter) < 0)
        status = filter_error();
    if (status == CLI_OK)
        status = build_report(s, filter, &fed, &job->counted, NULL, kept);
    bly_free(filter);
    return status;
}

/* ==== From the hashes kept while counting =============================== */

/* A hash of UINT64_MAX may stand for a word in place of a number: then the file
 * is read again, so that its line can be reported. */
bool build_by_hashes_serves(const build_job *job)
{
    const cli_counted *counted = &job->counted;

    for (size_t i = 0; i < counted->n && counted->hashes != NULL; i++)
        if (counted->hashes[i] == UINT64_MAX)
            return false;
    return counted->hashes != NULL;
}

/* Builds with more room if needed, up to five times as much: repeated keys may
 * not fit where as many different ones do, because cuckoo has two buckets for
 * all copies of a key. */
static bly_status build_with_room(bly_filter **out, const cli_build *s,
                                  const bly_spec *spec,
                                  const cli_counted *counted)
{
    bly_spec more = *spec;
    bly_status status;

    more.progress = progress_library();
    for (;;) {
        status = bly_build(out, s->kind, &more,
                           &(bly_keys){ .n = counted->n,
                                        .hashes = counted->hashes });
        if (status != BLY_EFULL || more.capacity / 4 >= spec->capacity)
            return status;
        more.capacity += more.capacity / 4 + 1;
    }
}

/* The filter equals the one from reading the keys again. */
int build_by_hashes(build_job *job)
{
    const cli_build *s = job->s;
    double start = report_clock();
    bly_filter *filter;
    int status;

    progress_expect(0.8);
    progress_start("build", 0, false);
    status = build_with_room(&filter, s, job->spec, &job->counted);
    progress_close();
    if (status == BLY_EFULL)
        return report_error("some keys are repeated too often for kind %s, "
                            "whatever its size: remove repeated keys with "
                            "'bloomery dedup', or use a kind that counts in "
                            "little space (-k quotient)", s->kind);
    if (status < 0)
        return filter_error();
    job->fed.seconds += report_clock() - start;
    status = build_save(s, filter, &job->fed, &job->counted, NULL);
    bly_free(filter);
    return status;
}

/* ==== By reading into an empty filter =================================== */

static int build_by_feed(build_job *job, cli_feed *feed)
{
    bly_filter *filter;
    cli_fed fed;
    int status;

    if (bly_new(&filter, job->s->kind, job->spec) < 0)
        return filter_error();
    status = build_fill(job, feed, filter, &fed);
    if (status == CLI_OK)
        status = build_save(job->s, filter, &fed, &job->counted, NULL);
    bly_free(filter);
    return status;
}

bool build_by_threads_serves(const build_job *job)
{
    const cli_build *s = job->s;
    bly_plan_t plan;

    return s->how.label.n == 0 && bly_plan(&plan, s->kind, job->spec) >= 0
        && filter_shares(s->kind, plan.bytes, work_jobs(s->jobs));
}

int build_by_threads(build_job *job)
{
    job->spec->flags = BLY_SHARED;
    return build_by_feed(job, feed_shared);
}

bool build_by_keys_serves(const build_job *job)
{
    (void)job;
    return true;
}

int build_by_keys(build_job *job)
{
    return build_by_feed(job, job->s->how.label.n > 0 ? feed_put : feed_filter);
}
