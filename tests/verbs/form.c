/* form.c - key forms: the bytes of each class against a table, texts that are
 * not keys, the names of forms, and that a filter keeps its form everywhere,
 * without changing another byte.
 */
#include "test.h"
#include "bloomery/form.h"

#include <locale.h>
#include <unistd.h>

#include "bits/casefold.h"
#include "verbs/each.h"

/* ---- Keys --------------------------------------------------------------- */

typedef struct {
    const char *form;
    bly_value   value;
    bly_status  status;
    const char *key;            /* hexadecimal digits, or NULL               */
} form_case;

#define WRITTEN(s)  { .type = BLY_WRITTEN, .data = s, .length = sizeof s - 1 }
#define TEXT(s)     { .type = BLY_TEXT, .data = s, .length = sizeof s - 1 }
#define BYTES(s)    { .type = BLY_BYTES, .data = s, .length = sizeof s - 1 }
#define INTEGER(n)  { .type = BLY_INTEGER, .integer = n }
#define REAL(x)     { .type = BLY_REAL, .real = x }

static const form_case form_cases[] = {
    /* not stated: everything is a key */
    { "", WRITTEN("Ab "), BLY_OK, "416220" },
    { "any", TEXT("7"), BLY_OK, "37" },
    { "any", BYTES("\0\xff"), BLY_OK, "00ff" },
    { "any", INTEGER(7), BLY_OK, "0700000000000000" },
    { "any", REAL(7), BLY_OK, "0700000000000000" },
    { "any", REAL(0.5), BLY_OK, "000000000000e03f" },
    { "any", TEXT(""), BLY_OK, "" },

    { "bytes", BYTES("a\0b"), BLY_OK, "610062" },
    { "bytes", BYTES(""), BLY_OK, "" },
    { "bytes", WRITTEN("7"), BLY_EFORM, NULL },
    { "bytes", TEXT("7"), BLY_EFORM, NULL },
    { "bytes", INTEGER(7), BLY_EFORM, NULL },
    { "hex", WRITTEN("0x00Ff"), BLY_OK, "00ff" },
    { "hex", WRITTEN(" 00 ff\r"), BLY_OK, "00ff" },
    { "hex", WRITTEN("550e8400-e29b"), BLY_OK, "550e8400e29b" },
    { "hex", WRITTEN("00:1B"), BLY_OK, "001b" },
    { "hex", WRITTEN(""), BLY_OK, "" },
    { "hex", WRITTEN("\\00ff"), BLY_OK, "00ff" },
    { "hex", WRITTEN("\\0x00ff"), BLY_OK, "00ff" },
    { "hex", WRITTEN("\\\\00ff"), BLY_EPARAM, NULL },
    { "hex", WRITTEN("00\\ff"), BLY_EPARAM, NULL },
    { "hex", WRITTEN("\\"), BLY_EPARAM, NULL },
    { "hex", WRITTEN("0"), BLY_EPARAM, NULL },
    { "hex", WRITTEN("00-"), BLY_EPARAM, NULL },
    { "hex", WRITTEN("0g"), BLY_EPARAM, NULL },
    { "hex", BYTES("\x01\x02"), BLY_OK, "0102" },
    { "hex", TEXT("00ff"), BLY_EFORM, NULL },

    { "text", WRITTEN("Ab \r"), BLY_OK, "4162200d" },
    { "text", TEXT("7"), BLY_OK, "37" },
    { "text", BYTES("7"), BLY_EFORM, NULL },
    { "text", INTEGER(7), BLY_EFORM, NULL },
    { "text", REAL(7), BLY_EFORM, NULL },
    { "text:case=lower", TEXT("aZ@[\xc3\x84"), BLY_OK, "617a405bc384" },
    { "text:case=upper", TEXT("aZ`{\xc3\xa4"), BLY_OK, "415a607bc3a4" },
    { "text:trim", TEXT(" \tA b\t"), BLY_OK, "412062" },
    { "text:trim", TEXT(" \t "), BLY_OK, "" },
    { "text:case=lower,trim", WRITTEN(" AB "), BLY_OK, "6162" },
    { "text:trim,join=tab", WRITTEN("\tb"), BLY_OK, "0962" },
    { "text:keep-cr", WRITTEN("a\r"), BLY_OK, "610d" },

    { "number", WRITTEN("7"), BLY_OK, "0700000000000000" },
    { "number", WRITTEN(" 7.0 "), BLY_OK, "0700000000000000" },
    { "number", WRITTEN("9007199254740993.00"), BLY_OK, "0100000000002000" },
    { "number", WRITTEN("100"), BLY_OK, "6400000000000000" },
    { "number", WRITTEN("-.0"), BLY_OK, "0000000000000000" },
    { "number", WRITTEN("."), BLY_EPARAM, NULL },
    { "number", WRITTEN("-1"), BLY_OK, "ffffffffffffffff" },
    { "number", WRITTEN("1e3"), BLY_OK, "e803000000000000" },
    { "number", WRITTEN("0.5"), BLY_OK, "000000000000e03f" },
    { "number", WRITTEN("18446744073709551615"), BLY_OK, "000000000000f043" },
    { "number", INTEGER(7), BLY_OK, "0700000000000000" },
    { "number", REAL(7), BLY_OK, "0700000000000000" },
    { "number", WRITTEN(""), BLY_EPARAM, NULL },
    { "number", WRITTEN("1,5"), BLY_EPARAM, NULL },
    { "number", WRITTEN("7 8"), BLY_EPARAM, NULL },
    { "number", WRITTEN("7\0"), BLY_EPARAM, NULL },
    { "number", TEXT("7"), BLY_EFORM, NULL },
    { "number", BYTES("7"), BLY_EFORM, NULL },

    { "int32", WRITTEN("-2"), BLY_OK, "feffffff" },
    { "int32", WRITTEN("4294967295"), BLY_OK, "ffffffff" },
    { "int32", WRITTEN("4294967296"), BLY_EPARAM, NULL },
    { "int32", WRITTEN("-2147483649"), BLY_EPARAM, NULL },
    { "int32", INTEGER(-2), BLY_OK, "feffffff" },
    { "int32", INTEGER(INT64_C(4294967296)), BLY_EPARAM, NULL },
    { "int32", REAL(5), BLY_OK, "05000000" },
    { "int32", REAL(5.5), BLY_EPARAM, NULL },
    { "int64", WRITTEN("18446744073709551615"), BLY_OK, "ffffffffffffffff" },
    { "int64", WRITTEN("18446744073709551616"), BLY_EPARAM, NULL },
    { "int64", INTEGER(INT64_MIN), BLY_OK, "0000000000000080" },
    { "int64", REAL(0x1p63), BLY_EPARAM, NULL },
    { "int64", REAL((double)NAN), BLY_EPARAM, NULL },
    { "int64", TEXT("5"), BLY_EFORM, NULL },

    { "float", WRITTEN("0.5"), BLY_OK, "0000003f" },
    { "float", INTEGER(1), BLY_OK, "0000803f" },
    { "double", WRITTEN("0.5"), BLY_OK, "000000000000e03f" },
    { "double", REAL(1), BLY_OK, "000000000000f03f" },
    { "double", INTEGER(INT64_C(9007199254740993)), BLY_EPARAM, NULL },
    { "double", INTEGER(INT64_MAX), BLY_EPARAM, NULL },
    { "double", WRITTEN("x"), BLY_EPARAM, NULL },

    { "utf16", TEXT("a\xc3\xa4"), BLY_OK, "6100e400" },
    { "utf16", WRITTEN("\xf0\x9f\x98\x80"), BLY_OK, "3dd800de" },
    { "utf16:case=lower,trim", WRITTEN(" A"), BLY_OK, "6100" },
    { "utf16", WRITTEN("\xc3"), BLY_EPARAM, NULL },
    { "utf16", BYTES("a"), BLY_EFORM, NULL },
    { "utf16:case=upper", TEXT("a\xc3\xa4"), BLY_OK, "4100e400" },
};

