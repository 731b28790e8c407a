/* gcs_build.c - sorts the keys of kind `gcs` and writes their code.
 *
 * Keys are cut into shards of whole records. Each shard is sorted, measured and
 * written by itself: see BUILDING in gcs.c.
 */
#include "kinds/frozen/gcs/gcs.h"

#include <assert.h>
#include <string.h>

#include "base/task.h"
#include "base/threads.h"
#include "bits/sort.h"

/* ---- Sort -------------------------------------------------------------- */

enum { GCS_FEW = 20, GCS_DIGIT = 9,     /* keys to insert; bits of a digit   */
       GCS_LEVELS = 3 };

/* Bits for about four keys in a bucket. */
static unsigned gcs_digit(size_t n, unsigned top)
{
    unsigned bits = 2;
    while (bits < GCS_DIGIT && n >> bits > 4)
        bits++;
    return bits < top ? bits : top;
}

/* Sorts keys into their buckets in place: each key goes where it belongs, and
 * displaces another, which goes on [McIlroy 1993]. */
static void gcs_deal(uint64_t *keys, uint64_t base, unsigned shift,
                     uint32_t mask, size_t *next, const size_t *end)
{
    for (size_t b = 0; b <= mask; b++)
        while (next[b] < end[b]) {
            uint64_t key = keys[next[b]];
            size_t digit = (size_t)((key - base) >> shift) & mask;
            while (digit != b) {
                uint64_t other = keys[next[digit]];
                keys[next[digit]++] = key;
                key = other;
                digit = (size_t)((key - base) >> shift) & mask;
            }
            keys[next[b]++] = key;
        }
}

/* Sort keys that, less `base`, are alike in the bits from `top` on. Random ones
 * take two levels or three; what takes more is many times the same key, or made
 * to take more of the stack. Apart: levels that are inlined at -O3 take the
 * stack of all of them at once. */
PLATFORM_APART static void gcs_sort(uint64_t *keys, size_t n, uint64_t base,
                                    unsigned top, unsigned levels)
{
    size_t next[1 << GCS_DIGIT], end[1 << GCS_DIGIT];
    if (n <= GCS_FEW) {
        sort_insert(keys, n);
        return;
    }
    if (top == 0)
        return;
    if (levels == 0) {
        sort_heap(keys, n);
        return;
    }
    unsigned bits = gcs_digit(n, top), shift = top - bits;
    uint32_t mask = (1u << bits) - 1;
    memset(end, 0, sizeof *end << bits);
    for (size_t i = 0; i < n; i++)
        end[(keys[i] - base) >> shift & mask]++;
    for (size_t b = 0, sum = 0; b <= mask; b++) {
        next[b] = sum;
        end[b] = sum += end[b];
    }
    gcs_deal(keys, base, shift, mask, next, end);
    for (size_t b = 0, from = 0; b <= mask; from = end[b++])
        gcs_sort(keys + from, end[b] - from, base, shift, levels - 1);
}

/* ---- Build ------------------------------------------------------------- */

uint64_t gcs_shards(uint64_t *records, uint64_t blocks, uint64_t n)
{
    uint64_t all = gcs_records(blocks);
    uint64_t shards = n / GCS_SHARD_KEYS + 1;
    if (shards > GCS_SHARDS)
        shards = GCS_SHARDS;
    *records = all / shards + (all % shards != 0);
    return all / *records + (all % *records != 0);
}

/* A shard's place in the sorted keys and in the code, and its contents. */
typedef struct {
    uint64_t first, count;              /* in the sorted hashes              */
    uint64_t at, bits;                  /* in the code                       */
    uint64_t keys, numbers;             /* different ones                    */
} gcs_shard;

uint64_t gcs_tables(uint64_t shards)
{
    return shards * (sizeof(gcs_shard) + THREADS_MAX * sizeof(uint64_t));
}

/* The state that the parts of a build share. */
typedef struct {
    const kind_keys *keys;
    gcs_view view;
    uint8_t *records, *code;
    uint64_t shards, shard_blocks;      /* blocks of each, the last has less */
    uint64_t inverse;                   /* 2^64 / shard_blocks, rounded up   */
    gcs_shard *shard;
    uint64_t *counts;                   /* [part][shard]                     */
    uint64_t *sorted;
    unsigned parts;
} gcs_work;

/* Multiplied, not divided: exact as long as block * shard_blocks < 2^64. */
PLATFORM_INLINE uint64_t gcs_shard_of(const gcs_work *w, uint64_t mixed)
{
    return platform_mul_high(gcs_block_of(&w->view, mixed), w->inverse);
}

/* Returns where part `part` of `parts` of n things begins. */
static uint64_t gcs_slice(uint64_t n, unsigned part, unsigned parts)
{
    return n / parts * part + n % parts * part / parts;
}

static void gcs_count_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    uint64_t *counts = w->counts + part * w->shards;
    uint64_t to = gcs_slice(w->keys->n, part + 1, parts);
    memset(counts, 0, (size_t)w->shards * sizeof *counts);
    TASK_SPAN(i, gcs_slice(w->keys->n, part, parts), to)
        counts[gcs_shard_of(w, gcs_mix(&w->view, w->keys->hashes[i]))]++;
}

