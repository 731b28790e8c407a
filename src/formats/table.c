/* table.c - where the filters of a table of LevelDB or RocksDB lie.
 *
 * THE PICTURE
 *
 *      | blocks of data | filter block | metaindex | index | end |
 *
 *      handle           of a block: offset and size, as varints
 *      block            its bytes, a byte that says how they are compressed,
 *                       and a checksum of both
 *      LevelDB's end    handles of metaindex and index, zeros up to byte 40;
 *                       magic
 *      RocksDB's        how blocks are summed, u8; handles as above; version,
 *                       u32; magic. Of version 0 it is LevelDB's. From 6 on,
 *                       behind the first byte: 3e 00 7a 00; a checksum of the
 *                       end, where that is 0; the file's own number; the size
 *                       of the metaindex, which lies before the end; zeros
 *
 * From version 6 on every checksum has added the file's own number, xored with
 * the sum of the two halves of the offset, so that no block is taken for one
 * from elsewhere. Metaindex and properties are blocks of sorted keys with
 * values, each key without what it shares with the one before, and at their end
 * the list of keys that share nothing, and its length. The metaindex has by the
 * name of the filters' policy the handle of
 *
 *      filter.leveldb.BuiltinBloomFilter2      LevelDB: filters, each of the
 *              keys of all blocks that begin in the same 2^b bytes; u32 where
 *              each begins; u32 where these begin; b. One that is empty has no
 *              key; blocks behind the last may have any
 *      fullfilter.rocksdb.BuiltinBloomFilter   RocksDB: one filter of all keys
 *      partitionedfilter.rocksdb.Builtin...    RocksDB: a block of handles of
 *              several, each of the keys of a part of the table
 *
 * Filters of other policies cannot be queried here and are listed as lacking.
 * So are RocksDB's if the properties say that they have only prefixes of keys,
 * and those that are neither a Bloom filter of version 5 nor a Ribbon filter,
 * which is found in tables of any version.
 *
 *   RocksDB 11.8: table/format.cc, filter_policy.cc; LevelDB: table_format.md
 */
#include "formats/contents.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "image/image.h"
#include "bits/crc.h"
#include "bits/hash.h"

enum {
    TABLE_END_LEVELDB = 48, TABLE_END_ROCKSDB = 53, TABLE_HANDLES = 40,
    TABLE_AT_EXTENDED = 1, TABLE_AT_SUM = 5, TABLE_AT_OWN = 9,  /* version 6 */
    TABLE_AT_SIZE = 13, TABLE_AT_VERSION = 41,
    TABLE_EXTENDED = 0x007A003E,
    TABLE_OWN = 6, TABLE_VERSION_MOST = 7,      /* versions                  */
    TABLE_DELTAS = 4,
    TABLE_TRAILER = 5,                  /* of a block                        */
    TABLE_BLOOM = 0xFF, TABLE_RIBBON = 0xFE,    /* marks of filters          */
    TABLE_KEY = 128,                    /* longer keys are none that count   */
    TABLE_SHIFT_MOST = 30
};

/* The checksums of blocks. */
enum { TABLE_NO_SUM, TABLE_CRC, TABLE_XXH32, TABLE_XXH64, TABLE_XXH3 };

typedef struct { uint64_t offset, bytes; } table_handle;

typedef struct {
    const contents_source *source;
    unsigned               sum;
    bool                   rocksdb;
    uint32_t               version, own;        /* the file's own number     */
    table_handle           metaindex;
} table_file;

/* A block in memory, positioned at one of its keys. */
typedef struct {
    const uint8_t *bytes, *at, *end;
    size_t         held;                /* of memory                         */
    char           key[TABLE_KEY];
    size_t         length;
    const uint8_t *value;
    size_t         value_bytes;
} table_block;

static bly_status table_damaged(const char *what, uint64_t at)
{
    return status_fail(BLY_ECORRUPT, "read as a table of LevelDB or RocksDB: "
                       "%s at byte %" PRIu64 ": it is damaged, or cut short: "
                       "copy it again", what, at);
}

/* ---- Varints and handles ------------------------------------------------ */

