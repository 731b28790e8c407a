/* container.c - files with filters inside: they are listed, each filter answers
 * as it does alone, and damaged files are never read out of bounds.
 *
 * Parquet files and tables are written here, byte by byte. One real LevelDB
 * table is included, two of RocksDB are in theirs/, and the Parquet project's
 * test data are read if present.
 * tools/check/systems tests tables of real RocksDB and LevelDB.
 */
#include "bloomery/container.h"

#include "test.h"
#include "folder.h"
#include "hex.h"
#include "scarce.h"
#include "vectors.h"

#include <xxhash.h>

static const char PATH[] = "file";

enum { MADE = 1 << 16 };

/* A buffer being written. */
typedef struct { uint8_t bytes[MADE]; size_t n; } made;

static void put(made *m, const void *bytes, size_t n)
{
    assert_true(m->n + n <= sizeof m->bytes);
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void put_number(made *m, uint64_t v, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)(v >> 8 * i);
        put(m, &byte, 1);
    }
}

static void put_varint(made *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_number(m, v | 0x80, 1);
    put_number(m, v, 1);
}

/* Saves to a new file, as overwriting one flushes it to the disk. */
static void save(const made *m)
{
    remove(PATH);
    FILE *file = fopen(PATH, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(m->bytes, 1, m->n, file), m->n);
    assert_int_equal(fclose(file), 0);
}

static bly_container *opened(const made *m)
{
    bly_container *c = NULL;
    save(m);
    assert_said(bly_container_open(&c, PATH, NULL), BLY_OK);
    return c;
}

static void refused(const made *m, bly_status wanted, const char *says)
{
    bly_container *c = NULL;
    save(m);
    test_mark();
    assert_said(bly_container_open(&c, PATH, NULL), wanted);
    if (strstr(bly_why(), says) == NULL)
        fail_msg("'%s' does not say '%s'", bly_why(), says);
    assert_null(c);
}

/* Returns whether filter `which` may contain the text. */
static bool has(const bly_container *c, size_t which, const char *key)
{
    bly_filter *filter = NULL;
    assert_said(bly_container_filter(&filter, c, which, NULL), BLY_OK);
    bool is = bly_contains(filter, key, strlen(key));
    bly_free(filter);
    return is;
}

/* Appends the file of a filter in a format, with keys "PREFIX0" and so on. */
static void put_filter(made *m, const char *format, const char *prefix,
                       size_t n)
{
    bly_spec spec = { .capacity = n };
    bly_filter *filter = NULL;
    size_t bytes;
    assert_status(bly_new(&filter, format, &spec), BLY_OK);
    for (size_t i = 0; i < n; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "%s%zu", prefix, i);
        assert_true(bly_add(filter, key, (size_t)length) >= 0);
    }
    const uint8_t *image = bly_image(filter, &bytes);
    put(m, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
    bly_free(filter);
}

/* ---- Parquet, written --------------------------------------------------- */

/* Writes the head of field `id` with a type, in a structure whose last field
 * was `last`. */
static void put_field(made *m, unsigned id, unsigned last, unsigned type)
{
    if (id > last && id - last < 16) {
        put_number(m, (id - last) << 4 | type, 1);
        return;
    }
    put_number(m, type, 1);
    put_varint(m, 2 * (uint64_t)id);
}

static void put_i64(made *m, unsigned id, unsigned last, uint64_t v)
{
    put_field(m, id, last, 6);
    put_varint(m, 2 * v);
}

static void put_text(made *m, const char *text)
{
    put_varint(m, strlen(text));
    put(m, text, strlen(text));
}

/* A column chunk, without a filter if `bytes` is 0. */
typedef struct {
    const char *path[3];
    unsigned    type;
    uint64_t    offset, bytes;
    bool        measured, encrypted, elsewhere;
    unsigned    converted, logical;     /* of its column, plus 1; 0: none    */
} chunk;

static void put_chunk(made *m, const chunk *c)
{
    size_t parts = 0;
    while (c->path[parts] != NULL)
        parts++;
    if (c->elsewhere) {
        put_field(m, 1, 0, 8);
        put_text(m, "part-1.parquet");
    }
    put_i64(m, 2, c->elsewhere, 4);                 /* file_offset           */
    put_field(m, 3, 2, 12);
    put_i64(m, 1, 0, c->type);
    put_field(m, 2, 1, 9);                          /* encodings             */
    put_number(m, 0x25, 1);
    put_number(m, 0, 2);
    put_field(m, 3, 2, 9);
    put_number(m, parts << 4 | 8, 1);
    for (size_t i = 0; i < parts; i++)
        put_text(m, c->path[i]);
    put_i64(m, 4, 3, 1);
    put_i64(m, 5, 4, 77);
    put_field(m, 12, 5, 12);                        /* statistics            */
    put_field(m, 7, 0, 1);                          /* a bool, true          */
    put_number(m, 0, 1);
    if (c->bytes > 0)
        put_i64(m, 14, 12, c->offset);
    if (c->bytes > 0 && !c->measured)
        put_i64(m, 15, 14, c->bytes);
    put_number(m, 0, 1);
    if (c->encrypted) {
        put_field(m, 8, 3, 12);
        put_number(m, 0, 1);
    }
    put_number(m, 0, 1);
}

