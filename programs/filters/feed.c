/* feed.c - adds the keys of lines to a filter, or removes them, and reports.
 *
 * All threads split lines and hash keys. If the filter is shared (BLY_SHARED),
 * each thread then adds the keys of its chunk, since their order does not
 * matter to such a kind. Otherwise keys are added or removed in input order, by
 * one thread at a time, so that the result does not depend on -j. Shared by
 * `build`, `add`, `remove` and `put`.
 */
#include "filters/filters.h"
#include "frame/batches.h"
#include "frame/bytes.h"
#include "frame/json.h"
#include "frame/measure.h"
#include "frame/numbers.h"
#include "frame/progress.h"
#include "frame/refuse.h"
#include "frame/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== Adding, removing, labelling ========================================= */

static const char feed_not_one[] = "is not a label of this filter";

/* An invalid label or key, for the message. */
typedef struct {
    const char *why;            /* NULL if there is none */
    uint64_t    line;           /* of the chunk */
    char        text[41];
} feed_wrong;

/* The hashes of the keys in a worker's chunk, or the keys themselves, which
 * point into it; and their labels. */
typedef struct {
    uint64_t  *hashes, *labels;
    bly_key   *keys;
    size_t     n, room;
    uint64_t   lines, keyless, skipped;
    feed_wrong wrong;
    cli_levels levels;          /* of the keys, of all chunks so far       */
    bly_status status;          /* of adding, and the number added */
    size_t     done;
    char       why[512];        /* for a status that is an error */
} feed_own;

/* How many more keys a filter may take: twice its plan in all. It is measured
 * again after `left` adds, so repeated keys do not end the input. */
typedef struct {
    uint64_t plan;              /* keys; 0 for no limit */
    uint64_t left, step;        /* adds until the next measurement, and after */
} feed_limit;

typedef struct feed_job feed_job;
struct feed_job {
    bly_filter *filter;         /* NULL to keep the hashes only */
    cli_hashes *hashes;
    cli_fed    *fed;
    int       (*take)(feed_job *job, cli_worker *w);
    cli_labels  labels;         /* the range of labels, if there are any */
    bool        checks;         /* whether labels are second hashes */
    bool        numbers;        /* whether keys are decimal numbers */
    bool        whole;          /* whether the kind needs the keys themselves,
                                   not only their hashes */
    uint64_t    nests;          /* the form of keys that lie within others and
                                   need markers, or 0                        */
    cli_levels  levels;
    bool        shared;         /* whether threads may add concurrently */
    const char *full;           /* advice for a full filter */
    bool        limited;        /* whether adding ends at twice the plan */
    feed_limit  limit;
    const char *path;           /* the file being read */
    uint64_t    lines;          /* before the next chunk of this file */
};

static bool feed_room(const feed_job *job, feed_own *own, size_t more)
{
    size_t room = own->room + own->room / 2 + more;

    if (own->n + more <= own->room)
        return true;
    if (job->whole ? !bytes_grow(&own->keys, room, sizeof *own->keys)
                   : !bytes_grow(&own->hashes, room, sizeof *own->hashes))
        return false;
    if ((job->labels.most > 0 || job->checks)
        && !bytes_grow(&own->labels, room, sizeof *own->labels))
        return false;
    own->room = room;
    return true;
}

/* Keeps the first invalid label or key until the chunk's turn. Bytes that are
 * not text would disturb the terminal. */
static void feed_note_wrong(feed_wrong *wrong, const char *why,
                            const bly_key *part, const cli_worker *w)
{
    const unsigned char *text = part->data;
    size_t n = part->length < sizeof wrong->text ? part->length
                                                 : sizeof wrong->text - 1;
    uint64_t line = batches_number(w->lines, &w->chunk, text);

    if (wrong->why != NULL && wrong->line <= line)
        return;
    wrong->why = why;
    wrong->line = line;
    for (size_t i = 0; i < n; i++)
        wrong->text[i] = text[i] < 0x20 || text[i] == 0x7f ? '?'
                                                           : (char)text[i];
    wrong->text[n] = '\0';
}

