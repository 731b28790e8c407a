/* bloomery/inline.h - lookups compiled into the program, for loops that query
 * one key at a time.
 *
 * An image is documented bytes (docs/format), so a loop that looks up one
 * key at a time does not need a library call for each. A *view* holds what a
 * lookup needs to know about a filter, such as the place and the number of its
 * bytes. The library fills it from a filter that it has checked; the functions
 * here are compiled into the program and read where it points.
 *
 *      bly_inline_blocked view;
 *      if (bly_inline_blocked_of(&view, filter) < 0) {
 *          fprintf(stderr, "%s\n", bly_why());
 *          return 1;
 *      }
 *      for (size_t i = 0; i < n; i++)
 *          hits += bly_inline_blocked_contains(&view, hash[i]);
 *
 * A hash is the one by which the filter knows the key. It comes from bly_hash,
 * from bly_hash_many, or from the program's own code if that computes the
 * filter's hash function with its seed (bly_info_t names both). Answers are
 * those of bly_contains_hash, for every filter of the kind, whatever its
 * options and wherever its bytes are: in memory, mapped from a file or wrapped.
 *
 * If many hashes are available at a time, bly_contains_hashes is faster: it
 * fetches the cache lines of many keys at once and tests several keys together.
 * In a loop of your own, call the view's prefetch for a later key.
 *
 * HOW LONG A VIEW IS VALID
 *
 * A view is valid until its filter is freed (bly_free), resized (bly_resize) or
 * folded (bly_fold); after these two, fill it again. All other functions leave
 * the bytes where they are, and the view shows the filter's present contents.
 * Many threads may query by views,
 * even of one filter, while no thread changes it. If the filter was made with
 * BLY_SHARED, other threads may add to it with bly_add meanwhile. Views can be
 * copied. As for every lookup, other processes must not truncate a mapped file
 * meanwhile.
 *
 * ADDING
 *
 * Three kinds can be added to by a view. The library must be told, because the
 * filter counts its keys and a mapped file is marked "being written":
 *
 *      if (bly_inline_begin(filter) < 0)
 *          return 1;
 *      for (size_t i = 0; i < n; i++)
 *          bly_inline_blocked_add(&view, hash[i]);
 *      bly_inline_end(filter, n);
 *
 * Between the two calls one thread may query and add by the view, and no other
 * call may be made with the filter. Adding at any other time is undefined: the
 * memory may be read-only, and checksums would be wrong.
 *
 * VECTORS
 *
 * The library finds out what the processor supports; this header uses only what
 * the compiler may assume. With AVX2 or AVX-512 enabled (-mavx2,
 * -march=native), "blocked" and "split" test all bits of a key at once. On a
 * processor with AVX2 that is not enabled, "blocked" is slower here than a
 * library call, which does use it. Answers are the same everywhere.
 * BLY_INLINE_PORTABLE, defined before this header, disables vectors. BLY_CPU,
 * BLY_AHEAD and BLY_NEAR (bly_processor) have no effect on views.
 *
 * To support several processors in one program, compile the file with the loop
 * once for each set of flags, under different names, and choose by
 * bly_processor. Do not put such a loop into functions that C++ shares among
 * files (inline functions, templates) if the files have different flags: the
 * linker would keep any one of them.
 *
 * COMPATIBILITY
 *
 * Views keep their size, as structs of bloomery.h do, and so do the meanings of
 * their fields. A program compiled with this header answers correctly with
 * every library that it may be linked to. If a filter has a payload version
 * that a view does not know, the call is BLY_EUNSUPPORTED; no such version
 * exists yet.
 */
#ifndef BLOOMERY_INLINE_H
#define BLOOMERY_INLINE_H

#include <bloomery.h>

/* Vectors that the compiler may use: 16, 32 or 64 bytes. The library defines
 * BLY_INSIDE_ALL and gets the bodies for AVX2 whatever the compiler's flags. */
#if !defined(__GNUC__) || defined(BLY_INLINE_PORTABLE) || !defined(__SSE2__)
#define BLY_INSIDE_VECTOR 0
#elif !defined(__AVX2__)
#define BLY_INSIDE_VECTOR 16
#include <emmintrin.h>
#elif !defined(__AVX512F__)
#define BLY_INSIDE_VECTOR 32
#include <immintrin.h>
#else
#define BLY_INSIDE_VECTOR 64
#include <immintrin.h>
#endif

#if BLY_INSIDE_VECTOR >= 32
#define BLY_INSIDE_AVX2
#elif defined(BLY_INSIDE_ALL)
#define BLY_INSIDE_AVX2 __attribute__((target("avx2")))
#include <immintrin.h>
#endif

/* Suppresses warnings that programs often enable, about code that is
 * intended. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#endif

/* BLY_INLINE: public functions. BLY_INSIDE: their building blocks. */
#if defined(__GNUC__) && !defined(BLY_INLINE_FREELY)
#define BLY_INLINE static inline __attribute__((always_inline))
#else
#define BLY_INLINE static inline
#endif
#define BLY_INSIDE BLY_INLINE

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Adding ============================================================ */

/* Announces adds by a view of a filter. Its file, if it is mapped, is marked
 * "being written". BLY_EREADONLY; BLY_EIO (as for bly_open, if the file cannot
 * be marked); BLY_EUNSUPPORTED (kinds other than "blocked", "split" and
 * "standard"; a filter with BLY_SHARED: use bly_add_hash). */
BLY_API bly_status bly_inline_begin(bly_filter *filter) BLY_GIVEN(1);

/* Ends the adds by a view and counts them. Their number includes repeats, as
 * bly_add counts them. Call it once for each successful bly_inline_begin. */
BLY_API void bly_inline_end(bly_filter *filter, uint64_t added) BLY_GIVEN(1);

/* ==== Blocked =========================================================== */

/* A view of kind "blocked". */
typedef struct {
    uint8_t *payload;           /* 64 bytes per line                         */
    uint64_t lines;
    uint32_t k;                 /* bits per key, all in one line             */
    uint32_t zero;
    uint64_t reserved[5];       /* 0                                         */
} bly_inline_blocked;

/* Fills in a view of a filter of kind "blocked". BLY_EUNSUPPORTED: the filter
 * is of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_blocked_of(bly_inline_blocked *view,
                                         const bly_filter *filter)
                                         BLY_MUST BLY_GIVEN(1, 2);

/* Fills in a view of a filter of kind "blocked" with k bits per key.
 * BLY_EUNSUPPORTED: the filter is of another kind or has another k; the view is
 * untouched. Thread-safe. */
BLY_API bly_status bly_inline_blocked_of_k(bly_inline_blocked *view,
                                           const bly_filter *filter,
                                           uint32_t k)
                                           BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view, or adds it. The answers are those of
 * bly_contains_hash and bly_add_hash: BLY_OK if it was not there, BLY_SEEN if
 * it was perhaps there before. Adds are allowed only between bly_inline_begin
 * and bly_inline_end. */
