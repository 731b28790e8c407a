/* quotient.c - a counting quotient filter: sorted fingerprints.
 *
 * WHAT IT IS
 *
 * A sorted multiset of fingerprints, stored without loss in little more than
 * the bits that theory demands. The high part of a fingerprint, its *quotient*,
 * is the number of its home slot. Only the low r bits, its *remainder*, are
 * stored, in that slot or as soon after it as possible. Two bits per slot
 * record which remainder belongs to which quotient.
 *
 * WHEN TO USE IT
 *
 * Use it if keys are counted or removed and the filter must also be united with
 * others, compared, or resized without the keys. It is the most versatile kind,
 * as large as `standard` at 1 % and 11 % smaller at 0.1 %.
 *
 * WHEN NOT TO
 *
 * - An add must never be refused: use `counting`. This kind is full when it
 *   has as many different keys as planned; with repeats=yes, as many adds.
 * - Speed matters most: `cuckoo` for keys that are removed, `blocked` for keys
 *   that stay.
 * - Memory matters most: `golomb` does the same in half a bit to one bit less
 *   per key, but is much slower.
 * - Attackers choose the keys: hash them with `siphash` and a secret, or they
 *   can make every operation slow.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           9.6                2
 *      0.1 %        12.8                2
 *
 * With repeats=yes it takes 11.8 bits per key at 1 %. An add or a removal moves
 * the remainders up to the next free slot: 1/2 (1 + 1/(1-a)^2) slots on average
 * at load a.
 *
 * THE PICTURE (8 home slots and one behind them, r = 4; letters are
 * remainders; fingerprints 1:9 1:A 1:B 2:5 4:3 7:F)
 *
 *      slot       0   1   2   3   4   5   6   7   8
 *      occupied   0   1   1   0   1   0   0   1   -   is the quotient present?
 *      run end    0   0   0   1   1   1   0   1   0   does a run end here?
 *      remainder  .   9   A   B   5   3   .   F   .
 *                     '---1---'   2   4       7       the run of quotient …
 *
 *      All remainders of one quotient are a *run*, in rising order. Runs are in
 *      the order of their quotients, each as near to its home as the one before
 *      allows. So the i-th run end belongs to the i-th occupied bit.
 *
 * IMAGE
 *
 *      geometry 0   s, home slots, 1 .. 2^60 / 2^r
 *      geometry 1   r, bits of a remainder, 1 .. 56
 *      geometry 2   blocks of 64 slots, at least s / 64: the slots beyond s
 *                   take the runs that spill from the last home slots
 *      geometry 3   zero
 *      payload      the blocks, 17 + 8r bytes each; then 8 bytes, the number
 *                   of slots in use
 *
 *      a block      8 bytes  occupied, bit i for quotient 64 block + i
 *                   8 bytes  run ends, bit i for slot 64 block + i
 *                   1 byte   spill: how many slots, from the block's first
 *                            one on, hold runs of quotients of earlier blocks;
 *                            255 stands for 255 and more
 *                   8r bytes the remainder of slot i in bits i r … i r + r-1,
 *                            bit j being bit (j mod 8) of byte j / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has the size they imply. A filter's payload is also a pure
 *      function of its geometry and its multiset of fingerprints; slots without
 *      a remainder are zero.
 *
 *      A key's fingerprint F is the high half of hash * (s 2^r), with the hash
 *      as it is. src/bodies/runs.h reads and moves the blocks.
 *
 * MATHS
 *
 * An absent key is found if its fingerprint F is in the filter. With R = s 2^r
 * fingerprints and n keys that is, exactly,
 *
 *      f = 1 - (1 - 1/R)^n, about n/R                                    (1)
 *
 * With a load of a = n/s this is a 2^-r, and the bits per key are
 *
 *      (r + 2 + 1/8) / a                                                 (2)
 *
 * A plan has a load of 0.95 or less, since (1) may require a larger s, or of
 * 0.775 with repeats=yes. Of all r it takes the one that needs the fewest
 * bytes. r is a whole number, so (2) is best where a 2^-r meets the requested
 * rate exactly: 9.6 bits per key for anything from 0.74 % to 1.3 %, and with
 * repeats=yes 11.8 bits from 0.61 % to 1.07 %.
 *
 * The runs behind a slot form a queue that serves one remainder per slot.
 * Behind the last home slot, the queue's length, seen as a random walk tied
 * down at both ends, exceeds t with probability
 *
 *      e^(-2 t (t + (1-a) s) / (v a s))                                  (3)
 *
 * where v is 1 if keys are added once. If each takes v slots, as many arrive at
 * a time, and the walk's variance is v times that. The plan leaves t slots for
 * which (3) is e^-28 at a load of 31/32, with v = 1, or with repeats=yes v = 5
 * for four times each (7 for r = 1). The filter reports "full" at that load and
 * 64 slots, or if the last cluster reaches the end nevertheless: beyond that
 * load clusters grow as 1 / (1-a)^2.
 *
 * COUNTS
 *
 * A fingerprint that occurs up to three times is its remainder x, stored that
 * many times. If it occurs c > 3 times, write c - 3 in base 2^r without leading
 * zeros: d digits. Then it is stored as x, d + 3 times, followed by the digits,
 * the most significant one first. A digit that equals x would be mistaken for
 * another x, so if the first digit equals x, 0 is written in its place. (The
 * first digit is never 0 otherwise, so this is unambiguous.) In base 16, with x
 * = 7:
 *
 *      c     1    2      3        4            10           20
 *            7    7 7    7 7 7    7 7 7 7 1    7 7 7 7 0    7 7 7 7 7 1 1
 *
 * So c takes 3 + 2d slots: a key that was added a million times takes 9 at 1 %.
 * A run without repeats costs nothing, and only in a run of five or more slots
 * can any be a digit. Four is the only count that takes more slots than adds,
 * five; for r = 1, also five (seven slots), six (seven) and seven (nine). So n
 * adds take at most 5n/4 slots, or 7n/5 if r = 1. A plan has room for n keys
 * that are added once, and for n adds of which at most a twentieth are of keys
 * that are added exactly four times. With repeats=yes it has room for all that
 * n adds can take, and refuses none, whichever keys they are of.
 *
 * BUILDING
 *
 * The payload depends only on the fingerprints, so they may be written in any
 * order. From all keys at once (bly_build) they are sorted and written from the
 * first slot to the last, which moves none and takes less than half the time of
 * adds. Sorting takes 8 bytes of scratch per key. If there are more keys than
 * were planned, which that does not suffice for, or if memory is short, they
 * are added one by one.
 *
 * ANOTHER SIZE
 *
 * Twice as many slots with remainders one bit shorter make the same R. Every
 * fingerprint stays what it was, and the rate is still n/R: it doubles when the
 * number of keys does. So the filter can go to s 2^j slots and r - j bits for
 * any j that leaves a bit, or halve while s is even. Plan a filter that will
 * grow with a low rate.
 *
 * HOSTILE KEYS
 *
 * A lookup reads the block's head and the remainders of one run. Hashes that
 * are not random make long runs and clusters, and every operation then takes
 * time in proportion. Functions whose high bits are weak are refused;
 * `identity` is accepted as it is.
 *
 * An attacker who chooses keys and can compute the hash can crowd them into one
 * run or into the first slots. A lookup walks through its run, at 1.6 ns per
 * slot, and past the blocks of its cluster, at 1.1 ns each; an add and a
 * removal move everything behind. In a filter for 10^6 keys, in microseconds:
 *
 *                                           lookup      add   remove
 *      10^6 random keys, 1 %                  0.03     0.25     0.29
 *      10^5 in the first 256th, 1 %            1.7      9.6       14
 *      10^6 random keys, 1e-9                 0.13     0.31     0.52
 *      10^5 in one run, 1e-9                   158      184      185
 *
 * `siphash` with a secret prevents this. A bound on clusters would not. At a
 * load of a, random keys fill L slots in a row, from a given one on, with a
 * probability of at most
 *
 *      e^(-L (a - 1 - ln a))                                             (4)
 *
 * by Chernoff's bound for Poisson arrivals. For no cluster of 2^40 slots at a
 * load of 31/32 to reach the bound by chance, except with probability 2^-64, it
 * would have to be 145 000 slots. A lookup past so many takes longer than the
 * second row above. Counts, whose slots come together, would need a still
 * larger bound.
 *
 * PAPERS
 *
 *  [Cleary 1984]   Compact hash tables using bidirectional linear probing,
 *                  IEEE Trans. Computers 33(9). Quotients.
 *  [Knuth 1998]    The art of computer programming, volume 3. Linear probing:
 *                  section 6.4 has the slots that an add moves.
 *  [Pagh 2005]     Pagh, Pagh and Rao, An optimal Bloom filter replacement,
 *                  SODA. That a multiset of fingerprints is the way.
 *  [Bender 2012]   Don't thrash: how to cache your hash on flash, PVLDB 5(11).
 *                  The quotient filter: resizing, merging.
 *  [Pandey 2017]   A general-purpose counting filter: making every bit count,
 *                  SIGMOD. Two bits a slot, ranks, selects and offsets. We
 *                  write counts in another way, which works for any r.
 */
