/* keys.c - makes keys from lines.
 *
 * A key is all of a line, some columns, a member of the JSON object that the
 * line is, or what options make of these. Only keys are changed, not the lines
 * that are printed, and they are changed here, so that keys are always compared
 * in their final form. All keys of a batch are made in one loop for the options
 * in use.
 *
 * The key of several columns is the line that these columns would make, in the
 * order of the list. In CSV, a column of it is in quotes if it holds a
 * separator or a newline or begins with a quote, whether the file has it in
 * quotes or not. So equal columns make equal keys, and different columns never
 * do. Such a key is never longer than the line it is from, because only a
 * column in quotes can hold these bytes. (A CR is not put in quotes: it may
 * occur outside them, and quotes around it would make the key longer than its
 * line.)
 */
#include "frame/keys.h"

#include "frame/members.h"

#include <string.h>

/* For functions that run for every line. As calls they cost `query` 7 % more
 * instructions, and 11 % with -f (counted by valgrind's lackey). */
#if defined(__GNUC__)
#define KEYS_INLINE static inline __attribute__((always_inline))
#else
#define KEYS_INLINE static inline
#endif

static const bly_key keys_nothing = { NULL, 0 };
static const bly_key keys_skipped = { NULL, KEYS_SKIPPED };

/* ==== Room for keys ===================================================== */

bool keys_two_parts(const cli_how *how)
{
    return how->member != NULL || how->csv || how->field.n > 1;
}

size_t keys_parts(const cli_how *how, size_t capacity)
{
    return (keys_two_parts(how) ? 2 * capacity : capacity)
         + (how->member != NULL ? CLI_MEMBER_PADDING : 0);
}

size_t keys_block(const cli_how *how, size_t capacity)
{
    return keys_parts(how, capacity)
         + (forms_changes(how->form) ? forms_times(how->form) * capacity : 0);
}

/* ==== A column ========================================================== */

/* Finds column `wanted` of a line that is cut at separators. Its data is NULL
 * only if the line is too short: an empty column points into the chunk. */
KEYS_INLINE bly_key keys_column(int separator, uint64_t wanted, bly_key whole)
{
    const unsigned char *line = whole.data, *end = line + whole.length, *hit;

    for (uint64_t column = 1;; column++) {
        hit = memchr(line, separator, (size_t)(end - line));
        if (column == wanted)
            break;
        if (hit == NULL)
            return keys_nothing;
        line = hit + 1;
    }
    return (bly_key){ line, (size_t)((hit != NULL ? hit : end) - line) };
}

/* Returns where the quotes that open at `at` close. */
static const unsigned char *keys_close(const unsigned char *at,
                                       const unsigned char *end)
{
    for (;;) {
        at = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (at == NULL)
            return end - 1;
        if (at + 1 == end || at[1] != '"')
            return at;
        at++;
    }
}

static bool keys_is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

static bly_key keys_next_blanks(const unsigned char **at,
                                const unsigned char *end)
{
    const unsigned char *from = *at, *to;

    while (from < end && keys_is_blank(*from))
        from++;
    to = from;
    while (to < end && !keys_is_blank(*to))
        to++;
    *at = to < end ? to : NULL;
    return from < end ? (bly_key){ from, (size_t)(to - from) } : keys_nothing;
}

KEYS_INLINE bly_key keys_cut_next(const cli_how *how, const unsigned char **at,
                                  const unsigned char *end)
{
    const unsigned char *from = *at, *to;

    if (how->blanks)
        return keys_next_blanks(at, end);
    if (how->csv && from < end && *from == '"') {
        to = keys_close(from, end) + 1;
        *at = to < end ? to + 1 : NULL;
        return (bly_key){ from, (size_t)(to - from) };
    }
    to = memchr(from, how->separator, (size_t)(end - from));
    *at = to != NULL ? to + 1 : NULL;
    return (bly_key){ from, (size_t)((to != NULL ? to : end) - from) };
}

