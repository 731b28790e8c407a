/* values.c - values of members and columns -> terms, hashed.
 *
 *      json-field=trace_id      {"trace_id":"ab12"}    trace_id NUL ab12
 *      column=id                id,city                id NUL 7
 *                               7,Rome
 *
 * A term is the name from --by, a NUL and the value. So one index holds the
 * values of several members, and equal values of two of them differ. `index`
 * and `which` make terms by the same function, from the names that the index
 * records.
 *
 * A value of JSON is the key that --json-field takes in other commands: a
 * string is decoded, a number is its text, and null, objects and arrays have no
 * key. A value of a column is what -f takes with --csv or --tsv. The names are
 * looked up in the header of each file. Lines without a value are counted, and
 * values_note reports them.
 */
#include "search/commands/search.h"
#include "frame/json.h"
#include "frame/keys.h"
#include "frame/members.h"
#include "frame/refuse.h"
#include "frame/sniff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    VALUES_ROWS = 512,                  /* that are split at once            */
    VALUES_ROOM = 1 << 16               /* bytes of terms that wait          */
};

/* ==== Names ============================================================= */

/* Cuts the first name off a list. Within quotes a comma does not end it, and a
 * quote is written twice. Returns the rest, or NULL. */
static char *values_cut(char *text)
{
    char *to = text, *rest;
    bool quoted = *text == '"';

    text += quoted;
    while (*text != '\0' && (quoted || *text != ',')) {
        if (quoted && *text == '"' && *++text != '"')
            quoted = false;
        else
            *to++ = *text++;
    }
    rest = *text == ',' ? text + 1 : NULL;
    *to = '\0';
    return rest;
}

static const char *values_add(values_names *out, terms_rule rule,
                              const char *name)
{
    const char *wrong = rule == TERMS_MEMBERS ? members_wrong(name) : NULL;

    if (wrong != NULL)
        return wrong;
    if (*name == '\0')
        return "names no column: give its name in the header";
    if (out->n == VALUES_MOST)
        return "has more than 16 names: make several indexes";
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->names[i], name) == 0)
            return "has a name twice: list it once";
    out->names[out->n++] = name;
    return NULL;
}

const char *values_read(char *text, terms_rule rule, values_names *out)
{
    const char *wrong = NULL;

    while (text != NULL && wrong == NULL) {
        char *rest = values_cut(text);

        wrong = values_add(out, rule, text);
        text = rest;
    }
    return wrong;
}

/* ==== Terms ============================================================= */

/* Copies a term to where it can wait to be hashed. Returns false if out of
 * memory. */
static bool values_push(terms *t, const char *name, bly_key value)
{
    values_reader *r = &t->values;
    const size_t length = strlen(name) + 1, n = length + value.length;

    if (n > r->room - r->used) {
        if (!waiting_flush(t))
            return false;
        r->used = 0;
    }
    if (n > r->room) {
        const size_t room = n > VALUES_ROOM ? n : VALUES_ROOM;

        if (!bytes_grow(&r->terms, room, 1))
            return false;
        r->room = room;
    }
    memcpy(r->terms + r->used, name, length);
    if (value.length > 0)
        memcpy(r->terms + r->used + length, value.data, value.length);
    r->used += n;
    return waiting_push(t, r->terms + r->used - n, n);
}

const char *values_name(const values_names *names, const char *given)
{
    const char *best = NULL;

    for (size_t i = 0; i < names->n; i++) {
        const size_t n = strlen(names->names[i]);

        if (strncmp(names->names[i], given, n) == 0 && given[n] == '='
            && (best == NULL || n > strlen(best)))
            best = names->names[i];
    }
    return best;
}

bool values_hash(terms *t, const char *name, const char *value)
{
    waiting_clear(t);
    t->values.used = 0;
    return values_push(t, name, (bly_key){ value, strlen(value) })
        && waiting_flush(t);
}

/* ==== Lines without a value ============================================= */

static uint64_t values_newlines(const unsigned char *from,
                                const unsigned char *to)
{
    uint64_t lines = 0;

    while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        lines++;
        from++;
    }
    return lines;
}

/* Counts a line whose JSON or columns are wrong. */
static void values_fault(values_reader *r, const text_block *block,
                         const unsigned char *line)
{
    values_tally *tally = &r->tally;

    if (tally->faults++ > 0)
        return;
    tally->file = r->file;
    tally->line = block->lines + values_newlines(block->bytes, line) + 1;
}

