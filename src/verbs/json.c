/* json.c - a small JSON writer.
 *
 * Texts may be any bytes, but JSON is Unicode: well-formed UTF-8 is written as
 * it is, and every other byte becomes U+FFFD.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/fields.h"

/* WebAssembly's module of the sets alone writes only the library's own texts,
 * in the style SCRIPT, and has no room for more. */
#ifdef BLY_SMALL
enum { JSON_OWN = 1 };
#else
enum { JSON_OWN = 0 };
#endif

static bool json_is(const bly_json *j, bly_json_style style)
{
    return JSON_OWN ? style == BLY_JSON_SCRIPT : j->style == style;
}

/* ---- Texts ------------------------------------------------------------- */

/* Returns the length of the well-formed UTF-8 character that begins the n bytes
 * at s, or 0: no overlong forms, no surrogates, nothing above U+10FFFF
 * [RFC 3629, 4]. */
static size_t json_utf8(const unsigned char *s, size_t n)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (length > n || (s[0] >= 0x80 && (s[0] < 0xc2 || s[0] > 0xf4)))
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

/* Writes nothing more once a write has failed. */
static void json_put_bytes(bly_json *j, const char *text, size_t n)
{
    j->failed = j->failed || !j->put(j->context, text, n);
}

static void json_put(bly_json *j, const char *text)
{
    json_put_bytes(j, text, strlen(text));
}

/* Writes the next character, and returns its length. */
static size_t json_character(bly_json *j, const char *text, size_t n)
{
    const unsigned char c = (unsigned char)*text;
    size_t length = JSON_OWN ? 1 : json_utf8((const unsigned char *)text, n);
    char escape[8];
    if (c == '"' || c == '\\')
        json_put(j, "\\");
    if (length == 0) {
        json_put(j, "\\ufffd");
        return 1;
    }
    if (JSON_OWN || (c >= 0x20 && c != 0x7f)) {
        json_put_bytes(j, text, length);
    } else {
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
        json_put(j, escape);
    }
    return length;
}

static void json_text(bly_json *j, const char *text, size_t n)
{
    json_put(j, "\"");
    for (size_t at = 0; at < n && !j->failed; )
        at += json_character(j, text + at, n - at);
    json_put(j, "\"");
}

/* ---- Numbers ----------------------------------------------------------- */

enum { JSON_DIGITS = 40 };

static void json_count(bly_json *j, uint64_t n)
{
    bool quoted = json_is(j, BLY_JSON_SCRIPT) && n >= UINT64_C(1) << 53;
    char text[JSON_DIGITS];
    snprintf(text, sizeof text, quoted ? "\"%" PRIu64 "\"" : "%" PRIu64, n);
    json_put(j, text);
}

/* Writes the fewest of 15, 16 or 17 digits that give the same double back, with
 * a point in every locale. */
static void json_digits(bly_json *j, double x)
{
    char text[JSON_DIGITS];
    for (int digits = JSON_OWN ? 17 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (!JSON_OWN && memcmp(&(double){ strtod(text, NULL) }, &x, sizeof x)
                         == 0)
            break;
    }
    char *comma = JSON_OWN ? NULL : strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    json_put(j, text);
}

static void json_real(bly_json *j, double x)
{
    if (json_is(j, BLY_JSON_SCRIPT) && isinf(x))
        json_put(j, x > 0 ? "1e999" : "-1e999");
    else if (isfinite(x))
        json_digits(j, x);
    else
        json_put(j, "null");
}

/* ---- Structure --------------------------------------------------------- */

enum { JSON_DEPTH = 64 };

static void json_line(bly_json *j)
{
    if (!json_is(j, BLY_JSON_LINES))
        return;
    json_put(j, "\n");
    for (unsigned i = 0; i < j->depth; i++)
        json_put(j, "  ");
}

/* Writes the comma, the line break and the name before a value. */
static void json_begin(bly_json *j, const char *name)
{
    if (j->begun)
        json_put(j, ",");
    if (j->depth > 0)
        json_line(j);
    j->begun = true;
    if (name == NULL)
        return;
    json_text(j, name, strlen(name));
    json_put(j, json_is(j, BLY_JSON_LINES) ? ": " : ":");
}

static void json_open(bly_json *j, bool array)
{
    j->failed = j->failed || j->depth++ == JSON_DEPTH;
    j->begun = false;
    j->arrays = j->arrays << 1 | array;
    json_put(j, array ? "[" : "{");
}

static void json_close(bly_json *j)
{
    j->depth--;
    if (j->begun)
        json_line(j);
    json_put(j, (j->arrays & 1) != 0 ? "]" : "}");
    j->begun = true;
    j->arrays >>= 1;
}

static void json_value(bly_json *j, const bly_field *field)
{
    switch (field->type) {
    case BLY_FIELD_TEXT:
        if (field->text != NULL)
            json_text(j, field->text, field->length);
        else
            json_put(j, "null");
        break;
    case BLY_FIELD_COUNT:  json_count(j, field->count); break;
    case BLY_FIELD_REAL:   json_real(j, field->real); break;
    case BLY_FIELD_ARRAY:  json_open(j, true); break;
    case BLY_FIELD_OBJECT: json_open(j, false); break;
    default:               json_put(j, field->count != 0 ? "true" : "false");
    }
}

bool bly_json_field(void *json, const bly_field *field)
{
    bly_json *j = json;
    if (field->absent || j->failed)
        return !j->failed;
    if (field->type == BLY_FIELD_END) {
        if (j->depth == 0)
            return false;
        json_close(j);
    } else {
        json_begin(j, field->name);
        json_value(j, field);
    }
    if (j->depth == 0) {
        json_line(j);                   /* ends the last line                */
        j->begun = false;
    }
    return !j->failed;
}
