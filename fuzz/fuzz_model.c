/* fuzz_model.c - libFuzzer's way into model.c: any bytes are a program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shrink.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t programs, operations, answers;

static void tell_total(void)
{
    fprintf(stderr, "total programs %" PRIu64 "\ntotal operations %" PRIu64
            "\ntotal answers %" PRIu64 "\n", programs, operations, answers);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return atexit(tell_total);
}

/* libFuzzer keeps the program as it is; this prints what is left of it. */
static void tell_shrunk(const uint8_t *bytes, size_t n, model_report *report)
{
    uint8_t *program = malloc(n + 1);
    if (program == NULL)
        return;
    memcpy(program, bytes, n);
    n = shrink_program(program, n, 0, report);
    shrink_print(program, n, report);
    free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static model_report report;
    if (!model_run(bytes, n, 0, &report)) {
        fprintf(stderr, "%s\n", report.first);
        tell_shrunk(bytes, n, &report);
        abort();
    }
    programs++;
    operations += report.steps;
    answers += report.asked;
    return 0;
}
