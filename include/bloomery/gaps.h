/* bloomery/gaps.h - packs lists of numbers for sending.
 *
 * A list of different numbers in rising order, all below `range`, takes about
 * log2(range / n) + 1.47 bits per number if they are random, because only the
 * gaps between them are coded (docs/format). Programs send sets of hashes to
 * each other in this form. All functions here are thread-safe.
 */
#ifndef BLOOMERY_GAPS_H
#define BLOOMERY_GAPS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the divisor that codes n random numbers shortest. A power of two is
 * faster to read and costs at most 0.07 bits more per number. */
BLY_API uint64_t bly_gaps_divisor(uint64_t n, uint64_t range);

/* Returns the room that a packed list of n numbers needs: its largest size in
 * bytes. SIZE_MAX: too large to address. divisor 0: that of
 * bly_gaps_divisor. */
BLY_API size_t bly_gaps_room(uint64_t n, uint64_t range, uint64_t divisor);

/* Packs a list of rising numbers. *bytes is the size of the result. range and
 * divisor are at most 2^63; divisor 0: that of bly_gaps_divisor. BLY_EPARAM:
 * numbers that do not rise or are not below the range, a range of 0, a divisor
 * above the range, or too little room. */
BLY_API bly_status bly_gaps_pack(void *into, size_t room, size_t *bytes,
                                 const uint64_t *numbers, size_t n,
                                 uint64_t range, uint64_t divisor);

/* A list that is being read. `left` is the number of numbers still to be read,
 * at most eight per byte; `inside` is private. Needs no closing, and a copy
 * continues from the same place. */
typedef struct {
    uint64_t left;
    uint64_t inside[11];
} bly_gaps;

/* Begins to read a packed list. bly_gaps_pack wrote it with the same range. The
 * bytes must stay unchanged until the end. BLY_EPARAM (range), BLY_ECORRUPT. */
BLY_API bly_status bly_gaps_open(bly_gaps *list, const void *packed,
                                 size_t bytes, uint64_t range);

/* Reads the next number of a packed list. False: the list has ended or is
 * damaged. Numbers rise and are below the range, whatever the bytes are. */
BLY_API bool bly_gaps_next(bly_gaps *list, uint64_t *number);

/* Verifies that a packed list was complete. Call it after the last number.
 * BLY_ECORRUPT: it was not. */
BLY_API bly_status bly_gaps_end(const bly_gaps *list);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_GAPS_H */
