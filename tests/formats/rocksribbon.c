/* rocksribbon.c - tests specific to format `rocksribbon`: filters made by
 * RocksDB, sizes and rates, blocks that are refused, and equal answers from all
 * code paths.
 */
#include "test.h"
#include "vectors.h"

#include "base/cpu.h"
#include "bits/hash.h"
#include "hex.h"

#define RIBBON_FOLDER TEST_SOURCE_DIR "/tests/formats/theirs/"

enum { RIBBON_KEY = 320 };

typedef size_t ribbon_key(char key[RIBBON_KEY], unsigned i);

static size_t ribbon_plain(char key[RIBBON_KEY], unsigned i)
{
    return (size_t)snprintf(key, RIBBON_KEY, "key-%08u", i);
}

static size_t ribbon_nine(char key[RIBBON_KEY], unsigned i)
{
    return (size_t)snprintf(key, RIBBON_KEY, "nk-%08u", i);
}

/* 6 to 305 bytes, most of them above 127. */
static size_t ribbon_long(char key[RIBBON_KEY], unsigned i)
{
    size_t length = (size_t)snprintf(key, RIBBON_KEY, "%06u", i);
    for (unsigned j = 0; j < i % 300; j++)
        key[length++] = (char)(128 + (i * 7 + j * 13) % 128);
    return length;
}

/* Returns a filter of keys 0 .. n - 1, in this order. */
static bly_filter *ribbon_of(const char *kind, ribbon_key *key, unsigned n)
{
    bly_key *keys = malloc(n * (sizeof *keys + RIBBON_KEY));
    bly_filter *filter = NULL;
    assert_non_null(keys);
    char *text = (char *)(keys + n);
    for (unsigned i = 0; i < n; i++, text += RIBBON_KEY)
        keys[i] = (bly_key){ text, key(text, i) };
    bly_keys all = { .n = n, .keys = keys };
    assert_status(bly_build(&filter, kind, NULL, &all), BLY_OK);
    free(keys);
    return filter;
}

static vector ribbon_read(const char *name)
{
    char path[512];
    vector v = { NULL, 0 };
    snprintf(path, sizeof path, "%srocksribbon-%s.hex", RIBBON_FOLDER, name);
    if (!hex_read(path, &v.bytes, &v.n))
        fail_msg("cannot read %s", path);
    return v;
}

/* ---- Their filters ------------------------------------------------------ */

static void test_their_filters(void **state)
{
    (void)state;
    static const struct {
        const char *file, *kind;
        ribbon_key *key;
        unsigned    n;
    } theirs[] = {
        { "1000", "rocksribbon:bits=10", ribbon_plain, 1000 },
        { "2000", "rocksribbon:bits=4,thousandths=600", ribbon_plain, 2000 },
        { "200", "rocksribbon:bits=50", ribbon_plain, 200 },
        { "new", "rocksribbon:bits=10", ribbon_nine, 3000 },
    };
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        char key[RIBBON_KEY];
        vector v = ribbon_read(theirs[i].file);
        bly_filter *ours = ribbon_of(theirs[i].kind, theirs[i].key,
                                     theirs[i].n);
        bly_filter *filter = NULL;
        assert_status(vector_open(&filter, &v, "rocksribbon"), BLY_OK);
        for (unsigned j = 0; j < theirs[i].n; j++)
            assert_true(bly_contains(filter, key, theirs[i].key(key, j)));
        vector_is(ours, &v);
        bly_free(filter);
        bly_free(ours);
        free(v.bytes);
    }
}

/* Sizes and XXH64 of filters that librocksdb 7.8.3 wrote. */
static void test_their_larger_filters(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        ribbon_key *key;
        unsigned    n;
        size_t      bytes;
        uint64_t    sum;
    } theirs[] = {
        { "rocksribbon:bits=20", ribbon_long, 3000, 4853,
          UINT64_C(0xC8117EDE00E98C46) },
        { "rocksribbon:bits=100", ribbon_plain, 1000, 4101,
          UINT64_C(0x7BE1D475B4BEC039) },
    };
    for (size_t i = 0; i < 2; i++) {
        bly_filter *filter = ribbon_of(theirs[i].kind, theirs[i].key,
                                       theirs[i].n);
        size_t bytes;
        const uint8_t *image = bly_image(filter, &bytes);
        assert_int_equal(bytes, BLY_HEADER_BYTES + theirs[i].bytes);
        assert_true(hash_xxh64(image + BLY_HEADER_BYTES, theirs[i].bytes, 0)
                    == theirs[i].sum);
        bly_free(filter);
    }
}

