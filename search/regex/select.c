/* select.c - selects and prints the lines of a file, as grep does.
 *
 *      unselected     the last `before` of them are printed with the next
 *      selected       printed
 *      unselected     the first `after` of them are printed
 *
 * A file is read in blocks. Some may be skipped if only selected lines are
 * wanted.
 */
#include "search/commands/search.h"
#include "frame/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool select_counts(const select_want *want)
{
    return want->number || want->json || want->apart;
}

void select_begin(select_file *f, const char *name)
{
    f->name = name;
    f->selected = f->after = f->next = f->tails = 0;
    f->done = f->refused = f->binary = f->printed = false;
    bytes_free(&f->out);
    bytes_free(&f->tail);
}

bool select_waits(const select_file *f)
{
    return f->want->before > 0 || f->after > 0;
}

/* ==== Printing ========================================================== */

/* Color codes for terminals: those of grep. */
static const char select_names[] = "35", select_numbers[] = "32",
                  select_signs[] = "36", select_matches[] = "01;31";

/* Prints bytes, in their color if colors are on. */
static bool select_in(select_file *f, const char *color, const void *bytes,
                      size_t n)
{
    if (!f->want->color)
        return bytes_put(&f->out, bytes, n);
    return bytes_format(&f->out, "\33[%sm\33[K", color)
        && bytes_put(&f->out, bytes, n) && bytes_text(&f->out, "\33[m\33[K");
}

static bool select_name(select_file *f, char sign)
{
    if (!select_in(f, select_names, f->name, strlen(f->name)))
        return false;
    if (f->want->null || sign == '\n')
        return bytes_put(&f->out, f->want->null ? "\0" : &sign, 1);
    return select_in(f, select_signs, &sign, 1);
}

static bool select_number(select_file *f, uint64_t number, char sign)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRIu64, number);

    return select_in(f, select_numbers, text, (size_t)n)
        && select_in(f, select_signs, &sign, 1);
}

/* Prints the beginning of a JSON object. */
static bool select_json(select_file *f)
{
    return bytes_text(&f->out, "{\"file\":")
        && json_quote(&f->out, f->name, strlen(f->name));
}

static bool select_json_line(select_file *f, const unsigned char *bytes,
                             size_t n, uint64_t number, char sign)
{
    return select_json(f)
        && bytes_format(&f->out, ",\"number\":%" PRIu64 ",\"selected\":%s,"
                        "\"text\":", number, sign == ':' ? "true" : "false")
        && json_quote(&f->out, bytes, n) && bytes_text(&f->out, "}\n");
}

/* Prints a line with its matches in color. */
static bool select_marked(select_file *f, const unsigned char *line, size_t n)
{
    match_span span = { 0, 0 };
    size_t from = 0;
    bool fine = true;

    while (fine && span.end <= n && match_find(f->match, line, n, &span) > 0)
        if (span.end == span.start)
            span.end++;
        else {
            fine = bytes_put(&f->out, line + from, span.start - from)
                && select_in(f, select_matches, line + span.start,
                             span.end - span.start);
            from = span.end;
        }
    return fine && bytes_put(&f->out, line + from, n - from);
}

/* Prints a line, or a match in it; `sign` follows its name and number. */
static bool select_print(select_file *f, const unsigned char *bytes, size_t n,
                         uint64_t number, char sign)
{
    bool marked;

    if (f->want->json)
        return select_json_line(f, bytes, n, number, sign);
    if (!f->want->nameless && !select_name(f, sign))
        return false;
    if (f->want->number && !select_number(f, number, sign))
        return false;
    if (f->want->only)
        marked = select_in(f, select_matches, bytes, n);
    else if (f->want->color && (sign == ':') != f->want->invert)
        marked = select_marked(f, bytes, n);
    else
        marked = bytes_put(&f->out, bytes, n);
    return marked && bytes_put(&f->out, "\n", 1);
}

const char *select_break(const select_want *want)
{
    return want->color ? "\33[36m\33[K--\33[m\33[K\n" : "--\n";
}

/* Prints a separator if the lines are not adjacent to those before. */
static bool select_apart(select_file *f, uint64_t number)
{
    bool apart = f->want->apart && !f->want->json && f->printed
              && number != f->next;

    f->printed = true;
    return !apart || bytes_text(&f->out, select_break(f->want));
}

/* Returns the end of the line that begins here, without its newline. */
static const unsigned char *select_stop(const unsigned char *at,
                                        const unsigned char *end)
{
    const unsigned char *stop = memchr(at, '\n', (size_t)(end - at));

    return stop != NULL ? stop : end;
}

