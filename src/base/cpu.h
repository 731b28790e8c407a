/* cpu.h - properties of the processor: vector instructions, prefetch distance
 * and cache size.
 *
 * Batches use the prefetch distance given here, limited by the keys they have
 * room for. (Builds prefetch a few keys ahead with constants of their own.) A
 * kind with vector code for its batch verbs asks for the level once per batch
 * and chooses; a portable version always exists. All versions give the same
 * answers, with any distance: tests/laws.c tries each on one machine with
 * cpu_limit() and cpu_look_ahead(). The environment may override the defaults:
 *
 *     BLY_CPU=portable    or sse2, avx2, avx512 (x86), neon (aarch64),
 *                         simd128 (WebAssembly): highest level to use
 *     BLY_AHEAD=64        keys prefetched per batch, 1 .. 65536
 *     BLY_NEAR=1024       KiB of the second-level cache, 1 .. 2^30
 *
 * Other values are ignored.
 */
#ifndef BLY_BASE_CPU_H
#define BLY_BASE_CPU_H

#include "base/platform.h"

/* A level includes those before it. CPU_BASELINE needs no detection: it is part
 * of every processor of the architecture compiled for. */
typedef enum {
    CPU_PORTABLE,
    CPU_BASELINE,                       /* SSE2, NEON, WebAssembly's SIMD    */
    CPU_AVX2,                           /* and BMI, FMA: x86-64-v3           */
    CPU_AVX512,                         /* F, BW, DQ, VL: x86-64-v4          */
    CPU_LEVELS
} cpu_level;

/* The current level, or CPU_UNKNOWN. Only for cpu_now(). */
enum { CPU_UNKNOWN = -1 };
extern int cpu_decided;
cpu_level cpu_decide(void);

/* Returns the highest level that the machine has and BLY_CPU allows, determined
 * by the first call. Thread-safe: concurrent first calls agree. */
PLATFORM_INLINE cpu_level cpu_now(void)
{
    int level = platform_load_int(&cpu_decided);
    return level != CPU_UNKNOWN ? (cpu_level)level : cpu_decide();
}

/* ---- Memory ------------------------------------------------------------ */

/* The default number of keys in flight, each with a cache line: more than a
 * processor can have outstanding, so that its queue of misses is never empty,
 * but few enough that no line is evicted from the first-level cache before use.
 * On an Intel Xeon of 2023, 32 to 128 measure the same; on Zen 5, 64 costs 1.4
 * times 128; from 192 on lines are lost. `make bench WHAT=tune` measures them.
 */
enum { CPU_AHEAD = 128, CPU_NEAR = 1 << 20, CPU_UNDECIDED = 0 };

/* Keys, and KiB of near memory; or CPU_UNDECIDED. */
extern int cpu_ahead_decided, cpu_near_decided;
void cpu_decide_ahead(void);
void cpu_decide_near(void);

/* Returns how many of n keys to prefetch with room for `room`, which is smaller
 * if each key needs several lines. At least 1 if n is. */
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

/* Returns the bytes of the second-level cache. */
PLATFORM_INLINE uint64_t cpu_near(void)
{
    int kib = platform_load_int(&cpu_near_decided);
    if (kib == CPU_UNDECIDED) {
        cpu_decide_near();
        kib = platform_load_int(&cpu_near_decided);
    }
    return (uint64_t)kib << 10;
}

/* Returns the level's name in BLY_CPU; NULL if the architecture lacks it. */
const char *cpu_name(cpu_level level);

/* Sets the number of keys to prefetch, at least 1. For tests. */
void cpu_look_ahead(int keys);

/* Limits the level, and returns the one now in force. For tests. */
cpu_level cpu_limit(cpu_level most);

/* The levels that can be compiled here. Vector lanes must load from memory like
 * the numbers of an image: lowest byte first. */
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

/* Defined as true if there is a vector4 (base/vector.h). */
#define CPU_VECTOR4 (CPU_SSE2 || CPU_NEON || CPU_WASM)

#if defined(__GNUC__) && defined(__x86_64__)
#define CPU_X86 1
#define BLY_INSIDE_ALL                  /* bodies of bloomery/inline.h       */
#define CPU_TARGET_AVX2   __attribute__((target("avx2,bmi,bmi2,fma,popcnt")))
#define CPU_TARGET_AVX512 __attribute__((target(                               \
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,fma,popcnt")))
#else
#define CPU_X86 0
#endif

#endif /* BLY_BASE_CPU_H */
