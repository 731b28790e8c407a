/* chains.c - statistics of chains of rows of bits. */
#include "bodies/chains.h"

#include <math.h>

#include "bits/hash.h"

enum { CHAINS_DRAWS = 1 << 19 };        /* rows that are looked into         */

static const double CHAINS_DRAWN = 0.003;       /* above it a chain's rate is
                                                   from drawn hashes         */

/* Returns the share of random hashes that a chain has. A key with a bad step
 * has it in all rows, so the rates of small rows are not independent. */
static double chains_drawn(const void *image, const chains *chain)
{
    uint64_t draws = CHAINS_DRAWS / chain->rows, found = 0;
    for (uint64_t i = 0; i < draws; i++) {
        uint64_t h[2] = { hash_mix(2 * i * HASH_STEP),
                          hash_mix((2 * i + 1) * HASH_STEP) };
        chain->start(chain->walk, image);
        found += chains_have(chain->walk, chain->next, h, chain->place);
    }
    return (double)found / (double)draws;
}

void chains_stat(bly_info_t *out, const void *image, const chains *chain)
{
    probes_row row;
    double none = 1, set = 0, bits = 0, distinct = 0, variance = 0;
    chain->start(chain->walk, image);
    while (chain->next(chain->walk, &row)) {
        bly_info_t one = { .rate = 0 };
        probes_stat(&one, &row);
        none *= 1 - one.rate;
        set += one.fill * (double)row.m;
        bits += (double)row.m;
        distinct += one.distinct;
        variance += one.distinct_sd * one.distinct_sd;
        out->probes += one.probes;
    }
    out->rate = 1 - none;
    if (chain->rows > 1 && out->rate > CHAINS_DRAWN)
        out->rate = chains_drawn(image, chain);
    out->fill = set / bits;
    out->distinct = distinct;
    out->distinct_sd = sqrt(variance);
}
