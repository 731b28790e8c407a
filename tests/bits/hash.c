/* hash.c - every hash function, compared with published vectors (the families'
 * own test values, SMHasher's verification words, values from the xxHash
 * library) and with golden states of whole filters, where one wrong bit would
 * show. Then properties of all functions: any length, any alignment, every byte
 * counts.
 *
 * Two longer tables of vectors are read from a folder beside the source tree;
 * without it those tests are skipped.
 */
#include "test.h"

#include "base/cpu.h"
#include "bits/bits.h"
#include "bits/hash.h"

/* ---- Published vectors ------------------------------------------------- */

/* The key; murmur2 and murmur3 of 32 bits with seeds 0 and 1; FNV-1a of 32
 * and 64 bits; XXH64. */
static const struct {
    const char *key;
    uint32_t murmur2[2], murmur3[2], fnv32;
    uint64_t fnv64, xxh64;
} kit[] = {
    { "",
      { 0x00000000, 0x5BD15E36 }, { 0x00000000, 0x514E28B7 }, 0x811C9DC5,
      UINT64_C(0xCBF29CE484222325), UINT64_C(0xEF46DB3751D8E999) },
    { "a",
      { 0x92685F5E, 0x2550B18C }, { 0x3C2569B2, 0x588ADCE8 }, 0xE40C292C,
      UINT64_C(0xAF63DC4C8601EC8C), UINT64_C(0xD24EC4F1A98C6E5B) },
    { "abc",
      { 0x13577C9B, 0x60A4FCC1 }, { 0xB3DD93FA, 0xAA75E9FF }, 0x1A47E90B,
      UINT64_C(0xE71FA2190541574B), UINT64_C(0x44BC2CF5AD770999) },
    { "hello",
      { 0xE56129CB, 0xA631918E }, { 0x248BFA47, 0xBB4ABCAD }, 0x4F9F2CAB,
      UINT64_C(0xA430D84680AABD0B), UINT64_C(0x26C7827D889F6DA3) },
    { "foobar",
      { 0x6715A92E, 0x0859B284 }, { 0xA4C4D4BD, 0x6C9B7A46 }, 0xBF9CF968,
      UINT64_C(0x85944171F73967E8), UINT64_C(0xA2AA05ED9085AAF9) },
    { "Bloom filter",
      { 0x793DBDFE, 0xB598CBD5 }, { 0x58AEFB35, 0xAD8BE1EE }, 0x1BAADBD6,
      UINT64_C(0x69D8374CC6E1F236), UINT64_C(0x57D87C073D013414) },
    { "The quick brown fox jumps over the lazy dog",
      { 0x212729D0, 0x1E1049E7 }, { 0x2E4FF723, 0x78E69E27 }, 0x048FFF90,
      UINT64_C(0xF3F9B7F5E7E47110), UINT64_C(0x0B242D361FDA71BC) },
};

static void test_kit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kit / sizeof kit[0]; i++) {
        const char *key = kit[i].key;
        size_t length = strlen(key);
        for (uint32_t seed = 0; seed < 2; seed++) {
            assert_int_equal(hash_murmur2_32(key, length, seed),
                             kit[i].murmur2[seed]);
            assert_int_equal(hash_murmur3_32(key, length, seed),
                             kit[i].murmur3[seed]);
        }
        assert_int_equal(hash_fnv1a_32(key, length), kit[i].fnv32);
        assert_int_equal(hash_fnv1a(key, length, 0), kit[i].fnv64);
        assert_int_equal(hash_xxh64(key, length, 0), kit[i].xxh64);
    }
}

/* Values of wyhash's first version with seed 3, of bytes 3, 10, 17, …, from an
 * independent model; that of 0, 1, 2 is in the reference's own tests. */
