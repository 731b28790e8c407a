/* peel.c - give every key a slot of its own, by peeling.
 */
#include "bodies/peel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "base/task.h"
#include "base/threads.h"

/* ---- Sizes ------------------------------------------------------------- */

enum {
    PEEL_SHARD = 1 << 20,               /* keys of a full shard              */
    PEEL_BINS = 4096,                   /* that keys are dealt out to        */
    PEEL_BINS_EACH = 32,                /* of one shard, at most             */
    PEEL_COUPLED = 2000,                /* fewer keys: the blocks are better */
    PEEL_ATTEMPTS = 256                 /* as many as a byte can tell apart  */
};

/* Slots that `keys` keys of one shard need, so that nine attempts of ten come
 * to an end (four of five below a hundred keys). Both formulas are fits to
 * trials of this very slot function; tests/kinds/ hold the sizes they give. */
static double peel_need_blocks(double keys, uint32_t arity)
{
    double threshold = arity == 3 ? 1.2220 : 1.2950;
    return threshold * keys + 1.5 * sqrt(keys) + 3;
}

static double peel_need_coupled(double keys, uint32_t arity)
{
    double threshold = arity == 3 ? 1.0894 : 1.0238;
    double excess = arity == 3 ? 0.0366 : 0.0424;
    return keys * (threshold + excess * pow(keys / 1e6, -0.315));
}

/* Segments of a coupled table, near n^(1/3). Each number is a multiple of the
 * one before, so that a table rounded up to whole segments never shrinks as
 * the keys become more. */
static uint32_t peel_segments(double keys)
{
    return keys < 5000 ? 24 : keys < 40000 ? 48 : keys < 250000 ? 96 : 192;
}

/* The keys of the largest of `shards` shards among which n are dealt. A shard's
 * number is nearly normal, of variance n / shards, and the largest of so many
 * normal numbers is about sqrt(2 ln shards) deviations above the mean. */
static double peel_largest(double n, double shards)
{
    return n / shards + sqrt(n / shards * 2 * log(shards));
}

static void peel_size(peel_shape *out, double keys, bool coupled)
{
    uint32_t segments = out->arity;
    double need = peel_need_blocks(keys, out->arity);
    double less = peel_need_coupled(keys, out->arity);
    if (coupled && keys >= PEEL_COUPLED && less < need) {
        segments = peel_segments(keys);
        need = less;
    }
    out->windows = segments - out->arity + 1;
    out->segment = (uint32_t)fmax(1, ceil(need / segments));
}

bool peel_plan(peel_shape *out, uint64_t n, uint32_t arity, bool coupled)
{
    assert(n >= 1 && (arity == 3 || arity == 4));
    uint64_t shards = (n - 1) / PEEL_SHARD + 1;
    peel_shape s = { .shards = shards, .arity = arity };
    if (shards > PEEL_SHARDS_MAX)
        return false;
    peel_size(&s, peel_largest((double)n, (double)shards), coupled);
    if (shards > 1) {
        /* No fewer slots than one shard less would take when all are full. */
        peel_shape less = { .shards = shards - 1, .arity = arity };
        double full = (double)(shards - 1) * PEEL_SHARD;
        peel_size(&less, peel_largest(full, (double)(shards - 1)), coupled);
        uint64_t all = (shards - 1) * peel_slots(&less);
        uint64_t row = shards * (s.windows + arity - 1);
        uint64_t length = (all + row - 1) / row;
        s.segment = s.segment < length ? (uint32_t)length : s.segment;
    }
    *out = s;
    return true;
}

/* Threads that have room to peel. */
static unsigned peel_parts(const peel_shape *shape)
{
    return shape->shards < PEEL_PARTS ? (unsigned)shape->shards : PEEL_PARTS;
}

/* Returns the memory of one peeling thread: a word for each slot, and the
 * order, with room for one more entry, which is written in vain. */
static uint64_t peel_room(const peel_shape *shape)
{
    return (peel_slots(shape) * 2 + 1 + 15) / 16 * 64;
}

/* Bins of one shard: neighbours in a bin have their slots near each other, so
 * that both are in the cache while a shard is peeled. As many as can be dealt
 * to at a time without losing their last lines from the second-level cache. */
