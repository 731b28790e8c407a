/* textual.c - filters that are written as text.
 *
 *     hexadecimal  if --format names the format: 0x before the digits or
 *                  not, and they are
 *                    pairs    "0a 1b 2c", in any lines (od -An -v -tx1)
 *                    runs     one unbroken run per line from its start, all
 *                             of the same length but the last (xxd -p)
 *     JSON         an Ethereum block or receipt: its "logsBloom"; and what
 *                  bits-and-blooms of Go makes: {"m": 10, "k": 2, "b": "AA=="}
 *
 * The JSON of npm's bloom-filters is left to the library, whose format it is.
 *
 * In some formats nearly any bytes are a valid filter, which would then lack
 * its keys. Text is therefore either recognised as one of these or refused. So
 * are digits that may be addresses, or numbers of several bytes, whose order
 * depends on the machine.
 */
#include "filters/filters.h"

#include <bloomery/foreign.h>
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

/* Returns whether the library reads the text itself. */
static bool textual_own(const unsigned char *bytes, size_t n)
{
    const char *format = bly_recognise(bytes, n, n);

    return format != NULL && strcmp(format, "npmbloom") == 0;
}

bool textual_begins(const unsigned char *bytes, size_t n)
{
    return !textual_own(bytes, n)
        && (textual_json(bytes, n)
            || (textual_named() && textual_is(bytes, n)));
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

/* Finds the text of the first member of this name, and counts such members. */
static size_t textual_member(const unsigned char *bytes, size_t all,
                             const char *name, size_t *from, size_t *n)
{
    size_t at = 0, begin, length, count = 0;

    while (textual_string(bytes, all, &at, &begin, &length)) {
        bool named = length == strlen(name)
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

/* ==== JSON of bits-and-blooms =========================================== */

/* A value in the text. */
typedef struct {
    size_t from, n;
    bool   seen, quoted;
} textual_value;

enum { TEXTUAL_M, TEXTUAL_K, TEXTUAL_B, TEXTUAL_VALUES, TEXTUAL_HEAD = 16 };

/* Skips blanks and this character. Returns false if it is not there. */
static bool textual_expect(const unsigned char *bytes, size_t all, size_t *at,
                           char wanted)
{
    *at += textual_skip(bytes + *at, all - *at);
    if (*at >= all || bytes[*at] != (unsigned char)wanted)
        return false;
    ++*at;
    return true;
}

/* Finds the string or the plain value here. */
static bool textual_find_value(const unsigned char *bytes, size_t all,
                               size_t *at, textual_value *v)
{
    *v = (textual_value){ .seen = true };
    if (textual_expect(bytes, all, at, '"')) {
        v->quoted = true;
        --*at;
        return textual_string(bytes, all, at, &v->from, &v->n);
    }
    v->from = *at;
    while (*at < all && !textual_blank(bytes[*at])
           && strchr(",:{}[]\"", bytes[*at]) == NULL)
        ++*at;
    v->n = *at - v->from;
    return v->n > 0;
}

/* Finds the members m, k and b of an object. Returns false if it lacks one, or
 * has one twice, or nested values. */
static bool textual_bitset(const unsigned char *bytes, size_t all,
                           textual_value values[TEXTUAL_VALUES])
{
    static const char names[TEXTUAL_VALUES] = { 'm', 'k', 'b' };
    textual_value name, value;
    size_t at = 0;

    memset(values, 0, TEXTUAL_VALUES * sizeof *values);
    if (!textual_expect(bytes, all, &at, '{'))
        return false;
    do {
        if (!textual_find_value(bytes, all, &at, &name) || !name.quoted
            || !textual_expect(bytes, all, &at, ':')
            || !textual_find_value(bytes, all, &at, &value))
            return false;
        for (size_t i = 0; i < TEXTUAL_VALUES; i++)
            if (name.n == 1 && bytes[name.from] == (unsigned char)names[i]) {
                if (values[i].seen)
                    return false;
                values[i] = value;
            }
    } while (textual_expect(bytes, all, &at, ','));
    return textual_expect(bytes, all, &at, '}')
        && textual_skip(bytes + at, all - at) == all - at
        && values[TEXTUAL_M].seen && values[TEXTUAL_K].seen
        && values[TEXTUAL_B].quoted;
}

static bool textual_number(const unsigned char *bytes, const textual_value *v,
                           uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < v->n; i++) {
        unsigned char c = bytes[v->from + i];
        uint64_t digit = (uint64_t)(c - '0');

        if (c < '0' || c > '9' || *out > (UINT64_MAX - digit) / 10)
            return false;
        *out = 10 * *out + digit;
    }
    return !v->quoted;
}

/* Returns the value of a digit of base64, in either alphabet, or -1. */
static int textual_base64(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Decodes base64 in place. Returns false if it is not, or is cut short. */
static bool textual_unbase(unsigned char *bytes, size_t *n)
{
    size_t digits = *n, made = 0;
    uint32_t bits = 0;

    while (digits > 0 && *n - digits < 2 && bytes[digits - 1] == '=')
        digits--;
    if (*n % 4 != 0)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int digit = textual_base64(bytes[i]);

        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 > 0)
            bytes[made++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    *n = made;
    return true;
}

static uint64_t textual_u64(const unsigned char *bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < 8; i++)
        v = v << 8 | bytes[i];
    return v;
}

static void textual_set_u64(unsigned char *bytes, uint64_t v)
{
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(v >> (56 - 8 * i));
}

/* Turns the words, of which the first is the number of bits, if they have the
 * lowest byte first. Returns false if neither order has that number. */
static bool textual_order(unsigned char *bytes, size_t n, uint64_t m)
{
    if (n < 8 || n % 8 != 0)
        return false;
    if (textual_u64(bytes) == m)
        return true;
    for (size_t at = 0; at < n; at += 8)
        for (size_t i = 0; i < 4; i++) {
            unsigned char low = bytes[at + i];

            bytes[at + i] = bytes[at + 7 - i];
            bytes[at + 7 - i] = low;
        }
    return textual_u64(bytes) == m;
}

/* Makes the binary form of them: m, k and what b holds, of which the text has
 * more bytes. */
static int textual_take_bitset(unsigned char *bytes, size_t *all,
                               const textual_value *values, const char *path,
                               const char **format)
{
    const textual_value *b = &values[TEXTUAL_B];
    size_t n = b->n;
    uint64_t m, k;

    if (textual_named() && strcmp(*format, "bitsandblooms") != 0)
        return report_error("'%s': it is JSON with m, k and b, whose format is "
                            "bitsandblooms, not %s: leave --format out", path,
                            *format);
    if (!textual_number(bytes, &values[TEXTUAL_M], &m)
        || !textual_number(bytes, &values[TEXTUAL_K], &k))
        return textual_refuse(path, "its m or k is not a number of bits or "
                                    "hash functions: fetch it again");
    if (!textual_unbase(bytes + b->from, &n))
        return textual_refuse(path, "its b is not base64, or is cut short: "
                                    "fetch it again");
    if (!textual_order(bytes + b->from, n, m))
        return textual_refuse(path, "its b does not begin with the number of "
                                    "bits m, or is cut short: fetch it again");
    memmove(bytes + TEXTUAL_HEAD, bytes + b->from, n);
    textual_set_u64(bytes, m);
    textual_set_u64(bytes + 8, k);
    *all = TEXTUAL_HEAD + n;
    *format = "bitsandblooms";
    return CLI_GO;
}

/* ==== JSON of npm's bloom-filters ======================================= */

/* Returns whether the package names a class of filters so. */
static bool textual_export(const unsigned char *name, size_t n)
{
    static const char *const names[] = {
        "BloomFilter", "CountingBloomFilter", "PartitionedBloomFilter",
        "CuckooFilter", "XorFilter"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n == strlen(names[i]) && memcmp(name, names[i], n) == 0)
            return true;
    return false;
}

/* ==== All of it ========================================================= */

int textual_take(unsigned char *bytes, size_t *n, const char *path,
                 const char **format)
{
    textual_value values[TEXTUAL_VALUES];
    size_t from = 0, length = 0, digits;
    size_t members = textual_json(bytes, *n)
                   ? textual_member(bytes, *n, "logsBloom", &from, &length)
                   : 0;
    const char *wrong;

    if (members > 1)
        return report_error("'%s' has %zu filters named logsBloom: give one "
                            "block or receipt (jq '.result[0]')", path,
                            members);
    if (members == 1)
        return textual_take_member(bytes, n, from, length, path, format);
    if (textual_bitset(bytes, *n, values))
        return textual_take_bitset(bytes, n, values, path, format);
    if (textual_own(bytes, *n))
        return CLI_GO;
    if (textual_json(bytes, *n)
        && textual_member(bytes, *n, "type", &from, &length) == 1
        && textual_export(bytes + from, length))
        return report_error("'%s': it is JSON of a %.*s, and not as npm's "
                            "bloom-filters writes a BloomFilter: write one "
                            "with JSON.stringify(filter.saveAsJSON())", path,
                            (int)length, (const char *)bytes + from);
    if (!textual_named() || !textual_is(bytes, *n))
        return CLI_GO;
    if (!textual_digits(bytes, *n, &digits))
        return textual_refuse(path, "it is text, and not only hexadecimal "
                              "digits: give only those, or the bytes (xxd -r "
                              "-p)");
    wrong = textual_unhex(bytes, n, digits);
    return wrong == NULL ? CLI_GO : textual_refuse(path, wrong);
}
