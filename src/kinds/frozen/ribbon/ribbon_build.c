/* ribbon_build.c - solves the equations of kind `ribbon`.
 *
 * Keys are divided by shard and sorted by start. Each thread solves four shards
 * at a time by elimination. Bumped keys make the next layer. CONSTRUCTION in
 * ribbon.c explains how and why.
 */
#include "kinds/frozen/ribbon/ribbon.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/task.h"
#include "base/threads.h"
#include "bits/sort.h"

/* ---- Sizes ------------------------------------------------------------- */

uint32_t ribbon_buckets(uint64_t n)
{
    uint64_t slots = n - n / 20;
    uint64_t shards = (slots + RIBBON_SLOTS - 1) / RIBBON_SLOTS;
    return (uint32_t)((slots - shards * RIBBON_BAND) / RIBBON_BUCKET);
}

uint32_t ribbon_homogeneous_buckets(uint64_t n, double bits)
{
    double few = 1.15 + 0.0166 * bits - 0.012 * log((double)n);
    double share = fmax(1.058 + 0.0076 * bits, fmin(1.1 + 0.008 * bits, few));
    return (uint32_t)ceil(share * (double)n / RIBBON_BUCKET);
}

bool ribbon_last_fit(ribbon_shape *g, uint64_t bytes)
{
    uint64_t tiles = bytes / (4 * g->bits);
    g->last = tiles < UINT32_MAX ? (uint32_t)tiles : 0;
    while (g->last > 2 && ribbon_last_bytes(g) > bytes)
        g->last--;
    return g->last > 2;
}

void ribbon_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                     const ribbon_shape *g)
{
    geometry[RIBBON_DISTINCT] = g->distinct | (uint64_t)g->share << 48;
    geometry[RIBBON_FIRST] = g->buckets[0] | (uint64_t)g->bits << 32
                           | (uint64_t)g->form << 40 | (uint64_t)g->seed << 48
                           | (uint64_t)g->last_seed << 56;
    geometry[RIBBON_MIDDLE] = g->buckets[1] | (uint64_t)g->buckets[2] << 32;
    geometry[RIBBON_END] = g->buckets[3] | (uint64_t)g->last << 32;
}

/* ---- The state of a build ---------------------------------------------- */

enum {
    RIBBON_LANES = 4,                   /* shards that a worker has in hand  */
    RIBBON_WORKERS = 16,                /* at most                           */
    RIBBON_PLACED = RIBBON_BUCKET + RIBBON_BAND,    /* rows of a bucket      */
    RIBBON_ROOM = 72 * 1024,            /* keys of a shard, sorted by starts */
    RIBBON_CROWD = 64                   /* keys of one start that are many   */
};

/* A key on its way to its row. */
typedef struct {
    uint64_t c;                         /* coefficients from `slot` on, not 0*/
    uint32_t slot;                      /* among the worker's rows           */
    uint32_t print;
} ribbon_key;

/* A shard whose keys are being placed, bucket after bucket, in each from the
 * last start to the first. */
typedef struct {
    uint64_t *keys;                     /* states, sorted; those bumped move
                                           to the front                      */
    size_t  *ends;                      /* one past each bucket's keys       */
    size_t   shard, bucket, buckets;
    size_t   at, low;                   /* keys low … at-1 are to be placed  */
    size_t   bumped;
    uint32_t slot;                      /* its first one among the rows      */
    uint32_t placed;                    /* rows of the bucket so far:        */
    struct { size_t key; uint32_t slot; } log[RIBBON_PLACED];
} ribbon_lane;

/* The memory of one thread. */
typedef struct {
    uint64_t *rows;                     /* of all lanes; 0: an empty slot    */
    uint64_t *room;                     /* for the keys of one shard         */
    uint32_t *sums;                     /* the rows' fingerprints            */
    ribbon_lane lane[RIBBON_LANES];
    size_t   next, end, live;           /* shards to do, lanes at work       */
} ribbon_worker;

