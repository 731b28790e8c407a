/* model.c - every kind, run by thousands of random programs beside an exact
 * set (fuzz/model.h), and a planted fault that this must find.
 *
 * The programs are drawn with a fixed seed, by the kind's name, so a failure
 * repeats whatever kinds there are beside it; it is printed as hex, ready to be
 * kept in fuzz/corpus.
 */
#include "test.h"

#include <xxhash.h>

#include "model.h"

enum {
    PROGRAMS = 1000,            /* of each kind                              */
    PROGRAMS_PLANTED = 150,
    PROGRAMS_LEAST = 40,
    PROGRAM_LONGEST = 400       /* bytes                                     */
};

/* Sanitizers make it several times slower. */
enum { DIVIDE = TEST_SANITIZED ? 5 : 1 };

/* Where the programs of a kind begin. */
static uint64_t stream_of(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static size_t draw_program(uint8_t *program, uint64_t stream, size_t kind)
{
    size_t n = 16 + test_random(stream, 0) % (PROGRAM_LONGEST - 16);
    for (size_t i = 0; i < n; i++)
        program[i] = (uint8_t)(test_random(stream, i + 1) >> 32);
    program[0] = (uint8_t)kind;
    return n;
}

static void print_program(const uint8_t *program, size_t n)
{
    fprintf(stderr, "# the program that failed\n");
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%02x%s", program[i],
                i % 32 == 31 || i == n - 1 ? "\n" : "");
}

static void run_clean(size_t kind, const char *name)
{
    uint8_t program[PROGRAM_LONGEST];
    model_report report;
    uint64_t ran = 0, steps = 0;
    uint64_t programs = test_work(PROGRAMS, PROGRAMS / 20, PROGRAMS / 32)
                      / DIVIDE;
    programs = programs < PROGRAMS_LEAST ? PROGRAMS_LEAST : programs;
    for (uint64_t i = 0; i < programs; i++) {
        size_t n = draw_program(program, stream_of(name) + i, kind);
        /* saving flushes to the disk, and building plans anew: now and then */
        unsigned flags = (i % 32 == 0 ? MODEL_FILES : 0)
                       | (i % 8 == 1 ? MODEL_BUILD : 0);
        if (!model_run(program, n, flags, &report)) {
            print_program(program, n);
            fail_msg("%s", report.first);
        }
        ran += report.steps > 0;
        steps += report.steps;
    }
    print_message("%s: %llu programs, %llu steps\n", name,
                  (unsigned long long)ran, (unsigned long long)steps);
    assert_true(ran > programs / 3);
}

static void run_planted(size_t kind, const char *name)
{
    uint8_t program[PROGRAM_LONGEST];
    model_report report;
    uint64_t planted = 0;
    uint64_t programs = test_work(PROGRAMS_PLANTED, PROGRAMS_PLANTED / 12,
                                  PROGRAMS_LEAST);
    for (uint64_t i = 0; i < programs; i++) {
        size_t n = draw_program(program, stream_of(name) - 1 - i, kind);
        bool clean = model_run(program, n, MODEL_PLANT, &report);
        planted += report.planted;
        if (report.planted ? report.lost == 0 : !clean) {
            print_program(program, n);
            fail_msg("%s: %s", report.kind, report.planted
                     ? "a planted fault was not found" : report.first);
        }
    }
    print_message("%s: %llu planted faults, all found\n", name,
                  (unsigned long long)planted);
    assert_true(planted > programs / 8);
}

static void test_programs(void **state)
{
    (void)state;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        run_clean(i, kinds[i]->name);
}

/* A kind that forgets may lose any key: no fault can be planted. */
static bool forgets(const bly_kind_info *kind)
{
    return (kind->can & BLY_CAN_FORGET) != 0;
}

static void test_planted_faults_are_found(void **state)
{
    (void)state;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (!forgets(kinds[i]))
            run_planted(i, kinds[i]->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
