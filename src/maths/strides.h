/* strides.h - the false-positive rate of one row of bits whose positions are
 * not independent: k positions a + i b, where a and b come from one hash.
 *
 * [Kirsch 2006] shows that such a row errs no more often than one of
 * independent positions as m grows. [Dillinger 2004] counts what is left for a
 * finite m, and it is most of the rate of a small filter:
 *
 *   OWN COLLISIONS. A key whose step b is close to a simple fraction of m has
 *   j < k different positions; with b = 0 it has one. Where the sum wraps at
 *   2^width, m no divisor of it, the wraps take a residue c away, and such
 *   steps solve p b = s c (mod m), s <= p < k. Each residue b has the chance
 *   1/m, and j follows from where the sum wraps: D_j is averaged over that.
 *
 *   THE POSITIONS OF ANOTHER. A key with the step of a member (or the opposite
 *   one) that begins d positions ahead shares k - d positions with it. Wraps
 *   in different places break the run: t_d is averaged over pairs.
 *
 *      F = sum_j D_j E[(X/m)^j] + (2 n / m^2) sum_d (f^(k - t_d) - f^k)   (1)
 *
 * X is the number of set bits and f their expected share. A format whose hash
 * has 32 bits adds the chance that two keys have equal hashes.
 *
 * If steps grow, as those of the form CUBIC do, few steps lead two of a key's
 * positions to one place, and two keys share a run of positions only if a and b
 * are equal modulo m. The rate is that of independent positions, and n / m^2.
 *
 * Positions of the form EVEN are independent but for their lowest bits. The
 * hash of position i begins with s + i t, t odd, and each further step permutes
 * the numbers modulo any power of two, as XOR and multiplication by an odd
 * number do. Positions i and j then have equal residues modulo 2^b if and only
 * if i = j (mod 2^b). If 2^b divides m, each class modulo 2^b has its share of
 * the k positions, rounded down or up: half of those in a class modulo 2^(b-1),
 * and of an odd number, the last one lies in either half with the chance 1/2.
 * In long rows this makes no difference.
 *
 * (1) is of first order: counted rates are up to 15 % above it. It is useless
 * for 1 to 10 keys, since a key may then set all multiples of a divisor of m.
 * Rows of up to STRIDES_FEW bits are therefore built from drawn keys, some of
 * them, and every start of every step is looked up in each: the starts that a
 * step leads to members are the bits of the AND of k rotations of the row. The
 * draws are the same in each call. Their error is up to 25 % where the rate
 * comes from a few of all keys.
 *
 *   [Kirsch 2006]     Kirsch & Mitzenmacher, Less hashing, same performance,
 *                     ESA
 *   [Dillinger 2004]  Dillinger & Manolios, Bloom filters in probabilistic
 *                     verification, FMCAD
 */
#ifndef BLY_MATHS_STRIDES_H
#define BLY_MATHS_STRIDES_H

#include <stdint.h>

typedef enum {
    STRIDES_PLAIN,                      /* a + i b                           */
    STRIDES_HALVED,                     /* (a + i b) / 2                     */
    STRIDES_FOLDED,                     /* inverted where the top bit is set */
    STRIDES_NEGATED,                    /* negated where it is               */
    STRIDES_STRAIGHT,                   /* a + i b, which does not wrap      */
    STRIDES_ROTATED,                    /* b is a rotated: 32 bits in all    */
    STRIDES_FOUR,                       /* two starts and two steps, in turn */
    STRIDES_ALONE,                      /* a, the step b alone, a + 2 b, …   */
    STRIDES_POWERS,                     /* a g^i modulo 2^64                 */
    STRIDES_CUBIC,                      /* a + i b + (i^3 - i) / 6, which does
                                           not wrap                          */
    STRIDES_EVEN                        /* each class modulo a power of two has
                                           its share; else independent       */
} strides_form;

typedef struct {
    uint64_t     m;                     /* bits of the row                   */
    uint64_t     factor;                /* g of STRIDES_POWERS               */
    uint32_t     k;                     /* positions of a key                */
    uint32_t     width;                 /* bits at which the sum wraps       */
    strides_form form;
} strides;

enum { STRIDES_FEW = 1024 };

/* The expected rate, the standard deviation of one row's own rate, and the
 * expected share of set bits. */
typedef struct { double rate, sd, fill; } strides_rates;

/* Returns the values after n keys. Takes up to some milliseconds, but less for
 * arguments that the same thread used recently. */
strides_rates strides_rate(const strides *s, uint64_t n);

/* Returns the rate of a row with a share `fill` < 1 of set bits, from about n
 * keys: by (1); and, for a small row, from its bits. Position x is bit x ^
 * turn. */
double strides_rate_filled(const strides *s, double n, double fill);
double strides_rate_of(const strides *s, double n, double fill,
                       const uint8_t *row, uint64_t turn);

#endif /* BLY_MATHS_STRIDES_H */
