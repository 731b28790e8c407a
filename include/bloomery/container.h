/* bloomery/container.h - files of other systems that have filters inside them.
 *
 * A container is a file of data that carries filters, so that readers skip what
 * cannot hold their key:
 *
 *      parquet  one for a column of a row group, where its writer made one
 *      leveldb  a table (.ldb): one for the blocks of each 2 KiB of data
 *      rocksdb  a table (.sst): one for all of its keys, or for each partition
 *
 * Here such a file is a list of groups (row groups, blocks, partitions), and of
 * what it says of a filter for each of them. Any of the filters is opened by
 * itself; of the data nothing is read, and of a file of many gigabytes only its
 * end and the filters that are asked for. A key is certainly not in the file if
 * the filters of all groups say so. A group with an entry but no filter may
 * hold any key; one of a table without an entry holds none.
 *
 *   Apache Parquet's format, Bloom filter; LevelDB, table_format.md
 */
#ifndef BLOOMERY_CONTAINER_H
#define BLOOMERY_CONTAINER_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_container bly_container;

/* What is said of the filter of one group: of one of its columns, where the
 * file has columns. It keeps its size as bly_stat_t does. */
typedef struct {
    const char *column;         /* "address.city"; "": it has none, or a column
                                   whose name is encrypted                   */
    const char *format;         /* of the filter, as in bly_options; NULL:
                                   there is none that can be asked           */
    const char *lacks;          /* why not, "has no filter"; or NULL         */
    const char *as;             /* what its keys are: "text" (their bytes),
                                   "int32", "int64", "float", "double" (4 or 8
                                   bytes, the lowest first), "hex" (bytes that
                                   are no text); NULL: nobody knows          */
    uint64_t    group;          /* which one, from 0                         */
    uint64_t    keys;           /* in it, repeated ones and NULLs counted;
                                   UINT64_MAX: not told                      */
    uint64_t    offset, bytes;  /* where the filter lies in the file         */
    uint64_t    reserved[4];    /* 0                                         */
} bly_contained;

/* All of a file. Valid until bly_container_free. */
typedef struct {
    const char *system;         /* "parquet", "leveldb", "rocksdb"           */
    const char *group;          /* what a group is: "row group"              */
    uint64_t    groups;         /* how many, those without keys counted      */
    const bly_contained *filters;       /* by group, in the file's order     */
    size_t      n;
} bly_contents;

/* Open a file and list what is inside; it stays open, for reading. Of the
 * options, which may be NULL, allocator and memory_limit matter. Whatever is
 * read is checked, as if an enemy had written it. The list takes up to some 100
 * times the bytes of the file's own index: BLY_ELIMIT where that is more than
 * bly_memory_limit says of the file's size.
 * BLY_EFORMAT (no container that is known); BLY_ECORRUPT (damaged, cut short);
 * BLY_EVERSION (a form that is too new, or compressed or encrypted where it
 * would have to be read); BLY_EIO, BLY_ENOMEM, BLY_EPARAM (options). */
BLY_API bly_status bly_container_open(bly_container **out, const char *path,
                                      const bly_options *options)
                                      BLY_MUST BLY_GIVEN(1, 2);

/* Close the file and give the memory back; NULL is fine. Filters that were
 * opened from it stay. */
BLY_API void bly_container_free(bly_container *container);

/* What is inside. Thread-safe. */
BLY_API const bly_contents *bly_container_contents(const bly_container *of)
                                                   BLY_GIVEN(1);

/* Open filter number `which` of the list, into memory; to be freed as all are.
 * `options` as in bly_open, NULL: none; their `format` is not heeded. Thread-
 * safe. BLY_EPARAM (there are not so many); BLY_EUNSUPPORTED (it has none that
 * can be asked); and errors of bly_open, among them BLY_ECORRUPT. */
BLY_API bly_status bly_container_filter(bly_filter **out,
                                        const bly_container *container,
                                        size_t which,
                                        const bly_options *options)
                                        BLY_MUST BLY_GIVEN(1, 2);

/* The system whose container ends in these last `n` bytes, of which 8 are
 * enough: "parquet", "leveldb" or "rocksdb"; NULL: none. Thread-safe. */
BLY_API const char *bly_container_recognise(const void *tail, size_t n)
                                            BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_CONTAINER_H */