/* Turns counts into places. */
static void gcs_places(gcs_work *w)
{
    uint64_t sum = 0;
    for (uint64_t s = 0; s < w->shards; s++) {
        w->shard[s].first = sum;
        for (unsigned part = 0; part < w->parts; part++) {
            uint64_t *count = &w->counts[part * w->shards + s], some = *count;
            *count = sum;
            sum += some;
        }
        w->shard[s].count = sum - w->shard[s].first;
    }
}

static void gcs_deal_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    uint64_t *places = w->counts + part * w->shards;
    uint64_t to = gcs_slice(w->keys->n, part + 1, parts);
    TASK_SPAN(i, gcs_slice(w->keys->n, part, parts), to) {
        uint64_t mixed = gcs_mix(&w->view, w->keys->hashes[i]);
        w->sorted[places[gcs_shard_of(w, mixed)]++] = mixed;
    }
}

static void gcs_sort_shard(gcs_work *w, gcs_shard *shard)
{
    uint64_t *keys = w->sorted + shard->first;
    uint64_t low = UINT64_MAX, high = 0;
    unsigned top = 0;
    for (uint64_t i = 0; i < shard->count; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    while (top < 64 && high > low && (high - low) >> top != 0)
        top++;
    gcs_sort(keys, (size_t)shard->count, low, top, GCS_LEVELS);
}

/* Bits of code of the keys from i on that are in this block. Those with a
 * number of their own are kept, at `kept`. */
static uint64_t gcs_measure(gcs_work *w, gcs_shard *shard, uint64_t block,
                            uint64_t *i, uint64_t *kept)
{
    const gcs_view *v = &w->view;
    uint64_t *keys = w->sorted + shard->first;
    uint64_t bits = 0, next = 0, last = 0;
    for (; *i < shard->count; ++*i) {
        uint64_t key = keys[*i];
        if (gcs_block_of(v, key) != block)
            break;
        shard->keys += *i == 0 || key != last;
        last = key;
        uint64_t number = gcs_number_of(v, key);
        if (number < next)
            continue;
        bits += v->k + 1 + ((number - next) >> v->k);
        next = number + 1;
        keys[(*kept)++] = key;
    }
    return bits;
}

static uint64_t gcs_first_block(const gcs_work *w, uint64_t shard)
{
    uint64_t block = shard * w->shard_blocks;
    return block < w->view.blocks ? block : w->view.blocks;
}

/* The lengths of a shard's blocks, into the records; its bits, UINT64_MAX if
 * one of them is too long. */
static void gcs_measure_shard(gcs_work *w, uint64_t s)
{
    gcs_shard *shard = &w->shard[s];
    const gcs_view *v = &w->view;
    uint64_t i = 0, kept = 0, end = gcs_first_block(w, s + 1);
    shard->bits = shard->keys = 0;
    for (uint64_t block = gcs_first_block(w, s); block < end; block++) {
        uint64_t bits = gcs_measure(w, shard, block, &i, &kept);
        uint64_t grains = bits / v->grain + (bits % v->grain != 0);
        uint64_t entry = grains < v->least ? 0 : grains - v->least;
        if (entry > GCS_ENTRY_MAX) {
            shard->bits = UINT64_MAX;
            return;
        }
        w->records[block / GCS_RECORD_BLOCKS * GCS_RECORD + 8
                   + block % GCS_RECORD_BLOCKS] = (uint8_t)entry;
        shard->bits += (entry + v->least) * v->grain;
    }
    shard->numbers = kept;
}

static void gcs_sort_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    for (uint64_t s = part; s < w->shards && !task_cancelled(); s += parts) {
        gcs_sort_shard(w, &w->shard[s]);
        gcs_measure_shard(w, s);
        task_step(w->shard[s].count);
    }
}

/* Computes where each shard's code begins, always at a word, so that no two
 * threads write to the same one. Returns the bits of all of them, or UINT64_MAX
 * if they do not fit. */
static uint64_t gcs_line_up(gcs_work *w)
{
    uint64_t at = 0;
    for (uint64_t s = 0; s < w->shards; s++) {
        gcs_shard *shard = &w->shard[s];
        if (shard->bits > w->view.bits - at)
            return UINT64_MAX;
        shard->at = at;
        at += (shard->bits + 63) / 64 * 64;
        if (at > w->view.bits)
            return UINT64_MAX;
    }
    return at;
}

/* `value` of fewer than 58 bits, into words where its bits are still 0. */
static void gcs_put(uint8_t *code, uint64_t at, uint64_t value, uint32_t k)
{
    uint8_t *word = code + (at >> 6) * 8;
    unsigned shift = at & 63;
    image_set_u64(word, 0, image_u64(word, 0) | value << shift);
    if (shift + k > 64)
        image_set_u64(word, 8, image_u64(word, 8) | value >> (64 - shift));
}

