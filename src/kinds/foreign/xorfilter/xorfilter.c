/* xorfilter.c - the filters of xor_singleheader, and of its relatives for Go
 * and Rust, in their own bytes.
 *
 * WHAT IT IS
 *
 * The C headers of Graf and Lemire's own library write these xor filters and
 * binary fuse filters, with fingerprints of 8 or 16 bits. The payload is such a
 * file, byte for byte, from a little-endian machine. Its sizes show which of
 * the four it is.
 *
 * The binary fuse filters of Go's FastFilter/xorfilter, as `Save` writes them,
 * and of Rust's crate xorf have other numbers in front of the same cells. For
 * Rust, the payload is the 20 bytes of `dma_copy_descriptor_to` and then
 * `dma_fingerprints`. Both also have fingerprints of 32 bits.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that one of these libraries has written or will read. Keys
 * are numbers:
 *
 *      numbers           bloomery query --as int64 members.bin numbers
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
 *      go32      2^-32          36.2                  3
 *
 * go8, go16, rust8 and rust16 are as fuse8 and fuse16, and rust32 is as go32.
 * The three lines of a fuse filter are near each other.
 *
 * THE PICTURE
 *
 *      xor     | seed | B | B cells | B cells | B cells |
 *      fuse    | seed | n | L | S | S L | (S + 2) L | cells, L a segment |
 *      go      | seed | L | L - 1 | S | S L | (S + 2) L | cells |
 *      rust    | seed | L | L - 1 | S L | cells |
 *
 * IMAGE
 *
 *      geometry 0   0 xor8, 1 xor16, 2 fuse8, 3 fuse16, 4 go8, 5 go16, 6 go32,
 *                   7 rust8, 8 rust16, 9 rust32
 *      geometry 1   cells of a block B, or of a segment L
 *      geometry 2   segments S in which a key's first cell can be; 0 for xor
 *      payload      all numbers have the lowest byte first
 *         0   8     seed
 *         8         xor: B, 8 bytes, 1 .. 2^32 - 1; then 3 B cells
 *                   fuse: n, L, S, S L, (S + 2) L, of 4 bytes each, L a power
 *                   of two up to 2^18; then that many cells
 *                   go and rust: the numbers of the picture, of 4 bytes each;
 *                   then (S + 2) L cells; of rust, L is at least 4
 *                   a cell has 1, 2 or 4 bytes; after those of fuse16 may be 4
 *                   bytes of any value, which the library counts and does not
 *                   write
 *
 *      Valid if and only if these numbers fit together, the cells end where the
 *      payload does, and the geometry is what the file says.
 *
 * MATHS
 *
 * An absent key passes with probability 2^-8, 2^-16 or 2^-32. Files of Go and
 * Rust do not state how many keys they have; it is taken to be the most that
 * the cells have room for, (S + 2) L / 1.125.
 *
 * THE CELLS OF A KEY
 *
 * A key is a number of 64 bits: up to 8 bytes, the lowest first. A longer key
 * is replaced by its XXH3. With h = the finalizer of MurmurHash3 of key + seed:
 *
 *      fingerprint  h ^ h / 2^32, its lowest 8, 16 or 32
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
 * Filters of types go and rust are built in the same way, and have the sizes of
 * those libraries' formula. The libraries read them, but would have chosen
 * other seeds, and Go at times other sizes.
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
    XORFILTER_GO_SEGMENT = 8, XORFILTER_GO_MASK = 12,
    XORFILTER_RUST_HEAD = 20, XORFILTER_RUST_FIRST = 16,
    XORFILTER_RUST_LEAST = 4,           /* cells of a segment                */
    XORFILTER_GROUP = 32
};

enum { XORFILTER_XOR, XORFILTER_FUSE, XORFILTER_GO, XORFILTER_RUST };

