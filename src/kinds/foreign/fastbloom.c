/* fastbloom.c - the Bloom filter of Rust's crate fastbloom, in bincode.
 *
 * WHAT IT IS
 *
 * The crate `fastbloom` has no file format, but its filter can be serialised
 * with serde. The payload is what bincode makes of a BloomFilter with the
 * crate's own hash, byte for byte: `bincode::serialize` of bincode 1, or
 * bincode 2 with its `legacy` configuration.
 *
 * WHEN TO USE IT
 *
 * Use it for filters that a Rust program with this crate has written or will
 * read. The bytes do not say which version of the crate wrote them, though each
 * sets other bits, nor of what type the items are. Both are options:
 *
 *      fastbloom            option            type of the items   option
 *      0.16 and 0.17        (none)            &str, String        (none)
 *      0.15                 version=15        &[u8], Vec<u8>      type=bytes
 *      0.14                 version=14        u64, i64, u32, i32  type=int
 *      0.12 and 0.13        version=13
 *
 *      bloomery query --format fastbloom seen.bin keys
 *      bloomery query --format fastbloom:version=14,type=int --as int64 x.bin
 *
 * With wrong options almost every key seems to be absent, so look up a known
 * member first.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size.
 * - The program gave the crate another hash function, or serialised the filter
 *   in another way: such files are not read.
 * - The filter was written by fastbloom 0.11 or older, which is a different
 *   filter.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %. A lookup computes
 * one hash and reads 7 cache lines for a present key, 2 for an absent one.
 *
 * THE PICTURE
 *
 *      | w, 8 bytes | w words of 8 bytes each | k, 4 | hash's state, 72 |
 *      0            8                         8 + 8 w                   end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^40
 *      geometry 1   k, probes, 1 .. 65536
 *      geometry 2   type of the items: 0 str, 1 bytes, 2 int
 *      geometry 3   version: 0 of 0.16, 1 of 0.15, 2 of 0.14, 3 of 0.13
 *      payload      all numbers have the lowest byte first
 *         0   8     w, 1 .. 2^34
 *         8   8 w   words; bit i is bit (i mod 64) of word i / 64, the lowest
 *                   being bit 0
 *      and behind the words
 *         0   4     k; from 0.15 on k - 1
 *         4  16     key of SipHash, two words
 *        20   8     0
 *        28  32     state of a SipHash with this key before its first byte, in
 *                   the order v0, v2, v1, v3
 *        60  16     0
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the payload
 *      has 84 + 8 w bytes, (3) the state is that of the key, (4) m and k are
 *      those of the geometry.
 *
 * MATHS
 *
 * m and k are those of the crate's own formulas for n keys and a rate. The
 * crate draws the key of its hash at random, or takes a seed; `build` sets it
 * from the option `seed`, as `.seed()` does. From 0.14 on, positions are the
 * upper bits of a sequence, in effect independent. In 0.12 and 0.13 the
 * position in a word of 64 bits comes from the lowest 6 bits. They follow from
 * the hash that selects the word, so each key uses only a part of the bits.
 * plan and info do not take that into account. Counted with version=13, the
 * rate of 1000 keys is 1.2 times the planned 1 % and 3 times the planned 0.001
 * %; that of 100 keys is 1.6 times and 56 times.
 *
 * n is not in the file; for an opened filter it is taken to be the n that m and
 * k are best for, m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * h is SipHash-1-3 of the item, as it is with `rustbloom`. All is modulo 2^64,
 * C is 517cc1b727220a95, and k times:
 *
 *      0.16   the bit is floor(h m / 2^64); h is rotated left by 5, and h' is
 *             added, which is h C of the first h
 *      0.15   the bit is floor(((h / 2^32) m mod 2^64) / 2^32); then as above
 *      0.14   h' is (h / 2^32) C; h' is added to h, which is rotated left by 5;
 *             the bit is floor((h / 2^32) m / 2^32)
 *      0.13   as before; the word is floor((h / 2^32) w / 2^32) of h before it
 *             is rotated, and the bit in it h mod 64 of h after it is
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA.
 */
#include "bodies/rowfile.h"

#include <math.h>

enum {
    FASTBLOOM_VERSION = 1,
    FASTBLOOM_TYPE = ROWFILE_THIRD, FASTBLOOM_FORM = ROWFILE_FOURTH,
    FASTBLOOM_16 = 0, FASTBLOOM_15 = 1, FASTBLOOM_14 = 2, FASTBLOOM_13 = 3,
    FASTBLOOM_OPTION_VERSION = 0, FASTBLOOM_OPTION_TYPE = 1,
    FASTBLOOM_OPTION_SEED = 2,
    FASTBLOOM_HEAD = 8, FASTBLOOM_TAIL = 76,
    FASTBLOOM_K_MAX = 65536,
    FASTBLOOM_AT_KEY = 4, FASTBLOOM_AT_STATE = 28   /* behind the words      */
};

#define FASTBLOOM_WORDS_MAX (UINT64_C(1) << 34)
#define FASTBLOOM_FACTOR    UINT64_C(0x517CC1B727220A95)