static void test_wyhash(void **state)
{
    (void)state;
    static const struct { size_t n; uint64_t hash; } rows[] = {
        { 0, UINT64_C(0x3B3F0396079D0797) },
        { 1, UINT64_C(0x0C495FAB15E91B24) },
        { 2, UINT64_C(0xCE9D7D615FE19AD9) },
        { 3, UINT64_C(0xC5D7DA6F551BFEC0) },
        { 4, UINT64_C(0x59D0A4E522A01240) },
        { 5, UINT64_C(0x185E7CA509F8AC45) },
        { 6, UINT64_C(0x0C5DD10EF1F3FC59) },
        { 7, UINT64_C(0xE2C746CD21AB3BBA) },
        { 8, UINT64_C(0x66ED2AC187C8A4C9) },
        { 9, UINT64_C(0x314A2A1707274D4C) },
        { 16, UINT64_C(0x0EAD179679FBCACA) },
        { 17, UINT64_C(0x70D6815AC13156AC) },
        { 24, UINT64_C(0x7D21B024601042CB) },
        { 25, UINT64_C(0x93145D848F810076) },
        { 31, UINT64_C(0x797ACDF251BFB769) },
        { 32, UINT64_C(0x8C90B181049A4979) },
        { 33, UINT64_C(0x686A57C8709A150D) },
        { 64, UINT64_C(0xC884632221471996) },
        { 139, UINT64_C(0x641103110A4AC6AB) },
    };
    uint8_t bytes[140];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(7 * i + 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(hash_wyhash(bytes, rows[i].n, 3), rows[i].hash);
    assert_int_equal(hash_wyhash("\0\1\2", 3, 3),
                     UINT64_C(0xB0F941520B1AD95D));
}

static void check_murmur3_128(const char *key, uint64_t first, uint64_t second)
{
    uint64_t both[2] = { 1, 1 };
    hash_murmur3_128(key, strlen(key), 0, both);
    assert_int_equal(both[0], first);
    assert_int_equal(both[1], second);
    assert_int_equal(hash_murmur3(key, strlen(key), 0), first);
}

static void test_murmur3_128(void **state)
{
    (void)state;
    check_murmur3_128("", 0, 0);
    check_murmur3_128("abc", UINT64_C(0xB4963F3F3FAD7867),
                      UINT64_C(0x3BA2744126CA2D52));
    check_murmur3_128("hello", UINT64_C(0xCBD8A7B341BD9B02),
                      UINT64_C(0x5B1E906A48AE1D19));
    check_murmur3_128("The quick brown fox jumps over the lazy dog",
                      UINT64_C(0xE34BBC7BBC071B6C),
                      UINT64_C(0x7A433CA9C49A9347));
}

/* MurmurHash3, 32 bits, from the tests of the Bitcoin client: bytes with the
 * high bit set, every length of the tail, seeds of 32 bits. */
static void test_murmur3_32(void **state)
{
    (void)state;
    static const uint8_t ramp[] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                                    0x77, 0x88 }, full[] = { 0xFF };
    static const uint32_t by_length[] = {
        0x00000000, 0x514E28B7, 0x16C6B7AB, 0x8EB51C3D, 0xB4471BF8,
        0xE2301FA8, 0xFC2E4A15, 0xB074502C, 0x8034D2A0, 0xB4698DEF,
    };
    for (size_t length = 0; length <= sizeof ramp; length++)
        assert_int_equal(hash_murmur3_32(ramp, length, 0), by_length[length]);
    assert_int_equal(hash_murmur3_32(ramp, 0, 0xFBA4C795), 0x6A396F08);
    assert_int_equal(hash_murmur3_32(ramp, 0, 0xFFFFFFFF), 0x81F16F39);
    assert_int_equal(hash_murmur3_32(ramp, 1, 0xFBA4C795), 0xEA3F0B17);
    assert_int_equal(hash_murmur3_32(full, 1, 0), 0xFD6CF10D);
}

/* MurmurHash3 with one word of state, which Apache ORC's own class Murmur3 gave
 * for its seed. */
