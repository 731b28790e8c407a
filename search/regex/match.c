/* match.c - matches lines; the only file that uses PCRE2.
 *
 * Patterns match bytes, and letters are ASCII's, as in grep -P with LC_ALL=C.
 * As many patterns as possible become alternatives of one pattern. A pattern
 * that refers to groups by number or name, or that could end the others, is
 * compiled separately. The leftmost match of all counts; of several that begin
 * there, the first pattern's.
 *
 * If every pattern is plain text, or one expression has a text that all its
 * matches contain, a whole block is searched for that text, and only lines that
 * contain it are matched. Other expressions are matched line by line, because
 * they could match across lines. many.c searches for many fixed texts.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/commands/search.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

typedef struct { pcre2_code **all; size_t n; } match_codes;

struct match {
    match_codes line, plain;            /* no plain ones: not all are texts  */
    many *many;                         /* instead of the plain ones         */
    bool sure;                          /* the same for other patterns       */
    pcre2_match_data *data;
    bool shared;                        /* the codes belong to another match */
};

enum { MATCH_TOGETHER = 500 };          /* most patterns per code            */

static const char match_special[] = "\\^$.[]|()?*+{}#-";

static bool match_is_plain(const char *pattern)
{
    return strpbrk(pattern, match_special) == NULL;
}

/* ==== Combining patterns ================================================ */

typedef struct { cli_bytes bytes; bool failed; } match_text;

static void match_add(match_text *to, const char *text, size_t n)
{
    to->failed |= !bytes_put(&to->bytes, text, n);
}

static void match_add_text(match_text *to, const char *text)
{
    match_add(to, text, strlen(text));
}

static void match_add_fixed(match_text *to, const char *pattern)
{
    for (; *pattern != '\0'; pattern++) {
        if (strchr(match_special, *pattern) != NULL)
            match_add(to, "\\", 1);
        match_add(to, pattern, 1);
    }
}

static void match_join(match_text *to, const cli_operands *patterns, bool fixed)
{
    for (size_t i = 0; i < patterns->count; i++) {
        match_add_text(to, i == 0 ? "(?:" : "|(?:");
        if (fixed)
            match_add_fixed(to, patterns->names[i]);
        else
            match_add_text(to, patterns->names[i]);
        match_add_text(to, fixed ? ")" : "\\E)");       /* closes a \Q */
    }
}

/* ==== Compiling ========================================================= */

static pcre2_code *match_compile(const char *text, size_t n,
                                 const match_how *how, int *error,
                                 size_t *where)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    uint32_t options = PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF
                     | (how->fold ? PCRE2_CASELESS : 0);
    pcre2_code *code = NULL;

    if (context == NULL) {
        *error = PCRE2_ERROR_NOMEMORY;
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    if (how->lines)
        pcre2_set_compile_extra_options(context, PCRE2_EXTRA_MATCH_LINE);
    code = pcre2_compile((PCRE2_SPTR)text, n, options, error, where, context);
    pcre2_compile_context_free(context);
    if (code != NULL)
        (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);     /* optional */
    return code;
}

void match_why(char *text, size_t room, int error)
{
    if (pcre2_get_error_message(error, (PCRE2_UCHAR *)text, room) < 0)
        text[0] = '\0';
}

/* Compiles each pattern separately, so that an error is reported for its own
 * pattern, and a missing bracket in one is not supplied by the next. */
static int match_check(const cli_operands *patterns, const match_how *how)
{
    for (size_t i = 0; i < patterns->count && !how->fixed; i++) {
        const char *pattern = patterns->names[i];
        char why[256];
        size_t where;
        int error;
        pcre2_code *code = match_compile(pattern, strlen(pattern), how, &error,
                                         &where);

        if (code == NULL) {
            match_why(why, sizeof why, error);
            return report_error("the pattern '%.200s' is invalid at byte %zu: "
                                "%s (use -F for plain text)", pattern, where,
                                why);
        }
        pcre2_code_free(code);
    }
    return CLI_GO;
}

