/* cpu.c - finding out what the processor has.
 *
 * Floor 0.
 */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

static cpu_level cpu_of_machine(void)
{
#if CPU_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")
        || !__builtin_cpu_supports("fma"))
        return CPU_PORTABLE;
    if (!__builtin_cpu_supports("avx512f")
        || !__builtin_cpu_supports("avx512bw")
        || !__builtin_cpu_supports("avx512dq")
        || !__builtin_cpu_supports("avx512vl"))
        return CPU_AVX2;
    return CPU_AVX512;
#else
    return CPU_PORTABLE;
#endif
}

/* A name of BLY_CPU; an unknown one asks for nothing. */
static cpu_level cpu_of_name(const char *name)
{
    static const char *const names[CPU_LEVELS] = {
        [CPU_PORTABLE] = "portable", [CPU_AVX2] = "avx2",
        [CPU_AVX512] = "avx512",
    };
    for (int level = 0; name != NULL && level < CPU_LEVELS; level++)
        if (strcmp(name, names[level]) == 0)
            return (cpu_level)level;
    return CPU_LEVELS;
}

int cpu_decided = CPU_UNKNOWN;

cpu_level cpu_limit(cpu_level most)
{
    cpu_level has = cpu_of_machine();
    cpu_level level = has < most ? has : most;
    platform_store_int(&cpu_decided, (int)level);
    return level;
}

cpu_level cpu_decide(void)
{
    return cpu_limit(cpu_of_name(getenv("BLY_CPU")));
}