/* The schema's element of a column. */
static void put_element(made *m, const chunk *c)
{
    put_i64(m, 1, 0, c->type);
    put_field(m, 4, 1, 8);
    put_text(m, "a column");
    if (c->converted > 0)
        put_i64(m, 6, 4, c->converted - 1);
    if (c->logical > 0) {
        put_field(m, 10, c->converted > 0 ? 6 : 4, 12);
        put_field(m, c->logical - 1, 0, 12);
        put_number(m, 0, 2);
    }
    put_number(m, 0, 1);
}

static void put_footer(made *m, const chunk *chunks, size_t groups,
                       size_t columns)
{
    size_t begin = m->n;
    put_i64(m, 1, 0, 2);
    put_field(m, 2, 1, 9);
    put_number(m, (columns + 1) << 4 | 12, 1);
    put_field(m, 4, 0, 8);
    put_text(m, "schema");
    put_number(m, 0, 1);
    for (size_t i = 0; i < columns; i++)
        put_element(m, &chunks[i]);
    put_i64(m, 3, 2, 77);
    put_field(m, 4, 3, 9);
    put_number(m, groups << 4 | 12, 1);
    for (size_t g = 0; g < groups; g++) {
        put_field(m, 1, 0, 9);
        put_number(m, columns << 4 | 12, 1);
        for (size_t i = 0; i < columns; i++)
            put_chunk(m, &chunks[g * columns + i]);
        put_i64(m, 3, 1, 77);
        put_number(m, 0, 1);
    }
    put_field(m, 5, 4, 11);                         /* an empty map          */
    put_number(m, 0, 1);
    put_field(m, 6, 5, 8);
    put_text(m, "written by hand");
    put_number(m, 0, 1);
    put_number(m, m->n - begin, 4);
    put(m, "PAR1", 4);
}

enum { GROUPS = 3, COLUMNS = 2 };

/* Three row groups of two columns; only the first group's second column has a
 * usable filter. */
static void make_parquet(made *m)
{
    chunk chunks[GROUPS * COLUMNS] = {
        { .path = { "name" }, .type = 6 },
        { .path = { "place", "height" }, .type = 2 },
        { .path = { "name" }, .type = 6, .measured = true },
        { .path = { "place", "height" }, .type = 2, .encrypted = true },
        { .path = { "name" }, .type = 6 },
        { .path = { "place", "height" }, .type = 2, .elsewhere = true },
    };
    static const char *const prefixes[] = { "a", "h", "b", "x", "c", "y" };
    m->n = 0;
    put(m, "PAR1", 4);
    for (size_t i = 0; i < GROUPS * COLUMNS; i++) {
        chunks[i].offset = m->n;
        put_filter(m, "parquet", prefixes[i], 20);
        chunks[i].bytes = m->n - chunks[i].offset;
    }
    put_footer(m, chunks, GROUPS, COLUMNS);
}

static void test_parquet(void **state)
{
    (void)state;
    made m;
    make_parquet(&m);
    bly_container *c = opened(&m);
    const bly_contents *is = bly_container_contents(c);
    assert_string_equal(is->system, "parquet");
    assert_string_equal(is->group, "row group");
    assert_int_equal(is->groups, 3);
    assert_int_equal(is->n, 6);
    for (size_t i = 0; i < 6; i++) {
        const bly_contained *one = &is->filters[i];
        assert_string_equal(one->column, i % 2 == 0 ? "name" : "place.height");
        assert_string_equal(one->as, i % 2 == 0 ? "text" : "int64");
        assert_int_equal(one->group, i / 2);
        assert_int_equal(one->keys, 77);
        assert_int_equal(one->format != NULL, i < 3 || i == 4);
    }
    assert_string_equal(is->filters[3].lacks, "is encrypted");
    assert_string_equal(is->filters[5].lacks, "is in another file");
    assert_int_equal(is->filters[2].bytes, is->filters[0].bytes);
    for (size_t i = 0; i < 20; i++) {
        char key[8];
        snprintf(key, sizeof key, "b%zu", i);
        assert_true(has(c, 2, key));
        snprintf(key, sizeof key, "h%zu", i);
        assert_true(has(c, 1, key));
    }
    assert_false(has(c, 0, "b1"));
    bly_filter *filter = NULL;
    assert_status(bly_container_filter(&filter, c, 3, NULL), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "row group 1, column place.height: it is "
                                      "encrypted"));
    assert_status(bly_container_filter(&filter, c, 6, NULL), BLY_EPARAM);
    bly_container_free(c);
    bly_container_free(NULL);
}

