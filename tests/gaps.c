/* gaps.c - packed lists of numbers: nothing is lost, sizes are as promised, and
 * any bytes decode to something.
 */
#include "test.h"
#include "bloomery/gaps.h"

static int gaps_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Writes up to n different numbers below `range` in rising order; returns how
 * many. */
static size_t gaps_numbers(uint64_t *numbers, size_t n, uint64_t range,
                           uint64_t stream)
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++)
        numbers[i] = test_random(stream, i) % range;
    qsort(numbers, n, sizeof *numbers, gaps_compare);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            numbers[made++] = numbers[i];
    return made;
}

static void gaps_round_trip(const uint64_t *numbers, size_t n, uint64_t range,
                            uint64_t divisor)
{
    size_t room = bly_gaps_room(n, range, divisor), bytes, again;
    uint8_t *packed = malloc(room), *just;
    uint64_t number;
    bly_gaps list;
    assert_non_null(packed);
    assert_status(bly_gaps_pack(packed, room, &bytes, numbers, n, range,
                                divisor), BLY_OK);
    assert_true(bytes <= room);
    just = malloc(bytes);               /* for the sanitizer to watch */
    assert_non_null(just);
    assert_status(bly_gaps_pack(just, bytes, &again, numbers, n, range,
                                divisor), BLY_OK);
    assert_true(again == bytes);
    assert_memory_equal(just, packed, bytes);
    assert_status(bly_gaps_pack(packed, bytes - 1, &again, numbers, n, range,
                                divisor), BLY_EPARAM);
    assert_status(bly_gaps_open(&list, just, bytes, range), BLY_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(list.left == n - i);
        assert_true(bly_gaps_next(&list, &number));
        assert_true(number == numbers[i]);
    }
    assert_false(bly_gaps_next(&list, &number));
    assert_status(bly_gaps_end(&list), BLY_OK);
    free(packed);
    free(just);
}

static void test_round_trips(void **state)
{
    (void)state;
    static const uint64_t ranges[] = { 1, 2, 3, 7, 64, 1000, 65537, 1u << 31,
        UINT64_C(1) << 40, (UINT64_C(1) << 57) - 1, (UINT64_C(1) << 63) - 1,
        UINT64_C(1) << 63 };
    static uint64_t numbers[1000];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (size_t n = 0; n <= 1000; n = 2 * n + 1) {
            uint64_t range = ranges[i], least = range / 4096 + 1;
            size_t made = gaps_numbers(numbers, n, range, n + i);
            gaps_round_trip(numbers, made, range, 0);
            for (uint64_t m = least; m < 70 && m <= range; m++)
                gaps_round_trip(numbers, made, range, m);
            for (unsigned bit = 0; bit < 64; bit++)
                if (UINT64_C(1) << bit >= least && UINT64_C(1) << bit <= range)
                    gaps_round_trip(numbers, made, range, UINT64_C(1) << bit);
            gaps_round_trip(numbers, made, range, range);
        }
    for (size_t i = 0; i < 1000; i++)           /* every possible number */
        numbers[i] = i;
    gaps_round_trip(numbers, 1000, 1000, 0);
    numbers[0] = (UINT64_C(1) << 63) - 1;       /* the last one alone */
    gaps_round_trip(numbers, 1, UINT64_C(1) << 63, 0);
    gaps_round_trip(numbers, 1, UINT64_C(1) << 63, UINT64_C(1) << 60);
}

