/* textual.c - filters that are written as text.
 *
 *     hexadecimal  if --format names the format: 0x before the digits or
 *                  not, and they are
 *                    pairs    "0a 1b 2c", in any lines (od -An -v -tx1)
 *                    runs     one unbroken run per line from its start, all
 *                             of the same length but the last (xxd -p)
 *     JSON         an Ethereum block or receipt: its "logsBloom"
 *
 * In some formats nearly any bytes are a valid filter, which would then lack
 * its keys. Text is therefore either recognised as one of these or refused. So
 * are digits that may be addresses, or numbers of several bytes, whose order
 * depends on the machine.
 */
#include "filters/filters.h"

#include <string.h>

enum {
    TEXTUAL_LOOK = 24,          /* this much text is certainly text        */
    TEXTUAL_RUN = 20            /* minimum digits of a line if there are
                                   several: no machine number has as many   */
};

/* ==== Is it? ============================================================ */

static bool textual_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool textual_plain(unsigned char byte)
{
    return textual_blank(byte) || (byte >= ' ' && byte <= '~');
}

static int textual_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

static size_t textual_skip(const unsigned char *bytes, size_t n)
{
    size_t at = 0;

    while (at < n && textual_blank(bytes[at]))
        at++;
    return at;
}

/* Returns the bytes of the UTF-8 character here; 0 if it is invalid. A
 * character cut off by the end counts. */
