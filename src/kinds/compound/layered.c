/* layered.c - counts how often a key was added, with filters in layers.
 *
 * WHAT IT IS
 *
 * A stack of L filters, the layers. A key is written to the first layer; when
 * it is added again, to the second; and so on. The number of layers that have
 * the key, from the first on, is its count. If few keys repeat, the deeper
 * layers are small.
 *
 * WHEN TO USE IT
 *
 * Use it to find out whether keys occurred once, twice or a few times in a
 * stream where most keys occur once. There it is much smaller than `counting`.
 * No count is ever too low. Set `repeated` to the percentage of keys that occur
 * again.
 *
 * WHEN NOT TO
 *
 * - Most keys repeat, counts go beyond L (8 by default), or keys must be
 *   removed: `counting` or `quotient`. From L on the count is reported as
 *   unknown.
 * - Filters must be united: `counting` or `quotient`.
 *
 * COST
 *
 *      repeated      bits per key at 1 %    at 0.1 %
 *      25                  13.2               20.7
 *      50                  19.8               31.0
 *      75 (default)        35.7               56.0
 *
 * A lookup reads one cache line. A count or an add reads one in each layer that
 * has the key, and in the next.
 *
 * THE PICTURE (L = 4)
 *
 *      payload  | layer 1           | layer 2     | layer 3 | layer 4 |
 *
 *      came once        x                                              count 1
 *      came 3 times     x                  x            x              count 3
 *      came 9 times     x                  x            x         x    unknown
 *
 *      depth of x = the layers that have x, from the first on, up to the first
 *                   that does not
 *      count x    = its depth; "unknown" (2^64-1) if that is L
 *      add x      = write x into layer depth + 1, if there is one
 *
 * IMAGE
 *
 *      geometry 0   kind of the layers: 0 standard, 1 partitioned, 2 blocked,
 *                   3 split
 *      geometry 1   L, layers, 2 .. 64
 *      geometry 2, 3  zero
 *      payload      L images, each at the first multiple of 64 after the end
 *                   of the one before, zeros up to there and after the last
 *
 *      All are whole images (docs/format) with the outer hash and seed.
 *      Their payload checksums are 0, because the outer one covers them, and
 *      their items "unknown". Valid if and only if (1) the fields are in these
 *      ranges, (2) all inner headers are valid, of that kind, hash and seed and
 *      (3) the last image, rounded up to 64 bytes, ends with the payload.
 *
 *      In layer j + 1, a key of hash h has the hash mix(h + j STEP), but in the
 *      first one, j = 0, h itself.
 *
 * MATHS
 *
 * Let N_j be the keys that come j times or more, and f_j the rate of layer j
 * with that many keys. A key that came c < L times is in layers 1 .. c, so
 *
 *      count x >= c, always,                                             (1)
 *
 * and a count below L is an upper bound. A count of L or more is not known. The
 * count is too high if the next layer has the key by accident, either now or at
 * one of its earlier adds, which then goes a layer too deep:
 *
 *      with a probability of about f_(c+1) + g_1 + … + g_c,              (2)
 *
 * where g_j is the mean of layer j's rate when keys that come c times come for
 * the j-th time. If all keys come equally often, that is the mean while the
 * layer fills, about f_j / (k + 1). A key that comes rarely comes later, when
 * frequent keys have nearly filled the layers, and g_j is up to f_j. In random
 * order, at time t of 0 .. 1, layer j has the keys that came j times by then,
 * which has a binomial probability for each, and
 *
 *      g_j = j C(c, j) integral of rate_j(t) t^(j-1) (1-t)^(c-j) dt      (3)
 *
 * For layers that are filled evenly by 100, 75, 56, … keys that come 1, 2, 3, …
 * times or more, and 20,000 keys (k = 7, f_j = 1 %):
 *
 *      came                     1       2       3       4       5
 *      (2), mean of filling     1.2 %   1.3 %   1.5 %   1.7 %   1.8 %
 *      (2) and (3)              1.4 %   1.6 %   1.7 %   1.8 %   1.9 %
 *
 * With `repeated` and shares of 90 instead of 75, (3) gives 2.0 % for keys that
 * came twice. uses/visits finds 171 counts too high of 10,000 keys, of which
 * 6000, 2000, 1000, 500 and 500 come 1 to 5 times, where f_1 = 5.6 %.
 *
 * A key that was never added is found with f_1, the rate of the whole filter,
 * and reported with a count of d or more with probability
 *
 *      f_1 f_2 … f_d                                                     (4)
 *
 * because each layer mixes the hash anew. With one hash for all layers, an
 * accident in one would be likely in the next as well.
 *
 * SIZES
 *
 * Layer 1 is planned for the capacity n, and each other layer for `repeated`
 * hundredths of the one before. All have the requested rate at that load. The
 * default, 75, suffices for keys that come as words do in a text, where N_j is
 * about n / j (Zipf's law): 0.75^(j-1) > 1/j for j up to 10. If more keys
 * repeat than planned, counts are too high more often; none is ever too low.
 * Two filters cannot be united, because the layers do not show how often a key
 * came to both together. In bits per key, of=blocked, L = 8:
 *
 *      rate            repeated=25     50      75     100     counting
 *      10 %                      6.5    9.6    17.4    38.7         19.2
 *      1 %                      13.2   19.8    35.7    79.4         38.4
 *      0.1 %                    20.7   31.0    56.0   124.4         57.5
 *
 * PAPERS
 *
 *  [Cen 2010]  A multi-layer Bloom filter for duplicated URL detection,
 *              ICACTE. That each layer mixes the hash anew is ours.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bits/hash.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"

enum {
    LAYERED_VERSION = 1,
    LAYERED_OF = 0, LAYERED_LAYERS = 1, LAYERED_ZERO = 2, LAYERED_ZERO_TOO = 3,
    LAYERED_MOST = 64,                  /* layers                            */
    LAYERED_CHUNK = INNER_CHUNK         /* keys on the way at a time         */
};

