/* bip158.c - tests specific to format `bip158`: filters of Bitcoin's test
 * blocks, and invalid streams.
 */
#include "test.h"
#include "vectors.h"

/* Test-network blocks with one script each, and their filters. */
static const struct { const char *block, *script, *filter; } blocks[] = {
    { "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
      "4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6"
      "bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac",
      "019dfca8" },
    { "000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820",
      "21038a7f6ef1c8ca0c588aa53fa860128077c9e6c11e6830f4d7ee4e763a56b7718fac",
      "0174a170" },
    { "000000008b896e272758da5297bcd98fdc6d97c9b765ecec401e286dc1fdbe10",
      "2103f6d9ff4c12959445ca5549c811683bf9c88e637b222dd2e0311154c4c85cf423ac",
      "016cf7a0" },
};

static void test_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        char name[128];
        uint8_t script[80], wanted[8];
        bly_key key = { script, vector_hex(script, blocks[i].script) };
        bly_keys keys = { .n = 1, .keys = &key };
        bly_filter *filter = NULL;
        vector v = { wanted, vector_hex(wanted, blocks[i].filter) };
        snprintf(name, sizeof name, "bip158:block=%s", blocks[i].block);
        assert_status(bly_build(&filter, name, NULL, &keys),
                      BLY_OK);
        vector_is(filter, &v);
        bly_free(filter);
        assert_status(vector_open(&filter, &v, name), BLY_OK);
        assert_true(bly_contains(filter, script, key.length));
        assert_false(bly_contains(filter, script, key.length - 1));
        bly_free(filter);
    }
}

/* If the network's test vectors are present: the filter of the block with ten
 * scripts contains every script that it spends, and no others. */
static void test_spent(void **state)
{
    (void)state;
    vector v = vector_read("bip158/testnet-19.json");
    v.bytes[v.n] = '\0';
    char *at = strstr((char *)v.bytes, "49291");
    assert_non_null(at);
    uint8_t filter_bytes[64], script[256];
    const char *filter_text = strstr((char *)v.bytes, "0afbc2920af1b027");
    assert_non_null(filter_text);
    char text[128] = "";
    memcpy(text, filter_text, strcspn(filter_text, "\""));
    vector file = { filter_bytes, vector_hex(filter_bytes, text) };
    bly_filter *filter = NULL;
    assert_status(vector_open(
        &filter, &file, "bip158:block=0000000018b07dca1b28b4b5a119f6d6"
        "e71698ce1ed96f143f54179ce177a19c"), BLY_OK);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, 10);
    size_t found = 0;
    char *end = strchr(strchr(at, '['), ']');
    for (char *s = strchr(at, '['); (s = strpbrk(s, "\"")) && s < end;) {
        size_t n = strcspn(++s, "\"");
        s[n] = '\0';
        found += bly_contains(filter, script, vector_hex(script, s));
        assert_false(bly_contains(filter, script, 3));
        s += n + 1;
    }
    assert_int_equal(found, 8);
    bly_free(filter);
    free(v.bytes);
}

/* Repeated keys count once; no keys make one byte of 0. */
static void test_repeated(void **state)
{
    (void)state;
    static const char name[] = "bip158:block=00000000000000000000000000000000"
                               "00000000000000000000000000000001";
    bly_key same[300];
    bly_filter *filter = NULL;
    bly_keys keys = { .n = 300, .keys = same }, none = { .n = 0, .keys = same };
    for (size_t i = 0; i < 300; i++)
        same[i] = (bly_key){ "same", 4 };
    assert_status(bly_build(&filter, name, NULL, &keys), BLY_OK);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.distinct == 1 && stat.bytes == BLY_HEADER_BYTES + 4);
    bly_free(filter);
    assert_status(bly_build(&filter, name, NULL, &none), BLY_OK);
    uint8_t zero = 0;
    vector v = { &zero, 1 };
    vector_is(filter, &v);
    assert_false(bly_contains(filter, "same", 4));
    bly_free(filter);
}

static void test_refused(void **state)
{
    (void)state;
    static const char name[] = "bip158:block=00000000000000000000000000000000"
                               "00000000000000000000000000000001";
    static const struct { const char *hex, *says; } wrong[] = {
        { "", "byte 0: the number" }, { "fd", "byte 0: the number" },
        { "fd0100", "byte 0: the number" }, { "05ffffff", "byte 0: it has" },
        { "01ffffff", "byte 4: the keys end" },
        { "019dfca801", "byte 4: there are bytes" },
        { "019dfca9", "byte 3: the bits" },
    };
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        vector_refused(bytes, vector_hex(bytes, wrong[i].hex), name,
                       BLY_ECORRUPT, wrong[i].says);
    vector_refused(bytes, vector_hex(bytes, "019dfca8"), "bip158", BLY_EPARAM,
                   "block=HASH");
    vector_refused(bytes, 4, "bip158:block=12", BLY_EOPTION,
                   "64 hexadecimal digits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_spent),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("bip158", tests, NULL, NULL);
}
