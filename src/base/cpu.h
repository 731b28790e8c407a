/* cpu.h - properties of the processor: vector instructions, prefetch distance
 * and cache sizes.
 *
 * Batches use the prefetch distance given here. It depends on the level of
 * cache that holds the filter, and is limited by the keys they have room for.
 * (Builds prefetch a few keys ahead with constants of their own.) A
 * kind with vector code for its batch verbs asks for the level once per batch
 * and chooses; a portable version always exists. All versions give the same
 * answers, with any distance: tests/laws.c tries each on one machine with
 * cpu_limit() and cpu_look_ahead(). The environment may override the defaults:
 *
 *     BLY_CPU=portable    or sse2, avx2, avx512 (x86), neon (aarch64),
 *                         simd128 (WebAssembly): highest level to use
 *     BLY_AHEAD=64        keys prefetched per batch, 1 .. 65536, for every size
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

/* How many keys are in flight, each with a cache line. In memory: more than a
 * processor can have outstanding, so that its queue of misses is never empty,
 * but few enough that no line is evicted from the first-level cache before use.
 * In the caches: fewer, because their lines arrive sooner. A filter counts as
 * cached up to CPU_SHARED times the core's own cache. The last-level cache may
 * be larger, but other cores use it too, and some systems report the sum over
 * all of them.
 *
 * In memory, 32 to 128 measure the same on an Intel Xeon of 2023; on Zen 5, 64
 * costs 1.4 times 128; from 192 on lines are lost. On a busy Zen 3 with 512 KiB
 * of its own, 128 costs up to 1.15 times 32 at 2 MiB, and 32 costs 1.4 to 1.6
 * times 128 at 11 MiB. `make bench WHAT=tune` measures all this. */
enum { CPU_AHEAD = 128, CPU_AHEAD_CACHED = 32, CPU_SHARED = 8 };

/* Bytes of the core's own cache if the system does not tell; and a number of
 * bytes that are in no cache. */
enum { CPU_NEAR = 1 << 20 };
#define CPU_FAR UINT64_MAX

/* Numbers that are decided on their first use. */
typedef enum {
    CPU_KEYS, CPU_KEYS_CACHED, CPU_NEAR_KIB, CPU_NUMBERS
} cpu_number;

enum { CPU_UNDECIDED = 0 };
extern int cpu_numbers[CPU_NUMBERS];
int cpu_decide_number(cpu_number which);

PLATFORM_INLINE int cpu_get(cpu_number which)
{
    int number = platform_load_int(&cpu_numbers[which]);
    return number != CPU_UNDECIDED ? number : cpu_decide_number(which);
}

/* Returns the bytes of the second-level cache. */
PLATFORM_INLINE uint64_t cpu_near(void)
{
    return (uint64_t)cpu_get(CPU_NEAR_KIB) << 10;
}

/* Returns how many of n keys to prefetch from a filter of so many bytes, with
 * room for `room`, which is smaller if each key needs several lines. At least 1
 * if n is. */
PLATFORM_INLINE size_t cpu_ahead(size_t n, size_t room, uint64_t bytes)
{
    bool cached = bytes / CPU_SHARED <= cpu_near();
    size_t keys = (size_t)cpu_get(cached ? CPU_KEYS_CACHED : CPU_KEYS);
    size_t ahead = keys < room ? keys : room;
    return ahead < n ? ahead : n;
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