static const unsigned char *select_behind(const unsigned char *at,
                                          const unsigned char *end)
{
    const unsigned char *stop = select_stop(at, end);

    return stop < end ? stop + 1 : end;
}

/* Prints lines beside a selected one. */
static bool select_print_beside(select_file *f, const unsigned char *at,
                                const unsigned char *end, uint64_t number)
{
    if (at < end && !select_apart(f, number))
        return false;
    for (; at < end; at = select_behind(at, end), number++)
        if (!select_print(f, at, (size_t)(select_stop(at, end) - at), number,
                          '-'))
            return false;
    f->next = number;
    return true;
}

/* Prints all matches in a line. */
static int select_print_matches(select_file *f, const unsigned char *line,
                                size_t n, uint64_t number)
{
    match_span span = { 0, 0 };
    int found = 1;

    while (span.end <= n && (found = match_find(f->match, line, n, &span)) > 0)
        if (span.end == span.start)
            span.end++;
        else if (!select_print(f, line + span.start, span.end - span.start,
                               number, ':'))
            return report_no_memory();
    return CLI_GO;
}

/* ==== Lines that are not selected ======================================= */

static uint64_t select_count(const unsigned char *at, const unsigned char *end)
{
    uint64_t n = 0;

    for (; at < end; at = select_behind(at, end))
        n++;
    return n;
}

/* Returns the last of these lines, as many as are to be printed before a
 * selected one. *most is their limit and becomes their number. */
static const unsigned char *select_last(const unsigned char *from,
                                        const unsigned char *end,
                                        uint64_t *most)
{
    const unsigned char *at = end;
    uint64_t n = 0;

    while (at > from && n < *most) {
        for (at--; at > from && at[-1] != '\n'; )
            at--;
        n++;
    }
    *most = n;
    return at;
}

/* Prints the lines right after a selected one; *from then points behind
 * them. */
static bool select_after(select_file *f, const unsigned char **from,
                         const unsigned char *end, uint64_t *number)
{
    const unsigned char *at = *from;
    uint64_t first = *number;

    for (; f->after > 0 && at < end; f->after--, ++*number)
        at = select_behind(at, end);
    if (at > *from && !select_print_beside(f, *from, at, first))
        return false;
    *from = at;
    return true;
}

/* Prints the lines right before a selected one, including those of the block
 * before. `number` is that of the selected line. */
static bool select_before(select_file *f, const unsigned char *from,
                          const unsigned char *end, uint64_t number)
{
    uint64_t here = f->want->before, there;
    const unsigned char *at = select_last(from, end, &here);

    there = f->want->before - here;
    if (f->tails > 0 && there > 0) {
        const unsigned char *tail = f->tail.data + f->tail.from;
        const unsigned char *tail_end = f->tail.data + f->tail.to;
        const unsigned char *first = select_last(tail, tail_end, &there);

        if (!select_print_beside(f, first, tail_end, number - here - there))
            return false;
    }
    bytes_free(&f->tail);
    f->tails = 0;
    return select_print_beside(f, at, end, number - here);
}

/* Keeps the lines at the end of a block that may be printed before a line of
 * the next block. */
static bool select_keep(select_file *f, const unsigned char *from,
                        const unsigned char *end)
{
    uint64_t here = f->want->before, there;
    const unsigned char *at = select_last(from, end, &here);
    cli_bytes tail = { .from = 0 };
    bool fine = true;

    there = f->want->before - here;
    if (f->tails > 0) {
        const unsigned char *tail_end = f->tail.data + f->tail.to;
        const unsigned char *first = select_last(f->tail.data + f->tail.from,
                                                 tail_end, &there);

        fine = bytes_put(&tail, first, (size_t)(tail_end - first));
    } else
        there = 0;
    fine = fine && bytes_put(&tail, at, (size_t)(end - at));
    bytes_free(&f->tail);
    f->tail = tail;
    f->tails = here + there;
    return fine;
}

/* ==== Lines that are ==================================================== */

static int select_line(select_file *f, const unsigned char *line, size_t n,
                       uint64_t number)
{
    const select_want *want = f->want;

    f->selected++;
    f->done = want->files || want->others || want->quiet
           || (f->binary && !want->count)
           || (f->selected == want->most && want->after == 0);
    if (want->files || want->others || want->quiet || want->count || f->binary)
        return CLI_GO;
    f->after = want->after;
    if (want->only)
        return want->invert ? CLI_GO : select_print_matches(f, line, n, number);
    if (!select_apart(f, number) || !select_print(f, line, n, number, ':'))
        return report_no_memory();
    f->next = number + 1;
    return CLI_GO;
}

