/* xorfilter_build.c - fills the cells of xor_singleheader's filters, in that
 * library's own order.
 *
 * Each cell keeps the number of keys that use it and the XOR of their hashes. A
 * cell of a fuse filter also keeps the XOR of their places in it (0, 1 or 2). A
 * cell with one key names that key, which is then taken off its two other
 * cells, until no key is left. In the reverse order each key then sets the cell
 * that named it, so that its three cells XOR to its fingerprint. The contents
 * of the cells therefore depend on the order in which cells with one key wait.
 * Here they wait on stacks: three for an xor filter, one for each block, and
 * one for a fuse filter, whose keys are sorted by the highest bits of their
 * hashes.
 */
#include "kinds/foreign/xorfilter/xorfilter_build.h"

#include <math.h>
#include <string.h>

#include "base/task.h"
#include "bits/sort.h"

enum { XORFILTER_SEEDS = 100 };

#define XORFILTER_XOR_SEED  UINT64_C(1)
#define XORFILTER_FUSE_SEED UINT64_C(0x726B2B9D438B9D4D)

/* ---- Sizes ------------------------------------------------------------- */

static bool xorfilter_xor_size(xorfilter_shape *out, uint64_t n)
{
    double cells = 32 + 1.23 * (double)n;
    if (cells >= 4294967296.0)
        return false;
    out->length = (uint32_t)((uint64_t)cells / 3);
    return true;
}

static bool xorfilter_fuse_size(xorfilter_shape *out, uint64_t n)
{
    double log_n = log((double)n), cells = 0, factor;
    uint64_t length = 4;
    if (n > UINT32_MAX / 2)
        return false;
    if (n > 0) {
        double power = floor(log_n / log(3.33) + 2.25);
        length = power >= 18 ? XORFILTER_SEGMENT_MOST
                             : UINT64_C(1) << (int)power;
    }
    if (n > 1) {
        factor = fmax(1.125, 0.875 + 0.25 * log(1000000.0) / log_n);
        cells = round((double)n * factor);
    }
    uint64_t segments = ((uint64_t)cells + length - 1) / length;
    out->length = (uint32_t)length;
    out->segments = segments > 3 ? (uint32_t)(segments - 2) : 1;
    return true;
}

bool xorfilter_size(xorfilter_shape *out, uint64_t n, bool is_xor,
                    unsigned cell)
{
    *out = (xorfilter_shape){ .cell = cell };
    return is_xor ? xorfilter_xor_size(out, n) : xorfilter_fuse_size(out, n);
}

/* ---- Scratch ----------------------------------------------------------- */

/* The state of cells and keys while keys are taken off. */
typedef struct {
    const xorfilter_shape *shape;
    uint64_t *keys;                     /* those that are left to be in      */
    uint64_t *order;                    /* hashes, as they are found; one
                                           more, behind the last             */
    uint64_t *sum;                      /* of each cell: of its keys' hashes */
    uint32_t *count;                    /* fuse: 4 a key, and which cell     */
    uint32_t *by;                       /* the cell a key was found by       */
    uint32_t *waiting;                  /* cells                             */
    uint32_t *start;                    /* fuse: where the next key of each
                                           class of hashes goes              */
    size_t    n;
} xorfilter_work;

/* Bits of a hash by which a fuse filter's keys are put in order. */
static unsigned xorfilter_class_bits(const xorfilter_shape *shape)
{
    unsigned bits = 1;
    while (UINT64_C(1) << bits < shape->segments)
        bits++;
    return bits;
}

uint64_t xorfilter_scratch(const xorfilter_shape *shape, uint64_t n)
{
    uint64_t cells = xorfilter_cells(shape);
    uint64_t classes = UINT64_C(1) << xorfilter_class_bits(shape);
    return 8 * (2 * n + 1 + cells) + 4 * (n + 2 * cells + classes + 3);
}

static xorfilter_work xorfilter_begin(const xorfilter_shape *shape,
                                      const uint64_t *keys, size_t n,
                                      void *scratch)
{
    size_t cells = (size_t)xorfilter_cells(shape);
    xorfilter_work w = { .shape = shape, .keys = scratch, .n = n };
    w.order = w.keys + n;
    w.sum = w.order + n + 1;
    w.count = (uint32_t *)(w.sum + cells);
    w.by = w.count + cells;
    w.waiting = w.by + n;
    w.start = w.waiting + cells + 3;
    if (n > 0)
        memcpy(w.keys, keys, n * sizeof *keys);
    return w;
}

