/* aging.c - tests specific to kind `aging`: its window, exact at every phase of
 * the ring, the effect of a refresh, and the rate over time.
 */
#include "test.h"

#include "image/image.h"
#include "forged.h"
#include "maths/maths.h"

enum { OF = 0, GENERATIONS = 1, CAP = 2, STRIDE = 3, HEAD = 64 };

static const char *const aging_of[] = { "standard", "partitioned", "blocked",
                                        "split" };

static bly_filter *aging_new(const char *of, unsigned generations, uint64_t w,
                             double rate)
{
    char kind[64];
    bly_spec spec = { .capacity = w, .rate = rate };
    bly_filter *filter = NULL;
    snprintf(kind, sizeof kind, "aging:of=%s,generations=%u", of, generations);
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static void aging_add(bly_filter *filter, uint64_t stream, uint64_t from,
                      uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
}

static bly_info_t aging_stat(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat;
}

/* ---- The window -------------------------------------------------------- */

/* x is key i of its generation: it stays for g cap - i more distinct keys, and
 * is then gone. */
static void aging_one_phase(const char *of, unsigned g, uint64_t cap,
                            uint64_t i)
{
    bly_filter *filter = aging_new(of, g, cap * (g - 1), 1e-7);
    uint64_t x = test_random(2, 0);
    assert_int_equal(aging_stat(filter).geometry[CAP], cap);
    aging_add(filter, 1, 0, i - 1);
    bly_add_hash(filter, x);
    for (uint64_t more = 0; more <= g * cap; more++) {
        assert_int_equal(bly_contains_hash(filter, x), more <= g * cap - i);
        aging_add(filter, 1, i + more, 1);
    }
    bly_free(filter);
}

static void test_window_is_exact_at_every_phase(void **state)
{
    (void)state;
    for (size_t of = 0; of < 4; of++)
        for (unsigned g = 2; g <= 5; g++)
            for (uint64_t i = 1; i <= 12; i++)
                aging_one_phase(aging_of[of], g, 12, i);
    aging_one_phase("standard", 64, 1, 1);
    aging_one_phase("standard", 2, 1, 1);
}

/* With repeated keys, `cap` different ones may follow x in any order; with cap
 * + 1 keys in turn, each rotation is tested. */
static void test_window_of_different_keys(void **state)
{
    (void)state;
    for (unsigned g = 2; g <= 4; g++) {
        bly_filter *filter = aging_new("standard", g, 100 * (g - 1), 1e-7);
        assert_int_equal(aging_stat(filter).window, 100);
        aging_add(filter, 1, 0, 99);
        bly_add_hash(filter, test_random(2, 0));
        for (uint64_t i = 0; i < 5000; i++) {
            aging_add(filter, 3, (i * i + i / 7) % 100, 1);
            assert_true(bly_contains_hash(filter, test_random(2, 0)));
        }
        for (uint64_t i = 0; i < 101 * g; i++)
            aging_add(filter, 3, i % 101, 1);
        assert_false(bly_contains_hash(filter, test_random(2, 0)));
        bly_free(filter);
    }
}

/* Odd windows never hold fewer keys than requested. */
static void test_window_is_at_least_the_capacity(void **state)
{
    (void)state;
    for (unsigned g = 2; g <= 64; g = g * 3 - 1)
        for (uint64_t w = 1; w < 200; w = w * 2 + 1) {
            bly_filter *filter = aging_new("blocked", g, w, 1e-6);
            for (uint64_t i = 0; i < 5 * w; i++) {
                aging_add(filter, 1, i, 1);
                for (uint64_t j = i < w ? 0 : i - w + 1; j <= i; j++)
                    assert_true(bly_contains_hash(filter, test_random(1, j)));
            }
            assert_true(aging_stat(filter).window
                        == (w + g - 2) / (g - 1));
            bly_free(filter);
        }
}

/* A key refreshed before it is too old stays for ever. If the active generation
 * has it, nothing is written; if only an older one has it, it is counted. */
static void test_refreshed_stays(void **state)
{
    (void)state;
    for (unsigned g = 2; g <= 5; g++) {
        enum { CAP_KEYS = 50 };
        bly_filter *filter = aging_new("partitioned", g, CAP_KEYS * (g - 1),
                                       1e-7);
        uint64_t x = test_random(2, 0);
        bly_add_hash(filter, x);
        for (uint64_t i = 0; i < 40; i++) {
            aging_add(filter, 1, i * CAP_KEYS * (g - 1), CAP_KEYS * (g - 1));
            assert_status(bly_add_hash(filter, x), BLY_SEEN);
            size_t bytes;
            const uint8_t *image = bly_image(filter, &bytes);
            uint64_t keys = image_u64(image, IMAGE_HEADER + 8);
            uint8_t *before = malloc(bytes);
            assert_non_null(before);
            memcpy(before, image, bytes);
            assert_status(bly_add_hash(filter, x), BLY_SEEN);
            image = bly_image(filter, NULL);
            assert_memory_equal(image + IMAGE_HEADER, before + IMAGE_HEADER,
                                bytes - IMAGE_HEADER);
            assert_true(keys >= 1 && keys <= CAP_KEYS);
            free(before);
        }
        bly_free(filter);
    }
}

/* ---- The rate ---------------------------------------------------------- */

/* The catalogue's A2 filter: two times 9586 bits, 7 probes, 1000 keys. Ours has
 * a few more bits, as its rate is guaranteed. Checks the rate just before each
 * rotation, its average over time, and the keys lost at an age of 2 cap - 1. */
static void test_figures_of_two_buffers(void **state)
{
    (void)state;
    enum { KEYS = 1000, ROUNDS = 40, EACH = 10000, AGE = 2 * KEYS - 1 };
    bly_filter *filter = aging_new("standard", 2, KEYS, 0.0199);
    const uint8_t *image = bly_image(filter, NULL);
    const uint8_t *first = image + IMAGE_HEADER + HEAD;
    assert_int_equal(image_geometry(first, 1), 7);
    assert_close((double)image_geometry(first, 0), 9586, 0.005);

    uint64_t worst = 0, full = 0, mean = 0, lost = 0, young = 0, at = 2 * KEYS;
    aging_add(filter, 1, 0, at);
    for (uint64_t i = 0; i < ROUNDS * KEYS; i++) {
        for (uint64_t j = 0; j < 25; j++)
            mean += bly_contains_hash(filter, test_random(2, 25 * i + j));
        lost += !bly_contains_hash(filter, test_random(1, at - 1 - AGE));
        young += !bly_contains_hash(filter, test_random(1, at - 1 - KEYS));
        image = bly_image(filter, NULL);
        if (image_u64(image, IMAGE_HEADER + 8) == KEYS) {
            for (uint64_t j = 0; j < EACH; j++)
                worst += bly_contains_hash(filter, test_random(3 + i, j));
            full += EACH;
        }
        aging_add(filter, 1, at++, 1);
    }
    assert_within(worst, full, 0.01997, 0.0001);
    assert_within(mean, 25 * ROUNDS * KEYS, 0.01168, 0.0001);
    assert_within(lost, ROUNDS * KEYS, 0.983, 0);
    assert_int_equal(young, 0);
    bly_free(filter);
}

/* For every g the rate never exceeds the requested one, is near it when the
 * ring is full, and matches stat. */
static void test_rate_is_never_above_the_asked(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.01 };
    for (size_t r = 0; r < 2; r++)
        for (unsigned g = 2; g <= 9; g += 3) {
            uint64_t w = 8000 * (g - 1), cap = 8000;
            bly_filter *filter = aging_new("blocked", g, w, rates[r]);
            for (uint64_t step = 1; step <= 4 * g; step++) {
                aging_add(filter, 1, (step - 1) * cap / 2, cap / 2);
                uint64_t hits = 0;
                bly_info_t stat = aging_stat(filter);
                for (uint64_t i = 0; i < 20000; i++)
                    hits
                        += bly_contains_hash(filter, test_random(50 + step, i));
                assert_within(hits, 20000, stat.rate, 0);
                assert_true(stat.rate <= rates[r] * 1.05);
                if (step == 4 * g)
                    assert_true(stat.rate > rates[r] * 0.9);
            }
            bly_free(filter);
        }
}

