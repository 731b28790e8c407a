/* mistakes.c - finds input that the options probably misread.
 *
 * Some lines give keys that nobody meant: lines whose CR became part of the
 * key, comments in lists, and CSV whose quotes or commas were taken for text.
 * Each kind is recognized by the first bytes of a file, before a result is
 * printed. It causes a note, because such keys may be wanted; but if the name
 * of the file says that it is CSV, columns cut at the wrong separators are an
 * error.
 */
#include "frame/mistakes.h"

#include "frame/keys.h"
#include "frame/options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ==== CR at the end of keys ============================================= */

/* Returns whether the keys of the first lines of the chunk end with CR. */
static bool mistakes_is_carried(const cli_lines *l, const cli_chunk *c)
{
    enum { FIRST = 8 };
    const unsigned char *line = c->block, *end, *hit;
    bly_key keys[FIRST], labels[FIRST];
    size_t n = 0, keyless = 0;

    if (c->length == 0 || l->how.null || l->how.cut_cr || l->how.csv
        || (l->how.form & BLY_FORM_KEEP_CR) != 0
        || l->how.text || l->how.copy || l->form == LINES_MEMBERS)
        return false;
    end = line + c->length;
    for (; n < FIRST && line < end; n++, line = hit + 1) {
        hit = memchr(line, '\n', (size_t)(end - line));
        if (hit == NULL)
            break;
        keys[n] = (bly_key){ line, (size_t)(hit - line) };
    }
    if (l->form != LINES_WHOLE)
        keyless = keys_make(l, c, keys, labels, n);
    for (size_t i = 0; i < n; i++)
        if (keys[i].data != NULL
            && (keys[i].length == 0
                || ((const char *)keys[i].data)[keys[i].length - 1] != '\r'))
            return false;
    return n > keyless;
}

/* ==== CR within lines =================================================== */

/* Returns whether the first line has a CR that is not at its end. */
static bool mistakes_is_within(const cli_lines *l, const cli_chunk *c)
{
    const cli_how *how = &l->how;
    const unsigned char *line = c->block, *hit, *cr;

    if (c->length == 0 || how->null || how->text || how->copy || how->csv
        || how->given.data != NULL || l->form == LINES_MEMBERS)
        return false;
    hit = memchr(line, '\n', c->length);
    cr = hit != NULL ? memchr(line, '\r', (size_t)(hit - line)) : NULL;
    return cr != NULL && cr + 1 < hit;
}

/* ==== Comments ========================================================== */

/* Returns whether the first line, a key of a list, looks like a comment. */
static bool mistakes_is_comment(const cli_lines *l, const cli_chunk *c)
{
    const cli_how *how = &l->how;

    return how->listing && c->length > 0 && c->block[0] == '#'
        && how->comment == NULL && !how->header && !how->text && !how->copy
        && how->field.n == 0 && how->given.data == NULL;
}

/* ==== Columns in quotes ================================================= */

/* Returns whether the name is that of a CSV file, compressed or not. */
static bool mistakes_is_csv(const char *path)
{
    const char *dot = strrchr(path, '.');
    size_t length;

    if (dot == NULL)
        return false;
    if (strcasecmp(dot, ".csv") == 0)
        return true;
    length = (size_t)(dot - path);
    return length > 4 && strncasecmp(dot - 4, ".csv", 4) == 0
        && strchr(dot, '/') == NULL;
}

/* Returns whether a column of the chunk begins with a quote. */
static bool mistakes_is_quoted(const cli_lines *l, const cli_chunk *c)
{
    const unsigned char *at = c->block, *end = at + c->length;
    const unsigned char separator = (unsigned char)l->how.separator;

    for (; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++)
        if (at == c->block || at[-1] == separator
            || memchr("\n\t,;", at[-1], 4) != NULL)
            return true;
    return false;
}

/* Returns whether columns are cut at each separator. */
static bool mistakes_cuts(const cli_how *how)
{
    return (how->field.n > 0 || how->label.n > 0) && !how->csv && !how->tsv
        && !how->blanks && !how->text && !how->copy
        && how->given.data == NULL;
}

/* Returns whether the first line has no TAB, at which columns are to be cut. */
static bool mistakes_is_uncut(const cli_lines *l, const cli_chunk *c)
{
    const unsigned char *hit = memchr(c->block, '\n', c->length);
    size_t n = hit != NULL ? (size_t)(hit - c->block) : c->length;

    return l->how.separator == '\t' && l->fresh && n > 0
        && memchr(c->block, '\t', n) == NULL;
}

bool mistakes_are_columns(const cli_lines *l, cli_chunk *c)
{
    const report_shown s = report_file(c->path);
    char again[sizeof c->why / 2];
    bool quoted;

    if (!mistakes_cuts(&l->how) || !mistakes_is_csv(c->path))
        return false;
    quoted = mistakes_is_quoted(l, c);
    if (!quoted && !mistakes_is_uncut(l, c))
        return false;
    snprintf(c->why, sizeof c->why, "%s%.100s%s %s: use --csv, or %s%s%s",
             s.quote, s.name, s.quote,
             quoted ? "has columns in quotes, which only --csv reads"
                    : "has no TABs to separate its columns",
             quoted ? "--text if the quotes are part of the columns"
                    : "-t with the separator",
             options_again(again, sizeof again, "--csv") ? ": " : "", again);
    return true;
}

/* Returns whether the first lines of a file with another name have a column in
 * quotes. */
static bool mistakes_are_quotes(const cli_lines *l, const cli_chunk *c)
{
    enum { FIRST = 4096 };
    const cli_chunk first = {
        .block = c->block, .length = c->length < FIRST ? c->length : FIRST
    };

    return mistakes_cuts(&l->how) && mistakes_is_quoted(l, &first);
}

/* ==== Notes ============================================================= */

void mistakes_look(const cli_lines *l, cli_chunk *c)
{
    c->mistake = l->returns ? MISTAKE_CR
               : mistakes_is_carried(l, c) ? MISTAKE_CR_LF
               : mistakes_is_within(l, c) ? MISTAKE_WITHIN
               : mistakes_is_comment(l, c) ? MISTAKE_COMMENT
               : mistakes_are_quotes(l, c) ? MISTAKE_QUOTES : MISTAKE_NONE;
}

void mistakes_note(const cli_chunk *c)
{
    static const char *const notes[] = {
        [MISTAKE_CR_LF] = "end with CR LF; the CR is part of the keys (use "
                          "--crlf to remove it, or --text to keep it)",
        [MISTAKE_CR] = "end with a CR alone; each CR was read as a newline "
                       "(use --text to read only newlines)",
        [MISTAKE_WITHIN] = "contain a CR, which is part of the keys: if it "
                           "ends lines, convert the file with tr '\\r' '\\n'",
        [MISTAKE_COMMENT] = "begin with '#' and are keys (use --comment '#' to "
                            "skip them)",
        [MISTAKE_QUOTES] = "have columns in quotes; the quotes are part of the "
                           "columns (use --csv to remove them)"
    };
    static bool noted[sizeof notes / sizeof *notes];
    const report_shown s = report_file(c->path);

    if (c->mistake != MISTAKE_NONE && !noted[c->mistake])
        report_note("note: lines of %s%s%s %s", s.quote, s.name, s.quote,
                    notes[c->mistake]);
    noted[c->mistake] = true;
}
