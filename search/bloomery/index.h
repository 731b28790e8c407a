/* bloomery/index.h - many sets, one question: which of them have these keys?
 *
 * An index holds a set of keys for each of many documents (files, blocks of
 * logs, partitions, molecules): whatever has a name. Asked for some keys it
 * tells which documents perhaps have all of them, or at least so many. One
 * that has them is never left out; of the others a share is named that is
 * planned.
 *
 *      document   0 1 2 3 4 5 6 7            keys of "rust": rows 1 and 4
 *      row 0      1 . . 1 . . 1 .
 *      row 1      . 1 1 . . 1 . 1            1 and 4 together:
 *      row 2      . . . 1 1 . . .
 *      row 3      1 . 1 . . . . 1            . 1 . . . 1 . .
 *      row 4      . 1 . . 1 1 . .
 *
 * A filter for each document, all of one size, would be asked one by one.
 * Here they lie side by side, and bit i of all of them is row i: a question
 * is an AND of a few rows, and of the file no more is read. That is
 * Zatocoding's idea [Mooers 1951], superimposed codes; as rows of bits it is
 * BIGSI [Bradley et al. 2019], COBS [Bingmann et al. 2019] and BitFunnel
 * [Goodwin et al. 2017].
 *
 * Documents with about as many different keys, up to a factor of 2^(1/4), are
 * a group with rows of its own, so that a large document costs the small ones
 * nothing. The bits of a document with n keys are n log2(1/p) / ln 2 for a
 * share p and as many probes as are best for it; with one probe n / -ln(1 -
 * p), and by the factor up to 1.19 times as many, 1.09 on average.
 *
 * A question of q keys names a share p^q of the documents that have none of
 * them. So for questions of one key p is what may be named wrongly; for those
 * of many keys (all trigrams of a text, all k-mers of a read) p may be large.
 * With p = 0.3 and one probe a key is a row to be read, and 2.8 bits; two
 * probes take 2.5 bits and twice the rows, and from p = 0.39 on one probe is
 * smallest, too (lab/bingmann). Fewer are named, of one key two thirds or so,
 * as a group has as many rows as its largest document needs.
 *
 * Keys are given as hashes of 64 bits: of a document as bly_hash_keys makes
 * them (with `kind` NULL, and with the hash and seed of the bly_index_spec if
 * it names any), of a question as bly_index_hash does. docs/format.md has the
 * file.
 *
 *   [Mooers 1951]           Zatocoding applied to mechanical organization of
 *                           knowledge, American Documentation 2(1)
 *   [Goodwin et al. 2017]   BitFunnel: revisiting signatures for search, SIGIR
 *   [Bradley et al. 2019]   Ultrafast search of all deposited bacterial and
 *                           viral genomic data, Nature Biotechnology 37(2)
 *   [Bingmann et al. 2019]  COBS: a compact bit-sliced signature index, SPIRE
 */
#ifndef BLOOMERY_INDEX_H
#define BLOOMERY_INDEX_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Make ============================================================== */

/* An index as it is to be. */
typedef struct {
    double      rate;           /* share of documents named wrongly by one key,
                                   above 0, below 1; 0: 0.01                 */
    uint32_t    probes;         /* bits of a key, 1 .. 32; 0: as many as are
                                   best for the rate                         */
    uint32_t    extra;          /* bytes that are kept of each document besides
                                   its name, 0 .. 4096                       */
    uint64_t    memory;         /* bytes that columns may take in memory before
                                   they are written; 0: 256 MiB              */
    const char *hash;           /* by what the caller hashes keys, as in     */
    uint64_t    seed;           /* bly_spec; NULL: "xxh3". Not "siphash"     */
    const void *about;          /* what the caller wants kept of the whole   */
    size_t      about_bytes;    /* index                                     */
    const bly_allocator *allocator;     /* NULL: the library's own           */
    const bly_progress *progress;       /* of all calls with the maker, in
                                   bytes; kept, so its callback must be there
                                   until bly_index_end; NULL: none           */
    uint64_t    reserved[7];    /* 0                                         */
} bly_index_spec;

/* A document: what the index knows of it. */
typedef struct {
    const char *name;           /* any bytes, not ended by a NUL; none, and
                                   those of another document, are fine       */
    size_t      length;
    const void *extra;          /* as many bytes as the spec says, aligned to
                                   nothing                                   */
    uint64_t    keys;           /* different ones (given back; not heeded)   */
    bool        dropped;        /* it counts no more (given back)            */
    bool        zero[7];
    uint64_t    reserved[3];    /* 0                                         */
} bly_document;

typedef struct bly_index_maker bly_index_maker;
typedef struct bly_index bly_index;

/* Begin an index that is to be at `path`. What is there stays until
 * bly_index_end. BLY_EPARAM, BLY_EHASH, BLY_EIO, BLY_ENOMEM. */
BLY_API bly_status bly_index_begin(bly_index_maker **out, const char *path,
                                   const bly_index_spec *spec)
                                   BLY_MUST BLY_GIVEN(1, 2, 3);

/* Add a document with the n keys of these hashes, which may repeat. Its name
 * and extra bytes are copied; they tell which it is, for the index numbers its
 * documents in an order of its own. Any number of threads at once: the order in
 * which documents come does not show in the index, as long as they fit in
 * `spec->memory`. BLY_ENOMEM, BLY_EIO, BLY_ECANCELED (the document is not in;
 * after BLY_EIO no more can be done than to abort). */
