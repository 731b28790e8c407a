/* golomb_move.c - shifts the bits of a page of kind `golomb` up and down.
 *
 * Pages are whole words of 64 bits, and only whole words of the page are
 * written. Reads may run up to 16 bytes past it; those bytes are dropped.
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
/* The shifts of the present words and, the other way, of the next ones. */
typedef struct {
    __m128i right, left;
} golomb_shifts;

CPU_TARGET_AVX2 static inline golomb_shifts golomb_shifts_of(uint64_t source)
{
    return (golomb_shifts){ _mm_cvtsi32_si128((int)(source & 7)),
                            _mm_cvtsi32_si128(64 - (int)(source & 7)) };
}

/* Four words: `low` are those that begin in the byte of their first bit, and
 * `next` those that follow. They are not loaded a second time: a load of bytes
 * of which some were just stored has to wait for the store. */
CPU_TARGET_AVX2 static inline void golomb_four(uint8_t *to, __m256i low,
                                               __m256i next, golomb_shifts s)
{
    __m256i high = _mm256_permute4x64_epi64(
        _mm256_blend_epi32(low, next, 0x03), 0x39);
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_or_si256(_mm256_srl_epi64(low, s.right),
                                        _mm256_sll_epi64(high, s.left)));
}

CPU_TARGET_AVX2 static inline __m256i golomb_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

CPU_TARGET_AVX2 static inline __m256i golomb_load8(const uint8_t *p)
{
    return _mm256_castsi128_si256(
        _mm_cvtsi64_si128((long long)image_u64(p, 0)));
}

/* Moves as many groups of four words below `at` as begin at `least` or above;
 * returns where the remaining words end. */
CPU_TARGET_AVX2 static uint64_t golomb_up_fours(uint8_t *page, uint64_t at,
                                                uint64_t least, uint64_t by)
{
    uint64_t stop = least > by ? least : by;
    uint64_t fours = at > stop ? (at - stop) / GOLOMB_FOUR : 0;
    if (fours == 0)
        return at;
    golomb_shifts s = golomb_shifts_of(at - by);
    uint8_t *to = page + (at >> 3);
    const uint8_t *from = page + ((at - by) >> 3);
    __m256i next = golomb_load8(from);
    for (uint64_t i = 0; i < fours; i++) {
        from -= GOLOMB_FOUR / 8;
        to -= GOLOMB_FOUR / 8;
        __m256i low = golomb_load(from);
        golomb_four(to, low, next, s);
        next = low;
    }
    return at - fours * GOLOMB_FOUR;
}

/* The load ahead is of 8 bytes and not 32 where these are the last. */
CPU_TARGET_AVX2 static uint64_t golomb_down_fours(uint8_t *page, uint64_t at,
                                                  uint64_t most, uint64_t by)
{
    uint64_t fours = (most - at) / GOLOMB_FOUR;
    if (fours == 0)
        return at;
    golomb_shifts s = golomb_shifts_of(at + by);
    uint8_t *to = page + (at >> 3);
    const uint8_t *from = page + ((at + by) >> 3);
    __m256i low = golomb_load(from);
    for (uint64_t i = 1; i < fours; i++) {
        from += GOLOMB_FOUR / 8;
        __m256i next = golomb_load(from);
        golomb_four(to, low, next, s);
        to += GOLOMB_FOUR / 8;
        low = next;
    }
    golomb_four(to, low, golomb_load8(from + GOLOMB_FOUR / 8), s);
    return at + fours * GOLOMB_FOUR;
}
#endif

/* Moves from the last word to the first, so that none is overwritten before it
 * is read. */
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

/* The numbers that are added to a word and to the next one. */
typedef struct {
    uint64_t word, spill;
} golomb_step;

PLATFORM_INLINE golomb_step golomb_raise(golomb_step s, uint64_t by,
                                         uint64_t shift)
{
    return (golomb_step){ s.word + (by << shift),
                          s.spill | by >> 1 >> (63 - shift) };
}

/* The entries from this one on are one long number, to which one is added that
 * has `by` at each entry's place, word by word: no entry runs over into the
 * next but in a forged page, whose bits it is then. */
PLATFORM_INLINE void golomb_move_ends_by(const golomb_view *v, uint8_t *page,
                                         uint64_t bucket, uint64_t by, bool up)
{
    uint64_t at = bucket * v->entry, start = at & ~UINT64_C(63), carry = 0;
    uint64_t whole = 64 / v->entry, many = 0;
    for (uint64_t i = 0; i < whole; i++)
        many |= by << i * v->entry;
    golomb_step s = { 0, 0 };
    for (; start < v->code; start += 64) {
        uint8_t *p = page + (start >> 3);
        s = (golomb_step){ s.spill, 0 };
        if (at + whole * v->entry <= v->code) {
            s = golomb_raise(s, many, at - start);
            at += whole * v->entry;
        }
        for (; at < start + 64 && at < v->code; at += v->entry)
            s = golomb_raise(s, by, at - start);
        uint64_t before = image_u64(p, 0);
        uint64_t word = up ? before + s.word : before - s.word;
        uint64_t over = up ? word < before : word > before;
        uint64_t now = up ? word + carry : word - carry;
        carry = over | (carry & (now == (up ? 0 : UINT64_MAX)));
        image_set_u64(p, 0, now);
    }
}

void golomb_move_ends(const golomb_view *v, uint8_t *page, uint64_t bucket,
                      uint64_t by)
{
    if (by >> 63 == 0)
        golomb_move_ends_by(v, page, bucket, by, true);
    else
        golomb_move_ends_by(v, page, bucket, 0 - by, false);
}