/* A layer that is being built. */
typedef struct {
    ribbon_shape g;
    uint32_t buckets;
    uint64_t wide;                      /* first tiles, of bits + 1 columns  */
    uint32_t prints;                    /* bits of a fingerprint that count  */
    uint64_t add;                       /* to what comes, before it is mixed */
    const uint64_t *in;                 /* n keys as they come               */
    uint64_t *out;                      /* their states, by shards           */
    size_t   n;
    uint64_t *first;                    /* key of each shard, and the end    */
    uint64_t *bumped;                   /* keys of each shard that go on     */
    uint64_t *distinct;                 /* keys of each shard, without twins */
    uint64_t *counts;                   /* of each part, in each shard       */
    uint8_t  *payload, *codes;          /* of this layer                     */
    uint64_t noise;                     /* seed of what free rows are        */
    ribbon_worker *workers[RIBBON_WORKERS];
    size_t    rows;                     /* of each lane                      */
} ribbon_work;

/* Upper bounds for n keys, whatever the form, for sharing out the scratch: of
 * shards; of workers that are worth their memory; of the rows of a lane, of
 * which the last is for idling. */
static size_t ribbon_most_shards(uint64_t n)
{
    return (size_t)(n / (RIBBON_SHARD / 2) + 2);
}

static size_t ribbon_most_workers(uint64_t n)
{
    size_t workers = (size_t)(n / (RIBBON_LANES * RIBBON_SHARD) + 1);
    return workers < RIBBON_WORKERS ? workers : RIBBON_WORKERS;
}

static size_t ribbon_most_rows(uint64_t n)
{
    return (size_t)(n < RIBBON_SLOTS / 2 ? 2 * n + 256 : RIBBON_SLOTS) + 1;
}

static size_t ribbon_most_room(uint64_t n)
{
    return (size_t)(n < RIBBON_ROOM ? n : RIBBON_ROOM);
}

/* Returns the bytes of a worker. All its arrays have items of 8 bytes, except
 * for `sums`, with 4. */
static size_t ribbon_worker_bytes(uint64_t n)
{
    size_t rows = ribbon_most_rows(n), room = ribbon_most_room(n);
    size_t ends = rows / RIBBON_BUCKET + 1;
    return sizeof(ribbon_worker)
         + 8 * (RIBBON_LANES * (rows + ends) + room) + 4 * RIBBON_LANES * rows;
}

uint64_t ribbon_scratch(uint64_t n)
{
    uint64_t workers = ribbon_most_workers(n);
    return n * 8 + (workers + 3) * ribbon_most_shards(n) * 8
         + workers * ribbon_worker_bytes(n);
}

/* ---- Build: sort ------------------------------------------------------- */

PLATFORM_INLINE uint64_t ribbon_start(const ribbon_work *w, uint64_t state)
{
    return bits_range(state, (uint64_t)w->buckets * RIBBON_BUCKET);
}

/* The n keys of a shard into `room`, by starts, with a count for each start;
 * false if many share one. */
static bool ribbon_sort_starts(const ribbon_work *w, uint64_t base,
                               const uint64_t *keys, size_t n,
                               uint64_t *room, uint32_t *counts, size_t starts)
{
    uint32_t sum = 0, most = 0;
    memset(counts, 0, starts * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[ribbon_start(w, keys[i]) - base]++;
    for (size_t i = 0; i < starts; i++) {
        uint32_t count = counts[i];
        most = count > most ? count : most;
        counts[i] = sum;
        sum += count;
    }
    if (most > RIBBON_CROWD)
        return false;
    for (size_t i = 0; i < n; i++)
        room[counts[ribbon_start(w, keys[i]) - base]++] = keys[i];
    return true;
}

/* Sorted keys back to their shard, each one once, with the buckets' ends. */
static void ribbon_gather(const ribbon_work *w, ribbon_lane *lane,
                          const uint64_t *sorted, size_t n)
{
    uint64_t base = (uint64_t)lane->shard * RIBBON_SHARD, last = 0;
    size_t bucket = 0, kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = sorted[i];
        if (kept > 0 && key == last)
            continue;
        last = key;
        size_t mine = (size_t)(ribbon_start(w, key) - base) / RIBBON_BUCKET;
        while (bucket < mine)
            lane->ends[bucket++] = kept;
        lane->keys[kept++] = key;
    }
    while (bucket < lane->buckets)
        lane->ends[bucket++] = kept;
    w->distinct[lane->shard] = kept;
}

