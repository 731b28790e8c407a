/* platform.h - compiler extensions, in one place.
 *
 * All other code is C11. Each extension has a portable alternative beside it.
 */
#ifndef BLY_BASE_PLATFORM_H
#define BLY_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes and rates are computed in doubles and must be the same on every
 * processor, and a rate from a file may be a NaN. (The x87 rounds results to 64
 * or 53 bits unpredictably.) */
#if defined(__FLT_EVAL_METHOD__)                                               \
    && (__FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 2)
#error "Bloomery needs doubles of 64 bits: compile with -msse2 -mfpmath=sse"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Bloomery needs nan and infinity: compile without -ffast-math"
#endif

/* Forced inlining specialises a function for constant arguments. With
 * BLY_INLINE_FREELY the compiler decides, which under sanitizers takes a third
 * of the time to compile, and no longer to run. */
#if defined(__GNUC__) && !defined(BLY_INLINE_FREELY)
#define PLATFORM_INLINE     static inline __attribute__((always_inline))
#else
#define PLATFORM_INLINE     static inline
#endif

#if defined(__GNUC__)
#define PLATFORM_APART      __attribute__((noinline))
#define PLATFORM_PRINTF(f)  __attribute__((format(printf, f, (f) + 1)))
#define PLATFORM_HIDDEN     __attribute__((visibility("hidden")))
#else
#define PLATFORM_APART
#define PLATFORM_PRINTF(f)
#define PLATFORM_HIDDEN
#endif

/* Fully unrolls the next loop, of at most 16 iterations. (clang does so by
 * itself.) */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define PLATFORM_UNROLL _Pragma("GCC unroll 16")
#else
#define PLATFORM_UNROLL
#endif

/* Prefetches the cache line at `address`, which may be any address. */
PLATFORM_INLINE void platform_prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 3);
#else
    (void)address;
#endif
}

PLATFORM_INLINE void platform_prefetch_write(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address, 1, 3);
#else
    (void)address;
#endif
}

/* Returns the high 64 bits of a * b. */
PLATFORM_INLINE uint64_t platform_mul_high(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (other >> 32);
#endif
}

PLATFORM_INLINE unsigned platform_popcount(uint64_t v)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_popcountll(v);
#else
    v -= v >> 1 & 0x5555555555555555;
    v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return (unsigned)(v * 0x0101010101010101 >> 56);
#endif
}

/* Returns the number of zero bits below the lowest set one; v is not 0. */
PLATFORM_INLINE unsigned platform_trailing_zeros(uint64_t v)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(v);
#else
    return platform_popcount(~v & (v - 1));
#endif
}

/* Returns the number of zero bits above the highest set one; v is not 0. */
PLATFORM_INLINE unsigned platform_leading_zeros(uint64_t v)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(v);
#else
    for (unsigned by = 1; by < 64; by *= 2)
        v |= v >> by;
    return platform_popcount(~v);
#endif
}

/* Relaxed atomic access to plain memory: a byte of a shared filter, or a
 * counter of a shared handle. They imply no ordering, and none is needed, as a
 * filter's bits are only ever set. */
#if defined(__GNUC__)
PLATFORM_INLINE uint8_t platform_load8(const uint8_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

PLATFORM_INLINE uint8_t platform_or8(uint8_t *p, uint8_t bits)
{
    return __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}

PLATFORM_INLINE uint64_t platform_load64(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

PLATFORM_INLINE void platform_store64(uint64_t *p, uint64_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* Returns the previous value. */
PLATFORM_INLINE uint64_t platform_add64(uint64_t *p, uint64_t n)
{
    return __atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

PLATFORM_INLINE int platform_load_int(const int *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

PLATFORM_INLINE void platform_store_int(int *p, int v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* A completion flag: whoever sees it set also sees all writes made before it
 * was stored. */
PLATFORM_INLINE bool platform_load_flag(const bool *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

PLATFORM_INLINE void platform_store_flag(bool *p, bool v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#else
#error "Bloomery needs the __atomic builtins of gcc or clang"
#endif

/* The thread sanitizer (of gcc 12 and clang 14) misses a race between two
 * threads that access the eight bytes of a word one by one, so it is told of
 * the word. */
#if defined(__SANITIZE_THREAD__)
#define PLATFORM_RACES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLATFORM_RACES
#endif
#endif

/* 1: numbers in memory are known to have their lowest byte first. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PLATFORM_LITTLE_ENDIAN 1
#else
#define PLATFORM_LITTLE_ENDIAN 0
#endif

#ifdef PLATFORM_RACES
void __tsan_unaligned_read8(const void *word);
void __tsan_unaligned_write8(void *word);
#define PLATFORM_READS8(p)  __tsan_unaligned_read8(p)
#define PLATFORM_WRITES8(p) __tsan_unaligned_write8(p)
#else
#define PLATFORM_READS8(p)  ((void)0)
#define PLATFORM_WRITES8(p) ((void)0)
#endif

#endif /* BLY_BASE_PLATFORM_H */
