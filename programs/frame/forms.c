/* forms.c - the bytes that a key, written as text, stands for.
 *
 * Filters of other systems are of keys as those have them: integers of 4 or 8
 * bytes, doubles, texts of UTF-16, or bytes that no line can hold. Numbers have
 * the lowest byte first. Floor 8; includes frame.h and <bloomery.h> only.
 */
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

static const char *const forms[] = {
    [CLI_AS_UNSAID] = "text", [CLI_AS_TEXT] = "text",
    [CLI_AS_HEX] = "hex", [CLI_AS_INT32] = "int32",
    [CLI_AS_INT64] = "int64", [CLI_AS_FLOAT] = "float",
    [CLI_AS_DOUBLE] = "double", [CLI_AS_UTF16] = "utf16",
    [CLI_AS_NUMBER] = "number",
};

enum { FORMS = sizeof forms / sizeof *forms, FORMS_NUMBER = 400 };

const char *forms_read(const char *text, cli_as *out)
{
    for (size_t i = CLI_AS_TEXT; i < FORMS; i++)
        if (strcmp(forms[i], text) == 0) {
            *out = (cli_as)i;
            return NULL;
        }
    return "is no form of a key: give text, hex, number, int32, int64, float, "
           "double or utf16";
}

const char *forms_name(cli_as as)
{
    return forms[as];
}

void forms_fold(unsigned char *to, const unsigned char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool upper = from[i] >= 'A' && from[i] <= 'Z';

        to[i] = (unsigned char)(from[i] | (unsigned)upper << 5);
    }
}

/* ==== Numbers =========================================================== */

static size_t forms_put(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
    return bytes;
}

void forms_store(unsigned char to[8], uint64_t value)
{
    forms_put(to, value, 8);
}

uint64_t forms_load(const unsigned char from[8])
{
    uint64_t value = 0;

    for (size_t i = 8; i-- > 0; )
        value = value << 8 | from[i];
    return value;
}

static bool forms_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Without the blanks, and the CR of a CR LF, around it. */
static const unsigned char *forms_trim(const unsigned char *text, size_t *n)
{
    for (; *n > 0 && forms_blank(*text); --*n)
        text++;
    while (*n > 0 && forms_blank(text[*n - 1]))
        --*n;
    return text;
}

/* Digits, with a sign or without; from -2^(bits-1) to 2^bits - 1. */
static bool forms_integer(uint64_t *out, const unsigned char *text, size_t n,
                          unsigned bits)
{
    bool minus = n > 0 && *text == '-';
    uint64_t most = minus ? UINT64_C(1) << (bits - 1)
                          : UINT64_MAX >> (64 - bits), value = 0;

    if (n > 0 && (*text == '-' || *text == '+')) {
        text++;
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned digit = text[i] - (unsigned)'0';

        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *out = minus ? 0 - value : value;
    return n > 0;
}

/* A number as strtod reads it, without blanks before it. */
static bool forms_real(double *out, const unsigned char *text, size_t n)
{
    char copy[FORMS_NUMBER], *end;

    if (n == 0 || n >= sizeof copy || *text <= ' '
        || memchr(text, '\0', n) != NULL)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0';
}

/* As bindings and SQL have numbers: bly_integer_key, bly_real_key. */
static size_t forms_put_number(unsigned char *to, const unsigned char *text,
                               size_t n)
{
    uint64_t whole;
    double real;

    if (forms_integer(&whole, text, n, 64)
        && (*text == '-' || whole <= INT64_MAX)) {
        bly_integer_key(to, (int64_t)whole);
        return 8;
    }
    if (!forms_real(&real, text, n))
        return FORMS_NONE;
    bly_real_key(to, real);
    return 8;
}

static size_t forms_put_real(unsigned char *to, double value, bool is_float)
{
    float narrow = (float)value;
    uint32_t low;
    uint64_t bits;

    if (is_float) {
        memcpy(&low, &narrow, sizeof low);
        return forms_put(to, low, sizeof low);
    }
    memcpy(&bits, &value, sizeof bits);
    return forms_put(to, bits, sizeof bits);
}

/* ==== Bytes and text ==================================================== */

static int forms_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* With 0x before them or without, and blanks between bytes or not. */
static size_t forms_hex(unsigned char *to, const unsigned char *text, size_t n)
{
    size_t bytes = 0;

    if (n >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        text += 2;
        n -= 2;
    }
    for (size_t i = 0; i < n; ) {
        int high = forms_digit(text[i]);
        int low = i + 1 < n ? forms_digit(text[i + 1]) : -1;

        if (high < 0 || low < 0)
            return FORMS_NONE;
        to[bytes++] = (unsigned char)(high << 4 | low);
        for (i += 2; i < n && forms_blank(text[i]); )
            i++;
    }
    return bytes;
}

/* The character that begins there, and its bytes; 0: there is none. */
static size_t forms_character(uint32_t *out, const unsigned char *text,
                              size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t bytes = *text < 0x80 ? 1 : *text < 0xC2 ? 0 : *text < 0xE0 ? 2
                 : *text < 0xF0 ? 3 : *text < 0xF5 ? 4 : 0;

    if (bytes == 0 || bytes > n)
        return 0;
    *out = bytes == 1 ? *text : *text & (0x7Fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        *out = *out << 6 | (text[i] & 0x3F);
    }
    return *out < least[bytes] || *out > 0x10FFFF
        || (*out >= 0xD800 && *out < 0xE000) ? 0 : bytes;
}

static size_t forms_utf16(unsigned char *to, const unsigned char *text,
                          size_t n)
{
    unsigned char *begin = to;
    uint32_t c;

    for (size_t bytes; n > 0; text += bytes, n -= bytes) {
        bytes = forms_character(&c, text, n);
        if (bytes == 0)
            return FORMS_NONE;
        if (c >= 0x10000) {
            to += forms_put(to, 0xD800 + ((c - 0x10000) >> 10), 2);
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        to += forms_put(to, c, 2);
    }
    return (size_t)(to - begin);
}

size_t forms_bytes(cli_as as, unsigned char *to, const void *text, size_t n)
{
    const unsigned char *trimmed = text;
    size_t all = n;
    uint64_t whole;
    double real;

    if (as != CLI_AS_UTF16)
        trimmed = forms_trim(text, &n);
    switch (as) {
    case CLI_AS_HEX:
        return forms_hex(to, trimmed, n);
    case CLI_AS_INT32:
        return forms_integer(&whole, trimmed, n, 32) ? forms_put(to, whole, 4)
                                                  : FORMS_NONE;
    case CLI_AS_INT64:
        return forms_integer(&whole, trimmed, n, 64) ? forms_put(to, whole, 8)
                                                  : FORMS_NONE;
    case CLI_AS_FLOAT:
    case CLI_AS_DOUBLE:
        return forms_real(&real, trimmed, n)
             ? forms_put_real(to, real, as == CLI_AS_FLOAT) : FORMS_NONE;
    case CLI_AS_NUMBER:
        return forms_put_number(to, trimmed, n);
    case CLI_AS_UTF16:
        return forms_utf16(to, text, n);
    case CLI_AS_UNSAID:
    case CLI_AS_TEXT:
        break;
    }
    memcpy(to, text, all);
    return all;
}
