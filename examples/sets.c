/* sets.c - estimates how similar two large sets are from two filters, filled in
 * batches of hashes, with error bars.
 *
 *      cc sets.c $(pkg-config --cflags --libs bloomery) -lm && ./a.out
 */
#include <bloomery.h>

#include <math.h>
#include <stdio.h>

enum { BATCH = 1000 };

/* Adds the numbers from .. to-1 as keys of eight bytes. */
static bly_status add_numbers(bly_filter *f, uint64_t from, uint64_t to)
{
    uint64_t hashes[BATCH];
    while (from < to) {
        size_t n = 0;
        for (; n < BATCH && from < to; n++, from++)
            hashes[n] = bly_hash(f, &from, sizeof from);
        bly_status status = bly_add_hashes(f, hashes, n, NULL, NULL);
        if (status < 0)
            return status;
    }
    return BLY_OK;
}

int main(void)
{
    bly_spec want = { .capacity = 200000, .rate = 0.01 };
    bly_filter *a, *b;
    bly_overlap_t o;

    if (bly_new(&a, "blocked", &want) < 0 || bly_new(&b, "blocked", &want) < 0
        || add_numbers(a, 0, 150000) < 0 || add_numbers(b, 100000, 200000) < 0
        || bly_overlap(&o, a, b) < 0) {
        fprintf(stderr, "sets: %s\n", bly_why());
        return 1;
    }
    printf("in both: %.0f +- %.0f (truly 50000), Jaccard %.4f +- %.4f\n",
           o.both.value, o.both.sd, o.jaccard.value, o.jaccard.sd);
    bly_free(a);
    bly_free(b);
    return fabs(o.both.value - 50000) > 6 * o.both.sd;
}
