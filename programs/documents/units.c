/* units.c - `bloomery dedup --by`: the parts of documents.
 *
 * A document is the key of a line: the text of a JSON member, or the line. It
 * is cut into parts: lines, or paragraphs, which end at blank lines. A part
 * that occurred before is removed, and the rest of the document is printed. The
 * parts of a chunk are the rows that are deduplicated, in place of its lines:
 *
 *     text      | blank lines | part, and the blank lines behind it | part | …
 *     key       its lines that are not blank, without the last line's ending
 *
 * With n-grams (grams.c), the rows are all runs of N words within a line.
 *
 * A line is removed if enough of its different n-grams occurred before it. An
 * n-gram that is repeated only within the line did not: a line of one word
 * again and again is new. A line of fewer than N words has none, and stays.
 */
#include "documents/documents.h"
#include "frame/json.h"
#include "frame/members.h"
#include "frame/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== Cutting =========================================================== */

static bool units_blank_line(const unsigned char *at, const unsigned char *end)
{
    while (at < end && grams_is_blank(*at))
        at++;
    return at == end;
}

static units_part *units_add_part(dedup_units *u)
{
    if (u->n_parts == u->parts_room) {
        size_t room = 2 * u->parts_room + 1024;

        if (!bytes_grow(&u->parts, room, sizeof *u->parts))
            return NULL;
        u->parts_room = room;
    }
    return &u->parts[u->n_parts++];
}

/* Cuts a text into parts. Returns false if memory is short. */
static bool units_cut(dedup_units *u, const units_want *want, bly_key text)
{
    const unsigned char *from = text.data, *at = from, *end = at + text.length;
    size_t before = u->n_parts;
    bool apart = true;                  /* the next line begins a part */

    while (at < end) {
        const unsigned char *stop = memchr(at, '\n', (size_t)(end - at));
        const unsigned char *next = stop != NULL ? stop + 1 : end;
        units_part *part;

        stop = stop != NULL ? stop : end;
        if (units_blank_line(at, stop)) {
            apart = true;
        } else {
            part = apart || want->by != UNITS_PARAGRAPHS ? units_add_part(u)
                 : &u->parts[u->n_parts - 1];
            if (part == NULL)
                return false;
            if (apart || want->by != UNITS_PARAGRAPHS)
                *part = (units_part){ .key = (size_t)(at - from) };
            stop -= stop > at && stop[-1] == '\r';
            part->length = (size_t)(stop - from) - part->key;
            apart = false;
        }
        at = next;
        if (u->n_parts > before)
            u->parts[u->n_parts - 1].end = (size_t)(at - from);
    }
    return true;
}

/* ==== Rows ============================================================== */

/* Appends the row of a part that is compared whole. */
static bool units_whole(dedup_rows *rows, const grams_hasher *by, bly_key key)
{
    if (!marked_room(rows, 1))
        return false;
    rows->keys[rows->n] = key;
    rows->hashes[rows->n] = grams_hash(by, key.data, key.length);
    rows->drop[rows->n++] = false;
    rows->bytes += key.length;
    return true;
}

/* Marks the n-grams from row `from` on that are not the first of their kind in
 * the part. Returns false if memory is short. */
static bool units_mark_again(dedup_units *u, const dedup_rows *rows,
                             size_t from)
{
    size_t n = rows->n - from, slots = 4;

    while (slots < 2 * n)
        slots *= 2;
    if (slots > u->slots_room) {
        if (!bytes_grow(&u->slots, slots, sizeof *u->slots))
            return false;
        u->slots_room = slots;
    }
    memset(u->slots, 0, slots * sizeof *u->slots);
    for (size_t i = from; i < rows->n; i++) {
        size_t at = (size_t)rows->hashes[i] & (slots - 1);

        while (u->slots[at] != 0
               && rows->hashes[u->slots[at] - 1] != rows->hashes[i])
            at = (at + 1) & (slots - 1);
        u->again[i] = u->slots[at] != 0;
        if (u->slots[at] == 0)
            u->slots[at] = i + 1;
    }
    return true;
}

static bool units_gram_room(dedup_units *u, const dedup_rows *rows)
{
    if (rows->room <= u->gram_room)
        return true;
    if (!bytes_grow(&u->again, rows->room, sizeof *u->again)
        || !bytes_grow(&u->grams, rows->room, sizeof *u->grams))
        return false;
    u->gram_room = rows->room;
    return true;
}

