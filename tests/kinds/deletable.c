/* deletable.c - tests specific to kind `deletable`: bits and marks, how many
 * keys can be removed, and that a removal harms no other key.
 */
#include "test.h"

#include "placed.h"

#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"

static bly_filter *deletable_new(const char *kind, uint64_t capacity,
                                 double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* ---- Bits and marks ---------------------------------------------------- */

/* Derives every bit and mark from the number of keys that hit each bit,
 * counting a key once. The region need not divide m, nor be a power of two. */
static void check_layout(uint64_t m, unsigned k, uint64_t region)
{
    enum { KEYS = 60, BITS_MOST = 2000 };
    char kind[64];
    snprintf(kind, sizeof kind, "deletable:m=%u,k=%u,region=%u", (unsigned)m, k,
             (unsigned)region);
    bly_filter *filter = deletable_new(kind, KEYS, 0.01);
    unsigned hit[BITS_MOST] = { 0 };
    uint8_t expect[2 * BITS_MOST / 8] = { 0 };
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t state = hash_spread(test_random(1, i)), own[64];
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
        for (unsigned j = 0; j < k; j++, state *= HASH_STEP) {
            bool again = false;
            own[j] = bits_range(state, m);
            for (unsigned before = 0; before < j; before++)
                again |= own[before] == own[j];
            hit[own[j]] += !again;
        }
    }
    uint64_t row = (m + 7) / 8, marks = (m + region - 1) / region;
    for (uint64_t at = 0; at < m; at++) {
        if (hit[at] > 0)
            bits_set(expect, at);
        if (hit[at] > 1)
            bits_set(expect + row, at / region);
    }
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(bytes, IMAGE_HEADER + row + (marks + 7) / 8);
    assert_memory_equal(image + IMAGE_HEADER, expect, bytes - IMAGE_HEADER);
    bly_free(filter);
}

static void test_layout(void **state)
{
    (void)state;
    static const uint64_t regions[] = { 1, 2, 3, 4, 7, 10, 100, 999, 65536 };
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        for (uint64_t m = 1; m <= 2000; m = m * 3 + 1)
            for (unsigned k = 1; k <= 64; k = k * 2 + 1)
                check_layout(m, k, regions[i]);
}

/* At 1 % it takes a quarter more than `standard`; its rate and k. */
static void test_sizes(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 10000000 };
    bly_plan_t standard, plan;
    for (double rate = 0.5; rate > 1e-7; rate *= 0.3) {
        spec.rate = rate;
        assert_status(bly_plan(&standard, "standard", &spec), BLY_OK);
        assert_status(bly_plan(&plan, "deletable", &spec), BLY_OK);
        assert_true(plan.rate == standard.rate);
        assert_int_equal(plan.probes, standard.probes);
        assert_close((double)plan.bytes, 1.25 * (double)standard.bytes, 1e-4);
    }
    spec.rate = 0.01;
    assert_status(bly_plan(&plan, "deletable", &spec), BLY_OK);
    assert_close(plan.bits_per_key, 12.0, 0.002);
}

/* ---- How many can be removed ------------------------------------------- */

/* The essay's (2). */
static double deletable_share(double n, double m, double k, double region)
{
    double clear = pow(1 - 1 / m, k * n);
    double alone = pow(1 - 1 / m, k * n - 1);
    double met = 1 - clear - k * n / m * alone;
    return 1 - pow(1 - alone * pow(1 - met, region - 1), k);
}

/* Returns the share of 100 keys that can be removed, over many filters, and its
 * standard error. Removing some does not affect the others' chances: a bit in
 * an unmarked region belongs to one key. */
