/* fuzz_fps.c - any bytes read as a text of fingerprints give rows of as many
 * bits as they say, or a line that says what is wrong; whole lines that come in
 * parts give the same rows; and each row that was read is the one that is most
 * similar to itself, and within itself.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery/similar.h"

enum { FPS_QUERIES = 8 };

/* Reads the text line by line. */
static bly_status fps_lines(bly_rows *rows, const uint8_t *text, size_t n)
{
    bly_status status = BLY_OK;
    while (n > 0 && status == BLY_OK) {
        const uint8_t *end = memchr(text, '\n', n);
        size_t length = end != NULL ? (size_t)(end - text) + 1 : n;
        status = bly_rows_add_fps(rows, text, length);
        text += length;
        n -= length;
    }
    return status;
}

static bool fps_same(const bly_rows *a, const bly_rows *b)
{
    uint64_t n = bly_rows_count(a), bytes = (bly_rows_bits(a) + 7) / 8;
    if (n != bly_rows_count(b) || bly_rows_bits(a) != bly_rows_bits(b)
        || (bly_rows_type(a) == NULL) != (bly_rows_type(b) == NULL))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (strcmp(bly_rows_name(a, i), bly_rows_name(b, i)) != 0
            || memcmp(bly_rows_at(a, i), bly_rows_at(b, i), (size_t)bytes) != 0)
            return false;
    return true;
}

/* The first one found has a similarity of 1, and comes no later than the row
 * itself; a row without any bit is only within all. */
static const char *fps_itself(const bly_rows *rows, const bly_rows *queries,
                              uint64_t i)
{
    const bly_similar_spec spec = { .most = 1, .threads = 1, .within = true };
    bly_similar out;
    size_t found = 0;
    if (bly_similar_find(&out, &found, rows, queries, i, 1, &spec) != BLY_OK
        || found != 1)
        return "a row is not found by itself";
    return out.shared > 0 && (out.similarity != 1 || out.row > i
                              || out.bits != out.shared)
         ? "a row is not the most similar one to itself" : NULL;
}

static const char *fps_rows(bly_rows *rows, bly_rows *again, bly_status status,
                            const uint8_t *bytes, size_t n)
{
    const char *found = NULL;
    if (fps_lines(again, bytes, n) != status || !fps_same(rows, again))
        return "other rows come of the same text in parts";
    if (bly_rows_sort(rows) != BLY_OK || !fps_same(rows, again))
        return "rows are not what they were before they were sorted";
    for (uint64_t i = 0; i < bly_rows_count(again) && i < FPS_QUERIES
                         && found == NULL; i++)
        found = fps_itself(rows, again, i);
    return found;
}

const char *fuzz_fps(const uint8_t *bytes, size_t n)
{
    bly_rows *rows = NULL, *again = NULL;
    const char *found = "no rows can be made";
    if (bly_rows_new(&rows, 0, NULL) == BLY_OK
        && bly_rows_new(&again, 0, NULL) == BLY_OK) {
        bly_status status = bly_rows_add_fps(rows, bytes, n);
        found = fps_rows(rows, again, status, bytes, n);
    }
    bly_rows_free(rows);
    bly_rows_free(again);
    return found;
}
