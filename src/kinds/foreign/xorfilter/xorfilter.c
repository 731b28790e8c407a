/* xorfilter.c - the filters of xor_singleheader, in their own bytes.
 *
 * WHAT IT IS
 *
 * The C headers of Graf and Lemire's own library write these xor filters and
 * binary fuse filters, with fingerprints of 8 or 16 bits. The payload is such a
 * file, byte for byte, from a little-endian machine. Its sizes show which of
 * the four it is.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that the C library xor_singleheader has written or will
 * read.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `fuse` and `xor` have fingerprints
 *   of any width, and are built by many threads.
 *
 * COST
 *
 *      type      rate        bits per key    cache lines per lookup
 *      xor8      0.39 %          9.8                  3
 *      fuse8     0.39 %          9.0                  3
 *      xor16     0.0015 %       19.7                  3
 *      fuse16    0.0015 %       18.1                  3
 *
 * The three lines of a fuse filter are near each other.
 *
 * THE PICTURE
 *
 *      xor     | seed | B | B cells | B cells | B cells |
 *      fuse    | seed | n | L | S | S L | (S + 2) L | cells, L a segment |
 *
 * IMAGE
 *
 *      geometry 0   0 xor8, 1 xor16, 2 fuse8, 3 fuse16
 *      geometry 1   cells of a block B, or of a segment L
 *      geometry 2   segments S in which a key's first cell can be; 0 for xor
 *      payload      all numbers have the lowest byte first
 *         0   8     seed
 *         8         xor: B, 8 bytes, 1 .. 2^32 - 1; then 3 B cells
 *                   fuse: n, L, S, S L, (S + 2) L, of 4 bytes each, L a power
 *                   of two up to 2^18; then that many cells
 *                   a cell has 1 byte or 2; after those of fuse16 may be 4
 *                   bytes of any value, which the library counts and does not
 *                   write
 *
 *      Valid if and only if these numbers fit together, the cells end where the
 *      payload does, and the geometry is what the file says.
 *
 * MATHS
 *
 * An absent key passes with probability 2^-8 or 2^-16.
 *
 * THE CELLS OF A KEY
 *
 * A key is a number of 64 bits: up to 8 bytes, the lowest first. A longer key
 * is replaced by its XXH3. With h = the finalizer of MurmurHash3 of key + seed:
 *
 *      fingerprint  h ^ h / 2^32, its lowest 8 or 16 bits
 *      xor          cell i, 0 to 2: B times the low half of h, rotated left by
 *                   21 i bits, / 2^32, in block i
 *      fuse         first cell c = h S L / 2^64; then c + L with its lowest
 *                   bits xored with h / 2^18, and c + 2 L with h
 *
 * A key is present if its three cells XOR to its fingerprint.
 *
 * BUILD
 *
 * The build follows that library, so the same keys in the same order make the
 * same file. Seeds are SplitMix64's from 1 (xor) or 726b2b9d438b9d4d, and the
 * key that was found last is taken off first (xorfilter_build.c). Repeated keys
 * are stored once; the file then has room for all. Cells that belong to no key
 * are 0. (In the library's own xor filters they keep whatever was in memory.)
 *
 * PAPERS
 *
 *  [Graf & Lemire 2020]  Xor filters: faster and smaller than Bloom and cuckoo
 *                        filters, ACM JEA 25.
 *  [Graf & Lemire 2022]  Binary fuse filters: fast and smaller than xor
 *                        filters, ACM JEA 27.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "kinds/foreign/xorfilter/xorfilter_build.h"

enum {
    XORFILTER_VERSION = 1,
    XORFILTER_TYPE = 0, XORFILTER_CELLS = 1, XORFILTER_SEGMENTS = 2,
    XORFILTER_XOR_HEAD = 16, XORFILTER_FUSE_HEAD = 28,
    XORFILTER_AT_N = 8, XORFILTER_AT_SEGMENT = 12, XORFILTER_AT_SEGMENTS = 16,
    XORFILTER_AT_FIRST = 20, XORFILTER_AT_ALL = 24, XORFILTER_AT_BLOCK = 8,
    XORFILTER_LOOSE = 4,                /* bytes at fuse16's end             */
    XORFILTER_GROUP = 32
};

