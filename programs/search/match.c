/* match.c - does a line match?
 *
 * All that knows PCRE2. Bytes are bytes, and a letter is one of ASCII's, as in
 * grep -P where LC_ALL is C. The patterns become one, with an alternative for
 * each. Where each is a plain text, or one expression has a text that all its
 * matches have, that is looked for in all of a block, and only lines that have
 * it are matched. Other expressions are matched line by line, for they could
 * match across two. Floor 8; includes search.h and PCRE2.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/search.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct match {
    pcre2_code *line, *plain;           /* plain NULL: not all are texts     */
    pcre2_match_data *data;
    bool shared;                        /* the codes are another's           */
};

static const char match_special[] = "\\^$.[]|()?*+{}#-";

static bool match_is_plain(const char *pattern)
{
    return strpbrk(pattern, match_special) == NULL;
}

/* ==== One pattern of all ================================================ */

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
        match_add_text(to, fixed ? ")" : "\\E)");       /* of a \Q */
    }
}

/* ==== Compiling ========================================================= */

static pcre2_code *match_compile(const char *text, size_t n, bool fold,
                                 int *error, size_t *where)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    uint32_t options = PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF
                     | (fold ? PCRE2_CASELESS : 0);
    pcre2_code *code = NULL;

    if (context == NULL) {
        *error = PCRE2_ERROR_NOMEMORY;
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    code = pcre2_compile((PCRE2_SPTR)text, n, options, error, where, context);
    pcre2_compile_context_free(context);
    if (code != NULL)
        (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);     /* a wish */
    return code;
}

void match_why(char *text, size_t room, int error)
{
    if (pcre2_get_error_message(error, (PCRE2_UCHAR *)text, room) < 0)
        text[0] = '\0';
}

/* Each pattern by itself, so that a fault is found in its own, and a bracket
 * too few in one is not closed by the next. */
static int match_check(const cli_operands *patterns, const match_how *how)
{
    for (size_t i = 0; i < patterns->count && !how->fixed; i++) {
        const char *pattern = patterns->names[i];
        char why[256];
        size_t where;
        int error;
        pcre2_code *code = match_compile(pattern, strlen(pattern), how->fold,
                                         &error, &where);

        if (code == NULL) {
            match_why(why, sizeof why, error);
            return report_error("the pattern '%.200s' is wrong at its byte "
                                "%zu: %s (-F takes it as a text)", pattern,
                                where, why);
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

static pcre2_code *match_make(const cli_operands *patterns,
                              const match_how *how, bool plain)
{
    match_text text = { .failed = false };
    bool lines = how->lines && !plain, words = how->words && !plain;
    pcre2_code *code = NULL;
    size_t where;
    int error;

    if (patterns->count == 1 && !how->fixed && !lines && !words)
        match_add_text(&text, patterns->names[0]);
    else if (patterns->count == 0)
        match_add_text(&text, "(?!)");          /* matches nothing */
    else {
        match_add_text(&text, lines ? "^(?:" : words ? "(?<!\\w)(?:" : "(?:");
        match_join(&text, patterns, how->fixed);
        match_add_text(&text, lines ? ")$" : words ? ")(?!\\w)" : ")");
    }
    if (!text.failed && bytes_put(&text.bytes, "", 1))
        code = match_compile((const char *)text.bytes.data,
                             bytes_waiting(&text.bytes) - 1, how->fold, &error,
                             &where);
    bytes_free(&text.bytes);
    return code;
}

/* The text that all matches of a regular expression have; NULL: none. */
static pcre2_code *match_literal(const char *pattern, const match_how *how)
{
    const match_how fixed = { .fixed = true, .fold = how->fold };
    char *literal = question_literal(pattern);
    cli_operands one = { &literal, 1 };
    pcre2_code *code = literal != NULL ? match_make(&one, &fixed, true) : NULL;

    free(literal);
    return code;
}

match *match_open(const cli_operands *patterns, const match_how *how)
{
    match *m;

    if (match_check(patterns, how) != CLI_GO)
        return NULL;
    m = calloc(1, sizeof *m);
    if (m != NULL) {
        m->line = match_make(patterns, how, false);
        if (how->fixed || match_all_plain(patterns))
            m->plain = match_make(patterns, how, true);
        else if (patterns->count == 1)
            m->plain = match_literal(patterns->names[0], how);
        m->data = pcre2_match_data_create(1, NULL);
    }
    if (m != NULL && m->line != NULL && m->data != NULL)
        return m;
    match_close(m);
    report_error("the patterns cannot be joined, or memory is too small: give "
                 "fewer at once");
    return NULL;
}

match *match_share(const match *other)
{
    match *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    *m = (match){ other->line, other->plain, pcre2_match_data_create(1, NULL),
                  true };
    if (m->data != NULL)
        return m;
    free(m);
    return NULL;
}

void match_close(match *m)
{
    if (m == NULL)
        return;
    if (!m->shared) {
        pcre2_code_free(m->line);
        pcre2_code_free(m->plain);
    }
    pcre2_match_data_free(m->data);
    free(m);
}

/* ==== Matching ========================================================== */

size_t match_next(match *m, const unsigned char *text, size_t n, size_t from)
{
    int found;

    if (m->plain == NULL)
        return from;
    found = pcre2_match(m->plain, text, n, from, 0, m->data, NULL);
    if (found == PCRE2_ERROR_NOMATCH)
        return n;
    return found < 0 ? from : pcre2_get_ovector_pointer(m->data)[0];
}

int match_find(match *m, const unsigned char *line, size_t n, match_span *span)
{
    size_t from = span->end;
    int found = pcre2_match(m->line, line, n, from, 0, m->data, NULL);
    const size_t *at;

    if (found == PCRE2_ERROR_JIT_STACKLIMIT)    /* the slow way needs none */
        found = pcre2_match(m->line, line, n, from, PCRE2_NO_JIT, m->data,
                            NULL);
    if (found < 0)
        return found == PCRE2_ERROR_NOMATCH ? 0 : found;
    at = pcre2_get_ovector_pointer(m->data);
    *span = (match_span){ at[0], at[1] > at[0] ? at[1] : at[0] };
    return 1;
}
