/* gcs_look.c - looks up keys in the code of kind `gcs`.
 *
 * First one key, then batches: in portable C, and with AVX-512, which sifts a
 * row of keys at a time. gcs_avx2.c does so with AVX2.
 */
#include "kinds/frozen/gcs/gcs.h"

#include <assert.h>

#if CPU_X86
#include <immintrin.h>
#endif

/* ---- Single keys ------------------------------------------------------- */

/* Looks up one key, with a view. */
static bool gcs_one(const void *subject, uint64_t hash)
{
    const gcs_view *v = subject;
    uint64_t mixed = gcs_mix(v, hash);
    gcs_span span = gcs_locate(v, gcs_block_of(v, mixed));
    return gcs_find(v, span, gcs_number_of(v, mixed));
}

bool gcs_contains(const void *image, uint64_t hash)
{
    const gcs_view v = gcs_look(image);
    return gcs_one(&v, hash);
}

/* ---- Batches ----------------------------------------------------------- */

static void gcs_contains_portable(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    const gcs_view v = gcs_look(image);
    GCS_ROLL(v, hashes, n, gcs_locate,
             present[key] = gcs_find(&v, trip->span, trip->wanted));
}

#if CPU_X86
/* A row of keys of a block at a time: 32, or 16 where remainders have more than
 * 10 bits. Let L be the sum of the remainders up to that of key i, and i + 1;
 * then its number, and 1, is 2^k Q + L, where Q is the sum of the quotients. So
 * what is wanted, and 1, less L, must be a multiple of 2^k: that sifts all keys
 * of the block but one in 2^k, and takes the remainders only, which are where
 * they are. For a key that passes, Q is then known: it tells where in the
 * quotients the key's one bit is, and i how many are before it.
 *
 * How many rows a block has, which of them have keys that pass, and whether a
 * one bit is there, cannot be foreseen, and to branch on it cost more than all
 * else together. So this goes in stages, each a plain loop over a list that the
 * one before wrote: rows of 64 lookups; those of them with keys that pass; keys
 * with a one bit in the right place. What belongs on a list is written to its
 * end, and so is what does not; only the end moves on for one, not the other.
 */
enum {
    GCS_ROWS = 240, GCS_ROWS_EACH = 64, /* in the queue, and of one lookup   */
    GCS_K_LANES = 10, GCS_K_WIDE = 26,  /* 32 remainders add up in 16 bits,
                                           16 of them in 32                  */
    GCS_K_DENSE = 7                     /* up to here it is no rare row that
                                           has keys that pass                */
};

typedef struct {
    uint64_t start, stop;               /* the block's bits                  */
    uint64_t left;                      /* the number wanted, and 1          */
    int64_t  lines;                     /* as gcs_lines() has it             */
} gcs_lookup;

typedef struct {
    uint64_t inverse;                   /* 2^32 / bits of a row, rounded up  */
    size_t   rows;
    gcs_lookup lookup[GCS_AHEAD];
    uint32_t row[GCS_ROWS + 16];        /* lookup, times 2^16, and which of
                                           its rows                          */
    uint64_t left[GCS_ROWS];            /* what is left before it of the
                                           number wanted, and 1              */
    uint8_t  (*sums)[64];               /* L of its keys, from there on      */
    uint32_t pass[GCS_ROWS];            /* its keys that pass, as bits       */
    uint32_t some[GCS_ROWS];            /* the rows that have such keys      */
} gcs_queue;

/* Counts the bits set in 64 bytes from bit `start` of the first byte to before
 * bit `end`, at most 512. Bytes after that are not read.
 */