/* ---- Build: place ------------------------------------------------------ */

/* Prepares the worker's next shard in a lane. */
static void ribbon_open(const ribbon_work *w, ribbon_worker *worker,
                        ribbon_lane *lane)
{
    size_t shard = worker->next++;
    size_t n = (size_t)(w->first[shard + 1] - w->first[shard]);
    size_t left = w->buckets - shard * RIBBON_SHARD_BUCKETS;
    task_step(n);
    lane->keys = w->out + w->first[shard];
    lane->shard = shard;
    lane->buckets = left < RIBBON_SHARD_BUCKETS ? left : RIBBON_SHARD_BUCKETS;
    lane->bucket = lane->at = lane->low = lane->bumped = 0;
    size_t starts = lane->buckets * RIBBON_BUCKET;
    memset(worker->rows + lane->slot, 0,
           (starts + RIBBON_BAND) * sizeof *worker->rows);
    if (n <= RIBBON_ROOM
        && ribbon_sort_starts(w, (uint64_t)shard * RIBBON_SHARD, lane->keys, n,
                              worker->room, worker->sums + lane->slot,
                              starts)) {
        sort_insert(worker->room, n);
        ribbon_gather(w, lane, worker->room, n);
    } else {
        sort_heap(lane->keys, n);
        ribbon_gather(w, lane, lane->keys, task_cancelled() ? 0 : n);
    }
}

/* Returns the value of a free row: 0, or noise if the sum of a band is compared
 * with 0, so that the sum of an absent key is not 0. */
PLATFORM_INLINE uint32_t ribbon_free(const ribbon_work *w, uint64_t slot)
{
    return w->g.form == RIBBON_BUMPED ? 0
         : (uint32_t)hash_mix(w->noise + slot * HASH_STEP);
}

/* Works out the tiles of a triangle of rows from `slot` on, from the last row
 * to the first. Each column is kept as the 64 slots after the present one. The
 * last column of narrow tiles is not stored, because no key reads it there, but
 * that of the wide tiles before depends on it. `out` is the first tile of the
 * layer. */
PLATFORM_INLINE void ribbon_solve_any(const ribbon_work *w,
                                      const uint64_t *rows,
                                      const uint32_t *sums, size_t tiles,
                                      uint64_t slot, uint8_t *out, bool quick)
{
    uint64_t column[RIBBON_BITS_MAX] = { 0 };
    uint64_t first = slot / RIBBON_TILE;
    uint32_t sum[RIBBON_TILE], bits = w->g.bits + (first < w->wide);
    while (tiles-- > 0) {
        size_t from = tiles * RIBBON_TILE;
        uint64_t at = ribbon_offset(w->g.bits, w->wide, first + tiles);
        bool narrow = first + tiles >= w->wide;
        for (size_t i = 0; i < RIBBON_TILE; i++)
            sum[i] = rows[from + i] != 0 ? sums[from + i]
                                         : ribbon_free(w, slot + from + i);
        for (uint32_t k = 0; k < bits; k++) {
            uint64_t z = column[k];
            for (size_t i = RIBBON_TILE; i-- > 0; ) {
                z <<= 1;
                z |= (ribbon_parity(rows[from + i] & z, quick) ^ sum[i] >> k)
                   & 1;
            }
            column[k] = z;
            if (k < w->g.bits || !narrow)
                image_set_u32(out, at + 4 * k, (uint32_t)z);
        }
    }
}