static int feed_refuse(const feed_job *job, const feed_wrong *wrong)
{
    unsigned long long line = job->lines + wrong->line;

    if (wrong->why == feed_not_one)
        return report_error("line %llu of '%s': label '%s' is not within this "
                            "filter's labels, %llu .. %llu (its options may "
                            "allow more: see 'bloomery kinds')", line,
                            job->path, wrong->text,
                            (unsigned long long)job->labels.least,
                            (unsigned long long)job->labels.most);
    return report_error("line %llu of '%s': '%s' %s", line, job->path,
                        wrong->text, wrong->why);
}

/* Reads the labels of a batch, up to the first invalid one. */
static void feed_labels(const feed_job *job, const cli_worker *w,
                        feed_own *own)
{
    const cli_batch *b = w->batch;
    const cli_labels *may = &job->labels;

    for (size_t i = 0; i < b->n && own->wrong.why == NULL; i++) {
        const bly_key *label = &b->labels[i];
        uint64_t *out = &own->labels[own->n + i];
        const char *why = numbers_label(label->data, label->length, out);

        if (why == NULL && (*out < may->least || *out > may->most))
            why = feed_not_one;
        if (why != NULL)
            feed_note_wrong(&own->wrong, why, label, w);
    }
}

/* Hashes keys for a kind and spec that have been planned, so nothing can fail.
 */
static void feed_hash(const feed_job *job, uint64_t *hashes,
                      const bly_key *keys, size_t n)
{
    if (job->filter == NULL)
        bly_hash_many(hashes, job->hashes->kind, job->hashes->spec,
                      &(bly_keys){ .n = n, .keys = keys });
    for (size_t i = 0; i < n && job->filter != NULL; i++)
        hashes[i] = bly_hash(job->filter, keys[i].data, keys[i].length);
}

/* The function for second hashes: not the default one, with an unusual seed. */
static const bly_spec feed_second = { .capacity = 1, .hash = "xxh64",
                                      .seed = UINT64_C(0x9e3779b97f4a7c15) };

/* Only the hash function `decimal` has both. */
static bool feed_decimal(const feed_job *job)
{
    static const bly_key two[] = { { "7", 1 }, { "x", 1 } };
    uint64_t hashes[2];

    feed_hash(job, hashes, two, 2);
    return hashes[0] == 7 && hashes[1] == UINT64_MAX;
}

/* Notes the first key of the batch that is not a number: all of these have the
 * same hash. */
static void feed_numbers(const feed_job *job, const cli_worker *w,
                         feed_own *own)
{
    const cli_batch *b = w->batch;

    for (size_t i = 0; i < b->n; i++) {
        const bly_key *key = &b->keys[i];
        uint64_t hash;

        if (job->whole)
            feed_hash(job, &hash, key, 1);
        else
            hash = own->hashes[own->n + i];

        if (hash == UINT64_MAX) {
            feed_note_wrong(&own->wrong, filter_no_number, key, w);
            return;
        }
    }
}

/* Appends the keys of a batch. */
static void feed_batch(const feed_job *job, const cli_worker *w, feed_own *own)
{
    const cli_batch *b = w->batch;

    for (size_t i = 0; i < b->n && job->whole; i++)
        own->keys[own->n + i] = b->keys[i];
    if (b->n > 0 && !job->whole)
        feed_hash(job, own->hashes + own->n, b->keys, b->n);
    if (job->labels.most > 0)
        feed_labels(job, w, own);
    if (job->checks && b->n > 0)
        bly_hash_many(own->labels + own->n, "standard", &feed_second,
                      &(bly_keys){ .n = b->n, .keys = b->keys });
    if (job->numbers)
        feed_numbers(job, w, own);
    if (job->nests != 0)
        levels_note(&own->levels, job->nests, b->keys, b->n);
    own->n += b->n;
    own->lines += batches_counted(w->lines, b);
    own->keyless += b->lacking;
    own->skipped += b->keyless - b->lacking;
}

/* ==== The limit ========================================================= */

