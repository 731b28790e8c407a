/* counting.c - what is special to kind `counting`: it is kind `standard` with
 * counters, which go back down, stick at the top and tell how often.
 */
#include "forged.h"

#include "tools/counters.h"
#include "image/image.h"
#include "tools/index.h"

static bly_filter *counting_new(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *counting_row(const bly_filter *filter)
{
    return image_payload(bly_image(filter, NULL));
}

static bool counting_same(const bly_filter *a, const bly_filter *b)
{
    size_t bytes;
    const uint8_t *row = bly_image(a, &bytes);
    return memcmp(row + IMAGE_HEADER, counting_row(b), bytes - IMAGE_HEADER)
        == 0;
}

/* ---- The filter inside ------------------------------------------------- */

/* The same m, k and rate as `standard`, and b times its bits. */
static void test_sizes_are_those_of_standard(void **state)
{
    (void)state;
    for (double rate = 0.9; rate > 1e-9; rate *= 0.21)
        for (uint64_t n = 1; n < 3000000; n = n * 6 + 1) {
            bly_spec spec = { .capacity = n, .rate = rate };
            bly_plan_t bits, counters;
            assert_status(bly_plan(&bits, "standard", &spec), BLY_OK);
            assert_status(bly_plan(&counters, "counting", &spec), BLY_OK);
            assert_true(bits.geometry[0] == counters.geometry[0]);
            assert_true(bits.geometry[1] == counters.geometry[1]);
            assert_true(bits.rate == counters.rate);
            assert_true(bits.rate_sd == counters.rate_sd);
            assert_int_equal(counters.bytes - 128,
                             (bits.geometry[0] * 4 + 7) / 8);
        }
}

/* The catalogue's size: 50000 keys at 1 % in the textbook's 479253 counters. */
static void test_known_sizes(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 50000 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "counting:m=479253,k=7", &spec), BLY_OK);
    assert_int_equal(plan.bytes - 128, 239627);
    assert_status(bly_plan(&plan, "counting:m=479253,bits=3", &spec), BLY_OK);
    assert_int_equal(plan.bytes - 128, 179720);
    assert_status(bly_plan(&plan, "counting", &spec), BLY_OK);
    assert_close(plan.bits_per_key, 38.37, 0.001);
    bly_spec alone = { .rate = 0.01 };
    assert_status(bly_plan(&plan, "counting:m=95851", &alone), BLY_OK);
    assert_in_range(plan.capacity, 9950, 10000);
    assert_status(bly_plan(&plan, "counting:bits=17", &spec), BLY_EOPTION);
}

/* Bit i of standard's payload is set iff counter i is above 0: after adds, and
 * after removals too. */
static void counting_is_standard(uint32_t width)
{
    char kind[64];
    snprintf(kind, sizeof kind, "counting:m=9592,k=7,bits=%u", width);
    bly_filter *counters = counting_new(kind, 1000);
    bly_filter *bits = counting_new("standard:m=9592,k=7", 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        bly_status status = bly_add_hash(bits, test_random(1, i));
        assert_status(bly_add_hash(counters, test_random(1, i)), status);
    }
    for (uint64_t i = 1000; i < 1500; i++)
        assert_true(bly_add_hash(counters, test_random(1, i)) >= 0);
    for (uint64_t i = 1000; i < 1500 && width > 3; i++)
        assert_status(bly_remove_hash(counters, test_random(1, i)), BLY_OK);
    for (uint64_t i = 1000; i < 1500 && width <= 3; i++)
        bly_add_hash(bits, test_random(1, i));
    const uint8_t *row = counting_row(counters), *set = counting_row(bits);
    for (uint64_t i = 0; i < 9592; i++)
        assert_int_equal(counters_get(row, i, width) > 0, bits_test(set, i));
    if (width == 1)
        assert_memory_equal(row, set, 9592 / 8);
    bly_free(counters);
    bly_free(bits);
}

static void test_to_bloom(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++)
        counting_is_standard(width);
}

/* ---- Counters ---------------------------------------------------------- */

/* Every counter is the number of probes that fell on it, repeats within a key
 * and of keys included, cut off at the top. */
static void test_counters_count_probes(void **state)
{
    (void)state;
    enum { M = 61, K = 9 };
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        char kind[64];
        snprintf(kind, sizeof kind, "counting:m=%d,k=%d,bits=%u", M, K, width);
        bly_filter *filter = counting_new(kind, 10);
        uint32_t wanted[M] = { 0 };
        for (uint64_t key = 0; key < 20; key++) {
            index_walk walk;
            index_start(&walk, INDEX_POWER, test_random(2, key / 2), M);
            for (int i = 0; i < K; i++)
                wanted[index_next(&walk, INDEX_POWER)]++;
            assert_true(bly_add_hash(filter, test_random(2, key / 2)) >= 0);
        }
        const uint8_t *row = counting_row(filter);
        uint64_t stuck = 0;
        for (uint64_t i = 0; i < M; i++) {
            uint32_t max = counters_max(width);
            assert_int_equal(counters_get(row, i, width),
                             wanted[i] < max ? wanted[i] : max);
            stuck += wanted[i] >= max;
        }
        bly_stat_t stat;
        bly_stat(&stat, filter);
        assert_int_equal(stat.saturated, stuck);
        bly_free(filter);
    }
}

