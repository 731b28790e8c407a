/* json.c - writes JSON.
 *
 * One document at a time goes to stdout (output.c), indented by two spaces.
 * Strings are untrusted bytes, but JSON is Unicode: well-formed UTF-8 is
 * written as it is, and each other byte becomes U+FFFD. Numbers have as many
 * digits as it takes to read the same number back. Values that JSON does not
 * have (NaN, infinity) become null.
 */
#include "frame/json.h"

#include "frame/output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 8 };

static struct {
    size_t depth;
    bool   any[JSON_DEPTH];     /* something stands before at this depth */
} json_state;

/* ==== Strings =========================================================== */

/* Returns the length of the well-formed UTF-8 character at the start of n
 * bytes, or 0: no overlong forms, no surrogates, nothing above U+10FFFF [RFC
 * 3629, 4]. */
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

enum { JSON_ESCAPED = 8 };

/* Writes the next character as JSON does. *taken is the number of bytes it was
 * made of. */
static size_t json_escape(char to[JSON_ESCAPED], const unsigned char *s,
                          size_t n, size_t *taken)
{
    size_t length = json_utf8(s, n);

    *taken = length > 0 ? length : 1;
    if (length == 0)
        return (size_t)snprintf(to, JSON_ESCAPED, "\\ufffd");
    if (*s == '"' || *s == '\\')
        return (size_t)snprintf(to, JSON_ESCAPED, "\\%c", *s);
    if (*s < 0x20 || *s == 0x7f)
        return (size_t)snprintf(to, JSON_ESCAPED, "\\u%04x", (unsigned)*s);
    memcpy(to, s, length);
    return length;
}

bool json_quote(cli_bytes *to, const void *text, size_t n)
{
    const unsigned char *s = text;
    bool fine = bytes_text(to, "\"");
    char escaped[JSON_ESCAPED];

    for (size_t taken; fine && n > 0; s += taken, n -= taken) {
        size_t length = json_escape(escaped, s, n, &taken);

        fine = bytes_put(to, escaped, length);
    }
    return fine && bytes_text(to, "\"");
}

static void json_quoted(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    char escaped[JSON_ESCAPED];

    output_text("\"");
    for (size_t n = strlen(text), taken; n > 0; s += taken, n -= taken) {
        size_t length = json_escape(escaped, s, n, &taken);

        output_bytes(escaped, length);
    }
    output_text("\"");
}

/* ==== Structure ========================================================= */

static void json_newline(void)
{
    output_text("\n");
    for (size_t i = 0; i < json_state.depth; i++)
        output_text("  ");
}

/* Writes what precedes a value: comma, new line, key. */
static void json_begin(const char *key)
{
    if (json_state.depth > 0) {
        if (json_state.any[json_state.depth - 1])
            output_text(",");
        json_state.any[json_state.depth - 1] = true;
        json_newline();
    }
    if (key != NULL) {
        json_quoted(key);
        output_text(": ");
    }
}

/* Writes what follows a value: the end of the document's last line. */
static void json_end(void)
{
    if (json_state.depth == 0)
        output_text("\n");
}

static void json_open(const char *key, const char *bracket)
{
    json_begin(key);
    output_text(bracket);
    assert(json_state.depth < JSON_DEPTH);
    json_state.any[json_state.depth++] = false;
}

static void json_close(const char *bracket)
{
    bool any = json_state.any[--json_state.depth];

    if (any)
        json_newline();
    output_text(bracket);
    json_end();
}

void json_open_object(const char *key)
{
    json_open(key, "{");
}

void json_close_object(void)
{
    json_close("}");
}

void json_open_array(const char *key)
{
    json_open(key, "[");
}

void json_close_array(void)
{
    json_close("]");
}

/* ==== Values ============================================================ */

void json_string(const char *key, const char *text)
{
    json_begin(key);
    if (text == NULL)
        output_text("null");
    else
        json_quoted(text);
    json_end();
}

void json_count(const char *key, uint64_t n)
{
    json_begin(key);
    output_format("%" PRIu64, n);
    json_end();
}

/* Uses the fewest of 15, 16 or 17 digits that give the same double back. */
void json_real(const char *key, double x)
{
    char text[40];

    json_begin(key);
    if (!isfinite(x)) {
        output_text("null");
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, x);
            if (memcmp(&(double){ strtod(text, NULL) }, &x, sizeof x) == 0)
                break;
        }
        output_text(text);
    }
    json_end();
}

void json_bool(const char *key, bool yes)
{
    json_begin(key);
    output_text(yes ? "true" : "false");
    json_end();
}

void json_labels(uint32_t bits, uint64_t least, uint64_t most)
{
    if (bits == 0)
        return;
    json_count("label_bits", bits);
    json_count("label_least", least);
    json_count("label_most", most);
}