static bly_estimate measure_share(unsigned m, unsigned k, unsigned region)
{
    enum { KEYS = 100, FILTERS = 1500 };
    char kind[64];
    snprintf(kind, sizeof kind, "deletable:m=%u,k=%u,region=%u", m, k, region);
    double sum = 0, squares = 0;
    for (uint64_t f = 0; f < FILTERS; f++) {
        uint64_t hashes[KEYS];
        bly_status each[KEYS];
        bly_filter *filter = deletable_new(kind, KEYS, 0.01);
        for (uint64_t i = 0; i < KEYS; i++)
            hashes[i] = test_random(m + k + region, f * KEYS + i);
        assert_true(bly_add_hashes(filter, hashes, KEYS, NULL, NULL) >= 0);
        bly_remove_hashes(filter, hashes, KEYS, each);
        double share = 0;
        for (size_t i = 0; i < KEYS; i++) {
            assert_true(each[i] == BLY_OK || each[i] == BLY_EUNSAFE);
            share += each[i] == BLY_OK ? 1.0 / KEYS : 0;
        }
        sum += share;
        squares += share * share;
        bly_free(filter);
    }
    double mean = sum / FILTERS;
    return (bly_estimate){ mean, sqrt((squares / FILTERS - mean * mean)
                                      / FILTERS) };
}

/* The catalogue's simulations, with an error of at most 0.0013, and (2), which
 * is up to 0.004 too high if few keys can be removed. */
static void test_share_that_can_be_removed(void **state)
{
    (void)state;
    static const struct { unsigned m, k, region; double formula, other; }
    rows[] = {
        { 1000, 7, 20, 0.13135, 0.1282 }, { 1000, 7, 10, 0.55163, 0.5512 },
        { 1000, 7, 5, 0.86952, 0.8707 },  { 1000, 7, 1, 0.99184, 0.9921 },
        { 2000, 7, 10, 0.98480, 0.9847 }, { 1000, 4, 10, 0.85130, 0.8507 },
    };
    double last = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double formula = deletable_share(100, rows[i].m, rows[i].k,
                                         rows[i].region);
        bly_estimate got = measure_share(rows[i].m, rows[i].k, rows[i].region);
        print_message("m=%u k=%u R=%u: %.4f (+-%.4f), by formula %.4f\n",
                      rows[i].m, rows[i].k, rows[i].region, got.value, got.sd,
                      formula);
        assert_close(formula, rows[i].formula, 1e-4);
        assert_true(fabs(got.value - rows[i].other)
                    <= 5 * hypot(got.sd, 0.0013));
        assert_true(fabs(got.value - formula) <= 5 * got.sd + 0.004);
        if (i < 4)                      /* smaller regions, more of them */
            assert_true(got.value > last);
        last = got.value;
    }
}

/* The essay's numbers for the standard region, at 1 %. */
static void test_share_at_capacity(void **state)
{
    (void)state;
    enum { N = 100000 };
    bly_filter *filter = deletable_new("deletable", N, 0.01);
    uint64_t removed = 0;
    for (uint64_t i = 0; i < N; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    for (uint64_t i = 0; i < N; i++)
        removed += bly_remove_hash(filter, test_random(1, i)) == BLY_OK;
    double m = (double)image_geometry(bly_image(filter, NULL), 0);
    assert_close((double)removed / N, deletable_share(N, m, 7, 4), 0.005);
    assert_close((double)removed / N, 0.90, 0.01);
    bly_free(filter);
}

/* ---- No harm to others ------------------------------------------------- */

/* Keys come and go as far as marks allow; present ones are always found. */
static void test_no_key_is_lost(void **state)
{
    (void)state;
    enum { N = 3000, STEPS = 40000 };
    static bool in[N];
    bly_filter *filter = deletable_new("deletable:region=2", N, 0.01);
    uint64_t removed = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t i = test_random(5, step) % N, hash = test_random(6, i);
        if (!in[i]) {
            assert_true(bly_add_hash(filter, hash) >= 0);
            in[i] = true;
        } else if (bly_remove_hash(filter, hash) == BLY_OK) {
            assert_false(bly_contains_hash(filter, hash));
            in[i] = false;
            removed++;
        }
        if (step % 1000 == 999)
            for (i = 0; i < N; i++)
                assert_true(!in[i]
                            || bly_contains_hash(filter, test_random(6, i)));
    }
    assert_true(removed > N);
    bly_free(filter);
}

/* A key added twice stays, and so does one whose removal would remove
 * another. */
