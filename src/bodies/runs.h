/* runs.h - rows of sorted fingerprints, each near where it would like to be.
 *
 * The table of kind `quotient`, and of each segment of kind `expandable`. Its
 * layout is in the essay of `quotient` (THE PICTURE, IMAGE, COUNTS). The verbs
 * are in the two kinds, and here is what they are made of: where the run of a
 * quotient is, what it holds, slots that move up and down to make room, and a
 * walk through all fingerprints.
 *
 * The functions trust the geometry that the kind's check has accepted, and
 * nothing else: whatever the payload holds, slots that they return are at most
 * `space`, items lie in the run they are read from, and a walk ends.
 */
#ifndef BLY_BODIES_RUNS_H
#define BLY_BODIES_RUNS_H

#include "base/cpu.h"
#include "base/platform.h"
#include "bits/bits.h"
#include "image/image.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum {
    RUNS_SLOTS = 0, RUNS_R = 1, RUNS_BLOCKS = 2, RUNS_ZERO = 3,
    RUNS_R_MAX = 56,                    /* seven bits more fit 64            */
    RUNS_BLOCK = 64,                    /* slots                             */
    RUNS_OCCUPIED = 0, RUNS_ENDS = 8, RUNS_SPILL = 16,
    RUNS_REMAINDERS = 17,               /* where they are in a block         */
    RUNS_SPILL_MORE = 255,
    RUNS_COPIES = 3,                    /* up to so many are written out     */
    RUNS_PLAIN = 4,                     /* among so few slots are no digits  */
    RUNS_FAR = 36,                      /* from here on runs may end in the
                                           next block                        */
    RUNS_BEHIND = 24,                   /* slots behind its home where a run
                                           most likely is                    */
    RUNS_USED = 8                       /* bytes of the number of slots used */
};

/* ---- The image, read once ---------------------------------------------- */

/* Masks of the lowest bit of each remainder of r bits in 57 bits, which a load
 * of eight bytes has at any bit. */
extern const uint64_t runs_fields[RUNS_R_MAX + 1];

typedef struct {
    uint8_t *blocks;
    uint64_t slots, range;              /* s, and s 2^r                      */
    uint64_t count, space;              /* blocks, and the slots in them     */
    uint64_t stride;                    /* bytes of a block                  */
    uint64_t fields, tops;              /* lowest and highest bit of each    */
    uint32_t r;
} runs_view;

PLATFORM_INLINE runs_view runs_look(const void *image)
{
    uint64_t slots = image_geometry(image, RUNS_SLOTS);
    uint32_t r = (uint32_t)image_geometry(image, RUNS_R);
    uint64_t count = image_geometry(image, RUNS_BLOCKS);
    return (runs_view){
        .blocks = image_payload_mut((void *)(uintptr_t)image),
        .slots = slots, .range = slots << r,
        .count = count, .space = count * RUNS_BLOCK,
        .stride = RUNS_REMAINDERS + 8 * (uint64_t)r,
        .fields = runs_fields[r], .tops = runs_fields[r] << (r - 1),
        .r = r,
    };
}

PLATFORM_INLINE uint8_t *runs_block(const runs_view *v, uint64_t block)
{
    return v->blocks + block * v->stride;
}

/* The number of slots in use, behind the last block. */
static inline uint64_t runs_used(const runs_view *v)
{
    return image_u64(runs_block(v, v->count), 0);
}

static inline void runs_set_used(const runs_view *v, uint64_t used)
{
    image_set_u64(runs_block(v, v->count), 0, used);
}

/* The bits below bit i, i < 64. */
PLATFORM_INLINE uint64_t runs_below(uint64_t i)
{
    return (UINT64_C(1) << i) - 1;
}

PLATFORM_INLINE uint64_t runs_low(const runs_view *v)
{
    return (UINT64_C(1) << v->r) - 1;
}

/* The remainder of a slot. The eight bytes read may reach beyond the block:
 * into the next one or the number behind the last. */
PLATFORM_INLINE uint64_t runs_get(const runs_view *v, uint64_t slot)
{
    uint64_t bit = slot % RUNS_BLOCK * v->r;
    const uint8_t *block = runs_block(v, slot / RUNS_BLOCK);
    return image_u64(block, RUNS_REMAINDERS + (bit >> 3)) >> (bit & 7)
         & runs_low(v);
}

