/* fuzz_sets.c - two forged filters with one plan: uniting, intersecting,
 * subtracting and comparing them leaves valid images, or both unchanged; and
 * listing ends.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/parts.h"
#include "bloomery/sketch.h"
#include "forge.h"

typedef bly_status sets_verb(bly_filter *into, const bly_filter *other);

static bly_status sets_unite_at(bly_filter *into, const bly_filter *other)
{
    return bly_unite_at(into, other, 1);
}

static bool sets_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

static bool sets_sound(const bly_filter *filter)
{
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    return bly_check(image, bytes, NULL) == BLY_OK;
}

/* Combines into a copy of `a`. A refused verb has changed nothing. */
static const char *sets_combine(const bly_filter *a, const bly_filter *b,
                                sets_verb *verb)
{
    bly_filter *into = NULL, *before = NULL;
    const char *found = NULL;
    if (bly_copy(&into, a, NULL) == BLY_OK
        && bly_copy(&before, a, NULL) == BLY_OK) {
        bool sound = sets_sound(before);
        bly_status status = verb(into, b);
        if (status < 0 && !sets_same(into, before))
            found = "a verb for sets was refused and changed the filter";
        else if (sound && !sets_sound(into))
            found = "two filters were combined to an image that is not sound";
    }
    bly_free(into);
    bly_free(before);
    return found;
}

/* ---- Lists ------------------------------------------------------------- */

/* A forged payload may list anything, but must end. */
enum { SETS_LISTED = 1 << 20 };

typedef struct {
    uint64_t seen;
    bool     sound;
} sets_list;

static bool sets_key(void *context, const bly_listed *one)
{
    sets_list *list = context;
    list->sound &= (one->side == 1 || one->side == -1)
                && (one->key != NULL || one->length == 0);
    return list->seen++ < SETS_LISTED;
}

static bool sets_fingerprint(void *context, uint64_t hash, unsigned bits,
                             uint64_t count)
{
    sets_list *list = context;
    (void)hash;
    list->sound &= bits <= 64 && count > 0;
    return list->seen++ < SETS_LISTED;
}

static const char *sets_lists(const bly_filter *filter)
{
    sets_list keys = { .sound = true }, prints = { .sound = true };
    (void)bly_list_keys(filter, sets_key, &keys);
    (void)bly_list_fingerprints(filter, sets_fingerprint, &prints);
    if (!keys.sound || keys.seen > SETS_LISTED)
        return "a key is listed that cannot be there";
    return !prints.sound || prints.seen > SETS_LISTED
         ? "a fingerprint is listed that cannot be there" : NULL;
}

/* A key's place lies in the image. */
static const char *sets_places(const bly_filter *filter)
{
    const uint64_t hashes[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63 };
    uint64_t places[4];
    size_t part, bytes;
    bly_raw(filter, &bytes);
    if (bly_places(filter, hashes, 4, places, &part) != BLY_OK)
        return NULL;
    for (size_t i = 0; i < 4; i++)
        if (part > bytes || places[i] > bytes - part)
            return "a key's place is not in the image";
    return NULL;
}

static const char *sets_pair(const bly_filter *a, const bly_filter *b)
{
    static sets_verb *const verbs[] = {
        bly_unite, bly_intersect, bly_subtract, sets_unite_at,
    };
    const char *found = sets_lists(a);
    bly_overlap_t overlap;
    for (size_t i = 0; i < 4 && found == NULL; i++)
        found = sets_combine(a, b, verbs[i]);
    if (found == NULL)
        found = sets_places(a);
    if (found == NULL && bly_overlap(&overlap, a, b) == BLY_OK
        && !(overlap.either.value >= 0 && overlap.differ.value >= 0))
        found = "an estimate is negative or no number";
    return found;
}

/* Draws a forged image, and another with the same plan. */
const char *fuzz_sets(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    size_t whole;
    uint8_t *image = target_image(&in, false, &whole);
    uint8_t *other = image != NULL ? malloc(whole) : NULL;
    bly_filter *a = NULL, *b = NULL;
    const char *found = NULL;
    if (other != NULL) {
        target_edit(&in, image, whole, 1 + (size_t)target_take(&in, 1) % 8);
        memcpy(other, image, whole);
        target_edit(&in, other, whole, 64);
        forge_mend(image, whole);
        forge_mend(other, whole);
        if (bly_wrap(&a, image, whole, NULL) == BLY_OK
            && bly_wrap(&b, other, whole, NULL) == BLY_OK)
            found = sets_pair(a, b);
    }
    bly_free(a);
    bly_free(b);
    free(image);
    free(other);
    target_did.images += 2;
    return found;
}
