/* columns.c - the columns listed by -f and -l, by number or by name.
 *
 * Text made of digits and '-' is a number or a range; to be a name it must be
 * in quotes. The number of a named column is looked up in the header of each
 * file.
 */
#include "frame/columns.h"

#include "frame/how.h"
#include "frame/keys.h"
#include "frame/lines.h"
#include "frame/nearest.h"

#include <stdio.h>
#include <string.h>

/* ==== Lists ============================================================= */

static const char columns_empty[] =
    "has a column without a number or name: give 2, or 2,3, or 2-4, or names";
static const char columns_range[] =
    "has a range without both ends: give such as 2-4";
static const char columns_zero[] = "has a column 0: the first column is 1";
static const char columns_large[] =
    "has a column number that is too large: give a smaller one";
static const char columns_falls[] =
    "has a descending range: give its smaller end first";
static const char columns_twice[] = "lists a column twice: list it once";
static const char columns_many[] =
    "lists more than 64 columns: list fewer";

static const char *columns_number(const char **text, uint64_t *out)
{
    enum { MOST = 1000000000 };

    *out = 0;
    if (**text < '0' || **text > '9')
        return columns_range;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        *out = *out * 10 + (uint64_t)(**text - '0');
        if (*out > MOST)
            return columns_large;
    }
    return *out == 0 ? columns_zero : NULL;
}