PLATFORM_INLINE void runs_set(const runs_view *v, uint64_t slot,
                              uint64_t remainder)
{
    uint64_t bit = slot % RUNS_BLOCK * v->r;
    uint8_t *block = runs_block(v, slot / RUNS_BLOCK);
    uint64_t at = RUNS_REMAINDERS + (bit >> 3);
    uint64_t word = image_u64(block, at);
    word &= ~(runs_low(v) << (bit & 7));
    image_set_u64(block, at, word | remainder << (bit & 7));
}

/* Set or clear bit `slot` of the occupied bits or of the run ends. */
PLATFORM_INLINE void runs_mark(const runs_view *v, size_t which,
                               uint64_t slot, bool set)
{
    uint8_t *block = runs_block(v, slot / RUNS_BLOCK);
    uint64_t bit = UINT64_C(1) << slot % RUNS_BLOCK;
    uint64_t word = image_u64(block, which);
    image_set_u64(block, which, set ? word | bit : word & ~bit);
}

PLATFORM_INLINE bool runs_marked(const runs_view *v, size_t which,
                                 uint64_t slot)
{
    return image_u64(runs_block(v, slot / RUNS_BLOCK), which)
        >> slot % RUNS_BLOCK & 1;
}

/* ---- Where runs are ---------------------------------------------------- */

/* The k-th set bit of the word alone; 0 if k is 0 or there are fewer. First the
 * byte, by the sums of the bytes up to each; then the bit. */
static inline uint64_t runs_select(uint64_t word, uint64_t k)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;
    uint64_t sums = word - (word >> 1 & 0x5555555555555555);
    sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
    sums = ((sums + (sums >> 4)) & 0x0F0F0F0F0F0F0F0F) * ones;
    uint64_t reached = (((sums | tops) - k * ones) & tops) >> 7;
    if (k - 1 >= sums >> 56)
        return 0;
    uint64_t shift = 64 - 8 * (reached * ones >> 56);
    k -= sums << 8 >> shift & 0xFF;
    uint64_t rest = word >> shift;
    while (--k > 0)
        rest &= rest - 1;
    return (rest & (~rest + 1)) << shift;
}

/* Two set bits of a word, each alone or 0. */
typedef struct {
    uint64_t last, end;
} runs_pair;

#if CPU_X86
CPU_TARGET_AVX2 static inline runs_pair
runs_pick_bmi2(uint64_t word, uint64_t k)
{
    uint64_t one = UINT64_C(1) << ((k - 1) & 63);
    return (runs_pair){ _pdep_u64(one >> 1, word), _pdep_u64(one, word) };
}
#endif

/* The set bits k - 1 and k of the word, 1 <= k <= 64. `bmi` is a constant in
 * every body below, true in those compiled for processors with BMI2. */
PLATFORM_INLINE runs_pair runs_pick(uint64_t word, uint64_t k, bool bmi)
{
#if CPU_X86
    if (bmi)
        return runs_pick_bmi2(word, k);
#endif
    (void)bmi;
    return (runs_pair){ runs_select(word, k - 1), runs_select(word, k) };
}

/* The number of a bit that stands alone. */
PLATFORM_INLINE uint64_t runs_number(uint64_t bit)
{
    return platform_popcount(bit - 1);
}

/* The slot of the k-th run end at or behind slot `from`; `space` if there is
 * none. */
PLATFORM_INLINE uint64_t runs_end_by(const runs_view *v, uint64_t from,
                                     uint64_t k, bool bmi)
{
    uint64_t block = from / RUNS_BLOCK;
    uint64_t skip = runs_below(from % RUNS_BLOCK);
    for (; block < v->count; block++) {
        uint64_t ends = image_u64(runs_block(v, block), RUNS_ENDS) & ~skip;
        uint64_t some = platform_popcount(ends);
        if (k <= some)
            return block * RUNS_BLOCK
                 + runs_number(runs_pick(ends, k, bmi).end);
        k -= some;
        skip = 0;
    }
    return v->space;
}

/* Returns the end of the runs of the quotients before this block: the slot
 * after the last of them, or the block's first. If the block's byte cannot hold
 * it, counts from the last earlier block whose byte can. */
