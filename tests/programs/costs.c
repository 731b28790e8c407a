/* costs.c - the file of costs: it is read back as written, incomplete ones are
 * refused, and concurrent writers do not disturb each other. advise.sh tests
 * the use that `advise` makes of it; nothing is measured here.
 */
#include "test.h"
#include "bloomery/advice.h"

#include "filters/costs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COSTS_SOME_LINES = 3, COSTS_SOME_KINDS = 2, COSTS_POINTS = 7 };

/* A temporary folder for each test, and the path of the file in it. */
static char costs_folder[64], costs_file[128];

static int costs_set_up(void **state)
{
    (void)state;
    snprintf(costs_folder, sizeof costs_folder, "costs-test-XXXXXX");
    snprintf(costs_file, sizeof costs_file, "%s/a/b/costs",
             mkdtemp(costs_folder));
    return 0;
}

static int costs_tear_down(void **state)
{
    char inner[160];
    (void)state;
    unlink(costs_file);
    snprintf(inner, sizeof inner, "%s/a/b", costs_folder);
    chmod(inner, 0700);
    int left = rmdir(inner);            /* fails if a work file is left */
    snprintf(inner, sizeof inner, "%s/a", costs_folder);
    rmdir(inner);
    rmdir(costs_folder);
    return left != 0 && errno != ENOENT;
}

static costs_table costs_some(double ns)
{
    static const char *const names[] = { "split", "fuse:arity=4" };
    costs_table t = { .costs = { .lines = COSTS_SOME_LINES,
                                 .kinds = COSTS_SOME_KINDS } };
    for (size_t i = 0; i < COSTS_SOME_LINES; i++)
        t.line[i] = (bly_line_cost){ UINT64_C(1000) << 10 * i, ns + (double)i };
    for (size_t i = 0; i < COSTS_SOME_KINDS; i++) {
        snprintf(t.kind[i].kind, sizeof t.kind[i].kind, "%s", names[i]);
        for (size_t j = 0; j < COSTS_POINTS; j++)
            t.kind[i].at[j] = (bly_cost_point){ ns, ns + 1, ns + 2, ns + 3 };
    }
    return t;
}

static void costs_same(const costs_table *a, const costs_table *b)
{
    assert_int_equal(a->costs.lines, b->costs.lines);
    assert_int_equal(a->costs.kinds, b->costs.kinds);
    for (size_t i = 0; i < a->costs.lines; i++) {
        assert_true(a->line[i].bytes == b->line[i].bytes);
        assert_true(fabs(a->line[i].ns - b->line[i].ns) < 0.006);
    }
    for (size_t i = 0; i < a->costs.kinds; i++) {
        assert_string_equal(a->kind[i].kind, b->kind[i].kind);
        for (size_t j = 0; j < COSTS_POINTS; j++)
            assert_true(fabs(a->kind[i].at[j].add - b->kind[i].at[j].add)
                        < 0.006);
    }
}

/* The file is written together with its folders, read, and overwritten. */
static void test_round_trip(void **state)
{
    (void)state;
    static costs_table back;
    for (double ns = 1; ns < 1e6; ns *= 7.3) {
        costs_table t = costs_some(ns);
        assert_true(costs_writable(costs_file));
        assert_true(costs_write(&t, costs_file));
        assert_null(costs_read(&back, costs_file));
        costs_same(&t, &back);
        assert_ptr_equal(back.costs.line, back.lines);
        assert_ptr_equal(back.costs.kind, back.kinds);
    }
    assert_ptr_equal(costs_read(&back, "no/such/file"), costs_missing);
}

static size_t costs_bytes(char *text, size_t room)
{
    FILE *file = fopen(costs_file, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, room, file);
    fclose(file);
    return n;
}

