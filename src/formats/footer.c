/* footer.c - where the filters of a Parquet file lie: what its footer says.
 *
 * THE PICTURE
 *
 *      | PAR1 | pages and filters | footer | its length, u32 | PAR1 |
 *
 * The footer is a FileMetaData in Thrift's compact protocol. Of it these fields
 * count, and all others are skipped:
 *
 *      FileMetaData     2 list of SchemaElement; 4 list of RowGroup
 *      SchemaElement    1 type of the values; a group of columns has none
 *                       6 converted type: DECIMAL and others
 *                      10 logical type: a union, with the same and newer ones
 *      RowGroup         1 list of ColumnChunk
 *      ColumnChunk      1 text: the chunk is in another file
 *                       3 ColumnMetaData
 *                       8 and 9: the chunk is encrypted
 *      ColumnMetaData   1 type of the values: BOOLEAN, INT32, INT64, INT96,
 *                         FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY
 *                       3 list of texts, the column's path
 *                       5 how many values
 *                      14 where the filter begins
 *                      15 its length; older writers leave it out, and the
 *                         filter's own header tells it
 *
 * A chunk whose filter cannot be asked is listed without one: any key may be in
 * it. The chunks of a row group are in the order of the schema's columns.
 *
 * WHAT KEYS ARE
 *
 * The filter has the values as they are stored, and `as` says how a person
 * writes them. It is unknown for values that are stored in another form: an
 * INT96, which is a timestamp, and the converted or logical types DECIMAL (1.50
 * is stored as 150), INTERVAL, FLOAT16, VARIANT, GEOMETRY and GEOGRAPHY, and
 * any that is not known here. Dates and times are numbers of their unit.
 *
 *   apache/parquet-format: parquet.thrift, LogicalTypes.md
 */
#include "formats/contents.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "formats/thrift.h"
#include "image/kind_foreign.h"
#include "verbs/registry.h"

enum {
    FOOTER_END = 8,                     /* its length, and the magic         */
    FOOTER_LOOK = 32,                   /* bytes of a filter that tell its
                                           length                            */
    FOOTER_TYPES = 8
};

static const char *const footer_forms[FOOTER_TYPES] = {
    NULL, "int32", "int64", NULL, "float", "double", "text", "hex",
};

/* The converted and logical types of which values are written as footer_forms
 * has it. */
static const bool footer_converted[] = {
    [0] = true,                         /* UTF8                              */
    [4] = true,                         /* ENUM                              */
    [6] = true, [7] = true, [8] = true, [9] = true, [10] = true,
                                        /* DATE, TIME_..., TIMESTAMP_...     */
    [11] = true, [12] = true, [13] = true, [14] = true,         /* UINT_...  */
    [15] = true, [16] = true, [17] = true, [18] = true,         /* INT_...   */
    [19] = true, [20] = true,           /* JSON, BSON                        */
};

static const bool footer_logical[] = {
    [1] = true, [4] = true,             /* STRING, ENUM                      */
    [6] = true, [7] = true, [8] = true, /* DATE, TIME, TIMESTAMP             */
    [10] = true, [11] = true,           /* INTEGER, UNKNOWN                  */
    [12] = true, [13] = true, [14] = true,      /* JSON, BSON, UUID          */
};

/* A chunk being read. */
typedef struct {
    int64_t type, values, offset, length;       /* -1: not told              */
    const char *name;                           /* NULL: not told            */
    bool    elsewhere, encrypted, described;
} footer_chunk;

typedef struct {
    thrift                 t;
    contents_list         *list;
    const contents_source *source;
    bly_status             status;      /* of bytes outside the footer       */
    uint64_t               columns;     /* of the schema, each with a byte at
                                           the beginning of the names: are its
                                           values written as footer_forms has
                                           it?                               */
    uint64_t               column;      /* the next of the row group         */
} footer_reader;

static bool footer_goes_on(const footer_reader *r)
{
    return r->t.bad == NULL && r->status == BLY_OK;
}

/* ---- The schema --------------------------------------------------------- */

static bool footer_is_in(const bool *types, size_t n, int64_t type)
{
    return type >= 0 && type < (int64_t)n && types[type];
}

/* Returns whether the member of a union is a known type. */
static bool footer_read_logical(footer_reader *r, const thrift_field *field)
{
    thrift_field f = { .id = 0 };
    bool known = false;
    if (field->type != THRIFT_STRUCT) {
        thrift_skip(&r->t, field->type);
        return false;
    }
    while (thrift_next(&r->t, &f)) {
        known = footer_is_in(footer_logical, sizeof footer_logical, f.id);
        thrift_skip(&r->t, f.type);
    }
    return known;
}

/* Reads an element of the schema. The byte of a column is one of the names'
 * memory, as the element takes more bytes of the footer. */
