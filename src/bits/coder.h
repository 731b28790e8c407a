/* coder.h - a row of bits in hardly more than its entropy.
 *
 * For bits that are independent and of which a share p is set, as in
 * a Bloom filter, no code can do with less than
 *
 *      H(p) = -p log2 p - (1-p) log2 (1-p)                               (1)
 *
 * bits for one, on average. An arithmetic coder comes as near to that as its
 * numbers are fine [Martin 1979; Witten 1987]; but one step for each bit would
 * be slow where most bits are clear. So the row is cut into groups of 2^t bits
 * and coded as answers to yes-or-no questions:
 *
 *      is the group empty?                     chance q(t)
 *      of a group that is not: is its first half empty?
 *                                              chance q(j) / (1 + q(j))  (2)
 *      if that is not: is the second half?     chance q(j)
 *      … and so on in each half that is not empty, down to one bit.
 *
 * Here 2^j is the size of a half and q(j) = (1-p)^(2^j) the chance that 2^j
 * bits are clear. (2) is q(j) (1 - q(j)) / (1 - q(j)^2): first half empty and
 * second not, of all ways not to be both empty. By the chain rule the chances
 * of the answers multiply to that of the bits, so nothing is lost; and t is
 * chosen so that a group is empty about half of the time, which makes about
 * t + 3 questions for each set bit, instead of 1/p. Where more than half the
 * bits are set, it is the clear ones that are coded so.
 *
 * THE NUMBERS. Chances are whole multiples of 2^-32. The coder keeps 64 bits
 * of its range, never less than 2^56 of it: the finest chance is at least 2^24
 * parts. Measured (tests/bits/coder.c): up to 12 bits above (1) for a row of
 * 2 000 001 bits, whatever its density.
 *
 * The last group is filled up with clear bits (of the kind that is coded).
 * Bytes beyond the last that was written count as 0, and zeros at the end are
 * not written. "Empty" is the lower part of each range: once the bytes are
 * over, all that follows is empty.
 *
 *   [Martin 1979]  Range encoding: an algorithm for removing redundancy from
 *                  a digitised message, Video & Data Recording Conference
 *   [Witten 1987]  Arithmetic coding for data compression, CACM 30(6)
 */
#ifndef BLY_BITS_CODER_H
#define BLY_BITS_CODER_H

#include <stddef.h>
#include <stdint.h>

/* Returns the share of set bits as a multiple of 2^-32, from 1 to 2^32 - 1. set
 * <= bits <= 2^60, bits >= 1. */
uint32_t coder_chance(uint64_t set, uint64_t bits);

/* Encodes the row for this chance (not 0) into at most `room` bytes. Returns
 * their number, or SIZE_MAX if they do not fit, counting trailing zeros, which
 * are then dropped; `out` is then unusable. */
size_t coder_pack(uint8_t *out, size_t room, const uint8_t *row, uint64_t bits,
                  uint32_t chance);

/* Decodes the row: writes all ceil(bits/8) bytes, with clear bits after the
 * last. Any input yields some row, in time that depends on `bits` and `bytes`
 * alone. */
void coder_unpack(uint8_t *row, uint64_t bits, const uint8_t *in, size_t bytes,
                  uint32_t chance);

#endif /* BLY_BITS_CODER_H */
