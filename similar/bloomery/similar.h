/* bloomery/similar.h - finds similar rows of bits, such as chemical
 * fingerprints.
 *
 * A fingerprint is a row of bits, each of which tells whether a molecule, a
 * text or a picture has some feature. All rows of a collection have the same
 * length. Two rows with a and b bits set, c of them in common, have a
 * similarity:
 *
 *     Tanimoto (Jaccard)       c / (a + b - c)
 *     Dice                     2 c / (a + b)
 *     Tversky (alpha, beta)    c / (alpha (a - c) + beta (b - c) + c)
 *     contained                c / a, the share of the query's bits
 *
 * Here a belongs to the query. The others are special cases of Tversky's with 1
 * and 1, a half and a half, and 1 and 0. All are from 0 to 1. If no bit is in
 * common the similarity is 0, even for two rows without any bit.
 *
 * bly_similar_find finds the most similar rows exactly. A row with b bits has
 * at most min(a, b) bits in common with the query, which bounds its similarity:
 * with Tanimoto by min(a, b) / max(a, b) [Swamidass & Baldi 2007a]. Rows are
 * sorted by their number of bits, and ranges whose bound is too small are never
 * read.
 *
 * Fingerprints are often hashed or folded, so that several features set the
 * same bit and there are more features than bits. bly_similar_estimate
 * estimates their number by the formula for filters [Swamidass & Baldi 2007b].
 *
 * [Swamidass & Baldi 2007a]  Bounds and algorithms for fast exact searches
 *                   of chemical fingerprints in linear and sublinear time,
 *                   J. Chem. Inf. Model. 47(2)
 * [Swamidass & Baldi 2007b]  Mathematical correction for fingerprint
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

/* The largest number of bits in a row. */
#define BLY_ROW_BITS_MOST UINT64_C(16777216)

/* Makes an empty collection of rows with `bits` bits, 1 .. BLY_ROW_BITS_MOST,
 * or 0: as many as the first lines given to bly_rows_add_fps say. A row takes
 * its bytes, rounded up to a multiple of 32, plus 32, plus its name; adding and
 * sorting may temporarily take 2.3 times as much. `allocator` NULL: the
 * library's own. BLY_EPARAM, BLY_ENOMEM. */
BLY_API bly_status bly_rows_new(bly_rows **out, uint64_t bits,
                                const bly_allocator *allocator)
                                BLY_MUST BLY_GIVEN(1);

/* Frees a collection; NULL is fine. */
BLY_API void bly_rows_free(bly_rows *rows);

/* Adds a row: its bits, in (bits + 7) / 8 bytes, and its name, which is copied.
 * Not thread-safe. BLY_EPARAM (the number of bits per row is not known yet, or
 * bits are set after the last one), BLY_EREADONLY (the rows are sorted),
 * BLY_ENOMEM; nothing is then added. */
BLY_API bly_status bly_rows_add(bly_rows *rows, const void *bits,
                                const char *name) BLY_GIVEN(1, 2, 3);

/* Adds the rows of a text in chemfp's FPS format, or of the next part of such a
 * text. A part ends at the end of a line; only the last line of all may lack
 * its newline. The first line is "#FPS1". Lines "#key=value" follow, of which
 * num_bits and type are used; each may occur once. Then each line is a row: its
 * bytes in hexadecimal digits, byte 0 first, a TAB, and its name. Anything
 * after a second TAB is ignored. Lines may end with CR LF. Without num_bits,
 * all bits of the first row's bytes count.
 *
 * BLY_EFORMAT: a line has another form, rows differ in length, or a bit is set
 * after the last one. bly_why() gives the number of the line, counted through
 * all parts. Rows before it have been added; add no further part.
 * BLY_EMISMATCH: num_bits differs from that given to bly_rows_new.
 * BLY_EREADONLY and BLY_ENOMEM as for bly_rows_add. */
BLY_API bly_status bly_rows_add_fps(bly_rows *rows, const void *text,
                                    size_t bytes) BLY_GIVEN(1);

/* Sorts the rows by their numbers of bits, which searching requires. Rows keep
 * their numbers, which are those of the order of adding. No row can be added
 * afterwards. Sorted rows may be used by many threads at once. BLY_ENOMEM: the
 * rows are unchanged. */
BLY_API bly_status bly_rows_sort(bly_rows *rows) BLY_MUST BLY_GIVEN(1);