static void test_murmur3_64(void **state)
{
    static const struct { const char *key; uint64_t hash; } rows[] = {
        { "", UINT64_C(0x74A18DC8F20ADB48) },
        { "a", UINT64_C(0xDDD9B0AF19F61187) },
        { "\xC3\xA9", UINT64_C(0xAA405EF059A89E5A) },
        { "hello", UINT64_C(0x3928100018224141) },
        { "12345678", UINT64_C(0xEC219DF59F58BC57) },
        { "hello world", UINT64_C(0xB868FEBC7ED7B2AC) },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(hash_murmur3_64(rows[i].key, strlen(rows[i].key),
                                         104729), rows[i].hash);
}

/* ---- SMHasher's verification words ------------------------------------- */

typedef void digest(const void *key, size_t length, uint32_t seed,
                    uint8_t *out);

static void put_little(uint8_t *out, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(v >> (8 * i));
}

static void digest_murmur2_32(const void *key, size_t length, uint32_t seed,
                              uint8_t *out)
{
    put_little(out, hash_murmur2_32(key, length, seed), 4);
}

static void digest_murmur2(const void *key, size_t length, uint32_t seed,
                           uint8_t *out)
{
    put_little(out, hash_murmur2(key, length, seed), 8);
}

static void digest_murmur3_32(const void *key, size_t length, uint32_t seed,
                              uint8_t *out)
{
    put_little(out, hash_murmur3_32(key, length, seed), 4);
}

static void digest_murmur3_128(const void *key, size_t length, uint32_t seed,
                               uint8_t *out)
{
    uint64_t both[2];
    hash_murmur3_128(key, length, seed, both);
    put_little(out, both[0], 8);
    put_little(out + 8, both[1], 8);
}

/* Hashes the keys {}, {0}, {0, 1}, … with seeds 256, 255, … and then the row of
 * digests with seed 0. Returns the first 32 bits. */
static uint32_t verification_word(digest *of, size_t bytes)
{
    uint8_t key[256], digests[256 * 16] = { 0 }, last[16] = { 0 };
    for (uint32_t i = 0; i < 256; i++) {
        of(key, i, 256 - i, digests + i * bytes);
        key[i] = (uint8_t)i;
    }
    of(digests, 256 * bytes, 0, last);
    return (uint32_t)last[0] | (uint32_t)last[1] << 8
         | (uint32_t)last[2] << 16 | (uint32_t)last[3] << 24;
}

static void test_verification_words(void **state)
{
    (void)state;
    assert_int_equal(verification_word(digest_murmur2_32, 4), 0x27864C1E);
    assert_int_equal(verification_word(digest_murmur2, 8), 0x1F0D3804);
    assert_int_equal(verification_word(digest_murmur3_32, 4), 0xB0F57EE3);
    assert_int_equal(verification_word(digest_murmur3_128, 16), 0x6384BA69);
}

/* ---- xxHash ------------------------------------------------------------ */

enum { XXHASH_MOST = 2400 };

/* Fills the buffer that xxHash's own checks hash. */
static void xxhash_buffer(uint8_t buffer[XXHASH_MOST])
{
    uint64_t g = 2654435761u;
    for (size_t i = 0; i < XXHASH_MOST; i++) {
        buffer[i] = (uint8_t)(g >> 56);
        g *= UINT64_C(11400714785074694797);
    }
}

enum { SEEDED = 1 };                    /* with the seed 2654435761 */

/* Every path of XXH3 begins or ends at one of these lengths. */
static const struct {
    size_t   length;
    int      seeded;
    uint64_t xxh64, xxh3;
} xxhash[] = {
    { 0, 0,
      UINT64_C(0xEF46DB3751D8E999), UINT64_C(0x2D06800538D394C2) },
    { 1, 0,
      UINT64_C(0xE934A84ADB052768), UINT64_C(0xC44BDFF4074EECDB) },
    { 3, 0,
      UINT64_C(0xFF7E1959CB50794A), UINT64_C(0x54247382A8D6B94D) },
    { 4, 0,
      UINT64_C(0x9136A0DCA57457EE), UINT64_C(0xE5DC74BC51848A51) },
    { 8, 0,
      UINT64_C(0xCDBCF538E71D1348), UINT64_C(0x24CCC9ACAA9F65E4) },
    { 9, 0,
      UINT64_C(0x554B1AE991EDA6B6), UINT64_C(0x14D5001C15DD3F2B) },
    { 16, 0,
      UINT64_C(0x98C90B57FDFCB55C), UINT64_C(0x981B17D36C7498C9) },
    { 17, 0,
      UINT64_C(0x0D39A2D051A30C2C), UINT64_C(0x796F5ACD3A60F862) },
    { 31, 0,
      UINT64_C(0x299B39A290E6D783), UINT64_C(0x5D516692CA764C50) },
    { 32, 0,
      UINT64_C(0x18B216492BB44B70), UINT64_C(0x9FEADDBDBF57EED3) },
    { 128, 0,
      UINT64_C(0x90CA021457D96DC5), UINT64_C(0xFCFF24126754D861) },
    { 129, 0,
      UINT64_C(0x41C280132D697ABA), UINT64_C(0x98F1B0A679A2CA29) },
    { 240, 0,
      UINT64_C(0xB81838D483BAEE53), UINT64_C(0x81C3C2B67F568CCF) },
    { 241, 0,
      UINT64_C(0x95D76C8B4D8FC4D6), UINT64_C(0xC5A639ECD2030E5E) },
    { 1042, 0,
      UINT64_C(0x1D9940A24B80F97F), UINT64_C(0xB6DD00ABD69F904D) },
    { 2367, 0,
      UINT64_C(0xA82418DDEC0EA581), UINT64_C(0xCB37AEB9E5D361ED) },
    { 0, SEEDED,
      UINT64_C(0xAC75FDA2929B17EF), UINT64_C(0xF702CA3814DE2125) },
    { 1, SEEDED,
      UINT64_C(0x5014607643A9B4C3), UINT64_C(0xB53D5557E7F76F8D) },
    { 3, SEEDED,
      UINT64_C(0xAA8584E83660F7D1), UINT64_C(0xF173D14DAD53A5DC) },
    { 4, SEEDED,
      UINT64_C(0xCAAB286BD8E9FDB5), UINT64_C(0x6977C7C3AD9421B9) },
    { 8, SEEDED,
      UINT64_C(0xFE0C047A5353CDAC), UINT64_C(0x360073B0548DBD24) },
    { 9, SEEDED,
      UINT64_C(0x7908265248F6D73F), UINT64_C(0xCE394E48812AA7E3) },
    { 16, SEEDED,
      UINT64_C(0xC900AD2D536B607E), UINT64_C(0xB40F1F6CDB1569CC) },
    { 17, SEEDED,
      UINT64_C(0x495CD68A647C7A22), UINT64_C(0xAF8CB0BC2C230DAF) },
    { 31, SEEDED,
      UINT64_C(0xDA673D5FEB5C1D79), UINT64_C(0x8F5B72BB387D6265) },
    { 32, SEEDED,
      UINT64_C(0xB3F33BDF93ADE409), UINT64_C(0x04FE6AA559EE0C7E) },
    { 128, SEEDED,
      UINT64_C(0xED9340A202BCD1CF), UINT64_C(0xA3CA60447DE981D1) },
    { 129, SEEDED,
      UINT64_C(0x1668B87489935FF5), UINT64_C(0xC861FFC49C2BF14F) },
    { 240, SEEDED,
      UINT64_C(0xA4B3F965B6FE67F8), UINT64_C(0x507820EA74B895B0) },
    { 241, SEEDED,
      UINT64_C(0x19D5AD5F4BD6CB9F), UINT64_C(0x5927E3637BAC8149) },
    { 1042, SEEDED,
      UINT64_C(0xBD60D6ED58A888C3), UINT64_C(0xADF9F6C5ABCEF803) },
    { 2367, SEEDED,
      UINT64_C(0xA36A93C18052673A), UINT64_C(0x6F5360AE69C2F406) },
};

static void test_xxhash(void **state)
{
    (void)state;
    uint8_t buffer[XXHASH_MOST];
    xxhash_buffer(buffer);
    for (size_t i = 0; i < sizeof xxhash / sizeof xxhash[0]; i++) {
        uint64_t seed = xxhash[i].seeded == SEEDED ? 2654435761u : 0;
        assert_int_equal(hash_xxh64(buffer, xxhash[i].length, seed),
                         xxhash[i].xxh64);
        assert_int_equal(hash_xxh3(buffer, xxhash[i].length, seed),
                         xxhash[i].xxh3);
    }
}

/* The vector code for long bytes equals the header's, around the ends of its
 * stripes and blocks. */
static void test_xxh3_at_every_level(void **state)
{
    (void)state;
    enum { MOST = 3 * 1024 + 130 };
    uint8_t bytes[MOST + 8];
    const cpu_level has = cpu_limit(CPU_LEVELS - 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(3, i);
    for (size_t length = 0; length <= MOST; length++) {
        const uint8_t *at = bytes + length % 8;
        cpu_limit(CPU_PORTABLE);
        uint64_t wanted = hash_xxh3(at, length, 0);
        cpu_limit(has);
        assert_int_equal(hash_xxh3(at, length, 0), wanted);
    }
}

/* Parquet's hashes of the 64-bit integers 0, 1 and 2. */
static void test_xxh64_of_integers(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {
        UINT64_C(0x34C96ACDCADB1BBB), UINT64_C(0x9F29CB17A2A49995),
        UINT64_C(0xEAC73E4044E82DB0),
    };
    for (uint64_t i = 0; i < 3; i++) {
        uint8_t key[8];
        put_little(key, i, sizeof key);
        assert_int_equal(hash_xxh64(key, sizeof key, 0), wanted[i]);
    }
}

/* ---- Vectors in files -------------------------------------------------- */

#define VECTORS TEST_SOURCE_DIR "/../shared/data/hashes/"

static void test_xxhash_file(void **state)
{
    (void)state;
    uint8_t buffer[XXHASH_MOST];
    char line[256];
    unsigned lines = 0;
    FILE *file = fopen(VECTORS "xxhash.tsv", "r");
    if (file == NULL)
        skip();
    xxhash_buffer(buffer);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long length, seed, xxh64, xxh3;
        if (sscanf(line, "%llu %llu %*x %llx %llx", &length, &seed, &xxh64,
                   &xxh3) != 4)
            continue;
        assert_true(length <= XXHASH_MOST);
        assert_int_equal(hash_xxh64(buffer, (size_t)length, seed), xxh64);
        assert_int_equal(hash_xxh3(buffer, (size_t)length, seed), xxh3);
        lines++;
    }
    fclose(file);
    assert_true(lines > 100);
}

/* Parses hex digits at `text` up to the first other character; returns the
 * number of bytes. */
static size_t hex_bytes(const char *text, uint8_t *out, size_t room)
{
    size_t length = 0;
    unsigned byte;
    while (length < room && text[2 * length] != '\t'
           && sscanf(text + 2 * length, "%2x", &byte) == 1)
        out[length++] = (uint8_t)byte;
    return length;
}

static void test_fnv_file(void **state)
{
    (void)state;
    char line[4096];
    uint8_t key[1024];
    unsigned lines = 0;
    FILE *file = fopen(VECTORS "fnv_vectors.tsv", "r");
    if (file == NULL)
        skip();
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned of_32;
        unsigned long long of_64;
        const char *tab = strchr(line, '\t');
        if (line[0] == '#' || tab == NULL)
            continue;
        size_t length = hex_bytes(line, key, sizeof key);
        assert_int_equal(length * 2, tab - line);
        assert_int_equal(sscanf(tab, " %*x %x %*x %llx", &of_32, &of_64), 2);
        assert_int_equal(hash_fnv1a_32(key, length), of_32);
        assert_int_equal(hash_fnv1a(key, length, 0), of_64);
        lines++;
    }
    fclose(file);
    assert_true(lines > 100);
}

