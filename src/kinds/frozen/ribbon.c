/* ribbon.c - a frozen filter near the least space there can be: equations.
 *
 * WHAT IT IS
 *
 * A table of rows of r bits. A key's hash chooses a start, some of the 64 rows
 * from there on (half of them, at random) and a fingerprint of r bits; the
 * table is such that those rows of any key, added up without carry, are its
 * fingerprint. For a foreign key they are by accident, with chance 2^-r. One
 * key is one linear equation of a narrow band, and to build the filter is to
 * solve as many of them as there are rows: r bits a key and hardly one more.
 *
 * THE PICTURE
 *
 *      state  = hash of the key, mixed
 *      start  = high half of state * starts
 *      c      = coefficients, 64 bits, the first one 1
 *
 *                 start
 *      slots  … . . | 1 . 1 1 . 1 . . 1 … 1 |          rows where c is 1, r
 *                     |   | |   |     |   |            bits each: their sum is
 *                     +---+-+---+-----+---+            the fingerprint
 *
 *      buckets of 128 starts, with a threshold each:
 *
 *      | bumped | here            | bumped   | here          | here …
 *      0        36              128 0        16            128
 *
 * There are 5 % fewer slots than keys. Where the equations of a bucket
 * contradict each other the keys with the lowest starts of it are *bumped* to
 * the next layer, a table of its own that is a twentieth as large; those of
 * that one to a third; the last few hundred keys are in a table with 15 % more
 * slots than keys, where a seed is found that bumps none. The thresholds say
 * for each start whether its keys are here or further on.
 *
 * IMAGE
 *
 *      geometry 0   number of different keys, 0 .. 2^34; 0: no key is there
 *      geometry 1   bits 0-31 buckets of layer 0, 32-39 r, 1 .. 32,
 *                   40-47 form, 0 bumped, 1 homogeneous, 48-55 seed, 0 .. 15,
 *                   56-63 seed of the last layer, 0 .. 63
 *      geometry 2   buckets of layer 1, and of layer 2 in the high half
 *      geometry 3   buckets of layer 3, and tiles of the last layer, T
 *      payload      layer 0, 1, 2, 3, where there are buckets, each its tiles
 *                   and then its codes; T tiles; 32 bytes or a few more of 0
 *
 * A tile is 32 slots: r words of 32 bits, little-endian; bit i of word k is
 * column k of slot i. A layer of B buckets has 128 B starts in shards of 2^16
 * (the last may be smaller), and the slots of a shard are those of its starts
 * and 64 more, for the ends of the last bands: start s begins at slot
 * s + 64 floor(s / 2^16) of the layer. The code of bucket b is 2 bits at bit
 * 2 (b mod 4) of byte b / 4; codes 0 1 2 3 are the thresholds 0 16 36 128. The
 * last layer has 32 min(T, 8192) - 64 starts, no shards and no codes. Of a
 * key, modulo 2^64:
 *
 *      state      mix(hash + seed * S), S = HASH_STEP of core/hash.h
 *                 in each further layer     mix(state + S)
 *                 but in the last one       mix(state + (last seed + 2) * S)
 *      start      high half of state * starts
 *      c          p = state * E7A81F36B92D4C5D;  p xor p >> 32, bit 0 set
 *      print      r low bits of (state * 9E3779B97F4A7C15) >> 32
 *
 * The homogeneous form has layer 0 alone, without codes, and every print is 0.
 *
 *      Valid if and only if (1) the fields are in these ranges and no layer
 *      has more than 2^28 buckets, (2) a layer of no buckets is followed by
 *      such layers only, (3) T is 3 or more in the bumped form; 0, with layers
 *      1 to 3 and the last seed, in the other, which has a bucket, and (4) the
 *      payload has the bytes of all this and 32, and in the bumped form up to
 *      4 r - 1 more.
 *
 * MATHS
 *
 * The fingerprint of a foreign key is independent of what its rows add up to,
 * so the rate is 2^-r for any number of keys and any table. With room for n
 * keys in all, and n_last of them in the last layer, the slots are
 *
 *      n (1 + 1/2000) + 32 shards + 6 sqrt(n/250) + 0.15 n_last + 64     (1)
 *
 * The first two terms above n are for slots that stay empty: 0.093 % of n are
 * measured at 10^8 keys, 0.099 % allowed. The root is for luck; what is not
 * needed goes to the last layer. A code of 2 bits for 128 starts is 1/64 bit a
 * key. At r = 8:
 *
 *      keys           10^4     10^5     10^6     10^7     10^8
 *      bits a key     8.34     8.060    8.029    8.025    8.024
 *
 * against 8 of any filter at all, 8.6 to 9 of binary fuse filters, and 11.5 of
 * a Bloom filter. The image is not smaller for keys that come twice: it is
 * planned for all of them.
 *
 * A rate is met by whole bits: 1 % takes 7 of them (0.78 %), 0.39 % takes 9,
 * since the chance that two hashes are equal is taken off first; `bits=8` says
 * it plainly.
 *
 * The homogeneous form asks that the rows of every key add up to 0, which has
 * always a solution: no key is bumped and no seed fails. Rows that the
 * equations leave free are noise. Where by accident many equations meet, the
 * rows between them are all forced to 0 and every foreign key there is found.
 * With few slots that is the rule (at 5 % more slots than keys it adds 0.018
 * to the rate, at 8 % 0.0006); it falls by a factor of three for each per cent
 * but never quite ends, as accidents of some hundred slots do happen. It gets
 *
 *      slots / keys = 1.1 + 0.008 r                                      (2)
 *
 * and the plan allows half a per cent of the rate for it.
 *
 * CONSTRUCTION
 *
 * Keys are parted by shard, then by start, and a shard is solved by Gauss's
 * elimination as its keys come [Dillinger & Walzer 2021]: a key whose first
 * slot is empty becomes that slot's row; else that row is added to it, which
 * makes its first coefficient 0, and it tries the next slot where it has a 1;
 * about 21 of them. If nothing is left of its coefficients, but something of
 * the fingerprint, it contradicts. The buckets of a shard come one after the
 * other, but in each the keys from the last start to the first: so those that
 * must be bumped have come last, and their rows can be taken out again, for
 * none was added to a key that stays [Dillinger et al. 2022]. Then the rows
 * are solved from the last slot to the first; rows that stay empty are 0.
 *
 * One step of a key waits for the last one, so four shards are done in turn.
 * Shards are independent, whence threads; what is bumped is a matter of which
 * keys there are in a bucket and not of their order, and the solution is the
 * only one whose free rows are 0: the image depends on the set of keys and on
 * n alone. Memory: 8 bytes a key and at most 16 times 3.6 MiB.
 *
 * Each layer but the first starts from the bumped keys, without repeats, and
 * whatever they are, all layers share the bytes that were planned: where they
 * do not suffice, as for hashes made to fall into one bucket, the whole is
 * tried again with another seed.
 *
 * COST
 *
 * A lookup reads 3 tiles in a row, 12 r bytes: at r = 8 two lines, and two bits
 * of a threshold, of which there are so few that they are in the cache. One
 * key in 20 needs a second such reading. In a batch all these lines are asked
 * for 128 keys ahead. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * For a set that does not change, where memory counts most, or the filter is
 * sent over a wire: it is the smallest kind. `fuse` takes an eighth more and
 * has no second table to ask; a set that grows needs another family. The
 * homogeneous form is larger than `fuse`; it answers a batch in the cache in
 * three quarters of the time, and its build cannot fail.
 *
 * PAPERS
 *
 *  [Dillinger & Walzer 2021]  Ribbon filter: practically smaller than Bloom and
 *                  Xor, arXiv 2103.02515. The construction, both forms.
 *  [Dillinger et al. 2022]    Dillinger, Hübschle-Schneider, Sanders & Walzer,
 *                  Fast succinct retrieval and approximate membership using
 *                  ribbon, SEA. Bumping by thresholds, here with codes of 2
 *                  bits; the layers in one image, tiles of 32 slots, shards
 *                  and the last layer are ours.
 */