static void form_hex(char *to, bly_key key)
{
    const uint8_t *bytes = key.data;
    *to = '\0';
    for (size_t i = 0; i < key.length; i++)
        sprintf(to + 2 * i, "%02x", bytes[i]);
}

static uint64_t form_named(const char *text)
{
    uint64_t form = 0;
    if (bly_form_read(&form, text) != BLY_OK)
        fail_msg("%s: %s", text, bly_why());
    return form;
}

/* Uses a buffer of exact size, so that sanitizers see overruns. */
static void form_check(const form_case *c)
{
    uint64_t form = form_named(c->form);
    size_t bytes = bly_form_room(form, c->value.length);
    uint8_t *room = malloc(bytes > 0 ? bytes : 1);
    bly_key key = { NULL, 12345 };
    char got[128];
    assert_non_null(room);
    bly_status status = bly_form_key(&key, form, &c->value, room);
    if (status != c->status)
        fail_msg("%s: status %d, not %d", c->form, (int)status,
                 (int)c->status);
    if (c->key == NULL) {
        assert_int_equal(key.length, 12345);
    } else {
        form_hex(got, key);
        assert_string_equal(got, c->key);
    }
    free(room);
}

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof form_cases / sizeof form_cases[0]; i++)
        form_check(&form_cases[i]);
}