static void ribbon_solve_portable(const ribbon_work *w, const uint64_t *rows,
                                  const uint32_t *sums, size_t tiles,
                                  uint64_t slot, uint8_t *out)
{
    ribbon_solve_any(w, rows, sums, tiles, slot, out, false);
}

#if CPU_X86
CPU_TARGET_AVX2 static void
ribbon_solve_quick(const ribbon_work *w, const uint64_t *rows,
                   const uint32_t *sums, size_t tiles, uint64_t slot,
                   uint8_t *out)
{
    ribbon_solve_any(w, rows, sums, tiles, slot, out, true);
}
#endif

static void ribbon_solve(const ribbon_work *w, const uint64_t *rows,
                         const uint32_t *sums, size_t tiles, uint64_t slot,
                         uint8_t *out)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        ribbon_solve_quick(w, rows, sums, tiles, slot, out);
        return;
    }
#endif
    ribbon_solve_portable(w, rows, sums, tiles, slot, out);
}

/* A lane's keys are all placed or bumped: write its tiles. */
static void ribbon_close(const ribbon_work *w, ribbon_worker *worker,
                         ribbon_lane *lane)
{
    size_t tiles = lane->buckets * (RIBBON_BUCKET / RIBBON_TILE)
                 + RIBBON_BAND / RIBBON_TILE;
    uint64_t slot = (uint64_t)lane->shard * RIBBON_SLOTS;
    w->bumped[lane->shard] = lane->bumped;
    ribbon_solve(w, worker->rows + lane->slot, worker->sums + lane->slot, tiles,
                 slot, w->payload);
}

/* Bring a lane to the next bucket that has a key, of its shard or another one;
 * false: there is none. */
static bool ribbon_advance(const ribbon_work *w, ribbon_worker *worker,
                           ribbon_lane *lane)
{
    while (lane->at == lane->low) {
        if (lane->bucket == lane->buckets) {
            if (lane->keys != NULL)
                ribbon_close(w, worker, lane);
            lane->keys = NULL;
            if (worker->next == worker->end || task_cancelled())
                return false;
            ribbon_open(w, worker, lane);
        }
        lane->low = lane->bucket > 0 ? lane->ends[lane->bucket - 1] : 0;
        lane->at = lane->ends[lane->bucket++];
        lane->placed = 0;
    }
    return true;
}

/* A lane with nothing to do has a key that meets the same row for ever. */
static ribbon_key ribbon_idle(const ribbon_work *w, ribbon_worker *worker,
                              const ribbon_lane *lane)
{
    uint32_t slot = lane->slot + (uint32_t)w->rows - 1;
    worker->rows[slot] = 2;
    worker->sums[slot] = 0;
    worker->live--;
    return (ribbon_key){ .c = 1, .slot = slot };
}

PLATFORM_INLINE ribbon_key ribbon_take(const ribbon_work *w,
                                       ribbon_worker *worker,
                                       ribbon_lane *lane)
{
    if (lane->at == lane->low && !ribbon_advance(w, worker, lane))
        return ribbon_idle(w, worker, lane);
    uint64_t state = lane->keys[--lane->at];
    return (ribbon_key){
        .c = ribbon_coefficients(state),
        .slot = lane->slot + (uint32_t)(ribbon_start(w, state) % RIBBON_SHARD),
        .print = ribbon_fingerprint(state) & w->prints,
    };
}

/* Bumps the last key, which cannot be placed, and the keys of its bucket that
 * start no later, and a few more up to a threshold that has a code. They go to
 * the next layer. Their rows were filled last, so no other row depends on them.
 * */