/* Appends the n-grams of a part. */
static bool units_grams(dedup_units *u, dedup_rows *rows,
                        const units_want *want, const grams_hasher *by,
                        bly_key key)
{
    size_t from = rows->n, words = (size_t)want->words;

    if (!grams_read(&u->words, by, key))
        return false;
    if (u->words.n < words)
        return true;
    if (!marked_room(rows, u->words.n) || !units_gram_room(u, rows))
        return false;
    grams_roll(&u->words, words, by, u->grams + from);
    for (size_t i = 0; i + words <= u->words.n; i++) {
        rows->hashes[rows->n] = by->filter != NULL ? u->grams[rows->n]
            : bly_keyed_hash(by->keyed, &u->grams[rows->n], sizeof *u->grams);
        rows->drop[rows->n++] = false;
    }
    return units_mark_again(u, rows, from);
}

static bool units_rows(dedup_units *u, dedup_rows *rows,
                       const units_want *want, const grams_hasher *by,
                       const units_document *d)
{
    size_t from = d == u->documents ? 0 : d[-1].parts;

    for (size_t i = from; i < u->n_parts; i++) {
        units_part *part = &u->parts[i];
        bly_key key = { (const unsigned char *)d->text.data + part->key,
                        part->length };

        if (!(want->by == UNITS_GRAMS ? units_grams(u, rows, want, by, key)
                                      : units_whole(rows, by, key)))
            return false;
        part->rows = rows->n;
    }
    return true;
}

/* ==== Documents as sets ================================================= */

/* Makes room for that many more elements, and at least one. */
static bool units_set_room(units_set *set, size_t more)
{
    size_t room = set->n + more + set->n / 2 + 1;

    if (set->n + more < set->room)
        return true;
    if (!bytes_grow(&set->elements, room, sizeof *set->elements))
        return false;
    set->room = room;
    return true;
}

/* Appends the n-grams of a text. */
static bool units_collect_grams(dedup_units *u, units_set *set, size_t words,
                                const grams_hasher *by, bly_key text)
{
    if (!grams_read(&u->words, by, text) || !units_set_room(set, u->words.n))
        return false;
    if (u->words.n < words)
        return true;
    grams_roll(&u->words, words, by, set->elements + set->n);
    set->n += u->words.n + 1 - words;
    return true;
}

/* Appends the lines or paragraphs of a text. */
static bool units_collect_parts(dedup_units *u, units_set *set,
                                const units_want *want, const grams_hasher *by,
                                bly_key text)
{
    u->n_parts = 0;
    if (!units_cut(u, want, text) || !units_set_room(set, u->n_parts))
        return false;
    for (size_t i = 0; i < u->n_parts; i++)
        set->elements[set->n++] =
            grams_hash(by, (const unsigned char *)text.data + u->parts[i].key,
                       u->parts[i].length);
    return true;
}

bool units_collect(dedup_units *u, units_set *set, const units_want *want,
                   const grams_hasher *by, bly_key text)
{
    size_t before = set->n;

    if (!(want->by == UNITS_GRAMS
          ? units_collect_grams(u, set, (size_t)want->words, by, text)
          : units_collect_parts(u, set, want, by, text)))
        return false;
    if (set->n == before)
        set->elements[set->n++] = grams_hash(by, text.data, text.length);
    return true;
}

/* ==== The documents of a chunk ========================================== */

static bool units_room(dedup_units *u, size_t more)
{
    size_t room = u->n + more + u->n / 2;

    if (u->n + more <= u->room)
        return true;
    if (!bytes_grow(&u->documents, room, sizeof *u->documents))
        return false;
    u->room = room;
    return true;
}

bool units_fill(dedup_units *u, dedup_rows *rows, cli_worker *w,
                const units_want *want, const grams_hasher *by)
{
    const cli_batch *b = w->batch;

    u->n = u->n_parts = 0;
    rows->n = rows->bytes = 0;
    rows->keyless = rows->lacking = 0;
    u->lacking = 0;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (!units_room(u, b->n))
            return false;
        u->lacking += b->lacking;
        for (size_t i = 0; i < b->n; i++) {
            units_document *d = &u->documents[u->n++];

            *d = (units_document){ .line = b->lines[i], .text = b->keys[i] };
            if (d->text.data != NULL
                && (!units_cut(u, want, d->text)
                    || !units_rows(u, rows, want, by, d)))
                return false;
            d->parts = u->n_parts;
        }
    }
    if (want->by == UNITS_GRAMS) {
        for (size_t i = 0; i < rows->n; i++)
            rows->keys[i] = (bly_key){ &u->grams[i], sizeof *u->grams };
        rows->bytes = rows->n * sizeof *u->grams;
    }
    return true;
}

