/* cpu.h - which vector instructions this processor has.
 *
 * Floor 0. A kind that has vector bodies for its batch verbs asks once a
 * batch and picks one; the portable body is always there, and all bodies give
 * the same answers (tests/laws.c runs each on one machine through
 * cpu_limit()). The environment variable BLY_CPU lowers the level: "portable",
 * "avx2", "avx512".
 */
#ifndef BLY_BASE_CPU_H
#define BLY_BASE_CPU_H

#include "base/platform.h"

/* A level includes those before it. */
typedef enum {
    CPU_PORTABLE,
    CPU_AVX2,                           /* and BMI, FMA: x86-64-v3           */
    CPU_AVX512,                         /* F, BW, DQ, VL: x86-64-v4          */
    CPU_LEVELS
} cpu_level;

/* The level in force, or CPU_UNKNOWN. Only for cpu_now(). */
enum { CPU_UNKNOWN = -1 };
extern int cpu_decided;
cpu_level cpu_decide(void);

/* The highest level that this machine has and BLY_CPU allows; decided at the
 * first call. Thread-safe: threads that decide at the same time decide the
 * same. */
PLATFORM_INLINE cpu_level cpu_now(void)
{
    int level = platform_load_int(&cpu_decided);
    return level != CPU_UNKNOWN ? (cpu_level)level : cpu_decide();
}

/* For tests: no higher level than this from now on, where the machine has it.
 * The level that is then in force. */
cpu_level cpu_limit(cpu_level most);

#if defined(__GNUC__) && defined(__x86_64__)
#define CPU_X86 1
#define CPU_TARGET_AVX2   __attribute__((target("avx2,bmi,bmi2,fma,popcnt")))
#define CPU_TARGET_AVX512 __attribute__((target(                               \
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,fma,popcnt")))
#else
#define CPU_X86 0
#endif

#endif /* BLY_BASE_CPU_H */
