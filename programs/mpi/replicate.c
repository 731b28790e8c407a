/* replicate.c - a filter of each rank, and then the union of all on each.
 *
 *      rank         0       1       2       3       4
 *      first        0+4     1       2       3       4     the fifth is folded
 * in step 1       0+1+4   0+1+4   2+3     2+3 step 2       all     all     all
 * all last         all     all     all     all     all   … and is told
 *
 * The exchange on a hypercube [Kumar 1994]: in step i two ranks whose numbers
 * differ in bit i send each other what they have, and unite it. After log2 of
 * the number of ranks all have everything, and no key was ever in both halves
 * of a union, so that counters add up right. Where the number is no power of
 * two, the ranks beyond the largest one in it send what they have to a partner
 * first, and get the result from it in the end.
 *
 *   [Kumar 1994]  Kumar, Grama, Gupta, Karypis: Introduction to parallel
 *                 computing (all-to-all broadcast on a hypercube)
 *
 * Floor 8 (programs); includes cluster.h only.
 */
#include "mpi/cluster.h"

/* The largest power of two that is no larger than the number of ranks. */
static int replicate_whole(void)
{
    int whole = 1;

    while (whole <= job_ranks / 2)
        whole *= 2;
    return whole;
}

uint64_t replicate_bytes(uint64_t image)
{
    int whole = replicate_whole();
    uint64_t images = 2 * (uint64_t)(job_ranks - whole);

    for (int step = 1; step < whole; step *= 2)
        images += (uint64_t)whole;
    return images * image;
}

/* Unite with what came. */
static int replicate_unite(bly_filter *filter, const job_bytes *image)
{
    bly_filter *other;
    bly_status status = bly_wrap(&other, image->bytes, image->n,
                                 secret_options());

    if (status == BLY_OK) {
        status = bly_unite(filter, other);
        bly_free(other);
    }
    return status < 0 ? filter_error() : CLI_GO;
}

/* Have what came instead; the old one goes first, so that there are never more
 * than two. */
static int replicate_replace(bly_filter **filter, const job_bytes *image)
{
    bly_free(*filter);
    *filter = NULL;
    return bly_unpack(filter, image->bytes, image->n, secret_options()) < 0
         ? filter_error() : CLI_GO;
}

static void replicate_send(const bly_filter *filter, int rank, job_bytes *in)
{
    size_t bytes;
    const void *image = bly_image(filter, &bytes);

    exchange_pair(rank, image, bytes, in);
}

/* Those beyond the whole hypercube are folded into it. */
static int replicate_first(bly_filter *filter, int whole, job_bytes *in)
{
    if (job_rank >= whole) {
        replicate_send(filter, job_rank - whole, in);
        return CLI_GO;
    }
    if (job_rank >= job_ranks - whole)
        return CLI_GO;
    exchange_pair(job_rank + whole, NULL, 0, in);
    return replicate_unite(filter, in);
}

static int replicate_step(bly_filter *filter, int whole, int step,
                          job_bytes *in)
{
    if (job_rank >= whole)
        return CLI_GO;
    replicate_send(filter, job_rank ^ step, in);
    return replicate_unite(filter, in);
}

/* … and get the result. */
static int replicate_last(bly_filter **filter, int whole, job_bytes *in)
{
    if (job_rank >= whole) {
        exchange_pair(job_rank - whole, NULL, 0, in);
        return replicate_replace(filter, in);
    }
    if (job_rank < job_ranks - whole)
        replicate_send(*filter, job_rank + whole, in);
    return CLI_GO;
}

int replicate(bly_filter **filter)
{
    int whole = replicate_whole();
    job_bytes in = { NULL, 0, 0 };
    int status = job_agree(replicate_first(*filter, whole, &in));

    for (int step = 1; step < whole && status == CLI_GO; step *= 2)
        status = job_agree(replicate_step(*filter, whole, step, &in));
    if (status == CLI_GO)
        status = job_agree(replicate_last(filter, whole, &in));
    job_free(&in);
    return status;
}