enum {
    FEED_STEP_MOST = 1 << 16,   /* maximum adds between measurements of a
                                   filter, each of which may take 0.3 ms */
    FEED_SHARE_LEAST = 1 << 20  /* keys; below it the chunks of all threads may
                                   be many times the plan */
};

/* Sets the limit. Kinds that grow or forget keep their rate. Exact kinds and
 * sketches have warnings of their own. */
static feed_limit feed_limit_of(const bly_filter *filter, bool overfill)
{
    const uint64_t any = BLY_CAN_GROW | BLY_CAN_FORGET | BLY_CAN_SUBTRACT;
    bly_info_t stat;

    if (overfill || (bly_can(filter) & any) != 0
        || bly_info(&stat, filter) < 0 || stat.capacity == 0
        || stat.capacity > UINT64_MAX / 2 || !(stat.planned_rate > 0))
        return (feed_limit){ .plan = 0 };
    return (feed_limit){
        .plan = stat.capacity, .step = 1,
        .left = stat.items < 2 * stat.capacity
              ? 2 * stat.capacity - stat.items : 0,
    };
}

/* Returns how many more distinct keys a filter may take until it holds twice as
 * many as planned. The number it holds is estimated, plus two standard
 * deviations. */
static uint64_t feed_limit_room(const bly_filter *filter)
{
    bly_info_t stat;
    double most, holds;

    if (bly_info(&stat, filter) < 0)
        return 1;
    most = 2 * (double)stat.capacity;
    holds = stat.distinct + 2 * stat.distinct_sd;
    return holds < most ? (uint64_t)(most - holds) + 1 : 0;
}

/* Measures the filter again, at growing intervals: repeated keys leave it
 * unchanged. */
static void feed_limit_measure(feed_job *job)
{
    feed_limit *limit = &job->limit;
    uint64_t room = feed_limit_room(job->filter);

    job->fed->over = job->fed->cut = room == 0;
    limit->left = room > limit->step ? room : limit->step;
    if (limit->step < FEED_STEP_MOST)
        limit->step *= 2;
}

/* Returns how many of `n` keys may be added now: none, with a note of it, if
 * the filter has reached its limit. */
static size_t feed_limit_next(feed_job *job, size_t n)
{
    if (job->limit.plan == 0)
        return n;
    if (job->limit.left == 0)
        feed_limit_measure(job);
    if (job->fed->over)
        return 0;
    if (n > job->limit.left)
        n = (size_t)job->limit.left;
    job->limit.left -= n;
    return n;
}

/* ==== Adding the keys of a chunk ========================================= */

/* Adds the next `n` keys of the chunk. */
static void feed_add_some(const feed_job *job, feed_own *own, size_t n)
{
    size_t done = 0;

    if (n == 0)
        return;
    own->status = job->whole
        ? bly_add_many(job->filter, &(bly_keys){ .n = n, .keys = own->keys
                                                              + own->done },
                       NULL, &done)
        : bly_add_hashes(job->filter, own->hashes + own->done, n, NULL, &done);
    own->done += done;
    if (own->status < 0)
        snprintf(own->why, sizeof own->why, "%s",
                 own->status == BLY_EFULL ? bly_why() : filter_why());
}

/* Adds all keys of the chunk, or as many as the limit allows. */
static void feed_add_all(feed_job *job, feed_own *own)
{
    while (own->done < own->n && own->status >= 0 && !job->fed->over) {
        size_t n = feed_limit_next(job, own->n - own->done);

        feed_add_some(job, own, n);
    }
}

/* Adds all keys of the chunk, if the filter is shared. An error is kept for the
 * chunk's turn, since another thread, whose bly_why differs, may report it. */
static bool feed_work(void *argument, cli_worker *w)
{
    const feed_job *job = argument;
    feed_own *own = w->own;

    own->n = own->done = 0;
    own->status = BLY_OK;
    own->lines = own->keyless = own->skipped = 0;
    own->wrong.why = NULL;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (!feed_room(job, own, w->batch->n))
            return false;
        feed_batch(job, w, own);
    }
    if (job->shared && own->wrong.why == NULL)
        feed_add_some(job, own, own->n);
    return true;
}