static uint64_t peel_bins(const peel_shape *shape)
{
    uint64_t bins = PEEL_BINS / shape->shards;
    return bins < 1 ? 1 : bins > PEEL_BINS_EACH ? PEEL_BINS_EACH : bins;
}

/* Where each part's share of each bin begins. */
static uint64_t peel_index_bytes(const peel_shape *shape)
{
    return (shape->shards * peel_bins(shape) * PEEL_PARTS + 7) / 8 * 64;
}

bool peel_scratch(uint64_t *out, const peel_shape *shape, uint64_t n)
{
    uint64_t bytes;
    bool fits = sizes_mul(&bytes, n, 8) && sizes_round_up(&bytes, bytes, 64)
             && sizes_add(&bytes, bytes, peel_index_bytes(shape))
             && sizes_add(&bytes, bytes, peel_parts(shape) * peel_room(shape));
    if (fits)
        *out = bytes;
    return fits;
}

/* ---- One shard --------------------------------------------------------- */

/* A slot's word: the number of its keys in the high bits, and the XOR of their
 * places in the low ones. With one key left it names that key. */
enum { PEEL_PLACE_BITS = 22 };

#define PEEL_ONE    (UINT32_C(1) << PEEL_PLACE_BITS)
#define PEEL_PLACE  (PEEL_ONE - 1)

typedef struct {
    const peel_shape *shape;
    uint64_t *states;
    size_t    n;
    uint32_t *words;                    /* one a slot                        */
    uint32_t *order;                    /* one a slot, and one               */
} peel_table;

/* Count the keys of every slot; false if some slot has more than a word can
 * count. */
PLATFORM_INLINE bool peel_count(const peel_table *t, uint32_t arity,
                                uint64_t salt)
{
    const peel_shape shape = *t->shape;
    uint32_t *words = t->words;
    uint32_t over = 0;
    memset(words, 0, (size_t)peel_slots(&shape) * sizeof *words);
    TASK_SPAN(i, 0, t->n) {
        uint64_t at[PEEL_ARITY_MAX];
        peel_places(&shape, arity, t->states[i], salt, at);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++) {
            uint32_t word = words[at[j]] + PEEL_ONE;
            over |= word < PEEL_ONE;
            words[at[j]] = word ^ (uint32_t)i;
        }
    }
    return !over;
}

/* Take the key out that is alone in `slot`: its entry for the order. The slots
 * in which it leaves one key alone are queued at *last. */
PLATFORM_INLINE uint32_t peel_take(const peel_table *t, uint32_t arity,
                                   uint64_t salt, uint32_t slot, size_t *last)
{
    const peel_shape shape = *t->shape;
    uint32_t place = t->words[slot] & PEEL_PLACE, which = 0;
    uint64_t at[PEEL_ARITY_MAX];
    peel_places(&shape, arity, t->states[place], salt, at);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        uint32_t word = (t->words[at[j]] - PEEL_ONE) ^ place;
        t->words[at[j]] = word;
        t->order[*last] = (uint32_t)at[j];
        *last += word >> PEEL_PLACE_BITS == 1;
        which |= at[j] == slot ? j : 0;
    }
    return place << 2 | which;
}

/* Slots looked through for single keys before these are followed to the end:
 * so many that the queue is rarely short, and so few that what they lead to is
 * still in the second-level cache. */
enum { PEEL_STEP = 4096 };

/* How far ahead in the queue a key's state is prefetched. */
enum { PEEL_AHEAD = 16 };

/* Prefetches the words of slots from..to that exist, line by line. Keys that
 * begin before them will soon be taken out of them. */
PLATFORM_INLINE void peel_fetch(const peel_table *t, size_t from, size_t to)
{
    size_t slots = (size_t)peel_slots(t->shape);
    for (size_t slot = from; slot < to && slot < slots; slot += 16)
        platform_prefetch_write(t->words + slot);
}

/* Prefetches the state of the key that is alone in `slot`, if it still is. */
PLATFORM_INLINE void peel_prefetch(const peel_table *t, uint32_t slot)
{
    platform_prefetch(t->states + (t->words[slot] & PEEL_PLACE));
}

/* Peel; how many keys came off. Each slot is queued once at most, when it comes
 * down to one key; the order, which grows more slowly than the queue is read,
 * takes the queue's place in the same array. */
