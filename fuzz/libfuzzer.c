/* libfuzzer.c - the entry point of libFuzzer for the target FUZZ_TARGET. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "targets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t inputs;

static void tell(const char *name, uint64_t n)
{
    if (n > 0)
        fprintf(stderr, "total %s %" PRIu64 "\n", name, n);
}

static void tell_totals(void)
{
    if (target_did.programs == 0 && target_did.images == 0)
        tell("inputs", inputs);
    tell("programs", target_did.programs);
    tell("operations", target_did.operations);
    tell("answers", target_did.answers);
    tell("images", target_did.images);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return atexit(tell_totals);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *found = FUZZ_TARGET(bytes, n);
    if (found != NULL) {
        fprintf(stderr, "%s\n", found);
        abort();
    }
    inputs++;
    return 0;
}
