/* move.c - the bits of a page of kind `golomb` go up and down.
 *
 * Floor 3. Pages are whole words of 64 bits, and only whole words of the page
 * are written. Reads may go on behind it, up to 16 bytes; what is read there
 * is dropped.
 */
#include "kinds/removable/golomb/golomb.h"

#include "base/cpu.h"

#if CPU_X86
#include <immintrin.h>
#endif

/* ---- Words ------------------------------------------------------------- */

/* Bits [from, to) of the word that begins at bit `at`, as a mask. */
PLATFORM_INLINE uint64_t golomb_mask(uint64_t at, uint64_t from, uint64_t to)
{
    uint64_t mask = UINT64_MAX;
    if (from > at)
        mask &= UINT64_MAX << (from - at);
    if (to - at < 64)
        mask &= (UINT64_C(1) << (to - at)) - 1;
    return mask;
}

PLATFORM_INLINE void golomb_blend(uint8_t *page, uint64_t at, uint64_t word,
                                  uint64_t mask)
{
    uint8_t *p = page + (at >> 3);
    image_set_u64(p, 0, (image_u64(p, 0) & ~mask) | (word & mask));
}

/* 64 bits. */
PLATFORM_INLINE uint64_t golomb_word(const uint8_t *page, uint64_t at)
{
    const uint8_t *p = page + (at >> 3);
    unsigned shift = at & 7;
    return image_u64(p, 0) >> shift | image_u64(p, 8) << 1 << (63 - shift);
}

/* ---- Up and down ------------------------------------------------------- */

/* Words of 64 bits that are moved as one, where there are vectors. */
enum { GOLOMB_FOUR = 4 * 64 };

#if CPU_X86
CPU_TARGET_AVX2 static void golomb_four(uint8_t *page, uint64_t at,
                                        uint64_t source)
{
    const uint8_t *p = page + (source >> 3);
    __m128i right = _mm_cvtsi32_si128((int)(source & 7));
    __m128i left = _mm_cvtsi32_si128(64 - (int)(source & 7));
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 8));
    _mm256_storeu_si256((__m256i *)(void *)(page + (at >> 3)),
                        _mm256_or_si256(_mm256_srl_epi64(low, right),
                                        _mm256_sll_epi64(high, left)));
}

/* As many whole fours below `at` as end at `least` or above; where the words
 * that are left end. */
CPU_TARGET_AVX2 static uint64_t golomb_up_fours(uint8_t *page, uint64_t at,
                                                uint64_t least, uint64_t by)
{
    while (at >= least + GOLOMB_FOUR && at >= by + GOLOMB_FOUR) {
        at -= GOLOMB_FOUR;
        golomb_four(page, at, at - by);
    }
    return at;
}

CPU_TARGET_AVX2 static uint64_t golomb_down_fours(uint8_t *page, uint64_t at,
                                                  uint64_t most, uint64_t by)
{
    for (; at + GOLOMB_FOUR <= most; at += GOLOMB_FOUR)
        golomb_four(page, at, at + by);
    return at;
}
#endif

/* From the last word to the first, so that none is written before it is
 * read. */
void golomb_up(uint8_t *page, uint64_t from, uint64_t to, uint64_t by)
{
    uint64_t first = from + by, last = to + by;
    if (from >= to)
        return;
    for (uint64_t at = ((last - 1) | 63) + 1; at > first; ) {
#if CPU_X86
        if (at <= last && cpu_now() >= CPU_AVX2) {
            uint64_t left = golomb_up_fours(page, at, first, by);
            if (left < at) {
                at = left;
                continue;
            }
        }
#endif
        at -= 64;
        uint64_t word = at >= by ? golomb_word(page, at - by)
                                 : golomb_word(page, 0) << (by - at);
        golomb_blend(page, at, word, golomb_mask(at, first, last));
    }
}

void golomb_down(uint8_t *page, uint64_t from, uint64_t to, uint64_t by)
{
    uint64_t first = from - by, last = to - by;
    if (from >= to)
        return;
    for (uint64_t at = first & ~UINT64_C(63); at < last; at += 64) {
#if CPU_X86
        if (at >= first && cpu_now() >= CPU_AVX2)
            at = golomb_down_fours(page, at, last, by);
        if (at >= last)
            return;
#endif
        golomb_blend(page, at, golomb_word(page, at + by),
                     golomb_mask(at, first, last));
    }
}

/* ---- Clear and write --------------------------------------------------- */

void golomb_clear(uint8_t *page, uint64_t from, uint64_t to)
{
    for (uint64_t at = from & ~UINT64_C(63); at < to; at += 64)
        golomb_blend(page, at, 0, golomb_mask(at, from, to));
}

void golomb_put(uint8_t *page, uint64_t at, uint64_t value, uint32_t bits)
{
    uint64_t word = at & ~UINT64_C(63), shift = at & 63, end = at + bits;
    if (bits == 0)
        return;
    golomb_blend(page, word, value << shift, golomb_mask(word, at, end));
    if (shift + bits > 64)
        golomb_blend(page, word + 64, value >> (64 - shift),
                     golomb_mask(word + 64, at, end));
}

/* Entries stand one behind another, none runs over: so that the same number is
 * added to all that a word of 57 bits holds at once. What a forged table makes
 * run over stays in these bits. */
void golomb_move_ends(const golomb_view *v, uint8_t *page, uint64_t bucket,
                      uint64_t by)
{
    uint32_t entry = v->entry, some = 57 / entry;
    uint64_t each = 0;
    for (uint32_t i = 0; i < some; i++)
        each |= UINT64_C(1) << i * entry;
    each *= by;
    for (; bucket < v->buckets; bucket += some) {
        uint64_t left = v->buckets - bucket;
        uint32_t bits = left < some ? (uint32_t)left * entry : some * entry;
        uint64_t at = bucket * entry;
        golomb_put(page, at, (golomb_bits(page, at) + each)
                             & golomb_low(bits), bits);
    }
}
