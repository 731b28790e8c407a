/* buckets.c - the rate of a filter of large buckets behind a cache.
 *
 * buckets.h has the formula.
 */
#include "maths/buckets.h"

#include <math.h>

#include "maths/maths.h"

/* A mean load whose spread no longer matters. */
static const double BUCKETS_LOAD_MOST = 1048576;

uint64_t buckets_common(const buckets *b)
{
    uint64_t power = b->buckets & (~b->buckets + 1);
    return b->cache == 0 ? 1 : power < b->cache ? power : b->cache;
}

/* Returns the chance that the cache bit of an absent key is set, whose bucket
 * has `load` of n keys. */
static double buckets_pass(const buckets *b, double n, double load)
{
    if (b->cache == 0)
        return 1;
    double cache = (double)b->cache, all = (double)b->buckets;
    double share = (double)buckets_common(b) / cache;
    double other = all == 1 ? 0 : (1 / cache - share / all) / (1 - 1 / all);
    double clear = other > 0 ? (n - load) * log1p(-other) : 0;
    if (load > 0)
        clear += load * log1p(-share);  /* -infinity if the share is 1       */
    return -expm1(clear);
}

typedef struct { double weight, rate, square, cross; } buckets_sums;

/* Adds the rate of a bucket with so many keys, with its weight. The square of
 * that rate is the rate of twice as many probes in the same bits, which half as
 * many keys of twice as many probes set. */
static void buckets_add(buckets_sums *sums, const buckets *b, double n,
                        double load, double weight)
{
    double pass = buckets_pass(b, n, load);
    double rate = math_rate(b->bits, load, b->probes);
    double square = math_rate(b->bits, load / 2, 2 * b->probes);
    double more = (1 - rate) * fmin(load * b->twin, 1);
    square += (2 * rate + more) * more;
    rate += more;
    sums->weight += weight;
    sums->rate += weight * rate * pass;
    sums->square += weight * square * pass * pass;
    sums->cross += weight * rate * pass * load;
}

/* Sums over the binomial loads of a bucket, from the mode outwards, until the
 * weights are too small for any rate to matter. buckets >= 2. */
static buckets_sums buckets_mix(const buckets *b, double n)
{
    const double least = 1e-17;
    double odds = 1 / ((double)b->buckets - 1);
    double mode = floor(n / (double)b->buckets), w = 1;
    buckets_sums sums = { 0 };
    for (double i = mode; i <= n && w > least * fmin(sums.rate, 1); i++) {
        buckets_add(&sums, b, n, i, w);
        w *= (n - i) / (i + 1) * odds;
    }
    w = 1;
    for (double i = mode; i > 0 && w > least * sums.rate; i--) {
        w *= i / ((n - i + 1) * odds);
        buckets_add(&sums, b, n, i - 1, w);
    }
    sums.rate /= sums.weight;
    sums.square /= sums.weight;
    sums.cross /= sums.weight;
    return sums;
}

/* Returns the variance of the share of cache bits that are set, relative to its
 * square. */
static double buckets_cache_spread(const buckets *b, double n)
{
    double mean = math_set_mean((double)b->cache, n);
    return b->cache == 0 || n == 0 ? 0
         : math_set_variance((double)b->cache, n) / (mean * mean);
}

double buckets_rate(const buckets *b, uint64_t n, double *sd)
{
    double keys = (double)n, all = (double)b->buckets, load = keys / all;
    buckets_sums sums = { 0 };
    bool mixed = b->buckets > 1 && load <= BUCKETS_LOAD_MOST;
    if (mixed)
        sums = buckets_mix(b, keys);
    else
        buckets_add(&sums, b, keys, load, 1);
    double cross = sums.cross - load * sums.rate;
    double variance = sums.square - sums.rate * sums.rate;
    if (mixed && load > 0)
        variance -= cross * cross / (load * (1 - 1 / all));
    *sd = sqrt(fmax(variance, 0) / all
               + sums.rate * sums.rate * buckets_cache_spread(b, keys));
    return fmin(sums.rate, 1);
}
