/* strides.h - the false-positive rate of one row of bits whose positions are
 * not independent: k positions a + i b, where a and b come from one hash.
 *
 * Floor 1. [Kirsch 2006] shows that such a row errs no more than one of
 * independent positions as m grows. [Dillinger 2004] counts what is left for a
 * finite m, and it is most of the rate of a small filter:
 *
 *   OWN COLLISIONS. A key whose step b is a small fraction of m, or of the
 *   modulus at which the sum wraps, has j < k different positions. Such a step
 *   solves p b = s c (mod m), with p < k, |s| <= p, and c the residue that a
 *   wrap takes away. Each residue b has the chance 1/m, and j follows from the
 *   wraps, which are averaged over evenly spaced steps: D_j.
 *
 *   THE POSITIONS OF ANOTHER. A key of the same step as a member (or of the
 *   opposite one), d positions ahead, has k - d positions in common with it.
 *   Wraps in different places break the run: t_d is averaged over pairs.
 *
 *      F = sum_j D_j E[(X/m)^j] + (2 n / m^2) sum_d (f^(k - t_d) - f^k)   (1)
 *
 * with X the set bits and f their expected share. A format whose hash has 32
 * bits adds the chance that two keys have equal hashes, 1 - (1 - 2^-32)^n.
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
    STRIDES_NONE,                       /* independent positions             */
    STRIDES_PLAIN,                      /* a + i b                           */
    STRIDES_HALVED,                     /* (a + i b) / 2                     */
    STRIDES_FOLDED,                     /* turned where the top bit is set   */
    STRIDES_ROTATED,                    /* a is b rotated: 32 bits in all    */
    STRIDES_FOUR                        /* two starts and two steps, in turn */
} strides_form;

typedef struct {
    uint64_t     m;                     /* bits of the row                   */
    uint32_t     k;                     /* positions of a key                */
    uint32_t     width;                 /* bits at which the sum wraps       */
    strides_form form;
} strides;

/* The expected rate after n keys, n >= 1. *fill gets the expected share of set
 * bits. */
double strides_rate(const strides *s, double n, double *fill);

/* The rate of a row of which a share `fill` is set, by about n keys. */
double strides_rate_of(const strides *s, double n, double fill);

#endif /* BLY_MATHS_STRIDES_H */
