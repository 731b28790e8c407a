/* compaction.c - hash compaction: a table of short signatures.
 *
 * WHAT IT IS
 *
 * An open-addressed hash table that stores a signature of b bits per key, taken
 * from the key's hash, in place of the key. A lookup reads one slot after
 * another: an equal signature means "seen", an empty slot means "new". An add
 * puts the signature into that empty slot, so one call both queries and adds.
 *
 * WHEN TO USE IT
 *
 * Use it for the visited states of a search or a model checker, where every key
 * is looked up and added in one step, and only a few may be missed. At 0.01 %
 * it is 6 % larger than `standard` but reads one cache line instead of up to
 * 13, and it is smaller than `blocked`.
 *
 * WHEN NOT TO
 *
 * - The rate is about 1 %: `standard` and `blocked` are smaller.
 * - The number of keys is not known well: keys far beyond the plan are
 *   refused. `standard` and `blocked` never refuse one.
 * - Filters must be united or compared, or keys removed: this kind can do
 *   neither. `quotient` can do both.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          11.6                 1                   1
 *      0.1 %        16.0                 1.2                 1.2
 *      0.01 %       20.3                 1.2                 1.2
 *
 * THE PICTURE (lines of 8 slots)
 *
 *      payload  | line 0 | line 1 | line 2 | line 3 | …      64 bytes each
 *                             |
 *      line, from the hash ---+     slot 0    1    2    3    4    5    6    7
 *                                 |  . | 3F | 07 |  . | A1 | 22 |  . | 5C |
 *      a key of signature A1         ^         ^              ^
 *      looks at slots 5, 2, 0:     third     second         first
 *
 *      Slot 0 is empty, so the key is new, and A1 is stored there.
 *
 * IMAGE
 *
 *      geometry 0   number of lines L, 1 .. 2^48
 *      geometry 1   b, bits of a signature, 1 .. 48
 *      geometry 2, 3  zero
 *      payload      64 bytes a line; slot i of a line, i < c = floor(512 / b),
 *                   is bits i b to i b + b - 1 of it, lowest first; bit j of a
 *                   line is bit (j mod 8) of its byte j / 8. A slot of 0 is
 *                   empty
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has 64 bytes a line.
 *
 * MATHS
 *
 * Let a line have j entries, X of which equal the signature of a key that was
 * never added. The first of these X entries and the c - j empty slots that the
 * walk meets ends it, and all are equally likely to be first. So the key is
 * taken for a seen one with probability
 *
 *      X / (X + c - j)                                                   (1)
 *
 * or slightly less, because the walk ends after 32 steps. X is not quite
 * binomial: two equal signatures are rarely both stored. The calculation
 * follows the life of a line entry by entry, with the distribution of X at
 * every j, and so that of (1). A key that is stored takes the line from j to j
 * + 1. The loads of the lines are then a birth process: for each key of a line,
 * dp_j = (probability to be stored at j-1) p_{j-1} - (the same at j) p_j. The
 * rate after n keys is
 *
 *      f = sum p_j E[(1)] / (1 - G)                                      (2)
 *
 * where G is the probability that a line passes the key on. In a nearly full
 * table, 1 / (1 - G) becomes (1 - G^32) / (1 - G). Keys that were taken for
 * seen are not in the table, and the process leaves them out. Up to 2048 keys
 * it is followed key by key, beyond that as a differential equation. A plan has
 * at most four keys per slot: at rates near 1, which would allow any number,
 * the table is larger and its rate lower than requested. The measured rate
 * agrees with (2) from 0.5 to 10^-4 (tests/laws.c).
 *
 *      rate            b     load    bits per key  standard
 *      10 %            4     62 %      6.23         4.81
 *      1 %             8     69 %     11.60         9.59
 *      0.1 %          13     82 %     16.02        14.38
 *      0.01 %         16     79 %     20.34        19.17
 *      0.0001 %       23     79 %     29.30        28.76
 *
 * PROBES
 *
 * The high bits of the spread hash s select the line. The high bits of the
 * mixed hash m give the signature, one of S = 2^b - 1. The high bits of m h, m
 * h^2, … select the slots, with h the step of src/bits/hash.h. After 32 slots
 * without a result the walk goes on in another line, chosen by s h, s h^2, …,
 * for at most 32 lines.
 *
 * The table of the literature probes neighbouring slots, which makes runs: at
 * load a, a lookup compares ((1 + 1/(1-a)^2) / 2) - 1 signatures, which is 7.5
 * when three quarters are full. Slots chosen anew for each probe need a / (1-a)
 * comparisons, which is 3, and within one cache line they cost nothing more. At
 * 1 % the table takes 11.6 bits per key instead of 12.8.
 *
 * PAPERS
 *
 *  [Wolper 1993]     Wolper & Leroy, Reliable hashing without collision
 *                    detection, CAV. Hash compaction.
 *  [Stern 1996]      Stern & Dill, A new scheme for memory-efficient
 *                    probabilistic verification, FORTE/PSTV. Slots by hashing
 *                    anew, and what is left out over a run.
 *  [Dillinger 2004]  Dillinger & Manolios, Bloom filters in probabilistic
 *                    verification, FMCAD. When this one, when a Bloom filter.
 */
