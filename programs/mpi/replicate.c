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
 * Filters may be sent as lists of their bits (sparse.c): after step i they have
 * 2^(i + 1) ranks' keys, and a share 1 - (1 - p)^(2^(i + 1) / P) of their
 * bits, if it is p in the end. At the best size of a Bloom filter p is a half,
 * and the lists of 16 ranks take 0.25, 0.42, 0.64 and 0.88 of the image, 2.2 of
 * 4; of more ranks 2.5 or so, as each step before has half the bits. With one
 * probe in a hundred bits for each key it is 0.09, and 0.1 [Sanders 2013].
 *
 *   [Kumar 1994]  Kumar, Grama, Gupta, Karypis: Introduction to parallel
 *                 computing (all-to-all broadcast on a hypercube)
 *   [Sanders 2013] as in sparse.c
 */
#include "mpi/cluster.h"

#include <math.h>

typedef struct {
    bool sparse;
    job_bytes out, in, image;           /* out and in are lists, if sparse  */
} replicate_way;

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

/* How many of `n` ranks of the hypercube, from rank `from` on, have one beyond
 * it folded in. */
static int replicate_folded(int whole, int from, int n)
{
    int beyond = job_ranks - whole - from;

    return beyond < 0 ? 0 : beyond < n ? beyond : n;
}

/* An image of the keys of so many ranks. */
static double replicate_list(double image, double p, int ranks)
{
    return image * sparse_share(-expm1(log1p(-p) * ranks / job_ranks));
}

uint64_t replicate_bytes_sparse(uint64_t image, double p)
{
    int whole = replicate_whole(), beyond = job_ranks - whole;
    double bytes = beyond * (replicate_list((double)image, p, 1)
                             + replicate_list((double)image, p, job_ranks));

    for (int step = 1; step < whole; step *= 2)
        for (int from = 0; from < whole; from += step)
            bytes += step * replicate_list((double)image, p,
                                           step + replicate_folded(whole, from,
                                                                   step));
    return (uint64_t)(bytes + 0.5);
}

/* The image that came. */
static const job_bytes *replicate_came(replicate_way *way)
{
    if (!way->sparse)
        return &way->in;
    sparse_unpack(&way->image, &way->in);
    job_free(&way->in);                 /* no more than is needed at once */
    return &way->image;
}

/* Unite with what came. */
static int replicate_unite(bly_filter *filter, replicate_way *way)
{
    const job_bytes *image = replicate_came(way);
    bly_filter *other;
    bly_status status = bly_wrap(&other, image->bytes, image->n,
                                 format_how());

    if (status == BLY_OK) {
        status = bly_unite(filter, other);
        bly_free(other);
    }
    return status < 0 ? filter_error() : CLI_GO;
}

/* Have what came instead; the old one goes first, so that there are never more
 * than two. */
static int replicate_replace(bly_filter **filter, replicate_way *way)
{
    const job_bytes *image;

    bly_free(*filter);
    *filter = NULL;
    image = replicate_came(way);
    return bly_unpack(filter, image->bytes, image->n, format_how()) < 0
         ? filter_error() : CLI_GO;
}

static void replicate_send(const bly_filter *filter, int rank,
                           replicate_way *way)
{
    size_t bytes;
    const void *image = bly_image(filter, &bytes);

    if (way->sparse) {
        sparse_pack(&way->out, image, bytes);
        exchange_pair(rank, way->out.bytes, way->out.n, &way->in);
        job_free(&way->out);
    } else {
        exchange_pair(rank, image, bytes, &way->in);
    }
}

/* Those beyond the whole hypercube are folded into it. */
static int replicate_first(bly_filter *filter, int whole, replicate_way *way)
{
    if (job_rank >= whole) {
        replicate_send(filter, job_rank - whole, way);
        return CLI_GO;
    }
    if (job_rank >= job_ranks - whole)
        return CLI_GO;
    exchange_pair(job_rank + whole, NULL, 0, &way->in);
    return replicate_unite(filter, way);
}

static int replicate_step(bly_filter *filter, int whole, int step,
                          replicate_way *way)
{
    if (job_rank >= whole)
        return CLI_GO;
    replicate_send(filter, job_rank ^ step, way);
    return replicate_unite(filter, way);
}

/* … and get the result. */
static int replicate_last(bly_filter **filter, int whole, replicate_way *way)
{
    if (job_rank >= whole) {
        exchange_pair(job_rank - whole, NULL, 0, &way->in);
        return replicate_replace(filter, way);
    }
    if (job_rank < job_ranks - whole)
        replicate_send(*filter, job_rank + whole, way);
    return CLI_GO;
}

int replicate(bly_filter **filter, bool sparse)
{
    int whole = replicate_whole();
    replicate_way way = { .sparse = sparse };
    int status = job_agree(replicate_first(*filter, whole, &way));

    for (int step = 1; step < whole && status == CLI_GO; step *= 2)
        status = job_agree(replicate_step(*filter, whole, step, &way));
    if (status == CLI_GO)
        status = job_agree(replicate_last(filter, whole, &way));
    job_free(&way.in);
    job_free(&way.image);
    return status;
}