uint64_t runs_begin(const runs_view *v, uint64_t block);

/* The run of a quotient: slots start … stop - 1. Where there is none it would
 * start at `start`, and stop is the same. */
typedef struct {
    uint64_t start, stop;
    bool     occupied;
} runs_run;

PLATFORM_INLINE runs_run runs_find_by(const runs_view *v,
                                      uint64_t quotient, bool bmi)
{
    uint64_t block = quotient / RUNS_BLOCK, i = quotient % RUNS_BLOCK;
    const uint8_t *head = runs_block(v, block);
    uint64_t occupied = image_u64(head, RUNS_OCCUPIED);
    uint64_t before = platform_popcount(occupied & runs_below(i));
    uint64_t start = block * RUNS_BLOCK + head[RUNS_SPILL];
    if (head[RUNS_SPILL] == RUNS_SPILL_MORE)
        start = runs_begin(v, block);
    if (before > 0)
        start = runs_end_by(v, start, before, bmi) + 1;
    start = start > quotient ? start : quotient;
    if (start >= v->space)
        return (runs_run){ v->space, v->space, occupied >> i & 1 };
    runs_run run = { start, start, occupied >> i & 1 };
    if (run.occupied) {
        uint64_t end = runs_end_by(v, start, 1, bmi);
        run.stop = end < v->space ? end + 1 : end;
    }
    return run;
}

/* The first slot at or behind `from` where no run of a quotient before it is
 * still under way and, if `and_it`, none of its own begins: then it is free.
 * Wherever runs have begun and not ended, so many slots on are taken. */
PLATFORM_INLINE uint64_t runs_gap(const runs_view *v, uint64_t from,
                                  bool and_it)
{
    while (from < v->space) {
        uint64_t block = from / RUNS_BLOCK, i = from % RUNS_BLOCK;
        const uint8_t *head = runs_block(v, block);
        uint64_t spill = head[RUNS_SPILL];
        if (i < spill) {
            from += spill - i;
            continue;
        }
        uint64_t occupied = image_u64(head, RUNS_OCCUPIED);
        uint64_t ends = image_u64(head, RUNS_ENDS) & ~runs_below(spill);
        for (uint64_t open = 1; i < RUNS_BLOCK; i += open) {
            uint64_t upto = (UINT64_C(1) + and_it) << i;
            uint64_t begun = platform_popcount(occupied & (upto - 1));
            uint64_t ended = platform_popcount(ends & runs_below(i));
            if (begun <= ended)
                return block * RUNS_BLOCK + i;
            open = begun - ended;
        }
        from = block * RUNS_BLOCK + i;
    }
    return v->space;
}

/* ---- The contents of a run --------------------------------------------- */

/* A remainder of a run and how often it is there, in slots at … next - 1. */
typedef struct {
    uint64_t at, next, remainder, count;
} runs_item;

/* Slots that a count takes. */
PLATFORM_INLINE uint64_t runs_length(uint64_t count, uint32_t r)
{
    if (count <= RUNS_COPIES)
        return count;
    uint64_t digits = 0;
    for (uint64_t rest = count - RUNS_COPIES; rest > 0; rest >>= r)
        digits++;
    return RUNS_COPIES + 2 * digits;
}

/* Reads the item at a slot of a run that ends before `stop`. */
runs_item runs_read(const runs_view *v, uint64_t at, uint64_t stop);

/* Write the item into its slots. */
void runs_write(const runs_view *v, uint64_t at, uint64_t x, uint64_t count);

/* The item of remainder x, count 0 if it is not there: it would be at `at`. */
runs_item runs_seek(const runs_view *v, const runs_run *run, uint64_t x);

/* ---- Moving slots ------------------------------------------------------ */

/* Slots low … high-1 of a block one up, run ends too; slot `low` is left to be
 * written. */