static const char *const xorfilter_types[] = {
    "xor8", "xor16", "fuse8", "fuse16", NULL
};

static const kind_option xorfilter_options[] = {
    { .name = "type", .help = "type of the filter; by default fuse8 or fuse16, "
                              "as the rate requires",
      .choices = xorfilter_types, .standard = KIND_CHOOSE },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static xorfilter_shape xorfilter_of(const void *image)
{
    uint64_t type = image_geometry(image, XORFILTER_TYPE);
    return (xorfilter_shape){
        .cell = 1 + (unsigned)(type & 1),
        .length = (uint32_t)image_geometry(image, XORFILTER_CELLS),
        .segments = (uint32_t)image_geometry(image, XORFILTER_SEGMENTS),
    };
}

static size_t xorfilter_head(const xorfilter_shape *shape)
{
    return shape->segments > 0 ? XORFILTER_FUSE_HEAD : XORFILTER_XOR_HEAD;
}

/* Returns whether the file is an xor filter with cells of so many bytes. */
static bool xorfilter_is_xor(const uint8_t *file, uint64_t bytes,
                             unsigned cell)
{
    uint64_t block = bytes >= XORFILTER_XOR_HEAD
                   ? image_u64(file, XORFILTER_AT_BLOCK) : 0;
    return block >= 1 && block <= UINT32_MAX
        && bytes == XORFILTER_XOR_HEAD + 3 * cell * block;
}

/* Or a fuse filter? */
static bool xorfilter_is_fuse(const uint8_t *file, uint64_t bytes,
                              unsigned cell)
{
    if (bytes < XORFILTER_FUSE_HEAD)
        return false;
    uint64_t length = image_u32(file, XORFILTER_AT_SEGMENT);
    uint64_t segments = image_u32(file, XORFILTER_AT_SEGMENTS);
    return length >= 1 && length <= XORFILTER_SEGMENT_MOST
        && (length & (length - 1)) == 0 && segments >= 1
        && image_u32(file, XORFILTER_AT_FIRST) == length * segments
        && image_u32(file, XORFILTER_AT_ALL) == length * (segments + 2)
        && image_u32(file, XORFILTER_AT_N) <= length * (segments + 2)
        && (bytes == XORFILTER_FUSE_HEAD + cell * length * (segments + 2)
            || (cell == 2 && bytes == XORFILTER_FUSE_HEAD + XORFILTER_LOOSE
                                      + 2 * length * (segments + 2)));
}

/* The type, by which the sizes fit; 4: none. The four exclude each other. */
static unsigned xorfilter_type(const uint8_t *file, uint64_t bytes)
{
    return xorfilter_is_xor(file, bytes, 1) ? 0
         : xorfilter_is_xor(file, bytes, 2) ? 1
         : xorfilter_is_fuse(file, bytes, 1) ? 2
         : xorfilter_is_fuse(file, bytes, 2) ? 3 : 4;
}

static bool xorfilter_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= XORFILTER_FUSE_HEAD && xorfilter_type(bytes, all) < 4;
}

static double xorfilter_rate(const xorfilter_shape *shape)
{
    return ldexp(1, -8 * (int)shape->cell);
}

