/* rocksdb.c - the Bloom filter of a RocksDB table, in its own bytes.
 *
 * WHAT IT IS
 *
 * Since format version 5 (6.6), NewBloomFilterPolicy of RocksDB makes such a
 * filter of all keys of a table: a blocked Bloom filter whose blocks are lines
 * of 64 bytes. The payload is the table's block
 * `fullfilter.rocksdb.BuiltinBloomFilter`, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it to inspect the full filters in RocksDB tables.
 *
 * WHEN NOT TO
 *
 * - No database must read the filter: `blocked` is the same idea with a hash
 *   of 64 bits.
 * - The filter is a Ribbon filter (NewRibbonFilterPolicy): `rocksribbon`.
 * - The filter is of format version 4 or older: it is refused. So is the empty
 *   one that RocksDB writes when a filter would have cost too much, which
 *   answers "perhaps" to every key.
 *
 * COST
 *
 * The size is that of `blocked`: 9.9 bits per key at 1 %, 15.5 at 0.1 %. A
 * lookup reads one cache line.
 *
 * THE PICTURE
 *
 *      | lines of 64 bytes | ff | 00 | k | 00 00 |
 *      0                                          end
 *
 * IMAGE
 *
 *      geometry 0   lines, 1 .. 2^26
 *      geometry 1   k, probes, 1 .. 30
 *      payload      the lines, then 5 bytes: ff, the mark of all formats since
 *                   the first; 00, this format; k, and 3 bits of 0 above it,
 *                   for lines of 64 bytes; 00 00
 *
 *      Valid if and only if the payload is as above, and the numbers are those
 *      of the geometry.
 *
 * A file without lines contains no key. 1 .. 7f in place of the mark is an
 * older filter, whose hash reads the last bytes of a key as signed numbers. fe
 * is Ribbon, which is kind `rocksribbon`. 00 is a filter that RocksDB left out.
 * All of these are refused.
 *
 * MATHS
 *
 * The rate is that of `blocked`: the mean over a Poisson number of keys in a
 * line of 512 bits. A policy of b bits per key has the k of this table (largest
 * b of each):
 *
 *      2.08 1 · 3.58 2 · 5.1 3 · 6.64 4 · 8.3 5 · 10.07 6 · 11.72 7 · 14.001 8
 *      16.05 9 · 18.3 10 · 22.001 11 · 25.501 12 · 50: (b - 0.001) / 2 - 1 · 24
 *
 * and n b bits, rounded up to lines. 32 bits of the hash select the line and
 * the other 32 the bits in it, so beyond 10^8 keys the rate is higher.
 *
 * THE BITS OF A KEY
 *
 *      h = XXH3 of the preview 0.7.2 (src/bits/preview.h), seed 0
 *      line = (h mod 2^32) lines / 2^32;  x = h / 2^32
 *      k times: bit x / 2^23 of the line; x = x 9e3779b9 modulo 2^32
 *
 * PAPERS
 *
 *  [Putze, Sanders & Singler 2007]  Cache-, hash- and space-efficient Bloom
 *                                   filters, WEA.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "base/ring.h"
#include "bodies/probes.h"
#include "bloomery/inline.h"
#include "maths/policy.h"
#include "maths/shape.h"
#include "bits/preview.h"

enum {
    ROCKSDB_VERSION = 1,
    ROCKSDB_LINES = 0, ROCKSDB_K = 1,   /* geometry                          */
    ROCKSDB_LINE = 64, ROCKSDB_BITS = 8 * ROCKSDB_LINE,
    ROCKSDB_TAIL = 5, ROCKSDB_MARK = 0xFF, ROCKSDB_RIBBON = 0xFE,
    ROCKSDB_K_MAX = 30,
    ROCKSDB_RING = 128                  /* prefetched keys, at most          */
};

#define ROCKSDB_LINES_MAX (UINT64_C(1) << 26)

/* The multiplier of a probe, and its inverse modulo 2^32. */
#define ROCKSDB_STEP UINT32_C(0x9E3779B9)
#define ROCKSDB_BACK UINT32_C(0x144CBC89)

static const kind_option rocksdb_options[] = {
    { .name = "bits", .help = "bits per key, as passed to the policy; instead "
                              "of a rate",
      .least = 1, .most = POLICY_BITS_MOST, .standard = KIND_CHOOSE },
    { .name = NULL },
};

/* ---- Sizes ------------------------------------------------------------- */

static uint64_t rocksdb_lines(uint64_t n, uint64_t bits)
{
    return (n * bits + ROCKSDB_BITS - 1) / ROCKSDB_BITS;
}

static shape rocksdb_shape(uint64_t lines, uint64_t k)
{
    return (shape){ .blocks = lines, .lanes = 1, .bits = ROCKSDB_BITS,
                    .probes = (uint32_t)k };
}

