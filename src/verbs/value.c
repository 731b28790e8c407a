/* value.c - makes the bytes of a key from text, bytes or a number, by a form:
 * bly_form_key of <bloomery/form.h>, and bly_nested_key of
 * <bloomery/nested.h>.
 *
 * The input is one value at a time, millions of them in a row, so most
 * classes write straight to the caller's buffer and nothing is allocated. Text
 * is trimmed, then its case changes, and then the class encodes it. A table at
 * the end says which types of values each class accepts.
 */
#include "bloomery/form.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "bits/casefold.h"
#include "verbs/nested.h"

/* ---- Numbers ------------------------------------------------------------- */

/* Reads digits, with or without a sign: -2^(bits-1) to 2^bits - 1. */
static bool form_whole(uint64_t *out, bly_key written, unsigned bits)
{
    const uint8_t *text = written.data;
    size_t n = written.length;
    bool minus = n > 0 && *text == '-';
    uint64_t most = minus ? UINT64_C(1) << (bits - 1)
                          : UINT64_MAX >> (64 - bits), whole = 0;
    if (n > 0 && (*text == '-' || *text == '+')) {
        text++;
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned digit = text[i] - (unsigned)'0';
        if (digit > 9 || whole > (most - digit) / 10)
            return false;
        whole = 10 * whole + digit;
    }
    *out = minus ? 0 - whole : whole;
    return n > 0;
}

/* Longer numbers are shortened first. The exact value of a double, or of the
 * middle between two, has at most 767 digits. */
enum { FORM_DIGITS = 768, FORM_NUMBER = FORM_DIGITS + 64 };

/* Calls strtod with the decimal point of the program's locale. */
static bool form_scan(double *out, char *text)
{
    char *end, *point = strchr(text, '.');
    const char *local = localeconv()->decimal_point;
    if (strchr(text, ',') != NULL || local[1] != '\0')
        return false;
    if (point != NULL)
        *point = local[0];
    *out = strtod(text, &end);
    return *end == '\0';
}

/* A decimal number on the way to a shorter one of the same double. */
typedef struct {
    char      digits[FORM_DIGITS + 2];
    size_t    n;
    long long scale;                    /* times 10 to this power            */
    bool      any, point;
} form_decimal;

/* Takes one more letter; false: it belongs to no number, or to an exponent. One
 * more digit stands for all further ones if any of them is not 0. */
static bool form_take(form_decimal *d, char letter)
{
    if (letter == '.' && !d->point)
        return d->point = true;
    if (letter < '0' || letter > '9')
        return false;
    d->any = true;
    d->scale -= d->point;
    if (d->n < FORM_DIGITS && (d->n > 0 || letter != '0')) {
        d->digits[d->n++] = letter;
    } else if (d->n > 0) {
        d->scale++;
        if (letter != '0')
            d->digits[FORM_DIGITS] = '1';
    }
    return true;
}

/* Reads an exponent that ends the text, beyond which every double is 0 or
 * infinite anyway. */
static bool form_exponent(long long *out, const char *text, size_t n)
{
    const long long most = 1LL << 50;
    char copy[32], *end;
    if (n < 2 || n >= sizeof copy || (*text | 0x20) != 'e'
        || !(text[1] == '+' || text[1] == '-' || (text[1] >= '0'
                                                   && text[1] <= '9')))
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *out = strtoll(copy + 1, &end, 10);
    *out = *out > most ? most : *out < -most ? -most : *out;
    return *end == '\0';
}

/* Writes a shorter number of the same double, or returns false. */
static bool form_shorten(char to[FORM_NUMBER], bly_key written)
{
    const char *text = written.data;
    form_decimal d = { .n = 0 };
    long long exponent = 0;
    size_t i = *text == '-' || *text == '+';
    while (i < written.length && form_take(&d, text[i]))
        i++;
    if (!d.any || (i < written.length
                   && !form_exponent(&exponent, text + i, written.length - i)))
        return false;
    if (d.digits[FORM_DIGITS] == '1')
        d.scale--;
    snprintf(to, FORM_NUMBER, "%s0%se%lld", *text == '-' ? "-" : "", d.digits,
             d.scale + exponent);
    return true;
}

