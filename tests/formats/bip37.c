/* bip37.c - tests specific to format `bip37`: the messages of its own tests.
 */
#include "test.h"
#include "vectors.h"

static const char *const bip37_keys[] = {
    "99108ad8ed9bb6274d3980bab5a85c048f0950c8",
    "b5a2c786d9ef4658287ced5914b37a1b4aa32eee",
    "b9300670b4c5366e95b2699e8b18bc75e5f729c5",
};

/* Three keys at 1 %, by Bitcoin's own test, with and without a tweak. */
static void bip37_message(const char *kind, const char *wanted)
{
    uint8_t key[20], message[64];
    bly_filter *filter = vector_new(kind, 3, 0.01);
    for (size_t i = 0; i < 3; i++) {
        vector_hex(key, bip37_keys[i]);
        assert_true(bly_add(filter, key, sizeof key) >= 0);
        assert_true(bly_contains(filter, key, sizeof key));
    }
    vector_hex(key, bip37_keys[0]);
    key[0] = 0x19;
    assert_false(bly_contains(filter, key, sizeof key));
    vector v = { message, vector_hex(message, wanted) };
    vector_is(filter, &v);
    bly_free(filter);
    assert_status(vector_open(&filter, &v, "bip37"), BLY_OK);
    key[0] = 0x99;
    assert_true(bly_contains(filter, key, sizeof key));
    bly_free(filter);
}

static void test_messages(void **state)
{
    (void)state;
    bip37_message("bip37:flags=1", "03614e9b050000000000000001");
    bip37_message("bip37:tweak=2147483649,flags=1",
                  "03ce4299050000000100008001");
}

/* A filter without bits contains nothing, and no division by 0 happens. */
static void test_no_bits(void **state)
{
    (void)state;
    uint8_t message[10] = { 0, 5, 0, 0, 0, 0, 0, 0, 0, 0 };
    vector v = { message, sizeof message };
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(vector_open(&filter, &v, "bip37"), BLY_OK);
    assert_false(bly_contains(filter, "any", 3));
    assert_status(bly_add(filter, "any", 3), BLY_EFULL);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate == 0 && stat.fill == 0);
    bly_free(filter);
}

static void test_limits(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 20000, .rate = 0.001 };
    assert_status(bly_plan(&plan, "bip37", &spec), BLY_OK);
    assert_int_equal(plan.geometry[0], 287544);
    spec.capacity = 30000;
    assert_status(bly_plan(&plan, "bip37", &spec), BLY_ETOOBIG);
    spec = (bly_spec){ .capacity = 1, .rate = 0.1 };
    assert_status(bly_plan(&plan, "bip37", &spec), BLY_EPARAM);
    uint8_t message[36000 + 12] = { 253, 0xA1, 0x8C };
    vector_refused(message, sizeof message, "bip37", BLY_ECORRUPT, "36000");
    message[1] = 0xA0;
    vector_refused(message, 100, "bip37", BLY_ECORRUPT, "36012 in all");
    message[36003] = 51;
    vector_refused(message, sizeof message, "bip37", BLY_ECORRUPT,
                   "more than 50");
    static const uint8_t wide[13] = { 253, 3, 0 };
    vector_refused(wide, sizeof wide, "bip37", BLY_ECORRUPT, "byte 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_no_bits),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("bip37", tests, NULL, NULL);
}