/* Reports the line of key number `key` in the chunk, which was refused. */
static int feed_blame(const feed_job *job, cli_worker *w, size_t key)
{
    const feed_own *own = w->own;
    const cli_batch *b = w->batch;
    char why[sizeof own->why + 16];
    feed_wrong wrong = { .why = NULL };

    snprintf(why, sizeof why, "is refused: %s", own->why);
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch);
         key -= b->n)
        if (key < b->n) {
            feed_note_wrong(&wrong, why, &b->keys[key], w);
            break;
        }
    return feed_refuse(job, &wrong);
}

/* Returns the length of the part of `why` that concerns users of a command; the
 * advice for callers follows the last colon. */
static int feed_said(const char *why)
{
    const char *advice = strrchr(why, ':');

    return (int)(advice != NULL && strstr(advice, "(bly_") != NULL
                 ? (size_t)(advice - why) : strlen(why));
}

/* Adds the keys, unless they were added before. */
static int feed_add(feed_job *job, cli_worker *w)
{
    feed_own *own = w->own;

    if (!job->shared)
        feed_add_all(job, own);
    if (own->status == BLY_EFULL)
        return report_error("%.*s; nothing was saved: %s", feed_said(own->why),
                            own->why, job->full);
    if (own->status == BLY_EPARAM)
        return feed_blame(job, w, own->done);
    return own->status < 0 ? report_error("%s", own->why)
         : job->fed->over ? CLI_NONE : CLI_GO;
}

/* Counts what became of n keys to be removed. */
static int feed_removed(cli_fed *fed, bly_status status, const bly_status *each,
                        size_t n)
{
    if (status != BLY_OK && status != BLY_EABSENT && status != BLY_EUNSAFE)
        return filter_error();
    for (size_t i = 0; i < n; i++) {
        fed->absent += each[i] == BLY_EABSENT;
        fed->unsafe += each[i] == BLY_EUNSAFE;
    }
    return CLI_GO;
}

int feed_out_keys(bly_filter *filter, const bly_key *keys, size_t n,
                  cli_fed *out)
{
    bly_status each[BATCHES_MOST];
    bly_status status = bly_remove_many(filter,
                                        &(bly_keys){ .n = n, .keys = keys },
                                        each);

    return feed_removed(out, status, each, n);
}

static bly_status feed_remove_some(const feed_job *job, const feed_own *own,
                                   size_t from, size_t n, bly_status *each)
{
    if (!job->whole)
        return bly_remove_hashes(job->filter, own->hashes + from, n, each);
    return bly_remove_many(job->filter,
                           &(bly_keys){ .n = n, .keys = own->keys + from },
                           each);
}

/* Removes the keys, as many at a time as fit the array of statuses. */
static int feed_remove(feed_job *job, cli_worker *w)
{
    feed_own *own = w->own;
    bly_status each[BATCHES_MOST];
    int result = CLI_GO;

    own->done = own->n;
    for (size_t i = 0, n; i < own->n && result == CLI_GO; i += n) {
        n = own->n - i < BATCHES_MOST ? own->n - i : BATCHES_MOST;
        result = feed_removed(job->fed, feed_remove_some(job, own, i, n, each),
                              each, n);
    }
    return result;
}

/* Labels all keys: a kind that adds takes any key, up to its limit. */
static int feed_label_all(feed_job *job, cli_worker *w)
{
    feed_own *own = w->own;

    while (own->done < own->n) {
        size_t n = feed_limit_next(job, own->n - own->done);

        if (n == 0)
            return CLI_NONE;
        if (bly_put_hashes(job->filter, own->hashes + own->done,
                           own->labels + own->done, n, NULL) < 0)
            return filter_error();
        own->done += n;
    }
    return CLI_GO;
}

