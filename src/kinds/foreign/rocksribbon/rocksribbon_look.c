/* rocksribbon_look.c - lookups in RocksDB's Ribbon filters.
 *
 * The coefficients of a key, shifted to its start, lie over the 256 slots of
 * two blocks. In each column, the bits of the solution under them are folded to
 * their parity, which must be the key's bit. Where a start is the first slot of
 * its block, the second block has no part, and may not exist.
 *
 * A batch first finds the places of a group of keys and prefetches their lines.
 * The AVX2 code folds eight columns at once: pairs of 128 bits to 64 bits each,
 * then eight lanes of 32 bits to one bit each. Lanes beyond the last column
 * read the next block's columns and are ignored. Near the end of the filter,
 * where they might read beyond it, the portable code takes over.
 */
#include "kinds/foreign/rocksribbon/rocksribbon.h"

#include <string.h>

#include "base/cpu.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum { ROCKSRIBBON_EIGHT = 8, ROCKSRIBBON_RING = 128 };

/* A key, ready to be looked up. */
typedef struct {
    const uint8_t *first, *second;      /* its columns in both blocks        */
    uint64_t c[4];                      /* coefficients over both blocks     */
    uint32_t row;
    uint32_t columns;
} rocksribbon_place;

/* A filter. */
typedef struct {
    rocksribbon_shape shape;
    const uint8_t    *file, *end;       /* of the segments                   */
    uint64_t          seed;
} rocksribbon_filter;

static rocksribbon_filter rocksribbon_filter_of(const void *image)
{
    rocksribbon_filter f = {
        .shape = rocksribbon_shape_of(image_geometry(image, ROCKSRIBBON_BLOCKS),
                                      image_geometry(image,
                                                     ROCKSRIBBON_SEGMENTS)),
        .file = image_payload(image),
    };
    f.end = f.file + ROCKSRIBBON_SEGMENT * f.shape.segments;
    f.seed = rocksribbon_seed(f.end[ROCKSRIBBON_AT_SEED]);
    return f;
}

PLATFORM_INLINE rocksribbon_place
rocksribbon_find(const rocksribbon_filter *f, uint64_t hash)
{
    rocksribbon_equation e = rocksribbon_equation_of(hash, f->seed,
                                                     f->shape.starts);
    uint64_t block = e.start / ROCKSRIBBON_SLOTS;
    unsigned slot = (unsigned)(e.start % ROCKSRIBBON_SLOTS), bit = slot & 63;
    uint64_t word[3] = { e.low << bit,
                         e.high << bit | e.low >> 1 >> (63 - bit),
                         e.high >> 1 >> (63 - bit) };
    uint64_t late = 0 - (uint64_t)(slot >> 6);  /* all ones: by a word       */
    uint32_t columns = rocksribbon_columns(&f->shape, block);
    const uint8_t *at = f->file + ROCKSRIBBON_SEGMENT
                                  * rocksribbon_first(&f->shape, block);
    return (rocksribbon_place){
        .first = at,
        .second = at + (slot > 0 ? ROCKSRIBBON_SEGMENT * columns : 0),
        .c = { word[0] & ~late, (word[1] & ~late) | (word[0] & late),
               (word[2] & ~late) | (word[1] & late), word[2] & late },
        .row = e.row, .columns = columns,
    };
}

PLATFORM_INLINE bool rocksribbon_holds(const rocksribbon_place *p, bool quick)
{
    for (uint32_t i = 0; i < p->columns; i++) {
        const uint8_t *first = p->first + ROCKSRIBBON_SEGMENT * i;
        const uint8_t *second = p->second + ROCKSRIBBON_SEGMENT * i;
        uint64_t sum = (image_u64(first, 0) & p->c[0])
                     ^ (image_u64(first, 8) & p->c[1])
                     ^ (image_u64(second, 0) & p->c[2])
                     ^ (image_u64(second, 8) & p->c[3]);
        if (rocksribbon_parity(sum, quick) != (p->row >> i & 1))
            return false;
    }
    return true;
}

bool rocksribbon_contains(const void *image, uint64_t hash)
{
    rocksribbon_filter f = rocksribbon_filter_of(image);
    rocksribbon_place place = rocksribbon_find(&f, hash);
    return rocksribbon_holds(&place, false);
}

/* ---- Batches ------------------------------------------------------------ */

typedef bool rocksribbon_test(const rocksribbon_filter *f,
                              const rocksribbon_place *place);

/* Prefetches all lines of a key. */
PLATFORM_INLINE void rocksribbon_prefetch(const rocksribbon_place *p)
{
    const uint8_t *end = p->second + ROCKSRIBBON_SEGMENT * p->columns;
    for (const uint8_t *at = p->first; at < end; at += 64)
        platform_prefetch(at);
    if (p->columns > 0)
        platform_prefetch(end - 1);
}

