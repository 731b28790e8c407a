/* ribbon.c - a frozen filter near the least possible size: linear equations.
 *
 * WHAT IT IS
 *
 * A table whose rows have r bits each. A key's hash gives a fingerprint of r
 * bits, and selects a window of 64 rows and about half of the rows in it. The
 * table is filled so that the XOR of these rows is the key's fingerprint. For
 * an absent key this is true by accident, with probability 2^-r. Each key is
 * one linear equation in a narrow band; building the filter solves about as
 * many equations as there are rows. The table takes hardly more than r bits per
 * key.
 *
 * WHEN TO USE IT
 *
 * Use it for a fixed set of keys if every bit of memory counts or the filter is
 * sent over a network: it is the smallest kind, 30 % smaller than `standard` at
 * 1 %. The form `homogeneous` is about as large as `fuse`, and its build cannot
 * fail.
 *
 * WHEN NOT TO
 *
 * - Speed matters more than a ninth of the memory: `fuse`.
 * - Keys are added later: `blocked` or `standard`.
 * - Two filters must be united or compared: no frozen kind can do that.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           6.75             3.4
 *      0.1 %        10.0              4.0
 *
 * A lookup reads three tiles in a row, 12 r bytes, and a threshold of two bits,
 * which is usually in the cache. One key in 20 needs a second such read. A
 * batch prefetches these lines 128 keys ahead. Any rate is met: 1 % takes 6.75
 * bits, because 72 % of the keys have 7 bits and the others 6. Such a mixture
 * makes a single lookup up to 6 % slower, and a batch in the cache 16 to 37 %.
 * `bits=7` avoids it.
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
 * There are 5 % fewer slots than keys. If the equations of a bucket contradict
 * each other, the keys with the lowest starts are *bumped* to the next layer, a
 * table of its own that is a twentieth as large; keys bumped there go to a
 * third. The last few hundred keys are in a table with 15 % more slots than
 * keys, for which a seed is found that bumps none. The thresholds say for each
 * start whether its keys are here or in a later layer.
 *
 * IMAGE
 *
 *      geometry 0   bits 0-47 number of different keys, 0 .. 2^34; 0: no key
 *                   is there; bits 48-63 share, p
 *      geometry 1   bits 0-31 buckets of layer 0, 32-39 r, 1 .. 32,
 *                   40-47 form, 0 bumped, 1 homogeneous, 48-55 seed, 0 .. 15,
 *                   56-63 seed of the last layer, 0 .. 63
 *      geometry 2   buckets of layer 1, and of layer 2 in the high half
 *      geometry 3   buckets of layer 3, and tiles of the last layer, T
 *      payload      layer 0, 1, 2, 3, where there are buckets, each its tiles
 *                   and then its codes; T tiles; 32 bytes or a few more of 0
 *
 * A tile is 32 slots: r words of 32 bits, little-endian; bit i of word k is
 * column k of slot i. If p is not 0, the first tiles of a layer have r + 1
 * words. Of its t tiles in which a band may start, b = t - floor(t (2^16 - p) /
 * 2^16) have keys of r + 1 bits, and the first b + 2 + 2 floor(b / 2^11) tiles
 * are wide (b + 2 in the last layer).
 *
 * A layer of B buckets has 128 B starts in shards of 2^16
 * (the last may be smaller), and the slots of a shard are those of its starts
 * and 64 more, for the ends of the last bands: start s begins at slot
 * s + 64 floor(s / 2^16) of the layer. The code of bucket b is 2 bits at bit
 * 2 (b mod 4) of byte b / 4; codes 0 1 2 3 are the thresholds 0 16 36 128. The
 * last layer has 32 min(T, 8192) - 64 starts, no shards and no codes. Of a
 * key, modulo 2^64:
 *
 *      state      mix(hash + seed * S), S = HASH_STEP of bits/hash.h
 *                 in each further layer     mix(state + S)
 *                 but in the last one       mix(state + (last seed + 2) * S)
 *      start      high half of state * starts
 *      c          p = state * E7A81F36B92D4C5D;  p xor p >> 32, bit 0 set
 *      fingerprint  r low bits of (state * 9E3779B97F4A7C15) >> 32, or r + 1
 *                   if the start is below 32 b
 *
 * The homogeneous form has layer 0 alone, without codes, and every fingerprint
 * is 0.
 *
 *      Valid if and only if (1) the fields are in these ranges and no layer
 *      has more than 2^28 buckets, (2) a layer of no buckets is followed by
 *      such layers only, (3) T is 3 or more in the bumped form; 0, with layers
 *      1 to 3 and the last seed, in the other, which has a bucket, (4) r is
 *      below 32 if p is not 0, and (5) the payload has the bytes of all this
 *      and 32, and in the bumped form up to 4 r - 1 more, or 4 r + 3 if p is
 *      not 0.
 *
 * MATHS
 *
 * The fingerprint of an absent key is independent of the XOR of its rows, so
 * the rate is 2^-r for any number of keys and any table. For n keys in all and
 * n_last of them in the last layer, the slots are
 *
 *      n (1 + 1/2000) + 32 shards + 6 sqrt(n/250) + 0.15 n_last + 64     (1)
 *
 * The first two terms above n are for slots that stay empty: 0.093 % of n was
 * measured at 10^8 keys, 0.099 % is allowed. The root leaves room for chance;
 * what is not needed goes to the last layer. A code of 2 bits for 128 starts is
 * 1/64 bit per key. At r = 8:
 *
 *      keys           10^4     10^5     10^6     10^7     10^8
 *      bits per key   8.34     8.060    8.029    8.025    8.024
 *
 * A perfect filter takes 8 bits, a binary fuse filter 8.6 to 9, and a Bloom
 * filter 11.5. The plan counts repeated keys as well, so they do not make the
 * image smaller.
 *
 * A rate between two powers of two is met by a share s of the starts that have
 * a bit more. An absent key begins at any start with the same probability, so
 * it is found with probability
 *
 *      s 2^-(r+1) + (1 - s) 2^-r = 2^-r (1 - s/2)                        (2)
 *
 * The plan takes r = floor(log2(1/rate)) and s = 2 - 2^(r+1) rate, rounded up
 * to p / 2^16. These are r + s bits, at most 0.0861 more than log2(1/rate): the
 * largest difference, at s = 2 - 1/ln 2 = 0.557. No other division does better,
 * because 2^-x is convex.
 *
 *      rate           1 %    0.7 %  0.5 %  0.3 %  0.1 %  0.01 %  10^-6
 *      log2(1/rate)   6.644  7.158  7.644  8.381  9.966  13.288  19.932
 *      r + s          6.720  7.208  7.720  8.464  9.976  13.362  19.951
 *
 * `bits=8` requests a whole number of bits. A layer rounds its share up to a
 * tile, and so has at most the rate (2). The keys of r + 1 bits come first. Few
 * keys at the beginning of a shard are bumped, because its rows are still
 * empty. So most bumped keys have r bits, and the next layer finds fewer of
 * them. This makes the rate lower, by 2.5 % of it at 10^3 keys and 0.3 % at
 * 10^4. `stat` counts the starts that are bumped, and so reports the true rate
 * of a filter. The standard deviation between filters of B buckets is about
 *
 *      (0.02 / sqrt(B) + 0.2 / B) rate                                   (3)
 *
 * Column r exists in the first tiles only, up to the last that a key of r + 1
 * bits reads. All keys have r + 1 bits while the equations are solved. So the
 * column has a solution in all tiles, and what no key reads is left out.
 *
 * The homogeneous form requires that the rows of every key XOR to 0, which
 * always has a solution: no key is bumped and no seed fails. Rows that the
 * equations leave free are random. If many equations meet by accident, the rows
 * between them are all forced to 0, and every absent key there is found.
 * Counted in 60 tables of 4 million keys for each load:
 *
 *      slots / keys             1.08      1.09      1.10      1.11
 *      accidents, of 10^6 slots 0.94      0.39      0.15      0.08
 *      slots of one, rms        780       700       590       560
 *      starts that are in one   6.2e-4    2.4e-4    7.6e-5    3.8e-5
 *
 * So with x = 100 slots / keys - 108, the rate grows by 6.2 * 10^-4 / 2.5^x.
 * Accidents are few and large, so filters of m slots differ from each other by
 *
 *      650 sqrt(9.4 * 10^-7 / (2.3^x m))                                 (4)
 *
 * The plan allows half a per cent of the rate for them, which takes
 *
 *      slots / keys = 1.058 + 0.0076 (r + s)                             (5)
 *
 * If there are few keys, hardly any filter has an accident, but one would be
 * severe. For (4) to be at most a thirtieth of the rate, the plan then takes
 *
 *      slots / keys = 1.15 + 0.0166 (r + s) - 0.012 ln n                 (6)
 *
 * if that is more, up to 1.1 + 0.008 (r + s). At r = 8:
 *
 *      keys           10^3     10^4     10^5     10^6     10^7     10^8
 *      bits per key   12.0     9.50     9.19     8.96     8.96     8.96
 *
 * CONSTRUCTION
 *
 * Keys are sorted by shard and start, and each shard is solved by Gaussian
 * elimination as its keys arrive [Dillinger & Walzer 2021]. A key whose first
 * slot is empty becomes the row of that slot. Otherwise the existing row is
 * XORed to it, which clears its first coefficient, and it tries the next slot
 * where it has a 1; about 21 of them. If none of its coefficients is left but
 * part of the fingerprint is, the key contradicts the others.
 *
 * The buckets of a shard are processed in order, but the keys of each bucket
 * from the last start to the first. So the keys that must be bumped come last,
 * and their rows can be taken out again, because none of them was added to a
 * key that stays [Dillinger et al. 2022]. Then the rows are solved from the
 * last slot to the first. Rows that stay empty are 0.
 *
 * Each step of a key waits for the one before, so four shards are processed in
 * turn. Shards are independent and divided among threads. Bumping depends on
 * which keys are in a bucket, not on their order, and the solution is the only
 * one whose free rows are 0. The image therefore depends only on the set of
 * keys and on n. Building needs 8 bytes per key and at most 16 times 3.6 MiB.
 *
 * Each layer but the first starts from the bumped keys, without repeats. All
 * layers share the planned bytes. If these do not suffice, as for hashes that
 * are made to fall into one bucket, everything is tried again with another
 * seed.
 *
 * PAPERS
 *
 *  [Dillinger & Walzer 2021]  Ribbon filter: practically smaller than Bloom and
 *                  Xor, arXiv 2103.02515. The construction, both forms.
 *  [Dillinger et al. 2022]    Dillinger, Hübschle-Schneider, Sanders & Walzer,
 *                  Fast succinct retrieval and approximate membership using
 *                  ribbon, SEA. Bumping by thresholds, here with codes of 2
 *                  bits, and columns that some keys do not have; the layers
 *                  in one image, tiles of 32 slots, shards and the last layer
 *                  are ours.
 */