static void ribbon_bump(const ribbon_work *w, ribbon_worker *worker,
                        ribbon_lane *lane)
{
    size_t end = lane->ends[lane->bucket - 1], keep = lane->low;
    size_t bucket = lane->shard * RIBBON_SHARD_BUCKETS + lane->bucket - 1;
    uint32_t code = 1, start = (uint32_t)(ribbon_start(w, lane->keys[lane->at])
                                          % RIBBON_BUCKET);
    while ((RIBBON_THRESHOLDS >> 8 * code & 0xFF) <= start)
        code++;
    uint32_t threshold = RIBBON_THRESHOLDS >> 8 * code & 0xFF;
    for (; keep < end; keep++) {
        uint64_t state = lane->keys[keep];
        if (ribbon_start(w, state) % RIBBON_BUCKET >= threshold)
            break;
        lane->keys[lane->bumped++] = state;
    }
    while (lane->placed > 0 && lane->log[lane->placed - 1].key < keep)
        worker->rows[lane->log[--lane->placed].slot] = 0;
    w->codes[bucket / 4] |= (uint8_t)(code << bucket % 4 * 2);
    lane->at = lane->low;
}

/* The lane's key has filled that row. The keys of a bucket span 191 slots, so
 * they cannot fill more than 191 rows. */
PLATFORM_INLINE void ribbon_log(ribbon_lane *lane, uint32_t slot)
{
    assert(lane->placed < RIBBON_PLACED);
    lane->log[lane->placed].key = lane->at;
    lane->log[lane->placed++].slot = slot;
}

/* Runs one step of a lane. If the slot is empty, its key goes into it. If the
 * slot has a row, that row is added to the key, which then begins at a later
 * slot. A key that becomes empty repeats what the rows say, or contradicts it.
 * */
#define RIBBON_STEP(lane, key)                                                 \
    do {                                                                       \
        uint64_t row = rows[key.slot];                                         \
        if (row == 0) {                                                        \
            rows[key.slot] = key.c;                                            \
            sums[key.slot] = key.print;                                        \
            ribbon_log(lane, key.slot);                                        \
            key = ribbon_take(w, worker, lane);                                \
            break;                                                             \
        }                                                                      \
        key.print ^= sums[key.slot];                                           \
        key.c ^= row;                                                          \
        if (key.c != 0) {                                                      \
            unsigned zeros = platform_trailing_zeros(key.c);                   \
            key.slot += zeros;                                                 \
            key.c >>= zeros;                                                   \
        } else {                                                               \
            if (key.print != 0)                                                \
                ribbon_bump(w, worker, lane);                                  \
            key = ribbon_take(w, worker, lane);                                \
        }                                                                      \
    } while (0)

/* Place the keys of all the worker's shards, four shards at a time: what one
 * key does waits for memory and for itself, four fill the time. */
PLATFORM_INLINE void ribbon_place_any(const ribbon_work *w,
                                      ribbon_worker *worker)
{
    uint64_t *rows = worker->rows;
    uint32_t *sums = worker->sums;
    ribbon_lane *lane = worker->lane;
    ribbon_key a = ribbon_take(w, worker, lane);
    ribbon_key b = ribbon_take(w, worker, lane + 1);
    ribbon_key c = ribbon_take(w, worker, lane + 2);
    ribbon_key d = ribbon_take(w, worker, lane + 3);
    while (worker->live > 0) {
        RIBBON_STEP(lane, a);
        RIBBON_STEP(lane + 1, b);
        RIBBON_STEP(lane + 2, c);
        RIBBON_STEP(lane + 3, d);
    }
}

static void ribbon_place_portable(const ribbon_work *w, ribbon_worker *worker)
{
    ribbon_place_any(w, worker);
}

#if CPU_X86
CPU_TARGET_AVX2 static void ribbon_place_quick(const ribbon_work *w,
                                               ribbon_worker *worker)
{
    ribbon_place_any(w, worker);
}
#endif

