/* parquet.c - the Bloom filter of a Parquet column chunk, in its own bytes.
 *
 * WHAT IT IS
 *
 * A Parquet file may contain a filter for a column of a row group, so that
 * readers can skip row groups without a value. It is a header in Thrift's
 * compact protocol, followed by the bits of a split-block Bloom filter. The
 * payload is both, byte for byte, as in the file at the column's
 * bloom_filter_offset. The bits alone equal those of kind `split` with
 * hash=xxh64.
 *
 * WHEN TO USE IT
 *
 * Use it to read the Bloom filters of Parquet files, or to write them. A key is
 * the value in its plain encoding, without a length: the UTF-8 bytes of a
 * string; the 4 or 8 bytes of an integer or floating-point number, the lowest
 * first.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `blocked` has a lower rate in as
 *   many bits.
 * - The filter was written by one of the oldest writers, which hashed with
 *   murmur3: it is refused.
 *
 * COST
 *
 * 10.5 bits per key at 1 %, 16.9 at 0.1 %, before the size is rounded up to a
 * power of two. A lookup computes one hash and reads one block, every second of
 * which begins in one cache line and ends in the next. A batch tests blocks as
 * `split` does.
 *
 * THE PICTURE
 *
 *      | 15 bytes 1c 1c 00 00 1c 1c 00 00 1c 1c 00 00 00 | z blocks of 32 |
 *
 * IMAGE
 *
 *      geometry 0   z, number of blocks, 1 .. 2^22
 *      geometry 1   h, bytes of the header, 15 .. 18
 *      payload      byte 15; numBytes, 32 z, as a zigzag varint of 1 to 5
 *                   bytes, as few as it can be; three unions of which the first
 *                   member is set, 1c 1c 00 00 (by blocks, xxhash, not
 *                   compressed); 00; and z blocks of 8 words of 32 bits, the
 *                   lowest byte first
 *
 *      Valid if and only if the payload is as above, from its first byte to its
 *      last, and z and h are those of the geometry. (The oldest writers hashed
 *      with murmur3 and have another union there, which is refused.)
 *
 * MATHS
 *
 * The rate is that of `split`. Writers take -8 n / ln(1 - p^(1/8)) bits, in a
 * power of two of bytes from 32 up to 2^27, so the rate is often lower than
 * requested. n is not in the header: plan and stat of an opened filter assume a
 * rate of 1 %, at 10.5 bits per key.
 *
 * THE BITS OF A KEY
 *
 *      x = XXH64(key, seed 0); the block is (x >> 32) z >> 32; in its word i, i
 *      = 0 .. 7, the bit (x mod 2^32) s_i mod 2^32 >> 27, with the odd numbers
 *      47b6137b 44974d91 8824ad5b a2b7289d 705495c7 2df1424b 9efc4947 5c6bfb31
 *
 * PAPERS
 *
 *  [Putze 2007]  Cache-, hash- and space-efficient Bloom filters, WEA. Blocks.
 *  [Apple 2022]  Split block Bloom filters. This form of them.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/hash.h"
#include "bodies/lanes.h"
#include "bodies/rows.h"

enum {
    PARQUET_VERSION = 1,
    PARQUET_BLOCKS = LANES_BLOCKS, PARQUET_HEAD = LANES_HEAD,   /* geometry  */
    PARQUET_BLOCK = 32, PARQUET_WORDS = 8,
    PARQUET_NUM_BYTES = 0x15,           /* field 1, an i32                   */
    PARQUET_TAIL = 13,                  /* bytes behind numBytes             */
    PARQUET_LEAST = 1 + 1 + PARQUET_TAIL,
    PARQUET_GROUP = 256                 /* keys hashed at a time             */
};

#define PARQUET_BYTES_MAX (UINT64_C(1) << 27)

static const uint8_t parquet_tail[PARQUET_TAIL] = {
    0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0,
};

/* ---- The header -------------------------------------------------------- */

/* Returns the bytes of the header, for so many bytes of bits: twice that
 * number, in groups of 7 bits. */
static size_t parquet_head(uint64_t bytes)
{
    size_t n = 1;
    for (uint64_t v = 2 * bytes; v >= 0x80; v >>= 7)
        n++;
    return 1 + n + PARQUET_TAIL;
}