static bool match_all_plain(const cli_operands *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (!match_is_plain(patterns->names[i]))
            return false;
    return true;
}

/* Compiles patterns as one code. NULL: they are too large together, or memory
 * is short. */
static pcre2_code *match_make(const cli_operands *patterns,
                              const match_how *how)
{
    match_text text = { .failed = false };
    bool words = how->words && !how->lines;
    pcre2_code *code = NULL;
    size_t where;
    int error;

    if (patterns->count == 0)
        match_add_text(&text, "(?!)");          /* matches nothing */
    else if (patterns->count == 1 && !how->fixed && !words)
        match_add_text(&text, patterns->names[0]);
    else {
        match_add_text(&text, words ? "(?<!\\w)(?:" : "(?:");
        match_join(&text, patterns, how->fixed);
        match_add_text(&text, words ? ")(?!\\w)" : ")");
    }
    if (!text.failed && bytes_put(&text.bytes, "", 1))
        code = match_compile((const char *)text.bytes.data,
                             bytes_waiting(&text.bytes) - 1, how, &error,
                             &where);
    bytes_free(&text.bytes);
    return code;
}

/* Returns whether a group, given from behind its '(?', has no number, or sets
 * flags, that mean the same among other patterns. */
static bool match_is_own(const char *at)
{
    if (*at == '<')
        return at[1] == '=' || at[1] == '!';
    if (strchr(":=!>|#", *at) != NULL)
        return *at != '\0';
    at += strspn(at, "imsU^-");
    return *at == ')' || *at == ':';
}

/* Returns whether the pattern can be one of several alternatives. */
static bool match_joins(const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at++)
        if (*at == '\\') {
            at++;
            if (*at == '\0' || (*at >= '1' && *at <= '9') || *at == 'g'
                || *at == 'k')
                return false;
        } else if (*at == '(' && (at[1] == '*'
                                  || (at[1] == '?' && !match_is_own(at + 2))))
            return false;
    return true;
}

/* Adds codes for these patterns; if they are too large together, for each
 * half.
 */
static bool match_more(match_codes *codes, const cli_operands *patterns,
                       const match_how *how)
{
    pcre2_code *code = match_make(patterns, how);
    cli_operands half = { patterns->names, patterns->count / 2 };

    if (code == NULL && half.count > 0) {
        cli_operands other = { patterns->names + half.count,
                               patterns->count - half.count };

        return match_more(codes, &half, how)
            && match_more(codes, &other, how);
    }
    if (code == NULL)
        return false;
    if (bytes_grow(&codes->all, codes->n + 1, sizeof *codes->all)) {
        codes->all[codes->n++] = code;
        return true;
    }
    pcre2_code_free(code);
    return false;
}

static bool match_all(match_codes *codes, const cli_operands *patterns,
                      const match_how *how)
{
    cli_operands some = { patterns->names, 0 };
    bool fine = true;

    if (patterns->count == 0)
        return match_more(codes, patterns, how);
    for (size_t left = patterns->count; fine && left > 0;
         left -= some.count, some.names += some.count) {
        for (some.count = 0; some.count < left && some.count < MATCH_TOGETHER
                 && (how->fixed || match_joins(some.names[some.count])); )
            some.count++;
        some.count += some.count == 0;
        fine = match_more(codes, &some, how);
    }
    return fine;
}

/* Finds the text that all matches of a regular expression contain, if any. */
static bool match_literal(match_codes *codes, char *pattern, bool fold)
{
    const match_how fixed = { .fixed = true, .fold = fold };
    char *literal = question_literal(pattern);
    cli_operands one = { &literal, 1 };
    bool fine = literal == NULL || match_more(codes, &one, &fixed);

    free(literal);
    return fine;
}

static bool match_plain(match_codes *codes, const cli_operands *patterns,
                        const match_how *how)
{
    const match_how plain = { .fixed = how->fixed, .fold = how->fold };

    if (how->fixed || match_all_plain(patterns))
        return match_all(codes, patterns, &plain);
    return patterns->count != 1
        || match_literal(codes, patterns->names[0], how->fold);
}