BLY_INLINE bool bly_inline_blocked_contains(const bly_inline_blocked *view,
                                            uint64_t hash);
BLY_INLINE bly_status bly_inline_blocked_add(const bly_inline_blocked *view,
                                             uint64_t hash);

/* Looks up a hash by a view of a filter with k bits per key. If k is a constant
 * (or a parameter of a template), the code for other numbers disappears, and
 * the view should come from bly_inline_blocked_of_k: the answers are wrong if
 * the filter has another k. */
BLY_INLINE bool bly_inline_blocked_contains_k(const bly_inline_blocked *view,
                                              uint64_t hash, uint32_t k);

/* Prefetches the memory that a lookup by a view reads. A hint, to be given some
 * keys ahead if hashes arrive in bursts. */
BLY_INLINE void bly_inline_blocked_prefetch(const bly_inline_blocked *view,
                                            uint64_t hash);

/* ==== Split ============================================================= */

/* A view of kind "split". */
typedef struct {
    uint8_t *payload;           /* 32 bytes per block                        */
    uint64_t blocks;            /* below 2^31                                */
    uint64_t reserved[6];       /* 0                                         */
} bly_inline_split;

/* Fills in a view of a filter of kind "split". BLY_EUNSUPPORTED: the filter is
 * of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_split_of(bly_inline_split *view,
                                       const bly_filter *filter)
                                       BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view, or adds it. The answers are those of
 * bly_contains_hash and bly_add_hash: BLY_OK if it was not there, BLY_SEEN if
 * it was perhaps there before. Adds are allowed only between bly_inline_begin
 * and bly_inline_end. */
BLY_INLINE bool bly_inline_split_contains(const bly_inline_split *view,
                                          uint64_t hash);
BLY_INLINE bly_status bly_inline_split_add(const bly_inline_split *view,
                                           uint64_t hash);

/* Prefetches the memory that a lookup by a view reads. A hint, to be given some
 * keys ahead if hashes arrive in bursts. */
BLY_INLINE void bly_inline_split_prefetch(const bly_inline_split *view,
                                          uint64_t hash);

/* ==== Standard ========================================================== */

/* A view of kind "standard". */
typedef struct {
    uint8_t *payload;
    uint64_t m;                 /* bits                                      */
    uint32_t k;                 /* bits per key                              */
    uint32_t index;             /* the scheme that places them; 0:
                                   index=power                               */
    uint64_t reserved[5];       /* 0                                         */
} bly_inline_standard;

/* Fills in a view of a filter of kind "standard". BLY_EUNSUPPORTED: the filter
 * is of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_standard_of(bly_inline_standard *view,
                                          const bly_filter *filter)
                                          BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view, or adds it. The answers are those of
 * bly_contains_hash and bly_add_hash: BLY_OK if it was not there, BLY_SEEN if
 * it was perhaps there before. Adds are allowed only between bly_inline_begin
 * and bly_inline_end. */
BLY_INLINE bool bly_inline_standard_contains(const bly_inline_standard *view,
                                             uint64_t hash);
BLY_INLINE bly_status bly_inline_standard_add(const bly_inline_standard *view,
                                              uint64_t hash);

/* Prefetches the memory that a lookup by a view reads first. It is that of the
 * key's first three bits, which is all that most absent keys need, for
 * index=power; does nothing for other schemes. A hint, to be given some keys
 * ahead of the lookup. */
BLY_INLINE void bly_inline_standard_prefetch(const bly_inline_standard *view,
                                             uint64_t hash);

/* ==== Fuse ============================================================== */

/* A view of kind "fuse", or of "xor", which has the same layout. */
typedef struct {
    const uint8_t *seeds;       /* a byte per shard                          */
    const uint8_t *tables;
    uint64_t stride;            /* bytes per shard's table                   */
    uint32_t shards;
    uint32_t segment;           /* L: cells per segment                      */
    uint32_t windows;           /* c: segments in which a key may begin      */
    uint32_t arity;             /* d: cells per key, 3 or 4                  */
    uint32_t bits;              /* f: per cell, which is a fingerprint       */
    uint32_t empty;             /* 1: the filter has no keys                 */
    uint64_t salt;              /* of the only shard, or 0                   */
    uint64_t bytes;             /* 1: d = 3, 8 bits per cell, and some keys  */
    uint64_t shorter;           /* U: the first cells, which have a bit less */
    uint64_t reserved[3];       /* 0                                         */
} bly_inline_fuse;

/* Fills in a view of a filter of kind "fuse" or "xor". BLY_EUNSUPPORTED: the
 * filter is of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_fuse_of(bly_inline_fuse *view,
                                      const bly_filter *filter)
                                      BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view. The answer is that of bly_contains_hash. */
BLY_INLINE bool bly_inline_fuse_contains(const bly_inline_fuse *view,
                                         uint64_t hash);

/* Prefetches the memory that a lookup by a view reads. A hint, to be given some
 * keys ahead if hashes arrive in bursts. */
BLY_INLINE void bly_inline_fuse_prefetch(const bly_inline_fuse *view,
                                         uint64_t hash);

/* ==== Cuckoo ============================================================ */

/* A view of kind "cuckoo". */
typedef struct {
    const uint8_t  *payload;
    const uint16_t *prefixes;   /* the library's table of sorted quads       */
    uint64_t buckets;
    uint32_t quads;             /* per bucket: 1, or more once it has grown  */
    uint32_t f;                 /* bits per fingerprint                      */
    uint32_t nibbles;           /* per quad, which is four fingerprints      */
    uint32_t sorted;            /* 1: sorted=yes                             */
    uint64_t ones;              /* 1 in each of a bucket's fingerprints, if
                                   those are four unsorted ones of at most
                                   16 bits; 0: they are not, or it is not
                                   known                                     */
    uint64_t reserved[6];       /* 0                                         */
} bly_inline_cuckoo;

/* Fills in a view of a filter of kind "cuckoo". BLY_EUNSUPPORTED: the filter is
 * of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_cuckoo_of(bly_inline_cuckoo *view,
                                        const bly_filter *filter)
                                        BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view. The answer is that of bly_contains_hash. */
BLY_INLINE bool bly_inline_cuckoo_contains(const bly_inline_cuckoo *view,
                                           uint64_t hash);

/* Prefetches the memory that a lookup by a view reads. A hint, to be given some
 * keys ahead if hashes arrive in bursts. */
BLY_INLINE void bly_inline_cuckoo_prefetch(const bly_inline_cuckoo *view,
                                           uint64_t hash);

/* ==== Counting ========================================================== */

/* A view of kind "counting". */
typedef struct {
    const uint8_t *payload;
    uint64_t m;                 /* counters                                  */
    uint32_t k;                 /* counters per key                          */
    uint32_t bits;              /* per counter                               */
    uint64_t reserved[5];       /* 0                                         */
} bly_inline_counting;

/* Fills in a view of a filter of kind "counting". BLY_EUNSUPPORTED: the filter
 * is of another kind; the view is untouched. Thread-safe. */