/* The example in src/verbs/gaps.c, and edge cases of the format. */
static void test_bytes(void **state)
{
    (void)state;
    static const uint64_t numbers[] = { 3, 12, 14, 31 };
    static const uint8_t want[] = { 4, 5, 0xE7, 0x86, 0x01 };
    uint8_t packed[64];
    size_t bytes;
    assert_status(bly_gaps_pack(packed, sizeof packed, &bytes, numbers, 4, 32,
                                5), BLY_OK);
    assert_int_equal(bytes, sizeof want);
    assert_memory_equal(packed, want, sizeof want);
    assert_status(bly_gaps_pack(packed, sizeof packed, &bytes, NULL, 0, 32, 0),
                  BLY_OK);
    assert_int_equal(bytes, 2);
    assert_true(packed[0] == 0 && packed[1] == 1);
    assert_true(bly_gaps_divisor(1000, 100000) == 69);
    assert_true(bly_gaps_divisor(0, 100) == 1);
    assert_true(bly_gaps_divisor(90, 100) == 1);
    assert_true(bly_gaps_room(UINT64_MAX, UINT64_MAX, 1) == SIZE_MAX);
    /* it would never end: no list of such a range is packed */
    assert_true(bly_gaps_room(1, UINT64_MAX, 0) == SIZE_MAX);
    assert_true(bly_gaps_room(1, 10, UINT64_MAX) == SIZE_MAX);
    /* 2^60 times 64 bits */
    assert_true(bly_gaps_room(UINT64_C(1) << 60, UINT64_C(1) << 63,
                              UINT64_C(1) << 63) == SIZE_MAX);
    assert_true(bly_gaps_divisor(1, UINT64_C(1) << 63) > UINT64_C(1) << 62);
    assert_true(bly_gaps_divisor(1, 2) == 1);
}

static double gaps_bits(const uint64_t *numbers, size_t n, uint64_t range,
                        uint64_t divisor)
{
    size_t room = bly_gaps_room(n, range, divisor), bytes;
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    assert_status(bly_gaps_pack(packed, room, &bytes, numbers, n, range,
                                divisor), BLY_OK);
    free(packed);
    return 8 * (double)bytes / (double)n;
}

/* The size is log2(range / n) + 1.47 bits a number. A quotient is 0, 1, 2, ...
 * with chances 1/2, 1/4, 1/8, ... and deviates by the root of 2; a remainder's
 * length by 1/2 at most: 1.5 bits together. Golomb's code is within 0.03 of
 * 1.47, except for dense numbers, where it saves 0.7 p. Rice's takes up to 0.08
 * more. */
static void test_size(void **state)
{
    (void)state;
    enum { N = 100000 };
    uint64_t *numbers = malloc(N * sizeof *numbers), power;
    assert_non_null(numbers);
    for (double load = 8; load < 1e12; load *= 3.7) {
        uint64_t range = (uint64_t)(N * load);
        size_t n = gaps_numbers(numbers, N, range, (uint64_t)load);
        double want = log2((double)range / (double)n) + 1.47;
        double band = TEST_SIGMAS * 1.5 / sqrt(N) + 0.03 + 0.7 / load;
        assert_true(fabs(gaps_bits(numbers, n, range, 0) - want) < band);
        for (power = 1; 2 * power <= bly_gaps_divisor(n, range); power *= 2)
            ;
        double rice = fmin(gaps_bits(numbers, n, range, power),
                           gaps_bits(numbers, n, range, 2 * power));
        assert_true(rice < want + 0.08 + band);
    }
    free(numbers);
}

static void test_refused(void **state)
{
    (void)state;
    static const uint64_t falling[] = { 5, 4 }, same[] = { 5, 5 };
    uint8_t packed[64] = { 0 };
    size_t bytes = 77;
    bly_gaps list;
#define REFUSED(numbers, n, range, divisor)                                    \
    assert_status(bly_gaps_pack(packed, sizeof packed, &bytes, numbers, n,     \
                                range, divisor), BLY_EPARAM)
    REFUSED(falling, 2, 10, 0);
    REFUSED(same, 2, 10, 0);
    REFUSED(falling, 1, 5, 0);
    REFUSED(falling, 1, 0, 0);
    REFUSED(falling, 1, 10, 11);
    REFUSED(falling, 1, (UINT64_C(1) << 63) + 1, 0);
    REFUSED(falling, 1, UINT64_C(1) << 63, UINT64_MAX);
    assert_int_equal(bytes, 77);
    assert_status(bly_gaps_open(&list, packed, 2, 0), BLY_EPARAM);
    assert_status(bly_gaps_open(&list, packed, 2, UINT64_MAX), BLY_EPARAM);
}