static const char *const fastbloom_versions[] = { "16", "15", "14", "13",
                                                  NULL };
static const char *const fastbloom_types[] = { "str", "bytes", "int", NULL };

static const kind_option fastbloom_options[] = {
    [FASTBLOOM_OPTION_VERSION] = {
        .name = "version", .help = "of the crate: 0.16 and later, 0.15, 0.14, "
                                   "or 0.12 and 0.13",
        .choices = fastbloom_versions },
    [FASTBLOOM_OPTION_TYPE] = {
        .name = "type", .help = "of the items in Rust: str and String; [u8] "
                                "and Vec<u8>; or one integer",
        .choices = fastbloom_types },
    [FASTBLOOM_OPTION_SEED] = {
        .name = "seed", .help = "a number that seeds the hashes",
        .least = 0, .most = UINT64_MAX - 1, .standard = 0 },
    { .name = NULL },
};

static const double FASTBLOOM_LN2 = 0.69314718055994530942;

/* ---- The file ---------------------------------------------------------- */

#define FASTBLOOM_TAILS(plus)                                                  \
    { "the number of words", 0, 8, false, ROWFILE_M, 64,                       \
      1, FASTBLOOM_WORDS_MAX, 0 },                                             \
    { "the number of hash functions", ROWFILE_BEHIND, 4, false, ROWFILE_K, 1,  \
      1 - plus, FASTBLOOM_K_MAX - plus, plus },                                \
    { "the hash's key", ROWFILE_BEHIND + 4, 8, false, ROWFILE_OTHER, 0,        \
      0, UINT64_MAX, 0 },                                                      \
    { "the hash's key", ROWFILE_BEHIND + 12, 8, false, ROWFILE_OTHER, 0,       \
      0, UINT64_MAX, 0 },                                                      \
    { "the hash's count of bytes", ROWFILE_BEHIND + 20, 8, false,              \
      ROWFILE_OTHER, 0, 0, 0, 0 },                                             \
    { "the hash's last bytes", ROWFILE_BEHIND + 60, 8, false,                  \
      ROWFILE_OTHER, 0, 0, 0, 0 },                                             \
    { "the hash's count of last bytes", ROWFILE_BEHIND + 68, 8, false,         \
      ROWFILE_OTHER, 0, 0, 0, 0 },                                             \
    { "the type of the items", 0, 0, false, FASTBLOOM_TYPE, 1,                 \
      HASH_RUST_STR, HASH_RUST_INT, 0 },                                       \
    { .name = NULL },

static const rowfile_number fastbloom_numbers[] = { FASTBLOOM_TAILS(1) };
static const rowfile_number fastbloom_numbers_14[] = { FASTBLOOM_TAILS(0) };

/* k of 0.12 and 0.13: that of a word with its share of the keys, at most the 44
 * that halve it. */
static double fastbloom_narrow(double n, double words)
{
    double k = 64 / (n / words) * FASTBLOOM_LN2;
    return fmin(fmax(1, k), log(0.5) / log(63.0 / 64));
}

static bly_status fastbloom_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    uint64_t form = spec->option[FASTBLOOM_OPTION_VERSION];
    double bytes = ceil(n * log(spec->rate)
                        / (-8 * FASTBLOOM_LN2 * FASTBLOOM_LN2));
    double bits = fmax(form >= FASTBLOOM_14 ? 512 : 64, 8 * bytes);
    uint64_t m = rowfile_row_of(bits, 64);
    double k = FASTBLOOM_LN2 * (double)m / n;
    geometry[ROWFILE_M] = m;
    geometry[ROWFILE_K] = rowfile_whole(
        form == FASTBLOOM_13 ? fastbloom_narrow(n, (double)m / 64)
        : fmax(1, form == FASTBLOOM_14 ? trunc(k) : round(k)));
    geometry[FASTBLOOM_TYPE] = spec->option[FASTBLOOM_OPTION_TYPE];
    geometry[FASTBLOOM_FORM] = form;
    return BLY_OK;
}

/* The state of the hash before its first byte, as serde writes it, from its
 * key. */
static void fastbloom_state(uint64_t state[4], const uint8_t *key)
{
    uint64_t low = image_u64(key, 0), high = image_u64(key, 8);
    state[0] = low  ^ UINT64_C(0x736F6D6570736575);
    state[1] = low  ^ UINT64_C(0x6C7967656E657261);
    state[2] = high ^ UINT64_C(0x646F72616E646F6D);
    state[3] = high ^ UINT64_C(0x7465646279746573);
}

static bly_status fastbloom_settle(kind_found *found, const uint8_t *file,
                                   uint64_t bytes);
static void fastbloom_finish(uint8_t *file, const uint64_t *geometry,
                             const kind_spec *spec);

#define FASTBLOOM_FILE(table)                                                  \
    .what = "a filter of fastbloom", .numbers = table,                         \
    .head = FASTBLOOM_HEAD, .tail = FASTBLOOM_TAIL, .unit = 8,                 \
    .m_most = 64 * FASTBLOOM_WORDS_MAX, .limit = "2^34 words",                 \
    .size = fastbloom_size, .settle = fastbloom_settle,                        \
    .finish = fastbloom_finish