/* The types: whose numbers they have, and bytes of a cell. */
enum { XORFILTER_FUSE8 = 2, XORFILTER_FUSE16 = 3, XORFILTER_TYPES = 10 };
static const struct { uint8_t form, cell; } xorfilter_type_is[] = {
    { XORFILTER_XOR, 1 }, { XORFILTER_XOR, 2 },
    { XORFILTER_FUSE, 1 }, { XORFILTER_FUSE, 2 },
    { XORFILTER_GO, 1 }, { XORFILTER_GO, 2 }, { XORFILTER_GO, 4 },
    { XORFILTER_RUST, 1 }, { XORFILTER_RUST, 2 }, { XORFILTER_RUST, 4 },
};

static const char *const xorfilter_types[] = {
    "xor8", "xor16", "fuse8", "fuse16", "go8", "go16", "go32",
    "rust8", "rust16", "rust32", NULL
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
        .cell = xorfilter_type_is[type].cell,
        .length = (uint32_t)image_geometry(image, XORFILTER_CELLS),
        .segments = (uint32_t)image_geometry(image, XORFILTER_SEGMENTS),
    };
}

static size_t xorfilter_head(uint64_t type)
{
    static const uint8_t heads[] = {
        [XORFILTER_XOR] = XORFILTER_XOR_HEAD,
        [XORFILTER_FUSE] = XORFILTER_FUSE_HEAD,
        [XORFILTER_GO] = XORFILTER_FUSE_HEAD,
        [XORFILTER_RUST] = XORFILTER_RUST_HEAD,
    };
    return heads[xorfilter_type_is[type].form];
}

static const uint8_t *xorfilter_cells_of(const void *image)
{
    return image_payload(image)
         + xorfilter_head(image_geometry(image, XORFILTER_TYPE));
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

/* Returns whether segments have a length that is a power of two, of which the
 * file states the mask. */
static bool xorfilter_is_masked(const uint8_t *file, uint64_t least)
{
    uint64_t length = image_u32(file, XORFILTER_GO_SEGMENT);
    return length >= least && length <= XORFILTER_SEGMENT_MOST
        && (length & (length - 1)) == 0
        && image_u32(file, XORFILTER_GO_MASK) == length - 1;
}

static bool xorfilter_is_go(const uint8_t *file, uint64_t bytes, unsigned cell)
{
    if (bytes < XORFILTER_FUSE_HEAD || !xorfilter_is_masked(file, 1))
        return false;
    uint64_t length = image_u32(file, XORFILTER_GO_SEGMENT);
    uint64_t segments = image_u32(file, XORFILTER_AT_SEGMENTS);
    return segments >= 1
        && image_u32(file, XORFILTER_AT_FIRST) == length * segments
        && image_u32(file, XORFILTER_AT_ALL) == length * (segments + 2)
        && bytes == XORFILTER_FUSE_HEAD + cell * length * (segments + 2);
}

static bool xorfilter_is_rust(const uint8_t *file, uint64_t bytes,
                              unsigned cell)
{
    if (bytes < XORFILTER_RUST_HEAD
        || !xorfilter_is_masked(file, XORFILTER_RUST_LEAST))
        return false;
    uint64_t length = image_u32(file, XORFILTER_GO_SEGMENT);
    uint64_t first = image_u32(file, XORFILTER_RUST_FIRST);
    return first >= 1 && first % length == 0
        && first + 2 * length <= UINT32_MAX
        && bytes == XORFILTER_RUST_HEAD + cell * (first + 2 * length);
}

/* Returns the type by whose rules the sizes fit, or XORFILTER_TYPES. A real
 * file fits only one. */
static unsigned xorfilter_type(const uint8_t *file, uint64_t bytes)
{
    static bool (*const fits[])(const uint8_t *, uint64_t, unsigned) = {
        [XORFILTER_XOR] = xorfilter_is_xor,
        [XORFILTER_FUSE] = xorfilter_is_fuse,
        [XORFILTER_GO] = xorfilter_is_go,
        [XORFILTER_RUST] = xorfilter_is_rust,
    };
    unsigned type = 0;
    while (type < XORFILTER_TYPES
           && !fits[xorfilter_type_is[type].form](file, bytes,
                                                  xorfilter_type_is[type].cell))
        type++;
    return type;
}

static bool xorfilter_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    return n >= XORFILTER_FUSE_HEAD
        && xorfilter_type(bytes, all) < XORFILTER_TYPES;
}

