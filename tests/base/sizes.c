/* sizes.c - arithmetic on sizes at every border of 64 bits: results are exact
 * or refused, and a refusal leaves *out alone. Products are checked against
 * 128-bit ones.
 */
#include "test.h"

#include <float.h>

#include "base/platform.h"
#include "base/sizes.h"

static const uint64_t UNTOUCHED = UINT64_C(0xDEADBEEFDEADBEEF);

/* Numbers around the borders that sums and products cross. */
static const uint64_t edges[] = {
    0, 1, 2, 3, 7, 8, 63, 64, 65, 4095, 4096,
    UINT32_MAX - UINT64_C(1), UINT32_MAX, UINT64_C(1) << 32,
    (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 63) - 1, UINT64_C(1) << 63,
    (UINT64_C(1) << 63) + 1, UINT64_MAX / 3, UINT64_MAX / 3 + 1,
    UINT64_MAX / 2, UINT64_MAX - 64, UINT64_MAX - 63, UINT64_MAX - 62,
    UINT64_MAX - 1, UINT64_MAX,
};
enum { EDGES = sizeof edges / sizeof edges[0] };

static void check_add(uint64_t a, uint64_t b)
{
    uint64_t out = UNTOUCHED;
    bool fits = a + b >= a;             /* unsigned sums wrap */
    assert_int_equal(sizes_add(&out, a, b), fits);
    assert_int_equal(out, fits ? a + b : UNTOUCHED);
}

static void check_mul(uint64_t a, uint64_t b)
{
    uint64_t out = UNTOUCHED;
    bool fits = platform_mul_high(a, b) == 0;
    assert_int_equal(sizes_mul(&out, a, b), fits);
    assert_int_equal(out, fits ? a * b : UNTOUCHED);
}

static void test_add_and_mul_at_all_edges(void **state)
{
    (void)state;
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++) {
            check_add(edges[i], edges[j]);
            check_mul(edges[i], edges[j]);
        }
}

static void test_add_and_mul_at_random(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t a = test_random(1, i), b = test_random(2, i);
        check_add(a, b);
        check_mul(a >> (i & 63), b >> (64 - (i & 63)) % 64);
    }
}

static void test_add_by_hand(void **state)
{
    (void)state;
    uint64_t out = UNTOUCHED;
    assert_true(sizes_add(&out, UINT64_MAX - 1, 1));
    assert_true(out == UINT64_MAX);
    out = UNTOUCHED;
    assert_false(sizes_add(&out, UINT64_MAX, 1));
    assert_false(sizes_add(&out, 1, UINT64_MAX));
    assert_false(sizes_add(&out, UINT64_C(1) << 63, UINT64_C(1) << 63));
    assert_true(out == UNTOUCHED);
}

static void test_mul_by_hand(void **state)
{
    (void)state;
    uint64_t out = UNTOUCHED;
    assert_true(sizes_mul(&out, UINT64_MAX / 3, 3));    /* 3 divides 2^64-1 */
    assert_true(out == UINT64_MAX);
    assert_true(sizes_mul(&out, UINT32_MAX, UINT64_C(1) << 32));
    assert_true(out == UINT64_MAX - UINT32_MAX);
    assert_true(sizes_mul(&out, UINT64_MAX, 0));
    assert_true(out == 0);
    out = UNTOUCHED;
    assert_false(sizes_mul(&out, UINT64_MAX / 3 + 1, 3));
    assert_false(sizes_mul(&out, UINT64_C(1) << 32, UINT64_C(1) << 32));
    assert_true(out == UNTOUCHED);
}

static void check_round_up(uint64_t a, uint64_t unit, uint64_t wanted)
{
    uint64_t out = UNTOUCHED;
    assert_true(sizes_round_up(&out, a, unit));
    assert_int_equal(out, wanted);
}

static void test_round_up(void **state)
{
    (void)state;
    check_round_up(0, 64, 0);
    check_round_up(1, 64, 64);
    check_round_up(63, 64, 64);
    check_round_up(64, 64, 64);
    check_round_up(65, 64, 128);
    check_round_up(10, 7, 14);
    check_round_up(14, 7, 14);
    check_round_up(UINT64_MAX, 1, UINT64_MAX);
    check_round_up(1, UINT64_MAX, UINT64_MAX);
    check_round_up(UINT64_MAX, UINT64_MAX, UINT64_MAX);
    check_round_up(UINT64_MAX - 64, 64, UINT64_MAX - 63);
    check_round_up(UINT64_MAX - 63, 64, UINT64_MAX - 63);
    check_round_up(UINT64_MAX - 2, 5, UINT64_MAX);      /* 5 divides it too */
}

static void test_round_up_refuses(void **state)
{
    (void)state;
    uint64_t out = UNTOUCHED;
    assert_false(sizes_round_up(&out, UINT64_MAX - 62, 64));
    assert_false(sizes_round_up(&out, UINT64_MAX, 64));
    assert_false(sizes_round_up(&out, UINT64_MAX, 2));
    assert_false(sizes_round_up(&out, (UINT64_C(1) << 63) + 1,
                                UINT64_C(1) << 63));
    assert_false(sizes_round_up(&out, UINT64_MAX, UINT64_MAX - 1));
    assert_true(out == UNTOUCHED);
}

static void check_from_double(double v, uint64_t wanted)
{
    uint64_t out = UNTOUCHED;
    assert_true(sizes_from_double(&out, v));
    assert_int_equal(out, wanted);
}

static void test_from_double(void **state)
{
    (void)state;
    check_from_double(0.0, 0);
    check_from_double(-0.0, 0);
    check_from_double(DBL_TRUE_MIN, 1);
    check_from_double(0.5, 1);
    check_from_double(1.0, 1);
    check_from_double(1.0 + DBL_EPSILON, 2);
    check_from_double(2.0 - DBL_EPSILON, 2);
    check_from_double(479252.1, 479253);
    check_from_double(4503599627370495.5, UINT64_C(1) << 52);
    check_from_double(9007199254740992.0, UINT64_C(1) << 53);
    check_from_double(9223372036854774784.0,
                      (UINT64_C(1) << 63) - 1024);      /* next below 2^63 */
}

static void test_from_double_refuses(void **state)
{
    (void)state;
    uint64_t out = UNTOUCHED;
    assert_false(sizes_from_double(&out, (double)NAN));
    assert_false(sizes_from_double(&out, -DBL_TRUE_MIN));
    assert_false(sizes_from_double(&out, -1.0));
    assert_false(sizes_from_double(&out, -(double)INFINITY));
    assert_false(sizes_from_double(&out, 9223372036854775808.0));
    assert_false(sizes_from_double(&out, 18446744073709551616.0));
    assert_false(sizes_from_double(&out, 1e300));
    assert_false(sizes_from_double(&out, (double)INFINITY));
    assert_true(out == UNTOUCHED);
}

static void test_fits(void **state)
{
    (void)state;
    assert_true(sizes_fits(0));
    assert_true(sizes_fits(1));
    assert_true(sizes_fits((uint64_t)PTRDIFF_MAX));
    assert_false(sizes_fits((uint64_t)PTRDIFF_MAX + 1));
    assert_false(sizes_fits(UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_and_mul_at_all_edges),
        cmocka_unit_test(test_add_and_mul_at_random),
        cmocka_unit_test(test_add_by_hand),
        cmocka_unit_test(test_mul_by_hand),
        cmocka_unit_test(test_round_up),
        cmocka_unit_test(test_round_up_refuses),
        cmocka_unit_test(test_from_double),
        cmocka_unit_test(test_from_double_refuses),
        cmocka_unit_test(test_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
