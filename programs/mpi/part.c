/* part.c - one filter, divided among the ranks.
 *
 *     image    | header, blocks … | blocks …      | blocks …      | blocks |
 *     rank     |        0         |       1       |       2       |   3    |
 *
 * If a key touches only one block of the image (the ability "local"), the rank
 * that owns the block can look it up or add it alone. Each rank therefore owns
 * a range of blocks, and receives keys as hashes. Every rank has a handle of
 * the whole filter, so that the library's verbs work unchanged, but memory that
 * it never touches is not allocated (BLY_SPARSE).
 */
#include "mpi/cluster.h"

#include <bloomery/parts.h>

#include <stdlib.h>
#include <string.h>

/* ==== Ranges ============================================================ */

int part_divide(part_map *map, const bly_filter *filter)
{
    uint64_t ranks = (uint64_t)job_ranks, blocks;
    size_t bytes, block;

    if (bly_places(filter, NULL, 0, NULL, &block) < 0)
        return filter_error();
    bly_raw(filter, &bytes);
    blocks = bytes / block + (bytes % block != 0);
    map->bytes = bytes;
    map->width = (blocks / ranks + (blocks % ranks != 0)) * block;
    return CLI_GO;
}

int part_owner(const part_map *map, uint64_t place)
{
    return (int)(place / map->width);
}

/* Stores the range [*from, *to) of the image that a rank owns. */
static void part_range(const part_map *map, int rank, uint64_t *from,
                       uint64_t *to)
{
    uint64_t begin = (uint64_t)rank * map->width;

    *from = begin < map->bytes ? begin : map->bytes;
    *to = map->bytes - *from < map->width ? map->bytes : *from + map->width;
}

/* The header holds a checksum of all the rest. */
bool part_same(const bly_filter *filter)
{
    const bly_key header = { bly_raw(filter, NULL), BLY_HEADER_BYTES };
    uint64_t hash = 0;

    bly_hash_many(&hash, NULL, NULL, &(bly_keys){ .n = 1, .keys = &header });
    return job_same(hash);
}

int part_same_key(const bly_filter *filter)
{
    return job_same(bly_hash(filter, "", 0)) ? CLI_GO
         : report_error("not all ranks have the same secret: use a --key-file "
                        "that every machine of the job can read");
}

/* ==== Mail ============================================================== */

void part_mail_open(part_mail *m)
{
    m->ranks = (size_t)job_ranks;
    m->to = job_memory(NULL, m->ranks * sizeof *m->to);
    m->begin = job_memory(NULL, (m->ranks + 1) * sizeof *m->begin);
    memset(m->to, 0, m->ranks * sizeof *m->to);
    memset(&m->in, 0, sizeof m->in);
}

void part_mail_close(part_mail *m)
{
    for (size_t r = 0; r < m->ranks; r++)
        exchange_free(&m->to[r]);
    exchange_free(&m->in);
    free(m->to);
    free(m->begin);
}

void part_mail_empty(part_mail *m)
{
    for (size_t r = 0; r < m->ranks; r++)
        m->to[r].n = 0;
}

/* ==== Save ============================================================== */

typedef struct {
    const part_map *map;
    const unsigned char *image;         /* contains rank 0's part */
} part_source;

/* A request by rank 0: n bytes at offset `from`; 0 bytes end the requests. */
typedef struct { uint64_t from, n; } part_request;

/* Fetches each piece from its owner, on rank 0. */
static bool part_fetch(void *context, uint64_t from, void *into, size_t n)
{
    const part_source *s = context;
    unsigned char *to = into;

    while (n > 0) {
        int owner = part_owner(s->map, from);
        part_request ask = { from, n };
        uint64_t begin, end;

        part_range(s->map, owner, &begin, &end);
        if (ask.n > end - from)
            ask.n = end - from;
        if (owner == 0) {
            memcpy(to, s->image + from, (size_t)ask.n);
        } else {
            exchange_send(owner, &ask, sizeof ask);
            exchange_receive(owner, to, (size_t)ask.n);
        }
        from += ask.n;
        to += ask.n;
        n -= (size_t)ask.n;
    }
    return true;
}

/* Answers the requests, on other ranks, until they end. */
static void part_serve(const unsigned char *image)
{
    part_request ask;

    for (;;) {
        exchange_receive(0, &ask, sizeof ask);
        if (ask.n == 0)
            return;
        exchange_send(0, image + ask.from, (size_t)ask.n);
    }
}

int part_save(const bly_filter *filter, const part_map *map, const char *path,
              uint64_t items)
{
    part_source source = { map, bly_raw(filter, NULL) };
    const part_request end = { 0, 0 };
    int status = CLI_GO;

    if (job_rank != 0) {
        part_serve(source.image);
        return job_agree(CLI_GO);
    }
    if (bly_save_parts(filter, path, items, part_fetch, &source) < 0)
        status = filter_error();
    for (int r = 1; r < job_ranks; r++)
        exchange_send(r, &end, sizeof end);
    return job_agree(status);
}
