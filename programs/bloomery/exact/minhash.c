/* minhash.c - finds sets that have much in common, without comparing all pairs.
 *
 * A set is reduced to a signature of bands x rows numbers. Two sets agree in
 * each number with the probability of their similarity s = |A and B| / |A or B|
 * [Broder 1997]. The numbers are divided into bands, and each band is hashed.
 * Sets are candidates if a band is equal, which happens with the probability
 *
 *     1 - (1 - s^rows)^bands                                            (1)
 *
 * SHAPE. For a similarity s that is to be found with probability p, each number
 * of rows has a least number of bands: log(1 - p) / log(1 - s^rows). More rows
 * make (1) steeper, so that fewer sets of less similarity are candidates, but
 * take more numbers. The largest number of rows is chosen for which all bands
 * have at most `most` numbers.
 *
 * SIGNATURE. To hash each element once for each number would take most of the
 * time. Here the elements are thrown into bins, one for each number, again and
 * again until no bin is empty [Dahlgaard, Knudsen & Thorup 2017]:
 *
 *     round 0, 1, …         each element into a bin, chosen by a new hash
 *     round bins + i        all elements into bin i
 *
 * A bin keeps the least hash of the first round that reached it. A set of n
 * elements takes about bins log(bins) / n rounds. The signature depends on the
 * set alone, and (1) holds nearly: numbers that are made without replacement
 * vary less than independent ones. tests/bloomery/dedup-similar.sh compares
 * what is found with (1), for sets of a few elements to hundreds.
 *
 * Elements are hashes that depend on a secret, so nobody can choose elements
 * that are the least.
 *
 *  [Broder 1997]  On the resemblance and containment of documents, SEQUENCES.
 *  [Dahlgaard, Knudsen & Thorup 2017]  Fast similarity sketching, FOCS.
 */
#include "bloomery/exact/dedup.h"

#include <math.h>

/* ==== The shape ========================================================= */

double minhash_found(const minhash_shape *shape, double similarity)
{
    return 1 - pow(1 - pow(similarity, (double)shape->rows),
                   (double)shape->bands);
}

/* Returns the least number of bands, which need not be a size. */
static double minhash_bands_for(double similarity, double found, size_t rows)
{
    double band = pow(similarity, (double)rows);

    return band < 1 ? ceil(log1p(-found) / log1p(-band)) : 1;
}

bool minhash_choose(minhash_shape *shape, double similarity, double found,
                    size_t most)
{
    for (size_t rows = most; rows > 0; rows--) {
        double bands = minhash_bands_for(similarity, found, rows);

        if (bands <= (double)(most / rows)) {
            *shape = (minhash_shape){ .bands = (size_t)bands, .rows = rows };
            return true;
        }
    }
    return false;
}

double minhash_similarity(const minhash_shape *shape, double found)
{
    return pow(1 - pow(1 - found, 1 / (double)shape->bands),
               1 / (double)shape->rows);
}

/* ==== Signatures ======================================================== */

static uint64_t minhash_mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* Throws the elements into the bins. Returns how many bins are still empty. */
static size_t minhash_round(const uint64_t *elements, size_t n, uint64_t round,
                            uint64_t *bins, size_t n_bins, size_t empty)
{
    const uint64_t by = round * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < n; i++) {
        uint64_t hash = round == 0 ? elements[i]
                                   : minhash_mix(elements[i] + by);
        size_t bin = round < n_bins ? (size_t)((hash & UINT32_MAX) * n_bins
                                               >> 32)
                                    : (size_t)(round - n_bins);
        uint64_t value = round << 32 | hash >> 32;

        empty -= bins[bin] == UINT64_MAX;
        bins[bin] = value < bins[bin] ? value : bins[bin];
    }
    return empty;
}

static void minhash_sign(const uint64_t *elements, size_t n, uint64_t *bins,
                         size_t n_bins)
{
    size_t empty = n_bins;

    for (size_t i = 0; i < n_bins; i++)
        bins[i] = UINT64_MAX;
    for (uint64_t round = 0; empty > 0; round++)
        empty = minhash_round(elements, n, round, bins, n_bins, empty);
}

void minhash_bands(const minhash_shape *shape, const uint64_t *elements,
                   size_t n, uint64_t *bands)
{
    uint64_t bins[MINHASH_MOST], *at = bins;

    minhash_sign(elements, n, bins, shape->bands * shape->rows);
    for (size_t i = 0; i < shape->bands; i++) {
        bands[i] = i;
        for (size_t j = 0; j < shape->rows; j++)
            bands[i] = minhash_mix(bands[i] ^ *at++);
    }
}