static void xorfilter_clear(xorfilter_work *w)
{
    size_t cells = (size_t)xorfilter_cells(w->shape);
    memset(w->sum, 0, cells * sizeof *w->sum);
    memset(w->count, 0, cells * sizeof *w->count);
}

/* Each key once, in rising order. */
static void xorfilter_once(xorfilter_work *w)
{
    size_t n = 0;
    sort_heap(w->keys, w->n);
    for (size_t i = 0; i < w->n; i++)
        if (n == 0 || w->keys[i] != w->keys[n - 1])
            w->keys[n++] = w->keys[i];
    w->n = n;
}

/* Takes a step for every TASK_KEYS keys that were found. Returns false if the
 * call is cancelled: then not all are found. */
static bool xorfilter_goes_on(size_t found)
{
    return found % TASK_KEYS != 0 || !task_step(found > 0 ? TASK_KEYS : 0);
}

/* ---- Xor --------------------------------------------------------------- */

static void xorfilter_off(xorfilter_work *w, uint32_t block, uint32_t cell,
                          uint64_t hash, size_t waiting[3])
{
    w->sum[cell] ^= hash;
    if (--w->count[cell] == 1)
        w->waiting[block * w->shape->length + waiting[block]++] = cell;
}

/* The keys that wait in one block are found. */
static size_t xorfilter_xor_block(xorfilter_work *w, uint32_t block,
                                  size_t waiting[3], size_t found)
{
    while (waiting[block] > 0 && xorfilter_goes_on(found)) {
        uint32_t cell = w->waiting[block * w->shape->length
                                   + --waiting[block]];
        if (w->count[cell] != 1)
            continue;
        xorfilter_places at = xorfilter_place(w->shape, w->sum[cell]);
        w->order[found] = at.hash;
        w->by[found++] = cell;
        w->count[cell] = 0;
        for (uint32_t i = 0; i < 3; i++)
            if (i != block)
                xorfilter_off(w, i, at.cell[i], at.hash, waiting);
    }
    return found;
}

/* Returns how many keys were peeled; the seed fails unless all were. */
static size_t xorfilter_xor_peel(xorfilter_work *w, uint64_t seed)
{
    size_t waiting[3] = { 0 }, found = 0;
    uint32_t length = w->shape->length;
    xorfilter_clear(w);
    TASK_SPAN(i, 0, w->n) {
        xorfilter_places at = xorfilter_find(w->shape, w->keys[i], seed);
        for (size_t c = 0; c < 3; c++) {
            w->sum[at.cell[c]] ^= at.hash;
            w->count[at.cell[c]]++;
        }
    }
    for (uint32_t block = 0; block < 3; block++)
        for (uint32_t i = 0; i < length; i++)
            if (w->count[block * length + i] == 1)
                w->waiting[block * length + waiting[block]++]
                    = block * length + i;
    while (waiting[0] + waiting[1] + waiting[2] > 0 && !task_cancelled())
        for (uint32_t block = 0; block < 3; block++)
            found = xorfilter_xor_block(w, block, waiting, found);
    return found;
}

/* ---- Fuse -------------------------------------------------------------- */

/* The hashes, by their highest bits, each class from where it would begin were
 * all as large, and on to the next where that is full. */
static void xorfilter_sort(xorfilter_work *w, uint64_t seed)
{
    unsigned bits = xorfilter_class_bits(w->shape);
    uint64_t classes = UINT64_C(1) << bits;
    memset(w->order, 0, w->n * sizeof *w->order);
    w->order[w->n] = 1;
    for (uint64_t i = 0; i < classes; i++)
        w->start[i] = (uint32_t)(i * w->n >> bits);
    TASK_SPAN(i, 0, w->n) {
        uint64_t hash = xorfilter_mix(w->keys[i] + seed);
        uint64_t class = hash >> (64 - bits);
        while (w->order[w->start[class]] != 0)
            class = (class + 1) & (classes - 1);
        w->order[w->start[class]++] = hash;
    }
}

