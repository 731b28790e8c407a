/* valkey.c - tests specific to format `valkey`: sizes, answers, growth, and
 * files with one wrong number.
 */
#include "test.h"
#include "vectors.h"

#include <math.h>

#include "bloomery/foreign.h"
#include "image/image.h"

enum { VALKEY_ROW = 38 };               /* of the first filter               */

static const uint8_t *valkey_file(const bly_filter *filter, size_t *n)
{
    const uint8_t *image = bly_image(filter, n);
    *n -= BLY_HEADER_BYTES;
    return image + BLY_HEADER_BYTES;
}

/* Key i of tests/formats/theirs.c. */
static size_t valkey_key(char key[64], uint64_t i)
{
    return (size_t)snprintf(key, 64, i % 2 == 0 ? "key-%u"
                                                : "cl\xC3\xA9-%u-\xC3\xA9",
                            (unsigned)i);
}

static bly_filter *valkey_of(const char *kind, uint64_t capacity, double rate,
                             uint64_t n)
{
    bly_filter *filter = vector_new(kind, capacity, rate);
    char key[64];
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add(filter, key, valkey_key(key, i)) >= BLY_OK);
    return filter;
}

/* Sizes as the crate of the module plans them. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double p; uint64_t bytes, k; } sizes[] = {
        { 1000, 0.01, 1199, 7 }, { 100, 0.01, 120, 7 }, { 200, 0.005, 276, 8 },
        { 400, 0.0025, 624, 9 }, { 800, 0.00125, 1392, 10 },
        { 500, 0.001, 899, 10 }, { 1, 0.99, 1, 6 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_filter *filter = vector_new("valkey", sizes[i].n, sizes[i].p);
        size_t n;
        const uint8_t *file = valkey_file(filter, &n);
        assert_int_equal(n, 30 + 69 + sizes[i].bytes);
        assert_int_equal(image_u64(file, 30), 45 + sizes[i].bytes);
        assert_int_equal(image_u64(file, VALKEY_ROW + 1), sizes[i].bytes);
        assert_int_equal(image_u32(file, VALKEY_ROW + 9), sizes[i].k);
        bly_free(filter);
    }
}

/* The crate's answers for 10000 other keys: how many it found, and the sum of
 * their numbers. */
static void test_their_answers(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint64_t capacity, n, filters, found, sum;
        double rate;
    } tests[] = {
        { "valkey", 100, 100, 1, 118, 118542374, 0.01 },
        { "valkey:expansion=0,tightening=250,seed=77", 100, 100, 1, 11,
          11047956, 0.001 },
        { "valkey", 20, 200, 4, 207, 207962066, 0.01 },
        { "valkey:expansion=1,tightening=850,seed=77", 30, 180, 6, 1590,
          1598066183, 0.05 },
    };
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        bly_filter *filter = valkey_of(tests[t].kind, tests[t].capacity,
                                       tests[t].rate, tests[t].n);
        uint64_t found = 0, sum = 0;
        bly_info_t stat;
        char key[64];
        for (uint64_t i = 1000000; i < 1010000; i++)
            if (bly_contains(filter, key, valkey_key(key, i))) {
                found++;
                sum += i;
            }
        assert_int_equal(found, tests[t].found);
        assert_int_equal(sum, tests[t].sum);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.geometry[0], tests[t].filters);
        double rate = (double)found / 10000;
        assert_true(fabs(stat.rate - rate)
                    < 0.25 * rate + TEST_SIGMAS * sqrt(rate / 10000));
        bly_free(filter);
    }
}

/* The capacity of a chain is the sum of those of its filters. */
static void growing_adds_capacity(void **state)
{
    (void)state;
    bly_filter *filter = valkey_of("valkey:expansion=3", 10, 0.001, 100);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], 3);
    assert_int_equal(stat.capacity, 10 + 30 + 90);
    bly_free(filter);
}

/* A full filter that cannot grow refuses a new key and does not change. */
static void valkey_refuses(const char *kind, double rate, bly_status status,
                           const char *says)
{
    bly_filter *filter = vector_new(kind, 1, rate);
    char key[64];
    size_t n;
    assert_status(bly_add(filter, key, valkey_key(key, 1)), BLY_OK);
    const uint8_t *file = valkey_file(filter, &n);
    vector v = { malloc(n), n };
    assert_non_null(v.bytes);
    memcpy(v.bytes, file, n);
    assert_status(bly_add(filter, key, valkey_key(key, 2)), status);
    assert_non_null(strstr(bly_why(), says));
    vector_is(filter, &v);
    assert_status(bly_add(filter, key, valkey_key(key, 1)), BLY_SEEN);
    free(v.bytes);
    bly_free(filter);
}