#include "core/kind.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/threads.h"
#include "core/bits.h"
#include "core/hash.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum {
    RIBBON_VERSION = 1,
    RIBBON_DISTINCT = 0, RIBBON_FIRST = 1, RIBBON_MIDDLE = 2, RIBBON_END = 3,

    RIBBON_BITS_MAX = 32,
    RIBBON_BAND = 64,                   /* slots that a key's equation spans */
    RIBBON_TILE = 32,                   /* slots that are stored together    */
    RIBBON_BUCKET = 128,                /* starts that share a threshold     */
    RIBBON_SHARD = 1 << 16,             /* starts that are solved together   */
    RIBBON_SLOTS = RIBBON_SHARD + RIBBON_BAND,
    RIBBON_SHARD_BUCKETS = RIBBON_SHARD / RIBBON_BUCKET,
    RIBBON_LAYERS = 4,                  /* of buckets, at most               */
    RIBBON_FEW = 500,                   /* keys that need no such layer      */
    RIBBON_PAD = 32,                    /* bytes a vector load may read on   */
    RIBBON_BUCKETS_MAX = 1 << 28,       /* of a layer                        */
    RIBBON_LAST_MAX = 8192,             /* tiles that the last layer uses    */

    RIBBON_SEEDS = 16,                  /* of the whole filter               */
    RIBBON_LAST_SEEDS = 64              /* of the last layer                 */
};

/* With more, those in the last layer might need more than its tiles. */
#define RIBBON_KEYS_MAX (UINT64_C(1) << 34)

/* Odd multipliers, of no particular kind, that take the coefficients and the
 * fingerprint from a key's state. */
#define RIBBON_COEFFICIENTS UINT64_C(0xE7A81F36B92D4C5D)
#define RIBBON_FINGERPRINT  UINT64_C(0x9E3779B97F4A7C15)

/* The thresholds 0, 16, 36 and 128, a byte for each code. */
static const uint32_t RIBBON_THRESHOLDS = 0x80241000;

enum { RIBBON_OPTION_FORM, RIBBON_OPTION_BITS };
enum { RIBBON_BUMPED, RIBBON_HOMOGENEOUS };

static const char *const ribbon_forms[] = { "bumped", "homogeneous", NULL };

static const kind_option ribbon_options[] = {
    [RIBBON_OPTION_FORM] = {
        .name = "form", .help = "bumped: least space; homogeneous: one layer, "
                                "no fingerprints",
        .choices = ribbon_forms, .standard = RIBBON_BUMPED,
    },
    [RIBBON_OPTION_BITS] = {
        .name = "bits", .help = "bits of a fingerprint, instead of a rate",
        .least = 1, .most = RIBBON_BITS_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- Shape ------------------------------------------------------------- */

/* What the geometry says. */
typedef struct {
    uint64_t distinct;                  /* keys; 0: an empty filter          */
    uint32_t buckets[RIBBON_LAYERS];    /* 0: no such layer                  */
    uint32_t last;                      /* tiles of the last layer           */
    uint32_t bits, form, seed, last_seed;
} ribbon_shape;

PLATFORM_INLINE ribbon_shape ribbon_shape_of(const void *image)
{
    uint64_t first = image_geometry(image, RIBBON_FIRST);
    uint64_t middle = image_geometry(image, RIBBON_MIDDLE);
    uint64_t end = image_geometry(image, RIBBON_END);
    return (ribbon_shape){
        .distinct = image_geometry(image, RIBBON_DISTINCT),
        .buckets = { (uint32_t)first, (uint32_t)middle,
                     (uint32_t)(middle >> 32), (uint32_t)end },
        .last = (uint32_t)(end >> 32),
        .bits = (uint8_t)(first >> 32), .form = (uint8_t)(first >> 40),
        .seed = (uint8_t)(first >> 48), .last_seed = (uint8_t)(first >> 56),
    };
}

static void ribbon_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                            const ribbon_shape *g)
{
    geometry[RIBBON_DISTINCT] = g->distinct;
    geometry[RIBBON_FIRST] = g->buckets[0] | (uint64_t)g->bits << 32
                           | (uint64_t)g->form << 40 | (uint64_t)g->seed << 48
                           | (uint64_t)g->last_seed << 56;
    geometry[RIBBON_MIDDLE] = g->buckets[1] | (uint64_t)g->buckets[2] << 32;
    geometry[RIBBON_END] = g->buckets[3] | (uint64_t)g->last << 32;
}

/* Shards of a layer, the last one perhaps smaller. */
PLATFORM_INLINE uint64_t ribbon_shards(uint64_t buckets)
{
    return (buckets + RIBBON_SHARD_BUCKETS - 1) / RIBBON_SHARD_BUCKETS;
}

/* Tiles of a layer: those where bands start, and for each shard two more,
 * where its last bands end. */
PLATFORM_INLINE uint64_t ribbon_tiles(uint64_t buckets)
{
    return buckets * (RIBBON_BUCKET / RIBBON_TILE) + ribbon_shards(buckets)
         * (RIBBON_BAND / RIBBON_TILE);
}

PLATFORM_INLINE uint64_t ribbon_code_bytes(const ribbon_shape *g,
                                           uint32_t buckets)
{
    return g->form == RIBBON_BUMPED ? ((uint64_t)buckets + 3) / 4 : 0;
}

static uint64_t ribbon_layer_bytes(const ribbon_shape *g, uint32_t buckets)
{
    return ribbon_tiles(buckets) * 4 * g->bits + ribbon_code_bytes(g, buckets);
}

/* Bytes of all layers of buckets, without the last. */
static uint64_t ribbon_layers_bytes(const ribbon_shape *g)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < RIBBON_LAYERS; i++)
        bytes += ribbon_layer_bytes(g, g->buckets[i]);
    return bytes;
}

/* ---- What a build works with ------------------------------------------- */

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

/* What a thread has for itself. */
typedef struct {
    uint64_t *rows;                     /* of all lanes; 0: an empty slot    */
    uint64_t *room;                     /* for the keys of one shard         */
    uint32_t *sums;                     /* the rows' fingerprints            */
    ribbon_lane lane[RIBBON_LANES];
    size_t   next, end, live;           /* shards to do, lanes at work       */
} ribbon_worker;