void units_free(dedup_units *u)
{
    free(u->documents);
    free(u->parts);
    free(u->words.hashes);
    free(u->slots);
    free(u->grams);
    free(u->again);
    bytes_free(&u->out);
}

/* ==== Deciding ========================================================== */

/* Returns the share of a part that occurred before. */
static double units_share(const dedup_units *u, const dedup_rows *rows,
                          const units_want *want, size_t part)
{
    size_t from = part == 0 ? 0 : u->parts[part - 1].rows;
    size_t all = 0, known = 0;

    if (want->by != UNITS_GRAMS)
        return rows->drop[from];
    for (size_t i = from; i < u->parts[part].rows; i++) {
        all += !u->again[i];
        known += rows->drop[i] && !u->again[i];
    }
    return all > 0 ? (double)known / (double)all : 0;
}

/* Decides which parts of a document are repeated. Returns their number. */
static size_t units_decide(dedup_units *u, const dedup_rows *rows,
                           const units_want *want, size_t from, size_t to,
                           bool *whole)
{
    size_t repeated = 0;
    uint64_t all = 0, known = 0;

    for (size_t i = from; i < to; i++) {
        units_part *part = &u->parts[i];

        part->share = units_share(u, rows, want, i);
        part->repeated = want->by == UNITS_GRAMS ? part->share >= want->overlap
                                                 : part->share > 0;
        repeated += part->repeated;
        all += part->length;
        known += part->repeated ? part->length : 0;
    }
    *whole = all > 0 && (double)known / (double)all >= want->overlap;
    return repeated;
}

/* ==== Printing ========================================================== */

/* Returns the line of a document without its end. */
static bly_key units_line(const units_document *d, char end)
{
    const char *line = d->line.data;

    return (bly_key){ line, d->line.length
                            - (line[d->line.length - 1] == end) };
}

bool units_end(const void *from, size_t n, char end)
{
    const char *bytes = from;

    return output_bytes(bytes, n)
        && ((n > 0 && bytes[n - 1] == end) || output_bytes(&end, 1));
}

/* Writes a string of JSON. Half a surrogate pair, which members.c reads as
 * three bytes, becomes an escape again. */
static bool units_quote(const unsigned char *at, size_t n)
{
    const unsigned char *end = at + n, *from = at;
    char escape[8];

    for (; at < end; at++) {
        static const char letters[] = "btn\0fr";
        size_t read = 1;

        if (*at == '"' || *at == '\\')
            snprintf(escape, sizeof escape, "\\%c", *at);
        else if (*at >= '\b' && *at <= '\r' && *at != '\v')
            snprintf(escape, sizeof escape, "\\%c", letters[*at - '\b']);
        else if (*at < ' ')
            snprintf(escape, sizeof escape, "\\u%04x", *at);
        else if (*at == 0xED && end - at >= 3 && at[1] >= 0xA0) {
            snprintf(escape, sizeof escape, "\\u%04x",
                     0xD000u | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu));
            read = 3;
        } else
            continue;
        if (!output_bytes(from, (size_t)(at - from)) || !output_text(escape))
            return false;
        at += read - 1;
        from = at + 1;
    }
    return output_bytes(from, (size_t)(end - from));
}

/* Collects what is left of a text. It ends with a newline only if all of it
 * did. */
static bool units_left(dedup_units *u, const units_document *d, size_t from,
                       size_t to)
{
    const unsigned char *text = d->text.data;
    size_t begin = 0;

    u->out.from = u->out.to = 0;
    for (size_t i = from; i < to; i++) {
        size_t end = u->parts[i].end;

        if (!u->parts[i].repeated
            && !bytes_put(&u->out, text + begin, end - begin))
            return false;
        begin = end;
    }
    while (text[d->text.length - 1] != '\n' && u->out.to > 0
           && u->parts[to - 1].repeated
           && (u->out.data[u->out.to - 1] == '\n'
               || u->out.data[u->out.to - 1] == '\r'))
        u->out.to--;
    return true;
}