BLY_API bly_status bly_inline_counting_of(bly_inline_counting *view,
                                          const bly_filter *filter)
                                          BLY_MUST BLY_GIVEN(1, 2);

/* Looks up a hash by a view. The answer is that of bly_contains_hash. */
BLY_INLINE bool bly_inline_counting_contains(const bly_inline_counting *view,
                                             uint64_t hash);

/* Prefetches the memory that a lookup by a view reads first. It is that of the
 * key's first three counters, which is all that most absent keys need. A hint,
 * to be given some keys ahead of the lookup. */
BLY_INLINE void bly_inline_counting_prefetch(const bly_inline_counting *view,
                                             uint64_t hash);

/* ==== Implementation ==================================================== */

/* Nothing below is to be called by programs. It is the arithmetic of the
 * library, which docs/format/kinds describes kind by kind. */

#define BLY_INSIDE_FACTOR UINT64_C(0xD1342543DE82EF95)
#define BLY_INSIDE_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* Returns the high half of h * n: h spread evenly over [0, n). */
BLY_INSIDE uint64_t bly_inside_range(uint64_t h, uint64_t n)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 bly_inside_wide;
    return (uint64_t)((bly_inside_wide)h * n >> 64);
#else
    uint64_t h_low = (uint32_t)h, h_high = h >> 32;
    uint64_t n_low = (uint32_t)n, n_high = n >> 32;
    uint64_t middle = h_high * n_low + (h_low * n_low >> 32);
    uint64_t other = h_low * n_high + (uint32_t)middle;
    return h_high * n_high + (middle >> 32) + (other >> 32);
#endif
}

BLY_INSIDE uint64_t bly_inside_spread(uint64_t hash)
{
    return (hash ^ hash >> 32) * BLY_INSIDE_FACTOR;
}

BLY_INSIDE uint64_t bly_inside_mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Returns a mask of the low `width` bits, 1 .. 64. */
BLY_INSIDE uint64_t bly_inside_mask(uint32_t width)
{
    return UINT64_MAX >> (64 - width);
}

/* Loads eight bytes, lowest first. Compilers turn this into one load on
 * little-endian machines; it is correct on all others. */
BLY_INSIDE uint64_t bly_inside_load(const uint8_t *p)
{
    return (uint64_t)p[0]       | (uint64_t)p[1] << 8
         | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24
         | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40
         | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* Tests bit `at` of a row to which other threads may be adding. */
BLY_INSIDE bool bly_inside_test(const uint8_t *row, uint64_t at)
{
#if defined(__GNUC__)
    uint8_t byte = __atomic_load_n(row + (size_t)(at >> 3), __ATOMIC_RELAXED);
#else
    uint8_t byte = row[(size_t)(at >> 3)];
#endif
    return (byte >> (at & 7) & 1) != 0;
}

/* Prefetches a cache line; any address is allowed. */
BLY_INSIDE void bly_inside_ask(const uint8_t *at)
{
#if defined(__GNUC__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* Sets a bit; returns whether it was clear. */
BLY_INSIDE bool bly_inside_set(uint8_t *row, uint64_t at)
{
    uint8_t *byte = row + (size_t)(at >> 3);
    uint8_t old = *byte, bit = (uint8_t)(1u << (at & 7));
    *byte = (uint8_t)(old | bit);
    return (old & bit) == 0;
}

#if BLY_INSIDE_VECTOR > 0 || defined(BLY_INSIDE_AVX2)
/* Loads a vector of bytes to which other threads may be adding. That would be a
 * race in C but is none on the machine, so the load is an explicit instruction.
 * The sanitizers cannot see into it and get loads of bytes instead. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLY_INSIDE_WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)        \
    || __has_feature(memory_sanitizer)
#define BLY_INSIDE_WATCHED
#endif
#endif
#ifdef BLY_INSIDE_WATCHED
#define BLY_INSIDE_FETCH(to, from, instruction)                                \
    do {                                                                       \
        for (size_t at = 0; at < sizeof (to); at++)                            \
            ((uint8_t *)&(to))[at] = __atomic_load_n((from) + at,              \
                                                     __ATOMIC_RELAXED);        \
    } while (0)
#else
#define BLY_INSIDE_FETCH(to, from, instruction)                                \
    __asm__ volatile(instruction " %1, %0"                                     \
                     : "=x"(to)                                                \
                     : "m"(*(const uint8_t (*)[sizeof (to)])(from)))
#endif
#endif

#ifdef __AVX__
#define BLY_INSIDE_MOVE "vmovdqu"
#else
#define BLY_INSIDE_MOVE "movdqu"
#endif

/* ---- Blocked ----------------------------------------------------------- */

BLY_INSIDE uint8_t *bly_inside_line(const bly_inline_blocked *v,
                                    uint64_t state)
{
    return v->payload + (size_t)(bly_inside_range(state, v->lines) * 64);
}

/* Tests all k bits without an unpredictable branch: the line arrives as a
 * whole, and after a wrong guess the next keys would wait for it. */
BLY_INSIDE bool bly_inside_blocked_plain(const uint8_t *line, uint32_t g,
                                         uint32_t k)
{
    bool all = true;
    for (uint32_t i = 0; i < k; i++) {
        g *= 0x9E3779B9u;
        all &= bly_inside_test(line, g >> 23);
    }
    return all;
}

#ifdef BLY_INSIDE_AVX2
/* Returns lanes first .. first + 7 of 32, of which the first k are 1 and the
 * others 0. */
BLY_INSIDE BLY_INSIDE_AVX2 __m256i bly_inside_ones(uint32_t k, uint32_t first)
{
    static const int32_t ones[48] = { 1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1 };
    return _mm256_loadu_si256((const __m256i *)(const void *)
                              (ones + 32 - k + first));
}

/* Tests the probes whose lanes of `ones` are 1. The high four bits of a product
 * select a word of the line, the highest one its half, and the next five a bit
 * of the word. */
BLY_INSIDE BLY_INSIDE_AVX2 bool
bly_inside_eight(__m256i low, __m256i high, __m256i product, __m256i ones)
{
    __m256i word = _mm256_srli_epi32(product, 28);
    __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(product, 4), 27);
    __m256i picked = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word)),
        _mm256_castsi256_ps(product)));
    return _mm256_testc_si256(picked, _mm256_sllv_epi32(ones, bit)) != 0;
}

/* Tests k probes: eight, then eight more, then up to sixteen more. If k is
 * known to the compiler, nothing else is left of it. */
