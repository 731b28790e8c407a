/* split.c - tests specific to kind `split`: it is Parquet's filter, bit for
 * bit, with that format's sizes.
 */
#include "test.h"

#include "bits/bits.h"

static const uint8_t *split_of(bly_filter **filter, unsigned blocks,
                               const char *const *keys)
{
    char kind[64];
    snprintf(kind, sizeof kind, "split:m=%u", 256 * blocks);
    bly_spec spec = { .capacity = 10, .hash = "xxh64" };
    assert_status(bly_new(filter, kind, &spec), BLY_OK);
    for (; *keys != NULL; keys++)
        assert_status(bly_add(*filter, *keys, strlen(*keys)), BLY_OK);
    return (const uint8_t *)bly_image(*filter, NULL) + 128;
}

static uint32_t split_word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
         | (uint32_t)p[3] << 24;
}

/* Three words in four blocks. */
static void test_golden_words(void **state)
{
    (void)state;
    static const char *const keys[] = { "hello", "world", "Bloom", NULL };
    static const uint32_t wanted[32] = {
        0x00100000, 0x00000200, 0x00000400, 0x00000080,
        0x00000200, 0x80000000, 0x10000000, 0x08000000,
        0, 0, 0, 0, 0, 0, 0, 0,
        0x10000000, 0x00000020, 0x00000100, 0x00040000,
        0x80000000, 0x00000004, 0x00001000, 0x00000002,
        0x00200000, 0x02000000, 0x00000010, 0x00000020,
        0x00000020, 0x00800000, 0x00200000, 0x00010000,
    };
    bly_filter *filter;
    const uint8_t *payload = split_of(&filter, 4, keys);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(split_word(payload + 4 * i), wanted[i]);
    bly_free(filter);
}

/* A key sets one bit in each of the eight lanes of one block. */
static void test_one_bit_a_lane(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 10 };
    for (uint64_t i = 0; i < 200; i++) {
        bly_filter *filter = NULL;
        assert_status(bly_new(&filter, "split:m=2048", &spec), BLY_OK);
        bly_add_hash(filter, test_random(1, i));
        const uint8_t *payload = (const uint8_t *)bly_image(filter, NULL) + 128;
        size_t blocks = 0;
        for (size_t block = 0; block < 8; block++) {
            uint64_t bits = bits_count(payload + 32 * block, 32);
            blocks += bits > 0;
            for (size_t lane = 0; bits > 0 && lane < 8; lane++)
                assert_int_equal(bits_count(payload + 32 * block + 4 * lane, 4),
                                 1);
        }
        assert_int_equal(blocks, 1);
        bly_free(filter);
    }
}

/* The format's own table, which includes the spread over blocks. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { double rate, bits; } rows[] = {
        { 0.1, 5.989 }, { 0.05, 7.225 }, { 0.01, 10.529 }, { 0.005, 12.204 },
        { 0.001, 16.890 }, { 0.0001, 26.342 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 10000000, .rate = rows[i].rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "split", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].bits, 2e-4);
        assert_true(plan.rate <= rows[i].rate);
    }
}

/* The limit is 2^31 - 1 blocks, with a message. */
static void test_limit(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = UINT64_C(50000000000), .rate = 0.01 };
    assert_status(bly_plan(&plan, "split", &spec), BLY_OK);
    spec.capacity = UINT64_C(60000000000);
    assert_status(bly_plan(&plan, "split", &spec), BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "2^31 - 1 blocks"));
}

/* FNV-1a's high bits would put short keys into a few blocks. */
static void test_weak_hash(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 100, .hash = "fnv1a" };
    assert_status(bly_plan(&plan, "split", &spec), BLY_EHASH);
    assert_non_null(strstr(bly_why(), "choose xxh64"));
    assert_status(bly_plan(&plan, "standard", &spec), BLY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_words),
        cmocka_unit_test(test_one_bit_a_lane),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_weak_hash),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
