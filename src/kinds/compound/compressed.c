/* compressed.c - a sparse filter, packed to its entropy when saved or sent.
 *
 * WHAT IT IS
 *
 * A `standard` or `partitioned` filter with more bits and fewer probes than
 * usual, so that few of its bits are set. A code makes it smaller than a usual
 * filter, half of whose bits are set, so that no code can shrink it. bly_save
 * and bly_pack write the coded form; bly_open and bly_unpack read it.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that are sent or stored often and still change after they
 * arrive, if memory costs less than the transfer. Few probes make lookups fast.
 *
 * WHEN NOT TO
 *
 * - The filter never changes: `gcs` and `ribbon` are as small, and in memory
 * too.
 * - The file is to be memory-mapped: a packed file must be unpacked first.
 * - Memory is scarce: it takes ten times that of `standard` at 1 %.
 *
 * COST
 *
 *      rate     bits per key: packed, in memory    lines read: present, absent
 *      1 %                8.0        99.5                   1          1
 *      0.1 %             12.6        62.2                   2          1
 *
 * THE PICTURE (1000000 keys at 1 %)
 *
 *                       probes   bits per key in memory    packed
 *      standard           7              9.6                9.6
 *      compressed         1             99.5                8.0
 *
 *      in memory    | header | inner image: header, bits                    |
 *      packed       | header | coded bits |
 *
 * IMAGE
 *
 *      geometry 0   kind inside: 0 standard, 1 partitioned
 *      geometry 1   the inner image's geometry 0: the m of `standard`, or the
 *                   slice of `partitioned`
 *      geometry 2   its geometry 1: k
 *      geometry 3   0: as in memory; else packed, and this is the probability
 *                   that a bit is set, 1 .. 2^32 - 1, in parts of 2^32
 *      payload      as in memory: the inner image, whole. Packed: the bits of
 *                   its payload, in the code of bits/coder.h, or as they are
 *
 *      Let M be the number of bits (the m of `standard`, k slices), at most
 *      2^54, and B = ceil(M/8). In memory it is valid if and only if (1) the
 *      fields are in these ranges; (2) the payload is an inner image that is
 *      valid in itself; (3) its header follows byte for byte from the outer
 *      one: its capacity, rate, seed and hash, items unknown, a payload
 *      checksum of 0. So the packed form need not contain it.
 *
 *      Packed, with n bytes of payload, it is valid if and only if (1) as
 *      above; (2) n = B, the bits as they stand, those from M on clear; or n <
 *      B, a code, with 8192 (n + 128) >= B and 8 n >= M p', rounded down to
 *      whole bytes, where p' is the probability in geometry 3 or 1 less that,
 *      whichever is smaller. A writer appends zeros up to that.
 *
 * MATHS
 *
 * With p = e^(-kn/m) the share of clear bits, the rate and the packed size are
 * [Mitzenmacher 2002]
 *
 *      f = (1 - p)^k           z = m H(p)                              (1)
 *
 * where H is the entropy of a bit (math_entropy). For a given f, z is *largest*
 * at the k of a usual filter, k = log2(1/f), where p = 1/2. It falls on both
 * sides towards n log2(1/f), the least any filter can have, but so slowly that
 * m grows without bounds. The plan goes to the side of fewer probes, which is
 * the faster one: it takes the fewest for which m is at most `memory` bits per
 * key. Bits per key packed (in memory), by (1):
 *
 *      rate     usual filter    k = 1         k = 2         k = 3
 *      1 %       9.59            8.04 (100)    8.90 (19.0)   9.30 (12.4)
 *      0.1 %    14.38           11.40 (1000)  12.60 (62.2)  13.35 (28.5)
 *      0.01 %   19.17           14.73 (10^4)  16.08 (199)   17.10 (63.1)
 *
 * The default of 128 bits per key in memory saves 16, 12 and 11 % in these. Ten
 * times as much memory would save another 8 % at 0.1 %. 10 to 20 bits per key
 * in memory save next to nothing.
 *
 * (1) uses the mean of p, which differs little from filter to filter.
 * bly_plan's `packed` is (1) with the header, and bly_info's is the same for
 * the bits as they are.
 *
 * HOSTILE BYTES
 *
 * Any bytes unpack to some filter, in time and memory bounded by their number.
 * The first inequality above bounds m: at most 8192 bytes for one. The second
 * bounds the steps of the decoder; every honest code obeys it, since H(p) >= 2
 * min(p, 1-p). A filter with hardly any keys in much memory would be shorter
 * than the first inequality allows, and is padded with zeros. Because one byte
 * may stand for 8192, code that reads filters has a memory limit
 * (bly_memory_limit) and reads the header before it allocates.
 *
 * SPEED
 *
 * Packing and unpacking need memory for both forms at once, and about 3 +
 * log2(1/p) steps per set bit, p being the share of set bits. Measured for 10^8
 * bits on one core (gcc 12), in bits per second: 1500 million if one in 92 is
 * set, 270 million for one in 7.5, and 160 million for half of them.
 *
 * PAPERS
 *
 *  [Mitzenmacher 2002]  Compressed Bloom filters, IEEE/ACM ToN 10(5). Also the
 *              tables that tests/kinds/compressed.c holds this to.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bits/bits.h"
#include "bits/coder.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"
#include "maths/maths.h"

enum {
    COMPRESSED_VERSION = 1,
    COMPRESSED_OF = 0, COMPRESSED_ROW = 1, COMPRESSED_K = 2,
    COMPRESSED_CHANCE = 3,
    COMPRESSED_K_MAX = 64,
    COMPRESSED_MEMORY = 128,            /* bits a key, when none are asked   */
    COMPRESSED_MEMORY_MAX = 1 << 20,
    COMPRESSED_SWELL = 8192             /* bytes out of one byte, at most    */
};