/* ---- Properties of every function -------------------------------------- */

enum { LENGTHS = 65, ALIGNMENTS = 8 };

/* Hashes a key of `length` bytes at a given alignment. The key ends where its
 * memory ends, so that sanitizers see an overrun of one byte. */
static uint64_t hash_at(hash_function *hash, const uint8_t *key, size_t length,
                        size_t alignment)
{
    uint8_t *base = malloc(alignment + length + (alignment + length == 0));
    assert_non_null(base);
    memcpy(base + alignment, key, length);
    uint64_t value = hash(base + alignment, length, (hash_seed){.low = 12345});
    free(base);
    return value;
}

static void test_alignment_does_not_matter(void **state)
{
    (void)state;
    uint8_t key[LENGTHS];
    for (size_t i = 0; i < LENGTHS; i++)
        key[i] = (uint8_t)test_random(1, i);
    for (const hash_info *h = hash_list; h->name != NULL; h++)
        for (size_t length = 0; length < LENGTHS; length++) {
            uint64_t wanted = hash_at(h->function, key, length, 0);
            for (size_t alignment = 1; alignment < ALIGNMENTS; alignment++)
                assert_int_equal(hash_at(h->function, key, length, alignment),
                                 wanted);
        }
}

static void test_every_bit_and_the_length_matter(void **state)
{
    (void)state;
    const hash_seed nine = { .low = 9 };
    uint8_t key[LENGTHS + 1] = { 0 };
    for (size_t i = 0; i < LENGTHS; i++)
        key[i] = (uint8_t)test_random(2, i);
    for (const hash_info *h = hash_list; h->name != NULL; h++)
        for (size_t length = 0; length < LENGTHS; length++) {
            if (strcmp(h->name, "decimal") == 0)    /* not a number */
                continue;
            uint64_t value = h->function(key, length, nine);
            for (size_t bit = 0; bit < 8 * length; bit++) {
                key[bit / 8] ^= (uint8_t)(1u << bit % 8);
                assert_int_not_equal(h->function(key, length, nine), value);
                key[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            assert_int_not_equal(h->function(key, length + 1, nine), value);
        }
}

static void test_32_bits_at_any_alignment(void **state)
{
    (void)state;
    uint8_t memory[LENGTHS + ALIGNMENTS];
    for (size_t length = 0; length < LENGTHS; length++) {
        uint32_t wanted[3] = { 0 };
        for (size_t alignment = 0; alignment < ALIGNMENTS; alignment++) {
            uint8_t *key = memory + alignment;
            for (size_t i = 0; i < length; i++)
                key[i] = (uint8_t)test_random(3, i);
            uint32_t got[3] = { hash_murmur2_32(key, length, 7),
                                hash_murmur3_32(key, length, 7),
                                hash_fnv1a_32(key, length) };
            if (alignment == 0)
                memcpy(wanted, got, sizeof got);
            assert_memory_equal(got, wanted, sizeof got);
        }
    }
}

static void test_seed_matters_in_all_its_bits(void **state)
{
    (void)state;
    for (const hash_info *h = hash_list; h->name != NULL; h++) {
        uint64_t value = h->function("seed", 4, (hash_seed){ 0, 0 });
        for (int bit = 0; bit < 64; bit++) {
            hash_seed low = { .low = UINT64_C(1) << bit };
            hash_seed high = { .high = UINT64_C(1) << bit };
            assert_int_equal(h->function("seed", 4, low) == value, h->integer);
            assert_int_equal(h->function("seed", 4, high) == value, !h->keyed);
        }
    }
}

static void test_what_becomes_of_the_seed(void **state)
{
    (void)state;
    const uint64_t seed = UINT64_C(0x0123456789ABCDEF);
    uint64_t both[2];
    hash_murmur3_128("key", 3, 0x01234567u ^ 0x89ABCDEFu, both);
    assert_int_equal(hash_murmur3("key", 3, seed), both[0]);
    assert_int_equal(hash_fnv1a("", 0, seed),
                     UINT64_C(0xCBF29CE484222325) ^ seed);
    assert_int_equal(hash_fnv1a("", 0, UINT64_C(0xCBF29CE484222325)), 0);
}

static void test_identity(void **state)
{
    (void)state;
    static const uint8_t key[] = { 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
                                   0xF1, 0x99, 0x10 };
    static const uint64_t wanted[] = {
        0, 0x88, 0x7788, 0x667788, 0x55667788, UINT64_C(0x4455667788),
        UINT64_C(0x334455667788), UINT64_C(0x22334455667788),
        UINT64_C(0xF122334455667788),
    };
    for (size_t length = 0; length <= 8; length++) {
        assert_int_equal(hash_identity(key, length, 0), wanted[length]);
        assert_int_equal(hash_identity(key, length, 77), wanted[length]);
    }
    assert_int_equal(hash_identity(NULL, 0, 0), 0);
    for (size_t length = 9; length <= sizeof key; length++) {
        assert_int_equal(hash_identity(key, length, 0),
                         hash_xxh3(key, length, 0));
        assert_int_equal(hash_identity(key, length, 77),
                         hash_xxh3(key, length, 0));
    }
}

static void test_decimal(void **state)
{
    (void)state;
    static const struct { const char *key; uint64_t number; } rows[] = {
        { "0", 0 }, { "7", 7 }, { "42", 42 }, { "007", 7 },
        { "4294967296", UINT64_C(4294967296) },
        { "18446744073709551614", UINT64_MAX - 1 },
        { "000000000000000000000018446744073709551614", UINT64_MAX - 1 },
        { "18446744073709551615", UINT64_MAX },     /* it, and one too many */
        { "18446744073709551616", UINT64_MAX },
        { "18446744073709551620", UINT64_MAX },
        { "99999999999999999999", UINT64_MAX },
        { "100000000000000000000000", UINT64_MAX },
        { "", UINT64_MAX }, { "-1", UINT64_MAX }, { "+1", UINT64_MAX },
        { " 1", UINT64_MAX }, { "1 ", UINT64_MAX }, { "1.0", UINT64_MAX },
        { "0x1", UINT64_MAX }, { "1e3", UINT64_MAX }, { "1/", UINT64_MAX },
        { "1:", UINT64_MAX }, { "swordfish", UINT64_MAX },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].key);
        assert_true(hash_decimal(rows[i].key, length, 0) == rows[i].number);
        assert_true(hash_decimal(rows[i].key, length, 9) == rows[i].number);
    }
    assert_true(hash_decimal("12", 1, 0) == 1);
    assert_true(hash_decimal("1\0", 2, 0) == UINT64_MAX);
    assert_true(hash_decimal(NULL, 0, 0) == UINT64_MAX);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t murmur2_32_of(const void *key, size_t length, uint64_t seed)
{
    return hash_murmur2_32(key, length, (uint32_t)seed);
}

static uint64_t murmur3_32_of(const void *key, size_t length, uint64_t seed)
{
    return hash_murmur3_32(key, length, (uint32_t)seed);
}

static uint64_t fnv1a_32_of(const void *key, size_t length, uint64_t seed)
{
    (void)seed;
    return hash_fnv1a_32(key, length);
}

/* A function with a plain seed, like the 32-bit ones here. */
typedef uint64_t seeded_function(const void *key, size_t length,
                                 uint64_t seed);

enum { DISTINCT_KEYS = 1000 };

/* Writes key number i, of `length` digits. */
static void distinct_key(char *key, size_t length, int i)
{
    for (int rest = i * 9; length > 0; rest /= 10)
        key[--length] = (char)('0' + rest % 10);
}

static unsigned distinct_of(uint64_t all[DISTINCT_KEYS])
{
    unsigned distinct = 1;
    qsort(all, DISTINCT_KEYS, sizeof all[0], compare_hashes);
    for (int i = 1; i < DISTINCT_KEYS; i++)
        distinct += all[i] != all[i - 1];
    return distinct;
}

/* Counts the different hashes of 1000 different keys of `length` digits. */
static unsigned distinct_seeded(seeded_function *hash, size_t length)
{
    uint64_t all[DISTINCT_KEYS];
    char key[16];
    for (int i = 0; i < DISTINCT_KEYS; i++) {
        distinct_key(key, length, i);
        all[i] = hash(key, length, 0);
    }
    return distinct_of(all);
}

static unsigned distinct_hashes(hash_function *hash, size_t length)
{
    uint64_t all[DISTINCT_KEYS];
    char key[16];
    for (int i = 0; i < DISTINCT_KEYS; i++) {
        distinct_key(key, length, i);
        all[i] = hash(key, length, (hash_seed){ 0, 0 });
    }
    return distinct_of(all);
}

/* A MurmurHash2 in circulation skips bytes: all its keys of 4, 5 or 6
 * characters collide. (Among 1000 keys, 32-bit hashes have 10^-4 chance
 * collisions.) */
static void test_short_keys_differ(void **state)
{
    (void)state;
    for (size_t length = 4; length <= 8; length++) {
        assert_true(distinct_seeded(murmur2_32_of, length) >= 990);
        assert_true(distinct_seeded(murmur3_32_of, length) >= 990);
        assert_true(distinct_seeded(fnv1a_32_of, length) >= 990);
        for (const hash_info *h = hash_list; h->name != NULL; h++)
            assert_int_equal(distinct_hashes(h->function, length), 1000);
    }
}

/* ---- SipHash ----------------------------------------------------------- */

/* Key 00 01 … 0f, messages 00 01 … of each length. The first and the fifteenth
 * are in the paper (appendix A); all 64 are in its authors' vectors, which are
 * read if present. */
static void test_siphash(void **state)
{
    (void)state;
    uint8_t secret[16], message[64];
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)i;
    memcpy(secret, message, sizeof secret);
    hash_seed seed = hash_secret(secret);
    assert_int_equal(seed.low, UINT64_C(0x0706050403020100));
    assert_int_equal(seed.high, UINT64_C(0x0F0E0D0C0B0A0908));
    assert_int_equal(hash_siphash(message, 15, seed),
                     UINT64_C(0xA129CA6149BE45E5));
    assert_int_equal(hash_siphash(message, 0, seed),
                     UINT64_C(0x726FDB47DD0E0E31));

    FILE *file = fopen(VECTORS "siphash24.tsv", "r");
    char line[256];
    unsigned length, byte, seen = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        int at = 0;
        if (sscanf(line, "%u %n", &length, &at) != 1)
            continue;
        uint64_t wanted = 0;
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(sscanf(line + at + 2 * i, "%2x", &byte), 1);
            wanted |= (uint64_t)byte << 8 * i;
        }
        assert_int_equal(hash_siphash(message, length, seed), wanted);
        seen++;
    }
    assert_true(file == NULL || seen == 64);
    if (file != NULL)
        fclose(file);
}