CPU_TARGET_AVX512 PLATFORM_INLINE uint64_t
gcs_ones_here(const uint8_t *bytes, unsigned start, uint64_t end)
{
    const __m512i none = _mm512_setzero_si512(), few = _mm512_set1_epi8(15);
    const __m512i ones = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i begin = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384,
                                            448);
    __mmask64 inside = _bzhi_u64(UINT64_MAX, (unsigned)((end + 7) / 8));
    __m512i x = _mm512_maskz_loadu_epi8(inside, bytes);
    __m512i left = _mm512_max_epi64(none,
        _mm512_sub_epi64(_mm512_set1_epi64((int64_t)end), begin));
    __m512i after = _mm512_sllv_epi64(_mm512_set1_epi64(-1), left);
    __m512i before = _mm512_zextsi128_si512(
        _mm_cvtsi32_si128((1 << start) - 1));
    x = _mm512_andnot_si512(_mm512_or_si512(before, after), x);
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(x, 4), few);
    x = _mm512_add_epi8(_mm512_shuffle_epi8(ones, _mm512_and_si512(x, few)),
                        _mm512_shuffle_epi8(ones, high));
    return (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(x, none));
}

/* Counts the bits of the code set from `start` to before `end`. */
CPU_TARGET_AVX512 static inline uint64_t
gcs_ones(const uint8_t *code, uint64_t start, uint64_t end)
{
    const uint8_t *bytes = code + (start >> 3);
    uint64_t ones = 0, left = end - (start & ~UINT64_C(7));
    unsigned skip = start & 7;
    for (; left > 512; left -= 512, bytes += 64, skip = 0)
        ones += gcs_ones_here(bytes, skip, 512);
    return ones + gcs_ones_here(bytes, skip, left);
}

PLATFORM_INLINE uint32_t gcs_lanes(uint32_t k)
{
    return k > GCS_K_LANES ? 16 : 32;
}

/* The fewest bits that a row of keys has. */
PLATFORM_INLINE uint64_t gcs_row_bits(uint32_t k)
{
    return (uint64_t)gcs_lanes(k) * (k + 1);
}

PLATFORM_INLINE void gcs_begin(const gcs_view *v, gcs_queue *q,
                               uint8_t (*sums)[64])
{
    q->sums = sums;
    q->inverse = (UINT64_C(1) << 32) / gcs_row_bits(v->k) + 1;
    q->rows = 0;
}

/* The number in a lane of a row. */
PLATFORM_INLINE uint32_t gcs_lane(const uint8_t *row, uint32_t lane, bool wide)
{
    if (wide)
        return image_u32(row, 4 * lane);
    return image_u32(row, 4 * (lane / 2)) >> 16 * (lane % 2) & 0xFFFF;
}

/* A key that passed, the one bit it should have, and whose lookup it is. */
typedef struct {
    uint64_t key, one;
    uint32_t lookup;
} gcs_guess;

/* The key of that lane of a row; is its one bit there? For half of those that
 * pass by chance it is not. */
PLATFORM_INLINE bool gcs_guess_for(gcs_guess *guess, const gcs_view *v,
                                   const gcs_queue *q, uint32_t row,
                                   uint32_t lane)
{
    const gcs_lookup *lookup = &q->lookup[q->row[row] >> 16];
    const uint32_t lanes = gcs_lanes(v->k);
    uint64_t key = (q->row[row] & 0xFFFF) * lanes + lane;
    uint64_t left = q->left[row] - gcs_lane(q->sums[row], lane, lanes == 16);
    uint64_t one = lookup->start + key + (left >> v->k);
    bool room = !(left >> 63) & (one + 1 + (key + 1) * v->k <= lookup->stop);
    one = room ? one : lookup->start;
    *guess = (gcs_guess){ key, one, q->row[row] >> 16 };
    return room & (gcs_window(v->code, one) & 1);
}

/* The number is there if as many one bits come before it as there are keys. */
CPU_TARGET_AVX512 static void gcs_settle(const gcs_view *v, const gcs_queue *q,
                                         const gcs_guess *guess, size_t n,
                                         bool *present)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t lookup = guess[i].lookup;
        present[lookup] |= guess[i].key
            == gcs_ones(v->code, q->lookup[lookup].start, guess[i].one);
    }
}