static void ribbon_place(void *context, unsigned part, unsigned parts)
{
    const ribbon_work *w = context;
    ribbon_worker *worker = w->workers[part];
    size_t shards = (size_t)ribbon_shards(w->buckets);
    worker->next = shards * part / parts;
    worker->end = shards * (part + 1) / parts;
    worker->live = RIBBON_LANES;
    for (size_t i = 0; i < RIBBON_LANES; i++) {
        ribbon_lane *lane = &worker->lane[i];
        lane->keys = NULL;
        lane->slot = (uint32_t)(i * w->rows);
        lane->bucket = lane->buckets = lane->at = lane->low = 0;
    }
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        ribbon_place_quick(w, worker);
        return;
    }
#endif
    ribbon_place_portable(w, worker);
}

/* ---- Build: a layer ---------------------------------------------------- */

static size_t ribbon_cut(size_t n, unsigned part, unsigned parts)
{
    return n / parts * part + n % parts * part / parts;
}

/* Counts the keys of this part in each shard. */
static void ribbon_count(void *context, unsigned part, unsigned parts)
{
    const ribbon_work *w = context;
    size_t shards = (size_t)ribbon_shards(w->buckets);
    uint64_t *counts = w->counts + part * shards;
    size_t end = ribbon_cut(w->n, part + 1, parts);
    memset(counts, 0, shards * sizeof *counts);
    TASK_SPAN(i, ribbon_cut(w->n, part, parts), end)
        counts[ribbon_start(w, hash_mix(w->in[i] + w->add)) / RIBBON_SHARD]++;
}

/* The keys of this part to where its counts, now places, say. */
static void ribbon_scatter(void *context, unsigned part, unsigned parts)
{
    const ribbon_work *w = context;
    size_t shards = (size_t)ribbon_shards(w->buckets);
    uint64_t *places = w->counts + part * shards;
    size_t end = ribbon_cut(w->n, part + 1, parts);
    TASK_SPAN(i, ribbon_cut(w->n, part, parts), end) {
        uint64_t state = hash_mix(w->in[i] + w->add);
        w->out[places[ribbon_start(w, state) / RIBBON_SHARD]++] = state;
    }
}

/* Turns counts into places: shard after shard, part after part within each. */
static void ribbon_count_up(const ribbon_work *w, unsigned parts)
{
    size_t shards = (size_t)ribbon_shards(w->buckets);
    uint64_t sum = 0;
    for (size_t s = 0; s < shards; s++) {
        w->first[s] = sum;
        for (size_t part = 0; part < parts; part++) {
            uint64_t count = w->counts[part * shards + s];
            w->counts[part * shards + s] = sum;
            sum += count;
        }
    }
    w->first[shards] = sum;
}

/* The share of building a layer that counting and dealing its keys take. */
static const double RIBBON_DEALING = 0.2;

/* Builds the whole layer, which is this share of all work; the keys that it
 * bumps go to `left`, which may be where they came from. Returns how many they
 * are. */
static size_t ribbon_layer_build(ribbon_work *w, uint64_t *left,
                                 unsigned threads, double share)
{
    size_t shards = (size_t)ribbon_shards(w->buckets), n = 0;
    size_t workers = ribbon_most_workers(w->n);
    unsigned parts = threads < workers ? threads : (unsigned)workers;
    w->bumped = w->first + shards + 1;
    w->distinct = w->bumped + shards;
    w->counts = w->distinct + shards;
    task_phase(RIBBON_DEALING * share, 2 * (uint64_t)w->n);
    threads_run(ribbon_count, w, parts);
    if (task_cancelled())
        return 0;
    ribbon_count_up(w, parts);
    threads_run(ribbon_scatter, w, parts);
    if (task_cancelled())
        return 0;
    task_phase((1 - RIBBON_DEALING) * share, w->n);
    threads_run(ribbon_place, w, parts);
    if (task_cancelled())
        return 0;
    for (size_t s = 0; s < shards; s++) {
        size_t some = (size_t)w->bumped[s];
        memmove(left + n, w->out + w->first[s], some * sizeof *left);
        n += some;
    }
    return n;
}

