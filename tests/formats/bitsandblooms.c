/* bitsandblooms.c - tests specific to format `bitsandblooms`: its layout,
 * place by place.
 */
#include "test.h"
#include "vectors.h"

#include "image/image.h"

#include "bits/hash.h"

/* A key's bits are exactly those of the rule. */
static void test_bits_of_a_key(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("bitsandblooms", 1000, 0.001);
    uint64_t h[4], m = 14378, set = 0;
    size_t bytes;
    char longer[64] = "a key of thirty-one bytes, just";
    hash_murmur3_128(longer, 31, 0, h);
    longer[31] = 1;
    hash_murmur3_128(longer, 32, 0, h + 2);
    assert_status(bly_add(filter, longer, 31), BLY_OK);
    const uint8_t *file = (const uint8_t *)bly_image(filter, &bytes) + 128;
    assert_int_equal(bytes, 128 + 24 + 8 * 225);
    static const uint8_t head[24] = {
        0, 0, 0, 0, 0, 0, 0x38, 0x2A, 0, 0, 0, 0, 0, 0, 0, 10,
        0, 0, 0, 0, 0, 0, 0x38, 0x2A,
    };
    assert_memory_equal(file, head, sizeof head);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t bit = (h[i % 2] + i * h[2 + (i + i % 2) % 4 / 2]) % m;
        assert_true(file[24 + bit / 64 * 8 + 7 - bit % 64 / 8] >> bit % 8 & 1);
    }
    for (size_t i = 24; i < bytes - 128; i++)
        for (unsigned b = 0; b < 8; b++)
            set += file[i] >> b & 1;
    assert_int_equal(set, 10);
    bly_free(filter);
}

/* The last word has its bits in its last bytes; all of them are counted. */
static void test_last_word_is_counted(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("bitsandblooms", 4, 0.01);
    size_t bytes, set = 0;
    bly_info_t stat;
    for (uint64_t i = 0; i < 4; i++)
        bly_add(filter, &i, sizeof i);
    const uint8_t *image = bly_image(filter, &bytes);
    for (size_t i = 128 + 24; i < bytes; i++)
        for (unsigned b = 0; b < 8; b++)
            set += image[i] >> b & 1;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], 39);
    assert_true(stat.fill == (double)set / 39);
    bly_free(filter);
}

/* The key and a byte 01 behind it, of any length. */
static void test_second_hash(void **state)
{
    (void)state;
    uint8_t key[66];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)test_random(1, i);
    for (size_t length = 0; length < sizeof key; length++) {
        uint64_t one[2], two[2];
        uint8_t was = key[length];
        hash_murmur3_128_and(key, length, 1, 7, one);
        key[length] = 1;
        hash_murmur3_128(key, length + 1, 7, two);
        key[length] = was;
        assert_true(one[0] == two[0] && one[1] == two[1]);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char format[] = "bitsandblooms";
    uint8_t file[32] = { 0 };
    file[7] = file[23] = 60;
    file[15] = 3;
    vector_refused(file, 20, format, BLY_ECORRUPT, "has 24 bytes beside");
    vector_refused(file, 31, format, BLY_ECORRUPT, "end at byte 32");
    file[24] = 0x10;
    vector_refused(file, 32, format, BLY_ECORRUPT, "beyond the last");
    file[24] = 0, file[23] = 61;
    vector_refused(file, 32, format, BLY_ECORRUPT, "byte 16");
    file[15] = 0;
    vector_refused(file, 32, format, BLY_ECORRUPT, "byte 8");
    file[7] = 0;
    vector_refused(file, 32, format, BLY_ECORRUPT, "byte 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_of_a_key),
        cmocka_unit_test(test_last_word_is_counted),
        cmocka_unit_test(test_second_hash),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("bitsandblooms", tests, NULL, NULL);
}
