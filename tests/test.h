/* test.h - cmocka and helpers that every test file includes.
 *
 * Statistics have fixed seeds and computed bands, never a magic 0.02: a
 * measured proportion must lie within TEST_SIGMAS standard deviations of the
 * predicted one. The variance is that of sampling plus that between filters.
 */
#ifndef BLY_TEST_H
#define BLY_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery.h"

#define TEST_SIGMAS 5.0

/* Set if a sanitizer watches memory or threads, which makes everything many
 * times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* Returns the amount of work that BLY_TEST_WORK selects: `full` is the default;
 * `usual` shortens only long repetitions; `paths` covers every case but repeats
 * it less, for the second compiler and the sanitizers. Bands are computed from
 * the counts. tools/check/run says which run uses which; tests/bloomery/lib.sh
 * has the same for scripts. */
static inline uint64_t test_work(uint64_t full, uint64_t usual, uint64_t paths)
{
    const char *work = getenv("BLY_TEST_WORK");
    if (work == NULL || strcmp(work, "full") == 0)
        return full;
    if (strcmp(work, "usual") == 0)
        return usual;
    if (strcmp(work, "paths") == 0)
        return paths;
    fprintf(stderr, "BLY_TEST_WORK is full, usual or paths, not %s\n", work);
    exit(2);
}

/* Returns whether this run does item i. With the arguments "PART PARTS" a
 * program does every PARTS-th item from PART (0 to PARTS - 1) on; without
 * arguments, all. CMakeLists.txt (parts_of_…) divides long programs into
 * several tests this way, to use all processors. */
static inline bool test_mine(int argc, char **argv, size_t i)
{
    if (argc < 3)
        return true;
    unsigned long long part = strtoull(argv[1], NULL, 10);
    unsigned long long parts = strtoull(argv[2], NULL, 10);
    if (part >= parts) {
        fprintf(stderr, "usage: %s [PART PARTS], PART below PARTS\n", argv[0]);
        exit(2);
    }
    return i % parts == part;
}

/* Calls cmocka_run_group_tests() for this run's share of n tests. */
static inline int test_run(int argc, char **argv,
                           const struct CMUnitTest *tests, size_t n)
{
    struct CMUnitTest mine[64];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!test_mine(argc, argv, i))
            continue;
        if (count == sizeof mine / sizeof *mine)
            exit(2);
        mine[count++] = tests[i];
    }
    return _cmocka_run_group_tests("tests", mine, count, NULL, NULL);
}

/* Returns the seed of the long random tests: BLY_TEST_SEED, which
 * tools/check/soak sets for each of its rounds, or 0. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("BLY_TEST_SEED");
    char *end;
    if (text == NULL)
        return 0;
    uint64_t seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0') {
        fprintf(stderr, "BLY_TEST_SEED is a number, not %s\n", text);
        exit(2);
    }
    return seed;
}

/* For tests that measure a statistic of code that other tests run too. */
#define TEST_STATISTICS()                                                      \
    do {                                                                       \
        if (!test_work(true, true, false))                                     \
            skip();                                                            \
    } while (0)

/* Returns pseudorandom number i of stream `stream`: a bijection of i. */
static inline uint64_t test_random(uint64_t stream, uint64_t i)
{
    uint64_t v = stream * UINT64_C(0xA0761D6478BD642F)
               + i * UINT64_C(0x9E3779B97F4A7C15);
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Returns whether `hits` of `asked` is likely for a chance `rate` that varies
 * between filters by `sd`. */
static inline bool test_within(double hits, double asked, double rate,
                               double sd)
{
    double spread = sqrt(rate * (1 - rate) / asked + sd * sd);
    /* half a hit of tolerance: hits are whole numbers */
    return fabs(hits / asked - rate) <= TEST_SIGMAS * spread + 0.5 / asked;
}

#define assert_within(hits, asked, rate, sd)                                   \
    do {                                                                       \
        if (!test_within((double)(hits), (double)(asked), (rate), (sd)))       \
            fail_msg("%g hits of %g are not a rate of %g (sd %g)",             \
                     (double)(hits), (double)(asked), (double)(rate),          \
                     (double)(sd));                                            \
    } while (0)

/* |a - b| <= tolerance * |b| */
#define assert_close(a, b, tolerance)                                          \
    do {                                                                       \
        double close_a = (a), close_b = (b);                                   \
        if (!(fabs(close_a - close_b) <= (tolerance) * fabs(close_b)))         \
            fail_msg("%.17g is not %.17g within %g", close_a, close_b,         \
                     (double)(tolerance));                                     \
    } while (0)

#define TEST_MARK "an-older-failure"

/* Leaves another error behind, so that a failure without a message is
 * noticed. */
static inline void test_mark(void)
{
    bly_plan_t plan;
    bly_plan(&plan, TEST_MARK, NULL);
}

/* Checks a status computed earlier. */
#define assert_said(got, wanted)                                               \
    do {                                                                       \
        bly_status status_got = (got);                                         \
        if (status_got != (wanted))                                            \
            fail_msg("status %d (%s), not %d", (int)status_got, bly_why(),     \
                     (int)(wanted));                                           \
    } while (0)

/* Calls and checks the status; an error must set a message of its own. */
#define assert_status(call, wanted)                                            \
    do {                                                                       \
        test_mark();                                                           \
        bly_status status_now = (call);                                        \
        assert_said(status_now, wanted);                                       \
        if (status_now < 0 && strstr(bly_why(), TEST_MARK) != NULL)            \
            fail_msg("status %d without a line", (int)status_now);             \
    } while (0)

#endif /* BLY_TEST_H */