static void test_secret_marks_differ(void **state)
{
    (void)state;
    uint8_t secret[16] = { 0 };
    uint64_t mark = hash_secret_mark(hash_secret(secret));
    for (size_t bit = 0; bit < 128; bit++) {
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(hash_secret_mark(hash_secret(secret)), mark);
        secret[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* ---- Names ------------------------------------------------------------- */

static void test_list(void **state)
{
    (void)state;
    size_t n = 0;
    assert_string_equal(hash_list[0].name, "xxh3");
    for (const hash_info *h = hash_list; h->name != NULL; h++, n++) {
        assert_in_range(strlen(h->name), 1, HASH_NAME);
        assert_true(strlen(h->summary) > 0);
        assert_ptr_equal(hash_find(h->name), h);
    }
    assert_int_equal(n, 8);
}

static void test_find(void **state)
{
    (void)state;
    static const struct { const char *name; seeded_function *function; } all[] =
        { { "xxh3", hash_xxh3 }, { "xxh64", hash_xxh64 },
          { "murmur2", hash_murmur2 }, { "murmur3", hash_murmur3 },
          { "fnv1a", hash_fnv1a }, { "identity", hash_identity },
          { "decimal", hash_decimal } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(hash_find(all[i].name)->function("1234567", 7,
                                                          (hash_seed){ 5, 0 }),
                         all[i].function("1234567", 7, 5));
    assert_ptr_equal(hash_find("siphash")->function, hash_siphash);
    const char *unknown[] = { "", "xxh", "xxh33", "murmur", "XXH3", "xxh3 ",
                              "identity!", "identit", "sha256" };
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_null(hash_find(unknown[i]));
}

static void test_find_field(void **state)
{
    (void)state;
    for (const hash_info *h = hash_list; h->name != NULL; h++) {
        uint8_t field[HASH_NAME] = { 0 };
        memcpy(field, h->name, strlen(h->name));
        assert_ptr_equal(hash_find_field(field), h);
        for (size_t i = 0; i < HASH_NAME; i++) {
            field[i] ^= 0x20;           /* 'x' and 'X', NUL and a space */
            assert_null(hash_find_field(field));
            field[i] ^= 0x20;
        }
    }
    static const uint8_t none[HASH_NAME] = { 0 };
    static const uint8_t part[HASH_NAME] = { 'x', 'x', 'h' };
    static const uint8_t more[HASH_NAME] = { 'x', 'x', 'h', '3', 0, 'x' };
    assert_null(hash_find_field(none));
    assert_null(hash_find_field(part));
    assert_null(hash_find_field(more));
}

/* ---- The mixers -------------------------------------------------------- */

/* SplitMix64 from state 0: its published first outputs. */
static void test_mix_is_splitmix64(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {
        UINT64_C(0xE220A8397B1DCDAF), UINT64_C(0x6E789E6AA1B965F4),
        UINT64_C(0x06C45D188009454F), UINT64_C(0xF88BB8A8724C81EC),
    };
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(hash_mix((i + 1) * UINT64_C(0x9E3779B97F4A7C15)),
                         wanted[i]);
}

/* The inverse of hash_spread: divide by the odd multiplier, undo the xor. */
static void test_spread_is_a_bijection(void **state)
{
    (void)state;
    uint64_t inverse = HASH_STEP;       /* right in 3 bits; Newton's steps */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - HASH_STEP * inverse;
    assert_int_equal(HASH_STEP * inverse, 1);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t hash = test_random(4, i), back = hash_spread(hash) * inverse;
        assert_int_equal(back ^ back >> 32, hash);
    }
}

/* ---- Golden states ----------------------------------------------------- */

enum { GOLDEN_PROBES = 8 };

/* Sets the positions of a key by the catalogue's rules, as bits of a row. */
typedef void locate(const char *key, size_t length, uint64_t *at);

typedef struct {
    locate  *where;
    size_t   bytes, probes;
    uint32_t members; /* keys "0", "1", … before this one  */
    uint32_t asked;                     /* following keys to query           */
    uint64_t set, fnv1a, hits;          /* expected results                  */
} golden;

/* Position i is hash(key, seed i) mod m, or lane i of a wide hash. */
static void locate_modulo(seeded_function *hash, uint64_t m, uint64_t lane_bits,
                          const char *key, size_t length, size_t k,
                          uint64_t *at)
{
    for (size_t i = 0; i < k; i++)
        at[i] = i * lane_bits + hash(key, length, i) % m;
}

static void locate_big_murmur2(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur2_32_of, 479256, 0, key, length, 7, at);
}

static void locate_big_murmur3(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur3_32_of, 479256, 0, key, length, 7, at);
}

static void locate_standard(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur3_32_of, 9592, 0, key, length, 7, at);
}

