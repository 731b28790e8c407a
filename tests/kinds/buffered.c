/* buffered.c - tests specific to kind `buffered`: the rate of unevenly loaded
 * pages, pages that are whole `standard` filters, and damaged pages.
 * (tests/paged.c covers work in the file.)
 */
#include "test.h"

#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"

static bly_filter *buffered_new(const char *kind, uint64_t capacity,
                                double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .seed = 11 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static uint64_t buffered_present(const bly_filter *filter, uint64_t stream,
                                 size_t n)
{
    enum { CHUNK = 10000 };
    static uint64_t hashes[CHUNK];
    static bool present[CHUNK];
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i += CHUNK) {
        for (size_t j = 0; j < CHUNK; j++)
            hashes[j] = test_random(stream, i + j);
        bly_contains_hashes(filter, hashes, CHUNK, present);
        for (size_t j = 0; j < CHUNK; j++)
            sum += present[j];
    }
    return sum;
}

/* Returns the chance of i keys in one of many pages (Poisson). */
static double buffered_load(double mean, double i)
{
    return exp(i * log(mean) - mean - lgamma(i + 1));
}

/* The plan's rate sums the textbook rate of a page over all loads; the
 * catalogue's 8.2151e-3 for 32768 bits at c = 10, k = 7 is that sum. */
