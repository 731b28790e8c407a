/* clubcard_solve.h - the equations of a clubcard's blocks and their solutions,
 * for the builder (src/formats/clubcards.c).
 */
#ifndef BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_SOLVE_H
#define BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_SOLVE_H

#include "kinds/foreign/clubcard/clubcard.h"

/* A key while a clubcard is built. Bit 0 of a[0], which is always 1 in an
 * equation, is 1 here if the key is one of the others. */
typedef struct {
    uint64_t a[CLUBCARD_LIMBS];
    uint64_t key;                       /* to sort by: the block, or the start
                                           of the window                     */
} clubcard_item;

/* Sorts by key, and items of one key by their digests: the same digest of a
 * member and of one of the others are neighbours, in this order. */
void clubcard_sort(clubcard_item *items, size_t n);

/* Compares as they are sorted, without the bit of the others: negative, 0 or
 * positive. */
int clubcard_compare(const clubcard_item *x, const clubcard_item *y);

/* The equations of a block, by elimination: row i has its first coefficient at
 * bit i, or is empty. */
typedef struct {
    uint64_t (*rows)[CLUBCARD_LIMBS];
    uint8_t  *sums;                     /* what each row adds up to          */
    uint64_t  n;                        /* rows in use                       */
} clubcard_band;

/* Returns the rows that a block of m may use. */
static inline uint64_t clubcard_most_rows(uint64_t m)
{
    return m + CLUBCARD_BAND;
}

/* Begins a block of m rows, in memory for clubcard_most_rows(m). */
void clubcard_band_begin(clubcard_band *band, uint64_t m);

/* Adds an equation whose window begins at bit `start`. False: it contradicts
 * those before. */
bool clubcard_band_add(clubcard_band *band, uint64_t start, const uint64_t *a,
                       unsigned sum);

/* A column that is filled from its end to its beginning. */
typedef struct {
    uint64_t *words;
    uint64_t  at, end;                  /* bits that are filled              */
    uint64_t  window[CLUBCARD_LIMBS];   /* the first 256 of these            */
    uint64_t  noise;                    /* state of the generator of bits    */
} clubcard_solution;

/* Puts a bit in front of a column. */
void clubcard_solution_put(clubcard_solution *column, unsigned bit);

/* Returns a bit of noise. */
unsigned clubcard_solution_noise(clubcard_solution *column);

/* Solves a block in one column, in front of what is there. */
void clubcard_solution_add(clubcard_solution *column,
                           const clubcard_band *band);

#endif /* BLY_KINDS_FOREIGN_CLUBCARD_CLUBCARD_SOLVE_H */