static void parquet_put_head(uint8_t *file, uint64_t bytes)
{
    uint64_t v = 2 * bytes;
    *file++ = PARQUET_NUM_BYTES;
    for (; v >= 0x80; v >>= 7)
        *file++ = (uint8_t)(v | 0x80);
    *file++ = (uint8_t)v;
    memcpy(file, parquet_tail, sizeof parquet_tail);
}

/* Returns how many bytes of bits a header states; 0: not a header. */
static uint64_t parquet_said(const uint8_t *file, uint64_t n)
{
    uint64_t v = 0;
    size_t at = 1, shift = 0;
    if (n < PARQUET_LEAST || file[0] != PARQUET_NUM_BYTES)
        return 0;
    for (; at < 6 && (file[at] & 0x80) != 0; at++, shift += 7)
        v |= (uint64_t)(file[at] & 0x7F) << shift;
    v |= (uint64_t)file[at] << shift;
    uint64_t bytes = v / 2;
    if (at >= 6 || v % 2 != 0 || bytes == 0 || bytes > PARQUET_BYTES_MAX
        || n < parquet_head(bytes) || at + 1 + PARQUET_TAIL
                                      != parquet_head(bytes))
        return 0;
    return memcmp(file + at + 1, parquet_tail, PARQUET_TAIL) == 0 ? bytes : 0;
}

static shape parquet_shape_of(uint64_t blocks)
{
    return (shape){ .blocks = blocks, .lanes = PARQUET_WORDS, .bits = 32,
                    .probes = 1 };
}

static void parquet_plan_row(bly_plan_t *plan, uint64_t blocks, uint64_t n)
{
    shape s = parquet_shape_of(blocks);
    rows_plan(plan, &s, n);
    plan->lines_present = plan->lines_absent = 1;
    plan->geometry[PARQUET_BLOCKS] = blocks;
    plan->geometry[PARQUET_HEAD] = parquet_head(PARQUET_BLOCK * blocks);
}

static bly_status parquet_wrong(uint64_t said, uint64_t bytes)
{
    if (said == 0)
        return status_fail(BLY_ECORRUPT, "read as a filter of Parquet: byte 0: "
                           "its header is not that of an uncompressed "
                           "split-block filter by xxhash of at most 2^27 "
                           "bytes: it is of another kind, older, or cut short");
    if (said % PARQUET_BLOCK != 0)
        return status_fail(BLY_ECORRUPT, "read as a filter of Parquet: byte 1: "
                           "%llu bytes are not whole blocks of 32: it is "
                           "damaged: fetch it again", (unsigned long long)said);
    return status_fail(BLY_ECORRUPT, "read as a filter of Parquet: byte 1: it "
                       "should have %llu bytes of bits, and %llu in all, but "
                       "there are %llu: fetch it again",
                       (unsigned long long)said,
                       (unsigned long long)(parquet_head(said) + said),
                       (unsigned long long)bytes);
}

static uint64_t parquet_extent(const uint8_t *bytes, size_t n)
{
    uint64_t said = parquet_said(bytes, n);
    return said > 0 ? parquet_head(said) + said : 0;
}

static bool parquet_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    uint64_t said = parquet_said(bytes, n);
    return said > 0 && said % PARQUET_BLOCK == 0
        && all == parquet_head(said) + said;
}

static bly_status parquet_read(kind_found *out, const uint8_t *file,
                               uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    uint64_t said = parquet_said(file, bytes);
    if (said == 0 || said % PARQUET_BLOCK != 0
        || bytes != parquet_head(said) + said)
        return parquet_wrong(said, bytes);
    double n = fmax(1, floor(8 * (double)said / 10.5));
    parquet_plan_row(&plan, said / PARQUET_BLOCK, (uint64_t)n);
    *out = (kind_found){
        .capacity = (uint64_t)n, .items = IMAGE_ITEMS_UNKNOWN,
        .rate = plan.rate,
        .geometry = { plan.geometry[PARQUET_BLOCKS],
                      plan.geometry[PARQUET_HEAD] },
    };
    return BLY_OK;
}

static uint64_t parquet_reach(const uint64_t *geometry)
{
    uint64_t bytes = geometry[PARQUET_BLOCKS] * PARQUET_BLOCK;
    return geometry[PARQUET_BLOCKS] < 1
        || geometry[PARQUET_BLOCKS] > PARQUET_BYTES_MAX / PARQUET_BLOCK
        || geometry[PARQUET_HEAD] != parquet_head(bytes) ? UINT64_MAX
         : geometry[PARQUET_HEAD] + bytes;
}