#include "image/kind.h"

#include <math.h>

#include "base/cpu.h"
#include "base/sizes.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/hash.h"

enum {
    COMPACTION_VERSION = 1,
    COMPACTION_LINES = 0, COMPACTION_BITS = 1, COMPACTION_ZERO = 2,
    COMPACTION_ZERO_TOO = 3,
    COMPACTION_BITS_MAX = 48,
    COMPACTION_LINE_BITS = 512, COMPACTION_LINE_BYTES = 64,
    COMPACTION_STEPS = 32,              /* slots of one line                 */
    COMPACTION_TRIES = 32,              /* lines                             */
    COMPACTION_ONE_BY_ONE = 2048,       /* keys, followed each by itself     */
    COMPACTION_KEYS_MOST = 4            /* planned for each slot             */
};

#define COMPACTION_LINES_MAX (UINT64_C(1) << 48)

/* No more lines than these pass a key on, so that all that are tried do so for
 * at most one key in 10^22. */
static const double COMPACTION_PASS_MOST = 0.2;

/* A smaller chance is none: what doubles hold only in part is slow to add. */
static const double COMPACTION_CHANCE_LEAST = 1e-60;

static const kind_option compaction_options[] = {
    { .name = "load", .help = "keys per hundred slots",
      .least = 5, .most = 85, .standard = KIND_CHOOSE },
    { .name = NULL },
};

static uint32_t compaction_slots(uint32_t bits)
{
    return COMPACTION_LINE_BITS / bits;
}

/* ---- The fate of a key ------------------------------------------------- */

/* Chances by the number of entries in a line of `slots` slots: that a key which
 * was never added is taken for seen, and that it is passed on. */
typedef struct {
    uint32_t slots;
    double seen[COMPACTION_LINE_BITS + 1], passed[COMPACTION_LINE_BITS + 1];
} compaction_line;

/* (1), and the chance to be passed on, for x entries alike of j. */
static void compaction_walk(uint32_t slots, uint32_t j, uint32_t x,
                            double *seen, double *passed)
{
    double on = ((double)j - x) / slots;
    double left = on;
    for (int steps = 1; steps < COMPACTION_STEPS; steps *= 2)
        left *= left;
    *passed = left;
    *seen = x == 0 ? 0 : (1 - left) * x / (x + (double)(slots - j));
}

/* Turns the chances w of each x with j entries into those with j + 1: the new
 * entry is alike, or has one of the `others` other signatures. */
static void compaction_next(const compaction_line *line, uint32_t j, double *w,
                            double others)
{
    double unlike = others * (1 - line->seen[j] - line->passed[j]), carry = 0;
    for (uint32_t x = 0; x <= j; x++) {
        double seen, passed;
        compaction_walk(line->slots, j, x, &seen, &passed);
        double alike = 1 - seen - passed;
        double up = w[x] * alike / (alike + unlike);
        w[x] += carry - up;
        carry = up;
    }
    w[j + 1] = carry;
}

PLATFORM_APART static void compaction_line_for(compaction_line *line,
                                               uint32_t bits)
{
    double w[COMPACTION_LINE_BITS + 2] = { 1 };
    double others = ldexp(1, (int)bits) - 2;
    line->slots = compaction_slots(bits);
    for (uint32_t j = 0; j <= line->slots; j++) {
        line->seen[j] = line->passed[j] = 0;
        for (uint32_t x = 0; x <= j; x++) {
            double seen, passed;
            if (w[x] < 1e-25)
                continue;
            compaction_walk(line->slots, j, x, &seen, &passed);
            line->seen[j] += w[x] * seen;
            line->passed[j] += w[x] * passed;
        }
        if (j < line->slots)
            compaction_next(line, j, w, others);
    }
}

