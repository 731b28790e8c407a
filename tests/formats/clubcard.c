/* clubcard.c - tests specific to format `clubcard`: files of the authors' own
 * crates, and invalid files.
 */
#include "test.h"
#include "vectors.h"
#include "clubcard_vectors.h"

#include "bloomery/foreign.h"
#include "image/image.h"
#include "verbs/registry.h"

enum { ROOM = 4096, BEYOND = 120, ID = 32, ENTRY = 52 };

/* ---- Files of the authors ---------------------------------------------- */

/* Makes serial number j of a block as the program did that wrote the files;
 * returns the key's length. */
static size_t clubcard_serial(uint8_t key[64], const clubcard_spec *spec,
                              uint32_t j)
{
    uint64_t x = j * UINT64_C(0x9E3779B97F4A7C15) + spec->issuer;
    size_t tail = spec->length < 4 ? spec->length : 4;
    memset(key, spec->issuer, ID);
    for (size_t i = 0; i < spec->length; i++)
        key[ID + i] = (uint8_t)(x >> (56 - 8 * (i % 8)));
    for (size_t i = 0; i < tail; i++)
        key[ID + spec->length - 1 - i] = (uint8_t)(j >> 8 * i);
    return ID + spec->length;
}

static bool clubcard_bit(const char *digits, uint32_t i)
{
    return vector_digit(digits[i / 4]) >> (3 - i % 4) & 1;
}

/* The serial numbers that the file lists as exceptions. */
static bool clubcard_except(const clubcard_spec *spec, uint32_t j)
{
    return (spec->issuer == 0x44 && (j == 2 || j == 5))
        || (spec->issuer == 0x45 && j == 59);
}

static void clubcard_answers(const bly_filter *filter,
                             const clubcard_spec *spec)
{
    enum { MOST = 20000 + BEYOND };
    static uint8_t text[MOST][64];
    static bly_key keys[MOST];
    static bool present[MOST];
    uint32_t n = spec->keys + BEYOND;
    for (uint32_t j = 0; j < n; j++)
        keys[j] = (bly_key){ text[j], clubcard_serial(text[j], spec, j) };
    bly_keys all = { .n = n, .keys = keys };
    assert_status(bly_contains_many(filter, &all, present), BLY_OK);
    for (uint32_t j = 0; j < n; j++) {
        bool wanted = j < spec->keys
                    ? j < spec->members && !clubcard_except(spec, j)
                    : clubcard_bit(spec->beyond, j - spec->keys);
        if (present[j] != wanted)
            fail_msg("block %02x, number %u", spec->issuer, j);
        assert_int_equal(bly_contains(filter, keys[j].data, keys[j].length),
                         wanted);
    }
}

static void clubcard_all_answers(const char *hex, const clubcard_spec *spec,
                                 size_t n)
{
    static uint8_t bytes[ROOM], strange[ID + 3] = { 0xFA };
    vector v = { bytes, vector_hex(bytes, hex) };
    bly_filter *filter = NULL;
    assert_string_equal(bly_recognise(v.bytes, v.n, v.n), "clubcard");
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    for (size_t i = 0; i < n; i++)
        clubcard_answers(filter, &spec[i]);
    assert_false(bly_contains(filter, strange, sizeof strange));
    assert_true(bly_contains(filter, "short", 5));
    vector_is(filter, &v);
    bly_free(filter);
}

enum { MANY = sizeof clubcard_many / sizeof *clubcard_many,
       EXC = sizeof clubcard_exc / sizeof *clubcard_exc };

static void test_answers_as_the_crate_does(void **state)
{
    (void)state;
    clubcard_all_answers(clubcard_many_v3, clubcard_many, MANY);
    clubcard_all_answers(clubcard_many_v4, clubcard_many, MANY);
}

static void test_exceptions_are_not_members(void **state)
{
    (void)state;
    clubcard_all_answers(clubcard_exc_v3, clubcard_exc, EXC);
    clubcard_all_answers(clubcard_exc_v4, clubcard_exc, EXC);
}

static void test_info(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    vector v = { bytes, vector_hex(bytes, clubcard_many_v4) };
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(vector_open(&filter, &v, "clubcard"), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], MANY);
    assert_int_equal(stat.geometry[1], 2);
    assert_int_equal(stat.geometry[2], 20250614);
    assert_true(fabs(stat.distinct - (5 + 140 + 1200 + 900 + 1))
                < 5 * stat.distinct_sd);
    assert_true(stat.rate > 0 && stat.rate == stat.planned_rate);
    bly_free(filter);
}

/* Groups are written as digits, or as any text, whose SHA-256 is the name. A
 * key without a group may be there. */
