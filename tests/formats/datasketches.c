/* datasketches.c - tests specific to format `datasketches`: files written by
 * its C++ library.
 */
#include "test.h"
#include "vectors.h"

/* Integers are 8 bytes, lowest first. */
static size_t sketches_int(char text[64], uint64_t i)
{
    for (unsigned b = 0; b < 8; b++)
        text[b] = (char)(i >> 8 * b & 0xFF);
    return 8;
}

/* Integers below 1000, then texts that are not numbers. */
static size_t sketches_key(char text[64], uint64_t i)
{
    return sketches_int(text, i < 1000 ? i : UINT64_C(0x7FF8000000000000));
}

static void sketches_file(const char *file)
{
    vector v = vector_read(file);
    bly_filter *filter = NULL, *ours = NULL;
    bly_info_t stat;
    char text[64];
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_string_equal(bly_kind_of(filter), "datasketches");
    assert_status(bly_info(&stat, filter), BLY_OK);
    for (uint64_t i = 0; i <= 1000; i++)
        assert_true(bly_contains(filter, text, sketches_key(text, i)));
    assert_status(bly_like(&ours, filter, NULL), BLY_OK);
    for (uint64_t i = 0; i <= 1000; i++)
        assert_true(bly_add(ours, text, sketches_key(text, i)) >= 0);
    vector_is(ours, &v);
    bly_free(ours);
    bly_free(filter);
    free(v.bytes);
}

static void test_their_files(void **state)
{
    (void)state;
    sketches_file("datasketches/bf_n10000_h3_cpp.sk");
    sketches_file("datasketches/bf_n10000_h5_cpp.sk");
}

/* An empty filter is written without its bits. */
static void test_bare(void **state)
{
    (void)state;
    vector v = vector_read("datasketches/bf_n0_h3_cpp.sk");
    bly_filter *filter = NULL, *other = NULL;
    bly_info_t stat;
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_false(bly_contains(filter, "any", 3));
    assert_status(bly_add(filter, "any", 3), BLY_EFULL);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items == 0 && stat.fill == 0 && stat.rate == 0);
    assert_status(bly_like(&other, filter, NULL), BLY_OK);
    assert_status(bly_unite(filter, other), BLY_OK);
    vector_is(filter, &v);
    bly_free(other);
    bly_free(filter);
    free(v.bytes);
}

/* If -log2 p is whole, rounding the bits adds one probe. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double p; uint64_t m, k; } sizes[] = {
        { 10000, 0.01, 95872, 7 }, { 1000, 0.25, 2944, 3 }, { 1, 0.5, 64, 2 },
        { 1000, 0.001, 14400, 10 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].p };
        assert_status(bly_plan(&plan, "datasketches", &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], sizes[i].m);
        assert_int_equal(plan.geometry[1], sizes[i].k);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    uint8_t file[40] = { 4, 1, 21, 0, 3, 0 };
    file[16] = 1;
    vector_refused(file, 23, "datasketches", BLY_ECORRUPT, "at least 24 bytes");
    vector_refused(file, 39, "datasketches", BLY_ECORRUPT, "end at byte 40");
    file[0] = 3;
    vector_refused(file, 40, "datasketches", BLY_ECORRUPT, "byte 0");
    file[0] = 4, file[1] = 2;
    vector_refused(file, 40, "datasketches", BLY_EVERSION, "byte 1");
    file[1] = 1, file[2] = 7;
    vector_refused(file, 40, "datasketches", BLY_ECORRUPT, "byte 2");
    file[2] = 21, file[4] = 0;
    vector_refused(file, 40, "datasketches", BLY_ECORRUPT, "byte 4");
    file[4] = 3, file[16] = 0;
    vector_refused(file, 32, "datasketches", BLY_ECORRUPT, "byte 16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_files),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("datasketches", tests, NULL, NULL);
}