PLATFORM_INLINE void runs_block_up(const runs_view *v, uint8_t *block,
                                   uint64_t low, uint64_t high)
{
    uint64_t from = low * v->r, to = (high + 1) * v->r;
    uint64_t first = from / 64, j = (to - 1) / 64;
    uint64_t keep = to % 64 != 0 ? ~runs_below(to % 64) : 0;
    uint64_t fixed = runs_below(from % 64);
    uint8_t *row = block + RUNS_REMAINDERS;
    uint64_t word = image_u64(row, 8 * j);
    for (; j > first; j--) {
        uint64_t lower = image_u64(row, 8 * (j - 1));
        uint64_t moved = word << v->r | lower >> (64 - v->r);
        image_set_u64(row, 8 * j, (moved & ~keep) | (word & keep));
        word = lower;
        keep = 0;
    }
    keep |= fixed;
    image_set_u64(row, 8 * j,
                  ((word & ~fixed) << v->r & ~keep) | (word & keep));

    uint64_t ends = image_u64(block, RUNS_ENDS);
    uint64_t span = (UINT64_C(2) << high) - (UINT64_C(1) << low);
    ends = (ends & ~span) | ((ends & span) << 1 & span);
    image_set_u64(block, RUNS_ENDS, ends);
}

/* Slot `from` of the remainders and run ends goes to slot `to`. */
PLATFORM_INLINE void runs_carry(const runs_view *v, uint64_t to, uint64_t from)
{
    runs_set(v, to, runs_get(v, from));
    runs_mark(v, RUNS_ENDS, to, runs_marked(v, RUNS_ENDS, from));
}

/* Inserts a slot into the run of a quotient: slots from `at` up to the gap move
 * up by one, and x goes to `at`. */
PLATFORM_INLINE void runs_insert(const runs_view *v, uint64_t quotient,
                                 uint64_t at, uint64_t gap, uint64_t x,
                                 bool end)
{
    uint64_t first = at / RUNS_BLOCK, block = gap / RUNS_BLOCK;
    for (uint64_t b = quotient / RUNS_BLOCK + 1; b <= block; b++) {
        uint8_t *spill = &runs_block(v, b)[RUNS_SPILL];
        *spill = (uint8_t)(*spill + (*spill < RUNS_SPILL_MORE));
    }
    for (uint64_t high = gap % RUNS_BLOCK; block > first; block--) {
        runs_block_up(v, runs_block(v, block), 0, high);
        runs_carry(v, block * RUNS_BLOCK, block * RUNS_BLOCK - 1);
        high = RUNS_BLOCK - 1;
        gap = block * RUNS_BLOCK - 1;
    }
    runs_block_up(v, runs_block(v, block), at % RUNS_BLOCK, gap % RUNS_BLOCK);
    runs_set(v, at, x);
    runs_mark(v, RUNS_ENDS, at, end);
}

/* Slots low+1 … high of a block one down, run ends too; slot `high` is left to
 * be written. */
PLATFORM_INLINE void runs_block_down(const runs_view *v,
                                     uint8_t *block, uint64_t low,
                                     uint64_t high)
{
    uint64_t from = low * v->r, to = (high + 1) * v->r;
    uint64_t j = from / 64, end = (to - 1) / 64;
    uint64_t last = to % 64 != 0 ? ~runs_below(to % 64) : 0;
    uint64_t keep = runs_below(from % 64);
    uint8_t *row = block + RUNS_REMAINDERS;
    uint64_t word = image_u64(row, 8 * j);
    for (; j < end; j++) {
        uint64_t upper = image_u64(row, 8 * (j + 1));
        uint64_t moved = word >> v->r | upper << (64 - v->r);
        image_set_u64(row, 8 * j, (moved & ~keep) | (word & keep));
        word = upper;
        keep = 0;
    }
    keep |= last;
    image_set_u64(row, 8 * j, (word >> v->r & ~keep) | (word & keep));

    uint64_t ends = image_u64(block, RUNS_ENDS);
    uint64_t span = (UINT64_C(2) << high) - (UINT64_C(1) << low);
    ends = (ends & ~span) | ((ends & span) >> 1 & span);
    image_set_u64(block, RUNS_ENDS, ends);
}

/* The spills of blocks from … to are one less, before anything is moved. */
void runs_spills_less_far(const runs_view *v, uint64_t from, uint64_t to);

/* A byte that says "255 and more" must be counted. */
PLATFORM_INLINE void runs_spills_less(const runs_view *v, uint64_t from,
                                      uint64_t to)
{
    for (; to >= from; to--) {
        uint8_t *spill = &runs_block(v, to)[RUNS_SPILL];
        if (*spill == RUNS_SPILL_MORE) {
            runs_spills_less_far(v, from, to);
            return;
        }
        *spill = (uint8_t)(*spill - (*spill > 0));
    }
}