/* Finds keys while the lines of those before are on their way. */
PLATFORM_INLINE void
rocksribbon_batch(const rocksribbon_filter *f, const uint64_t *hashes, size_t n,
                  bool *present, rocksribbon_test *test)
{
    rocksribbon_place ring[ROCKSRIBBON_RING];
    uint64_t bytes = ROCKSRIBBON_SEGMENT * f->shape.segments;
    size_t ahead = cpu_ahead(n, ROCKSRIBBON_RING / 2, bytes);
    for (size_t i = 0; i < n + ahead; i++) {
        if (i < n) {
            rocksribbon_place *p = &ring[i % ROCKSRIBBON_RING];
            *p = rocksribbon_find(f, hashes[i]);
            rocksribbon_prefetch(p);
        }
        if (i >= ahead)
            present[i - ahead] = test(f, &ring[(i - ahead)
                                               % ROCKSRIBBON_RING]);
    }
}

PLATFORM_INLINE bool rocksribbon_test_portable(const rocksribbon_filter *f,
                                               const rocksribbon_place *place)
{
    (void)f;
    return rocksribbon_holds(place, false);
}

static void rocksribbon_batch_portable(const rocksribbon_filter *f,
                                       const uint64_t *hashes, size_t n,
                                       bool *present)
{
    rocksribbon_batch(f, hashes, n, present, rocksribbon_test_portable);
}

#if CPU_X86
/* Returns the XOR of both blocks' bits under the coefficients, of columns
 * `first` and the next. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
rocksribbon_pair_avx2(const rocksribbon_place *p, uint32_t first, __m256i c[2])
{
    size_t at = ROCKSRIBBON_SEGMENT * (size_t)first;
    __m256i a = _mm256_loadu_si256((const void *)(p->first + at));
    __m256i b = _mm256_loadu_si256((const void *)(p->second + at));
    return _mm256_xor_si256(_mm256_and_si256(a, c[0]),
                            _mm256_and_si256(b, c[1]));
}

/* Folds four columns to 64 bits each, in the order 0 2 1 3. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
rocksribbon_four_avx2(const rocksribbon_place *p, uint32_t first, __m256i c[2])
{
    __m256i a = rocksribbon_pair_avx2(p, first, c);
    __m256i b = rocksribbon_pair_avx2(p, first + 2, c);
    return _mm256_xor_si256(_mm256_unpacklo_epi64(a, b),
                            _mm256_unpackhi_epi64(a, b));
}

/* Returns whether the parities of up to eight columns are those of the row. */
CPU_TARGET_AVX2 PLATFORM_INLINE bool
rocksribbon_eight_avx2(const rocksribbon_place *p, uint32_t first, __m256i c[2])
{
    const __m256i column = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256 a = _mm256_castsi256_ps(rocksribbon_four_avx2(p, first, c));
    __m256 b = _mm256_castsi256_ps(rocksribbon_four_avx2(p, first + 4, c));
    __m256i x = _mm256_castps_si256(
        _mm256_xor_ps(_mm256_shuffle_ps(a, b, 0x88),
                      _mm256_shuffle_ps(a, b, 0xDD)));
    __m256i row = _mm256_set1_epi32((int)(p->row >> first));
    int left = (int)(p->columns - first);
    for (int by = 16; by >= 1; by /= 2)
        x = _mm256_xor_si256(x, _mm256_srli_epi32(x, by));
    x = _mm256_xor_si256(x, _mm256_srlv_epi32(row, column));
    x = _mm256_and_si256(x, _mm256_cmpgt_epi32(_mm256_set1_epi32(left),
                                               column));
    return _mm256_testz_si256(x, _mm256_set1_epi32(1));
}

CPU_TARGET_AVX2 PLATFORM_INLINE bool
rocksribbon_test_avx2(const rocksribbon_filter *f,
                      const rocksribbon_place *p)
{
    size_t eights = (p->columns + ROCKSRIBBON_EIGHT - 1) / ROCKSRIBBON_EIGHT;
    if ((size_t)(f->end - p->second)
        < eights * ROCKSRIBBON_EIGHT * ROCKSRIBBON_SEGMENT)
        return rocksribbon_holds(p, true);
    __m256i c[2] = {
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)&p->c[0])),
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)&p->c[2])),
    };
    for (uint32_t i = 0; i < p->columns; i += ROCKSRIBBON_EIGHT)
        if (!rocksribbon_eight_avx2(p, i, c))
            return false;
    return true;
}

CPU_TARGET_AVX2 static void
rocksribbon_batch_avx2(const rocksribbon_filter *f, const uint64_t *hashes,
                       size_t n, bool *present)
{
    rocksribbon_batch(f, hashes, n, present, rocksribbon_test_avx2);
}
#endif

void rocksribbon_contains_many(const void *image, const uint64_t *hashes,
                               size_t n, bool *present)
{
    rocksribbon_filter f = rocksribbon_filter_of(image);
#if CPU_X86
    if (cpu_now() >= CPU_AVX2) {
        rocksribbon_batch_avx2(&f, hashes, n, present);
        return;
    }
#endif
    rocksribbon_batch_portable(&f, hashes, n, present);
}