/* Returns the active generation and its number of keys. */
static uint64_t aging_phase(const bly_filter *filter)
{
    const uint8_t *image = bly_image(filter, NULL);
    return image_u64(image, IMAGE_HEADER) << 32
         | image_u64(image, IMAGE_HEADER + 8);
}

/* Returns the share of foreign keys found just before a rotation, when the ring
 * is full. */
static double aging_share_found(const char *of, unsigned g, uint64_t cap,
                                double rate, uint64_t stream)
{
    enum { ASKED = 200 };
    bly_filter *filter = aging_new(of, g, cap * (g - 1), rate);
    size_t hits = 0;
    for (uint64_t i = 0, written = 0; written < g * cap; i++) {
        uint64_t before = aging_phase(filter);
        bly_add_hash(filter, test_random(stream, i));
        written += aging_phase(filter) != before;
    }
    for (uint64_t i = 0; i < ASKED; i++)
        hits += bly_contains_hash(filter, test_random(stream + 1, i));
    bly_free(filter);
    return (double)hits / ASKED;
}

/* The rate holds even when it is high and many keys of a generation are found
 * instead of written. The band is five standard deviations of the mean over
 * filters: one failure in three million for each. */
static void test_high_rates(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.3, 0.5, 0.9, 0.99, 0.999 };
    static const uint64_t caps[] = { 1, 2, 5, 20 };
    uint64_t filters = test_work(200, 40, 4);
    for (size_t i = 0; i < 4 * 6 * 4; i++) {
        double rate = rates[i / 4 % 6], sum = 0, squares = 0;
        for (uint64_t j = 0; j < filters; j++) {
            double found = aging_share_found(aging_of[i % 4], 2, caps[i / 24],
                                             rate, 1000 * i + 2 * j);
            sum += found;
            squares += found * found;
        }
        double n = (double)filters, mean = sum / n;
        double sd = sqrt(fmax(squares / n - mean * mean, 1 / (200 * n)) / n);
        if (mean > rate + TEST_SIGMAS * sd)
            fail_msg("of=%s, %d keys: %g, and not %g (sd %g)", aging_of[i % 4],
                     (int)caps[i / 24], mean, rate, sd);
    }
}

