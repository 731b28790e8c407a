/* gcs.c - tests specific to kind `gcs`: its code, bit by bit; the essay's
 * sizes; images that depend only on the set of keys; seeds; forged payloads.
 */
#include "test.h"

#include "base/cpu.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"
#include "verbs/registry.h"

enum { GEOMETRY_BLOCKS, GEOMETRY_WIDTH, GEOMETRY_KEYS, GEOMETRY_SHAPE };

static bly_filter *gcs_built(const char *kind, double rate,
                             const uint64_t *hashes, size_t n)
{
    bly_spec spec = { .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, kind, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes }), BLY_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(bly_contains_hash(filter, hashes[i]));
    return filter;
}

static uint64_t *gcs_keys(uint64_t stream, size_t n)
{
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, i);
    return hashes;
}

static bly_filter *gcs_random(const char *kind, double rate, size_t n)
{
    uint64_t *hashes = gcs_keys(1, n);
    bly_filter *filter = gcs_built(kind, rate, hashes, n);
    free(hashes);
    return filter;
}

/* ---- The code ---------------------------------------------------------- */

/* Forges an image of one block of 64 numbers, k = 2, with this code. */
static uint8_t *gcs_forged(const uint8_t code[8], uint64_t bits, size_t *bytes)
{
    bly_filter *filter = gcs_random("gcs", 0.01, 5);
    *bytes = IMAGE_HEADER + 64 + 8 + 8;
    uint8_t *image = calloc(1, *bytes);
    assert_non_null(image);
    memcpy(image, bly_image(filter, NULL), IMAGE_HEADER);
    bly_free(filter);
    image_set_u64(image, IMAGE_BYTES, *bytes);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * GEOMETRY_BLOCKS, 1);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * GEOMETRY_WIDTH, 64);
    image_set_u64(image, IMAGE_GEOMETRY + 8 * GEOMETRY_SHAPE, 2 | 1 << 8);
    image[IMAGE_HEADER + 8] = (uint8_t)bits;
    memcpy(image + IMAGE_HEADER + 64, code, 8);
    image_seal(image);
    return image;
}

/* Returns, as bits, which of 64 numbers a block of code holds. */
static uint64_t gcs_decoded(const uint8_t code[8], uint64_t bits)
{
    size_t bytes;
    uint8_t *image = gcs_forged(code, bits, &bytes);
    uint64_t asked = 0, there = 0;
    bly_filter *filter = NULL;
    assert_status(bly_wrap(&filter, image, bytes, NULL), BLY_OK);
    for (uint64_t i = 0; asked != UINT64_MAX; i++) {
        uint64_t number = bits_range(hash_mix(test_random(2, i)), 64);
        bool present = bly_contains_hash(filter, test_random(2, i));
        if (asked >> number & 1)
            assert_int_equal(there >> number & 1, present);
        asked |= UINT64_C(1) << number;
        there |= (uint64_t)present << number;
    }
    bly_free(filter);
    free(image);
    return there;
}

/* The essay's picture, and the textbooks' gaps 0, 3, 4, 7, 9, which in Rice's
 * code are 000 011 1000 1011 11001: 19 bits. */
static void test_codes(void **state)
{
    (void)state;
    /* 1 001 1 00001  00 10 00 11, from the lowest bit on */
    const uint8_t picture[8] = { 0x19, 0x12, 0x03 };
    assert_true(gcs_decoded(picture, 18)
                == (1u << 3 | 1u << 12 | 1u << 14 | UINT64_C(1) << 31));
    /* 1 1 01 01 001  10 11 00 11 00; numbers 0, 4, 9, 17, 27 */
    const uint8_t five[8] = { 0x2B, 0x9B, 0x01 };
    assert_true(gcs_decoded(five, 19)
                == (1u | 1u << 4 | 1u << 9 | 1u << 17 | 1u << 27));
    /* with zeros between quotients and remainders */
    const uint8_t padded[8] = { 0x2B, 0x01, 0x00, 0x40, 0x33 };
    assert_true(gcs_decoded(padded, 40)
                == (1u | 1u << 4 | 1u << 9 | 1u << 17 | 1u << 27));
    const uint8_t none[8] = { 0 };
    assert_true(gcs_decoded(none, 64) == 0);
}

/* ---- Sizes ------------------------------------------------------------- */

static double gcs_rice(double p, double k)
{
    double s = pow(1 - p, pow(2, k));
    return k + 1 + s / (1 - s);
}

/* The code has the length of the formula, and the whole image, including the
 * index, takes less than log2(1/rate) + 1.6 bits per key. */
