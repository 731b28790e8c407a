/* rehash.c - tests specific to kind `rehash`: other programs' filters, to the
 * bit; functions compared with independent computations; whole keys, and hashes
 * where those are needed.
 */
#include "test.h"

#include "image/image.h"
#include "bits/hash.h"
#include "bits/index.h"

static bly_filter *rehash_new(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity, .rate = 0.01 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *rehash_row(const bly_filter *filter, size_t *bytes)
{
    const uint8_t *image = bly_image(filter, bytes);
    *bytes -= IMAGE_HEADER;
    return image + IMAGE_HEADER;
}

/* Adds n decimal numbers from `from` on, as text, or counts those found. */
static uint64_t rehash_numbers(bly_filter *into, const bly_filter *asked,
                               uint64_t from, uint64_t n)
{
    uint64_t hits = 0;
    for (uint64_t i = from; i < from + n; i++) {
        char key[24];
        size_t length = (size_t)snprintf(key, sizeof key, "%llu",
                                         (unsigned long long)i);
        if (into != NULL)
            assert_true(bly_add(into, key, length) >= 0);
        hits += asked != NULL && bly_contains(asked, key, length);
    }
    return hits;
}

/* ---- Other programs' filters ------------------------------------------- */

/* The seminar's filter: keys "0" … "49999", seeds 0 … 6, modulo 479256. */
static const struct {
    const char *by;
    uint64_t set, digest, hits;
} rehash_seminar[] = {
    { "murmur2", 245664, UINT64_C(0x96b78aee07494951), 9271 },
    { "murmur3", 248566, UINT64_C(0x20a181afa1eb84ad), 10041 },
};

static void test_seminar(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char kind[64];
        bly_info_t stat;
        size_t bytes;
        snprintf(kind, sizeof kind, "rehash:m=479256,k=7,key=whole,by=%s",
                 rehash_seminar[i].by);
        bly_filter *filter = rehash_new(kind, 50000);
        rehash_numbers(filter, NULL, 0, 50000);
        const uint8_t *row = rehash_row(filter, &bytes);
        assert_int_equal(bytes, 59907);
        assert_int_equal(hash_fnv1a(row, bytes, 0), rehash_seminar[i].digest);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_close(stat.fill, (double)rehash_seminar[i].set / 479256, 1e-9);
        assert_int_equal(rehash_numbers(NULL, filter, 50000, 1000000),
                         rehash_seminar[i].hits);
        bly_free(filter);
    }
}

/* Three words in 64 bits. */
static void test_words(void **state)
{
    (void)state;
    static const struct { const char *by; uint8_t row[8]; } rows[] = {
        { "murmur2", { 0x41, 0x10, 0, 0, 0x84, 0x01, 0x40, 0x82 } },
        { "murmur3", { 0x40, 0, 0x10, 0x23, 0x88, 0, 0, 0x06 } },
    };
    for (size_t i = 0; i < 2; i++) {
        char kind[64];
        size_t bytes;
        snprintf(kind, sizeof kind, "rehash:m=64,k=3,key=whole,by=%s",
                 rows[i].by);
        bly_filter *filter = rehash_new(kind, 3);
        assert_status(bly_add(filter, "der", 3), BLY_OK);
        assert_status(bly_add(filter, "die", 3), BLY_OK);
        assert_status(bly_add(filter, "das", 3), BLY_OK);
        const uint8_t *row = rehash_row(filter, &bytes);
        assert_int_equal(bytes, 8);
        assert_memory_equal(row, rows[i].row, 8);
        bly_free(filter);
    }
}

/* ---- The functions ----------------------------------------------------- */

static uint64_t rehash_c(uint64_t seed, uint64_t i, uint64_t j)
{
    uint64_t outer = hash_mix(seed + (i + 1) * INDEX_GOLDEN);
    return hash_mix(outer + (j + 1) * INDEX_GOLDEN);
}

/* Multiplies in the field, by long multiplication and long division. */
static uint64_t rehash_product(uint64_t a, uint64_t b)
{
    uint8_t bit[128] = { 0 };
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++)
            bit[i + j] ^= a >> i & b >> j & 1;
    for (unsigned i = 127; i >= 64; i--)
        if (bit[i]) {
            bit[i - 60] ^= 1;
            bit[i - 61] ^= 1;
            bit[i - 63] ^= 1;
            bit[i - 64] ^= 1;
        }
    uint64_t product = 0;
    for (unsigned i = 0; i < 64; i++)
        product |= (uint64_t)bit[i] << i;
    return product;
}

/* Returns the high half of (a x + b) modulo 2^128, by digits of 16 bits. */
static uint64_t rehash_line(const uint64_t a[2], const uint64_t b[2],
                            uint64_t x)
{
    uint64_t digit[8] = { 0 };
    for (unsigned i = 0; i < 8; i++) {
        digit[i] += b[1 - i / 4] >> i % 4 * 16 & 0xFFFF;
        for (unsigned j = 0; i + j < 8 && j < 4; j++)
            digit[i + j] += (a[1 - i / 4] >> i % 4 * 16 & 0xFFFF)
                          * (x >> 16 * j & 0xFFFF);
    }
    for (unsigned i = 0; i < 7; i++)
        digit[i + 1] += digit[i] >> 16;
    uint64_t high = 0;
    for (unsigned i = 4; i < 8; i++)
        high |= (digit[i] & 0xFFFF) << 16 * (i - 4);
    return high;
}