/* Verifies how values of a column are written; NULL: that is unknown. */
static void written(const chunk *column, const char *as)
{
    made m = { .n = 0 };
    put(&m, "PAR1", 4);
    put_footer(&m, column, 1, 1);
    bly_container *c = opened(&m);
    const bly_contained *listed = bly_container_contents(c)->filters;
    if (as == NULL)
        assert_null(listed->as);
    else
        assert_string_equal(listed->as, as);
    assert_string_equal(listed->lacks, "has no filter");
    bly_container_free(c);
}

static void test_parquet_types(void **state)
{
    (void)state;
    static const char *const as[] = {
        NULL, "int32", "int64", NULL, "float", "double", "text", "hex", NULL,
    };
    for (unsigned type = 0; type < sizeof as / sizeof *as; type++)
        written(&(chunk){ .path = { "c" }, .type = type }, as[type]);
}

/* Verifies the converted types 0 to 23 and the logical types 0 to 17, where x
 * is a type whose values are not stored as they are written: DECIMAL, INTERVAL,
 * FLOAT16, those of groups, and unknown ones. */
static void test_parquet_annotations(void **state)
{
    (void)state;
    static const char converted[] = ".xxx.x" "..............." "xxx";
    static const char logical[] = "x.xx.x" "...x....." "xxxxxx";
    for (unsigned i = 0; i < sizeof converted - 1; i++)
        written(&(chunk){ .path = { "c" }, .type = 2, .converted = i + 1 },
                converted[i] == 'x' ? NULL : "int64");
    for (unsigned i = 0; i < sizeof logical - 1; i++)
        written(&(chunk){ .path = { "c" }, .type = 6, .logical = i + 1 },
                logical[i] == 'x' ? NULL : "text");
    written(&(chunk){ .path = { "c" }, .type = 1, .converted = 6,
                      .logical = 11 }, NULL);
    written(&(chunk){ .path = { "c" }, .type = 1, .converted = 18,
                      .logical = 11 }, "int32");
}

/* The columns of a schema are those of each row group, in this order. */
static void test_parquet_schema(void **state)
{
    (void)state;
    const chunk chunks[] = {
        { .path = { "a" }, .type = 1 },
        { .path = { "b" }, .type = 1, .converted = 6 },
        { .path = { "a" }, .type = 1 },
        { .path = { "b" }, .type = 1 },
    };
    made m = { .n = 0 };
    put(&m, "PAR1", 4);
    put_footer(&m, chunks, 2, 2);
    bly_container *c = opened(&m);
    const bly_contained *listed = bly_container_contents(c)->filters;
    for (size_t i = 0; i < 4; i++)
        if (i % 2 == 0)
            assert_string_equal(listed[i].as, "int32");
        else
            assert_null(listed[i].as);
    bly_container_free(c);
}

/* The Parquet project's test data, with field 15 and without. */
static void test_parquet_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t    offset, bytes;
    } files[] = {
        { "parquet/data_index_bloom_encoding_stats.parquet", 192, 1040 },
        { "parquet/data_index_bloom_encoding_with_length.parquet", 253, 2064 },
    };
    for (size_t i = 0; i < 2; i++) {
        vector v = vector_read(files[i].name);
        made m = { .n = 0 };
        put(&m, v.bytes, v.n);
        free(v.bytes);
        bly_container *c = opened(&m);
        const bly_contents *is = bly_container_contents(c);
        assert_int_equal(is->n, 1);
        assert_string_equal(is->filters->column, "String");
        assert_int_equal(is->filters->keys, 14);
        assert_int_equal(is->filters->offset, files[i].offset);
        assert_int_equal(is->filters->bytes, files[i].bytes);
        assert_true(has(c, 0, "Hello"));
        assert_true(has(c, 0, "test"));
        assert_false(has(c, 0, "hello"));
        bly_container_free(c);
    }
}

static void test_parquet_refused(void **state)
{
    (void)state;
    made m, good;
    make_parquet(&good);
    m = good;
    memcpy(m.bytes + m.n - 4, "PARE", 4);
    refused(&m, BLY_EVERSION, "encrypted footer");
    m = good;
    memset(m.bytes + m.n - 8, 0xFF, 4);
    refused(&m, BLY_ECORRUPT, "should have 4294967295 bytes");
    m = good;
    memset(m.bytes + m.n - 8, 0, 4);
    refused(&m, BLY_ECORRUPT, "its footer is empty");
    m = (made){ .n = 0 };
    put(&m, "PAR1", 4);
    put(&m, "PAR1", 4);
    refused(&m, BLY_ECORRUPT, "cut short");
    const chunk outside = { .path = { "c" }, .type = 6, .offset = 1 << 20,
                            .bytes = 47 };
    m = (made){ .n = 0 };
    put(&m, "PAR1", 4);
    put_footer(&m, &outside, 1, 1);
    refused(&m, BLY_ECORRUPT, "column 'c' in row group 0 should begin at "
                              "byte 1048576");
    const chunk twice[] = {
        { .path = { "c" }, .type = 6, .offset = 4, .bytes = 100 },
        { .path = { "d" }, .type = 6, .offset = 4, .bytes = 100 },
    };
    m = (made){ .n = 0 };
    put(&m, "PAR1", 4);
    put_footer(&m, twice, 1, 2);
    refused(&m, BLY_ECORRUPT, "more bytes than the file");
    m = (made){ .n = 0 };
    put(&m, "no such file at all", 19);
    refused(&m, BLY_EFORMAT, "not a file that contains filters");
}

