/* traces.c - finds the spans of a trace. They are stored in order of arrival;
 * an index of the trace ids in each of many blocks tells which few blocks to
 * open.
 *
 *   cc -o traces traces.c $(pkg-config --cflags --libs bloomery)
 */
#define _POSIX_C_SOURCE 200809L         /* mkstemp                           */
#include <bloomery/index.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPANS = 160000, TRACES = 25000 };    /* the last ones have no spans   */
typedef struct { uint64_t half[2]; } trace_id;
typedef struct { uint64_t from, end; } block;           /* of the store      */
static trace_id store[SPANS];           /* only the trace of each span       */
static uint64_t hashes[SPANS], spans_of[TRACES];
static double useful, in_vain, missed;  /* blocks, blocks and spans          */

static trace_id id_of(uint64_t trace)
{
    return (trace_id){ { bly_mix64(2 * trace), bly_mix64(2 * trace + 1) } };
}

/* A trace has about eight spans, and a hundred traces are active at a time. */
static bly_status store_spans(void)
{
    bly_keys ids = { .n = SPANS, .data = store, .width = sizeof *store };
    for (uint64_t i = 0; i < SPANS; i++) {
        uint64_t trace = i / 8 + bly_mix64(i) % 100;
        store[i] = id_of(trace);
        spans_of[trace]++;
    }
    return bly_hash_many(hashes, NULL, NULL, &ids);
}

/* Blocks have 100 to 800 spans. A name is any bytes: here, the block's
 * place. */
static bly_status index_blocks(const char *path)
{
    bly_index_maker *maker = NULL;
    block b = { 0, 0 };
    bly_document d = { .name = (char *)&b, .length = sizeof b };
    bly_status status = bly_index_begin(&maker, path,
                                        &(bly_index_spec){ .rate = 0.01 });
    while (b.end < SPANS && status == BLY_OK) {
        b.from = b.end;
        b.end += 100 + bly_mix64(b.from) % 701;
        b.end = b.end < SPANS ? b.end : SPANS;
        status = bly_index_add(maker, &d, hashes + b.from, b.end - b.from);
    }
    if (status == BLY_OK)
        return bly_index_end(maker);
    bly_index_abort(maker);
    return status;
}

/* Counts the spans of the trace in this block. */
static bool open_block(void *id, uint64_t number, const bly_document *d)
{
    unsigned found = 0;
    block b;
    (void)number;
    memcpy(&b, d->name, sizeof b);
    for (uint64_t i = b.from; i < b.end; i++)
        found += memcmp(&store[i], id, sizeof *store) == 0;
    *(found > 0 ? &useful : &in_vain) += 1;
    missed -= found;
    return true;
}

static bly_status look_up(const bly_index *index, uint64_t trace)
{
    trace_id id = id_of(trace);
    uint64_t hash;
    bly_status status = bly_index_hash(&hash, index,
        &(bly_keys){ .n = 1, .data = &id, .width = sizeof id });
    missed += (double)spans_of[trace];
    return status < 0 ? status
         : bly_index_visit(index, &hash, 1, 1, open_block, &id);
}

int main(void)
{
    char path[] = "/tmp/traces-XXXXXX";
    int file = mkstemp(path);
    bly_index *index = NULL;
    bly_index_stat_t is;
    if (file < 0 || close(file) != 0)
        return perror(path), 1;
    bool good = store_spans() == BLY_OK && index_blocks(path) == BLY_OK
             && bly_index_open(&index, path, NULL) == BLY_OK;
    remove(path);                       /* open files survive removal        */
    for (uint64_t trace = 0; trace < TRACES && good; trace++)
        good = look_up(index, trace) >= 0;
    if (!good)
        return fprintf(stderr, "%s\n", bly_why()), bly_index_free(index), 1;
    bly_index_stat(&is, index);
    double planned = is.rate * ((double)is.documents * TRACES - useful);
    printf("of %.0f blocks a trace is in %.2f, and %.2f are opened in vain, "
           "of %.2f planned at most; %.0f spans missed\n",
           (double)is.documents, useful / TRACES, in_vain / TRACES,
           planned / TRACES, missed);
    bly_index_free(index);
    /* a block has 1 to 1.19 times the bits it needs: slightly fewer errors */
    return missed != 0 || in_vain > planned || in_vain < planned / 3;
}