static void footer_read_element(footer_reader *r)
{
    int64_t type = -1, converted = -1;
    bool known = true;
    thrift_field f = { .id = 0 };
    while (footer_goes_on(r) && thrift_next(&r->t, &f))
        if (f.id == 1)
            thrift_integer(&r->t, &f, &type);
        else if (f.id == 6)
            thrift_integer(&r->t, &f, &converted);
        else if (f.id == 10)
            known = footer_read_logical(r, &f);
        else
            thrift_skip(&r->t, f.type);
    if (type < 0 || !footer_goes_on(r))
        return;
    if (converted >= 0)
        known &= footer_is_in(footer_converted, sizeof footer_converted,
                              converted);
    r->list->names[r->columns++] = (char)known;
}

/* ---- The path ----------------------------------------------------------- */

/* Joins the elements by dots. Each takes a length byte in the footer too, so
 * names of the footer's size suffice. A name that contains a NUL is ignored. */
static void footer_read_path(footer_reader *r, const thrift_field *field,
                             footer_chunk *chunk)
{
    contents_list *list = r->list;
    uint64_t n = thrift_list(&r->t, field, THRIFT_BINARY);
    char *name = list->names + list->names_used, *at = name;

    for (uint64_t i = 0; i < n && footer_goes_on(r); i++) {
        const uint8_t *text;
        size_t length = thrift_element(&r->t, &text);
        if (length > 0)
            memcpy(at, text, length);
        at += length;
        *at++ = '.';
    }
    if (n == 0 || !footer_goes_on(r) || chunk->name != NULL)
        return;
    at[-1] = '\0';
    if (strlen(name) + 1 != (size_t)(at - name))
        return;
    list->names_used += (size_t)(at - name);
    chunk->name = name;
}

/* ---- Chunks ------------------------------------------------------------- */

static void footer_read_metadata(footer_reader *r, footer_chunk *chunk)
{
    thrift_field f = { .id = 0 };
    while (footer_goes_on(r) && thrift_next(&r->t, &f))
        switch (f.id) {
        case 1:
            thrift_integer(&r->t, &f, &chunk->type);
            break;
        case 3:
            footer_read_path(r, &f, chunk);
            break;
        case 5:
            thrift_integer(&r->t, &f, &chunk->values);
            break;
        case 14:
            thrift_integer(&r->t, &f, &chunk->offset);
            break;
        case 15:
            thrift_integer(&r->t, &f, &chunk->length);
            break;
        default:
            thrift_skip(&r->t, f.type);
        }
}

static bly_status footer_outside(const bly_contained *one)
{
    return status_fail(BLY_ECORRUPT, "the filter of column '%.80s' in row "
                       "group %" PRIu64 " should begin at byte %" PRIu64 ", "
                       "but does not: the file is damaged, or cut short: copy "
                       "it again", one->column, one->group, one->offset);
}

/* Finds the length of a filter if the footer lacks it. An invalid header is
 * given the length examined; opening the filter reports the error. */
static bly_status footer_measure(bly_contained *one,
                                 const contents_source *source)
{
    const bly_kind *parquet = registry_find(one->format, strlen(one->format));
    uint64_t left = source->bytes - one->offset;
    uint8_t begin[FOOTER_LOOK];
    size_t n = left < FOOTER_LOOK ? (size_t)left : FOOTER_LOOK;
    if (parquet == NULL)
        return status_fail(BLY_EUNSUPPORTED, "filters of Parquet files are not"
                           REGISTRY_HERE ": use a build with BLY_KINDS=all");
    bly_status status = source->read(source->context, begin, one->offset, n);
    if (status != BLY_OK)
        return status;
    one->bytes = parquet->foreign->extent(begin, n);
    if (one->bytes == 0)
        one->bytes = n;
    return BLY_OK;
}

/* Finds the filter if it can be queried. */
static bly_status footer_place(bly_contained *one, const footer_chunk *chunk,
                               const contents_source *source)
{
    if (chunk->offset < 0 || chunk->encrypted || chunk->elsewhere) {
        one->lacks = chunk->encrypted ? "is encrypted"
                   : chunk->elsewhere ? "is in another file"
                                      : "has no filter";
        return BLY_OK;
    }
    one->format = "parquet";
    one->offset = (uint64_t)chunk->offset;
    if (one->offset >= source->bytes)
        return footer_outside(one);
    if (chunk->length < 0)
        return footer_measure(one, source);
    one->bytes = (uint64_t)chunk->length;
    return one->bytes > source->bytes - one->offset ? footer_outside(one)
                                                    : BLY_OK;
}

static void footer_list(footer_reader *r, const footer_chunk *chunk)
{
    bool known = r->column < r->columns && r->list->names[r->column] != 0;
    bly_contained one = {
        .column = chunk->name != NULL ? chunk->name : "",
        .group = r->list->is.groups,
        .keys = chunk->values < 0 ? UINT64_MAX : (uint64_t)chunk->values,
        .as = known && chunk->type >= 0 && chunk->type < FOOTER_TYPES
            ? footer_forms[chunk->type] : NULL,
    };
    r->status = footer_place(&one, chunk, r->source);
    if (r->status == BLY_OK)
        r->status = contents_add(r->list, &one, r->source);
}