/* Folding makes text longer, within the promised room. Without ICU it is an
 * error, even for ASCII. */
static void test_folded_keys(void **state)
{
    (void)state;
    static const struct { const char *form; bly_value value; const char *key; }
    folded[] = {
        { "text:case=fold", TEXT("\xce\x90\xce\x90"),
          "ceb9cc88cc81ceb9cc88cc81" },
        { "utf16:case=fold", TEXT("\xce\x90\xce\x90"),
          "b90308030103b90308030103" },
        { "text:case=fold,trim", WRITTEN(" STRASSE\t"), "73747261737365" },
        { "text:case=fold", WRITTEN("Stra\xc3\x9f" "e"), "73747261737365" },
        { "text:case=fold", WRITTEN(""), "" },
        { "text:case=fold", WRITTEN("\xc3\x84"), "c3a4" },
        { "text:case=fold", WRITTEN("\xc4"), NULL },
    };
    for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++) {
        uint64_t form = form_named(folded[i].form);
        uint8_t *room = malloc(bly_form_room(form, folded[i].value.length));
        bly_key key;
        char got[64];
        bly_status status = bly_form_key(&key, form, &folded[i].value, room);
        if (status == BLY_OK)
            form_hex(got, key);
        free(room);
        if (casefold_lacks() != NULL) {
            assert_said(status, BLY_EUNSUPPORTED);
            assert_non_null(strstr(bly_why(), casefold_lacks()));
        } else if (folded[i].key == NULL) {
            assert_said(status, BLY_EPARAM);
        } else {
            assert_said(status, BLY_OK);
            assert_string_equal(got, folded[i].key);
        }
    }
    assert_true(bly_form_room(form_named("text:case=fold"), SIZE_MAX / 2)
                == SIZE_MAX);
}

/* Numbers do not depend on the locale. */
static void test_numbers_in_another_locale(void **state)
{
    (void)state;
    static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8",
                                           "fr_FR.UTF-8", "fr_FR.utf8" };
    bool there = false;
    for (size_t i = 0; i < 4 && !there; i++)
        there = setlocale(LC_NUMERIC, locales[i]) != NULL;
    if (!there)
        skip();
    form_check(&(form_case){ "double", WRITTEN("0.5"), BLY_OK,
                             "000000000000e03f" });
    form_check(&(form_case){ "double", WRITTEN("0,5"), BLY_EPARAM, NULL });
    setlocale(LC_NUMERIC, "C");
}

/* ---- Names -------------------------------------------------------------- */

/* Returns the key of a written number, or false. */
static bool form_of_written(unsigned char key[8], const char *text)
{
    bly_value value = { .type = BLY_WRITTEN, .data = text,
                        .length = strlen(text) };
    bly_key made;
    bly_status status = bly_form_key(&made, BLY_KEYS_NUMBER, &value, key);
    if (status == BLY_OK)
        memmove(key, made.data, 8);
    return status == BLY_OK;
}