static uint64_t rehash_y(const char *by, uint64_t seed, uint64_t x, uint64_t i)
{
    if (strcmp(by, "multiply") == 0) {
        uint64_t a[2] = { rehash_c(seed, i, 0), rehash_c(seed, i, 1) };
        uint64_t b[2] = { rehash_c(seed, i, 2), rehash_c(seed, i, 3) };
        return rehash_line(a, b, x);
    }
    uint64_t y = 0, power = 1;
    if (strcmp(by, "tabulation") == 0) {
        for (unsigned j = 0; j < 8; j++)
            y ^= rehash_c(seed, i, 256 * j + (x >> 8 * j & 0xFF));
        return y;
    }
    for (unsigned j = 0; j < (strcmp(by, "poly2") == 0 ? 2 : 4); j++) {
        y ^= rehash_product(rehash_c(seed, i, j), power);
        power = rehash_product(power, x);
    }
    return y;
}

static uint64_t rehash_short(const char *by, uint64_t seed, const uint8_t *key,
                             uint64_t i)
{
    uint32_t both = (uint32_t)(seed + i);
    return strcmp(by, "murmur2") == 0 ? hash_murmur2_32(key, 8, both)
         : strcmp(by, "murmur3") == 0 ? hash_murmur3_32(key, 8, both)
                                      : hash_xxh64(key, 8, seed + i);
}

/* A single key sets exactly the essay's bits. */
static void test_functions(void **state)
{
    (void)state;
    static const char *const by[] = { "multiply", "xxh64", "murmur3", "murmur2",
                                      "poly2", "poly4", "tabulation" };
    enum { M = 1000, K = 5, SEED = 77 };
    for (size_t f = 0; f < sizeof by / sizeof *by; f++)
        for (uint64_t n = 0; n < 50; n++) {
            uint64_t x = n < 2 ? n * UINT64_MAX : test_random(1, n);
            char kind[64];
            uint8_t key[8], row[M / 8] = { 0 };
            size_t bytes;
            snprintf(kind, sizeof kind, "rehash:m=%d,k=%d,by=%s", M, K, by[f]);
            bly_spec spec = { .capacity = 1, .seed = SEED };
            bly_filter *filter = NULL;
            assert_status(bly_new(&filter, kind, &spec), BLY_OK);
            assert_status(bly_add_hash(filter, x), BLY_OK);
            image_set_u64(key, 0, x);
            for (uint64_t i = 0; i < K; i++) {
                uint64_t at = f >= 1 && f <= 3
                    ? rehash_short(by[f], SEED, key, i) % M
                    : bits_range(rehash_y(by[f], SEED, x, i), M);
                row[at / 8] |= (uint8_t)(1 << at % 8);
            }
            assert_memory_equal(rehash_row(filter, &bytes), row, sizeof row);
            assert_true(bly_contains_hash(filter, x));
            bly_free(filter);
        }
}

/* Slices of 10 bits: six from each 64-bit word, of 128 bits for each seed. */
static void test_slices(void **state)
{
    (void)state;
    enum { M = 1024, K = 25 };
    uint8_t row[M / 8] = { 0 };
    size_t bytes;
    bly_filter *filter = rehash_new("rehash:m=1024,k=25,by=slices,key=whole",
                                    10);
    assert_status(bly_add(filter, "swordfish", 9), BLY_OK);
    for (unsigned i = 0; i < K; i++) {
        uint64_t word[2];
        hash_murmur3_128("swordfish", 9, i / 12, word);
        uint64_t at = word[i / 6 % 2] >> i % 6 * 10 & 1023;
        row[at / 8] |= (uint8_t)(1 << at % 8);
    }
    assert_memory_equal(rehash_row(filter, &bytes), row, sizeof row);
    bly_free(filter);
}

/* The planned rate, for random hashes and, if the family guarantees it, for
 * consecutive integers; also with many probes. */
static void test_rates(void **state)
{
    (void)state;
    static const struct { const char *kind; bool integers; } rows[] = {
        { "rehash", false }, { "rehash:by=xxh64", false },
        { "rehash:by=murmur3", false }, { "rehash:by=slices", false },
        { "rehash:by=poly2", false }, { "rehash:by=poly4", true },
        { "rehash:by=tabulation", true }, { "rehash:by=xxh64", true },
        { "rehash:by=murmur3,m=600000,k=200", false },
    };
    enum { N = 2000, ASKED = 100000 };
    TEST_STATISTICS();
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bly_spec spec = { .capacity = N, .rate = 0.01 };
        bly_plan_t plan;
        uint64_t hits = 0;
        bly_filter *filter = rehash_new(rows[r].kind, N);
        assert_status(bly_plan(&plan, rows[r].kind, &spec), BLY_OK);
        for (uint64_t i = 0; i < N; i++)
            bly_add_hash(filter, rows[r].integers ? i : test_random(2, i));
        for (uint64_t i = 0; i < ASKED; i++)
            hits += bly_contains_hash(filter, rows[r].integers ? N + i
                                              : test_random(3, i));
        assert_within(hits, ASKED, plan.rate, plan.rate_sd);
        bly_free(filter);
    }
}

