/* contents.h - parses files of other systems that contain filters.
 *
 * The parsers of the three forms (footer.c, stripes.c, table.c) read the file
 * through a callback, and treat all bytes as untrusted. They do not use the
 * operating system.
 */
#ifndef BLY_FORMATS_CONTENTS_H
#define BLY_FORMATS_CONTENTS_H

#include "base/status.h"
#include "bloomery/container.h"

/* A file, from which ranges within it are read. */
typedef struct {
    bly_status (*read)(void *context, uint8_t *out, uint64_t offset, size_t n);
    void                *context;
    uint64_t             bytes;
    uint64_t             memory_limit;  /* as in bly_options                 */
    const bly_allocator *allocator;
    bly_decompressor     with;          /* its block is NULL: there is none  */
} contents_source;

/* How blocks of a file are compressed, and their size at most. */
typedef struct {
    const char *codec;                  /* NULL: they are not                */
    uint64_t    block;
} contents_packing;

/* A list under construction, and the memory that it owns. */
typedef struct {
    bly_contents   is;
    bly_contained *filters;             /* is.filters                        */
    size_t         room;                /* for so many                       */
    char          *names;               /* of columns, concatenated          */
    size_t         names_room, names_used;
    uint64_t       listed;              /* bytes of all filters              */
    uint64_t       others;              /* bytes of memory that others took  */
    contents_packing packing;
} contents_list;

/* Lists what is inside a file of one of the three forms (carriers.c). *out is
 * to be released after an error as well. Errors of bly_container_open. */
bly_status carriers_find(contents_list *out, const contents_source *source);
void       contents_release(contents_list *list, const bly_allocator *to);

/* Appends one to the list. BLY_ENOMEM; BLY_ELIMIT: it and the others would take
 * more memory; BLY_ECORRUPT: they would have more bytes than the file, so that
 * some are in the same place. */
bly_status contents_add(contents_list *list, const bly_contained *one,
                        const contents_source *source);

/* Reads n > 0 bytes of the file into new memory. Returns BLY_ECORRUPT if the
 * range is not in the file, BLY_ENOMEM, or errors of reading. */
bly_status contents_load(uint8_t **out, const contents_source *source,
                         uint64_t offset, uint64_t n);

/* The three forms. */
bly_status footer_find (contents_list *out, const contents_source *source);
bly_status stripes_find(contents_list *out, const contents_source *source);
bly_status table_find  (contents_list *out, const contents_source *source);

/* The filters that share a place in an ORC file, in memory. */
typedef struct {
    uint64_t offset;                    /* the place                         */
    uint8_t *bytes;                     /* NULL: there are none              */
    uint64_t n, room;                   /* used, and allocated               */
    struct contents_range { uint64_t at, n; } *filters;
    uint64_t parts;
} contents_shared;

/* Reads the filters that share the place of this one. *out is to be released
 * after success alone. BLY_ECORRUPT, BLY_EVERSION, BLY_ELIMIT, BLY_ENOMEM, or
 * errors of reading. */
bly_status stripes_load   (contents_shared *out, const contents_list *list,
                           const contents_source *source,
                           const bly_contained *one);
void       stripes_release(contents_shared *shared, const bly_allocator *to);

/* The magic at the end of a file. */
#define FOOTER_MAGIC          "PAR1"
#define FOOTER_MAGIC_SECRET   "PARE"
#define STRIPES_MAGIC         "\x82\xF4\x03\x03" "ORC"     /* and a byte  */
#define TABLE_MAGIC_LEVELDB   UINT64_C(0xDB4775248B80FB57)
#define TABLE_MAGIC_ROCKSDB   UINT64_C(0x88E241B785F4CFF7)

#endif /* BLY_FORMATS_CONTENTS_H */