#include "image/abilities.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/sort.h"
#include "maths/maths.h"
#include "bodies/runs.h"
#include "bodies/rows.h"

enum {
    QUOTIENT_VERSION = 1,
    QUOTIENT_PART = 1024,               /* keys that a build sorts at a time */
    QUOTIENT_PARTS_MAX = 1 << 16,
    QUOTIENT_DIGIT = 9                  /* bits of a key that it sorts by    */
};

#define QUOTIENT_RANGE_MAX (UINT64_C(1) << 60)

enum { QUOTIENT_OPTION_REPEATS };

static const char *const quotient_repeats[] = { "no", "yes", NULL };

static const kind_option quotient_options[] = {
    [QUOTIENT_OPTION_REPEATS] = {
        .name = "repeats", .help = "yes: room for repeated adds as well, five "
                                   "slots for four of them",
        .choices = quotient_repeats, .standard = false,
    },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

/* The count that takes most slots for its adds. */
typedef struct { uint64_t adds, slots; } quotient_most;

static quotient_most quotient_most_of(uint32_t r, bool repeats)
{
    if (!repeats)
        return (quotient_most){ 1, 1 };
    return r == 1 ? (quotient_most){ 5, 7 } : (quotient_most){ 4, 5 };
}

/* Slots that may be in use: 31/32 of the home slots, and in a small filter more
 * than that, since its clusters cannot be long. */
static uint64_t quotient_limit(uint64_t slots)
{
    return slots - slots / 32 + RUNS_BLOCK;
}

/* Home slots that n keys load to 0.95, or that have room for n adds. The slots
 * that the limit adds count in the smallest filters only: in others they would
 * be missing once the filter is made twice as large, and so are its keys. */
static uint64_t quotient_slots_for(uint64_t n, quotient_most most)
{
    uint64_t slots = n + n / 19 + (n % 19 != 0);
    uint64_t used = n / most.adds * most.slots + n % most.adds * most.slots;
    uint64_t full = used > 2 * RUNS_BLOCK ? used
                  : used > RUNS_BLOCK ? used - RUNS_BLOCK : 0;
    uint64_t least = full + full / 31 + (full % 31 != 0);
    return least > slots ? least : slots;
}

/* Blocks for so many home slots and what may spill behind them, from (3). */
static uint64_t quotient_blocks_for(uint64_t slots, quotient_most most)
{
    double s = (double)slots, drift = s / 32, e = 28 * (double)most.slots;
    uint64_t tail
        = (uint64_t)(e * s / (drift + sqrt(drift * drift + 2 * e * s)));
    uint64_t space = slots + tail + 1;
    return space / RUNS_BLOCK + (space % RUNS_BLOCK != 0);
}

static uint64_t quotient_payload(uint64_t blocks, uint64_t r)
{
    return blocks * (RUNS_REMAINDERS + 8 * r) + RUNS_USED;
}

/* Returns the number of parts that n keys are dealt into. */
static uint64_t quotient_parts(uint64_t n)
{
    uint64_t parts = 1;
    while (parts < QUOTIENT_PARTS_MAX && n / parts > QUOTIENT_PART / 2)
        parts *= 2;
    return parts;
}

/* Bytes to deal n keys: the keys, and where each part ends. */
static uint64_t quotient_scratch(uint64_t n)
{
    return (n + quotient_parts(n)) * sizeof(uint64_t);
}

/* All of the plan that follows from n, s and r. */
static bly_status quotient_plan_of(bly_plan_t *plan, uint64_t n,
                                   uint64_t slots, uint32_t r, bool repeats)
{
    uint64_t blocks = quotient_blocks_for(slots, quotient_most_of(r, repeats));
    bly_status status = kind_plan_bytes(plan, quotient_payload(blocks, r));
    if (status != BLY_OK)
        return status;
    double range = (double)slots * ldexp(1, (int)r), keys = (double)n;
    plan->capacity = n;
    plan->scratch = quotient_scratch(n);
    plan->rate = math_numbers_rate(range, keys);
    plan->rate_sd = sqrt(math_set_variance(range, keys)) / range;
    plan->fill = fmin(plan->rate * range / (double)slots, 1);
    plan->probes = 1;
    plan->lines_present = plan->lines_absent = 2;
    plan->geometry[RUNS_SLOTS] = slots;
    plan->geometry[RUNS_R] = r;
    plan->geometry[RUNS_BLOCKS] = blocks;
    plan->geometry[RUNS_ZERO] = 0;
    return BLY_OK;
}

static bly_status quotient_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity, range, best_slots = 0, best_bytes = 0;
    uint32_t best_r = 0;
    bool repeats = spec->option[QUOTIENT_OPTION_REPEATS];
    if (n == 0)
        return kind_no_capacity();
    if (n > QUOTIENT_RANGE_MAX / 4
        || !math_numbers_for(&range, n, spec->rate, QUOTIENT_RANGE_MAX))
        return kind_too_big(spec, "2^60 fingerprints");

    for (uint32_t r = 1; r <= RUNS_R_MAX; r++) {
        quotient_most most = quotient_most_of(r, repeats);
        uint64_t slots = quotient_slots_for(n, most);
        uint64_t need
            = (range >> r) + ((range & ((UINT64_C(1) << r) - 1)) != 0);
        slots = need > slots ? need : slots;
        uint64_t bytes = quotient_payload(quotient_blocks_for(slots, most),
                                          r);
        if (slots <= QUOTIENT_RANGE_MAX >> r
            && (best_r == 0 || bytes <= best_bytes)) {
            best_r = r;
            best_slots = slots;
            best_bytes = bytes;
        }
    }
    return best_r != 0 ? quotient_plan_of(plan, n, best_slots, best_r, repeats)
                       : kind_too_big(spec, "2^60 fingerprints");
}