/* Labels the keys that are present. */
static int feed_label(feed_job *job, cli_worker *w)
{
    feed_own *own = w->own;

    own->done = own->n;
    for (size_t i = 0; i < own->n; i++) {
        bly_status status = bly_put_hash(job->filter, own->hashes[i],
                                         own->labels[i]);

        if (status < 0 && status != BLY_EABSENT)
            return filter_error();
        job->fed->absent += status == BLY_EABSENT;
    }
    return CLI_GO;
}

/* Appends n numbers to those kept. */
static void feed_append(uint64_t *all, size_t at, const uint64_t *numbers,
                        size_t n)
{
    if (n > 0)
        memcpy(all + at, numbers, n * sizeof *numbers);
}

/* Keeps the hashes and labels only. */
static int feed_keep(feed_job *job, cli_worker *w)
{
    feed_own *own = w->own;
    cli_hashes *all = job->hashes;
    bool labels = job->labels.most > 0 || job->checks;

    own->done = own->n;
    if (all->n + own->n > all->room) {
        size_t room = all->room + all->room / 2 + own->n;

        if (!bytes_grow(&all->hashes, room, sizeof *all->hashes)
            || (labels && !bytes_grow(&all->labels, room, sizeof *all->labels)))
            return report_no_memory();
        all->room = room;
    }
    feed_append(all->hashes, all->n, own->hashes, own->n);
    if (labels)
        feed_append(all->labels, all->n, own->labels, own->n);
    all->n += own->n;
    return CLI_GO;
}

static int feed_commit(void *argument, cli_worker *w)
{
    feed_job *job = argument;
    const feed_own *own = w->own;
    int status;

    if (w->chunk.error != 0)
        return refuse_chunk(&w->chunk);
    if (w->failed)
        return report_no_memory();
    if (job->path != w->chunk.path)     /* each operand has its own address */
        job->lines = 0;
    job->path = w->chunk.path;
    if (own->wrong.why != NULL)
        return feed_refuse(job, &own->wrong);
    status = job->take(job, w);
    if (status == CLI_ERROR)
        return status;
    if (job->nests != 0)
        levels_unite(&job->levels, &own->levels);
    job->lines += own->lines;
    job->fed->keys += own->done;
    job->fed->keyless += own->keyless;
    job->fed->skipped += own->skipped;
    job->fed->bytes = w->chunk.bytes;
    progress_at(w->chunk.bytes);
    return status;
}

static void feed_clean(void *argument)
{
    feed_own *own = argument;

    free(own->hashes);
    free(own->labels);
    free(own->keys);
}

/* Returns whether threads may share the filter. It then cannot be measured
 * before the end, which is too late if the limit is small. */
static bool feed_shares(const feed_job *job)
{
    return job->limit.plan == 0 || job->limit.plan >= FEED_SHARE_LEAST;
}

/* Adds the markers that the filter lacks. */
static int feed_add_markers(const feed_job *job, const cli_markers *markers,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bly_key *m = &markers->keys[i];

        if (!bly_contains(job->filter, m->data, m->length)
            && bly_add(job->filter, m->data, m->length) < 0)
            return filter_error();
    }
    return CLI_OK;
}

/* Adds the markers of all keys to the filter or to the hashes. */
static int feed_markers(feed_job *job)
{
    cli_hashes *all = job->hashes;
    cli_markers markers;
    size_t n = levels_markers(&markers, &job->levels);

    if (job->filter != NULL)
        return feed_add_markers(job, &markers, n);
    if (n == 0)
        return CLI_OK;
    if (!bytes_grow(&all->hashes, all->n + n, sizeof *all->hashes))
        return report_no_memory();
    feed_hash(job, all->hashes + all->n, markers.keys, n);
    all->n += n;
    all->room = all->n;
    return CLI_OK;
}

