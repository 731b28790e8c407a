/* estimate.c - estimates the number of distinct keys, in 16 KiB.
 *
 * HyperLogLog [Flajolet 2007]: 14 bits of a key's hash choose one of m = 2^14
 * registers, and the other 50 begin with r - 1 zeros. A register keeps the
 * maximum r. Repeated keys change nothing. The registers of two threads or
 * processes are merged by taking maxima.
 *
 *     hash, mixed   | register, 14 bits | 0 0 0 1 x x x …    r = 4 |
 *
 * With C(r) the number of registers that hold r, the estimate of [Ertl 2017],
 * which is unbiased from 0 to 2^64 keys, is
 *
 *     m^2 / (2 ln 2 (m sigma(C(0) / m) + sum C(r) / 2^r + m tau(…) / 2^50))
 *
 * Its relative standard deviation is 1.04 / sqrt(m), 0.81 %, and less with
 * fewer keys than registers. The hash is the filter's own, so keys that are
 * equal to it are equal here. It is mixed, since some functions leave integers
 * unchanged.
 *
 * Papers: P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, HyperLogLog: the
 * analysis of a near-optimal cardinality estimation algorithm, AofA 2007. O.
 * Ertl, New cardinality estimation algorithms for HyperLogLog sketches,
 * arXiv:1702.01284, 2017.
 */
#include "filters/filters.h"

#include <assert.h>
#include <math.h>

enum { ESTIMATE_BITS = 14, ESTIMATE_REST = 64 - ESTIMATE_BITS };

static_assert(ESTIMATE_REGISTERS == 1 << ESTIMATE_BITS, "one for each number");

/* Standard deviations added to the estimate when planning: the true number
 * exceeds that once in millions of cases. */
static const double estimate_margin = 5;

static uint64_t estimate_mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

void estimate_add(cli_estimate *e, const uint64_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t h = estimate_mix(hashes[i]);
        unsigned char *most = &e->registers[h >> ESTIMATE_REST];
        uint64_t rest = h << ESTIMATE_BITS | UINT64_C(1) << (ESTIMATE_BITS - 1);
        unsigned char rank = (unsigned char)(__builtin_clzll(rest) + 1);

        if (rank > *most)
            *most = rank;
    }
}

void estimate_unite(cli_estimate *into, const cli_estimate *from)
{
    unsigned char *restrict to = into->registers;
    const unsigned char *restrict more = from->registers;

    for (size_t i = 0; i < ESTIMATE_REGISTERS; i++)
        to[i] = more[i] > to[i] ? more[i] : to[i];
}

/* x + sum over k of x^(2^k) 2^(k-1), infinite for 1. */
static double estimate_sigma(double x)
{
    double sum = x, factor = 1, before;

    if (x >= 1)
        return INFINITY;
    do {
        before = sum;
        x *= x;
        sum += x * factor;
        factor *= 2;
    } while (sum > before);
    return sum;
}

/* (1 - x - sum over k of (1 - x^(2^-k))^2 2^-k) / 3 */
static double estimate_tau(double x)
{
    double sum = 1 - x, factor = 1, before;

    if (x <= 0 || x >= 1)
        return 0;
    do {
        before = sum;
        x = sqrt(x);
        factor /= 2;
        sum -= (1 - x) * (1 - x) * factor;
    } while (sum < before);
    return sum / 3;
}

double estimate_keys(const cli_estimate *e)
{
    const double m = ESTIMATE_REGISTERS, two_ln_2 = 1.3862943611198906;
    uint64_t count[ESTIMATE_REST + 2] = { 0 };
    double sum;

    for (size_t i = 0; i < ESTIMATE_REGISTERS; i++)
        count[e->registers[i]]++;
    sum = m * estimate_tau(1 - (double)count[ESTIMATE_REST + 1] / m);
    for (size_t r = ESTIMATE_REST; r > 0; r--)
        sum = 0.5 * (sum + (double)count[r]);
    sum += m * estimate_sigma((double)count[0] / m);
    return m * m / (two_ln_2 * sum);
}

uint64_t estimate_capacity(const cli_estimate *e, uint64_t keys)
{
    double sd = 1.04 / sqrt(ESTIMATE_REGISTERS);
    double most = ceil(estimate_keys(e) * (1 + estimate_margin * sd));

    return most < (double)keys ? (uint64_t)most : keys;
}

/* Returns false for kinds that count or list keys, as they store something for
 * each add; that forget, as they age with adds; that are exact, as they must
 * not hold one key too many; or whose keys have many labels. */
bool estimate_serves(const char *kind)
{
    return filter_kind_can(kind, BLY_CAN_ADD)
        && !filter_kind_can(kind, BLY_CAN_REMOVE | BLY_CAN_COUNT
                            | BLY_CAN_FORGET | BLY_CAN_EXACT | BLY_CAN_LABEL
                            | BLY_CAN_WHOLE_KEYS);
}