/* The code of the keys from i on that are in this block. */
static uint64_t gcs_write(const gcs_work *w, const gcs_shard *shard,
                          uint64_t block, gcs_span span, uint64_t i)
{
    const gcs_view *v = &w->view;
    const uint64_t *keys = w->sorted + shard->first;
    const uint64_t mask = (UINT64_C(1) << v->k) - 1;
    uint64_t one = span.start, rest = span.start + span.length, next = 0;
    for (; i < shard->numbers && gcs_block_of(v, keys[i]) == block; i++) {
        uint64_t number = gcs_number_of(v, keys[i]), gap = number - next;
        one += gap >> v->k;
        rest -= v->k;
        gcs_put(w->code, one++, 1, 1);
        gcs_put(w->code, rest, gap & mask, v->k);
        next = number + 1;
    }
    return i;
}

static void gcs_write_shard(gcs_work *w, uint64_t s)
{
    const gcs_shard *shard = &w->shard[s];
    const gcs_view *v = &w->view;
    uint64_t at = shard->at, i = 0, end = gcs_first_block(w, s + 1);
    for (uint64_t block = gcs_first_block(w, s); block < end; block++) {
        uint8_t *record = w->records + block / GCS_RECORD_BLOCKS * GCS_RECORD;
        uint64_t slot = block % GCS_RECORD_BLOCKS;
        if (slot == 0)
            image_set_u64(record, 0, at);
        gcs_span span = { at, (record[8 + slot] + v->least) * v->grain };
        i = gcs_write(w, shard, block, span, i);
        at += span.length;
    }
}

static void gcs_write_part(void *context, unsigned part, unsigned parts)
{
    gcs_work *w = context;
    for (uint64_t s = part; s < w->shards && !task_cancelled(); s += parts) {
        gcs_write_shard(w, s);
        task_step(w->shard[s].count);
    }
}

/* Code, counts and the image's new size, once all fits. */
static void gcs_finish(void *image, gcs_work *w, uint64_t bits)
{
    uint64_t keys = 0, numbers = 0;
    task_phase(0.2, w->keys->n);
    threads_run(gcs_write_part, w, w->parts);
    for (uint64_t s = 0; s < w->shards; s++) {
        keys += w->shard[s].keys;
        numbers += w->shard[s].numbers;
    }
    image_set_u64(w->code, bits / 8, numbers);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * GCS_KEYS, keys);
    image_set_u64(image, IMAGE_BYTES, (uint64_t)(w->code - (uint8_t *)image)
                                      + bits / 8 + GCS_TAIL);
}

static gcs_work gcs_work_for(void *image, const kind_keys *keys,
                             const kind_bench *bench)
{
    gcs_view view = gcs_look(image);
    uint64_t records, all = gcs_records(view.blocks);
    gcs_work w = {
        .keys = keys, .view = view, .sorted = bench->scratch,
        .records = image_payload_mut(image),
        .code = image_payload_mut(image) + all * GCS_RECORD,
        .shards = gcs_shards(&records, view.blocks,
                             image_u64(image, IMAGE_CAPACITY)),
    };
    w.shard_blocks = records * GCS_RECORD_BLOCKS;
    w.inverse = UINT64_MAX / w.shard_blocks + 1;
    w.parts = w.shards < bench->threads ? (unsigned)w.shards : bench->threads;
    w.shard = (gcs_shard *)(w.sorted + image_u64(image, IMAGE_CAPACITY));
    w.counts = (uint64_t *)(w.shard + w.shards);
    assert(8 * image_u64(image, IMAGE_CAPACITY) + gcs_tables(w.shards)
           <= bench->bytes);
    return w;
}

/* Returns false if the call is cancelled. */
static bool gcs_sort_all(gcs_work *w)
{
    task_phase(0.2, 2 * (uint64_t)w->keys->n);
    threads_run(gcs_count_part, w, w->parts);
    if (task_cancelled())
        return false;
    gcs_places(w);
    threads_run(gcs_deal_part, w, w->parts);
    if (task_cancelled())
        return false;
    task_phase(0.6, w->keys->n);
    threads_run(gcs_sort_part, w, w->parts);
    return !task_cancelled();
}

bly_status gcs_build(void *image, const kind_keys *keys,
                     const kind_bench *bench)
{
    uint64_t shape = image_geometry(image, GCS_SHAPE);
    for (uint64_t seed = 0; seed < GCS_SEEDS; seed++) {
        image_set_u64(image, IMAGE_GEOMETRY + 8 * GCS_SHAPE,
                      shape | seed << 48);
        gcs_work w = gcs_work_for(image, keys, bench);
        if (!gcs_sort_all(&w))
            return task_status();
        uint64_t bits = gcs_line_up(&w);
        if (bits != UINT64_MAX) {
            gcs_finish(image, &w, bits);
            return BLY_OK;
        }
    }
    return status_fail(BLY_EFULL, "these hashes crowd together with each of %d "
                       "seeds: hash the keys with another seed", GCS_SEEDS);
}