/* The slot `at` of the run of a quotient goes, and those behind it that are
 * not at home come one down. The run takes all slots up to `stop`. */
PLATFORM_INLINE void runs_delete(const runs_view *v, uint64_t quotient,
                                 uint64_t at, uint64_t stop)
{
    uint64_t last = runs_gap(v, stop, false) - 1;
    uint64_t block = at / RUNS_BLOCK, end = last / RUNS_BLOCK;
    runs_spills_less(v, quotient / RUNS_BLOCK + 1, end);
    for (uint64_t low = at % RUNS_BLOCK; block < end; block++, low = 0) {
        runs_block_down(v, runs_block(v, block), low, RUNS_BLOCK - 1);
        uint64_t next = (block + 1) * RUNS_BLOCK;
        runs_carry(v, next - 1, next);
        at = next;
    }
    runs_block_down(v, runs_block(v, block), at % RUNS_BLOCK,
                    last % RUNS_BLOCK);
    runs_set(v, last, 0);
    runs_mark(v, RUNS_ENDS, last, false);
}

/* ---- A run at once ----------------------------------------------------- */

/* The heads of a fingerprint's block and the next one. */
typedef struct {
    const uint8_t *block, *next;        /* next: or the same                 */
    uint64_t home;                      /* the quotient's place in the block */
    uint64_t occupied;
    uint64_t before;                    /* runs of lower quotients           */
    uint64_t spill;
    uint64_t ends;                      /* of 64 slots, from `spill` on      */
} runs_place;

/* Returns whether the run may be in the next block, as at most one in a hundred
 * of the lower quotients is. Only then its head is worth fetching. */
PLATFORM_INLINE uint64_t runs_near(const runs_view *v, uint64_t quotient)
{
    return (quotient % RUNS_BLOCK >= RUNS_FAR)
         & (quotient / RUNS_BLOCK + 1 < v->count);
}

PLATFORM_INLINE runs_place runs_at(const runs_view *v, uint64_t quotient)
{
    uint64_t home = quotient % RUNS_BLOCK, near = runs_near(v, quotient);
    const uint8_t *block = runs_block(v, quotient / RUNS_BLOCK);
    uint64_t spill = block[RUNS_SPILL];
    uint64_t occupied = image_u64(block, RUNS_OCCUPIED);
    const uint8_t *next = block + (v->stride & (0 - near));
    uint64_t later = image_u64(next, RUNS_ENDS) & (0 - near);
    uint64_t ends = image_u64(block, RUNS_ENDS) >> (spill & 63)
                  | later << 1 << (~spill & 63);
    return (runs_place){
        .block = block, .next = next, .home = home,
        .occupied = occupied, .spill = spill,
        .before = platform_popcount(occupied & runs_below(home)),
        .ends = ends & (0 - (uint64_t)(spill < RUNS_BLOCK)),
    };
}

/* The run of a quotient, read at once. Whether there is one at all is not a
 * branch, because it would be unpredictable. Without a run, `slot` is where one
 * would start only if it is `wanted`: most likely in another cache line. */
typedef struct {
    uint64_t slot;                      /* where it starts, from the block's
                                           first slot on                     */
    uint64_t length;                    /* of a run, or any number           */
    uint64_t window;                    /* the remainders, then other bits   */
    uint64_t there;                     /* bit 0: there is a run             */
    uint64_t odd;                       /* 1: a run, to be read slowly       */
    uint64_t far;                       /* 1: or its start, without a run    */
} runs_window;

PLATFORM_INLINE runs_window runs_window_at(const runs_view *v,
                                           uint64_t quotient, bool wanted,
                                           bool bmi)
{
    runs_place p = runs_at(v, quotient);
    uint64_t there = p.occupied >> p.home;
    runs_pair pair = runs_pick(p.ends, p.before + (wanted | (there & 1)), bmi);
    uint64_t home = p.home > p.spill ? p.home - p.spill : 0;
    uint64_t start = UINT64_C(1) << (home & 63), next = pair.last << 1;
    start = start > next ? start : next;
    uint64_t length = platform_popcount((pair.end << 1) - start);
    uint64_t slot = p.spill + runs_number(start);
    uint64_t from = slot % RUNS_BLOCK * v->r;
    const uint8_t *row = slot < RUNS_BLOCK ? p.block : p.next;
    return (runs_window){
        .slot = slot, .length = length,
        .window = image_u64(row, RUNS_REMAINDERS + (from >> 3)) >> (from & 7),
        .there = there,
        .odd = (pair.end < start) | (length * v->r > 57)
             | (slot % RUNS_BLOCK + length > RUNS_BLOCK),
        .far = ((p.before > 0) & (next == 0)) | (p.spill >= RUNS_BLOCK),
    };
}