/* Compares the lengths of texts: the longest comes first. */
static int match_compare(const void *a, const void *b)
{
    size_t n = strlen(*(char *const *)a), m = strlen(*(char *const *)b);

    return (n < m) - (n > m);
}

/* Fixed texts are sorted by length: the longest at a place counts, as in
 * grep. */
match *match_open(cli_operands *patterns, const match_how *how)
{
    match *m;

    if (match_check(patterns, how) != CLI_GO)
        return NULL;
    if (how->fixed && patterns->count > 1)
        qsort(patterns->names, patterns->count, sizeof *patterns->names,
              match_compare);
    m = calloc(1, sizeof *m);
    if (m != NULL)
        m->data = pcre2_match_data_create(1, NULL);
    if (m != NULL && how->fixed)
        m->many = many_open(patterns, how->fold);
    if (m != NULL)
        m->sure = m->many != NULL && !how->words && !how->lines;
    if (m != NULL && m->data != NULL
        && (m->sure || match_all(&m->line, patterns, how))
        && (m->many != NULL || match_plain(&m->plain, patterns, how)))
        return m;
    match_close(m);
    report_error("a pattern is too complex with -w, or memory is too small: "
                 "simplify the patterns");
    return NULL;
}

match *match_share(const match *other)
{
    match *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    *m = *other;
    m->data = pcre2_match_data_create(1, NULL);
    m->shared = true;
    if (m->data != NULL)
        return m;
    free(m);
    return NULL;
}

static void match_free(match_codes *codes)
{
    for (size_t i = 0; i < codes->n; i++)
        pcre2_code_free(codes->all[i]);
    free(codes->all);
}

void match_close(match *m)
{
    if (m == NULL)
        return;
    if (!m->shared) {
        match_free(&m->line);
        match_free(&m->plain);
        free(m->many);
    }
    pcre2_match_data_free(m->data);
    free(m);
}

/* ==== Matching ========================================================== */

/* Finds the next match. A longer text at the place of the first one found is in
 * the same line. */
size_t match_next(match *m, const unsigned char *text, size_t n, size_t from)
{
    match_span span = { from, from };
    size_t first = n;

    if (m->many != NULL)
        return many_find(m->many, text, n, &span) ? span.start : n;
    if (m->plain.n == 0)
        return from;
    for (size_t i = 0; i < m->plain.n; i++) {
        int found = pcre2_match(m->plain.all[i], text, first, from, 0, m->data,
                                NULL);

        if (found == PCRE2_ERROR_NOMATCH)
            continue;
        if (found < 0)
            return from;
        first = pcre2_get_ovector_pointer(m->data)[0];
    }
    return first;
}

/* Matches by one code: 1, with the place; 0; or an error. */
static int match_one(match *m, const pcre2_code *code,
                     const unsigned char *line, size_t n, match_span *span)
{
    size_t from = span->end;
    int found = pcre2_match(code, line, n, from, 0, m->data, NULL);
    const size_t *at;

    if (found == PCRE2_ERROR_JIT_STACKLIMIT)    /* the interpreter needs no
                                                   JIT stack */
        found = pcre2_match(code, line, n, from, PCRE2_NO_JIT, m->data, NULL);
    if (found < 0)
        return found == PCRE2_ERROR_NOMATCH ? 0 : found;
    at = pcre2_get_ovector_pointer(m->data);
    span->start = at[0] > from ? at[0] : from;  /* \K can move it either way */
    span->end = at[1] > span->start ? at[1] : span->start;
    return 1;
}

int match_find(match *m, const unsigned char *line, size_t n, match_span *span)
{
    match_span first = { n + 1, n + 1 };
    int any = 0;

    if (m->sure)
        return many_find(m->many, line, n, span);
    for (size_t i = 0; i < m->line.n; i++) {
        match_span one = *span;
        int found = match_one(m, m->line.all[i], line, n, &one);

        if (found < 0)
            return found;
        if (found > 0 && one.start < first.start)
            first = one;
        any |= found;
    }
    if (any)
        *span = first;
    return any;
}