static size_t textual_character(const unsigned char *at, size_t left)
{
    size_t n = *at < 0x80 ? (size_t)textual_plain(*at)
             : *at >= 0xC2 && *at < 0xE0 ? 2
             : *at >= 0xE0 && *at < 0xF0 ? 3
             : *at >= 0xF0 && *at < 0xF5 ? 4 : 0;

    for (size_t i = 1; i < n && i < left; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

/* Returns whether this is ASCII in UTF-16, of either byte order. */
static bool textual_wide(const unsigned char *bytes, size_t n)
{
    size_t look = n < TEXTUAL_LOOK ? n : TEXTUAL_LOOK, at = 0, low;

    if (n < 4 || (n < TEXTUAL_LOOK && n % 2 != 0))
        return false;
    if (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0)
        at = 2;
    low = bytes[at] == 0;
    for (; at + 1 < look; at += 2)
        if (!textual_plain(bytes[at + low]) || bytes[at + 1 - low] != 0)
            return false;
    return true;
}

/* Returns whether the first bytes are characters, with or without a byte order
 * mark. */
static bool textual_is(const unsigned char *bytes, size_t n)
{
    size_t at = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    size_t end = n - at < TEXTUAL_LOOK ? n : at + TEXTUAL_LOOK, character;

    if (textual_wide(bytes, n))
        return true;
    for (; at < end; at += character) {
        character = textual_character(bytes + at, n - at);
        if (character == 0)
            return false;
    }
    return n > 0;
}

/* Returns whether the bytes look like a JSON object or array. */
static bool textual_json(const unsigned char *bytes, size_t n)
{
    size_t at = textual_skip(bytes, n);

    return at < n && (bytes[at] == '{' || bytes[at] == '[');
}

/* Returns whether a foreign format is named. */
static bool textual_named(void)
{
    const char *format = format_how()->format;

    return format != NULL && strcmp(format, "bloomery") != 0;
}

bool textual_begins(const unsigned char *bytes, size_t n)
{
    return textual_json(bytes, n) || (textual_named() && textual_is(bytes, n));
}

/* ==== Hexadecimal digits ================================================ */

/* The layout of a text of digits. */
typedef struct {
    size_t pairs, others;       /* groups of two digits, and others         */
    size_t lines;               /* with digits                              */
    size_t run, last;           /* digits of the first and of the last line  */
    bool   odd;                 /* a group has an odd number                */
    bool   broken;              /* a line has several groups, or begins with
                                   blanks, or differs in length              */
} textual_shape;

/* Checks for digits and blanks only, after an optional 0x; *from is their
   start. */
static bool textual_digits(const unsigned char *bytes, size_t n, size_t *from)
{
    size_t digits = 0, at = textual_skip(bytes, n);

    *from = at + 1 < n && bytes[at] == '0' && (bytes[at + 1] | 0x20) == 'x'
          ? at + 2 : 0;
    for (size_t i = *from; i < n; i++)
        if (textual_digit(bytes[i]) >= 0)
            digits++;
        else if (!textual_blank(bytes[i]))
            return false;
    return digits > 1;
}

/* Notes a group of digits; `first`: it begins its line, at the start or after
 * blanks. */
static void textual_group(textual_shape *s, size_t digits, bool first,
                          bool indented)
{
    if (digits == 2)
        s->pairs++;
    else
        s->others++;
    s->odd |= digits % 2 != 0;
    s->broken |= !first || indented
              || (s->lines > 0 && (s->last != s->run || digits > s->run));
    s->lines += first;
    s->run = s->lines == 1 && first ? digits : s->run;
    s->last = digits;
}

static textual_shape textual_measure(const unsigned char *bytes, size_t from,
                                     size_t n)
{
    textual_shape shape = { .pairs = 0 };
    bool first = true;

    for (size_t line = from, at = from, end; at < n; at = end) {
        for (end = at; end < n && textual_digit(bytes[end]) >= 0; end++)
            continue;
        if (end > at) {
            textual_group(&shape, end - at, first, at > line);
            first = false;
        } else if (bytes[end++] == '\n') {
            first = true;
            line = end;
        }
    }
    return shape;
}

/* Returns what is wrong, or NULL if each two digits are a byte, in order. */
static const char *textual_wrong(const textual_shape *s)
{
    if (s->others == 0)
        return NULL;
    if (s->odd && s->lines == 1 && s->pairs + s->others == 1)
        return "it has an odd number of hexadecimal digits: fetch it again";
    if (!s->odd && !s->broken && (s->lines == 1 || s->run >= TEXTUAL_RUN))
        return NULL;
    return "its hexadecimal digits are not single bytes in order, but have "
           "addresses or numbers of several bytes: write them with xxd -p or "
           "od -An -v -tx1";
}

/* Decodes digits in place. Returns NULL or what is wrong. */
static const char *textual_unhex(unsigned char *bytes, size_t *n, size_t from)
{
    const textual_shape shape = textual_measure(bytes, from, *n);
    const char *wrong = textual_wrong(&shape);
    size_t made = 0;
    int high = -1;

    for (size_t i = from; i < *n && wrong == NULL; i++) {
        int digit = textual_digit(bytes[i]);

        if (digit < 0)
            continue;                   /* a blank */
        if (high >= 0)
            bytes[made++] = (unsigned char)(high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    *n = wrong == NULL ? made : *n;
    return wrong;
}

/* ==== JSON ============================================================== */

/* Finds the next string of a JSON text from *at on, without its quotes and with
 * its escapes. Returns false if there is none. */
static bool textual_string(const unsigned char *bytes, size_t all, size_t *at,
                           size_t *from, size_t *n)
{
    const unsigned char *quote = memchr(bytes + *at, '"', all - *at);
    size_t i;

    if (quote == NULL)
        return false;
    *from = (size_t)(quote - bytes) + 1;
    for (i = *from; i < all && bytes[i] != '"'; i++)
        i += bytes[i] == '\\';
    if (i >= all)
        return false;
    *n = i - *from;
    *at = i + 1;
    return true;
}

/* Finds the text of the member "logsBloom", and counts such members. */
static size_t textual_member(const unsigned char *bytes, size_t all,
                             size_t *from, size_t *n)
{
    static const char name[] = "logsBloom";
    size_t at = 0, begin, length, count = 0;

    while (textual_string(bytes, all, &at, &begin, &length)) {
        bool named = length == sizeof name - 1
                  && memcmp(bytes + begin, name, length) == 0;

        if (named)
            at += textual_skip(bytes + at, all - at);
        if (!named || at == all || bytes[at] != ':')
            continue;
        at++;
        if (!textual_string(bytes, all, &at, &begin, &length))
            break;
        if (count++ == 0) {
            *from = begin;
            *n = length;
        }
    }
    return count;
}

static int textual_refuse(const char *path, const char *what)
{
    return report_error("'%s': %s", path, what);
}

/* Takes a block or receipt, of which there must be one. */
static int textual_take_member(unsigned char *bytes, size_t *all, size_t from,
                               size_t n, const char *path, const char **format)
{
    size_t digits;

    if (textual_named() && strcmp(*format, "ethereum") != 0)
        return report_error("'%s': it is JSON with a logsBloom, whose format "
                            "is ethereum, not %s: leave --format out", path,
                            *format);
    memmove(bytes, bytes + from, n);
    *all = n;
    *format = "ethereum";
    if (!textual_digits(bytes, n, &digits)
        || textual_unhex(bytes, all, digits) != NULL)
        return textual_refuse(path, "its logsBloom is not hexadecimal: fetch "
                                    "it again");
    return CLI_GO;
}

/* ==== All of it ========================================================= */

int textual_take(unsigned char *bytes, size_t *n, const char *path,
                 const char **format)
{
    size_t from = 0, length = 0, digits;
    size_t members = textual_json(bytes, *n)
                   ? textual_member(bytes, *n, &from, &length) : 0;
    const char *wrong;

    if (members > 1)
        return report_error("'%s' has %zu filters named logsBloom: give one "
                            "block or receipt (jq '.result[0]')", path,
                            members);
    if (members == 1)
        return textual_take_member(bytes, n, from, length, path, format);
    if (!textual_named() || !textual_is(bytes, *n))
        return CLI_GO;
    if (!textual_digits(bytes, *n, &digits))
        return textual_refuse(path, "it is text, and not only hexadecimal "
                              "digits: give only those, or the bytes (xxd -r "
                              "-p)");
    wrong = textual_unhex(bytes, n, digits);
    return wrong == NULL ? CLI_GO : textual_refuse(path, wrong);
}
