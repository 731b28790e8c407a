/* rocksdb.c - tests specific to format `rocksdb`: a filter made by RocksDB with
 * keys of every length class of its hash, and sizes.
 */
#include "test.h"
#include "vectors.h"

#include "bits/hash.h"

/* Writes key i: every third one is text, the others have 0 to 699 bytes. */
static size_t rocksdb_key(char key[700], int i)
{
    if (i % 3 == 0)
        return (size_t)snprintf(key, 700, "key-%d", i);
    size_t length = (size_t)(7 * i % 700);
    for (size_t j = 0; j < length; j++)
        key[j] = (char)((size_t)i * 31 + j * 7 + (j >> 3));
    return length;
}

/* XXH64 of the filter block (2501 bytes) that Debian's librocksdb 7.8.3 wrote
 * for a table of these keys (1988 different ones) by NewBloomFilterPolicy(10),
 * format version 5. */
static void test_their_filter(void **state)
{
    (void)state;
    char key[700];
    bly_filter *filter = vector_new("rocksdb:bits=10", 1988, 0);
    for (int i = 0; i < 2000; i++)
        assert_true(bly_add(filter, key, rocksdb_key(key, i)) >= 0);
    for (int i = 0; i < 2000; i++)
        assert_true(bly_contains(filter, key, rocksdb_key(key, i)));
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(bytes, BLY_HEADER_BYTES + 2501);
    assert_true(hash_xxh64(image + BLY_HEADER_BYTES, 2501, 0)
                == UINT64_C(0xCC0C23C5B3112178));
    bly_free(filter);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t k; } probes[] = {
        { "rocksdb:bits=1", 1 }, { "rocksdb:bits=3", 2 },
        { "rocksdb:bits=5", 3 }, { "rocksdb:bits=8", 5 },
        { "rocksdb:bits=10", 6 }, { "rocksdb:bits=14", 8 },
        { "rocksdb:bits=16", 9 }, { "rocksdb:bits=22", 11 },
        { "rocksdb:bits=25", 12 }, { "rocksdb:bits=26", 11 },
        { "rocksdb:bits=50", 23 }, { "rocksdb:bits=51", 24 },
        { "rocksdb:bits=100", 24 },
    };
    bly_plan_t plan;
    bly_spec spec = { .capacity = 100000, .rate = 0.01 };
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        assert_status(bly_plan(&plan, probes[i].kind, &spec), BLY_OK);
        assert_int_equal(plan.geometry[1], probes[i].k);
    }
    assert_status(bly_plan(&plan, "rocksdb:bits=10", &spec), BLY_OK);
    assert_int_equal(plan.geometry[0], 1954);
    assert_true(fabs(plan.rate - 9.66e-3) < 1e-4);
}

/* No lines, no keys; and files of other versions. */
static void test_files(void **state)
{
    (void)state;
    uint8_t file[69] = { 0 };
    uint8_t *tail = file + 64;
    bly_filter *filter = NULL;
    bly_info_t stat;
    memcpy(tail, "\xff\0\6\0\0", 5);
    vector none = { tail, 5 };
    assert_status(vector_open(&filter, &none, "rocksdb"), BLY_OK);
    assert_false(bly_contains(filter, "any", 3));
    assert_status(bly_add(filter, "any", 3), BLY_EFULL);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate == 0);
    bly_free(filter);
    vector_refused(file + 1, 68, "rocksdb", BLY_ECORRUPT, "are not whole");
    tail[2] = 31;
    vector_refused(file, 69, "rocksdb", BLY_ECORRUPT, "byte 66");
    tail[2] = 6;
    tail[3] = 1;
    vector_refused(file, 69, "rocksdb", BLY_ECORRUPT, "byte 67");
    tail[1] = 1;
    vector_refused(file, 69, "rocksdb", BLY_EVERSION, "byte 65: it is of a "
                                                      "later kind");
    tail[0] = 0xFE;
    vector_refused(file, 69, "rocksdb", BLY_EVERSION, "name the format "
                                                      "rocksribbon");
    tail[0] = 6;
    vector_refused(file, 69, "rocksdb", BLY_EVERSION, "before format version");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_filter),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("rocksdb", tests, NULL, NULL);
}