static void rocksdb_plan_lines(bly_plan_t *plan, uint64_t lines, uint64_t k,
                               uint64_t n)
{
    shape s = rocksdb_shape(lines, k);
    rows_plan(plan, &s, n);
    plan->lines_present = plan->lines_absent = 1;
    plan->geometry[ROCKSDB_LINES] = lines;
    plan->geometry[ROCKSDB_K] = k;
}

/* The fewest bits a key whose filter keeps the rate. BLY_EPARAM. */
static bly_status rocksdb_choose(uint64_t *bits, uint64_t n, double rate)
{
    bly_plan_t plan = { .rate = 1 };
    for (*bits = 1; *bits <= POLICY_BITS_MOST; ++*bits) {
        rocksdb_plan_lines(&plan, rocksdb_lines(n, *bits),
                           policy_probes(1000 * *bits), n);
        if (plan.rate <= rate)
            return BLY_OK;
    }
    return status_fail(BLY_EPARAM, "a rate of %.3g is too low for a filter of "
                       "RocksDB: use a higher rate, or give bits=", rate);
}

static bly_status rocksdb_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t n = spec->capacity, bits = spec->option[0];
    if (n == 0)
        return kind_no_capacity();
    if (n > ROCKSDB_LINES_MAX * ROCKSDB_BITS)
        return kind_too_big(spec, "2^35 bits");
    bly_status status = bits == KIND_CHOOSE
                      ? rocksdb_choose(&bits, n, spec->rate) : BLY_OK;
    if (status != BLY_OK)
        return status;
    uint64_t lines = rocksdb_lines(n, bits);
    if (lines > ROCKSDB_LINES_MAX)
        return kind_too_big(spec, "2^35 bits");
    status = kind_plan_bytes(plan, ROCKSDB_LINE * lines + ROCKSDB_TAIL);
    if (status == BLY_OK)
        rocksdb_plan_lines(plan, lines, policy_probes(1000 * bits), n);
    return status;
}

static bly_status rocksdb_format(void *image, const kind_spec *spec)
{
    uint8_t *tail = image_payload_mut(image)
                  + ROCKSDB_LINE * image_geometry(image, ROCKSDB_LINES);
    (void)spec;
    tail[0] = ROCKSDB_MARK;
    tail[2] = (uint8_t)image_geometry(image, ROCKSDB_K);
    return BLY_OK;
}

static void rocksdb_like(void *image, const void *other)
{
    (void)other;
    rocksdb_format(image, NULL);
}

/* ---- The file ---------------------------------------------------------- */

static bly_status rocksdb_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter of RocksDB: byte %llu: "
                       "%s: fetch it again, or name another format",
                       (unsigned long long)at, what);
}

static bly_status rocksdb_check_tail(const uint8_t *file, uint64_t bytes)
{
    if (bytes < ROCKSDB_TAIL)
        return status_fail(BLY_ECORRUPT, "read as a filter of RocksDB, which "
                           "ends with 5 bytes of its own, but there are %llu: "
                           "it is cut short: fetch it again",
                           (unsigned long long)bytes);
    uint64_t at = bytes - ROCKSDB_TAIL;
    const uint8_t *tail = file + at;
    if (tail[0] == ROCKSDB_RIBBON)
        return status_fail(BLY_EVERSION, "read as a filter of RocksDB: byte "
                           "%llu: it is a Ribbon filter: name the format "
                           "rocksribbon", (unsigned long long)at);
    if (tail[0] == ROCKSDB_MARK && tail[1] != 0)
        return status_fail(BLY_EVERSION, "read as a filter of RocksDB: byte "
                           "%llu: it is of a later kind: query the database "
                           "itself", (unsigned long long)at + 1);
    if (tail[0] != ROCKSDB_MARK)
        return status_fail(BLY_EVERSION, "read as a filter of RocksDB: byte "
                           "%llu: it is from before format version 5, or cut "
                           "short: let the database rewrite its tables",
                           (unsigned long long)at);
    if (tail[2] == 0 || tail[2] > ROCKSDB_K_MAX)
        return rocksdb_wrong(at + 2, "the number of hash functions is not 1 .. "
                             "30, or a line is not 64 bytes");
    return (tail[3] | tail[4]) == 0 ? BLY_OK
         : rocksdb_wrong(at + 3, "the last two bytes are not 0");
}

