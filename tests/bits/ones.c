/* ones.c - counting common bits with each vector level, compared with a
 * bit-by-bit count. */
#include "bits/ones.h"

#include "base/cpu.h"
#include "test.h"
#include "bits/bits.h"

enum { ROWS = 5, STEPS = 9 };

static uint32_t shared_slowly(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    uint32_t shared = 0;
    for (uint64_t i = 0; i < 8 * (uint64_t)bytes; i++)
        shared += bits_test(a, i) && bits_test(b, i);
    return shared;
}

/* Fills rows of random bits, a share of 2^-sparse of them set. */
static void fill(uint8_t *rows, size_t bytes, uint64_t stream, unsigned sparse)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t random = UINT64_MAX;
        for (unsigned j = 0; j < sparse; j++)
            random &= test_random(stream + j, i);
        rows[i] = (uint8_t)random;
    }
}

static void try_level(cpu_level level)
{
    static _Alignas(64) uint8_t rows[ROWS * STEPS * ONES_STEP];
    static _Alignas(64) uint8_t query[STEPS * ONES_STEP];
    uint32_t shared[ROWS + 1];
    assert_int_equal(cpu_limit(level), level);
    for (size_t bytes = ONES_STEP; bytes <= sizeof query; bytes += ONES_STEP) {
        for (unsigned sparse = 0; sparse < 4; sparse++) {
            fill(rows, sizeof rows, 100 * bytes, sparse);
            fill(query, sizeof query, 100 * bytes + 50, sparse / 2);
            shared[ROWS] = 77;
            ones_shared(shared, rows, ROWS, bytes, query);
            for (size_t i = 0; i < ROWS; i++)
                assert_int_equal(shared[i], shared_slowly(rows + i * bytes,
                                                          query, bytes));
            assert_int_equal(shared[ROWS], 77);
        }
    }
    ones_shared(shared, rows, 0, ONES_STEP, query);
}

/* Long rows do not overflow a lane. */
static void try_long(cpu_level level)
{
    const size_t bytes = 1 << 20;
    uint8_t *row = malloc(bytes);
    uint32_t shared;
    assert_non_null(row);
    assert_int_equal(cpu_limit(level), level);
    memset(row, 0xFF, bytes);
    ones_shared(&shared, row, 1, bytes, row);
    assert_int_equal(shared, 8 << 20);
    free(row);
}

static void test_every_level(void **state)
{
    (void)state;
    const cpu_level has = cpu_limit(CPU_LEVELS - 1);
    for (int level = CPU_PORTABLE; level <= (int)has; level++) {
        try_level((cpu_level)level);
        try_long((cpu_level)level);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