/* Reports an error; the rest of the file is skipped, others are searched. */
static int select_refuse(select_file *f, int error)
{
    char why[256];

    match_why(why, sizeof why, error);
    report_error("'%s' has a line that is too complex for the pattern (%s): "
                 "simplify the pattern", f->name, why);
    f->refused = f->done = true;
    return CLI_GO;
}

/* ==== Blocks ============================================================ */

/* Returns the first line from here on that may be selected; those before it are
 * not. */
static const unsigned char *select_next(const select_file *f,
                                        const text_block *block,
                                        const unsigned char *at)
{
    const unsigned char *end = block->bytes + block->n, *found;

    if (f->want->invert || at == end)
        return at;
    found = block->bytes + match_next(f->match, block->bytes, block->n,
                                      (size_t)(at - block->bytes));
    if (found == end)
        return end;
    while (found > at && found[-1] != '\n')
        found--;
    return found;
}

/* The beginning of the unselected lines since the last selected one. */
typedef struct {
    const unsigned char *from;
    uint64_t number;
} select_gap;

/* Ends the gap before the line of this number. Returns false if memory is
 * short. */
static bool select_pass(select_file *f, select_gap *gap,
                        const unsigned char *at)
{
    if (f->after > 0 && !select_after(f, &gap->from, at, &gap->number))
        return false;
    f->done |= f->selected >= f->want->most && f->after == 0;
    return true;
}

/* Turns NULs of a binary file into newlines, as grep does. */
static void select_zap(select_file *f, text_block *block)
{
    unsigned char *end = block->bytes + block->n;

    f->binary = block->binary && !f->want->text;
    for (unsigned char *at = block->bytes; f->binary && at < end
         && (at = memchr(at, '\0', (size_t)(end - at))) != NULL; )
        *at++ = '\n';
}

/* Decides about the line at `at`; the lines before it are not selected. */
static int select_look(select_file *f, select_gap *gap,
                       const unsigned char *at, const unsigned char *end,
                       bool numbers)
{
    const unsigned char *stop = select_stop(at, end);
    match_span span = { 0, 0 };
    uint64_t number;
    int found = match_find(f->match, at, (size_t)(stop - at), &span);

    if (found < 0)
        return select_refuse(f, found);
    if ((found != 0) == f->want->invert || f->selected >= f->want->most)
        return CLI_GO;
    number = gap->number + (numbers ? select_count(gap->from, at) : 0);
    if (!select_pass(f, gap, at)
        || (f->want->before > 0 && !f->binary && !f->want->count
            && !select_before(f, gap->from, at, number)))
        return report_no_memory();
    gap->from = stop < end ? stop + 1 : end;
    gap->number = number + 1;
    return select_line(f, at, (size_t)(stop - at), number);
}

int select_block(select_file *f, text_block *block)
{
    const unsigned char *end = block->bytes + block->n, *at = block->bytes;
    bool numbers = select_counts(f->want);
    select_gap gap = { at, block->lines + 1 };
    int status = CLI_GO;

    select_zap(f, block);
    while (status == CLI_GO && !f->done
           && (at = select_next(f, block, at)) < end) {
        status = select_look(f, &gap, at, end, numbers);
        at = select_behind(at, end);
        if (status == CLI_GO && f->selected >= f->want->most
            && !select_pass(f, &gap, at))
            status = report_no_memory();
    }
    if (status == CLI_GO && !f->done
        && (!select_pass(f, &gap, end)
            || (f->want->before > 0 && !select_keep(f, gap.from, end))))
        status = report_no_memory();
    return status;
}

/* ==== Files ============================================================= */

int select_end(select_file *f)
{
    const select_want *want = f->want;
    bool fine = true;

    if (want->quiet)
        return CLI_GO;
    if (want->files || want->others) {
        if (want->files == (f->selected > 0))
            fine = want->json ? select_json(f) && bytes_text(&f->out, "}\n")
                              : select_name(f, '\n');
    } else if (want->count && want->json)
        fine = select_json(f) && bytes_format(&f->out, ",\"count\":%" PRIu64
                                                       "}\n", f->selected);
    else if (want->count)
        fine = (want->nameless || select_name(f, ':'))
            && bytes_format(&f->out, "%" PRIu64 "\n", f->selected);
    else if (f->binary && f->selected > 0)
        report_note("'%s' is not text, and has a match (use -a to print it)",
                    f->name);
    return fine ? CLI_GO : report_no_memory();
}