static const rowfile fastbloom_file[] = {
    [FASTBLOOM_16] = { FASTBLOOM_FILE(fastbloom_numbers), .forms = 4 },
    [FASTBLOOM_15] = { FASTBLOOM_FILE(fastbloom_numbers) },
    [FASTBLOOM_14] = { FASTBLOOM_FILE(fastbloom_numbers_14) },
    [FASTBLOOM_13] = { FASTBLOOM_FILE(fastbloom_numbers_14) },
};

static bly_status fastbloom_settle(kind_found *found, const uint8_t *file,
                                   uint64_t bytes)
{
    uint64_t state[4], tail = bytes - FASTBLOOM_TAIL;
    (void)found;
    fastbloom_state(state, file + tail + FASTBLOOM_AT_KEY);
    for (size_t i = 0; i < 4; i++)
        if (image_u64(file + tail, FASTBLOOM_AT_STATE + 8 * i) != state[i])
            return rowfile_wrong(fastbloom_file, tail + FASTBLOOM_AT_STATE
                                 + 8 * i, "the state of the hash is not that "
                                 "of its key, as with a hash function that is "
                                 "not the crate's own");
    return BLY_OK;
}

/* The key is the seed in 16 bytes, the highest first. */
static void fastbloom_finish(uint8_t *file, const uint64_t *geometry,
                             const kind_spec *spec)
{
    uint64_t state[4], seed = spec->option[FASTBLOOM_OPTION_SEED];
    uint8_t *tail = file + FASTBLOOM_HEAD + geometry[ROWFILE_M] / 8;
    for (size_t i = 0; i < 8; i++)
        tail[FASTBLOOM_AT_KEY + 15 - i] = (uint8_t)(seed >> 8 * i);
    fastbloom_state(state, tail + FASTBLOOM_AT_KEY);
    for (size_t i = 0; i < 4; i++)
        image_set_u64(tail, FASTBLOOM_AT_STATE + 8 * i, state[i]);
}

ROWFILE(fastbloom)

static bly_status fastbloom_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[FASTBLOOM_TYPE] = option[FASTBLOOM_OPTION_TYPE];
    return rowfile_told(fastbloom_file, geometry,
                        option[FASTBLOOM_OPTION_VERSION]);
}

static const kind_foreign fastbloom_foreign = {
    .writer = "Rust's crate fastbloom 0.12 to 0.17, by serde and bincode",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "type", "of the items: 0 str, 1 bytes, 2 int" },
        { "version", "0 of 0.16, 1 of 0.15, 2 of 0.14, 3 of 0.13" },
    },
    ROWFILE_FOREIGN(fastbloom),
    .told = fastbloom_told,
    .fields = 1u << FASTBLOOM_TYPE | 1u << FASTBLOOM_FORM,
};

/* ---- Keys -------------------------------------------------------------- */

static uint64_t fastbloom_rotate(uint64_t x)
{
    return x << 5 | x >> 59;
}

/* The sequence's next value, and what is added to each. */
static void fastbloom_begin(const probes_row *row, probes_key *key)
{
    const uint8_t *at = row->row + row->m / 8 + FASTBLOOM_AT_KEY;
    hash_seed secret = { image_u64(at, 0), image_u64(at, 8) };
    hash_rust type = (hash_rust)row->with[ROWFILE_WITH_THIRD];
    uint64_t h = hash_siphash_rust(key->bytes, key->length, type, secret);
    bool narrow = row->with[ROWFILE_WITH_FOURTH] >= FASTBLOOM_14;
    key->state[0] = h;
    key->state[1] = (narrow ? h >> 32 : h) * FASTBLOOM_FACTOR;
}

static uint64_t fastbloom_old(const probes_row *row, probes_key *key)
{
    uint64_t word = (key->state[0] >> 32) * (row->m / 64) >> 32;
    uint64_t h = fastbloom_rotate(key->state[0] + key->state[1]);
    key->state[0] = h;
    return row->with[ROWFILE_WITH_FOURTH] == FASTBLOOM_13
         ? 64 * word + (h & 63) : (h >> 32) * row->m >> 32;
}

static uint64_t fastbloom_next(const probes_row *row, probes_key *key,
                               uint64_t i)
{
    uint64_t form = row->with[ROWFILE_WITH_FOURTH], h = key->state[0];
    (void)i;
    if (form >= FASTBLOOM_14)
        return fastbloom_old(row, key);
    key->state[0] = fastbloom_rotate(h) + key->state[1];
    return form == FASTBLOOM_15 ? (h >> 32) * row->m >> 32
                                : platform_mul_high(h, row->m);
}

ROWFILE_KIND(fastbloom,
    .summary = "the Bloom filter of Rust's crate fastbloom, in bincode",
    .version = FASTBLOOM_VERSION,
    .options = fastbloom_options)