/* An empty chunk is rejected, or each byte of the footer would make a list
 * entry. */
static void test_parquet_chunks_of_nothing(void **state)
{
    (void)state;
    made m = { .n = 0 };
    put(&m, "PAR1", 4);
    size_t begin = m.n;
    put_field(&m, 4, 0, 9);
    put_number(&m, 0x1C, 1);
    put_field(&m, 1, 0, 9);
    put_number(&m, 0x3C, 1);
    put_number(&m, 0, 5);                           /* 3 chunks, and ends    */
    put_number(&m, m.n - begin, 4);
    put(&m, "PAR1", 4);
    refused(&m, BLY_ECORRUPT, "a column in row group 0 has no description");
}

/* Structures nested deeper than any real file's. */
static void test_parquet_depth(void **state)
{
    (void)state;
    made m = { .n = 0 };
    put(&m, "PAR1", 4);
    for (size_t i = 0; i < 2000; i++)
        put_number(&m, 0x9C, 1);
    put_number(&m, 2000, 4);
    put(&m, "PAR1", 4);
    refused(&m, BLY_ECORRUPT, "Thrift's compact protocol");
    m.n = 4;
    for (size_t i = 0; i < 2000; i++)
        put_number(&m, 0x99, 1);                    /* lists of lists        */
    put_number(&m, 2000, 4);
    put(&m, "PAR1", 4);
    refused(&m, BLY_ECORRUPT, "Thrift's compact protocol");
}

/* ---- Tables, written ---------------------------------------------------- */

/* How to write a table. */
typedef struct {
    unsigned    sum, version;           /* version 0: LevelDB's end          */
    uint32_t    own;
    const char *name;                   /* of the filter, or NULL            */
    const char *filter;                 /* hex; NULL: of 20 keys "k0" ...    */
    bool        prefixes, deltas, empty;        /* no data                   */
} table;

/* Computes the checksum bit by bit, with the polynomial in its other form. */
static uint32_t slow_crc(const uint8_t *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * n; i++) {
        uint32_t bit = (crc ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? UINT32_C(0x82F63B78) : 0);
    }
    return ~crc;
}

static uint32_t table_sum(const table *t, const uint8_t *bytes, size_t n,
                          uint64_t at)
{
    uint32_t crc = slow_crc(bytes, n), sum = 0;
    if (t->sum == 1)
        sum = (crc >> 15 | crc << 17) + UINT32_C(0xA282EAD8);
    if (t->sum == 2)
        sum = XXH32(bytes, n, 0);
    if (t->sum == 3)
        sum = (uint32_t)XXH64(bytes, n, 0);
    if (t->sum == 4)
        sum = (uint32_t)XXH3_64bits(bytes, n - 1)
            ^ bytes[n - 1] * UINT32_C(0x6B9083D9);
    return t->own == 0 ? sum
         : sum + (t->own ^ ((uint32_t)at + (uint32_t)(at >> 32)));
}

typedef struct { uint64_t offset, bytes; } handle;

/* Ends the block that began at `begin`. */
static handle end_block(made *m, size_t begin, const table *t)
{
    handle h = { begin, m->n - begin };
    put_number(m, 0, 1);
    put_number(m, table_sum(t, m->bytes + begin, m->n - begin, begin), 4);
    return h;
}

static void put_entry(made *m, size_t shared, const char *key,
                      const void *value, size_t n)
{
    put_varint(m, shared);
    put_varint(m, strlen(key + shared));
    put_varint(m, n);
    put(m, key + shared, strlen(key + shared));
    put(m, value, n);
}

static void put_handle_entry(made *m, const char *key, handle h)
{
    made value = { .n = 0 };
    put_varint(&value, h.offset);
    put_varint(&value, h.bytes);
    put_entry(m, 0, key, value.bytes, value.n);
}

/* Lists the keys that share no prefix: only the first. */
static void put_restarts(made *m)
{
    put_number(m, 0, 4);
    put_number(m, 1, 4);
}

static handle put_properties(made *m, const table *t)
{
    static const char whole[] = "rocksdb.block.based.table.whole.key.filtering";
    size_t begin = m->n;
    put_entry(m, 0, whole, t->prefixes ? "0" : "1", 1);
    put_entry(m, 8, "rocksdb.index.value.is.delta.encoded",
              t->deltas ? "\1" : "\0", 1);
    put_entry(m, 8, "rocksdb.num.entries", "\x14", 1);
    put_restarts(m);
    return end_block(m, begin, t);
}