void values_merge(values_tally *into, const values_tally *more)
{
    into->lines += more->lines;
    if (more->faults > 0 && (into->faults == 0 || more->file < into->file)) {
        into->file = more->file;
        into->line = more->line;
    }
    into->faults += more->faults;
    for (size_t i = 0; i < VALUES_MOST; i++)
        into->lacking[i] += more->lacking[i];
    if (into->advice[0] == '\0')
        memcpy(into->advice, more->advice, sizeof into->advice);
}

/* Notes how many lines lack a member. If all do, its name may be wrong. */
static void values_note_member(const values_tally *tally, const char *name,
                               uint64_t lacking, bool quiet)
{
    if (lacking == tally->lines - tally->faults)
        report_note("warning: no line has a value of the member '%s': check "
                    "%s", name, tally->advice[0] != '\0' ? tally->advice
                                                         : "its name");
    else if (lacking > 0 && !quiet)
        report_note("note: %s %s no value of the member '%s'",
                    report_count(lacking).text,
                    lacking == 1 ? "line has" : "lines have", name);
}

void values_note(const values_names *names, terms_rule rule,
                 const values_tally *tally, const char *file, bool quiet)
{
    const bool json = rule == TERMS_MEMBERS, one = tally->faults == 1;

    if (tally->faults > 0)
        report_note("note: %s %s %s: the first is line %" PRIu64 " of '%s'",
                    report_count(tally->faults).text, one ? "line" : "lines",
                    json ? one ? "is not a JSON object"
                               : "are not JSON objects"
                         : one ? "has too few columns"
                               : "have too few columns",
                    tally->line, file);
    for (size_t i = 0; json && i < names->n
                       && tally->lines > tally->faults; i++)
        values_note_member(tally, names->names[i], tally->lacking[i], quiet);
}

void values_json(const values_names *names, terms_rule rule,
                 const values_tally *tally)
{
    json_count("lines", tally->lines);
    json_count(rule == TERMS_MEMBERS ? "not_objects" : "too_short",
               tally->faults);
    if (rule != TERMS_MEMBERS)
        return;
    json_open_object("without");
    for (size_t i = 0; i < names->n; i++)
        json_count(names->names[i], tally->lacking[i]);
    json_close_object();
}

/* ==== JSON ============================================================== */

/* Finds the members of a line. `room` is for decoded strings. Returns false if
 * out of memory. */
static bool values_object(terms *t, const text_block *block, bly_key line,
                          void *room)
{
    values_reader *r = &t->values;
    bly_key key;

    for (size_t i = 0; i < r->names->n; i++) {
        cli_member found;

        r->how.member = r->names->names[i];
        r->how.trust = i > 0;           /* the first time has verified it */
        found = members_key(&r->how, line.data, line.length, room, &key);
        if (found == CLI_NO_OBJECT) {
            values_fault(r, block, line.data);
            return true;
        }
        if (found == CLI_MEMBER) {
            if (!values_push(t, r->how.member, key))
                return false;
            continue;
        }
        r->tally.lacking[i]++;
        if (r->tally.advice[0] == '\0'
            && !members_advise(&r->how, line, r->tally.advice,
                               sizeof r->tally.advice))
            r->tally.advice[0] = '\0';
    }
    return true;
}

static bool values_objects(terms *t, const text_reader *text,
                           const text_block *block, const unsigned char *at)
{
    const unsigned char *end = block->bytes + block->n, *stop;

    for (; at < end; at = stop + 1) {
        unsigned char *room = block->bytes + text->room
                            + (size_t)(at - block->bytes);

        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        t->values.tally.lines++;
        if (!values_object(t, block, (bly_key){ at, (size_t)(stop - at) },
                           room))
            return false;
    }
    return true;
}

/* ==== Columns =========================================================== */

/* Returns a row without the end of its line. */
static bly_key values_bare(const unsigned char *from, const unsigned char *to)
{
    to -= to > from && to[-1] == '\n';
    to -= to > from && to[-1] == '\r';
    return (bly_key){ from, (size_t)(to - from) };
}

/* Finds the columns in the header. Returns 0 or EBADMSG. */
static int values_header(values_reader *r, const cli_chunk *chunk,
                         bly_key line)
{
    cli_lines lines = { .how = r->how };

    lines.how.field.named = true;
    lines.how.field.n = r->names->n;
    for (size_t i = 0; i < r->names->n; i++)
        lines.how.field.names[i] = (bly_key){ r->names->names[i],
                                              strlen(r->names->names[i]) };
    if (memchr(chunk->block, '\r', chunk->length) != NULL
        && memchr(chunk->block, '\n', chunk->length) == NULL) {
        snprintf(r->why, sizeof r->why, "the lines of %s end with CR alone: "
                 "end them with a newline", refuse_path(r->path).text);
        return EBADMSG;
    }
    if (!columns_find(&lines, chunk, line, refuse_path(r->path).text, r->why,
                      sizeof r->why))
        return EBADMSG;
    r->last = 0;
    for (size_t i = 0; i < r->names->n; i++) {
        r->columns[i] = lines.field[i];
        if (r->columns[i] > r->last)
            r->last = r->columns[i];
    }
    r->headed = true;
    return 0;
}