/* Returns the highest bit of each remainder of the run that equals x. */
PLATFORM_INLINE uint64_t runs_equal(const runs_view *v,
                                    const runs_window *run, uint64_t x)
{
    uint64_t off = run->window ^ x * v->fields, low = v->tops - v->fields;
    return ~(((off & low) + low) | off) & v->tops
         & runs_below(run->length * v->r & 63);
}

/* Returns the highest bit of each remainder of the run that is below x. */
PLATFORM_INLINE uint64_t runs_less(const runs_view *v,
                                   const runs_window *run, uint64_t x)
{
    uint64_t fields = x * v->fields, window = run->window;
    uint64_t low = (window | v->tops) - (fields & ~v->tops);
    return ~((window & ~fields) | (~(window ^ fields) & low)) & v->tops
         & runs_below(run->length * v->r & 63);
}

/* Prefetches the lines of runs_at(), and the lines where the run most likely
 * is: from its home to RUNS_BEHIND slots on. A second prefetch of a line costs
 * little; one wait for memory costs more than all of them. */
PLATFORM_INLINE void runs_prefetch(const runs_view *v, uint64_t quotient)
{
    const uint8_t *block = runs_block(v, quotient / RUNS_BLOCK);
    const uint8_t *home = block + RUNS_REMAINDERS
                        + (quotient % RUNS_BLOCK * v->r >> 3);
    platform_prefetch(block);
    platform_prefetch(block + RUNS_SPILL);
    platform_prefetch(home);
    platform_prefetch(home + (RUNS_BEHIND * v->r >> 3));
    platform_prefetch(block + (v->stride & (0 - runs_near(v, quotient)))
                      + RUNS_ENDS + 7);
}

/* ---- Counts up and down ------------------------------------------------ */

/* Finds the run of a fingerprint and its item there. A run of few slots, which
 * holds no digits, is read at once. */
PLATFORM_INLINE runs_item runs_seek_by(const runs_view *v, uint64_t f,
                                       runs_run *run, bool bmi)
{
    uint64_t quotient = f >> v->r, x = f & runs_low(v);
    runs_window read = runs_window_at(v, quotient, true, bmi);
    bool there = read.there & 1;
    read.length = there ? read.length : 0;
    if ((there ? read.odd : read.far) | (read.length > RUNS_PLAIN)) {
        *run = runs_find_by(v, quotient, bmi);
        return runs_seek(v, run, x);
    }
    uint64_t start = quotient / RUNS_BLOCK * RUNS_BLOCK + read.slot;
    uint64_t at = start + platform_popcount(runs_less(v, &read, x));
    uint64_t count = platform_popcount(runs_equal(v, &read, x));
    *run = (runs_run){ start, start + read.length, there };
    return (runs_item){ at, at + count, x, count };
}

/* Finds the first of `more` free slots at or behind `at`, if at most `limit`
 * slots are in use then; false: none. */
PLATFORM_INLINE bool runs_room(const runs_view *v, uint64_t at, uint64_t more,
                               uint64_t limit, uint64_t *gap)
{
    uint64_t used = runs_used(v);
    if (used > limit || more > limit - used)
        return false;
    *gap = at = runs_gap(v, at, true);
    while (at < v->space && --more > 0)
        at = runs_gap(v, at + 1, true);
    return at < v->space;
}

/* Inserts the first slot of a remainder that was not in its run. */
PLATFORM_INLINE void runs_insert_new(const runs_view *v, uint64_t quotient,
                                     const runs_run *run, uint64_t at,
                                     uint64_t gap, uint64_t x)
{
    bool end = at == run->stop;
    if (!run->occupied)
        runs_mark(v, RUNS_OCCUPIED, quotient, true);
    else if (end)
        runs_mark(v, RUNS_ENDS, at - 1, false);
    runs_insert(v, quotient, at, gap, x, end);
}

