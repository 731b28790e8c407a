/* question.c - finds the documents that may match a pattern.
 *
 * A match of a regular expression contains some of its texts, and the index
 * knows which documents may contain those [Cox 2012]:
 *
 *      (open|close)d? +file       ("open" or "close") and "file"
 *
 * Anything uncertain is left out, which only adds candidates: classes, parts
 * that may occur zero times, and unknown escapes. With an index of words only
 * whole words count: those with separators on both sides within a text, and
 * those at its ends if the whole pattern must match words.
 *
 * [Cox 2012] Regular expression matching with a trigram index, or how Google
 * Code Search worked
 */
#include "search/commands/search.h"

#include <stdlib.h>
#include <string.h>

enum { QUESTION_DEEP = 100 };

/* ==== Rows of documents ================================================= */

static size_t question_words(const question *q)
{
    return (size_t)((q->documents + 63) / 64);
}

static uint64_t *question_row(question *q)
{
    uint64_t *row = calloc(question_words(q) + 1, sizeof *row);

    q->failed |= row == NULL;
    return row;
}

/* Intersects two rows and frees one; NULL: all documents. */
static uint64_t *question_and(const question *q, uint64_t *a, uint64_t *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    for (size_t i = 0; i < question_words(q); i++)
        a[i] &= b[i];
    free(b);
    return a;
}

/* Unites two rows and frees one; NULL: all documents. */
static uint64_t *question_or(const question *q, uint64_t *a, uint64_t *b)
{
    if (a == NULL || b == NULL) {
        free(a);
        free(b);
        return NULL;
    }
    for (size_t i = 0; i < question_words(q); i++)
        a[i] |= b[i];
    free(b);
    return a;
}

/* ==== Texts ============================================================= */

