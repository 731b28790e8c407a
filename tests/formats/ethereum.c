/* ethereum.c - tests specific to format `ethereum`: the bits of Ethereum's own
 * tests, and Keccak at its ends.
 */
#include "test.h"
#include "vectors.h"

#include "bits/digest.h"

static void ethereum_is(const bly_filter *filter, const char *keccak)
{
    size_t bytes;
    uint8_t h[DIGEST_KECCAK], wanted[DIGEST_KECCAK];
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(bytes, BLY_HEADER_BYTES + 256);
    digest_keccak(h, image + BLY_HEADER_BYTES, 256);
    vector_hex(wanted, keccak);
    assert_memory_equal(h, wanted, sizeof h);
}

/* Bit i is bit (i mod 8) of byte 255 - i / 8. */
static void test_bits(void **state)
{
    (void)state;
    static const int none[] = { 8 * 69 + 2, 8 * 63 + 1, 8 * 33 + 7, -1 };
    static const int test[] = { (1058 ^ 2040), (1887 ^ 2040), (496 ^ 2040),
                                -1 };
    bly_filter *filter = vector_new("ethereum", 100, 0);
    assert_status(bly_add(filter, "", 0), BLY_OK);
    vector_bits(filter, 0, none);
    bly_free(filter);
    filter = vector_new("ethereum", 100, 0);
    assert_status(bly_add(filter, "test", 4), BLY_OK);
    vector_bits(filter, 0, test);
    bly_free(filter);
}

/* The test of go-ethereum: a hundred keys. */
static void test_hundred(void **state)
{
    (void)state;
    char key[64];
    bly_filter *filter = vector_new("ethereum", 100, 0);
    for (int i = 0; i < 100; i++) {
        int n = snprintf(key, sizeof key, "xxxxxxxxxx data %d yyyyyyyyyyyyyy",
                         i);
        assert_true(bly_add(filter, key, (size_t)n) >= 0);
    }
    ethereum_is(filter, "c8d3ca65cdb4874300a9e39475508f23"
                        "ed6da09fdbc487f89a2dcf50b09eb263");
    bly_free(filter);
}

static void test_words(void **state)
{
    (void)state;
    static const char *const words[] = { "testtest", "test", "hallo", "other" };
    bly_filter *filter = vector_new("ethereum", 100, 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(bly_add(filter, words[i], strlen(words[i])) >= 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(bly_contains(filter, words[i], strlen(words[i])));
    assert_false(bly_contains(filter, "tes", 3));
    assert_false(bly_contains(filter, "lo", 2));
    bly_free(filter);
}

/* Texts that end before, at and after the end of a block of 136 bytes. */
static void test_keccak(void **state)
{
    (void)state;
    static const struct { size_t n; const char *digest; } texts[] = {
        { 0, "c5d2460186f7233c927e7db2dcc703c0"
             "e500b653ca82273b7bfad8045d85a470" },
        { 1, "3ac225168df54212a25c1c01fd35bebf"
             "ea408fdac2e31ddd6f80a4bbf9a5f1cb" },
        { 135, "34367dc248bbd832f4e3e69dfaac2f92"
               "638bd0bbd18f2912ba4ef454919cf446" },
        { 136, "a6c4d403279fe3e0af03729caada8374"
               "b5ca54d8065329a3ebcaeb4b60aa386e" },
        { 137, "d869f639c7046b4929fc92a4d988a8b2"
               "2c55fbadb802c0c66ebcd484f1915f39" },
        { 272, "cf7fcd4f705ee749930d19ca84561a9b"
               "f62516bd90a471545fa2f49fdc7e63c8" },
    };
    char text[300];
    uint8_t h[DIGEST_KECCAK], wanted[DIGEST_KECCAK];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        digest_keccak(h, text, texts[i].n);
        vector_hex(wanted, texts[i].digest);
        assert_memory_equal(h, wanted, sizeof h);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    static const uint8_t bytes[257];
    vector_refused(bytes, 255, "ethereum", BLY_ECORRUPT, "has 256 bytes");
    vector_refused(bytes, 257, "ethereum", BLY_ECORRUPT, "there are 257");
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_hundred),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_keccak),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests_name("ethereum", tests, NULL, NULL);
}
