/* bloomery/similar.h - which rows of bits are similar: the fingerprints of
 * chemistry, and others whose bits are features.
 *
 * A fingerprint is a row of bits, of which each says that a molecule, a text
 * or a picture has some feature; all rows of a library have as many. Two of
 * them, with a and b bits set of which c are the same ones, are the more
 * similar the larger the share of c is:
 *
 *      Tanimoto (Jaccard)       c / (a + b - c)
 *      Dice                     2 c / (a + b)
 *      Tversky (alpha, beta)    c / (alpha (a - c) + beta (b - c) + c)
 *      contained                c / a, the share of the query's bits
 *
 * where a is of the query. The others are Tversky's with 1 and 1, a half and a
 * half, 1 and 0, and all are from 0 to 1. Where no bit is the same the
 * similarity is 0, also of two rows without any bit.
 *
 * bly_similar_find finds the most similar rows exactly. A row with b bits has
 * at most min(a, b) of them in common with the query, and so at most a
 * similarity of, with Tanimoto, min(a, b) / max(a, b) [Swamidass & Baldi
 * 2007a]. Rows lie in memory by their number of bits, and whole ranges whose
 * bound is too small are never read.
 *
 * Fingerprints are often hashed or folded, so that several features set the
 * same bit and there are more of them than bits. bly_similar_estimate tells
 * how many there are, by the formula for filters [Swamidass & Baldi 2007b].
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

/* Bits that a row may have, at most. */
#define BLY_ROW_BITS_MOST UINT64_C(16777216)

/* No rows yet, of so many bits, 1 .. BLY_ROW_BITS_MOST; 0: as many as the
 * first lines of bly_rows_add_fps say. A row takes its bytes, rounded up to a
 * multiple of 32, 32 more, and its name; while rows are added, or sorted, it
 * may be 2.3 times as much. `allocator` NULL: the library's own. BLY_EPARAM,
 * BLY_ENOMEM. */
BLY_API bly_status bly_rows_new(bly_rows **out, uint64_t bits,
                                const bly_allocator *allocator)
                                BLY_MUST BLY_GIVEN(1);

/* Give them back; NULL is fine. */
BLY_API void bly_rows_free(bly_rows *rows);

/* Add a row: its bits, in (bits + 7) / 8 bytes, and its name, a text that is
 * copied. Not for two threads at once. BLY_EPARAM (how many bits rows have has
 * not been said, or there are some behind the last one), BLY_EREADONLY (the
 * rows are sorted), BLY_ENOMEM; nothing was added then. */
BLY_API bly_status bly_rows_add(bly_rows *rows, const void *bits,
                                const char *name) BLY_GIVEN(1, 2, 3);

/* Add the rows of a text in chemfp's format FPS, or of the next part of it. A
 * part ends with the end of a line; the last line may lack its own. The first
 * line is "#FPS1"; lines "#key=value" follow, of which num_bits and type are
 * heeded, and each at most once; then each row is a line, its bytes in
 * hexadecimal digits, byte 0 first, a TAB, and its name. What follows behind
 * one more TAB is not heeded. Lines may end with CR LF. Without num_bits all
 * bits of the first row's bytes count.
 *
 * BLY_EFORMAT: a line is none of these, rows have unlike lengths, or a bit is
 * set behind the last one: bly_why() names the line, counted through all
 * parts. Rows before it have been added, and no further part is to follow.
 * BLY_EMISMATCH: num_bits is not what bly_rows_new was told; BLY_EREADONLY and
 * BLY_ENOMEM as above. */
BLY_API bly_status bly_rows_add_fps(bly_rows *rows, const void *text,
                                    size_t bytes) BLY_GIVEN(1);

/* Put the rows into the order of their numbers of bits, to be searched. Their
 * own numbers, by which they are named, stay those of the order in which they
 * were added. No row can be added afterwards. Sorted rows may be used by many
 * threads at once. BLY_ENOMEM: they are as they were. */