static bly_status xorfilter_read(kind_found *out, const uint8_t *file,
                                 uint64_t bytes)
{
    unsigned type = xorfilter_type(file, bytes);
    if (type > 3)
        return status_fail(BLY_ECORRUPT, "read as a filter of "
                           "xor_singleheader: byte 8: its header does not "
                           "match itself, or its %llu bytes: it is damaged, of "
                           "a machine with the other byte order, or packed: "
                           "fetch it again, or name another format",
                           (unsigned long long)bytes);
    uint64_t cells = image_u64(file, XORFILTER_AT_BLOCK), segments = 0;
    uint64_t n = cells < 11 ? 1 : (uint64_t)((3 * (double)cells - 32) / 1.23);
    if (type >= 2) {
        cells = image_u32(file, XORFILTER_AT_SEGMENT);
        segments = image_u32(file, XORFILTER_AT_SEGMENTS);
        n = image_u32(file, XORFILTER_AT_N);
    }
    *out = (kind_found){
        .capacity = n,
        .items = type >= 2 ? n : IMAGE_ITEMS_UNKNOWN,
        .rate = ldexp(1, type % 2 == 0 ? -8 : -16),
        .geometry = { type, cells, segments },
    };
    return BLY_OK;
}

static void xorfilter_hasher(kind_hasher *out, const uint64_t *geometry)
{
    (void)geometry;
    *out = (kind_hasher){ .function = hash_find("identity")->function };
}

static uint64_t xorfilter_reach(const uint64_t *geometry)
{
    uint64_t type = geometry[XORFILTER_TYPE];
    uint64_t length = geometry[XORFILTER_CELLS];
    uint64_t segments = geometry[XORFILTER_SEGMENTS];
    if (length < 1)
        return UINT64_MAX;
    bool is_xor = type < 2 && segments == 0 && length <= UINT32_MAX;
    bool is_fuse = (type == 2 || type == 3) && segments >= 1
                && segments <= UINT32_MAX / length - 2
                && length <= XORFILTER_SEGMENT_MOST
                && (length & (length - 1)) == 0;
    xorfilter_shape shape = {
        .cell = 1 + (unsigned)(type & 1), .length = (uint32_t)length,
        .segments = (uint32_t)segments,
    };
    return !is_xor && !is_fuse ? UINT64_MAX
         : xorfilter_head(&shape) + xorfilter_bytes(&shape);
}

static const kind_foreign xorfilter_foreign = {
    .writer = "xor_singleheader: xor8, xor16, binary fuse 8 and 16",
    .numbers = {
        { "type", "0 xor8, 1 xor16, 2 fuse8, 3 fuse16" },
        { "cells", "of a block or segment" },
        { "segments", NULL },
    },
    .looks  = xorfilter_looks,
    .read   = xorfilter_read,
    .reach  = xorfilter_reach,
    .hasher = xorfilter_hasher,
};

static bly_status xorfilter_check(const void *image)
{
    return kind_check_foreign(image, &xorfilter_foreign);
}

/* ---- Plan and build ---------------------------------------------------- */

static bly_status xorfilter_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity, type = spec->option[0];
    xorfilter_shape shape;
    if (type == KIND_CHOOSE)
        type = spec->rate >= ldexp(1, -8) ? 2 : 3;
    if (spec->option[0] == KIND_CHOOSE && spec->rate < ldexp(1, -16))
        return status_fail(BLY_EPARAM, "a rate of %.3g is below 2^-16, the "
                           "lowest for filters of xor_singleheader: use a "
                           "higher rate, or kind fuse", spec->rate);
    if (!xorfilter_size(&shape, n, type < 2, 1 + (unsigned)(type & 1)))
        return kind_too_big(spec, "2^32 cells");
    bly_status status = kind_plan_bytes(plan, xorfilter_head(&shape)
                                              + xorfilter_bytes(&shape));
    plan->capacity = n + (n == 0);
    plan->rate = xorfilter_rate(&shape);
    plan->fill = 1;
    plan->probes = 3;
    plan->lines_present = plan->lines_absent = 3;
    plan->scratch = xorfilter_scratch(&shape, n);
    plan->geometry[XORFILTER_TYPE] = type;
    plan->geometry[XORFILTER_CELLS] = shape.length;
    plan->geometry[XORFILTER_SEGMENTS] = shape.segments;
    return status;
}

static void xorfilter_set_u32(uint8_t *file, size_t at, uint64_t v)
{
    for (size_t i = 0; i < 4; i++)
        file[at + i] = (uint8_t)(v >> 8 * i);
}