static void test_sizes(void **state)
{
    (void)state;
    TEST_STATISTICS();
    enum { N = 1000000 };
    const double step = (double)test_work(37, 9, 9) / 100;
    for (double rate = 0.3; rate > 2e-7; rate *= step) {
        bly_filter *filter = gcs_random("gcs", rate, N);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        double k = (double)(stat.geometry[GEOMETRY_SHAPE] & 255);
        double grain = (double)(stat.geometry[GEOMETRY_SHAPE] >> 8 & 0xFFFF);
        double blocks = (double)stat.geometry[GEOMETRY_BLOCKS];
        double bits = 8.0 * (double)stat.bytes / N;
        double index = (512.0 / 56 + (grain - 1) / 2) * blocks / N;
        double numbers = rate / -log1p(-rate);
        assert_true(bits < log2(1 / rate) + 1.6);
        assert_true(fabs(bits - index - numbers * gcs_rice(rate, k)) < 0.06);
        for (double other = 0; other < 30; other++)
            assert_true(gcs_rice(rate, k) <= gcs_rice(rate, other) + 1e-9);
        bly_plan_t plan;
        bly_spec spec = { .capacity = N, .rate = rate };
        assert_status(bly_plan(&plan, "gcs", &spec), BLY_OK);
        assert_true(stat.bytes <= plan.bytes);
        assert_true((double)plan.bytes < 1.005 * (double)stat.bytes);
        bly_free(filter);
    }
}

/* The essay's table. */
static void test_table(void **state)
{
    (void)state;
    static const struct { double rate, bits, keys; } rows[] = {
        { 0.05, 5.91, 32 }, { 0.01, 8.24, 52 }, { 0.001, 11.56, 139 },
        { 0.0001, 14.88, 122 }, { 1e-6, 21.52, 174 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 100000000, .rate = rows[i].rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "gcs", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].bits, 0.001);
        assert_close(1e8 / (double)plan.geometry[GEOMETRY_BLOCKS],
                     rows[i].keys, 1e-5);
        assert_close(plan.rate, rows[i].rate, 1e-3);
    }
}

static void test_larger_blocks_are_smaller(void **state)
{
    (void)state;
    static const unsigned keys[] = { 16, 17, 40, 128, 512, 1024 };
    double last = 1e9;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "gcs:block=%u", keys[i]);
        bly_filter *filter = gcs_random(kind, 0.001, 200000);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.bits_per_key < last);
        last = stat.bits_per_key;
        bly_free(filter);
    }
    assert_true(last < log2(1000) + 1.55);
}

/* Every small number of keys, high rates and low. */
static void test_few_keys(void **state)
{
    (void)state;
    static const double rates[] = { 0.9999, 0.6, 0.03, 1e-5, 1e-12, 1e-16 };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t n = 1; n < 400; n = n < 70 ? n + 1 : n + 37) {
            uint64_t *hashes = gcs_keys(n, n);
            bly_free(gcs_built("gcs", rates[r], hashes, n));
            free(hashes);
        }
}

/* ---- Sets -------------------------------------------------------------- */

/* Builds with `threads` threads; the caller frees the image. */
static uint8_t *gcs_by(unsigned threads, const uint64_t *hashes, size_t n,
                       size_t *bytes)
{
    bly_spec spec = { .capacity = n, .rate = 0.01 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "gcs", &spec), BLY_OK);
    uint8_t *image = calloc(1, plan.bytes);
    kind_bench bench = { aligned_alloc(64, (plan.scratch + 63) / 64 * 64),
                         plan.scratch, threads };
    kind_keys keys = { .hashes = hashes, .n = n };
    assert_true(image != NULL && bench.scratch != NULL);
    image_format(image, &plan, bly_kind_gcs.version, 0, "xxh3");
    assert_status(bly_kind_gcs.building->build(image, &keys, &bench), BLY_OK);
    *bytes = image_u64(image, IMAGE_BYTES);
    free(bench.scratch);
    return image;
}

/* The order of keys and the number of threads leave no trace. */
static void test_canonical(void **state)
{
    (void)state;
    enum { N = 300000 };
    uint64_t *hashes = gcs_keys(4, N);
    size_t bytes, again;
    uint8_t *image = gcs_by(1, hashes, N, &bytes);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        for (size_t i = 0; i < N / 2; i++) {
            uint64_t other = hashes[i];
            hashes[i] = hashes[N - 1 - i * threads % (N / 2)];
            hashes[N - 1 - i * threads % (N / 2)] = other;
        }
        uint8_t *same = gcs_by(threads, hashes, N, &again);
        assert_int_equal(bytes, again);
        assert_memory_equal(image, same, bytes);
        free(same);
    }
    free(image);
    free(hashes);
}

static void test_repeats(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const size_t kinds[] = { 1, 2, 3, 1000, N / 2, N };
    uint64_t *hashes = gcs_keys(5, N);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < N; j++)
            hashes[j] = test_random(5, j % kinds[i]);
        bly_filter *filter = gcs_built("gcs", 0.001, hashes, N);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.distinct == (double)kinds[i]);
        assert_true(stat.rate <= stat.planned_rate * 1.01);
        bly_free(filter);
    }
    free(hashes);
}