static void test_keys_of_groups(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    vector v = { bytes, vector_hex(bytes, clubcard_many_v4) };
    uint8_t key[64];
    char text[2 * ID + 16];
    bly_filter *tab = NULL, *comma = NULL, *whole = NULL;
    size_t n = clubcard_serial(key, &clubcard_many[1], 7) - ID;
    for (size_t i = 0; i < ID; i++)
        snprintf(text + 2 * i, 3, i % 2 ? "%02x" : "%02X", key[i]);
    text[2 * ID] = '\t';
    memcpy(text + 2 * ID + 1, key + ID, n);
    assert_status(vector_open(&tab, &v, "clubcard:keys=tab"), BLY_OK);
    assert_true(bly_contains(tab, text, 2 * ID + 1 + n));
    text[2 * ID] = ',';
    assert_true(bly_contains(tab, text, 2 * ID + 1 + n));
    assert_status(vector_open(&comma, &v, "clubcard:keys=comma"), BLY_OK);
    assert_true(bly_contains(comma, text, 2 * ID + 1 + n));
    text[0] = 'x';
    assert_false(bly_contains(comma, text, 2 * ID + 1 + n));
    assert_true(bly_contains(comma, "", 0));
    assert_true(bly_contains(comma, "no group", 8));
    assert_true(bly_contains(tab, "no,group", 8));
    assert_status(vector_open(&whole, &v, "clubcard"), BLY_OK);
    assert_true(bly_contains(whole, key, ID - 1));
    assert_false(bly_contains(whole, text, ID));
    bly_free(whole);
    bly_free(tab);
    bly_free(comma);
}

/* An image keeps the form of the keys, which the file does not state. */
static void test_keys_in_an_image(void **state)
{
    (void)state;
    enum { FORM = 3 };
    static uint8_t bytes[ROOM], packed[ROOM + BLY_HEADER_BYTES], file[ROOM];
    const bly_kind *kind = registry_find("clubcard", strlen("clubcard"));
    const char *const *forms = kind->options[0].choices;
    vector v = { bytes, vector_hex(bytes, clubcard_many_v4) };
    for (uint64_t form = 0; forms[form] != NULL; form++) {
        bly_filter *filter = NULL, *again = NULL;
        size_t n = 0, m = 0;
        char name[40];
        snprintf(name, sizeof name, "clubcard:keys=%s", forms[form]);
        assert_status(vector_open(&filter, &v, name), BLY_OK);
        assert_status(bly_pack_as(filter, "bloomery", packed, sizeof packed,
                                  &n), BLY_OK);
        assert_status(bly_unpack(&again, packed, n, NULL), BLY_OK);
        assert_int_equal(image_geometry(bly_image(again, NULL), FORM), form);
        assert_status(bly_pack_as(again, "clubcard", file, sizeof file, &m),
                      BLY_OK);
        assert_int_equal(m, v.n);
        assert_memory_equal(file, bytes, m);
        image_set_u64(packed, IMAGE_GEOMETRY + 8 * FORM, form + 1);
        assert_int_equal(kind->check(packed) == BLY_OK,
                         forms[form + 1] != NULL);
        bly_free(again);
        bly_free(filter);
    }
}

/* ---- Hostile files ----------------------------------------------------- */

/* Opens bytes: either they are refused with a line that names a byte, or all
 * verbs end. */
static void clubcard_try(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + 1), key[64];
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    vector v = { copy, n };
    bly_filter *filter = NULL;
    bly_info_t stat;
    (void)bly_recognise(copy, n, n);
    if (vector_open(&filter, &v, "clubcard") == BLY_OK) {
        for (uint32_t i = 0; i < 6; i++)
            (void)bly_contains(filter, key, clubcard_serial(
                               key, i < 3 ? &clubcard_exc[i]
                                          : &clubcard_many[i], i));
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.rate >= 0 && stat.rate <= 1);
        bly_free(filter);
    } else {
        assert_non_null(strstr(bly_why(), "read as a clubcard"));
        assert_non_null(strstr(bly_why(), ": byte "));
    }
    free(copy);
}

static const char *const clubcard_hex[] = {
    clubcard_exc_v3, clubcard_exc_v4, clubcard_many_v3, clubcard_many_v4,
};

static void test_every_truncation(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    for (size_t c = 0; c < 4; c++)
        for (size_t n = vector_hex(bytes, clubcard_hex[c]); n > 0; n--)
            clubcard_try(bytes, n - 1);
}

static void test_every_damaged_byte(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    for (size_t c = 0; c < 4; c++) {
        size_t n = vector_hex(bytes, clubcard_hex[c]);
        unsigned step = c < 2 ? 1 : (unsigned)test_work(5, 17, 85);
        for (size_t i = 0; i < n; i++)
            for (unsigned value = 0; value < 256; value += step) {
                uint8_t was = bytes[i];
                bytes[i] = (uint8_t)value;
                clubcard_try(bytes, n);
                bytes[i] = was;
            }
    }
}