BLY_INSIDE BLY_INSIDE_AVX2 bool
bly_inside_blocked_avx2(const uint8_t *line, uint32_t g, uint32_t k)
{
    const __m256i steps = _mm256_setr_epi32(
        (int)0x9E3779B9u, (int)0xE35E67B1u, (int)0x734297E9u, (int)0x35FBE861u,
        (int)0xDEB7C719u, (int)0x0448B211u, (int)0x3459B749u, (int)0xAB25F4C1u);
    const __m256i more_steps = _mm256_setr_epi32(
        (int)0x52941879u, (int)0x9C95E071u, (int)0xF5AB9AA9u, (int)0x2D6BA521u,
        (int)0x8BEDEDD9u, (int)0x9BFB72D1u, (int)0x3AE1C209u, (int)0x7FCA7981u);
    const __m256i ones = bly_inside_ones(k, 0);
    __m256i all = _mm256_set1_epi32((int)g), low, high;
    BLY_INSIDE_FETCH(low, line, "vmovdqu");
    BLY_INSIDE_FETCH(high, line + 32, "vmovdqu");
    bool set = bly_inside_eight(low, high, _mm256_mullo_epi32(all, steps),
                                ones);
    if (k <= 8)
        return set;
    set &= bly_inside_eight(low, high, _mm256_mullo_epi32(all, more_steps),
                            bly_inside_ones(k, 8));
    if (k <= 16)
        return set;
    all = _mm256_set1_epi32((int)(g * 0x7FCA7981u));
    set &= bly_inside_eight(low, high, _mm256_mullo_epi32(all, steps),
                            bly_inside_ones(k, 16));
    return set & bly_inside_eight(low, high,
                                  _mm256_mullo_epi32(all, more_steps),
                                  bly_inside_ones(k, 24));
}
#endif

#if BLY_INSIDE_VECTOR == 64
/* Tests up to sixteen probes at once. The high four bits of a product select a
 * word of the line and the next five a bit of it; the word is rotated until
 * that bit is the lowest. Returns a bit for each probe that found its bit
 * clear. */
BLY_INSIDE __mmask16 bly_inside_clear(__m512i line, uint32_t g, uint32_t k)
{
    const __m512i steps = _mm512_setr_epi32(
        (int)0x9E3779B9u, (int)0xE35E67B1u, (int)0x734297E9u, (int)0x35FBE861u,
        (int)0xDEB7C719u, (int)0x0448B211u, (int)0x3459B749u, (int)0xAB25F4C1u,
        (int)0x52941879u, (int)0x9C95E071u, (int)0xF5AB9AA9u, (int)0x2D6BA521u,
        (int)0x8BEDEDD9u, (int)0x9BFB72D1u, (int)0x3AE1C209u, (int)0x7FCA7981u);
    /* Without a mask, gcc warns about an undefined value in its own header. */
    const __mmask16 all = (__mmask16)0xFFFF;
    __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)g), steps);
    __m512i picked = _mm512_maskz_permutexvar_epi32(
        all, _mm512_maskz_srli_epi32(all, product, 28), line);
    __m512i turned = _mm512_maskz_rorv_epi32(
        all, picked, _mm512_maskz_srli_epi32(all, product, 23));
    uint32_t probes = k < 16 ? (1u << k) - 1 : 0xFFFFu;
    return _mm512_mask_testn_epi32_mask((__mmask16)probes, turned,
                                        _mm512_set1_epi32(1));
}

BLY_INSIDE bool bly_inside_blocked_avx512(const uint8_t *line, uint32_t g,
                                          uint32_t k)
{
    __m512i all;
    BLY_INSIDE_FETCH(all, line, "vmovdqu64");
    __mmask16 clear = bly_inside_clear(all, g, k);
    if (k > 16)
        clear = (__mmask16)(clear | bly_inside_clear(all, g * 0x7FCA7981u,
                                                     k - 16));
    return clear == 0;
}
#endif

BLY_INSIDE bool bly_inside_blocked(const uint8_t *line, uint32_t g, uint32_t k)
{
#if BLY_INSIDE_VECTOR == 64
    return bly_inside_blocked_avx512(line, g, k);
#elif BLY_INSIDE_VECTOR == 32
    return bly_inside_blocked_avx2(line, g, k);
#else
    return bly_inside_blocked_plain(line, g, k);
#endif
}

BLY_INSIDE bool bly_inline_blocked_contains_k(const bly_inline_blocked *view,
                                              uint64_t hash, uint32_t k)
{
    uint64_t state = bly_inside_spread(hash);
    return bly_inside_blocked(bly_inside_line(view, state), (uint32_t)state, k);
}

BLY_INSIDE bool bly_inline_blocked_contains(const bly_inline_blocked *view,
                                            uint64_t hash)
{
    return bly_inline_blocked_contains_k(view, hash, view->k);
}

BLY_INSIDE bly_status bly_inline_blocked_add(const bly_inline_blocked *view,
                                             uint64_t hash)
{
    uint64_t state = bly_inside_spread(hash);
    uint8_t *line = bly_inside_line(view, state);
    uint32_t g = (uint32_t)state, k = view->k;
    bool fresh = false;
    for (uint32_t i = 0; i < k; i++) {
        g *= 0x9E3779B9u;
        fresh |= bly_inside_set(line, g >> 23);
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

BLY_INSIDE void bly_inline_blocked_prefetch(const bly_inline_blocked *view,
                                            uint64_t hash)
{
    bly_inside_ask(bly_inside_line(view, bly_inside_spread(hash)));
}

/* ---- Split ------------------------------------------------------------- */

BLY_INSIDE uint8_t *bly_inside_block(const bly_inline_split *v, uint64_t hash)
{
    return v->payload + (size_t)(((hash >> 32) * v->blocks >> 32) * 32);
}

BLY_INSIDE void bly_inline_split_prefetch(const bly_inline_split *view,
                                          uint64_t hash)
{
    bly_inside_ask(bly_inside_block(view, hash));
}

/* Returns the bit of the block, 0 .. 255, that a hash has in a lane. */
BLY_INSIDE uint64_t bly_inside_lane(uint64_t hash, uint32_t lane, uint32_t salt)
{
    return lane * 32 + ((uint32_t)hash * salt >> 27);
}

/* Tests all eight bits without an unpredictable branch. */
BLY_INSIDE bool bly_inside_split_plain(const uint8_t *block, uint64_t hash)
{
    bool all = bly_inside_test(block, bly_inside_lane(hash, 0, 0x47B6137Bu));
    all &= bly_inside_test(block, bly_inside_lane(hash, 1, 0x44974D91u));
    all &= bly_inside_test(block, bly_inside_lane(hash, 2, 0x8824AD5Bu));
    all &= bly_inside_test(block, bly_inside_lane(hash, 3, 0xA2B7289Du));
    all &= bly_inside_test(block, bly_inside_lane(hash, 4, 0x705495C7u));
    all &= bly_inside_test(block, bly_inside_lane(hash, 5, 0x2DF1424Bu));
    all &= bly_inside_test(block, bly_inside_lane(hash, 6, 0x9EFC4947u));
    all &= bly_inside_test(block, bly_inside_lane(hash, 7, 0x5C6BFB31u));
    return all;
}

#ifdef BLY_INSIDE_AVX2
/* Returns the eight bits of a hash, one per lane. */
BLY_INSIDE BLY_INSIDE_AVX2 __m256i bly_inside_lanes_avx2(uint64_t hash)
{
    const __m256i salts = _mm256_setr_epi32(
        (int)0x47B6137Bu, (int)0x44974D91u, (int)0x8824AD5Bu, (int)0xA2B7289Du,
        (int)0x705495C7u, (int)0x2DF1424Bu, (int)0x9EFC4947u, (int)0x5C6BFB31u);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)hash), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1),
                             _mm256_srli_epi32(products, 27));
}
#endif