/* One layer in the making. */
typedef struct {
    ribbon_shape g;
    uint32_t buckets;
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

/* What a worker takes: all its arrays are of 8 bytes, but `sums`, of 4. */
static size_t ribbon_worker_bytes(uint64_t n)
{
    size_t rows = ribbon_most_rows(n), room = ribbon_most_room(n);
    size_t ends = rows / RIBBON_BUCKET + 1;
    return sizeof(ribbon_worker)
         + 8 * (RIBBON_LANES * (rows + ends) + room) + 4 * RIBBON_LANES * rows;
}

static uint64_t ribbon_scratch(uint64_t n)
{
    uint64_t workers = ribbon_most_workers(n);
    return n * 8 + (workers + 3) * ribbon_most_shards(n) * 8
         + workers * ribbon_worker_bytes(n);
}

/* ---- Plan -------------------------------------------------------------- */

/* Buckets of a layer for n keys: 95 % of the slots that they would need, so
 * that nearly every slot is used and the keys that find none go on. */
static uint32_t ribbon_buckets(uint64_t n)
{
    uint64_t slots = n - n / 20;
    uint64_t shards = (slots + RIBBON_SLOTS - 1) / RIBBON_SLOTS;
    return (uint32_t)((slots - shards * RIBBON_BAND) / RIBBON_BUCKET);
}

/* Buckets of the one layer of the homogeneous form: (2). */
static uint32_t ribbon_homogeneous_buckets(uint64_t n, uint32_t bits)
{
    return (uint32_t)ceil((1.1 + 0.008 * bits) * (double)n / RIBBON_BUCKET);
}

/* Slots that are enough for n keys in all layers together: (1). */
static double ribbon_slots(uint64_t n)
{
    double keys = (double)n, last = fmin(keys, RIBBON_FEW + 8e-6 * keys);
    double slots = keys + 0.15 * last + RIBBON_BAND;
    if (n > RIBBON_FEW)
        slots += keys / 2000 + 6 * sqrt(keys / 250)
               + 32 * ceil(keys / RIBBON_SHARD);
    return slots;
}

/* The payload, and what is known of the shape before the keys are. */
static uint64_t ribbon_size(ribbon_shape *g, uint64_t n)
{
    if (g->form == RIBBON_HOMOGENEOUS) {
        g->buckets[0] = ribbon_homogeneous_buckets(n, g->bits);
        return ribbon_layers_bytes(g) + RIBBON_PAD;
    }
    if (n > RIBBON_FEW)
        g->buckets[0] = ribbon_buckets(n);
    uint64_t tiles = (uint64_t)ceil(ribbon_slots(n) / RIBBON_TILE);
    uint64_t codes = n > RIBBON_FEW ? n / (4 * RIBBON_BUCKET) + 8 : 0;
    uint64_t payload = tiles * 4 * g->bits + codes + RIBBON_PAD;
    g->last = (uint32_t)((payload - RIBBON_PAD - ribbon_layers_bytes(g))
                         / (4 * g->bits));
    return payload;
}

static double ribbon_rate(const ribbon_shape *g)
{
    double rate = ldexp(1, -(int)g->bits);
    return g->form == RIBBON_BUMPED ? rate : 1.005 * rate;
}

/* The least bits that keep the rate; more than RIBBON_BITS_MAX if none do. */
static uint32_t ribbon_bits(ribbon_shape g, const kind_spec *spec)
{
    if (spec->option[RIBBON_OPTION_BITS] != KIND_CHOOSE)
        return (uint32_t)spec->option[RIBBON_OPTION_BITS];
    for (g.bits = 1; g.bits <= RIBBON_BITS_MAX; g.bits++)
        if (ribbon_rate(&g) <= spec->rate)
            break;
    return g.bits;
}

/* Lines of three tiles in a row, on average over where the first begins. */
static double ribbon_lines(uint32_t bits)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < 16; i++)
        lines += (4 * bits * i % 64 + 3 * 4 * bits - 1) / 64 + 1;
    return lines / 16.0;
}

static bly_status ribbon_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity;
    ribbon_shape g = { .form = (uint32_t)spec->option[RIBBON_OPTION_FORM] };
    g.bits = ribbon_bits(g, spec);
    if (n == 0)
        return kind_no_capacity();
    if (n > RIBBON_KEYS_MAX)
        return kind_too_big(spec, "2^34 keys");
    if (g.bits > RIBBON_BITS_MAX)
        return status_fail(BLY_EPARAM, "kind ribbon ends at a rate of 2^-32: "
                           "use standard for %.3g", spec->rate);
    bly_status status = kind_plan_bytes(plan, ribbon_size(&g, n));
    if (status != BLY_OK)
        return status;

    bool bumped = g.form == RIBBON_BUMPED;
    g.distinct = n;
    plan->capacity = n;
    plan->scratch = ribbon_scratch(n);
    plan->rate = ribbon_rate(&g);
    plan->rate_sd = bumped ? 0 : 0.01 * plan->rate;
    plan->fill = 0.5 * (double)n * g.bits / (8 * (double)plan->bytes);
    plan->probes = RIBBON_BAND;
    plan->lines_present = (ribbon_lines(g.bits) + bumped)
                        * (bumped && n > RIBBON_FEW ? 1.06 : 1);
    plan->lines_absent = plan->lines_present;
    ribbon_geometry(plan->geometry, &g);
    return BLY_OK;
}