BLY_API bly_status bly_rows_sort(bly_rows *rows) BLY_MUST BLY_GIVEN(1);

/* How many rows there are; how many bits each has, 0 where that has not been
 * said; and which fingerprints they are, as "type" of the text says it, or
 * NULL. Thread-safe, as the two below. */
BLY_API uint64_t    bly_rows_count(const bly_rows *rows) BLY_GIVEN(1);
BLY_API uint64_t    bly_rows_bits(const bly_rows *rows) BLY_GIVEN(1);
BLY_API const char *bly_rows_type(const bly_rows *rows) BLY_GIVEN(1);

/* The bits of row i, 0 first, and its name; NULL: there are not so many rows.
 * Behind its bytes there are zeros up to a multiple of 32. They stay until
 * rows are added or sorted. */
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
    uint32_t    threads;        /* that may work; 0: as many as there are
                                   processors                                */
    double      alpha, beta;    /* of BLY_TVERSKY: finite, 0 or more         */
    double      least;          /* similarity that a row must have, 0 .. 1   */
    uint64_t    most;           /* rows that are wanted for a query, 1 or
                                   more                                      */
    bool        within;         /* only rows that have all bits of the query,
                                   as a molecule has those of each of its parts
                                   if a bit says that a part is there: nothing
                                   that has them is left out                 */
    bool        zero[7];
    const bly_progress *progress;       /* in queries; after BLY_ECANCELED the
                                   results are unspecified; NULL: none       */
    uint64_t    reserved[3];    /* 0                                         */
} bly_similar_spec;

/* A row that was found. */
typedef struct {
    uint64_t row;               /* for bly_rows_name                         */
    double   similarity;
    uint32_t bits, shared;      /* that are set in it, and in both           */
} bly_similar;

/* Of each of the n queries, which are the rows of `queries` from number
 * `first` on, the `most` most similar of the sorted `rows`, all that are if
 * there are fewer: query i's found[i] ones begin at out[i * most], the most
 * similar first, and of equal ones the one that was added first. The answer is
 * exact, and the same with any processor and number of threads. Each row is
 * read once at most for a query, and of those whose number of bits excludes
 * them none.
 *
 * BLY_EPARAM (an unknown measure, alpha, beta, least or most outside their
 * range, rows that are not sorted, fewer queries than that), BLY_EMISMATCH
 * (rows of another number of bits), BLY_ENOMEM, BLY_ECANCELED. Thread-safe. */
BLY_API bly_status bly_similar_find(bly_similar *out, size_t *found,
                                    const bly_rows *rows,
                                    const bly_rows *queries, uint64_t first,
                                    size_t n, const bly_similar_spec *spec)
                                    BLY_GIVEN(3, 4, 7);

/* How similar two rows are of which the query has a bits, the other one b, and
 * both c; c is at most a and b. Of the spec the measure counts, and alpha and
 * beta. NaN for an unknown measure. Thread-safe. */
BLY_API double bly_similarity(const bly_similar_spec *spec, uint64_t a,
                              uint64_t b, uint64_t c) BLY_GIVEN(1);

/* How many features there are behind two rows of m bits, of which a and b are
 * set, and c in both, where each feature sets one bit by a hash function or by
 * folding: of each row, of either, of both, of just one; and the Tanimoto
 * similarity of the features (`jaccard`), with their standard deviations. Of x
 * set bits the estimate is ln(1 - x/m) / ln(1 - 1/m), which is -m ln(1 - x/m)
 * but for a part of 1/(2m), and what is in both is what the two have together
 * less what is in either. As in bly_overlap few common features may be
 * estimated at less than 0, and a row whose bits are all set has infinitely
 * many. BLY_EPARAM: such rows there are not. Thread-safe. */
BLY_API bly_status bly_similar_estimate(bly_overlap_t *out, uint64_t m,
                                        uint64_t a, uint64_t b, uint64_t c)
                                        BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_SIMILAR_H */
