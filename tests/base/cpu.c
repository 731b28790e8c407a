/* cpu.c - the level of vector instructions of this machine, and how BLY_CPU
 * lowers it.
 */
#include "base/cpu.h"

#include <stdlib.h>

#include "test.h"

static cpu_level decided_with(const char *name)
{
    if (name != NULL)
        assert_int_equal(setenv("BLY_CPU", name, 1), 0);
    else
        assert_int_equal(unsetenv("BLY_CPU"), 0);
    return cpu_decide();
}

static void test_names(void **state)
{
    (void)state;
    const cpu_level has = decided_with(NULL);
    assert_int_equal(decided_with("portable"), CPU_PORTABLE);
    assert_int_equal(cpu_now(), CPU_PORTABLE);
    for (int level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        const char *name = cpu_name((cpu_level)level);
        if (name != NULL)
            assert_int_equal(decided_with(name),
                             (int)has < level ? (int)has : level);
        else
            assert_true((int)has < level);
    }
    assert_int_equal(decided_with("nosuch"), has);
    assert_int_equal(decided_with(NULL), has);
    assert_int_equal(cpu_now(), has);
}

/* Names of other architectures are unknown. */
static void test_architecture(void **state)
{
    (void)state;
    const cpu_level has = decided_with(NULL);
#if CPU_X86
    const char *const base = "sse2", *const strange[] = { "neon" };
#elif CPU_SSE2
    const char *const base = "sse2", *const strange[] = { "neon", "avx2" };
#elif CPU_NEON
    const char *const base = "neon", *const strange[] = { "sse2", "avx2" };
#elif CPU_WASM
    const char *const base = "simd128", *const strange[] = { "sse2", "neon" };
#else
    const char *const base = "portable", *const strange[] = { "sse2", "neon" };
#endif
    const cpu_level level = decided_with(base);
    assert_string_equal(cpu_name(level), base);
    assert_true(level <= CPU_BASELINE);
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_int_equal(decided_with(strange[i]), has);
    decided_with(NULL);
}

static void test_limits(void **state)
{
    (void)state;
    const cpu_level has = decided_with(NULL);
    for (int most = CPU_PORTABLE; most < CPU_LEVELS; most++) {
        cpu_level level = cpu_limit((cpu_level)most);
        assert_int_equal(level, (int)has < most ? (int)has : most);
        assert_int_equal(cpu_now(), level);
    }
}

/* Asking for the prefetch distance first must not lift the limit. This test
 * runs first, before anything has been decided. */
static void test_limit_stays(void **state)
{
    (void)state;
    assert_int_equal(cpu_limit(CPU_PORTABLE), CPU_PORTABLE);
    for (int i = 0; i < CPU_NUMBERS; i++)
        assert_int_equal(cpu_numbers[i], CPU_UNDECIDED);
    assert_int_equal(unsetenv("BLY_AHEAD"), 0);
    assert_int_equal(cpu_ahead(1000, 1000, CPU_FAR), CPU_AHEAD);
    assert_int_equal(cpu_now(), CPU_PORTABLE);
    assert_in_range(cpu_near(), 64 << 10, 1 << 30);
    assert_int_equal(cpu_now(), CPU_PORTABLE);
}

static void decide_again(const char *variable, const char *text)
{
    assert_int_equal(setenv(variable, text, 1), 0);
    for (int i = 0; i < CPU_NUMBERS; i++)
        cpu_decide_number((cpu_number)i);
    assert_int_equal(unsetenv(variable), 0);
}

/* Returns the keys ahead out of the caches; in them they are as many. */
static size_t ahead_with(const char *text, size_t n, size_t room)
{
    decide_again("BLY_AHEAD", text);
    assert_int_equal(cpu_ahead(n, room, 0), cpu_ahead(n, room, CPU_FAR));
    return cpu_ahead(n, room, CPU_FAR);
}

/* Invalid numbers are ignored. */
static void test_ahead(void **state)
{
    (void)state;
    static const char *const none[] = { "", "0", "-1", "65537", "7x", "x",
                                        "99999999999999999999" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        decide_again("BLY_AHEAD", none[i]);
        assert_int_equal(cpu_ahead(1000, 1000, CPU_FAR), CPU_AHEAD);
        assert_int_equal(cpu_ahead(1000, 1000, 0), CPU_AHEAD_CACHED);
    }
    assert_int_equal(ahead_with("1", 1000, 64), 1);
    assert_int_equal(ahead_with("65536", 1000, 64), 64);
    assert_int_equal(ahead_with("65536", 10, 64), 10);
    assert_int_equal(ahead_with("65536", 100000, 100000), 65536);
    assert_int_equal(ahead_with("1", 0, 64), 0);
}

/* A filter that the caches hold is prefetched less far ahead. */
static void test_cached(void **state)
{
    (void)state;
    decide_again("BLY_NEAR", "100");
    const uint64_t cached = 8 * 100 << 10;
    assert_int_equal(cpu_ahead(1000, 1000, cached), CPU_AHEAD_CACHED);
    assert_int_equal(cpu_ahead(1000, 1000, cached + 8), CPU_AHEAD);
    assert_int_equal(cpu_ahead(3, 1000, cached), 3);
    assert_int_equal(cpu_ahead(1000, 2, cached), 2);
}

static uint64_t near_with(const char *text)
{
    decide_again("BLY_NEAR", text);
    return cpu_near();
}

static void test_near(void **state)
{
    (void)state;
    uint64_t has = near_with("");
    assert_in_range(has, 64 << 10, 1 << 30);
    assert_int_equal(near_with("1"), 1 << 10);
    assert_int_equal(near_with("1073741824"), UINT64_C(1) << 40);
    assert_int_equal(near_with("1073741825"), has);
    assert_int_equal(near_with("0"), has);
    assert_int_equal(near_with("2 MiB"), has);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_stays),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_cached),
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_architecture),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