static bly_status ribbon_check(const void *image)
{
    ribbon_shape g = ribbon_shape_of(image);
    bool bumped = g.form == RIBBON_BUMPED;
    bool sound = g.distinct <= RIBBON_KEYS_MAX
              && g.bits >= 1 && g.bits <= RIBBON_BITS_MAX
              && g.seed < RIBBON_SEEDS && g.last_seed < RIBBON_LAST_SEEDS
              && (bumped ? g.last >= 3 : g.form == RIBBON_HOMOGENEOUS
                  && g.buckets[0] > 0 && g.buckets[1] == 0
                  && g.last == 0 && g.last_seed == 0);
    for (size_t i = 0; i < RIBBON_LAYERS; i++)
        sound = sound && g.buckets[i] <= RIBBON_BUCKETS_MAX
             && (i == 0 || g.buckets[i] == 0 || g.buckets[i - 1] > 0);
    if (!sound)
        return kind_bad_geometry(image);

    uint64_t payload = image_payload_bytes(image), bytes = RIBBON_PAD
        + ribbon_layers_bytes(&g) + (uint64_t)g.last * 4 * g.bits;
    return payload >= bytes && payload - bytes < (bumped ? 4 * g.bits : 1)
         ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Keys and layers --------------------------------------------------- */

/* The state of a key in the first layer, in the next one, and in the last. */
PLATFORM_INLINE uint64_t ribbon_state(uint64_t hash, uint32_t seed)
{
    return hash_mix(hash + seed * HASH_STEP);
}

PLATFORM_INLINE uint64_t ribbon_next(uint64_t state)
{
    return hash_mix(state + HASH_STEP);
}

/* What is added to a state before it is mixed for the last layer. */
PLATFORM_INLINE uint64_t ribbon_last_add(uint32_t last_seed)
{
    return (last_seed + UINT64_C(2)) * HASH_STEP;
}

/* Which of the 64 slots from its start are in the key's equation: always the
 * first. */
PLATFORM_INLINE uint64_t ribbon_coefficients(uint64_t state)
{
    uint64_t product = state * RIBBON_COEFFICIENTS;
    return (product ^ product >> 32) | 1;
}

/* The high half, of which the lower bits are taken. */
PLATFORM_INLINE uint32_t ribbon_fingerprint(uint64_t state)
{
    return (uint32_t)(state * RIBBON_FINGERPRINT >> 32);
}

/* One layer, for lookups. */
typedef struct {
    const uint8_t *tiles;
    const uint8_t *codes;               /* NULL: it bumps no key             */
    uint64_t starts;
    uint32_t bits;
    uint32_t shard;                     /* log2 of the starts in a shard     */
    uint32_t prints;                    /* all ones; 0: equations are of 0   */
} ribbon_layer;

PLATFORM_INLINE ribbon_layer ribbon_layer_at(const ribbon_shape *g,
                                             const uint8_t *at,
                                             uint32_t buckets)
{
    bool bumped = g->form == RIBBON_BUMPED;
    return (ribbon_layer){
        .tiles = at,
        .codes = bumped ? at + ribbon_tiles(buckets) * 4 * g->bits : NULL,
        .starts = (uint64_t)buckets * RIBBON_BUCKET,
        .bits = g->bits, .shard = 16, .prints = bumped ? UINT32_MAX : 0,
    };
}

PLATFORM_INLINE uint64_t ribbon_last_tiles(const ribbon_shape *g)
{
    return g->last < RIBBON_LAST_MAX ? g->last : RIBBON_LAST_MAX;
}

static ribbon_layer ribbon_last_at(const ribbon_shape *g, const uint8_t *at)
{
    return (ribbon_layer){
        .tiles = at, .codes = NULL,
        .starts = (ribbon_last_tiles(g) - 2) * RIBBON_TILE,
        .bits = g->bits, .shard = 63, .prints = UINT32_MAX,
    };
}

/* The byte of the layer where the tile of a start begins. */
PLATFORM_INLINE uint64_t ribbon_tile_at(const ribbon_layer *layer,
                                        uint64_t start)
{
    uint64_t tile = start / RIBBON_TILE
                  + (start >> layer->shard) * (RIBBON_BAND / RIBBON_TILE);
    return tile * 4 * layer->bits;
}

/* Has a key of this start gone on to the next layer? `codes` is the byte that
 * has its bucket's code. */
PLATFORM_INLINE bool ribbon_below(uint64_t start, uint8_t codes)
{
    uint32_t code = codes >> start / RIBBON_BUCKET % 4 * 2 & 3;
    return start % RIBBON_BUCKET < (RIBBON_THRESHOLDS >> 8 * code & 0xFF);
}

PLATFORM_INLINE bool ribbon_gone(const ribbon_layer *layer, uint64_t start)
{
    return layer->codes != NULL
        && ribbon_below(start, layer->codes[start / (4 * RIBBON_BUCKET)]);
}

/* ---- One key ----------------------------------------------------------- */

PLATFORM_INLINE uint32_t ribbon_parity(uint64_t v, bool quick)
{
    if (quick)                          /* there is an instruction for it */
        return platform_popcount(v) & 1;
    v ^= v >> 32;
    v ^= v >> 16;
    v ^= v >> 8;
    v ^= v >> 4;
    return 0x6996u >> (v & 15) & 1;
}

/* A band has 64 rows in three tiles: its coefficients, shifted to where it
 * starts in the first one, a word for each tile. */
typedef struct {
    uint32_t word[3];
} ribbon_words;

PLATFORM_INLINE ribbon_words ribbon_words_of(uint64_t state, uint64_t start)
{
    uint64_t c = ribbon_coefficients(state), low = c << start % RIBBON_TILE;
    uint64_t high = c >> 1 >> (63 - start % RIBBON_TILE);
    return (ribbon_words){ { (uint32_t)low, (uint32_t)(low >> 32),
                             (uint32_t)high } };
}

/* Do the rows of the band add up to the fingerprint, in every column? */
PLATFORM_INLINE bool ribbon_adds_up(const uint8_t *tile, uint32_t bits,
                                    ribbon_words c, uint32_t print)
{
    uint32_t wrong = 0;
    size_t bytes = 4 * (size_t)bits;
    for (size_t i = 0; i < bits; i++) {
        uint32_t sum = (image_u32(tile, 4 * i) & c.word[0])
                     ^ (image_u32(tile + bytes, 4 * i) & c.word[1])
                     ^ (image_u32(tile + 2 * bytes, 4 * i) & c.word[2]);
        wrong |= ribbon_parity(sum, false) ^ (print >> i & 1);
    }
    return wrong == 0;
}

#if CPU_X86
/* Eight columns, from `first` on, of a band, added up, with the bit of the
 * fingerprint that they should come to: a lane of 32 bits for each. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_columns_avx2(const uint8_t *tile, uint32_t bits, ribbon_words words,
                    uint32_t print, uint32_t first)
{
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const uint8_t *from = tile + 4 * first;
    size_t bytes = 4 * (size_t)bits;
    __m256i a = _mm256_loadu_si256((const void *)from);
    __m256i b = _mm256_loadu_si256((const void *)(from + bytes));
    __m256i c = _mm256_loadu_si256((const void *)(from + 2 * bytes));
    a = _mm256_and_si256(a, _mm256_set1_epi32((int)words.word[0]));
    b = _mm256_and_si256(b, _mm256_set1_epi32((int)words.word[1]));
    c = _mm256_and_si256(c, _mm256_set1_epi32((int)words.word[2]));
    __m256i wanted = _mm256_set1_epi32((int)(print >> first));
    wanted = _mm256_and_si256(_mm256_srlv_epi32(wanted, numbers),
                              _mm256_set1_epi32(1));
    return _mm256_xor_si256(_mm256_xor_si256(a, b),
                            _mm256_xor_si256(c, wanted));
}

/* As ribbon_adds_up(), eight columns at a time: each lane is folded until the
 * parity of its lowest 4 bits is that of all, which is looked up. */
CPU_TARGET_AVX2 PLATFORM_INLINE bool
ribbon_adds_up_avx2(const uint8_t *tile, uint32_t bits, ribbon_words c,
                    uint32_t print)
{
    const __m256i odd = _mm256_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0,
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0);
    uint32_t wrong = 0;
    for (uint32_t first = 0; first < bits; first += 8) {
        __m256i sum = ribbon_columns_avx2(tile, bits, c, print, first);
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 16));
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 8));
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 4));
        sum = _mm256_and_si256(sum, _mm256_set1_epi32(15));
        sum = _mm256_slli_epi32(_mm256_shuffle_epi8(odd, sum), 31);
        uint32_t columns = (uint32_t)_mm256_movemask_ps(
                               _mm256_castsi256_ps(sum));
        wrong |= bits - first < 8 ? columns & ((1u << (bits - first)) - 1)
                                  : columns;
    }
    return wrong == 0;
}
#endif

/* Where the answer for a key is. */
typedef struct {
    ribbon_layer layer;
    uint64_t state;
} ribbon_answer;

/* For an image that is not empty. */
PLATFORM_INLINE ribbon_answer ribbon_find(const void *image,
                                          const ribbon_shape *g, uint64_t hash)
{
    const uint8_t *at = image_payload(image);
    uint64_t state = ribbon_state(hash, g->seed);
    for (size_t i = 0; i < RIBBON_LAYERS && g->buckets[i] > 0; i++) {
        ribbon_layer layer = ribbon_layer_at(g, at, g->buckets[i]);
        state = i > 0 ? ribbon_next(state) : state;
        if (!ribbon_gone(&layer, bits_range(state, layer.starts)))
            return (ribbon_answer){ layer, state };
        at += ribbon_layer_bytes(g, g->buckets[i]);
    }
    return (ribbon_answer){ ribbon_last_at(g, at),
                            hash_mix(state + ribbon_last_add(g->last_seed)) };
}

/* A key, its layer and place found, put to `adds_up`. */
#define RIBBON_ONE(image, hash, adds_up)                                       \
    do {                                                                       \
        ribbon_shape g = ribbon_shape_of(image);                               \
        if (g.distinct == 0)                                                   \
            return false;                                                      \
        ribbon_answer a = ribbon_find((image), &g, (hash));                    \
        uint64_t start = bits_range(a.state, a.layer.starts);                  \
        return adds_up(a.layer.tiles + ribbon_tile_at(&a.layer, start),        \
                       a.layer.bits, ribbon_words_of(a.state, start),          \
                       ribbon_fingerprint(a.state) & a.layer.prints);          \
    } while (0)

static bool ribbon_contains(const void *image, uint64_t hash)
{
    RIBBON_ONE(image, hash, ribbon_adds_up);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool ribbon_contains_avx2(const void *image,
                                                 uint64_t hash)
{
    RIBBON_ONE(image, hash, ribbon_adds_up_avx2);
}
#endif

static kind_contains *ribbon_contains_here(void)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return ribbon_contains_avx2;
#endif
    return ribbon_contains;
}

/* ---- Batches ----------------------------------------------------------- */

/* Keys are taken through a layer eight at a time, RIBBON_RING eights after
 * their lines were asked for. Those bumped wait until they are RIBBON_GROUP or
 * so, enough to be a batch for the next layer: with few the lookups would wait
 * for the lines of the last of them more than for all others. */
enum { RIBBON_RING = 16, RIBBON_GROUP = 4096 };

/* What is known of eight keys when their lines are asked for. */
typedef struct {
    uint64_t state[8], start[8];
    uint64_t at[8];                     /* byte where the first tile begins  */
    uint32_t c[3][8];                   /* coefficients, a word for each tile*/
    uint32_t print[8];
    uint8_t  codes[8];                  /* of four buckets, the key's too    */
} ribbon_eight;

/* The keys that go on from a layer. */
typedef struct {
    uint64_t state[RIBBON_GROUP];
    uint32_t key[RIBBON_GROUP];         /* its place in the batch            */
} ribbon_group;

/* n keys and the layer that is next for them. */
typedef struct {
    ribbon_layer layer;
    const uint64_t *in;                 /* hashes, or states in the last one */
    uint64_t add;                       /* to these, before they are mixed   */
    size_t   n;
    bool     first;                     /* the keys are 0 … n-1; else they
                                           come from the group              */
    bool    *present;
    ribbon_group *group;
} ribbon_pass;