/* Prints a document without its repeated parts. */
static int units_print_rest(dedup_units *u, const cli_how *how, char end,
                            const units_document *d, size_t from, size_t to)
{
    const char *line = d->line.data;
    bly_key value;
    size_t before;
    bool printed;

    if (!units_left(u, d, from, to))
        return report_no_memory();
    if (how->member == NULL)
        return output_bytes(u->out.data, u->out.to) && output_bytes(&end, 1)
             ? CLI_GO : CLI_ERROR;
    value = members_place(how, d->line.data, units_line(d, end).length);
    before = (size_t)((const char *)value.data - line);
    printed = output_bytes(line, before) && output_bytes("\"", 1)
           && units_quote(u->out.data, u->out.to) && output_bytes("\"", 1)
           && units_end(line + before + value.length,
                        d->line.length - before - value.length, end);
    return printed ? CLI_GO : CLI_ERROR;
}

/* Returns the number of characters of UTF-8. */
static uint64_t units_characters(const unsigned char *at, size_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += (at[i] & 0xC0) != 0x80;
    return count;
}

/* Refuses a document that has the member to be added. */
static int units_check_new(const units_want *want, bly_key line, char end)
{
    line.length -= ((const char *)line.data)[line.length - 1] == end;
    if (!members_named(want->annotate, line))
        return CLI_GO;
    return report_error("a document has a member '%s' already: give another "
                        "name with --annotate", want->annotate);
}

bool units_begin_member(dedup_units *u, const units_want *want)
{
    u->out.from = u->out.to = 0;
    return bytes_text(&u->out, ", ")
        && json_quote(&u->out, want->annotate, strlen(want->annotate))
        && bytes_text(&u->out, ": [");
}

int units_print_member(dedup_units *u, const units_want *want, bly_key line,
                       char end)
{
    const unsigned char *bytes = line.data;
    size_t close = line.length;

    if (!bytes_text(&u->out, "]"))
        return report_no_memory();
    if (units_check_new(want, line, end) != CLI_GO)
        return CLI_ERROR;
    while (bytes[close - 1] != '}')
        close--;
    close--;
    return output_bytes(bytes, close) && output_bytes(u->out.data, u->out.to)
        && units_end(bytes + close, line.length - close, end) ? CLI_GO
                                                              : CLI_ERROR;
}

/* Writes the member that is added to a document: the characters from which, and
 * up to which, its parts are repeated, and to what share. */
static bool units_note(dedup_units *u, const units_want *want,
                       const units_document *d, size_t from, size_t to)
{
    const unsigned char *text = d->text.data;
    size_t begin = 0;
    uint64_t at = 0;
    bool ok = units_begin_member(u, want), first = true;

    for (size_t i = from; ok && i < to; i++) {
        const units_part *part = &u->parts[i];
        uint64_t start;

        at += units_characters(text + begin, part->key - begin);
        start = at;
        at += units_characters(text + part->key, part->length);
        begin = part->key + part->length;
        if (!part->repeated)
            continue;
        ok = bytes_format(&u->out, "%s[%" PRIu64 ", %" PRIu64 ", %.4g]",
                          first ? "" : ", ", start, at, part->share);
        first = false;
    }
    return ok;
}

static int units_print_one(dedup_units *u, const dedup_rows *rows,
                           const cli_worker *w, const units_want *want,
                           size_t number, dedup_tally *tally)
{
    const units_document *d = &u->documents[number];
    const char end = w->lines->how.null ? '\0' : '\n';
    size_t from = number == 0 ? 0 : d[-1].parts, to = d->parts, repeated;
    bool whole;

    repeated = units_decide(u, rows, want, from, to, &whole);
    tally->parts += to - from;
    tally->repeated += repeated;
    if (want->remove == UNITS_DOCUMENTS || want->remove == UNITS_BOTH)
        if (whole)
            return CLI_GO;
    if (want->remove == UNITS_PARTS || want->remove == UNITS_BOTH) {
        if (repeated > 0 && repeated == to - from)
            return CLI_GO;
        if (repeated > 0) {
            tally->kept++;
            return units_print_rest(u, &w->lines->how, end, d, from, to);
        }
    }
    tally->kept++;
    if (want->annotate == NULL || d->text.data == NULL)
        return units_end(d->line.data, d->line.length, end) ? CLI_GO
                                                            : CLI_ERROR;
    return units_note(u, want, d, from, to)
         ? units_print_member(u, want, d->line, end) : report_no_memory();
}

