/* kinds.c - measures the library's own kinds.
 *
 * A round measures every kind once, beginning with another one each time; the
 * filters of the first round are kept for later ones. "build" makes a new
 * filter and fills it in batches with all its keys, including the time the
 * system takes to clear its pages; hashes are made between the batches, off the
 * clock. A kind that needs all keys at once gets them in one array, and builds
 * with all processors. "add" adds to a filter whose pages exist already.
 */
#include "bench.h"

#include <bloomery.h>
#include <bloomery/inline.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_BATCH = 4096, KINDS_BATCH_LARGE = 65536, KINDS_KEY = 8,
       KINDS_RATE_ASKED = 10000000 };

static bly_filter *kinds_filter[BENCH_LIST_MAX];

/* ---- Jobs -------------------------------------------------------------- */

typedef struct {
    bly_filter     *filter;
    const uint64_t *hashes;
    size_t          n, batch;
    unsigned        repeats;
} kinds_job;

static size_t kinds_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint64_t kinds_ask_batch(void *context, unsigned part, unsigned parts)
{
    const kinds_job *job = context;
    size_t from = job->n * part / parts, to = job->n * (part + 1) / parts;
    bool answers[KINDS_BATCH_LARGE];
    uint64_t sum = 0;
    for (unsigned r = 0; r < job->repeats; r++)
        for (size_t i = from, step; i < to; i += step) {
            step = kinds_least(job->batch, to - i);
            bly_contains_hashes(job->filter, job->hashes + i, step, answers);
            sum += answers[step - 1];
        }
    return sum;
}

static uint64_t kinds_ask_single(void *context, unsigned part, unsigned parts)
{
    const kinds_job *job = context;
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (size_t i = 0; i < job->n; i++)
        sum += bly_contains_hash(job->filter, job->hashes[i]);
    return sum;
}