/* How many columns: up to 8, up to 16, more. Bodies are made for each. */
typedef enum { RIBBON_TO_8, RIBBON_TO_16, RIBBON_TO_32 } ribbon_width;

/* Keys i, i+1, … i+7, or as many as there are. */
PLATFORM_INLINE size_t ribbon_some(const ribbon_pass *p, size_t i)
{
    return p->n - i < 8 ? p->n - i : 8;
}

/* Ask for all lines of eight bands, and fetch the bytes that their thresholds
 * are in: there are so few of these that they are near. What is asked for is
 * what the vector bodies load, eight columns of each tile at a time, also
 * behind the band: a line that is loaded and was not asked for is waited for,
 * be it needed or not. Of a narrow band that is two lines, seldom three. */
PLATFORM_INLINE void ribbon_ask(const ribbon_pass *p, size_t i,
                                ribbon_eight *e, ribbon_width width)
{
    const ribbon_layer *layer = &p->layer;
    size_t bits = layer->bits, n = ribbon_some(p, i);
    size_t bytes = 2 * 4 * bits + (bits + 7) / 8 * 32;
    for (size_t j = 0; j < n; j++) {
        const uint8_t *tile = layer->tiles + e->at[j];
        platform_prefetch(tile);
        platform_prefetch(tile + bytes - 1);
        if (width == RIBBON_TO_8 && bits % 8 > 4)
            platform_prefetch(tile + bytes / 2);
        for (size_t k = 64; width != RIBBON_TO_8 && k < bytes; k += 64)
            platform_prefetch(tile + k);
        if (layer->codes != NULL)
            e->codes[j] = layer->codes[e->start[j] / (4 * RIBBON_BUCKET)];
    }
}

PLATFORM_INLINE void ribbon_prepare(const ribbon_pass *p, size_t i,
                                    ribbon_eight *e)
{
    for (size_t j = 0; j < ribbon_some(p, i); j++) {
        uint64_t state = hash_mix(p->in[i + j] + p->add);
        uint64_t start = bits_range(state, p->layer.starts);
        ribbon_words c = ribbon_words_of(state, start);
        e->state[j] = state;
        e->start[j] = start;
        e->at[j] = ribbon_tile_at(&p->layer, start);
        for (size_t k = 0; k < 3; k++)
            e->c[k][j] = c.word[k];
        e->print[j] = ribbon_fingerprint(state) & p->layer.prints;
    }
}

/* Answer keys i … from `wrong`, whose bit j is set if key i+j is not here, and
 * keep those for the next layer that have gone there. How many are kept. */
PLATFORM_INLINE size_t ribbon_settle(const ribbon_pass *p, size_t i,
                                     const ribbon_eight *e, uint32_t wrong,
                                     size_t kept)
{
    for (size_t j = 0; j < ribbon_some(p, i); j++) {
        size_t key = p->first ? i + j : p->group->key[i + j];
        p->present[key] = !(wrong >> j & 1);
        p->group->state[kept] = e->state[j];
        p->group->key[kept] = (uint32_t)key;
        kept += p->layer.codes != NULL
             && ribbon_below(e->start[j], e->codes[j]);
    }
    return kept;
}

/* Might eight keys more, beside those in the ring, be too many? Keys that come
 * from the group never are. */
PLATFORM_INLINE bool ribbon_full(const ribbon_pass *p, size_t kept)
{
    return p->first && kept > RIBBON_GROUP - 8 * (RIBBON_RING + 1);
}

/* A layer for the keys of a pass; how many go on. In the first layer it ends,
 * and makes p->n smaller, when the group might be full. Eights are asked for
 * one turn after they were prepared: sooner, and what was written in one piece
 * could not yet be read in eight. */
#define RIBBON_ROLL(p, prepare, settle, width)                                 \
    do {                                                                       \
        ribbon_eight ring[RIBBON_RING];                                        \
        size_t kept = 0, eights = ((p)->n + 7) / 8;                            \
        for (size_t i = 0; i < eights + RIBBON_RING; i++) {                    \
            ribbon_eight *e = &ring[i % RIBBON_RING];                          \
            if (i >= RIBBON_RING)                                              \
                kept = settle((p), 8 * (i - RIBBON_RING), e, kept, (width));   \
            if (i >= 1 && i <= eights)                                         \
                ribbon_ask((p), 8 * (i - 1), &ring[(i - 1) % RIBBON_RING],     \
                           (width));                                          \
            if (i < eights && !ribbon_full((p), kept))                         \
                prepare((p), 8 * i, e);                                        \
            else if (i < eights)                                               \
                (p)->n = 8 * (eights = i);                                     \
        }                                                                      \
        return kept;                                                           \
    } while (0)

PLATFORM_INLINE size_t ribbon_settle_portable(const ribbon_pass *p, size_t i,
                                              const ribbon_eight *e,
                                              size_t kept, ribbon_width width)
{
    uint32_t wrong = 0;
    (void)width;
    for (size_t j = 0; j < ribbon_some(p, i); j++) {
        ribbon_words c = { { e->c[0][j], e->c[1][j], e->c[2][j] } };
        wrong |= (uint32_t)!ribbon_adds_up(p->layer.tiles + e->at[j],
            p->layer.bits, c, e->print[j]) << j;
    }
    return ribbon_settle(p, i, e, wrong, kept);
}

static size_t ribbon_pass_portable(ribbon_pass *p)
{
    RIBBON_ROLL(p, ribbon_prepare, ribbon_settle_portable, RIBBON_TO_32);
}

#if CPU_X86
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_key_avx2(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                uint32_t first)
{
    ribbon_words c = { { e->c[0][j], e->c[1][j], e->c[2][j] } };
    return ribbon_columns_avx2(layer->tiles + e->at[j], layer->bits, c,
                               e->print[j], first);
}

/* Of each lane the exclusive or of its two halves: of a in the low half, of b
 * in the high one. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i ribbon_halves_avx2(__m256i a, __m256i b)
{
    return _mm256_blend_epi16(_mm256_xor_si256(a, _mm256_srli_epi32(a, 16)),
                              _mm256_xor_si256(b, _mm256_slli_epi32(b, 16)),
                              0xAA);
}

/* Keys j … j+3 and columns first … first+7: a byte each, four keys in the lane
 * of a column, whose bits' parity is 1 where the key is not there. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_four_avx2(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                 uint32_t first)
{
    __m256i a = ribbon_halves_avx2(ribbon_key_avx2(layer, e, j, first),
                                   ribbon_key_avx2(layer, e, j + 2, first));
    __m256i b = ribbon_halves_avx2(ribbon_key_avx2(layer, e, j + 1, first),
                                   ribbon_key_avx2(layer, e, j + 3, first));
    a = _mm256_xor_si256(a, _mm256_srli_epi16(a, 8));
    b = _mm256_xor_si256(b, _mm256_slli_epi16(b, 8));
    return _mm256_blendv_epi8(a, b, _mm256_set1_epi16((short)0xFF00));
}

/* A bit of each byte whose parity is 1, in the lanes that are columns. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
ribbon_odd_avx2(__m256i bytes, uint32_t columns)
{
    const __m256i odd = _mm256_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0,
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0);
    bytes = _mm256_xor_si256(bytes, _mm256_srli_epi16(bytes, 4));
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(
                        _mm256_shuffle_epi8(odd, bytes));
    return columns < 8 ? bits & ((1u << 4 * columns) - 1) : bits;
}

/* The bits of four keys, from those of each column. */
PLATFORM_INLINE uint32_t ribbon_any_column(uint32_t bits)
{
    bits |= bits >> 16;
    bits |= bits >> 8;
    bits |= bits >> 4;
    return bits & 15;
}

