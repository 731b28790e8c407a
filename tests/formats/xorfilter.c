/* xorfilter.c - tests specific to format `xorfilter`: files of that library,
 * byte for byte, and repeated keys.
 */
#include "test.h"
#include "vectors.h"

#include "bloomery/foreign.h"
#include "hex.h"

/* Writes key i of the vectors. */
static size_t xorfilter_key(uint8_t out[8], uint64_t i)
{
    uint64_t key = i * UINT64_C(0x9E3779B97F4A7C15) + 12345;
    for (size_t b = 0; b < 8; b++)
        out[b] = (uint8_t)(key >> 8 * b);
    return 8;
}

/* Returns a filter of the first n keys. */
static bly_filter *xorfilter_of(const char *kind, size_t n)
{
    uint8_t (*bytes)[8] = malloc(n * 8);
    bly_key *list = malloc(n * sizeof *list);
    assert_non_null(bytes);
    assert_non_null(list);
    for (size_t i = 0; i < n; i++)
        list[i] = (bly_key){ bytes[i], xorfilter_key(bytes[i], i) };
    bly_keys keys = { .n = n, .keys = list };
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, kind, NULL, &keys), BLY_OK);
    free(bytes);
    free(list);
    return filter;
}

/* Their file answers as it did there; if all of its bytes are determined, ours
 * begins with the same ones. */
static void xorfilter_is(const char *name, const char *kind, size_t n,
                         bool same)
{
    char path[64];
    snprintf(path, sizeof path, "xorfilter/%s.bin", name);
    vector v = vector_read(path);
    snprintf(path, sizeof path, "xorfilter/%s.probe", name);
    vector said = vector_read(path);
    bly_filter *filter = NULL, *ours = xorfilter_of(kind, n);
    uint8_t key[8];
    assert_status(vector_open(&filter, &v, NULL), BLY_OK);
    for (size_t i = 0; i < said.n && (said.bytes[i] | 1) == '1'; i++)
        assert_int_equal(bly_contains(filter, key, xorfilter_key(key, i)),
                         said.bytes[i] == '1');
    size_t bytes;
    const uint8_t *image = bly_image(ours, &bytes);
    assert_true(bytes - BLY_HEADER_BYTES <= v.n);
    assert_true(v.n - (bytes - BLY_HEADER_BYTES) <= 4);
    if (same)
        assert_memory_equal(image + BLY_HEADER_BYTES, v.bytes,
                            bytes - BLY_HEADER_BYTES);
    bly_free(filter);
    bly_free(ours);
    free(v.bytes);
    free(said.bytes);
}

static void test_their_files(void **state)
{
    (void)state;
    xorfilter_is("xor8_n1000", "xorfilter:type=xor8", 1000, true);
    xorfilter_is("xor16_n1000", "xorfilter:type=xor16", 1000, false);
    xorfilter_is("binary_fuse8_n1000", "xorfilter:type=fuse8", 1000, true);
    xorfilter_is("binary_fuse16_n1000", "xorfilter:type=fuse16", 1000,
                 true);
    xorfilter_is("binary_fuse8_n100000", "xorfilter:type=fuse8", 100000,
                 true);
}

/* Sizes from the catalogue. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n, length, segments; } sizes[] = {
        { 10, 16, 1 }, { 100, 64, 1 }, { 1000, 128, 9 }, { 10000, 512, 23 },
        { 100000, 2048, 56 }, { 1000000, 8192, 136 }, { 10000000, 32768, 342 },
        { 100000000, 131072, 857 },
    };
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_spec spec = { .capacity = sizes[i].n };
        assert_status(bly_plan(&plan, "xorfilter", &spec), BLY_OK);
        assert_int_equal(plan.geometry[1], sizes[i].length);
        assert_int_equal(plan.geometry[2], sizes[i].segments);
        assert_status(bly_plan(&plan, "xorfilter:type=xor8", &spec), BLY_OK);
        assert_int_equal(plan.geometry[1],
                         (uint64_t)(32 + 1.23 * (double)sizes[i].n) / 3);
    }
}

/* Any number of keys, each any number of times. */
static void test_repeated(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "xorfilter:type=xor8", "xorfilter:type=fuse8", "xorfilter:type=fuse16",
    };
    uint64_t hashes[600];
    for (size_t k = 0; k < 3; k++)
        for (size_t different = 1; different <= 300; different += 13)
            for (size_t n = different; n <= 600; n += 97) {
                bly_filter *filter = NULL;
                for (size_t i = 0; i < n; i++)
                    hashes[i] = test_random(40, i % different);
                assert_status(bly_build(&filter, kinds[k], NULL,
                                        &(bly_keys){ .n = n,
                                                     .hashes = hashes }),
                                                     BLY_OK);
                for (size_t i = 0; i < different; i++)
                    assert_true(bly_contains_hash(filter, hashes[i]));
                bly_free(filter);
            }
}