bly_key keys_next(const cli_how *how, const unsigned char **at,
                  const unsigned char *end)
{
    return keys_cut_next(how, at, end);
}

/* Returns the place in the second half of the block that belongs to these
 * bytes. */
static unsigned char *keys_place(const cli_chunk *c, const void *bytes)
{
    return c->block + c->capacity + ((const unsigned char *)bytes - c->block);
}

/* Copies the text within quotes, with each doubled quote once. */
static size_t keys_put_value(unsigned char *to, const unsigned char *from,
                             const unsigned char *end)
{
    unsigned char *begin = to;

    while (from < end) {
        const unsigned char *hit = memchr(from, '"', (size_t)(end - from));
        size_t n = (size_t)((hit != NULL ? hit + 1 : end) - from);

        memcpy(to, from, n);
        to += n;
        from += n + (hit != NULL);
    }
    return (size_t)(to - begin);
}

bly_key keys_value(const cli_how *how, const cli_chunk *c, bly_key column)
{
    const unsigned char *from = column.data;
    unsigned char *to;

    if (!how->csv || column.length < 2 || *from != '"')
        return column;
    from++;
    column = (bly_key){ from, column.length - 2 };
    if (memchr(from, '"', column.length) == NULL)
        return column;
    to = keys_place(c, from);
    return (bly_key){ to, keys_put_value(to, from, from + column.length) };
}

/* ==== Several columns =================================================== */

/* The parts to find in each line of a batch. */
typedef struct {
    const cli_how   *how;
    const cli_chunk *chunk;
    bool             plain;     /* columns end at the next separator        */
    bool             cuts;      /* a CR at the end of a line is cut off     */
    bool             changes;   /* keys are changed by the form             */
    bool             skips;     /* lines may have comments, or no key       */
    size_t           times;     /* see forms_times                          */
    const uint64_t  *numbers;   /* of the columns                           */
    uint64_t         label;
    size_t           n;
    size_t           order[COLUMNS_MOST];   /* of them, by rising numbers   */
} keys_job;

/* Returns the text before the label's column, or after it if it is the
 * first. */
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

/* Finds column `wanted`, as written in the line. */
static bly_key keys_find(const keys_job *job, uint64_t wanted, bly_key line)
{
    const unsigned char *at = line.data, *end = at + line.length;
    bly_key column = keys_nothing;

    if (job->plain)
        return keys_column(job->how->separator, wanted, line);
    for (uint64_t i = 0; i < wanted; i++) {
        if (at == NULL)
            return keys_nothing;
        column = keys_cut_next(job->how, &at, end);
        if (column.data == NULL)
            return keys_nothing;
    }
    return column;
}

/* Finds the columns of the list, as written in the line. Returns false if the
 * line is too short for one. */
static bool keys_find_all(const keys_job *job, bly_key line, bly_key *columns)
{
    const unsigned char *at = line.data, *end = at + line.length;
    size_t found = 0;

    for (uint64_t number = 1; found < job->n; number++) {
        bly_key column;

        if (at == NULL)
            return false;
        column = keys_cut_next(job->how, &at, end);
        if (column.data == NULL)
            return false;
        if (number == job->numbers[job->order[found]])
            columns[job->order[found++]] = column;
    }
    return true;
}

bool keys_skips(const cli_how *how)
{
    return how->skip_blank || how->comment != NULL;
}

static bool keys_begins(const char *text, size_t n, const char *with)
{
    size_t length = strlen(with);

    return length <= n && memcmp(text, with, length) == 0;
}

