/* orc.c - tests specific to ORC: the filters inside its files, keys of all
 * types, and files that are damaged or compressed.
 *
 * The files are in tests/formats/theirs/. They have 100 rows of two columns, x
 * (bigint) and s (string), in one row group.
 */
#include "test.h"
#include "folder.h"
#include "scarce.h"
#include "vectors.h"

#include "bloomery/container.h"
#include "hex.h"

enum { ROWS = 100, MOST = 4096, END = 8 };

#define FOLDER TEST_SOURCE_DIR "/tests/formats/theirs/"

static vector read_theirs(const char *name)
{
    char path[512];
    vector v = { NULL, 0 };
    snprintf(path, sizeof path, "%s%s.hex", FOLDER, name);
    if (!hex_read(path, &v.bytes, &v.n))
        fail_msg("cannot read %s", path);
    return v;
}

static void save(const uint8_t *bytes, size_t n)
{
    remove("file");
    FILE *file = fopen("file", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static bly_status open_theirs(bly_container **out, const char *name,
                              const bly_decompressor *with)
{
    vector v = read_theirs(name);
    save(v.bytes, v.n);
    free(v.bytes);
    return with == NULL ? bly_container_open(out, "file", NULL)
                        : bly_container_open_with(out, "file", with, NULL);
}

static bool has(const bly_filter *filter, const char *text)
{
    return bly_contains(filter, text, strlen(text));
}

static bly_filter *filter_of(const char *kind)
{
    return vector_new(kind, 100, 0.001);
}

/* ---- Inside files ------------------------------------------------------- */

/* Writes a number as a key, with the lowest byte first. */
static void key_of(uint8_t *key, uint64_t x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        key[i] = (uint8_t)(x >> 8 * i);
}

static void test_inside(void **state)
{
    static const char *const ends[] = { "", "\xC3\xA9", "\xC3\xA9\xC3\xA9" };
    (void)state;
    bly_container *c = NULL;
    bly_filter *filter[2];
    assert_said(open_theirs(&c, "orc-none", NULL), BLY_OK);
    const bly_contents *is = bly_container_contents(c);
    assert_string_equal(is->system, "orc");
    assert_int_equal(is->groups, 1);
    assert_int_equal(is->n, 2);
    assert_string_equal(is->filters[0].column, "x");
    assert_string_equal(is->filters[0].as, "int64");
    assert_string_equal(is->filters[0].format, "orc:type=int");
    assert_string_equal(is->filters[1].column, "s");
    assert_string_equal(is->filters[1].as, "text");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(is->filters[i].keys, ROWS);
        assert_int_equal(is->filters[i].parts, 1);
        assert_said(bly_container_filter(&filter[i], c, i, NULL), BLY_OK);
    }
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t x[8];
        char text[32];
        key_of(x, (uint64_t)((int64_t)i * 1000003 - 50000000), sizeof x);
        snprintf(text, sizeof text, "text-%zu%s", i, ends[i % 3]);
        assert_true(bly_contains(filter[0], x, sizeof x));
        assert_true(has(filter[1], text));
    }
    bly_free(filter[0]);
    bly_free(filter[1]);
    bly_container_free(c);
}