/* Slices of 1371 bits, each padded to 172 bytes. */
static void locate_partitioned(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur3_32_of, 1371, 172 * 8, key, length, 7, at);
}

static void locate_tiny_murmur2(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur2_32_of, 64, 0, key, length, 3, at);
}

static void locate_tiny_murmur3(const char *key, size_t length, uint64_t *at)
{
    locate_modulo(murmur3_32_of, 64, 0, key, length, 3, at);
}

/* Parquet's split-block filter of z blocks. */
static void locate_split(uint64_t z, const char *key, size_t length,
                         uint64_t *at)
{
    static const uint32_t salt[] = {
        0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
        0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
    };
    uint64_t hash = hash_xxh64(key, length, 0), block = (hash >> 32) * z >> 32;
    for (size_t i = 0; i < 8; i++)
        at[i] = block * 256 + i * 32 + ((uint32_t)hash * salt[i] >> 27);
}

static void locate_split_40(const char *key, size_t length, uint64_t *at)
{
    locate_split(40, key, length, at);
}

static void locate_split_4(const char *key, size_t length, uint64_t *at)
{
    locate_split(4, key, length, at);
}

/* Writes number i as a key; returns its length. */
static size_t decimal(char text[16], uint32_t i)
{
    return (size_t)snprintf(text, 16, "%u", i);
}