static void costs_put(const char *text, size_t n)
{
    FILE *file = fopen(costs_file, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Truncated files are refused; one with a changed byte is refused or still
 * usable. */
static void test_damage(void **state)
{
    (void)state;
    static costs_table t;
    char text[4096], other[4096];
    t = costs_some(12.5);
    assert_true(costs_write(&t, costs_file));
    size_t n = costs_bytes(text, sizeof text);
    size_t step = test_work(1, 3, 11);
    for (size_t i = 0; i < n; i += step) {
        costs_put(text, i);
        assert_non_null(costs_read(&t, costs_file));
    }
    for (size_t i = 0; i < n; i += step)
        for (const char *c = "0-9 en.\n\xff"; *c != '\0'; c++) {
            bly_ranking *all;
            memcpy(other, text, n);
            other[i] = *c;
            costs_put(other, n);
            if (costs_read(&t, costs_file) != NULL)
                continue;
            bly_need need = { .capacity = 1000, .costs = &t.costs };
            assert_int_equal(bly_advise(&all, &need), BLY_OK);
            assert_true(bly_ranking_at(all, 0)->fits
                        && isfinite(bly_ranking_at(all, 0)->score));
            bly_ranking_free(all);
        }
}

/* Invalid rows. */
static void test_hostile(void **state)
{
    (void)state;
    static costs_table t;
    char text[65536];
    const char head[] = "bloomery costs 2 of " BLY_VERSION "\n";
    static const char *const rows[] = {
        "", "line 1 1\n", "line 0 1\nline 2 2\n", "line 1 1\nline 1 2\n",
        "line 1 1\nline 2 nan\n", "line 1 1\nline 2 1e7\n",
        "line 1 1\nline 2 2 2\n", "line 1 1\nline 2 -1\n",
        "line 1 1\nline 2 2\nkind x\n", "line 1 1\nline 2 2\n\n",
        "line 1 1\nline 2 2\nend\n",
        ("line 1 1\nline 2 2\n"
         "kind a-name-of-more-than-forty-seven-characters-which-is-none 1\n"),
    };
    costs_writable(costs_file);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = snprintf(text, sizeof text, "%s%send\n", head, rows[i]);
        costs_put(text, (size_t)n);
        assert_non_null(costs_read(&t, costs_file));
    }
    /* More rows than fit, and one without an end. */
    size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int i = 1; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "line %d 1\n", i);
    costs_put(text, n);
    assert_string_equal(costs_read(&t, costs_file), "is damaged");
    assert_true(t.costs.lines <= COSTS_LINES);
    memset(text, 'k', sizeof text);
    memcpy(text, head, sizeof head - 1);
    costs_put(text, sizeof text);
    assert_string_equal(costs_read(&t, costs_file), "is damaged");
}

/* Neither a pipe in its place nor a folder blocks. */
static void test_no_file(void **state)
{
    (void)state;
    static costs_table t;
    assert_true(costs_writable(costs_file));
    assert_int_equal(mkfifo(costs_file, 0600), 0);
    assert_string_equal(costs_read(&t, costs_file), "cannot be read");
    assert_string_equal(costs_read(&t, costs_folder), "cannot be read");
}

/* If the new file cannot be written, the old one stays. */
static void test_unwritable(void **state)
{
    (void)state;
    static costs_table back;
    costs_table t = costs_some(3), other = costs_some(4);
    char inner[192];
    assert_true(costs_write(&t, costs_file));
    snprintf(inner, sizeof inner, "%s/bloomery/costs", costs_file);
    assert_false(costs_writable(inner));
    assert_false(costs_write(&other, inner));
    assert_int_equal(errno, ENOTDIR);
    snprintf(inner, sizeof inner, "%s/a/b", costs_folder);
    chmod(inner, 0500);
    if (geteuid() != 0) {               /* nothing is closed to root */
        assert_false(costs_writable(costs_file));
        assert_false(costs_write(&other, costs_file));
        assert_int_equal(errno, EACCES);
    }
    assert_null(costs_read(&back, costs_file));
    costs_same(&t, &back);
}

/* Several processes write and one reads: it always finds one writer's complete
 * table. */
static void test_concurrent(void **state)
{
    (void)state;
    enum { WRITERS = 4, ROUNDS = 50 };
    static costs_table back;
    costs_table first = costs_some(1);
    pid_t writers[WRITERS];
    assert_true(costs_write(&first, costs_file));
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w] == 0) {
            costs_table t = costs_some(w + 2);
            bool good = true;
            for (int i = 0; i < ROUNDS; i++)
                good = costs_write(&t, costs_file) && good;
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        assert_null(costs_read(&back, costs_file));
        costs_table whose = costs_some(back.line[0].ns);
        costs_same(&back, &whose);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = 1;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
}

static void costs_found(const char *cache, const char *home, const char *want)
{
    char path[COSTS_PATH];
    if (cache != NULL)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    if (home != NULL)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    assert_int_equal(costs_path(path, sizeof path), want != NULL);
    if (want != NULL)
        assert_string_equal(path, want);
}

static void test_path(void **state)
{
    (void)state;
    char longest[COSTS_PATH + 1] = "/";
    costs_found("/c", "/h", "/c/bloomery/costs");
    costs_found(NULL, "/h", "/h/.cache/bloomery/costs");
    costs_found("", "/h", "/h/.cache/bloomery/costs");
    costs_found("relative", "/h", "/h/.cache/bloomery/costs");
    costs_found("/c", NULL, "/c/bloomery/costs");
    costs_found(NULL, NULL, NULL);
    costs_found("relative", "", NULL);
    memset(longest, '/', COSTS_PATH);
    costs_found(longest, NULL, NULL);
}

#define COSTS_TEST(test)                                                      \
    cmocka_unit_test_setup_teardown(test, costs_set_up, costs_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COSTS_TEST(test_round_trip),
        COSTS_TEST(test_damage),
        COSTS_TEST(test_hostile),
        COSTS_TEST(test_no_file),
        COSTS_TEST(test_unwritable),
        COSTS_TEST(test_concurrent),
        cmocka_unit_test(test_path),
    };
    return cmocka_run_group_tests_name("costs", tests, NULL, NULL);
}
