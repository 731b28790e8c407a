/* rows.h - plans and statistics of kinds of plain bits and similar kinds: the
 * maths of maths/shape.h in the structs of bloomery.h.
 */
#ifndef BLY_BODIES_ROWS_H
#define BLY_BODIES_ROWS_H

#include "bloomery.h"

#include "maths/shape.h"
#include "maths/strides.h"

/* Returns the bytes of a row of so many bits. */
static inline uint64_t rows_bytes_of(uint64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Fills in capacity, rate, rate_sd, fill and probes of a plan for n keys. */
void rows_plan(bly_plan_t *plan, const shape *s, uint64_t n);

/* Plans, with the lines of a lookup as well, k probes anywhere in one row of m
 * cells, which take so many bytes. */
void rows_plan_row(bly_plan_t *plan, uint64_t m, uint32_t k, uint64_t n,
                   uint64_t bytes);

/* Plans positions that come from one hash. */
void rows_plan_strides(bly_plan_t *plan, const strides *s, uint64_t n,
                       uint64_t bytes);

/* Fills in fill, rate, distinct, distinct_sd and probes of a filter from its
 * bits. */
void rows_stat(bly_info_t *out, const shape *s, const uint8_t *payload);

/* Fills in the same fields from the number of set bits, and the rate. */
void rows_stat_of(bly_info_t *out, const shape *s, uint64_t set, double rate);

/* Estimates the keys that two filters of this shape hold together. */
void rows_overlap(bly_overlap_t *out, const shape *s, const uint8_t *a,
                  const uint8_t *b);

/* Estimates it from the numbers of set bits: of a, of b, and of a OR b. */
void rows_overlap_of(bly_overlap_t *out, const shape *s, uint64_t a,
                     uint64_t b, uint64_t either);

/* Fills in what maths/shape.h computes for a pair. */
void rows_tell(bly_overlap_t *out, const shape_pair *pair);

#endif /* BLY_BODIES_ROWS_H */
