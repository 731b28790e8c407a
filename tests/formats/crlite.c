/* crlite.c - tests specific to format `crlite`: a cascade written by
 * filtercascade, each hash, and invalid files.
 */
#include "test.h"
#include "vectors.h"

/* Cascades that separate in-0 .. in-19 from out-0 .. out-59: with SHA-256 and
 * salt "nacl"; with the stream and a first layer of 256 bits, where two readers
 * differ; with SHA-256 without salt, yes and no exchanged. Made by a few lines
 * of Python with its own library. */
static const char *const cascades[] = {
    "020000046e61636c0200010000020000000108028704000610703000100040024802801008"
    "01008088200409004004480040025a0000000100000002800000040000000008000000",
    "020000046e61636c0300010000020000000109020040101082120001040004000200900029"
    "0c206000212000000024140020035a00000001000000028000000200000400000000000340"
    "00000001000000030000400040000000",
    "02000100020001000002000000012000000008020040004040800048442000400708"
    "0e0000028200462803182c48",
};

enum { INVERTED = 2 };

static bool crlite_has(const bly_filter *filter, const char *stem, int i)
{
    char key[16];
    return bly_contains(filter, key,
                        (size_t)snprintf(key, sizeof key, "%s-%d", stem, i));
}

static void test_hashes(void **state)
{
    (void)state;
    uint8_t bytes[128];
    for (size_t c = 0; c < INVERTED; c++) {
        vector v = { bytes, vector_hex(bytes, cascades[c]) };
        bly_filter *filter = NULL;
        assert_status(vector_open(&filter, &v, "crlite"), BLY_OK);
        for (int i = 0; i < 20; i++)
            assert_true(crlite_has(filter, "in", i));
        for (int i = 0; i < 60; i++)
            assert_false(crlite_has(filter, "out", i));
        bly_free(filter);
    }
}

static void test_inverted(void **state)
{
    (void)state;
    uint8_t bytes[128];
    vector v = { bytes, vector_hex(bytes, cascades[INVERTED]) };
    bly_filter *filter = NULL;
    assert_status(vector_open(&filter, &v, "crlite"), BLY_OK);
    for (int i = 0; i < 20; i++)
        assert_false(crlite_has(filter, "in", i));
    for (int i = 0; i < 60; i++)
        assert_true(crlite_has(filter, "out", i));
    bly_free(filter);
}

/* SHA-256 of a number in 4 bytes, highest first, in hexadecimal: 1 to 500 are
 * listed, with two words; 501 to 10000 are not. */
static void test_their_file(void **state)
{
    (void)state;
    vector v = vector_read("crlite/test_v2_murmur_mlbf");
    bly_filter *filter = NULL;
    assert_status(vector_open(&filter, &v, "crlite"), BLY_OK);
    assert_true(bly_contains(filter, "this", 4));
    assert_true(bly_contains(filter, "that", 4));
    assert_false(bly_contains(filter, "other", 5));
    for (uint32_t i = 1; i <= 10000; i++) {
        const uint8_t number[4] = { (uint8_t)(i >> 24), (uint8_t)(i >> 16),
                                    (uint8_t)(i >> 8), (uint8_t)i };
        uint8_t digest[DIGEST_SHA256];
        char text[2 * DIGEST_SHA256 + 1];
        digest_sha256(digest, number, 4, "", 0);
        for (size_t j = 0; j < sizeof digest; j++)
            snprintf(text + 2 * j, 3, "%02x", digest[j]);
        assert_int_equal(bly_contains(filter, text, strlen(text)), i <= 500);
    }
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(fabs(stat.distinct - 502) < 5 * stat.distinct_sd);
    bly_free(filter);
    free(v.bytes);
}

/* Opens bytes: either refused with a line that names the format, or all verbs
 * end. */
static void crlite_try(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    vector v = { copy, n };
    bly_filter *filter = NULL;
    bly_info_t stat;
    if (vector_open(&filter, &v, "crlite") == BLY_OK) {
        (void)crlite_has(filter, "in", 3);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.rate >= 0 && stat.rate <= 1);
        bly_free(filter);
    } else {
        assert_non_null(strstr(bly_why(), "read as"));
    }
    free(copy);
}

static void test_hostile(void **state)
{
    (void)state;
    uint8_t bytes[128];
    for (size_t c = 0; c < sizeof cascades / sizeof *cascades; c++) {
        size_t n = vector_hex(bytes, cascades[c]);
        for (size_t end = 0; end < n; end++)
            crlite_try(bytes, end);
        for (size_t i = 0; i < n; i++)
            for (unsigned value = 0; value < 256; value++) {
                uint8_t was = bytes[i];
                bytes[i] = (uint8_t)value;
                crlite_try(bytes, n);
                bytes[i] = was;
            }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct { const char *hex, *says; } wrong[] = {
        { "0200", "byte 0: it is cut short" }, { "02000200", "byte 2" },
        { "020000010203", "byte 5: a layer is cut short" },
        { "020000000108000000010000000200", "byte 13: the layers are out" },
        { "020000000408000000010000000100", "byte 4: the hash is unknown" },
        { "02000001010108000000010000000100", "byte 3: it has a salt" },
        { "02000000010000000001000000010000", "byte 4: a layer" },
        { "020000000108000000000000000100", "byte 4: a layer" },
        { "02000000010100000003000000" "01ff", "byte 14: bits beyond" },
    };
    uint8_t bytes[32];
    bly_plan_t plan;
    bly_spec spec = { .capacity = 100 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        vector_refused(bytes, vector_hex(bytes, wrong[i].hex), "crlite",
                       BLY_ECORRUPT, wrong[i].says);
    vector_refused(bytes, vector_hex(bytes, "0300"), "crlite", BLY_EVERSION,
                   "byte 0: its version");
    assert_status(bly_plan(&plan, "crlite", &spec), BLY_EUNSUPPORTED);
    bly_filter *filter = NULL;
    vector none = { bytes, vector_hex(bytes, "02000000") };
    assert_status(vector_open(&filter, &none, "crlite"), BLY_OK);
    assert_false(bly_contains(filter, "any", 3));
    bly_free(filter);
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_inverted),
        cmocka_unit_test(test_their_file),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("crlite", tests, NULL, NULL);
}