/* No filter of m bits has a smaller sum of both errors on duplicates among n
 * random keys of an alphabet of L [Géraud-Stewart 2020]. */
static void test_bound_of_streams(void **state)
{
    (void)state;
    enum { LETTERS = 1000, KEYS = 100000 };
    static bool came[LETTERS];
    bly_filter *filter = aging_new("standard", 2, 40, 0.1);
    const uint8_t *first = bly_image(filter, NULL);
    double m = 2.0 * (double)image_geometry(first + IMAGE_HEADER + HEAD, 0)
             + 16;                      /* the ring's own state, generously */
    uint64_t fresh = 0, repeated = 0, false_yes = 0, false_no = 0;
    memset(came, 0, sizeof came);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t letter = test_random(1, i) % LETTERS;
        bool seen = bly_add_hash(filter, test_random(2, letter)) == BLY_SEEN;
        fresh += !came[letter];
        repeated += came[letter];
        false_yes += seen && !came[letter];
        false_no += !seen && came[letter];
        came[letter] = true;
    }
    double bound = 1 - expm1(m * log1p(-1.0 / LETTERS))
                     / expm1(KEYS * log1p(-1.0 / LETTERS));
    assert_true((double)false_yes / (double)fresh
                + (double)false_no / (double)repeated >= bound);
    assert_true(bound > 0.5);
    bly_free(filter);
}

/* ---- Batches over rotations -------------------------------------------- */

static void aging_batches(const char *of, unsigned g, uint64_t w)
{
    enum { N = 12000 };
    static uint64_t hashes[N];
    static bool seen[N];
    bly_filter *one = aging_new(of, g, w, 0.05);
    bly_filter *each = aging_new(of, g, w, 0.05);
    bly_filter *many = aging_new(of, g, w, 0.05);
    for (uint64_t i = 0; i < N; i++) {  /* new, recent, and a few repeated */
        uint64_t r = test_random(9, i);
        hashes[i] = test_random(1, r % 3 == 0 ? i - i % 97 % (i + 1)
                                 : r % 16 == 1 ? r % 40 : i);
    }
    for (size_t i = 0, n; i < N; i += n) {
        n = 1 + test_random(8, i) % 3000;
        n = n < N - i ? n : N - i;
        assert_status(bly_add_hashes(each, hashes + i, n, seen + i, NULL),
                      BLY_OK);
        assert_status(bly_add_hashes(many, hashes + i, n, NULL, NULL), BLY_OK);
    }
    for (size_t i = 0; i < N; i++) {
        bool before = bly_contains_hash(one, hashes[i]);
        assert_int_equal(bly_add_hash(one, hashes[i]) == BLY_SEEN, before);
        assert_int_equal(seen[i], before);
    }
    size_t bytes;
    const void *image = bly_image(one, &bytes);
    assert_memory_equal(image, bly_image(each, NULL), bytes);
    assert_memory_equal(image, bly_image(many, NULL), bytes);
    bly_contains_hashes(one, hashes, N, seen);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(seen[i], bly_contains_hash(one, hashes[i]));
    bly_free(one);
    bly_free(each);
    bly_free(many);
}

