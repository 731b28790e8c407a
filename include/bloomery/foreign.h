/* bloomery/foreign.h - reads and writes filters in files of other systems.
 *
 * A *format* is the way another system writes a filter. Each format is a kind
 * of family "foreign", which bly_formats() lists and bly_kinds() does not. Its
 * image is our header followed by the other system's file, byte for byte. So
 * bly_open reads such a file in place (with BLY_MAP even without a copy), all
 * functions work on it as on any filter, and bly_save writes a file that the
 * other system can read. In memory that file is everything after the first
 * BLY_HEADER_BYTES of bly_image(). A filter that was opened as an image is
 * saved as one, so that it keeps what only its header states.
 *
 * bly_open and bly_unpack recognise many formats by their bytes. Some of these
 * are recognised only if the file's size is known, which it is not for a pipe.
 * Other formats cannot be recognised: name them in `format` of bly_options,
 * which is then not verified. Facts that the keys depend on and that the file
 * does not state are given there as well, as options of the kind:
 * "squid:method=post".
 *
 * Such a filter hashes whole keys, as its system does: give it keys in that
 * system's bytes, not hashes. A spec for it must not name a hash function, seed
 * or secret (BLY_EHASH, BLY_ESECRET). Files of other systems have no checksum.
 * Their numbers are validated, and no function accesses memory outside their
 * bytes.
 */
#ifndef BLOOMERY_FOREIGN_H
#define BLOOMERY_FOREIGN_H

#include "../bloomery.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The meaning of a field of `geometry` in bly_info_t, for one format. */
typedef struct {
    const char *name;           /* "bits", "tweak"; NULL: it is unused       */
    const char *means;          /* "0 mitz32, 1 mitz64"; NULL: a number      */
} bly_number_info;

typedef struct {
    const bly_kind_info *kind;  /* its name is the format's name             */
    const char *writer;         /* "DCSO's bloom, …": whose files these are  */
    bool        recognised;     /* by its bytes                              */
    const bly_number_info *numbers;     /* 4, one for each field             */
    uint32_t    told;           /* bit i: files do not state field i, which
                                   follows from options: "squid:method=post" */
} bly_format_info;

/* Returns all formats of other systems. A NULL ends the list, and *n is their
 * number unless `n` is NULL. Constant for the life of the program;
 * thread-safe. */
BLY_API const bly_format_info *const *bly_formats(size_t *n);

/* Recognises the format of a filter's file by its first bytes. Returns the name
 * of the format that a file of `all` bytes seems to have, judging by its first
 * `n` bytes; 4096 suffice, fewer may not. "bloomery" is our own. NULL: no known
 * format, or one that cannot be recognised. Thread-safe. */
BLY_API const char *bly_recognise(const void *bytes, size_t n, uint64_t all)
                                  BLY_GIVEN(1);

/* Saves a filter in another system's format. The format of the filter's own
 * kind writes the other system's file. "bloomery" writes the image of any kind,
 * so that the file can be recognised and has checksums. Two kinds with the same
 * bits can be written as each other: "split" with xxh64 and seed 0 as
 * "parquet", and "parquet" as "split", which is one of our kinds. BLY_EPARAM
 * (no such format); BLY_EUNSUPPORTED (the filter's bits do not fit the format);
 * errors of bly_save. */
BLY_API bly_status bly_save_as(const bly_filter *filter, const char *path,
                               const char *format) BLY_MUST BLY_GIVEN(1, 2, 3);

/* Packs a filter into memory in another system's format: the bytes that
 * bly_save_as writes; with NULL as `format`, those of bly_save. The bytes of
 * bly_image are always room enough; *bytes is the number used. Errors of
 * bly_save_as, and BLY_EPARAM (room). */
BLY_API bly_status bly_pack_as(const bly_filter *filter, const char *format,
                               void *into, size_t room, size_t *bytes)
                               BLY_GIVEN(1, 3, 5);

/* Returns the data that is attached to a filter: arbitrary bytes that its
 * format keeps in the file after the bits. No function interprets them. They
 * stay when keys are added. If filters are united, those of `into` stay. They
 * are kept when the filter is copied, made alike, packed, saved or written as
 * "bloomery". *data points into the filter until that changes or is freed; it
 * is not NULL even if there is no such data and *bytes is 0. BLY_EUNSUPPORTED:
 * files of this format, or filters of our own, have no place for such data.
 * BLY_ECORRUPT: another process is writing to the mapped file. Any number of
 * threads may call it at once, like bly_contains. */
BLY_API bly_status bly_attached(const void **data, size_t *bytes,
                                const bly_filter *filter) BLY_GIVEN(1, 2, 3);

/* Attaches data to a filter, in place of what it has. With `bytes` 0 it has
 * none, and `data` may be NULL. The bytes are copied, and may be part of those
 * of bly_attached. Moves the filter to newly allocated memory.
 * BLY_EUNSUPPORTED, BLY_ECORRUPT (as for bly_attached); BLY_EREADONLY (mapped:
 * open it without BLY_MAP); BLY_EPARAM (mapped for writing, so that its size is
 * fixed); BLY_ENOMEM; BLY_ETOOBIG. Changes the filter: no other call may run
 * beside it. */
BLY_API bly_status bly_attach(bly_filter *filter, const void *data,
                              size_t bytes) BLY_GIVEN(1);

/* ---- Clubcards ------------------------------------------------------------
 *
 * A clubcard, Mozilla's filter of revoked certificates, is exact for all keys
 * that it was built from, and has a block for each group of keys. It is built
 * from more keys than fit in memory, which are read twice instead. */

/* Takes some keys, in any number of threads at once. Returns BLY_OK, or an
 * error after which the source should end. */
typedef bly_status bly_take_keys(void *into, const bly_keys *keys);

/* A source of keys. `each` passes all keys to `take`, some at a time, in any
 * order, and returns BLY_OK or an error, which ends the build. Each key is an
 * array of bytes in memory that is read before `take` returns. */
typedef struct {
    bly_status (*each)(void *context, bly_take_keys *take, void *into);
    void        *context;
} bly_key_source;

/* A log of certificates, and the times whose certificates are covered: in
 * milliseconds since 1970, both included. */
typedef struct {
    uint8_t  log[32];
    uint64_t from, until;
} bly_covered_log;

typedef struct {
    const char    *kind;        /* "clubcard", "clubcard:keys=tab" and so on */
    bool           within;      /* the others include the members            */
    bly_key_source members;     /* read once                                 */
    bly_key_source others;      /* read twice                                */
    const bly_covered_log *logs;        /* n_logs; NULL: none                */
    size_t         n_logs;
    uint64_t       seed;        /* for bits that the keys leave free         */
    const bly_allocator *allocator;     /* NULL: the library's own           */
    uint64_t       reserved[4]; /* 0                                         */
} bly_clubcard_spec;

/* Builds a clubcard from members and all others. While it works, it
 * takes up to 250 bytes of memory per member, and none for others that its
 * first part excludes. The same keys and seed make the same
 * file, in any order. Repeated keys count once. BLY_EPARAM (a key without a
 * group; a key in both lists or, with `within`, a member that is not in the
 * list of all; keys that changed between the two readings); BLY_ETOOBIG (a
 * column of 2^32 bits in version 4); BLY_ENOMEM; BLY_EUNSUPPORTED (a library
 * without digests); errors of the sources. */
BLY_API bly_status bly_build_clubcard(bly_filter **out,
                                      const bly_clubcard_spec *spec)
                                      BLY_MUST BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_FOREIGN_H */
