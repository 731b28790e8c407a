/* rows.c - plans and statistics of kinds of plain bits.
 */
#include "bodies/rows.h"

#include <math.h>

#include "base/task.h"
#include "maths/maths.h"
#include "bits/bits.h"

void rows_plan(bly_plan_t *plan, const shape *s, uint64_t n)
{
    plan->capacity = n;
    plan->rate = shape_rate(s, n, &plan->rate_sd);
    plan->fill = shape_fill(s, (double)n);
    plan->probes = s->probes * (uint32_t)s->lanes;
}

void rows_plan_row(bly_plan_t *plan, uint64_t m, uint32_t k, uint64_t n,
                   uint64_t bytes)
{
    shape s = { .blocks = 1, .lanes = 1, .bits = m, .probes = k };
    double lines = ceil((double)bytes / 64);
    rows_plan(plan, &s, n);
    plan->lines_present = fmin(k, lines);
    plan->lines_absent = fmin(math_absent_probes(plan->fill, k), lines);
}

void rows_plan_strides(bly_plan_t *plan, const strides *s, uint64_t n,
                       uint64_t bytes)
{
    rows_plan_row(plan, s->m, s->k, n, bytes);
    strides_rates rates = strides_rate(s, n);
    plan->rate = rates.rate;
    plan->rate_sd = rates.sd;
    plan->fill = rates.fill;
}

static size_t rows_lane_bytes(const shape *s)
{
    return (size_t)rows_bytes_of(s->bits);
}

static size_t rows_bytes(const shape *s)
{
    return (size_t)(s->blocks * s->lanes) * rows_lane_bytes(s);
}

enum { ROWS_POWERS = 512 };

/* Blocks between two steps of a task. */
enum { ROWS_TURN = 512 };

/* Walk all lanes; the mean over blocks of the product over lanes of
 * (set/bits)^probes is the filter's own rate. */
void rows_stat(bly_info_t *out, const shape *s, const uint8_t *payload)
{
    double power[ROWS_POWERS + 1], rate = 0;
    bool tabled = s->bits <= ROWS_POWERS;
    size_t lane_bytes = rows_lane_bytes(s);
    uint64_t set = 0;

    for (uint64_t x = 0; tabled && x <= s->bits; x++)
        power[x] = pow((double)x / (double)s->bits, s->probes);
    size_t own = lane_bytes < BITS_LONG ? lane_bytes * (size_t)s->lanes : 0;
    for (uint64_t block = 0; block < s->blocks; block++) {
        if (block % ROWS_TURN == 0 && task_step(ROWS_TURN * (uint64_t)own))
            break;
        double chance = 1;
        for (uint64_t lane = 0; lane < s->lanes; lane++) {
            uint64_t x = bits_count(payload, lane_bytes);
            payload += lane_bytes;
            set += x;
            chance *= tabled ? power[x]
                    : pow((double)x / (double)s->bits, s->probes);
        }
        rate += chance;
    }
    rows_stat_of(out, s, set, rate / (double)s->blocks);
}

void rows_stat_of(bly_info_t *out, const shape *s, uint64_t set, double rate)
{
    shape_estimate keys = shape_keys(s, (double)set);
    out->fill = (double)set / shape_bits(s);
    out->rate = rate;
    out->distinct = keys.value;
    out->distinct_sd = keys.sd;
    out->probes = s->probes * (uint32_t)s->lanes;
}

static bly_estimate rows_estimate(shape_estimate e)
{
    return (bly_estimate){ e.value, e.sd };
}

void rows_tell(bly_overlap_t *out, const shape_pair *pair)
{
    out->a = rows_estimate(pair->a);
    out->b = rows_estimate(pair->b);
    out->either = rows_estimate(pair->either);
    out->both = rows_estimate(pair->both);
    out->differ = rows_estimate(pair->differ);
    out->jaccard = rows_estimate(pair->jaccard);
}

void rows_overlap_of(bly_overlap_t *out, const shape *s, uint64_t a,
                     uint64_t b, uint64_t either)
{
    shape_pair pair = shape_pair_of(s, a, b, either);
    rows_tell(out, &pair);
}

void rows_overlap(bly_overlap_t *out, const shape *s, const uint8_t *a,
                  const uint8_t *b)
{
    size_t bytes = rows_bytes(s);
    rows_overlap_of(out, s, bits_count(a, bytes), bits_count(b, bytes),
                    bits_count_or(a, b, bytes));
}
