/* stripes.c - where the filters of an ORC file lie: what its end and the ends
 * of its stripes say.
 *
 * THE PICTURE
 *
 *      | ORC | stripes | metadata | footer | postscript | its length, u8 |
 *
 *      stripe     index: row indexes and filters | data | stripe footer
 *
 * All structures are messages of Protocol Buffers. Of them these fields count,
 * and all others are skipped:
 *
 *      PostScript     1 length of the footer; 2 compression; 3 size of a block,
 *                     at most; 4 version; 6 version of the writer; 8000 "ORC"
 *      Footer         3 list of StripeInformation; 4 list of Type; 8 rows of a
 *                     row group; 9 which writer; 10 encryption; 12 the
 *                     version of its software
 *      StripeInformation  1 offset; 2, 3 and 4 lengths of index, data and
 *                     footer; 5 rows
 *      Type           1 kind; 2 types inside it; 3 their names; 4 N of char(N)
 *      StripeFooter   1 list of Stream; 2 list of ColumnEncoding
 *      Stream         1 kind; 2 column; 3 length. It begins where the one
 *                     before it ends, the first at the stripe's offset
 *      ColumnEncoding 3 how the filter's keys were made
 *
 * A column is a type, by its number in the list. A stream of filters is a list
 * of them, one for each row group of the stripe. Everything but the postscript
 * is compressed in blocks: 3 bytes, the lowest first, are twice the length,
 * plus 1 if the block is stored as it is.
 *
 * FILTERS THAT ARE NOT QUERIED
 *
 * Some writers made filters without some of their keys. Their columns are
 * listed as if they had none:
 *
 *      - BLOOM_FILTER, the only stream of filters before ORC 1.2.1: texts and
 *        decimals were hashed in the writer's encoding, and timestamps by the
 *        writer's time zone
 *      - the C++ writer 1.6.0 to 1.6.11 and 1.7.0: numbers were hashed with
 *        other shifts; and of all its versions tinyint, of which the first
 *        eighth of the values is missing
 *      - boolean: Java adds no key
 *      - timestamps in an unknown time zone, from writers before version 6,
 *        which is that of ORC 1.3.2
 *
 *   apache/orc: StripePlanner.java, Reader.cc, ColumnWriter.cc; WriterImpl.java
 *   of the tags rel/release-1.2.0, 1.2.1, 1.3.1 and 1.3.2
 */
#include "formats/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "formats/protobuf.h"

enum {
    STRIPES_MAGIC_BYTES = 3,            /* at the beginning                  */
    STRIPES_SCRIPT = 255,               /* bytes of a postscript, at most    */
    STRIPES_HEAD = 3,                   /* in front of a block               */
    STRIPES_BLOCK = 256 << 10, STRIPES_BLOCK_MOST = 1 << 23,
    STRIPES_LEAST = 14,                 /* bytes of a filter in its list     */
    STRIPES_FILTER = 7, STRIPES_FILTER_UTF8 = 8,        /* kinds of streams  */
    STRIPES_CHAR_MOST = 255,
    STRIPES_CPP = 1,                    /* a writer                          */
    STRIPES_ZONES = 6,                  /* version of the writer that has
                                           timestamps right                  */
    STRIPES_NAME = 24
};

enum {
    STRIPES_BOOLEAN, STRIPES_TINYINT, STRIPES_SMALLINT, STRIPES_INT,
    STRIPES_BIGINT, STRIPES_FLOAT, STRIPES_DOUBLE, STRIPES_STRING,
    STRIPES_BINARY, STRIPES_TIMESTAMP, STRIPES_LIST, STRIPES_MAP,
    STRIPES_STRUCT, STRIPES_UNION, STRIPES_DECIMAL, STRIPES_DATE,
    STRIPES_VARCHAR, STRIPES_CHAR, STRIPES_INSTANT, STRIPES_TYPES
};

static const char *const stripes_codecs[] = {
    NULL, "zlib", "snappy", "lzo", "lz4", "zstd", "brotli",
};

