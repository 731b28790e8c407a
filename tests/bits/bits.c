/* bits.c - rows of bits, compared with bit-by-bit loops at every length around
 * a machine word and every alignment; and the reduction of a hash to a range,
 * compared with its definition floor(h n / 2^64).
 */
#include "test.h"

#include <pthread.h>

#include "bits/bits.h"

/* ---- bits_range -------------------------------------------------------- */

static const uint64_t ranges[] = { 1, 2, 3, 7, 10, 64, 479256 };
enum { RANGES = sizeof ranges / sizeof ranges[0] };

static void test_range_at_edges(void **state)
{
    (void)state;
    const uint64_t hashes[] = { 0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                INT64_MAX, UINT64_C(1) << 63, UINT64_MAX };
    for (int i = 0; i < RANGES; i++) {
        for (size_t j = 0; j < sizeof hashes / sizeof hashes[0]; j++)
            assert_true(bits_range(hashes[j], ranges[i]) < ranges[i]);
        assert_int_equal(bits_range(0, ranges[i]), 0);
        assert_int_equal(bits_range(UINT64_C(1) << 63, ranges[i]),
                         ranges[i] / 2);
        assert_int_equal(bits_range(UINT64_MAX, ranges[i]), ranges[i] - 1);
    }
}

/* The least hash that gives v: ceil(v 2^64 / n), where 2^64 = q n + r. */
static uint64_t first_hash_of(uint64_t v, uint64_t n)
{
    uint64_t q = UINT64_MAX / n, r = UINT64_MAX % n + 1;
    return v * q + (v * r + n - 1) / n;
}

/* Value v comes from the hashes from first_hash_of(v) up to first_hash_of(v +
 * 1) - 1, so all values are equally likely to within one hash. */
static void test_range_is_even(void **state)
{
    (void)state;
    for (int i = 0; i < RANGES; i++)
        for (uint64_t v = 1; v < ranges[i]; v++) {
            uint64_t first = first_hash_of(v, ranges[i]);
            assert_int_equal(bits_range(first, ranges[i]), v);
            assert_int_equal(bits_range(first - 1, ranges[i]), v - 1);
        }
}

static void test_range_of_huge_n(void **state)
{
    (void)state;
    const uint64_t huge[] = { (UINT64_C(1) << 33) + 5, UINT64_C(1) << 60,
                              UINT64_C(1) << 63, UINT64_MAX };
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        uint64_t least = UINT64_MAX, most = 0;
        for (uint64_t j = 0; j < 10000; j++) {
            uint64_t at = bits_range(test_random(3, j), huge[i]);
            assert_true(at < huge[i]);
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        /* chance that 10^4 miss an outer 1 %: 0.99^10000 = 2e-44 */
        assert_true(least < huge[i] / 100);
        assert_true(most > huge[i] - huge[i] / 100);
        assert_true(most > UINT32_MAX);
        assert_true(bits_range(UINT64_MAX, huge[i]) == huge[i] - 1);
    }
}

/* The high half of a product, from its four partial products. */
static uint64_t high_by_halves(uint64_t a, uint64_t b)
{
    uint64_t al = a & UINT32_MAX, ah = a >> 32;
    uint64_t bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t carry = (al * bl >> 32) + (al * bh & UINT32_MAX)
                   + (ah * bl & UINT32_MAX);
    return ah * bh + (al * bh >> 32) + (ah * bl >> 32) + (carry >> 32);
}

