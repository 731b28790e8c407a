/* cpu.h - what depends on the processor: which vector instructions there are,
 * how many keys ahead memory is asked for, and what of it is near.
 *
 * Batches ask here, and have of their own only how many keys there is
 * room for; what is asked for ahead within a build is a few keys, and has small
 * numbers where it is done. A kind that has vector bodies for its batch verbs
 * asks once a batch and picks one; the portable body is always there, and all
 * bodies give the same answers, with any number of keys ahead (tests/laws.c
 * tries each on one machine by cpu_limit() and cpu_look_ahead()). The
 * environment may say otherwise:
 *
 *      BLY_CPU=portable    or sse2, avx2, avx512 (x86), neon (aarch64), simd128
 *                          (WebAssembly): no higher level than this
 *      BLY_AHEAD=64        keys of a batch on their way, 1 .. 65536
 *      BLY_NEAR=1024       KiB that count as near, 1 .. 2^30
 *
 * What else it holds, or an unknown name, asks for nothing.
 */
#ifndef BLY_BASE_CPU_H
#define BLY_BASE_CPU_H

#include "base/platform.h"

/* A level includes those before it. The second needs no asking: who compiles
 * for the architecture has its instructions everywhere, and vectors of 16 bytes
 * among them. */
typedef enum {
    CPU_PORTABLE,
    CPU_BASELINE,                       /* SSE2, NEON, WebAssembly's SIMD    */
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

/* ---- Memory ------------------------------------------------------------ */

/* Keys on their way at a time, each with a line of memory, where the
 * environment does not say: more than a processor can have outstanding, so that
 * its own queue of misses is never empty, and few enough that none is pushed
 * out of the first-level cache before its turn. On an Intel Xeon of 2023 32 to
 * 128 measure the same; on Zen 5 64 cost 1.4 times 128; from 192 on lines are
 * lost. `make bench WHAT=tune` tries them. */
enum { CPU_AHEAD = 128, CPU_NEAR = 1 << 20, CPU_UNDECIDED = 0 };

/* Keys, and KiB that are near; or CPU_UNDECIDED. */
extern int cpu_ahead_decided, cpu_near_decided;
void cpu_decide_ahead(void);
void cpu_decide_near(void);

/* How many of n keys are taken ahead by who has room for `room` of them, which
 * is less where each needs several lines: at least 1 if there are any. */
PLATFORM_INLINE size_t cpu_ahead(size_t n, size_t room)
{
    int keys = platform_load_int(&cpu_ahead_decided);
    if (keys == CPU_UNDECIDED) {
        cpu_decide_ahead();
        keys = platform_load_int(&cpu_ahead_decided);
    }
    size_t ahead = (size_t)keys < room ? (size_t)keys : room;
    return ahead < n ? ahead : n;
}

/* Bytes that this processor's own cache, of the second level, holds. */
PLATFORM_INLINE uint64_t cpu_near(void)
{
    int kib = platform_load_int(&cpu_near_decided);
    if (kib == CPU_UNDECIDED) {
        cpu_decide_near();
        kib = platform_load_int(&cpu_near_decided);
    }
    return (uint64_t)kib << 10;
}

/* The level's name, as in BLY_CPU; NULL, this architecture has it not. */
const char *cpu_name(cpu_level level);

/* For tests: so many keys ahead from now on, at least 1. */
void cpu_look_ahead(int keys);

/* For tests: no higher level than this from now on, where the machine has it.
 * The level that is then in force. */
cpu_level cpu_limit(cpu_level most);

/* Which levels can be compiled here. The lanes of a vector are to come from
 * memory as the numbers of an image do: with their lowest byte first. */
#if defined(__GNUC__) && defined(__SSE2__)
#define CPU_SSE2 1
#else
#define CPU_SSE2 0
#endif

#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON)           \
    && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPU_NEON 1
#else
#define CPU_NEON 0
#endif

#if defined(__GNUC__) && defined(__wasm_simd128__)
#define CPU_WASM 1
#else
#define CPU_WASM 0
#endif

/* Is there a vector4 (base/vector.h)? */
#define CPU_VECTOR4 (CPU_SSE2 || CPU_NEON || CPU_WASM)

#if defined(__GNUC__) && defined(__x86_64__)
#define CPU_X86 1
#define CPU_TARGET_AVX2   __attribute__((target("avx2,bmi,bmi2,fma,popcnt")))
#define CPU_TARGET_AVX512 __attribute__((target(                               \
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,fma,popcnt")))
#else
#define CPU_X86 0
#endif

#endif /* BLY_BASE_CPU_H */
