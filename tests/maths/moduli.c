/* moduli.c - integer logarithms and the choice of moduli, compared with exact
 * products.
 */
#include "test.h"

#include "maths/moduli.h"

enum { WORDS = 4096 };                  /* of 32 bits */

/* A large number, lowest word first. */
typedef struct {
    size_t   n;
    uint32_t word[WORDS];
} number;

static void times(number *v, uint64_t by)
{
    uint32_t low = (uint32_t)by, high = (uint32_t)(by >> 32);
    number part = { 0 };
    uint64_t carry = 0;
    assert_true(v->n + 3 < WORDS);
    for (size_t i = 0; i < v->n + 2; i++) {
        uint64_t a = i < v->n ? v->word[i] : 0;
        uint64_t b = i > 0 && i - 1 < v->n ? v->word[i - 1] : 0;
        uint64_t x = a * low, y = b * high;
        uint64_t sum = (uint64_t)(uint32_t)x + (uint32_t)y + (uint32_t)carry;
        carry = (carry >> 32) + (x >> 32) + (y >> 32) + (sum >> 32);
        part.word[i] = (uint32_t)sum;
        part.n = part.word[i] != 0 ? i + 1 : part.n;
    }
    assert_true(carry == 0);
    *v = part;
}

static int compare(const number *a, const number *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (size_t i = a->n; i-- > 0; )
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Checks that moduli are coprime, have the stated number and sum, and a product
 * above last^n; for primes, not without the largest. */
static void check_moduli(const moduli *q, uint64_t last, uint64_t n,
                         bool powers)
{
    static number product, limit;
    static uint32_t of[MODULI_MOST];
    uint64_t sum = 0;
    uint32_t count = 0;
    product = (number){ .n = 1, .word = { 1 } };
    limit = product;
    for (uint64_t i = 0; i < n; i++)
        times(&limit, last);
    for (uint32_t next = MODULI_BELOW; (next = moduli_before(q, next)) > 0; )
        of[count++] = next;
    assert_true(count == q->n);
    for (uint32_t i = q->n; i-- > 0; ) {
        if (!powers)
            assert_true(compare(&product, &limit) <= 0);
        times(&product, of[i]);
        sum += of[i];
        assert_true(of[i] >= 2 && (i == 0 || of[i - 1] > of[i]));
        for (uint32_t j = 0; j < i; j++)
            assert_true(divisor(of[i], of[j]) == 1);
    }
    assert_true(compare(&product, &limit) > 0);
    assert_true(sum == q->sum);
}

static void test_logarithms(void **state)
{
    (void)state;
    const double unit = 1.0 / (double)(UINT64_C(1) << MODULI_LOG);
    for (unsigned bit = 0; bit < 64; bit++)
        assert_true(moduli_log2(UINT64_C(1) << bit)
                    == (uint64_t)bit << MODULI_LOG);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t v = (test_random(1, i) >> i % 64) | 1;
        double log = (double)moduli_log2(v) * unit;
        assert_true(fabs(log - log2((double)v)) <= unit + 2e-14);
        assert_true(v == UINT64_MAX || moduli_log2(v) <= moduli_log2(v + 1));
    }
    /* 3^40 < 2^64 < 3^41, and likewise for the bounds of 3 */
    assert_true(40 * moduli_log2(3) < UINT64_C(64) << MODULI_LOG);
    assert_true(41 * (moduli_log2(3) + 2) > UINT64_C(64) << MODULI_LOG);
}

static void test_products_are_enough(void **state)
{
    (void)state;
    static moduli primes, powers;
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t last = (test_random(2, i) >> i % 63) | 1;
        uint64_t n = 1 + test_random(3, i) % 25;
        assert_true(moduli_choose(&primes, last, n, false));
        assert_true(moduli_choose(&powers, last, n, true));
        check_moduli(&primes, last, n, false);
        check_moduli(&powers, last, n, true);
        assert_true(powers.sum <= primes.sum);
    }
    assert_true(moduli_choose(&powers, UINT64_MAX, 500, true));
    check_moduli(&powers, UINT64_MAX, 500, true);
}

/* U = 2 3 5, …: the product is exactly U^n. */
static void test_primorials(void **state)
{
    (void)state;
    static const uint64_t primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29 };
    static moduli q;
    uint64_t universe = 1;
    for (uint32_t k = 1; k <= 10; k++) {
        universe *= primes[k - 1];
        assert_true(moduli_choose(&q, universe - 1, 1, false));
        assert_int_equal(q.n, k);
        assert_true(moduli_choose(&q, universe, 1, false));
        assert_int_equal(q.n, k + 1);
    }
}

/* The catalogue's sums: a knapsack over all powers, solved in full. */
static void test_sums_of_powers(void **state)
{
    (void)state;
    static const struct { uint64_t universe, n, sum; } rows[] = {
        { 100, 1, 15 }, { 100, 2, 36 }, { 100, 3, 60 }, { 1000, 3, 108 },
        { 1000, 5, 243 }, { 65536, 3, 229 }, { 1000000, 5, 738 },
        { 1000000, 10, 2350 }, { UINT64_C(1) << 32, 5, 1600 },
        { 65536, 10, 1600 }, { 10000, 10, 1176 },
        { UINT64_C(1) << 32, 3, 689 },
    };
    static moduli q;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(moduli_choose(&q, rows[i].universe - 1, rows[i].n, true));
        assert_true(q.sum <= rows[i].sum);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static moduli q;
    uint64_t n = 1800;
    while (moduli_choose(&q, UINT64_MAX, n, false))
        n++;
    assert_in_range(n, 1870, 1890);
    assert_true(q.n > 8180 && q.n <= MODULI_MOST);
    assert_false(moduli_choose(&q, UINT64_MAX, UINT64_MAX, true));
    assert_false(moduli_choose(&q, 1, UINT64_MAX, true));
    assert_true(moduli_choose(&q, 1, 1, true));
    assert_true(q.n == 1 && moduli_before(&q, MODULI_BELOW) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithms),
        cmocka_unit_test(test_products_are_enough),
        cmocka_unit_test(test_primorials),
        cmocka_unit_test(test_sums_of_powers),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("moduli", tests, NULL, NULL);
}
