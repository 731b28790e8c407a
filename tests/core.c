/* core.c - the library of BLY_KINDS=core: it has the core kinds, builds and
 * opens them, and refuses everything else with a line that says which build has
 * it.
 *
 * The test is linked from four files that are compiled again with
 * BLY_KINDS=core, the only ones that differ, and the library of all kinds. That
 * the linker then drops unused kinds is not tested here.
 */
#include "test.h"

#include <bloomery/foreign.h>

#include "hex.h"

static const char HERE[] = "in this build (BLY_KINDS=core)";

/* Opens a golden image and frees the filter. */
static bly_status core_golden(const char *name)
{
    char path[1024];
    uint8_t *image;
    size_t n;
    bly_filter *filter;
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/golden/%s.hex", name);
    assert_true(hex_read(path, &image, &n));
    bly_status status = bly_unpack(&filter, image, n, NULL);
    if (status == BLY_OK)
        bly_free(filter);
    free(image);
    return status;
}

static void test_lists_the_core(void **state)
{
    (void)state;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    assert_int_equal(n, 11);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(kinds[i]->tier, "core");
    bly_formats(&n);
    assert_int_equal(n, 0);
}

static void test_builds_and_queries(void **state)
{
    (void)state;
    const uint64_t hashes[] = { bly_mix64(1), bly_mix64(2), bly_mix64(3) };
    const uint64_t members[] = { 1, 1, 1 };
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++) {
        bly_filter *filter;
        bool separates = ((*k)->can & BLY_CAN_SEPARATE) != 0;
        bly_keys keys = { .n = 3, .hashes = hashes,
                          .labels = separates ? members : NULL };
        assert_status(bly_build(&filter, (*k)->name, NULL, &keys), BLY_OK);
        for (size_t i = 0; i < 3; i++)
            assert_true(bly_contains_hash(filter, hashes[i]));
        bly_free(filter);
    }
}

static void test_refuses_other_kinds(void **state)
{
    (void)state;
    bly_filter *filter;
    bly_spec spec = { .capacity = 100 };
    assert_status(bly_new(&filter, "golomb", &spec), BLY_EKIND);
    assert_non_null(strstr(bly_why(), HERE));
    assert_status(bly_new(&filter, "xor8", &spec), BLY_EKIND);
    assert_non_null(strstr(bly_why(), HERE));
    assert_null(bly_kind_find("golomb"));
}

static void test_refuses_their_images(void **state)
{
    (void)state;
    assert_status(core_golden("cuckoo"), BLY_OK);
    assert_status(core_golden("golomb"), BLY_EKIND);
    assert_string_equal(bly_why(), "the filter is of kind 'golomb', which is "
                        "not in this build (BLY_KINDS=core): use a build with "
                        "BLY_KINDS=all");
}

/* A kind outside the core may be part of a compound kind, as the slices of
 * `scalable` are by default. */
static void test_opens_parts_outside_the_core(void **state)
{
    (void)state;
    assert_status(core_golden("scalable"), BLY_OK);
    assert_status(core_golden("scalable-of-golomb"), BLY_OK);
}

static void test_refuses_other_formats(void **state)
{
    (void)state;
    bly_filter *filter;
    const uint8_t bytes[64] = { 1, 2, 3 };
    bly_options options = { .format = "guava" };
    assert_status(bly_unpack(&filter, bytes, sizeof bytes, &options),
                  BLY_EPARAM);
    assert_non_null(strstr(bly_why(), HERE));
    assert_status(bly_unpack(&filter, bytes, sizeof bytes, NULL), BLY_EFORMAT);
    assert_non_null(strstr(bly_why(), HERE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_the_core),
        cmocka_unit_test(test_builds_and_queries),
        cmocka_unit_test(test_refuses_other_kinds),
        cmocka_unit_test(test_refuses_their_images),
        cmocka_unit_test(test_opens_parts_outside_the_core),
        cmocka_unit_test(test_refuses_other_formats),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
