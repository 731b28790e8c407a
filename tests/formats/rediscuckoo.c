/* rediscuckoo.c - tests specific to format `rediscuckoo`: a dump of Redis'
 * module, copies, removals, and growth.
 */
#include "test.h"
#include "vectors.h"

static size_t cuckoo_item(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "item:%d", (int)i);
}

/* Answers for 1000 keys, 500 of them added. */
static void test_their_dump(void **state)
{
    (void)state;
    vector v = vector_chunks("redisbloom/cf_small.chunks");
    vector said = vector_read("redisbloom/cf_small.probe");
    bly_filter *theirs = NULL, *ours = vector_new("rediscuckoo", 1000, 0);
    char text[64];
    assert_status(vector_open(&theirs, &v, NULL), BLY_OK);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(bly_contains(theirs, text, cuckoo_item(text, i)),
                         said.bytes[i] == '1');
    for (size_t i = 0; i < 500; i++)
        assert_true(bly_add(ours, text, cuckoo_item(text, i)) >= 0);
    vector_is(ours, &v);
    bly_free(theirs);
    bly_free(ours);
    free(v.bytes);
    free(said.bytes);
}

/* Buckets and tables after each number of keys, as in CF.INFO. */
static void test_their_sizes(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t capacity, keys, buckets,
                          tables; } sizes[] = {
        { "rediscuckoo", 1000, 500, 512, 1 },
        { "rediscuckoo:bucket=4", 1024, 1000, 256, 2 },
        { "rediscuckoo:expansion=2", 256, 1200, 128, 3 },
        { "rediscuckoo:expansion=3", 256, 10, 128, 1 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_filter *filter = vector_new(sizes[i].kind, sizes[i].capacity, 0);
        char text[64];
        bly_info_t stat;
        for (uint64_t j = 0; j < sizes[i].keys; j++)
            assert_true(bly_add(filter, text, cuckoo_item(text, j)) >= 0);
        for (uint64_t j = 0; j < sizes[i].keys; j++)
            assert_true(bly_contains(filter, text, cuckoo_item(text, j)));
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.geometry[0], sizes[i].buckets);
        assert_int_equal(stat.geometry[3], sizes[i].tables);
        bly_free(filter);
    }
}

/* Copies are counted and removed one by one; then the file differs only in the
 * number of removals. */
static void test_copies(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("rediscuckoo", 1000, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        assert_status(bly_add(filter, "key", 3), i == 1 ? BLY_OK : BLY_SEEN);
        assert_int_equal(bly_count(filter, "key", 3), i);
    }
    for (uint64_t i = 4; i-- > 0;) {
        assert_status(bly_remove(filter, "key", 3), BLY_OK);
        assert_int_equal(bly_count(filter, "key", 3), i);
    }
    assert_status(bly_remove(filter, "key", 3), BLY_EABSENT);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(image[BLY_HEADER_BYTES + 16], 4);
    for (size_t i = BLY_HEADER_BYTES + 38; i < bytes; i++)
        assert_int_equal(image[i], 0);
    bly_free(filter);
}

/* When it is full, a refused key has moved nothing. */
static void test_full(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("rediscuckoo:expansion=0,moves=500", 256,
                                    0);
    char text[64];
    size_t bytes;
    uint8_t was[512];
    uint64_t i = 0;
    bly_status status = BLY_OK;
    for (; status >= 0; i++) {
        const uint8_t *image = bly_image(filter, &bytes);
        assert_true(bytes <= sizeof was);
        memcpy(was, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
        status = bly_add(filter, text, cuckoo_item(text, i));
    }
    assert_int_equal(status, BLY_EFULL);
    assert_true(i > 200);
    vector v = { was, bytes - BLY_HEADER_BYTES };
    vector_is(filter, &v);
    for (uint64_t j = 0; j + 1 < i; j++)
        assert_true(bly_contains(filter, text, cuckoo_item(text, j)));
    bly_free(filter);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct { size_t at; uint8_t is; const char *says; } wrong[] = {
        { 7, 1, "byte 0: it has more" }, { 8, 3, "byte 8: the number" },
        { 24, 0, "byte 24: the number" }, { 32, 0, "byte 32: the number" },
        { 34, 0, "byte 34: no finger" }, { 36, 3, "byte 36: the expansion" },
        { 8, 8, "byte 8: its tables" }, { 24, 2, "byte 8: its tables" },
    };
    bly_filter *filter = vector_new("rediscuckoo", 8, 0);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t copy[64];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(copy, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
        copy[wrong[i].at] = wrong[i].is;
        vector_refused(copy, bytes - BLY_HEADER_BYTES, "rediscuckoo",
                       BLY_ECORRUPT, wrong[i].says);
    }
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_dump),
        cmocka_unit_test(test_their_sizes),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("rediscuckoo", tests, NULL, NULL);
}
