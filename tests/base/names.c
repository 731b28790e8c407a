/* names.c - the names of operations in messages, in every language.
 */
#include "test.h"

#include <string.h>
#include <strings.h>

#include "base/names.h"
#include "base/status.h"

static const char *in(const char *language, const char *message)
{
    status_fail(BLY_EPARAM, "%s", message);
    return bly_why_in(language);
}

static void test_each_language_has_its_name(void **state)
{
    (void)state;
    const char *full = "the filter is full: resize it (bly_resize), or plan it";
    const char *each[][2] = {
        { "c", "the filter is full: resize it (bly_resize), or plan it" },
        { "c++", "the filter is full: resize it (resize), or plan it" },
        { "python", "the filter is full: resize it (resize), or plan it" },
        { "sqlite", "the filter is full: resize it, or plan it" },
        { "postgresql", "the filter is full: resize it, or plan it" },
        { "javascript", "the filter is full: resize it (resize), or plan it" },
        { "rust", "the filter is full: resize it (resize), or plan it" },
        { "go", "the filter is full: resize it (Resize), or plan it" },
        { "redis", "the filter is full: resize it (BLY.RESIZE), or plan it" },
        { "command", "the filter is full: resize it (bloomery resize), or "
                     "plan it" },
        { "cobol", "the filter is full: resize it, or plan it" },
        { "", "the filter is full: resize it, or plan it" },
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_string_equal(in(each[i][0], full), each[i][1]);
}

static void test_parameters_have_names(void **state)
{
    (void)state;
    const char *limit = "raise the limit (bly_options.memory_limit)";
    assert_string_equal(in("javascript", limit),
                        "raise the limit (memoryLimit)");
    assert_string_equal(in("command", limit),
                        "raise the limit (--unpack-limit)");
    assert_string_equal(in("postgresql", limit), "raise the limit");
    assert_string_equal(in("python", "open it (BLY_WRITE) or not (BLY_MAP)"),
                        "open it (write=True) or not");
    assert_string_equal(in("javascript", "give it (bly_spec.capacity)"),
                        "give it (items)");
}

static void test_only_names_in_brackets_are_replaced(void **state)
{
    (void)state;
    const char *kept[] = {
        "", "nothing", "use bly_resize", "(bly_resize)", " (bly_resize",
        " (bly_resize x)", "a (bly_) b (bly", " (BLY OK)", " (c)",
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i], "a (bly_) b (bly") != 0)
            assert_string_equal(in("python", kept[i]), kept[i]);
    assert_string_equal(in("python", "a (bly_) b (bly"), "a b (bly");
    assert_string_equal(in("python", "a (bly_nothing) b (bly_copy) (bly_pack)"),
                        "a b (copy) (pack)");
}

/* A message that grows by its names beyond the buffer is cut, and ended. */
static void test_long_messages_are_cut(void **state)
{
    (void)state;
    char most[sizeof ((status_kept *)0)->text] = "";
    while (strlen(most) + sizeof " (bly_add)" < sizeof most)
        strcat(most, " (bly_add)");
    const char *text = in("command", most);
    assert_true(strlen(text) < sizeof most);
    assert_memory_equal(text, " (bloomery add) (bloomery add)", 30);
    assert_int_equal(strlen(in("c++", most)) % sizeof " (add", 0);
}

static void test_no_row_lacks_a_name_in_c(void **state)
{
    (void)state;
#define NAMES_PURPOSE(purpose, c, ...) \
    assert_true(strlen(purpose) > 0 && strncasecmp(c, "bly_", 4) == 0);
    NAMES_TABLE(NAMES_PURPOSE)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_language_has_its_name),
        cmocka_unit_test(test_parameters_have_names),
        cmocka_unit_test(test_only_names_in_brackets_are_replaced),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_no_row_lacks_a_name_in_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
