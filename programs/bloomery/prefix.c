/* prefix.c - prefixes of the lines that `query` prints: marks or groups, names
 * of files and numbers of lines; also the counts of files.
 *
 *      01<TAB>words.txt:12:line         3,17<TAB>line
 *
 * The thread that looked up a chunk writes everything except line numbers. The
 * number of lines before a chunk is known only when its turn comes. Until then
 * there is a hole in the place of each line number, which counts from the
 * beginning of the chunk.
 */
#include "bloomery/command.h"
#include "frame/bytes.h"
#include "frame/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX_DIGITS = 20 };

struct ask_hole {
    size_t   at;                /* length of the text before it */
    uint64_t line;              /* in the chunk, from 1 */
};

bool prefix_wanted(const ask_settings *s)
{
    return s->mark || s->groups || s->names || s->numbers;
}

/* ==== Writing, in any thread ============================================ */

bool prefix_room(ask_text *t, size_t more)
{
    size_t room = t->room + t->room / 2 + more;

    if (t->length + more <= t->room)
        return true;
    if (!bytes_grow(&t->bytes, room, 1))
        return false;
    t->room = room;
    return true;
}

static void prefix_bytes(ask_text *t, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
}

static bool prefix_hole(ask_text *t, uint64_t line)
{
    size_t room = 2 * t->holes_room + 64;

    if (t->n == t->holes_room) {
        if (!bytes_grow(&t->holes, room, sizeof *t->holes))
            return false;
        t->holes_room = room;
    }
    t->holes[t->n++] = (ask_hole){ t->length, line };
    return true;
}

static char *prefix_digits(char digits[PREFIX_DIGITS], uint64_t n)
{
    char *at = digits + PREFIX_DIGITS;

    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return at;
}

/* Writes marks such as "10": a digit for each file, 1 if the key is perhaps in
 * any of its filters. */
static void prefix_marks(ask_text *t, const ask_prefix *p)
{
    for (size_t i = 0, from; i < p->filters; ) {
        bool marked = false;

        for (from = i; i < p->filters
                       && p->places[i].file == p->places[from].file; i++)
            marked |= p->marks[p->places[i].row * BATCHES_MOST];
        t->bytes[t->length++] = p->unread ? '?' : marked ? '1' : '0';
    }
}

/* Writes groups such as "0,12". */
static void prefix_groups(ask_text *t, const ask_prefix *p)
{
    char digits[PREFIX_DIGITS];
    size_t begin = t->length;

    for (size_t i = 0; i < p->filters; i++) {
        const char *at;

        if (!p->marks[p->places[i].row * BATCHES_MOST])
            continue;
        if (t->length > begin)
            t->bytes[t->length++] = ',';
        at = prefix_digits(digits, p->places[i].number);
        prefix_bytes(t, at, (size_t)(digits + PREFIX_DIGITS - at));
    }
}

/* Writes what the key lies within, in the first filter of each file that finds
 * it. A file that does not leaves it empty; TABs separate files. */
static bool prefix_entries(ask_text *t, const ask_prefix *p)
{
    char room[BLY_NESTED_TEXT];

    for (size_t i = 0, from; i < p->filters; ) {
        unsigned level = BLY_NESTED_NONE;
        bly_key entry = { NULL, 0 };

        for (from = i; i < p->filters
                       && p->places[i].file == p->places[from].file; i++)
            if (level == BLY_NESTED_NONE)
                level = p->levels[i * BATCHES_MOST];
        if (p->unread)
            entry = (bly_key){ "?", 1 };
        else if (level != BLY_NESTED_NONE)
            entry = bly_nested_entry(p->form, p->key, level, room);
        if (!prefix_room(t, entry.length + 1))
            return false;
        prefix_bytes(t, entry.data, entry.length);
        if (i < p->filters)
            t->bytes[t->length++] = '\t';
    }
    return true;
}

bool prefix_line(ask_text *t, const ask_prefix *p, const bly_key *line)
{
    size_t name = p->name != NULL ? strlen(p->name) : 0;
    size_t marks = p->filters * (p->groups ? PREFIX_DIGITS + 1 : 1);

    bool entries = p->levels != NULL && !p->groups;

    if ((entries && !prefix_entries(t, p))
        || !prefix_room(t, marks + 1 + name + 2 + line->length))
        return false;
    if (!entries)
        (p->groups ? prefix_groups : prefix_marks)(t, p);
    if (p->filters > 0)
        t->bytes[t->length++] = '\t';
    if (p->name != NULL) {
        prefix_bytes(t, p->name, name);
        t->bytes[t->length++] = ':';
    }
    if (p->number > 0) {
        if (!prefix_hole(t, p->number))
            return false;
        t->bytes[t->length++] = ':';
    }
    prefix_bytes(t, line->data, line->length);
    return true;
}

void prefix_clear(ask_text *t)
{
    t->length = t->n = 0;
}

void prefix_free(ask_text *t)
{
    free(t->bytes);
    free(t->holes);
}

/* ==== Printing, in turn ================================================= */

static bool prefix_number(uint64_t n)
{
    char digits[PREFIX_DIGITS], *at = prefix_digits(digits, n);

    return output_bytes(at, (size_t)(digits + sizeof digits - at));
}

bool prefix_print(const ask_text *t, uint64_t before, char terminator,
                  bool *unended)
{
    size_t from = 0;

    if (t->length == 0)
        return !output_failed();
    if (*unended && !output_bytes(&terminator, 1))
        return false;
    *unended = false;
    for (size_t i = 0; i < t->n; from = t->holes[i++].at)
        if (!output_bytes(t->bytes + from, t->holes[i].at - from)
            || !prefix_number(before + t->holes[i].line))
            return false;
    return output_lines(t->bytes + from, t->length - from, terminator, unended);
}

/* ==== Files ============================================================= */

const char *prefix_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "(standard input)" : path;
}

/* Prints the count of a file that has been read. */
static void prefix_count(const ask_job *job, const char *path)
{
    if (!job->want.count || !job->want.names || job->want.quiet
        || job->file.failed || inputs_skipped(job->want.how.found, path))
        return;
    output_text(prefix_name(path));
    output_format(":%" PRIu64 "\n", job->file.selected);
}

void prefix_file(ask_job *job, const char *path)
{
    const cli_lines *l = &job->lines;
    ask_file *f = &job->file;

    for (; f->at < l->count && l->paths[f->at] != path;
         *f = (ask_file){ .at = f->at + 1 })
        prefix_count(job, l->paths[f->at]);
}