#include "kinds/frozen/ribbon/ribbon.h"

#include <math.h>

enum { RIBBON_VERSION = 1 };

enum { RIBBON_OPTION_FORM, RIBBON_OPTION_BITS };

static const char *const ribbon_forms[] = { "bumped", "homogeneous", NULL };

static const kind_option ribbon_options[] = {
    [RIBBON_OPTION_FORM] = {
        .name = "form", .help = "bumped: smallest; homogeneous: one layer, no "
                                "fingerprints",
        .choices = ribbon_forms, .standard = RIBBON_BUMPED,
    },
    [RIBBON_OPTION_BITS] = {
        .name = "bits", .help = "bits of a fingerprint, instead of a rate",
        .least = 1, .most = RIBBON_BITS_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

/* Bytes of all layers of buckets, without the last. */
static uint64_t ribbon_layers_bytes(const ribbon_shape *g)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < RIBBON_LAYERS; i++)
        bytes += ribbon_layer_bytes(g, g->buckets[i]);
    return bytes;
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

/* Returns enough words for the last column of the wide tiles, out of `tiles`
 * in all layers. Each layer has its share of them, the two tiles where its last
 * bands end, and less than one for rounding. */
static uint64_t ribbon_more_words(const ribbon_shape *g, uint64_t n,
                                  uint64_t tiles)
{
    double share = (double)g->share / RIBBON_SHARES, layers = 1;
    for (; n > RIBBON_FEW; n /= RIBBON_BUMPED_ONE_IN)
        layers++;
    double words = share * (double)tiles + layers * (3 - 2 * share);
    return g->share > 0 ? (uint64_t)fmin(ceil(words), (double)tiles) : 0;
}

/* Returns the size of the payload, and sets the parts of the shape that do not
 * depend on the keys. */
static uint64_t ribbon_size(ribbon_shape *g, uint64_t n)
{
    if (g->form == RIBBON_HOMOGENEOUS) {
        g->buckets[0] = ribbon_homogeneous_buckets(n, ribbon_mean_bits(g));
        return ribbon_layers_bytes(g) + RIBBON_PAD;
    }
    if (n > RIBBON_FEW)
        g->buckets[0] = ribbon_buckets(n);
    uint64_t tiles = (uint64_t)ceil(ribbon_slots(n) / RIBBON_TILE);
    uint64_t codes = n > RIBBON_FEW ? n / (4 * RIBBON_BUCKET) + 8 : 0;
    uint64_t payload = tiles * 4 * g->bits + codes + RIBBON_PAD
                     + 4 * ribbon_more_words(g, n, tiles);
    ribbon_last_fit(g, payload - RIBBON_PAD - ribbon_layers_bytes(g));
    return payload;
}

/* Returns (2), if this part of the starts has a bit more than the others. */
static double ribbon_rate_of(const ribbon_shape *g, double part)
{
    double rate = ldexp(1, -(int)g->bits) * (1 - part / 2);
    return g->form == RIBBON_BUMPED ? rate : 1.005 * rate;
}

/* Returns the rate of a layer that has bands in n tiles, if it bumps no key. */
static double ribbon_rate_in(const ribbon_shape *g, uint64_t n)
{
    return ribbon_rate_of(g, 1 - (double)ribbon_narrow(g, n) / (double)n);
}

/* Returns the rate of the first layer. If it bumps keys, more of them are those
 * of r bits, which the next layers find less often. */
static double ribbon_rate(const ribbon_shape *g)
{
    return ribbon_rate_in(g, g->buckets[0] > 0
                             ? (uint64_t)g->buckets[0] * RIBBON_BUCKET_TILES
                             : ribbon_last_starts(g));
}

/* Returns (4) plus a hundredth of the rate for the random contents of free
 * rows, or in the bumped form (3). */
static double ribbon_rate_sd(const ribbon_shape *g, uint64_t n)
{
    double slots = (double)g->buckets[0] * RIBBON_BUCKET;
    double over = 100 * slots / (double)n - 108, buckets = g->buckets[0];
    if (g->form == RIBBON_BUMPED)
        return g->share == 0 || g->buckets[0] == 0 ? 0
             : (0.02 / sqrt(buckets) + 0.2 / buckets) * ribbon_rate(g);
    double accidents = 650 * sqrt(9.4e-7 * pow(2.3, -over) / slots);
    return fmin(1, fmax(0.01 * ribbon_rate(g), accidents));
}

/* Sets the least share that keeps the rate with a bit less, if there is one. */
static void ribbon_choose_share(ribbon_shape *g, double rate)
{
    ribbon_shape less = *g;
    less.bits--;
    double share = 2 * (1 - rate / ribbon_rate_of(&less, 0));
    less.share = (uint32_t)ceil(share * RIBBON_SHARES);
    if (less.bits > 0 && less.share < RIBBON_SHARES)
        *g = less;
}

/* Sets the least bits that keep the rate; more than RIBBON_BITS_MAX if none
 * do. */
static void ribbon_choose_bits(ribbon_shape *g, const kind_spec *spec)
{
    if (spec->option[RIBBON_OPTION_BITS] != KIND_CHOOSE) {
        g->bits = (uint32_t)spec->option[RIBBON_OPTION_BITS];
        return;
    }
    for (g->bits = 1; g->bits <= RIBBON_BITS_MAX; g->bits++)
        if (ribbon_rate_of(g, 0) <= spec->rate)
            break;
    if (g->bits <= RIBBON_BITS_MAX)
        ribbon_choose_share(g, spec->rate);
}

/* Lines of three tiles in a row, on average over where the first begins. */
static double ribbon_tiles_lines(uint32_t bits)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < 16; i++)
        lines += (4 * bits * i % 64 + 3 * 4 * bits - 1) / 64 + 1;
    return lines / 16.0;
}