static bly_status rocksdb_read(kind_found *out, const uint8_t *file,
                               uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    bly_status status = rocksdb_check_tail(file, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t k = file[bytes - 3];
    uint64_t lines = (bytes - ROCKSDB_TAIL) / ROCKSDB_LINE;
    if ((bytes - ROCKSDB_TAIL) % ROCKSDB_LINE != 0 || lines > ROCKSDB_LINES_MAX)
        return rocksdb_wrong(0, "the lines of 64 bytes are not whole, or more "
                             "than 2^26");
    uint64_t n = probes_capacity(ROCKSDB_BITS * lines, k);
    if (lines > 0)
        rocksdb_plan_lines(&plan, lines, k, n);
    *out = (kind_found){
        .capacity = n, .items = IMAGE_ITEMS_UNKNOWN, .rate = plan.rate,
        .geometry = { lines, k },
    };
    return BLY_OK;
}

static uint64_t rocksdb_reach(const uint64_t *geometry)
{
    uint64_t lines = geometry[ROCKSDB_LINES], k = geometry[ROCKSDB_K];
    return lines > ROCKSDB_LINES_MAX || k < 1 || k > ROCKSDB_K_MAX ? UINT64_MAX
         : ROCKSDB_LINE * lines + ROCKSDB_TAIL;
}

static const kind_foreign rocksdb_foreign = {
    .writer = "RocksDB's Bloom filter policy, of a table",
    .numbers = {
        { "lines", NULL },
        { "k", NULL },
    },
    .read   = rocksdb_read,
    .reach  = rocksdb_reach,
};

static bly_status rocksdb_check(const void *image)
{
    return kind_check_foreign(image, &rocksdb_foreign);
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row rocksdb_row(const void *image)
{
    uint64_t lines = image_geometry(image, ROCKSDB_LINES);
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .bytes = (size_t)(ROCKSDB_LINE * lines),
        .m = ROCKSDB_BITS * lines,
        .k = image_geometry(image, ROCKSDB_K),
        .with = { lines },
    };
}

static void rocksdb_begin(const probes_row *row, probes_key *key)
{
    uint64_t h = preview_xxh3(key->bytes, key->length);
    key->state[0] = ((h & UINT32_MAX) * row->with[0] >> 32) * ROCKSDB_BITS;
    key->state[1] = h >> 32;
}

static uint64_t rocksdb_next(const probes_row *row, probes_key *key,
                             uint64_t i)
{
    uint32_t x = (uint32_t)key->state[1];
    (void)row;
    (void)i;
    key->state[1] = (uint32_t)(x * ROCKSDB_STEP);
    return key->state[0] + (x >> 23);
}

PROBES_KEY(rocksdb)

/* A prefetched line, and the source of the bits in it. */
typedef struct {
    const uint8_t *line;
    uint32_t       g;
} rocksdb_spot;

PLATFORM_INLINE rocksdb_spot rocksdb_prefetch(const probes_row *row,
                                              const bly_key *of)
{
    probes_key key = { .bytes = of->data, .length = of->length };
    rocksdb_begin(row, &key);
    rocksdb_spot spot = { row->row + key.state[0] / 8,
                          (uint32_t)key.state[1] * ROCKSDB_BACK };
    platform_prefetch(spot.line);
    return spot;
}

/* Tests the bits of a line as kind `blocked` does. That multiplies before the
 * first of them, so that it begins with x / 9e3779b9. */
static void rocksdb_contains_keys(const void *image, const uint64_t *hashes,
                                  const bly_key *keys, size_t n, bool *present)
{
    probes_row row = rocksdb_row(image);
    (void)hashes;
    memset(present, false, n * sizeof *present);
    if (row.m > 0)
        RING_ROLL(rocksdb_spot, ROCKSDB_RING, n, row.bytes,
            *slot = rocksdb_prefetch(&row, &keys[i]),
            present[i] = bly_inside_blocked_plain(slot->line, slot->g,
                                                  (uint32_t)row.k));
}

PROBES_ADD(rocksdb)

static bly_status rocksdb_unite(void *into, const void *other)
{
    probes_row to = rocksdb_row(into), from = rocksdb_row(other);
    probes_unite(&to, &from);
    return BLY_OK;
}

static void rocksdb_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    probes_row row = rocksdb_row(a);
    shape s = rocksdb_shape(row.with[0], row.k);
    if (row.m > 0)
        rows_overlap(out, &s, row.row, image_payload(b));
}

static void rocksdb_stat(bly_info_t *out, const void *image)
{
    probes_row row = rocksdb_row(image);
    shape s = rocksdb_shape(row.with[0], row.k);
    if (row.m > 0)
        rows_stat(out, &s, row.row);
    else
        out->probes = (uint32_t)row.k;
}

static const kind_whole rocksdb_whole = {
    .contains      = rocksdb_contains_key,
    .contains_many = rocksdb_contains_keys,
    .add           = rocksdb_add_key,
};

static const kind_combining rocksdb_combining = {
    .unite   = rocksdb_unite,
    .overlap = rocksdb_overlap,
};

const bly_kind bly_kind_rocksdb = {
    .name    = "rocksdb",
    .family  = "foreign",
    .summary = "the Bloom filter of a RocksDB table",
    .version = ROCKSDB_VERSION,
    .options = rocksdb_options,

    .plan   = rocksdb_plan,
    .format = rocksdb_format,
    .like   = rocksdb_like,
    .check  = rocksdb_check,
    .stat   = rocksdb_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &rocksdb_whole,
    .combining = &rocksdb_combining,
    .foreign   = &rocksdb_foreign,
};