/* Settle one key of each of the first `some` rows of the list of that name.
 * Those that have more stay on it: so many. */
CPU_TARGET_AVX512 static size_t gcs_round(const gcs_view *v, gcs_queue *q,
                                          size_t some, bool *present)
{
    gcs_guess guess[GCS_ROWS];
    size_t n = 0, more = 0;
    for (size_t i = 0; i < some; i++) {
        uint32_t row = q->some[i], pass = q->pass[row];
        n += gcs_guess_for(&guess[n], v, q, row, platform_trailing_zeros(pass));
        q->pass[row] = pass &= pass - 1;
        q->some[more] = row;
        more += pass != 0;
    }
    gcs_settle(v, q, guess, n, present);
    return more;
}

/* Settle all keys that passed. */
CPU_TARGET_AVX512 static void gcs_settle_all(const gcs_view *v, gcs_queue *q,
                                             bool *present)
{
    size_t some = 0;
    for (uint32_t r = 0; r < q->rows; r++) {
        q->some[some] = r;
        some += q->pass[r] != 0;
    }
    while (some > 0)
        some = gcs_round(v, q, some, present);
}

/* gcs_locate, its sum in one register. */
CPU_TARGET_AVX512 static inline gcs_span
gcs_locate_avx512(const gcs_view *v, uint64_t block)
{
    uint64_t slot = block % GCS_RECORD_BLOCKS;
    __m512i lengths = _mm512_maskz_loadu_epi8((UINT64_C(1) << slot) - 1,
                                              gcs_record(v, block) + 8);
    __m512i sums = _mm512_sad_epu8(lengths, _mm512_setzero_si512());
    return gcs_span_at(v, block, (uint64_t)_mm512_reduce_add_epi64(sums));
}

/* The first byte of 64 that hold all bits of a block up to `top`, or the last
 * 481 of them and more; no line but the block's own, where `lines`, which is
 * where they begin, is as gcs_lines() has it. */
PLATFORM_INLINE int64_t gcs_from(uint64_t top, int64_t lines)
{
    int64_t from = (int64_t)((top + 31) >> 5) * 4 - 64;
    return from > lines ? from : lines;
}

/* Where the line begins that the block begins in; but the 64 bytes from there
 * on must not reach beyond the code. They may begin in the index. */
PLATFORM_INLINE int64_t gcs_lines(const gcs_view *v, gcs_span span)
{
    int64_t line = (int64_t)(span.start >> 3 & ~UINT64_C(63));
    int64_t last = (int64_t)(v->bits >> 3) - 64;
    return line < last ? line : last;
}

/* Sums remainder plus 1 over the 32 keys whose remainders end before bit `top`
 * of 64 bytes: first within 128 bits, then in pairs and in halves of the
 * register. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
gcs_sums(__m512i words, uint32_t top, uint32_t k)
{
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i number = _mm512_set_epi16(32, 31, 30, 29, 28, 27, 26, 25, 24,
        23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5,
        4, 3, 2, 1);
    const __m512i halves = _mm512_set1_epi16(15);
    const __m512i pairs = _mm512_set_epi64(
        0x0017001700170017, 0x0017001700170017, 0, 0,
        0x0007000700070007, 0x0007000700070007, 0, 0);      /* words 23, 7 */
    const __m512i steps = _mm512_mullo_epi16(number,
                                             _mm512_set1_epi16((short)k));
    __m512i at = _mm512_sub_epi16(_mm512_set1_epi16((short)top), steps);
    __m512i word = _mm512_srli_epi16(at, 4);
    __m512i shift = _mm512_and_si512(at, _mm512_set1_epi16(15));
    __m512i up = _mm512_sub_epi16(_mm512_set1_epi16(16), shift);
    __m512i low = _mm512_permutexvar_epi16(word, words);
    __m512i high = _mm512_permutexvar_epi16(_mm512_add_epi16(word, one), words);
    __m512i x = _mm512_or_si512(_mm512_srlv_epi16(low, shift),
                                _mm512_sllv_epi16(high, up));
    x = _mm512_and_si512(x, _mm512_set1_epi16((short)((1u << k) - 1)));
    x = _mm512_add_epi16(x, one);
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 2));
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 4));
    x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 8));
    x = _mm512_add_epi16(x,
            _mm512_maskz_permutexvar_epi16(0xFF00FF00, pairs, x));
    return _mm512_add_epi16(x,
               _mm512_maskz_permutexvar_epi16(0xFFFF0000, halves, x));
}

