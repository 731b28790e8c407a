/* counters.c - packed counters of every width, compared with a plain array:
 * values, neighbours, layout, saturation, and no access outside the bytes of
 * counters_bytes().
 */
#include "test.h"

#include "bits/counters.h"

enum { COUNTERS = 75, GUARD = 8, GUARD_BYTE = 0xC3 };

/* n counters of one width between guard bytes, beside a plain array. */
typedef struct {
    uint32_t width, plain[COUNTERS];
    uint64_t n;
    size_t   bytes;
    uint8_t  memory[GUARD + COUNTERS * 2 + GUARD];
} board;

static uint8_t *board_row(board *b)
{
    return b->memory + GUARD;
}

static void board_start(board *b, uint32_t width, uint64_t n)
{
    uint64_t bytes = 0;
    memset(b, 0, sizeof *b);
    b->width = width;
    b->n = n;
    assert_true(counters_bytes(&bytes, n, width));
    assert_int_equal(bytes, (n * width + 7) / 8);
    b->bytes = (size_t)bytes;
    memset(b->memory, GUARD_BYTE, sizeof b->memory);
    memset(board_row(b), 0, b->bytes);
}

static void board_set(board *b, uint64_t i, uint32_t value)
{
    counters_set(board_row(b), i, b->width, value);
    b->plain[i] = value;
}

/* Checks every counter against the array, and the guards. */
static void board_check(board *b)
{
    for (uint64_t i = 0; i < b->n; i++)
        assert_int_equal(counters_get(board_row(b), i, b->width), b->plain[i]);
    for (size_t i = 0; i < sizeof b->memory; i++)
        if (i < GUARD || i >= GUARD + b->bytes)
            assert_int_equal(b->memory[i], GUARD_BYTE);
}

static uint32_t top_of(uint32_t width)
{
    uint32_t top = 0;
    for (uint32_t i = 0; i < width; i++)
        top = 2 * top + 1;
    return top;
}

/* Increments a counter unless it is saturated; returns its value. */
static uint32_t up(uint8_t *row, uint64_t i, uint32_t width)
{
    uint32_t value = counters_get(row, i, width);
    if (value < counters_max(width))
        counters_set(row, i, width, ++value);
    return value;
}

/* Decrements a counter unless it is 0 or saturated; returns its value. */
static uint32_t down(uint8_t *row, uint64_t i, uint32_t width)
{
    uint32_t value = counters_get(row, i, width);
    if (value > 0 && value < counters_max(width))
        counters_set(row, i, width, --value);
    return value;
}

static void test_max(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        assert_int_equal(counters_max(width), top_of(width));
    assert_int_equal(counters_max(1), 1);
    assert_int_equal(counters_max(16), 65535);
}

static void test_random_values(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        board b;
        board_start(&b, width, COUNTERS);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t v = test_random(width, i);
            board_set(&b, v % COUNTERS, (uint32_t)(v >> 32) & top_of(width));
            board_check(&b);
        }
    }
}

/* Fills and empties one counter between neighbours of all ones or all zeros:
 * nothing else may change. */
static void test_neighbours_are_untouched(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        for (uint64_t at = 0; at < COUNTERS; at++) {
            board b;
            board_start(&b, width, COUNTERS);
            board_set(&b, at, top_of(width));
            board_check(&b);
            for (uint64_t i = 0; i < COUNTERS; i++)
                board_set(&b, i, top_of(width));
            board_check(&b);
            board_set(&b, at, 0);
            board_check(&b);
        }
}

/* Rows of every length, so that the last counter ends at every bit of a byte:
 * the guards follow right behind counters_bytes(). */
static void test_last_counter_stays_inside(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        for (uint64_t n = 1; n <= COUNTERS; n++) {
            board b;
            board_start(&b, width, n);
            board_set(&b, n - 1, top_of(width));
            board_check(&b);
            assert_int_equal(up(board_row(&b), n - 1, width),
                             top_of(width));
            assert_int_equal(down(board_row(&b), n - 1, width),
                             top_of(width));
            board_check(&b);
            board_set(&b, n - 1, 0);
            board_check(&b);
        }
}

/* Repeats this in memory that ends with the row: sanitizers also see reads. */
static void test_last_counter_reads_nothing_beyond(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        for (uint64_t n = 1; n <= 20; n++) {
            uint64_t bytes = 0;
            assert_true(counters_bytes(&bytes, n, width));
            uint8_t *row = calloc(1, (size_t)bytes);
            assert_non_null(row);
            assert_int_equal(counters_get(row, n - 1, width), 0);
            assert_int_equal(up(row, n - 1, width), 1);
            counters_set(row, n - 1, width, top_of(width));
            assert_int_equal(counters_get(row, n - 1, width), top_of(width));
            counters_raise(row, n - 1, width, 1);
            assert_int_equal(counters_get(row, n - 1, width), top_of(width));
            free(row);
        }
}

