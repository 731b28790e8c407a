/* feed.c - the keys of lines go into a filter, or out, and what is said about
 * it.
 *
 * All threads split lines and hash keys; the hashes are added or removed in
 * the order of the input, by one thread at a time: that is the smaller part of
 * the work, and a filter whose state depends on the order is the same whatever
 * -j. Shared by `build`, `add` and `remove`. Floor 7; includes cli.h and
 * <bloomery.h> only.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ==== Adding and removing =============================================== */

/* A worker's hashes of the keys of one chunk. */
typedef struct {
    uint64_t *hashes;
    size_t    n, room;
    uint64_t  keyless;
} feed_own;

typedef struct feed_job feed_job;
struct feed_job {
    bly_filter *filter;         /* or, for hashes only, whose hash it is */
    cli_hashes *hashes;
    cli_fed    *fed;
    int       (*take)(const feed_job *job, const feed_own *own);
};

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

/* The keys go in. */
static int feed_add(const feed_job *job, const feed_own *own)
{
    bly_status status = bly_add_many(job->filter, own->hashes, own->n);

    if (status == BLY_EFULL)
        return report_error("%s; nothing was saved%s", bly_why(),
                            filter_can(job->filter, "resize")
                            ? " (see 'bloomery resize')" : "");
    return status < 0 ? report_library() : CLI_GO;
}

/* The keys go out, as many at a time as there is room for their statuses. */
static int feed_remove(const feed_job *job, const feed_own *own)
{
    bly_status each[LINES_MOST];

    for (size_t i = 0, n; i < own->n; i += n) {
        n = own->n - i < LINES_MOST ? own->n - i : LINES_MOST;
        bly_status status = bly_remove_many(job->filter, own->hashes + i, n,
                                            each);
        if (status != BLY_OK && status != BLY_EABSENT && status != BLY_EUNSAFE)
            return report_library();
        for (size_t j = 0; j < n; j++) {
            job->fed->absent += each[j] == BLY_EABSENT;
            job->fed->unsafe += each[j] == BLY_EUNSAFE;
        }
    }
    return CLI_GO;
}

/* The hashes are kept, nothing else. */
static int feed_keep(const feed_job *job, const feed_own *own)
{
    cli_hashes *all = job->hashes;
    uint64_t *grown;

    if (all->n + own->n > all->room) {
        size_t room = all->room + all->room / 2 + own->n;

        grown = realloc(all->hashes, room * sizeof *grown);
        if (grown == NULL)
            return work_no_memory();
        all->hashes = grown;
        all->room = room;
    }
    if (own->n > 0)
        memcpy(all->hashes + all->n, own->hashes, own->n * sizeof *own->hashes);
    all->n += own->n;
    return CLI_GO;
}

static int feed_commit(void *argument, cli_worker *w)
{
    const feed_job *job = argument;
    const feed_own *own = w->own;
    int status;

    if (w->chunk.error != 0)
        return lines_refuse(w->chunk.path, w->chunk.error);
    if (w->failed)
        return work_no_memory();
    status = job->take(job, own);
    if (status != CLI_GO)
        return status;
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

static int feed_run(const feed_job *job, cli_lines *lines, size_t jobs,
                    const char *doing, bool progress)
{
    static const cli_work work = { sizeof(feed_own), feed_work, feed_commit,
                                   feed_clean };
    double start = report_clock();
    uint64_t total = 0;
    int status = lines_measure(lines, &total);

    if (status == CLI_ERROR)
        return status;
    *job->fed = (cli_fed){ .keys = 0 };
    progress_start(doing, total, progress);
    status = work_run(lines, &work, (void *)(uintptr_t)job, jobs);
    progress_end();
    job->fed->seconds = report_clock() - start;
    return status == CLI_GO ? CLI_OK : status;
}

int feed_filter(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out)
{
    feed_job job = { filter, NULL, out, feed_add };

    return feed_run(&job, lines, jobs, "adding", progress);
}

int feed_out(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out)
{
    feed_job job = { filter, NULL, out, feed_remove };

    return feed_run(&job, lines, jobs, "removing", progress);
}

int feed_hashes(cli_hashes *hashes, bly_filter *hasher, cli_lines *lines,
                size_t jobs, bool progress, cli_fed *out)
{
    feed_job job = { hasher, hashes, out, feed_keep };

    return feed_run(&job, lines, jobs, "hashing", progress);
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
    json_count("absent", fed->absent);
    json_count("unsafe", fed->unsafe);
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

    if (bly_stat(&stat, filter) < 0) {
        report_library();
        return;
    }
    if (how->json)
        feed_json(&stat, fed, how->output);
    if (how->verbose)
        feed_verbose(&stat, fed, how->output);
    if (fed->keyless > 0)
        report_note("note: %s %s no such column and %s skipped: check -f and "
                    "-t", report_count(fed->keyless).text,
                    fed->keyless == 1 ? "line has" : "lines have",
                    fed->keyless == 1 ? "was" : "were");
    if (fed->absent > 0)
        report_note("note: %s %s not there", report_count(fed->absent).text,
                    fed->absent == 1 ? "key was" : "keys were");
    if (fed->unsafe > 0)
        report_note("note: %s %s not removed, because other keys might be lost "
                    "with %s", report_count(fed->unsafe).text,
                    fed->unsafe == 1 ? "key was" : "keys were",
                    fed->unsafe == 1 ? "it" : "them");
    feed_warn(&stat, how->advice);
}