static void test_added_twice_stays(void **state)
{
    (void)state;
    bly_filter *filter = deletable_new("deletable:region=1", 1000, 0.001);
    bly_filter *before = NULL;
    uint64_t hash = test_random(1, 0);
    assert_status(bly_add_hash(filter, hash), BLY_OK);
    assert_status(bly_add_hash(filter, hash), BLY_SEEN);
    assert_status(bly_add_hash(filter, test_random(1, 1)), BLY_OK);
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    assert_status(bly_remove_hash(filter, hash), BLY_EUNSAFE);
    assert_status(bly_remove_hashes(filter, &hash, 1, NULL), BLY_EUNSAFE);
    assert_non_null(strstr(bly_why(), "cannot be removed safely"));
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_memory_equal(image, bly_image(before, NULL), bytes);
    assert_status(bly_remove_hash(filter, test_random(1, 1)), BLY_OK);
    assert_status(bly_remove_hash(filter, test_random(1, 1)), BLY_EABSENT);
    assert_true(bly_contains_hash(filter, hash));
    bly_free(filter);
    bly_free(before);
}

/* Shared keys may be removed from an intersection, and either filter's keys
 * from a union, without harm to the rest. */
static void test_sets_keep_their_keys(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (int unite = 0; unite <= 1; unite++) {
        bly_filter *a = deletable_new("deletable", 2 * N, 0.01);
        bly_filter *b = deletable_new("deletable", 2 * N, 0.01);
        for (uint64_t i = 0; i < N; i++) {
            bly_add_hash(a, test_random(1, i));
            bly_add_hash(b, test_random(1, i + (unite ? N : N / 2)));
        }
        assert_status(unite ? bly_unite(a, b) : bly_intersect(a, b), BLY_OK);
        uint64_t first = unite ? 0 : N / 2, end = unite ? 2 * N : N, gone = 0;
        for (uint64_t i = first; i < end; i += 2)
            gone += bly_remove_hash(a, test_random(1, i)) == BLY_OK;
        for (uint64_t i = first + 1; i < end; i += 2)
            assert_true(bly_contains_hash(a, test_random(1, i)));
        assert_true(gone > (end - first) / 4);
        bly_free(a);
        bly_free(b);
    }
}

/* The seminar's figure: ten bits in regions of two. y meets x at the third bit,
 * so the second region is marked. Then x is removed, and y stays. */
static void test_figure(void **state)
{
    (void)state;
    static const unsigned x[] = { 2, 5, 8 }, y[] = { 2, 0, 7 };
    enum { MARKS = 2 };                 /* bytes before the marks */
    bly_spec spec = { .capacity = 3 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "deletable:m=10,k=3,region=2", &spec),
                  BLY_OK);
    uint64_t hash_x = placed_hash(10, 3, x), hash_y = placed_hash(10, 3, y);
    assert_status(bly_add_hash(filter, hash_x), BLY_OK);
    const uint8_t *row = (const uint8_t *)bly_image(filter, NULL)
                       + IMAGE_HEADER;
    assert_int_equal(row[0] | row[1] << 8, 1 << 2 | 1 << 5 | 1 << 8);
    assert_int_equal(row[MARKS], 0);
    assert_status(bly_add_hash(filter, hash_y), BLY_OK);
    assert_int_equal(row[MARKS], 1 << 1);
    assert_status(bly_remove_hash(filter, hash_x), BLY_OK);
    assert_int_equal(row[0] | row[1] << 8, 1 << 0 | 1 << 2 | 1 << 7);
    assert_false(bly_contains_hash(filter, hash_x));
    assert_true(bly_contains_hash(filter, hash_y));
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_share_that_can_be_removed),
        cmocka_unit_test(test_share_at_capacity),
        cmocka_unit_test(test_no_key_is_lost),
        cmocka_unit_test(test_added_twice_stays),
        cmocka_unit_test(test_sets_keep_their_keys),
        cmocka_unit_test(test_figure),
    };
    return cmocka_run_group_tests_name("deletable", tests, NULL, NULL);
}