/* How keys of a type are queried; NULL: not at all. */
static const struct { const char *as, *format; } stripes_forms[] = {
    [STRIPES_TINYINT]   = { "int64", "orc:type=int" },
    [STRIPES_SMALLINT]  = { "int64", "orc:type=int" },
    [STRIPES_INT]       = { "int64", "orc:type=int" },
    [STRIPES_BIGINT]    = { "int64", "orc:type=int" },
    [STRIPES_DATE]      = { "int64", "orc:type=int" },
    [STRIPES_TIMESTAMP] = { "int64", "orc:type=int" },
    [STRIPES_INSTANT]   = { "int64", "orc:type=int" },
    [STRIPES_FLOAT]     = { "float", "orc:type=double" },
    [STRIPES_DOUBLE]    = { "double", "orc:type=double" },
    [STRIPES_STRING]    = { "text", "orc" },
    [STRIPES_VARCHAR]   = { "text", "orc" },
    [STRIPES_CHAR]      = { "text", "orc" },
    [STRIPES_BINARY]    = { "hex", "orc" },
    [STRIPES_DECIMAL]   = { "text", "orc:type=decimal" },
};

typedef struct {
    uint64_t       parent;              /* a lower number; its own: none     */
    uint64_t       index;               /* among the parent's types          */
    uint64_t       kind, length;        /* N of char(N)                      */
    const uint8_t *name;
    size_t         name_bytes;
    size_t         path;                /* bytes of the column's name        */
    bool           nested, repeated;    /* inside another; in a list or map  */
    const char    *column, *format, *lacks;

    /* In the present stripe. */
    uint64_t       offset, bytes;       /* of its filters; 0: it has none    */
    uint64_t       encoding;
    bool           old;                 /* has a BLOOM_FILTER                */
} stripes_type;

/* A part of the file, decompressed. */
typedef struct {
    uint8_t *bytes;
    uint64_t n, room;
} stripes_part;

typedef struct {
    contents_list         *list;
    const contents_source *source;
    uint64_t footer, script;            /* where they begin                  */
    uint64_t writer_version;
    uint64_t stride;                    /* rows of a row group; 0: all       */
    uint64_t writer;
    bool     wrong, encrypted;          /* all filters; some columns         */
    stripes_type *types;
    uint64_t n, room;                   /* of types                          */
    stripes_part  said;                 /* the footer                        */
} stripes_file;