/* A number of any length has the key of the nearest double. */
static void test_long_numbers_are_their_doubles(void **state)
{
    (void)state;
    enum { ROOM = 4000 };
    static char text[ROOM + 64];
    static const char *const halves[] = {
        "2.4703282292062327208299439643411068618252990130716238221279284125033"
        "7753635104375932649918180817996189898282347722858865463328355177969898"
        "1993873980053909390631503565951557022639229085839244910518443593180284"
        "9936536152500319370457678249219365623669863658480757001585769269903706"
        "3119282795585513329278343384093519780155312465972635795746227664652728"
        "2722005637400648549997709659947045402082816622623785739345073633900796"
        "7761930577506740176324672367686446228628620374664020116430434264480090"
        "0e-324", "9007199254740992.99999999999999" };
    unsigned char key[8], want[8];
    for (uint64_t i = 0; i < test_work(20000, 2000, 200); i++) {
        size_t n = 300 + test_random(1, 3 * i) % (ROOM - 300);
        for (size_t j = 0; j < n; j++)
            text[j] = (char)('0' + test_random(2, i * ROOM + j) % 10);
        if (i % 3 == 0)
            memset(text, '0', n - 1);
        if (i % 5 < 2)
            text[0] = '-';
        if (i % 7 != 0)
            text[1 + test_random(3, i) % (n - 1)] = '.';
        text[n] = '\0';
        if (i % 2 == 0)
            snprintf(text + n, 64, "e%lld",
                     (long long)(test_random(4, i) % 6000) - 3000);
        bly_real_key(want, strtod(text, NULL));
        if (!form_of_written(key, text) || memcmp(key, want, 8) != 0)
            fail_msg("number %llu has another key: %.60s…",
                     (unsigned long long)i, text);
    }
    /* Near the middle of two doubles the last digit counts. */
    for (size_t i = 0; i < 2; i++)
        for (int last = 0; last < 2; last++) {
            size_t n = strcspn(halves[i], "e"), zeros = 1000;
            memcpy(text, halves[i], n);
            memset(text + n, '0', zeros);
            text[n + zeros] = (char)('0' + last);
            strcpy(text + n + zeros + 1, halves[i] + n);
            bly_real_key(want, strtod(text, NULL));
            assert_true(form_of_written(key, text));
            assert_memory_equal(key, want, 8);
        }
}

static void test_what_is_no_long_number(void **state)
{
    (void)state;
    static const char *const ends[] = { "x", ".1.", "e", "e+", "e 1", "e1x",
        "e-", " 1", "e1.5", "e00000000000000000000000000000000001" };
    static char text[2000];
    unsigned char key[8];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        memset(text, '1', 1000);
        text[500] = '.';
        strcpy(text + 1000, ends[i]);
        assert_false(form_of_written(key, text));
    }
    memset(text, '.', 1000);
    text[1000] = '\0';
    assert_false(form_of_written(key, text));
    memset(text, 'n', 1000);
    assert_false(form_of_written(key, text));
}

static void test_every_form_has_a_name(void **state)
{
    (void)state;
    size_t forms = 0;
    for (uint64_t form = 0; form <= UINT16_MAX; form++) {
        char text[BLY_FORM_TEXT];
        if (bly_form_check(form) != BLY_OK)
            continue;
        forms++;
        assert_ptr_equal(bly_form_write(text, form), text);
        assert_in_range(strlen(text), 3, BLY_FORM_TEXT - 1);
        assert_int_equal(form_named(text), form);
    }
    assert_int_equal(forms, 11 + 2 * 128);
    assert_status(bly_form_check(UINT64_C(1) << 32), BLY_EPARAM);
}

static void test_what_is_no_name(void **state)
{
    (void)state;
    static const char *const none[] = {
        "Text", "text:", "text:trim,", "text:trim,trim", ":trim", "text,trim",
        "bytes:trim", "number:case=lower", "any:trim", "text:case=title",
        "text:case=Fold",
        "text:case=lower,case=upper", "text:trim,,keep-cr", "texts", " text",
        "unknown", "text:join=",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        uint64_t form = 99;
        if (bly_form_read(&form, none[i]) != BLY_EPARAM)
            fail_msg("'%s' is a form", none[i]);
        assert_int_equal(form, 99);
        assert_non_null(strstr(bly_why(), none[i]));
    }
}

static void test_which_are_the_same(void **state)
{
    (void)state;
    assert_true(bly_form_same(BLY_KEYS_HEX, BLY_KEYS_BYTES));
    assert_true(bly_form_same(BLY_KEYS_TEXT, BLY_KEYS_TEXT));
    assert_false(bly_form_same(0, 0));
    assert_false(bly_form_same(0, BLY_KEYS_TEXT));
    assert_false(bly_form_same(BLY_KEYS_TEXT,
                               BLY_KEYS_TEXT | BLY_FORM_LOWER));
    assert_false(bly_form_same(BLY_KEYS_INT64, BLY_KEYS_NUMBER));
}

/* ---- With filters -------------------------------------------------------- */

enum { KEYS = 200, STREAM = 77 };

static const uint64_t FORM = BLY_KEYS_TEXT | BLY_FORM_LOWER | BLY_FORM_TRIM;

static bly_filter *form_filter(const char *kind, uint64_t form)
{
    bly_spec spec = { .capacity = each_room(kind, KEYS), .form = form };
    return each_built(kind, &spec, STREAM, (size_t)spec.capacity);
}