/* Queries through a view, for each kind that has one. */
#define KINDS_ASK_INLINE(kind)                                                 \
    static uint64_t kinds_ask_##kind(void *context, unsigned part,             \
                                     unsigned parts)                           \
    {                                                                          \
        const kinds_job *job = context;                                        \
        bly_inline_##kind view;                                                \
        uint64_t sum = 0;                                                      \
        (void)part, (void)parts;                                               \
        if (bly_inline_##kind##_of(&view, job->filter) < 0)                    \
            bench_stop(#kind, bly_why());                                      \
        for (size_t i = 0; i < job->n; i++)                                    \
            sum += bly_inline_##kind##_contains(&view, job->hashes[i]);        \
        return sum;                                                            \
    }

KINDS_ASK_INLINE(blocked)
KINDS_ASK_INLINE(split)
KINDS_ASK_INLINE(standard)
KINDS_ASK_INLINE(fuse)
KINDS_ASK_INLINE(cuckoo)

static const struct {
    const char *kind;
    bench_work *ask;
} kinds_inline[] = {
    { "blocked", kinds_ask_blocked }, { "split", kinds_ask_split },
    { "standard", kinds_ask_standard }, { "fuse", kinds_ask_fuse },
    { "xor", kinds_ask_fuse }, { "cuckoo", kinds_ask_cuckoo },
};

/* NULL: the kind has no view. */
static bench_work *kinds_ask_inline(const bly_filter *filter)
{
    for (size_t i = 0; i < sizeof kinds_inline / sizeof *kinds_inline; i++)
        if (strcmp(kinds_inline[i].kind, bly_kind_of(filter)) == 0)
            return kinds_inline[i].ask;
    return NULL;
}

/* The number's eight bytes are the key, as in a peer's call. */
static uint64_t kinds_ask_key(void *context, unsigned part, unsigned parts)
{
    const kinds_job *job = context;
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (size_t i = 0; i < job->n; i++)
        sum += bly_contains(job->filter, &job->hashes[i], KINDS_KEY);
    return sum;
}

static uint64_t kinds_add_batch(void *context, unsigned part, unsigned parts)
{
    const kinds_job *job = context;
    size_t from = job->n * part / parts, to = job->n * (part + 1) / parts;
    for (size_t i = from, step; i < to; i += step) {
        step = kinds_least(job->batch, to - i);
        if (bly_add_hashes(job->filter, job->hashes + i, step, NULL, NULL) < 0)
            bench_stop("add", bly_why());
    }
    return 0;
}

static uint64_t kinds_add_single(void *context, unsigned part, unsigned parts)
{
    const kinds_job *job = context;
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (size_t i = 0; i < job->n; i++)
        sum += (uint64_t)bly_add_hash(job->filter, job->hashes[i]);
    return sum;
}

/* ---- Build ------------------------------------------------------------- */

static bool kinds_can(const char *kind, uint64_t ability)
{
    const bly_kind_info *info = bly_kind_find(kind);
    return info != NULL && (info->can & ability) != 0;
}

static bly_filter *kinds_new(const bench_case *of, int flags)
{
    bly_filter *filter;
    bly_spec want = { .capacity = of->keys, .rate = of->rate, .flags = flags };
    if (bly_new(&filter, of->subject, &want) < 0)
        bench_stop(of->subject, bly_why());
    return filter;
}

/* Measures a single-threaded build too, as the library uses the processors it
 * is given. */
static void kinds_build_alone(const bench_case *of, const uint64_t *hashes)
{
    bly_spec want = { .capacity = of->keys, .rate = of->rate };
    bly_filter *filter;
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&one);
    for (size_t i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    double start = bench_now();
    if (bly_build(&filter, of->subject, &want,
                  &(bly_keys){ .n = of->keys, .hashes = hashes }) < 0)
        bench_stop(of->subject, bly_why());
    table_add(of, "build 1", (bench_now() - start) / (double)of->keys);
    bly_free(filter);
    sched_setaffinity(0, sizeof all, &all);
}

static bly_filter *kinds_build_at_once(const bench_case *of)
{
    uint64_t *hashes = bench_allocate(of->keys * sizeof *hashes);
    bly_spec want = { .capacity = of->keys, .rate = of->rate };
    bly_filter *filter;
    for (uint64_t i = 0; i < of->keys; i++)
        hashes[i] = bench_hash(i);
    double start = bench_now();
    if (bly_build(&filter, of->subject, &want,
                  &(bly_keys){ .n = of->keys, .hashes = hashes }) < 0)
        bench_stop(of->subject, bly_why());
    table_add(of, "build", (bench_now() - start) / (double)of->keys);
    kinds_build_alone(of, hashes);
    free(hashes);
    return filter;
}

static bly_filter *kinds_build(const bench_case *of)
{
    if (!kinds_can(of->subject, BLY_CAN_ADD))
        return kinds_build_at_once(of);
    uint64_t *hashes = bench_allocate(KINDS_BATCH_LARGE * sizeof *hashes);
    double start = bench_now();
    bly_filter *filter = kinds_new(of, 0);
    double taken = bench_now() - start;
    for (uint64_t i = 0, n; i < of->keys; i += n) {
        n = of->keys - i < KINDS_BATCH_LARGE ? of->keys - i
                                             : KINDS_BATCH_LARGE;
        for (uint64_t j = 0; j < n; j++)
            hashes[j] = bench_hash(i + j);
        kinds_job job = { filter, hashes, (size_t)n, KINDS_BATCH_LARGE, 1 };
        taken += bench_time(kinds_add_batch, &job, 1);
    }
    table_add(of, "build", taken / (double)of->keys);
    free(hashes);
    return filter;
}

/* ---- Adds to an existing filter ---------------------------------------- */

/* With `threads` 0 it measures processor time of one thread, otherwise
 * wall-clock time. */
static double kinds_time(bench_work *work, kinds_job *job, unsigned threads)
{
    return threads == 0 ? bench_cost(work, job)
                        : bench_time(work, job, threads);
}

/* Measures once in a new filter whose pages have been touched. */
static void kinds_add_as(const bench_case *of, const bench_questions *q,
                         const char *what, bench_work *work, int flags,
                         unsigned threads)
{
    size_t n = kinds_least(q->n / 2, (size_t)(of->keys / 4));
    kinds_job job = { .filter = kinds_new(of, flags), .hashes = q->fresh,
                      .n = n / 4, .batch = KINDS_BATCH, .repeats = 1 };
    kinds_add_batch(&job, 0, 1);
    job.hashes += n / 4;
    job.n = n;
    table_add(of, what, kinds_time(work, &job, threads) / (double)n);
    bly_free(job.filter);
}

static void kinds_adds(const bench_case *of, const bench_questions *q,
                       unsigned threads)
{
    kinds_add_as(of, q, "add", kinds_add_batch, 0, 0);
    kinds_add_as(of, q, "add single", kinds_add_single, 0, 0);
    if (kinds_can(of->subject, BLY_CAN_SHARE)) {
        kinds_add_as(of, q, "add shared", kinds_add_batch, BLY_SHARED, 1);
        kinds_add_as(of, q, "add threads", kinds_add_batch, BLY_SHARED,
                     threads);
    }
}

/* ---- Lookups ----------------------------------------------------------- */

const unsigned bench_shares[3] = { 0, 50, 100 };

static void kinds_ask_as(const bench_case *of, const char *what,
                         unsigned share, bench_work *work, kinds_job job,
                         unsigned threads)
{
    char name[24];
    snprintf(name, sizeof name, "%s %u", what, share);
    table_add(of, name, kinds_time(work, &job, threads)
                        / ((double)job.n * job.repeats));
}

static void kinds_asks(const bench_case *of, bly_filter *filter,
                       const bench_questions *q, unsigned threads)
{
    bench_work *by_view = kinds_ask_inline(filter);
    for (size_t i = 0; i < 3; i++) {
        unsigned share = bench_shares[i];
        kinds_job job = { filter, q->hashes[i], q->n, KINDS_BATCH,
                          q->repeats };
        kinds_ask_as(of, "batch", share, kinds_ask_batch, job, 0);
        kinds_ask_as(of, "alone", share, kinds_ask_batch, job, 1);
        kinds_ask_as(of, "threads", share, kinds_ask_batch, job, threads);
        job.batch = KINDS_BATCH_LARGE;
        kinds_ask_as(of, "batch64k", share, kinds_ask_batch, job, 0);
        job.n = (q->n + 3) / 4;
        job.repeats = 1;
        kinds_ask_as(of, "single", share, kinds_ask_single, job, 0);
        if (by_view != NULL)
            kinds_ask_as(of, "inline", share, by_view, job, 0);
        kinds_ask_as(of, "key", share, kinds_ask_key, job, 0);
    }
}

/* ---- Removals ----------------------------------------------------------- */

typedef struct {
    bly_filter     *filter;
    const uint64_t *hashes;
    size_t          n;
    bly_status     *each;
    uint64_t       *counts;
} kinds_removal;

static uint64_t kinds_remove_batch(void *context, unsigned part, unsigned parts)
{
    const kinds_removal *job = context;
    (void)part, (void)parts;
    for (size_t i = 0, step; i < job->n; i += step) {
        step = kinds_least(KINDS_BATCH, job->n - i);
        bly_remove_hashes(job->filter, job->hashes + i, step, job->each + i);
    }
    return 0;
}

static uint64_t kinds_count_batch(void *context, unsigned part, unsigned parts)
{
    const kinds_removal *job = context;
    (void)part, (void)parts;
    for (size_t i = 0, step; i < job->n; i += step) {
        step = kinds_least(KINDS_BATCH, job->n - i);
        bly_count_hashes(job->filter, job->hashes + i, step, job->counts + i);
    }
    return job->counts[0];
}

/* Adds removed keys again, to a nearly full filter. */
static void kinds_readd(const bench_case *of, const kinds_removal *removal)
{
    uint64_t *gone = bench_allocate(removal->n * sizeof *gone);
    kinds_job job = { .filter = removal->filter, .hashes = gone,
                      .batch = KINDS_BATCH, .repeats = 1 };
    for (size_t i = 0; i < removal->n; i++)
        if (removal->each[i] == BLY_OK)
            gone[job.n++] = removal->hashes[i];
    if (bly_add_hash(removal->filter, gone[0]) >= 0) {
        bly_remove_hash(removal->filter, gone[0]);
        table_add(of, "add full", bench_cost(kinds_add_batch, &job)
                                  / (double)job.n);
    }
    free(gone);
}

/* On a copy of the full filter, counts some of its keys, removes them, and adds
 * them again. */
static void kinds_removes(const bench_case *of, const bly_filter *filter,
                          const bench_questions *q)
{
    if (!kinds_can(of->subject, BLY_CAN_REMOVE))
        return;
    kinds_removal job = { .hashes = q->hashes[2],
                          .n = kinds_least((q->n + 3) / 4,
                                           (size_t)(of->keys / 8) + 1) };
    job.each = bench_allocate(job.n * sizeof *job.each);
    job.counts = bench_allocate(job.n * sizeof *job.counts);
    if (bly_copy(&job.filter, filter, NULL) < 0)
        bench_stop(of->subject, bly_why());
    if (kinds_can(of->subject, BLY_CAN_COUNT))
        table_add(of, "count", bench_cost(kinds_count_batch, &job)
                               / (double)job.n);
    table_add(of, "remove", bench_cost(kinds_remove_batch, &job)
                            / (double)job.n);
    kinds_readd(of, &job);
    bly_free(job.filter);
    free(job.each);
    free(job.counts);
}

/* ---- Facts ------------------------------------------------------------- */

static void kinds_facts(const bench_case *of, const bly_filter *filter,
                        const bly_plan_t *planned)
{
    uint64_t hashes[KINDS_BATCH], found = 0, asked = 0;
    bool answers[KINDS_BATCH];
    for (; asked < KINDS_RATE_ASKED; asked += KINDS_BATCH) {
        for (size_t j = 0; j < KINDS_BATCH; j++)
            hashes[j] = bench_hash((UINT64_C(1) << 48) + asked + j);
        bly_contains_hashes(filter, hashes, KINDS_BATCH, answers);
        for (size_t j = 0; j < KINDS_BATCH; j++)
            found += answers[j];
    }
    table_add(of, "rate", (double)found / (double)asked);
    table_add(of, "lines present", planned->lines_present);
    table_add(of, "lines absent", planned->lines_absent);
}

/* No kind may lose a key, however fast, unless it forgets by design. */
static void kinds_verify(const bench_case *of, const bly_filter *filter,
                         const bench_questions *q)
{
    bool answers[KINDS_BATCH];
    if (kinds_can(of->subject, BLY_CAN_FORGET))
        return;
    for (size_t i = 0, step; i < q->n; i += step) {
        step = kinds_least(KINDS_BATCH, q->n - i);
        bly_contains_hashes(filter, q->hashes[2] + i, step, answers);
        for (size_t j = 0; j < step; j++)
            if (!answers[j])
                bench_stop(of->subject, "a key that was added is not found");
    }
}

static void kinds_one(const bench_plan *plan, size_t k, uint64_t keys,
                      double rate, const bench_questions *q)
{
    bly_plan_t planned;
    bly_spec want = { .capacity = keys, .rate = rate };
    if (bly_plan(&planned, plan->kinds[k], &want) < 0)
        bench_stop(plan->kinds[k], bly_why());
    bench_case of = { plan->kinds[k], keys, rate, planned.bytes };
    limits_again(&of, plan, q);
    bly_filter *filter = kinds_build(&of);
    if (kinds_filter[k] == NULL) {
        kinds_filter[k] = filter;
        kinds_facts(&of, filter, &planned);
        kinds_verify(&of, filter, q);
    } else {
        bly_free(filter);
    }
    kinds_asks(&of, kinds_filter[k], q, plan->threads);
    if (kinds_can(of.subject, BLY_CAN_ADD))
        kinds_adds(&of, q, plan->threads);
    kinds_removes(&of, kinds_filter[k], q);
}

void kinds_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round)
{
    for (size_t i = 0; i < plan->kind_count; i++)
        kinds_one(plan, (i + round) % plan->kind_count, keys, rate, questions);
}

void kinds_free(void)
{
    for (size_t i = 0; i < BENCH_LIST_MAX; i++) {
        bly_free(kinds_filter[i]);
        kinds_filter[i] = NULL;
    }
}