/* A layout that must not change: three adds of one hash and one of another. */
static void test_layout(void **state)
{
    (void)state;
    static const uint8_t four[] = { 0x00, 0x00, 0x03, 0x32, 0x00, 0x30,
                                    0x40, 0x10 };
    static const uint8_t three[] = { 0x00, 0x30, 0x68, 0x00, 0x06, 0x22 };
    bly_filter *nibbles = counting_new("counting:m=16,k=4", 4);
    bly_filter *threes = counting_new("counting:m=16,k=4,bits=3", 4);
    for (int i = 0; i < 4; i++) {
        uint64_t hash = i == 3 ? 0x0123456789ABCDEF : 1;
        bly_add_hash(nibbles, hash);
        bly_add_hash(threes, hash);
    }
    assert_memory_equal(counting_row(nibbles), four, sizeof four);
    assert_memory_equal(counting_row(threes), three, sizeof three);
    bly_free(nibbles);
    bly_free(threes);
}

/* The histogram of the counters, binomial: the numbers of the essay's table,
 * and no filter of this size with a counter at 15. */
static void test_counters_are_binomial(void **state)
{
    (void)state;
    enum { N = 100000 };
    bly_filter *filter = counting_new("counting:m=1009888,k=7", N);
    uint64_t found[16] = { 0 };
    for (uint64_t i = 0; i < N; i++)
        bly_add_hash(filter, test_random(3, i));
    for (uint64_t i = 0; i < 1009888; i++)
        found[counters_get(counting_row(filter), i, 4)]++;
    double load = 7.0 * N / 1009888, chance = exp(-load), above = 1;
    static const double essay[16] = { [3] = 3.3e-2, [7] = 8.3e-6,
                                      [15] = 1.6e-15 };
    uint64_t from = 1009888;
    for (int j = 0; j < 16; j++) {
        if (j < 15)
            assert_within(from, 1009888, above, 0);
        if (essay[j] > 0 && j < 15)
            assert_close(above, essay[j], 0.02);
        from -= found[j];
        above -= chance;
        chance *= load / (j + 1);
    }
    double tail = 0;                    /* of j >= 15, summed by itself */
    chance = exp(-load);
    for (int j = 0; j < 40; j++) {
        tail += j >= 15 ? chance : 0;
        chance *= load / (j + 1);
    }
    assert_close(tail, essay[15], 0.03);
    assert_int_equal(found[15], 0);
    bly_free(filter);
}

/* ---- Sticking ---------------------------------------------------------- */

/* Once at 15, a key can no longer be taken out, nor its adds bounded. */
static void test_sticking(void **state)
{
    (void)state;
    bly_filter *filter = counting_new("counting", 1000);
    for (uint64_t i = 0; i < 14; i++)
        bly_add_hash(filter, 7);
    assert_true(bly_count_hash(filter, 7) == 14);
    bly_add_hash(filter, 7);
    bly_add_hash(filter, 8);
    assert_true(bly_count_hash(filter, 7) == UINT64_MAX);
    bly_stat_t stat;
    bly_stat(&stat, filter);
    assert_int_equal(stat.saturated, stat.probes);
    bly_filter *before = NULL;
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    for (int i = 0; i < 20; i++)
        assert_status(bly_remove_hash(filter, 7), BLY_EUNSAFE);
    assert_status(bly_add_hash(filter, 7), BLY_SEEN);
    assert_true(counting_same(filter, before));
    assert_true(bly_contains_hash(filter, 7));
    assert_status(bly_remove_hash(filter, 8), BLY_OK);
    assert_false(bly_contains_hash(filter, 8));
    bly_free(filter);
    bly_free(before);
}

/* With narrow counters, overfull, keys that come and go: none of those that
 * stay is ever lost. */
static void test_narrow_counters_lose_no_key(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 3; width++) {
        char kind[64];
        snprintf(kind, sizeof kind, "counting:bits=%u", width);
        bly_filter *filter = counting_new(kind, 500);
        for (uint64_t i = 0; i < 1000; i++)
            bly_add_hash(filter, test_random(1, i));
        for (uint64_t i = 0; i < 5000; i++) {
            bly_add_hash(filter, test_random(4, i));
            bly_status status = bly_remove_hash(filter, test_random(4, i));
            assert_true(status == BLY_OK || status == BLY_EUNSAFE);
            assert_true(width > 1 || status == BLY_EUNSAFE);
        }
        for (uint64_t i = 0; i < 1000; i++)
            assert_true(bly_contains_hash(filter, test_random(1, i)));
        bly_free(filter);
    }
}