enum { LAYERED_OPTION_OF, LAYERED_OPTION_LAYERS, LAYERED_OPTION_REPEATED };

static const char *const layered_names[] = { PARTS_BITS(PARTS_NAME) NULL };
static const bly_kind *const layered_kinds[] = { PARTS_BITS(PARTS_KIND) };

static const kind_option layered_options[] = {
    [LAYERED_OPTION_OF] = {
        .name = "of", .help = "kind of the layers",
        .choices = layered_names, .standard = PARTS_BLOCKED,
    },
    [LAYERED_OPTION_LAYERS] = {
        .name = "layers", .help = "layers; counts below this number are known",
        .least = 2, .most = LAYERED_MOST, .standard = 8,
    },
    [LAYERED_OPTION_REPEATED] = {
        .name = "repeated", .help = "the most keys of a layer that reach the "
                                    "next one, in per cent",
        .least = 1, .most = 100, .standard = 75,
    },
    { .name = NULL },
};

/* ---- The layers -------------------------------------------------------- */

/* A layer, by its number 0 .. layers - 1, and the next one. */
typedef struct {
    const bly_kind *kind;
    uint8_t *image;
    uint64_t number, layers;
} layered_at;

static layered_at layered_first(const void *image)
{
    return (layered_at){
        .kind = layered_kinds[image_geometry(image, LAYERED_OF)],
        .image = image_payload_mut((void *)(uintptr_t)image),
        .layers = image_geometry(image, LAYERED_LAYERS),
    };
}

/* On to the next layer; false behind the last. */
static bool layered_next(layered_at *at)
{
    uint64_t room = 0;
    if (++at->number == at->layers)
        return false;
    inner_room(&room, image_u64(at->image, IMAGE_BYTES));
    at->image += room;
    return true;
}

/* The hash by which a layer knows a key. */
PLATFORM_INLINE uint64_t layered_hash(uint64_t number, uint64_t hash)
{
    return number == 0 ? hash : hash_mix(hash + number * HASH_STEP);
}

/* ---- Plan -------------------------------------------------------------- */

/* Returns how many of n keys come again, rounded up, so at least 1. */
static uint64_t layered_again(uint64_t n, uint64_t hundredths)
{
    return n / 100 * hundredths + (n % 100 * hundredths + 99) / 100;
}

/* The plan of each layer, in turn, and the bytes of all. Where `outer` is not
 * NULL the layers are formatted in its payload. */
static bly_status layered_lay(uint64_t *payload, bly_plan_t *first,
                              const kind_spec *spec, void *outer)
{
    const bly_kind *kind = layered_kinds[spec->option[LAYERED_OPTION_OF]];
    uint64_t n = spec->capacity, room;
    *payload = 0;
    for (uint64_t i = 0; i < spec->option[LAYERED_OPTION_LAYERS]; i++) {
        bly_plan_t plan;
        kind_spec inner_spec;
        bly_status status = inner_plan(&plan, &inner_spec, kind, n, spec->rate);
        if (status == BLY_OK && outer != NULL)
            status = inner_format(image_payload_mut(outer) + *payload, kind,
                                  &plan, outer, &inner_spec);
        if (status != BLY_OK)
            return status;
        if (i == 0)
            *first = plan;
        if (!inner_room(&room, plan.bytes)
            || !sizes_add(payload, *payload, room))
            return kind_too_big(spec, "2^64 bytes");
        n = layered_again(n, spec->option[LAYERED_OPTION_REPEATED]);
    }
    return BLY_OK;
}

