/* bloomery/advice.h - which kind for which need: the kinds ranked by what they
 * would cost.
 */
#ifndef BLOOMERY_ADVICE_H
#define BLOOMERY_ADVICE_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== What things cost ================================================== */

/* In nanoseconds on some machine, as `bloomery advise --measure` measures
 * them. */

/* A random line of a filter of so many bytes, in a batch. */
typedef struct {
    uint64_t bytes;
    double   ns;
} bly_line_cost;

/* The filters that are measured of each kind, X(keys, rate): small ones at five
 * rates, then two larger ones at the first of them. */
#define BLY_COST_POINTS(X)                                                     \
    X(100000, 1e-2) X(100000, 1e-3) X(100000, 1e-4) X(100000, 1e-5)            \
    X(100000, 1e-6) X(1000000, 1e-2) X(10000000, 1e-2)

/* One of them: a batched lookup of a key that is there, of one that is not,
 * and of both in equal shares and random order; and adding a key, or a key's
 * part of the build of a kind that is built at once, all threads together. */
typedef struct {
    double present, absent, mixed, add;
} bly_cost_point;

typedef struct {
    char           kind[48];    /* with options: as in bly_advice            */
    bly_cost_point at[7];       /* in the order of BLY_COST_POINTS           */
    bly_cost_point reserved[3]; /* 0                                         */
} bly_cost;

typedef struct {
    const bly_line_cost *const *line;   /* at least two, `bytes` rising      */
    size_t                      lines;
    const bly_cost *const      *kind;   /* a kind that is missing is reckoned
                                           by the cache lines of its plan    */
    size_t                      kinds;
    uint64_t                    reserved[4];    /* 0                         */
} bly_costs;

/* ==== What is needed ==================================================== */

/* What is to be least. Time is that of a lookup, by the share of present keys
 * that the need tells. */
typedef enum {
    BLY_AIM_BALANCE,            /* time x size^(1/3): to be preferred, what is
                                   eight times as large must be twice as quick*/
    BLY_AIM_FAST,               /* time; size only where times are as good as
                                   equal: time x size^(1/8), so that twice the
                                   size must be a tenth quicker              */
    BLY_AIM_SMALL               /* size, likewise: size x time^(1/16)        */
} bly_aim;

typedef struct {
    uint64_t  capacity;         /* keys; must be given                       */
    double    rate;             /* 0 < rate < 1; 0: 0.01                     */
    double    present;          /* share of the lookups that are of keys which
                                   are there, 0 .. 1                         */
    uint64_t  can;              /* BLY_CAN_…, any number of them: what the
                                   filter must be able to do. Some say more
                                   here than elsewhere: BLY_CAN_REMOVE, any key
                                   may be removed and come back; _COUNT, to a
                                   dozen and more; _GROW, rate and all;
                                   _FORGET, keys without end, of which old ones
                                   may be forgotten; _EXACT, no false positive;
                                   _PAGE, it is bigger than memory           */
    bool      fixed;            /* all keys are known before it is built, and
                                   none comes later: opens more kinds        */
    bool      core;             /* rank kinds of the tier "core" alone       */
    bool      zero[2];
    bly_aim   aim;
    uint64_t  memory;           /* bytes that the image may have; 0: any. Not
                                   for BLY_CAN_PAGE                          */
    uint64_t  others;           /* with BLY_CAN_EXACT: keys that are asked for
                                   and are no members; 0: as many as members */
    uint64_t  label_most;       /* with BLY_CAN_LABEL: the largest label there
                                   will be; 0: 255                           */
    const bly_costs *costs;     /* NULL: the library's own, of one machine   */
    const bly_allocator *allocator;     /* of the ranking; NULL: its own     */
    uint64_t  times;            /* above 0: the question is whether a key came
                                   at least so often, 1 .. 65535, as in
                                   bly_threshold; BLY_CAN_COUNT goes without
                                   saying. `rate` is then of a key that never
                                   came, and `capacity` of different keys    */
    uint64_t  reserved[5];      /* 0                                         */
} bly_need;

/* ==== The ranking ======================================================= */

