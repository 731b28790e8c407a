/* dcso.c - tests specific to format `dcso`: the system's own files, and its
 * sizes.
 */
#include "test.h"
#include "folder.h"
#include "vectors.h"

#include "bloomery/foreign.h"
#include "image/image.h"

static bly_filter *dcso_new(uint64_t n, double rate)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = n, .rate = rate };
    assert_status(bly_new(&filter, "dcso", &spec), BLY_OK);
    return filter;
}

static const uint8_t *dcso_file(const bly_filter *filter, size_t *n)
{
    const uint8_t *image = bly_image(filter, n);
    *n -= BLY_HEADER_BYTES;
    return image + BLY_HEADER_BYTES;
}

/* The system's file of three keys, "foo", "bar" and "baz". */
static void test_their_file(void **state)
{
    (void)state;
    static const char *const keys[] = { "foo", "bar", "baz" };
    vector v = vector_read("dcso/test.bloom");
    bly_filter *filter = NULL, *ours = dcso_new(1000, 1e-6);
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(bly_contains(filter, keys[i], 3));
        assert_status(bly_add(ours, keys[i], 3), BLY_OK);
    }
    assert_false(bly_contains(filter, "qux", 3));
    vector_is(ours, &v);
    bly_free(filter);
    bly_free(ours);
    free(v.bytes);
}

/* The bits of "bar" in a filter for 100000 keys at 1 %, from the system's own
 * test: we set exactly those. */
static void test_bits_of_a_key(void **state)
{
    (void)state;
    static const uint64_t bits[] = { 20311, 36825, 412501, 835777, 658914,
                                     853361, 307361 };
    bly_filter *filter = dcso_new(100000, 0.01);
    size_t n, set = 0;
    assert_status(bly_add(filter, "bar", 3), BLY_OK);
    const uint8_t *row = dcso_file(filter, &n) + 48;
    for (size_t i = 0; i < 8 * (n - 48); i++)
        set += row[i / 8] >> i % 8 & 1;
    assert_int_equal(set, 7);
    for (size_t i = 0; i < 7; i++)
        assert_true(row[bits[i] / 8] >> bits[i] % 8 & 1);
    bly_free(filter);
}

/* Sizes as the system plans them. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double p; uint64_t m, k; } sizes[] = {
        { 10000, 0.001, 143775, 10 }, { 1000, 0.001, 14377, 10 },
        { 1000, 1e-6, 28755, 20 }, { 1, 0.5, 1, 1 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].p };
        assert_status(bly_plan(&plan, "dcso", &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], sizes[i].m);
        assert_int_equal(plan.geometry[1], sizes[i].k);
    }
}

/* Attached data are kept, also when keys are added. */
static void test_attached_data_stay(void **state)
{
    (void)state;
    static const char data[] = "MISP, 2026";
    bly_filter *plain = dcso_new(50, 0.01), *filter = NULL;
    size_t n;
    const uint8_t *file = dcso_file(plain, &n);
    vector v = { malloc(n + sizeof data), n + sizeof data };
    assert_non_null(v.bytes);
    memcpy(v.bytes, file, n);
    memcpy(v.bytes + n, data, sizeof data);
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_status(bly_add(filter, "key", 3), BLY_OK);
    file = dcso_file(filter, &n);
    assert_int_equal(n, v.n);
    assert_memory_equal(file + n - sizeof data, data, sizeof data);
    bly_overlap_t overlap;
    assert_status(bly_add(plain, "other", 5), BLY_OK);
    assert_status(bly_overlap(&overlap, filter, plain), BLY_OK);
    assert_status(bly_unite(filter, plain), BLY_OK);
    assert_true(bly_contains(filter, "key", 3));
    assert_true(bly_contains(filter, "other", 5));
    assert_status(bly_unite(plain, filter), BLY_OK);
    assert_true(bly_contains(plain, "key", 3));
    file = dcso_file(filter, &n);
    assert_memory_equal(file + n - sizeof data, data, sizeof data);
    bly_free(filter);
    bly_free(plain);
    free(v.bytes);
}

/* Frees the filter after checking that these bytes are attached, end its file,
 * and that its key is found unless it should be empty. */
static void dcso_has(bly_filter *filter, const char *data, size_t bytes,
                     bool empty)
{
    const void *attached = NULL;
    size_t n, all;
    assert_status(bly_attached(&attached, &n, filter), BLY_OK);
    assert_non_null(attached);
    assert_int_equal(n, bytes);
    assert_memory_equal(attached, data, bytes);
    const uint8_t *file = dcso_file(filter, &all);
    assert_memory_equal(file + all - n, data, bytes);
    assert_int_equal(bly_contains(filter, "key", 3), !empty);
    bly_free(filter);
}

