/* bloomery/advice.h - ranks the kinds of filters for a need, by their expected
 * cost.
 */
#ifndef BLOOMERY_ADVICE_H
#define BLOOMERY_ADVICE_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Measured costs ==================================================== */

/* Times in nanoseconds on one machine, as `bloomery advise --measure` measures
 * them. */

/* The time to read a random cache line of a filter of `bytes` bytes, in a
 * batch. */
typedef struct {
    uint64_t bytes;
    double   ns;
} bly_line_cost;

/* The filters that are measured for each kind, X(keys, rate): small ones at
 * five rates, then two larger ones at the first rate. */
#define BLY_COST_POINTS(X)                                                     \
    X(100000, 1e-2) X(100000, 1e-3) X(100000, 1e-4) X(100000, 1e-5)            \
    X(100000, 1e-6) X(1000000, 1e-2) X(10000000, 1e-2)

/* Times for one of these filters: a batched lookup of a present key, of an
 * absent key, and of a mixture of equal shares in random order. `add` is the
 * time to add a key or, for a kind that is built at once, the build time per
 * key with all threads. */
typedef struct {
    double present, absent, mixed, add;
} bly_cost_point;

typedef struct {
    char           kind[48];    /* with options: as in bly_advice            */
    bly_cost_point at[7];       /* in the order of BLY_COST_POINTS           */
    bly_cost_point reserved[3]; /* 0                                         */
} bly_cost;

typedef struct {
    const bly_line_cost *const *line;   /* at least two, by rising `bytes`   */
    size_t                      lines;
    const bly_cost *const      *kind;   /* a missing kind is estimated from
                                           the cache lines of its plan       */
    size_t                      kinds;
    uint64_t                    reserved[4];    /* 0                         */
} bly_costs;

/* ==== The need ========================================================== */

/* The goal of a ranking. Time is the time of a lookup, weighted by the need's
 * share of present keys. */
typedef enum {
    BLY_AIM_BALANCE,            /* time x size^(1/3): a filter that is eight
                                   times larger must be twice as fast         */
    BLY_AIM_FAST,               /* time x size^(1/8): mostly time; a filter
                                   of twice the size must be a tenth faster  */
    BLY_AIM_SMALL               /* size x time^(1/16): mostly size           */
} bly_aim;

typedef struct {
    uint64_t  capacity;         /* keys; required, unless `unknown`          */
    double    rate;             /* 0 < rate < 1; 0: 0.01                     */
    double    present;          /* share of the lookups whose key is
                                   present, 0 .. 1                           */
    uint64_t  can;              /* required abilities, BLY_CAN_… combined.
                                   Some mean more here than elsewhere:
                                   _REMOVE: any key may be removed and added
                                   again; _COUNT: to a dozen or more; _GROW:
                                   while keeping the rate; _FORGET: an
                                   endless stream, of which old keys may be
                                   forgotten; _EXACT: no false positives;
                                   _PAGE: the filter is larger than memory   */
    bool      fixed;            /* all keys are known before the build and
                                   none are added later: allows more kinds   */
    bool      core;             /* rank only kinds of the tier "core"        */
    bool      unknown;          /* the number of keys is not known: filters
                                   begin small and grow, which implies
                                   BLY_CAN_GROW, and are ranked as they are
                                   when they have `capacity` keys; 0: 10^6   */
    bool      zero[1];
    bly_aim   aim;
    uint64_t  memory;           /* limit of the image in bytes; 0: none. Not
                                   with BLY_CAN_PAGE                         */
    uint64_t  others;           /* with BLY_CAN_EXACT: keys that are queried
                                   and are not members; 0: as many as there
                                   are members                               */
    uint64_t  label_most;       /* with BLY_CAN_LABEL: the largest label; 0:
                                   255                                       */
    const bly_costs *costs;     /* NULL: the library's, measured on one
                                   machine                                   */
    const bly_allocator *allocator;     /* for the ranking; NULL: the
                                           default                           */
    uint64_t  times;            /* above 0, up to 65535: the filter must
                                   tell whether a key was added at least so
                                   often, as in bly_threshold; implies
                                   BLY_CAN_COUNT. `rate` is then for keys
                                   that were never added, and `capacity`
                                   counts different keys                     */
    uint64_t  reserved[5];      /* 0                                         */
} bly_need;

/* ==== The ranking ======================================================= */

