/* fuzz_model.c - any bytes are a program (model.h), with files. A failing one
 * is shrunk and printed; libFuzzer keeps the original.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "shrink.h"

enum { FUZZ_MODEL_FLAGS = MODEL_FILES | MODEL_BUILD };

static void tell_shrunk(const uint8_t *bytes, size_t n, model_report *report)
{
    uint8_t *program = malloc(n + 1);
    if (program == NULL)
        return;
    memcpy(program, bytes, n);
    n = shrink_program(program, n, FUZZ_MODEL_FLAGS, report);
    shrink_print(program, n, report);
    free(program);
}

const char *fuzz_model(const uint8_t *bytes, size_t n)
{
    static model_report report;
    if (!model_run(bytes, n, FUZZ_MODEL_FLAGS, &report)) {
        tell_shrunk(bytes, n, &report);
        return report.first;
    }
    target_did.programs++;
    target_did.operations += report.steps;
    target_did.answers += report.asked;
    return NULL;
}