/* ---- Whole keys -------------------------------------------------------- */

static void test_whole(void **state)
{
    (void)state;
    enum { N = 700 };
    static char text[N][8];
    static bly_key keys[N];
    uint64_t hashes[3] = { 1, 2, 3 }, counts[N];
    bool present[N], seen[N];
    size_t done = 7;
    bly_filter *filter = rehash_new("rehash:by=xxh64,key=whole", N);
    for (size_t i = 0; i < N; i++)
        keys[i] = (bly_key){ text[i], (size_t)snprintf(text[i], sizeof text[i],
                                                       "%zu", i) };
    bly_keys half = { .n = N / 2, .keys = keys }, all = { .n = N,
                                                          .keys = keys };
    assert_status(bly_add_many(filter, &half, seen, &done), BLY_OK);
    assert_int_equal(done, N / 2);
    assert_status(bly_contains_many(filter, &all, present), BLY_OK);
    assert_status(bly_count_many(filter, &all, counts), BLY_OK);
    for (size_t i = 0; i < N; i++) {
        bool there = bly_contains(filter, keys[i].data, keys[i].length);
        assert_int_equal(present[i], there);
        assert_true(counts[i] == (there ? UINT64_MAX : 0));
        assert_true(bly_count(filter, keys[i].data, keys[i].length)
                    == counts[i]);
        assert_true(there || i >= N / 2);
    }

    /* A hash alone tells nothing. */
    assert_true(bly_contains_hash(filter, 1));
    bly_contains_hashes(filter, hashes, 3, present);
    assert_true(present[0] && present[1] && present[2]);
    assert_status(bly_add_hash(filter, 1), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "give it keys"));
    assert_status(bly_add_hashes(filter, hashes, 3, NULL, &done),
                  BLY_EUNSUPPORTED);
    assert_int_equal(done, 0);
    bly_free(filter);

    bly_spec spec = { .rate = 0.01 };
    assert_status(bly_build(&filter, "rehash:by=xxh64,key=whole", &spec,
                            &(bly_keys){ .n = 3, .hashes = hashes }),
                                         BLY_EUNSUPPORTED);
    assert_status(bly_build(&filter, "rehash:by=xxh64,key=whole", &spec,
                            &half), BLY_OK);
    for (size_t i = 0; i < N / 2; i++)
        assert_true(bly_contains(filter, keys[i].data, keys[i].length));
    bly_free(filter);
}

/* Without the option a key and its hash are equivalent. */
static void test_hashed(void **state)
{
    (void)state;
    bly_filter *filter = rehash_new("rehash", 100);
    bool present;
    bly_key key = { "swordfish", 9 };
    assert_status(bly_add(filter, key.data, key.length), BLY_OK);
    assert_true(bly_contains_hash(filter, bly_hash(filter, "swordfish", 9)));
    assert_status(bly_contains_many(filter, &(bly_keys){ .n = 1, .keys = &key },
                                    &present), BLY_OK);
    assert_true(present);
    assert_false(bly_contains(filter, "swordfis", 8));
    bly_free(filter);
}

/* ---- Refusals ---------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    static const struct { const char *kind, *says; uint64_t n; } rows[] = {
        { "rehash:by=murmur2", "m= and a capacity", 100 },
        { "rehash:by=murmur2,m=1000", "m= and a capacity", 0 },
        { "rehash:key=whole", "by=multiply hashes numbers", 100 },
        { "rehash:by=poly4,key=whole", "by=poly4 hashes numbers", 100 },
    };
    bly_plan_t plan;
    bly_filter *filter;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = rows[i].n, .rate = 0.01 };
        assert_status(bly_plan(&plan, rows[i].kind, &spec), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), rows[i].says));
    }
    bly_spec spec = { .capacity = 100, .rate = 0.01 };
    assert_status(bly_plan(&plan, "rehash:by=murmur3,m=4294967296", &spec),
                  BLY_OK);
    assert_status(bly_plan(&plan, "rehash:by=murmur3,m=4294967297", &spec),
                  BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "2^32 bits"));
    spec.capacity = 1000000000;
    assert_status(bly_plan(&plan, "rehash:by=murmur3", &spec), BLY_ETOOBIG);
    assert_status(bly_plan(&plan, "rehash", &spec), BLY_OK);

    uint8_t secret[BLY_SECRET_BYTES] = { 1 };
    spec = (bly_spec){ .capacity = 100, .hash = "siphash", .secret = secret };
    assert_status(bly_new(&filter, "rehash:by=xxh64,key=whole", &spec),
                  BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "secret"));
    assert_status(bly_new(&filter, "rehash:by=xxh64", &spec), BLY_OK);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seminar),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_hashed),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("rehash", tests, NULL, NULL);
}