/* A kind, judged against the need. */
typedef struct {
    char   kind[48];            /* with options, for bly_new and bly_build   */
    bool   fits;                /* false: the kind does not meet the need;
                                   `why` says why, and only `kind` and
                                   `lacks` are valid otherwise               */
    bool   beaten;              /* a kind ranked before it is at least as
                                   good: in lookups and adds within a fifth,
                                   in size within a hundredth. `why` names
                                   that kind                                 */
    bly_plan_t plan;
    double ns_present, ns_absent;       /* expected, per lookup in a batch   */
    double ns_lookup;           /* weighted by the need's share of present
                                   keys                                      */
    double ns_add;              /* expected, per add, or per key of the
                                   build                                     */
    double score;               /* the value that the aim minimises, with
                                   times in steps of 2 %; of two equal kinds
                                   the smaller one comes first               */
    char   why[160];            /* one line: the reason for its rank, or
                                   what rules it out                         */
    char   limit[96];           /* the limit of a required ability, if it
                                   has one: "counts to 14"; or empty         */
    char   lacks[128];          /* the important abilities that it lacks or
                                   has only in part: "remove, full count"    */
    double nearly;              /* with `times`: the highest rate at which a
                                   key added once too few passes. The plan's
                                   rate is for keys that were never added,
                                   and an upper bound for kinds other than
                                   `counting`. Without `times`: 0            */
    const char *tier;           /* as in bly_kind_info                       */
} bly_advice;

typedef struct bly_ranking bly_ranking;

/* Ranks the kinds for a need, the best first. Some have options. The first is
 * the advice; the other kinds that meet the need follow, and then those that do
 * not. The ranking is computed from plans and costs: nothing is built or
 * measured. If no kind meets the need, the call succeeds and the first has
 * `fits` false. For filters on disk (BLY_CAN_PAGE) the aim is always
 * BLY_AIM_SMALL, because a lookup reads one page whatever the kind. Takes some
 * milliseconds and 60 KB of memory.
 *
 * BLY_EPARAM (no capacity, a rate or share out of range, an unknown ability or
 * aim, costs with fewer than two line sizes), BLY_ENOMEM. Thread-safe. */
BLY_API bly_status bly_advise(bly_ranking **out, const bly_need *need)
                              BLY_MUST BLY_GIVEN(1, 2);

/* Returns the number of kinds in a ranking, or one of them. Kind number i is
 * counted from 0; NULL if i is too large. Both live as long as the ranking.
 * Thread-safe. */
BLY_API size_t bly_ranking_count(const bly_ranking *ranking) BLY_GIVEN(1);
BLY_API const bly_advice *bly_ranking_at(const bly_ranking *ranking, size_t i)
                                         BLY_GIVEN(1);

/* Frees a ranking; NULL is fine. */
BLY_API void bly_ranking_free(bly_ranking *ranking);

/* ==== Count thresholds ================================================== */

/* The need for a filter of kind `counting` that tells whether a key was added
 * at least T times, which is when bly_count returns T or more. Set unused
 * fields to 0. */
typedef struct {
    uint64_t capacity;          /* different keys, each assumed to be added
                                   once; required                            */
    double   rate;              /* for keys that were never added, 0 < rate
                                   < 1; 0: 0.01. Ignored if m is given       */
    uint64_t times;             /* T, 1 .. 65535                             */
    uint64_t m;                 /* counters; 0: the fewest that keep the
                                   rate                                      */
    uint32_t k;                 /* probes, up to 64; 0: the best             */
    uint32_t zero;              /* 0                                         */
    uint64_t reserved[5];       /* 0                                         */
} bly_threshold;

typedef struct {
    bly_plan_t plan;            /* of the filter. `rate` and `rate_sd` are
                                   for "at least T times" and a key that was
                                   never added; geometry begins with m, k
                                   and bits                                  */
    char   kind[64];            /* for bly_new: "counting:m=…,k=…,bits=…"    */
    double nearly;              /* the rate for a key added T-1 times, which
                                   is that of a Bloom filter of m bits       */
    uint64_t reserved[7];       /* 0                                         */
} bly_threshold_plan;

/* Plans a filter that tells whether a key was added at least T times. It is of
 * kind `counting`. A key that was is always found, because each of its counters
 * was raised T times. Any other key passes only if other keys have raised all
 * its counters to T. The higher T is, the fuller the counters may be: with 4
 * counters per key the rate is 0.49 % for T = 2 (k = 4), but at best 15 % for T
 * = 1. If m is given, `k` is chosen for the lowest rate; the rate has a single
 * minimum in k.
 *
 * The rate leaves out two effects. A key that was added fewer than T times
 * passes more easily: `nearly` is the rate for a key that lacks one add. And
 * keys that are added often fill the counters like as many different keys: to
 * be safe, include the repeats in `capacity`. Counters are only as wide as T
 * requires and stay at their largest value, so that keys cannot be removed
 * reliably. To remove keys, plan more bits per counter, which does not change
 * the rate.
 *
 * BLY_EPARAM (no capacity; T, rate, m or k out of range). Thread-safe;
 * allocates nothing. Each rate takes a number of steps in the order of the
 * square root of capacity * k / m, and a plan computes some thousand rates. The
 * rate is from [Kim, Jeong, Lee & Lee 2019, Analysis of counting Bloom filters
 * used for count thresholding, Electronics 8(7):779]; the second moment of the
 * counters is our own. */
BLY_API bly_status bly_plan_threshold(bly_threshold_plan *out,
                                      const bly_threshold *need)
                                      BLY_MUST BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_ADVICE_H */
