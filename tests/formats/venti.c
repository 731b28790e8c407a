/* venti.c - tests specific to format `venti`: the positions of a score, blocks
 * instead of scores, and bits that are not stored.
 */
#include "test.h"
#include "vectors.h"

enum { VENTI_BYTES = 1 << 17 };         /* 2^20 bits                         */

/* Four probes a key. */
static vector venti_empty(void)
{
    vector v = { calloc(VENTI_BYTES, 1), VENTI_BYTES };
    assert_non_null(v.bytes);
    vector_hex(v.bytes, "b1004ead000000010000000400020000");
    return v;
}

/* A score, and its block, which is empty. */
static void test_places(void **state)
{
    (void)state;
    static const int bits[] = { 199627 - 128, 760168 - 128, 272133 - 128,
                                832674 - 128, -1 };
    uint8_t score[20];
    vector v = venti_empty();
    for (int block = 0; block < 2; block++) {
        bly_filter *filter = NULL;
        assert_status(vector_open(&filter, &v, NULL), BLY_OK);
        vector_hex(score, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_status(bly_add(filter, score, block ? 0 : 20), BLY_OK);
        vector_bits(filter, 16, bits);
        assert_true(bly_contains(filter, score, block ? 20 : 0));
        bly_free(filter);
    }
    free(v.bytes);
}

/* A score whose positions are all among the first 128: nothing is written, and
 * it is found. */
static void test_not_kept(void **state)
{
    (void)state;
    uint8_t score[20] = { 0 };
    vector v = venti_empty();
    bly_filter *filter = NULL;
    score[6] = 0x10;                    /* a = 2^20, which is bit 0          */
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_status(bly_add(filter, score, sizeof score), BLY_SEEN);
    assert_true(bly_contains(filter, score, sizeof score));
    vector_is(filter, &v);
    bly_free(filter);
    free(v.bytes);
}

/* A position below 128 is moved: 128 is set. */
static void test_moved(void **state)
{
    (void)state;
    static const int bits[] = { 0, -1 };
    uint8_t score[20] = { 0 };
    vector v = venti_empty();
    bly_filter *filter = NULL;
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    assert_status(bly_add(filter, score, sizeof score), BLY_OK);
    vector_bits(filter, 16, bits);
    bly_free(filter);
    free(v.bytes);
}

static void test_sizes(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 100000, .rate = 0.01 };
    assert_status(bly_plan(&plan, "venti", &spec), BLY_OK);
    assert_int_equal(plan.geometry[0], 1 << 20);    /* 7 10^5 / 0.7 and up   */
    assert_int_equal(plan.geometry[1], 7);
    spec.capacity = UINT64_C(1) << 32;
    assert_status(bly_plan(&plan, "venti", &spec), BLY_ETOOBIG);
    spec.rate = 1e-10;
    assert_status(bly_plan(&plan, "venti", &spec), BLY_EPARAM);
    vector v = venti_empty();
    vector_refused(v.bytes, v.n - 1, NULL, BLY_ECORRUPT, "byte 12");
    v.bytes[7] = 2;
    vector_refused(v.bytes, v.n, NULL, BLY_EVERSION, "byte 4");
    v.bytes[7] = 1;
    v.bytes[11] = 33;
    vector_refused(v.bytes, v.n, NULL, BLY_ECORRUPT, "byte 8");
    free(v.bytes);
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_not_kept),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests_name("venti", tests, NULL, NULL);
}