static int feed_run(feed_job *job, cli_lines *lines, size_t jobs,
                    const char *doing, bool progress)
{
    static const cli_work work = { sizeof(feed_own), feed_work, feed_commit,
                                   feed_clean };
    double start = report_clock();
    uint64_t total = 0;
    int status = measure_input(lines, &total);

    if (status == CLI_ERROR)
        return status;
    job->numbers = feed_decimal(job);
    if (job->limited)
        job->limit = feed_limit_of(job->filter, job->fed->overfill);
    job->shared = job->shared && feed_shares(job);
    if (lines->how.stated && bly_form_nests(lines->how.form)
        && job->take != feed_remove)
        job->nests = lines->how.form;
    *job->fed = (cli_fed){ .keys = 0 };
    progress_start(doing, total, progress);
    status = work_run(lines, &work, job, jobs);
    progress_close();
    job->fed->seconds = report_clock() - start;
    if (job->shared && job->limit.plan > 0
        && job->fed->keys > job->limit.left)
        job->fed->over = feed_limit_room(job->filter) == 0;
    return status == CLI_ERROR ? status : feed_markers(job);
}

int feed_filter(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out)
{
    feed_job job = { .filter = filter, .fed = out, .take = feed_add,
                     .full = out->full, .limited = true,
                     .whole = filter_can(filter, BLY_CAN_WHOLE_KEYS) };

    return feed_run(&job, lines, jobs, "adding", progress);
}

int feed_shared(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out)
{
    feed_job job = { .filter = filter, .fed = out, .take = feed_add,
                     .full = out->full, .limited = true,
                     .whole = filter_can(filter, BLY_CAN_WHOLE_KEYS),
                     .shared = true };

    return feed_run(&job, lines, jobs, "adding", progress);
}

int feed_out(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out)
{
    feed_job job = { .filter = filter, .fed = out, .take = feed_remove,
                     .whole = filter_can(filter, BLY_CAN_WHOLE_KEYS) };

    return feed_run(&job, lines, jobs, "removing", progress);
}

int feed_put(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out)
{
    bool adds = filter_can(filter, BLY_CAN_ADD);
    feed_job job = { .filter = filter, .fed = out,
                     .take = adds ? feed_label_all : feed_label,
                     .limited = adds };
    bly_info_t stat;

    bly_info(&stat, filter);
    job.labels = (cli_labels){ stat.label_least, stat.label_most };
    return feed_run(&job, lines, jobs, "labelling", progress);
}

int feed_hashes(cli_hashes *hashes, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out)
{
    feed_job job = { .hashes = hashes, .fed = out, .take = feed_keep,
                     .labels = hashes->may, .checks = hashes->checks };

    return feed_run(&job, lines, jobs, "hashing", progress);
}

/* Returns the estimate, but at most the number of keys. */
static double feed_different(const cli_fed *fed, const cli_estimate *different)
{
    double keys = (double)fed->keys, about = estimate_keys(different);

    return about < keys ? about : keys;
}

void feed_planned(const cli_fed *fed, const cli_estimate *different)
{
    report_note("%s keys were counted, of which about %s are different: "
                "planned for %s", report_count(fed->keys).text,
                report_estimate(feed_different(fed, different)).text,
                report_count(estimate_capacity(different, fed->keys)).text);
}

int feed_some(const cli_fed *fed)
{
    if (fed->keys > 0 || fed->keyless + fed->skipped == 0)
        return CLI_GO;
    if (fed->keyless == 0 && fed->skipped == 1)
        return report_error("no line has a key: the only one is %s: check %s",
                            report_skipped.one, report_skipped.options);
    if (fed->keyless == 0)
        return report_error("no line has a key: all %s are %s: check %s",
                            report_count(fed->skipped).text,
                            report_skipped.several, report_skipped.options);
    if (report_some(0, fed->keyless) == CLI_ERROR)
        return CLI_ERROR;
    return report_error("no line has a key: %s %s no such %s: check %s",
                        report_count(fed->keyless).text,
                        fed->keyless == 1 ? "line has" : "lines have",
                        report_lack.part, report_lack.options);
}

/* ==== The report ======================================================== */

