/* fuzz_forge.c - a filter, usually a compound one, forged anywhere, with
 * matching checksums at every depth (forge.h): if accepted, it is safe to use
 * (check.h).
 */
#include "targets.h"

#include <stdlib.h>

#include "check.h"
#include "forge.h"

const char *fuzz_forge(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    size_t whole;
    uint8_t *image = target_image(&in, false, &whole);
    if (image == NULL)
        return NULL;
    target_edit(&in, image, whole, 256);
    forge_mend(image, whole);
    const char *found = check_mended(image, whole);
    free(image);
    target_did.images++;
    return found;
}
