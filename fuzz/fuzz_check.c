/* fuzz_check.c - arbitrary bytes taken for an image (check.h). */
#include "targets.h"

#include "check.h"

const char *fuzz_check(const uint8_t *bytes, size_t n)
{
    target_did.images++;
    return check_run(bytes, n, NULL);
}
