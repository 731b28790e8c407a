/* leveldb.c - tests specific to format `leveldb`: filters made by LevelDB, and
 * its sizes.
 */
#include "test.h"
#include "vectors.h"

static size_t leveldb_text(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "key-%d", (int)i);
}

static void test_their_filters(void **state)
{
    (void)state;
    vector_needs("leveldb/str_b10_n1000.filter");
    vector_probes("leveldb/str_b10_n1000.filter", "leveldb/str_b10_n1000.probe",
                  "leveldb", leveldb_text,
                  vector_new("leveldb:bits=10", 1000, 0), 1000);
    vector_probes("leveldb/one_b10.filter", "leveldb/one_b10.probe", "leveldb",
                  leveldb_text, vector_new("leveldb:bits=10", 1, 0), 1);
    vector_probes("leveldb/empty_b10.filter", "leveldb/empty_b10.probe",
                  "leveldb", leveldb_text, vector_new("leveldb:bits=10", 1, 0),
                  0);
}

/* Bytes and k, as the policy makes them. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n, bits, bytes, k; } sizes[] = {
        { 1000, 10, 1251, 6 }, { 100, 1, 14, 1 }, { 500, 20, 1251, 13 },
        { 50, 50, 314, 30 }, { 10000, 10, 12501, 6 }, { 300, 12, 451, 8 },
        { 1, 10, 9, 6 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char kind[32];
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n };
        snprintf(kind, sizeof kind, "leveldb:bits=%d", (int)sizes[i].bits);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_int_equal(plan.bytes, BLY_HEADER_BYTES + sizes[i].bytes);
        assert_int_equal(plan.geometry[1], sizes[i].k);
    }
}

/* The fewest bits that keep a rate, and a rate that none keeps. */
static void test_rates(void **state)
{
    (void)state;
    bly_plan_t plan, fewer;
    bly_spec spec = { .capacity = 10000, .rate = 0.01 };
    assert_status(bly_plan(&plan, "leveldb", &spec), BLY_OK);
    assert_true(plan.rate <= 0.01);
    assert_status(bly_plan(&fewer, "leveldb:bits=9", &spec), BLY_OK);
    assert_true(fewer.rate > 0.01 && plan.geometry[0] == 100000);
    spec.rate = 1e-60;
    assert_status(bly_plan(&plan, "leveldb", &spec), BLY_EPARAM);
}

/* More than 30 probes are reserved: any key may be contained. */
static void test_reserved(void **state)
{
    (void)state;
    uint8_t file[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 31 };
    vector v = { file, sizeof file };
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(vector_open(&filter, &v, "leveldb"), BLY_OK);
    assert_true(bly_contains(filter, "any", 3));
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate == 1);
    bly_free(filter);
    file[8] = 30;
    assert_status(vector_open(&filter, &v, "leveldb"), BLY_OK);
    assert_false(bly_contains(filter, "any", 3));
    bly_free(filter);
    vector_refused(file, 1, "leveldb", BLY_ECORRUPT, "has 2 to 2^29 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_filters),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_reserved),
    };
    return cmocka_run_group_tests_name("leveldb", tests, NULL, NULL);
}
