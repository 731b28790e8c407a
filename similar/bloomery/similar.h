/* bloomery/similar.h - finds similar rows of bits, such as the fingerprints of
 * molecules, or others whose bits are features.
 *
 * A fingerprint is a row of bits, each of which says that a molecule, a text or
 * a picture has some feature. All rows of a library have the same length. For
 * two rows with a and b bits set, c of them in common, the similarity is
 *
 *      Tanimoto (Jaccard)       c / (a + b - c)
 *      Dice                     2 c / (a + b)
 *      Tversky (alpha, beta)    c / (alpha (a - c) + beta (b - c) + c)
 *      contained                c / a, the share of the query's bits
 *
 * where a belongs to the query. The others are special cases of Tversky, with
 * alpha and beta of 1 and 1, 1/2 and 1/2, and 1 and 0. All range from 0 to 1.
 * Rows without a common bit have similarity 0, even if both are empty.
 *
 * bly_similar_find finds the most similar rows exactly. A row with b bits has
 * at most min(a, b) bits in common with the query, which bounds its similarity;
 * with Tanimoto by min(a, b) / max(a, b) [Swamidass & Baldi 2007a]. Rows are
 * sorted by their number of bits, and ranges whose bound is too low are never
 * read.
 *
 * Fingerprints are often hashed or folded, so that several features set the
 * same bit. bly_similar_estimate estimates the number of features, with the
 * formula for filters [Swamidass & Baldi 2007b].
 *
 *   [Swamidass & Baldi 2007a]  Bounds and algorithms for fast exact searches
 *                   of chemical fingerprints in linear and sublinear time,
 *                   J. Chem. Inf. Model. 47(2)
 *   [Swamidass & Baldi 2007b]  Mathematical correction for fingerprint
 *                   similarity measures to improve chemical retrieval,
 *                   J. Chem. Inf. Model. 47(3)
 */
#ifndef BLOOMERY_SIMILAR_H
#define BLOOMERY_SIMILAR_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Rows ============================================================== */

/* Rows of bits with names. Bit i of a row is bit (i mod 8) of byte i / 8. */
typedef struct bly_rows bly_rows;

/* The maximum number of bits of a row. */
#define BLY_ROW_BITS_MOST UINT64_C(16777216)

/* Creates an empty set of rows of bits. A row has `bits` bits, 1 ..
 * BLY_ROW_BITS_MOST; 0 takes the number from the first lines of
 * bly_rows_add_fps. A row takes its bytes, rounded up to a multiple of 32, 32
 * more, and its name; up to 2.3 times that while rows are added or sorted.
 * `allocator` NULL selects the library's own. Returns BLY_EPARAM or
 * BLY_ENOMEM. */
BLY_API bly_status bly_rows_new(bly_rows **out, uint64_t bits,
                                const bly_allocator *allocator)
                                BLY_MUST BLY_GIVEN(1);

/* Frees a set of rows; NULL is fine. */
BLY_API void bly_rows_free(bly_rows *rows);

/* Adds a row to a set of rows: its bits, in (bits + 7) / 8 bytes, and its name,
 * which is copied. Not thread-safe. Returns BLY_EPARAM (the number of bits is
 * not known, or a bit beyond the last is set), BLY_EREADONLY (the rows are
 * sorted) or BLY_ENOMEM; nothing was added then. */
BLY_API bly_status bly_rows_add(bly_rows *rows, const void *bits,
                                const char *name) BLY_GIVEN(1, 2, 3);

/* Adds the rows of a text in chemfp's FPS format. It is the whole text or its
 * next part, which must end with a line ending, except the last one. The first
 * line is "#FPS1". Lines "#key=value" follow, of which num_bits and type are
 * used, each at most once. Each further line is a row: its bytes in
 * hexadecimal, byte 0 first, a TAB, and its name. Anything after another TAB is
 * ignored. Lines may end with CR LF. Without num_bits, all bits of the first
 * row's bytes count.
 *
 * Returns BLY_EFORMAT if a line is invalid, rows differ in length, or a bit
 * beyond the last is set: bly_why() names the line, counted through all parts.
 * The rows before it were added, and no further part must follow. Returns
 * BLY_EMISMATCH if num_bits differs from that of bly_rows_new; BLY_EREADONLY
 * and BLY_ENOMEM as above. */
BLY_API bly_status bly_rows_add_fps(bly_rows *rows, const void *text,
                                    size_t bytes) BLY_GIVEN(1);

/* Sorts rows by their number of bits, for searching. They keep their numbers,
 * from the order in which they were added. No more rows can be added. Sorted
 * rows may be used by many threads at once. Returns BLY_ENOMEM with nothing
 * changed. */
