/* sorted.c - keys that do not fit in memory, sorted, in a temporary file.
 *
 * When a table is full, its keys are written as a new run at the end of the
 * file, sorted by their tags, 24 bits of the hash:
 *
 *     record   | tag, 3 bytes | length, 1 to 10 bytes | key |
 *     run      | record | record | … | record | record | …
 *     fences     ^ tag, place          ^ tag, place         every KiB
 *     filter   of all its keys, in memory
 *
 * A key that is not in the filter is not in the run, and costs no read.
 * Otherwise the fences tell which KiB to read and compare. Runs are immutable,
 * so all threads can look up keys while one writes the next run.
 */
#include "bloomery/exact/dedup.h"
#include "frame/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RUNS_TAG = 24, RUNS_TAG_BYTES = 3, RUNS_PLACE = 64 - RUNS_TAG,
    RUNS_STRIDE = 1024,         /* minimum bytes between fences */
    RUNS_BITS = 12,             /* of the filter, per key */
    RUNS_BLOCK = 1 << 18        /* bytes per write */
};

#define RUNS_PLACES (UINT64_C(1) << RUNS_PLACE)

struct sorted_run {
    bly_filter *filter;
    uint64_t   *fences;         /* tag and place; the last one is the end */
    size_t      n, room;
    uint64_t    begin, bytes;   /* in the file */
    sorted_run  *next;
};

void sorted_open(dedup_runs *runs, const bly_keyed *keyed)
{
    *runs = (dedup_runs){ .keyed = keyed, .fd = -1 };
    pthread_mutex_init(&runs->lock, NULL);
}

static void sorted_free(sorted_run *run)
{
    bly_free(run->filter);
    free(run->fences);
    free(run);
}

void sorted_close(dedup_runs *runs)
{
    for (sorted_run *run = runs->first, *next; run != NULL; run = next) {
        next = run->next;
        sorted_free(run);
    }
    if (runs->fd >= 0)
        close(runs->fd);
    pthread_mutex_destroy(&runs->lock);
}

size_t sorted_count(dedup_runs *runs)
{
    pthread_mutex_lock(&runs->lock);
    size_t n = runs->n;
    pthread_mutex_unlock(&runs->lock);
    return n;
}

static uint64_t sorted_tag(uint64_t hash)
{
    return hash >> 32 & ((UINT64_C(1) << RUNS_TAG) - 1);
}

/* ==== Writing =========================================================== */

/* A run that is being written. */
typedef struct {
    dedup_runs    *runs;
    sorted_run     *run;
    unsigned char *block;
    size_t         used;
    uint64_t       fenced;      /* offset of the last fence */
    uint64_t       hashes[256];
    size_t         hashed;
} sorted_writer;

static int sorted_flush(sorted_writer *w)
{
    int status = spill_write(w->runs->fd, w->block, w->used, true);

    w->used = 0;
    return status;
}

static int sorted_put(sorted_writer *w, const void *data, size_t n)
{
    w->run->bytes += n;
    if (w->used + n > RUNS_BLOCK && sorted_flush(w) != CLI_GO)
        return CLI_ERROR;
    if (n > RUNS_BLOCK)
        return spill_write(w->runs->fd, data, n, true);
    if (n > 0)
        memcpy(w->block + w->used, data, n);
    w->used += n;
    return CLI_GO;
}

static int sorted_fence(sorted_run *run, uint64_t tag)
{
    if (run->n == run->room) {
        size_t room = 2 * run->room + 64;

        if (!bytes_grow(&run->fences, room, sizeof *run->fences))
            return report_no_memory();
        run->room = room;
    }
    run->fences[run->n++] = tag << RUNS_PLACE | run->bytes;
    return CLI_GO;
}

static int sorted_add_hashes(sorted_writer *w)
{
    size_t n = w->hashed;

    w->hashed = 0;
    return bly_add_hashes(w->run->filter, w->hashes, n, NULL, NULL) < 0
         ? filter_error() : CLI_GO;
}

static int sorted_put_key(sorted_writer *w, bly_key key)
{
    unsigned char head[RUNS_TAG_BYTES + SPILL_NUMBER];
    uint64_t hash = bly_keyed_hash(w->runs->keyed, key.data, key.length);
    uint64_t tag = sorted_tag(hash);
    size_t n;

    w->hashes[w->hashed++] = hash;
    if (w->hashed == sizeof w->hashes / sizeof w->hashes[0]
        && sorted_add_hashes(w) != CLI_GO)
        return CLI_ERROR;
    if (w->run->n == 0 || w->run->bytes - w->fenced >= RUNS_STRIDE) {
        w->fenced = w->run->bytes;
        if (sorted_fence(w->run, tag) != CLI_GO)
            return CLI_ERROR;
    }
    for (size_t i = 0; i < RUNS_TAG_BYTES; i++)
        head[i] = (unsigned char)(tag >> (8 * i));
    n = RUNS_TAG_BYTES + spill_number(head + RUNS_TAG_BYTES, key.length);
    return sorted_put(w, head, n) != CLI_GO ? CLI_ERROR
         : sorted_put(w, key.data, key.length);
}

static int sorted_put_all(sorted_writer *w, dedup_table *table)
{
    enum { AHEAD = 16 };
    int status = CLI_GO;

    keytable_sort(table);
    for (uint64_t i = 0; i < table->keys && status == CLI_GO; i++) {
        if (i + AHEAD < table->keys)
            keytable_prefetch_sorted(table, i + AHEAD);
        status = sorted_put_key(w, keytable_key(table, i));
    }
    if (status == CLI_GO)
        status = sorted_add_hashes(w);
    if (status == CLI_GO)
        status = sorted_fence(w->run, 0);
    w->run->n--;
    return status == CLI_GO ? sorted_flush(w) : status;
}

