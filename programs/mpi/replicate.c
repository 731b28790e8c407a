/* replicate.c - unites the filters of all ranks, on all ranks.
 *
 *     rank         0       1       2       3       4
 *     first        0+4     1       2       3       4     the fifth is folded in
 *     step 1       0+1+4   0+1+4   2+3     2+3
 *     step 2       all     all     all     all
 *     last         all     all     all     all     all   … and gets the result
 *
 * The exchange on a hypercube [Kumar 1994]: in step i, ranks whose numbers
 * differ in bit i exchange and unite their filters. After log2 of the number of
 * ranks all have the union. No key is ever in both halves of a union, so
 * counters add up correctly. If the number is not a power of two, the excess
 * ranks first send their filters to a partner, and finally receive the result
 * from it.
 *
 * Filters may be sent as lists of their bits (sparse.c). After step i they hold
 * the keys of 2^(i + 1) of P ranks, and 1 - (1 - p)^(2^(i + 1) / P) of their
 * bits are set if it is p in the end. At the best size of a Bloom filter p is
 * 1/2, and the lists of 16 ranks take 0.25, 0.42, 0.64 and 0.88 of the image,
 * 2.2 instead of 4; with more ranks about 2.5, as each earlier step has half
 * the bits. With one probe in a hundred bits per key it is 0.09 and 0.1
 * [Sanders 2013].
 *
 *   [Kumar 1994]  Kumar, Grama, Gupta, Karypis: Introduction to parallel
 *                 computing (all-to-all broadcast on a hypercube)
 *   [Sanders 2013] as in sparse.c
 */
#include "mpi/cluster.h"

#include <math.h>

typedef struct {
    bool sparse;
    job_bytes out, in, image;           /* lists, if sparse                 */
} replicate_way;

/* Returns the largest power of two up to the number of ranks. */
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

/* Returns how many of `n` ranks of the hypercube, from rank `from` on, have an
 * excess rank folded in. */
static int replicate_folded(int whole, int from, int n)
{
    int beyond = job_ranks - whole - from;

    return beyond < 0 ? 0 : beyond < n ? beyond : n;
}

/* Returns the size of an image with the keys of that many ranks. */
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

/* Returns the image received. */
static const job_bytes *replicate_came(replicate_way *way)
{
    if (!way->sparse)
        return &way->in;
    sparse_unpack(&way->image, &way->in);
    exchange_free(&way->in);                 /* frees memory before it is needed
                                           again */
    return &way->image;
}

/* Unites the filter with the one received. */
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

/* Replaces the filter by the one received. The old one is freed first, so that
 * there are never more than two. */
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
        exchange_free(&way->out);
    } else {
        exchange_pair(rank, image, bytes, &way->in);
    }
}

/* Folds the excess ranks into the hypercube. */
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

/* Sends them the result. */
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
    exchange_free(&way.in);
    exchange_free(&way.image);
    return status;
}
