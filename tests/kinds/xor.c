/* xor.c - tests specific to kind `xor`: its size, its three blocks, and that it
 * refuses tables of `fuse`.
 */
#include "fingerprints.h"

#include "verbs/registry.h"

/* Slightly more than 1.22 cells per key, as in the essay. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double bits; } rows[] = {
        { 1000, 11.78 }, { 10000, 10.09 }, { 1000000, 9.79 },
        { 100000000, 9.82 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = rows[i].n, .rate = 1.0 / 256 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "xor", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].bits, 0.001);
        assert_true(plan.scratch <= 8 * rows[i].n + (UINT64_C(60) << 20));
    }
}

static void test_layout(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 200000; n += n < 60 ? 1 : n * 2 / 3) {
        char kind[64];
        snprintf(kind, sizeof kind, "xor:bits=%u", (unsigned)(n % 32 + 1));
        uint64_t *hashes = fingerprint_keys(n, n, 1, 0);
        bly_filter *filter = fingerprint_of(kind, 0, hashes, n);
        fingerprint_layout l = fingerprint_layout_of(bly_image(filter, NULL));
        assert_true(l.arity == 3 && l.windows == 1 && l.keys == n);
        fingerprint_hold(filter, n, n);
        bly_free(filter);
        free(hashes);
    }
}

static void test_repeats(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, 5000, 9, 4);
    bly_filter *filter = fingerprint_of("xor", 0.001, hashes, 45000);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.distinct == 5000);
    fingerprint_hold(filter, 1, 5000);
    bly_free(filter);
    free(hashes);
}

static void test_threads(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(3, 1500000, 1, 0);
    kind_keys keys = { .hashes = hashes, .n = 1500000 };
    fingerprint_threads(&bly_kind_xor, &keys);
    free(hashes);
}

/* A table with windows, or with four cells per key, is not an xor filter. */
static void test_fuse_is_refused(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, 30000, 1, 0);
    static const char *const kinds[] = { "fuse", "fuse:arity=4", "xor" };
    for (size_t i = 0; i < 3; i++) {
        bly_filter *filter = fingerprint_of(kinds[i], 0.01, hashes, 30000);
        size_t bytes;
        const void *good = bly_image(filter, &bytes);
        uint8_t *image = malloc(bytes);
        assert_non_null(image);
        memcpy(image, good, bytes);
        memset(image + IMAGE_KIND, 0, IMAGE_KIND_NAME);
        memcpy(image + IMAGE_KIND, "xor", 3);
        image_seal(image);
        assert_status(bly_check(image, bytes, NULL),
                      i < 2 ? BLY_ECORRUPT : BLY_OK);
        free(image);
        bly_free(filter);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_fuse_is_refused),
    };
    return cmocka_run_group_tests_name("xor", tests, NULL, NULL);
}