#if BLY_INSIDE_VECTOR >= 32
BLY_INSIDE bool bly_inline_split_contains(const bly_inline_split *view,
                                          uint64_t hash)
{
    __m256i block;
    BLY_INSIDE_FETCH(block, bly_inside_block(view, hash), "vmovdqu");
    return _mm256_testc_si256(block, bly_inside_lanes_avx2(hash)) != 0;
}

BLY_INSIDE bly_status bly_inline_split_add(const bly_inline_split *view,
                                           uint64_t hash)
{
    void *block = bly_inside_block(view, hash);
    __m256i bits = bly_inside_lanes_avx2(hash);
    __m256i old = _mm256_loadu_si256((const __m256i *)block);
    _mm256_storeu_si256((__m256i *)block, _mm256_or_si256(old, bits));
    return _mm256_testc_si256(old, bits) ? BLY_SEEN : BLY_OK;
}
#elif BLY_INSIDE_VECTOR == 16
/* Returns the bits of a hash in four lanes, whose salts are in the low halves
 * of `even` and `odd`. SSE2 cannot shift each lane by a number of its own, so
 * 2^n is made from a float with exponent n. The float is negative, because
 * -2^31 fits in a 32-bit integer and 2^31 does not, and would raise an
 * exception. */
BLY_INSIDE __m128i bly_inside_lanes(uint64_t hash, __m128i even, __m128i odd)
{
    __m128i low = _mm_set1_epi32((int)hash);
    __m128i one = _mm_slli_epi64(_mm_mul_epu32(low, even), 32);
    __m128i two = _mm_slli_epi64(_mm_mul_epu32(low, odd), 32);
    __m128i bit = _mm_or_si128(_mm_srli_epi64(one, 59),
                               _mm_srli_epi32(two, 27));
    __m128i power = _mm_add_epi32(_mm_slli_epi32(bit, 23),
                                  _mm_castps_si128(_mm_set1_ps(-1)));
    return _mm_sub_epi32(_mm_setzero_si128(),
                         _mm_cvttps_epi32(_mm_castsi128_ps(power)));
}

BLY_INSIDE __m128i bly_inside_first_lanes(uint64_t hash)
{
    return bly_inside_lanes(hash,
        _mm_setr_epi32((int)0x47B6137Bu, 0, (int)0x8824AD5Bu, 0),
        _mm_setr_epi32((int)0x44974D91u, 0, (int)0xA2B7289Du, 0));
}

BLY_INSIDE __m128i bly_inside_last_lanes(uint64_t hash)
{
    return bly_inside_lanes(hash,
        _mm_setr_epi32((int)0x705495C7u, 0, (int)0x9EFC4947u, 0),
        _mm_setr_epi32((int)0x2DF1424Bu, 0, (int)0x5C6BFB31u, 0));
}

/* Returns whether these bits are set in both halves of a block. */
BLY_INSIDE bool bly_inside_hold(__m128i first, __m128i last, __m128i first_bits,
                                __m128i last_bits)
{
    __m128i lack = _mm_or_si128(_mm_andnot_si128(first, first_bits),
                                _mm_andnot_si128(last, last_bits));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(lack, _mm_setzero_si128()))
           == 0xFFFF;
}

BLY_INSIDE bool bly_inline_split_contains(const bly_inline_split *view,
                                          uint64_t hash)
{
    const uint8_t *block = bly_inside_block(view, hash);
    __m128i first, last;
    BLY_INSIDE_FETCH(first, block, BLY_INSIDE_MOVE);
    BLY_INSIDE_FETCH(last, block + 16, BLY_INSIDE_MOVE);
    return bly_inside_hold(first, last, bly_inside_first_lanes(hash),
                           bly_inside_last_lanes(hash));
}

BLY_INSIDE bly_status bly_inline_split_add(const bly_inline_split *view,
                                           uint64_t hash)
{
    uint8_t *block = bly_inside_block(view, hash);
    __m128i *at = (__m128i *)(void *)block;
    __m128i *behind = (__m128i *)(void *)(block + 16);
    __m128i first = _mm_loadu_si128(at), last = _mm_loadu_si128(behind);
    __m128i first_bits = bly_inside_first_lanes(hash);
    __m128i last_bits = bly_inside_last_lanes(hash);
    _mm_storeu_si128(at, _mm_or_si128(first, first_bits));
    _mm_storeu_si128(behind, _mm_or_si128(last, last_bits));
    return bly_inside_hold(first, last, first_bits, last_bits) ? BLY_SEEN
                                                               : BLY_OK;
}
#else
BLY_INSIDE bool bly_inline_split_contains(const bly_inline_split *view,
                                          uint64_t hash)
{
    return bly_inside_split_plain(bly_inside_block(view, hash), hash);
}

BLY_INSIDE bly_status bly_inline_split_add(const bly_inline_split *view,
                                           uint64_t hash)
{
    uint8_t *block = bly_inside_block(view, hash);
    bool fresh = bly_inside_set(block, bly_inside_lane(hash, 0, 0x47B6137Bu));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 1, 0x44974D91u));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 2, 0x8824AD5Bu));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 3, 0xA2B7289Du));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 4, 0x705495C7u));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 5, 0x2DF1424Bu));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 6, 0x9EFC4947u));
    fresh |= bly_inside_set(block, bly_inside_lane(hash, 7, 0x5C6BFB31u));
    return fresh ? BLY_OK : BLY_SEEN;
}
#endif

/* ---- Standard ---------------------------------------------------------- */

/* The schemes other than index=power, by their numbers in the image. They exist
 * for comparing rates, not for speed, so inlining is left to the compiler. */
enum {
    BLY_INSIDE_POWER, BLY_INSIDE_SEEDS, BLY_INSIDE_DOUBLE, BLY_INSIDE_ENHANCED,
    BLY_INSIDE_TRIPLE, BLY_INSIDE_STEP
};

typedef struct { uint64_t a, b, z, i; } bly_inside_walk;

static inline uint64_t bly_inside_word(uint64_t hash, uint64_t i)
{
    return bly_inside_mix(hash + i * BLY_INSIDE_GOLDEN);
}

/* Returns (x + y) mod m for x, y < m. */
static inline uint64_t bly_inside_plus(uint64_t x, uint64_t y, uint64_t m)
{
    return x >= m - y ? x - (m - y) : x + y;
}

