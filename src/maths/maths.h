/* maths.h - the formulas of Bloom filters, each a small pure function.
 *
 * Symbols as in the literature: a filter of m bits (or a lane of m
 * bits) holds n keys of k probes each; p is a rate. Whole numbers are passed
 * as double where they only enter formulas, so that n may be an expectation.
 * All functions are thread-safe and allocate nothing. Arguments outside the
 * stated domain give a nan or a nonsense value, never a crash.
 *
 *   [Bloom 1970]    Space/time trade-offs in hash coding with allowable
 *                   errors, CACM 13(7)
 *   [Bose 2008]     On the false-positive rate of Bloom filters, IPL 108(4)
 *   [Goel 2010]     Small subset queries and Bloom filters using ternary
 *                   associative memories, SIGMETRICS
 *   [Kim 2019]      Analysis of counting Bloom filters used for count
 *                   thresholding, Electronics 8(7):779
 *   [Loader 2000]   Fast and accurate computation of binomial probabilities
 *   [Putze 2009]    Cache-, hash- and space-efficient Bloom filters, JEA 14
 */
#ifndef BLY_MATHS_MATHS_H
#define BLY_MATHS_MATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Sizes: domain n >= 1, 0 < p < 1, k >= 1, m >= 1 ------------------- */

/* Returns the real k with the lowest rate, (m/n) ln 2; half the bits are then
 * set. */
double math_best_probes(double m, double n);

/* Returns the m at which k probes reach p by math_rate_exp: a lower bound. */
double math_bits_least(double n, double p, double k);

/* Returns the m >= 2 at which k probes reach p by (1 - e^(-k(n+1/2)/(m-1)))^k,
 * which is proved never to be below the true rate: an upper bound. [Goel 2010]
 */
double math_bits_enough(double n, double p, double k);

/* Returns the n that fill m bits up to rate p: -(m/k) ln(1 - p^(1/k)). */
double math_capacity(double m, double k, double p);

/* ---- The rate of m bits, n keys, k probes ------------------------------ */

/* Returns (1 - e^(-kn/m))^k: independent bits, m to infinity. [Bloom 1970] */
double math_rate_exp(double m, double n, double k);

/* Returns (1 - (1-1/m)^(kn))^k: independent bits, slightly too low. [Bloom
   1970] */
double math_rate_classic(double m, double n, double k);

enum { MATH_OCCUPANCY = 2048 };         /* bits: small filters, see below    */

/* Returns the true rate, E[(X/m)^k] over the number X of set bits. If m is at
 * most MATH_OCCUPANCY and 4 k^2, it is exact, by (1) and (2) below, to
 * rounding. Otherwise it comes from the mean and variance of X. Its relative
 * error falls as 1/m^2, and is below 10^-4 for k <= 20 if at least 45 % of the
 * bits are set, as in every filter sized by its rate. With fewer it is high by
 * up to 0.1 % (20 % set) or 1.4 % (1 %) for m about 2000; for k > 22 it may be
 * 0.3 % off at m just above MATH_OCCUPANCY. tests/maths/maths.c checks these
 * bounds. [Bose 2008] */
double math_rate(uint64_t m, double n, uint32_t k);

/* ---- Counters instead of bits: how many of t probes meet in one of m --- */

/* Returns P(Bin(t, 1/m) >= times) for whole t and times >= 0: the chance that
 * at least that many probes met in a given counter. The relative error is below
 * 10^-11 for t <= 10^15; the time grows as the square root of t. Probabilities
 * follow [Loader 2000], by deviances, which avoids cancellation. */
double math_tail(double m, double t, double times);

/* Return the chance that an absent key finds at least `times` in each of its k
 * counters after n distinct keys were added once each. The first is [Kim 2019],
 * math_tail^k, as if counters were independent. The second is exact, E[Y^k]
 * over the share Y of such counters, from its mean and variance as in math_rate
 * for large m; *sd, unless NULL, is the standard deviation of one filter's own
 * rate. times >= 1; with 1 they are math_rate_classic and math_rate. */
double math_rate_times_classic(double m, double n, double k, double times);
double math_rate_times(double m, double n, double k, double times, double *sd);

/* Returns the probes of a lookup of an absent key that stops at the first clear
 * bit, if a share `fill` is set: (1 - fill^k) / (1 - fill). */
double math_absent_probes(double fill, double k);

/* Returns H(p) = -p log2 p - (1-p) log2 (1-p), the size in the best code of a
 * bit that is set with chance p. 0 at p = 0 and p = 1. */
double math_entropy(double p);

/* Returns the chance that an absent key has the same 64-bit hash as one of n
 * members: a lower bound of any filter's rate. */
double math_collision(double n);

/* ---- Set bits after t independent probes into m bits ------------------- */

double math_set_mean(double m, double t);
double math_set_variance(double m, double t);

/* Returns the standard deviation of the number of probes that is estimated from
 * m bits of which x are set: the number t from which x are expected, for the
 * load t/m = -log(1 - x/m) [Whang 1990]. Above 0 for any load above 0; infinity
 * at an infinite load. */
double math_probes_sd(double m, double load);

/* ---- A number below R for a key ---------------------------------------- */

/* Returns the chance that an absent key has the number of one of n members: 1 -
   (1 - 1/R)^n. */
double math_numbers_rate(double range, double n);

/* Returns the number of keys from which `met` of R numbers are expected, and
 * the standard deviation of that [Whang 1990]: infinity if all are met. */
double math_numbers_keys(double met, double range, double *sd);

/* Finds the least R at which that is at most `rate`, n >= 1. Returns false if
 * it exceeds `most`, which is at most 2^63. */
bool math_numbers_for(uint64_t *range, uint64_t n, double rate, uint64_t most);

/* Returns the least 64-bit hash that range(hash, R) maps to f, f < R < 2^62. It
 * uses bisection, since floating point is off by up to a few thousand. */
uint64_t math_least_hash(uint64_t f, uint64_t range);

/* ---- Given bits --------------------------------------------------------
 *
 * The true rate once more, with k^2 sums of positive terms for each key and no
 * distribution: j different bits are touched with chance Q_j by the probes of
 * a foreign key, and all of them are set with chance R_j after t probes:
 *
 *      E[(X/m)^k] = sum_j Q_j R_j(t)                                      (1)
 *      R_j(t+1) = (1 - j/m) R_j(t) + j/m R_(j-1)(t),  R_0 = 1,  R_j(0) = 0 (2)
 *
 * since the last probe hits one of j given bits or none. */

enum { MATH_GIVEN = 64 };               /* maximum probes of the absent key  */

typedef struct { double of[MATH_GIVEN + 1]; } math_chances;

/* Returns Q_j for that many probes, at most MATH_GIVEN. */
math_chances math_touch(uint64_t m, uint32_t probes);

/* R_j for j up to `most` <= m, as t grows. */
typedef struct {
    math_chances set;
    double       share[MATH_GIVEN + 1]; /* j/m                               */
    uint32_t     most;
} math_given;

void math_given_start(math_given *g, uint64_t m, uint32_t most);
void math_given_probe(math_given *g, uint32_t probes);

/* Returns (1). */
double math_given_rate(const math_given *g, const math_chances *touch);

#endif /* BLY_MATHS_MATHS_H */
