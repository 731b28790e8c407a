/* fuzz_lines.c - any text, cut into lines and keys by any options: joined lines
 * give the text, each key lies in its chunk, and memory and file give the same.
 * A compressed or binary file is refused or read, safely in both cases.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "frame/batches.h"
#include "frame/columns.h"
#include "frame/forms.h"
#include "frame/how.h"
#include "frame/keys.h"
#include "frame/lines.h"
#include "frame/tables.h"

/* The result: a hash of all keys, and the bytes of all lines. */
typedef struct {
    uint64_t    sum, lines;
    size_t      length;
    bool        refused;
    const char *found;
} lines_seen;

/* Draws options; mutually exclusive ones are never combined. */
static cli_how lines_options(target_input *in)
{
    static const char separators[] = ",;\t|";
    uint64_t bits = target_take(in, 2), form = target_take(in, 1);
    cli_how how = CLI_HOW_UNSAID;
    how.csv = form % 4 == 1;
    how.tsv = form % 4 == 2;
    how.blanks = form % 4 == 3;
    how.null = (bits & 1) && !how.csv;
    how.crlf = (bits & 2) && !how.null;
    how.trim = bits & 4;
    how.lower = bits & 8;
    how.header = bits & 16;
    if ((bits & 32) && form % 4 < 2)
        how.separator = separators[bits >> 6 & 3];
    how.field.n = form >> 2 & 3;
    for (size_t i = 0; i < how.field.n; i++)
        how.field.numbers[i] = 1 + (bits >> (8 + 2 * i) & 3) + 4 * i;
    if (how.field.n == 0 && (how.blanks || (form & 16)) && !how.csv)
        how.field = (cli_columns){ .n = 1, .numbers = { 1 } };
    if (form & 32 && (how.field.n > 0 || !(how.csv || how.blanks)))
        how.label = (cli_columns){ .n = 1, .numbers = { 1 + (form >> 6) } };
    forms_choose(&how);
    return how;
}

static bool lines_within(const cli_how *how, const cli_chunk *c,
                         const void *data, size_t length)
{
    uintptr_t from = (uintptr_t)c->block, at = (uintptr_t)data;
    size_t bytes = keys_block(how, c->capacity);
    return at >= from && at - from <= bytes && length <= bytes - (at - from);
}

static void lines_see(lines_seen *seen, const cli_how *how, const cli_chunk *c,
                      const cli_batch *batch, const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < batch->n; i++) {
        const bly_key *key = &batch->keys[i], *line = &batch->lines[i];
        bool there = key->data != NULL;
        if (there && !lines_within(how, c, key->data, key->length))
            seen->found = "a key lies outside its chunk";
        else if (there)
            seen->sum = XXH3_64bits_withSeed(key->data, key->length,
                                             seen->sum + 1);
        if (text != NULL && (line->length > n - seen->length
                             || memcmp(line->data, text + seen->length,
                                       line->length) != 0)) {
            seen->found = "lines are not the text";
            return;
        }
        seen->length += line->length;
        seen->lines++;
    }
}

/* Reads everything. If `text` is NULL, the lines may be anything. */
static lines_seen lines_run(const cli_how *how, char *path,
                            const uint8_t *text, size_t n)
{
    static cli_batch batch;
    static cli_lines lines;
    cli_chunk chunk = { .block = NULL };
    cli_operands operands = { &path, 1 };
    lines_seen seen = { .sum = 0 };
    lines_open(&lines, how, &operands, 0, true);
    while (seen.found == NULL && lines_next(&lines, &chunk)) {
        size_t at = 0;
        seen.refused |= chunk.error != 0;
        while (chunk.error == 0 && seen.found == NULL
               && batches_split(&lines, &chunk, &at, &batch))
            lines_see(&seen, how, &chunk, &batch, text, n);
    }
    lines_close(&lines);
    free(chunk.block);
    return seen;
}

/* Memory and a file give the same, except for a header. */
static const char *lines_alike(cli_how how, char *path, const uint8_t *text,
                               size_t n)
{
    const uint8_t *whole = how.header ? NULL : text;
    how.text = how.compressed = true;
    lines_seen file = lines_run(&how, path, whole, n);
    how.given = (bly_key){ text, n };
    lines_seen given = lines_run(&how, path, whole, n);
    if (file.found != NULL || given.found != NULL)
        return file.found != NULL ? file.found : given.found;
    if (whole != NULL && !file.refused && file.length != n)
        return "lines are missing at the end";
    return file.refused != given.refused || file.lines != given.lines
           || (!file.refused && file.sum != given.sum)
         ? "from memory other keys come than from a file" : NULL;
}

const char *fuzz_lines(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    cli_how how = lines_options(&in);
    bool any = target_take(&in, 1) % 4 == 0;
    size_t left = target_left(&in);
    char name[64] = "";
    const char *path = target_file(in.at, left);
    if (path == NULL)
        return NULL;
    strncpy(name, path, sizeof name - 1);
    if (any)
        return lines_run(&how, name, NULL, 0).found;
    return left >= 3 && memcmp(in.at, "\xef\xbb\xbf", 3) == 0
         ? NULL : lines_alike(how, name, in.at, left);
}