BLY_API bly_status bly_rows_sort(bly_rows *rows) BLY_MUST BLY_GIVEN(1);

/* Returns the number of rows, their number of bits, or their type. The number
 * of bits is 0 if it is not known yet. The type is that of the fingerprints,
 * the "type" of the text, or NULL. Thread-safe. */
BLY_API uint64_t    bly_rows_count(const bly_rows *rows) BLY_GIVEN(1);
BLY_API uint64_t    bly_rows_bits(const bly_rows *rows) BLY_GIVEN(1);
BLY_API const char *bly_rows_type(const bly_rows *rows) BLY_GIVEN(1);

/* Returns the bits of a row, or its name. Row i is counted from 0; NULL if
 * there are fewer rows. Thread-safe. The bytes are followed by zeros up to a
 * multiple of 32. The pointers are valid until rows are added or sorted. */
BLY_API const void *bly_rows_at(const bly_rows *rows, uint64_t i) BLY_GIVEN(1);
BLY_API const char *bly_rows_name(const bly_rows *rows, uint64_t i)
                                  BLY_GIVEN(1);

/* ==== Search ============================================================ */

typedef enum {
    BLY_TANIMOTO, BLY_DICE, BLY_TVERSKY, BLY_CONTAINED
} bly_measure;

/* A search. Zero it before you fill it in. */
typedef struct {
    bly_measure measure;
    uint32_t    threads;        /* the maximum; 0 for one per processor      */
    double      alpha, beta;    /* for BLY_TVERSKY: finite, at least 0       */
    double      least;          /* minimum similarity, 0 .. 1                */
    uint64_t    most;           /* maximum rows per query, at least 1        */
    bool        within;         /* only rows that have all bits of the query: a
                                   molecule has the bits of each of its parts if
                                   bits stand for parts, so none is missed   */
    bool        zero[7];
    const bly_progress *progress;       /* in queries; after BLY_ECANCELED the
                                           results are unspecified; or NULL  */
    uint64_t    reserved[3];    /* 0                                         */
} bly_similar_spec;

/* A result. */
typedef struct {
    uint64_t row;               /* for bly_rows_name                         */
    double   similarity;
    uint32_t bits, shared;      /* set in the row, and in both               */
} bly_similar;

/* Finds the rows that are most similar to each query. The n queries are the
 * rows of `queries` from number `first` on. For each of them it finds `most` of
 * the sorted `rows`, those that are most similar, or all of them if there are
 * fewer. The found[i] results of query i begin at out[i * most], the most
 * similar first; ties are in the order in which rows were added. The answer is
 * exact, and the same on any processor with any number of threads. Each row is
 * read at most once per query, and rows whose number of bits excludes them are
 * not read.
 *
 * Returns BLY_EPARAM (an unknown measure; alpha, beta, least or most out of
 * range; rows that are not sorted; too few queries), BLY_EMISMATCH (different
 * numbers of bits), BLY_ENOMEM or BLY_ECANCELED. Thread-safe. */
BLY_API bly_status bly_similar_find(bly_similar *out, size_t *found,
                                    const bly_rows *rows,
                                    const bly_rows *queries, uint64_t first,
                                    size_t n, const bly_similar_spec *spec)
                                    BLY_GIVEN(3, 4, 7);

/* Returns the similarity of two rows, by their numbers of bits. The query has a
 * bits, the other row b, and both c, which is at most a and b. Of the spec only
 * the measure, alpha and beta are used. NaN for an unknown measure.
 * Thread-safe. */
BLY_API double bly_similarity(const bly_similar_spec *spec, uint64_t a,
                              uint64_t b, uint64_t c) BLY_GIVEN(1);

/* Estimates how many features two rows of bits have in common. The rows have m
 * bits, a and b of them set, and c in both, where each feature sets one bit by
 * hashing or folding. The estimates are of the features of each row, of either,
 * of both and of just one, and of the Tanimoto similarity of the features
 * (`jaccard`), with standard deviations. For x set bits the estimate is ln(1 -
 * x/m) / ln(1 - 1/m), which is -m ln(1 - x/m) up to a relative 1/(2m); the
 * number in both is the sum for the two rows minus the number in either. As in
 * bly_overlap, a few common features may be estimated as less than 0, and a row
 * with all bits set has infinitely many. Returns BLY_EPARAM if no such rows
 * exist. Thread-safe. */
BLY_API bly_status bly_similar_estimate(bly_overlap_t *out, uint64_t m,
                                        uint64_t a, uint64_t b, uint64_t c)
                                        BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_SIMILAR_H */