/* Reads a number like strtod in the C locale, without leading blanks. */
static bool form_real(double *out, bly_key written)
{
    char text[FORM_NUMBER];
    size_t n = written.length;
    if (n == 0 || *(const uint8_t *)written.data <= ' ')
        return false;
    if (n >= sizeof text)
        return form_shorten(text, written) && form_scan(out, text);
    if (memchr(written.data, '\0', n) != NULL)
        return false;
    memcpy(text, written.data, n);
    text[n] = '\0';
    return form_scan(out, text);
}

static size_t form_put(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return bytes;
}

/* Writes the key of a value and returns its size, or FORM_NONE if the value is
 * not in the range of the class. */
#define FORM_NONE SIZE_MAX
typedef size_t form_maker(uint8_t *to, const bly_value *value);

/* Removes a fraction of zeros, because "7.00" is an integer, and a double may
 * not be equal to it. */
static bly_key form_integral(bly_key written)
{
    const char *text = written.data;
    size_t n = written.length;
    while (n > 0 && text[n - 1] == '0')
        n--;
    if (n > 0 && text[n - 1] == '.')
        written.length = n - 1;
    return written;
}

/* Makes the key by value: an integer if the written number is one. */
static size_t form_put_number(uint8_t *to, const bly_value *value)
{
    bly_key written = nested_strip(value);
    int64_t integer = value->integer;
    double real = value->real;
    uint64_t whole;
    bool is_integer = value->type == BLY_INTEGER;
    if (value->type == BLY_WRITTEN
        && form_whole(&whole, form_integral(written), 64)
        && (whole <= INT64_MAX || *(const char *)written.data == '-')) {
        is_integer = true;
        integer = (int64_t)whole;
    } else if (value->type == BLY_WRITTEN && !form_real(&real, written)) {
        return FORM_NONE;
    }
    if (is_integer)
        bly_integer_key(to, integer);
    else
        bly_real_key(to, real);
    return 8;
}

/* Writes an integer of `bits` bits, signed or unsigned. */
static size_t form_put_integer(uint8_t *to, const bly_value *value,
                               unsigned bits)
{
    int64_t integer = value->integer;
    uint64_t whole;
    if (value->type == BLY_WRITTEN)
        return form_whole(&whole, nested_strip(value), bits)
             ? form_put(to, whole, bits / 8) : FORM_NONE;
    if (value->type == BLY_REAL) {
        if (!(value->real >= -0x1p63 && value->real < 0x1p63)
            || value->real != floor(value->real))
            return FORM_NONE;
        integer = (int64_t)value->real;
    }
    if (bits == 32 && (integer < INT32_MIN || integer > UINT32_MAX))
        return FORM_NONE;
    return form_put(to, (uint64_t)integer, bits / 8);
}

static size_t form_put_int32(uint8_t *to, const bly_value *value)
{
    return form_put_integer(to, value, 32);
}

static size_t form_put_int64(uint8_t *to, const bly_value *value)
{
    return form_put_integer(to, value, 64);
}

/* Converts to double. Returns false for an integer that no double equals. */
static bool form_as_real(double *out, const bly_value *value)
{
    *out = value->type == BLY_INTEGER ? (double)value->integer : value->real;
    if (value->type == BLY_WRITTEN)
        return form_real(out, nested_strip(value));
    return value->type == BLY_REAL
        || (*out < 0x1p63 && (int64_t)*out == value->integer);
}

static size_t form_put_float(uint8_t *to, const bly_value *value)
{
    double real;
    uint32_t bits;
    if (!form_as_real(&real, value))
        return FORM_NONE;
    float narrow = (float)real;
    memcpy(&bits, &narrow, sizeof bits);
    return form_put(to, bits, sizeof bits);
}

static size_t form_put_double(uint8_t *to, const bly_value *value)
{
    double real;
    uint64_t bits;
    if (!form_as_real(&real, value))
        return FORM_NONE;
    memcpy(&bits, &real, sizeof bits);
    return form_put(to, bits, sizeof bits);
}