PLATFORM_INLINE size_t peel_off(const peel_table *t, uint32_t arity,
                                uint64_t salt)
{
    size_t slots = (size_t)peel_slots(t->shape), done = 0, next = 0, last = 0;
    size_t reach = (size_t)arity * t->shape->segment;
    for (size_t from = 0; from < slots && !task_step(0); from += PEEL_STEP) {
        size_t to = slots - from < PEEL_STEP ? slots : from + PEEL_STEP;
        peel_fetch(t, from + reach, to + reach);
        for (size_t slot = from; slot < to; slot++) {
            t->order[last] = (uint32_t)slot;
            last += t->words[slot] >> PEEL_PLACE_BITS == 1;
        }
        while (next < last) {
            uint32_t slot = t->order[next++];
            if (next + PEEL_AHEAD < last)
                peel_prefetch(t, t->order[next + PEEL_AHEAD]);
            if (t->words[slot] >> PEEL_PLACE_BITS == 1)
                t->order[done++] = peel_take(t, arity, salt, slot, &last);
        }
    }
    return done;
}

static bool peel_try(const peel_table *t, uint64_t salt)
{
    if (t->shape->arity == 3)
        return peel_count(t, 3, salt) && peel_off(t, 3, salt) == t->n;
    return peel_count(t, 4, salt) && peel_off(t, 4, salt) == t->n;
}

/* ---- Repeats ----------------------------------------------------------- */

/* Probes of the table below that a key may take on average: far more than it
 * does where hashes are random. */
enum { PEEL_PROBES = 64 };

/* Leave one of each state, the first; how many are left, at most the slots
 * of the shard and one, since more could not be peeled. The thread's room, a
 * word and a place of the order for each slot, is a hash table of places. */
static size_t peel_unique(const peel_table *t)
{
    size_t slots = (size_t)peel_slots(t->shape), size = 2 * slots + 1;
    uint64_t probes = (uint64_t)PEEL_PROBES * t->n + size;
    uint64_t *states = t->states;
    uint32_t *table = t->words;
    size_t left = 0;
    memset(table, 0, size * sizeof *table);
    for (size_t i = 0; i < t->n && left <= slots; i++) {
        uint64_t state = states[i];
        if (i % TASK_KEYS == 0 && task_step(0))
            break;
        size_t at = (size_t)platform_mul_high(state * PEEL_A, size);
        while (table[at] != 0 && states[table[at] - 1] != state
               && probes-- > 0)
            at = at + 1 < size ? at + 1 : 0;
        if (probes == UINT64_MAX)
            return slots + 1;
        if (table[at] == 0) {
            states[left++] = state;
            table[at] = (uint32_t)left;
        }
    }
    return left;
}

/* ---- All shards -------------------------------------------------------- */

/* Shares of a build that counting and dealing the keys take. */
static const double PEEL_COUNTING = 0.1, PEEL_DEALING = 0.1;

typedef struct {
    peel_work  *work;
    peel_shape  shape;
    unsigned    parts;
    uint64_t   *states;                 /* of all keys, shard by shard       */
    uint64_t    bins;                   /* of all shards                     */
    uint64_t   *index;                  /* [bins][parts]: where each part's
                                           states begin, then, when they are
                                           there, end                        */
    uint8_t    *room;                   /* of the first thread               */
    uint64_t    distinct[PEEL_PARTS];
    bool        failed[PEEL_PARTS];
} peel_job;

/* The hashes that a part deals out. */
static void peel_share(const peel_job *job, unsigned part, size_t *from,
                       size_t *to)
{
    size_t n = job->work->n, each = n / job->parts + 1;
    *from = part * each < n ? part * each : n;
    *to = n - *from < each ? n : *from + each;
}

/* The shard is bins / shards times less, and so is its number. */
PLATFORM_INLINE uint64_t peel_bin(const peel_job *job, uint64_t state)
{
    return (state >> 32) * job->bins >> 32;
}

static void peel_count_part(void *context, unsigned part, unsigned parts)
{
    const peel_job *job = context;
    const uint64_t *hashes = job->work->hashes;
    uint64_t *index = job->index + part;
    size_t from, to;
    peel_share(job, part, &from, &to);
    for (uint64_t bin = 0; bin < job->bins; bin++)
        index[bin * parts] = 0;
    TASK_SPAN(i, from, to)
        index[peel_bin(job, hash_mix(hashes[i])) * parts]++;
}