/* Bit j is set if key j of the eight is not there. With up to eight columns
 * there is no loop to be set up for. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
ribbon_wrong_avx2(const ribbon_layer *layer, const ribbon_eight *e, ribbon_width width)
{
    uint32_t low = 0, high = 0, bits = layer->bits;
    for (uint32_t first = 0; width == RIBBON_TO_8 ? first == 0
                                                     : first < bits; first += 8) {
        low |= ribbon_odd_avx2(ribbon_four_avx2(layer, e, 0, first),
                               bits - first);
        high |= ribbon_odd_avx2(ribbon_four_avx2(layer, e, 4, first),
                                bits - first);
    }
    return ribbon_any_column(low) | ribbon_any_column(high) << 4;
}

CPU_TARGET_AVX2 PLATFORM_INLINE size_t
ribbon_settle_avx2(const ribbon_pass *p, size_t i, const ribbon_eight *e,
                   size_t kept, ribbon_width width)
{
    return ribbon_settle(p, i, e, ribbon_wrong_avx2(&p->layer, e, width),
                         kept);
}

/* Eights that are not full are answered as one by one. */
CPU_TARGET_AVX2 static size_t ribbon_pass_avx2(ribbon_pass *p)
{
#define RIBBON_SETTLE(p, i, e, kept, width)                                    \
    (ribbon_some(p, i) < 8 ? ribbon_settle_portable(p, i, e, kept, width)      \
                           : ribbon_settle_avx2(p, i, e, kept, width))
    if (p->layer.bits <= 8)
        RIBBON_ROLL(p, ribbon_prepare, RIBBON_SETTLE, RIBBON_TO_8);
    else
        RIBBON_ROLL(p, ribbon_prepare, RIBBON_SETTLE, RIBBON_TO_32);
#undef RIBBON_SETTLE
}

/* As ribbon_columns_avx2(), sixteen columns. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_key_avx512(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                  uint32_t first)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                              11, 12, 13, 14, 15);
    const uint8_t *from = layer->tiles + e->at[j] + 4 * first;
    size_t bytes = 4 * (size_t)layer->bits;
    __m512i a = _mm512_loadu_si512(from);
    __m512i b = _mm512_loadu_si512(from + bytes);
    __m512i c = _mm512_loadu_si512(from + 2 * bytes);
    a = _mm512_and_si512(a, _mm512_set1_epi32((int)e->c[0][j]));
    b = _mm512_and_si512(b, _mm512_set1_epi32((int)e->c[1][j]));
    c = _mm512_and_si512(c, _mm512_set1_epi32((int)e->c[2][j]));
    __m512i wanted = _mm512_set1_epi32((int)(e->print[j] >> first));
    wanted = _mm512_and_si512(_mm512_srlv_epi32(wanted, numbers),
                              _mm512_set1_epi32(1));
    return _mm512_xor_si512(_mm512_xor_si512(a, b),
                            _mm512_xor_si512(c, wanted));
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_halves_avx512(__m512i a, __m512i b)
{
    return _mm512_mask_blend_epi16(0xAAAAAAAA,
        _mm512_xor_si512(a, _mm512_srli_epi32(a, 16)),
        _mm512_xor_si512(b, _mm512_slli_epi32(b, 16)));
}

/* As ribbon_four_avx2(), sixteen columns. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_four_avx512(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                   uint32_t first)
{
    __m512i a = ribbon_halves_avx512(ribbon_key_avx512(layer, e, j, first),
                                     ribbon_key_avx512(layer, e, j + 2, first));
    __m512i b = ribbon_halves_avx512(ribbon_key_avx512(layer, e, j + 1, first),
                                     ribbon_key_avx512(layer, e, j + 3, first));
    a = _mm512_xor_si512(a, _mm512_srli_epi16(a, 8));
    b = _mm512_xor_si512(b, _mm512_slli_epi16(b, 8));
    return _mm512_mask_blend_epi8(UINT64_C(0xAAAAAAAAAAAAAAAA), a, b);
}

/* The bits of four keys: is the parity of a byte 1 in any of the columns? */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
ribbon_odd_avx512(__m512i bytes, uint32_t columns)
{
    const __m512i odd = _mm512_broadcast_i32x4(_mm_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0));
    bytes = _mm512_xor_si512(bytes, _mm512_srli_epi16(bytes, 4));
    bytes = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    uint64_t bits = _mm512_movepi8_mask(_mm512_shuffle_epi8(odd, bytes));
    bits = columns < 16 ? bits & ((UINT64_C(1) << 4 * columns) - 1) : bits;
    return ribbon_any_column((uint32_t)(bits | bits >> 32));
}

/* As ribbon_wrong_avx2(), for more than 8 columns: sixteen at a time, and where
 * the last are no more than eight, these: no more is asked for. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
ribbon_wrong_avx512(const ribbon_layer *layer, const ribbon_eight *e,
                    ribbon_width width)
{
    uint32_t wrong = 0, bits = layer->bits, first = 0;
    for (; width == RIBBON_TO_16 ? first == 0 : bits - first > 8
                                                 && first < bits; first += 16) {
        wrong |= ribbon_odd_avx512(ribbon_four_avx512(layer, e, 0, first),
                                   bits - first);
        wrong |= ribbon_odd_avx512(ribbon_four_avx512(layer, e, 4, first),
                                   bits - first) << 4;
    }
    if (width == RIBBON_TO_32 && first < bits) {
        wrong |= ribbon_any_column(ribbon_odd_avx2(
                     ribbon_four_avx2(layer, e, 0, first), bits - first));
        wrong |= ribbon_any_column(ribbon_odd_avx2(
                     ribbon_four_avx2(layer, e, 4, first), bits - first)) << 4;
    }
    return wrong;
}

/* The high half of the product with a number below 2^63, from four products
 * of halves. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_range_avx512(__m512i state, uint64_t n)
{
    __m512i low = _mm512_set1_epi64((long long)(n & UINT32_MAX));
    __m512i high = _mm512_set1_epi64((long long)(n >> 32));
    __m512i mask = _mm512_set1_epi64(UINT32_MAX);
    __m512i top = _mm512_srli_epi64(state, 32);
    __m512i a = _mm512_srli_epi64(_mm512_mul_epu32(state, low), 32);
    __m512i b = _mm512_add_epi64(_mm512_mul_epu32(top, low), a);
    __m512i c = _mm512_add_epi64(_mm512_mul_epu32(state, high),
                                 _mm512_and_si512(b, mask));
    return _mm512_add_epi64(_mm512_add_epi64(_mm512_mul_epu32(top, high),
                                             _mm512_srli_epi64(b, 32)),
                            _mm512_srli_epi64(c, 32));
}

/* hash_mix() of eight. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i ribbon_mix_avx512(__m512i v)
{
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 30));
    v = _mm512_mullo_epi64(v, _mm512_set1_epi64((long long)0xBF58476D1CE4E5B9));
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 27));
    v = _mm512_mullo_epi64(v, _mm512_set1_epi64((long long)0x94D049BB133111EB));
    return _mm512_xor_si512(v, _mm512_srli_epi64(v, 31));
}

/* The words of the coefficients and the fingerprint. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
ribbon_words_avx512(const ribbon_layer *layer, ribbon_eight *e, __m512i state,
                    __m512i start)
{
    const __m512i by = _mm512_set1_epi64((long long)RIBBON_COEFFICIENTS);
    const __m512i from = _mm512_set1_epi64((long long)RIBBON_FINGERPRINT);
    __m512i c = _mm512_mullo_epi64(state, by);
    c = _mm512_or_si512(_mm512_xor_si512(c, _mm512_srli_epi64(c, 32)),
                        _mm512_set1_epi64(1));
    __m512i shift = _mm512_and_si512(start, _mm512_set1_epi64(31));
    __m512i low = _mm512_sllv_epi64(c, shift);
    __m512i high = _mm512_srlv_epi64(c, _mm512_sub_epi64(_mm512_set1_epi64(64),
                                                         shift));
    __m256i print = _mm512_cvtepi64_epi32(_mm512_srli_epi64(
                        _mm512_mullo_epi64(state, from), 32));
    _mm256_storeu_si256((void *)e->c[0], _mm512_cvtepi64_epi32(low));
    _mm256_storeu_si256((void *)e->c[1],
                        _mm512_cvtepi64_epi32(_mm512_srli_epi64(low, 32)));
    _mm256_storeu_si256((void *)e->c[2], _mm512_cvtepi64_epi32(high));
    _mm256_storeu_si256((void *)e->print, _mm256_and_si256(print,
                            _mm256_set1_epi32((int)layer->prints)));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
ribbon_prepare_avx512(const ribbon_pass *p, size_t i, ribbon_eight *e)
{
    __mmask8 there = (__mmask8)(0xFF >> (8 - ribbon_some(p, i)));
    __m512i in = _mm512_maskz_loadu_epi64(there, p->in + i);
    __m512i state = ribbon_mix_avx512(_mm512_add_epi64(in,
                        _mm512_set1_epi64((long long)p->add)));
    __m512i start = ribbon_range_avx512(state, p->layer.starts);
    __m512i gap = _mm512_srl_epi64(start, _mm_cvtsi32_si128(
                                              (int)p->layer.shard));
    __m512i tile = _mm512_add_epi64(_mm512_srli_epi64(start, 5),
                                    _mm512_slli_epi64(gap, 1));
    __m512i at = _mm512_mul_epu32(tile, _mm512_set1_epi64(4 * p->layer.bits));
    _mm512_storeu_si512(e->state, state);
    _mm512_storeu_si512(e->start, start);
    _mm512_storeu_si512(e->at, at);
    ribbon_words_avx512(&p->layer, e, state, start);
}

/* ribbon_below() of eight. */
CPU_TARGET_AVX512 PLATFORM_INLINE __mmask8
ribbon_below_avx512(const ribbon_eight *e)
{
    const __m512i three = _mm512_set1_epi64(3);
    __m512i start = _mm512_loadu_si512(e->start);
    __m512i codes = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)
                                                         e->codes));
    __m512i which = _mm512_and_si512(_mm512_srli_epi64(start, 7), three);
    __m512i code = _mm512_and_si512(three, _mm512_srlv_epi64(codes,
                                            _mm512_slli_epi64(which, 1)));
    __m512i limit = _mm512_srlv_epi64(_mm512_set1_epi64(RIBBON_THRESHOLDS),
                                      _mm512_slli_epi64(code, 3));
    return _mm512_cmplt_epu64_mask(
        _mm512_and_si512(start, _mm512_set1_epi64(RIBBON_BUCKET - 1)),
        _mm512_and_si512(limit, _mm512_set1_epi64(0xFF)));
}

