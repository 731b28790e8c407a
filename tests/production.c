/* production.c - what services rely on (docs/library/c-production.md) and no
 * other test covers: forks, signals, descriptors, files that are cut short, and
 * messages of several threads.
 */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bloomery/paged.h"

#include "folder.h"

enum { PRODUCTION_KEYS = 1000, PRODUCTION_MANY = 300000 };

static bly_filter *production_filter(const char *kind, uint64_t n,
                                     uint32_t threads)
{
    bly_filter *filter;
    uint64_t *hashes = malloc(n * sizeof *hashes);
    bly_keys keys = { .n = n, .hashes = hashes };
    bly_spec spec = { .threads = threads };
    assert_non_null(hashes);
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = bly_mix64(i);
    assert_status(bly_build(&filter, kind, &spec, &keys), BLY_OK);
    free(hashes);
    return filter;
}

static bool production_holds(const bly_filter *filter, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!bly_contains_hash(filter, bly_mix64(i)))
            return false;
    return true;
}

/* Runs `work` in a child, and returns how it ended: its exit status, or 128 and
 * the signal. An alarm ends a child that hangs. */
static int production_child(int (*work)(void *), void *context)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(120);
        _exit(work(context));
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
}

/* ---- Forks -------------------------------------------------------------- */

static int production_change(void *context)
{
    bly_filter *filter = context;
    bool holds = production_holds(filter, PRODUCTION_KEYS);
    bool added = bly_add(filter, "child", 5) >= 0
              && bly_contains(filter, "child", 5);
    bly_free(filter);
    return holds && added ? 0 : 1;
}

static void test_child_has_a_copy_of_its_own(void **state)
{
    (void)state;
    bly_filter *filter = production_filter("cuckoo", PRODUCTION_KEYS, 0);
    assert_int_equal(production_child(production_change, filter), 0);
    assert_false(bly_contains(filter, "child", 5));
    assert_true(production_holds(filter, PRODUCTION_KEYS));
    bly_free(filter);
}

static int production_read(void *context)
{
    bly_filter *filter = context;
    bool holds = production_holds(filter, PRODUCTION_KEYS);
    bly_free(filter);
    return holds ? 0 : 1;
}

static void test_child_reads_a_mapped_file(void **state)
{
    (void)state;
    bly_filter *filter = production_filter("fuse", PRODUCTION_KEYS, 0);
    assert_status(bly_save(filter, "mapped.bly"), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&filter, "mapped.bly", BLY_MAP, NULL), BLY_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(production_child(production_read, filter), 0);
    assert_true(production_holds(filter, PRODUCTION_KEYS));
    bly_free(filter);
}

/* The threads of a build have ended when it returns, so nothing of them is left
 * in the child, which starts its own. */
static int production_build(void *context)
{
    const bly_filter *filter = context;
    size_t size, bytes;
    const void *image = bly_image(filter, &size);
    bly_filter *again = production_filter("fuse", PRODUCTION_MANY, 4);
    const void *other = bly_image(again, &bytes);
    bool same = size == bytes && memcmp(image, other, size) == 0;
    bly_free(again);
    return same ? 0 : 1;
}

static void test_child_builds_with_threads(void **state)
{
    (void)state;
    bly_filter *filter = production_filter("fuse", PRODUCTION_MANY, 4);
    assert_int_equal(production_child(production_build, filter), 0);
    bly_free(filter);
}

static bool production_done;

static void *production_work(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&production_done, __ATOMIC_ACQUIRE)) {
        bly_filter *filter = production_filter("cuckoo", PRODUCTION_KEYS, 1);
        assert_status(bly_save(filter, "working.bly"), BLY_OK);
        bly_free(filter);
    }
    return NULL;
}

static int production_own(void *context)
{
    bly_filter *own = production_filter("standard", PRODUCTION_KEYS, 1);
    bly_free(own);
    return production_read(context);
}

/* The child uses filters that no other thread was in a call with. */
static void test_fork_while_a_thread_works(void **state)
{
    (void)state;
    bly_filter *filter = production_filter("split", PRODUCTION_KEYS, 1);
    pthread_t worker;
    assert_int_equal(pthread_create(&worker, NULL, production_work, NULL), 0);
    for (uint64_t i = test_work(200, 40, 20); i > 0; i--)
        assert_int_equal(production_child(production_own, filter), 0);
    __atomic_store_n(&production_done, true, __ATOMIC_RELEASE);
    pthread_join(worker, NULL);
    bly_free(filter);
}

