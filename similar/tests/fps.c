/* fps.c - the text format of fingerprints: valid files, refusals and their
 * messages, and every cut and change of a small file.
 */
#include "bloomery/similar.h"

#include "test.h"
#include "formats/vectors.h"

static bly_status fps_read(bly_rows **out, const char *text, size_t n)
{
    assert_status(bly_rows_new(out, 0, NULL), BLY_OK);
    return bly_rows_add_fps(*out, text, n);
}

static bly_rows *fps_good(const char *text)
{
    bly_rows *rows = NULL;
    assert_said(fps_read(&rows, text, strlen(text)), BLY_OK);
    return rows;
}

static void fps_bad(const char *text, size_t n, bly_status wanted,
                    const char *says)
{
    bly_rows *rows = NULL;
    test_mark();
    assert_said(fps_read(&rows, text, n), wanted);
    if (strstr(bly_why(), says) == NULL)
        fail_msg("'%s' does not say '%s'", bly_why(), says);
    bly_rows_free(rows);
}

static void fps_is(const bly_rows *rows, uint64_t i, const char *name,
                   const void *bytes)
{
    assert_string_equal(bly_rows_name(rows, i), name);
    assert_memory_equal(bly_rows_at(rows, i), bytes,
                        (size_t)((bly_rows_bits(rows) + 7) / 8));
}

/* The example at the head of similar/library/fps.c: byte 0 first, bit 0
 * lowest. */
static void test_example(void **state)
{
    (void)state;
    bly_rows *rows = fps_good("#FPS1\n#num_bits=16\n#type=example\n"
                              "#software=none=1\n8103\tfirst\n0102\tsecond\n");
    assert_int_equal(bly_rows_count(rows), 2);
    assert_int_equal(bly_rows_bits(rows), 16);
    assert_string_equal(bly_rows_type(rows), "example");
    fps_is(rows, 0, "first", "\x81\x03");
    fps_is(rows, 1, "second", "\x01\x02");
    assert_status(bly_rows_sort(rows), BLY_OK);
    bly_similar_spec spec = { .most = 2, .least = 0.5, .threads = 1 };
    bly_similar out[2];
    size_t found;
    assert_status(bly_similar_find(out, &found, rows, rows, 0, 1, &spec),
                  BLY_OK);
    assert_int_equal(found, 2);
    assert_true(out[1].row == 1 && out[1].similarity == 0.5);
    bly_rows_free(rows);
}

/* Line ends, upper case, extra columns, a last line without its end, a head of
 * only the first line. */
static void test_forms(void **state)
{
    (void)state;
    bly_rows *rows = fps_good("#FPS1\r\n#num_bits=12\r\nfF0a\tone two\tmore\r\n"
                              "0000\t2\tx\ty");
    assert_int_equal(bly_rows_bits(rows), 12);
    assert_null(bly_rows_type(rows));
    fps_is(rows, 0, "one two", "\xFF\x0A");
    fps_is(rows, 1, "2", "\x00\x00");
    bly_rows_free(rows);
    rows = fps_good("#FPS1\n#type=\nAbCd\tx\n");
    assert_int_equal(bly_rows_bits(rows), 16);
    assert_string_equal(bly_rows_type(rows), "");
    fps_is(rows, 0, "x", "\xAB\xCD");
    bly_rows_free(rows);
    rows = fps_good("#FPS1\n#num_bits=16777216");
    assert_int_equal(bly_rows_count(rows), 0);
    assert_int_equal(bly_rows_bits(rows), 16777216);
    bly_rows_free(rows);
    rows = fps_good("");
    assert_int_equal(bly_rows_bits(rows), 0);
    bly_rows_free(rows);
}

/* Lines that arrive in parts are one text, and are numbered throughout. */
static void test_parts(void **state)
{
    bly_rows *rows = NULL;
    (void)state;
    assert_status(bly_rows_new(&rows, 16, NULL), BLY_OK);
    assert_status(bly_rows_add_fps(rows, "#FPS1\n", 6), BLY_OK);
    assert_status(bly_rows_add_fps(rows, NULL, 0), BLY_OK);
    assert_status(bly_rows_add_fps(rows, "8103\tx\n8104\ty\n", 14), BLY_OK);
    assert_status(bly_rows_add_fps(rows, "#num_bits=16\n", 13), BLY_EFORMAT);
    assert_non_null(strstr(bly_why(), "line 4"));
    assert_int_equal(bly_rows_count(rows), 2);
    bly_rows_free(rows);
    assert_status(bly_rows_new(&rows, 16, NULL), BLY_OK);
    assert_status(bly_rows_add_fps(rows, "#FPS1\n#num_bits=8\n", 18),
                  BLY_EMISMATCH);
    bly_rows_free(rows);
}