/* Large numbers at every place, of 2 to 8 bytes in either order. */
static void test_numbers_at_their_ends(void **state)
{
    (void)state;
    static const uint64_t ends[] = {
        UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 60,
        (UINT64_C(1) << 61) - 1, UINT64_C(1) << 40, UINT32_MAX,
        UINT64_C(1) << 31, 65537,
    };
    static uint8_t bytes[ROOM];
    for (size_t c = 0; c < 2; c++)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            for (size_t width = 2; width <= 8; width *= 2) {
                size_t n = vector_hex(bytes, clubcard_hex[c]);
                for (size_t at = 0; at + width <= n; at++) {
                    uint8_t was[8];
                    memcpy(was, bytes + at, width);
                    for (size_t i = 0; i < width; i++)
                        bytes[at + (c == 0 ? i : width - 1 - i)]
                            = (uint8_t)(ends[e] >> 8 * i);
                    clubcard_try(bytes, n);
                    memcpy(bytes + at, was, width);
                }
            }
}

/* The file may change after it was checked, while other processes write. */
static void test_a_file_that_changes(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM], was[ROOM];
    uint8_t key[64];
    for (size_t c = 0; c < 4; c++) {
        vector v = { bytes, vector_hex(bytes, clubcard_hex[c]) };
        bly_filter *filter = NULL;
        assert_status(vector_open(&filter, &v, "clubcard"), BLY_OK);
        size_t n;
        uint8_t *image = (uint8_t *)(uintptr_t)bly_image(filter, &n);
        memcpy(was, bytes, v.n);
        for (uint64_t i = 0; i < test_work(20000, 4000, 500); i++) {
            size_t at = (size_t)(test_random(1, i) % v.n);
            image[BLY_HEADER_BYTES + at] = (uint8_t)test_random(2, i);
            for (uint32_t j = 0; j < 4; j++)
                (void)bly_contains(filter, key, clubcard_serial(
                                   key, &clubcard_many[j % MANY], j));
            if (i % 3 == 2)
                memcpy(image + BLY_HEADER_BYTES, was, v.n);
        }
        bly_free(filter);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    static const struct { const char *hex, *says; } wrong[] = {
        { "04", "byte 0: it is cut short" },
        { "0401", "byte 1: it is not 0" },
        { "04000001", "byte 2: it is cut short" },
        { "04000000ffffffff", "byte 4: it is cut short, or has more than" },
        { "0400000000000001" "00", "byte 8: a block is cut short" },
        { "04000000000000004100000000", "byte 8: the columns" },
        { "040000000000000000000000", "byte 9: the columns" },
        { "0400000000000000000000000001", "byte 13: the columns" },
        { "030000000000000000000100000000000000" "2100000000000000",
          "byte 18: a block is cut short" },
    };
    bly_plan_t plan;
    bly_spec spec = { .capacity = 100 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        vector_refused(bytes, vector_hex(bytes, wrong[i].hex), "clubcard",
                       BLY_ECORRUPT, wrong[i].says);
    vector_refused(bytes, vector_hex(bytes, "020000000100"), "clubcard",
                   BLY_EVERSION, "byte 0: its version is 2, not 3 or 4");
    size_t n = vector_hex(bytes, clubcard_many_v4), first = 2 + 2 + 96 + 4;
    memcpy(bytes + first + ENTRY, bytes + first, ID);
    vector_refused(bytes, n, "clubcard", BLY_ECORRUPT,
                   "byte 156: the blocks are not in the order");
    n = vector_hex(bytes, clubcard_many_v4);
    bytes[first + ID + 4] = 65;
    vector_refused(bytes, n, "clubcard", BLY_ECORRUPT, "byte 140: the rank");
    bytes[first + ID + 4] = 64;
    vector_refused(bytes, n, "clubcard", BLY_ECORRUPT,
                   "byte 104: the rank of a block is larger");
    assert_status(bly_plan(&plan, "clubcard", &spec), BLY_EUNSUPPORTED);
}

/* A file without logs and blocks knows nothing. */
static void test_an_empty_file(void **state)
{
    (void)state;
    uint8_t bytes[32];
    vector v = { bytes, vector_hex(bytes, "04000000000000000000000000") };
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(vector_open(&filter, &v, "clubcard"), BLY_OK);
    assert_false(bly_contains(filter, bytes, sizeof bytes));
    assert_true(bly_contains(filter, "any", 3));
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[2], 0);
    bly_free(filter);
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_as_the_crate_does),
        cmocka_unit_test(test_exceptions_are_not_members),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_keys_of_groups),
        cmocka_unit_test(test_keys_in_an_image),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_damaged_byte),
        cmocka_unit_test(test_numbers_at_their_ends),
        cmocka_unit_test(test_a_file_that_changes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_an_empty_file),
    };
    return cmocka_run_group_tests_name("clubcard", tests, NULL, NULL);
}
