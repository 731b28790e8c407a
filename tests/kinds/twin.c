/* twin.c - tests specific to kind `twin`: its refusals, and how many live keys
 * it loses.
 */
#include "test.h"

#include "image/image.h"
#include "forged.h"

static bly_filter *twin_of(const char *kind, uint64_t n, double rate)
{
    bly_spec spec = { .capacity = n, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    return filter;
}

static const char *const twin_names[] = { "twin", "twin:of=partitioned",
                                          "twin:of=blocked" };

/* A removed key can never be added again. */
static void test_removed_stays_removed(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        bly_filter *filter = twin_of(twin_names[k], 3000, 1e-6);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t hash = test_random(1, i);
            assert_status(bly_remove_hash(filter, hash), BLY_OK);
            assert_false(bly_contains_hash(filter, hash));
            assert_status(bly_remove_hash(filter, hash), BLY_EABSENT);
            assert_status(bly_add_hash(filter, hash), BLY_EREMOVED);
            assert_false(bly_contains_hash(filter, hash));
        }
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.items, 2000);
        assert_true(fabs(stat.distinct - 2000) <= 5 * stat.distinct_sd);
        bly_free(filter);
    }
}

/* A batch of adds stops at the first removed key; earlier keys are in. */
static void test_batch_stops_at_the_removed(void **state)
{
    (void)state;
    enum { N = 5000, BAD = 3210 };
    static uint64_t hashes[N];
    bly_filter *filter = twin_of("twin", 100, 1e-6);
    uint64_t gone = test_random(1, 7);
    assert_status(bly_remove_hash(filter, gone), BLY_OK);
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = i == BAD ? gone : test_random(2, i);
    assert_status(bly_add_hashes(filter, hashes, N, NULL, NULL), BLY_EREMOVED);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, 99 + BAD);
    for (uint64_t i = 0; i < BAD; i++)
        assert_true(bly_contains_hash(filter, hashes[i]));
    bly_free(filter);
}

/* Live keys are lost at R's rate and strangers found at A's: as planned once
 * the planned number is removed, and as in stat. */
static void test_lost_and_found(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        enum { N = 200000 };
        char kind[64];
        bly_spec spec = { .capacity = N, .rate = 0.02 };
        bly_plan_t plan;
        snprintf(kind, sizeof kind, "twin:of=%s,removals=%d",
                 k == 0 ? "standard" : k == 1 ? "partitioned" : "blocked",
                 N / 4);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        bly_filter *filter = twin_of(kind, N, 0.02);
        uint64_t removed = 0, lost = 0, found = 0, live = 0;
        for (uint64_t i = 0; i < N / 4; i++)
            removed += bly_remove_hash(filter, test_random(1, i)) == BLY_OK;
        for (uint64_t i = N / 4; i < N; i++, live++)
            lost += !bly_contains_hash(filter, test_random(1, i));
        for (uint64_t i = 0; i < N; i++)
            found += bly_contains_hash(filter, test_random(2, i));
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_within(lost, live, stat.lost, 0);
        assert_within(found, N, stat.rate, 0);
        assert_close(stat.lost, plan.lost, 0.05);
        assert_true(plan.lost <= 0.02 && removed > N / 4 * 97 / 100);
        bly_free(filter);
    }
}

static void test_inner_headers_are_checked(void **state)
{
    (void)state;
    bly_filter *filter = twin_of("twin", 50, 0.01);
    uint64_t second = image_geometry(bly_image(filter, NULL), 1);
    forged_inner_header(filter, IMAGE_HEADER);
    forged_inner_header(filter, IMAGE_HEADER + (size_t)second);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed_stays_removed),
        cmocka_unit_test(test_batch_stops_at_the_removed),
        cmocka_unit_test(test_lost_and_found),
        cmocka_unit_test(test_inner_headers_are_checked),
    };
    return cmocka_run_group_tests_name("twin", tests, NULL, NULL);
}
