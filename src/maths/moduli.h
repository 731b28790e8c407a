/* moduli.h - pairwise coprime numbers whose product exceeds a power.
 *
 * A set of at most n integers 0 .. last can be distinguished from every other
 * integer in that range by its residues modulo pairwise coprime numbers whose
 * product exceeds last^n (src/kinds/exact/egh/egh.c has the proof). There are
 * two ways to choose them:
 *
 *     primes   the first k primes, with the least k
 *     powers   powers of distinct primes, with a small sum
 *
 * The sum is what a filter pays for, and log2 of the product what it gains. One
 * more factor p raises its power from p^(e-1) to p^e, which costs p^e - p^(e-1)
 * (p if e is 1) and gains log2 p. Taking such steps in order of cost per gain
 * until there is enough is optimal for the product reached. The excess is then
 * reduced by trying all subsets of MODULI_CORE steps around the last one (two
 * halves, each sorted by gain [Horowitz & Sahni 1974]), and again for every
 * second and third step. The result is the least sum, or one or two per cent
 * above it.
 *
 * THE PRODUCT is never computed. Logarithms are multiples of 2^-44, rounded
 * down for the moduli and up for `last`, so the result is certainly sufficient,
 * and the same on all machines. Rounding loses less than 2^-30 of the product,
 * which may cost one modulus too many in rare cases.
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
    MODULI_MOST = 8192,                 /* the maximum number                */
    MODULI_BELOW = 84018,               /* the 8192nd prime is 84017         */
    MODULI_CORE = 20,
    MODULI_LOG = 44                     /* bits of a logarithm's fraction    */
};

/* The set of moduli. At most one is even, a power of two. */
typedef struct {
    uint64_t sum;
    uint32_t n, even;                   /* even: 0 if none is                */
    uint8_t  none[MODULI_BELOW / 16 + 1];       /* bit i/2: odd i is not a
                                                   modulus                   */
} moduli;

/* Returns log2 v in multiples of 2^-44, v >= 1, rounded down; adding two rounds
 * up. */
uint64_t moduli_log2(uint64_t v);

/* Chooses moduli for n integers 0 .. last, last >= 1. Returns false if
 * MODULI_MOST are not enough. */
bool moduli_choose(moduli *out, uint64_t last, uint64_t n, bool powers);

/* Returns the largest modulus below `limit` <= MODULI_BELOW, or 0. */
uint32_t moduli_before(const moduli *m, uint32_t limit);

#endif /* BLY_MATHS_MODULI_H */
