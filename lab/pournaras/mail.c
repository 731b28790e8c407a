/* mail.c - exchanges bytes between all ranks, and counts them. */
#include "gossip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

unsigned char *mail_extend(mail_bytes *b, size_t more)
{
    size_t n = b->n;
    if (b->bytes == NULL || more > b->room - n) {
        b->room = 2 * b->room + more;
        b->bytes = realloc(b->bytes, b->room + 1);
        if (b->bytes == NULL)
            lab_stop("memory", "not enough; try QUICK=1");
    }
    b->n = n + more;
    return b->bytes + n;
}

void mail_open(mail *m, MPI_Comm ranks)
{
    *m = (mail){ .ranks = ranks };
    MPI_Comm_rank(ranks, &m->rank);
    MPI_Comm_size(ranks, &m->n);
    size_t n = (size_t)m->n;
    m->to = lab_allocate(n * sizeof *m->to);
    memset(m->to, 0, n * sizeof *m->to);
    m->begin = lab_allocate((n + 1) * sizeof *m->begin);
}

void mail_close(mail *m)
{
    for (int r = 0; r < m->n; r++)
        free(m->to[r].bytes);
    free(m->to);
    free(m->in.bytes);
    free(m->begin);
}

void mail_empty(mail *m)
{
    for (int r = 0; r < m->n; r++)
        m->to[r].n = 0;
}

/* Concatenates all data in *out, and sets each rank's length and place. */
static void mail_gather(mail *m, mail_bytes *out, int *length, int *place)
{
    for (int r = 0; r < m->n; r++) {
        size_t n = m->to[r].n;
        if (n > INT_MAX - out->n)
            lab_stop("mail", "a rank is to send 2 GiB at once");
        place[r] = (int)out->n;
        length[r] = (int)n;
        m->sent += r == m->rank ? 0 : n;
        if (n > 0)
            memcpy(mail_extend(out, n), m->to[r].bytes, n);
    }
}

void mail_exchange(mail *m)
{
    int *length = lab_allocate(3 * (size_t)m->n * sizeof *length);
    int *place = length + m->n, *came = place + m->n;
    mail_bytes out = { 0 };
    mail_gather(m, &out, length, place);
    MPI_Alltoall(length, 1, MPI_INT, came, 1, MPI_INT, m->ranks);
    m->begin[0] = 0;
    for (int r = 0; r < m->n; r++) {
        if (came[r] > INT_MAX - m->begin[r])
            lab_stop("mail", "a rank is to receive 2 GiB at once");
        m->begin[r + 1] = m->begin[r] + came[r];
    }
    m->in.n = 0;
    mail_extend(&m->in, (size_t)m->begin[m->n]);
    MPI_Alltoallv(out.bytes, length, place, MPI_BYTE, m->in.bytes, came,
                  m->begin, MPI_BYTE, m->ranks);
    free(out.bytes);
    free(length);
}