static double xorfilter_rate(const xorfilter_shape *shape)
{
    return ldexp(1, -8 * (int)shape->cell);
}

/* Returns the most keys for which there are so many cells. */
static double xorfilter_room(const xorfilter_shape *shape)
{
    double n = shape->segments == 0
             ? (3 * ((double)shape->length + 1) - 32) / 1.23
             : (double)xorfilter_cells(shape) / 1.125;
    return floor(fmax(n, 0));
}

/* Reads the sizes of cells from a file of this type, and how many keys it has
 * or may have. */
static xorfilter_shape xorfilter_sizes(uint64_t *n, const uint8_t *file,
                                       unsigned type)
{
    unsigned form = xorfilter_type_is[type].form;
    xorfilter_shape shape = { .cell = xorfilter_type_is[type].cell };
    shape.length = image_u32(file, form == XORFILTER_FUSE
                                   ? XORFILTER_AT_SEGMENT : XORFILTER_AT_BLOCK);
    if (form == XORFILTER_FUSE || form == XORFILTER_GO)
        shape.segments = image_u32(file, XORFILTER_AT_SEGMENTS);
    if (form == XORFILTER_RUST)
        shape.segments = image_u32(file, XORFILTER_RUST_FIRST) / shape.length;
    *n = form == XORFILTER_FUSE ? image_u32(file, XORFILTER_AT_N)
       : (uint64_t)fmax(1, xorfilter_room(&shape));
    return shape;
}