static double ribbon_lines(const ribbon_shape *g)
{
    double narrow = ribbon_tiles_lines(g->bits);
    return narrow + (ribbon_tiles_lines(ribbon_columns(g)) - narrow)
                  * g->share / RIBBON_SHARES;
}

static bly_status ribbon_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity;
    ribbon_shape g = { .form = (uint32_t)spec->option[RIBBON_OPTION_FORM] };
    ribbon_choose_bits(&g, spec);
    if (n == 0)
        return kind_no_capacity();
    if (n > RIBBON_KEYS_MAX)
        return kind_too_big(spec, "2^34 keys");
    if (g.bits > RIBBON_BITS_MAX)
        return status_fail(BLY_EPARAM, "kind ribbon cannot go below a rate of "
                           "2^-32: use standard for %.3g", spec->rate);
    bly_status status = kind_plan_bytes(plan, ribbon_size(&g, n));
    if (status != BLY_OK)
        return status;

    bool bumped = g.form == RIBBON_BUMPED;
    g.distinct = n;
    plan->capacity = n;
    plan->scratch = ribbon_scratch(n);
    plan->rate = ribbon_rate(&g);
    plan->rate_sd = ribbon_rate_sd(&g, n);
    plan->fill = 0.5 * (double)n * ribbon_mean_bits(&g)
               / (8 * (double)plan->bytes);
    plan->probes = RIBBON_BAND;
    plan->lines_present = (ribbon_lines(&g) + bumped)
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
              && g.bits >= 1 && ribbon_columns(&g) <= RIBBON_BITS_MAX
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
        + ribbon_layers_bytes(&g) + ribbon_last_bytes(&g);
    uint32_t rest = bumped ? 4 * ribbon_columns(&g) : 1;
    return payload >= bytes && payload - bytes < rest
         ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Look inside ------------------------------------------------------- */