/* Works on 16 keys, in lanes of 32 bits. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
gcs_sums_wide(__m512i words, uint32_t top, uint32_t k)
{
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    const __m512i number = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                             12, 13, 14, 15, 16);
    const __m512i steps = _mm512_mullo_epi32(_mm512_set1_epi32((int)k), number);
    __m512i at = _mm512_sub_epi32(_mm512_set1_epi32((int)top), steps);
    __m512i word = _mm512_srli_epi32(at, 5);
    __m512i shift = _mm512_and_si512(at, _mm512_set1_epi32(31));
    __m512i up = _mm512_sub_epi32(_mm512_set1_epi32(32), shift);
    __m512i low = _mm512_permutexvar_epi32(word, words);
    __m512i high = _mm512_permutexvar_epi32(_mm512_add_epi32(word, one), words);
    __m512i x = _mm512_or_si512(_mm512_srlv_epi32(low, shift),
                                _mm512_sllv_epi32(high, up));
    x = _mm512_and_si512(x, _mm512_set1_epi32((int)((1u << k) - 1)));
    x = _mm512_add_epi32(x, one);
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    return _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
}

/* Returns a bit for each key of a row that passes: `left` less L is a multiple
 * of 2^k. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
gcs_pass(__m512i sums, uint64_t left, uint32_t k, bool wide)
{
    int mask = (int)((1u << k) - 1);
    if (wide)
        return _mm512_testn_epi32_mask(_mm512_set1_epi32(mask),
                   _mm512_sub_epi32(_mm512_set1_epi32((int)left), sums));
    return _mm512_testn_epi16_mask(_mm512_set1_epi16((short)mask),
               _mm512_sub_epi16(_mm512_set1_epi16((short)left), sums));
}

/* Finds the keys that pass in all rows of the queue. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
gcs_sift(const gcs_view *v, gcs_queue *q, bool wide)
{
    const uint32_t k = v->k, step = gcs_lanes(k) * k;
    const uint8_t *code = v->code;
    uint64_t left = 0;
    for (size_t r = 0, rows = q->rows; r < rows; r++) {
        const gcs_lookup *lookup = &q->lookup[q->row[r] >> 16];
        uint32_t number = q->row[r] & 0xFFFF;
        uint64_t top = lookup->stop - number * step;
        int64_t from = gcs_from(top, lookup->lines);
        __m512i words = _mm512_loadu_si512(code + from);
        uint32_t bit = (uint32_t)(top - 8 * (uint64_t)from);
        __m512i sums = wide ? gcs_sums_wide(words, bit, k)
                            : gcs_sums(words, bit, k);
        __m128i last = _mm512_extracti32x4_epi32(sums, 3);
        left = number == 0 ? lookup->left : left;
        q->left[r] = left;
        _mm512_storeu_si512(q->sums[r], sums);
        q->pass[r] = gcs_pass(sums, left, k, wide);
        left -= wide ? (uint32_t)_mm_extract_epi32(last, 3)
                     : (uint32_t)_mm_extract_epi16(last, 7);
    }
}

CPU_TARGET_AVX512 static void gcs_sift_narrow(const gcs_view *v, gcs_queue *q)
{
    gcs_sift(v, q, false);
}

CPU_TARGET_AVX512 static void gcs_sift_wide(const gcs_view *v, gcs_queue *q)
{
    gcs_sift(v, q, true);
}

CPU_TARGET_AVX512 static void gcs_empty(const gcs_view *v, gcs_queue *q,
                                        bool *present)
{
    if (v->k > GCS_K_LANES)
        gcs_sift_wide(v, q);
    else
        gcs_sift_narrow(v, q);
    gcs_settle_all(v, q, present);
    q->rows = 0;
}

/* present[j] for lookup j, now or when the queue is emptied. A key has k + 1
 * bits and more. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
gcs_answer_avx512(const gcs_view *v, gcs_queue *q, size_t j,
                  const gcs_trip *trip, bool *present)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                           12, 13, 14, 15);
    uint64_t row = gcs_row_bits(v->k), length = trip->span.length;
    uint64_t rows = (length + row - 1) * q->inverse >> 32;
    bool lanes = length <= GCS_ROWS_EACH * row && v->k <= GCS_K_WIDE;
    present[j] = !lanes && gcs_find(v, trip->span, trip->wanted);
    if (!lanes)
        return;
    q->lookup[j] = (gcs_lookup){
        .start = trip->span.start, .stop = trip->span.start + length,
        .left = trip->wanted + 1, .lines = gcs_lines(v, trip->span),
    };
    if (q->rows + rows > GCS_ROWS)
        gcs_empty(v, q, present);
    for (uint64_t i = 0; i < rows; i += 16)
        _mm512_storeu_si512(q->row + q->rows + i, _mm512_add_epi32(iota,
            _mm512_set1_epi32((int)(j << 16 | i))));
    q->rows += rows;
}

/* A single key has no other keys to wait with. Its rows are read in turn, and
 * all keys of a row that pass are looked up in the quotients at once. Half of
 * those that pass by chance lack a one bit where it should be, so that an
 * absent key leaves less than half a key to settle.
 */