/* ---- Signals and descriptors --------------------------------------------- */

/* Opens, saves, maps and pages filters in the folder. */
static void production_use(bly_filter *kept[2])
{
    bly_filter *filter = production_filter("standard", PRODUCTION_KEYS, 2);
    bly_spec spec = { .capacity = PRODUCTION_KEYS };
    assert_status(bly_save(filter, "used.bly"), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&kept[0], "used.bly", BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    assert_true(bly_add(kept[0], "key", 3) >= 0);
    assert_status(bly_create(&kept[1], "paged.bly", "buffered", &spec), BLY_OK);
    assert_true(bly_add(kept[1], "key", 3) >= 0);
    assert_status(bly_sync(kept[1]), BLY_OK);
}

static void test_signals_are_left_alone(void **state)
{
    (void)state;
    struct sigaction before[32], after;
    sigset_t blocked, now;
    bly_filter *kept[2];
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &before[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    production_use(kept);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &after);
        assert_true(after.sa_handler == before[i].sa_handler);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&now, i), sigismember(&blocked, i));
    bly_free(kept[0]);
    bly_free(kept[1]);
}

static void test_programs_inherit_no_file(void **state)
{
    (void)state;
    enum { MOST = 256 };
    bool open_before[MOST];
    int opened = 0;
    bly_filter *kept[2];
    for (int fd = 0; fd < MOST; fd++)
        open_before[fd] = fcntl(fd, F_GETFD) >= 0;
    production_use(kept);
    for (int fd = 0; fd < MOST; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags < 0 || open_before[fd])
            continue;
        opened++;
        assert_true((flags & FD_CLOEXEC) != 0);
    }
    assert_true(opened >= 2);
    bly_free(kept[0]);
    bly_free(kept[1]);
}

/* ---- Files that are cut short ------------------------------------------- */

static int production_cut(void *context)
{
    int flags = *(int *)context;
    bly_filter *filter;
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGBUS, SIG_DFL);            /* and not cmocka's handler */
    if (bly_open(&filter, "cut.bly", flags, NULL) != BLY_OK
        || truncate("cut.bly", 100) != 0)
        return 1;
    bool holds = production_holds(filter, PRODUCTION_KEYS);
    bly_free(filter);
    return holds ? 0 : 2;
}

static void test_cut_file(void **state)
{
    (void)state;
    int flags[] = { 0, BLY_MAP };
    int ends[] = { 0, 128 + SIGBUS };
    if (TEST_SANITIZED)
        skip();                 /* sanitizers have handlers of their own */
    for (size_t i = 0; i < 2; i++) {
        bly_filter *filter = production_filter("standard", PRODUCTION_MANY, 0);
        assert_status(bly_save(filter, "cut.bly"), BLY_OK);
        bly_free(filter);
        assert_int_equal(production_child(production_cut, &flags[i]), ends[i]);
    }
}

/* ---- Messages ------------------------------------------------------------ */

static void *production_fail(void *unused)
{
    (void)unused;
    bool none = bly_why()[0] == '\0';
    bly_filter *filter;
    bly_status status = bly_open(&filter, "elsewhere.bly", 0, NULL);
    bool own = strstr(bly_why(), "elsewhere.bly") != NULL;
    return none && status == BLY_EIO && own ? "so it is" : NULL;
}

static void test_each_thread_has_its_message(void **state)
{
    (void)state;
    bly_filter *filter;
    pthread_t thread;
    void *right;
    assert_status(bly_open(&filter, "missing.bly", 0, NULL), BLY_EIO);
    assert_int_equal(pthread_create(&thread, NULL, production_fail, NULL), 0);
    pthread_join(thread, &right);
    assert_non_null(right);
    assert_non_null(strstr(bly_why(), "missing.bly"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_has_a_copy_of_its_own),
        cmocka_unit_test(test_child_reads_a_mapped_file),
        cmocka_unit_test(test_child_builds_with_threads),
        cmocka_unit_test(test_fork_while_a_thread_works),
        cmocka_unit_test(test_signals_are_left_alone),
        cmocka_unit_test(test_programs_inherit_no_file),
        cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_each_thread_has_its_message),
    };
    return cmocka_run_group_tests_name("production", tests, folder_enter,
                                       folder_leave);
}