static inline bly_inside_walk
bly_inside_start(const bly_inline_standard *v, uint64_t hash)
{
    bly_inside_walk w = { hash, 0, 0, 0 };
    if (v->index == BLY_INSIDE_SEEDS)
        return w;
    w.a = bly_inside_word(hash, 1);
    w.b = bly_inside_word(hash, 2);
    if (v->index == BLY_INSIDE_STEP) {
        w.b |= 1;
        return w;
    }
    w.a = bly_inside_range(w.a, v->m);
    w.b = v->m == 1 ? 0 : 1 + bly_inside_range(w.b, v->m - 1);
    w.z = bly_inside_range(bly_inside_word(hash, 3), v->m);
    return w;
}

/* Returns the walk's next position. */
static inline uint64_t bly_inside_next(const bly_inline_standard *v,
                                       bly_inside_walk *w)
{
    uint64_t at = w->a, m = v->m;
    w->i++;
    if (v->index == BLY_INSIDE_SEEDS)
        return bly_inside_range(bly_inside_word(at, w->i), m);
    if (v->index == BLY_INSIDE_STEP) {
        w->a += w->b;
        return bly_inside_range(at, m);
    }
    w->a = bly_inside_plus(w->a, w->b, m);
    if (v->index == BLY_INSIDE_ENHANCED)
        w->b = bly_inside_plus(w->b, w->i % m, m);
    else if (v->index == BLY_INSIDE_TRIPLE)
        w->b = bly_inside_plus(w->b, w->z, m);
    return at;
}

static inline bool bly_inside_walks(const bly_inline_standard *v, uint64_t hash)
{
    bly_inside_walk w = bly_inside_start(v, hash);
    for (uint32_t i = 0; i < v->k; i++)
        if (!bly_inside_test(v->payload, bly_inside_next(v, &w)))
            return false;
    return true;
}

static inline bly_status bly_inside_walks_on(const bly_inline_standard *v,
                                             uint64_t hash)
{
    bly_inside_walk w = bly_inside_start(v, hash);
    bool fresh = false;
    for (uint32_t i = 0; i < v->k; i++)
        fresh |= bly_inside_set(v->payload, bly_inside_next(v, &w));
    return fresh ? BLY_OK : BLY_SEEN;
}

BLY_INSIDE bool bly_inline_standard_contains(const bly_inline_standard *view,
                                             uint64_t hash)
{
    const uint64_t m = view->m;
    if (view->index != BLY_INSIDE_POWER)
        return bly_inside_walks(view, hash);
    uint64_t state = bly_inside_spread(hash);
    uint32_t k = view->k;
    bool all = true;
    if (k >= 3) {                       /* at once: few absent keys pass     */
        uint64_t second = state * BLY_INSIDE_FACTOR;
        uint64_t third = second * BLY_INSIDE_FACTOR;
        all &= bly_inside_test(view->payload, bly_inside_range(state, m));
        all &= bly_inside_test(view->payload, bly_inside_range(second, m));
        all &= bly_inside_test(view->payload, bly_inside_range(third, m));
        state = third * BLY_INSIDE_FACTOR;
        k -= 3;
    }
    for (; all && k > 0; k--, state *= BLY_INSIDE_FACTOR)
        all = bly_inside_test(view->payload, bly_inside_range(state, m));
    return all;
}

BLY_INSIDE bly_status bly_inline_standard_add(const bly_inline_standard *view,
                                              uint64_t hash)
{
    const uint64_t m = view->m;
    const uint32_t k = view->k;
    if (view->index != BLY_INSIDE_POWER)
        return bly_inside_walks_on(view, hash);
    uint64_t state = bly_inside_spread(hash);
    uint8_t *row = view->payload;
    bool fresh = false;
    for (uint32_t i = 0; i < k; i++) {
        fresh |= bly_inside_set(row, bly_inside_range(state, m));
        state *= BLY_INSIDE_FACTOR;
    }
    return fresh ? BLY_OK : BLY_SEEN;
}

BLY_INSIDE void bly_inline_standard_prefetch(const bly_inline_standard *view,
                                             uint64_t hash)
{
    uint64_t state = bly_inside_spread(hash);
    if (view->index != BLY_INSIDE_POWER)
        return;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t at = bly_inside_range(state, view->m);
        bly_inside_ask(view->payload + (size_t)(at >> 3));
        state *= BLY_INSIDE_FACTOR;
    }
}

/* ---- Fuse -------------------------------------------------------------- */

/* Returns r * n >> 32: r spread evenly over [0, n). */
BLY_INSIDE uint64_t bly_inside_share(uint64_t r, uint32_t n)
{
    return (r & UINT32_MAX) * n >> 32;
}

/* Returns the bits from `bit` on of a table, with other bits above them. Few
 * bits are read from the two bytes that end with the last of them; a byte
 * precedes every table. None of the eight bytes that are read for others is in
 * a later 64-byte line than the last bit; a table is whole lines, so that all
 * of them are inside it. */
BLY_INSIDE uint64_t bly_inside_bits(const uint8_t *table, uint64_t bit,
                                    uint32_t bits)
{
    uint64_t first = bit >> 3, last = bit + bits - 1;
    if (bits <= 9) {
        const uint8_t *pair = table + (size_t)(last >> 3) - 1;
        return ((uint32_t)pair[0] | (uint32_t)pair[1] << 8)
               >> (last & 7) >> (9 - bits);
    }
    uint64_t end = (last >> 3 | 63) - 7, from = first < end ? first : end;
    return bly_inside_load(table + (size_t)from) >> (bit - 8 * from);
}

/* Returns cell `at` of a table whose cells have equal sizes, with other bits
 * above its own. */
BLY_INSIDE uint64_t bly_inside_cell(const uint8_t *table, uint64_t at,
                                    uint32_t bits)
{
    if (bits == 8)
        return table[(size_t)at];
    if (bits == 16)
        return table[(size_t)(2 * at)]
             | (uint64_t)table[(size_t)(2 * at + 1)] << 8;
    return bly_inside_bits(table, at * bits, bits);
}

/* A key's table, the cell in it where the first segment begins, and 32 bits for
 * each segment, which choose a cell there. */
typedef struct {
    const uint8_t *table;
    uint64_t first, choice[4];
} bly_inside_cells;

BLY_INSIDE bly_inside_cells bly_inside_cells_of(const bly_inline_fuse *view,
                                                uint64_t state)
{
    const uint8_t *table = view->tables;
    uint64_t rest = state >> 32, salt = view->salt;
    if (salt == 0) {                    /* many shards, or an older library  */
        rest *= view->shards;
        table += (size_t)((rest >> 32) * view->stride);
        salt = (view->seeds[(size_t)(rest >> 32)] + UINT64_C(1))
             * BLY_INSIDE_FACTOR;
    }
    uint64_t a = (state ^ salt) * UINT64_C(0xAEF17502108EF2D9);
    uint64_t high = a >> 32, low = a ^ high;
    uint64_t b = low * UINT64_C(0xF1357AEA2E62A9C5);
    uint64_t window = bly_inside_share(rest, view->windows);
    bly_inside_cells cells = { table, window * view->segment,
                               { high, low, b >> 32, b } };
    return cells;
}