/* ---- Bytes and text ------------------------------------------------------ */

static int form_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Separators between bytes, as in dumps, UUIDs and MAC addresses. */
static bool form_is_between(uint8_t byte)
{
    return nested_is_blank(byte) || byte == '-' || byte == ':';
}

/* Reads hexadecimal digits, with or without 0x before them. A backslash in
 * front is skipped: sha1sum and its relatives mark so a line in which the name
 * of the file is escaped. */
static size_t form_put_hex(uint8_t *to, const bly_value *value)
{
    bly_key written = nested_strip(value);
    const uint8_t *text = written.data;
    size_t n = written.length, bytes = 0;
    if (n >= 2 && *text == '\\') {
        text++;
        n--;
    }
    if (n >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        text += 2;
        n -= 2;
    }
    for (size_t i = 0; i < n; ) {
        int high = form_digit(text[i]);
        int low = i + 1 < n ? form_digit(text[i + 1]) : -1;
        if (high < 0 || low < 0)
            return FORM_NONE;
        to[bytes++] = (uint8_t)(high << 4 | low);
        for (i += 2; i + 1 < n && form_is_between(text[i]); )
            i++;
    }
    return bytes;
}

/* Decodes the first character and returns its size; 0 if it is not UTF-8. */
static size_t form_character(uint32_t *out, const uint8_t *text, size_t n)
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