static void test_layout(void **state)
{
    (void)state;
    uint8_t nibbles[2] = { 0 }, threes[3] = { 0 }, wide[4] = { 0 };
    counters_set(nibbles, 0, 4, 0x3);   /* the low half of byte 0 */
    counters_set(nibbles, 1, 4, 0xA);
    counters_set(nibbles, 2, 4, 0x7);
    assert_int_equal(nibbles[0], 0xA3);
    assert_int_equal(nibbles[1], 0x07);
    counters_set(threes, 2, 3, 0x5);    /* bits 6, 7 and 8: 1 0 1 */
    assert_int_equal(threes[0], 0x40);
    assert_int_equal(threes[1], 0x01);
    counters_set(threes, 5, 3, 0x6);    /* bits 15, 16 and 17: 0 1 1 */
    assert_int_equal(threes[1], 0x01);
    assert_int_equal(threes[2], 0x03);
    counters_set(wide, 1, 16, 0x1234);  /* little-endian */
    assert_int_equal(wide[0] | wide[1], 0);
    assert_int_equal(wide[2], 0x34);
    assert_int_equal(wide[3], 0x12);
}

/* Bit j of counter i is bit i*w + j of the row, for all i, j and w. */
static void test_layout_bit_by_bit(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        for (uint64_t at = 0; at < (uint64_t)COUNTERS * width; at++) {
            board b;
            board_start(&b, width, COUNTERS);
            board_row(&b)[at / 8] = (uint8_t)(1u << at % 8);
            b.plain[at / width] = UINT32_C(1) << at % width;
            board_check(&b);
        }
}

/* Raises by any amount up to more than a counter holds. */
static void test_raise_stops_at_the_top(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        board b;
        board_start(&b, width, COUNTERS);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t v = test_random(width, i), at = v % COUNTERS;
            uint32_t by = (uint32_t)(v >> 32) % (top_of(width) / 2 + 2);
            uint32_t sum = b.plain[at] + by, top = top_of(width);
            counters_raise(board_row(&b), at, width, by);
            b.plain[at] = sum < top ? sum : top;
            board_check(&b);
        }
    }
}

static void test_up_counts_and_sticks(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        board b;
        board_start(&b, width, 9);
        board_set(&b, 3, top_of(width));
        board_set(&b, 5, top_of(width));
        for (uint32_t i = 1; i <= top_of(width); i++)
            assert_int_equal(up(board_row(&b), 4, width), i);
        for (int i = 0; i < 3; i++)     /* saturated: it stays either way */
            assert_int_equal(up(board_row(&b), 4, width),
                             top_of(width));
        for (int i = 0; i < 3; i++)
            assert_int_equal(down(board_row(&b), 4, width),
                             top_of(width));
        b.plain[4] = top_of(width);
        board_check(&b);
    }
}

static void test_down_counts_and_stops_at_zero(void **state)
{
    (void)state;
    for (uint32_t width = 2; width <= COUNTERS_WIDTH_MAX; width++) {
        board b;
        board_start(&b, width, 9);
        board_set(&b, 3, top_of(width));
        board_set(&b, 4, top_of(width) - 1);
        for (uint32_t i = top_of(width) - 1; i > 0; i--)
            assert_int_equal(down(board_row(&b), 4, width), i - 1);
        for (int i = 0; i < 3; i++)
            assert_int_equal(down(board_row(&b), 4, width), 0);
        b.plain[4] = 0;
        board_check(&b);
    }
}

static void test_random_ups_and_downs(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        board b;
        board_start(&b, width, COUNTERS);
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t v = test_random(100 + width, i), at = v % COUNTERS;
            uint32_t *plain = &b.plain[at], top = top_of(width);
            if (v >> 32 & 1)
                *plain += *plain < top;
            else
                *plain -= *plain > 0 && *plain < top;
            assert_int_equal(v >> 32 & 1
                             ? up(board_row(&b), at, width)
                             : down(board_row(&b), at, width),
                             *plain);
        }
        board_check(&b);
    }
}

static void check_bytes(uint64_t n, uint32_t width, uint64_t wanted)
{
    uint64_t out = 12345;
    assert_true(counters_bytes(&out, n, width));
    assert_int_equal(out, wanted);
}

static void test_bytes(void **state)
{
    (void)state;
    check_bytes(0, 5, 0);
    check_bytes(1, 1, 1);
    check_bytes(8, 1, 1);
    check_bytes(9, 1, 2);
    check_bytes(9592, 4, 4796);         /* catalogue, golden state E2 */
    check_bytes(9592, 16, 19184);       /* and E3 */
    check_bytes(3, 3, 2);
    check_bytes(UINT64_MAX, 1, UINT64_C(1) << 61);
    check_bytes(UINT64_MAX / 16, 16, UINT64_MAX / 8 - 1);
    check_bytes(UINT64_MAX / 3, 3, UINT64_C(1) << 61);
}

static void test_bytes_refuses_what_overflows(void **state)
{
    (void)state;
    uint64_t out = 12345;
    assert_false(counters_bytes(&out, UINT64_MAX, 2));
    assert_false(counters_bytes(&out, UINT64_MAX, 16));
    for (uint32_t width = 2; width <= COUNTERS_WIDTH_MAX; width++)
        assert_false(counters_bytes(&out, UINT64_MAX / width + 1, width));
    assert_int_equal(out, 12345);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_random_values),
        cmocka_unit_test(test_neighbours_are_untouched),
        cmocka_unit_test(test_last_counter_stays_inside),
        cmocka_unit_test(test_last_counter_reads_nothing_beyond),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_layout_bit_by_bit),
        cmocka_unit_test(test_raise_stops_at_the_top),
        cmocka_unit_test(test_up_counts_and_sticks),
        cmocka_unit_test(test_down_counts_and_stops_at_zero),
        cmocka_unit_test(test_random_ups_and_downs),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_refuses_what_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
