/* threads.c - the concurrency that the header promises, for every kind that
 * supports it: nothing is lost, and the thread sanitizer (tools/check/run) sees
 * no race.
 */
#include "test.h"
#include "views.h"

#include <pthread.h>

#include "verbs/registry.h"

enum {
    THREADS = 4,
    EACH = 4000,                /* keys that a thread adds                   */
    MANY = 60000                /* enough for a build to be shared out       */
};

/* A thread's job. */
typedef struct {
    bly_filter *filter;
    const char *kind;
    uint64_t    thread, wrong;
} threads_job;

/* Runs THREADS threads that differ only in their number; returns the number of
 * errors. */
static uint64_t threads_all(void *(*work)(void *), bly_filter *filter,
                            const char *kind)
{
    pthread_t ids[THREADS];
    threads_job jobs[THREADS];
    uint64_t wrong = 0;
    for (uint64_t t = 0; t < THREADS; t++) {
        jobs[t] = (threads_job){ filter, kind, t, 0 };
        assert_int_equal(pthread_create(&ids[t], NULL, work, &jobs[t]), 0);
    }
    for (uint64_t t = 0; t < THREADS; t++) {
        pthread_join(ids[t], NULL);
        wrong += jobs[t].wrong;
    }
    return wrong;
}

/* Writes n hashes, from key number `from` on. */
static void threads_hashes(uint64_t *hashes, uint64_t from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(1, from + i);
}

/* ---- Adding and querying ----------------------------------------------- */

/* Half of a thread's keys are also its neighbour's. Every other key is added
 * alone, and all are looked up at once, also through a view if there is one. */
static void *threads_add(void *argument)
{
    threads_job *job = argument;
    enum { BATCH = 100 };
    uint64_t hashes[BATCH];
    bool found[BATCH];
    views_view view;
    bool viewed = views_plain.of(&view, job->filter);
    for (uint64_t i = 0; i < EACH; i += BATCH) {
        threads_hashes(hashes, job->thread * EACH / 2 + i, BATCH);
        job->wrong += bly_add_hashes(job->filter, hashes, BATCH / 2, NULL,
                                     NULL) < 0;
        for (uint64_t j = BATCH / 2; j < BATCH; j++)
            job->wrong += bly_add_hash(job->filter, hashes[j]) < 0;
        bly_contains_hashes(job->filter, hashes, BATCH, found);
        for (uint64_t j = 0; j < BATCH; j++)
            job->wrong += !found[j]
                       || !bly_contains_hash(job->filter, hashes[j])
                       || (viewed && !views_plain.contains(&view, hashes[j]));
    }
    return NULL;
}

static void test_shared_adds(void **state)
{
    (void)state;
    uint64_t kinds = 0;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        if (registry_kinds[i]->sharing == NULL)
            continue;
        bly_filter *filter = NULL;
        bly_spec spec = { .capacity = THREADS * EACH, .flags = BLY_SHARED };
        assert_status(bly_new(&filter, registry_kinds[i]->name, &spec),
                      BLY_OK);
        assert_int_equal(threads_all(threads_add, filter, NULL), 0);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.items, THREADS * EACH);
        bly_free(filter);
        kinds++;
    }
    assert_true(kinds > 0);
}

/* ---- Building ---------------------------------------------------------- */

/* Each thread builds its own filter, which itself uses threads. */
static void *threads_build(void *argument)
{
    threads_job *job = argument;
    bly_filter *filter = NULL;
    uint64_t *hashes = malloc(MANY * sizeof *hashes);
    if (hashes == NULL)
        return job->wrong++, NULL;
    threads_hashes(hashes, job->thread * MANY, MANY);
    job->wrong += bly_build(&filter, job->kind, NULL,
                            &(bly_keys){ .n = MANY, .hashes = hashes })
                  != BLY_OK;
    for (uint64_t i = 0; i < MANY && filter != NULL; i++)
        job->wrong += !bly_contains_hash(filter, hashes[i]);
    bly_free(filter);
    free(hashes);
    return NULL;
}

static void test_builds(void **state)
{
    (void)state;
    uint64_t kinds = 0;
    for (size_t i = 0; registry_kinds[i] != NULL; i++)
        if (registry_kinds[i]->add == NULL) {
            assert_int_equal(threads_all(threads_build, NULL,
                                         registry_kinds[i]->name), 0);
            kinds++;
        }
    assert_true(kinds > 0);
}

/* ---- Reading ----------------------------------------------------------- */

/* The first EACH keys are found. */
static void *threads_read(void *argument)
{
    threads_job *job = argument;
    bly_filter *copy = NULL;
    bly_info_t stat;
    for (uint64_t i = 0; i < EACH; i++)
        job->wrong += !bly_contains_hash(job->filter, test_random(1, i));
    job->wrong += bly_info(&stat, job->filter) != BLY_OK;
    job->wrong += bly_copy(&copy, job->filter, NULL) != BLY_OK;
    bly_free(copy);
    return NULL;
}

/* Uses as many keys as the exact kind holds. A kind that forgets is queried all
 * the same. */
static void test_reads(void **state)
{
    (void)state;
    uint64_t *hashes = malloc(EACH * sizeof *hashes);
    assert_non_null(hashes);
    threads_hashes(hashes, 0, EACH);
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        const bly_kind *kind = registry_kinds[i];
        bly_filter *filter = NULL;
        bly_status status = bly_build(&filter, kind->name, NULL,
                                      &(bly_keys){ .n = EACH,
                                                   .hashes = hashes });
        if (status == BLY_ETOOBIG)
            continue;
        assert_said(status, BLY_OK);
        uint64_t wrong = threads_all(threads_read, filter, NULL);
        assert_true(wrong == 0 || kind->forgets);
        bly_free(filter);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_adds),
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_reads),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