/* ---- Check ------------------------------------------------------------- */

static bly_status quotient_check(const void *image)
{
    uint64_t slots = image_geometry(image, RUNS_SLOTS);
    uint64_t r = image_geometry(image, RUNS_R);
    uint64_t blocks = image_geometry(image, RUNS_BLOCKS);
    uint64_t bytes = image_payload_bytes(image);

    bool sound = r >= 1 && r <= RUNS_R_MAX
              && slots >= 1 && slots <= QUOTIENT_RANGE_MAX >> r
              && image_geometry(image, RUNS_ZERO) == 0 && bytes > RUNS_USED
              && blocks <= bytes / (RUNS_REMAINDERS + 8 * r)
              && bytes == quotient_payload(blocks, r)
              && blocks > (slots - 1) / RUNS_BLOCK;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains ---------------------------------------------------------- */

PLATFORM_INLINE uint64_t quotient_fingerprint(const runs_view *v,
                                              uint64_t hash)
{
    return bits_range(hash, v->range);
}

/* The long way, for runs that end far away or have many slots. */
PLATFORM_INLINE bool quotient_search(const runs_view *v, uint64_t f, bool bmi)
{
    runs_run run = runs_find_by(v, f >> v->r, bmi);
    return run.occupied && runs_seek(v, &run, f & runs_low(v)).count > 0;
}

static bool quotient_search_portable(const runs_view *v, uint64_t f)
{
    return quotient_search(v, f, false);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool quotient_search_bmi2(const runs_view *v,
                                                 uint64_t f)
{
    return quotient_search(v, f, true);
}
#endif

PLATFORM_INLINE bool quotient_contains_long(const runs_view *v, uint64_t f,
                                          bool bmi)
{
#if CPU_X86
    if (bmi)
        return quotient_search_bmi2(v, f);
#endif
    (void)bmi;
    return quotient_search_portable(v, f);
}

/* Looks up a fingerprint. All remainders of the run are compared at once. */
PLATFORM_INLINE bool quotient_contains_by(const runs_view *v, uint64_t f,
                                          bool bmi)
{
    runs_window run = runs_window_at(v, f >> v->r, false, bmi);
    if (run.there & run.odd)
        return quotient_contains_long(v, f, bmi);
    uint64_t equal = runs_equal(v, &run, f & runs_low(v));
    bool found = (run.there & 1) & (equal != 0);
    if (found & (run.length > RUNS_PLAIN))
        return quotient_contains_long(v, f, bmi);
    return found;
}

static bool quotient_one(const void *subject, uint64_t hash)
{
    const runs_view *v = subject;
    return quotient_contains_by(v, quotient_fingerprint(v, hash), false);
}

static bool quotient_contains(const void *image, uint64_t hash)
{
    const runs_view v = runs_look(image);
    return quotient_one(&v, hash);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool quotient_one_bmi2(const void *subject,
                                              uint64_t hash)
{
    const runs_view *v = subject;
    return quotient_contains_by(v, quotient_fingerprint(v, hash), true);
}
#endif

static_assert(sizeof(runs_view) <= KIND_VIEW, "a view has its room");

static kind_contains *quotient_contains_here(const void **subject, void *view)
{
    *(runs_view *)view = runs_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return quotient_one_bmi2;
#endif
    return quotient_one;
}

/* ---- Count ------------------------------------------------------------- */

PLATFORM_INLINE uint64_t quotient_count_by(const runs_view *v, uint64_t f,
                                           bool bmi)
{
    if (!quotient_contains_by(v, f, bmi))
        return 0;
    runs_run run = runs_find_by(v, f >> v->r, bmi);
    uint64_t count = runs_seek(v, &run, f & runs_low(v)).count;
    return count > 0 ? count : 1;
}

static uint64_t quotient_count(const void *image, uint64_t hash)
{
    runs_view v = runs_look(image);
    return quotient_count_by(&v, quotient_fingerprint(&v, hash), false);
}

/* ---- Add --------------------------------------------------------------- */

static bly_status quotient_is_full(void)
{
    return status_fail(BLY_EFULL, "the filter is full, because all its slots "
                       "are in use: resize it (bly_resize), or plan it for "
                       "more keys");
}

/* Adds a fingerprint `count` times. */
PLATFORM_INLINE bly_status quotient_plus_by(const runs_view *v, uint64_t f,
                                            uint64_t count, bool bmi)
{
    runs_run run;
    runs_item item = runs_seek_by(v, f, &run, bmi);
    if (!runs_raise(v, f >> v->r, &run, &item, count,
                    quotient_limit(v->slots)))
        return quotient_is_full();
    return item.count > 0 ? BLY_SEEN : BLY_OK;
}

/* Apart, and so is quotient_minus(): written out for each caller too, they
 * would leave the compiler less to inline in the lookups. */
PLATFORM_APART static bly_status quotient_plus(const runs_view *v, uint64_t f,
                                               uint64_t count)
{
    return quotient_plus_by(v, f, count, false);
}

static bly_status quotient_add(void *image, uint64_t hash)
{
    runs_view v = runs_look(image);
    return quotient_plus(&v, quotient_fingerprint(&v, hash), 1);
}

/* ---- Remove ------------------------------------------------------------ */

PLATFORM_INLINE bly_status quotient_minus_by(const runs_view *v, uint64_t f,
                                             bool bmi)
{
    runs_run run;
    runs_item item = runs_seek_by(v, f, &run, bmi);
    return runs_lower(v, f >> v->r, &run, &item) ? BLY_OK
                                                 : status_plain(BLY_EABSENT);
}

PLATFORM_APART static bly_status quotient_minus(const runs_view *v, uint64_t f)
{
    return quotient_minus_by(v, f, false);
}

static bly_status quotient_remove(void *image, uint64_t hash)
{
    runs_view v = runs_look(image);
    return quotient_minus(&v, quotient_fingerprint(&v, hash));
}

/* ---- Batches ----------------------------------------------------------- */

/* The largest number of keys to prefetch ahead: two or three lines each. */
enum { QUOTIENT_AHEAD = 64 };

PLATFORM_INLINE void quotient_prefetch(const runs_view *v, uint64_t hash)
{
    runs_prefetch(v, quotient_fingerprint(v, hash) >> v->r);
}

/* A batch that runs some keys behind its prefetches. `work` is the
 * statement for hashes[i] and its fingerprint f. */
#define QUOTIENT_ROLL(view, hashes, n, work)                                   \
    do {                                                                       \
        size_t ahead = cpu_ahead(n, QUOTIENT_AHEAD,                            \
                                 (view).count * (view).stride);                \
        for (size_t i = 0; i < ahead; i++)                                     \
            quotient_prefetch(&(view), (hashes)[i]);                           \
        for (size_t i = 0; i < (n); i++) {                                     \
            if (i + ahead < (n))                                               \
                quotient_prefetch(&(view), (hashes)[i + ahead]);               \
            uint64_t f = quotient_fingerprint(&(view), (hashes)[i]);           \
            work;                                                              \
        }                                                                      \
    } while (0)

PLATFORM_INLINE void
quotient_contains_many_by(const void *image, const uint64_t *hashes, size_t n,
                          bool *present, bool bmi)
{
    runs_view v = runs_look(image);
    QUOTIENT_ROLL(v, hashes, n, present[i] = quotient_contains_by(&v, f, bmi));
}

PLATFORM_INLINE void
quotient_count_many_by(const void *image, const uint64_t *hashes, size_t n,
                       uint64_t *counts, bool bmi)
{
    runs_view v = runs_look(image);
    QUOTIENT_ROLL(v, hashes, n, counts[i] = quotient_count_by(&v, f, bmi));
}

PLATFORM_INLINE bly_status
quotient_add_many_by(void *image, const uint64_t *hashes, size_t n,
                     size_t *done, bool bmi)
{
    runs_view v = runs_look(image);
    bly_status status = BLY_OK;
    QUOTIENT_ROLL(v, hashes, n, {
        status = bmi ? quotient_plus_by(&v, f, 1, true)
                     : quotient_plus(&v, f, 1);
        *done = i + (status >= 0);
        if (status < 0)
            break;
    });
    return status < 0 ? status : BLY_OK;
}

PLATFORM_INLINE void
quotient_remove_many_by(void *image, const uint64_t *hashes, size_t n,
                        bly_status *each, bool bmi)
{
    runs_view v = runs_look(image);
    QUOTIENT_ROLL(v, hashes, n, each[i] = bmi ? quotient_minus_by(&v, f, true)
                                              : quotient_minus(&v, f));
}

#if CPU_X86
CPU_TARGET_AVX2 static void
quotient_contains_many_bmi2(const void *image, const uint64_t *hashes, size_t n,
                            bool *present)
{
    quotient_contains_many_by(image, hashes, n, present, true);
}

CPU_TARGET_AVX2 static void
quotient_count_many_bmi2(const void *image, const uint64_t *hashes, size_t n,
                         uint64_t *counts)
{
    quotient_count_many_by(image, hashes, n, counts, true);
}

CPU_TARGET_AVX2 static bly_status
quotient_add_many_bmi2(void *image, const uint64_t *hashes, size_t n,
                       size_t *done)
{
    return quotient_add_many_by(image, hashes, n, done, true);
}

CPU_TARGET_AVX2 static void
quotient_remove_many_bmi2(void *image, const uint64_t *hashes, size_t n,
                          bly_status *each)
{
    quotient_remove_many_by(image, hashes, n, each, true);
}

/* Call the body for this processor. */
#define QUOTIENT_HERE(name, ...)                                               \
    (cpu_now() >= CPU_AVX2 ? quotient_##name##_bmi2(__VA_ARGS__)               \
                           : quotient_##name##_by(__VA_ARGS__, false))
#else
#define QUOTIENT_HERE(name, ...) quotient_##name##_by(__VA_ARGS__, false)
#endif

static void quotient_contains_many(const void *image, const uint64_t *hashes,
                                   size_t n, bool *present)
{
    QUOTIENT_HERE(contains_many, image, hashes, n, present);
}

static void quotient_count_many(const void *image, const uint64_t *hashes,
                                size_t n, uint64_t *counts)
{
    QUOTIENT_HERE(count_many, image, hashes, n, counts);
}

static bly_status quotient_add_many(void *image, const uint64_t *hashes,
                                    size_t n, size_t *done)
{
    return QUOTIENT_HERE(add_many, image, hashes, n, done);
}

static void quotient_remove_many(void *image, const uint64_t *hashes, size_t n,
                                 bly_status *each)
{
    QUOTIENT_HERE(remove_many, image, hashes, n, each);
}

/* ---- Write in rising order --------------------------------------------- */

/* An empty filter that fingerprints are written into, in rising order. */
typedef struct {
    const runs_view *view;
    runs_fit fit;
    uint64_t last;                      /* the last quotient, or UINT64_MAX  */
    uint64_t block;                     /* the first without its spill       */
} quotient_writer;

static quotient_writer quotient_writer_of(const runs_view *v)
{
    return (quotient_writer){ .view = v, .last = UINT64_MAX };
}

/* Writes the spills of the blocks up to `last`, if the runs before it end at
 * `at`. */
PLATFORM_INLINE void quotient_spills(quotient_writer *w, uint64_t last,
                                     uint64_t at)
{
    const runs_view *v = w->view;
    for (; w->block <= last && w->block < v->count; w->block++)
        runs_block(v, w->block)[RUNS_SPILL] = runs_spill(w->block, at);
}

/* Writes the next fingerprint. False: it does not fit. */
PLATFORM_INLINE bool quotient_write(quotient_writer *w, uint64_t f,
                                    uint64_t count)
{
    const runs_view *v = w->view;
    uint64_t quotient = f >> v->r, before = w->fit.at;
    runs_fit_one(&w->fit, f, count, v->r);
    if (quotient >= v->slots || w->fit.at > v->space
        || w->fit.used > quotient_limit(v->slots))
        return false;
    if (quotient == w->last)
        runs_mark(v, RUNS_ENDS, before - 1, false);
    else
        quotient_spills(w, quotient / RUNS_BLOCK, before);
    runs_mark(v, RUNS_OCCUPIED, quotient, true);
    runs_write(v, w->fit.at - runs_length(count, v->r), f & runs_low(v),
               count);
    runs_mark(v, RUNS_ENDS, w->fit.at - 1, true);
    w->last = quotient;
    return true;
}

static void quotient_write_end(quotient_writer *w)
{
    quotient_spills(w, w->view->count, w->fit.at);
    runs_set_used(w->view, w->fit.used);
}

/* ---- Build ------------------------------------------------------------- */

/* A build sorts all keys and writes them in order, which moves no slot. It
 * deals them into parts by their high bits, and sorts each part in the
 * first-level cache. */

/* Sorts a part, whose keys are alike in the bits from `top` on. */
static void quotient_sort(uint64_t *keys, size_t n, unsigned top)
{
    uint64_t sorted[QUOTIENT_PART];
    uint16_t next[1 << QUOTIENT_DIGIT] = { 0 };
    const unsigned shift = top > QUOTIENT_DIGIT ? top - QUOTIENT_DIGIT : 0;
    const uint64_t mask = (1 << QUOTIENT_DIGIT) - 1;
    if (n > QUOTIENT_PART) {
        sort_heap(keys, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        next[keys[i] >> shift & mask]++;
    for (size_t digit = 0, sum = 0; digit <= mask; digit++) {
        size_t some = next[digit];
        next[digit] = (uint16_t)sum;
        sum += some;
    }
    for (size_t i = 0; i < n; i++)
        sorted[next[keys[i] >> shift & mask]++] = keys[i];
    sort_insert(sorted, n);
    memcpy(keys, sorted, n * sizeof *keys);
}

/* Adds keys for which the scratch is too small: more than were planned, or any
 * if memory is short. */
static bly_status quotient_build_more(void *image, const kind_keys *keys)
{
    bly_status status = BLY_OK;
    size_t done;
    for (uint64_t i = 0, end; status == BLY_OK
                              && (end = task_until(i, keys->n)) > i; i = end)
        status = quotient_add_many(image, keys->hashes + i, (size_t)(end - i),
                                   &done);
    return status;
}

static bly_status quotient_build(void *image, const kind_keys *keys,
                                 const kind_bench *bench)
{
    const runs_view v = runs_look(image);
    const uint64_t n = keys->n, parts = quotient_parts(n);
    if (quotient_scratch(n) > bench->bytes)
        return quotient_build_more(image, keys);

    uint64_t *dealt = bench->scratch, *ends = dealt + n, begin = 0;
    memset(ends, 0, (size_t)parts * sizeof *ends);
    unsigned top = 0;
    while (top < 63 && (v.range - 1) / parts >> top > 0)
        top++;
    task_phase(1, 3 * n);
    TASK_SPAN(i, 0, n)
        ends[quotient_fingerprint(&v, keys->hashes[i]) >> top]++;
    for (uint64_t part = 0, sum = 0; part < parts; part++) {
        uint64_t some = ends[part];
        ends[part] = sum;
        sum += some;
    }
    TASK_SPAN(i, 0, n) {
        uint64_t f = quotient_fingerprint(&v, keys->hashes[i]);
        dealt[ends[f >> top]++] = f;
    }
    if (task_cancelled())               /* then the parts are not whole      */
        return task_status();

    quotient_writer w = quotient_writer_of(&v);
    for (uint64_t part = 0; part < parts; begin = ends[part++]) {
        quotient_sort(dealt + begin, (size_t)(ends[part] - begin), top);
        if (task_step(ends[part] - begin))
            return task_status();
        for (uint64_t i = begin, end; i < ends[part]; i = end) {
            for (end = i + 1; end < ends[part] && dealt[end] == dealt[i]; )
                end++;
            if (!quotient_write(&w, dealt[i], end - i))
                return quotient_is_full();
        }
    }
    quotient_write_end(&w);
    return BLY_OK;
}

/* ---- Two filters ------------------------------------------------------- */

/* A walk through the fingerprints of two filters of one plan. */
typedef struct {
    runs_cursor a, b;
    bool some_a, some_b;                /* have they come to one each?       */
    bool in_a, in_b;                    /* and is it `f`?                    */
    uint64_t f;
} quotient_pair;

static quotient_pair quotient_first(const runs_view *a, const runs_view *b)
{
    return (quotient_pair){ .a = runs_first(a), .b = runs_first(b),
                            .in_a = true, .in_b = true };
}

/* The next fingerprint that is in one of them or both; false at the end. */
static bool quotient_next(quotient_pair *p)
{
    if (p->in_a)
        p->some_a = runs_next(&p->a);
    if (p->in_b)
        p->some_b = runs_next(&p->b);
    p->in_a = p->some_a && (!p->some_b || p->a.f <= p->b.f);
    p->in_b = p->some_b && (!p->some_a || p->b.f <= p->a.f);
    p->f = p->in_a ? p->a.f : p->b.f;
    return p->in_a || p->in_b;
}

/* Would both together fit? If so, they do in every order: nothing moves down
 * when more is added. */
static bool quotient_both_fit(const runs_view *a, const runs_view *b)
{
    quotient_pair p = quotient_first(a, b);
    runs_fit fit = { 0, 0 };
    while (quotient_next(&p)) {
        uint64_t count = p.in_a ? p.a.count : 0, more = p.in_b ? p.b.count : 0;
        if (count > UINT64_MAX - more)
            return false;
        runs_fit_one(&fit, p.f, count + more, a->r);
    }
    return fit.at <= a->space && fit.used <= quotient_limit(a->slots);
}

/* Returns whether the spills of the blocks up to that of a quotient are right,
 * if the runs before it end at `at`. *block is the first unchecked block. */
static bool quotient_spills_are(const runs_view *v, uint64_t *block,
                                uint64_t last, uint64_t at)
{
    for (; *block <= last && *block < v->count; ++*block)
        if (runs_block(v, *block)[RUNS_SPILL] != runs_spill(*block, at))
            return false;
    return true;
}

/* Verifies that each block states so many runs, and that they end. */
static bool quotient_runs_are(const runs_view *v, uint64_t runs)
{
    uint64_t occupied = 0, ends = 0;
    for (uint64_t block = 0; block < v->count; block++) {
        const uint8_t *head = runs_block(v, block);
        occupied += platform_popcount(image_u64(head, RUNS_OCCUPIED));
        ends += platform_popcount(image_u64(head, RUNS_ENDS));
    }
    return occupied == runs && ends == runs;
}

/* Returns whether everything is where a filter writes it, which only a forged
 * payload violates. Then the walk finds what an add finds, and fits where the
 * walk says so. */
static bool quotient_written(const runs_view *v)
{
    runs_cursor c = runs_first(v);
    runs_fit fit = { 0, 0 };
    uint64_t block = 0, runs = 0, last = UINT64_MAX;
    while (runs_next(&c)) {
        uint64_t quotient = c.f >> v->r;
        if (quotient != last
            && !quotient_spills_are(v, &block, quotient / RUNS_BLOCK, fit.at))
            return false;
        runs += quotient != last;
        last = quotient;
        runs_fit_one(&fit, c.f, c.count, v->r);
        if (c.at != fit.at)
            return false;
    }
    return c.sound && fit.used == runs_used(v)
        && quotient_spills_are(v, &block, v->count, fit.at)
        && quotient_runs_are(v, runs);
}

/* Adds a filter to itself: the walk continues behind the parts that grew. */
static bly_status quotient_double(const runs_view *v)
{
    runs_cursor c = runs_first(v);
    bly_status status = BLY_OK;
    while (status >= 0 && runs_next(&c)) {
        status = quotient_plus(v, c.f, c.count);
        uint64_t more = status >= 0 ? runs_length(2 * c.count, v->r)
                                    - runs_length(c.count, v->r) : 0;
        c.at += more;
        c.stop += more;
        if (c.stop > v->space)          /* never in what a filter wrote */
            break;
    }
    return status < 0 ? status : BLY_OK;
}

static bly_status quotient_unite(void *into, const void *other)
{
    runs_view a = runs_look(into), b = runs_look(other);
    if (!quotient_both_fit(&a, &b))
        return quotient_is_full();
    if (!quotient_written(&a))
        return status_fail(BLY_ECORRUPT, "the filter's slots are in an "
                           "impossible state: rebuild it");
    if (into == other)
        return quotient_double(&a);
    runs_cursor c = runs_first(&b);
    bly_status status = BLY_OK;
    while (status >= 0 && runs_next(&c))
        status = quotient_plus(&a, c.f, c.count);
    return status < 0 ? status : BLY_OK;
}

/* Fingerprints are counted one by one; keys are estimated from them as if each
 * were a bit of a row of s 2^r. */
static void quotient_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    runs_view of_a = runs_look(a), of_b = runs_look(b);
    quotient_pair p = quotient_first(&of_a, &of_b);
    shape row = { .blocks = 1, .lanes = 1, .bits = of_a.range, .probes = 1 };
    uint64_t in_a = 0, in_b = 0, either = 0;
    while (quotient_next(&p)) {
        in_a += p.in_a;
        in_b += p.in_b;
        either++;
    }
    rows_overlap_of(out, &row, in_a, in_b, either);
}

/* ---- Another size ------------------------------------------------------ */

/* Would the filter's fingerprints fit into another size? */
static bool quotient_fits(const runs_view *v, uint64_t slots, uint32_t r,
                          quotient_most most)
{
    runs_cursor c = runs_first(v);
    runs_fit fit = { 0, 0 };
    while (runs_next(&c))
        runs_fit_one(&fit, c.f, c.count, r);
    return fit.at <= quotient_blocks_for(slots, most) * RUNS_BLOCK
        && fit.used <= quotient_limit(slots);
}

/* Have so many slots room for n adds? */
static bool quotient_serves(uint64_t slots, uint64_t r, uint64_t n,
                            bool repeats)
{
    quotient_most most = quotient_most_of((uint32_t)r, repeats);
    return n <= slots && quotient_slots_for(n, most) <= slots;
}

/* Returns whether the filter has room for repeated keys; the option is not in
 * the image. */
static bool quotient_has_room(const void *image, const runs_view *v)
{
    uint64_t n = image_u64(image, IMAGE_CAPACITY);
    return quotient_serves(v->slots, v->r, n, true);
}

static bly_status quotient_resize_plan(bly_plan_t *plan, const void *image,
                                       uint64_t capacity)
{
    runs_view v = runs_look(image);
    uint64_t slots = v.slots, r = v.r;
    bool repeats = quotient_has_room(image, &v);
    while (slots % 2 == 0 && r < RUNS_R_MAX
           && quotient_serves(slots / 2, r + 1, capacity, repeats)) {
        slots /= 2;
        r++;
    }
    while (!quotient_serves(slots, r, capacity, repeats)) {
        if (r == 1)
            return status_fail(
                BLY_EPARAM,
                "a filter of %llu slots and %u bits cannot be enlarged more "
                "than %llu times, nor hold %llu keys: plan a filter that will "
                "grow with a lower rate",
                (unsigned long long)v.slots, v.r, 1ull << (v.r - 1),
                (unsigned long long)capacity);
        slots *= 2;
        r--;
    }
    if (!quotient_fits(&v, slots, (uint32_t)r,
                       quotient_most_of((uint32_t)r, repeats)))
        return status_fail(BLY_EFULL, "the filter holds more keys than %llu "
                           "slots have room for: give a larger capacity",
                           (unsigned long long)slots);
    return quotient_plan_of(plan, capacity, slots, (uint32_t)r, repeats);
}

static bly_status quotient_resize(void *into, const void *image)
{
    runs_view v = runs_look(image), to = runs_look(into);
    runs_cursor c = runs_first(&v);
    quotient_writer w = quotient_writer_of(&to);
    while (runs_next(&c))
        if (!quotient_write(&w, c.f, c.count))
            return status_plain(BLY_ECORRUPT);
    quotient_write_end(&w);
    return c.sound ? BLY_OK : status_plain(BLY_ECORRUPT);
}

static void quotient_each(const void *image, bly_visit_fingerprint *visit,
                          void *context)
{
    runs_view v = runs_look(image);
    runs_cursor c = runs_first(&v);
    unsigned bits = 0;
    while ((v.range - 1) >> bits > 0)
        bits++;
    while (runs_next(&c)
           && visit(context, math_least_hash(c.f, v.range), bits, c.count))
        continue;
}

/* ---- Look inside ------------------------------------------------------- */

/* Reports statistics. The number of keys is the one from which the number of
 * fingerprints is expected; its deviation is that of the number of collisions.
 * */
static void quotient_stat(bly_info_t *out, const void *image)
{
    runs_view v = runs_look(image);
    runs_cursor c = runs_first(&v);
    uint64_t some = 0;
    while (runs_next(&c))
        some++;
    double range = (double)v.range;
    out->distinct = math_numbers_keys((double)some, range, &out->distinct_sd);
    out->fill = fmin((double)runs_used(&v) / (double)v.slots, 1);
    out->rate = (double)some / range;
    out->probes = 1;
}

static const kind_building quotient_building = {
    .build = quotient_build,
};

static const kind_combining quotient_combining = {
    .unite   = quotient_unite,
    .overlap = quotient_overlap,
};

static const kind_listing quotient_listing = {
    .fingerprints = quotient_each,
};

static const kind_resizing quotient_resizing = {
    .plan   = quotient_resize_plan,
    .resize = quotient_resize,
};

const bly_kind bly_kind_quotient = {
    .name     = "quotient",
    .family   = "removable",
    .summary  = "a counting quotient filter: sorted fingerprints",
    .version  = QUOTIENT_VERSION,
    .options  = quotient_options,
    .raw_hash = true,

    .plan  = quotient_plan,
    .check = quotient_check,
    .stat  = quotient_stat,

    .contains      = quotient_contains,
    .contains_many = quotient_contains_many,
    .contains_here = quotient_contains_here,

    .add         = quotient_add,
    .add_many    = quotient_add_many,
    .remove      = quotient_remove,
    .remove_many = quotient_remove_many,
    .count       = quotient_count,
    .count_many  = quotient_count_many,

    .building  = &quotient_building,
    .combining = &quotient_combining,
    .listing   = &quotient_listing,
    .resizing  = &quotient_resizing,
};