static size_t parquet_twin_head(uint8_t *to, uint64_t bytes)
{
    if (bytes > PARQUET_BYTES_MAX)
        return 0;
    if (to != NULL)
        parquet_put_head(to, bytes);
    return parquet_head(bytes);
}

static const kind_foreign parquet_foreign = {
    .writer = "Parquet writers: a column chunk's filter",
    .numbers = {
        { "blocks", NULL },
        { "header", "bytes before the bits" },
    },
    .looks  = parquet_looks,
    .read   = parquet_read,
    .reach  = parquet_reach,
    .extent = parquet_extent,
    .twin   = { "split", "xxh64", "m", parquet_twin_head },
};

static bly_status parquet_check(const void *image)
{
    return kind_check_foreign(image, &parquet_foreign);
}

/* ---- Plan -------------------------------------------------------------- */

static bly_status parquet_plan(bly_plan_t *plan, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double bits = -8 * n / log1p(-pow(spec->rate, 1.0 / 8));
    uint64_t bytes = PARQUET_BLOCK;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (!(bits <= 8 * (double)PARQUET_BYTES_MAX))
        return kind_too_big(spec, "2^27 bytes");
    while (8 * (double)bytes < floor(bits))
        bytes *= 2;
    bly_status status = kind_plan_bytes(plan, parquet_head(bytes) + bytes);
    if (status == BLY_OK)
        parquet_plan_row(plan, bytes / PARQUET_BLOCK, spec->capacity);
    return status;
}

static bly_status parquet_format(void *image, const kind_spec *spec)
{
    (void)spec;
    parquet_put_head(image_payload_mut(image),
                     PARQUET_BLOCK * image_geometry(image, PARQUET_BLOCKS));
    return BLY_OK;
}

static void parquet_like(void *image, const void *other)
{
    (void)other;
    parquet_format(image, NULL);
}

/* ---- Keys -------------------------------------------------------------- */

static const uint8_t *parquet_bits(const void *image)
{
    return image_payload(image) + image_geometry(image, PARQUET_HEAD);
}

static uint64_t parquet_hash(const void *bytes, size_t length)
{
    return hash_xxh64(bytes, length, 0);
}

static bool parquet_contains(const void *image, uint64_t hash,
                             const void *bytes, size_t length)
{
    (void)hash;
    return lanes_contains(image, parquet_hash(bytes, length));
}

static void parquet_contains_many(const void *image, const uint64_t *hashes,
                                  const bly_key *keys, size_t n, bool *present)
{
    uint64_t group[PARQUET_GROUP];
    (void)hashes;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PARQUET_GROUP ? n - i : PARQUET_GROUP;
        for (size_t j = 0; j < some; j++)
            group[j] = parquet_hash(keys[i + j].data, keys[i + j].length);
        lanes_contains_many(image, group, some, present + i);
    }
}

static bly_status parquet_add(void *image, uint64_t hash, const void *bytes,
                              size_t length)
{
    (void)hash;
    return lanes_add(image, parquet_hash(bytes, length));
}

static bly_status parquet_unite(void *into, const void *other)
{
    bits_or(lanes_look(into).payload, parquet_bits(other),
            (size_t)(PARQUET_BLOCK * image_geometry(into, PARQUET_BLOCKS)));
    return BLY_OK;
}

/* Compares two filters by their blocks, and not as one row. */
static void parquet_compare(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = parquet_shape_of(image_geometry(a, PARQUET_BLOCKS));
    rows_overlap(out, &s, parquet_bits(a), parquet_bits(b));
}

static void parquet_tell(bly_info_t *out, const void *image)
{
    shape s = parquet_shape_of(image_geometry(image, PARQUET_BLOCKS));
    rows_stat(out, &s, parquet_bits(image));
}

static const kind_whole parquet_whole = {
    .contains      = parquet_contains,
    .contains_many = parquet_contains_many,
    .add           = parquet_add,
};

static const kind_combining parquet_combining = {
    .unite   = parquet_unite,
    .overlap = parquet_compare,
};

const bly_kind bly_kind_parquet = {
    .name    = "parquet",
    .family  = "foreign",
    .summary = "the Bloom filter of a column chunk of Parquet",
    .version = PARQUET_VERSION,

    .plan   = parquet_plan,
    .format = parquet_format,
    .like   = parquet_like,
    .check  = parquet_check,
    .stat   = parquet_tell,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &parquet_whole,
    .combining = &parquet_combining,
    .foreign   = &parquet_foreign,
};
