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
    bool      zero[3];
    bly_aim   aim;
    uint64_t  memory;           /* bytes that the image may have; 0: any. Not
                                   for BLY_CAN_PAGE                          */
    uint64_t  others;           /* with BLY_CAN_EXACT: keys that are asked for
                                   and are no members; 0: as many as members */
    uint64_t  label_most;       /* with BLY_CAN_LABEL: the largest label there
                                   will be; 0: 255                           */
    const bly_costs *costs;     /* NULL: the library's own, of one machine   */
    const bly_allocator *allocator;     /* of the ranking; NULL: its own     */
    uint64_t  reserved[6];      /* 0                                         */
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

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_ADVICE_H */