static void test_full(void **state)
{
    (void)state;
    valkey_refuses("valkey:expansion=0", 1e-4, BLY_EFULL, "expansion=2");
    valkey_refuses("valkey:tightening=1", 2.3e-308, BLY_ETOOBIG, "too low");
    valkey_refuses("valkey:expansion=4294967295,tightening=999", 1e-200,
                   BLY_ETOOBIG, "too large");
}

static void plans_beyond_its_limits_are_refused(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec large = { .capacity = UINT64_C(1) << 40, .rate = 0.01 };
    bly_spec many = { .capacity = UINT64_MAX, .rate = 1 - 1e-15 };
    bly_spec none = { .rate = 0.01 };
    assert_status(bly_plan(&plan, "valkey", &large), BLY_ETOOBIG);
    assert_status(bly_plan(&plan, "valkey", &many), BLY_ETOOBIG);
    assert_status(bly_plan(&plan, "valkey", &none), BLY_EPARAM);
}

/* Files of two filters with one number changed. */
static void test_refused(void **state)
{
    (void)state;
    enum { SECOND = 30 + 69 + 12 };          /* where the second begins */
    static const struct { size_t at; uint8_t is; const char *says; } wrong[] = {
        { 0, 2, "byte 0: the version is 2" },
        { 12, 0x40, "byte 5: the rate is not" },
        { 12, 0xBF, "byte 5: the rate is not" },
        { 20, 0x3F + 1, "byte 13: the tightening is not" },
        { 21, 2, "byte 21: the mark of a random seed" },
        { 22, 0, "byte 22: the number of filters is 0" },
        { 22, 3, "this filter ends beyond the file" },
        { 22, 1, "byte 111: there are bytes after the last filter" },
        { 29, 0x80, "byte 22: the number of filters" },
        { 30, 44, "beside its bits, but there are 44" },
        { 30, 56, "byte 39: its 96 bits end at byte 95" },
        { 37, 1, "byte 30: this filter ends beyond" },
        { 38, 2, "byte 38: the version is 2" },
        { 39, 0, "byte 39: the number of bytes is 0" },
        { 47, 0, "byte 47: the number of hash functions is 0" },
        { 48, 5, "byte 47: there are more than 1100" },
        { 50, 1, "byte 47: the number of hash functions" },
        { 95, 11, "byte 95: it has more keys" },
        { 102, 0x80, "byte 95: it has more keys" },
        { 103, 0, "byte 103: the capacity is not" },
        { 110, 0x80, "byte 103: the capacity is not" },
        { SECOND + 21, 1, "byte 132: the seed is not that" },
        { SECOND + 7, 0xFF, "byte 111: this filter ends beyond" },
    };
    bly_filter *filter = valkey_of("valkey", 10, 0.01, 15);
    size_t n;
    const uint8_t *file = valkey_file(filter, &n);
    uint8_t *copy = malloc(n + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(copy, file, n);
        copy[wrong[i].at] = wrong[i].is;
        bool version = strstr(wrong[i].says, "version") != NULL;
        vector_refused(copy, n, "valkey", version ? BLY_EVERSION : BLY_ECORRUPT,
                       wrong[i].says);
    }
    memcpy(copy, file, n);
    copy[n] = 0;
    vector_refused(copy, n - 1, "valkey", BLY_ECORRUPT, "ends beyond the file");
    vector_refused(copy, n + 1, "valkey", BLY_ECORRUPT, "there are bytes");
    vector_refused(copy, SECOND + 5, "valkey", BLY_ECORRUPT, "byte 111: this");
    vector_refused(copy, 99, "valkey", BLY_ECORRUPT, "at least 100 bytes");
    free(copy);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_their_answers),
        cmocka_unit_test(growing_adds_capacity),
        cmocka_unit_test(test_full),
        cmocka_unit_test(plans_beyond_its_limits_are_refused),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("valkey", tests, NULL, NULL);
}
