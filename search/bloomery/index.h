/* bloomery/index.h - finds which of many sets contain given keys.
 *
 * An index holds a set of keys for each of many documents: files, blocks of
 * logs, partitions, molecules, or anything else with a name. A query with some
 * keys returns the documents that perhaps contain all of them, or at least a
 * given number. Documents that contain them are never missed; the share of
 * others that are returned by mistake is planned.
 *
 *      document   0 1 2 3 4 5 6 7            keys of "rust": rows 1 and 4
 *      row 0      1 . . 1 . . 1 .
 *      row 1      . 1 1 . . 1 . 1            1 and 4 together:
 *      row 2      . . . 1 1 . . .
 *      row 3      1 . 1 . . . . 1            . 1 . . . 1 . .
 *      row 4      . 1 . . 1 1 . .
 *
 * The simple solution is a filter of the same size for each document, queried
 * one by one. Here these filters lie side by side, and row i consists of bit i
 * of all of them. A query is an AND of a few rows and reads nothing else of the
 * file. This is the idea of Zatocoding, or superimposed codes [Mooers 1951]; as
 * rows of bits it is known from BIGSI [Bradley et al. 2019], COBS [Bingmann et
 * al. 2019] and BitFunnel [Goodwin et al. 2017].
 *
 * Documents with about the same number of different keys, within a factor of
 * 2^(1/4), form a group with rows of its own, so that a large document does not
 * enlarge the small ones. For a rate p, a document with n keys takes n
 * log2(1/p) / ln 2 bits with the best number of probes, or n / -ln(1 - p) bits
 * with one probe. Rounding to groups makes that up to 1.19 times as many, 1.09
 * on average.
 *
 * A query of q keys returns a share p^q of the documents that contain none of
 * them. So p is the rate for queries of one key, and may be large for queries
 * of many keys (all trigrams of a text, all k-mers of a read). With p = 0.3 and
 * one probe, a key reads one row and takes 2.8 bits; two probes take 2.5 bits
 * and read two rows. From p = 0.39 on, one probe is also the smallest
 * (lab/bingmann). In practice fewer documents are returned by mistake, about
 * two thirds as many for one key, because a group has as many rows as its
 * largest document needs.
 *
 * Keys are given as 64-bit hashes: for documents those of bly_hash_many (with
 * `kind` NULL, and the hash and seed of the bly_index_spec if it names any),
 * for queries those of bly_index_hash. docs/format describes the file.
 *
 * [Mooers 1951]           Zatocoding applied to mechanical organization of
 *                           knowledge, American Documentation 2(1)
 * [Goodwin et al. 2017]   BitFunnel: revisiting signatures for search, SIGIR
 * [Bradley et al. 2019]   Ultrafast search of all deposited bacterial and
 *                           viral genomic data, Nature Biotechnology 37(2)
 * [Bingmann et al. 2019]  COBS: a compact bit-sliced signature index, SPIRE
 */
#ifndef BLOOMERY_INDEX_H
#define BLOOMERY_INDEX_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Make ============================================================== */

/* The index that the caller wants. */
typedef struct {
    double      rate;           /* share of documents that one key returns
                                   by mistake, above 0, below 1; 0: 0.01     */
    uint32_t    probes;         /* bits per key, 1 .. 32; 0: the best number
                                   for the rate                              */
    uint32_t    extra;          /* bytes stored for each document besides
                                   its name, 0 .. 4096                       */
    uint64_t    memory;         /* bytes of memory for columns before they
                                   are written; 0: 256 MiB                   */
    const char *hash;           /* the caller's hash function, as in         */
    uint64_t    seed;           /* bly_spec; NULL: "xxh3". Not "siphash"     */
    const void *about;          /* data of the caller about the whole        */
    size_t      about_bytes;    /* index                                     */
    const bly_allocator *allocator;     /* NULL: the library's own           */
    const bly_progress *progress;       /* of all calls with the maker, in
                                           bytes; the callback must stay
                                           valid until bly_index_end; NULL:
                                           none                              */
    uint64_t    reserved[7];    /* 0                                         */
} bly_index_spec;