/* Returns a key's cell in segment i, counted from the beginning of that. */
BLY_INSIDE size_t bly_inside_chosen(const bly_inline_fuse *view,
                                    const bly_inside_cells *cells, uint32_t i)
{
    return (size_t)bly_inside_share(cells->choice[i], view->segment);
}

/* Tests three cells of a byte. The fewer instructions a lookup takes, the more
 * keys the processor sees ahead. */
BLY_INSIDE bool bly_inside_bytes(const bly_inline_fuse *view, uint64_t state)
{
    const size_t length = view->segment;
    bly_inside_cells cells = bly_inside_cells_of(view, state);
    const uint8_t *row = cells.table + (size_t)cells.first;
    return (uint8_t)(state ^ row[bly_inside_chosen(view, &cells, 0)]
                     ^ (row + length)[bly_inside_chosen(view, &cells, 1)]
                     ^ (row + 2 * length)[bly_inside_chosen(view, &cells, 2)])
           == 0;
}

/* Returns a key's cell in segment i, counted from the beginning of the table.
 */
BLY_INSIDE uint64_t bly_inside_at(const bly_inline_fuse *view,
                                  const bly_inside_cells *cells, uint32_t i)
{
    return cells->first + (uint64_t)i * view->segment
         + bly_inside_chosen(view, cells, i);
}

/* Returns the first bit of a key's cell in segment i. */
BLY_INSIDE uint64_t bly_inside_begin(const bly_inline_fuse *view,
                                     const bly_inside_cells *cells, uint32_t i)
{
    uint64_t at = bly_inside_at(view, cells, i);
    return at * view->bits - (at < view->shorter ? at : view->shorter);
}

/* Tests a key where some cells are short. These are read like the others, with
 * the first bit of the next cell as their last bit. If the first cell of a key
 * is not short, none is. */
BLY_INSIDE bool bly_inside_shorter(const bly_inline_fuse *view, uint64_t state)
{
    const uint32_t bits = view->bits;
    uint64_t read = state;
    bly_inside_cells cells = bly_inside_cells_of(view, state);
    bool less = bly_inside_at(view, &cells, 0) < view->shorter;
    read ^= bly_inside_bits(cells.table, bly_inside_begin(view, &cells, 0),
                            bits);
    read ^= bly_inside_bits(cells.table, bly_inside_begin(view, &cells, 1),
                            bits);
    read ^= bly_inside_bits(cells.table, bly_inside_begin(view, &cells, 2),
                            bits);
    if (view->arity == 4)
        read ^= bly_inside_bits(cells.table, bly_inside_begin(view, &cells, 3),
                                bits);
    return ((read & bly_inside_mask(bits - less)) | view->empty) == 0;
}

BLY_INSIDE bool bly_inline_fuse_contains(const bly_inline_fuse *view,
                                         uint64_t hash)
{
    const uint32_t bits = view->bits;
    uint64_t state = bly_inside_mix(hash), read = state;
    if (view->bytes != 0)
        return bly_inside_bytes(view, state);
    if (view->shorter != 0)
        return bly_inside_shorter(view, state);
    bly_inside_cells cells = bly_inside_cells_of(view, state);
    read ^= bly_inside_cell(cells.table, bly_inside_at(view, &cells, 0), bits);
    read ^= bly_inside_cell(cells.table, bly_inside_at(view, &cells, 1), bits);
    read ^= bly_inside_cell(cells.table, bly_inside_at(view, &cells, 2), bits);
    if (view->arity == 4)
        read ^= bly_inside_cell(cells.table, bly_inside_at(view, &cells, 3),
                                bits);
    return ((read & bly_inside_mask(bits)) | view->empty) == 0;
}

BLY_INSIDE void bly_inline_fuse_prefetch(const bly_inline_fuse *view,
                                         uint64_t hash)
{
    bly_inside_cells cells = bly_inside_cells_of(view, bly_inside_mix(hash));
    for (uint32_t i = 0; i < view->arity; i++) {
        uint64_t bit = bly_inside_begin(view, &cells, i);
        bly_inside_ask(cells.table + (size_t)(bit >> 3));
    }
}

/* ---- Cuckoo ------------------------------------------------------------ */

/* Returns 1 in each of four lanes of `width` <= 16 bits. */
BLY_INSIDE uint64_t bly_inside_four(uint32_t width)
{
    return (UINT64_C(1) | UINT64_C(1) << width)
         * (UINT64_C(1) | UINT64_C(1) << 2 * width);
}

/* Returns the highest bit of each lane that is zero. */
BLY_INSIDE uint64_t bly_inside_zero(uint64_t word, uint32_t width)
{
    uint64_t ones = bly_inside_four(width), high = ones << (width - 1);
    uint64_t low = high - ones;
    return ~(((word & low) + low) | word) & high;
}

/* Returns a word whose low bits are a quad of up to 64 bits. */
BLY_INSIDE uint64_t bly_inside_quad(const bly_inline_cuckoo *v, uint64_t bucket)
{
    uint64_t nibble = bucket * v->nibbles;
    return bly_inside_load(v->payload + (size_t)(nibble >> 1))
           >> (nibble & 1) * 4;
}

/* Returns whether a fingerprint of two unsorted quads is `fp`. Subtracting 1
 * from each, XORed with `fp`, borrows if and only if one of them is 0. */
BLY_INSIDE bool bly_inside_either(uint64_t one, uint64_t other, uint32_t fp,
                                  uint64_t ones, uint32_t f)
{
    one ^= fp * ones;
    other ^= fp * ones;
    return ((((one - ones) & ~one) | ((other - ones) & ~other))
            & ones << (f - 1)) != 0;
}

/* Returns 0 only if no fingerprint of a sorted quad is `fp`. */
BLY_INSIDE uint64_t bly_inside_sorted(const bly_inline_cuckoo *v, uint64_t word,
                                      uint32_t fp)
{
    uint32_t rest = v->f - 4;
    uint64_t ends = word >> 12 ^ (fp & bly_inside_mask(rest))
                                 * bly_inside_four(rest);
    uint64_t starts = v->prefixes[word & 4095] ^ (fp >> rest) * 0x1111u;
    uint64_t p = bly_inside_zero(starts, 4) >> 3;
    uint64_t there = (p & 1) | (p >> 4 & 1) << rest | (p >> 8 & 1) << 2 * rest
                   | (p >> 12) << 3 * rest;
    return bly_inside_zero(ends, rest) >> (rest - 1) & there;
}

/* Returns the `width` <= 32 bits from bit `at` of a payload. Reads up to five
 * bytes, which are inside the payload. */
static inline uint64_t bly_inside_cut(const uint8_t *payload, uint64_t at,
                                      uint32_t width)
{
    return bly_inside_load(payload + (size_t)(at >> 3)) >> (at & 7)
         & bly_inside_mask(width);
}