/* The loads of the lines after so many keys for each. */
typedef struct {
    double keys;
    double p[COMPACTION_LINE_BITS + 1];
} compaction_loads;

/* G and f of (2). */
static double compaction_passed(const compaction_line *line,
                                const compaction_loads *loads)
{
    double passed = 0;
    for (uint32_t j = 0; j <= line->slots; j++)
        passed += loads->p[j] * line->passed[j];
    return passed;
}

/* Lines that a key tries, in the mean. */
static double compaction_tries(double passed)
{
    return passed > 0.999999 ? COMPACTION_TRIES
         : (1 - pow(passed, COMPACTION_TRIES)) / (1 - passed);
}

static double compaction_rate(const compaction_line *line,
                              const compaction_loads *loads)
{
    double seen = 0;
    for (uint32_t j = 0; j <= line->slots; j++)
        seen += loads->p[j] * line->seen[j];
    return seen * compaction_tries(compaction_passed(line, loads));
}

/* to := from + step * (what a key for each line changes at `at`). */
static void compaction_move(compaction_loads *to, const compaction_loads *from,
                            const compaction_loads *at,
                            const compaction_line *line, double step)
{
    double tries = step * compaction_tries(compaction_passed(line, at));
    double in = 0;
    for (uint32_t j = 0; j <= line->slots; j++) {
        double out = j < line->slots
                   ? at->p[j] * (1 - line->seen[j] - line->passed[j]) : 0;
        double p = from->p[j] + tries * (in - out);
        to->p[j] = p > COMPACTION_CHANCE_LEAST ? p : 0;
        in = out;
    }
    to->keys = from->keys + step;
}

/* Computes the flow by the midpoint rule. */
PLATFORM_APART static void compaction_flow(compaction_loads *loads,
                                           const compaction_line *line,
                                           double step)
{
    compaction_loads middle;
    compaction_move(&middle, loads, loads, line, step / 2);
    compaction_move(loads, loads, &middle, line, step);
}

/* Loads with as many keys for each line as can be: at most `keys`, with a rate
 * of at most `rate`, and not too many passed on. */
PLATFORM_APART static void compaction_fill(compaction_loads *loads,
                                           const compaction_line *line,
                                           double keys, double rate)
{
    *loads = (compaction_loads){ .p = { 1 } };
    for (double step = 0.25; step > 1e-7; ) {
        compaction_loads next = *loads;
        compaction_flow(&next, line, step);
        if (next.keys > keys || compaction_rate(line, &next) > rate
            || compaction_passed(line, &next) > COMPACTION_PASS_MOST)
            step /= 2;
        else
            *loads = next;
    }
}

/* Loads of so many lines after n keys. */
static void compaction_loads_of(compaction_loads *loads,
                                const compaction_line *line, uint64_t lines,
                                uint64_t n)
{
    if (n > COMPACTION_ONE_BY_ONE) {
        compaction_fill(loads, line, (double)n / (double)lines, 1);
        return;
    }
    *loads = (compaction_loads){ .p = { 1 } };
    for (uint64_t i = 0; i < n; i++)
        compaction_move(loads, loads, loads, line, 1 / (double)lines);
}

/* ---- Plan -------------------------------------------------------------- */

typedef struct {
    uint64_t n, lines;
    uint32_t bits;
} compaction_size;

/* Keys for a line with signatures of so many bits; 0: too few bits. */
PLATFORM_APART static double compaction_keys(compaction_line *line,
                                             uint32_t bits, double rate,
                                             uint64_t load)
{
    compaction_loads loads;
    compaction_line_for(line, bits);
    double most = load == KIND_CHOOSE
                ? (double)COMPACTION_KEYS_MOST * line->slots
                : (double)load * line->slots / 100;
    compaction_fill(&loads, line, most, rate);
    return load == KIND_CHOOSE || loads.keys > 0.9999 * most ? loads.keys : 0;
}

/* The bits that take the fewest lines, and the keys of a line then; with a load
 * the fewest bits that will do. 0: there are none. */
