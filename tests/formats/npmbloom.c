/* npmbloom.c - tests specific to format `npmbloom`: its text, sizes, and texts
 * that are refused.
 */
#include "test.h"
#include "vectors.h"

#include "bloomery/foreign.h"

static const char npmbloom_empty[] =
    "{\"type\":\"BloomFilter\",\"_size\":19,\"_nbHashes\":5,"
    "\"_filter\":{\"size\":24,\"content\":\"AAAA\"},\"_seed\":78187493520}";

static void test_text(void **state)
{
    (void)state;
    vector v = { (uint8_t *)(uintptr_t)npmbloom_empty,
                 sizeof npmbloom_empty - 1 };
    bly_filter *filter = vector_new("npmbloom", 3, 0.05);
    vector_is(filter, &v);
    assert_false(bly_contains(filter, "key", 3));
    assert_status(bly_add(filter, "key", 3), BLY_OK);
    assert_status(bly_add(filter, "key", 3), BLY_SEEN);
    bly_free(filter);
}

/* A line feed at the end stays, also in an empty filter like this one. */
static void test_line_feed(void **state)
{
    (void)state;
    char text[sizeof npmbloom_empty];
    memcpy(text, npmbloom_empty, sizeof text);
    text[sizeof text - 1] = '\n';
    vector v = { (uint8_t *)text, sizeof text };
    bly_filter *filter = NULL, *like = NULL;
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    vector_is(filter, &v);
    assert_status(bly_add(filter, "key", 3), BLY_OK);
    assert_status(bly_like(&like, filter, NULL), BLY_OK);
    vector_is(like, &v);
    assert_status(bly_unite(like, filter), BLY_OK);
    assert_true(bly_contains(like, "key", 3));
    bly_free(like);
    bly_free(filter);
}

static void npmbloom_refused(const char *from, const char *to,
                             const char *says)
{
    char text[512];
    const char *at = strstr(npmbloom_empty, from);
    assert_non_null(at);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - npmbloom_empty),
                     npmbloom_empty, to, at + strlen(from));
    vector_refused((const uint8_t *)text, (size_t)n, "npmbloom", BLY_ECORRUPT,
                   says);
}

static void test_refusals(void **state)
{
    (void)state;
    npmbloom_refused("\"BloomFilter", "\"XorFilter", "does not begin as");
    npmbloom_refused(":19,", ": 19,", "_size is not 1 .. 2^32");
    npmbloom_refused(":19,", ":019,", "another text");
    npmbloom_refused(":19,", ":0,", "_size is not 1 .. 2^32");
    npmbloom_refused(":19,", ":4294967297,", "_size is not 1 .. 2^32");
    npmbloom_refused(":19,", ":18446744073709551635,", "_size is not");
    npmbloom_refused("_nbHashes\":5", "_nbHashes\":0", "is not 1 .. 65536");
    npmbloom_refused("_nbHashes\":5", "_capacity\":5", "no _nbHashes");
    npmbloom_refused("\"size\":24", "\"size\":19", "another text");
    npmbloom_refused("AAAA", "AAA", "the content ends elsewhere");
    npmbloom_refused("AAAA", "AA-A", "not a digit of base64");
    npmbloom_refused("AAAA", "AAA=", "not a digit of base64");
    npmbloom_refused("AAAA", "AAAI", "bits beyond the last");
    npmbloom_refused("78187493520", "9007199254740991", "the _seed is not");
    npmbloom_refused("78187493520", "1.5", "more follows");
    npmbloom_refused("20}", "20}\n\n", "more follows");
    npmbloom_refused("20}", "20", "it ends here");
    npmbloom_refused("\"},\"_seed\":78187493520}", "", "it ends here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_line_feed),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("npmbloom", tests, NULL, NULL);
}