/* 512 bits of the code, from bit `from` on; the block begins at the `skip`-th
 * of them: before the eighth, but at the end of the code, beyond which they
 * must not reach. */
typedef struct {
    __m512i  bits;
    const uint8_t *bytes;
    uint64_t from, skip;
} gcs_front;

CPU_TARGET_AVX512 PLATFORM_INLINE gcs_front gcs_front_of(const gcs_view *v,
                                                         gcs_span span)
{
    int64_t from = (int64_t)(span.start >> 3);
    int64_t last = (int64_t)(v->bits >> 3) - 64;
    from = from < last ? from : last;
    return (gcs_front){
        .bits = _mm512_loadu_si512(v->code + from), .bytes = v->code + from,
        .from = (uint64_t)from * 8, .skip = span.start - (uint64_t)from * 8,
    };
}

/* Counts the bits set from the block's first to before bit `at`. Nearly always
 * four words hold them all, and counting in all four costs less than predicting
 * the number of words. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint64_t
gcs_front_ones(const gcs_view *v, const gcs_front *front, uint64_t at)
{
    uint64_t ones = 0;
    if (at >= 256 || front->skip >= 8)
        return gcs_ones(v->code, front->from + front->skip, front->from + at);
    PLATFORM_UNROLL
    for (uint64_t i = 0; i < 256; i += 64) {
        uint64_t word = image_u64(front->bytes, i / 8);
        word &= UINT64_MAX << (i == 0 ? front->skip : 0);
        word = _bzhi_u64(word, (unsigned)(at > i ? at - i : 0));
        ones += platform_popcount(word);
    }
    return ones;
}

/* at[i]: where in the front the one bit of a row's key i should be, if `steps`
 * multiples of 2^k are left before the row, and the first of its keys, if all
 * its quotients were 0, had its bit at `origin`. Which of the keys have a bit
 * there, or should have it behind the front? */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
