/* marked.c - the lines of a chunk: splitting, hashing and printing.
 *
 * All passes of `dedup` begin by splitting the chunk and hashing its keys, in
 * all threads. Later steps, in input order, mark the lines to drop. Unmarked
 * lines are printed, adjacent ones at once. A last line without a newline gets
 * one, as in awk, sort and uniq.
 */
#include "documents/documents.h"
#include "frame/bytes.h"
#include "frame/output.h"

#include <stdlib.h>
#include <string.h>

/* ==== Filling =========================================================== */

bool marked_room(dedup_rows *r, size_t more)
{
    size_t room = r->n + more + r->n / 2;

    if (r->n + more <= r->room)
        return true;
    if (!bytes_grow(&r->keys, room, sizeof *r->keys)
        || !bytes_grow(&r->hashes, room, sizeof *r->hashes)
        || !bytes_grow(&r->ends, room, sizeof *r->ends)
        || !bytes_grow(&r->drop, room, sizeof *r->drop))
        return false;
    r->room = room;
    return true;
}

static uint64_t marked_hash(const bly_keyed *keyed, const bly_filter *filter,
                            bly_key key)
{
    return filter == NULL ? bly_keyed_hash(keyed, key.data, key.length)
                          : bly_hash(filter, key.data, key.length);
}

static void marked_append(dedup_rows *r, const cli_worker *w,
                          const bly_keyed *keyed, const bly_filter *filter)
{
    const cli_batch *b = w->batch;

    for (size_t i = 0; i < b->n; i++) {
        const unsigned char *line = b->lines[i].data;

        r->ends[r->n + i] = (size_t)(line - w->chunk.block)
                          + b->lines[i].length;
        r->hashes[r->n + i] = b->keys[i].data == NULL ? 0
                            : marked_hash(keyed, filter, b->keys[i]);
    }
    memcpy(r->keys + r->n, b->keys, b->n * sizeof *b->keys);
    memset(r->drop + r->n, 0, b->n * sizeof *r->drop);
    r->n += b->n;
    r->keyless += b->keyless;
    r->lacking += b->lacking;
}

bool marked_fill(dedup_rows *r, cli_worker *w, const bly_keyed *keyed,
                 const bly_filter *filter)
{
    r->n = 0;
    r->keyless = r->lacking = 0;
    r->bytes = w->chunk.length;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        if (!marked_room(r, w->batch->n))
            return false;
        marked_append(r, w, keyed, filter);
    }
    return true;
}

void marked_free(dedup_rows *r)
{
    free(r->keys);
    free(r->hashes);
    free(r->ends);
    free(r->drop);
}

/* ==== Adding ============================================================ */

/* Returns the end of the rows starting at `from` that all have a key, or all
 * have none. */
static size_t marked_alike(const dedup_rows *r, size_t from)
{
    bool keyed = r->keys[from].data != NULL;
    size_t to = from + 1;

    if (r->keyless == 0)
        return r->n;
    while (to < r->n && (r->keys[to].data != NULL) == keyed)
        to++;
    return to;
}

/* Adds only keys that are absent: a kind that supports removal stores repeated
 * keys again and would fill up. */
static bool marked_add_once(dedup_rows *r, bly_filter *filter, size_t from,
                            size_t to)
{
    for (size_t i = from; i < to; i++) {
        r->drop[i] = bly_contains_hash(filter, r->hashes[i]);
        if (!r->drop[i] && bly_add_hash(filter, r->hashes[i]) < 0)
            return false;
    }
    return true;
}

static bool marked_add_all(dedup_rows *r, bly_filter *filter, size_t from,
                           size_t to)
{
    if (filter_can(filter, BLY_CAN_REMOVE))
        return marked_add_once(r, filter, from, to);
    return bly_add_hashes(filter, r->hashes + from, to - from, r->drop + from,
                          NULL) >= 0;
}

int marked_add(dedup_rows *r, bly_filter *filter)
{
    for (size_t from = 0, to; from < r->n; from = to) {
        to = marked_alike(r, from);
        if (r->keys[from].data != NULL && !marked_add_all(r, filter, from, to))
            return filter_error();
    }
    return CLI_GO;
}

/* ==== Printing ========================================================== */

static size_t marked_begin(const dedup_rows *r, size_t i)
{
    return i == 0 ? 0 : r->ends[i - 1];
}

bool marked_print_some(const dedup_rows *r, const cli_worker *w, size_t from,
                       size_t to)
{
    const unsigned char *block = w->chunk.block;
    unsigned char terminator = w->lines->how.null ? '\0' : '\n';
    size_t begin = marked_begin(r, from), end = r->ends[to - 1];

    if (!output_bytes(block + begin, end - begin))
        return false;
    return block[end - 1] == terminator || output_bytes(&terminator, 1);
}

bool marked_print(const dedup_rows *r, const cli_worker *w)
{
    for (size_t from = 0, to; from < r->n; from = to) {
        for (to = from + 1; to < r->n; to++)
            if (r->drop[to] != r->drop[from])
                break;
        if (!r->drop[from]
            && !marked_print_some(r, w, from, to))
            return false;
    }
    return !w->chunk.idle || output_flush();
}