static void feed_json(const bly_info_t *stat, const cli_fed *fed,
                      const cli_feed_report *how)
{
    json_open_object(NULL);
    json_string("kind", stat->kind);
    json_count("items", stat->items);
    json_count("capacity", stat->capacity);
    json_count("bytes", stat->bytes);
    json_real("bits_per_key", stat->bits_per_key);
    json_count("probes", stat->probes);
    json_labels(stat->label_bits, stat->label_least, stat->label_most);
    json_real("planned_rate", stat->planned_rate);
    json_real("rate", stat->rate);
    json_count("keys", fed->keys);
    if (how->different != NULL)
        json_real("different", feed_different(fed, how->different));
    json_count("keyless", fed->keyless);
    json_count("absent", fed->absent);
    json_count("unsafe", fed->unsafe);
    json_count("unlisted", fed->unlisted);
    json_real("seconds", fed->seconds);
    json_real("keys_per_second", report_per_second(fed->keys, fed->seconds));
    json_count("input_bytes", fed->bytes);
    if (how->others != NULL) {
        json_count("others", how->others->keys);
        json_count("others_keyless", how->others->keyless);
    }
    if (how->ranks > 0) {
        json_count("ranks", how->ranks);
        json_count("sent_bytes", how->sent);
    }
    json_string("output", how->output);
    json_close_object();
}

static void feed_verbose(const bly_info_t *stat, const cli_fed *fed,
                         const cli_feed_report *how)
{
    char others[80] = "";

    if (how->others != NULL)
        snprintf(others, sizeof others, " and %s others",
                 report_count(how->others->keys).text);
    report_note("%s: %s keys%s in %s (%s): %s, %s, %.2f bits per "
                "planned key, rate %s", filter_place(how->output),
                report_count(fed->keys).text, others,
                report_seconds(fed->seconds).text,
                report_speed(report_per_second(fed->keys, fed->seconds)).text,
                stat->kind, report_bytes(stat->bytes).text,
                stat->bits_per_key, report_percent(stat->rate).text);
}

/* Warns about a filter that promises to be exact. */
static void feed_warn_exact(const bly_info_t *stat, const char *advice)
{
    if (!filter_broken(stat))
        return;
    if (stat->saturated > 0)
        report_note("warning: %s counters are at their largest value, where "
                    "they keep traces of removed keys, or more than %s "
                    "different keys were added: false positives are now "
                    "possible (rate %s): build a new filter with larger "
                    "counters (bits=) or a larger -n",
                    report_count(stat->saturated).text,
                    report_count(stat->capacity).text,
                    report_percent(stat->rate).text);
    else
        report_note("warning: the filter holds more different keys than the %s "
                    "up to which it is exact: false positives are now possible "
                    "(rate %s): %s", report_count(stat->capacity).text,
                    report_percent(stat->rate).text, advice);
}

/* Warns if the rate is well above the plan. More adds than planned are fine by
 * themselves, since repeated keys take no room. */
static void feed_warn(const bly_info_t *stat, const char *advice)
{
    if (stat->planned_rate == 0) {
        feed_warn_exact(stat, advice);
        return;
    }
    if (!(stat->rate > 1.1 * stat->planned_rate))
        return;
    if (filter_kind_grows(stat->kind)) {
        made_warn_united(stat);
        return;
    }
    if (stat->items <= stat->capacity)
        return;
    report_note("warning: %s keys are in a filter planned for %s: its "
                "false-positive rate is now %s, not %s: %s",
                report_count(stat->items).text,
                report_count(stat->capacity).text,
                report_percent(stat->rate).text,
                report_percent(stat->planned_rate).text, advice);
}

/* Warns if a rate that was asked for cannot be kept: by a foreign format, which
 * has sizes of its own, or under a name that implies options. */
static void feed_warn_size(const bly_info_t *stat, double asked,
                           const char *kind)
{
    if (asked <= 0)
        return;
    if (stat->planned_rate > 2 * asked
        && filter_kind_of_family(stat->kind, "foreign"))
        report_note("warning: a filter of kind %s planned for %s keys cannot "
                    "keep a rate of %s: it has %s. Use another kind, or plan "
                    "it for another number of keys (-n)", stat->kind,
                    report_count(stat->capacity).text,
                    report_percent(asked).text,
                    report_percent(stat->planned_rate).text);
    else if (stat->planned_rate > 1.01 * asked && kind != NULL
             && strcmp(kind, stat->kind) != 0
             && !filter_kind_of_family(stat->kind, "foreign")
             && !filter_kind_can(stat->kind,
                                 BLY_CAN_SUBTRACT | BLY_CAN_SEPARATE))
        report_note("warning: the false-positive rate of '%s' is %s, not %s: "
                    "use -k %s, which is sized for the rate", kind,
                    report_percent(stat->planned_rate).text,
                    report_percent(asked).text, stat->kind);
}