#define COMPRESSED_M_MAX (UINT64_C(1) << 54)

#define COMPRESSED_PARTS(X) X(standard) X(partitioned)

static const char *const compressed_names[] = {
    COMPRESSED_PARTS(PARTS_NAME) NULL,
};
static const bly_kind *const compressed_kinds[] = {
    COMPRESSED_PARTS(PARTS_KIND)
};
enum { COMPRESSED_STANDARD, COMPRESSED_PARTITIONED, COMPRESSED_KINDS };

/* The first two are also the first two of the kinds inside. */
enum { COMPRESSED_OPTION_M, COMPRESSED_OPTION_K, COMPRESSED_OPTION_MEMORY,
       COMPRESSED_OPTION_OF };

static const kind_option compressed_options[] = {
    [COMPRESSED_OPTION_M] = {
        .name = "m", .help = "number of bits in memory, instead of a rate",
        .least = 1, .most = COMPRESSED_M_MAX, .standard = KIND_CHOOSE,
    },
    [COMPRESSED_OPTION_K] = {
        .name = "k", .help = "probes: bits that a key sets",
        .least = 1, .most = COMPRESSED_K_MAX, .standard = KIND_CHOOSE,
    },
    [COMPRESSED_OPTION_MEMORY] = {
        .name = "memory", .help = "bits per key in memory, at most: more make "
                                  "the packed form smaller",
        .least = 1, .most = COMPRESSED_MEMORY_MAX,
        .standard = COMPRESSED_MEMORY,
    },
    [COMPRESSED_OPTION_OF] = {
        .name = "of", .help = "kind of the filter in memory",
        .choices = compressed_names, .standard = COMPRESSED_STANDARD,
    },
    { .name = NULL },
};

/* ---- The filter inside ------------------------------------------------- */

static inner compressed_inner(const void *image)
{
    uint64_t of = image_geometry(image, COMPRESSED_OF);
    return inner_at(image, 0, compressed_kinds[of]);
}

static uint64_t compressed_row_bits(uint64_t of, uint64_t row, uint64_t k)
{
    return of == COMPRESSED_PARTITIONED ? row * k : row;
}

/* Bits of a filter whose geometry is sound. */
static uint64_t compressed_bits(const void *image)
{
    return compressed_row_bits(image_geometry(image, COMPRESSED_OF),
                               image_geometry(image, COMPRESSED_ROW),
                               image_geometry(image, COMPRESSED_K));
}