/* Tests a bucket slot by slot, for any number of quads of any width: for
 * filters that have grown, or whose rate is below one in ten thousand. */
static inline bool bly_inside_bucket(const bly_inline_cuckoo *v,
                                     uint64_t bucket, uint32_t fp)
{
    uint32_t rest = v->f - (v->sorted ? 4 : 0);
    for (uint64_t q = bucket * v->quads; q < (bucket + 1) * v->quads; q++) {
        uint64_t bit = q * v->nibbles * 4, starts = 0;
        if (v->sorted) {
            starts = v->prefixes[bly_inside_cut(v->payload, bit, 12)];
            bit += 12;
        }
        for (uint32_t i = 0; i < 4; i++, bit += rest, starts >>= 4) {
            uint64_t end = bly_inside_cut(v->payload, bit, rest);
            if (fp == (end | (v->sorted ? (starts & 15) << rest : 0)))
                return true;
        }
    }
    return false;
}

/* A key's fingerprint and its two buckets. */
typedef struct { uint64_t one, other; uint32_t fp; } bly_inside_place;

BLY_INSIDE bly_inside_place bly_inside_place_of(const bly_inline_cuckoo *view,
                                                uint64_t hash)
{
    const uint64_t buckets = view->buckets;
    bly_inside_place place;
    uint64_t state = bly_inside_spread(hash);
    uint64_t g = bly_inside_spread(state) >> 32;
    place.fp = 1 + (uint32_t)(g * bly_inside_mask(view->f) >> 32);
    place.one = bly_inside_range(state, buckets);
    uint64_t mixed = bly_inside_spread(place.fp * BLY_INSIDE_FACTOR);
    uint64_t other = 2 * bly_inside_range(mixed, buckets / 2) + 1 - place.one;
    place.other = other < other + buckets ? other : other + buckets;
    return place;
}

/* Looks up a hash in buckets of one unsorted quad. */
BLY_INSIDE bool bly_inside_plain(const bly_inline_cuckoo *v, uint64_t hash)
{
    bly_inside_place place = bly_inside_place_of(v, hash);
    const uint64_t bytes = v->nibbles / 2;
    uint64_t one, other;
    if (v->nibbles % 2 == 0) {
        one = bly_inside_load(v->payload + (size_t)(place.one * bytes));
        other = bly_inside_load(v->payload + (size_t)(place.other * bytes));
    } else {
        one = bly_inside_quad(v, place.one);
        other = bly_inside_quad(v, place.other);
    }
    return bly_inside_either(one, other, place.fp, v->ones, v->f);
}

/* Looks up a hash in all other buckets. */
BLY_INSIDE bool bly_inside_any(const bly_inline_cuckoo *v, uint64_t hash)
{
    bly_inside_place place = bly_inside_place_of(v, hash);
    if (v->quads > 1 || v->nibbles > 16)
        return bly_inside_bucket(v, place.one, place.fp)
            || bly_inside_bucket(v, place.other, place.fp);
    uint64_t one = bly_inside_quad(v, place.one);
    uint64_t other = bly_inside_quad(v, place.other);
    if (!v->sorted)
        return bly_inside_either(one, other, place.fp, bly_inside_four(v->f),
                                 v->f);
    return (bly_inside_sorted(v, one, place.fp)
          | bly_inside_sorted(v, other, place.fp)) != 0;
}

BLY_INSIDE bool bly_inline_cuckoo_contains(const bly_inline_cuckoo *view,
                                           uint64_t hash)
{
    return view->ones != 0 ? bly_inside_plain(view, hash)
                           : bly_inside_any(view, hash);
}

BLY_INSIDE void bly_inline_cuckoo_prefetch(const bly_inline_cuckoo *view,
                                           uint64_t hash)
{
    bly_inside_place place = bly_inside_place_of(view, hash);
    uint64_t bytes = view->nibbles * (uint64_t)view->quads;
    bly_inside_ask(view->payload + (size_t)(place.one * bytes >> 1));
    bly_inside_ask(view->payload + (size_t)(place.other * bytes >> 1));
}

/* ---- Counting ---------------------------------------------------------- */

/* Returns whether the counter of a probe is above 0. It lies in up to three
 * bytes, and no byte behind it is read. `bits` is known where it is 4. */
BLY_INSIDE bool bly_inside_counter(const bly_inline_counting *v, uint64_t state,
                                   uint32_t bits)
{
    uint64_t at = bly_inside_range(state, v->m), bit = at * bits;
    if (bits == 4)
        return (v->payload[(size_t)(at >> 1)] & (0x0F ^ (0 - (at & 1)))) != 0;
    const uint8_t *p = v->payload + (size_t)(bit >> 3);
    uint32_t shift = (uint32_t)(bit & 7), last = (shift + bits - 1) >> 3;
    uint32_t second = last >= 1;
    uint64_t word = p[0] | (uint64_t)p[second] << 8 * second
                         | (uint64_t)p[last] << 8 * last;
    return (word >> shift & bly_inside_mask(bits)) != 0;
}

/* Tests three counters without an unpredictable branch (a sum, which compilers
 * do not take apart), and the others one by one, because an absent key passes
 * three of them once in eight times. */
BLY_INSIDE bool bly_inside_counters(const bly_inline_counting *v, uint64_t hash,
                                    uint32_t bits)
{
    const uint64_t step = BLY_INSIDE_FACTOR;
    uint64_t state = bly_inside_spread(hash);
    uint32_t k = v->k;
    if (k >= 3) {
        int passed = bly_inside_counter(v, state, bits);
        passed += bly_inside_counter(v, state *= step, bits);
        passed += bly_inside_counter(v, state *= step, bits);
        if (passed < 3)
            return false;
        state *= step;
        k -= 3;
    }
    for (; k > 0; k--, state *= step)
        if (!bly_inside_counter(v, state, bits))
            return false;
    return true;
}

/* Counters of other widths are rare. Inlined, they would take registers from
 * those of 4 bits. */
#if defined(__GNUC__)
__attribute__((cold))
#endif
static inline bool bly_inside_odd_counters(const bly_inline_counting *v,
                                           uint64_t hash)
{
    return bly_inside_counters(v, hash, v->bits);
}

BLY_INSIDE bool bly_inline_counting_contains(const bly_inline_counting *view,
                                             uint64_t hash)
{
    return view->bits == 4 ? bly_inside_counters(view, hash, 4)
                           : bly_inside_odd_counters(view, hash);
}

BLY_INSIDE void bly_inline_counting_prefetch(const bly_inline_counting *view,
                                             uint64_t hash)
{
    uint64_t state = bly_inside_spread(hash);
    for (uint32_t i = 0; i < view->k && i < 3; i++) {
        uint64_t bit = bly_inside_range(state, view->m) * view->bits;
        bly_inside_ask(view->payload + (size_t)(bit >> 3));
        state *= BLY_INSIDE_FACTOR;
    }
}

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif /* BLOOMERY_INLINE_H */