static void test_rate_is_the_mixture(void **state)
{
    (void)state;
    static const struct { double c; int k; double known; } rows[] = {
        { 8, 6, 2.1606e-2 }, { 10, 7, 8.2151e-3 }, { 16, 11, 4.6415e-4 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (unsigned header = 0; header < 2; header++) {
            double m = 8 * (4096 - 128 * (double)header), mean = m / rows[r].c;
            double sum = 0;
            for (double i = 0; i < 3 * mean; i++)
                sum += buffered_load(mean, i)
                     * pow(-expm1(rows[r].k * i * log1p(-1 / m)),
                           rows[r].k);
            if (header == 0) {
                assert_close(sum, rows[r].known, 1e-4);
                continue;
            }
            /* the same load in a filter of 10 000 pages, found by its size */
            char kind[32];
            bly_spec spec = { .capacity = (uint64_t)(10000 * mean),
                              .rate = sum * 1.0005 };
            bly_plan_t plan;
            snprintf(kind, sizeof kind, "buffered:k=%d", rows[r].k);
            assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
            assert_close((double)plan.geometry[1], 10000, 1e-3);
            assert_close(plan.rate, sum, 2e-3);
        }
}

static void test_measured_rate_is_the_plans(void **state)
{
    (void)state;
    static const char *const kinds[] = { "buffered", "buffered:page=65536",
                                         "buffered:k=3" };
    enum { N = 1000000 };
    static uint64_t hashes[N];
    for (size_t i = 0; i < N; i++)
        hashes[i] = test_random(1, i);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_spec spec = { .capacity = N, .rate = 0.01, .seed = 11 };
        bly_plan_t plan;
        bly_filter *filter = buffered_new(kinds[k], N, 0.01);
        assert_status(bly_plan(&plan, kinds[k], &spec), BLY_OK);
        assert_status(bly_add_hashes(filter, hashes, N, NULL, NULL), BLY_OK);
        assert_within(buffered_present(filter, 2, 2 * N), 2 * N, plan.rate,
                      plan.rate_sd);
        bly_free(filter);
    }
}

/* A single page equals a `standard` filter of its keys and works on its own. */
static void test_pages_are_filters(void **state)
{
    (void)state;
    enum { N = 40000 };
    bly_filter *filter = buffered_new("buffered", N, 0.01);
    for (size_t i = 0; i < N; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint64_t pages = image_geometry(image, 1);
    assert_int_equal(bytes, 4096 * (pages + 1));
    for (uint64_t p = 0; p < pages; p++) {
        const uint8_t *page = image + 4096 * (p + 1);
        bly_filter *one = NULL;
        assert_status(bly_check(page, 4096, NULL), BLY_OK);
        assert_status(bly_wrap(&one, page, 4096, NULL), BLY_OK);
        assert_string_equal(bly_kind_of(one), "standard");
        bly_spec spec = { .capacity = 1, .seed = 11 };
        bly_filter *made = NULL;
        char kind[48];
        snprintf(kind, sizeof kind, "standard:m=%d,k=%llu", 8 * (4096 - 128),
                 (unsigned long long)image_geometry(image, 2));
        assert_status(bly_new(&made, kind, &spec), BLY_OK);
        for (size_t i = 0; i < N; i++) {
            uint64_t hash = test_random(1, i);
            if (bits_range(hash_mix(hash), pages) == p)
                bly_add_hash(made, hash);
        }
        const uint8_t *alone = bly_image(made, NULL);
        assert_memory_equal(page + IMAGE_HEADER, alone + IMAGE_HEADER,
                            4096 - IMAGE_HEADER);
        bly_free(made);
        bly_free(one);
    }
    bly_free(filter);
}

/* A page is created by the first key that chooses it. */
static void test_untouched_pages_are_zero(void **state)
{
    (void)state;
    bly_filter *filter = buffered_new("buffered", 100000, 0.01);
    assert_status(bly_add_hash(filter, 5), BLY_OK);
    size_t bytes, used = 0;
    const uint8_t *image = bly_image(filter, &bytes);
    for (size_t page = 4096; page < bytes; page += 4096) {
        size_t zeros = 0;
        while (zeros < 4096 && image[page + zeros] == 0)
            zeros++;
        used += zeros < 4096;
    }
    assert_int_equal(used, 1);
    bly_free(filter);
}

/* An invalid page answers "perhaps" and does not change, nor do the others. */
static void test_broken_page_is_perhaps(void **state)
{
    (void)state;
    enum { N = 30000 };
    bly_filter *filter = buffered_new("buffered", N, 0.01), *forged = NULL,
               *copy = NULL;
    for (size_t i = 0; i < N; i++)
        bly_add_hash(filter, test_random(1, i));
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    size_t bytes;
    const uint8_t *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, good, bytes);
    uint64_t pages = image_geometry(image, 1);
    image[4096 + IMAGE_GEOMETRY] ^= 1;  /* page 0 claims another m */
    image_seal(image);
    assert_status(bly_wrap(&forged, image, bytes, NULL), BLY_OK);
    for (size_t i = 0; i < 3 * N; i++) {
        uint64_t hash = test_random(2, i);
        bool first = bits_range(hash_mix(hash), pages) == 0;
        assert_int_equal(bly_contains_hash(forged, hash),
                         first || bly_contains_hash(filter, hash));
    }
    bly_info_t stat;
    assert_status(bly_info(&stat, forged), BLY_OK);
    assert_true(isinf(stat.distinct) && stat.rate > 1 / (double)pages);
    assert_status(bly_unite(copy, forged), BLY_OK);
    assert_int_equal(buffered_present(copy, 1, N), N);
    bly_free(forged);
    free(image);
    bly_free(copy);
    bly_free(filter);
}

/* The worked example of docs/format/kinds. */
static void test_example_of_the_specification(void **state)
{
    (void)state;
    static const uint64_t bits[] = { 14728, 20906, 1818, 18231, 1379, 10117,
                                     24728 };
    enum { K = sizeof bits / sizeof *bits };
    bly_spec spec = { .rate = 0.01, .capacity = 300000 };
    bly_plan_t plan = { .bytes = 0 };
    for (; plan.geometry[1] != 100; spec.capacity += 100)
        assert_status(bly_plan(&plan, "buffered:k=7", &spec), BLY_OK);
    spec.capacity -= 100;
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "buffered:k=7", &spec), BLY_OK);
    assert_status(bly_add(filter, "swordfish", 9), BLY_OK);
    const uint8_t *image = bly_image(filter, NULL);
    const uint8_t *page = image + 70 * 4096;
    assert_memory_equal(page, image + IMAGE_HEADER, IMAGE_PAYLOAD_SUM);
    assert_int_equal(bits_count(image_payload(page), 4096 - IMAGE_HEADER), K);
    for (size_t i = 0; i < K; i++)
        assert_true(bits_test(image_payload(page), bits[i]));
    bly_free(filter);
}

static void test_page_sizes(void **state)
{
    (void)state;
    static const uint64_t asked[][2] = {
        { 4096, 4096 }, { 4097, 8192 }, { 16384, 16384 }, { 40000, 65536 },
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char kind[48];
        bly_spec spec = { .capacity = 1000000 };
        bly_plan_t plan;
        snprintf(kind, sizeof kind, "buffered:page=%llu",
                 (unsigned long long)asked[i][0]);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_int_equal(plan.geometry[0], asked[i][1]);
        assert_int_equal(plan.bytes, asked[i][1] * (plan.geometry[1] + 1));
    }
    bly_plan_t plan;
    bly_spec huge = { .capacity = UINT64_C(1) << 56, .rate = 0.01 };
    assert_status(bly_plan(&plan, "buffered", &huge), BLY_ETOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_is_the_mixture),
        cmocka_unit_test(test_measured_rate_is_the_plans),
        cmocka_unit_test(test_pages_are_filters),
        cmocka_unit_test(test_untouched_pages_are_zero),
        cmocka_unit_test(test_broken_page_is_perhaps),
        cmocka_unit_test(test_example_of_the_specification),
        cmocka_unit_test(test_page_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