static bool columns_equal(bly_key a, bly_key b)
{
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

static bool columns_same(const cli_columns *c, size_t i, size_t j)
{
    if (c->numbers[i] != 0 || c->numbers[j] != 0)
        return c->numbers[i] == c->numbers[j];
    return columns_equal(c->names[i], c->names[j]);
}

static const char *columns_add(cli_columns *out, uint64_t number, bly_key name)
{
    if (out->n == COLUMNS_MOST)
        return columns_many;
    out->numbers[out->n] = number;
    out->names[out->n] = name;
    out->named |= number == 0;
    for (size_t i = 0; i < out->n; i++)
        if (columns_same(out, i, out->n))
            return columns_twice;
    out->n++;
    return NULL;
}

/* Reads "2" or "2-4", up to `end`. */
static const char *columns_add_range(cli_columns *out, const char *text,
                                     const char *end)
{
    uint64_t from, to;
    const char *wrong = columns_number(&text, &from);

    to = from;
    if (wrong == NULL && *text == '-') {
        text++;
        wrong = columns_number(&text, &to);
    }
    if (wrong == NULL && text != end)
        wrong = columns_range;
    if (wrong == NULL && to < from)
        wrong = columns_falls;
    for (; wrong == NULL && from <= to; from++)
        wrong = columns_add(out, from, (bly_key){ NULL, 0 });
    return wrong;
}

/* Returns the end of the first column of a list. Within quotes, a comma does
 * not separate columns, and a quote is written twice. */
static const char *columns_end(const char *text)
{
    const char *close = *text == '"' ? strchr(text + 1, '"') : NULL;

    while (close != NULL && close[1] == '"')
        close = strchr(close + 2, '"');
    if (close != NULL && (close[1] == ',' || close[1] == '\0'))
        return close + 1;
    return text + strcspn(text, ",");
}

const char *columns_read(const char *text, cli_columns *out)
{
    const char *wrong = NULL, *end;

    memset(out, 0, sizeof *out);
    for (;; text = end + 1) {
        end = columns_end(text);
        if (end == text)
            wrong = columns_empty;
        else if (text + strspn(text, "0123456789-") >= end)
            wrong = columns_add_range(out, text, end);
        else
            wrong = columns_add(out, 0,
                                (bly_key){ text, (size_t)(end - text) });
        if (wrong != NULL || *end == '\0')
            return wrong;
    }
}

const char *columns_read_one(const char *text, cli_columns *out)
{
    const char *wrong = columns_read(text, out);

    return wrong == NULL && out->n > 1 ? "is more than one column: give one"
                                       : wrong;
}

bool columns_mixed(const cli_columns *columns)
{
    for (size_t i = 0; columns->named && i < columns->n; i++)
        if (columns->numbers[i] != 0)
            return true;
    return false;
}

/* ==== Names ============================================================= */

/* A walk through the columns of a header. */
typedef struct {
    const cli_how   *how;
    const cli_chunk *chunk;     /* which it is in                           */
    bly_key          line;
    const unsigned char *at;
} columns_header;

static void columns_begin(columns_header *h)
{
    h->at = h->line.data;
}

/* Returns a name in -f without the quotes around it. */
static bly_key columns_bare(bly_key word)
{
    const char *text = word.data;

    if (word.length > 2 && *text == '"' && text[word.length - 1] == '"')
        return (bly_key){ text + 1, word.length - 2 };
    return word;
}

/* Returns whether a name in -f, `word`, names this column: as it is, or as the
 * text between its quotes, where a quote is written twice. */
static bool columns_is(bly_key name, bly_key word)
{
    const bly_key bare = columns_bare(word);
    const char *text = name.data, *wanted = bare.data;
    size_t at = 0;

    if (columns_equal(name, word))
        return true;
    if (bare.data == word.data)
        return false;
    for (size_t i = 0; i < name.length; i++, at++) {
        if (at == bare.length || wanted[at] != text[i])
            return false;
        at += text[i] == '"' && at + 1 < bare.length && wanted[at + 1] == '"';
    }
    return at == bare.length;
}

/* Finds the name of the next column. Returns false if there is none. */
static bool columns_next(columns_header *h, bly_key *name)
{
    const unsigned char *end = (const unsigned char *)h->line.data
                             + h->line.length;

    if (h->at == NULL)
        return false;
    *name = keys_next(h->how, &h->at, end);
    if (name->data == NULL)
        return false;
    *name = keys_value(h->how, h->chunk, *name);
    return true;
}

/* Appends a name, made safe for a terminal, as far as there is room. */
static void columns_say(char *text, size_t room, const char *before,
                        bly_key name)
{
    const unsigned char *from = name.data;
    size_t n = strlen(text);

    for (; *before != '\0' && n + 1 < room; before++)
        text[n++] = *before;
    for (size_t i = 0; i < name.length && n + 1 < room; i++)
        text[n++] = from[i] < 0x20 || from[i] == 0x7f ? '?' : (char)from[i];
    text[n] = '\0';
}

/* Returns whether -f takes this name only in quotes. */
static bool columns_needs_quotes(bly_key name)
{
    const char *text = name.data;
    bool digits = true;

    for (size_t i = 0; i < name.length; i++) {
        if (text[i] == ',' || text[i] == '"')
            return true;
        digits &= (text[i] >= '0' && text[i] <= '9') || text[i] == '-';
    }
    return digits;
}

/* Appends a name as -f takes it. */
static void columns_say_quoted(char *text, size_t room, const char *before,
                               bly_key name)
{
    const char *from = name.data;
    bool quote = columns_needs_quotes(name);

    columns_say(text, room, before, (bly_key){ "\"", quote });
    for (size_t i = 0; i < name.length; i++)
        columns_say(text, room, from[i] == '"' ? "\"" : "",
                    (bly_key){ from + i, 1 });
    columns_say(text, room, "", (bly_key){ "\"", quote });
}

/* Writes the names of all columns, in at most `room` bytes, as -f takes them.
 */
static void columns_say_all(columns_header *h, char *text, size_t room)
{
    const char *before = "";
    bly_key name;

    text[0] = '\0';
    columns_begin(h);
    while (columns_next(h, &name)) {
        if (strlen(text) + name.length + 10 > room) {
            columns_say(text, room, before, (bly_key){ "...", 3 });
            return;
        }
        columns_say_quoted(text, room, before, name);
        before = ", ";
    }
}

/* Returns the name that is nearest to a word, or "". */
static void columns_nearest(columns_header *h, bly_key word, char *text,
                            size_t room)
{
    cli_nearest nearest = nearest_to(word.data, word.length);
    char tried[32];
    bly_key name;

    text[0] = '\0';
    columns_begin(h);
    while (columns_next(h, &name)) {
        size_t distance = nearest.distance;

        tried[0] = '\0';
        if (name.length < sizeof tried)
            columns_say(tried, sizeof tried, "", name);
        nearest_try(&nearest, tried);
        if (nearest.distance < distance)
            snprintf(text, room, "%s", tried);
    }
}

/* Returns the option to give if a header is one column that contains a usual
 * separator, or NULL. */
static const char *columns_apart(columns_header *h)
{
    bool plain = h->how->blanks || (!h->how->csv && h->how->separator == '\t');
    bly_key name;

    columns_begin(h);
    if (!columns_next(h, &name) || h->at != NULL)
        return NULL;
    if (memchr(name.data, '\t', name.length) != NULL)
        return h->how->csv ? "-t '\\t'" : "--tsv";
    if (memchr(name.data, ';', name.length) != NULL)
        return plain ? "--csv -t ';'" : "-t ';'";
    if (memchr(name.data, ',', name.length) != NULL)
        return plain ? "--csv" : "-t ,";
    return memchr(name.data, '|', name.length) != NULL ? "-t '|'" : NULL;
}

static void columns_lacks(columns_header *h, bly_key word, const char *file,
                          char *why, size_t room)
{
    char near[32], all[160], asked[64] = "";
    const char *apart = columns_apart(h);

    columns_nearest(h, columns_bare(word), near, sizeof near);
    columns_say_all(h, all, sizeof all);
    columns_say(asked, sizeof asked, "", word);
    if (apart != NULL)
        snprintf(why, room, "%s has only one column, and it is not '%s': use "
                 "%s to split it: %s", file, asked, apart, all);
    else if (near[0] != '\0')
        snprintf(why, room, "%s has no column '%s': did you mean '%s'? Its "
                 "columns are: %s", file, asked, near, all);
    else
        snprintf(why, room, "%s has no column '%s': its columns are: %s", file,
                 asked, all);
    if (h->how->lacks != NULL)
        snprintf(why + strlen(why), room - strlen(why), ". %s", h->how->lacks);
}

/* Says that a header has a name twice, and what to do. */
static void columns_repeats(const columns_header *h, bly_key word,
                            const uint64_t numbers[2], const char *file,
                            char *why, size_t room)
{
    char asked[64] = "";

    columns_say(asked, sizeof asked, "", word);
    if (h->how->twice != NULL)
        snprintf(why, room, "%s has two columns '%s': %s", file, asked,
                 h->how->twice);
    else
        snprintf(why, room, "%s has two columns '%s': use the number of one, "
                 "%llu or %llu", file, asked, (unsigned long long)numbers[0],
                 (unsigned long long)numbers[1]);
}

/* Returns the number of the column with this name, or 0, with the reason in
 * `why`. */
static uint64_t columns_look_up(columns_header *h, bly_key word,
                                const char *file, char *why, size_t room)
{
    uint64_t number = 0, found = 0;
    bly_key name;

    columns_begin(h);
    while (columns_next(h, &name)) {
        number++;
        if (!columns_is(name, word))
            continue;
        if (found != 0) {
            columns_repeats(h, word, (uint64_t[]){ found, number }, file, why,
                            room);
            return 0;
        }
        found = number;
    }
    if (found == 0)
        columns_lacks(h, word, file, why, room);
    return found;
}

static bool columns_find_list(columns_header *h, const cli_columns *list,
                              uint64_t *numbers, const char *file, char *why,
                              size_t room)
{
    for (size_t i = 0; i < list->n; i++) {
        numbers[i] = list->numbers[i];
        if (numbers[i] == 0)
            numbers[i] = columns_look_up(h, list->names[i], file, why, room);
        if (numbers[i] == 0)
            return false;
        for (size_t j = 0; j < i; j++)
            if (numbers[i] == numbers[j]) {
                snprintf(why, room, "column %llu of %s is listed by its number "
                         "and by its name: list it once",
                         (unsigned long long)numbers[i], file);
                return false;
            }
    }
    return true;
}

bool columns_find(cli_lines *l, const cli_chunk *c, bly_key line,
                  const char *file, char *why, size_t room)
{
    columns_header h = { .how = &l->how, .chunk = c, .line = line };

    return columns_find_list(&h, &l->how.field, l->field, file, why, room)
        && columns_find_list(&h, &l->how.label, &l->label, file, why, room);
}