static double compaction_best(uint32_t *bits, compaction_line *line,
                              double rate, uint64_t load)
{
    double best = 0;
    uint32_t first = (uint32_t)fmax(1, floor(-log2(rate)));
    uint32_t last = first + 12;
    for (uint32_t b = first; b <= last && b <= COMPACTION_BITS_MAX; b++) {
        double keys = compaction_keys(line, b, rate, load);
        if (keys > best) {
            best = keys;
            *bits = b;
        } else if (best > 0 && keys < 0.8 * best) {
            break;
        }
        if (best > 0 && load != KIND_CHOOSE)
            break;
    }
    return best;
}

/* Returns whether so many lines suffice. */
static bool compaction_enough(const compaction_line *line, uint64_t lines,
                              uint64_t n, double rate)
{
    compaction_loads loads;
    compaction_loads_of(&loads, line, lines, n);
    return compaction_rate(line, &loads) <= rate
        && compaction_passed(line, &loads) <= COMPACTION_PASS_MOST;
}

static bly_status compaction_size_for(compaction_size *size,
                                      compaction_line *line,
                                      const kind_spec *spec)
{
    size->n = spec->capacity;
    if (size->n == 0)
        return kind_no_capacity();
    double keys = compaction_best(&size->bits, line, spec->rate,
                                  spec->option[0]);
    if (keys == 0 && spec->option[0] != KIND_CHOOSE)
        return status_fail(BLY_EPARAM, "kind compaction cannot fill %llu of a "
                           "hundred slots at a rate of %.3g: give a lower "
                           "load, or leave load= out",
                           (unsigned long long)spec->option[0], spec->rate);
    if (keys == 0)
        return status_fail(BLY_EPARAM, "kind compaction has no signatures long "
                           "enough for a rate of %.3g: use a higher rate",
                           spec->rate);
    if (!sizes_from_double(&size->lines, (double)size->n / keys)
        || size->lines > COMPACTION_LINES_MAX)
        return kind_too_big(spec, "2^48 lines");
    size->lines += size->lines == 0;
    compaction_line_for(line, size->bits);
    for (uint64_t more = 1;
         !compaction_enough(line, size->lines, size->n, spec->rate); more *= 2)
        size->lines += more;
    while (size->n <= COMPACTION_ONE_BY_ONE && size->lines > 1
           && spec->option[0] == KIND_CHOOSE
           && compaction_enough(line, size->lines - 1, size->n, spec->rate))
        size->lines--;
    return BLY_OK;
}

/* Returns how much the rate differs between filters: lines are loaded
 * differently, as far as that does not cancel in the sum, and more or fewer
 * keys were taken for seen. */
static double compaction_rate_sd(const compaction_line *line,
                                 const compaction_loads *loads, uint64_t lines)
{
    double rate = compaction_rate(line, loads), load = 0, squares = 0;
    double both = 0, spread = 0;
    for (uint32_t j = 0; j <= line->slots; j++)
        load += loads->p[j] * j;
    for (uint32_t j = 0; j <= line->slots; j++) {
        squares += loads->p[j] * (j - load) * (j - load);
        both += loads->p[j] * (j - load) * (line->seen[j] - rate);
        spread += loads->p[j] * (line->seen[j] - rate) * (line->seen[j] - rate);
    }
    double slope = squares > 0 ? both / squares : 0;
    double lost = fmax(0, loads->keys - load);
    double variance = spread - slope * both + slope * slope * lost;
    return sqrt(fmax(0, variance) / (double)lines);
}

