/* redisbloom.c - tests specific to format `redisbloom`: dumps of Redis'
 * module, and how they grow.
 */
#include "test.h"
#include "vectors.h"

#include <math.h>

static size_t redis_item(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "item:%d", (int)i);
}

/* A dump answers like the server did for the same keys, and our own filter of
 * the first n keys makes the same dump. */
static void redis_is(const char *dump, const char *answers, size_t asked,
                     size_t n)
{
    vector v = vector_chunks(dump), said = vector_read(answers);
    bly_filter *theirs = NULL, *ours = vector_new("redisbloom", 100, 0.01);
    char text[64];
    assert_status(vector_open(&theirs, &v, NULL), BLY_OK);
    for (size_t i = 0; i < asked; i++)
        assert_int_equal(bly_contains(theirs, text, redis_item(text, i)),
                         said.bytes[i] == '1');
    for (size_t i = 0; i < n; i++)
        assert_true(bly_add(ours, text, redis_item(text, i)) >= 0);
    vector_is(ours, &v);
    bly_free(theirs);
    bly_free(ours);
    free(v.bytes);
    free(said.bytes);
}

static void test_their_dumps(void **state)
{
    (void)state;
    redis_is("redisbloom/bf_small.chunks", "redisbloom/bf_small.probe", 2000,
             100);
}

/* Four links, of 100, 200, 400 and 800 keys: 1491 of 1500 were new. */
static void test_their_growth(void **state)
{
    (void)state;
    redis_is("redisbloom/bf_scaled.chunks", "redisbloom/bf_scaled.probe",
             10000, 1500);
}

/* Ints 0 .. 3999 at 0.001 in 100: a client's own test counts 3997 new ones. A
 * chain whose first link is for 10 keys exceeds the requested rate. */
static void test_their_count(void **state)
{
    (void)state;
    static const struct { int n; uint64_t capacity, links; double rate;
                          uint64_t fresh; double counted; } tests[] = {
        { 100, 10, 4, 0.01, 99, 0.0208 },
        { 4000, 100, 6, 0.001, 3997, 0.0016 },
    };
    for (size_t t = 0; t < 2; t++) {
        bly_filter *filter = vector_new("redisbloom", tests[t].capacity,
                                        tests[t].rate);
        char text[16];
        uint64_t fresh = 0;
        for (int i = 0; i < tests[t].n; i++)
            fresh += bly_add(filter, text,
                             (size_t)snprintf(text, sizeof text, "%d", i))
                  == BLY_OK;
        assert_int_equal(fresh, tests[t].fresh);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.geometry[0], tests[t].links);
        assert_true(fabs(stat.rate / tests[t].counted - 1) < 0.15);
        bly_free(filter);
    }
}

/* docs/reference/redis.md gives the rates of chains whose first link is small;
 * filters differ by a fifth. */
static void small_links_err_more(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t capacity; int n;
                          double asked, counted; } chains[] = {
        { "redisbloom", 1000, 20000, 0.01, 0.0096 },
        { "redisbloom", 10, 20000, 0.01, 0.019 },
        { "redisbloom", 1, 20000, 0.01, 0.035 },
        { "redisbloom:growth=1", 10, 5000, 0.01, 0.070 },
        { "redisbloom:growth=1", 1, 2000, 0.01, 0.52 },
        { "redisbloom", 10, 20000, 0.001, 0.0044 },
    };
    enum { STRANGERS = 5000 };
    TEST_STATISTICS();
    for (size_t t = 0; t < sizeof chains / sizeof *chains; t++) {
        bly_filter *filter = vector_new(chains[t].kind, chains[t].capacity,
                                        chains[t].asked);
        char text[64];
        double found = 0, rate = chains[t].counted;
        for (int i = 0; i < chains[t].n; i++)
            assert_true(bly_add(filter, text, redis_item(text, (uint64_t)i))
                        >= BLY_OK);
        for (uint64_t i = 0; i < STRANGERS; i++)
            found += bly_contains(filter, text,
                                  redis_item(text, 1000000 + i));
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        double band = 0.25 * rate + TEST_SIGMAS * sqrt(rate / STRANGERS);
        assert_true(fabs(found / STRANGERS - rate) < band);
        assert_true(fabs(found / STRANGERS - stat.rate) < band);
        bly_free(filter);
    }
}

/* A new filter's bytes, by BF.INFO: 32 of its own and 64 for each link. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t n; double rate;
                          uint64_t size; } sizes[] = {
        { "redisbloom", 100, 0.001, 296 }, { "redisbloom", 100, 0.01, 240 },
        { "redisbloom:growth=0", 3, 0.01, 104 },
        { "redisbloom", 300000000, 1e-6, 1132420232 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].rate };
        assert_status(bly_plan(&plan, sizes[i].kind, &spec), BLY_OK);
        assert_int_equal(plan.bytes, BLY_HEADER_BYTES + 73
                                     + sizes[i].size - 96);
    }
}

/* A filter that does not grow is full and does not change. */
static void test_full(void **state)
{
    (void)state;
    char text[64];
    bly_filter *filter = vector_new("redisbloom:growth=0", 10, 0.001);
    uint64_t i = 0, in = 0;
    for (; in < 10; i++)
        in += bly_add(filter, text, redis_item(text, i)) == BLY_OK;
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *was = malloc(bytes);
    assert_non_null(was);
    memcpy(was, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
    assert_status(bly_add(filter, text, redis_item(text, 1000)), BLY_EFULL);
    assert_non_null(strstr(bly_why(), "growth=2"));
    vector v = { was, bytes - BLY_HEADER_BYTES };
    vector_is(filter, &v);
    free(was);
    bly_free(filter);
}

/* A dump with one number changed. */
static void test_refused(void **state)
{
    (void)state;
    static const struct { size_t at; uint8_t is; const char *says; } wrong[] = {
        { 0, 5, "byte 0: the number of keys" }, { 8, 0, "byte 8: it has no" },
        { 8, 200, "byte 8: it has no links, or more" },
        { 12, 21, "byte 12: it has unknown" }, { 12, 1, "32 bits" },
        { 20, 0, "byte 20: the bits" }, { 20, 152, "byte 20: the bits" },
        { 28, 0, "byte 20: the bits" }, { 60, 9, "byte 60: the number" },
        { 36, 101, "byte 36: it has more keys" },
        { 57, 0, "byte 52: the bits per key" },
        { 64, 0, "byte 64: its capacity is 0" },
        { 51, 0xFF, "byte 44: the rate" }, { 18, 1, "byte 16: the next" },
        { 65, 1, "byte 64: its capacity" }, { 72, 3, "byte 72: the bits" },
    };
    bly_filter *filter = vector_new("redisbloom", 100, 0.01);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *copy = malloc(bytes + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(copy, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
        copy[wrong[i].at] = wrong[i].is;
        vector_refused(copy, bytes - BLY_HEADER_BYTES, "redisbloom",
                       i == 4 ? BLY_EVERSION : BLY_ECORRUPT, wrong[i].says);
    }
    memcpy(copy, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
    vector_refused(copy, bytes - BLY_HEADER_BYTES - 1, "redisbloom",
                   BLY_ECORRUPT, "chunks are missing");
    vector_refused(copy, bytes - BLY_HEADER_BYTES + 1, "redisbloom",
                   BLY_ECORRUPT, "there are bytes after");
    free(copy);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_dumps),
        cmocka_unit_test(test_their_growth),
        cmocka_unit_test(test_their_count),
        cmocka_unit_test(small_links_err_more),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("redisbloom", tests, NULL, NULL);
}