/* Returns the line without its comment; data is NULL if nothing is left. */
static bly_key keys_uncomment(const cli_how *how, bly_key line)
{
    const char *text = line.data, *end = text + line.length, *at = text;

    while (at < end && (keys_is_blank((unsigned char)*at) || *at == '\r'))
        at++;
    if (at == end)
        return how->skip_blank ? keys_skipped : line;
    if (how->comment == NULL)
        return line;
    if (keys_begins(at, (size_t)(end - at), how->comment))
        return keys_skipped;
    for (at++; !how->csv && at < end; at++) {
        if (!keys_is_blank((unsigned char)at[-1])
            || !keys_begins(at, (size_t)(end - at), how->comment))
            continue;
        while (keys_is_blank((unsigned char)at[-1]))
            at--;
        return (bly_key){ text, (size_t)(at - text) };
    }
    return line;
}

static bly_key keys_trim(bly_key key)
{
    const char *from = key.data, *to = from + key.length;

    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (from < to && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (bly_key){ from, (size_t)(to - from) };
}

/* Returns whether a column that is quoted in the file needs quotes in a joined
 * key. */
static bool keys_must_quote(const cli_how *how, bly_key inner)
{
    const unsigned char *text = inner.data;

    return (inner.length > 0 && *text == '"')
        || memchr(text, how->separator, inner.length) != NULL
        || memchr(text, '\n', inner.length) != NULL;
}

static size_t keys_put(const cli_how *how, unsigned char *to, bly_key column)
{
    const unsigned char *from = column.data;
    bool quoted = how->csv && column.length >= 2 && *from == '"';

    if (quoted)
        column = (bly_key){ from + 1, column.length - 2 };
    if ((how->form & BLY_FORM_TRIM) != 0)
        column = keys_trim(column);
    from = column.data;
    if (!quoted) {
        memcpy(to, from, column.length);
        return column.length;
    }
    if (!keys_must_quote(how, column))
        return keys_put_value(to, from, from + column.length);
    to[0] = to[column.length + 1] = '"';
    memcpy(to + 1, from, column.length);
    return column.length + 2;
}

/* Returns whether a column is in no quotes, but begins with one when it has
 * been trimmed. To be equal to the same column of another line it would have
 * to be in quotes, which take more room than there is. */
static bool keys_is_ambiguous(const cli_how *how, bly_key column)
{
    bool quoted = column.length > 0 && *(const char *)column.data == '"';

    if (!how->csv || quoted || (how->form & BLY_FORM_TRIM) == 0)
        return false;
    column = keys_trim(column);
    return column.length > 0 && *(const char *)column.data == '"';
}

/* Writes the line that the columns would make. */
static bly_key keys_join(const keys_job *job, bly_key line)
{
    unsigned char *to = keys_place(job->chunk, line.data), *begin = to;
    bly_key columns[COLUMNS_MOST];

    if (!keys_find_all(job, line, columns))
        return keys_nothing;
    for (size_t i = 0; i < job->n; i++) {
        if (keys_is_ambiguous(job->how, columns[i]))
            return (bly_key){ NULL, KEYS_STRANGE };
        if (i > 0)
            *to++ = job->how->blanks ? ' ' : (unsigned char)job->how->separator;
        to += keys_put(job->how, to, columns[i]);
    }
    return (bly_key){ begin, (size_t)(to - begin) };
}

/* Makes the key and the label of a line with columns. A line without its label
 * has no key. */
static bly_key keys_columns(const keys_job *job, bly_key line, bly_key *label)
{
    bly_key key;

    if (job->label != 0) {
        *label = keys_find(job, job->label, line);
        if (label->data == NULL)
            return keys_nothing;
        *label = keys_value(job->how, job->chunk, *label);
    }
    if (job->n == 0)
        return keys_beside(*label, line);
    if (job->n > 1)
        return keys_join(job, line);
    key = keys_find(job, job->numbers[0], line);
    return key.data != NULL ? keys_value(job->how, job->chunk, key) : key;
}

/* ==== Changes =========================================================== */

/* Makes the key in its form, in the last part of the block, where no other
 * line's key can be. */
static bly_key keys_rewrite(const keys_job *job, bly_key key)
{
    const cli_chunk *c = job->chunk;
    size_t at, place;

    if (!job->changes || key.data == NULL)
        return key;
    at = (size_t)((const unsigned char *)key.data - c->block);
    place = at < c->capacity ? at : at - c->capacity;
    key = forms_key(job->how->form, key,
                    c->block + keys_parts(job->how, c->capacity)
                    + job->times * place);
    return key.data != NULL ? key : (bly_key){ NULL, KEYS_STRANGE };
}

/* Returns a line without the CR at its end. */
KEYS_INLINE bly_key keys_whole(bly_key line)
{
    if (line.length > 0 && ((const char *)line.data)[line.length - 1] == '\r')
        line.length--;
    return line;
}

/* Makes the key and the label of a line, with all options. */
static bly_key keys_change(const keys_job *job, bly_key key, bly_key *label)
{
    if (job->cuts)
        key = keys_whole(key);
    if (job->skips)
        key = keys_uncomment(job->how, key);
    if (key.data != NULL && (job->n > 0 || job->label != 0))
        key = keys_columns(job, key, label);
    return keys_rewrite(job, key);
}

/* Makes the key of a line that is a JSON object. */
static bly_key keys_member(const keys_job *job, bly_key line)
{
    bly_key key = keys_nothing;
    cli_member found = members_key(job->how, line.data, line.length,
                                   keys_place(job->chunk, line.data), &key);

    if (found == CLI_NO_OBJECT)
        return (bly_key){ NULL, KEYS_STRANGE };
    return found == CLI_MEMBER ? keys_rewrite(job, key) : keys_nothing;
}

/* ==== Batches =========================================================== */

static void keys_begin(keys_job *job, const cli_lines *l, const cli_chunk *c)
{
    bool named = l->how.field.named || l->how.label.named;

    job->how = &l->how;
    job->chunk = c;
    job->plain = !l->how.blanks && !c->quoted;
    job->cuts = l->how.csv || c->returns;
    job->changes = forms_changes(l->how.form);
    job->skips = keys_skips(&l->how);
    job->times = forms_times(l->how.form);
    job->n = l->how.field.n;
    job->numbers = named ? c->field : l->how.field.numbers;
    job->label = named ? c->label : l->how.label.numbers[0];
    for (size_t i = 0; i < job->n; i++) {
        size_t at = i;

        for (; at > 0 && job->numbers[job->order[at - 1]] > job->numbers[i];
             at--)
            job->order[at] = job->order[at - 1];
        job->order[at] = i;
    }
}

/* Finds one column of lines that are cut at separators. */
static void keys_make_columns(const keys_job *job, bly_key *keys, size_t n)
{
    uint64_t column = job->numbers[0];
    int separator = job->how->separator;

    if (job->cuts)
        for (size_t i = 0; i < n; i++)
            keys[i] = keys_column(separator, column, keys_whole(keys[i]));
    else
        for (size_t i = 0; i < n; i++)
            keys[i] = keys_column(separator, column, keys[i]);
}

size_t keys_make(const cli_lines *l, const cli_chunk *c, bly_key *keys,
                 bly_key *labels, size_t n)
{
    size_t keyless = 0;
    keys_job job;

    keys_begin(&job, l, c);
    if (l->form == LINES_COLUMNS && !c->quoted)
        keys_make_columns(&job, keys, n);
    else if (l->form == LINES_WHOLE)
        for (size_t i = 0; i < n; i++)
            keys[i] = keys_whole(keys[i]);
    else if (l->form == LINES_MEMBERS)
        for (size_t i = 0; i < n; i++)
            keys[i] = keys_member(&job, keys[i]);
    else
        for (size_t i = 0; i < n; i++)
            keys[i] = keys_change(&job, keys[i], &labels[i]);
    for (size_t i = 0; i < n; i++)
        keyless += keys[i].data == NULL;
    return keyless;
}