/* Filters that readers must not use are not offered. */
static void test_not_used(void **state)
{
    static const struct { const char *name, *lacks; } files[] = {
        { "orc-old", "has only a filter of an older kind" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bly_container *c = NULL;
        assert_said(open_theirs(&c, files[i].name, NULL), BLY_OK);
        const bly_contents *is = bly_container_contents(c);
        assert_int_equal(is->n, 2);
        assert_null(is->filters[0].format);
        assert_string_equal(is->filters[0].lacks, files[i].lacks);
        bly_container_free(c);
    }
}

static bly_status count_block(void *context, const char *codec,
                              const void *from, size_t n, void *to, size_t room,
                              size_t *made)
{
    (void)from;
    (void)n;
    (void)to;
    ++*(size_t *)context;
    assert_string_equal(codec, "zlib");
    *made = room + 1;
    return BLY_OK;
}

static void test_compressed(void **state)
{
    size_t calls = 0;
    const bly_decompressor with = { count_block, &calls };
    bly_container *c = NULL;
    (void)state;
    assert_said(open_theirs(&c, "orc-zlib", NULL), BLY_EVERSION);
    assert_non_null(strstr(bly_why(), "compressed with zlib"));
    assert_said(open_theirs(&c, "orc-zlib", &with), BLY_ECORRUPT);
    assert_int_equal(calls, 1);
    assert_null(c);
}

/* ---- Keys --------------------------------------------------------------- */

/* A number of 4 bytes is the same key as in 8. */
static void test_numbers(void **state)
{
    (void)state;
    bly_filter *ints = filter_of("orc:type=int");
    bly_filter *reals = filter_of("orc:type=double");
    uint8_t narrow[4], wide[8], f[4], d[8];
    key_of(narrow, (uint32_t)-77, sizeof narrow);
    key_of(wide, (uint64_t)-77, sizeof wide);
    key_of(f, 0x3DCCCCCD, sizeof f);            /* 0.1, rounded to a float   */
    key_of(d, 0x3FB99999A0000000, sizeof d);    /* and the same number       */
    assert_status(bly_add(ints, wide, sizeof wide), BLY_OK);
    assert_true(bly_contains(ints, narrow, sizeof narrow));
    assert_status(bly_add(reals, d, sizeof d), BLY_OK);
    assert_true(bly_contains(reals, f, sizeof f));
    bly_free(ints);
    bly_free(reals);
}

static void test_decimals(void **state)
{
    static const struct { const char *plain, *others[5]; } same[] = {
        { "1.5", { "1.50", "+1.5", "01.500" } },
        { "0", { "0.00", "-0", "000", ".0", "0." } },
        { "-0.3", { "-.3", "-00.30" } },
        { "100", { "100.0", "0100", "100." } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        bly_filter *filter = filter_of("orc:type=decimal");
        bly_filter *texts = filter_of("orc");
        for (size_t j = 0; j < 5 && same[i].others[j] != NULL; j++) {
            const char *other = same[i].others[j];
            assert_true(bly_add(filter, other, strlen(other)) >= 0);
        }
        assert_true(has(filter, same[i].plain));
        assert_false(has(filter, "1e3"));
        assert_false(has(filter, "-"));
        assert_false(has(filter, ""));
        assert_true(bly_add(texts, same[i].plain, strlen(same[i].plain)) >= 0);
        size_t n;
        const uint8_t *a = bly_image(filter, &n);
        const uint8_t *b = bly_image(texts, &n);
        assert_memory_equal(a + BLY_HEADER_BYTES, b + BLY_HEADER_BYTES,
                            n - BLY_HEADER_BYTES);
        bly_free(filter);
        bly_free(texts);
    }
}

static void test_blanks(void **state)
{
    (void)state;
    bly_filter *filter = filter_of("orc:char=5");
    bly_filter *none = NULL;
    const bly_spec spec = { .capacity = 10 };
    assert_status(bly_add(filter, "caf\xC3\xA9 ", 6), BLY_OK);
    assert_true(has(filter, "caf\xC3\xA9"));
    assert_false(has(filter, "caf\xC3\xA9  "));
    assert_status(bly_add(filter, "longer", 6), BLY_OK);
    assert_true(has(filter, "longer"));
    bly_free(filter);
    assert_status(bly_new(&none, "orc:type=int,char=5", &spec), BLY_EPARAM);
}

/* ---- Damage ------------------------------------------------------------- */

static void look_at(const uint8_t *bytes, size_t n)
{
    bly_container *c = NULL;
    save(bytes, n);
    if (bly_container_open(&c, "file", NULL) != BLY_OK)
        return;
    const bly_contents *is = bly_container_contents(c);
    for (size_t i = 0; i < is->n; i++) {
        bly_filter *filter = NULL;
        if (bly_container_filter(&filter, c, i, NULL) == BLY_OK)
            (void)has(filter, "key");
        bly_free(filter);
    }
    bly_container_free(c);
}

/* Cuts the file anywhere, with its end in place or without, and changes each of
 * its bytes. */
static void test_damaged(void **state)
{
    static const uint8_t others[] = { 0x01, 0x80, 0xFF };
    vector v = read_theirs("orc-none");
    uint8_t bytes[MOST];
    (void)state;
    assert_true(v.n <= sizeof bytes);
    memcpy(bytes, v.bytes, v.n);
    for (size_t n = 0; n < v.n; n++) {
        look_at(v.bytes, n);
        if (n < END)
            continue;
        memcpy(bytes + n - END, v.bytes + v.n - END, END);
        look_at(bytes, n);
        memcpy(bytes, v.bytes, v.n);
    }
    for (size_t i = 0; i < v.n; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            bytes[i] = v.bytes[i] ^ others[k];
            look_at(bytes, v.n);
            bytes[i] = v.bytes[i];
        }
    free(v.bytes);
}

static void test_filters_refused(void **state)
{
    static const struct { const char *file, *says; } wrong[] = {
        { "08041a", "cut short" },
        { "18041a08ffffffffffffffff", "not written as they must be" },
        { "08001a08ffffffffffffffff", "the number of hash functions is out" },
        { "08041a07ffffffffffffff", "the number of words is out" },
        { "0884001a08ffffffffffffffff", "not written as they must be" },
        { "08041a10ffffffffffffffff", "cut short" },
        { "0804ffffffffffffffffffff", "are not there" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t file[64];
        size_t n = vector_hex(file, wrong[i].file);
        vector_refused(file, n, "orc", BLY_ECORRUPT, wrong[i].says);
    }
}

/* Each allocation failure is reported, and nothing leaks. */
static void test_no_memory(void **state)
{
    bly_status status = BLY_ENOMEM;
    bly_container *c = NULL;
    (void)state;
    assert_said(open_theirs(&c, "orc-none", NULL), BLY_OK);
    bly_container_free(c);
    for (size_t most = 0; status == BLY_ENOMEM; most++) {
        scarce b = { .left = most };
        const bly_allocator from = { scarce_allocate, scarce_release, &b };
        const bly_options options = { .allocator = &from };
        bly_filter *filter = NULL;
        c = NULL;
        status = bly_container_open(&c, "file", &options);
        if (status == BLY_OK)
            status = bly_container_filter(&filter, c, 1, &options);
        assert_true(status == BLY_OK || status == BLY_ENOMEM);
        bly_free(filter);
        bly_container_free(c);
        assert_true(b.held == 0 && b.bytes == 0);
        assert_true(most < 100);
    }
}

int main(void)
{
#define AT(test) cmocka_unit_test_setup_teardown(test, folder_enter,       \
                                                 folder_leave)
    const struct CMUnitTest tests[] = {
        AT(test_inside),
        AT(test_not_used),
        AT(test_compressed),
        AT(test_numbers),
        AT(test_decimals),
        AT(test_blanks),
        AT(test_damaged),
        AT(test_filters_refused),
        AT(test_no_memory),
    };
    return cmocka_run_group_tests_name("orc", tests, NULL, NULL);
}