static void golden_fill(const golden *g, uint8_t *row)
{
    for (uint32_t i = 0; i < g->members; i++) {
        char key[16];
        uint64_t at[GOLDEN_PROBES];
        g->where(key, decimal(key, i), at);
        for (size_t j = 0; j < g->probes; j++)
            bits_set(row, at[j]);
    }
}

static uint64_t golden_hits(const golden *g, const uint8_t *row,
                            uint32_t first, uint32_t count)
{
    uint64_t hits = 0;
    for (uint32_t i = first; i < first + count; i++) {
        char key[16];
        uint64_t at[GOLDEN_PROBES];
        bool all = true;
        g->where(key, decimal(key, i), at);
        for (size_t j = 0; j < g->probes; j++)
            all = all && bits_test(row, at[j]);
        hits += all;
    }
    return hits;
}

static uint8_t *golden_make(const golden *g)
{
    uint8_t *row = calloc(1, g->bytes);
    assert_non_null(row);
    golden_fill(g, row);
    assert_int_equal(bits_count(row, g->bytes), g->set);
    assert_int_equal(hash_fnv1a(row, g->bytes, 0), g->fnv1a);
    assert_int_equal(golden_hits(g, row, 0, g->members), g->members);
    assert_int_equal(golden_hits(g, row, g->members, g->asked), g->hits);
    return row;
}