/* One kind, held against the need. */
typedef struct {
    char   kind[48];            /* with options, for bly_new and bly_build   */
    bool   fits;                /* false: it cannot; `why` says what, and only
                                   `kind` and `lacks` mean something else    */
    bool   beaten;              /* one before it is as quick to ask and to
                                   fill, within a fifth, and as small, within a
                                   hundredth, or better: `why` names that one*/
    bly_plan_t plan;
    double ns_present, ns_absent;       /* expected, a lookup of a batch     */
    double ns_lookup;           /* by the need's share of present keys       */
    double ns_add;              /* expected, an add, or the build by key     */
    double score;               /* what the aim makes least, of times in steps
                                   of 2 %; of equals the smaller is first    */
    char   why[160];            /* its place, or what excludes it: one line  */
    char   limit[96];           /* the limit of what is needed, where that has
                                   one: "counts to 14"; or empty             */
    char   lacks[128];          /* of the abilities that matter most, those
                                   that it lacks, or has in part: "remove,
                                   full count"                               */
    double nearly;              /* with `times`: at which rate a key that came
                                   once less passes, at most; the plan's rate
                                   is of one that never came, and an upper bound
                                   for other kinds than `counting`. Else 0   */
    const char *tier;           /* of the kind, as in bly_kind_info          */
} bly_advice;

typedef struct bly_ranking bly_ranking;

/* Rank the kinds for a need, some with options: the first is the advice, then
 * follow the others that fit, the best first, then those that do not. Computed
 * from plans and costs: nothing is built or measured. That no kind fits is no
 * error: the first then has `fits` false. On disk each lookup reads one page
 * whatever the kind, so there the aim is always BLY_AIM_SMALL. It takes some
 * milliseconds, and 60 KB of memory.
 *
 * BLY_EPARAM (no capacity, a rate or share outside its range, an unknown
 * ability or aim, costs with fewer than two sizes of lines), BLY_ENOMEM.
 * Thread-safe. */
BLY_API bly_status bly_advise(bly_ranking **out, const bly_need *need)
                              BLY_MUST BLY_GIVEN(1, 2);

/* How many kinds there are in it, and number i of them, 0 first; NULL: there
 * are not so many. They live as long as the ranking. Thread-safe. */
BLY_API size_t bly_ranking_count(const bly_ranking *ranking) BLY_GIVEN(1);
BLY_API const bly_advice *bly_ranking_at(const bly_ranking *ranking, size_t i)
                                         BLY_GIVEN(1);

/* Give the ranking back; NULL is fine. */
BLY_API void bly_ranking_free(bly_ranking *ranking);

/* ==== At least so many times ============================================ */

/* The question whether a key came at least T times, as kind `counting` can
 * answer it: bly_count says T or more. Zero it before you fill it in. */
typedef struct {
    uint64_t capacity;          /* different keys, of which each is reckoned to
                                   come once; must be given                  */
    double   rate;              /* 0 < rate < 1, of keys that never came; 0:
                                   0.01. Not looked at if m is given         */
    uint64_t times;             /* T, 1 .. 65535                             */
    uint64_t m;                 /* counters; 0: the fewest that keep the rate*/
    uint32_t k;                 /* probes, to 64; 0: the best                */
    uint32_t zero;              /* 0                                         */
    uint64_t reserved[5];       /* 0                                         */
} bly_threshold;

typedef struct {
    bly_plan_t plan;            /* of the filter: `rate` and `rate_sd` are of
                                   the question "at least T times", asked of a
                                   key that never came; m, k and bits are the
                                   first numbers of `geometry`               */
    char   kind[64];            /* for bly_new: "counting:m=…,k=…,bits=…"    */
    double nearly;              /* the rate of a key that came T-1 times, which
                                   is that of a Bloom filter of m bits       */
    uint64_t reserved[7];       /* 0                                         */
} bly_threshold_plan;

/* Plan a filter of kind `counting` for the question whether a key came at least
 * T times. A key that did is always found, since each of its counters was
 * raised T times; another one passes if others have raised all of them so far.
 * As that takes more of them, the row may be much fuller than a Bloom filter:
 * at 4 counters a key and T = 2 the rate is 0.49 % (k = 4), where T = 1 has
 * 15 % at best. With m given `k` is the one whose rate is least; the rate falls
 * with k, has one minimum, and rises again.
 *
 * Two things that the rate does not say. A key that came, but not T times, has
 * a share of the way behind it: `nearly` is the rate of one that lacks a single
 * time. And keys that come often fill the row as so many different ones would:
 * count them all in `capacity` to be safe. The counters are as narrow as T
 * allows and stay at their largest value once they are there, so that a key
 * cannot be removed reliably: give the kind more bits for that, which changes
 * no rate.
 *
 * BLY_EPARAM (no capacity; T, rate, m or k outside their range). Thread-safe,
 * allocates nothing. A rate takes some roots of capacity k / m steps, and some
 * thousand rates are computed. [Kim, Jeong, Lee
 * & Lee 2019, Analysis of counting Bloom filters used for count thresholding,
 * Electronics 8(7):779] has the rate; the second moment of the counters is
 * ours. */
BLY_API bly_status bly_plan_threshold(bly_threshold_plan *out,
                                      const bly_threshold *need)
                                      BLY_MUST BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_ADVICE_H */
