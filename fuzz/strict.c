/* strict.c - a recursive-descent parser that accepts JSON and builds
 * nothing. */
#include "strict.h"

#include <string.h>

typedef struct {
    const uint8_t *at, *end;
    int depth;
} strict_text;

static bool strict_value(strict_text *t);

static int strict_peek(const strict_text *t)
{
    return t->at < t->end ? *t->at : -1;
}

static bool strict_take(strict_text *t, int byte)
{
    bool there = strict_peek(t) == byte;
    t->at += there;
    return there;
}

static void strict_blanks(strict_text *t)
{
    while (strict_take(t, ' ') || strict_take(t, '\t') || strict_take(t, '\n')
           || strict_take(t, '\r'))
        continue;
}

/* ---- Strings ----------------------------------------------------------- */

/* A character of several bytes: its value must need that many, must not be a
 * surrogate, and is at most U+10FFFF. */
static bool strict_wide(strict_text *t)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint8_t first = *t->at++;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t point = first & (0x7Fu >> length);
    if (first < 0xC0 || first >= 0xF8)
        return false;
    for (size_t i = 1; i < length; i++) {
        if (strict_peek(t) < 0 || (*t->at & 0xC0) != 0x80)
            return false;
        point = point << 6 | (*t->at++ & 0x3Fu);
    }
    return point >= least[length] && point <= 0x10FFFF
        && (point < 0xD800 || point > 0xDFFF);
}

static bool strict_escape(strict_text *t)
{
    int letter = strict_peek(t);
    if (letter < 0 || memchr("\"\\/bfnrtu", letter, 9) == NULL)
        return false;
    t->at++;
    for (int i = 0; letter == 'u' && i < 4; i++, t->at++) {
        int digit = strict_peek(t) | 0x20;
        if (strict_peek(t) < 0
            || !((digit >= '0' && digit <= '9' && strict_peek(t) == digit)
                 || (digit >= 'a' && digit <= 'f')))
            return false;
    }
    return true;
}

static bool strict_string(strict_text *t)
{
    if (!strict_take(t, '"'))
        return false;
    while (!strict_take(t, '"')) {
        int byte = strict_peek(t);
        if (byte < 0x20)
            return false;
        if (byte >= 0x80) {
            if (!strict_wide(t))
                return false;
        } else if (strict_take(t, '\\')) {
            if (!strict_escape(t))
                return false;
        } else {
            t->at++;
        }
    }
    return true;
}

/* ---- Numbers and words ------------------------------------------------- */

static bool strict_digits(strict_text *t)
{
    const uint8_t *from = t->at;
    while (strict_peek(t) >= '0' && strict_peek(t) <= '9')
        t->at++;
    return t->at > from;
}

static bool strict_number(strict_text *t)
{
    (void)strict_take(t, '-');
    if (!strict_take(t, '0') && !strict_digits(t))
        return false;
    if (strict_take(t, '.') && !strict_digits(t))
        return false;
    if (strict_take(t, 'e') || strict_take(t, 'E')) {
        if (!strict_take(t, '-'))
            (void)strict_take(t, '+');
        return strict_digits(t);
    }
    return true;
}

static bool strict_word(strict_text *t, const char *word)
{
    for (; *word != '\0'; word++)
        if (!strict_take(t, *word))
            return false;
    return true;
}

/* ---- Values ------------------------------------------------------------ */

static bool strict_member(strict_text *t)
{
    strict_blanks(t);
    if (!strict_string(t))
        return false;
    strict_blanks(t);
    return strict_take(t, ':') && strict_value(t);
}

/* Reads the contents of opened brackets. */
static bool strict_row(strict_text *t, int close,
                       bool (*element)(strict_text *t))
{
    bool good = ++t->depth <= STRICT_DEEPEST;
    strict_blanks(t);
    if (good && !strict_take(t, close)) {
        do
            good = element(t);
        while (good && strict_take(t, ','));
        good = good && strict_take(t, close);
    }
    t->depth--;
    return good;
}

static bool strict_value(strict_text *t)
{
    bool good;
    strict_blanks(t);
    switch (strict_peek(t)) {
    case '{': t->at++; good = strict_row(t, '}', strict_member); break;
    case '[': t->at++; good = strict_row(t, ']', strict_value);  break;
    case '"': good = strict_string(t);        break;
    case 't': good = strict_word(t, "true");  break;
    case 'f': good = strict_word(t, "false"); break;
    case 'n': good = strict_word(t, "null");  break;
    default:  good = strict_number(t);        break;
    }
    strict_blanks(t);
    return good;
}

bool strict_json(const uint8_t *text, size_t n)
{
    strict_text t = { text, text + n, 0 };
    return strict_value(&t) && t.at == t.end;
}