/* Returns the number of rows; the number of bits per row, 0 if not known yet;
 * and the "type" that the text gave for the fingerprints, or NULL. Thread-safe,
 * like the two functions below. */
BLY_API uint64_t    bly_rows_count(const bly_rows *rows) BLY_GIVEN(1);
BLY_API uint64_t    bly_rows_bits(const bly_rows *rows) BLY_GIVEN(1);
BLY_API const char *bly_rows_type(const bly_rows *rows) BLY_GIVEN(1);

/* Returns the bits and the name of row i, from 0, or NULL if i is too large.
 * Zero bytes follow the row up to a multiple of 32. Valid until rows are added
 * or sorted. */
BLY_API const void *bly_rows_at(const bly_rows *rows, uint64_t i) BLY_GIVEN(1);
BLY_API const char *bly_rows_name(const bly_rows *rows, uint64_t i)
                                  BLY_GIVEN(1);

/* ==== Search ============================================================ */

typedef enum {
    BLY_TANIMOTO, BLY_DICE, BLY_TVERSKY, BLY_CONTAINED
} bly_measure;

/* A search. Set unused fields to 0. */
typedef struct {
    bly_measure measure;
    uint32_t    threads;        /* most threads to use; 0: one per processor */
    double      alpha, beta;    /* for BLY_TVERSKY: finite, 0 or more        */
    double      least;          /* least similarity of a row, 0 .. 1         */
    uint64_t    most;           /* most rows per query, 1 or more            */
    bool        within;         /* find only rows that have all bits of the
                                   query. If each bit stands for a part, a
                                   molecule has all bits of its
                                   substructures, so none is missed          */
    bool        zero[7];
    const bly_progress *progress;       /* in queries; after BLY_ECANCELED the
                                           results are unspecified; or NULL  */
    uint64_t    reserved[3];    /* 0                                         */
} bly_similar_spec;

/* A search result. */
typedef struct {
    uint64_t row;               /* for bly_rows_name                         */
    double   similarity;
    uint32_t bits, shared;      /* bits set in the row, and in both          */
} bly_similar;

/* Finds, for each of n queries, the `most` most similar of the sorted `rows`,
 * or fewer if there are not so many. The queries are the rows of `queries` from
 * number `first` on. The found[i] results of query i begin at out[i * most],
 * most similar first; of equally similar rows the one added first comes first.
 * The answer is exact, and the same on every processor and with any number of
 * threads. A query reads each row at most once, and skips rows whose number of
 * bits excludes them.
 *
 * BLY_EPARAM (an unknown measure; alpha, beta, least or most out of range; rows
 * that are not sorted; too few queries), BLY_EMISMATCH (the numbers of bits
 * differ), BLY_ENOMEM, BLY_ECANCELED. Thread-safe. */
BLY_API bly_status bly_similar_find(bly_similar *out, size_t *found,
                                    const bly_rows *rows,
                                    const bly_rows *queries, uint64_t first,
                                    size_t n, const bly_similar_spec *spec)
                                    BLY_GIVEN(3, 4, 7);

/* Returns the similarity of two rows, where the query has a bits, the other row
 * b, and both have c, at most a and b. Only the measure, alpha and beta of the
 * spec are used. NaN for an unknown measure. Thread-safe. */
BLY_API double bly_similarity(const bly_similar_spec *spec, uint64_t a,
                              uint64_t b, uint64_t c) BLY_GIVEN(1);

/* Estimates the features behind two rows of m bits, of which a and b are set,
 * and c in both, if each feature sets one bit by hashing or folding: the number
 * of features in each row, in either, in both and in just one, and their
 * Tanimoto similarity (`jaccard`), with standard deviations. For x set bits the
 * estimate is ln(1 - x/m) / ln(1 - 1/m), which is -m ln(1 - x/m) up to a
 * relative error of 1/(2m). The estimate for both is the sum of the two rows
 * minus that for either. As in bly_overlap, a small number of common features
 * may be estimated at less than 0, and a row with all bits set has infinitely
 * many. BLY_EPARAM: such rows are impossible. Thread-safe. */
BLY_API bly_status bly_similar_estimate(bly_overlap_t *out, uint64_t m,
                                        uint64_t a, uint64_t b, uint64_t c)
                                        BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_SIMILAR_H */