/* The answers of librocksdb for keys that are not in the table, a tenth of
 * which pass. */
static void test_their_answers(void **state)
{
    (void)state;
    static const char answers[] =
        "0100000100011000010000000000000000001000000001000001000000001000"
        "1000010000000000000000010000000100000001000000000000000000000100"
        "0000010000000000000000000000100100000001010001010000000000000000"
        "00000000";
    vector v = ribbon_read("2000");
    bly_filter *filter = NULL;
    assert_status(vector_open(&filter, &v, "rocksribbon"), BLY_OK);
    for (unsigned i = 0; i < sizeof answers - 1; i++) {
        char key[RIBBON_KEY];
        size_t length = ribbon_plain(key, 10 * i);
        key[length++] = 'x';
        assert_int_equal(bly_contains(filter, key, length),
                         answers[i] == '1');
    }
    bly_free(filter);
    free(v.bytes);
}

/* ---- Builds ------------------------------------------------------------- */

/* Versions of a key, which follow each other, do not make a filter larger; nor
 * do repeats elsewhere make it fail. */
static void test_repeats(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint64_t hashes[2 * N];
    bly_filter *once = NULL, *twice = NULL, *apart = NULL;
    for (size_t i = 0; i < N; i++)
        hashes[2 * i] = hashes[2 * i + 1] = test_random(1, i);
    bly_keys all = { .n = 2 * N, .hashes = hashes };
    assert_status(bly_build(&twice, "rocksribbon:bits=10", NULL, &all), BLY_OK);
    for (size_t i = 0; i < N; i++)
        hashes[i] = hashes[i + N] = test_random(1, i);
    assert_status(bly_build(&apart, "rocksribbon:bits=10", NULL, &all), BLY_OK);
    all.n = N;
    assert_status(bly_build(&once, "rocksribbon:bits=10", NULL, &all), BLY_OK);
    size_t bytes, others;
    const void *image = bly_image(once, &bytes);
    const void *other = bly_image(twice, &others);
    assert_int_equal(bytes, others);
    assert_memory_equal((const char *)image + BLY_HEADER_BYTES,
                        (const char *)other + BLY_HEADER_BYTES,
                        bytes - BLY_HEADER_BYTES);
    for (size_t i = 0; i < N; i++)
        assert_true(bly_contains_hash(apart, hashes[i]));
    bly_free(once);
    bly_free(twice);
    bly_free(apart);
}

/* Any rate is kept, with at most a block's columns to spare, and in `info` the
 * rate of the plan. */
static void test_rates_are_kept(void **state)
{
    (void)state;
    for (double rate = 0.97; rate > 2.4e-10; rate *= 0.83)
        for (uint64_t n = 1; n <= 1000000; n *= 100) {
            bly_plan_t plan;
            bly_spec spec = { .capacity = n, .rate = rate };
            assert_status(bly_plan(&plan, "rocksribbon", &spec), BLY_OK);
            double starts = 128 * (double)plan.geometry[0] - 127;
            assert_true(plan.rate <= rate);
            assert_true(plan.rate >= rate * fmax(1 - 128 / starts, 0.5));
        }
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n, blocks; } sizes[] = {
        { 1, 2 }, { 200, 2 }, { 1000, 8 }, { 5000, 40 }, { 100000, 809 },
        { 1000000, 8184 }, { 10000000, 82850 },
    };
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_spec spec = { .capacity = sizes[i].n };
        assert_status(bly_plan(&plan, "rocksribbon:bits=10", &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], sizes[i].blocks);
    }
    bly_spec most = { .capacity = 950000000 }, more = { .capacity = 950000001 };
    bly_spec low = { .capacity = 1000, .rate = 1e-10 };
    bly_spec some = { .capacity = 1000 };
    assert_status(bly_plan(&plan, "rocksribbon", &most), BLY_OK);
    assert_status(bly_plan(&plan, "rocksribbon", &more), BLY_ETOOBIG);
    assert_status(bly_plan(&plan, "rocksribbon", &low), BLY_EPARAM);
    assert_status(bly_plan(&plan, "rocksribbon:thousandths=5", &some),
                  BLY_EPARAM);
}

