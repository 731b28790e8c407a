/* cmocka.h - the part of cmocka that our tests use, for WebAssembly. Without
 * longjmp the first failure ends the program (tools/check/cross).
 */
#ifndef BLY_BARE_CMOCKA_H
#define BLY_BARE_CMOCKA_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f) { #f, f }

/* Works in a test itself, not in functions it calls. */
#define skip() return

#define fail_msg(...)                                                          \
    do {                                                                       \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                        \
        fprintf(stderr, __VA_ARGS__);                                          \
        fputc('\n', stderr);                                                   \
        exit(1);                                                               \
    } while (0)

#define print_message printf

#define assert_true(a)                                                         \
    do {                                                                       \
        if (!(a))                                                              \
            fail_msg("%s", #a);                                                \
    } while (0)
#define assert_false(a)             assert_true(!(a))
#define assert_non_null(a)          assert_true((a) != NULL)
#define assert_null(a)              assert_true((a) == NULL)
#define assert_ptr_equal(a, b)                                                 \
    assert_true((const void *)(a) == (const void *)(b))

/* Both compare as 64 bits, like cmocka's own. */
#define bare_compare(a, relation, b)                                           \
    do {                                                                       \
        uint64_t bare_a = (uint64_t)(a), bare_b = (uint64_t)(b);               \
        if (!(bare_a relation bare_b))                                         \
            fail_msg("%s is %" PRIu64 ", %s is %" PRIu64, #a, bare_a, #b,      \
                     bare_b);                                                  \
    } while (0)
#define assert_int_equal(a, b)      bare_compare(a, ==, b)
#define assert_int_not_equal(a, b)  bare_compare(a, !=, b)
#define assert_in_range(a, from, to)                                           \
    do {                                                                       \
        bare_compare(a, >=, from);                                             \
        bare_compare(a, <=, to);                                               \
    } while (0)

#define assert_string_equal(a, b)   assert_true(strcmp(a, b) == 0)
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b) != 0)
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)

static inline int bare_run(const char *group, const struct CMUnitTest *tests,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(stderr, "%s: %s\n", group, tests[i].name);
        tests[i].run(NULL);
    }
    printf("%s: %zu ran, none failed\n", group, n);
    return 0;
}

#define _cmocka_run_group_tests(group, tests, n, before, after)                \
    bare_run(group, tests, n)
#define cmocka_run_group_tests_name(group, tests, before, after)               \
    bare_run(group, tests, sizeof (tests) / sizeof *(tests))
#define cmocka_run_group_tests(tests, before, after)                           \
    cmocka_run_group_tests_name(#tests, tests, before, after)

#endif /* BLY_BARE_CMOCKA_H */
