/* shape.h - filters made of plain bits, whatever their shape: their rate,
 * their size, and what their bits tell about the keys in them.
 *
 * The four kinds of family `sets` are one construction:
 *
 *      a filter is `blocks` blocks, of which a key chooses one;
 *      a block is `lanes` lanes, all of which the key uses;
 *      a lane is `bits` bits, of which the key sets `probes`, independently.
 *
 *                      blocks      lanes   bits    probes
 *      standard        1           1       m       k
 *      partitioned     1           k       m/k     1
 *      blocked         lines       1       512     k
 *      split           blocks      8       32      1
 *
 * so the mathematics is written once, for the shape. Lanes follow one another
 * in the payload, each in ceil(bits/8) bytes.
 *
 * THE RATE. A block has i of the n keys with binomial chance w_i (for one
 * block, i = n); its lanes are independent given i, and in a lane of m bits
 * all k probes of a foreign key hit with chance f_i = E[(X/m)^k]:
 *
 *      F = sum w_i f_i^lanes                       [Putze 2009, made exact] (1)
 *
 * One filter differs from another by its own loads and bits. With
 * s_i = E[(X/m)^2k]^lanes, the variance of a filter's own rate is
 *
 *      (sum w_i s_i - F^2 - (sum w_i i f_i^lanes - L F)^2 / V) / blocks     (2)
 *
 * L = n/blocks and V = L (1 - 1/blocks), mean and variance of a load; the last
 * term is what a fixed n takes away from the spread of independent loads, to
 * first order (for 2 blocks and a low rate the result is 20 % low, for 10 a
 * few per cent). f_i and s_i are worked out by maths/maths.h, "given bits".
 *
 * KEYS FROM BITS. A given bit is clear with chance (1 - (1-q)/blocks)^n,
 * q = (1-1/bits)^probes, so X set bits of M in all say
 *
 *      n = ln(1 - X/M) / ln(1 - (1-q)/blocks)                              (3)
 *
 * which for one block is the estimate of [Swamidass & Baldi 2007]. Its
 * variance, and the covariance of the estimates from filters A and B with keys
 * in common (needed for the error of an intersection), follow from the
 * covariance of their clear bits; see shape_covariance(). With U the keys in
 * either, I = A + B - U are in both and D = 2U - A - B in just one; by the
 * delta method, with d = D/U, the Jaccard index I/U = 1 - d has the variance
 *
 *      (var D - 2 d cov(D, U) + d^2 var U) / U^2                           (4)
 *
 * where cov(D, U) = (var U + var D - var I) / 2. I may come out below 0 and is
 * left there, or the mean of many would be too high; D cannot. (The mean of
 * the estimates (3) is too high by half their variance times the ln under the
 * line: a fiftieth of a key for a standard filter at 1 %, as full as planned.)
 *
 *   [Putze 2009]  Cache-, hash- and space-efficient Bloom filters, JEA 14
 *   [Swamidass & Baldi 2007]  Mathematical correction for fingerprint
 *                 similarity measures to improve chemical retrieval, J. Chem.
 *                 Inf. Model. 47
 */
#ifndef BLY_MATHS_SHAPE_H
#define BLY_MATHS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t blocks, lanes, bits;
    uint32_t probes;
} shape;

/* Keys in a block beyond which its rate is not tabled: for 512 bits and one
 * probe it is 0.98 there. */
enum { SHAPE_LOAD_MAX = 2047 };

/* Returns the bits of the whole filter. */
static inline double shape_bits(const shape *s)
{
    return (double)s->blocks * (double)s->lanes * (double)s->bits;
}

/* Returns the expected share of bits set by n keys. */
double shape_fill(const shape *s, double n);

/* Returns the predicted rate after n keys, (1), and in *sd, unless NULL, the
 * standard deviation of one filter's own rate, (2). probes <= MATH_GIVEN / 2
 * unless blocks is 1. */
double shape_rate(const shape *s, uint64_t n, double *sd);

/* Finds the least number of blocks whose rate for n keys is at most p. Returns
 * false if it exceeds 2^58. Ignores s->blocks. Probes as above. */
bool shape_enough(uint64_t *blocks, const shape *s, uint64_t n, double p);

/* Returns the maximum keys, but at least 1, whose predicted rate is at most p.
 */
uint64_t shape_capacity(const shape *s, double p);

/* For one row of bits, one block with one lane, as in `standard` and
 * `counting`: the k in 1 .. most_k with the fewest bits per key for rate p; the
 * k with the lowest rate for m bits and n keys; and the least m whose true rate
 * is at most p (false if it exceeds most_m). */
uint32_t shape_row_probes    (double p, uint32_t most_k);
uint32_t shape_row_probes_for(uint64_t m, double n, uint32_t most_k);
bool     shape_row_bits      (uint64_t *m, double n, double p, uint32_t k,
                              uint64_t most_m);

/* A number and its standard deviation. */
typedef struct { double value, sd; } shape_estimate;

/* Estimates the keys from the number of set bits, (3), with the estimate's
 * deviation. Both are infinite if every bit is set. */
shape_estimate shape_keys(const shape *s, double set);

/* Estimates for two filters: keys of a, of b, of their union, of both, of just
 * one, and the Jaccard index. */
typedef struct {
    shape_estimate a, b, either, both, differ, jaccard;
} shape_pair;

/* Estimates them from the numbers of set bits of a, of b, and of a OR b. */
shape_pair shape_pair_of(const shape *s, uint64_t a, uint64_t b,
                         uint64_t either);

/* Derives the rest, and all deviations, from the estimates for a, b and either,
 * for filters whose blocks differ in size. The function returns the covariance
 * of estimates from two filters with `both` common keys and further ones in one
 * only. */
typedef double shape_covary(const void *filter, double both, double a_only,
                            double b_only);

void shape_pair_combine(shape_pair *out, shape_covary *covariance,
                        const void *filter);

/* Computes the Jaccard index from either, both and differ and their deviations;
 * all are infinite if `either` is. */
void shape_pair_end(shape_pair *out);

#endif /* BLY_MATHS_SHAPE_H */