/* Takes the columns of a row. Returns false if out of memory. */
static bool values_row(terms *t, const text_block *block,
                       const cli_chunk *chunk, bly_key line)
{
    values_reader *r = &t->values;
    const unsigned char *at = line.data, *end = at + line.length;

    r->tally.lines++;
    for (uint64_t number = 1; number <= r->last; number++) {
        bly_key column;

        if (at == NULL) {
            values_fault(r, block, line.data);
            return true;
        }
        column = keys_next(&r->how, &at, end);
        for (size_t i = 0; i < r->names->n; i++)
            if (r->columns[i] == number
                && !values_push(t, r->names->names[i],
                                keys_value(&r->how, chunk, column)))
                return false;
    }
    return true;
}

/* Finds where rows end, as many as fit. Returns their number. */
static size_t values_ends(const values_reader *r, const unsigned char *text,
                          size_t n, bool quoted, size_t *ends)
{
    size_t found = 0, at = 0;

    if (quoted)
        found = records_ends(r->how.separator, text, n, ends, VALUES_ROWS);
    for (const unsigned char *hit; !quoted && found < VALUES_ROWS
         && (hit = memchr(text + at, '\n', n - at)) != NULL; found++) {
        ends[found] = (size_t)(hit - text);
        at = ends[found] + 1;
    }
    if (found == 0)
        ends[found++] = n - 1;          /* the last row has no newline */
    return found;
}

/* Returns 0 or an error. */
static int values_rows(terms *t, const text_reader *text,
                       const text_block *block, const unsigned char *at)
{
    values_reader *r = &t->values;
    const unsigned char *end = block->bytes + block->n;
    const cli_chunk chunk = { .block = block->bytes, .length = block->n,
                              .capacity = text->room };
    const bool quoted = r->how.csv
                     && memchr(block->bytes, '"', block->n) != NULL;
    size_t ends[VALUES_ROWS];

    while (at < end) {
        const size_t n = values_ends(r, at, (size_t)(end - at), quoted, ends);
        const unsigned char *from = at;

        for (size_t i = 0; i < n; i++) {
            const bly_key line = values_bare(from, at + ends[i] + 1);

            from = at + ends[i] + 1;
            if (!r->headed) {
                int error = values_header(r, &chunk, line);

                if (error != 0)
                    return error;
            } else if (!values_row(t, block, &chunk, line)) {
                return ENOMEM;
            }
        }
        at = from;
    }
    return 0;
}

/* ==== Files ============================================================= */

/* Returns whether a file is named as one with TABs: "x.tsv", "x.tsv.gz". */
static bool values_is_tsv(const char *path)
{
    const char *name = strrchr(path, '/');

    name = strstr(name != NULL ? name : path, ".tsv");
    return name != NULL && (name[4] == '\0'
                            || (name[4] == '.'
                                && strchr(name + 5, '.') == NULL));
}

void values_begin(terms *t, text_reader *text, const char *path)
{
    values_reader *r = &t->values;
    const values_names *names = r->names;
    const bool tsv = names->tsv
                  || (names->separator < 0 && values_is_tsv(path));

    text->keys = text->text = true;
    r->path = path;
    r->headed = false;
    r->how = (cli_how){ .tsv = tsv, .csv = t->rule == TERMS_COLUMNS && !tsv,
                        .twice = "rename one of them in its header" };
    r->how.separator = tsv ? '\t' : names->separator >= 0 ? names->separator
                                                          : ',';
    text->records = r->how.csv;
    text->separator = r->how.separator;
}

int values_find(terms *t, const text_reader *text, const text_block *block)
{
    const unsigned char *at = block->bytes;
    int error = 0;

    waiting_clear(t);
    t->values.used = 0;
    if (block->offset == 0 && block->n >= 3 && sniff_mark(at, 3))
        at += 3;
    if (t->rule == TERMS_COLUMNS)
        error = values_rows(t, text, block, at);
    else if (!values_objects(t, text, block, at))
        error = ENOMEM;
    return error == 0 && !waiting_flush(t) ? ENOMEM : error;
}