/* ---- Lookups ------------------------------------------------------------ */

/* Batches of each processor answer as lookups one by one do. */
static void ribbon_all_ways(const bly_filter *filter, const uint64_t *hashes,
                            size_t n)
{
    bool present[2000];
    assert_true(n <= sizeof present);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        if (cpu_limit(level) != level)
            continue;
        bly_contains_hashes(filter, hashes, n, present);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(present[i], bly_contains_hash(filter, hashes[i]));
    }
    cpu_limit(CPU_AVX512);
}

/* For each number of columns, in filters that are mostly beginning and end. */
static void test_all_ways(void **state)
{
    (void)state;
    enum { N = 1000, ASKED = 2 * N };
    uint64_t hashes[ASKED];
    for (size_t i = 0; i < ASKED; i++)
        hashes[i] = test_random(2, i);
    for (double rate = 0.9; rate > 2.4e-10; rate *= 0.7)
        for (size_t n = 10; n <= N; n *= 10) {
            bly_filter *filter = NULL;
            bly_spec spec = { .rate = rate };
            bly_keys all = { .n = n, .hashes = hashes };
            assert_status(bly_build(&filter, "rocksribbon", &spec, &all),
                          BLY_OK);
            for (size_t i = 0; i < n; i++)
                assert_true(bly_contains_hash(filter, hashes[i]));
            ribbon_all_ways(filter, hashes, ASKED);
            bly_free(filter);
        }
}

/* ---- Files -------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    enum { SEGMENTS = 20, TAIL = 16 * SEGMENTS };
    uint8_t file[TAIL + 5] = { 0 };
    uint8_t *tail = file + TAIL;
    bly_filter *filter = NULL;
    memcpy(tail, "\xfe\7\2\0\0", 5);
    vector good = { file, sizeof file };
    assert_status(vector_open(&filter, &good, "rocksribbon"), BLY_OK);
    bly_free(filter);
    vector_refused(file, 4, "rocksribbon", BLY_ECORRUPT, "there are 4");
    vector_refused(file + 1, sizeof file - 1, "rocksribbon", BLY_ECORRUPT,
                   "byte 0: the segments");
    vector_refused(tail, 5, "rocksribbon", BLY_ECORRUPT, "or none");
    tail[2] = 1;
    vector_refused(file, sizeof file, "rocksribbon", BLY_ECORRUPT,
                   "byte 322: there are fewer than 2 blocks");
    tail[0] = 0xFF;
    vector_refused(file, sizeof file, "rocksribbon", BLY_EVERSION,
                   "byte 320: it is a Bloom filter: name the format rocksdb");
    tail[0] = 6;
    vector_refused(file, sizeof file, "rocksribbon", BLY_EVERSION,
                   "before format version 5");
    tail[0] = 0;
    vector_refused(file, sizeof file, "rocksribbon", BLY_EVERSION,
                   "matches every key");
    tail[0] = 0x80;
    vector_refused(file, sizeof file, "rocksribbon", BLY_EVERSION,
                   "unknown kind");
}

/* Columns are counted in both blocks; 32 each are the most. */
static void test_most_columns(void **state)
{
    (void)state;
    enum { MOST = 16 * 64 };
    uint8_t file[MOST + 16 + 5] = { 0 };
    bly_filter *filter = NULL;
    bly_info_t stat;
    memcpy(file + MOST, "\xfe\7\2\0\0", 5);
    vector most = { file, MOST + 5 };
    assert_status(vector_open(&filter, &most, "rocksribbon"), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate == ldexp(1, -32));
    bly_free(filter);
    memset(file + MOST, 0, 16);
    memcpy(file + MOST + 16, "\xfe\7\2\0\0", 5);
    vector_refused(file, sizeof file, "rocksribbon", BLY_ECORRUPT,
                   "byte 1042: there are too few blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_filters),
        cmocka_unit_test(test_their_larger_filters),
        cmocka_unit_test(test_their_answers),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_rates_are_kept),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_all_ways),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_most_columns),
    };
    return cmocka_run_group_tests_name("rocksribbon", tests, NULL, NULL);
}