/* LevelDB's filter blocks, for the first, third and fourth 2 KiB. */
static handle put_blocks(made *m, const table *t)
{
    size_t begin = m->n, at[5];
    if (t->filter != NULL) {
        m->n += vector_hex(m->bytes + begin, t->filter);
        return end_block(m, begin, t);
    }
    for (size_t i = 0; i < 4; i++) {
        char prefix[] = { (char)('a' + i), '\0' };
        at[i] = m->n - begin;
        if (i != 1)
            put_filter(m, "leveldb:bits=10", prefix, 20);
    }
    at[4] = m->n - begin;
    for (size_t i = 0; i < 5; i++)
        put_number(m, at[i], 4);
    put_number(m, 11, 1);
    return end_block(m, begin, t);
}

static handle put_full(made *m, const table *t, const char *prefix)
{
    size_t begin = m->n;
    if (t->filter != NULL)
        m->n += vector_hex(m->bytes + begin, t->filter);
    else
        put_filter(m, "rocksdb:bits=10", prefix, 20);
    return end_block(m, begin, t);
}

static handle put_parts(made *m, const table *t)
{
    handle parts[3] = { put_full(m, t, "a"), put_full(m, t, "b"),
                        put_full(m, t, "c") };
    size_t begin = m->n;
    for (size_t i = 0; i < 3 && !t->deltas; i++)
        put_handle_entry(m, "key", parts[i]);
    if (t->deltas) {
        put(m, "\0\3key", 5);
        put_varint(m, parts[0].offset);
        put_varint(m, parts[0].bytes);
        put(m, "\3\1a\0", 4);                       /* as large              */
        put(m, "\3\1b\0", 4);
    }
    put_restarts(m);
    return end_block(m, begin, t);
}

static void put_end(made *m, const table *t, handle metaindex)
{
    made end = { .n = 0 };
    size_t at = m->n;
    if (t->version > 0)
        put_number(&end, t->sum, 1);
    if (t->version < 6) {
        put_varint(&end, metaindex.offset);
        put_varint(&end, metaindex.bytes);
        put_varint(&end, 0);
        put_varint(&end, 0);
        put_number(&end, 0, 1);
    } else {
        put_number(&end, 0x007A003E, 4);
        put_number(&end, 0, 4);
        put_number(&end, t->own, 4);
        put_number(&end, metaindex.bytes, 4);
    }
    size_t fill = (t->version > 0 ? 41 : 40) - end.n;
    for (size_t i = 0; i < fill; i++)
        put_number(&end, 0, 1);
    if (t->version > 0)
        put_number(&end, t->version, 4);
    put_number(&end, t->version > 0 ? UINT64_C(0x88E241B785F4CFF7)
                                    : UINT64_C(0xDB4775248B80FB57), 8);
    if (t->version >= 6) {
        made sum = { .n = 0 };
        put_number(&sum, table_sum(t, end.bytes, end.n, at), 4);
        memcpy(end.bytes + 5, sum.bytes, 4);
    }
    put(m, end.bytes, end.n);
}

static void make_table(made *m, const table *t)
{
    handle filter = { 0, 0 };
    m->n = 0;
    put(m, "data, data, data", t->empty ? 0 : 16);
    if (t->name != NULL && t->name[0] == 'p')
        filter = put_parts(m, t);
    else if (t->name != NULL && strstr(t->name, "leveldb") != NULL)
        filter = put_blocks(m, t);
    else if (t->name != NULL)
        filter = put_full(m, t, "k");
    handle properties = put_properties(m, t);
    size_t begin = m->n;
    if (t->name != NULL)
        put_handle_entry(m, t->name, filter);
    put_handle_entry(m, "rocksdb.properties", properties);
    put_restarts(m);
    put_end(m, t, end_block(m, begin, t));
}

#define BLOCKS "filter.leveldb.BuiltinBloomFilter2"
#define FULL   "fullfilter.rocksdb.BuiltinBloomFilter"
#define PARTS  "partitionedfilter.rocksdb.BuiltinBloomFilter"

/* Tables that can be queried. */
static const table tables[] = {
    { .sum = 1, .version = 0, .name = BLOCKS },
    { .sum = 0, .version = 5, .name = BLOCKS },
    { .sum = 1, .version = 5, .name = FULL },
    { .sum = 2, .version = 5, .name = FULL },
    { .sum = 3, .version = 5, .name = FULL },
    { .sum = 4, .version = 5, .name = FULL },
    { .sum = 4, .version = 6, .name = FULL, .own = 0x12345678 },
    { .sum = 1, .version = 7, .name = FULL, .own = 1 },
    { .sum = 4, .version = 7, .name = PARTS, .own = 77, .deltas = true },
    { .sum = 0, .version = 5, .name = PARTS },
    { .sum = 1, .version = 0, .name = FULL },
};

