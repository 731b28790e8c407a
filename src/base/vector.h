/* vector.h - a block or a line of a filter as one vector, while other threads
 * may set bits of it.
 *
 * Floor 0. To C a load of 32 or 64 bytes is no atomic access, and beside an
 * atomic OR of one of these bytes a data race. To the machine it is none: each
 * byte comes as it was before or after the OR, which is all that a filter whose
 * bits only go up needs. So the load is an instruction of its own, which is
 * outside C's rules and which no compiler repeats, splits or makes up. The
 * sanitizers do not see into it: for them it is made of relaxed loads of bytes,
 * which is what it means.
 */
#ifndef BLY_BASE_VECTOR_H
#define BLY_BASE_VECTOR_H

#include "base/cpu.h"

#if CPU_X86
#include <immintrin.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VECTOR_WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)        \
    || __has_feature(memory_sanitizer)
#define VECTOR_WATCHED
#endif
#endif

#ifdef VECTOR_WATCHED
#define VECTOR_LOAD(to, from, instruction, registers)                          \
    do {                                                                       \
        for (size_t vector_i = 0; vector_i < sizeof (to); vector_i++)          \
            ((uint8_t *)&(to))[vector_i] = platform_load8((from) + vector_i);  \
    } while (0)
#else
#define VECTOR_LOAD(to, from, instruction, registers)                          \
    __asm__ volatile(instruction " %1, %0"                                     \
                     : registers(to)                                           \
                     : "m"(*(const uint8_t (*)[sizeof (to)])(from)))
#endif

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i vector_load32(const uint8_t *from)
{
    __m256i v;
    VECTOR_LOAD(v, from, "vmovdqu", "=x");
    return v;
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i vector_load64(const uint8_t *from)
{
    __m512i v;
    VECTOR_LOAD(v, from, "vmovdqu64", "=v");
    return v;
}
#endif

#endif /* BLY_BASE_VECTOR_H */