BLY_API bly_status bly_index_add(bly_index_maker *maker,
                                 const bly_document *document,
                                 const uint64_t *hashes, size_t n)
                                 BLY_MUST BLY_GIVEN(1, 2);

/* Is this document of another index to come along? */
typedef bool bly_index_keep(void *context, uint64_t document);

/* Add the documents of an index of the same rate, probes, hash and extra
 * bytes, as they are there, without their keys: those that are not dropped,
 * and of which `keep` says true; NULL: all. BLY_EMISMATCH, BLY_ENOMEM,
 * BLY_EIO, BLY_ECORRUPT; after BLY_ECANCELED some of them are there: abort. */
BLY_API bly_status bly_index_take(bly_index_maker *maker,
                                  const bly_index *from, bly_index_keep *keep,
                                  void *context) BLY_MUST BLY_GIVEN(1, 2);

/* Write what is left and put the index in its place, all of it or nothing, as
 * bly_save does. The maker is gone then, whatever is said. BLY_EIO,
 * BLY_ENOMEM, BLY_ECANCELED; BLY_EUNFLUSHED as bly_save. */
BLY_API bly_status bly_index_end(bly_index_maker *maker)
                                 BLY_MUST BLY_GIVEN(1);

/* Give it up: nothing was written. NULL is fine. */
BLY_API void bly_index_abort(bly_index_maker *maker);

/* How many bits a document with so many different keys takes; UINT64_MAX: more
 * than can be. Thread-safe. */
BLY_API uint64_t bly_index_bits(const bly_index_spec *spec, uint64_t keys)
                                BLY_GIVEN(1);

/* ==== Open and ask ====================================================== */

/* Map an index, of which only what is asked for is read; its list of
 * documents is looked at, with its checksum, as by an enemy. Rows are looked
 * at, page by page with the checksums of these, when a question reads them.
 * Another file that comes to `path` does not change it, nor does it that the
 * file is removed. BLY_EIO, BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT,
 * BLY_EHASH, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_API bly_status bly_index_open(bly_index **out, const char *path,
                                  const bly_allocator *allocator)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* The same of n bytes in memory, which stay the caller's. */
BLY_API bly_status bly_index_wrap(bly_index **out, const void *bytes, size_t n,
                                  const bly_allocator *allocator)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Close an index and give its memory back; NULL is fine. */
BLY_API void bly_index_free(bly_index *index);

/* Verifies the checksums of all rows. `progress`: as in bly_options, in bytes;
 * NULL: none. BLY_ECORRUPT, BLY_ECANCELED. Thread-safe. */
BLY_API bly_status bly_index_verify(const bly_index *index,
                                    const bly_progress *progress)
                                    BLY_GIVEN(1);

/* What an index is. It may get longer: ask only for the fields that are known.
 */
typedef struct {
    uint64_t documents;         /* all of them, numbered from 0 …            */
    uint64_t dropped;           /* … those that count no more included       */
    uint64_t keys;              /* different ones of each document, summed   */
    uint64_t groups;
    uint64_t bytes;             /* of all                                    */
    uint64_t row_bytes;         /* of the rows                               */
    double   rate;              /* as in the spec                            */
    uint32_t probes;            /* of a key                                  */
    uint32_t extra;
    const char *hash;
    uint64_t seed;
    const void *about;
    uint64_t about_bytes;
    uint64_t reserved[4];       /* 0                                         */
} bly_index_stat_t;

/* Tell what an index is. `about` points into it. Thread-safe. */
BLY_API void bly_index_stat(bly_index_stat_t *out, const bly_index *index)
                            BLY_GIVEN(1, 2);

/* A document, which points into the index. BLY_EPARAM: there are not so many.
 * Thread-safe. */
BLY_API bly_status bly_index_document(bly_document *out,
                                      const bly_index *index, uint64_t number)
                                      BLY_GIVEN(1, 2);

/* Hash keys as those of the index's documents were: n hashes. Thread-safe.
 * BLY_EPARAM: the keys are none. */
BLY_API bly_status bly_index_hash(uint64_t *hashes, const bly_index *index,
                                  const bly_keys *keys)
                                  BLY_MUST BLY_GIVEN(1, 2, 3);

/* Which documents perhaps have at least `least` of these n keys, 1 .. n? Bit
 * i of `row`, bit i % 64 of word i / 64, says it of document i; there are
 * (documents + 63) / 64 words. A key that is given twice counts twice. Of n =
 * 0 or `least` 0 it is all that are not dropped. Thread-safe. BLY_EPARAM
 * (least is above n), BLY_ENOMEM, BLY_ECORRUPT (rows that were asked for are
 * not those that were written: build it anew). */
BLY_API bly_status bly_index_which(uint64_t *row, const bly_index *index,
                                   const uint64_t *hashes, size_t n,
                                   size_t least) BLY_MUST BLY_GIVEN(1, 2);

/* Is told of a document that perhaps has the keys; false: no more of them. */
typedef bool bly_index_visitor(void *context, uint64_t number,
                               const bly_document *document);

/* Call `visit` for each of these documents, in rising order of their numbers.
 * BLY_SEEN: for one at least; BLY_OK: there is none. Thread-safe if `visit`
 * is. BLY_EPARAM, BLY_ENOMEM and BLY_ECORRUPT as bly_index_which: none was
 * told. */
BLY_API bly_status bly_index_visit(const bly_index *index,
                                   const uint64_t *hashes, size_t n,
                                   size_t least, bly_index_visitor *visit,
                                   void *context) BLY_MUST BLY_GIVEN(1, 5);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_INDEX_H */