/* Adds `count` to an item of a run, if at most `limit` slots are in use then.
 * False: nothing changed. */
PLATFORM_INLINE bool runs_raise(const runs_view *v, uint64_t quotient,
                                const runs_run *run, const runs_item *item,
                                uint64_t count, uint64_t limit)
{
    uint64_t x = item->remainder, gap = 0, old = item->next - item->at;
    if (count > UINT64_MAX - item->count)
        return false;
    uint64_t now = runs_length(item->count + count, v->r);
    uint64_t more = now > old ? now - old : 0;
    if (now > v->space - item->at
        || (more > 0 && !runs_room(v, run->stop, more, limit, &gap)))
        return false;

    runs_set_used(v, runs_used(v) + more);
    if (item->count == 0) {
        runs_insert_new(v, quotient, run, item->at, gap, x);
        more--;
    }
    for (; more > 0; more--) {
        gap = runs_gap(v, item->at, true);
        if (gap < v->space)             /* always in what a filter wrote */
            runs_insert(v, quotient, item->at, gap, x, false);
    }
    if (item->count + count > 1)
        runs_write(v, item->at, x, item->count + count);
    return true;
}

/* Deletes the only slot of a remainder. */
PLATFORM_INLINE void runs_delete_last(const runs_view *v, uint64_t quotient,
                                      const runs_run *run, uint64_t at)
{
    runs_delete(v, quotient, at, run->stop);
    if (run->stop - run->start == 1)
        runs_mark(v, RUNS_OCCUPIED, quotient, false);
    else if (at == run->stop - 1)
        runs_mark(v, RUNS_ENDS, at - 1, true);
}

/* Takes 1 from an item of a run. False: it is not there. */
PLATFORM_INLINE bool runs_lower(const runs_view *v, uint64_t quotient,
                                const runs_run *run, const runs_item *item)
{
    if (!run->occupied || item->count == 0)
        return false;
    uint64_t old = item->next - item->at;
    uint64_t now = item->count == 1 ? 0 : runs_length(item->count - 1, v->r);
    if (now > old)                      /* never in what a filter wrote */
        return false;

    uint64_t used = runs_used(v);
    runs_set_used(v, used > old - now ? used - (old - now) : 0);
    if (now == 0)
        runs_delete_last(v, quotient, run, item->at);
    for (; now > 0 && old > now; old--)
        runs_delete(v, quotient, item->at, item->at + 1);
    if (now > 0)
        runs_write(v, item->at, item->remainder, item->count - 1);
    return true;
}

/* ---- All fingerprints in rising order ---------------------------------- */

/* The state of a walk through a filter, with its present fingerprint. */
typedef struct {
    const runs_view *view;
    uint64_t quotient;                  /* the next to look at               */
    uint64_t at, stop;                  /* what is left of the run           */
    uint64_t f, count;
    uint64_t visited;                   /* runs so far, for steps of a task  */
    bool     sound;                     /* as a filter writes it, so far     */
} runs_cursor;

static inline runs_cursor runs_first(const runs_view *v)
{
    return (runs_cursor){ .view = v, .sound = true };
}

/* The next fingerprint; false at the end. Whatever the payload holds, they
 * rise. */
bool runs_next(runs_cursor *c);

/* The places that fingerprints in rising order will have in a filter, before
 * they are written. */
typedef struct {
    uint64_t at, used;
} runs_fit;

/* Adds one fingerprint to the fit. */
PLATFORM_INLINE void runs_fit_one(runs_fit *fit, uint64_t f, uint64_t count,
                                  uint32_t r)
{
    uint64_t length = runs_length(count, r);
    fit->at = (fit->at > f >> r ? fit->at : f >> r) + length;
    fit->used += length;
}

/* Returns the spill of a block, if the runs before it end at `at`. */
PLATFORM_INLINE uint8_t runs_spill(uint64_t block, uint64_t at)
{
    uint64_t home = block * RUNS_BLOCK;
    uint64_t spill = at > home ? at - home : 0;
    return (uint8_t)(spill < RUNS_SPILL_MORE ? spill : RUNS_SPILL_MORE);
}

#endif /* BLY_BODIES_RUNS_H */
