/* poppy.c - tests specific to format `poppy`: sizes, what a full filter does,
 * unions, and short keys.
 */
#include "test.h"
#include "vectors.h"

#include "bloomery/foreign.h"
#include "image/image.h"

static const uint8_t *poppy_file(const bly_filter *filter)
{
    size_t bytes;
    return (const uint8_t *)bly_image(filter, &bytes) + BLY_HEADER_BYTES;
}

/* Sizes as Poppy plans them. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint64_t n;
        double p;
        uint64_t rows, k, cache;
    } sizes[] = {
        { "poppy", 1000, 0.01, 1, 7, 0 }, { "poppy", 10000, 0.001, 5, 10, 0 },
        { "poppy:opt=space", 5000, 0.02, 2, 6, 0 },
        { "poppy:opt=speed", 10000, 0.001, 8, 5, 16384 },
        { "poppy:opt=best", 10000, 0.001, 5, 5, 16384 },
        { "poppy:opt=best", 1, 0.5, 1, 1, 8 }, { "poppy", 10, 0.1, 1, 4, 0 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].p };
        assert_status(bly_plan(&plan, sizes[i].kind, &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], sizes[i].rows);
        assert_int_equal(plan.geometry[1], sizes[i].k);
        assert_int_equal(plan.geometry[2], sizes[i].cache);
        assert_int_equal(plan.bytes, BLY_HEADER_BYTES + 56 + sizes[i].cache / 8
                                     + 4096 * sizes[i].rows);
    }
}

/* A full filter refuses a new key and changes nothing; a member is seen. */
static void test_full(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("poppy:opt=best", 20, 0.01);
    uint8_t before[56 + 4 + 4096];
    char key[16];
    for (int i = 0; i < 20; i++)
        assert_status(bly_add(filter, key, (size_t)snprintf(key, sizeof key,
                                                            "member-%03d", i)),
                      BLY_OK);
    memcpy(before, poppy_file(filter), sizeof before);
    assert_status(bly_add(filter, "another key", 11), BLY_EFULL);
    assert_memory_equal(poppy_file(filter), before, sizeof before);
    assert_status(bly_add(filter, "member-003", 10), BLY_SEEN);
    assert_int_equal(image_u64(poppy_file(filter), 32), 20);
    bly_free(filter);
}

/* Poppy sets the count of a union to the estimate from its bits. With these
 * keys, whose first eight bytes are often equal, that is 93. */
static void test_union_counts_bits(void **state)
{
    (void)state;
    bly_filter *a = vector_new("poppy", 100, 0.01);
    bly_filter *b = vector_new("poppy", 100, 0.01);
    char key[32];
    for (int i = 0; i < 100; i++) {
        size_t n = (size_t)snprintf(key, sizeof key, i % 2 == 0 ? "key-%d"
                                    : "cl\xC3\xA9-%d-\xC3\xA9", i);
        if (i < 60)
            assert_status(bly_add(a, key, n), BLY_OK);
        if (i >= 40)
            assert_status(bly_add(b, key, n), BLY_OK);
    }
    assert_status(bly_unite(a, b), BLY_OK);
    assert_int_equal(image_u64(poppy_file(a), 32), 93);
    bly_free(a);
    bly_free(b);
}

/* Poppy does not hash keys of up to 8 bytes, and fills them with NUL bytes. */
static void test_short_keys(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("poppy", 100, 0.01);
    assert_status(bly_add(filter, "a", 1), BLY_OK);
    assert_status(bly_add(filter, "a\0\0\0\0\0\0\0", 8), BLY_SEEN);
    assert_status(bly_add(filter, "a\0\0\0\0\0\0\0\0", 9), BLY_OK);
    assert_status(bly_add(filter, "", 0), BLY_OK);
    bly_free(filter);
}

/* Bytes behind the buckets are the owner's, and are kept. */
static void test_attached_data(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("poppy", 100, 0.01), *opened = NULL, *like;
    uint8_t file[56 + 4096 + 5];
    memcpy(file, poppy_file(filter), sizeof file - 5);
    memcpy(file + sizeof file - 5, "notes", 5);
    assert_string_equal(bly_recognise(file, sizeof file, sizeof file),
                        "poppy");
    assert_status(bly_unpack(&opened, file, sizeof file, NULL), BLY_OK);
    assert_status(bly_like(&like, opened, NULL), BLY_OK);
    assert_memory_equal(poppy_file(like), file, sizeof file);
    bly_free(like);
    bly_free(opened);
    bly_free(filter);
}

/* A message names the byte at which a forged file is wrong. */
static void test_forged(void **state)
{
    (void)state;
    static const struct { size_t at; uint8_t byte; const char *why; } rows[] = {
        { 0, 1, "byte 0: the version is 1" }, { 1, 4, "byte 1: " },
        { 1, 2, "byte 40: " }, { 5, 1, "byte 5: " }, { 8, 0, "byte 8: " },
        { 23, 0xBF, "byte 16: " }, { 24, 0, "byte 24: " },
        { 41, 3, "byte 40: " }, { 48, 0, "byte 48: there are no buckets" },
        { 48, 2, "byte 48: " }, { 55, 0xFF, "byte 48: " },
    };
    bly_filter *filter = vector_new("poppy", 100, 0.01), *opened;
    bly_options options = { .format = "poppy" };
    uint8_t file[56 + 4096];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(file, poppy_file(filter), sizeof file);
        file[rows[i].at] = rows[i].byte;
        assert_status(bly_unpack(&opened, file, sizeof file, &options),
                      i == 0 ? BLY_EVERSION : BLY_ECORRUPT);
        assert_non_null(strstr(bly_why(), rows[i].why));
    }
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_union_counts_bits),
        cmocka_unit_test(test_short_keys),
        cmocka_unit_test(test_attached_data),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests_name("poppy", tests, NULL, NULL);
}