static bool table_varint(uint64_t *out, const uint8_t **at, const uint8_t *end)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

static bool table_read_handle(table_handle *out, const uint8_t *at,
                              const uint8_t *end)
{
    return table_varint(&out->offset, &at, end)
        && table_varint(&out->bytes, &at, end);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Returns whether this is the checksum of the n > 0 bytes at `at`. */
static bool table_sum_right(const table_file *table, uint32_t said,
                            const uint8_t *bytes, size_t n, uint64_t at)
{
    uint32_t crc;
    if (table->own != 0)
        said -= table->own ^ ((uint32_t)at + (uint32_t)(at >> 32));
    switch (table->sum) {
    case TABLE_CRC:
        crc = crc_32c(0, bytes, n);
        return said == (crc >> 15 | crc << 17) + UINT32_C(0xA282EAD8);
    case TABLE_XXH64:
        return said == (uint32_t)hash_xxh64(bytes, n, 0);
    case TABLE_XXH3:
        return said == ((uint32_t)hash_xxh3(bytes, n - 1, 0)
                        ^ bytes[n - 1] * UINT32_C(0x6B9083D9));
    default:
        return true;                    /* none, or XXH32, which is not here */
    }
}

static bly_status table_load(table_block *out, const table_file *table,
                             const table_handle *handle)
{
    const contents_source *source = table->source;
    uint8_t *block;
    if (handle->bytes > source->bytes)
        return table_damaged("a block larger than the file begins",
                             handle->offset);
    bly_status status = contents_load(&block, source, handle->offset,
                                      handle->bytes + TABLE_TRAILER);
    if (status != BLY_OK)
        return status;
    size_t n = (size_t)handle->bytes;
    *out = (table_block){ .bytes = block, .at = block, .end = block + n,
                          .held = n + TABLE_TRAILER };
    if (!table_sum_right(table, image_u32(block, n + 1), block, n + 1,
                         handle->offset))
        status = table_damaged("the checksum does not match the block",
                               handle->offset);
    else if (block[n] != 0)
        status = status_fail(BLY_EVERSION, "the block at byte %" PRIu64 " of "
                             "the table, which locates its filters, is "
                             "compressed (%u): read the table with its own "
                             "system", handle->offset, block[n]);
    if (status != BLY_OK)
        memory_release(source->allocator, block, out->held);
    return status;
}

static void table_release(table_block *block, const table_file *table)
{
    memory_release(table->source->allocator, (void *)block->bytes,
                   block->held);
}

/* Its keys end where the list of those that share nothing begins. */
static bool table_begin(table_block *b)
{
    size_t n = (size_t)(b->end - b->bytes);
    uint64_t list = n < 4 ? 0 : UINT64_C(4) + UINT64_C(4)
                                              * image_u32(b->bytes, n - 4);
    if (n < 4 || list > n)
        return false;
    b->end -= list;
    return true;
}

/* Reads the next key. Returns false at the end; if b->at is not b->end, the
 * block is damaged. Of a key that is too long the beginning is kept, as others
 * may share it. */
static bool table_next(table_block *b)
{
    const uint8_t *at = b->at;
    uint64_t shared, own, value;
    if (at == b->end || !table_varint(&shared, &at, b->end)
        || !table_varint(&own, &at, b->end)
        || !table_varint(&value, &at, b->end) || shared > b->length
        || own > (uint64_t)(b->end - at)
        || value > (uint64_t)(b->end - at) - own)
        return false;
    for (uint64_t i = shared; i < shared + own && i < TABLE_KEY; i++)
        b->key[i] = (char)at[i - shared];
    b->length = (size_t)(shared + own);
    b->value = at + own;
    b->value_bytes = (size_t)value;
    b->at = at + own + value;
    return true;
}

static bool table_key_is(const table_block *b, const char *key)
{
    return b->length == strlen(key) && b->length <= TABLE_KEY
        && memcmp(b->key, key, b->length) == 0;
}

static bool table_key_begins(const table_block *b, const char *with)
{
    return b->length >= strlen(with) && memcmp(b->key, with, strlen(with)) == 0;
}

/* ---- The end ------------------------------------------------------------ */

/* Reads the end of a table of version 6 or later. */
static bly_status table_open_own(table_file *out, const uint8_t *end,
                                 uint64_t at)
{
    uint8_t plain[TABLE_END_ROCKSDB];
    uint64_t n = image_u32(end, TABLE_AT_SIZE);
    memcpy(plain, end, sizeof plain);
    memset(plain + TABLE_AT_SUM, 0, 4);
    out->own = image_u32(end, TABLE_AT_OWN);
    if (image_u32(end, TABLE_AT_EXTENDED) != TABLE_EXTENDED
        || !table_sum_right(out, image_u32(end, TABLE_AT_SUM), plain,
                            sizeof plain, at))
        return table_damaged("the checksum does not match its end", at);
    if (n + TABLE_TRAILER > at)
        return table_damaged("the metaindex is larger than what precedes the "
                             "end,", at);
    out->metaindex = (table_handle){ at - TABLE_TRAILER - n, n };
    return BLY_OK;
}

static bly_status table_open(table_file *out, const contents_source *source)
{
    size_t n = out->rocksdb ? TABLE_END_ROCKSDB : TABLE_END_LEVELDB;
    uint64_t at = source->bytes - n;
    uint8_t end[TABLE_END_ROCKSDB];
    if (source->bytes < n)
        return table_damaged("its end would begin before", 0);
    bly_status status = source->read(source->context, end, at, n);
    if (status != BLY_OK)
        return status;
    out->source = source;
    out->sum = out->rocksdb ? end[0] : TABLE_CRC;
    out->version = out->rocksdb ? image_u32(end, TABLE_AT_VERSION) : 0;
    if (out->version > TABLE_VERSION_MOST)
        return status_fail(BLY_EVERSION, "the table of RocksDB has format %"
                           PRIu32 ", but this version reads formats up to %d: "
                           "write it with format_version=%d", out->version,
                           TABLE_VERSION_MOST, TABLE_VERSION_MOST);
    if (out->sum > TABLE_XXH3)
        return table_damaged("the kind of its checksums is unknown", at);
    if (out->version >= TABLE_OWN)
        return table_open_own(out, end, at);
    const uint8_t *handles = end + (out->rocksdb ? 1 : 0);
    return table_read_handle(&out->metaindex, handles, handles + TABLE_HANDLES)
         ? BLY_OK : table_damaged("there is no metaindex", at);
}

/* ---- RocksDB's properties ----------------------------------------------- */

typedef struct {
    bool     whole;                     /* whole keys are in the filter      */
    bool     deltas;                    /* handles are told by differences   */
    uint64_t keys;
} table_properties;

static bly_status table_read_properties(table_properties *out,
                                        const table_file *table,
                                        const table_handle *handle)
{
    table_block b;
    bly_status status = table_load(&b, table, handle);
    if (status != BLY_OK)
        return status;
    bool right = table_begin(&b);
    while (right && table_next(&b)) {
        const uint8_t *value = b.value;
        if (table_key_is(&b, "rocksdb.block.based.table.whole.key.filtering"))
            out->whole = b.value_bytes == 1 && *b.value == '1';
        if (table_key_is(&b, "rocksdb.index.value.is.delta.encoded"))
            out->deltas = b.value_bytes == 1 && *b.value == 1;
        if (table_key_is(&b, "rocksdb.num.entries")
            && !table_varint(&out->keys, &value, value + b.value_bytes))
            out->keys = UINT64_MAX;
    }
    if (!right || b.at != b.end)
        status = table_damaged("the properties are damaged", handle->offset);
    table_release(&b, table);
    return status;
}

/* ---- The filters -------------------------------------------------------- */

static bly_status table_lacks(contents_list *list, const table_file *table,
                              const char *lacks)
{
    const bly_contained one = { .column = "", .as = "text", .lacks = lacks,
                                .keys = UINT64_MAX };
    list->is.groups = 1;
    return contents_add(list, &one, table->source);
}

/* Reports data without a filter before the block of filters: a writer makes one
 * for each full 2^b bytes, and for the rest if a block begins there. */
static bly_status table_uncovered(contents_list *list, uint64_t begin,
                                  unsigned shift, const table_file *table)
{
    const bly_contained one = {
        .column = "", .as = "text", .group = list->is.groups,
        .lacks = "has no filter", .keys = UINT64_MAX,
    };
    if (list->is.groups > 0 ? list->is.groups >= begin >> shift : begin == 0)
        return BLY_OK;
    list->is.groups++;
    return contents_add(list, &one, table->source);
}

static bly_status table_list_block(contents_list *list, const table_block *b,
                                   uint64_t begin, const table_file *table)
{
    size_t n = (size_t)(b->end - b->bytes);
    uint64_t array = n < 5 ? n : image_u32(b->bytes, n - 5);
    if (n < 5 || array > n - 5 || (n - 5 - array) % 4 != 0
        || b->bytes[n - 1] > TABLE_SHIFT_MOST)
        return table_damaged("there is no block of filters", begin);
    list->is.group = "block";
    list->is.groups = (n - 5 - array) / 4;
    for (uint64_t i = 0; i < list->is.groups; i++) {
        uint64_t at = array + 4 * i;
        uint64_t from = image_u32(b->bytes, (size_t)at);
        uint64_t to = image_u32(b->bytes, (size_t)at + 4);
        bly_contained one = {
            .column = "", .format = "leveldb", .as = "text", .group = i,
            .keys = UINT64_MAX, .offset = begin + from, .bytes = to - from,
        };
        if (from > to || to > array)
            return table_damaged("a filter ends before it begins", begin + at);
        bly_status status = from == to ? BLY_OK
            : contents_add(list, &one, table->source);
        if (status != BLY_OK)
            return status;
    }
    return table_uncovered(list, begin, b->bytes[n - 1], table);
}

/* Sets the format of RocksDB's filter, or why it cannot be queried, from its
 * last five bytes. */
static void table_tell(bly_contained *one, const uint8_t *filter, size_t n)
{
    const uint8_t *tail = filter + n - TABLE_TRAILER;
    int mark = tail[0];
    if (mark == TABLE_BLOOM && tail[1] == 0)
        one->format = "rocksdb";
    else if (mark == TABLE_RIBBON && (tail[2] > 1 || (tail[3] | tail[4]) != 0))
        one->format = "rocksribbon";
    else
        one->lacks = mark == 0 || mark == TABLE_RIBBON
                   ? "has a filter that matches every key"
                   : mark < 0x80 ? "has a filter from before format version 5"
                                 : "has a filter of an unknown kind";
}

/* Lists a filter of RocksDB; one of at most 5 bytes is empty. */
static bly_status table_list_full(contents_list *list,
                                  const table_handle *handle,
                                  const table_properties *properties,
                                  const table_file *table)
{
    table_block b;
    bly_contained one = {
        .column = "", .as = "text", .group = list->is.groups++,
        .keys = properties->keys,
        .offset = handle->offset, .bytes = handle->bytes,
    };
    bly_status status = table_load(&b, table, handle);
    if (status != BLY_OK)
        return status;
    if (!properties->whole)
        one.lacks = "has only a filter of the prefixes of its keys";
    else if (handle->bytes > TABLE_TRAILER)
        table_tell(&one, b.bytes, (size_t)handle->bytes);
    table_release(&b, table);
    return properties->whole && handle->bytes <= TABLE_TRAILER ? BLY_OK
         : contents_add(list, &one, table->source);
}

/* Reads a handle. If it shares a prefix with the previous one, it only has the
 * difference in size of its block, which follows that one's. */
static bool table_next_handle(table_block *b, table_handle *handle,
                              bool deltas)
{
    const uint8_t *at = b->at;
    uint64_t shared, own, n;
    if (!deltas)
        return table_next(b)
            && table_read_handle(handle, b->value, b->value + b->value_bytes);
    if (at == b->end || !table_varint(&shared, &at, b->end)
        || !table_varint(&own, &at, b->end)
        || own > (uint64_t)(b->end - at))
        return false;
    at += own;
    if (shared == 0) {
        if (!table_varint(&handle->offset, &at, b->end)
            || !table_varint(&handle->bytes, &at, b->end))
            return false;
    } else {
        if (!table_varint(&n, &at, b->end))
            return false;
        handle->offset += handle->bytes + TABLE_TRAILER;
        handle->bytes += n >> 1 ^ (0 - (n & 1));
    }
    b->at = at;
    return true;
}

static bly_status table_list_parts(contents_list *list,
                                   const table_handle *index,
                                   table_properties *properties,
                                   const table_file *table)
{
    table_handle handle = { .bytes = 0 };
    table_block b;
    bly_status status = table_load(&b, table, index);
    if (status != BLY_OK)
        return status;
    list->is.group = "partition";
    properties->keys = UINT64_MAX;
    bool right = table_begin(&b);
    while (right && status == BLY_OK
           && table_next_handle(&b, &handle, properties->deltas))
        status = table_list_full(list, &handle, properties, table);
    if (status == BLY_OK && (!right || b.at != b.end))
        status = table_damaged("the index of the filter's partitions is "
                               "damaged", index->offset);
    table_release(&b, table);
    return status;
}

/* ---- All of it ---------------------------------------------------------- */

/* The contents of the metaindex. */
typedef struct {
    bool         blocks, full, parts, properties, other;
    table_handle filter, described;
} table_index;

static bool table_note(table_index *out, const table_block *b)
{
    const uint8_t *end = b->value + b->value_bytes;
    bool blocks = table_key_is(b, "filter.leveldb.BuiltinBloomFilter2");
    bool full = table_key_is(b, "fullfilter.rocksdb.BuiltinBloomFilter");
    bool parts = table_key_is(b, "partitionedfilter."
                                 "rocksdb.BuiltinBloomFilter");
    bool properties = table_key_is(b, "rocksdb.properties");
    out->blocks |= blocks;
    out->full |= full;
    out->parts |= parts;
    out->properties |= properties;
    out->other |= table_key_begins(b, "filter.")
               || table_key_begins(b, "fullfilter.")
               || table_key_begins(b, "partitionedfilter.");
    return !(blocks || full || parts || properties)
        || table_read_handle(properties ? &out->described : &out->filter,
                             b->value, end);
}

static bly_status table_read_index(table_index *out, const table_file *table)
{
    table_block b;
    bly_status status = table_load(&b, table, &table->metaindex);
    if (status != BLY_OK)
        return status;
    bool right = table_begin(&b);
    while (right && table_next(&b))
        right = table_note(out, &b);
    if (!right || b.at != b.end)
        status = table_damaged("the metaindex is damaged",
                               table->metaindex.offset);
    table_release(&b, table);
    return status;
}

static bly_status table_list_blocks(contents_list *out,
                                    const table_handle *handle,
                                    const table_file *table)
{
    table_block b;
    bly_status status = table_load(&b, table, handle);
    if (status != BLY_OK)
        return status;
    status = table_list_block(out, &b, handle->offset, table);
    table_release(&b, table);
    return status;
}

bly_status table_find(contents_list *out, const contents_source *source)
{
    table_file table = { .rocksdb = out->is.system[0] == 'r' };
    table_properties properties = { .whole = true, .keys = UINT64_MAX };
    table_index index = { .blocks = false };
    bly_status status = table_open(&table, source);
    properties.deltas = table.version >= TABLE_DELTAS;
    if (status == BLY_OK)
        status = table_read_index(&index, &table);
    if (status == BLY_OK && index.properties)
        status = table_read_properties(&properties, &table, &index.described);
    if (status != BLY_OK)
        return status;
    if (index.blocks)
        return table_list_blocks(out, &index.filter, &table);
    out->is.group = "table";
    if (index.full || index.parts || index.properties)
        out->is.system = "rocksdb";
    return index.full  ? table_list_full(out, &index.filter, &properties,
                                         &table)
         : index.parts ? table_list_parts(out, &index.filter, &properties,
                                          &table)
                       : table_lacks(out, &table, index.other
                             ? "has a filter with an unknown policy"
                             : "has no filter");
}