/* ---- Repeats inside a key ---------------------------------------------- */

/* Most keys meet themselves in a row of 5 counters: in and out again, in
 * another order, leaves nothing behind. */
static void test_repeats_go_in_and_out(void **state)
{
    (void)state;
    bly_filter *filter = counting_new("counting:m=5,k=8,bits=16", 1);
    bly_filter *empty = counting_new("counting:m=5,k=8,bits=16", 1);
    for (uint64_t i = 0; i < 200; i++)
        bly_add_hash(filter, test_random(1, i));
    for (uint64_t i = 0; i < 200; i++)
        assert_status(bly_remove_hash(filter, test_random(1, i * 3 % 200)),
                      BLY_OK);
    assert_true(counting_same(filter, empty));
    bly_free(filter);
    bly_free(empty);
}

/* A key that meets itself in a counter is not there if the counter holds less
 * than that, though it looks so; nothing may change. */
static void test_repeats_must_all_be_there(void **state)
{
    (void)state;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 300; i++) {
        bly_filter *filter = counting_new("counting:m=4,k=6", 1);
        bly_filter *before = NULL;
        bly_add_hash(filter, test_random(5, i));
        assert_status(bly_copy(&before, filter, NULL), BLY_OK);
        uint64_t other = test_random(6, i);
        uint32_t own[4] = { 0 };
        index_walk walk;
        index_start(&walk, INDEX_POWER, other, 4);
        for (int j = 0; j < 6; j++)
            own[index_next(&walk, INDEX_POWER)]++;
        bool holds = true;
        for (uint64_t j = 0; j < 4; j++)
            holds &= counters_get(counting_row(filter), j, 4) >= own[j];
        bool seen = bly_contains_hash(filter, other);
        assert_status(bly_remove_hash(filter, other),
                      holds ? BLY_OK : BLY_EABSENT);
        if (!holds)
            assert_true(counting_same(filter, before));
        refused += seen && !holds;
        bly_free(filter);
        bly_free(before);
    }
    assert_true(refused > 20);          /* it was put to the test */
}

/* ---- Counts, unions ---------------------------------------------------- */

static void test_union_adds_up(void **state)
{
    (void)state;
    for (uint32_t width = 2; width <= 5; width++) {
        char kind[64];
        snprintf(kind, sizeof kind, "counting:m=997,k=3,bits=%u", width);
        bly_filter *a = counting_new(kind, 100), *b = counting_new(kind, 100);
        bly_filter *both = counting_new(kind, 100);
        for (uint64_t i = 0; i < 3000; i++) {
            bly_add_hash(i % 3 ? a : b, test_random(1, i % 400));
            bly_add_hash(both, test_random(1, i % 400));
        }
        assert_status(bly_unite(a, b), BLY_OK);
        assert_true(counting_same(a, both));
        bly_free(a);
        bly_free(b);
        bly_free(both);
    }
    bly_filter *twice = counting_new("counting", 100);
    bly_add_hash(twice, 1);
    assert_status(bly_unite(twice, twice), BLY_OK);
    assert_status(bly_unite(twice, twice), BLY_OK);
    assert_true(bly_count_hash(twice, 1) == 4);
    bly_free(twice);
}

/* ---- Hostile bytes ----------------------------------------------------- */

/* Any payload under a right header: every verb stays inside and ends. */
static void test_any_payload(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= COUNTERS_WIDTH_MAX; width++) {
        char kind[64];
        snprintf(kind, sizeof kind, "counting:m=%u,k=5,bits=%u", 8 * width + 8,
                 width);
        forged_image f = forged_of(counting_new(kind, 5), 7);
        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t hash = test_random(8, i);
            assert_int_equal(bly_count_hash(f.copy, hash) > 0,
                             bly_contains_hash(f.copy, hash));
            bly_remove_hash(f.copy, hash);
            if (i % 4 == 0)
                bly_add_hash(f.copy, hash);
        }
        forged_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_standard),
        cmocka_unit_test(test_known_sizes),
        cmocka_unit_test(test_to_bloom),
        cmocka_unit_test(test_counters_count_probes),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_counters_are_binomial),
        cmocka_unit_test(test_sticking),
        cmocka_unit_test(test_narrow_counters_lose_no_key),
        cmocka_unit_test(test_repeats_go_in_and_out),
        cmocka_unit_test(test_repeats_must_all_be_there),
        cmocka_unit_test(test_union_adds_up),
        cmocka_unit_test(test_any_payload),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
