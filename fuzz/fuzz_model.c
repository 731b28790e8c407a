/* fuzz_model.c - libFuzzer's way into model.c: any bytes are a program.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    model_report report;
    if (!model_run(bytes, n, 0, &report)) {
        fprintf(stderr, "%s\n", report.first);
        abort();
    }
    return 0;
}