static void test_refused(void **state)
{
    static const struct { const char *text, *says; } bad[] = {
        { "\n", "line 1 is not '#FPS1'" },
        { "#FPS2\n", "line 1 is not '#FPS1'" },
        { "#FPS10\n", "line 1 is not '#FPS1'" },
        { "8103\tx\n", "line 1 is not '#FPS1'" },
        { "#FPS1\n#num_bits=\n", "line 2: num_bits is not a whole" },
        { "#FPS1\n#num_bits=0\n", "line 2: num_bits is not a whole" },
        { "#FPS1\n#num_bits=-8\n", "line 2: num_bits is not a whole" },
        { "#FPS1\n#num_bits=8 \n", "line 2: num_bits is not a whole" },
        { "#FPS1\n#num_bits=16777217\n", "line 2: num_bits is not a whole" },
        { "#FPS1\n#num_bits=99999999999999999999999\n", "is not a whole" },
        { "#FPS1\n#num_bits=8\n#num_bits=8\n", "line 3 gives num_bits a" },
        { "#FPS1\n#type=a\n#type=a\n", "line 3 gives type a second" },
        { "#FPS1\n#remark\n", "line 2 begins with #" },
        { "#FPS1\n\n", "line 2 is empty" },
        { "#FPS1\n8103\tx\n\n", "line 3 is empty" },
        { "#FPS1\n8103\n", "line 2 has no TAB" },
        { "#FPS1\n8103 x\n", "line 2 has no TAB" },
        { "#FPS1\n8103\t\n", "line 2 has no name" },
        { "#FPS1\n8103\t\tx\n", "line 2 has no name" },
        { "#FPS1\n\tx\n", "line 2 begins with 0 characters" },
        { "#FPS1\n810\tx\n", "line 2 begins with 3 characters" },
        { "#FPS1\n8103\tx\n81\ty\n", "line 3 has 2 digits" },
        { "#FPS1\n8103\tx\n810304\ty\n", "line 3 has 6 digits" },
        { "#FPS1\n#num_bits=24\n8103\tx\n", "line 3 has 4 digits" },
        { "#FPS1\n81g3\tx\n", "line 2 has other characters" },
        { "#FPS1\ng103\tx\n", "line 2 has other characters" },
        { "#FPS1\n 103\tx\n", "line 2 has other characters" },
        { "#FPS1\n#num_bits=15\n0080\tx\n", "line 3 has a bit after" },
        { "#FPS1\n#num_bits=1\n02\tx\n", "line 3 has a bit after" },
        { "#FPS1\n8103\tx\n#type=late\n", "line 3 has no TAB" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fps_bad(bad[i].text, strlen(bad[i].text), BLY_EFORMAT, bad[i].says);
    fps_bad("#FPS1\n81\tx\0y\n", 13, BLY_EFORMAT, "line 2 has a NUL");
    fps_bad("#FPS1\n#type=\0y\n", 15, BLY_EFORMAT, "line 2 has a NUL");
}

static const char fps_small[] =
    "#FPS1\n#num_bits=20\n#type=t\n81030f\tone\r\n000001\ttwo\tmore\n"
    "FFFF0f\tthree\n";

/* Reads from a block of exactly its size, so that overruns are seen. A library
 * that was read can be searched. */
static bool fps_survives(const char *text, size_t n)
{
    char *copy = malloc(n + 1);
    bly_rows *rows = NULL;
    bly_similar out[3];
    size_t found = 0;
    bly_similar_spec spec = { .most = 3, .threads = 1 };
    assert_non_null(copy);
    memcpy(copy + 1, text, n);
    bly_status status = fps_read(&rows, copy + 1, n);
    assert_true(status == BLY_OK || status == BLY_EFORMAT);
    assert_status(bly_rows_sort(rows), BLY_OK);
    if (bly_rows_count(rows) > 0)
        assert_status(bly_similar_find(out, &found, rows, rows, 0, 1, &spec),
                      BLY_OK);
    for (size_t i = 0; i < found; i++)
        assert_true(strlen(bly_rows_name(rows, out[i].row)) > 0);
    bly_rows_free(rows);
    free(copy);
    return status == BLY_OK;
}

static void test_cuts(void **state)
{
    (void)state;
    assert_true(fps_survives(fps_small, sizeof fps_small - 1));
    for (size_t n = 0; n < sizeof fps_small - 1; n++)
        fps_survives(fps_small, n);
}

static void test_damage(void **state)
{
    size_t accepted = 0, refused = 0;
    char text[sizeof fps_small];
    (void)state;
    for (size_t i = 0; i < sizeof fps_small - 1; i++)
        for (unsigned value = 0; value < 256; value++) {
            memcpy(text, fps_small, sizeof text);
            text[i] = (char)value;
            if (fps_survives(text, sizeof fps_small - 1))
                accepted++;
            else
                refused++;
        }
    assert_true(accepted > 0 && refused > 0);
}

/* Parts that end in invalid places cause at worst an error. */
static void test_any_parts(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof fps_small; cut++) {
        bly_rows *rows = NULL;
        bly_status status = fps_read(&rows, fps_small, cut);
        if (status == BLY_OK)
            status = bly_rows_add_fps(rows, fps_small + cut,
                                      sizeof fps_small - 1 - cut);
        assert_true(status == BLY_OK || status == BLY_EFORMAT);
        bly_rows_free(rows);
    }
}

/* A thousand molecules by RDKit, whose file has 167 bits. */
static void test_rdkit(void **state)
{
    (void)state;
    vector v = vector_read("fps/rdkit_maccs167.fps");
    bly_rows *rows = NULL;
    assert_said(fps_read(&rows, (const char *)v.bytes, v.n), BLY_OK);
    assert_int_equal(bly_rows_bits(rows), 167);
    assert_true(bly_rows_count(rows) > 900);
    assert_string_equal(bly_rows_name(rows, 0), "1");
    free(v.bytes);
    bly_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_any_parts),
        cmocka_unit_test(test_rdkit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