/* Inverts the mix. */
static uint64_t gcs_unmix(uint64_t v)
{
    uint64_t back[2] = { UINT64_C(0x94D049BB133111EB),
                         UINT64_C(0xBF58476D1CE4E5B9) };
    for (size_t i = 0; i < 2; i++) {
        uint64_t inverse = back[i];
        for (int j = 0; j < 6; j++)
            inverse *= 2 - back[i] * inverse;
        back[i] = inverse;
    }
    v ^= v >> 31 ^ v >> 62;
    v *= back[0];
    v ^= v >> 27 ^ v >> 54;
    v *= back[1];
    return v ^ v >> 30 ^ v >> 60;
}

/* Keys whose mixes are consecutive crowd a few blocks, and get other
 * numbers. */
static void test_crowds_are_dispersed(void **state)
{
    (void)state;
    enum { N = 50000 };
    const uint64_t asked = test_work(1000000, 1000000, 100000);
    uint64_t *hashes = gcs_keys(6, N);
    for (unsigned shift = 40; shift <= 46; shift += 2) {
        for (uint64_t i = 0; i < N; i++) {
            hashes[i] = gcs_unmix(i << shift);
            assert_true(hash_mix(hashes[i]) == i << shift);
        }
        bly_filter *filter = gcs_built("gcs", 0.01, hashes, N);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.geometry[GEOMETRY_SHAPE] >> 48 > 0);
        uint64_t hits = 0;
        for (uint64_t i = 0; i < asked; i++)
            hits += bly_contains_hash(filter, test_random(7, i));
        assert_within(hits, asked, stat.rate, 0);
        bly_free(filter);
    }
    free(hashes);
}

/* ---- Forged payloads --------------------------------------------------- */

/* Single and batch lookups agree at every vector level. */
static void gcs_same_answers(const bly_filter *filter, const uint64_t *hashes,
                             size_t n)
{
    bool *present = malloc(2 * n), *other = present + n;
    assert_non_null(present);
    cpu_limit(CPU_PORTABLE);
    bly_contains_hashes(filter, hashes, n, present);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        cpu_limit(level);
        memset(other, 7, n);
        bly_contains_hashes(filter, hashes, n, other);
        assert_memory_equal(present, other, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(present[i], bly_contains_hash(filter, hashes[i]));
    }
    free(present);
}

/* Remainders of few bits and many, blocks of few keys and many: rows of 32 keys
 * and of 16, and blocks scanned one by one. */
static void test_processors(void **state)
{
    (void)state;
    const size_t n = test_work(4000, 2000, 1100);
    static const unsigned blocks[] = { 33, 1024, 16, 200 };
    uint64_t *hashes = gcs_keys(1, 2 * n), seen = 0;
    for (double rate = 0.999; rate > 1e-10; rate /= 1.9)
        for (size_t i = 0; i < test_work(4, 4, 2); i++) {
            char kind[32];
            snprintf(kind, sizeof kind, "gcs:block=%u", blocks[i]);
            bly_filter *filter = gcs_built(kind, rate, hashes, n);
            bly_info_t stat;
            assert_status(bly_info(&stat, filter), BLY_OK);
            seen |= UINT64_C(1) << (stat.geometry[GEOMETRY_SHAPE] & 63);
            gcs_same_answers(filter, hashes, 2 * n);
            bly_free(filter);
        }
    assert_true((~seen & ((UINT64_C(1) << 31) - 1)) == 0);     /* k < 31 */
    free(hashes);
}

/* Whatever records and code claim, nothing is read out of bounds (the
 * sanitizers watch). */
static void test_lies(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint64_t *hashes = gcs_keys(8, N);
    static const double rates[] = { 0.5, 0.01, 1e-5, 1e-15, 5e-4 };
    for (unsigned round = 0; round < 80;
         round += (unsigned)test_work(1, 1, 4)) {
        bly_filter *filter = gcs_random("gcs", rates[round % 5], N);
        size_t bytes;
        const void *good = bly_image(filter, &bytes);
        uint8_t *image = malloc(bytes);
        assert_non_null(image);
        memcpy(image, good, bytes);
        size_t step = round < 40 ? 1 : 97;
        for (size_t at = IMAGE_HEADER; at < bytes; at += step)
            image[at] = round < 10 ? (uint8_t)(round / 5 * 255)
                                   : (uint8_t)test_random(round, at);
        image_seal(image);
        bly_filter *lying = NULL;
        assert_status(bly_wrap(&lying, image, bytes, NULL), BLY_OK);
        gcs_same_answers(lying, hashes, N);
        bly_info_t stat;
        bly_info(&stat, lying);
        assert_true(stat.rate <= 1);
        bly_free(lying);
        bly_free(filter);
        free(image);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_larger_blocks_are_smaller),
        cmocka_unit_test(test_few_keys),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_crowds_are_dispersed),
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_lies),
    };
    return cmocka_run_group_tests_name("gcs", tests, NULL, NULL);
}
