/* fps.c - chemfp's text of fingerprints, FPS: lines into rows.
 *
 *      #FPS1
 *      #num_bits=16
 *      #type=example
 *      8103 TAB first row, bits 0, 7, 8 and 9
 *
 * Every byte is from elsewhere: a row is written into memory only when its line
 * is known to have as many digits as it takes.
 */
#include "similar/library/bitrows.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

/* A line, without its end. */
typedef struct {
    const uint8_t *at;
    size_t         length;
} fps_line;

/* The value of each hexadecimal digit plus one; 0 for other bytes. */
static const uint8_t fps_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* ---- The head ----------------------------------------------------------- */

static bool fps_begins(const fps_line *line, const char *with)
{
    size_t length = strlen(with);
    return line->length >= length && memcmp(line->at, with, length) == 0;
}

static bly_status fps_twice(const bly_rows *rows, const char *key)
{
    return status_fail(BLY_EFORMAT, "line %" PRIu64 " gives %s a second time: "
                       "keep one such line", rows->line, key);
}

/* Parses the number after "#num_bits="; 0 if it is missing or invalid. */
static uint64_t fps_number(const fps_line *line, size_t from)
{
    uint64_t n = 0;
    for (size_t i = from; i < line->length; i++) {
        if (line->at[i] < '0' || line->at[i] > '9')
            return 0;
        n = n * 10 + (uint64_t)(line->at[i] - '0');
        if (n > BLY_ROW_BITS_MOST)
            return 0;
    }
    return n;
}

static bly_status fps_take_width(bly_rows *rows, const fps_line *line,
                                 size_t from)
{
    uint64_t bits = fps_number(line, from);
    if (rows->counted)
        return fps_twice(rows, "num_bits");
    if (bits == 0)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 ": num_bits is not a "
                           "whole number from 1 to %" PRIu64 ": give the "
                           "number of bits in a row", rows->line,
                           BLY_ROW_BITS_MOST);
    if (rows->bits != 0 && rows->bits != bits)
        return status_fail(BLY_EMISMATCH, "line %" PRIu64 " gives num_bits=%"
                           PRIu64 ", but %" PRIu64 " is needed: make both "
                           "files in the same way", rows->line, bits,
                           rows->bits);
    bitrows_set_width(rows, bits);
    rows->counted = true;
    return BLY_OK;
}

static bly_status fps_no_nul(const bly_rows *rows)
{
    return status_fail(BLY_EFORMAT, "line %" PRIu64 " has a NUL, which no name "
                       "can have: is it text?", rows->line);
}

static bly_status fps_take_type(bly_rows *rows, const fps_line *line,
                                size_t from)
{
    if (rows->typed)
        return fps_twice(rows, "type");
    if (memchr(line->at, '\0', line->length) != NULL)
        return fps_no_nul(rows);
    if (!bitrows_keep(rows, &rows->type, line->at + from, line->length - from))
        return status_plain(BLY_ENOMEM);
    rows->typed = true;
    return BLY_OK;
}

static bly_status fps_head(bly_rows *rows, const fps_line *line)
{
    static const char width[] = "#num_bits=", type[] = "#type=";
    if (fps_begins(line, width))
        return fps_take_width(rows, line, sizeof width - 1);
    if (fps_begins(line, type))
        return fps_take_type(rows, line, sizeof type - 1);
    if (memchr(line->at, '=', line->length) != NULL)
        return BLY_OK;
    return status_fail(BLY_EFORMAT, "line %" PRIu64 " begins with # and is not "
                       "'#key=value': remove it", rows->line);
}

static bly_status fps_first(bly_rows *rows, const fps_line *line)
{
    rows->headed = fps_begins(line, "#FPS1") && line->length == 5;
    return rows->headed ? BLY_OK
         : status_fail(BLY_EFORMAT, "line 1 is not '#FPS1', with which files "
                       "of fingerprints begin: add it if this is one");
}

/* ---- Rows --------------------------------------------------------------- */