enum { TABLES = sizeof tables / sizeof *tables };

static void test_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < TABLES; i++) {
        const table *t = &tables[i];
        made m;
        make_table(&m, t);
        bly_container *c = opened(&m);
        const bly_contents *is = bly_container_contents(c);
        bool one = strcmp(t->name, FULL) == 0;
        assert_int_equal(is->n, one ? 1 : 3);
        assert_int_equal(is->groups, one ? 1 : t->name[0] == 'p' ? 3 : 4);
        assert_string_equal(is->system, t->name == tables[0].name
                                        && t->version == 0 ? "leveldb"
                                                           : "rocksdb");
        if (one)
            assert_int_equal(is->filters->keys, 20);
        for (size_t f = 0; f < is->n; f++) {
            char key[] = { one ? 'k' : t->name[0] == 'p' ? (char)('a' + f)
                         : "acd"[f], '7', '\0' };
            assert_string_equal(is->filters[f].as, "text");
            assert_true(has(c, f, key));
            assert_false(has(c, f, "strange"));
        }
        bly_container_free(c);
    }
}

/* A real table of key0, key1 and key2, by libleveldb 1.23. */
static void test_real_table(void **state)
{
    (void)state;
    made m = { .n = 0 };
    m.n = vector_hex(m.bytes,
        "000c016b6579300101000000000000760309023101020000000000007678"
        "030903320103000000000000767878000000000100000000f1534a580008"
        "4002100004200600000000090000000b00fca8f50000220266696c746572"
        "2e6c6576656c64622e4275696c74696e426c6f6f6d46696c746572323a12"
        "000000000100000000e9bd5c630009026c01ffffffffffffff0035000000"
        "00010000000033ab580e512f850116000000000000000000000000000000"
        "000000000000000000000000000000000000000057fb808b247547db");
    bly_container *c = opened(&m);
    const bly_contents *is = bly_container_contents(c);
    assert_string_equal(is->system, "leveldb");
    assert_int_equal(is->n, 1);
    assert_int_equal(is->filters->offset, 58);
    assert_int_equal(is->filters->bytes, 9);
    assert_int_equal(is->filters->keys, UINT64_MAX);
    assert_true(has(c, 0, "key0") && has(c, 0, "key1") && has(c, 0, "key2"));
    assert_false(has(c, 0, "lock"));
    bly_container_free(c);
}

/* Real tables of librocksdb 7.8.3, of 700 keys in four partitions. Three have a
 * Ribbon filter, and the last, with few keys, a Bloom filter. Format version 3
 * states each partition's place in full, version 5 by differences. */
static void test_real_partitions(void **state)
{
    (void)state;
    static const char *const names[] = { "rocksdb-parts3", "rocksdb-parts5" };
    for (size_t i = 0; i < 2; i++) {
        char path[512], key[16];
        vector v = { NULL, 0 };
        snprintf(path, sizeof path, "%s/tests/formats/theirs/%s.hex",
                 TEST_SOURCE_DIR, names[i]);
        if (!hex_read(path, &v.bytes, &v.n))
            fail_msg("cannot read %s", path);
        made m = { .n = 0 };
        put(&m, v.bytes, v.n);
        free(v.bytes);
        bly_container *c = opened(&m);
        const bly_contents *is = bly_container_contents(c);
        assert_string_equal(is->group, "partition");
        assert_int_equal(is->groups, 4);
        assert_int_equal(is->n, 4);
        for (size_t f = 0; f < is->n; f++)
            assert_string_equal(is->filters[f].format,
                                f < 3 ? "rocksribbon" : "rocksdb");
        for (unsigned k = 0, part = 0; k < 700; k++) {
            snprintf(key, sizeof key, "key-%08u", k);
            part += k > 0 && !has(c, part, key);
            assert_true(has(c, part, key));
        }
        assert_false(has(c, 1, "key-00000001"));
        assert_false(has(c, 3, "strange"));
        bly_container_free(c);
    }
}