/* Returns how many of the starts from `start` to `end` of a layer are here. */
static uint64_t ribbon_kept(const ribbon_layer *layer, uint64_t start,
                            uint64_t end)
{
    uint64_t kept = 0;
    for (; start < end; start += RIBBON_BUCKET - start % RIBBON_BUCKET)
        for (uint64_t i = start; i < end; i++)
            if (!ribbon_gone(layer, i)) {
                uint64_t next = i - i % RIBBON_BUCKET + RIBBON_BUCKET;
                kept += (next < end ? next : end) - i;
                break;
            }
    return kept;
}

/* Returns the probability that an absent key is found: in each layer by those
 * starts that it has kept, if the key reaches it. */
static double ribbon_true_rate(const ribbon_shape *g, const void *image)
{
    const uint8_t *at = image_payload(image);
    double rate = 0, reached = 1;
    for (size_t i = 0; i < RIBBON_LAYERS && g->buckets[i] > 0; i++) {
        ribbon_layer layer = ribbon_layer_at(g, at, g->buckets[i]);
        uint64_t tiles = (uint64_t)g->buckets[i] * RIBBON_BUCKET_TILES;
        uint64_t border = (tiles - ribbon_narrow(g, tiles)) * RIBBON_TILE;
        double wide = (double)ribbon_kept(&layer, 0, border);
        double kept = wide + (double)ribbon_kept(&layer, border, layer.starts);
        if (kept > 0)
            rate += reached * kept / (double)layer.starts
                  * ribbon_rate_of(g, wide / kept);
        reached *= 1 - kept / (double)layer.starts;
        at += ribbon_layer_bytes(g, g->buckets[i]);
    }
    return g->form == RIBBON_HOMOGENEOUS ? rate
         : rate + reached * ribbon_rate_in(g, ribbon_last_starts(g));
}

static void ribbon_stat(bly_info_t *out, const void *image)
{
    ribbon_shape g = ribbon_shape_of(image);
    size_t bytes = image_payload_bytes(image);
    out->distinct = (double)g.distinct;
    out->distinct_sd = 0;
    out->fill = (double)bits_count(image_payload(image), bytes)
              / (8 * (double)bytes);
    out->rate = g.distinct == 0 ? 0
              : g.share > 0 ? ribbon_true_rate(&g, image) : ribbon_rate(&g);
    out->probes = RIBBON_BAND;
}

static const kind_building ribbon_building = {
    .build = ribbon_build,
};

const bly_kind bly_kind_ribbon = {
    .name    = "ribbon",
    .family  = "frozen",
    .summary = "linear equations: the smallest kind",
    .version = RIBBON_VERSION,
    .options = ribbon_options,

    .plan  = ribbon_plan,
    .check = ribbon_check,
    .stat  = ribbon_stat,

    .contains      = ribbon_contains,
    .contains_many = ribbon_contains_many,
    .contains_here = ribbon_contains_here,

    .building = &ribbon_building,
};
