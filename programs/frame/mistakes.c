/* mistakes.c - finds input that the options probably misread.
 *
 * Three kinds of lines give keys that nobody meant: lines whose CR became part
 * of the key, comments in lists, and CSV whose quotes were taken for text. Each
 * is recognized by its bytes, before the first result of the file is printed.
 * The first two cause only a note, because a key may end with CR or begin with
 * '#'; columns cut at the wrong separators are an error.
 */
#include "frame/frame.h"

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

/* ==== Comments ========================================================== */

/* Returns whether the first line, a key of a list, looks like a comment. */
static bool mistakes_is_comment(const cli_lines *l, const cli_chunk *c)
{
    const cli_how *how = &l->how;

    return how->listing && c->length > 0 && c->block[0] == '#'
        && how->comment == NULL && !how->header && !how->text && !how->copy
        && how->field.n == 0 && how->given.data == NULL;
}

/* ==== Notes ============================================================= */

void mistakes_look(const cli_lines *l, cli_chunk *c)
{
    c->mistake = l->returns ? MISTAKE_CR
               : mistakes_is_carried(l, c) ? MISTAKE_CR_LF
               : mistakes_is_comment(l, c) ? MISTAKE_COMMENT : MISTAKE_NONE;
}

void mistakes_note(const cli_chunk *c)
{
    static const char *const notes[] = {
        [MISTAKE_CR_LF] = "end with CR LF, and the CR is part of the keys: "
                          "give --crlf if it is not, or --text if it is",
        [MISTAKE_CR] = "end with a CR alone: each was read as a line, and its "
                       "CR as a newline (use --text to read only newlines)",
        [MISTAKE_COMMENT] = "begin with '#', and are keys: give --comment '#' "
                            "if they are comments, or --text if they are keys"
    };
    static bool noted[sizeof notes / sizeof *notes];
    const report_shown s = report_file(c->path);

    if (c->mistake != MISTAKE_NONE && !noted[c->mistake])
        report_note("note: lines of %s%s%s %s", s.quote, s.name, s.quote,
                    notes[c->mistake]);
    noted[c->mistake] = true;
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

bool mistakes_are_columns(const cli_lines *l, cli_chunk *c)
{
    const cli_how *how = &l->how;
    char again[sizeof c->why / 2];
    const report_shown s = report_file(c->path);

    if ((how->field.n == 0 && how->label.n == 0) || how->csv || how->tsv
        || how->blanks || how->text || how->copy || !mistakes_is_csv(c->path)
        || !mistakes_is_quoted(l, c))
        return false;
    snprintf(c->why, sizeof c->why, "%s%.100s%s has columns in quotes, which "
             "only --csv reads: give --csv, or --text if the quotes are part "
             "of the columns%s%s", s.quote, s.name, s.quote,
             options_again(again, sizeof again, "--csv") ? ": " : "", again);
    return true;
}