/* A document, as the index knows it. */
typedef struct {
    const char *name;           /* any bytes, not ended by a NUL; may be
                                   empty or repeat another's                 */
    size_t      length;
    const void *extra;          /* as many bytes as the spec says, unaligned */
    uint64_t    keys;           /* different ones (output only)              */
    bool        dropped;        /* it no longer counts (output only)         */
    bool        zero[7];
    uint64_t    reserved[3];    /* 0                                         */
} bly_document;

typedef struct bly_index_maker bly_index_maker;
typedef struct bly_index bly_index;

/* Begins to make an index. It is for `path`; an old file there stays until
 * bly_index_end. BLY_EPARAM, BLY_EHASH, BLY_EIO, BLY_ENOMEM. */
BLY_API bly_status bly_index_begin(bly_index_maker **out, const char *path,
                                   const bly_index_spec *spec)
                                   BLY_MUST BLY_GIVEN(1, 2, 3);

/* Adds a document to an index, with the hashes of its keys. There are n hashes,
 * which may repeat. Its name and extra bytes are copied. They identify it,
 * because the index numbers its documents in an order of its own. Any number of
 * threads may add at once; as long as all columns fit in `spec->memory`, the
 * order of adding does not affect the index. BLY_ENOMEM, BLY_EIO,
 * BLY_ECANCELED: the document was not added. After BLY_EIO the maker can only
 * be aborted. */
BLY_API bly_status bly_index_add(bly_index_maker *maker,
                                 const bly_document *document,
                                 const uint64_t *hashes, size_t n)
                                 BLY_MUST BLY_GIVEN(1, 2);

/* Returns whether a document of another index is to be taken. */
typedef bool bly_index_keep(void *context, uint64_t document);

/* Adds documents of another index without needing their keys. The other index
 * has the same rate, probes, hash and extra bytes. The documents are those that
 * are not dropped and for which `keep` returns true (NULL: all). BLY_EMISMATCH,
 * BLY_ENOMEM, BLY_EIO, BLY_ECORRUPT. After BLY_ECANCELED some of them have been
 * added: abort. */
BLY_API bly_status bly_index_take(bly_index_maker *maker,
                                  const bly_index *from, bly_index_keep *keep,
                                  void *context) BLY_MUST BLY_GIVEN(1, 2);

/* Writes the rest of an index and puts it in place. That is atomic, as for
 * bly_save. Frees the maker, whatever the result. BLY_EIO, BLY_ENOMEM,
 * BLY_ECANCELED; BLY_EUNFLUSHED as for bly_save. */
BLY_API bly_status bly_index_end(bly_index_maker *maker)
                                 BLY_MUST BLY_GIVEN(1);

/* Frees the maker of an index without writing the index; NULL is fine. */
BLY_API void bly_index_abort(bly_index_maker *maker);

/* Returns the number of bits that a document takes in an index. The document
 * has `keys` different keys. UINT64_MAX: too many. Thread-safe. */
BLY_API uint64_t bly_index_bits(const bly_index_spec *spec, uint64_t keys)
                                BLY_GIVEN(1);

/* ==== Open and query ==================================================== */

/* Opens an index by mapping its file. Only its list of documents is read, with
 * its checksum, and validated as untrusted input. Rows are verified page by
 * page when a query reads them. The index does not change if another file is
 * put at `path` or the file is removed. BLY_EIO, BLY_EFORMAT, BLY_EVERSION,
 * BLY_ECORRUPT, BLY_EHASH, BLY_ETOOBIG, BLY_ENOMEM. */
BLY_API bly_status bly_index_open(bly_index **out, const char *path,
                                  const bly_allocator *allocator)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Wraps an index in the caller's memory. It has n bytes, which must stay there
 * unchanged until bly_index_free. Otherwise like bly_index_open. */
BLY_API bly_status bly_index_wrap(bly_index **out, const void *bytes, size_t n,
                                  const bly_allocator *allocator)
                                  BLY_MUST BLY_GIVEN(1, 2);

/* Closes an index and frees its memory; NULL is fine. */
BLY_API void bly_index_free(bly_index *index);

