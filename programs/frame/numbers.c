/* numbers.c - numbers as people write them on a command line.
 *
 * ITEMS is read digit by digit, not through a double: 2^64 - 1 is a valid
 * number of items, and 1e6 and 2.5M are whole numbers. RATE goes through
 * strtod, after a check of its characters: "nan", "inf" and "0x1p-3" are not
 * rates.
 */
#include "frame/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== Whole numbers ===================================================== */

static const char numbers_not_whole[] =
    "is not a whole number: give one such as 1000000, 1e6 or 10M";
static const char numbers_too_large[] =
    "does not fit in 64 bits: give at most 18446744073709551615";

/* mantissa * 10^scale, while it is being read. */
typedef struct {
    uint64_t mantissa;
    long     scale;
    bool     overflow;
} numbers_decimal;

static void numbers_digit(numbers_decimal *d, char digit)
{
    uint64_t value = (uint64_t)(digit - '0');

    if (d->mantissa > (UINT64_MAX - value) / 10)
        d->overflow = true;
    else
        d->mantissa = d->mantissa * 10 + value;
}

/* Reads digits with at most one point among them. Returns where they end. */
static const char *numbers_mantissa(const char *text, numbers_decimal *d)
{
    bool point = false, any = false;

    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        numbers_digit(d, *text);
        d->scale -= point;
    }
    return any ? text : NULL;
}

/* Reads "e6", "e+6", or nothing. */
static const char *numbers_exponent(const char *text, numbers_decimal *d)
{
    long exponent = 0;

    if (*text != 'e' && *text != 'E')
        return text;
    text++;
    if (*text == '+')
        text++;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++)
        if (exponent < 1000)
            exponent = exponent * 10 + (*text - '0');
    d->scale += exponent;
    return text;
}

/* Reads "k", "M", "G", "T", or nothing. */
static const char *numbers_suffix(const char *text, numbers_decimal *d)
{
    static const char letters[] = "kMGT";
    const char *found;

    if (*text == '\0')
        return text;
    found = strchr(letters, *text == 'K' ? 'k' : *text);
    if (found == NULL)
        return NULL;
    d->scale += 3 * (found - letters + 1);
    return text + 1;
}

/* Makes the scale 0. Returns false if the number is not whole. */
static bool numbers_whole(numbers_decimal *d)
{
    for (; d->scale < 0 && d->mantissa != 0; d->scale++) {
        if (d->mantissa % 10 != 0)
            return false;
        d->mantissa /= 10;
    }
    for (; d->scale > 0 && d->mantissa != 0 && !d->overflow; d->scale--)
        numbers_digit(d, '0');
    return true;
}

const char *numbers_items(const char *text, uint64_t *out)
{
    numbers_decimal d = { 0, 0, false };
    const char *end = numbers_mantissa(text, &d);

    if (end != NULL)
        end = numbers_exponent(end, &d);
    if (end != NULL)
        end = numbers_suffix(end, &d);
    if (end == NULL || *end != '\0')
        return numbers_not_whole;
    if (d.overflow)
        return numbers_too_large;
    if (!numbers_whole(&d))
        return numbers_not_whole;
    if (d.overflow)
        return numbers_too_large;
    if (d.mantissa == 0)
        return "is too few: give a whole number of at least 1";
    *out = d.mantissa;
    return NULL;
}

/* Numbers of threads, levels or differences: advice should not suggest
 * millions. */
const char *numbers_number(const char *text, uint64_t *out)
{
    return numbers_items(text, out) == NULL ? NULL
         : "is not a whole number of at least 1: give one such as 1, 2 or 8";
}

/* Numbers of lines, of which there may be none. */
const char *numbers_lines(const char *text, uint64_t *out)
{
    if (text[0] == '0' && strspn(text, "0") == strlen(text)) {
        *out = 0;
        return NULL;
    }
    return numbers_items(text, out) == NULL ? NULL
         : "is not a number of lines: give one such as 0, 1 or 8";
}

/* Sizes in bytes as sort's -S has them: 512M is 512 * 2^20. */
const char *numbers_size(const char *text, uint64_t *out)
{
    static const char letters[] = "KMGT";
    size_t length = strlen(text);
    const char *unit = length > 0 ? strchr(letters, text[length - 1] == 'k'
                                           ? 'K' : text[length - 1]) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - letters + 1) : 0;
    char digits[24];
    uint64_t value;

    length -= unit != NULL;
    if (length == 0 || length >= sizeof digits
        || strspn(text, "0123456789") < length)
        return "is not a size: give one such as 512M or 2G";
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (strspn(digits, "0") == length)
        return "is too small: give a size such as 512M or 2G";
    if (numbers_items(digits, &value) != NULL
        || value > UINT64_MAX >> 8 >> shift)
        return "is larger than memory can be: give a size such as 512M or 2G";
    *out = value << shift;
    return NULL;
}

