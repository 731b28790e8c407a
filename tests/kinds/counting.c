/* counting.c - tests specific to kind `counting`: it is `standard` with
 * counters, which count down, saturate, and count repeats.
 */
#include "forged.h"

#include "bloomery/advice.h"
#include "bits/counters.h"
#include "image/image.h"
#include "bits/index.h"

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

/* m, k and rate equal those of `standard`; it takes b times the bits. */
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

/* Bit i of standard's payload is set iff counter i is above 0, after adds and
 * after removes. */
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

/* A counter is the number of probes on it, including repeats within a key and
 * repeated keys, up to the maximum. */
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
        bly_info_t stat;
        bly_info(&stat, filter);
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

/* The counters are binomial, as in the essay's table, and none reaches 15. */
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
    double tail = 0;                    /* of j >= 15, summed separately */
    chance = exp(-load);
    for (int j = 0; j < 40; j++) {
        tail += j >= 15 ? chance : 0;
        chance *= load / (j + 1);
    }
    assert_close(tail, essay[15], 0.03);
    assert_int_equal(found[15], 0);
    bly_free(filter);
}

/* ---- Saturation -------------------------------------------------------- */

/* Once a counter is at 15, the key cannot be removed, and its count has no
 * upper bound. */
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
    bly_info_t stat;
    bly_info(&stat, filter);
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

/* Narrow, overfull counters with keys that come and go: a key that stays is
 * never lost. */
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

/* In a row of 5 counters most keys repeat a counter: adding and removing in
 * another order leaves nothing behind. */
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

/* A key that hits a counter twice is absent if the counter is lower, although
 * it looks present; nothing may change. */
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
    assert_true(refused > 20);          /* this case occurred */
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

/* Any payload under a correct header: every verb stays inside and ends. */
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

/* ---- Minimum increase --------------------------------------------------- */

enum { COUNTING_SOME = 300, COUNTING_ADDS = 2000 };

/* Returns the key of add number i; low numbers are more frequent. */
static uint64_t counting_drawn(uint64_t seed, uint64_t i)
{
    uint64_t draw = test_random(seed, i);
    return (draw >> 40) % (1 + (draw & 0xffff) % COUNTING_SOME);
}

/* No count is too low or above the other rule's, and the same counters are
 * above 0, for any m, k and bits, so that probes meet and counters saturate. */
static void test_least_counts_better(void **state)
{
    (void)state;
    static const struct { unsigned m, k, bits; } rows[] = {
        { 1, 1, 16 }, { 4, 6, 16 }, { 50, 3, 16 }, { 997, 4, 16 },
        { 4000, 7, 4 }, { 997, 5, 2 }, { 997, 5, 1 }, { 1500, 64, 5 },
    };
    uint64_t better = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char every[64], least[80];
        unsigned count[COUNTING_SOME] = { 0 };
        snprintf(every, sizeof every, "counting:m=%u,k=%u,bits=%u", rows[r].m,
                 rows[r].k, rows[r].bits);
        snprintf(least, sizeof least, "%s,rule=least", every);
        bly_filter *a = counting_new(every, 100), *b = counting_new(least, 100);
        for (uint64_t i = 0; i < COUNTING_ADDS; i++) {
            uint64_t id = counting_drawn(r, i), hash = test_random(99, id);
            bly_status seen = bly_add_hash(a, hash);
            assert_status(bly_add_hash(b, hash), seen);
            count[id]++;
        }
        for (uint64_t id = 0; id < 2 * COUNTING_SOME; id++) {
            uint64_t hash = test_random(99, id);
            uint64_t top = bly_count_hash(a, hash);
            uint64_t low = bly_count_hash(b, hash);
            assert_true(low <= top);
            assert_true(id >= COUNTING_SOME || low >= count[id]);
            assert_true(bly_contains_hash(b, hash) == (top > 0));
            better += low < top;
        }
        for (uint64_t i = 0; i < rows[r].m; i++) {
            uint32_t up = counters_get(counting_row(a), i, rows[r].bits);
            uint32_t down = counters_get(counting_row(b), i, rows[r].bits);
            assert_true(down <= up && (down > 0) == (up > 0));
        }
        bly_free(a);
        bly_free(b);
    }
    assert_true(better > 100);
}

/* By hand: a counter hit by two probes is raised once; one above the minimum is
 * not raised. */
