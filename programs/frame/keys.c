/* keys.c - what of a line is its key.
 *
 * All of it, a column, a member of the JSON object that it is, or what options
 * make of these. They change keys, and not the lines that are printed, and do
 * so here, so that whoever compares keys compares what they have become. The
 * keys of a batch are made in one loop for the form that the options ask for.
 * Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <string.h>

/* For what is done for every line: with calls `query` takes 7 % more
 * instructions, with -f 11 % (counted by valgrind's lackey). */
#if defined(__GNUC__)
#define KEYS_INLINE static inline __attribute__((always_inline))
#else
#define KEYS_INLINE static inline
#endif

static const bly_key keys_nothing = { NULL, 0 };

/* ==== Columns =========================================================== */

/* Column `wanted` of the line; data stays NULL where the line is too short.
 * Its bytes lie in the chunk, so an empty column's data is not NULL. */
KEYS_INLINE bly_key keys_column(const cli_how *how, uint64_t wanted,
                                bly_key whole)
{
    const unsigned char *line = whole.data, *end = line + whole.length, *hit;

    for (uint64_t column = 1;; column++) {
        hit = memchr(line, how->separator, (size_t)(end - line));
        if (column == wanted)
            break;
        if (hit == NULL)
            return keys_nothing;
        line = hit + 1;
    }
    return (bly_key){ line, (size_t)((hit != NULL ? hit : end) - line) };
}

/* What stands before the label's column, or behind it if that is the first. */
static bly_key keys_beside(bly_key label, bly_key whole)
{
    const unsigned char *from = label.data, *line = whole.data;
    size_t used = label.length + 1;     /* with what separates it */

    if (from == NULL)
        return keys_nothing;
    if (from > line)
        return (bly_key){ line, (size_t)(from - line) - 1 };
    return used > whole.length ? keys_nothing
                               : (bly_key){ line + used, whole.length - used };
}

/* Key and label of a line that has columns; a line without its label has no
 * key. */
KEYS_INLINE bly_key keys_columns(const cli_how *how, bly_key line,
                                 bly_key *label)
{
    if (how->label != 0) {
        *label = keys_column(how, how->label, line);
        if (label->data == NULL)
            return keys_nothing;
    }
    return how->field != 0 ? keys_column(how, how->field, line)
                           : keys_beside(*label, line);
}

/* ==== Changes =========================================================== */

static bly_key keys_trim(bly_key key)
{
    const char *from = key.data, *to = from + key.length;

    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (from < to && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (bly_key){ from, (size_t)(to - from) };
}

/* Where what is made of these bytes of the block lies in its second half, which
 * may be where they are. */
static unsigned char *keys_room(const cli_chunk *c, const unsigned char *from)
{
    size_t at = (size_t)(from - c->block);

    return c->block + at + (at < c->capacity ? c->capacity : 0);
}

/* The key in lower case, in the second half of the block. */
static bly_key keys_fold(const cli_chunk *c, bly_key key)
{
    const unsigned char *from = key.data;
    unsigned char *to = keys_room(c, from);

    for (size_t i = 0; i < key.length; i++)
        to[i] = (unsigned char)(from[i]
                                | (from[i] >= 'A' && from[i] <= 'Z') << 5);
    return (bly_key){ to, key.length };
}

static bly_key keys_rewrite(const cli_how *how, const cli_chunk *c, bly_key key)
{
    if (how->trim && key.data != NULL)
        key = keys_trim(key);
    if (how->fold && key.data != NULL)
        key = keys_fold(c, key);
    return key;
}

/* Key and label of a line, with all that options ask for. */
static bly_key keys_change(const cli_how *how, const cli_chunk *c, bly_key key,
                           bly_key *label)
{
    if (how->crlf && key.length > 0
        && ((const char *)key.data)[key.length - 1] == '\r')
        key.length--;
    if (how->field != 0 || how->label != 0)
        key = keys_columns(how, key, label);
    return keys_rewrite(how, c, key);
}

/* The key of a line that is a JSON object. */
static bly_key keys_member(const cli_how *how, const cli_chunk *c, bly_key line)
{
    bly_key key = keys_nothing;
    cli_member found = members_key(line.data, line.length, how->member,
                                   keys_room(c, line.data), &key);

    if (found == CLI_NO_OBJECT)
        return (bly_key){ NULL, KEYS_STRANGE };
    return found == CLI_MEMBER ? keys_rewrite(how, c, key) : keys_nothing;
}

/* ==== Batches =========================================================== */

size_t keys_make(const cli_lines *l, const cli_chunk *c, bly_key *keys,
                 bly_key *labels, size_t n)
{
    const cli_how how = l->how;
    size_t keyless = 0;

    if (l->form == LINES_COLUMNS)
        for (size_t i = 0; i < n; i++) {
            keys[i] = keys_columns(&how, keys[i], &labels[i]);
            keyless += keys[i].data == NULL;
        }
    else if (l->form == LINES_MEMBERS)
        for (size_t i = 0; i < n; i++) {
            keys[i] = keys_member(&how, c, keys[i]);
            keyless += keys[i].data == NULL;
        }
    else
        for (size_t i = 0; i < n; i++) {
            keys[i] = keys_change(&how, c, keys[i], &labels[i]);
            keyless += keys[i].data == NULL;
        }
    return keyless;
}