static void test_range_is_the_high_half(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t a = test_random(4, i), b = test_random(5, i) >> (i & 63);
        assert_true(bits_range(a, b) == high_by_halves(a, b));
    }
    assert_true(bits_range(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
}

/* ---- Single bits ------------------------------------------------------- */

enum { ROW = 70 };                      /* bytes */

static bool naive_test(const uint8_t *row, uint64_t at)
{
    return row[at / 8] / (1 << at % 8) % 2 == 1;
}

typedef bool setter(uint8_t *row, uint64_t at);

static bool set_plain(uint8_t *row, uint64_t at)
{
    return bits_set(row, at);
}

static bool set_shared(uint8_t *row, uint64_t at)
{
    return bits_set_shared(row, at);
}

/* Sets random bits, most of them twice, in the row and in an array of bools. */
static void check_setter(setter *set, uint64_t stream)
{
    uint8_t row[ROW + 2] = { 0 };
    bool plain[ROW * 8] = { false };
    row[0] = row[ROW + 1] = 0x5A;       /* guards */
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t at = test_random(stream, i) % (ROW * 8);
        assert_int_equal(set(row + 1, at), !plain[at]);
        plain[at] = true;
        assert_false(set(row + 1, at));
        for (uint64_t j = 0; j < ROW * 8; j++) {
            assert_int_equal(bits_test(row + 1, j), plain[j]);
            assert_int_equal(naive_test(row + 1, j), plain[j]);
        }
    }
    assert_int_equal(row[0], 0x5A);
    assert_int_equal(row[ROW + 1], 0x5A);
}

static void test_set_and_test(void **state)
{
    (void)state;
    check_setter(set_plain, 6);
}

static void test_set_shared_and_test(void **state)
{
    (void)state;
    check_setter(set_shared, 7);
}

static void test_bit_order(void **state)
{
    (void)state;
    uint8_t row[3] = { 0 };
    assert_true(bits_set(row, 0));
    assert_true(bits_set(row, 11));
    assert_true(bits_set_shared(row, 23));
    assert_int_equal(row[0], 0x01);
    assert_int_equal(row[1], 0x08);
    assert_int_equal(row[2], 0x80);
}

enum { THREADS = 4, SHARED_BITS = 40000, ROUNDS = 20 };

typedef struct {
    pthread_barrier_t *start;
    uint8_t *row;
    uint64_t fresh;
} worker;

static void *worker_run(void *argument)
{
    worker *w = argument;
    pthread_barrier_wait(w->start);
    for (uint64_t i = 0; i < SHARED_BITS; i++)
        w->fresh += bits_set_shared(w->row, i);
    return NULL;
}

/* Lets four threads set all bits of one row, and returns how often a bit was
 * new to one of them. */
static uint64_t race(uint8_t *row)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    uint64_t fresh = 0;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .start = &start, .row = row };
        assert_int_equal(pthread_create(&threads[i], NULL, worker_run,
                                        &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        fresh += workers[i].fresh;
    }
    pthread_barrier_destroy(&start);
    return fresh;
}

/* No bit is lost, and each is new to exactly one thread. */
static void test_set_shared_by_threads(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t row[SHARED_BITS / 8] = { 0 };
        assert_int_equal(race(row), SHARED_BITS);
        assert_int_equal(bits_count(row, sizeof row), SHARED_BITS);
    }
}

/* ---- Whole rows -------------------------------------------------------- */

/* Makes a row of random bytes that ends where its memory ends, so that
 * sanitizers see an overrun of one byte. One in four is nearly empty or
 * full. */
static uint8_t *row_make(uint8_t **base, size_t bytes, size_t offset,
                         uint64_t stream)
{
    *base = malloc(offset + bytes > 0 ? offset + bytes : 1);
    assert_non_null(*base);
    for (size_t i = 0; i < offset + bytes; i++) {
        uint64_t v = test_random(stream, i);
        (*base)[i] = (uint8_t)(stream % 4 == 0 ? v & v >> 8 & v >> 16
                             : stream % 4 == 1 ? v | v >> 8 | v >> 16 : v);
    }
    return *base + offset;
}

typedef struct {
    uint64_t a, either;
    uint8_t  or_bytes[ROW + 1], and_bytes[ROW + 1];
} naive_counts;

static void naive_count(naive_counts *out, const uint8_t *a, const uint8_t *b,
                        size_t bytes)
{
    memset(out, 0, sizeof *out);
    for (uint64_t at = 0; at < bytes * 8; at++) {
        bool in_a = naive_test(a, at), in_b = naive_test(b, at);
        out->a += in_a;
        out->either += in_a || in_b;
        if (in_a || in_b)
            out->or_bytes[at / 8] |= (uint8_t)(1u << at % 8);
        if (in_a && in_b)
            out->and_bytes[at / 8] |= (uint8_t)(1u << at % 8);
    }
}

