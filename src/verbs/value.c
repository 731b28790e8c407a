/* value.c - keys as people and programs have them, made into bytes by a form:
 * bly_form_key of <bloomery/form.h>.
 *
 * Floor 5. A text is changed first (trimmed, its case), and is then written as
 * the class wants it. What is written for people is read by the class.
 */
#include "bloomery/form.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "tools/casefold.h"

/* ---- Numbers ------------------------------------------------------------- */

static bool form_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Without blanks at both ends, and a CR that ended its line. */
static bly_key form_strip(const bly_value *value)
{
    const uint8_t *text = value->data;
    size_t n = value->length;
    for (; n > 0 && form_is_blank(*text); n--)
        text++;
    while (n > 0 && form_is_blank(text[n - 1]))
        n--;
    return (bly_key){ text, n };
}

/* Digits, with a sign or without; from -2^(bits-1) to 2^bits - 1. */
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

enum { FORM_NUMBER = 400 };

/* strtod, whatever the program's locale has for a decimal point. */
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

/* A number as strtod reads it in C's own locale, without blanks before it. */
static bool form_real(double *out, bly_key written)
{
    char text[FORM_NUMBER];
    size_t n = written.length;
    if (n == 0 || n >= sizeof text || *(const uint8_t *)written.data <= ' '
        || memchr(written.data, '\0', n) != NULL)
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

/* A maker of keys: how many bytes it has written, or FORM_NONE, where the value
 * is of the class but not one that it holds. */
#define FORM_NONE SIZE_MAX
typedef size_t form_maker(uint8_t *to, const bly_value *value);

/* By value: of what is written, an integer where it can be. */
static size_t form_put_number(uint8_t *to, const bly_value *value)
{
    bly_key written = form_strip(value);
    int64_t integer = value->integer;
    double real = value->real;
    uint64_t whole;
    bool is_integer = value->type == BLY_INTEGER;
    if (value->type == BLY_WRITTEN
        && form_whole(&whole, written, 64)
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

/* Of `bits` bits, with a sign or without: the value may be either. */
static size_t form_put_integer(uint8_t *to, const bly_value *value,
                               unsigned bits)
{
    int64_t integer = value->integer;
    uint64_t whole;
    if (value->type == BLY_WRITTEN)
        return form_whole(&whole, form_strip(value), bits)
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

/* An integer that no double is, is no key of doubles. */
static bool form_as_real(double *out, const bly_value *value)
{
    *out = value->type == BLY_INTEGER ? (double)value->integer : value->real;
    if (value->type == BLY_WRITTEN)
        return form_real(out, form_strip(value));
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

/* What may stand between the bytes of what is written: as in a dump, in a UUID,
 * in the address of a network card. */
static bool form_is_between(uint8_t byte)
{
    return form_is_blank(byte) || byte == '-' || byte == ':';
}

/* With 0x before them or without. */
static size_t form_put_hex(uint8_t *to, const bly_value *value)
{
    bly_key written = form_strip(value);
    const uint8_t *text = written.data;
    size_t n = written.length, bytes = 0;
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

/* The character that begins there, and its bytes; 0: there is none. */
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

/* Letters between these two change their case. */
static void form_turn(uint8_t *to, bly_value text, uint8_t first, uint8_t last)
{
    const uint8_t *from = text.data;
    for (size_t i = 0; i < text.length; i++) {
        unsigned turns = from[i] >= first && from[i] <= last;
        to[i] = (uint8_t)(from[i] ^ turns << 5);
    }
}

/* A text in the case that the form wants, at `to` if that is another. */
static bly_status form_change_case(bly_value *text, uint64_t form, uint8_t *to,
                                   size_t room)
{
    uint64_t wanted = form & BLY_FORM_CASE;
    if (wanted == 0)
        return BLY_OK;
    if (wanted == BLY_FORM_FOLD && !casefold_there())
        return status_fail(BLY_EUNSUPPORTED, "the filter's keys are folded by "
                           "Unicode, which this library was built without: "
                           "build it with -DBLY_UNICODE=ON");
    size_t length = text->length;
    if (wanted == BLY_FORM_FOLD)
        length = casefold_utf8((char *)to, room, text->data, text->length);
    else if (wanted == BLY_FORM_LOWER)
        form_turn(to, *text, 'A', 'Z');
    else
        form_turn(to, *text, 'a', 'z');
    if (length == SIZE_MAX)
        return status_fail(BLY_EPARAM, "the key is no text in UTF-8, which "
                           "cannot be folded: correct it, or leave it out");
    text->data = to;
    text->length = length;
    return BLY_OK;
}

/* ---- By the form --------------------------------------------------------- */

enum {
    FORM_WRITTEN = 1 << BLY_WRITTEN, FORM_TEXT = 1 << BLY_TEXT,
    FORM_BYTES = 1 << BLY_BYTES, FORM_INTEGER = 1 << BLY_INTEGER,
    FORM_REAL = 1 << BLY_REAL,
    FORM_NUMBERS = FORM_WRITTEN | FORM_INTEGER | FORM_REAL
};

/* What a class makes keys of, and how (NULL: they are keys as they are); what
 * its keys are, for messages; `times` bytes of key for each of the text at
 * most, or `least`, if these are more. */
typedef struct {
    unsigned    takes;
    size_t      least, times;
    form_maker *make;
    const char *what, *else_give;
} form_class;

#define FORM_GIVE_NUMBER "give a number"
static const form_class form_class_list[BLY_KEYS_CLASSES] = {
    [BLY_KEYS_BYTES] = { FORM_BYTES, 0, 1, NULL, "bytes",
        "give bytes, or what is written as their hexadecimal digits" },
    [BLY_KEYS_TEXT] = { FORM_WRITTEN | FORM_TEXT, 0, 1, NULL,
        "text", "give text" },
    [BLY_KEYS_NUMBER] = { FORM_NUMBERS, 8, 0, form_put_number, "numbers",
        FORM_GIVE_NUMBER },
    [BLY_KEYS_INT32] = { FORM_NUMBERS, 4, 0, form_put_int32,
        "integers of 32 bits", FORM_GIVE_NUMBER },
    [BLY_KEYS_INT64] = { FORM_NUMBERS, 8, 0, form_put_int64,
        "integers of 64 bits", FORM_GIVE_NUMBER },
    [BLY_KEYS_FLOAT] = { FORM_NUMBERS, 4, 0, form_put_float,
        "real numbers of 32 bits", FORM_GIVE_NUMBER },
    [BLY_KEYS_DOUBLE] = { FORM_NUMBERS, 8, 0, form_put_double,
        "real numbers of 64 bits", FORM_GIVE_NUMBER },
    [BLY_KEYS_UTF16] = { FORM_WRITTEN | FORM_TEXT, 0, 2, form_put_utf16,
        "text in UTF-16", "give text" },
    [BLY_KEYS_HEX] = { FORM_WRITTEN | FORM_BYTES, 0, 1, form_put_hex, "bytes",
        "give bytes" },
};

static bly_status form_other_class(const form_class *class,
                                   bly_value_type type)
{
    static const char *const words[] = {
        [BLY_WRITTEN] = "text", [BLY_TEXT] = "text", [BLY_BYTES] = "bytes",
        [BLY_INTEGER] = "an integer", [BLY_REAL] = "a real number",
    };
    return status_fail(BLY_EFORM, "the filter's keys are %s, and this one is "
                       "%s: %s", class->what, words[type], class->else_give);
}

static bly_status form_not_of(const form_class *class, const bly_value *value)
{
    int shown = value->length < 40 ? (int)value->length : 40;
    if (value->type == BLY_INTEGER)
        return status_fail(BLY_EPARAM, "%lld is none of the %s that the "
                           "filter's keys are",
                           (long long)value->integer, class->what);
    if (value->type == BLY_REAL)
        return status_fail(BLY_EPARAM, "%.17g is none of the %s that the "
                           "filter's keys are", value->real, class->what);
    return status_fail(BLY_EPARAM, "'%.*s' cannot be read as %s, which the "
                       "filter's keys are", shown,
                       value->length > 0 ? (const char *)value->data : "",
                       class->what);
}

/* Without a form: texts and bytes as they are. */
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


/* Of a text: how long can it be once its case has changed? */
static bool form_changed_room(size_t *out, uint64_t form, size_t length)
{
    uint64_t bytes = length;
    bool folds = (form & BLY_FORM_CASE) == BLY_FORM_FOLD;
    if (!sizes_mul(&bytes, bytes, folds ? CASEFOLD_TIMES : 1)
        || !sizes_fits(bytes))
        return false;
    *out = (size_t)bytes;
    return true;
}

size_t bly_form_room(uint64_t form, size_t length)
{
    uint64_t id = form & BLY_FORM_CLASS, bytes;
    size_t changed;
    if (id == BLY_KEYS_UNSTATED || id >= BLY_KEYS_CLASSES)
        return 8;
    const form_class *class = &form_class_list[id];
    if (!form_changed_room(&changed, form, length)
        || !sizes_mul(&bytes, changed, class->times))
        return SIZE_MAX;
    if (id == BLY_KEYS_UTF16 && (form & BLY_FORM_CASE) != 0
        && !sizes_add(&bytes, bytes, changed))
        return SIZE_MAX;
    return !sizes_fits(bytes) ? SIZE_MAX
         : bytes > class->least ? (size_t)bytes : class->least;
}

/* The changed text of UTF-16 lies behind the place of its key. */
static bly_status form_make(bly_key *key, uint64_t form,
                            const bly_value *value, uint8_t *room)
{
    const form_class *class = &form_class_list[form & BLY_FORM_CLASS];
    bool utf16 = (form & BLY_FORM_CLASS) == BLY_KEYS_UTF16;
    size_t changed = 0;
    bly_value text = *value;
    if ((form & BLY_FORM_TRIM) != 0 && (form & BLY_FORM_JOIN) == 0)
        text = form_trim(text);
    (void)form_changed_room(&changed, form, text.length);
    bly_status status = form_change_case(&text, form,
                                         utf16 ? room + 2 * changed : room,
                                         changed);
    if (status != BLY_OK)
        return status;
    if (class->make == NULL || value->type == BLY_BYTES) {
        *key = (bly_key){ text.data, text.length };
        return BLY_OK;
    }
    size_t n = class->make(room, &text);
    if (n == FORM_NONE)
        return form_not_of(class, value);
    *key = (bly_key){ room, n };
    return BLY_OK;
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
    const form_class *class = &form_class_list[form & BLY_FORM_CLASS];
    if ((class->takes >> value->type & 1) == 0)
        return form_other_class(class, value->type);
    return form_make(key, form, value, room);
}