static size_t form_put_utf16(uint8_t *to, const bly_value *value)
{
    const uint8_t *text = value->data, *begin = to;
    uint32_t c;
    for (size_t n = value->length, bytes; n > 0; text += bytes, n -= bytes) {
        bytes = form_character(&c, text, n);
        if (bytes == 0)
            return FORM_NONE;
        if (c >= 0x10000) {
            to += form_put(to, 0xD800 + ((c - 0x10000) >> 10), 2);
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        to += form_put(to, c, 2);
    }
    return (size_t)(to - begin);
}

/* ---- Changes of a text --------------------------------------------------- */

static bly_value form_trim(bly_value text)
{
    const char *from = text.data;
    while (text.length > 0 && (*from == ' ' || *from == '\t')) {
        from++;
        text.length--;
    }
    while (text.length > 0
           && (from[text.length - 1] == ' ' || from[text.length - 1] == '\t'))
        text.length--;
    text.data = from;
    return text;
}

/* Copies the text and changes the case of the letters in a range. */
static void form_turn(uint8_t *to, bly_value text, uint8_t first, uint8_t last)
{
    const uint8_t *from = text.data;
    for (size_t i = 0; i < text.length; i++) {
        unsigned turns = from[i] >= first && from[i] <= last;
        to[i] = (uint8_t)(from[i] ^ turns << 5);
    }
}

static bly_status form_fold(bly_value *text, uint8_t *to)
{
    const char *lacks = casefold_lacks();
    if (lacks != NULL)
        return status_fail(BLY_EUNSUPPORTED, "keys with case=fold need the "
                           "tables of Unicode, which this library lacks: %s",
                           lacks);
    size_t length = casefold_utf8((char *)to, CASEFOLD_TIMES * text->length,
                                  text->data, text->length);
    if (length == SIZE_MAX)
        return status_fail(BLY_EPARAM, "the key is not text in UTF-8, so its "
                           "case cannot be folded: convert it to UTF-8, or "
                           "leave it out");
    text->data = to;
    text->length = length;
    return BLY_OK;
}

/* Writes the text at `to` in the case that the form names, if any. */
static bly_status form_change_case(bly_value *text, uint64_t form, uint8_t *to)
{
    uint64_t wanted = form & BLY_FORM_CASE;
    if (wanted == 0)
        return BLY_OK;
    if (wanted == BLY_FORM_FOLD)
        return form_fold(text, to);
    if (wanted == BLY_FORM_LOWER)
        form_turn(to, *text, 'A', 'Z');
    else
        form_turn(to, *text, 'a', 'z');
    text->data = to;
    return BLY_OK;
}

/* ---- By the form --------------------------------------------------------- */

enum {
    FORM_WRITTEN = 1 << BLY_WRITTEN, FORM_TEXT = 1 << BLY_TEXT,
    FORM_BYTES = 1 << BLY_BYTES, FORM_INTEGER = 1 << BLY_INTEGER,
    FORM_REAL = 1 << BLY_REAL, FORM_TEXTS = FORM_WRITTEN | FORM_TEXT,
    FORM_NUMBERS = FORM_WRITTEN | FORM_INTEGER | FORM_REAL
};

/* The types of values that a class accepts, and the function that makes keys of
 * them (NULL: they are keys as they are). A key has at most `times` bytes per
 * byte of text, or `least` bytes if that is more. `give` is advice for
 * messages. */
typedef struct {
    unsigned    takes;
    size_t      least, times;
    form_maker *make;
    const char *give;
} form_class;

static const form_class form_class_list[BLY_KEYS_CLASSES] = {
    [BLY_KEYS_BYTES] = { FORM_BYTES, 0, 1, NULL,
        "give bytes, or text of their hexadecimal digits" },
    [BLY_KEYS_TEXT] = { FORM_TEXTS, 0, 1, NULL, "give text" },
    [BLY_KEYS_NUMBER] = { FORM_NUMBERS, 8, 0, form_put_number,
        "give a number" },
    [BLY_KEYS_INT32] = { FORM_NUMBERS, 4, 0, form_put_int32, "give a number" },
    [BLY_KEYS_INT64] = { FORM_NUMBERS, 8, 0, form_put_int64, "give a number" },
    [BLY_KEYS_FLOAT] = { FORM_NUMBERS, 4, 0, form_put_float, "give a number" },
    [BLY_KEYS_DOUBLE] = { FORM_NUMBERS, 8, 0, form_put_double,
        "give a number" },
    [BLY_KEYS_UTF16] = { FORM_TEXTS, 0, 2, form_put_utf16, "give text" },
    [BLY_KEYS_HEX] = { FORM_WRITTEN | FORM_BYTES, 0, 1, form_put_hex,
        "give the bytes that hexadecimal digits stand for" },
    [BLY_KEYS_DOMAIN] = { FORM_TEXTS, 0, NESTED_DOMAIN_TIMES, nested_put_domain,
        "give text" },
    [BLY_KEYS_CIDR] = { FORM_TEXTS, NESTED_CIDR, 0, nested_put_cidr,
        "give text" },
    [BLY_KEYS_PATH] = { FORM_TEXTS, 0, 1, nested_put_path, "give text" },
};

/* The noun for the keys of a form. */
static const char *form_noun(uint64_t form)
{
    static const char *const nouns[] = {
#define FORM_NOUN(name, value, word, noun) [value] = noun,
        BLY_KEYS_MAP(FORM_NOUN)
#undef FORM_NOUN
    };
    return nouns[form & BLY_FORM_CLASS];
}

static bly_status form_other_class(uint64_t form, bly_value_type type)
{
    static const char *const words[] = {
        [BLY_WRITTEN] = "text", [BLY_TEXT] = "text", [BLY_BYTES] = "bytes",
        [BLY_INTEGER] = "an integer", [BLY_REAL] = "a real number",
    };
    return status_fail(BLY_EFORM, "the filter's keys are %s, and this one is "
                       "%s: %s", form_noun(form), words[type],
                       form_class_list[form & BLY_FORM_CLASS].give);
}

static bly_status form_not_of(uint64_t form, const bly_value *value)
{
    int shown = value->length < 40 ? (int)value->length : 40;
    if (value->type == BLY_INTEGER)
        return status_fail(BLY_EPARAM, "%lld is not one of the %s that the "
                           "filter's keys are",
                           (long long)value->integer, form_noun(form));
    if (value->type == BLY_REAL)
        return status_fail(BLY_EPARAM, "%.17g is not one of the %s that the "
                           "filter's keys are", value->real, form_noun(form));
    return status_fail(BLY_EPARAM, "'%.*s' cannot be read as %s, which the "
                       "filter's keys are", shown,
                       value->length > 0 ? (const char *)value->data : "",
                       form_noun(form));
}

/* Makes the key for a filter that does not state a form. */
static void form_plain(bly_key *key, const bly_value *value, void *room)
{
    *key = (bly_key){ room, 8 };
    if (value->type == BLY_INTEGER)
        bly_integer_key(room, value->integer);
    else if (value->type == BLY_REAL)
        bly_real_key(room, value->real);
    else
        *key = (bly_key){ value->data, value->length };
}

/* Returns how many bytes a byte of text becomes at most as its case changes. */
static size_t form_growth(uint64_t form)
{
    return (form & BLY_FORM_CASE) == BLY_FORM_FOLD ? CASEFOLD_TIMES : 1;
}

size_t bly_form_room(uint64_t form, size_t length)
{
    uint64_t id = form & BLY_FORM_CLASS, bytes;
    if (id == BLY_KEYS_UNSTATED || id >= BLY_KEYS_CLASSES)
        return 8;
    const form_class *class = &form_class_list[id];
    bool apart = id == BLY_KEYS_UTF16 && (form & BLY_FORM_CASE) != 0;
    if (!sizes_mul(&bytes, length, class->times + apart)
        || !sizes_mul(&bytes, bytes, form_growth(form))
        || !sizes_fits(bytes))
        return SIZE_MAX;
    return bytes > class->least ? (size_t)bytes : class->least;
}

/* For UTF-16, text in another case is stored behind the space for the key. */
static bly_status form_make(bly_key *key, uint64_t form,
                            const bly_value *value, uint8_t *room)
{
    const form_class *class = &form_class_list[form & BLY_FORM_CLASS];
    bly_value text = *value;
    if ((form & BLY_FORM_TRIM) != 0 && (form & BLY_FORM_JOIN) == 0)
        text = form_trim(text);
    size_t apart = class->make != form_put_utf16 ? 0
                 : class->times * text.length * form_growth(form);
    bly_status status = form_change_case(&text, form, room + apart);
    if (status != BLY_OK)
        return status;
    if (class->make == NULL || value->type == BLY_BYTES) {
        *key = (bly_key){ text.data, text.length };
        return BLY_OK;
    }
    size_t n = class->make(room, &text);
    if (n == FORM_NONE)
        return form_not_of(form, value);
    *key = (bly_key){ room, n };
    return BLY_OK;
}

static bool form_beyond_ascii(const bly_value *value)
{
    const uint8_t *text = value->data;
    for (size_t i = 0; i < value->length; i++)
        if (text[i] >= 0x80)
            return true;
    return false;
}

/* Makes the key by the form's class, if that accepts the type of the value. */
static bly_status form_make_of(bly_key *key, uint64_t form,
                               const bly_value *value, void *room)
{
    const form_class *class = &form_class_list[form & BLY_FORM_CLASS];
    return (class->takes >> value->type & 1) == 0
         ? form_other_class(form, value->type)
         : form_make(key, form, value, room);
}

bly_status bly_form_key(bly_key *key, uint64_t form, const bly_value *value,
                        void *room)
{
    bly_status status = bly_form_check(form);
    if (status != BLY_OK)
        return status;
    if (form == BLY_KEYS_UNSTATED) {
        form_plain(key, value, room);
        return BLY_OK;
    }
    if (bly_form_nests(form))
        return status_fail(BLY_EFORM, "the filter's keys are %s, and a key is "
                           "found if it lies within one of them: use the "
                           "command, or the functions of <bloomery/nested.h>",
                           form_noun(form));
    return form_make_of(key, form, value, room);
}

bly_status bly_nested_key(bly_key *key, uint64_t form, const bly_value *value,
                          void *room)
{
    if (!bly_form_nests(form))
        return status_fail(BLY_EFORM, "the form is not one whose keys lie "
                           "within others: use bly_form_key");
    const char *lacks = casefold_lacks();
    bly_status status = form_make_of(key, form, value, room);
    if (status == BLY_EPARAM && form == BLY_KEYS_DOMAIN && lacks != NULL
        && form_beyond_ascii(value))
        return status_fail(BLY_EUNSUPPORTED, "names of domains in other "
                           "alphabets need the tables of Unicode, which this "
                           "library lacks: %s", lacks);
    return status;
}
