/* bloomery/foreign.h - filters in other systems' files.
 *
 * A *format* is how another system writes a filter. Here it is a kind of family
 * "foreign", which bly_kinds() does not list and bly_formats() does. Its image
 * is a header of ours and behind it that file, byte for byte. So a file of a
 * format is opened where it lies (bly_open, with BLY_MAP too, without a copy),
 * is asked and changed by the same verbs as all filters, and bly_save writes
 * what the other system reads. In memory that file is what follows the first
 * BLY_HEADER_BYTES of bly_image().
 *
 * bly_open and bly_unpack recognise a file where its bytes tell what it is, of
 * some formats together with how many there are, which a pipe does not tell. Of
 * other formats they do not: then name it in `format` of bly_options, which is
 * taken at its word. What a file does not tell, and its keys depend on, is said
 * there too, as options of the kind: "squid:method=post".
 *
 * Such a filter hashes the keys themselves, as its system does: give it keys,
 * in the system's bytes, and no hashes. A spec may name no hash function, seed
 * or secret for it (BLY_EHASH, BLY_ESECRET). A file of another system has no
 * checksum; what can be wrong with its numbers is looked at, and no verb leaves
 * its bytes.
 */
#ifndef BLOOMERY_FOREIGN_H
#define BLOOMERY_FOREIGN_H

#include "../bloomery.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a field of `geometry` in bly_stat_t is, of a filter of some format. */
typedef struct {
    const char *name;           /* "bits", "tweak"; NULL: it is unused       */
    const char *means;          /* "0 mitz32, 1 mitz64"; NULL: a number      */
} bly_number_info;

typedef struct {
    const bly_kind_info *kind;  /* whose name is the format's, too           */
    const char *writer;         /* "DCSO's bloom, …": whose files these are  */
    bool        told;           /* by its bytes: it need not be named        */
    const bly_number_info *numbers;     /* 4, one for each field             */
} bly_format_info;

/* All formats, a NULL at the end; *n, unless NULL, is how many. Constant for
 * the life of the program; thread-safe. */
BLY_API const bly_format_info *const *bly_formats(size_t *n);

/* The name of the format that a file looks like by its first `n` bytes, of
 * `all` that it has: 4096 are enough, fewer may not be. NULL: none of them, or
 * one whose bytes do not tell. "bloomery" is our own. Thread-safe. */
BLY_API const char *bly_recognise(const void *bytes, size_t n, uint64_t all)
                                  BLY_GIVEN(1);

/* Save a filter in a format: as bly_save, which is the same with the format of
 * the filter's own kind. "bloomery" writes the image, whatever kind it is, so
 * that the file tells what it is and has checksums. Two kinds with the same
 * bits are written as each other: "split" that hashes by xxh64 with seed 0 as
 * "parquet", and that as "split", which is one of ours. BLY_EPARAM (no such
 * format); BLY_EUNSUPPORTED (the filter's bits cannot be written so); errors of
 * bly_save. */
BLY_API bly_status bly_save_as(const bly_filter *filter, const char *path,
                               const char *format) BLY_MUST BLY_GIVEN(1, 2, 3);

/* What is attached to a filter: bytes of any content that its format keeps in
 * the file behind the bits. No verb looks at them. They stay as they are where
 * keys are added, where filters are united those of the one that takes the
 * other's keys, and they go along with what is copied, made alike, packed,
 * saved or written as "bloomery". *data is where they are in the filter, until
 * that changes or is freed, and not NULL where there are none and *bytes is 0.
 * BLY_EUNSUPPORTED: files of this format, or filters of ours, have no place for
 * any. BLY_ECORRUPT: somebody writes to the file that is mapped. A question as
 * bly_contains is: many threads may ask. */
BLY_API bly_status bly_attached(const void **data, size_t *bytes,
                                const bly_filter *filter) BLY_GIVEN(1, 2, 3);

/* Attach bytes to a filter, in place of those that are; none: `bytes` is 0, and
 * `data` may be NULL. They are copied, and may be those of bly_attached, or a
 * part. Takes memory for the filter with them, which is moved there.
 * BLY_EUNSUPPORTED, BLY_ECORRUPT (as bly_attached); BLY_EREADONLY (mapped: open
 * it without BLY_MAP); BLY_EPARAM (mapped for writing, so that its size stays);
 * BLY_ENOMEM; BLY_ETOOBIG. A change: no other call beside it. */
BLY_API bly_status bly_attach(bly_filter *filter, const void *data,
                              size_t bytes) BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_FOREIGN_H */
