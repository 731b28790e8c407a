/* form.c - reads and writes the names of key forms, and gets and sets the form
 * of a filter: <bloomery/form.h>.
 *
 * value.c makes keys by a form.
 */
#include "bloomery/form.h"

#include <string.h>

#include "base/status.h"
#include "verbs/handle.h"
#include "verbs/nested.h"

/* ---- Names -------------------------------------------------------------- */

static const char *const form_classes[] = {
#define FORM_CLASS(name, value, word, what) [value] = word,
    BLY_KEYS_MAP(FORM_CLASS)
#undef FORM_CLASS
};

/* The words for changes. `bits` is the value of the bit field `field`. */
typedef struct {
    const char *word;
    uint64_t    field, bits;
} form_change;

static const form_change form_changes[] = {
    { "case=lower", BLY_FORM_CASE,    BLY_FORM_LOWER },
    { "case=upper", BLY_FORM_CASE,    BLY_FORM_UPPER },
    { "case=fold",  BLY_FORM_CASE,    BLY_FORM_FOLD },
    { "trim",       BLY_FORM_TRIM,    BLY_FORM_TRIM },
    { "keep-cr",    BLY_FORM_KEEP_CR, BLY_FORM_KEEP_CR },
#define FORM_JOIN(name, value, word)                                           \
    { "join=" word, BLY_FORM_JOIN, BLY_JOIN_##name },
    BLY_JOIN_MAP(FORM_JOIN)
#undef FORM_JOIN
};

enum { FORM_CHANGES = sizeof form_changes / sizeof form_changes[0] };

static bool form_is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* Reads the next change, up to a comma or the end, and advances the text. */
static bool form_read_change(uint64_t *form, const char **text)
{
    size_t length = strcspn(*text, ",");
    for (size_t i = 0; i < FORM_CHANGES; i++) {
        const form_change *c = &form_changes[i];
        if (!form_is_word(c->word, *text, length) || (*form & c->field) != 0)
            continue;
        *form |= c->bits;
        *text += length;
        if (**text == '\0')
            return true;
        ++*text;
        return **text != '\0';
    }
    return false;
}

bly_status bly_form_read(uint64_t *out, const char *text)
{
    size_t length = strcspn(text, ":");
    uint64_t form = length == 0 ? BLY_KEYS_UNSTATED : BLY_KEYS_CLASSES;
    for (uint64_t i = 0; i < BLY_KEYS_CLASSES; i++)
        if (form_is_word(form_classes[i], text, length))
            form = i;
    const char *rest = text + length + (text[length] == ':');
    bool sound = form != BLY_KEYS_CLASSES
              && (text[length] == '\0' || *rest != '\0');
    while (sound && *rest != '\0')
        sound = form_read_change(&form, &rest);
    if (!sound || !image_is_form(form))
        return status_fail(BLY_EPARAM, "'%.40s' is not a form of keys: the "
                           "classes are" BLY_KEYS_WORDS "; text and utf16 may "
                           "have changes, such as text:case=lower,trim", text);
    *out = form;
    return BLY_OK;
}

char *bly_form_write(char text[BLY_FORM_TEXT], uint64_t form)
{
    uint64_t class = form & BLY_FORM_CLASS;
    char separator = ':';
    strcpy(text, class < BLY_KEYS_CLASSES ? form_classes[class] : "unknown");
    for (size_t i = 0; i < FORM_CHANGES; i++) {
        const form_change *c = &form_changes[i];
        if ((form & c->field) != c->bits)
            continue;
        size_t used = strlen(text);
        text[used] = separator;
        strcpy(text + used + 1, c->word);
        separator = ',';
    }
    return text;
}

bly_status bly_form_check(uint64_t form)
{
    if (image_is_form(form))
        return BLY_OK;
    return status_fail(BLY_EPARAM, "0x%llx is not a form of keys: use the "
                       "constants of <bloomery/form.h>, or bly_form_read to "
                       "read a text", (unsigned long long)form);
}

bool bly_form_same(uint64_t a, uint64_t b)
{
    a = a == BLY_KEYS_HEX ? BLY_KEYS_BYTES : a;
    b = b == BLY_KEYS_HEX ? BLY_KEYS_BYTES : b;
    return a == b && a != BLY_KEYS_UNSTATED;
}

bool bly_form_nests(uint64_t form)
{
    return form >= BLY_KEYS_DOMAIN && form <= BLY_KEYS_PATH;
}

bly_status form_labels_check(uint64_t form)
{
    return bly_form_nests(form)
         ? status_fail(BLY_EUNSUPPORTED, "keys that lie within others, such as "
                       "domains, have no labels: use another form of keys")
         : BLY_OK;
}

/* ---- Filters ------------------------------------------------------------- */

uint64_t bly_form_of(const bly_filter *filter)
{
    return image_u16(filter->image, IMAGE_FORM);
}

static bly_status form_can_set(const bly_filter *filter, uint64_t form)
{
    char has[BLY_FORM_TEXT], wanted[BLY_FORM_TEXT];
    bly_status status = bly_form_check(form);
    if (status == BLY_OK)
        status = handle_here(filter, "given the form of its keys");
    if (status != BLY_OK)
        return status;
    if (bly_form_of(filter) != BLY_KEYS_UNSTATED)
        return status_fail(BLY_EMISMATCH, "the filter's keys have the form %s, "
                           "not %s: build another filter for these",
                           bly_form_write(has, bly_form_of(filter)),
                           bly_form_write(wanted, form));
    if (bly_form_nests(form) && filter->items != 0)
        return status_fail(BLY_EPARAM, "the filter has keys, and may lack the "
                           "markers of the form %s: build another filter with "
                           "this form", bly_form_write(wanted, form));
    if (filter->kind->foreign != NULL)
        return status_fail(BLY_EUNSUPPORTED, "a file of %s cannot record the "
                           "form of its keys: build a filter of another kind",
                           filter->kind->name);
    if (filter->sharing != NULL)
        return status_fail(BLY_EPARAM, "the filter is shared among threads, so "
                           "its header cannot be changed: state the form when "
                           "it is made");
    return BLY_OK;
}

/* In a file open for writing, the header's checksum must stay valid. */
bly_status bly_form_set(bly_filter *filter, uint64_t form)
{
    if (form == bly_form_of(filter))
        return BLY_OK;
    bly_status status = form_can_set(filter, form);
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status != BLY_OK)
        return status;
    image_set_u16(filter->image, IMAGE_FORM, form);
    if (image_u64(filter->image, IMAGE_PAYLOAD_SUM) == 0)
        image_unseal(filter->image);
    return BLY_OK;
}
