/* disjoint.c - verifies that two lists of keys have none in common, for `build
 * --without`.
 *
 * Repeated hashes in a list are dropped, because a filter would be planned for
 * each of them. A hash that is in both lists is an error. Only hashes are kept
 * in memory; to name the key, the files are read again if possible.
 */
#include "bloomery/command.h"
#include "frame/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== Hashes ============================================================ */

static int disjoint_compare(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

size_t disjoint_distinct(uint64_t *hashes, size_t n)
{
    size_t kept = 0;

    if (n > 0)
        qsort(hashes, n, sizeof *hashes, disjoint_compare);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || hashes[i] != hashes[i - 1])
            hashes[kept++] = hashes[i];
    return kept;
}

/* Returns the first hash in both sorted lists, and the number of such
 * hashes. */
static size_t disjoint_common(const uint64_t *a, size_t n, const uint64_t *b,
                              size_t m, uint64_t *first)
{
    size_t common = 0;

    for (size_t i = 0, j = 0; i < n && j < m; ) {
        if (a[i] == b[j] && common++ == 0)
            *first = a[i];
        if (a[i] <= b[j])
            i++;
        else
            j++;
    }
    return common;
}

/* ==== Its key =========================================================== */

static void disjoint_keep(disjoint_found *out, const bly_key *key)
{
    const unsigned char *text = key->data;
    size_t n = key->length < sizeof out->text ? key->length
                                              : sizeof out->text - 1;

    out->length = key->length;
    for (size_t i = 0; i < n; i++)
        out->text[i] = text[i] < 0x20 || text[i] == 0x7f ? '?'
                                                         : (char)text[i];
    out->text[n] = '\0';
}

/* Searches a batch of all lines. Returns false if the key is not there. */
static bool disjoint_find_in(disjoint_found *out, const cli_lines *lines,
                             const cli_chunk *chunk, const cli_batch *b,
                             const cli_hashes *of, uint64_t hash)
{
    uint64_t hashes[BATCHES_MOST];

    bly_hash_many(hashes, of->kind, of->spec,
                  &(bly_keys){ .n = b->n, .keys = b->keys });
    for (size_t i = 0; i < b->n; i++)
        if (b->keys[i].data != NULL && hashes[i] == hash) {
            disjoint_keep(out, &b->keys[i]);
            out->line = batches_number(lines, chunk, b->keys[i].data);
            return true;
        }
    return false;
}

static void disjoint_find_all(disjoint_found *out, cli_lines *lines,
                              cli_batch *batch, const cli_hashes *of,
                              uint64_t hash)
{
    cli_chunk chunk = { .block = NULL };
    const char *path = NULL;
    uint64_t before = 0, lines_in;      /* of this file, and of the chunk */

    while (out->path == NULL && lines_next(lines, &chunk)) {
        if (chunk.error != 0)
            continue;
        if (chunk.path != path)
            before = 0;
        path = chunk.path;
        lines_in = 0;
        for (size_t at = 0; out->path == NULL
                         && batches_split(lines, &chunk, &at, batch); ) {
            if (disjoint_find_in(out, lines, &chunk, batch, of, hash)) {
                out->path = path;
                out->line += before;
            }
            lines_in += batches_counted(lines, batch);
        }
        before += lines_in;
    }
    free(chunk.block);
}

void disjoint_find(disjoint_found *out, const cli_disjoint *lists,
                   const cli_operands *operands, const cli_hashes *of,
                   uint64_t hash)
{
    cli_batch *batch = malloc(sizeof *batch);
    cli_lines lines;
    uint64_t total;

    out->path = NULL;
    lines_open(&lines, lists->how, operands, 0, true);
    if (batch != NULL && measure_input(&lines, &total) == CLI_OK)
        disjoint_find_all(out, &lines, batch, of, hash);
    lines_close(&lines);
    free(batch);
}

/* ==== The error ========================================================= */

static int disjoint_two_keys(const disjoint_found *a, const disjoint_found *b)
{
    return report_error("'%s' (line %llu of '%s', a member) and '%s' (line "
                        "%llu of '%s', another key) have the same hash: choose "
                        "another seed (-s) or hash function (-H)", a->text,
                        (unsigned long long)a->line, a->path, b->text,
                        (unsigned long long)b->line, b->path);
}

static int disjoint_refuse(const cli_disjoint *lists, const cli_hashes *of,
                           uint64_t hash, size_t common)
{
    disjoint_found a, b, *one = &a;
    char more[64] = "";

    disjoint_find(&a, lists, lists->members, of, hash);
    disjoint_find(&b, lists, lists->others, of, hash);
    if (a.path != NULL && b.path != NULL
        && (a.length != b.length || strcmp(a.text, b.text) != 0))
        return disjoint_two_keys(&a, &b);
    if (common > 1)
        snprintf(more, sizeof more, ", and %s more are",
                 report_count(common - 1).text);
    if (a.path != NULL && b.path != NULL)
        return report_error("'%s' is both a member and one of the other keys%s "
                            "(line %llu of '%s', line %llu of '%s'): remove it "
                            "from one list", a.text, more,
                            (unsigned long long)a.line, a.path,
                            (unsigned long long)b.line, b.path);
    if (a.path == NULL)
        one = &b;
    if (one->path != NULL)
        return report_error("'%s' is both a member and one of the other keys%s "
                            "(line %llu of '%s'): remove it from one list",
                            one->text, more, (unsigned long long)one->line,
                            one->path);
    return report_error("a key is both a member and one of the other keys%s: "
                        "remove it from one list (with files instead of pipes, "
                        "this message names the key)", more);
}

int disjoint_run(cli_hashes *hashes, size_t *members, const cli_disjoint *lists)
{
    uint64_t *others = hashes->hashes + *members, first = 0;
    size_t m = disjoint_distinct(others, hashes->n - *members);
    size_t n = disjoint_distinct(hashes->hashes, *members);
    size_t common = disjoint_common(hashes->hashes, n, others, m, &first);

    if (common > 0)
        return disjoint_refuse(lists, hashes, first, common);
    if (m > 0)
        memmove(hashes->hashes + n, others, m * sizeof *others);
    *members = n;
    hashes->n = n + m;
    return CLI_OK;
}
