/* fold.c - a folded filter equals one built from the same keys with fewer
 * bits. */
#include "test.h"

enum { KEYS = 500 };

/* The large filter, the small one, and their ratio. */
static const struct { const char *large, *small; uint64_t times; } rows[] = {
    { "standard:m=8192,k=5", "standard:m=4096,k=5", 2 },
    { "standard:m=8192,k=5", "standard:m=8192,k=5", 1 },
    { "standard:m=30030,k=3", "standard:m=10,k=3", 3003 },
    { "standard:m=30030,k=3", "standard:m=1,k=3", 30030 },
    { "standard:m=12345,k=7", "standard:m=2469,k=7", 5 },
    { "standard:m=6000,k=4,index=seeds", "standard:m=2000,k=4,index=seeds", 3 },
    { "standard:m=6000,k=4,index=step", "standard:m=1500,k=4,index=step", 4 },
    { "blocked:m=15360,k=4", "blocked:m=5120,k=4", 3 },
    { "blocked:m=15360,k=4", "blocked:m=512,k=4", 30 },
    { "split:m=15360", "split:m=7680", 2 },
    { "split:m=15360", "split:m=256", 60 },
    { "rehash:m=6000,k=4", "rehash:m=1000,k=4", 6 },
    { "rehash:m=6000,k=4,by=xxh64", "rehash:m=1000,k=4,by=xxh64", 6 },
    { "rehash:m=6000,k=4,by=murmur2", "rehash:m=3000,k=4,by=murmur2", 2 },
    { "rehash:m=6000,k=4,by=murmur3", "rehash:m=1200,k=4,by=murmur3", 5 },
    { "rehash:m=6000,k=4,by=poly4", "rehash:m=1200,k=4,by=poly4", 5 },
    { "rehash:m=6000,k=4,by=tabulation", "rehash:m=8,k=4,by=tabulation", 750 },
};

static bly_filter *fold_filled(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity, .seed = 5 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    return filter;
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t share = KEYS / rows[i].times + (KEYS < rows[i].times);
        bly_filter *large = fold_filled(rows[i].large, KEYS);
        bly_filter *small = fold_filled(rows[i].small, share);
        size_t bytes, wanted;
        assert_status(bly_fold(large, rows[i].times), BLY_OK);
        const uint8_t *is = bly_image(large, &bytes);
        const uint8_t *should = bly_image(small, &wanted);
        assert_int_equal(bytes, wanted);
        if (memcmp(is, should, bytes) != 0)
            fail_msg("%s folded by %d is another", rows[i].large,
                     (int)rows[i].times);
        assert_status(bly_check(is, bytes, NULL), BLY_OK);
        bly_free(large);
        bly_free(small);
    }
}

/* A filter that cannot be folded does not change, and the message says why. */
static void test_refused(void **state)
{
    (void)state;
    static const struct { const char *kind, *says; uint64_t times; } no[] = {
        { "standard:m=8192,k=5", "by 3: give a number that divides", 3 },
        { "standard:m=8192,k=5", "by 0: give a number that divides", 0 },
        { "standard:m=8192,k=5", "by 16384", 16384 },
        { "standard:m=8192,k=5", "by 18446744073709551615", UINT64_MAX },
        { "standard:m=8192,k=5,index=double", "index=double", 2 },
        { "standard:m=8192,k=5,index=triple", "index=triple", 2 },
        { "blocked:m=5120,k=5", "10 lines", 3 },
        { "split:m=5120", "20 blocks", 3 },
        { "rehash:m=8192,k=5,by=slices", "by=slices", 2 },
    };
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        bly_filter *filter = fold_filled(no[i].kind, KEYS), *before = NULL;
        size_t bytes, was;
        assert_status(bly_copy(&before, filter, NULL), BLY_OK);
        assert_status(bly_fold(filter, no[i].times), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), no[i].says));
        const void *image = bly_image(filter, &bytes);
        const void *copy = bly_image(before, &was);
        assert_int_equal(bytes, was);
        assert_memory_equal(image, copy, was);
        bly_free(before);
        bly_free(filter);
    }
    bly_filter *filter = fold_filled("counting", KEYS);
    assert_status(bly_fold(filter, 2), BLY_EUNSUPPORTED);
    bly_free(filter);
}

/* Half of the bits with half of the keys: the planned rate, and the true
 * one. */
static void test_rate(void **state)
{
    (void)state;
    enum { N = 20000, ASKED = 200000 };
    bly_spec spec = { .capacity = 2 * N };
    bly_filter *filter = NULL;
    bly_info_t stat;
    uint64_t hits = 0;
    TEST_STATISTICS();
    assert_status(bly_new(&filter, "standard:m=400000,k=7", &spec), BLY_OK);
    for (uint64_t i = 0; i < N; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    assert_status(bly_fold(filter, 2), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.capacity, N);
    assert_int_equal(stat.items, N);
    for (uint64_t i = 0; i < ASKED; i++)
        hits += bly_contains_hash(filter, test_random(2, i));
    assert_within(hits, ASKED, stat.rate, 0);
    assert_within(stat.distinct, N, 1, stat.distinct_sd / N);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
