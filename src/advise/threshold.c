/* threshold.c - "it came at least T times": the counters that can say so, and
 * the least memory for a rate.
 *
 * A key that came T times finds T at least in each of its counters; so
 * may another one, by chance (maths/maths.h has how often). The more of T a
 * counter is to hold, the fuller the row may be, so that neither m nor k are
 * those of a Bloom filter of this rate.
 */
#include "bloomery/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "maths/maths.h"

enum { THRESHOLD_K_MAX = 64, THRESHOLD_TIMES_MAX = 65535 };

static const double THRESHOLD_M_MAX = 72057594037927936.0;     /* 2^56 */

/* ---- Counters and probes ------------------------------------------------ */

/* Returns the average number of probes per counter, in an infinite row, at
 * which a counter reaches `times` with chance p. */
static double threshold_load(double p, double times)
{
    static const double many = 1099511627776.0;
    double low = 0, high = 1;

    while (math_tail(many, many * high, times) < p && high < many)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (math_tail(many, many * middle, times) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Returns the k that takes the fewest counters per key for this rate. */
static uint32_t threshold_best_k(double rate, double times)
{
    uint32_t best = 1;
    double least = INFINITY;

    for (uint32_t k = 1; k <= THRESHOLD_K_MAX; k++) {
        double counters = k / threshold_load(pow(rate, 1.0 / k), times);
        if (counters < least) {
            least = counters;
            best = k;
        }
    }
    return best;
}

static double threshold_rate(const bly_threshold *need, double m, uint32_t k)
{
    return math_rate_times(m, (double)need->capacity, k, (double)need->times,
                           NULL);
}

/* Returns the k with the lowest rate for that many counters. */
static uint32_t threshold_best_k_for(const bly_threshold *need)
{
    uint32_t best = 1;
    double least = 2;

    for (uint32_t k = 1; k <= THRESHOLD_K_MAX; k++) {
        double rate = threshold_rate(need, (double)need->m, k);
        if (rate < least) {
            least = rate;
            best = k;
        }
    }
    return best;
}

/* Returns the fewest counters that keep the rate; a value above THRESHOLD_M_MAX
 * means too many. Beyond 2^53 it is rounded to the next double. */
static double threshold_least_m(const bly_threshold *need, uint32_t k,
                                double rate)
{
    double low = 0, high = 1;

    while (high <= THRESHOLD_M_MAX && threshold_rate(need, high, k) > rate) {
        low = high;
        high *= 2;
    }
    while (high <= THRESHOLD_M_MAX) {
        double middle = floor((low + high) / 2);
        if (middle <= low || middle >= high)
            break;
        if (threshold_rate(need, middle, k) > rate)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Returns the width of the narrowest counter that holds `times`: its largest
 * value means "this or more". */
static unsigned threshold_bits(uint64_t times)
{
    unsigned bits = 1;
    while ((UINT64_C(1) << bits) - 1 < times)
        bits++;
    return bits;
}

/* ---- The plan ----------------------------------------------------------- */

static bly_status threshold_check(const bly_threshold *need)
{
    static const bly_threshold none;

    if (need->capacity == 0)
        return status_fail(BLY_EPARAM, "the threshold has no capacity: give "
                           "the number of different keys");
    if (need->times < 1 || need->times > THRESHOLD_TIMES_MAX)
        return status_fail(BLY_EPARAM, "at least %llu times is not within "
                           "1 .. %d: a counter has 16 bits at most",
                           (unsigned long long)need->times,
                           THRESHOLD_TIMES_MAX);
    if (need->rate != 0 && !(need->rate > 0 && need->rate < 1))
        return status_fail(BLY_EPARAM, "the rate %g is not between 0 and 1: "
                           "give one such as 0.01", need->rate);
    if (need->k > THRESHOLD_K_MAX)
        return status_fail(BLY_EPARAM, "k=%u is more than %d probes: give "
                           "fewer, or 0 for the best number", (unsigned)need->k,
                           THRESHOLD_K_MAX);
    if (need->zero != 0 || memcmp(need->reserved, none.reserved,
                                  sizeof none.reserved) != 0)
        return status_fail(BLY_EPARAM, "the threshold has values in reserved "
                           "fields: set it to zero before you fill it in, or "
                           "link the library it was written for");
    return BLY_OK;
}

/* Computes everything but the kind's plan. */
static void threshold_rates(bly_threshold_plan *out, const bly_threshold *need,
                            double m, uint32_t k)
{
    double n = (double)need->capacity, times = (double)need->times;

    out->plan.rate = math_rate_times(m, n, k, times, &out->plan.rate_sd);
    out->nearly = math_rate_times(m, n, k, 1, NULL);
    out->plan.lines_absent = out->plan.lines_present;
}

bly_status bly_plan_threshold(bly_threshold_plan *out,
                              const bly_threshold *need)
{
    bly_status status = threshold_check(need);
    if (status != BLY_OK)
        return status;
    double rate = need->rate > 0 ? need->rate : 0.01;
    uint32_t k = need->k != 0 ? need->k
               : need->m != 0 ? threshold_best_k_for(need)
                              : threshold_best_k(rate, (double)need->times);
    double m = need->m != 0 ? (double)need->m
                            : threshold_least_m(need, k, rate);
    if (m > THRESHOLD_M_MAX)
        return status_fail(BLY_EPARAM, "%llu keys at rate %g would take more "
                           "than 2^56 counters: use fewer keys or a higher "
                           "rate", (unsigned long long)need->capacity, rate);

    bly_threshold_plan made = { .nearly = 0 };
    bly_spec spec = { .capacity = need->capacity, .rate = rate };
    snprintf(made.kind, sizeof made.kind, "counting:m=%.0f,k=%u,bits=%u", m,
             (unsigned)k, threshold_bits(need->times));
    status = bly_plan(&made.plan, made.kind, &spec);
    if (status != BLY_OK)
        return status;
    threshold_rates(&made, need, m, k);
    *out = made;
    return BLY_OK;
}