static bool question_letter(unsigned char c)
{
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9')
        || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns whether the word at an end of a text can be looked up: it must be
 * known to end there, and no byte from 0x80 on may continue it. */
static bool question_ends(const unsigned char *from, size_t n, bool whole)
{
    for (size_t i = 0; i < n; i++)
        if (from[i] >= 0x80)
            return false;
    return whole;
}

/* Cuts a text to the part whose words are whole words in each match. */
static void question_cut(unsigned char **text, size_t *n, bool whole)
{
    unsigned char *at = *text;
    size_t first = 0, last = *n;

    while (first < *n && question_letter(at[first]))
        first++;
    while (last > 0 && question_letter(at[last - 1]))
        last--;
    if (first == *n) {                          /* a single word */
        *n = question_ends(at, *n, whole) ? *n : 0;
        return;
    }
    if (!question_ends(at + last, *n - last, whole))
        *n = last;
    if (!question_ends(at, first, whole)) {
        *text += first;
        *n -= first;
    }
}

/* Returns the documents that may have this text; NULL: all. `whole`: as whole
 * words. */
static uint64_t *question_text(question *q, const unsigned char *text, size_t n,
                               bool whole)
{
    unsigned char *copy = malloc(n + 1), *part = copy;
    uint64_t *row = NULL;

    if (copy == NULL) {
        q->failed = true;
        return NULL;
    }
    memcpy(copy, text, n);
    if (q->terms->rule == TERMS_WORDS)
        question_cut(&part, &n, whole);
    if (!terms_find(q->terms, part, n))
        q->failed = true;
    else if (q->terms->n > 0 && (row = question_row(q)) != NULL
             && bly_index_which(row, q->index, q->terms->hashes, q->terms->n,
                                q->terms->n) < 0)
        q->failed = q->told = filter_error() != CLI_GO;
    free(copy);
    return row;
}

/* ==== Regular expressions =============================================== */

/* The state of reading a pattern, and the text being collected. */
typedef struct {
    question *q;
    const unsigned char *at;
    unsigned char *text;        /* room for the whole pattern                */
    size_t    n;
    unsigned  deep;
    bool      unknown;          /* the pattern excludes nothing              */
    char     *longest;          /* longest text that each match has; NULL:
                                   not wanted                                */
    bool      either;           /* no such text exists                       */
} question_reader;

/* Ends the text and looks it up. */
static uint64_t *question_end(question_reader *r, uint64_t *row)
{
    size_t n = r->n;

    r->n = 0;
    if (r->longest != NULL) {
        if (r->deep == 1 && n > strlen(r->longest)) {
            memcpy(r->longest, r->text, n);
            r->longest[n] = '\0';
        }
        return NULL;
    }
    return n == 0 ? row
         : question_and(r->q, row, question_text(r->q, r->text, n, false));
}

/* Returns the place behind a class's name, such as '[:alpha:]', or NULL. */
static const unsigned char *question_class_name(const unsigned char *at)
{
    at += 2;
    at += *at == '^';
    if (*at < 'a' || *at > 'z')
        return NULL;
    while (*at >= 'a' && *at <= 'z')
        at++;
    return at[0] == ':' && at[1] == ']' ? at + 2 : NULL;
}

/* Skips a class, which ends with the first ']' that is not its first byte and
 * not part of a known class name. */
static void question_skip_class(question_reader *r)
{
    const unsigned char *name;

    r->at++;
    r->at += *r->at == '^';
    r->at += *r->at == ']';
    while (*r->at != '\0' && *r->at != ']' && !r->unknown)
        if (*r->at == '\\') {
            r->unknown = r->at[1] == '\0'
                      || (question_letter(r->at[1])
                          && strchr("dDwWsShHvVnrtefabx", r->at[1]) == NULL);
            r->at += 2 - (r->at[1] == '\0');
        } else if (*r->at == '[' && strchr(":.=", r->at[1]) != NULL) {
            name = r->at[1] == ':' ? question_class_name(r->at) : NULL;
            r->unknown = name == NULL;
            r->at = name != NULL ? name : r->at + 1;
        } else
            r->at++;
    r->at += *r->at == ']';
}

/* Returns the place behind a '*', '?', '+' or '{2,5}', or NULL. Some versions
 * of PCRE2 allow blanks in the braces. */
static const unsigned char *question_times(const unsigned char *at)
{
    const unsigned char *end = at + 1;

    if (*at == '*' || *at == '?' || *at == '+')
        return end;
    if (*at != '{')
        return NULL;
    while ((*end >= '0' && *end <= '9') || *end == ',' || *end == ' '
           || *end == '\t')
        end++;
    return *end == '}' ? end + 1 : NULL;
}

/* Skips all repeat signs, since repeats can be repeated. Returns true if zero
 * times are possible. */
static bool question_repeat(question_reader *r, bool *repeated)
{
    const unsigned char *end;
    bool never = false;

    *repeated = false;
    for (; (end = question_times(r->at)) != NULL; r->at = end) {
        never |= *r->at != '+';
        *repeated = true;
    }
    return never;
}

/* Adds a byte to the text, unless it may occur zero times. */
static uint64_t *question_byte(question_reader *r, uint64_t *row,
                               unsigned char byte)
{
    bool repeated;

    if (question_repeat(r, &repeated))
        return question_end(r, row);
    r->text[r->n++] = byte;
    return repeated ? question_end(r, row) : row;
}

/* Handles an item that does not stand for a known byte, and its repeats. */
static uint64_t *question_other(question_reader *r, uint64_t *row)
{
    bool repeated;

    row = question_end(r, row);
    (void)question_repeat(r, &repeated);
    return row;
}

static uint64_t *question_escape(question_reader *r, uint64_t *row)
{
    unsigned char c = r->at[1];

    if (c == '\0') {
        r->unknown = true;
        return row;
    }
    r->at += 2;
    if (!question_letter(c) || c == '_' || c >= 0x80)
        return question_byte(r, row, c);
    r->unknown |= strchr("bBdDwWsSAzZGhHvVRXKtnrfea", c) == NULL;
    return question_other(r, row);
}

static uint64_t *question_either(question_reader *r);

/* Handles a group. The texts of '(…' and '(?:…' count; other groups, such as
 * lookaheads, are only skipped. */
static uint64_t *question_group(question_reader *r, uint64_t *row)
{
    uint64_t *within;
    bool plain = r->at[1] != '?', repeated;

    row = question_end(r, row);
    if (r->at[1] == '*' || (!plain && strchr(":=!<>|", r->at[2]) == NULL)) {
        r->unknown = true;
        return row;
    }
    plain |= r->at[2] == ':';
    r->at += r->at[1] == '?' ? 3 : 1;
    within = question_either(r);
    r->unknown |= *r->at != ')';
    r->at += *r->at == ')';
    if (question_repeat(r, &repeated) || !plain) {
        free(within);
        within = NULL;
    }
    return question_and(r->q, row, within);
}

static uint64_t *question_one(question_reader *r, uint64_t *row)
{
    unsigned char c = *r->at;

    switch (c) {
    case '\\':
        return question_escape(r, row);
    case '(':
        return question_group(r, row);
    case '[':
        question_skip_class(r);
        return question_other(r, row);
    case '.': case '^': case '$':
        r->at++;
        return question_other(r, row);
    default:
        r->at++;
        return question_byte(r, row, c);
    }
}

static uint64_t *question_sequence(question_reader *r)
{
    uint64_t *row = NULL;

    while (!r->unknown && *r->at != '\0' && *r->at != '|' && *r->at != ')')
        row = question_one(r, row);
    return question_end(r, row);
}

static uint64_t *question_either(question_reader *r)
{
    uint64_t *row;

    r->unknown |= ++r->deep > QUESTION_DEEP;
    row = question_sequence(r);
    while (!r->unknown && *r->at == '|') {
        r->at++;
        r->either |= r->deep == 1;
        row = question_or(r->q, row, question_sequence(r));
    }
    r->deep--;
    return row;
}

/* Reads a whole pattern; NULL: it excludes no document. */
static uint64_t *question_read(question_reader *r, const char *pattern)
{
    uint64_t *row = NULL;

    r->at = (const unsigned char *)pattern;
    r->text = malloc(strlen(pattern) + 1);
    r->q->failed |= r->text == NULL;
    r->unknown = r->text == NULL || strstr(pattern, "\\Q") != NULL
              || strstr(pattern, "\\E") != NULL;
    if (!r->unknown)
        row = question_either(r);
    r->unknown |= *r->at != '\0';
    free(r->text);
    if (!r->unknown)
        return row;
    free(row);
    return NULL;
}

static uint64_t *question_regex(question *q, const char *pattern)
{
    question_reader r = { .q = q };

    return question_read(&r, pattern);
}

char *question_literal(const char *pattern)
{
    question q = { .failed = false };
    question_reader r = { .q = &q, .longest = calloc(strlen(pattern) + 1, 1) };

    if (r.longest == NULL)
        return NULL;
    free(question_read(&r, pattern));
    if (!r.unknown && !r.either && *r.longest != '\0')
        return r.longest;
    free(r.longest);
    return NULL;
}

uint64_t *question_ask(question *q, const char *pattern, bool fixed, bool words)
{
    return fixed ? question_text(q, (const unsigned char *)pattern,
                                 strlen(pattern), words)
                 : question_regex(q, pattern);
}

uint64_t *question_all(question *q)
{
    uint64_t *row = question_row(q);

    if (row != NULL)
        memset(row, 0xFF, question_words(q) * sizeof *row);
    return row;
}

uint64_t *question_any(const question *q, uint64_t *a, uint64_t *b)
{
    return question_or(q, a, b);
}