static uint64_t compressed_row_bytes(uint64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Checks the fields that both forms share. Their ranges are within those of
 * both kinds inside. */
static bool compressed_sound(const void *image)
{
    uint64_t of = image_geometry(image, COMPRESSED_OF);
    uint64_t row = image_geometry(image, COMPRESSED_ROW);
    uint64_t k = image_geometry(image, COMPRESSED_K);
    return of < COMPRESSED_KINDS
        && k >= 1 && k <= COMPRESSED_K_MAX
        && row >= 1 && row <= COMPRESSED_M_MAX
        && (of == COMPRESSED_STANDARD || row % 8 == 0)
        && compressed_row_bits(of, row, k) <= COMPRESSED_M_MAX;
}

/* Writes the inner header that follows from a sound outer one. */
static void compressed_write_inner(void *at, const void *image)
{
    uint64_t of = image_geometry(image, COMPRESSED_OF);
    const bly_kind *kind = compressed_kinds[of];
    kind_spec plain = kind_spec_plain(kind, 0, 0);
    bly_plan_t plan = {
        .capacity = image_u64(image, IMAGE_CAPACITY),
        .rate = image_f64(image, IMAGE_RATE),
        .bytes = IMAGE_HEADER + compressed_row_bytes(compressed_bits(image)),
        .geometry = { image_geometry(image, COMPRESSED_ROW),
                      image_geometry(image, COMPRESSED_K) },
    };
    strcpy(plan.kind, kind->name);
    inner_format(at, kind, &plan, image, &plain);
}

/* ---- Plan -------------------------------------------------------------- */

/* The fewest bytes of a code: see HOSTILE BYTES. */
static uint64_t compressed_least(uint64_t bits, uint32_t chance)
{
    uint64_t rare = chance <= UINT32_MAX / 2 ? chance
                                             : (UINT64_C(1) << 32) - chance;
    uint64_t by_chance = bits_range(bits, rare << 32) / 8;
    uint64_t by_size = (compressed_row_bytes(bits) + COMPRESSED_SWELL - 1)
                     / COMPRESSED_SWELL;
    by_size -= by_size < IMAGE_HEADER ? by_size : IMAGE_HEADER;
    return by_chance > by_size ? by_chance : by_size;
}

/* Bytes of the packed image, expected, when this share of the bits is set. */
static uint64_t compressed_expected(uint64_t bits, double fill)
{
    uint64_t most = compressed_row_bytes(bits), coded = most;
    uint64_t set = (uint64_t)(fill * (double)bits);
    uint64_t least = compressed_least(bits, coder_chance(set < bits ? set
                                                                    : bits,
                                                         bits));
    sizes_from_double(&coded, (double)bits * math_entropy(fill) / 8);
    coded = coded > least ? coded : least;
    return IMAGE_HEADER + (coded < most ? coded : most);
}

/* The inner filter: what its kind plans, but with as few probes as memory and
 * rate allow. Where m is given it is the memory. */
static bly_status compressed_choose(bly_plan_t *best, const kind_spec *spec)
{
    uint64_t of = spec->option[COMPRESSED_OPTION_OF];
    const bly_kind *kind = compressed_kinds[of];
    kind_spec part = kind_spec_plain(kind, spec->capacity, spec->rate);
    part.option[KIND_ROW_M] = spec->option[COMPRESSED_OPTION_M];
    part.option[KIND_ROW_K] = spec->option[COMPRESSED_OPTION_K];
    bly_status status = inner_plan_spec(best, kind, &part);
    if (status != BLY_OK || part.option[KIND_ROW_K] != KIND_CHOOSE)
        return status;

    double most = (double)spec->option[COMPRESSED_OPTION_MEMORY]
                * (double)best->capacity;
    if (part.option[KIND_ROW_M] != KIND_CHOOSE)
        most = INFINITY;
    part.capacity = best->capacity;
    for (uint64_t k = 1; k < best->probes; k++) {
        bly_plan_t plan;
        part.option[KIND_ROW_K] = k;
        if (inner_plan_spec(&plan, kind, &part) == BLY_OK
            && plan.rate <= spec->rate
            && (double)(plan.bytes - IMAGE_HEADER) * 8 <= most) {
            *best = plan;
            break;
        }
    }
    return BLY_OK;
}

static bly_status compressed_plan(bly_plan_t *plan, const kind_spec *spec)
{
    bly_plan_t part;
    uint64_t of = spec->option[COMPRESSED_OPTION_OF];
    bly_status status = compressed_choose(&part, spec);
    if (status != BLY_OK)
        return status;
    uint64_t row = part.geometry[0], k = part.geometry[1];
    if (row > COMPRESSED_M_MAX
        || compressed_row_bits(of, row, k) > COMPRESSED_M_MAX)
        return kind_too_big(spec, "2^54 bits");
    *plan = part;
    plan->packed = compressed_expected(compressed_row_bits(of, row, k),
                                       part.fill);
    plan->geometry[COMPRESSED_OF] = of;
    plan->geometry[COMPRESSED_ROW] = row;
    plan->geometry[COMPRESSED_K] = k;
    plan->geometry[COMPRESSED_CHANCE] = 0;
    return kind_plan_bytes(plan, part.bytes);
}

static bly_status compressed_format(void *image, const kind_spec *spec)
{
    (void)spec;
    compressed_write_inner(image_payload_mut(image), image);
    return BLY_OK;
}

static void compressed_like(void *image, const void *other)
{
    compressed_write_inner(image_payload_mut(image), other);
}

/* ---- Check ------------------------------------------------------------- */

static bly_status compressed_check(const void *image)
{
    uint8_t told[IMAGE_HEADER] = { 0 };
    if (!compressed_sound(image)
        || image_geometry(image, COMPRESSED_CHANCE) != 0
        || !inner_check(image, 0, compressed_inner(image).kind))
        return kind_bad_geometry(image);
    compressed_write_inner(told, image);
    return memcmp(told, image_payload(image), sizeof told) == 0
        && image_u64(told, IMAGE_BYTES) == image_payload_bytes(image)
         ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Packing ----------------------------------------------------------- */

static void compressed_pack(void *into, const void *image)
{
    const uint8_t *row = image_payload(compressed_inner(image).image);
    uint8_t *out = image_payload_mut(into);
    uint64_t bits = compressed_bits(image);
    size_t bytes = (size_t)compressed_row_bytes(bits);
    uint32_t chance = coder_chance(bits_count(row, bytes), bits);
    size_t least = (size_t)compressed_least(bits, chance);
    size_t used = coder_pack(out, bytes, row, bits, chance);

    if (used < least) {
        memset(out + used, 0, least - used);
        used = least;
    }
    if (used >= bytes) {
        memcpy(out, row, bytes);
        used = bytes;
    }
    memcpy(into, image, IMAGE_HEADER);
    image_set_u64(into, IMAGE_BYTES, IMAGE_HEADER + used);
    image_set_u64(into, IMAGE_GEOMETRY + 8 * COMPRESSED_CHANCE, chance);
}

static uint64_t compressed_unpacked(const void *header)
{
    uint64_t chance = image_geometry(header, COMPRESSED_CHANCE);
    if (chance == 0)
        return 0;
    if (!compressed_sound(header) || chance > UINT32_MAX)
        return UINT64_MAX;
    return 2 * IMAGE_HEADER + compressed_row_bytes(compressed_bits(header));
}

static bly_status compressed_unpack_plan(uint64_t *bytes, const void *image)
{
    uint32_t chance = (uint32_t)image_geometry(image, COMPRESSED_CHANCE);
    uint64_t plain = compressed_unpacked(image);
    *bytes = 0;
    if (plain == 0)
        return BLY_OK;
    if (plain == UINT64_MAX)
        return kind_bad_geometry(image);
    uint64_t bits = compressed_bits(image), room = compressed_row_bytes(bits);
    size_t used = image_payload_bytes(image);
    if (used > room || (used < room && used < compressed_least(bits, chance)))
        return kind_bad_geometry(image);
    if (used == room && !bits_clear_from(image_payload(image), used, bits))
        return status_fail(BLY_ECORRUPT, "bits beyond the last are set");
    *bytes = plain;
    return image_check_size(plain);
}

static void compressed_unpack(void *into, const void *image)
{
    uint32_t chance = (uint32_t)image_geometry(image, COMPRESSED_CHANCE);
    const uint8_t *in = image_payload(image);
    uint8_t *row = image_payload_mut(into) + IMAGE_HEADER;
    uint64_t bits = compressed_bits(image), room = compressed_row_bytes(bits);
    size_t used = image_payload_bytes(image);

    memcpy(into, image, IMAGE_HEADER);
    image_set_u64(into, IMAGE_BYTES, 2 * IMAGE_HEADER + room);
    image_set_u64(into, IMAGE_GEOMETRY + 8 * COMPRESSED_CHANCE, 0);
    compressed_write_inner(image_payload_mut(into), into);
    if (used == room)
        memcpy(row, in, used);
    else
        coder_unpack(row, bits, in, used, chance);
}

/* ---- All else is the inner filter's ------------------------------------ */

static bool compressed_contains(const void *image, uint64_t hash)
{
    inner f = compressed_inner(image);
    return f.kind->contains(f.image, hash);
}

static void compressed_contains_many(const void *image, const uint64_t *hashes,
                                     size_t n, bool *present)
{
    inner f = compressed_inner(image);
    f.kind->contains_many(f.image, hashes, n, present);
}

static bly_status compressed_add(void *image, uint64_t hash)
{
    inner f = compressed_inner(image);
    return f.kind->add(f.image, hash);
}

static bly_status compressed_add_many(void *image, const uint64_t *hashes,
                                      size_t n, size_t *done)
{
    inner f = compressed_inner(image);
    return f.kind->add_many(f.image, hashes, n, done);
}

static bly_status compressed_add_shared(void *image, uint64_t hash)
{
    inner f = compressed_inner(image);
    return f.kind->sharing->add(f.image, hash);
}

static bly_status compressed_add_many_shared(void *image,
                                             const uint64_t *hashes, size_t n,
                                             size_t *done)
{
    inner f = compressed_inner(image);
    return f.kind->sharing->add_many(f.image, hashes, n, done);
}

static bly_status compressed_add_each(void *image, const uint64_t *hashes,
                                      size_t n, bool *seen, size_t *done)
{
    inner f = compressed_inner(image);
    return f.kind->add_each(f.image, hashes, n, seen, done);
}

static bly_status compressed_unite(void *into, const void *other)
{
    inner f = compressed_inner(into);
    return f.kind->combining->unite(f.image, compressed_inner(other).image);
}

static void compressed_intersect(void *into, const void *other)
{
    inner f = compressed_inner(into);
    f.kind->combining->intersect(f.image, compressed_inner(other).image);
}

static void compressed_overlap(bly_overlap_t *out, const void *a,
                               const void *b)
{
    inner f = compressed_inner(a);
    f.kind->combining->overlap(out, f.image, compressed_inner(b).image);
}

static void compressed_stat(bly_info_t *out, const void *image)
{
    inner f = compressed_inner(image);
    f.kind->stat(out, f.image);
    out->packed = compressed_expected(compressed_bits(image), out->fill);
}

static const kind_sharing compressed_sharing = {
    .add      = compressed_add_shared,
    .add_many = compressed_add_many_shared,
};

static const kind_combining compressed_combining = {
    .unite     = compressed_unite,
    .intersect = compressed_intersect,
    .overlap   = compressed_overlap,
};

static const kind_packing compressed_packing = {
    .unpacked    = compressed_unpacked,
    .pack        = compressed_pack,
    .unpack_plan = compressed_unpack_plan,
    .unpack      = compressed_unpack,
};

const bly_kind bly_kind_compressed = {
    .name    = "compressed",
    .family  = "compound",
    .summary = "a sparse filter, packed to its entropy when saved or sent",
    .version = COMPRESSED_VERSION,
    .options = compressed_options,

    .plan   = compressed_plan,
    .format = compressed_format,
    .like   = compressed_like,
    .check  = compressed_check,
    .stat   = compressed_stat,

    .contains      = compressed_contains,
    .contains_many = compressed_contains_many,

    .add      = compressed_add,
    .add_many = compressed_add_many,
    .add_each = compressed_add_each,

    .sharing   = &compressed_sharing,
    .combining = &compressed_combining,
    .packing   = &compressed_packing,
};
