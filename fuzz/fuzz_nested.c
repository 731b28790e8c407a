/* fuzz_nested.c - any bytes as the text of a domain, network or path are
 * refused, or make a key whose entries make the same keys again, each of its
 * level; and a filter of one entry finds the key through it.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery/nested.h"

/* Makes a key; data NULL: the text is none. */
static bly_key nested_make(uint64_t form, const void *text, size_t n)
{
    bly_value value = { .type = BLY_TEXT, .data = text, .length = n };
    size_t most = bly_form_room(form, n);
    void *room = malloc(most + 1);
    bly_key key = { NULL, 0 };
    if (room == NULL || bly_nested_key(&key, form, &value, room) != BLY_OK
        || key.data != room || key.length > most) {
        free(room);
        return (bly_key){ NULL, 0 };
    }
    return key;
}

/* Adds an entry to a filter, which must find the key. */
static const char *nested_through(uint64_t form, bly_key key, bly_key entry,
                                  unsigned level)
{
    bly_spec spec = { .capacity = 4, .rate = 1e-12, .form = form };
    const char *found = NULL;
    bly_filter *f;
    uint16_t at;
    if (bly_new(&f, "standard", &spec) != BLY_OK)
        return NULL;
    if (bly_nested_add(f, form, &entry, 1, NULL) == BLY_OK) {
        bly_nested_find(f, form, &key, 1, &at);
        found = at == level ? NULL : "a key is not found by its entry";
    }
    bly_free(f);
    return found;
}

static const char *nested_level(uint64_t form, bly_key key, unsigned level,
                                bool asks)
{
    char room[BLY_NESTED_TEXT];
    bly_key text = bly_nested_entry(form, key, level, room);
    const char *found = NULL;
    if (text.data == NULL)
        return NULL;
    bly_key entry = nested_make(form, text.data, text.length);
    if (entry.data == NULL)
        return "an entry is refused";
    if (bly_nested_level(form, entry) != level)
        found = "an entry has another level";
    else if (asks)
        found = nested_through(form, key, entry, level);
    free((void *)entry.data);
    return found;
}

const char *fuzz_nested(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    uint64_t form = BLY_KEYS_DOMAIN + target_take(&in, 1) % 3;
    unsigned asked = (unsigned)target_take(&in, 1);
    bly_key key = nested_make(form, in.at, target_left(&in));
    const char *found = NULL;
    if (key.data == NULL)
        return NULL;
    unsigned own = bly_nested_level(form, key);
    if (own >= BLY_NESTED_LEVELS)
        found = "a level is too high";
    for (unsigned i = 0; i <= own && found == NULL; i++)
        found = nested_level(form, key, i, i == own || i == asked % (own + 1));
    free((void *)key.data);
    return found;
}