static bly_status stripes_damaged(const char *what, uint64_t at)
{
    return status_fail(BLY_ECORRUPT, "read as an ORC file: byte %" PRIu64 ": "
                       "%s: it is damaged, or cut short: copy it again", at,
                       what);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Finds the bytes that a part has at most once it is decompressed. */
static bool stripes_measure(uint64_t *room, const contents_packing *packing,
                            const uint8_t *at, uint64_t n)
{
    *room = 0;
    while (n > 0) {
        uint64_t head = n < STRIPES_HEAD ? UINT64_MAX
                      : at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16;
        uint64_t bytes = head >> 1;
        if (n < STRIPES_HEAD || bytes > n - STRIPES_HEAD)
            return false;
        *room += (head & 1) != 0 ? bytes : packing->block;
        at += STRIPES_HEAD + bytes;
        n -= STRIPES_HEAD + bytes;
    }
    return true;
}

static bly_status stripes_unpack(const contents_source *source,
                                 const contents_packing *packing,
                                 const uint8_t *from, size_t n, uint8_t *to,
                                 size_t *made)
{
    size_t room = (size_t)packing->block;
    bly_status status = source->with.block == NULL ? BLY_EUNSUPPORTED
        : source->with.block(source->with.context, packing->codec, from, n, to,
                             room, made);
    if (status == BLY_ENOMEM)
        return status_plain(BLY_ENOMEM);
    if (status == BLY_EUNSUPPORTED)
        return status_fail(BLY_EVERSION, "an ORC file compressed with %s, "
                           "which is not supported here "
                           "(bly_container_open_with): write it without "
                           "compression (orc.compress=NONE)", packing->codec);
    if (status != BLY_OK || *made > room)
        return status_fail(BLY_ECORRUPT, "an ORC file compressed with %s: a "
                           "block cannot be decompressed: it is damaged: copy "
                           "it again", packing->codec);
    return BLY_OK;
}

static bly_status stripes_unpack_all(stripes_part *out,
                                     const contents_packing *packing,
                                     const contents_source *source,
                                     const uint8_t *at, uint64_t n)
{
    bly_status status = BLY_OK;
    while (n > 0 && status == BLY_OK) {
        uint64_t head = at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16;
        size_t bytes = (size_t)(head >> 1), made = bytes;
        const uint8_t *block = at + STRIPES_HEAD;
        if ((head & 1) != 0)
            memcpy(out->bytes + out->n, block, bytes);
        else
            status = stripes_unpack(source, packing, block, bytes,
                                    out->bytes + out->n, &made);
        out->n += made;
        at += STRIPES_HEAD + bytes;
        n -= STRIPES_HEAD + bytes;
    }
    return status;
}

/* Returns the bytes of memory of the filters listed so far. */
static uint64_t stripes_held(const contents_list *list)
{
    return (uint64_t)list->room * sizeof *list->filters;
}

static void stripes_drop(stripes_part *part, const bly_allocator *to)
{
    memory_release(to, part->bytes, (size_t)part->room);
}

/* Decompresses a part, after others took `spent` bytes of memory. */
static bly_status stripes_expand(stripes_part *out,
                                 const contents_packing *packing,
                                 const contents_source *source,
                                 const stripes_part *raw, uint64_t at,
                                 uint64_t spent)
{
    const bly_allocator *from = source->allocator;
    *out = (stripes_part){ .n = 0 };
    if (!stripes_measure(&out->room, packing, raw->bytes, raw->n))
        return stripes_damaged("a compressed block is cut short", at);
    out->room += out->room == 0;
    bly_status status = memory_allows(source->memory_limit, source->bytes,
                                      spent + out->room);
    if (status != BLY_OK)
        return status;
    out->bytes = memory_raw(from, out->room);
    if (out->bytes == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: a part of the file "
                           "takes %" PRIu64 " bytes once it is decompressed",
                           out->room);
    status = stripes_unpack_all(out, packing, source, raw->bytes, raw->n);
    if (status != BLY_OK)
        stripes_drop(out, from);
    return status;
}

/* Reads n bytes of the file, decompressed. */
static bly_status stripes_read(stripes_part *out,
                               const contents_packing *packing,
                               const contents_source *source, uint64_t at,
                               uint64_t n, uint64_t spent)
{
    stripes_part raw = { .n = n, .room = n };
    if (n == 0)
        return stripes_damaged("a part of it has no bytes", at);
    bly_status status = contents_load(&raw.bytes, source, at, n);
    if (status != BLY_OK || packing->codec == NULL) {
        *out = raw;
        return status;
    }
    status = stripes_expand(out, packing, source, &raw, at, spent);
    stripes_drop(&raw, source->allocator);
    return status;
}

/* ---- The postscript ----------------------------------------------------- */

/* The fields of a postscript that are used. */
typedef struct {
    uint64_t footer, codec, block, major, writer_version;
} stripes_script;

static bool stripes_read_script(stripes_script *out, protobuf p)
{
    protobuf_field f;
    while (protobuf_next(&p, &f)) {
        if (f.id == 4 && out->major == UINT64_MAX)
            protobuf_packed(&p, &f, &out->major);
        uint64_t *number = f.id == 1 ? &out->footer : f.id == 2 ? &out->codec
                         : f.id == 3 ? &out->block
                         : f.id == 6 ? &out->writer_version : NULL;
        if (number != NULL && f.is_number)
            *number = f.number;
    }
    return p.bad == NULL;
}

static bly_status stripes_take_script(stripes_file *file,
                                      const stripes_script *script)
{
    contents_packing *packing = &file->list->packing;
    if (script->major != UINT64_MAX && script->major > 0)
        return status_fail(BLY_EVERSION, "an ORC file of version %" PRIu64 ", "
                           "but this version reads version 0: write it with "
                           "orc.write.format=0.12", script->major);
    if (script->codec >= sizeof stripes_codecs / sizeof *stripes_codecs)
        return status_fail(BLY_EVERSION, "an ORC file with the unknown "
                           "compression %" PRIu64 ": write it without "
                           "compression (orc.compress=NONE)", script->codec);
    if (script->footer > file->script - STRIPES_MAGIC_BYTES
        || script->block > STRIPES_BLOCK_MOST)
        return stripes_damaged("its postscript has impossible lengths",
                               file->script);
    packing->codec = stripes_codecs[script->codec];
    packing->block = script->block;
    file->writer_version = script->writer_version;
    file->footer = file->script - script->footer;
    return BLY_OK;
}

static bly_status stripes_open(stripes_file *file)
{
    const contents_source *source = file->source;
    uint8_t magic[STRIPES_MAGIC_BYTES], end[STRIPES_SCRIPT + 1];
    stripes_script script = { .block = STRIPES_BLOCK, .major = UINT64_MAX };
    size_t n = source->bytes < sizeof end ? (size_t)source->bytes : sizeof end;
    bly_status status = source->read(source->context, end, source->bytes - n,
                                     n);
    if (status == BLY_OK)
        status = source->read(source->context, magic, 0, sizeof magic);
    if (status != BLY_OK)
        return status;
    size_t bytes = end[n - 1];
    if (bytes + 1 > n - STRIPES_MAGIC_BYTES || memcmp(magic, "ORC", 3) != 0)
        return stripes_damaged("it does not begin with ORC", 0);
    file->script = source->bytes - 1 - bytes;
    const uint8_t *at = end + n - 1 - bytes;
    if (!stripes_read_script(&script, (protobuf){ at, at + bytes, NULL }))
        return stripes_damaged("its postscript does not follow Protocol "
                               "Buffers", file->script);
    return stripes_take_script(file, &script);
}

/* ---- Types -------------------------------------------------------------- */

static bool stripes_complex(const stripes_type *t)
{
    return t->kind >= STRIPES_LIST && t->kind <= STRIPES_UNION;
}

/* Notes that type `child` is number `index` inside the type `parent`. Types are
 * listed after the one that they are in. */
static bool stripes_nest(stripes_file *file, uint64_t parent, uint64_t index,
                         uint64_t child)
{
    if (child <= parent || child >= file->n || file->types[child].nested)
        return false;
    stripes_type *t = &file->types[child];
    t->nested = true;
    t->parent = parent;
    t->index = index;
    return true;
}

/* Takes the number of the next type out of those inside another. */
static bool stripes_next_child(protobuf *p, protobuf_field *f, uint64_t *child)
{
    while (f->id != 2 || !protobuf_packed(p, f, child))
        if (!protobuf_next(p, f))
            return false;
    return true;
}

/* The name of the next one. A name that contains a NUL is ignored. */
static void stripes_next_name(protobuf *p, stripes_type *child)
{
    protobuf_field f;
    while (protobuf_next(p, &f)) {
        if (f.id != 3 || f.is_number)
            continue;
        if (f.n > 0 && memchr(f.bytes, '\0', f.n) == NULL) {
            child->name = f.bytes;
            child->name_bytes = f.n;
        }
        return;
    }
}

static bool stripes_read_type(stripes_file *file, uint64_t which, protobuf p)
{
    stripes_type *t = &file->types[which];
    protobuf children = p, names = p;
    protobuf_field f = { .id = 0 }, child = { .id = 0 };
    uint64_t number;
    while (protobuf_next(&p, &f)) {
        if (f.id == 1 && f.is_number)
            t->kind = f.number;
        if (f.id == 4 && f.is_number)
            t->length = f.number;
    }
    for (uint64_t i = 0; stripes_next_child(&children, &child, &number); i++) {
        if (!stripes_nest(file, which, i, number))
            return false;
        stripes_next_name(&names, &file->types[number]);
    }
    return p.bad == NULL && children.bad == NULL;
}

/* Writes the last part of a column's name, in front of `end` if that is not
 * NULL. Returns its bytes. */
static size_t stripes_name(const stripes_file *file, const stripes_type *t,
                           char *end)
{
    uint64_t kind = file->types[t->parent].kind;
    char given[STRIPES_NAME];
    const char *name = kind == STRIPES_LIST ? "_elem"
                     : t->index == 0 ? "_key" : "_value";
    if (kind == STRIPES_UNION)
        snprintf(given, sizeof given, "%" PRIu64, t->index);
    name = kind == STRIPES_UNION ? given
         : kind == STRIPES_STRUCT ? (const char *)t->name : name;
    size_t n = kind == STRIPES_STRUCT ? t->name_bytes : strlen(name);
    if (end != NULL && n > 0)
        memcpy(end - n, name, n);
    return n;
}

/* Finds the length of each column's name: those of the types that it is in,
 * with dots between them. Sets *all to the bytes of all. */
static bly_status stripes_measure_names(stripes_file *file, uint64_t *all)
{
    const contents_source *source = file->source;
    bly_status status = BLY_OK;
    *all = 1;
    for (uint64_t i = 0; i < file->n && status == BLY_OK; i++) {
        stripes_type *t = &file->types[i];
        const stripes_type *parent = &file->types[t->parent];
        if (t->nested) {
            t->path = stripes_name(file, t, NULL)
                    + (parent->nested ? parent->path + 1 : 0);
            t->repeated = parent->repeated || parent->kind != STRIPES_STRUCT;
        }
        if (!stripes_complex(t))
            *all += t->path + 1 + STRIPES_NAME;
        status = memory_allows(source->memory_limit, source->bytes,
                               file->list->others + *all);
    }
    return status;
}

static void stripes_write_name(stripes_file *file, stripes_type *t)
{
    contents_list *list = file->list;
    char *name = list->names + list->names_used, *end = name + t->path;
    *end = '\0';
    for (const stripes_type *at = t; at->nested;
         at = &file->types[at->parent]) {
        end -= stripes_name(file, at, end);
        if (end > name)
            *--end = '.';
    }
    t->column = name;
    list->names_used += t->path + 1;
}

/* Chooses how keys of a type are queried. */
static void stripes_choose(stripes_file *file, stripes_type *t)
{
    contents_list *list = file->list;
    uint64_t kind = t->kind;
    t->format = kind < STRIPES_TYPES ? stripes_forms[kind].format : NULL;
    t->lacks = file->wrong ? "has a filter that ORC's C++ writer made wrong"
             : file->encrypted ? "may be encrypted"
             : kind == STRIPES_BOOLEAN ? "has no filter that can be relied on"
             : t->format == NULL ? "has a type that cannot be queried"
             : kind == STRIPES_TINYINT && file->writer == STRIPES_CPP
             ? "has a filter that ORC's C++ writer made wrong"
             : kind == STRIPES_TIMESTAMP
               && file->writer_version < STRIPES_ZONES
             ? "has a filter of times in an unknown zone"
             : kind == STRIPES_CHAR && t->length - 1 >= STRIPES_CHAR_MOST
             ? "has a type char that is too long" : NULL;
    if (kind != STRIPES_CHAR || t->lacks != NULL)
        return;
    char *format = list->names + list->names_used;
    snprintf(format, STRIPES_NAME, "orc:char=%" PRIu64, t->length);
    list->names_used += STRIPES_NAME;
    t->format = format;
}

static bly_status stripes_name_all(stripes_file *file)
{
    const contents_source *source = file->source;
    contents_list *list = file->list;
    uint64_t all;
    bly_status status = stripes_measure_names(file, &all);
    if (status != BLY_OK)
        return status;
    list->names = memory_raw(source->allocator, all);
    if (list->names == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the names of columns "
                           "take %" PRIu64 " bytes", all);
    list->names_room = (size_t)all;
    list->others += all;
    for (uint64_t i = 0; i < file->n; i++)
        if (!stripes_complex(&file->types[i])) {
            stripes_write_name(file, &file->types[i]);
            stripes_choose(file, &file->types[i]);
        }
    return BLY_OK;
}

/* ---- The footer --------------------------------------------------------- */

static protobuf stripes_footer(const stripes_file *file)
{
    const stripes_part *said = &file->said;
    return (protobuf){ said->bytes, said->bytes + said->n, NULL };
}

static bly_status stripes_wrong_footer(const stripes_file *file)
{
    return stripes_damaged("its footer, once decompressed, does not follow "
                           "Protocol Buffers", file->footer);
}

/* Returns whether this version of the C++ writer is one that hashed numbers
 * wrongly: none, 1.6.0 to 1.6.11, and 1.7.0. */
static bool stripes_bad_software(const char *version, size_t n)
{
    const char *dash = n > 0 ? memchr(version, '-', n) : NULL;
    n = dash != NULL ? (size_t)(dash - version) : n;
    bool digits = n == 5 || (n == 6 && version[4] == '1' && version[5] < '2');
    return n == 0
        || (n == 5 && memcmp(version, "1.7.0", 5) == 0)
        || (digits && memcmp(version, "1.6.", 4) == 0);
}

/* Reads the footer but for its types and stripes, and counts the types. */
static bly_status stripes_read_footer(stripes_file *file)
{
    protobuf p = stripes_footer(file);
    protobuf_field f;
    const char *software = NULL;
    size_t n = 0;
    while (protobuf_next(&p, &f)) {
        file->n += f.id == 4 && !f.is_number;
        file->encrypted |= f.id == 10;
        if (f.id == 8 && f.is_number)
            file->stride = f.number;
        if (f.id == 9 && f.is_number)
            file->writer = f.number;
        if (f.id == 12 && !f.is_number) {
            software = (const char *)f.bytes;
            n = f.n;
        }
    }
    file->wrong = file->writer == STRIPES_CPP
               && stripes_bad_software(software, n);
    return p.bad != NULL ? stripes_wrong_footer(file) : BLY_OK;
}

static bly_status stripes_read_types(stripes_file *file)
{
    const contents_source *source = file->source;
    uint64_t bytes = file->n * sizeof *file->types, which = 0;
    protobuf p = stripes_footer(file);
    protobuf_field f;
    bool right = file->n > 0;
    bly_status status = memory_allows(source->memory_limit, source->bytes,
                                      file->list->others + bytes);
    if (status != BLY_OK || !right)
        return status != BLY_OK ? status : stripes_wrong_footer(file);
    file->list->others += bytes;
    file->types = memory_zeroed(source->allocator, bytes);
    if (file->types == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: %" PRIu64 " columns",
                           file->n);
    while (right && protobuf_next(&p, &f))
        if (f.id == 4 && !f.is_number)
            right = stripes_read_type(file, which++, protobuf_within(&f));
    return right ? stripes_name_all(file) : stripes_wrong_footer(file);
}

/* ---- Stripes ------------------------------------------------------------ */

typedef struct {
    uint64_t offset, index, data, footer, rows;
} stripes_stripe;

static bool stripes_read_stripe(stripes_stripe *out, protobuf p)
{
    protobuf_field f;
    while (protobuf_next(&p, &f)) {
        uint64_t *number = f.id == 1 ? &out->offset : f.id == 2 ? &out->index
                         : f.id == 3 ? &out->data : f.id == 4 ? &out->footer
                         : f.id == 5 ? &out->rows : NULL;
        if (number != NULL && f.is_number)
            *number = f.number;
    }
    return p.bad == NULL;
}

/* Notes where the filters of a column are. `left` are the bytes of the stripe
 * from `at` on. */
static bool stripes_read_stream(stripes_file *file, protobuf p, uint64_t *at,
                                uint64_t *left)
{
    uint64_t kind = 0, column = 0, length = 0;
    protobuf_field f;
    while (protobuf_next(&p, &f)) {
        uint64_t *number = f.id == 1 ? &kind : f.id == 2 ? &column
                         : f.id == 3 ? &length : NULL;
        if (number != NULL && f.is_number)
            *number = f.number;
    }
    if (p.bad != NULL || length > *left)
        return false;
    if (column < file->n && kind == STRIPES_FILTER)
        file->types[column].old = true;
    if (column < file->n && kind == STRIPES_FILTER_UTF8) {
        file->types[column].offset = *at;
        file->types[column].bytes = length;
    }
    *at += length;
    *left -= length;
    return true;
}

static uint64_t stripes_encoding(protobuf p)
{
    uint64_t encoding = 0;
    protobuf_field f;
    while (protobuf_next(&p, &f))
        if (f.id == 3 && f.is_number)
            encoding = f.number;
    return p.bad != NULL ? UINT64_MAX : encoding;
}

static bool stripes_read_streams(stripes_file *file, const stripes_part *said,
                                 const stripes_stripe *stripe)
{
    protobuf p = { said->bytes, said->bytes + said->n, NULL };
    uint64_t at = stripe->offset, left = stripe->index + stripe->data;
    uint64_t column = 0;
    bool right = true;
    protobuf_field f;
    while (right && protobuf_next(&p, &f)) {
        if (f.id == 1 && !f.is_number)
            right = stripes_read_stream(file, protobuf_within(&f), &at, &left);
        if (f.id == 2 && !f.is_number && column < file->n)
            file->types[column++].encoding
                = stripes_encoding(protobuf_within(&f));
    }
    return right && p.bad == NULL;
}

static bly_status stripes_take_footer(stripes_file *file,
                                      const stripes_stripe *stripe)
{
    const contents_source *source = file->source;
    contents_list *list = file->list;
    uint64_t at = stripe->offset + stripe->index + stripe->data;
    stripes_part said;
    for (uint64_t i = 0; i < file->n; i++) {
        file->types[i].bytes = file->types[i].encoding = 0;
        file->types[i].old = false;
    }
    if (file->encrypted)
        return BLY_OK;
    bly_status status = stripes_read(&said, &list->packing, source, at,
                                     stripe->footer,
                                     list->others + stripes_held(list));
    if (status != BLY_OK)
        return status;
    list->others += said.n;
    if (!stripes_read_streams(file, &said, stripe))
        status = stripes_damaged("the footer of a stripe is wrong", at);
    stripes_drop(&said, source->allocator);
    return status;
}

/* Returns why filters of this stripe cannot be queried, or NULL. */
static const char *stripes_lacks(const stripes_type *t)
{
    bool times = t->kind == STRIPES_TIMESTAMP || t->kind == STRIPES_INSTANT;
    return t->bytes == 0 && t->old ? "has only a filter of an older kind"
         : t->bytes == 0 && t->lacks == NULL ? "has no filter"
         : t->lacks != NULL ? t->lacks
         : t->encoding > 1 ? "has a filter of an unknown kind"
         : t->encoding == 0 && times
         ? "has a filter of times in an unknown zone" : NULL;
}

/* Returns the most filters that so many bytes of the file can hold. */
static uint64_t stripes_most(const contents_packing *packing, uint64_t bytes)
{
    uint64_t blocks = packing->codec == NULL ? 0 : bytes / STRIPES_HEAD;
    return bytes / STRIPES_LEAST + blocks * (packing->block / STRIPES_LEAST);
}

/* Lists the filters of a column in a stripe, whose row groups are so many from
 * `first` on. */
static bly_status stripes_list_column(stripes_file *file, const stripes_type *t,
                                      const stripes_stripe *stripe,
                                      uint64_t first, uint64_t groups)
{
    const char *lacks = stripes_lacks(t);
    uint64_t stride = groups == 1 ? stripe->rows : file->stride;
    bly_status status = BLY_OK;
    bly_contained one = {
        .column = t->column, .lacks = lacks, .group = first, .keys = UINT64_MAX,
        .as = t->kind < STRIPES_TYPES ? stripes_forms[t->kind].as : NULL,
    };
    one.parts = groups;
    if (lacks != NULL)
        return contents_add(file->list, &one, file->source);
    if (groups > stripes_most(&file->list->packing, t->bytes))
        return stripes_damaged("there are fewer filters than row groups",
                               t->offset);
    one.format = t->format;
    one.offset = t->offset;
    one.bytes = t->bytes;
    for (; one.part < groups && status == BLY_OK; one.part++, one.group++) {
        uint64_t left = stripe->rows - one.part * stride;
        if (!t->repeated)
            one.keys = left < stride ? left : stride;
        status = contents_add(file->list, &one, file->source);
    }
    return status;
}

static bly_status stripes_list(stripes_file *file, const stripes_stripe *stripe)
{
    bly_contents *is = &file->list->is;
    uint64_t first = is->groups, stride = file->stride;
    uint64_t groups = stripe->rows == 0 ? 0 : stride == 0 ? 1
                    : stripe->rows / stride + (stripe->rows % stride != 0);
    if (!sizes_add(&is->groups, first, groups))
        return stripes_damaged("a stripe has too many rows", stripe->offset);
    bly_status status = groups > 0 ? stripes_take_footer(file, stripe) : BLY_OK;
    for (uint64_t i = 0; i < file->n && groups > 0 && status == BLY_OK; i++)
        if (!stripes_complex(&file->types[i]))
            status = stripes_list_column(file, &file->types[i], stripe, first,
                                         groups);
    return status;
}

/* Each stripe begins behind the one before it, so that none is read twice. */
static bly_status stripes_list_all(stripes_file *file)
{
    uint64_t end = STRIPES_MAGIC_BYTES;
    protobuf p = stripes_footer(file);
    bly_status status = BLY_OK;
    protobuf_field f;
    while (status == BLY_OK && protobuf_next(&p, &f)) {
        stripes_stripe s = { .offset = 0 };
        if (f.id != 3 || f.is_number)
            continue;
        if (!stripes_read_stripe(&s, protobuf_within(&f)))
            return stripes_wrong_footer(file);
        if (s.offset < end || !sizes_add(&end, s.offset, s.index)
            || !sizes_add(&end, end, s.data) || !sizes_add(&end, end, s.footer)
            || end > file->footer)
            return stripes_damaged("a stripe is not where it should be",
                                   s.offset);
        status = stripes_list(file, &s);
    }
    return status;
}

/* ---- All of it ---------------------------------------------------------- */

bly_status stripes_find(contents_list *out, const contents_source *source)
{
    stripes_file file = { .list = out, .source = source };
    out->is.group = "row group";
    bly_status status = stripes_open(&file);
    if (status == BLY_OK)
        status = stripes_read(&file.said, &out->packing, source, file.footer,
                              file.script - file.footer, 0);
    if (status != BLY_OK)
        return status;
    out->others = file.said.room;
    status = stripes_read_footer(&file);
    if (status == BLY_OK)
        status = stripes_read_types(&file);
    if (status == BLY_OK)
        status = stripes_list_all(&file);
    memory_release(source->allocator, file.types,
                   (size_t)(file.n * sizeof *file.types));
    stripes_drop(&file.said, source->allocator);
    return status;
}

/* ---- The filters of a place --------------------------------------------- */

static bool stripes_next_filter(protobuf *p, protobuf_field *f)
{
    while (protobuf_next(p, f))
        if (f->id == 1 && !f->is_number)
            return true;
    return false;
}

/* Finds each filter of the list. */
static bly_status stripes_index(contents_shared *out,
                                const contents_source *source)
{
    protobuf p = { out->bytes, out->bytes + out->n, NULL }, again = p;
    uint64_t n = 0;
    protobuf_field f;
    while (stripes_next_filter(&p, &f))
        n++;
    if (p.bad != NULL || n != out->parts)
        return stripes_damaged("there is not one filter for each row group",
                               out->offset);
    out->filters = memory_raw(source->allocator, n * sizeof *out->filters);
    if (out->filters == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: %" PRIu64 " filters", n);
    for (n = 0; stripes_next_filter(&again, &f); n++)
        out->filters[n] = (struct contents_range){
            .at = f.n > 0 ? (uint64_t)(f.bytes - out->bytes) : 0, .n = f.n,
        };
    return BLY_OK;
}

bly_status stripes_load(contents_shared *out, const contents_list *list,
                        const contents_source *source,
                        const bly_contained *one)
{
    stripes_part part;
    bly_status status = stripes_read(&part, &list->packing, source, one->offset,
                                     one->bytes,
                                     list->names_room + stripes_held(list)
                                     + one->parts * sizeof *out->filters);
    if (status != BLY_OK)
        return status;
    *out = (contents_shared){
        .offset = one->offset, .parts = one->parts, .bytes = part.bytes,
        .n = part.n, .room = part.room,
    };
    status = stripes_index(out, source);
    if (status == BLY_OK)
        return BLY_OK;
    stripes_drop(&part, source->allocator);
    *out = (contents_shared){ .bytes = NULL };
    return status;
}

void stripes_release(contents_shared *shared, const bly_allocator *to)
{
    memory_release(to, shared->bytes, (size_t)shared->room);
    memory_release(to, shared->filters,
                   (size_t)(shared->parts * sizeof *shared->filters));
    *shared = (contents_shared){ .bytes = NULL };
}