static bly_filter *sorted_filter(uint64_t keys)
{
    bly_spec spec = { .capacity = keys };
    bly_filter *filter;
    char kind[64];

    snprintf(kind, sizeof kind, "blocked:k=6,m=%" PRIu64,
             RUNS_BITS * keys + 512);
    return bly_new(&filter, kind, &spec) < 0 ? NULL : filter;
}

static void sorted_append(dedup_runs *runs, sorted_run *run)
{
    pthread_mutex_lock(&runs->lock);
    if (runs->last != NULL)
        runs->last->next = run;
    else
        runs->first = run;
    runs->last = run;
    runs->n++;
    runs->bytes += run->bytes;
    pthread_mutex_unlock(&runs->lock);
}

int sorted_write(dedup_runs *runs, dedup_table *table)
{
    sorted_writer w = { .runs = runs, .run = calloc(1, sizeof *w.run),
                      .block = malloc(RUNS_BLOCK) };
    int status = CLI_GO;

    if (w.run != NULL)
        w.run->filter = sorted_filter(table->keys);
    if (w.block == NULL || w.run == NULL || w.run->filter == NULL)
        status = report_no_memory();
    else if (runs->fd < 0 && (runs->fd = spill_file(true)) < 0)
        status = CLI_ERROR;
    if (status == CLI_GO) {
        w.run->begin = runs->bytes;
        status = sorted_put_all(&w, table);
    }
    free(w.block);
    if (status == CLI_GO)
        sorted_append(runs, w.run);
    else if (w.run != NULL)
        sorted_free(w.run);
    keytable_clear(table);
    return status;
}

/* ==== Looking =========================================================== */

/* Returns the last fence before all records of the tag. */
static size_t sorted_search(const sorted_run *run, uint64_t tag)
{
    size_t low = 0, high = run->n;      /* low .. high: the first not below */

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (run->fences[middle] >> RUNS_PLACE < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* Reads the bytes between fence i and the next. Returns 0 or errno. */
static int sorted_fetch(const dedup_runs *runs, const sorted_run *run, size_t i,
                        sorted_space *space, size_t *n)
{
    uint64_t from = run->fences[i] & (RUNS_PLACES - 1);

    *n = (size_t)((run->fences[i + 1] & (RUNS_PLACES - 1)) - from);
    if (*n > space->room) {
        if (!bytes_grow(&space->bytes, 2 * *n, 1))
            return ENOMEM;
        space->room = 2 * *n;
    }
    return spill_read_file(runs->fd, space->bytes, *n, run->begin + from);
}

typedef enum { RUNS_FOUND, RUNS_ABSENT, RUNS_FURTHER } sorted_answer;

/* Looks for the key in these records. RUNS_FURTHER: it may be in the next ones.
 */
static sorted_answer sorted_compare(const unsigned char *at, size_t n,
                                    uint64_t tag, bly_key key)
{
    const unsigned char *end = at + n;

    while (at < end) {
        uint64_t its = at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16;
        uint64_t length = 0;
        unsigned shift = 0;

        if (its > tag)
            return RUNS_ABSENT;
        for (at += RUNS_TAG_BYTES; *at >= 0x80; shift += 7)
            length |= (uint64_t)(*at++ & 0x7f) << shift;
        length |= (uint64_t)*at++ << shift;
        if (its == tag && length == key.length
            && memcmp(at, key.data, key.length) == 0)
            return RUNS_FOUND;
        at += length;
    }
    return RUNS_FURTHER;
}

/* Looks for the key in a run. Returns 0 or errno. */
static int sorted_find(const dedup_runs *runs, const sorted_run *run,
                       uint64_t hash, bly_key key, sorted_space *space,
                       bool *found)
{
    uint64_t tag = sorted_tag(hash);
    sorted_answer answer = RUNS_FURTHER;

    for (size_t i = sorted_search(run, tag);
         answer == RUNS_FURTHER && i < run->n; i++) {
        size_t n;
        int error = sorted_fetch(runs, run, i, space, &n);

        if (error != 0)
            return error;
        answer = sorted_compare(space->bytes, n, tag, key);
    }
    *found = answer == RUNS_FOUND;
    return 0;
}

static int sorted_look_in(const dedup_runs *runs, const sorted_run *run,
                          dedup_rows *rows, sorted_space *space)
{
    int error = 0;

    bly_contains_hashes(run->filter, rows->hashes, rows->n, space->perhaps);
    for (size_t i = 0; i < rows->n && error == 0; i++)
        if (space->perhaps[i] && !rows->drop[i] && rows->keys[i].data != NULL)
            error = sorted_find(runs, run, rows->hashes[i], rows->keys[i],
                                space, &rows->drop[i]);
    return error;
}

int sorted_look(dedup_runs *runs, size_t from, size_t to, dedup_rows *rows,
                sorted_space *space)
{
    const sorted_run *run = NULL;      /* the link in front of the next run */
    int error = 0;

    if (from == to)
        return 0;
    if (rows->n > space->rows) {
        if (!bytes_grow(&space->perhaps, rows->room, sizeof *space->perhaps))
            return ENOMEM;
        space->rows = rows->room;
    }
    for (size_t i = 0; i < to && error == 0; i++) {
        run = run == NULL ? runs->first : run->next;
        if (i >= from)
            error = sorted_look_in(runs, run, rows, space);
    }
    return error;
}

void sorted_space_free(sorted_space *space)
{
    free(space->bytes);
    free(space->perhaps);
}