/* As ribbon_settle(), for eight keys of the first layer. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
ribbon_settle_first_avx512(const ribbon_pass *p, size_t i,
                           const ribbon_eight *e, uint32_t wrong, size_t kept)
{
    __mmask8 gone = p->layer.codes == NULL ? 0 : ribbon_below_avx512(e);
    uint64_t answers = _pdep_u64(~wrong, UINT64_C(0x0101010101010101));
    memcpy(p->present + i, &answers, sizeof answers);
    __m256i keys = _mm256_add_epi32(_mm256_set1_epi32((int)i),
                                    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_storeu_si512(p->group->state + kept, _mm512_maskz_compress_epi64(
                            gone, _mm512_loadu_si512(e->state)));
    _mm256_storeu_si256((void *)(p->group->key + kept),
                        _mm256_maskz_compress_epi32(gone, keys));
    return kept + platform_popcount(gone);
}

/* Eights that are not full have zeros for what they lack. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
ribbon_settle_avx512(const ribbon_pass *p, size_t i, const ribbon_eight *e,
                     size_t kept, ribbon_width width)
{
    uint32_t wrong = width == RIBBON_TO_8
                   ? ribbon_wrong_avx2(&p->layer, e, width)
                   : ribbon_wrong_avx512(&p->layer, e, width);
    if (p->first && ribbon_some(p, i) == 8)
        return ribbon_settle_first_avx512(p, i, e, wrong, kept);
    return ribbon_settle(p, i, e, wrong, kept);
}

CPU_TARGET_AVX512 static size_t ribbon_pass_avx512(ribbon_pass *p)
{
    if (p->layer.bits <= 8)
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_8);
    else if (p->layer.bits <= 16)
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_16);
    else
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_32);
}
#endif

typedef size_t ribbon_pass_work(ribbon_pass *p);

static ribbon_pass_work *ribbon_pass_here(void)
{
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512)
        return ribbon_pass_avx512;
    if (level >= CPU_AVX2)
        return ribbon_pass_avx2;
#endif
    return ribbon_pass_portable;
}

/* Keys that are to go to the last layer at once. */
static size_t ribbon_no_layers(ribbon_pass *p, const ribbon_shape *g)
{
    if (p->n > RIBBON_GROUP)
        p->n = RIBBON_GROUP;
    for (size_t i = 0; i < p->n; i++) {
        p->group->state[i] = ribbon_state(p->in[i], g->seed);
        p->group->key[i] = (uint32_t)i;
    }
    return p->n;
}

/* The first of the pass's keys, as many as are done together: those in the
 * first layer, those that have gone on from it in the second, and so on. How
 * many they were. */
static size_t ribbon_contains_some(ribbon_pass *p, const ribbon_shape *g,
                                   const uint8_t *at, ribbon_pass_work *work)
{
    size_t done = 0;
    if (g->buckets[0] == 0)
        done = ribbon_no_layers(p, g);
    for (size_t i = 0; i < RIBBON_LAYERS && g->buckets[i] > 0 && p->n > 0; i++) {
        p->first = i == 0;
        p->layer = ribbon_layer_at(g, at, g->buckets[i]);
        p->add = i == 0 ? g->seed * HASH_STEP : HASH_STEP;
        size_t kept = work(p);
        done = i == 0 ? p->n : done;
        p->n = kept;
        p->in = p->group->state;
        at += ribbon_layer_bytes(g, g->buckets[i]);
    }
    if (p->n > 0) {
        p->first = false;
        p->layer = ribbon_last_at(g, at);
        p->in = p->group->state;
        p->add = ribbon_last_add(g->last_seed);
        work(p);
    }
    return done;
}

static void ribbon_contains_many(const void *image, const uint64_t *hashes,
                                 size_t n, bool *present)
{
    ribbon_shape g = ribbon_shape_of(image);
    ribbon_pass_work *work = ribbon_pass_here();
    ribbon_group group;
    if (g.distinct == 0) {
        memset(present, 0, n * sizeof *present);
        return;
    }
    for (size_t i = 0; i < n; ) {
        ribbon_pass pass = { .in = hashes + i, .present = present + i,
                             .n = n - i < INT32_MAX ? n - i : INT32_MAX,
                             .group = &group };
        i += ribbon_contains_some(&pass, &g, image_payload(image), work);
    }
}

/* ---- Build: sort ------------------------------------------------------- */

PLATFORM_INLINE uint64_t ribbon_start(const ribbon_work *w, uint64_t state)
{
    return bits_range(state, (uint64_t)w->buckets * RIBBON_BUCKET);
}

/* Let keys[root] sink to its place in a heap of n. */
static void ribbon_sink(uint64_t *keys, size_t root, size_t n)
{
    uint64_t key = keys[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && keys[child + 1] > keys[child];
        if (keys[child] <= key)
            break;
        keys[root] = keys[child];
    }
    keys[root] = key;
}

