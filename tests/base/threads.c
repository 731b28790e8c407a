/* threads.c - every part of a job is done exactly once. */
#include "base/threads.h"

#include "test.h"

typedef struct { unsigned done[THREADS_MAX], parts; } threads_seen;

static void threads_note(void *context, unsigned part, unsigned parts)
{
    threads_seen *seen = context;
    seen->done[part]++;
    if (part == 0)
        seen->parts = parts;
}

static void test_every_part_once(void **state)
{
    (void)state;
    for (unsigned parts = 1; parts <= THREADS_MAX; parts++) {
        threads_seen seen = { .parts = 0 };
        threads_run(threads_note, &seen, parts);
        assert_int_equal(seen.parts, parts);
        for (unsigned i = 0; i < THREADS_MAX; i++)
            assert_int_equal(seen.done[i], i < parts);
    }
}

static void test_count(void **state)
{
    (void)state;
    assert_in_range(threads_count(0), 1, THREADS_MAX);
    assert_int_equal(threads_count(1), 1);
    assert_int_equal(threads_count(7), 7);
    assert_int_equal(threads_count(UINT32_MAX), THREADS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_once),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