const char *numbers_seed(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long value;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return "is not a seed: give a whole number such as 42 or 0x2a";
    errno = 0;
    value = strtoull(text, &end, hex ? 16 : 10);
    if (*end != '\0')
        return "is not a seed: give a whole number such as 42 or 0x2a";
    if (errno == ERANGE || value > UINT64_MAX)
        return "does not fit in 64 bits: give at most 0xffffffffffffffff";
    *out = (uint64_t)value;
    return NULL;
}

/* ==== Labels ============================================================ */

static const char numbers_no_label[] =
    "is not a label: give a whole number such as 42 or 0x2a";

/* Returns the digit's value; for other bytes a value above any base. */
static unsigned numbers_value(char digit)
{
    if (isdigit((unsigned char)digit))
        return (unsigned)(digit - '0');
    if (isxdigit((unsigned char)digit))
        return (unsigned)(tolower((unsigned char)digit) - 'a') + 10;
    return UINT8_MAX;
}

const char *numbers_label(const char *text, size_t length, uint64_t *out)
{
    bool hex = length > 2 && text[0] == '0'
            && (text[1] == 'x' || text[1] == 'X');
    unsigned base = hex ? 16 : 10;
    bool large = false;
    uint64_t label = 0;

    if (length == 0)
        return numbers_no_label;
    for (size_t i = hex ? 2 : 0; i < length; i++) {
        unsigned value = numbers_value(text[i]);

        if (value >= base)
            return numbers_no_label;
        large |= label > (UINT64_MAX - value) / base;
        label = label * base + value;
    }
    if (large)
        return "does not fit in 64 bits: give at most 0xffffffffffffffff";
    *out = label;
    return NULL;
}

/* ==== Rates ============================================================= */

static const char numbers_no_rate[] =
    "is not a rate: give one between 0 and 1, such as 0.01, 1% or 1e-3";

/* "0.7%" is read as 0.7e-2: dividing 0.7 by 100 would be off by one unit in the
 * last place. */
static bool numbers_real(const char *text, double *out)
{
    char copy[64];
    size_t length = strlen(text);
    bool percent = length > 0 && text[length - 1] == '%';
    char *end;

    if (length > sizeof copy - 4 || strspn(text, "0123456789.eE+-%") != length)
        return false;
    memcpy(copy, text, length + 1);
    if (percent)
        copy[--length] = '\0';
    if (percent && strpbrk(copy, "eE") == NULL)
        memcpy(copy + length, "e-2", 4);
    *out = strtod(copy, &end);
    if (percent && strpbrk(text, "eE") != NULL)
        *out /= 100;
    return end != copy && *end == '\0';
}

const char *numbers_rate(const char *text, double *out)
{
    double rate;

    if (!numbers_real(text, &rate))
        return numbers_no_rate;
    if (!(rate > 0 && rate < 1))
        return "is not between 0 and 1: give a rate such as 0.01, 1% or 1e-3";
    *out = rate;
    return NULL;
}

const char *numbers_share(const char *text, double *out)
{
    double share;

    if (!numbers_real(text, &share) || !(share >= 0 && share <= 1))
        return "is not a share: give one from 0 to 1, such as 0.5, or a "
               "percentage with its sign, such as 50%";
    *out = share;
    return NULL;
}

/* ==== Bytes ============================================================= */

static int numbers_escape(const char *text)
{
    static const char names[] = "tnr0\\", bytes[] = "\t\n\r\0\\";
    const char *found;

    if (text[0] == 'x' && isxdigit((unsigned char)text[1])
        && isxdigit((unsigned char)text[2]) && text[3] == '\0')
        return (int)strtol(text + 1, NULL, 16);
    if (text[0] == '\0' || text[1] != '\0')
        return -1;
    found = strchr(names, text[0]);
    return found != NULL ? (unsigned char)bytes[found - names] : -1;
}

const char *numbers_byte(const char *text, int *out)
{
    int byte = -1;

    if (text[0] != '\0' && text[1] == '\0')
        byte = (unsigned char)text[0];
    else if (text[0] == '\\')
        byte = numbers_escape(text + 1);
    if (byte < 0)
        return "is not one byte: give one such as , or \\t or \\x1f";
    *out = byte;
    return NULL;
}

void numbers_hex(char text[17], uint64_t value)
{
    for (size_t i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    text[16] = '\0';
}
