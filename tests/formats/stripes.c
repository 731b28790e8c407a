/* stripes.c - tests of the search for filters in ORC files: several stripes,
 * blocks, types inside types, and lengths that cannot be true.
 *
 * The C++ library of Apache ORC wrote orc-stripes (tests/formats/theirs/), with
 * 45 rows of x (bigint) and s (string), in stripes of 25 and 20 rows and row
 * groups of 10. All other files are written here.
 */
#include "bloomery/container.h"

#include "test.h"
#include "folder.h"
#include "hex.h"

/* Kinds of types, streams and compressions. */
enum {
    BIGINT = 4, STRUCT = 12, ROW_INDEX = 6, FILTERS = 8, NONE = 0, ZLIB = 1
};

enum { MADE = 1 << 18, WORDS = 2 };

/* A buffer being written. */
typedef struct { size_t n; uint8_t bytes[MADE]; } made;

static made *made_new(void)
{
    made *m = malloc(sizeof *m);
    assert_non_null(m);
    m->n = 0;
    return m;
}

static void put(made *m, const void *bytes, size_t n)
{
    assert_true(n <= sizeof m->bytes - m->n);
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void put_byte(made *m, unsigned byte)
{
    put(m, &(uint8_t){ (uint8_t)byte }, 1);
}

static void put_varint(made *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_byte(m, (unsigned)(v & 0x7F) | 0x80);
    put_byte(m, (unsigned)v);
}

/* Fields of messages: a number, and bytes. */
static void put_number(made *m, uint64_t id, uint64_t v)
{
    put_varint(m, id << 3);
    put_varint(m, v);
}

static void put_bytes(made *m, uint64_t id, const void *bytes, size_t n)
{
    put_varint(m, id << 3 | 2);
    put_varint(m, n);
    put(m, bytes, n);
}

/* Puts a message into another as a field, and frees it. */
static void put_message(made *m, uint64_t id, made *inside)
{
    put_bytes(m, id, inside->bytes, inside->n);
    free(inside);
}

/* ---- Files -------------------------------------------------------------- */

/* False numbers of a file. Those of the first line are added to true ones. */
typedef struct {
    uint64_t footer, offset, index, data, end, stream;
    uint64_t rows, block, kind;         /* in place of 1, 256 and FILTERS    */
    const char *says;
} lie;

/* A type with one type inside it, if that is not 0, whose name is "a". */
static void put_type(made *footer, uint64_t kind, uint64_t child)
{
    made *type = made_new();
    put_number(type, 1, kind);
    if (child != 0) {
        put_number(type, 2, child);
        put_bytes(type, 3, "a", 1);
    }
    put_message(footer, 4, type);
}

/* A stripe of one row group and a filter of column 1, without bits. */
static void put_stripe(made *file, made *footer, const lie *l)
{
    uint8_t words[8 * WORDS] = { 0 };
    made *filter = made_new(), *index = made_new(), *end = made_new();
    made *stream = made_new(), *none = made_new(), *encoding = made_new();
    made *said = made_new();
    put_number(filter, 1, 4);
    put_bytes(filter, 3, words, sizeof words);
    put_message(index, 1, filter);
    put_number(stream, 1, l->kind != 0 ? l->kind : FILTERS);
    put_number(stream, 2, 1);
    put_number(stream, 3, index->n + l->stream);
    put_message(end, 1, stream);
    put_message(end, 2, none);
    put_number(encoding, 3, 1);
    put_message(end, 2, encoding);
    put_number(said, 1, file->n + l->offset);
    put_number(said, 2, index->n + l->index);
    put_number(said, 3, l->data);
    put_number(said, 4, end->n + l->end);
    put_number(said, 5, l->rows != 0 ? l->rows : 1);
    put_message(footer, 3, said);
    put(file, index->bytes, index->n);
    put(file, end->bytes, end->n);
    free(index);
    free(end);
}

static void put_footer(made *file, const made *footer, unsigned codec,
                       const lie *l)
{
    made *script = made_new();
    put(file, footer->bytes, footer->n);
    put_number(script, 1, footer->n + l->footer);
    put_number(script, 2, codec);
    put_number(script, 3, l->block != 0 ? l->block : 256);
    put_number(script, 6, 6);
    put_bytes(script, 8000, "ORC", 3);
    put(file, script->bytes, script->n);
    put_byte(file, (unsigned)script->n);
    free(script);
}

static void save(made *file)
{
    remove("file");
    FILE *to = fopen("file", "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file->bytes, 1, file->n, to), file->n);
    assert_int_equal(fclose(to), 0);
    free(file);
}

/* Saves a file with so many stripes, each with the same lie. */
static void save_stripes(unsigned stripes, const lie *l)
{
    made *file = made_new(), *footer = made_new();
    put(file, "ORC", 3);
    put_type(footer, STRUCT, 1);
    put_type(footer, BIGINT, 0);
    put_number(footer, 8, 1);                   /* rows of a row group       */
    for (unsigned i = 0; i < stripes; i++)
        put_stripe(file, footer, l);
    put_footer(file, footer, NONE, l);
    free(footer);
    save(file);
}

/* Saves a file without stripes that has this footer, and frees it. */
static void save_footer(made *footer, unsigned codec, uint64_t block)
{
    const lie none = { .block = block };
    made *file = made_new();
    put(file, "ORC", 3);
    put_footer(file, footer, codec, &none);
    free(footer);
    save(file);
}

static void refused(bly_status wanted, const char *says,
                    const bly_decompressor *with, const bly_options *options)
{
    bly_container *c = NULL;
    if (with == NULL)
        assert_status(bly_container_open(&c, "file", options), wanted);
    else
        assert_status(bly_container_open_with(&c, "file", with, options),
                      wanted);
    if (strstr(bly_why(), says) == NULL)
        fail_msg("'%s' says nothing of '%s'", bly_why(), says);
    assert_null(c);
}

/* ---- Stripes ------------------------------------------------------------ */

static bool row_is_in(const bly_container *c, const bly_contained *one,
                      size_t which, int64_t row)
{
    static const char *const ends[] = { "", "\xC3\xA9", "\xC3\xA9\xC3\xA9" };
    uint64_t x = (uint64_t)(row * 1000003 - 5000000);
    uint8_t number[8];
    char text[32];
    bly_filter *filter = NULL;
    assert_said(bly_container_filter(&filter, c, which, NULL), BLY_OK);
    for (unsigned b = 0; b < 8; b++)
        number[b] = (uint8_t)(x >> 8 * b);
    int n = snprintf(text, sizeof text, "text-%d%s", (int)row, ends[row % 3]);
    bool is = strcmp(one->column, "x") == 0
            ? bly_contains(filter, number, sizeof number)
            : bly_contains(filter, text, (size_t)n);
    bly_free(filter);
    return is;
}

/* Row groups are counted through all stripes, and their places are those of the
 * stripe. */
static void test_two_stripes(void **state)
{
    static const struct { int64_t first, rows, part, parts; } groups[] = {
        { 0, 10, 0, 3 }, { 10, 10, 1, 3 }, { 20, 5, 2, 3 },
        { 25, 10, 0, 2 }, { 35, 10, 1, 2 },
    };
    enum { GROUPS = sizeof groups / sizeof *groups };
    made *file = made_new();
    uint8_t *bytes;
    size_t n;
    bly_container *c = NULL;
    (void)state;
    assert_true(hex_read(TEST_SOURCE_DIR "/tests/formats/theirs/"
                         "orc-stripes.hex", &bytes, &n));
    put(file, bytes, n);
    free(bytes);
    save(file);
    assert_said(bly_container_open(&c, "file", NULL), BLY_OK);
    const bly_contents *is = bly_container_contents(c);
    assert_int_equal(is->groups, GROUPS);
    assert_int_equal(is->n, 2 * GROUPS);
    for (size_t i = 0; i < is->n; i++) {
        const bly_contained *one = &is->filters[i];
        assert_true(one->group < GROUPS);
        assert_int_equal(one->keys, groups[one->group].rows);
        assert_int_equal(one->part, groups[one->group].part);
        assert_int_equal(one->parts, groups[one->group].parts);
        for (int64_t k = 0; k < groups[one->group].rows; k++)
            assert_true(row_is_in(c, one, i, groups[one->group].first + k));
    }
    assert_true(is->filters[0].offset < is->filters[is->n - 1].offset);
    bly_container_free(c);
}

static void test_lies(void **state)
{
    static const lie lies[] = {
        { .footer = 1 << 20, .says = "impossible lengths" },
        { .footer = UINT64_MAX / 2, .says = "impossible lengths" },
        { .block = (1 << 23) + 1, .says = "impossible lengths" },
        { .offset = 1 << 20, .says = "a stripe is not where" },
        { .offset = UINT64_MAX / 2, .says = "a stripe is not where" },
        { .offset = UINT64_MAX, .says = "a stripe is not where" },
        { .index = 1 << 20, .says = "a stripe is not where" },
        { .index = UINT64_MAX / 2, .says = "a stripe is not where" },
        { .data = UINT64_MAX, .says = "a stripe is not where" },
        { .end = 1 << 20, .says = "a stripe is not where" },
        { .stream = 1, .says = "the footer of a stripe is wrong" },
        { .stream = UINT64_MAX / 2, .says = "the footer of a stripe is wrong" },
        { .rows = 3, .says = "fewer filters than row groups" },
        { .rows = UINT64_MAX, .says = "fewer filters than row groups" },
        { .rows = UINT64_MAX, .kind = ROW_INDEX, .says = "too many rows" },
    };
    const lie none = { .says = NULL };
    bly_container *c = NULL;
    (void)state;
    save_stripes(2, &none);
    assert_said(bly_container_open(&c, "file", NULL), BLY_OK);
    assert_int_equal(bly_container_contents(c)->n, 2);
    bly_container_free(c);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        save_stripes(2, &lies[i]);
        refused(BLY_ECORRUPT, lies[i].says, NULL, NULL);
    }
}

/* A column without filters is listed once per stripe, for all row groups. */
static void test_lacking(void **state)
{
    const lie lacking = { .rows = 3, .kind = ROW_INDEX };
    bly_container *c = NULL;
    (void)state;
    save_stripes(2, &lacking);
    assert_said(bly_container_open(&c, "file", NULL), BLY_OK);
    const bly_contents *is = bly_container_contents(c);
    assert_int_equal(is->groups, 6);
    assert_int_equal(is->n, 2);
    for (size_t i = 0; i < is->n; i++) {
        assert_string_equal(is->filters[i].lacks, "has no filter");
        assert_int_equal(is->filters[i].group, 3 * i);
        assert_int_equal(is->filters[i].parts, 3);
    }
    bly_container_free(c);
}

/* ---- Types -------------------------------------------------------------- */

/* A type is inside one other at most, which comes before it. */
static void test_types_refused(void **state)
{
    static const uint64_t children[][3] = {
        { 0, 0, 1 }, { 1, 1, 0 }, { 1, 0, 1 }, { 1, 3, 0 }, { 2, 2, 0 },
        { 1, UINT64_MAX, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        made *footer = made_new();
        for (size_t k = 0; k < 3; k++)
            put_type(footer, STRUCT, children[i][k]);
        save_footer(footer, NONE, 0);
        refused(BLY_ECORRUPT, "does not follow Protocol Buffers", NULL, NULL);
    }
    save_footer(made_new(), NONE, 0);
    refused(BLY_ECORRUPT, "a part of it has no bytes", NULL, NULL);
}

/* Saves structs inside one another, each with a number as well if `numbers`. */
static void save_deep(uint64_t depth, bool numbers)
{
    made *footer = made_new();
    for (uint64_t i = 0; i < depth; i++) {
        made *type = made_new();
        put_number(type, 1, STRUCT);
        put_number(type, 2, numbers ? 2 * i + 1 : i + 1);
        put_bytes(type, 3, "a", 1);
        if (numbers) {
            put_number(type, 2, 2 * i + 2);
            put_bytes(type, 3, "b", 1);
        }
        put_message(footer, 4, type);
        if (numbers)
            put_type(footer, BIGINT, 0);
    }
    put_type(footer, BIGINT, 0);
    save_footer(footer, NONE, 0);
}

/* The depth of types takes no stack, and the names of their columns take memory
 * only up to the limit. */
static void test_depth(void **state)
{
    const bly_options options = { .memory_limit = 8 << 20 };
    bly_container *c = NULL;
    (void)state;
    save_deep(10000, false);
    assert_said(bly_container_open(&c, "file", &options), BLY_OK);
    bly_container_free(c);
    save_deep(6000, true);
    refused(BLY_ELIMIT, "bytes of memory are needed", NULL, &options);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Decompresses by copying, as far as there is room. */
static bly_status copy_block(void *context, const char *codec, const void *from,
                             size_t n, void *to, size_t room, size_t *used)
{
    (void)codec;
    ++*(size_t *)context;
    if (n > room)
        return BLY_ECORRUPT;
    memcpy(to, from, n);
    *used = n;
    return BLY_OK;
}

/* Saves a footer of one column in blocks of `some` bytes, the last of which is
 * said to have `more`, in a file whose largest block has `block` bytes. */
static void save_blocks(size_t some, size_t more, uint64_t block, bool stored)
{
    made *plain = made_new(), *packed = made_new();
    put_type(plain, STRUCT, 1);
    put_type(plain, BIGINT, 0);
    for (size_t at = 0; at < plain->n; at += some) {
        size_t left = plain->n - at, n = left < some ? left : some;
        size_t head = 2 * (n + (left <= some ? more : 0)) + (stored ? 1 : 0);
        for (unsigned b = 0; b < 3; b++)
            put_byte(packed, (unsigned)(head >> 8 * b & 0xFF));
        put(packed, plain->bytes + at, n);
    }
    free(plain);
    save_footer(packed, ZLIB, block);
}

static void test_blocks(void **state)
{
    size_t calls = 0;
    const bly_decompressor with = { copy_block, &calls };
    const bly_options options = { .memory_limit = 1 << 20 };
    bly_container *c = NULL;
    (void)state;
    for (unsigned stored = 0; stored < 2; stored++)
        for (size_t some = 1; some < 40; some++) {
            calls = 0;
            save_blocks(some, 0, 64, stored != 0);
            assert_said(bly_container_open_with(&c, "file", &with, NULL),
                        BLY_OK);
            assert_true((calls == 0) == (stored != 0));
            bly_container_free(c);
        }
    save_blocks(9, 0, 8, false);
    refused(BLY_ECORRUPT, "cannot be decompressed", &with, NULL);
    save_blocks(9, 1, 64, false);
    refused(BLY_ECORRUPT, "a compressed block is cut short", &with, NULL);
    save_blocks(9, 1 << 22, 64, true);
    refused(BLY_ECORRUPT, "a compressed block is cut short", &with, NULL);
    save_blocks(1, 0, 1 << 23, false);
    refused(BLY_ELIMIT, "bytes of memory are needed", &with, &options);
}

int main(void)
{
#define AT(test) cmocka_unit_test_setup_teardown(test, folder_enter,       \
                                                 folder_leave)
    const struct CMUnitTest tests[] = {
        AT(test_two_stripes),
        AT(test_lies),
        AT(test_lacking),
        AT(test_types_refused),
        AT(test_depth),
        AT(test_blocks),
    };
    return cmocka_run_group_tests_name("stripes", tests, NULL, NULL);
}
