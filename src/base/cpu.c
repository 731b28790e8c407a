/* cpu.c - detects the processor's features and reads the environment. */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cpu_level cpu_of_machine(void)
{
#if CPU_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")
        || !__builtin_cpu_supports("fma"))
        return CPU_BASELINE;
    if (!__builtin_cpu_supports("avx512f")
        || !__builtin_cpu_supports("avx512bw")
        || !__builtin_cpu_supports("avx512dq")
        || !__builtin_cpu_supports("avx512vl"))
        return CPU_AVX2;
    return CPU_AVX512;
#elif CPU_VECTOR4
    return CPU_BASELINE;
#else
    return CPU_PORTABLE;
#endif
}

static const char *const cpu_names[CPU_LEVELS] = {
    [CPU_PORTABLE] = "portable",
#if CPU_SSE2
    [CPU_BASELINE] = "sse2",
#elif CPU_NEON
    [CPU_BASELINE] = "neon",
#elif CPU_WASM
    [CPU_BASELINE] = "simd128",
#endif
#if CPU_X86
    [CPU_AVX2] = "avx2", [CPU_AVX512] = "avx512",
#endif
};

const char *cpu_name(cpu_level level)
{
    return cpu_names[level];
}

/* Returns the level with a name of BLY_CPU, or no limit if it is unknown. */
static cpu_level cpu_of_name(const char *name)
{
    for (int level = 0; name != NULL && level < CPU_LEVELS; level++)
        if (cpu_names[level] != NULL && strcmp(name, cpu_names[level]) == 0)
            return (cpu_level)level;
    return CPU_LEVELS;
}

/* Returns the number in a variable, or `otherwise` unless it is in 1 .. `most`.
 */
static int cpu_of_text(const char *variable, long most, int otherwise)
{
    const char *text = getenv(variable);
    char *end;
    bool digits = text != NULL && *text >= '0' && *text <= '9';
    long n = digits ? strtol(text, &end, 10) : 0;
    return n >= 1 && n <= most && *end == '\0' ? (int)n : otherwise;
}

/* Returns the KiB of the second-level cache, as the system reports it. */
static int cpu_near_of_machine(void)
{
    enum { LEAST = 64 << 10, MOST = 1 << 30 };
    long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return (int)((bytes >= LEAST && bytes <= MOST ? bytes : CPU_NEAR) >> 10);
}

int cpu_decided = CPU_UNKNOWN;
int cpu_numbers[CPU_NUMBERS];

void cpu_look_ahead(int keys)
{
    platform_store_int(&cpu_numbers[CPU_KEYS], keys);
    platform_store_int(&cpu_numbers[CPU_KEYS_CACHED], keys);
}

cpu_level cpu_limit(cpu_level most)
{
    cpu_level has = cpu_of_machine();
    cpu_level level = has < most ? has : most;
    platform_store_int(&cpu_decided, (int)level);
    return level;
}

static int cpu_number_of(cpu_number which)
{
    enum { MOST_KEYS = 1 << 16, MOST_KIB = 1 << 30 };
    switch (which) {
    case CPU_KEYS:
        return cpu_of_text("BLY_AHEAD", MOST_KEYS, CPU_AHEAD);
    case CPU_KEYS_CACHED:
        return cpu_of_text("BLY_AHEAD", MOST_KEYS, CPU_AHEAD_CACHED);
    default:
        return cpu_of_text("BLY_NEAR", MOST_KIB, cpu_near_of_machine());
    }
}

int cpu_decide_number(cpu_number which)
{
    int number = cpu_number_of(which);
    platform_store_int(&cpu_numbers[which], number);
    return number;
}

cpu_level cpu_decide(void)
{
    return cpu_limit(cpu_of_name(getenv("BLY_CPU")));
}
