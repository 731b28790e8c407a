/* fuzz_check.c - libFuzzer's way into check.c: any bytes taken for an image.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *found = check_run(bytes, n, NULL);
    if (found != NULL) {
        fprintf(stderr, "%s\n", found);
        abort();
    }
    return 0;
}