/* Adds a key's hash to its cells, or removes it. */
static void xorfilter_turn(xorfilter_work *w, const xorfilter_places *at,
                           uint32_t by)
{
    for (uint32_t c = 0; c < 3; c++) {
        w->sum[at->cell[c]] ^= at->hash;
        w->count[at->cell[c]] = (w->count[at->cell[c]] + by) ^ c;
    }
}

/* Returns whether the key was added twice, which a cell of its own shows. */
static bool xorfilter_twice(const xorfilter_work *w, const xorfilter_places *at)
{
    for (size_t c = 0; c < 3; c++)
        if (w->sum[at->cell[c]] == 0 && w->count[at->cell[c]] >> 2 == 2
            && (w->count[at->cell[c]] & 3) == 0)
            return true;
    return false;
}

static size_t xorfilter_put_all(xorfilter_work *w)
{
    size_t twice = 0;
    xorfilter_clear(w);
    TASK_SPAN(i, 0, w->n) {
        xorfilter_places at = xorfilter_place(w->shape, w->order[i]);
        xorfilter_turn(w, &at, 4);
        if (xorfilter_twice(w, &at)) {
            xorfilter_turn(w, &at, (uint32_t)-4);
            twice++;
        }
    }
    return twice;
}

static size_t xorfilter_fuse_found(xorfilter_work *w)
{
    uint32_t cells = (uint32_t)xorfilter_cells(w->shape);
    size_t waiting = 0, found = 0;
    for (uint32_t i = 0; i < cells; i++)
        if (w->count[i] >> 2 == 1)
            w->waiting[waiting++] = i;
    while (waiting > 0 && xorfilter_goes_on(found)) {
        uint32_t cell = w->waiting[--waiting];
        if (w->count[cell] >> 2 != 1)
            continue;
        uint32_t which = w->count[cell] & 3;
        xorfilter_places at = xorfilter_place(w->shape, w->sum[cell]);
        w->order[found] = at.hash;
        w->by[found++] = cell;
        for (uint32_t i = 1; i < 3; i++) {
            uint32_t other = (which + i) % 3, its = at.cell[other];
            if (w->count[its] >> 2 == 2)
                w->waiting[waiting++] = its;
            w->count[its] = (w->count[its] - 4) ^ other;
            w->sum[its] ^= at.hash;
        }
    }
    return found;
}

/* Returns how many keys were peeled, and how many are duplicates. */
static size_t xorfilter_fuse_peel(xorfilter_work *w, uint64_t seed,
                                  size_t *twice)
{
    xorfilter_sort(w, seed);
    *twice = xorfilter_put_all(w);
    return xorfilter_fuse_found(w);
}

/* ---- Both -------------------------------------------------------------- */

static uint64_t xorfilter_next_seed(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The last that was found first. */
static void xorfilter_assign(const xorfilter_work *w, uint8_t *cells,
                             size_t found)
{
    while (found-- > 0) {
        if (found % TASK_KEYS == 0)
            task_step(TASK_KEYS);
        xorfilter_places at = xorfilter_place(w->shape, w->order[found]);
        uint32_t value = xorfilter_xor(w->shape, cells, &at);
        uint8_t *cell = cells + w->shape->cell * (size_t)w->by[found];
        for (unsigned i = 0; i < w->shape->cell; i++)
            cell[i] = (uint8_t)(cell[i] ^ value >> 8 * i);
    }
}

bool xorfilter_fill(const xorfilter_shape *shape, uint8_t *cells,
                    uint64_t *seed, const uint64_t *keys, size_t n,
                    void *scratch)
{
    bool is_xor = shape->segments == 0;
    uint64_t state = is_xor ? XORFILTER_XOR_SEED : XORFILTER_FUSE_SEED;
    xorfilter_work w = xorfilter_begin(shape, keys, n, scratch);
    for (int i = 0; i < XORFILTER_SEEDS && !task_cancelled(); i++) {
        size_t twice = 0;
        *seed = xorfilter_next_seed(&state);
        size_t found = is_xor ? xorfilter_xor_peel(&w, *seed)
                              : xorfilter_fuse_peel(&w, *seed, &twice);
        if (found + twice == w.n) {
            xorfilter_assign(&w, cells, found);
            return true;
        }
        if (is_xor || twice > 0)
            xorfilter_once(&w);
    }
    return false;
}