/* Tables that may contain any key, and the reasons reported. */
static void test_tables_lack(void **state)
{
    (void)state;
    static const struct { table t; const char *lacks; } lacking[] = {
        { { .version = 5 }, "has no filter" },
        { { .version = 5, .name = FULL, .prefixes = true },
          "has only a filter of the prefixes of its keys" },
        { { .version = 5, .name = FULL, .filter = "0000000000fe07010000" },
          "has a filter that matches every key" },
        { { .version = 5, .name = FULL, .filter = "0000000000000000000000" },
          "has a filter that matches every key" },
        { { .version = 5, .name = FULL, .filter = "00000000000601000000" },
          "has a filter from before format version 5" },
        { { .version = 5, .name = FULL, .filter = "0000000000ff01060000" },
          "has a filter of an unknown kind" },
        { { .version = 5, .name = "fullfilter.mine" },
          "has a filter with an unknown policy" },
        { { .version = 5, .name = "filter.leveldb.Mine" },
          "has a filter with an unknown policy" },
        { { .version = 5, .name = FULL, .prefixes = true,
            .filter = "ff00060000" },
          "has only a filter of the prefixes of its keys" },
        { { .version = 5, .name = FULL, .prefixes = true, .filter = "" },
          "has only a filter of the prefixes of its keys" },
        { { .sum = 1, .name = BLOCKS, .filter = "000000000b" },
          "has no filter" },
    };
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        made m;
        make_table(&m, &lacking[i].t);
        bly_container *c = opened(&m);
        const bly_contents *is = bly_container_contents(c);
        assert_int_equal(is->n, 1);
        assert_int_equal(is->groups, 1);
        assert_null(is->filters->format);
        assert_string_equal(is->filters->lacks, lacking[i].lacks);
        bly_container_free(c);
    }
}

/* A filter of only its five final bytes has no key and is not listed. */
static void test_table_of_nothing(void **state)
{
    (void)state;
    const table t = { .version = 5, .name = FULL, .filter = "ff00060000" };
    made m;
    make_table(&m, &t);
    bly_container *c = opened(&m);
    assert_int_equal(bly_container_contents(c)->n, 0);
    assert_int_equal(bly_container_contents(c)->groups, 1);
    bly_container_free(c);
}

/* LevelDB has one filter for each 2^b bytes before its filters; blocks behind
 * the last one may hold any key. For 16 bytes, b = 4 needs one and b = 3
 * two. */
static void test_blocks_uncovered(void **state)
{
    (void)state;
    static const struct { const char *filter; size_t groups, n; } blocks[] = {
        { "000000000000000004", 1, 0 },
        { "000000000000000003", 2, 1 },
        { "00000000000000000000000003", 2, 0 },
        { "00000000000000000000000002", 3, 1 },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const table t = { .sum = 1, .name = BLOCKS,
                          .filter = blocks[i].filter };
        made m;
        make_table(&m, &t);
        bly_container *c = opened(&m);
        const bly_contents *is = bly_container_contents(c);
        assert_int_equal(is->n, blocks[i].n);
        assert_int_equal(is->groups, blocks[i].groups);
        if (is->n > 0) {
            assert_null(is->filters->format);
            assert_int_equal(is->filters->group, blocks[i].groups - 1);
        }
        bly_container_free(c);
    }
    const table none = { .sum = 1, .name = BLOCKS, .filter = "000000000b",
                         .empty = true };
    made m;
    make_table(&m, &none);
    bly_container *c = opened(&m);
    assert_int_equal(bly_container_contents(c)->n, 0);
    bly_container_free(c);
}

static void test_tables_refused(void **state)
{
    (void)state;
    const table t = { .sum = 1, .version = 5, .name = FULL };
    const table blocks = { .version = 5, .name = BLOCKS };
    const table next = { .sum = 1, .version = 8, .name = FULL };
    const table sum = { .sum = 9, .version = 5, .name = FULL };
    const table own = { .sum = 4, .version = 6, .name = FULL, .own = 9 };
    made m;
    make_table(&m, &next);
    refused(&m, BLY_EVERSION, "format_version=7");
    make_table(&m, &sum);
    refused(&m, BLY_ECORRUPT, "kind of its checksums");
    make_table(&m, &own);
    m.bytes[m.n - 53 + 9] ^= 1;
    refused(&m, BLY_ECORRUPT, "checksum does not match its end");
    make_table(&m, &t);
    m.bytes[20] ^= 1;                               /* in the filter         */
    refused(&m, BLY_ECORRUPT, "checksum does not match the block at byte 16");
    make_table(&m, &blocks);
    m.bytes[16 + 3 * 26 + 3] = 1;                   /* its end               */
    refused(&m, BLY_ECORRUPT, "a filter ends before it begins");
}

/* ---- Damage ------------------------------------------------------------- */

/* Whatever a file claims, each listed filter lies within it, and each one that
 * opens can be queried. */
static void look_at(const made *m)
{
    bly_container *c = NULL;
    save(m);
    bly_status status = bly_container_open(&c, PATH, NULL);
    if (status < 0) {
        assert_true(status == BLY_ECORRUPT || status == BLY_EFORMAT
                    || status == BLY_EVERSION);
        assert_true(strlen(bly_why()) > 20);
        return;
    }
    const bly_contents *is = bly_container_contents(c);
    for (size_t i = 0; i < is->n; i++) {
        const bly_contained *one = &is->filters[i];
        bly_filter *filter = NULL;
        assert_true(one->group < is->groups);
        assert_true((one->format == NULL) == (one->lacks != NULL));
        assert_true(strlen(one->column) < m->n);
        if (one->format != NULL) {
            assert_true(one->offset <= m->n
                        && one->bytes <= m->n - one->offset);
            if (bly_container_filter(&filter, c, i, NULL) >= 0)
                (void)bly_contains(filter, "a1", 2);
        }
        bly_free(filter);
    }
    bly_container_free(c);
}