void feed_none(const bly_filter *filter)
{
    report_note("note: the input has no keys: the filter is empty%s",
                filter_can(filter, BLY_CAN_ADD)
                ? ", and planned for few keys (-n plans it for more)" : "");
}

/* Describes what became of the keys of an input beyond the limit. */
static void feed_fate(char *out, size_t room, const cli_fed *fed)
{
    if (!fed->cut)
        snprintf(out, room, "All keys were saved");
    else if (fed->keys == 0)
        snprintf(out, room, "No key of the input was saved");
    else if (fed->keys == 1)
        snprintf(out, room, "Only the first key of the input was saved");
    else
        snprintf(out, room, "Only the first %s keys of the input were saved",
                 report_count(fed->keys).text);
}

/* Refuses an input that exceeds twice the plan. */
static int feed_refuse_rest(const bly_info_t *stat, const cli_fed *fed,
                            const cli_feed_report *how)
{
    char fate[96];
    cli_text planned = report_count(stat->capacity);

    if (how->kept)
        return report_error("the input has more than twice as many keys as the "
                            "filter is planned for, %s: nothing was saved to "
                            "'%s': %s, or %s", planned.text,
                            filter_place(how->output), how->advice,
                            how->overfill);
    feed_fate(fate, sizeof fate, fed);
    return report_error("'%s' was planned for %s %s and holds %s: its "
                        "false-positive rate is %s, not %s. %s: %s, or %s",
                        filter_place(how->output), planned.text,
                        stat->capacity == 1 ? "key" : "keys",
                        report_count(stat->items).text,
                        report_percent(stat->rate).text,
                        report_percent(stat->planned_rate).text, fate,
                        how->advice, how->overfill);
}

bool feed_overfull(const bly_filter *filter)
{
    feed_limit limit = feed_limit_of(filter, false);

    return limit.plan > 0 && limit.left == 0 && feed_limit_room(filter) == 0;
}

int feed_report(const bly_filter *filter, const cli_fed *fed,
                const cli_feed_report *how)
{
    bly_info_t stat;

    if (bly_info(&stat, filter) < 0)
        return filter_error();
    if (filter_kind_of_family(stat.kind, "foreign"))
        stat.bytes -= BLY_HEADER_BYTES;     /* not part of its file */
    if (how->json)
        feed_json(&stat, fed, how);
    if (how->verbose)
        feed_verbose(&stat, fed, how);
    report_keyless(fed->keyless);
    if (fed->absent > 0)
        report_note("note: %s %s not in the filter",
                    report_count(fed->absent).text,
                    fed->absent == 1 ? "key was" : "keys were");
    if (fed->unsafe > 0)
        report_note("note: %s %s not removed, because other keys might be lost "
                    "with %s", report_count(fed->unsafe).text,
                    fed->unsafe == 1 ? "key was" : "keys were",
                    fed->unsafe == 1 ? "it" : "them");
    if (fed->unlisted > 0)
        report_note("note: %s %s not removed, because the witness does not "
                    "list %s, or not as often",
                    report_count(fed->unlisted).text,
                    fed->unlisted == 1 ? "key was" : "keys were",
                    fed->unlisted == 1 ? "it" : "them");
    if (fed->over)
        return feed_refuse_rest(&stat, fed, how);
    feed_warn_size(&stat, how->rate, how->kind);
    if (!filter_can(filter, BLY_CAN_SUBTRACT))   /* those may be overfull */
        feed_warn(&stat, how->advice);
    return CLI_OK;
}
