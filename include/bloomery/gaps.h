/* bloomery/gaps.h - lists of numbers, for sending.
 *
 * Different numbers in rising order, all below a range, in about
 * log2(range / n) + 1.47 bits each if they are random: their gaps, coded (see
 * docs/format.md). What programs tell each other of sets of hashes.
 */
#ifndef BLOOMERY_GAPS_H
#define BLOOMERY_GAPS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The divisor with which the code is shortest for n random numbers; one that
 * is a power of two is quicker to read and takes up to 0.07 bits more.
 * Thread-safe, as all of these. */
BLY_API uint64_t bly_gaps_divisor(uint64_t n, uint64_t range);

/* How many bytes a list of n numbers can take at most; SIZE_MAX: more than can
 * be. divisor 0: that of bly_gaps_divisor. */
BLY_API size_t bly_gaps_room(uint64_t n, uint64_t range, uint64_t divisor);

/* The list as bytes; *bytes is how many. range and divisor at most 2^63;
 * divisor 0 as above. BLY_EPARAM: numbers that do not rise or are not below
 * the range; a range of 0; a divisor above the range; too little room. */
BLY_API bly_status bly_gaps_pack(void *into, size_t room, size_t *bytes,
                                 const uint64_t *numbers, size_t n,
                                 uint64_t range, uint64_t divisor);

/* A list that is being read. `left` says how many numbers are still to come,
 * which is at most eight for each byte; the rest is the library's. Needs no
 * closing, and a copy of it goes on from the same place. */
typedef struct {
    uint64_t left;
    uint64_t inside[11];
} bly_gaps;

/* Read what bly_gaps_pack wrote, with the same range. The bytes must stay
 * until the end. BLY_EPARAM (range), BLY_ECORRUPT. */
BLY_API bly_status bly_gaps_open(bly_gaps *list, const void *packed,
                                 size_t bytes, uint64_t range);

/* The next number; false: there are no more, or the list is damaged. Whatever
 * the bytes hold, numbers rise and are below the range. */
BLY_API bool bly_gaps_next(bly_gaps *list, uint64_t *number);

/* After the last number: was the list whole? BLY_ECORRUPT. */
BLY_API bly_status bly_gaps_end(const bly_gaps *list);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_GAPS_H */
