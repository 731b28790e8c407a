/* bloomery/container.h - finds filters inside data files of other systems.
 *
 * A container is a data file that carries filters, so that readers can skip
 * data that cannot hold their key:
 *
 *      parquet  one for a column of a row group, if its writer made one
 *      orc      one for a column of a row group: 10,000 rows, by default
 *      leveldb  a table (.ldb): one for the blocks of each 2 KiB of data
 *      rocksdb  a table (.sst): one for all of its keys, or for each partition
 *
 * These functions present such a file as a list of groups (row groups, blocks
 * or partitions) with the filter of each. Each filter is opened on its own.
 * Only the end of the file and the requested filters are read, and none of its
 * data, even if it has many gigabytes. A key is certainly not in the file if
 * the filters of all groups say so. A listed group without a filter may hold
 * any key; a group of a table that is not listed holds none. A column of an ORC
 * file without filters is listed only in the first row group of each stripe.
 *
 *      Apache Parquet's format, Bloom filter; Apache ORC specification v1;
 *      LevelDB, table_format.md
 */
#ifndef BLOOMERY_CONTAINER_H
#define BLOOMERY_CONTAINER_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_container bly_container;

/* The filter of one group or, in a file with columns, of one column in a group.
 * The struct keeps its size, as bly_info_t does. */
typedef struct {
    const char *column;         /* "address.city"; "": none, or a column
                                   whose name is encrypted                   */
    const char *format;         /* of the filter, as in bly_options:
                                   "parquet", "orc:type=int"; NULL: no
                                   usable filter                             */
    const char *lacks;          /* why not: "has no filter"; or NULL         */
    const char *as;             /* the type of its keys: "text" (their
                                   bytes), "int32", "int64", "float",
                                   "double" (4 or 8 bytes, lowest first),
                                   "hex" (bytes that are not text); NULL:
                                   unknown, or of a type that is not stored
                                   as it is written: decimals of Parquet     */
    uint64_t    group;          /* its number, from 0                        */
    uint64_t    keys;           /* in the group, including repeats and
                                   NULLs; UINT64_MAX: unknown                */
    uint64_t    offset, bytes;  /* the filter's place in the file            */
    uint64_t    part, parts;    /* of an ORC file: `parts` filters share the
                                   place, which may be compressed, and this
                                   is number `part`, from 0; parts is 0: it
                                   is there alone. Without a filter, `parts`
                                   groups from this one on lack it           */
    uint64_t    reserved[2];    /* 0                                         */
} bly_contained;

/* The contents of a file. Valid until bly_container_free. */
typedef struct {
    const char *system;         /* "parquet", "orc", "leveldb", "rocksdb"    */
    const char *group;          /* the name for a group: "row group"         */
    uint64_t    groups;         /* including those without keys              */
    const bly_contained *filters;       /* by group, in file order; of an ORC
                                           file, each column by group        */
    size_t      n;
} bly_contents;

/* Opens a container for reading and lists its filters. The file stays open.
 * Only allocator and memory_limit of the options are used; the options may be
 * NULL. Everything that is read is checked as untrusted input. The list takes
 * up to about 100 times the size of the file's own index. BLY_ELIMIT: that is
 * more than bly_memory_limit allows for a file of this size. BLY_EFORMAT (not a
 * known container), BLY_ECORRUPT (damaged or truncated), BLY_EVERSION (too new
 * a format, or a part that must be read is compressed or encrypted), BLY_EIO,
 * BLY_ENOMEM, BLY_EPARAM (options). */
BLY_API bly_status bly_container_open(bly_container **out, const char *path,
                                      const bly_options *options)
                                      BLY_MUST BLY_GIVEN(1, 2);

/* Decompresses a block of a container, for a system that compresses what
 * locates its filters, as ORC does. Writes at most `room` bytes to `to` and
 * their number to *made. The codec is "zlib" (deflate, without a header),
 * "snappy" or "lz4" (without a frame), "zstd", "lzo" or "brotli". BLY_OK;
 * BLY_EUNSUPPORTED: another codec; BLY_ECORRUPT; BLY_ENOMEM. It is called by
 * the threads that call the functions below, perhaps at the same time. */
typedef struct {
    bly_status (*block)(void *context, const char *codec, const void *from,
                        size_t n, void *to, size_t room, size_t *made);
    void *context;
} bly_decompressor;

/* Opens a container with compressed blocks. Other containers are opened as by
 * bly_container_open. The library has no codecs: the caller's are used until
 * the container is freed. Without them, a compressed block is BLY_EVERSION. */
BLY_API bly_status bly_container_open_with(bly_container **out,
                                           const char *path,
                                           const bly_decompressor *with,
                                           const bly_options *options)
                                           BLY_MUST BLY_GIVEN(1, 2, 3);

/* Closes a container and frees its memory; NULL is fine. Filters that were
 * opened from it stay. */
BLY_API void bly_container_free(bly_container *container);

/* Returns the list of the filters in a container. Thread-safe. */
BLY_API const bly_contents *bly_container_contents(const bly_container *of)
                                                   BLY_GIVEN(1);

/* Opens a filter of a container, in memory: number `which` of the list. Free it
 * with bly_free. The options are as for bly_open, may be NULL, and their
 * `format` is ignored. Thread-safe. BLY_EPARAM (no such number),
 * BLY_EUNSUPPORTED (no usable filter), and the errors of bly_open, among them
 * BLY_ECORRUPT. */
BLY_API bly_status bly_container_filter(bly_filter **out,
                                        const bly_container *container,
                                        size_t which,
                                        const bly_options *options)
                                        BLY_MUST BLY_GIVEN(1, 2);

/* Returns the system that a container belongs to: "parquet", "orc", "leveldb"
 * or "rocksdb", or NULL if the bytes are not the end of a container. They are
 * the last `n` bytes of the file, of which 8 suffice. Thread-safe. */
BLY_API const char *bly_container_recognise(const void *tail, size_t n)
                                            BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_CONTAINER_H */