/* Returns a filter of one key with these bytes attached. */
static bly_filter *dcso_with(const char *data, size_t bytes)
{
    bly_filter *filter = dcso_new(50, 0.01);
    assert_status(bly_add(filter, "key", 3), BLY_OK);
    assert_status(bly_attach(filter, data, bytes), BLY_OK);
    return filter;
}

/* Attached data follow on every way to another filter or file. */
static void test_attached_data_go_along(void **state)
{
    (void)state;
    static const char data[] = "a\0b\n\xFF";
    enum { N = sizeof data - 1 };
    static const int ways[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY };
    bly_filter *filter = dcso_with(data, N), *other = NULL;
    uint8_t packed[1000];
    size_t n;
    assert_status(bly_copy(&other, filter, NULL), BLY_OK);
    dcso_has(other, data, N, false);
    assert_status(bly_like(&other, filter, NULL), BLY_OK);
    dcso_has(other, data, N, true);
    assert_status(bly_pack(filter, packed, sizeof packed, &n), BLY_OK);
    assert_status(bly_unpack(&other, packed, n, NULL), BLY_OK);
    dcso_has(other, data, N, false);
    for (size_t i = 0; i < 2 * sizeof ways / sizeof *ways; i++) {
        assert_status(bly_save_as(filter, "saved", i % 2 ? "dcso" : "bloomery"),
                      BLY_OK);
        assert_status(bly_open(&other, "saved", ways[i / 2], NULL), BLY_OK);
        dcso_has(other, data, N, false);
    }
    other = dcso_new(50, 0.01);
    assert_status(bly_unite(filter, other), BLY_OK);
    dcso_has(filter, data, N, false);
    bly_free(other);
}

/* Attached data can be replaced by others, by a part of themselves, and by
 * none. */
static void test_attached_data_are_replaced(void **state)
{
    (void)state;
    bly_filter *filter = dcso_with("some words", 10);
    bly_filter *plain = dcso_new(50, 0.01);
    const void *attached;
    size_t n, bytes;
    bly_info_t stat;
    assert_status(bly_attached(&attached, &n, filter), BLY_OK);
    assert_status(bly_attach(filter, (const char *)attached + 5, 5), BLY_OK);
    assert_status(bly_attached(&attached, &n, filter), BLY_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(attached, "words", 5);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items == 1 && stat.items_exact);
    assert_status(bly_attach(filter, NULL, 0), BLY_OK);
    assert_status(bly_add(plain, "key", 3), BLY_OK);
    const uint8_t *file = dcso_file(filter, &bytes);
    vector_is(plain, &(vector){ (uint8_t *)(uintptr_t)file, bytes });
    assert_status(bly_attached(&attached, &n, plain), BLY_OK);
    assert_int_equal(n, 0);
    bly_free(plain);
    dcso_has(filter, "", 0, false);
}

/* Another process writes impossible numbers into a mapped image. */
static void test_attached_data_of_a_changed_file(void **state)
{
    (void)state;
    bly_filter *filter = dcso_with("data", 4), *mapped = NULL;
    const void *attached;
    size_t n;
    assert_status(bly_save_as(filter, "saved", "bloomery"), BLY_OK);
    assert_status(bly_open(&mapped, "saved", BLY_MAP, NULL), BLY_OK);
    FILE *file = fopen("saved", "r+b");
    assert_true(file != NULL && fseek(file, IMAGE_GEOMETRY + 4, SEEK_SET) == 0
                && fputc(1, file) == 1 && fclose(file) == 0);
    assert_status(bly_attached(&attached, &n, mapped), BLY_ECORRUPT);
    bly_free(mapped);
    bly_free(filter);
}

static void *dcso_once(void *context, size_t alignment, size_t bytes)
{
    int *left = context;
    void *memory = NULL;
    return (*left)-- > 0 && posix_memalign(&memory, alignment, bytes) == 0
         ? memory : NULL;
}