static void test_batches_are_single_adds(void **state)
{
    (void)state;
    static const uint64_t windows[] = { 1, 7, 100, 3000, 5000 };
    for (size_t of = 0; of < 4; of++)
        for (unsigned g = 2; g <= 64; g = g * 3 - 1)
            for (size_t w = 0; w < test_work(5, 4, 2); w++)
                aging_batches(aging_of[of], g, windows[w]);
}

/* ---- Inspection, hashes, bad bytes ------------------------------------- */

/* With two generations, a key in both counts once. */
static void test_distinct(void **state)
{
    (void)state;
    bly_filter *filter = aging_new("blocked", 2, 10000, 0.01);
    aging_add(filter, 1, 0, 10000);
    aging_add(filter, 1, 5000, 10000);
    bly_info_t stat = aging_stat(filter);
    assert_true(fabs(stat.distinct - 15000) <= 5 * stat.distinct_sd);
    assert_int_equal(stat.items, 20000);
    bly_free(filter);
}

/* This hash has weak high bits, which `split` uses. */
static void test_weak_hash_is_refused(void **state)
{
    (void)state;
    bly_filter *none = NULL;
    bly_spec spec = { .capacity = 100, .hash = "fnv1a" };
    assert_status(bly_new(&none, "aging:of=split", &spec), BLY_EHASH);
    assert_status(bly_new(&none, "aging", &spec), BLY_OK);
    bly_free(none);
}

static void test_inner_headers_are_checked(void **state)
{
    (void)state;
    bly_filter *filter = aging_new("standard", 3, 50, 0.01);
    size_t stride = (size_t)image_geometry(bly_image(filter, NULL), STRIDE);
    for (size_t k = 0; k < 3; k++)
        forged_inner_header(filter, IMAGE_HEADER + HEAD + k * stride);
    bly_free(filter);
}

/* Impossible ring numbers cause no harm. */
static void test_forged_ring(void **state)
{
    (void)state;
    static const uint64_t forged[] = { 3, 64, UINT64_C(1) << 32, UINT64_MAX };
    static uint64_t hashes[500];
    static bool seen[500];
    for (uint64_t i = 0; i < 500; i++)
        hashes[i] = test_random(1, i);
    for (size_t i = 0; i < 16; i++) {
        bly_filter *filter = aging_new("blocked", 3, 60, 0.01), *wrapped, *copy;
        size_t bytes;
        const uint8_t *image = bly_image(filter, &bytes);
        uint8_t *bad = malloc(bytes);
        assert_non_null(bad);
        memcpy(bad, image, bytes);
        image_set_u64(bad, IMAGE_HEADER, forged[i % 4]);
        image_set_u64(bad, IMAGE_HEADER + 8, forged[i / 4]);
        image_seal(bad);
        assert_status(bly_wrap(&wrapped, bad, bytes, NULL), BLY_OK);
        bly_contains_hashes(wrapped, hashes, 500, seen);
        assert_status(bly_copy(&copy, wrapped, NULL), BLY_OK);
        assert_status(bly_add_hashes(copy, hashes, 500, seen, NULL), BLY_OK);
        for (size_t j = 500 - 60; j < 500; j++)
            assert_true(bly_contains_hash(copy, hashes[j]));
        aging_stat(copy);
        bly_free(copy);
        bly_free(wrapped);
        free(bad);
        bly_free(filter);
    }
}

/* A generation with more keys than planned. */
static void test_forged_cap(void **state)
{
    (void)state;
    bly_filter *filter = aging_new("blocked", 2, 100, 0.01);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    memcpy(forged, image, bytes);
    for (uint64_t cap = 1; cap != 0; cap *= 2) {
        image_set_u64(forged, IMAGE_GEOMETRY + 8 * CAP, cap);
        image_seal(forged);
        assert_status(bly_check(forged, bytes, NULL),
                      cap <= 100 ? BLY_OK : BLY_ECORRUPT);
    }
    free(forged);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_is_exact_at_every_phase),
        cmocka_unit_test(test_window_of_different_keys),
        cmocka_unit_test(test_window_is_at_least_the_capacity),
        cmocka_unit_test(test_refreshed_stays),
        cmocka_unit_test(test_figures_of_two_buffers),
        cmocka_unit_test(test_rate_is_never_above_the_asked),
        cmocka_unit_test(test_high_rates),
        cmocka_unit_test(test_bound_of_streams),
        cmocka_unit_test(test_batches_are_single_adds),
        cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_weak_hash_is_refused),
        cmocka_unit_test(test_inner_headers_are_checked),
        cmocka_unit_test(test_forged_ring),
        cmocka_unit_test(test_forged_cap),
    };
    return cmocka_run_group_tests_name("aging", tests, NULL, NULL);
}
