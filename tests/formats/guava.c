/* guava.c - tests specific to format `guava`: files written by Guava, and its
 * sizes.
 */
#include "test.h"
#include "vectors.h"

static size_t guava_text(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "key-%d", (int)i);
}

/* integerFunnel: 4 bytes, lowest first. The first 500 were not added. */
static size_t guava_int(char text[64], uint64_t i)
{
    uint32_t v = (uint32_t)i - 1000;
    for (unsigned b = 0; b < 4; b++)
        text[b] = (char)(v >> 8 * b & 0xFF);
    return 4;
}

static size_t guava_int_put(char text[64], uint64_t i)
{
    return guava_int(text, 7 * i);
}

static void guava_ints(const char *file, const char *answers,
                       const char *kind)
{
    char text[64];
    vector_needs(file);
    bly_filter *ours = vector_new(kind, 500, 0.03);
    vector_probes(file, answers, NULL, guava_int, NULL, 0);
    vector v = vector_read(file);
    for (uint64_t i = 0; i < 500; i++) {
        size_t length = guava_int_put(text, i);
        assert_true(bly_add(ours, text, length) >= 0);
    }
    vector_is(ours, &v);
    bly_free(ours);
    free(v.bytes);
}

static void test_their_files(void **state)
{
    (void)state;
    vector_needs("guava/utf8_64_n1000_p01.guava");
    vector_probes("guava/utf8_64_n1000_p01.guava",
                  "guava/utf8_64_n1000_p01.probe", NULL, guava_text,
                  vector_new("guava", 1000, 0.01), 1000);
    vector_probes("guava/utf8_32_n1000_p01.guava",
                  "guava/utf8_32_n1000_p01.probe", NULL, guava_text,
                  vector_new("guava:strategy=mitz32", 1000, 0.01), 1000);
    vector_probes("guava/empty_64.guava", "guava/empty_64.probe", NULL,
                  guava_text, vector_new("guava", 10, 0.03), 0);
    vector_probes("guava/empty_32.guava", "guava/empty_32.probe", "guava",
                  guava_text, vector_new("guava:strategy=mitz32", 10, 0.03), 0);
}

static void test_their_integers(void **state)
{
    (void)state;
    guava_ints("guava/int_64_n500_p03.guava", "guava/int_64_n500_p03.probe",
               "guava");
    guava_ints("guava/int_32_n500_p03.guava", "guava/int_32_n500_p03.probe",
               "guava:strategy=mitz32");
}

/* A file written by hand: one key, "a", in 64 bits with 5 probes, from its
 * published hash, 85555565f6597889 and e6b53a48510e895a. */
static void test_one_key(void **state)
{
    (void)state;
    bly_filter *filter = vector_new("guava", 10, 0.03);
    const uint8_t *image;
    size_t bytes, set = 0;
    uint64_t c = UINT64_C(0x85555565F6597889);
    assert_status(bly_add(filter, "a", 1), BLY_OK);
    image = bly_image(filter, &bytes);
    assert_int_equal(bytes, 128 + 22);
    for (unsigned i = 0; i < 5; i++, c += UINT64_C(0xE6B53A48510E895A)) {
        uint64_t bit = (c & UINT64_MAX >> 1) % 128;
        assert_true(image[128 + 6 + 8 * (bit / 64) + 7 - bit % 64 / 8]
                    >> bit % 8 & 1);
    }
    for (size_t i = 128 + 6; i < bytes; i++)
        for (unsigned b = 0; b < 8; b++)
            set += image[i] >> b & 1;
    assert_in_range(set, 1, 5);
    bly_free(filter);
}

/* Guava 31.1's own optimalNumOfBits, in longs, and optimalNumOfHashFunctions.
 */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double p; uint64_t m, k; } sizes[] = {
        { 1, 0.5, 1, 1 }, { 1, 1e-12, 57, 40 }, { 10, 0.03, 72, 5 },
        { 99, 0.01, 948, 7 }, { 1000, 0.001, 14377, 10 },
        { 12345, 1e-6, 354982, 20 }, { 1000000, 0.01, 9585058, 7 },
        { 100000000, 1e-12, 5751035026, 40 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_plan_t plan;
        bly_spec spec = { .capacity = sizes[i].n, .rate = sizes[i].p };
        assert_status(bly_plan(&plan, "guava", &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], (sizes[i].m + 63) / 64 * 64);
        assert_int_equal(plan.geometry[1], sizes[i].k);
    }
    bly_plan_t plan;
    bly_spec fine = { .capacity = 10, .rate = 1e-80 };
    assert_status(bly_plan(&plan, "guava", &fine), BLY_EPARAM);
}

static void test_refusals(void **state)
{
    (void)state;
    uint8_t file[14] = { 1, 5, 0, 0, 0, 1 };
    vector_refused(file, 5, "guava", BLY_ECORRUPT, "has 6 bytes beside");
    vector_refused(file, 13, "guava", BLY_ECORRUPT,
                   "its 64 bits end at byte 14");
    file[1] = 0;
    vector_refused(file, 14, "guava", BLY_ECORRUPT,
                   "byte 1: the number of hash functions is 0");
    file[1] = 5;
    file[0] = 2;
    vector_refused(file, 14, "guava", BLY_ECORRUPT,
                   "the strategy is 2, not 0 .. 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_files),
        cmocka_unit_test(test_their_integers),
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("guava", tests, NULL, NULL);
}
