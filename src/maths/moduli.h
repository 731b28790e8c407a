/* moduli.h - pairwise coprime numbers whose product is beyond a power.
 *
 * A set of at most n integers 0 .. last is told apart from every
 * other integer there by its residues modulo numbers that have no factor in
 * common and whose product is above last^n (src/kinds/exact/egh/egh.c has the
 * proof). There are two ways to choose them:
 *
 *   primes   the first k primes, k as small as it can be
 *   powers   powers of different primes with a small sum
 *
 * The sum is what a filter pays for, log2 of the product what it gets. One
 * more factor p takes the power of p from p^(e-1) to p^e: it costs
 * p^e - p^(e-1) (p, where e is 1) and gains log2 p. To take such steps from
 * the cheapest a gain upwards until there is enough is the best there is for
 * the product it comes to; what it comes to too much is then saved by trying
 * all ways to choose MODULI_CORE steps about the last one anew (two halves,
 * each sorted by gain [Horowitz & Sahni 1974]), and the same for every second
 * and third one. That is the least sum there is, or one or two per cent above.
 *
 * THE PRODUCT is never worked out. Logarithms are whole numbers of 2^-44,
 * rounded down for the moduli and up for `last`, so a sum that is enough is
 * enough for certain, and all machines choose the same. What is lost by the
 * rounding, below 2^-30 of the product, may cost one modulus too many where a
 * product is that close.
 *
 *   [Horowitz & Sahni 1974]  Computing partitions with applications to the
 *                 knapsack problem, JACM 21(2)
 */
#ifndef BLY_MATHS_MODULI_H
#define BLY_MATHS_MODULI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODULI_MOST = 8192,                 /* as many as there may be           */
    MODULI_BELOW = 84018,               /* the 8192nd prime is 84017         */
    MODULI_CORE = 20,
    MODULI_LOG = 44                     /* bits of a logarithm's fraction    */
};

/* Which numbers are moduli. At most one is even, a power of two. */
typedef struct {
    uint64_t sum;
    uint32_t n, even;                   /* even: 0 if there is none          */
    uint8_t  none[MODULI_BELOW / 16 + 1];       /* bit i/2: odd i is not one */
} moduli;

/* The most multiples of 2^-44 that are not above log2 v, v >= 1. Two more are
 * above it. */
uint64_t moduli_log2(uint64_t v);

/* Moduli for n integers 0 .. last, last >= 1; false if MODULI_MOST are not
 * enough. */
bool moduli_choose(moduli *out, uint64_t last, uint64_t n, bool powers);

/* The largest modulus below `limit`, which is at most MODULI_BELOW, or 0. */
uint32_t moduli_before(const moduli *m, uint32_t limit);

#endif /* BLY_MATHS_MODULI_H */