/* Frees both. */
static void form_is(const char *kind, bly_filter *filter, bly_status status)
{
    if (status == BLY_EUNSUPPORTED)
        return;
    each_status(kind, status, BLY_OK);
    bly_info_t stat;
    bly_header header;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    each_true(kind, bly_form_of(filter) == FORM);
    each_status(kind, bly_info(&stat, filter), BLY_OK);
    each_true(kind, stat.form == FORM);
    each_status(kind, bly_peek(&header, image, bytes), BLY_OK);
    each_true(kind, header.form == FORM);
    bly_free(filter);
}

/* Only the form and the header's checksum differ; inner images do not
 * change. */
static void form_one_field(const char *kind, const bly_filter *plain,
                           const bly_filter *stated)
{
    size_t bytes, other;
    const uint8_t *a = bly_image(plain, &bytes), *b = bly_image(stated, &other);
    each_true(kind, bytes == other);
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            each_true(kind, i == 26 || i == 27 || (i >= 120 && i < 128));
    each_true(kind, a[26] == 0 && a[27] == 0);
}

static void form_travels(const char *kind, const bly_kind_info *info)
{
    bly_filter *plain = form_filter(kind, 0), *f = form_filter(kind, FORM);
    bly_filter *other = NULL;
    uint8_t *packed;
    size_t room, bytes;
    char path[64];
    bly_status status;

    (void)info;
    form_one_field(kind, plain, f);
    each_true(kind, bly_form_of(f) == FORM);
    status = bly_copy(&other, f, NULL);
    form_is(kind, other, status);
    status = bly_like(&other, f, NULL);
    form_is(kind, other, status);

    (void)bly_image(f, &room);
    packed = malloc(room);
    assert_non_null(packed);
    each_status(kind, bly_pack(f, packed, room, &bytes), BLY_OK);
    status = bly_unpack(&other, packed, bytes, NULL);
    free(packed);
    form_is(kind, other, status);

    snprintf(path, sizeof path, "verbs-form-%ld.bly", (long)getpid());
    each_status(kind, bly_save(f, path), BLY_OK);
    status = bly_open(&other, path, 0, NULL);
    unlink(path);
    form_is(kind, other, status);

    if (bly_resize(f, 2 * each_room(kind, KEYS)) == BLY_OK)
        each_true(kind, bly_form_of(f) == FORM);
    if (bly_clear(f) == BLY_OK)
        each_true(kind, bly_form_of(f) == FORM);
    bly_free(f);
    bly_free(plain);
}

static void test_forms_travel(void **state)
{
    (void)state;
    each_choice(form_travels);
}

/* Filters combine only if their keys have one form. */
static void form_meets(uint64_t a, uint64_t b, bly_status wanted)
{
    bly_filter *into = form_filter("standard", a);
    bly_filter *other = form_filter("standard", b);
    bly_overlap_t overlap;
    assert_status(bly_unite(into, other), wanted);
    assert_status(bly_intersect(into, other), wanted);
    assert_status(bly_overlap(&overlap, into, other), wanted);
    assert_int_equal(bly_form_of(into), a);
    bly_free(into);
    bly_free(other);
}

static void test_different_forms_do_not_meet(void **state)
{
    (void)state;
    form_meets(0, 0, BLY_OK);
    form_meets(FORM, FORM, BLY_OK);
    form_meets(BLY_KEYS_HEX, BLY_KEYS_BYTES, BLY_OK);
    form_meets(FORM, BLY_KEYS_TEXT, BLY_EMISMATCH);
    assert_non_null(strstr(bly_why(), "text:case=lower,trim"));
    form_meets(0, FORM, BLY_EMISMATCH);
    form_meets(FORM, 0, BLY_EMISMATCH);
    assert_non_null(strstr(bly_why(), "bly_form_set"));
}

static bly_filter *form_empty(uint64_t form)
{
    bly_spec spec = { .capacity = 1000, .form = form };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
    return filter;
}