static void check_big(locate *where, uint64_t set, uint64_t fnv1a,
                      uint64_t xxh64, uint64_t hits,
                      const uint8_t first[8])
{
    golden g = { where, 59907, 7, 50000, 1000000, set, fnv1a, hits };
    uint8_t *row = golden_make(&g);
    assert_int_equal(hash_xxh64(row, g.bytes, 0), xxh64);
    assert_memory_equal(row, first, 8);
    free(row);
}

static void test_golden_50000_keys(void **state)
{
    (void)state;
    static const uint8_t first_2[] = { 0xEC, 0x7E, 0x98, 0x5D, 0x12, 0x91,
                                       0x02, 0x35 };
    static const uint8_t first_3[] = { 0x6C, 0xCC, 0xA9, 0x4F, 0x56, 0xF3,
                                       0x70, 0xF7 };
    check_big(locate_big_murmur2, 245664, UINT64_C(0x96B78AEE07494951),
              UINT64_C(0xE4057AD721B6EF26), 9271, first_2);
    check_big(locate_big_murmur3, 248566, UINT64_C(0x20A181AFA1EB84AD),
              UINT64_C(0x558F18E2A74C6D6D), 10041, first_3);
}

static void test_golden_1000_keys(void **state)
{
    (void)state;
    static const golden all[] = {
        { locate_standard, 1199, 7, 1000, 100000, 4931,
          UINT64_C(0xD3EF2033E4A28B7F), 965 },
        { locate_partitioned, 1204, 7, 1000, 100000, 4985,
          UINT64_C(0xEB31BE0176A7949D), 1005 },
        { locate_split_40, 1280, 8, 1000, 1000000, 5550,
          UINT64_C(0x544F0A6EA2A86D18), 11010 },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(golden_make(&all[i]));
}

static void check_tiny(locate *where, const uint64_t wanted[3][3],
                       const uint8_t bytes[8])
{
    static const char *const words[] = { "der", "die", "das" };
    uint8_t row[8] = { 0 };
    for (int i = 0; i < 3; i++) {
        uint64_t at[3];
        where(words[i], 3, at);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(at[j], wanted[i][j]);
            bits_set(row, at[j]);
        }
    }
    assert_memory_equal(row, bytes, sizeof row);
}

static void test_golden_three_words(void **state)
{
    (void)state;
    static const uint64_t at_2[3][3] = { { 34, 39, 6 }, { 0, 57, 40 },
                                         { 12, 63, 54 } };
    static const uint64_t at_3[3][3] = { { 35, 29, 57 }, { 58, 39, 20 },
                                         { 6, 24, 25 } };
    static const uint8_t row_2[] = { 0x41, 0x10, 0x00, 0x00, 0x84, 0x01,
                                     0x40, 0x82 };
    static const uint8_t row_3[] = { 0x40, 0x00, 0x10, 0x23, 0x88, 0x00,
                                     0x00, 0x06 };
    check_tiny(locate_tiny_murmur2, at_2, row_2);
    check_tiny(locate_tiny_murmur3, at_3, row_3);
}

/* Three words in a split-block filter of four blocks: the 32 words of its
 * bitset as listed in the catalogue. */
static void test_golden_split_blocks(void **state)
{
    (void)state;
    static const char *const words[] = { "hello", "world", "Bloom" };
    static const uint32_t wanted[4][8] = {
        { 0x00100000, 0x00000200, 0x00000400, 0x00000080,
          0x00000200, 0x80000000, 0x10000000, 0x08000000 },
        { 0 },
        { 0x10000000, 0x00000020, 0x00000100, 0x00040000,
          0x80000000, 0x00000004, 0x00001000, 0x00000002 },
        { 0x00200000, 0x02000000, 0x00000010, 0x00000020,
          0x00000020, 0x00800000, 0x00200000, 0x00010000 },
    };
    uint8_t row[128] = { 0 };
    for (int i = 0; i < 3; i++) {
        uint64_t at[8];
        locate_split_4(words[i], strlen(words[i]), at);
        for (int j = 0; j < 8; j++)
            assert_true(bits_set(row, at[j]));
    }
    for (int i = 0; i < 32; i++) {
        uint8_t bytes[4];
        put_little(bytes, wanted[i / 8][i % 8], 4);
        assert_memory_equal(row + 4 * i, bytes, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kit),
        cmocka_unit_test(test_wyhash),
        cmocka_unit_test(test_murmur3_128),
        cmocka_unit_test(test_murmur3_32),
        cmocka_unit_test(test_murmur3_64),
        cmocka_unit_test(test_verification_words),
        cmocka_unit_test(test_xxhash),
        cmocka_unit_test(test_xxh3_at_every_level),
        cmocka_unit_test(test_xxh64_of_integers),
        cmocka_unit_test(test_xxhash_file),
        cmocka_unit_test(test_fnv_file),
        cmocka_unit_test(test_alignment_does_not_matter),
        cmocka_unit_test(test_every_bit_and_the_length_matter),
        cmocka_unit_test(test_32_bits_at_any_alignment),
        cmocka_unit_test(test_seed_matters_in_all_its_bits),
        cmocka_unit_test(test_what_becomes_of_the_seed),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_short_keys_differ),
        cmocka_unit_test(test_siphash),
        cmocka_unit_test(test_secret_marks_differ),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_find_field),
        cmocka_unit_test(test_mix_is_splitmix64),
        cmocka_unit_test(test_spread_is_a_bijection),
        cmocka_unit_test(test_golden_50000_keys),
        cmocka_unit_test(test_golden_1000_keys),
        cmocka_unit_test(test_golden_three_words),
        cmocka_unit_test(test_golden_split_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
