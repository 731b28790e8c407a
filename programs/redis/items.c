/* items.c - converts the items of a command to keys in the filter's form. */
#include "redis/items.h"

#include <bloomery/nested.h>

#include <stdio.h>
#include <string.h>

/* ---- Errors -------------------------------------------------------------- */

static const char *const items_nouns[] = {
#define ITEMS_NOUN(name, value, word, noun) [value] = noun,
    BLY_KEYS_MAP(ITEMS_NOUN)
#undef ITEMS_NOUN
};

/* How to write keys of the classes that cannot hold every item. */
static const char *const items_advice[BLY_KEYS_CLASSES] = {
    [BLY_KEYS_TEXT] = "in UTF-8",
    [BLY_KEYS_NUMBER] = "in digits, such as 42 or -1.5",
    [BLY_KEYS_INT32] = "as a whole number in digits",
    [BLY_KEYS_INT64] = "as a whole number in digits",
    [BLY_KEYS_FLOAT] = "in digits, such as 42 or -1.5",
    [BLY_KEYS_DOUBLE] = "in digits, such as 42 or -1.5",
    [BLY_KEYS_UTF16] = "in UTF-8",
    [BLY_KEYS_HEX] = "with two hexadecimal digits for each byte",
};

enum { ITEMS_SHOWN = 40, ITEMS_ESCAPED = 4 };

/* Writes the first bytes of an item. An error reply is one line, so bytes that
 * are not printable ASCII are escaped. */
static void items_show(char to[ITEMS_ESCAPED * ITEMS_SHOWN + 4], bly_key item)
{
    const unsigned char *text = item.data;
    size_t n = item.length < ITEMS_SHOWN ? item.length : ITEMS_SHOWN;
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, text[i] >= ' ' && text[i] < 0x7f ? "%c" : "\\x%02x",
                      text[i]);
    strcpy(to, n < item.length ? "..." : "");
}

static void items_refuse(server_context *context, uint64_t form, bly_key item,
                         bly_status status)
{
    char shown[ITEMS_ESCAPED * ITEMS_SHOWN + 4], name[BLY_FORM_TEXT], text[512];
    uint64_t class = form & BLY_FORM_CLASS;
    if (status == BLY_EUNSUPPORTED || bly_form_nests(form)) {
        reply_why(context);
        return;
    }
    items_show(shown, item);
    snprintf(text, sizeof text, "ERR the item '%s' cannot be read in the form "
             "%s of the filter, which holds %s: write it %s", shown,
             bly_form_write(name, form), items_nouns[class],
             items_advice[class]);
    server_reply_error(context, text);
}

/* ---- Keys ---------------------------------------------------------------- */

uint64_t items_form(const held *value)
{
    return value != NULL ? bly_form_of(value->filter) : BLY_KEYS_UNSTATED;
}

static bly_key items_argument(const items *all, int i)
{
    return reply_key(all->argv[i * all->step]);
}

/* Allocates `made`, and `room` for that many bytes; SIZE_MAX is too many. */
static bool items_allocate(items *all, server_context *context, size_t bytes)
{
    all->made = server_try_allocate((size_t)all->n * sizeof *all->made);
    if (bytes < SIZE_MAX)
        all->room = server_try_allocate(bytes + 1);
    if (all->made != NULL && all->room != NULL)
        return true;
    reply_error(context, "out of memory");
    items_free(all);
    return false;
}

static size_t items_room(const items *all, uint64_t form)
{
    size_t bytes = 0;
    for (int i = 0; i < all->n; i++)
        if (__builtin_add_overflow(bytes, bly_form_room(
                form, items_argument(all, i).length), &bytes))
            return SIZE_MAX;
    return bytes;
}

/* Converts all items. Stops at the first that cannot be read. */
static bool items_make(items *all, server_context *context, uint64_t form)
{
    unsigned char *to = all->room;
    for (int i = 0; i < all->n; i++) {
        bly_key item = items_argument(all, i);
        bly_value value = { .type = BLY_WRITTEN, .data = item.data,
                            .length = item.length };
        bly_status status = bly_form_key(&all->made[i], form, &value, to);
        if (status != BLY_OK) {
            items_refuse(context, form, item, status);
            items_free(all);
            return false;
        }
        to += bly_form_room(form, item.length);
    }
    return true;
}

bool items_read(items *all, server_context *context, uint64_t form,
                server_string **argv, int n, int step)
{
    *all = (items){ .argv = argv, .n = n, .step = step };
    return form <= BLY_KEYS_TEXT
        || (items_allocate(all, context, items_room(all, form))
            && items_make(all, context, form));
}

void items_free(items *all)
{
    if (all->made == NULL && all->room == NULL)
        return;
    server_release(all->made);
    server_release(all->room);
    all->made = NULL;
    all->room = NULL;
}

bly_key items_key(const items *all, int i)
{
    return all->made != NULL ? all->made[i] : items_argument(all, i);
}

const bly_key *items_some(const items *all, int i, int n, bly_key *keys)
{
    if (all->made != NULL)
        return all->made + i;
    for (int j = 0; j < n; j++)
        keys[j] = items_argument(all, i + j);
    return keys;
}

const bly_key *items_all(items *all)
{
    if (all->made == NULL) {
        all->made = server_allocate((size_t)all->n * sizeof *all->made);
        for (int i = 0; i < all->n; i++)
            all->made[i] = items_argument(all, i);
    }
    return all->made;
}
