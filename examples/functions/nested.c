/* nested.c - blocks domains and all that lies within them.
 */
#include <bloomery.h>
#include <bloomery/nested.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bly_key make(uint64_t form, const char *text)
{
    bly_key key = { NULL, 0 };
    /* example */
    bly_value value = { .type = BLY_TEXT, .data = text,
                        .length = strlen(text) };
    void *room = malloc(bly_form_room(form, value.length));
    if (!bly_form_nests(form) || room == NULL ||
        bly_nested_key(&key, form, &value, room) < 0)
        errx(1, "%s", bly_why());
    printf("%s has level %u\n", text, bly_nested_level(form, key));
    /* end */
    return key;
}

static void add(bly_filter *f, bly_key key)
{
    /* example */
    size_t done;
    if (bly_nested_add(f, bly_form_of(f), &key, 1, &done) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (done != 1)
        errx(1, "nothing was added");
}

static uint16_t find(const bly_filter *f, bly_key key)
{
    /* example */
    uint64_t form = bly_form_of(f);
    uint16_t found;
    char room[BLY_NESTED_TEXT];
    bly_nested_find(f, form, &key, 1, &found);
    if (found != BLY_NESTED_NONE) {
        bly_key entry = bly_nested_entry(form, key, found, room);
        printf("blocked by %.*s\n", (int)entry.length,
               (const char *)entry.data);
    }
    /* end */
    return found;
}

static void mark(const bly_filter *f, unsigned level)
{
    /* example */
    unsigned char room[2];
    bly_key marker = bly_nested_marker(room, level);
    if (!bly_contains(f, marker.data, marker.length))
        printf("no entry has %u labels\n", level);
    /* end */
}

int main(void)
{
    bly_filter *f;
    if (bly_new(&f, "standard", &(bly_spec){ .capacity = 1000, .rate = 1e-6,
                                             .form = BLY_KEYS_DOMAIN }) < 0)
        errx(1, "%s", bly_why());
    bly_key entry = make(bly_form_of(f), "example.com");
    bly_key inner = make(bly_form_of(f), "Ads.Example.COM.");
    bly_key other = make(bly_form_of(f), "badexample.com");
    add(f, entry);
    mark(f, 3);
    if (find(f, inner) != 2 || find(f, other) != BLY_NESTED_NONE)
        errx(1, "wrong answers");
    free((void *)entry.data);
    free((void *)inner.data);
    free((void *)other.data);
    bly_free(f);
}