static void xorfilter_write(uint8_t *file, const xorfilter_shape *shape,
                            uint64_t seed, uint64_t n)
{
    image_set_u64(file, 0, seed);
    if (shape->segments == 0) {
        image_set_u64(file, XORFILTER_AT_BLOCK, shape->length);
        return;
    }
    xorfilter_set_u32(file, XORFILTER_AT_N, n);
    xorfilter_set_u32(file, XORFILTER_AT_SEGMENT, shape->length);
    xorfilter_set_u32(file, XORFILTER_AT_SEGMENTS, shape->segments);
    xorfilter_set_u32(file, XORFILTER_AT_FIRST,
                      (uint64_t)shape->length * shape->segments);
    xorfilter_set_u32(file, XORFILTER_AT_ALL,
                      (uint64_t)shape->length * (shape->segments + 2));
}

static bly_status xorfilter_build(void *image, const kind_keys *keys,
                                  const kind_bench *bench)
{
    xorfilter_shape shape = xorfilter_of(image);
    uint8_t *file = image_payload_mut(image);
    uint64_t seed = 0;
    if (!xorfilter_fill(&shape, file + xorfilter_head(&shape), &seed,
                        keys->hashes, keys->n, bench->scratch))
        return status_fail(BLY_EFULL, "none of a hundred seeds builds this "
                           "filter, which is nearly impossible: build it again "
                           "with other keys, or with type=fuse16");
    xorfilter_write(file, &shape, seed, keys->n);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static bool xorfilter_contains(const void *image, uint64_t hash)
{
    xorfilter_shape shape = xorfilter_of(image);
    const uint8_t *file = image_payload(image);
    xorfilter_places at = xorfilter_find(&shape, hash, image_u64(file, 0));
    return xorfilter_xor(&shape, file + xorfilter_head(&shape), &at) == 0;
}

/* Looks up keys. The cells of a group are prefetched before the first is read.
 * */
static void xorfilter_contains_many(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    xorfilter_shape shape = xorfilter_of(image);
    const uint8_t *file = image_payload(image);
    const uint8_t *cells = file + xorfilter_head(&shape);
    uint64_t seed = image_u64(file, 0);
    xorfilter_places at[XORFILTER_GROUP];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < XORFILTER_GROUP ? n - i : XORFILTER_GROUP;
        for (size_t j = 0; j < some; j++) {
            at[j] = xorfilter_find(&shape, hashes[i + j], seed);
            for (size_t c = 0; c < 3; c++)
                platform_prefetch(cells + shape.cell * at[j].cell[c]);
        }
        for (size_t j = 0; j < some; j++)
            present[i + j] = xorfilter_xor(&shape, cells, &at[j]) == 0;
    }
}

/* The number of keys that a filter was made for includes repeated keys. A fuse
 * filter states it; from the cells of an xor filter follows the most. */
static double xorfilter_most(const bly_info_t *stat,
                             const xorfilter_shape *shape)
{
    if (stat->items_exact)
        return (double)stat->items;
    return floor((3 * ((double)shape->length + 1) - 32) / 1.23);
}

static void xorfilter_stat(bly_info_t *out, const void *image)
{
    xorfilter_shape shape = xorfilter_of(image);
    out->fill = 1;
    out->rate = xorfilter_rate(&shape);
    out->distinct = xorfilter_most(out, &shape);
    out->distinct_sd = out->distinct > 0 ? INFINITY : 0;
    out->probes = 3;
}

static const kind_building xorfilter_building = {
    .build = xorfilter_build,
};

const bly_kind bly_kind_xorfilter = {
    .name    = "xorfilter",
    .family  = "foreign",
    .summary = "the xor and binary fuse filters of xor_singleheader",
    .version = XORFILTER_VERSION,
    .options = xorfilter_options,

    .plan  = xorfilter_plan,
    .check = xorfilter_check,
    .stat  = xorfilter_stat,

    .contains      = xorfilter_contains,
    .contains_many = xorfilter_contains_many,

    .building = &xorfilter_building,
    .foreign  = &xorfilter_foreign,
};