static bly_status compaction_plan(bly_plan_t *plan, const kind_spec *spec)
{
    compaction_size size = { 0 };
    compaction_line line;
    compaction_loads loads;
    bly_status status = compaction_size_for(&size, &line, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, size.lines * COMPACTION_LINE_BYTES);
    if (status != BLY_OK)
        return status;

    compaction_loads_of(&loads, &line, size.lines, size.n);
    plan->capacity = size.n;
    plan->rate = compaction_rate(&line, &loads);
    plan->rate_sd = compaction_rate_sd(&line, &loads, size.lines);
    plan->fill = 0;
    for (uint32_t j = 0; j <= line.slots; j++)
        plan->fill += loads.p[j] * j / line.slots;
    plan->probes = 1;
    plan->lines_present = plan->lines_absent
        = compaction_tries(compaction_passed(&line, &loads));
    plan->geometry[COMPACTION_LINES] = size.lines;
    plan->geometry[COMPACTION_BITS] = size.bits;
    plan->geometry[COMPACTION_ZERO] = 0;
    plan->geometry[COMPACTION_ZERO_TOO] = 0;
    return BLY_OK;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status compaction_check(const void *image)
{
    uint64_t lines = image_geometry(image, COMPACTION_LINES);
    uint64_t bits = image_geometry(image, COMPACTION_BITS);

    bool sound = lines >= 1 && lines <= COMPACTION_LINES_MAX
              && bits >= 1 && bits <= COMPACTION_BITS_MAX
              && image_geometry(image, COMPACTION_ZERO) == 0
              && image_geometry(image, COMPACTION_ZERO_TOO) == 0
              && image_payload_bytes(image) == lines * COMPACTION_LINE_BYTES;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains, add ----------------------------------------------------- */

/* The fields of an image that the probes need, read once. */
typedef struct {
    uint8_t *payload;
    uint64_t lines, mask;
    uint32_t bits, slots;
} compaction_view;

PLATFORM_INLINE compaction_view compaction_look(const void *image)
{
    uint32_t bits = (uint32_t)image_geometry(image, COMPACTION_BITS);
    return (compaction_view){
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .lines = image_geometry(image, COMPACTION_LINES),
        .mask = (UINT64_C(1) << bits) - 1,
        .bits = bits, .slots = compaction_slots(bits),
    };
}

/* The line of a spread hash. */
PLATFORM_INLINE uint8_t *compaction_at(const compaction_view *v, uint64_t state)
{
    return v->payload + bits_range(state, v->lines) * COMPACTION_LINE_BYTES;
}

/* A slot: the 8 bytes of the line that hold it, and its first bit in them. */
typedef struct {
    uint8_t *word;
    unsigned shift;
} compaction_slot;

PLATFORM_INLINE compaction_slot compaction_slot_at(const compaction_view *v,
                                                   uint8_t *line,
                                                   uint64_t state)
{
    uint32_t bit = (uint32_t)bits_range(state, v->slots) * v->bits;
    uint32_t byte = bit >> 3 < COMPACTION_LINE_BYTES - 8
                  ? bit >> 3 : COMPACTION_LINE_BYTES - 8;
    return (compaction_slot){ line + byte, bit - 8 * byte };
}

/* Walks a key: returns BLY_SEEN, BLY_OK at an empty `slot`, or BLY_EFULL. */
PLATFORM_INLINE bly_status compaction_seek(const compaction_view *v,
                                           uint64_t hash, uint64_t *signature,
                                           compaction_slot *slot)
{
    uint64_t home = hash_spread(hash), state = hash_mix(hash);
    *signature = 1 + bits_range(state, v->mask);
    for (uint32_t i = 0; i < COMPACTION_TRIES; i++) {
        uint8_t *line = compaction_at(v, home);
        for (uint32_t j = 0; j < COMPACTION_STEPS; j++) {
            state *= HASH_STEP;
            *slot = compaction_slot_at(v, line, state);
            uint64_t there = image_u64(slot->word, 0) >> slot->shift & v->mask;
            if (there == 0 || there == *signature)
                return there == 0 ? BLY_OK : BLY_SEEN;
        }
        home *= HASH_STEP;
    }
    return BLY_EFULL;
}

PLATFORM_INLINE bool compaction_has(const compaction_view *v, uint64_t hash)
{
    uint64_t signature;
    compaction_slot slot;
    return compaction_seek(v, hash, &signature, &slot) == BLY_SEEN;
}

PLATFORM_INLINE bly_status compaction_put(const compaction_view *v,
                                          uint64_t hash)
{
    uint64_t signature;
    compaction_slot slot;
    bly_status status = compaction_seek(v, hash, &signature, &slot);
    if (status == BLY_OK)
        image_set_u64(slot.word, 0, image_u64(slot.word, 0)
                                    | signature << slot.shift);
    return status;
}

static bly_status compaction_full(void)
{
    return status_fail(BLY_EFULL, "the table is full: build a new one for "
                       "more keys");
}

static bool compaction_contains(const void *image, uint64_t hash)
{
    compaction_view v = compaction_look(image);
    return compaction_has(&v, hash);
}

static bly_status compaction_add(void *image, uint64_t hash)
{
    compaction_view v = compaction_look(image);
    bly_status status = compaction_put(&v, hash);
    return status == BLY_EFULL ? compaction_full() : status;
}

/* ---- Batches ----------------------------------------------------------- */

/* Runs a batch, with the first line of each key prefetched some keys ahead.
 * `work` is the statement for hashes[i]. */
#define COMPACTION_ROLL(view, hashes, n, prefetch, work)                       \
    do {                                                                       \
        const uint64_t bytes = (view).lines * COMPACTION_LINE_BYTES;           \
        const size_t ahead = cpu_ahead(n, n, bytes);                           \
        for (size_t i = 0; i < ahead; i++)                                     \
            prefetch(compaction_at(&(view), hash_spread((hashes)[i])));        \
        for (size_t i = 0; i < (n); i++) {                                     \
            if ((n) - i > ahead)                                               \
                prefetch(compaction_at(&(view),                                \
                                       hash_spread((hashes)[i + ahead])));     \
            work;                                                              \
        }                                                                      \
    } while (0)

static void compaction_contains_many(const void *image, const uint64_t *hashes,
                                     size_t n, bool *present)
{
    compaction_view v = compaction_look(image);
    COMPACTION_ROLL(v, hashes, n, platform_prefetch,
                    present[i] = compaction_has(&v, hashes[i]));
}

static bly_status compaction_add_many(void *image, const uint64_t *hashes,
                                      size_t n, size_t *done)
{
    compaction_view v = compaction_look(image);
    *done = n;
    COMPACTION_ROLL(v, hashes, n, platform_prefetch_write,
        if (compaction_put(&v, hashes[i]) == BLY_EFULL) {
            *done = i;
            return compaction_full();
        });
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

/* Signatures are distinguished by their low bits, long ones not completely.
 * Their probabilities are summed by class, because in a nearly full table some
 * are seen more often than the mean, and the rate is not proportional. */
enum { COMPACTION_TOLD_BITS = 12, COMPACTION_TOLD = 1 << COMPACTION_TOLD_BITS,
       COMPACTION_CLASS_BITS = 10,
       COMPACTION_CLASSES = 1 << COMPACTION_CLASS_BITS };

typedef struct {
    double   all;                               /* entries of all lines      */
    double   passed;                            /* chances of a signature
                                                   that is in no line        */
    double   *seen;                             /* of COMPACTION_CLASSES: the
                                                   chances of the others     */
    double   *less;                             /* than `passed`             */
    uint32_t entries;                           /* of one line               */
    uint16_t signature[COMPACTION_LINE_BITS];
    uint16_t *alike;                            /* of COMPACTION_TOLD, 0
                                                   between lines             */
} compaction_sight;

static void compaction_read(compaction_sight *sight, const compaction_view *v,
                            const uint8_t *line)
{
    sight->entries = 0;
    for (uint32_t i = 0; i < v->slots; i++) {
        uint32_t bit = i * v->bits;
        uint32_t byte = bit >> 3 < COMPACTION_LINE_BYTES - 8
                      ? bit >> 3 : COMPACTION_LINE_BYTES - 8;
        uint64_t there = image_u64(line, byte) >> (bit - 8 * byte) & v->mask;
        if (there == 0)
            continue;
        uint16_t low = (uint16_t)(there & (COMPACTION_TOLD - 1));
        sight->signature[sight->entries++] = low;
        sight->alike[low]++;
    }
    sight->all += sight->entries;
}

/* Adds the probabilities of a key in the line that was read: (1) for each
 * signature. Signatures too long to be distinguished count as different. */
static void compaction_see(compaction_sight *sight, const compaction_view *v)
{
    double seen = 0, passed = 0, none;
    uint32_t last = 0;
    compaction_walk(v->slots, sight->entries, 0, &seen, &none);
    sight->passed += none;
    for (uint32_t i = 0; i < sight->entries; i++) {
        uint32_t low = sight->signature[i], x = sight->alike[low];
        sight->alike[low] = 0;
        if (v->bits > COMPACTION_TOLD_BITS)
            x = 1;
        if (x != last && x > 0)
            compaction_walk(v->slots, sight->entries, x, &seen, &passed);
        last = x > 0 ? x : last;
        sight->seen[low % COMPACTION_CLASSES] += x > 0 ? seen : 0;
        sight->less[low % COMPACTION_CLASSES] += x > 0 ? none - passed : 0;
    }
}

/* (2), with the chances of each class for itself. */
static double compaction_rate_seen(const compaction_sight *sight,
                                   const compaction_view *v)
{
    uint32_t more = v->bits > COMPACTION_CLASS_BITS
                  ? v->bits - COMPACTION_CLASS_BITS : 0;
    double each = ldexp(1, (int)more), lines = (double)v->lines, rate = 0;
    for (uint32_t i = more == 0; i < COMPACTION_CLASSES && i <= v->mask; i++) {
        double passed = (sight->passed - sight->less[i] / each) / lines;
        rate += sight->seen[i] / lines * compaction_tries(passed);
    }
    return fmin(1, rate / (double)v->mask);
}

static double compaction_load(const compaction_line *line,
                              const compaction_loads *loads)
{
    double load = 0;
    for (uint32_t j = 0; j <= line->slots; j++)
        load += loads->p[j] * j;
    return load;
}

/* Keys for each line that leave it with so many entries in the mean: those that
 * are there, and those taken for seen. */
PLATFORM_APART static double compaction_keys_for(const compaction_line *line,
                                                 double lines, double load)
{
    compaction_loads loads = { .p = { 1 } };
    double step = fmax(1 / lines, 0.05);
    if (load > line->slots - 0.5)
        return INFINITY;
    while (step > 1e-6 && loads.keys < 100.0 * COMPACTION_LINE_BITS) {
        compaction_loads next = loads;
        if (step * lines <= 1)
            compaction_move(&next, &loads, &loads, line, step);
        else
            compaction_flow(&next, line, step);
        if (compaction_load(line, &next) > load)
            step /= 2;
        else
            loads = next;
    }
    return loads.keys;
}

/* All lines. This and the two below each have a table of 8 KiB: in one frame
 * they would be too much for a small stack. */
PLATFORM_APART static void compaction_see_lines(compaction_sight *sight,
                                                const compaction_view *v)
{
    uint16_t alike[COMPACTION_TOLD] = { 0 };
    sight->alike = alike;
    TASK_EACH(i, v->lines) {
        compaction_read(sight, v, v->payload + i * COMPACTION_LINE_BYTES);
        compaction_see(sight, v);
    }
    sight->alike = NULL;
}

PLATFORM_APART static double compaction_see_less(compaction_sight *sight,
                                                 const compaction_view *v)
{
    double less[COMPACTION_CLASSES] = { 0 };
    sight->less = less;
    compaction_see_lines(sight, v);
    double rate = compaction_rate_seen(sight, v);
    sight->less = NULL;
    return rate;
}

/* The rate, and the entries of all lines. */
PLATFORM_APART static double compaction_see_rate(double *all,
                                                 const compaction_view *v)
{
    double seen[COMPACTION_CLASSES] = { 0 };
    compaction_sight sight = { .seen = seen };
    double rate = compaction_see_less(&sight, v);
    *all = sight.all;
    return rate;
}

/* The number of keys that share an entry has the deviation of rare events. On
 * average it is half the number of false positives among as many keys, which
 * counts where it is too small to be seen in the entries. */
static void compaction_stat(bly_info_t *out, const void *image)
{
    compaction_view v = compaction_look(image);
    compaction_line line;
    double lines = (double)v.lines, all;
    out->rate = compaction_see_rate(&all, &v);
    compaction_line_for(&line, v.bits);
    double keys = compaction_keys_for(&line, lines, all / lines);
    out->distinct = fmax(all, lines * keys);
    out->distinct_sd = sqrt(fmax(out->distinct - all,
                                  out->distinct * out->rate / 2));
    out->fill = all / (lines * v.slots);
    out->probes = 1;
}

const bly_kind bly_kind_compaction = {
    .name    = "compaction",
    .family  = "sets",
    .summary = "hash compaction: a table of short signatures, in cache lines",
    .version = COMPACTION_VERSION,
    .options = compaction_options,

    .plan  = compaction_plan,
    .check = compaction_check,
    .stat  = compaction_stat,

    .contains      = compaction_contains,
    .contains_many = compaction_contains_many,

    .add      = compaction_add,
    .add_many = compaction_add_many,
};