/* Takes the number of bits from the first row if nothing else states it. */
static bly_status fps_guess_width(bly_rows *rows, size_t digits)
{
    if (rows->bits != 0)
        return BLY_OK;
    if (digits == 0 || digits % 2 != 0 || digits / 2 > BLY_ROW_BITS_MOST / 8)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " begins with %zu "
                           "characters, but not with bytes of two hexadecimal "
                           "digits and a TAB: correct it", rows->line, digits);
    bitrows_set_width(rows, (uint64_t)digits * 4);
    return BLY_OK;
}

/* Decodes hexadecimal digits. Returns false if any byte is not a digit. */
static bool fps_decode(uint8_t *row, const uint8_t *text, size_t bytes)
{
    unsigned all = 1;
    for (size_t i = 0; i < bytes; i++) {
        unsigned high = fps_digits[text[2 * i]];
        unsigned low = fps_digits[text[2 * i + 1]];
        all &= (high != 0) & (low != 0);
        row[i] = (uint8_t)((high - 1) << 4 | ((low - 1) & 15));
    }
    return all != 0;
}

static bly_status fps_add(bly_rows *rows, const fps_line *line, size_t digits,
                          size_t length)
{
    uint8_t *row = bitrows_begin(rows, length);
    if (row == NULL)
        return status_plain(BLY_ENOMEM);
    if (!fps_decode(row, line->at, rows->bytes))
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " has other characters "
                           "than hexadecimal digits before its TAB: correct it",
                           rows->line);
    if (bitrows_strays(rows, row))
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " has a bit after the "
                           "last of %" PRIu64 ": correct num_bits, or the row",
                           rows->line, rows->bits);
    bitrows_end(rows, line->at + digits + 1, length);
    return BLY_OK;
}

static bly_status fps_row(bly_rows *rows, const fps_line *line)
{
    const uint8_t *tab = memchr(line->at, '\t', line->length);
    if (line->length == 0)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " is empty: remove it",
                           rows->line);
    if (tab == NULL)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " has no TAB: a row is "
                           "hexadecimal digits, a TAB and a name", rows->line);
    size_t digits = (size_t)(tab - line->at), left = line->length - digits - 1;
    const uint8_t *end = memchr(tab + 1, '\t', left);
    size_t length = end != NULL ? (size_t)(end - tab) - 1 : left;
    bly_status status = fps_guess_width(rows, digits);
    if (status != BLY_OK)
        return status;
    if (digits != 2 * rows->bytes)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " has %zu digits, but "
                           "rows of %" PRIu64 " bits have %zu: is it cut "
                           "short, or made in another way?", rows->line, digits,
                           rows->bits, 2 * rows->bytes);
    if (length == 0)
        return status_fail(BLY_EFORMAT, "line %" PRIu64 " has no name after "
                           "its TAB: add one", rows->line);
    if (memchr(tab + 1, '\0', length) != NULL)
        return fps_no_nul(rows);
    return fps_add(rows, line, digits, length);
}

/* ---- Lines -------------------------------------------------------------- */

static bly_status fps_take(bly_rows *rows, const fps_line *line)
{
    rows->line++;
    if (rows->line == 1 || !rows->headed)
        return fps_first(rows, line);
    return rows->n == 0 && line->length > 0 && line->at[0] == '#'
         ? fps_head(rows, line) : fps_row(rows, line);
}

bly_status bly_rows_add_fps(bly_rows *rows, const void *text, size_t bytes)
{
    const uint8_t *at = text;
    bly_status status = bitrows_check(rows);
    while (bytes > 0 && status == BLY_OK) {
        const uint8_t *end = memchr(at, '\n', bytes);
        size_t whole = end != NULL ? (size_t)(end - at) + 1 : bytes;
        size_t length = end != NULL ? whole - 1 : whole;
        if (length > 0 && at[length - 1] == '\r')
            length--;
        status = fps_take(rows, &(fps_line){ at, length });
        at += whole;
        bytes -= whole;
    }
    return status;
}