/* Cuts the file anywhere but keeps its end in place, and changes each byte
 * behind `from` in four other ways. */
static void damage_all(const made *good, size_t from)
{
    static const uint8_t others[] = { 0x00, 0x01, 0x80, 0xFF };
    made m;
    for (size_t n = 0; n < good->n; n += n + 200 < good->n ? 7 : 1) {
        m = *good;
        m.n = n;
        look_at(&m);
        if (n < 60)
            continue;
        memcpy(m.bytes + n - 53, good->bytes + good->n - 53, 53);
        look_at(&m);
    }
    for (size_t i = from; i < good->n; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            m = *good;
            m.bytes[i] ^= others[k] == 0 ? 0x10 : others[k];
            look_at(&m);
            m.bytes[i] = others[k];
            look_at(&m);
        }
}

static void test_damaged_parquet(void **state)
{
    (void)state;
    made m;
    make_parquet(&m);
    size_t footer = (size_t)m.bytes[m.n - 7] << 8 | m.bytes[m.n - 8];
    damage_all(&m, m.n - 8 - footer);
}

/* Checksums are off, so that the damage is reached. */
static void test_damaged_tables(void **state)
{
    (void)state;
    static const table plain[] = {
        { .version = 5, .name = BLOCKS },
        { .version = 5, .name = FULL },
        { .version = 7, .name = PARTS, .own = 77, .deltas = true },
        { .version = 5, .name = PARTS },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        made m;
        make_table(&m, &plain[i]);
        damage_all(&m, 0);
    }
}

/* The end of a table of version 6 or later states only the metaindex's size. */
static void test_metaindex_too_large(void **state)
{
    (void)state;
    enum { END = 53, SIZE = 13 };
    static const table parts = { .version = 7, .name = PARTS, .own = 77 };
    made m;
    make_table(&m, &parts);
    m.bytes[m.n - END + SIZE + 3] = 0x7F;
    refused(&m, BLY_ECORRUPT, "the metaindex is larger than what precedes the "
                              "end, at byte");
}

/* ---- Memory ------------------------------------------------------------- */

/* Each allocation failure is reported, and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    made m[2];
    make_parquet(&m[0]);
    make_table(&m[1], &tables[8]);
    for (size_t i = 0; i < 2; i++) {
        bly_status status = BLY_ENOMEM;
        save(&m[i]);
        for (size_t most = 0; status == BLY_ENOMEM; most++) {
            scarce b = { .left = most };
            const bly_allocator from = { scarce_allocate, scarce_release, &b };
            bly_container *c = NULL;
            bly_filter *filter = NULL;
            const bly_options options = { .allocator = &from };
            status = bly_container_open(&c, PATH, &options);
            if (status == BLY_OK)
                status = bly_container_filter(&filter, c, 0, &options);
            assert_true(status == BLY_OK || status == BLY_ENOMEM);
            bly_free(filter);
            bly_container_free(c);
            assert_true(b.held == 0 && b.bytes == 0);
            assert_true(most < 100);
        }
    }
}

static void test_other_files(void **state)
{
    (void)state;
    bly_container *c = NULL;
    assert_status(bly_container_open(&c, "none", NULL), BLY_EIO);
    assert_status(bly_container_open(&c, ".", NULL), BLY_EIO);
    assert_status(bly_container_open(&c, "/dev/null", NULL), BLY_EIO);
    assert_non_null(strstr(bly_why(), "regular file"));
    made m = { .n = 0 };
    refused(&m, BLY_EFORMAT, "not a file that contains filters");
    assert_null(bly_container_recognise("PAR1", 4));
    assert_string_equal(bly_container_recognise("....PAR1", 8), "parquet");
    assert_string_equal(bly_container_recognise("....PARE", 8), "parquet");
}

int main(void)
{
#define AT(test) cmocka_unit_test_setup_teardown(test, folder_enter,       \
                                                 folder_leave)
    const struct CMUnitTest tests[] = {
        AT(test_parquet),
        AT(test_parquet_types),
        AT(test_parquet_annotations),
        AT(test_parquet_schema),
        AT(test_parquet_vectors),
        AT(test_parquet_refused),
        AT(test_parquet_chunks_of_nothing),
        AT(test_parquet_depth),
        AT(test_tables),
        AT(test_real_table),
        AT(test_real_partitions),
        AT(test_tables_lack),
        AT(test_table_of_nothing),
        AT(test_blocks_uncovered),
        AT(test_tables_refused),
        AT(test_damaged_parquet),
        AT(test_damaged_tables),
        AT(test_metaindex_too_large),
        AT(test_no_memory),
        AT(test_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
