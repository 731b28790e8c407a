/* model.c - runs every kind through thousands of random programs beside an
 * exact set (fuzz/model.h), and finds a planted fault.
 *
 * Programs are drawn with a fixed seed from the kind's name, so a failure
 * repeats whatever other kinds exist. It is shrunk and printed as hex, ready
 * for fuzz/corpus. BLY_TEST_SEED draws other programs (tools/check/soak).
 */
#include "test.h"

#include <xxhash.h>

#include "shrink.h"

enum {
    PROGRAMS = 1000,            /* for each kind                             */
    PROGRAMS_PLANTED = 150,
    PLANTED_LEAST = 12,
    PROGRAMS_LEAST = 40,
    PROGRAM_LONGEST = 400,      /* bytes                                     */
    PLANT = 22,                 /* the index of `plant` in model_ops         */
    PLANTS = 16                 /* more than the bytes of any one instruction */
};

/* Sanitizers make it several times slower. */
enum { DIVIDE = TEST_SANITIZED ? 5 : 1 };

/* Totals over all kinds. */
static uint64_t total_programs, total_steps, total_asked;

/* Returns where the programs of a kind begin. Seed 0 adds 0. */
static uint64_t stream_of(const char *name)
{
    return XXH3_64bits(name, strlen(name)) + test_random(0, test_seed());
}

static size_t draw_program(uint8_t *program, uint64_t stream, size_t kind)
{
    size_t n = 16 + test_random(stream, 0) % (PROGRAM_LONGEST - 16);
    for (size_t i = 0; i < n; i++)
        program[i] = (uint8_t)(test_random(stream, i + 1) >> 32);
    program[0] = (uint8_t)kind;
    return n;
}

/* Returns whether enough programs did their job. The share is known for seed 0;
 * for a drawn seed one program is enough. */
static bool enough(uint64_t did, uint64_t programs, uint64_t part)
{
    return did > (test_seed() == 0 ? programs / part : 0);
}

static void count_program(const model_report *report)
{
    total_programs += report->steps > 0;
    total_steps += report->steps;
    total_asked += report->asked;
}

static void run_clean(size_t kind, const char *name)
{
    uint8_t program[PROGRAM_LONGEST];
    model_report report;
    uint64_t ran = 0, steps = 0;
    uint64_t programs = test_work(PROGRAMS / DIVIDE, PROGRAMS_LEAST,
                                  PROGRAMS_LEAST / 2);
    for (uint64_t i = 0; i < programs; i++) {
        size_t n = draw_program(program, stream_of(name) + i, kind);
        /* files need system calls, and building needs plans: only sometimes */
        unsigned flags = (i % 8 == 0 ? MODEL_FILES : 0)
                       | (i % 8 == 1 ? MODEL_BUILD : 0);
        if (!model_run(program, n, flags, &report)) {
            n = shrink_program(program, n, flags, &report);
            shrink_print(program, n, &report);
            fail_msg("%s", report.first);
        }
        count_program(&report);
        ran += report.steps > 0;
        steps += report.steps;
    }
    print_message("%s: %llu programs, %llu steps\n", name,
                  (unsigned long long)ran, (unsigned long long)steps);
    assert_true(enough(ran, programs, 3));
}

/* Draws a program that ends in `plant`, repeated so that no instruction before
 * it can take all of them as operands. */
static size_t draw_planted(uint8_t *program, uint64_t stream, size_t kind)
{
    size_t n = draw_program(program, stream, kind);
    size_t plants = n - 8 < PLANTS ? n - 8 : PLANTS;
    memset(program + n - plants, PLANT, plants);
    return n;
}

static void run_planted(size_t kind, const char *name)
{
    uint8_t program[PROGRAM_LONGEST];
    model_report report;
    uint64_t planted = 0;
    uint64_t programs = test_work(PROGRAMS_PLANTED, PLANTED_LEAST,
                                  PLANTED_LEAST);
    for (uint64_t i = 0; i < programs; i++) {
        size_t n = draw_planted(program, stream_of(name) - 1 - i, kind);
        bool clean = model_run(program, n, MODEL_PLANT, &report);
        planted += report.planted;
        if (report.planted ? report.lost == 0 : !clean) {
            shrink_print(program, n, &report);
            fail_msg("%s: %s", report.kind, report.planted
                     ? "a planted fault was not found" : report.first);
        }
    }
    print_message("%s: %llu planted faults, all found\n", name,
                  (unsigned long long)planted);
    assert_true(enough(planted, programs, 8));
}

static void test_programs(void **state)
{
    (void)state;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        run_clean(i, kinds[i]->name);
}

/* Kinds that forget may lose any key, so no fault can be planted. */
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

/* Removes instruction i from a program; returns its length. */
static size_t leave_out(uint8_t *out, const uint8_t *program, size_t n,
                        const model_report *report, size_t i)
{
    size_t from = report->start[i], to = report->start[i + 1];
    memcpy(out, program, from);
    memcpy(out + from, program + to, n - to);
    return n - (to - from);
}

/* A shrunk program with a planted fault still finds it, and needs all of its
 * instructions. */
static void test_failures_shrink(void **state)
{
    (void)state;
    uint8_t program[PROGRAM_LONGEST], less[PROGRAM_LONGEST];
    model_report report, other;
    uint64_t shrunk = 0, steps = 0, left = 0;
    for (uint64_t i = 0; i < PROGRAMS_LEAST; i++) {
        size_t n = draw_planted(program, stream_of("shrink") + i, 0);
        if (model_run(program, n, MODEL_PLANT, &report))
            continue;
        steps += report.steps;
        n = shrink_program(program, n, MODEL_PLANT, &report);
        assert_false(model_run(program, n, MODEL_PLANT, &report));
        assert_true(report.planted && report.starts == report.steps + 1);
        for (size_t j = 0; j < report.steps; j++)
            assert_true(model_run(less, leave_out(less, program, n, &report, j),
                                  MODEL_PLANT, &other));
        left += report.steps;
        shrunk++;
    }
    print_message("%llu programs of %llu instructions shrink to %llu\n",
                  (unsigned long long)shrunk, (unsigned long long)steps,
                  (unsigned long long)left);
    assert_true(shrunk > 0 && left < steps / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_planted_faults_are_found),
        cmocka_unit_test(test_failures_shrink),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("total programs %llu\ntotal operations %llu\n"
                  "total answers %llu\n", (unsigned long long)total_programs,
                  (unsigned long long)total_steps,
                  (unsigned long long)total_asked);
    return failed;
}