static void test_least_raises_the_least(void **state)
{
    (void)state;
    enum { M = 7, K = 4 };
    bly_filter *filter = counting_new("counting:m=7,k=4,bits=3,rule=least", 1);
    uint32_t model[M] = { 0 };
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t hash = test_random(5, i % 9);
        uint64_t at[K];
        uint32_t least = 7;
        index_walk walk;
        index_start(&walk, INDEX_POWER, hash, M);
        for (int j = 0; j < K; j++) {
            at[j] = index_next(&walk, INDEX_POWER);
            least = model[at[j]] < least ? model[at[j]] : least;
        }
        for (int j = 0; j < K && least < 7; j++)
            model[at[j]] = model[at[j]] == least ? least + 1 : model[at[j]];
        assert_true(bly_add_hash(filter, hash) >= BLY_OK);
        for (uint64_t j = 0; j < M; j++)
            assert_int_equal(counters_get(counting_row(filter), j, 3),
                             model[j]);
    }
    bly_free(filter);
}

/* A batch adds in its order, which matters. */
static void test_least_keeps_the_order(void **state)
{
    (void)state;
    static const char kind[] = "counting:m=500,k=4,rule=least";
    bly_filter *one = counting_new(kind, 100), *all = counting_new(kind, 100);
    bly_filter *back = counting_new(kind, 100);
    uint64_t hashes[COUNTING_ADDS];
    for (uint64_t i = 0; i < COUNTING_ADDS; i++)
        hashes[i] = test_random(98, counting_drawn(17, i) % 100);
    for (size_t i = 0; i < COUNTING_ADDS; i++) {
        assert_true(bly_add_hash(one, hashes[i]) >= BLY_OK);
        assert_true(bly_add_hash(back, hashes[COUNTING_ADDS - 1 - i])
                    >= BLY_OK);
    }
    assert_status(bly_add_hashes(all, hashes, COUNTING_ADDS, NULL, NULL),
                  BLY_OK);
    assert_true(counting_same(one, all));
    assert_true(!counting_same(one, back));
    bly_free(one);
    bly_free(all);
    bly_free(back);
}

/* A union's counts are never too low. Filters with the other rule are a
 * different kind. */
static void test_least_unites(void **state)
{
    (void)state;
    static const char kind[] = "counting:m=900,k=3,bits=10,rule=least";
    bly_filter *part[2] = { counting_new(kind, 100), counting_new(kind, 100) };
    bly_filter *every = counting_new("counting:m=900,k=3,bits=10", 100);
    unsigned count[COUNTING_SOME] = { 0 };
    for (uint64_t i = 0; i < COUNTING_ADDS; i++) {
        uint64_t id = counting_drawn(3, i);
        assert_true(bly_add_hash(part[i & 1], test_random(97, id)) >= BLY_OK);
        count[id]++;
    }
    assert_true(bly_unite(every, part[0]) < 0);
    assert_status(bly_unite(part[0], part[1]), BLY_OK);
    for (uint64_t id = 0; id < COUNTING_SOME; id++)
        assert_true(bly_count_hash(part[0], test_random(97, id)) >= count[id]);
    bly_free(part[0]);
    bly_free(part[1]);
    bly_free(every);
}

static void test_least_removes_nothing(void **state)
{
    (void)state;
    bly_filter *filter = counting_new("counting:rule=least", 100);
    bly_filter *before;
    uint64_t hashes[] = { 1, 2 };
    bly_status each[] = { BLY_OK, BLY_OK };
    const bly_key key = { "a", 1 };
    const bly_keys keys = { .n = 1, .keys = &key };
    bly_add_hash(filter, 1);
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    assert_status(bly_remove_hash(filter, 1), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "rule=every"));
    assert_status(bly_remove(filter, "a", 1), BLY_EUNSUPPORTED);
    assert_status(bly_remove_hashes(filter, hashes, 2, each), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "rule=every"));
    assert_status(bly_remove_many(filter, &keys, each), BLY_EUNSUPPORTED);
    assert_true(each[0] == BLY_OK && each[1] == BLY_OK);
    assert_true(counting_same(filter, before));
    bly_free(filter);
    bly_free(before);
}

/* ---- Thresholds --------------------------------------------------------- */

static bly_threshold_plan counting_threshold(bly_threshold need)
{
    bly_threshold_plan plan;
    assert_status(bly_plan_threshold(&plan, &need), BLY_OK);
    return plan;
}

/* Returns the share of strangers that seem to occur that often, over filters of
 * `plan` with `capacity` keys once each; keys that do are never missed. */
static double counting_measured(const char *kind, uint64_t capacity,
                                uint64_t times, unsigned filters,
                                unsigned strangers)
{
    uint64_t hits = 0;
    for (unsigned f = 0; f < filters; f++) {
        bly_filter *filter = counting_new(kind, capacity);
        for (uint64_t i = 0; i < capacity; i++)
            assert_true(bly_add_hash(filter, test_random(f, i)) >= BLY_OK);
        for (unsigned i = 0; i < strangers; i++)
            hits += bly_count_hash(filter, test_random(f + 1000000,
                                                        i)) >= times;
        for (uint64_t t = 1; t < times; t++)
            assert_true(bly_add_hash(filter, test_random(f, 0)) >= BLY_OK);
        assert_true(bly_count_hash(filter, test_random(f, 0)) >= times);
        bly_free(filter);
    }
    return (double)hits / filters / strangers;
}

