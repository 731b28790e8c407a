/* fuzz_pack.c - a packed filter with changed or missing bytes is refused; with
 * repaired checksums, it unpacks to something safe (check.h). Unchanged, it
 * unpacks to the original.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "check.h"
#include "forge.h"

/* Returns whether it unpacks to the packed filter. */
static const char *pack_back(const uint8_t *packed, size_t bytes)
{
    bly_filter *filter = NULL;
    size_t room, again;
    if (bly_unpack(&filter, packed, bytes, NULL) != BLY_OK)
        return "what was packed is refused";
    bly_image(filter, &room);
    uint8_t *other = malloc(room);
    bool same = other != NULL
             && bly_pack(filter, other, room, &again) == BLY_OK
             && again == bytes && memcmp(other, packed, bytes) == 0;
    bool lost = other != NULL && !same;
    free(other);
    bly_free(filter);
    return lost ? "what was unpacked packs to something else" : NULL;
}

static const char *pack_changed(const uint8_t *changed, size_t n)
{
    bly_filter *filter = NULL;
    bly_status status = bly_unpack(&filter, changed, n, NULL);
    bly_free(filter);
    return status >= 0 ? "what was changed on the way is unpacked" : NULL;
}

const char *fuzz_pack(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    size_t whole;
    uint8_t *packed = target_image(&in, true, &whole);
    uint8_t *changed = packed != NULL ? malloc(whole) : NULL;
    const char *found = NULL;
    if (changed != NULL) {
        size_t cut = (size_t)target_take(&in, 2) % whole;
        size_t left = cut % 4 == 3 ? cut : whole;
        memcpy(changed, packed, whole);
        target_edit(&in, changed, whole, 64);
        found = pack_back(packed, whole);
        if (found == NULL
            && (left != whole || memcmp(changed, packed, whole) != 0))
            found = pack_changed(changed, left);
        if (left >= FORGE_HEADER)
            forge_mend(changed, left);
        if (found == NULL)
            found = check_mended(changed, left);
    }
    free(changed);
    free(packed);
    target_did.images++;
    return found;
}