/* A key that mixes to 0 under the first seed, among others and alone. */
static void test_zero(void **state)
{
    (void)state;
    uint64_t hashes[64];
    for (size_t n = 1; n <= 64; n *= 2) {
        bly_filter *filter = NULL;
        for (size_t i = 0; i < n; i++)
            hashes[i] = i < n / 2 + 1
                      ? UINT64_C(0) - UINT64_C(0x6DF6B22537D23467)
                      : test_random(41, i);
        assert_status(bly_build(&filter, "xorfilter", NULL,
                                &(bly_keys){ .n = n, .hashes = hashes }),
                      BLY_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(bly_contains_hash(filter, hashes[i]));
        bly_free(filter);
    }
}

/* Reads a file that Go's `Save` wrote of the first n keys. */
static vector xorfilter_go(const char *name)
{
    char path[512];
    vector v = { NULL, 0 };
    snprintf(path, sizeof path, "%s/tests/formats/theirs/xorfilter-%s.hex",
             TEST_SOURCE_DIR, name);
    if (!hex_read(path, &v.bytes, &v.n))
        fail_msg("cannot read %s", path);
    return v;
}

/* It has all of n keys, and, of the numbers from 7 on, these; -1 ends them. */
static void xorfilter_answers(const vector *v, uint64_t type, size_t n,
                              const int *found)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    uint8_t key[8];
    assert_string_equal(bly_recognise(v->bytes, v->n, v->n), "xorfilter");
    assert_status(vector_open(&filter, v, NULL), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], type);
    for (size_t i = 0; i < n; i++)
        assert_true(bly_contains(filter, key, xorfilter_key(key, i)));
    for (int i = 0; i < 3000; i++) {
        uint16_t number = (uint16_t)(i + 7);
        const uint8_t bytes[2] = { (uint8_t)number, (uint8_t)(number >> 8) };
        assert_int_equal(bly_contains(filter, bytes, 2), i == *found);
        found += i == *found;
    }
    assert_int_equal(*found, -1);
    bly_free(filter);
}

/* Makes Rust's descriptor and fingerprints of a file of Go. */
static void xorfilter_to_rust(vector *v)
{
    memmove(v->bytes + 16, v->bytes + 20, 4);
    memmove(v->bytes + 20, v->bytes + 28, v->n - 28);
    v->n -= 8;
}

static void test_go_and_rust(void **state)
{
    (void)state;
    static const struct { const char *name; uint64_t type; size_t n; } files[]
        = { { "go8", 4, 10 }, { "go8-100", 4, 100 }, { "go16", 5, 10 },
            { "go32", 6, 10 } };
    static const int found[][20] = {
        { 80, 524, 574, 634, 660, 723, 1453, 1516, 1618, 1633, 1653, 1901, 2234,
          2390, 2592, 2597, 2683, 2812, -1 },
        { 44, 457, 540, 606, 673, 675, 703, 754, 1221, 2449, 2484, 2769, 2801,
          -1 },
        { -1 }, { -1 },
    };
    for (size_t i = 0; i < 4; i++) {
        vector v = xorfilter_go(files[i].name);
        xorfilter_answers(&v, files[i].type, files[i].n, found[i]);
        xorfilter_to_rust(&v);
        xorfilter_answers(&v, files[i].type + 3, files[i].n, found[i]);
        free(v.bytes);
    }
}

/* A number that differs is refused, and so is a file that is cut short, but not
 * to half of its cells: it is then one with cells of 8 bits. */
static void test_go_forged(void **state)
{
    (void)state;
    bly_options options = { .format = "xorfilter" };
    for (int rust = 0; rust < 2; rust++) {
        vector v = xorfilter_go("go16");
        bly_filter *filter = NULL;
        if (rust)
            xorfilter_to_rust(&v);
        for (size_t at = 8; at < (rust ? 20u : 28u); at++) {
            v.bytes[at] ^= 1;
            assert_status(bly_unpack(&filter, v.bytes, v.n, &options),
                          BLY_ECORRUPT);
            v.bytes[at] ^= 1;
        }
        size_t half = (v.n + (rust ? 20 : 28)) / 2;
        for (size_t n = 0; n < v.n; n++)
            if (n != half)
                assert_status(bly_unpack(&filter, v.bytes, n, &options),
                              BLY_ECORRUPT);
        free(v.bytes);
    }
}

/* Each type that is built has all keys, and is read as that type. */
static void test_types(void **state)
{
    (void)state;
    static const char *const types[] = { "go8", "go16", "go32", "rust8",
                                         "rust16", "rust32" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char kind[32];
        uint8_t key[8];
        bly_info_t stat;
        size_t bytes;
        snprintf(kind, sizeof kind, "xorfilter:type=%s", types[i]);
        bly_filter *built = xorfilter_of(kind, 1000), *filter = NULL;
        const uint8_t *file = (const uint8_t *)bly_image(built, &bytes)
                            + BLY_HEADER_BYTES;
        assert_status(bly_unpack(&filter, file, bytes - BLY_HEADER_BYTES,
                                 NULL), BLY_OK);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.geometry[0], 4 + i);
        for (size_t j = 0; j < 1000; j++)
            assert_true(bly_contains(filter, key, xorfilter_key(key, j)));
        bly_free(filter);
        bly_free(built);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_files),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_go_and_rust),
        cmocka_unit_test(test_go_forged),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_zero),
    };
    return cmocka_run_group_tests_name("xorfilter", tests, NULL, NULL);
}
