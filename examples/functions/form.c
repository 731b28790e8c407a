/* form.c - makes keys by the form of a filter.
 */
#include <bloomery.h>
#include <bloomery/form.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void state(bly_filter *f)
{
    /* example */
    uint64_t form;
    if (bly_form_read(&form, "text:case=lower,trim") < 0 ||
        bly_form_set(f, form) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

static void print(const bly_filter *f)
{
    /* example */
    char text[BLY_FORM_TEXT];
    printf("keys are %s\n", bly_form_write(text, bly_form_of(f)));
    /* end */
    if (strcmp(text, "text:case=lower,trim") != 0)
        errx(1, "the form is %s", text);
}

static bool add(bly_filter *f, const char *text)
{
    /* example */
    bly_value value = { .type = BLY_TEXT, .data = text,
                        .length = strlen(text) };
    uint64_t form = bly_form_of(f);
    void *room = malloc(bly_form_room(form, value.length));
    bly_key key;
    if (room == NULL || bly_form_key(&key, form, &value, room) < 0)
        errx(1, "%s", bly_why());
    bly_status status = bly_add(f, key.data, key.length);
    free(room);
    /* end */
    return status == BLY_OK;
}

static void compare(const bly_filter *a, const bly_filter *b)
{
    /* example */
    if (!bly_form_same(bly_form_of(a), bly_form_of(b)))
        errx(1, "the filters have keys of different forms");
    /* end */
}

static void check(void)
{
    /* example */
    uint64_t form = BLY_KEYS_TEXT | BLY_FORM_LOWER;
    if (bly_form_check(form) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

int main(void)
{
    bly_filter *f;
    if (bly_new(&f, "standard", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    state(f);
    print(f);
    if (!add(f, " Swordfish ") || !bly_contains(f, "swordfish", 9))
        errx(1, "another key was made");
    compare(f, f);
    check();
    bly_free(f);
}
