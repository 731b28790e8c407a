/* coder.c - the entropy coder loses nothing, wastes nothing, and decodes any
 * bytes to something.
 */
#include "test.h"

#include "bits/bits.h"
#include "bits/coder.h"
#include "maths/maths.h"

enum { GUARD = 0x5A };

/* Returns a row whose bits are set with chance p. */
static uint8_t *coder_row(uint64_t bits, double p, uint64_t stream)
{
    size_t bytes = (size_t)(bits + 7) / 8;
    uint8_t *row = calloc(bytes + 1, 1);
    assert_non_null(row);
    for (uint64_t i = 0; i < bits; i++)
        if ((double)(test_random(stream, i) >> 11) * 0x1p-53 < p)
            bits_set(row, i);
    row[bytes] = GUARD;
    return row;
}

/* Encodes and decodes; returns the size of the code. */
static size_t coder_round_trip(const uint8_t *row, uint64_t bits,
                               uint32_t chance)
{
    size_t bytes = (size_t)(bits + 7) / 8;
    size_t room = 4 * (size_t)bits + 64;    /* 32 bits for one, at most */
    uint8_t *code = malloc(room), *back = malloc(bytes + 1);
    assert_true(code != NULL && back != NULL);
    size_t used = coder_pack(code, room, row, bits, chance);
    assert_true(used <= room);
    uint8_t *just = malloc(used + 1);       /* for the sanitizer to watch */
    assert_non_null(just);
    memcpy(just, code, used);
    memset(back, 0xAA, bytes);
    back[bytes] = GUARD;
    coder_unpack(back, bits, just, used, chance);
    assert_memory_equal(row, back, bytes + 1);
    assert_true(used == 0 || code[used - 1] != 0);
    for (size_t less = 0; less < used; less += 1 + used / 7)
        assert_true(coder_pack(just, less, row, bits, chance) == SIZE_MAX);
    free(code);
    free(back);
    free(just);
    return used;
}

static void test_chance(void **state)
{
    (void)state;
    const uint64_t most = UINT64_C(1) << 60;
    assert_int_equal(coder_chance(0, 1), 1);
    assert_int_equal(coder_chance(0, most), 1);
    assert_int_equal(coder_chance(1, most), 1);
    assert_int_equal(coder_chance(1, 1), UINT32_MAX);
    assert_int_equal(coder_chance(most, most), UINT32_MAX);
    assert_int_equal(coder_chance(most - 1, most), UINT32_MAX);
    assert_int_equal(coder_chance(most / 2, most), UINT64_C(1) << 31);
    assert_int_equal(coder_chance(1, 3), 1431655765);       /* 2^32 / 3 */
    assert_int_equal(coder_chance(2, 3), 2863311531);
    assert_int_equal(coder_chance(most / 4 * 3, most), UINT64_C(3) << 30);
}

/* Every size up to 300 bits, with odd chances: the tail is where codes fail. */
static void test_every_small_size(void **state)
{
    (void)state;
    static const double shares[] = { 0, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1 };
    for (uint64_t bits = 1; bits <= 300; bits++)
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            uint8_t *row = coder_row(bits, shares[i], bits);
            uint64_t set = bits_count(row, (size_t)(bits + 7) / 8);
            coder_round_trip(row, bits, coder_chance(set, bits));
            coder_round_trip(row, bits, 1);
            coder_round_trip(row, bits, UINT32_MAX);
            coder_round_trip(row, bits, UINT32_C(1) << 31);
            free(row);
        }
}

/* Codes stay within 1 % and 128 bits of the entropy at every density; in
 * practice 12 bits, for the last byte and a group that is cut short. */
static void test_within_the_entropy(void **state)
{
    (void)state;
    static const double shares[] = {
        0, 1e-6, 1e-5, 1e-4, 1e-3, 1 / 92.0, 0.02, 0.05, 0.1, 0.133, 0.2, 0.28,
        0.3, 0.31, 0.4, 0.45, 0.499, 0.5, 0.501, 0.55, 0.6, 0.7, 0.72, 0.8,
        0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1,
    };
    static const uint64_t sizes[] = { 10000, 100003, 2000001 };
    for (size_t s = 0; s < test_work(3, 3, 2); s++)
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            uint64_t bits = sizes[s];
            uint8_t *row = coder_row(bits, shares[i], 7 * i);
            uint64_t set = bits_count(row, (size_t)(bits + 7) / 8);
            double share = (double)set / (double)bits;
            double entropy = (double)bits * math_entropy(share);
            size_t used = coder_round_trip(row, bits, coder_chance(set, bits));
            assert_true(8.0 * (double)used <= entropy * 1.01 + 128);
            assert_true(8.0 * (double)used <= entropy * (1 + 1e-7) + 12);
            assert_true(set != 0 || used == 0);
            assert_true(set != bits || used == 0);
            free(row);
        }
}

/* Regular rows: runs, combs, one bit at each place. */
static void test_odd_rows(void **state)
{
    (void)state;
    enum { BITS = 4099, BYTES = (BITS + 7) / 8 };
    uint8_t row[BYTES + 1];
    for (unsigned period = 1; period < 70; period++) {
        memset(row, 0, BYTES);
        row[BYTES] = GUARD;
        for (uint64_t i = 0; i < BITS; i += period)
            bits_set(row, i);
        coder_round_trip(row, BITS, coder_chance(bits_count(row, BYTES), BITS));
    }
    for (uint64_t i = 0; i < BITS; i += 13) {
        memset(row, 0, BYTES);
        bits_set(row, i);
        coder_round_trip(row, BITS, coder_chance(1, BITS));
    }
    for (uint64_t end = 0; end <= BITS; end += 257) {
        memset(row, 0, BYTES);
        for (uint64_t i = 0; i < end; i++)
            bits_set(row, i);
        coder_round_trip(row, BITS, coder_chance(end, BITS));
    }
}

/* A carry through many bytes: a long row of the likelier bit at the top of the
 * range, then the other. Random chances cover the rest. */
static void test_any_chance(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t bits = 1 + test_random(1, i) % 3000;
        double share = (double)(test_random(2, i) % 1000) / 999;
        uint32_t chance = (uint32_t)(test_random(3, i) >> (32 + i % 31));
        uint8_t *row = coder_row(bits, share * share, i);
        coder_round_trip(row, bits, chance != 0 ? chance : 1);
        coder_round_trip(row, bits, ~chance != 0 ? ~chance : 1);
        free(row);
    }
}

/* Any bytes decode to a row that stays in its memory and is clear behind its
 * last bit. */
static void test_any_bytes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t bits = 1 + test_random(1, i) % 2000;
        size_t bytes = (size_t)(bits + 7) / 8;
        size_t used = (size_t)(test_random(2, i) % 100);
        uint32_t chance = (uint32_t)(test_random(3, i) >> (32 + i % 31)) | 1;
        uint8_t *code = malloc(used + 1), *row = malloc(bytes);
        assert_true(code != NULL && row != NULL);
        for (size_t j = 0; j < used; j++)
            code[j] = i % 3 == 0 ? 0xFF : (uint8_t)test_random(4 + i, j);
        code = realloc(code, used > 0 ? used : 1);
        memset(row, 0xFF, bytes);
        coder_unpack(row, bits, code, used, chance);
        assert_true(bits_clear_from(row, bytes, bits));
        free(code);
        free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_every_small_size),
        cmocka_unit_test(test_within_the_entropy),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_any_chance),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests_name("coder", tests, NULL, NULL);
}