/* The plan keeps the requested rate and reports it, with no wider counter than
 * needed; one counter fewer misses it. */
static void test_threshold_keeps_its_rate(void **state)
{
    (void)state;
    static const struct { uint64_t n, times; double rate; } rows[] = {
        { 20, 2, 0.05 }, { 100, 2, 0.01 }, { 1000, 2, 0.01 },
        { 1000, 3, 0.02 }, { 1000, 7, 0.01 }, { 1000, 20, 0.05 },
        { 3000, 1, 0.01 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_threshold need = { .capacity = rows[i].n, .rate = rows[i].rate,
                               .times = rows[i].times };
        bly_threshold_plan plan = counting_threshold(need);
        unsigned filters = (unsigned)test_work(400, 100, 20);
        unsigned strangers = 2000;
        assert_true(plan.plan.rate <= need.rate);
        assert_true((UINT64_C(1) << plan.plan.geometry[2]) > need.times);
        assert_true(UINT64_C(1) << plan.plan.geometry[2] <= 2 * need.times
                    || plan.plan.geometry[2] == 1);
        double rate = counting_measured(plan.kind, need.capacity, need.times,
                                        filters, strangers);
        double p = plan.plan.rate, trials = (double)filters * strangers;
        double sd = sqrt(p / trials + pow(plan.plan.rate_sd, 2) / filters);
        assert_true(fabs(rate - p) < 5 * sd);
        need.m = plan.plan.geometry[0] - 1;
        need.k = (uint32_t)plan.plan.geometry[1];
        assert_true(counting_threshold(need).plan.rate > need.rate);
    }
}

/* With a given m it uses the best k, and nearly reaches a Bloom filter's
 * rate. */
static void test_threshold_of_given_counters(void **state)
{
    (void)state;
    bly_threshold need = { .capacity = 100000, .m = 400000, .times = 2 };
    bly_threshold_plan best = counting_threshold(need);
    assert_int_equal(best.plan.geometry[1], 4);
    assert_int_equal(best.plan.geometry[2], 2);
    assert_string_equal(best.kind, "counting:m=400000,k=4,bits=2");
    assert_close(best.plan.rate, 0.004875, 0.001);
    bly_plan_t bloom;
    bly_spec spec = { .capacity = 100000 };
    assert_status(bly_plan(&bloom, "standard:m=400000,k=4", &spec), BLY_OK);
    assert_close(best.nearly, bloom.rate, 1e-6);
    for (need.k = 1; need.k <= 64; need.k++)
        assert_true(counting_threshold(need).plan.rate >= best.plan.rate);
}

static void test_threshold_refuses(void **state)
{
    (void)state;
    bly_threshold_plan plan;
    const bly_threshold wrong[] = {
        { .times = 2 }, { .capacity = 1 }, { .capacity = 1, .times = 65536 },
        { .capacity = 1, .times = 1, .rate = 1 },
        { .capacity = 1, .times = 1, .rate = -1 },
        { .capacity = 1, .times = 1, .k = 65 },
        { .capacity = 1, .times = 1, .zero = 1 },
        { .capacity = 1, .times = 1, .reserved = { 1 } },
        { .capacity = UINT64_MAX, .times = 1, .rate = 1e-9 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(bly_plan_threshold(&plan, &wrong[i]), BLY_EPARAM);
    bly_threshold most = { .capacity = UINT64_C(1) << 52, .times = 1,
                           .rate = 0.3 };
    assert_true(counting_threshold(most).plan.geometry[0] > UINT64_C(1) << 53);
    bly_threshold large = { .capacity = 1, .times = 1, .m = UINT64_MAX };
    assert_status(bly_plan_threshold(&plan, &large), BLY_EPARAM);
    large.m = 1000;
    large.times = 65535;
    assert_status(bly_plan_threshold(&plan, &large), BLY_OK);
    assert_int_equal(plan.plan.geometry[2], 16);
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
        cmocka_unit_test(test_least_counts_better),
        cmocka_unit_test(test_least_raises_the_least),
        cmocka_unit_test(test_least_keeps_the_order),
        cmocka_unit_test(test_least_unites),
        cmocka_unit_test(test_least_removes_nothing),
        cmocka_unit_test(test_threshold_keeps_its_rate),
        cmocka_unit_test(test_threshold_of_given_counters),
        cmocka_unit_test(test_threshold_refuses),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
