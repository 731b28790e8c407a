/* rustbloom.c - the Bloom filter of Rust's crate bloomfilter, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is what `to_bytes` of version 3 of the crate `bloomfilter`
 * returns and `from_bytes` takes, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Rust program with this crate has written or will
 * read. What is hashed depends on the type of the items, which the file does
 * not name:
 *
 *      Bloom<T>                  command
 *      str, String               bloomery query seen.bin keys
 *      [u8], Vec<u8>             bloomery query --format rustbloom:type=bytes
 *                                        --as hex seen.bin keys
 *      u64, i64                  bloomery query --format rustbloom:type=int
 *                                        --as int64 seen.bin keys
 *      u32, i32                  the same with --as int32
 *
 * With the wrong type almost every key seems to be absent, so look up a known
 * member first.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster.
 * - The filter was written by version 1 or 2 of the crate, which have no form
 *   in bytes; or by version 3.0.0, which writes a wrong second key of its hash.
 *
 * COST
 *
 * The size is that of `standard`, in whole bytes: 9.6 bits per key at 1 %. A
 * lookup computes two hashes, and reads 7 cache lines for a present key, 2 for
 * an absent one.
 *
 * THE PICTURE
 *
 *      | 1 | b, 8 bytes | k, 4 | two keys of SipHash, 16 bytes each | b bytes |
 *      0   1            9      13                                   45      end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 8 b, 8 .. 2^40
 *      geometry 1   k, probes, 1 .. 65536
 *      geometry 2   the first 8 bytes of the first key
 *      geometry 3   type of the items: 0 str, 1 bytes, 2 int
 *      payload      all numbers have the lowest byte first
 *         0   1     version, 1
 *         1   8     b, 1 .. 2^37
 *         9   4     k
 *        13  16     first key of SipHash
 *        29  16     second key of SipHash
 *        45   b     bits; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      ends with the bits, (3) m, k and the key are those of the geometry.
 *
 * MATHS
 *
 * m and k are those of the crate's own formulas for n keys and a rate. The
 * crate draws the keys of its hash at random; `build` sets them from the option
 * `seed`, so that the same keys make the same file. The positions of a key are
 * a progression from the third on, which plan and info take into account
 * (src/maths/strides.h).
 *
 * n is not in the file; for an opened filter it is taken to be the n that m and
 * k are best for, m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * a and b are SipHash-1-3 of the item by the first key and by the second. An
 * item of type str is hashed with a byte ff behind it, bytes are hashed with
 * their number in front of them, in 8 bytes, and an int as it is. The bits are
 * a mod m, b mod m and then, for i = 2 .. k - 1, c mod (2^64 - 59) mod m, where
 * c is a + i b modulo 2^64.
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA. Its two hashes.
 */
#include "bodies/siprow.h"

enum {
    RUSTBLOOM_VERSION = 1,
    RUSTBLOOM_TYPE = ROWFILE_FOURTH,
    RUSTBLOOM_OPTION_TYPE = 0, RUSTBLOOM_OPTION_SEED = 1
};

static const char *const rustbloom_types[] = { "str", "bytes", "int", NULL };

static const kind_option rustbloom_options[] = {
    [RUSTBLOOM_OPTION_TYPE] = {
        .name = "type", .help = "of the items in Rust: str and String; [u8] "
                                "and Vec<u8>; or one integer",
        .choices = rustbloom_types },
    [RUSTBLOOM_OPTION_SEED] = {
        .name = "seed", .help = "a number that seeds the hashes",
        .least = 0, .most = UINT64_MAX - 1, .standard = 0 },
    { .name = NULL },
};

/* ---- The file ---------------------------------------------------------- */

static bly_status rustbloom_size(uint64_t *geometry, const kind_spec *spec)
{
    siprow_size(geometry, spec->capacity, spec->rate);
    geometry[SIPROW_SEED] = spec->option[RUSTBLOOM_OPTION_SEED];
    geometry[RUSTBLOOM_TYPE] = spec->option[RUSTBLOOM_OPTION_TYPE];
    return BLY_OK;
}

static const rowfile rustbloom_file[] = { {
    .what = "a filter of Rust's bloomfilter", .numbers = siprow_numbers,
    .head = SIPROW_HEAD, .unit = 1, .m_most = SIPROW_M_MAX,
    .limit = "2^37 bytes", .strides = siprow_strides,
    .size = rustbloom_size,
} };

ROWFILE(rustbloom)
ROWFILE_LOOKS(rustbloom)

static bly_status rustbloom_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[RUSTBLOOM_TYPE] = option[RUSTBLOOM_OPTION_TYPE];
    return BLY_OK;
}

static const kind_foreign rustbloom_foreign = {
    .writer = "Rust's crate bloomfilter 3, to_bytes",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "seed", NULL },
        { "type", "of the items: 0 str, 1 bytes, 2 int" },
    },
    .looks = rustbloom_looks,
    ROWFILE_FOREIGN(rustbloom),
    .told = rustbloom_told,
    .fields = 1u << RUSTBLOOM_TYPE,
};

/* ---- Keys -------------------------------------------------------------- */

static void rustbloom_begin(const probes_row *row, probes_key *key)
{
    siprow_hash(key->state, row->row - SIPROW_KEYS, key->bytes, key->length,
                (hash_rust)row->with[ROWFILE_WITH_FOURTH]);
}

static uint64_t rustbloom_next(const probes_row *row, probes_key *key,
                               uint64_t i)
{
    return siprow_place(row, key, i);
}

ROWFILE_KIND(rustbloom,
    .summary = "the Bloom filter of Rust's crate bloomfilter",
    .version = RUSTBLOOM_VERSION,
    .options = rustbloom_options)