static bool layered_raw_hash(const kind_spec *spec)
{
    return layered_kinds[spec->option[LAYERED_OPTION_OF]]->raw_hash;
}

/* A lookup asks the first layer only: all but the bytes is its plan, and the
 * fill, of which it has its share. */
static bly_status layered_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t payload, layers = spec->option[LAYERED_OPTION_LAYERS];
    bly_plan_t first;
    if (spec->capacity == 0)
        return kind_no_capacity();
    bly_status status = layered_lay(&payload, &first, spec, NULL);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, payload);
    if (status != BLY_OK)
        return status;

    plan->capacity = first.capacity;
    plan->rate = first.rate;
    plan->rate_sd = first.rate_sd;
    plan->fill = first.fill * (double)(first.bytes - IMAGE_HEADER)
               / (double)(payload - layers * IMAGE_HEADER);
    plan->probes = first.probes;
    plan->lines_present = first.lines_present;
    plan->lines_absent = first.lines_absent;
    plan->geometry[LAYERED_OF] = spec->option[LAYERED_OPTION_OF];
    plan->geometry[LAYERED_LAYERS] = spec->option[LAYERED_OPTION_LAYERS];
    plan->geometry[LAYERED_ZERO] = plan->geometry[LAYERED_ZERO_TOO] = 0;
    return BLY_OK;
}

static bly_status layered_format(void *image, const kind_spec *spec)
{
    uint64_t payload;
    bly_plan_t first;
    return layered_lay(&payload, &first, spec, image);
}

/* The headers of the layers say where the next one is. */
static void layered_like(void *image, const void *other)
{
    uint8_t *into = image_payload_mut(image);
    const uint8_t *from = image_payload(other);
    uint64_t room = 0;
    for (size_t at = 0; at < image_payload_bytes(other); at += (size_t)room) {
        memcpy(into + at, from + at, IMAGE_HEADER);
        inner_room(&room, image_u64(from + at, IMAGE_BYTES));
    }
}

/* ---- Check, contains, count, add --------------------------------------- */

static bool layered_sound(const void *image)
{
    uint64_t of = image_geometry(image, LAYERED_OF);
    uint64_t layers = image_geometry(image, LAYERED_LAYERS), at = 0, room;
    if (of >= PARTS_OF_BITS || layers < 2 || layers > LAYERED_MOST
        || image_geometry(image, LAYERED_ZERO) != 0
        || image_geometry(image, LAYERED_ZERO_TOO) != 0)
        return false;
    const bly_kind *kind = layered_kinds[of];
    for (uint64_t i = 0; i < layers; i++, at += room)
        if (!inner_check(image, at, kind)
            || !inner_room(&room, image_u64(image_payload(image) + at,
                                            IMAGE_BYTES)))
            return false;
    return at == image_payload_bytes(image);
}

static bly_status layered_check(const void *image)
{
    return layered_sound(image) ? BLY_OK : kind_bad_geometry(image);
}

static bool layered_contains(const void *image, uint64_t hash)
{
    layered_at at = layered_first(image);
    return at.kind->contains(at.image, hash);
}

static void layered_contains_many(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    layered_at at = layered_first(image);
    at.kind->contains_many(at.image, hashes, n, present);
}

/* A key in the last layer may have come more often: no bound is known. */
static uint64_t layered_told(uint64_t depth, uint64_t layers)
{
    return depth < layers ? depth : UINT64_MAX;
}

static uint64_t layered_count(const void *image, uint64_t hash)
{
    layered_at at = layered_first(image);
    while (at.kind->contains(at.image, layered_hash(at.number, hash))
           && layered_next(&at))
        ;
    return layered_told(at.number, at.layers);
}

/* A layer that has the key says BLY_SEEN and is not changed. */
static bly_status layered_add(void *image, uint64_t hash)
{
    layered_at at = layered_first(image);
    while (at.kind->add(at.image, layered_hash(at.number, hash)) == BLY_SEEN
           && layered_next(&at))
        ;
    return at.number == 0 ? BLY_OK : BLY_SEEN;
}

/* ---- Batches ----------------------------------------------------------- */

/* Some keys of a batch on their way down. */
typedef struct {
    size_t   n;                         /* how many there are still          */
    const uint64_t *hashes;             /* as they came                      */
    uint64_t mixed[LAYERED_CHUNK];      /* for a layer but the first         */
    uint16_t place[LAYERED_CHUNK];      /* in the batch                      */
    bool     found[LAYERED_CHUNK];
} layered_way;

static void layered_start(layered_way *way, const uint64_t *hashes, size_t n)
{
    way->n = n;
    way->hashes = hashes;
    for (size_t i = 0; i < n; i++)
        way->place[i] = (uint16_t)i;
}

