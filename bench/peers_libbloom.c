/* peers_libbloom.c - libbloom, the C library of Debian's libbloom-dev, compiled
 * if <bloom.h> is installed.
 */
#include "bench.h"
#include "peers.h"

#include <bloom.h>

#include <limits.h>
#include <stdlib.h>

enum { LIBBLOOM_KEY = 8, LIBBLOOM_LEAST = 1000 };

/* It counts keys and bits in an int. */
static bool libbloom_fits(uint64_t keys, double rate)
{
    double bits = (double)keys;
    for (double r = rate; r < 1; r *= 2)        /* 1.44 bits each halving */
        bits += 1.45 * (double)keys;
    return keys >= LIBBLOOM_LEAST && keys < INT_MAX && bits < (double)INT_MAX;
}

static void *libbloom_make(uint64_t keys, double rate)
{
    if (!libbloom_fits(keys, rate))
        return NULL;
    struct bloom *filter = bench_allocate(sizeof *filter);
    if (bloom_init(filter, (int)keys, rate) != 0)
        bench_stop("libbloom", "bloom_init failed");
    return filter;
}

static void libbloom_free(void *filter)
{
    bloom_free(filter);
    free(filter);
}

static uint64_t libbloom_bytes(const void *filter)
{
    return (uint64_t)((const struct bloom *)filter)->bytes;
}

static void libbloom_add(void *filter, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bloom_add(filter, &keys[i], LIBBLOOM_KEY);
}

static uint64_t libbloom_ask(void *filter, const uint64_t *keys, size_t n)
{
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += (uint64_t)bloom_check(filter, &keys[i], LIBBLOOM_KEY);
    return found;
}

static const char *libbloom_version(void)
{
    return bloom_version();
}

const bench_peer peers_libbloom = {
    .name = "libbloom", .version = libbloom_version,
    .make = libbloom_make, .free = libbloom_free, .bytes = libbloom_bytes,
    .add = libbloom_add, .ask = libbloom_ask,
};