/* ---- Build: the last layer, and all of them ---------------------------- */

/* Place one key in rows of their own; false if it says the contrary of what
 * they say. */
static bool ribbon_last_key(uint64_t *rows, uint32_t *sums, uint64_t slot,
                            uint64_t c, uint32_t print)
{
    while (rows[slot] != 0) {
        print ^= sums[slot];
        c ^= rows[slot];
        if (c == 0)
            return print == 0;
        unsigned zeros = platform_trailing_zeros(c);
        slot += zeros;
        c >>= zeros;
    }
    rows[slot] = c;
    sums[slot] = print;
    return true;
}

/* Places all n keys in the tiles at `out`, with this seed of the layer, or
 * returns false. The rows of all lanes of a worker are used as one. */
static bool ribbon_last_try(const ribbon_work *w, const uint64_t *keys,
                            size_t n, uint8_t *out)
{
    uint64_t *rows = w->workers[0]->rows;
    uint32_t *sums = w->workers[0]->sums;
    ribbon_layer last = ribbon_last_at(&w->g, out);
    size_t tiles = (size_t)ribbon_last_tiles(&w->g);
    memset(rows, 0, tiles * RIBBON_TILE * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        uint64_t state = hash_mix(keys[i]
                                  + ribbon_last_add(w->g.last_seed));
        if (!ribbon_last_key(rows, sums, bits_range(state, last.starts),
                             ribbon_coefficients(state),
                             ribbon_fingerprint(state) & w->prints))
            return false;
    }
    ribbon_solve(w, rows, sums, tiles, 0, out);
    return true;
}

/* Builds the last layer in the rest of the payload, which is more than enough.
 * It has at most the rows of a worker. */
static bool ribbon_last_build(ribbon_work *w, const uint64_t *keys, size_t n,
                              uint8_t *out, size_t bytes)
{
    if (!ribbon_last_fit(&w->g, bytes)
        || ribbon_last_tiles(&w->g) * RIBBON_TILE > RIBBON_LANES * w->rows)
        return false;
    w->wide = ribbon_last_wide(&w->g);
    for (uint32_t i = 0; i < RIBBON_LAST_SEEDS; i++) {
        w->g.last_seed = i;
        if (ribbon_last_try(w, keys, n, out))
            return true;
    }
    return false;
}

/* So few keys that there is only the last layer: their states, each once. */
static size_t ribbon_few(const ribbon_work *w, uint64_t *states)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        states[i] = ribbon_state(w->in[i], w->g.seed);
    sort_heap(states, w->n);
    for (size_t i = 0; i < w->n; i++)
        if (n == 0 || states[i] != states[n - 1])
            states[n++] = states[i];
    return n;
}

/* The layers of buckets; *left keys, at `states`, are for the last. Returns
 * where that begins, or NULL. */
static uint8_t *ribbon_layers_build(ribbon_work *w, uint64_t *states,
                                    size_t *left, const uint8_t *end,
                                    unsigned threads)
{
    size_t n = w->n, room = n, all = n;
    for (size_t i = 0; i < RIBBON_LAYERS && n > 0; i++) {
        bool bumped = w->g.form == RIBBON_BUMPED;
        if (bumped && n <= RIBBON_FEW)
            break;
        w->n = n;
        w->buckets = bumped ? ribbon_buckets(n)
                            : ribbon_homogeneous_buckets(
                                  n, ribbon_mean_bits(&w->g));
        w->wide = ribbon_layer_wide(&w->g, w->buckets);
        w->g.buckets[i] = w->buckets;
        uint64_t bytes = ribbon_layer_bytes(&w->g, w->buckets);
        if (bytes > (uint64_t)(end - w->payload) || (i > 0 && n > room / 2))
            return NULL;
        w->codes = w->payload + ribbon_tiles_bytes(&w->g, w->buckets);
        w->out = i > 0 ? states + n : states;
        n = ribbon_layer_build(w, states, threads, (double)n / (double)all);
        for (size_t s = 0; i == 0 && s < ribbon_shards(w->buckets); s++)
            w->g.distinct += w->distinct[s];
        w->payload += bytes;
        w->in = states;
        w->add = HASH_STEP;
    }
    *left = n;
    return w->payload;
}

