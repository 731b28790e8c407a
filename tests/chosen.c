/* chosen.c - the library of a list of kinds, BLY_KINDS=sets,fuse,dcso: it has
 * the members of a group, a kind and a format, and refuses everything else with
 * a line that names the list.
 *
 * The test is linked as tests/core.c is. tools/check/amalgamation checks that
 * the code of other kinds is dropped.
 */
#include "test.h"

#include <bloomery/foreign.h>

#include "hex.h"

static const char HERE[] = "in this build (BLY_KINDS=sets,fuse,dcso)";

static void test_lists_the_chosen_kinds(void **state)
{
    (void)state;
    static const char *const names[] = {
        "standard", "partitioned", "blocked", "split", "compaction", "floom",
        "rehash", "fuse",
    };
    enum { NAMES = sizeof names / sizeof *names };
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    assert_int_equal(n, NAMES);
    for (size_t i = 0; i < NAMES; i++)
        assert_string_equal(kinds[i]->name, names[i]);
    assert_null(kinds[NAMES]);
    assert_string_equal(kinds[4]->tier, "experimental");
    assert_string_equal(kinds[7]->tier, "core");

    const bly_format_info *const *formats = bly_formats(&n);
    assert_int_equal(n, 1);
    assert_string_equal(formats[0]->kind->name, "dcso");
    assert_null(formats[1]);
}

static void test_knows_the_aliases_of_chosen_kinds(void **state)
{
    (void)state;
    const bly_kind_info *fuse = bly_kind_find("binary-fuse8");
    assert_non_null(fuse);
    assert_string_equal(fuse->name, "fuse");
    assert_string_equal(fuse->aliases[0]->name, "binary-fuse");
    assert_null(bly_kind_find("cuckoo-filter"));
}

static void test_makes_the_chosen_kinds(void **state)
{
    (void)state;
    const uint64_t hashes[] = { bly_mix64(1), bly_mix64(2), bly_mix64(3) };
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++) {
        bly_filter *filter;
        bly_keys keys = { .n = 3, .hashes = hashes };
        assert_status(bly_build(&filter, (*k)->name, NULL, &keys), BLY_OK);
        for (size_t i = 0; i < 3; i++)
            assert_true(bly_contains_hash(filter, hashes[i]));
        bly_free(filter);
    }
    bly_filter *filter;
    bly_spec spec = { .capacity = 100 };
    assert_status(bly_new(&filter, "dcso", &spec), BLY_OK);
    assert_status(bly_add(filter, "one", 3), BLY_OK);
    assert_true(bly_contains(filter, "one", 3));
    bly_free(filter);
}

static void test_refuses_other_kinds(void **state)
{
    (void)state;
    bly_filter *filter;
    bly_spec spec = { .capacity = 100 };
    static const char *const others[] = { "xor", "cuckoo-filter", "guava" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_status(bly_new(&filter, others[i], &spec), BLY_EKIND);
        assert_non_null(strstr(bly_why(), HERE));
    }
    bly_options options = { .format = "guava" };
    assert_status(bly_unpack(&filter, "bytes", 5, &options), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), HERE));
    assert_non_null(strstr(bly_why(), "choose one of dcso"));
}

static void test_refuses_images_of_other_kinds(void **state)
{
    (void)state;
    uint8_t *image;
    size_t n;
    bly_filter *filter;
    assert_true(hex_read(TEST_SOURCE_DIR "/tests/golden/xor.hex", &image, &n));
    assert_status(bly_unpack(&filter, image, n, NULL), BLY_EKIND);
    free(image);
    assert_string_equal(bly_why(), "the filter is of kind 'xor', which is not "
                        "in this build (BLY_KINDS=sets,fuse,dcso): use a build "
                        "with BLY_KINDS=all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_the_chosen_kinds),
        cmocka_unit_test(test_knows_the_aliases_of_chosen_kinds),
        cmocka_unit_test(test_makes_the_chosen_kinds),
        cmocka_unit_test(test_refuses_other_kinds),
        cmocka_unit_test(test_refuses_images_of_other_kinds),
    };
    return cmocka_run_group_tests_name("chosen", tests, NULL, NULL);
}
