/* parquet.c - tests specific to format `parquet`: a filter of the project's
 * test data, its sizes, and invalid headers.
 */
#include "test.h"
#include "folder.h"
#include "vectors.h"

#include "bloomery/foreign.h"
#include "image/image.h"

static const char *const parquet_keys[] = {
    "hello", "parquet", "bloom", "filter",
};

static void test_their_filter(void **state)
{
    (void)state;
    vector v = vector_read("parquet/bloom_filter.xxhash.bin");
    bly_filter *filter = NULL, *ours = NULL;
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_string_equal(bly_kind_of(filter), "parquet");
    assert_status(bly_like(&ours, filter, NULL), BLY_OK);
    for (size_t i = 0; i < 4; i++) {
        const char *key = parquet_keys[i];
        assert_true(bly_contains(filter, key, strlen(key)));
        assert_status(bly_add(ours, key, strlen(key)), BLY_OK);
    }
    assert_false(bly_contains(filter, "iceberg", 7));
    vector_is(ours, &v);
    bly_free(ours);
    bly_free(filter);
    free(v.bytes);
}

/* The older form, with murmur3 and another header. */
static void test_older_form(void **state)
{
    (void)state;
    vector v = vector_read("parquet/bloom_filter.bin");
    vector_refused(v.bytes, v.n, "parquet", BLY_ECORRUPT, "older, or cut");
    free(v.bytes);
}

/* The bits are those of kind split with xxh64 and the same size. */
static void test_bits_are_those_of_split(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("parquet", 1000, 0.01), *split = NULL;
    bly_spec spec = { .capacity = 1000, .hash = "xxh64" };
    size_t bytes, split_bytes;
    char kind[32];
    const uint8_t *image = bly_image(filter, &bytes);
    snprintf(kind, sizeof kind, "split:m=%d", (int)(8 * (bytes - 128 - 16)));
    assert_status(bly_new(&split, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t key = test_random(1, i);
        bly_add(filter, &key, sizeof key);
        bly_add(split, &key, sizeof key);
    }
    image = bly_image(filter, &bytes);
    const uint8_t *other = bly_image(split, &split_bytes);
    assert_int_equal(bytes - 128 - 16, split_bytes - 128);
    assert_memory_equal(image + 128 + 16, other + 128, split_bytes - 128);
    bly_free(filter);
    bly_free(split);
}

/* Each is written as the other, with exactly the same keys. */
static void test_written_as_split(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("parquet", 1000, 0.01), *other = NULL;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t key = test_random(1, i);
        bly_add(filter, &key, sizeof key);
    }
    uint8_t packed[4096];
    size_t n = 0;
    assert_said(bly_save_as(filter, "saved", "split"), BLY_OK);
    assert_said(bly_pack_as(filter, "split", packed, sizeof packed, &n),
                BLY_OK);
    assert_true(folder_file_is("saved", packed, n));
    assert_said(bly_open(&other, "saved", BLY_MAP | BLY_VERIFY, NULL), BLY_OK);
    assert_string_equal(bly_kind_of(other), "split");
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t key = test_random(1, i);
        assert_int_equal(bly_contains(filter, &key, sizeof key),
                         bly_contains(other, &key, sizeof key));
    }
    assert_said(bly_save_as(other, "again", "parquet"), BLY_OK);
    assert_said(bly_pack_as(other, "parquet", packed, sizeof packed, &n),
                BLY_OK);
    assert_true(folder_file_is("again", packed, n));
    bly_free(other);
    assert_said(bly_open(&other, "again", 0, NULL), BLY_OK);
    size_t bytes;
    const uint8_t *image = bly_image(other, &bytes);
    vector_is(filter, &(vector){ (uint8_t *)(uintptr_t)image + BLY_HEADER_BYTES,
                                 bytes - BLY_HEADER_BYTES });
    bly_free(filter);
    bly_free(other);
}

/* Refused: another hash function, a seed, too many bits, another kind. */
static void test_not_written_as_parquet(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *hash;
        uint64_t    seed;
        bly_status  status;
    } not[] = {
        { "split:m=1024", "xxh3", 0, BLY_EUNSUPPORTED },
        { "split:m=1024", "xxh64", 1, BLY_EUNSUPPORTED },
        { "blocked:m=1024", "xxh64", 0, BLY_EUNSUPPORTED },
        { "split:m=1073742080", "xxh64", 0, BLY_ETOOBIG },
    };
    for (size_t i = 0; i < sizeof not / sizeof *not; i++) {
        bly_spec spec = { .capacity = 100, .hash = not[i].hash,
                          .seed = not[i].seed };
        bly_filter *filter = NULL;
        assert_said(bly_new(&filter, not[i].kind, &spec), BLY_OK);
        assert_status(bly_save_as(filter, "none", "parquet"), not[i].status);
        assert_null(fopen("none", "rb"));
        bly_free(filter);
    }
}

/* The size is a power of two, at least 32 bytes. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double p; uint64_t bytes; } sizes[] = {
        { 1, 0.01, 32 }, { 10, 0.01, 32 }, { 100, 0.01, 128 },
        { 1000, 0.01, 2048 }, { 1000000, 0.01, 1 << 21 },
        { 10000000, 0.05, 1 << 24 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].p };
        assert_status(bly_plan(&plan, "parquet", &spec), BLY_OK);
        assert_int_equal(32 * plan.geometry[0], sizes[i].bytes);
        assert_int_equal(plan.bytes, 128 + plan.geometry[1] + sizes[i].bytes);
        assert_true(plan.rate <= 2 * sizes[i].p);
    }
    bly_plan_t plan;
    bly_spec large = { .capacity = 1000000000, .rate = 0.01 };
    assert_status(bly_plan(&plan, "parquet", &large), BLY_ETOOBIG);
}

static void test_refusals(void **state)
{
    (void)state;
    uint8_t file[64] = {
        0x15, 0x40, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0,
    };
    bly_filter *filter = NULL;
    vector v = { file, 15 + 32 };
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    bly_free(filter);
    vector_refused(file, 14, "parquet", BLY_ECORRUPT, "cut short");
    vector_refused(file, 46, "parquet", BLY_ECORRUPT, "47 in all");
    file[1] = 0x42;
    vector_refused(file, 48, "parquet", BLY_ECORRUPT, "not whole blocks");
    file[1] = 0x41;
    vector_refused(file, 47, "parquet", BLY_ECORRUPT, "byte 0");
    file[1] = 0x40, file[6] = 0x2C;
    vector_refused(file, 47, "parquet", BLY_ECORRUPT, "byte 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_filter),
        cmocka_unit_test(test_older_form),
        cmocka_unit_test(test_bits_are_those_of_split),
        cmocka_unit_test(test_written_as_split),
        cmocka_unit_test(test_not_written_as_parquet),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("parquet", tests, folder_enter,
                                       folder_leave);
}