static bly_status xorfilter_read(kind_found *out, const uint8_t *file,
                                 uint64_t bytes)
{
    unsigned type = xorfilter_type(file, bytes);
    uint64_t n;
    if (type >= XORFILTER_TYPES)
        return status_fail(BLY_ECORRUPT, "read as a filter of "
                           "xor_singleheader: byte 8: its header does not "
                           "match itself, or its %llu bytes: it is damaged, of "
                           "a machine with the other byte order, or packed: "
                           "fetch it again, or name another format",
                           (unsigned long long)bytes);
    xorfilter_shape shape = xorfilter_sizes(&n, file, type);
    *out = (kind_found){
        .capacity = n,
        .items = xorfilter_type_is[type].form == XORFILTER_FUSE
               ? n : IMAGE_ITEMS_UNKNOWN,
        .rate = xorfilter_rate(&shape),
        .geometry = { type, shape.length, shape.segments },
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
    if (length < 1 || type >= XORFILTER_TYPES)
        return UINT64_MAX;
    bool blocks = xorfilter_type_is[type].form == XORFILTER_XOR;
    bool is_xor = blocks && segments == 0 && length <= UINT32_MAX;
    bool is_fuse = !blocks && segments >= 1
                && segments <= UINT32_MAX / length - 2
                && length <= XORFILTER_SEGMENT_MOST
                && (length & (length - 1)) == 0;
    xorfilter_shape shape = {
        .cell = xorfilter_type_is[type].cell, .length = (uint32_t)length,
        .segments = (uint32_t)segments,
    };
    return !is_xor && !is_fuse ? UINT64_MAX
         : xorfilter_head(type) + xorfilter_bytes(&shape);
}

static const kind_foreign xorfilter_foreign = {
    .writer = "xor_singleheader, Go's FastFilter/xorfilter, Rust's xorf",
    .numbers = {
        { "type", "0 xor8, 1 xor16, 2 fuse8, 3 fuse16, 4 go8, 5 go16, 6 go32, "
                  "7 rust8, 8 rust16, 9 rust32" },
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
        type = spec->rate >= ldexp(1, -8) ? XORFILTER_FUSE8 : XORFILTER_FUSE16;
    if (spec->option[0] == KIND_CHOOSE && spec->rate < ldexp(1, -16))
        return status_fail(BLY_EPARAM, "a rate of %.3g is below 2^-16, the "
                           "lowest for filters of xor_singleheader: use a "
                           "higher rate, or kind fuse", spec->rate);
    if (!xorfilter_size(&shape, n,
                        xorfilter_type_is[type].form == XORFILTER_XOR,
                        xorfilter_type_is[type].cell))
        return kind_too_big(spec, "2^32 cells");
    bly_status status = kind_plan_bytes(plan, xorfilter_head(type)
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

static void xorfilter_write(uint8_t *file, unsigned form,
                            const xorfilter_shape *shape, uint64_t seed,
                            uint64_t n)
{
    uint64_t first = (uint64_t)shape->length * shape->segments;
    image_set_u64(file, 0, seed);
    if (form == XORFILTER_XOR) {
        image_set_u64(file, XORFILTER_AT_BLOCK, shape->length);
        return;
    }
    if (form == XORFILTER_FUSE) {
        xorfilter_set_u32(file, XORFILTER_AT_N, n);
        xorfilter_set_u32(file, XORFILTER_AT_SEGMENT, shape->length);
    } else {
        xorfilter_set_u32(file, XORFILTER_GO_SEGMENT, shape->length);
        xorfilter_set_u32(file, XORFILTER_GO_MASK, shape->length - 1);
    }
    if (form == XORFILTER_RUST) {
        xorfilter_set_u32(file, XORFILTER_RUST_FIRST, first);
        return;
    }
    xorfilter_set_u32(file, XORFILTER_AT_SEGMENTS, shape->segments);
    xorfilter_set_u32(file, XORFILTER_AT_FIRST, first);
    xorfilter_set_u32(file, XORFILTER_AT_ALL, xorfilter_cells(shape));
}

static bly_status xorfilter_build(void *image, const kind_keys *keys,
                                  const kind_bench *bench)
{
    xorfilter_shape shape = xorfilter_of(image);
    uint8_t *file = image_payload_mut(image);
    uint64_t seed = 0, type = image_geometry(image, XORFILTER_TYPE);
    if (!xorfilter_fill(&shape, file + xorfilter_head(type), &seed,
                        keys->hashes, keys->n, bench->scratch))
        return status_fail(BLY_EFULL, "none of a hundred seeds builds this "
                           "filter, which is nearly impossible: build it again "
                           "with other keys, or with type=fuse16");
    xorfilter_write(file, xorfilter_type_is[type].form, &shape, seed, keys->n);
    return BLY_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static bool xorfilter_contains(const void *image, uint64_t hash)
{
    xorfilter_shape shape = xorfilter_of(image);
    const uint8_t *file = image_payload(image);
    xorfilter_places at = xorfilter_find(&shape, hash, image_u64(file, 0));
    return xorfilter_xor(&shape, xorfilter_cells_of(image), &at) == 0;
}

/* Looks up keys. The cells of a group are prefetched before the first is read.
 * */
static void xorfilter_contains_many(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present)
{
    xorfilter_shape shape = xorfilter_of(image);
    const uint8_t *file = image_payload(image);
    const uint8_t *cells = xorfilter_cells_of(image);
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

static void xorfilter_stat(bly_info_t *out, const void *image)
{
    xorfilter_shape shape = xorfilter_of(image);
    out->fill = 1;
    out->rate = xorfilter_rate(&shape);
    /* the number of keys includes repeated ones, if the file states it */
    out->distinct = out->items_exact ? (double)out->items
                                     : xorfilter_room(&shape);
    out->distinct_sd = out->distinct > 0 ? INFINITY : 0;
    out->probes = 3;
}

static const kind_building xorfilter_building = {
    .build = xorfilter_build,
};

const bly_kind bly_kind_xorfilter = {
    .name    = "xorfilter",
    .family  = "foreign",
    .summary = "xor and binary fuse filters of xor_singleheader, Go, Rust",
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
