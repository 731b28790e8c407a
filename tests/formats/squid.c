/* squid.c - tests specific to format `squid`: places of URLs, its numbers, and
 * the method of the requests.
 */
#include "test.h"
#include "vectors.h"

static void test_places(void **state)
{
    (void)state;
    static const char *const urls[] = { "http://www.example.com/",
                                        "http://example.org/index.html" };
    static const int bits[][5] = { { 369, 2081, 231, 1706, -1 },
                                   { 835, 3850, 194, 2733, -1 } };
    static const uint8_t head[22] = {
        0, 5, 0, 3, 0, 0, 3, 0xE8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0x71, 5, 4,
    };
    for (size_t i = 0; i < 2; i++) {
        size_t bytes;
        bly_filter *filter = vector_new("squid:bits=5", 1000, 0);
        assert_status(bly_add(filter, urls[i], strlen(urls[i])), BLY_OK);
        vector_bits(filter, 128, bits[i]);
        const uint8_t *image = bly_image(filter, &bytes);
        assert_int_equal(bytes, BLY_HEADER_BYTES + 128 + 625);
        assert_memory_equal(image + BLY_HEADER_BYTES, head, sizeof head);
        bly_free(filter);
    }
}

/* 5 bits an entry: 9.2 %. */
static void test_rates(void **state)
{
    (void)state;
    static const struct { const char *kind; double rate; } rates[] = {
        { "squid:bits=4", 0.1597 }, { "squid:bits=5", 0.0920 },
        { "squid:bits=6", 0.0561 }, { "squid:bits=8", 0.0240 },
    };
    bly_plan_t plan, fewer;
    bly_spec spec = { .capacity = 100000, .rate = 0.01 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        assert_status(bly_plan(&plan, rates[i].kind, &spec), BLY_OK);
        assert_true(fabs(plan.rate - rates[i].rate) < 1e-4);
    }
    assert_status(bly_plan(&plan, "squid", &spec), BLY_OK);
    assert_true(plan.rate <= 0.01);
    assert_status(bly_plan(&fewer, "squid:bits=10", &spec), BLY_OK);
    assert_true(fewer.rate > 0.01 && plan.bytes > fewer.bytes);
    spec.rate = 1e-9;
    assert_status(bly_plan(&plan, "squid", &spec), BLY_EPARAM);
}

/* With few entries, the rest of the last byte is used as well; files can be
 * read back. */
static void test_few(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 9; n++)
        for (double rate = 0.5; rate > 1e-6; rate /= 1.7) {
            bly_filter *filter = vector_new("squid", n, rate), *again = NULL;
            size_t bytes;
            const uint8_t *image = bly_image(filter, &bytes);
            vector v = { (uint8_t *)(uintptr_t)image + BLY_HEADER_BYTES,
                         bytes - BLY_HEADER_BYTES };
            assert_status(vector_open(&again, &v, NULL), BLY_OK);
            bly_free(again);
            bly_free(filter);
        }
}

/* A URL stored for GET is not found for POST. */
static void test_methods(void **state)
{
    (void)state;
    static const char url[] = "http://www.example.com/";
    bly_filter *post = vector_new("squid:method=post", 1000, 0), *filter;
    assert_status(bly_add(post, url, sizeof url - 1), BLY_OK);
    size_t bytes;
    const uint8_t *image = bly_image(post, &bytes);
    vector v = { (uint8_t *)(uintptr_t)image + BLY_HEADER_BYTES,
                 bytes - BLY_HEADER_BYTES };
    assert_status(vector_open(&filter, &v, "squid:method=post"), BLY_OK);
    assert_true(bly_contains(filter, url, sizeof url - 1));
    bly_free(filter);
    assert_status(vector_open(&filter, &v, "squid"), BLY_OK);
    assert_false(bly_contains(filter, url, sizeof url - 1));
    bly_free(filter);
    assert_status(vector_open(&filter, &v, "squid:method=put"), BLY_EOPTION);
    bly_free(post);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct { size_t at; uint8_t is; const char *says; } wrong[] = {
        { 4, 0xFF, "byte 4: the capacity" }, { 8, 0x80, "byte 8: the number" },
        { 12, 0x80, "byte 12: the number" },
        { 20, 0, "byte 20: an entry has no bits" },
        { 21, 3, "byte 21: the number of hash" },
        { 19, 1, "byte 16: the size of the mask" },
        { 3, 6, "version 6 to be read" }, { 1, 2, "has version 2" },
    };
    bly_filter *filter = vector_new("squid:bits=5", 1000, 0);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(copy, image, bytes);
        copy[BLY_HEADER_BYTES + wrong[i].at] = wrong[i].is;
        vector_refused(copy + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES,
                       "squid", i < 6 ? BLY_ECORRUPT : BLY_EVERSION,
                       wrong[i].says);
    }
    free(copy);
    bly_free(filter);
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("squid", tests, NULL, NULL);
}