static bool ribbon_try(ribbon_work *w, uint64_t *states, const uint8_t *end,
                       unsigned threads)
{
    size_t left;
    uint8_t *last = w->payload;
    if (w->n > RIBBON_FEW || w->g.form == RIBBON_HOMOGENEOUS) {
        last = ribbon_layers_build(w, states, &left, end, threads);
    } else {
        left = ribbon_few(w, states);
        w->g.distinct = left;
    }
    if (w->g.form == RIBBON_HOMOGENEOUS)
        return last != NULL;
    return last != NULL
        && ribbon_last_build(w, states, left, last, (size_t)(end - last));
}

static void ribbon_geometry_write(void *image, const ribbon_shape *g)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    ribbon_geometry(geometry, g);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        image_set_u64(image, IMAGE_GEOMETRY + 8 * i, geometry[i]);
}

/* Share out the scratch for n keys; their states come first in it. */
static void ribbon_share(ribbon_work *w, uint64_t *scratch, uint64_t n)
{
    uint64_t *free = scratch + n;
    size_t rows = ribbon_most_rows(n), ends = rows / RIBBON_BUCKET + 1;
    w->rows = rows;
    w->first = free;
    free += (ribbon_most_workers(n) + 3) * ribbon_most_shards(n);
    for (size_t i = 0; i < ribbon_most_workers(n); i++) {
        ribbon_worker *worker = (ribbon_worker *)(void *)free;
        free = (uint64_t *)(void *)(worker + 1);
        for (size_t j = 0; j < RIBBON_LANES; j++, free += ends)
            worker->lane[j].ends = (size_t *)(void *)free;
        worker->rows = free;
        worker->room = worker->rows + RIBBON_LANES * rows;
        worker->sums = (uint32_t *)(void *)(worker->room + ribbon_most_room(n));
        free = (uint64_t *)(void *)(worker->sums + RIBBON_LANES * rows);
        w->workers[i] = worker;
    }
}

bly_status ribbon_build(void *image, const kind_keys *keys,
                        const kind_bench *bench)
{
    ribbon_shape g = ribbon_shape_of(image);
    uint8_t *payload = image_payload_mut(image);
    size_t bytes = image_payload_bytes(image);
    g.distinct = 0;
    ribbon_geometry_write(image, &g);
    for (uint32_t seed = 0; keys->n > 0 && seed < RIBBON_SEEDS; seed++) {
        ribbon_work w = {
            .g = { .share = g.share, .bits = g.bits, .form = g.form,
                   .seed = seed },
            .prints = g.form == RIBBON_HOMOGENEOUS ? 0
                    : (uint32_t)((UINT64_C(1) << ribbon_columns(&g)) - 1),
            .add = seed * HASH_STEP, .in = keys->hashes, .n = keys->n,
            .payload = payload,
            .noise = hash_mix(image_u64(image, IMAGE_SEED) + seed),
        };
        ribbon_share(&w, bench->scratch, keys->n);
        if (ribbon_try(&w, bench->scratch, payload + bytes - RIBBON_PAD,
                       bench->threads)) {
            ribbon_geometry_write(image, &w.g);
            return task_status();
        }
        if (task_cancelled())
            return task_status();
        memset(payload, 0, bytes);
    }
    return keys->n == 0 ? BLY_OK
         : status_fail(BLY_EFULL, "no ribbon can hold these %zu keys after %d "
                       "attempts: their hashes are not random", keys->n,
                       (int)RIBBON_SEEDS);
}
