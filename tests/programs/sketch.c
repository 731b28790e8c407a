/* sketch.c - parts of `sketch` and `diff` that files of lines cannot reach:
 * patterned sets of hashes, and running out of memory.
 */
#define _XOPEN_SOURCE 700               /* setrlimit() */

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bloomery/sketch/sketches.h"

/* ==== Hashes ============================================================ */

/* Returns the longest run of taken slots, which a lookup may have to pass. */
static size_t hashes_longest(const sketch_hashes *set)
{
    size_t longest = 0, row = 0;

    for (size_t i = 0; i < set->room; i++) {
        row = set->slots[i] != 0 ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    return longest;
}

/* Integers that end in zeros, as `decimal` and `identity` return them. */
static void hashes_spread_patterns(void **state)
{
    enum { KEYS = 20000 };
    (void)state;

    for (unsigned zeros = 0; zeros <= 49; zeros++) {
        sketch_hashes set;

        assert_int_equal(hashes_open(&set), CLI_GO);
        for (uint64_t i = 1; i <= KEYS; i++) {
            assert_true(hashes_room(&set, 1));
            assert_true(hashes_add(&set, i << zeros));
            assert_false(hashes_add(&set, i << zeros));
        }
        for (uint64_t i = 1; i <= KEYS; i++)
            assert_true(hashes_has(&set, i << zeros));
        assert_true(set.used == KEYS);
        assert_true(set.room == (size_t)1 << (64 - set.shift));
        if (hashes_longest(&set) > KEYS / 10)
            fail_msg("%u zeros: a row of %zu", zeros, hashes_longest(&set));
        hashes_free(&set);
    }
}

static void hashes_hold_zero(void **state)
{
    sketch_hashes set;
    (void)state;

    assert_int_equal(hashes_open(&set), CLI_GO);
    assert_false(hashes_has(&set, 0));
    assert_true(hashes_room(&set, 1));
    assert_true(hashes_add(&set, 0));
    assert_false(hashes_add(&set, 0));
    assert_true(hashes_has(&set, 0));
    assert_false(hashes_has(&set, 1));
    hashes_free(&set);
}

/* ==== Again ============================================================= */

/* Returns the process's pages, or 0 if unknown. */
static size_t reread_pages(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages;
}

/* Memory suffices for the files of 2^20 operands, but not for their names. */
static void reread_closes_what_it_opened(void **state)
{
    static const size_t many = (size_t)1 << 20;
    size_t bytes = reread_pages() * (size_t)sysconf(_SC_PAGESIZE);
    cli_operands operands = { NULL, many };
    struct rlimit before, tight;
    sketch_reread reread;
    (void)state;

    if (TEST_SANITIZED || bytes == 0)
        skip();
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = bytes + 20 * many;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    int status = reread_open(&reread, &operands, 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, CLI_ERROR);
    assert_non_null(reread.files);
    reread_close(&reread);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        assert_true(fcntl(fd, F_GETFD) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_spread_patterns),
        cmocka_unit_test(hashes_hold_zero),
        cmocka_unit_test(reread_closes_what_it_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