static void check_rows(size_t bytes, size_t offset_a, size_t offset_b,
                       uint64_t stream)
{
    uint8_t *base_a, *base_b;
    uint8_t *a = row_make(&base_a, bytes, offset_a, stream);
    uint8_t *b = row_make(&base_b, bytes, offset_b, stream + 1);
    uint8_t kept_b[ROW + 8], kept_a[ROW + 8];
    naive_counts wanted;

    memcpy(kept_a, base_a, offset_a + bytes);
    memcpy(kept_b, base_b, offset_b + bytes);
    naive_count(&wanted, a, b, bytes);
    assert_int_equal(bits_count(a, bytes), wanted.a);
    assert_int_equal(bits_count_or(a, b, bytes), wanted.either);
    assert_int_equal(bits_count_or(b, a, bytes), wanted.either);
    bits_or(a, b, bytes);
    assert_memory_equal(a, wanted.or_bytes, bytes);
    assert_memory_equal(base_a, kept_a, offset_a);      /* bytes before it */
    memcpy(a, kept_a + offset_a, bytes);
    bits_and(a, b, bytes);
    assert_memory_equal(a, wanted.and_bytes, bytes);
    assert_memory_equal(base_a, kept_a, offset_a);
    assert_memory_equal(base_b, kept_b, offset_b + bytes);
    free(base_a);
    free(base_b);
}

static void test_rows_against_naive_loops(void **state)
{
    (void)state;
    uint64_t stream = 100;
    for (size_t bytes = 0; bytes <= ROW; bytes++)
        for (size_t offset = 0; offset < 8; offset++)
            check_rows(bytes, offset, (offset * 3 + bytes) % 8, stream++);
}

static void test_whole_rows_leave_what_follows_alone(void **state)
{
    (void)state;
    uint8_t a[ROW + 8], b[ROW + 8];
    for (size_t bytes = 0; bytes <= ROW; bytes++) {
        memset(a, 0x0F, sizeof a);
        memset(b, 0xF0, sizeof b);
        bits_or(a, b, bytes);
        for (size_t i = 0; i < sizeof a; i++)
            assert_int_equal(a[i], i < bytes ? 0xFF : 0x0F);
        bits_and(a, b, bytes);
        for (size_t i = 0; i < sizeof a; i++)
            assert_int_equal(a[i], i < bytes ? 0xF0 : 0x0F);
    }
}

/* ---- bits_clear_from --------------------------------------------------- */

static void test_clear_from(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= 20; bytes++) {
        uint8_t row[20] = { 0 };
        for (uint64_t first = 0; first <= bytes * 8; first++)
            assert_true(bits_clear_from(row, bytes, first));
        for (uint64_t at = 0; at < bytes * 8; at++) {   /* one bit set */
            memset(row, 0, sizeof row);
            bits_set(row, at);
            for (uint64_t first = 0; first <= bytes * 8; first++)
                assert_int_equal(bits_clear_from(row, bytes, first),
                                 at < first);
        }
    }
}

static void test_clear_from_ignores_what_is_before_and_after(void **state)
{
    (void)state;
    uint8_t row[20];
    for (uint64_t first = 0; first <= 8 * 10; first++) {
        memset(row, 0xFF, sizeof row);
        for (uint64_t at = first; at < 8 * 10; at++)
            row[at / 8] &= (uint8_t)~(1u << at % 8);
        assert_true(bits_clear_from(row, 10, first));
        assert_true(bits_clear_from(row, 10, 8 * 10 + 3));
        if (first > 0)
            assert_false(bits_clear_from(row, 10, first - 1));
        assert_false(bits_clear_from(row, 11, first));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range_at_edges),
        cmocka_unit_test(test_range_is_even),
        cmocka_unit_test(test_range_of_huge_n),
        cmocka_unit_test(test_range_is_the_high_half),
        cmocka_unit_test(test_set_and_test),
        cmocka_unit_test(test_set_shared_and_test),
        cmocka_unit_test(test_bit_order),
        cmocka_unit_test(test_set_shared_by_threads),
        cmocka_unit_test(test_rows_against_naive_loops),
        cmocka_unit_test(test_whole_rows_leave_what_follows_alone),
        cmocka_unit_test(test_clear_from),
        cmocka_unit_test(test_clear_from_ignores_what_is_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