static void dcso_back(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

/* A refusal leaves the filter unchanged. */
static void test_attaching_is_refused(void **state)
{
    (void)state;
    int left = 100;
    const bly_allocator allocator = { dcso_once, dcso_back, &left };
    const bly_options options = { .allocator = &allocator };
    bly_filter *filter = dcso_with("data", 4), *other = NULL;
    const void *attached;
    size_t n;
    static const char *const none[] = { "standard", "guava" };
    for (size_t i = 0; i < 2; i++) {
        other = vector_new(none[i], 50, 0.01);
        assert_status(bly_attached(&attached, &n, other), BLY_EUNSUPPORTED);
        assert_status(bly_attach(other, "x", 1), BLY_EUNSUPPORTED);
        assert_non_null(strstr(bly_why(), "formats that have one are dcso"));
        bly_free(other);
    }
    assert_status(bly_save(filter, "saved"), BLY_OK);
    assert_status(bly_open(&other, "saved", BLY_MAP, NULL), BLY_OK);
    assert_status(bly_attach(other, "x", 1), BLY_EREADONLY);
    dcso_has(other, "data", 4, false);
    assert_status(bly_save_as(filter, "saved", "bloomery"), BLY_OK);
    assert_status(bly_open(&other, "saved", BLY_MAP | BLY_WRITE, NULL), BLY_OK);
    assert_status(bly_attach(other, "x", 1), BLY_EPARAM);
    dcso_has(other, "data", 4, false);
    assert_status(bly_copy(&other, filter, &options), BLY_OK);
    left = 0;
    assert_status(bly_attach(other, "x", 1), BLY_ENOMEM);
    dcso_has(other, "data", 4, false);
    assert_status(bly_attach(filter, "x", SIZE_MAX - 7), BLY_ETOOBIG);
    dcso_has(filter, "data", 4, false);
}

/* N counts new keys; a union adds up both. */
static void test_number_of_keys(void **state)
{
    (void)state;
    bly_filter *a = dcso_new(50, 0.01), *b = dcso_new(50, 0.01);
    size_t n;
    bly_add(a, "one", 3);
    bly_add(a, "two", 3);
    bly_add(a, "one", 3);
    bly_add(b, "one", 3);
    assert_int_equal(image_u64(dcso_file(a, &n), 40), 2);
    assert_status(bly_unite(a, b), BLY_OK);
    assert_int_equal(image_u64(dcso_file(a, &n), 40), 3);
    bly_filter *other = dcso_new(51, 0.01);
    assert_status(bly_unite(a, other), BLY_EMISMATCH);
    bly_free(a);
    bly_free(b);
    bly_free(other);
}

/* Changes a field, and checks the error. */
static void dcso_refused(size_t at, uint64_t value, bly_status wanted,
                         const char *says)
{
    bly_filter *plain = dcso_new(50, 0.01), *filter = NULL;
    size_t n;
    const uint8_t *file = dcso_file(plain, &n);
    vector v = { malloc(n), n };
    assert_non_null(v.bytes);
    memcpy(v.bytes, file, n);
    image_set_u64(v.bytes, at, value);
    assert_status(vector_open(&filter, &v, "dcso"), wanted);
    if (strstr(bly_why(), says) == NULL)
        fail_msg("'%s' does not say '%s'", bly_why(), says);
    bly_free(plain);
    free(v.bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    dcso_refused(0, 2, BLY_EVERSION, "byte 0: the version");
    dcso_refused(0, 257, BLY_EVERSION, "byte 0: the version");
    dcso_refused(8, 0, BLY_ECORRUPT, "byte 8: the capacity is 0");
    dcso_refused(8, 500, BLY_ECORRUPT, "byte 32: the number of bits");
    dcso_refused(16, 0, BLY_ECORRUPT, "byte 16: the rate");
    dcso_refused(16, UINT64_C(0x7FF8000000000000), BLY_ECORRUPT, "byte 16");
    dcso_refused(24, 0, BLY_ECORRUPT, "byte 24: the number of hash functions");
    dcso_refused(24, 9, BLY_ECORRUPT, "byte 24: the number of hash functions");
    dcso_refused(24, 1089, BLY_ECORRUPT, "not 1 .. 1088");
    dcso_refused(32, 0, BLY_ECORRUPT, "byte 32: the number of bits");
    dcso_refused(32, UINT64_MAX, BLY_ECORRUPT, "not 1 .. 1152921504606846976");
    dcso_refused(48 + 56, UINT64_MAX, BLY_ECORRUPT, "bits beyond the last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_file),
        cmocka_unit_test(test_bits_of_a_key),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_attached_data_stay),
        cmocka_unit_test(test_attached_data_go_along),
        cmocka_unit_test(test_attached_data_are_replaced),
        cmocka_unit_test(test_attached_data_of_a_changed_file),
        cmocka_unit_test(test_attaching_is_refused),
        cmocka_unit_test(test_number_of_keys),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("dcso", tests, folder_enter,
                                       folder_leave);
}