static void footer_read_chunk(footer_reader *r)
{
    footer_chunk chunk = { .type = -1, .values = -1, .offset = -1,
                           .length = -1 };
    thrift_field f = { .id = 0 };
    while (footer_goes_on(r) && thrift_next(&r->t, &f)) {
        chunk.elsewhere |= f.id == 1;
        chunk.encrypted |= f.id == 8 || f.id == 9;
        chunk.described |= f.id == 3 && f.type == THRIFT_STRUCT;
        if (f.id == 3 && f.type == THRIFT_STRUCT)
            footer_read_metadata(r, &chunk);
        else
            thrift_skip(&r->t, f.type);
    }
    if (!footer_goes_on(r))
        return;
    if (chunk.described || chunk.encrypted || chunk.elsewhere)
        footer_list(r, &chunk);
    else
        r->status = status_fail(BLY_ECORRUPT, "a column in row group %" PRIu64
                                " has no description: the file is damaged: "
                                "copy it again", r->list->is.groups);
    r->column++;
}

/* ---- Row groups --------------------------------------------------------- */

/* Reads a structure of which only one field, a list of others, matters. */
static void footer_read_list(footer_reader *r, int64_t id,
                             void (*read)(footer_reader *r))
{
    thrift_field f = { .id = 0 };
    while (footer_goes_on(r) && thrift_next(&r->t, &f))
        if (f.id == id)
            for (uint64_t n = thrift_list(&r->t, &f, THRIFT_STRUCT);
                 n > 0 && footer_goes_on(r); n--)
                read(r);
        else
            thrift_skip(&r->t, f.type);
}

static void footer_read_group(footer_reader *r)
{
    r->column = 0;
    footer_read_list(r, 1, footer_read_chunk);
    r->list->is.groups++;
}

/* ---- All of it ---------------------------------------------------------- */

static bly_status footer_check_end(uint64_t *bytes,
                                   const contents_source *source)
{
    const uint64_t least = sizeof FOOTER_MAGIC - 1 + FOOTER_END;
    uint8_t end[FOOTER_END];
    bly_status status = source->bytes < least ? BLY_OK
        : source->read(source->context, end, source->bytes - FOOTER_END,
                       FOOTER_END);
    if (status != BLY_OK)
        return status;
    if (source->bytes >= least
        && memcmp(end + 4, FOOTER_MAGIC_SECRET, 4) == 0)
        return status_fail(BLY_EVERSION, "a Parquet file with an encrypted "
                           "footer: the places of its filters cannot be read: "
                           "decrypt it first");
    *bytes = source->bytes >= least ? image_u32(end, 0) : UINT64_MAX;
    if (source->bytes < least || *bytes > source->bytes - least)
        return status_fail(BLY_ECORRUPT, "read as a Parquet file: its footer "
                           "should have %" PRIu64 " bytes, but the file has %"
                           PRIu64 ": it is damaged, or cut short: copy it "
                           "again", *bytes, source->bytes);
    return BLY_OK;
}

static bly_status footer_read(contents_list *out, const uint8_t *footer,
                              uint64_t bytes, const contents_source *source)
{
    footer_reader r = {
        .t = { .at = footer, .end = footer + bytes }, .list = out,
        .source = source, .status = BLY_OK,
    };
    out->names = memory_raw(source->allocator, bytes);
    if (out->names == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the names of columns "
                           "take %" PRIu64 " bytes", bytes);
    out->names_room = (size_t)bytes;
    footer_read_list(&r, 2, footer_read_element);
    out->names_used = (size_t)r.columns;
    if (footer_goes_on(&r)) {
        r.t.at = footer;
        footer_read_list(&r, 4, footer_read_group);
    }
    if (r.status != BLY_OK || r.t.bad == NULL)
        return r.status;
    return status_fail(BLY_ECORRUPT, "read as a Parquet file: byte %" PRIu64
                       ": its footer does not follow Thrift's compact "
                       "protocol: the file is damaged: copy it again",
                       source->bytes - FOOTER_END - bytes
                       + (uint64_t)(r.t.bad - footer));
}

bly_status footer_find(contents_list *out, const contents_source *source)
{
    uint8_t *footer;
    uint64_t bytes = 0;
    bly_status status = footer_check_end(&bytes, source);
    if (status != BLY_OK)
        return status;
    out->is.group = "row group";
    if (bytes == 0)
        return status_fail(BLY_ECORRUPT, "read as a Parquet file: its footer "
                           "is empty: it is damaged: copy it again");
    status = contents_load(&footer, source, source->bytes - FOOTER_END - bytes,
                           bytes);
    if (status != BLY_OK)
        return status;
    status = footer_read(out, footer, bytes, source);
    memory_release(source->allocator, footer, (size_t)bytes);
    return status;
}