size_t units_known(const units_want *want, const cli_worker *w)
{
    size_t i = 0;

    while (i < want->known && w->chunk.path != w->lines->paths[i])
        i++;
    return i;
}

int units_check_known(const units_want *want, const cli_lines *lines)
{
    const char *member = lines->how.member;
    size_t i = 0;

    while (i < want->known && want->known_rows[i] > 0)
        i++;
    if (i == want->known)
        return CLI_GO;
    return report_error("no document in '%s', which --known names, has %s to "
                        "compare%s%s%s%s%s: it is read by the same options as "
                        "KEYS", lines->paths[i],
                        want->by == UNITS_GRAMS && want->similar == 0
                        ? "a line of so many words" : "a text",
                        member != NULL ? " in member '" : "",
                        member != NULL ? member : "",
                        member != NULL ? "' (check " : "",
                        member != NULL ? report_lack.options : "",
                        member != NULL ? ")" : "");
}

int units_print(dedup_units *u, const dedup_rows *rows, const cli_worker *w,
                const units_want *want, dedup_tally *tally)
{
    size_t known = units_known(want, w);
    int status = CLI_GO;

    if (known < want->known) {
        want->known_rows[known] += rows->n;
        return CLI_GO;
    }
    status = units_check_known(want, w->lines);
    if (status == CLI_GO)
        status = outputs_turn(want->outputs, w->chunk.path);
    for (size_t i = 0; status == CLI_GO && i < u->n; i++)
        status = units_print_one(u, rows, w, want, i, tally);
    tally->lines += u->n;
    tally->keyless += u->lacking;
    return status == CLI_GO && w->chunk.idle && !output_flush() ? CLI_ERROR
                                                                : status;
}

/* ==== Reading the options =============================================== */

#define UNITS_OVERLAP 0.8

/* Returns the number of a word in a list of n; n if it is not there. */
static size_t units_choice(const char *word, const char *const list[], size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(word, list[i]) != 0)
        i++;
    return i;
}

static int units_read_by(const char *by, units_want *want)
{
    static const char *const units[] = { "lines", "paragraphs" };
    static const char grams[] = "ngrams=";
    const char *number = by + sizeof grams - 1;
    size_t i = units_choice(by, units, 2);
    char *end;

    want->by = (units_by)i;
    if (i < 2)
        return CLI_GO;
    if (strncmp(by, grams, sizeof grams - 1) != 0)
        return report_error("--by '%s' is unknown: give lines, paragraphs or "
                            "ngrams=N", by);
    want->words = strtoul(number, &end, 10);
    if (*number < '1' || *number > '9' || *end != '\0'
        || want->words > UNITS_WORDS_MOST)
        return report_error("--by %s: give the number of words, 1 to %d, as in "
                            "--by ngrams=13", by, UNITS_WORDS_MOST);
    return CLI_GO;
}

static int units_read_remove(const char *removing, units_want *want)
{
    static const char *const what[] = { "parts", "documents", "both", "none" };
    size_t i;

    if (want->annotate != NULL && *want->annotate == '\0')
        return report_error("--annotate '' names no member: give its name");
    if (removing == NULL)
        removing = want->annotate != NULL ? "none" : "parts";
    i = units_choice(removing, what, 4);
    if (i == 4)
        return report_error("--remove '%s' is unknown: give parts, documents, "
                            "both or none", removing);
    want->remove = (units_remove)i;
    if (want->annotate != NULL && want->remove != UNITS_NONE)
        return report_error("--annotate tells where the repeated parts are, "
                            "and --remove %s changes that: leave one of them "
                            "out", removing);
    return CLI_GO;
}

int units_check(units_want *want, const char *by, const char *removing,
                const cli_how *how)
{
    if (want->overlap < 0)
        want->overlap = UNITS_OVERLAP;
    if (want->overlap == 0)
        return report_error("--overlap 0 makes every document repeated: give "
                            "a share above 0, up to 100%%");
    if (units_read_remove(removing, want) != CLI_GO
        || units_read_by(by, want) != CLI_GO)
        return CLI_ERROR;
    if (how->member == NULL && !how->null && want->by != UNITS_GRAMS)
        return report_error("each line is a document, which has no parts: "
                            "give --json-field NAME, or -0 for documents that "
                            "end with NUL bytes");
    return CLI_GO;
}
