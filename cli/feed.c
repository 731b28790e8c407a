/* feed.c - the keys of lines go into a filter, and what is said about it.
 *
 * All threads split lines and hash keys; the hashes are added in the order of
 * the input, by one thread at a time: adding is the smaller part of the work,
 * and a filter whose state depends on the order is the same whatever -j.
 * Shared by `build` and `add`. Floor 7; includes cli.h and <bloomery.h> only.
 */
#include "cli.h"

#include <stdlib.h>

/* ==== Adding ============================================================ */

/* A worker's hashes of the keys of one chunk. */
typedef struct {
    uint64_t *hashes;
    size_t    n, room;
    uint64_t  keyless;
} feed_own;

typedef struct {
    bly_filter *filter;
    cli_fed    *fed;
} feed_job;

static bool feed_room(feed_own *own, size_t more)
{
    size_t room = own->room + own->room / 2 + more;
    uint64_t *grown;

    if (own->n + more <= own->room)
        return true;
    grown = realloc(own->hashes, room * sizeof *grown);
    if (grown == NULL)
        return false;
    own->hashes = grown;
    own->room = room;
    return true;
}

/* Hash all keys of the chunk. */
static bool feed_work(void *argument, cli_worker *w)
{
    const feed_job *job = argument;
    feed_own *own = w->own;
    cli_batch *b = w->batch;

    own->n = 0;
    own->keyless = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, b); ) {
        if (!feed_room(own, b->n))
            return false;
        for (size_t i = 0; i < b->n; i++)
            own->hashes[own->n++] = bly_hash(job->filter, b->keys[i].data,
                                             b->keys[i].length);
        own->keyless += b->keyless;
    }
    return true;
}

static int feed_commit(void *argument, cli_worker *w)
{
    const feed_job *job = argument;
    const feed_own *own = w->own;

    if (w->chunk.error != 0)
        return lines_refuse(w->chunk.path, w->chunk.error);
    if (w->failed)
        return work_no_memory();
    if (bly_add_many(job->filter, own->hashes, own->n) < 0)
        return report_library();
    job->fed->keys += own->n;
    job->fed->keyless += own->keyless;
    job->fed->bytes = w->chunk.bytes;
    progress_at(job->fed->keys, w->chunk.bytes);
    return CLI_GO;
}

static void feed_clean(void *argument)
{
    feed_own *own = argument;

    free(own->hashes);
}

int feed_filter(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out)
{
    static const cli_work work = { sizeof(feed_own), feed_work, feed_commit,
                                   feed_clean };
    feed_job job = { filter, out };
    double start = report_clock();
    uint64_t total = 0;
    int status = lines_measure(lines, &total);

    if (status == CLI_ERROR)
        return status;
    *out = (cli_fed){ 0, 0, 0, 0 };
    progress_start("adding", total, progress);
    status = work_run(lines, &work, &job, jobs);
    progress_end();
    out->seconds = report_clock() - start;
    return status == CLI_GO ? CLI_OK : status;
}

/* ==== Counting ========================================================== */

static bool feed_count_work(void *unused, cli_worker *w)
{
    uint64_t *keys = w->own;

    (void)unused;
    *keys = 0;
    for (size_t at = 0; lines_split(w->lines, &w->chunk, &at, w->batch); )
        *keys += w->batch->n;
    return true;
}

static int feed_count_commit(void *argument, cli_worker *w)
{
    uint64_t *keys = argument;

    if (w->chunk.error != 0)
        return lines_refuse(w->chunk.path, w->chunk.error);
    *keys += *(uint64_t *)w->own;
    progress_at(*keys, w->chunk.bytes);
    return CLI_GO;
}

int feed_count(cli_lines *lines, size_t jobs, bool progress, uint64_t *keys)
{
    static const cli_work work = { sizeof(uint64_t), feed_count_work,
                                   feed_count_commit, NULL };
    uint64_t total = 0;
    int status = lines_measure(lines, &total);

    if (status == CLI_ERROR)
        return status;
    *keys = 0;
    progress_start("counting", total, progress);
    status = work_run(lines, &work, keys, jobs);
    progress_end();
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
