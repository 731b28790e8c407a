/* cpu.c - the level of vector instructions: what this machine has, and BLY_CPU
 * where that asks for less.
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
    assert_int_equal(decided_with("avx2"), has < CPU_AVX2 ? has : CPU_AVX2);
    assert_int_equal(decided_with("avx512"),
                     has < CPU_AVX512 ? has : CPU_AVX512);
    assert_int_equal(decided_with("nosuch"), has);
    assert_int_equal(decided_with(NULL), has);
    assert_int_equal(cpu_now(), has);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