/* Reads a list from memory of exactly its size: numbers rise, stay below the
 * range, and end. */
static bly_status gaps_read(const uint8_t *packed, size_t bytes,
                            uint64_t range)
{
    uint8_t *just = malloc(bytes > 0 ? bytes : 1);
    uint64_t number, next = 0, count = 0;
    bly_gaps list;
    assert_non_null(just);
    if (bytes > 0)
        memcpy(just, packed, bytes);
    bly_status status = bly_gaps_open(&list, just, bytes, range);
    if (status == BLY_OK) {
        while (bly_gaps_next(&list, &number)) {
            assert_true(number >= next && number < range);
            next = number + 1;
            count++;
        }
        assert_true(count <= 8 * bytes);
        assert_false(bly_gaps_next(&list, &number));
        status = bly_gaps_end(&list);
    }
    free(just);
    return status;
}

/* Lists cut short, with an extra byte, or with any bit flipped. */
static void test_damage(void **state)
{
    (void)state;
    static uint64_t numbers[200];
    uint8_t packed[2000];
    size_t bytes;
    for (uint64_t range = 200; range < UINT64_C(1) << 62; range *= 50) {
        size_t n = gaps_numbers(numbers, 200, range, range);
        assert_status(bly_gaps_pack(packed, sizeof packed - 1, &bytes, numbers,
                                    n, range, range / 256 + 1), BLY_OK);
        assert_status(gaps_read(packed, bytes, range), BLY_OK);
        for (size_t less = 0; less < bytes; less++)
            assert_status(gaps_read(packed, less, range), BLY_ECORRUPT);
        packed[bytes] = 0;
        assert_status(gaps_read(packed, bytes + 1, range), BLY_ECORRUPT);
        assert_status(gaps_read(packed, bytes, numbers[n - 1]), BLY_ECORRUPT);
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            (void)gaps_read(packed, bytes, range);
            packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* Returns the second number in a list's head: seven bits a byte, low bits
 * first. */
static uint64_t gaps_divisor(const uint8_t *list)
{
    uint64_t divisor = 0;
    while ((*list++ & 0x80) != 0)
        ;
    for (unsigned shift = 0; ; shift += 7) {
        divisor |= (uint64_t)(*list & 0x7F) << shift;
        if ((*list++ & 0x80) == 0)
            return divisor;
    }
}

/* Random bytes: a list that is read to its end is the one that would be
 * written. */
static void test_any_bytes(void **state)
{
    (void)state;
    uint8_t bytes[40], again[40 + 8];
    uint64_t numbers[400];
    size_t well = 0;
    for (uint64_t i = 0; i < 300000; i++) {
        size_t n = test_random(i, 0) % sizeof bytes, count = 0, length;
        uint64_t range = (test_random(i, 1) >> test_random(i, 2) % 64 >> 1) + 1;
        bly_gaps list;
        for (size_t j = 0; j < n; j++)
            bytes[j] = (uint8_t)(test_random(i, 3 + j)
                                 >> test_random(i, 99 + j) % 8);
        if (gaps_read(bytes, n, range) != BLY_OK)
            continue;
        well++;
        assert_status(bly_gaps_open(&list, bytes, n, range), BLY_OK);
        while (bly_gaps_next(&list, &numbers[count]))
            count++;
        assert_status(bly_gaps_pack(again, sizeof again, &length, numbers,
                                    count, range, gaps_divisor(bytes)), BLY_OK);
        assert_int_equal(length, n);
        assert_memory_equal(again, bytes, n);
    }
    assert_true(well > 100);            /* enough lists to mean something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