static void peel_deal_part(void *context, unsigned part, unsigned parts)
{
    const peel_job *job = context;
    const uint64_t *hashes = job->work->hashes;
    uint64_t *index = job->index + part, *states = job->states;
    size_t from, to;
    peel_share(job, part, &from, &to);
    TASK_SPAN(i, from, to) {
        uint64_t state = hash_mix(hashes[i]);
        states[index[peel_bin(job, state) * parts]++] = state;
    }
}

/* Deal the states out to their bins: a counting sort. */
static void peel_deal(peel_job *job)
{
    uint64_t total = 0, rows = job->bins * job->parts;
    task_phase(PEEL_COUNTING, job->work->n);
    threads_run(peel_count_part, job, job->parts);
    task_phase(PEEL_DEALING, job->work->n);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t count = job->index[i];
        job->index[i] = total;
        total += count;
    }
    threads_run(peel_deal_part, job, job->parts);
}

/* Peel a shard with one seed after another. Repeats stop every attempt: the
 * first that fails has them looked for, and is made again if there were any,
 * so that the seed is that of the different keys alone. */
static bool peel_shard_order(peel_table *t, uint8_t *seed)
{
    bool unique = false;
    for (unsigned attempt = 0; attempt < PEEL_ATTEMPTS && !task_cancelled();
         attempt++) {
        uint64_t slots = peel_slots(t->shape);
        *seed = (uint8_t)attempt;
        if (t->n <= slots && t->n <= PEEL_PLACE
            && peel_try(t, peel_salt(*seed)))
            return true;
        if (!unique) {
            size_t left = peel_unique(t);
            attempt -= left < t->n;
            t->n = left;
            unique = true;
        }
        if (t->n > slots)
            return false;
    }
    return false;
}

static void peel_shards_part(void *context, unsigned part, unsigned parts)
{
    peel_job *job = context;
    peel_work *work = job->work;
    uint64_t slots = peel_slots(&job->shape);
    uint64_t row = job->bins / job->shape.shards * job->parts;
    uint32_t *words = (uint32_t *)(void *)(job->room
                                           + part * peel_room(&job->shape));
    for (uint64_t shard = part; shard < job->shape.shards; shard += parts) {
        uint64_t from = shard > 0 ? job->index[shard * row - 1] : 0;
        uint64_t to = job->index[(shard + 1) * row - 1];
        peel_table t = { .shape = &job->shape, .states = job->states + from,
                         .n = (size_t)(to - from), .words = words,
                         .order = words + slots };
        uint8_t *seed = &work->seeds[shard];
        if (!peel_shard_order(&t, seed)) {
            job->failed[part] = true;
            return;
        }
        job->distinct[part] += t.n;
        /* The words: nothing is left in them when all keys are off. */
        const peel_order order = { shard, peel_salt(*seed), t.states, t.order,
                                   t.n, t.words };
        if (t.n > 0)
            work->fill(work->context, &order);
    }
}

bool peel_build(peel_work *work)
{
    const peel_shape *shape = work->shape;
    unsigned most = peel_parts(shape);
    uint8_t *scratch = work->scratch;
    peel_job job = { .work = work, .shape = *shape, .parts = PEEL_PARTS,
                     .bins = shape->shards * peel_bins(shape) };
    if (job.parts > work->threads)
        job.parts = work->threads;
    if (work->n < PEEL_ALONE || job.parts < 1)
        job.parts = 1;

    uint64_t states = ((uint64_t)work->n + 7) / 8 * 64;
    job.states = (uint64_t *)(void *)scratch;
    job.index = (uint64_t *)(void *)(scratch + states);
    job.room = scratch + states + peel_index_bytes(shape);
    peel_deal(&job);
    if (task_cancelled())
        return false;
    task_phase(1 - PEEL_COUNTING - PEEL_DEALING, 2 * (uint64_t)work->n);
    threads_run(peel_shards_part, &job, job.parts < most ? job.parts : most);

    bool failed = false;
    work->distinct = 0;
    for (unsigned part = 0; part < PEEL_PARTS; part++) {
        failed |= job.failed[part];
        work->distinct += job.distinct[part];
    }
    return !failed;
}