/* The keys as the layer knows them: the first one knows them as they came, and
 * all of them reach it. */
static const uint64_t *layered_mix(layered_way *way, uint64_t number)
{
    if (number == 0)
        return way->hashes;
    for (size_t i = 0; i < way->n; i++)
        way->mixed[i] = layered_hash(number, way->hashes[way->place[i]]);
    return way->mixed;
}

/* Only the keys that were found go on. */
static void layered_sift(layered_way *way)
{
    size_t m = 0;
    for (size_t i = 0; i < way->n; i++) {
        way->place[m] = way->place[i];
        m += way->found[i];
    }
    way->n = m;
}

static void layered_count_some(const void *image, const uint64_t *hashes,
                               size_t n, uint64_t *counts)
{
    layered_way way;
    layered_at at = layered_first(image);
    layered_start(&way, hashes, n);
    memset(counts, 0, n * sizeof *counts);
    do {
        at.kind->contains_many(at.image, layered_mix(&way, at.number), way.n,
                               way.found);
        layered_sift(&way);
        for (size_t i = 0; i < way.n; i++)
            counts[way.place[i]] = layered_told(at.number + 1, at.layers);
    } while (way.n > 0 && layered_next(&at));
}

static void layered_count_many(const void *image, const uint64_t *hashes,
                               size_t n, uint64_t *counts)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LAYERED_CHUNK ? n - i : LAYERED_CHUNK;
        layered_count_some(image, hashes + i, some, counts + i);
    }
}

/* Layer after layer: what a layer holds depends on the adds to it and their
 * order alone, and that is the order of the keys. */
static void layered_add_some(void *image, const uint64_t *hashes, size_t n,
                             bool *seen)
{
    layered_way way;
    size_t done;
    layered_at at = layered_first(image);
    layered_start(&way, hashes, n);
    do {
        at.kind->add_each(at.image, layered_mix(&way, at.number), way.n,
                          way.found, &done);
        if (at.number == 0 && seen != NULL)
            memcpy(seen, way.found, n);
        layered_sift(&way);
    } while (way.n > 0 && layered_next(&at));
}

static bly_status layered_add_each(void *image, const uint64_t *hashes,
                                   size_t n, bool *seen, size_t *done)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LAYERED_CHUNK ? n - i : LAYERED_CHUNK;
        layered_add_some(image, hashes + i, some,
                         seen != NULL ? seen + i : NULL);
    }
    *done = n;
    return BLY_OK;
}

static bly_status layered_add_many(void *image, const uint64_t *hashes,
                                   size_t n, size_t *done)
{
    return layered_add_each(image, hashes, n, NULL, done);
}

/* ---- Sets of keys ------------------------------------------------------ */

static bool layered_alike(const void *a, const void *b)
{
    return inner_alike(layered_first(a).image, layered_first(b).image);
}

/* All keys are in the first layer. */
static void layered_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    layered_at first = layered_first(a);
    first.kind->combining->overlap(out, first.image, layered_first(b).image);
}

/* ---- Look inside ------------------------------------------------------- */

/* A whole number of keys from an estimate. */
static uint64_t layered_whole(double keys)
{
    return keys < 9e18 ? (uint64_t)llround(keys) : UINT64_MAX;
}

/* Rate and keys are the first layer's; keys in the last one are counted no
 * further. */
static void layered_stat(bly_info_t *out, const void *image)
{
    layered_at at = layered_first(image);
    bly_info_t one = { .bytes = 0 };
    double set = 0, bytes = 0, fullest = 0;
    at.kind->stat(out, at.image);
    do {
        double size = (double)image_payload_bytes(at.image);
        at.kind->stat(&one, at.image);
        set += one.fill * size;
        bytes += size;
        fullest = fmax(fullest, one.fill);
    } while (layered_next(&at));
    out->fill = set / bytes;
    out->fullest = fullest;
    out->saturated = layered_whole(one.distinct);
}

static const kind_hashing layered_hashing = {
    .raw_of = layered_raw_hash,
};

static const kind_combining layered_combining = {
    .alike   = layered_alike,
    .overlap = layered_overlap,
};

const bly_kind bly_kind_layered = {
    .name    = "layered",
    .family  = "compound",
    .summary = "counts how often a key was added, with filters in layers",
    .version = LAYERED_VERSION,
    .options = layered_options,

    .plan   = layered_plan,
    .format = layered_format,
    .like   = layered_like,
    .check  = layered_check,
    .stat   = layered_stat,

    .contains      = layered_contains,
    .contains_many = layered_contains_many,

    .add        = layered_add,
    .add_many   = layered_add_many,
    .add_each   = layered_add_each,
    .count      = layered_count,
    .count_many = layered_count_many,

    .hashing   = &layered_hashing,
    .combining = &layered_combining,
};
