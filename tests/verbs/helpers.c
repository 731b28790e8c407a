/* helpers.c - the library's own threads: none if one thread is requested, none
 * that receives a signal, and no effect on the bytes.
 *
 * The linker redirects pthread_create, the library's calls included, to the
 * function here (CMakeLists.txt, --wrap).
 */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "verbs/each.h"

enum { KEYS = 300000 };

static atomic_uint helpers_started, helpers_open;

typedef struct { void *(*work)(void *); void *argument; } helpers_job;

/* Blockable signals that a program may use. */
static void *helpers_run(void *argument)
{
    helpers_job job = *(helpers_job *)argument;
    sigset_t blocked;
    free(argument);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP && sigismember(&blocked, s) == 0)
            atomic_fetch_add(&helpers_open, 1);
    return job.work(job.argument);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument)
{
    helpers_job *job = malloc(sizeof *job);
    if (job == NULL)
        return 1;
    *job = (helpers_job){ work, argument };
    atomic_fetch_add(&helpers_started, 1);
    return __real_pthread_create(thread, attributes, helpers_run, job);
}

/* Returns the number started since the last call; none received a signal. */
static unsigned helpers_count(const char *kind)
{
    each_true(kind, atomic_load(&helpers_open) == 0);
    return atomic_exchange(&helpers_started, 0);
}

/* ---- Builds ------------------------------------------------------------- */

static uint64_t helpers_hashes[KEYS];

static int helpers_setup(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < KEYS; i++)
        helpers_hashes[i] = test_random(51, i);
    return 0;
}

static bly_filter *helpers_build(const char *kind, uint32_t threads, size_t n)
{
    bly_spec spec = { .threads = threads };
    bly_filter *filter = NULL;
    each_status(kind, bly_build(&filter, kind, &spec,
                                &(bly_keys){ .n = n,
                                             .hashes = helpers_hashes }),
                BLY_OK);
    return filter;
}

static unsigned helpers_any;            /* threads, of all kinds */

/* Builds by one thread, two and eight make the same bytes, so it suffices to
 * find all members in one. (Kinds built by adding skip their choices; with a
 * sanitizer they are built from fewer keys, by one thread in any case.) */
static void helpers_visit_build(const char *kind, const bly_kind_info *info)
{
    static const uint32_t threads[] = { 8, 2, 0 };
    static bool present[KEYS];
    if (strchr(kind, ':') != NULL && (each_adds(info) || TEST_SANITIZED))
        return;
    size_t n = (size_t)each_room(kind, each_adds(info) && TEST_SANITIZED
                                       ? KEYS / 10 : KEYS);
    helpers_count(kind);
    bly_filter *one = helpers_build(kind, 1, n);
    each_true(kind, helpers_count(kind) == 0);
    bly_contains_hashes(one, helpers_hashes, n, present);
    for (size_t i = 0; i < n && (info->can & BLY_CAN_FORGET) == 0; i++)
        each_true(kind, present[i]);
    for (size_t t = 0; t < test_work(3, 3, 1); t++) {
        bly_filter *many = helpers_build(kind, threads[t], n);
        unsigned started = helpers_count(kind);
        each_true(kind, each_same(one, many));
        helpers_any += started;
        bly_free(many);
    }
    each_true(kind, helpers_count(kind) == 0);
    bly_free(one);
}

static void test_builds(void **state)
{
    (void)state;
    helpers_any = 0;
    each_choice(helpers_visit_build);
    assert_true(helpers_any > 0);       /* or nothing was tested */
}

/* ---- Labels ------------------------------------------------------------- */

static void helpers_visit_labels(const char *kind, const bly_kind_info *info)
{
    static uint64_t labels[KEYS];
    bly_filter *filter[3] = { NULL };
    if ((info->can & (BLY_CAN_LABEL | BLY_CAN_SEPARATE)) == 0
        || (strchr(kind, ':') != NULL && TEST_SANITIZED))
        return;
    bly_spec spec = { .capacity = KEYS };
    bly_plan_t plan;
    each_status(kind, bly_plan(&plan, kind, &spec), BLY_OK);
    for (size_t i = 0; i < KEYS; i++)
        labels[i] = plan.label_bits > 0 && plan.label_most - plan.label_least
                    > 1 ? plan.label_least + i % 2 : i % 2;
    for (size_t t = 0; t < 3; t += test_work(1, 1, 2)) {
        spec = (bly_spec){ .threads = (uint32_t[]){ 1, 2, 8 }[t] };
        helpers_count(kind);
        each_status(kind, bly_build(&filter[t], kind, &spec,
                                    &(bly_keys){ .n = KEYS,
                                                 .hashes = helpers_hashes,
                                                 .labels = labels }), BLY_OK);
        each_true(kind, (t > 0) | (helpers_count(kind) == 0));
        each_true(kind, each_same(filter[0], filter[t]));
    }
    for (size_t t = 0; t < 3; t++)
        bly_free(filter[t]);
}

static void test_labels(void **state)
{
    (void)state;
    each_choice(helpers_visit_labels);
}

/* ---- Memory ------------------------------------------------------------- */

/* 128 MiB: the pages are made by several threads, or by this one. */
static unsigned helpers_big(uint32_t threads)
{
    bly_filter *filter = NULL, *other = NULL;
    bly_spec spec = { .threads = threads };
    bly_options options = { .threads = threads };
    assert_status(bly_new(&filter, "blocked:m=1073741824", &spec), BLY_OK);
    unsigned started = helpers_count("blocked");
    assert_status(bly_add_hash(filter, 1), BLY_OK);
    assert_status(bly_copy(&other, filter, &options), BLY_OK);
    bly_free(other);
    assert_status(bly_like(&other, filter, &options), BLY_OK);
    bly_free(other);
    started += helpers_count("blocked");
    bly_free(filter);
    return started;
}

static void test_big_images(void **state)
{
    (void)state;
    assert_int_equal(helpers_big(1), 0);
    assert_true(helpers_big(4) >= 3);
    (void)helpers_big(0);               /* one per processor */
}

/* The caller's signal mask does not change. */
static void test_callers_mask(void **state)
{
    (void)state;
    sigset_t wanted, is;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &wanted, NULL);
    bly_free(helpers_build("fuse", 4, KEYS));
    assert_true(helpers_count("fuse") > 0);
    pthread_sigmask(SIG_SETMASK, NULL, &is);
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&is, s), s == SIGUSR1);
    sigemptyset(&wanted);
    pthread_sigmask(SIG_SETMASK, &wanted, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_big_images),
        cmocka_unit_test(test_callers_mask),
    };
    return cmocka_run_group_tests_name("helpers", tests, helpers_setup, NULL);
}