gcs_aim(const gcs_front *front, __m512i sums, uint64_t origin, uint64_t steps,
        uint32_t k, uint8_t *at)
{
    const __m512i lanes = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23,
        22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
        2, 1, 0);
    __m512i quotients = _mm512_sub_epi16(_mm512_set1_epi16((short)steps),
        _mm512_srl_epi16(sums, _mm_cvtsi32_si128((int)k)));
    __m512i bit = _mm512_add_epi16(_mm512_add_epi16(quotients, lanes),
                                   _mm512_set1_epi16((short)origin));
    __m512i word = _mm512_permutexvar_epi16(_mm512_srli_epi16(bit, 4),
                                            front->bits);
    __m512i one = _mm512_sllv_epi16(_mm512_set1_epi16(1),
        _mm512_and_si512(bit, _mm512_set1_epi16(15)));
    _mm512_storeu_si512(at, bit);
    return (_mm512_test_epi16_mask(word, one)
            | _mm512_cmpge_epi16_mask(bit, _mm512_set1_epi16(512)))
         & ~_mm512_movepi16_mask(quotients);
}

/* Works on 16 keys, in lanes of 32 bits. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
gcs_aim_wide(const gcs_front *front, __m512i sums, uint64_t origin,
             uint64_t steps, uint32_t k, uint8_t *at)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                            11, 12, 13, 14, 15);
    __m512i quotients = _mm512_sub_epi32(_mm512_set1_epi32((int)steps),
        _mm512_srl_epi32(sums, _mm_cvtsi32_si128((int)k)));
    __m512i bit = _mm512_add_epi32(_mm512_add_epi32(quotients, lanes),
                                   _mm512_set1_epi32((int)origin));
    __m512i word = _mm512_permutexvar_epi32(_mm512_srli_epi32(bit, 5),
                                            front->bits);
    __m512i one = _mm512_sllv_epi32(_mm512_set1_epi32(1),
        _mm512_and_si512(bit, _mm512_set1_epi32(31)));
    _mm512_storeu_si512(at, bit);
    return (uint32_t)(_mm512_test_epi32_mask(word, one)
                      | _mm512_cmpge_epi32_mask(bit, _mm512_set1_epi32(512)))
         & ~(uint32_t)_mm512_movepi32_mask(quotients);
}

/* Returns whether that key of the block is the number, if its one bit is at bit
 * `at` of the front. */
CPU_TARGET_AVX512 PLATFORM_INLINE bool
gcs_confirm(const gcs_view *v, const gcs_front *front, gcs_span span,
            uint64_t key, uint64_t at)
{
    uint64_t one = front->from + at;
    return one + 1 + (key + 1) * v->k <= span.start + span.length
        && (gcs_window(v->code, one) & 1) != 0
        && gcs_front_ones(v, front, at) == key;
}

/* Returns how often 2^k fits into the rest, which may be negative. */
PLATFORM_INLINE uint64_t gcs_steps(uint64_t left, uint32_t k)
{
    return ((left ^ UINT64_C(1) << 63) >> k) - (UINT64_C(1) << (63 - k));
}

/* gcs_find(), row by row. No sum of quotients is more than the block's bits.
 * Where remainders are long, to leave when nothing is left is as often foreseen
 * wrongly as the rows that it saves take. */