/* Verifies the checksums of all rows of an index. `progress`: as in
 * bly_options, in bytes; NULL: none. BLY_ECORRUPT, BLY_ECANCELED.
 * Thread-safe. */
BLY_API bly_status bly_index_verify(const bly_index *index,
                                    const bly_progress *progress)
                                    BLY_GIVEN(1);

/* Facts about an index. The struct may grow: read only known fields.
 */
typedef struct {
    uint64_t documents;         /* all of them, numbered from 0              */
    uint64_t dropped;           /* those that no longer count, included
                                   above                                     */
    uint64_t keys;              /* different ones per document, summed       */
    uint64_t groups;
    uint64_t bytes;             /* of the whole index                        */
    uint64_t row_bytes;         /* of the rows                               */
    double   rate;              /* as in the spec                            */
    uint32_t probes;            /* per key                                   */
    uint32_t extra;
    const char *hash;
    uint64_t seed;
    const void *about;
    uint64_t about_bytes;
    uint64_t reserved[4];       /* 0                                         */
} bly_index_stat_t;

/* Reports facts about an index. `about` points into it. Thread-safe. */
BLY_API void bly_index_stat(bly_index_stat_t *out, const bly_index *index)
                            BLY_GIVEN(1, 2);

/* Returns a document of an index by its number. Pointers in *out point into the
 * index. BLY_EPARAM: no such number. Thread-safe. */
BLY_API bly_status bly_index_document(bly_document *out,
                                      const bly_index *index, uint64_t number)
                                      BLY_GIVEN(1, 2);

/* Hashes keys like the keys of an index's documents. There are keys->n of them.
 * Thread-safe. BLY_EPARAM: the keys are not well formed. */
BLY_API bly_status bly_index_hash(uint64_t *hashes, const bly_index *index,
                                  const bly_keys *keys)
                                  BLY_MUST BLY_GIVEN(1, 2, 3);

/* Finds the documents that perhaps contain the keys. They contain at least
 * `least` of these n keys, 1 .. n. Bit i % 64 of word i / 64 of `row` is set
 * for document i; `row` has (documents + 63) / 64 words. A key that is given
 * twice counts twice. If n or `least` is 0, all documents that are not dropped
 * are found. Thread-safe. BLY_EPARAM (`least` is above n), BLY_ENOMEM,
 * BLY_ECORRUPT (rows are damaged: rebuild the index). */
BLY_API bly_status bly_index_which(uint64_t *row, const bly_index *index,
                                   const uint64_t *hashes, size_t n,
                                   size_t least) BLY_MUST BLY_GIVEN(1, 2);

/* Counts the keys that each document perhaps contains. There are n keys, and
 * counts[i] is how many of them document i perhaps contains: all that it does,
 * and others at the rate of the index. `counts` has an element for each
 * document; it is 0 for those that are dropped. A key that is given twice
 * counts twice. Thread-safe. BLY_EPARAM (n is above 2^32 - 1), BLY_ENOMEM,
 * BLY_ECORRUPT (rows are damaged: rebuild the index). */
BLY_API bly_status bly_index_count(uint32_t *counts, const bly_index *index,
                                   const uint64_t *hashes, size_t n)
                                   BLY_MUST BLY_GIVEN(1, 2);

/* Called with each document that perhaps contains the keys. Return false to
 * stop. */
typedef bool bly_index_visitor(void *context, uint64_t number,
                               const bly_document *document);

/* Visits the documents that perhaps contain the keys. They are those of
 * bly_index_which, in rising order of their numbers. BLY_SEEN if there was at
 * least one, BLY_OK if there was none. Thread-safe if `visit` is. BLY_EPARAM,
 * BLY_ENOMEM and BLY_ECORRUPT as for bly_index_which; `visit` is then never
 * called. */
BLY_API bly_status bly_index_visit(const bly_index *index,
                                   const uint64_t *hashes, size_t n,
                                   size_t least, bly_index_visitor *visit,
                                   void *context) BLY_MUST BLY_GIVEN(1, 5);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_INDEX_H */
