/* fuzz_check.c - libFuzzer's way into check.c: any bytes taken for an image.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t images;

static void tell_total(void)
{
    fprintf(stderr, "total images %" PRIu64 "\n", images);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return atexit(tell_total);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *found = check_run(bytes, n, NULL);
    if (found != NULL) {
        fprintf(stderr, "%s\n", found);
        abort();
    }
    images++;
    return 0;
}