CPU_TARGET_AVX512 PLATFORM_INLINE bool
gcs_find_rows(const gcs_view *v, gcs_span span, uint64_t wanted, bool wide)
{
    const uint32_t k = v->k, lanes = wide ? 16 : 32;
    const uint64_t fewest = gcs_row_bits(k);
    const gcs_front front = gcs_front_of(v, span);
    const int64_t lines = gcs_lines(v, span);
    uint64_t left = wanted + 1, top = span.start + span.length, first = 0;
    if (left >> k > span.length)
        return false;
    for (uint64_t bits = 0; bits < span.length; bits += fewest) {
        uint8_t at[64];
        int64_t from = gcs_from(top, lines);
        __m512i words = _mm512_loadu_si512(v->code + from);
        uint32_t bit = (uint32_t)(top - 8 * (uint64_t)from);
        __m512i sums = wide ? gcs_sums_wide(words, bit, k)
                            : gcs_sums(words, bit, k);
        __m128i last = _mm512_extracti32x4_epi32(sums, 3);
        uint32_t pass = gcs_pass(sums, left, k, wide);
        uint64_t origin = front.skip + first, steps = gcs_steps(left, k);
        if (k <= GCS_K_DENSE && left >> k > span.length)
            return false;
        if (k <= GCS_K_DENSE || pass != 0)
            pass &= wide ? gcs_aim_wide(&front, sums, origin, steps, k, at)
                         : gcs_aim(&front, sums, origin, steps, k, at);
        for (; pass != 0; pass &= pass - 1) {
            uint32_t lane = platform_trailing_zeros(pass);
            if (gcs_confirm(v, &front, span, first + lane,
                            gcs_lane(at, lane, wide)))
                return true;
        }
        left -= wide ? (uint32_t)_mm_extract_epi32(last, 3)
                     : (uint32_t)_mm_extract_epi16(last, 7);
        top -= lanes * k;
        first += lanes;
    }
    return false;
}

CPU_TARGET_AVX512 static bool gcs_one_avx512(const void *subject, uint64_t hash)
{
    const gcs_view *v = subject;
    uint64_t mixed = gcs_mix(v, hash);
    gcs_span span = gcs_locate_avx512(v, gcs_block_of(v, mixed));
    uint64_t wanted = gcs_number_of(v, mixed);
    if (span.length > GCS_ROWS_EACH * gcs_row_bits(v->k) || v->k > GCS_K_WIDE)
        return gcs_find(v, span, wanted);
    return v->k > GCS_K_LANES ? gcs_find_rows(v, span, wanted, true)
                              : gcs_find_rows(v, span, wanted, false);
}

PLATFORM_APART CPU_TARGET_AVX512 static void
gcs_contains_with(uint8_t (*sums)[64], const void *image,
                  const uint64_t *hashes, size_t n, bool *present)
{
    const gcs_view v = gcs_look(image);
    gcs_queue q;
    gcs_begin(&v, &q, sums);
    GCS_ROLL(v, hashes, n, gcs_locate_avx512,
        size_t j = key % GCS_AHEAD;
        gcs_answer_avx512(&v, &q, j, trip, present + key - j);
        if (j == GCS_AHEAD - 1 || key == n - 1)
            gcs_empty(&v, &q, present + key - j));
}

/* The sums in a frame of their own: no frame is above 16 KiB. */
static void gcs_contains_avx512(const void *image, const uint64_t *hashes,
                                size_t n, bool *present)
{
    uint8_t sums[GCS_ROWS][64];
    gcs_contains_with(sums, image, hashes, n, present);
}
#endif

void gcs_contains_many(const void *image, const uint64_t *hashes, size_t n,
                       bool *present)
{
#if CPU_X86
    if (cpu_now() >= CPU_AVX512) {
        gcs_contains_avx512(image, hashes, n, present);
        return;
    }
    if (cpu_now() >= CPU_AVX2) {
        gcs_contains_avx2(image, hashes, n, present);
        return;
    }
#endif
    gcs_contains_portable(image, hashes, n, present);
}

static_assert(sizeof(gcs_view) <= KIND_VIEW, "a view has its room");

kind_contains *gcs_contains_here(const void **subject, void *view)
{
    *(gcs_view *)view = gcs_look(*subject);
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX512)
        return gcs_one_avx512;
    if (cpu_now() >= CPU_AVX2)
        return gcs_one_avx2;
#endif
    return gcs_one;
}
