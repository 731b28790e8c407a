/* exchange.c - all-to-all exchange of bytes.
 *
 * MPI counts in `int`. Messages are sent in pieces of at most 1 GiB, so they
 * may have any length.
 */
#include "mpi/cluster.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_PIECE = 1 << 30 };

uint64_t exchange_sent;

unsigned char *exchange_extend(job_bytes *b, size_t more)
{
    size_t n = b->n;

    if (more > b->room - n || b->bytes == NULL) {   /* needs an address    */
        size_t room = 2 * b->room > n + more ? 2 * b->room : n + more;

        b->bytes = job_memory(b->bytes, room);
        b->room = room;
    }
    b->n = n + more;
    return b->bytes + n;
}

void exchange_free(job_bytes *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}

/* ==== From one rank to another ========================================== */

static size_t exchange_pieces(size_t n)
{
    return n / EXCHANGE_PIECE + (n % EXCHANGE_PIECE != 0);
}

static int exchange_piece(size_t n, size_t at)
{
    return (int)(n - at < EXCHANGE_PIECE ? n - at : EXCHANGE_PIECE);
}

void exchange_send(int rank, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;

    for (size_t at = 0; at < n; at += EXCHANGE_PIECE)
        MPI_Send(from + at, exchange_piece(n, at), MPI_BYTE, rank, 0,
                 MPI_COMM_WORLD);
    exchange_sent += n;
}

void exchange_receive(int rank, void *bytes, size_t n)
{
    unsigned char *to = bytes;

    for (size_t at = 0; at < n; at += EXCHANGE_PIECE)
        MPI_Recv(to + at, exchange_piece(n, at), MPI_BYTE, rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns how many bytes the other rank will send. */
static size_t exchange_length(int rank, size_t n)
{
    uint64_t out = n, in = 0;

    MPI_Sendrecv(&out, 1, MPI_UINT64_T, rank, 0, &in, 1, MPI_UINT64_T, rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (size_t)in;
}

void exchange_pair(int rank, const void *bytes, size_t n, job_bytes *in)
{
    size_t m = exchange_length(rank, n), out = 0, at = 0;
    const unsigned char *from = bytes;

    in->n = 0;
    exchange_extend(in, m);
    while (out < n || at < m) {
        int sent = exchange_piece(n, out), got = exchange_piece(m, at);

        MPI_Sendrecv(sent > 0 ? from + out : NULL, sent, MPI_BYTE, rank, 0,
                     got > 0 ? in->bytes + at : NULL, got, MPI_BYTE, rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        out += (size_t)sent;
        at += (size_t)got;
    }
    exchange_sent += n;
}

/* ==== From all to all =================================================== */

typedef struct {
    MPI_Request *requests;
    int n;
} exchange_open;

static void exchange_start_receive(exchange_open *o, int rank,
                                   unsigned char *to, size_t n)
{
    for (size_t at = 0; at < n; at += EXCHANGE_PIECE)
        MPI_Irecv(to + at, exchange_piece(n, at), MPI_BYTE, rank, 0,
                  MPI_COMM_WORLD, &o->requests[o->n++]);
}

static void exchange_start_send(exchange_open *o, int rank,
                                const unsigned char *from, size_t n)
{
    for (size_t at = 0; at < n; at += EXCHANGE_PIECE)
        MPI_Isend(from + at, exchange_piece(n, at), MPI_BYTE, rank, 0,
                  MPI_COMM_WORLD, &o->requests[o->n++]);
    exchange_sent += n;
}

/* Stores the number of bytes from each rank in begin[r + 1], and the number of
 * pieces of all messages, in and out, in *pieces. */
static void exchange_lengths(const job_bytes *to, size_t *begin,
                             size_t *pieces)
{
    size_t ranks = (size_t)job_ranks;
    uint64_t *out = job_memory(NULL, 2 * ranks * sizeof *out);
    uint64_t *in = out + ranks;

    *pieces = 0;
    for (size_t r = 0; r < ranks; r++)
        out[r] = to[r].n;
    MPI_Alltoall(out, 1, MPI_UINT64_T, in, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    begin[0] = 0;
    for (size_t r = 0; r < ranks; r++) {
        begin[r + 1] = begin[r] + (size_t)in[r];
        *pieces += exchange_pieces((size_t)in[r]) + exchange_pieces(to[r].n);
    }
    free(out);
}

void exchange_all(const job_bytes *to, job_bytes *in, size_t *begin)
{
    exchange_open open = { .n = 0 };
    size_t pieces;

    exchange_lengths(to, begin, &pieces);
    in->n = 0;
    exchange_extend(in, begin[job_ranks]);
    open.requests = job_memory(NULL, pieces * sizeof *open.requests);
    for (int r = 0; r < job_ranks; r++)
        if (r != job_rank)
            exchange_start_receive(&open, r, in->bytes + begin[r],
                                   begin[r + 1] - begin[r]);
    for (int i = 1; i < job_ranks; i++) {       /* do not all begin at 0     */
        int r = (job_rank + i) % job_ranks;

        exchange_start_send(&open, r, to[r].bytes, to[r].n);
    }
    if (to[job_rank].n > 0)
        memcpy(in->bytes + begin[job_rank], to[job_rank].bytes,
               to[job_rank].n);
    MPI_Waitall(open.n, open.requests, MPI_STATUSES_IGNORE);
    free(open.requests);
}