/* A filter that has no keys and states no form has no keys of another form. */
static void test_empty_filters_meet_all(void **state)
{
    (void)state;
    bly_filter *day = form_empty(FORM), *week = form_empty(0);
    bly_filter *none = form_empty(0);
    bly_overlap_t overlap;
    assert_status(bly_add(day, "one", 3), BLY_OK);
    assert_status(bly_unite(day, none), BLY_OK);
    assert_int_equal(bly_form_of(day), FORM);
    assert_status(bly_overlap(&overlap, none, day), BLY_OK);
    assert_int_equal(bly_form_of(none), 0);
    assert_status(bly_unite(week, day), BLY_OK);
    assert_int_equal(bly_form_of(week), FORM);
    assert_true(each_same(week, day));
    assert_status(bly_intersect(none, day), BLY_OK);
    assert_int_equal(bly_form_of(none), 0);
    assert_status(bly_add(none, "two", 3), BLY_OK);
    assert_status(bly_unite(none, day), BLY_EMISMATCH);
    bly_free(day);
    bly_free(week);
    bly_free(none);
}

static void test_forms_are_stated_once(void **state)
{
    (void)state;
    bly_filter *f = form_filter("standard", 0);
    bly_filter *stated = form_filter("standard", FORM);
    assert_status(bly_form_set(f, UINT64_C(1) << 15), BLY_EPARAM);
    assert_status(bly_form_set(f, 0), BLY_OK);
    assert_status(bly_form_set(f, FORM), BLY_OK);
    assert_status(bly_form_set(f, FORM), BLY_OK);
    assert_status(bly_form_set(f, BLY_KEYS_TEXT), BLY_EMISMATCH);
    assert_status(bly_form_set(f, 0), BLY_EMISMATCH);
    assert_true(each_same(f, stated));
    bly_free(f);
    bly_free(stated);
}

static void test_who_cannot_state_a_form(void **state)
{
    (void)state;
    bly_filter *shared, *wrapped, *f = form_filter("standard", 0);
    bly_filter *other;
    bly_spec spec = { .capacity = 100, .form = FORM };
    size_t bytes;
    const void *image = bly_image(f, &bytes);
    assert_status(bly_new(&other, "guava", &spec), BLY_OK);
    assert_int_equal(bly_form_of(other), 0);
    spec = (bly_spec){ .capacity = 100, .flags = BLY_SHARED };
    assert_status(bly_new(&shared, "standard", &spec), BLY_OK);
    assert_status(bly_form_set(shared, FORM), BLY_EPARAM);
    assert_status(bly_wrap(&wrapped, image, bytes, NULL), BLY_OK);
    assert_status(bly_form_set(wrapped, FORM), BLY_EREADONLY);
    assert_status(bly_form_set(other, FORM), BLY_EUNSUPPORTED);
    spec.form = UINT64_C(1) << 15;
    assert_status(bly_new(&shared, "standard", &spec), BLY_EPARAM);
    bly_free(shared);
    bly_free(wrapped);
    bly_free(other);
    bly_free(f);
}

/* In a mapped file the header is valid at every moment, too. */
static void test_form_of_a_file(void **state)
{
    (void)state;
    bly_filter *f = form_filter("standard", 0), *mapped;
    bly_header header;
    char path[64];
    snprintf(path, sizeof path, "verbs-form-%ld.bly", (long)getpid());
    assert_status(bly_save(f, path), BLY_OK);
    assert_status(bly_open(&mapped, path, BLY_MAP | BLY_WRITE, NULL), BLY_OK);
    assert_status(bly_form_set(mapped, FORM), BLY_OK);
    assert_status(bly_peek_file(&header, path), BLY_OK);
    assert_int_equal(header.form, FORM);
    assert_false(header.sealed);
    assert_status(bly_seal(mapped), BLY_OK);
    bly_free(mapped);
    assert_status(bly_form_set(f, FORM), BLY_OK);
    assert_status(bly_open(&mapped, path, BLY_MAP | BLY_VERIFY, NULL), BLY_OK);
    assert_true(each_same(f, mapped));
    unlink(path);
    bly_free(mapped);
    bly_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_folded_keys),
        cmocka_unit_test(test_numbers_in_another_locale),
        cmocka_unit_test(test_long_numbers_are_their_doubles),
        cmocka_unit_test(test_what_is_no_long_number),
        cmocka_unit_test(test_every_form_has_a_name),
        cmocka_unit_test(test_what_is_no_name),
        cmocka_unit_test(test_which_are_the_same),
        cmocka_unit_test(test_forms_travel),
        cmocka_unit_test(test_different_forms_do_not_meet),
        cmocka_unit_test(test_empty_filters_meet_all),
        cmocka_unit_test(test_forms_are_stated_once),
        cmocka_unit_test(test_who_cannot_state_a_form),
        cmocka_unit_test(test_form_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