static void ribbon_sort_heap(uint64_t *keys, size_t n)
{
    for (size_t i = n / 2; i-- > 0; )
        ribbon_sink(keys, i, n);
    while (n > 1) {
        uint64_t top = keys[0];
        keys[0] = keys[--n];
        keys[n] = top;
        ribbon_sink(keys, 0, n);
    }
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

/* Keys that are nearly in order. */
static void ribbon_sort_nearly(uint64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
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

/* Make ready the worker's next shard in a lane. */
static void ribbon_open(const ribbon_work *w, ribbon_worker *worker,
                        ribbon_lane *lane)
{
    size_t shard = worker->next++;
    size_t n = (size_t)(w->first[shard + 1] - w->first[shard]);
    size_t left = w->buckets - shard * RIBBON_SHARD_BUCKETS;
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
        ribbon_sort_nearly(worker->room, n);
        ribbon_gather(w, lane, worker->room, n);
    } else {
        ribbon_sort_heap(lane->keys, n);
        ribbon_gather(w, lane, lane->keys, n);
    }
}

/* What a free row is: nothing; or noise, where the sum of a band is compared
 * with 0, so that a stranger's is not. */
PLATFORM_INLINE uint32_t ribbon_free(const ribbon_work *w, uint64_t slot)
{
    return w->g.form == RIBBON_BUMPED ? 0
         : (uint32_t)hash_mix(w->noise + slot * HASH_STEP);
}

/* Work out the tiles of a triangle of rows, from the last row to the first.
 * Each column is kept as the 64 slots after the present one. */
PLATFORM_INLINE void ribbon_solve_any(const ribbon_work *w,
                                      const uint64_t *rows,
                                      const uint32_t *sums, size_t tiles,
                                      uint64_t slot, uint8_t *out, bool quick)
{
    uint64_t column[RIBBON_BITS_MAX] = { 0 };
    uint32_t sum[RIBBON_TILE], bits = w->g.bits;
    while (tiles-- > 0) {
        size_t from = tiles * RIBBON_TILE;
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
            image_set_u32(out, (tiles * bits + k) * 4, (uint32_t)z);
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
                 slot, w->payload + slot / RIBBON_TILE * 4 * w->g.bits);
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
            if (worker->next == worker->end)
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

/* The key taken last cannot be placed: it and those of its bucket that start
 * no later go on to the next layer, and a few more, up to a threshold that has
 * a code. Their rows were the last to be filled: no other leans on them. */
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

/* One step of a lane: its key into the empty slot it has come to; or, where a
 * row is in that slot, the row is added to the key, which then begins at a
 * later one. A key of which nothing is left says what the rows say already, or
 * the contrary. */
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

/* How many keys of this part are in each shard. */
static void ribbon_count(void *context, unsigned part, unsigned parts)
{
    const ribbon_work *w = context;
    size_t shards = (size_t)ribbon_shards(w->buckets);
    uint64_t *counts = w->counts + part * shards;
    size_t end = ribbon_cut(w->n, part + 1, parts);
    memset(counts, 0, shards * sizeof *counts);
    for (size_t i = ribbon_cut(w->n, part, parts); i < end; i++)
        counts[ribbon_start(w, hash_mix(w->in[i] + w->add)) / RIBBON_SHARD]++;
}

/* The keys of this part to where its counts, now places, say. */
static void ribbon_scatter(void *context, unsigned part, unsigned parts)
{
    const ribbon_work *w = context;
    size_t shards = (size_t)ribbon_shards(w->buckets);
    uint64_t *places = w->counts + part * shards;
    size_t end = ribbon_cut(w->n, part + 1, parts);
    for (size_t i = ribbon_cut(w->n, part, parts); i < end; i++) {
        uint64_t state = hash_mix(w->in[i] + w->add);
        w->out[places[ribbon_start(w, state) / RIBBON_SHARD]++] = state;
    }
}

/* From counts to places: shard after shard, in each part after part. */
static void ribbon_places(const ribbon_work *w, unsigned parts)
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

/* The whole layer; the keys that it bumps go to `left`, which may be where they
 * came from. How many they are. */
static size_t ribbon_layer_build(ribbon_work *w, uint64_t *left,
                                 unsigned threads)
{
    size_t shards = (size_t)ribbon_shards(w->buckets), n = 0;
    size_t workers = ribbon_most_workers(w->n);
    unsigned parts = threads < workers ? threads : (unsigned)workers;
    w->bumped = w->first + shards + 1;
    w->distinct = w->bumped + shards;
    w->counts = w->distinct + shards;
    threads_run(ribbon_count, w, parts);
    ribbon_places(w, parts);
    threads_run(ribbon_scatter, w, parts);
    threads_run(ribbon_place, w, parts);
    for (size_t s = 0; s < shards; s++) {
        memmove(left + n, w->out + w->first[s], w->bumped[s] * sizeof *left);
        n += w->bumped[s];
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

/* All n keys into the tiles at `out`, or false, with this seed of the layer.
 * The rows are those of a worker's lanes in one. */
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

/* The last layer has what the others have left of the payload, which is enough
 * and more; it has at most a worker's rows. */
static bool ribbon_last_build(ribbon_work *w, const uint64_t *keys, size_t n,
                              uint8_t *out, size_t bytes)
{
    uint64_t tiles = bytes / (4 * w->g.bits);
    w->g.last = tiles < UINT32_MAX ? (uint32_t)tiles : 0;
    if (w->g.last < 3
        || ribbon_last_tiles(&w->g) * RIBBON_TILE > RIBBON_LANES * w->rows)
        return false;
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
    ribbon_sort_heap(states, w->n);
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
    size_t n = w->n, room = n;
    for (size_t i = 0; i < RIBBON_LAYERS && n > 0; i++) {
        bool bumped = w->g.form == RIBBON_BUMPED;
        if (bumped && n <= RIBBON_FEW)
            break;
        w->n = n;
        w->buckets = bumped ? ribbon_buckets(n)
                            : ribbon_homogeneous_buckets(n, w->g.bits);
        w->g.buckets[i] = w->buckets;
        uint64_t bytes = ribbon_layer_bytes(&w->g, w->buckets);
        if (bytes > (uint64_t)(end - w->payload) || (i > 0 && n > room / 2))
            return NULL;
        w->codes = w->payload + ribbon_tiles(w->buckets) * 4 * w->g.bits;
        w->out = i > 0 ? states + n : states;
        n = ribbon_layer_build(w, states, threads);
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

static bly_status ribbon_build(void *image, const kind_keys *keys,
                               const kind_bench *bench)
{
    ribbon_shape g = ribbon_shape_of(image);
    uint8_t *payload = image_payload_mut(image);
    size_t bytes = image_payload_bytes(image);
    g.distinct = 0;
    ribbon_geometry_write(image, &g);
    for (uint32_t seed = 0; keys->n > 0 && seed < RIBBON_SEEDS; seed++) {
        ribbon_work w = {
            .g = { .bits = g.bits, .form = g.form, .seed = seed },
            .prints = g.form == RIBBON_HOMOGENEOUS ? 0
                    : (uint32_t)((UINT64_C(1) << g.bits) - 1),
            .add = seed * HASH_STEP, .in = keys->hashes, .n = keys->n,
            .payload = payload,
            .noise = hash_mix(image_u64(image, IMAGE_SEED) + seed),
        };
        ribbon_share(&w, bench->scratch, keys->n);
        if (ribbon_try(&w, bench->scratch, payload + bytes - RIBBON_PAD,
                       bench->threads)) {
            ribbon_geometry_write(image, &w.g);
            return BLY_OK;
        }
        memset(payload, 0, bytes);
    }
    return keys->n == 0 ? BLY_OK
         : status_fail(BLY_EFULL, "no ribbon holds these %zu keys after %d "
                       "attempts: their hashes are not random", keys->n,
                       (int)RIBBON_SEEDS);
}

/* ---- Look inside ------------------------------------------------------- */

static void ribbon_stat(bly_stat_t *out, const void *image)
{
    ribbon_shape g = ribbon_shape_of(image);
    size_t bytes = image_payload_bytes(image);
    out->distinct = (double)g.distinct;
    out->distinct_sd = 0;
    out->fill = (double)bits_count(image_payload(image), bytes)
              / (8 * (double)bytes);
    out->rate = g.distinct > 0 ? ribbon_rate(&g) : 0;
    out->probes = RIBBON_BAND;
}

const bly_kind bly_kind_ribbon = {
    .name    = "ribbon",
    .family  = "frozen",
    .summary = "a system of linear equations: the least space of all",
    .version = RIBBON_VERSION,
    .options = ribbon_options,

    .plan  = ribbon_plan,
    .check = ribbon_check,
    .build = ribbon_build,

    .contains      = ribbon_contains,
    .contains_here = ribbon_contains_here,
    .contains_many = ribbon_contains_many,

    .stat = ribbon_stat,
};
